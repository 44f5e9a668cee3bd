//! render: prints a launch list for people: one launch per line.
//!
//! promises  every buffer, launch, result and reason is printed, and the arena's contents at its
//!           peak; equal lists give equal text; a fused launch of several steps has a line for each
//! never     is parsed: the JSON is for machines
use std::fmt::Write;

use warploom_ir::{Direction, Half, Loss, Type};

use super::{
    Body, Buffer, Dropout, Element, FrontierPlan, Launch, LaunchList, Loop, Operand, Operation,
    Over, Role, Schedule, StopCondition, View, gradient_buffer, parameter_buffer,
};

impl LaunchList {
    /// A readable listing: buffers, then each part of the body with one launch a line, then results
    /// and reasons.
    pub fn render(&self) -> String {
        let mut text = String::new();
        let kind = match &self.body {
            Body::Train(train) if train.update.is_empty() => "predict",
            Body::Train(_) => "train",
            Body::Iterate(_) => "iterate",
        };
        line(&mut text, format_args!("program {}: {kind}", self.program));
        self.render_buffers(&mut text);
        match &self.body {
            Body::Train(train) => {
                self.render_part(&mut text, "prepare, once", &train.prepare);
                self.render_part(&mut text, "forward, each epoch", &train.forward);
                self.render_part(&mut text, "loss", std::slice::from_ref(&train.loss));
                self.render_part(&mut text, "backward", &train.backward);
                self.render_part(&mut text, "update", &train.update);
                for commit in &train.statistics {
                    line(
                        &mut text,
                        format_args!("  after training  {} = {}", commit.state, commit.next),
                    );
                }
            }
            Body::Iterate(iterate) => {
                for repeated in &iterate.loops {
                    self.render_loop(&mut text, repeated);
                }
                self.render_part(&mut text, "finish, once", &iterate.finish);
            }
        }
        line(&mut text, format_args!("results"));
        for result in &self.results {
            line(&mut text, format_args!("  {} = {}", result.name, result.buffer));
        }
        self.render_arena(&mut text);
        if !self.reasons.is_empty() {
            line(&mut text, format_args!("reasons"));
        }
        for reason in &self.reasons {
            line(&mut text, format_args!("  {}: {}; {}", reason.what, reason.chosen, reason.why));
            for (name, bytes) in &reason.alternatives {
                line(&mut text, format_args!("    {name}: {bytes} bytes"));
            }
        }
        text
    }

    fn render_loop(&self, text: &mut String, repeated: &Loop) {
        self.render_part(text, "prepare, once", &repeated.prepare);
        self.render_part(text, "superstep", &repeated.superstep);
        for commit in &repeated.commit {
            line(text, format_args!("  commit  {} <-> {}", commit.state, commit.next));
        }
        // A single state needs no name.
        let only = repeated.commit.len() == 1;
        match &repeated.until {
            StopCondition::ChangeAtMost(_, bound) if only => {
                line(text, format_args!("  until   the summed change is <= {bound:?}"))
            }
            StopCondition::ChangeAtMost(state, bound) => {
                line(text, format_args!("  until   the summed change of {state} is <= {bound:?}"))
            }
            StopCondition::Unchanged(_) if only => {
                line(text, format_args!("  until   no value changes"))
            }
            StopCondition::Unchanged(states) => {
                line(text, format_args!("  until   no value of {} changes", states.join(", ")))
            }
            StopCondition::Nowhere(buffer) => {
                line(text, format_args!("  until   {buffer} holds nowhere"))
            }
        }
        if let Some(course) = &repeated.course {
            line(text, format_args!("  course  {} of {}", course.name(), course.state()));
        }
        if let Some(FrontierPlan { direction, changed_part, readers_part }) = repeated.frontier {
            line(
                text,
                format_args!(
                    "  rows    those that changed, or read a change along {}; all where more \
                     than 1 in {changed_part} changed or 1 in {readers_part} is read",
                    edges(direction)
                ),
            );
        }
    }

    fn render_buffers(&self, text: &mut String) {
        line(text, format_args!("buffers"));
        let width = self.buffers.iter().map(|buffer| buffer.name.len()).max().unwrap_or(0);
        for buffer in &self.buffers {
            let element = match buffer.element {
                Element::Real => "real",
                Element::Half(Half::Bf16) => "bf16",
                Element::Half(Half::F16) => "f16",
                Element::Whole(kind) => match kind {
                    Type::Bool => "bool",
                    Type::Int => "int",
                    Type::Id | Type::Real => "id",
                },
            };
            let role = match buffer.role {
                Role::Features => "features",
                Role::SparseFeatures | Role::SparseFeaturesOf { .. } => "sparse features",
                Role::Target => "target",
                Role::Given(_) => "given",
                Role::Parameter => "parameter",
                Role::Gradient => "gradient",
                Role::Value => "value",
            };
            let shape = format!("{} x {}", buffer.rows, buffer.columns);
            line(text, format_args!("  {:width$}  {shape:14}  {element:4}  {role}", buffer.name));
        }
    }

    /// The size of the arena, and its contents at the peak.
    fn render_arena(&self, text: &mut String) {
        let Some(peak) = self.peak() else { return };
        line(
            text,
            format_args!(
                "values of launches: {} bytes; most is wanted during {}: {} bytes",
                self.arena.bytes, peak.launch, peak.bytes
            ),
        );
        for (name, bytes) in peak.buffers.iter().filter(|(_, bytes)| *bytes > 0) {
            line(text, format_args!("  {name}: {bytes} bytes"));
        }
    }

    fn render_part(&self, text: &mut String, name: &str, launches: &[Launch]) {
        if launches.is_empty() {
            return;
        }
        line(text, format_args!("{name}"));
        let width = self.launches().iter().map(|launch| launch.name.len()).max().unwrap_or(0);
        let index = self.index();
        for launch in launches {
            let outs: Vec<String> = launch
                .operation
                .writes()
                .iter()
                .map(|out| match index.get(&**out) {
                    Some(buffer) => format!("{out}[{} x {}]", buffer.rows, buffer.columns),
                    None => format!("{out}[undeclared]"),
                })
                .collect();
            let (words, bytes, schedule) =
                (equation(&launch.operation), launch.bytes, schedule(launch.schedule));
            let out = outs.join(", ");
            line(
                text,
                format_args!(
                    "  {:width$}  {out} = {words}  | {bytes} bytes, {schedule}",
                    launch.name
                ),
            );
            if let Operation::Fused { locals, steps, .. } = &launch.operation
                && steps.len() > 1
            {
                steps
                    .iter()
                    .for_each(|step| line(text, format_args!("    {}", step_words(step, locals))));
            }
        }
    }
}

impl super::Operation {
    /// The operation, one line per step, as in a printed list.
    pub fn described(&self) -> String {
        match self {
            super::Operation::Fused { locals, steps, .. } => {
                steps.iter().map(|step| step_words(step, locals)).collect::<Vec<_>>().join("\n")
            }
            other => {
                let out: Vec<_> =
                    other.writes().into_iter().map(std::borrow::Cow::into_owned).collect();
                format!("{} = {}", out.join(", "), equation(other))
            }
        }
    }

    /// The kind of operation.
    pub fn describe(&self) -> String {
        equation(self)
    }
}

/// Appends a line without trailing white space.
fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(arguments);
    text.truncate(text.trim_end_matches(' ').len());
    text.push('\n');
}

fn schedule(schedule: Schedule) -> String {
    match schedule {
        Schedule::PartitionRows => "rows of the partition".to_owned(),
        Schedule::RowBlocks(rows) => format!("blocks of {rows} rows"),
        Schedule::Whole => "one unit".to_owned(),
    }
}

/// A step of a fused launch; local values are printed with their shape.
fn step_words(step: &Operation, locals: &[Buffer]) -> String {
    let writes = step.writes();
    let out = writes.first().map_or("", |out| out);
    match locals.iter().find(|local| local.name == *out) {
        Some(local) => format!("{out} ({} x {}) = {}", local.rows, local.columns, equation(step)),
        None => format!("{out} = {}", equation(step)),
    }
}

/// The edges of a direction, from the vertex that is read.
fn edges(direction: Direction) -> &'static str {
    match direction {
        Direction::In => "u -> v",
        Direction::Out => "v -> u",
        Direction::Both => "u -> v and v -> u",
    }
}

/// The operation as the right side of an equation.
fn equation(operation: &Operation) -> String {
    match operation {
        Operation::SparseProduct { left, right, dropout, .. } => {
            format!("{} @ {right}^T", sparse(left, *dropout))
        }
        Operation::SparseProductOverRows { left, right, dropout, .. } => {
            format!("{left}^T @ {}", sparse(right, *dropout))
        }
        Operation::Evaluate { op, inputs, .. } => {
            let inputs: Vec<String> = inputs.iter().map(operand).collect();
            format!("{}({})", op.describe(), inputs.join(", "))
        }
        Operation::Fused { over, steps, .. } => {
            let walked = match over {
                Over::Vertices => "vertices".to_owned(),
                Over::EdgesOf(direction) => format!(
                    "vertices and their edges {}",
                    warploom_ir::EdgeSet { direction: *direction, relation: None }
                ),
                Over::Edges(rows) => rows.to_string(),
            };
            match steps.as_slice() {
                [step] => format!("{} over {walked}", equation(step)),
                steps => format!("{} steps over {walked}", steps.len()),
            }
        }
        Operation::Loss { kind, result, target, .. } => {
            let kind = match kind {
                Loss::CrossEntropy => "cross_entropy",
                Loss::MeanSquares => "mean_squares",
                Loss::Binary => "binary",
            };
            format!("gradient and value of {kind}({result}, {target})")
        }
        Operation::Optimize { parameter } => {
            format!("step({}, {})", parameter_buffer(parameter), gradient_buffer(parameter))
        }
    }
}

fn operand(operand: &Operand) -> String {
    match operand {
        Operand::Number(number) => number.to_string(),
        Operand::Rows(rows) => match rows.view {
            View::Own => rows.buffer.clone(),
            View::Far(edges) => format!("{}[far.{edges}]", rows.buffer),
            View::Near(edges) => format!("{}[near.{edges}]", rows.buffer),
        },
        Operand::Times(first, second) => {
            format!("{} * {}", self::operand(first), self::operand(second))
        }
    }
}

fn sparse(name: &str, dropout: Option<Dropout>) -> String {
    match dropout {
        Some(Dropout { probability, site }) => {
            format!("dropout(sparse {name}, {probability}, site {site})")
        }
        None => format!("sparse {name}"),
    }
}
