//! fused_launch: a fused launch with names resolved to indices.
//!
//! promises  values computed in the walk are read from its steps, all others from buffers, each of
//!           which is listed once
use warploom_contract::StageError;
use warploom_cpu::evaluate::Index;
use warploom_cpu::fused_walk::{From, Input, Kernel, Level, Read, Step};
use warploom_launch::{Buffer, BufferName, Operand, Operation, Over, Rows, View, is_total};

use super::Names;
use crate::{buffers::Place, precision::Precision};

/// A fused launch.
#[derive(Debug)]
pub struct FusedLaunch<T> {
    /// What is computed.
    pub kernel: Kernel<T>,
    /// Buffers that are read.
    pub reads: Vec<Place>,
    /// Buffers that are written: rows of the walk, then totals.
    pub writes: Vec<Place>,
    /// How many of these are rows of the walk.
    pub rows_written: usize,
    /// What is walked.
    pub over: Over,
}

/// Resolves the steps of a launch.
struct StepResolver<'n, 'a> {
    names: &'n Names<'a>,
    locals: &'a [Buffer],
    /// The buffer that each step computes.
    made: Vec<&'a BufferName>,
    reads: Vec<Place>,
}

impl<T: Precision> FusedLaunch<T> {
    /// Resolves a validated launch.
    pub fn resolve(names: &Names<'_>, operation: &Operation) -> Result<Self, StageError> {
        let Operation::Fused { over, locals, steps } = operation else {
            return Err(StageError::defect("a launch that is not fused was taken for one"));
        };
        let mut resolving = StepResolver { names, locals, made: Vec::new(), reads: Vec::new() };
        let (mut resolved, mut writes, mut totals) = (Vec::new(), Vec::new(), Vec::new());
        for step in steps {
            let Operation::Evaluate { out, shape, op, inputs } = step else {
                return Err(StageError::defect("a step of a fused launch is not evaluated"));
            };
            let held = resolving.buffer(out);
            let inputs =
                inputs.iter().map(|input| resolving.resolve_input(input, held.rows)).collect();
            let level = match held.rows {
                Rows::Nodes => Level::Row,
                _ if is_total(op) => Level::Total,
                _ => Level::Edge,
            };
            let store = (!locals.contains(held)).then(|| {
                let group: &mut Vec<Place> =
                    if level == Level::Total { &mut totals } else { &mut writes };
                group.push(names.place(out));
                group.len() - 1
            });
            resolved.push(Step {
                op: op.clone(),
                shape: shape.clone(),
                kind: held.element.kind(),
                level,
                inputs,
                store,
            });
            resolving.made.push(out);
        }
        let rows_written = writes.len();
        writes.extend(totals);
        Ok(FusedLaunch {
            kernel: Kernel::new(*over, &resolved),
            reads: resolving.reads,
            writes,
            rows_written,
            over: *over,
        })
    }

    /// Whether it walks the edges of vertices.
    pub fn walks_edges(&self) -> bool {
        matches!(self.over, Over::EdgesOf(_))
    }
}

impl<'n, 'a> StepResolver<'n, 'a>
where
    'a: 'n,
{
    fn buffer(&self, name: &str) -> &'n Buffer {
        self.locals
            .iter()
            .find(|local| local.name == name)
            .unwrap_or_else(|| self.names.buffer(name))
    }

    fn resolve_input(&mut self, operand: &Operand, out: Rows) -> Input {
        match operand {
            Operand::Number(number) => Input::Number(*number),
            Operand::Times(first, second) => Input::Times(
                Box::new(self.resolve_input(first, out)),
                Box::new(self.resolve_input(second, out)),
            ),
            Operand::Rows(rows) => {
                let held = self.buffer(&rows.buffer);
                let index = match (rows.view, held.rows, out) {
                    (View::Far(edges), ..) => Index::Far(edges),
                    (View::Near(edges), ..) => Index::Near(edges),
                    (View::Own, Rows::Fixed(_), _) => Index::One,
                    (View::Own, Rows::Graphs(_), Rows::Nodes) => Index::Graph,
                    _ => Index::Same,
                };
                let from = match self.made.iter().position(|made| **made == rows.buffer) {
                    Some(step) => From::Step(step),
                    None => From::Buffer(self.read_index(self.names.place(&rows.buffer))),
                };
                Input::Rows(Read {
                    from,
                    shape: rows.shape.clone(),
                    index,
                    kind: held.element.kind(),
                })
            }
        }
    }

    fn read_index(&mut self, place: Place) -> usize {
        self.reads.iter().position(|known| *known == place).unwrap_or_else(|| {
            self.reads.push(place);
            self.reads.len() - 1
        })
    }
}
