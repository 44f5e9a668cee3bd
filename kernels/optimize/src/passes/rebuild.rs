//! rebuild: rebuilds a program, node by node, with a rule that may substitute another value for a
//! node.
//!
//! promises  nodes are visited in order and created through `Builder`, so places, shapes and types
//!           are checked again and equal nodes become one; spans, names, parameters, loops (states
//!           and until), results, the loss, gradients and updates are kept; a substitute is used
//!           only if place, type and shape are those of the node
//! never     calls the rule for leaves of loops and parameters (`State`, `Ended`, `Parameter`,
//!           `Constant`)
//!
//! One trap is guarded here: a row of S that is no view (`Dropout` of a view) may not become a
//! view, because operations on it would then move to the vertices and be S where they were E, and
//! `Outer` requires rows of equal places.
use warploom_ir::{
    Builder, Data, Gir, Gradient, Misfit, Node, NodeId, NodeResult, Op, Output, Place, StopTest,
};

/// The node that is being rebuilt.
pub(super) struct Site<'s> {
    /// Its number in the old program.
    pub id: NodeId,
    /// The new numbers of earlier nodes.
    pub made: &'s [Option<NodeId>],
    /// The old node.
    pub node: &'s Node,
    /// Its inputs in the new program.
    pub inputs: &'s [NodeId],
}

/// The result of a rule: a substitute for the node, or none to rebuild the node. A misfit counts as
/// none, too.
pub(super) type Ruled = Result<Option<NodeId>, Misfit>;

/// The program with the rule applied to each node of `live` (all, if there is none).
pub(super) fn rebuild(
    gir: &Gir,
    data: &Data,
    live: Option<&[bool]>,
    rule: &mut dyn FnMut(&mut Builder<'_>, &Site<'_>) -> Ruled,
) -> Gir {
    let mut work = Rebuild {
        old: gir,
        builder: Builder::new(gir.program.clone(), data),
        made: vec![None; gir.nodes.len()],
        loops: vec![None; gir.loops.len()],
    };
    work.builder.gir.parameters = gir.parameters.clone();
    for id in gir.ids() {
        if live.is_none_or(|live| live[id.index()]) {
            let new = work.visit(id, rule).expect(
                "a node that was made once can be made again of values of the same place, type and \
                 shape",
            );
            work.made[id.index()] = Some(new);
        }
    }
    work.finish()
}

/// The same node with new inputs.
pub(super) fn remake(builder: &mut Builder<'_>, node: &Node, inputs: &[NodeId]) -> NodeResult {
    match node.op {
        Op::Reshape | Op::Expand | Op::Scatter { .. } => {
            builder.make_shaped(node.op.clone(), inputs, &node.shape)
        }
        Op::Dropout { .. } => builder.dropout_at(node.place, &node.op, inputs[0]),
        _ => builder.make(node.op.clone(), inputs),
    }
}

struct Rebuild<'a> {
    old: &'a Gir,
    builder: Builder<'a>,
    made: Vec<Option<NodeId>>,
    /// New number of a loop, and whether it is closed.
    loops: Vec<Option<(usize, bool)>>,
}

impl Rebuild<'_> {
    fn visit(
        &mut self,
        id: NodeId,
        rule: &mut dyn FnMut(&mut Builder<'_>, &Site<'_>) -> Ruled,
    ) -> NodeResult {
        let node = self.old.node(id);
        self.builder.span = node.span;
        let new = match node.op {
            Op::Constant(number) => self.builder.constant(number),
            Op::Parameter(position) => self.builder.declared(position),
            Op::State(position) => {
                let number = node.region.expect("a state stands in a loop");
                if self.loops[number].is_none() {
                    self.begin(number);
                }
                let (new, _) = self.loops[number].expect("it was begun");
                self.builder.gir.loops[new].states[position].inside
            }
            Op::Ended(number, position) => return self.ended(number, position),
            _ => {
                let inputs: Vec<NodeId> =
                    node.inputs.iter().map(|input| self.mapped(*input)).collect();
                self.builder.region =
                    node.region.and_then(|number| self.loops[number]).map(|(number, _)| number);
                let ruled =
                    rule(&mut self.builder, &Site { id, made: &self.made, node, inputs: &inputs })
                        .ok()
                        .flatten();
                match ruled.filter(|new| fits(node, self.builder.node(*new))) {
                    Some(new) => new,
                    None => remake(&mut self.builder, node, &inputs)?,
                }
            }
        };
        if let Some(name) = &node.name {
            self.builder.gir.nodes[new.index()].name.get_or_insert_with(|| name.clone());
        }
        Ok(new)
    }

    fn mapped(&self, old: NodeId) -> NodeId {
        self.made[old.index()].expect("what a live node reads is live and stands before it")
    }

    fn begin(&mut self, number: usize) {
        let states: Vec<(String, NodeId)> = self.old.loops[number]
            .states
            .iter()
            .map(|state| (state.name.clone(), self.mapped(state.first)))
            .collect();
        let (new, _) = self.builder.begin_loop(&states);
        self.loops[number] = Some((new, false));
    }

    fn ended(&mut self, number: usize, position: usize) -> NodeResult {
        let (new, closed) =
            self.loops[number].expect("a loop is begun by its states before it has ended");
        if !closed {
            let repeated = &self.old.loops[number];
            let next: Vec<NodeId> =
                repeated.states.iter().map(|state| self.mapped(state.next)).collect();
            let until = match repeated.until {
                StopTest::Nowhere(node) => StopTest::Nowhere(self.mapped(node)),
                ref until => until.clone(),
            };
            self.builder.end_loop(new, &next, until)?;
            self.loops[number] = Some((new, true));
        }
        let ended =
            self.builder.gir.ids().find(|id| self.builder.node(*id).op == Op::Ended(new, position));
        ended.ok_or_else(|| {
            Misfit::new("state after a loop", format!("position {position}"), "none")
        })
    }

    fn finish(self) -> Gir {
        let results = self
            .old
            .results
            .iter()
            .map(|result| Output { node: self.mapped(result.node), ..result.clone() })
            .collect();
        let loss = self.old.loss.map(|loss| self.mapped(loss));
        let gradients = self
            .old
            .gradients
            .iter()
            .map(|gradient| Gradient {
                of: self.mapped(gradient.of),
                node: self.mapped(gradient.node),
            })
            .collect();
        let updates = self
            .old
            .updates
            .iter()
            .map(|(parameter, node)| (*parameter, self.mapped(*node)))
            .collect();
        Gir { results, loss, gradients, updates, ..self.builder.gir }
    }
}

fn fits(old: &Node, new: &Node) -> bool {
    let view = |node: &Node| matches!(node.op, Op::Far(_));
    let becomes_view = matches!(old.place, Place::S(_)) && view(new) && !view(old);
    (old.place, old.kind, &old.shape) == (new.place, new.kind, &new.shape) && !becomes_view
}
