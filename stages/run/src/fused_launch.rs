//! fused_launch: a fused launch whose names have become numbers.
//!
//! promises  what a walk makes itself is read from its steps, all else from buffers, each of which
//!           stands once among those that are read
use warploom_contract::StageError;
use warploom_ops::evaluate::Index;
use warploom_ops::frontier::Run;
use warploom_ops::fused_walk::{
    From, Input, Kernel, Level, Read, Step, Stored, StoredMut, Work, fused,
};
use warploom_vertex::launch::{
    Buffer, BufferName, Direction, Half, Operand, Operation, Over, Rows, View, is_total,
};

use crate::{
    buffers::{Buffers, Made},
    executor::Walk,
    precision::Precision,
    resolved_program::{Names, Place},
};

/// A fused launch.
#[derive(Debug)]
pub struct Fused<T> {
    kernel: Kernel<T>,
    reads: Vec<Place>,
    /// Rows of the walk, then totals.
    writes: Vec<Place>,
    rows_written: usize,
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
        let Operation::Fused { over, locals, steps } = operation else {
            return Err(StageError::defect("a launch that is not fused was taken for one"));
        };
        let mut resolving = Resolving { names, locals, made: Vec::new(), reads: Vec::new() };
        let (mut resolved, mut writes, mut totals) = (Vec::new(), Vec::new(), Vec::new());
        for step in steps {
            let Operation::Evaluate { out, shape, op, inputs } = step else {
                return Err(StageError::defect("a step of a fused launch is not evaluated"));
            };
            let held = resolving.buffer(out);
            let inputs = inputs.iter().map(|input| resolving.input(input, held.rows)).collect();
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
        Ok(Fused {
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

impl<'n, 'a> Resolving<'n, 'a>
where
    'a: 'n,
{
    fn buffer(&self, name: &str) -> &'n Buffer {
        self.locals
            .iter()
            .find(|local| local.name == name)
            .unwrap_or_else(|| self.names.buffer(name))
    }

    fn input(&mut self, operand: &Operand, out: Rows) -> Input {
        match operand {
            Operand::Number(number) => Input::Number(*number),
            Operand::Times(first, second) => {
                Input::Times(Box::new(self.input(first, out)), Box::new(self.input(second, out)))
            }
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
                Input::Rows(Read {
                    from,
                    shape: rows.shape.clone(),
                    index,
                    kind: held.element.kind(),
                })
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

impl<T: Precision> Walk<'_, T> {
    /// Runs a fused launch.
    pub fn fused(&self, buffers: &mut Buffers<T>, work: &Fused<T>, only: Option<&[Run]>) {
        buffers.write_all(&work.writes, only.is_none(), |made, banks| {
            let values = |place: &Place| match place {
                Place::Real(index) => Stored::Real(banks.reals.get(*index)),
                Place::Half(index, Half::Bf16) => {
                    Stored::Bf16(bytemuck::cast_slice(banks.halves.get(*index)))
                }
                Place::Half(index, Half::F16) => {
                    Stored::F16(bytemuck::cast_slice(banks.halves.get(*index)))
                }
                Place::Whole(index) => Stored::Whole(banks.wholes.get(*index)),
                Place::Id(_) | Place::Sparse(_) => {
                    unreachable!("a validated list evaluates reals and whole numbers")
                }
            };
            let reads: Vec<Stored<T>> = work.reads.iter().map(values).collect();
            let mut made = made.into_iter().map(|made| match made {
                Made::Real(elements) => StoredMut::Real(elements),
                Made::Half(elements, Half::Bf16) => {
                    StoredMut::Bf16(bytemuck::cast_slice_mut(elements))
                }
                Made::Half(elements, Half::F16) => {
                    StoredMut::F16(bytemuck::cast_slice_mut(elements))
                }
                Made::Whole(elements) => StoredMut::Whole(elements),
                Made::Id(_) => {
                    unreachable!("a validated list evaluates into reals and whole numbers")
                }
            });
            let outputs = made.by_ref().take(work.rows_written).collect();
            let totals = made.map(|total| match total {
                StoredMut::Real(elements) => elements,
                StoredMut::Bf16(_) | StoredMut::F16(_) | StoredMut::Whole(_) => {
                    unreachable!("a validated list totals reals")
                }
            });
            let unit_starts = match work.over {
                Over::EdgesOf(Direction::In) => &self.data.lists.incoming_units,
                Over::EdgesOf(Direction::Out) => &self.data.lists.outgoing_units,
                Over::EdgesOf(Direction::Both) => &self.data.lists.both_units,
                Over::Vertices | Over::Edges(_) => &Vec::new(),
            };
            let context = self.context(Rows::Nodes);
            fused(
                &work.kernel,
                outputs,
                totals.collect(),
                &Work { reads: &reads, graph: self.data.edge_graph(), unit_starts, context, only },
            );
        });
    }
}
