// partial[block][k][8 * NT] = x[rows of the block, k]^T @ dz[rows of the block, 8 * NT]; then join: dw = sum of the partials in the order of the blocks. f32 accuracy, x read once.
//
// WC warps take the columns of the same 8 rows (CT groups of 32 each) (SHARE: with one copy of dz), WR such groups take rows in turn; both operands go through a queue in shared memory (see
// skinny_forward.cu). The order of the columns of dz inside an mma is free: lane (g, t) takes NT neighbouring ones.
// Parameters: NT tiles of 8 columns (dz is NT * 8 wide), CT groups of 32 columns of x a warp, WC, WR, DEPTH.
//
// Ladder, 410236 x 96 by 16, ms (limit .0429): cuBLAS .124; skinny_probe .0764; queue of one thread's own 16-byte pieces .0861 (L2 busy 81%: 16 requests of 32 bytes a warp copy);
// .L2::128B .0827; eight lanes copy a line of 128 bytes, swizzled .0514-.0523 (0.82). Added outside the tensor core: error 3.2e-5 -> 6e-7 at 1323 columns.
#ifndef NT
#define NT 2
#endif
#ifndef CT
#define CT 3
#endif
#ifndef WC
#define WC 1
#endif
#ifndef WR
#define WR 8
#endif
#ifndef DEPTH
#define DEPTH 3
#endif
#ifndef MINB
#define MINB 1
#endif
#ifndef AHEAD
#define AHEAD ".L2::128B"               // what a miss brings into L2
#endif
#define WARPS (WC * WR)
#define THREADS (32 * WARPS)
#ifndef NG
#define NG (NT % 4 == 0 ? 4 : NT % 2 == 0 ? 2 : NT)                // column tiles that are in work together
#endif
#ifndef SHARE
#define SHARE 0                         // 1: the WC warps of the same rows share one copy of dz and step together; 0: every warp for itself
#endif
#define TEAM (SHARE ? WC : 1)           // warps of a queue
#define GROUP (32 * TEAM)
#define STAGE (TEAM * CT * 64 + 16 * NT) // float4 of a team and stage
#define V (NT % 4 == 0 ? 4 : NT % 2 == 0 ? 2 : 1)                  // floats of dz copied at once
#define WIDTH (8 * NT)

__device__ inline float big(const float v) { return __uint_as_float(__float_as_uint(v) & 0xffffe000u); }
// d = a * b + c; the tensor core cuts what it adds off instead of rounding it, so sums over many steps are added outside (add)
__device__ inline void mma(float (&d)[4], const float (&a)[4], const float b0, const float b1, const float (&c)[4]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
    : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
    : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[3])), "r"(__float_as_uint(b0)), "r"(__float_as_uint(b1)),
      "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
__device__ inline void copy16(const void* to, const void* from, const bool live) {
  asm volatile("cp.async.cg.shared.global" AHEAD " [%0], [%1], 16, %2;" :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"(live ? 16 : 0) : "memory");
}
__device__ inline void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ inline void arrived() { asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory"); }

extern "C" __global__ void __launch_bounds__(THREADS, MINB) skinny_gradient(float* __restrict__ partial, const float4* __restrict__ x, const float* __restrict__ dz,
    const unsigned rows, const unsigned k, const unsigned ld4, const unsigned run) {
  extern __shared__ float4 shared[];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4, wc = warp % WC, wr = warp / WC;
  float4* const queue = shared + (SHARE ? wr : warp) * (DEPTH * STAGE);  // [stage]([TEAM][CT][8 rows][8 chunks] of x, [8 rows][2 * NT chunks] of dz)
  const unsigned begin = blockIdx.x * run, end = min(rows, begin + run), first4 = wc * CT * 8;
  const auto twist = [](const unsigned row) { return NT == 2 ? row / 2 % 2 * 2 : NT == 4 ? row % 4 * 2 : NT == 8 ? row % 2 + row / 2 % 2 * 4 : 0; };
  const unsigned seat = SHARE ? wc : 0, member = seat * 32 + lane;
  unsigned ahead = begin + wr * 8, slot = 0;
  auto request = [&](const unsigned at) {
    if (ahead < end) {
      float4* const to = queue + at * STAGE;
#pragma unroll
      for (int h = 0; h < 2; h++) {                                 // eight lanes take 128 bytes of a row
        const unsigned r = 4 * h + lane / 8, row = ahead + r, chunk = lane % 8;
        const float4* from = x + (size_t)min(row, end - 1) * ld4 + first4 + chunk;
#pragma unroll
        for (int i = 0; i < CT; i++) {
          const bool live = row < end && first4 + chunk + i * 8 < ld4;
          copy16(to + ((seat * CT + i) * 8 + r) * 8 + (chunk ^ r % 4 * 2), live ? from + i * 8 : x, live);
        }
      }
#pragma unroll
      for (int j = 0; j < (16 * NT + GROUP - 1) / GROUP; j++) {
        const unsigned q = j * GROUP + member, r = q / (2 * NT), row = ahead + r;
        const bool live = row < end;
        if (16 * NT % GROUP == 0 || q < 16 * NT)
          copy16(to + TEAM * CT * 64 + r * 2 * NT + (q % (2 * NT) ^ twist(r)), (const float4*)dz + (live ? (size_t)ahead * 2 * NT + q : 0), live);
      }
      ahead += 8 * WR;
    }
    commit();
  };
#pragma unroll
  for (int d = 0; d < DEPTH - 1; d++) request(d);
  float c[CT][2][NT][4] = {};
  for (unsigned r = begin + wr * 8; r < end; r += 8 * WR) {
    arrived<DEPTH - 2>();
    if (TEAM == 1) __syncwarp();
    else asm volatile("bar.sync %0, %1;" :: "r"(wr + 1), "n"(GROUP) : "memory");      // everyone's copies are here, and the stage before has been read
    request(slot == 0 ? DEPTH - 1 : slot - 1);
    float zb[2][NT], zs[2][NT];
#pragma unroll
    for (int h = 0; h < 2; h++)
#pragma unroll
      for (int j = 0; j < NT / V; j++) {
        const unsigned word = g * NT + j * V;
        const float* from = (const float*)(queue + slot * STAGE + TEAM * CT * 64 + (4 * h + t) * 2 * NT + (word / 4 ^ twist(t))) + word % 4;
        float v[V];
        if (V == 4) *(float4*)v = *(const float4*)from; else if (V == 2) *(float2*)v = *(const float2*)from; else v[0] = *from;
#pragma unroll
        for (int i = 0; i < V; i++) { zb[h][j * V + i] = big(v[i]); zs[h][j * V + i] = v[i] - big(v[i]); }
      }
#pragma unroll
    for (int i = 0; i < CT; i++) {
      const float4 u = queue[slot * STAGE + ((seat * CT + i) * 8 + t) * 8 + (g ^ t * 2)], v = queue[slot * STAGE + ((seat * CT + i) * 8 + 4 + t) * 8 + (g ^ t * 2)];
      const float all[2][4] = {{u.x, u.y, v.x, v.y}, {u.z, u.w, v.z, v.w}};
      float a[2][4], s[2][4];
#pragma unroll
      for (int m = 0; m < 2; m++)
#pragma unroll
        for (int j = 0; j < 4; j++) { a[m][j] = big(all[m][j]); s[m][j] = all[m][j] - a[m][j]; }
#pragma unroll
      for (int n = 0; n < NT; n += NG) {
        float d[2][NG][4] = {};
        // products of one kind for all tiles before the next kind: neighbours do not wait for one another
#define EACH(A, Z) _Pragma("unroll") for (int j = 0; j < NG; j++) _Pragma("unroll") for (int m = 0; m < 2; m++) mma(d[m][j], A[m], Z[0][n + j], Z[1][n + j], d[m][j]);
        EACH(s, zb) EACH(a, zs) EACH(a, zb)
#pragma unroll
        for (int m = 0; m < 2; m++)
#pragma unroll
          for (int j = 0; j < NG; j++)
#pragma unroll
            for (int q = 0; q < 4; q++) c[i][m][n + j][q] += d[m][j][q];
      }
    }
    slot = slot + 1 == DEPTH ? 0 : slot + 1;
  }
  arrived<0>();
  __syncthreads();
  float* const sums = (float*)shared;                               // [WC * CT * 32][WIDTH], over the queues
  for (int w = 0; w < WR; w++) {                                    // warps of the same columns add in order
    if (wr == w)
#pragma unroll
      for (int i = 0; i < CT; i++)
#pragma unroll
        for (int m = 0; m < 2; m++)
#pragma unroll
          for (int n = 0; n < NT; n++)
#pragma unroll
            for (int j = 0; j < 4; j++) {
              float& s = sums[((wc * CT + i) * 32 + 4 * g + 2 * m + j / 2) * WIDTH + (2 * t + j % 2) * NT + n];
              s = (w ? s : 0.f) + c[i][m][n][j];
            }
    __syncthreads();
  }
  for (unsigned i = threadIdx.x; i < WC * CT * 32 * WIDTH; i += THREADS)
    if (i / WIDTH < k) partial[(size_t)blockIdx.x * k * WIDTH + i] = sums[i];
}

// dw[i] = sum of partial[b][i] over the blocks, in a fixed order: 8 slices, each in order, then the slices in order
extern "C" __global__ void __launch_bounds__(256) skinny_join(float* __restrict__ dw, const float* __restrict__ partial, const unsigned size, const unsigned blocks) {
  __shared__ float part[8][32];
  const unsigned i = blockIdx.x * 32 + threadIdx.x % 32, slice = threadIdx.x / 32;
  float s = 0;
  if (i < size)
#pragma unroll 8
    for (unsigned b = slice; b < blocks; b += 8) s += __ldcs(partial + (size_t)b * size + i);
  part[slice][threadIdx.x % 32] = s;
  __syncthreads();
  if (slice == 0 && i < size) { for (int q = 1; q < 8; q++) s += part[q][threadIdx.x]; dw[i] = s; }
}
