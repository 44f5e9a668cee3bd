//! feature_entries: the entries of sparse features as a GPU walks them, by row and by column: rows
//! with most entries first, the entries of each in their order.
//!
//! promises  nodes are in the order of the csr, those of a kind in the order of the graph; columns
//!           of equally many entries ascend; the entries of a column ascend by row
//! never     holds a value; depends on a program, a device or the number of threads
//! limits    memory: the tables, and 40 bytes for each row and column
use std::{path::PathBuf, sync::Arc};

use warploom_contract::{
    Artifact, Inputs, Kind, StageError, Violation,
    arrow_file::View,
    kinds::{
        graph::{self, Features},
        partition::{
            Cells, FeatureSize, FeatureTable, FeatureWalk, Scheme, Table, TableFacts, Tables, Width,
        },
        permutation,
    },
    row_order::WalkOrder,
};
use warploom_shell::requests::PartitionRequest;

use crate::{
    check::{check_rows_once, expect_equal},
    schemes::walked_lists::{offsets_of, prove_order},
    size_estimate::Outline,
};

/// Sparse features of all nodes, or of a kind, in the order in which a run has the nodes.
#[derive(Clone, Debug)]
pub struct SparseFeatures {
    size: FeatureSize,
    /// Where the entries of each row start in the file, and their number.
    offsets: View<i64>,
    /// Column of each entry of the file.
    index: View<u32>,
    /// Row of the file of each row; none: the same.
    old_of_new: Option<Arc<Vec<u32>>>,
    /// Where the entries of each row start, and their number.
    starts: Vec<u64>,
}

impl SparseFeatures {
    /// Features whose rows a run has in this order; the file is for messages.
    pub fn new(
        kind: Option<u32>,
        columns: usize,
        offsets: View<i64>,
        index: View<u32>,
        old_of_new: Option<Arc<Vec<u32>>>,
        file: PathBuf,
    ) -> Result<Self, StageError> {
        let rows = offsets.len().saturating_sub(1);
        let whole = (offsets.first(), offsets.last()) == (Some(&0), Some(&(index.len() as i64)));
        if !whole || offsets.windows(2).any(|pair| pair[0] > pair[1]) {
            let what = format!("expected offsets from 0 to {} that ascend", index.len());
            return Err(StageError::damaged(&file, what));
        }
        if let Some(entry) = index.iter().position(|&column| column as usize >= columns) {
            let found = index[entry];
            let what = format!("entry {entry}: expected a column below {columns}, found {found}");
            return Err(StageError::damaged(&file, what));
        }
        if let Some(nodes) = old_of_new.as_ref().map(|order| order.len()).filter(|&n| n != rows) {
            let what = format!("expected rows of {nodes} nodes, found {rows}");
            return Err(StageError::damaged(&file, what));
        }
        let (rows_counted, columns) = (rows as u64, columns as u64);
        let size = FeatureSize { kind, rows: rows_counted, columns, entries: index.len() as u64 };
        let mut features = SparseFeatures { size, offsets, index, old_of_new, starts: vec![0] };
        let mut end = 0;
        for row in 0..rows {
            end += features.row(row).len() as u64;
            features.starts.push(end);
        }
        Ok(features)
    }

    /// Columns of the entries of a row.
    fn row(&self, row: usize) -> &[u32] {
        let old = self.old_of_new.as_ref().map_or(row, |order| order[row] as usize);
        &self.index[self.offsets[old] as usize..self.offsets[old + 1] as usize]
    }

    fn rows(&self) -> usize {
        self.size.rows as usize
    }

    /// Entries of each column.
    fn count_columns(&self) -> Vec<u64> {
        let mut counts = vec![0; self.size.columns as usize];
        self.index.iter().for_each(|&column| counts[column as usize] += 1);
        counts
    }
}

/// Maps the sparse features of a graph, where it has some.
pub fn read(
    inputs: &Inputs,
    request: &PartitionRequest,
) -> Result<Vec<SparseFeatures>, StageError> {
    if !request.has_sparse_features {
        return Ok(Vec::new());
    }
    let artifact = inputs.get(Kind::Graph)?;
    let order = read_order(inputs.get(Kind::Permutation)?)?;
    let kinds = graph::open_names(artifact)?.kinds;
    let mut found = Vec::new();
    let of_kinds = kinds.iter().zip(0u32..).map(|(name, kind)| (Some(kind), Some(name.as_str())));
    for (kind, name) in std::iter::once((None, None)).chain(of_kinds) {
        let sparse = graph::open_sparse_features(artifact, name)?;
        let Some(Features::Sparse { columns, entries }) = sparse else { continue };
        // Nodes of a kind stay in the order of the graph.
        let order = order.clone().filter(|_| kind.is_none());
        let file = artifact.path.clone();
        let (offsets, index) = (entries.offsets, entries.index);
        found.push(SparseFeatures::new(kind, columns, offsets, index, order, file)?);
    }
    Ok(found)
}

/// The old number of each new one; none where no number changes.
fn read_order(artifact: &Artifact) -> Result<Option<Arc<Vec<u32>>>, StageError> {
    let new_of_old = permutation::open(artifact)?;
    if !permutation::is_renumbered(&new_of_old) {
        return Ok(None);
    }
    let nodes = new_of_old.len();
    let mut old_of_new = vec![u32::MAX; nodes];
    for (old, &new) in new_of_old.iter().enumerate() {
        match old_of_new.get_mut(new as usize) {
            Some(place) if *place == u32::MAX => *place = old as u32,
            _ => {
                let what = format!(
                    "node {old}: the new number {new} is beyond {nodes} nodes or given twice"
                );
                let path = artifact.file(permutation::PERMUTATION_FILE);
                return Err(StageError::damaged(&path, what));
            }
        }
    }
    Ok(Some(Arc::new(old_of_new)))
}

/// The size of the scheme; none without sparse features.
pub fn outline(features: &[SparseFeatures]) -> Option<Outline> {
    let sizes: Vec<FeatureSize> = features.iter().map(|of_kind| of_kind.size).collect();
    let tables = sizes.iter().flat_map(|size| size.walks().map(|walk| table_facts(*size, walk)));
    let lines = sizes.iter().map(|size| size.rows.saturating_add(size.columns));
    let scratch_bytes = lines.fold(0u64, u64::saturating_add).saturating_mul(40);
    (!sizes.is_empty()).then(|| Outline {
        tables: tables.flatten().collect(),
        padding: None,
        scratch_bytes,
        scheme: Scheme::FeatureEntries { features: sizes.clone() },
    })
}

fn table_facts(size: FeatureSize, walk: FeatureWalk) -> [TableFacts; 3] {
    let ([rows, _], entries) = (size.rows_and_far(walk), size.entries);
    let slots = Width::from_largest(entries);
    let name = |table: FeatureTable| walk.table_name(table);
    [
        TableFacts::single(name(FeatureTable::Rows), rows, Width::U32),
        TableFacts::single(name(FeatureTable::Offsets), rows.saturating_add(1), slots),
        TableFacts::new(
            name(FeatureTable::Entries),
            entries,
            &[("far", Width::U32), ("edge", slots)],
        ),
    ]
}

/// Builds the tables.
pub fn build(features: &[SparseFeatures]) -> Vec<Table> {
    let of_kind = |features: &SparseFeatures| {
        let [by_rows, by_columns] = features.size.walks();
        let (by_rows, by_columns) = rayon::join(
            || list_by_rows(features).into_tables(by_rows),
            || list_by_columns(features).into_tables(by_columns),
        );
        [by_rows, by_columns]
    };
    features.iter().flat_map(of_kind).flatten().collect()
}

/// The entries of rows, or of columns, in walked order.
struct Listed {
    rows: Vec<u32>,
    offsets: Vec<u64>,
    far: Vec<u32>,
    entry: Cells,
}

impl Listed {
    fn into_tables(self, walk: FeatureWalk) -> [Table; 3] {
        let name = |table: FeatureTable| walk.table_name(table);
        let width = Width::from_largest(self.far.len() as u64);
        let mut offsets = Cells::room(width, self.offsets.len() as u64);
        self.offsets.iter().for_each(|&offset| offsets.push(offset));
        let entries = vec![("far", Cells::U32(self.far)), ("edge", self.entry)];
        [
            Table::single(name(FeatureTable::Rows), Cells::U32(self.rows)),
            Table::single(name(FeatureTable::Offsets), offsets),
            Table::new(name(FeatureTable::Entries), entries),
        ]
    }
}

fn list_by_rows(features: &SparseFeatures) -> Listed {
    let degree = |row: u32| features.row(row as usize).len() as u64;
    let rows = WalkOrder::by_degree(features.rows()).sort(features.rows(), degree);
    let (offsets, count) = (offsets_of(&rows, degree), features.size.entries);
    let mut entry = Cells::room(Width::from_largest(count), count);
    let mut far = Vec::with_capacity(count as usize);
    for &row in &rows {
        let row = row as usize;
        far.extend_from_slice(features.row(row));
        (features.starts[row]..features.starts[row + 1]).for_each(|place| entry.push(place));
    }
    Listed { rows, offsets, far, entry }
}

fn list_by_columns(features: &SparseFeatures) -> Listed {
    let (columns, count) = (features.size.columns as usize, features.size.entries);
    let mut next = features.count_columns();
    let degree = |column: u32| next[column as usize];
    let rows = WalkOrder::by_degree(columns).sort(columns, degree);
    let offsets = offsets_of(&rows, degree);
    // From here on the next place of each column: rows come in order.
    rows.iter().zip(&offsets).for_each(|(&column, &offset)| next[column as usize] = offset);
    let mut entry = Cells::zeros(Width::from_largest(count), count);
    let mut far = vec![0; count as usize];
    for row in 0..features.rows() {
        for (place, &column) in (features.starts[row]..).zip(features.row(row)) {
            let at = next[column as usize] as usize;
            far[at] = row as u32;
            entry.set(at, place);
            next[column as usize] += 1;
        }
    }
    Listed { rows, offsets, far, entry }
}

/// Checks the tables without the code that builds them: each entry by the position of its value
/// against row and column of the features.
pub fn prove(features: &[SparseFeatures], tables: &Tables) -> Result<(), Violation> {
    features.iter().try_for_each(|features| {
        let [by_rows, by_columns] = features.size.walks();
        prove_walk(features, tables, by_rows)?;
        prove_walk(features, tables, by_columns)
    })
}

fn prove_walk(
    features: &SparseFeatures,
    tables: &Tables,
    walk: FeatureWalk,
) -> Result<(), Violation> {
    let [rows, offsets, entries] = FeatureTable::ALL.map(|table| walk.table_name(table));
    let ([count, _], counts) = (features.size.rows_and_far(walk), features.count_columns());
    let degree = |row: u64| {
        if walk.by_columns { counts[row as usize] } else { features.row(row as usize).len() as u64 }
    };
    let walked = tables.only_column(&rows)?;
    check_rows_once(&rows, walked.iter(), count as usize)?;
    prove_order(degree, walked, WalkOrder::by_degree(count as usize), &rows)?;
    let starts = tables.only_column(&offsets)?;
    let (far, edge) = (tables.column(&entries, "far")?, tables.column(&entries, "edge")?);
    let mut next = 0;
    for item in 0..walked.len() {
        let row = walked.get(item);
        expect_equal(|| format!("{offsets}, place {item}"), next, starts.get(item))?;
        let mut before = None;
        for slot in next as usize..(next + degree(row)) as usize {
            let (place, end) = (edge.get(slot), far.get(slot));
            let [node, column] = if walk.by_columns { [end, row] } else { [row, end] };
            if features.column_at(node, place) != Some(column) {
                return Err(Violation::new(format!(
                    "{entries}, entry {slot}: value {place} is not in column {column} of row {node}"
                )));
            }
            if before.is_some_and(|before| before >= place) {
                return Err(Violation::new(format!(
                    "{entries}, entry {slot}: value {place} does not ascend"
                )));
            }
            before = Some(place);
        }
        next += degree(row);
    }
    expect_equal(|| format!("{offsets}, the last"), next, starts.get(walked.len()))
}

impl SparseFeatures {
    /// The column of a value, if it is one of the row.
    fn column_at(&self, row: u64, place: u64) -> Option<u64> {
        let start = *self.starts.get(row as usize)?;
        let within = place.checked_sub(start)?;
        if row >= self.size.rows {
            return None;
        }
        self.row(row as usize).get(within as usize).map(|&column| u64::from(column))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use warploom_contract::ErrorKind;

    use super::*;
    use crate::schemes::tests::change_each;

    /// Three rows of four columns, of which the second is empty, in this order.
    pub fn features(old_of_new: Option<Vec<u32>>) -> SparseFeatures {
        let (offsets, index) = (vec![0, 1, 1, 4].into(), vec![2, 0, 1, 2].into());
        let order = old_of_new.map(Arc::new);
        SparseFeatures::new(None, 4, offsets, index, order, "here".into()).unwrap()
    }

    /// Rows, offsets, far ends and positions of values, by rows or by columns.
    fn lists(features: &SparseFeatures, by_columns: bool) -> [Vec<u64>; 4] {
        let tables: Tables = build(std::slice::from_ref(features)).into_iter().collect();
        let walk = FeatureWalk { kind: None, by_columns };
        let [rows, offsets, entries] = FeatureTable::ALL.map(|table| walk.table_name(table));
        [(&rows, &*rows), (&offsets, &*offsets), (&entries, "far"), (&entries, "edge")]
            .map(|(table, column)| tables.column(table, column).unwrap().iter().collect())
    }

    #[test]
    fn entries_are_listed_by_rows_and_by_columns() {
        let found = lists(&features(None), false);
        assert_eq!(found, [vec![2, 0, 1], vec![0, 3, 4, 4], vec![0, 1, 2, 2], vec![1, 2, 3, 0]]);
        let found = lists(&features(None), true);
        let rows = vec![2, 0, 1, 3];
        assert_eq!(found, [rows, vec![0, 2, 3, 4, 4], vec![0, 2, 2, 2], vec![0, 3, 1, 2]]);
    }

    #[test]
    fn rows_are_in_the_order_of_a_run() {
        let permuted = features(Some(vec![2, 0, 1]));
        let found = lists(&permuted, false);
        assert_eq!(found, [vec![0, 1, 2], vec![0, 3, 4, 4], vec![0, 1, 2, 2], vec![0, 1, 2, 3]]);
        let found = lists(&permuted, true);
        let rows = vec![2, 0, 1, 3];
        assert_eq!(found, [rows, vec![0, 2, 3, 4, 4], vec![0, 1, 0, 0], vec![2, 3, 0, 1]]);
    }

    #[test]
    fn no_number_can_be_changed_unseen() {
        for order in [None, Some(vec![2, 0, 1])] {
            let features = [features(order)];
            let (outline, tables) = (outline(&features).unwrap(), build(&features));
            let facts: Vec<TableFacts> = tables.iter().map(Table::facts).collect();
            assert_eq!(facts, outline.tables);
            prove(&features, &tables.iter().cloned().collect()).unwrap();
            let name = outline.scheme.name();
            let changed = change_each(name, &tables, |tables| prove(&features, &tables).is_err());
            assert!(changed > 100);
        }
    }

    #[test]
    fn damaged_features_are_named() {
        let refused = |offsets: Vec<i64>, order: Option<Vec<u32>>, columns: usize| {
            let (offsets, index) = (offsets.into(), vec![2, 0, 1, 2].into());
            let (order, file) = (order.map(Arc::new), "features".into());
            SparseFeatures::new(None, columns, offsets, index, order, file).unwrap_err()
        };
        let column = refused(vec![0, 1, 4], None, 2);
        assert!(column.what.contains("entry 0: expected a column below 2, found 2"), "{column}");
        for error in [
            column,
            refused(vec![0, 3, 1, 4], None, 3),
            refused(vec![0, 3], None, 3),
            refused(vec![0, 1, 4], Some(vec![1, 2, 0]), 3),
        ] {
            assert_eq!(error.kind, ErrorKind::Damaged);
        }
    }

    #[test]
    fn without_sparse_features_there_is_no_division() {
        assert!(outline(&[]).is_none());
    }
}
