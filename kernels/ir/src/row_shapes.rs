//! row_shapes: infers place, type and shape of a node, and refuses operands that do not fit.
//!
//! promises  one rule per operation: place, type and shape follow from the inputs; a mismatch is
//!           refused with expected, found and a hint
//! never     creates a node
use super::row::{Row, broadcast};
use super::{
    Binary, Builder, Function, Input, Misfit, Node, NodeId, Op, Place, Pooling, Reduction, Type,
    Unary,
};

impl Builder<'_> {
    /// Place, type and shape that a node would have, or why its operands do not fit.
    pub(super) fn row(&self, op: &Op, inputs: &[NodeId]) -> Result<Row, Misfit> {
        let of = |position: usize| -> Result<&Node, Misfit> {
            inputs.get(position).map(|id| self.node(*id)).ok_or_else(|| {
                Misfit::new(
                    format!("inputs of {op:?}"),
                    format!("at least {}", position + 1),
                    inputs.len().to_string(),
                )
            })
        };
        match op {
            Op::Constant(_)
            | Op::Parameter(_)
            | Op::State(_)
            | Op::Ended(..)
            | Op::Reshape
            | Op::Expand
            | Op::Scatter { .. } => Err(Misfit::new(
                "way to make a node",
                "`constant`, `parameter`, `begin_loop`, `end_loop` or `make_shaped`",
                format!("{op:?}"),
            )),
            Op::Input(input) => self.input(input),
            Op::Unary(operator) => unary_row(*operator, of(0)?),
            Op::Binary(operator) => {
                let row =
                    self.together(&format!("operands of {operator:?}").to_lowercase(), inputs)?;
                binary_row(*operator, of(0)?, of(1)?, row)
            }
            Op::Select => {
                expect_kind("condition", of(0)?, &[Type::Bool])?;
                same_kinds("values to choose from", of(1)?, of(2)?)?;
                Ok(self.together("parts of a select", inputs)?.with_kind(of(1)?.kind))
            }
            Op::Cast(kind) => cast_row(*kind, of(0)?),
            Op::Dropout { probability, .. } => {
                if !(0.0..1.0).contains(probability) {
                    return Err(Misfit::new(
                        "probability of dropout",
                        "at least 0 and less than 1",
                        probability.to_string(),
                    ));
                }
                expect_kind("value of dropout", of(0)?, &[Type::Real])?;
                Ok(Row::like(of(0)?))
            }
            Op::Detach => Ok(Row::like(of(0)?)),
            Op::WhenTraining => {
                same_kinds("values in and out of training", of(0)?, of(1)?)?;
                Ok(self.together("values in and out of training", inputs)?.with_kind(of(0)?.kind))
            }
            Op::Far(_)
            | Op::Near(_)
            | Op::Reduce(..)
            | Op::Winner(..)
            | Op::Others(_)
            | Op::Fold(..)
            | Op::Turn
            | Op::CommonNeighbors
            | Op::CommonNeighborsSum(_) => self.edge_row(op, inputs),
            Op::Pool(_) | Op::Give | Op::SumRows => pool_row(op, of(0)?),
            Op::Axis(..) | Op::Concat(_) | Op::Slice { .. } | Op::Unslice { .. } => {
                self.axis_row(op, inputs)
            }
            Op::Product { .. } | Op::Outer | Op::Lookup { .. } => self.dense_row(op, inputs),
            Op::Loss(_) | Op::LossSlope(_) => {
                expect_kind("result that is trained", of(0)?, &[Type::Real])?;
                let slope = matches!(op, Op::LossSlope(_));
                Ok(if slope {
                    Row::like(of(0)?)
                } else {
                    Row { place: Place::P, kind: Type::Real, shape: Vec::new() }
                })
            }
        }
    }

    fn input(&self, input: &Input) -> Result<Row, Misfit> {
        let data = self.data;
        let row = |place, kind, shape: &[u64]| Ok(Row { place, kind, shape: shape.to_vec() });
        let once = Place::E(super::EdgeRows::Once);
        match input {
            Input::Features => match data.features {
                Some(columns) => row(Place::D, Type::Real, &[columns]),
                None => Err(Misfit::new("features", "a graph with features", "none")),
            },
            Input::Kind if data.kinds.is_empty() => {
                Err(Misfit::new("kinds of vertices", "a graph with several kinds", "one"))
            }
            Input::Kind => row(Place::D, Type::Int, &[]),
            Input::FeaturesOf(kind) => {
                match data.kinds.get(*kind as usize).map(|kind| (kind.nodes, kind.features)) {
                    Some((nodes, Some(columns))) => row(Place::P, Type::Real, &[nodes, columns]),
                    _ => Err(Misfit::new(
                        format!("features of kind {kind}"),
                        "a kind with features",
                        "none",
                    )),
                }
            }
            Input::PlaceAmong(kinds) => {
                match kinds.iter().find(|kind| **kind as usize >= data.kinds.len()) {
                    None => row(Place::D, Type::Int, &[]),
                    Some(kind) => Err(Misfit::new(
                        "kind of vertices",
                        format!("a number below {}", data.kinds.len()),
                        kind.to_string(),
                    )),
                }
            }
            Input::Column(name) => match data.columns.get(name) {
                Some(kind) => row(Place::D, *kind, &[]),
                None => Err(Misfit::new(
                    format!("column `{name}`"),
                    "a column of the node table",
                    "no such column",
                )),
            },
            Input::Id => row(Place::D, Type::Id, &[]),
            Input::Chosen(_) => row(Place::D, Type::Bool, &[]),
            Input::Degree(_) => row(Place::D, Type::Int, &[]),
            Input::Weight => row(once, Type::Real, &[]),
            Input::EdgeFeatures if data.edge_features == 0 => {
                Err(Misfit::new("edge features", "a graph with edge features", "none"))
            }
            Input::EdgeFeatures => row(once, Type::Real, &[data.edge_features]),
            Input::EdgeType if data.relations.is_empty() => {
                Err(Misfit::new("edge types", "a graph with relations", "none"))
            }
            Input::EdgeType => row(once, Type::Int, &[]),
            Input::Target => {
                let place = data.target_place();
                match data.target {
                    Some(target) if target.loss == super::Loss::CrossEntropy => {
                        row(place, Type::Real, &[])
                    }
                    Some(target) => row(place, Type::Real, &[target.columns]),
                    None => Err(Misfit::new("target", "a graph with labels", "none")),
                }
            }
            Input::GraphSize => row(Place::G, Type::Int, &[]),
        }
    }

    /// Place and shape of an element-wise operation.
    fn together(&self, what: &str, inputs: &[NodeId]) -> Result<Row, Misfit> {
        let first = self.node(*inputs.first().ok_or_else(|| Misfit::new(what, "values", "none"))?);
        let mut row = Row::like(first);
        for (position, id) in inputs.iter().enumerate().skip(1) {
            let node = self.node(*id);
            let before = || {
                inputs[..position]
                    .iter()
                    .map(|id| self.describe(*id))
                    .collect::<Vec<_>>()
                    .join(" and ")
            };
            row.place = meet(row.place, node.place).ok_or_else(|| {
                Misfit::new(
                    format!("place of {what}"),
                    format!("one that meets {}", before()),
                    self.describe(*id),
                )
                .hint("a value of a vertex meets values of edges inside a comprehension only")
            })?;
            row.shape = broadcast(&row.shape, &node.shape).ok_or_else(|| {
                Misfit::new(
                    format!("shape of {what}"),
                    format!("one that broadcasts with {}", before()),
                    self.describe(*id),
                )
                .hint("shapes are aligned at their last axes; lengths must be equal or 1")
            })?;
        }
        Ok(row)
    }

    fn edge_row(&self, op: &Op, inputs: &[NodeId]) -> Result<Row, Misfit> {
        let node = |position: usize| self.node(inputs[position]);
        let once = Place::E(super::EdgeRows::Once);
        let (edges, mask) = match op {
            Op::CommonNeighbors => {
                return Ok(Row { place: once, kind: Type::Int, shape: Vec::new() });
            }
            Op::CommonNeighborsSum(_) => {
                return Ok(Row { place: Place::D, kind: Type::Int, shape: Vec::new() });
            }
            Op::Turn => {
                let twice = Place::E(super::EdgeRows::Twice);
                let fits = node(0).place.edge_rows() == Some(super::EdgeRows::Twice);
                return if fits {
                    Ok(Row::like(node(0)).with_place(twice))
                } else {
                    Err(Misfit::new(
                        "value that is turned",
                        "one over `v.nbs`",
                        self.describe(inputs[0]),
                    ))
                };
            }
            Op::Far(edges) | Op::Near(edges) => {
                if node(0).place != Place::D {
                    return Err(Misfit::new(
                        "value seen from an edge",
                        "one of vertices (D)",
                        self.describe(inputs[0]),
                    ));
                }
                let place = if matches!(op, Op::Far(_)) {
                    Place::S(edges.rows())
                } else {
                    Place::E(edges.rows())
                };
                return Ok(Row::like(node(0)).with_place(place));
            }
            Op::Fold(_, edges) => (edges, 2),
            Op::Reduce(_, edges) | Op::Winner(_, edges) | Op::Others(edges) => (edges, 1),
            _ => return Err(Misfit::new("operation", "one over edges", format!("{op:?}"))),
        };
        for (position, id) in inputs.iter().enumerate() {
            let place = self.node(*id).place;
            let fits = if mask == 2 && position == 1 {
                matches!(place, Place::C | Place::P)
            } else {
                place.edge_rows() == Some(edges.rows())
            };
            if !fits {
                return Err(Misfit::new(
                    format!("value reduced over edges ({edges})"),
                    "one of these edges",
                    self.describe(*id),
                ));
            }
        }
        if let Some(mask) = inputs.get(mask).map(|id| self.node(*id))
            && (mask.kind, mask.columns()) != (Type::Bool, 1)
        {
            return Err(Misfit::new(
                "`if` of a comprehension",
                "bool []",
                format!("{} {:?}", mask.kind, mask.shape),
            ));
        }
        let row = Row::like(node(0));
        match op {
            Op::Winner(..) => Ok(row.with_place(Place::E(edges.rows())).with_kind(Type::Bool)),
            Op::Others(_) => Ok(row.with_place(Place::E(edges.rows()))),
            Op::Fold(function, _) => {
                same_kinds("values and start of a fold", node(0), node(1))?;
                let kind = function_kind(function, node(0).kind)?;
                if kind != node(0).kind {
                    return Err(Misfit::new(
                        "result of a fold's function",
                        node(0).kind.to_string(),
                        kind.to_string(),
                    ));
                }
                Ok(row.with_place(Place::D))
            }
            Op::Reduce(reduction, _) => reduction_kind(*reduction, node(0))
                .map(|kind| row.with_place(Place::D).with_kind(kind)),
            _ => Ok(row.with_place(Place::D)),
        }
    }

    fn axis_row(&self, op: &Op, inputs: &[NodeId]) -> Result<Row, Misfit> {
        let node = self.node(inputs[0]);
        let (Op::Axis(_, axis)
        | Op::Concat(axis)
        | Op::Slice { axis, .. }
        | Op::Unslice { axis, .. }) = op
        else {
            return Err(Misfit::new("operation", "one along an axis", format!("{op:?}")));
        };
        let mut row = Row::like(node);
        if *axis >= row.shape.len() {
            let expected = if row.shape.is_empty() {
                "a row with axes".to_owned()
            } else {
                format!("0 to {}", row.shape.len() - 1)
            };
            return Err(Misfit::new(format!("axis {axis}"), expected, self.describe(inputs[0])));
        }
        match op {
            Op::Axis(Pooling::Sum, _) if node.kind == Type::Bool => {
                return Err(Misfit::new("values summed along an axis", "int or real", "bool"));
            }
            Op::Axis(..) => {
                row.shape.remove(*axis);
            }
            Op::Slice { start, length, .. } => {
                if start.checked_add(*length).is_none_or(|end| end > row.shape[*axis]) {
                    return Err(Misfit::new(
                        format!("place {start} of axis {axis}"),
                        format!("less than {}", row.shape[*axis]),
                        self.describe(inputs[0]),
                    ));
                }
                row.shape[*axis] = *length;
            }
            Op::Unslice { start, total, .. } => {
                if start.checked_add(row.shape[*axis]).is_none_or(|end| end > *total) {
                    return Err(Misfit::new(
                        format!("places of axis {axis} among {total}, from {start} on"),
                        format!("at most {}", total.saturating_sub(*start)),
                        self.describe(inputs[0]),
                    ));
                }
                row.shape[*axis] = *total;
            }
            _ => {
                let apart = |shape: &[u64]| {
                    shape
                        .iter()
                        .enumerate()
                        .filter(|(index, _)| index != axis)
                        .map(|(_, length)| *length)
                        .collect::<Vec<_>>()
                };
                for id in &inputs[1..] {
                    let other = self.node(*id);
                    same_kinds("values side by side", node, other)?;
                    if other.shape.len() != row.shape.len()
                        || apart(&other.shape) != apart(&row.shape)
                    {
                        return Err(Misfit::new(
                            "shape of values side by side",
                            format!("{:?} but for axis {axis}", node.shape),
                            format!("{:?}", other.shape),
                        ));
                    }
                    row.shape[*axis] += other.shape[*axis];
                    row.place = meet(row.place, other.place).ok_or_else(|| {
                        Misfit::new(
                            "place of values side by side",
                            self.describe(inputs[0]),
                            self.describe(*id),
                        )
                    })?;
                }
            }
        }
        Ok(row)
    }

    fn dense_row(&self, op: &Op, inputs: &[NodeId]) -> Result<Row, Misfit> {
        let [a, b] = inputs else {
            return Err(Misfit::new(format!("inputs of {op:?}"), "2", inputs.len().to_string()));
        };
        let (left, right) = (self.node(*a), self.node(*b));
        match op {
            Op::Product { transposed } => {
                expect_kind("left of a product", left, &[Type::Real])?;
                expect_kind("right of a product", right, &[Type::Real])?;
                let shared = matches!(right.place, Place::P | Place::C);
                let (2, true, Some(inner)) = (right.shape.len(), shared, left.shape.last()) else {
                    let hint = "the right side is a parameter, as  param((k, n))";
                    return Err(Misfit::new(
                        "operands of a product",
                        "rows [.., k] and a shared matrix P [k, n]",
                        format!("{} and {}", self.describe(*a), self.describe(*b)),
                    )
                    .hint(hint));
                };
                let (k, n) = if *transposed {
                    (right.shape[1], right.shape[0])
                } else {
                    (right.shape[0], right.shape[1])
                };
                if *inner != k {
                    return Err(Misfit::new(
                        "inner length of a product",
                        k.to_string(),
                        inner.to_string(),
                    ));
                }
                let mut row = Row::like(left);
                *row.shape.last_mut().expect("it has an inner axis") = n;
                row.place = if row.place == Place::C { Place::P } else { row.place };
                // Rows that were S are no longer a view, but still a function of the far end:
                // `moved_to_vertices` created it.
                Ok(row)
            }
            Op::Outer => {
                let rows = |place: Place| match place {
                    Place::C => Place::P,
                    Place::S(rows) => Place::E(rows),
                    other => other,
                };
                if rows(left.place) != rows(right.place)
                    || left.shape.split_last().map(|(_, rest)| rest)
                        != right.shape.split_last().map(|(_, rest)| rest)
                {
                    return Err(Misfit::new(
                        "rows of an outer product",
                        self.describe(*a),
                        self.describe(*b),
                    ));
                }
                let last = |node: &Node| node.shape.last().copied().unwrap_or(1);
                Ok(Row { place: Place::P, kind: Type::Real, shape: vec![last(left), last(right)] })
            }
            Op::Lookup { transposed } => {
                if right.kind != Type::Int && right.kind != Type::Id || right.columns() != 1 {
                    return Err(Misfit::new("index of a table", "int or id []", self.describe(*b)));
                }
                if left.place != Place::P || left.shape.len() != 2 {
                    return Err(Misfit::new("table", "P real [count, k]", self.describe(*a)));
                }
                let columns = if *transposed { left.shape[0] } else { left.shape[1] };
                Ok(Row { place: right.place, kind: left.kind, shape: vec![columns] })
            }
            _ => Err(Misfit::new("operation", "a dense one", format!("{op:?}"))),
        }
    }
}

/// The place of an element-wise operation on two places; none: they do not combine.
pub(super) fn meet(a: Place, b: Place) -> Option<Place> {
    match (a, b) {
        _ if a == b && !matches!(a, Place::S(_)) => Some(a),
        (Place::C, other) | (other, Place::C) => Some(other),
        (Place::P, other) | (other, Place::P) => Some(other),
        (Place::G, Place::D) | (Place::D, Place::G) => Some(Place::D),
        _ => match (a.edge_rows(), b.edge_rows()) {
            (Some(first), Some(second)) if first == second => Some(Place::E(first)),
            _ => None,
        },
    }
}

fn expect_kind(what: &str, node: &Node, kinds: &[Type]) -> Result<(), Misfit> {
    if kinds.contains(&node.kind) {
        return Ok(());
    }
    let expected: Vec<String> = kinds.iter().map(Type::to_string).collect();
    Err(Misfit::new(format!("type of the {what}"), expected.join(" or "), node.kind.to_string()))
}

fn same_kinds(what: &str, a: &Node, b: &Node) -> Result<(), Misfit> {
    if a.kind == b.kind {
        Ok(())
    } else {
        Err(Misfit::new(format!("types of {what}"), a.kind.to_string(), b.kind.to_string()))
    }
}

fn unary_row(operator: Unary, a: &Node) -> Result<Row, Misfit> {
    expect_kind(&format!("operand of {operator:?}").to_lowercase(), a, operator.takes())?;
    Ok(Row::like(a))
}

fn binary_row(operator: Binary, a: &Node, b: &Node, row: Row) -> Result<Row, Misfit> {
    same_kinds("operands", a, b)?;
    expect_kind(&format!("operands of {operator:?}").to_lowercase(), a, operator.takes())?;
    Ok(row.with_kind(if operator.is_condition() { Type::Bool } else { a.kind }))
}

fn cast_row(kind: Type, a: &Node) -> Result<Row, Misfit> {
    let fits = match (a.kind, kind) {
        (from, to) if from == to => true,
        (Type::Id, _) => false,
        (Type::Int, Type::Id) => a.place == Place::C,
        (_, Type::Id) => false,
        (_, Type::Bool) => false,
        _ => true,
    };
    if fits {
        Ok(Row::like(a).with_kind(kind))
    } else {
        Err(Misfit::new("type of a value", kind.to_string(), a.kind.to_string()))
    }
}

fn pool_row(op: &Op, a: &Node) -> Result<Row, Misfit> {
    let (expected, place) = match op {
        Op::Pool(_) => (Place::D, Place::G),
        Op::Give => (Place::G, Place::D),
        _ => (a.place, Place::P),
    };
    if a.place != expected {
        return Err(Misfit::new(
            "place of what is pooled or given",
            expected.to_string(),
            a.place.to_string(),
        ));
    }
    if !matches!(op, Op::Give) {
        expect_kind("value that is pooled", a, &[Type::Int, Type::Real])?;
    }
    Ok(Row::like(a).with_place(place))
}

fn reduction_kind(reduction: Reduction, a: &Node) -> Result<Type, Misfit> {
    let kinds: &[Type] = match reduction {
        Reduction::Sum | Reduction::Product => &[Type::Int, Type::Real],
        Reduction::Minimum | Reduction::Maximum | Reduction::Mode => {
            &[Type::Int, Type::Id, Type::Real]
        }
        Reduction::Any | Reduction::All => &[Type::Bool],
        Reduction::HIndex => &[Type::Int],
        Reduction::Count => return Ok(Type::Int),
    };
    expect_kind(&format!("value of {reduction:?}").to_lowercase(), a, kinds)?;
    Ok(a.kind)
}

/// The result type of a fold's function for two arguments of this type.
fn function_kind(function: &Function, argument: Type) -> Result<Type, Misfit> {
    match function {
        Function::Left | Function::Right => Ok(argument),
        Function::Number(number) => Ok(number.kind()),
        Function::Unary(_, a) => function_kind(a, argument),
        Function::Cast(kind, _) => Ok(*kind),
        Function::Select(_, yes, _) => function_kind(yes, argument),
        Function::Binary(operator, ..) if operator.is_condition() => Ok(Type::Bool),
        Function::Binary(_, a, _) => function_kind(a, argument),
    }
}
