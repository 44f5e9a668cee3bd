// scale.5: 7204 bytes at least, lines 3, 4 of the program
//   reduce.1 (nodes x 1) = reduce sum.in(given.weight)
//   less.3 (nodes x 1) = less(0.0, reduce.1)
//   rsqrt.4 (nodes x 1) = rsqrt(reduce.1)
//   scale.5 = select(less.3, rsqrt.4, 0.0)
//   (1 lanes of 1 columns a row, 32 rows a warp, 4 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
//   (text: cuda/src/row_walk.rs, emit_edge_kernel)
extern "C" __global__ void __launch_bounds__(256, ON_HOPPER(3)) k0_scale_5(const real* __restrict__ slots_given_weight, real* __restrict__ o_scale_5, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned hub_items, const unsigned pieces, double* __restrict__ parts_of_hubs, unsigned* ticket, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
  constexpr unsigned C = 1, V = 1, L = 1, Q = 1, PER_WARP = 32 / L, WARPS = 256 / 32, GROUPS = WARPS * PER_WARP;
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
  real reduce_1_1; reduce_1_1 = 0;
  {
    unsigned at = from;
    real held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * step; held_0[i] = p < stop ? __ldcs(slots_given_weight + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      real next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + (CHUNK + i) * step; next_0[i] = p < stop ? __ldcs(slots_given_weight + p) : 0; }
      UNROLL_4 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + (s) * step < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + (s + k) * step < stop;
        real stream_0[B]; UNROLL for (int k = 0; k < B; k++) stream_0[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          if (here) reduce_1_1 = reduce_1_1 + stream_0[k];
        }
      }
      UNROLL for (int i = 0; i < J; i++) held_0[i] = next_0[i];
      at = min(stop, at + (CHUNK) * step);
    };
    while (__any_sync(FULL, at < stop)) { if (__all_sync(FULL, at + (CHUNK - 1) * step < stop)) edges(Yes()); else edges(No()); }
  }
  if (tier > 0) {
    __shared__ alignas(16) unsigned char told_1[WARPS * 8];
    UNROLL for (int apart = 1; apart < 32; apart *= 2) { const real own_part = reduce_1_1; reduce_1_1 = reduce_1_1 + from_lane(own_part, lane ^ apart); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { told[(warp * L + part) * 1 + 0] = reduce_1_1; }
      __syncthreads();
      { reduce_1_1 = told[(0 * L + part) * 1 + 0]; for (int w = 1; w < WARPS; w++) reduce_1_1 = reduce_1_1 + told[(w * L + part) * 1 + 0]; }
      __syncthreads();
    }
  }
  if (tier == 3) {
    constexpr unsigned SLOTS = 1;
    const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
    double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
    if (writes) {
      double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
      tell(of_piece + (0 + 0) * L, reduce_1_1);
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
      reduce_1_1 = heard<real>(of_piece + (0 + 0) * L);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        reduce_1_1 = reduce_1_1 + heard<real>(of_piece + (0 + 0) * L);
      }
    }
  }
  bool less_3_2; less_3_2 = ((real)0.0) < reduce_1_1;
  real rsqrt_4_3; rsqrt_4_3 = (real)1 / root(reduce_1_1);
  real scale_5_4; scale_5_4 = less_3_2 ? rsqrt_4_3 : ((real)0.0);
  if (!writes) return;
  EACH if (own[q]) o_scale_5[v + 0] = scale_5_4;
}

// multiply.13: 32404 bytes at least, line 7 of the program
//   multiply.8 (edges x 1) = multiply(given.weight, scale.5[far.in])
//   reduce.11 (nodes x 6) = reduce sum.in(multiply.8 * x[far.in])
//   h.12 (nodes x 6) = multiply(scale.5, reduce.11)
//   multiply.13 = multiply(scale.5, h.12)
//   (2 lanes of 4 columns a row, 16 rows a warp, 8 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
//   (text: cuda/src/row_walk.rs, emit_edge_kernel)
extern "C" __global__ void __launch_bounds__(256, 2) k1_multiply_13(const real* __restrict__ slots_given_weight, const real* __restrict__ b_scale_5, const real* __restrict__ b_x, real* __restrict__ o_multiply_13, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned hub_items, const unsigned pieces, double* __restrict__ parts_of_hubs, unsigned* ticket, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
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
  real reduce_11_2[Q][V]; EACH reduce_11_2[q][j] = 0;
  {
    unsigned at = from;
    real held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_0[i] = p < stop ? __ldcs(slots_given_weight + p) : 0; }
    unsigned held_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_1[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      real next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_0[i] = p < stop ? __ldcs(slots_given_weight + p) : 0; }
      unsigned next_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_1[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      UNROLL_1 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + s < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + s + k < stop;
        real stream_0[B]; UNROLL for (int k = 0; k < B; k++) stream_0[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_1[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        real scale_5_5[B];
        UNROLL for (int k = 0; k < B; k++) { scale_5_5[k] = __ldg(b_scale_5 + u[k] + 0); }
        real x_7[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) { EACH_Q load<V>(x_7[k][q], b_x + c[q] + (offset_t)u[k] * 8); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real multiply_8_6; multiply_8_6 = stream_0[k] * scale_5_5[k];
          real product_8[Q][V]; EACH product_8[q][j] = multiply_8_6 * x_7[k][q][j];
          EACH if (here) reduce_11_2[q][j] = reduce_11_2[q][j] + product_8[q][j];
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
    EACH { const real own_part = reduce_11_2[q][j]; reduce_11_2[q][j] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_11_2[q][j] = reduce_11_2[q][j] + from_lane(own_part, g * L + part); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = reduce_11_2[q][j]; }
      __syncthreads();
      EACH { reduce_11_2[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) reduce_11_2[q][j] = reduce_11_2[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
  }
  if (tier == 3) {
    constexpr unsigned SLOTS = 4;
    const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
    double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
    if (writes) {
      double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
      EACH tell(of_piece + (0 + q * V + j) * L, reduce_11_2[q][j]);
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
      EACH reduce_11_2[q][j] = heard<real>(of_piece + (0 + q * V + j) * L);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        EACH reduce_11_2[q][j] = reduce_11_2[q][j] + heard<real>(of_piece + (0 + q * V + j) * L);
      }
    }
  }
  real scale_5_1; scale_5_1 = __ldg(b_scale_5 + v + 0);
  real h_12_3[Q][V]; EACH h_12_3[q][j] = scale_5_1 * reduce_11_2[q][j];
  real multiply_13_4[Q][V]; EACH multiply_13_4[q][j] = scale_5_1 * h_12_3[q][j];
  if (!writes) return;
  EACH_Q if (own[q]) store<V>(o_multiply_13 + (offset_t)v * 8 + c[q], multiply_13_4[q]);
}

// h.17: 31204 bytes at least, line 7 of the program
//   reduce.16 (nodes x 6) = reduce sum.in(given.weight * multiply.13[far.in])
//   h.17 = multiply(scale.5, reduce.16)
//   (2 lanes of 4 columns a row, 16 rows a warp, 8 edges in flight; a warp or a block for rows with many edges, up to 512 blocks for all heavy rows)
//   (text: cuda/src/row_walk.rs, emit_edge_kernel)
extern "C" __global__ void __launch_bounds__(256, 2) k2_h_17(const real* __restrict__ slots_given_weight, const real* __restrict__ b_multiply_13, const real* __restrict__ b_scale_5, real* __restrict__ o_h_17, const unsigned* __restrict__ item_row, const unsigned* __restrict__ item_offset, const unsigned* __restrict__ slot_far, const unsigned hub_items, const unsigned pieces, double* __restrict__ parts_of_hubs, unsigned* ticket, const unsigned block_items, const unsigned warp_items, const unsigned items, const unsigned rows) {
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
  real reduce_16_2[Q][V]; EACH reduce_16_2[q][j] = 0;
  {
    const real* place_4 = b_multiply_13 + c[0]; keep(place_4);
    unsigned at = from;
    real held_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_0[i] = p < stop ? __ldcs(slots_given_weight + p) : 0; }
    unsigned held_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = from + i * L + part; held_1[i] = p < stop ? __ldcs(slot_far + p) : 0; }
    auto edges = [&](auto all) {
      constexpr bool ALL = decltype(all)::value;
      real next_0[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_0[i] = p < stop ? __ldcs(slots_given_weight + p) : 0; }
      unsigned next_1[J]; UNROLL for (int i = 0; i < J; i++) { const unsigned p = at + CHUNK + i * L + part; next_1[i] = p < stop ? __ldcs(slot_far + p) : 0; }
      UNROLL_4 for (int s = 0; s < CHUNK; s += B) {
        if (!ALL && s > 0 && !__any_sync(FULL, at + s < stop)) break;
        bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + s + k < stop;
        real stream_0[B]; UNROLL for (int k = 0; k < B; k++) stream_0[k] = __shfl_sync(FULL, held_0[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        unsigned u[B]; UNROLL for (int k = 0; k < B; k++) u[k] = __shfl_sync(FULL, held_1[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L);
        real multiply_13_5[B][Q][V];
        UNROLL for (int k = 0; k < B; k++) if (ALL || here_[k]) { EACH_Q load<V>(multiply_13_5[k][q], place_4 + (offset_t)u[k] * 8); }
        UNROLL for (int k = 0; k < B; k++) {
          const bool here = ALL || here_[k];
          real product_6[Q][V]; EACH product_6[q][j] = stream_0[k] * multiply_13_5[k][q][j];
          EACH if (here) reduce_16_2[q][j] = reduce_16_2[q][j] + product_6[q][j];
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
    EACH { const real own_part = reduce_16_2[q][j]; reduce_16_2[q][j] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) reduce_16_2[q][j] = reduce_16_2[q][j] + from_lane(own_part, g * L + part); }
    if (tier >= 2) {
      real* told = reinterpret_cast<real*>(told_1);
      if (group == 0) { EACH told[(warp * L + part) * 4 + q * V + j] = reduce_16_2[q][j]; }
      __syncthreads();
      EACH { reduce_16_2[q][j] = told[(0 * L + part) * 4 + q * V + j]; for (int w = 1; w < WARPS; w++) reduce_16_2[q][j] = reduce_16_2[q][j] + told[(w * L + part) * 4 + q * V + j]; }
      __syncthreads();
    }
  }
  if (tier == 3) {
    constexpr unsigned SLOTS = 4;
    const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
    double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
    if (writes) {
      double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
      EACH tell(of_piece + (0 + q * V + j) * L, reduce_16_2[q][j]);
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
      EACH reduce_16_2[q][j] = heard<real>(of_piece + (0 + q * V + j) * L);
      UNROLL_4 for (unsigned p = 1; p < pieces; p++) {
        of_piece += SLOTS * L;
        EACH reduce_16_2[q][j] = reduce_16_2[q][j] + heard<real>(of_piece + (0 + q * V + j) * L);
      }
    }
  }
  real scale_5_1; scale_5_1 = __ldg(b_scale_5 + v + 0);
  real h_17_3[Q][V]; EACH h_17_3[q][j] = scale_5_1 * reduce_16_2[q][j];
  if (!writes) return;
  EACH_Q if (own[q]) store<V>(o_h_17 + (offset_t)v * 8 + c[q], h_17_3[q]);
}

// add.21: 14484 bytes at least, line 8 of the program
//   product.19 (nodes x 3) = product transposed(h.17, parameter.sgc.sgc.0.linear.0.weight)
//   add.21 = add(product.19, parameter.sgc.sgc.0.linear.0.bias)
//   (1 rows of 4 columns a thread, 1 threads along a row)
//   (text: cuda/src/plain_products.rs, decide_product)
extern "C" __global__ void __launch_bounds__(256, 2) k3_add_21(const real* __restrict__ b_parameter_sgc_sgc_0_linear_0_weight, const real* __restrict__ b_h_17, const real* __restrict__ b_parameter_sgc_sgc_0_linear_0_bias, real* __restrict__ o_add_21, const unsigned rows_given) {
  after_others();
  constexpr unsigned K = 6, C = 4, WIDE = 3, L = 1, Q = 1, TM = 1, RT = 256 / L, BM = TM * RT, BK = 8, KV = 4, blockThreads = 256;
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
      real h_17_1[Q][V]; EACH_Q load<V>(h_17_1[q], b_h_17 + (offset_t)v * 8 + c[q]);
      EACH piece[p][j] = here && c[q] + j < K ? h_17_1[q][j] : (real)0;
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
      right[k][m] = k0 + k < K && slice + m < WIDE ? __ldg(b_parameter_sgc_sgc_0_linear_0_weight + (offset_t)(slice + m) * 6 + k0 + k) : (real)0;
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
    real parameter_sgc_sgc_0_linear_0_bias_1[Q][V]; EACH_Q load<V>(parameter_sgc_sgc_0_linear_0_bias_1[q], b_parameter_sgc_sgc_0_linear_0_bias + c[q]);
    real add_21_2[Q][V]; EACH add_21_2[q][j] = made[q][j] + parameter_sgc_sgc_0_linear_0_bias_1[q][j];
    EACH_Q if (own[q]) store<V>(o_add_21 + (offset_t)v * 4 + c[q], add_21_2[q]);
  }
}

// loss: 10804 bytes at least
//   slope.result, loss = gradient and value of cross_entropy(add.21, target)
//   (text: cuda/src/loss.rs, decide_loss)
extern "C" __global__ void __launch_bounds__(256, ON_HOPPER(4)) k4_loss(const real* __restrict__ result, const real* __restrict__ target, real* __restrict__ gradient, const unsigned char* __restrict__ split, const double* __restrict__ terms, double* __restrict__ scratch_given, unsigned* __restrict__ counts, const unsigned rows, real* __restrict__ value, double* __restrict__ exact, unsigned char* __restrict__ ring, Clock* __restrict__ clock, unsigned* ticket) {
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

// gradient.sgc.sgc.0.linear.0.bias: 4812 bytes at least, line 8 of the program
//   gradient.sgc.sgc.0.linear.0.bias = sum rows(slope.result)
// merged into the kernel of gradient.sgc.sgc.0.linear.0.weight

// gradient.sgc.sgc.0.linear.0.weight: 14472 bytes at least, line 8 of the program
//   gradient.sgc.sgc.0.linear.0.weight = outer(slope.result, h.17)
//   (on tensor cores: 32 x 8 columns a warp, 1 of them across the columns, 12 along the rows, 8 rows at a time; 5 steps in flight)
//   (text: cuda/src/outer_products.rs, emit_tiled_outer)
extern "C" __global__ void __launch_bounds__(384, 1) k6_gradient_sgc_sgc_0_linear_0_weight(const real* __restrict__ b_slope_result, const real* __restrict__ b_h_17, real* __restrict__ scratch, const unsigned rows_given, unsigned* ticket, real* __restrict__ out_0, const unsigned elements_0, real* __restrict__ out_1, const unsigned elements_1) {
  after_others();
  constexpr unsigned X = 6, Z = 3, XV = 4, ZV = 4, RV = 1, GROUPS = 1, TILES = 1, ACROSS = 1, TURNS = 12, AHEAD = 6;
  constexpr unsigned PRODUCTS = 18;
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
  for (unsigned element = threadIdx.x; element < 21u; element += blockDim.x) {
    real sum = 0;
    for (unsigned first = 0; first < parts; first += 16) {
      real several[16];
      UNROLL for (int i = 0; i < 16; i++) several[i] = first + i < parts ? __ldcg(scratch + (offset_t)(first + i) * 21u + element) : (real)0;
      UNROLL for (int i = 0; i < 16; i++) sum += several[i];
    }
    unsigned place = element;
    if (place < elements_0) { out_0[place] = sum; continue; }
    place -= elements_0;
    out_1[place] = sum;
  }
}

// update.sgc.sgc.0.linear.0.weight: 504 bytes at least
//   parameter.sgc.sgc.0.linear.0.weight = step(parameter.sgc.sgc.0.linear.0.weight, gradient.sgc.sgc.0.linear.0.weight)
//   (text: cuda/src/epoch_clock.rs, decide_optimizer)
extern "C" __global__ void __launch_bounds__(256, 1) k7_update_sgc_sgc_0_linear_0_weight(real* parameter_0, const real* __restrict__ gradient_0, real* first_0, real* second_0, const double* __restrict__ settings_0, real* parameter_1, const real* __restrict__ gradient_1, real* first_1, real* second_1, const double* __restrict__ settings_1, const Clock* __restrict__ clock) {
  real* const parameter = blockIdx.x < 1u ? parameter_0 : parameter_1;
  const real* const gradient = blockIdx.x < 1u ? gradient_0 : gradient_1;
  real* const first = blockIdx.x < 1u ? first_0 : first_1;
  real* const second = blockIdx.x < 1u ? second_0 : second_1;
  const double* const settings = blockIdx.x < 1u ? settings_0 : settings_1;
  const unsigned i = (blockIdx.x - (blockIdx.x < 1u ? 0u : 1u)) * blockDim.x + threadIdx.x, elements = blockIdx.x < 1u ? 18u : 3u;
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

// update.sgc.sgc.0.linear.0.bias: 84 bytes at least
//   parameter.sgc.sgc.0.linear.0.bias = step(parameter.sgc.sgc.0.linear.0.bias, gradient.sgc.sgc.0.linear.0.bias)
// merged into the kernel of sgc.sgc.0.linear.0.weight

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
extern "C" __global__ void watch_0(Watch* __restrict__ watches, Clock* clock, const unsigned* __restrict__ counts, const unsigned tells, const real* __restrict__ from_0, real* __restrict__ to_0, const real* __restrict__ from_1, real* __restrict__ to_1) {
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
  for (unsigned i = first; i < 18u; i += all) to_0[i] = from_0[i];
  for (unsigned i = first; i < 3u; i += all) to_1[i] = from_1[i];
}
