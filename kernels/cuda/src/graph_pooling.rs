//! graph_pooling: sums, minima and maxima over the vertices of each graph.
//!
//! promises  of several graphs, a value is added in the order in which the vertices are listed; of
//!           one graph, in an order that the number of its vertices and the device decide
//! never     adds floats in an order that varies
use std::rc::Rc;

use super::kernel_parameters::{Parameters, emit_row_context, stored_kind};
use super::operators::{axis_reduction, cast, join_parts, register, start};
use super::row_values::{registers_of, tables_of, thread_lanes};
use super::source_text::{KernelBody, KernelDraft, Printer};
use super::statements::{RegisterValue, Statements};
use super::walk_lowering::WalkLowering;
use super::walk_steps::Walk;
use super::{Argument, Blocks, NoKernel, ScheduleKind, THREADS, TICKETS, Unit};
use warploom_ir::{Pooling, Reduction, Type};
use warploom_launch::{Operation, Rows};
use warploom_tuning as tuning;

impl Unit<'_> {
    /// A reduction over the vertices of each graph: a thread per column of a graph, in the order in
    /// which the vertices are listed, or all blocks for one graph.
    pub(super) fn decide_pool(&mut self, pooling: Pooling) -> Result<(), NoKernel> {
        let Operation::Evaluate { out, shape, inputs, op } = &self.launch.operation else {
            return Err(NoKernel::new("a launch that is no pooling over graphs".to_owned()));
        };
        let (walk, read) =
            Walk::reading(self.list, self.target.bytes_per_real, Rows::Nodes, inputs)
                .ok_or_else(|| NoKernel::new("an operation that no walk supports".to_owned()))?;
        let columns = shape.iter().product::<u64>() as usize;
        if columns == 0 {
            return Ok(());
        }
        let mut lowering = WalkLowering::new(&Rc::new(walk), thread_lanes(columns, 1));
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
        self.note([(ScheduleKind::GraphPooling, true)]);
        self.header();
        let mut parameters = Parameters::new();
        parameters.push_output(
            format!("{}* __restrict__ out", stored_kind(kind)),
            Argument::Buffer(out.clone()),
        );
        parameters.add_reads(&lowering, &reads);
        let is_one = held == Rows::Graphs(1) && kind != Type::Bool;
        if is_one && columns <= TICKETS as usize {
            let body = PoolBody { columns, begin, statements, made, reduction };
            self.add_pool_of_one(parameters, tables_of(&[&lowering])?, body);
            return Ok(());
        }
        parameters.push("const unsigned* __restrict__ graph_offsets", Argument::GraphOffsets);
        parameters.push("const unsigned* __restrict__ graph_vertices", Argument::GraphVertices);
        parameters.push("const unsigned graphs", Argument::RowCount(held));
        let body = PoolBody { columns, begin, statements, made, reduction };
        let rows = match held {
            Rows::Graphs(count) => Rows::Graphs(count * columns as u64),
            other => other,
        };
        self.add_kernel(KernelDraft {
            tables: tables_of(&[&lowering])?,
            ..KernelDraft::new(
                "graph_pooling.rs, decide_pool",
                parameters,
                Blocks::Rows { rows, each: THREADS, slices: 1 },
                body,
            )
        });
        Ok(())
    }

    /// The same over all vertices of one graph: blocks have parts of the vertices, and the last
    /// block of a column adds up the parts.
    fn add_pool_of_one(&mut self, mut parameters: Parameters, tables: Vec<String>, body: PoolBody) {
        let most = 2 * self.target.processors;
        parameters.push("const unsigned vertices", Argument::RowCount(Rows::Nodes));
        parameters.push_output("double* __restrict__ parts_of_sums", Argument::Scratch);
        parameters.push_output("unsigned* ticket", Argument::Ticket);
        let columns = body.columns as u32;
        let bytes = u64::from(most) * u64::from(columns) * 8;
        self.scratch_bytes = self.scratch_bytes.max(bytes);
        let blocks = Blocks::Parts {
            rows: Rows::Nodes,
            each: tuning::sum_part_rows(),
            most,
            tiles: [columns, 1],
        };
        let maker = "graph_pooling.rs, add_pool_of_one";
        let body = PoolOfOne(body);
        self.add_kernel(KernelDraft {
            tables,
            ..KernelDraft::new(maker, parameters, blocks, body)
        });
    }
}

/// The body of a sum over the vertices of one graph.
struct PoolOfOne(PoolBody);

impl KernelBody for PoolOfOne {
    fn text(&self, _printer: &Printer) -> String {
        let PoolBody { columns, begin, statements, made, reduction } = &self.0;
        let value = match made.kind {
            Type::Real => made.at(),
            _ => format!("({})", made.at()),
        };
        let join = |other: &str| join_parts(*reduction, made.kind, "sum", other);
        let (of, about) = (register(made.kind), emit_row_context(&statements.reads()));
        let of_block = format!(
            "__syncthreads();
of_thread[threadIdx.x] = sum;
for (unsigned half = {THREADS} / 2; half > 0; half /= 2) {{
__syncthreads();
if (threadIdx.x < half) of_thread[threadIdx.x] = sum = {};
}}
",
            join("of_thread[threadIdx.x + half]")
        );
        format!(
            "[[maybe_unused]] constexpr unsigned C = {columns}, V = 1, Q = 1;
[[maybe_unused]] const unsigned c[1] = {{blockIdx.y}};
const unsigned each = (vertices + gridDim.x - 1) / gridDim.x;
const unsigned first = blockIdx.x * each, end = min(first + each, vertices);
__shared__ {of} of_thread[{THREADS}];
__shared__ bool is_last;
{of} sum = {begin};
for (unsigned v = first + threadIdx.x; v < end; v += {THREADS}) {{
{about}{}EACH sum = {};
}}
{of_block}if (threadIdx.x == 0) {{
tell(parts_of_sums + blockIdx.y * gridDim.x + blockIdx.x, sum);
__threadfence();
is_last = atomicAdd(ticket + blockIdx.y, 1u) == gridDim.x - 1;
}}
__syncthreads();
if (!is_last) return;
__threadfence();
sum = {begin};
for (unsigned part = threadIdx.x; part < gridDim.x; part += {THREADS}) {{
const {of} other = heard<{of}>(parts_of_sums + blockIdx.y * gridDim.x + part);
sum = {};
}}
{of_block}if (threadIdx.x == 0) {{
out[blockIdx.y] = sum;
ticket[blockIdx.y] = 0;
}}
",
            statements.text(),
            join(&value),
            join("other"),
        )
    }
}

/// The body of a sum over the vertices of each graph.
struct PoolBody {
    columns: usize,
    /// The initial value.
    begin: String,
    /// Statements that compute the value of a vertex, and its registers.
    statements: Statements,
    made: RegisterValue,
    reduction: Reduction,
}

impl KernelBody for PoolBody {
    fn text(&self, _printer: &Printer) -> String {
        let PoolBody { columns, begin, statements, made, reduction } = self;
        let value_at = match made.kind {
            Type::Real => made.at(),
            Type::Bool => cast(made.kind, Type::Real, &made.at()),
            Type::Int | Type::Id => format!("({})", made.at()),
        };
        let (of, about) = (register(made.kind), emit_row_context(&statements.reads()));
        format!(
            "constexpr unsigned C = {columns}, V = 1, Q = 1;
const unsigned number = blockIdx.x * {THREADS} + threadIdx.x;
if (number >= graphs * C) return;
const unsigned of_graph = number / C, c[1] = {{number % C}};
{of} sum = {begin};
for (unsigned at = __ldg(graph_offsets + of_graph); at < __ldg(graph_offsets + of_graph + 1); at++) {{
const unsigned v = graph_vertices ? __ldg(graph_vertices + at) : at;
{about}{}EACH sum = {};
}}
out[number] = sum;
",
            statements.text(),
            join_parts(*reduction, made.kind, "sum", &value_at),
        )
    }
}
