//! lower: translates the graph of a program to its launch list, one launch per value that must be
//! materialised.
//!
//! promises  a list without flaws that means what the program means; equal programs and data sets
//!           give equal lists; vertex rows are read through edges and never materialised per edge;
//!           a product that is only summed over edges or along an axis is computed where it is
//!           summed; sparse features stay sparse where they meet a weight; values that depend on no
//!           parameter are computed once
//! never     fuses element-wise launches; knows a device
//! limits    a program that trains has no `while`
use std::collections::BTreeMap;
use std::fmt;

use crate::{
    Body, Buffer, BufferName, Dropout, Element, GraphFacts, Launch, LaunchList, Operand, Operation,
    Parameter, Role, Rowed, Rows, View, fixed, gradient_buffer, parameter_buffer,
};
use warploom_ir::{Data, Gir, Input, Node, NodeId, Op, Place, Span, Type};

mod iterate;
mod train;
mod uses;

use uses::Uses;

/// Why a program has no launch list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What was refused.
    pub what: String,
    /// What to do about it.
    pub hint: String,
    /// Its place in the program's text.
    pub span: Span,
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.what)
    }
}

impl std::error::Error for Refusal {}

/// The launch list of a program, including its gradients if it has any.
pub fn lower(gir: &Gir, data: &Data) -> Result<LaunchList, Refusal> {
    let mut list = if data.training { train::list(gir, data)? } else { iterate::list(gir, data)? };
    list.set_courses();
    list.reckon(&GraphFacts::from_data(data));
    Ok(list)
}

/// The phase that the launches of a value belong to.
type LaunchPhase = usize;

/// How the users of a value read it.
#[derive(Clone, Debug, PartialEq)]
enum LoweredValue {
    /// As an operand of launches.
    Operand(Operand),
    /// As sparse features, of all vertices or of a kind, with dropout or without.
    Sparse(Option<u32>, Option<Dropout>),
}

/// Place, type and shape of stored rows.
#[derive(Clone, Copy)]
struct RowType<'a> {
    place: Place,
    kind: Type,
    shape: &'a [u64],
}

/// A launch list under construction.
struct Lowering<'a> {
    gir: &'a Gir,
    data: &'a Data,
    uses: Uses,
    buffers: Vec<Buffer>,
    /// Launches by phase.
    phases: Vec<Vec<Launch>>,
    held: BTreeMap<NodeId, LoweredValue>,
    /// Buffer names that some values must have: successors of states, gradients.
    wanted: BTreeMap<NodeId, (BufferName, Role)>,
}

impl<'a> Lowering<'a> {
    fn new(gir: &'a Gir, data: &'a Data, phases: usize) -> Self {
        let uses = Uses::new(gir, data);
        Lowering {
            gir,
            data,
            uses,
            buffers: Vec::new(),
            phases: vec![Vec::new(); phases],
            held: BTreeMap::new(),
            wanted: BTreeMap::new(),
        }
    }

    /// Declares the parameters, with gradients if there are any.
    fn parameters(&mut self) -> Vec<Parameter> {
        let trained = !self.gir.gradients.is_empty();
        let mut parameters = Vec::new();
        for parameter in &self.gir.parameters {
            let (rows, columns) = fixed(&parameter.shape);
            self.declare(
                parameter_buffer(&parameter.name),
                Rows::Fixed(rows),
                columns,
                Element::Real,
                Role::Parameter,
            );
            if trained && parameter.learned {
                self.declare(
                    gradient_buffer(&parameter.name),
                    Rows::Fixed(rows),
                    columns,
                    Element::Real,
                    Role::Gradient,
                );
            }
            parameters.push(Parameter {
                name: parameter.name.clone(),
                shape: parameter.shape.clone(),
                init: parameter.init,
                learned: parameter.learned,
            });
        }
        parameters
    }

    fn declare(
        &mut self,
        name: BufferName,
        rows: Rows,
        columns: u64,
        element: Element,
        role: Role,
    ) -> BufferName {
        if !self.buffers.iter().any(|buffer| buffer.name == name) {
            self.buffers.push(Buffer { name: name.clone(), rows, columns, element, role });
        }
        name
    }

    /// A buffer for rows of this kind.
    fn buffer_for(
        &mut self,
        name: BufferName,
        RowType { place, kind, shape }: RowType<'_>,
        role: Role,
    ) -> BufferName {
        let rows = rows_of(place, self.data, shape);
        let columns =
            if let Rows::Fixed(_) = rows { fixed(shape).1 } else { shape.iter().product() };
        self.declare(name, rows, columns, element_of(kind), role)
    }

    /// Lowers a value in this phase, if it needs a launch.
    fn visit(&mut self, id: NodeId, phase: LaunchPhase) {
        let node = self.gir.node(id);
        let held = match self.alias(id, node, phase) {
            Some(held) => held,
            None => LoweredValue::Operand(self.launch(id, node, phase)),
        };
        self.held.insert(id, held);
    }

    /// Values that need no launch of their own.
    fn alias(&mut self, id: NodeId, node: &Node, phase: LaunchPhase) -> Option<LoweredValue> {
        if self.wanted.contains_key(&id) {
            return None;
        }
        let input = || node.inputs.first().and_then(|input| self.held.get(input)).cloned();
        match &node.op {
            Op::Constant(number) => Some(LoweredValue::Operand(Operand::Number(*number))),
            Op::Parameter(index) => {
                Some(rows(parameter_buffer(&self.gir.parameters[*index].name), &node.shape))
            }
            Op::Input(Input::Features) if self.data.sparse_features.is_some() => {
                Some(LoweredValue::Sparse(None, None))
            }
            Op::Input(Input::FeaturesOf(kind)) if self.entries_of(*kind).is_some() => {
                Some(LoweredValue::Sparse(Some(*kind), None))
            }
            Op::Input(given) => Some(self.input_buffer(given, node)),
            // Dropout is the identity without training.
            Op::Dropout { .. } if !self.data.training => input(),
            Op::WhenTraining if !self.data.training && self.is_like(node.inputs[1], node) => {
                self.held.get(&node.inputs[1]).cloned()
            }
            Op::Dropout { probability, site } if self.uses.is_sparse_only(id) => match input() {
                Some(LoweredValue::Sparse(kind, None)) => Some(LoweredValue::Sparse(
                    kind,
                    Some(Dropout { probability: *probability, site: *site }),
                )),
                _ => None,
            },
            Op::Detach => input().filter(|held| matches!(held, LoweredValue::Operand(_))),
            Op::Far(edges) => view_rows(self.read(node.inputs[0], phase), View::Far(*edges)),
            Op::Near(edges) => view_rows(self.read(node.inputs[0], phase), View::Near(*edges)),
            Op::Reshape => match input()? {
                LoweredValue::Operand(Operand::Rows(rows)) => {
                    Some(LoweredValue::Operand(Operand::Rows(Rowed {
                        shape: node.shape.clone(),
                        ..rows
                    })))
                }
                _ => None,
            },
            Op::Expand if self.uses.is_broadcast(self.gir, id) => {
                input().filter(|held| matches!(held, LoweredValue::Operand(_)))
            }
            Op::Select
                if node.inputs[1] == node.inputs[2] && self.is_like(node.inputs[1], node) =>
            {
                self.held.get(&node.inputs[1]).cloned()
            }
            Op::Binary(warploom_ir::Binary::Multiply) if self.uses.is_only_summed(self.gir, id) => {
                let (first, second) =
                    (self.operand(node.inputs[0])?, self.operand(node.inputs[1])?);
                Some(LoweredValue::Operand(Operand::Times(Box::new(first), Box::new(second))))
            }
            _ => None,
        }
    }

    /// Whether a value has place and shape of another.
    fn is_like(&self, id: NodeId, node: &Node) -> bool {
        let value = self.gir.node(id);
        (value.place, &value.shape) == (node.place, &node.shape)
    }

    /// The buffer of an input of the data set.
    fn input_buffer(&mut self, input: &Input, node: &Node) -> LoweredValue {
        let (name, role) = match input {
            Input::Features => ("x".to_owned(), Role::Features),
            Input::Target => ("target".to_owned(), Role::Target),
            other => (input_name(other), Role::Given(other.clone())),
        };
        let name = self.buffer_for(
            name,
            RowType { place: node.place, kind: node.kind, shape: &node.shape },
            role,
        );
        rows(name, &node.shape)
    }

    /// The operand of a value that is no sparse matrix.
    fn operand(&self, id: NodeId) -> Option<Operand> {
        match self.held.get(&id)? {
            LoweredValue::Operand(operand) => Some(operand.clone()),
            LoweredValue::Sparse(..) => None,
        }
    }

    /// The operand of a value; sparse features are densified first.
    fn read(&mut self, id: NodeId, phase: LaunchPhase) -> Operand {
        match self.held.get(&id).cloned() {
            Some(LoweredValue::Operand(operand)) => operand,
            Some(LoweredValue::Sparse(kind, dropout)) => self.dense(id, kind, dropout, phase),
            None => unreachable!("inputs stand before users, and what is needed is visited"),
        }
    }

    /// Sparse features as dense rows, written once in the first phase.
    fn dense(
        &mut self,
        id: NodeId,
        kind: Option<u32>,
        dropout: Option<Dropout>,
        phase: LaunchPhase,
    ) -> Operand {
        let (place, shape) = (self.gir.node(id).place, self.gir.node(id).shape.clone());
        let whole = RowType { place, kind: Type::Real, shape: &shape };
        let sparse = self.sparse(kind);
        let plain = format!("{sparse}.dense");
        let sparse = Operand::Rows(Rowed { buffer: sparse, shape: shape.clone(), view: View::Own });
        if !self.buffers.iter().any(|buffer| buffer.name == plain) {
            self.buffer_for(plain.clone(), whole, Role::Value);
            let input = kind.map_or(Input::Features, Input::FeaturesOf);
            self.evaluate(0, plain.clone(), shape.clone(), Op::Input(input), vec![sparse]);
        }
        let plain = Operand::Rows(Rowed { buffer: plain, shape: shape.clone(), view: View::Own });
        let Some(Dropout { probability, site }) = dropout else { return plain };
        let dropped = format!("x.dropped.{site}");
        if !self.buffers.iter().any(|buffer| buffer.name == dropped) {
            self.buffer_for(dropped.clone(), whole, Role::Value);
            self.evaluate(
                phase,
                dropped.clone(),
                shape.clone(),
                Op::Dropout { probability, site },
                vec![plain],
            );
        }
        Operand::Rows(Rowed { buffer: dropped, shape, view: View::Own })
    }

    /// The buffer of sparse features, of all vertices or of a kind.
    fn sparse(&mut self, kind: Option<u32>) -> BufferName {
        let Some((number, of)) =
            kind.and_then(|number| Some((number, self.data.kinds.get(number as usize)?)))
        else {
            let columns = self.data.features.unwrap_or(0);
            return self.declare(
                "x".to_owned(),
                Rows::Nodes,
                columns,
                Element::Real,
                Role::SparseFeatures,
            );
        };
        let role =
            Role::SparseFeaturesOf { kind: number, entries: of.sparse_features.unwrap_or(0) };
        self.declare(
            format!("x.{number}"),
            Rows::Fixed(of.nodes),
            of.features.unwrap_or(0),
            Element::Real,
            role,
        )
    }

    /// Nonzeros of the features of a kind, if they are sparse.
    fn entries_of(&self, kind: u32) -> Option<u64> {
        self.data.kinds.get(kind as usize).and_then(|kind| kind.sparse_features)
    }

    /// Adds a launch for a value, and records its buffer.
    fn launch(&mut self, id: NodeId, node: &Node, phase: LaunchPhase) -> Operand {
        let (name, role) =
            self.wanted.get(&id).cloned().unwrap_or_else(|| (name_of(id, node), Role::Value));
        self.buffer_for(
            name.clone(),
            RowType { place: node.place, kind: node.kind, shape: &node.shape },
            role,
        );
        let made = Operand::Rows(Rowed {
            buffer: name.clone(),
            shape: node.shape.clone(),
            view: View::Own,
        });
        if let Some(operation) = self.sparse_product(node, &name) {
            self.phases[phase].push(Launch::unreckoned(name, operation));
            return made;
        }
        // A select between equal values, and a value that needs this buffer name, is a copy.
        let copied = match &node.op {
            Op::Select => uses::copied(self.gir, node),
            Op::Far(_)
            | Op::Near(_)
            | Op::State(_)
            | Op::Ended(..)
            | Op::Constant(_)
            | Op::Parameter(_)
            | Op::Input(_) => Some(id),
            _ => None,
        };
        let (op, inputs) = match copied {
            Some(source) if source != id => (Op::Detach, vec![self.read(source, phase)]),
            Some(_) => (Op::Detach, vec![self.leaf(id, node, phase)]),
            None => (
                node.op.clone(),
                node.inputs.iter().map(|input| self.read(*input, phase)).collect(),
            ),
        };
        self.evaluate(phase, name, node.shape.clone(), op, inputs);
        made
    }

    /// A leaf or a view that also has to be in a buffer.
    fn leaf(&mut self, id: NodeId, node: &Node, phase: LaunchPhase) -> Operand {
        let wanted = self.wanted.remove(&id);
        let held = self.alias(id, node, phase);
        self.wanted.extend(wanted.map(|wanted| (id, wanted)));
        self.held.insert(id, held.expect("leaves and views need no launch"));
        self.read(id, phase)
    }

    /// The product or outer product with sparse features, if it is one.
    fn sparse_product(&mut self, node: &Node, out: &str) -> Option<Operation> {
        let at = |lowering: &Self, position: usize| {
            node.inputs.get(position).and_then(|input| lowering.held.get(input)).cloned()
        };
        match node.op {
            Op::Product { transposed: true } => {
                let (Some(LoweredValue::Sparse(kind, dropout)), Op::Parameter(index)) =
                    (at(self, 0), &self.gir.node(node.inputs[1]).op)
                else {
                    return None;
                };
                let (left, right) =
                    (self.sparse(kind), parameter_buffer(&self.gir.parameters[*index].name));
                Some(Operation::SparseProduct { out: out.to_owned(), left, right, dropout })
            }
            Op::Outer => {
                let (
                    Some(LoweredValue::Operand(Operand::Rows(left))),
                    Some(LoweredValue::Sparse(kind, dropout)),
                ) = (at(self, 0), at(self, 1))
                else {
                    return None;
                };
                let right = self.sparse(kind);
                let rows = self.buffers.iter().find(|buffer| buffer.name == right)?.rows;
                let held = self.buffers.iter().find(|buffer| buffer.name == left.buffer)?;
                // The rows of table and gradient have the same order.
                let is_plain = left.view == View::Own
                    && held.rows == rows
                    && left.shape.last() == Some(&held.columns);
                if !is_plain || left.shape.len() != axes_of_features(kind) {
                    return None;
                }
                Some(Operation::SparseProductOverRows {
                    out: out.to_owned(),
                    left: left.buffer,
                    right,
                    dropout,
                })
            }
            _ => None,
        }
    }

    fn evaluate(
        &mut self,
        phase: LaunchPhase,
        out: BufferName,
        shape: Vec<u64>,
        op: Op,
        inputs: Vec<Operand>,
    ) {
        self.phases[phase]
            .push(Launch::unreckoned(out.clone(), Operation::Evaluate { out, shape, op, inputs }));
    }

    /// A value of this place in a buffer that a launch has written: its own or a copy of this name.
    fn written(&mut self, id: NodeId, place: Place, name: &str, phase: LaunchPhase) -> BufferName {
        let node = self.gir.node(id);
        let operand = self.read(id, phase);
        if let Operand::Rows(Rowed { buffer, view: View::Own, .. }) = &operand {
            let declared = self.buffers.iter().find(|declared| declared.name == *buffer);
            let fits = declared.is_some_and(|declared| {
                matches!(declared.role, Role::Value | Role::Gradient)
                    && declared.rows == rows_of(place, self.data, &node.shape)
            });
            if fits {
                return buffer.clone();
            }
        }
        let op = if node.place == Place::G && place == Place::D { Op::Give } else { Op::Detach };
        self.copy(operand, op, RowType { place, kind: node.kind, shape: &node.shape }, name, phase)
    }

    /// Copies an operand to a buffer of this name.
    fn copy(
        &mut self,
        operand: Operand,
        op: Op,
        row: RowType<'_>,
        name: &str,
        phase: LaunchPhase,
    ) -> BufferName {
        let name = self.buffer_for(name.to_owned(), row, Role::Value);
        // A number has no shape of its own.
        let op = if matches!(operand, Operand::Number(_)) && !row.shape.is_empty() {
            Op::Expand
        } else {
            op
        };
        self.evaluate(phase, name.clone(), row.shape.to_vec(), op, vec![operand]);
        name
    }

    fn list(
        self,
        parameters: Vec<Parameter>,
        body: Body,
        results: Vec<crate::ResultColumn>,
    ) -> LaunchList {
        let arena = crate::Arena::default();
        LaunchList {
            program: self.gir.program.clone(),
            buffers: self.buffers,
            parameters,
            body,
            results,
            arena,
            reasons: Vec::new(),
            lines: BTreeMap::new(),
        }
    }
}

/// The buffer name of a value.
fn name_of(id: NodeId, node: &Node) -> BufferName {
    let words =
        || node.op.describe().split([' ', '.', '(', '[']).next().unwrap_or("value").to_owned();
    format!("{}.{}", node.name.clone().unwrap_or_else(words), id.0)
}

/// Lines of a program's text, by the names of the buffers that they lead to.
pub fn lines_of(text: &str, gir: &Gir) -> BTreeMap<BufferName, u32> {
    let ends: Vec<u32> =
        text.bytes().zip(0..).filter(|(byte, _)| *byte == b'\n').map(|(_, at)| at).collect();
    let line = |span: Span| ends.partition_point(|end| *end < span.start) as u32 + 1;
    let of_values = gir
        .nodes
        .iter()
        .enumerate()
        .map(|(number, node)| (name_of(NodeId(number as u32), node), line(node.span)));
    let of_gradients = gir.gradients.iter().filter_map(|gradient| {
        Some((
            gradient_buffer(train::parameter_of(gir, gradient.of)?),
            line(gir.node(gradient.node).span),
        ))
    });
    of_values.chain(of_gradients).collect()
}

fn rows(buffer: BufferName, shape: &[u64]) -> LoweredValue {
    LoweredValue::Operand(Operand::Rows(Rowed { buffer, shape: shape.to_vec(), view: View::Own }))
}

/// Vertex rows through a view.
fn view_rows(operand: Operand, view: View) -> Option<LoweredValue> {
    match operand {
        Operand::Rows(rows) if rows.view == View::Own => {
            Some(LoweredValue::Operand(Operand::Rows(Rowed { view, ..rows })))
        }
        _ => None,
    }
}

/// Axes of feature rows: those of a kind are one table.
fn axes_of_features(kind: Option<u32>) -> usize {
    if kind.is_some() { 2 } else { 1 }
}

fn input_name(input: &Input) -> BufferName {
    match input {
        Input::Kind => "given.kind".to_owned(),
        Input::FeaturesOf(kind) => format!("x.{kind}"),
        Input::PlaceAmong(kinds) => format!(
            "given.place.{}",
            kinds.iter().map(u32::to_string).collect::<Vec<_>>().join(".")
        ),
        Input::Features => "x".to_owned(),
        Input::Target => "target".to_owned(),
        Input::Column(name) => format!("given.column.{name}"),
        Input::Id => "given.id".to_owned(),
        Input::Chosen(setting) => format!("given.chosen.{setting}"),
        Input::Degree(edges) => format!("given.degree.{edges}"),
        Input::Weight => "given.weight".to_owned(),
        Input::EdgeFeatures => "given.edge_features".to_owned(),
        Input::EdgeType => "given.edge_type".to_owned(),
        Input::GraphSize => "given.graph_size".to_owned(),
    }
}

fn rows_of(place: Place, data: &Data, shape: &[u64]) -> Rows {
    match (place, place.edge_rows()) {
        (_, Some(warploom_ir::EdgeRows::Once)) => Rows::Edges,
        (_, Some(warploom_ir::EdgeRows::Twice)) => Rows::EdgesTwice,
        (Place::D, _) => Rows::Nodes,
        (Place::G, _) => Rows::Graphs(data.graphs),
        _ => Rows::Fixed(fixed(shape).0),
    }
}

fn element_of(kind: Type) -> Element {
    if kind == Type::Real { Element::Real } else { Element::Whole(kind) }
}
