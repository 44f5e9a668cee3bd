//! warpgroup_products: products and outer products by warpgroups (wgmma), on devices of compute
//! capability 9.0.
//!
//! promises  results keep the accuracy of single warps: sums leave the tensor cores every 16
//!           elements of K; a warp's rows have the same layout in its lanes as without warpgroups,
//!           so the epilogue is the same text
//! never     is emitted for another device (`GpuTarget::warpgroups`)
//!
//! The gain, and what the compiler requires, are in the record `2026-11-25-kernel-laboratory`,
//! section 4.
use std::ops::RangeInclusive;

use warploom_tuning as tuning;

/// Device functions of these kernels, in addition to the common ones.
pub(super) const PRELUDE: &str = include_str!("warpgroup.cuh");
/// Rows that a warpgroup multiplies at once.
pub(super) const ROWS: usize = 64;
/// Warps per block: three warpgroups have registers for eight tiles of sums twice, four do not.
pub(super) const WARPS: usize = 12;
/// Maximum warpgroups of a block that computes outer products: each thread has 128 registers then.
pub(super) const OUTER_GROUPS: usize = 4;
/// Elements from one row of 64 to the next in shared memory; avoids bank conflicts (`PITCH` below).
const OUTER_PITCH: usize = 72;

/// Column tiles for which warpgroups pay.
pub(super) fn tiles() -> RangeInclusive<usize> {
    tuning::warpgroup_tiles_least()..=tuning::warpgroup_tiles_most()
}

/// The same for products with unsliced rows: a few more. With split K fewer pay, too.
pub(super) fn row_tiles() -> RangeInclusive<usize> {
    tuning::warpgroup_row_tiles_least()..=tuning::warpgroup_row_tiles_most()
}

/// The same for the wider side of an outer product with exchanged sides, where one warpgroup has
/// the narrower one.
pub(super) fn turned_tiles() -> RangeInclusive<usize> {
    tuning::turned_tiles_least()..=tuning::turned_tiles_most()
}

/// Shared memory in bytes of a block with this many warpgroups across the columns and along the
/// rows, of this many tiles of 8 columns, with this many narrow elements per row.
pub(super) fn outer_bytes(
    across: usize,
    along: usize,
    tiles: usize,
    narrow: usize,
    ahead: usize,
) -> usize {
    let (wide, parts) = (8 * tiles, 2);
    let of_turn = ahead * 16 * (across * OUTER_PITCH + wide + narrow) + 2 * 16 * wide * parts;
    along * of_turn.max(across * (64 * wide + 64) + 4 * wide) * 4
}

/// The text of rows times a matrix with `at_once` K steps in shared memory at a time. With split K
/// a block has no others.
pub(super) fn emit_row_product(
    at_once: usize,
    steps: usize,
    shares: usize,
    tiles: usize,
) -> String {
    let (taken_up, put_by) = if shares > 1 {
        ("", SHARED)
    } else if at_once < steps {
        (TAKEN_UP, PUT_BY)
    } else {
        ("", "")
    };
    let (first, end) =
        if shares > 1 { ("blockIdx.z * AT_ONCE", "first_slab + 1") } else { ("0", "STEPS") };
    let text = OF_ROWS
        .replace("@FIRST_SLAB@", first)
        .replace("@END@", end)
        .replace("@TAKEN_UP@", taken_up)
        .replace("@PUT_BY@", put_by)
        .replace("@MULTIPLY@", if tiles <= tuning::warpgroup_tiles_most() { BOTH } else { ONE })
        .replace("@LAY@", &emit_matrix_layout("right", "steps * 2", "(slab * 2 + half)"));
    let constants = if shares > 1 {
        format!(
            ", SHARES = {shares}, AT_A_TIME = {}",
            if tiles > tuning::split_k_tiles() { 2 } else { 4 }
        )
    } else {
        String::new()
    };
    format!("constexpr unsigned AT_ONCE = {at_once}{constants};\n{text}")
}

/// Statements that copy this many half steps of a matrix to `to`; `half` is the expression of the
/// first one.
fn emit_matrix_layout(to: &str, halves: &str, half: &str) -> String {
    LAY.replace("@TO@", to).replace("@HALVES@", halves).replace("@HALF_OF_ALL@", half)
}

/// Statements that copy the matrix of a consumer to shared memory, and statements that multiply the
/// rows that each warp has just stored there with it.
pub(super) fn emit_consumer() -> (String, String) {
    let half = "constexpr unsigned HALF = 128 * TILES * PARTS;\nfloat* const right_of_next = \
        reinterpret_cast<float*>(of_next);\n";
    (
        format!("{half}{}", emit_matrix_layout("right_of_next", "NEXT_STEPS * 2", "half")),
        format!("{half}{NEXT}"),
    )
}

/// Rows times a matrix, of which as many K steps are in shared memory as fit. If those are not all,
/// rows pass through one slab after the other and their sums wait in memory, or each block has one
/// slab (split K). Each warp loads its own rows, 16 of the warpgroup's 64, including those for the
/// next slab.
const OF_ROWS: &str = "extern __shared__ float4 of_block[];
constexpr unsigned HALF = 128 * TILES * PARTS;
float* const right = reinterpret_cast<float*>(of_block);
// The shuffle tells the compiler that the value is uniform in the warp; otherwise it serialises the
// products.
const unsigned lane = threadIdx.x % 32, warp = from_lane(threadIdx.x / 32, 0), group = lane / L, part = lane % L, slice = blockIdx.y * (8 * TILES);
float* const queue = right + AT_ONCE * 2 * HALF + warp * (AHEAD * 512);
const unsigned turns = (rows + 63) / 64, stride = gridDim.x * (WARPS / 4), first_turn = blockIdx.x + gridDim.x * (warp / 4);
const unsigned first_slab = @FIRST_SLAB@;
unsigned coming = first_turn, coming_step = first_slab, coming_slab = first_slab, slot = 0;
auto request = [&](const unsigned at) {
if (coming < turns) {
float* const of_rows = queue + at * 512;
const unsigned first_row = coming * 64 + warp % 4 * 16;
@REQUEST@if (++coming_step == min(STEPS, coming_slab + AT_ONCE)) {
coming += stride;
if (AT_ONCE < STEPS && coming >= turns && coming_slab + AT_ONCE < @END@) { coming = first_turn; coming_slab += AT_ONCE; }
coming_step = coming_slab;
}
}
copies_asked();
};
UNROLL for (int d = 0; d < AHEAD; d++) request(d);
@LAID@UNROLL_1 for (unsigned slab = first_slab; slab < @END@; slab += AT_ONCE) {
const unsigned steps = min(AT_ONCE, STEPS - slab);
if (slab > first_slab) __syncthreads();
@LAY@group_sees_shared();
__syncthreads();
for (unsigned turn = first_turn; turn < turns; turn += stride) {
const unsigned tile = turn * 4 + warp % 4;
float sums[TILES][4] = {};
@TAKEN_UP@UNROLL_1 for (unsigned step = 0; step < steps; step++) {
copies_done<AHEAD - 1>();
__syncwarp();
float first[2][2][4], rest[2][2][4];
UNROLL for (int h = 0; h < 2; h++) {
const float4* const from = reinterpret_cast<const float4*>(queue + slot * 512) + group * 8 + (h * 4 + part ^ group % 2 * 4);
const float4 upper = from[0], lower = from[64];
const float all[2][4] = {{upper.x, lower.x, upper.y, lower.y}, {upper.z, lower.z, upper.w, lower.w}};
UNROLL for (int i = 0; i < 2; i++) UNROLL for (int j = 0; j < 4; j++) { first[h][i][j] = first_bits(all[i][j]); rest[h][i][j] = all[i][j] - first[h][i][j]; }
}
__syncwarp();
request(slot);
slot = slot + 1 == AHEAD ? 0 : slot + 1;
@MULTIPLY@}
@PUT_BY@@FINISH@}
}
";

/// A K step of rows times one of the matrix, both halves in flight at once.
const BOTH: &str = "float of_half[2][TILES][4];
group_begins();
UNROLL for (int h = 0; h < 2; h++) {
multiply_group<TILES, PARTS>(of_half[h], first[h], rest[h], right + (step * 2 + h) * HALF);
group_asked();
}
group_done<1>();
UNROLL for (int n = 0; n < TILES; n++) UNROLL for (int j = 0; j < 4; j++) sums[n][j] += of_half[0][n][j];
group_done<0>();
UNROLL for (int n = 0; n < TILES; n++) UNROLL for (int j = 0; j < 4; j++) sums[n][j] += of_half[1][n][j];
";
/// The same with half as many registers for sums.
const ONE: &str = "UNROLL for (int h = 0; h < 2; h++) {
float of_half[TILES][4];
group_begins();
multiply_group<TILES, PARTS>(of_half, first[h], rest[h], right + (step * 2 + h) * HALF);
group_asked();
group_done<0>();
UNROLL for (int n = 0; n < TILES; n++) UNROLL for (int j = 0; j < 4; j++) sums[n][j] += of_half[n][j];
}
";

/// Copies a matrix, in its parts, as core matrices of 8 columns by 4 along K.
const LAY: &str = "UNROLL_4 for (unsigned place = threadIdx.x; place < @HALVES@ * TILES * 32; place += WARPS * 32) {
const unsigned n = place % 32 / 4, i = place / 32 % TILES, column = slice + (@COLUMN@), half = place / 32 / TILES, t = place % 4;
UNROLL for (int j = 0; j < 4; j++) {
const unsigned k = @HALF_OF_ALL@ * 16 + t * 4 + j;
const float b = @RIGHT@, first = first_bits(b);
float* const to = @TO@ + half * HALF + ((j / 2 * PARTS * 2 + j % 2) * TILES * 8 + i * 8 + n) * 4 + t;
to[0] = first;
if (PARTS == 2) to[2 * TILES * 32] = b - first;
}
}
";

/// Multiplies the rows that the warps of a warpgroup just computed, each its own, with another
/// matrix: half a step at a time, since the epilogue takes registers as well.
const NEXT: &str = "float sums[TILES][4] = {};
UNROLL_1 for (unsigned half = 0; half < (K + 15) / 16; half++) {
const float4* const from = reinterpret_cast<const float4*>(next + half / 2 * 512) + group * 8 + (half % 2 * 4 + part ^ group % 2 * 4);
const float4 upper = from[0], lower = from[64];
const float all[2][4] = {{upper.x, lower.x, upper.y, lower.y}, {upper.z, lower.z, upper.w, lower.w}};
float first[2][4], rest[2][4], of_half[TILES][4];
UNROLL for (int i = 0; i < 2; i++) UNROLL for (int j = 0; j < 4; j++) { first[i][j] = first_bits(all[i][j]); rest[i][j] = all[i][j] - first[i][j]; }
group_begins();
multiply_group<TILES, PARTS>(of_half, first, rest, right_of_next + half * HALF);
group_asked();
group_done<0>();
UNROLL for (int n = 0; n < TILES; n++) UNROLL for (int j = 0; j < 4; j++) sums[n][j] += of_half[n][j];
}
";

/// Loads the sums of the rows from earlier slabs, and stores them for the next: each lane its own.
const TAKEN_UP: &str = "float4* const so_far = reinterpret_cast<float4*>(scratch) + ((offset_t)blockIdx.y * turns * 4 + tile) * (TILES * 32) + lane;
if (slab > 0) UNROLL for (int n = 0; n < TILES; n++) {
const float4 four = so_far[n * 32];
sums[n][0] = four.x; sums[n][1] = four.y; sums[n][2] = four.z; sums[n][3] = four.w;
}
";
const PUT_BY: &str = "if (slab + AT_ONCE < STEPS) {
UNROLL for (int n = 0; n < TILES; n++) so_far[n * 32] = make_float4(sums[n][0], sums[n][1], sums[n][2], sums[n][3]);
continue;
}
";

/// Stores the sums of this share (split K). The warp that finishes its rows last adds the sums of
/// all shares, in order, and runs the epilogue.
const SHARED: &str = "float4* const of_tile = reinterpret_cast<float4*>(scratch) + ((offset_t)blockIdx.y * turns * 4 + tile) * (TILES * 32) + lane;
const offset_t of_share = (offset_t)gridDim.y * turns * (4 * TILES * 32);
UNROLL for (int n = 0; n < TILES; n++) of_tile[blockIdx.z * of_share + n * 32] = make_float4(sums[n][0], sums[n][1], sums[n][2], sums[n][3]);
__syncwarp();
__threadfence();
unsigned* const own_ticket = ticket + blockIdx.y * turns * 4 + tile;
if (from_lane(lane == 0 ? atomicAdd(own_ticket, 1u) : 0u, 0) + 1 < gridDim.z) continue;
if (lane == 0) *own_ticket = 0;
__threadfence();
__syncwarp();
UNROLL for (int n = 0; n < TILES; n++) UNROLL for (int j = 0; j < 4; j++) sums[n][j] = 0;
UNROLL_1 for (unsigned first = 0; first < SHARES; first += AT_A_TIME) {
float4 all[AT_A_TIME][TILES];
UNROLL for (int i = 0; i < AT_A_TIME; i++) UNROLL for (int n = 0; n < TILES; n++) all[i][n] = first + i < SHARES ? __ldcg(of_tile + (first + i) * of_share + n * 32) : make_float4(0, 0, 0, 0);
UNROLL for (int i = 0; i < AT_A_TIME; i++) UNROLL for (int n = 0; n < TILES; n++) { sums[n][0] += all[i][n].x; sums[n][1] += all[i][n].y; sums[n][2] += all[i][n].z; sums[n][3] += all[i][n].w; }
}
";

/// Rows of the other side that were copied.
pub(super) const COPIED: &str = "from[(four * 4 + t) * N + n]";
/// Rows of the other side that are computed here from narrow rows. The narrow rows come after the
/// rows that say where the result is not 0. A thread has the same column in all steps, so it keeps
/// that column of the matrices in registers.
pub(super) const MADE: &str = "from[(four * 4 + t) * N + n] > 0 ? of_four[t] : 0.0f";
pub(super) const MAKE: &str = "float of_four[4] = {};
const float* const narrow = from + 16 * N + four * 4 * NARROW;
UNROLL for (int k = 0; k < NARROW; k += 4) UNROLL for (int t = 0; t < 4; t++) {
const float4 row = *reinterpret_cast<const float4*>(narrow + t * NARROW + k);
of_four[t] += row.x * matrix[k] + row.y * matrix[k + 1] + row.z * matrix[k + 2] + row.w * matrix[k + 3];
}
";
/// Loads narrow rows, a vector at a time, after the elements of other products; the last vector is
/// padded with zeros.
pub(super) const NARROW_ROWS: &str = "UNROLL for (int i = 0; i < (@PIECES@ + TEAM - 1) / TEAM; i++) {
const unsigned place = i * TEAM + of_team, r = place / (@ELEMENTS@ / @VECTOR@), column = place % (@ELEMENTS@ / @VECTOR@) * @VECTOR@, row = first_row + r;
if (@PIECES@ % TEAM != 0 && place >= @PIECES@) continue;
float* const to = stage + OF_X + 16 * N + r * NARROW + @START@ + column;
const bool here = row < end && column < @INNER@;
@COPIED@}
";
/// Loads a thread's column of a matrix that narrow rows are multiplied with.
pub(super) const COLUMN: &str = "UNROLL for (int k = 0; k < @ELEMENTS@; k++) matrix[@START@ + k] = k < @INNER@ && of_team % N < Z ? @ELEMENT@ : 0.0f;
";

/// Outer products of the rows of a part. A warpgroup has 64 columns of X in its lanes, 16 rows at a
/// time. The other side is copied once for all warpgroups across the columns, the next rows while
/// these are multiplied.
pub(super) const OF_COLUMNS: &str = "extern __shared__ float4 of_block[];
constexpr unsigned PARTS = ALL_BITS ? 2 : 1, N = 8 * TILES, PITCH = 72, OF_X = ACROSS * 16 * PITCH, STAGE = OF_X + 16 * (N + NARROW), LAID = 16 * N * PARTS, X_TILE = ACROSS * 64;
// The final sums: those of each warpgroup with the sums of its rows, and, for the warpgroups across
// the columns together, those of the other side's rows by fours.
constexpr unsigned OWN_X = 64 * N, OWN = OWN_X + 64, OWN_Z = ACROSS * OWN, TOLD = OWN_Z + 4 * N, COMING = AHEAD * STAGE + 2 * LAID;
constexpr unsigned TEAM = ACROSS * 128, THREADS = TURNS * TEAM, OF_TURN = COMING > TOLD ? COMING : TOLD, Z_PIECES = (4 * N + TEAM - 1) / TEAM;
const unsigned number = from_lane(threadIdx.x / 128, 0), beside = number % ACROSS, turn = number / ACROSS, thread = threadIdx.x % 128;
const unsigned of_team = beside * 128 + thread;
const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4, group = lane / 4, part = lane % 4;
float* const right = reinterpret_cast<float*>(of_block) + turn * OF_TURN;
float* const queue = right + 2 * LAID;
const unsigned x0 = blockIdx.y * X_TILE, z0 = blockIdx.z * N;
const unsigned each = (rows + gridDim.x - 1) / gridDim.x, begin = min(rows, blockIdx.x * each), end = min(rows, begin + each);
// An equal number of steps for each warpgroup along the rows; the last may have no rows. All
// threads of a block reach every barrier.
const unsigned steps = (end - begin + 16 * TURNS - 1) / (16 * TURNS);
unsigned coming = 0, slot = 0, buffer = 0;
auto request = [&](const unsigned at) {
if (coming < steps) {
const unsigned first_row = begin + (coming * TURNS + turn) * 16;
float* const stage = queue + at * STAGE;
UNROLL for (int i = 0; i < 8 / XV; i++) {
const unsigned place = i * 128 + thread, r = place / (64 / XV), within = place % (64 / XV) * XV, row = first_row + r, column = x0 + beside * 64 + within;
float* const to = stage + (beside * 16 + r) * PITCH + within;
const bool here = row < end && column < X;
@X@}
constexpr unsigned PIECES = 16 * N / ZV;
UNROLL for (int i = 0; i < (PIECES + TEAM - 1) / TEAM; i++) {
const unsigned place = i * TEAM + of_team, r = place / (N / ZV), within = place % (N / ZV) * ZV, row = first_row + r, column = z0 + within;
if (PIECES % TEAM != 0 && place >= PIECES) continue;
float* const to = stage + OF_X + r * N + within;
const bool here = row < end && column < Z;
@Z@}
@NARROW@coming++;
}
copies_asked();
};
@MATRIX@[[maybe_unused]] float of_x[2] = {}, of_z[Z_PIECES] = {};
auto lay = [&](const float* const from, float* const to) {
UNROLL for (int i = 0; i < Z_PIECES; i++) {
const unsigned place = i * TEAM + of_team, n = place % N, four = place / N;
if (4 * N % TEAM != 0 && place >= 4 * N) continue;
float first[4], rest[4];
@MADE@UNROLL for (int t = 0; t < 4; t++) {
const float a = @ROW@;
if (SUM_Z) of_z[i] += a;
first[t] = first_bits(a);
rest[t] = a - first[t];
}
float* const at = to + ((four / 2 * PARTS * 2 + four % 2) * N + n) * 4;
store<4>(at, first);
if (PARTS == 2) store<4>(at + 2 * N * 4, rest);
}
group_sees_shared();
};
UNROLL for (int d = 0; d < AHEAD - 1; d++) request(d);
copies_done<AHEAD - 2>();
group_meets<TURNS, TEAM>(1 + turn);
if (steps > 0) lay(queue + OF_X, right);
float sums[TILES][4] = {};
UNROLL_1 for (unsigned step = 0; step < steps; step++) {
copies_done<AHEAD - 3>();
group_meets<TURNS, TEAM>(1 + turn);
const float* const stage = queue + slot * STAGE;
float first[2][4], rest[2][4];
UNROLL for (int h = 0; h < 2; h++) UNROLL for (int i = 0; i < 2; i++) {
const float2 a = *reinterpret_cast<const float2*>(stage + (beside * 16 + h * 8 + i * 4 + part) * PITCH + warp * 16 + group * 2);
if (SUM_X) { of_x[0] += a.x; of_x[1] += a.y; }
first[h][i * 2] = first_bits(a.x);
rest[h][i * 2] = a.x - first[h][i * 2];
first[h][i * 2 + 1] = first_bits(a.y);
rest[h][i * 2 + 1] = a.y - first[h][i * 2 + 1];
}
float of_step[TILES][4];
group_begins();
multiply_group<TILES, PARTS>(of_step, first, rest, right + buffer * LAID);
group_asked();
request(slot == 0 ? AHEAD - 1 : slot - 1);
slot = slot + 1 == AHEAD ? 0 : slot + 1;
buffer ^= 1;
if (step + 1 < steps) lay(queue + slot * STAGE + OF_X, right + buffer * LAID);
group_done<0>();
UNROLL for (int n = 0; n < TILES; n++) UNROLL for (int j = 0; j < 4; j++) sums[n][j] += of_step[n][j];
}
copies_done<0>();
__syncthreads();
float* const own = right + beside * OWN;
UNROLL for (int n = 0; n < TILES; n++) UNROLL for (int j = 0; j < 4; j++) own[(warp * 16 + group * 2 + j / 2) * N + n * 8 + part * 2 + j % 2] = sums[n][j];
if (SUM_X) UNROLL for (int i = 0; i < 2; i++) {
const float pair = of_x[i] + across(of_x[i], 1), sum = pair + across(pair, 2);
if (part == i) own[OWN_X + warp * 16 + group * 2 + i] = sum;
}
if (SUM_Z) UNROLL for (int i = 0; i < Z_PIECES; i++) if (4 * N % TEAM == 0 || i * TEAM + of_team < 4 * N) right[OWN_Z + i * TEAM + of_team] = of_z[i];
__syncthreads();
// The sums of the warpgroups along the rows are added in their order.
auto of_turns = [&](const unsigned at) {
const float* const first_turn = reinterpret_cast<const float*>(of_block) + at;
float sum = first_turn[0];
UNROLL for (int t = 1; t < TURNS; t++) sum += first_turn[t * OF_TURN];
return sum;
};
float* const told = scratch + (offset_t)blockIdx.x * (PRODUCTS + (SUM_X ? X : 0) + (SUM_Z ? Z : 0));
for (unsigned i = threadIdx.x; i < X_TILE * N; i += THREADS) {
const unsigned x = X_FIRST ? i / N : i % X_TILE, z = X_FIRST ? i % N : i / X_TILE;
@PLACE@if (is_told) told[place] = of_turns(x / 64 * OWN + x % 64 * N + z);
}
const bool has_x = SUM_X && blockIdx.z == 0, has_z = SUM_Z && blockIdx.y == 0;
for (unsigned x = threadIdx.x; has_x && x < X_TILE && x0 + x < X; x += THREADS) told[PRODUCTS + x0 + x] = of_turns(x / 64 * OWN + OWN_X + x % 64);
for (unsigned z = threadIdx.x; has_z && z < N && z0 + z < Z; z += THREADS) {
float sum = 0;
UNROLL for (int four = 0; four < 4; four++) sum += of_turns(OWN_Z + four * N + z);
told[PRODUCTS + (SUM_X ? X : 0) + z0 + z] = sum;
}
";
