// Products of rows by groups of four warps (wgmma, sm_90a alone): a laboratory, run by hand; what it reached is in ../README.md, section 4.
// promises  f32 accuracy as the other products here have it: numbers as two parts of TF32, three products, sums that leave the tensor cores
//           every 16 columns or rows; each shape is compared with sums in f64 before its time is told
// never     is part of what Warploom emits
// nvcc -std=c++17 -O3 -gencode arch=compute_90a,code=sm_90a -o warpgroup warpgroup.cu && ./warpgroup
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>
#define UNROLL _Pragma("unroll")
#define UNROLL_1 _Pragma("unroll 1")
typedef unsigned long long u64;
__device__ __forceinline__ float first_bits(float a) { return __uint_as_float((__float_as_uint(a) + 0x1000u) & 0xffffe000u); }
template <int BYTES> __device__ __forceinline__ void copy_later(float* to, const float* from, bool here) {
  const unsigned place = (unsigned)__cvta_generic_to_shared(to); const unsigned given = here ? BYTES : 0;
  if constexpr (BYTES == 16) asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" :: "r"(place), "l"(from), "r"(given) : "memory");
  else asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %3, %2;" :: "r"(place), "l"(from), "r"(given), "n"(BYTES) : "memory");
}
__device__ __forceinline__ void copies_asked() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int LEFT> __device__ __forceinline__ void copies_done() { asm volatile("cp.async.wait_group %0;" :: "n"(LEFT) : "memory"); }
__device__ __forceinline__ void group_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void group_asked() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int LEFT> __device__ __forceinline__ void group_done() { asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(LEFT) : "memory"); }
__device__ __forceinline__ void shared_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ u64 matrix_at(const void* p, unsigned lead, unsigned stride) {
  const unsigned a = (unsigned)__cvta_generic_to_shared(p);
  return (u64)((a & 0x3ffff) >> 4) | (u64)(lead >> 4) << 16 | (u64)(stride >> 4) << 32;
}
// matrix of a half (16 columns): [h 2][part 2][chunk 2][n 8*TILES][t 4]; float index
template <int TILES> __device__ __forceinline__ unsigned place_of(unsigned k /*0..15*/, unsigned n, unsigned part) {
  const unsigned t = k / 4, h = k % 4 / 2, chunk = k % 2;
  return (((h * 2 + part) * 2 + chunk) * (8 * TILES) + n) * 4 + t;
}
template <int TILES> constexpr unsigned HALF_FLOATS = 2 * 2 * 2 * 8 * TILES * 4;
// sums = (first) or += (more) 64 rows, of which a warp has 16, times the matrix: 8 along k, 32 or 64 columns.
#define OF_TILE(C, i) C(d[i][0]), C(d[i][1]), C(d[i][2]), C(d[i][3])
#define OF_4_TILES(C, i) OF_TILE(C, i), OF_TILE(C, i + 1), OF_TILE(C, i + 2), OF_TILE(C, i + 3)
#define OF_8_TILES(C, i) OF_4_TILES(C, i), OF_4_TILES(C, i + 4)
#define GROUP(NAME, C, ADDS, TILES, COLUMNS, SUMS, ROWS, MATRIX)                                                                                  \
  __device__ __forceinline__ void NAME(float (&d)[TILES][4], const float (&a)[4], u64 b) {                                                       \
    asm volatile("{.reg .pred p; setp.ne.b32 p, " ADDS ", 0; wgmma.mma_async.sync.aligned.m64n" COLUMNS "k8.f32.tf32.tf32 "                       \
      "{" SUMS "}, {" ROWS "}, " MATRIX ", p, 1, 1;}"                                                                                           \
      : OF_##TILES##_TILES(C, 0)                                                                                                                  \
      : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[3])), "l"(b));                   \
  }
#define SUMS_16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define SUMS_32 SUMS_16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
GROUP(group_first, "=f", "0", 4, "32", SUMS_16, "%16, %17, %18, %19", "%20")
GROUP(group_more, "+f", "1", 4, "32", SUMS_16, "%16, %17, %18, %19", "%20")
GROUP(group_first, "=f", "0", 8, "64", SUMS_32, "%32, %33, %34, %35", "%36")
GROUP(group_more, "+f", "1", 8, "64", SUMS_32, "%32, %33, %34, %35", "%36")
template <int TILES> __device__ __forceinline__ void multiply_group(float (&d)[TILES][4], const float (&first)[2][4], const float (&rest)[2][4], const float* right) {
  constexpr unsigned PART = 2 * 8 * TILES * 4;
  const u64 b = matrix_at(right, 8 * TILES * 16, 128);
  constexpr u64 STEP = PART * 4 / 16;
  group_first(d, rest[0], b);
  group_more(d, rest[1], b + 2 * STEP);
  group_more(d, first[0], b + STEP);
  group_more(d, first[1], b + 3 * STEP);
  group_more(d, first[0], b);
  group_more(d, first[1], b + 2 * STEP);
}
// whole matrix in shared memory, split
template <int K, int TILES, int GROUPS, int AHEAD>
__device__ __forceinline__ void whole(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, unsigned rows, unsigned ld) {
  extern __shared__ __align__(128) float of_block[];
  constexpr unsigned STEPS = (K + 31) / 32, N = 8 * TILES, WARPS = GROUPS * 4;
  float* const right = of_block;
  const unsigned lane = threadIdx.x % 32, warp = __shfl_sync(~0u, threadIdx.x / 32, 0), group = lane / 4, part = lane % 4, wg = __shfl_sync(~0u, threadIdx.x / 128, 0);
  float* const queue = right + STEPS * 2 * HALF_FLOATS<TILES> + warp * (AHEAD * 512);
  const unsigned tiles = (rows + 63) / 64, stride = gridDim.x * GROUPS;
  unsigned tile = blockIdx.x + gridDim.x * wg, coming = tile, coming_step = 0, slot = 0;
  auto request = [&](const unsigned at) {
    if (coming < tiles) {
      float* const of_rows = queue + at * 512;
      UNROLL for (int piece = 0; piece < 4; piece++) {
        const unsigned of = piece * 32 + lane, r = of / 8, chunk = of % 8, row = coming * 64 + (warp % 4) * 16 + r, column = coming_step * 32 + chunk * 4;
        float* const to = of_rows + r * 32 + (chunk ^ r % 2 * 4) * 4;
        const bool here = row < rows && column < ld;
        copy_later<16>(to, x + (here ? (size_t)row * ld + column : 0), here);
      }
      if (++coming_step == STEPS) { coming_step = 0; coming += stride; }
    }
    copies_asked();
  };
  UNROLL for (int d = 0; d < AHEAD; d++) request(d);
  for (unsigned i = threadIdx.x; i < STEPS * 32 * N; i += WARPS * 32) {
    const unsigned k = i % (STEPS * 32), n = i / (STEPS * 32);
    const float a = k < K ? w[(size_t)n * K + k] : 0.f, f = first_bits(a);
    float* const to = right + k / 16 * HALF_FLOATS<TILES>;
    to[place_of<TILES>(k % 16, n, 0)] = f;
    to[place_of<TILES>(k % 16, n, 1)] = a - f;
  }
  shared_fence();
  __syncthreads();
  for (; tile < tiles; tile += stride) {
    float sums[TILES][4] = {};
    UNROLL_1 for (unsigned step = 0; step < STEPS; step++) {
      copies_done<AHEAD - 1>();
      __syncwarp();
      float first[2][2][4], rest[2][2][4];
      UNROLL for (int h = 0; h < 2; h++) {
        const float4* const from = reinterpret_cast<const float4*>(queue + slot * 512) + group * 8 + (h * 4 + part ^ group % 2 * 4);
        const float4 upper = from[0], lower = from[64];
        const float all[2][4] = {{upper.x, lower.x, upper.y, lower.y}, {upper.z, lower.z, upper.w, lower.w}};
        UNROLL for (int i = 0; i < 2; i++) UNROLL for (int j = 0; j < 4; j++) { first[h][i][j] = first_bits(all[i][j]); rest[h][i][j] = all[i][j] - first[h][i][j]; }
      }
      __syncwarp();
      request(slot);
      slot = slot + 1 == AHEAD ? 0 : slot + 1;
      float d[2][TILES][4];
      group_fence();
      multiply_group<TILES>(d[0], first[0], rest[0], right + (step * 2) * HALF_FLOATS<TILES>);
      group_asked();
      multiply_group<TILES>(d[1], first[1], rest[1], right + (step * 2 + 1) * HALF_FLOATS<TILES>);
      group_asked();
      group_done<1>();
      UNROLL for (int n = 0; n < TILES; n++) UNROLL for (int j = 0; j < 4; j++) sums[n][j] += d[0][n][j];
      group_done<0>();
      UNROLL for (int n = 0; n < TILES; n++) UNROLL for (int j = 0; j < 4; j++) sums[n][j] += d[1][n][j];
    }
    UNROLL for (int r = 0; r < 2; r++) {
      const unsigned row = tile * 64 + warp % 4 * 16 + r * 8 + group;
      if (row < rows) UNROLL for (int n = 0; n < TILES; n++) *reinterpret_cast<float2*>(y + (size_t)row * N + n * 8 + part * 2) = make_float2(sums[n][r * 2], sums[n][r * 2 + 1]);
    }
  }
}
// the matrix comes in steps
template <int K, int TILES, int GROUPS, int AHEAD>
__device__ __forceinline__ void insteps(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, unsigned rows, unsigned ld) {
  extern __shared__ __align__(128) float of_block[];
  constexpr unsigned STEPS = (K + 31) / 32, N = 8 * TILES, WARPS = GROUPS * 4, STAGE = WARPS * 512 + N * 32, THREADS = WARPS * 32;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / 4, part = lane % 4;
  float* const right = of_block;   // two of them
  float* const queue = right + 2 * 2 * HALF_FLOATS<TILES>;
  const unsigned turns = (rows + GROUPS * 64 - 1) / (GROUPS * 64);
  unsigned coming = blockIdx.x, coming_step = 0, slot = 0, buffer = 0;
  auto request = [&](const unsigned at) {
    if (coming < turns) {
      float* const stage = queue + at * STAGE;
      UNROLL for (int piece = 0; piece < 4; piece++) {
        const unsigned of = piece * 32 + lane, r = of / 8, chunk = of % 8, row = coming * (GROUPS * 64) + warp * 16 + r, column = coming_step * 32 + chunk * 4;
        float* const to = stage + warp * 512 + r * 32 + (chunk ^ r % 2 * 4) * 4;
        const bool here = row < rows && column < ld;
        copy_later<16>(to, x + (here ? (size_t)row * ld + column : 0), here);
      }
      // of the matrix [n][k], K rows of MV = 1
      UNROLL for (int piece = 0; piece < (N * 32 + THREADS - 1) / THREADS; piece++) {
        const unsigned of = piece * THREADS + threadIdx.x, n = of / 32, k = coming_step * 32 + of % 32;
        if (N * 32 % THREADS != 0 && of >= N * 32) continue;
        copy_later<4>(stage + WARPS * 512 + n * 32 + of % 32, w + (k < K ? (size_t)n * K + k : 0), k < K);
      }
      if (++coming_step == STEPS) { coming_step = 0; coming += gridDim.x; }
    }
    copies_asked();
  };
  // splits the matrix of the stage into the buffer
  auto split = [&](const float* const from, float* const to) {
    UNROLL for (int piece = 0; piece < (N * 8 + THREADS - 1) / THREADS; piece++) {
      const unsigned of = piece * THREADS + threadIdx.x, n = of / 8, q = of % 8;       // four k that lie as t = 0..3 of one n
      if (N * 8 % THREADS != 0 && of >= N * 8) continue;
      const unsigned half = q / 4, h = q % 4 / 2, chunk = q % 2;
      float a[4], f[4];
      UNROLL for (int t = 0; t < 4; t++) { a[t] = from[n * 32 + half * 16 + t * 4 + h * 2 + chunk]; f[t] = first_bits(a[t]); a[t] -= f[t]; }
      float* const at = to + half * HALF_FLOATS<TILES> + ((h * 2 * 2 + chunk) * N + n) * 4;
      *reinterpret_cast<float4*>(at) = make_float4(f[0], f[1], f[2], f[3]);
      *reinterpret_cast<float4*>(at + 2 * N * 4) = make_float4(a[0], a[1], a[2], a[3]);
    }
    shared_fence();
  };
  UNROLL for (int d = 0; d < AHEAD - 1; d++) request(d);
  copies_done<AHEAD - 2>();
  __syncthreads();
  split(queue + WARPS * 512, right);
  for (unsigned turn = blockIdx.x; turn < turns; turn += gridDim.x) {
    float sums[TILES][4] = {};
    UNROLL_1 for (unsigned step = 0; step < STEPS; step++) {
      copies_done<AHEAD - 3>();      // this step's and the next one's
      __syncthreads();               // what is split is there; nobody works on the buffer and stage before
      const float* const stage = queue + slot * STAGE;
      float first[2][2][4], rest[2][2][4];
      UNROLL for (int h = 0; h < 2; h++) {
        const float4* const from = reinterpret_cast<const float4*>(stage + warp * 512) + group * 8 + (h * 4 + part ^ group % 2 * 4);
        const float4 upper = from[0], lower = from[64];
        const float all[2][4] = {{upper.x, lower.x, upper.y, lower.y}, {upper.z, lower.z, upper.w, lower.w}};
        UNROLL for (int i = 0; i < 2; i++) UNROLL for (int j = 0; j < 4; j++) { first[h][i][j] = first_bits(all[i][j]); rest[h][i][j] = all[i][j] - first[h][i][j]; }
      }
      float d[2][TILES][4];
      group_fence();
      const float* const of_step = right + buffer * (2 * HALF_FLOATS<TILES>);
      multiply_group<TILES>(d[0], first[0], rest[0], of_step);
      group_asked();
      multiply_group<TILES>(d[1], first[1], rest[1], of_step + HALF_FLOATS<TILES>);
      group_asked();
      request(slot == 0 ? AHEAD - 1 : slot - 1);
      slot = slot + 1 == AHEAD ? 0 : slot + 1;
      buffer ^= 1;
      split(queue + slot * STAGE + WARPS * 512, right + buffer * (2 * HALF_FLOATS<TILES>));
      group_done<1>();
      UNROLL for (int n = 0; n < TILES; n++) UNROLL for (int j = 0; j < 4; j++) sums[n][j] += d[0][n][j];
      group_done<0>();
      UNROLL for (int n = 0; n < TILES; n++) UNROLL for (int j = 0; j < 4; j++) sums[n][j] += d[1][n][j];
    }
    UNROLL for (int r = 0; r < 2; r++) {
      const unsigned row = turn * (GROUPS * 64) + warp * 16 + r * 8 + group;
      if (row < rows) UNROLL for (int n = 0; n < TILES; n++) *reinterpret_cast<float2*>(y + (size_t)row * N + n * 8 + part * 2) = make_float2(sums[n][r * 2], sums[n][r * 2 + 1]);
    }
  }
}
__device__ __forceinline__ void barrier_of(unsigned name, unsigned threads) { asm volatile("bar.sync %0, %1;" :: "r"(name), "r"(threads) : "memory"); }
template <int TILES> __device__ __forceinline__ void multiply_group_turned(float (&d)[TILES][4], const float (&first)[2][4], const float (&rest)[2][4], const float* right) {
  // [part 2][kg 4][n][4]
  constexpr unsigned PART = 4 * 8 * TILES * 4;
  const u64 b = matrix_at(right, 8 * TILES * 16, 128);
  constexpr u64 P = PART * 4 / 16, H = P / 2;
  group_first(d, rest[0], b);
  group_more(d, rest[1], b + H);
  group_more(d, first[0], b + P);
  group_more(d, first[1], b + P + H);
  group_more(d, first[0], b);
  group_more(d, first[1], b + H);
}
// out[x][z] parts: [block][X][Z]
template <int X, int Z, int TILES, int ACROSS, int TURNS, int AHEAD>
__device__ __forceinline__ void gradient(const float* __restrict__ x, const float* __restrict__ z, float* __restrict__ scratch, unsigned rows, unsigned ldx, unsigned ldz) {
  extern __shared__ __align__(128) float of_block[];
  constexpr unsigned N = 8 * TILES, XS = 72, ZS = N, STAGE = 16 * XS + 16 * ZS, SPLIT = 2 * 16 * N, OF_GROUP = AHEAD * STAGE + 2 * SPLIT;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4, group = lane / 4, part = lane % 4, wg = __shfl_sync(~0u, threadIdx.x / 128, 0), beside = wg % ACROSS, turn = wg / ACROSS, thread = threadIdx.x % 128;
  float* const right = of_block + wg * OF_GROUP;
  float* const queue = right + 2 * SPLIT;
  const unsigned x0 = (blockIdx.y * ACROSS + beside) * 64;
  const unsigned each = (rows + gridDim.x - 1) / gridDim.x, begin = min(rows, blockIdx.x * each), end = min(rows, begin + each);
  unsigned coming = begin + turn * 16, slot = 0, buffer = 0;
  auto request = [&](const unsigned at) {
    if (coming < end) {
      float* const stage = queue + at * STAGE;
      UNROLL for (int i = 0; i < 2; i++) {
        const unsigned of = i * 128 + thread, r = of / 16, within = of % 16 * 4, row = coming + r, column = x0 + within;
        const bool here = row < end && column < ldx;
        copy_later<16>(stage + r * XS + within, x + (here ? (size_t)row * ldx + column : 0), here);
      }
      constexpr unsigned PIECES = 16 * N / 4;
      UNROLL for (int i = 0; i < (PIECES + 127) / 128; i++) {
        const unsigned of = i * 128 + thread, r = of / (N / 4), within = of % (N / 4) * 4, row = coming + r;
        if (PIECES % 128 != 0 && of >= PIECES) continue;
        const bool here = row < end && within < ldz;
        copy_later<16>(stage + 16 * XS + r * ZS + within, z + (here ? (size_t)row * ldz + within : 0), here);
      }
      coming += 16 * TURNS;
    }
    copies_asked();
  };
  auto split = [&](const float* const from, float* const to) {
    UNROLL for (int i = 0; i < (4 * N + 127) / 128; i++) {
      const unsigned of = i * 128 + thread, n = of % N, kg = of / N;
      if (4 * N % 128 != 0 && of >= 4 * N) continue;
      float a[4], f[4];
      UNROLL for (int t = 0; t < 4; t++) { a[t] = from[(kg * 4 + t) * ZS + n]; f[t] = first_bits(a[t]); a[t] -= f[t]; }
      float* const at = to + (kg * N + n) * 4;
      *reinterpret_cast<float4*>(at) = make_float4(f[0], f[1], f[2], f[3]);
      *reinterpret_cast<float4*>(at + 16 * N) = make_float4(a[0], a[1], a[2], a[3]);
    }
    shared_fence();
  };
  UNROLL for (int d = 0; d < AHEAD - 1; d++) request(d);
  copies_done<AHEAD - 2>();
  barrier_of(1 + wg, 128);
  split(queue + 16 * XS, right);
  float sums[TILES][4] = {};
  const unsigned count = end > begin + turn * 16 ? (end - begin - turn * 16 + 16 * TURNS - 1) / (16 * TURNS) : 0;
  const unsigned steps = __shfl_sync(~0u, count, 0);
  UNROLL_1 for (unsigned step = 0; step < steps; step++) {
    copies_done<AHEAD - 3>();
    barrier_of(1 + wg, 128);
    const float* const stage = queue + slot * STAGE;
    float first[2][4], rest[2][4];
    UNROLL for (int h = 0; h < 2; h++) UNROLL for (int i = 0; i < 2; i++) {
      const float2 a = *reinterpret_cast<const float2*>(stage + (h * 8 + i * 4 + part) * XS + warp * 16 + group * 2);
      first[h][i * 2] = first_bits(a.x); rest[h][i * 2] = a.x - first[h][i * 2];
      first[h][i * 2 + 1] = first_bits(a.y); rest[h][i * 2 + 1] = a.y - first[h][i * 2 + 1];
    }
    float d[TILES][4];
    group_fence();
    multiply_group_turned<TILES>(d, first, rest, right + buffer * SPLIT);
    group_asked();
    request(slot == 0 ? AHEAD - 1 : slot - 1);
    slot = slot + 1 == AHEAD ? 0 : slot + 1;
    buffer ^= 1;
    split(queue + slot * STAGE + 16 * XS, right + buffer * SPLIT);
    group_done<0>();
    UNROLL for (int n = 0; n < TILES; n++) UNROLL for (int j = 0; j < 4; j++) sums[n][j] += d[n][j];
  }
  copies_done<0>();
  __syncthreads();
  // columns 16 warp + 2 g (+1), z n * 8 + 2 part (+1)
  float* const own = of_block + wg * (64 * N);
  UNROLL for (int n = 0; n < TILES; n++) UNROLL for (int j = 0; j < 4; j++) own[(warp * 16 + group * 2 + j / 2) * N + n * 8 + part * 2 + j % 2] = sums[n][j];
  __syncthreads();
  float* const told = scratch + (size_t)blockIdx.x * (X * Z);
  for (unsigned i = threadIdx.x; i < ACROSS * 64 * N; i += ACROSS * TURNS * 128) {
    const unsigned column = i / N, n = i % N, at = blockIdx.y * (ACROSS * 64) + column;
    float sum = of_block[column / 64 * (64 * N) + column % 64 * N + n];
    UNROLL for (int t = 1; t < TURNS; t++) sum += of_block[(t * ACROSS + column / 64) * (64 * N) + column % 64 * N + n];
    if (at < X && n < Z) told[at * Z + n] = sum;
  }
}
template <int X, int Z, int TILES, int ACROSS, int TURNS, int AHEAD> __host__ __device__ constexpr unsigned gradient_bytes() {
  constexpr unsigned a = ACROSS * TURNS * (AHEAD * (16 * 72 + 16 * 8 * TILES) + 4 * 16 * 8 * TILES), b = ACROSS * TURNS * 64 * 8 * TILES;
  return (a > b ? a : b) * 4;
}
__global__ void add_parts(const float* scratch, float* out, unsigned parts, unsigned elements) {
  const unsigned e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= elements) return;
  float s = 0; for (unsigned p = 0; p < parts; p++) s += scratch[(size_t)p * elements + e];
  out[e] = s;
}
template <int K, int T, int G, int A> __global__ void __launch_bounds__(G * 128, 1) k_whole(const float* x, const float* w, float* y, unsigned rows, unsigned ld) { whole<K, T, G, A>(x, w, y, rows, ld); }
template <int K, int T, int G, int A> __global__ void __launch_bounds__(G * 128, 1) k_steps(const float* x, const float* w, float* y, unsigned rows, unsigned ld) { insteps<K, T, G, A>(x, w, y, rows, ld); }
template <int X, int Z, int T, int AC, int TU, int A> __global__ void __launch_bounds__(AC * TU * 128, 1) k_grad(const float* x, const float* z, float* s, unsigned rows, unsigned ldx, unsigned ldz) { gradient<X, Z, T, AC, TU, A>(x, z, s, rows, ldx, ldz); }
#define OK(e) do { cudaError_t r = (e); if (r != cudaSuccess) { printf("%s: %s\n", #e, cudaGetErrorString(r)); exit(1); } } while (0)
__global__ void fill(float* p, size_t n, unsigned seed, unsigned ld, unsigned columns) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    unsigned h = (unsigned)i * 2654435761u ^ (unsigned)(i >> 32) ^ seed; h ^= h >> 15; h *= 2246822519u; h ^= h >> 13; h *= 3266489917u; h ^= h >> 16;
    p[i] = i % ld < columns ? (h / 4294967296.f - .5f) : 0.f;
  }
}
__global__ void ref_forward(const float* x, const float* w, const float* y, unsigned rows, unsigned ld, int K, int N, unsigned every, double* worst) {
  const unsigned row = (blockIdx.x * every) % rows, n = threadIdx.x;
  double s = 0; for (int k = 0; k < K; k++) s += (double)x[(size_t)row * ld + k] * w[(size_t)n * K + k];
  const double e = fabs(s - y[(size_t)row * N + n]);
  atomicMax((unsigned long long*)worst, __double_as_longlong(e));
}
__global__ void ref_gradient(const float* x, const float* z, const float* out, unsigned rows, unsigned ldx, unsigned ldz, int Z, unsigned every, int X, double* worst) {
  const unsigned c = blockIdx.x * every % X, n = threadIdx.x % Z;
  __shared__ double all[256];
  double s = 0; for (unsigned r = threadIdx.x / Z; r < rows; r += blockDim.x / Z) s += (double)x[(size_t)r * ldx + c] * z[(size_t)r * ldz + n];
  all[threadIdx.x] = s; __syncthreads();
  if (threadIdx.x < Z) { for (unsigned o = Z; o < blockDim.x; o += Z) s += all[threadIdx.x + o]; atomicMax((unsigned long long*)worst, __double_as_longlong(fabs(s - out[c * Z + n]))); }
}
template <typename F> float timed(F f) {
  cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b); f(); OK(cudaDeviceSynchronize());
  std::vector<float> t; for (int i = 0; i < 5; i++) { cudaEventRecord(a); for (int j = 0; j < 5; j++) f(); cudaEventRecord(b); OK(cudaEventSynchronize(b)); float ms; cudaEventElapsedTime(&ms, a, b); t.push_back(ms / 5); }
  std::sort(t.begin(), t.end()); return t[2] * 1000;
}
double* worst; float *w, *y, *z, *scratch, *out;
double told() { double e; OK(cudaMemcpy(&e, worst, 8, cudaMemcpyDeviceToHost)); OK(cudaMemset(worst, 0, 8)); return e; }
template <int K, int T, int G, int A, bool WHOLE> void forward(const float* x, unsigned rows, unsigned ld) {
  constexpr unsigned N = 8 * T, S = (K + 31) / 32;
  const unsigned bytes = WHOLE ? S * 2 * HALF_FLOATS<T> * 4 + G * 4 * A * 2048 : (2 * 2 * HALF_FLOATS<T> + A * (G * 4 * 512 + N * 32)) * 4;
  if (bytes > 232448) { printf("forward %d x %d groups %d ahead %d: %u bytes\n", K, N, G, A, bytes); return; }
  auto* kernel = WHOLE ? &k_whole<K, T, G, A> : &k_steps<K, T, G, A>;
  OK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  OK(cudaMemset(y, 0xff, (size_t)rows * N * 4));
  const float us = timed([&] { kernel<<<132, G * 128, bytes>>>(x, w, y, rows, ld); });
  ref_forward<<<2000, N>>>(x, w, y, rows, ld, K, N, 7919, worst);
  const float limit = (float)((size_t)rows * (ld + N) * 4 / 4.28e6);
  printf("forward %u x %d x %u %s groups %d ahead %d: %.1f us (memory %.1f, %.2f) error %.2g\n", rows, K, N, WHOLE ? "whole" : "steps", G, A, us, limit, limit / us, told()); fflush(stdout);
}
template <int X, int Z, int AC, int TU, int A> void grad(const float* x, unsigned rows, unsigned ldx) {
  constexpr unsigned bytes = gradient_bytes<X, Z, Z / 8, AC, TU, A>(), Y = (X + AC * 64 - 1) / (AC * 64);
  if (bytes > 232448) { printf("gradient %d x %d: %u bytes\n", X, Z, bytes); return; }
  auto* kernel = &k_grad<X, Z, Z / 8, AC, TU, A>;
  OK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  unsigned parts = 132 / Y; if (Y > 1) parts = 132;
  for (unsigned p : {132u, parts == 132 ? 132 / Y : parts}) {
    const float us = timed([&] { kernel<<<dim3(p, Y), AC * TU * 128, bytes>>>(x, z, scratch, rows, ldx, Z); });
    add_parts<<<(X * Z + 255) / 256, 256>>>(scratch, out, p, X * Z);
    ref_gradient<<<48, 256>>>(x, z, out, rows, ldx, Z, Z, 31, X, worst);
    const float limit = (float)((size_t)rows * (ldx + Z) * 4 / 4.28e6);
    printf("gradient %u x %d x %d across %d turns %d ahead %d parts %u: %.1f us (memory %.1f, %.2f) error %.2g\n", rows, X, Z, AC, TU, A, p, us, limit, limit / us, told()); fflush(stdout);
    if (Y == 1) break;
  }
}
int main() {
  float* x; const size_t most = (size_t)580768 * 1344;
  OK(cudaMalloc(&x, most * 4)); OK(cudaMalloc(&w, 1344 * 64 * 4)); OK(cudaMalloc(&y, (size_t)1900000 * 64 * 4)); OK(cudaMalloc(&z, (size_t)1900000 * 64 * 4));
  OK(cudaMalloc(&scratch, (size_t)132 * 1344 * 64 * 4)); OK(cudaMalloc(&out, 1344 * 64 * 4)); OK(cudaMalloc(&worst, 8)); OK(cudaMemset(worst, 0, 8));
  fill<<<1000, 256>>>(w, 1344 * 64, 5, 64, 64); fill<<<1000, 256>>>(z, (size_t)1900000 * 64, 77, 64, 64);
#define SHAPE(rows, K, ld) fill<<<4000, 256>>>(x, (size_t)rows * ld, 3, ld, K); OK(cudaDeviceSynchronize());
  SHAPE(410236u, 64, 64)
  forward<64, 8, 2, 4, true>(x, 410236, 64); forward<64, 8, 3, 3, true>(x, 410236, 64); forward<64, 8, 3, 4, true>(x, 410236, 64); forward<64, 8, 3, 6, true>(x, 410236, 64);
  forward<64, 4, 3, 4, true>(x, 410236, 64);
  grad<64, 64, 1, 2, 5>(x, 410236, 64); grad<64, 64, 1, 3, 4>(x, 410236, 64); grad<64, 64, 1, 3, 5>(x, 410236, 64); grad<64, 64, 1, 4, 4>(x, 410236, 64); grad<64, 32, 1, 3, 5>(x, 410236, 64);
  SHAPE(410236u, 96, 96)
  forward<96, 8, 3, 3, true>(x, 410236, 96); forward<96, 8, 3, 4, true>(x, 410236, 96); forward<96, 8, 3, 5, true>(x, 410236, 96);
  grad<96, 64, 2, 1, 4>(x, 410236, 96); grad<96, 64, 2, 1, 5>(x, 410236, 96); grad<96, 64, 2, 2, 4>(x, 410236, 96);
  SHAPE(1890931u, 66, 68)
  forward<66, 8, 3, 4, true>(x, 1890931, 68);
  grad<66, 64, 2, 1, 5>(x, 1890931, 68); grad<66, 64, 2, 2, 4>(x, 1890931, 68);
  SHAPE(580768u, 1323, 1344)
  forward<1323, 8, 3, 4, false>(x, 580768, 1344); forward<1323, 8, 3, 5, false>(x, 580768, 1344); forward<1323, 8, 2, 5, false>(x, 580768, 1344); forward<1323, 8, 2, 7, false>(x, 580768, 1344);
  grad<1323, 64, 3, 1, 4>(x, 580768, 1344); grad<1323, 64, 3, 1, 5>(x, 580768, 1344); grad<1323, 64, 4, 1, 4>(x, 580768, 1344);
}
