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

// axis.11: 34112 bytes at least, lines 9, 10 of the program
//   product.3 = product transposed(dropout.1, parameter.gat.attend.0.linear.0.weight)
//   multiply.6 (nodes x 16) = multiply(product.3, parameter.gat.attend.0.param.0)
//   axis.7 = axis sum 1(multiply.6)
//   multiply.10 (nodes x 16) = multiply(product.3, parameter.gat.attend.0.param.1)
//   axis.11 = axis sum 1(multiply.10)
//   (1 rows of 4 columns a thread, 4 threads along a row)
//   (text: cuda/src/plain_products.rs, decide_product)
extern "C" __global__ void __launch_bounds__(256, 2) k1_axis_11(const real* __restrict__ b_parameter_gat_attend_0_linear_0_weight, const real* __restrict__ b_dropout_1, const real* __restrict__ b_parameter_gat_attend_0_param_0, const real* __restrict__ b_parameter_gat_attend_0_param_1, real* __restrict__ o_product_3, real* __restrict__ o_axis_7, real* __restrict__ o_axis_11, const unsigned rows_given) {
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
      right[k][m] = k0 + k < K && slice + m < WIDE ? __ldg(b_parameter_gat_attend_0_linear_0_weight + (offset_t)(slice + m) * 6 + k0 + k) : (real)0;
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
    real parameter_gat_attend_0_param_0_1[Q][V]; EACH_Q load<V>(parameter_gat_attend_0_param_0_1[q], b_parameter_gat_attend_0_param_0 + c[q]);
    real multiply_6_2[Q][V]; EACH multiply_6_2[q][j] = made[q][j] * parameter_gat_attend_0_param_0_1[q][j];
    real axis_7_3[Q];
    EACH_Q axis_7_3[q] = 0;
    EACH axis_7_3[q] = axis_7_3[q] + multiply_6_2[q][j];
    EACH_Q axis_7_3[q] = axis_7_3[q] + across(axis_7_3[q], 1);
    real parameter_gat_attend_0_param_1_4[Q][V]; EACH_Q load<V>(parameter_gat_attend_0_param_1_4[q], b_parameter_gat_attend_0_param_1 + c[q]);
    real multiply_10_5[Q][V]; EACH multiply_10_5[q][j] = made[q][j] * parameter_gat_attend_0_param_1_4[q][j];
    real axis_11_6[Q];
    EACH_Q axis_11_6[q] = 0;
    EACH axis_11_6[q] = axis_11_6[q] + multiply_10_5[q][j];
    EACH_Q axis_11_6[q] = axis_11_6[q] + across(axis_11_6[q], 1);
    EACH_Q if (own[q]) store<V>(o_product_3 + (offset_t)v * 16 + c[q], made[q]);
    EACH if (own[q] && (c[q] + j) % 8u == 0) o_axis_7[(offset_t)v * 2 + (c[q] / 8u)] = axis_7_3[q];
    EACH if (own[q] && (c[q] + j) % 8u == 0) o_axis_11[(offset_t)v * 2 + (c[q] / 8u)] = axis_11_6[q];
  }
}

// reduce.146: 133268 bytes at least, lines 3, 4, 11, 12, 13 of the program
//   add.15 (edges x 2) = add(axis.7[far.in], axis.11[near.in])
//   leakyrelu.16 (edges x 2) = leakyrelu(0.2)(add.15)
//   reduce.17 (nodes x 2) = reduce maximum.in(leakyrelu.16)
//   equal.20 (nodes x 2) = equal(reduce.17, -inf)
//   select.21 = select(equal.20, 0.0, reduce.17)
//   subtract.23 (edges x 2) = subtract(leakyrelu.16, select.21[near.in])
//   exp.24 (edges x 2) = exp(subtract.23)
//   reduce.25 (nodes x 2) = reduce sum.in(exp.24)
//   equal.27 (nodes x 2) = equal(reduce.25, 0.0)
//   select.28 = select(equal.27, 1.0, reduce.25)
//   dropout.30 (edges x 2) = dropout 0.3 site 1(exp.24)
//   reduce.32 (nodes x 16) = reduce sum.in(dropout.30 * product.3[far.in])
//   divide.33 = divide(reduce.32, select.28)
//   add.35 (nodes x 16) = add(divide.33, parameter.gat.attend.0.bias.0)
//   h.36 = elu(add.35)
//   h.38 = dropout 0.5 site 2(h.36)
//   less.137 (edges x 2) = less(0.0, leakyrelu.16)
//   select.138 (edges x 2) = select(less.137, 1.0, 0.2)
//   multiply.139 (edges x 2) = multiply(exp.24, select.138)
//   dropout.140 (edges x 2) = dropout 0.3 site 1(multiply.139)
//   reduce.142 = reduce sum.in(dropout.140 * product.3[far.in])
//   reduce.146 = reduce sum.in(multiply.139)
//   (4 lanes of 4 columns a row, 8 rows a warp, 4 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
//   (also computes axis.48, a product of these rows)
//   (text: cuda/src/row_walk.rs, emit_edge_kernel)
extern "C" __global__ void __launch_bounds__(256, ON_HOPPER(3)) k2_reduce_146(const real* __restrict__ b_parameter_gat_attend_1_linear_0_weight, const real* __restrict__ b_parameter_gat_attend_1_param_0, const real* __restrict__ b_parameter_gat_attend_1_param_1, real* __restrict__ o_product_40, real* __restrict__ o_axis_44, real* __restrict__ o_axis_48, const real* __restrict__ b_axis_7, const real* __restrict__ b_axis_11, const real* __restrict__ b_product_3, const real* __restrict__ b_parameter_gat_attend_0_bias_0, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, const unsigned* __restrict__ rows_in_graph, real* __restrict__ o_select_21, real* __restrict__ o_select_28, real* __restrict__ o_divide_33, real* __restrict__ o_h_36, real* __restrict__ o_h_38, real* __restrict__ o_reduce_142, real* __restrict__ o_reduce_146, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned* __restrict__ slot_edge, const unsigned hub_items, const unsigned pieces, double* __restrict__ parts_of_hubs, unsigned* ticket, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
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
  real axis_11_17[Q]; EACH_Q axis_11_17[q] = __ldg(b_axis_11 + (offset_t)v * 2 + (c[q] / 8u));
  real reduce_17_1[Q]; EACH_Q reduce_17_1[q] = (real)-INFINITE;
  real reduce_25_4[Q]; EACH_Q reduce_25_4[q] = 0;
  real reduce_32_7[Q][V]; EACH reduce_32_7[q][j] = 0;
  real reduce_142_14[Q][V]; EACH reduce_142_14[q][j] = 0;
  real reduce_146_15[Q]; EACH_Q reduce_146_15[q] = 0;
  {
    const real* place_26 = b_product_3 + c[0]; keep(place_26);
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
        real axis_7_16[B][Q];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q axis_7_16[k][q] = __ldg(b_axis_7 + (c[q] / 8u) + (offset_t)u[k] * 2); }
        real product_3_27[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q load<V>(product_3_27[k][q], place_26 + (offset_t)u[k] * 16); }
        real score_20[B][Q];
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real add_15_18[Q]; EACH_Q add_15_18[q] = axis_7_16[k][q] + axis_11_17[q];
          real leakyrelu_16_19[Q]; EACH_Q leakyrelu_16_19[q] = leaky_relu(add_15_18[q], (real)0.2);
          EACH_Q score_20[k][q] = here ? leakyrelu_16_19[q] : (real)-INFINITE;
        }
        real before_21[Q]; EACH_Q before_21[q] = reduce_17_1[q];
        UNROLL for (int k = 0; k < B; k++) EACH_Q reduce_17_1[q] = most(reduce_17_1[q], score_20[k][q]);
        real scale_22[Q]; if (begun) EACH_Q scale_22[q] = grown(before_21[q], reduce_17_1[q]);
        real shift_23[Q]; EACH_Q shift_23[q] = reduce_17_1[q] == (real)-INFINITE ? (real)0 : reduce_17_1[q];
        if (begun) EACH_Q reduce_25_4[q] = reduce_25_4[q] * scale_22[q];
        if (begun) EACH reduce_32_7[q][j] = reduce_32_7[q][j] * scale_22[q];
        if (begun) EACH reduce_142_14[q][j] = reduce_142_14[q][j] * scale_22[q];
        if (begun) EACH_Q reduce_146_15[q] = reduce_146_15[q] * scale_22[q];
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real exp_24_24[Q]; EACH_Q exp_24_24[q] = exponential_of_share(score_20[k][q] - shift_23[q]);
          EACH_Q if (here) reduce_25_4[q] = reduce_25_4[q] + exp_24_24[q];
          real dropout_30_25[Q]; EACH_Q dropout_30_25[q] = !training ? exp_24_24[q] : stream_2[k] >> (c[q] / 8u) & 1 ? exp_24_24[q] * (real)1.4285776566757493 : (real)0;
          real product_28[Q][V]; EACH product_28[q][j] = dropout_30_25[q] * product_3_27[k][q][j];
          EACH if (here) reduce_32_7[q][j] = reduce_32_7[q][j] + product_28[q][j];
          bool less_137_29[Q]; EACH_Q less_137_29[q] = ((real)0.0) < score_20[k][q];
          real select_138_30[Q]; EACH_Q select_138_30[q] = less_137_29[q] ? ((real)1.0) : ((real)0.2);
          real multiply_139_31[Q]; EACH_Q multiply_139_31[q] = exp_24_24[q] * select_138_30[q];
          real dropout_140_32[Q]; EACH_Q dropout_140_32[q] = !training ? multiply_139_31[q] : stream_2[k] >> (c[q] / 8u) & 1 ? multiply_139_31[q] * (real)1.4285776566757493 : (real)0;
          real product_33[Q][V]; EACH product_33[q][j] = dropout_140_32[q] * product_3_27[k][q][j];
          EACH if (here) reduce_142_14[q][j] = reduce_142_14[q][j] + product_33[q][j];
          EACH_Q if (here) reduce_146_15[q] = reduce_146_15[q] + multiply_139_31[q];
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
    real alone_reduce_17_1[Q]; EACH_Q alone_reduce_17_1[q] = reduce_17_1[q];
    EACH_Q { const real own_part = reduce_17_1[q]; reduce_17_1[q] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_17_1[q] = most(reduce_17_1[q], from_lane(own_part, g * L + part)); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH_Q told[(warp * L + part) * 1 + q] = reduce_17_1[q]; }
      __syncthreads();
      EACH_Q { reduce_17_1[q] = told[(0 * L + part) * 1 + q]; for (int w = 1; w < WARPS; w++) reduce_17_1[q] = most(reduce_17_1[q], told[(w * L + part) * 1 + q]); }
      __syncthreads();
    }
    EACH_Q alone_reduce_17_1[q] = grown(alone_reduce_17_1[q], reduce_17_1[q]);
    EACH_Q reduce_25_4[q] = reduce_25_4[q] * alone_reduce_17_1[q];
    EACH_Q { const real own_part = reduce_25_4[q]; reduce_25_4[q] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_25_4[q] = reduce_25_4[q] + from_lane(own_part, g * L + part); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH_Q told[(warp * L + part) * 1 + q] = reduce_25_4[q]; }
      __syncthreads();
      EACH_Q { reduce_25_4[q] = told[(0 * L + part) * 1 + q]; for (int w = 1; w < WARPS; w++) reduce_25_4[q] = reduce_25_4[q] + told[(w * L + part) * 1 + q]; }
      __syncthreads();
    }
    EACH reduce_32_7[q][j] = reduce_32_7[q][j] * alone_reduce_17_1[q];
    EACH { const real own_part = reduce_32_7[q][j]; reduce_32_7[q][j] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_32_7[q][j] = reduce_32_7[q][j] + from_lane(own_part, g * L + part); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = reduce_32_7[q][j]; }
      __syncthreads();
      EACH { reduce_32_7[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) reduce_32_7[q][j] = reduce_32_7[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
    EACH reduce_142_14[q][j] = reduce_142_14[q][j] * alone_reduce_17_1[q];
    EACH { const real own_part = reduce_142_14[q][j]; reduce_142_14[q][j] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_142_14[q][j] = reduce_142_14[q][j] + from_lane(own_part, g * L + part); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = reduce_142_14[q][j]; }
      __syncthreads();
      EACH { reduce_142_14[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) reduce_142_14[q][j] = reduce_142_14[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
    EACH_Q reduce_146_15[q] = reduce_146_15[q] * alone_reduce_17_1[q];
    EACH_Q { const real own_part = reduce_146_15[q]; reduce_146_15[q] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_146_15[q] = reduce_146_15[q] + from_lane(own_part, g * L + part); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH_Q told[(warp * L + part) * 1 + q] = reduce_146_15[q]; }
      __syncthreads();
      EACH_Q { reduce_146_15[q] = told[(0 * L + part) * 1 + q]; for (int w = 1; w < WARPS; w++) reduce_146_15[q] = reduce_146_15[q] + told[(w * L + part) * 1 + q]; }
      __syncthreads();
    }
  }
  if (tier == 3) {
    constexpr unsigned SLOTS = 11;
    const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
    double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
    if (writes) {
      double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
      EACH_Q tell(of_piece + (0 + q) * L, reduce_17_1[q]);EACH_Q tell(of_piece + (1 + q) * L, reduce_25_4[q]);EACH tell(of_piece + (2 + q * V + j) * L, reduce_32_7[q][j]);EACH tell(of_piece + (6 + q * V + j) * L, reduce_142_14[q][j]);EACH_Q tell(of_piece + (10 + q) * L, reduce_146_15[q]);
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
      EACH_Q reduce_17_1[q] = heard<real>(of_piece + (0 + q) * L);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        EACH_Q reduce_17_1[q] = most(reduce_17_1[q], heard<real>(of_piece + (0 + q) * L));
      }
    }
    {
      const double* of_piece = of_item;
      EACH_Q reduce_25_4[q] = heard<real>(of_piece + (1 + q) * L) * grown(heard<real>(of_piece + (0 + q) * L), reduce_17_1[q]);EACH reduce_32_7[q][j] = heard<real>(of_piece + (2 + q * V + j) * L) * grown(heard<real>(of_piece + (0 + q) * L), reduce_17_1[q]);EACH reduce_142_14[q][j] = heard<real>(of_piece + (6 + q * V + j) * L) * grown(heard<real>(of_piece + (0 + q) * L), reduce_17_1[q]);EACH_Q reduce_146_15[q] = heard<real>(of_piece + (10 + q) * L) * grown(heard<real>(of_piece + (0 + q) * L), reduce_17_1[q]);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        EACH_Q reduce_25_4[q] = reduce_25_4[q] + heard<real>(of_piece + (1 + q) * L) * grown(heard<real>(of_piece + (0 + q) * L), reduce_17_1[q]);EACH reduce_32_7[q][j] = reduce_32_7[q][j] + heard<real>(of_piece + (2 + q * V + j) * L) * grown(heard<real>(of_piece + (0 + q) * L), reduce_17_1[q]);EACH reduce_142_14[q][j] = reduce_142_14[q][j] + heard<real>(of_piece + (6 + q * V + j) * L) * grown(heard<real>(of_piece + (0 + q) * L), reduce_17_1[q]);EACH_Q reduce_146_15[q] = reduce_146_15[q] + heard<real>(of_piece + (10 + q) * L) * grown(heard<real>(of_piece + (0 + q) * L), reduce_17_1[q]);
      }
    }
  }
  bool equal_20_2[Q]; EACH_Q equal_20_2[q] = reduce_17_1[q] == ((real)-INFINITE);
  real select_21_3[Q]; EACH_Q select_21_3[q] = equal_20_2[q] ? ((real)0.0) : reduce_17_1[q];
  bool equal_27_5[Q]; EACH_Q equal_27_5[q] = reduce_25_4[q] == ((real)0.0);
  real select_28_6[Q]; EACH_Q select_28_6[q] = equal_27_5[q] ? ((real)1.0) : reduce_25_4[q];
  real divide_33_8[Q][V]; EACH_Q divide(divide_33_8[q], reduce_32_7[q], select_28_6[q]);
  real parameter_gat_attend_0_bias_0_9[Q][V]; EACH_Q load<V>(parameter_gat_attend_0_bias_0_9[q], b_parameter_gat_attend_0_bias_0 + c[q]);
  real add_35_10[Q][V]; EACH add_35_10[q][j] = divide_33_8[q][j] + parameter_gat_attend_0_bias_0_9[q][j];
  real h_36_11[Q][V]; EACH h_36_11[q][j] = elu(add_35_10[q][j]);
  real h_38_12[Q][V]; EACH_Q { bool kept_13[V]; UNROLL for (int j = 0; j < V; j++) kept_13[j] = true; if (training) keeps<V>(kept_13, row_in_graph, c[q], clock->epoch, 2u, seed, 32768u); UNROLL for (int j = 0; j < V; j++) h_38_12[q][j] = !training ? h_36_11[q][j] : kept_13[j] ? h_36_11[q][j] * (real)2.0 : (real)0; }
  real of_tail[4] = {};
  UNROLL for (int m = 0; m < 3; m++) {
    EACH_Q { real of_matrix[V]; load<V>(of_matrix, b_parameter_gat_attend_1_linear_0_weight + m * 16u + c[q]); UNROLL for (int j = 0; j < V; j++) of_tail[m] += h_38_12[q][j] * of_matrix[j]; }
    UNROLL for (int distance = 1; distance < L; distance *= 2) of_tail[m] += across(of_tail[m], distance);
  }
  if (!writes) return;
  EACH if (own[q] && (c[q] + j) % 8u == 0) o_select_21[(offset_t)v * 2 + (c[q] / 8u)] = select_21_3[q];
  EACH if (own[q] && (c[q] + j) % 8u == 0) o_select_28[(offset_t)v * 2 + (c[q] / 8u)] = select_28_6[q];
  EACH_Q if (own[q]) store<V>(o_divide_33 + (offset_t)v * 16 + c[q], divide_33_8[q]);
  EACH_Q if (own[q]) store<V>(o_h_36 + (offset_t)v * 16 + c[q], h_36_11[q]);
  EACH_Q if (own[q]) store<V>(o_h_38 + (offset_t)v * 16 + c[q], h_38_12[q]);
  EACH_Q if (own[q]) store<V>(o_reduce_142 + (offset_t)v * 16 + c[q], reduce_142_14[q]);
  EACH if (own[q] && (c[q] + j) % 8u == 0) o_reduce_146[(offset_t)v * 2 + (c[q] / 8u)] = reduce_146_15[q];
  if (part == 0) {
    constexpr unsigned V = 4, Q = 1;
    [[maybe_unused]] bool own[Q];
    [[maybe_unused]] unsigned c[Q];
    EACH_Q { own[q] = true; c[q] = q * V; }
    real made[Q][V]; EACH made[q][j] = of_tail[q * V + j];
    real parameter_gat_attend_1_param_0_1[Q][V]; EACH_Q load<V>(parameter_gat_attend_1_param_0_1[q], b_parameter_gat_attend_1_param_0 + c[q]);
    real multiply_43_2[Q][V]; EACH multiply_43_2[q][j] = made[q][j] * parameter_gat_attend_1_param_0_1[q][j];
    real axis_44_3;
    axis_44_3 = 0;
    EACH axis_44_3 = axis_44_3 + (own[q] && c[q] + j < 3u ? multiply_43_2[q][j] : 0);
    real parameter_gat_attend_1_param_1_4[Q][V]; EACH_Q load<V>(parameter_gat_attend_1_param_1_4[q], b_parameter_gat_attend_1_param_1 + c[q]);
    real multiply_47_5[Q][V]; EACH multiply_47_5[q][j] = made[q][j] * parameter_gat_attend_1_param_1_4[q][j];
    real axis_48_6;
    axis_48_6 = 0;
    EACH axis_48_6 = axis_48_6 + (own[q] && c[q] + j < 3u ? multiply_47_5[q][j] : 0);
    EACH_Q if (own[q]) store<V>(o_product_40 + (offset_t)v * 4 + c[q], made[q]);
    EACH if (own[q] && (c[q] + j) == 0) o_axis_44[v + 0] = axis_44_3;
    EACH if (own[q] && (c[q] + j) == 0) o_axis_48[v + 0] = axis_48_6;
  }
}

// axis.48: 26616 bytes at least, lines 9, 10 of the program
//   product.40 = product transposed(h.38, parameter.gat.attend.1.linear.0.weight)
//   multiply.43 (nodes x 3) = multiply(product.40, parameter.gat.attend.1.param.0)
//   axis.44 = axis sum 1(multiply.43)
//   multiply.47 (nodes x 3) = multiply(product.40, parameter.gat.attend.1.param.1)
//   axis.48 = axis sum 1(multiply.47)
// merged into the kernel of reduce.146

// reduce.97: 32416 bytes at least, lines 5, 11, 12, 13 of the program
//   add.52 (edges x 1) = add(axis.44[far.in], axis.48[near.in])
//   leakyrelu.53 (edges x 1) = leakyrelu(0.2)(add.52)
//   reduce.54 (nodes x 1) = reduce maximum.in(leakyrelu.53)
//   equal.55 (nodes x 1) = equal(reduce.54, -inf)
//   select.56 = select(equal.55, 0.0, reduce.54)
//   subtract.58 (edges x 1) = subtract(leakyrelu.53, select.56[near.in])
//   exp.59 (edges x 1) = exp(subtract.58)
//   reduce.60 (nodes x 1) = reduce sum.in(exp.59)
//   equal.61 (nodes x 1) = equal(reduce.60, 0.0)
//   select.62 = select(equal.61, 1.0, reduce.60)
//   dropout.64 (edges x 1) = dropout 0.3 site 3(exp.59)
//   reduce.66 (nodes x 3) = reduce sum.in(dropout.64 * product.40[far.in])
//   divide.67 = divide(reduce.66, select.62)
//   add.69 (nodes x 3) = add(divide.67, parameter.gat.attend.1.bias.0)
//   add.71 = add(add.69, 0.0)
//   less.88 (edges x 1) = less(0.0, leakyrelu.53)
//   select.89 (edges x 1) = select(less.88, 1.0, 0.2)
//   multiply.90 (edges x 1) = multiply(exp.59, select.89)
//   dropout.91 (edges x 1) = dropout 0.3 site 3(multiply.90)
//   reduce.93 = reduce sum.in(dropout.91 * product.40[far.in])
//   reduce.97 = reduce sum.in(multiply.90)
//   (1 lanes of 4 columns a row, 32 rows a warp, 4 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
//   (text: cuda/src/row_walk.rs, emit_edge_kernel)
extern "C" __global__ void __launch_bounds__(256, 2) k4_reduce_97(const real* __restrict__ b_axis_44, const real* __restrict__ b_axis_48, const real* __restrict__ b_product_40, const real* __restrict__ b_parameter_gat_attend_1_bias_0, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_select_56, real* __restrict__ o_select_62, real* __restrict__ o_divide_67, real* __restrict__ o_add_71, real* __restrict__ o_reduce_93, real* __restrict__ o_reduce_97, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned* __restrict__ slot_edge, const unsigned hub_items, const unsigned pieces, double* __restrict__ parts_of_hubs, unsigned* ticket, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
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
  real axis_48_15; axis_48_15 = __ldg(b_axis_48 + v + 0);
  real reduce_54_1; reduce_54_1 = (real)-INFINITE;
  real reduce_60_4; reduce_60_4 = 0;
  real reduce_66_7[Q][V]; EACH reduce_66_7[q][j] = 0;
  real reduce_93_12[Q][V]; EACH reduce_93_12[q][j] = 0;
  real reduce_97_13; reduce_97_13 = 0;
  {
    const real* place_24 = b_product_40 + c[0]; keep(place_24);
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
        real axis_44_14[B];
        UNROLL for (int k = 0; k < B; k++) { axis_44_14[k] = __ldg(b_axis_44 + u[k] + 0); }
        real product_40_25[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q load<V>(product_40_25[k][q], place_24 + (offset_t)u[k] * 4); }
        real score_18[B];
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real add_52_16; add_52_16 = axis_44_14[k] + axis_48_15;
          real leakyrelu_53_17; leakyrelu_53_17 = leaky_relu(add_52_16, (real)0.2);
          score_18[k] = here ? leakyrelu_53_17 : (real)-INFINITE;
        }
        real before_19; before_19 = reduce_54_1;
        UNROLL for (int k = 0; k < B; k++) reduce_54_1 = most(reduce_54_1, score_18[k]);
        real scale_20; if (begun) scale_20 = grown(before_19, reduce_54_1);
        real shift_21; shift_21 = reduce_54_1 == (real)-INFINITE ? (real)0 : reduce_54_1;
        if (begun) reduce_60_4 = reduce_60_4 * scale_20;
        if (begun) EACH reduce_66_7[q][j] = reduce_66_7[q][j] * scale_20;
        if (begun) EACH reduce_93_12[q][j] = reduce_93_12[q][j] * scale_20;
        if (begun) reduce_97_13 = reduce_97_13 * scale_20;
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real exp_59_22; exp_59_22 = exponential_of_share(score_18[k] - shift_21);
          if (here) reduce_60_4 = reduce_60_4 + exp_59_22;
          real dropout_64_23; dropout_64_23 = !training ? exp_59_22 : stream_2[k] >> 0 & 1 ? exp_59_22 * (real)1.4285776566757493 : (real)0;
          real product_26[Q][V]; EACH product_26[q][j] = dropout_64_23 * product_40_25[k][q][j];
          EACH if (here) reduce_66_7[q][j] = reduce_66_7[q][j] + product_26[q][j];
          bool less_88_27; less_88_27 = ((real)0.0) < score_18[k];
          real select_89_28; select_89_28 = less_88_27 ? ((real)1.0) : ((real)0.2);
          real multiply_90_29; multiply_90_29 = exp_59_22 * select_89_28;
          real dropout_91_30; dropout_91_30 = !training ? multiply_90_29 : stream_2[k] >> 0 & 1 ? multiply_90_29 * (real)1.4285776566757493 : (real)0;
          real product_31[Q][V]; EACH product_31[q][j] = dropout_91_30 * product_40_25[k][q][j];
          EACH if (here) reduce_93_12[q][j] = reduce_93_12[q][j] + product_31[q][j];
          if (here) reduce_97_13 = reduce_97_13 + multiply_90_29;
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
    real alone_reduce_54_1; alone_reduce_54_1 = reduce_54_1;
    UNROLL for (int apart = 1; apart < 32; apart *= 2) { const real own_part = reduce_54_1; reduce_54_1 = most(reduce_54_1, from_lane(own_part, lane ^ apart)); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { told[(warp * L + part) * 1 + 0] = reduce_54_1; }
      __syncthreads();
      { reduce_54_1 = told[(0 * L + part) * 1 + 0]; for (int w = 1; w < WARPS; w++) reduce_54_1 = most(reduce_54_1, told[(w * L + part) * 1 + 0]); }
      __syncthreads();
    }
    alone_reduce_54_1 = grown(alone_reduce_54_1, reduce_54_1);
    reduce_60_4 = reduce_60_4 * alone_reduce_54_1;
    UNROLL for (int apart = 1; apart < 32; apart *= 2) { const real own_part = reduce_60_4; reduce_60_4 = reduce_60_4 + from_lane(own_part, lane ^ apart); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { told[(warp * L + part) * 1 + 0] = reduce_60_4; }
      __syncthreads();
      { reduce_60_4 = told[(0 * L + part) * 1 + 0]; for (int w = 1; w < WARPS; w++) reduce_60_4 = reduce_60_4 + told[(w * L + part) * 1 + 0]; }
      __syncthreads();
    }
    EACH reduce_66_7[q][j] = reduce_66_7[q][j] * alone_reduce_54_1;
    EACH UNROLL for (int apart = 1; apart < 32; apart *= 2) { const real own_part = reduce_66_7[q][j]; reduce_66_7[q][j] = reduce_66_7[q][j] + from_lane(own_part, lane ^ apart); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = reduce_66_7[q][j]; }
      __syncthreads();
      EACH { reduce_66_7[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) reduce_66_7[q][j] = reduce_66_7[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
    EACH reduce_93_12[q][j] = reduce_93_12[q][j] * alone_reduce_54_1;
    EACH UNROLL for (int apart = 1; apart < 32; apart *= 2) { const real own_part = reduce_93_12[q][j]; reduce_93_12[q][j] = reduce_93_12[q][j] + from_lane(own_part, lane ^ apart); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = reduce_93_12[q][j]; }
      __syncthreads();
      EACH { reduce_93_12[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) reduce_93_12[q][j] = reduce_93_12[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
    reduce_97_13 = reduce_97_13 * alone_reduce_54_1;
    UNROLL for (int apart = 1; apart < 32; apart *= 2) { const real own_part = reduce_97_13; reduce_97_13 = reduce_97_13 + from_lane(own_part, lane ^ apart); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { told[(warp * L + part) * 1 + 0] = reduce_97_13; }
      __syncthreads();
      { reduce_97_13 = told[(0 * L + part) * 1 + 0]; for (int w = 1; w < WARPS; w++) reduce_97_13 = reduce_97_13 + told[(w * L + part) * 1 + 0]; }
      __syncthreads();
    }
  }
  if (tier == 3) {
    constexpr unsigned SLOTS = 11;
    const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
    double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
    if (writes) {
      double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
      tell(of_piece + (0 + 0) * L, reduce_54_1);tell(of_piece + (1 + 0) * L, reduce_60_4);EACH tell(of_piece + (2 + q * V + j) * L, reduce_66_7[q][j]);EACH tell(of_piece + (6 + q * V + j) * L, reduce_93_12[q][j]);tell(of_piece + (10 + 0) * L, reduce_97_13);
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
      reduce_54_1 = heard<real>(of_piece + (0 + 0) * L);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        reduce_54_1 = most(reduce_54_1, heard<real>(of_piece + (0 + 0) * L));
      }
    }
    {
      const double* of_piece = of_item;
      reduce_60_4 = heard<real>(of_piece + (1 + 0) * L) * grown(heard<real>(of_piece + (0 + 0) * L), reduce_54_1);EACH reduce_66_7[q][j] = heard<real>(of_piece + (2 + q * V + j) * L) * grown(heard<real>(of_piece + (0 + 0) * L), reduce_54_1);EACH reduce_93_12[q][j] = heard<real>(of_piece + (6 + q * V + j) * L) * grown(heard<real>(of_piece + (0 + 0) * L), reduce_54_1);reduce_97_13 = heard<real>(of_piece + (10 + 0) * L) * grown(heard<real>(of_piece + (0 + 0) * L), reduce_54_1);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        reduce_60_4 = reduce_60_4 + heard<real>(of_piece + (1 + 0) * L) * grown(heard<real>(of_piece + (0 + 0) * L), reduce_54_1);EACH reduce_66_7[q][j] = reduce_66_7[q][j] + heard<real>(of_piece + (2 + q * V + j) * L) * grown(heard<real>(of_piece + (0 + 0) * L), reduce_54_1);EACH reduce_93_12[q][j] = reduce_93_12[q][j] + heard<real>(of_piece + (6 + q * V + j) * L) * grown(heard<real>(of_piece + (0 + 0) * L), reduce_54_1);reduce_97_13 = reduce_97_13 + heard<real>(of_piece + (10 + 0) * L) * grown(heard<real>(of_piece + (0 + 0) * L), reduce_54_1);
      }
    }
  }
  bool equal_55_2; equal_55_2 = reduce_54_1 == ((real)-INFINITE);
  real select_56_3; select_56_3 = equal_55_2 ? ((real)0.0) : reduce_54_1;
  bool equal_61_5; equal_61_5 = reduce_60_4 == ((real)0.0);
  real select_62_6; select_62_6 = equal_61_5 ? ((real)1.0) : reduce_60_4;
  real divide_67_8[Q][V]; EACH_Q divide(divide_67_8[q], reduce_66_7[q], select_62_6);
  real parameter_gat_attend_1_bias_0_9[Q][V]; EACH_Q load<V>(parameter_gat_attend_1_bias_0_9[q], b_parameter_gat_attend_1_bias_0 + c[q]);
  real add_69_10[Q][V]; EACH add_69_10[q][j] = divide_67_8[q][j] + parameter_gat_attend_1_bias_0_9[q][j];
  real add_71_11[Q][V]; EACH add_71_11[q][j] = add_69_10[q][j] + ((real)0.0);
  if (!writes) return;
  EACH if (own[q] && (c[q] + j) == 0) o_select_56[v + 0] = select_56_3;
  EACH if (own[q] && (c[q] + j) == 0) o_select_62[v + 0] = select_62_6;
  EACH_Q if (own[q]) store<V>(o_divide_67 + (offset_t)v * 4 + c[q], divide_67_8[q]);
  EACH_Q if (own[q]) store<V>(o_add_71 + (offset_t)v * 4 + c[q], add_71_11[q]);
  EACH_Q if (own[q]) store<V>(o_reduce_93 + (offset_t)v * 4 + c[q], reduce_93_12[q]);
  EACH if (own[q] && (c[q] + j) == 0) o_reduce_97[v + 0] = reduce_97_13;
}

// loss: 10804 bytes at least
//   slope.result, loss = gradient and value of cross_entropy(add.71, target)
//   (text: cuda/src/loss.rs, decide_loss)
extern "C" __global__ void __launch_bounds__(256, ON_HOPPER(4)) k5_loss(const real* __restrict__ result, const real* __restrict__ target, real* __restrict__ gradient, const unsigned char* __restrict__ split, const double* __restrict__ terms, double* __restrict__ scratch_given, unsigned* __restrict__ counts, const unsigned rows, real* __restrict__ value, double* __restrict__ exact, unsigned char* __restrict__ ring, Clock* __restrict__ clock, unsigned* ticket, real* __restrict__ out) {
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

// gradient.gat.attend.1.bias.0: 4812 bytes at least, line 13 of the program
//   gradient.gat.attend.1.bias.0 = sum rows(slope.result)
// merged into the kernel of loss

// slope of right.99: 24000 bytes at least, lines 11, 13 of the program
//   divide.77 = divide(slope.result, select.62)
//   multiply.78 (nodes x 3) = multiply(divide.77, divide.67)
//   axis.79 (nodes x 1) = axis sum 1(multiply.78)
//   negative.80 = negative(axis.79)
//   multiply.94 (nodes x 3) = multiply(reduce.93, divide.77)
//   axis.95 (nodes x 1) = axis sum 1(multiply.94)
//   multiply.98 (nodes x 1) = multiply(reduce.97, negative.80)
//   slope of right.99 = add(axis.95, multiply.98)
//   (1 lanes of 4 columns a row, 256 rows a block)
//   (text: cuda/src/row_walk.rs, emit_row_kernel)
extern "C" __global__ void __launch_bounds__(256, 2) k7_slope_of_right_99(const real* __restrict__ b_slope_result, const real* __restrict__ b_select_62, const real* __restrict__ b_divide_67, const real* __restrict__ b_reduce_93, const real* __restrict__ b_reduce_97, real* __restrict__ o_divide_77, real* __restrict__ o_negative_80, real* __restrict__ o_slope_20_of_20_right_99, const unsigned rows) {
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
  real select_62_2; select_62_2 = __ldg(b_select_62 + v + 0);
  real divide_77_3[Q][V]; EACH_Q divide(divide_77_3[q], slope_result_1[q], select_62_2);
  real divide_67_4[Q][V]; EACH_Q load<V>(divide_67_4[q], b_divide_67 + (offset_t)v * 4 + c[q]);
  real multiply_78_5[Q][V]; EACH multiply_78_5[q][j] = divide_77_3[q][j] * divide_67_4[q][j];
  real axis_79_6;
  axis_79_6 = 0;
  EACH axis_79_6 = axis_79_6 + (own[q] && c[q] + j < 3u ? multiply_78_5[q][j] : 0);
  real negative_80_7; negative_80_7 = negative(axis_79_6);
  real reduce_93_8[Q][V]; EACH_Q load<V>(reduce_93_8[q], b_reduce_93 + (offset_t)v * 4 + c[q]);
  real multiply_94_9[Q][V]; EACH multiply_94_9[q][j] = reduce_93_8[q][j] * divide_77_3[q][j];
  real axis_95_10;
  axis_95_10 = 0;
  EACH axis_95_10 = axis_95_10 + (own[q] && c[q] + j < 3u ? multiply_94_9[q][j] : 0);
  real reduce_97_11; reduce_97_11 = __ldg(b_reduce_97 + v + 0);
  real multiply_98_12; multiply_98_12 = reduce_97_11 * negative_80_7;
  real slope_of_right_99_13; slope_of_right_99_13 = axis_95_10 + multiply_98_12;
  if (!live) return;
  EACH_Q if (own[q]) store<V>(o_divide_77 + (offset_t)v * 4 + c[q], divide_77_3[q]);
  EACH if (own[q] && (c[q] + j) == 0) o_negative_80[v + 0] = negative_80_7;
  EACH if (own[q] && (c[q] + j) == 0) o_slope_20_of_20_right_99[v + 0] = slope_of_right_99_13;
}

// gradient.gat.attend.1.param.1: 6012 bytes at least, line 10 of the program
//   gradient.gat.attend.1.param.1 = sum rows(slope of right.99 * product.40)
// merged into the kernel of gradient.gat.attend.1.param.0

// slope of z.114: 28828 bytes at least, lines 10, 11, 12, 13 of the program
//   add.52 (edges x 1) = add(axis.44[far.in], axis.48[near.in])
//   leakyrelu.53 (edges x 1) = leakyrelu(0.2)(add.52)
//   subtract.58 (edges x 1) = subtract(leakyrelu.53, select.56[near.in])
//   exp.59 (edges x 1) = exp(subtract.58)
//   dropout.64 (edges x 1) = dropout 0.3 site 3(exp.59)
//   reduce.85 (nodes x 3) = reduce sum.out(divide.77[far.out] * dropout.64)
//   less.88 (edges x 1) = less(0.0, leakyrelu.53)
//   select.89 (edges x 1) = select(less.88, 1.0, 0.2)
//   multiply.90 (edges x 1) = multiply(exp.59, select.89)
//   dropout.91 (edges x 1) = dropout 0.3 site 3(multiply.90)
//   reduce.103 (nodes x 3) = reduce sum.out(dropout.91 * divide.77[near.in])
//   multiply.104 (nodes x 3) = multiply(reduce.103, product.40)
//   axis.105 (nodes x 1) = axis sum 1(multiply.104)
//   multiply.100 (edges x 1) = multiply(negative.80[near.in], exp.59)
//   reduce.107 (nodes x 1) = reduce sum.out(multiply.100 * select.89)
//   slope of left.108 = add(axis.105, reduce.107)
//   multiply.109 (nodes x 3) = multiply(slope of right.99, parameter.gat.attend.1.param.1)
//   add.110 (nodes x 3) = add(reduce.85, multiply.109)
//   multiply.113 (nodes x 3) = multiply(slope of left.108, parameter.gat.attend.1.param.0)
//   slope of z.114 = add(add.110, multiply.113)
//   (1 lanes of 4 columns a row, 32 rows a warp, 2 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
//   (text: cuda/src/row_walk.rs, emit_edge_kernel)
extern "C" __global__ void __launch_bounds__(256, ON_HOPPER(3)) k9_slope_of_z_114(const real* __restrict__ b_axis_44, const real* __restrict__ b_axis_48, const real* __restrict__ b_select_56, const real* __restrict__ b_divide_77, const real* __restrict__ b_product_40, const real* __restrict__ b_negative_80, const real* __restrict__ b_slope_20_of_20_right_99, const real* __restrict__ b_parameter_gat_attend_1_param_1, const real* __restrict__ b_parameter_gat_attend_1_param_0, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_slope_20_of_20_left_108, real* __restrict__ o_slope_20_of_20_z_114, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned* __restrict__ slot_edge, const unsigned hub_items, const unsigned pieces, double* __restrict__ parts_of_hubs, unsigned* ticket, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
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
  real slope_of_right_99_8; slope_of_right_99_8 = __ldg(b_slope_20_of_20_right_99 + v + 0);
  real parameter_gat_attend_1_param_1_9[Q][V]; EACH_Q load<V>(parameter_gat_attend_1_param_1_9[q], b_parameter_gat_attend_1_param_1 + c[q]);
  real multiply_109_10[Q][V]; EACH multiply_109_10[q][j] = slope_of_right_99_8 * parameter_gat_attend_1_param_1_9[q][j];
  real axis_44_15; axis_44_15 = __ldg(b_axis_44 + v + 0);
  real reduce_103_1[Q][V]; EACH reduce_103_1[q][j] = 0;
  real reduce_107_5; reduce_107_5 = 0;
  real reduce_85_7[Q][V]; EACH reduce_85_7[q][j] = 0;
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
        real axis_48_16[B];
        UNROLL for (int k = 0; k < B; k++) { axis_48_16[k] = __ldg(b_axis_48 + u[k] + 0); }
        real select_56_19[B];
        UNROLL for (int k = 0; k < B; k++) { select_56_19[k] = __ldg(b_select_56 + u[k] + 0); }
        real divide_77_26[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q load<V>(divide_77_26[k][q], b_divide_77 + c[q] + (offset_t)u[k] * 4); }
        real negative_80_28[B];
        UNROLL for (int k = 0; k < B; k++) { negative_80_28[k] = __ldg(b_negative_80 + u[k] + 0); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real add_52_17; add_52_17 = axis_44_15 + axis_48_16[k];
          real leakyrelu_53_18; leakyrelu_53_18 = leaky_relu(add_52_17, (real)0.2);
          real subtract_58_20; subtract_58_20 = leakyrelu_53_18 - select_56_19[k];
          real exp_59_21; exp_59_21 = exponential_of_share(subtract_58_20);
          bool less_88_22; less_88_22 = ((real)0.0) < leakyrelu_53_18;
          real select_89_23; select_89_23 = less_88_22 ? ((real)1.0) : ((real)0.2);
          real multiply_90_24; multiply_90_24 = exp_59_21 * select_89_23;
          real dropout_91_25; dropout_91_25 = !training ? multiply_90_24 : stream_2[k] >> 0 & 1 ? multiply_90_24 * (real)1.4285776566757493 : (real)0;
          real product_27[Q][V]; EACH product_27[q][j] = dropout_91_25 * divide_77_26[k][q][j];
          EACH if (here) reduce_103_1[q][j] = reduce_103_1[q][j] + product_27[q][j];
          real multiply_100_29; multiply_100_29 = negative_80_28[k] * exp_59_21;
          real product_30; product_30 = multiply_100_29 * select_89_23;
          if (here) reduce_107_5 = reduce_107_5 + product_30;
          real dropout_64_31; dropout_64_31 = !training ? exp_59_21 : stream_2[k] >> 0 & 1 ? exp_59_21 * (real)1.4285776566757493 : (real)0;
          real product_32[Q][V]; EACH product_32[q][j] = divide_77_26[k][q][j] * dropout_64_31;
          EACH if (here) reduce_85_7[q][j] = reduce_85_7[q][j] + product_32[q][j];
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
    EACH UNROLL for (int apart = 1; apart < 32; apart *= 2) { const real own_part = reduce_103_1[q][j]; reduce_103_1[q][j] = reduce_103_1[q][j] + from_lane(own_part, lane ^ apart); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = reduce_103_1[q][j]; }
      __syncthreads();
      EACH { reduce_103_1[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) reduce_103_1[q][j] = reduce_103_1[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
    UNROLL for (int apart = 1; apart < 32; apart *= 2) { const real own_part = reduce_107_5; reduce_107_5 = reduce_107_5 + from_lane(own_part, lane ^ apart); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { told[(warp * L + part) * 1 + 0] = reduce_107_5; }
      __syncthreads();
      { reduce_107_5 = told[(0 * L + part) * 1 + 0]; for (int w = 1; w < WARPS; w++) reduce_107_5 = reduce_107_5 + told[(w * L + part) * 1 + 0]; }
      __syncthreads();
    }
    EACH UNROLL for (int apart = 1; apart < 32; apart *= 2) { const real own_part = reduce_85_7[q][j]; reduce_85_7[q][j] = reduce_85_7[q][j] + from_lane(own_part, lane ^ apart); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = reduce_85_7[q][j]; }
      __syncthreads();
      EACH { reduce_85_7[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) reduce_85_7[q][j] = reduce_85_7[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
  }
  if (tier == 3) {
    constexpr unsigned SLOTS = 9;
    const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
    double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
    if (writes) {
      double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
      EACH tell(of_piece + (0 + q * V + j) * L, reduce_103_1[q][j]);tell(of_piece + (4 + 0) * L, reduce_107_5);EACH tell(of_piece + (5 + q * V + j) * L, reduce_85_7[q][j]);
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
      EACH reduce_103_1[q][j] = heard<real>(of_piece + (0 + q * V + j) * L);reduce_107_5 = heard<real>(of_piece + (4 + 0) * L);EACH reduce_85_7[q][j] = heard<real>(of_piece + (5 + q * V + j) * L);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        EACH reduce_103_1[q][j] = reduce_103_1[q][j] + heard<real>(of_piece + (0 + q * V + j) * L);reduce_107_5 = reduce_107_5 + heard<real>(of_piece + (4 + 0) * L);EACH reduce_85_7[q][j] = reduce_85_7[q][j] + heard<real>(of_piece + (5 + q * V + j) * L);
      }
    }
  }
  real product_40_2[Q][V]; EACH_Q load<V>(product_40_2[q], b_product_40 + (offset_t)v * 4 + c[q]);
  real multiply_104_3[Q][V]; EACH multiply_104_3[q][j] = reduce_103_1[q][j] * product_40_2[q][j];
  real axis_105_4;
  axis_105_4 = 0;
  EACH axis_105_4 = axis_105_4 + (own[q] && c[q] + j < 3u ? multiply_104_3[q][j] : 0);
  real slope_of_left_108_6; slope_of_left_108_6 = axis_105_4 + reduce_107_5;
  real add_110_11[Q][V]; EACH add_110_11[q][j] = reduce_85_7[q][j] + multiply_109_10[q][j];
  real parameter_gat_attend_1_param_0_12[Q][V]; EACH_Q load<V>(parameter_gat_attend_1_param_0_12[q], b_parameter_gat_attend_1_param_0 + c[q]);
  real multiply_113_13[Q][V]; EACH multiply_113_13[q][j] = slope_of_left_108_6 * parameter_gat_attend_1_param_0_12[q][j];
  real slope_of_z_114_14[Q][V]; EACH slope_of_z_114_14[q][j] = add_110_11[q][j] + multiply_113_13[q][j];
  if (!writes) return;
  EACH if (own[q] && (c[q] + j) == 0) o_slope_20_of_20_left_108[v + 0] = slope_of_left_108_6;
  EACH_Q if (own[q]) store<V>(o_slope_20_of_20_z_114 + (offset_t)v * 4 + c[q], slope_of_z_114_14[q]);
}

// gradient.gat.attend.1.param.0: 6012 bytes at least, line 10 of the program
//   gradient.gat.attend.1.param.0 = sum rows(slope of left.108 * product.40)
//   (text: cuda/src/reduce_all_rows.rs, decide_total)
extern "C" __global__ void __launch_bounds__(256, 2) k10_gradient_gat_attend_1_param_0(const real* __restrict__ b_slope_20_of_20_left_108, const real* __restrict__ b_product_40, const real* __restrict__ b_slope_20_of_20_right_99, real* __restrict__ scratch, const unsigned rows_given, real* __restrict__ out_0, real* __restrict__ out_1, unsigned* ticket) {
  after_others();
  constexpr unsigned K = 3, PLACES = 4, V = 4, L = 1, STRANDS = 256 / L, Q = 1, SUMS = 2;
  const unsigned rows = rows_given;
  const unsigned thread = threadIdx.x % L, strand = threadIdx.x / L, column = blockIdx.y * (L * V) + thread * V;
  const unsigned c[1] = {column < PLACES ? column : PLACES - V};
  const unsigned each = (rows + gridDim.x - 1) / gridDim.x, begin = min(rows, blockIdx.x * each), end = min(rows, begin + each);
  real sums[SUMS][V] = {};
  _Pragma("unroll 4") for (unsigned row = begin + strand; row < end; row += STRANDS) {
    [[maybe_unused]] const unsigned v = row;
    real slope_of_left_108_1; slope_of_left_108_1 = __ldg(b_slope_20_of_20_left_108 + v + 0);
    real product_40_2[Q][V]; EACH_Q load<V>(product_40_2[q], b_product_40 + (offset_t)v * 4 + c[q]);
    real product_3[Q][V]; EACH product_3[q][j] = slope_of_left_108_1 * product_40_2[q][j];
    real slope_of_right_99_4; slope_of_right_99_4 = __ldg(b_slope_20_of_20_right_99 + v + 0);
    real product_5[Q][V]; EACH product_5[q][j] = slope_of_right_99_4 * product_40_2[q][j];
    EACH sums[0][j] += product_3[q][j];
    EACH sums[1][j] += product_5[q][j];
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
  for (unsigned from = threadIdx.x / 32; from < 6u; from += E * apart) {
    real joined[E] = {};
    for (unsigned first = of_warp; first < parts; first += D * 32) {
      real several[E][D];
      UNROLL for (int e = 0; e < E; e++) UNROLL for (int i = 0; i < D; i++)
      several[e][i] = from + e * apart < 6u && first + i * 32 < parts ? __ldcg(scratch + (offset_t)(from + e * apart) * parts + first + i * 32) : (real)0;
      UNROLL for (int e = 0; e < E; e++) UNROLL for (int i = 0; i < D; i++) joined[e] += several[e][i];
    }
    UNROLL for (int e = 0; e < E; e++) {
      const unsigned element = from + e * apart;
      UNROLL for (int distance = 16; distance > 0; distance /= 2) joined[e] += across(joined[e], distance);
      if (of_warp == 0 && element < 6u) (element < 3u ? out_0 : out_1)[element % 3u] = joined[e];
    }
  }
}

// gradient.gat.attend.1.linear.0.weight: 24192 bytes at least, line 9 of the program
//   gradient.gat.attend.1.linear.0.weight = outer(slope of z.114, h.38)
//   (on tensor cores: 32 x 8 columns a warp, 1 of them across the columns, 12 along the rows, 8 rows at a time; 5 steps in flight)
//   (text: cuda/src/outer_products.rs, emit_tiled_outer)
extern "C" __global__ void __launch_bounds__(384, 1) k11_gradient_gat_attend_1_linear_0_weight(const real* __restrict__ b_slope_20_of_20_z_114, const real* __restrict__ b_h_38, real* __restrict__ scratch, const unsigned rows_given, unsigned* ticket, real* __restrict__ out_0, const unsigned elements_0) {
  after_others();
  constexpr unsigned X = 16, Z = 3, XV = 4, ZV = 4, RV = 1, GROUPS = 1, TILES = 1, ACROSS = 1, TURNS = 12, AHEAD = 6;
  constexpr unsigned PRODUCTS = 48;
  constexpr bool X_FIRST = false, SUM_X = false, SUM_Z = false;
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
        copy_later<16>(to, b_h_38 + (here ? (offset_t)row * 16 + column : 0), here);
      }
      constexpr unsigned PIECES = Z_TILE * 8 / ZV;
      UNROLL for (int i = 0; i < (PIECES + 31) / 32; i++) {
        const unsigned place = i * 32 + lane, r = place / (Z_TILE / ZV), within = place % (Z_TILE / ZV) * ZV, row = coming + r, column = z0 + within;
        if (PIECES % 32 != 0 && place >= PIECES) continue;
        float* const to = stage + GROUPS * 256 + r * Z_TILE + (within / 4 ^ twist(r)) * 4 + within % 4;
        const bool here = row < end && column < Z;
        copy_later<16>(to, b_slope_20_of_20_z_114 + (here ? (offset_t)row * 4 + column : 0), here);
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
  for (unsigned element = threadIdx.x; element < 48u; element += blockDim.x) {
    real sum = 0;
    for (unsigned first = 0; first < parts; first += 16) {
      real several[16];
      UNROLL for (int i = 0; i < 16; i++) several[i] = first + i < parts ? __ldcg(scratch + (offset_t)(first + i) * 48u + element) : (real)0;
      UNROLL for (int i = 0; i < 16; i++) sum += several[i];
    }
    unsigned place = element;
    out_0[place] = sum;
  }
}

// slope of right.148: 91456 bytes at least, lines 3, 4, 9, 11, 13 of the program
//   slope of h.118 (nodes x 16) = product(slope of z.114, parameter.gat.attend.1.linear.0.weight)
//   add.35.again (nodes x 16) = add(divide.33, parameter.gat.attend.0.bias.0)
//   h.36.again (nodes x 16) = elu(add.35.again)
//   dropout.120 (nodes x 16) = dropout 0.5 site 2(slope of h.118)
//   add.122 (nodes x 16) = add(h.36.again, 1.0)
//   multiply.123 (nodes x 16) = multiply(dropout.120, add.122)
//   less.124 (nodes x 16) = less(0.0, h.36.again)
//   select.125 = select(less.124, dropout.120, multiply.123)
//   divide.127 = divide(select.125, select.28)
//   multiply.128 (nodes x 16) = multiply(divide.127, divide.33)
//   axis.129 (nodes x 2) = axis sum 1(multiply.128)
//   negative.130 = negative(axis.129)
//   multiply.143 (nodes x 16) = multiply(reduce.142, divide.127)
//   axis.144 (nodes x 2) = axis sum 1(multiply.143)
//   multiply.147 (nodes x 2) = multiply(reduce.146, negative.130)
//   slope of right.148 = add(axis.144, multiply.147)
//   (1 rows of 4 columns a thread, 4 threads along a row)
//   (text: cuda/src/plain_products.rs, decide_product)
extern "C" __global__ void __launch_bounds__(256, 2) k12_slope_of_right_148(const real* __restrict__ b_parameter_gat_attend_1_linear_0_weight, const real* __restrict__ b_slope_20_of_20_z_114, const real* __restrict__ b_divide_33, const real* __restrict__ b_parameter_gat_attend_0_bias_0, const real* __restrict__ b_select_28, const real* __restrict__ b_reduce_142, const real* __restrict__ b_reduce_146, const unsigned* __restrict__ rows_in_graph, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_divide_127, real* __restrict__ o_negative_130, real* __restrict__ o_slope_20_of_20_right_148, const unsigned rows_given, real* __restrict__ scratch, real* __restrict__ out, unsigned* ticket) {
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
      real slope_of_z_114_1[Q][V]; EACH_Q load<V>(slope_of_z_114_1[q], b_slope_20_of_20_z_114 + (offset_t)v * 4 + c[q]);
      EACH piece[p][j] = here && c[q] + j < K ? slope_of_z_114_1[q][j] : (real)0;
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
      right[k][m] = k0 + k < K && slice + m < WIDE ? __ldg(b_parameter_gat_attend_1_linear_0_weight + (offset_t)(k0 + k) * 16 + slice + m) : (real)0;
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
    real divide_33_1[Q][V]; EACH_Q load<V>(divide_33_1[q], b_divide_33 + (offset_t)v * 16 + c[q]);
    real parameter_gat_attend_0_bias_0_2[Q][V]; EACH_Q load<V>(parameter_gat_attend_0_bias_0_2[q], b_parameter_gat_attend_0_bias_0 + c[q]);
    real add_35_again_3[Q][V]; EACH add_35_again_3[q][j] = divide_33_1[q][j] + parameter_gat_attend_0_bias_0_2[q][j];
    real h_36_again_4[Q][V]; EACH h_36_again_4[q][j] = elu(add_35_again_3[q][j]);
    bool less_124_5[Q][V]; EACH less_124_5[q][j] = ((real)0.0) < h_36_again_4[q][j];
    real dropout_120_6[Q][V]; EACH_Q { bool kept_7[V]; UNROLL for (int j = 0; j < V; j++) kept_7[j] = true; if (training) keeps<V>(kept_7, row_in_graph, c[q], clock->epoch, 2u, seed, 32768u); UNROLL for (int j = 0; j < V; j++) dropout_120_6[q][j] = !training ? made[q][j] : kept_7[j] ? made[q][j] * (real)2.0 : (real)0; }
    real add_122_8[Q][V]; EACH add_122_8[q][j] = h_36_again_4[q][j] + ((real)1.0);
    real multiply_123_9[Q][V]; EACH multiply_123_9[q][j] = dropout_120_6[q][j] * add_122_8[q][j];
    real select_125_10[Q][V]; EACH select_125_10[q][j] = less_124_5[q][j] ? dropout_120_6[q][j] : multiply_123_9[q][j];
    real select_28_11[Q]; EACH_Q select_28_11[q] = __ldg(b_select_28 + (offset_t)v * 2 + (c[q] / 8u));
    real divide_127_12[Q][V]; EACH_Q divide(divide_127_12[q], select_125_10[q], select_28_11[q]);
    real multiply_128_13[Q][V]; EACH multiply_128_13[q][j] = divide_127_12[q][j] * divide_33_1[q][j];
    real axis_129_14[Q];
    EACH_Q axis_129_14[q] = 0;
    EACH axis_129_14[q] = axis_129_14[q] + multiply_128_13[q][j];
    EACH_Q axis_129_14[q] = axis_129_14[q] + across(axis_129_14[q], 1);
    real negative_130_15[Q]; EACH_Q negative_130_15[q] = negative(axis_129_14[q]);
    real reduce_142_16[Q][V]; EACH_Q load<V>(reduce_142_16[q], b_reduce_142 + (offset_t)v * 16 + c[q]);
    real multiply_143_17[Q][V]; EACH multiply_143_17[q][j] = reduce_142_16[q][j] * divide_127_12[q][j];
    real axis_144_18[Q];
    EACH_Q axis_144_18[q] = 0;
    EACH axis_144_18[q] = axis_144_18[q] + multiply_143_17[q][j];
    EACH_Q axis_144_18[q] = axis_144_18[q] + across(axis_144_18[q], 1);
    real reduce_146_19[Q]; EACH_Q reduce_146_19[q] = __ldg(b_reduce_146 + (offset_t)v * 2 + (c[q] / 8u));
    real multiply_147_20[Q]; EACH_Q multiply_147_20[q] = reduce_146_19[q] * negative_130_15[q];
    real slope_of_right_148_21[Q]; EACH_Q slope_of_right_148_21[q] = axis_144_18[q] + multiply_147_20[q];
    EACH_Q if (own[q]) store<V>(o_divide_127 + (offset_t)v * 16 + c[q], divide_127_12[q]);
    EACH if (own[q] && (c[q] + j) % 8u == 0) o_negative_130[(offset_t)v * 2 + (c[q] / 8u)] = negative_130_15[q];
    EACH if (own[q] && (c[q] + j) % 8u == 0) o_slope_20_of_20_right_148[(offset_t)v * 2 + (c[q] / 8u)] = slope_of_right_148_21[q];
    EACH if (own[q]) of_sums[0][q][j] += select_125_10[q][j];
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

// gradient.gat.attend.0.bias.0: 19264 bytes at least, line 13 of the program
//   gradient.gat.attend.0.bias.0 = sum rows(select.125)
// merged into the kernel of slope of right.148

// gradient.gat.attend.0.param.1: 21664 bytes at least, line 10 of the program
//   gradient.gat.attend.0.param.1 = sum rows(slope of right.148 * product.3)
// merged into the kernel of gradient.gat.attend.0.param.0

// slope of z.163: 97332 bytes at least, lines 10, 11, 12, 13 of the program
//   add.15 (edges x 2) = add(axis.7[far.in], axis.11[near.in])
//   leakyrelu.16 (edges x 2) = leakyrelu(0.2)(add.15)
//   subtract.23 (edges x 2) = subtract(leakyrelu.16, select.21[near.in])
//   exp.24 (edges x 2) = exp(subtract.23)
//   dropout.30 (edges x 2) = dropout 0.3 site 1(exp.24)
//   reduce.135 (nodes x 16) = reduce sum.out(divide.127[far.out] * dropout.30)
//   less.137 (edges x 2) = less(0.0, leakyrelu.16)
//   select.138 (edges x 2) = select(less.137, 1.0, 0.2)
//   multiply.139 (edges x 2) = multiply(exp.24, select.138)
//   dropout.140 (edges x 2) = dropout 0.3 site 1(multiply.139)
//   reduce.152 (nodes x 16) = reduce sum.out(dropout.140 * divide.127[near.in])
//   multiply.153 (nodes x 16) = multiply(reduce.152, product.3)
//   axis.154 (nodes x 2) = axis sum 1(multiply.153)
//   multiply.149 (edges x 2) = multiply(negative.130[near.in], exp.24)
//   reduce.156 (nodes x 2) = reduce sum.out(multiply.149 * select.138)
//   slope of left.157 = add(axis.154, reduce.156)
//   multiply.158 (nodes x 16) = multiply(slope of right.148, parameter.gat.attend.0.param.1)
//   add.159 (nodes x 16) = add(reduce.135, multiply.158)
//   multiply.162 (nodes x 16) = multiply(slope of left.157, parameter.gat.attend.0.param.0)
//   slope of z.163 = add(add.159, multiply.162)
//   (4 lanes of 4 columns a row, 8 rows a warp, 4 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
//   (text: cuda/src/row_walk.rs, emit_edge_kernel)
extern "C" __global__ void __launch_bounds__(256, 2) k15_slope_of_z_163(const real* __restrict__ b_axis_7, const real* __restrict__ b_axis_11, const real* __restrict__ b_select_21, const real* __restrict__ b_divide_127, const real* __restrict__ b_product_3, const real* __restrict__ b_negative_130, const real* __restrict__ b_slope_20_of_20_right_148, const real* __restrict__ b_parameter_gat_attend_0_param_1, const real* __restrict__ b_parameter_gat_attend_0_param_0, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_slope_20_of_20_left_157, real* __restrict__ o_slope_20_of_20_z_163, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned* __restrict__ slot_edge, const unsigned hub_items, const unsigned pieces, double* __restrict__ parts_of_hubs, unsigned* ticket, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
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
  real slope_of_right_148_8[Q]; EACH_Q slope_of_right_148_8[q] = __ldg(b_slope_20_of_20_right_148 + (offset_t)v * 2 + (c[q] / 8u));
  real parameter_gat_attend_0_param_1_9[Q][V]; EACH_Q load<V>(parameter_gat_attend_0_param_1_9[q], b_parameter_gat_attend_0_param_1 + c[q]);
  real multiply_158_10[Q][V]; EACH multiply_158_10[q][j] = slope_of_right_148_8[q] * parameter_gat_attend_0_param_1_9[q][j];
  real axis_7_15[Q]; EACH_Q axis_7_15[q] = __ldg(b_axis_7 + (offset_t)v * 2 + (c[q] / 8u));
  real reduce_152_1[Q][V]; EACH reduce_152_1[q][j] = 0;
  real reduce_156_5[Q]; EACH_Q reduce_156_5[q] = 0;
  real reduce_135_7[Q][V]; EACH reduce_135_7[q][j] = 0;
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
        real axis_11_16[B][Q];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q axis_11_16[k][q] = __ldg(b_axis_11 + (c[q] / 8u) + (offset_t)u[k] * 2); }
        real select_21_19[B][Q];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q select_21_19[k][q] = __ldg(b_select_21 + (c[q] / 8u) + (offset_t)u[k] * 2); }
        real divide_127_26[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q load<V>(divide_127_26[k][q], b_divide_127 + c[q] + (offset_t)u[k] * 16); }
        real negative_130_28[B][Q];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q negative_130_28[k][q] = __ldg(b_negative_130 + (c[q] / 8u) + (offset_t)u[k] * 2); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real add_15_17[Q]; EACH_Q add_15_17[q] = axis_7_15[q] + axis_11_16[k][q];
          real leakyrelu_16_18[Q]; EACH_Q leakyrelu_16_18[q] = leaky_relu(add_15_17[q], (real)0.2);
          real subtract_23_20[Q]; EACH_Q subtract_23_20[q] = leakyrelu_16_18[q] - select_21_19[k][q];
          real exp_24_21[Q]; EACH_Q exp_24_21[q] = exponential_of_share(subtract_23_20[q]);
          bool less_137_22[Q]; EACH_Q less_137_22[q] = ((real)0.0) < leakyrelu_16_18[q];
          real select_138_23[Q]; EACH_Q select_138_23[q] = less_137_22[q] ? ((real)1.0) : ((real)0.2);
          real multiply_139_24[Q]; EACH_Q multiply_139_24[q] = exp_24_21[q] * select_138_23[q];
          real dropout_140_25[Q]; EACH_Q dropout_140_25[q] = !training ? multiply_139_24[q] : stream_2[k] >> (c[q] / 8u) & 1 ? multiply_139_24[q] * (real)1.4285776566757493 : (real)0;
          real product_27[Q][V]; EACH product_27[q][j] = dropout_140_25[q] * divide_127_26[k][q][j];
          EACH if (here) reduce_152_1[q][j] = reduce_152_1[q][j] + product_27[q][j];
          real multiply_149_29[Q]; EACH_Q multiply_149_29[q] = negative_130_28[k][q] * exp_24_21[q];
          real product_30[Q]; EACH_Q product_30[q] = multiply_149_29[q] * select_138_23[q];
          EACH_Q if (here) reduce_156_5[q] = reduce_156_5[q] + product_30[q];
          real dropout_30_31[Q]; EACH_Q dropout_30_31[q] = !training ? exp_24_21[q] : stream_2[k] >> (c[q] / 8u) & 1 ? exp_24_21[q] * (real)1.4285776566757493 : (real)0;
          real product_32[Q][V]; EACH product_32[q][j] = divide_127_26[k][q][j] * dropout_30_31[q];
          EACH if (here) reduce_135_7[q][j] = reduce_135_7[q][j] + product_32[q][j];
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
    EACH { const real own_part = reduce_152_1[q][j]; reduce_152_1[q][j] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_152_1[q][j] = reduce_152_1[q][j] + from_lane(own_part, g * L + part); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = reduce_152_1[q][j]; }
      __syncthreads();
      EACH { reduce_152_1[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) reduce_152_1[q][j] = reduce_152_1[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
    EACH_Q { const real own_part = reduce_156_5[q]; reduce_156_5[q] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_156_5[q] = reduce_156_5[q] + from_lane(own_part, g * L + part); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH_Q told[(warp * L + part) * 1 + q] = reduce_156_5[q]; }
      __syncthreads();
      EACH_Q { reduce_156_5[q] = told[(0 * L + part) * 1 + q]; for (int w = 1; w < WARPS; w++) reduce_156_5[q] = reduce_156_5[q] + told[(w * L + part) * 1 + q]; }
      __syncthreads();
    }
    EACH { const real own_part = reduce_135_7[q][j]; reduce_135_7[q][j] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_135_7[q][j] = reduce_135_7[q][j] + from_lane(own_part, g * L + part); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = reduce_135_7[q][j]; }
      __syncthreads();
      EACH { reduce_135_7[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) reduce_135_7[q][j] = reduce_135_7[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
  }
  if (tier == 3) {
    constexpr unsigned SLOTS = 9;
    const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
    double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
    if (writes) {
      double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
      EACH tell(of_piece + (0 + q * V + j) * L, reduce_152_1[q][j]);EACH_Q tell(of_piece + (4 + q) * L, reduce_156_5[q]);EACH tell(of_piece + (5 + q * V + j) * L, reduce_135_7[q][j]);
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
      EACH reduce_152_1[q][j] = heard<real>(of_piece + (0 + q * V + j) * L);EACH_Q reduce_156_5[q] = heard<real>(of_piece + (4 + q) * L);EACH reduce_135_7[q][j] = heard<real>(of_piece + (5 + q * V + j) * L);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        EACH reduce_152_1[q][j] = reduce_152_1[q][j] + heard<real>(of_piece + (0 + q * V + j) * L);EACH_Q reduce_156_5[q] = reduce_156_5[q] + heard<real>(of_piece + (4 + q) * L);EACH reduce_135_7[q][j] = reduce_135_7[q][j] + heard<real>(of_piece + (5 + q * V + j) * L);
      }
    }
  }
  real product_3_2[Q][V]; EACH_Q load<V>(product_3_2[q], b_product_3 + (offset_t)v * 16 + c[q]);
  real multiply_153_3[Q][V]; EACH multiply_153_3[q][j] = reduce_152_1[q][j] * product_3_2[q][j];
  real axis_154_4[Q];
  EACH_Q axis_154_4[q] = 0;
  EACH axis_154_4[q] = axis_154_4[q] + multiply_153_3[q][j];
  EACH_Q axis_154_4[q] = axis_154_4[q] + across(axis_154_4[q], 1);
  real slope_of_left_157_6[Q]; EACH_Q slope_of_left_157_6[q] = axis_154_4[q] + reduce_156_5[q];
  real add_159_11[Q][V]; EACH add_159_11[q][j] = reduce_135_7[q][j] + multiply_158_10[q][j];
  real parameter_gat_attend_0_param_0_12[Q][V]; EACH_Q load<V>(parameter_gat_attend_0_param_0_12[q], b_parameter_gat_attend_0_param_0 + c[q]);
  real multiply_162_13[Q][V]; EACH multiply_162_13[q][j] = slope_of_left_157_6[q] * parameter_gat_attend_0_param_0_12[q][j];
  real slope_of_z_163_14[Q][V]; EACH slope_of_z_163_14[q][j] = add_159_11[q][j] + multiply_162_13[q][j];
  if (!writes) return;
  EACH if (own[q] && (c[q] + j) % 8u == 0) o_slope_20_of_20_left_157[(offset_t)v * 2 + (c[q] / 8u)] = slope_of_left_157_6[q];
  EACH_Q if (own[q]) store<V>(o_slope_20_of_20_z_163 + (offset_t)v * 16 + c[q], slope_of_z_163_14[q]);
}

// gradient.gat.attend.0.param.0: 21664 bytes at least, line 10 of the program
//   gradient.gat.attend.0.param.0 = sum rows(slope of left.157 * product.3)
//   (text: cuda/src/reduce_all_rows.rs, decide_total)
extern "C" __global__ void __launch_bounds__(256, 2) k16_gradient_gat_attend_0_param_0(const real* __restrict__ b_slope_20_of_20_left_157, const real* __restrict__ b_product_3, const real* __restrict__ b_slope_20_of_20_right_148, real* __restrict__ scratch, const unsigned rows_given, real* __restrict__ out_0, real* __restrict__ out_1, unsigned* ticket) {
  after_others();
  constexpr unsigned K = 16, PLACES = 16, V = 4, L = 4, STRANDS = 256 / L, Q = 1, SUMS = 2;
  const unsigned rows = rows_given;
  const unsigned thread = threadIdx.x % L, strand = threadIdx.x / L, column = blockIdx.y * (L * V) + thread * V;
  const unsigned c[1] = {column < PLACES ? column : PLACES - V};
  const unsigned each = (rows + gridDim.x - 1) / gridDim.x, begin = min(rows, blockIdx.x * each), end = min(rows, begin + each);
  real sums[SUMS][V] = {};
  _Pragma("unroll 4") for (unsigned row = begin + strand; row < end; row += STRANDS) {
    [[maybe_unused]] const unsigned v = row;
    real slope_of_left_157_1[Q]; EACH_Q slope_of_left_157_1[q] = __ldg(b_slope_20_of_20_left_157 + (offset_t)v * 2 + (c[q] / 8u));
    real product_3_2[Q][V]; EACH_Q load<V>(product_3_2[q], b_product_3 + (offset_t)v * 16 + c[q]);
    real product_3[Q][V]; EACH product_3[q][j] = slope_of_left_157_1[q] * product_3_2[q][j];
    real slope_of_right_148_4[Q]; EACH_Q slope_of_right_148_4[q] = __ldg(b_slope_20_of_20_right_148 + (offset_t)v * 2 + (c[q] / 8u));
    real product_5[Q][V]; EACH product_5[q][j] = slope_of_right_148_4[q] * product_3_2[q][j];
    EACH sums[0][j] += product_3[q][j];
    EACH sums[1][j] += product_5[q][j];
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
  constexpr unsigned E = 4, D = E > 2 ? 4 : 8;
  const unsigned parts = gridDim.x, of_warp = threadIdx.x % 32, apart = blockDim.x / 32;
  for (unsigned from = threadIdx.x / 32; from < 32u; from += E * apart) {
    real joined[E] = {};
    for (unsigned first = of_warp; first < parts; first += D * 32) {
      real several[E][D];
      UNROLL for (int e = 0; e < E; e++) UNROLL for (int i = 0; i < D; i++)
      several[e][i] = from + e * apart < 32u && first + i * 32 < parts ? __ldcg(scratch + (offset_t)(from + e * apart) * parts + first + i * 32) : (real)0;
      UNROLL for (int e = 0; e < E; e++) UNROLL for (int i = 0; i < D; i++) joined[e] += several[e][i];
    }
    UNROLL for (int e = 0; e < E; e++) {
      const unsigned element = from + e * apart;
      UNROLL for (int distance = 16; distance > 0; distance /= 2) joined[e] += across(joined[e], distance);
      if (of_warp == 0 && element < 32u) (element < 16u ? out_0 : out_1)[element % 16u] = joined[e];
    }
  }
}

// gradient.gat.attend.0.linear.0.weight: 29184 bytes at least, line 9 of the program
//   gradient.gat.attend.0.linear.0.weight = outer(slope of z.163, dropout.1)
//   (on tensor cores: 32 x 8 columns a warp, 1 of them across the columns, 12 along the rows, 8 rows at a time; 5 steps in flight)
//   (text: cuda/src/outer_products.rs, emit_tiled_outer)
extern "C" __global__ void __launch_bounds__(384, 1) k17_gradient_gat_attend_0_linear_0_weight(const real* __restrict__ b_slope_20_of_20_z_163, const real* __restrict__ b_dropout_1, real* __restrict__ scratch, const unsigned rows_given, unsigned* ticket, real* __restrict__ out_0, const unsigned elements_0) {
  after_others();
  constexpr unsigned X = 16, Z = 6, XV = 4, ZV = 4, RV = 1, GROUPS = 1, TILES = 1, ACROSS = 1, TURNS = 12, AHEAD = 6;
  constexpr unsigned PRODUCTS = 96;
  constexpr bool X_FIRST = true, SUM_X = false, SUM_Z = false;
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
        copy_later<16>(to, b_slope_20_of_20_z_163 + (here ? (offset_t)row * 16 + column : 0), here);
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
  for (unsigned element = threadIdx.x; element < 96u; element += blockDim.x) {
    real sum = 0;
    for (unsigned first = 0; first < parts; first += 16) {
      real several[16];
      UNROLL for (int i = 0; i < 16; i++) several[i] = first + i < parts ? __ldcg(scratch + (offset_t)(first + i) * 96u + element) : (real)0;
      UNROLL for (int i = 0; i < 16; i++) sum += several[i];
    }
    unsigned place = element;
    out_0[place] = sum;
  }
}

// update.gat.attend.0.linear.0.weight: 2688 bytes at least
//   parameter.gat.attend.0.linear.0.weight = step(parameter.gat.attend.0.linear.0.weight, gradient.gat.attend.0.linear.0.weight)
//   (text: cuda/src/epoch_clock.rs, decide_optimizer)
extern "C" __global__ void __launch_bounds__(256, 1) k18_update_gat_attend_0_linear_0_weight(real* parameter_0, const real* __restrict__ gradient_0, real* first_0, real* second_0, const double* __restrict__ settings_0, real* parameter_1, const real* __restrict__ gradient_1, real* first_1, real* second_1, const double* __restrict__ settings_1, real* parameter_2, const real* __restrict__ gradient_2, real* first_2, real* second_2, const double* __restrict__ settings_2, real* parameter_3, const real* __restrict__ gradient_3, real* first_3, real* second_3, const double* __restrict__ settings_3, real* parameter_4, const real* __restrict__ gradient_4, real* first_4, real* second_4, const double* __restrict__ settings_4, real* parameter_5, const real* __restrict__ gradient_5, real* first_5, real* second_5, const double* __restrict__ settings_5, real* parameter_6, const real* __restrict__ gradient_6, real* first_6, real* second_6, const double* __restrict__ settings_6, real* parameter_7, const real* __restrict__ gradient_7, real* first_7, real* second_7, const double* __restrict__ settings_7, const Clock* __restrict__ clock) {
  real* const parameter = blockIdx.x < 1u ? parameter_0 : blockIdx.x < 2u ? parameter_1 : blockIdx.x < 3u ? parameter_2 : blockIdx.x < 4u ? parameter_3 : blockIdx.x < 5u ? parameter_4 : blockIdx.x < 6u ? parameter_5 : blockIdx.x < 7u ? parameter_6 : parameter_7;
  const real* const gradient = blockIdx.x < 1u ? gradient_0 : blockIdx.x < 2u ? gradient_1 : blockIdx.x < 3u ? gradient_2 : blockIdx.x < 4u ? gradient_3 : blockIdx.x < 5u ? gradient_4 : blockIdx.x < 6u ? gradient_5 : blockIdx.x < 7u ? gradient_6 : gradient_7;
  real* const first = blockIdx.x < 1u ? first_0 : blockIdx.x < 2u ? first_1 : blockIdx.x < 3u ? first_2 : blockIdx.x < 4u ? first_3 : blockIdx.x < 5u ? first_4 : blockIdx.x < 6u ? first_5 : blockIdx.x < 7u ? first_6 : first_7;
  real* const second = blockIdx.x < 1u ? second_0 : blockIdx.x < 2u ? second_1 : blockIdx.x < 3u ? second_2 : blockIdx.x < 4u ? second_3 : blockIdx.x < 5u ? second_4 : blockIdx.x < 6u ? second_5 : blockIdx.x < 7u ? second_6 : second_7;
  const double* const settings = blockIdx.x < 1u ? settings_0 : blockIdx.x < 2u ? settings_1 : blockIdx.x < 3u ? settings_2 : blockIdx.x < 4u ? settings_3 : blockIdx.x < 5u ? settings_4 : blockIdx.x < 6u ? settings_5 : blockIdx.x < 7u ? settings_6 : settings_7;
  const unsigned i = (blockIdx.x - (blockIdx.x < 1u ? 0u : blockIdx.x < 2u ? 1u : blockIdx.x < 3u ? 2u : blockIdx.x < 4u ? 3u : blockIdx.x < 5u ? 4u : blockIdx.x < 6u ? 5u : blockIdx.x < 7u ? 6u : 7u)) * blockDim.x + threadIdx.x, elements = blockIdx.x < 1u ? 96u : blockIdx.x < 2u ? 16u : blockIdx.x < 3u ? 16u : blockIdx.x < 4u ? 16u : blockIdx.x < 5u ? 48u : blockIdx.x < 6u ? 3u : blockIdx.x < 7u ? 3u : 3u;
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

// update.gat.attend.0.param.0: 448 bytes at least
//   parameter.gat.attend.0.param.0 = step(parameter.gat.attend.0.param.0, gradient.gat.attend.0.param.0)
// merged into the kernel of gat.attend.0.linear.0.weight

// update.gat.attend.0.param.1: 448 bytes at least
//   parameter.gat.attend.0.param.1 = step(parameter.gat.attend.0.param.1, gradient.gat.attend.0.param.1)
// merged into the kernel of gat.attend.0.linear.0.weight

// update.gat.attend.0.bias.0: 448 bytes at least
//   parameter.gat.attend.0.bias.0 = step(parameter.gat.attend.0.bias.0, gradient.gat.attend.0.bias.0)
// merged into the kernel of gat.attend.0.linear.0.weight

// update.gat.attend.1.linear.0.weight: 1344 bytes at least
//   parameter.gat.attend.1.linear.0.weight = step(parameter.gat.attend.1.linear.0.weight, gradient.gat.attend.1.linear.0.weight)
// merged into the kernel of gat.attend.0.linear.0.weight

// update.gat.attend.1.param.0: 84 bytes at least
//   parameter.gat.attend.1.param.0 = step(parameter.gat.attend.1.param.0, gradient.gat.attend.1.param.0)
// merged into the kernel of gat.attend.0.linear.0.weight

// update.gat.attend.1.param.1: 84 bytes at least
//   parameter.gat.attend.1.param.1 = step(parameter.gat.attend.1.param.1, gradient.gat.attend.1.param.1)
// merged into the kernel of gat.attend.0.linear.0.weight

// update.gat.attend.1.bias.0: 84 bytes at least
//   parameter.gat.attend.1.bias.0 = step(parameter.gat.attend.1.bias.0, gradient.gat.attend.1.bias.0)
// merged into the kernel of gat.attend.0.linear.0.weight

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
extern "C" __global__ void watch_0(Watch* __restrict__ watches, Clock* clock, const unsigned* __restrict__ counts, const unsigned tells, const real* __restrict__ from_0, real* __restrict__ to_0, const real* __restrict__ from_1, real* __restrict__ to_1, const real* __restrict__ from_2, real* __restrict__ to_2, const real* __restrict__ from_3, real* __restrict__ to_3, const real* __restrict__ from_4, real* __restrict__ to_4, const real* __restrict__ from_5, real* __restrict__ to_5, const real* __restrict__ from_6, real* __restrict__ to_6, const real* __restrict__ from_7, real* __restrict__ to_7) {
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
  for (unsigned i = first; i < 16u; i += all) to_2[i] = from_2[i];
  for (unsigned i = first; i < 16u; i += all) to_3[i] = from_3[i];
  for (unsigned i = first; i < 48u; i += all) to_4[i] = from_4[i];
  for (unsigned i = first; i < 3u; i += all) to_5[i] = from_5[i];
  for (unsigned i = first; i < 3u; i += all) to_6[i] = from_6[i];
  for (unsigned i = first; i < 3u; i += all) to_7[i] = from_7[i];
}
