// core_numbers.cuh: core numbers in one kernel, by peeling: for each k, vertices of k edges go, and
// those that are left with k edges then (Matula & Beck 1983). Few are peeled by one block alone.

// Edges of one task at most.
constexpr unsigned CORE_PIECE = 32;
// Where peeling is: its round, the list of what is left in use, the next k, the counts of a choice
// in use, and whether the next choice makes a new list.
struct CorePlace { unsigned round, side, k, turn; bool packs; };
struct CoreCounts { CorePlace at; unsigned tasks[3], left[2], stay[2], least[2], is_over; };
struct CoresState { unsigned arrived[2], is_refused; CoreCounts counts; };

template <unsigned SIDES> struct CoreSearch {
  Crew crew;
  CoresState* search;
  whole* state;
  unsigned nodes;
  EdgeLists<SIDES> push;
  unsigned* degrees;
  // Two lists of tasks, of the round and of the next; two lists of vertices that are left.
  Task* tasks;
  size_t most_tasks;
  unsigned* left;
  Tally<CoreCounts> tally;
  // A number of a block, in shared memory.
  unsigned* stay_of_block;

  // Degrees, which first values have to be; all vertices are left.
  __device__ void begin(const EdgeLists<SIDES>& pull) {
    for (unsigned vertex = crew.thread(); vertex < nodes; vertex += crew.threads()) {
      const unsigned degree = pull.degree(vertex);
      if (state[vertex] != (whole)degree) search->is_refused = 1;
      degrees[vertex] = degree;
      left[vertex] = vertex;
    }
    CoreCounts& counts = search->counts;
    if (!crew.leads()) return;
    counts.left[0] = counts.stay[1] = nodes;
    counts.least[0] = counts.least[1] = FULL;
  }
  // Lists the vertices that are left with k edges; counts those that are left with more, and lists
  // them anew where the old list has many others.
  __device__ void choose(const CorePlace& here, unsigned count) {
    const unsigned* const list = left + (size_t)here.side * nodes;
    unsigned* const kept = left + (size_t)(1 - here.side) * nodes;
    CoreCounts& counts = tally.of(crew);
    const unsigned next = (here.round + 1) % 3, lane = threadIdx.x % 32;
    Task* const to = tasks + (here.round + 1) % 2 * most_tasks;
    unsigned least = FULL, stay = 0;
    for (unsigned first = crew.warp() * 32 * LOOKS; first < count;
         first += crew.threads() * LOOKS) {
      unsigned vertex[LOOKS], degree[LOOKS];
      UNROLL for (unsigned look = 0; look < LOOKS; look++) {
        const unsigned at = first + look * 32 + lane;
        vertex[look] = at < count ? list[at] : FULL;
      }
      UNROLL for (unsigned look = 0; look < LOOKS; look++)
        degree[look] = vertex[look] < FULL ? degrees[vertex[look]] : 0;
      UNROLL for (unsigned look = 0; look < LOOKS; look++) {
        const bool goes = vertex[look] < FULL && degree[look] == here.k;
        const bool stays = vertex[look] < FULL && degree[look] > here.k;
        if (goes) state[vertex[look]] = here.k;
        append<CORE_PIECE>(to, &counts.tasks[next], push, goes, vertex[look]);
        if (stays) least = min(least, degree[look]), stay++;
        if (!here.packs || !__any_sync(FULL, stays)) continue;
        const unsigned place = next_places(&counts.left[1 - here.side], stays);
        if (stays) kept[place] = vertex[look];
      }
    }
    UNROLL for (int distance = 16; distance > 0; distance /= 2)
      least = min(least, __shfl_down_sync(FULL, least, distance));
    stay = sum_of_warp(stay);
    if (lane == 0 && least < now(counts.least[here.turn]))
      atomicMin(&counts.least[here.turn], least);
    if (lane == 0 && stay > 0) atomicAdd(stay_of_block, stay);
    __syncthreads();
    if (threadIdx.x > 0 || *stay_of_block == 0) return;
    atomicAdd(&counts.stay[here.turn], *stay_of_block);
    *stay_of_block = 0;
  }
  // Takes the edges of chosen vertices from their other ends.
  __device__ void peel(unsigned round, unsigned k, unsigned count) {
    Task* const to = tasks + (round + 1) % 2 * most_tasks;
    unsigned* const next = &tally.of(crew).tasks[(round + 1) % 3];
    each_task(crew, tasks + round % 2 * most_tasks, count, [](const Task&) {},
      [&](unsigned side, unsigned, unsigned slot, unsigned edges) {
        const unsigned* const far = push.far_of(side);
        Found<SIDES, CORE_PIECE> found;
        unsigned degree[AT_ONCE];
        bool some = false;
        UNROLL for (unsigned n = 0; n < AT_ONCE; n++)
          found.vertex[n] = n < edges ? far[slot + n] : 0;
        UNROLL for (unsigned n = 0; n < AT_ONCE; n++) {
          found.walks[n] = n < edges && (!crew.is_whole() || now(degrees[found.vertex[n]]) > k);
          some |= found.walks[n];
        }
        if (!__any_sync(FULL, some)) return;
        // All are issued before the first result is used.
        UNROLL for (unsigned n = 0; n < AT_ONCE; n++)
          degree[n] = found.walks[n] ? atomicSub(&degrees[found.vertex[n]], 1u) : FULL;
        UNROLL for (unsigned n = 0; n < AT_ONCE; n++) {
          found.walks[n] = degree[n] == k + 1;
          if (degree[n] <= k) atomicAdd(&degrees[found.vertex[n]], 1u);
          found.read(push, n, found.walks[n], found.vertex[n]);
          if (found.walks[n]) state[found.vertex[n]] = k;
        }
        found.append(to, next);
      });
  }
  // All rounds.
  __device__ void run() {
    CorePlace at = {0, 0, 0, 0, false};
    for (;;) {
      CoreCounts& counted = tally.of(crew);
      const unsigned count = now(counted.tasks[at.round % 3]);
      const bool is_over = count == 0 && now(counted.stay[1 - at.turn]) == 0;
      if (is_over) break;
      const unsigned rest = count == 0 ? now(counted.left[at.side]) : 0;
      const Turn turn = tally.change(crew, crew.wanted(count > 0 ? count : rest / 32), at);
      if (turn == Turn::END) return;
      if (turn == Turn::LOOK_AGAIN) continue;
      CoreCounts& counts = tally.of(crew);
      if (crew.leads()) counts.tasks[(at.round + 2) % 3] = 0;
      if (count > 0) peel(at.round, at.k - 1, count);
      else choose_next(at, rest);
      crew.meet();
      at.round++;
    }
    tally.end(crew);
  }
  // One choice, and where peeling is then.
  __device__ void choose_next(CorePlace& at, unsigned rest) {
    CoreCounts& counts = tally.of(crew);
    choose(at, rest);
    crew.meet();
    const unsigned stay = now(counts.stay[at.turn]), least = now(counts.least[at.turn]);
    const bool has_chosen = now(counts.tasks[(at.round + 1) % 3]) > 0;
    // Where none has k edges, none has fewer than the least that was seen.
    at.k = has_chosen ? at.k + 1 : least;
    if (at.packs) {
      if (crew.leads()) counts.left[at.side] = 0;
      at.side = 1 - at.side;
    }
    at.packs = stay < rest / 2;
    at.turn = 1 - at.turn;
    if (crew.leads()) counts.stay[at.turn] = 0, counts.least[at.turn] = FULL;
  }
};

// Bytes of `room`: `CoresState` in HEAD; two lists of tasks; three numbers for each vertex.
template <unsigned SIDES> __device__ __forceinline__ void find_cores(
    LoopState* loop, whole* state, unsigned nodes, unsigned edges, const EdgeLists<SIDES>& push,
    const EdgeLists<SIDES>& pull, unsigned char* room, unsigned long long* own) {
  CoresState* const search = reinterpret_cast<CoresState*>(room);
  const size_t most_tasks = count_tasks<SIDES, CORE_PIECE>(nodes, edges);
  Task* const tasks = reinterpret_cast<Task*>(room + HEAD);
  unsigned* const lists = reinterpret_cast<unsigned*>(tasks + 2 * most_tasks);
  CoreSearch<SIDES> cores = {{search->arrived, mean_degree<SIDES>(nodes, edges)}, search, state,
    nodes, push, lists, tasks, most_tasks, lists + nodes,
    {&search->counts, reinterpret_cast<CoreCounts*>(own + 1)}, reinterpret_cast<unsigned*>(own)};
  if (threadIdx.x == 0) *own = 0;
  cores.begin(pull);
  cores.crew.meet();
  if (now(search->is_refused)) {
    if (cores.crew.leads()) end_loop(loop, 0, DOES_NOT_APPLY);
    return;
  }
  cores.run();
  if (cores.crew.leads()) end_loop(loop, 1, MET);
}
