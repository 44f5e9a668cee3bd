//! sparse_features: products with sparse features, of which only nonzeros are stored, and gradients
//! of their weights.
//!
//! promises  a row of the result belongs to one lane group, which reads a row of the other matrix
//!           per nonzero; rows of many nonzeros have a warp or a block, merged in order; zeros are
//!           neither drawn for nor multiplied
//! never     expands features to dense rows; adds a float with an atomic
use super::edge_walk_text::{emit_item_assignment, emit_opening};
use super::kernel_parameters::Parameters;
use super::lane_layout::{Lanes, plain_lanes, vector_of, widest_vector};
use super::operators::dropout_threshold;
use super::source_text::{KernelBody, KernelDraft, Printer};
use super::{Argument, Blocks, Cut, ListPart, NoKernel, ScheduleKind, THREADS, Unit, WalkedLists};
use warploom_launch::{Dropout, Operation, Role, Rows};
use warploom_tuning as tuning;

/// A walk over the nonzeros of features, by rows or by columns.
struct FeatureWalk<'a> {
    features: &'a str,
    by_columns: bool,
    dropout: Option<Dropout>,
    /// Columns of the gathered rows and of the result.
    columns: u64,
}

impl Unit<'_> {
    /// Decides on features times a weight that is stored transposed.
    pub(super) fn decide_sparse_product(&mut self) -> Result<(), NoKernel> {
        let Operation::SparseProduct { out, left, right, dropout } = &self.launch.operation else {
            return Err(refuse_product());
        };
        let (columns, inner) = (self.columns(out)?, self.columns(left)?);
        if columns == 0 {
            return Ok(());
        }
        self.header();
        // After a transposition, the row that a nonzero reads is contiguous.
        let elements = columns * inner;
        let mut parameters = Parameters::new();
        parameters.push("const real* __restrict__ weight", Argument::Buffer(right.clone()));
        parameters.push_output("real* __restrict__ turned", Argument::Scratch);
        let blocks = Blocks::Fixed([elements.div_ceil(u64::from(THREADS)).max(1) as u32, 1, 1]);
        self.add_kernel(KernelDraft {
            suffix: "_turned",
            ..KernelDraft::new(
                "sparse_features.rs, decide_sparse_product",
                parameters,
                blocks,
                TransposeBody { columns, inner },
            )
        });
        self.scratch_bytes = self.scratch_bytes.max(elements * self.target.bytes_per_real);
        let walk = FeatureWalk { features: left, by_columns: false, dropout: *dropout, columns };
        let store = EntryStore::Rows { stride: self.stride(out) };
        self.emit_entry_walk(&walk, Argument::Scratch, columns, out, store)
    }

    /// Decides on transposed rows times features: the gradient of that weight.
    pub(super) fn decide_sparse_gradient(&mut self) -> Result<(), NoKernel> {
        let Operation::SparseProductOverRows { out, left, right, dropout } = &self.launch.operation
        else {
            return Err(refuse_product());
        };
        let (columns, inner) = (self.columns(left)?, self.columns(right)?);
        if columns == 0 || inner == 0 {
            return Ok(());
        }
        self.header();
        let walk = FeatureWalk { features: right, by_columns: true, dropout: *dropout, columns };
        self.emit_entry_walk(
            &walk,
            Argument::Buffer(left.clone()),
            self.stride(left),
            out,
            EntryStore::Columns { inner },
        )
    }

    fn columns(&self, name: &str) -> Result<u64, NoKernel> {
        self.list
            .buffers
            .iter()
            .find(|buffer| buffer.name == name)
            .map(|buffer| buffer.columns)
            .ok_or_else(refuse_product)
    }

    /// Decides on the sum over the nonzeros of each row, or column, of the features.
    fn emit_entry_walk(
        &mut self,
        walk: &FeatureWalk,
        gathered: Argument,
        stride: u64,
        out: &str,
        store: EntryStore,
    ) -> Result<(), NoKernel> {
        self.note([
            (ScheduleKind::SparseProduct, !walk.by_columns),
            (ScheduleKind::SparseGradient, walk.by_columns),
        ]);
        let held = self
            .list
            .buffers
            .iter()
            .find(|buffer| buffer.name == walk.features)
            .ok_or_else(refuse_product)?;
        let (of_nodes, walked) = (
            held.rows == Rows::Nodes && held.role == Role::SparseFeatures,
            WalkedLists::Entries(held.name.clone(), walk.by_columns),
        );
        let columns = walk.columns as usize;
        let lanes = plain_lanes(
            columns,
            vector_of(columns, widest_vector(self.target.bytes_per_real)),
            true,
        );
        let (in_flight, blocks) = (tuning::sparse_entries(), tuning::sparse_blocks());
        let cut = Cut {
            groups_of_warp: 32 / lanes.lanes as u32,
            warps: THREADS / 32,
            in_flight: in_flight as u32,
            blocks_per_processor: blocks,
            hub_blocks: 0,
            rows_of_group: 1,
        };
        let drawn = walk.dropout.and_then(|dropout| {
            let (threshold, scale) = dropout_threshold(dropout.probability)?;
            let (site, by_columns) = (dropout.site, walk.by_columns);
            Some(EntryDropout { threshold, scale, site, by_columns, of_nodes })
        });
        let draws = drawn.is_some();
        let body = EntryBody { lanes, in_flight, drawn, stride, store };
        let mut parameters = Parameters::new();
        parameters.push("const real* __restrict__ rows_of_entries", gathered);
        parameters.push_output("real* __restrict__ out", Argument::Buffer(out.to_owned()));
        parameters.items(&walked);
        parameters.push(
            "const unsigned* __restrict__ entry_far",
            Argument::Items(walked.clone(), ListPart::Far),
        );
        parameters.push(
            "const real* __restrict__ entry_value",
            Argument::Items(walked.clone(), ListPart::Value),
        );
        parameters.tiers(&walked, cut);
        if draws {
            parameters.push("const Clock* __restrict__ clock", Argument::Clock);
            parameters.push("const uint2 seed", Argument::Seed);
            parameters.push("const unsigned training", Argument::Training);
            if of_nodes {
                parameters.push("const unsigned* __restrict__ rows_in_graph", Argument::RowInGraph);
            }
        }
        self.add_kernel(KernelDraft {
            resident: blocks,
            waits: true,
            ..KernelDraft::new(
                "sparse_features.rs, emit_entry_walk",
                parameters,
                Blocks::Items { walked, cut, slices: lanes.slices as u32 },
                body,
            )
        });
        Ok(())
    }
}

fn refuse_product() -> NoKernel {
    NoKernel::new("a launch that is no product with sparse features".to_owned())
}

/// A dropout of nonzeros, before lanes exchange them.
struct EntryDropout {
    threshold: u32,
    scale: String,
    site: u32,
    by_columns: bool,
    /// Whether rows are vertices, which draw by their number in their graph.
    of_nodes: bool,
}

impl EntryDropout {
    fn text(&self) -> String {
        let EntryDropout { threshold, scale, site, by_columns, of_nodes } = self;
        let (row, column) = if *by_columns { ("far[i]", "v") } else { ("v", "far[i]") };
        let row = if *of_nodes {
            format!("rows_in_graph ? __ldg(rows_in_graph + {row}) : {row}")
        } else {
            row.to_owned()
        };
        format!(
            "if (training && p < stop) {{ bool kept[1]; keeps<1>(kept, {row}, {column}, \
             clock->epoch, {site}u, seed, {threshold}u); value[i] = kept[0] ? value[i] * {scale} : \
             (real)0; }}\n"
        )
    }
}

/// Where a sum over nonzeros is stored.
enum EntryStore {
    /// In a row of the result, with this stride.
    Rows { stride: u64 },
    /// In a column of the result, whose rows have so many elements.
    Columns { inner: u64 },
}

impl EntryStore {
    fn text(&self) -> String {
        match self {
            EntryStore::Rows { stride } => format!(
                "EACH_Q if (own[q]) store<V>(out + (offset_t)v * {stride} + c[q], sum[q]);\n"
            ),
            EntryStore::Columns { inner } => {
                format!("EACH if (own[q]) out[(offset_t)(c[q] + j) * {inner} + v] = sum[q][j];\n")
            }
        }
    }
}

/// The body of a walk over nonzeros.
struct EntryBody {
    lanes: Lanes,
    in_flight: usize,
    drawn: Option<EntryDropout>,
    /// Elements from one gathered row to the next.
    stride: u64,
    store: EntryStore,
}

impl KernelBody for EntryBody {
    fn text(&self, _printer: &Printer) -> String {
        let EntryBody { lanes, in_flight, drawn, stride, store } = self;
        let drawn = drawn.as_ref().map(EntryDropout::text).unwrap_or_default();
        format!(
            "{}constexpr unsigned B = {in_flight}, J = B > L ? B / L : 1, CHUNK = J * L;\n{}{}if \
                (!writes) return;\n{}",
            emit_opening(lanes),
            emit_item_assignment(false, false),
            ENTRIES.replace("@DRAWN@", &drawn).replace("@STRIDE@", &stride.to_string()),
            store.text()
        )
    }
}

/// Transposes a weight: from a row per column of the result to a row per column of the features.
struct TransposeBody {
    columns: u64,
    inner: u64,
}

impl KernelBody for TransposeBody {
    fn text(&self, _printer: &Printer) -> String {
        let TransposeBody { columns, inner } = self;
        format!(
            "const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
if (i >= {}u) return;
const unsigned row = i / {columns}, column = i % {columns};
turned[i] = __ldg(weight + (offset_t)column * {inner} + row);
",
            columns * inner
        )
    }
}

/// Lanes of a group load nonzeros side by side, and the rows of several at a time.
const ENTRIES: &str = "real sum[Q][V];
EACH sum[q][j] = 0;
for (unsigned at = from; __any_sync(FULL, at < stop); at = min(stop, at + CHUNK)) {
unsigned far[J];
real value[J];
UNROLL for (int i = 0; i < J; i++) {
const unsigned p = at + i * L + part;
far[i] = p < stop ? __ldcs(entry_far + p) : 0;
value[i] = p < stop ? __ldcs(entry_value + p) : (real)0;
@DRAWN@}
UNROLL for (int s = 0; s < CHUNK; s += B) {
real row[B][Q][V], factor[B];
UNROLL for (int k = 0; k < B; k++) {
const unsigned of = __shfl_sync(FULL, far[(s + k) / L % J], group * L + (s + k) % L);
factor[k] = __shfl_sync(FULL, value[(s + k) / L % J], group * L + (s + k) % L);
if (at + s + k < stop) EACH_Q load<V>(row[k][q], rows_of_entries + (offset_t)of * @STRIDE@ + c[q]);
}
UNROLL for (int k = 0; k < B; k++) if (at + s + k < stop) EACH sum[q][j] += factor[k] * row[k][q][j];
}
}
if (tier > 0) {
__shared__ real told[WARPS][L][Q][V];
EACH { const real own_part = sum[q][j]; sum[q][j] = from_lane(own_part, part); UNROLL for (int g = 1; g < PER_WARP; g++) sum[q][j] += from_lane(own_part, g * L + part); }
if (tier == 2) {
if (group == 0) EACH told[warp][part][q][j] = sum[q][j];
__syncthreads();
EACH { sum[q][j] = told[0][part][q][j]; for (int w = 1; w < WARPS; w++) sum[q][j] += told[w][part][q][j]; }
}
}
";
