// frontier_supersteps.cuh: supersteps of the vertices that read a change, one after another in one
// kernel: a vertex that neither changed nor reads a change keeps its values.

// Edges of one task at most, and edges of a vertex up to which a lane group has a row.
constexpr unsigned FRONTIER_PIECE = 64, ROW_OF_GROUP = 16;
// A vertex of more edges is left to a superstep of all vertices, where several blocks share it.
constexpr unsigned ROW_OF_WARP = 16384;
// The end of `LoopState` where the host wants to look before there are more supersteps.
constexpr unsigned PAUSED = 4;
// What a superstep consists of: rows are computed; what changed is committed; readers are found.
enum class FrontierPhase { PULL, COMMIT, MARK };
// Supersteps done; the phase, and the list of rows that is computed, or was.
struct FrontierPlace { unsigned long long done; FrontierPhase phase; unsigned side; };
// Rows by list and number of edges, and edges that they read; rows that changed; their tasks, and
// edges; elements that changed; whether a row has very many edges, and whether a value became NaN.
// A phase clears only what no thread reads in it.
struct FrontierCounts {
  FrontierPlace at;
  unsigned long long pulls[2], pushes, changed;
  unsigned few[2], many[2], moved, tasks, is_wide, is_odd, is_over;
};
struct FrontierState { unsigned arrived[2]; FrontierCounts counts; };

// Elements as they lie in memory: a value may become -0.
__device__ __forceinline__ bool is_same(const float one, const float other) {
  return __float_as_uint(one) == __float_as_uint(other);
}
__device__ __forceinline__ bool is_same(const double one, const double other) {
  return __double_as_longlong(one) == __double_as_longlong(other);
}
__device__ __forceinline__ bool is_same(const whole one, const whole other) { return one == other; }

// A loop: `row` computes the values of a row by the lanes of a group, or of a warp, and tells at one
// of them whether they changed; `moves` compares a row, `commit` replaces its states.
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
  // One in so many vertices and edges, at most, for changes and for what is read.
  unsigned changed_part, read_part;
  // The superstep that each row was listed for last; two lists of rows, those of few edges from the
  // begin and the others from the end; rows that changed, and tasks of their edges.
  unsigned *stamps, *rows, *moved;
  Task* tasks;
  Tally<FrontierCounts> tally;

  __device__ __forceinline__ size_t all() const { return nodes + (size_t)SIDES * edges; }
  // Lists rows for a superstep, each once.
  __device__ void add_row(bool has, unsigned vertex, unsigned step, unsigned side) {
    has = has && now(stamps[vertex]) != step && atomicExch(&stamps[vertex], step) != step;
    if (!__any_sync(FULL, has)) return;
    FrontierCounts& counts = tally.of(crew);
    const unsigned size = has ? slots[vertex].y : 0;
    const bool is_few = has && size <= ROW_OF_GROUP, is_many = has && !is_few;
    const unsigned few = next_places(&counts.few[side], is_few);
    const unsigned many = next_places(&counts.many[side], is_many);
    unsigned* const list = rows + (size_t)side * nodes;
    if (is_few) list[few] = vertex;
    if (is_many) list[nodes - 1 - many] = vertex;
    if (is_many && size > ROW_OF_WARP) counts.is_wide = 1;
    const unsigned pulls = sum_of_warp(min(size, ROW_OF_WARP));
    if (threadIdx.x % 32 == 0) atomicAdd(&counts.pulls[side], (unsigned long long)pulls);
  }
  // Commits rows that changed; lists them for the next superstep, and their edges.
  template <typename Loop>
  __device__ void take(Loop& of, bool has, unsigned vertex, unsigned step, unsigned side) {
    FrontierCounts& counts = tally.of(crew);
    if (has) of.commit(vertex);
    if (!__any_sync(FULL, has)) return;
    const unsigned edges = append<FRONTIER_PIECE>(tasks, &counts.tasks, push, has, vertex);
    const unsigned pushes = sum_of_warp(min(edges, 1u << 26) + has);
    if (threadIdx.x % 32 == 0) atomicAdd(&counts.pushes, (unsigned long long)pushes);
    add_row(has, vertex, step, side);
  }
  // Commits a superstep of all vertices. Whether the next one may be of a few.
  template <typename Loop> __device__ bool begin(Loop& of, unsigned long long bound) {
    const bool is_listed = !loop->ended && loop->done < bound &&
      loop->changed <= nodes / changed_part &&
      count_tasks<SIDES, FRONTIER_PIECE>(nodes, edges) <= MOST_TASKS;
    const bool is_paused = !loop->ended && loop->done >= bound;
    const unsigned step = (unsigned)loop->done + 1, lane = threadIdx.x % 32;
    for (size_t first = (size_t)crew.warp() * 32; first < nodes; first += crew.threads()) {
      const bool lies = first + lane < nodes;
      const unsigned vertex = lies ? (unsigned)first + lane : 0;
      const bool moves = lies && of.moves(vertex);
      if (is_listed) take(of, moves, vertex, step, 0);
      else if (moves) of.commit(vertex);
    }
    if (is_paused && crew.leads()) loop->ended = PAUSED;
    return is_listed;
  }
  // Computes the listed rows. Lists those that changed.
  template <typename Loop>
  __device__ void pull(Loop& of, unsigned side, unsigned few, unsigned many) {
    FrontierCounts& counts = tally.of(crew);
    const unsigned* const list = rows + (size_t)side * nodes;
    const unsigned warps = crew.warps(), of_warp = 32 / Loop::LANES;
    const unsigned group = threadIdx.x % 32 / Loop::LANES;
    unsigned changed = 0, odd = 0;
    const auto found = [&](bool moves, unsigned vertex) {
      const unsigned place = next_places(&counts.moved, moves);
      if (moves) moved[place] = vertex;
    };
    for (size_t first = (size_t)crew.warp() * of_warp; first < few; first += warps * of_warp) {
      const bool lies = first + group < few;
      const unsigned vertex = list[lies ? first + group : 0];
      found(of.row(false, lies, vertex, slots[vertex], changed, odd), vertex);
    }
    for (unsigned at = crew.warp(); at < many; at += warps) {
      const unsigned vertex = list[nodes - 1 - at];
      found(of.row(true, true, vertex, slots[vertex], changed, odd), vertex);
    }
    changed = sum_of_warp(changed);
    if (__any_sync(FULL, odd) && threadIdx.x % 32 == 0) counts.is_odd = 1;
    if (threadIdx.x % 32 == 0 && changed) atomicAdd(&counts.changed, (unsigned long long)changed);
  }
  // Finds the rows that read a change.
  __device__ void mark(unsigned count, unsigned step, unsigned side) {
    each_task(crew, tasks, count, [](const Task&) {},
      [&](unsigned of_side, unsigned, unsigned slot, unsigned some) {
        const unsigned* const far = push.far_of(of_side);
        UNROLL for (unsigned n = 0; n < AT_ONCE; n++) {
          const bool has = n < some;
          if (__any_sync(FULL, has)) add_row(has, has ? far[slot + n] : 0, step, side);
        }
      });
  }
  // The end of the of. `ended` as in `LoopState`.
  __device__ void leave(unsigned long long done, unsigned long long changed, unsigned ended) {
    if (crew.leads()) {
      loop->done = done;
      loop->changed = changed;
      loop->summed = 0;
      loop->ended = ended;
    }
    tally.end(crew);
  }
  // Supersteps until the loop has ended, so many are done, or too much is read.
  template <typename Loop> __device__ void run(Loop& of, unsigned long long bound) {
    FrontierPlace at = {loop->done, FrontierPhase::MARK, 1};
    unsigned long long changed = loop->changed;
    if (!begin(of, bound)) return;
    crew.meet();
    for (;;) {
      FrontierCounts* counts = &tally.of(crew);
      const unsigned few = now(counts->few[at.side]), many = now(counts->many[at.side]);
      const unsigned rows_moved = now(counts->moved), count = now(counts->tasks);
      const unsigned work = at.phase == FrontierPhase::PULL ? few / 8 + many * 2
        : at.phase == FrontierPhase::COMMIT ? rows_moved / 8 : count;
      const Turn turn = tally.change(crew, crew.wanted(work), at);
      if (turn == Turn::END) return;
      if (turn == Turn::LOOK_AGAIN) continue;
      counts = &tally.of(crew);
      const unsigned step = (unsigned)at.done + 1, other = 1 - at.side;
      if (at.phase == FrontierPhase::MARK) {
        if (at.done >= bound) return leave(at.done, changed, PAUSED);
        if (now(counts->pushes) > all() / changed_part) return leave(at.done, changed, 0);
        if (crew.leads()) {
          counts->changed = counts->pulls[at.side] = 0;
          counts->moved = counts->few[at.side] = counts->many[at.side] = 0;
        }
        mark(count, step, other);
        crew.meet();
        at.side = other;
        at.phase = FrontierPhase::PULL;
      } else if (at.phase == FrontierPhase::PULL) {
        if (now(counts->is_wide) || now(counts->pulls[at.side]) > all() / read_part)
          return leave(at.done, changed, 0);
        if (crew.leads()) counts->tasks = 0, counts->pushes = 0;
        pull(of, at.side, few, many);
        crew.meet();
        at.phase = FrontierPhase::COMMIT;
      } else {
        changed = now(counts->changed);
        if (now(counts->is_odd)) return leave(at.done + 1, changed, 2);
        const unsigned lane = threadIdx.x % 32;
        for (unsigned first = crew.warp() * 32; first < rows_moved; first += crew.threads()) {
          const bool lies = first + lane < rows_moved;
          take(of, lies, moved[lies ? first + lane : 0], step + 1, other);
        }
        at.done++;
        crew.meet();
        if (changed == 0) return leave(at.done, 0, MET);
        at.phase = FrontierPhase::MARK;
      }
    }
  }
};
