// connected_components.cuh: the smallest value of each weakly connected component, in one kernel,
// by a forest over vertices (Afforest, Sutton, Ben-Nun & Barak 2018): two edges of each vertex
// join most of them, then only vertices outside the largest tree walk all of theirs.

// Edges of one task at most.
constexpr unsigned COMPONENT_PIECE = 64;
// Vertices that the largest tree is looked for among.
constexpr unsigned SAMPLED = 256;

struct ComponentsState { unsigned arrived[2], largest, tasks; };

__device__ __forceinline__ unsigned parent_of(const unsigned* parents, unsigned vertex) {
  return *reinterpret_cast<const volatile unsigned*>(parents + vertex);
}
// Joins the trees of two vertices; roots are smallest.
__device__ __forceinline__ void join(unsigned* parents, unsigned one, unsigned other) {
  unsigned first = parent_of(parents, one), second = parent_of(parents, other);
  while (first != second) {
    const unsigned high = max(first, second), low = min(first, second);
    const unsigned above = parent_of(parents, high);
    if (above == low) return;
    if (above == high && atomicCAS(&parents[high], high, low) == high) return;
    first = parent_of(parents, parent_of(parents, high));
    second = parent_of(parents, low);
  }
}
// Lets each vertex point at its root. What it points at on the way shortens the way of others.
__device__ __forceinline__ void point_at_roots(
    const Crew& crew, unsigned* parents, unsigned nodes) {
  for (unsigned first = crew.thread(); first < nodes; first += crew.threads() * LOOKS) {
    unsigned root[LOOKS];
    UNROLL for (unsigned look = 0; look < LOOKS; look++) {
      const unsigned vertex = first + look * crew.threads();
      root[look] = vertex < nodes ? parent_of(parents, vertex) : FULL;
    }
    for (bool is_on_way = true; is_on_way;) {
      is_on_way = false;
      unsigned above[LOOKS];
      UNROLL for (unsigned look = 0; look < LOOKS; look++)
        above[look] = root[look] < FULL ? parent_of(parents, root[look]) : FULL;
      UNROLL for (unsigned look = 0; look < LOOKS; look++) {
        if (above[look] == root[look]) continue;
        parents[first + look * crew.threads()] = root[look] = above[look];
        is_on_way = true;
      }
    }
  }
}
// Plants the forest: each vertex under the other end of its first edge, if that is smaller.
template <unsigned SIDES, typename State> __device__ __forceinline__ void plant(const Crew& crew,
    const EdgeLists<SIDES>& lists, unsigned* parents, State* least, unsigned nodes) {
  for (unsigned first = crew.thread(); first < nodes; first += crew.threads() * LOOKS) {
    uint2 slots[LOOKS];
    unsigned other[LOOKS];
    UNROLL for (unsigned look = 0; look < LOOKS; look++) {
      const unsigned vertex = first + look * crew.threads();
      slots[look] = vertex < nodes ? lists.slots[0][vertex] : make_uint2(0, 0);
    }
    UNROLL for (unsigned look = 0; look < LOOKS; look++)
      other[look] = slots[look].y > 0 ? lists.far[0][slots[look].x] : FULL;
    UNROLL for (unsigned look = 0; look < LOOKS; look++) {
      const unsigned vertex = first + look * crew.threads();
      if (vertex >= nodes) continue;
      parents[vertex] = min(vertex, other[look]);
      least[vertex] = (State)ABOVE;
    }
  }
}
// The root that most of some vertices have, by one block, in shared memory.
__device__ __forceinline__ unsigned find_largest(
    const unsigned* parents, unsigned nodes, unsigned* sampled) {
  const unsigned count = min(nodes, SAMPLED);
  for (unsigned at = threadIdx.x; at < count; at += blockDim.x)
    sampled[at] = parents[(unsigned)((unsigned long long)nodes * at / count)];
  __syncthreads();
  if (threadIdx.x >= 32) return 0;
  // Any root is right; a frequent one saves most.
  unsigned best = 0, most = 0;
  if (threadIdx.x < count) {
    best = sampled[threadIdx.x];
    for (unsigned at = 0; at < count; at++) most += sampled[at] == best;
  }
  UNROLL for (int distance = 16; distance > 0; distance /= 2) {
    const unsigned others = __shfl_down_sync(FULL, most, distance);
    const unsigned other = __shfl_down_sync(FULL, best, distance);
    if (others > most) most = others, best = other;
  }
  return best;
}
// Replaces each value by the smallest of its tree. Threads keep the tree that they saw last.
template <typename State> __device__ __forceinline__ void find_least_values(
    Crew& crew, State* state, const unsigned* parents, State* least, unsigned nodes) {
  unsigned root = FULL;
  State value = (State)ABOVE;
  for (unsigned first = crew.thread(); first < nodes; first += crew.threads() * LOOKS) {
    unsigned own[LOOKS];
    State values[LOOKS];
    UNROLL for (unsigned look = 0; look < LOOKS; look++) {
      const unsigned vertex = first + look * crew.threads();
      own[look] = vertex < nodes ? __ldcg(parents + vertex) : FULL;
      values[look] = vertex < nodes ? state[vertex] : (State)ABOVE;
    }
    UNROLL for (unsigned look = 0; look < LOOKS; look++) {
      if (own[look] == FULL) continue;
      if (own[look] != root && root != FULL && value < __ldcg(least + root))
        atomicMin(least + root, value);
      value = own[look] == root ? min(value, values[look]) : values[look];
      root = own[look];
    }
  }
  if (root != FULL && value < __ldcg(least + root)) atomicMin(least + root, value);
  crew.meet();
  for (unsigned first = crew.thread(); first < nodes; first += crew.threads() * LOOKS) {
    State values[LOOKS];
    UNROLL for (unsigned look = 0; look < LOOKS; look++) {
      const unsigned vertex = first + look * crew.threads();
      values[look] = vertex < nodes ? __ldcg(least + __ldcg(parents + vertex)) : (State)ABOVE;
    }
    UNROLL for (unsigned look = 0; look < LOOKS; look++) {
      const unsigned vertex = first + look * crew.threads();
      if (vertex < nodes) state[vertex] = values[look];
    }
  }
}

// Bytes of `room`: `ComponentsState` in HEAD; a value for each vertex; tasks; a parent for each.
template <unsigned SIDES, typename State> __device__ __forceinline__ void find_components(
    LoopState* loop, State* state, unsigned nodes, unsigned edges, const EdgeLists<SIDES>& lists,
    unsigned char* room, unsigned* sampled) {
  ComponentsState* const search = reinterpret_cast<ComponentsState*>(room);
  if (*reinterpret_cast<const unsigned*>(room + KEPT)) {
    if (blockIdx.x == 0 && threadIdx.x == 0) end_loop(loop, 0, DOES_NOT_APPLY);
    return;
  }
  Crew crew = {search->arrived, 1};
  State* const least = reinterpret_cast<State*>(room + HEAD);
  Task* const tasks = reinterpret_cast<Task*>(least + ((nodes + 3) & ~3u));
  const size_t most_tasks = count_tasks<SIDES, COMPONENT_PIECE>(nodes, edges);
  unsigned* const parents = reinterpret_cast<unsigned*>(tasks + most_tasks);
  plant(crew, lists, parents, least, nodes);
  crew.meet();
  point_at_roots(crew, parents, nodes);
  crew.meet();
  for (unsigned vertex = crew.thread(); vertex < nodes; vertex += crew.threads()) {
    const uint2 slots = lists.slots[0][vertex];
    if (slots.y > 1) join(parents, vertex, lists.far[0][slots.x + 1]);
  }
  crew.meet();
  point_at_roots(crew, parents, nodes);
  crew.meet();
  if (blockIdx.x == 0) {
    const unsigned largest = find_largest(parents, nodes, sampled);
    if (threadIdx.x == 0) search->largest = largest;
  }
  crew.meet();
  const unsigned largest = now(search->largest);
  for (unsigned first = crew.warp() * 32; first < nodes; first += crew.threads()) {
    const unsigned vertex = first + threadIdx.x % 32;
    const bool is_outside = vertex < nodes && parents[vertex] != largest;
    append<COMPONENT_PIECE>(tasks, &search->tasks, lists, is_outside, vertex);
  }
  crew.meet();
  unsigned vertex = 0;
  each_task(crew, tasks, now(search->tasks), [&](const Task& task) { vertex = task.vertex; },
    [&](unsigned side, unsigned owner, unsigned slot, unsigned count) {
      const unsigned one = __shfl_sync(FULL, vertex, owner);
      for (unsigned k = 0; k < count; k++) join(parents, one, lists.far_of(side)[slot + k]);
    });
  crew.meet();
  point_at_roots(crew, parents, nodes);
  crew.meet();
  find_least_values(crew, state, parents, least, nodes);
  if (crew.leads()) end_loop(loop, 1, MET);
}
