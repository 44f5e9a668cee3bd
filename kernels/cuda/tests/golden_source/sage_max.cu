// less.11: 4800 bytes at least, line 9 of the program
//   less.11 = less(0, given.degree.in)
//   (1 lanes of 1 columns a row, 256 rows a block)
//   (text: cuda/src/row_walk.rs, emit_row_kernel)
extern "C" __global__ void __launch_bounds__(256, 2) k0_less_11(const whole* __restrict__ b_given_degree_in, narrow* __restrict__ o_less_11, const unsigned rows) {
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
  bool less_11_2; less_11_2 = (0LL) < given_degree_in_1;
  if (!live) return;
  EACH if (own[q]) o_less_11[v + 0] = (whole)(less_11_2);
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

// message.6: 19340 bytes at least, line 8 of the program
//   product.3 (nodes x 5) = product transposed(h.1, parameter.sage_max.sage_max.0.linear.0.weight)
//   add.5 (nodes x 5) = add(product.3, parameter.sage_max.sage_max.0.linear.0.bias)
//   message.6 = relu(add.5)
//   (1 rows of 4 columns a thread, 2 threads along a row)
//   (text: cuda/src/plain_products.rs, decide_product)
extern "C" __global__ void __launch_bounds__(256, 2) k2_message_6(const real* __restrict__ b_parameter_sage__max_sage__max_0_linear_0_weight, const real* __restrict__ b_h_1, const real* __restrict__ b_parameter_sage__max_sage__max_0_linear_0_bias, real* __restrict__ o_message_6, const unsigned rows_given) {
  after_others();
  constexpr unsigned K = 6, C = 8, WIDE = 5, L = 2, Q = 1, TM = 1, RT = 256 / L, BM = TM * RT, BK = 8, KV = 4, blockThreads = 256;
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
      [[maybe_unused]] const unsigned c[1] = {here ? k0 + kk : 0};
      real h_1_1[Q][V]; EACH_Q load<V>(h_1_1[q], b_h_1 + (offset_t)v * 8 + c[q]);
      EACH piece[p][j] = here && c[q] + j < K ? h_1_1[q][j] : (real)0;
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
      right[k][m] = k0 + k < K && slice + m < WIDE ? __ldg(b_parameter_sage__max_sage__max_0_linear_0_weight + (offset_t)(slice + m) * 6 + k0 + k) : (real)0;
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
    real made[Q][V]; EACH made[q][j] = sums[i][j];
    real parameter_sage_max_sage_max_0_linear_0_bias_1[Q][V]; EACH_Q load<V>(parameter_sage_max_sage_max_0_linear_0_bias_1[q], b_parameter_sage__max_sage__max_0_linear_0_bias + c[q]);
    real add_5_2[Q][V]; EACH add_5_2[q][j] = made[q][j] + parameter_sage_max_sage_max_0_linear_0_bias_1[q][j];
    real message_6_3[Q][V]; EACH message_6_3[q][j] = relu(add_5_2[q][j]);
    EACH_Q if (own[q]) store<V>(o_message_6 + (offset_t)v * 8 + c[q], message_6_3[q]);
  }
}

// select.13: 27604 bytes at least, line 9 of the program
//   reduce.8 (nodes x 5) = reduce maximum.in(message.6[far.in])
//   select.13 = select(less.11, reduce.8, 0.0)
//   (2 lanes of 4 columns a row, 16 rows a warp, 8 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
//   (text: cuda/src/row_walk.rs, emit_edge_kernel)
extern "C" __global__ void __launch_bounds__(256, ON_HOPPER(3)) k3_select_13(const real* __restrict__ b_message_6, const narrow* __restrict__ b_less_11, real* __restrict__ o_select_13, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned hub_items, const unsigned pieces, double* __restrict__ parts_of_hubs, unsigned* ticket, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
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
  real reduce_8_2[Q][V]; EACH reduce_8_2[q][j] = (real)-INFINITE;
  {
    const real* place_4 = b_message_6 + c[0]; keep(place_4);
    unsigned at = from;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      UNROLL_4 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + s < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + s + k < stop;
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        real message_6_5[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q load<V>(message_6_5[k][q], place_4 + (offset_t)u[k] * 8); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          EACH if (here) reduce_8_2[q][j] = most(reduce_8_2[q][j], message_6_5[k][q][j]);
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      at = min(stop, at + CHUNK);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, stop - at >= CHUNK)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_1[WARPS * 64];
    EACH { const real own_part = reduce_8_2[q][j]; reduce_8_2[q][j] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_8_2[q][j] = most(reduce_8_2[q][j], from_lane(own_part, g * L + part)); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = reduce_8_2[q][j]; }
      __syncthreads();
      EACH { reduce_8_2[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) reduce_8_2[q][j] = most(reduce_8_2[q][j], told[(w * L + part) * 4 + q * V + j]); }
      __syncthreads();
    }
  }
  if (tier == 3) {
    constexpr unsigned SLOTS = 4;
    const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
    double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
    if (writes) {
      double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
      EACH tell(of_piece + (0 + q * V + j) * L, reduce_8_2[q][j]);
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
      EACH reduce_8_2[q][j] = heard<real>(of_piece + (0 + q * V + j) * L);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        EACH reduce_8_2[q][j] = most(reduce_8_2[q][j], heard<real>(of_piece + (0 + q * V + j) * L));
      }
    }
  }
  bool less_11_1; less_11_1 = __ldg(b_less_11 + v + 0) != 0;
  real select_13_3[Q][V]; EACH select_13_3[q][j] = less_11_1 ? reduce_8_2[q][j] : ((real)0.0);
  if (!writes) return;
  EACH_Q if (own[q]) store<V>(o_select_13 + (offset_t)v * 8 + c[q], select_13_3[q]);
}

// add.17: 19392 bytes at least, line 9 of the program
//   product.15 (nodes x 8) = product transposed(select.13, parameter.sage_max.sage_max.0.linear.1.weight)
//   add.17 = add(product.15, parameter.sage_max.sage_max.0.linear.1.bias)
// merged into the kernel of h.22

// h.22: 28992 bytes at least, lines 7, 9, 11 of the program
//   product.19 (nodes x 8) = product transposed(h.1, parameter.sage_max.sage_max.0.linear.2.weight)
//   h.20 (nodes x 8) = add(add.17, product.19)
//   h.21 (nodes x 8) = relu(h.20)
//   h.22 = dropout 0.5 site 1(h.21)
//   (1 rows of 4 columns a thread, 2 threads along a row)
//   (text: cuda/src/plain_products.rs, decide_product)
extern "C" __global__ void __launch_bounds__(256, 2) k5_h_22(const real* __restrict__ b_parameter_sage__max_sage__max_0_linear_1_weight, const real* __restrict__ b_select_13, const real* __restrict__ b_parameter_sage__max_sage__max_0_linear_1_bias, const real* __restrict__ b_h_1, const unsigned* __restrict__ rows_in_graph, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_h_22, const unsigned rows_given, const real* __restrict__ b_parameter_sage__max_sage__max_0_linear_2_weight) {
  after_others();
  constexpr unsigned K = 11, C = 8, WIDE = 8, L = 2, Q = 1, TM = 1, RT = 256 / L, BM = TM * RT, BK = 16, KV = 1, blockThreads = 256;
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
      if (k0 + kk < 5) {
        [[maybe_unused]] const unsigned c[1] = {here ? k0 + kk : 0};
        real select_13_1[Q]; EACH_Q select_13_1[q] = __ldg(b_select_13 + (offset_t)v * 8 + c[q]);
        EACH piece[p][j] = here ? select_13_1[q] : (real)0;
      } else {
        [[maybe_unused]] const unsigned c[1] = {here ? k0 + kk - 5 : 0};
        real h_1_1[Q]; EACH_Q h_1_1[q] = __ldg(b_h_1 + (offset_t)v * 8 + c[q]);
        EACH piece[p][j] = here ? h_1_1[q] : (real)0;
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
      right[k][m] = k0 + k < K && slice + m < WIDE ? (k0 + k < 5 ? __ldg(b_parameter_sage__max_sage__max_0_linear_1_weight + (offset_t)(slice + m) * 5 + (k0 + k)) : __ldg(b_parameter_sage__max_sage__max_0_linear_2_weight + (offset_t)(slice + m) * 6 + (k0 + k - 5))) : (real)0;
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
    real parameter_sage_max_sage_max_0_linear_1_bias_1[Q][V]; EACH_Q load<V>(parameter_sage_max_sage_max_0_linear_1_bias_1[q], b_parameter_sage__max_sage__max_0_linear_1_bias + c[q]);
    real add_17_2[Q][V]; EACH add_17_2[q][j] = made[q][j] + parameter_sage_max_sage_max_0_linear_1_bias_1[q][j];
    real h_20_3[Q][V]; EACH h_20_3[q][j] = add_17_2[q][j] + nothing[q][j];
    real h_21_4[Q][V]; EACH h_21_4[q][j] = relu(h_20_3[q][j]);
    real h_22_5[Q][V]; EACH_Q { bool kept_6[V]; UNROLL for (int j = 0; j < V; j++) kept_6[j] = true; if (training) keeps<V>(kept_6, row_in_graph, c[q], clock->epoch, 1u, seed, 32768u); UNROLL for (int j = 0; j < V; j++) h_22_5[q][j] = !training ? h_21_4[q][j] : kept_6[j] ? h_21_4[q][j] * (real)2.0 : (real)0; }
    EACH_Q if (own[q]) store<V>(o_h_22 + (offset_t)v * 8 + c[q], h_22_5[q]);
  }
}

// product.36: 14496 bytes at least, line 9 of the program
//   product.36 = product transposed(h.22, parameter.sage_max.sage_max.0.linear.5.weight)
//   (on tensor cores: 16 rows x 8 columns a warp, 2 steps of 32 elements in flight)
//   (text: cuda/src/tensor_core_products.rs, add_merged_products)
extern "C" __global__ void __launch_bounds__(256, 2) k6_product_36(const real* __restrict__ b_parameter_sage__max_sage__max_0_linear_5_weight, const real* __restrict__ b_h_22, real* __restrict__ o_product_36, const unsigned rows_given) {
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
        copy_later<16>(to, b_h_22 + (here ? (offset_t)row * 8 + column : 0), here);
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
      b[j] = k < K && column < WIDE ? __ldg(b_parameter_sage__max_sage__max_0_linear_5_weight + (offset_t)column * 8 + k) : (real)0;
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
      EACH_Q if (own[q]) store<V>(o_product_36 + (offset_t)v * 4 + c[q], made[q]);
    }
  }
}

// message.27: 19380 bytes at least, line 8 of the program
//   product.24 (nodes x 5) = product transposed(h.22, parameter.sage_max.sage_max.0.linear.3.weight)
//   add.26 (nodes x 5) = add(product.24, parameter.sage_max.sage_max.0.linear.3.bias)
//   message.27 = relu(add.26)
//   (on tensor cores: 16 rows x 8 columns a warp, 2 steps of 32 elements in flight)
//   (text: cuda/src/tensor_core_products.rs, add_merged_products)
extern "C" __global__ void __launch_bounds__(256, 2) k7_message_27(const real* __restrict__ b_parameter_sage__max_sage__max_0_linear_3_weight, const real* __restrict__ b_h_22, const real* __restrict__ b_parameter_sage__max_sage__max_0_linear_3_bias, real* __restrict__ o_message_27, const unsigned rows_given) {
  after_others();
  constexpr unsigned K = 8, C = 8, WIDE = 5, KV = 4, MV = 4, V = 2, L = 4, Q = 1, TILES = 1, STEPS = 1, AHEAD = 2, PARTS = 2, WARPS = 8, TEAM = 1;
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
        copy_later<16>(to, b_h_22 + (here ? (offset_t)row * 8 + column : 0), here);
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
      b[j] = k < K && column < WIDE ? __ldg(b_parameter_sage__max_sage__max_0_linear_3_weight + (offset_t)column * 8 + k) : (real)0;
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
      real parameter_sage_max_sage_max_0_linear_3_bias_1[Q][V]; EACH_Q load<V>(parameter_sage_max_sage_max_0_linear_3_bias_1[q], b_parameter_sage__max_sage__max_0_linear_3_bias + c[q]);
      real add_26_2[Q][V]; EACH add_26_2[q][j] = made[q][j] + parameter_sage_max_sage_max_0_linear_3_bias_1[q][j];
      real message_27_3[Q][V]; EACH message_27_3[q][j] = relu(add_26_2[q][j]);
      EACH_Q if (own[q]) store<V>(o_message_27 + (offset_t)v * 8 + c[q], message_27_3[q]);
    }
  }
}

// select.30: 27604 bytes at least, line 9 of the program
//   reduce.29 (nodes x 5) = reduce maximum.in(message.27[far.in])
//   select.30 = select(less.11, reduce.29, 0.0)
//   (2 lanes of 4 columns a row, 16 rows a warp, 8 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
// as k3_select_13

// h.37: 19272 bytes at least, line 9 of the program
//   product.32 (nodes x 3) = product transposed(select.30, parameter.sage_max.sage_max.0.linear.4.weight)
//   add.34 (nodes x 3) = add(product.32, parameter.sage_max.sage_max.0.linear.4.bias)
//   h.37 = add(add.34, product.36)
//   (1 rows of 4 columns a thread, 1 threads along a row)
//   (text: cuda/src/plain_products.rs, decide_product)
extern "C" __global__ void __launch_bounds__(256, 2) k9_h_37(const real* __restrict__ b_parameter_sage__max_sage__max_0_linear_4_weight, const real* __restrict__ b_select_30, const real* __restrict__ b_parameter_sage__max_sage__max_0_linear_4_bias, const real* __restrict__ b_product_36, real* __restrict__ o_h_37, const unsigned rows_given) {
  after_others();
  constexpr unsigned K = 5, C = 4, WIDE = 3, L = 1, Q = 1, TM = 1, RT = 256 / L, BM = TM * RT, BK = 8, KV = 4, blockThreads = 256;
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
      [[maybe_unused]] const unsigned c[1] = {here ? k0 + kk : 0};
      real select_30_1[Q][V]; EACH_Q load<V>(select_30_1[q], b_select_30 + (offset_t)v * 8 + c[q]);
      EACH piece[p][j] = here && c[q] + j < K ? select_30_1[q][j] : (real)0;
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
      right[k][m] = k0 + k < K && slice + m < WIDE ? __ldg(b_parameter_sage__max_sage__max_0_linear_4_weight + (offset_t)(slice + m) * 5 + k0 + k) : (real)0;
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
    real made[Q][V]; EACH made[q][j] = sums[i][j];
    real parameter_sage_max_sage_max_0_linear_4_bias_1[Q][V]; EACH_Q load<V>(parameter_sage_max_sage_max_0_linear_4_bias_1[q], b_parameter_sage__max_sage__max_0_linear_4_bias + c[q]);
    real add_34_2[Q][V]; EACH add_34_2[q][j] = made[q][j] + parameter_sage_max_sage_max_0_linear_4_bias_1[q][j];
    real product_36_3[Q][V]; EACH_Q load<V>(product_36_3[q], b_product_36 + (offset_t)v * 4 + c[q]);
    real h_37_4[Q][V]; EACH h_37_4[q][j] = add_34_2[q][j] + product_36_3[q][j];
    EACH_Q if (own[q]) store<V>(o_h_37 + (offset_t)v * 4 + c[q], h_37_4[q]);
  }
}

// loss: 10804 bytes at least
//   slope.result, loss = gradient and value of cross_entropy(h.37, target)
//   (text: cuda/src/loss.rs, decide_loss)
extern "C" __global__ void __launch_bounds__(256, ON_HOPPER(4)) k10_loss(const real* __restrict__ result, const real* __restrict__ target, real* __restrict__ gradient, const unsigned char* __restrict__ split, const double* __restrict__ terms, double* __restrict__ scratch_given, unsigned* __restrict__ counts, const unsigned rows, real* __restrict__ value, double* __restrict__ exact, unsigned char* __restrict__ ring, Clock* __restrict__ clock, unsigned* ticket) {
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

// gradient.sage_max.sage_max.0.linear.5.weight: 14496 bytes at least, line 9 of the program
//   gradient.sage_max.sage_max.0.linear.5.weight = outer(slope.result, h.22)
// merged into the kernel of gradient.sage_max.sage_max.0.linear.4.weight

// gradient.sage_max.sage_max.0.linear.4.bias: 4812 bytes at least, line 9 of the program
//   gradient.sage_max.sage_max.0.linear.4.bias = sum rows(slope.result)
// merged into the kernel of gradient.sage_max.sage_max.0.linear.4.weight

// gradient.sage_max.sage_max.0.linear.4.weight: 14460 bytes at least, line 9 of the program
//   gradient.sage_max.sage_max.0.linear.4.weight = outer(slope.result, select.30)
//   (also computes gradient.sage_max.sage_max.0.linear.5.weight: the two share a side)
//   (on tensor cores: 32 x 8 columns a warp, 1 of them across the columns, 12 along the rows, 8 rows at a time; 5 steps in flight)
//   (text: cuda/src/outer_products.rs, emit_tiled_outer)
extern "C" __global__ void __launch_bounds__(384, 1) k13_gradient_sage_max_sage_max_0_linear_4_weight(const real* __restrict__ b_slope_result, const real* __restrict__ b_select_30, const real* __restrict__ b_h_22, real* __restrict__ scratch, const unsigned rows_given, unsigned* ticket, real* __restrict__ out_0, const unsigned elements_0, real* __restrict__ out_1, const unsigned elements_1, real* __restrict__ out_2, const unsigned elements_2) {
  after_others();
  constexpr unsigned X = 16, Z = 3, XV = 4, ZV = 4, RV = 1, GROUPS = 1, TILES = 1, ACROSS = 1, TURNS = 12, AHEAD = 6;
  constexpr unsigned PRODUCTS = 39;
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
          const bool here = row < end && column < 5;
          copy_later<16>(to, b_select_30 + (here ? (offset_t)row * 8 + column : 0), here);
        } else {
          const unsigned column = of_both - 8;
          const bool here = row < end && column < 8;
          copy_later<16>(to, b_h_22 + (here ? (offset_t)row * 8 + column : 0), here);
        }
      }
      constexpr unsigned PIECES = Z_TILE * 8 / ZV;
      UNROLL for (int i = 0; i < (PIECES + 31) / 32; i++) {
        const unsigned place = i * 32 + lane, r = place / (Z_TILE / ZV), within = place % (Z_TILE / ZV) * ZV, row = coming + r, column = z0 + within;
        if (PIECES % 32 != 0 && place >= PIECES) continue;
        float* const to = stage + GROUPS * 256 + r * Z_TILE + (within / 4 ^ twist(r)) * 4 + within % 4;
        const bool here = row < end && column < Z;
        copy_later<16>(to, b_slope_result + (here ? (offset_t)row * 4 + column : 0), here);
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
    const unsigned own = is_other ? of_x - 8 : of_x, wide = is_other ? 8 : 5;
    const bool is_told = own < wide && of_z < Z;
    const unsigned place = (is_other ? 5 * Z : 0) + (X_FIRST ? own * Z + of_z : of_z * wide + own);
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
  for (unsigned element = threadIdx.x; element < 42u; element += blockDim.x) {
    real sum = 0;
    for (unsigned first = 0; first < parts; first += 16) {
      real several[16];
      UNROLL for (int i = 0; i < 16; i++) several[i] = first + i < parts ? __ldcg(scratch + (offset_t)(first + i) * 42u + element) : (real)0;
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

// winner.47: 43208 bytes at least, line 9 of the program
//   winner.47 = winner maximum.in(message.27[far.in])
//   (text: cuda/src/unfused_edge_ops.rs, decide_edge_operation)
extern "C" __global__ void __launch_bounds__(256, 1) k14_winner_47(narrow* __restrict__ out, const real* __restrict__ b_message_27, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned* __restrict__ slot_edge, const unsigned rows) {
  after_others();
  constexpr unsigned C = 5, L = 8;
  [[maybe_unused]] constexpr unsigned V = 1, Q = 1, B = 1;
  [[maybe_unused]] constexpr int q = 0, j = 0, k = 0;
  [[maybe_unused]] constexpr bool ALL = true, here_[1] = {true}, own[1] = {true};
  const unsigned item = blockIdx.x * (256 / L) + threadIdx.x / L, column = blockIdx.y * L + threadIdx.x % L;
  if (item >= rows || column >= C) return;
  [[maybe_unused]] const unsigned v = __ldg(item_row + item), c[1] = {column};
  const unsigned begin = __ldg(item_offset + item), end = __ldg(item_offset + item + 1);
  unsigned winner = end;
  real best = 0;
  UNROLL_4 for (unsigned p = begin; p < end; p++) {
    const unsigned u[1] = {__ldg(slot_far + p)};
    real message_27_1[B][Q];
    UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q message_27_1[k][q] = __ldg(b_message_27 + c[q] + (offset_t)u[k] * 8); }
    const real value = message_27_1[k][q];
    if (true && (winner == end || (!is_odd(best) && (is_odd(value) || value > best)))) { best = value; winner = p; }
  }
  UNROLL_4 for (unsigned p = begin; p < end; p++) out[(offset_t)__ldg(slot_edge + p) * 5 + column] = p == winner;
}

// winner.75: 43208 bytes at least, line 9 of the program
//   winner.75 = winner maximum.in(message.6[far.in])
// as k14_winner_47

// product.41: 14496 bytes at least, line 9 of the program
//   product.41 = product(slope.result, parameter.sage_max.sage_max.0.linear.5.weight)
// merged into the kernel of notequal.71

// select.46: 16860 bytes at least, line 9 of the program
//   product.44 (nodes x 5) = product(slope.result, parameter.sage_max.sage_max.0.linear.4.weight)
//   select.46 = select(less.11, product.44, 0.0)
//   (1 rows of 4 columns a thread, 2 threads along a row)
//   (text: cuda/src/plain_products.rs, decide_product)
extern "C" __global__ void __launch_bounds__(256, 2) k17_select_46(const real* __restrict__ b_parameter_sage__max_sage__max_0_linear_4_weight, const real* __restrict__ b_slope_result, const narrow* __restrict__ b_less_11, real* __restrict__ o_select_46, const unsigned rows_given) {
  after_others();
  constexpr unsigned K = 3, C = 8, WIDE = 5, L = 2, Q = 1, TM = 1, RT = 256 / L, BM = TM * RT, BK = 4, KV = 4, blockThreads = 256;
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
      [[maybe_unused]] const unsigned c[1] = {here ? k0 + kk : 0};
      real slope_result_1[Q][V]; EACH_Q load<V>(slope_result_1[q], b_slope_result + (offset_t)v * 4 + c[q]);
      EACH piece[p][j] = here && c[q] + j < K ? slope_result_1[q][j] : (real)0;
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
      right[k][m] = k0 + k < K && slice + m < WIDE ? __ldg(b_parameter_sage__max_sage__max_0_linear_4_weight + (offset_t)(k0 + k) * 5 + slice + m) : (real)0;
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
    real made[Q][V]; EACH made[q][j] = sums[i][j];
    bool less_11_1; less_11_1 = __ldg(b_less_11 + v + 0) != 0;
    real select_46_2[Q][V]; EACH select_46_2[q][j] = less_11_1 ? made[q][j] : ((real)0.0);
    EACH_Q if (own[q]) store<V>(o_select_46 + (offset_t)v * 8 + c[q], select_46_2[q]);
  }
}

// notequal.59: 61204 bytes at least, lines 8, 9 of the program
//   select.49 (edges x 5) = select(winner.47, select.46[far.out], 0.0)
//   slope of message.50 (nodes x 5) = reduce sum.out(select.49)
//   less.51 (nodes x 5) = less(0.0, message.27)
//   select.52 = select(less.51, slope of message.50, 0.0)
//   absolute.56 (nodes x 5) = absolute(select.52)
//   axis.57 (nodes x 1) = axis maximum 0(absolute.56)
//   notequal.59 = notequal(axis.57, 0.0)
//   (8 lanes of 1 columns a row, 4 rows a warp, 8 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
//   (text: cuda/src/row_walk.rs, emit_edge_kernel)
extern "C" __global__ void __launch_bounds__(256, ON_HOPPER(3)) k18_notequal_59(const narrow* __restrict__ b_winner_47, const real* __restrict__ b_select_46, const real* __restrict__ b_message_27, real* __restrict__ o_select_52, narrow* __restrict__ o_notequal_59, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_edge, const unsigned* __restrict__ slot_far, const unsigned hub_items, const unsigned pieces, double* __restrict__ parts_of_hubs, unsigned* ticket, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
  constexpr unsigned C = 5, V = 1, L = 8, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { const unsigned place = (q * L + part) * V; own[q] = place < C; c[q] = own[q] ? place : C - V; }
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
  real message_27_1[Q]; EACH_Q message_27_1[q] = __ldg(b_message_27 + (offset_t)v * 8 + c[q]);
  bool less_51_2[Q]; EACH_Q less_51_2[q] = ((real)0.0) < message_27_1[q];
  real slope_of_message_50_3[Q]; EACH_Q slope_of_message_50_3[q] = 0;
  {
    unsigned at = from;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_0[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
    unsigned held_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_1[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_0[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
      unsigned next_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_1[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      UNROLL_1 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + s < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + s + k < stop;
        unsigned stream_0[B]; UNROLL for (int k = 0; k < B; k++) stream_0[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_1[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        bool winner_47_8[B][Q];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q winner_47_8[k][q] = __ldg(b_winner_47 + c[q] + (offset_t)stream_0[k] * 5) != 0; }
        real select_46_9[B][Q];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q select_46_9[k][q] = __ldg(b_select_46 + c[q] + (offset_t)u[k] * 8); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real select_49_10[Q]; EACH_Q select_49_10[q] = winner_47_8[k][q] ? select_46_9[k][q] : ((real)0.0);
          EACH_Q if (here) slope_of_message_50_3[q] = slope_of_message_50_3[q] + select_49_10[q];
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      UNROLL for (int i = 0; i < J; i++) held_1[i] = next_1[i];
      at = min(stop, at + CHUNK);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, stop - at >= CHUNK)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_1[WARPS * 64];
    EACH_Q { const real own_part = slope_of_message_50_3[q]; slope_of_message_50_3[q] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) slope_of_message_50_3[q] = slope_of_message_50_3[q] + from_lane(own_part, g * L + part); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH_Q told[(warp * L + part) * 1 + q] = slope_of_message_50_3[q]; }
      __syncthreads();
      EACH_Q { slope_of_message_50_3[q] = told[(0 * L + part) * 1 + q]; for (int w = 1; w < WARPS; w++) slope_of_message_50_3[q] = slope_of_message_50_3[q] + told[(w * L + part) * 1 + q]; }
      __syncthreads();
    }
  }
  if (tier == 3) {
    constexpr unsigned SLOTS = 1;
    const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
    double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
    if (writes) {
      double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
      EACH_Q tell(of_piece + (0 + q) * L, slope_of_message_50_3[q]);
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
      EACH_Q slope_of_message_50_3[q] = heard<real>(of_piece + (0 + q) * L);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        EACH_Q slope_of_message_50_3[q] = slope_of_message_50_3[q] + heard<real>(of_piece + (0 + q) * L);
      }
    }
  }
  real select_52_4[Q]; EACH_Q select_52_4[q] = less_51_2[q] ? slope_of_message_50_3[q] : ((real)0.0);
  real absolute_56_5[Q]; EACH_Q absolute_56_5[q] = absolute(select_52_4[q]);
  real axis_57_6;
  axis_57_6 = (real)-INFINITE;
  EACH axis_57_6 = most(axis_57_6, (own[q] ? absolute_56_5[q] : (real)-INFINITE));
  axis_57_6 = most(axis_57_6, across(axis_57_6, 1));
  axis_57_6 = most(axis_57_6, across(axis_57_6, 2));
  axis_57_6 = most(axis_57_6, across(axis_57_6, 4));
  bool notequal_59_7; notequal_59_7 = axis_57_6 != ((real)0.0);
  if (!writes) return;
  EACH if (own[q]) o_select_52[(offset_t)v * 8 + c[q]] = select_52_4[q];
  EACH if (own[q] && c[q] == 0) o_notequal_59[v + 0] = (whole)(notequal_59_7);
}

// gradient.sage_max.sage_max.0.linear.3.bias: 9620 bytes at least, line 8 of the program
//   gradient.sage_max.sage_max.0.linear.3.bias = sum rows(select.52)
// merged into the kernel of gradient.sage_max.sage_max.0.linear.3.weight

// notequal.71: 52960 bytes at least, lines 7, 8, 9, 11 of the program
//   product.54 (nodes x 8) = product(select.52, parameter.sage_max.sage_max.0.linear.3.weight)
//   slope of h.55 (nodes x 8) = add(product.41, product.54)
//   select.60 = select(notequal.59, h.22, 0.0)
//   slope of h.62 (nodes x 8) = dropout 0.5 site 1(slope of h.55)
//   less.63 (nodes x 8) = less(0.0, h.22)
//   slope of h.64 = select(less.63, slope of h.62, 0.0)
//   absolute.68 (nodes x 8) = absolute(slope of h.64)
//   axis.69 (nodes x 1) = axis maximum 0(absolute.68)
//   notequal.71 = notequal(axis.69, 0.0)
//   (1 rows of 4 columns a thread, 2 threads along a row)
//   (text: cuda/src/plain_products.rs, decide_product)
extern "C" __global__ void __launch_bounds__(256, 2) k20_notequal_71(const real* __restrict__ b_parameter_sage__max_sage__max_0_linear_5_weight, const real* __restrict__ b_slope_result, const real* __restrict__ b_select_52, const narrow* __restrict__ b_notequal_59, const real* __restrict__ b_h_22, const unsigned* __restrict__ rows_in_graph, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_select_60, real* __restrict__ o_slope_20_of_20_h_64, narrow* __restrict__ o_notequal_71, const unsigned rows_given, const real* __restrict__ b_parameter_sage__max_sage__max_0_linear_3_weight) {
  after_others();
  constexpr unsigned K = 8, C = 8, WIDE = 8, L = 2, Q = 1, TM = 1, RT = 256 / L, BM = TM * RT, BK = 8, KV = 1, blockThreads = 256;
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
        real select_52_1[Q]; EACH_Q select_52_1[q] = __ldg(b_select_52 + (offset_t)v * 8 + c[q]);
        EACH piece[p][j] = here ? select_52_1[q] : (real)0;
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
      right[k][m] = k0 + k < K && slice + m < WIDE ? (k0 + k < 3 ? __ldg(b_parameter_sage__max_sage__max_0_linear_5_weight + (offset_t)((k0 + k)) * 8 + slice + m) : __ldg(b_parameter_sage__max_sage__max_0_linear_3_weight + (offset_t)((k0 + k - 3)) * 8 + slice + m)) : (real)0;
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
    bool notequal_59_1; notequal_59_1 = __ldg(b_notequal_59 + v + 0) != 0;
    real h_22_2[Q][V]; EACH_Q load<V>(h_22_2[q], b_h_22 + (offset_t)v * 8 + c[q]);
    real select_60_3[Q][V]; EACH select_60_3[q][j] = notequal_59_1 ? h_22_2[q][j] : ((real)0.0);
    bool less_63_4[Q][V]; EACH less_63_4[q][j] = ((real)0.0) < h_22_2[q][j];
    real slope_of_h_55_5[Q][V]; EACH slope_of_h_55_5[q][j] = made[q][j] + nothing[q][j];
    real slope_of_h_62_6[Q][V]; EACH_Q { bool kept_7[V]; UNROLL for (int j = 0; j < V; j++) kept_7[j] = true; if (training) keeps<V>(kept_7, row_in_graph, c[q], clock->epoch, 1u, seed, 32768u); UNROLL for (int j = 0; j < V; j++) slope_of_h_62_6[q][j] = !training ? slope_of_h_55_5[q][j] : kept_7[j] ? slope_of_h_55_5[q][j] * (real)2.0 : (real)0; }
    real slope_of_h_64_8[Q][V]; EACH slope_of_h_64_8[q][j] = less_63_4[q][j] ? slope_of_h_62_6[q][j] : ((real)0.0);
    real absolute_68_9[Q][V]; EACH absolute_68_9[q][j] = absolute(slope_of_h_64_8[q][j]);
    real axis_69_10;
    axis_69_10 = (real)-INFINITE;
    EACH axis_69_10 = most(axis_69_10, absolute_68_9[q][j]);
    axis_69_10 = most(axis_69_10, across(axis_69_10, 1));
    bool notequal_71_11; notequal_71_11 = axis_69_10 != ((real)0.0);
    EACH_Q if (own[q]) store<V>(o_select_60 + (offset_t)v * 8 + c[q], select_60_3[q]);
    EACH_Q if (own[q]) store<V>(o_slope_20_of_20_h_64 + (offset_t)v * 8 + c[q], slope_of_h_64_8[q]);
    EACH if (own[q] && (c[q] + j) == 0) o_notequal_71[v + 0] = (whole)(notequal_71_11);
  }
}

// gradient.sage_max.sage_max.0.linear.3.weight: 19360 bytes at least, line 8 of the program
//   gradient.sage_max.sage_max.0.linear.3.weight = outer(select.52, select.60)
//   (on tensor cores: 32 x 8 columns a warp, 1 of them across the columns, 12 along the rows, 8 rows at a time; 5 steps in flight)
//   (text: cuda/src/outer_products.rs, emit_tiled_outer)
extern "C" __global__ void __launch_bounds__(384, 1) k21_gradient_sage_max_sage_max_0_linear_3_weight(const real* __restrict__ b_select_52, const real* __restrict__ b_select_60, real* __restrict__ scratch, const unsigned rows_given, unsigned* ticket, real* __restrict__ out_0, const unsigned elements_0, real* __restrict__ out_1, const unsigned elements_1) {
  after_others();
  constexpr unsigned X = 8, Z = 5, XV = 4, ZV = 4, RV = 1, GROUPS = 1, TILES = 1, ACROSS = 1, TURNS = 12, AHEAD = 6;
  constexpr unsigned PRODUCTS = 40;
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
        copy_later<16>(to, b_select_60 + (here ? (offset_t)row * 8 + column : 0), here);
      }
      constexpr unsigned PIECES = Z_TILE * 8 / ZV;
      UNROLL for (int i = 0; i < (PIECES + 31) / 32; i++) {
        const unsigned place = i * 32 + lane, r = place / (Z_TILE / ZV), within = place % (Z_TILE / ZV) * ZV, row = coming + r, column = z0 + within;
        if (PIECES % 32 != 0 && place >= PIECES) continue;
        float* const to = stage + GROUPS * 256 + r * Z_TILE + (within / 4 ^ twist(r)) * 4 + within % 4;
        const bool here = row < end && column < Z;
        copy_later<16>(to, b_select_52 + (here ? (offset_t)row * 8 + column : 0), here);
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
    const bool is_told = x0 + x < X && z0 + z < Z;
    const unsigned place = X_FIRST ? (x0 + x) * Z + z0 + z : (z0 + z) * X + x0 + x;
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
  for (unsigned element = threadIdx.x; element < 45u; element += blockDim.x) {
    real sum = 0;
    for (unsigned first = 0; first < parts; first += 16) {
      real several[16];
      UNROLL for (int i = 0; i < 16; i++) several[i] = first + i < parts ? __ldcg(scratch + (offset_t)(first + i) * 45u + element) : (real)0;
      UNROLL for (int i = 0; i < 16; i++) sum += several[i];
    }
    unsigned place = element;
    if (place < elements_0) { out_0[place] = sum; continue; }
    place -= elements_0;
    out_1[place] = sum;
  }
}

// gradient.sage_max.sage_max.0.linear.2.weight: 19392 bytes at least, line 9 of the program
//   gradient.sage_max.sage_max.0.linear.2.weight = outer(slope of h.64, h.1)
// merged into the kernel of gradient.sage_max.sage_max.0.linear.1.weight

// gradient.sage_max.sage_max.0.linear.1.bias: 9632 bytes at least, line 9 of the program
//   gradient.sage_max.sage_max.0.linear.1.bias = sum rows(slope of h.64)
// merged into the kernel of gradient.sage_max.sage_max.0.linear.1.weight

// select.74: 43360 bytes at least, line 9 of the program
//   product.67 (nodes x 5) = product(slope of h.64, parameter.sage_max.sage_max.0.linear.1.weight)
//   select.72 = select(notequal.71, select.13, 0.0)
//   select.74 = select(less.11, product.67, 0.0)
//   (on tensor cores: 16 rows x 8 columns a warp, 2 steps of 32 elements in flight)
//   (text: cuda/src/tensor_core_products.rs, add_merged_products)
extern "C" __global__ void __launch_bounds__(256, 2) k24_select_74(const real* __restrict__ b_parameter_sage__max_sage__max_0_linear_1_weight, const real* __restrict__ b_slope_20_of_20_h_64, const narrow* __restrict__ b_notequal_71, const real* __restrict__ b_select_13, const narrow* __restrict__ b_less_11, real* __restrict__ o_select_72, real* __restrict__ o_select_74, const unsigned rows_given) {
  after_others();
  constexpr unsigned K = 8, C = 8, WIDE = 5, KV = 4, MV = 4, V = 2, L = 4, Q = 1, TILES = 1, STEPS = 1, AHEAD = 2, PARTS = 2, WARPS = 8, TEAM = 1;
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
        copy_later<16>(to, b_slope_20_of_20_h_64 + (here ? (offset_t)row * 8 + column : 0), here);
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
      b[j] = k < K && column < WIDE ? __ldg(b_parameter_sage__max_sage__max_0_linear_1_weight + (offset_t)k * 5 + column) : (real)0;
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
      bool notequal_71_1; notequal_71_1 = __ldg(b_notequal_71 + v + 0) != 0;
      real select_13_2[Q][V]; EACH_Q load<V>(select_13_2[q], b_select_13 + (offset_t)v * 8 + c[q]);
      real select_72_3[Q][V]; EACH select_72_3[q][j] = notequal_71_1 ? select_13_2[q][j] : ((real)0.0);
      bool less_11_4; less_11_4 = __ldg(b_less_11 + v + 0) != 0;
      real select_74_5[Q][V]; EACH select_74_5[q][j] = less_11_4 ? made[q][j] : ((real)0.0);
      EACH_Q if (own[q]) store<V>(o_select_72 + (offset_t)v * 8 + c[q], select_72_3[q]);
      EACH_Q if (own[q]) store<V>(o_select_74 + (offset_t)v * 8 + c[q], select_74_5[q]);
    }
  }
}

// gradient.sage_max.sage_max.0.linear.1.weight: 19360 bytes at least, line 9 of the program
//   gradient.sage_max.sage_max.0.linear.1.weight = outer(slope of h.64, select.72)
//   (also computes gradient.sage_max.sage_max.0.linear.2.weight: the two share a side)
//   (on tensor cores: 32 x 8 columns a warp, 1 of them across the columns, 12 along the rows, 8 rows at a time; 5 steps in flight)
//   (text: cuda/src/outer_products.rs, emit_tiled_outer)
extern "C" __global__ void __launch_bounds__(384, 1) k25_gradient_sage_max_sage_max_0_linear_1_weight(const real* __restrict__ b_slope_20_of_20_h_64, const real* __restrict__ b_select_72, const real* __restrict__ b_h_1, real* __restrict__ scratch, const unsigned rows_given, unsigned* ticket, real* __restrict__ out_0, const unsigned elements_0, real* __restrict__ out_1, const unsigned elements_1, real* __restrict__ out_2, const unsigned elements_2) {
  after_others();
  constexpr unsigned X = 14, Z = 8, XV = 4, ZV = 4, RV = 1, GROUPS = 1, TILES = 1, ACROSS = 1, TURNS = 12, AHEAD = 6;
  constexpr unsigned PRODUCTS = 88;
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
          const bool here = row < end && column < 5;
          copy_later<16>(to, b_select_72 + (here ? (offset_t)row * 8 + column : 0), here);
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
        copy_later<16>(to, b_slope_20_of_20_h_64 + (here ? (offset_t)row * 8 + column : 0), here);
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
    const unsigned own = is_other ? of_x - 8 : of_x, wide = is_other ? 6 : 5;
    const bool is_told = own < wide && of_z < Z;
    const unsigned place = (is_other ? 5 * Z : 0) + (X_FIRST ? own * Z + of_z : of_z * wide + own);
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
  for (unsigned element = threadIdx.x; element < 96u; element += blockDim.x) {
    real sum = 0;
    for (unsigned first = 0; first < parts; first += 16) {
      real several[16];
      UNROLL for (int i = 0; i < 16; i++) several[i] = first + i < parts ? __ldcg(scratch + (offset_t)(first + i) * 96u + element) : (real)0;
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

// select.80: 58804 bytes at least, lines 8, 9 of the program
//   select.77 (edges x 5) = select(winner.75, select.74[far.out], 0.0)
//   slope of message.78 (nodes x 5) = reduce sum.out(select.77)
//   less.79 (nodes x 5) = less(0.0, message.6)
//   select.80 = select(less.79, slope of message.78, 0.0)
//   (8 lanes of 1 columns a row, 4 rows a warp, 8 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
//   (text: cuda/src/row_walk.rs, emit_edge_kernel)
extern "C" __global__ void __launch_bounds__(256, ON_HOPPER(3)) k26_select_80(const narrow* __restrict__ b_winner_75, const real* __restrict__ b_select_74, const real* __restrict__ b_message_6, real* __restrict__ o_select_80, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_edge, const unsigned* __restrict__ slot_far, const unsigned hub_items, const unsigned pieces, double* __restrict__ parts_of_hubs, unsigned* ticket, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
  constexpr unsigned C = 5, V = 1, L = 8, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { const unsigned place = (q * L + part) * V; own[q] = place < C; c[q] = own[q] ? place : C - V; }
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
  real message_6_1[Q]; EACH_Q message_6_1[q] = __ldg(b_message_6 + (offset_t)v * 8 + c[q]);
  bool less_79_2[Q]; EACH_Q less_79_2[q] = ((real)0.0) < message_6_1[q];
  real slope_of_message_78_3[Q]; EACH_Q slope_of_message_78_3[q] = 0;
  {
    unsigned at = from;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_0[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
    unsigned held_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_1[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_0[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
      unsigned next_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_1[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      UNROLL_1 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + s < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + s + k < stop;
        unsigned stream_0[B]; UNROLL for (int k = 0; k < B; k++) stream_0[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_1[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        bool winner_75_5[B][Q];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q winner_75_5[k][q] = __ldg(b_winner_75 + c[q] + (offset_t)stream_0[k] * 5) != 0; }
        real select_74_6[B][Q];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q select_74_6[k][q] = __ldg(b_select_74 + c[q] + (offset_t)u[k] * 8); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real select_77_7[Q]; EACH_Q select_77_7[q] = winner_75_5[k][q] ? select_74_6[k][q] : ((real)0.0);
          EACH_Q if (here) slope_of_message_78_3[q] = slope_of_message_78_3[q] + select_77_7[q];
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      UNROLL for (int i = 0; i < J; i++) held_1[i] = next_1[i];
      at = min(stop, at + CHUNK);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, stop - at >= CHUNK)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_1[WARPS * 64];
    EACH_Q { const real own_part = slope_of_message_78_3[q]; slope_of_message_78_3[q] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) slope_of_message_78_3[q] = slope_of_message_78_3[q] + from_lane(own_part, g * L + part); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH_Q told[(warp * L + part) * 1 + q] = slope_of_message_78_3[q]; }
      __syncthreads();
      EACH_Q { slope_of_message_78_3[q] = told[(0 * L + part) * 1 + q]; for (int w = 1; w < WARPS; w++) slope_of_message_78_3[q] = slope_of_message_78_3[q] + told[(w * L + part) * 1 + q]; }
      __syncthreads();
    }
  }
  if (tier == 3) {
    constexpr unsigned SLOTS = 1;
    const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
    double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
    if (writes) {
      double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
      EACH_Q tell(of_piece + (0 + q) * L, slope_of_message_78_3[q]);
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
      EACH_Q slope_of_message_78_3[q] = heard<real>(of_piece + (0 + q) * L);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        EACH_Q slope_of_message_78_3[q] = slope_of_message_78_3[q] + heard<real>(of_piece + (0 + q) * L);
      }
    }
  }
  real select_80_4[Q]; EACH_Q select_80_4[q] = less_79_2[q] ? slope_of_message_78_3[q] : ((real)0.0);
  if (!writes) return;
  EACH if (own[q]) o_select_80[(offset_t)v * 8 + c[q]] = select_80_4[q];
}

// gradient.sage_max.sage_max.0.linear.0.bias: 9620 bytes at least, line 8 of the program
//   gradient.sage_max.sage_max.0.linear.0.bias = sum rows(select.80)
// merged into the kernel of gradient.sage_max.sage_max.0.linear.0.weight

// gradient.sage_max.sage_max.0.linear.0.weight: 19320 bytes at least, line 8 of the program
//   gradient.sage_max.sage_max.0.linear.0.weight = outer(select.80, h.1)
//   (on tensor cores: 32 x 8 columns a warp, 1 of them across the columns, 12 along the rows, 8 rows at a time; 5 steps in flight)
//   (text: cuda/src/outer_products.rs, emit_tiled_outer)
extern "C" __global__ void __launch_bounds__(384, 1) k28_gradient_sage_max_sage_max_0_linear_0_weight(const real* __restrict__ b_select_80, const real* __restrict__ b_h_1, real* __restrict__ scratch, const unsigned rows_given, unsigned* ticket, real* __restrict__ out_0, const unsigned elements_0, real* __restrict__ out_1, const unsigned elements_1) {
  after_others();
  constexpr unsigned X = 6, Z = 5, XV = 4, ZV = 4, RV = 1, GROUPS = 1, TILES = 1, ACROSS = 1, TURNS = 12, AHEAD = 6;
  constexpr unsigned PRODUCTS = 30;
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
        copy_later<16>(to, b_h_1 + (here ? (offset_t)row * 8 + column : 0), here);
      }
      constexpr unsigned PIECES = Z_TILE * 8 / ZV;
      UNROLL for (int i = 0; i < (PIECES + 31) / 32; i++) {
        const unsigned place = i * 32 + lane, r = place / (Z_TILE / ZV), within = place % (Z_TILE / ZV) * ZV, row = coming + r, column = z0 + within;
        if (PIECES % 32 != 0 && place >= PIECES) continue;
        float* const to = stage + GROUPS * 256 + r * Z_TILE + (within / 4 ^ twist(r)) * 4 + within % 4;
        const bool here = row < end && column < Z;
        copy_later<16>(to, b_select_80 + (here ? (offset_t)row * 8 + column : 0), here);
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
    const bool is_told = x0 + x < X && z0 + z < Z;
    const unsigned place = X_FIRST ? (x0 + x) * Z + z0 + z : (z0 + z) * X + x0 + x;
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
  for (unsigned element = threadIdx.x; element < 35u; element += blockDim.x) {
    real sum = 0;
    for (unsigned first = 0; first < parts; first += 16) {
      real several[16];
      UNROLL for (int i = 0; i < 16; i++) several[i] = first + i < parts ? __ldcg(scratch + (offset_t)(first + i) * 35u + element) : (real)0;
      UNROLL for (int i = 0; i < 16; i++) sum += several[i];
    }
    unsigned place = element;
    if (place < elements_0) { out_0[place] = sum; continue; }
    place -= elements_0;
    out_1[place] = sum;
  }
}

// update.sage_max.sage_max.0.linear.0.weight: 840 bytes at least
//   parameter.sage_max.sage_max.0.linear.0.weight = step(parameter.sage_max.sage_max.0.linear.0.weight, gradient.sage_max.sage_max.0.linear.0.weight)
//   (text: cuda/src/epoch_clock.rs, decide_optimizer)
extern "C" __global__ void __launch_bounds__(256, 1) k29_update_sage_max_sage_max_0_linear_0_weight(real* parameter_0, const real* __restrict__ gradient_0, real* first_0, real* second_0, const double* __restrict__ settings_0, real* parameter_1, const real* __restrict__ gradient_1, real* first_1, real* second_1, const double* __restrict__ settings_1, real* parameter_2, const real* __restrict__ gradient_2, real* first_2, real* second_2, const double* __restrict__ settings_2, real* parameter_3, const real* __restrict__ gradient_3, real* first_3, real* second_3, const double* __restrict__ settings_3, real* parameter_4, const real* __restrict__ gradient_4, real* first_4, real* second_4, const double* __restrict__ settings_4, real* parameter_5, const real* __restrict__ gradient_5, real* first_5, real* second_5, const double* __restrict__ settings_5, real* parameter_6, const real* __restrict__ gradient_6, real* first_6, real* second_6, const double* __restrict__ settings_6, real* parameter_7, const real* __restrict__ gradient_7, real* first_7, real* second_7, const double* __restrict__ settings_7, real* parameter_8, const real* __restrict__ gradient_8, real* first_8, real* second_8, const double* __restrict__ settings_8, real* parameter_9, const real* __restrict__ gradient_9, real* first_9, real* second_9, const double* __restrict__ settings_9, const Clock* __restrict__ clock) {
  real* const parameter = blockIdx.x < 1u ? parameter_0 : blockIdx.x < 2u ? parameter_1 : blockIdx.x < 3u ? parameter_2 : blockIdx.x < 4u ? parameter_3 : blockIdx.x < 5u ? parameter_4 : blockIdx.x < 6u ? parameter_5 : blockIdx.x < 7u ? parameter_6 : blockIdx.x < 8u ? parameter_7 : blockIdx.x < 9u ? parameter_8 : parameter_9;
  const real* const gradient = blockIdx.x < 1u ? gradient_0 : blockIdx.x < 2u ? gradient_1 : blockIdx.x < 3u ? gradient_2 : blockIdx.x < 4u ? gradient_3 : blockIdx.x < 5u ? gradient_4 : blockIdx.x < 6u ? gradient_5 : blockIdx.x < 7u ? gradient_6 : blockIdx.x < 8u ? gradient_7 : blockIdx.x < 9u ? gradient_8 : gradient_9;
  real* const first = blockIdx.x < 1u ? first_0 : blockIdx.x < 2u ? first_1 : blockIdx.x < 3u ? first_2 : blockIdx.x < 4u ? first_3 : blockIdx.x < 5u ? first_4 : blockIdx.x < 6u ? first_5 : blockIdx.x < 7u ? first_6 : blockIdx.x < 8u ? first_7 : blockIdx.x < 9u ? first_8 : first_9;
  real* const second = blockIdx.x < 1u ? second_0 : blockIdx.x < 2u ? second_1 : blockIdx.x < 3u ? second_2 : blockIdx.x < 4u ? second_3 : blockIdx.x < 5u ? second_4 : blockIdx.x < 6u ? second_5 : blockIdx.x < 7u ? second_6 : blockIdx.x < 8u ? second_7 : blockIdx.x < 9u ? second_8 : second_9;
  const double* const settings = blockIdx.x < 1u ? settings_0 : blockIdx.x < 2u ? settings_1 : blockIdx.x < 3u ? settings_2 : blockIdx.x < 4u ? settings_3 : blockIdx.x < 5u ? settings_4 : blockIdx.x < 6u ? settings_5 : blockIdx.x < 7u ? settings_6 : blockIdx.x < 8u ? settings_7 : blockIdx.x < 9u ? settings_8 : settings_9;
  const unsigned i = (blockIdx.x - (blockIdx.x < 1u ? 0u : blockIdx.x < 2u ? 1u : blockIdx.x < 3u ? 2u : blockIdx.x < 4u ? 3u : blockIdx.x < 5u ? 4u : blockIdx.x < 6u ? 5u : blockIdx.x < 7u ? 6u : blockIdx.x < 8u ? 7u : blockIdx.x < 9u ? 8u : 9u)) * blockDim.x + threadIdx.x, elements = blockIdx.x < 1u ? 30u : blockIdx.x < 2u ? 5u : blockIdx.x < 3u ? 40u : blockIdx.x < 4u ? 8u : blockIdx.x < 5u ? 48u : blockIdx.x < 6u ? 40u : blockIdx.x < 7u ? 5u : blockIdx.x < 8u ? 15u : blockIdx.x < 9u ? 3u : 24u;
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

// update.sage_max.sage_max.0.linear.0.bias: 140 bytes at least
//   parameter.sage_max.sage_max.0.linear.0.bias = step(parameter.sage_max.sage_max.0.linear.0.bias, gradient.sage_max.sage_max.0.linear.0.bias)
// merged into the kernel of sage_max.sage_max.0.linear.0.weight

// update.sage_max.sage_max.0.linear.1.weight: 1120 bytes at least
//   parameter.sage_max.sage_max.0.linear.1.weight = step(parameter.sage_max.sage_max.0.linear.1.weight, gradient.sage_max.sage_max.0.linear.1.weight)
// merged into the kernel of sage_max.sage_max.0.linear.0.weight

// update.sage_max.sage_max.0.linear.1.bias: 224 bytes at least
//   parameter.sage_max.sage_max.0.linear.1.bias = step(parameter.sage_max.sage_max.0.linear.1.bias, gradient.sage_max.sage_max.0.linear.1.bias)
// merged into the kernel of sage_max.sage_max.0.linear.0.weight

// update.sage_max.sage_max.0.linear.2.weight: 1344 bytes at least
//   parameter.sage_max.sage_max.0.linear.2.weight = step(parameter.sage_max.sage_max.0.linear.2.weight, gradient.sage_max.sage_max.0.linear.2.weight)
// merged into the kernel of sage_max.sage_max.0.linear.0.weight

// update.sage_max.sage_max.0.linear.3.weight: 1120 bytes at least
//   parameter.sage_max.sage_max.0.linear.3.weight = step(parameter.sage_max.sage_max.0.linear.3.weight, gradient.sage_max.sage_max.0.linear.3.weight)
// merged into the kernel of sage_max.sage_max.0.linear.0.weight

// update.sage_max.sage_max.0.linear.3.bias: 140 bytes at least
//   parameter.sage_max.sage_max.0.linear.3.bias = step(parameter.sage_max.sage_max.0.linear.3.bias, gradient.sage_max.sage_max.0.linear.3.bias)
// merged into the kernel of sage_max.sage_max.0.linear.0.weight

// update.sage_max.sage_max.0.linear.4.weight: 420 bytes at least
//   parameter.sage_max.sage_max.0.linear.4.weight = step(parameter.sage_max.sage_max.0.linear.4.weight, gradient.sage_max.sage_max.0.linear.4.weight)
// merged into the kernel of sage_max.sage_max.0.linear.0.weight

// update.sage_max.sage_max.0.linear.4.bias: 84 bytes at least
//   parameter.sage_max.sage_max.0.linear.4.bias = step(parameter.sage_max.sage_max.0.linear.4.bias, gradient.sage_max.sage_max.0.linear.4.bias)
// merged into the kernel of sage_max.sage_max.0.linear.0.weight

// update.sage_max.sage_max.0.linear.5.weight: 672 bytes at least
//   parameter.sage_max.sage_max.0.linear.5.weight = step(parameter.sage_max.sage_max.0.linear.5.weight, gradient.sage_max.sage_max.0.linear.5.weight)
// merged into the kernel of sage_max.sage_max.0.linear.0.weight

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
extern "C" __global__ void watch_0(Watch* __restrict__ watches, Clock* clock, const unsigned* __restrict__ counts, const unsigned tells, const real* __restrict__ from_0, real* __restrict__ to_0, const real* __restrict__ from_1, real* __restrict__ to_1, const real* __restrict__ from_2, real* __restrict__ to_2, const real* __restrict__ from_3, real* __restrict__ to_3, const real* __restrict__ from_4, real* __restrict__ to_4, const real* __restrict__ from_5, real* __restrict__ to_5, const real* __restrict__ from_6, real* __restrict__ to_6, const real* __restrict__ from_7, real* __restrict__ to_7, const real* __restrict__ from_8, real* __restrict__ to_8, const real* __restrict__ from_9, real* __restrict__ to_9) {
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
  for (unsigned i = first; i < 30u; i += all) to_0[i] = from_0[i];
  for (unsigned i = first; i < 5u; i += all) to_1[i] = from_1[i];
  for (unsigned i = first; i < 40u; i += all) to_2[i] = from_2[i];
  for (unsigned i = first; i < 8u; i += all) to_3[i] = from_3[i];
  for (unsigned i = first; i < 48u; i += all) to_4[i] = from_4[i];
  for (unsigned i = first; i < 40u; i += all) to_5[i] = from_5[i];
  for (unsigned i = first; i < 5u; i += all) to_6[i] = from_6[i];
  for (unsigned i = first; i < 15u; i += all) to_7[i] = from_7[i];
  for (unsigned i = first; i < 3u; i += all) to_8[i] = from_8[i];
  for (unsigned i = first; i < 24u; i += all) to_9[i] = from_9[i];
}
