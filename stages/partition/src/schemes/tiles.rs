//! tiles: schemes `warp-tiles` and `block-tiles`: each row in tiles of nonzeros whose columns and
//! values are staged in shared memory (SpMM study, steps 4 to 6).
//!
//! promises  a tile is in one row and ends where the next begins, or at the end of its row; tiles
//!           of a row are consecutive
//! never     needs more shared memory than a block has: such settings are refused before anything
//!           is built
//! limits    O(rows + tiles)
use warploom_contract::{
    Violation,
    kinds::{
        csr::Csr,
        partition::{Cells, Padding, Scheme, Table, TableFacts, Tables, Width},
    },
};
use warploom_spec::PartitionSpec;

use crate::{
    check::{Cover, first_entries},
    directions::{Side, both_sides},
    size_estimate::Outline,
};

/// Names of the tables of a tile scheme.
#[derive(Clone, Copy)]
pub struct TableNames {
    /// The table of tiles.
    tiles: &'static str,
    /// The table with the first tile of each row.
    first: &'static str,
}

/// A tile scheme, its tables, and the nonzeros of a tile.
pub struct TileScheme {
    scheme: Scheme,
    names: TableNames,
    tile: u64,
}

/// Tables of `warp-tiles`.
pub const WARP_NAMES: TableNames = TableNames { tiles: "warp_tiles", first: "warp_tile_first" };
/// A block's.
pub const BLOCK_NAMES: TableNames = TableNames { tiles: "block_tiles", first: "block_tile_first" };

/// A warp's tiles with their settings.
pub fn warp_scheme(spec: &PartitionSpec) -> TileScheme {
    let scheme = Scheme::WarpTiles {
        warp_tile: spec.warp_tile,
        block_threads: spec.block_threads,
        shared_bytes: spec.shared_bytes,
    };
    TileScheme { scheme, names: WARP_NAMES, tile: spec.warp_tile }
}

/// A block's.
pub fn block_scheme(spec: &PartitionSpec) -> TileScheme {
    let scheme =
        Scheme::BlockTiles { block_tile: spec.block_tile, shared_bytes: spec.shared_bytes };
    TileScheme { scheme, names: BLOCK_NAMES, tile: spec.block_tile }
}

fn tile_count(side: Side<'_>, tile: u64) -> u64 {
    side.rows.degrees().map(|degree| degree.div_ceil(tile)).sum()
}

/// The size of the scheme.
pub fn outline(csr: &Csr, TileScheme { scheme, names, tile }: TileScheme) -> Outline {
    let TableNames { tiles, first } = names;
    let slots = Width::from_largest(csr.edges() as u64);
    let sides = both_sides(csr);
    let counts = sides.map(|side| tile_count(side, tile));
    let facts = |(side, count): (Side<'_>, u64)| {
        [
            TableFacts::new(
                side.table_name(tiles),
                count,
                &[("row", Width::U32), ("start", slots)],
            ),
            TableFacts::single(
                side.table_name(first),
                side.nodes() + 1,
                Width::from_largest(count),
            ),
        ]
    };
    let places = (counts[0] + counts[1]) * tile;
    let padding = Some(Padding { places, empty: places - 2 * csr.edges() as u64 });
    Outline {
        scheme,
        tables: sides.into_iter().zip(counts).flat_map(facts).collect(),
        padding,
        scratch_bytes: 0,
    }
}

/// Builds the tables of one direction.
pub fn build(side: Side<'_>, TableNames { tiles, first }: TableNames, tile: u64) -> Vec<Table> {
    let count = tile_count(side, tile);
    let (mut row, mut start) =
        (Cells::room(Width::U32, count), Cells::room(Width::from_largest(side.edges()), count));
    let mut firsts = Cells::room(Width::from_largest(count), side.nodes() + 1);
    let mut before = 0;
    firsts.push(0);
    for (own, from, to) in side.spans() {
        for slot in (from..to).step_by(tile as usize) {
            row.push(own);
            start.push(slot);
        }
        before += (to - from).div_ceil(tile);
        firsts.push(before);
    }
    vec![
        Table::new(side.table_name(tiles), vec![("row", row), ("start", start)]),
        Table::single(side.table_name(first), firsts),
    ]
}

/// Checks independently: a tile extends to the next one of its row, else to the end of its row.
pub fn prove(
    side: Side<'_>,
    tables: &Tables,
    names: TableNames,
    tile: u64,
) -> Result<Option<Padding>, Violation> {
    let (tiles, first) = (side.table_name(names.tiles), side.table_name(names.first));
    let (row, start) = (tables.column(&tiles, "row")?, tables.column(&tiles, "start")?);
    let mut cover = Cover::new(&tiles, side.rows);
    for at in 0..row.len() {
        let own = row.get(at);
        let goes_on = at + 1 < row.len() && row.get(at + 1) == own;
        let end = if goes_on {
            start.get(at + 1)
        } else {
            side.rows.offsets.get(own as usize + 1).copied().unwrap_or(0)
        };
        let length = end.saturating_sub(start.get(at));
        if length == 0 || length > tile || goes_on && length < tile {
            return Err(cover.violation(
                at,
                format!(
                    "expected {tile} nonzeros, or the rest of row {own}, found the slots {} to \
                     {end}",
                    start.get(at)
                ),
            ));
        }
        cover.mark_run(at, own, start.get(at)..end)?;
    }
    cover.finish()?;
    first_entries(&first, tables.only_column(&first)?.iter(), row.iter(), side.rows.len())?;
    let places = row.len() as u64 * tile;
    Ok(Some(Padding { places, empty: places - side.edges() }))
}
