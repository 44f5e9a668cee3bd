// Common neighbours. Each pair of adjacent vertices is kept once, by the one of lower rank, and
// each triangle is found once, by its vertex of lowest rank, and counted for its three pairs.
// The edges of each vertex, vertices by number, far ends ascending.
struct Sides { const unsigned *in_offset, *in_far, *out_offset, *out_far; };
// Where the pairs that a vertex keeps begin, where those of in-edges end, where all end; and the
// number of its neighbours, loops left out.
struct alignas(16) PairRow { unsigned begin, middle, end, neighbours; };
#define NONE 0xffffffffu
// The place of a vertex in a list that ascends.
__device__ __forceinline__ unsigned
find(const unsigned* far, const unsigned begin, const unsigned end, const unsigned wanted) {
  unsigned low = begin, high = end;
  while (low < high) {
    const unsigned middle = low + (high - low) / 2;
    if (__ldg(far + middle) < wanted) low = middle + 1;
    else high = middle;
  }
  return low < end && __ldg(far + low) == wanted ? low : NONE;
}
// The place of the pair of a row with this vertex.
__device__ __forceinline__
unsigned find_pair(const unsigned* pair_far, const PairRow row, const unsigned wanted) {
  const unsigned place = find(pair_far, row.begin, row.middle, wanted);
  return place != NONE ? place : find(pair_far, row.middle, row.end, wanted);
}
__device__ __forceinline__ unsigned entries(const Sides& sides, const unsigned v) {
  return __ldg(sides.in_offset + v + 1) - __ldg(sides.in_offset + v)
    + (__ldg(sides.out_offset + v + 1) - __ldg(sides.out_offset + v));
}
// Whether a vertex is above another, which has so many entries. Hubs are above most.
__device__ __forceinline__ bool
is_above(const Sides& sides, const unsigned one, const unsigned other, const unsigned of_other) {
  const unsigned of_one = entries(sides, one);
  return of_one > of_other || (of_one == of_other && one > other);
}
// How many lanes before this one keep something; of all, how many do, and in the upper 16 bits how
// many have something new. Lanes are a warp or a block.
template <unsigned LANES> __device__ __forceinline__
unsigned kept_before(const bool is_kept, const bool is_new, unsigned& all) {
  const unsigned lane = threadIdx.x % 32, kept = __ballot_sync(FULL, is_kept);
  unsigned before = __popc(kept & ((1u << lane) - 1));
  all = __popc(kept) + (__popc(__ballot_sync(FULL, is_new)) << 16);
  if constexpr (LANES > 32) {
    __shared__ unsigned of_warp[LANES / 32];
    __syncthreads();
    if (lane == 0) of_warp[threadIdx.x / 32] = all;
    __syncthreads();
    all = 0;
    for (unsigned warp = 0; warp < LANES / 32; warp++) {
      if (warp < threadIdx.x / 32) before += of_warp[warp] & 0xffff;
      all += of_warp[warp];
    }
  }
  return before;
}
// The number that the first lane has.
template <unsigned LANES> __device__ __forceinline__ unsigned of_first(const unsigned number) {
  if constexpr (LANES > 32) {
    __shared__ unsigned shared;
    if (threadIdx.x == 0) shared = number;
    __syncthreads();
    return shared;
  } else return __shfl_sync(FULL, number, 0);
}
// Keeps the pairs of a vertex with those above it: counts them, takes room, and writes them.
template <unsigned LANES> __device__
void keep_pairs(const Sides& sides, const unsigned v, PairRow* pair_row, unsigned* pair_near,
    unsigned* pair_far, unsigned* pair_count, unsigned* taken) {
  const unsigned lane = threadIdx.x % LANES, own = entries(sides, v);
  const unsigned in_begin = __ldg(sides.in_offset + v), in_end = __ldg(sides.in_offset + v + 1);
  PairRow row = {0, 0, 0, 0};
  for (int turn = 0; turn < 2; turn++) {
    unsigned at = row.begin;
    for (int side = 0; side < 2; side++) {
      const unsigned* far = side == 0 ? sides.in_far : sides.out_far;
      const unsigned* offset = side == 0 ? sides.in_offset : sides.out_offset;
      const unsigned begin = __ldg(offset + v), end = __ldg(offset + v + 1);
      for (unsigned first = begin; first < end; first += LANES) {
        const unsigned p = first + lane, w = p < end ? __ldg(far + p) : v;
        bool is_new = w != v && (p == begin || __ldg(far + p - 1) != w);
        bool is_kept = is_new && is_above(sides, w, v, own);
        if (side == 1 && is_new && (turn == 0 || is_kept)) {
          is_new = find(sides.in_far, in_begin, in_end, w) == NONE;
          is_kept = is_kept && is_new;
        }
        unsigned all;
        const unsigned place = at + kept_before<LANES>(is_kept, is_new, all);
        at += all & 0xffff;
        if (turn == 0) row.neighbours += all >> 16;
        else if (is_kept) {
          pair_near[place] = v;
          pair_far[place] = w;
          pair_count[place] = 0;
        }
      }
      if (side == 0) row.middle = at;
    }
    row.end = at;
    if (turn == 1 || row.end == 0) break;
    row.begin = of_first<LANES>(lane == 0 ? atomicAdd(taken, row.end) : 0);
  }
  if (lane == 0) pair_row[v] = row;
}
// The pairs that the shorter of two rows keeps, each to be looked for in the longer.
struct Search { unsigned first, begin, middle, end; };
// Counts the triangles of the pairs of a block, for all three pairs of each. The searches of a warp
// are shared out evenly among its lanes.
__device__ __forceinline__ void count_triangles(const PairRow* pair_row, const unsigned* pair_near,
    const unsigned* pair_far, unsigned* pair_count, const unsigned pairs) {
  __shared__ Search searches[256];
  __shared__ unsigned ends[256], found[256];
  const unsigned pair = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x - lane;
  unsigned end = 0;
  if (pair < pairs) {
    const PairRow near = pair_row[__ldg(pair_near + pair)], far = pair_row[__ldg(pair_far + pair)];
    const bool is_near = near.end - near.begin <= far.end - far.begin;
    const PairRow shorter = is_near ? near : far, longer = is_near ? far : near;
    searches[threadIdx.x] = {shorter.begin, longer.begin, longer.middle, longer.end};
    end = shorter.end - shorter.begin;
  }
  UNROLL for (int distance = 1; distance < 32; distance *= 2) {
    const unsigned before = __shfl_up_sync(FULL, end, distance);
    if (lane >= distance) end += before;
  }
  ends[threadIdx.x] = end;
  found[threadIdx.x] = 0;
  __syncwarp();
  const unsigned all = ends[warp + 31];
  for (unsigned number = lane; number < all; number += 32) {
    unsigned owner = warp;
    UNROLL for (int step = 16; step > 0; step /= 2) {
      if (ends[owner + step - 1] <= number) owner += step;
    }
    const Search search = searches[owner];
    const unsigned place = search.first + number - (owner == warp ? 0 : ends[owner - 1]);
    const PairRow longer = {search.begin, search.middle, search.end, 0};
    const unsigned other = find_pair(pair_far, longer, __ldg(pair_far + place));
    if (other == NONE) continue;
    atomicAdd(&found[owner], 1u);
    atomicAdd(pair_count + place, 1u);
    atomicAdd(pair_count + other, 1u);
  }
  __syncwarp();
  if (found[threadIdx.x] > 0) atomicAdd(pair_count + pair, found[threadIdx.x]);
}
// The row of a slot, which is one of these.
__device__ __forceinline__
unsigned row_of(const unsigned* offset, unsigned low, unsigned high, const unsigned slot) {
  while (low < high) {
    const unsigned middle = low + (high - low + 1) / 2;
    if (__ldg(offset + middle) <= slot) low = middle;
    else high = middle - 1;
  }
  return low;
}
// An edge of a list: the vertex that has it, and its common neighbours.
struct Counted { unsigned row, count; };
// That of each thread; past the last slot one without common neighbours.
__device__ __forceinline__ Counted count_of_slot(const Sides& sides, const PairRow* pair_row,
    const unsigned* pair_far, const unsigned* pair_count, const unsigned* offset,
    const unsigned* far, const unsigned rows, const unsigned slots) {
  __shared__ unsigned bounds[2];
  const unsigned first = blockIdx.x * 256, last = min(first + 256, slots) - 1;
  if (threadIdx.x < 2) {
    bounds[threadIdx.x] = row_of(offset, 0, rows - 1, threadIdx.x == 0 ? first : last);
  }
  __syncthreads();
  const unsigned slot = min(first + threadIdx.x, last);
  const unsigned v = row_of(offset, bounds[0], bounds[1], slot), w = __ldg(far + slot);
  if (first + threadIdx.x > last) return {v, 0};
  if (v == w) return {v, pair_row[v].neighbours};
  const bool is_own = is_above(sides, w, v, entries(sides, v));
  const unsigned pair = find_pair(pair_far, pair_row[is_own ? v : w], is_own ? w : v);
  return {v, pair == NONE ? 0 : __ldg(pair_count + pair)};
}
