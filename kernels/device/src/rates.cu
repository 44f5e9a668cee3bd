// Kernels that measure rates: of copies, gathers, arithmetic, and reads of host memory.
// Promises that everything read contributes to something written, so that no compiler removes it;
// that threads beyond the end do nothing.
// Never writes out of bounds. Limits: fewer than 2^31 blocks; rows of 64 to 512 bytes, fewer than
// 2^32 of them.

// Four 16-byte loads per thread before the first store: `count` is a multiple of 1024.
extern "C" __global__ void __launch_bounds__(256) copy(float4* __restrict__ to, const float4* __restrict__ from, unsigned long long count) {
  const unsigned long long first = (unsigned long long)blockIdx.x * 1024 + threadIdx.x;
  if (first + 768 >= count) return;
  const float4 a = from[first], b = from[first + 256], c = from[first + 512], d = from[first + 768];
  to[first] = a; to[first + 256] = b; to[first + 512] = c; to[first + 768] = d;
}

// Reads everything once, in a grid-stride loop.
extern "C" __global__ void __launch_bounds__(256) total(float* __restrict__ sums, const float4* __restrict__ from, unsigned long long count) {
  const unsigned long long thread = (unsigned long long)blockIdx.x * 256 + threadIdx.x, threads = (unsigned long long)gridDim.x * 256;
  float sum = 0;
  unsigned long long i = thread;
  for (; i + 3 * threads < count; i += 4 * threads) {
    const float4 a = from[i], b = from[i + threads], c = from[i + 2 * threads], d = from[i + 3 * threads];
    sum += a.x + a.y + a.z + a.w + b.x + b.y + b.z + b.w + c.x + c.y + c.z + c.w + d.x + d.y + d.z + d.w;
  }
  for (; i < count; i += threads) sum += from[i].x + from[i].y + from[i].z + from[i].w;
  sums[thread] = sum;
}

// The row read at each step: a counter-based random number.
extern "C" __global__ void __launch_bounds__(256) draw(unsigned* __restrict__ index, unsigned rows, unsigned long long count) {
  const unsigned long long i = (unsigned long long)blockIdx.x * 256 + threadIdx.x;
  if (i >= count) return;
  unsigned long long z = (i + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  index[i] = (unsigned)((((z ^ (z >> 31)) >> 32) * rows) >> 32);
}

// Each group of LANES threads adds up 16 rows of LANES * 16 bytes: the access pattern of
// tests/bench/rulers/gather_limit.cu.
template <int LANES>
void gather(float4* __restrict__ out, const float4* __restrict__ table, const unsigned* __restrict__ index, unsigned groups) {
  const unsigned group = (blockIdx.x * 256 + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
  if (group >= groups) return;
  const unsigned* mine = index + (unsigned long long)group * 16;
  float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 8
  for (int k = 0; k < 16; k++) {
    const float4 row = __ldg(table + (unsigned long long)__ldg(mine + k) * LANES + lane);
    sum.x += row.x; sum.y += row.y; sum.z += row.z; sum.w += row.w;
  }
  out[(unsigned long long)group * LANES + lane] = sum;
}
extern "C" __global__ void __launch_bounds__(256) gather_64(float4* out, const float4* table, const unsigned* index, unsigned groups) { gather<4>(out, table, index, groups); }
extern "C" __global__ void __launch_bounds__(256) gather_128(float4* out, const float4* table, const unsigned* index, unsigned groups) { gather<8>(out, table, index, groups); }
extern "C" __global__ void __launch_bounds__(256) gather_256(float4* out, const float4* table, const unsigned* index, unsigned groups) { gather<16>(out, table, index, groups); }
extern "C" __global__ void __launch_bounds__(256) gather_512(float4* out, const float4* table, const unsigned* index, unsigned groups) { gather<32>(out, table, index, groups); }

// Eight independent sums per thread: 16 operations per round.
template <class T>
void arithmetic(T* sums, T factor, unsigned rounds) {
  T a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6, h = a + 7;
  for (unsigned i = 0; i < rounds; i++) {
    a = a * factor + factor; b = b * factor + factor; c = c * factor + factor; d = d * factor + factor;
    e = e * factor + factor; f = f * factor + factor; g = g * factor + factor; h = h * factor + factor;
  }
  sums[(unsigned long long)blockIdx.x * 256 + threadIdx.x] = a + b + c + d + e + f + g + h;
}
extern "C" __global__ void __launch_bounds__(256) arithmetic_f32(float* sums, float factor, unsigned rounds) { arithmetic<float>(sums, factor, rounds); }
extern "C" __global__ void __launch_bounds__(256) arithmetic_f64(double* sums, double factor, unsigned rounds) { arithmetic<double>(sums, factor, rounds); }

// An empty kernel.
extern "C" __global__ void __launch_bounds__(256) start(unsigned* at) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *at = 1;
}
