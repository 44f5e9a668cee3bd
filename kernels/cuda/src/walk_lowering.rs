//! walk_lowering: lowers a walk to statements, each lane for its places of a row.
//!
//! promises  a value is computed where it is first needed, once for each layout of its elements
//!           over the lanes; rows that edges read are loaded before they are used, several edges at
//!           a time; a value is what the step defines, element by element; an expensive scalar of
//!           an edge is computed by one lane, which broadcasts it
//! never     assigns rows to threads (`row_walk.rs` and its neighbours), chooses where a value is
//!           stored, or prints a statement (`statement_text.rs`)
//!
//! The **frame** is a row's widest value. Its places are distributed over the lanes of a group: `V`
//! adjacent places per lane, `Q` times. If `V` does not divide them, the last lane goes back to `V`
//! before the end and recomputes what its neighbour computes, bit for bit. Every other value is
//! seen through a table, place -> element (`Table`): a scalar is in every lane, a head's scalar in
//! the lanes of that head.
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::NoKernel;
use super::edge_sums::{EdgePass, Largest, Sum};
use super::lane_broadcast::{BroadcastSteps, find_broadcast_steps};
use super::lane_layout::{
    Lanes, Spread, Table, axis_elements, axis_of, broadcast_elements, holding, identity, spread,
    text,
};
use super::operators::{axis_reduction, dropout_threshold, literal, start};
use super::statement_text::{LoadsOf, vectors};
use super::statements::{
    AxisReduction, DrawnRow, Dropout, Elements, Expression, Form, Load, Reads, RegisterValue,
    RowNumber, Scope, Source, Statement, Statements, Stream, StreamNumber, SumStatement,
};
use super::walk_steps::{At, From, Input, Level, OnlineMaximum, Read, Step, Walk};
use warploom_ir::{Binary, Number, Op, Reduction, Type, broadcast};
use warploom_launch::{Element, Rows, reduced};
use warploom_tuning as tuning;

type Key = (Scope, FromKey, At, Table, Type);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FromKey {
    Step(usize),
    Leaf(usize),
}

/// The number of rows that a walk reads per edge, from its edges and their far ends.
fn rows_of_edges(walk: &Walk) -> usize {
    let reads = walk.steps.iter().flat_map(|step| {
        step.inputs.iter().flat_map(Input::reads).map(move |read| (step.level, read))
    });
    let of_edge = |(level, read): (Level, &Read)| match (read.from, read.at) {
        (From::Leaf(leaf), At::Far) => Some((leaf, At::Far)),
        (From::Leaf(leaf), At::Own) if level == Level::Edge => Some((leaf, At::Own)),
        _ => None,
    };
    reads.filter_map(of_edge).collect::<BTreeSet<(usize, At)>>().len()
}

/// The statements of a walk, while they are lowered.
pub(super) struct WalkLowering {
    pub walk: Rc<Walk>,
    pub lanes: Lanes,
    /// Statements of the row, by the passes over edges before them.
    pub rows: Vec<Statements>,
    pub passes: Vec<EdgePass>,
    pub streams: Vec<Stream>,
    /// Everything that statements have read, including those that others have taken over.
    pub seen: Reads,
    /// Tables for elements that no short expression gives.
    pub constants: Vec<String>,
    /// Whether lanes draw dropout for edges of their own and broadcast the bits.
    pub draws_ahead: bool,
    /// Whether addresses into buffers are computed before a pass.
    finds_places: bool,
    /// Steps that lanes compute for edges of their own and broadcast.
    shared: BroadcastSteps,
    /// Maximum scores by pass, number and layout of elements.
    largest: BTreeMap<(usize, Table), Largest>,
    memo: BTreeMap<Key, RegisterValue>,
    count: usize,
}

impl WalkLowering {
    pub fn new(walk: &Rc<Walk>, lanes: Lanes) -> Self {
        let finds_places = rows_of_edges(walk) <= tuning::address_rows();
        WalkLowering {
            draws_ahead: true,
            finds_places,
            shared: find_broadcast_steps(walk, lanes.lanes),
            ..WalkLowering::with_passes(walk, lanes, walk.passes())
        }
    }

    /// Whether a lane computes scalars of an edge for all lanes of its group.
    pub fn broadcasts(&self) -> bool {
        self.shared.told.contains(&true)
    }

    /// With this many passes over the edges, regardless of the steps.
    pub fn with_passes(walk: &Rc<Walk>, lanes: Lanes, passes: usize) -> Self {
        WalkLowering {
            walk: Rc::clone(walk),
            lanes,
            rows: vec![Statements::default(); passes + 1],
            passes: vec![EdgePass::default(); passes + 1],
            streams: Vec::new(),
            seen: Reads::new(),
            constants: Vec::new(),
            draws_ahead: false,
            finds_places: false,
            shared: BroadcastSteps::empty(walk),
            largest: BTreeMap::new(),
            memo: BTreeMap::new(),
            count: 0,
        }
    }

    /// The identity table: each place holds its own element.
    pub fn frame(&self) -> Table {
        identity(self.lanes.places)
    }

    /// Declares that a step's value is already in registers of this name. The statement fills them
    /// with what `of_place` gives for each place of a lane, by vector number and position in the
    /// vector.
    pub fn assume_held(
        &mut self,
        step: usize,
        table: Table,
        name: &str,
        of_place: impl Fn(&str, &str) -> String,
    ) -> Statement {
        let held = RegisterValue::new(
            name.to_owned(),
            self.walk.steps[step].kind,
            spread(&table, self.lanes.vector),
        );
        for level in 0..self.rows.len() {
            self.memo.insert(
                (Scope::Row(level), FromKey::Step(step), At::Own, table.clone(), held.kind),
                held.clone(),
            );
        }
        let (group, place) = match held.spread {
            Spread::All => ("0", "0"),
            Spread::Group => ("q", "0"),
            Spread::Run | Spread::Each => ("q", "j"),
        };
        Statement::Make { value: held, made: Expression::Text(of_place(group, place)) }
    }

    /// Computes a step's value, element by element of a table.
    pub fn step_value(
        &mut self,
        number: usize,
        table: &Table,
        scope: Scope,
    ) -> Result<RegisterValue, NoKernel> {
        let walk = Rc::clone(&self.walk);
        let step = &walk.steps[number];
        let scope = match (step.level, scope) {
            (Level::Row, _) => Scope::Row(step.passes),
            (Level::Edge, scope) => scope,
        };
        let key = (scope, FromKey::Step(number), At::Own, table.clone(), step.kind);
        if let Some(held) = self.memo.get(&key) {
            return Ok(held.clone());
        }
        if let (Scope::Edge(pass), true) = (scope, self.shared.told[number]) {
            let made = self.step_value(number, table, Scope::Lane(pass))?;
            let held = self.bind_value(
                &step.out,
                step.kind,
                Spread::All,
                Expression::apply(Form::FromLane, [Expression::Value(made)]),
                scope,
            );
            self.memo.insert(key, held.clone());
            return Ok(held);
        }
        let is_in = |pass: usize| scope == Scope::Edge(pass) || scope == Scope::Lane(pass);
        let running = walk.running.iter().position(|running| {
            running.exponential == number && is_in(walk.steps[running.largest].passes)
        });
        let held = match (&step.op, reduced(&step.op)) {
            _ if running.is_some() => {
                let largest = self.largest_score(running.unwrap_or_default(), table)?;
                let made = Expression::apply(
                    Form::ExponentialOfDifference,
                    [Expression::Value(largest.score), Expression::Value(largest.shift)],
                );
                self.bind_value(&step.out, step.kind, spread(table, self.lanes.vector), made, scope)
            }
            (Op::Reduce(reduction, _), Some(_)) if start(*reduction, step.kind).is_none() => {
                return Err(NoKernel::new(format!(
                    "{} of {} has no GPU kernel yet",
                    step.op.describe(),
                    step.kind
                )));
            }
            (Op::Reduce(reduction, _), Some(_)) => self.open_sum(number, *reduction, table),
            (Op::Reduce(..), None) => {
                return Err(no_kernel_of(&step.op));
            }
            _ => self.lower_step(step, table, scope)?,
        };
        self.memo.insert(key, held.clone());
        Ok(held)
    }

    fn name(&mut self, of: &str) -> String {
        self.count += 1;
        let plain: String = of
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' })
            .collect();
        format!("{}_{}", plain.trim_matches('_'), self.count)
    }

    /// Declares the registers of a reduction. The pass that fills them is lowered later.
    fn open_sum(&mut self, number: usize, reduction: Reduction, table: &Table) -> RegisterValue {
        let walk = Rc::clone(&self.walk);
        let step = &walk.steps[number];
        let held =
            RegisterValue::new(self.name(&step.out), step.kind, spread(table, self.lanes.vector));
        self.passes[step.passes].sums.push(Sum {
            step: number,
            table: table.clone(),
            held: held.clone(),
            reduction,
            largest: Vec::new(),
        });
        held
    }

    /// The running maximum of the scores: lowers the scores of the edges in flight, and the factor
    /// of earlier sums when the maximum grows, before the work of each edge.
    fn largest_score(&mut self, number: usize, table: &Table) -> Result<Largest, NoKernel> {
        if let Some(known) = self.largest.get(&(number, table.clone())) {
            return Ok(known.clone());
        }
        let walk = Rc::clone(&self.walk);
        let running = &walk.running[number];
        let pass = walk.steps[running.largest].passes;
        let held = self.step_value(running.largest, table, Scope::Row(0))?;
        if matches!(running.score.from, From::Step(score) if self.shared.told[score]) {
            return self.largest_score_of_lanes(number, pass, held, table);
        }
        let (statements, made) = self.lower_score(running, pass, table)?;
        let how = held.spread;
        let score = RegisterValue::of_edges(self.name("score"), Type::Real, how);
        let [before, scale, shift] = ["before", "scale", "shift"]
            .map(|name| RegisterValue::new(self.name(name), Type::Real, how));
        let of_shift = Expression::apply(Form::FiniteOrZero, [Expression::value(&held)]);
        self.passes[pass].first.0.extend([
            Statement::Sum(SumStatement::ScoreEdges { score: score.clone(), statements, made }),
            Statement::Remember { value: before.clone(), of: held.clone() },
            Statement::Sum(SumStatement::JoinScores {
                largest: held.clone(),
                score: score.clone(),
            }),
            Statement::Sum(SumStatement::Grow {
                scale: scale.clone(),
                before,
                largest: held.clone(),
            }),
            Statement::Make { value: shift.clone(), made: of_shift },
        ]);
        if let From::Step(step) = running.score.from {
            self.memo.insert(
                (Scope::Edge(pass), FromKey::Step(step), At::Own, table.clone(), Type::Real),
                score.clone(),
            );
        }
        Ok(self.note_largest(number, pass, table, Largest { held, score, shift, scale }))
    }

    /// Statements that compute the score of each edge in flight. Their intermediate values are not
    /// kept for the work of the edge.
    fn lower_score(
        &mut self,
        running: &OnlineMaximum,
        pass: usize,
        table: &Table,
    ) -> Result<(Statements, Expression), NoKernel> {
        let is_lasting = |key: &Key, held: &RegisterValue| key.0 != Scope::Edge(pass) || held.many;
        let (lasting, passing) = std::mem::take(&mut self.memo)
            .into_iter()
            .partition(|(key, held)| is_lasting(key, held));
        self.memo = lasting;
        let work = std::mem::take(&mut self.passes[pass].work);
        let made = self.input(&Input::Rows(running.score.clone()), table, Scope::Edge(pass))?;
        let statements = std::mem::replace(&mut self.passes[pass].work, work);
        self.memo.retain(|key, held| is_lasting(key, held));
        self.memo.extend(passing);
        Ok((statements, Expression::Value(made)))
    }

    fn note_largest(
        &mut self,
        number: usize,
        pass: usize,
        table: &Table,
        largest: Largest,
    ) -> Largest {
        self.largest.insert((number, table.clone()), largest.clone());
        self.passes[pass].largest.push(largest.clone());
        largest
    }

    /// The same, if each lane has the score of its own edge.
    fn largest_score_of_lanes(
        &mut self,
        number: usize,
        pass: usize,
        held: RegisterValue,
        table: &Table,
    ) -> Result<Largest, NoKernel> {
        let scope = Scope::Lane(pass);
        let score = Input::Rows(self.walk.running[number].score.clone());
        let made = self.input(&score, table, scope)?;
        let of = |form: Form, operands: &[&RegisterValue]| {
            let operands = operands.iter().map(|operand| Expression::value(operand));
            Expression::apply(form, operands.collect::<Vec<_>>())
        };
        let reduction = Reduction::Maximum;
        let score = self.bind_number("score", of(Form::OfLaneEdge, &[&made]), scope);
        let most = self.bind_number("most", Expression::value(&score), scope);
        self.push(
            scope,
            Statement::Sum(SumStatement::JoinLanes { value: most.clone(), reduction }),
        );
        let before = self.bind_number("before", Expression::value(&held), scope);
        self.push(
            scope,
            Statement::Sum(SumStatement::Join { value: held.clone(), reduction, other: most }),
        );
        let scale = self.bind_number("scale", of(Form::Growth, &[&before, &held]), scope);
        let shift = self.bind_number("shift", of(Form::FiniteOrZero, &[&held]), scope);
        Ok(self.note_largest(number, pass, table, Largest { held, score, shift, scale }))
    }

    /// Rescales a partial sum to the running maximum.
    fn rescale_sum(&mut self, pass: usize, done: usize) -> Result<(), NoKernel> {
        let walk = Rc::clone(&self.walk);
        let sum = self.passes[pass].sums[done].clone();
        for (number, running) in walk.running.iter().enumerate() {
            let Some((_, elements)) = running.sums.iter().find(|(step, _)| *step == sum.step)
            else {
                continue;
            };
            let table =
                Table::new(sum.table.iter().map(|element| elements[*element as usize]).collect());
            let largest = self.largest_score(number, &table)?;
            let pass = &mut self.passes[pass];
            let (sum, scale) = (sum.held.clone(), largest.scale.clone());
            pass.first.push(Statement::Sum(SumStatement::Rescale { sum, scale }));
            pass.sums[done].largest.push(largest);
        }
        Ok(())
    }

    /// Lowers a pass over edges: everything that its reductions add. Later passes are already
    /// lowered.
    pub fn lower_pass(&mut self, number: usize) -> Result<(), NoKernel> {
        let mut done = 0;
        while let Some(sum) = self.passes[number].sums.get(done).cloned() {
            if let Some(running) =
                self.walk.running.iter().position(|running| running.largest == sum.step)
            {
                self.largest_score(running, &sum.table)?;
            } else {
                self.rescale_sum(number, done)?;
                self.lower_reduction(number, &sum)?;
            }
            done += 1;
        }
        Ok(())
    }

    /// Lowers the contribution of an edge to a sum.
    fn lower_reduction(&mut self, pass: usize, sum: &Sum) -> Result<(), NoKernel> {
        let walk = Rc::clone(&self.walk);
        let (step, scope) = (&walk.steps[sum.step], Scope::Edge(pass));
        let Op::Reduce(_, edges) = &step.op else {
            return Err(NoKernel::new("an operation over edges that is no reduction".to_owned()));
        };
        let is_alone = edges.relation.is_none()
            && step.inputs.len() == 1
            && sum.reduction == Reduction::Sum
            && step.kind == Type::Real;
        let elements = |input: &Input| broadcast_elements(&sum.table, &step.shape, &input.shape());
        let (held, reduction) = (sum.held.clone(), sum.reduction);
        if is_alone && held.spread == Spread::All && self.shared.adds_up(&walk, &step.inputs[0]) {
            let scope = Scope::Lane(pass);
            let made = self.input(&step.inputs[0], &elements(&step.inputs[0]), scope)?;
            let made = Expression::Value(made);
            self.push(scope, Statement::Sum(SumStatement::AddOwn { sum: held.clone(), made }));
            self.passes[pass]
                .end
                .push(Statement::Sum(SumStatement::JoinLanes { value: held, reduction }));
            return Ok(());
        }
        let mut holds = Vec::new();
        if let Some(relation) = edges.relation {
            holds.push(self.is_of_relation(relation));
        }
        if let Some(mask) = step.inputs.get(1) {
            let mask = self.input(mask, &elements(mask), scope)?;
            holds.push(Expression::cast(&mask, Type::Bool));
        }
        let message = if reduction == Reduction::Count {
            Expression::Text("1".to_owned())
        } else {
            let made = self.input(&step.inputs[0], &elements(&step.inputs[0]), scope)?;
            Expression::cast(&made, step.kind)
        };
        self.push(
            scope,
            Statement::Sum(SumStatement::Reduce { sum: held, reduction, holds, message }),
        );
        Ok(())
    }

    /// The condition that an edge has this relation.
    pub fn is_of_relation(&mut self, relation: u32) -> Expression {
        let number = self.stream_number(Stream::Relation);
        Expression::apply(Form::IsRelation(relation), [Expression::Stream(number)])
    }

    /// Computes what a step reads, element by element of a table.
    pub fn input(
        &mut self,
        input: &Input,
        table: &Table,
        scope: Scope,
    ) -> Result<RegisterValue, NoKernel> {
        match input {
            Input::Number(number) => Ok(RegisterValue::new(
                format!("({})", literal(*number, number.kind())),
                number.kind(),
                Spread::All,
            )),
            Input::Times(first, second) => {
                let outer = broadcast(&first.shape(), &second.shape()).unwrap_or_default();
                let mut part = |part: &Input| {
                    let table = broadcast_elements(table, &outer, &part.shape());
                    self.input(part, &table, scope)
                };
                let (a, b) = (part(first)?, part(second)?);
                let kind = input.kind();
                let made = Expression::apply(
                    Form::Binary(Binary::Multiply, kind == Type::Real),
                    [&a, &b].map(|part| Expression::cast(part, kind)),
                );
                Ok(self.bind_value("product", kind, spread(table, self.lanes.vector), made, scope))
            }
            Input::Rows(read) => match read.from {
                From::Step(number) => {
                    let scope = if read.at == At::Near { Scope::Row(0) } else { scope };
                    self.step_value(number, table, scope)
                }
                From::Leaf(leaf) => self.leaf_value(read, leaf, table, scope),
            },
        }
    }

    /// Binds a value that has an element for each place.
    fn bind_value(
        &mut self,
        of: &str,
        kind: Type,
        spread: Spread,
        made: Expression,
        scope: Scope,
    ) -> RegisterValue {
        let value = RegisterValue::new(self.name(of), kind, spread);
        self.push(scope, Statement::Make { value: value.clone(), made });
        value
    }

    /// Binds a scalar that is the same at all places.
    fn bind_number(&mut self, of: &str, made: Expression, scope: Scope) -> RegisterValue {
        self.bind_value(of, Type::Real, Spread::All, made, scope)
    }

    /// The row's own values that a pass over its edges reads.
    pub fn row_elements(&self, pass: usize) -> Elements {
        let reads = self.passes[pass].reads(LoadsOf::AllEdges);
        let mut kept = Elements::default();
        let of_rows = self.rows.iter().flat_map(|statements| &statements.0);
        of_rows
            .filter_map(Statement::value)
            .filter(|value| reads.contains(&Source::Value(value.name.clone())))
            .for_each(|value| kept.add(value.kind, self.lanes.elements(value.spread)));
        kept
    }

    /// Everything that the statements of rows and edges read.
    pub fn reads(&self) -> Reads {
        let mut reads = Reads::new();
        self.rows.iter().for_each(|statements| statements.add_reads(&mut reads));
        for pass in &self.passes {
            pass.statements().into_iter().for_each(|part| part.add_reads(&mut reads));
        }
        reads
    }

    fn push(&mut self, scope: Scope, statement: Statement) {
        statement.add_reads(&mut self.seen);
        match scope {
            Scope::Row(level) => self.rows[level].push(statement),
            Scope::Edge(pass) => self.passes[pass].work.push(statement),
            Scope::Lane(pass) => self.passes[pass].first.push(statement),
        }
    }

    fn lower_step(
        &mut self,
        step: &Step,
        table: &Table,
        scope: Scope,
    ) -> Result<RegisterValue, NoKernel> {
        let (spread, kind) = (spread(table, self.lanes.vector), step.kind);
        let mut operands = Vec::new();
        let broadcasts = matches!(
            step.op,
            Op::Unary(_)
                | Op::Binary(_)
                | Op::Select
                | Op::Cast(_)
                | Op::Detach
                | Op::WhenTraining
                | Op::Expand
                | Op::Give
                | Op::Reshape
                | Op::Dropout { .. }
        );
        if broadcasts {
            for input in &step.inputs {
                let table = if step.op == Op::Reshape {
                    table.clone()
                } else {
                    broadcast_elements(table, &step.shape, &input.shape())
                };
                operands.push(self.input(input, &table, scope)?);
            }
        }
        let value = |number: usize| Expression::value(&operands[number]);
        let cast = |number: usize, to: Type| Expression::cast(&operands[number], to);
        let made = match &step.op {
            Op::Unary(_) if step.is_share => {
                Expression::apply(Form::ExponentialOfShare, [value(0)])
            }
            Op::Unary(operator) => Expression::apply(Form::Unary(*operator), [value(0)]),
            Op::Binary(operator) => {
                let of = if operands.iter().any(|operand| operand.kind == Type::Real) {
                    Type::Real
                } else {
                    operands[0].kind
                };
                let form = Form::Binary(*operator, of == Type::Real);
                Expression::apply(form, [cast(0, of), cast(1, of)])
            }
            Op::Select => {
                let parts = [cast(0, Type::Bool), cast(1, kind), cast(2, kind)];
                Expression::apply(Form::Select, parts)
            }
            Op::Cast(to) => cast(0, *to),
            Op::Detach | Op::Expand | Op::Give | Op::Reshape => cast(0, kind),
            Op::WhenTraining => Expression::apply(Form::WhenTraining, [value(0), value(1)]),
            Op::Dropout { probability, site } => {
                return self.lower_dropout(step, *probability, *site, table, value(0), scope);
            }
            Op::Axis(pooling, axis) => {
                return self.reduce_axis(step, axis_reduction(*pooling), *axis, table, scope);
            }
            Op::Concat(axis) => return self.concatenate(step, *axis, table, scope),
            Op::Slice { axis, start, .. } => {
                let input = step.inputs[0].shape();
                let (length, inner) = axis_of(&step.shape, *axis);
                let (total, _) = axis_of(&input, *axis);
                let moved = table.iter().map(|&element| {
                    let (element, inner) = (u64::from(element), inner);
                    (element / (inner * length) * inner * total
                        + (element / inner % length + start) * inner
                        + element % inner) as u32
                });
                return self.input(&step.inputs[0], &Table::new(moved.collect()), scope);
            }
            &Op::Unslice { axis, start, total } => {
                let input = step.inputs[0].shape();
                let of = AxisPart { axis, start, total };
                let (moved, inside) = slice_axis(table, &step.shape, &input, of);
                let (made, inside) =
                    (self.input(&step.inputs[0], &moved, scope)?, self.holds(&inside));
                let zero = Expression::Text(literal(Number::Int(0), kind));
                Expression::apply(Form::AtPlaces(inside), [Expression::Value(made), zero])
            }
            // Leaves, walks over edges and rows, products and losses have kernels of their own, or
            // none.
            Op::Constant(_)
            | Op::Input(_)
            | Op::Parameter(_)
            | Op::State(_)
            | Op::Ended(..)
            | Op::Far(_)
            | Op::Near(_)
            | Op::Reduce(..)
            | Op::Winner(..)
            | Op::Others(_)
            | Op::Fold(..)
            | Op::Turn
            | Op::CommonNeighbors
            | Op::CommonNeighborsSum(_)
            | Op::Pool(_)
            | Op::SumRows
            | Op::Product { .. }
            | Op::Outer
            | Op::Lookup { .. }
            | Op::Scatter { .. }
            | Op::Loss(_)
            | Op::LossSlope(_) => {
                return Err(no_kernel_of(&step.op));
            }
        };
        let spread = if matches!(step.op, Op::Unslice { .. }) { Spread::Each } else { spread };
        if let (Op::Binary(Binary::Divide), Scope::Row(_), [of, by]) =
            (&step.op, scope, operands.as_slice())
            && of.is_run()
            && spread.is_run()
            && !by.is_run()
            && [of, by].iter().all(|held| held.kind == Type::Real && !held.many)
        {
            let value = RegisterValue::new(self.name(&step.out), Type::Real, spread);
            let (dividend, divisor) = (of.clone(), by.clone());
            self.push(scope, Statement::Divide { value: value.clone(), dividend, divisor });
            return Ok(value);
        }
        Ok(self.bind_value(&step.out, kind, spread, made, scope))
    }

    /// Concatenates rows: each place takes its element from the input that holds it.
    fn concatenate(
        &mut self,
        step: &Step,
        axis: usize,
        table: &Table,
        scope: Scope,
    ) -> Result<RegisterValue, NoKernel> {
        let (mut all, mut start) = (None, 0);
        let total = step.shape[axis];
        for input in &step.inputs {
            let shape = input.shape();
            let (moved, inside) =
                slice_axis(table, &step.shape, &shape, AxisPart { axis, start, total });
            start += shape[axis];
            let (made, inside) = (self.input(input, &moved, scope)?, self.holds(&inside));
            let made = Expression::cast(&made, step.kind);
            all = Some(match all {
                None => made,
                Some(others) => Expression::apply(
                    Form::AtPlaces(inside),
                    [made, Expression::apply(Form::Grouped, [others])],
                ),
            });
        }
        let all = all.ok_or_else(|| NoKernel::new("a concatenation of no rows".to_owned()))?;
        Ok(self.bind_value(&step.out, step.kind, Spread::Each, all, scope))
    }

    /// Reduces along an axis. Lanes that share the axis exchange their parts, or each lane adds all
    /// elements by itself.
    fn reduce_axis(
        &mut self,
        step: &Step,
        reduction: Reduction,
        axis: usize,
        table: &Table,
        scope: Scope,
    ) -> Result<RegisterValue, NoKernel> {
        let input = &step.inputs[0];
        let shape = input.shape();
        let (length, inner) = axis_of(&shape, axis);
        let kind = step.kind;
        let begin = start(reduction, kind)
            .ok_or_else(|| NoKernel::new(format!("{} of {kind}", step.op.describe())))?;
        if inner == 1 && self.is_shared(table, &shape, length as usize) {
            return self.reduce_axis_of_lanes(step, reduction, begin, length as usize, scope);
        }
        if length > 64 {
            return Err(NoKernel::new(format!(
                "{} of {length} elements that do not lie along lanes",
                step.op.describe()
            )));
        }
        let mut all = Expression::Text(begin);
        for place in 0..self.walk.columns_of(length) {
            let along = axis_elements(table, &shape, axis, place);
            let made = self.input(input, &along, scope)?;
            let others = Expression::apply(Form::Grouped, [all]);
            let form = Form::Join(reduction, kind);
            all = Expression::apply(form, [others, Expression::cast(&made, kind)]);
        }
        Ok(self.bind_value(&step.out, kind, spread(table, self.lanes.vector), all, scope))
    }

    /// Reduces along the last axis of the frame, by the lanes that share it.
    fn reduce_axis_of_lanes(
        &mut self,
        step: &Step,
        reduction: Reduction,
        begin: String,
        length: usize,
        scope: Scope,
    ) -> Result<RegisterValue, NoKernel> {
        let (input, kind) = (&step.inputs[0], step.kind);
        let places = self.frame();
        let made = self.input(input, &places, scope)?;
        let Lanes { vector, lanes, chunks, .. } = self.lanes;
        let is_one = length == self.lanes.places;
        let made = Expression::cast(&made, kind);
        let condition = match (self.lanes.has_tail(), self.lanes.overlaps()) {
            // Padding beyond the columns of a row is excluded.
            _ if self.walk.padded.is_some() => {
                Some(format!("own[q] && c[q] + j < {}u", self.walk.columns_of(length as u64)))
            }
            (false, _) => None,
            (true, false) => Some("own[q]".to_owned()),
            // An element in two lanes counts for the lane on the left alone.
            (true, true) => Some("own[q] && c[q] + j >= (q * L + part) * V".to_owned()),
        };
        let made = match condition {
            Some(condition) => Expression::apply(
                Form::GroupedAtPlaces(condition),
                [made, Expression::Text(begin.clone())],
            ),
            None => made,
        };
        let (spread, around) =
            if is_one { (Spread::All, lanes) } else { (Spread::Group, length / vector) };
        let value = RegisterValue::new(self.name(&step.out), kind, spread);
        let doubles = is_one
            || (around.is_power_of_two()
                && (chunks == 1 || (lanes * vector).is_multiple_of(length)));
        let reduced =
            AxisReduction { value: value.clone(), reduction, begin, made, around, doubles };
        self.push(scope, Statement::ReduceAxis(reduced));
        Ok(value)
    }

    /// Whether each lane's vector lies in one row of the reduced axis, which is the last of the
    /// frame.
    fn is_shared(&self, table: &Table, shape: &[u64], length: usize) -> bool {
        let Lanes { places, vector, slices, .. } = self.lanes;
        let is_frame = shape.iter().product::<u64>() as usize == places
            && table.iter().zip(0..).all(|(&element, place)| element as usize == place / length);
        // A slice must contain whole rows of the axis.
        let is_whole =
            slices == 1 || (length < places && self.lanes.slice().is_multiple_of(length));
        is_whole && is_frame && (length == places || length.is_multiple_of(vector))
    }

    fn lower_dropout(
        &mut self,
        step: &Step,
        probability: f64,
        site: u32,
        table: &Table,
        of: Expression,
        scope: Scope,
    ) -> Result<RegisterValue, NoKernel> {
        let spread = spread(table, self.lanes.vector);
        let Some((threshold, scale)) = dropout_threshold(probability) else {
            return Ok(self.bind_value(&step.out, step.kind, spread, of, scope));
        };
        // A table draws by its own rows: those of its first axis.
        let is_table = step.level == Level::Row && matches!(self.walk.rows, Rows::Fixed(_));
        let row = match (step.level, self.walk.rows, step.shape.as_slice()) {
            (Level::Edge, ..) => DrawnRow::Edge(self.stream_number(Stream::Edge)),
            (Level::Row, Rows::Nodes, _) => DrawnRow::Vertex,
            (Level::Row, _, [_, columns]) if is_table => DrawnRow::Table(Some(*columns)),
            (Level::Row, ..) if is_table => DrawnRow::Table(None),
            (Level::Row, ..) => DrawnRow::Walked,
        };
        if let (Level::Edge, Scope::Edge(_), true, 1..=32) =
            (step.level, scope, self.draws_ahead, step.columns())
        {
            let bits = self.stream_number(Stream::Kept(threshold, site, step.columns()));
            let form = Form::Kept { column: self.element(table), scale };
            let made = Expression::apply(form, [of, Expression::Stream(bits)]);
            return Ok(self.bind_value(&step.out, step.kind, spread, made, scope));
        }
        let value = RegisterValue::new(self.name(&step.out), step.kind, spread);
        let kept = self.name("kept");
        let draws_vectors = spread == Spread::Run && !is_table;
        let column = if draws_vectors { self.group_element(table) } else { self.element(table) };
        self.push(
            scope,
            Statement::DropOut(Dropout {
                value: value.clone(),
                of,
                kept,
                row,
                column,
                draws_vectors,
                site,
                threshold,
                scale,
            }),
        );
        Ok(value)
    }

    /// The element at a place, as an expression inside a statement for all places.
    pub fn element(&mut self, table: &Table) -> String {
        match spread(table, self.lanes.vector) {
            Spread::All => table.first().copied().unwrap_or(0).to_string(),
            Spread::Group => self.group_element(table),
            Spread::Run | Spread::Each => self.place_element(table, "(c[q] + j)"),
        }
    }

    /// The condition that a table of 0 and 1 holds a 1 at a place.
    pub fn holds(&mut self, table: &Table) -> String {
        match (spread(table, self.lanes.vector), table.first()) {
            (Spread::All, Some(1)) => "true".to_owned(),
            (Spread::All, _) => "false".to_owned(),
            (Spread::Group, _) => holding(table, "c[q]")
                .unwrap_or_else(|| format!("{} == 1", self.group_element(table))),
            _ => holding(table, "(c[q] + j)")
                .unwrap_or_else(|| format!("{} == 1", self.element(table))),
        }
    }

    /// The element at the first place of a lane's vector.
    fn group_element(&mut self, table: &Table) -> String {
        self.place_element(table, "c[q]")
    }

    fn place_element(&mut self, table: &Table, place: &str) -> String {
        text(table, place).unwrap_or_else(|| {
            let number =
                self.constants.iter().position(|known| *known == listed(table)).unwrap_or_else(
                    || {
                        self.constants.push(listed(table));
                        self.constants.len() - 1
                    },
                );
            format!("TABLE_{number}[{place}]")
        })
    }

    /// Registers a stream, and returns the number that each edge in flight has in it.
    pub fn stream_number(&mut self, stream: Stream) -> StreamNumber {
        let is_far = stream == Stream::Far;
        let number = self.streams.iter().position(|known| *known == stream).unwrap_or_else(|| {
            self.streams.push(stream);
            self.streams.len() - 1
        });
        StreamNumber { stream: number, is_far, of_lane: false }
    }

    /// The numbers of a stream, as statements read them.
    pub fn numbers(&self, stream: usize) -> StreamNumber {
        StreamNumber { stream, is_far: self.streams[stream] == Stream::Far, of_lane: false }
    }

    /// Loads rows of a buffer, unless they are already in registers.
    fn leaf_value(
        &mut self,
        read: &Read,
        leaf: usize,
        table: &Table,
        scope: Scope,
    ) -> Result<RegisterValue, NoKernel> {
        let at_row =
            matches!(read.at, At::One | At::Near | At::Graph) || matches!(scope, Scope::Row(_));
        // Values of the row itself are read before the pass over its edges.
        let scope = match scope {
            Scope::Edge(pass) | Scope::Lane(pass) if at_row => Scope::Row(pass - 1),
            other => other,
        };
        let at = if let (Scope::Row(_), At::Near, Some(_)) = (scope, read.at, self.walk.direction())
        {
            At::Own
        } else {
            read.at
        };
        let (from, levels) =
            (FromKey::Leaf(leaf), if let Scope::Row(level) = scope { level } else { 0 });
        let earlier = (0..=levels).map(Scope::Row).filter(|_| at_row);
        for scope in earlier.chain([scope]) {
            if let Some(held) = self.memo.get(&(scope, from, at, table.clone(), read.kind)) {
                return Ok(held.clone());
            }
        }
        let held = self.load_row(leaf, at, read.kind, table, scope)?;
        self.memo.insert((scope, from, at, table.clone(), read.kind), held.clone());
        Ok(held)
    }

    /// The row number to read, for each edge in flight within a pass.
    fn row_number(&mut self, at: At, scope: Scope) -> RowNumber {
        let in_pass = !matches!(scope, Scope::Row(_));
        let of_lane = matches!(scope, Scope::Lane(_));
        let is_only = matches!(self.walk.rows, Rows::Fixed(_));
        let mut of_edge =
            |stream| RowNumber::OfEdge(StreamNumber { of_lane, ..self.stream_number(stream) });
        match (at, in_pass) {
            _ if is_only => RowNumber::Only,
            (At::One, _) => RowNumber::Only,
            (At::Graph, _) => RowNumber::Graph,
            (At::Far, true) => of_edge(Stream::Far),
            (At::Own, true) => of_edge(Stream::Edge),
            (At::Far, false) => RowNumber::Far,
            (At::Near, false) => RowNumber::Near,
            _ => RowNumber::Own,
        }
    }

    /// The address of a lane's columns in row 0 of a buffer, computed once before the pass that
    /// reads rows of edges: a row then takes one address instruction and not three. None where a
    /// lane has several vectors of a row, since no registers are left for addresses; the exception
    /// is two vectors with every lane in use (`low_degree_rows.rs`).
    fn place_of_all(&mut self, buffer: &str, table: &Table, scope: Scope) -> Option<String> {
        let (Scope::Edge(pass) | Scope::Lane(pass)) = scope else { return None };
        let has_room = self.lanes.chunks == 1
            || self.lanes.chunks == 2 && self.lanes.lanes < 32 && !self.lanes.has_tail();
        if !self.finds_places || !has_room {
            return None;
        }
        let index = self.place_element(table, "c[0]");
        let is_in_pieces = self.lanes.chunks > 1;
        if is_in_pieces && *table != self.frame() {
            return None;
        }
        let name = self.name("place");
        self.passes[pass].places.push(Statement::FindPlace {
            name: name.clone(),
            buffer: buffer.to_owned(),
            index,
        });
        Some(if is_in_pieces { format!("{name} + q * L * V") } else { name })
    }

    fn load_row(
        &mut self,
        leaf: usize,
        at: At,
        kind: Type,
        table: &Table,
        scope: Scope,
    ) -> Result<RegisterValue, NoKernel> {
        let walk = Rc::clone(&self.walk);
        let held = &walk.leaves[leaf];
        if matches!(held.element, Element::Half(_)) {
            return Err(NoKernel::new(
                "rows in bf16 or f16 are not supported on a GPU yet".to_owned(),
            ));
        }
        let (in_pass, many) = (!matches!(scope, Scope::Row(_)), matches!(scope, Scope::Edge(_)));
        if in_pass && at == At::Own && held.columns == 1 && held.given {
            let number = self.stream_number(Stream::Given(leaf));
            let number = StreamNumber { of_lane: !many, ..number };
            return Ok(RegisterValue {
                many,
                of_stream: Some(number),
                ..RegisterValue::new(number.name(), kind, Spread::All)
            });
        }
        let row = self.row_number(at, scope);
        let (stride, element) = (held.stride, held.element);
        let mut how = spread(table, self.lanes.vector);
        if how == Spread::Run
            && (!stride.is_multiple_of(self.lanes.aligned() as u64) && at != At::One)
        {
            how = Spread::Each;
        }
        let is_vector = how == Spread::Run && element == Element::Real;
        let is_found = is_vector && stride > 1 && row != RowNumber::Only;
        let found = if is_found { self.place_of_all(&held.name, table, scope) } else { None };
        let name = self.name(&held.name);
        let value = RegisterValue { many, ..RegisterValue::new(name, kind, how) };
        let index = if is_vector { self.group_element(table) } else { self.element(table) };
        let load = Statement::Load(Load {
            value: value.clone(),
            scope,
            buffer: held.name.clone(),
            element,
            row,
            stride,
            index,
            found,
            vectors: is_vector.then(|| vectors(&self.lanes)),
            is_changing: self.walk.changing.contains(&held.name),
        });
        match scope {
            Scope::Lane(pass) | Scope::Edge(pass) => {
                load.add_reads(&mut self.seen);
                self.passes[pass].loads.push(load);
            }
            Scope::Row(_) => self.push(scope, load),
        }
        Ok(value)
    }
}

fn no_kernel_of(op: &Op) -> NoKernel {
    NoKernel::new(format!("{} has no GPU kernel yet", op.describe()))
}

fn listed(table: &Table) -> String {
    table.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// A slice of an axis of rows: the axis, the start of the slice, and the length of the whole axis.
struct AxisPart {
    axis: usize,
    start: u64,
    total: u64,
}

/// Which elements of the input a slice of an axis provides, and which places it covers.
fn slice_axis(
    table: &Table,
    outer: &[u64],
    inner: &[u64],
    AxisPart { axis, start, total }: AxisPart,
) -> (Table, Table) {
    debug_assert_eq!(outer[axis], total);
    let (_, step) = axis_of(outer, axis);
    let length = inner[axis].max(1);
    let place = |element: u32| u64::from(element) / step % total;
    let inside = table
        .iter()
        .map(|&element| u32::from((start..start + length).contains(&place(element))))
        .collect();
    let moved = table.iter().map(|&element| {
        let at = place(element).saturating_sub(start).min(length - 1);
        (u64::from(element) / (step * total) * step * length
            + at * step
            + u64::from(element) % step) as u32
    });
    (Table::new(moved.collect()), Table::new(inside))
}
