//! total: what is added up over all rows: rows, or products of two rows.
//!
//! promises  rows are cut into parts by their number and the device alone, each part is added up in one order, and the parts in order; what
//!           is summed beside a product of the same rows (`beside`) is cut as the product is
//! never     adds a float with an atomic
use super::beside::Maker;
use super::dense::{Value, lanes, lies_in_rows, plain_row, tables_of, value};
use super::kernel::{Parameters, THREADS, about_row, vector_of, widest_vector};
use super::tensor::{self, COLUMNS, OfColumns, Tail, filled, lying};
use super::walk::{Input, Walk};
use super::warpgroup;
use super::writer::Writer;
use super::{Argument, Blocks, Kernel, Refused, Unit};
use crate::gir::{EdgeRows, Op, Type};
use crate::launch::{LaunchList, Operand, Operation, Rowed, Rows};

/// Bytes of the parts of a sum over rows, at most.
const PARTS_BYTES: u64 = 32 << 20;
/// Parts for each processor, at most, and rows of a part at least.
const PARTS_OF_PROCESSOR: u64 = 4;
const PART_ROWS: u32 = 64;
/// Elements of all parts that the block which is done last adds up itself, at most, and parts that lie one after the other: with more, a kernel
/// of their own adds them up sooner.
pub(super) const JOINED_MOST: u64 = 8 << 10;
const JOINED_PARTS: u64 = 64;

/// How a side of the product lies over threads: columns, neighbouring ones of a thread, threads.
#[derive(Clone, Copy)]
struct Side {
    columns: u64,
    vector: usize,
    lanes: usize,
}

impl Side {
    fn of(columns: u64, vector_most: usize, lanes_most: usize) -> Side {
        let vector = vector_of(columns as usize, vector_most);
        Side { columns, vector, lanes: (columns as usize).div_ceil(vector).next_power_of_two().min(lanes_most) }
    }

    fn tiles(self) -> u32 {
        (self.columns as usize).div_ceil(self.vector * self.lanes) as u32
    }
}

impl Unit<'_> {
    /// Sums over all rows: of rows, or of products of rows.
    pub(super) fn total(&mut self) -> Result<(), Refused> {
        let Operation::Evaluate { out, op, inputs, .. } = &self.launch.operation else { return Err(Refused::new("a total that is none".to_owned())) };
        // What is the same for all is one row.
        let rows = rows_of(self.list, inputs).unwrap_or(Rows::Fixed(1));
        // Sums that read the same rows are made here, too.
        let others = self.sums_along(op);
        let inputs = &inputs.iter().chain(others.iter().map(|(_, input)| input)).cloned().collect::<Vec<_>>();
        let (walk, read) =
            Walk::reading((self.list, self.target.bytes_per_real), rows, inputs).ok_or_else(|| Refused::new("an operation that no walk does".to_owned()))?;
        if read.iter().any(|input| input.kind() != Type::Real) {
            return Err(Refused::new(format!("{} of what is no real number", op.words())));
        }
        let most = 4.min(2 * widest_vector(self.target.bytes_per_real));
        let (sides, lead) = match (op, read.as_slice()) {
            (Op::Outer, [first, second]) => {
                let columns = |input: &Input| input.shape().last().copied().unwrap_or(1);
                let lead = first.shape().iter().product::<u64>() / columns(first).max(1);
                (vec![Side::of(columns(first), most, 16), Side::of(columns(second), most, 16)], lead)
            }
            _ => (vec![Side::of(read[0].shape().iter().product(), most, 32)], 1),
        };
        let elements: u64 = sides.iter().map(|side| side.columns).product();
        if elements == 0 {
            return Ok(());
        }
        if let Some(maker) = self.beside.get(&self.number) {
            self.header();
            let line = format!("// with that of {}\n", self.list.launches()[maker.launch].name);
            self.source.push_str(&line);
            return Ok(());
        }
        if lead > 1 && !read.iter().all(lies_in_rows) {
            return Err(Refused::new("an outer product of several rows a vertex that lie nowhere".to_owned()));
        }
        if let (Op::Outer, [first, second]) = (op, sides.as_slice())
            && let Some(schedule) = OfColumns::of((first.columns.max(second.columns) as usize, first.columns.min(second.columns) as usize), self.target)
        {
            return self.outer_of_tiles(out, (&walk, &read), (schedule, [first.columns, second.columns], lead));
        }
        let mut parameters = Parameters::new();
        let (writers, values) = rows_read(&walk, (&sides, lead), read.chunks(1 + others.len()), &mut parameters)?;
        self.header();
        let made: Vec<String> = std::iter::once(out.clone()).chain(others.into_iter().map(|(out, _)| out)).collect();
        let elements = elements * made.len() as u64;
        let (most, each) = (self.parts_most(elements), (PART_ROWS / lead.max(1) as u32).max(1));
        let joins = elements * self.parts_expected(rows, (each, most)) <= JOINED_MOST;
        parameters.push("real* __restrict__ scratch", Argument::Scratch);
        parameters.push("const unsigned rows_given", Argument::RowCount(rows));
        let mut body = body(&sides, &values, lead);
        if joins {
            let added = added(&made, elements, &mut parameters);
            parameters.push("unsigned* ticket", Argument::Ticket);
            body.push_str(&format!("{LAST}{}", ADD_PARTS_LAST.replace("@ADDED@", &added).replace("@ELEMENTS@", &elements.to_string())));
        }
        let tables = tables_of(&writers.iter().collect::<Vec<_>>())?;
        let name = self.define("", (2, &parameters.text()), (&tables, &body));
        let tiles = match sides.as_slice() {
            [only] => [only.tiles(), 1],
            [first, second, ..] => [first.tiles(), second.tiles()],
            [] => [1, 1],
        };
        self.kernels.push(Kernel { name, arguments: parameters.given(), blocks: Blocks::Parts { rows, each, most, tiles }, threads: THREADS, shared_bytes: 0 });
        if !joins {
            self.add_parts(&made, (elements as u32, Argument::Parts { rows, each, most }));
        }
        self.scratch_bytes = self.scratch_bytes.max(u64::from(most) * elements * self.target.bytes_per_real);
        Ok(())
    }

    /// Sums over rows that this one, if it is such, makes as well, since both read the same rows: where they go, and what they add up.
    fn sums_along(&self, op: &Op) -> Vec<(String, Operand)> {
        let launches = self.list.launches();
        let of = |sum: &usize| match &launches[*sum].operation {
            Operation::Evaluate { out, inputs, .. } => inputs.first().map(|input| (out.clone(), input.clone())),
            _ => None,
        };
        let along = self.beside.iter().filter(|(_, maker)| *op == Op::SumRows && maker.launch == self.number).map(|(sum, _)| sum);
        along.filter_map(of).collect()
    }

    /// Outer products on tensor cores. The sides lie beside each other in shared memory, the wider one where 32 columns are taken at once.
    fn outer_of_tiles(&mut self, out: &str, (walk, read): (&Walk, &[Input]), (schedule, columns, lead): (OfColumns, [u64; 2], u64)) -> Result<(), Refused> {
        let are_copied = read.iter().all(|input| lying(walk, input, lead > 1).is_some());
        let schedule = schedule.with_warpgroups(columns[0].max(columns[1]) as usize, (self.count(walk.rows) * lead, are_copied), self.target);
        let mut writers: Vec<Writer> = columns.iter().map(|columns| Writer::new(walk, lanes(*columns as usize, vector_of(*columns as usize, 4)))).collect();
        let (mut texts, mut vectors) = (Vec::new(), Vec::new());
        for ((input, columns), writer) in read.iter().zip(columns).zip(&mut writers) {
            let lies = lying(walk, input, lead > 1);
            let made = match lies {
                Some(_) => Value { statements: String::new(), at: String::new() },
                None => value(writer, input)?,
            };
            // Of a row that lies there all is taken: what is beyond its columns makes elements that are not put down.
            let vector = lies.filter(|leaf| leaf.columns == columns).map_or(writer.lanes.vector, |leaf| vector_of(leaf.stride as usize, 4));
            texts.push(filled(lies.map(|leaf| (leaf, Tail::Any)), &made, (vector, columns as usize)));
            vectors.push(vector);
        }
        self.header();
        self.schedule(&schedule.words());
        let mut parameters = Parameters::new();
        writers.iter().zip(&texts).for_each(|(writer, text)| parameters.of_writer(writer, text));
        parameters.push("real* __restrict__ scratch", Argument::Scratch);
        parameters.push("const unsigned rows_given", Argument::RowCount(walk.rows));
        let tables = tables_of(&writers.iter().collect::<Vec<_>>())?;
        let vectors = [vectors[0], vectors[1]];
        let sums = [0, 1].map(|operand| self.sum_beside(operand));
        let mut made = vec![(out.to_owned(), columns[0] * columns[1])];
        made.extend(wider_first(columns).into_iter().filter_map(|side| Some((sums[side].clone()?, columns[side]))));
        let elements: u64 = made.iter().map(|(_, elements)| elements).sum();
        let (rows, each) = (walk.rows, (PART_ROWS / lead.max(1) as u32).max(1));
        let most = self.parts_of_tiles(&schedule, (self.count(rows) * lead, elements));
        let parts = self.parts_expected(rows, (each, most));
        let joins = parts <= JOINED_PARTS && elements * parts <= JOINED_MOST;
        let mut body = body_of_tiles(&schedule, (columns, vectors), (&texts, sums.each_ref().map(Option::is_some)), lead);
        if joins {
            parameters.push("unsigned* ticket", Argument::Ticket);
            let told = told_in_order(&made, &mut parameters, "continue");
            body.push_str(&format!("{LAST}{}", ADD_TILES_LAST.replace("@ELEMENTS@", &elements.to_string()).replace("@TOLD@", &told)));
        }
        let name = self.define_for((schedule.threads(), 1), ("", &parameters.text()), (&tables, &body));
        let blocks = Blocks::Parts { rows, each, most, tiles: schedule.blocks };
        let (threads, shared_bytes) = (schedule.threads(), schedule.shared_bytes as u32);
        self.kernels.push(Kernel { name, arguments: parameters.given(), blocks, threads, shared_bytes });
        self.scratch_bytes = self.scratch_bytes.max(u64::from(most) * elements * self.target.bytes_per_real);
        if !joins {
            self.add_parts_of_tiles(&made, Argument::Parts { rows, each, most });
        }
        Ok(())
    }

    /// The sum over rows of an operand, where this launch makes that too.
    pub(super) fn sum_beside(&self, operand: usize) -> Option<String> {
        let (sum, _) = self.beside.iter().find(|(_, maker)| **maker == Maker { launch: self.number, operand })?;
        self.list.launches()[*sum].operation.writes().first().map(|name| name.clone().into_owned())
    }

    /// The parts of an outer product and of what is added up beside it: buffers and their elements, as a part has them one after the other.
    fn add_parts_of_tiles(&mut self, made: &[(String, u64)], parts: Argument) {
        let elements: u64 = made.iter().map(|(_, elements)| elements).sum();
        // Where there are few elements a block has few of them, so that all processors ask for something.
        let wide = if elements < 64 * u64::from(self.target.processors) { 8 } else { 32 };
        let mut parameters = Parameters::new();
        let told = told_in_order(made, &mut parameters, "return");
        parameters.push("const real* __restrict__ scratch", Argument::Scratch);
        parameters.push("const unsigned parts", parts);
        let all: Vec<String> = (0..made.len()).map(|number| format!("elements_{number}")).collect();
        let body = format!(
            "constexpr unsigned WIDE = {wide}, WARPS = {THREADS} / 32, SLICES = {THREADS} / WIDE;\nconst unsigned elements = {};\n{}{told}",
            all.join(" + "),
            tensor::ADD_PARTS
        );
        let name = self.define("_parts", (1, &parameters.text()), ("", &body));
        let blocks = Blocks::Fixed([(elements as u32).div_ceil(wide), 1, 1]);
        self.kernels.push(Kernel { name, arguments: parameters.given(), blocks, threads: THREADS, shared_bytes: 0 });
    }

    /// The parts of sums, in order: a warp for each element.
    pub(super) fn add_parts(&mut self, made: &[String], (elements, parts): (u32, Argument)) {
        let mut parameters = Parameters::new();
        let added = added(made, u64::from(elements), &mut parameters);
        parameters.push("const real* __restrict__ scratch", Argument::Scratch);
        parameters.push("const unsigned elements", Argument::Number(elements));
        parameters.push("const unsigned parts", parts);
        let name = self.define("_parts", (1, &parameters.text()), ("", &ADD_PARTS.replace("@ADDED@", &added)));
        let blocks = Blocks::Fixed([elements.div_ceil(THREADS / 32), 1, 1]);
        self.kernels.push(Kernel { name, arguments: parameters.given(), blocks, threads: THREADS, shared_bytes: 0 });
    }

    /// Into how many parts these rows are cut, as far as a plan knows.
    fn parts_expected(&self, rows: Rows, (each, most): (u32, u32)) -> u64 {
        let count = self.count(rows);
        if count == 0 { u64::from(most) } else { count.div_ceil(u64::from(each)).clamp(1, u64::from(most)) }
    }

    /// Into how many parts so many rows are cut, at most, by what moves: rows that the slowest processor reads, each for a share of all there is, and
    /// parts, which are written and read again. Where nobody knows how many rows, they alone count (one H100, 3,327 rows of 3,703 by 64, by warps:
    /// 69 us with as many parts as fill all turns, and 54).
    fn parts_of_tiles(&self, schedule: &OfColumns, (rows, elements): (u64, u64)) -> u32 {
        let (of_part, processors) = (u64::from(schedule.blocks[0]) * u64::from(schedule.blocks[1]), u64::from(self.target.processors));
        let rows = if rows == 0 { f64::from(u32::MAX) } else { rows as f64 };
        let moved = |parts: u32| {
            let turns = (u64::from(parts) * of_part).div_ceil(processors);
            let of_rows = (turns * processors * schedule.columns_of_block()) as f64 * rows / f64::from(parts);
            of_rows + 2.0 * (u64::from(parts) * elements) as f64
        };
        let most = self.parts_most(elements).min(self.target.processors);
        (1..=most).min_by(|one, other| moved(*one).total_cmp(&moved(*other))).unwrap_or(most)
    }

    /// Into how many parts a sum over rows is cut, at most.
    fn parts_most(&self, elements: u64) -> u32 {
        let fitting = PARTS_BYTES / (elements * self.target.bytes_per_real).max(1);
        fitting.clamp(1, PARTS_OF_PROCESSOR * u64::from(self.target.processors)) as u32
    }
}

/// What reads the rows of each side, and what it makes of each of its inputs.
fn rows_read<'a>(
    walk: &'a Walk,
    (sides, lead): (&[Side], u64),
    inputs: std::slice::Chunks<Input>,
    parameters: &mut Parameters,
) -> Result<(Vec<Writer<'a>>, Vec<Value>), Refused> {
    let (mut writers, mut values) = (Vec::new(), Vec::new());
    for (side, inputs) in sides.iter().zip(inputs) {
        let mut writer = Writer::new(walk, lanes(side.columns as usize, side.vector));
        for input in inputs {
            let made = if lead > 1 { plain_row(walk, input, side.columns)? } else { value(&mut writer, input)? };
            parameters.of_writer(&writer, &made.statements);
            values.push(made);
        }
        writers.push(writer);
    }
    Ok((writers, values))
}

/// Statements that add up the parts of an element of what is made, of which all have as many: one buffer after the other.
pub(super) fn added(made: &[String], elements: u64, parameters: &mut Parameters) -> String {
    if let [only] = made {
        parameters.push("real* __restrict__ out", Argument::Buffer(only.clone()));
        return ADDED.replace("@OUT@", "out[element]");
    }
    let (last, each) = (made.len() - 1, elements / made.len() as u64);
    let declared = |(number, out): (usize, &String)| parameters.push(format!("real* __restrict__ out_{number}"), Argument::Buffer(out.clone()));
    made.iter().enumerate().for_each(declared);
    let chosen: String = (0..last).map(|number| format!("element < {}u ? out_{number} : ", (number as u64 + 1) * each)).collect();
    ADDED.replace("@OUT@", &format!("({chosen}out_{last})[element % {each}u]"))
}

/// Statements that put down the sum of an element of what is made, one buffer after the other; `next` leaves it.
fn told_in_order(made: &[(String, u64)], parameters: &mut Parameters, next: &str) -> String {
    let mut told = "unsigned place = element;\n".to_owned();
    for (number, (buffer, elements)) in made.iter().enumerate() {
        parameters.push(format!("real* __restrict__ out_{number}"), Argument::Buffer(buffer.clone()));
        parameters.push(format!("const unsigned elements_{number}"), Argument::Number(*elements as u32));
        if number + 1 < made.len() {
            told.push_str(&format!("if (place < elements_{number}) {{ out_{number}[place] = sum; {next}; }}\nplace -= elements_{number};\n"));
        } else {
            told.push_str(&format!("out_{number}[place] = sum;\n"));
        }
    }
    told
}

/// What rows of these operands stand for: those of the first that has many.
pub(super) fn rows_of(list: &LaunchList, inputs: &[Operand]) -> Option<Rows> {
    let index = list.index();
    let rows = |rows: &Rowed| match (rows.view.edges(), index.get(rows.buffer.as_str())?.rows) {
        (Some(edges), _) => Some(if edges.rows() == EdgeRows::Twice { Rows::EdgesTwice } else { Rows::Edges }),
        (None, Rows::Fixed(_)) => None,
        (None, rows) => Some(rows),
    };
    inputs.iter().flat_map(Operand::rows).find_map(rows)
}

/// Which side is X, the wider one, and which Z.
fn wider_first(columns: [u64; 2]) -> [usize; 2] {
    if columns[0] >= columns[1] { [0, 1] } else { [1, 0] }
}

fn body_of_tiles(schedule: &OfColumns, (columns, vectors): ([u64; 2], [usize; 2]), (texts, sums): (&[String], [bool; 2]), lead: u64) -> String {
    let [x, z] = wider_first(columns);
    let OfColumns { groups, tiles, across, along, ahead, .. } = schedule;
    format!(
        "constexpr unsigned X = {}, Z = {}, XV = {}, ZV = {}, RV = {}, GROUPS = {groups}, TILES = {tiles}, ACROSS = {across}, TURNS = {along}, AHEAD = {ahead};
constexpr bool X_FIRST = {}, SUM_X = {}, SUM_Z = {};
const unsigned rows = rows_given * {lead};
{}",
        columns[x],
        columns[z],
        vectors[x],
        vectors[z],
        vector_of(*tiles, 4),
        x == 0,
        sums[x],
        sums[z],
        if schedule.by_warpgroups { warpgroup::OF_COLUMNS } else { COLUMNS }.replace("@X@", &texts[x]).replace("@Z@", &texts[z]),
    )
}

fn body(sides: &[Side], values: &[Value], lead: u64) -> String {
    let part = |value: &Value| format!("{}{}", about_row(&value.statements), value.statements);
    match (sides, values) {
        ([first, second], [of_first, of_second, ..]) => format!(
            "constexpr unsigned N = {}, K = {}, NV = {}, NL = {}, KV = {}, KL = {}, STRANDS = {THREADS} / (NL * KL), RB = 32;
const unsigned rows = rows_given * {lead};
{}",
            first.columns,
            second.columns,
            first.vector,
            first.lanes,
            second.vector,
            second.lanes,
            OUTER
                .replace("@FIRST@", &part(of_first))
                .replace("@FIRST_AT@", &of_first.at)
                .replace("@SECOND@", &part(of_second))
                .replace("@SECOND_AT@", &of_second.at),
        ),
        _ => format!(
            "constexpr unsigned K = {}, V = {}, L = {}, STRANDS = {THREADS} / L, Q = 1, SUMS = {};
const unsigned rows = rows_given;
{}",
            sides[0].columns,
            sides[0].vector,
            sides[0].lanes,
            values.len(),
            SUM_ROWS.replace("@VALUE@", &together(values)),
        ),
    }
}

/// What several sums add up of a row: each to its own.
fn together(values: &[Value]) -> String {
    let statements: String = values.iter().map(|value| value.statements.as_str()).collect();
    let sums: String = values.iter().enumerate().map(|(number, value)| format!("EACH sums[{number}][j] += {};\n", value.at)).collect();
    format!("{}{statements}{sums}", about_row(&statements))
}

/// Parts of a sum, in order, by the lanes of a warp.
pub(super) const ADDED: &str = "const unsigned of_warp = threadIdx.x % 32;
real sum = 0;
for (unsigned first = of_warp; first < parts; first += 8 * 32) {
real several[8];
UNROLL for (int i = 0; i < 8; i++) several[i] = first + i * 32 < parts ? __ldcg(scratch + (offset_t)element * parts + first + i * 32) : (real)0;
UNROLL for (int i = 0; i < 8; i++) sum += several[i];
}
UNROLL for (int distance = 16; distance > 0; distance /= 2) sum += across(sum, distance);
if (of_warp == 0) @OUT@ = sum;
";

/// Every element of them: a warp of the grid for each.
const ADD_PARTS: &str = "const unsigned element = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
if (element >= elements) return;
@ADDED@";

/// The block that is done last goes on, when what all others wrote is there; whole numbers alone are counted, so which one it is does not matter.
pub(super) const LAST: &str = "__shared__ bool is_last;
__threadfence();
__syncthreads();
if (threadIdx.x == 0) is_last = atomicAdd(ticket, 1u) + 1 == gridDim.x * gridDim.y * gridDim.z;
__syncthreads();
if (!is_last) return;
if (threadIdx.x == 0) *ticket = 0;
__threadfence();
";

/// Every element of them, by the warps of the block that is done last.
pub(super) const ADD_PARTS_LAST: &str = "const unsigned parts = gridDim.x;
for (unsigned element = threadIdx.x / 32; element < @ELEMENTS@u; element += blockDim.x / 32) {
@ADDED@}
";

/// The same of parts that lie one after the other, by a thread for each element.
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

/// Rows of a part, each strand of threads every so many of them.
const SUM_ROWS: &str = "const unsigned thread = threadIdx.x % L, strand = threadIdx.x / L, column = blockIdx.y * (L * V) + thread * V;
const bool own = column < K;
const unsigned c[1] = {own ? column : K - V};
const unsigned each = (rows + gridDim.x - 1) / gridDim.x, begin = min(rows, blockIdx.x * each), end = min(rows, begin + each);
real sums[SUMS][V] = {};
_Pragma(\"unroll 4\") for (unsigned row = begin + strand; row < end; row += STRANDS) {
[[maybe_unused]] const unsigned v = row;
@VALUE@}
__shared__ real told[STRANDS][L * V];
UNROLL for (int s = 0; s < SUMS; s++) {
UNROLL for (int j = 0; j < V; j++) told[strand][thread * V + j] = sums[s][j];
__syncthreads();
for (unsigned half = STRANDS / 2; half > 0; half /= 2) {
if (strand < half) UNROLL for (int j = 0; j < V; j++) told[strand][thread * V + j] += told[strand + half][thread * V + j];
__syncthreads();
}
if (strand == 0 && own) UNROLL for (int j = 0; j < V; j++) scratch[(offset_t)(s * K + column + j) * gridDim.x + blockIdx.x] = told[0][thread * V + j];
if (s + 1 < SUMS) __syncthreads();
}
";

/// Rows of a part, a few at a time in shared memory; strands of threads take turns, each thread NV x KV elements.
const OUTER: &str = "__shared__ alignas(16) real first_rows[RB][NL * NV], second_rows[RB][KL * KV];
constexpr unsigned Q = 1, TILE = NL * KL;
const unsigned thread = threadIdx.x % TILE, strand = threadIdx.x / TILE, n = thread / KL * NV, k = thread % KL * KV;
const unsigned n0 = blockIdx.y * (NL * NV), k0 = blockIdx.z * (KL * KV);
const unsigned each = (rows + gridDim.x - 1) / gridDim.x, begin = min(rows, blockIdx.x * each), end = min(rows, begin + each);
real sums[NV][KV];
UNROLL for (int i = 0; i < NV; i++) UNROLL for (int j = 0; j < KV; j++) sums[i][j] = 0;
for (unsigned r0 = begin; r0 < end; r0 += RB) {
for (unsigned i = threadIdx.x; i < RB * NL; i += blockDim.x) {
const unsigned r = i / NL, column = i % NL * NV, row = r0 + r;
const bool here = row < end && n0 + column < N;
[[maybe_unused]] const unsigned v = here ? row : begin, c[1] = {here ? n0 + column : 0};
constexpr unsigned V = NV;
@FIRST@EACH first_rows[r][column + j] = here ? @FIRST_AT@ : (real)0;
}
for (unsigned i = threadIdx.x; i < RB * KL; i += blockDim.x) {
const unsigned r = i / KL, column = i % KL * KV, row = r0 + r;
const bool here = row < end && k0 + column < K;
[[maybe_unused]] const unsigned v = here ? row : begin, c[1] = {here ? k0 + column : 0};
constexpr unsigned V = KV;
@SECOND@EACH second_rows[r][column + j] = here ? @SECOND_AT@ : (real)0;
}
__syncthreads();
for (int r = strand; r < RB; r += STRANDS)
UNROLL for (int i = 0; i < NV; i++) UNROLL for (int j = 0; j < KV; j++) sums[i][j] += first_rows[r][n + i] * second_rows[r][k + j];
__syncthreads();
}
__shared__ real told[STRANDS > 1 ? (STRANDS - 1) * TILE * NV * KV : 1];
if (strand > 0) UNROLL for (int i = 0; i < NV; i++) UNROLL for (int j = 0; j < KV; j++) told[((strand - 1) * TILE + thread) * NV * KV + i * KV + j] = sums[i][j];
__syncthreads();
if (strand == 0) UNROLL for (int i = 0; i < NV; i++) UNROLL for (int j = 0; j < KV; j++) {
UNROLL_4 for (int s = 0; s < STRANDS - 1; s++) sums[i][j] += told[(s * TILE + thread) * NV * KV + i * KV + j];
if (n0 + n + i < N && k0 + k + j < K) scratch[((offset_t)(n0 + n + i) * K + k0 + k + j) * gridDim.x + blockIdx.x] = sums[i][j];
}
";
