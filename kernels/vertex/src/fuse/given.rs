//! given: rows that stand in the data set are not written anew, times a number each, to be reduced over edges before the first epoch: edges see both.
//!
//! promises  the same products, made where they are reduced; only before the first epoch, where a product made once an edge costs less
//!           than rows that lie beside the data set's for a whole run. Where a weight of edges is among the factors, they are multiplied
//!           in another order
//! never     moves a launch, or makes a product where someone reads it as it is, or in another shape
use super::values::{Kind, NARROW, Values};
use crate::gir::{Binary, Op};
use crate::launch::{Body, BufferName, Element, Launch, LaunchList, Operand, Operation, Role, Rowed, Rows, View};

/// The list with such products where sums read them.
pub(super) fn as_they_stand(list: &LaunchList, values: &Values) -> LaunchList {
    let mut made = list.clone();
    let Body::Train(train) = &mut made.body else { return made };
    let all = list.launches();
    let products: Vec<(BufferName, [Rowed; 2])> = train.prepare.iter().filter_map(|launch| product(values, (&all, &train.prepare), launch)).collect();
    for (name, factors) in products {
        train.prepare.retain(|launch| launch.operation.writes().iter().all(|written| *written != name));
        for launch in &mut train.prepare {
            if let Operation::Evaluate { inputs, .. } = &mut launch.operation {
                *inputs = inputs.iter().map(|input| multiplied(input, &name, &factors)).collect();
            }
        }
    }
    made
}

/// A product that only reductions over edges read: its name, and what it is of.
fn product(values: &Values, (all, here): (&[&Launch], &[Launch]), launch: &Launch) -> Option<(BufferName, [Rowed; 2])> {
    let Operation::Evaluate { out, shape, op: Op::Binary(Binary::Multiply), inputs } = &launch.operation else { return None };
    let [Operand::Rows(first), Operand::Rows(second)] = inputs.as_slice() else { return None };
    if values.kind(&launch.operation) != Kind::Vertex || values.is_kept(out) || [first, second].iter().any(|rows| rows.view != View::Own) {
        return None;
    }
    let of_nodes = |rows: &Rowed| values.buffer(&rows.buffer).filter(|buffer| buffer.rows == Rows::Nodes && buffer.element == Element::Real);
    let (one, other) = (of_nodes(first)?, of_nodes(second)?);
    let (row, number) = if one.columns > other.columns { (one, other) } else { (other, one) };
    let stands = row.role == Role::Features && row.columns > NARROW && number.columns == 1;
    let whole = first.shape == *shape || second.shape == *shape;
    let reads = |launch: &Launch| launch.operation.reads().iter().any(|read| read == out);
    let readers: Vec<&Launch> = here.iter().filter(|launch| reads(launch)).collect();
    let is_apart = all.iter().filter(|launch| reads(launch)).count() > readers.len();
    (stands && whole && !readers.is_empty() && !is_apart && readers.iter().all(|reader| reduces(reader, (out, shape))))
        .then(|| (out.clone(), [first.clone(), second.clone()]))
}

/// Whether a launch is a reduction over edges that reads these rows at the far ends of its edges alone, and as they are shaped.
fn reduces(launch: &Launch, (name, shape): (&str, &[u64])) -> bool {
    let Operation::Evaluate { op: Op::Reduce(..), inputs, .. } = &launch.operation else { return false };
    let read = inputs.iter().flat_map(Operand::rows).filter(|rows| rows.buffer == name);
    read.into_iter().all(|rows| matches!(rows.view, View::Far(_)) && rows.shape == shape)
}

/// An operand in which the rows of this name are made of their factors.
fn multiplied(operand: &Operand, name: &str, factors: &[Rowed; 2]) -> Operand {
    match operand {
        Operand::Rows(rows) if rows.buffer == name => {
            let [first, second] = factors.each_ref().map(|factor| Box::new(Operand::Rows(Rowed { view: rows.view, ..factor.clone() })));
            Operand::Times(first, second)
        }
        Operand::Times(first, second) => {
            let of = |part: &Operand| Box::new(multiplied(part, name, factors));
            Operand::Times(of(first), of(second))
        }
        other => other.clone(),
    }
}
