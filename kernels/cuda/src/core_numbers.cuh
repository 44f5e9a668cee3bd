// core_numbers.cuh: core numbers in one kernel, by peeling: for each k, vertices of k edges go, and
// those that are left with k edges then (Matula & Beck 1983). Few are peeled by one block alone.

// Where peeling is: its round, the list of what is left in use, and the next k.
struct CorePlace { unsigned round, side, k; };
struct CoreCounts { CorePlace at; unsigned tasks[3], left[2], peeled[2], least[2], is_over; };
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

  // Degrees, which first values have to be; all vertices are left.
  __device__ void begin(const EdgeLists<SIDES>& pull) {
    for (unsigned vertex = crew.thread(); vertex < nodes; vertex += crew.threads()) {
      const unsigned degree = pull.degree(vertex);
      if (state[vertex] != (whole)degree) search->is_refused = 1;
      degrees[vertex] = degree;
      left[vertex] = vertex;
    }
    CoreCounts& counts = search->counts;
    if (crew.leads()) counts.left[0] = nodes, counts.least[0] = counts.least[1] = FULL;
  }
  // Lists the vertices that are left with k edges, and keeps those with more.
  __device__ void choose(unsigned round, unsigned k, unsigned side, unsigned count) {
    const unsigned* const list = left + (size_t)side * nodes;
    unsigned* const kept = left + (size_t)(1 - side) * nodes;
    CoreCounts& counts = tally.of(crew);
    unsigned least = FULL, chosen = 0;
    for (unsigned first = crew.warp() * 32; first < count; first += crew.threads()) {
      const unsigned at = first + threadIdx.x % 32;
      const unsigned vertex = at < count ? list[at] : 0;
      const unsigned degree = at < count ? degrees[vertex] : 0;
      const bool goes = at < count && degree == k, stays = at < count && degree > k;
      if (goes) state[vertex] = k;
      chosen += goes;
      append(tasks + (round + 1) % 2 * most_tasks, &counts.tasks[(round + 1) % 3], push, goes,
        vertex);
      if (!__any_sync(FULL, stays)) continue;
      const unsigned place = next_places(&counts.left[1 - side], stays);
      if (stays) kept[place] = vertex, least = min(least, degree);
    }
    UNROLL for (int distance = 16; distance > 0; distance /= 2) {
      least = min(least, __shfl_down_sync(FULL, least, distance));
      chosen += __shfl_down_sync(FULL, chosen, distance);
    }
    if (threadIdx.x % 32 > 0) return;
    if (least < now(counts.least[side])) atomicMin(&counts.least[side], least);
    if (chosen > 0) counts.peeled[side] = 1;
  }
  // Takes the edges of chosen vertices from their other ends.
  __device__ void peel(unsigned round, unsigned k, unsigned count) {
    Task* const to = tasks + (round + 1) % 2 * most_tasks;
    unsigned* const next = &tally.of(crew).tasks[(round + 1) % 3];
    each_task(crew, tasks + round % 2 * most_tasks, count, [](const Task&) {},
      [&](unsigned side, unsigned, unsigned slot, unsigned edges) {
        const unsigned* const far = push.far_of(side);
        Found<SIDES> found;
        unsigned degree[AT_ONCE];
        bool some = false;
        UNROLL for (unsigned n = 0; n < AT_ONCE; n++)
          found.vertex[n] = n < edges ? far[slot + n] : 0;
        UNROLL for (unsigned n = 0; n < AT_ONCE; n++) {
          degree[n] = n < edges ? now(degrees[found.vertex[n]]) : 0;
          found.walks[n] = degree[n] > k;
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
    CorePlace at = {0, 0, 0};
    for (;;) {
      CoreCounts& counted = tally.of(crew);
      const unsigned count = now(counted.tasks[at.round % 3]);
      const unsigned rest = count == 0 ? now(counted.left[at.side]) : 0;
      if (count == 0 && rest == 0) break;
      const Turn turn = tally.change(crew, crew.wanted(count > 0 ? count : rest / 32), at);
      if (turn == Turn::END) return;
      if (turn == Turn::LOOK_AGAIN) continue;
      CoreCounts& counts = tally.of(crew);
      if (crew.leads()) counts.tasks[(at.round + 2) % 3] = 0;
      if (count > 0) {
        peel(at.round, at.k - 1, count);
      } else {
        if (crew.leads()) counts.peeled[1 - at.side] = 0, counts.least[1 - at.side] = FULL;
        choose(at.round, at.k, at.side, rest);
        crew.meet();
        // Where none has k edges, none has fewer than the least that was seen.
        at.k = now(counts.peeled[at.side]) ? at.k + 1 : now(counts.least[at.side]);
        if (crew.leads()) counts.left[at.side] = 0;
        at.side = 1 - at.side;
      }
      crew.meet();
      at.round++;
    }
    tally.end(crew);
  }
};

// Bytes of `room`: `CoresState` in HEAD; two lists of tasks; three numbers for each vertex.
template <unsigned SIDES> __device__ __forceinline__ void find_cores(
    LoopState* loop, whole* state, unsigned nodes, unsigned edges, const EdgeLists<SIDES>& push,
    const EdgeLists<SIDES>& pull, unsigned char* room, unsigned long long* own) {
  CoresState* const search = reinterpret_cast<CoresState*>(room);
  const size_t most_tasks = count_tasks<SIDES>(nodes, edges);
  Task* const tasks = reinterpret_cast<Task*>(room + HEAD);
  unsigned* const lists = reinterpret_cast<unsigned*>(tasks + 2 * most_tasks);
  CoreSearch<SIDES> cores = {{search->arrived, 0, 0, gridDim.x}, search, state, nodes, push, lists,
    tasks, most_tasks, lists + nodes, {&search->counts, reinterpret_cast<CoreCounts*>(own)}};
  cores.begin(pull);
  cores.crew.meet();
  if (now(search->is_refused)) {
    if (cores.crew.leads()) end_loop(loop, 0, DOES_NOT_APPLY);
    return;
  }
  cores.run();
  if (cores.crew.leads()) end_loop(loop, 1, MET);
}
