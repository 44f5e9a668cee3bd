//! What has to hold of each scheme's tables: names, columns and widths, lengths, first and last
//! numbers; when publishing, every number.
//!
//! promises  whoever reads a table that was published stays within rows, slots and tables
//! never     looks at the csr: that a table divides the right edges is proved by `check`
//! limits    O(rows of the tables) when publishing, and a bit a row
use std::path::Path;

use super::{
    Column, ColumnFacts, Division, FeatureSize, FeatureTable, FeatureWalk, STAGED_BYTES, Scheme,
    Table, TableFacts, Tables, WARP, Width, tables::table_file,
};
use crate::{StageError, kinds::Depth};

/// What the numbers of a column are, hence how wide they are.
#[derive(Clone, Copy)]
enum Numbers {
    /// 0 or 1.
    Mark,
    /// Relations, places in shared memory.
    Short,
    /// Rows.
    Rows,
    /// Slots.
    Slots,
    /// Slots of both directions together.
    SlotsOfBoth,
    /// Whatever counts what is made: as wide as it asks.
    Counts,
}
use Numbers::{Counts, Mark, Rows, Short, Slots, SlotsOfBoth};

/// Tables of a scheme without their direction: name, and columns (one without a name has the
/// table's).
type Schema = &'static [(&'static str, &'static [(&'static str, Numbers)])];

const OF_ROWS: Schema = &[
    ("rows", &[("", Rows)]),
    ("edges", &[("far", Rows), ("edge", Slots)]),
    ("walk_rows", &[("", Rows)]),
    ("walk_offsets", &[("", Slots)]),
    ("walk_edges", &[("far", Rows), ("edge", Slots)]),
];
const OF_BOTH_WALK: Schema = &[
    ("walk_rows", &[("", Rows)]),
    ("walk_offsets", &[("", SlotsOfBoth)]),
    ("walk_edges", &[("far", Rows), ("edge", SlotsOfBoth)]),
];
const OF_ASCENDING: Schema = &[
    ("ascending_offsets", &[("", Slots)]),
    ("ascending_edges", &[("far", Rows), ("edge", Slots)]),
];
const OF_GROUPS: Schema = &[
    (
        "groups",
        &[("node", Rows), ("start", Slots), ("end", Slots), ("place", Short), ("leads", Mark)],
    ),
    ("group_first", &[("", Counts)]),
    ("group_spans", SPANS),
];
const OF_MERGE_PATH: Schema = &[("merge_path", &[("row", Rows), ("slot", Slots)])];
const OF_WARP_TILES: Schema =
    &[("warp_tiles", &[("row", Rows), ("start", Slots)]), ("warp_tile_first", &[("", Counts)])];
const OF_BLOCK_TILES: Schema =
    &[("block_tiles", &[("row", Rows), ("start", Slots)]), ("block_tile_first", &[("", Counts)])];
const OF_BINS: Schema = &[("bins", &[("", Rows)]), ("bin_rows", &[("", Rows)])];
const OF_COLUMNS: Schema =
    &[("sorted_columns", &[("column", Rows), ("row", Rows), ("slot", Slots)])];
const OF_INTERLEAVED: Schema =
    &[("interleaved_groups", &[("", Counts)]), ("interleaved_places", &[("", Counts)])];
const OF_ROW_MAJOR: Schema = &[("row_major_places", &[("", Slots)])];
const OF_RELATIONS: Schema = &[
    ("relations", &[("", Slots)]),
    ("relation_edges", &[("row", Rows), ("neighbour", Rows), ("slot", Slots)]),
];
const OF_ROW_TYPES: Schema = &[("row_types", &[("", Short)])];
const OF_ROW_RUNS: Schema =
    &[("row_runs", &[("", Counts)]), ("runs", &[("relation", Short), ("start", Slots)])];
const OF_PACKED: Schema = &[
    ("graph_blocks", &[("graph", Rows), ("row", Rows)]),
    ("block_graphs", &[("graph", Rows), ("row", Rows)]),
    ("block_rows", &[("", Rows)]),
];
const OF_FILE: Schema = &[
    ("file_groups", &[("node", Rows), ("start", Slots), ("end", Slots)]),
    ("file_group_spans", SPANS),
];
/// The columns of rows that no block finishes alone.
const SPANS: &[(&str, Numbers)] = &[("node", Rows), ("block", Counts), ("blocks", Counts)];

/// The columns of the tables of a walk over entries of features.
fn columns_of_walk(table: FeatureTable) -> &'static [(&'static str, Numbers)] {
    match table {
        FeatureTable::Rows => &[("", Rows)],
        FeatureTable::Offsets => &[("", Counts)],
        FeatureTable::Entries => &[("far", Rows), ("edge", Counts)],
    }
}

/// The tables of a scheme, in the order of the page: names and columns.
fn expected_tables(scheme: &Scheme) -> Vec<(String, &'static [(&'static str, Numbers)])> {
    if let Scheme::FeatureEntries { features } = scheme {
        let of_walk = |walk: FeatureWalk| {
            FeatureTable::ALL.map(|table| (walk.table_name(table), columns_of_walk(table)))
        };
        return features.iter().flat_map(|size| size.walks()).flat_map(of_walk).collect();
    }
    let of_side = |(side, schema): (&'static str, Schema)| {
        schema.iter().map(move |(name, columns)| (format!("{side}{name}"), *columns))
    };
    schemas(scheme).into_iter().flat_map(of_side).collect()
}

/// The tables of each direction of a scheme.
fn schemas(scheme: &Scheme) -> Vec<(&'static str, Schema)> {
    let both = |schema| vec![("in_", schema), ("out_", schema)];
    match scheme {
        Scheme::Rows { both_walk: Some(_), .. } => {
            vec![("in_", OF_ROWS), ("out_", OF_ROWS), ("both_", OF_BOTH_WALK)]
        }
        Scheme::Rows { both_walk: None, .. } => both(OF_ROWS),
        Scheme::NeighbourGroups { .. } => both(OF_GROUPS),
        Scheme::MergePath { .. } => both(OF_MERGE_PATH),
        Scheme::WarpTiles { .. } => both(OF_WARP_TILES),
        Scheme::BlockTiles { .. } => both(OF_BLOCK_TILES),
        Scheme::DegreeBins { .. } => both(OF_BINS),
        Scheme::SortedColumns {} => both(OF_COLUMNS),
        Scheme::Interleaved { .. } => vec![("", OF_INTERLEAVED)],
        Scheme::RowMajor {} => vec![("", OF_ROW_MAJOR)],
        Scheme::RelationMajor { .. } => both(OF_RELATIONS),
        Scheme::RowRelation { forms } => {
            let of = |runs| if runs { OF_ROW_RUNS } else { OF_ROW_TYPES };
            vec![("in_", of(forms[0].runs)), ("out_", of(forms[1].runs))]
        }
        Scheme::PackedGraphs { .. } => vec![("", OF_PACKED)],
        // `expected_tables` names them.
        Scheme::FeatureEntries { .. } => vec![("", &[])],
        Scheme::AscendingEdges {} => both(OF_ASCENDING),
        Scheme::File { .. } => vec![("", OF_FILE)],
    }
}

/// Widths of numbers up to so many slots.
fn slot_widths(slots: u64) -> &'static [Width] {
    if Width::from_largest(slots) == Width::U32 { &[Width::U32] } else { &[Width::U64] }
}

/// Where a division lies, and what it divides.
pub(super) struct Look<'a> {
    pub directory: &'a Path,
    pub depth: Depth,
    pub nodes: u64,
    pub edges: u64,
}

type Looked = Result<(), StageError>;

impl Look<'_> {
    /// Looks at a division.
    pub fn check(&self, division: &Division) -> Looked {
        self.schema(division)?;
        let tables = Tables::open(self.directory, division)?;
        for (index, (side, _)) in schemas(&division.scheme).into_iter().enumerate() {
            self.scheme(&division.scheme, &tables, side, index)?;
        }
        Ok(())
    }

    /// Names, columns, widths and bytes, as the page has them.
    fn schema(&self, division: &Division) -> Looked {
        let expected = expected_tables(&division.scheme);
        let names: Vec<&str> = expected.iter().map(|(name, _)| name.as_str()).collect();
        let found: Vec<&str> = division.tables.iter().map(|table| table.name.as_str()).collect();
        let page = self.directory.join(super::PARTITION_FILE);
        if names != found {
            let (scheme, names, found) =
                (division.scheme.name(), names.join(", "), found.join(", "));
            return Err(StageError::damaged(
                &page,
                format!("scheme `{scheme}`: expected the tables {names}, found {found}"),
            ));
        }
        for ((_, columns), table) in expected.iter().zip(&division.tables) {
            let as_listed: Vec<(&str, Width)> =
                table.columns.iter().map(|column| (column.name.as_str(), column.width)).collect();
            let fits = |(&(name, numbers), found): (&(&str, Numbers), &ColumnFacts)| {
                found.name == if name.is_empty() { table.name.as_str() } else { name }
                    && self.widths(numbers).contains(&found.width)
            };
            if columns.len() != table.columns.len() || !columns.iter().zip(&table.columns).all(fits)
            {
                return Err(StageError::damaged(
                    &page,
                    format!(
                        "table `{}` has other columns or widths than its scheme asks: {as_listed:?}",
                        table.name
                    ),
                ));
            }
            if *table != TableFacts::new(table.name.clone(), table.rows, &as_listed) {
                return Err(StageError::damaged(
                    &page,
                    format!(
                        "table `{}`: {} bytes are not those of its rows and columns",
                        table.name,
                        table.bytes()
                    ),
                ));
            }
        }
        Ok(())
    }

    fn widths(&self, numbers: Numbers) -> &'static [Width] {
        match numbers {
            Mark => &[Width::U8],
            Short => &[Width::U16],
            Rows => &[Width::U32],
            Slots => slot_widths(self.edges),
            SlotsOfBoth => slot_widths(self.edges.saturating_mul(2)),
            Counts => &[Width::U32, Width::U64],
        }
    }

    /// The numbers of one direction.
    fn scheme(&self, scheme: &Scheme, tables: &Tables, side: &str, index: usize) -> Looked {
        let only = |name: &str| tables.only_column(&format!("{side}{name}"));
        let table = |name: &str| tables.get(&format!("{side}{name}"));
        match scheme {
            Scheme::Rows { units, .. } => match units.get(index) {
                Some(&units) => self.rows(tables, side, units),
                None => self.walk(tables, side, self.edges.saturating_mul(2)),
            },
            Scheme::FeatureEntries { features } => {
                features.iter().try_for_each(|size| self.features(tables, *size))
            }
            Scheme::AscendingEdges {} => self.ascending_edges(tables, side),
            Scheme::NeighbourGroups { ngs, dw, block_threads, spanning } => {
                let (groups, of_block) = (table("groups")?, block_threads / (*dw).max(1));
                self.firsts(&format!("{side}group_first"), only("group_first")?, groups)?;
                self.groups(groups, *ngs)?;
                self.below(groups, "place", of_block)?;
                self.below(groups, "leads", 2)?;
                self.spans(table("group_spans")?, spanning[index], groups, of_block)
            }
            Scheme::MergePath { merge_items } => {
                self.merge_path(table("merge_path")?, *merge_items)
            }
            Scheme::WarpTiles { warp_tile, block_threads, shared_bytes } => {
                self.staged(*shared_bytes, warp_tile.saturating_mul(block_threads / WARP))?;
                self.tiles(
                    table("warp_tiles")?,
                    &format!("{side}warp_tile_first"),
                    only("warp_tile_first")?,
                    *warp_tile,
                )
            }
            Scheme::BlockTiles { block_tile, shared_bytes } => {
                self.staged(*shared_bytes, *block_tile)?;
                self.tiles(
                    table("block_tiles")?,
                    &format!("{side}block_tile_first"),
                    only("block_tile_first")?,
                    *block_tile,
                )
            }
            Scheme::DegreeBins { bins } => {
                self.length(table("bins")?, bins[index].saturating_add(1))?;
                let name = format!("{side}bins");
                self.check_ascending(&name, only("bins")?, 0, self.nodes, Step::Level)?;
                self.check_each_row_once(table("bin_rows")?, only("bin_rows")?)
            }
            Scheme::SortedColumns {} => {
                self.coordinates(table("sorted_columns")?, ["column", "row"])
            }
            Scheme::Interleaved { .. } | Scheme::RowMajor {} => self.messages(scheme, tables),
            Scheme::RelationMajor { .. } | Scheme::RowRelation { .. } => {
                self.relations(scheme, tables, side, index)
            }
            Scheme::PackedGraphs { blocks, .. } => self.packed_graphs(tables, *blocks),
            Scheme::File { dw, block_threads, spanning, .. } => {
                let groups = table("file_groups")?;
                self.groups(groups, u64::MAX)?;
                let of_block = block_threads / (*dw).max(1);
                self.spans(table("file_group_spans")?, *spanning, groups, of_block)
            }
        }
    }

    /// Chunks of so many rows and edges.
    fn merge_path(&self, chunks: &Table, merge_items: u64) -> Looked {
        let (nodes, edges) = (self.nodes, self.edges);
        self.length(chunks, (nodes + edges).div_ceil(merge_items.max(1)) + 1)?;
        self.check_ascending(&chunks.name, chunks.column("row")?, 0, nodes, Step::Level)?;
        self.check_ascending(&chunks.name, chunks.column("slot")?, 0, edges, Step::Level)
    }

    /// Where the edges of each row start, and these by far end.
    fn ascending_edges(&self, tables: &Tables, side: &str) -> Looked {
        let [offsets, edges] =
            ["ascending_offsets", "ascending_edges"].map(|table| format!("{side}{table}"));
        self.check_offsets(tables, &offsets, self.nodes, self.edges)?;
        self.row_edges(tables.get(&edges)?, self.nodes, self.edges)
    }

    /// The tables of graphs in so many blocks.
    fn packed_graphs(&self, tables: &Tables, blocks: u64) -> Looked {
        let (starts, graphs) = (tables.get("graph_blocks")?, tables.get("block_graphs")?);
        let count = graphs.rows() as u64;
        self.length(starts, blocks.saturating_add(1))?;
        self.check_ascending(&starts.name, starts.column("graph")?, 0, count, Step::Up)?;
        self.check_ascending(&starts.name, starts.column("row")?, 0, self.nodes, Step::Up)?;
        self.below(graphs, "row", self.nodes)?;
        self.check_each_row_once(tables.get("block_rows")?, tables.only_column("block_rows")?)
    }

    /// The tables of rows, which are divided into so many units.
    fn rows(&self, tables: &Tables, side: &str, units: u64) -> Looked {
        let only = |name: &str| tables.only_column(&format!("{side}{name}"));
        let table = |name: &str| tables.get(&format!("{side}{name}"));
        self.length(table("rows")?, units.saturating_add(1))?;
        self.check_ascending(&format!("{side}rows"), only("rows")?, 0, self.nodes, Step::Up)?;
        self.row_edges(table("edges")?, self.nodes, self.edges)?;
        self.walk(tables, side, self.edges)
    }

    /// The tables of the entries of features.
    fn features(&self, tables: &Tables, size: FeatureSize) -> Looked {
        for walk in size.walks() {
            let [rows, far] = size.rows_and_far(walk);
            let name = |table: FeatureTable| walk.table_name(table);
            let entries = tables.get(&name(FeatureTable::Entries))?;
            self.row_edges(entries, far, size.entries)?;
            self.check_walk(
                tables,
                [name(FeatureTable::Rows), name(FeatureTable::Offsets)],
                rows,
                size.entries,
            )?;
        }
        Ok(())
    }

    /// The tables of rows in the order of a GPU, with so many edges.
    fn walk(&self, tables: &Tables, side: &str, edges: u64) -> Looked {
        let name = |table: &str| format!("{side}{table}");
        self.row_edges(tables.get(&name("walk_edges"))?, self.nodes, edges)?;
        self.check_walk(tables, [name("walk_rows"), name("walk_offsets")], self.nodes, edges)
    }

    /// So many rows of a walk, and where the edges of each start.
    fn check_walk(
        &self,
        tables: &Tables,
        [rows, offsets]: [String; 2],
        count: u64,
        edges: u64,
    ) -> Looked {
        self.length(tables.get(&rows)?, count)?;
        self.check_rows_once(&rows, tables.only_column(&rows)?, count)?;
        self.check_offsets(tables, &offsets, count, edges)
    }

    /// Where the edges of each of so many rows start, and their number.
    fn check_offsets(&self, tables: &Tables, offsets: &str, rows: u64, edges: u64) -> Looked {
        self.length(tables.get(offsets)?, rows.saturating_add(1))?;
        self.check_ascending(offsets, tables.only_column(offsets)?, 0, edges, Step::Level)
    }

    /// Far ends below a limit, and ids of so many edges.
    fn row_edges(&self, table: &Table, far: u64, edges: u64) -> Looked {
        self.length(table, edges)?;
        self.below(table, "far", far)?;
        self.below(table, "edge", edges)
    }

    /// The tables of messages.
    fn messages(&self, scheme: &Scheme, tables: &Tables) -> Looked {
        if let Scheme::Interleaved { lanes } = scheme {
            let (groups, places) =
                (tables.only_column("interleaved_groups")?, tables.get("interleaved_places")?);
            self.length(
                tables.get("interleaved_groups")?,
                self.nodes.div_ceil((*lanes).max(1)) + 1,
            )?;
            let all = groups.last().unwrap_or(0);
            self.check_ascending("interleaved_groups", groups, 0, all, Step::Level)?;
            self.length(places, self.edges)?;
            return self.below(places, "interleaved_places", all);
        }
        let places = tables.get("row_major_places")?;
        self.length(places, self.edges)?;
        self.below(places, "row_major_places", self.edges)
    }

    /// The tables of relations.
    fn relations(&self, scheme: &Scheme, tables: &Tables, side: &str, index: usize) -> Looked {
        let only = |name: &str| tables.only_column(&format!("{side}{name}"));
        let table = |name: &str| tables.get(&format!("{side}{name}"));
        match scheme {
            Scheme::RelationMajor { relations } => {
                self.length(table("relations")?, relations.saturating_add(1))?;
                self.check_ascending(
                    &format!("{side}relations"),
                    only("relations")?,
                    0,
                    self.edges,
                    Step::Level,
                )?;
                self.coordinates(table("relation_edges")?, ["row", "neighbour"])
            }
            Scheme::RowRelation { forms } if forms[index].runs => {
                let runs = table("runs")?;
                self.firsts(&format!("{side}row_runs"), only("row_runs")?, runs)?;
                self.length(runs, forms[index].distinct)?;
                self.starts(runs)
            }
            _ => self.length(table("row_types")?, self.edges),
        }
    }
}

/// How numbers follow each other.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    /// Each larger than the one before.
    Up,
    /// None smaller than the one before.
    Level,
}

/// What a rule is about.
impl Look<'_> {
    fn wrong(&self, table: &str, what: String) -> StageError {
        StageError::damaged(&self.directory.join(table_file(table)), what)
    }

    fn length(&self, table: &Table, expected: u64) -> Looked {
        super::super::expect_length(
            &self.directory.join(table_file(&table.name)),
            "rows",
            expected,
            table.rows() as u64,
        )
    }

    /// Numbers go from one to another, and never down.
    fn check_ascending(
        &self,
        table: &str,
        column: &Column,
        begin: u64,
        end: u64,
        step: Step,
    ) -> Looked {
        let found = (!column.is_empty()).then(|| (column.get(0), column.get(column.len() - 1)));
        if found != Some((begin, end)) {
            return Err(self
                .wrong(table, format!("expected numbers from {begin} to {end}, found {found:?}")));
        }
        let falls = |at: &usize| {
            column.get(at - 1) > column.get(*at)
                || step == Step::Up && column.get(at - 1) == column.get(*at)
        };
        match self.publishing().then(|| (1..column.len()).find(falls)).flatten() {
            Some(at) => Err(self.wrong(
                table,
                format!("row {at}: {} stands behind {}", column.get(at), column.get(at - 1)),
            )),
            None => Ok(()),
        }
    }

    fn publishing(&self) -> bool {
        self.depth == Depth::Publish
    }

    /// First of each row's entries in another table, and their number.
    fn firsts(&self, name: &str, first: &Column, of: &Table) -> Looked {
        if first.len() as u64 != self.nodes + 1 {
            return Err(self
                .wrong(name, format!("expected {} rows, found {}", self.nodes + 1, first.len())));
        }
        self.check_ascending(name, first, 0, of.rows() as u64, Step::Level)
    }

    /// Every number of a column is below a limit.
    fn below(&self, table: &Table, column: &str, limit: u64) -> Looked {
        let numbers = table.column(column)?;
        match self.publishing().then(|| numbers.first_at_least(limit)).flatten() {
            Some(at) => Err(self.wrong(
                &table.name,
                format!(
                    "row {at}, column `{column}`: expected less than {limit}, found {}",
                    numbers.get(at)
                ),
            )),
            None => Ok(()),
        }
    }

    fn check_each_row_once(&self, table: &Table, column: &Column) -> Looked {
        self.length(table, self.nodes)?;
        self.check_rows_once(&table.name, column, self.nodes)
    }

    /// Each of so many rows, which are as many as the column has, stands there once.
    fn check_rows_once(&self, table: &str, column: &Column, rows: u64) -> Looked {
        if !self.publishing() {
            return Ok(());
        }
        let mut seen = vec![false; rows as usize];
        for (at, row) in column.iter().enumerate() {
            match seen.get_mut(row as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => {
                    let what =
                        format!("place {at}: row {row} stands there twice or is none of {rows}");
                    return Err(self.wrong(table, what));
                }
            }
        }
        Ok(())
    }

    /// Groups of consecutive slots, one behind the other, each of 1 to `most` slots.
    fn groups(&self, groups: &Table, most: u64) -> Looked {
        let (start, end) = (groups.column("start")?, groups.column("end")?);
        if groups.rows() == 0 {
            return self.check_none_left(groups);
        }
        if (start.get(0), end.last()) != (0, Some(self.edges)) {
            return Err(self.wrong(
                &groups.name,
                format!(
                    "expected groups from slot 0 to {}, found {} to {:?}",
                    self.edges,
                    start.get(0),
                    end.last()
                ),
            ));
        }
        self.below(groups, "node", self.nodes)?;
        let breaks = |&at: &usize| {
            let (from, to) = (start.get(at), end.get(at));
            from >= to || to - from > most || at > 0 && end.get(at - 1) != from
        };
        match self.publishing().then(|| (0..groups.rows()).find(breaks)).flatten() {
            Some(at) => {
                let what = format!(
                    "group {at}: slots {} to {} are none, more than {most}, or do not follow the \
                     group before",
                    start.get(at),
                    end.get(at)
                );
                Err(self.wrong(&groups.name, what))
            }
            None => Ok(()),
        }
    }

    /// Without entries there are no edges.
    fn check_none_left(&self, table: &Table) -> Looked {
        if self.edges == 0 {
            Ok(())
        } else {
            Err(self.wrong(
                &table.name,
                format!("expected {} edges to be divided, found no entry", self.edges),
            ))
        }
    }

    /// Starts of entries that follow each other.
    fn starts(&self, table: &Table) -> Looked {
        let start = table.column("start")?;
        match start.last() {
            None => self.check_none_left(table),
            Some(last) if last >= self.edges => Err(self.wrong(
                &table.name,
                format!("the last entry starts at {last} of {} slots", self.edges),
            )),
            Some(last) => self.check_ascending(&table.name, start, 0, last, Step::Up),
        }
    }

    fn tiles(&self, tiles: &Table, name: &str, first: &Column, most: u64) -> Looked {
        self.firsts(name, first, tiles)?;
        self.starts(tiles)?;
        self.below(tiles, "row", self.nodes)?;
        let start = tiles.column("start")?;
        let long = |&at: &usize| start.get(at) - start.get(at - 1) > most;
        match self.publishing().then(|| (1..tiles.rows()).find(long)).flatten() {
            Some(at) => {
                Err(self
                    .wrong(&tiles.name, format!("tile {} has more than {most} nonzeros", at - 1)))
            }
            None => Ok(()),
        }
    }

    /// So many nonzeros have room in shared memory.
    fn staged(&self, shared_bytes: u64, nonzeros: u64) -> Looked {
        let needed = nonzeros.saturating_mul(STAGED_BYTES);
        if needed <= shared_bytes {
            return Ok(());
        }
        let page = self.directory.join(super::PARTITION_FILE);
        Err(StageError::damaged(
            &page,
            format!("a block's tiles take {needed} bytes of {shared_bytes} of shared memory"),
        ))
    }

    fn coordinates(&self, table: &Table, ends: [&str; 2]) -> Looked {
        self.length(table, self.edges)?;
        ends.iter().try_for_each(|column| self.below(table, column, self.nodes))?;
        self.below(table, "slot", self.edges)
    }

    /// Rows that no block finishes alone: the blocks are there.
    fn spans(&self, spans: &Table, rows: u64, groups: &Table, of_block: u64) -> Looked {
        self.length(spans, rows)?;
        self.below(spans, "node", self.nodes)?;
        let (block, count) = (spans.column("block")?, spans.column("blocks")?);
        let blocks = (groups.rows() as u64).div_ceil(of_block.max(1));
        let beyond = |&at: &usize| block.get(at).saturating_add(count.get(at)) > blocks;
        match self.publishing().then(|| (0..spans.rows()).find(beyond)).flatten() {
            Some(at) => Err(self.wrong(
                &spans.name,
                format!(
                    "row {at}: expected some of {blocks} blocks, found {} from {} on",
                    count.get(at),
                    block.get(at)
                ),
            )),
            None => Ok(()),
        }
    }
}
