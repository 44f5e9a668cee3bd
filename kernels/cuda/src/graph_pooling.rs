//! graph_pooling: sums over the vertices of each graph, and the row values that products and sums
//! over rows share.
//!
//! promises  a pooled value is added in the order in which the vertices are listed
//! never     adds floats in an order that varies
use super::kernel_parameters::{Parameters, emit_row_context};
use super::lane_layout::{Lanes, identity};
use super::operators::{axis_reduction, cast, join_parts, register, start};
use super::row_walk::emit_tables;
use super::statements::{RegisterValue, Scope, Statement, Statements};
use super::walk_lowering::WalkLowering;
use super::walk_steps::{At, From, Input, Leaf, Read, Walk};
use super::{Argument, Blocks, KernelText, NoKernel, ScheduleKind, THREADS, Unit};
use warploom_ir::{Pooling, Type};
use warploom_launch::{Operation, Rows};

/// Statements that compute one value of a row, and the expression of its register.
pub(super) struct RowValue {
    pub statements: Statements,
    pub at: String,
}

impl RowValue {
    /// No statements: the row is copied from its buffer.
    pub fn none() -> RowValue {
        RowValue { statements: Statements::default(), at: String::new() }
    }

    /// The statements, after the facts of the row that they read.
    pub fn text(&self) -> String {
        format!("{}{}", emit_row_context(&self.statements.reads()), self.statements.text())
    }
}

/// Lowers a value of a row to a float, with a vector of adjacent columns per thread.
pub(super) fn lower_row_value(
    lowering: &mut WalkLowering,
    input: &Input,
) -> Result<RowValue, NoKernel> {
    let (statements, held) = registers_of(lowering, input)?;
    Ok(RowValue { statements, at: cast(held.kind, Type::Real, &held.at()) })
}

/// Statements that compute a value of a row, and its registers.
fn registers_of(
    lowering: &mut WalkLowering,
    input: &Input,
) -> Result<(Statements, RegisterValue), NoKernel> {
    let table = identity(lowering.lanes.places);
    let held = lowering.input(input, &table, Scope::Row(0))?;
    Ok((std::mem::take(&mut lowering.rows[0]), held))
}

/// Loads a stored row as it is: one of several rows per vertex.
pub(super) fn plain_row(walk: &Walk, input: &Input, columns: u64) -> Result<RowValue, NoKernel> {
    let Input::Rows(Read { from: From::Leaf(leaf), .. }) = input else {
        return Err(NoKernel::new("several rows per vertex that are not stored".to_owned()));
    };
    let leaf = &walk.leaves[*leaf];
    let statements = Statements(vec![Statement::LoadLying {
        buffer: leaf.name.clone(),
        start: start_of_row("v", columns, leaf),
    }]);
    Ok(RowValue { statements, at: "of_row[q][j]".to_owned() })
}

/// The offset of a row among several rows per vertex of this many columns each.
pub(super) fn start_of_row(row: &str, columns: u64, leaf: &Leaf) -> String {
    start_of(row, columns, leaf.columns / columns.max(1), leaf.stride)
}

/// The same, with this many rows per vertex and this stride between vertices.
pub(super) fn start_of(row: &str, columns: u64, lead: u64, stride: u64) -> String {
    match lead {
        _ if stride == lead * columns => format!("(offset_t){row} * {columns}"),
        1 => format!("(offset_t){row} * {stride}"),
        _ => format!("((offset_t)({row} / {lead}u) * {stride} + {row} % {lead}u * {columns})"),
    }
}

pub(super) fn thread_lanes(places: usize, vector: usize) -> Lanes {
    Lanes { places, vector, lanes: 1, chunks: 1, slices: places.div_ceil(vector) }
}

/// Whether an operand's rows are consecutive in a buffer.
pub(super) fn lies_in_rows(input: &Input) -> bool {
    matches!(input, Input::Rows(read) if matches!(read.at, At::Own | At::One))
}

/// The constant tables of the lowerings of one kernel. At most one lowering may have any.
pub(super) fn tables_of(lowerings: &[&WalkLowering]) -> Result<String, NoKernel> {
    let with: Vec<&&WalkLowering> =
        lowerings.iter().filter(|lowering| !lowering.constants.is_empty()).collect();
    match with.as_slice() {
        [] => Ok(String::new()),
        [only] => Ok(emit_tables(only)),
        _ => Err(NoKernel::new(
            "a product whose operands both need a table for the order of their elements".to_owned(),
        )),
    }
}

impl Unit<'_> {
    /// Emits a sum over the vertices of each graph: a thread per column of a graph, in the order in
    /// which the vertices are listed.
    pub(super) fn emit_pool(&mut self, pooling: Pooling) -> Result<(), NoKernel> {
        let Operation::Evaluate { out, shape, inputs, op } = &self.launch.operation else {
            return Err(NoKernel::new("a launch that is no pooling over graphs".to_owned()));
        };
        let (walk, read) =
            Walk::reading(self.list, self.target.bytes_per_real, Rows::Nodes, inputs)
                .ok_or_else(|| NoKernel::new("an operation that no walk supports".to_owned()))?;
        let columns = shape.iter().product::<u64>().max(1) as usize;
        let mut lowering = WalkLowering::new(&walk, thread_lanes(columns, 1));
        let (statements, made) = registers_of(&mut lowering, &read[0])?;
        let reads = statements.reads();
        let held = self.list.index().get(out.as_str()).map_or(Rows::Nodes, |buffer| buffer.rows);
        let kind = read[0].kind();
        let reduction = axis_reduction(pooling);
        let begin = match (pooling, kind) {
            (Pooling::Sum, _) => Some("0".to_owned()),
            _ => start(reduction, kind),
        };
        let begin = begin.ok_or_else(|| NoKernel::new(format!("{} of {kind}", op.describe())))?;
        let (of, lies) = (register(kind), if kind == Type::Real { "real" } else { "whole" });
        self.note([(ScheduleKind::GraphPooling, true)]);
        self.header();
        let mut parameters = Parameters::new();
        parameters.push_output(format!("{lies}* __restrict__ out"), Argument::Buffer(out.clone()));
        parameters.add_reads(&lowering, &reads);
        parameters.push("const unsigned* __restrict__ graph_offsets", Argument::GraphOffsets);
        parameters.push("const unsigned* __restrict__ graph_vertices", Argument::GraphVertices);
        parameters.push("const unsigned graphs", Argument::RowCount(held));
        let value_at = match kind {
            Type::Real => made.at(),
            Type::Bool => cast(kind, Type::Real, &made.at()),
            Type::Int | Type::Id => format!("({})", made.at()),
        };
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
            emit_row_context(&reads),
            statements.text(),
            join_parts(reduction, kind, "sum", &value_at),
        );
        let rows = match held {
            Rows::Graphs(count) => Rows::Graphs(count * columns as u64),
            other => other,
        };
        self.add_kernel(KernelText {
            maker: "graph_pooling.rs, emit_pool",
            resident: 1,
            tables: &tables_of(&[&lowering])?,
            body: &body,
            ..KernelText::new(parameters, Blocks::Rows { rows, each: THREADS, slices: 1 })
        });
        Ok(())
    }
}
