//! source: finds and broadcasts the operand row for a row of the result.
//!
//! promises  a row is a slice of the operand where shapes are equal, else it is broadcast into
//!           scratch
use warploom_ir::{Direction, EdgeSet};

use super::element::Element;
use super::{EdgeGraph, EdgeList, Index, Leaf, Part, Values};

/// The mapping from a row of the result to a row of an operand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way<'a> {
    Same,
    One,
    Far,
    Near,
    By(&'a [u32]),
    /// In-edges, then out-edges.
    Halves(&'a [u32], &'a [u32]),
}

/// A row of the result; during a walk over edges also the ends of the edge.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct At {
    pub row: usize,
    pub far: usize,
    pub near: usize,
}

impl At {
    pub fn row(row: usize) -> Self {
        At { row, far: 0, near: 0 }
    }
}

impl Way<'_> {
    #[inline(always)]
    pub fn row(self, at: At) -> usize {
        match self {
            Way::Same => at.row,
            Way::One => 0,
            Way::Far => at.far,
            Way::Near => at.near,
            Way::By(rows) => rows[at.row] as usize,
            Way::Halves(first, second) => match at.row.checked_sub(first.len()) {
                None => first[at.row] as usize,
                Some(row) => second[row] as usize,
            },
        }
    }
}

/// How an operand's row is broadcast to the row of the result.
#[derive(Clone, Debug)]
pub(super) enum Layout {
    Same,
    First,
    Table(Vec<u32>),
}

/// Rows of one operand, of one element type.
#[derive(Clone, Debug)]
pub(super) struct Rows<'a, A> {
    pub values: &'a [A],
    pub columns: usize,
    pub way: Way<'a>,
    pub layout: Layout,
}

/// An operand of one element type.
#[derive(Clone, Debug)]
pub(super) enum Source<'a, A> {
    Rows(Rows<'a, A>),
    Times(Box<Source<'a, A>>, Box<Source<'a, A>>),
}

/// Selects the slice of one element type.
pub(super) type Get<'a, T, A> = fn(&Values<'a, T>) -> &'a [A];

impl<'a, A: Element> Source<'a, A> {
    /// The rows of a part, broadcast to this shape; `walked` are the edges of the current walk,
    /// whose ends are known.
    pub fn new<T>(
        part: &Part<'a, T>,
        get: Get<'a, T, A>,
        graph: &EdgeGraph<'a>,
        shape: &[u64],
        walked: Option<EdgeSet>,
    ) -> Self {
        match part {
            Part::Leaf(leaf) => Source::Rows(Rows::new(leaf, get, graph, shape, walked)),
            Part::Times(first, second) => {
                let of = |part| Box::new(Source::new(part, get, graph, shape, walked));
                Source::Times(of(first), of(second))
            }
        }
    }

    /// The row for a row of the result: a slice of the operand, or broadcast into scratch, which
    /// has the columns of the result.
    #[inline(always)]
    pub fn row<'s>(&self, at: At, scratch: &'s mut [A]) -> &'s [A]
    where
        'a: 's,
    {
        if let Source::Rows(rows) = self
            && let Layout::Same = rows.layout
        {
            return rows.values_at(at);
        }
        self.lay(at, scratch);
        scratch
    }

    fn lay(&self, at: At, out: &mut [A]) {
        match self {
            Source::Rows(rows) => rows.combine_row(at, out, |out, value| *out = value),
            Source::Times(first, second) => {
                first.lay(at, out);
                second.multiply(at, out);
            }
        }
    }

    fn multiply(&self, at: At, out: &mut [A]) {
        match self {
            Source::Rows(rows) => rows.combine_row(at, out, |out, value| *out = out.product(value)),
            Source::Times(first, second) => {
                first.multiply(at, out);
                second.multiply(at, out);
            }
        }
    }
}

impl<'a, A: Element> Rows<'a, A> {
    pub fn new<T>(
        leaf: &Leaf<'a, T>,
        get: Get<'a, T, A>,
        graph: &EdgeGraph<'a>,
        shape: &[u64],
        walked: Option<EdgeSet>,
    ) -> Self {
        let columns = leaf.shape.iter().product::<u64>() as usize;
        let wide = shape.iter().product::<u64>() as usize;
        let layout = match columns {
            _ if columns == wide => Layout::Same,
            1 => Layout::First,
            _ => Layout::Table(broadcast_columns(shape, leaf.shape)),
        };
        Rows { values: get(&leaf.values), columns, way: way(leaf.index, graph, walked), layout }
    }

    #[inline(always)]
    pub fn values_at(&self, at: At) -> &'a [A] {
        let start = self.way.row(at) * self.columns;
        &self.values[start..start + self.columns]
    }

    #[inline(always)]
    fn combine_row(&self, at: At, out: &mut [A], put: impl Fn(&mut A, A)) {
        let row = self.values_at(at);
        match &self.layout {
            Layout::Same => out.iter_mut().zip(row).for_each(|(out, value)| put(out, *value)),
            Layout::First => out.iter_mut().for_each(|out| put(out, row[0])),
            Layout::Table(table) => {
                out.iter_mut().zip(table).for_each(|(out, column)| put(out, row[*column as usize]))
            }
        }
    }
}

/// The mapping for an index; the ends of walked edges are known.
pub(super) fn way<'a>(index: Index, graph: &EdgeGraph<'a>, walked: Option<EdgeSet>) -> Way<'a> {
    let is_walked =
        |edges: EdgeSet| walked.is_some_and(|walked| walked.direction == edges.direction);
    match index {
        Index::Same => Way::Same,
        Index::One => Way::One,
        Index::Graph => graph.graphs.map_or(Way::One, |graphs| Way::By(graphs.of_vertex)),
        Index::Far(edges) if is_walked(edges) => Way::Far,
        Index::Near(edges) if is_walked(edges) => Way::Near,
        Index::Far(edges) => ends(edges.direction, graph, true),
        Index::Near(edges) => ends(edges.direction, graph, false),
    }
}

/// The far or near end of each edge of a list in this direction.
pub(super) fn ends<'a>(direction: Direction, graph: &EdgeGraph<'a>, far: bool) -> Way<'a> {
    match (direction, far) {
        (Direction::In, true) | (Direction::Out, false) => Way::By(graph.source),
        (Direction::In, false) | (Direction::Out, true) => Way::By(graph.target),
        (Direction::Both, true) => Way::Halves(graph.source, graph.target),
        (Direction::Both, false) => Way::Halves(graph.target, graph.source),
    }
}

/// For each element of a row of shape `wide`, the element of a row of shape `narrow` that it reads,
/// by numpy's broadcasting rules.
pub(crate) fn broadcast_columns(wide: &[u64], narrow: &[u64]) -> Vec<u32> {
    let missing = wide.len().saturating_sub(narrow.len());
    let count: u64 = wide.iter().product();
    let column = |wide_column: u64| {
        let (mut rest, mut stride, mut made) = (wide_column, 1, 0);
        for axis in (missing..wide.len()).rev() {
            let (place, length) = (rest % wide[axis], narrow[axis - missing]);
            if length > 1 {
                made += place * stride;
            }
            (rest, stride) = (rest / wide[axis], stride * length);
        }
        made as u32
    };
    (0..count).map(column).collect()
}

/// Calls `visit` for the edges of a vertex in the order of edge ids; of both directions the
/// in-edges first.
#[inline(always)]
pub(super) fn walk(graph: &EdgeGraph, edges: EdgeSet, vertex: usize, mut visit: impl FnMut(At)) {
    let wanted = |edge: usize| {
        edges.relation.is_none_or(|relation| {
            graph.relation.get(edge).is_some_and(|found| u32::from(*found) == relation)
        })
    };
    let mut side = |list: Option<EdgeList>, first_row: usize| {
        let list = list.expect("the lists that are walked were made");
        for entry in list.offsets[vertex] as usize..list.offsets[vertex + 1] as usize {
            let edge = list.edges[entry] as usize;
            if wanted(edge) {
                visit(At { row: first_row + edge, far: list.far[entry] as usize, near: vertex });
            }
        }
    };
    match edges.direction {
        Direction::In => side(graph.incoming, 0),
        Direction::Out => side(graph.outgoing, 0),
        Direction::Both => {
            side(graph.incoming, 0);
            side(graph.outgoing, graph.edge_count);
        }
    }
}
