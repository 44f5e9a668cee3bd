//! tensor_core_products: kernels of products on tensor cores: one product; the sum of two; and a
//! product with consumers that multiply its rows.
//!
//! promises  a kernel depends only on its launches and the device; the rows that a consumer
//!           multiplies are the stored ones, bit for bit, read from shared memory of the warp that
//!           computed them
//! never     decides which launches may be merged (`launch::MergedLaunches`)
use super::graph_pooling::{RowValue, lower_row_value, tables_of, thread_lanes};
use super::kernel_parameters::Parameters;
use super::lane_layout::{Lanes, vector_of};
use super::plain_products::{
    Finish, Index, ProductShape, assume_nothing, lower_finish, product_parameters,
};
use super::statement_text::pointer;
use super::statements::{RegisterValue, Source, Statement};
use super::tensor_core_shapes::{
    self, FEW_ROWS, FINISH, LONG_ROWS, MatrixPlacement, ProductSize, ROWS, RowPadding,
    RowProductShape, emit_row_fill, stored_leaf,
};
use super::walk_lowering::WalkLowering;
use super::walk_steps::{From, Leaf, Walk};
use super::{Blocks, KernelText, Matmul, NoKernel, ScheduleKind, Unit, warpgroup_products};
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

/// A kernel of products, before it is printed.
struct TiledProduct<'a> {
    shape: &'a ProductShape,
    sources: Vec<LeftRows<'a>>,
    followers: &'a [ConsumerProduct<'a>],
    lowering: WalkLowering<'a>,
    finish: Finish,
    schedule: RowProductShape,
    /// The offset in shared memory of the rows that consumers multiply.
    next: usize,
    tables: String,
    rows: Rows,
    lead: u64,
}

/// The left operand of a product.
struct LeftRows<'a> {
    shape: &'a ProductShape,
    /// The buffer of the rows, if they are stored, and how their padding is read.
    lies: Option<(&'a Leaf, RowPadding)>,
    /// How to compute the rows, if they are not stored.
    made: RowValue,
    /// Elements per load.
    vector: usize,
    loader: WalkLowering<'a>,
}

impl<'a> LeftRows<'a> {
    fn new(walk: &'a Walk, shape: &'a ProductShape) -> Result<LeftRows<'a>, NoKernel> {
        let input = &walk.steps[shape.number].inputs[0];
        let lies = stored_leaf(walk, input, shape.plain);
        // A row is read in vectors up to its stride: zeros of the padding do no harm.
        let to_the_end = lies
            .filter(|leaf| leaf.columns == shape.inner as u64)
            .map_or(shape.inner, |leaf| leaf.stride as usize);
        let vector = vector_of(to_the_end, 4);
        let is_whole = |leaf: &Leaf| leaf.ends_in_zeros || shape.inner.is_multiple_of(vector);
        let copied = lies
            .map(|leaf| (leaf, if is_whole(leaf) { RowPadding::Any } else { RowPadding::Zeros }));
        let mut loader =
            WalkLowering::new(walk, thread_lanes(shape.inner, vector_of(shape.inner, 4)));
        let made =
            if lies.is_some() { RowValue::none() } else { lower_row_value(&mut loader, input)? };
        Ok(LeftRows { shape, lies: copied, made, vector, loader })
    }

    /// Statements that copy one K step of the rows to shared memory; `step` is the expression of
    /// its number.
    fn emit_request(&self, step: &str, pieces: &str) -> String {
        tensor_core_shapes::REQUEST
            .replace("@STEP@", step)
            .replace("@PIECES@", pieces)
            .replace("@LEFT@", &emit_row_fill(self.lies, &self.made, self.vector, self.shape.inner))
    }

    fn steps(&self) -> usize {
        self.shape.inner.div_ceil(32)
    }
}

/// A product of the rows that the kernel computes: the consumer of a merged kernel.
struct ConsumerProduct<'a> {
    shape: &'a ProductShape,
    tiles: usize,
    parts: usize,
    lowering: WalkLowering<'a>,
    finish: Finish,
}

impl<'a> ConsumerProduct<'a> {
    /// None if it is not such a product.
    fn try_new(
        walk: &'a Walk,
        shape: &'a ProductShape,
        matmul: Matmul,
    ) -> Option<ConsumerProduct<'a>> {
        let tiles = shape.wide.div_ceil(8);
        let is_fit = shape.lead == 1
            && !shape.plain
            && walk.rows == Rows::Nodes
            && shape.inner >= tuning::tensor_inner_least() as usize;
        let (lowering, finish) = is_fit
            .then(|| lower_tiled_finish(walk, std::slice::from_ref(shape), tiles, 1, &[]))
            .flatten()?;
        Some(ConsumerProduct {
            shape,
            tiles,
            parts: 1 + usize::from(
                shape.inner * shape.wide <= tuning::split_matrix_elements()
                    && matmul == Matmul::F32,
            ),
            lowering,
            finish,
        })
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
fn lower_tiled_finish<'a>(
    walk: &'a Walk,
    shapes: &[ProductShape],
    tiles: usize,
    slices: usize,
    held: &[From],
) -> Option<(WalkLowering<'a>, Finish)> {
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
    /// Applies `take` to the tensor-core kernel of these products; none if they do not fit one
    /// kernel.
    fn with_tiled<T>(
        &self,
        joined: &MergedProducts,
        take: impl FnOnce(&TiledProduct) -> T,
    ) -> Result<Option<T>, NoKernel> {
        let MergedProducts { number, first, followers } = joined;
        let (number, first) = (*number, *first);
        let launches = self.list.launches();
        let walk_of = |operation: &Operation| {
            Walk::from_operation(self.list, self.target.bytes_per_real, operation)
        };
        let both = first.and_then(|first| self.merge_sum(launches[first], launches[number]));
        if first.is_some() && both.is_none() {
            return Ok(None);
        }
        let Some(walk) = walk_of(both.as_ref().unwrap_or(&launches[number].operation)) else {
            return Ok(None);
        };
        let shapes = if first.is_some() {
            ProductShape::all_from_walk(&walk)?
        } else {
            vec![ProductShape::from_walk(&walk)?]
        };
        let walks: Vec<Walk> = followers
            .iter()
            .filter_map(|follower| walk_of(&launches[*follower].operation))
            .collect();
        let of_followers =
            walks.iter().map(ProductShape::from_walk).collect::<Result<Vec<_>, _>>()?;
        let after: Vec<ConsumerProduct> = walks
            .iter()
            .zip(&of_followers)
            .filter_map(|(walk, shape)| ConsumerProduct::try_new(walk, shape, self.target.matmul))
            .collect();
        if after.len() < followers.len() {
            return Ok(None);
        }
        let rows = followers.first().and_then(|follower| {
            super::plain_products::left_buffer(&launches[*follower].operation)
        });
        let product = self.plan_tiled(&walk, &shapes, &after, rows)?;
        Ok(product.map(|product| take(&product)))
    }

    /// A product with as many merged launches as fit one kernel; none if it is not for tensor
    /// cores.
    pub(super) fn merge_products(&self, number: usize) -> Result<Option<MergedProducts>, NoKernel> {
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
            match self.with_tiled(&joined, |_| ()) {
                Err(_) | Ok(None) if first.is_some() || count > 0 => {}
                fits => return Ok(fits?.map(|()| joined)),
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

    fn plan_tiled<'b>(
        &self,
        walk: &'b Walk,
        shapes: &'b [ProductShape],
        followers: &'b [ConsumerProduct<'b>],
        rows_made: Option<&str>,
    ) -> Result<Option<TiledProduct<'b>>, NoKernel> {
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
        let lowerings: Vec<&WalkLowering> = sources
            .iter()
            .map(|source| &source.loader)
            .chain([&lowering])
            .chain(followers.iter().map(|follower| &follower.lowering))
            .collect();
        let tables = tables_of(&lowerings)?;
        Ok(Some(TiledProduct {
            shape,
            sources,
            followers,
            lowering,
            finish,
            schedule,
            next,
            tables,
            rows,
            lead,
        }))
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
    pub(super) fn add_merged_products(&mut self, joined: &MergedProducts) -> Result<(), NoKernel> {
        let nodes = self.expected_vertices();
        let made = self.with_tiled(joined, |product| {
            let widths: Vec<bool> =
                product.followers.iter().map(ConsumerProduct::is_wide).collect();
            let scratch_bytes = product.schedule.bytes_between(nodes);
            let parameters = product.parameters(scratch_bytes > 0);
            let text = ProductText {
                tables: product.tables.clone(),
                body: product.body(),
                parameters,
                grid: self.blocks_of_tiles(product),
                scratch_bytes,
            };
            (product.schedule, widths, text)
        })?;
        let Some((schedule, widths, text)) = made else {
            return Err(NoKernel::new("merged products that do not fit one kernel".to_owned()));
        };
        self.note_product(&schedule, joined, &widths);
        self.header();
        self.schedule(&schedule.describe());
        self.scratch_bytes = self.scratch_bytes.max(text.scratch_bytes);
        self.add_kernel(KernelText {
            maker: "tensor_core_products.rs, add_merged_products",
            threads: 32 * schedule.warps as u32,
            resident: schedule.blocks,
            tables: &text.tables,
            body: &text.body,
            shared_bytes: schedule.shared_bytes as u32,
            ..KernelText::new(text.parameters, text.grid)
        });
        Ok(())
    }
}

/// The text and the launch configuration of a kernel of products.
struct ProductText {
    tables: String,
    body: String,
    parameters: Parameters,
    grid: Blocks,
    scratch_bytes: u64,
}

impl TiledProduct<'_> {
    fn parameters(&self, has_scratch: bool) -> Parameters {
        let TiledProduct { shape, sources, followers, lowering, finish, schedule, rows, .. } = self;
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
        for source in sources {
            source.made.statements.add_reads(&mut reads);
            reads.extend(source.lies.map(|(leaf, _)| Source::Rows(leaf.name.clone())));
        }
        product_parameters(&mut given, shape, *rows, &loaders, lowering, &reads);
        for follower in *followers {
            let reads = follower.finish.reads();
            product_parameters(&mut given, follower.shape, *rows, &[], &follower.lowering, &reads);
        }
        given
    }

    fn body(&self) -> String {
        let vector = self.lowering.lanes.vector;
        emit_body(
            &self.sources,
            &self.schedule,
            &self.finish,
            self.followers,
            vector,
            self.next,
            self.lead,
        )
    }
}

fn emit_body(
    sources: &[LeftRows],
    schedule: &RowProductShape,
    finish: &Finish,
    followers: &[ConsumerProduct],
    vector: usize,
    next: usize,
    lead: u64,
) -> String {
    let shape = sources[0].shape;
    let constants = format!(
        "constexpr unsigned K = {}, C = {}, WIDE = {}, KV = {}, MV = {}, V = {vector}, L = 4, Q = {}, TILES = {}, STEPS = {}, AHEAD = {}, PARTS = {}, WARPS = {}, TEAM = {};
const unsigned rows = rows_given * {lead};\n",
        shape.inner,
        shape.places,
        shape.wide,
        sources[0].vector,
        vector_of(shape.inner, 4),
        2 * schedule.tiles / vector,
        schedule.tiles,
        schedule.steps,
        schedule.ahead,
        1 + usize::from(schedule.split),
        schedule.warps,
        schedule.max_team(),
    );
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
        let mut place = next + schedule.finishing_warps() * steps * 128;
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
    format!("{constants}{text}")
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
            let constants = format!("constexpr unsigned K = {inner}, KV = {};\n", second.vector);
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
