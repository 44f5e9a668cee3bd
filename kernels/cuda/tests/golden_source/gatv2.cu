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

// add.5: 29248 bytes at least, line 9 of the program
//   product.3 (nodes x 16) = product transposed(dropout.1, parameter.gatv2.attend.0.linear.0.weight)
//   add.5 = add(product.3, parameter.gatv2.attend.0.linear.0.bias)
//   (1 rows of 4 columns a thread, 4 threads along a row)
//   (text: cuda/src/plain_products.rs, decide_product)
extern "C" __global__ void __launch_bounds__(256, 2) k1_add_5(const real* __restrict__ b_parameter_gatv2_attend_0_linear_0_weight, const real* __restrict__ b_dropout_1, const real* __restrict__ b_parameter_gatv2_attend_0_linear_0_bias, real* __restrict__ o_add_5, const unsigned rows_given) {
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
      right[k][m] = k0 + k < K && slice + m < WIDE ? __ldg(b_parameter_gatv2_attend_0_linear_0_weight + (offset_t)(slice + m) * 6 + k0 + k) : (real)0;
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
    real parameter_gatv2_attend_0_linear_0_bias_1[Q][V]; EACH_Q load<V>(parameter_gatv2_attend_0_linear_0_bias_1[q], b_parameter_gatv2_attend_0_linear_0_bias + c[q]);
    real add_5_2[Q][V]; EACH add_5_2[q][j] = made[q][j] + parameter_gatv2_attend_0_linear_0_bias_1[q][j];
    EACH_Q if (own[q]) store<V>(o_add_5 + (offset_t)v * 16 + c[q], add_5_2[q]);
  }
}

// add.10: 29248 bytes at least, line 9 of the program
//   product.8 (nodes x 16) = product transposed(dropout.1, parameter.gatv2.attend.0.linear.1.weight)
//   add.10 = add(product.8, parameter.gatv2.attend.0.linear.1.bias)
//   (1 rows of 4 columns a thread, 4 threads along a row)
// as k1_add_5

// h.40: 123732 bytes at least, lines 3, 4, 11, 12, 13 of the program
//   add.15 (edges x 16) = add(add.5[far.in], add.10[near.in])
//   leakyrelu.16 (edges x 16) = leakyrelu(0.2)(add.15)
//   axis.18 (edges x 2) = axis sum 1(leakyrelu.16 * parameter.gatv2.attend.0.param.0)
//   reduce.20 (nodes x 2) = reduce maximum.in(axis.18)
//   equal.23 (nodes x 2) = equal(reduce.20, -inf)
//   select.24 = select(equal.23, 0.0, reduce.20)
//   subtract.26 (edges x 2) = subtract(axis.18, select.24[near.in])
//   exp.27 (edges x 2) = exp(subtract.26)
//   reduce.28 (nodes x 2) = reduce sum.in(exp.27)
//   equal.30 (nodes x 2) = equal(reduce.28, 0.0)
//   select.31 = select(equal.30, 1.0, reduce.28)
//   dropout.32 (edges x 2) = dropout 0.3 site 1(exp.27)
//   reduce.34 (nodes x 16) = reduce sum.in(dropout.32 * add.5[far.in])
//   divide.35 = divide(reduce.34, select.31)
//   add.37 (nodes x 16) = add(divide.35, parameter.gatv2.attend.0.bias.0)
//   h.38 = elu(add.37)
//   h.40 = dropout 0.5 site 2(h.38)
//   (4 lanes of 4 columns a row, 8 rows a warp, 4 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
//   (also computes add.44, a product of these rows)
//   (text: cuda/src/row_walk.rs, emit_edge_kernel)
extern "C" __global__ void __launch_bounds__(256, ON_HOPPER(3)) k3_h_40(const real* __restrict__ b_parameter_gatv2_attend_1_linear_0_weight, const real* __restrict__ b_parameter_gatv2_attend_1_linear_0_bias, real* __restrict__ o_add_44, const real* __restrict__ b_add_5, const real* __restrict__ b_add_10, const real* __restrict__ b_parameter_gatv2_attend_0_param_0, const real* __restrict__ b_parameter_gatv2_attend_0_bias_0, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, const unsigned* __restrict__ rows_in_graph, real* __restrict__ o_select_24, real* __restrict__ o_select_31, real* __restrict__ o_divide_35, real* __restrict__ o_h_38, real* __restrict__ o_h_40, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned* __restrict__ slot_edge, const unsigned hub_items, const unsigned pieces, double* __restrict__ parts_of_hubs, unsigned* ticket, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
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
  const unsigned row_in_graph = rows_in_graph ? __ldg(rows_in_graph + v) : v;
  real add_10_16[Q][V]; EACH_Q load<V>(add_10_16[q], b_add_10 + (offset_t)v * 16 + c[q]);
  real parameter_gatv2_attend_0_param_0_19[Q][V]; EACH_Q load<V>(parameter_gatv2_attend_0_param_0_19[q], b_parameter_gatv2_attend_0_param_0 + c[q]);
  real reduce_20_1[Q]; EACH_Q reduce_20_1[q] = (real)-INFINITE;
  real reduce_28_4[Q]; EACH_Q reduce_28_4[q] = 0;
  real reduce_34_7[Q][V]; EACH reduce_34_7[q][j] = 0;
  {
    const real* place_14 = b_add_5 + c[0]; keep(place_14);
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
        real add_5_15[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q load<V>(add_5_15[k][q], place_14 + (offset_t)u[k] * 16); }
        real score_22[B][Q];
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real add_15_17[Q][V]; EACH add_15_17[q][j] = add_5_15[k][q][j] + add_10_16[q][j];
          real leakyrelu_16_18[Q][V]; EACH leakyrelu_16_18[q][j] = leaky_relu(add_15_17[q][j], (real)0.2);
          real product_20[Q][V]; EACH product_20[q][j] = leakyrelu_16_18[q][j] * parameter_gatv2_attend_0_param_0_19[q][j];
          real axis_18_21[Q];
          EACH_Q axis_18_21[q] = 0;
          EACH axis_18_21[q] = axis_18_21[q] + product_20[q][j];
          EACH_Q axis_18_21[q] = axis_18_21[q] + across(axis_18_21[q], 1);
          EACH_Q score_22[k][q] = here ? axis_18_21[q] : (real)-INFINITE;
        }
        real before_23[Q]; EACH_Q before_23[q] = reduce_20_1[q];
        UNROLL for (int k = 0; k < B; k++) EACH_Q reduce_20_1[q] = most(reduce_20_1[q], score_22[k][q]);
        real scale_24[Q]; if (begun) EACH_Q scale_24[q] = grown(before_23[q], reduce_20_1[q]);
        real shift_25[Q]; EACH_Q shift_25[q] = reduce_20_1[q] == (real)-INFINITE ? (real)0 : reduce_20_1[q];
        if (begun) EACH_Q reduce_28_4[q] = reduce_28_4[q] * scale_24[q];
        if (begun) EACH reduce_34_7[q][j] = reduce_34_7[q][j] * scale_24[q];
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real exp_27_26[Q]; EACH_Q exp_27_26[q] = exponential_of_share(score_22[k][q] - shift_25[q]);
          EACH_Q if (here) reduce_28_4[q] = reduce_28_4[q] + exp_27_26[q];
          real dropout_32_27[Q]; EACH_Q dropout_32_27[q] = !training ? exp_27_26[q] : stream_2[k] >> (c[q] / 8u) & 1 ? exp_27_26[q] * (real)1.4285776566757493 : (real)0;
          real product_28[Q][V]; EACH product_28[q][j] = dropout_32_27[q] * add_5_15[k][q][j];
          EACH if (here) reduce_34_7[q][j] = reduce_34_7[q][j] + product_28[q][j];
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
    real alone_reduce_20_1[Q]; EACH_Q alone_reduce_20_1[q] = reduce_20_1[q];
    EACH_Q { const real own_part = reduce_20_1[q]; reduce_20_1[q] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_20_1[q] = most(reduce_20_1[q], from_lane(own_part, g * L + part)); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH_Q told[(warp * L + part) * 1 + q] = reduce_20_1[q]; }
      __syncthreads();
      EACH_Q { reduce_20_1[q] = told[(0 * L + part) * 1 + q]; for (int w = 1; w < WARPS; w++) reduce_20_1[q] = most(reduce_20_1[q], told[(w * L + part) * 1 + q]); }
      __syncthreads();
    }
    EACH_Q alone_reduce_20_1[q] = grown(alone_reduce_20_1[q], reduce_20_1[q]);
    EACH_Q reduce_28_4[q] = reduce_28_4[q] * alone_reduce_20_1[q];
    EACH_Q { const real own_part = reduce_28_4[q]; reduce_28_4[q] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_28_4[q] = reduce_28_4[q] + from_lane(own_part, g * L + part); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH_Q told[(warp * L + part) * 1 + q] = reduce_28_4[q]; }
      __syncthreads();
      EACH_Q { reduce_28_4[q] = told[(0 * L + part) * 1 + q]; for (int w = 1; w < WARPS; w++) reduce_28_4[q] = reduce_28_4[q] + told[(w * L + part) * 1 + q]; }
      __syncthreads();
    }
    EACH reduce_34_7[q][j] = reduce_34_7[q][j] * alone_reduce_20_1[q];
    EACH { const real own_part = reduce_34_7[q][j]; reduce_34_7[q][j] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_34_7[q][j] = reduce_34_7[q][j] + from_lane(own_part, g * L + part); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = reduce_34_7[q][j]; }
      __syncthreads();
      EACH { reduce_34_7[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) reduce_34_7[q][j] = reduce_34_7[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
  }
  if (tier == 3) {
    constexpr unsigned SLOTS = 6;
    const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
    double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
    if (writes) {
      double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
      EACH_Q tell(of_piece + (0 + q) * L, reduce_20_1[q]);EACH_Q tell(of_piece + (1 + q) * L, reduce_28_4[q]);EACH tell(of_piece + (2 + q * V + j) * L, reduce_34_7[q][j]);
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
      EACH_Q reduce_20_1[q] = heard<real>(of_piece + (0 + q) * L);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        EACH_Q reduce_20_1[q] = most(reduce_20_1[q], heard<real>(of_piece + (0 + q) * L));
      }
    }
    {
      const double* of_piece = of_item;
      EACH_Q reduce_28_4[q] = heard<real>(of_piece + (1 + q) * L) * grown(heard<real>(of_piece + (0 + q) * L), reduce_20_1[q]);EACH reduce_34_7[q][j] = heard<real>(of_piece + (2 + q * V + j) * L) * grown(heard<real>(of_piece + (0 + q) * L), reduce_20_1[q]);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        EACH_Q reduce_28_4[q] = reduce_28_4[q] + heard<real>(of_piece + (1 + q) * L) * grown(heard<real>(of_piece + (0 + q) * L), reduce_20_1[q]);EACH reduce_34_7[q][j] = reduce_34_7[q][j] + heard<real>(of_piece + (2 + q * V + j) * L) * grown(heard<real>(of_piece + (0 + q) * L), reduce_20_1[q]);
      }
    }
  }
  bool equal_23_2[Q]; EACH_Q equal_23_2[q] = reduce_20_1[q] == ((real)-INFINITE);
  real select_24_3[Q]; EACH_Q select_24_3[q] = equal_23_2[q] ? ((real)0.0) : reduce_20_1[q];
  bool equal_30_5[Q]; EACH_Q equal_30_5[q] = reduce_28_4[q] == ((real)0.0);
  real select_31_6[Q]; EACH_Q select_31_6[q] = equal_30_5[q] ? ((real)1.0) : reduce_28_4[q];
  real divide_35_8[Q][V]; EACH_Q divide(divide_35_8[q], reduce_34_7[q], select_31_6[q]);
  real parameter_gatv2_attend_0_bias_0_9[Q][V]; EACH_Q load<V>(parameter_gatv2_attend_0_bias_0_9[q], b_parameter_gatv2_attend_0_bias_0 + c[q]);
  real add_37_10[Q][V]; EACH add_37_10[q][j] = divide_35_8[q][j] + parameter_gatv2_attend_0_bias_0_9[q][j];
  real h_38_11[Q][V]; EACH h_38_11[q][j] = elu(add_37_10[q][j]);
  real h_40_12[Q][V]; EACH_Q { bool kept_13[V]; UNROLL for (int j = 0; j < V; j++) kept_13[j] = true; if (training) keeps<V>(kept_13, row_in_graph, c[q], clock->epoch, 2u, seed, 32768u); UNROLL for (int j = 0; j < V; j++) h_40_12[q][j] = !training ? h_38_11[q][j] : kept_13[j] ? h_38_11[q][j] * (real)2.0 : (real)0; }
  real of_tail[4] = {};
  UNROLL for (int m = 0; m < 3; m++) {
    EACH_Q { real of_matrix[V]; load<V>(of_matrix, b_parameter_gatv2_attend_1_linear_0_weight + m * 16u + c[q]); UNROLL for (int j = 0; j < V; j++) of_tail[m] += h_40_12[q][j] * of_matrix[j]; }
    UNROLL for (int distance = 1; distance < L; distance *= 2) of_tail[m] += across(of_tail[m], distance);
  }
  if (!writes) return;
  EACH if (own[q] && (c[q] + j) % 8u == 0) o_select_24[(offset_t)v * 2 + (c[q] / 8u)] = select_24_3[q];
  EACH if (own[q] && (c[q] + j) % 8u == 0) o_select_31[(offset_t)v * 2 + (c[q] / 8u)] = select_31_6[q];
  EACH_Q if (own[q]) store<V>(o_divide_35 + (offset_t)v * 16 + c[q], divide_35_8[q]);
  EACH_Q if (own[q]) store<V>(o_h_38 + (offset_t)v * 16 + c[q], h_38_11[q]);
  EACH_Q if (own[q]) store<V>(o_h_40 + (offset_t)v * 16 + c[q], h_40_12[q]);
  if (part == 0) {
    constexpr unsigned V = 4, Q = 1;
    [[maybe_unused]] bool own[Q];
    [[maybe_unused]] unsigned c[Q];
    EACH_Q { own[q] = true; c[q] = q * V; }
    real made[Q][V]; EACH made[q][j] = of_tail[q * V + j];
    real parameter_gatv2_attend_1_linear_0_bias_1[Q][V]; EACH_Q load<V>(parameter_gatv2_attend_1_linear_0_bias_1[q], b_parameter_gatv2_attend_1_linear_0_bias + c[q]);
    real add_44_2[Q][V]; EACH add_44_2[q][j] = made[q][j] + parameter_gatv2_attend_1_linear_0_bias_1[q][j];
    EACH_Q if (own[q]) store<V>(o_add_44 + (offset_t)v * 4 + c[q], add_44_2[q]);
  }
}

// add.44: 24204 bytes at least, line 9 of the program
//   product.42 (nodes x 3) = product transposed(h.40, parameter.gatv2.attend.1.linear.0.weight)
//   add.44 = add(product.42, parameter.gatv2.attend.1.linear.0.bias)
// merged into the kernel of h.40

// add.49: 24204 bytes at least, line 9 of the program
//   product.47 (nodes x 3) = product transposed(h.40, parameter.gatv2.attend.1.linear.1.weight)
//   add.49 = add(product.47, parameter.gatv2.attend.1.linear.1.bias)
//   (on tensor cores: 16 rows x 8 columns a warp, 2 steps of 32 elements in flight)
//   (text: cuda/src/tensor_core_products.rs, add_merged_products)
extern "C" __global__ void __launch_bounds__(256, 2) k5_add_49(const real* __restrict__ b_parameter_gatv2_attend_1_linear_1_weight, const real* __restrict__ b_h_40, const real* __restrict__ b_parameter_gatv2_attend_1_linear_1_bias, real* __restrict__ o_add_49, const unsigned rows_given) {
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
        copy_later<16>(to, b_h_40 + (here ? (offset_t)row * 16 + column : 0), here);
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
      b[j] = k < K && column < WIDE ? __ldg(b_parameter_gatv2_attend_1_linear_1_weight + (offset_t)column * 16 + k) : (real)0;
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
      real parameter_gatv2_attend_1_linear_1_bias_1[Q][V]; EACH_Q load<V>(parameter_gatv2_attend_1_linear_1_bias_1[q], b_parameter_gatv2_attend_1_linear_1_bias + c[q]);
      real add_49_2[Q][V]; EACH add_49_2[q][j] = made[q][j] + parameter_gatv2_attend_1_linear_1_bias_1[q][j];
      EACH_Q if (own[q]) store<V>(o_add_49 + (offset_t)v * 4 + c[q], add_49_2[q]);
    }
  }
}

// add.75: 27628 bytes at least, lines 5, 11, 12, 13 of the program
//   add.54 (edges x 3) = add(add.44[far.in], add.49[near.in])
//   leakyrelu.55 (edges x 3) = leakyrelu(0.2)(add.54)
//   axis.57 (edges x 1) = axis sum 1(leakyrelu.55 * parameter.gatv2.attend.1.param.0)
//   reduce.59 (nodes x 1) = reduce maximum.in(axis.57)
//   equal.60 (nodes x 1) = equal(reduce.59, -inf)
//   select.61 = select(equal.60, 0.0, reduce.59)
//   subtract.63 (edges x 1) = subtract(axis.57, select.61[near.in])
//   exp.64 (edges x 1) = exp(subtract.63)
//   reduce.65 (nodes x 1) = reduce sum.in(exp.64)
//   equal.66 (nodes x 1) = equal(reduce.65, 0.0)
//   select.67 = select(equal.66, 1.0, reduce.65)
//   dropout.68 (edges x 1) = dropout 0.3 site 3(exp.64)
//   reduce.70 (nodes x 3) = reduce sum.in(dropout.68 * add.44[far.in])
//   divide.71 = divide(reduce.70, select.67)
//   add.73 (nodes x 3) = add(divide.71, parameter.gatv2.attend.1.bias.0)
//   add.75 = add(add.73, 0.0)
//   (1 lanes of 4 columns a row, 32 rows a warp, 4 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
//   (text: cuda/src/row_walk.rs, emit_edge_kernel)
extern "C" __global__ void __launch_bounds__(256, 2) k6_add_75(const real* __restrict__ b_add_44, const real* __restrict__ b_add_49, const real* __restrict__ b_parameter_gatv2_attend_1_param_0, const real* __restrict__ b_parameter_gatv2_attend_1_bias_0, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_select_61, real* __restrict__ o_select_67, real* __restrict__ o_divide_71, real* __restrict__ o_add_75, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned* __restrict__ slot_edge, const unsigned hub_items, const unsigned pieces, double* __restrict__ parts_of_hubs, unsigned* ticket, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
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
  real add_49_14[Q][V]; EACH_Q load<V>(add_49_14[q], b_add_49 + (offset_t)v * 4 + c[q]);
  real parameter_gatv2_attend_1_param_0_17[Q][V]; EACH_Q load<V>(parameter_gatv2_attend_1_param_0_17[q], b_parameter_gatv2_attend_1_param_0 + c[q]);
  real reduce_59_1; reduce_59_1 = (real)-INFINITE;
  real reduce_65_4; reduce_65_4 = 0;
  real reduce_70_7[Q][V]; EACH reduce_70_7[q][j] = 0;
  {
    const real* place_12 = b_add_44 + c[0]; keep(place_12);
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
        real add_44_13[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q load<V>(add_44_13[k][q], place_12 + (offset_t)u[k] * 4); }
        real score_20[B];
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real add_54_15[Q][V]; EACH add_54_15[q][j] = add_44_13[k][q][j] + add_49_14[q][j];
          real leakyrelu_55_16[Q][V]; EACH leakyrelu_55_16[q][j] = leaky_relu(add_54_15[q][j], (real)0.2);
          real product_18[Q][V]; EACH product_18[q][j] = leakyrelu_55_16[q][j] * parameter_gatv2_attend_1_param_0_17[q][j];
          real axis_57_19;
          axis_57_19 = 0;
          EACH axis_57_19 = axis_57_19 + (own[q] && c[q] + j < 3u ? product_18[q][j] : 0);
          score_20[k] = here ? axis_57_19 : (real)-INFINITE;
        }
        real before_21; before_21 = reduce_59_1;
        UNROLL for (int k = 0; k < B; k++) reduce_59_1 = most(reduce_59_1, score_20[k]);
        real scale_22; if (begun) scale_22 = grown(before_21, reduce_59_1);
        real shift_23; shift_23 = reduce_59_1 == (real)-INFINITE ? (real)0 : reduce_59_1;
        if (begun) reduce_65_4 = reduce_65_4 * scale_22;
        if (begun) EACH reduce_70_7[q][j] = reduce_70_7[q][j] * scale_22;
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real exp_64_24; exp_64_24 = exponential_of_share(score_20[k] - shift_23);
          if (here) reduce_65_4 = reduce_65_4 + exp_64_24;
          real dropout_68_25; dropout_68_25 = !training ? exp_64_24 : stream_2[k] >> 0 & 1 ? exp_64_24 * (real)1.4285776566757493 : (real)0;
          real product_26[Q][V]; EACH product_26[q][j] = dropout_68_25 * add_44_13[k][q][j];
          EACH if (here) reduce_70_7[q][j] = reduce_70_7[q][j] + product_26[q][j];
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
    real alone_reduce_59_1; alone_reduce_59_1 = reduce_59_1;
    UNROLL for (int apart = 1; apart < 32; apart *= 2) { const real own_part = reduce_59_1; reduce_59_1 = most(reduce_59_1, from_lane(own_part, lane ^ apart)); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { told[(warp * L + part) * 1 + 0] = reduce_59_1; }
      __syncthreads();
      { reduce_59_1 = told[(0 * L + part) * 1 + 0]; for (int w = 1; w < WARPS; w++) reduce_59_1 = most(reduce_59_1, told[(w * L + part) * 1 + 0]); }
      __syncthreads();
    }
    alone_reduce_59_1 = grown(alone_reduce_59_1, reduce_59_1);
    reduce_65_4 = reduce_65_4 * alone_reduce_59_1;
    UNROLL for (int apart = 1; apart < 32; apart *= 2) { const real own_part = reduce_65_4; reduce_65_4 = reduce_65_4 + from_lane(own_part, lane ^ apart); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { told[(warp * L + part) * 1 + 0] = reduce_65_4; }
      __syncthreads();
      { reduce_65_4 = told[(0 * L + part) * 1 + 0]; for (int w = 1; w < WARPS; w++) reduce_65_4 = reduce_65_4 + told[(w * L + part) * 1 + 0]; }
      __syncthreads();
    }
    EACH reduce_70_7[q][j] = reduce_70_7[q][j] * alone_reduce_59_1;
    EACH UNROLL for (int apart = 1; apart < 32; apart *= 2) { const real own_part = reduce_70_7[q][j]; reduce_70_7[q][j] = reduce_70_7[q][j] + from_lane(own_part, lane ^ apart); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = reduce_70_7[q][j]; }
      __syncthreads();
      EACH { reduce_70_7[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) reduce_70_7[q][j] = reduce_70_7[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
  }
  if (tier == 3) {
    constexpr unsigned SLOTS = 6;
    const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
    double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
    if (writes) {
      double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
      tell(of_piece + (0 + 0) * L, reduce_59_1);tell(of_piece + (1 + 0) * L, reduce_65_4);EACH tell(of_piece + (2 + q * V + j) * L, reduce_70_7[q][j]);
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
      reduce_59_1 = heard<real>(of_piece + (0 + 0) * L);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        reduce_59_1 = most(reduce_59_1, heard<real>(of_piece + (0 + 0) * L));
      }
    }
    {
      const double* of_piece = of_item;
      reduce_65_4 = heard<real>(of_piece + (1 + 0) * L) * grown(heard<real>(of_piece + (0 + 0) * L), reduce_59_1);EACH reduce_70_7[q][j] = heard<real>(of_piece + (2 + q * V + j) * L) * grown(heard<real>(of_piece + (0 + 0) * L), reduce_59_1);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        reduce_65_4 = reduce_65_4 + heard<real>(of_piece + (1 + 0) * L) * grown(heard<real>(of_piece + (0 + 0) * L), reduce_59_1);EACH reduce_70_7[q][j] = reduce_70_7[q][j] + heard<real>(of_piece + (2 + q * V + j) * L) * grown(heard<real>(of_piece + (0 + 0) * L), reduce_59_1);
      }
    }
  }
  bool equal_60_2; equal_60_2 = reduce_59_1 == ((real)-INFINITE);
  real select_61_3; select_61_3 = equal_60_2 ? ((real)0.0) : reduce_59_1;
  bool equal_66_5; equal_66_5 = reduce_65_4 == ((real)0.0);
  real select_67_6; select_67_6 = equal_66_5 ? ((real)1.0) : reduce_65_4;
  real divide_71_8[Q][V]; EACH_Q divide(divide_71_8[q], reduce_70_7[q], select_67_6);
  real parameter_gatv2_attend_1_bias_0_9[Q][V]; EACH_Q load<V>(parameter_gatv2_attend_1_bias_0_9[q], b_parameter_gatv2_attend_1_bias_0 + c[q]);
  real add_73_10[Q][V]; EACH add_73_10[q][j] = divide_71_8[q][j] + parameter_gatv2_attend_1_bias_0_9[q][j];
  real add_75_11[Q][V]; EACH add_75_11[q][j] = add_73_10[q][j] + ((real)0.0);
  if (!writes) return;
  EACH if (own[q] && (c[q] + j) == 0) o_select_61[v + 0] = select_61_3;
  EACH if (own[q] && (c[q] + j) == 0) o_select_67[v + 0] = select_67_6;
  EACH_Q if (own[q]) store<V>(o_divide_71 + (offset_t)v * 4 + c[q], divide_71_8[q]);
  EACH_Q if (own[q]) store<V>(o_add_75 + (offset_t)v * 4 + c[q], add_75_11[q]);
}

// loss: 10804 bytes at least
//   slope.result, loss = gradient and value of cross_entropy(add.75, target)
//   (text: cuda/src/loss.rs, decide_loss)
extern "C" __global__ void __launch_bounds__(256, ON_HOPPER(4)) k7_loss(const real* __restrict__ result, const real* __restrict__ target, real* __restrict__ gradient, const unsigned char* __restrict__ split, const double* __restrict__ terms, double* __restrict__ scratch_given, unsigned* __restrict__ counts, const unsigned rows, real* __restrict__ value, double* __restrict__ exact, unsigned char* __restrict__ ring, Clock* __restrict__ clock, unsigned* ticket, real* __restrict__ out) {
  constexpr unsigned C = 3, L = 1, V = 1, PER = (C + L * V - 1) / (L * V) * V, GROUPS = 256 / L, OF_PART = 10, COUNTED = 30, IN_SHARED = 30, SUMS = 1;
  constexpr unsigned OF_RESULT = 4, OF_SLOPE = 4, OF_TARGET = 1, BLOCKS = 2, ALL_COUNTED = 30, SLOTS = 128, SLOT_BYTES = 128;
  double* const scratch = scratch_given + 3;
  real slopes[PER / V][V] = {};
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
    if (live) UNROLL for (int i = 0; i < PER / V; i++) UNROLL for (int j = 0; j < V; j++) slopes[i][j] += held[i][j];
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
  __shared__ real told_slopes[8][L * PER];
  UNROLL for (int i = 0; i < PER / V; i++) UNROLL for (int j = 0; j < V; j++) {
    UNROLL for (int distance = L; distance < 32; distance *= 2) slopes[i][j] += across(slopes[i][j], distance);
    if (threadIdx.x % 32 < L) told_slopes[threadIdx.x / 32][(i * L + lane) * V + j] = slopes[i][j];
  }
  __syncthreads();
  if (threadIdx.x < SUMS) {
    double of_block = told[threadIdx.x][0];
    UNROLL for (int w = 1; w < 8; w++) of_block += told[threadIdx.x][w];
    scratch[threadIdx.x * gridDim.x + blockIdx.x] = of_block;
  }
  for (unsigned column = threadIdx.x; column < C; column += blockDim.x) {
    real of_block = told_slopes[0][column];
    UNROLL for (int w = 1; w < 8; w++) of_block += told_slopes[w][column];
    reinterpret_cast<real*>(scratch_given)[column * gridDim.x + blockIdx.x] = of_block;
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
  {
    const real* const scratch = reinterpret_cast<const real*>(scratch_given);
    constexpr unsigned E = 1, D = E > 2 ? 4 : 8;
    const unsigned parts = gridDim.x, of_warp = threadIdx.x % 32, apart = blockDim.x / 32;
    for (unsigned from = threadIdx.x / 32; from < 3u; from += E * apart) {
      real joined[E] = {};
      for (unsigned first = of_warp; first < parts; first += D * 32) {
        real several[E][D];
        UNROLL for (int e = 0; e < E; e++) UNROLL for (int i = 0; i < D; i++)
        several[e][i] = from + e * apart < 3u && first + i * 32 < parts ? __ldcg(scratch + (offset_t)(from + e * apart) * parts + first + i * 32) : (real)0;
        UNROLL for (int e = 0; e < E; e++) UNROLL for (int i = 0; i < D; i++) joined[e] += several[e][i];
      }
      UNROLL for (int e = 0; e < E; e++) {
        const unsigned element = from + e * apart;
        UNROLL for (int distance = 16; distance > 0; distance /= 2) joined[e] += across(joined[e], distance);
        if (of_warp == 0 && element < 3u) out[element] = joined[e];
      }
    }
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

// gradient.gatv2.attend.1.bias.0: 4812 bytes at least, line 13 of the program
//   gradient.gatv2.attend.1.bias.0 = sum rows(slope.result)
// merged into the kernel of loss

// slope of right.101: 38416 bytes at least, lines 11, 12, 13 of the program
//   divide.81 = divide(slope.result, select.67)
//   multiply.82 (nodes x 3) = multiply(divide.81, divide.71)
//   axis.83 (nodes x 1) = axis sum 1(multiply.82)
//   negative.84 = negative(axis.83)
//   add.54 (edges x 3) = add(add.44[far.in], add.49[near.in])
//   leakyrelu.55 (edges x 3) = leakyrelu(0.2)(add.54)
//   axis.57 (edges x 1) = axis sum 1(leakyrelu.55 * parameter.gatv2.attend.1.param.0)
//   subtract.63 (edges x 1) = subtract(axis.57, select.61[near.in])
//   exp.64 (edges x 1) = exp(subtract.63)
//   axis.88 (edges x 1) = axis sum 1(divide.81[near.in] * add.44[far.in])
//   dropout.90 (edges x 1) = dropout 0.3 site 3(axis.88)
//   add.92 (edges x 1) = add(dropout.90, negative.84[near.in])
//   multiply.93 (edges x 1) = multiply(add.92, exp.64)
//   multiply.94 (edges x 3) = multiply(multiply.93, parameter.gatv2.attend.1.param.0)
//   multiply.98 (edges x 3) = multiply(multiply.94, 0.2)
//   less.99 (edges x 3) = less(0.0, leakyrelu.55)
//   select.100 (edges x 3) = select(less.99, multiply.94, multiply.98)
//   slope of right.101 = reduce sum.in(select.100)
//   (1 lanes of 4 columns a row, 32 rows a warp, 2 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
//   (text: cuda/src/row_walk.rs, emit_edge_kernel)
extern "C" __global__ void __launch_bounds__(256, 2) k9_slope_of_right_101(const real* __restrict__ b_slope_result, const real* __restrict__ b_select_67, const real* __restrict__ b_divide_71, const real* __restrict__ b_add_44, const real* __restrict__ b_add_49, const real* __restrict__ b_parameter_gatv2_attend_1_param_0, const real* __restrict__ b_select_61, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_divide_81, real* __restrict__ o_negative_84, real* __restrict__ o_slope_20_of_20_right_101, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned* __restrict__ slot_edge, const unsigned hub_items, const unsigned pieces, double* __restrict__ parts_of_hubs, unsigned* ticket, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
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
  real select_67_2; select_67_2 = __ldg(b_select_67 + v + 0);
  real divide_81_3[Q][V]; EACH_Q divide(divide_81_3[q], slope_result_1[q], select_67_2);
  real divide_71_4[Q][V]; EACH_Q load<V>(divide_71_4[q], b_divide_71 + (offset_t)v * 4 + c[q]);
  real multiply_82_5[Q][V]; EACH multiply_82_5[q][j] = divide_81_3[q][j] * divide_71_4[q][j];
  real axis_83_6;
  axis_83_6 = 0;
  EACH axis_83_6 = axis_83_6 + (own[q] && c[q] + j < 3u ? multiply_82_5[q][j] : 0);
  real negative_84_7; negative_84_7 = negative(axis_83_6);
  real add_49_11[Q][V]; EACH_Q load<V>(add_49_11[q], b_add_49 + (offset_t)v * 4 + c[q]);
  real parameter_gatv2_attend_1_param_0_19[Q][V]; EACH_Q load<V>(parameter_gatv2_attend_1_param_0_19[q], b_parameter_gatv2_attend_1_param_0 + c[q]);
  real select_61_22; select_61_22 = __ldg(b_select_61 + v + 0);
  real slope_of_right_101_8[Q][V]; EACH slope_of_right_101_8[q][j] = 0;
  {
    const real* place_9 = b_add_44 + c[0]; keep(place_9);
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
        real add_44_10[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q load<V>(add_44_10[k][q], place_9 + (offset_t)u[k] * 4); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real add_54_12[Q][V]; EACH add_54_12[q][j] = add_44_10[k][q][j] + add_49_11[q][j];
          real leakyrelu_55_13[Q][V]; EACH leakyrelu_55_13[q][j] = leaky_relu(add_54_12[q][j], (real)0.2);
          bool less_99_14[Q][V]; EACH less_99_14[q][j] = ((real)0.0) < leakyrelu_55_13[q][j];
          real product_15[Q][V]; EACH product_15[q][j] = divide_81_3[q][j] * add_44_10[k][q][j];
          real axis_88_16;
          axis_88_16 = 0;
          EACH axis_88_16 = axis_88_16 + (own[q] && c[q] + j < 3u ? product_15[q][j] : 0);
          real dropout_90_17; dropout_90_17 = !training ? axis_88_16 : stream_2[k] >> 0 & 1 ? axis_88_16 * (real)1.4285776566757493 : (real)0;
          real add_92_18; add_92_18 = dropout_90_17 + negative_84_7;
          real product_20[Q][V]; EACH product_20[q][j] = leakyrelu_55_13[q][j] * parameter_gatv2_attend_1_param_0_19[q][j];
          real axis_57_21;
          axis_57_21 = 0;
          EACH axis_57_21 = axis_57_21 + (own[q] && c[q] + j < 3u ? product_20[q][j] : 0);
          real subtract_63_23; subtract_63_23 = axis_57_21 - select_61_22;
          real exp_64_24; exp_64_24 = exponential_of_share(subtract_63_23);
          real multiply_93_25; multiply_93_25 = add_92_18 * exp_64_24;
          real multiply_94_26[Q][V]; EACH multiply_94_26[q][j] = multiply_93_25 * parameter_gatv2_attend_1_param_0_19[q][j];
          real multiply_98_27[Q][V]; EACH multiply_98_27[q][j] = multiply_94_26[q][j] * ((real)0.2);
          real select_100_28[Q][V]; EACH select_100_28[q][j] = less_99_14[q][j] ? multiply_94_26[q][j] : multiply_98_27[q][j];
          EACH if (here) slope_of_right_101_8[q][j] = slope_of_right_101_8[q][j] + select_100_28[q][j];
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
    EACH UNROLL for (int apart = 1; apart < 32; apart *= 2) { const real own_part = slope_of_right_101_8[q][j]; slope_of_right_101_8[q][j] = slope_of_right_101_8[q][j] + from_lane(own_part, lane ^ apart); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = slope_of_right_101_8[q][j]; }
      __syncthreads();
      EACH { slope_of_right_101_8[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) slope_of_right_101_8[q][j] = slope_of_right_101_8[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
  }
  if (tier == 3) {
    constexpr unsigned SLOTS = 4;
    const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
    double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
    if (writes) {
      double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
      EACH tell(of_piece + (0 + q * V + j) * L, slope_of_right_101_8[q][j]);
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
      EACH slope_of_right_101_8[q][j] = heard<real>(of_piece + (0 + q * V + j) * L);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        EACH slope_of_right_101_8[q][j] = slope_of_right_101_8[q][j] + heard<real>(of_piece + (0 + q * V + j) * L);
      }
    }
  }
  if (!writes) return;
  EACH_Q if (own[q]) store<V>(o_divide_81 + (offset_t)v * 4 + c[q], divide_81_3[q]);
  EACH if (own[q] && (c[q] + j) == 0) o_negative_84[v + 0] = negative_84_7;
  EACH_Q if (own[q]) store<V>(o_slope_20_of_20_right_101 + (offset_t)v * 4 + c[q], slope_of_right_101_8[q]);
}

// gradient.gatv2.attend.1.linear.1.bias: 4812 bytes at least, line 9 of the program
//   gradient.gatv2.attend.1.linear.1.bias = sum rows(slope of right.101)
// merged into the kernel of gradient.gatv2.attend.1.linear.0.weight

// gradient.gatv2.attend.1.linear.1.weight: 24192 bytes at least, line 9 of the program
//   gradient.gatv2.attend.1.linear.1.weight = outer(slope of right.101, h.40)
// merged into the kernel of gradient.gatv2.attend.1.linear.0.weight

// multiply.95: 31212 bytes at least, lines 11, 12, 13 of the program
//   add.54 (edges x 3) = add(add.44[far.in], add.49[near.in])
//   leakyrelu.55 (edges x 3) = leakyrelu(0.2)(add.54)
//   axis.57 (edges x 1) = axis sum 1(leakyrelu.55 * parameter.gatv2.attend.1.param.0)
//   subtract.63 (edges x 1) = subtract(axis.57, select.61[near.in])
//   exp.64 (edges x 1) = exp(subtract.63)
//   axis.88 (edges x 1) = axis sum 1(divide.81[near.in] * add.44[far.in])
//   dropout.90 (edges x 1) = dropout 0.3 site 3(axis.88)
//   add.92 (edges x 1) = add(dropout.90, negative.84[near.in])
//   multiply.93 (edges x 1) = multiply(add.92, exp.64)
//   multiply.95 = multiply(multiply.93, leakyrelu.55)
//   (4 lanes of 1 columns a row, 64 rows a block)
//   (text: cuda/src/row_walk.rs, emit_row_kernel)
extern "C" __global__ void __launch_bounds__(256, 2) k12_multiply_95(const real* __restrict__ b_add_44, const real* __restrict__ b_add_49, const real* __restrict__ b_parameter_gatv2_attend_1_param_0, const real* __restrict__ b_select_61, const real* __restrict__ b_divide_81, const real* __restrict__ b_negative_84, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, const unsigned* __restrict__ source, const unsigned* __restrict__ target, const unsigned edges_once, real* __restrict__ o_multiply_95, const unsigned rows) {
  after_others();
  constexpr unsigned C = 3, V = 1, L = 4, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { const unsigned place = (q * L + part) * V; own[q] = place < C; c[q] = own[q] ? place : C - V; }
  const unsigned number = blockIdx.x * GROUPS + warp * PER_WARP + group;
  const bool live = number < rows;
  [[maybe_unused]] const unsigned v = live ? number : 0;
  const bool turned = v >= edges_once;
  const unsigned edge_once = turned ? v - edges_once : v;
  const unsigned near = __ldg((turned ? source : target) + edge_once), far = __ldg((turned ? target : source) + edge_once);
  real divide_81_1[Q]; EACH_Q divide_81_1[q] = __ldg(b_divide_81 + (offset_t)near * 4 + c[q]);
  real add_44_2[Q]; EACH_Q add_44_2[q] = __ldg(b_add_44 + (offset_t)far * 4 + c[q]);
  real product_3[Q]; EACH_Q product_3[q] = divide_81_1[q] * add_44_2[q];
  real axis_88_4;
  axis_88_4 = 0;
  EACH axis_88_4 = axis_88_4 + (own[q] ? product_3[q] : 0);
  axis_88_4 = axis_88_4 + across(axis_88_4, 1);
  axis_88_4 = axis_88_4 + across(axis_88_4, 2);
  real dropout_90_5; { bool kept_6[1] = {true}; if (training) keeps<1>(kept_6, (unsigned)v, 0, clock->epoch, 3u, seed, 19661u); dropout_90_5 = !training ? axis_88_4 : kept_6[0] ? axis_88_4 * (real)1.4285776566757493 : (real)0; }
  real negative_84_7; negative_84_7 = __ldg(b_negative_84 + near + 0);
  real add_92_8; add_92_8 = dropout_90_5 + negative_84_7;
  real add_49_9[Q]; EACH_Q add_49_9[q] = __ldg(b_add_49 + (offset_t)near * 4 + c[q]);
  real add_54_10[Q]; EACH_Q add_54_10[q] = add_44_2[q] + add_49_9[q];
  real leakyrelu_55_11[Q]; EACH_Q leakyrelu_55_11[q] = leaky_relu(add_54_10[q], (real)0.2);
  real parameter_gatv2_attend_1_param_0_12[Q]; EACH_Q parameter_gatv2_attend_1_param_0_12[q] = __ldg(b_parameter_gatv2_attend_1_param_0 + c[q]);
  real product_13[Q]; EACH_Q product_13[q] = leakyrelu_55_11[q] * parameter_gatv2_attend_1_param_0_12[q];
  real axis_57_14;
  axis_57_14 = 0;
  EACH axis_57_14 = axis_57_14 + (own[q] ? product_13[q] : 0);
  axis_57_14 = axis_57_14 + across(axis_57_14, 1);
  axis_57_14 = axis_57_14 + across(axis_57_14, 2);
  real select_61_15; select_61_15 = __ldg(b_select_61 + near + 0);
  real subtract_63_16; subtract_63_16 = axis_57_14 - select_61_15;
  real exp_64_17; exp_64_17 = exponential_of_share(subtract_63_16);
  real multiply_93_18; multiply_93_18 = add_92_8 * exp_64_17;
  real multiply_95_19[Q]; EACH_Q multiply_95_19[q] = multiply_93_18 * leakyrelu_55_11[q];
  if (!live) return;
  EACH if (own[q]) o_multiply_95[(offset_t)v * 3 + c[q]] = multiply_95_19[q];
}

// gradient.gatv2.attend.1.param.0: 7212 bytes at least, line 11 of the program
//   gradient.gatv2.attend.1.param.0 = sum rows(multiply.95)
//   (text: cuda/src/reduce_all_rows.rs, decide_total)
extern "C" __global__ void __launch_bounds__(256, 2) k13_gradient_gatv2_attend_1_param_0(const real* __restrict__ b_multiply_95, real* __restrict__ scratch, const unsigned rows_given, real* __restrict__ out, unsigned* ticket) {
  after_others();
  constexpr unsigned K = 3, PLACES = 3, V = 1, L = 4, STRANDS = 256 / L, Q = 1, SUMS = 1;
  const unsigned rows = rows_given;
  const unsigned thread = threadIdx.x % L, strand = threadIdx.x / L, column = blockIdx.y * (L * V) + thread * V;
  const unsigned c[1] = {column < PLACES ? column : PLACES - V};
  const unsigned each = (rows + gridDim.x - 1) / gridDim.x, begin = min(rows, blockIdx.x * each), end = min(rows, begin + each);
  real sums[SUMS][V] = {};
  _Pragma("unroll 4") for (unsigned row = begin + strand; row < end; row += STRANDS) {
    [[maybe_unused]] const unsigned v = row;
    real multiply_95_1[Q]; EACH_Q multiply_95_1[q] = __ldg(b_multiply_95 + (offset_t)v * 3 + c[q]);
    EACH sums[0][j] += multiply_95_1[q];
  }
  __shared__ real told[STRANDS][L * V];
  UNROLL for (int s = 0; s < SUMS; s++) {
    UNROLL for (int j = 0; j < V; j++) told[strand][thread * V + j] = sums[s][j];
    __syncthreads();
    for (unsigned half = STRANDS / 2; half > 0; half /= 2) {
      if (strand < half) UNROLL for (int j = 0; j < V; j++) told[strand][thread * V + j] += told[strand + half][thread * V + j];
      __syncthreads();
    }
    if (strand == 0) UNROLL for (int j = 0; j < V; j++) if (column + j < K) scratch[(offset_t)(s * K + column + j) * gridDim.x + blockIdx.x] = told[0][thread * V + j];
    if (s + 1 < SUMS) __syncthreads();
  }
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(ticket, 1u) + 1 == gridDim.x * gridDim.y * gridDim.z;
  __syncthreads();
  if (!is_last) return;
  if (threadIdx.x == 0) *ticket = 0;
  __threadfence();
  constexpr unsigned E = 1, D = E > 2 ? 4 : 8;
  const unsigned parts = gridDim.x, of_warp = threadIdx.x % 32, apart = blockDim.x / 32;
  for (unsigned from = threadIdx.x / 32; from < 3u; from += E * apart) {
    real joined[E] = {};
    for (unsigned first = of_warp; first < parts; first += D * 32) {
      real several[E][D];
      UNROLL for (int e = 0; e < E; e++) UNROLL for (int i = 0; i < D; i++)
      several[e][i] = from + e * apart < 3u && first + i * 32 < parts ? __ldcg(scratch + (offset_t)(from + e * apart) * parts + first + i * 32) : (real)0;
      UNROLL for (int e = 0; e < E; e++) UNROLL for (int i = 0; i < D; i++) joined[e] += several[e][i];
    }
    UNROLL for (int e = 0; e < E; e++) {
      const unsigned element = from + e * apart;
      UNROLL for (int distance = 16; distance > 0; distance /= 2) joined[e] += across(joined[e], distance);
      if (of_warp == 0 && element < 3u) out[element] = joined[e];
    }
  }
}

// slope of left.105: 30016 bytes at least, lines 11, 12, 13 of the program
//   add.54 (edges x 3) = add(add.44[far.in], add.49[near.in])
//   leakyrelu.55 (edges x 3) = leakyrelu(0.2)(add.54)
//   axis.57 (edges x 1) = axis sum 1(leakyrelu.55 * parameter.gatv2.attend.1.param.0)
//   subtract.63 (edges x 1) = subtract(axis.57, select.61[near.in])
//   exp.64 (edges x 1) = exp(subtract.63)
//   dropout.68 (edges x 1) = dropout 0.3 site 3(exp.64)
//   axis.88 (edges x 1) = axis sum 1(divide.81[near.in] * add.44[far.in])
//   dropout.90 (edges x 1) = dropout 0.3 site 3(axis.88)
//   add.92 (edges x 1) = add(dropout.90, negative.84[near.in])
//   multiply.93 (edges x 1) = multiply(add.92, exp.64)
//   multiply.94 (edges x 3) = multiply(multiply.93, parameter.gatv2.attend.1.param.0)
//   multiply.98 (edges x 3) = multiply(multiply.94, 0.2)
//   less.99 (edges x 3) = less(0.0, leakyrelu.55)
//   select.100 (edges x 3) = select(less.99, multiply.94, multiply.98)
//   multiply.103 (edges x 3) = multiply(divide.81[far.out], dropout.68)
//   add.104 (edges x 3) = add(multiply.103, select.100)
//   slope of left.105 = reduce sum.out(add.104)
//   (1 lanes of 4 columns a row, 32 rows a warp, 1 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
//   (text: cuda/src/row_walk.rs, emit_edge_kernel)
extern "C" __global__ void __launch_bounds__(256, 2) k14_slope_of_left_105(const real* __restrict__ b_add_44, const real* __restrict__ b_add_49, const real* __restrict__ b_parameter_gatv2_attend_1_param_0, const real* __restrict__ b_select_61, const real* __restrict__ b_divide_81, const real* __restrict__ b_negative_84, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_slope_20_of_20_left_105, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned* __restrict__ slot_edge, const unsigned hub_items, const unsigned pieces, double* __restrict__ parts_of_hubs, unsigned* ticket, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
  constexpr unsigned C = 4, V = 4, L = 1, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { own[q] = true; c[q] = (q * L + part) * V; }
  constexpr unsigned B = 1, J = B > L ? B / L : 1, CHUNK = J * L;
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
  real add_44_3[Q][V]; EACH_Q load<V>(add_44_3[q], b_add_44 + (offset_t)v * 4 + c[q]);
  real parameter_gatv2_attend_1_param_0_7[Q][V]; EACH_Q load<V>(parameter_gatv2_attend_1_param_0_7[q], b_parameter_gatv2_attend_1_param_0 + c[q]);
  real slope_of_left_105_1[Q][V]; EACH slope_of_left_105_1[q][j] = 0;
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
        real divide_81_2[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q load<V>(divide_81_2[k][q], b_divide_81 + c[q] + (offset_t)u[k] * 4); }
        real add_49_4[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q load<V>(add_49_4[k][q], b_add_49 + c[q] + (offset_t)u[k] * 4); }
        real select_61_10[B];
        UNROLL for (int k = 0; k < B; k++) { select_61_10[k] = __ldg(b_select_61 + u[k] + 0); }
        real negative_84_19[B];
        UNROLL for (int k = 0; k < B; k++) { negative_84_19[k] = __ldg(b_negative_84 + u[k] + 0); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real add_54_5[Q][V]; EACH add_54_5[q][j] = add_44_3[q][j] + add_49_4[k][q][j];
          real leakyrelu_55_6[Q][V]; EACH leakyrelu_55_6[q][j] = leaky_relu(add_54_5[q][j], (real)0.2);
          real product_8[Q][V]; EACH product_8[q][j] = leakyrelu_55_6[q][j] * parameter_gatv2_attend_1_param_0_7[q][j];
          real axis_57_9;
          axis_57_9 = 0;
          EACH axis_57_9 = axis_57_9 + (own[q] && c[q] + j < 3u ? product_8[q][j] : 0);
          real subtract_63_11; subtract_63_11 = axis_57_9 - select_61_10[k];
          real exp_64_12; exp_64_12 = exponential_of_share(subtract_63_11);
          real dropout_68_13; dropout_68_13 = !training ? exp_64_12 : stream_2[k] >> 0 & 1 ? exp_64_12 * (real)1.4285776566757493 : (real)0;
          real multiply_103_14[Q][V]; EACH multiply_103_14[q][j] = divide_81_2[k][q][j] * dropout_68_13;
          bool less_99_15[Q][V]; EACH less_99_15[q][j] = ((real)0.0) < leakyrelu_55_6[q][j];
          real product_16[Q][V]; EACH product_16[q][j] = divide_81_2[k][q][j] * add_44_3[q][j];
          real axis_88_17;
          axis_88_17 = 0;
          EACH axis_88_17 = axis_88_17 + (own[q] && c[q] + j < 3u ? product_16[q][j] : 0);
          real dropout_90_18; dropout_90_18 = !training ? axis_88_17 : stream_2[k] >> 0 & 1 ? axis_88_17 * (real)1.4285776566757493 : (real)0;
          real add_92_20; add_92_20 = dropout_90_18 + negative_84_19[k];
          real multiply_93_21; multiply_93_21 = add_92_20 * exp_64_12;
          real multiply_94_22[Q][V]; EACH multiply_94_22[q][j] = multiply_93_21 * parameter_gatv2_attend_1_param_0_7[q][j];
          real multiply_98_23[Q][V]; EACH multiply_98_23[q][j] = multiply_94_22[q][j] * ((real)0.2);
          real select_100_24[Q][V]; EACH select_100_24[q][j] = less_99_15[q][j] ? multiply_94_22[q][j] : multiply_98_23[q][j];
          real add_104_25[Q][V]; EACH add_104_25[q][j] = multiply_103_14[q][j] + select_100_24[q][j];
          EACH if (here) slope_of_left_105_1[q][j] = slope_of_left_105_1[q][j] + add_104_25[q][j];
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
    EACH UNROLL for (int apart = 1; apart < 32; apart *= 2) { const real own_part = slope_of_left_105_1[q][j]; slope_of_left_105_1[q][j] = slope_of_left_105_1[q][j] + from_lane(own_part, lane ^ apart); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = slope_of_left_105_1[q][j]; }
      __syncthreads();
      EACH { slope_of_left_105_1[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) slope_of_left_105_1[q][j] = slope_of_left_105_1[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
  }
  if (tier == 3) {
    constexpr unsigned SLOTS = 4;
    const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
    double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
    if (writes) {
      double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
      EACH tell(of_piece + (0 + q * V + j) * L, slope_of_left_105_1[q][j]);
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
      EACH slope_of_left_105_1[q][j] = heard<real>(of_piece + (0 + q * V + j) * L);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        EACH slope_of_left_105_1[q][j] = slope_of_left_105_1[q][j] + heard<real>(of_piece + (0 + q * V + j) * L);
      }
    }
  }
  if (!writes) return;
  EACH_Q if (own[q]) store<V>(o_slope_20_of_20_left_105 + (offset_t)v * 4 + c[q], slope_of_left_105_1[q]);
}

// gradient.gatv2.attend.1.linear.0.bias: 4812 bytes at least, line 9 of the program
//   gradient.gatv2.attend.1.linear.0.bias = sum rows(slope of left.105)
// merged into the kernel of gradient.gatv2.attend.1.linear.0.weight

// gradient.gatv2.attend.1.linear.0.weight: 24192 bytes at least, line 9 of the program
//   gradient.gatv2.attend.1.linear.0.weight = outer(slope of left.105, h.40)
//   (also computes gradient.gatv2.attend.1.linear.1.weight: the two share a side)
//   (on tensor cores: 32 x 8 columns a warp, 1 of them across the columns, 12 along the rows, 8 rows at a time; 5 steps in flight)
//   (text: cuda/src/outer_products.rs, emit_tiled_outer)
extern "C" __global__ void __launch_bounds__(384, 1) k16_gradient_gatv2_attend_1_linear_0_weight(const real* __restrict__ b_slope_20_of_20_left_105, const real* __restrict__ b_h_40, const real* __restrict__ b_slope_20_of_20_right_101, real* __restrict__ scratch, const unsigned rows_given, unsigned* ticket, real* __restrict__ out_0, const unsigned elements_0, real* __restrict__ out_1, const unsigned elements_1, real* __restrict__ out_2, const unsigned elements_2, const unsigned elements_3, real* __restrict__ out_4, const unsigned elements_4) {
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
        copy_later<16>(to, b_h_40 + (here ? (offset_t)row * 16 + column : 0), here);
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
          copy_later<16>(to, b_slope_20_of_20_left_105 + (here ? (offset_t)row * 4 + column : 0), here);
        } else {
          const unsigned column = of_both - 4;
          const bool here = row < end && column < 3;
          copy_later<16>(to, b_slope_20_of_20_right_101 + (here ? (offset_t)row * 4 + column : 0), here);
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

// product.108: 24192 bytes at least, line 9 of the program
//   product.108 = product(slope of right.101, parameter.gatv2.attend.1.linear.1.weight)
//   (1 rows of 4 columns a thread, 4 threads along a row)
//   (text: cuda/src/plain_products.rs, decide_product)
extern "C" __global__ void __launch_bounds__(256, 2) k17_product_108(const real* __restrict__ b_parameter_gatv2_attend_1_linear_1_weight, const real* __restrict__ b_slope_20_of_20_right_101, real* __restrict__ o_product_108, const unsigned rows_given) {
  after_others();
  constexpr unsigned K = 3, C = 16, WIDE = 16, L = 4, Q = 1, TM = 1, RT = 256 / L, BM = TM * RT, BK = 4, KV = 4, blockThreads = 256;
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
      real slope_of_right_101_1[Q][V]; EACH_Q load<V>(slope_of_right_101_1[q], b_slope_20_of_20_right_101 + (offset_t)v * 4 + c[q]);
      EACH piece[p][j] = here && c[q] + j < K ? slope_of_right_101_1[q][j] : (real)0;
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
      right[k][m] = k0 + k < K && slice + m < WIDE ? __ldg(b_parameter_gatv2_attend_1_linear_1_weight + (offset_t)(k0 + k) * 16 + slice + m) : (real)0;
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
    EACH_Q if (own[q]) store<V>(o_product_108 + (offset_t)v * 16 + c[q], made[q]);
  }
}

// negative.125: 86656 bytes at least, lines 3, 4, 9, 13 of the program
//   product.112 (nodes x 16) = product(slope of left.105, parameter.gatv2.attend.1.linear.0.weight)
//   add.37.again (nodes x 16) = add(divide.35, parameter.gatv2.attend.0.bias.0)
//   h.38.again (nodes x 16) = elu(add.37.again)
//   slope of h.113 (nodes x 16) = add(product.108, product.112)
//   dropout.115 (nodes x 16) = dropout 0.5 site 2(slope of h.113)
//   add.117 (nodes x 16) = add(h.38.again, 1.0)
//   multiply.118 (nodes x 16) = multiply(dropout.115, add.117)
//   less.119 (nodes x 16) = less(0.0, h.38.again)
//   select.120 = select(less.119, dropout.115, multiply.118)
//   divide.122 = divide(select.120, select.31)
//   multiply.123 (nodes x 16) = multiply(divide.122, divide.35)
//   axis.124 (nodes x 2) = axis sum 1(multiply.123)
//   negative.125 = negative(axis.124)
//   (1 rows of 4 columns a thread, 4 threads along a row)
//   (text: cuda/src/plain_products.rs, decide_product)
extern "C" __global__ void __launch_bounds__(256, 2) k18_negative_125(const real* __restrict__ b_parameter_gatv2_attend_1_linear_0_weight, const real* __restrict__ b_slope_20_of_20_left_105, const real* __restrict__ b_divide_35, const real* __restrict__ b_parameter_gatv2_attend_0_bias_0, const real* __restrict__ b_product_108, const real* __restrict__ b_select_31, const unsigned* __restrict__ rows_in_graph, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_divide_122, real* __restrict__ o_negative_125, const unsigned rows_given, real* __restrict__ scratch, real* __restrict__ out, unsigned* ticket) {
  after_others();
  constexpr unsigned K = 3, C = 16, WIDE = 16, L = 4, Q = 1, TM = 1, RT = 256 / L, BM = TM * RT, BK = 4, KV = 4, blockThreads = 256;
  const unsigned rows = rows_given * 1;
  constexpr unsigned V = 4, BN = L * V;
  __shared__ alignas(16) real left[BK][BM + 4], right[BK][BN];
  const unsigned part = threadIdx.x % L, thread_row = threadIdx.x / L, slice = blockIdx.y * BN;
  [[maybe_unused]] const unsigned group = threadIdx.x % 32 / L;
  constexpr unsigned SUMS = 1;
  real of_sums[SUMS][Q][V] = {};
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
      real slope_of_left_105_1[Q][V]; EACH_Q load<V>(slope_of_left_105_1[q], b_slope_20_of_20_left_105 + (offset_t)v * 4 + c[q]);
      EACH piece[p][j] = here && c[q] + j < K ? slope_of_left_105_1[q][j] : (real)0;
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
      right[k][m] = k0 + k < K && slice + m < WIDE ? __ldg(b_parameter_gatv2_attend_1_linear_0_weight + (offset_t)(k0 + k) * 16 + slice + m) : (real)0;
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
    real divide_35_1[Q][V]; EACH_Q load<V>(divide_35_1[q], b_divide_35 + (offset_t)v * 16 + c[q]);
    real parameter_gatv2_attend_0_bias_0_2[Q][V]; EACH_Q load<V>(parameter_gatv2_attend_0_bias_0_2[q], b_parameter_gatv2_attend_0_bias_0 + c[q]);
    real add_37_again_3[Q][V]; EACH add_37_again_3[q][j] = divide_35_1[q][j] + parameter_gatv2_attend_0_bias_0_2[q][j];
    real h_38_again_4[Q][V]; EACH h_38_again_4[q][j] = elu(add_37_again_3[q][j]);
    bool less_119_5[Q][V]; EACH less_119_5[q][j] = ((real)0.0) < h_38_again_4[q][j];
    real product_108_6[Q][V]; EACH_Q load<V>(product_108_6[q], b_product_108 + (offset_t)v * 16 + c[q]);
    real slope_of_h_113_7[Q][V]; EACH slope_of_h_113_7[q][j] = product_108_6[q][j] + made[q][j];
    real dropout_115_8[Q][V]; EACH_Q { bool kept_9[V]; UNROLL for (int j = 0; j < V; j++) kept_9[j] = true; if (training) keeps<V>(kept_9, row_in_graph, c[q], clock->epoch, 2u, seed, 32768u); UNROLL for (int j = 0; j < V; j++) dropout_115_8[q][j] = !training ? slope_of_h_113_7[q][j] : kept_9[j] ? slope_of_h_113_7[q][j] * (real)2.0 : (real)0; }
    real add_117_10[Q][V]; EACH add_117_10[q][j] = h_38_again_4[q][j] + ((real)1.0);
    real multiply_118_11[Q][V]; EACH multiply_118_11[q][j] = dropout_115_8[q][j] * add_117_10[q][j];
    real select_120_12[Q][V]; EACH select_120_12[q][j] = less_119_5[q][j] ? dropout_115_8[q][j] : multiply_118_11[q][j];
    real select_31_13[Q]; EACH_Q select_31_13[q] = __ldg(b_select_31 + (offset_t)v * 2 + (c[q] / 8u));
    real divide_122_14[Q][V]; EACH_Q divide(divide_122_14[q], select_120_12[q], select_31_13[q]);
    real multiply_123_15[Q][V]; EACH multiply_123_15[q][j] = divide_122_14[q][j] * divide_35_1[q][j];
    real axis_124_16[Q];
    EACH_Q axis_124_16[q] = 0;
    EACH axis_124_16[q] = axis_124_16[q] + multiply_123_15[q][j];
    EACH_Q axis_124_16[q] = axis_124_16[q] + across(axis_124_16[q], 1);
    real negative_125_17[Q]; EACH_Q negative_125_17[q] = negative(axis_124_16[q]);
    EACH_Q if (own[q]) store<V>(o_divide_122 + (offset_t)v * 16 + c[q], divide_122_14[q]);
    EACH if (own[q] && (c[q] + j) % 8u == 0) o_negative_125[(offset_t)v * 2 + (c[q] / 8u)] = negative_125_17[q];
    EACH if (own[q]) of_sums[0][q][j] += select_120_12[q][j];
  }
  constexpr unsigned WARPS = blockThreads / 32;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  __shared__ real told_sums[WARPS * SUMS * BN];
  UNROLL for (int s = 0; s < SUMS; s++) EACH {
    UNROLL for (int distance = L; distance < 32; distance *= 2) of_sums[s][q][j] += across(of_sums[s][q][j], distance);
    if (lane < L) told_sums[(warp * SUMS + s) * BN + (q * L + part) * V + j] = of_sums[s][q][j];
  }
  __syncthreads();
  for (unsigned place = threadIdx.x; place < SUMS * BN; place += WARPS * 32) {
    const unsigned column = slice + place % BN;
    if (column >= WIDE) continue;
    real of_rows = told_sums[place];
    UNROLL for (int other = 1; other < WARPS; other++) of_rows += told_sums[other * (SUMS * BN) + place];
    scratch[(offset_t)(place / BN * WIDE + column) * gridDim.x + blockIdx.x] = of_rows;
  }
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(ticket, 1u) + 1 == gridDim.x * gridDim.y * gridDim.z;
  __syncthreads();
  if (!is_last) return;
  if (threadIdx.x == 0) *ticket = 0;
  __threadfence();
  constexpr unsigned E = 2, D = E > 2 ? 4 : 8;
  const unsigned parts = gridDim.x, of_warp = threadIdx.x % 32, apart = blockDim.x / 32;
  for (unsigned from = threadIdx.x / 32; from < 16u; from += E * apart) {
    real joined[E] = {};
    for (unsigned first = of_warp; first < parts; first += D * 32) {
      real several[E][D];
      UNROLL for (int e = 0; e < E; e++) UNROLL for (int i = 0; i < D; i++)
      several[e][i] = from + e * apart < 16u && first + i * 32 < parts ? __ldcg(scratch + (offset_t)(from + e * apart) * parts + first + i * 32) : (real)0;
      UNROLL for (int e = 0; e < E; e++) UNROLL for (int i = 0; i < D; i++) joined[e] += several[e][i];
    }
    UNROLL for (int e = 0; e < E; e++) {
      const unsigned element = from + e * apart;
      UNROLL for (int distance = 16; distance > 0; distance /= 2) joined[e] += across(joined[e], distance);
      if (of_warp == 0 && element < 16u) out[element] = joined[e];
    }
  }
}

// gradient.gatv2.attend.0.bias.0: 19264 bytes at least, line 13 of the program
//   gradient.gatv2.attend.0.bias.0 = sum rows(select.120)
// merged into the kernel of negative.125

// multiply.136: 124864 bytes at least, lines 11, 12, 13 of the program
//   add.15 (edges x 16) = add(add.5[far.in], add.10[near.in])
//   leakyrelu.16 (edges x 16) = leakyrelu(0.2)(add.15)
//   axis.18 (edges x 2) = axis sum 1(leakyrelu.16 * parameter.gatv2.attend.0.param.0)
//   subtract.26 (edges x 2) = subtract(axis.18, select.24[near.in])
//   exp.27 (edges x 2) = exp(subtract.26)
//   axis.129 (edges x 2) = axis sum 1(divide.122[near.in] * add.5[far.in])
//   dropout.131 (edges x 2) = dropout 0.3 site 1(axis.129)
//   add.133 (edges x 2) = add(dropout.131, negative.125[near.in])
//   multiply.134 (edges x 2) = multiply(add.133, exp.27)
//   multiply.136 = multiply(multiply.134, leakyrelu.16)
//   (4 lanes of 4 columns a row, 64 rows a block)
//   (text: cuda/src/row_walk.rs, emit_row_kernel)
extern "C" __global__ void __launch_bounds__(256, 2) k20_multiply_136(const real* __restrict__ b_add_5, const real* __restrict__ b_add_10, const real* __restrict__ b_parameter_gatv2_attend_0_param_0, const real* __restrict__ b_select_24, const real* __restrict__ b_divide_122, const real* __restrict__ b_negative_125, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, const unsigned* __restrict__ source, const unsigned* __restrict__ target, const unsigned edges_once, real* __restrict__ o_multiply_136, const unsigned rows) {
  after_others();
  constexpr unsigned C = 16, V = 4, L = 4, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { own[q] = true; c[q] = (q * L + part) * V; }
  const unsigned number = blockIdx.x * GROUPS + warp * PER_WARP + group;
  const bool live = number < rows;
  [[maybe_unused]] const unsigned v = live ? number : 0;
  const bool turned = v >= edges_once;
  const unsigned edge_once = turned ? v - edges_once : v;
  const unsigned near = __ldg((turned ? source : target) + edge_once), far = __ldg((turned ? target : source) + edge_once);
  real divide_122_1[Q][V]; EACH_Q load<V>(divide_122_1[q], b_divide_122 + (offset_t)near * 16 + c[q]);
  real add_5_2[Q][V]; EACH_Q load<V>(add_5_2[q], b_add_5 + (offset_t)far * 16 + c[q]);
  real product_3[Q][V]; EACH product_3[q][j] = divide_122_1[q][j] * add_5_2[q][j];
  real axis_129_4[Q];
  EACH_Q axis_129_4[q] = 0;
  EACH axis_129_4[q] = axis_129_4[q] + product_3[q][j];
  EACH_Q axis_129_4[q] = axis_129_4[q] + across(axis_129_4[q], 1);
  real dropout_131_5[Q]; EACH_Q { bool kept_6[1] = {true}; if (training) keeps<1>(kept_6, (unsigned)v, (c[q] / 8u), clock->epoch, 1u, seed, 19661u); dropout_131_5[q] = !training ? axis_129_4[q] : kept_6[0] ? axis_129_4[q] * (real)1.4285776566757493 : (real)0; }
  real negative_125_7[Q]; EACH_Q negative_125_7[q] = __ldg(b_negative_125 + (offset_t)near * 2 + (c[q] / 8u));
  real add_133_8[Q]; EACH_Q add_133_8[q] = dropout_131_5[q] + negative_125_7[q];
  real add_10_9[Q][V]; EACH_Q load<V>(add_10_9[q], b_add_10 + (offset_t)near * 16 + c[q]);
  real add_15_10[Q][V]; EACH add_15_10[q][j] = add_5_2[q][j] + add_10_9[q][j];
  real leakyrelu_16_11[Q][V]; EACH leakyrelu_16_11[q][j] = leaky_relu(add_15_10[q][j], (real)0.2);
  real parameter_gatv2_attend_0_param_0_12[Q][V]; EACH_Q load<V>(parameter_gatv2_attend_0_param_0_12[q], b_parameter_gatv2_attend_0_param_0 + c[q]);
  real product_13[Q][V]; EACH product_13[q][j] = leakyrelu_16_11[q][j] * parameter_gatv2_attend_0_param_0_12[q][j];
  real axis_18_14[Q];
  EACH_Q axis_18_14[q] = 0;
  EACH axis_18_14[q] = axis_18_14[q] + product_13[q][j];
  EACH_Q axis_18_14[q] = axis_18_14[q] + across(axis_18_14[q], 1);
  real select_24_15[Q]; EACH_Q select_24_15[q] = __ldg(b_select_24 + (offset_t)near * 2 + (c[q] / 8u));
  real subtract_26_16[Q]; EACH_Q subtract_26_16[q] = axis_18_14[q] - select_24_15[q];
  real exp_27_17[Q]; EACH_Q exp_27_17[q] = exponential_of_share(subtract_26_16[q]);
  real multiply_134_18[Q]; EACH_Q multiply_134_18[q] = add_133_8[q] * exp_27_17[q];
  real multiply_136_19[Q][V]; EACH multiply_136_19[q][j] = multiply_134_18[q] * leakyrelu_16_11[q][j];
  if (!live) return;
  EACH_Q if (own[q]) store<V>(o_multiply_136 + (offset_t)v * 16 + c[q], multiply_136_19[q]);
}

// gradient.gatv2.attend.0.param.0: 38464 bytes at least, line 11 of the program
//   gradient.gatv2.attend.0.param.0 = sum rows(multiply.136)
//   (text: cuda/src/reduce_all_rows.rs, decide_total)
extern "C" __global__ void __launch_bounds__(256, 2) k21_gradient_gatv2_attend_0_param_0(const real* __restrict__ b_multiply_136, real* __restrict__ scratch, const unsigned rows_given) {
  after_others();
  constexpr unsigned K = 16, PLACES = 16, V = 4, L = 4, STRANDS = 256 / L, Q = 1, SUMS = 1;
  const unsigned rows = rows_given;
  const unsigned thread = threadIdx.x % L, strand = threadIdx.x / L, column = blockIdx.y * (L * V) + thread * V;
  const unsigned c[1] = {column < PLACES ? column : PLACES - V};
  const unsigned each = (rows + gridDim.x - 1) / gridDim.x, begin = min(rows, blockIdx.x * each), end = min(rows, begin + each);
  real sums[SUMS][V] = {};
  _Pragma("unroll 4") for (unsigned row = begin + strand; row < end; row += STRANDS) {
    [[maybe_unused]] const unsigned v = row;
    real multiply_136_1[Q][V]; EACH_Q load<V>(multiply_136_1[q], b_multiply_136 + (offset_t)v * 16 + c[q]);
    EACH sums[0][j] += multiply_136_1[q][j];
  }
  __shared__ real told[STRANDS][L * V];
  UNROLL for (int s = 0; s < SUMS; s++) {
    UNROLL for (int j = 0; j < V; j++) told[strand][thread * V + j] = sums[s][j];
    __syncthreads();
    for (unsigned half = STRANDS / 2; half > 0; half /= 2) {
      if (strand < half) UNROLL for (int j = 0; j < V; j++) told[strand][thread * V + j] += told[strand + half][thread * V + j];
      __syncthreads();
    }
    if (strand == 0) UNROLL for (int j = 0; j < V; j++) if (column + j < K) scratch[(offset_t)(s * K + column + j) * gridDim.x + blockIdx.x] = told[0][thread * V + j];
    if (s + 1 < SUMS) __syncthreads();
  }
}
//   (text: cuda/src/reduce_all_rows.rs, add_parts)
extern "C" __global__ void __launch_bounds__(256, 1) k21_gradient_gatv2_attend_0_param_0_parts(real* __restrict__ out, const real* __restrict__ scratch, const unsigned elements, const unsigned parts) {
  after_others();
  const unsigned element = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (element >= elements) return;
  const unsigned of_warp = threadIdx.x % 32;
  real sum = 0;
  for (unsigned first = of_warp; first < parts; first += 8 * 32) {
    real several[8];
    UNROLL for (int i = 0; i < 8; i++) several[i] = first + i * 32 < parts ? __ldcg(scratch + (offset_t)element * parts + first + i * 32) : (real)0;
    UNROLL for (int i = 0; i < 8; i++) sum += several[i];
  }
  UNROLL for (int distance = 16; distance > 0; distance /= 2) sum += across(sum, distance);
  if (of_warp == 0) out[element] = sum;
}

// slope of right.141: 104468 bytes at least, lines 11, 12, 13 of the program
//   add.15 (edges x 16) = add(add.5[far.in], add.10[near.in])
//   leakyrelu.16 (edges x 16) = leakyrelu(0.2)(add.15)
//   axis.18 (edges x 2) = axis sum 1(leakyrelu.16 * parameter.gatv2.attend.0.param.0)
//   subtract.26 (edges x 2) = subtract(axis.18, select.24[near.in])
//   exp.27 (edges x 2) = exp(subtract.26)
//   axis.129 (edges x 2) = axis sum 1(divide.122[near.in] * add.5[far.in])
//   dropout.131 (edges x 2) = dropout 0.3 site 1(axis.129)
//   add.133 (edges x 2) = add(dropout.131, negative.125[near.in])
//   multiply.134 (edges x 2) = multiply(add.133, exp.27)
//   multiply.135 (edges x 16) = multiply(multiply.134, parameter.gatv2.attend.0.param.0)
//   multiply.138 (edges x 16) = multiply(multiply.135, 0.2)
//   less.139 (edges x 16) = less(0.0, leakyrelu.16)
//   select.140 (edges x 16) = select(less.139, multiply.135, multiply.138)
//   slope of right.141 = reduce sum.in(select.140)
//   (4 lanes of 4 columns a row, 8 rows a warp, 4 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
//   (text: cuda/src/row_walk.rs, emit_edge_kernel)
extern "C" __global__ void __launch_bounds__(256, 2) k22_slope_of_right_141(const real* __restrict__ b_add_5, const real* __restrict__ b_add_10, const real* __restrict__ b_parameter_gatv2_attend_0_param_0, const real* __restrict__ b_select_24, const real* __restrict__ b_divide_122, const real* __restrict__ b_negative_125, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_slope_20_of_20_right_141, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned* __restrict__ slot_edge, const unsigned hub_items, const unsigned pieces, double* __restrict__ parts_of_hubs, unsigned* ticket, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
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
  real add_10_4[Q][V]; EACH_Q load<V>(add_10_4[q], b_add_10 + (offset_t)v * 16 + c[q]);
  real divide_122_8[Q][V]; EACH_Q load<V>(divide_122_8[q], b_divide_122 + (offset_t)v * 16 + c[q]);
  real negative_125_12[Q]; EACH_Q negative_125_12[q] = __ldg(b_negative_125 + (offset_t)v * 2 + (c[q] / 8u));
  real parameter_gatv2_attend_0_param_0_14[Q][V]; EACH_Q load<V>(parameter_gatv2_attend_0_param_0_14[q], b_parameter_gatv2_attend_0_param_0 + c[q]);
  real select_24_17[Q]; EACH_Q select_24_17[q] = __ldg(b_select_24 + (offset_t)v * 2 + (c[q] / 8u));
  real slope_of_right_141_1[Q][V]; EACH slope_of_right_141_1[q][j] = 0;
  {
    const real* place_2 = b_add_5 + c[0]; keep(place_2);
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
        real add_5_3[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q load<V>(add_5_3[k][q], place_2 + (offset_t)u[k] * 16); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real add_15_5[Q][V]; EACH add_15_5[q][j] = add_5_3[k][q][j] + add_10_4[q][j];
          real leakyrelu_16_6[Q][V]; EACH leakyrelu_16_6[q][j] = leaky_relu(add_15_5[q][j], (real)0.2);
          bool less_139_7[Q][V]; EACH less_139_7[q][j] = ((real)0.0) < leakyrelu_16_6[q][j];
          real product_9[Q][V]; EACH product_9[q][j] = divide_122_8[q][j] * add_5_3[k][q][j];
          real axis_129_10[Q];
          EACH_Q axis_129_10[q] = 0;
          EACH axis_129_10[q] = axis_129_10[q] + product_9[q][j];
          EACH_Q axis_129_10[q] = axis_129_10[q] + across(axis_129_10[q], 1);
          real dropout_131_11[Q]; EACH_Q dropout_131_11[q] = !training ? axis_129_10[q] : stream_2[k] >> (c[q] / 8u) & 1 ? axis_129_10[q] * (real)1.4285776566757493 : (real)0;
          real add_133_13[Q]; EACH_Q add_133_13[q] = dropout_131_11[q] + negative_125_12[q];
          real product_15[Q][V]; EACH product_15[q][j] = leakyrelu_16_6[q][j] * parameter_gatv2_attend_0_param_0_14[q][j];
          real axis_18_16[Q];
          EACH_Q axis_18_16[q] = 0;
          EACH axis_18_16[q] = axis_18_16[q] + product_15[q][j];
          EACH_Q axis_18_16[q] = axis_18_16[q] + across(axis_18_16[q], 1);
          real subtract_26_18[Q]; EACH_Q subtract_26_18[q] = axis_18_16[q] - select_24_17[q];
          real exp_27_19[Q]; EACH_Q exp_27_19[q] = exponential_of_share(subtract_26_18[q]);
          real multiply_134_20[Q]; EACH_Q multiply_134_20[q] = add_133_13[q] * exp_27_19[q];
          real multiply_135_21[Q][V]; EACH multiply_135_21[q][j] = multiply_134_20[q] * parameter_gatv2_attend_0_param_0_14[q][j];
          real multiply_138_22[Q][V]; EACH multiply_138_22[q][j] = multiply_135_21[q][j] * ((real)0.2);
          real select_140_23[Q][V]; EACH select_140_23[q][j] = less_139_7[q][j] ? multiply_135_21[q][j] : multiply_138_22[q][j];
          EACH if (here) slope_of_right_141_1[q][j] = slope_of_right_141_1[q][j] + select_140_23[q][j];
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
    EACH { const real own_part = slope_of_right_141_1[q][j]; slope_of_right_141_1[q][j] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) slope_of_right_141_1[q][j] = slope_of_right_141_1[q][j] + from_lane(own_part, g * L + part); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = slope_of_right_141_1[q][j]; }
      __syncthreads();
      EACH { slope_of_right_141_1[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) slope_of_right_141_1[q][j] = slope_of_right_141_1[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
  }
  if (tier == 3) {
    constexpr unsigned SLOTS = 4;
    const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
    double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
    if (writes) {
      double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
      EACH tell(of_piece + (0 + q * V + j) * L, slope_of_right_141_1[q][j]);
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
      EACH slope_of_right_141_1[q][j] = heard<real>(of_piece + (0 + q * V + j) * L);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        EACH slope_of_right_141_1[q][j] = slope_of_right_141_1[q][j] + heard<real>(of_piece + (0 + q * V + j) * L);
      }
    }
  }
  if (!writes) return;
  EACH_Q if (own[q]) store<V>(o_slope_20_of_20_right_141 + (offset_t)v * 16 + c[q], slope_of_right_141_1[q]);
}

// gradient.gatv2.attend.0.linear.1.bias: 19264 bytes at least, line 9 of the program
//   gradient.gatv2.attend.0.linear.1.bias = sum rows(slope of right.141)
// merged into the kernel of gradient.gatv2.attend.0.linear.0.weight

// gradient.gatv2.attend.0.linear.1.weight: 29184 bytes at least, line 9 of the program
//   gradient.gatv2.attend.0.linear.1.weight = outer(slope of right.141, dropout.1)
// merged into the kernel of gradient.gatv2.attend.0.linear.0.weight

// slope of left.145: 123668 bytes at least, lines 11, 12, 13 of the program
//   add.15 (edges x 16) = add(add.5[far.in], add.10[near.in])
//   leakyrelu.16 (edges x 16) = leakyrelu(0.2)(add.15)
//   axis.18 (edges x 2) = axis sum 1(leakyrelu.16 * parameter.gatv2.attend.0.param.0)
//   subtract.26 (edges x 2) = subtract(axis.18, select.24[near.in])
//   exp.27 (edges x 2) = exp(subtract.26)
//   dropout.32 (edges x 2) = dropout 0.3 site 1(exp.27)
//   axis.129 (edges x 2) = axis sum 1(divide.122[near.in] * add.5[far.in])
//   dropout.131 (edges x 2) = dropout 0.3 site 1(axis.129)
//   add.133 (edges x 2) = add(dropout.131, negative.125[near.in])
//   multiply.134 (edges x 2) = multiply(add.133, exp.27)
//   multiply.135 (edges x 16) = multiply(multiply.134, parameter.gatv2.attend.0.param.0)
//   multiply.138 (edges x 16) = multiply(multiply.135, 0.2)
//   less.139 (edges x 16) = less(0.0, leakyrelu.16)
//   select.140 (edges x 16) = select(less.139, multiply.135, multiply.138)
//   multiply.143 (edges x 16) = multiply(divide.122[far.out], dropout.32)
//   add.144 (edges x 16) = add(multiply.143, select.140)
//   slope of left.145 = reduce sum.out(add.144)
//   (4 lanes of 4 columns a row, 8 rows a warp, 1 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
//   (text: cuda/src/row_walk.rs, emit_edge_kernel)
extern "C" __global__ void __launch_bounds__(256, 2) k25_slope_of_left_145(const real* __restrict__ b_add_5, const real* __restrict__ b_add_10, const real* __restrict__ b_parameter_gatv2_attend_0_param_0, const real* __restrict__ b_select_24, const real* __restrict__ b_divide_122, const real* __restrict__ b_negative_125, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_slope_20_of_20_left_145, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned* __restrict__ slot_edge, const unsigned hub_items, const unsigned pieces, double* __restrict__ parts_of_hubs, unsigned* ticket, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
  constexpr unsigned C = 16, V = 4, L = 4, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { own[q] = true; c[q] = (q * L + part) * V; }
  constexpr unsigned B = 1, J = B > L ? B / L : 1, CHUNK = J * L;
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
  real add_5_3[Q][V]; EACH_Q load<V>(add_5_3[q], b_add_5 + (offset_t)v * 16 + c[q]);
  real parameter_gatv2_attend_0_param_0_7[Q][V]; EACH_Q load<V>(parameter_gatv2_attend_0_param_0_7[q], b_parameter_gatv2_attend_0_param_0 + c[q]);
  real slope_of_left_145_1[Q][V]; EACH slope_of_left_145_1[q][j] = 0;
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
        real divide_122_2[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q load<V>(divide_122_2[k][q], b_divide_122 + c[q] + (offset_t)u[k] * 16); }
        real add_10_4[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q load<V>(add_10_4[k][q], b_add_10 + c[q] + (offset_t)u[k] * 16); }
        real select_24_10[B][Q];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q select_24_10[k][q] = __ldg(b_select_24 + (c[q] / 8u) + (offset_t)u[k] * 2); }
        real negative_125_19[B][Q];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q negative_125_19[k][q] = __ldg(b_negative_125 + (c[q] / 8u) + (offset_t)u[k] * 2); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real add_15_5[Q][V]; EACH add_15_5[q][j] = add_5_3[q][j] + add_10_4[k][q][j];
          real leakyrelu_16_6[Q][V]; EACH leakyrelu_16_6[q][j] = leaky_relu(add_15_5[q][j], (real)0.2);
          real product_8[Q][V]; EACH product_8[q][j] = leakyrelu_16_6[q][j] * parameter_gatv2_attend_0_param_0_7[q][j];
          real axis_18_9[Q];
          EACH_Q axis_18_9[q] = 0;
          EACH axis_18_9[q] = axis_18_9[q] + product_8[q][j];
          EACH_Q axis_18_9[q] = axis_18_9[q] + across(axis_18_9[q], 1);
          real subtract_26_11[Q]; EACH_Q subtract_26_11[q] = axis_18_9[q] - select_24_10[k][q];
          real exp_27_12[Q]; EACH_Q exp_27_12[q] = exponential_of_share(subtract_26_11[q]);
          real dropout_32_13[Q]; EACH_Q dropout_32_13[q] = !training ? exp_27_12[q] : stream_2[k] >> (c[q] / 8u) & 1 ? exp_27_12[q] * (real)1.4285776566757493 : (real)0;
          real multiply_143_14[Q][V]; EACH multiply_143_14[q][j] = divide_122_2[k][q][j] * dropout_32_13[q];
          bool less_139_15[Q][V]; EACH less_139_15[q][j] = ((real)0.0) < leakyrelu_16_6[q][j];
          real product_16[Q][V]; EACH product_16[q][j] = divide_122_2[k][q][j] * add_5_3[q][j];
          real axis_129_17[Q];
          EACH_Q axis_129_17[q] = 0;
          EACH axis_129_17[q] = axis_129_17[q] + product_16[q][j];
          EACH_Q axis_129_17[q] = axis_129_17[q] + across(axis_129_17[q], 1);
          real dropout_131_18[Q]; EACH_Q dropout_131_18[q] = !training ? axis_129_17[q] : stream_2[k] >> (c[q] / 8u) & 1 ? axis_129_17[q] * (real)1.4285776566757493 : (real)0;
          real add_133_20[Q]; EACH_Q add_133_20[q] = dropout_131_18[q] + negative_125_19[k][q];
          real multiply_134_21[Q]; EACH_Q multiply_134_21[q] = add_133_20[q] * exp_27_12[q];
          real multiply_135_22[Q][V]; EACH multiply_135_22[q][j] = multiply_134_21[q] * parameter_gatv2_attend_0_param_0_7[q][j];
          real multiply_138_23[Q][V]; EACH multiply_138_23[q][j] = multiply_135_22[q][j] * ((real)0.2);
          real select_140_24[Q][V]; EACH select_140_24[q][j] = less_139_15[q][j] ? multiply_135_22[q][j] : multiply_138_23[q][j];
          real add_144_25[Q][V]; EACH add_144_25[q][j] = multiply_143_14[q][j] + select_140_24[q][j];
          EACH if (here) slope_of_left_145_1[q][j] = slope_of_left_145_1[q][j] + add_144_25[q][j];
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
    EACH { const real own_part = slope_of_left_145_1[q][j]; slope_of_left_145_1[q][j] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) slope_of_left_145_1[q][j] = slope_of_left_145_1[q][j] + from_lane(own_part, g * L + part); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = slope_of_left_145_1[q][j]; }
      __syncthreads();
      EACH { slope_of_left_145_1[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) slope_of_left_145_1[q][j] = slope_of_left_145_1[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
  }
  if (tier == 3) {
    constexpr unsigned SLOTS = 4;
    const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
    double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
    if (writes) {
      double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
      EACH tell(of_piece + (0 + q * V + j) * L, slope_of_left_145_1[q][j]);
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
      EACH slope_of_left_145_1[q][j] = heard<real>(of_piece + (0 + q * V + j) * L);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        EACH slope_of_left_145_1[q][j] = slope_of_left_145_1[q][j] + heard<real>(of_piece + (0 + q * V + j) * L);
      }
    }
  }
  if (!writes) return;
  EACH_Q if (own[q]) store<V>(o_slope_20_of_20_left_145 + (offset_t)v * 16 + c[q], slope_of_left_145_1[q]);
}

// gradient.gatv2.attend.0.linear.0.bias: 19264 bytes at least, line 9 of the program
//   gradient.gatv2.attend.0.linear.0.bias = sum rows(slope of left.145)
// merged into the kernel of gradient.gatv2.attend.0.linear.0.weight

// gradient.gatv2.attend.0.linear.0.weight: 29184 bytes at least, line 9 of the program
//   gradient.gatv2.attend.0.linear.0.weight = outer(slope of left.145, dropout.1)
//   (also computes gradient.gatv2.attend.0.linear.1.weight: the two share a side)
//   (on tensor cores: 32 x 8 columns a warp, 1 of them across the columns, 12 along the rows, 8 rows at a time; 5 steps in flight)
//   (text: cuda/src/outer_products.rs, emit_tiled_outer)
extern "C" __global__ void __launch_bounds__(384, 1) k27_gradient_gatv2_attend_0_linear_0_weight(const real* __restrict__ b_slope_20_of_20_left_145, const real* __restrict__ b_dropout_1, const real* __restrict__ b_slope_20_of_20_right_141, real* __restrict__ scratch, const unsigned rows_given, unsigned* ticket, real* __restrict__ out_0, const unsigned elements_0, real* __restrict__ out_1, const unsigned elements_1, real* __restrict__ out_2, const unsigned elements_2, real* __restrict__ out_3, const unsigned elements_3) {
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
          copy_later<16>(to, b_slope_20_of_20_left_145 + (here ? (offset_t)row * 16 + column : 0), here);
        } else {
          const unsigned column = of_both - 16;
          const bool here = row < end && column < 16;
          copy_later<16>(to, b_slope_20_of_20_right_141 + (here ? (offset_t)row * 16 + column : 0), here);
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

// update.gatv2.attend.0.linear.0.weight: 2688 bytes at least
//   parameter.gatv2.attend.0.linear.0.weight = step(parameter.gatv2.attend.0.linear.0.weight, gradient.gatv2.attend.0.linear.0.weight)
//   (text: cuda/src/epoch_clock.rs, decide_optimizer)
extern "C" __global__ void __launch_bounds__(256, 1) k28_update_gatv2_attend_0_linear_0_weight(real* parameter_0, const real* __restrict__ gradient_0, real* first_0, real* second_0, const double* __restrict__ settings_0, real* parameter_1, const real* __restrict__ gradient_1, real* first_1, real* second_1, const double* __restrict__ settings_1, real* parameter_2, const real* __restrict__ gradient_2, real* first_2, real* second_2, const double* __restrict__ settings_2, real* parameter_3, const real* __restrict__ gradient_3, real* first_3, real* second_3, const double* __restrict__ settings_3, real* parameter_4, const real* __restrict__ gradient_4, real* first_4, real* second_4, const double* __restrict__ settings_4, real* parameter_5, const real* __restrict__ gradient_5, real* first_5, real* second_5, const double* __restrict__ settings_5, real* parameter_6, const real* __restrict__ gradient_6, real* first_6, real* second_6, const double* __restrict__ settings_6, real* parameter_7, const real* __restrict__ gradient_7, real* first_7, real* second_7, const double* __restrict__ settings_7, real* parameter_8, const real* __restrict__ gradient_8, real* first_8, real* second_8, const double* __restrict__ settings_8, real* parameter_9, const real* __restrict__ gradient_9, real* first_9, real* second_9, const double* __restrict__ settings_9, real* parameter_10, const real* __restrict__ gradient_10, real* first_10, real* second_10, const double* __restrict__ settings_10, real* parameter_11, const real* __restrict__ gradient_11, real* first_11, real* second_11, const double* __restrict__ settings_11, const Clock* __restrict__ clock) {
  real* const parameter = blockIdx.x < 1u ? parameter_0 : blockIdx.x < 2u ? parameter_1 : blockIdx.x < 3u ? parameter_2 : blockIdx.x < 4u ? parameter_3 : blockIdx.x < 5u ? parameter_4 : blockIdx.x < 6u ? parameter_5 : blockIdx.x < 7u ? parameter_6 : blockIdx.x < 8u ? parameter_7 : blockIdx.x < 9u ? parameter_8 : blockIdx.x < 10u ? parameter_9 : blockIdx.x < 11u ? parameter_10 : parameter_11;
  const real* const gradient = blockIdx.x < 1u ? gradient_0 : blockIdx.x < 2u ? gradient_1 : blockIdx.x < 3u ? gradient_2 : blockIdx.x < 4u ? gradient_3 : blockIdx.x < 5u ? gradient_4 : blockIdx.x < 6u ? gradient_5 : blockIdx.x < 7u ? gradient_6 : blockIdx.x < 8u ? gradient_7 : blockIdx.x < 9u ? gradient_8 : blockIdx.x < 10u ? gradient_9 : blockIdx.x < 11u ? gradient_10 : gradient_11;
  real* const first = blockIdx.x < 1u ? first_0 : blockIdx.x < 2u ? first_1 : blockIdx.x < 3u ? first_2 : blockIdx.x < 4u ? first_3 : blockIdx.x < 5u ? first_4 : blockIdx.x < 6u ? first_5 : blockIdx.x < 7u ? first_6 : blockIdx.x < 8u ? first_7 : blockIdx.x < 9u ? first_8 : blockIdx.x < 10u ? first_9 : blockIdx.x < 11u ? first_10 : first_11;
  real* const second = blockIdx.x < 1u ? second_0 : blockIdx.x < 2u ? second_1 : blockIdx.x < 3u ? second_2 : blockIdx.x < 4u ? second_3 : blockIdx.x < 5u ? second_4 : blockIdx.x < 6u ? second_5 : blockIdx.x < 7u ? second_6 : blockIdx.x < 8u ? second_7 : blockIdx.x < 9u ? second_8 : blockIdx.x < 10u ? second_9 : blockIdx.x < 11u ? second_10 : second_11;
  const double* const settings = blockIdx.x < 1u ? settings_0 : blockIdx.x < 2u ? settings_1 : blockIdx.x < 3u ? settings_2 : blockIdx.x < 4u ? settings_3 : blockIdx.x < 5u ? settings_4 : blockIdx.x < 6u ? settings_5 : blockIdx.x < 7u ? settings_6 : blockIdx.x < 8u ? settings_7 : blockIdx.x < 9u ? settings_8 : blockIdx.x < 10u ? settings_9 : blockIdx.x < 11u ? settings_10 : settings_11;
  const unsigned i = (blockIdx.x - (blockIdx.x < 1u ? 0u : blockIdx.x < 2u ? 1u : blockIdx.x < 3u ? 2u : blockIdx.x < 4u ? 3u : blockIdx.x < 5u ? 4u : blockIdx.x < 6u ? 5u : blockIdx.x < 7u ? 6u : blockIdx.x < 8u ? 7u : blockIdx.x < 9u ? 8u : blockIdx.x < 10u ? 9u : blockIdx.x < 11u ? 10u : 11u)) * blockDim.x + threadIdx.x, elements = blockIdx.x < 1u ? 96u : blockIdx.x < 2u ? 16u : blockIdx.x < 3u ? 96u : blockIdx.x < 4u ? 16u : blockIdx.x < 5u ? 16u : blockIdx.x < 6u ? 16u : blockIdx.x < 7u ? 48u : blockIdx.x < 8u ? 3u : blockIdx.x < 9u ? 48u : blockIdx.x < 10u ? 3u : blockIdx.x < 11u ? 3u : 3u;
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

// update.gatv2.attend.0.linear.0.bias: 448 bytes at least
//   parameter.gatv2.attend.0.linear.0.bias = step(parameter.gatv2.attend.0.linear.0.bias, gradient.gatv2.attend.0.linear.0.bias)
// merged into the kernel of gatv2.attend.0.linear.0.weight

// update.gatv2.attend.0.linear.1.weight: 2688 bytes at least
//   parameter.gatv2.attend.0.linear.1.weight = step(parameter.gatv2.attend.0.linear.1.weight, gradient.gatv2.attend.0.linear.1.weight)
// merged into the kernel of gatv2.attend.0.linear.0.weight

// update.gatv2.attend.0.linear.1.bias: 448 bytes at least
//   parameter.gatv2.attend.0.linear.1.bias = step(parameter.gatv2.attend.0.linear.1.bias, gradient.gatv2.attend.0.linear.1.bias)
// merged into the kernel of gatv2.attend.0.linear.0.weight

// update.gatv2.attend.0.param.0: 448 bytes at least
//   parameter.gatv2.attend.0.param.0 = step(parameter.gatv2.attend.0.param.0, gradient.gatv2.attend.0.param.0)
// merged into the kernel of gatv2.attend.0.linear.0.weight

// update.gatv2.attend.0.bias.0: 448 bytes at least
//   parameter.gatv2.attend.0.bias.0 = step(parameter.gatv2.attend.0.bias.0, gradient.gatv2.attend.0.bias.0)
// merged into the kernel of gatv2.attend.0.linear.0.weight

// update.gatv2.attend.1.linear.0.weight: 1344 bytes at least
//   parameter.gatv2.attend.1.linear.0.weight = step(parameter.gatv2.attend.1.linear.0.weight, gradient.gatv2.attend.1.linear.0.weight)
// merged into the kernel of gatv2.attend.0.linear.0.weight

// update.gatv2.attend.1.linear.0.bias: 84 bytes at least
//   parameter.gatv2.attend.1.linear.0.bias = step(parameter.gatv2.attend.1.linear.0.bias, gradient.gatv2.attend.1.linear.0.bias)
// merged into the kernel of gatv2.attend.0.linear.0.weight

// update.gatv2.attend.1.linear.1.weight: 1344 bytes at least
//   parameter.gatv2.attend.1.linear.1.weight = step(parameter.gatv2.attend.1.linear.1.weight, gradient.gatv2.attend.1.linear.1.weight)
// merged into the kernel of gatv2.attend.0.linear.0.weight

// update.gatv2.attend.1.linear.1.bias: 84 bytes at least
//   parameter.gatv2.attend.1.linear.1.bias = step(parameter.gatv2.attend.1.linear.1.bias, gradient.gatv2.attend.1.linear.1.bias)
// merged into the kernel of gatv2.attend.0.linear.0.weight

// update.gatv2.attend.1.param.0: 84 bytes at least
//   parameter.gatv2.attend.1.param.0 = step(parameter.gatv2.attend.1.param.0, gradient.gatv2.attend.1.param.0)
// merged into the kernel of gatv2.attend.0.linear.0.weight

// update.gatv2.attend.1.bias.0: 84 bytes at least
//   parameter.gatv2.attend.1.bias.0 = step(parameter.gatv2.attend.1.bias.0, gradient.gatv2.attend.1.bias.0)
// merged into the kernel of gatv2.attend.0.linear.0.weight

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
extern "C" __global__ void watch_0(Watch* __restrict__ watches, Clock* clock, const unsigned* __restrict__ counts, const unsigned tells, const real* __restrict__ from_0, real* __restrict__ to_0, const real* __restrict__ from_1, real* __restrict__ to_1, const real* __restrict__ from_2, real* __restrict__ to_2, const real* __restrict__ from_3, real* __restrict__ to_3, const real* __restrict__ from_4, real* __restrict__ to_4, const real* __restrict__ from_5, real* __restrict__ to_5, const real* __restrict__ from_6, real* __restrict__ to_6, const real* __restrict__ from_7, real* __restrict__ to_7, const real* __restrict__ from_8, real* __restrict__ to_8, const real* __restrict__ from_9, real* __restrict__ to_9, const real* __restrict__ from_10, real* __restrict__ to_10, const real* __restrict__ from_11, real* __restrict__ to_11) {
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
  for (unsigned i = first; i < 16u; i += all) to_4[i] = from_4[i];
  for (unsigned i = first; i < 16u; i += all) to_5[i] = from_5[i];
  for (unsigned i = first; i < 48u; i += all) to_6[i] = from_6[i];
  for (unsigned i = first; i < 3u; i += all) to_7[i] = from_7[i];
  for (unsigned i = first; i < 48u; i += all) to_8[i] = from_8[i];
  for (unsigned i = first; i < 3u; i += all) to_9[i] = from_9[i];
  for (unsigned i = first; i < 3u; i += all) to_10[i] = from_10[i];
  for (unsigned i = first; i < 3u; i += all) to_11[i] = from_11[i];
}
