// out[v] = sum over edges u -> v of (w *) x[u]; f32, deterministic, one launch, no float atomics.
//
// Work comes in items, in the order of processing: offset[i]..offset[i+1] are the item's edges in col (col and weight stand in the order of the items), target[i]
// its row, or -1 - slot for a piece of a row that was cut. The first block_items items get a block each, the next warp_items a warp each, the others a lane group.
//
// Parameters: D columns (D % 4 == 0 with padding; LD floats from row to row), SLICE columns a block handles (gridDim.y = D / SLICE; slices run one after another, so that
// the part of x that is being read is N * SLICE * 4 bytes), L lanes an edge, Q float4 a lane, B edges in flight a lane, WEIGHTED, HINTS, MINB blocks an SM.
//
// Ladder (ms, H200, captured graph, best schedule found in that run; each column is another cost):
//   rung                                                            arxiv 16  amazon0505 64  DD 128  reddit 32  products 16  ddi 256   what it removes
//   spmm_probe (12 bytes of record a row, two launches)             .0164     .241           .235    .995       2.04         .105
//   1 indices stored in the order of work (8 bytes an item, read    .0128     .183           .128    1.007      2.15         .117      the chain record -> index -> row; the second launch; misses of
//     in order), next indices prefetched, tiers group / warp /                                                                         wide tables (slices of 32 columns: amazon0505 D = 64)
//     block joined in the same launch, column slices
//   2 a group does several short rows in turn as one stream of      .0122     .192           .104    1.021      2.28         .101      start-up latency of short rows; waits for the longest row of a warp
//     edges (rounds); warp and block tiers take equal shares                                                                           (but rounds over long rows unbalance: products, yelp)
//   3 rounds only for rows of at most 2 B edges                     -         .177           -       1.018      1.94         .101      that imbalance
//   4 whole chunks without tests (FAST)                             .0123     .174           -       .947       2.13         .090      half of the instructions (reddit D = 32: 681 M against the probe's 321 M)
//   5 J indices a lane; ranges of sources (ADD) for tables >> L2    .0125     .174           .104    .939       1.67         .090      re-reads of indices; misses (DRAM 4.9-5.5 GB at products D = 16)
// Runs differ by up to 8% on products and reddit (the probe itself: 1.88-2.05 and 3.36-3.88 at D = 128).
#ifndef D
#define D 16
#endif
#ifndef LD
#define LD D
#endif
#ifndef SLICE
#define SLICE D
#endif
#ifndef L
#define L (SLICE >= 128 ? 32 : SLICE / 4)
#endif
#ifndef Q
#define Q 1
#endif
#ifndef B
#define B 8
#endif
#ifndef WEIGHTED
#define WEIGHTED 0
#endif
#ifndef HINTS
#define HINTS 1
#endif
#ifndef THREADS
#define THREADS 256
#endif
#ifndef FAST
#define FAST 1
#endif
#ifndef ADD
#define ADD 0                          // 1: out += (a launch for each range of sources, so that the range stays in L2)
#endif
#ifndef ALIGN
#define ALIGN 0
#endif
#ifndef MINB
#define MINB 1
#endif
#define WARPS (THREADS / 32)
#define R (SLICE / 4)                  // float4 in a row of the slice
#define LD4 (LD / 4)
#define PER_WARP (32 / L)              // lane groups of a warp
#define GROUPS (WARPS * PER_WARP)
#ifndef J
#define J (B > L ? B / L : 1)          // edges whose index a lane holds
#endif
#define CHUNK (J * L)                  // edges that a group takes at a time
#define FULL 0xffffffffu
#define TAIL (R % (L * Q) != 0)        // some lanes have no column
#define OWNS(q) (!TAIL || part + (q) * L < R)
#define READS(q) (Q == 1 || OWNS(q))   // with Q = 1 a lane without a column reads its neighbour's: a test at each load would cost the loads in flight

#if HINTS                              // indices and results pass through the cache, rows of x stay
#define READ_ONCE(p) __ldcs(p)
#define WRITE_ONCE(p, v) __stcs(p, v)
#else
#define READ_ONCE(p) __ldg(p)
#define WRITE_ONCE(p, v) *(p) = (v)
#endif

__device__ inline void add(float4& a, const float4 b) { a.x += b.x; a.y += b.y; a.z += b.z; a.w += b.w; }
__device__ inline void fma(float4& a, const float s, const float4 b) { a.x += s * b.x; a.y += s * b.y; a.z += s * b.z; a.w += s * b.w; }
__device__ inline float4 from_lane(const float4 a, const int lane) {
  return make_float4(__shfl_sync(FULL, a.x, lane), __shfl_sync(FULL, a.y, lane), __shfl_sync(FULL, a.z, lane), __shfl_sync(FULL, a.w, lane));
}

extern "C" __global__ void __launch_bounds__(THREADS, MINB) neighbour_sum(float4* __restrict__ out, const float4* __restrict__ x, const unsigned* __restrict__ col,
    const float* __restrict__ weight, const unsigned* __restrict__ offset, const int* __restrict__ target, const unsigned items, const unsigned block_items,
    const unsigned warp_items, const unsigned group_items, const unsigned rounds, float4* partial, const uint4* __restrict__ cut, unsigned* arrived) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L, base = group * L;
  const unsigned warp_blocks = (warp_items + WARPS - 1) / WARPS, block = blockIdx.x;
  const unsigned shift = blockIdx.y * R;
  const bool light = block >= block_items + warp_blocks;           // a group an item, several items in turn
  unsigned item, left, at = 0, stop = 0, next_stop = 0;            // left: items still to do; at..stop: edges of this one; next_stop: the end of the next
  int to = 0, next_to = 0;
  if (light) {
    const unsigned group_blocks = (group_items + GROUPS - 1) / GROUPS, number = warp * PER_WARP + group, before = block_items + warp_items;
    const bool one = block < block_items + warp_blocks + group_blocks;
    item = one ? before + (block - block_items - warp_blocks) * GROUPS + number : before + group_items + ((block - block_items - warp_blocks - group_blocks) * GROUPS + number) * rounds;
    const unsigned limit = one ? before + group_items : items;
    left = group < PER_WARP && item < limit ? min(one ? 1 : rounds, limit - item) : 0;
    if (left) { at = __ldg(offset + item); stop = __ldg(offset + item + 1); to = __ldg(target + item); }
    if (left > 1) { next_stop = __ldg(offset + item + 2); next_to = __ldg(target + item + 1); }
  } else {                                                         // the groups of a warp or a block take equal shares of the edges
    const bool whole = block < block_items;
    item = whole ? block : block_items + (block - block_items) * WARPS + warp;
    left = group < PER_WARP && item < block_items + warp_items;
    if (left) {
      const unsigned begin = __ldg(offset + item), end = __ldg(offset + item + 1), groups = whole ? GROUPS : PER_WARP, mine = whole ? warp * PER_WARP + group : group;
      const unsigned share = (end - begin + groups * B - 1) / (groups * B) * B;
      at = min(end, begin + mine * share); stop = min(end, at + share);
    }
  }
  x += shift + (Q == 1 ? min(part, R - 1) : part); out += shift;

  float4 acc[Q];
#pragma unroll
  for (int q = 0; q < Q; q++) acc[q] = make_float4(0, 0, 0, 0);
  unsigned index[J];
  float factor[J];
#pragma unroll
  for (int j = 0; j < J; j++) {
    const unsigned p = at + j * L + part;
    index[j] = p < stop ? READ_ONCE(col + p) : 0;
    if (WEIGHTED) factor[j] = p < stop ? READ_ONCE(weight + p) : 0;
  }
  while (__any_sync(FULL, left)) {
#if FAST
    while (__all_sync(FULL, stop - at > CHUNK || group >= PER_WARP)) {             // whole chunks in every group: no tests on the rows
      unsigned next[J];
      float next_factor[J];
#pragma unroll
      for (int j = 0; j < J; j++) {
        const unsigned p = at + CHUNK + j * L + part;
        next[j] = p < stop ? READ_ONCE(col + p) : 0;
        if (WEIGHTED) next_factor[j] = p < stop ? READ_ONCE(weight + p) : 0;
      }
#pragma unroll
      for (int s = 0; s < CHUNK; s += B) {
        float4 row[B][Q];
#pragma unroll
        for (int k = 0; k < B; k++) {
          const unsigned u = __shfl_sync(FULL, index[(s + k) / L], base + (s + k) % L);
#pragma unroll
          for (int q = 0; q < Q; q++)
            if (READS(q)) row[k][q] = __ldg(x + (size_t)u * LD4 + q * L);
        }
#pragma unroll
        for (int k = 0; k < B; k++) {
          const float w = WEIGHTED ? __shfl_sync(FULL, factor[(s + k) / L], base + (s + k) % L) : 1;
#pragma unroll
          for (int q = 0; q < Q; q++)
            if (READS(q)) { if (WEIGHTED) fma(acc[q], w, row[k][q]); else add(acc[q], row[k][q]); }
        }
      }
#pragma unroll
      for (int j = 0; j < J; j++) { index[j] = next[j]; if (WEIGHTED) factor[j] = next_factor[j]; }
      at += group < PER_WARP ? CHUNK : 0;
    }
#endif
#if ALIGN
    const unsigned step = stop - at > 3 * CHUNK ? CHUNK - at % CHUNK : CHUNK;       // long runs are read by whole sectors of col
    const unsigned here_stop = min(stop, at + step);
#else
    const unsigned step = CHUNK, here_stop = stop;
#endif
    const bool ends = at + step >= stop;                           // edges of consecutive items are consecutive
    const unsigned follow = ends ? stop : at + step, follow_stop = ends ? next_stop : stop;
    unsigned next[J];
    float next_factor[J];
#pragma unroll
    for (int j = 0; j < J; j++) {                                  // indices of the next step, while this step's rows are on their way
      const unsigned p = follow + j * L + part;
      next[j] = p < follow_stop ? READ_ONCE(col + p) : 0;
      if (WEIGHTED) next_factor[j] = p < follow_stop ? READ_ONCE(weight + p) : 0;
    }
#if ADD
    float4 old[Q];
#pragma unroll
    for (int q = 0; q < Q; q++)
      old[q] = light && ends && left && OWNS(q) ? __ldcs(out + (size_t)to * LD4 + part + q * L) : make_float4(0, 0, 0, 0);
#endif
#pragma unroll
    for (int s = 0; s < CHUNK; s += B) {
      if (s && !__any_sync(FULL, at + s < here_stop)) break;
      float4 row[B][Q];
#pragma unroll
      for (int k = 0; k < B; k++) {
        const unsigned u = __shfl_sync(FULL, index[(s + k) / L], base + (s + k) % L);
        const bool here = at + s + k < here_stop;
#pragma unroll
        for (int q = 0; q < Q; q++)
          row[k][q] = here && READS(q) ? __ldg(x + (size_t)u * LD4 + q * L) : make_float4(0, 0, 0, 0);
      }
#pragma unroll
      for (int k = 0; k < B; k++) {
        if (WEIGHTED) {
          const float w = __shfl_sync(FULL, factor[(s + k) / L], base + (s + k) % L);
#pragma unroll
          for (int q = 0; q < Q; q++) fma(acc[q], w, row[k][q]);
        } else {
#pragma unroll
          for (int q = 0; q < Q; q++) add(acc[q], row[k][q]);
        }
      }
    }
#pragma unroll
    for (int j = 0; j < J; j++) { index[j] = next[j]; if (WEIGHTED) factor[j] = next_factor[j]; }
    at = follow;
    if (ends && left) {
      left--;
      if (light) {
        float4* row = out + (size_t)to * LD4 + part;
#pragma unroll
        for (int q = 0; q < Q; q++) {
#if ADD
          add(acc[q], old[q]);
#endif
          if OWNS(q) WRITE_ONCE(row + q * L, acc[q]);
          acc[q] = make_float4(0, 0, 0, 0);
        }
        stop = next_stop; to = next_to; item++;
        if (left > 1) { next_stop = __ldg(offset + item + 2); next_to = __ldg(target + item + 1); }
      }
    }
  }
  if (light) return;
  const bool live = group < PER_WARP && item < block_items + warp_items;
#pragma unroll
  for (int q = 0; q < Q; q++) {                                    // groups of a warp, in order
    const float4 own = acc[q];
#pragma unroll
    for (int g = 1; g < PER_WARP; g++) add(acc[q], from_lane(own, g * L + part));
  }
  if (block >= block_items) {                                      // a warp an item
    if (live && group == 0) {
      float4* to = out + (size_t)__ldg(target + item) * LD4;
#pragma unroll
      for (int q = 0; q < Q; q++)
        if OWNS(q) {
          if (ADD) add(acc[q], to[part + q * L]);
          WRITE_ONCE(to + part + q * L, acc[q]);
        }
    }
    return;
  }
  __shared__ float4 sums[(WARPS * R > THREADS ? WARPS * R : THREADS)];
  __shared__ bool last;
  if (group == 0)
#pragma unroll
    for (int q = 0; q < Q; q++) if (part + q * L < R) sums[warp * R + part + q * L] = acc[q];
  __syncthreads();
  const int t = __ldg(target + item);
  for (unsigned c = threadIdx.x; c < R; c += THREADS) {            // warps of the block, in order
    float4 sum = sums[c];
    for (int w = 1; w < WARPS; w++) add(sum, sums[w * R + c]);
    if (ADD && t >= 0) add(sum, out[(size_t)t * LD4 + c]);
    if (t >= 0) WRITE_ONCE(out + (size_t)t * LD4 + c, sum);
    else partial[(size_t)(-1 - t) * LD4 + shift + c] = sum;
  }
  if (t >= 0) return;
  const uint4 row = cut[-1 - t];                                   // its row, the row's first slot, number of slots, number among the cut rows
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned* count = arrived + row.w * gridDim.y + blockIdx.y;
    last = atomicAdd(count, 1) == row.z - 1;
    if (last) *count = 0;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();                                                 // the piece that ends last adds them all, in order
  const unsigned strands = THREADS / R > 0 ? THREADS / R : 1, strand = threadIdx.x / R;
  for (unsigned c = threadIdx.x % R; c < R; c += THREADS) {
    float4 sum = make_float4(0, 0, 0, 0);
    if (strand < strands)
#pragma unroll 4
      for (unsigned p = strand; p < row.z; p += strands) add(sum, __ldcg(partial + (size_t)(row.y + p) * LD4 + shift + c));
    if (strand < strands) sums[strand * R + c] = sum;
  }
  __syncthreads();
  for (unsigned c = threadIdx.x; c < R; c += THREADS) {
    float4 sum = sums[c];
    for (unsigned s = 1; s < strands; s++) add(sum, sums[s * R + c]);
    if (ADD) add(sum, out[(size_t)row.x * LD4 + c]);
    WRITE_ONCE(out + (size_t)row.x * LD4 + c, sum);
  }
}
