//! fused: a fused launch whose names have become numbers.
//!
//! promises  what a walk makes itself is read from its steps, all else from buffers, each of which stands once among those that are read
use warploom_contract::StageError;
use warploom_ops::evaluate::{Index, Values, ValuesMut};
use warploom_ops::fused::{From, Input, Kernel, Level, Read, Step, Work, fused};
use warploom_ops::random::dropout::Context;
use warploom_vertex::launch::{Buffer, BufferName, Direction, Operand, Operation, Over, Rows, View};

use crate::{
    buffers::Aligned,
    executor::Machine,
    precision::Precision,
    program::{Names, Place},
};

/// A fused launch.
#[derive(Debug)]
pub struct Fused<T> {
    kernel: Kernel<T>,
    reads: Vec<Place>,
    writes: Vec<Place>,
    over: Over,
}

/// Steps while they are resolved.
struct Resolving<'n, 'a> {
    names: &'n Names<'a>,
    locals: &'a [Buffer],
    /// Name of what each step makes.
    made: Vec<&'a BufferName>,
    reads: Vec<Place>,
}

impl<T: Precision> Fused<T> {
    /// Resolves a validated launch.
    pub fn resolve(names: &Names<'_>, operation: &Operation) -> Result<Self, StageError> {
        let Operation::Fused { over, locals, steps } = operation else { return Err(StageError::defect("a launch that is not fused was taken for one")) };
        let mut resolving = Resolving { names, locals, made: Vec::new(), reads: Vec::new() };
        let (mut resolved, mut writes) = (Vec::new(), Vec::new());
        for step in steps {
            let Operation::Evaluate { out, shape, op, inputs } = step else { return Err(StageError::defect("a step of a fused launch is not evaluated")) };
            let held = resolving.buffer(out);
            let inputs = inputs.iter().map(|input| resolving.input(input, held.rows)).collect();
            let store = (!locals.contains(held)).then(|| {
                writes.push(names.place(out));
                writes.len() - 1
            });
            let level = if held.rows == Rows::Nodes { Level::Row } else { Level::Edge };
            resolved.push(Step { op: op.clone(), shape: shape.clone(), kind: held.element.kind(), level, inputs, store });
            resolving.made.push(out);
        }
        Ok(Fused { kernel: Kernel::new(*over, &resolved), reads: resolving.reads, writes, over: *over })
    }
}

impl<'n, 'a> Resolving<'n, 'a>
where
    'a: 'n,
{
    fn buffer(&self, name: &str) -> &'n Buffer {
        self.locals.iter().find(|local| local.name == name).unwrap_or_else(|| self.names.buffer(name))
    }

    fn input(&mut self, operand: &Operand, out: Rows) -> Input {
        match operand {
            Operand::Number(number) => Input::Number(*number),
            Operand::Times(first, second) => Input::Times(Box::new(self.input(first, out)), Box::new(self.input(second, out))),
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
                    None => From::Buffer(self.read(self.names.place(&rows.buffer))),
                };
                Input::Rows(Read { from, shape: rows.shape.clone(), index, kind: held.element.kind() })
            }
        }
    }

    fn read(&mut self, place: Place) -> usize {
        self.reads.iter().position(|known| *known == place).unwrap_or_else(|| {
            self.reads.push(place);
            self.reads.len() - 1
        })
    }
}

/// An output while it is out of its bank.
enum Taken<T> {
    Real(usize, Aligned<T>),
    Whole(usize, Aligned<i64>),
}

impl<T: Precision> Machine<T> {
    /// Runs a fused launch.
    pub(crate) fn fused(&mut self, work: &Fused<T>, context: impl FnOnce(&Self) -> Context<'_>) {
        let mut taken: Vec<Taken<T>> = Vec::with_capacity(work.writes.len());
        for place in &work.writes {
            taken.push(match place {
                Place::Real(index) => Taken::Real(*index, self.reals.take(*index)),
                Place::Whole(index) => Taken::Whole(*index, self.wholes.take(*index)),
                Place::Id(_) | Place::Sparse(_) => unreachable!("a validated list evaluates into reals and whole numbers"),
            });
        }
        let values = |place: &Place| match place {
            Place::Real(index) => Values::Real(self.reals.get(*index)),
            Place::Whole(index) => Values::Whole(self.wholes.get(*index)),
            Place::Id(_) | Place::Sparse(_) => unreachable!("a validated list evaluates reals and whole numbers"),
        };
        let reads: Vec<Values<T>> = work.reads.iter().map(values).collect();
        let outputs = taken.iter_mut().map(|taken| match taken {
            Taken::Real(_, elements) => ValuesMut::Real(elements),
            Taken::Whole(_, elements) => ValuesMut::Whole(elements),
        });
        let unit_starts = match work.over {
            Over::EdgesOf(Direction::In) => &self.data.lists.incoming_units,
            Over::EdgesOf(Direction::Out) => &self.data.lists.outgoing_units,
            Over::EdgesOf(Direction::Both) => &self.data.lists.both_units,
            Over::Vertices | Over::Edges(_) => &Vec::new(),
        };
        fused(&work.kernel, outputs.collect(), &Work { reads: &reads, graph: self.data.edge_graph(), unit_starts, context: context(self) });
        for taken in taken {
            match taken {
                Taken::Real(index, elements) => self.reals.put(index, elements),
                Taken::Whole(index, elements) => self.wholes.put(index, elements),
            }
        }
    }
}
