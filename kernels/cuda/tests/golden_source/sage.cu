// cast.7: 3600 bytes at least, line 8 of the program
//   maximum.6 (nodes x 1) = maximum(given.degree.in, 1)
//   cast.7 = cast real(maximum.6)
//   (1 lanes of 1 columns a row, 256 rows a block)
//   (text: cuda/src/row_walk.rs, emit_row_kernel)
extern "C" __global__ void __launch_bounds__(256, 2) k0_cast_7(const whole* __restrict__ b_given_degree_in, real* __restrict__ o_cast_7, const unsigned rows) {
  after_others();
  constexpr unsigned C = 1, V = 1, L = 1, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { own[q] = true; c[q] = (q * L + part) * V; }
  const unsigned number = blockIdx.x * GROUPS + warp * PER_WARP + group;
  const bool live = number < rows;
  [[maybe_unused]] const unsigned v = live ? number : 0;
  whole given_degree_in_1; given_degree_in_1 = __ldg(b_given_degree_in + v + 0);
  whole maximum_6_2; maximum_6_2 = most(given_degree_in_1, (1LL));
  real cast_7_3; cast_7_3 = (real)widened(maximum_6_2);
  if (!live) return;
  EACH if (own[q]) o_cast_7[v + 0] = cast_7_3;
}

// h.1: 19200 bytes at least, line 7 of the program
//   h.1 = dropout 0.5 site 0(x)
//   (2 lanes of 4 columns a row, 128 rows a block)
//   (text: cuda/src/row_walk.rs, emit_row_kernel)
extern "C" __global__ void __launch_bounds__(256, 2) k1_h_1(const real* __restrict__ b_x, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, const unsigned* __restrict__ rows_in_graph, real* __restrict__ o_h_1, const unsigned rows) {
  after_others();
  constexpr unsigned C = 8, V = 4, L = 2, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { own[q] = true; c[q] = (q * L + part) * V; }
  const unsigned number = blockIdx.x * GROUPS + warp * PER_WARP + group;
  const bool live = number < rows;
  [[maybe_unused]] const unsigned v = live ? number : 0;
  const unsigned row_in_graph = rows_in_graph ? __ldg(rows_in_graph + v) : v;
  real x_1[Q][V]; EACH_Q load<V>(x_1[q], b_x + (offset_t)v * 8 + c[q]);
  real h_1_2[Q][V]; EACH_Q { bool kept_3[V]; UNROLL for (int j = 0; j < V; j++) kept_3[j] = true; if (training) keeps<V>(kept_3, row_in_graph, c[q], clock->epoch, 0u, seed, 32768u); UNROLL for (int j = 0; j < V; j++) h_1_2[q][j] = !training ? x_1[q][j] : kept_3[j] ? x_1[q][j] * (real)2.0 : (real)0; }
  if (!live) return;
  EACH_Q if (own[q]) store<V>(o_h_1 + (offset_t)v * 8 + c[q], h_1_2[q]);
}

// divide.8: 28804 bytes at least, line 8 of the program
//   reduce.3 (nodes x 6) = reduce sum.in(h.1[far.in])
//   divide.8 = divide(reduce.3, cast.7)
//   (2 lanes of 4 columns a row, 16 rows a warp, 8 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
//   (text: cuda/src/row_walk.rs, emit_edge_kernel)
extern "C" __global__ void __launch_bounds__(256, ON_HOPPER(3)) k2_divide_8(const real* __restrict__ b_h_1, const real* __restrict__ b_cast_7, real* __restrict__ o_divide_8, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned hub_items, const unsigned pieces, double* __restrict__ parts_of_hubs, unsigned* ticket, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
  constexpr unsigned C = 8, V = 4, L = 2, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { own[q] = true; c[q] = (q * L + part) * V; }
  constexpr unsigned B = 8, J = B > L ? B / L : 1, CHUNK = J * L;
  const unsigned warp_blocks = (warp_items + WARPS - 1) / WARPS;
  const unsigned hub_blocks = hub_items * pieces, block = blockIdx.x - hub_blocks;
  const unsigned blocks_of_many = hub_blocks + block_items + warp_blocks;
  int tier = 0;
  unsigned item, end_of_tier = items, shares = 1, mine = 0;
  if (blockIdx.x >= blocks_of_many) {
    item = hub_items + block_items + warp_items + (blockIdx.x - blocks_of_many) * GROUPS + warp * PER_WARP + group;
  } else if (blockIdx.x < hub_blocks) {
    tier = 3, item = blockIdx.x / pieces, shares = GROUPS * pieces, mine = blockIdx.x % pieces * GROUPS + warp * PER_WARP + group;
  } else if (block < block_items) {
    tier = 2, item = hub_items + block, shares = GROUPS, mine = warp * PER_WARP + group;
  } else {
    tier = 1, end_of_tier = hub_items + block_items + warp_items, item = hub_items + block_items + (block - block_items) * WARPS + warp, shares = PER_WARP, mine = group;
  }
  const bool live = item < end_of_tier;
  item = live ? item : 0;
  [[maybe_unused]] const unsigned v = __ldg(item_row + item), begin = live ? __ldg(item_offset + item) : 0, end = live ? __ldg(item_offset + item + 1) : 0;
  unsigned from = begin, stop = end;
  if (tier > 0) {
    const unsigned share = (end - begin + shares * B - 1) / (shares * B) * B;
    from = min(end, begin + mine * share);
    stop = min(end, from + share);
  }
  const bool writes = live && (tier == 0 || (group == 0 && (tier == 1 || warp == 0)));
  after_others();
  real reduce_3_1[Q][V]; EACH reduce_3_1[q][j] = 0;
  {
    const real* place_4 = b_h_1 + c[0]; keep(place_4);
    unsigned at = from;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      UNROLL_4 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + s < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + s + k < stop;
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        real h_1_5[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q load<V>(h_1_5[k][q], place_4 + (offset_t)u[k] * 8); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          EACH if (here) reduce_3_1[q][j] = reduce_3_1[q][j] + h_1_5[k][q][j];
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      at = min(stop, at + CHUNK);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, stop - at >= CHUNK)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_1[WARPS * 64];
    EACH { const real own_part = reduce_3_1[q][j]; reduce_3_1[q][j] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_3_1[q][j] = reduce_3_1[q][j] + from_lane(own_part, g * L + part); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = reduce_3_1[q][j]; }
      __syncthreads();
      EACH { reduce_3_1[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) reduce_3_1[q][j] = reduce_3_1[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
  }
  if (tier == 3) {
    constexpr unsigned SLOTS = 4;
    const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
    double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
    if (writes) {
      double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
      EACH tell(of_piece + (0 + q * V + j) * L, reduce_3_1[q][j]);
    }
    __shared__ bool is_last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) is_last = atomicAdd(ticket + hub, 1u) + 1 == pieces;
    __syncthreads();
    if (!is_last) return;
    if (threadIdx.x == 0) ticket[hub] = 0;
    __threadfence();
    {
      const double* of_piece = of_item;
      EACH reduce_3_1[q][j] = heard<real>(of_piece + (0 + q * V + j) * L);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        EACH reduce_3_1[q][j] = reduce_3_1[q][j] + heard<real>(of_piece + (0 + q * V + j) * L);
      }
    }
  }
  real cast_7_2; cast_7_2 = __ldg(b_cast_7 + v + 0);
  real divide_8_3[Q][V]; EACH_Q divide(divide_8_3[q], reduce_3_1[q], cast_7_2);
  if (!writes) return;
  EACH_Q if (own[q]) store<V>(o_divide_8 + (offset_t)v * 8 + c[q], divide_8_3[q]);
}

// add.12: 19424 bytes at least, line 8 of the program
//   product.10 (nodes x 8) = product transposed(divide.8, parameter.sage.sage.0.linear.0.weight)
//   add.12 = add(product.10, parameter.sage.sage.0.linear.0.bias)
// merged into the kernel of h.17

// h.17: 28992 bytes at least, lines 7, 8, 10 of the program
//   product.14 (nodes x 8) = product transposed(h.1, parameter.sage.sage.0.linear.1.weight)
//   h.15 (nodes x 8) = add(add.12, product.14)
//   h.16 (nodes x 8) = relu(h.15)
//   h.17 = dropout 0.5 site 1(h.16)
//   (1 rows of 4 columns a thread, 2 threads along a row)
//   (text: cuda/src/plain_products.rs, decide_product)
extern "C" __global__ void __launch_bounds__(256, 2) k4_h_17(const real* __restrict__ b_parameter_sage_sage_0_linear_0_weight, const real* __restrict__ b_divide_8, const real* __restrict__ b_parameter_sage_sage_0_linear_0_bias, const real* __restrict__ b_h_1, const unsigned* __restrict__ rows_in_graph, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_h_17, const unsigned rows_given, const real* __restrict__ b_parameter_sage_sage_0_linear_1_weight) {
  after_others();
  constexpr unsigned K = 12, C = 8, WIDE = 8, L = 2, Q = 1, TM = 1, RT = 256 / L, BM = TM * RT, BK = 16, KV = 2, blockThreads = 256;
  const unsigned rows = rows_given * 1;
  constexpr unsigned V = 4, BN = L * V;
  __shared__ alignas(16) real left[BK][BM + 4], right[BK][BN];
  const unsigned part = threadIdx.x % L, thread_row = threadIdx.x / L, slice = blockIdx.y * BN;
  [[maybe_unused]] const unsigned group = threadIdx.x % 32 / L;
  const unsigned first = blockIdx.x * BM;
  real sums[TM][V];
  UNROLL for (int i = 0; i < TM; i++) UNROLL for (int j = 0; j < V; j++) sums[i][j] = 0;
  constexpr unsigned ALL = BM * (BK / KV), PIECES = (ALL + blockThreads - 1) / blockThreads;
  real piece[PIECES][KV];
  auto fetch = [&](const unsigned k0) {
    UNROLL for (int p = 0; p < PIECES; p++) {
      const unsigned i = threadIdx.x + p * blockThreads, r = i / (BK / KV), kk = i % (BK / KV) * KV, row = first + r;
      const bool here = i < ALL && row < rows && k0 + kk < K;
      [[maybe_unused]] const unsigned v = here ? row : 0;
      constexpr unsigned V = KV;
      if (k0 + kk < 6) {
        [[maybe_unused]] const unsigned c[1] = {here ? k0 + kk : 0};
        real divide_8_1[Q][V]; EACH_Q load<V>(divide_8_1[q], b_divide_8 + (offset_t)v * 8 + c[q]);
        EACH piece[p][j] = here ? divide_8_1[q][j] : (real)0;
      } else {
        [[maybe_unused]] const unsigned c[1] = {here ? k0 + kk - 6 : 0};
        real h_1_1[Q][V]; EACH_Q load<V>(h_1_1[q], b_h_1 + (offset_t)v * 8 + c[q]);
        EACH piece[p][j] = here ? h_1_1[q][j] : (real)0;
      }
    }
  };
  fetch(0);
  for (unsigned k0 = 0; k0 < K; k0 += BK) {
    UNROLL for (int p = 0; p < PIECES; p++) {
      const unsigned i = threadIdx.x + p * blockThreads, r = i / (BK / KV), kk = i % (BK / KV) * KV;
      if (ALL % blockThreads == 0 || i < ALL) UNROLL for (int j = 0; j < KV; j++) left[kk + j][r] = piece[p][j];
    }
    for (unsigned i = threadIdx.x; i < BK * BN; i += blockThreads) {
      const unsigned k = i / BN, m = i % BN;
      right[k][m] = k0 + k < K && slice + m < WIDE ? (k0 + k < 6 ? __ldg(b_parameter_sage_sage_0_linear_0_weight + (offset_t)(slice + m) * 6 + (k0 + k)) : __ldg(b_parameter_sage_sage_0_linear_1_weight + (offset_t)(slice + m) * 6 + (k0 + k - 6))) : (real)0;
    }
    __syncthreads();
    if (k0 + BK < K) fetch(k0 + BK);
    UNROLL_8 for (int k = 0; k < BK; k++) {
      real of_right[V];
      UNROLL for (int j = 0; j < V; j++) of_right[j] = right[k][part * V + j];
      UNROLL for (int i = 0; i < TM; i++) {
        const real of_left = left[k][thread_row + i * RT];
        UNROLL for (int j = 0; j < V; j++) sums[i][j] += of_left * of_right[j];
      }
    }
    __syncthreads();
  }
  const unsigned place = slice + part * V;
  [[maybe_unused]] const unsigned c[1] = {place < C ? place : C - V};
  UNROLL for (int i = 0; i < TM; i++) {
    const unsigned row = first + thread_row + i * RT;
    const bool live = row < rows;
    [[maybe_unused]] const unsigned v = live ? row : 0;
    [[maybe_unused]] const bool own[1] = {live && place < C};
    real made[Q][V]; EACH made[q][j] = sums[i][j];real nothing[Q][V]; EACH nothing[q][j] = 0;
    const unsigned row_in_graph = rows_in_graph ? __ldg(rows_in_graph + v) : v;
    real parameter_sage_sage_0_linear_0_bias_1[Q][V]; EACH_Q load<V>(parameter_sage_sage_0_linear_0_bias_1[q], b_parameter_sage_sage_0_linear_0_bias + c[q]);
    real add_12_2[Q][V]; EACH add_12_2[q][j] = made[q][j] + parameter_sage_sage_0_linear_0_bias_1[q][j];
    real h_15_3[Q][V]; EACH h_15_3[q][j] = add_12_2[q][j] + nothing[q][j];
    real h_16_4[Q][V]; EACH h_16_4[q][j] = relu(h_15_3[q][j]);
    real h_17_5[Q][V]; EACH_Q { bool kept_6[V]; UNROLL for (int j = 0; j < V; j++) kept_6[j] = true; if (training) keeps<V>(kept_6, row_in_graph, c[q], clock->epoch, 1u, seed, 32768u); UNROLL for (int j = 0; j < V; j++) h_17_5[q][j] = !training ? h_16_4[q][j] : kept_6[j] ? h_16_4[q][j] * (real)2.0 : (real)0; }
    EACH_Q if (own[q]) store<V>(o_h_17 + (offset_t)v * 8 + c[q], h_17_5[q]);
  }
}

// product.19: 14496 bytes at least, line 8 of the program
//   product.19 = product transposed(h.17, parameter.sage.sage.0.linear.2.weight)
//   (on tensor cores: 16 rows x 8 columns a warp, 2 steps of 32 elements in flight)
//   (text: cuda/src/tensor_core_products.rs, add_merged_products)
extern "C" __global__ void __launch_bounds__(256, 2) k5_product_19(const real* __restrict__ b_parameter_sage_sage_0_linear_2_weight, const real* __restrict__ b_h_17, real* __restrict__ o_product_19, const unsigned rows_given) {
  after_others();
  constexpr unsigned K = 8, C = 4, WIDE = 3, KV = 4, MV = 4, V = 2, L = 4, Q = 1, TILES = 1, STEPS = 1, AHEAD = 2, PARTS = 2, WARPS = 8, TEAM = 1;
  const unsigned rows = rows_given * 1;
  extern __shared__ float4 of_block[];
  float4* const right = reinterpret_cast<float4*>(of_block);
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L, slice = blockIdx.y * (8 * TILES);
  float* const queue = reinterpret_cast<float*>(right + STEPS * 2 * TILES * PARTS * 32) + warp * (AHEAD * 512);
  const unsigned tiles = (rows + 15) / 16;
  unsigned team = TEAM;
  while (team > 1 && gridDim.x * (WARPS / team) < tiles) team /= 2;
  const unsigned member = warp % team, stride = gridDim.x * (WARPS / team);
  unsigned tile = blockIdx.x + gridDim.x * (warp / team), coming = tile, coming_step = member, slot = 0;
  auto request = [&](const unsigned at) {
    if (coming < tiles) {
      float* const of_rows = queue + at * 512;
      const unsigned first_row = coming * 16;
      UNROLL for (int piece = 0; piece < 16 / KV; piece++) {
        const unsigned r = (piece * 32 + lane) / (32 / KV), within = lane % (32 / KV) * KV, row = first_row + r, column = coming_step * 32 + within;
        float* const to = of_rows + r * 32 + (within / 4 ^ r % 2 * 4) * 4 + within % 4;
        const bool here = row < rows && column < K;
        copy_later<16>(to, b_h_17 + (here ? (offset_t)row * 8 + column : 0), here);
      }
      coming_step += team;
      if (coming_step >= STEPS) { coming_step = member; coming += stride; }
    }
    copies_asked();
  };
  UNROLL for (int d = 0; d < AHEAD; d++) request(d);
  UNROLL_4 for (unsigned place = threadIdx.x; place < STEPS * 2 * TILES * 32; place += WARPS * 32) {
    const unsigned n = place % 32 / 4, i = place / 32 % TILES, column = slice + (i * 8 + n), first_k = place / 32 / TILES * 16 + place % 4 * 4;
    float b[4], rest[4];
    UNROLL for (int j = 0; j < 4; j++) {
      const unsigned k = first_k + j;
      b[j] = k < K && column < WIDE ? __ldg(b_parameter_sage_sage_0_linear_2_weight + (offset_t)column * 8 + k) : (real)0;
      if (PARTS == 2) { rest[j] = b[j] - first_bits(b[j]); b[j] = first_bits(b[j]); }
    }
    float4* const to = right + place / 32 * (PARTS * 32) + place % 32;
    to[0] = make_float4(b[0], b[1], b[2], b[3]);
    if (PARTS == 2) to[32] = make_float4(rest[0], rest[1], rest[2], rest[3]);
  }
  __syncthreads();
  // A team has at most one tile, and reaches the barrier with all other teams of its block in any
  // case.
  for (bool joins = team > 1; joins || tile < tiles; tile += stride, joins = false) {
    float sums[TILES][4] = {};
    UNROLL_1 for (unsigned step = tile < tiles ? member : STEPS; step < STEPS; step += team) {
      copies_done<AHEAD - 1>();
      __syncwarp();
      float4 upper[2], lower[2];
      UNROLL for (int h = 0; h < 2; h++) {
        UNROLL for (int i = 0; i < 2; i++) {
          // Both halves at once, if registers suffice.
          if (TILES < 4 ? h > 0 : i != h) continue;
          const float4* const from = reinterpret_cast<const float4*>(queue + slot * 512) + group * 8 + (i * 4 + part ^ group % 2 * 4);
          upper[i] = from[0];
          lower[i] = from[64];
        }
        if (TILES < 4 ? h == 0 : h == 1) {
          __syncwarp();
          request(slot);
          slot = slot + 1 == AHEAD ? 0 : slot + 1;
        }
        if (h == 0 || step * 32 + 16 < K) multiply_rows<TILES, PARTS == 2>(sums, upper[h], lower[h], right + (step * 2 + h) * (TILES * PARTS * 32) + lane);
      }
    }
    if (team > 1) {
      copies_done<0>();
      __syncwarp();
      if (member > 0) UNROLL for (int n = 0; n < TILES; n++) UNROLL for (int j = 0; j < 4; j++) queue[(n * 4 + j) * 32 + lane] = sums[n][j];
      __syncthreads();
      if (member > 0) return;
      for (unsigned other = 1; other < team; other++)
      UNROLL for (int n = 0; n < TILES; n++) UNROLL for (int j = 0; j < 4; j++) sums[n][j] += queue[other * (AHEAD * 512) + (n * 4 + j) * 32 + lane];
    }
    UNROLL for (int r = 0; r < 2; r++) {
      const unsigned row = tile * 16 + r * 8 + group;
      const bool live = row < rows;
      [[maybe_unused]] const unsigned v = live ? row : 0;
      [[maybe_unused]] bool own[Q];
      [[maybe_unused]] unsigned c[Q];
      EACH_Q { const unsigned place = slice + (q * L + part) * V; own[q] = live && place < C; c[q] = place < C ? place : C - V; }
      real made[Q][V]; EACH made[q][j] = sums[(q * V + j) / 2][r * 2 + (q * V + j) % 2];
      EACH_Q if (own[q]) store<V>(o_product_19 + (offset_t)v * 4 + c[q], made[q]);
    }
  }
}

// product.26: 14496 bytes at least, line 8 of the program
//   product.26 = product transposed(h.17, parameter.sage.sage.0.linear.3.weight)
//   (on tensor cores: 16 rows x 8 columns a warp, 2 steps of 32 elements in flight)
// as k5_product_19

// h.27: 21616 bytes at least, line 8 of the program
//   reduce.21 (nodes x 3) = reduce sum.in(product.19[far.in])
//   divide.22 (nodes x 3) = divide(reduce.21, cast.7)
//   add.24 (nodes x 3) = add(divide.22, parameter.sage.sage.0.linear.2.bias)
//   h.27 = add(add.24, product.26)
//   (1 lanes of 4 columns a row, 32 rows a warp, 4 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
//   (text: cuda/src/row_walk.rs, emit_edge_kernel)
extern "C" __global__ void __launch_bounds__(256, ON_HOPPER(3)) k7_h_27(const real* __restrict__ b_product_19, const real* __restrict__ b_cast_7, const real* __restrict__ b_parameter_sage_sage_0_linear_2_bias, const real* __restrict__ b_product_26, real* __restrict__ o_h_27, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned hub_items, const unsigned pieces, double* __restrict__ parts_of_hubs, unsigned* ticket, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
  constexpr unsigned C = 4, V = 4, L = 1, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { own[q] = true; c[q] = (q * L + part) * V; }
  constexpr unsigned B = 4, J = B > L ? B / L : 1, CHUNK = J * L;
  const unsigned warp_blocks = (warp_items + WARPS - 1) / WARPS;
  const unsigned hub_blocks = hub_items * pieces, block = blockIdx.x - hub_blocks;
  const unsigned blocks_of_many = hub_blocks + block_items + warp_blocks;
  int tier = 0;
  unsigned item, end_of_tier = items, shares = 1, mine = 0;
  if (blockIdx.x >= blocks_of_many) {
    item = hub_items + block_items + warp_items + (blockIdx.x - blocks_of_many) * GROUPS + warp * PER_WARP + group;
  } else if (blockIdx.x < hub_blocks) {
    tier = 3, item = blockIdx.x / pieces, shares = GROUPS * pieces, mine = blockIdx.x % pieces * GROUPS + warp * PER_WARP + group;
  } else if (block < block_items) {
    tier = 2, item = hub_items + block, shares = GROUPS, mine = warp * PER_WARP + group;
  } else {
    tier = 1, end_of_tier = hub_items + block_items + warp_items, item = hub_items + block_items + (block - block_items) * WARPS + warp, shares = PER_WARP, mine = group;
  }
  const bool live = item < end_of_tier;
  item = live ? item : 0;
  [[maybe_unused]] const unsigned v = __ldg(item_row + item), begin = live ? __ldg(item_offset + item) : 0, end = live ? __ldg(item_offset + item + 1) : 0;
  const unsigned from = min(end, begin + mine), stop = end, step = shares;
  const bool writes = live && (tier == 0 || (group == 0 && (tier == 1 || warp == 0)));
  after_others();
  real reduce_21_1[Q][V]; EACH reduce_21_1[q][j] = 0;
  {
    const real* place_8 = b_product_19 + c[0]; keep(place_8);
    unsigned at = from;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * step; held_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + (CHUNK + i) * step; next_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      UNROLL_4 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + (s) * step < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + (s + k) * step < stop;
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        real product_19_9[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q load<V>(product_19_9[k][q], place_8 + (offset_t)u[k] * 4); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          EACH if (here) reduce_21_1[q][j] = reduce_21_1[q][j] + product_19_9[k][q][j];
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      at = min(stop, at + (CHUNK) * step);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, at + (CHUNK - 1) * step < stop)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_1[WARPS * 32];
    EACH UNROLL for (int apart = 1; apart < 32; apart *= 2) { const real own_part = reduce_21_1[q][j]; reduce_21_1[q][j] = reduce_21_1[q][j] + from_lane(own_part, lane ^ apart); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = reduce_21_1[q][j]; }
      __syncthreads();
      EACH { reduce_21_1[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) reduce_21_1[q][j] = reduce_21_1[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
  }
  if (tier == 3) {
    constexpr unsigned SLOTS = 4;
    const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
    double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
    if (writes) {
      double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
      EACH tell(of_piece + (0 + q * V + j) * L, reduce_21_1[q][j]);
    }
    __shared__ bool is_last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) is_last = atomicAdd(ticket + hub, 1u) + 1 == pieces;
    __syncthreads();
    if (!is_last) return;
    if (threadIdx.x == 0) ticket[hub] = 0;
    __threadfence();
    {
      const double* of_piece = of_item;
      EACH reduce_21_1[q][j] = heard<real>(of_piece + (0 + q * V + j) * L);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        EACH reduce_21_1[q][j] = reduce_21_1[q][j] + heard<real>(of_piece + (0 + q * V + j) * L);
      }
    }
  }
  real cast_7_2; cast_7_2 = __ldg(b_cast_7 + v + 0);
  real divide_22_3[Q][V]; EACH_Q divide(divide_22_3[q], reduce_21_1[q], cast_7_2);
  real parameter_sage_sage_0_linear_2_bias_4[Q][V]; EACH_Q load<V>(parameter_sage_sage_0_linear_2_bias_4[q], b_parameter_sage_sage_0_linear_2_bias + c[q]);
  real add_24_5[Q][V]; EACH add_24_5[q][j] = divide_22_3[q][j] + parameter_sage_sage_0_linear_2_bias_4[q][j];
  real product_26_6[Q][V]; EACH_Q load<V>(product_26_6[q], b_product_26 + (offset_t)v * 4 + c[q]);
  real h_27_7[Q][V]; EACH h_27_7[q][j] = add_24_5[q][j] + product_26_6[q][j];
  if (!writes) return;
  EACH_Q if (own[q]) store<V>(o_h_27 + (offset_t)v * 4 + c[q], h_27_7[q]);
}

// loss: 10804 bytes at least
//   slope.result, loss = gradient and value of cross_entropy(h.27, target)
//   (text: cuda/src/loss.rs, decide_loss)
extern "C" __global__ void __launch_bounds__(256, ON_HOPPER(4)) k8_loss(const real* __restrict__ result, const real* __restrict__ target, real* __restrict__ gradient, const unsigned char* __restrict__ split, const double* __restrict__ terms, double* __restrict__ scratch_given, unsigned* __restrict__ counts, const unsigned rows, real* __restrict__ value, double* __restrict__ exact, unsigned char* __restrict__ ring, Clock* __restrict__ clock, unsigned* ticket) {
  constexpr unsigned C = 3, L = 1, V = 1, PER = (C + L * V - 1) / (L * V) * V, GROUPS = 256 / L, OF_PART = 10, COUNTED = 30, IN_SHARED = 30, SUMS = 1;
  constexpr unsigned OF_RESULT = 4, OF_SLOPE = 4, OF_TARGET = 1, BLOCKS = 2, ALL_COUNTED = 30, SLOTS = 128, SLOT_BYTES = 128;
  double* const scratch = scratch_given + 0;
  const unsigned lane = threadIdx.x % L, group = threadIdx.x / L;
  __shared__ unsigned counted[IN_SHARED];
  unsigned* const tally = IN_SHARED >= COUNTED ? counted : counts;
  if (IN_SHARED >= COUNTED) for (unsigned i = threadIdx.x; i < COUNTED; i += blockDim.x) counted[i] = 0;
  const double all = __ldg(terms);
  double sum = 0, errors[SUMS] = {};
  __syncthreads();
  after_others();
  unsigned turn = 0, kept_part = 0, kept_label = C, kept_answer = C;
  real kept_others = 0, kept_less = 0;
  auto settle = [&]() {
    sum += (double)(log_one_more(kept_others) - kept_less);
    if (kept_part && counts) {
      unsigned* const of = tally + (kept_part - 1) * OF_PART;
      if (kept_label < C && kept_answer == kept_label) { atomicAdd(of, 1u); atomicAdd(of + 1 + 3 * kept_label, 1u); }
      if (kept_label < C) atomicAdd(of + 3 + 3 * kept_label, 1u);
      if (kept_answer < C) atomicAdd(of + 2 + 3 * kept_answer, 1u);
    }
    kept_others = kept_less = 0;
    kept_part = 0;
  };
  unsigned part_ahead = 0;
  real class_ahead = -1, ahead[PER / V][V] = {};
  if (const unsigned asked = blockIdx.x * GROUPS + group; asked < rows) {
    part_ahead = split[asked];
    class_ahead = target[(offset_t)asked * OF_TARGET];
    const real* const of_lane = result + (offset_t)asked * OF_RESULT + lane * V;
    UNROLL for (int i = 0; i < PER / V; i++) if ((i * L + lane) * V < C) load<V>(ahead[i], of_lane + i * L * V);
  }
  for (unsigned first = blockIdx.x * GROUPS; first < rows; first += gridDim.x * GROUPS) {
    const unsigned row = first + group;
    const bool live = row < rows;
    const unsigned of_part = live ? part_ahead : 0;
    const real wanted = of_part ? class_ahead : (real)-1;
    real held[PER / V][V];
    UNROLL for (int i = 0; i < PER / V; i++) UNROLL for (int j = 0; j < V; j++) held[i][j] = ahead[i][j];
    if (const unsigned asked = row + gridDim.x * GROUPS; asked < rows) {
      part_ahead = split[asked];
      class_ahead = target[(offset_t)asked * OF_TARGET];
      const real* const of_lane = result + (offset_t)asked * OF_RESULT + lane * V;
      UNROLL for (int i = 0; i < PER / V; i++) if ((i * L + lane) * V < C) load<V>(ahead[i], of_lane + i * L * V);
    }
    real* const slope = gradient + (offset_t)row * OF_SLOPE;
    const bool learns = of_part == 1, known = wanted >= 0 && wanted < C && wanted == (real)(unsigned)wanted;
    const unsigned label = known ? (unsigned)wanted : C;
    // A cache hit, since the row was just read.
    const bool keeps = lane == turn % L;
    const real right_score = learns && known && keeps ? result[(offset_t)row * OF_RESULT + label] : (real)0;
    // A NaN makes the maximum NaN.
    real best = (real)-INFINITE;
    UNROLL for (int i = 0; i < PER; i++) {
      const unsigned column = (i / V * L + lane) * V + i % V;
      if (column < C) best = most(best, held[i / V][i % V]);
    }
    UNROLL for (int distance = 1; distance < L; distance *= 2) best = most(best, across(best, distance));
    const bool numbers = !is_odd(best);
    unsigned answer = C;
    UNROLL for (int i = PER - 1; i >= 0; i--) {
      const unsigned column = (i / V * L + lane) * V + i % V;
      if (column < C && held[i / V][i % V] == best) answer = column;
    }
    UNROLL for (int distance = 1; distance < L; distance *= 2) answer = min(answer, across(answer, distance));
    if (answer == C) answer = 0;
    // The term of the maximum is 1, unless it is infinite. The other terms are added to that 1 once, so
    // that small ones are not lost.
    real others = 0;
    if (learns) UNROLL for (int i = 0; i < PER; i++) {
      const unsigned column = (i / V * L + lane) * V + i % V;
      if (column >= C) continue;
      const real power = exponential_of_share(held[i / V][i % V] - best);
      if (column != answer) others += power;
      held[i / V][i % V] = power;
    }
    UNROLL for (int distance = 1; distance < L; distance *= 2) others += across(others, distance);
    others += best - best;
    const real share = (real)(1 / all), factor = known ? share / (1 + others) : (real)ODD;
    if (live) UNROLL for (int i = 0; i < PER; i++) {
      const unsigned column = (i / V * L + lane) * V + i % V;
      if (column >= C) continue;
      held[i / V][i % V] = learns ? held[i / V][i % V] * factor - (column == label ? share : (real)0) : (real)0;
    }
    if (live) UNROLL for (int i = 0; i < PER / V; i++) if ((i * L + lane) * V < C) store<V>(slope + lane * V + i * L * V, held[i]);
    if (keeps) {
      kept_others = !learns ? (real)0 : known && numbers ? others : (real)ODD;
      kept_less = learns ? right_score - best : (real)0;
      kept_part = of_part;
      kept_label = label;
      kept_answer = numbers ? answer : C;
    }
    if (++turn % L == 0) settle();
  }
  settle();
  errors[0] = sum;
  __shared__ double told[SUMS][8];
  UNROLL for (int which = 0; which < SUMS; which++) {
    UNROLL for (int distance = 16; distance > 0; distance /= 2) errors[which] += across(errors[which], distance);
    if (threadIdx.x % 32 == 0) told[which][threadIdx.x / 32] = errors[which];
  }
  __syncthreads();
  if (threadIdx.x < SUMS) {
    double of_block = told[threadIdx.x][0];
    UNROLL for (int w = 1; w < 8; w++) of_block += told[threadIdx.x][w];
    scratch[threadIdx.x * gridDim.x + blockIdx.x] = of_block;
  }
  if (IN_SHARED >= COUNTED && counts) for (unsigned i = threadIdx.x; i < COUNTED; i += blockDim.x) if (counted[i]) atomicAdd(counts + i, counted[i]);
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(ticket, 1u) + 1 == gridDim.x * gridDim.y * gridDim.z;
  __syncthreads();
  if (!is_last) return;
  if (threadIdx.x == 0) *ticket = 0;
  __threadfence();
  const unsigned epoch = counts ? clock->epoch : 0, first_count = SUMS == 1 && counts && threadIdx.x < ALL_COUNTED ? __ldcg(counts + threadIdx.x) : 0;
  UNROLL for (int which = 0; which < SUMS; which++) {
    double part = 0;
    for (unsigned block = threadIdx.x; block < BLOCKS; block += blockDim.x) part += __ldcg(scratch + which * BLOCKS + block);
    UNROLL for (int distance = 16; distance > 0; distance /= 2) part += across(part, distance);
    if (threadIdx.x % 32 == 0) told[which][threadIdx.x / 32] = part;
  }
  __syncthreads();
  unsigned char* const slot = counts ? ring + (offset_t)(epoch % SLOTS) * SLOT_BYTES : nullptr;
  if (threadIdx.x == 0) {
    double added[SUMS] = {};
    UNROLL for (int which = 0; which < SUMS; which++) UNROLL for (int w = 0; w < 8; w++) added[which] += told[which][w];
    const double loss = all > 0 ? added[0] / all : 0;
    *exact = loss;
    *value = (real)loss;
    // An evaluation pass records its metrics.
    if (counts) {
      *reinterpret_cast<double*>(slot) = loss;
      // No step is taken after a non-finite loss, so that the parameters that caused it can be inspected.
      if (!(fabs(loss) < INFINITE)) clock->halted = 1;
      UNROLL for (int which = 1; which < SUMS; which++) reinterpret_cast<double*>(slot + 8)[which - 1] = reinterpret_cast<double*>(counts)[which - 1] = added[which];
    }
  }
  // Errors of numbers are sums; nothing is counted.
  if (SUMS == 1 && counts) for (unsigned i = threadIdx.x; i < ALL_COUNTED; i += blockDim.x) reinterpret_cast<unsigned*>(slot + 8)[i] = i == threadIdx.x ? first_count : __ldcg(counts + i);
}

// gradient.sage.sage.0.linear.3.weight: 14496 bytes at least, line 8 of the program
//   gradient.sage.sage.0.linear.3.weight = outer(slope.result, h.17)
// merged into the kernel of gradient.sage.sage.0.linear.2.weight

// gradient.sage.sage.0.linear.2.bias: 4812 bytes at least, line 8 of the program
//   gradient.sage.sage.0.linear.2.bias = sum rows(slope.result)
// merged into the kernel of gradient.sage.sage.0.linear.2.weight

// product.31: 14496 bytes at least, line 8 of the program
//   product.31 = product(slope.result, parameter.sage.sage.0.linear.3.weight)
// merged into the kernel of slope of h.43

// divide.34: 10800 bytes at least, line 8 of the program
//   divide.34 = divide(slope.result, cast.7)
//   (1 lanes of 4 columns a row, 256 rows a block)
//   (text: cuda/src/row_walk.rs, emit_row_kernel)
extern "C" __global__ void __launch_bounds__(256, 2) k12_divide_34(const real* __restrict__ b_slope_result, const real* __restrict__ b_cast_7, real* __restrict__ o_divide_34, const unsigned rows) {
  after_others();
  constexpr unsigned C = 4, V = 4, L = 1, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { own[q] = true; c[q] = (q * L + part) * V; }
  const unsigned number = blockIdx.x * GROUPS + warp * PER_WARP + group;
  const bool live = number < rows;
  [[maybe_unused]] const unsigned v = live ? number : 0;
  real slope_result_1[Q][V]; EACH_Q load<V>(slope_result_1[q], b_slope_result + (offset_t)v * 4 + c[q]);
  real cast_7_2; cast_7_2 = __ldg(b_cast_7 + v + 0);
  real divide_34_3[Q][V]; EACH_Q divide(divide_34_3[q], slope_result_1[q], cast_7_2);
  if (!live) return;
  EACH_Q if (own[q]) store<V>(o_divide_34 + (offset_t)v * 4 + c[q], divide_34_3[q]);
}

// reduce.36: 15604 bytes at least, line 8 of the program
//   reduce.36 = reduce sum.out(divide.34[far.out])
//   (1 lanes of 4 columns a row, 32 rows a warp, 4 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
//   (text: cuda/src/row_walk.rs, emit_edge_kernel)
extern "C" __global__ void __launch_bounds__(256, ON_HOPPER(3)) k13_reduce_36(const real* __restrict__ b_divide_34, real* __restrict__ o_reduce_36, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned hub_items, const unsigned pieces, double* __restrict__ parts_of_hubs, unsigned* ticket, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
  constexpr unsigned C = 4, V = 4, L = 1, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { own[q] = true; c[q] = (q * L + part) * V; }
  constexpr unsigned B = 4, J = B > L ? B / L : 1, CHUNK = J * L;
  const unsigned warp_blocks = (warp_items + WARPS - 1) / WARPS;
  const unsigned hub_blocks = hub_items * pieces, block = blockIdx.x - hub_blocks;
  const unsigned blocks_of_many = hub_blocks + block_items + warp_blocks;
  int tier = 0;
  unsigned item, end_of_tier = items, shares = 1, mine = 0;
  if (blockIdx.x >= blocks_of_many) {
    item = hub_items + block_items + warp_items + (blockIdx.x - blocks_of_many) * GROUPS + warp * PER_WARP + group;
  } else if (blockIdx.x < hub_blocks) {
    tier = 3, item = blockIdx.x / pieces, shares = GROUPS * pieces, mine = blockIdx.x % pieces * GROUPS + warp * PER_WARP + group;
  } else if (block < block_items) {
    tier = 2, item = hub_items + block, shares = GROUPS, mine = warp * PER_WARP + group;
  } else {
    tier = 1, end_of_tier = hub_items + block_items + warp_items, item = hub_items + block_items + (block - block_items) * WARPS + warp, shares = PER_WARP, mine = group;
  }
  const bool live = item < end_of_tier;
  item = live ? item : 0;
  [[maybe_unused]] const unsigned v = __ldg(item_row + item), begin = live ? __ldg(item_offset + item) : 0, end = live ? __ldg(item_offset + item + 1) : 0;
  const unsigned from = min(end, begin + mine), stop = end, step = shares;
  const bool writes = live && (tier == 0 || (group == 0 && (tier == 1 || warp == 0)));
  after_others();
  real reduce_36_1[Q][V]; EACH reduce_36_1[q][j] = 0;
  {
    const real* place_2 = b_divide_34 + c[0]; keep(place_2);
    unsigned at = from;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * step; held_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + (CHUNK + i) * step; next_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      UNROLL_4 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + (s) * step < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + (s + k) * step < stop;
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        real divide_34_3[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q load<V>(divide_34_3[k][q], place_2 + (offset_t)u[k] * 4); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          EACH if (here) reduce_36_1[q][j] = reduce_36_1[q][j] + divide_34_3[k][q][j];
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      at = min(stop, at + (CHUNK) * step);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, at + (CHUNK - 1) * step < stop)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_1[WARPS * 32];
    EACH UNROLL for (int apart = 1; apart < 32; apart *= 2) { const real own_part = reduce_36_1[q][j]; reduce_36_1[q][j] = reduce_36_1[q][j] + from_lane(own_part, lane ^ apart); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = reduce_36_1[q][j]; }
      __syncthreads();
      EACH { reduce_36_1[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) reduce_36_1[q][j] = reduce_36_1[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
  }
  if (tier == 3) {
    constexpr unsigned SLOTS = 4;
    const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
    double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
    if (writes) {
      double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
      EACH tell(of_piece + (0 + q * V + j) * L, reduce_36_1[q][j]);
    }
    __shared__ bool is_last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) is_last = atomicAdd(ticket + hub, 1u) + 1 == pieces;
    __syncthreads();
    if (!is_last) return;
    if (threadIdx.x == 0) ticket[hub] = 0;
    __threadfence();
    {
      const double* of_piece = of_item;
      EACH reduce_36_1[q][j] = heard<real>(of_piece + (0 + q * V + j) * L);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        EACH reduce_36_1[q][j] = reduce_36_1[q][j] + heard<real>(of_piece + (0 + q * V + j) * L);
      }
    }
  }
  if (!writes) return;
  EACH_Q if (own[q]) store<V>(o_reduce_36 + (offset_t)v * 4 + c[q], reduce_36_1[q]);
}

// gradient.sage.sage.0.linear.2.weight: 14496 bytes at least, line 8 of the program
//   gradient.sage.sage.0.linear.2.weight = outer(reduce.36, h.17)
//   (also computes gradient.sage.sage.0.linear.3.weight: the two share a side)
//   (on tensor cores: 32 x 8 columns a warp, 1 of them across the columns, 12 along the rows, 8 rows at a time; 5 steps in flight)
//   (text: cuda/src/outer_products.rs, emit_tiled_outer)
extern "C" __global__ void __launch_bounds__(384, 1) k14_gradient_sage_sage_0_linear_2_weight(const real* __restrict__ b_reduce_36, const real* __restrict__ b_h_17, const real* __restrict__ b_slope_result, real* __restrict__ scratch, const unsigned rows_given, unsigned* ticket, real* __restrict__ out_0, const unsigned elements_0, real* __restrict__ out_1, const unsigned elements_1, const unsigned elements_2, const unsigned elements_3, real* __restrict__ out_4, const unsigned elements_4) {
  after_others();
  constexpr unsigned X = 8, Z = 7, XV = 4, ZV = 4, RV = 1, GROUPS = 1, TILES = 1, ACROSS = 1, TURNS = 12, AHEAD = 6;
  constexpr unsigned PRODUCTS = 48;
  constexpr bool X_FIRST = false, SUM_X = false, SUM_Z = true;
  const unsigned rows = rows_given * 1;
  extern __shared__ float4 of_block[];
  constexpr unsigned STAGE = GROUPS * 256 + TILES * 64, X_TILE = ACROSS * GROUPS * 32, Z_TILE = TILES * 8;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / 4, part = lane % 4, beside = warp % ACROSS, turn = warp / ACROSS;
  float* const queue = reinterpret_cast<float*>(of_block) + warp * (AHEAD * STAGE);
  const unsigned x0 = blockIdx.y * X_TILE, z0 = blockIdx.z * Z_TILE;
  const unsigned each = (rows + gridDim.x - 1) / gridDim.x, begin = min(rows, blockIdx.x * each), end = min(rows, begin + each);
  const auto twist = [](const unsigned r) { return TILES == 2 ? r / 2 % 2 * 2 : TILES == 4 ? r % 4 * 2 : TILES == 8 ? r % 2 + r / 2 % 2 * 4 : 0; };
  unsigned coming = begin + turn * 8, slot = 0;
  auto request = [&](const unsigned at) {
    if (coming < end) {
      float* const stage = queue + at * STAGE;
      UNROLL for (int i = 0; i < GROUPS * 8 / XV; i++) {
        const unsigned place = i * 32 + lane, r = place / (32 / XV) % 8, of_group = place / (256 / XV), within = lane % (32 / XV) * XV;
        const unsigned row = coming + r, column = x0 + (beside * GROUPS + of_group) * 32 + within;
        float* const to = stage + (of_group * 8 + r) * 32 + (within / 4 ^ r % 4 * 2) * 4 + within % 4;
        const bool here = row < end && column < X;
        copy_later<16>(to, b_h_17 + (here ? (offset_t)row * 8 + column : 0), here);
      }
      constexpr unsigned PIECES = Z_TILE * 8 / ZV;
      UNROLL for (int i = 0; i < (PIECES + 31) / 32; i++) {
        const unsigned place = i * 32 + lane, r = place / (Z_TILE / ZV), within = place % (Z_TILE / ZV) * ZV, row = coming + r, column = z0 + within;
        if (PIECES % 32 != 0 && place >= PIECES) continue;
        float* const to = stage + GROUPS * 256 + r * Z_TILE + (within / 4 ^ twist(r)) * 4 + within % 4;
        const bool here = row < end && column < Z;
        const unsigned of_both = column;
        if (of_both < 4) {
          const unsigned column = of_both;
          const bool here = row < end && column < 3;
          copy_later<16>(to, b_reduce_36 + (here ? (offset_t)row * 4 + column : 0), here);
        } else {
          const unsigned column = of_both - 4;
          const bool here = row < end && column < 3;
          copy_later<16>(to, b_slope_result + (here ? (offset_t)row * 4 + column : 0), here);
        }
      }
      coming += 8 * TURNS;
    }
    copies_asked();
  };
  UNROLL for (int d = 0; d < AHEAD - 1; d++) request(d);
  float sums[GROUPS][2][TILES][4] = {};
  [[maybe_unused]] float of_x[GROUPS][4] = {}, of_z[TILES] = {};
  UNROLL_1 for (unsigned row = begin + turn * 8; row < end; row += 8 * TURNS) {
    copies_done<AHEAD - 2>();
    __syncwarp();
    request(slot == 0 ? AHEAD - 1 : slot - 1);
    const float* const stage = queue + slot * STAGE;
    float right[2][TILES];
    UNROLL for (int h = 0; h < 2; h++) UNROLL for (int n = 0; n < TILES; n += RV) {
      const unsigned within = group * TILES + n;
      const float* const from = stage + GROUPS * 256 + (h * 4 + part) * Z_TILE + (within / 4 ^ twist(part)) * 4 + within % 4;
      float several[RV];
      memcpy(several, __builtin_assume_aligned(from, RV * 4), RV * 4);
      UNROLL for (int j = 0; j < RV; j++) right[h][n + j] = several[j];
    }
    if (SUM_Z) UNROLL for (int n = 0; n < TILES; n++) of_z[n] += right[0][n] + right[1][n];
    UNROLL for (int i = 0; i < GROUPS; i++) {
      const float4* const from = reinterpret_cast<const float4*>(stage + i * 256) + part * 8 + (group ^ part * 2);
      const float4 upper = from[0], lower = from[32];
      if (SUM_X) { of_x[i][0] += upper.x + lower.x; of_x[i][1] += upper.y + lower.y; of_x[i][2] += upper.z + lower.z; of_x[i][3] += upper.w + lower.w; }
      multiply_turned<TILES>(sums[i], upper, lower, right);
    }
    slot = slot + 1 == AHEAD ? 0 : slot + 1;
  }
  copies_done<0>();
  __syncwarp();
  // Each warp stores its sums where its rows were, consecutive lanes at consecutive addresses.
  constexpr unsigned OF_WARP = AHEAD * STAGE, OWN_X = GROUPS * 8 * TILES * 33, OWN_Z = OWN_X + GROUPS * 32;
  static_assert(OWN_Z + Z_TILE <= OF_WARP);
  UNROLL for (int i = 0; i < GROUPS; i++) UNROLL for (int m = 0; m < 2; m++) UNROLL for (int n = 0; n < TILES; n++) UNROLL for (int j = 0; j < 4; j++)
  queue[(((i * 2 + m) * TILES + n) * 4 + j) * 33 + lane] = sums[i][m][n][j];
  // Lanes of the same columns are added.
  if (SUM_X) UNROLL for (int i = 0; i < GROUPS; i++) UNROLL for (int j = 0; j < 4; j++) {
    const float pair = of_x[i][j] + across(of_x[i][j], 1), sum = pair + across(pair, 2);
    if (part == j) queue[OWN_X + i * 32 + group * 4 + j] = sum;
  }
  if (SUM_Z) UNROLL for (int n = 0; n < TILES; n++) {
    const float pair = of_z[n] + across(of_z[n], 1), sum = pair + across(pair, 2);
    if (part == n % 4) queue[OWN_Z + group * TILES + n] = sum;
  }
  __syncthreads();
  // The sums of the warps along the rows are added in their order.
  const float* const first_turn = reinterpret_cast<const float*>(of_block);
  auto of_turns = [&](const unsigned at) {
    float sum = first_turn[at];
    UNROLL for (int t = 1; t < TURNS; t++) sum += first_turn[t * (ACROSS * OF_WARP) + at];
    return sum;
  };
  float* const told = scratch + (offset_t)blockIdx.x * (PRODUCTS + (SUM_X ? X : 0) + (SUM_Z ? Z : 0));
  for (unsigned i = threadIdx.x; i < X_TILE * Z_TILE; i += ACROSS * TURNS * 32) {
    const unsigned x = X_FIRST ? i / Z_TILE : i % X_TILE, z = X_FIRST ? i % Z_TILE : i / X_TILE, column = z / TILES;
    const unsigned number = ((x / 32 % GROUPS * 2 + x / 2 % 2) * TILES + z % TILES) * 4 + x % 2 * 2 + column % 2;
    const unsigned of_x = x0 + x, of_z = z0 + z;
    const bool is_other = of_z >= 4;
    const unsigned own = is_other ? of_z - 4 : of_z, wide = is_other ? 3 : 3;
    const bool is_told = own < wide && of_x < X;
    const unsigned place = (is_other ? 3 * X : 0) + (!X_FIRST ? own * X + of_x : of_x * wide + own);
    if (is_told) told[place] = of_turns(x / 32 / GROUPS * OF_WARP + number * 33 + x % 32 / 4 * 4 + column / 2);
  }
  const bool has_x = SUM_X && blockIdx.z == 0, has_z = SUM_Z && blockIdx.y == 0;
  for (unsigned x = threadIdx.x; has_x && x < X_TILE && x0 + x < X; x += ACROSS * TURNS * 32) {
    told[PRODUCTS + x0 + x] = of_turns(x / 32 / GROUPS * OF_WARP + OWN_X + x % (GROUPS * 32));
  }
  for (unsigned z = threadIdx.x; has_z && z < Z_TILE && z0 + z < Z; z += ACROSS * TURNS * 32) {
    told[PRODUCTS + (SUM_X ? X : 0) + z0 + z] = of_turns(OWN_Z + z);
  }
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(ticket, 1u) + 1 == gridDim.x * gridDim.y * gridDim.z;
  __syncthreads();
  if (!is_last) return;
  if (threadIdx.x == 0) *ticket = 0;
  __threadfence();
  const unsigned parts = gridDim.x;
  for (unsigned element = threadIdx.x; element < 55u; element += blockDim.x) {
    real sum = 0;
    for (unsigned first = 0; first < parts; first += 16) {
      real several[16];
      UNROLL for (int i = 0; i < 16; i++) several[i] = first + i < parts ? __ldcg(scratch + (offset_t)(first + i) * 55u + element) : (real)0;
      UNROLL for (int i = 0; i < 16; i++) sum += several[i];
    }
    unsigned place = element;
    if (place < elements_0) { out_0[place] = sum; continue; }
    place -= elements_0;
    if (place < elements_1) { out_1[place] = sum; continue; }
    place -= elements_1;
    if (place < elements_2) { continue; }
    place -= elements_2;
    if (place < elements_3) { continue; }
    place -= elements_3;
    out_4[place] = sum;
  }
}

// slope of h.43: 33696 bytes at least, lines 7, 8, 10 of the program
//   product.37 (nodes x 8) = product(reduce.36, parameter.sage.sage.0.linear.2.weight)
//   slope of h.38 (nodes x 8) = add(product.31, product.37)
//   slope of h.40 (nodes x 8) = dropout 0.5 site 1(slope of h.38)
//   less.42 (nodes x 8) = less(0.0, h.17)
//   slope of h.43 = select(less.42, slope of h.40, 0.0)
//   (1 rows of 4 columns a thread, 2 threads along a row)
//   (text: cuda/src/plain_products.rs, decide_product)
extern "C" __global__ void __launch_bounds__(256, 2) k15_slope_of_h_43(const real* __restrict__ b_parameter_sage_sage_0_linear_3_weight, const real* __restrict__ b_slope_result, const real* __restrict__ b_reduce_36, const real* __restrict__ b_h_17, const unsigned* __restrict__ rows_in_graph, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_slope_20_of_20_h_43, const unsigned rows_given, const real* __restrict__ b_parameter_sage_sage_0_linear_2_weight) {
  after_others();
  constexpr unsigned K = 6, C = 8, WIDE = 8, L = 2, Q = 1, TM = 1, RT = 256 / L, BM = TM * RT, BK = 8, KV = 1, blockThreads = 256;
  const unsigned rows = rows_given * 1;
  constexpr unsigned V = 4, BN = L * V;
  __shared__ alignas(16) real left[BK][BM + 4], right[BK][BN];
  const unsigned part = threadIdx.x % L, thread_row = threadIdx.x / L, slice = blockIdx.y * BN;
  [[maybe_unused]] const unsigned group = threadIdx.x % 32 / L;
  const unsigned first = blockIdx.x * BM;
  real sums[TM][V];
  UNROLL for (int i = 0; i < TM; i++) UNROLL for (int j = 0; j < V; j++) sums[i][j] = 0;
  constexpr unsigned ALL = BM * (BK / KV), PIECES = (ALL + blockThreads - 1) / blockThreads;
  real piece[PIECES][KV];
  auto fetch = [&](const unsigned k0) {
    UNROLL for (int p = 0; p < PIECES; p++) {
      const unsigned i = threadIdx.x + p * blockThreads, r = i / (BK / KV), kk = i % (BK / KV) * KV, row = first + r;
      const bool here = i < ALL && row < rows && k0 + kk < K;
      [[maybe_unused]] const unsigned v = here ? row : 0;
      constexpr unsigned V = KV;
      if (k0 + kk < 3) {
        [[maybe_unused]] const unsigned c[1] = {here ? k0 + kk : 0};
        real slope_result_1[Q]; EACH_Q slope_result_1[q] = __ldg(b_slope_result + (offset_t)v * 4 + c[q]);
        EACH piece[p][j] = here ? slope_result_1[q] : (real)0;
      } else {
        [[maybe_unused]] const unsigned c[1] = {here ? k0 + kk - 3 : 0};
        real reduce_36_1[Q]; EACH_Q reduce_36_1[q] = __ldg(b_reduce_36 + (offset_t)v * 4 + c[q]);
        EACH piece[p][j] = here ? reduce_36_1[q] : (real)0;
      }
    }
  };
  fetch(0);
  for (unsigned k0 = 0; k0 < K; k0 += BK) {
    UNROLL for (int p = 0; p < PIECES; p++) {
      const unsigned i = threadIdx.x + p * blockThreads, r = i / (BK / KV), kk = i % (BK / KV) * KV;
      if (ALL % blockThreads == 0 || i < ALL) UNROLL for (int j = 0; j < KV; j++) left[kk + j][r] = piece[p][j];
    }
    for (unsigned i = threadIdx.x; i < BK * BN; i += blockThreads) {
      const unsigned k = i / BN, m = i % BN;
      right[k][m] = k0 + k < K && slice + m < WIDE ? (k0 + k < 3 ? __ldg(b_parameter_sage_sage_0_linear_3_weight + (offset_t)((k0 + k)) * 8 + slice + m) : __ldg(b_parameter_sage_sage_0_linear_2_weight + (offset_t)((k0 + k - 3)) * 8 + slice + m)) : (real)0;
    }
    __syncthreads();
    if (k0 + BK < K) fetch(k0 + BK);
    UNROLL_8 for (int k = 0; k < BK; k++) {
      real of_right[V];
      UNROLL for (int j = 0; j < V; j++) of_right[j] = right[k][part * V + j];
      UNROLL for (int i = 0; i < TM; i++) {
        const real of_left = left[k][thread_row + i * RT];
        UNROLL for (int j = 0; j < V; j++) sums[i][j] += of_left * of_right[j];
      }
    }
    __syncthreads();
  }
  const unsigned place = slice + part * V;
  [[maybe_unused]] const unsigned c[1] = {place < C ? place : C - V};
  UNROLL for (int i = 0; i < TM; i++) {
    const unsigned row = first + thread_row + i * RT;
    const bool live = row < rows;
    [[maybe_unused]] const unsigned v = live ? row : 0;
    [[maybe_unused]] const bool own[1] = {live && place < C};
    real made[Q][V]; EACH made[q][j] = sums[i][j];real nothing[Q][V]; EACH nothing[q][j] = 0;
    const unsigned row_in_graph = rows_in_graph ? __ldg(rows_in_graph + v) : v;
    real h_17_1[Q][V]; EACH_Q load<V>(h_17_1[q], b_h_17 + (offset_t)v * 8 + c[q]);
    bool less_42_2[Q][V]; EACH less_42_2[q][j] = ((real)0.0) < h_17_1[q][j];
    real slope_of_h_38_3[Q][V]; EACH slope_of_h_38_3[q][j] = made[q][j] + nothing[q][j];
    real slope_of_h_40_4[Q][V]; EACH_Q { bool kept_5[V]; UNROLL for (int j = 0; j < V; j++) kept_5[j] = true; if (training) keeps<V>(kept_5, row_in_graph, c[q], clock->epoch, 1u, seed, 32768u); UNROLL for (int j = 0; j < V; j++) slope_of_h_40_4[q][j] = !training ? slope_of_h_38_3[q][j] : kept_5[j] ? slope_of_h_38_3[q][j] * (real)2.0 : (real)0; }
    real slope_of_h_43_6[Q][V]; EACH slope_of_h_43_6[q][j] = less_42_2[q][j] ? slope_of_h_40_4[q][j] : ((real)0.0);
    EACH_Q if (own[q]) store<V>(o_slope_20_of_20_h_43 + (offset_t)v * 8 + c[q], slope_of_h_43_6[q]);
  }
}

// gradient.sage.sage.0.linear.1.weight: 19392 bytes at least, line 8 of the program
//   gradient.sage.sage.0.linear.1.weight = outer(slope of h.43, h.1)
// merged into the kernel of gradient.sage.sage.0.linear.0.weight

// gradient.sage.sage.0.linear.0.bias: 9632 bytes at least, line 8 of the program
//   gradient.sage.sage.0.linear.0.bias = sum rows(slope of h.43)
// merged into the kernel of gradient.sage.sage.0.linear.0.weight

// gradient.sage.sage.0.linear.0.weight: 19392 bytes at least, line 8 of the program
//   gradient.sage.sage.0.linear.0.weight = outer(slope of h.43, divide.8)
//   (also computes gradient.sage.sage.0.linear.1.weight: the two share a side)
//   (on tensor cores: 32 x 8 columns a warp, 1 of them across the columns, 12 along the rows, 8 rows at a time; 5 steps in flight)
//   (text: cuda/src/outer_products.rs, emit_tiled_outer)
extern "C" __global__ void __launch_bounds__(384, 1) k18_gradient_sage_sage_0_linear_0_weight(const real* __restrict__ b_slope_20_of_20_h_43, const real* __restrict__ b_divide_8, const real* __restrict__ b_h_1, real* __restrict__ scratch, const unsigned rows_given, unsigned* ticket, real* __restrict__ out_0, const unsigned elements_0, real* __restrict__ out_1, const unsigned elements_1, real* __restrict__ out_2, const unsigned elements_2) {
  after_others();
  constexpr unsigned X = 14, Z = 8, XV = 4, ZV = 4, RV = 1, GROUPS = 1, TILES = 1, ACROSS = 1, TURNS = 12, AHEAD = 6;
  constexpr unsigned PRODUCTS = 96;
  constexpr bool X_FIRST = false, SUM_X = false, SUM_Z = true;
  const unsigned rows = rows_given * 1;
  extern __shared__ float4 of_block[];
  constexpr unsigned STAGE = GROUPS * 256 + TILES * 64, X_TILE = ACROSS * GROUPS * 32, Z_TILE = TILES * 8;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / 4, part = lane % 4, beside = warp % ACROSS, turn = warp / ACROSS;
  float* const queue = reinterpret_cast<float*>(of_block) + warp * (AHEAD * STAGE);
  const unsigned x0 = blockIdx.y * X_TILE, z0 = blockIdx.z * Z_TILE;
  const unsigned each = (rows + gridDim.x - 1) / gridDim.x, begin = min(rows, blockIdx.x * each), end = min(rows, begin + each);
  const auto twist = [](const unsigned r) { return TILES == 2 ? r / 2 % 2 * 2 : TILES == 4 ? r % 4 * 2 : TILES == 8 ? r % 2 + r / 2 % 2 * 4 : 0; };
  unsigned coming = begin + turn * 8, slot = 0;
  auto request = [&](const unsigned at) {
    if (coming < end) {
      float* const stage = queue + at * STAGE;
      UNROLL for (int i = 0; i < GROUPS * 8 / XV; i++) {
        const unsigned place = i * 32 + lane, r = place / (32 / XV) % 8, of_group = place / (256 / XV), within = lane % (32 / XV) * XV;
        const unsigned row = coming + r, column = x0 + (beside * GROUPS + of_group) * 32 + within;
        float* const to = stage + (of_group * 8 + r) * 32 + (within / 4 ^ r % 4 * 2) * 4 + within % 4;
        const bool here = row < end && column < X;
        const unsigned of_both = column;
        if (of_both < 8) {
          const unsigned column = of_both;
          const bool here = row < end && column < 6;
          copy_later<16>(to, b_divide_8 + (here ? (offset_t)row * 8 + column : 0), here);
        } else {
          const unsigned column = of_both - 8;
          const bool here = row < end && column < 6;
          copy_later<16>(to, b_h_1 + (here ? (offset_t)row * 8 + column : 0), here);
        }
      }
      constexpr unsigned PIECES = Z_TILE * 8 / ZV;
      UNROLL for (int i = 0; i < (PIECES + 31) / 32; i++) {
        const unsigned place = i * 32 + lane, r = place / (Z_TILE / ZV), within = place % (Z_TILE / ZV) * ZV, row = coming + r, column = z0 + within;
        if (PIECES % 32 != 0 && place >= PIECES) continue;
        float* const to = stage + GROUPS * 256 + r * Z_TILE + (within / 4 ^ twist(r)) * 4 + within % 4;
        const bool here = row < end && column < Z;
        copy_later<16>(to, b_slope_20_of_20_h_43 + (here ? (offset_t)row * 8 + column : 0), here);
      }
      coming += 8 * TURNS;
    }
    copies_asked();
  };
  UNROLL for (int d = 0; d < AHEAD - 1; d++) request(d);
  float sums[GROUPS][2][TILES][4] = {};
  [[maybe_unused]] float of_x[GROUPS][4] = {}, of_z[TILES] = {};
  UNROLL_1 for (unsigned row = begin + turn * 8; row < end; row += 8 * TURNS) {
    copies_done<AHEAD - 2>();
    __syncwarp();
    request(slot == 0 ? AHEAD - 1 : slot - 1);
    const float* const stage = queue + slot * STAGE;
    float right[2][TILES];
    UNROLL for (int h = 0; h < 2; h++) UNROLL for (int n = 0; n < TILES; n += RV) {
      const unsigned within = group * TILES + n;
      const float* const from = stage + GROUPS * 256 + (h * 4 + part) * Z_TILE + (within / 4 ^ twist(part)) * 4 + within % 4;
      float several[RV];
      memcpy(several, __builtin_assume_aligned(from, RV * 4), RV * 4);
      UNROLL for (int j = 0; j < RV; j++) right[h][n + j] = several[j];
    }
    if (SUM_Z) UNROLL for (int n = 0; n < TILES; n++) of_z[n] += right[0][n] + right[1][n];
    UNROLL for (int i = 0; i < GROUPS; i++) {
      const float4* const from = reinterpret_cast<const float4*>(stage + i * 256) + part * 8 + (group ^ part * 2);
      const float4 upper = from[0], lower = from[32];
      if (SUM_X) { of_x[i][0] += upper.x + lower.x; of_x[i][1] += upper.y + lower.y; of_x[i][2] += upper.z + lower.z; of_x[i][3] += upper.w + lower.w; }
      multiply_turned<TILES>(sums[i], upper, lower, right);
    }
    slot = slot + 1 == AHEAD ? 0 : slot + 1;
  }
  copies_done<0>();
  __syncwarp();
  // Each warp stores its sums where its rows were, consecutive lanes at consecutive addresses.
  constexpr unsigned OF_WARP = AHEAD * STAGE, OWN_X = GROUPS * 8 * TILES * 33, OWN_Z = OWN_X + GROUPS * 32;
  static_assert(OWN_Z + Z_TILE <= OF_WARP);
  UNROLL for (int i = 0; i < GROUPS; i++) UNROLL for (int m = 0; m < 2; m++) UNROLL for (int n = 0; n < TILES; n++) UNROLL for (int j = 0; j < 4; j++)
  queue[(((i * 2 + m) * TILES + n) * 4 + j) * 33 + lane] = sums[i][m][n][j];
  // Lanes of the same columns are added.
  if (SUM_X) UNROLL for (int i = 0; i < GROUPS; i++) UNROLL for (int j = 0; j < 4; j++) {
    const float pair = of_x[i][j] + across(of_x[i][j], 1), sum = pair + across(pair, 2);
    if (part == j) queue[OWN_X + i * 32 + group * 4 + j] = sum;
  }
  if (SUM_Z) UNROLL for (int n = 0; n < TILES; n++) {
    const float pair = of_z[n] + across(of_z[n], 1), sum = pair + across(pair, 2);
    if (part == n % 4) queue[OWN_Z + group * TILES + n] = sum;
  }
  __syncthreads();
  // The sums of the warps along the rows are added in their order.
  const float* const first_turn = reinterpret_cast<const float*>(of_block);
  auto of_turns = [&](const unsigned at) {
    float sum = first_turn[at];
    UNROLL for (int t = 1; t < TURNS; t++) sum += first_turn[t * (ACROSS * OF_WARP) + at];
    return sum;
  };
  float* const told = scratch + (offset_t)blockIdx.x * (PRODUCTS + (SUM_X ? X : 0) + (SUM_Z ? Z : 0));
  for (unsigned i = threadIdx.x; i < X_TILE * Z_TILE; i += ACROSS * TURNS * 32) {
    const unsigned x = X_FIRST ? i / Z_TILE : i % X_TILE, z = X_FIRST ? i % Z_TILE : i / X_TILE, column = z / TILES;
    const unsigned number = ((x / 32 % GROUPS * 2 + x / 2 % 2) * TILES + z % TILES) * 4 + x % 2 * 2 + column % 2;
    const unsigned of_x = x0 + x, of_z = z0 + z;
    const bool is_other = of_x >= 8;
    const unsigned own = is_other ? of_x - 8 : of_x, wide = is_other ? 6 : 6;
    const bool is_told = own < wide && of_z < Z;
    const unsigned place = (is_other ? 6 * Z : 0) + (X_FIRST ? own * Z + of_z : of_z * wide + own);
    if (is_told) told[place] = of_turns(x / 32 / GROUPS * OF_WARP + number * 33 + x % 32 / 4 * 4 + column / 2);
  }
  const bool has_x = SUM_X && blockIdx.z == 0, has_z = SUM_Z && blockIdx.y == 0;
  for (unsigned x = threadIdx.x; has_x && x < X_TILE && x0 + x < X; x += ACROSS * TURNS * 32) {
    told[PRODUCTS + x0 + x] = of_turns(x / 32 / GROUPS * OF_WARP + OWN_X + x % (GROUPS * 32));
  }
  for (unsigned z = threadIdx.x; has_z && z < Z_TILE && z0 + z < Z; z += ACROSS * TURNS * 32) {
    told[PRODUCTS + (SUM_X ? X : 0) + z0 + z] = of_turns(OWN_Z + z);
  }
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(ticket, 1u) + 1 == gridDim.x * gridDim.y * gridDim.z;
  __syncthreads();
  if (!is_last) return;
  if (threadIdx.x == 0) *ticket = 0;
  __threadfence();
  const unsigned parts = gridDim.x;
  for (unsigned element = threadIdx.x; element < 104u; element += blockDim.x) {
    real sum = 0;
    for (unsigned first = 0; first < parts; first += 16) {
      real several[16];
      UNROLL for (int i = 0; i < 16; i++) several[i] = first + i < parts ? __ldcg(scratch + (offset_t)(first + i) * 104u + element) : (real)0;
      UNROLL for (int i = 0; i < 16; i++) sum += several[i];
    }
    unsigned place = element;
    if (place < elements_0) { out_0[place] = sum; continue; }
    place -= elements_0;
    if (place < elements_1) { out_1[place] = sum; continue; }
    place -= elements_1;
    out_2[place] = sum;
  }
}

// update.sage.sage.0.linear.0.weight: 1344 bytes at least
//   parameter.sage.sage.0.linear.0.weight = step(parameter.sage.sage.0.linear.0.weight, gradient.sage.sage.0.linear.0.weight)
//   (text: cuda/src/epoch_clock.rs, decide_optimizer)
extern "C" __global__ void __launch_bounds__(256, 1) k19_update_sage_sage_0_linear_0_weight(real* parameter_0, const real* __restrict__ gradient_0, real* first_0, real* second_0, const double* __restrict__ settings_0, real* parameter_1, const real* __restrict__ gradient_1, real* first_1, real* second_1, const double* __restrict__ settings_1, real* parameter_2, const real* __restrict__ gradient_2, real* first_2, real* second_2, const double* __restrict__ settings_2, real* parameter_3, const real* __restrict__ gradient_3, real* first_3, real* second_3, const double* __restrict__ settings_3, real* parameter_4, const real* __restrict__ gradient_4, real* first_4, real* second_4, const double* __restrict__ settings_4, real* parameter_5, const real* __restrict__ gradient_5, real* first_5, real* second_5, const double* __restrict__ settings_5, const Clock* __restrict__ clock) {
  real* const parameter = blockIdx.x < 1u ? parameter_0 : blockIdx.x < 2u ? parameter_1 : blockIdx.x < 3u ? parameter_2 : blockIdx.x < 4u ? parameter_3 : blockIdx.x < 5u ? parameter_4 : parameter_5;
  const real* const gradient = blockIdx.x < 1u ? gradient_0 : blockIdx.x < 2u ? gradient_1 : blockIdx.x < 3u ? gradient_2 : blockIdx.x < 4u ? gradient_3 : blockIdx.x < 5u ? gradient_4 : gradient_5;
  real* const first = blockIdx.x < 1u ? first_0 : blockIdx.x < 2u ? first_1 : blockIdx.x < 3u ? first_2 : blockIdx.x < 4u ? first_3 : blockIdx.x < 5u ? first_4 : first_5;
  real* const second = blockIdx.x < 1u ? second_0 : blockIdx.x < 2u ? second_1 : blockIdx.x < 3u ? second_2 : blockIdx.x < 4u ? second_3 : blockIdx.x < 5u ? second_4 : second_5;
  const double* const settings = blockIdx.x < 1u ? settings_0 : blockIdx.x < 2u ? settings_1 : blockIdx.x < 3u ? settings_2 : blockIdx.x < 4u ? settings_3 : blockIdx.x < 5u ? settings_4 : settings_5;
  const unsigned i = (blockIdx.x - (blockIdx.x < 1u ? 0u : blockIdx.x < 2u ? 1u : blockIdx.x < 3u ? 2u : blockIdx.x < 4u ? 3u : blockIdx.x < 5u ? 4u : 5u)) * blockDim.x + threadIdx.x, elements = blockIdx.x < 1u ? 48u : blockIdx.x < 2u ? 8u : blockIdx.x < 3u ? 48u : blockIdx.x < 4u ? 24u : blockIdx.x < 5u ? 3u : 24u;
  const int rule = (int)settings[0];
  const double first_beta = settings[2], second_beta = settings[3], decay = settings[5];
  double first_whole = 1, second_root = 1;
  if (rule >= 2) {
    const unsigned step = clock->step;
    first_whole = 1 - to_the(first_beta, step);
    second_root = sqrt(1 - to_the(second_beta, step));
  }
  after_others();
  if (i >= elements) return;
  const double rate = settings[1] * clock->pace;
  const unsigned halted = clock->halted;
  real p = parameter[i], slope = gradient[i];
  const real kept_one = rule == 0 ? (real)0 : first[i], kept_two = rule < 2 ? (real)0 : second[i];
  if (halted) return;
  if (rule == 0) {
    parameter[i] = p - (real)rate * (slope + (real)decay * p);
  } else if (rule == 1) {
    const real kept = (real)first_beta * kept_one + (slope + (real)decay * p);
    first[i] = kept;
    parameter[i] = p - (real)rate * kept;
  } else {
    if (rule == 2) slope = slope + (real)decay * p;
    const real one = (real)first_beta * kept_one + (real)(1 - first_beta) * slope, two = (real)second_beta * kept_two + (real)(1 - second_beta) * (slope * slope);
    first[i] = one;
    second[i] = two;
    const real going = one / (root(two) / (real)second_root + (real)settings[4]);
    parameter[i] = p * (rule == 3 ? (real)(1 - rate * decay) : (real)1) - (real)(rate / first_whole) * going;
  }
}

// update.sage.sage.0.linear.0.bias: 224 bytes at least
//   parameter.sage.sage.0.linear.0.bias = step(parameter.sage.sage.0.linear.0.bias, gradient.sage.sage.0.linear.0.bias)
// merged into the kernel of sage.sage.0.linear.0.weight

// update.sage.sage.0.linear.1.weight: 1344 bytes at least
//   parameter.sage.sage.0.linear.1.weight = step(parameter.sage.sage.0.linear.1.weight, gradient.sage.sage.0.linear.1.weight)
// merged into the kernel of sage.sage.0.linear.0.weight

// update.sage.sage.0.linear.2.weight: 672 bytes at least
//   parameter.sage.sage.0.linear.2.weight = step(parameter.sage.sage.0.linear.2.weight, gradient.sage.sage.0.linear.2.weight)
// merged into the kernel of sage.sage.0.linear.0.weight

// update.sage.sage.0.linear.2.bias: 84 bytes at least
//   parameter.sage.sage.0.linear.2.bias = step(parameter.sage.sage.0.linear.2.bias, gradient.sage.sage.0.linear.2.bias)
// merged into the kernel of sage.sage.0.linear.0.weight

// update.sage.sage.0.linear.3.weight: 672 bytes at least
//   parameter.sage.sage.0.linear.3.weight = step(parameter.sage.sage.0.linear.3.weight, gradient.sage.sage.0.linear.3.weight)
// merged into the kernel of sage.sage.0.linear.0.weight

// Advances the clock to the next epoch and clears its counts.
extern "C" __global__ void tick(Clock* __restrict__ clock, const double* __restrict__ paces, const unsigned slots, unsigned* __restrict__ counts, const unsigned counted) {
  after_others();
  for (unsigned i = threadIdx.x; i < counted; i += blockDim.x) counts[i] = 0;
  if (threadIdx.x > 0) return;
  const unsigned next = clock->epoch + 1;
  clock->epoch = next;
  clock->step = next + 1;
  clock->pace = paces[next % slots];
}

// The state of decisions between epochs. Each epoch reads one copy and writes the other, so that
// all blocks decide alike.
struct Watch { unsigned measure, keeps, patience, plateau, rows, is_known, stale, waited, over, kept, spare[2]; double best, factor, least, fallen; };

// Decides on the checkpoint, the learning-rate factor and early stopping.
extern "C" __global__ void watch_0(Watch* __restrict__ watches, Clock* clock, const unsigned* __restrict__ counts, const unsigned tells, const real* __restrict__ from_0, real* __restrict__ to_0, const real* __restrict__ from_1, real* __restrict__ to_1, const real* __restrict__ from_2, real* __restrict__ to_2, const real* __restrict__ from_3, real* __restrict__ to_3, const real* __restrict__ from_4, real* __restrict__ to_4, const real* __restrict__ from_5, real* __restrict__ to_5) {
  after_others();
  __shared__ bool keeps;
  if (threadIdx.x == 0) {
    const unsigned epoch = clock->epoch;
    Watch next = watches[epoch % 2];
    keeps = false;
    if (!next.over) {
      const unsigned* const of = counts + 10;
      double quality = ODD;
      if (next.rows > 0) {
        if (next.measure == 0) quality = (double)of[0] / next.rows;
        else {
          double sum = 0;
          unsigned scored = 0;
          for (unsigned c = 0; c < 3; c++) {
            const unsigned* const of_class = of + 1 + 3 * c;
            const unsigned long long both = (unsigned long long)of_class[1] + of_class[2];
            if (both > 0) { sum += 2.0 * of_class[0] / (double)both; scored++; }
          }
          quality = sum / scored;
        }
      }
      if (quality == quality && (!next.is_known || quality > next.best)) {
        next.best = quality;
        next.is_known = 1;
        next.stale = next.waited = 0;
        keeps = next.keeps;
      } else {
        next.stale++;
        next.waited++;
        if (next.plateau != ~0u && next.waited > next.plateau) {
          next.fallen = fmax(next.fallen * next.factor, next.least);
          next.waited = 0;
        }
        if (next.stale >= next.patience && next.patience != ~0u) {
          next.over = 1;
          // Without a best epoch, the parameters of the last one are kept.
          keeps = !next.keeps || !next.is_known;
        }
      }
      if (keeps) next.kept = epoch;
    }
    if (tells && blockIdx.x == 0) {
      watches[(epoch + 1) % 2] = next;
      if (next.plateau != ~0u) clock->pace = next.fallen;
    }
  }
  __syncthreads();
  if (!keeps) return;
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  for (unsigned i = first; i < 48u; i += all) to_0[i] = from_0[i];
  for (unsigned i = first; i < 8u; i += all) to_1[i] = from_1[i];
  for (unsigned i = first; i < 48u; i += all) to_2[i] = from_2[i];
  for (unsigned i = first; i < 24u; i += all) to_3[i] = from_3[i];
  for (unsigned i = first; i < 3u; i += all) to_4[i] = from_4[i];
  for (unsigned i = first; i < 24u; i += all) to_5[i] = from_5[i];
}
