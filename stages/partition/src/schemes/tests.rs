//! Invariants of every scheme, on degenerate and random graphs: tables expand to the csr, have the
//! sizes of the outline, are the same for any number of threads, and every changed number is
//! detected.
use std::path::PathBuf;

use proptest::prelude::*;
use warploom_contract::{
    Artifact, ErrorKind, Inputs, KeyDocument, Kind, Outputs, StageError, Store,
    kinds::{
        csr::{Csr, Direction},
        graph::EdgeTable,
        partition::{self, Cells, Column, Division, Partition, Scheme, Table, Tables, Width},
    },
    row_order::WalkOrder,
};
use warploom_extract::group::build_csr;
use warploom_shell::{StageName, requests::PartitionRequest};
use warploom_spec::{PartitionSpec, Scheme as Asked};
use warploom_test_support::{golden_text::assert_golden, graphs};

use crate::{
    directions::both_sides,
    schemes::{ascending_edges, build, feature_entries, outline, prove, walked_lists},
    size_estimate::{Outline, Room},
};

/// Source, target and relation.
type Edge = (u32, u32, u16);

/// Schemes that need no file and only what the graph has.
fn applicable_schemes(csr: &Csr) -> impl Iterator<Item = Asked> {
    let (typed, many) = (csr.types.is_some(), csr.graphs.is_some());
    let fits = move |scheme: &Asked| match scheme {
        Asked::Auto | Asked::File | Asked::Program => false,
        Asked::RelationMajor | Asked::RowRelation => typed,
        Asked::PackedGraphs => many,
        _ => true,
    };
    Asked::ALL.iter().copied().filter(fits)
}

fn csr(nodes: usize, edges: &[Edge], typed: bool) -> Csr {
    let table = EdgeTable {
        source: edges.iter().map(|edge| edge.0).collect(),
        target: edges.iter().map(|edge| edge.1).collect(),
        kind: typed.then(|| edges.iter().map(|edge| edge.2).collect()),
        ..EdgeTable::default()
    };
    build_csr(nodes, &table).into()
}

/// The csr as a set of many graphs: each connected component is one.
fn csr_of_components(nodes: usize, edges: &[Edge]) -> Csr {
    let mut graph: Vec<u32> = (0..nodes as u32).collect();
    // Joining goes on until nothing changes, which is slow and plain.
    while edges.iter().any(|&(source, target, _)| {
        let (of_source, of_target) = (graph[source as usize], graph[target as usize]);
        let least = of_source.min(of_target);
        (graph[source as usize], graph[target as usize]) = (least, least);
        of_source != of_target
    }) {}
    Csr { graphs: Some(graph.into()).into(), ..csr(nodes, edges, false) }
}

/// Settings that are small, so that small graphs have several of everything.
fn small_settings() -> PartitionSpec {
    PartitionSpec {
        unit_edges: 8,
        both_directions: true,
        ngs: 3,
        dw: 16,
        block_threads: 64,
        merge_items: 7,
        warp_tile: 2,
        block_tile: 4,
        lanes: 4,
        block_nodes: 4,
        ..PartitionSpec::default()
    }
}

fn request(spec: PartitionSpec) -> PartitionRequest {
    PartitionRequest { spec, ..PartitionRequest::default() }
}

/// Builds, compares the sizes with the outline, and proves.
fn build_and_prove(csr: &Csr, asked: Asked, spec: &PartitionSpec) -> (Outline, Vec<Table>) {
    let request = request(spec.clone());
    let outline = outline(asked, csr, &request, Room(u64::MAX)).unwrap();
    let tables = build(&outline.scheme, csr, &[], &request).unwrap();
    assert_eq!(tables.iter().map(Table::facts).collect::<Vec<_>>(), outline.tables, "{asked}");
    let padding = prove(&outline.scheme, csr, &[], &tables.iter().cloned().collect::<Tables>())
        .unwrap_or_else(|wrong| panic!("{asked}: {}", wrong.0));
    assert_eq!(padding, outline.padding, "{asked}");
    (outline, tables)
}

fn build_all_schemes(csr: &Csr, spec: &PartitionSpec) -> Vec<Vec<Table>> {
    applicable_schemes(csr).map(|asked| build_and_prove(csr, asked, spec).1).collect()
}

fn plain(pairs: impl IntoIterator<Item = (u32, u32)>) -> Vec<Edge> {
    pairs.into_iter().map(|(source, target)| (source, target, (source % 3) as u16)).collect()
}

/// Degenerate graphs.
fn degenerate() -> impl Iterator<Item = (usize, Vec<Edge>)> {
    graphs::degenerate_graphs().into_iter().map(|graph| (graph.nodes, plain(graph.edges)))
}

#[test]
fn degenerate_graphs() {
    for (nodes, edges) in degenerate() {
        for typed in [false, true] {
            build_all_schemes(&csr(nodes, &edges, typed), &small_settings());
            build_all_schemes(&csr(nodes, &edges, typed), &PartitionSpec::default());
        }
        build_and_prove(&csr_of_components(nodes, &edges), Asked::PackedGraphs, &small_settings());
        build_and_prove(
            &csr_of_components(nodes, &edges),
            Asked::PackedGraphs,
            &PartitionSpec::default(),
        );
    }
}

#[test]
fn a_hub_of_more_than_a_million() {
    let leaves = 1_050_000;
    let graph = csr(leaves + 1, &plain((1..=leaves as u32).map(|leaf| (leaf, 0))), true);
    for asked in applicable_schemes(&graph) {
        build_and_prove(&graph, asked, &PartitionSpec::default());
    }
}

/// 16 nodes, 44 edges in 3 relations: a hub, a node alone, self loops, repeats.
fn sixteen() -> Csr {
    let hub = (1..13).map(|leaf| (leaf, 0));
    let ring = (0..14).map(|node| (node, (node + 1) % 14));
    let far = (0..14).map(|node| (node, node * 5 % 14));
    csr(16, &plain(hub.chain(ring).chain(far).chain([(2, 2), (2, 2), (7, 1), (14, 14)])), true)
}

/// Eight graphs of 16 nodes; the rows of one do not lie side by side.
fn eight() -> Csr {
    csr_of_components(
        16,
        &plain([
            (0, 9),
            (9, 0),
            (1, 2),
            (2, 3),
            (3, 1),
            (4, 5),
            (6, 7),
            (7, 8),
            (8, 10),
            (10, 11),
            (11, 6),
            (14, 14),
        ]),
    )
}

/// The example for a scheme.
fn examples() -> Vec<(Asked, Csr)> {
    let typed = sixteen();
    applicable_schemes(&typed)
        .map(|asked| (asked, typed.clone()))
        .chain([(Asked::PackedGraphs, eight())])
        .collect()
}

/// A table as a person reads it: a line a column.
fn shown(table: &Table) -> String {
    let mut text =
        format!("{}, {} rows, {} bytes\n", table.name, table.rows(), table.facts().bytes());
    for (name, column) in table.columns() {
        let numbers: Vec<String> = column.iter().map(|number| number.to_string()).collect();
        text += &format!("  {name} {}: {}\n", column.width().name(), numbers.join(" "));
    }
    text
}

/// Tells each format of the example; `UPDATE=1` writes them anew.
#[test]
fn every_format_of_an_example() {
    let graph = sixteen();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let compare = |name: &str, text: String| {
        assert_golden(&folder.join(format!("{name}.txt")), &text);
    };
    let rows = |side: &Direction, types: &dyn Fn(u64) -> u16| {
        let row = |row: usize| {
            let slots = side.offsets[row] as usize..side.offsets[row + 1] as usize;
            let shown: Vec<String> = slots
                .map(|slot| format!("{}/{}", side.neighbours[slot], types(side.edges[slot])))
                .collect();
            format!("  {row} from slot {}: {}\n", side.offsets[row], shown.join(" "))
                .replace(": \n", ":\n")
        };
        (0..16).map(row).collect::<String>()
    };
    let of_edge = |edge: u64| {
        graph.types.as_ref().unwrap()
            [graph.incoming.edges.iter().position(|&known| known == edge).unwrap()]
    };
    let pages = format!(
        "in-rows, each neighbour with its relation\n{}out-rows\n{}",
        rows(&graph.incoming, &of_edge),
        rows(&graph.outgoing, &of_edge)
    );
    compare("csr", pages);
    compare(
        "graphs",
        format!(
            "graph of each node of the set of many: {:?}\n",
            eight().graphs.as_deref().unwrap()
        ),
    );
    for (asked, graph) in examples() {
        let (outline, tables) = build_and_prove(&graph, asked, &small_settings());
        let padding = outline.padding.map_or_else(String::new, |padding| {
            format!("{} of {} places empty\n", padding.empty, padding.places)
        });
        let scheme = serde_json::to_string(&outline.scheme).unwrap();
        compare(
            asked.name(),
            format!("{scheme}\n{padding}{}", tables.iter().map(shown).collect::<String>()),
        );
    }
}

/// The same table with another number in a cell.
pub(super) fn change_cell(table: &Table, column_index: usize, row: usize, number: u64) -> Table {
    let cells = |index: usize, column: &Column| {
        let mut cells = Cells::room(column.width(), column.len() as u64);
        column.iter().enumerate().for_each(|(at, known)| {
            cells.push(if (index, at) == (column_index, row) { number } else { known })
        });
        cells
    };
    Table::new(
        table.name.clone(),
        table
            .columns()
            .iter()
            .enumerate()
            .map(|(index, (name, column))| (name.as_str(), cells(index, column)))
            .collect(),
    )
}

/// Changes every number in turn, and expects `is_seen` of the changed tables; returns how many.
pub(super) fn change_each(name: &str, tables: &[Table], is_seen: impl Fn(Tables) -> bool) -> usize {
    let mut changed = 0;
    for (index, table) in tables.iter().enumerate() {
        for (column_index, (column_name, column)) in table.columns().iter().enumerate() {
            for row in 0..column.len() {
                let known = column.get(row);
                for number in [known + 1, known.wrapping_sub(1), known ^ 4, u64::MAX] {
                    let other = change_cell(table, column_index, row, number);
                    if other == *table {
                        continue;
                    }
                    let all = tables
                        .iter()
                        .enumerate()
                        .map(|(at, table)| if at == index { other.clone() } else { table.clone() });
                    assert!(
                        is_seen(all.collect()),
                        "{name}: {}.{column_name}[{row}] = {number} in place of {known} passed",
                        table.name
                    );
                    changed += 1;
                }
            }
        }
    }
    changed
}

#[test]
fn no_number_can_be_changed_unseen() {
    let mut changed = 0;
    for (asked, graph) in examples() {
        let (outline, tables) = build_and_prove(&graph, asked, &small_settings());
        changed += change_each(asked.name(), &tables, |tables| {
            let found = prove(&outline.scheme, &graph, &[], &tables);
            found.is_err() || found.is_ok_and(|padding| padding != outline.padding)
        });
    }
    assert!(changed > 1000);
}

#[test]
fn rows_are_walked_in_windows_behind_those_of_many_edges() {
    let graph = sixteen();
    let order = WalkOrder { window_rows: 4, sorted_above: 3 };
    for side in both_sides(&graph) {
        let tables = walked_lists::build(side, order);
        let prove = |tables: &Tables| walked_lists::prove(side, tables, order);
        let all: Tables = tables.iter().cloned().collect();
        prove(&all).unwrap_or_else(|wrong| panic!("{}", wrong.0));
        assert!(change_each(side.name, &tables, |tables| prove(&tables).is_err()) > 500);
        let rows: Vec<u64> =
            all.only_column(&side.table_name("walk_rows")).unwrap().iter().collect();
        let degrees: Vec<u64> = rows.iter().map(|&row| side.rows.degree(row as usize)).collect();
        let long = degrees.iter().filter(|&&degree| degree > 3).count();
        assert!(degrees[..long].is_sorted_by(|a, b| a >= b), "{rows:?}: {degrees:?}");
        for window in rows[long..].chunks(4) {
            let mut sorted = window.to_vec();
            sorted.sort_unstable();
            let skipped = (sorted[0]..sorted[window.len() - 1])
                .filter(|row| !rows[..long].contains(row) && !window.contains(row));
            assert_eq!(skipped.count(), 0, "{rows:?}: {window:?} leaves a row out");
        }
    }
}

#[test]
fn both_directions_are_walked_in_windows_too() {
    let graph = sixteen();
    let order = WalkOrder { window_rows: 4, sorted_above: 6 };
    let both = walked_lists::build_both(&graph, order);
    let sides = both_sides(&graph);
    let tables: Vec<Table> =
        sides.into_iter().flat_map(|side| walked_lists::build(side, order)).collect();
    let prove = |both: &Tables| {
        let all = tables.iter().chain(both.iter()).cloned().collect();
        walked_lists::prove_both(&graph, &all, order)
    };
    prove(&both.iter().cloned().collect()).unwrap_or_else(|wrong| panic!("{}", wrong.0));
    assert!(change_each("both", &both, |tables| prove(&tables).is_err()) > 300);
    // In-edges of a row come first; ids of out-edges follow those of all in-edges.
    let [rows, offsets, edges] = both;
    let (rows, offsets) =
        (rows.column("both_walk_rows").unwrap(), offsets.column("both_walk_offsets").unwrap());
    let [far, edge] = ["far", "edge"].map(|name| edges.column(name).unwrap());
    for place in 0..graph.nodes() {
        let row = rows.get(place) as usize;
        let mut expected = Vec::new();
        for (side, shift) in sides.into_iter().zip([0, graph.edges() as u64]) {
            let slots = side.rows.offsets[row] as usize..side.rows.offsets[row + 1] as usize;
            let mut list: Vec<(u64, u64)> = slots
                .map(|slot| (side.edge_ids[slot] + shift, u64::from(side.rows.neighbours[slot])))
                .collect();
            list.sort_unstable();
            expected.append(&mut list);
        }
        let slots = offsets.get(place) as usize..offsets.get(place + 1) as usize;
        let found: Vec<(u64, u64)> = slots.map(|slot| (edge.get(slot), far.get(slot))).collect();
        assert_eq!(found, expected, "row {row}");
    }
}

#[test]
fn tables_of_both_directions_are_there_where_they_are_asked_for() {
    let tables = |both_directions: bool| {
        let spec = PartitionSpec { both_directions, ..small_settings() };
        build_and_prove(&sixteen(), Asked::Rows, &spec)
    };
    let ((without, few), (with, all)) = (tables(false), tables(true));
    assert_eq!((few.len(), all.len()), (10, 13));
    assert_eq!(few[..], all[..10]);
    assert!(matches!(without.scheme, Scheme::Rows { both_walk: None, .. }));
    let bytes = |outline: &Outline| outline.tables.iter().map(|table| table.bytes()).sum::<u64>();
    let graph = sixteen();
    let expected = 16 * graph.edges() + 4 * (2 * graph.nodes() + 1);
    assert_eq!(bytes(&with) - bytes(&without), expected as u64);
}

/// Publishes tables as the stage does.
fn publish_tables(
    store: &Store,
    graph: &Csr,
    division: Division,
    tables: &[Table],
    mark: usize,
) -> Result<Artifact, StageError> {
    let document =
        KeyDocument::new("partition", 2, &[Kind::Partition], serde_json::json!({"mark": mark}));
    let mut outputs =
        Outputs::begin(store, &StageName::Partition.contract(), document, &Inputs::new())?;
    let rows = build_and_prove(graph, Asked::Rows, &small_settings());
    let mut schemes = vec![Division {
        scheme: rows.0.scheme,
        why: "asked for".into(),
        tables: rows.0.tables,
        padding: None,
    }];
    let is_rows = division.scheme.name() == "rows";
    if is_rows {
        schemes.clear();
    }
    schemes.push(division);
    let others = if is_rows { &[][..] } else { &rows.1[..] };
    tables.iter().chain(others).try_for_each(|table| partition::write_table(&outputs, table))?;
    partition::write(
        &mut outputs,
        &Partition { parts: 1, schemes },
        graph.nodes() as u64,
        graph.edges() as u64,
    )?;
    Ok(outputs.publish(store)?.remove(0))
}

/// What leaves the bounds of rows, slots and tables is not published; what is, opens as it was
/// made.
#[test]
fn no_table_that_leaves_its_bounds_is_published() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let mut mark = 0;
    for (asked, graph) in examples() {
        let (outline, tables) = build_and_prove(&graph, asked, &small_settings());
        let mut publish = |division: Division, tables: &[Table]| {
            mark += 1;
            publish_tables(&store, &graph, division, tables, mark)
        };
        refuse_beyond_bounds(&outline, &tables, &mut publish);
    }
    let features = [feature_entries::tests::features(None)];
    let (outline, tables) =
        (feature_entries::outline(&features).unwrap(), feature_entries::build(&features));
    refuse_beyond_bounds(&outline, &tables, &mut |division, tables| {
        mark += 1;
        publish_tables(&store, &sixteen(), division, tables, mark)
    });
    let graph = sixteen();
    let (outline, tables) = ascending_tables(&graph);
    refuse_beyond_bounds(&outline, &tables, &mut |division, tables| {
        mark += 1;
        publish_tables(&store, &graph, division, tables, mark)
    });
}

/// The edges of each row by far end.
fn ascending_tables(graph: &Csr) -> (Outline, Vec<Table>) {
    let outline = ascending_edges::outline(graph);
    let tables = build(&outline.scheme, graph, &[], &request(small_settings())).unwrap();
    (outline, tables)
}

/// Publishes a division of these tables.
type Publish<'a> = dyn FnMut(Division, &[Table]) -> Result<Artifact, StageError> + 'a;

/// Publishes tables, and refuses to publish each with a number beyond all bounds.
fn refuse_beyond_bounds(outline: &Outline, tables: &[Table], publish: &mut Publish) {
    let scheme = outline.scheme.name();
    let division = Division {
        scheme: outline.scheme.clone(),
        why: "asked for".into(),
        tables: outline.tables.clone(),
        padding: outline.padding,
    };
    let artifact =
        publish(division.clone(), tables).unwrap_or_else(|error| panic!("{scheme}: {error}"));
    let page = partition::open(&artifact).unwrap();
    let opened = Tables::open(&artifact.path, page.schemes.last().unwrap()).unwrap();
    assert!(tables.iter().all(|table| opened.get(&table.name).unwrap() == table), "{scheme}");
    for (index, table) in tables.iter().enumerate() {
        for (column_index, (name, column)) in table.columns().iter().enumerate() {
            // Relations and graphs have no bound that a partition knows, and the last first place
            // says itself how many places there are.
            let free =
                matches!(name.as_str(), "relation" | "in_row_types" | "out_row_types" | "graph");
            for row in [0, column.len().saturating_sub(1)] {
                if column.is_empty()
                    || free && table.name != "graph_blocks"
                    || name == "interleaved_groups" && row > 0
                {
                    continue;
                }
                let mut others = tables.to_vec();
                others[index] = change_cell(table, column_index, row, u64::MAX);
                assert!(
                    publish(division.clone(), &others).is_err(),
                    "{scheme}: {}.{name}[{row}] beyond all bounds was published",
                    table.name
                );
            }
        }
    }
}

#[test]
fn no_number_of_threads_changes_a_table() {
    let edges = plain((0..40_000u32).map(|at| {
        (at.wrapping_mul(2_654_435_761) % 3001, at.wrapping_mul(40_503) % 2999 * (at % 7) / 6)
    }));
    let graph = csr(3001, &edges, true);
    let of = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let spec = PartitionSpec { unit_edges: 512, ..small_settings() };
            let mut tables = build_all_schemes(&graph, &spec);
            tables.push(ascending_tables(&graph).1);
            tables
        })
    };
    let first = of(1);
    assert!(first == of(2) && first == of(8));
}

#[test]
fn what_needs_too_much_memory_is_refused_before_it_is_made() {
    for (asked, graph) in examples() {
        let outline_of = |room| outline(asked, &graph, &request(small_settings()), Room(room));
        let needed = outline_of(u64::MAX).unwrap().bytes_peak();
        assert!(outline_of(needed).is_ok(), "{asked}");
        let error = outline_of(needed - 1).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Memory);
        assert!(
            error.what.contains(&format!("scheme `{asked}` needs"))
                && error.what.contains(&format!("({needed} bytes)")),
            "{}",
            error.what
        );
        assert!(error.hint.unwrap().contains(&format!("--memory {needed}")));
        let bytes_of_csr = (24 * graph.edges() + 16 * (graph.nodes() + 1)) as u64;
        assert!(needed <= 3 * bytes_of_csr, "{asked}: {needed} of {bytes_of_csr}");
    }
}

#[test]
fn graphs_without_relations_are_told_so() {
    let graph = csr(3, &plain([(0, 1)]), false);
    for asked in [Asked::RelationMajor, Asked::RowRelation] {
        let error = outline(asked, &graph, &request(small_settings()), Room(u64::MAX)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Specification);
        assert!(
            error.what.contains("has no relations")
                && error.hint.unwrap().contains("partition.scheme"),
            "{}",
            error.what
        );
    }
}

#[test]
fn one_graph_is_not_packed_and_neither_are_joined_ones() {
    let outline_of = |graph: &Csr| {
        outline(Asked::PackedGraphs, graph, &request(small_settings()), Room(u64::MAX)).unwrap_err()
    };
    let error = outline_of(&sixteen());
    assert!(
        error.kind == ErrorKind::Specification && error.what.contains("this data set is one graph"),
        "{}",
        error.what
    );
    let joined = Csr { graphs: Some(vec![0, 1].into()).into(), ..csr(2, &plain([(0, 1)]), false) };
    let error = outline_of(&joined);
    assert!(
        error.kind == ErrorKind::Data
            && error.what.contains("found one from node 0 of graph 0 to node 1 of graph 1"),
        "{}",
        error.what
    );
}

/// Seastar's rule: offsets only where edges are more than twice the relations of all rows.
#[test]
fn the_form_of_relations_follows_the_rule() {
    let form = |edges: &[Edge]| match build_and_prove(
        &csr(4, edges, true),
        Asked::RowRelation,
        &small_settings(),
    )
    .0
    .scheme
    {
        Scheme::RowRelation { forms } => forms[0],
        other => panic!("{other:?}"),
    };
    // Four edges, two relations: 4 / 2 is not more than 2.
    let even = form(&[(0, 1, 0), (2, 1, 0), (0, 1, 5), (2, 1, 5)]);
    assert_eq!((even.edges, even.distinct, even.runs), (4, 2, false));
    let more = form(&[(0, 1, 0), (2, 1, 0), (0, 1, 5), (2, 1, 5), (3, 1, 5)]);
    assert_eq!((more.edges, more.distinct, more.runs), (5, 2, true));
}

fn graphs() -> impl Strategy<Value = (usize, Vec<Edge>)> {
    (1usize..80).prop_flat_map(|nodes| {
        let node = 0..nodes as u32;
        // Half of the targets are few, so that some rows are long.
        let target = prop_oneof![node.clone(), 0..(nodes as u32).div_ceil(9)];
        (Just(nodes), proptest::collection::vec((node, target, 0u16..4), 0..250))
    })
}

prop_compose! {
    fn settings()(
        unit_edges in 1u64..60, ngs in 1u64..9, warps in 1u64..5, merge_items in 1u64..40, warp_tile in 1u64..9, block_tile in 1u64..40, lanes in 1u64..40, block_nodes in 1u64..20,
    ) -> PartitionSpec {
        PartitionSpec { unit_edges, ngs, block_threads: 32 * warps, merge_items, warp_tile, block_tile, lanes, block_nodes, ..PartitionSpec::default() }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_built_expands_to_the_csr((nodes, edges) in graphs(), typed in any::<bool>(), spec in settings()) {
        build_all_schemes(&csr(nodes, &edges, typed), &spec);
        let few: Vec<Edge> = edges.into_iter().take(nodes / 2).collect();
        build_and_prove(&csr_of_components(nodes, &few), Asked::PackedGraphs, &spec);
    }

    /// Coordinates by column are those of the sorted list of edges.
    #[test]
    fn columns_are_sorted_as_a_sort_does((nodes, edges) in graphs()) {
        let csr = csr(nodes, &edges, false);
        let (_, tables) = build_and_prove(&csr, Asked::SortedColumns, &small_settings());
        let mut expected: Vec<(u64, u64)> = edges.iter().map(|&(source, target, _)| (u64::from(source), u64::from(target))).collect();
        expected.sort_unstable();
        let [column, row] = ["column", "row"].map(|name| tables[0].column(name).unwrap());
        prop_assert_eq!(column.iter().zip(row.iter()).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn numbers_are_wide_only_where_they_must_be() {
    let (outline, _) = build_and_prove(&sixteen(), Asked::NeighbourGroups, &small_settings());
    let widths: Vec<Width> = outline.tables[0].columns.iter().map(|column| column.width).collect();
    assert_eq!(widths, [Width::U32, Width::U32, Width::U32, Width::U16, Width::U8]);
}
