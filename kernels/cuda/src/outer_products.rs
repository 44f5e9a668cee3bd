//! outer_products: sums over all rows of products of two rows, on tensor cores. Two such sums that
//! share a side are one kernel.
//!
//! promises  the partition of rows depends only on their number and the device; each part is added
//!           in a fixed order, and the parts in order; the sides are adjacent in shared memory: X,
//!           of which many columns are taken at once, is the wider side unless the sides are
//!           exchanged; sums of the same rows in this kernel (`beside`) have the same partition
//! never     adds a float with an atomic
use std::rc::Rc;

use super::kernel_parameters::Parameters;
use super::lane_layout::vector_of;
use super::outer_from_narrow_rows::{NarrowRows, NarrowRowsText, add_matrix_parameters};
use super::outer_sides::{SideRows, lower_side_rows};
use super::plain_products::RowParts;
use super::reduce_all_rows::LAST;
use super::row_values::tables_of;
use super::shared_read_sums::OTHER;
use super::source_text::{KernelBody, KernelDraft, Printer};
use super::statements::Reads;
use super::tensor_core_shapes::{
    self, COLUMNS, OuterProductShape, SideColumns, paired_columns, start_of_other, stored_leaf,
};
use super::walk_lowering::WalkLowering;
use super::walk_steps::{Input, Walk};
use super::{Argument, Blocks, NoKernel, ScheduleKind, THREADS, Unit, warpgroup_products};
use warploom_launch::{Operand, Operation, differing};
use warploom_tuning as tuning;

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
        walk: &Rc<Walk>,
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
        let lowered = self.lower_sides(walk, read, twin, made.as_ref(), lead)?;
        self.note([
            (ScheduleKind::OuterTensorCore, !schedule.by_warpgroups),
            (ScheduleKind::OuterWarpgroup, schedule.by_warpgroups),
            (ScheduleKind::OuterExchanged, sides.are_turned),
            (ScheduleKind::OuterOfRowsMade, made.is_some()),
            (ScheduleKind::OuterPair, twin.is_some()),
        ]);
        self.header();
        if let Some(twin) = twin {
            self.schedule(format!(
                "also computes {}: the two share a side",
                self.list.launches()[twin.launch].name
            ));
        }
        if let Some(made) = &made {
            self.schedule(format!(
                "computes the rows of {}, which are never materialised",
                made.source.out
            ));
        }
        self.schedule(schedule.describe());
        let LoweredSides { rows: side_rows, made: rows_made, reads, lowerings } = lowered;
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
        let elements: u64 = made.iter().map(|output| output.elements).sum();
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
        let merge = joins.then(|| {
            parameters.push_output("unsigned* ticket", Argument::Ticket);
            add_outputs(&made, &mut parameters);
            made.clone()
        });
        let blocks = Blocks::Parts { rows: walk.rows, each, most, tiles: schedule.blocks };
        let (threads, shared_bytes) = (schedule.threads(), schedule.shared_bytes as u32);
        let rows = side_rows;
        let body = TiledOuterBody { schedule, sides, rows, made: rows_made, sums, lead, merge };
        self.add_kernel(KernelDraft {
            threads,
            tables,
            shared_bytes,
            ..KernelDraft::new("outer_products.rs, emit_tiled_outer", parameters, blocks, body)
        });
        self.scratch_bytes =
            self.scratch_bytes.max(u64::from(most) * elements * self.target.bytes_per_real);
        if !joins {
            self.add_parts_of_tiles(made, RowParts { rows: walk.rows, each, most });
        }
        Ok(true)
    }

    /// Lowers the rows of both sides, or what the kernel computes those of one side from.
    fn lower_sides(
        &self,
        walk: &Rc<Walk>,
        read: &[Input],
        twin: Option<&SecondOuter>,
        made: Option<&NarrowRows>,
        lead: u64,
    ) -> Result<LoweredSides, NoKernel> {
        let of_made = made.map(|made| self.read_narrow_rows(&made.source)).transpose()?;
        let of_twin = |side: usize| {
            read[2..].iter().filter(move |_| twin.is_some_and(|twin| twin.side == side))
        };
        let mut lowered = LoweredSides::default();
        for side in 0..2 {
            let loaders = if let (Some(made), Some((walk, read))) =
                (made.filter(|made| made.side == side), &of_made)
            {
                let (rows, loaders) = NarrowRowsText::new(&made.source, walk, read)?;
                rows.add_reads(&mut lowered.reads);
                lowered.made = Some(rows);
                loaders
            } else {
                let inputs: Vec<&Input> = [&read[side]].into_iter().chain(of_twin(side)).collect();
                let (rows, loaders) = lower_side_rows(walk, &inputs, lead)?;
                rows.add_reads(&mut lowered.reads);
                lowered.rows[side] = Some(rows);
                loaders
            };
            lowered.lowerings.extend(loaders);
        }
        Ok(lowered)
    }

    /// The layout of a part, in order: products, sums of X, sums of Z.
    fn tile_outputs(
        &self,
        out: &str,
        sides: &Sides,
        twin: Option<&SecondOuter>,
    ) -> Vec<TileOutput> {
        let (own, of_twin) = sides.elements();
        let output = |buffer: Option<String>, elements: u64| TileOutput { buffer, elements };
        let mut made = vec![output(Some(out.to_owned()), own)];
        made.extend(
            twin.zip(of_twin).map(|(twin, elements)| output(Some(twin.out.clone()), elements)),
        );
        for side in sides.x_and_z() {
            let OuterSide { columns, other } = sides.both[side];
            let (sum, of_other) =
                (self.shared_sum(side), other.and_then(|_| self.shared_sum(OTHER)));
            if sum.is_none() && of_other.is_none() {
                continue;
            }
            made.push(output(sum, columns));
            if let Some(other) = other {
                made.push(output(None, start_of_other(columns) - columns));
                made.push(output(of_other, other));
            }
        }
        made.retain(|output| output.elements > 0);
        made
    }

    /// Adds the kernel that merges the parts of an outer product and of its sums; `made` is the
    /// layout of a part.
    fn add_parts_of_tiles(&mut self, made: Vec<TileOutput>, of_parts: RowParts) {
        let elements: u64 = made.iter().map(|output| output.elements).sum();
        // With few elements a block has few of them, so that all SMs load data. With many elements
        // in few parts a thread has one each.
        let processors = u64::from(self.target.processors);
        let is_of_threads = elements >= u64::from(THREADS) * processors
            && of_parts.most <= tuning::thread_sum_parts();
        let wide = match elements {
            _ if is_of_threads => THREADS,
            few if few < tuning::few_sum_elements() * processors => 8,
            _ => 32,
        };
        let mut parameters = Parameters::new();
        add_outputs(&made, &mut parameters);
        parameters.push("const real* __restrict__ scratch", Argument::Scratch);
        parameters.push("const unsigned parts", of_parts.argument());
        let blocks = Blocks::Fixed([(elements as u32).div_ceil(wide), 1, 1]);
        let body = TilePartsBody { made, wide, is_of_threads };
        self.add_kernel(KernelDraft {
            suffix: "_parts",
            ..KernelDraft::new("outer_products.rs, add_parts_of_tiles", parameters, blocks, body)
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

/// The rows of both sides, or those that the kernel computes for one, and what they read.
#[derive(Default)]
struct LoweredSides {
    rows: [Option<SideRows>; 2],
    made: Option<NarrowRowsText>,
    reads: Reads,
    lowerings: Vec<WalkLowering>,
}

/// The body of an outer product on tensor cores.
struct TiledOuterBody {
    schedule: OuterProductShape,
    sides: Sides,
    /// The rows of both sides; none where the kernel computes them.
    rows: [Option<SideRows>; 2],
    /// The rows that the kernel computes from narrow ones.
    made: Option<NarrowRowsText>,
    /// Whether the rows of each side are summed.
    sums: [bool; 2],
    lead: u64,
    /// The layout of a part, if the last block merges the parts.
    merge: Option<Vec<TileOutput>>,
}

impl KernelBody for TiledOuterBody {
    fn text(&self, _printer: &Printer) -> String {
        let merge = |made: &Vec<TileOutput>| {
            let elements: u64 = made.iter().map(|output| output.elements).sum();
            let told = emit_output_stores(made, "continue");
            let text = ADD_TILES_LAST
                .replace("@ELEMENTS@", &elements.to_string())
                .replace("@TOLD@", &told);
            format!("{LAST}{text}")
        };
        emit_parts(self) + &self.merge.as_ref().map(merge).unwrap_or_default()
    }
}

impl TiledOuterBody {
    /// The rows that are copied for a side.
    fn side_rows(&self, side: usize) -> Option<&SideRows> {
        self.rows[side].as_ref().or(self.made.as_ref().map(|made| &made.positive))
    }
}

fn emit_parts(body: &TiledOuterBody) -> String {
    let TiledOuterBody { schedule, sides, made, sums, lead, .. } = body;
    let [x, z] = sides.x_and_z();
    let [of_x, of_z] = [x, z].map(|side| body.side_rows(side));
    let vector = |rows: Option<&SideRows>| rows.map_or(1, |rows| rows.vector);
    let rows_text = |rows: Option<&SideRows>| rows.map(SideRows::text).unwrap_or_default();
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
    let by_warpgroups = || {
        let (make, row) = if made.is_some() {
            (warpgroup_products::MAKE, warpgroup_products::MADE)
        } else {
            ("", warpgroup_products::COPIED)
        };
        let of_made = |text: fn(&NarrowRowsText) -> String| made.as_ref().map(text);
        let text = warpgroup_products::OF_COLUMNS
            .replace("@NARROW@", &of_made(NarrowRowsText::request).unwrap_or_default())
            .replace("@MATRIX@", &of_made(NarrowRowsText::matrix).unwrap_or_default())
            .replace("@MADE@", make)
            .replace("@ROW@", row);
        let narrow = made.as_ref().map_or(0, |made| made.narrow);
        format!("constexpr unsigned NARROW = {narrow};\n{text}")
    };
    format!(
        "constexpr unsigned X = {}, Z = {}, XV = {}, ZV = {}, RV = {}, GROUPS = {groups}, TILES = {tiles}, ACROSS = {across}, TURNS = {along}, AHEAD = {ahead};
constexpr unsigned PRODUCTS = {};
constexpr bool X_FIRST = {}, SUM_X = {}, SUM_Z = {};
const unsigned rows = rows_given * {lead};
{}",
        sides.both[x].total_columns(),
        sides.both[z].total_columns(),
        vector(of_x),
        vector(of_z),
        vector_of(*tiles, 4),
        own + twin.unwrap_or(0),
        x == 0,
        sums[x],
        sums[z],
        if schedule.by_warpgroups { by_warpgroups() } else { COLUMNS.to_owned() }
            .replace("@X@", &rows_text(of_x))
            .replace("@Z@", &rows_text(of_z))
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

/// Elements of a part that are stored to one buffer; none where no launch reads the sum.
#[derive(Clone)]
struct TileOutput {
    buffer: Option<String>,
    elements: u64,
}

/// Adds the buffers of a part, and the elements of each.
fn add_outputs(made: &[TileOutput], parameters: &mut Parameters) {
    for (number, TileOutput { buffer, elements }) in made.iter().enumerate() {
        if let Some(buffer) = buffer {
            parameters.push_output(
                format!("real* __restrict__ out_{number}"),
                Argument::Buffer(buffer.clone()),
            );
        }
        parameters
            .push(format!("const unsigned elements_{number}"), Argument::Number(*elements as u32));
    }
}

/// Statements that store the sum of an element to its buffer, by position; `next` is the statement
/// that leaves the element.
fn emit_output_stores(made: &[TileOutput], next: &str) -> String {
    let mut told = "unsigned place = element;\n".to_owned();
    for (number, output) in made.iter().enumerate() {
        let put = match &output.buffer {
            Some(_) => format!("out_{number}[place] = sum; "),
            None => String::new(),
        };
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

/// The body of the kernel that merges the parts of an outer product, with these threads along the
/// elements.
struct TilePartsBody {
    made: Vec<TileOutput>,
    wide: u32,
    /// Whether a thread adds all parts of an element.
    is_of_threads: bool,
}

impl KernelBody for TilePartsBody {
    fn text(&self, _printer: &Printer) -> String {
        let TilePartsBody { made, wide, is_of_threads } = self;
        let work = if *is_of_threads {
            tensor_core_shapes::ADD_PARTS_EACH
        } else {
            tensor_core_shapes::ADD_PARTS
        };
        let all: Vec<String> = (0..made.len()).map(|number| format!("elements_{number}")).collect();
        format!(
            "constexpr unsigned WIDE = {wide}, WARPS = {THREADS} / 32, SLICES = {THREADS} / \
                WIDE;\nconst unsigned elements = {};\n{work}{}",
            all.join(" + "),
            emit_output_stores(made, "return")
        )
    }
}

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
