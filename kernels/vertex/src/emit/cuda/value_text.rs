//! value_text: the statements that make the values of a walk, each lane its places of a row.
//!
//! promises  a value is made where it is first wanted and once for each way in which its elements
//!           lie over the lanes; rows that edges read are asked for before anything is done with
//!           them, several edges at a time; what is made is what the step says, element by element;
//!           what takes many instructions and is a number of an edge is made by one lane, which
//!           tells the others
//! never     says who does which row (`kernel`), or where a value goes
//!
//! A row's widest value is the **frame**: its places are dealt out to the lanes of a group, `V`
//! neighbouring places a lane and `Q` times over; where `V` does not divide them, the last lane
//! goes back to `V` from the end and makes again what its neighbour makes, bit by bit. Every other
//! value is seen through a table, place -> element (`table`): a number is in every lane, a head's
//! number in the lanes of the head. A statement is made for all places (`EACH`), for each group of
//! `V` (`EACH_Q`) or once, by how the table spreads.
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::NoKernel;
use super::lane_broadcast::{BroadcastSteps, shared};
use super::lane_layout::{
    Spread, Table, aligned, axis_elements, axis_of, broadcast_elements, holding, identity, spread,
    text,
};
use super::operators::{axis_reduction, cast, dropped, join, literal, register, start};
use super::walk_steps::{At, From, Input, Level, Read, Step, Walk};
use crate::gir::{Op, Reduction, Type, broadcast};
use crate::launch::{Element, Rows, reduced};
use crate::tuning;

/// How the places of a frame lie over the lanes of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lanes {
    /// Places of the frame.
    pub places: usize,
    /// Neighbouring places of a lane.
    pub vector: usize,
    /// Lanes of a group, a power of two.
    pub lanes: usize,
    /// Times that the lanes go over the places of a slice.
    pub chunks: usize,
    /// Blocks that share a row.
    pub slices: usize,
}

impl Lanes {
    /// Places that a block has of a row.
    pub fn slice(&self) -> usize {
        self.vector * self.lanes * self.chunks
    }

    /// Elements of a lane of a value that lies so.
    pub fn elements(&self, spread: Spread) -> usize {
        match spread {
            Spread::All => 1,
            Spread::Group => self.chunks,
            Spread::Run | Spread::Each => self.chunks * self.vector,
        }
    }

    /// Whether some lanes have no place.
    pub fn has_tail(&self) -> bool {
        self.slice() * self.slices != self.places
    }

    /// Whether the last lane with a place shares some with its neighbour.
    pub fn overlaps(&self) -> bool {
        !self.places.is_multiple_of(self.vector)
    }

    /// Elements of a row that lie as one, for a lane that has all of it: what vectors are loaded
    /// and stored with.
    pub fn aligned(&self) -> usize {
        aligned(self.places, self.vector)
    }

    /// What `load` and `store` of a lane's places are told.
    pub fn vectors(&self) -> String {
        if self.overlaps() { format!("V, {}", self.aligned()) } else { "V".to_owned() }
    }
}

/// Where a statement stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// Once a row, after so many passes over its edges.
    Row(usize),
    /// Once an edge, in this pass.
    Edge(usize),
    /// The same, but each lane for one of the edges at hand alone.
    Lane(usize),
}

/// A value in registers.
#[derive(Clone, Debug)]
pub(super) struct RegisterValue {
    name: String,
    spread: Spread,
    /// Whether it was loaded for several edges at once.
    many: bool,
    pub kind: Type,
}

impl RegisterValue {
    /// Whether it has an element for each place.
    fn is_run(&self) -> bool {
        self.spread.is_run()
    }

    /// The element at a place, within a statement for all places.
    pub fn at(&self) -> String {
        let many = if self.many { "[k]" } else { "" };
        match self.spread {
            Spread::All => format!("{}{many}", self.name),
            Spread::Group => format!("{}{many}[q]", self.name),
            Spread::Run | Spread::Each => format!("{}{many}[q][j]", self.name),
        }
    }
}

/// What a reduction adds up, for one way in which its elements lie.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    pub step: usize,
    pub table: Table,
    pub held: RegisterValue,
    pub reduction: Reduction,
    /// Largest scores so far that its terms are taken relative to.
    pub largest: Vec<Largest>,
}

/// The largest score so far, for one way in which its elements lie.
#[derive(Clone, Debug)]
pub(super) struct Largest {
    /// Where it is held, and the score of each edge at hand.
    pub held: RegisterValue,
    score: RegisterValue,
    /// What is taken off each score.
    shift: RegisterValue,
    /// What sums so far are multiplied with.
    scale: RegisterValue,
}

/// Statements of a pass over edges.
#[derive(Clone, Debug, Default)]
pub(super) struct EdgePass {
    /// Where lanes' places of all rows lie that are read of edges.
    pub places: String,
    /// Loads, for edge `k` of those at hand.
    loads: String,
    /// What is done with all edges at hand before each of them: what each lane makes of an edge of
    /// its own, the largest score so far, and sums relative to it.
    pub first: String,
    /// What is done with each edge.
    pub work: String,
    /// What is asked for an edge and a lane.
    pub loaded: Elements,
    /// How many rows that are.
    pub reads: usize,
    /// What is made of it.
    pub made: Elements,
    pub sums: Vec<Sum>,
    pub largest: Vec<Largest>,
    /// What joins lanes' own sums, behind it.
    pub end: String,
}

/// Elements that a lane holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Elements {
    pub reals: usize,
    /// Of 64 bits.
    pub wholes: usize,
    pub bools: usize,
}

impl Elements {
    /// Of one value.
    pub fn add(&mut self, kind: Type, count: usize) {
        match kind {
            Type::Real => self.reals += count,
            Type::Bool => self.bools += count,
            Type::Int | Type::Id => self.wholes += count,
        }
    }

    /// Registers that they take.
    pub fn registers(&self, bytes_per_real: u64) -> usize {
        self.reals * (bytes_per_real / 4) as usize + 2 * self.wholes + self.bools
    }
}

/// Where a load says that it is only of edges that are there: of those at hand, and of a lane's
/// own.
const HERE: &str = "@HERE@";
const HERE_MINE: &str = "@HERE_MINE@";

impl EdgePass {
    /// Loads, where not all edges at hand are there of those that are, or of all: what is not there
    /// is number 0, whose row is.
    pub fn loads(&self, of_those_there: bool) -> String {
        let (of_all, of_lane) =
            if of_those_there { ("if (ALL || here_[k]) ", "if (here_mine) ") } else { ("", "") };
        self.loads.replace(HERE_MINE, of_lane).replace(HERE, of_all)
    }
}

type Key = (Scope, FromKey, At, Table, Type);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FromKey {
    Step(usize),
    Leaf(usize),
}

/// Numbers that edges bring, one an edge, in the order in which they are walked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stream {
    /// The far vertex.
    Far,
    /// The row of the edge.
    Edge,
    /// Its relation.
    Relation,
    /// A given value of edges with one column: the leaf.
    Given(usize),
    /// Which columns of the edge's row a dropout keeps, a bit each: threshold, site and columns.
    Kept(u32, u32, usize),
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

/// Writes the statements of a walk.
pub(super) struct Writer<'a> {
    pub walk: &'a Walk,
    pub lanes: Lanes,
    /// Statements after each pass; the first before all.
    pub rows: Vec<String>,
    pub passes: Vec<EdgePass>,
    pub streams: Vec<Stream>,
    /// Tables that no short text says.
    pub constants: Vec<String>,
    /// Whether the pass is one of training, an epoch or a seed is looked at.
    pub draws: bool,
    pub training: bool,
    pub graphs: bool,
    /// Whether lanes draw for edges of their own and tell each other.
    pub draws_ahead: bool,
    /// Whether places of rows are found in front of a pass.
    finds_places: bool,
    /// Steps that lanes make for edges of their own and tell each other.
    shared: BroadcastSteps,
    /// Largest scores: pass, which, and how its elements lie.
    largest: BTreeMap<(usize, Table), Largest>,
    /// Values of rows: name, type, and elements of a lane.
    of_rows: Vec<(String, Type, usize)>,
    memo: BTreeMap<Key, RegisterValue>,
    count: usize,
}

impl<'a> Writer<'a> {
    pub fn new(walk: &'a Walk, lanes: Lanes) -> Self {
        let finds_places = rows_of_edges(walk) <= tuning::address_rows();
        Writer {
            draws_ahead: true,
            finds_places,
            shared: shared(walk, lanes.lanes),
            ..Writer::with_passes(walk, lanes, walk.passes())
        }
    }

    /// Whether a lane computes numbers of an edge for all lanes of its group.
    pub fn broadcasts(&self) -> bool {
        self.shared.told.contains(&true)
    }

    /// With so many passes over the edges, whatever the steps say.
    pub fn with_passes(walk: &'a Walk, lanes: Lanes, passes: usize) -> Self {
        Writer {
            walk,
            lanes,
            rows: vec![String::new(); passes + 1],
            passes: vec![EdgePass::default(); passes + 1],
            streams: Vec::new(),
            constants: Vec::new(),
            draws: false,
            training: false,
            graphs: false,
            draws_ahead: false,
            finds_places: false,
            shared: BroadcastSteps::empty(walk),
            largest: BTreeMap::new(),
            of_rows: Vec::new(),
            memo: BTreeMap::new(),
            count: 0,
        }
    }

    /// Each place its own.
    pub fn frame(&self) -> Table {
        identity(self.lanes.places)
    }

    /// Says that a step's value is held already, in registers of this name; the text fills them
    /// with what `of_place` says of each place of a lane: which group of its places, and which of
    /// the group.
    pub fn know(
        &mut self,
        step: usize,
        table: Table,
        name: &str,
        of_place: impl Fn(&str, &str) -> String,
    ) -> String {
        let held = RegisterValue {
            name: name.to_owned(),
            spread: spread(&table, self.lanes.vector),
            many: false,
            kind: self.walk.steps[step].kind,
        };
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
        format!(
            "{} {}; {}",
            register(held.kind),
            sized(name, held.spread, false),
            emit_each_place(held.spread, &format!("{} = {};", held.at(), of_place(group, place)))
        )
    }

    /// Makes a step's value, element by element of a table.
    pub fn step(
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
            let made = self.step(number, table, Scope::Lane(pass))?;
            let held = self.bind_value(
                &step.out,
                step.kind,
                Spread::All,
                &format!("from_lane({}, group * L + k)", made.at()),
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
                let largest = self.largest(running.unwrap_or_default(), table)?;
                let made = format!(
                    "exponential_of_share({} - {})",
                    largest.score.at(),
                    largest.shift.at()
                );
                self.bind_value(
                    &step.out,
                    step.kind,
                    spread(table, self.lanes.vector),
                    &made,
                    scope,
                )
            }
            (Op::Reduce(reduction, _), Some(_)) if start(*reduction, step.kind).is_none() => {
                return Err(NoKernel::new(format!(
                    "{} of {} has no kernel of its own yet",
                    step.op.describe(),
                    step.kind
                )));
            }
            (Op::Reduce(reduction, _), Some(_)) => self.sum(number, *reduction, table),
            (Op::Reduce(..), None) => {
                return Err(NoKernel::new(format!(
                    "{} has no kernel of its own yet",
                    step.op.describe()
                )));
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
    fn sum(&mut self, number: usize, reduction: Reduction, table: &Table) -> RegisterValue {
        let step = &self.walk.steps[number];
        let held = RegisterValue {
            name: self.name(&step.out),
            spread: spread(table, self.lanes.vector),
            many: false,
            kind: step.kind,
        };
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
    fn largest(&mut self, number: usize, table: &Table) -> Result<Largest, NoKernel> {
        if let Some(known) = self.largest.get(&(number, table.clone())) {
            return Ok(known.clone());
        }
        let walk = self.walk;
        let running = &walk.running[number];
        let pass = walk.steps[running.largest].passes;
        let held = self.step(running.largest, table, Scope::Row(0))?;
        if matches!(running.score.from, From::Step(score) if self.shared.told[score]) {
            return self.largest_of_lanes(number, pass, held, table);
        }
        // What is made of each edge there is gone again when its turn comes.
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
        let how = held.spread;
        let [score, before, scale, shift] =
            ["score", "before", "scale", "shift"].map(|name| RegisterValue {
                name: self.name(name),
                spread: how,
                many: name == "score",
                kind: Type::Real,
            });
        let opened = |held: &RegisterValue| format!("real {};", sized(&held.name, how, held.many));
        let (at, least) = (held.at(), "(real)-INFINITE");
        let lines = [
            opened(&score),
            format!(
                "UNROLL for (int k = 0; k < B; k++) {{\nconst bool here = ALL || \
                    here_[k];\n{statements}{}\n}}",
                emit_each_place(how, &format!("{} = here ? {} : {least};", score.at(), made.at()))
            ),
            format!(
                "{} {}",
                opened(&before),
                emit_each_place(how, &format!("{} = {at};", before.at()))
            ),
            format!(
                "UNROLL for (int k = 0; k < B; k++) {}",
                emit_each_place(
                    how,
                    &format!("{at} = {};", join(Reduction::Maximum, Type::Real, &at, &score.at()))
                )
            ),
            format!(
                "{} if (begun) {}",
                opened(&scale),
                emit_each_place(how, &format!("{} = grown({}, {at});", scale.at(), before.at()))
            ),
            format!(
                "{} {}\n",
                opened(&shift),
                emit_each_place(
                    how,
                    &format!("{} = {at} == {least} ? (real)0 : {at};", shift.at())
                )
            ),
        ];
        self.passes[pass].first.push_str(&lines.join("\n"));
        let count = self.lanes.elements(how);
        self.passes[pass].loaded.add(Type::Real, count);
        self.passes[pass].made.add(Type::Real, 2 * count);
        if let From::Step(step) = running.score.from {
            self.memo.insert(
                (Scope::Edge(pass), FromKey::Step(step), At::Own, table.clone(), Type::Real),
                score.clone(),
            );
        }
        let largest = Largest { held, score, shift, scale };
        self.largest.insert((number, table.clone()), largest.clone());
        self.passes[pass].largest.push(largest.clone());
        Ok(largest)
    }

    /// The same where each lane has the score of an edge of its own.
    fn largest_of_lanes(
        &mut self,
        number: usize,
        pass: usize,
        held: RegisterValue,
        table: &Table,
    ) -> Result<Largest, NoKernel> {
        let made = self.input(
            &Input::Rows(self.walk.running[number].score.clone()),
            table,
            Scope::Lane(pass),
        )?;
        let made = format!("here_mine ? {} : (real)-INFINITE", made.at());
        let score = self.bind_value("score", Type::Real, Spread::All, &made, Scope::Lane(pass));
        let most = self.bind_value("most", Type::Real, Spread::All, &score.at(), Scope::Lane(pass));
        let (at, of_edges) = (held.at(), most.at());
        let joined = join(
            Reduction::Maximum,
            Type::Real,
            &of_edges,
            &format!("across({of_edges}, distance)"),
        );
        self.line(
            Scope::Lane(pass),
            &format!(
                "UNROLL for (int distance = 1; distance < B; distance *= 2) {of_edges} = {joined};"
            ),
        );
        let before = self.bind_value("before", Type::Real, Spread::All, &at, Scope::Lane(pass));
        self.line(
            Scope::Lane(pass),
            &format!("{at} = {};", join(Reduction::Maximum, Type::Real, &at, &of_edges)),
        );
        let scale = self.bind_value(
            "scale",
            Type::Real,
            Spread::All,
            &format!("grown({}, {at})", before.at()),
            Scope::Lane(pass),
        );
        let shift = self.bind_value(
            "shift",
            Type::Real,
            Spread::All,
            &format!("{at} == (real)-INFINITE ? (real)0 : {at}"),
            Scope::Lane(pass),
        );
        let largest = Largest { held, score, shift, scale };
        self.largest.insert((number, table.clone()), largest.clone());
        self.passes[pass].largest.push(largest.clone());
        Ok(largest)
    }

    /// Takes what a sum has so far relative to the largest score.
    fn scaled(&mut self, pass: usize, done: usize) -> Result<(), NoKernel> {
        let walk = self.walk;
        let sum = self.passes[pass].sums[done].clone();
        for (number, running) in walk.running.iter().enumerate() {
            let Some((_, elements)) = running.sums.iter().find(|(step, _)| *step == sum.step)
            else {
                continue;
            };
            let table =
                Table::new(sum.table.iter().map(|element| elements[*element as usize]).collect());
            let largest = self.largest(number, &table)?;
            // Nothing is in them before the first edges.
            let line = sum.for_each(|into| format!("{into} = {into} * {};", largest.scale.at()));
            let _infallible = writeln!(self.passes[pass].first, "if (begun) {line}");
            self.passes[pass].sums[done].largest.push(largest);
        }
        Ok(())
    }

    /// Writes the work of a pass over edges: what its reductions add up. Those of later passes are
    /// written.
    pub fn pass(&mut self, number: usize) -> Result<(), NoKernel> {
        let mut done = 0;
        while let Some(sum) = self.passes[number].sums.get(done).cloned() {
            let step = &self.walk.steps[sum.step];
            let scope = Scope::Edge(number);
            if let Some(running) =
                self.walk.running.iter().position(|running| running.largest == sum.step)
            {
                self.largest(running, &sum.table)?;
                done += 1;
                continue;
            }
            self.scaled(number, done)?;
            let Op::Reduce(_, edges) = &step.op else {
                return Err(NoKernel::new("a reduction that is none".to_owned()));
            };
            let is_alone = edges.relation.is_none()
                && step.inputs.len() == 1
                && sum.reduction == Reduction::Sum
                && step.kind == Type::Real;
            if is_alone
                && sum.held.spread == Spread::All
                && self.shared.adds_up(self.walk, &step.inputs[0])
            {
                let table = broadcast_elements(&sum.table, &step.shape, &step.inputs[0].shape());
                let made = self.input(&step.inputs[0], &table, Scope::Lane(number))?;
                let into = sum.held.at();
                self.line(
                    Scope::Lane(number),
                    &format!("if (here_mine) {into} = {into} + {};", made.at()),
                );
                let _infallible = writeln!(
                    self.passes[number].end,
                    "UNROLL for (int distance = 1; distance < B; distance *= 2) {into} = {into} + \
                     across({into}, distance);"
                );
                done += 1;
                continue;
            }
            let mut holds = "here".to_owned();
            if let Some(relation) = edges.relation {
                let stream = self.stream(Stream::Relation);
                holds = format!("{holds} && {stream} == {relation}u");
            }
            if let Some(mask) = step.inputs.get(1) {
                let table = broadcast_elements(&sum.table, &step.shape, &mask.shape());
                let mask = self.input(mask, &table, scope)?;
                holds = format!("{holds} && {}", cast(mask.kind, Type::Bool, &mask.at()));
            }
            let message = if sum.reduction == Reduction::Count {
                "1".to_owned()
            } else {
                let table = broadcast_elements(&sum.table, &step.shape, &step.inputs[0].shape());
                let made = self.input(&step.inputs[0], &table, scope)?;
                cast(made.kind, step.kind, &made.at())
            };
            let into = sum.held.at();
            let joined = join(sum.reduction, step.kind, &into, &message);
            let line = format!("if ({holds}) {into} = {joined};");
            let line = emit_each_place(sum.held.spread, &line);
            let _infallible = writeln!(self.passes[number].work, "{line}");
            done += 1;
        }
        Ok(())
    }

    /// Makes what a step reads, element by element of a table.
    pub fn input(
        &mut self,
        input: &Input,
        table: &Table,
        scope: Scope,
    ) -> Result<RegisterValue, NoKernel> {
        match input {
            Input::Number(number) => Ok(RegisterValue {
                name: format!("({})", literal(*number, number.kind())),
                spread: Spread::All,
                many: false,
                kind: number.kind(),
            }),
            Input::Times(first, second) => {
                let outer = broadcast(&first.shape(), &second.shape()).unwrap_or_default();
                let mut part = |part: &Input| {
                    let table = broadcast_elements(table, &outer, &part.shape());
                    self.input(part, &table, scope)
                };
                let (a, b) = (part(first)?, part(second)?);
                let kind = input.kind();
                let [a, b] = [&a, &b].map(|part| cast(part.kind, kind, &part.at()));
                let made = crate::gir::Binary::Multiply.cuda(kind == Type::Real, &a, &b);
                Ok(self.bind_value("product", kind, spread(table, self.lanes.vector), &made, scope))
            }
            Input::Rows(read) => match read.from {
                From::Step(number) => {
                    let scope = if read.at == At::Near { Scope::Row(0) } else { scope };
                    self.step(number, table, scope)
                }
                From::Leaf(leaf) => self.load(read, leaf, table, scope),
            },
        }
    }

    /// Statement that makes a value of all its places.
    fn bind_value(
        &mut self,
        of: &str,
        kind: Type,
        spread: Spread,
        made: &str,
        scope: Scope,
    ) -> RegisterValue {
        let held = RegisterValue { name: self.name(of), spread, many: false, kind };
        self.hold(&held, scope);
        let open = format!("{} {};", register(kind), sized(&held.name, spread, false));
        let line = emit_each_place(spread, &format!("{} = {made};", held.at()));
        self.line(scope, &format!("{open} {line}"));
        held
    }

    /// Takes down what registers a value takes.
    fn hold(&mut self, held: &RegisterValue, scope: Scope) {
        let count = self.lanes.elements(held.spread);
        match scope {
            Scope::Row(_) => self.of_rows.push((held.name.clone(), held.kind, count)),
            Scope::Edge(pass) | Scope::Lane(pass) => self.passes[pass].made.add(held.kind, count),
        }
    }

    /// What of the row a pass over its edges reads.
    pub fn row_elements(&self, pass: usize) -> Elements {
        let EdgePass { loads, first, work, .. } = &self.passes[pass];
        let mut kept = Elements::default();
        let is_read = |name: &str| [loads, first, work].iter().any(|text| text.contains(name));
        self.of_rows
            .iter()
            .filter(|(name, ..)| is_read(name))
            .for_each(|(_, kind, count)| kept.add(*kind, *count));
        kept
    }

    fn line(&mut self, scope: Scope, line: &str) {
        let text = match scope {
            Scope::Row(level) => &mut self.rows[level],
            Scope::Edge(pass) => &mut self.passes[pass].work,
            Scope::Lane(pass) => &mut self.passes[pass].first,
        };
        let _infallible = writeln!(text, "{line}");
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
        let at: Vec<String> = operands.iter().map(RegisterValue::at).collect();
        let text = match &step.op {
            Op::Unary(_) if step.is_share => format!("exponential_of_share({})", at[0]),
            Op::Unary(operator) => operator.cuda(&at[0]),
            Op::Binary(operator) => {
                let of = if operands.iter().any(|operand| operand.kind == Type::Real) {
                    Type::Real
                } else {
                    operands[0].kind
                };
                let [a, b] = [0, 1].map(|number| cast(operands[number].kind, of, &at[number]));
                operator.cuda(of == Type::Real, &a, &b)
            }
            Op::Select => {
                let [yes, no] = [1, 2].map(|number| cast(operands[number].kind, kind, &at[number]));
                format!("{} ? {yes} : {no}", cast(operands[0].kind, Type::Bool, &at[0]))
            }
            Op::Cast(to) => cast(operands[0].kind, *to, &at[0]),
            Op::Detach | Op::Expand | Op::Give | Op::Reshape => {
                cast(operands[0].kind, kind, &at[0])
            }
            Op::WhenTraining => {
                self.training = true;
                format!("training ? {} : {}", at[0], at[1])
            }
            Op::Dropout { probability, site } => {
                return self.dropout(step, *probability, *site, table, &at[0], scope);
            }
            Op::Axis(pooling, axis) => {
                return self.axis(step, axis_reduction(*pooling), *axis, table, scope);
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
                format!(
                    "({inside}) ? {} : {}",
                    made.at(),
                    literal(crate::gir::Number::Int(0), kind)
                )
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
                return Err(NoKernel::new(format!(
                    "{} has no kernel of its own yet",
                    step.op.describe()
                )));
            }
        };
        let spread = if matches!(step.op, Op::Unslice { .. }) { Spread::Each } else { spread };
        if let (Op::Binary(crate::gir::Binary::Divide), Scope::Row(_), [of, by]) =
            (&step.op, scope, operands.as_slice())
            && of.is_run()
            && spread.is_run()
            && !by.is_run()
            && [of, by].iter().all(|held| held.kind == Type::Real && !held.many)
        {
            return Ok(self.divided(&step.out, spread, of, by, scope));
        }
        Ok(self.bind_value(&step.out, kind, spread, &text, scope))
    }

    /// Neighbouring places divided by one number.
    fn divided(
        &mut self,
        of: &str,
        spread: Spread,
        dividend: &RegisterValue,
        divisor: &RegisterValue,
        scope: Scope,
    ) -> RegisterValue {
        let held = RegisterValue { name: self.name(of), spread, many: false, kind: Type::Real };
        self.hold(&held, scope);
        let line =
            format!("EACH_Q divide({}[q], {}[q], {});", held.name, dividend.name, divisor.at());
        self.line(scope, &format!("real {}; {line}", sized(&held.name, spread, false)));
        held
    }

    /// Rows side by side: each place takes its element from the part that has it.
    fn concatenate(
        &mut self,
        step: &Step,
        axis: usize,
        table: &Table,
        scope: Scope,
    ) -> Result<RegisterValue, NoKernel> {
        let (mut text, mut start) = (String::new(), 0);
        let total = step.shape[axis];
        for input in &step.inputs {
            let shape = input.shape();
            let (moved, inside) =
                slice_axis(table, &step.shape, &shape, AxisPart { axis, start, total });
            start += shape[axis];
            let (made, inside) = (self.input(input, &moved, scope)?, self.holds(&inside));
            let made = cast(made.kind, step.kind, &made.at());
            if text.is_empty() {
                text = made;
            } else {
                text = format!("({inside}) ? {made} : ({text})");
            }
        }
        Ok(self.bind_value(&step.out, step.kind, Spread::Each, &text, scope))
    }

    /// Along an axis: lanes that share what is added up tell each other, or each adds up all by
    /// itself.
    fn axis(
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
            let places = self.frame();
            let made = self.input(input, &places, scope)?;
            let (length, Lanes { vector, lanes, chunks, .. }) = (length as usize, self.lanes);
            let is_one = length == self.lanes.places;
            let value = cast(made.kind, kind, &made.at());
            let value = match (self.lanes.has_tail(), self.lanes.overlaps()) {
                // What lies beyond the columns of a row is nobody's.
                _ if self.walk.padded.is_some() => format!(
                    "(own[q] && c[q] + j < {}u ? {value} : {begin})",
                    self.walk.columns_of(length as u64)
                ),
                (false, _) => value,
                (true, false) => format!("(own[q] ? {value} : {begin})"),
                // What a lane has in common with its neighbour is the neighbour's.
                (true, true) => {
                    format!("(own[q] && c[q] + j >= (q * L + part) * V ? {value} : {begin})")
                }
            };
            let (spread, around) =
                if is_one { (Spread::All, lanes) } else { (Spread::Group, length / vector) };
            let held = RegisterValue { name: self.name(&step.out), spread, many: false, kind };
            self.hold(&held, scope);
            let into = held.at();
            let mut lines = format!("{} {};\n", register(kind), sized(&held.name, spread, false));
            let _infallible =
                writeln!(lines, "{}", emit_each_place(spread, &format!("{into} = {begin};")));
            let _infallible =
                writeln!(lines, "EACH {into} = {};", join(reduction, kind, &into, &value));
            if is_one
                || (around.is_power_of_two()
                    && (chunks == 1 || (lanes * vector).is_multiple_of(length)))
            {
                let mut distance = 1;
                while distance < around {
                    let other = format!("across({into}, {distance})");
                    let _infallible = writeln!(
                        lines,
                        "{}",
                        emit_each_place(
                            spread,
                            &format!("{into} = {};", join(reduction, kind, &into, &other))
                        )
                    );
                    distance *= 2;
                }
            } else {
                lines.push_str(&emit_axis_reduction(&held.name, kind, &begin, reduction, around));
            }
            self.line(scope, lines.trim_end());
            return Ok(held);
        }
        if length > 64 {
            return Err(NoKernel::new(format!(
                "{} of {length} elements that no lanes share",
                step.op.describe()
            )));
        }
        let mut text = begin;
        for place in 0..self.walk.columns_of(length) {
            let along = axis_elements(table, &shape, axis, place);
            let made = self.input(input, &along, scope)?;
            text = join(reduction, kind, &format!("({text})"), &cast(made.kind, kind, &made.at()));
        }
        Ok(self.bind_value(&step.out, kind, spread(table, self.lanes.vector), &text, scope))
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

    fn dropout(
        &mut self,
        step: &Step,
        probability: f64,
        site: u32,
        table: &Table,
        value: &str,
        scope: Scope,
    ) -> Result<RegisterValue, NoKernel> {
        let spread = spread(table, self.lanes.vector);
        let Some((threshold, scale)) = dropped(probability) else {
            return Ok(self.bind_value(&step.out, step.kind, spread, value, scope));
        };
        (self.draws, self.training) = (true, true);
        // A table draws for its own rows: those of its first axis.
        let is_table = step.level == Level::Row && matches!(self.walk.rows, Rows::Fixed(_));
        let row = match (step.level, self.walk.rows) {
            (Level::Edge, _) => self.stream(Stream::Edge),
            (Level::Row, Rows::Nodes) => "row_in_graph".to_owned(),
            (Level::Row, _) if is_table => "0u".to_owned(),
            (Level::Row, _) => "(unsigned)v".to_owned(),
        };
        if let (Level::Edge, Scope::Edge(_), true, 1..=32) =
            (step.level, scope, self.draws_ahead, step.columns())
        {
            let bits = self.stream(Stream::Kept(threshold, site, step.columns()));
            let column = self.element(table);
            return Ok(self.bind_value(
                &step.out,
                step.kind,
                spread,
                &format!(
                    "!training ? {value} : {bits} >> {column} & 1 ? {value} * {scale} : (real)0"
                ),
                scope,
            ));
        }
        let held =
            RegisterValue { name: self.name(&step.out), spread, many: false, kind: step.kind };
        self.hold(&held, scope);
        let kept = self.name("kept");
        let open = format!("{} {};", register(step.kind), sized(&held.name, spread, false));
        let arguments = |column: &str| match (is_table, step.shape.as_slice()) {
            (true, [_, columns]) => format!(
                "(unsigned)({column}) / {columns}u, (unsigned)({column}) % {columns}u, \
                 clock->epoch, {site}u, seed, {threshold}u"
            ),
            _ => format!("{row}, {column}, clock->epoch, {site}u, seed, {threshold}u"),
        };
        let drawn = if spread == Spread::Run && !is_table {
            let column = self.group_element(table);
            format!(
                "EACH_Q {{ bool {kept}[V]; UNROLL for (int j = 0; j < V; j++) {kept}[j] = true; if \
                 (training) keeps<V>({kept}, {}); UNROLL for (int j = 0; j < V; j++) {} = \
                 !training ? {value} : {kept}[j] ? {value} * {scale} : (real)0; }}",
                arguments(&column),
                held.at()
            )
        } else {
            let column = self.element(table);
            let one = format!(
                "{{ bool {kept}[1] = {{true}}; if (training) keeps<1>({kept}, {}); {} = !training \
                 ? {value} : {kept}[0] ? {value} * {scale} : (real)0; }}",
                arguments(&column),
                held.at()
            );
            emit_each_place(spread, &one)
        };
        self.line(scope, &format!("{open} {drawn}"));
        Ok(held)
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

    /// The number that an edge brings, as a text.
    pub fn stream(&mut self, stream: Stream) -> String {
        let number = self.streams.iter().position(|known| *known == stream).unwrap_or_else(|| {
            self.streams.push(stream.clone());
            self.streams.len() - 1
        });
        match stream {
            Stream::Far => "u[k]".to_owned(),
            _ => format!("stream_{number}[k]"),
        }
    }

    /// Reads rows of a buffer.
    fn load(
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
        let held = self.loaded(leaf, at, read.kind, table, scope)?;
        self.memo.insert((scope, from, at, table.clone(), read.kind), held.clone());
        Ok(held)
    }

    /// Which row is read, of each edge at hand within a pass; none where there is one alone.
    fn row_read(&mut self, at: At, in_pass: bool) -> Option<String> {
        Some(match (at, in_pass) {
            _ if matches!(self.walk.rows, Rows::Fixed(_)) => return None,
            (At::One, _) => return None,
            (At::Graph, _) => {
                self.graphs = true;
                "graph".to_owned()
            }
            (At::Far, true) => self.stream(Stream::Far),
            (At::Own, true) => self.stream(Stream::Edge),
            (At::Far, false) => "far".to_owned(),
            (At::Near, false) => "near".to_owned(),
            _ => "v".to_owned(),
        })
    }

    /// Where a lane's place of all rows of a buffer lies, found once in front of the pass that
    /// reads rows of edges: then a row's takes one instruction in place of three. None where a lane
    /// has several pieces of a row, whose registers leave no room for an address, but for two of as
    /// many lanes as have work (`low_degree_rows.rs`).
    fn place_of_all(&mut self, pointer: &str, table: &Table, scope: Scope) -> Option<String> {
        let (Scope::Edge(pass) | Scope::Lane(pass)) = scope else { return None };
        let has_room = self.lanes.chunks == 1
            || self.lanes.chunks == 2 && self.lanes.lanes < 32 && !self.lanes.has_tail();
        if !self.finds_places || !has_room {
            return None;
        }
        let place = self.group_element(table);
        if self.lanes.chunks > 1 && place != "c[q]" {
            return None;
        }
        let name = self.name("place");
        let _infallible = writeln!(
            self.passes[pass].places,
            "const real* {name} = {pointer} + {}; keep({name});",
            place.replace("[q]", "[0]")
        );
        Some(if self.lanes.chunks > 1 { format!("{name} + q * L * V") } else { name })
    }

    fn loaded(
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
        let of_edge = |stream: String| if many { stream } else { stream.replace("[k]", "_mine") };
        if in_pass && at == At::Own && held.columns == 1 && held.given {
            let name = of_edge(self.stream(Stream::Given(leaf)));
            let name = name.trim_end_matches("[k]").to_owned();
            return Ok(RegisterValue { name, spread: Spread::All, many, kind });
        }
        let row = self.row_read(at, in_pass).map(of_edge);
        let pointer = pointer(&held.name);
        let stride = held.stride;
        let mut how = spread(table, self.lanes.vector);
        if how == Spread::Run
            && (!stride.is_multiple_of(self.lanes.aligned() as u64) && at != At::One)
        {
            how = Spread::Each;
        }
        let element_type = held.element;
        let is_found =
            how == Spread::Run && element_type == Element::Real && stride > 1 && row.is_some();
        let found = if is_found { self.place_of_all(&pointer, table, scope) } else { None };
        let base = |element: &str| match (&row, &found) {
            (None, _) => format!("{pointer} + {element}"),
            (Some(row), _) if stride == 1 => format!("{pointer} + {row} + {element}"),
            (Some(row), Some(found)) => format!("{found} + (offset_t){row} * {stride}"),
            (Some(row), None) if in_pass => {
                format!("{pointer} + {element} + (offset_t){row} * {stride}")
            }
            (Some(row), None) => format!("{pointer} + (offset_t){row} * {stride} + {element}"),
        };
        let name = self.name(&held.name);
        let value = RegisterValue { name, spread: how, many, kind };
        let into = value.at();
        let plain =
            |element: &str| cast_stored(element_type, kind, &format!("__ldg({})", base(element)));
        let line = match how {
            Spread::All => format!("{into} = {};", plain(&self.element(table))),
            Spread::Run if element_type == Element::Real => {
                let element = self.group_element(table);
                let many = if many { "[k]" } else { "" };
                format!(
                    "EACH_Q load<{}>({}{many}[q], {});",
                    self.lanes.vectors(),
                    value.name,
                    base(&element)
                )
            }
            _ => {
                let element = self.element(table);
                emit_each_place(how, &format!("{into} = {};", plain(&element)))
            }
        };
        let open = format!("{} {}", register(kind), sized(&value.name, how, many));
        match scope {
            Scope::Lane(pass) => {
                self.hold(&value, scope);
                let _infallible =
                    writeln!(self.passes[pass].loads, "{open};\n{HERE_MINE}{{ {line} }}");
            }
            Scope::Row(_) => {
                self.hold(&value, scope);
                self.line(scope, &format!("{open}; {line}"));
            }
            Scope::Edge(pass) => {
                let count = self.lanes.elements(how);
                let pass = &mut self.passes[pass];
                pass.loaded.add(kind, count);
                pass.reads += 1;
                let _infallible = writeln!(
                    pass.loads,
                    "{open};\nUNROLL for (int k = 0; k < B; k++) {HERE}{{ {line} }}"
                );
            }
        }
        Ok(value)
    }
}

/// Statements by which each lane is told, in order, what the lanes have that share an axis with it,
/// where these are no power of two.
fn emit_axis_reduction(
    name: &str,
    kind: Type,
    begin: &str,
    reduction: Reduction,
    around: usize,
) -> String {
    let joined = join(reduction, kind, "all", "told");
    format!(
        "{{
{of} own_{name}[Q]; EACH_Q own_{name}[q] = {name}[q];
EACH_Q {{
const unsigned first = (q * L + part) / {around}u * {around}u;
{of} all = {begin};
UNROLL for (int i = 0; i < {around}; i++) {{
const unsigned unit = first + i;
{of} told = from_lane(own_{name}[0], group * L + unit % L);
UNROLL for (int other = 1; other < Q; other++) {{ const {of} from_other = from_lane(own_{name}[other], group * L + unit % L); if (unit / L == other) told = from_other; }}
all = {joined};
}}
{name}[q] = all;
}}
}}
",
        of = register(kind)
    )
}

/// The pointer to a buffer, as a kernel calls it: two names that differ are two pointers.
pub(super) fn pointer(name: &str) -> String {
    let plain = |letter: char| match letter {
        '.' => "_".to_owned(),
        '_' => "__".to_owned(),
        letter if letter.is_ascii_alphanumeric() => letter.to_string(),
        other => format!("_{:x}_", u32::from(other)),
    };
    format!("b_{}", name.chars().map(plain).collect::<String>())
}

/// A statement for every place that a value has.
pub(super) fn emit_each_place(spread: Spread, line: &str) -> String {
    match spread {
        Spread::All => line.to_owned(),
        Spread::Group => format!("EACH_Q {line}"),
        Spread::Run | Spread::Each => format!("EACH {line}"),
    }
}

impl Sum {
    /// Statements that open its registers.
    pub fn opened(&self) -> String {
        let (kind, spread) = (self.held.kind, self.held.spread);
        let begin = start(self.reduction, kind).unwrap_or_default();
        format!(
            "{} {}; {}",
            register(kind),
            sized(&self.held.name, spread, false),
            emit_each_place(spread, &format!("{} = {begin};", self.held.at()))
        )
    }

    /// What other text does with each of its elements.
    pub fn for_each(&self, line: impl Fn(&str) -> String) -> String {
        emit_each_place(self.held.spread, &line(&self.held.at()))
    }

    /// Elements of a lane.
    pub fn elements(&self, lanes: &Lanes) -> usize {
        lanes.elements(self.held.spread)
    }

    /// The number of an element among those of a lane, as a text within a statement for each.
    pub fn number(&self) -> &'static str {
        match self.held.spread {
            Spread::All => "0",
            Spread::Group => "q",
            Spread::Run | Spread::Each => "q * V + j",
        }
    }

    /// Type of what is added up.
    pub fn kind(&self) -> Type {
        self.held.kind
    }

    /// Whether it is a largest score that others are relative to.
    pub fn is_running(&self, pass: &EdgePass) -> bool {
        pass.largest.iter().any(|largest| self.is_that(largest))
    }

    /// Whether it is this one.
    pub fn is_that(&self, largest: &Largest) -> bool {
        largest.held.name == self.held.name
    }

    /// Joins another part, which comes later.
    pub fn joined(&self, other: &str) -> String {
        join(self.reduction, self.held.kind, &self.held.at(), other)
    }
}

impl Largest {
    /// Statements that take down what a group found.
    pub fn store_group_value(&self) -> String {
        let alone = self.alone();
        format!(
            "real {}; {}",
            sized(&alone.name, alone.spread, false),
            emit_each_place(alone.spread, &format!("{} = {};", alone.at(), self.held.at()))
        )
    }

    /// Statements that make of that what the group's sums are multiplied with, when all is found.
    pub fn merge_group_values(&self) -> String {
        let alone = self.alone().at();
        emit_each_place(self.held.spread, &format!("{alone} = grown({alone}, {});", self.held.at()))
    }

    /// What the group's sums are multiplied with.
    pub fn factor(&self) -> String {
        self.alone().at()
    }

    fn alone(&self) -> RegisterValue {
        RegisterValue { name: format!("alone_{}", self.held.name), ..self.held.clone() }
    }
}

fn sized(name: &str, spread: Spread, many: bool) -> String {
    let many = if many { "[B]" } else { "" };
    match spread {
        Spread::All => format!("{name}{many}"),
        Spread::Group => format!("{name}{many}[Q]"),
        Spread::Run | Spread::Each => format!("{name}{many}[Q][V]"),
    }
}

fn cast_stored(element: Element, kind: Type, loaded: &str) -> String {
    match (element, kind) {
        (Element::Real | Element::Half(_), _) => loaded.to_owned(),
        (_, Type::Bool) => format!("{loaded} != 0"),
        (Element::Id, _) => format!("(whole){loaded}"),
        _ => loaded.to_owned(),
    }
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
