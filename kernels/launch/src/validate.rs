//! validate: finds everything in a launch list that would make an executor guess or fail.
//!
//! promises  a valid list names only declared buffers, reads nothing before it is written, writes
//!           no input, never reads what the same launch writes, matches in every shape and element
//!           type, and has an offset in the arena for each buffer that launches write, disjoint
//!           from those live at the same time; all flaws are reported, not only the first
//! never     looks at data, sizes in bytes or speed; changes the list
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::{
    Body, Buffer, Commit, Dropout, Element, Launch, LaunchList, Loop, Operation, Role, Rows,
    Schedule, StopCondition, fixed, gradient_buffer, operand_shapes, parameter_buffer,
    single_walk_rules,
};
use warploom_ir::{Op, Type};

/// One flaw of a launch list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// Name of the launch, or of the part of the list: `buffers`, `parameters`, `results`,
    /// `commit`, `draws`, `arena`.
    pub launch: String,
    /// What was checked: `columns of h.1`.
    pub what: String,
    /// What it should be.
    pub expected: String,
    /// What it is.
    pub found: String,
}

impl fmt::Display for Flaw {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Flaw { launch, what, expected, found } = self;
        write!(formatter, "`{launch}`: {what}: expected {expected}, found {found}")
    }
}

impl LaunchList {
    /// Checks that the list can be executed, or reports all of its flaws.
    pub fn validate(&self) -> Result<(), Vec<Flaw>> {
        let mut inspector = Inspector {
            list: self,
            index: self.index(),
            written: BTreeSet::new(),
            launches: BTreeSet::new(),
            sites: BTreeMap::new(),
            switches: false,
            flaws: Vec::new(),
        };
        inspector.buffers();
        inspector.parameters();
        inspector.body();
        inspector.results();
        inspector.arena();
        if inspector.flaws.is_empty() { Ok(()) } else { Err(inspector.flaws) }
    }
}

impl fmt::Display for Rows {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rows::Nodes => formatter.write_str("nodes"),
            Rows::Edges => formatter.write_str("edges"),
            Rows::EdgesTwice => formatter.write_str("2 edges"),
            Rows::Graphs(count) => write!(formatter, "{count} graphs"),
            Rows::Fixed(count) => write!(formatter, "{count}"),
        }
    }
}

/// The part of the list that a launch is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListPhase {
    Prepare,
    Forward,
    Loss,
    Backward,
    Update,
    Superstep,
    Finish,
}

impl ListPhase {
    fn name(self) -> &'static str {
        match self {
            ListPhase::Prepare => "prepare",
            ListPhase::Forward => "forward",
            ListPhase::Loss => "loss",
            ListPhase::Backward => "backward",
            ListPhase::Update => "update",
            ListPhase::Superstep => "superstep",
            ListPhase::Finish => "finish",
        }
    }
}

struct Inspector<'a> {
    list: &'a LaunchList,
    index: BTreeMap<&'a str, &'a Buffer>,
    /// Buffers written by a launch so far.
    written: BTreeSet<String>,
    /// Names of the launches so far.
    launches: BTreeSet<&'a str>,
    /// Probability of each dropout site so far.
    sites: BTreeMap<u32, f64>,
    /// Whether a launch distinguishes training from evaluation.
    switches: bool,
    flaws: Vec<Flaw>,
}

impl<'a> Inspector<'a> {
    fn flaw(
        &mut self,
        launch: &str,
        what: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) {
        let (launch, what) = (launch.to_owned(), what.into());
        self.flaws.push(Flaw { launch, what, expected: expected.into(), found: found.into() });
    }

    fn declared(&mut self, launch: &str, name: &str) -> Option<&'a Buffer> {
        let buffer = self.index.get(name).copied();
        if buffer.is_none() {
            self.flaw(launch, format!("buffer `{name}`"), "a declared buffer", "no such name");
        }
        buffer
    }

    fn buffers(&mut self) {
        let mut seen = BTreeSet::new();
        for buffer in &self.list.buffers {
            if !seen.insert(&buffer.name) {
                self.flaw("buffers", format!("name `{}`", buffer.name), "one declaration", "two");
            }
            let whole = matches!(buffer.element, Element::Whole(_))
                && matches!(buffer.role, Role::Given(_));
            let half = matches!(buffer.element, Element::Half(_)) && buffer.role == Role::Features;
            if buffer.element != Element::Real && buffer.role != Role::Value && !whole && !half {
                self.flaw(
                    "buffers",
                    format!("element of `{}`", buffer.name),
                    "real, since it is not a value",
                    element(buffer.element),
                );
            }
            if matches!(buffer.element, Element::Half(_))
                && !matches!(buffer.rows, Rows::Nodes | Rows::Edges | Rows::EdgesTwice)
            {
                self.flaw(
                    "buffers",
                    format!("element of `{}`", buffer.name),
                    "real, since its rows are not of vertices or edges",
                    "half",
                );
            }
            if buffer.element == Element::Whole(Type::Real) {
                self.flaw(
                    "buffers",
                    format!("element of `{}`", buffer.name),
                    "bool, int or id where it is whole",
                    "real",
                );
            }
        }
    }

    fn parameters(&mut self) {
        let list = self.list;
        let training = matches!(&list.body, Body::Train(train) if !train.update.is_empty());
        let mut seen = BTreeSet::new();
        for parameter in &list.parameters {
            let name = &parameter.name;
            if !seen.insert(name) {
                self.flaw("parameters", format!("name `{name}`"), "one parameter", "two");
            }
            let (rows, columns) = fixed(&parameter.shape);
            let mut wanted = vec![(parameter_buffer(name), Role::Parameter)];
            if training && parameter.learned {
                wanted.push((gradient_buffer(name), Role::Gradient));
            }
            for (buffer, role) in wanted {
                self.role("parameters", &buffer, &role);
                self.shape("parameters", &buffer, Rows::Fixed(rows), columns, Element::Real);
            }
        }
        for buffer in list.buffers.iter().filter(|buffer| buffer.role == Role::Parameter) {
            if !list
                .parameters
                .iter()
                .any(|parameter| parameter_buffer(&parameter.name) == buffer.name)
            {
                self.flaw(
                    "parameters",
                    format!("buffer `{}`", buffer.name),
                    "a parameter of that name",
                    "none",
                );
            }
        }
    }

    fn body(&mut self) {
        match &self.list.body {
            Body::Train(train) => {
                self.phase(ListPhase::Prepare, &train.prepare);
                self.phase(ListPhase::Forward, &train.forward);
                self.phase(ListPhase::Loss, std::slice::from_ref(&train.loss));
                self.phase(ListPhase::Backward, &train.backward);
                self.phase(ListPhase::Update, &train.update);
                let differs =
                    !self.sites.is_empty() || self.switches || !train.statistics.is_empty();
                if train.draws != differs {
                    let found = format!("{} with {} dropout sites", train.draws, self.sites.len());
                    self.flaw(
                        "draws",
                        "whether a launch draws dropout",
                        (!train.draws).to_string(),
                        found,
                    );
                }
                self.statistics(&train.statistics);
                if !train.update.is_empty() {
                    self.updates(&train.update);
                }
            }
            Body::Iterate(iterate) => {
                for repeated in &iterate.loops {
                    self.phase(ListPhase::Prepare, &repeated.prepare);
                    let prepared = self.written.clone();
                    self.phase(ListPhase::Superstep, &repeated.superstep);
                    self.commits(repeated, &prepared);
                    self.until(repeated);
                    self.course(repeated);
                }
                self.phase(ListPhase::Finish, &iterate.finish);
                // Learned parameters can be used once (inference); loops have none.
                if !self.list.parameters.is_empty() && !iterate.loops.is_empty() {
                    self.flaw(
                        "parameters",
                        "learned tensors of a list with loops",
                        "none",
                        self.list.parameters.len().to_string(),
                    );
                }
            }
        }
    }

    fn updates(&mut self, update: &[Launch]) {
        for parameter in self.list.parameters.iter().filter(|parameter| parameter.learned) {
            let wanted = Operation::Optimize { parameter: parameter.name.clone() };
            let count = update.iter().filter(|launch| launch.operation == wanted).count();
            if count != 1 {
                let what = format!("updates of `{}`", parameter.name);
                self.flaw("parameters", what, "one in each epoch", count.to_string());
            }
        }
    }

    fn commits(&mut self, iterate: &Loop, prepared: &BTreeSet<String>) {
        let mut used = BTreeSet::new();
        for commit in &iterate.commit {
            let (state, next) = (&commit.state, &commit.next);
            for name in [state, next] {
                if !used.insert(name) {
                    self.flaw("commit", format!("buffer `{name}`"), "one commit", "two");
                }
            }
            if let (Some(_), Some(first)) =
                (self.declared("commit", next), self.declared("commit", state))
            {
                self.shape("commit", next, first.rows, first.columns, first.element);
            }
            if !prepared.contains(state) {
                self.flaw(
                    "commit",
                    format!("first value of `{state}`"),
                    "written in prepare",
                    "never written",
                );
            }
            let writes = |name: &str| {
                iterate
                    .superstep
                    .iter()
                    .any(|launch| launch.operation.writes().iter().any(|w| w == name))
            };
            if !writes(next) {
                self.flaw(
                    "commit",
                    format!("next value `{next}`"),
                    "written in the superstep",
                    "never written",
                );
            }
            if writes(state) {
                self.flaw(
                    "commit",
                    format!("state `{state}`"),
                    "not written in the superstep",
                    "written",
                );
            }
        }
        if iterate.commit.is_empty() {
            self.flaw("commit", "pairs", "at least one", "none");
        }
    }

    fn until(&mut self, repeated: &Loop) {
        let states: &[String] =
            match &repeated.until {
                StopCondition::ChangeAtMost(state, _) => std::slice::from_ref(state),
                StopCondition::Unchanged(states) => states,
                StopCondition::Nowhere(buffer) => {
                    let Some(held) = self.declared("until", buffer) else { return };
                    if held.element != Element::Whole(Type::Bool) {
                        self.flaw(
                            "until",
                            format!("element of `{buffer}`"),
                            "bool",
                            element(held.element),
                        );
                    }
                    if !repeated.superstep.iter().any(|launch| {
                        launch.operation.writes().iter().any(|written| written == buffer)
                    }) {
                        self.flaw(
                            "until",
                            format!("buffer `{buffer}`"),
                            "written in the superstep",
                            "never written",
                        );
                    }
                    return;
                }
            };
        for state in states {
            if !repeated.commit.iter().any(|commit| commit.state == *state) {
                self.flaw(
                    "until",
                    format!("buffer `{state}`"),
                    "a state that is committed",
                    "none of them",
                );
            }
        }
        if states.is_empty() {
            self.flaw("until", "states that must not change", "at least one", "none");
        }
    }

    /// Proves a shortcut algorithm or a frontier again.
    fn course(&mut self, repeated: &Loop) {
        let proved = super::course(self.list, repeated);
        if let Some(course) =
            repeated.course.as_ref().filter(|course| proved.as_ref() != Some(course))
        {
            let expected = proved.map_or("none".to_owned(), |course| format!("{course:?}"));
            self.flaw(
                "course",
                format!("way to the end of `{}`", course.state()),
                expected,
                format!("{course:?}"),
            );
        }
        let Some(planned) = repeated.frontier else { return };
        let found = Some(planned.direction);
        if found != super::frontier(self.list, repeated) {
            self.flaw(
                "frontier",
                "edges along which changes are read",
                "what the superstep reads",
                format!("{found:?}"),
            );
        }
        if planned.changed_part == 0 || planned.readers_part == 0 {
            self.flaw("frontier", "parts of rows and edges", "one in 1 or more", "one in 0");
        }
    }

    fn statistics(&mut self, statistics: &[Commit]) {
        for Commit { state, next } in statistics {
            let (Some(kept), Some(made)) =
                (self.declared("statistics", state), self.declared("statistics", next))
            else {
                continue;
            };
            self.role("statistics", state, &Role::Parameter);
            if (kept.element, fixed_elements(kept)) != (made.element, fixed_elements(made)) {
                self.flaw(
                    "statistics",
                    format!("shape of `{next}`"),
                    format!("{} x {}", kept.rows, kept.columns),
                    format!("{} x {}", made.rows, made.columns),
                );
            }
            if self
                .list
                .parameters
                .iter()
                .any(|parameter| parameter.learned && parameter_buffer(&parameter.name) == *state)
            {
                self.flaw(
                    "statistics",
                    format!("buffer `{state}`"),
                    "one that the optimiser does not update",
                    "a learned tensor",
                );
            }
            if !self.written.contains(next) {
                self.flaw(
                    "statistics",
                    format!("buffer `{next}`"),
                    "written by a launch",
                    "never written",
                );
            }
        }
    }

    fn results(&mut self) {
        let mut rows_of_table = None;
        for result in &self.list.results {
            let Some(buffer) = self.declared("results", &result.buffer) else { continue };
            if matches!(buffer.element, Element::Half(_)) {
                self.flaw("results", format!("element of `{}`", buffer.name), "real", "half");
            }
            if !self.written.contains(&buffer.name) {
                self.flaw(
                    "results",
                    format!("buffer `{}`", buffer.name),
                    "written by a launch",
                    "never written",
                );
            }
            let fits = match result.edges {
                None => {
                    matches!(buffer.rows, Rows::Nodes | Rows::Graphs(_))
                        && *rows_of_table.get_or_insert(buffer.rows) == buffer.rows
                }
                Some(edges) => buffer.rows.place().edge_rows() == Some(edges.rows()),
            };
            if !fits {
                let expected = match rows_of_table {
                    _ if result.edges.is_some() => "those of its edges".to_owned(),
                    Some(rows) if rows != buffer.rows => format!("{rows}, as the first"),
                    _ => "nodes or graphs".to_owned(),
                };
                self.flaw(
                    "results",
                    format!("rows of `{}`", buffer.name),
                    expected,
                    buffer.rows.to_string(),
                );
            }
        }
        if self.list.results.is_empty() {
            self.flaw("results", "columns", "at least one", "none");
        }
    }

    fn arena(&mut self) {
        for (what, expected, found) in self.list.arena_flaws() {
            self.flaw("arena", what, expected, found);
        }
    }

    fn phase(&mut self, phase: ListPhase, launches: &'a [Launch]) {
        for launch in launches {
            if !self.launches.insert(&launch.name) {
                self.flaw(&launch.name, "name", "used once", "used again");
            }
            if launch.schedule == Schedule::RowBlocks(0) {
                self.flaw(&launch.name, "rows of a block", "at least 1", "0");
            }
            let home = match launch.operation {
                Operation::Loss { .. } => phase == ListPhase::Loss,
                Operation::Optimize { .. } => phase == ListPhase::Update,
                _ => !matches!(phase, ListPhase::Loss | ListPhase::Update),
            };
            if !home {
                let expected = "a loss in `loss`, optimisers in `update`, all else elsewhere";
                self.flaw(&launch.name, "part of the list", expected, phase.name());
            }
            self.accesses(phase, launch);
            self.operation(launch);
            self.dropouts(phase, launch);
        }
    }

    /// Only fused walks write and read 16-bit floats.
    fn half(&mut self, launch: &Launch, buffer: &Buffer) {
        if matches!(buffer.element, Element::Half(_))
            && !matches!(launch.operation, Operation::Fused { .. })
        {
            self.flaw(
                &launch.name,
                format!("element of `{}`", buffer.name),
                "real, out of a fused walk",
                "half",
            );
        }
    }

    /// Checks names, roles and the order of reads and writes.
    fn accesses(&mut self, phase: ListPhase, launch: &Launch) {
        let operation = &launch.operation;
        let writes = operation.writes();
        for name in operation.reads() {
            let Some(buffer) = self.declared(&launch.name, &name) else { continue };
            self.half(launch, buffer);
            if writes.contains(&name) {
                self.flaw(
                    &launch.name,
                    format!("reads `{name}`"),
                    "a buffer that it does not write",
                    "its own result",
                );
                continue;
            }
            let given = matches!(
                buffer.role,
                Role::Features
                    | Role::SparseFeatures
                    | Role::SparseFeaturesOf { .. }
                    | Role::Target
                    | Role::Given(_)
                    | Role::Parameter
            );
            if !given && !self.written.contains(&*name) {
                self.flaw(
                    &launch.name,
                    format!("reads `{name}`"),
                    "written by an earlier launch",
                    "nothing there yet",
                );
            }
            if buffer.role == Role::Parameter && phase == ListPhase::Prepare {
                self.flaw(
                    &launch.name,
                    format!("reads `{name}`"),
                    "nothing that learns, in prepare",
                    "a parameter",
                );
            }
            if buffer.role.is_sparse() && !takes_sparse(operation, &name) {
                self.flaw(&launch.name, format!("reads `{name}`"), "dense rows", "sparse features");
            }
        }
        for name in writes {
            let Some(buffer) = self.declared(&launch.name, &name) else { continue };
            self.half(launch, buffer);
            let learns =
                matches!(operation, Operation::Optimize { .. }) && buffer.role == Role::Parameter;
            if !learns && !matches!(buffer.role, Role::Value | Role::Gradient) {
                let found = format!("{:?}, which is read only", buffer.role);
                self.flaw(&launch.name, format!("writes `{name}`"), "a value or a gradient", found);
            }
            self.written.insert(name.into_owned());
        }
    }

    /// Checks shapes and elements of the operands.
    fn operation(&mut self, launch: &Launch) {
        let name = &launch.name;
        if let Operation::Optimize { parameter } = &launch.operation
            && !self.list.parameters.iter().any(|known| known.name == *parameter)
        {
            self.flaw(
                name,
                format!("parameter `{parameter}`"),
                "a parameter of the list",
                "no such name",
            );
        }
        // Undeclared names are reported by `accesses`; such a launch cannot be checked further.
        let (reads, writes) = (launch.operation.reads(), launch.operation.writes());
        if !reads.iter().chain(&writes).all(|name| self.index.contains_key(&**name)) {
            return;
        }
        let buffer = |inspector: &Self, name: &str| inspector.index[name];
        match &launch.operation {
            Operation::SparseProduct { out, left, right, .. } => {
                let (made, across) = (buffer(self, out), buffer(self, left));
                self.shape(name, left, made.rows, across.columns, Element::Real);
                self.shape(name, right, Rows::Fixed(made.columns), across.columns, Element::Real);
                self.sparse(name, left);
                self.role(name, right, &Role::Parameter);
            }
            Operation::SparseProductOverRows { out, left, right, .. } => {
                let (first, second) = (buffer(self, left), buffer(self, right));
                self.shape(name, left, first.rows, first.columns, Element::Real);
                self.shape(name, right, first.rows, second.columns, Element::Real);
                self.shape(name, out, Rows::Fixed(first.columns), second.columns, Element::Real);
                self.sparse(name, right);
            }
            Operation::Loss { .. } => self.loss(launch),
            Operation::Evaluate { .. } | Operation::Fused { .. } => {
                self.switches |=
                    launch.operation.steps().iter().any(|step| {
                        matches!(step, Operation::Evaluate { op: Op::WhenTraining, .. })
                    });
                let found = operand_shapes::check(&self.index, &launch.operation)
                    .and_then(|()| single_walk_rules::check(&self.index, &launch.operation));
                if let Err((what, expected, found)) = found {
                    self.flaw(name, what, expected, found);
                }
            }
            Operation::Optimize { .. } => {}
        }
    }

    fn loss(&mut self, launch: &Launch) {
        let Operation::Loss { kind, result, target, gradient, value } = &launch.operation else {
            return;
        };
        let (name, scores) = (&launch.name, self.index[result.as_str()]);
        let (rows, columns) = (scores.rows, scores.columns);
        if !matches!(rows, Rows::Nodes | Rows::Graphs(_)) {
            self.flaw(name, format!("rows of `{result}`"), "nodes or graphs", rows.to_string());
        }
        let target_columns = match kind {
            warploom_ir::Loss::CrossEntropy => 1,
            warploom_ir::Loss::MeanSquares | super::Loss::Binary => columns,
        };
        self.shape(name, result, rows, columns, Element::Real);
        self.shape(name, target, rows, target_columns, Element::Real);
        self.shape(name, gradient, rows, columns, Element::Real);
        self.shape(name, value, Rows::Fixed(1), 1, Element::Real);
        self.role(name, target, &Role::Target);
    }

    fn dropouts(&mut self, phase: ListPhase, launch: &Launch) {
        let mut draws: Vec<Dropout> = Vec::new();
        for step in launch.operation.steps() {
            match step {
                Operation::SparseProduct { dropout, .. }
                | Operation::SparseProductOverRows { dropout, .. } => draws.extend(*dropout),
                Operation::Evaluate { op: Op::Dropout { probability, site }, .. } => {
                    draws.push(Dropout { probability: *probability, site: *site })
                }
                _ => {}
            }
        }
        for Dropout { probability, site } in draws {
            if !(0.0..1.0).contains(&probability) {
                self.flaw(
                    &launch.name,
                    format!("probability of dropout {site}"),
                    "in [0, 1)",
                    probability.to_string(),
                );
            }
            let first = *self.sites.entry(site).or_insert(probability);
            if first.to_bits() != probability.to_bits() {
                let what = format!("probability of dropout {site}");
                self.flaw(
                    &launch.name,
                    what,
                    format!("{first}, as before"),
                    probability.to_string(),
                );
            }
            if !matches!(phase, ListPhase::Forward | ListPhase::Backward) {
                self.flaw(
                    &launch.name,
                    format!("place of dropout {site}"),
                    "forward or backward",
                    phase.name(),
                );
            }
        }
    }

    /// Checks a declared buffer's shape and element against its use.
    fn shape(&mut self, launch: &str, name: &str, rows: Rows, columns: u64, wanted: Element) {
        let Some(buffer) = self.index.get(name).copied() else { return };
        if (buffer.rows, buffer.columns) != (rows, columns) {
            let found = format!("{} x {}", buffer.rows, buffer.columns);
            self.flaw(launch, format!("shape of `{name}`"), format!("{rows} x {columns}"), found);
        }
        if buffer.element != wanted {
            self.flaw(
                launch,
                format!("element of `{name}`"),
                element(wanted),
                element(buffer.element),
            );
        }
    }

    fn sparse(&mut self, launch: &str, name: &str) {
        if self.index.get(name).is_none_or(|buffer| !buffer.role.is_sparse()) {
            self.role(launch, name, &Role::SparseFeatures);
        }
    }

    fn role(&mut self, launch: &str, name: &str, role: &Role) {
        match self.index.get(name) {
            Some(buffer) if buffer.role == *role => {}
            Some(buffer) => {
                let found = format!("{:?}", buffer.role);
                self.flaw(launch, format!("role of `{name}`"), format!("{role:?}"), found);
            }
            None if launch == "parameters" => {
                self.flaw(launch, format!("buffer `{name}`"), "a declared buffer", "no such name");
            }
            None => {}
        }
    }
}

fn takes_sparse(operation: &Operation, name: &str) -> bool {
    match operation {
        Operation::SparseProduct { left, .. } => left == name,
        Operation::SparseProductOverRows { right, .. } => right == name,
        Operation::Evaluate { op, .. } => {
            matches!(
                op,
                Op::Input(warploom_ir::Input::Features | warploom_ir::Input::FeaturesOf(_))
            )
        }
        _ => false,
    }
}

fn element(element: Element) -> &'static str {
    match element {
        Element::Real => "real",
        Element::Half(_) => "half",
        Element::Whole(Type::Bool) => "bool",
        Element::Whole(Type::Int) => "int",
        Element::Whole(Type::Id | Type::Real) => "whole id",
    }
}

fn fixed_elements(buffer: &Buffer) -> Option<u64> {
    if let Rows::Fixed(rows) = buffer.rows {
        Some(rows.saturating_mul(buffer.columns))
    } else {
        None
    }
}
