//! walk_lowering: a walk as statements, each lane its places of a row.
//!
//! promises  a value is made where it is first wanted and once for each way in which its elements
//!           lie over the lanes; rows that edges read are asked for before anything is done with
//!           them, several edges at a time; what is made is what the step says, element by element;
//!           what takes many instructions and is a number of an edge is made by one lane, which
//!           tells the others
//! never     says who does which row (`row_walk.rs` and its neighbours), where a value goes, or how
//!           a statement is written (`statement_text.rs`)
//!
//! A row's widest value is the **frame**: its places are dealt out to the lanes of a group, `V`
//! neighbouring places a lane and `Q` times over; where `V` does not divide them, the last lane
//! goes back to `V` from the end and makes again what its neighbour makes, bit by bit. Every other
//! value is seen through a table, place -> element (`Table`): a number is in every lane, a head's
//! number in the lanes of the head.
use std::collections::{BTreeMap, BTreeSet};

use super::NoKernel;
use super::edge_sums::{EdgePass, Largest, Sum};
use super::lane_broadcast::{BroadcastSteps, find_broadcast_steps};
use super::lane_layout::{
    Lanes, Spread, Table, axis_elements, axis_of, broadcast_elements, holding, identity, spread,
    text,
};
use super::online_softmax::OnlineMaximum;
use super::operators::{axis_reduction, dropout_threshold, literal, start};
use super::statement_text::{LoadsOf, vectors};
use super::statements::{
    AxisReduction, DrawnRow, Dropout, Elements, Expression, Form, Load, Reads, RegisterValue,
    RowNumber, Scope, Source, Statement, Statements, Stream, StreamNumber, SumStatement,
};
use super::walk_steps::{At, From, Input, Level, Read, Step, Walk};
use crate::gir::{Binary, Op, Reduction, Type, broadcast};
use crate::launch::{Element, Rows, reduced};
use crate::tuning;

type Key = (Scope, FromKey, At, Table, Type);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FromKey {
    Step(usize),
    Leaf(usize),
}

/// Rows that a walk reads of its edges and their far ends.
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

/// The statements of a walk, as they come.
pub(super) struct WalkLowering<'a> {
    pub walk: &'a Walk,
    pub lanes: Lanes,
    /// Statements after each pass; the first before all.
    pub rows: Vec<Statements>,
    pub passes: Vec<EdgePass>,
    pub streams: Vec<Stream>,
    /// All that statements have read, those included that others have taken over.
    pub seen: Reads,
    /// Tables that no short text says.
    pub constants: Vec<String>,
    /// Whether lanes draw for edges of their own and tell each other.
    pub draws_ahead: bool,
    /// Whether places of rows are found in front of a pass.
    finds_places: bool,
    /// Steps that lanes make for edges of their own and tell each other.
    shared: BroadcastSteps,
    /// Largest scores: pass, which, and how its elements lie.
    largest: BTreeMap<(usize, Table), Largest>,
    memo: BTreeMap<Key, RegisterValue>,
    count: usize,
}

impl<'a> WalkLowering<'a> {
    pub fn new(walk: &'a Walk, lanes: Lanes) -> Self {
        let finds_places = rows_of_edges(walk) <= tuning::address_rows();
        WalkLowering {
            draws_ahead: true,
            finds_places,
            shared: find_broadcast_steps(walk, lanes.lanes),
            ..WalkLowering::with_passes(walk, lanes, walk.passes())
        }
    }

    /// Whether a lane computes numbers of an edge for all lanes of its group.
    pub fn broadcasts(&self) -> bool {
        self.shared.told.contains(&true)
    }

    /// With so many passes over the edges, whatever the steps say.
    pub fn with_passes(walk: &'a Walk, lanes: Lanes, passes: usize) -> Self {
        WalkLowering {
            walk,
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

    /// Each place its own.
    pub fn frame(&self) -> Table {
        identity(self.lanes.places)
    }

    /// Says that a step's value is held already, in registers of this name; the statement fills
    /// them with what `of_place` says of each place of a lane: which group of its places, and which
    /// of the group.
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

    /// Makes a step's value, element by element of a table.
    pub fn step_value(
        &mut self,
        number: usize,
        table: &Table,
        scope: Scope,
    ) -> Result<RegisterValue, NoKernel> {
        let walk = self.walk;
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
                    "{} of {} has no kernel of its own yet",
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

    /// Opens the registers of a reduction; the pass that fills them is written later.
    fn open_sum(&mut self, number: usize, reduction: Reduction, table: &Table) -> RegisterValue {
        let step = &self.walk.steps[number];
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

    /// The largest score so far: what an edge's is, and what becomes of sums when it grows, in
    /// front of what is done with each edge.
    fn largest_score(&mut self, number: usize, table: &Table) -> Result<Largest, NoKernel> {
        if let Some(known) = self.largest.get(&(number, table.clone())) {
            return Ok(known.clone());
        }
        let walk = self.walk;
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

    /// Statements that make the score of each edge at hand. What they make is gone again when its
    /// turn comes.
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

    /// The same where each lane has the score of an edge of its own.
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

    /// Takes what a sum has so far relative to the largest score.
    fn rescale_sum(&mut self, pass: usize, done: usize) -> Result<(), NoKernel> {
        let walk = self.walk;
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

    /// The work of a pass over edges: what its reductions add up. Those of later passes are there.
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

    /// What an edge brings to a sum.
    fn lower_reduction(&mut self, pass: usize, sum: &Sum) -> Result<(), NoKernel> {
        let (step, scope) = (&self.walk.steps[sum.step], Scope::Edge(pass));
        let Op::Reduce(_, edges) = &step.op else {
            return Err(NoKernel::new("a reduction that is none".to_owned()));
        };
        let is_alone = edges.relation.is_none()
            && step.inputs.len() == 1
            && sum.reduction == Reduction::Sum
            && step.kind == Type::Real;
        let elements = |input: &Input| broadcast_elements(&sum.table, &step.shape, &input.shape());
        let (held, reduction) = (sum.held.clone(), sum.reduction);
        if is_alone && held.spread == Spread::All && self.shared.adds_up(self.walk, &step.inputs[0])
        {
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

    /// Whether an edge is of a relation.
    pub fn is_of_relation(&mut self, relation: u32) -> Expression {
        let number = self.stream_number(Stream::Relation);
        Expression::apply(Form::IsRelation(relation), [Expression::Stream(number)])
    }

    /// Makes what a step reads, element by element of a table.
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

    /// A value that is made of all its places.
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

    /// A number that is the same at all places.
    fn bind_number(&mut self, of: &str, made: Expression, scope: Scope) -> RegisterValue {
        self.bind_value(of, Type::Real, Spread::All, made, scope)
    }

    /// What of the row a pass over its edges reads.
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

    /// All that statements read, of rows and of edges.
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
                let zero = Expression::Text(literal(crate::gir::Number::Int(0), kind));
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

    /// Rows side by side: each place takes its element from the part that has it.
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
        let all = all.ok_or_else(|| NoKernel::new("rows of nothing".to_owned()))?;
        Ok(self.bind_value(&step.out, step.kind, Spread::Each, all, scope))
    }

    /// Along an axis: lanes that share what is added up tell each other, or each adds up all by
    /// itself.
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
                "{} of {length} elements that no lanes share",
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

    /// Along the last axis of the frame, by lanes that share it.
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
            // What lies beyond the columns of a row is nobody's.
            _ if self.walk.padded.is_some() => {
                Some(format!("own[q] && c[q] + j < {}u", self.walk.columns_of(length as u64)))
            }
            (false, _) => None,
            (true, false) => Some("own[q]".to_owned()),
            // What a lane has in common with its neighbour is the neighbour's.
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

    /// Whether each lane's neighbouring places are of one row of an axis of the frame, which is the
    /// last.
    fn is_shared(&self, table: &Table, shape: &[u64], length: usize) -> bool {
        let Lanes { places, vector, slices, .. } = self.lanes;
        let is_frame = shape.iter().product::<u64>() as usize == places
            && table.iter().zip(0..).all(|(&element, place)| element as usize == place / length);
        // A slice has all of what is added up.
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
        // A table draws for its own rows: those of its first axis.
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

    /// The element at a place, as a text within a statement for all places.
    pub fn element(&mut self, table: &Table) -> String {
        match spread(table, self.lanes.vector) {
            Spread::All => table.first().copied().unwrap_or(0).to_string(),
            Spread::Group => self.group_element(table),
            Spread::Run | Spread::Each => self.place_element(table, "(c[q] + j)"),
        }
    }

    /// Whether a table of 0 and 1 has a 1 at a place.
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

    /// The element at the first place of a lane.
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

    /// The number that each of the edges at hand brings.
    pub fn stream_number(&mut self, stream: Stream) -> StreamNumber {
        let is_far = stream == Stream::Far;
        let number = self.streams.iter().position(|known| *known == stream).unwrap_or_else(|| {
            self.streams.push(stream);
            self.streams.len() - 1
        });
        StreamNumber { stream: number, is_far, of_lane: false }
    }

    /// The numbers of a stream that statements may read.
    pub fn numbers(&self, stream: usize) -> StreamNumber {
        StreamNumber { stream, is_far: self.streams[stream] == Stream::Far, of_lane: false }
    }

    /// Reads rows of a buffer.
    fn leaf_value(
        &mut self,
        read: &Read,
        leaf: usize,
        table: &Table,
        scope: Scope,
    ) -> Result<RegisterValue, NoKernel> {
        let at_row =
            matches!(read.at, At::One | At::Near | At::Graph) || matches!(scope, Scope::Row(_));
        // What belongs to the row is read before the pass over its edges.
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

    /// Which row is read, of each edge at hand within a pass.
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

    /// Where a lane's place of all rows of a buffer lies, found once in front of the pass that
    /// reads rows of edges: then a row's takes one instruction in place of three. None where a lane
    /// has several pieces of a row, whose registers leave no room for an address, but for two of as
    /// many lanes as have work (`low_degree_rows.rs`).
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
        let held = &self.walk.leaves[leaf];
        if matches!(held.element, Element::Half(_)) {
            return Err(NoKernel::new("rows of 16 bits are not on the GPU yet".to_owned()));
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
    NoKernel::new(format!("{} has no kernel of its own yet", op.describe()))
}

fn listed(table: &Table) -> String {
    table.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// A part of an axis of rows: the axis, where the part begins, and how long the whole axis is.
struct AxisPart {
    axis: usize,
    start: u64,
    total: u64,
}

/// Where the elements of a part of an axis come from, and which those are.
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
