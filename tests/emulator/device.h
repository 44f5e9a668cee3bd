// device.h: what makes CUDA C++ that the emitter writes plain C++, and runs its blocks on the CPU.
//
// promises  threads of a block run one after the other, each as far as it gets without the others; who waits at __syncthreads or at a
//           collective of its warp goes on once all are there; copies that are asked for land when they are waited for, not before;
//           lanes that wait for different things, or for one that has left, are an error that names the kernel
// never     knows what is fast
//           the blocks of a cooperative launch take turns at barriers of the grid; a grid of more than COOPERATIVE blocks has so many
// limits    __shared__ is `static`, which nvrtc.cpp keeps apart for each object (-fno-gnu-unique); one direction of threads; sums and products of 32 bits on tensor cores are added up exactly in order, where the hardware
//           cuts bits off. EMULATOR_ORDER=backward turns the order of threads and blocks around: what then differs is a race
#pragma once
#include <csetjmp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <ucontext.h>
#include <vector>

#define __device__
#define __global__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __restrict__ __restrict
#define __constant__ static const
#define __shared__ static

struct uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct Direction3 { unsigned x, y, z; };
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

namespace emulator {
constexpr unsigned LANES = 32;
constexpr size_t STACK = 256 << 10;
constexpr unsigned COOPERATIVE = 4;

// What a warp does together: given what each of its lanes brought (null for those that left or are not asked), once all are there.
typedef void (*Together)(void** brought, unsigned lane_count);
struct Copy { void* to; const void* from; size_t bytes, given; };
enum class State { Ready, AtBlock, AtBarrier, AtWarp, AtGrid, Done };
struct Thread {
  jmp_buf at;
  ucontext_t start;
  State state;
  bool begun = false;
  unsigned mask, barrier, awaited;
  Together together;
  void* brought;
  std::vector<std::vector<Copy>> asked;
};
// Blocks that run, one after the other: code that is loaded once runs on one thread of the host at a time.
struct Block {
  std::vector<Thread> threads;
  char* stacks;
  std::vector<char> shared;
  jmp_buf home;
  const char* kernel;
  void (*call)(void*, void**);
  void* entry;
  void** values;
  Direction3 block, blocks;
  unsigned now, wide;
  bool is_cooperative;
};
static Block* running;
static std::mutex turn;

[[noreturn]] inline void wrong(const char* what) {
  std::fprintf(stderr, "emulator: kernel %s, block %u %u %u, thread %u: %s\n", running->kernel, running->block.x, running->block.y, running->block.z, running->now, what);
  std::abort();
}
inline void rest() {
  if (_setjmp(running->threads[running->now].at) == 0) _longjmp(running->home, 1);
}
inline void at_block() {
  running->threads[running->now].state = State::AtBlock;
  rest();
}
// Waits until all threads of so many blocks of a cooperative launch are there.
inline void at_grid(unsigned blocks) {
  if (!running->is_cooperative) wrong("waits for other blocks, and was not launched together with them");
  Thread& thread = running->threads[running->now];
  thread.state = State::AtGrid;
  thread.awaited = blocks;
  rest();
}
// Waits at the barrier of this number until so many threads are there.
inline void at_barrier(unsigned number, unsigned threads) {
  Thread& thread = running->threads[running->now];
  thread.state = State::AtBarrier;
  thread.barrier = number;
  thread.awaited = threads;
  rest();
}
inline void with_warp(unsigned mask, Together together, void* brought) {
  Thread& thread = running->threads[running->now];
  if (!(mask >> running->now % LANES & 1)) wrong("is not in the mask that it gives");
  thread.state = State::AtWarp;
  thread.mask = mask;
  thread.together = together;
  thread.brought = brought;
  rest();
}
inline void enter() {
  for (;;) {
    running->call(running->entry, running->values);
    running->threads[running->now].state = State::Done;
    rest();
  }
}
// Lets a thread run until it waits or ends.
inline void go_on(unsigned number) {
  Block& block = *running;
  Thread& thread = block.threads[number];
  block.now = number;
  if (_setjmp(block.home) != 0) return;
  if (thread.begun) _longjmp(thread.at, 1);
  thread.begun = true;
  getcontext(&thread.start);
  thread.start.uc_stack = {block.stacks + number * STACK, 0, STACK};
  thread.start.uc_link = nullptr;
  makecontext(&thread.start, enter, 0);
  setcontext(&thread.start);
}
// Lets a warp do what its lanes wait for, if all that are asked are there.
inline bool meet(unsigned first) {
  Block& block = *running;
  const unsigned count = block.wide - first < LANES ? block.wide - first : LANES;
  bool met = false;
  for (unsigned lane = 0; lane < count; lane++) {
    Thread& asking = block.threads[first + lane];
    if (asking.state != State::AtWarp) continue;
    void* brought[LANES] = {};
    bool all = true;
    for (unsigned other = 0; other < count && all; other++) {
      Thread& asked = block.threads[first + other];
      if (!(asking.mask >> other & 1) || asked.state == State::Done) continue;
      all = asked.state == State::AtWarp && asked.mask == asking.mask && asked.together == asking.together;
      brought[other] = asked.brought;
    }
    if (!all) continue;
    block.now = first + lane;
    asking.together(brought, LANES);
    const unsigned mask = asking.mask;
    for (unsigned other = 0; other < count; other++)
      if (mask >> other & 1 && block.threads[first + other].state == State::AtWarp) block.threads[first + other].state = State::Ready;
    met = true;
  }
  return met;
}
// Lets those go on that wait at a barrier at which all are that it waits for.
inline bool pass_barriers() {
  bool passed = false;
  for (unsigned number = 1; number < 16; number++) {
    unsigned there = 0, awaited = 0;
    for (const Thread& thread : running->threads)
      if (thread.state == State::AtBarrier && thread.barrier == number) there++, awaited = thread.awaited;
    if (there == 0 || there < awaited) continue;
    for (Thread& thread : running->threads)
      if (thread.state == State::AtBarrier && thread.barrier == number) thread.state = State::Ready;
    passed = true;
  }
  return passed;
}
// Lets a block run until its threads are done, or wait for other blocks: whether they are done.
inline bool run_block(bool backward) {
  Block& block = *running;
  for (;;) {
    bool went = false;
    unsigned done = 0, at_block = 0, at_grid = 0;
    for (unsigned i = 0; i < block.wide; i++) {
      const unsigned number = backward ? block.wide - 1 - i : i;
      if (block.threads[number].state != State::Ready) continue;
      go_on(number);
      went = true;
    }
    for (unsigned first = 0; first < block.wide; first += LANES) went = meet(first) || went;
    went = pass_barriers() || went;
    for (const Thread& thread : block.threads) {
      done += thread.state == State::Done;
      at_block += thread.state == State::AtBlock;
      at_grid += thread.state == State::AtGrid;
    }
    if (done == block.wide) return true;
    if (at_grid == block.wide) return false;
    if (done + at_block == block.wide)
      for (Thread& thread : block.threads) thread.state = thread.state == State::AtBlock ? State::Ready : thread.state;
    else if (!went) wrong("threads wait for each other at different places");
  }
}

// ---- kernels, as the driver asks for them
struct Entry {
  const char* name;
  void* entry;
  void (*call)(void*, void**);
  const size_t* bytes;
  unsigned count;
};
template <typename... A> struct Kernel {
  static constexpr size_t bytes[sizeof...(A) + 1] = {sizeof(A)...};
  template <size_t... I> static void spread(void (*entry)(A...), void** values, std::integer_sequence<size_t, I...>) {
    entry(*reinterpret_cast<typename std::remove_cv<A>::type*>(values[I])...);
  }
  static void call(void* entry, void** values) { spread(reinterpret_cast<void (*)(A...)>(entry), values, std::index_sequence_for<A...>()); }
};
template <typename... A> Entry entry(const char* name, void (*kernel)(A...)) {
  return {name, reinterpret_cast<void*>(kernel), Kernel<A...>::call, Kernel<A...>::bytes, sizeof...(A)};
}
// Begins the block of this number.
inline void begin(Block& block, uint64_t number, unsigned shared) {
  const Direction3& blocks = block.blocks;
  block.block = {(unsigned)(number % blocks.x), (unsigned)(number / blocks.x % blocks.y), (unsigned)(number / blocks.x / blocks.y)};
  block.shared.assign(shared + 256, (char)0xff);
  for (Thread& thread : block.threads) thread.state = State::Ready, thread.asked.assign(1, {});
}
// Runs all blocks of a cooperative launch in turn, from barrier to barrier. They share no `static`.
inline void run_together(const Block& first, unsigned shared, bool backward) {
  std::vector<Block> blocks(first.blocks.x, first);
  for (unsigned number = 0; number < blocks.size(); number++) {
    blocks[number].stacks += number * first.wide * STACK;
    begin(blocks[number], number, shared);
  }
  // How many blocks wait for so many.
  std::vector<size_t> waiting(blocks.size() + 1);
  for (size_t done = 0; done < blocks.size();) {
    done = 0;
    waiting.assign(waiting.size(), 0);
    for (size_t i = 0; i < blocks.size(); i++) {
      running = &blocks[backward ? blocks.size() - 1 - i : i];
      const bool is_done = run_block(backward);
      done += is_done;
      if (is_done) continue;
      const unsigned awaited = running->threads[0].awaited;
      for (const Thread& thread : running->threads) if (thread.awaited != awaited) wrong("threads wait for different blocks");
      if (awaited >= waiting.size()) wrong("waits for blocks that are not there");
      waiting[awaited]++;
    }
    bool goes_on = done == blocks.size();
    for (Block& block : blocks) {
      if (block.threads[0].state != State::AtGrid || waiting[block.threads[0].awaited] < block.threads[0].awaited) continue;
      for (Thread& thread : block.threads) thread.state = State::Ready;
      goes_on = true;
    }
    if (!goes_on) wrong("blocks wait for each other at different places");
  }
}
// `stacks` has room for that of each thread of a block; of COOPERATIVE blocks for such a launch.
inline void launch(const Entry& entry, const unsigned (&blocks)[3], unsigned threads, unsigned shared, bool cooperative, void** values, char* stacks) {
  std::lock_guard<std::mutex> held(turn);
  Block block;
  running = &block;
  const char* order = std::getenv("EMULATOR_ORDER");
  const bool backward = order && std::strcmp(order, "backward") == 0;
  block.threads = std::vector<Thread>(threads);
  block.stacks = stacks;
  block.kernel = entry.name, block.call = entry.call, block.entry = entry.entry, block.values = values;
  block.blocks = {blocks[0], blocks[1], blocks[2]};
  block.wide = threads;
  block.is_cooperative = cooperative;
  if (cooperative) {
    block.blocks.x = blocks[0] < COOPERATIVE ? blocks[0] : COOPERATIVE;
    return run_together(block, shared, backward);
  }
  const uint64_t all = (uint64_t)blocks[0] * blocks[1] * blocks[2];
  for (uint64_t i = 0; i < all; i++) {
    begin(block, backward ? all - 1 - i : i, shared);
    run_block(backward);
  }
}
// Shared memory that the launch asks for.
inline unsigned char* shared() { return reinterpret_cast<unsigned char*>((reinterpret_cast<uintptr_t>(running->shared.data()) + 127) / 128 * 128); }

// ---- collectives
template <typename T> struct Told { T given, got; unsigned from; };
template <typename T> T tell(unsigned mask, T value, unsigned from) {
  Told<T> told = {value, value, from};
  with_warp(mask, [](void** brought, unsigned count) {
    for (unsigned lane = 0; lane < count; lane++) {
      Told<T>* of = static_cast<Told<T>*>(brought[lane]);
      if (!of) continue;
      if (!brought[of->from % LANES]) wrong("a lane asks one that is not there");
      of->got = static_cast<Told<T>*>(brought[of->from % LANES])->given;
    }
  }, &told);
  return told.got;
}
inline unsigned ballot(unsigned mask, bool holds) {
  Told<unsigned> told = {holds, 0, 0};
  with_warp(mask, [](void** brought, unsigned count) {
    unsigned all = 0;
    for (unsigned lane = 0; lane < count; lane++) if (brought[lane] && static_cast<Told<unsigned>*>(brought[lane])->given) all |= 1u << lane;
    for (unsigned lane = 0; lane < count; lane++) if (brought[lane]) static_cast<Told<unsigned>*>(brought[lane])->got = all;
  }, &told);
  return told.got;
}
inline unsigned here() { return running->now % LANES; }

// ---- what prelude.cuh asks for where the hardware has an instruction
// d += a b for 16 rows, 8 columns and 8 between them, in TF32: lane 4 g + t has a[g][t], a[g + 8][t], a[g][t + 4], a[g + 8][t + 4],
// b[t][g], b[t + 4][g], and d[g][2 t], d[g][2 t + 1], d[g + 8][2 t], d[g + 8][2 t + 1].
struct Tile { float* d; unsigned a[4], b[2]; };
inline float tf32(unsigned bits) {
  bits &= 0xffffe000u;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
inline void mma_tf32(float (&d)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
  Tile tile = {d, {a0, a1, a2, a3}, {b0, b1}};
  with_warp(0xffffffffu, [](void** brought, unsigned count) {
    float a[16][8], b[8][8];
    for (unsigned lane = 0; lane < count; lane++) {
      const Tile* of = static_cast<const Tile*>(brought[lane]);
      if (!of) wrong("a tile without one of its lanes");
      for (unsigned i = 0; i < 4; i++) a[lane / 4 + i % 2 * 8][lane % 4 + i / 2 * 4] = tf32(of->a[i]);
      for (unsigned i = 0; i < 2; i++) b[lane % 4 + i * 4][lane / 4] = tf32(of->b[i]);
    }
    for (unsigned lane = 0; lane < count; lane++)
      for (unsigned i = 0; i < 4; i++)
        for (unsigned k = 0; k < 8; k++) static_cast<const Tile*>(brought[lane])->d[i] += a[lane / 4 + i / 2 * 8][k] * b[k][lane % 4 * 2 + i % 2];
  }, &tile);
}
// Asks for a copy of so many bytes into shared memory: the first are copied, the others are zeros.
inline void copy_later(void* to, const void* from, size_t bytes, size_t given) {
  if (reinterpret_cast<uintptr_t>(to) % bytes || reinterpret_cast<uintptr_t>(from) % bytes) wrong("copies what does not lie on a multiple of its size");
  std::memset(to, 0xff, bytes);
  running->threads[running->now].asked.back().push_back({to, from, bytes, given});
}
inline void copies_asked() { running->threads[running->now].asked.emplace_back(); }
// Waits until at most so many of the groups of copies that were asked for are on their way.
inline void copies_done(unsigned left) {
  auto& asked = running->threads[running->now].asked;
  while (asked.size() > left + 1) {
    for (const Copy& copy : asked.front()) {
      std::memset(copy.to, 0, copy.bytes);
      std::memcpy(copy.to, copy.from, copy.given);
    }
    asked.erase(asked.begin());
  }
}
}  // namespace emulator

#define threadIdx (Direction3{emulator::running->now, 0, 0})
#define blockIdx (emulator::running->block)
#define blockDim (Direction3{emulator::running->wide, 1, 1})
#define gridDim (emulator::running->blocks)
#define warpSize 32
inline void __syncthreads() { emulator::at_block(); }
inline void __syncwarp(unsigned mask = 0xffffffffu) { emulator::ballot(mask, true); }
inline void __threadfence() {}
inline void __threadfence_block() {}
template <typename T> T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {
  return emulator::tell(mask, value, emulator::here() / width * width + (unsigned)lane % width);
}
template <typename T> T __shfl_xor_sync(unsigned mask, T value, int distance, int = 32) { return emulator::tell(mask, value, emulator::here() ^ (unsigned)distance); }
template <typename T> T __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = 32) {
  const unsigned from = emulator::here() + distance;
  return emulator::tell(mask, value, from / width == emulator::here() / width ? from : emulator::here());
}
template <typename T> T __shfl_up_sync(unsigned mask, T value, unsigned distance, int width = 32) {
  const unsigned here = emulator::here();
  return emulator::tell(mask, value, here % width >= distance ? here - distance : here);
}
inline unsigned __ballot_sync(unsigned mask, bool holds) { return emulator::ballot(mask, holds); }
inline bool __any_sync(unsigned mask, bool holds) { return emulator::ballot(mask, holds) != 0; }
inline bool __all_sync(unsigned mask, bool holds) { return emulator::ballot(mask, !holds) == 0; }
template <typename T> T __ldg(const T* from) { return *from; }
template <typename T> T __ldcs(const T* from) { return *from; }
template <typename T> T __ldcg(const T* from) {
  asm volatile("" ::: "memory");
  return *from;
}
template <typename T> void __stcs(T* to, T value) { *to = value; }
template <typename T> T atomicAdd(T* to, T value) { return __atomic_fetch_add(to, value, __ATOMIC_RELAXED); }
template <typename T> T atomicExch(T* to, T value) { return __atomic_exchange_n(to, value, __ATOMIC_RELAXED); }
template <typename T> T atomicOr(T* to, T value) { return __atomic_fetch_or(to, value, __ATOMIC_RELAXED); }
template <typename T> T atomicMin(T* to, T value) {
  const T before = *to;
  if (value < before) *to = value;
  return before;
}
template <typename T> T atomicMax(T* to, T value) {
  const T before = *to;
  if (before < value) *to = value;
  return before;
}
template <typename T> T atomicAnd(T* to, T value) { return __atomic_fetch_and(to, value, __ATOMIC_RELAXED); }
template <typename T> T atomicSub(T* to, T value) { return __atomic_fetch_sub(to, value, __ATOMIC_RELAXED); }
template <typename T> T atomicCAS(T* to, T expected, T value) {
  const T before = *to;
  if (before == expected) *to = value;
  return before;
}
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }
inline int __popc(unsigned a) { return __builtin_popcount(a); }
inline int __ffs(int a) { return __builtin_ffs(a); }
inline int __clz(int a) { return a ? __builtin_clz((unsigned)a) : 32; }
template <typename To, typename From> To emulator_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}
inline double __longlong_as_double(long long a) { return emulator_bits<double>(a); }
inline long long __double_as_longlong(double a) { return emulator_bits<long long>(a); }
inline float __uint_as_float(unsigned a) { return emulator_bits<float>(a); }
inline unsigned __float_as_uint(float a) { return emulator_bits<unsigned>(a); }
inline float __int_as_float(int a) { return emulator_bits<float>(a); }
inline int __float_as_int(float a) { return emulator_bits<int>(a); }
inline float __expf(float a) { return expf(a); }
inline float __fdividef(float a, float b) { return a / b; }
inline float rsqrtf(float a) { return 1 / sqrtf(a); }
template <typename A, typename B> auto min(A a, B b) -> typename std::common_type<A, B>::type { return b < a ? b : a; }
template <typename A, typename B> auto max(A a, B b) -> typename std::common_type<A, B>::type { return a < b ? b : a; }
