//! ascending_edges: scheme `ascending-edges`: the edges of each row by far end, for kernels that
//! search them. A csr lists them so too, but those of typed graphs by type first.
//!
//! promises  rows in the order of their numbers; edges of equal far ends ascend by edge id
//! never     depends on a program, a device or the number of threads
//! limits    memory: the tables, and 16 bytes for each edge of the longest row
use warploom_contract::{
    Violation,
    kinds::{
        csr::Csr,
        partition::{Cells, Scheme, Table, TableFacts, Tables, Width},
    },
};

use crate::{
    check::expect_equal,
    directions::{Side, both_sides},
    schemes::walked_lists::{EdgeOrder, list_edges, prove_lists},
    size_estimate::Outline,
};

/// Where the edges of each row start, and these.
const TABLES: [&str; 2] = ["ascending_offsets", "ascending_edges"];

/// The size of the scheme.
pub fn outline(csr: &Csr) -> Outline {
    let [offsets, edges] = TABLES;
    let tables = both_sides(csr).into_iter().flat_map(|side| {
        let slots = Width::from_largest(side.edges());
        let columns = [("far", Width::U32), ("edge", slots)];
        [
            TableFacts::single(side.table_name(offsets), side.nodes() + 1, slots),
            TableFacts::new(side.table_name(edges), side.edges(), &columns),
        ]
    });
    let longest = both_sides(csr).into_iter().filter_map(|side| side.rows.degrees().max()).max();
    Outline {
        tables: tables.collect(),
        padding: None,
        scratch_bytes: longest.unwrap_or(0).saturating_mul(16),
        scheme: Scheme::AscendingEdges {},
    }
}

/// The tables of one direction.
pub fn build(side: Side<'_>) -> Vec<Table> {
    let [offsets, edges] = TABLES;
    let starts = side.rows.offsets;
    let mut cells = Cells::room(Width::from_largest(side.edges()), starts.len() as u64);
    starts.iter().for_each(|&start| cells.push(start));
    vec![Table::single(side.table_name(offsets), cells), list_edges(side, edges, EdgeOrder::FarEnd)]
}

/// Checks the tables of one direction without the code that builds them: each edge by its id
/// against the csr.
pub fn prove(side: Side<'_>, tables: &Tables) -> Result<(), Violation> {
    let [offsets, edges] = TABLES;
    let name = side.table_name(offsets);
    let starts = tables.only_column(&name)?;
    for (row, &expected) in side.rows.offsets.iter().enumerate() {
        expect_equal(|| format!("{name}, row {row}"), expected, starts.get(row))?;
    }
    prove_lists(side, tables, edges, EdgeOrder::FarEnd)
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;
    use warploom_contract::kinds::graph::EdgeTable;
    use warploom_extract::group::build_csr;
    use warploom_test_support::graphs;

    use super::*;
    use crate::{directions::build_tables, schemes::tests::change_each};

    /// Four edges of three rows, by relations where asked for.
    pub fn csr(is_typed: bool) -> Csr {
        let table = EdgeTable {
            source: vec![2, 1, 0, 1],
            target: vec![0, 0, 0, 2],
            kind: is_typed.then(|| vec![0, 1, 2, 0]),
            ..EdgeTable::default()
        };
        build_csr(3, &table).into()
    }

    fn prove_both(csr: &Csr, tables: &Tables) -> Result<(), Violation> {
        both_sides(csr).into_iter().try_for_each(|side| prove(side, tables))
    }

    fn build_and_prove(csr: &Csr) -> Vec<Table> {
        let tables = build_tables(csr, build);
        let facts: Vec<TableFacts> = tables.iter().map(Table::facts).collect();
        assert_eq!(facts, outline(csr).tables);
        let proved = prove_both(csr, &tables.iter().cloned().collect());
        proved.unwrap_or_else(|wrong| panic!("{}", wrong.0));
        tables
    }

    #[test]
    fn edges_ascend_by_far_end_in_typed_graphs_too() {
        for is_typed in [false, true] {
            let csr = csr(is_typed);
            assert_eq!(csr.incoming.rows().row(0).is_sorted(), !is_typed);
            let tables: Tables = build_and_prove(&csr).into_iter().collect();
            let column = |table: &str, column: &str| -> Vec<u64> {
                tables.column(table, column).unwrap().iter().collect()
            };
            let offsets = |side: &str| {
                let table = format!("{side}_ascending_offsets");
                column(&table, &table)
            };
            assert_eq!([offsets("in"), offsets("out")], [vec![0, 3, 3, 4], vec![0, 1, 3, 4]]);
            assert_eq!(column("in_ascending_edges", "far"), [0, 1, 2, 1]);
            assert_eq!(column("in_ascending_edges", "edge"), [2, 1, 0, 3]);
            assert_eq!(column("out_ascending_edges", "far"), [0, 0, 2, 0]);
            assert_eq!(column("out_ascending_edges", "edge"), [2, 1, 3, 0]);
        }
    }

    #[test]
    fn no_number_can_be_changed_unseen() {
        for is_typed in [false, true] {
            let csr = csr(is_typed);
            let tables = build_and_prove(&csr);
            let is_seen = |tables: Tables| prove_both(&csr, &tables).is_err();
            assert!(change_each("ascending-edges", &tables, is_seen) > 60);
        }
    }

    #[test]
    fn degenerate_graphs() {
        for graph in graphs::degenerate_graphs() {
            let (source, target) = graph.edges.into_iter().unzip();
            let table = EdgeTable { source, target, ..EdgeTable::default() };
            build_and_prove(&build_csr(graph.nodes, &table).into());
        }
    }

    proptest! {
        #[test]
        fn any_graph_has_the_same_tables_for_any_number_of_threads(
            edges in proptest::collection::vec((0u32..40, 0u32..40, 0u16..3), 0..600),
        ) {
            let table = EdgeTable {
                source: edges.iter().map(|edge| edge.0).collect(),
                target: edges.iter().map(|edge| edge.1).collect(),
                kind: Some(edges.iter().map(|edge| edge.2).collect()),
                ..EdgeTable::default()
            };
            let csr: Csr = build_csr(40, &table).into();
            let of = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| build_and_prove(&csr))
            };
            let first = of(1);
            prop_assert!(first == of(2) && first == of(8));
        }
    }
}
