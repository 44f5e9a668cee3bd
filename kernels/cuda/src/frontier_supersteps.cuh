// frontier_supersteps.cuh: supersteps of the vertices that read a change, one after another in one
// kernel, with one barrier each. States and their successors change places: a vertex that changed
// is computed again in the next superstep, so that both hold the same of all that are not listed.

// Edges of a vertex up to which a lane group has a row.
constexpr unsigned ROW_OF_GROUP = 16;
// A vertex of more edges is left to a superstep of all vertices, where several blocks share it.
constexpr unsigned ROW_OF_WARP = 16384;
// Rows that a lane lists at once.
constexpr unsigned LISTED = 4;
// The end of `LoopState` where the host wants to look before there are more supersteps.
constexpr unsigned PAUSED = 4;
// Supersteps done, before this kernel and by it.
struct FrontierPlace { unsigned long long before; unsigned turn; };
// What a superstep left: elements that changed, and edges of what changed; rows that the next one
// computes; whether a value became NaN, and whether a row has very many edges.
struct FrontierStep { unsigned long long changed, pushes; unsigned rows, is_odd, is_wide, spare; };
// A superstep reads one, writes the next one, and clears the third.
struct FrontierCounts { FrontierPlace at; FrontierStep steps[3]; unsigned is_over; };
struct FrontierState { unsigned arrived[2]; FrontierCounts counts; };

// Elements as they lie in memory: a value may become -0.
__device__ __forceinline__ bool is_same(const float one, const float other) {
  return __float_as_uint(one) == __float_as_uint(other);
}
__device__ __forceinline__ bool is_same(const double one, const double other) {
  return __double_as_longlong(one) == __double_as_longlong(other);
}
__device__ __forceinline__ bool is_same(const whole one, const whole other) { return one == other; }
__device__ __forceinline__ bool is_same(const narrow one, const narrow other) {
  return one == other;
}
// A loop: `row` computes the values of a row by the lanes of a group, or of a warp, and tells at
// the first of them whether they changed; `moves` compares a row of states with its successors, and
// `commit` replaces it by them.
template <unsigned OF_GROUP, typename Row, typename Moves, typename Commit> struct FrontierLoop {
  static constexpr unsigned LANES = OF_GROUP;
  Row row;
  Moves moves;
  Commit commit;
};

template <unsigned SIDES> struct FrontierSearch {
  Crew crew;
  LoopState* loop;
  unsigned nodes, edges;
  EdgeLists<SIDES> push;
  const uint2* slots;
  // One in so many vertices and edges, at most, for what changed and for what is read.
  unsigned changed_part, readers_part;
  // The superstep that each row was listed for last; two lists of rows.
  unsigned *stamps, *rows;
  Tally<FrontierCounts> tally;

  __device__ __forceinline__ size_t all() const { return nodes + (size_t)SIDES * edges; }
  // Lists rows of each lane for a superstep, each once.
  __device__ void add_rows(FrontierStep& to, const bool (&has)[LISTED],
      const unsigned (&vertex)[LISTED], unsigned step, unsigned* list) {
    bool is_new[LISTED];
    unsigned before[LISTED];
    UNROLL for (unsigned k = 0; k < LISTED; k++)
      is_new[k] = has[k] && (!crew.is_whole() || now(stamps[vertex[k]]) != step);
    UNROLL for (unsigned k = 0; k < LISTED; k++)
      before[k] = is_new[k] ? atomicExch(&stamps[vertex[k]], step) : step;
    unsigned found = 0;
    UNROLL for (unsigned k = 0; k < LISTED; k++) found += before[k] != step;
    if (!__any_sync(FULL, found > 0)) return;
    const unsigned end = sum_to_lane(found);
    unsigned place = 0;
    if (threadIdx.x % 32 == 31) place = atomicAdd(&to.rows, end);
    place = __shfl_sync(FULL, place, 31) + end - found;
    UNROLL for (unsigned k = 0; k < LISTED; k++) if (before[k] != step) list[place++] = vertex[k];
  }
  // Counts the edges of the rows of lanes that changed. Whether so few are counted that readers are
  // looked for.
  __device__ bool count_pushes(FrontierStep& to, bool has, unsigned vertex) {
    unsigned pushes = has, largest = 0;
    UNROLL for (unsigned side = 0; side < SIDES; side++) {
      const unsigned size = has ? push.slots[side][vertex].y : 0;
      pushes += min(size, ROW_OF_WARP);
      largest = max(largest, size);
    }
    if (largest > ROW_OF_WARP) to.is_wide = 1;
    pushes = sum_of_warp(pushes);
    unsigned long long before = 0;
    if (threadIdx.x % 32 == 0) before = atomicAdd(&to.pushes, (unsigned long long)pushes);
    return __shfl_sync(FULL, before, 0) + pushes <= all() / changed_part;
  }
  // Lists the rows of lanes that changed, and those that read them.
  __device__ void mark(
      FrontierStep& to, bool has, unsigned vertex, unsigned step, unsigned* list) {
    const unsigned lane = threadIdx.x % 32;
    uint2 of[SIDES];
    UNROLL for (unsigned side = 0; side < SIDES; side++)
      of[side] = has ? push.slots[side][vertex] : make_uint2(0, 0);
    add_rows(to, {has, false, false, false}, {vertex, 0, 0, 0}, step, list);
    UNROLL for (unsigned side = 0; side < SIDES; side++) {
      const unsigned* const far = push.far_of(side);
      const unsigned size = of[side].y, few = size <= ROW_OF_GROUP ? size : 0;
      for (unsigned first = 0; __any_sync(FULL, first < few); first += LISTED) {
        bool is[LISTED];
        unsigned end[LISTED];
        UNROLL for (unsigned k = 0; k < LISTED; k++) is[k] = first + k < few;
        UNROLL for (unsigned k = 0; k < LISTED; k++)
          end[k] = is[k] ? far[of[side].x + first + k] : 0;
        add_rows(to, is, end, step, list);
      }
      unsigned others = __ballot_sync(FULL, size > ROW_OF_GROUP && size <= ROW_OF_WARP);
      for (; others; others &= others - 1) {
        const unsigned owner = __ffs((int)others) - 1;
        const unsigned start = __shfl_sync(FULL, of[side].x, owner);
        const unsigned count = __shfl_sync(FULL, size, owner);
        for (unsigned first = 0; first < count; first += 32 * LISTED) {
          bool is[LISTED];
          unsigned end[LISTED];
          UNROLL for (unsigned k = 0; k < LISTED; k++) is[k] = first + k * 32 + lane < count;
          UNROLL for (unsigned k = 0; k < LISTED; k++)
            end[k] = is[k] ? far[start + first + k * 32 + lane] : 0;
          add_rows(to, is, end, step, list);
        }
      }
    }
  }
  __device__ __forceinline__ bool is_too_much(const FrontierStep& left) const {
    return now(left.is_wide) || now(left.pushes) > all() / changed_part ||
      now(left.rows) * (unsigned long long)(crew.mean + 1) > all() / readers_part;
  }
  // Commits a superstep of all vertices. Whether the next one may be of a few.
  template <typename Loop> __device__ bool begin(Loop& of, unsigned long long bound) {
    const unsigned ended = loop->ended;
    const bool is_paused = !ended && loop->done >= bound;
    const bool is_listed = !ended && !is_paused && loop->changed <= nodes / changed_part;
    const unsigned step = (unsigned)loop->done + 1, lane = threadIdx.x % 32;
    FrontierStep& to = tally.of(crew).steps[0];
    const auto each = [&](auto visit) {
      for (size_t first = (size_t)crew.warp() * 32; first < nodes; first += crew.threads()) {
        const bool lies = first + lane < nodes;
        const unsigned vertex = lies ? (unsigned)first + lane : 0;
        visit(lies && of.moves(vertex), vertex);
      }
    };
    if (is_listed) {
      // Edges are counted first: to list them all would cost more than a superstep.
      each([&](bool moves, unsigned vertex) {
        if (__any_sync(FULL, moves)) count_pushes(to, moves, vertex);
      });
      crew.meet();
    }
    const bool is_few = is_listed && !is_too_much(to);
    // Nobody lists a row before all have looked at their number.
    if (is_listed) crew.meet();
    each([&](bool moves, unsigned vertex) {
      if (moves) of.commit(vertex);
      if (is_few && __any_sync(FULL, moves)) mark(to, moves, vertex, step, rows);
    });
    if (is_paused && crew.leads()) loop->ended = PAUSED;
    return is_few;
  }
  // Computes the listed rows, and lists those that read a change.
  template <typename Loop>
  __device__ void compute(Loop& of, const FrontierPlace& at, unsigned size) {
    const unsigned* const list = rows + (size_t)(at.turn % 2) * nodes;
    unsigned* const next = rows + (size_t)(1 - at.turn % 2) * nodes;
    FrontierStep& to = tally.of(crew).steps[(at.turn + 1) % 3];
    const unsigned step = (unsigned)at.before + at.turn + 2, lane = threadIdx.x % 32;
    const unsigned of_warp = 32 / Loop::LANES, group = lane / Loop::LANES;
    const bool is_turned = at.turn % 2, leads = lane % Loop::LANES == 0;
    unsigned changed = 0, odd = 0;
    for (size_t first = (size_t)crew.warp() * of_warp; first < size;
         first += (size_t)crew.warps() * of_warp) {
      const bool lies = first + group < size;
      const unsigned vertex = list[lies ? first + group : 0];
      const uint2 own = lies ? slots[vertex] : make_uint2(0, 0);
      const bool is_few = own.y <= ROW_OF_GROUP;
      bool moves = false;
      if (__any_sync(FULL, lies && is_few))
        moves = of.row(is_turned, false, lies && is_few, vertex, own, changed, odd);
      unsigned others = __ballot_sync(FULL, lies && !is_few && leads);
      for (; others; others &= others - 1) {
        const unsigned owner = __ffs((int)others) - 1;
        const uint2 its = {__shfl_sync(FULL, own.x, owner), __shfl_sync(FULL, own.y, owner)};
        const unsigned whose = __shfl_sync(FULL, vertex, owner);
        const bool its_moves = of.row(is_turned, true, true, whose, its, changed, odd);
        const bool it_moves = __shfl_sync(FULL, (int)its_moves, 0);
        if (lane == owner) moves = it_moves;
        if (its.y > ROW_OF_WARP) to.is_wide = 1;
      }
      if (__any_sync(FULL, moves) && count_pushes(to, moves, vertex))
        mark(to, moves, vertex, step, next);
    }
    changed = sum_of_warp(changed);
    if (lane == 0 && changed) atomicAdd(&to.changed, (unsigned long long)changed);
    if (__any_sync(FULL, odd) && lane == 0) to.is_odd = 1;
  }
  // The end of the kernel. `ended` as in `LoopState`; states are those after `turn` supersteps.
  template <typename Loop> __device__ void leave(Loop& of, const FrontierPlace& at, unsigned turn,
      unsigned long long changed, unsigned ended) {
    // Where the last values are not in the states, they are so for the last rows alone.
    if (turn % 2) {
      const unsigned last = at.turn - 1;
      const unsigned size = now(tally.of(crew).steps[last % 3].rows);
      const unsigned* const list = rows + (size_t)(last % 2) * nodes;
      for (size_t row = crew.thread(); row < size; row += crew.threads()) of.commit(list[row]);
    }
    if (crew.leads()) {
      loop->done = at.before + at.turn;
      loop->changed = changed;
      loop->summed = 0;
      loop->ended = ended;
    }
    tally.end(crew);
  }
  // Supersteps until the loop has ended, so many are done, or too much is read.
  template <typename Loop> __device__ void run(Loop& of, unsigned long long bound) {
    FrontierPlace at = {loop->done, 0};
    const unsigned long long first = loop->changed;
    if (!begin(of, bound)) return;
    crew.meet();
    for (;;) {
      FrontierStep& left = tally.of(crew).steps[at.turn % 3];
      const unsigned size = now(left.rows);
      const unsigned long long changed = at.turn == 0 ? first : now(left.changed);
      if (now(left.is_odd)) return leave(of, at, at.turn - 1, changed, 2);
      if (changed == 0) return leave(of, at, at.turn, 0, MET);
      if (at.before + at.turn >= bound) return leave(of, at, at.turn, changed, PAUSED);
      if (is_too_much(left)) return leave(of, at, at.turn, changed, 0);
      const Turn turn = tally.change(crew, crew.wanted(size / 2), at);
      if (turn == Turn::END) return;
      if (turn == Turn::LOOK_AGAIN) continue;
      if (crew.leads()) tally.of(crew).steps[(at.turn + 2) % 3] = {0, 0, 0, 0, 0, 0};
      compute(of, at, size);
      crew.meet();
      at.turn++;
    }
  }
};
