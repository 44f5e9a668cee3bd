// dropout.1: 14400 bytes at least
//   dropout.1 = dropout 0.5 site 0(x)
extern "C" __global__ void __launch_bounds__(256, 2) k0_dropout_1(const real* __restrict__ b_x, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, const unsigned* __restrict__ rows_in_graph, real* __restrict__ o_dropout_1, const unsigned rows) {
  constexpr unsigned C = 6, V = 2, L = 4, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { const unsigned place = blockIdx.y * (V * L * Q) + (q * L + part) * V; own[q] = place < C; c[q] = own[q] ? place : C - V; }
  const unsigned number = blockIdx.x * GROUPS + warp * PER_WARP + group;
  const bool live = number < rows;
  [[maybe_unused]] const unsigned v = live ? number : 0;
  const unsigned row_in_graph = rows_in_graph ? __ldg(rows_in_graph + v) : v;
  real x_1[Q][V]; EACH_Q load<V>(x_1[q], b_x + (offset_t)v * 6 + c[q]);
  real dropout_1_2[Q][V]; EACH_Q { bool kept_3[V]; UNROLL for (int j = 0; j < V; j++) kept_3[j] = true; if (training) keeps<V>(kept_3, row_in_graph, c[q], clock->epoch, 0u, seed, 32768u); UNROLL for (int j = 0; j < V; j++) dropout_1_2[q][j] = !training ? x_1[q][j] : kept_3[j] ? x_1[q][j] * (real)2.0 : (real)0; }
  if (!live) return;
  EACH_Q if (own[q]) store<V>(o_dropout_1 + (offset_t)v * 6 + c[q], dropout_1_2[q]);
}

// product.3: 26784 bytes at least
//   product.3 = product transposed(dropout.1, parameter.gat.attend.0.linear.0.weight)
extern "C" __global__ void __launch_bounds__(256, 2) k1_product_3(const real* __restrict__ b_parameter_gat_attend_0_linear_0_weight, const real* __restrict__ b_dropout_1, real* __restrict__ o_product_3, const unsigned rows_given) {
  constexpr unsigned K = 6, C = 16, L = 4, Q = 1, TM = 4, RT = 256 / L, BM = TM * RT, BK = 16, KV = 2, blockThreads = 256;
  const unsigned rows = rows_given * 1;
  constexpr unsigned V = 4, BN = L * V;
  __shared__ alignas(16) real left[BK][BM + 4], right[BK][BN];
  const unsigned part = threadIdx.x % L, thread_row = threadIdx.x / L, first = blockIdx.x * BM, slice = blockIdx.y * BN;
  real sums[TM][V];
  UNROLL for (int i = 0; i < TM; i++) UNROLL for (int j = 0; j < V; j++) sums[i][j] = 0;
  constexpr unsigned ALL = BM * (BK / KV), PIECES = (ALL + blockThreads - 1) / blockThreads;
  real piece[PIECES][KV];
  auto fetch = [&](const unsigned k0) {
    UNROLL for (int p = 0; p < PIECES; p++) {
      const unsigned i = threadIdx.x + p * blockThreads, r = i / (BK / KV), kk = i % (BK / KV) * KV, row = first + r;
      const bool here = i < ALL && row < rows && k0 + kk < K;
      [[maybe_unused]] const unsigned v = here ? row : 0, c[1] = {here ? k0 + kk : 0};
      constexpr unsigned V = KV;
      real dropout_1_1[Q][V]; EACH_Q load<V>(dropout_1_1[q], b_dropout_1 + (offset_t)v * 6 + c[q]);
      EACH piece[p][j] = here ? dropout_1_1[q][j] : (real)0;
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
      right[k][m] = k0 + k < K && slice + m < C ? __ldg(b_parameter_gat_attend_0_linear_0_weight + (offset_t)(slice + m) * 6 + k0 + k) : (real)0;
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
  [[maybe_unused]] const bool own[1] = {place < C};
  [[maybe_unused]] const unsigned c[1] = {own[0] ? place : C - V};
  UNROLL for (int i = 0; i < TM; i++) {
    const unsigned row = first + thread_row + i * RT;
    if (row >= rows) continue;
    [[maybe_unused]] const unsigned v = row;
    real made[Q][V]; EACH made[q][j] = sums[i][j];
    EACH_Q if (own[q]) store<V>(o_product_3 + (offset_t)v * 16 + c[q], made[q]);
  }
}

// axis.11: 24128 bytes at least
//   multiply.6 (nodes x 16) = multiply(product.3, parameter.gat.attend.0.param.0)
//   axis.7 = axis sum 1(multiply.6)
//   multiply.10 (nodes x 16) = multiply(product.3, parameter.gat.attend.0.param.1)
//   axis.11 = axis sum 1(multiply.10)
extern "C" __global__ void __launch_bounds__(256, 2) k2_axis_11(const real* __restrict__ b_product_3, const real* __restrict__ b_parameter_gat_attend_0_param_0, const real* __restrict__ b_parameter_gat_attend_0_param_1, real* __restrict__ o_axis_7, real* __restrict__ o_axis_11, const unsigned rows) {
  constexpr unsigned C = 16, V = 4, L = 4, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { const unsigned place = blockIdx.y * (V * L * Q) + (q * L + part) * V; own[q] = place < C; c[q] = own[q] ? place : C - V; }
  const unsigned number = blockIdx.x * GROUPS + warp * PER_WARP + group;
  const bool live = number < rows;
  [[maybe_unused]] const unsigned v = live ? number : 0;
  real product_3_1[Q][V]; EACH_Q load<V>(product_3_1[q], b_product_3 + (offset_t)v * 16 + c[q]);
  real parameter_gat_attend_0_param_0_2[Q][V]; EACH_Q load<V>(parameter_gat_attend_0_param_0_2[q], b_parameter_gat_attend_0_param_0 + c[q]);
  real multiply_6_3[Q][V]; EACH multiply_6_3[q][j] = product_3_1[q][j] * parameter_gat_attend_0_param_0_2[q][j];
  real axis_7_4[Q];
  EACH_Q axis_7_4[q] = 0;
  EACH axis_7_4[q] = axis_7_4[q] + multiply_6_3[q][j];
  EACH_Q axis_7_4[q] = axis_7_4[q] + across(axis_7_4[q], 1);
  real parameter_gat_attend_0_param_1_5[Q][V]; EACH_Q load<V>(parameter_gat_attend_0_param_1_5[q], b_parameter_gat_attend_0_param_1 + c[q]);
  real multiply_10_6[Q][V]; EACH multiply_10_6[q][j] = product_3_1[q][j] * parameter_gat_attend_0_param_1_5[q][j];
  real axis_11_7[Q];
  EACH_Q axis_11_7[q] = 0;
  EACH axis_11_7[q] = axis_11_7[q] + multiply_10_6[q][j];
  EACH_Q axis_11_7[q] = axis_11_7[q] + across(axis_11_7[q], 1);
  if (!live) return;
  EACH if (own[q] && (c[q] + j) % 8u == 0) o_axis_7[(offset_t)v * 2 + (c[q] / 8u)] = axis_7_4[q];
  EACH if (own[q] && (c[q] + j) % 8u == 0) o_axis_11[(offset_t)v * 2 + (c[q] / 8u)] = axis_11_7[q];
}

// h.39: 97268 bytes at least
//   add.15 (edges x 2) = add(axis.7[far.in], axis.11[near.in])
//   leakyrelu.16 (edges x 2) = leakyrelu(0.2)(add.15)
//   reduce.17 (nodes x 2) = reduce maximum.in(leakyrelu.16)
//   equal.20 (nodes x 2) = equal(reduce.17, -inf)
//   select.21 = select(equal.20, 0.0, reduce.17)
//   subtract.23 (edges x 2) = subtract(leakyrelu.16, select.21[near.in])
//   exp.24 (edges x 2) = exp(subtract.23)
//   reduce.25 (nodes x 2) = reduce sum.in(exp.24)
//   equal.27 = equal(reduce.25, 0.0)
//   select.28 = select(equal.27, 1.0, reduce.25)
//   divide.30 (edges x 2) = divide(exp.24, select.28[near.in])
//   dropout.31 (edges x 2) = dropout 0.3 site 1(divide.30)
//   reduce.34 (nodes x 16) = reduce sum.in(dropout.31 * product.3[far.in])
//   add.36 (nodes x 16) = add(reduce.34, parameter.gat.attend.0.bias.0)
//   h.37 = elu(add.36)
//   h.39 = dropout 0.5 site 2(h.37)
extern "C" __global__ void __launch_bounds__(256, 2) k3_h_39(const real* __restrict__ b_axis_7, const real* __restrict__ b_axis_11, const real* __restrict__ b_product_3, const real* __restrict__ b_parameter_gat_attend_0_bias_0, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, const unsigned* __restrict__ rows_in_graph, real* __restrict__ o_select_21, whole* __restrict__ o_equal_27, real* __restrict__ o_select_28, real* __restrict__ o_h_37, real* __restrict__ o_h_39, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned* __restrict__ slot_edge, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
  constexpr unsigned C = 16, V = 4, L = 4, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { const unsigned place = blockIdx.y * (V * L * Q) + (q * L + part) * V; own[q] = place < C; c[q] = own[q] ? place : C - V; }
  constexpr unsigned B = 4, J = B > L ? B / L : 1, CHUNK = J * L;
  const unsigned warp_blocks = (warp_items + WARPS - 1) / WARPS, block = blockIdx.x;
  const int tier = block < block_items ? 2 : block < block_items + warp_blocks ? 1 : 0;
  unsigned item = tier == 2 ? block : tier == 1 ? block_items + (block - block_items) * WARPS + warp
  : block_items + warp_items + (block - block_items - warp_blocks) * GROUPS + warp * PER_WARP + group;
  const bool live = item < (tier == 1 ? block_items + warp_items : items);
  item = live ? item : 0;
  [[maybe_unused]] const unsigned v = __ldg(item_row + item), begin = live ? __ldg(item_offset + item) : 0, end = live ? __ldg(item_offset + item + 1) : 0;
  const unsigned shares = tier == 2 ? GROUPS : tier == 1 ? PER_WARP : 1, mine = tier == 2 ? warp * PER_WARP + group : tier == 1 ? group : 0;
  const unsigned share = (end - begin + shares * B - 1) / (shares * B) * B;
  const unsigned from = min(end, begin + mine * share), stop = min(end, from + share);
  const bool writes = live && (tier == 0 || (group == 0 && (tier == 1 || warp == 0)));
  const unsigned row_in_graph = rows_in_graph ? __ldg(rows_in_graph + v) : v;
  real axis_11_31[Q]; EACH_Q axis_11_31[q] = __ldg(b_axis_11 + (offset_t)v * 2 + (c[q] / 8u));
  real reduce_17_1[Q]; EACH_Q reduce_17_1[q] = (real)-INFINITE;
  {
    unsigned at = from;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      UNROLL_4 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + s < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + s + k < stop;
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        real axis_7_30[B][Q];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q axis_7_30[k][q] = __ldg(b_axis_7 + (offset_t)u[k] * 2 + (c[q] / 8u)); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real add_15_32[Q]; EACH_Q add_15_32[q] = axis_7_30[k][q] + axis_11_31[q];
          real leakyrelu_16_33[Q]; EACH_Q leakyrelu_16_33[q] = leaky_relu(add_15_32[q], (real)0.2);
          EACH_Q if (here) reduce_17_1[q] = most(reduce_17_1[q], leakyrelu_16_33[q]);
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      at = min(stop, at + CHUNK);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, stop - at >= CHUNK)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_1[WARPS * 32];
    EACH_Q { const real own_part = reduce_17_1[q]; reduce_17_1[q] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_17_1[q] = most(reduce_17_1[q], from_lane(own_part, g * L + part)); }
    if (tier == 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH_Q told[(warp * L + part) * 1 + q] = reduce_17_1[q]; }
      __syncthreads();
      EACH_Q { reduce_17_1[q] = told[(0 * L + part) * 1 + q]; for (int w = 1; w < WARPS; w++) reduce_17_1[q] = most(reduce_17_1[q], told[(w * L + part) * 1 + q]); }
      __syncthreads();
    }
  }
  bool equal_20_2[Q]; EACH_Q equal_20_2[q] = reduce_17_1[q] == ((real)-INFINITE);
  real select_21_3[Q]; EACH_Q select_21_3[q] = equal_20_2[q] ? ((real)0.0) : reduce_17_1[q];
  real axis_11_25[Q]; EACH_Q axis_11_25[q] = __ldg(b_axis_11 + (offset_t)v * 2 + (c[q] / 8u));
  real reduce_25_4[Q]; EACH_Q reduce_25_4[q] = 0;
  {
    unsigned at = from;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      UNROLL_4 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + s < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + s + k < stop;
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        real axis_7_24[B][Q];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q axis_7_24[k][q] = __ldg(b_axis_7 + (offset_t)u[k] * 2 + (c[q] / 8u)); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real add_15_26[Q]; EACH_Q add_15_26[q] = axis_7_24[k][q] + axis_11_25[q];
          real leakyrelu_16_27[Q]; EACH_Q leakyrelu_16_27[q] = leaky_relu(add_15_26[q], (real)0.2);
          real subtract_23_28[Q]; EACH_Q subtract_23_28[q] = leakyrelu_16_27[q] - select_21_3[q];
          real exp_24_29[Q]; EACH_Q exp_24_29[q] = exponential(subtract_23_28[q]);
          EACH_Q if (here) reduce_25_4[q] = reduce_25_4[q] + exp_24_29[q];
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      at = min(stop, at + CHUNK);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, stop - at >= CHUNK)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_2[WARPS * 32];
    EACH_Q { const real own_part = reduce_25_4[q]; reduce_25_4[q] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_25_4[q] = reduce_25_4[q] + from_lane(own_part, g * L + part); }
    if (tier == 2) {
      real* told = reinterpret_cast<real*>(told_2);
      if (group == 0) { EACH_Q told[(warp * L + part) * 1 + q] = reduce_25_4[q]; }
      __syncthreads();
      EACH_Q { reduce_25_4[q] = told[(0 * L + part) * 1 + q]; for (int w = 1; w < WARPS; w++) reduce_25_4[q] = reduce_25_4[q] + told[(w * L + part) * 1 + q]; }
      __syncthreads();
    }
  }
  bool equal_27_5[Q]; EACH_Q equal_27_5[q] = reduce_25_4[q] == ((real)0.0);
  real select_28_6[Q]; EACH_Q select_28_6[q] = equal_27_5[q] ? ((real)1.0) : reduce_25_4[q];
  real axis_11_14[Q]; EACH_Q axis_11_14[q] = __ldg(b_axis_11 + (offset_t)v * 2 + (c[q] / 8u));
  real reduce_34_7[Q][V]; EACH reduce_34_7[q][j] = 0;
  {
    unsigned at = from;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    unsigned held_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      unsigned next_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
      UNROLL_1 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + s < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + s + k < stop;
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        unsigned stream_1[B]; UNROLL for (int k = 0; k < B; k++) stream_1[k] = __shfl_sync(FULL, held_1[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        real axis_7_13[B][Q];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q axis_7_13[k][q] = __ldg(b_axis_7 + (offset_t)u[k] * 2 + (c[q] / 8u)); }
        real product_3_22[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q load<V>(product_3_22[k][q], b_product_3 + (offset_t)u[k] * 16 + c[q]); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real add_15_15[Q]; EACH_Q add_15_15[q] = axis_7_13[k][q] + axis_11_14[q];
          real leakyrelu_16_16[Q]; EACH_Q leakyrelu_16_16[q] = leaky_relu(add_15_15[q], (real)0.2);
          real subtract_23_17[Q]; EACH_Q subtract_23_17[q] = leakyrelu_16_16[q] - select_21_3[q];
          real exp_24_18[Q]; EACH_Q exp_24_18[q] = exponential(subtract_23_17[q]);
          real divide_30_19[Q]; EACH_Q divide_30_19[q] = exp_24_18[q] / select_28_6[q];
          real dropout_31_20[Q]; EACH_Q { bool kept_21[1] = {true}; if (training) keeps<1>(kept_21, stream_1[k], (c[q] / 8u), clock->epoch, 1u, seed, 19661u); dropout_31_20[q] = !training ? divide_30_19[q] : kept_21[0] ? divide_30_19[q] * (real)1.4285776566757493 : (real)0; }
          real product_23[Q][V]; EACH product_23[q][j] = dropout_31_20[q] * product_3_22[k][q][j];
          EACH if (here) reduce_34_7[q][j] = reduce_34_7[q][j] + product_23[q][j];
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      UNROLL for (int i = 0; i < J; i++) held_1[i] = next_1[i];
      at = min(stop, at + CHUNK);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, stop - at >= CHUNK)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_3[WARPS * 128];
    EACH { const real own_part = reduce_34_7[q][j]; reduce_34_7[q][j] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_34_7[q][j] = reduce_34_7[q][j] + from_lane(own_part, g * L + part); }
    if (tier == 2) {
      real* told = reinterpret_cast<real*>(told_3);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = reduce_34_7[q][j]; }
      __syncthreads();
      EACH { reduce_34_7[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) reduce_34_7[q][j] = reduce_34_7[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
  }
  real parameter_gat_attend_0_bias_0_8[Q][V]; EACH_Q load<V>(parameter_gat_attend_0_bias_0_8[q], b_parameter_gat_attend_0_bias_0 + c[q]);
  real add_36_9[Q][V]; EACH add_36_9[q][j] = reduce_34_7[q][j] + parameter_gat_attend_0_bias_0_8[q][j];
  real h_37_10[Q][V]; EACH h_37_10[q][j] = elu(add_36_9[q][j]);
  real h_39_11[Q][V]; EACH_Q { bool kept_12[V]; UNROLL for (int j = 0; j < V; j++) kept_12[j] = true; if (training) keeps<V>(kept_12, row_in_graph, c[q], clock->epoch, 2u, seed, 32768u); UNROLL for (int j = 0; j < V; j++) h_39_11[q][j] = !training ? h_37_10[q][j] : kept_12[j] ? h_37_10[q][j] * (real)2.0 : (real)0; }
  if (!writes) return;
  EACH if (own[q] && (c[q] + j) % 8u == 0) o_select_21[(offset_t)v * 2 + (c[q] / 8u)] = select_21_3[q];
  EACH if (own[q] && (c[q] + j) % 8u == 0) o_equal_27[(offset_t)v * 2 + (c[q] / 8u)] = (whole)(equal_27_5[q]);
  EACH if (own[q] && (c[q] + j) % 8u == 0) o_select_28[(offset_t)v * 2 + (c[q] / 8u)] = select_28_6[q];
  EACH_Q if (own[q]) store<V>(o_h_37 + (offset_t)v * 16 + c[q], h_37_10[q]);
  EACH_Q if (own[q]) store<V>(o_h_39 + (offset_t)v * 16 + c[q], h_39_11[q]);
}

// product.41: 22992 bytes at least
//   product.41 = product transposed(h.39, parameter.gat.attend.1.linear.0.weight)
//   (on tensor cores: 16 rows x 8 columns a warp, 2 steps of 32 elements asked for ahead)
extern "C" __global__ void __launch_bounds__(256, 2) k4_product_41(const real* __restrict__ b_parameter_gat_attend_1_linear_0_weight, const real* __restrict__ b_h_39, real* __restrict__ o_product_41, const unsigned rows_given) {
  constexpr unsigned K = 16, C = 3, KV = 4, V = 1, L = 4, Q = 2, TILES = 1, STEPS = 1, AHEAD = 2, PARTS = 2, WARPS = 8, TEAM = 1;
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
      UNROLL for (int i = 0; i < 16 / KV; i++) {
        const unsigned r = (i * 32 + lane) / (32 / KV), within = lane % (32 / KV) * KV, row = coming * 16 + r, column = coming_step * 32 + within;
        float* const to = queue + at * 512 + r * 32 + (within / 4 ^ r % 2 * 4) * 4 + within % 4;
        const bool here = row < rows && column < K;
        copy_later<16>(to, b_h_39 + (here ? (offset_t)row * 16 + column : 0), here);
      }
      coming_step += team;
      if (coming_step >= STEPS) { coming_step = member; coming += stride; }
    }
    copies_asked();
  };
  UNROLL for (int d = 0; d < AHEAD; d++) request(d);
  UNROLL_4 for (unsigned place = threadIdx.x; place < STEPS * 2 * TILES * 32; place += WARPS * 32) {
    const unsigned n = place % 32 / 4, i = place / 32 % TILES, column = slice + (i * 8 + n % 2 * 4 + n / 2), first_k = place / 32 / TILES * 16 + place % 4 * 4;
    float b[4], rest[4];
    UNROLL for (int j = 0; j < 4; j++) {
      const unsigned k = first_k + j;
      b[j] = k < K && column < C ? __ldg(b_parameter_gat_attend_1_linear_0_weight + (offset_t)column * 16 + k) : (real)0;
      if (PARTS == 2) { rest[j] = b[j] - first_bits(b[j]); b[j] = first_bits(b[j]); }
    }
    float4* const to = right + place / 32 * (PARTS * 32) + place % 32;
    to[0] = make_float4(b[0], b[1], b[2], b[3]);
    if (PARTS == 2) to[32] = make_float4(rest[0], rest[1], rest[2], rest[3]);
  }
  __syncthreads();
  if (team > 1 && tile >= tiles) {
    __syncthreads();
    return;
  }
  for (; tile < tiles; tile += stride) {
    float sums[TILES][4] = {};
    UNROLL_1 for (unsigned step = member; step < STEPS; step += team) {
      copies_done<AHEAD - 1>();
      __syncwarp();
      float4 upper[2], lower[2];
      UNROLL for (int h = 0; h < 2; h++) {
        UNROLL for (int i = 0; i < 2; i++) {
          // Both halves at once, where there are registers for them.
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
      real made[Q]; EACH_Q made[q] = sums[(q * V + 0) / 2][r * 2 + (q * V + 0) % 2];
      EACH if (own[q]) o_product_41[(offset_t)v * 3 + c[q]] = made[q];
    }
  }
}

// axis.49: 6024 bytes at least
//   multiply.44 (nodes x 3) = multiply(product.41, parameter.gat.attend.1.param.0)
//   axis.45 = axis sum 1(multiply.44)
//   multiply.48 (nodes x 3) = multiply(product.41, parameter.gat.attend.1.param.1)
//   axis.49 = axis sum 1(multiply.48)
extern "C" __global__ void __launch_bounds__(256, 2) k5_axis_49(const real* __restrict__ b_product_41, const real* __restrict__ b_parameter_gat_attend_1_param_0, const real* __restrict__ b_parameter_gat_attend_1_param_1, real* __restrict__ o_axis_45, real* __restrict__ o_axis_49, const unsigned rows) {
  constexpr unsigned C = 3, V = 1, L = 4, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { const unsigned place = blockIdx.y * (V * L * Q) + (q * L + part) * V; own[q] = place < C; c[q] = own[q] ? place : C - V; }
  const unsigned number = blockIdx.x * GROUPS + warp * PER_WARP + group;
  const bool live = number < rows;
  [[maybe_unused]] const unsigned v = live ? number : 0;
  real product_41_1[Q]; EACH_Q product_41_1[q] = __ldg(b_product_41 + (offset_t)v * 3 + c[q]);
  real parameter_gat_attend_1_param_0_2[Q]; EACH_Q parameter_gat_attend_1_param_0_2[q] = __ldg(b_parameter_gat_attend_1_param_0 + c[q]);
  real multiply_44_3[Q]; EACH_Q multiply_44_3[q] = product_41_1[q] * parameter_gat_attend_1_param_0_2[q];
  real axis_45_4;
  axis_45_4 = 0;
  EACH axis_45_4 = axis_45_4 + (own[q] ? multiply_44_3[q] : 0);
  axis_45_4 = axis_45_4 + across(axis_45_4, 1);
  axis_45_4 = axis_45_4 + across(axis_45_4, 2);
  real parameter_gat_attend_1_param_1_5[Q]; EACH_Q parameter_gat_attend_1_param_1_5[q] = __ldg(b_parameter_gat_attend_1_param_1 + c[q]);
  real multiply_48_6[Q]; EACH_Q multiply_48_6[q] = product_41_1[q] * parameter_gat_attend_1_param_1_5[q];
  real axis_49_7;
  axis_49_7 = 0;
  EACH axis_49_7 = axis_49_7 + (own[q] ? multiply_48_6[q] : 0);
  axis_49_7 = axis_49_7 + across(axis_49_7, 1);
  axis_49_7 = axis_49_7 + across(axis_49_7, 2);
  if (!live) return;
  EACH if (own[q] && c[q] == 0) o_axis_45[v + 0] = axis_45_4;
  EACH if (own[q] && c[q] == 0) o_axis_49[v + 0] = axis_49_7;
}

// add.71: 22816 bytes at least
//   add.53 (edges x 1) = add(axis.45[far.in], axis.49[near.in])
//   leakyrelu.54 (edges x 1) = leakyrelu(0.2)(add.53)
//   reduce.55 (nodes x 1) = reduce maximum.in(leakyrelu.54)
//   equal.56 (nodes x 1) = equal(reduce.55, -inf)
//   select.57 = select(equal.56, 0.0, reduce.55)
//   subtract.59 (edges x 1) = subtract(leakyrelu.54, select.57[near.in])
//   exp.60 (edges x 1) = exp(subtract.59)
//   reduce.61 (nodes x 1) = reduce sum.in(exp.60)
//   equal.62 = equal(reduce.61, 0.0)
//   select.63 = select(equal.62, 1.0, reduce.61)
//   divide.65 (edges x 1) = divide(exp.60, select.63[near.in])
//   dropout.66 (edges x 1) = dropout 0.3 site 3(divide.65)
//   reduce.69 (nodes x 3) = reduce sum.in(dropout.66 * product.41[far.in])
//   add.71 = add(reduce.69, parameter.gat.attend.1.bias.0)
extern "C" __global__ void __launch_bounds__(256, 2) k6_add_71(const real* __restrict__ b_axis_45, const real* __restrict__ b_axis_49, const real* __restrict__ b_product_41, const real* __restrict__ b_parameter_gat_attend_1_bias_0, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_select_57, whole* __restrict__ o_equal_62, real* __restrict__ o_select_63, real* __restrict__ o_add_71, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned* __restrict__ slot_edge, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
  constexpr unsigned C = 3, V = 1, L = 4, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { const unsigned place = blockIdx.y * (V * L * Q) + (q * L + part) * V; own[q] = place < C; c[q] = own[q] ? place : C - V; }
  constexpr unsigned B = 8, J = B > L ? B / L : 1, CHUNK = J * L;
  const unsigned warp_blocks = (warp_items + WARPS - 1) / WARPS, block = blockIdx.x;
  const int tier = block < block_items ? 2 : block < block_items + warp_blocks ? 1 : 0;
  unsigned item = tier == 2 ? block : tier == 1 ? block_items + (block - block_items) * WARPS + warp
  : block_items + warp_items + (block - block_items - warp_blocks) * GROUPS + warp * PER_WARP + group;
  const bool live = item < (tier == 1 ? block_items + warp_items : items);
  item = live ? item : 0;
  [[maybe_unused]] const unsigned v = __ldg(item_row + item), begin = live ? __ldg(item_offset + item) : 0, end = live ? __ldg(item_offset + item + 1) : 0;
  const unsigned shares = tier == 2 ? GROUPS : tier == 1 ? PER_WARP : 1, mine = tier == 2 ? warp * PER_WARP + group : tier == 1 ? group : 0;
  const unsigned share = (end - begin + shares * B - 1) / (shares * B) * B;
  const unsigned from = min(end, begin + mine * share), stop = min(end, from + share);
  const bool writes = live && (tier == 0 || (group == 0 && (tier == 1 || warp == 0)));
  real axis_49_28; axis_49_28 = __ldg(b_axis_49 + v + 0);
  real reduce_55_1; reduce_55_1 = (real)-INFINITE;
  {
    unsigned at = from;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      UNROLL_4 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + s < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + s + k < stop;
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        real axis_45_27[B];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { axis_45_27[k] = __ldg(b_axis_45 + u[k] + 0); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real add_53_29; add_53_29 = axis_45_27[k] + axis_49_28;
          real leakyrelu_54_30; leakyrelu_54_30 = leaky_relu(add_53_29, (real)0.2);
          if (here) reduce_55_1 = most(reduce_55_1, leakyrelu_54_30);
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      at = min(stop, at + CHUNK);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, stop - at >= CHUNK)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_1[WARPS * 32];
    { const real own_part = reduce_55_1; reduce_55_1 = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_55_1 = most(reduce_55_1, from_lane(own_part, g * L + part)); }
    if (tier == 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { told[(warp * L + part) * 1 + 0] = reduce_55_1; }
      __syncthreads();
      { reduce_55_1 = told[(0 * L + part) * 1 + 0]; for (int w = 1; w < WARPS; w++) reduce_55_1 = most(reduce_55_1, told[(w * L + part) * 1 + 0]); }
      __syncthreads();
    }
  }
  bool equal_56_2; equal_56_2 = reduce_55_1 == ((real)-INFINITE);
  real select_57_3; select_57_3 = equal_56_2 ? ((real)0.0) : reduce_55_1;
  real axis_49_22; axis_49_22 = __ldg(b_axis_49 + v + 0);
  real reduce_61_4; reduce_61_4 = 0;
  {
    unsigned at = from;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      UNROLL_4 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + s < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + s + k < stop;
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        real axis_45_21[B];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { axis_45_21[k] = __ldg(b_axis_45 + u[k] + 0); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real add_53_23; add_53_23 = axis_45_21[k] + axis_49_22;
          real leakyrelu_54_24; leakyrelu_54_24 = leaky_relu(add_53_23, (real)0.2);
          real subtract_59_25; subtract_59_25 = leakyrelu_54_24 - select_57_3;
          real exp_60_26; exp_60_26 = exponential(subtract_59_25);
          if (here) reduce_61_4 = reduce_61_4 + exp_60_26;
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      at = min(stop, at + CHUNK);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, stop - at >= CHUNK)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_2[WARPS * 32];
    { const real own_part = reduce_61_4; reduce_61_4 = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_61_4 = reduce_61_4 + from_lane(own_part, g * L + part); }
    if (tier == 2) {
      real* told = reinterpret_cast<real*>(told_2);
      if (group == 0) { told[(warp * L + part) * 1 + 0] = reduce_61_4; }
      __syncthreads();
      { reduce_61_4 = told[(0 * L + part) * 1 + 0]; for (int w = 1; w < WARPS; w++) reduce_61_4 = reduce_61_4 + told[(w * L + part) * 1 + 0]; }
      __syncthreads();
    }
  }
  bool equal_62_5; equal_62_5 = reduce_61_4 == ((real)0.0);
  real select_63_6; select_63_6 = equal_62_5 ? ((real)1.0) : reduce_61_4;
  real axis_49_11; axis_49_11 = __ldg(b_axis_49 + v + 0);
  real reduce_69_7[Q]; EACH_Q reduce_69_7[q] = 0;
  {
    unsigned at = from;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    unsigned held_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      unsigned next_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
      UNROLL_1 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + s < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + s + k < stop;
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        unsigned stream_1[B]; UNROLL for (int k = 0; k < B; k++) stream_1[k] = __shfl_sync(FULL, held_1[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        real axis_45_10[B];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { axis_45_10[k] = __ldg(b_axis_45 + u[k] + 0); }
        real product_41_19[B][Q];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q product_41_19[k][q] = __ldg(b_product_41 + (offset_t)u[k] * 3 + c[q]); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real add_53_12; add_53_12 = axis_45_10[k] + axis_49_11;
          real leakyrelu_54_13; leakyrelu_54_13 = leaky_relu(add_53_12, (real)0.2);
          real subtract_59_14; subtract_59_14 = leakyrelu_54_13 - select_57_3;
          real exp_60_15; exp_60_15 = exponential(subtract_59_14);
          real divide_65_16; divide_65_16 = exp_60_15 / select_63_6;
          real dropout_66_17; { bool kept_18[1] = {true}; if (training) keeps<1>(kept_18, stream_1[k], 0, clock->epoch, 3u, seed, 19661u); dropout_66_17 = !training ? divide_65_16 : kept_18[0] ? divide_65_16 * (real)1.4285776566757493 : (real)0; }
          real product_20[Q]; EACH_Q product_20[q] = dropout_66_17 * product_41_19[k][q];
          EACH_Q if (here) reduce_69_7[q] = reduce_69_7[q] + product_20[q];
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      UNROLL for (int i = 0; i < J; i++) held_1[i] = next_1[i];
      at = min(stop, at + CHUNK);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, stop - at >= CHUNK)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_3[WARPS * 32];
    EACH_Q { const real own_part = reduce_69_7[q]; reduce_69_7[q] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_69_7[q] = reduce_69_7[q] + from_lane(own_part, g * L + part); }
    if (tier == 2) {
      real* told = reinterpret_cast<real*>(told_3);
      if (group == 0) { EACH_Q told[(warp * L + part) * 1 + q] = reduce_69_7[q]; }
      __syncthreads();
      EACH_Q { reduce_69_7[q] = told[(0 * L + part) * 1 + q]; for (int w = 1; w < WARPS; w++) reduce_69_7[q] = reduce_69_7[q] + told[(w * L + part) * 1 + q]; }
      __syncthreads();
    }
  }
  real parameter_gat_attend_1_bias_0_8[Q]; EACH_Q parameter_gat_attend_1_bias_0_8[q] = __ldg(b_parameter_gat_attend_1_bias_0 + c[q]);
  real add_71_9[Q]; EACH_Q add_71_9[q] = reduce_69_7[q] + parameter_gat_attend_1_bias_0_8[q];
  if (!writes) return;
  EACH if (own[q] && c[q] == 0) o_select_57[v + 0] = select_57_3;
  EACH if (own[q] && c[q] == 0) o_equal_62[v + 0] = (whole)(equal_62_5);
  EACH if (own[q] && c[q] == 0) o_select_63[v + 0] = select_63_6;
  EACH if (own[q]) o_add_71[(offset_t)v * 3 + c[q]] = add_71_9[q];
}

// axis.72: 7200 bytes at least
//   axis.72 = axis sum 0(add.71)
extern "C" __global__ void __launch_bounds__(256, 2) k7_axis_72(const real* __restrict__ b_add_71, real* __restrict__ o_axis_72, const unsigned rows) {
  constexpr unsigned C = 3, V = 1, L = 4, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { const unsigned place = blockIdx.y * (V * L * Q) + (q * L + part) * V; own[q] = place < C; c[q] = own[q] ? place : C - V; }
  const unsigned number = blockIdx.x * GROUPS + warp * PER_WARP + group;
  const bool live = number < rows;
  [[maybe_unused]] const unsigned v = live ? number : 0;
  real add_71_1[Q]; EACH_Q add_71_1[q] = __ldg(b_add_71 + (offset_t)v * 3 + c[q]);
  real axis_72_2[Q]; EACH_Q axis_72_2[q] = (0) + add_71_1[q];
  if (!live) return;
  EACH if (own[q]) o_axis_72[(offset_t)v * 3 + c[q]] = axis_72_2[q];
}

// loss: 8404 bytes at least
//   slope.result, loss = gradient and value of cross_entropy(axis.72, target)
extern "C" __global__ void __launch_bounds__(256, 2) k8_loss(const real* __restrict__ result, const real* __restrict__ target, real* __restrict__ gradient, const unsigned char* __restrict__ split, const double* __restrict__ terms, double* __restrict__ scratch, unsigned* __restrict__ counts, const unsigned rows) {
  constexpr unsigned C = 3, L = 1, PER = (C + L - 1) / L, GROUPS = 256 / L, OF_PART = 10, COUNTED = 30, IN_SHARED = 30;
  const unsigned lane = threadIdx.x % L, group = threadIdx.x / L;
  __shared__ unsigned counted[IN_SHARED];
  unsigned* const tally = IN_SHARED >= COUNTED ? counted : counts;
  if (IN_SHARED >= COUNTED) for (unsigned i = threadIdx.x; i < COUNTED; i += blockDim.x) counted[i] = 0;
  __syncthreads();
  const double all = __ldg(terms);
  double sum = 0;
  for (unsigned first = blockIdx.x * GROUPS; first < rows; first += gridDim.x * GROUPS) {
    const bool live = first + group < rows;
    const unsigned row = live ? first + group : first;
    const unsigned of_part = live ? split[row] : 0;
    const real* const at = result + (offset_t)row * C;
    real* const slope = gradient + (offset_t)row * C;
    const double named = live ? (double)target[row] : -1;
    real held[PER];
    UNROLL for (int i = 0; i < PER; i++) held[i] = lane + i * L < C ? at[lane + i * L] : (real)0;
    real best = (real)-INFINITE;
    unsigned answer = C;
    bool numbers = true;
    UNROLL for (int i = 0; i < PER; i++) {
      const unsigned column = lane + i * L;
      if (column >= C) continue;
      const real score = held[i];
      if (score > best) { best = score; answer = column; }
      numbers = numbers && !is_odd(score);
    }
    UNROLL for (int distance = 1; distance < L; distance *= 2) {
      const real other = across(best, distance);
      const unsigned others = across(answer, distance);
      if (other > best || (other == best && others < answer)) { best = other; answer = others; }
      numbers = across((int)numbers, distance) && numbers;
    }
    if (answer == C) answer = 0;
    const double wanted = of_part ? named : -1;
    const bool known = wanted >= 0 && wanted < C && wanted == (double)(unsigned)wanted;
    double total = 0;
    real right_score = 0;
    if (of_part == 1) UNROLL for (int i = 0; i < PER; i++) {
      const unsigned column = lane + i * L;
      if (column >= C) continue;
      const real score = held[i];
      total += exponential(score - best);
      if (known && column == (unsigned)wanted) right_score = score;
    }
    UNROLL for (int distance = 1; distance < L; distance *= 2) total += across(total, distance);
    const real factor = (real)(1 / (total * all)), share = (real)(1 / all);
    if (live) UNROLL for (int i = 0; i < PER; i++) {
      const unsigned column = lane + i * L;
      if (column >= C) continue;
      real made = 0;
      if (of_part == 1) made = known ? exponential(held[i] - best) * factor - (column == (unsigned)wanted ? share : (real)0) : (real)ODD;
      slope[column] = made;
    }
    // Of a row that counts, the lane that has its class adds the loss.
    if (of_part == 1 && lane == (known ? (unsigned)wanted % L : 0)) sum += known && numbers ? log(total) - ((double)right_score - (double)best) : ODD;
    if (of_part && counts && lane == 0) {
      unsigned* const of = tally + (of_part - 1) * OF_PART;
      const bool right = numbers && known && answer == (unsigned)wanted;
      if (right) atomicAdd(of, 1u);
      if (wanted >= 0 && wanted < C) { if (right) atomicAdd(of + 1 + 3 * (unsigned)wanted, 1u); atomicAdd(of + 3 + 3 * (unsigned)wanted, 1u); }
      if (numbers) atomicAdd(of + 2 + 3 * answer, 1u);
    }
  }
  __shared__ double told[256];
  told[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) told[threadIdx.x] += told[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) scratch[blockIdx.x] = told[0];
  if (IN_SHARED >= COUNTED && counts) for (unsigned i = threadIdx.x; i < COUNTED; i += blockDim.x) if (counted[i]) atomicAdd(counts + i, counted[i]);
}
extern "C" __global__ void __launch_bounds__(256, 1) k8_loss_parts(real* __restrict__ value, double* __restrict__ exact, const double* __restrict__ scratch, const double* __restrict__ terms) {
  constexpr unsigned PARTS = 1056;
  __shared__ double told[256];
  double sum = 0;
  for (unsigned part = threadIdx.x; part < PARTS; part += blockDim.x) sum += scratch[part];
  told[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) told[threadIdx.x] += told[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x > 0) return;
  const double loss = *terms > 0 ? told[0] / *terms : 0;
  *exact = loss;
  *value = (real)loss;
}

// gradient.gat.attend.1.bias.0: 3612 bytes at least
//   gradient.gat.attend.1.bias.0 = sum rows(slope.result)
extern "C" __global__ void __launch_bounds__(256, 2) k9_gradient_gat_attend_1_bias_0(const real* __restrict__ b_slope_result, real* __restrict__ scratch, const unsigned rows_given) {
  constexpr unsigned K = 3, V = 1, L = 4, STRANDS = 256 / L, Q = 1;
  const unsigned rows = rows_given;
  const unsigned thread = threadIdx.x % L, strand = threadIdx.x / L, column = blockIdx.y * (L * V) + thread * V;
  const bool own = column < K;
  const unsigned c[1] = {own ? column : K - V};
  const unsigned each = (rows + gridDim.x - 1) / gridDim.x, begin = min(rows, blockIdx.x * each), end = min(rows, begin + each);
  real sums[V];
  UNROLL for (int j = 0; j < V; j++) sums[j] = 0;
  _Pragma("unroll 4") for (unsigned row = begin + strand; row < end; row += STRANDS) {
    [[maybe_unused]] const unsigned v = row;
    real slope_result_1[Q]; EACH_Q slope_result_1[q] = __ldg(b_slope_result + (offset_t)v * 3 + c[q]);
    EACH sums[j] += slope_result_1[q];
  }
  __shared__ real told[STRANDS][L * V];
  UNROLL for (int j = 0; j < V; j++) told[strand][thread * V + j] = sums[j];
  __syncthreads();
  for (unsigned half = STRANDS / 2; half > 0; half /= 2) {
    if (strand < half) UNROLL for (int j = 0; j < V; j++) told[strand][thread * V + j] += told[strand + half][thread * V + j];
    __syncthreads();
  }
  if (strand > 0 || !own) return;
  UNROLL for (int j = 0; j < V; j++) scratch[(offset_t)(column + j) * gridDim.x + blockIdx.x] = told[0][thread * V + j];
}
extern "C" __global__ void __launch_bounds__(256, 1) k9_gradient_gat_attend_1_bias_0_parts(real* __restrict__ out, const real* __restrict__ scratch, const unsigned elements, const unsigned parts) {
  const unsigned element = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (element >= elements) return;
  real sum = 0;
  for (unsigned part = lane; part < parts; part += 32) sum += scratch[(offset_t)element * parts + part];
  UNROLL for (int distance = 16; distance > 0; distance /= 2) sum += across(sum, distance);
  if (lane == 0) out[element] = sum;
}

// reduce.84: 20404 bytes at least
//   add.53 (edges x 1) = add(axis.45[far.in], axis.49[near.in])
//   leakyrelu.54 (edges x 1) = leakyrelu(0.2)(add.53)
//   subtract.59 (edges x 1) = subtract(leakyrelu.54, select.57[near.in])
//   exp.60 (edges x 1) = exp(subtract.59)
//   divide.65 (edges x 1) = divide(exp.60, select.63[near.in])
//   dropout.66 (edges x 1) = dropout 0.3 site 3(divide.65)
//   reduce.84 = reduce sum.out(slope.result[far.out] * dropout.66)
extern "C" __global__ void __launch_bounds__(256, 2) k10_reduce_84(const real* __restrict__ b_axis_45, const real* __restrict__ b_axis_49, const real* __restrict__ b_select_57, const real* __restrict__ b_select_63, const real* __restrict__ b_slope_result, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_reduce_84, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned* __restrict__ slot_edge, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
  constexpr unsigned C = 3, V = 1, L = 4, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { const unsigned place = blockIdx.y * (V * L * Q) + (q * L + part) * V; own[q] = place < C; c[q] = own[q] ? place : C - V; }
  constexpr unsigned B = 4, J = B > L ? B / L : 1, CHUNK = J * L;
  const unsigned warp_blocks = (warp_items + WARPS - 1) / WARPS, block = blockIdx.x;
  const int tier = block < block_items ? 2 : block < block_items + warp_blocks ? 1 : 0;
  unsigned item = tier == 2 ? block : tier == 1 ? block_items + (block - block_items) * WARPS + warp
  : block_items + warp_items + (block - block_items - warp_blocks) * GROUPS + warp * PER_WARP + group;
  const bool live = item < (tier == 1 ? block_items + warp_items : items);
  item = live ? item : 0;
  [[maybe_unused]] const unsigned v = __ldg(item_row + item), begin = live ? __ldg(item_offset + item) : 0, end = live ? __ldg(item_offset + item + 1) : 0;
  const unsigned shares = tier == 2 ? GROUPS : tier == 1 ? PER_WARP : 1, mine = tier == 2 ? warp * PER_WARP + group : tier == 1 ? group : 0;
  const unsigned share = (end - begin + shares * B - 1) / (shares * B) * B;
  const unsigned from = min(end, begin + mine * share), stop = min(end, from + share);
  const bool writes = live && (tier == 0 || (group == 0 && (tier == 1 || warp == 0)));
  real axis_45_3; axis_45_3 = __ldg(b_axis_45 + v + 0);
  real reduce_84_1[Q]; EACH_Q reduce_84_1[q] = 0;
  {
    unsigned at = from;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    unsigned held_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      unsigned next_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
      UNROLL_1 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + s < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + s + k < stop;
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        unsigned stream_1[B]; UNROLL for (int k = 0; k < B; k++) stream_1[k] = __shfl_sync(FULL, held_1[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        real slope_result_2[B][Q];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q slope_result_2[k][q] = __ldg(b_slope_result + (offset_t)u[k] * 3 + c[q]); }
        real axis_49_4[B];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { axis_49_4[k] = __ldg(b_axis_49 + u[k] + 0); }
        real select_57_7[B];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { select_57_7[k] = __ldg(b_select_57 + u[k] + 0); }
        real select_63_10[B];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { select_63_10[k] = __ldg(b_select_63 + u[k] + 0); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real add_53_5; add_53_5 = axis_45_3 + axis_49_4[k];
          real leakyrelu_54_6; leakyrelu_54_6 = leaky_relu(add_53_5, (real)0.2);
          real subtract_59_8; subtract_59_8 = leakyrelu_54_6 - select_57_7[k];
          real exp_60_9; exp_60_9 = exponential(subtract_59_8);
          real divide_65_11; divide_65_11 = exp_60_9 / select_63_10[k];
          real dropout_66_12; { bool kept_13[1] = {true}; if (training) keeps<1>(kept_13, stream_1[k], 0, clock->epoch, 3u, seed, 19661u); dropout_66_12 = !training ? divide_65_11 : kept_13[0] ? divide_65_11 * (real)1.4285776566757493 : (real)0; }
          real product_14[Q]; EACH_Q product_14[q] = slope_result_2[k][q] * dropout_66_12;
          EACH_Q if (here) reduce_84_1[q] = reduce_84_1[q] + product_14[q];
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      UNROLL for (int i = 0; i < J; i++) held_1[i] = next_1[i];
      at = min(stop, at + CHUNK);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, stop - at >= CHUNK)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_1[WARPS * 32];
    EACH_Q { const real own_part = reduce_84_1[q]; reduce_84_1[q] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_84_1[q] = reduce_84_1[q] + from_lane(own_part, g * L + part); }
    if (tier == 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH_Q told[(warp * L + part) * 1 + q] = reduce_84_1[q]; }
      __syncthreads();
      EACH_Q { reduce_84_1[q] = told[(0 * L + part) * 1 + q]; for (int w = 1; w < WARPS; w++) reduce_84_1[q] = reduce_84_1[q] + told[(w * L + part) * 1 + q]; }
      __syncthreads();
    }
  }
  if (!writes) return;
  EACH if (own[q]) o_reduce_84[(offset_t)v * 3 + c[q]] = reduce_84_1[q];
}

// multiply.104: 34816 bytes at least
//   add.53 (edges x 1) = add(axis.45[far.in], axis.49[near.in])
//   leakyrelu.54 (edges x 1) = leakyrelu(0.2)(add.53)
//   subtract.59 (edges x 1) = subtract(leakyrelu.54, select.57[near.in])
//   exp.60 (edges x 1) = exp(subtract.59)
//   axis.80 (edges x 1) = axis sum 1(slope.result[near.in] * product.41[far.in])
//   dropout.85 (edges x 1) = dropout 0.3 site 3(axis.80)
//   reduce.88 (nodes x 1) = reduce sum.in(dropout.85 * exp.60)
//   divide.89 (nodes x 1) = divide(reduce.88, select.63)
//   divide.90 (nodes x 1) = divide(divide.89, select.63)
//   subtract.91 (nodes x 1) = subtract(0.0, divide.90)
//   select.92 = select(equal.62, 0.0, subtract.91)
//   divide.86 (edges x 1) = divide(dropout.85, select.63[near.in])
//   add.94 (edges x 1) = add(divide.86, select.92[near.in])
//   multiply.95 (edges x 1) = multiply(add.94, exp.60)
//   multiply.97 (edges x 1) = multiply(multiply.95, 0.2)
//   less.98 (edges x 1) = less(0.0, leakyrelu.54)
//   select.99 (edges x 1) = select(less.98, multiply.95, multiply.97)
//   slope of right.100 (nodes x 1) = reduce sum.in(select.99)
//   multiply.102 (nodes x 3) = multiply(slope of right.100, parameter.gat.attend.1.param.1)
//   add.103 = add(reduce.84, multiply.102)
//   multiply.104 = multiply(slope of right.100, product.41)
extern "C" __global__ void __launch_bounds__(256, 2) k11_multiply_104(const real* __restrict__ b_axis_45, const real* __restrict__ b_axis_49, const real* __restrict__ b_select_57, const real* __restrict__ b_slope_result, const real* __restrict__ b_product_41, const real* __restrict__ b_select_63, const whole* __restrict__ b_equal_62, const real* __restrict__ b_parameter_gat_attend_1_param_1, const real* __restrict__ b_reduce_84, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_select_92, real* __restrict__ o_add_103, real* __restrict__ o_multiply_104, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned* __restrict__ slot_edge, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
  constexpr unsigned C = 3, V = 1, L = 4, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { const unsigned place = blockIdx.y * (V * L * Q) + (q * L + part) * V; own[q] = place < C; c[q] = own[q] ? place : C - V; }
  constexpr unsigned B = 8, J = B > L ? B / L : 1, CHUNK = J * L;
  const unsigned warp_blocks = (warp_items + WARPS - 1) / WARPS, block = blockIdx.x;
  const int tier = block < block_items ? 2 : block < block_items + warp_blocks ? 1 : 0;
  unsigned item = tier == 2 ? block : tier == 1 ? block_items + (block - block_items) * WARPS + warp
  : block_items + warp_items + (block - block_items - warp_blocks) * GROUPS + warp * PER_WARP + group;
  const bool live = item < (tier == 1 ? block_items + warp_items : items);
  item = live ? item : 0;
  [[maybe_unused]] const unsigned v = __ldg(item_row + item), begin = live ? __ldg(item_offset + item) : 0, end = live ? __ldg(item_offset + item + 1) : 0;
  const unsigned shares = tier == 2 ? GROUPS : tier == 1 ? PER_WARP : 1, mine = tier == 2 ? warp * PER_WARP + group : tier == 1 ? group : 0;
  const unsigned share = (end - begin + shares * B - 1) / (shares * B) * B;
  const unsigned from = min(end, begin + mine * share), stop = min(end, from + share);
  const bool writes = live && (tier == 0 || (group == 0 && (tier == 1 || warp == 0)));
  real slope_result_34[Q]; EACH_Q slope_result_34[q] = __ldg(b_slope_result + (offset_t)v * 3 + c[q]);
  real axis_49_41; axis_49_41 = __ldg(b_axis_49 + v + 0);
  real select_57_44; select_57_44 = __ldg(b_select_57 + v + 0);
  real reduce_88_2; reduce_88_2 = 0;
  {
    unsigned at = from;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    unsigned held_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      unsigned next_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
      UNROLL_1 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + s < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + s + k < stop;
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        unsigned stream_1[B]; UNROLL for (int k = 0; k < B; k++) stream_1[k] = __shfl_sync(FULL, held_1[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        real product_41_35[B][Q];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q product_41_35[k][q] = __ldg(b_product_41 + (offset_t)u[k] * 3 + c[q]); }
        real axis_45_40[B];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { axis_45_40[k] = __ldg(b_axis_45 + u[k] + 0); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real product_36[Q]; EACH_Q product_36[q] = slope_result_34[q] * product_41_35[k][q];
          real axis_80_37;
          axis_80_37 = 0;
          EACH axis_80_37 = axis_80_37 + (own[q] ? product_36[q] : 0);
          axis_80_37 = axis_80_37 + across(axis_80_37, 1);
          axis_80_37 = axis_80_37 + across(axis_80_37, 2);
          real dropout_85_38; { bool kept_39[1] = {true}; if (training) keeps<1>(kept_39, stream_1[k], 0, clock->epoch, 3u, seed, 19661u); dropout_85_38 = !training ? axis_80_37 : kept_39[0] ? axis_80_37 * (real)1.4285776566757493 : (real)0; }
          real add_53_42; add_53_42 = axis_45_40[k] + axis_49_41;
          real leakyrelu_54_43; leakyrelu_54_43 = leaky_relu(add_53_42, (real)0.2);
          real subtract_59_45; subtract_59_45 = leakyrelu_54_43 - select_57_44;
          real exp_60_46; exp_60_46 = exponential(subtract_59_45);
          real product_47; product_47 = dropout_85_38 * exp_60_46;
          if (here) reduce_88_2 = reduce_88_2 + product_47;
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      UNROLL for (int i = 0; i < J; i++) held_1[i] = next_1[i];
      at = min(stop, at + CHUNK);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, stop - at >= CHUNK)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_1[WARPS * 32];
    { const real own_part = reduce_88_2; reduce_88_2 = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_88_2 = reduce_88_2 + from_lane(own_part, g * L + part); }
    if (tier == 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { told[(warp * L + part) * 1 + 0] = reduce_88_2; }
      __syncthreads();
      { reduce_88_2 = told[(0 * L + part) * 1 + 0]; for (int w = 1; w < WARPS; w++) reduce_88_2 = reduce_88_2 + told[(w * L + part) * 1 + 0]; }
      __syncthreads();
    }
  }
  bool equal_62_1; equal_62_1 = __ldg(b_equal_62 + v + 0) != 0;
  real select_63_3; select_63_3 = __ldg(b_select_63 + v + 0);
  real divide_89_4; divide_89_4 = reduce_88_2 / select_63_3;
  real divide_90_5; divide_90_5 = divide_89_4 / select_63_3;
  real subtract_91_6; subtract_91_6 = ((real)0.0) - divide_90_5;
  real select_92_7; select_92_7 = equal_62_1 ? ((real)0.0) : subtract_91_6;
  real axis_49_16; axis_49_16 = __ldg(b_axis_49 + v + 0);
  real slope_result_20[Q]; EACH_Q slope_result_20[q] = __ldg(b_slope_result + (offset_t)v * 3 + c[q]);
  real select_57_28; select_57_28 = __ldg(b_select_57 + v + 0);
  real slope_of_right_100_9; slope_of_right_100_9 = 0;
  {
    unsigned at = from;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    unsigned held_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      unsigned next_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
      UNROLL_1 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + s < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + s + k < stop;
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        unsigned stream_1[B]; UNROLL for (int k = 0; k < B; k++) stream_1[k] = __shfl_sync(FULL, held_1[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        real axis_45_15[B];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { axis_45_15[k] = __ldg(b_axis_45 + u[k] + 0); }
        real product_41_21[B][Q];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q product_41_21[k][q] = __ldg(b_product_41 + (offset_t)u[k] * 3 + c[q]); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real add_53_17; add_53_17 = axis_45_15[k] + axis_49_16;
          real leakyrelu_54_18; leakyrelu_54_18 = leaky_relu(add_53_17, (real)0.2);
          bool less_98_19; less_98_19 = ((real)0.0) < leakyrelu_54_18;
          real product_22[Q]; EACH_Q product_22[q] = slope_result_20[q] * product_41_21[k][q];
          real axis_80_23;
          axis_80_23 = 0;
          EACH axis_80_23 = axis_80_23 + (own[q] ? product_22[q] : 0);
          axis_80_23 = axis_80_23 + across(axis_80_23, 1);
          axis_80_23 = axis_80_23 + across(axis_80_23, 2);
          real dropout_85_24; { bool kept_25[1] = {true}; if (training) keeps<1>(kept_25, stream_1[k], 0, clock->epoch, 3u, seed, 19661u); dropout_85_24 = !training ? axis_80_23 : kept_25[0] ? axis_80_23 * (real)1.4285776566757493 : (real)0; }
          real divide_86_26; divide_86_26 = dropout_85_24 / select_63_3;
          real add_94_27; add_94_27 = divide_86_26 + select_92_7;
          real subtract_59_29; subtract_59_29 = leakyrelu_54_18 - select_57_28;
          real exp_60_30; exp_60_30 = exponential(subtract_59_29);
          real multiply_95_31; multiply_95_31 = add_94_27 * exp_60_30;
          real multiply_97_32; multiply_97_32 = multiply_95_31 * ((real)0.2);
          real select_99_33; select_99_33 = less_98_19 ? multiply_95_31 : multiply_97_32;
          if (here) slope_of_right_100_9 = slope_of_right_100_9 + select_99_33;
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      UNROLL for (int i = 0; i < J; i++) held_1[i] = next_1[i];
      at = min(stop, at + CHUNK);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, stop - at >= CHUNK)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_2[WARPS * 32];
    { const real own_part = slope_of_right_100_9; slope_of_right_100_9 = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) slope_of_right_100_9 = slope_of_right_100_9 + from_lane(own_part, g * L + part); }
    if (tier == 2) {
      real* told = reinterpret_cast<real*>(told_2);
      if (group == 0) { told[(warp * L + part) * 1 + 0] = slope_of_right_100_9; }
      __syncthreads();
      { slope_of_right_100_9 = told[(0 * L + part) * 1 + 0]; for (int w = 1; w < WARPS; w++) slope_of_right_100_9 = slope_of_right_100_9 + told[(w * L + part) * 1 + 0]; }
      __syncthreads();
    }
  }
  real reduce_84_8[Q]; EACH_Q reduce_84_8[q] = __ldg(b_reduce_84 + (offset_t)v * 3 + c[q]);
  real parameter_gat_attend_1_param_1_10[Q]; EACH_Q parameter_gat_attend_1_param_1_10[q] = __ldg(b_parameter_gat_attend_1_param_1 + c[q]);
  real multiply_102_11[Q]; EACH_Q multiply_102_11[q] = slope_of_right_100_9 * parameter_gat_attend_1_param_1_10[q];
  real add_103_12[Q]; EACH_Q add_103_12[q] = reduce_84_8[q] + multiply_102_11[q];
  real product_41_13[Q]; EACH_Q product_41_13[q] = __ldg(b_product_41 + (offset_t)v * 3 + c[q]);
  real multiply_104_14[Q]; EACH_Q multiply_104_14[q] = slope_of_right_100_9 * product_41_13[q];
  if (!writes) return;
  EACH if (own[q] && c[q] == 0) o_select_92[v + 0] = select_92_7;
  EACH if (own[q]) o_add_103[(offset_t)v * 3 + c[q]] = add_103_12[q];
  EACH if (own[q]) o_multiply_104[(offset_t)v * 3 + c[q]] = multiply_104_14[q];
}

// gradient.gat.attend.1.param.1: 3612 bytes at least
//   gradient.gat.attend.1.param.1 = sum rows(multiply.104)
// as k9_gradient_gat_attend_1_bias_0
// as k9_gradient_gat_attend_1_bias_0_parts

// notequal.115: 34816 bytes at least
//   add.53 (edges x 1) = add(axis.45[far.in], axis.49[near.in])
//   leakyrelu.54 (edges x 1) = leakyrelu(0.2)(add.53)
//   subtract.59 (edges x 1) = subtract(leakyrelu.54, select.57[near.in])
//   exp.60 (edges x 1) = exp(subtract.59)
//   axis.80 (edges x 1) = axis sum 1(slope.result[near.in] * product.41[far.in])
//   dropout.85 (edges x 1) = dropout 0.3 site 3(axis.80)
//   divide.86 (edges x 1) = divide(dropout.85, select.63[near.in])
//   add.94 (edges x 1) = add(divide.86, select.92[near.in])
//   multiply.95 (edges x 1) = multiply(add.94, exp.60)
//   multiply.97 (edges x 1) = multiply(multiply.95, 0.2)
//   less.98 (edges x 1) = less(0.0, leakyrelu.54)
//   select.99 (edges x 1) = select(less.98, multiply.95, multiply.97)
//   slope of left.101 (nodes x 1) = reduce sum.out(select.99)
//   multiply.106 (nodes x 3) = multiply(slope of left.101, parameter.gat.attend.1.param.0)
//   slope of z.107 = add(add.103, multiply.106)
//   multiply.108 = multiply(slope of left.101, product.41)
//   absolute.112 (nodes x 3) = absolute(slope of z.107)
//   axis.113 (nodes x 1) = axis maximum 0(absolute.112)
//   notequal.115 = notequal(axis.113, 0.0)
extern "C" __global__ void __launch_bounds__(256, 2) k13_notequal_115(const real* __restrict__ b_axis_45, const real* __restrict__ b_axis_49, const real* __restrict__ b_select_57, const real* __restrict__ b_slope_result, const real* __restrict__ b_product_41, const real* __restrict__ b_select_63, const real* __restrict__ b_select_92, const real* __restrict__ b_parameter_gat_attend_1_param_0, const real* __restrict__ b_add_103, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_slope_20_of_20_z_107, real* __restrict__ o_multiply_108, whole* __restrict__ o_notequal_115, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned* __restrict__ slot_edge, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
  constexpr unsigned C = 3, V = 1, L = 4, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { const unsigned place = blockIdx.y * (V * L * Q) + (q * L + part) * V; own[q] = place < C; c[q] = own[q] ? place : C - V; }
  constexpr unsigned B = 4, J = B > L ? B / L : 1, CHUNK = J * L;
  const unsigned warp_blocks = (warp_items + WARPS - 1) / WARPS, block = blockIdx.x;
  const int tier = block < block_items ? 2 : block < block_items + warp_blocks ? 1 : 0;
  unsigned item = tier == 2 ? block : tier == 1 ? block_items + (block - block_items) * WARPS + warp
  : block_items + warp_items + (block - block_items - warp_blocks) * GROUPS + warp * PER_WARP + group;
  const bool live = item < (tier == 1 ? block_items + warp_items : items);
  item = live ? item : 0;
  [[maybe_unused]] const unsigned v = __ldg(item_row + item), begin = live ? __ldg(item_offset + item) : 0, end = live ? __ldg(item_offset + item + 1) : 0;
  const unsigned shares = tier == 2 ? GROUPS : tier == 1 ? PER_WARP : 1, mine = tier == 2 ? warp * PER_WARP + group : tier == 1 ? group : 0;
  const unsigned share = (end - begin + shares * B - 1) / (shares * B) * B;
  const unsigned from = min(end, begin + mine * share), stop = min(end, from + share);
  const bool writes = live && (tier == 0 || (group == 0 && (tier == 1 || warp == 0)));
  real axis_45_11; axis_45_11 = __ldg(b_axis_45 + v + 0);
  real product_41_17[Q]; EACH_Q product_41_17[q] = __ldg(b_product_41 + (offset_t)v * 3 + c[q]);
  real slope_of_left_101_2; slope_of_left_101_2 = 0;
  {
    unsigned at = from;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    unsigned held_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      unsigned next_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
      UNROLL_1 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + s < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + s + k < stop;
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        unsigned stream_1[B]; UNROLL for (int k = 0; k < B; k++) stream_1[k] = __shfl_sync(FULL, held_1[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        real axis_49_12[B];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { axis_49_12[k] = __ldg(b_axis_49 + u[k] + 0); }
        real slope_result_16[B][Q];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q slope_result_16[k][q] = __ldg(b_slope_result + (offset_t)u[k] * 3 + c[q]); }
        real select_63_22[B];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { select_63_22[k] = __ldg(b_select_63 + u[k] + 0); }
        real select_92_24[B];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { select_92_24[k] = __ldg(b_select_92 + u[k] + 0); }
        real select_57_26[B];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { select_57_26[k] = __ldg(b_select_57 + u[k] + 0); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real add_53_13; add_53_13 = axis_45_11 + axis_49_12[k];
          real leakyrelu_54_14; leakyrelu_54_14 = leaky_relu(add_53_13, (real)0.2);
          bool less_98_15; less_98_15 = ((real)0.0) < leakyrelu_54_14;
          real product_18[Q]; EACH_Q product_18[q] = slope_result_16[k][q] * product_41_17[q];
          real axis_80_19;
          axis_80_19 = 0;
          EACH axis_80_19 = axis_80_19 + (own[q] ? product_18[q] : 0);
          axis_80_19 = axis_80_19 + across(axis_80_19, 1);
          axis_80_19 = axis_80_19 + across(axis_80_19, 2);
          real dropout_85_20; { bool kept_21[1] = {true}; if (training) keeps<1>(kept_21, stream_1[k], 0, clock->epoch, 3u, seed, 19661u); dropout_85_20 = !training ? axis_80_19 : kept_21[0] ? axis_80_19 * (real)1.4285776566757493 : (real)0; }
          real divide_86_23; divide_86_23 = dropout_85_20 / select_63_22[k];
          real add_94_25; add_94_25 = divide_86_23 + select_92_24[k];
          real subtract_59_27; subtract_59_27 = leakyrelu_54_14 - select_57_26[k];
          real exp_60_28; exp_60_28 = exponential(subtract_59_27);
          real multiply_95_29; multiply_95_29 = add_94_25 * exp_60_28;
          real multiply_97_30; multiply_97_30 = multiply_95_29 * ((real)0.2);
          real select_99_31; select_99_31 = less_98_15 ? multiply_95_29 : multiply_97_30;
          if (here) slope_of_left_101_2 = slope_of_left_101_2 + select_99_31;
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      UNROLL for (int i = 0; i < J; i++) held_1[i] = next_1[i];
      at = min(stop, at + CHUNK);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, stop - at >= CHUNK)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_1[WARPS * 32];
    { const real own_part = slope_of_left_101_2; slope_of_left_101_2 = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) slope_of_left_101_2 = slope_of_left_101_2 + from_lane(own_part, g * L + part); }
    if (tier == 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { told[(warp * L + part) * 1 + 0] = slope_of_left_101_2; }
      __syncthreads();
      { slope_of_left_101_2 = told[(0 * L + part) * 1 + 0]; for (int w = 1; w < WARPS; w++) slope_of_left_101_2 = slope_of_left_101_2 + told[(w * L + part) * 1 + 0]; }
      __syncthreads();
    }
  }
  real add_103_1[Q]; EACH_Q add_103_1[q] = __ldg(b_add_103 + (offset_t)v * 3 + c[q]);
  real parameter_gat_attend_1_param_0_3[Q]; EACH_Q parameter_gat_attend_1_param_0_3[q] = __ldg(b_parameter_gat_attend_1_param_0 + c[q]);
  real multiply_106_4[Q]; EACH_Q multiply_106_4[q] = slope_of_left_101_2 * parameter_gat_attend_1_param_0_3[q];
  real slope_of_z_107_5[Q]; EACH_Q slope_of_z_107_5[q] = add_103_1[q] + multiply_106_4[q];
  real product_41_6[Q]; EACH_Q product_41_6[q] = __ldg(b_product_41 + (offset_t)v * 3 + c[q]);
  real multiply_108_7[Q]; EACH_Q multiply_108_7[q] = slope_of_left_101_2 * product_41_6[q];
  real absolute_112_8[Q]; EACH_Q absolute_112_8[q] = absolute(slope_of_z_107_5[q]);
  real axis_113_9;
  axis_113_9 = (real)-INFINITE;
  EACH axis_113_9 = most(axis_113_9, (own[q] ? absolute_112_8[q] : (real)-INFINITE));
  axis_113_9 = most(axis_113_9, across(axis_113_9, 1));
  axis_113_9 = most(axis_113_9, across(axis_113_9, 2));
  bool notequal_115_10; notequal_115_10 = axis_113_9 != ((real)0.0);
  if (!writes) return;
  EACH if (own[q]) o_slope_20_of_20_z_107[(offset_t)v * 3 + c[q]] = slope_of_z_107_5[q];
  EACH if (own[q]) o_multiply_108[(offset_t)v * 3 + c[q]] = multiply_108_7[q];
  EACH if (own[q] && c[q] == 0) o_notequal_115[v + 0] = (whole)(notequal_115_10);
}

// gradient.gat.attend.1.param.0: 3612 bytes at least
//   gradient.gat.attend.1.param.0 = sum rows(multiply.108)
// as k9_gradient_gat_attend_1_bias_0
// as k9_gradient_gat_attend_1_bias_0_parts

// equal.129: 121392 bytes at least
//   slope of h.111 (nodes x 16) = product(slope of z.107, parameter.gat.attend.1.linear.0.weight)
//   select.116 = select(notequal.115, h.39, 0.0)
//   dropout.118 (nodes x 16) = dropout 0.5 site 2(slope of h.111)
//   add.120 (nodes x 16) = add(h.37, 1.0)
//   multiply.121 (nodes x 16) = multiply(dropout.118, add.120)
//   less.122 (nodes x 16) = less(0.0, h.37)
//   select.123 = select(less.122, dropout.118, multiply.121)
//   equal.129 = equal(select.123, 0.0)
extern "C" __global__ void __launch_bounds__(256, 2) k15_equal_129(const real* __restrict__ b_parameter_gat_attend_1_linear_0_weight, const real* __restrict__ b_slope_20_of_20_z_107, const whole* __restrict__ b_notequal_115, const real* __restrict__ b_h_39, const real* __restrict__ b_h_37, const unsigned* __restrict__ rows_in_graph, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_select_116, real* __restrict__ o_select_123, whole* __restrict__ o_equal_129, const unsigned rows_given) {
  constexpr unsigned K = 3, C = 16, L = 4, Q = 1, TM = 4, RT = 256 / L, BM = TM * RT, BK = 16, KV = 1, blockThreads = 256;
  const unsigned rows = rows_given * 1;
  constexpr unsigned V = 4, BN = L * V;
  __shared__ alignas(16) real left[BK][BM + 4], right[BK][BN];
  const unsigned part = threadIdx.x % L, thread_row = threadIdx.x / L, first = blockIdx.x * BM, slice = blockIdx.y * BN;
  real sums[TM][V];
  UNROLL for (int i = 0; i < TM; i++) UNROLL for (int j = 0; j < V; j++) sums[i][j] = 0;
  constexpr unsigned ALL = BM * (BK / KV), PIECES = (ALL + blockThreads - 1) / blockThreads;
  real piece[PIECES][KV];
  auto fetch = [&](const unsigned k0) {
    UNROLL for (int p = 0; p < PIECES; p++) {
      const unsigned i = threadIdx.x + p * blockThreads, r = i / (BK / KV), kk = i % (BK / KV) * KV, row = first + r;
      const bool here = i < ALL && row < rows && k0 + kk < K;
      [[maybe_unused]] const unsigned v = here ? row : 0, c[1] = {here ? k0 + kk : 0};
      constexpr unsigned V = KV;
      real slope_of_z_107_1[Q]; EACH_Q slope_of_z_107_1[q] = __ldg(b_slope_20_of_20_z_107 + (offset_t)v * 3 + c[q]);
      EACH piece[p][j] = here ? slope_of_z_107_1[q] : (real)0;
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
      right[k][m] = k0 + k < K && slice + m < C ? __ldg(b_parameter_gat_attend_1_linear_0_weight + (offset_t)(k0 + k) * 16 + slice + m) : (real)0;
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
  [[maybe_unused]] const bool own[1] = {place < C};
  [[maybe_unused]] const unsigned c[1] = {own[0] ? place : C - V};
  UNROLL for (int i = 0; i < TM; i++) {
    const unsigned row = first + thread_row + i * RT;
    if (row >= rows) continue;
    [[maybe_unused]] const unsigned v = row;
    real made[Q][V]; EACH made[q][j] = sums[i][j];
    const unsigned row_in_graph = rows_in_graph ? __ldg(rows_in_graph + v) : v;
    bool notequal_115_1; notequal_115_1 = __ldg(b_notequal_115 + v + 0) != 0;
    real h_39_2[Q][V]; EACH_Q load<V>(h_39_2[q], b_h_39 + (offset_t)v * 16 + c[q]);
    real select_116_3[Q][V]; EACH select_116_3[q][j] = notequal_115_1 ? h_39_2[q][j] : ((real)0.0);
    real h_37_4[Q][V]; EACH_Q load<V>(h_37_4[q], b_h_37 + (offset_t)v * 16 + c[q]);
    bool less_122_5[Q][V]; EACH less_122_5[q][j] = ((real)0.0) < h_37_4[q][j];
    real dropout_118_6[Q][V]; EACH_Q { bool kept_7[V]; UNROLL for (int j = 0; j < V; j++) kept_7[j] = true; if (training) keeps<V>(kept_7, row_in_graph, c[q], clock->epoch, 2u, seed, 32768u); UNROLL for (int j = 0; j < V; j++) dropout_118_6[q][j] = !training ? made[q][j] : kept_7[j] ? made[q][j] * (real)2.0 : (real)0; }
    real add_120_8[Q][V]; EACH add_120_8[q][j] = h_37_4[q][j] + ((real)1.0);
    real multiply_121_9[Q][V]; EACH multiply_121_9[q][j] = dropout_118_6[q][j] * add_120_8[q][j];
    real select_123_10[Q][V]; EACH select_123_10[q][j] = less_122_5[q][j] ? dropout_118_6[q][j] : multiply_121_9[q][j];
    bool equal_129_11[Q][V]; EACH equal_129_11[q][j] = select_123_10[q][j] == ((real)0.0);
    EACH_Q if (own[q]) store<V>(o_select_116 + (offset_t)v * 16 + c[q], select_116_3[q]);
    EACH_Q if (own[q]) store<V>(o_select_123 + (offset_t)v * 16 + c[q], select_123_10[q]);
    EACH if (own[q]) o_equal_129[(offset_t)v * 16 + (c[q] + j)] = (whole)(equal_129_11[q][j]);
  }
}

// gradient.gat.attend.1.linear.0.weight: 22992 bytes at least
//   gradient.gat.attend.1.linear.0.weight = outer(slope of z.107, select.116)
//   (on tensor cores: 32 x 8 columns a warp, 1 warps beside each other, 12 take turns of 8 rows; 5 turns asked for ahead)
extern "C" __global__ void __launch_bounds__(384, 1) k16_gradient_gat_attend_1_linear_0_weight(const real* __restrict__ b_slope_20_of_20_z_107, const real* __restrict__ b_select_116, real* __restrict__ scratch, const unsigned rows_given) {
  constexpr unsigned X = 16, Z = 3, XV = 4, ZV = 1, RV = 1, GROUPS = 1, TILES = 1, ACROSS = 1, TURNS = 12, AHEAD = 6;
  constexpr bool X_FIRST = false;
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
        copy_later<16>(to, b_select_116 + (here ? (offset_t)row * 16 + column : 0), here);
      }
      constexpr unsigned PIECES = Z_TILE * 8 / ZV;
      UNROLL for (int i = 0; i < (PIECES + 31) / 32; i++) {
        const unsigned place = i * 32 + lane, r = place / (Z_TILE / ZV), within = place % (Z_TILE / ZV) * ZV, row = coming + r, column = z0 + within;
        if (PIECES % 32 != 0 && place >= PIECES) continue;
        float* const to = stage + GROUPS * 256 + r * Z_TILE + (within / 4 ^ twist(r)) * 4 + within % 4;
        const bool here = row < end && column < Z;
        copy_later<4>(to, b_slope_20_of_20_z_107 + (here ? (offset_t)row * 3 + column : 0), here);
      }
      coming += 8 * TURNS;
    }
    copies_asked();
  };
  UNROLL for (int d = 0; d < AHEAD - 1; d++) request(d);
  float sums[GROUPS][2][TILES][4] = {};
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
    UNROLL for (int i = 0; i < GROUPS; i++) {
      const float4* const from = reinterpret_cast<const float4*>(stage + i * 256) + part * 8 + (group ^ part * 2);
      multiply_turned<TILES>(sums[i], from[0], from[32], right);
    }
    slot = slot + 1 == AHEAD ? 0 : slot + 1;
  }
  copies_done<0>();
  __syncthreads();
  float* const total = reinterpret_cast<float*>(of_block);
  for (unsigned t = 0; t < TURNS; t++) {
    if (turn == t) UNROLL for (int i = 0; i < GROUPS; i++) UNROLL for (int m = 0; m < 2; m++) UNROLL for (int n = 0; n < TILES; n++) UNROLL for (int j = 0; j < 4; j++) {
      const unsigned x = (beside * GROUPS + i) * 32 + group * 4 + m * 2 + j / 2, z = (part * 2 + j % 2) * TILES + n;
      float& sum = total[X_FIRST ? x * Z_TILE + z : z * X_TILE + x];
      sum = t > 0 ? sum + sums[i][m][n][j] : sums[i][m][n][j];
    }
    __syncthreads();
  }
  for (unsigned i = threadIdx.x; i < X_TILE * Z_TILE; i += ACROSS * TURNS * 32) {
    const unsigned x = x0 + (X_FIRST ? i / Z_TILE : i % X_TILE), z = z0 + (X_FIRST ? i % Z_TILE : i / X_TILE);
    if (x < X && z < Z) scratch[(offset_t)blockIdx.x * (X * Z) + (X_FIRST ? x * Z + z : z * X + x)] = total[i];
  }
}
extern "C" __global__ void __launch_bounds__(256, 1) k16_gradient_gat_attend_1_linear_0_weight_parts(real* __restrict__ out, const real* __restrict__ scratch, const unsigned elements, const unsigned parts) {
  __shared__ real told[8][32];
  const unsigned lane = threadIdx.x % 32, slice = threadIdx.x / 32, element = blockIdx.x * 32 + lane;
  real sum = 0;
  if (element < elements) UNROLL_8 for (unsigned part = slice; part < parts; part += 8) sum += scratch[(offset_t)part * elements + element];
  told[slice][lane] = sum;
  __syncthreads();
  if (slice > 0 || element >= elements) return;
  UNROLL for (int other = 1; other < 8; other++) sum += told[other][lane];
  out[element] = sum;
}

// gradient.gat.attend.0.bias.0: 19264 bytes at least
//   gradient.gat.attend.0.bias.0 = sum rows(select.123)
extern "C" __global__ void __launch_bounds__(256, 2) k17_gradient_gat_attend_0_bias_0(const real* __restrict__ b_select_123, real* __restrict__ scratch, const unsigned rows_given) {
  constexpr unsigned K = 16, V = 4, L = 4, STRANDS = 256 / L, Q = 1;
  const unsigned rows = rows_given;
  const unsigned thread = threadIdx.x % L, strand = threadIdx.x / L, column = blockIdx.y * (L * V) + thread * V;
  const bool own = column < K;
  const unsigned c[1] = {own ? column : K - V};
  const unsigned each = (rows + gridDim.x - 1) / gridDim.x, begin = min(rows, blockIdx.x * each), end = min(rows, begin + each);
  real sums[V];
  UNROLL for (int j = 0; j < V; j++) sums[j] = 0;
  _Pragma("unroll 4") for (unsigned row = begin + strand; row < end; row += STRANDS) {
    [[maybe_unused]] const unsigned v = row;
    real select_123_1[Q][V]; EACH_Q load<V>(select_123_1[q], b_select_123 + (offset_t)v * 16 + c[q]);
    EACH sums[j] += select_123_1[q][j];
  }
  __shared__ real told[STRANDS][L * V];
  UNROLL for (int j = 0; j < V; j++) told[strand][thread * V + j] = sums[j];
  __syncthreads();
  for (unsigned half = STRANDS / 2; half > 0; half /= 2) {
    if (strand < half) UNROLL for (int j = 0; j < V; j++) told[strand][thread * V + j] += told[strand + half][thread * V + j];
    __syncthreads();
  }
  if (strand > 0 || !own) return;
  UNROLL for (int j = 0; j < V; j++) scratch[(offset_t)(column + j) * gridDim.x + blockIdx.x] = told[0][thread * V + j];
}
// as k9_gradient_gat_attend_1_bias_0_parts

// reduce.134: 150004 bytes at least
//   add.15 (edges x 2) = add(axis.7[far.in], axis.11[near.in])
//   leakyrelu.16 (edges x 2) = leakyrelu(0.2)(add.15)
//   subtract.23 (edges x 2) = subtract(leakyrelu.16, select.21[near.in])
//   exp.24 (edges x 2) = exp(subtract.23)
//   divide.30 (edges x 2) = divide(exp.24, select.28[near.in])
//   dropout.31 (edges x 2) = dropout 0.3 site 1(divide.30)
//   multiply.132 (edges x 16) = multiply(select.123[far.out], dropout.31)
//   select.133 (edges x 16) = select(equal.129[far.out], 0.0, multiply.132)
//   reduce.134 = reduce sum.out(select.133)
extern "C" __global__ void __launch_bounds__(256, 2) k18_reduce_134(const real* __restrict__ b_axis_7, const real* __restrict__ b_axis_11, const real* __restrict__ b_select_21, const real* __restrict__ b_select_28, const real* __restrict__ b_select_123, const whole* __restrict__ b_equal_129, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_reduce_134, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned* __restrict__ slot_edge, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
  constexpr unsigned C = 16, V = 4, L = 4, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { const unsigned place = blockIdx.y * (V * L * Q) + (q * L + part) * V; own[q] = place < C; c[q] = own[q] ? place : C - V; }
  constexpr unsigned B = 2, J = B > L ? B / L : 1, CHUNK = J * L;
  const unsigned warp_blocks = (warp_items + WARPS - 1) / WARPS, block = blockIdx.x;
  const int tier = block < block_items ? 2 : block < block_items + warp_blocks ? 1 : 0;
  unsigned item = tier == 2 ? block : tier == 1 ? block_items + (block - block_items) * WARPS + warp
  : block_items + warp_items + (block - block_items - warp_blocks) * GROUPS + warp * PER_WARP + group;
  const bool live = item < (tier == 1 ? block_items + warp_items : items);
  item = live ? item : 0;
  [[maybe_unused]] const unsigned v = __ldg(item_row + item), begin = live ? __ldg(item_offset + item) : 0, end = live ? __ldg(item_offset + item + 1) : 0;
  const unsigned shares = tier == 2 ? GROUPS : tier == 1 ? PER_WARP : 1, mine = tier == 2 ? warp * PER_WARP + group : tier == 1 ? group : 0;
  const unsigned share = (end - begin + shares * B - 1) / (shares * B) * B;
  const unsigned from = min(end, begin + mine * share), stop = min(end, from + share);
  const bool writes = live && (tier == 0 || (group == 0 && (tier == 1 || warp == 0)));
  real axis_7_4[Q]; EACH_Q axis_7_4[q] = __ldg(b_axis_7 + (offset_t)v * 2 + (c[q] / 8u));
  real reduce_134_1[Q][V]; EACH reduce_134_1[q][j] = 0;
  {
    unsigned at = from;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    unsigned held_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      unsigned next_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
      UNROLL_1 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + s < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + s + k < stop;
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        unsigned stream_1[B]; UNROLL for (int k = 0; k < B; k++) stream_1[k] = __shfl_sync(FULL, held_1[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        bool equal_129_2[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH equal_129_2[k][q][j] = __ldg(b_equal_129 + (offset_t)u[k] * 16 + (c[q] + j)) != 0; }
        real select_123_3[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q load<V>(select_123_3[k][q], b_select_123 + (offset_t)u[k] * 16 + c[q]); }
        real axis_11_5[B][Q];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q axis_11_5[k][q] = __ldg(b_axis_11 + (offset_t)u[k] * 2 + (c[q] / 8u)); }
        real select_21_8[B][Q];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q select_21_8[k][q] = __ldg(b_select_21 + (offset_t)u[k] * 2 + (c[q] / 8u)); }
        real select_28_11[B][Q];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q select_28_11[k][q] = __ldg(b_select_28 + (offset_t)u[k] * 2 + (c[q] / 8u)); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real add_15_6[Q]; EACH_Q add_15_6[q] = axis_7_4[q] + axis_11_5[k][q];
          real leakyrelu_16_7[Q]; EACH_Q leakyrelu_16_7[q] = leaky_relu(add_15_6[q], (real)0.2);
          real subtract_23_9[Q]; EACH_Q subtract_23_9[q] = leakyrelu_16_7[q] - select_21_8[k][q];
          real exp_24_10[Q]; EACH_Q exp_24_10[q] = exponential(subtract_23_9[q]);
          real divide_30_12[Q]; EACH_Q divide_30_12[q] = exp_24_10[q] / select_28_11[k][q];
          real dropout_31_13[Q]; EACH_Q { bool kept_14[1] = {true}; if (training) keeps<1>(kept_14, stream_1[k], (c[q] / 8u), clock->epoch, 1u, seed, 19661u); dropout_31_13[q] = !training ? divide_30_12[q] : kept_14[0] ? divide_30_12[q] * (real)1.4285776566757493 : (real)0; }
          real multiply_132_15[Q][V]; EACH multiply_132_15[q][j] = select_123_3[k][q][j] * dropout_31_13[q];
          real select_133_16[Q][V]; EACH select_133_16[q][j] = equal_129_2[k][q][j] ? ((real)0.0) : multiply_132_15[q][j];
          EACH if (here) reduce_134_1[q][j] = reduce_134_1[q][j] + select_133_16[q][j];
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
    EACH { const real own_part = reduce_134_1[q][j]; reduce_134_1[q][j] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_134_1[q][j] = reduce_134_1[q][j] + from_lane(own_part, g * L + part); }
    if (tier == 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = reduce_134_1[q][j]; }
      __syncthreads();
      EACH { reduce_134_1[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) reduce_134_1[q][j] = reduce_134_1[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
  }
  if (!writes) return;
  EACH_Q if (own[q]) store<V>(o_reduce_134 + (offset_t)v * 16 + c[q], reduce_134_1[q]);
}

// multiply.151: 138068 bytes at least
//   add.15 (edges x 2) = add(axis.7[far.in], axis.11[near.in])
//   leakyrelu.16 (edges x 2) = leakyrelu(0.2)(add.15)
//   subtract.23 (edges x 2) = subtract(leakyrelu.16, select.21[near.in])
//   exp.24 (edges x 2) = exp(subtract.23)
//   divide.30 (edges x 2) = divide(exp.24, select.28[near.in])
//   axis.127 (edges x 2) = axis sum 1(select.123[near.in] * product.3[far.in])
//   dropout.135 (edges x 2) = dropout 0.3 site 1(axis.127)
//   divide.136 (edges x 2) = divide(dropout.135, select.28[near.in])
//   reduce.138 (nodes x 2) = reduce sum.in(divide.136 * divide.30)
//   subtract.139 (nodes x 2) = subtract(0.0, reduce.138)
//   select.140 = select(equal.27, 0.0, subtract.139)
//   add.142 (edges x 2) = add(divide.136, select.140[near.in])
//   multiply.143 (edges x 2) = multiply(add.142, exp.24)
//   multiply.144 (edges x 2) = multiply(multiply.143, 0.2)
//   less.145 (edges x 2) = less(0.0, leakyrelu.16)
//   select.146 (edges x 2) = select(less.145, multiply.143, multiply.144)
//   slope of right.147 (nodes x 2) = reduce sum.in(select.146)
//   multiply.149 (nodes x 16) = multiply(slope of right.147, parameter.gat.attend.0.param.1)
//   add.150 = add(reduce.134, multiply.149)
//   multiply.151 = multiply(slope of right.147, product.3)
extern "C" __global__ void __launch_bounds__(256, 2) k19_multiply_151(const real* __restrict__ b_axis_7, const real* __restrict__ b_axis_11, const real* __restrict__ b_select_21, const real* __restrict__ b_select_28, const real* __restrict__ b_select_123, const real* __restrict__ b_product_3, const whole* __restrict__ b_equal_27, const real* __restrict__ b_parameter_gat_attend_0_param_1, const real* __restrict__ b_reduce_134, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_select_140, real* __restrict__ o_add_150, real* __restrict__ o_multiply_151, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned* __restrict__ slot_edge, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
  constexpr unsigned C = 16, V = 4, L = 4, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { const unsigned place = blockIdx.y * (V * L * Q) + (q * L + part) * V; own[q] = place < C; c[q] = own[q] ? place : C - V; }
  constexpr unsigned B = 4, J = B > L ? B / L : 1, CHUNK = J * L;
  const unsigned warp_blocks = (warp_items + WARPS - 1) / WARPS, block = blockIdx.x;
  const int tier = block < block_items ? 2 : block < block_items + warp_blocks ? 1 : 0;
  unsigned item = tier == 2 ? block : tier == 1 ? block_items + (block - block_items) * WARPS + warp
  : block_items + warp_items + (block - block_items - warp_blocks) * GROUPS + warp * PER_WARP + group;
  const bool live = item < (tier == 1 ? block_items + warp_items : items);
  item = live ? item : 0;
  [[maybe_unused]] const unsigned v = __ldg(item_row + item), begin = live ? __ldg(item_offset + item) : 0, end = live ? __ldg(item_offset + item + 1) : 0;
  const unsigned shares = tier == 2 ? GROUPS : tier == 1 ? PER_WARP : 1, mine = tier == 2 ? warp * PER_WARP + group : tier == 1 ? group : 0;
  const unsigned share = (end - begin + shares * B - 1) / (shares * B) * B;
  const unsigned from = min(end, begin + mine * share), stop = min(end, from + share);
  const bool writes = live && (tier == 0 || (group == 0 && (tier == 1 || warp == 0)));
  real select_123_32[Q][V]; EACH_Q load<V>(select_123_32[q], b_select_123 + (offset_t)v * 16 + c[q]);
  real select_28_38[Q]; EACH_Q select_28_38[q] = __ldg(b_select_28 + (offset_t)v * 2 + (c[q] / 8u));
  real axis_11_41[Q]; EACH_Q axis_11_41[q] = __ldg(b_axis_11 + (offset_t)v * 2 + (c[q] / 8u));
  real select_21_44[Q]; EACH_Q select_21_44[q] = __ldg(b_select_21 + (offset_t)v * 2 + (c[q] / 8u));
  real reduce_138_2[Q]; EACH_Q reduce_138_2[q] = 0;
  {
    unsigned at = from;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    unsigned held_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      unsigned next_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
      UNROLL_1 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + s < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + s + k < stop;
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        unsigned stream_1[B]; UNROLL for (int k = 0; k < B; k++) stream_1[k] = __shfl_sync(FULL, held_1[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        real product_3_33[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q load<V>(product_3_33[k][q], b_product_3 + (offset_t)u[k] * 16 + c[q]); }
        real axis_7_40[B][Q];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q axis_7_40[k][q] = __ldg(b_axis_7 + (offset_t)u[k] * 2 + (c[q] / 8u)); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real product_34[Q][V]; EACH product_34[q][j] = select_123_32[q][j] * product_3_33[k][q][j];
          real axis_127_35[Q];
          EACH_Q axis_127_35[q] = 0;
          EACH axis_127_35[q] = axis_127_35[q] + product_34[q][j];
          EACH_Q axis_127_35[q] = axis_127_35[q] + across(axis_127_35[q], 1);
          real dropout_135_36[Q]; EACH_Q { bool kept_37[1] = {true}; if (training) keeps<1>(kept_37, stream_1[k], (c[q] / 8u), clock->epoch, 1u, seed, 19661u); dropout_135_36[q] = !training ? axis_127_35[q] : kept_37[0] ? axis_127_35[q] * (real)1.4285776566757493 : (real)0; }
          real divide_136_39[Q]; EACH_Q divide_136_39[q] = dropout_135_36[q] / select_28_38[q];
          real add_15_42[Q]; EACH_Q add_15_42[q] = axis_7_40[k][q] + axis_11_41[q];
          real leakyrelu_16_43[Q]; EACH_Q leakyrelu_16_43[q] = leaky_relu(add_15_42[q], (real)0.2);
          real subtract_23_45[Q]; EACH_Q subtract_23_45[q] = leakyrelu_16_43[q] - select_21_44[q];
          real exp_24_46[Q]; EACH_Q exp_24_46[q] = exponential(subtract_23_45[q]);
          real divide_30_47[Q]; EACH_Q divide_30_47[q] = exp_24_46[q] / select_28_38[q];
          real product_48[Q]; EACH_Q product_48[q] = divide_136_39[q] * divide_30_47[q];
          EACH_Q if (here) reduce_138_2[q] = reduce_138_2[q] + product_48[q];
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      UNROLL for (int i = 0; i < J; i++) held_1[i] = next_1[i];
      at = min(stop, at + CHUNK);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, stop - at >= CHUNK)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_1[WARPS * 32];
    EACH_Q { const real own_part = reduce_138_2[q]; reduce_138_2[q] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_138_2[q] = reduce_138_2[q] + from_lane(own_part, g * L + part); }
    if (tier == 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH_Q told[(warp * L + part) * 1 + q] = reduce_138_2[q]; }
      __syncthreads();
      EACH_Q { reduce_138_2[q] = told[(0 * L + part) * 1 + q]; for (int w = 1; w < WARPS; w++) reduce_138_2[q] = reduce_138_2[q] + told[(w * L + part) * 1 + q]; }
      __syncthreads();
    }
  }
  bool equal_27_1[Q]; EACH_Q equal_27_1[q] = __ldg(b_equal_27 + (offset_t)v * 2 + (c[q] / 8u)) != 0;
  real subtract_139_3[Q]; EACH_Q subtract_139_3[q] = ((real)0.0) - reduce_138_2[q];
  real select_140_4[Q]; EACH_Q select_140_4[q] = equal_27_1[q] ? ((real)0.0) : subtract_139_3[q];
  real axis_11_13[Q]; EACH_Q axis_11_13[q] = __ldg(b_axis_11 + (offset_t)v * 2 + (c[q] / 8u));
  real select_123_17[Q][V]; EACH_Q load<V>(select_123_17[q], b_select_123 + (offset_t)v * 16 + c[q]);
  real select_28_23[Q]; EACH_Q select_28_23[q] = __ldg(b_select_28 + (offset_t)v * 2 + (c[q] / 8u));
  real select_21_26[Q]; EACH_Q select_21_26[q] = __ldg(b_select_21 + (offset_t)v * 2 + (c[q] / 8u));
  real slope_of_right_147_6[Q]; EACH_Q slope_of_right_147_6[q] = 0;
  {
    unsigned at = from;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    unsigned held_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      unsigned next_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
      UNROLL_1 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + s < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + s + k < stop;
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        unsigned stream_1[B]; UNROLL for (int k = 0; k < B; k++) stream_1[k] = __shfl_sync(FULL, held_1[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        real axis_7_12[B][Q];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q axis_7_12[k][q] = __ldg(b_axis_7 + (offset_t)u[k] * 2 + (c[q] / 8u)); }
        real product_3_18[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q load<V>(product_3_18[k][q], b_product_3 + (offset_t)u[k] * 16 + c[q]); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real add_15_14[Q]; EACH_Q add_15_14[q] = axis_7_12[k][q] + axis_11_13[q];
          real leakyrelu_16_15[Q]; EACH_Q leakyrelu_16_15[q] = leaky_relu(add_15_14[q], (real)0.2);
          bool less_145_16[Q]; EACH_Q less_145_16[q] = ((real)0.0) < leakyrelu_16_15[q];
          real product_19[Q][V]; EACH product_19[q][j] = select_123_17[q][j] * product_3_18[k][q][j];
          real axis_127_20[Q];
          EACH_Q axis_127_20[q] = 0;
          EACH axis_127_20[q] = axis_127_20[q] + product_19[q][j];
          EACH_Q axis_127_20[q] = axis_127_20[q] + across(axis_127_20[q], 1);
          real dropout_135_21[Q]; EACH_Q { bool kept_22[1] = {true}; if (training) keeps<1>(kept_22, stream_1[k], (c[q] / 8u), clock->epoch, 1u, seed, 19661u); dropout_135_21[q] = !training ? axis_127_20[q] : kept_22[0] ? axis_127_20[q] * (real)1.4285776566757493 : (real)0; }
          real divide_136_24[Q]; EACH_Q divide_136_24[q] = dropout_135_21[q] / select_28_23[q];
          real add_142_25[Q]; EACH_Q add_142_25[q] = divide_136_24[q] + select_140_4[q];
          real subtract_23_27[Q]; EACH_Q subtract_23_27[q] = leakyrelu_16_15[q] - select_21_26[q];
          real exp_24_28[Q]; EACH_Q exp_24_28[q] = exponential(subtract_23_27[q]);
          real multiply_143_29[Q]; EACH_Q multiply_143_29[q] = add_142_25[q] * exp_24_28[q];
          real multiply_144_30[Q]; EACH_Q multiply_144_30[q] = multiply_143_29[q] * ((real)0.2);
          real select_146_31[Q]; EACH_Q select_146_31[q] = less_145_16[q] ? multiply_143_29[q] : multiply_144_30[q];
          EACH_Q if (here) slope_of_right_147_6[q] = slope_of_right_147_6[q] + select_146_31[q];
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      UNROLL for (int i = 0; i < J; i++) held_1[i] = next_1[i];
      at = min(stop, at + CHUNK);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, stop - at >= CHUNK)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_2[WARPS * 32];
    EACH_Q { const real own_part = slope_of_right_147_6[q]; slope_of_right_147_6[q] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) slope_of_right_147_6[q] = slope_of_right_147_6[q] + from_lane(own_part, g * L + part); }
    if (tier == 2) {
      real* told = reinterpret_cast<real*>(told_2);
      if (group == 0) { EACH_Q told[(warp * L + part) * 1 + q] = slope_of_right_147_6[q]; }
      __syncthreads();
      EACH_Q { slope_of_right_147_6[q] = told[(0 * L + part) * 1 + q]; for (int w = 1; w < WARPS; w++) slope_of_right_147_6[q] = slope_of_right_147_6[q] + told[(w * L + part) * 1 + q]; }
      __syncthreads();
    }
  }
  real reduce_134_5[Q][V]; EACH_Q load<V>(reduce_134_5[q], b_reduce_134 + (offset_t)v * 16 + c[q]);
  real parameter_gat_attend_0_param_1_7[Q][V]; EACH_Q load<V>(parameter_gat_attend_0_param_1_7[q], b_parameter_gat_attend_0_param_1 + c[q]);
  real multiply_149_8[Q][V]; EACH multiply_149_8[q][j] = slope_of_right_147_6[q] * parameter_gat_attend_0_param_1_7[q][j];
  real add_150_9[Q][V]; EACH add_150_9[q][j] = reduce_134_5[q][j] + multiply_149_8[q][j];
  real product_3_10[Q][V]; EACH_Q load<V>(product_3_10[q], b_product_3 + (offset_t)v * 16 + c[q]);
  real multiply_151_11[Q][V]; EACH multiply_151_11[q][j] = slope_of_right_147_6[q] * product_3_10[q][j];
  if (!writes) return;
  EACH if (own[q] && (c[q] + j) % 8u == 0) o_select_140[(offset_t)v * 2 + (c[q] / 8u)] = select_140_4[q];
  EACH_Q if (own[q]) store<V>(o_add_150 + (offset_t)v * 16 + c[q], add_150_9[q]);
  EACH_Q if (own[q]) store<V>(o_multiply_151 + (offset_t)v * 16 + c[q], multiply_151_11[q]);
}

// gradient.gat.attend.0.param.1: 19264 bytes at least
//   gradient.gat.attend.0.param.1 = sum rows(multiply.151)
// as k17_gradient_gat_attend_0_bias_0
// as k9_gradient_gat_attend_1_bias_0_parts

// multiply.155: 133268 bytes at least
//   add.15 (edges x 2) = add(axis.7[far.in], axis.11[near.in])
//   leakyrelu.16 (edges x 2) = leakyrelu(0.2)(add.15)
//   subtract.23 (edges x 2) = subtract(leakyrelu.16, select.21[near.in])
//   exp.24 (edges x 2) = exp(subtract.23)
//   axis.127 (edges x 2) = axis sum 1(select.123[near.in] * product.3[far.in])
//   dropout.135 (edges x 2) = dropout 0.3 site 1(axis.127)
//   divide.136 (edges x 2) = divide(dropout.135, select.28[near.in])
//   add.142 (edges x 2) = add(divide.136, select.140[near.in])
//   multiply.143 (edges x 2) = multiply(add.142, exp.24)
//   multiply.144 (edges x 2) = multiply(multiply.143, 0.2)
//   less.145 (edges x 2) = less(0.0, leakyrelu.16)
//   select.146 (edges x 2) = select(less.145, multiply.143, multiply.144)
//   slope of left.148 (nodes x 2) = reduce sum.out(select.146)
//   multiply.153 (nodes x 16) = multiply(slope of left.148, parameter.gat.attend.0.param.0)
//   slope of z.154 = add(add.150, multiply.153)
//   multiply.155 = multiply(slope of left.148, product.3)
extern "C" __global__ void __launch_bounds__(256, 2) k21_multiply_155(const real* __restrict__ b_axis_7, const real* __restrict__ b_axis_11, const real* __restrict__ b_select_21, const real* __restrict__ b_select_123, const real* __restrict__ b_product_3, const real* __restrict__ b_select_28, const real* __restrict__ b_select_140, const real* __restrict__ b_parameter_gat_attend_0_param_0, const real* __restrict__ b_add_150, const Clock* __restrict__ clock, const uint2 seed, const unsigned training, real* __restrict__ o_slope_20_of_20_z_154, real* __restrict__ o_multiply_155, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned* __restrict__ slot_edge, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
  constexpr unsigned C = 16, V = 4, L = 4, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
  [[maybe_unused]] bool own[Q];
  [[maybe_unused]] unsigned c[Q];
  EACH_Q { const unsigned place = blockIdx.y * (V * L * Q) + (q * L + part) * V; own[q] = place < C; c[q] = own[q] ? place : C - V; }
  constexpr unsigned B = 2, J = B > L ? B / L : 1, CHUNK = J * L;
  const unsigned warp_blocks = (warp_items + WARPS - 1) / WARPS, block = blockIdx.x;
  const int tier = block < block_items ? 2 : block < block_items + warp_blocks ? 1 : 0;
  unsigned item = tier == 2 ? block : tier == 1 ? block_items + (block - block_items) * WARPS + warp
  : block_items + warp_items + (block - block_items - warp_blocks) * GROUPS + warp * PER_WARP + group;
  const bool live = item < (tier == 1 ? block_items + warp_items : items);
  item = live ? item : 0;
  [[maybe_unused]] const unsigned v = __ldg(item_row + item), begin = live ? __ldg(item_offset + item) : 0, end = live ? __ldg(item_offset + item + 1) : 0;
  const unsigned shares = tier == 2 ? GROUPS : tier == 1 ? PER_WARP : 1, mine = tier == 2 ? warp * PER_WARP + group : tier == 1 ? group : 0;
  const unsigned share = (end - begin + shares * B - 1) / (shares * B) * B;
  const unsigned from = min(end, begin + mine * share), stop = min(end, from + share);
  const bool writes = live && (tier == 0 || (group == 0 && (tier == 1 || warp == 0)));
  real axis_7_8[Q]; EACH_Q axis_7_8[q] = __ldg(b_axis_7 + (offset_t)v * 2 + (c[q] / 8u));
  real product_3_14[Q][V]; EACH_Q load<V>(product_3_14[q], b_product_3 + (offset_t)v * 16 + c[q]);
  real slope_of_left_148_2[Q]; EACH_Q slope_of_left_148_2[q] = 0;
  {
    unsigned at = from;
    unsigned held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    unsigned held_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      unsigned next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_0[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      unsigned next_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_1[i] = p < stop ? __ldcs(slot_edge + p) : 0; }
      UNROLL_1 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + s < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + s + k < stop;
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        unsigned stream_1[B]; UNROLL for (int k = 0; k < B; k++) stream_1[k] = __shfl_sync(FULL, held_1[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        real axis_11_9[B][Q];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q axis_11_9[k][q] = __ldg(b_axis_11 + (offset_t)u[k] * 2 + (c[q] / 8u)); }
        real select_123_13[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q load<V>(select_123_13[k][q], b_select_123 + (offset_t)u[k] * 16 + c[q]); }
        real select_28_19[B][Q];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q select_28_19[k][q] = __ldg(b_select_28 + (offset_t)u[k] * 2 + (c[q] / 8u)); }
        real select_140_21[B][Q];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q select_140_21[k][q] = __ldg(b_select_140 + (offset_t)u[k] * 2 + (c[q] / 8u)); }
        real select_21_23[B][Q];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q select_21_23[k][q] = __ldg(b_select_21 + (offset_t)u[k] * 2 + (c[q] / 8u)); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real add_15_10[Q]; EACH_Q add_15_10[q] = axis_7_8[q] + axis_11_9[k][q];
          real leakyrelu_16_11[Q]; EACH_Q leakyrelu_16_11[q] = leaky_relu(add_15_10[q], (real)0.2);
          bool less_145_12[Q]; EACH_Q less_145_12[q] = ((real)0.0) < leakyrelu_16_11[q];
          real product_15[Q][V]; EACH product_15[q][j] = select_123_13[k][q][j] * product_3_14[q][j];
          real axis_127_16[Q];
          EACH_Q axis_127_16[q] = 0;
          EACH axis_127_16[q] = axis_127_16[q] + product_15[q][j];
          EACH_Q axis_127_16[q] = axis_127_16[q] + across(axis_127_16[q], 1);
          real dropout_135_17[Q]; EACH_Q { bool kept_18[1] = {true}; if (training) keeps<1>(kept_18, stream_1[k], (c[q] / 8u), clock->epoch, 1u, seed, 19661u); dropout_135_17[q] = !training ? axis_127_16[q] : kept_18[0] ? axis_127_16[q] * (real)1.4285776566757493 : (real)0; }
          real divide_136_20[Q]; EACH_Q divide_136_20[q] = dropout_135_17[q] / select_28_19[k][q];
          real add_142_22[Q]; EACH_Q add_142_22[q] = divide_136_20[q] + select_140_21[k][q];
          real subtract_23_24[Q]; EACH_Q subtract_23_24[q] = leakyrelu_16_11[q] - select_21_23[k][q];
          real exp_24_25[Q]; EACH_Q exp_24_25[q] = exponential(subtract_23_24[q]);
          real multiply_143_26[Q]; EACH_Q multiply_143_26[q] = add_142_22[q] * exp_24_25[q];
          real multiply_144_27[Q]; EACH_Q multiply_144_27[q] = multiply_143_26[q] * ((real)0.2);
          real select_146_28[Q]; EACH_Q select_146_28[q] = less_145_12[q] ? multiply_143_26[q] : multiply_144_27[q];
          EACH_Q if (here) slope_of_left_148_2[q] = slope_of_left_148_2[q] + select_146_28[q];
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      UNROLL for (int i = 0; i < J; i++) held_1[i] = next_1[i];
      at = min(stop, at + CHUNK);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, stop - at >= CHUNK)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_1[WARPS * 32];
    EACH_Q { const real own_part = slope_of_left_148_2[q]; slope_of_left_148_2[q] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) slope_of_left_148_2[q] = slope_of_left_148_2[q] + from_lane(own_part, g * L + part); }
    if (tier == 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH_Q told[(warp * L + part) * 1 + q] = slope_of_left_148_2[q]; }
      __syncthreads();
      EACH_Q { slope_of_left_148_2[q] = told[(0 * L + part) * 1 + q]; for (int w = 1; w < WARPS; w++) slope_of_left_148_2[q] = slope_of_left_148_2[q] + told[(w * L + part) * 1 + q]; }
      __syncthreads();
    }
  }
  real add_150_1[Q][V]; EACH_Q load<V>(add_150_1[q], b_add_150 + (offset_t)v * 16 + c[q]);
  real parameter_gat_attend_0_param_0_3[Q][V]; EACH_Q load<V>(parameter_gat_attend_0_param_0_3[q], b_parameter_gat_attend_0_param_0 + c[q]);
  real multiply_153_4[Q][V]; EACH multiply_153_4[q][j] = slope_of_left_148_2[q] * parameter_gat_attend_0_param_0_3[q][j];
  real slope_of_z_154_5[Q][V]; EACH slope_of_z_154_5[q][j] = add_150_1[q][j] + multiply_153_4[q][j];
  real product_3_6[Q][V]; EACH_Q load<V>(product_3_6[q], b_product_3 + (offset_t)v * 16 + c[q]);
  real multiply_155_7[Q][V]; EACH multiply_155_7[q][j] = slope_of_left_148_2[q] * product_3_6[q][j];
  if (!writes) return;
  EACH_Q if (own[q]) store<V>(o_slope_20_of_20_z_154 + (offset_t)v * 16 + c[q], slope_of_z_154_5[q]);
  EACH_Q if (own[q]) store<V>(o_multiply_155 + (offset_t)v * 16 + c[q], multiply_155_7[q]);
}

// gradient.gat.attend.0.param.0: 19264 bytes at least
//   gradient.gat.attend.0.param.0 = sum rows(multiply.155)
// as k17_gradient_gat_attend_0_bias_0
// as k9_gradient_gat_attend_1_bias_0_parts

// gradient.gat.attend.0.linear.0.weight: 26784 bytes at least
//   gradient.gat.attend.0.linear.0.weight = outer(slope of z.154, dropout.1)
//   (on tensor cores: 32 x 8 columns a warp, 1 warps beside each other, 12 take turns of 8 rows; 5 turns asked for ahead)
extern "C" __global__ void __launch_bounds__(384, 1) k23_gradient_gat_attend_0_linear_0_weight(const real* __restrict__ b_slope_20_of_20_z_154, const real* __restrict__ b_dropout_1, real* __restrict__ scratch, const unsigned rows_given) {
  constexpr unsigned X = 16, Z = 6, XV = 4, ZV = 2, RV = 1, GROUPS = 1, TILES = 1, ACROSS = 1, TURNS = 12, AHEAD = 6;
  constexpr bool X_FIRST = true;
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
        copy_later<16>(to, b_slope_20_of_20_z_154 + (here ? (offset_t)row * 16 + column : 0), here);
      }
      constexpr unsigned PIECES = Z_TILE * 8 / ZV;
      UNROLL for (int i = 0; i < (PIECES + 31) / 32; i++) {
        const unsigned place = i * 32 + lane, r = place / (Z_TILE / ZV), within = place % (Z_TILE / ZV) * ZV, row = coming + r, column = z0 + within;
        if (PIECES % 32 != 0 && place >= PIECES) continue;
        float* const to = stage + GROUPS * 256 + r * Z_TILE + (within / 4 ^ twist(r)) * 4 + within % 4;
        const bool here = row < end && column < Z;
        copy_later<8>(to, b_dropout_1 + (here ? (offset_t)row * 6 + column : 0), here);
      }
      coming += 8 * TURNS;
    }
    copies_asked();
  };
  UNROLL for (int d = 0; d < AHEAD - 1; d++) request(d);
  float sums[GROUPS][2][TILES][4] = {};
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
    UNROLL for (int i = 0; i < GROUPS; i++) {
      const float4* const from = reinterpret_cast<const float4*>(stage + i * 256) + part * 8 + (group ^ part * 2);
      multiply_turned<TILES>(sums[i], from[0], from[32], right);
    }
    slot = slot + 1 == AHEAD ? 0 : slot + 1;
  }
  copies_done<0>();
  __syncthreads();
  float* const total = reinterpret_cast<float*>(of_block);
  for (unsigned t = 0; t < TURNS; t++) {
    if (turn == t) UNROLL for (int i = 0; i < GROUPS; i++) UNROLL for (int m = 0; m < 2; m++) UNROLL for (int n = 0; n < TILES; n++) UNROLL for (int j = 0; j < 4; j++) {
      const unsigned x = (beside * GROUPS + i) * 32 + group * 4 + m * 2 + j / 2, z = (part * 2 + j % 2) * TILES + n;
      float& sum = total[X_FIRST ? x * Z_TILE + z : z * X_TILE + x];
      sum = t > 0 ? sum + sums[i][m][n][j] : sums[i][m][n][j];
    }
    __syncthreads();
  }
  for (unsigned i = threadIdx.x; i < X_TILE * Z_TILE; i += ACROSS * TURNS * 32) {
    const unsigned x = x0 + (X_FIRST ? i / Z_TILE : i % X_TILE), z = z0 + (X_FIRST ? i % Z_TILE : i / X_TILE);
    if (x < X && z < Z) scratch[(offset_t)blockIdx.x * (X * Z) + (X_FIRST ? x * Z + z : z * X + x)] = total[i];
  }
}
// as k16_gradient_gat_attend_1_linear_0_weight_parts

// update.gat.attend.0.linear.0.weight: 2688 bytes at least
//   parameter.gat.attend.0.linear.0.weight = step(parameter.gat.attend.0.linear.0.weight, gradient.gat.attend.0.linear.0.weight)
extern "C" __global__ void __launch_bounds__(256, 1) k24_update_gat_attend_0_linear_0_weight(real* parameter_0, const real* __restrict__ gradient_0, real* first_0, real* second_0, const double* __restrict__ settings_0, real* parameter_1, const real* __restrict__ gradient_1, real* first_1, real* second_1, const double* __restrict__ settings_1, real* parameter_2, const real* __restrict__ gradient_2, real* first_2, real* second_2, const double* __restrict__ settings_2, real* parameter_3, const real* __restrict__ gradient_3, real* first_3, real* second_3, const double* __restrict__ settings_3, real* parameter_4, const real* __restrict__ gradient_4, real* first_4, real* second_4, const double* __restrict__ settings_4, real* parameter_5, const real* __restrict__ gradient_5, real* first_5, real* second_5, const double* __restrict__ settings_5, real* parameter_6, const real* __restrict__ gradient_6, real* first_6, real* second_6, const double* __restrict__ settings_6, real* parameter_7, const real* __restrict__ gradient_7, real* first_7, real* second_7, const double* __restrict__ settings_7, const Clock* __restrict__ clock) {
  real* const parameter = blockIdx.x < 1u ? parameter_0 : blockIdx.x < 2u ? parameter_1 : blockIdx.x < 3u ? parameter_2 : blockIdx.x < 4u ? parameter_3 : blockIdx.x < 5u ? parameter_4 : blockIdx.x < 6u ? parameter_5 : blockIdx.x < 7u ? parameter_6 : parameter_7;
  const real* const gradient = blockIdx.x < 1u ? gradient_0 : blockIdx.x < 2u ? gradient_1 : blockIdx.x < 3u ? gradient_2 : blockIdx.x < 4u ? gradient_3 : blockIdx.x < 5u ? gradient_4 : blockIdx.x < 6u ? gradient_5 : blockIdx.x < 7u ? gradient_6 : gradient_7;
  real* const first = blockIdx.x < 1u ? first_0 : blockIdx.x < 2u ? first_1 : blockIdx.x < 3u ? first_2 : blockIdx.x < 4u ? first_3 : blockIdx.x < 5u ? first_4 : blockIdx.x < 6u ? first_5 : blockIdx.x < 7u ? first_6 : first_7;
  real* const second = blockIdx.x < 1u ? second_0 : blockIdx.x < 2u ? second_1 : blockIdx.x < 3u ? second_2 : blockIdx.x < 4u ? second_3 : blockIdx.x < 5u ? second_4 : blockIdx.x < 6u ? second_5 : blockIdx.x < 7u ? second_6 : second_7;
  const double* const settings = blockIdx.x < 1u ? settings_0 : blockIdx.x < 2u ? settings_1 : blockIdx.x < 3u ? settings_2 : blockIdx.x < 4u ? settings_3 : blockIdx.x < 5u ? settings_4 : blockIdx.x < 6u ? settings_5 : blockIdx.x < 7u ? settings_6 : settings_7;
  const unsigned i = (blockIdx.x - (blockIdx.x < 1u ? 0u : blockIdx.x < 2u ? 1u : blockIdx.x < 3u ? 2u : blockIdx.x < 4u ? 3u : blockIdx.x < 5u ? 4u : blockIdx.x < 6u ? 5u : blockIdx.x < 7u ? 6u : 7u)) * blockDim.x + threadIdx.x, elements = blockIdx.x < 1u ? 96u : blockIdx.x < 2u ? 16u : blockIdx.x < 3u ? 16u : blockIdx.x < 4u ? 16u : blockIdx.x < 5u ? 48u : blockIdx.x < 6u ? 3u : blockIdx.x < 7u ? 3u : 3u;
  if (i >= elements || clock->halted) return;
  const int rule = (int)settings[0];
  const double rate = settings[1] * clock->pace, decay = settings[5];
  const unsigned step = clock->step;
  real p = parameter[i], slope = gradient[i];
  if (rule == 0) {
    parameter[i] = p - (real)rate * (slope + (real)decay * p);
  } else if (rule == 1) {
    const real kept = (real)settings[2] * first[i] + (slope + (real)decay * p);
    first[i] = kept;
    parameter[i] = p - (real)rate * kept;
  } else {
    const double first_beta = settings[2], second_beta = settings[3];
    if (rule == 2) slope = slope + (real)decay * p;
    const real one = (real)first_beta * first[i] + (real)(1 - first_beta) * slope, two = (real)second_beta * second[i] + (real)(1 - second_beta) * (slope * slope);
    first[i] = one;
    second[i] = two;
    const real going = one / (root(two) / (real)sqrt(1 - to_the(second_beta, step)) + (real)settings[4]);
    parameter[i] = p * (rule == 3 ? (real)(1 - rate * decay) : (real)1) - (real)(rate / (1 - to_the(first_beta, step))) * going;
  }
}

// update.gat.attend.0.param.0: 448 bytes at least
//   parameter.gat.attend.0.param.0 = step(parameter.gat.attend.0.param.0, gradient.gat.attend.0.param.0)
// with that of gat.attend.0.linear.0.weight

// update.gat.attend.0.param.1: 448 bytes at least
//   parameter.gat.attend.0.param.1 = step(parameter.gat.attend.0.param.1, gradient.gat.attend.0.param.1)
// with that of gat.attend.0.linear.0.weight

// update.gat.attend.0.bias.0: 448 bytes at least
//   parameter.gat.attend.0.bias.0 = step(parameter.gat.attend.0.bias.0, gradient.gat.attend.0.bias.0)
// with that of gat.attend.0.linear.0.weight

// update.gat.attend.1.linear.0.weight: 1344 bytes at least
//   parameter.gat.attend.1.linear.0.weight = step(parameter.gat.attend.1.linear.0.weight, gradient.gat.attend.1.linear.0.weight)
// with that of gat.attend.0.linear.0.weight

// update.gat.attend.1.param.0: 84 bytes at least
//   parameter.gat.attend.1.param.0 = step(parameter.gat.attend.1.param.0, gradient.gat.attend.1.param.0)
// with that of gat.attend.0.linear.0.weight

// update.gat.attend.1.param.1: 84 bytes at least
//   parameter.gat.attend.1.param.1 = step(parameter.gat.attend.1.param.1, gradient.gat.attend.1.param.1)
// with that of gat.attend.0.linear.0.weight

// update.gat.attend.1.bias.0: 84 bytes at least
//   parameter.gat.attend.1.bias.0 = step(parameter.gat.attend.1.bias.0, gradient.gat.attend.1.bias.0)
// with that of gat.attend.0.linear.0.weight

// A measurement is written down, and the clock turned to the next epoch.
extern "C" __global__ void note(unsigned char* __restrict__ ring, const double* __restrict__ exact, const unsigned* __restrict__ counts, const Clock* __restrict__ clock, const unsigned counted, const unsigned bytes, const unsigned slots) {
  unsigned char* const slot = ring + (offset_t)(clock->epoch % slots) * bytes;
  if (threadIdx.x == 0) *reinterpret_cast<double*>(slot) = *exact;
  for (unsigned i = threadIdx.x; i < counted; i += blockDim.x) reinterpret_cast<unsigned*>(slot + 8)[i] = counts[i];
}
extern "C" __global__ void tick(Clock* __restrict__ clock, const double* __restrict__ paces, const unsigned slots) {
  const unsigned next = clock->epoch + 1;
  clock->epoch = next;
  clock->step = next + 1;
  clock->pace = paces[next % slots];
}
