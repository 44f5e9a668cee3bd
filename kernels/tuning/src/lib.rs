//! tuning: every threshold of emission, fusion and execution, one row each in `tuning.csv`.
//!
//! promises  a row has a name, a value, the allowed values, a unit, the record of
//!           `tests/bench/record` that it comes from (or `unrecorded`) and what it decides; a name
//!           without a row, or a row without a name, is an error; a process has one table: the
//!           compiled-in rows, or those of a file that replace them (`replace`), and never switches
//!           between them
//! never     has a hardware constant, or a number that affects what is computed and not only how
//!           fast: those are constants where they are used
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::OnceLock;

/// The compiled-in rows.
pub const ROWS: &str = include_str!("tuning.csv");

/// Declares the rows: a field of `Table`, and a function that returns the value in this process.
macro_rules! rows {
    ($($name:ident: $kind:ty,)*) => {
        /// The value of every row.
        #[derive(Clone, Debug, PartialEq)]
        struct Table {
            $($name: $kind,)*
        }

        impl Table {
            fn of(rows: &BTreeMap<&str, Row>, replaced: &Replaced) -> Result<Table, Misfit> {
                Ok(Table { $($name: value(stringify!($name), rows, replaced)?,)* })
            }
        }

        /// The names of all rows.
        pub const NAMES: &[&str] = &[$(stringify!($name),)*];

        $(
            #[doc = concat!("The row `", stringify!($name), "` of `tuning.csv`.")]
            pub fn $name() -> $kind {
                in_use().table.$name
            }
        )*
    };
}

rows! {
    // Sums over the edges of rows of low degree.
    low_degree_reads: u64,
    low_degree_reads_near: u64,
    low_degree_listed: u64,
    low_degree_pieces: usize,
    low_degree_halved_lanes: usize,
    low_degree_far_lanes: usize,
    low_degree_edges: usize,
    low_degree_edges_near: usize,
    low_degree_blocks: u32,
    low_degree_blocks_waiting: u32,
    low_degree_blocks_crowded: u32,
    low_degree_blocks_sliced: u32,
    low_degree_blocks_halved: u32,
    low_degree_blocks_halved_waiting: u32,
    low_degree_blocks_halved_wide: u32,
    low_degree_blocks_narrow: u32,
    low_degree_blocks_near: u32,

    // Sums over consecutive near rows.
    consecutive_rows: u32,
    consecutive_vectors: u32,
    consecutive_columns: usize,
    consecutive_blocks_left: u64,
    consecutive_reads: u64,
    consecutive_nodes: u64,
    consecutive_blocks: u32,
    consecutive_blocks_weighted: u32,
    consecutive_blocks_finishing: u32,

    // Slices of columns.
    slice_columns: usize,
    l2_table_bytes: u64,
    sliced_table_bytes: u64,
    wide_sliced_table_bytes: u64,
    far_slice_columns: usize,
    far_slice_columns_wide: usize,
    dense_slice_edges: u64,
    dense_slice_columns: usize,

    // Scores of heads.
    head_lanes: usize,
    head_blocks_left: u64,
    head_reads: u64,
    head_edges: usize,
    head_blocks: u32,

    // Rows in turn, without edges.
    rows_in_turn: u64,
    rows_in_turn_blocks_left: u64,

    // Occupancy of edge walks, by an estimate of registers.
    registers_of_place: usize,
    registers_of_doubles: usize,
    registers_two_blocks: usize,
    registers_two_blocks_mixed: usize,
    registers_three_blocks: usize,
    registers_three_blocks_plain: usize,
    registers_four_blocks: usize,
    registers_four_blocks_mixed: usize,
    eight_edge_registers: usize,
    eight_edge_sums: usize,
    four_edge_registers: usize,
    two_edge_registers: usize,
    plain_read_registers: usize,
    plain_made_registers: usize,
    plain_kept_registers: usize,
    plain_blocks: u32,
    wide_lanes: usize,
    wide_lanes_waiting: usize,
    lane_edges: usize,
    wide_edges: usize,
    wide_blocks: u32,
    wide_blocks_weighted: u32,
    wide_blocks_weighted_pieces: u32,
    wide_blocks_weighted_many: u32,
    wide_blocks_waiting: u32,
    mixed_blocks: u32,
    mixed_blocks_crowded: u32,
    mixed_blocks_listed: u32,
    repeated_walk_blocks: u32,
    address_rows: usize,
    multi_block_blocks: u32,
    neighbour_group_blocks: u32,
    sparse_entries: usize,
    sparse_blocks: u32,

    // Row classes and their order.
    small_graph_edges: usize,
    dense_row_edges: u64,
    warp_row_edges: u64,
    lane_row_edges: u64,
    block_row_edges: u64,
    multi_block_turns: u32,
    local_fetch: f64,
    neighbour_group_row_wait: f64,
    neighbour_group_long_rows: f64,

    // Products by threads.
    thread_product_depth: usize,
    thread_product_rows: usize,
    thread_product_held: usize,
    thread_product_blocks_with_sums: u64,
    thread_product_parts: u32,
    thread_product_prefetch_bytes: u64,

    // Products on tensor cores.
    tensor_inner_least: u64,
    attended_inner_least: u64,
    split_matrix_elements: usize,
    two_block_tiles: usize,
    many_warps: usize,
    many_warps_tiles: usize,
    many_warps_row_tiles: usize,
    long_row_tiles: usize,
    few_row_elements: usize,
    few_row_tiles: u32,
    merged_two_block_tiles: usize,
    warpgroup_rows: u64,
    warpgroup_tiles_least: usize,
    warpgroup_tiles_most: usize,
    warpgroup_row_tiles_least: usize,
    warpgroup_row_tiles_most: usize,
    warpgroup_steps_ahead: usize,
    slab_steps_ahead: usize,
    split_k_steps_ahead: usize,
    split_k_tiles: usize,

    // Outer products.
    outer_warps: usize,
    outer_narrow_tiles: usize,
    outer_two_block_tiles: usize,
    outer_steps_ahead: usize,
    outer_steps_ahead_narrow: usize,
    outer_idle_groups: usize,
    outer_idle_warps: usize,
    turned_columns_least: usize,
    turned_columns_most: usize,
    turned_tiles_least: usize,
    turned_tiles_most: usize,
    turned_groups: usize,
    made_elements: u64,
    made_elements_large: usize,
    made_threads: u32,

    // Sums over all rows.
    sum_parts_bytes: u64,
    sum_parts: u64,
    sum_part_rows: u32,
    last_block_elements: u64,
    last_block_parts: u64,
    block_sum_parts: u64,
    thread_sum_parts: u32,
    few_sum_elements: u64,
    summed_columns: u64,
    shared_read_sums: usize,

    // Merged and branched launches.
    merged_followers: usize,
    merged_columns: u64,
    walked_columns: u64,
    outer_columns: u64,
    branch_rows: u64,
    fused_columns: u64,
    recomputed_steps: usize,
    edge_value_columns: u64,
    waiting_reads: u64,
    follower_share: u64,
    long_row_bytes: u64,
    cpu_block_rows: u64,
    cpu_block_elements: u64,
    frontier_changed_part: u64,
    frontier_readers_part: u64,

    // Loss, best parameters, epochs and transfers.
    loss_columns: usize,
    loss_blocks: u32,
    loss_blocks_doubles: u32,
    loss_place_cost: usize,
    best_parameter_bytes: u64,
    best_copy_elements: u64,
    best_copy_blocks: u64,
    commit_elements: u64,
    commit_blocks_of_processor: u32,
    epochs_per_graph: usize,
    pinned_state_bytes: u64,
    readback_gap_bytes: u64,
    upload_rows: usize,
    upload_bytes: usize,
}

/// Rows of a file that replace compiled-in ones: values by name.
pub type Replaced = BTreeMap<String, String>;

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its value.
    pub value: &'a str,
    /// The allowed values: `least..=most`, or alternatives separated by bars.
    pub allowed: &'a str,
    /// Its unit.
    pub unit: &'a str,
    /// Folder of `tests/bench/record`, or `unrecorded`.
    pub record: &'a str,
    /// What it decides.
    pub decides: &'a str,
}

/// An invalid row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Line number, from 1, if known.
    pub line: Option<usize>,
    /// The name, or the text in place of one.
    pub name: String,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: String,
}

impl fmt::Display for Misfit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Misfit { name, expected, found, .. } = self;
        write!(out, "row `{name}`: expected {expected}, found {found}")
    }
}

impl std::error::Error for Misfit {}

/// Another table is already in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlreadyInUse {
    /// The rows in use that replace compiled-in ones.
    pub replaced: &'static Replaced,
}

/// The table of a process.
struct InUse {
    table: Table,
    replaced: Replaced,
}

static IN_USE: OnceLock<InUse> = OnceLock::new();

/// The table in use. The first call fixes it: without `replace` before, the compiled-in one.
fn in_use() -> &'static InUse {
    IN_USE.get_or_init(|| {
        let table = table(&Replaced::new()).expect("a test reads the rows that are compiled in");
        InUse { table, replaced: Replaced::new() }
    })
}

/// The rows of this process that replace compiled-in ones.
pub fn replaced() -> &'static Replaced {
    &in_use().replaced
}

/// Replaces compiled-in rows for the lifetime of the process; if a table is already in use, it has
/// to be the same.
pub fn replace(replaced: &Replaced) -> Result<(), ReplaceError> {
    let table = table(replaced).map_err(ReplaceError::Misfit)?;
    let found = IN_USE.get_or_init(|| InUse { table, replaced: replaced.clone() });
    if found.replaced == *replaced {
        return Ok(());
    }
    Err(ReplaceError::AlreadyInUse(AlreadyInUse { replaced: &found.replaced }))
}

/// Why rows cannot be replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplaceError {
    /// They are invalid.
    Misfit(Misfit),
    /// The process uses others.
    AlreadyInUse(AlreadyInUse),
}

/// All compiled-in rows, in order.
pub fn rows() -> impl Iterator<Item = Row<'static>> {
    ROWS.lines().skip(1).filter_map(row)
}

/// Parses a file of rows: `name,value` on each line. Empty lines and lines that begin with `#` are
/// ignored; values equal to the compiled-in ones replace nothing.
pub fn read(text: &str) -> Result<Replaced, Misfit> {
    let known: BTreeMap<&str, Row> = rows().map(|row| (row.name, row)).collect();
    let (mut replaced, mut seen) = (Replaced::new(), BTreeMap::new());
    for (line, text) in (1..).zip(text.lines().map(str::trim)) {
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let misfit = |name: &str, expected: &str, found: String| Misfit {
            line: Some(line),
            name: name.to_owned(),
            expected: expected.to_owned(),
            found,
        };
        let Some((name, value)) = text.split_once(',') else {
            return Err(misfit(text, "name,value", format!("`{text}`")));
        };
        let (name, value) = (name.trim(), value.trim());
        let Some(row) = known.get(name) else {
            return Err(misfit(name, "the name of a row", format!("`{name}`")));
        };
        if let Some(before) = seen.insert(name, line) {
            return Err(misfit(name, "each name once", format!("it on line {before} too")));
        }
        if value != row.value {
            replaced.insert(name.to_owned(), value.to_owned());
        }
        // Validates the row alone, so that an error has its line.
        let alone = Replaced::from([(name.to_owned(), value.to_owned())]);
        table(&alone).map_err(|found| Misfit { line: Some(line), ..found })?;
    }
    Ok(replaced)
}

/// The values of the compiled-in rows, or of their replacements.
fn table(replaced: &Replaced) -> Result<Table, Misfit> {
    let rows: BTreeMap<&str, Row> = rows().map(|row| (row.name, row)).collect();
    let unknown = replaced.keys().find(|name| !rows.contains_key(name.as_str()));
    if let Some(name) = unknown {
        return Err(Misfit {
            line: None,
            name: name.clone(),
            expected: "the name of a row".to_owned(),
            found: format!("`{name}`"),
        });
    }
    Table::of(&rows, replaced)
}

/// A line of the table.
fn row(line: &str) -> Option<Row<'_>> {
    let mut fields = line.splitn(6, ',');
    let mut next = || fields.next();
    Some(Row {
        name: next()?,
        value: next()?,
        allowed: next()?,
        unit: next()?,
        record: next()?,
        decides: next()?,
    })
}

/// The value of a row, or of its replacement.
fn value<T: FromStr + PartialOrd>(
    name: &str,
    rows: &BTreeMap<&str, Row>,
    replaced: &Replaced,
) -> Result<T, Misfit> {
    let misfit = |expected: &str, found: &str| Misfit {
        line: None,
        name: name.to_owned(),
        expected: expected.to_owned(),
        found: found.to_owned(),
    };
    let row = rows.get(name).ok_or_else(|| misfit("a row", "none"))?;
    let text = replaced.get(name).map_or(row.value, String::as_str);
    let value = text.parse().ok().filter(|value| is_allowed(row.allowed, value));
    value.ok_or_else(|| misfit(row.allowed, &format!("`{text}`")))
}

/// Whether a row allows a value.
fn is_allowed<T: FromStr + PartialOrd>(allowed: &str, value: &T) -> bool {
    match allowed.split_once("..=") {
        Some((least, most)) => match (least.parse::<T>(), most.parse::<T>()) {
            (Ok(least), Ok(most)) => RangeInclusive::new(least, most).contains(value),
            _ => false,
        },
        None => allowed.split('|').any(|one| one.parse::<T>().is_ok_and(|one| one == *value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_that_is_compiled_in_reads_and_has_a_name() {
        assert_eq!(ROWS.lines().next(), Some("name,value,allowed,unit,record,decides"));
        assert!(ROWS.lines().all(|line| row(line).is_some()), "a line lacks fields");
        assert_eq!(table(&Replaced::new()).err(), None);
        let named: Vec<&str> = rows().map(|row| row.name).collect();
        assert_eq!(named, NAMES, "the rows of tuning.csv and of `rows!`, in order");
    }

    #[test]
    fn rows_of_a_file_replace_those_that_are_compiled_in() {
        let text = "# fitted anew\n\nwide_edges, 2\nlocal_fetch,1.5\nhead_edges,2\n";
        let found = read(text).unwrap();
        let expected = [("local_fetch", "1.5"), ("wide_edges", "2")];
        assert_eq!(found, expected.map(|(name, value)| (name.into(), value.into())).into());
        let table = table(&found).unwrap();
        assert_eq!((table.wide_edges, table.local_fetch, table.head_edges), (2, 1.5, 2));
    }

    #[test]
    fn what_is_wrong_with_a_row_is_said_with_its_line() {
        let says = |text: &str| {
            let misfit = read(text).unwrap_err();
            (misfit.line, misfit.to_string())
        };
        for (text, line, words) in [
            ("wide_edge,2", 1, "row `wide_edge`: expected the name of a row, found `wide_edge`"),
            ("\nwide_edges,3", 2, "row `wide_edges`: expected 1|2|4|8, found `3`"),
            ("wide_edges,few", 1, "row `wide_edges`: expected 1|2|4|8, found `few`"),
            ("wide_lanes,64", 1, "row `wide_lanes`: expected 1..=32, found `64`"),
            ("local_fetch,NaN", 1, "row `local_fetch`: expected 1..=1000, found `NaN`"),
            (
                "wide_edges,2\n#\nwide_edges,2",
                3,
                "row `wide_edges`: expected each name once, found it on line 1 too",
            ),
            ("wide_edges 2", 1, "row `wide_edges 2`: expected name,value, found `wide_edges 2`"),
        ] {
            assert_eq!(says(text), (Some(line), words.to_owned()), "{text}");
        }
    }
}
