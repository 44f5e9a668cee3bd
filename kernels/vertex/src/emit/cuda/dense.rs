//! dense: products of rows with a matrix, and what is added up over all rows.
//!
//! promises  a product's row is finished by the threads that made it; sums over rows are cut into parts by sizes and the device alone, and
//!           the parts are added in order
//! never     leaves f32 for less; reads a row of one launch twice where a tile holds it
use std::fmt::Write;

use super::kernel::{Parameters, THREADS, about_row, put_down, tables, vector_of, widest_vector};
use super::operators::{cast, of_axis, register, start, join};
use super::table::identity;
use super::walk::{At, Input, Walk};
use super::writer::{Lanes, Scope, Writer, pointer};
use super::{Argument, Blocks, Kernel, Refused, Unit};
use crate::gir::{Op, Pooling, Type};
use crate::launch::{Operand, Operation, Rows};

/// Bytes of the parts of a sum over rows, at most.
const PARTS_BYTES: u64 = 32 << 20;
/// Shared memory of a block without asking for more.
const SHARED_BYTES: usize = 48 << 10;

/// Statements that make one value of a row, and where it lies.
struct Value {
    statements: String,
    at: String,
}

/// A value of a row with so many neighbouring columns a thread.
fn value(writer: &mut Writer, input: &Input) -> Result<Value, Refused> {
    let table = identity(writer.lanes.places);
    let held = writer.input(input, &table, Scope::Row(0))?;
    Ok(Value { statements: std::mem::take(&mut writer.rows[0]), at: cast(held.kind, Type::Real, &held.at()) })
}

pub(super) fn lanes(places: usize, vector: usize) -> Lanes {
    Lanes { places, vector, lanes: 1, chunks: 1, slices: places.div_ceil(vector) }
}

impl Unit<'_> {
    /// Rows times a matrix, and what is done with each row of the result.
    pub(super) fn product(&mut self) -> Result<(), Refused> {
        let walk = Walk::of(self.list, &self.launch.operation).ok_or_else(|| Refused::new("an operation that no walk does".to_owned()))?;
        let odd = |what: &str| Err(Refused::new(format!("a product {what}")));
        let Some(number) = walk.steps.iter().position(|step| matches!(step.op, Op::Product { .. })) else { return odd("that is none") };
        let step = &walk.steps[number];
        let Op::Product { transposed } = step.op else { return odd("that is none") };
        let (left, right) = (&step.inputs[0], &step.inputs[1]);
        let Input::Rows(matrix) = right else { return odd("with what is no matrix") };
        let (inner, wide) = (left.shape().last().copied().unwrap_or(1), step.shape.last().copied().unwrap_or(1));
        let lead = step.columns() as u64 / wide.max(1);
        if inner == 0 || wide == 0 {
            return odd("without columns");
        }
        let is_fixed = matches!(walk.rows, Rows::Fixed(_));
        if lead > 1 && (walk.steps.len() > 1 || !lies_in_rows(left)) {
            return odd("of several rows a vertex, with steps of its own");
        }
        let matrix_leaf = match matrix.from {
            super::walk::From::Leaf(leaf) => pointer(&walk.leaves[leaf].name),
            super::walk::From::Step(_) => return odd("with a matrix that the walk makes"),
        };
        let most = widest_vector(self.target.bytes_per_real);
        // Left: a tile of rows, asked for along the row.
        let left_vector = vector_of(inner as usize, most);
        let mut loader = Writer::new(&walk, lanes(inner as usize, left_vector));
        let of_left = if lead > 1 || is_fixed {
            let Input::Rows(read) = left else { return odd("of what lies nowhere") };
            let super::walk::From::Leaf(leaf) = read.from else { return odd("of what lies nowhere") };
            let name = pointer(&walk.leaves[leaf].name);
            Value { statements: format!("real left_row[1][V]; EACH_Q load<V>(left_row[q], {name} + (offset_t)v * {inner} + c[q]);\n"), at: "left_row[q][j]".to_owned() }
        } else {
            value(&mut loader, left)?
        };
        // Right and result: threads across the columns.
        let vector = vector_of(wide as usize, most);
        let across = (wide as usize).div_ceil(vector).next_power_of_two().min(16);
        let slices = (wide as usize).div_ceil(vector * across);
        let result = Lanes { places: wide as usize, vector, lanes: across, chunks: 1, slices };
        let mut writer = Writer::new(&walk, result);
        let mut stores = String::new();
        let mut made = "real made[1][V]; EACH made[q][j] = sums[i][j];".to_owned();
        if lead > 1 || is_fixed {
            let out = format!("o_{}", &pointer(&step.out)[2..]);
            let _infallible = writeln!(stores, "EACH_Q if (own[q]) store<V>({out} + (offset_t)v * {wide} + c[q], made[q]);");
        } else {
            let table = identity(wide as usize);
            made = writer.know(number, table.clone(), "made");
            for later in (number..walk.steps.len()).filter(|number| walk.steps[*number].stored) {
                if walk.steps[later].columns() != wide as usize {
                    return odd("whose result is followed by rows of another width");
                }
                let held = writer.step(later, &table, Scope::Row(0))?;
                put_down(&mut writer, (later, &table), &held.at(), &mut stores);
            }
            for earlier in (0..number).filter(|number| walk.steps[*number].stored) {
                return odd(&format!("in whose walk `{}` is stored", walk.steps[earlier].out));
            }
        }
        let epilogue = writer.rows.concat();
        self.header();
        let mut parameters = Parameters::new();
        let texts = format!("{}{}{}", of_left.statements, epilogue, stores);
        parameters.push(format!("const real* __restrict__ {matrix_leaf}"), Argument::Buffer(matrix_name(&walk, matrix.from)));
        parameters.of_writer(&loader, &texts);
        parameters.of_writer(&writer, &texts);
        for step in walk.steps.iter().filter(|step| step.stored) {
            let of = if step.kind == Type::Real { "real" } else { "whole" };
            parameters.push(format!("{of}* __restrict__ o_{}", &pointer(&step.out)[2..]), Argument::Buffer(step.out.clone()));
        }
        let rows = match walk.rows {
            Rows::Fixed(_) => Rows::Fixed(lead.max(1)),
            other => other,
        };
        let lead = if is_fixed { 1 } else { lead };
        parameters.push("const unsigned rows_given", Argument::RowCount(rows));
        let depth = 16.max(left_vector);
        let per_thread = rows_of_thread((across, vector, depth), self.target.bytes_per_real as usize);
        let rows_of_block = THREADS as usize / across * per_thread;
        let place = if transposed { format!("(offset_t)(slice + m) * {inner} + k0 + k") } else { format!("(offset_t)(k0 + k) * {wide} + slice + m") };
        let body = format!(
            "constexpr unsigned K = {inner}, C = {wide}, L = {across}, Q = 1, TM = {per_thread}, RT = {THREADS} / L, BM = TM * RT, BK = {depth}, KV = {left_vector};
const unsigned rows = rows_given * {lead};
{}",
            PRODUCT
                .replace("@VECTOR@", &vector.to_string())
                .replace("@LEFT@", &format!("{}{}", about_row(&of_left.statements), of_left.statements))
                .replace("@LEFT_AT@", &of_left.at)
                .replace("@RIGHT@", &format!("__ldg({matrix_leaf} + {place})"))
                .replace("@MADE@", &made)
                .replace("@EPILOGUE@", &format!("{}{epilogue}{stores}", about_row(&format!("{epilogue}{stores}")))),
        );
        let name = self.define("", (2, &parameters.text()), (&both_tables(&[&loader, &writer])?, &body));
        let each = rows_of_block as u32;
        let blocks = if lead > 1 { Blocks::Rows { rows, each: (each / lead as u32).max(1), slices: slices as u32 } } else { Blocks::Rows { rows, each, slices: slices as u32 } };
        self.kernels.push(Kernel { name, arguments: parameters.given(), blocks, threads: THREADS });
        Ok(())
    }

    /// Sums over all rows: of rows, or of products of rows.
    pub(super) fn total(&mut self) -> Result<(), Refused> {
        let Operation::Evaluate { out, op, inputs, .. } = &self.launch.operation else { return Err(Refused::new("a total that is none".to_owned())) };
        // What is the same for all is one row.
        let rows = self.rows_of(inputs).unwrap_or(Rows::Fixed(1));
        let (walk, read) = Walk::reading(self.list, rows, inputs).ok_or_else(|| Refused::new("an operation that no walk does".to_owned()))?;
        let is_outer = *op == Op::Outer;
        let shapes: Vec<Vec<u64>> = read.iter().map(Input::shape).collect();
        let columns = |shape: &[u64]| if is_outer { shape.last().copied().unwrap_or(1) } else { shape.iter().product() };
        let lead = if is_outer { shapes[0].iter().product::<u64>() / columns(&shapes[0]).max(1) } else { 1 };
        let (high, wide) = if is_outer { (columns(&shapes[0]), columns(&shapes[1])) } else { (1, columns(&shapes[0])) };
        if high * wide == 0 {
            return Ok(());
        }
        if walk_kind(&read) != Some(Type::Real) {
            return Err(Refused::new(format!("{} of what is no real number", op.words())));
        }
        if lead > 1 && !read.iter().all(lies_in_rows) {
            return Err(Refused::new("an outer product of several rows a vertex that lie nowhere".to_owned()));
        }
        let most = 4.min(widest_vector(self.target.bytes_per_real) * 2);
        let tile = |columns: u64| {
            let vector = vector_of(columns as usize, most);
            (vector, (columns as usize).div_ceil(vector).next_power_of_two().min(16))
        };
        let ((high_vector, high_lanes), (wide_vector, wide_lanes)) = (if is_outer { tile(high) } else { (1, 1) }, tile(wide));
        let mut parts = Vec::new();
        let sides: Vec<(usize, &Input)> = if is_outer { vec![(high_vector, &read[0]), (wide_vector, &read[1])] } else { vec![(wide_vector, &read[0])] };
        let (mut parameters, mut writers) = (Parameters::new(), Vec::new());
        for (vector, input) in sides {
            let places = columns(&input.shape()) as usize;
            let mut writer = Writer::new(&walk, lanes(places, vector));
            let made = match (lead > 1, input) {
                (true, Input::Rows(read)) => {
                    let super::walk::From::Leaf(leaf) = read.from else { return Err(Refused::new("rows that lie nowhere".to_owned())) };
                    let name = pointer(&walk.leaves[leaf].name);
                    Value { statements: format!("real of_row[1][V]; EACH_Q load<V>(of_row[q], {name} + (offset_t)v * {places} + c[q]);\n"), at: "of_row[q][j]".to_owned() }
                }
                _ => value(&mut writer, input)?,
            };
            parameters.of_writer(&writer, &made.statements);
            writers.push(writer);
            parts.push(made);
        }
        let chunks = self.chunks(high * wide);
        let strands = THREADS as usize / (high_lanes * wide_lanes);
        let tiles = [(high as usize).div_ceil(high_vector * high_lanes), (wide as usize).div_ceil(wide_vector * wide_lanes)];
        self.header();
        parameters.push("real* __restrict__ scratch", Argument::Scratch);
        parameters.push("const unsigned rows_given", Argument::RowCount(rows));
        let part = |number: usize| {
            let Value { statements, .. } = &parts[number];
            format!("{}{statements}", about_row(statements))
        };
        let (first, first_at) = if is_outer { (part(0), parts[0].at.clone()) } else { (String::new(), "(real)1".to_owned()) };
        let second = parts.len() - 1;
        let body = format!(
            "constexpr unsigned N = {high}, K = {wide}, NV = {high_vector}, NL = {high_lanes}, KV = {wide_vector}, KL = {wide_lanes}, STRANDS = {strands}, RB = 32;
const unsigned rows = rows_given * {lead};
{}",
            OUTER.replace("@FIRST@", &first).replace("@FIRST_AT@", &first_at).replace("@SECOND@", &part(second)).replace("@SECOND_AT@", &parts[second].at),
        );
        let name = self.define("", (2, &parameters.text()), (&both_tables(&writers.iter().collect::<Vec<_>>())?, &body));
        let elements = (high * wide) as u32;
        let finish = self.define(
            "_parts",
            (1, "real* __restrict__ out, const real* __restrict__ scratch, const unsigned elements, const unsigned parts"),
            ("", ADD_PARTS),
        );
        self.scratch_bytes = self.scratch_bytes.max(u64::from(chunks) * high * wide * self.target.bytes_per_real);
        let finish = Kernel {
            name: finish,
            arguments: vec![Argument::Buffer(out.clone()), Argument::Scratch, Argument::Number(elements), Argument::Number(chunks)],
            blocks: Blocks::Fixed([(high * wide).div_ceil(u64::from(THREADS)) as u32, 1, 1]),
            threads: THREADS,
        };
        self.kernels.push(Kernel { name, arguments: parameters.given(), blocks: Blocks::Fixed([chunks, tiles[0] as u32, tiles[1] as u32]), threads: THREADS });
        self.kernels.push(finish);
        Ok(())
    }

    /// Into how many parts a sum over rows is cut.
    fn chunks(&self, elements: u64) -> u32 {
        let parts = PARTS_BYTES / (elements * self.target.bytes_per_real).max(1);
        parts.clamp(1, 2 * u64::from(self.target.processors)) as u32
    }

    /// What rows of these operands stand for: those of the first that has many.
    fn rows_of(&self, inputs: &[Operand]) -> Option<Rows> {
        let index = self.list.index();
        let rows = |rows: &crate::launch::Rowed| match (rows.view.edges(), index.get(rows.buffer.as_str())?.rows) {
            (Some(edges), _) => Some(if edges.rows() == crate::gir::EdgeRows::Twice { Rows::EdgesTwice } else { Rows::Edges }),
            (None, Rows::Fixed(_)) => None,
            (None, rows) => Some(rows),
        };
        inputs.iter().flat_map(Operand::rows).find_map(rows)
    }

    /// Over the vertices of each graph: a thread for each column of a graph, in the order in which they are listed.
    pub(super) fn pool(&mut self, pooling: Pooling) -> Result<(), Refused> {
        let Operation::Evaluate { out, shape, inputs, op } = &self.launch.operation else { return Err(Refused::new("a pool that is none".to_owned())) };
        let (walk, read) = Walk::reading(self.list, Rows::Nodes, inputs).ok_or_else(|| Refused::new("an operation that no walk does".to_owned()))?;
        let columns = shape.iter().product::<u64>().max(1) as usize;
        let mut writer = Writer::new(&walk, lanes(columns, 1));
        let made = value(&mut writer, &read[0])?;
        let held = self.list.index().get(out.as_str()).map_or(Rows::Nodes, |buffer| buffer.rows);
        let kind = read[0].kind();
        let reduction = of_axis(pooling);
        let begin = match (pooling, kind) {
            (Pooling::Sum, _) => Some("0".to_owned()),
            _ => start(reduction, kind),
        };
        let begin = begin.ok_or_else(|| Refused::new(format!("{} of {kind}", op.words())))?;
        let (of, lies) = (register(kind), if kind == Type::Real { "real" } else { "whole" });
        self.header();
        let mut parameters = Parameters::new();
        parameters.push(format!("{lies}* __restrict__ out"), Argument::Buffer(out.clone()));
        parameters.of_writer(&writer, &made.statements);
        parameters.push("const unsigned* __restrict__ graph_offsets", Argument::GraphOffsets);
        parameters.push("const unsigned* __restrict__ graph_vertices", Argument::GraphVertices);
        parameters.push("const unsigned graphs", Argument::RowCount(held));
        let value_at = if kind == Type::Real { made.at.clone() } else { made.at.trim_start_matches("(real)widened").to_owned() };
        let body = format!(
            "constexpr unsigned C = {columns}, V = 1, Q = 1;
const unsigned number = blockIdx.x * {THREADS} + threadIdx.x;
if (number >= graphs * C) return;
const unsigned of_graph = number / C, c[1] = {{number % C}};
{of} sum = {begin};
for (unsigned at = __ldg(graph_offsets + of_graph); at < __ldg(graph_offsets + of_graph + 1); at++) {{
const unsigned v = graph_vertices ? __ldg(graph_vertices + at) : at;
{}{}EACH sum = {};
}}
out[number] = sum;
",
            about_row(&made.statements),
            made.statements,
            join(reduction, kind, "sum", &value_at),
        );
        let name = self.define("", (1, &parameters.text()), (&both_tables(&[&writer])?, &body));
        let rows = match held {
            Rows::Graphs(count) => Rows::Graphs(count * columns as u64),
            other => other,
        };
        self.kernels.push(Kernel { name, arguments: parameters.given(), blocks: Blocks::Rows { rows, each: THREADS, slices: 1 }, threads: THREADS });
        Ok(())
    }
}

/// Whether an operand's rows lie in a buffer, one after the other.
fn lies_in_rows(input: &Input) -> bool {
    matches!(input, Input::Rows(read) if matches!(read.at, At::Own | At::One))
}

/// Rows of a product that a thread makes: as many as fit, with their tiles, in the shared memory that every kernel may have.
fn rows_of_thread((across, vector, depth): (usize, usize, usize), bytes_per_real: usize) -> usize {
    let shared = |rows: usize| depth * (THREADS as usize / across * rows + 4 + across * vector) * bytes_per_real;
    let most = if vector == 4 { 4 } else { 8 };
    [8, 4, 2].into_iter().find(|rows| *rows <= most && shared(*rows) <= SHARED_BYTES).unwrap_or(1)
}

/// Tables of the writers of one kernel, of which at most one has any.
fn both_tables(writers: &[&Writer]) -> Result<String, Refused> {
    let with: Vec<&&Writer> = writers.iter().filter(|writer| !writer.constants.is_empty()).collect();
    match with.as_slice() {
        [] => Ok(String::new()),
        [only] => Ok(tables(only)),
        _ => Err(Refused::new("a product of two rows whose elements lie in no simple order".to_owned())),
    }
}

fn walk_kind(inputs: &[Input]) -> Option<Type> {
    inputs.iter().all(|input| input.kind() == Type::Real).then_some(Type::Real)
}

fn matrix_name(walk: &Walk, from: super::walk::From) -> String {
    match from {
        super::walk::From::Leaf(leaf) => walk.leaves[leaf].name.clone(),
        super::walk::From::Step(step) => walk.steps[step].out.clone(),
    }
}

/// Parts of a sum, in order.
const ADD_PARTS: &str = "const unsigned element = blockIdx.x * blockDim.x + threadIdx.x;
if (element >= elements) return;
real sum = 0;
UNROLL_8 for (unsigned part = 0; part < parts; part++) sum += scratch[(offset_t)part * elements + element];
out[element] = sum;
";

/// A tile of rows and one of the matrix lie in shared memory; each thread makes TM rows of V columns.
const PRODUCT: &str = "constexpr unsigned V = @VECTOR@, BN = L * V;
__shared__ alignas(16) real left[BK][BM + 4], right[BK][BN];
const unsigned part = threadIdx.x % L, thread_row = threadIdx.x / L, first = blockIdx.x * BM, slice = blockIdx.y * BN;
real sums[TM][V];
UNROLL for (int i = 0; i < TM; i++) UNROLL for (int j = 0; j < V; j++) sums[i][j] = 0;
for (unsigned k0 = 0; k0 < K; k0 += BK) {
for (unsigned i = threadIdx.x; i < BM * (BK / KV); i += blockDim.x) {
const unsigned r = i / (BK / KV), kk = i % (BK / KV) * KV, row = first + r;
const bool here = row < rows && k0 + kk < K;
[[maybe_unused]] const unsigned v = here ? row : 0, c[1] = {here ? k0 + kk : 0};
real piece[KV];
{
constexpr unsigned V = KV;
@LEFT@EACH piece[j] = here ? @LEFT_AT@ : (real)0;
}
UNROLL for (int j = 0; j < KV; j++) left[kk + j][r] = piece[j];
}
for (unsigned i = threadIdx.x; i < BK * BN; i += blockDim.x) {
const unsigned k = i / BN, m = i % BN;
right[k][m] = k0 + k < K && slice + m < C ? @RIGHT@ : (real)0;
}
__syncthreads();
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
@MADE@
@EPILOGUE@}
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
if (strand > 0) return;
UNROLL for (int i = 0; i < NV; i++) UNROLL for (int j = 0; j < KV; j++) {
for (int s = 0; s < STRANDS - 1; s++) sums[i][j] += told[(s * TILE + thread) * NV * KV + i * KV + j];
if (n0 + n + i < N && k0 + k + j < K) scratch[(offset_t)blockIdx.x * (N * K) + (offset_t)(n0 + n + i) * K + k0 + k + j] = sums[i][j];
}
";

