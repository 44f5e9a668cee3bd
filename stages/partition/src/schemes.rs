//! schemes: the partitioning schemes, one file each: the size of a scheme (`outline`), its tables
//! (`build`), and their check by an independent algorithm (`prove`).
//!
//! promises  an outline allocates nothing that grows with the edges before its memory is checked;
//!           built tables have the sizes of the outline
//! never     writes a file
pub mod ascending_edges;
pub mod degree_bins;
pub mod feature_entries;
pub mod file;
pub mod group_spans;
pub mod interleaved;
pub mod merge_path;
pub mod neighbour_groups;
pub mod packed_graphs;
pub mod relation_major;
pub mod row_major;
pub mod row_relation;
pub mod rows;
pub mod sorted_columns;
#[cfg(test)]
mod tests;
pub mod tiles;
pub mod walked_lists;

use warploom_contract::{
    StageError, Violation,
    kinds::{
        csr::Csr,
        partition::{Padding, Scheme, Table, Tables},
    },
};
use warploom_shell::requests::PartitionRequest;
use warploom_spec::Scheme as Asked;

use crate::{
    directions::{build_tables, prove_sides as prove_both},
    schemes::feature_entries::SparseFeatures,
    size_estimate::{Outline, Room},
};

/// The size of a scheme, before it is built.
pub fn outline(
    asked: Asked,
    csr: &Csr,
    request: &PartitionRequest,
    room: Room,
) -> Result<Outline, StageError> {
    let spec = &request.spec;
    let outline = match asked {
        Asked::Auto | Asked::Rows => {
            let unit_work = rows::unit_work(csr, spec.unit_edges);
            rows::outline(csr, unit_work, spec.both_directions)
        }
        Asked::NeighbourGroups => neighbour_groups::outline(csr, spec),
        Asked::MergePath => merge_path::outline(csr, spec.merge_items),
        Asked::WarpTiles => tiles::outline(csr, tiles::warp_scheme(spec)),
        Asked::BlockTiles => tiles::outline(csr, tiles::block_scheme(spec)),
        Asked::DegreeBins => degree_bins::outline(csr),
        Asked::SortedColumns => sorted_columns::outline(csr),
        Asked::Interleaved => interleaved::outline(csr, spec.lanes),
        Asked::RowMajor => row_major::outline(csr),
        Asked::RelationMajor => relation_major::outline(csr)?,
        Asked::RowRelation => row_relation::outline(csr, room)?,
        Asked::PackedGraphs => packed_graphs::outline(csr, spec.block_nodes, room)?,
        Asked::File | Asked::Program => file::outline(request, csr, room)?,
    };
    let name = if asked == Asked::Program { file::PROGRAM } else { outline.scheme.name() };
    room.refuse_beyond(name, outline.bytes_peak())?;
    Ok(outline)
}

/// Builds the tables of a scheme over the edges, or over entries of features.
pub fn build(
    scheme: &Scheme,
    csr: &Csr,
    features: &[SparseFeatures],
    request: &PartitionRequest,
) -> Result<Vec<Table>, StageError> {
    Ok(match scheme {
        Scheme::Rows { unit_edges, walk, both_walk, .. } => {
            rows::build(csr, *unit_edges, *walk, *both_walk)
        }
        Scheme::NeighbourGroups { ngs, dw, block_threads, .. } => {
            let of_block = group_spans::groups_per_block(*dw, *block_threads);
            build_tables(csr, |side| neighbour_groups::build(side, *ngs, of_block))
        }
        Scheme::MergePath { merge_items } => {
            build_tables(csr, |side| merge_path::build(side, *merge_items))
        }
        Scheme::WarpTiles { warp_tile, .. } => {
            build_tables(csr, |side| tiles::build(side, tiles::WARP_NAMES, *warp_tile))
        }
        Scheme::BlockTiles { block_tile, .. } => {
            build_tables(csr, |side| tiles::build(side, tiles::BLOCK_NAMES, *block_tile))
        }
        Scheme::DegreeBins { .. } => build_tables(csr, degree_bins::build),
        Scheme::SortedColumns {} => sorted_columns::build(csr),
        Scheme::Interleaved { lanes } => interleaved::build(csr, *lanes),
        Scheme::RowMajor {} => row_major::build(csr),
        Scheme::RelationMajor { relations } => relation_major::build(csr, *relations)?,
        Scheme::RowRelation { forms } => row_relation::build(csr, *forms)?,
        Scheme::PackedGraphs { block_nodes, .. } => packed_graphs::build(csr, *block_nodes)?,
        Scheme::FeatureEntries { .. } => feature_entries::build(features),
        Scheme::AscendingEdges {} => build_tables(csr, ascending_edges::build),
        Scheme::File { spanning, .. } => file::build(csr, request, *spanning)?,
    })
}

/// Expands a scheme's tables to edges or entries and compares them with the csr or the features;
/// returns the padding.
pub fn prove(
    scheme: &Scheme,
    csr: &Csr,
    features: &[SparseFeatures],
    tables: &Tables,
) -> Result<Option<Padding>, Violation> {
    match scheme {
        Scheme::Rows { unit_edges, units, unit_edges_max, walk, both_walk } => {
            rows::prove(csr, tables, *unit_edges, *units, *unit_edges_max)?;
            prove_both(csr, |side| walked_lists::prove(side, tables, *walk).map(|()| None))?;
            if let Some(walk) = both_walk {
                walked_lists::prove_both(csr, tables, *walk)?;
            }
            Ok(None)
        }
        Scheme::NeighbourGroups { ngs, dw, block_threads, .. } => {
            let of_block = group_spans::groups_per_block(*dw, *block_threads);
            prove_both(csr, |side| neighbour_groups::prove(side, tables, *ngs, of_block))
        }
        Scheme::MergePath { merge_items } => {
            prove_both(csr, |side| merge_path::prove(side, tables, *merge_items))
        }
        Scheme::WarpTiles { warp_tile, .. } => {
            prove_both(csr, |side| tiles::prove(side, tables, tiles::WARP_NAMES, *warp_tile))
        }
        Scheme::BlockTiles { block_tile, .. } => {
            prove_both(csr, |side| tiles::prove(side, tables, tiles::BLOCK_NAMES, *block_tile))
        }
        Scheme::DegreeBins { .. } => prove_both(csr, |side| degree_bins::prove(side, tables)),
        Scheme::SortedColumns {} => prove_both(csr, |side| sorted_columns::prove(side, tables)),
        Scheme::Interleaved { lanes } => interleaved::prove(csr, tables, *lanes),
        Scheme::RowMajor {} => row_major::prove(csr, tables),
        Scheme::RelationMajor { .. } => relation_major::prove(csr, tables),
        Scheme::RowRelation { forms } => row_relation::prove(csr, tables, *forms),
        Scheme::PackedGraphs { block_nodes, .. } => packed_graphs::prove(csr, tables, *block_nodes),
        Scheme::FeatureEntries { .. } => feature_entries::prove(features, tables).map(|()| None),
        Scheme::AscendingEdges {} => {
            prove_both(csr, |side| ascending_edges::prove(side, tables).map(|()| None))
        }
        Scheme::File { dw, block_threads, .. } => {
            file::prove(csr, tables, group_spans::groups_per_block(*dw, *block_threads))
        }
    }
}
