//! operand_shapes: checks an evaluated operation's operands, by the same rules that created its
//! node.
//!
//! promises  place, type and shape of operands and result follow `ir::Builder`, so that a list
//!           read back is as valid as the program that it comes from
//! never     has a rule of its own, except for broadcasts of one row to all and copies of sparse
//!           features to dense rows
use std::collections::BTreeMap;

use super::{Buffer, Element, Operand, Operation, Role, Rowed, Rows, View};
use warploom_ir::{Builder, Data, EdgeRows, Gir, Input, Node, NodeId, Op, Place, Span, Type};

/// Rows and columns of a shared buffer: two axes are rows and columns, any other shape is one row.
pub fn fixed(shape: &[u64]) -> (u64, u64) {
    match shape {
        [rows, columns] => (*rows, *columns),
        other => (1, other.iter().product()),
    }
}

impl Rows {
    /// What a row corresponds to.
    pub fn place(self) -> Place {
        match self {
            Rows::Nodes => Place::D,
            Rows::Edges => Place::E(EdgeRows::Once),
            Rows::EdgesTwice => Place::E(EdgeRows::Twice),
            Rows::Graphs(_) => Place::G,
            Rows::Fixed(_) => Place::P,
        }
    }
}

impl Element {
    /// Its type in the language.
    pub fn kind(self) -> Type {
        match self {
            Element::Real | Element::Half(_) => Type::Real,
            Element::Whole(kind) => kind,
        }
    }
}

/// A mismatch: what was checked, what was expected, what was found.
pub(super) type Unfit = (String, String, String);

/// Checks an evaluated operation against its buffers; all names are declared.
pub(super) fn check(index: &BTreeMap<&str, &Buffer>, operation: &Operation) -> Result<(), Unfit> {
    let Operation::Evaluate { out, shape, op, inputs } = operation else { return Ok(()) };
    let made = index[out.as_str()];
    elements(made, shape)?;
    for rows in inputs.iter().flat_map(Operand::rows) {
        let buffer = index[rows.buffer.as_str()];
        elements(buffer, &rows.shape)?;
        if rows.view != View::Own && buffer.rows != Rows::Nodes {
            return Err((
                format!("rows of `{}` seen from edges", rows.buffer),
                "nodes".into(),
                buffer.rows.to_string(),
            ));
        }
    }
    if is_dense_copy(index, op, inputs) {
        return Ok(());
    }
    let (place, kind, expected) = infer_row(index, op, shape, inputs).map_err(|found| {
        (format!("operands of {}", op.describe()), "such as fit".to_owned(), found)
    })?;
    let copied = matches!(op, Op::Detach) && matches!(place, Place::C | Place::P);
    let place = if copied || place == Place::C { made.rows.place() } else { place };
    let found = (made.rows.place(), made.element.kind(), shape.clone());
    let expected = (as_edge(place), kind, expected);
    if expected == found {
        Ok(())
    } else {
        Err((
            format!("place, type and shape of `{out}`"),
            format!("{expected:?}"),
            format!("{found:?}"),
        ))
    }
}

/// Whether sparse features are copied to dense rows.
fn is_dense_copy(index: &BTreeMap<&str, &Buffer>, op: &Op, inputs: &[Operand]) -> bool {
    let [Operand::Rows(Rowed { buffer, .. })] = inputs else { return false };
    match (op, &index[buffer.as_str()].role) {
        (Op::Input(Input::Features), Role::SparseFeatures) => true,
        (Op::Input(Input::FeaturesOf(wanted)), Role::SparseFeaturesOf { kind, .. }) => {
            wanted == kind
        }
        _ => false,
    }
}

fn elements(buffer: &Buffer, shape: &[u64]) -> Result<(), Unfit> {
    let rows = if let Rows::Fixed(rows) = buffer.rows { rows } else { 1 };
    let (held, wanted) = (rows.saturating_mul(buffer.columns), shape.iter().product::<u64>());
    if held == wanted {
        Ok(())
    } else {
        Err((
            format!("elements of `{}` in a row of shape {shape:?}", buffer.name),
            wanted.to_string(),
            held.to_string(),
        ))
    }
}

fn as_edge(place: Place) -> Place {
    if let Place::S(rows) = place { Place::E(rows) } else { place }
}

/// Place, type and shape that the rules give.
fn infer_row(
    index: &BTreeMap<&str, &Buffer>,
    op: &Op,
    shape: &[u64],
    inputs: &[Operand],
) -> Result<(Place, Type, Vec<u64>), String> {
    let data = Data::bare(1, 1);
    let mut leaves = Leaves { index, builder: Builder::resume(Gir::default(), &data) };
    let inputs: Vec<NodeId> =
        inputs.iter().map(|operand| leaves.operand_node(operand)).collect::<Result<_, _>>()?;
    let made = match op {
        Op::Constant(_)
        | Op::Input(_)
        | Op::Parameter(_)
        | Op::State(_)
        | Op::Ended(..)
        | Op::Far(_)
        | Op::Near(_)
        | Op::Loss(_)
        | Op::LossSlope(_) => {
            return Err("an operation that needs no launch".to_owned());
        }
        Op::Reshape | Op::Expand | Op::Scatter { .. } => {
            leaves.builder.make_shaped(op.clone(), &inputs, shape)
        }
        _ => leaves.builder.make(op.clone(), &inputs),
    };
    let node = leaves.builder.node(made.map_err(|misfit| misfit.to_string())?);
    Ok((node.place, node.kind, node.shape.clone()))
}

/// Operands as nodes.
struct Leaves<'a> {
    index: &'a BTreeMap<&'a str, &'a Buffer>,
    builder: Builder<'a>,
}

impl Leaves<'_> {
    fn operand_node(&mut self, operand: &Operand) -> Result<NodeId, String> {
        let show = |misfit: warploom_ir::Misfit| misfit.to_string();
        match operand {
            Operand::Number(number) => Ok(self.builder.constant(*number)),
            Operand::Rows(rows) => {
                let buffer = self.index[rows.buffer.as_str()];
                let leaf = self.leaf(buffer, &rows.shape);
                match rows.view {
                    View::Own => Ok(leaf),
                    View::Far(edges) => self.builder.make(Op::Far(edges), &[leaf]).map_err(show),
                    View::Near(edges) => self.builder.make(Op::Near(edges), &[leaf]).map_err(show),
                }
            }
            Operand::Times(first, second) => {
                let (first, second) = (self.operand_node(first)?, self.operand_node(second)?);
                self.builder.multiply(first, second).map_err(show)
            }
        }
    }

    /// A node of the buffer's place, type and shape, however it is computed.
    fn leaf(&mut self, buffer: &Buffer, shape: &[u64]) -> NodeId {
        let nodes = &mut self.builder.gir.nodes;
        let id = NodeId(nodes.len() as u32);
        let (place, kind) = (buffer.rows.place(), buffer.element.kind());
        let name = Some(buffer.name.clone());
        nodes.push(Node {
            op: Op::State(id.index()),
            inputs: Vec::new(),
            place,
            kind,
            shape: shape.to_vec(),
            region: None,
            span: Span::default(),
            name,
        });
        id
    }
}
