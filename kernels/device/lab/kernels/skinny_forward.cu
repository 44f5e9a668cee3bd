// y[rows, 8 * NT] = epilogue(x[rows, k] @ w[k, columns]): tall and narrow, f32 accuracy on tensor cores, x read once.
//
// A warp takes 16 * RT rows and all columns, 32 columns of x a step. x goes through a queue in shared memory that belongs to one warp alone: cp.async, DEPTH steps ahead and across tiles,
// so loads in flight cost no registers and no warp waits for another. Eight lanes copy 128 neighbouring bytes (a whole line, asked for once: with less, L2's request rate is the bound);
// chunks are swizzled so that neither side meets bank conflicts. The order of k inside an mma is free: lane (g, t) takes four neighbouring columns of rows g and g + 8.
// Each f32 is the sum of two TF32 values; three products of the parts give f32 accuracy (about 1e-6). w stands in shared memory, in the order of the fragments.
//
// Parameters: NT tiles of 8 columns, COLUMNS of w, RT row tiles a warp, DEPTH, WARPS, MINB; EPILOGUE: y = relu(scale[row] * (x w) + bias[column]) in the parts that are on.
//
// Ladder, 410236 x 96 by 16, ms (time to read x and write y: .0429): cuBLAS .0857; skinny_probe (loads into registers) .0705; queue in shared memory by cp.async .0557;
// .L2::128B or wider on the copies .0500; 128 bytes of a row a step .0470 (0.91). Sums in the tensor core's own accumulator: error 1.2e-5 at 1323 columns (it cuts off); added outside: 7e-7.
#ifndef NT
#define NT 2
#endif
#ifndef COLUMNS
#define COLUMNS (8 * NT)
#endif
#ifndef RT
#define RT 1
#endif
#ifndef DEPTH
#define DEPTH 6
#endif
#ifndef WARPS
#define WARPS 8
#endif
#ifndef MINB
#define MINB 1
#endif
#ifndef SCALE
#define SCALE 0
#endif
#ifndef BIAS
#define BIAS 0
#endif
#ifndef RELU
#define RELU 0
#endif
#ifndef PRESPLIT
#define PRESPLIT 1                      // 0: w is split at each use: half the shared memory
#endif
#ifndef AHEAD
#define AHEAD ".L2::128B"               // what a miss brings into L2
#endif
#ifndef NG
#define NG (NT % 4 == 0 ? 4 : NT % 2 == 0 ? 2 : NT)                // column tiles that are in work together
#endif
#define THREADS (32 * WARPS)
#define PARTS (1 + PRESPLIT)

__device__ inline float big(const float v) { return __uint_as_float(__float_as_uint(v) & 0xffffe000u); }       // the part that TF32 holds
// d = a * b + c; the tensor core cuts what it adds off instead of rounding it, so sums over many steps are added outside (add)
__device__ inline void mma(float (&d)[4], const float (&a)[4], const float b0, const float b1, const float (&c)[4]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
    : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
    : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[3])), "r"(__float_as_uint(b0)), "r"(__float_as_uint(b1)),
      "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
__device__ inline void copy16(const float4* to, const float4* from, const bool live) {                         // not live: zeros
  asm volatile("cp.async.cg.shared.global" AHEAD " [%0], [%1], 16, %2;" :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"(live ? 16 : 0) : "memory");
}
__device__ inline void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ inline void arrived() { asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory"); }

extern "C" __global__ void __launch_bounds__(THREADS, MINB) skinny_forward(float* __restrict__ y, const float4* __restrict__ x, const float* __restrict__ w,
    const float* __restrict__ scale, const float* __restrict__ bias, const unsigned rows, const unsigned k, const unsigned ld4, const unsigned ldy) {
  extern __shared__ float4 shared[];
  const unsigned blocks_k = (k + 31) / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  float4* const queue = shared + blocks_k * 2 * NT * PARTS * 32 + threadIdx.x / 32 * (DEPTH * RT * 128);
  for (unsigned i = threadIdx.x; i < blocks_k * 2 * NT * 32; i += THREADS) {
    const unsigned l = i % 32, n = i / 32 % NT, b = i / 32 / NT, column = n * 8 + l / 4;
    float v[4], s[4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const unsigned row = b * 16 + l % 4 * 4 + j;
      v[j] = row < k && column < COLUMNS ? w[(size_t)row * COLUMNS + column] : 0;
      s[j] = v[j] - big(v[j]);
      if (PRESPLIT) v[j] = big(v[j]);
    }
    float4* to = shared + (b * NT + n) * PARTS * 32 + l;
    to[0] = make_float4(v[0], v[1], v[2], v[3]);
    if (PRESPLIT) to[32] = make_float4(s[0], s[1], s[2], s[3]);
  }
  __syncthreads();

  const unsigned tiles = (rows + 16 * RT - 1) / (16 * RT), stride = gridDim.x * WARPS;
  unsigned tile = blockIdx.x * WARPS + threadIdx.x / 32, ahead = tile, ahead_b = 0, slot = 0;
  auto request = [&](const unsigned at) {                           // the copies of one step
    if (ahead < tiles) {
#pragma unroll
      for (int i = 0; i < 4 * RT; i++) {                             // eight lanes take 128 bytes of a row
        const unsigned r = i * 4 + lane / 8, row = ahead * 16 * RT + r, c = ahead_b * 8 + lane % 8;
        const bool live = row < rows && c < ld4;
        copy16(queue + at * RT * 128 + r * 8 + (lane % 8 ^ r % 2 * 4), x + (live ? (size_t)row * ld4 + c : 0), live);
      }
      if (++ahead_b == blocks_k) { ahead_b = 0; ahead += stride; }
    }
    commit();
  };
#pragma unroll
  for (int d = 0; d < DEPTH; d++) request(d);
  for (; tile < tiles; tile += stride) {
    float c[RT][NT][4] = {};
    for (unsigned b = 0; b < blocks_k; b++) {
      arrived<DEPTH - 1>();
      __syncwarp();
      float4 raw[2][2 * RT];
#pragma unroll
      for (int r = 0; r < 2 * RT; r++)
#pragma unroll
        for (int h = 0; h < 2; h++) raw[h][r] = queue[slot * RT * 128 + (r * 8 + g) * 8 + (h * 4 + t ^ g % 2 * 4)];
      __syncwarp();
      request(slot);
      slot = slot + 1 == DEPTH ? 0 : slot + 1;
#pragma unroll
      for (int h = 0; h < 2; h++) {
        float a[RT][2][4], s[RT][2][4];
#pragma unroll
        for (int r = 0; r < RT; r++) {
          const float4 u = raw[h][2 * r], v = raw[h][2 * r + 1];
          const float all[2][4] = {{u.x, v.x, u.y, v.y}, {u.z, v.z, u.w, v.w}};
#pragma unroll
          for (int q = 0; q < 2; q++)
#pragma unroll
            for (int i = 0; i < 4; i++) { a[r][q][i] = big(all[q][i]); s[r][q][i] = all[q][i] - a[r][q][i]; }
        }
        const float4* const part = shared + (b * 2 + h) * NT * PARTS * 32 + lane;
#pragma unroll
        for (int n = 0; n < NT; n += NG) {
          float4 wb[NG], ws[NG];
          float d[RT][NG][4] = {};
#pragma unroll
          for (int i = 0; i < NG; i++) {
            wb[i] = part[(n + i) * PARTS * 32];
            if (PRESPLIT) ws[i] = part[(n + i) * PARTS * 32 + 32];
            else {
              const float4 p = wb[i];
              wb[i] = make_float4(big(p.x), big(p.y), big(p.z), big(p.w));
              ws[i] = make_float4(p.x - wb[i].x, p.y - wb[i].y, p.z - wb[i].z, p.w - wb[i].w);
            }
          }
          // products of one kind for all tiles before the next kind: neighbours do not wait for one another
#define EACH(A, W, X, Y) _Pragma("unroll") for (int i = 0; i < NG; i++) _Pragma("unroll") for (int r = 0; r < RT; r++) mma(d[r][i], A, W[i].X, W[i].Y, d[r][i]);
          EACH(s[r][0], wb, x, y) EACH(a[r][0], ws, x, y) EACH(s[r][1], wb, z, w) EACH(a[r][1], ws, z, w) EACH(a[r][0], wb, x, y) EACH(a[r][1], wb, z, w)
#pragma unroll
          for (int r = 0; r < RT; r++)
#pragma unroll
            for (int i = 0; i < NG; i++)
#pragma unroll
              for (int j = 0; j < 4; j++) c[r][n + i][j] += d[r][i][j];
        }
      }
    }
#pragma unroll
    for (int r = 0; r < 2 * RT; r++) {
      const unsigned row = tile * 16 * RT + r * 8 + g;
      if (row >= rows) continue;
      const float factor = SCALE ? __ldg(scale + row) : 1;
#pragma unroll
      for (int n = 0; n < NT; n++) {
        const unsigned column = n * 8 + 2 * t;
        if (column >= ldy) continue;
        float2 v = make_float2(c[r / 2][n][r % 2 * 2], c[r / 2][n][r % 2 * 2 + 1]);
        if (SCALE) { v.x *= factor; v.y *= factor; }
        if (BIAS) { v.x += column < COLUMNS ? __ldg(bias + column) : 0; v.y += column + 1 < COLUMNS ? __ldg(bias + column + 1) : 0; }
        if (RELU) { v.x = fmaxf(v.x, 0); v.y = fmaxf(v.y, 0); }
        *(float2*)(y + (size_t)row * ldy + column) = v;
      }
    }
  }
}
