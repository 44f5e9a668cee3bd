// The most frequent value of the edges of a vertex, and their h-index.
// The most frequent value: how often, and its key, in the order of values.
struct Frequent { unsigned count; offset_t key; };
#define SIGN (1ull << 63)
// Of the flags, 1 says that there is a NaN, and 2 that there is a zero with a sign.
__device__ __forceinline__ offset_t key_of(const whole value, unsigned&) {
  return (offset_t)value ^ SIGN;
}
__device__ __forceinline__ offset_t key_of(const double value, unsigned& flags) {
  if (value != value) flags |= 1;
  const offset_t bits = (offset_t)__double_as_longlong(value);
  if (bits == SIGN) flags |= 2;
  return value == 0 ? SIGN : bits & SIGN ? ~bits : bits | SIGN;
}
__device__ __forceinline__ void value_of(const offset_t key, unsigned, whole& value) {
  value = (whole)(key ^ SIGN);
}
__device__ __forceinline__ void value_of(const offset_t key, const unsigned flags, real& value) {
  if (key == SIGN) value = flags & 2 ? (real)-0.0 : (real)0;
  else value = (real)__longlong_as_double((long long)(key & SIGN ? key & ~SIGN : ~key));
}
__device__ __forceinline__ void make_odd(whole&) {}
__device__ __forceinline__ void make_odd(real& value) { value = (real)ODD; }
__device__ __forceinline__ void take_better(Frequent& best, const Frequent other) {
  if (other.count > best.count || (other.count == best.count && other.key < best.key)) best = other;
}
__device__ __forceinline__ void take_best_of_warp(Frequent& best, unsigned& flags) {
  UNROLL for (int distance = 16; distance > 0; distance /= 2) {
    const unsigned count = __shfl_xor_sync(FULL, best.count, distance);
    take_better(best, {count, __shfl_xor_sync(FULL, best.key, distance)});
    flags |= __shfl_xor_sync(FULL, flags, distance);
  }
}
// A lane has an edge, and compares it with all.
template <typename Read> __device__
Frequent mode_of_few(const Read& read, const unsigned begin, const unsigned end, unsigned& flags) {
  const unsigned p = begin + threadIdx.x % 32;
  offset_t key = 0;
  const bool holds = p < end && read(p, key, flags);
  const unsigned all = __ballot_sync(FULL, holds);
  Frequent best = {0, key};
  for (int other = 0; other < 32; other++) {
    const offset_t of_other = __shfl_sync(FULL, key, other);
    best.count += holds && all >> other & 1 && of_other == key;
  }
  take_best_of_warp(best, flags);
  return best;
}
// Places of the hash table, and how many of them are taken before the row is divided.
constexpr unsigned PLACES = 2048, TAKEN = 1536;
// The largest key stands for an empty place, and is counted apart.
#define EMPTY (~0ull)
__device__ __forceinline__ offset_t mixed(offset_t key) {
  key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9ull;
  key = (key ^ key >> 27) * 0x94d049bb133111ebull;
  return key ^ key >> 31;
}
template <typename Read> __device__
Frequent mode_of_many(const Read& read, const unsigned begin, const unsigned end, unsigned& flags) {
  __shared__ offset_t keys[PLACES];
  __shared__ unsigned counts[PLACES], taken, largest, flags_of_block;
  __shared__ Frequent of_warp[32];
  Frequent best = {0, EMPTY};
  for (unsigned part = 0, parts = 1; part < parts;) {
    for (unsigned place = threadIdx.x; place < PLACES; place += blockDim.x) {
      keys[place] = EMPTY;
      counts[place] = 0;
    }
    if (threadIdx.x == 0) taken = largest = flags_of_block = 0;
    __syncthreads();
    for (unsigned p = begin + threadIdx.x; p < end; p += blockDim.x) {
      offset_t key;
      if (!read(p, key, flags)) continue;
      const offset_t hash = mixed(key);
      if ((hash & (parts - 1)) != part) continue;
      if (key == EMPTY) { atomicAdd(&largest, 1u); continue; }
      unsigned place = (unsigned)(hash >> 40) % PLACES;
      for (; *(volatile unsigned*)&taken <= TAKEN; place = (place + 1) % PLACES) {
        const offset_t known = atomicCAS(&keys[place], EMPTY, key);
        if (known == EMPTY) atomicAdd(&taken, 1u);
        if (known == EMPTY || known == key) { atomicAdd(&counts[place], 1u); break; }
      }
    }
    __syncthreads();
    if (taken > TAKEN) {
      part = 0;
      parts *= 4;
      best = {0, EMPTY};
      __syncthreads();
      continue;
    }
    for (unsigned place = threadIdx.x; place < PLACES; place += blockDim.x) {
      if (counts[place] > 0) take_better(best, {counts[place], keys[place]});
    }
    if (threadIdx.x == 0 && largest > 0) take_better(best, {largest, EMPTY});
    part++;
    __syncthreads();
  }
  take_best_of_warp(best, flags);
  if (threadIdx.x % 32 == 0) {
    of_warp[threadIdx.x / 32] = best;
    if (flags) atomicOr(&flags_of_block, flags);
  }
  __syncthreads();
  for (unsigned warp = 1; threadIdx.x == 0 && warp < blockDim.x / 32; warp++) {
    take_better(best, of_warp[warp]);
  }
  flags = flags_of_block;
  __syncthreads();
  return best;
}
// The largest h such that h values are at least h, by bisection.
template <typename Read> __device__
whole hindex_of_few(const Read& read, const unsigned begin, const unsigned end) {
  const unsigned p = begin + threadIdx.x % 32;
  offset_t value = 0;
  unsigned flags, low = 0, high = end - begin;
  const bool holds = p < end && read(p, value, flags);
  while (low < high) {
    const unsigned middle = low + (high - low + 1) / 2;
    if (__popc(__ballot_sync(FULL, holds && (whole)value >= (whole)middle)) >= middle) low = middle;
    else high = middle - 1;
  }
  return low;
}
template <typename Read> __device__
whole hindex_of_many(const Read& read, const unsigned begin, const unsigned end) {
  __shared__ unsigned found;
  unsigned flags, low = 0, high = end - begin;
  while (low < high) {
    const unsigned middle = low + (high - low + 1) / 2;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    unsigned own = 0;
    for (unsigned p = begin + threadIdx.x; p < end; p += blockDim.x) {
      offset_t value;
      own += read(p, value, flags) && (whole)value >= (whole)middle;
    }
    UNROLL for (int distance = 16; distance > 0; distance /= 2) {
      own += __shfl_xor_sync(FULL, own, distance);
    }
    if (threadIdx.x % 32 == 0) atomicAdd(&found, own);
    __syncthreads();
    if (found >= middle) low = middle;
    else high = middle - 1;
    __syncthreads();
  }
  return low;
}
