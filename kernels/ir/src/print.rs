//! print: prints a program, one value per line: `%7  D real [16] = multiply %3 %6   # h, 4:11`.
//!
//! promises  equal programs print equal; with the program's text, each value has the line and
//!           column that it comes from
use std::fmt::Write;

use super::{Gir, Input, Node, NodeId, Op, Span, StopTest};

impl Gir {
    /// Prints all values in order, then the results. `text` is the program, for line and column.
    pub fn print(&self, text: Option<&str>) -> String {
        let mut page = String::new();
        let _ = writeln!(page, "program {}", self.program);
        for (index, parameter) in self.parameters.iter().enumerate() {
            let kept = if parameter.learned { "parameter" } else { "running" };
            let _ = writeln!(page, "{kept} {index} {} {:?}", parameter.name, parameter.shape);
        }
        for id in self.ids() {
            let _ = writeln!(page, "{}", self.line(id, text));
        }
        for (number, repeated) in self.loops.iter().enumerate() {
            for (position, state) in repeated.states.iter().enumerate() {
                let _ = writeln!(
                    page,
                    "loop {number} state {position} {}: {} -> {} -> {}",
                    state.name,
                    shown(state.first),
                    shown(state.inside),
                    shown(state.next)
                );
            }
            let until = match &repeated.until {
                StopTest::Unchanged(states) => format!("nothing changes in states {states:?}"),
                StopTest::ChangeAtMost(state, bound) => {
                    format!("the summed change of state {state} is <= {bound:?}")
                }
                StopTest::Nowhere(node) => format!("{} holds nowhere", shown(*node)),
            };
            let _ = writeln!(page, "loop {number} until {until}");
        }
        for result in &self.results {
            let edges = result.edges.map(|edges| format!(" over {edges}")).unwrap_or_default();
            let _ = writeln!(page, "return {} = {}{edges}", result.name, shown(result.node));
        }
        if let Some(loss) = self.loss {
            let _ = writeln!(page, "loss {}", shown(loss));
        }
        for gradient in &self.gradients {
            let _ =
                writeln!(page, "gradient of {} = {}", self.leaf(gradient.of), shown(gradient.node));
        }
        for (parameter, node) in &self.updates {
            let _ =
                writeln!(page, "update {} = {}", self.parameters[*parameter].name, shown(*node));
        }
        page
    }

    fn line(&self, id: NodeId, text: Option<&str>) -> String {
        let node = self.node(id);
        let region = node.region.map(|region| format!("loop {region}: ")).unwrap_or_default();
        let shape: Vec<String> = node.shape.iter().map(u64::to_string).collect();
        let inputs: String =
            node.inputs.iter().map(|input| format!(" {}", shown(*input))).collect();
        let mut line = format!(
            "{region}{:<4} {} {} [{}] = {}{inputs}",
            shown(id),
            node.place,
            node.kind,
            shape.join(", "),
            self.operation(node)
        );
        let place = text
            .filter(|_| node.span != Span::default())
            .map(|text| line_and_column(text, node.span.start));
        let notes: Vec<String> = node
            .name
            .iter()
            .cloned()
            .chain(place.map(|(line, column)| format!("{line}:{column}")))
            .collect();
        if !notes.is_empty() {
            let _ = write!(line, "   # {}", notes.join(", "));
        }
        line
    }

    fn leaf(&self, id: NodeId) -> String {
        match &self.node(id).op {
            Op::Parameter(index) => self.parameters[*index].name.clone(),
            _ => self.operation(self.node(id)),
        }
    }

    /// The operation of a node, as printed.
    pub fn operation(&self, node: &Node) -> String {
        match &node.op {
            Op::Parameter(index) => format!(
                "parameter {}",
                self.parameters.get(*index).map_or("?", |parameter| parameter.name.as_str())
            ),
            op => op.describe(),
        }
    }
}

impl Op {
    /// The operation without its operands.
    pub fn describe(&self) -> String {
        let lower = |value: &dyn std::fmt::Debug| format!("{value:?}").to_lowercase();
        match self {
            Op::Constant(number) => number.to_string(),
            Op::Input(Input::Column(name)) => format!("column {name}"),
            Op::Input(Input::Chosen(setting)) => format!("chosen by {setting}"),
            Op::Input(Input::Degree(edges)) => format!("degree.{edges}"),
            Op::Input(Input::FeaturesOf(kind)) => format!("features of kind {kind}"),
            Op::Input(Input::PlaceAmong(kinds)) => format!("place among kinds {kinds:?}"),
            Op::Input(input) => format!("input {}", lower(input)),
            Op::Parameter(index) => format!("parameter {index}"),
            Op::State(position) => format!("state {position}"),
            Op::Ended(number, position) => format!("ended {number}.{position}"),
            Op::Unary(operator) => lower(operator),
            Op::Binary(operator) => lower(operator),
            Op::Cast(kind) => format!("cast {kind}"),
            Op::Dropout { probability, site } => format!("dropout {probability} site {site}"),
            Op::Far(edges) => format!("far.{edges}"),
            Op::Near(edges) => format!("near.{edges}"),
            Op::Reduce(reduction, edges) => format!("reduce {}.{edges}", lower(reduction)),
            Op::Winner(largest, edges) => {
                format!("winner {}.{edges}", if *largest { "maximum" } else { "minimum" })
            }
            Op::Others(edges) => format!("others.{edges}"),
            Op::Fold(function, edges) => format!("fold.{edges} {}", lower(function)),
            Op::Pool(pooling) => format!("pool {}", lower(pooling)),
            Op::Axis(pooling, axis) => format!("axis {} {axis}", lower(pooling)),
            Op::Concat(axis) => format!("concat {axis}"),
            Op::Slice { axis, start, length } => format!("slice {axis} {start}+{length}"),
            Op::Unslice { axis, start, total } => format!("unslice {axis} {start} of {total}"),
            Op::Product { transposed } => {
                (if *transposed { "product transposed" } else { "product" }).to_owned()
            }
            Op::Lookup { transposed } => {
                (if *transposed { "lookup transposed" } else { "lookup" }).to_owned()
            }
            Op::Scatter { transposed } => {
                (if *transposed { "scatter transposed" } else { "scatter" }).to_owned()
            }
            Op::Loss(loss) => format!("loss {}", lower(loss)),
            Op::LossSlope(loss) => format!("slope of loss {}", lower(loss)),
            Op::Select => "select".to_owned(),
            Op::Detach => "detach".to_owned(),
            Op::WhenTraining => "when training".to_owned(),
            Op::CommonNeighbors => "common neighbors".to_owned(),
            Op::CommonNeighborsSum(edges) => format!("sum of common neighbors.{edges}"),
            Op::Turn => "turn".to_owned(),
            Op::Give => "give".to_owned(),
            Op::SumRows => "sum rows".to_owned(),
            Op::Reshape => "reshape".to_owned(),
            Op::Expand => "expand".to_owned(),
            Op::Outer => "outer".to_owned(),
        }
    }
}

fn shown(id: NodeId) -> String {
    format!("%{}", id.0)
}

/// Line and column, both from 1, of a byte of a text; columns count characters.
pub fn line_and_column(text: &str, byte: u32) -> (usize, usize) {
    let before = text.get(..byte as usize).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (line, column)
}
