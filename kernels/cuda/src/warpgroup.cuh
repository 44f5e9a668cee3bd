
// ---- tensor cores of a warpgroup (wgmma): 64 rows, 16 in the lanes of each warp as in
// multiply_tile, times a matrix in shared memory. The matrix is in core matrices of 8 columns by 4
// along k, 128 bytes each: those of all columns, then the next 4 along k.
__device__ __forceinline__ void group_begins() {
#if defined(__CUDA_ARCH__)
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void group_asked() {
#if defined(__CUDA_ARCH__)
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
template <int LEFT> __device__ __forceinline__ void group_done() {                                          // all products but the last LEFT
#if defined(__CUDA_ARCH__)
  asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(LEFT) : "memory");
#endif
}
// Makes a thread's stores to shared memory visible to wgmma behind the next barrier (async proxy
// fence).
__device__ __forceinline__ void group_sees_shared() {
#if defined(__CUDA_ARCH__)
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
// A number that the compiler takes for new each time: values indexed by it are not held in
// registers across rows.
__device__ __forceinline__ unsigned anew(unsigned number) {
  #if defined(__CUDA_ARCH__)
  asm volatile("" : "+r"(number));
  #endif
  return number;
}
// Waits for the warpgroups of a turn, at a named barrier from 1 on; for the block where there is
// one turn.
template <unsigned TURNS, unsigned THREADS> __device__ __forceinline__ void group_meets([[maybe_unused]] unsigned number) {
  if constexpr (TURNS == 1) {
    __syncthreads();
  } else {
#if defined(__CUDA_ARCH__)
    asm volatile("bar.sync %0, %1;" :: "r"(number), "n"(THREADS) : "memory");
#else
    emulator::at_barrier(number, THREADS);
#endif
  }
}
#if defined(__CUDA_ARCH__)
#define OF_TILE(C, i) C(sums[i][0]), C(sums[i][1]), C(sums[i][2]), C(sums[i][3])
#define OF_1_TILES(C) OF_TILE(C, 0)
#define OF_2_TILES(C) OF_1_TILES(C), OF_TILE(C, 1)
#define OF_3_TILES(C) OF_2_TILES(C), OF_TILE(C, 2)
#define OF_4_TILES(C) OF_3_TILES(C), OF_TILE(C, 3)
#define OF_5_TILES(C) OF_4_TILES(C), OF_TILE(C, 4)
#define OF_6_TILES(C) OF_5_TILES(C), OF_TILE(C, 5)
#define OF_7_TILES(C) OF_6_TILES(C), OF_TILE(C, 6)
#define OF_8_TILES(C) OF_7_TILES(C), OF_TILE(C, 7)
#define OF_9_TILES(C) OF_8_TILES(C), OF_TILE(C, 8)
#define OF_10_TILES(C) OF_9_TILES(C), OF_TILE(C, 9)
#define OF_11_TILES(C) OF_10_TILES(C), OF_TILE(C, 10)
#define OF_12_TILES(C) OF_11_TILES(C), OF_TILE(C, 11)
#define SUMS_1 "%0, %1, %2, %3"
#define SUMS_2 SUMS_1 ", %4, %5, %6, %7"
#define SUMS_3 SUMS_2 ", %8, %9, %10, %11"
#define SUMS_4 SUMS_3 ", %12, %13, %14, %15"
#define SUMS_5 SUMS_4 ", %16, %17, %18, %19"
#define SUMS_6 SUMS_5 ", %20, %21, %22, %23"
#define SUMS_7 SUMS_6 ", %24, %25, %26, %27"
#define SUMS_8 SUMS_7 ", %28, %29, %30, %31"
#define SUMS_9 SUMS_8 ", %32, %33, %34, %35"
#define SUMS_10 SUMS_9 ", %36, %37, %38, %39"
#define SUMS_11 SUMS_10 ", %40, %41, %42, %43"
#define SUMS_12 SUMS_11 ", %44, %45, %46, %47"
// sums = (ADDS 0) or += (1) eight columns of the rows times the matrix.
#define GROUP(NAME, C, ADDS, TILES, COLUMNS, ROWS, MATRIX)                                                                                      \
  __device__ __forceinline__ void NAME(float (&sums)[TILES][4], const float (&a)[4], offset_t matrix) {                                          \
    asm volatile("{.reg .pred p; setp.ne.b32 p, " ADDS ", 0; wgmma.mma_async.sync.aligned.m64n" COLUMNS "k8.f32.tf32.tf32 "                      \
      "{" SUMS_##TILES "}, {" ROWS "}, " MATRIX ", p, 1, 1;}"                                                                                    \
      : OF_##TILES##_TILES(C)                                                                                                                    \
      : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[3])), "l"(matrix));            \
  }
#define GROUPS_OF(TILES, COLUMNS, ROWS, MATRIX) GROUP(group_first, "=f", "0", TILES, COLUMNS, ROWS, MATRIX) GROUP(group_more, "+f", "1", TILES, COLUMNS, ROWS, MATRIX)
GROUPS_OF(1, "8", "%4, %5, %6, %7", "%8")
GROUPS_OF(2, "16", "%8, %9, %10, %11", "%12")
GROUPS_OF(3, "24", "%12, %13, %14, %15", "%16")
GROUPS_OF(4, "32", "%16, %17, %18, %19", "%20")
GROUPS_OF(5, "40", "%20, %21, %22, %23", "%24")
GROUPS_OF(6, "48", "%24, %25, %26, %27", "%28")
GROUPS_OF(7, "56", "%28, %29, %30, %31", "%32")
GROUPS_OF(8, "64", "%32, %33, %34, %35", "%36")
GROUPS_OF(9, "72", "%36, %37, %38, %39", "%40")
GROUPS_OF(10, "80", "%40, %41, %42, %43", "%44")
GROUPS_OF(11, "88", "%44, %45, %46, %47", "%48")
GROUPS_OF(12, "96", "%48, %49, %50, %51", "%52")
#endif
// sums = 16 columns of the rows, in parts, times so many of the matrix, stored as [8 along
// k][part][4 of these][column][4].
template <int TILES, int PARTS>
__device__ __forceinline__ void multiply_group(float (&sums)[TILES][4], const float (&first)[2][4], const float (&rest)[2][4], const float* right) {
#if defined(__CUDA_ARCH__)
  const offset_t place = __cvta_generic_to_shared(right), lead = TILES * 8, stride = 8;                     // in 16 bytes, but the first
  const offset_t matrix = (place & 0x3ffff) >> 4 | lead << 16 | stride << 32;
  constexpr offset_t PART = 16 * TILES, NEXT = PART * PARTS;
  if constexpr (PARTS == 2) {
    group_first(sums, rest[0], matrix);
    group_more(sums, rest[1], matrix + NEXT);
    group_more(sums, first[0], matrix + PART);
    group_more(sums, first[1], matrix + NEXT + PART);
    group_more(sums, first[0], matrix);
  } else {
    group_first(sums, first[0], matrix);
  }
  group_more(sums, first[1], matrix + NEXT);
#else
  const unsigned lane = threadIdx.x % 32;
  for (int n = 0; n < TILES; n++) {
    for (int j = 0; j < 4; j++) sums[n][j] = 0;
    auto of_part = [&](const float (&rows)[2][4], int part) {
      for (int h = 0; h < 2; h++) {
        const float* const b = right + ((h * PARTS + part) * 2 * TILES * 8 + n * 8) * 4 + lane;
        multiply_tile(sums[n], rows[h], b[0], b[TILES * 32]);
      }
    };
    if (PARTS == 2) of_part(rest, 0), of_part(first, PARTS - 1);
    of_part(first, 0);
  }
#endif
}
