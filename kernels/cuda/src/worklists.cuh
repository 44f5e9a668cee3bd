// worklists.cuh: blocks that stay for a whole loop: barriers of the grid, and lists of edges to
// walk, which all warps share evenly.

// Edges that a lane visits at once.
constexpr unsigned AT_ONCE = 2;
// Vertices that a lane looks at together: their loads are issued before the first is used.
constexpr unsigned LOOKS = 4;
// Up to so many tasks are done by one block alone, and up to so many by a team of blocks; fewer
// where a vertex has many edges: about as many edges then.
constexpr unsigned FEW_TASKS = 192, FEW_EDGES = 1024;
constexpr unsigned TEAM_TASKS = 4096, TEAM_EDGES = 16384, TEAM = 10;
// Tasks of a vertex that its lane writes by itself.
constexpr unsigned OWN_TASKS = 2;
// What is in the first bytes of the memory of an algorithm is 0 when it starts; what is behind them
// stays.
constexpr unsigned KEPT = 256, HEAD = 512;
// Ends of `LoopState` besides those of supersteps.
constexpr unsigned MET = 1, DOES_NOT_APPLY = 3;

// Some edges of a vertex, of one of its lists: at most a piece. Each algorithm has its own size of
// pieces: small ones share work more evenly, large ones are fewer to list.
struct alignas(16) Task { unsigned start, size, side, vertex; };
// The edges of each vertex, in one list or two: first slot and number of slots, and the other ends.
template <unsigned SIDES> struct EdgeLists {
  const uint2* slots[SIDES];
  const unsigned* far[SIDES];
  __device__ __forceinline__ const unsigned* far_of(unsigned side) const {
    return SIDES > 1 && side ? far[SIDES - 1] : far[0];
  }
  __device__ __forceinline__ unsigned degree(unsigned vertex) const {
    unsigned sum = 0;
    UNROLL for (unsigned side = 0; side < SIDES; side++) sum += slots[side][vertex].y;
    return sum;
  }
};

// The blocks of a cooperative launch that work: all, the first few (a team), or the first alone.
// The others wait until all work again.
struct Crew {
  // How many blocks came to a barrier of all, and of the team, so far; and how many are waited for.
  unsigned* arrived;
  unsigned awaited, awaited_of_team;
  unsigned blocks;
  // Edges of a vertex; tasks that one block does alone, and those that a team does.
  unsigned mean, few_tasks, team_tasks;
  // All blocks, for vertices of so many edges.
  __device__ Crew(unsigned* barriers, unsigned edges, unsigned few = FEW_TASKS)
      : arrived(barriers), awaited(0), awaited_of_team(0), blocks(gridDim.x), mean(max(edges, 1u)),
        few_tasks(min(few, FEW_EDGES / mean)),
        team_tasks(min(TEAM_TASKS, TEAM_EDGES / mean)) {}
  __device__ __forceinline__ bool leads() const { return blockIdx.x == 0 && threadIdx.x == 0; }
  __device__ __forceinline__ bool is_alone() const { return blocks == 1; }
  __device__ __forceinline__ bool is_whole() const { return blocks == gridDim.x; }
  __device__ __forceinline__ unsigned warps() const { return blockDim.x / 32 * blocks; }
  // Neighbouring numbers are warps of different blocks.
  __device__ __forceinline__ unsigned warp() const {
    return threadIdx.x / 32 * blocks + blockIdx.x;
  }
  __device__ __forceinline__ unsigned threads() const { return warps() * 32; }
  __device__ __forceinline__ unsigned thread() const { return warp() * 32 + threadIdx.x % 32; }
  // Blocks for so many tasks. Twice as many tasks let more blocks work than let fewer work.
  __device__ __forceinline__ unsigned wanted(unsigned tasks) const {
    const unsigned team = min(TEAM, gridDim.x / 2);
    if (tasks <= few_tasks * (is_alone() ? 2 : 1)) return 1;
    if (tasks <= team_tasks * (is_whole() ? 1 : 2) && team > 1) return team;
    return gridDim.x;
  }
  // A barrier: what was written before it is read after it.
  __device__ void meet() {
#if defined(__CUDA_ARCH__)
    __syncthreads();
    if (is_alone()) return;
    if (threadIdx.x == 0) {
      unsigned* const place = is_whole() ? arrived : arrived + 1;
      const unsigned until = (is_whole() ? awaited : awaited_of_team) += blocks;
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" :: "l"(place) : "memory");
      unsigned now;
      do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(place) : "memory");
      while ((int)(now - until) < 0);
    }
    __syncthreads();
#else
    if (is_alone()) __syncthreads();
    else emulator::at_grid(blocks);
#endif
  }
};

// A number that other threads may have written.
template <typename T> __device__ __forceinline__ T now(const T& number) {
  return *reinterpret_cast<const volatile T*>(&number);
}
// The same for a row of numbers.
template <int V, int A = V, typename T> __device__ __forceinline__ void load_now(
    T (&to)[V], const T* from) {
  UNROLL for (int j = 0; j < V; j++) to[j] = now(from[j]);
}
// What a block does next where the number of blocks that work may change.
enum class Turn { WORK, LOOK_AGAIN, END };
// What blocks count together, and what one block counts alone, in its shared memory. `Counts` has
// `at`, from where all go on that waited, and `is_over`, which ends them.
template <typename Counts> struct Tally {
  Counts *of_all, *of_one;
  __device__ __forceinline__ Counts& of(const Crew& crew) const {
    return crew.is_alone() && gridDim.x > 1 ? *of_one : *of_all;
  }
  // Lets as many blocks work as are wanted. All have read, and decided from, the same counts.
  template <typename At> __device__ Turn change(Crew& crew, unsigned wanted, At& at) const {
    if (wanted == crew.blocks) return Turn::WORK;
    if (wanted > crew.blocks) {
      if (crew.leads()) of(crew).at = at;
      come_back(crew);
      return Turn::LOOK_AGAIN;
    }
    crew.meet();
    if (blockIdx.x >= wanted) {
      crew.blocks = gridDim.x;
      crew.meet();
      at = of_all->at;
      return now(of_all->is_over) ? Turn::END : Turn::LOOK_AGAIN;
    }
    crew.blocks = wanted;
    if (wanted > 1) return Turn::WORK;
    if (threadIdx.x == 0) *of_one = *of_all;
    __syncthreads();
    return Turn::WORK;
  }
  // Ends the blocks that wait.
  __device__ void end(Crew& crew) const {
    if (crew.is_whole()) return;
    if (crew.leads()) of(crew).is_over = 1;
    come_back(crew);
  }
  __device__ void come_back(Crew& crew) const {
    if (crew.is_alone() && threadIdx.x == 0) *of_all = *of_one;
    crew.blocks = gridDim.x;
    crew.meet();
  }
};
// Sums over all lanes, and over those up to each.
__device__ __forceinline__ unsigned sum_of_warp(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(FULL, value);
#else
  UNROLL for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_xor_sync(FULL, value, distance);
  return value;
#endif
}
__device__ __forceinline__ unsigned sum_to_lane(unsigned value) {
  UNROLL for (unsigned distance = 1; distance < 32; distance *= 2) {
    const unsigned before = __shfl_up_sync(FULL, value, distance);
    if (threadIdx.x % 32 >= distance) value += before;
  }
  return value;
}
// The next places of a list for those lanes that have something.
__device__ __forceinline__ unsigned next_places(unsigned* count, bool has) {
  const unsigned lane = threadIdx.x % 32, having = __ballot_sync(FULL, has);
  unsigned first = 0;
  if (lane == 0 && having) first = atomicAdd(count, (unsigned)__popc(having));
  return __shfl_sync(FULL, first, 0) + __popc(having & ((1u << lane) - 1));
}

// Vertices that each lane found at once, and where their edges are: that is read before it is known
// whether they are to be walked.
template <unsigned SIDES, unsigned PIECE, unsigned MOST = AT_ONCE> struct Found {
  unsigned vertex[MOST];
  uint2 slots[MOST][SIDES];
  bool walks[MOST];
  __device__ __forceinline__ void read(
      const EdgeLists<SIDES>& lists, unsigned number, bool may, unsigned of) {
    vertex[number] = of;
    UNROLL for (unsigned side = 0; side < SIDES; side++)
      slots[number][side] = may ? lists.slots[side][of] : make_uint2(0, 0);
  }
  // Appends the edges of those that are walked, in tasks; gives their number.
  __device__ __forceinline__ unsigned append(Task* tasks, unsigned* count) const {
    unsigned pieces = 0, edges = 0;
    UNROLL for (unsigned number = 0; number < MOST; number++)
      UNROLL for (unsigned side = 0; side < SIDES; side++) {
        const unsigned size = walks[number] ? slots[number][side].y : 0;
        pieces += (size + PIECE - 1) / PIECE;
        edges += size;
      }
    const unsigned end = sum_to_lane(pieces);
    unsigned place = 0;
    if (threadIdx.x % 32 == 31 && end > 0) place = atomicAdd(count, end);
    place = __shfl_sync(FULL, place, 31) + end - pieces;
    const bool has_many = __any_sync(FULL, pieces > MOST * OWN_TASKS);
    UNROLL for (unsigned number = 0; number < MOST; number++)
      UNROLL for (unsigned side = 0; side < SIDES; side++) {
        const uint2 of = walks[number] ? slots[number][side] : make_uint2(0, 0);
        if (has_many) write_together(tasks, place, of, side, vertex[number]);
        else write(tasks, place, of, side, vertex[number]);
        place += (of.y + PIECE - 1) / PIECE;
      }
    return edges;
  }
  // Writes the tasks of a vertex of each lane.
  static __device__ __forceinline__ void write(
      Task* tasks, unsigned place, uint2 of, unsigned side, unsigned vertex) {
    for (unsigned done = 0; done < of.y; done += PIECE)
      tasks[place++] = {of.x + done, min(PIECE, of.y - done), side, vertex};
  }
  // The same where a vertex may have many: all lanes write those of one after another.
  static __device__ void write_together(
      Task* tasks, unsigned place, uint2 of, unsigned side, unsigned vertex) {
    unsigned owners = __ballot_sync(FULL, of.y > OWN_TASKS * PIECE);
    if (of.y <= OWN_TASKS * PIECE) write(tasks, place, of, side, vertex);
    for (; owners; owners &= owners - 1) {
      const unsigned owner = __ffs((int)owners) - 1, to = __shfl_sync(FULL, place, owner);
      const uint2 all = {__shfl_sync(FULL, of.x, owner), __shfl_sync(FULL, of.y, owner)};
      const unsigned whose = __shfl_sync(FULL, vertex, owner);
      for (unsigned piece = threadIdx.x % 32; piece * PIECE < all.y; piece += 32) {
        const unsigned done = piece * PIECE;
        tasks[to + piece] = {all.x + done, min(PIECE, all.y - done), side, whose};
      }
    }
  }
};
// The same for one vertex of each lane, if it has one.
template <unsigned PIECE, unsigned SIDES> __device__ __forceinline__ unsigned append(
    Task* tasks, unsigned* count, const EdgeLists<SIDES>& lists, bool has, unsigned vertex) {
  if (!__any_sync(FULL, has)) return 0;
  Found<SIDES, PIECE, 1> found;
  found.read(lists, 0, has, vertex);
  found.walks[0] = has;
  return found.append(tasks, count);
}

// Gives the edges of the tasks of all lanes to lanes, one each at a time: all lanes call `visit`
// with the lane of the task, the slot, and the number of edges from there: 1, or 0 for no edge.
template <typename Visit>
__device__ __forceinline__ void each_edge(unsigned start, unsigned size, Visit visit) {
  const unsigned lane = threadIdx.x % 32, end = sum_to_lane(size);
  const unsigned all = __shfl_sync(FULL, end, 31);
  for (unsigned edge = lane; edge - lane < all; edge += 32) {
    unsigned owner = 0;
    UNROLL for (unsigned half = 16; half > 0; half /= 2)
      if (__shfl_sync(FULL, end, owner + half - 1) <= edge) owner += half;
    const unsigned first = __shfl_sync(FULL, start + size - end, owner);
    visit(owner, first + edge, edge < all ? 1u : 0u);
  }
}
// The same for a whole list of tasks: `begin` of each task of a lane, before its edges. Where no
// task of a warp has more than AT_ONCE edges, each lane visits those of its own together.
template <typename Begin, typename Visit> __device__ __forceinline__ void each_task(
    const Crew& crew, const Task* tasks, unsigned count, Begin begin, Visit visit) {
  const unsigned lane = threadIdx.x % 32, warps = crew.warps();
  const unsigned each = min(32u, max(1u, (count + warps - 1) / warps));
  for (unsigned first = crew.warp() * each; first < count; first += warps * each) {
    Task task = {0, 0, 0, 0};
    if (lane < each && first + lane < count) {
      task = tasks[first + lane];
    }
    begin(task);
    if (__all_sync(FULL, task.size <= AT_ONCE)) {
      visit(task.side, lane, task.start, task.size);
      continue;
    }
    each_edge(task.start, task.size, [&](unsigned owner, unsigned slot, unsigned edges) {
      visit(__shfl_sync(FULL, task.side, owner), owner, slot, edges);
    });
  }
}

// Edges of a vertex in the mean.
template <unsigned SIDES>
__device__ __forceinline__ unsigned mean_degree(unsigned nodes, unsigned edges) {
  return (unsigned)((size_t)SIDES * edges / max(nodes, 1u));
}
// Tasks of all edges. Of many more than ids have, loops over them would not end.
template <unsigned SIDES, unsigned PIECE>
__device__ __forceinline__ size_t count_tasks(unsigned nodes, unsigned edges) {
  return (size_t)SIDES * nodes + (size_t)SIDES * (edges / PIECE);
}
constexpr size_t MOST_TASKS = (1ull << 32) - (1u << 24);
// The end of a loop, written by one thread.
__device__ __forceinline__ void end_loop(LoopState* loop, unsigned rounds, unsigned end) {
  loop->done = rounds;
  loop->changed = 0;
  loop->summed = 0;
  loop->commits = 0;
  loop->ended = end;
}

// Whether the lists of two directions differ: then edges are not read from both ends.
extern "C" __global__ void compare_lists(
    unsigned char* room, const uint2* one, const uint2* other, const unsigned* far_of_one,
    const unsigned* far_of_other, const unsigned nodes, const unsigned edges) {
  after_others();
  const unsigned all = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
  bool differ = false;
  for (offset_t at = first; at < nodes; at += all)
    differ |= one[at].x != other[at].x || one[at].y != other[at].y;
  for (offset_t at = first; at < edges; at += all) differ |= far_of_one[at] != far_of_other[at];
  if (differ) *reinterpret_cast<unsigned*>(room + KEPT) = 1;
}
// First slot and number of slots of each vertex, from the lists of a walk.
extern "C" __global__ void slots_of_vertices(
    uint2* slots, const unsigned* rows, const unsigned* offsets, const unsigned nodes) {
  after_others();
  const unsigned all = gridDim.x * blockDim.x;
  for (unsigned item = blockIdx.x * blockDim.x + threadIdx.x; item < nodes; item += all)
    slots[rows[item]] = make_uint2(offsets[item], offsets[item + 1] - offsets[item]);
}
