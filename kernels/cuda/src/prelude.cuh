// Device functions of every kernel: number types, the operators of the language, vector loads and
// stores, dropout, asynchronous copies, tensor cores, shuffles. Sums have a fixed order.
typedef long long whole;
typedef unsigned narrow;                        // an id or a bool in memory, not in registers
typedef unsigned long long offset_t;
#define FULL 0xffffffffu
#define UNROLL _Pragma("unroll")
#define ABOVE 0x7fffffffffffffffLL              // above every int: the minimum of an empty set
#define BELOW (-ABOVE - 1)
#define INFINITE __longlong_as_double(0x7ff0000000000000LL)
#define ODD __longlong_as_double(0x7ff8000000000000LL)

#define UNROLL_1 _Pragma("unroll 1")
#define UNROLL_4 _Pragma("unroll 4")
#define UNROLL_8 _Pragma("unroll 8")
#define EACH_Q UNROLL for (int q = 0; q < Q; q++)
#define EACH EACH_Q UNROLL for (int j = 0; j < V; j++)
// Blocks per SM (occupancy) in `__launch_bounds__`. So many leave a thread so few registers that
// the compiler meets the bound without spills on Hopper alone; other architectures ask for fewer.
#if __CUDA_ARCH__ == 900
#define ON_HOPPER(blocks) blocks
#else
#define ON_HOPPER(blocks) blocks - (blocks < 7 ? 1 : 2)
#endif
struct Yes { static constexpr bool value = true; };
struct No { static constexpr bool value = false; };

// What changes from epoch to epoch. It is in global memory, so that one captured CUDA graph serves
// all epochs.
struct Clock { unsigned epoch, step, halted, spare; double pace; };

// Programmatic dependent launch: a kernel starts while the last blocks of the previous one end, and
// waits here before it reads results of others. An explicit griddepcontrol.launch_dependents was no
// faster on small graphs and slower on large ones, even in kernels of few blocks alone.
__device__ __forceinline__ void after_others() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Keeps an address in registers: compilers would compute it again for each row.
template <typename T> __device__ __forceinline__ void keep(const T*& address) {
#if defined(__CUDA_ARCH__)
  asm("" : "+l"(address));
#endif
}

// ---- vectors: V neighbouring elements of a row, aligned to A elements, as words of A elements
template <int BYTES> struct Word;
template <> struct Word<4> { typedef unsigned type; };
template <> struct Word<8> { typedef uint2 type; };
template <> struct Word<16> { typedef uint4 type; };
template <int V, int A = V, typename T> __device__ __forceinline__ void load(T (&to)[V], const T* __restrict__ from) {
  if constexpr (A < V) {
    UNROLL for (int j = 0; j < V; j += A) load<A>(reinterpret_cast<T (&)[A]>(to[j]), from + j);
  } else if constexpr (V * sizeof(T) == 4 || V * sizeof(T) == 8 || V * sizeof(T) == 16) {
    typedef typename Word<V * sizeof(T)>::type word;
    const word all = __ldg(reinterpret_cast<const word*>(from));
    memcpy(to, &all, sizeof(word));
  } else if constexpr (V * sizeof(T) == 32) {
    const uint4 low = __ldg(reinterpret_cast<const uint4*>(from)), high = __ldg(reinterpret_cast<const uint4*>(from) + 1);
    memcpy(to, &low, 16);
    memcpy(to + V / 2, &high, 16);
  } else {
    UNROLL for (int j = 0; j < V; j++) to[j] = __ldg(from + j);
  }
}
template <int V, int A = V, typename T> __device__ __forceinline__ void store(T* to, const T (&from)[V]) {
  if constexpr (A < V) {
    UNROLL for (int j = 0; j < V; j += A) store<A>(to + j, reinterpret_cast<const T (&)[A]>(from[j]));
  } else if constexpr (V * sizeof(T) == 4 || V * sizeof(T) == 8 || V * sizeof(T) == 16) {
    typedef typename Word<V * sizeof(T)>::type word;
    word all;
    memcpy(&all, from, sizeof(word));
    *reinterpret_cast<word*>(to) = all;
  } else if constexpr (V * sizeof(T) == 32) {
    store<V / 2>(to, reinterpret_cast<const T (&)[V / 2]>(from[0]));
    store<V / 2>(to + V / 2, reinterpret_cast<const T (&)[V / 2]>(from[V / 2]));
  } else {
    UNROLL for (int j = 0; j < V; j++) to[j] = from[j];
  }
}

// Prefetches rows to L2 that the block reads later.
template <typename T> __device__ __forceinline__ void come_nearer(const T* from, const unsigned elements) {
  #if defined(__CUDA_ARCH__)
  constexpr unsigned LINE = 128 / sizeof(T);
  for (unsigned i = threadIdx.x * LINE; i < elements; i += blockDim.x * LINE) asm volatile("prefetch.global.L2 [%0];" :: "l"(from + i));
  #endif
}

// ---- operators
__device__ __forceinline__ bool is_odd(float a) { return a != a; }
__device__ __forceinline__ bool is_odd(double a) { return a != a; }
__device__ __forceinline__ bool either(bool a, bool b) { return a || b; }
__device__ __forceinline__ bool both(bool a, bool b) { return a && b; }
template <typename T> __device__ __forceinline__ T least(T a, T b) { return a != a || a < b ? a : b; }
template <typename T> __device__ __forceinline__ T most(T a, T b) { return a != a || a > b ? a : b; }
__device__ __forceinline__ float most(float a, float b) {
#if __CUDA_ARCH__ >= 800
  float largest;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(largest) : "f"(a), "f"(b));
  return largest;
#else
  return a != a || a > b ? a : b;
#endif
}
__device__ __forceinline__ whole plus(whole a, whole b) {
  if (a == ABOVE || b == ABOVE) return ABOVE;
  if (a == BELOW || b == BELOW) return BELOW;
  return (whole)((offset_t)a + (offset_t)b);
}
__device__ __forceinline__ float plus(float a, float b) { return a + b; }
__device__ __forceinline__ double plus(double a, double b) { return a + b; }
__device__ __forceinline__ whole negative(whole a) { return a == ABOVE ? BELOW : a == BELOW ? ABOVE : -a; }
__device__ __forceinline__ float negative(float a) { return -a; }
__device__ __forceinline__ double negative(double a) { return -a; }
__device__ __forceinline__ whole minus(whole a, whole b) {
  return a == ABOVE || a == BELOW || b == ABOVE || b == BELOW ? plus(a, negative(b)) : (whole)((offset_t)a - (offset_t)b);
}
__device__ __forceinline__ float minus(float a, float b) { return a - b; }
__device__ __forceinline__ double minus(double a, double b) { return a - b; }
__device__ __forceinline__ whole times(whole a, whole b) {
  if (a == 0 || b == 0) return 0;
  if (a == ABOVE || a == BELOW || b == ABOVE || b == BELOW) return (a < 0) != (b < 0) ? BELOW : ABOVE;
  return (whole)((offset_t)a * (offset_t)b);
}
__device__ __forceinline__ float times(float a, float b) { return a * b; }
__device__ __forceinline__ double times(double a, double b) { return a * b; }
__device__ __forceinline__ whole absolute(whole a) { return a < 0 ? negative(a) : a; }
__device__ __forceinline__ float absolute(float a) { return fabsf(a); }
__device__ __forceinline__ double absolute(double a) { return fabs(a); }
__device__ __forceinline__ float exponential(float a) { return expf(a); }
__device__ __forceinline__ double exponential(double a) { return exp(a); }
// e^a for a <= 0, a term of a softmax whose largest term is 1: the absolute error is at most half a
// unit in the last place of 1.
__device__ __forceinline__ float exponential_of_share(float a) {
#if defined(__CUDA_ARCH__)
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(a * 1.44269504f));
  return power;
#else
  return expf(a);
#endif
}
__device__ __forceinline__ double exponential_of_share(double a) { return exp(a); }
__device__ __forceinline__ float logarithm(float a) { return logf(a); }
__device__ __forceinline__ double logarithm(double a) { return log(a); }
__device__ __forceinline__ float root(float a) { return sqrtf(a); }
__device__ __forceinline__ double root(double a) { return sqrt(a); }
// e^a - 1 for a <= 0, within a unit in the last place: 2^n (e^rest - 1) + 2^n - 1, without a
// branch.
__device__ __forceinline__ float less_one(float a) {
  const float within = most(a, -20.f), turned = fmaf(within, 1.44269504f, 12582912.f), n = turned - 12582912.f;
  const float rest = fmaf(n, -1.42860677e-6f, fmaf(n, -0.693145752f, within)), power = __int_as_float((__float_as_int(turned) << 23) + 0x3f800000);
  float more = 0.000198412698f;
  more = fmaf(more, rest, 0.00138888889f);
  more = fmaf(more, rest, 0.00833333333f);
  more = fmaf(more, rest, 0.0416666667f);
  more = fmaf(more, rest, 0.166666667f);
  more = fmaf(more, rest, 0.5f);
  return fmaf(power, fmaf(more, rest * rest, rest), power - 1.f);
}
__device__ __forceinline__ double less_one(double a) { return expm1(a); }
__device__ __forceinline__ float tangent(float a) { return tanhf(a); }
__device__ __forceinline__ double tangent(double a) { return tanh(a); }
__device__ __forceinline__ float floored(float a) { return floorf(a); }
__device__ __forceinline__ double floored(double a) { return floor(a); }
__device__ __forceinline__ float error_of(float a) { return erff(a); }
__device__ __forceinline__ double error_of(double a) { return erf(a); }
__device__ __forceinline__ float normal(float a) { return 0.5f * erfcf(-a * 0.70710678118654752f); }
__device__ __forceinline__ double normal(double a) { return 0.5 * erfc(-a * 0.70710678118654752); }
__device__ __forceinline__ float raised(float a, float b) { return powf(a, b); }
__device__ __forceinline__ double raised(double a, double b) { return pow(a, b); }
__device__ __forceinline__ float log_one_more(float a) { return log1pf(a); }
__device__ __forceinline__ double log_one_more(double a) { return log1p(a); }
__device__ __forceinline__ float rest_of(float a, float b) { return fmodf(a, b); }
__device__ __forceinline__ double rest_of(double a, double b) { return fmod(a, b); }
template <typename T> __device__ __forceinline__ T sigmoid(T a) {
  const T power = exponential(-absolute(a));
  return (a >= 0 ? (T)1 : power) / (1 + power);
}
template <typename T> __device__ __forceinline__ T softplus(T a) { return (a > 0 ? a : (T)0) + log_one_more(exponential(-absolute(a))); }
template <typename T> __device__ __forceinline__ T relu(T a) { return a <= 0 ? (T)0 : a; }
template <typename T> __device__ __forceinline__ T leaky_relu(T a, T slope) { return a > 0 ? a : slope * a; }
__device__ __forceinline__ float elu(float a) { return most(a, 0.f) + less_one(least(a, 0.f)); }
__device__ __forceinline__ double elu(double a) { return a > 0 ? a : less_one(a); }
// Several numbers divided by one, with one reciprocal; rounded as `/` rounds, except for quotients
// near the smallest numbers.
template <int V> __device__ __forceinline__ void divide(double (&to)[V], const double (&of)[V], double by) { UNROLL for (int j = 0; j < V; j++) to[j] = of[j] / by; }
template <int V> __device__ __forceinline__ void divide(float (&to)[V], const float (&of)[V], float by) {
#if defined(__CUDA_ARCH__)
  float largest = 0, inverse;
  UNROLL for (int j = 0; j < V; j++) largest = most(largest, fabsf(of[j]));
  if (largest <= 0x1p60f && fabsf(by) >= 0x1p-60f && fabsf(by) <= 0x1p60f) {
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(by));
    inverse = fmaf(fmaf(-by, inverse, 1.f), inverse, inverse);
    UNROLL for (int j = 0; j < V; j++) {
      const float about = of[j] * inverse;
      to[j] = fmaf(fmaf(-by, about, of[j]), inverse, about);
    }
    return;
  }
#endif
  UNROLL for (int j = 0; j < V; j++) to[j] = of[j] / by;
}
// Online softmax: the factor of sums when the maximum grows. Sums are empty as long as there is no
// maximum.
template <typename T> __device__ __forceinline__ T grown(T before, T largest) { return before == (T)-INFINITE ? (T)0 : exponential_of_share(before - largest); }

// A value that a block passes to another one, in 8 bytes of global memory.
template <typename T> __device__ __forceinline__ void tell(double* to, T value) { *reinterpret_cast<T*>(to) = value; }
template <typename T> __device__ __forceinline__ T heard(const double* from) { return __ldcg(reinterpret_cast<const T*>(from)); }
template <> __device__ __forceinline__ bool heard<bool>(const double* from) { return __ldcg(reinterpret_cast<const unsigned char*>(from)) != 0; }
// a // b and a % b as Python has them; by 0: a / b and no number.
template <typename T> __device__ __forceinline__ T rest(T a, T b) {
  if (b == 0) return (T)ODD;
  T left = rest_of(a, b);
  if (left == 0) return b < 0 ? (T)-0.0 : (T)0;
  return (left < 0) != (b < 0) ? left + b : left;
}
template <typename T> __device__ __forceinline__ T quotient(T a, T b) {
  if (b == 0) return a / b;
  const T left = rest_of(a, b);
  T whole_part = (a - left) / b;
  if (left != 0 && (left < 0) != (b < 0)) whole_part -= 1;
  if (whole_part == 0) return a / b < 0 ? (T)-0.0 : (T)0;
  const T below = floored(whole_part);
  return whole_part - below > (T)0.5 ? below + 1 : below;
}
__device__ __forceinline__ whole rest(whole a, whole b) {
  if (b == 0 || a == ABOVE || a == BELOW) return b == 0 ? 0 : a;
  if (b == -1) return 0;
  const whole left = a % b;
  return left != 0 && (left < 0) != (b < 0) ? left + b : left;
}
__device__ __forceinline__ whole quotient(whole a, whole b) {
  if (b == 0) return 0;
  if (a == ABOVE || a == BELOW) return (a < 0) != (b < 0) ? BELOW : ABOVE;
  if (b == -1) return -a;
  const whole toward_zero = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? toward_zero - 1 : toward_zero;
}
__device__ __forceinline__ whole raised(whole base, whole exponent) {
  if (exponent < 0) return 0;
  if ((base == ABOVE || base == BELOW) && exponent > 0) return base == BELOW && exponent % 2 != 0 ? BELOW : ABOVE;
  offset_t result = 1, factor = (offset_t)base;
  for (; exponent > 0; exponent >>= 1, factor *= factor)
    if (exponent & 1) result *= factor;
  return (whole)result;
}
__device__ __forceinline__ whole as_whole(double a) {
  return a != a ? 0 : a >= 9223372036854775807.0 ? ABOVE : a <= -9223372036854775808.0 ? BELOW : (whole)a;
}
__device__ __forceinline__ double widened(whole a) { return a == ABOVE ? INFINITE : a == BELOW ? -INFINITE : (double)a; }
__device__ __forceinline__ whole as_id(whole a) { return a < 0 || a > 0xffffffffLL ? 0xffffffffLL : a; }

// A power with an integer exponent, by squaring.
__device__ __forceinline__ double to_the(double base, unsigned power) {
  double result = 1;
  for (; power > 0; power >>= 1, base *= base)
    if (power & 1) result *= base;
  return result;
}

// ---- dropout: Philox4x32-7, key (seed), counter (row in the graph artifact, column / 8, epoch,
// site); eight draws of 16 bits
__device__ __forceinline__ uint4 philox(unsigned row, unsigned block, unsigned epoch, unsigned site, uint2 key) {
  uint4 c = make_uint4(row, block, epoch, site);
  UNROLL for (int round = 0; round < 7; round++) {
    const unsigned low = 0xD2511F53u * c.x, high = __umulhi(0xD2511F53u, c.x), low_right = 0xCD9E8D57u * c.z, high_right = __umulhi(0xCD9E8D57u, c.z);
    c = make_uint4(high_right ^ c.y ^ key.x, low_right, high ^ c.w ^ key.y, low);
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  return c;
}
__device__ __forceinline__ unsigned draw(const uint4 words, unsigned within) {
  const unsigned word = within < 4 ? (within < 2 ? words.x : words.y) : (within < 6 ? words.z : words.w);
  return word >> (16 * (within % 2)) & 0xffff;
}
// Whether dropout keeps each of V neighbouring columns.
template <int V> __device__ __forceinline__ void keeps(bool (&kept)[V], unsigned row, unsigned column, unsigned epoch, unsigned site, uint2 key, unsigned threshold) {
  uint4 words = philox(row, column / 8, epoch, site, key);
  UNROLL for (int j = 0; j < V; j++) {
    if (j > 0 && (column + j) % 8 == 0) words = philox(row, (column + j) / 8, epoch, site, key);
    kept[j] = draw(words, (column + j) % 8) >= threshold;
  }
}
// Whether dropout keeps each of the first columns of a row, a bit each.
template <unsigned COLUMNS> __device__ __forceinline__ unsigned kept_columns(unsigned row, unsigned epoch, unsigned site, uint2 key, unsigned threshold) {
  unsigned bits = 0;
  UNROLL for (unsigned block = 0; block < (COLUMNS + 7) / 8; block++) {
    const uint4 words = philox(row, block, epoch, site, key);
    UNROLL for (unsigned within = 0; within < 8; within++)
      if (block * 8 + within < COLUMNS) bits |= (unsigned)(draw(words, within) >= threshold) << (block * 8 + within);
  }
  return bits;
}

// ---- asynchronous copies into shared memory (cp.async), in groups that a thread waits for
template <int BYTES> __device__ __forceinline__ void copy_first_later(float* to, const float* from, unsigned given) {  // so many bytes; zeros behind them
#if __CUDA_ARCH__ >= 800
  const unsigned place = (unsigned)__cvta_generic_to_shared(to);
  if constexpr (BYTES == 16)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" :: "r"(place), "l"(from), "r"(given) : "memory");
  else
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %3, %2;" :: "r"(place), "l"(from), "r"(given), "n"(BYTES) : "memory");
#elif defined(__CUDA_ARCH__)
  UNROLL for (int j = 0; j < BYTES / 4; j++) to[j] = j * 4 < given ? from[j] : 0.f;
#else
  emulator::copy_later(to, from, BYTES, given);
#endif
}
template <int BYTES> __device__ __forceinline__ void copy_later(float* to, const float* from, bool here) {  // zeros where not here
  copy_first_later<BYTES>(to, from, here ? BYTES : 0);
}
__device__ __forceinline__ void copies_asked() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#elif !defined(__CUDA_ARCH__)
  emulator::copies_asked();
#endif
}
template <int LEFT> __device__ __forceinline__ void copies_done() {                                         // all groups but the last LEFT
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" :: "n"(LEFT) : "memory");
#elif !defined(__CUDA_ARCH__)
  emulator::copies_done(LEFT);
#endif
}

// ---- tensor cores (mma.sync, tf32). They read the upper bits of an operand: a float is split into
// two tf32 parts, and three products of parts have the accuracy of f32. They truncate sums, too:
// sums of many steps are accumulated outside of them. The upper bits of a number, rounded to
// nearest. Truncation would give remainders of one sign, and 3 times the error.
__device__ __forceinline__ float first_bits(float a) {
  return FIRST_BITS == 8 ? __uint_as_float((__float_as_uint(a) + 0x8000u) & 0xffff0000u) : __uint_as_float((__float_as_uint(a) + 0x1000u) & 0xffffe000u);
}
// sums += a b, m16n8k8. Lane 4 g + t has a[g][t], a[g + 8][t], a[g][t + 4], a[g + 8][t + 4],
// b[t][g], b[t + 4][g], and sums[g][2 t], sums[g][2 t + 1], sums[g + 8][2 t], sums[g + 8][2 t + 1].
__device__ __forceinline__ void multiply_tile(float (&sums)[4], const float (&a)[4], float b0, float b1) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
    : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
    : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[3])),
      "r"(__float_as_uint(b0)), "r"(__float_as_uint(b1)));
#elif defined(__CUDA_ARCH__)
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  UNROLL for (int k = 0; k < 8; k++) {
    const float upper = __shfl_sync(FULL, a[k / 4 * 2], g * 4 + k % 4), lower = __shfl_sync(FULL, a[k / 4 * 2 + 1], g * 4 + k % 4);
    const float b = k < 4 ? b0 : b1, even = __shfl_sync(FULL, b, t * 8 + k % 4), odd = __shfl_sync(FULL, b, t * 8 + 4 + k % 4);
    sums[0] += upper * even; sums[1] += upper * odd; sums[2] += lower * even; sums[3] += lower * odd;
  }
#else
  emulator::mma_tf32(sums, __float_as_uint(a[0]), __float_as_uint(a[1]), __float_as_uint(a[2]), __float_as_uint(a[3]),
    __float_as_uint(b0), __float_as_uint(b1));
#endif
}
// Several column tiles of the same rows in turn, so that no MMA waits for its predecessor.
template <int AT_ONCE, int WIDE>
__device__ __forceinline__ void multiply_tiles(float (&sums)[AT_ONCE][4], const float (&a)[4], const float (&b)[AT_ONCE][WIDE], int half, int count) {
  UNROLL for (int i = 0; i < AT_ONCE; i++) if (i < count) multiply_tile(sums[i], a, b[i][half * 2], b[i][half * 2 + 1]);
}
// sums += 16 columns of rows g and g + 8, of which lane 4 g + t holds four neighbouring ones, times
// TILES tiles of a matrix in the order in which lanes read them: all upper parts, then all
// remainders, or (not SPLIT) the numbers themselves.
template <int TILES, bool SPLIT>
__device__ __forceinline__ void multiply_rows(float (&sums)[TILES][4], const float4 upper, const float4 lower, const float4* right) {
  constexpr int AT_ONCE = TILES < 4 ? TILES : TILES == 4 ? 2 : 4;   // operands in flight have to fit in registers beside the sums
  const float all[2][4] = {{upper.x, lower.x, upper.y, lower.y}, {upper.z, lower.z, upper.w, lower.w}};
  float first[2][4], rest[2][4];
  UNROLL for (int h = 0; h < 2; h++) UNROLL for (int j = 0; j < 4; j++) { first[h][j] = first_bits(all[h][j]); rest[h][j] = all[h][j] - first[h][j]; }
  UNROLL for (int n = 0; n < TILES; n += AT_ONCE) {
    float of_tiles[AT_ONCE][4] = {}, b_first[AT_ONCE][4] = {}, b_rest[AT_ONCE][4] = {};
    UNROLL for (int i = 0; i < AT_ONCE; i++) {
      if (n + i >= TILES) continue;
      const float4 b = right[(n + i) * (SPLIT ? 64 : 32)];
      const float of_b[4] = {b.x, b.y, b.z, b.w};
      if constexpr (SPLIT) {
        const float4 c = right[(n + i) * 64 + 32];
        const float of_c[4] = {c.x, c.y, c.z, c.w};
        UNROLL for (int j = 0; j < 4; j++) { b_first[i][j] = of_b[j]; b_rest[i][j] = of_c[j]; }
      } else {
        UNROLL for (int j = 0; j < 4; j++) { b_first[i][j] = first_bits(of_b[j]); b_rest[i][j] = of_b[j] - b_first[i][j]; }
      }
    }
    if (ALL_BITS) UNROLL for (int h = 0; h < 2; h++) {
      multiply_tiles(of_tiles, rest[h], b_first, h, TILES - n);
      multiply_tiles(of_tiles, first[h], b_rest, h, TILES - n);
    }
    UNROLL for (int h = 0; h < 2; h++) multiply_tiles(of_tiles, first[h], b_first, h, TILES - n);
    UNROLL for (int i = 0; i < AT_ONCE; i++) if (n + i < TILES) UNROLL for (int j = 0; j < 4; j++) sums[n + i][j] += of_tiles[i][j];
  }
}
// The same for several tiles of 16 rows; the numbers of the matrix are split once for all of them.
template <int MANY, int TILES>
__device__ __forceinline__ void multiply_many_rows(float (&sums)[MANY][TILES][4], const float4 (&upper)[MANY], const float4 (&lower)[MANY], const float4* right) {
  constexpr int AT_ONCE = TILES < 4 ? TILES : 4;
  float first[MANY][2][4], rest[MANY][2][4];
  UNROLL for (int m = 0; m < MANY; m++) {
    const float all[2][4] = {{upper[m].x, lower[m].x, upper[m].y, lower[m].y}, {upper[m].z, lower[m].z, upper[m].w, lower[m].w}};
    UNROLL for (int h = 0; h < 2; h++) UNROLL for (int j = 0; j < 4; j++) { first[m][h][j] = first_bits(all[h][j]); rest[m][h][j] = all[h][j] - first[m][h][j]; }
  }
  UNROLL for (int n = 0; n < TILES; n += AT_ONCE) {
    float b_first[AT_ONCE][4] = {}, b_rest[AT_ONCE][4] = {};
    UNROLL for (int i = 0; i < AT_ONCE; i++) {
      if (n + i >= TILES) continue;
      const float4 b = right[(n + i) * 32];
      const float of_b[4] = {b.x, b.y, b.z, b.w};
      UNROLL for (int j = 0; j < 4; j++) { b_first[i][j] = first_bits(of_b[j]); b_rest[i][j] = of_b[j] - b_first[i][j]; }
    }
    UNROLL for (int m = 0; m < MANY; m++) {
      float of_tiles[AT_ONCE][4] = {};
      if (ALL_BITS) UNROLL for (int h = 0; h < 2; h++) {
        multiply_tiles(of_tiles, rest[m][h], b_first, h, TILES - n);
        multiply_tiles(of_tiles, first[m][h], b_rest, h, TILES - n);
      }
      UNROLL for (int h = 0; h < 2; h++) multiply_tiles(of_tiles, first[m][h], b_first, h, TILES - n);
      UNROLL for (int i = 0; i < AT_ONCE; i++) if (n + i < TILES) UNROLL for (int j = 0; j < 4; j++) sums[m][n + i][j] += of_tiles[i][j];
    }
  }
}
// sums += 8 rows of 32 columns, transposed, of which lane 4 g + t holds four neighbouring ones of
// rows t and t + 4, times the same rows of 8 TILES columns, of which the lane holds TILES
// neighbouring ones: upper parts and remainders.
template <int TILES>
__device__ __forceinline__ void multiply_turned(float (&sums)[2][TILES][4], const float4 upper, const float4 lower, const float (&right)[2][TILES]) {
  constexpr int AT_ONCE = TILES < 4 ? TILES : TILES == 4 ? 2 : 4;   // operands in flight have to fit in registers beside the sums
  const float all[2][4] = {{upper.x, upper.y, lower.x, lower.y}, {upper.z, upper.w, lower.z, lower.w}};
  float first[2][4], rest[2][4];
  UNROLL for (int m = 0; m < 2; m++) UNROLL for (int j = 0; j < 4; j++) { first[m][j] = first_bits(all[m][j]); rest[m][j] = all[m][j] - first[m][j]; }
  UNROLL for (int n = 0; n < TILES; n += AT_ONCE) {
    float of_tiles[2][AT_ONCE][4] = {}, b_first[AT_ONCE][2] = {}, b_rest[AT_ONCE][2] = {};
    UNROLL for (int i = 0; i < AT_ONCE; i++) {
      if (n + i >= TILES) continue;
      UNROLL for (int h = 0; h < 2; h++) { b_first[i][h] = first_bits(right[h][n + i]); b_rest[i][h] = right[h][n + i] - b_first[i][h]; }
    }
    if (ALL_BITS) UNROLL for (int m = 0; m < 2; m++) multiply_tiles(of_tiles[m], rest[m], b_first, 0, TILES - n);
    if (ALL_BITS) UNROLL for (int m = 0; m < 2; m++) multiply_tiles(of_tiles[m], first[m], b_rest, 0, TILES - n);
    UNROLL for (int m = 0; m < 2; m++) multiply_tiles(of_tiles[m], first[m], b_first, 0, TILES - n);
    UNROLL for (int m = 0; m < 2; m++) UNROLL for (int i = 0; i < AT_ONCE; i++)
      if (n + i < TILES) UNROLL for (int j = 0; j < 4; j++) sums[m][n + i][j] += of_tiles[m][i][j];
  }
}

// ---- shuffles in lane groups
template <typename T> __device__ __forceinline__ T from_lane(T a, int lane) { return __shfl_sync(FULL, a, lane); }
template <typename T> __device__ __forceinline__ T across(T a, int distance) { return __shfl_xor_sync(FULL, a, distance); }
