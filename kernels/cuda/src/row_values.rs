//! row_values: values of a row that products and sums over rows read, in statements.
//!
//! promises  a value is computed where it is read, with a vector of adjacent columns per thread;
//!           rows that are stored are loaded as they are
//! never     assigns rows to threads
use super::NoKernel;
use super::kernel_parameters::emit_row_context;
use super::lane_layout::{Lanes, identity};
use super::operators::cast;
use super::statements::{RegisterValue, Scope, Statement, Statements};
use super::walk_lowering::WalkLowering;
use super::walk_steps::{At, From, Input, Leaf, Read, Walk};
use warploom_ir::Type;

/// Statements that compute one value of a row, and the expression of its register.
pub(super) struct RowValue {
    pub statements: Statements,
    pub at: String,
}

impl RowValue {
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
pub(super) fn registers_of(
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
pub(super) fn tables_of(lowerings: &[&WalkLowering]) -> Result<Vec<String>, NoKernel> {
    let with: Vec<&&WalkLowering> =
        lowerings.iter().filter(|lowering| !lowering.constants.is_empty()).collect();
    match with.as_slice() {
        [] => Ok(Vec::new()),
        [only] => Ok(only.constants.clone()),
        _ => Err(NoKernel::new(
            "a product whose operands both need a table for the order of their elements".to_owned(),
        )),
    }
}
