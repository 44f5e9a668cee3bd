//! unfused_edge_ops: operations that no walk fuses with others: an edge's position among those of
//! its vertex, folds, edges seen from their other end, tables.
//!
//! promises  one thread computes a column of a row, in the order of the row's edges, or of the rows
//!           that are added to a table row: the order of the CPU, so that the bits depend on
//!           nothing else
//! never     adds a float with an atomic; computes an index: a computed index has no kernel
//! limits    a vertex of many edges, and a table row that many rows look up, take time in
//!           proportion: their work is not shared
use std::rc::Rc;

use super::edge_walk_text::{add_slot_lists, stream_list};
use super::kernel_parameters::{Parameters, emit_row_context, stored, stored_kind};
use super::lane_layout::{Lanes, broadcast_elements, identity};
use super::operators::{TypedText, apply_fold, cast, register};
use super::row_values::thread_lanes;
use super::source_text::{KernelBody, KernelDraft, Printer};
use super::statement_text::{LoadsOf, pointer};
use super::statements::{Expression, Form, RegisterValue, Scope, Source, Statements, Stream};
use super::walk_lowering::WalkLowering;
use super::walk_steps::{At, From, Input, Walk};
use super::{Argument, Blocks, NoKernel, THREADS, Unit};
use warploom_ir::{EdgeSet, Op, Type};
use warploom_launch::{Operation, Rows};

/// An operation: its output, the shape of a row, and its columns.
pub(super) struct EdgeTask<'a> {
    pub out: &'a str,
    shape: &'a [u64],
    pub op: &'a Op,
    pub columns: usize,
    /// Elements from one row of the result to the next.
    pub stride: u64,
    rows: Rows,
    pub kind: Type,
}

/// The value of an edge, in statements, and the condition that the edge counts.
pub(super) struct EdgeValue {
    /// Statements per row.
    pub rows: Statements,
    /// The numbers of an edge that its statements read: their type, their name and their list.
    lists: Vec<EdgeNumber>,
    /// Statements per edge.
    loads: Statements,
    work: Statements,
    pub held: RegisterValue,
    holds: Vec<Expression>,
}

/// A number of an edge: the type, the name, and the list that it is read from.
struct EdgeNumber {
    kind: &'static str,
    name: String,
    list: String,
}

/// Threads of a block along the columns of a row.
fn across(columns: usize) -> usize {
    columns.next_power_of_two().min(32)
}

/// The layout of values: a thread has one column of a row.
pub(super) fn single(columns: usize) -> Lanes {
    thread_lanes(columns, 1)
}

impl Unit<'_> {
    pub(super) fn task(&self) -> Option<EdgeTask<'_>> {
        let Operation::Evaluate { out, shape, op, .. } = &self.launch.operation else {
            return None;
        };
        let held = self.list.buffers.iter().find(|buffer| buffer.name == *out)?;
        let (columns, stride) =
            (shape.iter().product::<u64>() as usize, held.stride(self.target.bytes_per_real));
        Some(EdgeTask {
            out,
            shape,
            op,
            columns,
            stride,
            rows: held.rows,
            kind: held.element.kind(),
        })
    }

    /// The argmin or argmax edge of a vertex, the product over the other edges, or a fold.
    pub(super) fn decide_edge_operation(&mut self) -> Result<(), NoKernel> {
        let odd = || NoKernel::new("a launch that is no operation over edges".to_owned());
        let Operation::Evaluate { inputs, .. } = &self.launch.operation else { return Err(odd()) };
        let task = self.task().ok_or_else(odd)?;
        let (edges, mask) = match task.op {
            Op::Winner(_, edges) | Op::Others(edges) => (*edges, 1),
            Op::Fold(_, edges) => (*edges, 2),
            _ => return Err(odd()),
        };
        if task.columns == 0 {
            return Ok(());
        }
        let (walk, read) =
            Walk::from_operands(self.list, self.target.bytes_per_real, edges.direction, inputs)
                .ok_or_else(odd)?;
        let walk = Rc::new(walk);
        let mut lowering = WalkLowering::with_passes(&walk, single(task.columns), 1);
        let begin = match task.op {
            Op::Fold(..) => {
                let start = lowering.input(
                    &read[1],
                    &broadcast_elements(&identity(task.columns), task.shape, &read[1].shape()),
                    Scope::Row(0),
                )?;
                cast(start.kind, task.kind, &start.at())
            }
            _ => String::new(),
        };
        let value = lower_edge_value(&mut lowering, &task, edges, &read[0], read.get(mask), true)?;
        let parameters = edge_parameters(&task, &lowering, edges);
        let EdgeTask { op, columns, stride, kind, .. } = task;
        let body = EdgesBody { op: op.clone(), columns, stride, kind, begin, value };
        self.add_row_kernel(
            "unfused_edge_ops.rs, decide_edge_operation",
            lowering.constants,
            body,
            parameters,
            Rows::Nodes,
            columns,
        );
        Ok(())
    }

    /// The exchange of the rows of in-edges and of out-edges.
    pub(super) fn decide_reversal(&mut self) -> Result<(), NoKernel> {
        let odd = || NoKernel::new("a reversal of rows that are not edges".to_owned());
        let Operation::Evaluate { inputs, .. } = &self.launch.operation else { return Err(odd()) };
        let task = self.task().filter(|task| task.rows == Rows::EdgesTwice).ok_or_else(odd)?;
        if task.columns == 0 {
            return Ok(());
        }
        let (walk, read) = Walk::reading(self.list, self.target.bytes_per_real, task.rows, inputs)
            .ok_or_else(odd)?;
        let walk = Rc::new(walk);
        let mut lowering = WalkLowering::new(&walk, single(task.columns));
        let value = lowering.input(&read[0], &identity(task.columns), Scope::Row(0))?;
        let body = RowsBody {
            columns: task.columns,
            stride: task.stride,
            statements: std::mem::take(&mut lowering.rows[0]),
            put: RowPut::Reversed(value),
        };
        let mut parameters = Parameters::new();
        parameters.push_output(
            format!("{}* __restrict__ out", stored_kind(task.kind)),
            Argument::Buffer(task.out.to_owned()),
        );
        parameters.add_reads(&lowering, &body.statements.reads());
        parameters.push("const unsigned edges_once", Argument::RowCount(Rows::Edges));
        parameters.push("const unsigned rows", Argument::RowCount(task.rows));
        let columns = task.columns;
        self.add_row_kernel(
            "unfused_edge_ops.rs, decide_reversal",
            lowering.constants,
            body,
            parameters,
            Rows::EdgesTwice,
            columns,
        );
        Ok(())
    }

    /// A lookup of rows, or columns, of a table by an index; zeros for an index out of range.
    pub(super) fn decide_lookup(&mut self, transposed: bool) -> Result<(), NoKernel> {
        let odd = || NoKernel::new("a launch that is no lookup".to_owned());
        let Operation::Evaluate { inputs, .. } = &self.launch.operation else { return Err(odd()) };
        let task = self.task().ok_or_else(odd)?;
        let (walk, read) = Walk::reading(self.list, self.target.bytes_per_real, task.rows, inputs)
            .ok_or_else(odd)?;
        let walk = Rc::new(walk);
        let [Input::Rows(table), index] = read.as_slice() else {
            return Err(NoKernel::new("a lookup in a table that is not stored".to_owned()));
        };
        let From::Leaf(leaf) = table.from else { return Err(odd()) };
        let (leaf, count) =
            (&walk.leaves[leaf], table.shape.get(usize::from(transposed)).copied().unwrap_or(0));
        if task.columns == 0 {
            return Ok(());
        }
        let mut lowering = WalkLowering::new(&walk, single(task.columns));
        let wanted = lowering.input(
            index,
            &broadcast_elements(&identity(task.columns), task.shape, &[]),
            Scope::Row(0),
        )?;
        let rows = if matches!(task.rows, Rows::Fixed(_)) { Rows::Fixed(1) } else { task.rows };
        let table_stride = (!transposed).then_some(leaf.stride);
        let body = RowsBody {
            columns: task.columns,
            stride: task.stride,
            statements: std::mem::take(&mut lowering.rows[0]),
            put: RowPut::Looked { wanted, table: leaf.name.clone(), count, table_stride },
        };
        let mut parameters = Parameters::new();
        parameters.push_output(
            format!("{}* __restrict__ out", stored_kind(task.kind)),
            Argument::Buffer(task.out.to_owned()),
        );
        parameters.push(
            format!("const {}* __restrict__ {}", stored(leaf.element), pointer(&leaf.name)),
            Argument::Buffer(leaf.name.clone()),
        );
        parameters.add_reads(&lowering, &body.statements.reads());
        parameters.push("const unsigned rows", Argument::RowCount(rows));
        let columns = task.columns;
        self.add_row_kernel(
            "unfused_edge_ops.rs, decide_lookup",
            lowering.constants,
            body,
            parameters,
            rows,
            columns,
        );
        Ok(())
    }

    /// The sum of rows into rows, or columns, of a table by an index, each in the order of
    /// the rows.
    pub(super) fn decide_scatter(&mut self, transposed: bool) -> Result<(), NoKernel> {
        let odd = || NoKernel::new("a launch that is no sum into a table".to_owned());
        let Operation::Evaluate { inputs, .. } = &self.launch.operation else { return Err(odd()) };
        let task = self.task().ok_or_else(odd)?;
        let &[high, wide] = task.shape else { return Err(odd()) };
        let (count, columns) = if transposed { (wide, high) } else { (high, wide) };
        if count * columns == 0 {
            return Ok(());
        }
        if count * columns > u64::from(u32::MAX) {
            return Err(NoKernel::new("a sum into a table of more than 2^32 elements".to_owned()));
        }
        let index = inputs.get(1).and_then(|index| self.input_column(index)).ok_or_else(|| {
            NoKernel::new(
                "a sum into a table by a computed index: only an index of the data set, read \
                 from its own row, has a kernel"
                    .to_owned(),
            )
        })?;
        let (walk, read) = Walk::reading(self.list, self.target.bytes_per_real, index.1, inputs)
            .ok_or_else(odd)?;
        let walk = Rc::new(walk);
        let is_same = |read: &&super::walk_steps::Read| {
            read.at == At::Own
                && matches!(read.from, From::Leaf(leaf) if walk.leaves[leaf].rows != index.1)
        };
        if read[0].reads().iter().any(is_same) {
            return Err(NoKernel::new(
                "a sum into a table of rows of another kind than the index".to_owned(),
            ));
        }
        let mut lowering = WalkLowering::new(&walk, single(columns as usize));
        let value = lowering.input(
            &read[0],
            &broadcast_elements(&identity(columns as usize), &[columns], &read[0].shape()),
            Scope::Row(0),
        )?;
        let statements = std::mem::take(&mut lowering.rows[0]);
        let body = ScatterBody { columns, count, transposed, statements, value };
        let mut parameters = Parameters::new();
        parameters.push_output("real* __restrict__ out", Argument::Buffer(task.out.to_owned()));
        parameters.add_reads(&lowering, &body.statements.reads());
        parameters
            .push("const unsigned* __restrict__ inverse", Argument::Inverse(index.0, count as u32));
        let blocks = Blocks::Fixed([(count * columns).div_ceil(u64::from(THREADS)) as u32, 1, 1]);
        self.add_thread_kernel(
            "unfused_edge_ops.rs, decide_scatter",
            lowering.constants,
            body,
            parameters,
            blocks,
        );
        Ok(())
    }

    /// Name and rows of an input column of the data set, if the operand is one.
    fn input_column(&self, operand: &warploom_launch::Operand) -> Option<(String, Rows)> {
        let warploom_launch::Operand::Rows(rows) = operand else { return None };
        let held = self.list.buffers.iter().find(|buffer| buffer.name == rows.buffer)?;
        let is_given = matches!(held.role, warploom_launch::Role::Given(_))
            && rows.view.is_own()
            && held.columns == 1;
        (is_given
            && matches!(held.element, warploom_launch::Element::Whole(_))
            && !matches!(held.rows, Rows::Fixed(_)))
        .then(|| (held.name.clone(), held.rows))
    }

    /// Adds a kernel with a thread per column of a row.
    fn add_row_kernel(
        &mut self,
        maker: &'static str,
        tables: Vec<String>,
        body: impl KernelBody + 'static,
        parameters: Parameters,
        rows: Rows,
        columns: usize,
    ) {
        let across = across(columns);
        let blocks = Blocks::Rows {
            rows,
            each: THREADS / across as u32,
            slices: columns.div_ceil(across) as u32,
        };
        self.add_thread_kernel(maker, tables, body, parameters, blocks);
    }

    fn add_thread_kernel(
        &mut self,
        maker: &'static str,
        tables: Vec<String>,
        body: impl KernelBody + 'static,
        parameters: Parameters,
        blocks: Blocks,
    ) {
        self.header();
        self.add_kernel(KernelDraft {
            tables,
            ..KernelDraft::new(maker, parameters, blocks, body)
        });
    }
}

/// The parameters of a kernel that walks the edges of each vertex.
pub(super) fn edge_parameters(
    task: &EdgeTask,
    lowering: &WalkLowering,
    edges: EdgeSet,
) -> Parameters {
    let mut parameters = Parameters::new();
    parameters.push_output(
        format!("{}* __restrict__ out", stored_kind(task.kind)),
        Argument::Buffer(task.out.to_owned()),
    );
    parameters.add_reads(lowering, &lowering.reads());
    add_slot_lists(&mut parameters, lowering, edges.direction);
    parameters.push("const unsigned rows", Argument::RowCount(Rows::Nodes));
    parameters
}

/// Lowers the value of an edge, and the condition that it counts.
pub(super) fn lower_edge_value(
    lowering: &mut WalkLowering,
    task: &EdgeTask,
    edges: EdgeSet,
    value: &Input,
    mask: Option<&Input>,
    numbers_edges: bool,
) -> Result<EdgeValue, NoKernel> {
    let scope = Scope::Edge(1);
    let table =
        |input: &Input| broadcast_elements(&identity(task.columns), task.shape, &input.shape());
    let mut holds = Vec::new();
    if let Some(relation) = edges.relation {
        holds.push(lowering.is_of_relation(relation));
    }
    if let Some(mask) = mask {
        let held = lowering.input(mask, &table(mask), scope)?;
        let condition = Expression::cast(&held, Type::Bool);
        holds.push(Expression::apply(Form::Grouped, [condition]));
    }
    let held = lowering.input(value, &table(value), scope)?;
    // Where the edge number is part of the result.
    if numbers_edges {
        lowering.stream_number(Stream::Edge);
    }
    let pass = &lowering.passes[1];
    let mut reads = pass.reads(LoadsOf::PresentEdges);
    holds.iter().for_each(|condition| condition.add_reads(&mut reads));
    Expression::value(&held).add_reads(&mut reads);
    let is_read = |number: &usize| reads.contains(&Source::Stream(*number));
    let lists = (0..lowering.streams.len()).filter(is_read).map(|number| {
        let (kind, list) = stream_list(lowering, &lowering.streams[number]);
        EdgeNumber { kind, name: lowering.numbers(number).name(), list }
    });
    Ok(EdgeValue {
        rows: lowering.rows[0].clone(),
        lists: lists.collect(),
        loads: pass.loads.clone(),
        work: pass.work.clone(),
        held,
        holds,
    })
}

impl EdgeValue {
    /// Statements per edge.
    pub fn edge_text(&self) -> String {
        let number = |EdgeNumber { kind, name, list }: &EdgeNumber| {
            format!("const {kind} {name}[1] = {{__ldg({list} + p)}};\n")
        };
        let numbers: String = self.lists.iter().map(number).collect();
        format!("{numbers}{}{}", self.loads.text(), self.work.text())
    }

    /// The condition that an edge counts.
    pub fn condition(&self) -> String {
        let holds: Vec<String> = self.holds.iter().map(Expression::text).collect();
        if holds.is_empty() { "true".to_owned() } else { holds.join(" && ") }
    }
}

/// The body of a kernel that walks the edges of a vertex in order.
struct EdgesBody {
    op: Op,
    columns: usize,
    /// Elements from one row of the result to the next.
    stride: u64,
    kind: Type,
    /// The initial value of a fold.
    begin: String,
    value: EdgeValue,
}

impl KernelBody for EdgesBody {
    fn text(&self, _printer: &Printer) -> String {
        let EdgesBody { columns, value, .. } = self;
        format!(
            "constexpr unsigned C = {columns}, L = {};\n{SINGLE}const unsigned item = blockIdx.x * ({THREADS} / L) + threadIdx.x / L, column = blockIdx.y * L + threadIdx.x % L;
if (item >= rows || column >= C) return;
[[maybe_unused]] const unsigned v = __ldg(item_row + item), c[1] = {{column}};
const unsigned begin = __ldg(item_offset + item), end = __ldg(item_offset + item + 1);
{}{}{}",
            across(*columns),
            emit_row_context(&value.rows.reads()),
            value.rows.text(),
            self.work()
        )
    }
}

impl EdgesBody {
    /// The work on the edges of a vertex.
    fn work(&self) -> String {
        let EdgesBody { op, kind, begin, value, .. } = self;
        let of_value = value.held.kind;
        let odd = |of: &str| {
            if of_value == Type::Real { format!("is_odd({of})") } else { "false".to_owned() }
        };
        let (text, of) = match op {
            Op::Winner(is_most, _) => {
                let text = WINNER
                    .replace("@ODD_BEST@", &odd("best"))
                    .replace("@ODD@", &odd("value"))
                    .replace("@BETTER@", if *is_most { ">" } else { "<" });
                (text, of_value)
            }
            Op::Fold(function, _) => {
                let (applied, made) = apply_fold(
                    function,
                    TypedText { text: "made", kind: *kind },
                    TypedText { text: "value", kind: of_value },
                );
                let put = if *kind == Type::Bool { "(whole)made" } else { "made" };
                let text = FOLD
                    .replace("@BEGIN@", begin)
                    .replace("@APPLIED@", &cast(made, *kind, &applied))
                    .replace("@PUT@", put);
                (text, *kind)
            }
            _ => (OTHERS.to_owned(), of_value),
        };
        text.replace("@STRIDE@", &self.stride.to_string())
            .replace("@TYPE@", register(of))
            .replace("@EDGE@", &value.edge_text())
            .replace("@VALUE@", &value.held.at())
            .replace("@HOLDS@", &value.condition())
    }
}

/// The body of a kernel with a thread per column of a row.
struct RowsBody {
    columns: usize,
    /// Elements from one row of the result to the next.
    stride: u64,
    statements: Statements,
    put: RowPut,
}

/// What is stored in a row.
enum RowPut {
    /// The row of the same edge from its other end.
    Reversed(RegisterValue),
    /// A row, or column, of a table of `count`, by this index; the stride of its rows, or none for
    /// columns.
    Looked { wanted: RegisterValue, table: String, count: u64, table_stride: Option<u64> },
}

impl KernelBody for RowsBody {
    fn text(&self, _printer: &Printer) -> String {
        let RowsBody { columns, stride, statements, put } = self;
        let (vertex, put) = match put {
            RowPut::Reversed(value) => (
                "const unsigned v = row < edges_once ? row + edges_once : row - edges_once;\n",
                format!("out[(offset_t)row * {stride} + column] = {};\n", stored_text(value)),
            ),
            RowPut::Looked { wanted, table, count, table_stride } => {
                let place = match table_stride {
                    None => format!("(offset_t)column * {count} + (offset_t)index"),
                    Some(stride) => format!("(offset_t)index * {stride} + column"),
                };
                let put = format!(
                    "const whole index = {};\nout[(offset_t)row * {stride} + column] = index >= 0 \
                     && index < {count}LL ? __ldg({} + {place}) : 0;\n",
                    cast(wanted.kind, Type::Int, &wanted.at()),
                    pointer(table)
                );
                ("[[maybe_unused]] const unsigned v = row;\n", put)
            }
        };
        format!(
            "constexpr unsigned C = {columns}, L = {};\n{SINGLE}const unsigned row = blockIdx.x * ({THREADS} / L) + threadIdx.x / L, column = blockIdx.y * L + threadIdx.x % L;
if (row >= rows || column >= C) return;
{vertex}[[maybe_unused]] const unsigned c[1] = {{column}};
{}{}{put}",
            across(*columns),
            emit_row_context(&statements.reads()),
            statements.text()
        )
    }
}

/// The body of a sum of rows into a table of `count` rows, or columns.
struct ScatterBody {
    columns: u64,
    count: u64,
    transposed: bool,
    statements: Statements,
    value: RegisterValue,
}

impl KernelBody for ScatterBody {
    fn text(&self, _printer: &Printer) -> String {
        let ScatterBody { columns, count, transposed, statements, value } = self;
        let place = if *transposed { "(offset_t)column * COUNT + of_table" } else { "number" };
        format!(
            "constexpr unsigned C = {columns}, COUNT = {count}u;\n{SINGLE}const unsigned number = blockIdx.x * {THREADS} + threadIdx.x;
if (number >= COUNT * C) return;
const unsigned of_table = number / C, column = number % C, end = __ldg(inverse + of_table + 1);
[[maybe_unused]] const unsigned c[1] = {{column}};
real sum = 0;
UNROLL_4 for (unsigned at = __ldg(inverse + of_table); at < end; at++) {{
[[maybe_unused]] const unsigned v = __ldg(inverse + COUNT + 1 + at);
{}{}sum += {};
}}
out[{place}] = sum;
",
            emit_row_context(&statements.reads()),
            statements.text(),
            cast(value.kind, Type::Real, &value.at())
        )
    }
}

fn stored_text(held: &RegisterValue) -> String {
    if held.kind == Type::Real { held.at() } else { format!("(whole)({})", held.at()) }
}

/// A thread has one column, and one edge at a time.
pub(super) const SINGLE: &str = "[[maybe_unused]] constexpr unsigned V = 1, Q = 1, B = 1;
[[maybe_unused]] constexpr int q = 0, j = 0, k = 0;
[[maybe_unused]] constexpr bool ALL = true, here_[1] = {true}, own[1] = {true};
";

/// The first edge with the extreme value, or with the first NaN.
const WINNER: &str = "unsigned winner = end;
@TYPE@ best = 0;
UNROLL_4 for (unsigned p = begin; p < end; p++) {
@EDGE@const @TYPE@ value = @VALUE@;
if (@HOLDS@ && (winner == end || (!@ODD_BEST@ && (@ODD@ || value @BETTER@ best)))) { best = value; winner = p; }
}
UNROLL_4 for (unsigned p = begin; p < end; p++) out[(offset_t)__ldg(slot_edge + p) * @STRIDE@ + column] = p == winner;
";

/// Stores the product of the later edges, from the last edge to the first, and multiplies it with
/// the product of the earlier ones on the way back.
const OTHERS: &str = "@TYPE@ after = 1;
for (unsigned p = end; p-- > begin;) {
@EDGE@const @TYPE@ value = @VALUE@;
const bool holds = @HOLDS@;
out[(offset_t)__ldg(slot_edge + p) * @STRIDE@ + column] = holds ? after : 0;
if (holds) after = times(value, after);
}
@TYPE@ before = 1;
for (unsigned p = begin; p < end; p++) {
@EDGE@const @TYPE@ value = @VALUE@;
if (!(@HOLDS@)) continue;
const offset_t place = (offset_t)__ldg(slot_edge + p) * @STRIDE@ + column;
out[place] = times(before, out[place]);
before = times(before, value);
}
";

/// The initial value, then the edges in order.
const FOLD: &str = "@TYPE@ made = @BEGIN@;
for (unsigned p = begin; p < end; p++) {
@EDGE@const @TYPE@ value = @VALUE@;
if (@HOLDS@) made = @APPLIED@;
}
out[(offset_t)v * @STRIDE@ + column] = @PUT@;
";
