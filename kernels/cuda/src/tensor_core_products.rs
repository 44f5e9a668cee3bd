//! tensor_core_products: kernels of products on tensor cores: one product; the sum of two; and a
//! product with consumers that multiply its rows.
//!
//! promises  a kernel depends only on its launches and the device; the rows that a consumer
//!           multiplies are the stored ones, bit for bit, read from shared memory of the warp that
//!           computed them
//! never     decides which launches may be merged (`launch::MergedLaunches`)
use std::rc::Rc;

use super::kernel_parameters::Parameters;
use super::lane_layout::{Lanes, vector_of};
use super::launch_walk;
use super::plain_products::{
    Finish, Index, ProductShape, assume_nothing, left_buffer, lower_finish, product_parameters,
};
use super::row_values::{lower_row_value, tables_of, thread_lanes};
use super::source_text::{KernelBody, KernelDraft, Printer};
use super::statement_text::pointer;
use super::statements::{RegisterValue, Statement};
use super::tensor_core_shapes::{
    self, FEW_ROWS, FINISH, LONG_ROWS, MatrixPlacement, ProductSize, ROWS, RowFill, RowOrigin,
    RowPadding, RowProductShape, stored_leaf,
};
use super::walk_lowering::WalkLowering;
use super::walk_steps::{From, Leaf, Walk};
use super::{Blocks, Matmul, NoKernel, ScheduleKind, Unit, warpgroup_products};
use warploom_launch::{Launch, Operation, Rows};
use warploom_tuning as tuning;

/// The launches of one merged kernel: a product, optionally a product that it adds to, and the
/// products that consume its rows.
#[derive(Clone, Debug)]
pub(super) struct MergedProducts {
    number: usize,
    pub first: Option<usize>,
    pub followers: Vec<usize>,
}

/// A kernel of products, as data.
struct TiledProduct {
    sources: Vec<LeftRows>,
    followers: Vec<ConsumerProduct>,
    lowering: WalkLowering,
    finish: Finish,
    schedule: RowProductShape,
    /// The offset in shared memory of the rows that consumers multiply.
    next: usize,
    rows: Rows,
    lead: u64,
}

/// Merged products, and the kernel that computes them.
pub(super) struct MergedKernel {
    pub launches: MergedProducts,
    product: TiledProduct,
    tables: Vec<String>,
}

/// The left operand of a product.
struct LeftRows {
    shape: ProductShape,
    fill: RowFill,
    loader: WalkLowering,
}

impl LeftRows {
    fn new(walk: &Rc<Walk>, shape: &ProductShape) -> Result<LeftRows, NoKernel> {
        let input = &walk.steps[shape.number].inputs[0];
        let lies = stored_leaf(walk, input, shape.plain);
        // A row is read in vectors up to its stride: zeros of the padding do no harm.
        let to_the_end = lies
            .filter(|leaf| leaf.columns == shape.inner as u64)
            .map_or(shape.inner, |leaf| leaf.stride as usize);
        let vector = vector_of(to_the_end, 4);
        let is_whole = |leaf: &Leaf| leaf.ends_in_zeros || shape.inner.is_multiple_of(vector);
        let mut loader =
            WalkLowering::new(walk, thread_lanes(shape.inner, vector_of(shape.inner, 4)));
        let origin = match lies {
            Some(leaf) => {
                let padding = if is_whole(leaf) { RowPadding::Any } else { RowPadding::Zeros };
                RowOrigin::Stored(leaf.clone(), padding)
            }
            None => RowOrigin::Made(lower_row_value(&mut loader, input)?),
        };
        let fill = RowFill { origin, vector, columns: shape.inner };
        Ok(LeftRows { shape: shape.clone(), fill, loader })
    }

    /// Statements that copy one K step of the rows to shared memory; `step` is the expression of
    /// its number.
    fn emit_request(&self, step: &str, pieces: &str) -> String {
        tensor_core_shapes::REQUEST
            .replace("@STEP@", step)
            .replace("@PIECES@", pieces)
            .replace("@LEFT@", &self.fill.text())
    }

    fn steps(&self) -> usize {
        self.shape.inner.div_ceil(32)
    }
}

/// A product of the rows that the kernel computes: the consumer of a merged kernel.
struct ConsumerProduct {
    shape: ProductShape,
    tiles: usize,
    parts: usize,
    lowering: WalkLowering,
    finish: Finish,
}

impl ConsumerProduct {
    /// None if it is not such a product.
    fn try_new(walk: &Rc<Walk>, shape: ProductShape, matmul: Matmul) -> Option<ConsumerProduct> {
        let tiles = shape.wide.div_ceil(8);
        let is_fit = shape.lead == 1
            && !shape.plain
            && walk.rows == Rows::Nodes
            && shape.inner >= tuning::tensor_inner_least() as usize;
        let (lowering, finish) = is_fit
            .then(|| lower_tiled_finish(walk, std::slice::from_ref(&shape), tiles, 1, &[]))
            .flatten()?;
        let is_split =
            shape.inner * shape.wide <= tuning::split_matrix_elements() && matmul == Matmul::F32;
        Some(ConsumerProduct { shape, tiles, parts: 1 + usize::from(is_split), lowering, finish })
    }

    /// float4 vectors of its matrix in shared memory.
    fn vectors(&self) -> usize {
        self.steps() * 2 * self.tiles * self.parts * 32
    }

    /// K steps of its rows.
    fn steps(&self) -> usize {
        self.shape.inner.div_ceil(32)
    }

    /// Whether it has more columns than a single warp multiplies right after it computed the rows.
    fn is_wide(&self) -> bool {
        self.shape.wide as u64 > tuning::merged_columns()
    }
}

/// Lowers the epilogue of a product on tensor cores, with the widest vectors that fit. The terms of
/// a second product are already in the accumulators of the first.
fn lower_tiled_finish(
    walk: &Rc<Walk>,
    shapes: &[ProductShape],
    tiles: usize,
    slices: usize,
    held: &[From],
) -> Option<(WalkLowering, Finish)> {
    let [shape, second @ ..] = shapes else { return None };
    let at = |group: &str, place: &str| {
        format!("sums[({group} * V + {place}) / 2][r * 2 + ({group} * V + {place}) % 2]")
    };
    RowProductShape::vectors(tiles, shape.places).find_map(|vector| {
        let mut lowering = WalkLowering::new(
            walk,
            Lanes { places: shape.places, vector, lanes: 4, chunks: 2 * tiles / vector, slices },
        );
        let nothing: Vec<Statement> =
            second.iter().map(|second| assume_nothing(&mut lowering, second)).collect();
        let mut finish = lower_finish(&mut lowering, shape, held, at).ok()?;
        finish.made.0.extend(nothing);
        Some((lowering, finish))
    })
}

impl Unit<'_> {
    /// The tensor-core kernel of these products; none if they do not fit one kernel.
    fn merge_into_kernel(
        &self,
        launches: MergedProducts,
    ) -> Result<Option<MergedKernel>, NoKernel> {
        let MergedProducts { number, first, followers } = &launches;
        let all = self.list.launches();
        let walk_of = |operation: &Operation| {
            launch_walk::walk_of(self.list, self.target.bytes_per_real, operation).map(Rc::new)
        };
        let both = first.and_then(|first| self.merge_sum(all[first], all[*number]));
        if first.is_some() && both.is_none() {
            return Ok(None);
        }
        let Some(walk) = walk_of(both.as_ref().unwrap_or(&all[*number].operation)) else {
            return Ok(None);
        };
        let shapes = if first.is_some() {
            ProductShape::all_from_walk(&walk)?
        } else {
            vec![ProductShape::from_walk(&walk)?]
        };
        let mut after = Vec::new();
        for follower in followers {
            let Some(walk) = walk_of(&all[*follower].operation) else { return Ok(None) };
            let shape = ProductShape::from_walk(&walk)?;
            let Some(consumer) = ConsumerProduct::try_new(&walk, shape, self.target.matmul) else {
                return Ok(None);
            };
            after.push(consumer);
        }
        let rows = followers.first().and_then(|follower| left_buffer(&all[*follower].operation));
        let Some(product) = self.plan_tiled(&walk, &shapes, after, rows)? else { return Ok(None) };
        let tables = tables_of(&product.lowerings())?;
        Ok(Some(MergedKernel { launches, product, tables }))
    }

    /// A product with as many merged launches as fit one kernel; none if it is not for tensor
    /// cores.
    pub(super) fn merge_products(&self, number: usize) -> Result<Option<MergedKernel>, NoKernel> {
        let makes_sums = |launch: &usize| self.beside.values().any(|maker| maker.launch == *launch);
        if makes_sums(&number) {
            return Ok(None);
        }
        // A consumer cannot read a sum that a later launch computes.
        let launches = self.list.launches();
        let reads = |launch: usize, sum: usize| {
            launches[sum]
                .operation
                .writes()
                .iter()
                .any(|made| launches[launch].operation.reads().contains(made))
        };
        let waits = |follower: usize| {
            self.beside.iter().any(|(sum, maker)| maker.launch > number && reads(follower, *sum))
        };
        let followers = self.joined.followers_of(self.list, number).into_iter();
        let followers: Vec<usize> =
            followers.filter(|follower| !makes_sums(follower) && !waits(*follower)).collect();
        let firsts = self
            .joined
            .first_of(number)
            .filter(|first| !makes_sums(first))
            .map(Some)
            .into_iter()
            .chain([None]);
        for (first, count) in
            firsts.flat_map(|first| (0..=followers.len()).rev().map(move |count| (first, count)))
        {
            let joined = MergedProducts { number, first, followers: followers[..count].to_vec() };
            // A launch that cannot be merged gets a kernel of its own.
            match self.merge_into_kernel(joined) {
                Err(_) | Ok(None) if first.is_some() || count > 0 => {}
                fits => return fits,
            }
        }
        Ok(None)
    }

    /// Two launches as one operation; only the second reads the rows of the first.
    pub(super) fn merge_sum(&self, first: &Launch, second: &Launch) -> Option<Operation> {
        let parts = |launch: &Launch| match &launch.operation {
            Operation::Fused { over, locals, steps } => {
                Some((*over, locals.clone(), steps.clone()))
            }
            operation @ Operation::Evaluate { .. } => {
                Some((warploom_launch::Over::Vertices, Vec::new(), vec![operation.clone()]))
            }
            _ => None,
        };
        let ((over, mut locals, mut steps), (_, of_second, then)) = (parts(first)?, parts(second)?);
        let between = first.operation.writes();
        locals.extend(
            self.list
                .buffers
                .iter()
                .filter(|buffer| between.iter().any(|made| **made == buffer.name))
                .cloned(),
        );
        locals.extend(of_second);
        steps.extend(then);
        Some(Operation::Fused { over, locals, steps })
    }

    fn plan_tiled(
        &self,
        walk: &Rc<Walk>,
        shapes: &[ProductShape],
        followers: Vec<ConsumerProduct>,
        rows_made: Option<&str>,
    ) -> Result<Option<TiledProduct>, NoKernel> {
        let sources =
            shapes.iter().map(|shape| LeftRows::new(walk, shape)).collect::<Result<Vec<_>, _>>()?;
        let [shape, ..] = shapes else { return Ok(None) };
        let Some(schedule) = self.choose_schedule(walk, shapes) else { return Ok(None) };
        let held: Vec<From> = rows_made
            .and_then(|rows| walk.steps.iter().position(|step| step.out == rows))
            .map(From::Step)
            .into_iter()
            .collect();
        if (held.is_empty() || schedule.slices > 1) && !followers.is_empty() {
            return Ok(None);
        }
        // With two blocks per SM there are too few registers for two products of this width.
        if schedule.blocks > 1
            && schedule.tiles >= tuning::merged_two_block_tiles()
            && followers.iter().any(|follower| follower.tiles >= tuning::merged_two_block_tiles())
        {
            return Ok(None);
        }
        // A wide consumer pays only if warpgroups multiply both products and have registers for
        // both; dropout takes these registers.
        let by_groups = matches!(schedule.lies, MatrixPlacement::ForGroups { at_once } if at_once == schedule.steps)
            && warpgroup_products::tiles().contains(&schedule.tiles);
        let follows = |follower: &ConsumerProduct| {
            by_groups
                && warpgroup_products::tiles().contains(&follower.tiles)
                && (follower.parts == 2) == schedule.split
                && !follower.lowering.walk.draws()
        };
        if followers.iter().any(|follower| follower.is_wide() && !follows(follower)) {
            return Ok(None);
        }
        let Some((lowering, finish)) =
            lower_tiled_finish(walk, shapes, schedule.tiles, schedule.slices, &held)
        else {
            return Ok(None);
        };
        let of_rows =
            followers.first().map_or(0, |after| schedule.finishing_warps() * after.steps() * 128);
        let more = 16 * (of_rows + followers.iter().map(ConsumerProduct::vectors).sum::<usize>());
        let Some(schedule) = schedule.with_room(more, self.target) else { return Ok(None) };
        let next = (schedule.shared_bytes - more) / 16;
        let (rows, lead) = shape.rows(walk);
        let product =
            TiledProduct { sources, followers, lowering, finish, schedule, next, rows, lead };
        Ok(Some(product))
    }

    /// The grid. A block loops over as many tiles as there are, since it copies the matrix to
    /// shared memory once (persistent grid).
    fn blocks_of_tiles(&self, product: &TiledProduct) -> Blocks {
        let TiledProduct { schedule, rows, lead, .. } = product;
        let (rows, shares, slices) =
            (*rows, schedule.inner_shares() as u32, schedule.slices as u32);
        let each = (schedule.rows() as u32 / (*lead).max(1) as u32).max(1);
        let most = (self.target.processors * schedule.blocks / (slices * shares)).max(1);
        match schedule.lies {
            MatrixPlacement::OfWarps => Blocks::Rows { rows, each, slices },
            MatrixPlacement::Whole
            | MatrixPlacement::InSteps
            | MatrixPlacement::ForGroups { .. }
            | MatrixPlacement::ForShares { .. } => {
                Blocks::Parts { rows, each, most, tiles: [slices, shares] }
            }
        }
    }

    /// The schedule of the rows, if they fit tensor cores.
    fn choose_schedule(&self, walk: &Walk, shapes: &[ProductShape]) -> Option<RowProductShape> {
        let [shape, second @ ..] = shapes else { return None };
        // Dropout takes so many registers that blocks of more warps have too few.
        let vertices =
            if walk.rows == Rows::Nodes && shape.lead == 1 { self.expected_vertices() } else { 0 };
        let many = if walk.draws() { 0 } else { vertices };
        if !second.is_empty() {
            // Both matrices are concatenated in K, each from a K step on, with all columns at once:
            // rows are read once.
            let steps = shapes.iter().map(|shape| shape.inner.div_ceil(32)).sum::<usize>();
            let is_fit = shapes.iter().all(|shape| {
                shape.lead == 1
                    && !shape.plain
                    && shape.inner >= tuning::tensor_inner_least() as usize
            }) && shape.places.is_multiple_of(4);
            let schedule = RowProductShape::fit(
                ProductSize { inner: steps * 32, wide: shape.wide },
                self.target,
            )
            .filter(|schedule| is_fit && schedule.slices == shape.wide.div_ceil(64));
            return schedule.map(|schedule| schedule.with_warps(many, self.target));
        }
        let are_copied =
            stored_leaf(walk, &walk.steps[shape.number].inputs[0], shape.plain).is_some();
        let size = ProductSize { inner: shape.inner, wide: shape.wide };
        let by_groups = || {
            RowProductShape::split_inner(size, many, self.target)
                .or_else(|| RowProductShape::unsliced_matrix(size, many, self.target))
        };
        if let Some(by_groups) = are_copied.then(by_groups).flatten() {
            return Some(by_groups);
        }
        let whole = RowProductShape::fit(size, self.target);
        let in_steps = || {
            RowProductShape::few_rows(size, vertices, self.target)
                .or_else(|| RowProductShape::long_rows(size, whole, self.target))
        };
        let schedule = (are_copied && shape.transposed)
            .then(in_steps)
            .flatten()
            .or(whole)
            .map(|schedule| schedule.with_warps(many, self.target));
        let in_slabs =
            || are_copied.then(|| RowProductShape::matrix_slabs(size, many, self.target)).flatten();
        schedule
            .filter(|schedule| matches!(schedule.lies, MatrixPlacement::ForGroups { .. }))
            .or_else(in_slabs)
            .or(schedule)
    }

    fn note_product(
        &mut self,
        schedule: &RowProductShape,
        joined: &MergedProducts,
        widths: &[bool],
    ) {
        let RowProductShape { lies, steps, slices, .. } = *schedule;
        self.note([
            (ScheduleKind::TensorCoreProduct, lies == MatrixPlacement::Whole),
            (ScheduleKind::TensorCoreFewRows, lies == MatrixPlacement::OfWarps),
            (ScheduleKind::TensorCoreLongRows, lies == MatrixPlacement::InSteps),
            (
                ScheduleKind::WarpgroupProduct,
                matches!(lies, MatrixPlacement::ForGroups { at_once } if at_once == steps),
            ),
            (
                ScheduleKind::WarpgroupSlabs,
                matches!(lies, MatrixPlacement::ForGroups { at_once } if at_once < steps),
            ),
            (ScheduleKind::WarpgroupSplitK, matches!(lies, MatrixPlacement::ForShares { .. })),
            (ScheduleKind::ProductSlices, slices > 1),
            (ScheduleKind::MergedSum, joined.first.is_some()),
            (ScheduleKind::MergedNarrow, widths.contains(&false)),
            (ScheduleKind::MergedWide, widths.contains(&true)),
        ]);
    }

    /// Adds the kernel of these merged products.
    pub(super) fn add_merged_products(&mut self, merged: MergedKernel) {
        let MergedKernel { launches, product, tables } = merged;
        let schedule = product.schedule;
        let widths: Vec<bool> = product.followers.iter().map(ConsumerProduct::is_wide).collect();
        let scratch_bytes = schedule.bytes_between(self.expected_vertices());
        let (parameters, grid) =
            (product.parameters(scratch_bytes > 0), self.blocks_of_tiles(&product));
        self.note_product(&schedule, &launches, &widths);
        self.header();
        self.schedule(schedule.describe());
        self.scratch_bytes = self.scratch_bytes.max(scratch_bytes);
        self.add_kernel(KernelDraft {
            threads: 32 * schedule.warps as u32,
            resident: schedule.blocks,
            tables,
            shared_bytes: schedule.shared_bytes as u32,
            ..KernelDraft::new(
                "tensor_core_products.rs, add_merged_products",
                parameters,
                grid,
                product,
            )
        });
    }
}

impl TiledProduct {
    /// All its lowerings.
    fn lowerings(&self) -> Vec<&WalkLowering> {
        let TiledProduct { sources, followers, lowering, .. } = self;
        let loaders = sources.iter().map(|source| &source.loader);
        loaders
            .chain([lowering])
            .chain(followers.iter().map(|follower| &follower.lowering))
            .collect()
    }

    fn parameters(&self, has_scratch: bool) -> Parameters {
        let TiledProduct { sources, followers, lowering, finish, schedule, rows, .. } = self;
        let mut given = Parameters::new();
        for source in sources {
            given.push(
                format!("const real* __restrict__ {}", pointer(&source.shape.matrix)),
                super::Argument::Buffer(source.shape.matrix.clone()),
            );
        }
        if has_scratch {
            given.push_output("real* __restrict__ scratch", super::Argument::Scratch);
        }
        if schedule.inner_shares() > 1 {
            given.push_output("unsigned* ticket", super::Argument::Ticket);
        }
        let loaders: Vec<&WalkLowering> = sources.iter().map(|source| &source.loader).collect();
        let mut reads = finish.reads();
        sources.iter().for_each(|source| source.fill.add_reads(&mut reads));
        let shape = &sources[0].shape;
        product_parameters(&mut given, shape, *rows, &loaders, lowering, &reads);
        for follower in followers {
            let reads = follower.finish.reads();
            product_parameters(&mut given, &follower.shape, *rows, &[], &follower.lowering, &reads);
        }
        given
    }
}

impl KernelBody for TiledProduct {
    fn text(&self, _printer: &Printer) -> String {
        emit_body(self)
    }
}

/// Numbers of the product and of its tiles.
fn emit_constants(product: &TiledProduct) -> String {
    let TiledProduct { sources, lowering, schedule, lead, .. } = product;
    let (shape, vector) = (&sources[0].shape, lowering.lanes.vector);
    format!(
        "constexpr unsigned K = {}, C = {}, WIDE = {}, KV = {}, MV = {}, V = {vector}, L = 4, Q = {}, TILES = {}, STEPS = {}, AHEAD = {}, PARTS = {}, WARPS = {}, TEAM = {};
const unsigned rows = rows_given * {lead};\n",
        shape.inner,
        shape.places,
        shape.wide,
        sources[0].fill.vector,
        vector_of(shape.inner, 4),
        2 * schedule.tiles / vector,
        schedule.tiles,
        schedule.steps,
        schedule.ahead,
        1 + usize::from(schedule.split),
        schedule.warps,
        schedule.max_team(),
    )
}

fn emit_body(product: &TiledProduct) -> String {
    let TiledProduct { sources, followers, lowering, finish, schedule, next, .. } = product;
    let (shape, vector) = (&sources[0].shape, lowering.lanes.vector);
    let (mut laid, mut then, mut keeps) = (String::new(), String::new(), String::new());
    if let Some(steps) = followers.first().map(ConsumerProduct::steps) {
        let kept = tensor_core_shapes::KEPT.replace("@NEXT@", &next.to_string());
        laid = format!(
            "constexpr unsigned NEXT_STEPS = {steps}, KEPT = {};\n{kept}",
            schedule.finishing_warps()
        );
        then = "__syncwarp();\n".to_owned();
        let held: String = finish.held.iter().map(RegisterValue::at).collect();
        keeps = tensor_core_shapes::KEEP.replace("@HELD@", &held);
        let mut place = *next + schedule.finishing_warps() * steps * 128;
        for follower in followers {
            let (lays, multiplies) = emit_consumer(follower, place);
            laid.push_str(&lays);
            then.push_str(&multiplies);
            place += follower.vectors();
        }
        then.push_str("__syncwarp();\n");
    }
    let reads_anew = followers.iter().any(ConsumerProduct::is_wide);
    let finish_of_rows =
        finish_rows(&finish.made.line(), &format!("{}{keeps}", finish.text()), reads_anew);
    let text = match schedule.lies {
        MatrixPlacement::ForGroups { at_once } | MatrixPlacement::ForShares { at_once, .. } => {
            warpgroup_products::emit_row_product(
                at_once,
                schedule.steps,
                schedule.inner_shares(),
                schedule.tiles,
            )
        }
        MatrixPlacement::Whole => ROWS.to_owned(),
        MatrixPlacement::OfWarps => FEW_ROWS.to_owned(),
        MatrixPlacement::InSteps => {
            format!("constexpr int MANY = {};\n{LONG_ROWS}", tuning::long_row_tiles())
        }
    };
    let (request, right, half) = emit_row_requests(sources);
    let pieces =
        if schedule.lies == MatrixPlacement::InSteps { "MANY * 16 / KV" } else { "16 / KV" };
    let text = text
        .replace("@REQUEST@", &request.replace("@PIECES@", pieces))
        .replace(
            "@LAY@",
            &tensor_core_shapes::LAY.replace("@TO@", "right").replace("@HALVES@", "STEPS * 2"),
        )
        .replace("@LAID@", &laid)
        .replace("@FINISH@", &format!("{finish_of_rows}{then}"))
        .replace("@MATRIX@", &pointer(&shape.matrix))
        .replace("@COLUMN@", RowProductShape::column(vector))
        .replace("@RIGHT@", &right)
        .replace("@HALF@", &half);
    format!("{}{text}", emit_constants(product))
}

/// The epilogue for the rows of a tile. If registers are scarce, values that are equal for all rows
/// are recomputed for each.
fn finish_rows(made: &str, epilogue: &str, reads_anew: bool) -> String {
    let (before, part) = if reads_anew {
        ("const unsigned own_part = anew(part);\n", "own_part")
    } else {
        ("", "part")
    };
    FINISH
        .replace("@BEFORE@", before)
        .replace("@PART@", part)
        .replace("@MADE@", made)
        .replace("@EPILOGUE@", epilogue)
}

/// Statements that load one K step of the rows; the expression of a matrix element; the condition
/// that the second half of a K step is not empty.
fn emit_row_requests(sources: &[LeftRows]) -> (String, String, String) {
    let right = |source: &LeftRows, row: Index| source.shape.element(row, Index::Name("column"));
    match sources {
        [first, second, ..] => {
            let (steps, inner) = (first.steps(), second.shape.inner);
            let constants =
                format!("constexpr unsigned K = {inner}, KV = {};\n", second.fill.vector);
            let of_second = second.emit_request(&format!("(coming_step - {steps})"), "16 / KV");
            let request = format!(
                "if (coming_step < {steps}) {{\n{}}} else {{\n{constants}{of_second}}}\n",
                first.emit_request("coming_step", "@PIECES@")
            );
            let start = steps * 32;
            let of_right = format!(
                "column >= WIDE ? (real)0 : k < {start} ? (k < K ? {} : (real)0) : k - {start} < \
                 {inner} ? {} : (real)0",
                right(first, Index::Name("k")),
                right(second, Index::Sum(&format!("(k - {start})")))
            );
            (
                request,
                of_right,
                format!(
                    "(step < {steps} ? step * 32 + 16 < K : step * 32 + 16 < {})",
                    start + inner
                ),
            )
        }
        [only] => (
            only.emit_request("coming_step", "@PIECES@"),
            format!("k < K && column < WIDE ? {} : (real)0", right(only, Index::Name("k"))),
            "step * 32 + 16 < K".to_owned(),
        ),
        [] => (String::new(), String::new(), String::new()),
    }
}

/// Statements that copy a consumer's matrix to shared memory at an offset, and statements that
/// multiply the computed rows with it.
fn emit_consumer(follower: &ConsumerProduct, place: usize) -> (String, String) {
    let ConsumerProduct { shape, tiles, parts, lowering, finish } = follower;
    let vector = lowering.lanes.vector;
    let constants = format!(
        "constexpr unsigned K = {}, C = {}, WIDE = {}, V = {vector}, Q = {}, TILES = {tiles}, \
            PARTS = {parts};\nfloat4* const of_next = reinterpret_cast<float4*>(of_block) + \
            {place};\n",
        shape.inner,
        shape.places,
        shape.wide,
        2 * tiles / vector
    );
    let right = format!(
        "k < K && column < WIDE ? {} : (real)0",
        shape.element(Index::Name("k"), Index::Name("column"))
    );
    let (lays, multiplies) = if follower.is_wide() {
        warpgroup_products::emit_consumer()
    } else {
        (
            tensor_core_shapes::LAY
                .replace("@TO@", "of_next")
                .replace("@HALVES@", "NEXT_STEPS * 2"),
            tensor_core_shapes::NEXT.to_owned(),
        )
    };
    let laid = lays.replace("@COLUMN@", RowProductShape::column(vector)).replace("@RIGHT@", &right);
    let finished = finish_rows(&finish.made.line(), &finish.text(), follower.is_wide());
    (format!("{{\n{constants}{laid}}}\n"), format!("{{\n{constants}{multiplies}{finished}}}\n"))
}
