//! ascending_edges: the edges of each vertex with far ends ascending, for kernels that search them.
//!
//! promises  a csr's own edges where they ascend, mapped; those of typed graphs, which are by type
//!           first, sorted; what is beyond the graph is an error
//! never     drops an edge
//! limits    fewer than 2^32 edges; 4 bytes per vertex of each direction, and a copy of the edges
//!           where they are sorted or numbered
use std::path::Path;

use rayon::prelude::*;
use warploom_contract::{
    StageError,
    arrow_file::View,
    kinds::csr::{Csr, Direction as Side},
};
use warploom_cuda::{Argument, DevicePlan, WalkedLists};
use warploom_ir::Direction;

use crate::inputs::device_groups::check_side;

/// Edges of both directions.
#[derive(Clone, Debug)]
pub struct AscendingEdges {
    /// In-edges.
    pub incoming: AscendingSide,
    /// Out-edges.
    pub outgoing: AscendingSide,
}

/// Edges of one direction, vertices by number.
#[derive(Clone, Debug)]
pub struct AscendingSide {
    /// Where the edges of each vertex begin, and their number.
    pub offsets: Vec<u32>,
    /// The far end of each.
    pub far: View<u32>,
    /// Its id, where kernels read any.
    pub edge: Vec<u32>,
}

/// Whether kernels read such lists.
pub fn are_read(kernels: &DevicePlan) -> bool {
    let is_such =
        |argument: &Argument| matches!(argument, Argument::Items(WalkedLists::Ascending(_), _));
    kernels.arguments().any(is_such)
}

impl AscendingEdges {
    /// Those of a csr, which is at this place.
    pub fn from_csr(csr: &Csr, path: &Path) -> Result<Self, StageError> {
        let side = |side: &Side| {
            check_side(side, csr, path)?;
            Ok(AscendingSide::from_rows(side))
        };
        Ok(AscendingEdges { incoming: side(&csr.incoming)?, outgoing: side(&csr.outgoing)? })
    }

    /// Those of a direction.
    pub fn side(&self, direction: Direction) -> &AscendingSide {
        if direction == Direction::Out { &self.outgoing } else { &self.incoming }
    }
}

impl AscendingSide {
    fn from_rows(side: &Side) -> Self {
        let (starts, far) = (&side.offsets, &side.neighbours);
        let offsets = starts.par_iter().map(|&offset| offset as u32).collect();
        let ids = side.edges.given();
        let edge = ids.map(|ids| ids.par_iter().map(|&edge| edge as u32).collect());
        let mut made =
            AscendingSide { offsets, far: View::clone(far), edge: edge.unwrap_or_default() };
        let ascends = |pair: &[u64]| far[pair[0] as usize..pair[1] as usize].is_sorted();
        if !starts.par_windows(2).all(ascends) {
            made.sort();
        }
        made
    }

    /// Sorts the edges of each vertex by their far ends, then by their ids.
    fn sort(&mut self) {
        let AscendingSide { offsets, far, edge } = self;
        let rows: Vec<Vec<(u32, u32)>> = offsets
            .par_windows(2)
            .map(|pair| {
                let slots = pair[0] as usize..pair[1] as usize;
                let id = |slot: usize| edge.get(slot).copied().unwrap_or(0);
                let mut row: Vec<_> = slots.map(|slot| (far[slot], id(slot))).collect();
                row.sort_unstable();
                row
            })
            .collect();
        let (sorted, ids): (Vec<u32>, Vec<u32>) = rows.into_iter().flatten().unzip();
        *far = sorted.into();
        if !edge.is_empty() {
            *edge = ids;
        }
    }
}

#[cfg(test)]
mod tests {
    use warploom_contract::kinds::{csr::CsrParts, graph::EdgeTable};
    use warploom_extract::group::build_csr;

    use super::*;

    #[test]
    fn edges_of_typed_graphs_are_sorted_and_others_mapped() {
        let table = |kind: Option<Vec<u16>>| EdgeTable {
            source: vec![2, 1, 0, 1],
            target: vec![0, 0, 0, 2],
            weight: None,
            kind,
        };
        let parts = |kind: Option<Vec<u16>>| -> CsrParts { build_csr(3, &table(kind)) };
        for (kind, is_mapped) in [(None, true), (Some(vec![0, 1, 2, 0]), false)] {
            let csr = Csr::from(parts(kind));
            let edges = AscendingEdges::from_csr(&csr, Path::new("csr")).unwrap();
            let incoming = edges.side(Direction::In);
            assert_eq!(incoming.offsets, [0, 3, 3, 4]);
            assert_eq!(&*incoming.far, [0, 1, 2, 1]);
            assert_eq!(incoming.edge, [2, 1, 0, 3]);
            let outgoing = edges.side(Direction::Out);
            assert_eq!(&*outgoing.far, [0, 0, 2, 0]);
            let is_same = std::ptr::eq(incoming.far.as_ptr(), csr.incoming.neighbours.as_ptr());
            assert_eq!(is_same, is_mapped);
        }
    }
}
