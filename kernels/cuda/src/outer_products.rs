//! outer_products: sums over all rows of products of two rows, on tensor cores. Two such sums that
//! share a side are one kernel.
//!
//! promises  the partition of rows depends only on their number and the device; each part is added
//!           in a fixed order, and the parts in order; the sides are adjacent in shared memory: X,
//!           of which many columns are taken at once, is the wider side unless the sides are
//!           exchanged; sums of the same rows in this kernel (`beside`) have the same partition
//! never     adds a float with an atomic
use super::graph_pooling::{RowValue, lower_row_value, tables_of, thread_lanes};
use super::kernel_parameters::Parameters;
use super::lane_layout::vector_of;
use super::outer_from_narrow_rows::{NarrowRowTexts, add_matrix_parameters};
use super::plain_products::RowParts;
use super::reduce_all_rows::LAST;
use super::shared_read_sums::OTHER;
use super::statements::{Reads, Source};
use super::tensor_core_shapes::{
    self, COLUMNS, OuterProductShape, RowPadding, SideColumns, emit_row_fill, stored_leaf,
};
use super::walk_lowering::WalkLowering;
use super::walk_steps::{Input, Walk};
use super::{
    Argument, Blocks, KernelText, NoKernel, ScheduleKind, THREADS, Unit, warpgroup_products,
};
use warploom_launch::{Operand, Operation, differing};
use warploom_tuning as tuning;

/// Columns of two concatenated rows; the second starts at a vector boundary.
pub(super) fn paired_columns(first: u64, second: u64) -> u64 {
    start_of_other(first) + second
}

fn start_of_other(first: u64) -> u64 {
    first.next_multiple_of(4)
}

/// A second outer product, which this launch's kernel computes as well.
pub(super) struct SecondOuter {
    /// The number of its launch, its output, and which of its operands differs from this launch's.
    launch: usize,
    out: String,
    pub side: usize,
    pub operand: Operand,
}

/// One side: rows of this launch, followed by those of the second outer product.
struct OuterSide {
    columns: u64,
    other: Option<u64>,
}

impl OuterSide {
    /// Columns of all its rows.
    fn total_columns(&self) -> u64 {
        self.other.map_or(self.columns, |other| paired_columns(self.columns, other))
    }
}

/// The two sides. X, whose columns warps hold in their lanes, is the wider one, or the narrower one
/// if the sides are exchanged.
struct Sides {
    both: [OuterSide; 2],
    are_turned: bool,
}

impl Sides {
    fn new(columns: [u64; 2], twin: Option<(usize, u64)>) -> Sides {
        let both = [0, 1].map(|side| OuterSide {
            columns: columns[side],
            other: twin.filter(|(of, _)| *of == side).map(|(_, other)| other),
        });
        Sides { both, are_turned: false }
    }

    /// The numbers of the sides X and Z.
    fn x_and_z(&self) -> [usize; 2] {
        if (self.both[0].total_columns() >= self.both[1].total_columns()) != self.are_turned {
            [0, 1]
        } else {
            [1, 0]
        }
    }

    /// Columns of X and of Z.
    fn size(&self) -> SideColumns {
        let [wide, narrow] = self.x_and_z().map(|side| self.both[side].total_columns() as usize);
        SideColumns { wide, narrow }
    }

    /// Elements of the product, and of the second one.
    fn elements(&self) -> (u64, Option<u64>) {
        let [first, second] = &self.both;
        let twin = first
            .other
            .map(|other| other * second.columns)
            .or(second.other.map(|other| first.columns * other));
        (first.columns * second.columns, twin)
    }
}

impl Unit<'_> {
    /// The second outer product that this launch's kernel computes.
    pub(super) fn second_outer(&self) -> Option<SecondOuter> {
        let (launch, _) = self.twins.iter().find(|(_, later)| **later == self.number)?;
        let launches = self.list.launches();
        let side = differing(self.list, self.launch, launches[*launch])?;
        let Operation::Evaluate { out, inputs, .. } = &launches[*launch].operation else {
            return None;
        };
        Some(SecondOuter {
            launch: *launch,
            out: out.clone(),
            side,
            operand: inputs.get(side)?.clone(),
        })
    }

    /// Emits the kernel of an outer product whose operands the walk reads, the operand of the
    /// second product last. Returns false if it is not for tensor cores.
    pub(super) fn emit_tiled_outer(
        &mut self,
        out: &str,
        walk: &Walk,
        read: &[Input],
        twin: Option<&SecondOuter>,
        lead: u64,
    ) -> Result<bool, NoKernel> {
        let columns = |input: &Input| input.shape().last().copied().unwrap_or(1);
        let [first, second, other @ ..] = read else { return Ok(false) };
        let mut sides = Sides::new(
            [columns(first), columns(second)],
            twin.zip(other.first()).map(|(twin, other)| (twin.side, columns(other))),
        );
        let size = sides.size();
        let Some(schedule) = OuterProductShape::fit(size, self.target) else { return Ok(false) };
        let (rows, are_copied) = (
            self.expected_rows(walk.rows) * lead,
            read.iter().all(|input| stored_leaf(walk, input, lead > 1).is_some()),
        );
        let made = self.narrow_rows_for(self.number);
        let mut schedule = made.as_ref().map_or_else(
            || schedule.with_warpgroups(size.wide, rows, are_copied, self.target),
            |made| made.schedule,
        );
        if let Some(turned) = schedule.turned(size, rows, self.target).filter(|_| made.is_none()) {
            (sides.are_turned, schedule) = (true, turned);
        }
        let of_made = made.as_ref().map(|made| self.read_narrow_rows(&made.source)).transpose()?;
        let of_side = |side: usize| {
            [&read[side]]
                .into_iter()
                .chain(other.iter().filter(move |_| twin.is_some_and(|twin| twin.side == side)))
        };
        let (mut lowerings, mut texts, mut vectors) = (Vec::new(), Vec::new(), Vec::new());
        let (mut texts_made, mut reads) = (NarrowRowTexts::default(), Reads::new());
        for side in 0..2 {
            if let (Some(made), Some((walk, read))) =
                (made.as_ref().filter(|made| made.side == side), &of_made)
            {
                let (of_rows, loaders) = NarrowRowTexts::new(&made.source, walk, read)?;
                texts.push(of_rows.positive.clone());
                reads.extend(of_rows.reads.iter().cloned());
                vectors.push(of_rows.vector);
                lowerings.extend(loaders);
                texts_made = of_rows;
                continue;
            }
            let (text, vector, loaders) =
                emit_side_rows(walk, &of_side(side).collect::<Vec<_>>(), lead)?;
            lowerings.extend(loaders);
            reads.extend(text.reads);
            texts.push(text.text);
            vectors.push(vector);
        }
        self.note([
            (ScheduleKind::OuterTensorCore, !schedule.by_warpgroups),
            (ScheduleKind::OuterWarpgroup, schedule.by_warpgroups),
            (ScheduleKind::OuterExchanged, sides.are_turned),
            (ScheduleKind::OuterOfRowsMade, made.is_some()),
            (ScheduleKind::OuterPair, twin.is_some()),
        ]);
        self.header();
        if let Some(twin) = twin {
            let line = format!(
                "//   (also computes {}: the two share a side)\n",
                self.list.launches()[twin.launch].name
            );
            self.source.push_str(&line);
        }
        if let Some(made) = &made {
            let line = format!(
                "//   (computes the rows of {}, which are never materialised)\n",
                made.source.out
            );
            self.source.push_str(&line);
        }
        self.schedule(&schedule.describe());
        let mut parameters = Parameters::new();
        lowerings.iter().for_each(|lowering| parameters.add_reads(lowering, &reads));
        made.iter().for_each(|made| add_matrix_parameters(&made.source, &mut parameters));
        parameters.push_output("real* __restrict__ scratch", Argument::Scratch);
        parameters.push("const unsigned rows_given", Argument::RowCount(walk.rows));
        let tables = tables_of(&lowerings.iter().collect::<Vec<_>>())?;
        let made = self.tile_outputs(out, &sides, twin);
        let sums = [0, 1].map(|side| {
            self.shared_sum(side).is_some()
                || (twin.is_some_and(|twin| twin.side == side) && self.shared_sum(OTHER).is_some())
        });
        let elements: u64 = made.iter().map(|(_, elements)| elements).sum();
        let each = (tuning::sum_part_rows() / lead.max(1) as u32).max(1);
        let most = self.choose_part_count(&schedule, rows, elements);
        let parts = self.parts_expected(walk.rows, each, most);
        let joins = parts <= tuning::last_block_parts()
            && elements * parts <= tuning::last_block_elements();
        self.note([
            (ScheduleKind::OuterWithSum, sums.contains(&true)),
            (ScheduleKind::PartsInKernel, joins),
            (ScheduleKind::PartsKernel, !joins),
        ]);
        let mut body =
            emit_body(&schedule, &sides, [vectors[0], vectors[1]], &texts, &texts_made, sums, lead);
        if joins {
            parameters.push_output("unsigned* ticket", Argument::Ticket);
            let told = emit_output_stores(&made, &mut parameters, "continue");
            body.push_str(&format!(
                "{LAST}{}",
                ADD_TILES_LAST
                    .replace("@ELEMENTS@", &elements.to_string())
                    .replace("@TOLD@", &told)
            ));
        }
        let blocks = Blocks::Parts { rows: walk.rows, each, most, tiles: schedule.blocks };
        self.add_kernel(KernelText {
            maker: "outer_products.rs, emit_tiled_outer",
            threads: schedule.threads(),
            resident: 1,
            tables: &tables,
            body: &body,
            shared_bytes: schedule.shared_bytes as u32,
            ..KernelText::new(parameters, blocks)
        });
        self.scratch_bytes =
            self.scratch_bytes.max(u64::from(most) * elements * self.target.bytes_per_real);
        if !joins {
            self.add_parts_of_tiles(&made, RowParts { rows: walk.rows, each, most });
        }
        Ok(true)
    }

    /// The layout of a part: its buffers and their elements, in order: products, sums of X, sums of
    /// Z. A buffer is none where no launch reads the sum.
    fn tile_outputs(
        &self,
        out: &str,
        sides: &Sides,
        twin: Option<&SecondOuter>,
    ) -> Vec<(Option<String>, u64)> {
        let (own, of_twin) = sides.elements();
        let mut made = vec![(Some(out.to_owned()), own)];
        made.extend(twin.zip(of_twin).map(|(twin, elements)| (Some(twin.out.clone()), elements)));
        for side in sides.x_and_z() {
            let OuterSide { columns, other } = sides.both[side];
            let (sum, of_other) =
                (self.shared_sum(side), other.and_then(|_| self.shared_sum(OTHER)));
            if sum.is_none() && of_other.is_none() {
                continue;
            }
            made.push((sum, columns));
            if let Some(other) = other {
                made.push((None, start_of_other(columns) - columns));
                made.push((of_other, other));
            }
        }
        made.retain(|(_, elements)| *elements > 0);
        made
    }

    /// Adds the kernel that merges the parts of an outer product and of its sums; `made` is the
    /// layout of a part.
    fn add_parts_of_tiles(&mut self, made: &[(Option<String>, u64)], of_parts: RowParts) {
        let elements: u64 = made.iter().map(|(_, elements)| elements).sum();
        // With few elements a block has few of them, so that all SMs load data. With many elements
        // in few parts a thread has one each.
        let processors = u64::from(self.target.processors);
        let is_of_threads = elements >= u64::from(THREADS) * processors
            && of_parts.most <= tuning::thread_sum_parts();
        let (wide, work) = match elements {
            _ if is_of_threads => (THREADS, tensor_core_shapes::ADD_PARTS_EACH),
            few if few < tuning::few_sum_elements() * processors => {
                (8, tensor_core_shapes::ADD_PARTS)
            }
            _ => (32, tensor_core_shapes::ADD_PARTS),
        };
        let mut parameters = Parameters::new();
        let told = emit_output_stores(made, &mut parameters, "return");
        parameters.push("const real* __restrict__ scratch", Argument::Scratch);
        parameters.push("const unsigned parts", of_parts.argument());
        let all: Vec<String> = (0..made.len()).map(|number| format!("elements_{number}")).collect();
        let body = format!(
            "constexpr unsigned WIDE = {wide}, WARPS = {THREADS} / 32, SLICES = {THREADS} / \
                WIDE;\nconst unsigned elements = {};\n{}{told}",
            all.join(" + "),
            work
        );
        let blocks = Blocks::Fixed([(elements as u32).div_ceil(wide), 1, 1]);
        self.add_kernel(KernelText {
            maker: "outer_products.rs, add_parts_of_tiles",
            suffix: "_parts",
            resident: 1,
            body: &body,
            ..KernelText::new(parameters, blocks)
        });
    }

    /// The number of parts that moves the fewest elements: rows that the slowest SM reads, scaled
    /// to all SMs, plus parts, which are written and read again. If the number of rows is unknown,
    /// they dominate.
    fn choose_part_count(&self, schedule: &OuterProductShape, rows: u64, elements: u64) -> u32 {
        let (of_part, processors) = (
            u64::from(schedule.blocks[0]) * u64::from(schedule.blocks[1]),
            u64::from(self.target.processors),
        );
        let rows = if rows == 0 { f64::from(u32::MAX) } else { rows as f64 };
        let moved = |parts: u32| {
            let turns = (u64::from(parts) * of_part).div_ceil(processors);
            let of_rows =
                (turns * processors * schedule.columns_of_block()) as f64 * rows / f64::from(parts);
            of_rows + 2.0 * (u64::from(parts) * elements) as f64
        };
        let most = self.parts_most(elements).min(self.target.processors);
        (1..=most).min_by(|one, other| moved(*one).total_cmp(&moved(*other))).unwrap_or(most)
    }
}

/// Statements that load rows of a side, and what they read.
pub(super) struct SideText {
    pub text: String,
    pub reads: Reads,
}

/// Statements that load rows of a side, the elements per load, and the lowerings of the rows'
/// values.
pub(super) fn emit_side_rows<'a>(
    walk: &'a Walk,
    inputs: &[&Input],
    lead: u64,
) -> Result<(SideText, usize, Vec<WalkLowering<'a>>), NoKernel> {
    let columns = |input: &Input| input.shape().last().copied().unwrap_or(1);
    // A stored row is read up to its stride: the padding yields elements that are not stored.
    let widest = |input: &Input| match stored_leaf(walk, input, lead > 1)
        .filter(|leaf| leaf.columns == columns(input))
    {
        Some(leaf) => vector_of(leaf.stride as usize, 4),
        None => vector_of(columns(input) as usize, 4),
    };
    let vector = inputs.iter().map(|input| widest(input)).min().unwrap_or(1);
    let (mut lowerings, mut texts, mut reads) = (Vec::new(), Vec::new(), Reads::new());
    for input in inputs {
        let mut lowering = WalkLowering::new(
            walk,
            thread_lanes(columns(input) as usize, vector_of(columns(input) as usize, 4)),
        );
        let lies = stored_leaf(walk, input, lead > 1);
        let made = match lies {
            Some(_) => RowValue::none(),
            None => lower_row_value(&mut lowering, input)?,
        };
        made.statements.add_reads(&mut reads);
        reads.extend(lies.map(|leaf| Source::Rows(leaf.name.clone())));
        texts.push(emit_row_fill(
            lies.map(|leaf| (leaf, RowPadding::Any)),
            &made,
            vector,
            columns(input) as usize,
        ));
        lowerings.push(lowering);
    }
    let text = match (inputs, texts.as_slice()) {
        ([first, other], [of_first, of_other]) => BOTH
            .replace("@START@", &start_of_other(columns(first)).to_string())
            .replace("@COLUMNS@", &columns(first).to_string())
            .replace("@OTHERS@", &columns(other).to_string())
            .replace("@FIRST@", of_first)
            .replace("@OTHER@", of_other),
        _ => texts.concat(),
    };
    Ok((SideText { text, reads }, vector, lowerings))
}

fn emit_body(
    schedule: &OuterProductShape,
    sides: &Sides,
    vectors: [usize; 2],
    texts: &[String],
    made: &NarrowRowTexts,
    sums: [bool; 2],
    lead: u64,
) -> String {
    let [x, z] = sides.x_and_z();
    let OuterProductShape { groups, tiles, across, along, ahead, .. } = schedule;
    let (own, twin) = sides.elements();
    let place = match [&sides.both[x], &sides.both[z]] {
        [side @ OuterSide { other: Some(_), .. }, _] => {
            emit_paired_place(side, "of_x", "of_z", "Z", "X_FIRST")
        }
        [_, side @ OuterSide { other: Some(_), .. }] => {
            emit_paired_place(side, "of_z", "of_x", "X", "!X_FIRST")
        }
        _ => PLACE.to_owned(),
    };
    let is_made = made.narrow > 0;
    let by_warpgroups = || {
        let (make, row) = if is_made {
            (warpgroup_products::MAKE, warpgroup_products::MADE)
        } else {
            ("", warpgroup_products::COPIED)
        };
        let text = warpgroup_products::OF_COLUMNS
            .replace("@NARROW@", &made.request)
            .replace("@MATRIX@", &made.matrix)
            .replace("@MADE@", make)
            .replace("@ROW@", row);
        format!("constexpr unsigned NARROW = {};\n{text}", made.narrow)
    };
    format!(
        "constexpr unsigned X = {}, Z = {}, XV = {}, ZV = {}, RV = {}, GROUPS = {groups}, TILES = {tiles}, ACROSS = {across}, TURNS = {along}, AHEAD = {ahead};
constexpr unsigned PRODUCTS = {};
constexpr bool X_FIRST = {}, SUM_X = {}, SUM_Z = {};
const unsigned rows = rows_given * {lead};
{}",
        sides.both[x].total_columns(),
        sides.both[z].total_columns(),
        vectors[x],
        vectors[z],
        vector_of(*tiles, 4),
        own + twin.unwrap_or(0),
        x == 0,
        sums[x],
        sums[z],
        if schedule.by_warpgroups { by_warpgroups() } else { COLUMNS.to_owned() }
            .replace("@X@", &texts[x])
            .replace("@Z@", &texts[z])
            .replace("@PLACE@", &place),
    )
}

/// Statements that map an element to its position in two products, the second after the first.
fn emit_paired_place(
    side: &OuterSide,
    place: &str,
    shared: &str,
    wide: &str,
    is_first: &str,
) -> String {
    PLACE_OF_BOTH
        .replace("@SIDE@", place)
        .replace("@SHARED@", shared)
        .replace("@WIDE@", wide)
        .replace("@IS_FIRST@", is_first)
        .replace("@START@", &start_of_other(side.columns).to_string())
        .replace("@COLUMNS@", &side.columns.to_string())
        .replace("@OTHERS@", &side.other.unwrap_or(0).to_string())
}

/// Statements that store the sum of an element to its buffer, by position; `next` is the statement
/// that leaves the element.
fn emit_output_stores(
    made: &[(Option<String>, u64)],
    parameters: &mut Parameters,
    next: &str,
) -> String {
    let mut told = "unsigned place = element;\n".to_owned();
    for (number, (buffer, elements)) in made.iter().enumerate() {
        let mut put = String::new();
        if let Some(buffer) = buffer {
            parameters.push_output(
                format!("real* __restrict__ out_{number}"),
                Argument::Buffer(buffer.clone()),
            );
            put = format!("out_{number}[place] = sum; ");
        }
        parameters
            .push(format!("const unsigned elements_{number}"), Argument::Number(*elements as u32));
        if number + 1 < made.len() {
            told.push_str(&format!(
                "if (place < elements_{number}) {{ {put}{next}; }}\nplace -= elements_{number};\n"
            ));
        } else {
            told.push_str(&format!("{}\n", put.trim_end()));
        }
    }
    told
}

/// Concatenates rows of two buffers: the columns of the first, and from `START` on those of the
/// second.
const BOTH: &str = "const unsigned of_both = column;
if (of_both < @START@) {
const unsigned column = of_both;
const bool here = row < end && column < @COLUMNS@;
@FIRST@} else {
const unsigned column = of_both - @START@;
const bool here = row < end && column < @OTHERS@;
@OTHER@}
";

/// The position of an element among those of a part, and whether it exists.
const PLACE: &str = "const bool is_told = x0 + x < X && z0 + z < Z;
const unsigned place = X_FIRST ? (x0 + x) * Z + z0 + z : (z0 + z) * X + x0 + x;
";

/// The same where a side has rows of two products.
const PLACE_OF_BOTH: &str = "const unsigned of_x = x0 + x, of_z = z0 + z;
const bool is_other = @SIDE@ >= @START@;
const unsigned own = is_other ? @SIDE@ - @START@ : @SIDE@, wide = is_other ? @OTHERS@ : @COLUMNS@;
const bool is_told = own < wide && @SHARED@ < @WIDE@;
const unsigned place = (is_other ? @COLUMNS@ * @WIDE@ : 0) + (@IS_FIRST@ ? own * @WIDE@ + @SHARED@ : @SHARED@ * wide + own);
";

/// Adds the parts in the last block, one thread per element.
const ADD_TILES_LAST: &str = "const unsigned parts = gridDim.x;
for (unsigned element = threadIdx.x; element < @ELEMENTS@u; element += blockDim.x) {
real sum = 0;
for (unsigned first = 0; first < parts; first += 16) {
real several[16];
UNROLL for (int i = 0; i < 16; i++) several[i] = first + i < parts ? __ldcg(scratch + (offset_t)(first + i) * @ELEMENTS@u + element) : (real)0;
UNROLL for (int i = 0; i < 16; i++) sum += several[i];
}
@TOLD@}
";
