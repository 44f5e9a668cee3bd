// dropout.1: 19200 bytes at least, line 3 of the program
//   dropout.1 = dropout 0.5 site 0(x)
//   (2 lanes of 4 columns a row, 128 rows a block)
//   (text: cuda/src/row_walk.rs, emit_row_kernel)
extern "C" __global__ void __launch_bounds__(256, 2) k0_dropout_1(const real* __restrict__ b_x, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, const unsigned* __restrict__ rows_in_graph, real* __restrict__ o_dropout_1, const unsigned rows) {
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
  real dropout_1_2[Q][V]; EACH_Q { bool kept_3[V]; UNROLL for (int j = 0; j < V; j++) kept_3[j] = true; if (training) keeps<V>(kept_3, row_in_graph, c[q], clock->epoch, 0u, seed, 32768u); UNROLL for (int j = 0; j < V; j++) dropout_1_2[q][j] = !training ? x_1[q][j] : kept_3[j] ? x_1[q][j] * (real)2.0 : (real)0; }
  if (!live) return;
  EACH_Q if (own[q]) store<V>(o_dropout_1 + (offset_t)v * 8 + c[q], dropout_1_2[q]);
}

// add.5: 29248 bytes at least, line 8 of the program
//   product.3 (nodes x 16) = product transposed(dropout.1, parameter.graph_transformer.attend.0.linear.0.weight)
//   add.5 = add(product.3, parameter.graph_transformer.attend.0.linear.0.bias)
//   (1 rows of 4 columns a thread, 4 threads along a row)
//   (text: cuda/src/plain_products.rs, decide_product)
extern "C" __global__ void __launch_bounds__(256, 2) k1_add_5(const real* __restrict__ b_parameter_graph__transformer_attend_0_linear_0_weight, const real* __restrict__ b_dropout_1, const real* __restrict__ b_parameter_graph__transformer_attend_0_linear_0_bias, real* __restrict__ o_add_5, const unsigned rows_given) {
  after_others();
  constexpr unsigned K = 6, C = 16, WIDE = 16, L = 4, Q = 1, TM = 1, RT = 256 / L, BM = TM * RT, BK = 8, KV = 4, blockThreads = 256;
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
      real dropout_1_1[Q][V]; EACH_Q load<V>(dropout_1_1[q], b_dropout_1 + (offset_t)v * 8 + c[q]);
      EACH piece[p][j] = here && c[q] + j < K ? dropout_1_1[q][j] : (real)0;
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
      right[k][m] = k0 + k < K && slice + m < WIDE ? __ldg(b_parameter_graph__transformer_attend_0_linear_0_weight + (offset_t)(slice + m) * 6 + k0 + k) : (real)0;
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
    real parameter_graph_transformer_attend_0_linear_0_bias_1[Q][V]; EACH_Q load<V>(parameter_graph_transformer_attend_0_linear_0_bias_1[q], b_parameter_graph__transformer_attend_0_linear_0_bias + c[q]);
    real add_5_2[Q][V]; EACH add_5_2[q][j] = made[q][j] + parameter_graph_transformer_attend_0_linear_0_bias_1[q][j];
    EACH_Q if (own[q]) store<V>(o_add_5 + (offset_t)v * 16 + c[q], add_5_2[q]);
  }
}

// add.10: 29248 bytes at least, line 8 of the program
//   product.8 (nodes x 16) = product transposed(dropout.1, parameter.graph_transformer.attend.0.linear.1.weight)
//   add.10 = add(product.8, parameter.graph_transformer.attend.0.linear.1.bias)
//   (1 rows of 4 columns a thread, 4 threads along a row)
// as k1_add_5

// add.15: 29248 bytes at least, line 8 of the program
//   product.13 (nodes x 16) = product transposed(dropout.1, parameter.graph_transformer.attend.0.linear.2.weight)
//   add.15 = add(product.13, parameter.graph_transformer.attend.0.linear.2.bias)
//   (1 rows of 4 columns a thread, 4 threads along a row)
// as k1_add_5

// divide.40: 123604 bytes at least, lines 15, 16, 17 of the program
//   axis.21 (edges x 2) = axis sum 1(add.5[near.in] * add.10[far.in])
//   divide.24 (edges x 2) = divide(axis.21, 2.8284271247461903)
//   reduce.25 (nodes x 2) = reduce maximum.in(divide.24)
//   equal.28 (nodes x 2) = equal(reduce.25, -inf)
//   select.29 = select(equal.28, 0.0, reduce.25)
//   subtract.31 (edges x 2) = subtract(divide.24, select.29[near.in])
//   exp.32 (edges x 2) = exp(subtract.31)
//   reduce.33 (nodes x 2) = reduce sum.in(exp.32)
//   equal.35 (nodes x 2) = equal(reduce.33, 0.0)
//   select.36 = select(equal.35, 1.0, reduce.33)
//   dropout.37 (edges x 2) = dropout 0.3 site 1(exp.32)
//   reduce.39 (nodes x 16) = reduce sum.in(dropout.37 * add.15[far.in])
//   divide.40 = divide(reduce.39, select.36)
//   (4 lanes of 4 columns a row, 8 rows a warp, 4 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
//   (text: cuda/src/row_walk.rs, emit_edge_kernel)
extern "C" __global__ void __launch_bounds__(256, ON_HOPPER(3)) k4_divide_40(const real* __restrict__ b_add_5, const real* __restrict__ b_add_10, const real* __restrict__ b_add_15, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_select_29, real* __restrict__ o_select_36, real* __restrict__ o_divide_40, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned* __restrict__ slot_edge, const unsigned hub_items, const unsigned pieces, double* __restrict__ parts_of_hubs, unsigned* ticket, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
  constexpr unsigned C = 16, V = 4, L = 4, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
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
  unsigned from = begin, stop = end;
  if (tier > 0) {
    const unsigned share = (end - begin + shares * B - 1) / (shares * B) * B;
    from = min(end, begin + mine * share);
    stop = min(end, from + share);
  }
  const bool writes = live && (tier == 0 || (group == 0 && (tier == 1 || warp == 0)));
  after_others();
  real add_5_9[Q][V]; EACH_Q load<V>(add_5_9[q], b_add_5 + (offset_t)v * 16 + c[q]);
  real reduce_25_1[Q]; EACH_Q reduce_25_1[q] = (real)-INFINITE;
  real reduce_33_4[Q]; EACH_Q reduce_33_4[q] = 0;
  real reduce_39_7[Q][V]; EACH reduce_39_7[q][j] = 0;
  {
    const real* place_10 = b_add_10 + c[0]; keep(place_10);
    const real* place_21 = b_add_15 + c[0]; keep(place_21);
    unsigned at = from;
    unsigned behind = 0;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    unsigned held_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      unsigned next_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
      unsigned held_2[J]; UNROLL for (int i = 0; i < J; i++) held_2[i] = training ? kept_columns<2>(held_1[i], clock->epoch, 1u, seed, 19661u) : 0;
      UNROLL_1 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + s < stop)) break;
        const bool begun = behind + s > 0;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + s + k < stop;
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        unsigned stream_2[B]; UNROLL for (int k = 0; k < B; k++) stream_2[k] = __shfl_sync(FULL, held_2[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        real add_10_11[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q load<V>(add_10_11[k][q], place_10 + (offset_t)u[k] * 16); }
        real add_15_22[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q load<V>(add_15_22[k][q], place_21 + (offset_t)u[k] * 16); }
        real score_15[B][Q];
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real product_12[Q][V]; EACH product_12[q][j] = add_5_9[q][j] * add_10_11[k][q][j];
          real axis_21_13[Q];
          EACH_Q axis_21_13[q] = 0;
          EACH axis_21_13[q] = axis_21_13[q] + product_12[q][j];
          EACH_Q axis_21_13[q] = axis_21_13[q] + across(axis_21_13[q], 1);
          real divide_24_14[Q]; EACH_Q divide_24_14[q] = axis_21_13[q] / ((real)2.8284271247461903);
          EACH_Q score_15[k][q] = here ? divide_24_14[q] : (real)-INFINITE;
        }
        real before_16[Q]; EACH_Q before_16[q] = reduce_25_1[q];
        UNROLL for (int k = 0; k < B; k++) EACH_Q reduce_25_1[q] = most(reduce_25_1[q], score_15[k][q]);
        real scale_17[Q]; if (begun) EACH_Q scale_17[q] = grown(before_16[q], reduce_25_1[q]);
        real shift_18[Q]; EACH_Q shift_18[q] = reduce_25_1[q] == (real)-INFINITE ? (real)0 : reduce_25_1[q];
        if (begun) EACH_Q reduce_33_4[q] = reduce_33_4[q] * scale_17[q];
        if (begun) EACH reduce_39_7[q][j] = reduce_39_7[q][j] * scale_17[q];
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real exp_32_19[Q]; EACH_Q exp_32_19[q] = exponential_of_share(score_15[k][q] - shift_18[q]);
          EACH_Q if (here) reduce_33_4[q] = reduce_33_4[q] + exp_32_19[q];
          real dropout_37_20[Q]; EACH_Q dropout_37_20[q] = !training ? exp_32_19[q] : stream_2[k] >> (c[q] / 8u) & 1 ? exp_32_19[q] * (real)1.4285776566757493 : (real)0;
          real product_23[Q][V]; EACH product_23[q][j] = dropout_37_20[q] * add_15_22[k][q][j];
          EACH if (here) reduce_39_7[q][j] = reduce_39_7[q][j] + product_23[q][j];
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      UNROLL for (int i = 0; i < J; i++) held_1[i] = next_1[i];
      behind += CHUNK;
      at = min(stop, at + CHUNK);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, stop - at >= CHUNK)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_1[WARPS * 128];
    real alone_reduce_25_1[Q]; EACH_Q alone_reduce_25_1[q] = reduce_25_1[q];
    EACH_Q { const real own_part = reduce_25_1[q]; reduce_25_1[q] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_25_1[q] = most(reduce_25_1[q], from_lane(own_part, g * L + part)); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH_Q told[(warp * L + part) * 1 + q] = reduce_25_1[q]; }
      __syncthreads();
      EACH_Q { reduce_25_1[q] = told[(0 * L + part) * 1 + q]; for (int w = 1; w < WARPS; w++) reduce_25_1[q] = most(reduce_25_1[q], told[(w * L + part) * 1 + q]); }
      __syncthreads();
    }
    EACH_Q alone_reduce_25_1[q] = grown(alone_reduce_25_1[q], reduce_25_1[q]);
    EACH_Q reduce_33_4[q] = reduce_33_4[q] * alone_reduce_25_1[q];
    EACH_Q { const real own_part = reduce_33_4[q]; reduce_33_4[q] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_33_4[q] = reduce_33_4[q] + from_lane(own_part, g * L + part); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH_Q told[(warp * L + part) * 1 + q] = reduce_33_4[q]; }
      __syncthreads();
      EACH_Q { reduce_33_4[q] = told[(0 * L + part) * 1 + q]; for (int w = 1; w < WARPS; w++) reduce_33_4[q] = reduce_33_4[q] + told[(w * L + part) * 1 + q]; }
      __syncthreads();
    }
    EACH reduce_39_7[q][j] = reduce_39_7[q][j] * alone_reduce_25_1[q];
    EACH { const real own_part = reduce_39_7[q][j]; reduce_39_7[q][j] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_39_7[q][j] = reduce_39_7[q][j] + from_lane(own_part, g * L + part); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = reduce_39_7[q][j]; }
      __syncthreads();
      EACH { reduce_39_7[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) reduce_39_7[q][j] = reduce_39_7[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
  }
  if (tier == 3) {
    constexpr unsigned SLOTS = 6;
    const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
    double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
    if (writes) {
      double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
      EACH_Q tell(of_piece + (0 + q) * L, reduce_25_1[q]);EACH_Q tell(of_piece + (1 + q) * L, reduce_33_4[q]);EACH tell(of_piece + (2 + q * V + j) * L, reduce_39_7[q][j]);
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
      EACH_Q reduce_25_1[q] = heard<real>(of_piece + (0 + q) * L);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        EACH_Q reduce_25_1[q] = most(reduce_25_1[q], heard<real>(of_piece + (0 + q) * L));
      }
    }
    {
      const double* of_piece = of_item;
      EACH_Q reduce_33_4[q] = heard<real>(of_piece + (1 + q) * L) * grown(heard<real>(of_piece + (0 + q) * L), reduce_25_1[q]);EACH reduce_39_7[q][j] = heard<real>(of_piece + (2 + q * V + j) * L) * grown(heard<real>(of_piece + (0 + q) * L), reduce_25_1[q]);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        EACH_Q reduce_33_4[q] = reduce_33_4[q] + heard<real>(of_piece + (1 + q) * L) * grown(heard<real>(of_piece + (0 + q) * L), reduce_25_1[q]);EACH reduce_39_7[q][j] = reduce_39_7[q][j] + heard<real>(of_piece + (2 + q * V + j) * L) * grown(heard<real>(of_piece + (0 + q) * L), reduce_25_1[q]);
      }
    }
  }
  bool equal_28_2[Q]; EACH_Q equal_28_2[q] = reduce_25_1[q] == ((real)-INFINITE);
  real select_29_3[Q]; EACH_Q select_29_3[q] = equal_28_2[q] ? ((real)0.0) : reduce_25_1[q];
  bool equal_35_5[Q]; EACH_Q equal_35_5[q] = reduce_33_4[q] == ((real)0.0);
  real select_36_6[Q]; EACH_Q select_36_6[q] = equal_35_5[q] ? ((real)1.0) : reduce_33_4[q];
  real divide_40_8[Q][V]; EACH_Q divide(divide_40_8[q], reduce_39_7[q], select_36_6[q]);
  if (!writes) return;
  EACH if (own[q] && (c[q] + j) % 8u == 0) o_select_29[(offset_t)v * 2 + (c[q] / 8u)] = select_29_3[q];
  EACH if (own[q] && (c[q] + j) % 8u == 0) o_select_36[(offset_t)v * 2 + (c[q] / 8u)] = select_36_6[q];
  EACH_Q if (own[q]) store<V>(o_divide_40 + (offset_t)v * 16 + c[q], divide_40_8[q]);
}

// dropout.48: 48448 bytes at least, lines 3, 4, 17 of the program
//   product.43 (nodes x 16) = product transposed(dropout.1, parameter.graph_transformer.attend.0.linear.3.weight)
//   add.45 (nodes x 16) = add(product.43, parameter.graph_transformer.attend.0.linear.3.bias)
//   add.46 (nodes x 16) = add(divide.40, add.45)
//   h.47 (nodes x 16) = relu(add.46)
//   dropout.48 = dropout 0.5 site 2(h.47)
//   (1 rows of 4 columns a thread, 4 threads along a row)
//   (text: cuda/src/plain_products.rs, decide_product)
extern "C" __global__ void __launch_bounds__(256, 2) k5_dropout_48(const real* __restrict__ b_parameter_graph__transformer_attend_0_linear_3_weight, const real* __restrict__ b_dropout_1, const real* __restrict__ b_parameter_graph__transformer_attend_0_linear_3_bias, const real* __restrict__ b_divide_40, const unsigned* __restrict__ rows_in_graph, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_dropout_48, const unsigned rows_given) {
  after_others();
  constexpr unsigned K = 6, C = 16, WIDE = 16, L = 4, Q = 1, TM = 1, RT = 256 / L, BM = TM * RT, BK = 8, KV = 4, blockThreads = 256;
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
      real dropout_1_1[Q][V]; EACH_Q load<V>(dropout_1_1[q], b_dropout_1 + (offset_t)v * 8 + c[q]);
      EACH piece[p][j] = here && c[q] + j < K ? dropout_1_1[q][j] : (real)0;
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
      right[k][m] = k0 + k < K && slice + m < WIDE ? __ldg(b_parameter_graph__transformer_attend_0_linear_3_weight + (offset_t)(slice + m) * 6 + k0 + k) : (real)0;
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
    const unsigned row_in_graph = rows_in_graph ? __ldg(rows_in_graph + v) : v;
    real divide_40_1[Q][V]; EACH_Q load<V>(divide_40_1[q], b_divide_40 + (offset_t)v * 16 + c[q]);
    real parameter_graph_transformer_attend_0_linear_3_bias_2[Q][V]; EACH_Q load<V>(parameter_graph_transformer_attend_0_linear_3_bias_2[q], b_parameter_graph__transformer_attend_0_linear_3_bias + c[q]);
    real add_45_3[Q][V]; EACH add_45_3[q][j] = made[q][j] + parameter_graph_transformer_attend_0_linear_3_bias_2[q][j];
    real add_46_4[Q][V]; EACH add_46_4[q][j] = divide_40_1[q][j] + add_45_3[q][j];
    real h_47_5[Q][V]; EACH h_47_5[q][j] = relu(add_46_4[q][j]);
    real dropout_48_6[Q][V]; EACH_Q { bool kept_7[V]; UNROLL for (int j = 0; j < V; j++) kept_7[j] = true; if (training) keeps<V>(kept_7, row_in_graph, c[q], clock->epoch, 2u, seed, 32768u); UNROLL for (int j = 0; j < V; j++) dropout_48_6[q][j] = !training ? h_47_5[q][j] : kept_7[j] ? h_47_5[q][j] * (real)2.0 : (real)0; }
    EACH_Q if (own[q]) store<V>(o_dropout_48 + (offset_t)v * 16 + c[q], dropout_48_6[q]);
  }
}

// add.52: 24204 bytes at least, line 8 of the program
//   product.50 (nodes x 3) = product transposed(dropout.48, parameter.graph_transformer.attend.1.linear.0.weight)
//   add.52 = add(product.50, parameter.graph_transformer.attend.1.linear.0.bias)
//   (on tensor cores: 16 rows x 8 columns a warp, 2 steps of 32 elements in flight)
//   (text: cuda/src/tensor_core_products.rs, add_merged_products)
extern "C" __global__ void __launch_bounds__(256, 2) k6_add_52(const real* __restrict__ b_parameter_graph__transformer_attend_1_linear_0_weight, const real* __restrict__ b_dropout_48, const real* __restrict__ b_parameter_graph__transformer_attend_1_linear_0_bias, real* __restrict__ o_add_52, const unsigned rows_given) {
  after_others();
  constexpr unsigned K = 16, C = 4, WIDE = 3, KV = 4, MV = 4, V = 2, L = 4, Q = 1, TILES = 1, STEPS = 1, AHEAD = 2, PARTS = 2, WARPS = 8, TEAM = 1;
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
        copy_later<16>(to, b_dropout_48 + (here ? (offset_t)row * 16 + column : 0), here);
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
      b[j] = k < K && column < WIDE ? __ldg(b_parameter_graph__transformer_attend_1_linear_0_weight + (offset_t)column * 16 + k) : (real)0;
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
      real parameter_graph_transformer_attend_1_linear_0_bias_1[Q][V]; EACH_Q load<V>(parameter_graph_transformer_attend_1_linear_0_bias_1[q], b_parameter_graph__transformer_attend_1_linear_0_bias + c[q]);
      real add_52_2[Q][V]; EACH add_52_2[q][j] = made[q][j] + parameter_graph_transformer_attend_1_linear_0_bias_1[q][j];
      EACH_Q if (own[q]) store<V>(o_add_52 + (offset_t)v * 4 + c[q], add_52_2[q]);
    }
  }
}

// add.57: 24204 bytes at least, line 8 of the program
//   product.55 (nodes x 3) = product transposed(dropout.48, parameter.graph_transformer.attend.1.linear.1.weight)
//   add.57 = add(product.55, parameter.graph_transformer.attend.1.linear.1.bias)
//   (on tensor cores: 16 rows x 8 columns a warp, 2 steps of 32 elements in flight)
// as k6_add_52

// add.62: 24204 bytes at least, line 8 of the program
//   product.60 (nodes x 3) = product transposed(dropout.48, parameter.graph_transformer.attend.1.linear.2.weight)
//   add.62 = add(product.60, parameter.graph_transformer.attend.1.linear.2.bias)
//   (on tensor cores: 16 rows x 8 columns a warp, 2 steps of 32 elements in flight)
// as k6_add_52

// divide.84: 30004 bytes at least, lines 15, 16, 17 of the program
//   axis.68 (edges x 1) = axis sum 1(add.52[near.in] * add.57[far.in])
//   divide.71 (edges x 1) = divide(axis.68, 1.7320508075688772)
//   reduce.72 (nodes x 1) = reduce maximum.in(divide.71)
//   equal.73 (nodes x 1) = equal(reduce.72, -inf)
//   select.74 = select(equal.73, 0.0, reduce.72)
//   subtract.76 (edges x 1) = subtract(divide.71, select.74[near.in])
//   exp.77 (edges x 1) = exp(subtract.76)
//   reduce.78 (nodes x 1) = reduce sum.in(exp.77)
//   equal.79 (nodes x 1) = equal(reduce.78, 0.0)
//   select.80 = select(equal.79, 1.0, reduce.78)
//   dropout.81 (edges x 1) = dropout 0.3 site 3(exp.77)
//   reduce.83 (nodes x 3) = reduce sum.in(dropout.81 * add.62[far.in])
//   divide.84 = divide(reduce.83, select.80)
//   (1 lanes of 4 columns a row, 32 rows a warp, 4 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
//   (text: cuda/src/row_walk.rs, emit_edge_kernel)
extern "C" __global__ void __launch_bounds__(256, 2) k9_divide_84(const real* __restrict__ b_add_52, const real* __restrict__ b_add_57, const real* __restrict__ b_add_62, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_select_74, real* __restrict__ o_select_80, real* __restrict__ o_divide_84, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned* __restrict__ slot_edge, const unsigned hub_items, const unsigned pieces, double* __restrict__ parts_of_hubs, unsigned* ticket, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
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
  real add_52_9[Q][V]; EACH_Q load<V>(add_52_9[q], b_add_52 + (offset_t)v * 4 + c[q]);
  real reduce_72_1; reduce_72_1 = (real)-INFINITE;
  real reduce_78_4; reduce_78_4 = 0;
  real reduce_83_7[Q][V]; EACH reduce_83_7[q][j] = 0;
  {
    const real* place_10 = b_add_57 + c[0]; keep(place_10);
    const real* place_21 = b_add_62 + c[0]; keep(place_21);
    unsigned at = from;
    unsigned behind = 0;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * step; held_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    unsigned held_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * step; held_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + (CHUNK + i) * step; next_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      unsigned next_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + (CHUNK + i) * step; next_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
      unsigned held_2[J]; UNROLL for (int i = 0; i < J; i++) held_2[i] = training ? kept_columns<1>(held_1[i], clock->epoch, 3u, seed, 19661u) : 0;
      UNROLL_1 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + (s) * step < stop)) break;
        const bool begun = behind + s > 0;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + (s + k) * step < stop;
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        unsigned stream_2[B]; UNROLL for (int k = 0; k < B; k++) stream_2[k] = __shfl_sync(FULL, held_2[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        real add_57_11[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q load<V>(add_57_11[k][q], place_10 + (offset_t)u[k] * 4); }
        real add_62_22[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q load<V>(add_62_22[k][q], place_21 + (offset_t)u[k] * 4); }
        real score_15[B];
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real product_12[Q][V]; EACH product_12[q][j] = add_52_9[q][j] * add_57_11[k][q][j];
          real axis_68_13;
          axis_68_13 = 0;
          EACH axis_68_13 = axis_68_13 + (own[q] && c[q] + j < 3u ? product_12[q][j] : 0);
          real divide_71_14; divide_71_14 = axis_68_13 / ((real)1.7320508075688772);
          score_15[k] = here ? divide_71_14 : (real)-INFINITE;
        }
        real before_16; before_16 = reduce_72_1;
        UNROLL for (int k = 0; k < B; k++) reduce_72_1 = most(reduce_72_1, score_15[k]);
        real scale_17; if (begun) scale_17 = grown(before_16, reduce_72_1);
        real shift_18; shift_18 = reduce_72_1 == (real)-INFINITE ? (real)0 : reduce_72_1;
        if (begun) reduce_78_4 = reduce_78_4 * scale_17;
        if (begun) EACH reduce_83_7[q][j] = reduce_83_7[q][j] * scale_17;
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real exp_77_19; exp_77_19 = exponential_of_share(score_15[k] - shift_18);
          if (here) reduce_78_4 = reduce_78_4 + exp_77_19;
          real dropout_81_20; dropout_81_20 = !training ? exp_77_19 : stream_2[k] >> 0 & 1 ? exp_77_19 * (real)1.4285776566757493 : (real)0;
          real product_23[Q][V]; EACH product_23[q][j] = dropout_81_20 * add_62_22[k][q][j];
          EACH if (here) reduce_83_7[q][j] = reduce_83_7[q][j] + product_23[q][j];
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      UNROLL for (int i = 0; i < J; i++) held_1[i] = next_1[i];
      behind += CHUNK;
      at = min(stop, at + (CHUNK) * step);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, at + (CHUNK - 1) * step < stop)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_1[WARPS * 32];
    real alone_reduce_72_1; alone_reduce_72_1 = reduce_72_1;
    UNROLL for (int apart = 1; apart < 32; apart *= 2) { const real own_part = reduce_72_1; reduce_72_1 = most(reduce_72_1, from_lane(own_part, lane ^ apart)); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { told[(warp * L + part) * 1 + 0] = reduce_72_1; }
      __syncthreads();
      { reduce_72_1 = told[(0 * L + part) * 1 + 0]; for (int w = 1; w < WARPS; w++) reduce_72_1 = most(reduce_72_1, told[(w * L + part) * 1 + 0]); }
      __syncthreads();
    }
    alone_reduce_72_1 = grown(alone_reduce_72_1, reduce_72_1);
    reduce_78_4 = reduce_78_4 * alone_reduce_72_1;
    UNROLL for (int apart = 1; apart < 32; apart *= 2) { const real own_part = reduce_78_4; reduce_78_4 = reduce_78_4 + from_lane(own_part, lane ^ apart); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { told[(warp * L + part) * 1 + 0] = reduce_78_4; }
      __syncthreads();
      { reduce_78_4 = told[(0 * L + part) * 1 + 0]; for (int w = 1; w < WARPS; w++) reduce_78_4 = reduce_78_4 + told[(w * L + part) * 1 + 0]; }
      __syncthreads();
    }
    EACH reduce_83_7[q][j] = reduce_83_7[q][j] * alone_reduce_72_1;
    EACH UNROLL for (int apart = 1; apart < 32; apart *= 2) { const real own_part = reduce_83_7[q][j]; reduce_83_7[q][j] = reduce_83_7[q][j] + from_lane(own_part, lane ^ apart); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = reduce_83_7[q][j]; }
      __syncthreads();
      EACH { reduce_83_7[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) reduce_83_7[q][j] = reduce_83_7[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
  }
  if (tier == 3) {
    constexpr unsigned SLOTS = 6;
    const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
    double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
    if (writes) {
      double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
      tell(of_piece + (0 + 0) * L, reduce_72_1);tell(of_piece + (1 + 0) * L, reduce_78_4);EACH tell(of_piece + (2 + q * V + j) * L, reduce_83_7[q][j]);
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
      reduce_72_1 = heard<real>(of_piece + (0 + 0) * L);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        reduce_72_1 = most(reduce_72_1, heard<real>(of_piece + (0 + 0) * L));
      }
    }
    {
      const double* of_piece = of_item;
      reduce_78_4 = heard<real>(of_piece + (1 + 0) * L) * grown(heard<real>(of_piece + (0 + 0) * L), reduce_72_1);EACH reduce_83_7[q][j] = heard<real>(of_piece + (2 + q * V + j) * L) * grown(heard<real>(of_piece + (0 + 0) * L), reduce_72_1);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        reduce_78_4 = reduce_78_4 + heard<real>(of_piece + (1 + 0) * L) * grown(heard<real>(of_piece + (0 + 0) * L), reduce_72_1);EACH reduce_83_7[q][j] = reduce_83_7[q][j] + heard<real>(of_piece + (2 + q * V + j) * L) * grown(heard<real>(of_piece + (0 + 0) * L), reduce_72_1);
      }
    }
  }
  bool equal_73_2; equal_73_2 = reduce_72_1 == ((real)-INFINITE);
  real select_74_3; select_74_3 = equal_73_2 ? ((real)0.0) : reduce_72_1;
  bool equal_79_5; equal_79_5 = reduce_78_4 == ((real)0.0);
  real select_80_6; select_80_6 = equal_79_5 ? ((real)1.0) : reduce_78_4;
  real divide_84_8[Q][V]; EACH_Q divide(divide_84_8[q], reduce_83_7[q], select_80_6);
  if (!writes) return;
  EACH if (own[q] && (c[q] + j) == 0) o_select_74[v + 0] = select_74_3;
  EACH if (own[q] && (c[q] + j) == 0) o_select_80[v + 0] = select_80_6;
  EACH_Q if (own[q]) store<V>(o_divide_84 + (offset_t)v * 4 + c[q], divide_84_8[q]);
}

// add.90: 29004 bytes at least, line 17 of the program
//   product.87 (nodes x 3) = product transposed(dropout.48, parameter.graph_transformer.attend.1.linear.3.weight)
//   add.89 (nodes x 3) = add(product.87, parameter.graph_transformer.attend.1.linear.3.bias)
//   add.90 = add(divide.84, add.89)
//   (on tensor cores: 16 rows x 8 columns a warp, 2 steps of 32 elements in flight)
//   (text: cuda/src/tensor_core_products.rs, add_merged_products)
extern "C" __global__ void __launch_bounds__(256, 2) k10_add_90(const real* __restrict__ b_parameter_graph__transformer_attend_1_linear_3_weight, const real* __restrict__ b_dropout_48, const real* __restrict__ b_parameter_graph__transformer_attend_1_linear_3_bias, const real* __restrict__ b_divide_84, real* __restrict__ o_add_90, const unsigned rows_given) {
  after_others();
  constexpr unsigned K = 16, C = 4, WIDE = 3, KV = 4, MV = 4, V = 2, L = 4, Q = 1, TILES = 1, STEPS = 1, AHEAD = 2, PARTS = 2, WARPS = 8, TEAM = 1;
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
        copy_later<16>(to, b_dropout_48 + (here ? (offset_t)row * 16 + column : 0), here);
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
      b[j] = k < K && column < WIDE ? __ldg(b_parameter_graph__transformer_attend_1_linear_3_weight + (offset_t)column * 16 + k) : (real)0;
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
      real divide_84_1[Q][V]; EACH_Q load<V>(divide_84_1[q], b_divide_84 + (offset_t)v * 4 + c[q]);
      real parameter_graph_transformer_attend_1_linear_3_bias_2[Q][V]; EACH_Q load<V>(parameter_graph_transformer_attend_1_linear_3_bias_2[q], b_parameter_graph__transformer_attend_1_linear_3_bias + c[q]);
      real add_89_3[Q][V]; EACH add_89_3[q][j] = made[q][j] + parameter_graph_transformer_attend_1_linear_3_bias_2[q][j];
      real add_90_4[Q][V]; EACH add_90_4[q][j] = divide_84_1[q][j] + add_89_3[q][j];
      EACH_Q if (own[q]) store<V>(o_add_90 + (offset_t)v * 4 + c[q], add_90_4[q]);
    }
  }
}

// loss: 10804 bytes at least
//   slope.result, loss = gradient and value of cross_entropy(add.90, target)
//   (text: cuda/src/loss.rs, decide_loss)
extern "C" __global__ void __launch_bounds__(256, ON_HOPPER(4)) k11_loss(const real* __restrict__ result, const real* __restrict__ target, real* __restrict__ gradient, const unsigned char* __restrict__ split, const double* __restrict__ terms, double* __restrict__ scratch_given, unsigned* __restrict__ counts, const unsigned rows, real* __restrict__ value, double* __restrict__ exact, unsigned char* __restrict__ ring, Clock* __restrict__ clock, unsigned* ticket) {
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

// gradient.graph_transformer.attend.1.linear.3.bias: 4812 bytes at least, line 17 of the program
//   gradient.graph_transformer.attend.1.linear.3.bias = sum rows(slope.result)
// merged into the kernel of gradient.graph_transformer.attend.1.linear.0.weight

// gradient.graph_transformer.attend.1.linear.3.weight: 24192 bytes at least, line 17 of the program
//   gradient.graph_transformer.attend.1.linear.3.weight = outer(slope.result, dropout.48)
// merged into the kernel of gradient.graph_transformer.attend.1.linear.0.weight

// product.95: 24192 bytes at least, line 17 of the program
//   product.95 = product(slope.result, parameter.graph_transformer.attend.1.linear.3.weight)
// merged into the kernel of add.123

// slope of query.113: 45604 bytes at least, lines 15, 16, 17 of the program
//   divide.98 = divide(slope.result, select.80)
//   multiply.99 (nodes x 3) = multiply(divide.98, divide.84)
//   axis.100 (nodes x 1) = axis sum 1(multiply.99)
//   negative.101 = negative(axis.100)
//   axis.68 (edges x 1) = axis sum 1(add.52[near.in] * add.57[far.in])
//   divide.71 (edges x 1) = divide(axis.68, 1.7320508075688772)
//   subtract.76 (edges x 1) = subtract(divide.71, select.74[near.in])
//   exp.77 (edges x 1) = exp(subtract.76)
//   axis.105 (edges x 1) = axis sum 1(divide.98[near.in] * add.62[far.in])
//   dropout.107 (edges x 1) = dropout 0.3 site 3(axis.105)
//   add.109 (edges x 1) = add(dropout.107, negative.101[near.in])
//   multiply.110 (edges x 1) = multiply(add.109, exp.77)
//   divide.111 (edges x 1) = divide(multiply.110, 1.7320508075688772)
//   slope of query.113 = reduce sum.in(divide.111 * add.57[far.in])
//   (1 lanes of 4 columns a row, 32 rows a warp, 2 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
//   (text: cuda/src/row_walk.rs, emit_edge_kernel)
extern "C" __global__ void __launch_bounds__(256, ON_HOPPER(3)) k15_slope_of_query_113(const real* __restrict__ b_slope_result, const real* __restrict__ b_select_80, const real* __restrict__ b_divide_84, const real* __restrict__ b_add_52, const real* __restrict__ b_add_57, const real* __restrict__ b_select_74, const real* __restrict__ b_add_62, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_divide_98, real* __restrict__ o_negative_101, real* __restrict__ o_slope_20_of_20_query_113, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned* __restrict__ slot_edge, const unsigned hub_items, const unsigned pieces, double* __restrict__ parts_of_hubs, unsigned* ticket, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
  constexpr unsigned C = 4, V = 4, L = 1, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { own[q] = true; c[q] = (q * L + part) * V; }
  constexpr unsigned B = 2, J = B > L ? B / L : 1, CHUNK = J * L;
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
  real slope_result_1[Q][V]; EACH_Q load<V>(slope_result_1[q], b_slope_result + (offset_t)v * 4 + c[q]);
  real select_80_2; select_80_2 = __ldg(b_select_80 + v + 0);
  real divide_98_3[Q][V]; EACH_Q divide(divide_98_3[q], slope_result_1[q], select_80_2);
  real divide_84_4[Q][V]; EACH_Q load<V>(divide_84_4[q], b_divide_84 + (offset_t)v * 4 + c[q]);
  real multiply_99_5[Q][V]; EACH multiply_99_5[q][j] = divide_98_3[q][j] * divide_84_4[q][j];
  real axis_100_6;
  axis_100_6 = 0;
  EACH axis_100_6 = axis_100_6 + (own[q] && c[q] + j < 3u ? multiply_99_5[q][j] : 0);
  real negative_101_7; negative_101_7 = negative(axis_100_6);
  real add_52_15[Q][V]; EACH_Q load<V>(add_52_15[q], b_add_52 + (offset_t)v * 4 + c[q]);
  real select_74_21; select_74_21 = __ldg(b_select_74 + v + 0);
  real slope_of_query_113_8[Q][V]; EACH slope_of_query_113_8[q][j] = 0;
  {
    const real* place_9 = b_add_62 + c[0]; keep(place_9);
    const real* place_16 = b_add_57 + c[0]; keep(place_16);
    unsigned at = from;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * step; held_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    unsigned held_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * step; held_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + (CHUNK + i) * step; next_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      unsigned next_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + (CHUNK + i) * step; next_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
      unsigned held_2[J]; UNROLL for (int i = 0; i < J; i++) held_2[i] = training ? kept_columns<1>(held_1[i], clock->epoch, 3u, seed, 19661u) : 0;
      UNROLL_1 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + (s) * step < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + (s + k) * step < stop;
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        unsigned stream_2[B]; UNROLL for (int k = 0; k < B; k++) stream_2[k] = __shfl_sync(FULL, held_2[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        real add_62_10[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q load<V>(add_62_10[k][q], place_9 + (offset_t)u[k] * 4); }
        real add_57_17[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q load<V>(add_57_17[k][q], place_16 + (offset_t)u[k] * 4); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real product_11[Q][V]; EACH product_11[q][j] = divide_98_3[q][j] * add_62_10[k][q][j];
          real axis_105_12;
          axis_105_12 = 0;
          EACH axis_105_12 = axis_105_12 + (own[q] && c[q] + j < 3u ? product_11[q][j] : 0);
          real dropout_107_13; dropout_107_13 = !training ? axis_105_12 : stream_2[k] >> 0 & 1 ? axis_105_12 * (real)1.4285776566757493 : (real)0;
          real add_109_14; add_109_14 = dropout_107_13 + negative_101_7;
          real product_18[Q][V]; EACH product_18[q][j] = add_52_15[q][j] * add_57_17[k][q][j];
          real axis_68_19;
          axis_68_19 = 0;
          EACH axis_68_19 = axis_68_19 + (own[q] && c[q] + j < 3u ? product_18[q][j] : 0);
          real divide_71_20; divide_71_20 = axis_68_19 / ((real)1.7320508075688772);
          real subtract_76_22; subtract_76_22 = divide_71_20 - select_74_21;
          real exp_77_23; exp_77_23 = exponential_of_share(subtract_76_22);
          real multiply_110_24; multiply_110_24 = add_109_14 * exp_77_23;
          real divide_111_25; divide_111_25 = multiply_110_24 / ((real)1.7320508075688772);
          real product_26[Q][V]; EACH product_26[q][j] = divide_111_25 * add_57_17[k][q][j];
          EACH if (here) slope_of_query_113_8[q][j] = slope_of_query_113_8[q][j] + product_26[q][j];
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      UNROLL for (int i = 0; i < J; i++) held_1[i] = next_1[i];
      at = min(stop, at + (CHUNK) * step);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, at + (CHUNK - 1) * step < stop)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_1[WARPS * 32];
    EACH UNROLL for (int apart = 1; apart < 32; apart *= 2) { const real own_part = slope_of_query_113_8[q][j]; slope_of_query_113_8[q][j] = slope_of_query_113_8[q][j] + from_lane(own_part, lane ^ apart); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = slope_of_query_113_8[q][j]; }
      __syncthreads();
      EACH { slope_of_query_113_8[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) slope_of_query_113_8[q][j] = slope_of_query_113_8[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
  }
  if (tier == 3) {
    constexpr unsigned SLOTS = 4;
    const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
    double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
    if (writes) {
      double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
      EACH tell(of_piece + (0 + q * V + j) * L, slope_of_query_113_8[q][j]);
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
      EACH slope_of_query_113_8[q][j] = heard<real>(of_piece + (0 + q * V + j) * L);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        EACH slope_of_query_113_8[q][j] = slope_of_query_113_8[q][j] + heard<real>(of_piece + (0 + q * V + j) * L);
      }
    }
  }
  if (!writes) return;
  EACH_Q if (own[q]) store<V>(o_divide_98 + (offset_t)v * 4 + c[q], divide_98_3[q]);
  EACH if (own[q] && (c[q] + j) == 0) o_negative_101[v + 0] = negative_101_7;
  EACH_Q if (own[q]) store<V>(o_slope_20_of_20_query_113 + (offset_t)v * 4 + c[q], slope_of_query_113_8[q]);
}

// gradient.graph_transformer.attend.1.linear.0.bias: 4812 bytes at least, line 8 of the program
//   gradient.graph_transformer.attend.1.linear.0.bias = sum rows(slope of query.113)
// merged into the kernel of gradient.graph_transformer.attend.1.linear.0.weight

// gradient.graph_transformer.attend.1.linear.0.weight: 24192 bytes at least, line 8 of the program
//   gradient.graph_transformer.attend.1.linear.0.weight = outer(slope of query.113, dropout.48)
//   (also computes gradient.graph_transformer.attend.1.linear.3.weight: the two share a side)
//   (on tensor cores: 32 x 8 columns a warp, 1 of them across the columns, 12 along the rows, 8 rows at a time; 5 steps in flight)
//   (text: cuda/src/outer_products.rs, emit_tiled_outer)
extern "C" __global__ void __launch_bounds__(384, 1) k17_gradient_graph_transformer_attend_1_linear_0_weight(const real* __restrict__ b_slope_20_of_20_query_113, const real* __restrict__ b_dropout_48, const real* __restrict__ b_slope_result, real* __restrict__ scratch, const unsigned rows_given, unsigned* ticket, real* __restrict__ out_0, const unsigned elements_0, real* __restrict__ out_1, const unsigned elements_1, real* __restrict__ out_2, const unsigned elements_2, const unsigned elements_3, real* __restrict__ out_4, const unsigned elements_4) {
  after_others();
  constexpr unsigned X = 16, Z = 7, XV = 4, ZV = 4, RV = 1, GROUPS = 1, TILES = 1, ACROSS = 1, TURNS = 12, AHEAD = 6;
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
        copy_later<16>(to, b_dropout_48 + (here ? (offset_t)row * 16 + column : 0), here);
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
          copy_later<16>(to, b_slope_20_of_20_query_113 + (here ? (offset_t)row * 4 + column : 0), here);
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
  for (unsigned element = threadIdx.x; element < 103u; element += blockDim.x) {
    real sum = 0;
    for (unsigned first = 0; first < parts; first += 16) {
      real several[16];
      UNROLL for (int i = 0; i < 16; i++) several[i] = first + i < parts ? __ldcg(scratch + (offset_t)(first + i) * 103u + element) : (real)0;
      UNROLL for (int i = 0; i < 16; i++) sum += several[i];
    }
    unsigned place = element;
    if (place < elements_0) { out_0[place] = sum; continue; }
    place -= elements_0;
    if (place < elements_1) { out_1[place] = sum; continue; }
    place -= elements_1;
    if (place < elements_2) { out_2[place] = sum; continue; }
    place -= elements_2;
    if (place < elements_3) { continue; }
    place -= elements_3;
    out_4[place] = sum;
  }
}

// slope of key.119: 44404 bytes at least, lines 14, 15, 16, 17 of the program
//   axis.68 (edges x 1) = axis sum 1(add.52[near.in] * add.57[far.in])
//   divide.71 (edges x 1) = divide(axis.68, 1.7320508075688772)
//   subtract.76 (edges x 1) = subtract(divide.71, select.74[near.in])
//   exp.77 (edges x 1) = exp(subtract.76)
//   dropout.81 (edges x 1) = dropout 0.3 site 3(exp.77)
//   slope of value.116 = reduce sum.out(divide.98[far.out] * dropout.81)
//   axis.105 (edges x 1) = axis sum 1(divide.98[near.in] * add.62[far.in])
//   dropout.107 (edges x 1) = dropout 0.3 site 3(axis.105)
//   add.109 (edges x 1) = add(dropout.107, negative.101[near.in])
//   multiply.110 (edges x 1) = multiply(add.109, exp.77)
//   divide.111 (edges x 1) = divide(multiply.110, 1.7320508075688772)
//   slope of key.119 = reduce sum.out(divide.111 * add.52[far.out])
//   (1 lanes of 4 columns a row, 32 rows a warp, 2 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
//   (text: cuda/src/row_walk.rs, emit_edge_kernel)
extern "C" __global__ void __launch_bounds__(256, 2) k18_slope_of_key_119(const real* __restrict__ b_add_52, const real* __restrict__ b_add_57, const real* __restrict__ b_select_74, const real* __restrict__ b_divide_98, const real* __restrict__ b_add_62, const real* __restrict__ b_negative_101, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_slope_20_of_20_value_116, real* __restrict__ o_slope_20_of_20_key_119, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned* __restrict__ slot_edge, const unsigned hub_items, const unsigned pieces, double* __restrict__ parts_of_hubs, unsigned* ticket, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
  constexpr unsigned C = 4, V = 4, L = 1, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { own[q] = true; c[q] = (q * L + part) * V; }
  constexpr unsigned B = 2, J = B > L ? B / L : 1, CHUNK = J * L;
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
  real add_57_5[Q][V]; EACH_Q load<V>(add_57_5[q], b_add_57 + (offset_t)v * 4 + c[q]);
  real add_62_14[Q][V]; EACH_Q load<V>(add_62_14[q], b_add_62 + (offset_t)v * 4 + c[q]);
  real slope_of_value_116_1[Q][V]; EACH slope_of_value_116_1[q][j] = 0;
  real slope_of_key_119_2[Q][V]; EACH slope_of_key_119_2[q][j] = 0;
  {
    unsigned at = from;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * step; held_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    unsigned held_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * step; held_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + (CHUNK + i) * step; next_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      unsigned next_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + (CHUNK + i) * step; next_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
      unsigned held_2[J]; UNROLL for (int i = 0; i < J; i++) held_2[i] = training ? kept_columns<1>(held_1[i], clock->epoch, 3u, seed, 19661u) : 0;
      UNROLL_1 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + (s) * step < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + (s + k) * step < stop;
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        unsigned stream_2[B]; UNROLL for (int k = 0; k < B; k++) stream_2[k] = __shfl_sync(FULL, held_2[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        real divide_98_3[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q load<V>(divide_98_3[k][q], b_divide_98 + c[q] + (offset_t)u[k] * 4); }
        real add_52_4[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q load<V>(add_52_4[k][q], b_add_52 + c[q] + (offset_t)u[k] * 4); }
        real select_74_9[B];
        UNROLL for (int k = 0; k < B; k++) { select_74_9[k] = __ldg(b_select_74 + u[k] + 0); }
        real negative_101_18[B];
        UNROLL for (int k = 0; k < B; k++) { negative_101_18[k] = __ldg(b_negative_101 + u[k] + 0); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real product_6[Q][V]; EACH product_6[q][j] = add_52_4[k][q][j] * add_57_5[q][j];
          real axis_68_7;
          axis_68_7 = 0;
          EACH axis_68_7 = axis_68_7 + (own[q] && c[q] + j < 3u ? product_6[q][j] : 0);
          real divide_71_8; divide_71_8 = axis_68_7 / ((real)1.7320508075688772);
          real subtract_76_10; subtract_76_10 = divide_71_8 - select_74_9[k];
          real exp_77_11; exp_77_11 = exponential_of_share(subtract_76_10);
          real dropout_81_12; dropout_81_12 = !training ? exp_77_11 : stream_2[k] >> 0 & 1 ? exp_77_11 * (real)1.4285776566757493 : (real)0;
          real product_13[Q][V]; EACH product_13[q][j] = divide_98_3[k][q][j] * dropout_81_12;
          EACH if (here) slope_of_value_116_1[q][j] = slope_of_value_116_1[q][j] + product_13[q][j];
          real product_15[Q][V]; EACH product_15[q][j] = divide_98_3[k][q][j] * add_62_14[q][j];
          real axis_105_16;
          axis_105_16 = 0;
          EACH axis_105_16 = axis_105_16 + (own[q] && c[q] + j < 3u ? product_15[q][j] : 0);
          real dropout_107_17; dropout_107_17 = !training ? axis_105_16 : stream_2[k] >> 0 & 1 ? axis_105_16 * (real)1.4285776566757493 : (real)0;
          real add_109_19; add_109_19 = dropout_107_17 + negative_101_18[k];
          real multiply_110_20; multiply_110_20 = add_109_19 * exp_77_11;
          real divide_111_21; divide_111_21 = multiply_110_20 / ((real)1.7320508075688772);
          real product_22[Q][V]; EACH product_22[q][j] = divide_111_21 * add_52_4[k][q][j];
          EACH if (here) slope_of_key_119_2[q][j] = slope_of_key_119_2[q][j] + product_22[q][j];
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      UNROLL for (int i = 0; i < J; i++) held_1[i] = next_1[i];
      at = min(stop, at + (CHUNK) * step);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, at + (CHUNK - 1) * step < stop)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_1[WARPS * 32];
    EACH UNROLL for (int apart = 1; apart < 32; apart *= 2) { const real own_part = slope_of_value_116_1[q][j]; slope_of_value_116_1[q][j] = slope_of_value_116_1[q][j] + from_lane(own_part, lane ^ apart); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = slope_of_value_116_1[q][j]; }
      __syncthreads();
      EACH { slope_of_value_116_1[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) slope_of_value_116_1[q][j] = slope_of_value_116_1[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
    EACH UNROLL for (int apart = 1; apart < 32; apart *= 2) { const real own_part = slope_of_key_119_2[q][j]; slope_of_key_119_2[q][j] = slope_of_key_119_2[q][j] + from_lane(own_part, lane ^ apart); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = slope_of_key_119_2[q][j]; }
      __syncthreads();
      EACH { slope_of_key_119_2[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) slope_of_key_119_2[q][j] = slope_of_key_119_2[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
  }
  if (tier == 3) {
    constexpr unsigned SLOTS = 8;
    const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
    double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
    if (writes) {
      double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
      EACH tell(of_piece + (0 + q * V + j) * L, slope_of_value_116_1[q][j]);EACH tell(of_piece + (4 + q * V + j) * L, slope_of_key_119_2[q][j]);
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
      EACH slope_of_value_116_1[q][j] = heard<real>(of_piece + (0 + q * V + j) * L);EACH slope_of_key_119_2[q][j] = heard<real>(of_piece + (4 + q * V + j) * L);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        EACH slope_of_value_116_1[q][j] = slope_of_value_116_1[q][j] + heard<real>(of_piece + (0 + q * V + j) * L);EACH slope_of_key_119_2[q][j] = slope_of_key_119_2[q][j] + heard<real>(of_piece + (4 + q * V + j) * L);
      }
    }
  }
  if (!writes) return;
  EACH_Q if (own[q]) store<V>(o_slope_20_of_20_value_116 + (offset_t)v * 4 + c[q], slope_of_value_116_1[q]);
  EACH_Q if (own[q]) store<V>(o_slope_20_of_20_key_119 + (offset_t)v * 4 + c[q], slope_of_key_119_2[q]);
}

// gradient.graph_transformer.attend.1.linear.2.bias: 4812 bytes at least, line 8 of the program
//   gradient.graph_transformer.attend.1.linear.2.bias = sum rows(slope of value.116)
// merged into the kernel of gradient.graph_transformer.attend.1.linear.1.weight

// gradient.graph_transformer.attend.1.linear.2.weight: 24192 bytes at least, line 8 of the program
//   gradient.graph_transformer.attend.1.linear.2.weight = outer(slope of value.116, dropout.48)
// merged into the kernel of gradient.graph_transformer.attend.1.linear.1.weight

// gradient.graph_transformer.attend.1.linear.1.bias: 4812 bytes at least, line 8 of the program
//   gradient.graph_transformer.attend.1.linear.1.bias = sum rows(slope of key.119)
// merged into the kernel of gradient.graph_transformer.attend.1.linear.1.weight

// gradient.graph_transformer.attend.1.linear.1.weight: 24192 bytes at least, line 8 of the program
//   gradient.graph_transformer.attend.1.linear.1.weight = outer(slope of key.119, dropout.48)
//   (also computes gradient.graph_transformer.attend.1.linear.2.weight: the two share a side)
//   (on tensor cores: 32 x 8 columns a warp, 1 of them across the columns, 12 along the rows, 8 rows at a time; 5 steps in flight)
// as k17_gradient_graph_transformer_attend_1_linear_0_weight

// add.123: 43392 bytes at least, line 8 of the program
//   product.122 (nodes x 16) = product(slope of value.116, parameter.graph_transformer.attend.1.linear.2.weight)
//   add.123 = add(product.95, product.122)
//   (1 rows of 4 columns a thread, 4 threads along a row)
//   (text: cuda/src/plain_products.rs, decide_product)
extern "C" __global__ void __launch_bounds__(256, 2) k23_add_123(const real* __restrict__ b_parameter_graph__transformer_attend_1_linear_3_weight, const real* __restrict__ b_slope_result, const real* __restrict__ b_slope_20_of_20_value_116, real* __restrict__ o_add_123, const unsigned rows_given, const real* __restrict__ b_parameter_graph__transformer_attend_1_linear_2_weight) {
  after_others();
  constexpr unsigned K = 6, C = 16, WIDE = 16, L = 4, Q = 1, TM = 1, RT = 256 / L, BM = TM * RT, BK = 8, KV = 1, blockThreads = 256;
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
        real slope_of_value_116_1[Q]; EACH_Q slope_of_value_116_1[q] = __ldg(b_slope_20_of_20_value_116 + (offset_t)v * 4 + c[q]);
        EACH piece[p][j] = here ? slope_of_value_116_1[q] : (real)0;
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
      right[k][m] = k0 + k < K && slice + m < WIDE ? (k0 + k < 3 ? __ldg(b_parameter_graph__transformer_attend_1_linear_3_weight + (offset_t)((k0 + k)) * 16 + slice + m) : __ldg(b_parameter_graph__transformer_attend_1_linear_2_weight + (offset_t)((k0 + k - 3)) * 16 + slice + m)) : (real)0;
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
    real add_123_1[Q][V]; EACH add_123_1[q][j] = made[q][j] + nothing[q][j];
    EACH_Q if (own[q]) store<V>(o_add_123 + (offset_t)v * 16 + c[q], add_123_1[q]);
  }
}

// add.128: 43392 bytes at least, line 8 of the program
//   product.127 (nodes x 16) = product(slope of key.119, parameter.graph_transformer.attend.1.linear.1.weight)
//   add.128 = add(add.123, product.127)
// merged into the kernel of negative.144

// negative.144: 105792 bytes at least, lines 3, 4, 8, 17 of the program
//   product.132 (nodes x 16) = product(slope of query.113, parameter.graph_transformer.attend.1.linear.0.weight)
//   add.133 (nodes x 16) = add(add.128, product.132)
//   slope of h.135 (nodes x 16) = dropout 0.5 site 2(add.133)
//   less.136 (nodes x 16) = less(0.0, dropout.48)
//   select.137 = select(less.136, slope of h.135, 0.0)
//   divide.141 = divide(select.137, select.36)
//   multiply.142 (nodes x 16) = multiply(divide.141, divide.40)
//   axis.143 (nodes x 2) = axis sum 1(multiply.142)
//   negative.144 = negative(axis.143)
//   (1 rows of 4 columns a thread, 4 threads along a row)
//   (text: cuda/src/plain_products.rs, decide_product)
extern "C" __global__ void __launch_bounds__(256, 2) k25_negative_144(const real* __restrict__ b_parameter_graph__transformer_attend_1_linear_1_weight, const real* __restrict__ b_slope_20_of_20_key_119, const real* __restrict__ b_add_123, const real* __restrict__ b_slope_20_of_20_query_113, const real* __restrict__ b_dropout_48, const real* __restrict__ b_select_36, const real* __restrict__ b_divide_40, const unsigned* __restrict__ rows_in_graph, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_select_137, real* __restrict__ o_divide_141, real* __restrict__ o_negative_144, const unsigned rows_given, const real* __restrict__ b_parameter_graph__transformer_attend_1_linear_0_weight) {
  after_others();
  constexpr unsigned K = 6, C = 16, WIDE = 16, L = 4, Q = 1, TM = 1, RT = 256 / L, BM = TM * RT, BK = 8, KV = 1, blockThreads = 256;
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
        real slope_of_key_119_1[Q]; EACH_Q slope_of_key_119_1[q] = __ldg(b_slope_20_of_20_key_119 + (offset_t)v * 4 + c[q]);
        EACH piece[p][j] = here ? slope_of_key_119_1[q] : (real)0;
      } else {
        [[maybe_unused]] const unsigned c[1] = {here ? k0 + kk - 3 : 0};
        real slope_of_query_113_1[Q]; EACH_Q slope_of_query_113_1[q] = __ldg(b_slope_20_of_20_query_113 + (offset_t)v * 4 + c[q]);
        EACH piece[p][j] = here ? slope_of_query_113_1[q] : (real)0;
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
      right[k][m] = k0 + k < K && slice + m < WIDE ? (k0 + k < 3 ? __ldg(b_parameter_graph__transformer_attend_1_linear_1_weight + (offset_t)((k0 + k)) * 16 + slice + m) : __ldg(b_parameter_graph__transformer_attend_1_linear_0_weight + (offset_t)((k0 + k - 3)) * 16 + slice + m)) : (real)0;
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
    real dropout_48_1[Q][V]; EACH_Q load<V>(dropout_48_1[q], b_dropout_48 + (offset_t)v * 16 + c[q]);
    bool less_136_2[Q][V]; EACH less_136_2[q][j] = ((real)0.0) < dropout_48_1[q][j];
    real add_123_3[Q][V]; EACH_Q load<V>(add_123_3[q], b_add_123 + (offset_t)v * 16 + c[q]);
    real add_128_4[Q][V]; EACH add_128_4[q][j] = add_123_3[q][j] + made[q][j];
    real add_133_5[Q][V]; EACH add_133_5[q][j] = add_128_4[q][j] + nothing[q][j];
    real slope_of_h_135_6[Q][V]; EACH_Q { bool kept_7[V]; UNROLL for (int j = 0; j < V; j++) kept_7[j] = true; if (training) keeps<V>(kept_7, row_in_graph, c[q], clock->epoch, 2u, seed, 32768u); UNROLL for (int j = 0; j < V; j++) slope_of_h_135_6[q][j] = !training ? add_133_5[q][j] : kept_7[j] ? add_133_5[q][j] * (real)2.0 : (real)0; }
    real select_137_8[Q][V]; EACH select_137_8[q][j] = less_136_2[q][j] ? slope_of_h_135_6[q][j] : ((real)0.0);
    real select_36_9[Q]; EACH_Q select_36_9[q] = __ldg(b_select_36 + (offset_t)v * 2 + (c[q] / 8u));
    real divide_141_10[Q][V]; EACH_Q divide(divide_141_10[q], select_137_8[q], select_36_9[q]);
    real divide_40_11[Q][V]; EACH_Q load<V>(divide_40_11[q], b_divide_40 + (offset_t)v * 16 + c[q]);
    real multiply_142_12[Q][V]; EACH multiply_142_12[q][j] = divide_141_10[q][j] * divide_40_11[q][j];
    real axis_143_13[Q];
    EACH_Q axis_143_13[q] = 0;
    EACH axis_143_13[q] = axis_143_13[q] + multiply_142_12[q][j];
    EACH_Q axis_143_13[q] = axis_143_13[q] + across(axis_143_13[q], 1);
    real negative_144_14[Q]; EACH_Q negative_144_14[q] = negative(axis_143_13[q]);
    EACH_Q if (own[q]) store<V>(o_select_137 + (offset_t)v * 16 + c[q], select_137_8[q]);
    EACH_Q if (own[q]) store<V>(o_divide_141 + (offset_t)v * 16 + c[q], divide_141_10[q]);
    EACH if (own[q] && (c[q] + j) % 8u == 0) o_negative_144[(offset_t)v * 2 + (c[q] / 8u)] = negative_144_14[q];
  }
}

// gradient.graph_transformer.attend.0.linear.3.bias: 19264 bytes at least, line 17 of the program
//   gradient.graph_transformer.attend.0.linear.3.bias = sum rows(select.137)
// merged into the kernel of gradient.graph_transformer.attend.0.linear.0.weight

// gradient.graph_transformer.attend.0.linear.3.weight: 29184 bytes at least, line 17 of the program
//   gradient.graph_transformer.attend.0.linear.3.weight = outer(select.137, dropout.1)
// merged into the kernel of gradient.graph_transformer.attend.0.linear.0.weight

// slope of query.156: 142804 bytes at least, lines 15, 16, 17 of the program
//   axis.21 (edges x 2) = axis sum 1(add.5[near.in] * add.10[far.in])
//   divide.24 (edges x 2) = divide(axis.21, 2.8284271247461903)
//   subtract.31 (edges x 2) = subtract(divide.24, select.29[near.in])
//   exp.32 (edges x 2) = exp(subtract.31)
//   axis.148 (edges x 2) = axis sum 1(divide.141[near.in] * add.15[far.in])
//   dropout.150 (edges x 2) = dropout 0.3 site 1(axis.148)
//   add.152 (edges x 2) = add(dropout.150, negative.144[near.in])
//   multiply.153 (edges x 2) = multiply(add.152, exp.32)
//   divide.154 (edges x 2) = divide(multiply.153, 2.8284271247461903)
//   slope of query.156 = reduce sum.in(divide.154 * add.10[far.in])
//   (4 lanes of 4 columns a row, 8 rows a warp, 4 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
//   (text: cuda/src/row_walk.rs, emit_edge_kernel)
extern "C" __global__ void __launch_bounds__(256, 2) k28_slope_of_query_156(const real* __restrict__ b_add_5, const real* __restrict__ b_add_10, const real* __restrict__ b_select_29, const real* __restrict__ b_divide_141, const real* __restrict__ b_add_15, const real* __restrict__ b_negative_144, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_slope_20_of_20_query_156, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned* __restrict__ slot_edge, const unsigned hub_items, const unsigned pieces, double* __restrict__ parts_of_hubs, unsigned* ticket, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
  constexpr unsigned C = 16, V = 4, L = 4, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
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
  unsigned from = begin, stop = end;
  if (tier > 0) {
    const unsigned share = (end - begin + shares * B - 1) / (shares * B) * B;
    from = min(end, begin + mine * share);
    stop = min(end, from + share);
  }
  const bool writes = live && (tier == 0 || (group == 0 && (tier == 1 || warp == 0)));
  after_others();
  real divide_141_2[Q][V]; EACH_Q load<V>(divide_141_2[q], b_divide_141 + (offset_t)v * 16 + c[q]);
  real negative_144_8[Q]; EACH_Q negative_144_8[q] = __ldg(b_negative_144 + (offset_t)v * 2 + (c[q] / 8u));
  real add_5_10[Q][V]; EACH_Q load<V>(add_5_10[q], b_add_5 + (offset_t)v * 16 + c[q]);
  real select_29_16[Q]; EACH_Q select_29_16[q] = __ldg(b_select_29 + (offset_t)v * 2 + (c[q] / 8u));
  real slope_of_query_156_1[Q][V]; EACH slope_of_query_156_1[q][j] = 0;
  {
    const real* place_3 = b_add_15 + c[0]; keep(place_3);
    const real* place_11 = b_add_10 + c[0]; keep(place_11);
    unsigned at = from;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    unsigned held_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      unsigned next_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
      unsigned held_2[J]; UNROLL for (int i = 0; i < J; i++) held_2[i] = training ? kept_columns<2>(held_1[i], clock->epoch, 1u, seed, 19661u) : 0;
      UNROLL_1 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + s < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + s + k < stop;
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        unsigned stream_2[B]; UNROLL for (int k = 0; k < B; k++) stream_2[k] = __shfl_sync(FULL, held_2[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        real add_15_4[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q load<V>(add_15_4[k][q], place_3 + (offset_t)u[k] * 16); }
        real add_10_12[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q load<V>(add_10_12[k][q], place_11 + (offset_t)u[k] * 16); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real product_5[Q][V]; EACH product_5[q][j] = divide_141_2[q][j] * add_15_4[k][q][j];
          real axis_148_6[Q];
          EACH_Q axis_148_6[q] = 0;
          EACH axis_148_6[q] = axis_148_6[q] + product_5[q][j];
          EACH_Q axis_148_6[q] = axis_148_6[q] + across(axis_148_6[q], 1);
          real dropout_150_7[Q]; EACH_Q dropout_150_7[q] = !training ? axis_148_6[q] : stream_2[k] >> (c[q] / 8u) & 1 ? axis_148_6[q] * (real)1.4285776566757493 : (real)0;
          real add_152_9[Q]; EACH_Q add_152_9[q] = dropout_150_7[q] + negative_144_8[q];
          real product_13[Q][V]; EACH product_13[q][j] = add_5_10[q][j] * add_10_12[k][q][j];
          real axis_21_14[Q];
          EACH_Q axis_21_14[q] = 0;
          EACH axis_21_14[q] = axis_21_14[q] + product_13[q][j];
          EACH_Q axis_21_14[q] = axis_21_14[q] + across(axis_21_14[q], 1);
          real divide_24_15[Q]; EACH_Q divide_24_15[q] = axis_21_14[q] / ((real)2.8284271247461903);
          real subtract_31_17[Q]; EACH_Q subtract_31_17[q] = divide_24_15[q] - select_29_16[q];
          real exp_32_18[Q]; EACH_Q exp_32_18[q] = exponential_of_share(subtract_31_17[q]);
          real multiply_153_19[Q]; EACH_Q multiply_153_19[q] = add_152_9[q] * exp_32_18[q];
          real divide_154_20[Q]; EACH_Q divide_154_20[q] = multiply_153_19[q] / ((real)2.8284271247461903);
          real product_21[Q][V]; EACH product_21[q][j] = divide_154_20[q] * add_10_12[k][q][j];
          EACH if (here) slope_of_query_156_1[q][j] = slope_of_query_156_1[q][j] + product_21[q][j];
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      UNROLL for (int i = 0; i < J; i++) held_1[i] = next_1[i];
      at = min(stop, at + CHUNK);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, stop - at >= CHUNK)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_1[WARPS * 128];
    EACH { const real own_part = slope_of_query_156_1[q][j]; slope_of_query_156_1[q][j] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) slope_of_query_156_1[q][j] = slope_of_query_156_1[q][j] + from_lane(own_part, g * L + part); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = slope_of_query_156_1[q][j]; }
      __syncthreads();
      EACH { slope_of_query_156_1[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) slope_of_query_156_1[q][j] = slope_of_query_156_1[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
  }
  if (tier == 3) {
    constexpr unsigned SLOTS = 4;
    const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
    double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
    if (writes) {
      double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
      EACH tell(of_piece + (0 + q * V + j) * L, slope_of_query_156_1[q][j]);
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
      EACH slope_of_query_156_1[q][j] = heard<real>(of_piece + (0 + q * V + j) * L);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        EACH slope_of_query_156_1[q][j] = slope_of_query_156_1[q][j] + heard<real>(of_piece + (0 + q * V + j) * L);
      }
    }
  }
  if (!writes) return;
  EACH_Q if (own[q]) store<V>(o_slope_20_of_20_query_156 + (offset_t)v * 16 + c[q], slope_of_query_156_1[q]);
}

// gradient.graph_transformer.attend.0.linear.0.bias: 19264 bytes at least, line 8 of the program
//   gradient.graph_transformer.attend.0.linear.0.bias = sum rows(slope of query.156)
// merged into the kernel of gradient.graph_transformer.attend.0.linear.0.weight

// gradient.graph_transformer.attend.0.linear.0.weight: 29184 bytes at least, line 8 of the program
//   gradient.graph_transformer.attend.0.linear.0.weight = outer(slope of query.156, dropout.1)
//   (also computes gradient.graph_transformer.attend.0.linear.3.weight: the two share a side)
//   (on tensor cores: 32 x 8 columns a warp, 1 of them across the columns, 12 along the rows, 8 rows at a time; 5 steps in flight)
//   (text: cuda/src/outer_products.rs, emit_tiled_outer)
extern "C" __global__ void __launch_bounds__(384, 1) k30_gradient_graph_transformer_attend_0_linear_0_weight(const real* __restrict__ b_slope_20_of_20_query_156, const real* __restrict__ b_dropout_1, const real* __restrict__ b_select_137, real* __restrict__ scratch, const unsigned rows_given, unsigned* ticket, real* __restrict__ out_0, const unsigned elements_0, real* __restrict__ out_1, const unsigned elements_1, real* __restrict__ out_2, const unsigned elements_2, real* __restrict__ out_3, const unsigned elements_3) {
  after_others();
  constexpr unsigned X = 32, Z = 6, XV = 4, ZV = 4, RV = 1, GROUPS = 1, TILES = 1, ACROSS = 1, TURNS = 12, AHEAD = 6;
  constexpr unsigned PRODUCTS = 192;
  constexpr bool X_FIRST = true, SUM_X = true, SUM_Z = false;
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
        if (of_both < 16) {
          const unsigned column = of_both;
          const bool here = row < end && column < 16;
          copy_later<16>(to, b_slope_20_of_20_query_156 + (here ? (offset_t)row * 16 + column : 0), here);
        } else {
          const unsigned column = of_both - 16;
          const bool here = row < end && column < 16;
          copy_later<16>(to, b_select_137 + (here ? (offset_t)row * 16 + column : 0), here);
        }
      }
      constexpr unsigned PIECES = Z_TILE * 8 / ZV;
      UNROLL for (int i = 0; i < (PIECES + 31) / 32; i++) {
        const unsigned place = i * 32 + lane, r = place / (Z_TILE / ZV), within = place % (Z_TILE / ZV) * ZV, row = coming + r, column = z0 + within;
        if (PIECES % 32 != 0 && place >= PIECES) continue;
        float* const to = stage + GROUPS * 256 + r * Z_TILE + (within / 4 ^ twist(r)) * 4 + within % 4;
        const bool here = row < end && column < Z;
        copy_later<16>(to, b_dropout_1 + (here ? (offset_t)row * 8 + column : 0), here);
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
    const bool is_other = of_x >= 16;
    const unsigned own = is_other ? of_x - 16 : of_x, wide = is_other ? 16 : 16;
    const bool is_told = own < wide && of_z < Z;
    const unsigned place = (is_other ? 16 * Z : 0) + (X_FIRST ? own * Z + of_z : of_z * wide + own);
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
  for (unsigned element = threadIdx.x; element < 224u; element += blockDim.x) {
    real sum = 0;
    for (unsigned first = 0; first < parts; first += 16) {
      real several[16];
      UNROLL for (int i = 0; i < 16; i++) several[i] = first + i < parts ? __ldcg(scratch + (offset_t)(first + i) * 224u + element) : (real)0;
      UNROLL for (int i = 0; i < 16; i++) sum += several[i];
    }
    unsigned place = element;
    if (place < elements_0) { out_0[place] = sum; continue; }
    place -= elements_0;
    if (place < elements_1) { out_1[place] = sum; continue; }
    place -= elements_1;
    if (place < elements_2) { out_2[place] = sum; continue; }
    place -= elements_2;
    out_3[place] = sum;
  }
}

// slope of key.162: 200404 bytes at least, lines 14, 15, 16, 17 of the program
//   axis.21 (edges x 2) = axis sum 1(add.5[near.in] * add.10[far.in])
//   divide.24 (edges x 2) = divide(axis.21, 2.8284271247461903)
//   subtract.31 (edges x 2) = subtract(divide.24, select.29[near.in])
//   exp.32 (edges x 2) = exp(subtract.31)
//   dropout.37 (edges x 2) = dropout 0.3 site 1(exp.32)
//   slope of value.159 = reduce sum.out(divide.141[far.out] * dropout.37)
//   axis.148 (edges x 2) = axis sum 1(divide.141[near.in] * add.15[far.in])
//   dropout.150 (edges x 2) = dropout 0.3 site 1(axis.148)
//   add.152 (edges x 2) = add(dropout.150, negative.144[near.in])
//   multiply.153 (edges x 2) = multiply(add.152, exp.32)
//   divide.154 (edges x 2) = divide(multiply.153, 2.8284271247461903)
//   slope of key.162 = reduce sum.out(divide.154 * add.5[far.out])
//   (4 lanes of 4 columns a row, 8 rows a warp, 2 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
//   (text: cuda/src/row_walk.rs, emit_edge_kernel)
extern "C" __global__ void __launch_bounds__(256, 2) k31_slope_of_key_162(const real* __restrict__ b_add_5, const real* __restrict__ b_add_10, const real* __restrict__ b_select_29, const real* __restrict__ b_divide_141, const real* __restrict__ b_add_15, const real* __restrict__ b_negative_144, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_slope_20_of_20_value_159, real* __restrict__ o_slope_20_of_20_key_162, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned* __restrict__ slot_edge, const unsigned hub_items, const unsigned pieces, double* __restrict__ parts_of_hubs, unsigned* ticket, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
  constexpr unsigned C = 16, V = 4, L = 4, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { own[q] = true; c[q] = (q * L + part) * V; }
  constexpr unsigned B = 2, J = B > L ? B / L : 1, CHUNK = J * L;
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
  real add_10_5[Q][V]; EACH_Q load<V>(add_10_5[q], b_add_10 + (offset_t)v * 16 + c[q]);
  real add_15_14[Q][V]; EACH_Q load<V>(add_15_14[q], b_add_15 + (offset_t)v * 16 + c[q]);
  real slope_of_value_159_1[Q][V]; EACH slope_of_value_159_1[q][j] = 0;
  real slope_of_key_162_2[Q][V]; EACH slope_of_key_162_2[q][j] = 0;
  {
    unsigned at = from;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    unsigned held_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      unsigned next_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
      unsigned held_2[J]; UNROLL for (int i = 0; i < J; i++) held_2[i] = training ? kept_columns<2>(held_1[i], clock->epoch, 1u, seed, 19661u) : 0;
      UNROLL_1 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + s < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + s + k < stop;
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        unsigned stream_2[B]; UNROLL for (int k = 0; k < B; k++) stream_2[k] = __shfl_sync(FULL, held_2[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        real divide_141_3[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q load<V>(divide_141_3[k][q], b_divide_141 + c[q] + (offset_t)u[k] * 16); }
        real add_5_4[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q load<V>(add_5_4[k][q], b_add_5 + c[q] + (offset_t)u[k] * 16); }
        real select_29_9[B][Q];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q select_29_9[k][q] = __ldg(b_select_29 + (c[q] / 8u) + (offset_t)u[k] * 2); }
        real negative_144_18[B][Q];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q negative_144_18[k][q] = __ldg(b_negative_144 + (c[q] / 8u) + (offset_t)u[k] * 2); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real product_6[Q][V]; EACH product_6[q][j] = add_5_4[k][q][j] * add_10_5[q][j];
          real axis_21_7[Q];
          EACH_Q axis_21_7[q] = 0;
          EACH axis_21_7[q] = axis_21_7[q] + product_6[q][j];
          EACH_Q axis_21_7[q] = axis_21_7[q] + across(axis_21_7[q], 1);
          real divide_24_8[Q]; EACH_Q divide_24_8[q] = axis_21_7[q] / ((real)2.8284271247461903);
          real subtract_31_10[Q]; EACH_Q subtract_31_10[q] = divide_24_8[q] - select_29_9[k][q];
          real exp_32_11[Q]; EACH_Q exp_32_11[q] = exponential_of_share(subtract_31_10[q]);
          real dropout_37_12[Q]; EACH_Q dropout_37_12[q] = !training ? exp_32_11[q] : stream_2[k] >> (c[q] / 8u) & 1 ? exp_32_11[q] * (real)1.4285776566757493 : (real)0;
          real product_13[Q][V]; EACH product_13[q][j] = divide_141_3[k][q][j] * dropout_37_12[q];
          EACH if (here) slope_of_value_159_1[q][j] = slope_of_value_159_1[q][j] + product_13[q][j];
          real product_15[Q][V]; EACH product_15[q][j] = divide_141_3[k][q][j] * add_15_14[q][j];
          real axis_148_16[Q];
          EACH_Q axis_148_16[q] = 0;
          EACH axis_148_16[q] = axis_148_16[q] + product_15[q][j];
          EACH_Q axis_148_16[q] = axis_148_16[q] + across(axis_148_16[q], 1);
          real dropout_150_17[Q]; EACH_Q dropout_150_17[q] = !training ? axis_148_16[q] : stream_2[k] >> (c[q] / 8u) & 1 ? axis_148_16[q] * (real)1.4285776566757493 : (real)0;
          real add_152_19[Q]; EACH_Q add_152_19[q] = dropout_150_17[q] + negative_144_18[k][q];
          real multiply_153_20[Q]; EACH_Q multiply_153_20[q] = add_152_19[q] * exp_32_11[q];
          real divide_154_21[Q]; EACH_Q divide_154_21[q] = multiply_153_20[q] / ((real)2.8284271247461903);
          real product_22[Q][V]; EACH product_22[q][j] = divide_154_21[q] * add_5_4[k][q][j];
          EACH if (here) slope_of_key_162_2[q][j] = slope_of_key_162_2[q][j] + product_22[q][j];
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      UNROLL for (int i = 0; i < J; i++) held_1[i] = next_1[i];
      at = min(stop, at + CHUNK);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, stop - at >= CHUNK)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_1[WARPS * 128];
    EACH { const real own_part = slope_of_value_159_1[q][j]; slope_of_value_159_1[q][j] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) slope_of_value_159_1[q][j] = slope_of_value_159_1[q][j] + from_lane(own_part, g * L + part); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = slope_of_value_159_1[q][j]; }
      __syncthreads();
      EACH { slope_of_value_159_1[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) slope_of_value_159_1[q][j] = slope_of_value_159_1[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
    EACH { const real own_part = slope_of_key_162_2[q][j]; slope_of_key_162_2[q][j] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) slope_of_key_162_2[q][j] = slope_of_key_162_2[q][j] + from_lane(own_part, g * L + part); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = slope_of_key_162_2[q][j]; }
      __syncthreads();
      EACH { slope_of_key_162_2[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) slope_of_key_162_2[q][j] = slope_of_key_162_2[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
  }
  if (tier == 3) {
    constexpr unsigned SLOTS = 8;
    const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
    double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
    if (writes) {
      double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
      EACH tell(of_piece + (0 + q * V + j) * L, slope_of_value_159_1[q][j]);EACH tell(of_piece + (4 + q * V + j) * L, slope_of_key_162_2[q][j]);
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
      EACH slope_of_value_159_1[q][j] = heard<real>(of_piece + (0 + q * V + j) * L);EACH slope_of_key_162_2[q][j] = heard<real>(of_piece + (4 + q * V + j) * L);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        EACH slope_of_value_159_1[q][j] = slope_of_value_159_1[q][j] + heard<real>(of_piece + (0 + q * V + j) * L);EACH slope_of_key_162_2[q][j] = slope_of_key_162_2[q][j] + heard<real>(of_piece + (4 + q * V + j) * L);
      }
    }
  }
  if (!writes) return;
  EACH_Q if (own[q]) store<V>(o_slope_20_of_20_value_159 + (offset_t)v * 16 + c[q], slope_of_value_159_1[q]);
  EACH_Q if (own[q]) store<V>(o_slope_20_of_20_key_162 + (offset_t)v * 16 + c[q], slope_of_key_162_2[q]);
}

// gradient.graph_transformer.attend.0.linear.2.bias: 19264 bytes at least, line 8 of the program
//   gradient.graph_transformer.attend.0.linear.2.bias = sum rows(slope of value.159)
// merged into the kernel of gradient.graph_transformer.attend.0.linear.1.weight

// gradient.graph_transformer.attend.0.linear.2.weight: 29184 bytes at least, line 8 of the program
//   gradient.graph_transformer.attend.0.linear.2.weight = outer(slope of value.159, dropout.1)
// merged into the kernel of gradient.graph_transformer.attend.0.linear.1.weight

// gradient.graph_transformer.attend.0.linear.1.bias: 19264 bytes at least, line 8 of the program
//   gradient.graph_transformer.attend.0.linear.1.bias = sum rows(slope of key.162)
// merged into the kernel of gradient.graph_transformer.attend.0.linear.1.weight

// gradient.graph_transformer.attend.0.linear.1.weight: 29184 bytes at least, line 8 of the program
//   gradient.graph_transformer.attend.0.linear.1.weight = outer(slope of key.162, dropout.1)
//   (also computes gradient.graph_transformer.attend.0.linear.2.weight: the two share a side)
//   (on tensor cores: 32 x 8 columns a warp, 1 of them across the columns, 12 along the rows, 8 rows at a time; 5 steps in flight)
// as k30_gradient_graph_transformer_attend_0_linear_0_weight

// update.graph_transformer.attend.0.linear.0.weight: 2688 bytes at least
//   parameter.graph_transformer.attend.0.linear.0.weight = step(parameter.graph_transformer.attend.0.linear.0.weight, gradient.graph_transformer.attend.0.linear.0.weight)
//   (text: cuda/src/epoch_clock.rs, decide_optimizer)
extern "C" __global__ void __launch_bounds__(256, 1) k36_update_graph_transformer_attend_0_linear_0_weight(real* parameter_0, const real* __restrict__ gradient_0, real* first_0, real* second_0, const double* __restrict__ settings_0, real* parameter_1, const real* __restrict__ gradient_1, real* first_1, real* second_1, const double* __restrict__ settings_1, real* parameter_2, const real* __restrict__ gradient_2, real* first_2, real* second_2, const double* __restrict__ settings_2, real* parameter_3, const real* __restrict__ gradient_3, real* first_3, real* second_3, const double* __restrict__ settings_3, real* parameter_4, const real* __restrict__ gradient_4, real* first_4, real* second_4, const double* __restrict__ settings_4, real* parameter_5, const real* __restrict__ gradient_5, real* first_5, real* second_5, const double* __restrict__ settings_5, real* parameter_6, const real* __restrict__ gradient_6, real* first_6, real* second_6, const double* __restrict__ settings_6, real* parameter_7, const real* __restrict__ gradient_7, real* first_7, real* second_7, const double* __restrict__ settings_7, real* parameter_8, const real* __restrict__ gradient_8, real* first_8, real* second_8, const double* __restrict__ settings_8, real* parameter_9, const real* __restrict__ gradient_9, real* first_9, real* second_9, const double* __restrict__ settings_9, real* parameter_10, const real* __restrict__ gradient_10, real* first_10, real* second_10, const double* __restrict__ settings_10, real* parameter_11, const real* __restrict__ gradient_11, real* first_11, real* second_11, const double* __restrict__ settings_11, real* parameter_12, const real* __restrict__ gradient_12, real* first_12, real* second_12, const double* __restrict__ settings_12, real* parameter_13, const real* __restrict__ gradient_13, real* first_13, real* second_13, const double* __restrict__ settings_13, real* parameter_14, const real* __restrict__ gradient_14, real* first_14, real* second_14, const double* __restrict__ settings_14, real* parameter_15, const real* __restrict__ gradient_15, real* first_15, real* second_15, const double* __restrict__ settings_15, const Clock* __restrict__ clock) {
  real* const parameter = blockIdx.x < 1u ? parameter_0 : blockIdx.x < 2u ? parameter_1 : blockIdx.x < 3u ? parameter_2 : blockIdx.x < 4u ? parameter_3 : blockIdx.x < 5u ? parameter_4 : blockIdx.x < 6u ? parameter_5 : blockIdx.x < 7u ? parameter_6 : blockIdx.x < 8u ? parameter_7 : blockIdx.x < 9u ? parameter_8 : blockIdx.x < 10u ? parameter_9 : blockIdx.x < 11u ? parameter_10 : blockIdx.x < 12u ? parameter_11 : blockIdx.x < 13u ? parameter_12 : blockIdx.x < 14u ? parameter_13 : blockIdx.x < 15u ? parameter_14 : parameter_15;
  const real* const gradient = blockIdx.x < 1u ? gradient_0 : blockIdx.x < 2u ? gradient_1 : blockIdx.x < 3u ? gradient_2 : blockIdx.x < 4u ? gradient_3 : blockIdx.x < 5u ? gradient_4 : blockIdx.x < 6u ? gradient_5 : blockIdx.x < 7u ? gradient_6 : blockIdx.x < 8u ? gradient_7 : blockIdx.x < 9u ? gradient_8 : blockIdx.x < 10u ? gradient_9 : blockIdx.x < 11u ? gradient_10 : blockIdx.x < 12u ? gradient_11 : blockIdx.x < 13u ? gradient_12 : blockIdx.x < 14u ? gradient_13 : blockIdx.x < 15u ? gradient_14 : gradient_15;
  real* const first = blockIdx.x < 1u ? first_0 : blockIdx.x < 2u ? first_1 : blockIdx.x < 3u ? first_2 : blockIdx.x < 4u ? first_3 : blockIdx.x < 5u ? first_4 : blockIdx.x < 6u ? first_5 : blockIdx.x < 7u ? first_6 : blockIdx.x < 8u ? first_7 : blockIdx.x < 9u ? first_8 : blockIdx.x < 10u ? first_9 : blockIdx.x < 11u ? first_10 : blockIdx.x < 12u ? first_11 : blockIdx.x < 13u ? first_12 : blockIdx.x < 14u ? first_13 : blockIdx.x < 15u ? first_14 : first_15;
  real* const second = blockIdx.x < 1u ? second_0 : blockIdx.x < 2u ? second_1 : blockIdx.x < 3u ? second_2 : blockIdx.x < 4u ? second_3 : blockIdx.x < 5u ? second_4 : blockIdx.x < 6u ? second_5 : blockIdx.x < 7u ? second_6 : blockIdx.x < 8u ? second_7 : blockIdx.x < 9u ? second_8 : blockIdx.x < 10u ? second_9 : blockIdx.x < 11u ? second_10 : blockIdx.x < 12u ? second_11 : blockIdx.x < 13u ? second_12 : blockIdx.x < 14u ? second_13 : blockIdx.x < 15u ? second_14 : second_15;
  const double* const settings = blockIdx.x < 1u ? settings_0 : blockIdx.x < 2u ? settings_1 : blockIdx.x < 3u ? settings_2 : blockIdx.x < 4u ? settings_3 : blockIdx.x < 5u ? settings_4 : blockIdx.x < 6u ? settings_5 : blockIdx.x < 7u ? settings_6 : blockIdx.x < 8u ? settings_7 : blockIdx.x < 9u ? settings_8 : blockIdx.x < 10u ? settings_9 : blockIdx.x < 11u ? settings_10 : blockIdx.x < 12u ? settings_11 : blockIdx.x < 13u ? settings_12 : blockIdx.x < 14u ? settings_13 : blockIdx.x < 15u ? settings_14 : settings_15;
  const unsigned i = (blockIdx.x - (blockIdx.x < 1u ? 0u : blockIdx.x < 2u ? 1u : blockIdx.x < 3u ? 2u : blockIdx.x < 4u ? 3u : blockIdx.x < 5u ? 4u : blockIdx.x < 6u ? 5u : blockIdx.x < 7u ? 6u : blockIdx.x < 8u ? 7u : blockIdx.x < 9u ? 8u : blockIdx.x < 10u ? 9u : blockIdx.x < 11u ? 10u : blockIdx.x < 12u ? 11u : blockIdx.x < 13u ? 12u : blockIdx.x < 14u ? 13u : blockIdx.x < 15u ? 14u : 15u)) * blockDim.x + threadIdx.x, elements = blockIdx.x < 1u ? 96u : blockIdx.x < 2u ? 16u : blockIdx.x < 3u ? 96u : blockIdx.x < 4u ? 16u : blockIdx.x < 5u ? 96u : blockIdx.x < 6u ? 16u : blockIdx.x < 7u ? 96u : blockIdx.x < 8u ? 16u : blockIdx.x < 9u ? 48u : blockIdx.x < 10u ? 3u : blockIdx.x < 11u ? 48u : blockIdx.x < 12u ? 3u : blockIdx.x < 13u ? 48u : blockIdx.x < 14u ? 3u : blockIdx.x < 15u ? 48u : 3u;
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

// update.graph_transformer.attend.0.linear.0.bias: 448 bytes at least
//   parameter.graph_transformer.attend.0.linear.0.bias = step(parameter.graph_transformer.attend.0.linear.0.bias, gradient.graph_transformer.attend.0.linear.0.bias)
// merged into the kernel of graph_transformer.attend.0.linear.0.weight

// update.graph_transformer.attend.0.linear.1.weight: 2688 bytes at least
//   parameter.graph_transformer.attend.0.linear.1.weight = step(parameter.graph_transformer.attend.0.linear.1.weight, gradient.graph_transformer.attend.0.linear.1.weight)
// merged into the kernel of graph_transformer.attend.0.linear.0.weight

// update.graph_transformer.attend.0.linear.1.bias: 448 bytes at least
//   parameter.graph_transformer.attend.0.linear.1.bias = step(parameter.graph_transformer.attend.0.linear.1.bias, gradient.graph_transformer.attend.0.linear.1.bias)
// merged into the kernel of graph_transformer.attend.0.linear.0.weight

// update.graph_transformer.attend.0.linear.2.weight: 2688 bytes at least
//   parameter.graph_transformer.attend.0.linear.2.weight = step(parameter.graph_transformer.attend.0.linear.2.weight, gradient.graph_transformer.attend.0.linear.2.weight)
// merged into the kernel of graph_transformer.attend.0.linear.0.weight

// update.graph_transformer.attend.0.linear.2.bias: 448 bytes at least
//   parameter.graph_transformer.attend.0.linear.2.bias = step(parameter.graph_transformer.attend.0.linear.2.bias, gradient.graph_transformer.attend.0.linear.2.bias)
// merged into the kernel of graph_transformer.attend.0.linear.0.weight

// update.graph_transformer.attend.0.linear.3.weight: 2688 bytes at least
//   parameter.graph_transformer.attend.0.linear.3.weight = step(parameter.graph_transformer.attend.0.linear.3.weight, gradient.graph_transformer.attend.0.linear.3.weight)
// merged into the kernel of graph_transformer.attend.0.linear.0.weight

// update.graph_transformer.attend.0.linear.3.bias: 448 bytes at least
//   parameter.graph_transformer.attend.0.linear.3.bias = step(parameter.graph_transformer.attend.0.linear.3.bias, gradient.graph_transformer.attend.0.linear.3.bias)
// merged into the kernel of graph_transformer.attend.0.linear.0.weight

// update.graph_transformer.attend.1.linear.0.weight: 1344 bytes at least
//   parameter.graph_transformer.attend.1.linear.0.weight = step(parameter.graph_transformer.attend.1.linear.0.weight, gradient.graph_transformer.attend.1.linear.0.weight)
// merged into the kernel of graph_transformer.attend.0.linear.0.weight

// update.graph_transformer.attend.1.linear.0.bias: 84 bytes at least
//   parameter.graph_transformer.attend.1.linear.0.bias = step(parameter.graph_transformer.attend.1.linear.0.bias, gradient.graph_transformer.attend.1.linear.0.bias)
// merged into the kernel of graph_transformer.attend.0.linear.0.weight

// update.graph_transformer.attend.1.linear.1.weight: 1344 bytes at least
//   parameter.graph_transformer.attend.1.linear.1.weight = step(parameter.graph_transformer.attend.1.linear.1.weight, gradient.graph_transformer.attend.1.linear.1.weight)
// merged into the kernel of graph_transformer.attend.0.linear.0.weight

// update.graph_transformer.attend.1.linear.1.bias: 84 bytes at least
//   parameter.graph_transformer.attend.1.linear.1.bias = step(parameter.graph_transformer.attend.1.linear.1.bias, gradient.graph_transformer.attend.1.linear.1.bias)
// merged into the kernel of graph_transformer.attend.0.linear.0.weight

// update.graph_transformer.attend.1.linear.2.weight: 1344 bytes at least
//   parameter.graph_transformer.attend.1.linear.2.weight = step(parameter.graph_transformer.attend.1.linear.2.weight, gradient.graph_transformer.attend.1.linear.2.weight)
// merged into the kernel of graph_transformer.attend.0.linear.0.weight

// update.graph_transformer.attend.1.linear.2.bias: 84 bytes at least
//   parameter.graph_transformer.attend.1.linear.2.bias = step(parameter.graph_transformer.attend.1.linear.2.bias, gradient.graph_transformer.attend.1.linear.2.bias)
// merged into the kernel of graph_transformer.attend.0.linear.0.weight

// update.graph_transformer.attend.1.linear.3.weight: 1344 bytes at least
//   parameter.graph_transformer.attend.1.linear.3.weight = step(parameter.graph_transformer.attend.1.linear.3.weight, gradient.graph_transformer.attend.1.linear.3.weight)
// merged into the kernel of graph_transformer.attend.0.linear.0.weight

// update.graph_transformer.attend.1.linear.3.bias: 84 bytes at least
//   parameter.graph_transformer.attend.1.linear.3.bias = step(parameter.graph_transformer.attend.1.linear.3.bias, gradient.graph_transformer.attend.1.linear.3.bias)
// merged into the kernel of graph_transformer.attend.0.linear.0.weight

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
extern "C" __global__ void watch_0(Watch* __restrict__ watches, Clock* clock, const unsigned* __restrict__ counts, const unsigned tells, const real* __restrict__ from_0, real* __restrict__ to_0, const real* __restrict__ from_1, real* __restrict__ to_1, const real* __restrict__ from_2, real* __restrict__ to_2, const real* __restrict__ from_3, real* __restrict__ to_3, const real* __restrict__ from_4, real* __restrict__ to_4, const real* __restrict__ from_5, real* __restrict__ to_5, const real* __restrict__ from_6, real* __restrict__ to_6, const real* __restrict__ from_7, real* __restrict__ to_7, const real* __restrict__ from_8, real* __restrict__ to_8, const real* __restrict__ from_9, real* __restrict__ to_9, const real* __restrict__ from_10, real* __restrict__ to_10, const real* __restrict__ from_11, real* __restrict__ to_11, const real* __restrict__ from_12, real* __restrict__ to_12, const real* __restrict__ from_13, real* __restrict__ to_13, const real* __restrict__ from_14, real* __restrict__ to_14, const real* __restrict__ from_15, real* __restrict__ to_15) {
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
  for (unsigned i = first; i < 96u; i += all) to_0[i] = from_0[i];
  for (unsigned i = first; i < 16u; i += all) to_1[i] = from_1[i];
  for (unsigned i = first; i < 96u; i += all) to_2[i] = from_2[i];
  for (unsigned i = first; i < 16u; i += all) to_3[i] = from_3[i];
  for (unsigned i = first; i < 96u; i += all) to_4[i] = from_4[i];
  for (unsigned i = first; i < 16u; i += all) to_5[i] = from_5[i];
  for (unsigned i = first; i < 96u; i += all) to_6[i] = from_6[i];
  for (unsigned i = first; i < 16u; i += all) to_7[i] = from_7[i];
  for (unsigned i = first; i < 48u; i += all) to_8[i] = from_8[i];
  for (unsigned i = first; i < 3u; i += all) to_9[i] = from_9[i];
  for (unsigned i = first; i < 48u; i += all) to_10[i] = from_10[i];
  for (unsigned i = first; i < 3u; i += all) to_11[i] = from_11[i];
  for (unsigned i = first; i < 48u; i += all) to_12[i] = from_12[i];
  for (unsigned i = first; i < 3u; i += all) to_13[i] = from_13[i];
  for (unsigned i = first; i < 48u; i += all) to_14[i] = from_14[i];
  for (unsigned i = first; i < 3u; i += all) to_15[i] = from_15[i];
}
