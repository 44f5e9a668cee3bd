// Graph attention (GAT), the step between the linear map and the next: HEADS x WIDTH, f32, deterministic, nothing of the size of the edges stored.
//   forward  (BACKWARD 0, items by destination): out, pos, lse, share        backward (BACKWARD 1, items by source): dz, dleft
// Work comes in items as in neighbour_sum.cu. Both directions are one weighted sum with the weight p of an edge, and the same sum over the edges with a positive score:
//   forward:  p = exp(leaky(left_u + right_v) - running maximum);  out = sum p z_u / sum p;  pos, share = the parts with a positive score (for backward)
//   backward: p = exp(leaky(left_u + right_v) - lse_v);            dz_u = sum p dout_v;      dleft_u = dot(z_u, sum c dout_v) - sum c delta_v,  c = p * slope of leaky
// so no dot product and no shuffle is left inside the edge loop of backward. With OWN_LEFT the source's score is the dot product of the row just read with a.
// left + right is rounded once, alike in both directions, so that both see the same sign. lse is in units of log2. record[v][head] = (right, lse, delta, 0).
// Parameters: HEADS, WIDTH, SLICE heads a block handles (gridDim.y = HEADS / SLICE), B edges in flight, OWN_LEFT, MINB, HINTS.
//
// Ladder (forward / backward ms; amazon0505 8x8, reddit 8x8, artist 1x32): gat_probe .364 / .679, 3.49 / 4.84, .0395 / .0621;
// items as neighbour_sum, backward as two sums, packed record, prefetched indices .303 / .476, 3.27 / 3.66, .0302 / .0363; whole chunks without tests .305 / .470, 2.61 / 3.27, .0276 / .0367.
#ifndef HEADS
#define HEADS 8
#endif
#ifndef WIDTH
#define WIDTH 8
#endif
#ifndef SLICE
#define SLICE HEADS
#endif
#ifndef B
#define B 4
#endif
#ifndef BACKWARD
#define BACKWARD 0
#endif
#ifndef OWN_LEFT
#define OWN_LEFT 0
#endif
#ifndef HINTS
#define HINTS 0
#endif
#ifndef FAST
#define FAST 1
#endif
#ifndef THREADS
#define THREADS 256
#endif
#ifndef MINB
#define MINB 1
#endif
#define SLOPE 0.2f
#define LOG2E 1.4426950408889634f
#define LOWEST -1e30f
#define WARPS (THREADS / 32)
#define R (SLICE * WIDTH / 4)          // float4 in a row of the slice, and lanes of an edge
#define L R
#define ROW4 (HEADS * WIDTH / 4)
#define HL (WIDTH / 4)                 // lanes of a head
#define PER_WARP (32 / L)
#define GROUPS (WARPS * PER_WARP)
#define J (B > L ? B / L : 1)
#define CHUNK (J * L)
#define PART (2 * ROW4 + HEADS)        // float4 of a partial result: acc, pos, (m, s, sp, 0) by head
#define FULL 0xffffffffu
#if HINTS
#define READ_ONCE(p) __ldcs(p)
#define WRITE_ONCE(p, v) __stcs(p, v)
#else
#define READ_ONCE(p) __ldg(p)
#define WRITE_ONCE(p, v) *(p) = (v)
#endif

__device__ inline void fma(float4& a, const float s, const float4 b) { a.x += s * b.x; a.y += s * b.y; a.z += s * b.z; a.w += s * b.w; }
__device__ inline float4 times(const float4 a, const float s) { return make_float4(a.x * s, a.y * s, a.z * s, a.w * s); }
__device__ inline float dot(const float4 a, const float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
__device__ inline float exp2(const float v) { float r; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v)); return r; }
__device__ inline float log2(const float v) { float r; asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v)); return r; }
__device__ inline float4 from_lane(const float4 a, const int lane) {
  return make_float4(__shfl_sync(FULL, a.x, lane), __shfl_sync(FULL, a.y, lane), __shfl_sync(FULL, a.z, lane), __shfl_sync(FULL, a.w, lane));
}
__device__ inline float head_sum(float v) {
#pragma unroll
  for (int o = HL / 2; o > 0; o /= 2) v += __shfl_xor_sync(FULL, v, o);
  return v;
}

template <bool V> struct Is { static constexpr bool value = V; };

struct State { float4 acc, pos; float m, s, sp; };                  // backward: m unused, s = sum c delta
__device__ inline State nothing() { const float4 zero = make_float4(0, 0, 0, 0); return State{zero, zero, BACKWARD ? 0.f : LOWEST, 0, 0}; }
__device__ inline void join(State& a, const State& b) {
  float fa = 1, fb = 1;
  if (!BACKWARD) { const float top = fmaxf(a.m, b.m); fa = exp2((a.m - top) * LOG2E); fb = exp2((b.m - top) * LOG2E); a.m = top; }
  a.s = a.s * fa + b.s * fb; a.sp = a.sp * fa + b.sp * fb;
  a.acc = times(a.acc, fa); a.pos = times(a.pos, fa); fma(a.acc, fb, b.acc); fma(a.pos, fb, b.pos);
}

struct Arrays {
  float4* rows; float4* pos; float* lse; float* share;              // results; backward: rows = dz, lse = dleft
  const float4* x; const float4* own;                               // the table that is gathered: z, or dout; own: backward's z
  const float* left; const float* right; const float4* a; const float4* record;
};

// lane `part` of a group writes its share of a finished row; called by whole warps
__device__ inline void finish(const Arrays& to, const State& st, const unsigned row, const unsigned head, const unsigned shift, const unsigned part, const bool live, const float4 own) {
#if BACKWARD
  float4 c = times(st.acc, SLOPE); fma(c, 1 - SLOPE, st.pos);
  const float dl = head_sum(dot(own, c)) - st.s;
  if (live) {
    WRITE_ONCE(to.rows + (size_t)row * ROW4 + shift + part, st.acc);
    if (part % HL == 0) to.lse[(size_t)row * HEADS + head] = dl;
  }
#else
  if (live) {
    const float inverse = st.s > 0 ? 1 / st.s : 0;
    WRITE_ONCE(to.rows + (size_t)row * ROW4 + shift + part, times(st.acc, inverse));
    WRITE_ONCE(to.pos + (size_t)row * ROW4 + shift + part, times(st.pos, inverse));
    if (part % HL == 0) { to.lse[(size_t)row * HEADS + head] = st.s > 0 ? st.m * LOG2E + log2(st.s) : 0; to.share[(size_t)row * HEADS + head] = st.sp * inverse; }
  }
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS, MINB) gat(const Arrays arrays, const unsigned* __restrict__ col, const unsigned* __restrict__ offset, const int* __restrict__ target,
    const unsigned items, const unsigned block_items, const unsigned warp_items, const unsigned group_items, const unsigned rounds, float4* partial, const uint4* __restrict__ cut, unsigned* arrived) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L, base = group * L;
  const unsigned warp_blocks = (warp_items + WARPS - 1) / WARPS, block = blockIdx.x, shift = blockIdx.y * R, head = blockIdx.y * SLICE + part / HL;
  const bool light = block >= block_items + warp_blocks;
  unsigned item, left = 0, at = 0, stop = 0, next_stop = 0;
  int to = 0, next_to = 0;
  if (light) {
    const unsigned group_blocks = (group_items + GROUPS - 1) / GROUPS, number = warp * PER_WARP + group, before = block_items + warp_items;
    const bool one = block < block_items + warp_blocks + group_blocks;
    item = one ? before + (block - block_items - warp_blocks) * GROUPS + number : before + group_items + ((block - block_items - warp_blocks - group_blocks) * GROUPS + number) * rounds;
    const unsigned limit = one ? before + group_items : items;
    left = item < limit ? min(one ? 1 : rounds, limit - item) : 0;
    if (left) { at = __ldg(offset + item); stop = __ldg(offset + item + 1); to = __ldg(target + item); }
    if (left > 1) { next_stop = __ldg(offset + item + 2); next_to = __ldg(target + item + 1); }
  } else {
    const bool whole = block < block_items;
    item = whole ? block : block_items + (block - block_items) * WARPS + warp;
    left = item < block_items + warp_items;
    if (left) {
      const unsigned begin = __ldg(offset + item), end = __ldg(offset + item + 1), groups = whole ? GROUPS : PER_WARP, mine = whole ? warp * PER_WARP + group : group;
      const unsigned share = (end - begin + groups * B - 1) / (groups * B) * B;
      at = min(end, begin + mine * share); stop = min(end, at + share);
      to = __ldg(target + item);
      if (to < 0) to = (int)cut[-1 - to].x;
    }
  }
  const bool exists = left;
  const float4* const x = arrays.x + shift + part;
  const float* const row_scores = BACKWARD ? arrays.left : arrays.right;
  float score = left ? __ldg(row_scores + (size_t)to * HEADS + head) : 0;                               // the row's own part of the score
  const float4 a = OWN_LEFT && !BACKWARD ? __ldg(arrays.a + shift + part) : make_float4(0, 0, 0, 0);

  State st = nothing();
  unsigned index[J];
#pragma unroll
  for (int j = 0; j < J; j++) { const unsigned p = at + j * L + part; index[j] = p < stop ? READ_ONCE(col + p) : 0; }
  // B edges of every group, from edge s of the chunk; all: none of them is past the end
  auto take = [&](const int s, const auto all) {
    constexpr bool ALL = decltype(all)::value;
    float4 row[B];
#if BACKWARD
    float4 rec[B];
#else
    float v[B];
#endif
#pragma unroll
    for (int k = 0; k < B; k++) {
      const unsigned u = __shfl_sync(FULL, index[(s + k) / L], base + (s + k) % L);
      const bool here = ALL || at + s + k < stop;
      row[k] = here ? __ldg(x + (size_t)u * ROW4) : make_float4(0, 0, 0, 0);
#if BACKWARD
      rec[k] = here ? __ldg(arrays.record + (size_t)u * HEADS + head) : make_float4(0, -LOWEST, 0, 0);
#elif !OWN_LEFT
      v[k] = here ? __ldg(arrays.left + (size_t)u * HEADS + head) : 0;
#endif
    }
#if BACKWARD
#pragma unroll
    for (int k = 0; k < B; k++) {
      const float sum = score + rec[k].x, p = exp2(fmaf(fmaxf(sum, SLOPE * sum), LOG2E, -rec[k].y)), pp = sum > 0 ? p : 0;
      st.s += (SLOPE * p + (1 - SLOPE) * pp) * rec[k].z;
      fma(st.acc, p, row[k]); fma(st.pos, pp, row[k]);
    }
#else
    float top = st.m;
    bool up[B];
#pragma unroll
    for (int k = 0; k < B; k++) {
      const float sum = (OWN_LEFT ? head_sum(dot(a, row[k])) : v[k]) + score;
      up[k] = sum > 0;
      v[k] = ALL || at + s + k < stop ? fmaxf(sum, SLOPE * sum) : 2 * LOWEST;
      top = fmaxf(top, v[k]);
    }
    const float scale = exp2((st.m - top) * LOG2E), shifted = -top * LOG2E;
    st.m = top; st.s *= scale; st.sp *= scale; st.acc = times(st.acc, scale); st.pos = times(st.pos, scale);
#pragma unroll
    for (int k = 0; k < B; k++) {
      const float p = exp2(fmaf(v[k], LOG2E, shifted)), pp = up[k] ? p : 0;
      st.s += p; st.sp += pp;
      fma(st.acc, p, row[k]); fma(st.pos, pp, row[k]);
    }
#endif
  };
  while (__any_sync(FULL, left)) {
#if FAST
    while (__all_sync(FULL, stop - at > CHUNK)) {                   // whole chunks in every group
      unsigned next[J];
#pragma unroll
      for (int j = 0; j < J; j++) { const unsigned p = at + CHUNK + j * L + part; next[j] = p < stop ? READ_ONCE(col + p) : 0; }
#pragma unroll
      for (int s = 0; s < CHUNK; s += B) take(s, Is<true>{});
#pragma unroll
      for (int j = 0; j < J; j++) index[j] = next[j];
      at += CHUNK;
    }
#endif
    const bool ends = at + CHUNK >= stop;
    const unsigned follow = ends ? stop : at + CHUNK, follow_stop = ends ? next_stop : stop;
    unsigned next[J];
#pragma unroll
    for (int j = 0; j < J; j++) { const unsigned p = follow + j * L + part; next[j] = p < follow_stop ? READ_ONCE(col + p) : 0; }
    float4 own = make_float4(0, 0, 0, 0);
    if (BACKWARD && light && ends && left) own = __ldg(arrays.own + (size_t)to * ROW4 + shift + part);
#pragma unroll
    for (int s = 0; s < CHUNK; s += B) {
      if (s && !__any_sync(FULL, at + s < stop)) break;
      take(s, Is<false>{});
    }
#pragma unroll
    for (int j = 0; j < J; j++) index[j] = next[j];
    at = follow;
    if (light && __any_sync(FULL, ends && left)) {
      const bool done = ends && left;
      finish(arrays, st, to, head, shift, part, done, own);
      if (done) {
        st = nothing();
        left--; stop = next_stop; to = next_to; item++;
        if (left) score = __ldg(row_scores + (size_t)to * HEADS + head);
        if (left > 1) { next_stop = __ldg(offset + item + 2); next_to = __ldg(target + item + 1); }
      }
    } else if (ends && !light) left = 0;
  }
  if (light) return;

  const State mine = st;                                            // groups of a warp, in order
#pragma unroll
  for (int g = 1; g < PER_WARP; g++) {
    const int from = g * L + part;
    const State other = {from_lane(mine.acc, from), from_lane(mine.pos, from), __shfl_sync(FULL, mine.m, from), __shfl_sync(FULL, mine.s, from), __shfl_sync(FULL, mine.sp, from)};
    join(st, other);
  }
  if (block >= block_items) {                                       // a warp an item
    const float4 own = BACKWARD && exists ? __ldg(arrays.own + (size_t)to * ROW4 + shift + part) : make_float4(0, 0, 0, 0);
    finish(arrays, st, to, head, shift, part, exists && group == 0, own);
    return;
  }
  __shared__ float4 rows[WARPS][2][R];
  __shared__ float sums[WARPS][3][R];
  __shared__ bool last;
  if (group == 0) { rows[warp][0][part] = st.acc; rows[warp][1][part] = st.pos; sums[warp][0][part] = st.m; sums[warp][1][part] = st.s; sums[warp][2][part] = st.sp; }
  __syncthreads();
  const int t = __ldg(target + item);
  if (warp == 0) {                                                  // warps of the block, in order (all groups of warp 0 do the same)
    st = State{rows[0][0][part], rows[0][1][part], sums[0][0][part], sums[0][1][part], sums[0][2][part]};
    for (int w = 1; w < WARPS; w++) join(st, State{rows[w][0][part], rows[w][1][part], sums[w][0][part], sums[w][1][part], sums[w][2][part]});
    if (t >= 0) {
      const float4 own = BACKWARD ? __ldg(arrays.own + (size_t)to * ROW4 + shift + part) : make_float4(0, 0, 0, 0);
      finish(arrays, st, to, head, shift, part, group == 0, own);
    } else if (group == 0) {
      float4* p = partial + (size_t)(-1 - t) * PART;
      p[shift + part] = st.acc; p[ROW4 + shift + part] = st.pos;
      if (part % HL == 0) p[2 * ROW4 + head] = make_float4(st.m, st.s, st.sp, 0);
    }
  }
  if (t >= 0) return;
  const uint4 piece = cut[-1 - t];                                  // its row, the row's first slot, number of slots, number among the cut rows
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned* count = arrived + piece.w * gridDim.y + blockIdx.y;
    last = atomicAdd(count, 1) == piece.z - 1;
    if (last) *count = 0;
  }
  __syncthreads();
  if (!last || warp != 0) return;
  __threadfence();                                                  // the piece that ends last joins them all, in order
  st = nothing();
  for (unsigned i = 0; i < piece.z; i++) {
    const float4* p = partial + (size_t)(piece.y + i) * PART;
    const float4 h = __ldcg(p + 2 * ROW4 + head);
    join(st, State{__ldcg(p + shift + part), __ldcg(p + ROW4 + shift + part), h.x, h.y, h.z});
  }
  const float4 own = BACKWARD ? __ldg(arrays.own + (size_t)to * ROW4 + shift + part) : make_float4(0, 0, 0, 0);
  finish(arrays, st, to, head, shift, part, group == 0, own);
}

// row by row: delta = dout . out, the record that backward gathers, and the gradient of right
extern "C" __global__ void __launch_bounds__(256) gat_local(float4* __restrict__ record, float* __restrict__ dright, const float4* __restrict__ dout, const float4* __restrict__ out,
    const float4* __restrict__ pos, const float* __restrict__ share, const float* __restrict__ right, const float* __restrict__ lse, const unsigned nodes) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = i / ROW4, lane = i % ROW4, head = lane / HL;
  const bool live = v < nodes;
  const float4 zero = make_float4(0, 0, 0, 0), g = live ? __ldg(dout + i) : zero;
  const float d = head_sum(live ? dot(g, __ldcs(out + i)) : 0), q = head_sum(live ? dot(g, __ldcs(pos + i)) : 0);
  if (live && lane % HL == 0) {
    const unsigned h = v * HEADS + head;
    record[h] = make_float4(__ldg(right + h), __ldg(lse + h), d, 0);
    dright[h] = SLOPE * d + (1 - SLOPE) * q - d * (SLOPE + (1 - SLOPE) * __ldg(share + h));
  }
}
