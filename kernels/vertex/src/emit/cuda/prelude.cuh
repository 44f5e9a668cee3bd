// What every kernel of a list is made of: numbers, operators as the language has them, rows in vectors, dropout, sums in a fixed order.
typedef long long whole;
typedef unsigned long long offset_t;
#define FULL 0xffffffffu
#define UNROLL _Pragma("unroll")
#define ABOVE 0x7fffffffffffffffLL              // beyond every int: the least of nothing
#define BELOW (-ABOVE - 1)
#define INFINITE __longlong_as_double(0x7ff0000000000000LL)
#define ODD __longlong_as_double(0x7ff8000000000000LL)

#define UNROLL_1 _Pragma("unroll 1")
#define UNROLL_4 _Pragma("unroll 4")
#define UNROLL_8 _Pragma("unroll 8")
#define EACH_Q UNROLL for (int q = 0; q < Q; q++)
#define EACH EACH_Q UNROLL for (int j = 0; j < V; j++)
struct Yes { static constexpr bool value = true; };
struct No { static constexpr bool value = false; };

// The clock of a run: what changes from epoch to epoch. It lies in memory, so that one captured graph serves all epochs.
struct Clock { unsigned epoch, step, halted, spare; double pace; };

// ---- vectors: V neighbouring elements of a row, aligned to V elements
template <int BYTES> struct Word;
template <> struct Word<4> { typedef unsigned type; };
template <> struct Word<8> { typedef uint2 type; };
template <> struct Word<16> { typedef uint4 type; };
template <int V, typename T> __device__ __forceinline__ void load(T (&to)[V], const T* __restrict__ from) {
  if constexpr (V * sizeof(T) == 4 || V * sizeof(T) == 8 || V * sizeof(T) == 16) {
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
template <int V, typename T> __device__ __forceinline__ void store(T* to, const T (&from)[V]) {
  if constexpr (V * sizeof(T) == 4 || V * sizeof(T) == 8 || V * sizeof(T) == 16) {
    typedef typename Word<V * sizeof(T)>::type word;
    word all;
    memcpy(&all, from, sizeof(word));
    *reinterpret_cast<word*>(to) = all;
  } else {
    UNROLL for (int j = 0; j < V; j++) to[j] = from[j];
  }
}

// ---- operators
__device__ __forceinline__ bool is_odd(float a) { return a != a; }
__device__ __forceinline__ bool is_odd(double a) { return a != a; }
template <typename T> __device__ __forceinline__ T least(T a, T b) { return a != a || a < b ? a : b; }
template <typename T> __device__ __forceinline__ T most(T a, T b) { return a != a || a > b ? a : b; }
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
__device__ __forceinline__ float logarithm(float a) { return logf(a); }
__device__ __forceinline__ double logarithm(double a) { return log(a); }
__device__ __forceinline__ float root(float a) { return sqrtf(a); }
__device__ __forceinline__ double root(double a) { return sqrt(a); }
__device__ __forceinline__ float less_one(float a) { return expm1f(a); }
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
template <typename T> __device__ __forceinline__ T elu(T a) { return a > 0 ? a : less_one(a); }
// What sums relative to a largest score are multiplied with when it grows; nothing is in them as long as there is none.
template <typename T> __device__ __forceinline__ T grown(T before, T largest) { return before == (T)-INFINITE ? (T)0 : exponential(before - largest); }
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

// ---- dropout: Philox4x32-7, key (seed), counter (row in the graph artifact, column / 8, epoch, site); eight draws of 16 bits
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
// Whether V neighbouring columns, the first a multiple of V, are kept.
template <int V> __device__ __forceinline__ void keeps(bool (&kept)[V], unsigned row, unsigned column, unsigned epoch, unsigned site, uint2 key, unsigned threshold) {
  uint4 words = philox(row, column / 8, epoch, site, key);
  UNROLL for (int j = 0; j < V; j++) {
    if (j > 0 && (column + j) % 8 == 0) words = philox(row, (column + j) / 8, epoch, site, key);
    kept[j] = draw(words, (column + j) % 8) >= threshold;
  }
}
// Whether each of the first columns of a row is kept, a bit each.
template <unsigned COLUMNS> __device__ __forceinline__ unsigned kept_columns(unsigned row, unsigned epoch, unsigned site, uint2 key, unsigned threshold) {
  unsigned bits = 0;
  UNROLL for (unsigned block = 0; block < (COLUMNS + 7) / 8; block++) {
    const uint4 words = philox(row, block, epoch, site, key);
    UNROLL for (unsigned within = 0; within < 8; within++)
      if (block * 8 + within < COLUMNS) bits |= (unsigned)(draw(words, within) >= threshold) << (block * 8 + within);
  }
  return bits;
}

// ---- what groups of lanes tell each other
template <typename T> __device__ __forceinline__ T from_lane(T a, int lane) { return __shfl_sync(FULL, a, lane); }
template <typename T> __device__ __forceinline__ T across(T a, int distance) { return __shfl_xor_sync(FULL, a, distance); }
