// shortest_paths.cuh: sums of lengths along edges, the smallest for each vertex, in one kernel:
// vertices nearer than a border are walked in rounds until none gets nearer, then the border moves
// (delta-stepping, Meyer & Sanders 2003; near and far lists, Davidson et al. 2014). Sums that are
// not negative compare as their bits do.

// Edges of one task at most.
constexpr unsigned PATH_PIECE = 16;
template <unsigned BYTES> struct BitsOf;
template <> struct BitsOf<4> { typedef unsigned type; };
template <> struct BitsOf<8> { typedef unsigned long long type; };
typedef BitsOf<sizeof(real)>::type SumBits;
__device__ __forceinline__ SumBits bits_of(real value) {
  SumBits bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}
__device__ __forceinline__ real sum_of(SumBits bits) {
  real value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}
__device__ __forceinline__ bool is_negative(real value) {
  return !(value >= 0) || bits_of(value) >> (8 * sizeof(real) - 1);
}

// The border moves by the mean length times this, over the mean number of edges of a vertex.
constexpr unsigned STRIDE = 32;
// Lengths that the mean is taken of, at most.
constexpr unsigned SAMPLES = 4096;
// No sum.
constexpr SumBits NO_SUM = ~(SumBits)0;

// Where a search is: its round, the far list in use, and the border.
struct PathPlace { unsigned round, side; SumBits border; };
struct PathCounts { SumBits least[2]; PathPlace at; unsigned tasks[3], far[2], is_over; };
struct PathsState { unsigned arrived[2], is_refused; real stride; PathCounts counts; };

template <unsigned SIDES> struct PathSearch {
  Crew crew;
  PathsState* search;
  real* state;
  unsigned nodes;
  EdgeLists<SIDES> push;
  // Lengths by slot; null: all have the same.
  const real* lengths[SIDES];
  real same;
  // Two lists of tasks, of the round and of the next; two lists of far vertices.
  Task* tasks;
  size_t most_tasks;
  unsigned* far;
  Tally<PathCounts> tally;
  // The last round for which a vertex was listed; and whether it is in the far list.
  unsigned *listed, *is_far;

  // Mean of some lengths, by one block, in a fixed order.
  __device__ void choose_stride(unsigned edges, double* sums) {
    double sum = 0;
    unsigned count = 0;
    const unsigned apart = edges / SAMPLES + 1;
    if (lengths[0])
      for (size_t slot = (size_t)threadIdx.x * apart; slot < edges; slot += blockDim.x * apart) {
        if (lengths[0][slot] < INFINITE) sum += lengths[0][slot];
        count++;
      }
    UNROLL for (int distance = 16; distance > 0; distance /= 2) {
      sum += __shfl_down_sync(FULL, sum, distance);
      count += __shfl_down_sync(FULL, count, distance);
    }
    if (threadIdx.x % 32 == 0) {
      sums[threadIdx.x / 32 * 2] = sum;
      sums[threadIdx.x / 32 * 2 + 1] = count;
    }
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (unsigned warp = 1; warp < blockDim.x / 32; warp++)
      sums[0] += sums[warp * 2], sums[1] += sums[warp * 2 + 1];
    const double mean = lengths[0] ? sums[0] / max(sums[1], 1.0) : (double)same;
    const double degree = max((double)edges * SIDES / max(nodes, 1u), 1.0);
    search->stride = (real)(mean * max(STRIDE / degree, 1.0));
  }
  // Lists the vertices that have a sum.
  __device__ void begin() {
    for (unsigned first = crew.warp() * 32; first < nodes; first += crew.threads()) {
      const unsigned vertex = first + threadIdx.x % 32;
      const real sum = vertex < nodes ? state[vertex] : (real)INFINITE;
      if (is_negative(sum)) search->is_refused = 1;
      if (vertex < nodes) listed[vertex] = 0;
      if (threadIdx.x % 32 == 0) is_far[first / 32] = 0;
      append<PATH_PIECE>(tasks, &search->counts.tasks[0], push, sum < (real)INFINITE, vertex);
    }
  }
  // Whether some length is negative.
  __device__ void check_lengths(unsigned edges) {
    UNROLL for (unsigned side = 0; side < SIDES; side++)
      if (lengths[side])
        for (unsigned slot = crew.thread(); slot < edges; slot += crew.threads())
          if (!(lengths[side][slot] >= 0)) search->is_refused = 1;
  }
  // Walks the edges of near vertices.
  __device__ void walk(unsigned round, unsigned count, unsigned side, SumBits border) {
    PathCounts& counts = tally.of(crew);
    unsigned* const next = &counts.tasks[(round + 1) % 3];
    Task* const to = tasks + (round + 1) % 2 * most_tasks;
    real sum = 0;
    each_task(crew, tasks + round % 2 * most_tasks, count,
      [&](const Task& task) { sum = task.size ? now(state[task.vertex]) : 0; },
      [&](unsigned of_side, unsigned owner, unsigned slot, unsigned count) {
        const real from = __shfl_sync(FULL, sum, owner);
        const unsigned* const ends = push.far_of(of_side);
        const real* const length = SIDES > 1 && of_side ? lengths[SIDES - 1] : lengths[0];
        SumBits* const best = reinterpret_cast<SumBits*>(state);
        Found<SIDES, PATH_PIECE> found;
        SumBits bits[AT_ONCE];
        bool some = false;
        UNROLL for (unsigned k = 0; k < AT_ONCE; k++) {
          found.vertex[k] = k < count ? ends[slot + k] : 0;
          bits[k] = k < count ? bits_of(from + (length ? length[slot + k] : same)) : NO_SUM;
        }
        UNROLL for (unsigned k = 0; k < AT_ONCE; k++) {
          found.walks[k] =
            k < count && (!crew.is_whole() || bits[k] < now(best[found.vertex[k]]));
          some |= found.walks[k];
        }
        if (!__any_sync(FULL, some)) return;
        // All are issued before the first result is used.
        SumBits before[AT_ONCE];
        UNROLL for (unsigned k = 0; k < AT_ONCE; k++) {
          found.read(push, k, found.walks[k] && bits[k] < border, found.vertex[k]);
          before[k] = found.walks[k] ? atomicMin(&best[found.vertex[k]], bits[k]) : 0;
        }
        unsigned marked[AT_ONCE];
        UNROLL for (unsigned k = 0; k < AT_ONCE; k++) {
          const unsigned vertex = found.vertex[k];
          const bool is_near = bits[k] < before[k] && bits[k] < border;
          const bool is_later = bits[k] < before[k] && bits[k] >= border;
          found.walks[k] = is_near;
          marked[k] = is_near ? atomicExch(&listed[vertex], round + 1)
            : is_later ? atomicOr(&is_far[vertex / 32], 1u << vertex % 32) : FULL;
        }
        UNROLL for (unsigned k = 0; k < AT_ONCE; k++) {
          const unsigned vertex = found.vertex[k];
          const bool later = !found.walks[k] && !(marked[k] >> vertex % 32 & 1);
          found.walks[k] = found.walks[k] && marked[k] != round + 1;
          if (!__any_sync(FULL, later)) continue;
          const unsigned at = next_places(&counts.far[side], later);
          if (later) far[(size_t)side * nodes + at] = vertex;
        }
        found.append(to, next);
      });
  }
  // The smallest sum of the far list beyond the border.
  __device__ void find_least(unsigned count, unsigned side, SumBits border) {
    const unsigned* const list = far + (size_t)side * nodes;
    SumBits least = NO_SUM;
    for (unsigned at = crew.thread(); at < count; at += crew.threads()) {
      const SumBits bits = bits_of(now(state[list[at]]));
      if (bits >= border) least = min(least, bits);
    }
    UNROLL for (int distance = 16; distance > 0; distance /= 2)
      least = min(least, __shfl_down_sync(FULL, least, distance));
    SumBits* const found = &tally.of(crew).least[side];
    if (threadIdx.x % 32 == 0 && least < now(*found)) atomicMin(found, least);
  }
  // Lists what is within the new border, drops what is within the old one, keeps the rest.
  __device__ void divide(
      unsigned round, unsigned count, unsigned side, SumBits before, SumBits border) {
    const unsigned* const list = far + (size_t)side * nodes;
    unsigned* const kept = far + (size_t)(1 - side) * nodes;
    PathCounts& counts = tally.of(crew);
    for (unsigned first = crew.warp() * 32; first < count; first += crew.threads()) {
      const unsigned at = first + threadIdx.x % 32;
      const unsigned vertex = at < count ? list[at] : 0;
      const SumBits bits = at < count ? bits_of(now(state[vertex])) : 0;
      const bool stays = bits >= border && at < count, enters = bits >= before && !stays;
      if (at < count && !stays) atomicAnd(&is_far[vertex / 32], ~(1u << vertex % 32));
      append<PATH_PIECE>(tasks + (round + 1) % 2 * most_tasks, &counts.tasks[(round + 1) % 3],
        push, enters, vertex);
      if (!__any_sync(FULL, stays)) continue;
      const unsigned place = next_places(&counts.far[1 - side], stays);
      if (stays) kept[place] = vertex;
    }
  }
  // All rounds; gives how many there were.
  __device__ unsigned run() {
    const real stride = now(search->stride);
    PathPlace at = {0, 0, bits_of(stride)};
    for (;;) {
      PathCounts& counted = tally.of(crew);
      const unsigned count = now(counted.tasks[at.round % 3]);
      const unsigned waiting = count == 0 ? now(counted.far[at.side]) : 0;
      if (count == 0 && waiting == 0) break;
      const Turn turn = tally.change(crew, crew.wanted(count > 0 ? count : waiting / 32), at);
      if (turn == Turn::END) return at.round;
      if (turn == Turn::LOOK_AGAIN) continue;
      PathCounts& counts = tally.of(crew);
      if (crew.leads()) counts.tasks[(at.round + 2) % 3] = 0;
      if (count > 0) {
        walk(at.round, count, at.side, at.border);
      } else {
        if (crew.leads()) counts.least[1 - at.side] = NO_SUM;
        find_least(waiting, at.side, at.border);
        crew.meet();
        const SumBits least = now(counts.least[at.side]), before = at.border;
        if (least < NO_SUM) at.border = max(bits_of(sum_of(least) + stride), least + 1);
        if (crew.leads()) counts.far[at.side] = 0;
        divide(at.round, waiting, at.side, before, at.border);
        at.side = 1 - at.side;
      }
      crew.meet();
      at.round++;
    }
    tally.end(crew);
    return at.round;
  }
};

// Bytes of `room`: `PathsState` in HEAD; two lists of tasks; four numbers and a bit a vertex.
template <unsigned SIDES> __device__ __forceinline__ void find_paths(
    LoopState* loop, real* state, unsigned nodes, unsigned edges, const EdgeLists<SIDES>& push,
    const real* const (&lengths)[SIDES], real same, unsigned char* room, double* sums) {
  PathsState* const search = reinterpret_cast<PathsState*>(room);
  const size_t most_tasks = count_tasks<SIDES, PATH_PIECE>(nodes, edges);
  Task* const tasks = reinterpret_cast<Task*>(room + HEAD);
  unsigned* const lists = reinterpret_cast<unsigned*>(tasks + 2 * most_tasks);
  PathSearch<SIDES> paths = {{search->arrived, mean_degree<SIDES>(nodes, edges)}, search, state,
    nodes, push, {}, same, tasks, most_tasks, lists,
    {&search->counts, reinterpret_cast<PathCounts*>(sums)}, lists + 2 * (size_t)nodes,
    lists + 3 * (size_t)nodes};
  UNROLL for (unsigned side = 0; side < SIDES; side++) paths.lengths[side] = lengths[side];
  if (blockIdx.x == 0) paths.choose_stride(edges, sums);
  if (paths.crew.leads()) search->counts.least[0] = search->counts.least[1] = NO_SUM;
  paths.begin();
  paths.check_lengths(edges);
  paths.crew.meet();
  if (now(search->is_refused)) {
    if (paths.crew.leads()) end_loop(loop, 0, DOES_NOT_APPLY);
    return;
  }
  const unsigned rounds = paths.run();
  if (paths.crew.leads()) end_loop(loop, max(rounds, 1u), MET);
}
