// bfs_levels.cuh: a breadth-first search in one kernel. A level is pushed along the edges of its
// vertices, or pulled by the vertices that are not yet seen, whichever reads fewer edges
// (Beamer, Asanovic & Patterson 2012). Few edges are walked by one block alone.

// Edges of one task at most.
constexpr unsigned LEVEL_PIECE = 64;
// Pull where the edges of a level are more than one such part of those that are left.
constexpr unsigned PULL_PART = 14;
// Push again where a level has fewer vertices than one such part of all.
constexpr unsigned PUSH_PART = 24;
// Tasks of a level that one block does alone.
constexpr unsigned LEVEL_TASKS = 384;
// Edges that a lane looks at before its warp helps.
constexpr unsigned OWN_EDGES = 16;

// Tasks and vertices of a level; the vertices that are pushed are not counted, but told to be some.
struct BfsLevel { unsigned tasks, vertices, is_some; };
// Levels are counted modulo 3: what is done, what is found, what is empty.
// Where a search is: its level, the edges that are left, and whether the last level was pulled.
struct BfsPlace { unsigned level; bool pulls; unsigned long long left; };
struct BfsCounts { BfsLevel levels[3]; BfsPlace at; unsigned is_over; };
struct BfsState { unsigned arrived[2], is_refused; whole least, most; BfsCounts counts; };

// Whether an in-edge of a vertex comes from one that is seen: each lane asks for its own vertex.
template <unsigned SIDES> __device__ __forceinline__ bool reads_seen(
    const EdgeLists<SIDES>& pull, const unsigned* seen, bool asks, unsigned vertex) {
  const unsigned lane = threadIdx.x % 32;
  bool found = false;
  UNROLL for (unsigned side = 0; side < SIDES; side++) {
    const unsigned* const far = pull.far[side];
    const uint2 slots = asks && !found ? pull.slots[side][vertex] : make_uint2(0, 0);
    unsigned at = slots.x;
    const unsigned end = slots.x + slots.y, own = slots.x + min(slots.y, OWN_EDGES);
    while (at < own && !found) {
      const unsigned other = far[at++];
      found = seen[other / 32] >> other % 32 & 1;
    }
    unsigned helped = __ballot_sync(FULL, !found && at < end);
    for (; helped; helped &= helped - 1) {
      const unsigned owner = __ffs((int)helped) - 1;
      const unsigned from = __shfl_sync(FULL, at, owner), to = __shfl_sync(FULL, end, owner);
      bool hit = false;
      for (unsigned slot = from + lane; slot - lane < to && !hit; slot += 32) {
        const unsigned other = far[slot < to ? slot : from];
        hit = __any_sync(FULL, slot < to && (seen[other / 32] >> other % 32 & 1));
      }
      if (lane == owner) found = hit;
    }
  }
  return found;
}

// The smallest and the largest first value; `sums` has two numbers for each warp.
__device__ __forceinline__ void find_bounds(const Crew& crew, BfsState* search, const whole* state,
    unsigned nodes, unsigned long long* sums) {
  whole least = ABOVE, most = BELOW;
  UNROLL_4 for (unsigned vertex = crew.thread(); vertex < nodes; vertex += crew.threads()) {
    least = min(least, state[vertex]);
    most = max(most, state[vertex]);
  }
  UNROLL for (int distance = 16; distance > 0; distance /= 2) {
    least = min(least, __shfl_down_sync(FULL, least, distance));
    most = max(most, __shfl_down_sync(FULL, most, distance));
  }
  whole* const of_warps = reinterpret_cast<whole*>(sums);
  const unsigned warps = blockDim.x / 32;
  if (threadIdx.x % 32 == 0) {
    of_warps[threadIdx.x / 32] = least;
    of_warps[warps + threadIdx.x / 32] = most;
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (unsigned warp = 1; warp < warps; warp++) {
    least = min(least, of_warps[warp]);
    most = max(most, of_warps[warps + warp]);
  }
  atomicMin(&search->least, least);
  atomicMax(&search->most, most);
}

template <unsigned SIDES> struct BfsSearch {
  Crew crew;
  BfsState* search;
  whole* state;
  unsigned nodes, words;
  EdgeLists<SIDES> push, pull;
  // Two lists of tasks, of the level and of the next; two bitmaps.
  Task* tasks;
  size_t most_tasks;
  unsigned* seen;
  Tally<BfsCounts> tally;
  // A sum of a block in shared memory, or whether it found something.
  unsigned* sum;

  // Lists the edges of what is marked in one bitmap and not in another: each lane has a word.
  __device__ void list_marked(
      const unsigned* marked, const unsigned* except, Task* to, unsigned* count) {
    const unsigned warps = crew.warps(), each = min(32u, (words + warps - 1) / warps);
    for (unsigned first = crew.warp() * each; first < words; first += warps * each) {
      const unsigned word = first + threadIdx.x % 32;
      const bool has = threadIdx.x % 32 < each && word < words;
      unsigned bits = has ? marked[word] & ~except[word] : 0;
      while (__any_sync(FULL, bits > 0)) {
        append<LEVEL_PIECE>(to, count, push, bits > 0, word * 32 + __ffs((int)bits) - 1);
        bits &= bits - 1;
      }
    }
  }
  // Marks and lists the vertices of the smallest value; others have the largest.
  __device__ void begin(whole least, whole most) {
    for (unsigned word = crew.warp(); word < words; word += crew.warps()) {
      const unsigned vertex = word * 32 + threadIdx.x % 32;
      const whole value = vertex < nodes ? state[vertex] : most;
      const unsigned bits = __ballot_sync(FULL, value == least);
      if (value != least && value != most) search->is_refused = 1;
      if (threadIdx.x % 32 == 0) seen[word] = bits;
      if (bits) counts(0)->is_some = 1;
      append<LEVEL_PIECE>(tasks, &counts(0)->tasks, push, value == least, vertex);
    }
  }
  __device__ BfsLevel* counts(unsigned level) const {
    return &tally.of(crew).levels[level % 3];
  }
  // Adds the vertices that all threads of a block found to a level.
  __device__ void tell(BfsLevel* level, unsigned vertices) {
    const unsigned found = sum_of_warp(vertices);
    if (found > 0 && threadIdx.x % 32 == 0) atomicAdd(sum, found);
    __syncthreads();
    if (threadIdx.x > 0 || *sum == 0) return;
    atomicAdd(&level->vertices, *sum);
    level->is_some = 1;
    *sum = 0;
  }
  __device__ void push_level(unsigned level, unsigned count, unsigned* marks, whole value) {
    BfsLevel* const next = counts(level + 1);
    Task* const to = tasks + (level + 1) % 2 * most_tasks;
    bool has_found = false;
    each_task(crew, tasks + level % 2 * most_tasks, count, [](const Task&) {},
      [&](unsigned side, unsigned, unsigned slot, unsigned count) {
        const unsigned* const far = push.far_of(side);
        Found<SIDES, LEVEL_PIECE> found;
        bool some = false;
        UNROLL for (unsigned k = 0; k < AT_ONCE; k++) {
          found.vertex[k] = k < count ? far[slot + k] : 0;
          const bool is_known =
            crew.is_whole() && marks[found.vertex[k] / 32] >> found.vertex[k] % 32 & 1;
          found.walks[k] = k < count && !is_known;
          some |= found.walks[k];
        }
        if (!__any_sync(FULL, some)) return;
        UNROLL for (unsigned k = 0; k < AT_ONCE; k++)
          found.read(push, k, found.walks[k], found.vertex[k]);
        // All are issued before the first result is used.
        unsigned before[AT_ONCE];
        UNROLL for (unsigned k = 0; k < AT_ONCE; k++) {
          unsigned* const word = &marks[found.vertex[k] / 32];
          before[k] = found.walks[k] ? atomicOr(word, 1u << found.vertex[k] % 32) : FULL;
        }
        UNROLL for (unsigned k = 0; k < AT_ONCE; k++) {
          found.walks[k] = !(before[k] >> found.vertex[k] % 32 & 1);
          if (found.walks[k]) state[found.vertex[k]] = value;
          has_found |= found.walks[k];
        }
        found.append(to, &next->tasks);
      });
    if (has_found) *sum = 1;
    __syncthreads();
    if (threadIdx.x == 0 && *sum) next->is_some = 1, *sum = 0;
  }
  __device__ void pull_level(
      unsigned level, const unsigned* before, unsigned* after, whole value) {
    unsigned vertices = 0;
    for (unsigned word = crew.warp(); word < words; word += crew.warps()) {
      const unsigned vertex = word * 32 + threadIdx.x % 32, old = before[word];
      const bool asks = vertex < nodes && !(old >> threadIdx.x % 32 & 1);
      const bool found = reads_seen(pull, before, asks, vertex);
      const unsigned bits = __ballot_sync(FULL, found);
      if (threadIdx.x % 32 == 0) after[word] = old | bits;
      if (!found) continue;
      state[vertex] = value;
      vertices++;
    }
    tell(counts(level + 1), vertices);
  }
  // All levels up to the last that may be found; gives how many supersteps would end there.
  __device__ unsigned run(whole least, whole step, unsigned last, unsigned long long left) {
    unsigned more = 0, kept = 0;  // the bitmap of what is seen
    BfsPlace at = {0, false, left};
    for (;;) {
      BfsLevel* const counted = counts(at.level);
      BfsLevel here = {now(counted->tasks), now(counted->vertices), now(counted->is_some)};
      if (!here.is_some) break;
      if (at.level == last) {
        more = 1;
        break;
      }
      // Edges of a task are between 1 and LEVEL_PIECE.
      const unsigned long long edges = at.pulls ? (unsigned long long)here.vertices * crew.mean
        : (unsigned long long)here.tasks * min(crew.mean, LEVEL_PIECE / 2);
      const unsigned long long after = at.left - min(at.left, edges);
      const bool pulls = at.pulls ? here.vertices >= nodes / PUSH_PART
        : here.tasks > 2 * TEAM_TASKS && edges > after / PULL_PART;
      if (at.pulls && !pulls) {
        list_marked(seen + kept * words, seen + (1 - kept) * words,
          tasks + at.level % 2 * most_tasks, &counted->tasks);
        crew.meet();
        here.tasks = now(counted->tasks);
      }
      const Turn turn = tally.change(crew, pulls ? gridDim.x : crew.wanted(here.tasks), at);
      if (turn == Turn::END) return at.level;
      if (turn == Turn::LOOK_AGAIN) continue;
      if (crew.leads()) *counts(at.level + 2) = {0, 0, 0};
      const whole value = least + (whole)(at.level + 1) * step;
      if (pulls) {
        pull_level(at.level, seen + kept * words, seen + (1 - kept) * words, value);
        kept = 1 - kept;
      } else {
        push_level(at.level, here.tasks, seen + kept * words, value);
      }
      crew.meet();
      at = {at.level + 1, pulls, after};
    }
    tally.end(crew);
    return at.level + more;
  }
};

// Bytes of `room`: `BfsState` in HEAD; two lists of tasks; two bitmaps.
template <unsigned SIDES> __device__ __forceinline__ void find_levels(
    LoopState* loop, whole* state, unsigned nodes, unsigned edges, whole step,
    const EdgeLists<SIDES>& push, const EdgeLists<SIDES>& pull, unsigned char* room,
    unsigned long long* sums) {
  BfsState* const search = reinterpret_cast<BfsState*>(room);
  const size_t most_tasks = count_tasks<SIDES, LEVEL_PIECE>(nodes, edges);
  Task* const tasks = reinterpret_cast<Task*>(room + HEAD);
  unsigned* const seen = reinterpret_cast<unsigned*>(tasks + 2 * most_tasks);
  const unsigned words = (nodes + 31) / 32;
  const Crew crew(search->arrived, mean_degree<SIDES>(nodes, edges), LEVEL_TASKS);
  BfsSearch<SIDES> bfs = {crew, search, state, nodes, words, push, pull, tasks, most_tasks, seen,
    {&search->counts, reinterpret_cast<BfsCounts*>(sums + 1)}, reinterpret_cast<unsigned*>(sums)};
  if (bfs.crew.leads()) search->least = ABOVE, search->most = BELOW;
  bfs.crew.meet();
  find_bounds(bfs.crew, search, state, nodes, sums);
  bfs.crew.meet();
  if (threadIdx.x == 0) *bfs.sum = 0;
  const whole least = now(search->least), most = now(search->most);
  const unsigned long long apart = (unsigned long long)most - (unsigned long long)least;
  if (least >= most) {
    if (bfs.crew.leads()) end_loop(loop, 1, MET);
    return;
  }
  // Sums of integers stay at the least and at the largest one.
  if (least == BELOW || most > ABOVE - step || apart > (unsigned long long)ABOVE) {
    if (bfs.crew.leads()) end_loop(loop, 0, DOES_NOT_APPLY);
    return;
  }
  bfs.begin(least, most);
  bfs.crew.meet();
  if (now(search->is_refused)) {
    if (bfs.crew.leads()) end_loop(loop, 0, DOES_NOT_APPLY);
    return;
  }
  // Values stay below the largest.
  const unsigned long long last = (apart - 1) / (unsigned long long)step;
  const unsigned long long all = (unsigned long long)SIDES * edges;
  const unsigned levels = bfs.run(least, step, last < FULL ? (unsigned)last : FULL - 1, all);
  if (bfs.crew.leads()) end_loop(loop, levels, MET);
}
