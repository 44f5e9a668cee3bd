//! Tables of every writer, codec and type give one graph; and every fault.
use super::*;
use crate::raw_graph::{Column, Edges, IN_NO_PART, Labels, NO_CLASS, TEST, TRAIN, VALIDATION};
use arrow_array::{ArrayRef, Float32Array, Int64Array, RecordBatch, StringArray, UInt32Array};
use parquet::arrow::ArrowWriter;
use proptest::prelude::*;
use std::sync::Arc;

/// With edges in memory, and in a file.
fn read(files: &[PathBuf], options: &Options) -> Read<RawGraph> {
    crate::test_support::both_ways(|limit| read_within(files, options, limit))
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/graphs/arrays/tables").join(name)
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// A folder as a data set: recognised, read, checked.
fn folder(name: &str, options: &Options) -> RawGraph {
    let found = recognise(&FileHeads::new(&files_in(&fixture(name))))
        .unwrap_or_else(|| panic!("{name} is not recognised"));
    let graph = read(&found, options).unwrap_or_else(|error| panic!("{name}: {error}"));
    graph.validate().unwrap();
    graph
}

fn one(name: &str) -> Read<RawGraph> {
    read(&[fixture(name)], &Options::default()).inspect(|graph| graph.validate().unwrap())
}

fn tiny() -> RawGraph {
    let mut graph = RawGraph { ids: NodeIds::Numbers(vec![1, 2, 3, 5, 8]), ..RawGraph::default() };
    graph.edges = Edges {
        source: vec![0, 1, 1, 1, 3, 4],
        target: vec![1, 0, 2, 2, 3, 0],
        ..Edges::default()
    };
    graph.edges.weight = Some(vec![0.5, 0.5, 1.0, 2.0, 3.0, -1.5]);
    graph
}

#[test]
fn the_tiny_graph_is_the_same_from_every_writer_codec_type_and_pair_of_names() {
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/graphs/tiny.edges.txt");
    assert_eq!(crate::readers::edge_list::read(&text, &Options::default()).unwrap(), tiny());
    let mut count = 0;
    for path in files_in(&fixture("tiny")) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if ["brotli.parquet", "version1.feather"].contains(&&name[..]) {
            continue;
        }
        assert_eq!(
            recognise(&FileHeads::new(std::slice::from_ref(&path))),
            Some(vec![path.clone()]),
            "{name}"
        );
        assert_eq!(
            read(std::slice::from_ref(&path), &Options::default())
                .unwrap_or_else(|error| panic!("{name}: {error}")),
            tiny(),
            "{name}"
        );
        count += 1;
    }
    assert_eq!(count, 27);
}

#[test]
fn words_come_from_every_layout_of_texts() {
    for name in [
        "dictionary.parquet",
        "dictionary.feather",
        "polars.parquet",
        "views.arrow",
        "bytes.parquet",
    ] {
        let graph = one(&format!("words/{name}")).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(
            graph.ids,
            NodeIds::Strings(["a", "b", "c"].map(str::to_owned).to_vec()),
            "{name}"
        );
        assert_eq!(
            (&graph.edges.source[..], &graph.edges.target[..]),
            (&[1, 0, 1][..], &[0, 2, 2][..]),
            "{name}"
        );
        assert_eq!(
            (graph.edges.relation, graph.relations),
            (Some(vec![1, 0, 1]), vec!["knows".to_owned(), "likes".to_owned()]),
            "{name}"
        );
    }
}

#[test]
fn folders_of_parts_are_one_table() {
    assert_eq!(folder("spark", &Options::default()), tiny());
    assert_eq!(folder("dask", &Options::default()), tiny());
    // The folder of the data set may itself be what Spark wrote.
    let parts = recognise(&FileHeads::new(&files_in(&fixture("spark/edges.parquet")))).unwrap();
    assert_eq!((parts.len(), read(&parts, &Options::default()).unwrap()), (3, tiny()));
    // Folders say the relation; parts come in the order of their names.
    let graph = folder("duckdb", &Options::default());
    assert_eq!(graph.relations, ["a b", "knows", "likes"]);
    let edges: Vec<_> = (0..4)
        .map(|at| {
            (
                graph.edges.source[at] + 1,
                graph.edges.target[at] + 1,
                graph.edges.relation.as_ref().unwrap()[at],
            )
        })
        .collect();
    assert_eq!(edges, [(3, 1, 0), (2, 1, 1), (1, 2, 2), (2, 3, 2)]);
    assert_eq!(graph.edges.weight, Some(vec![1.0, 1.5, 0.5, 2.5]));
}

#[test]
fn a_node_table_is_sorted_with_all_its_columns() {
    let graph = folder("nodes", &Options::default());
    assert_eq!(graph.ids, NodeIds::Numbers(vec![1, 2, 3, 5, 8, 9]));
    assert_eq!(graph.edges, tiny().edges);
    assert_eq!(
        graph.labels,
        Some(Labels::Classes {
            class: vec![1, 0, NO_CLASS, 2, 0, 1],
            names: ["x", "y", "z"].map(str::to_owned).to_vec()
        })
    );
    assert_eq!(graph.splits, [[VALIDATION, IN_NO_PART, TEST, TRAIN, TRAIN, IN_NO_PART]]);
    assert_eq!(
        graph.features,
        Some(Features::Dense {
            columns: 2,
            values: vec![1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 5.0, 0.0, 8.0, 0.0, 9.0, 0.0]
        })
    );
    let kinds = graph.kinds.unwrap();
    assert_eq!(
        (kinds.of_node, kinds.names),
        (vec![0, 0, 0, 1, 1, 0], vec!["a".to_owned(), "b".to_owned()])
    );
    let column = |name: &str| &graph.columns.iter().find(|(known, _)| known == name).unwrap().1;
    assert_eq!(
        column("age"),
        &Column::Integers(vec![None, Some(4), Some(3), Some(5), Some(1), Some(6)])
    );
    assert_eq!(
        column("height"),
        &Column::Reals(vec![Some(2.0), Some(4.0), None, Some(5.0), Some(1.5), Some(6.0)])
    );
    assert_eq!(
        column("day"),
        &Column::Integers(vec![Some(1), Some(3), Some(2), Some(4), Some(0), None])
    );
    assert_eq!(
        column("ok"),
        &Column::Integers(vec![Some(0), Some(1), None, Some(1), Some(1), Some(1)])
    );
    assert_eq!(
        column("town"),
        &Column::Texts(
            [None, Some("r"), Some("q"), Some("s"), Some("p"), Some("t")]
                .map(|town| town.map(str::to_owned))
                .to_vec()
        )
    );
    assert_eq!(graph.columns.len(), 5);
    let named = Options {
        id: Some("x0".into()),
        node_features: vec!["id".into(), "X1".into()],
        ..Options::default()
    };
    let found = read(
        &[fixture("wrong/names.parquet"), fixture("numbered/nodes.feather")],
        &Options { source: Some("a".into()), target: Some("b".into()), ..named },
    );
    let found = found.unwrap();
    assert_eq!((found.ids, found.edges.target), (NodeIds::Numbers(vec![1, 2, 3, 4, 5]), vec![1]));
    assert!(
        matches!(found.features, Some(Features::Dense { columns: 2, values }) if values[..4] == [1.0, 1.5, 2.0, 2.5])
    );
    let error = read(
        &[fixture("nodes/edges.parquet"), fixture("nodes/nodes.parquet")],
        &Options { id: Some("key".into()), ..Options::default() },
    )
    .unwrap_err();
    assert!(error.to_string().contains("the table has no column `key`"), "{error}");
    let other = folder("nodes", &Options { label: Some("town".into()), ..Options::default() });
    assert!(
        matches!(other.labels, Some(Labels::Classes { names, .. }) if names == ["p", "q", "r", "s", "t"])
    );
}

#[test]
fn numbered_features_real_labels_masks_and_many_graphs_are_read() {
    let graph = folder("numbered", &Options::default());
    assert_eq!(
        graph.features,
        Some(Features::Dense {
            columns: 2,
            values: vec![1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5]
        })
    );
    assert_eq!(graph.splits, [[TRAIN, TEST, TEST, 0, 0]]);
    let Some(Labels::Values(values)) = &graph.labels else { panic!("expected values") };
    assert!(values[1].is_nan() && values[0] == 0.5 && values[4] == 3.0);
    let graph = folder("graphs", &Options::default());
    let graphs = graph.graphs.unwrap();
    assert_eq!(
        (graphs.of_node, graphs.ids),
        (vec![1, 1, 0, 0], NodeIds::Numbers(vec![10, 20, 30]))
    );
    assert_eq!(
        graphs.labels,
        Some(Labels::Classes { class: vec![0, 1, 1], names: vec!["0".into(), "1".into()] })
    );
    assert_eq!(graphs.splits, [[TEST, TRAIN, TRAIN]]);
}

#[test]
fn columns_that_options_name_are_read() {
    let name = |name: &str| Some(name.to_owned());
    let options = Options { source: name("b"), target: name("A"), ..Options::default() };
    let graph = read(&[fixture("wrong/names.parquet")], &options).unwrap();
    assert_eq!(
        (graph.ids, graph.edges.source, graph.edges.target),
        (NodeIds::Numbers(vec![1, 2]), vec![1], vec![0])
    );
    let options = Options {
        weight: name("none"),
        edge_features: vec!["weight".into(), "source".into()],
        ..Options::default()
    };
    let graph = read(&[fixture("tiny/snappy.parquet")], &options).unwrap();
    assert!(graph.edges.weight.is_none());
    assert_eq!(graph.edges.features.unwrap().values[..6], [0.5, 1.0, 0.5, 2.0, 1.0, 2.0]);
    let error = read(
        &[fixture("tiny/snappy.parquet")],
        &Options { relation: name("kind"), ..Options::default() },
    )
    .unwrap_err();
    assert!(error.to_string().contains("the table has no column `kind`\n"), "{error}");
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let what = |name: &str| one(&format!("wrong/{name}.parquet")).unwrap_err().to_string();
    for (name, expected) in [
        ("null", "the column `source` of row 1 is no id"),
        ("null_word", "the column `source` of row 1 is no id"),
        ("negative", "the column `target` of row 0 is no id"),
        ("real", "= expected a whole number from 0, or a word, found 2.5"),
        ("gap", "= expected a whole number from 0, or a word, found null"),
        ("mixed", "the ends of edges are not of one kind"),
        ("names", "the columns of the edge table do not say which are the ends of an edge"),
        ("weight", "the column `weight` of row 0 is not usable"),
        ("weight_null", "= expected a finite number of 32 bits, found null"),
        ("list", "the ends of edges are not of one kind"),
        ("struct", "the column `source` has a type that is not read"),
    ] {
        assert!(what(name).contains(expected), "{name}: {}", what(name));
    }
    let brotli = one("tiny/brotli.parquet").unwrap_err().to_string();
    assert!(
        brotli.contains("packed by a codec that is not read")
            && brotli.contains("expected snappy, gzip, lz4, zstd or none, found BROTLI"),
        "{brotli}"
    );
    assert!(
        one("tiny/version1.feather")
            .unwrap_err()
            .to_string()
            .contains("a Feather file of version 1")
    );
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [
        ("edges.parquet", &b"PAR1"[..]),
        ("edges.arrow", b"ARROW1\0\0"),
        ("edges.parquet", b"source,target\n1,2\n"),
        ("edges.parquet", b""),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        assert!(
            read(&[path], &Options::default())
                .unwrap_err()
                .what
                .starts_with("not a readable table")
        );
    }
}

#[test]
fn an_end_that_is_no_node_and_an_id_that_comes_twice_are_errors() {
    let tables = |edges: &[u32], ids: &[u32]| {
        let column = |values: &[u32]| Arc::new(UInt32Array::from(values.to_vec())) as ArrayRef;
        let folder = tempfile::tempdir().unwrap();
        write(
            &folder.path().join("edges.parquet"),
            vec![("source", column(edges)), ("target", column(edges))],
        );
        write(&folder.path().join("nodes.parquet"), vec![("id", column(ids))]);
        read(&files_in(folder.path()), &Options::default()).unwrap_err().to_string()
    };
    assert!(
        tables(&[1, 7], &[1, 2])
            .contains("edges.parquet\n       = expected an id of the node table, found `7`"),
        "{}",
        tables(&[1, 7], &[1, 2])
    );
    let twice = tables(&[1], &[4, 1, 4]);
    assert!(
        twice.contains("row 2 has an id that row 0 has too")
            && twice.contains("hint: keep one row for each node"),
        "{twice}"
    );
    assert!(tables(&[1, 7], &[1, 2]).contains("hint: add the node to the table of nodes"));
}

#[test]
fn parts_of_other_types_are_named_with_the_column_and_both_files() {
    let folder = tempfile::tempdir().unwrap();
    let wholes = |values: &[i64]| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef;
    let words = |values: &[&str]| Arc::new(StringArray::from(values.to_vec())) as ArrayRef;
    let part = |table: &str, name: &str| {
        std::fs::create_dir_all(folder.path().join(table)).unwrap();
        folder.path().join(table).join(name)
    };
    let edges = [part("edges.parquet", "part-0.parquet"), part("edges.parquet", "part-1.parquet")];
    write(&edges[0], vec![("source", wholes(&[0, 1])), ("target", wholes(&[1, 2]))]);
    write(&edges[1], vec![("source", words(&["0"])), ("target", words(&["1"]))]);
    let said = |files: &[PathBuf]| read(files, &Options::default()).unwrap_err().to_string();
    let of_edges = said(&edges);
    write(&edges[1], vec![("source", wholes(&[0])), ("target", wholes(&[1]))]);
    let nodes = [part("nodes.parquet", "part-0.parquet"), part("nodes.parquet", "part-1.parquet")];
    write(&nodes[0], vec![("id", wholes(&[0, 1])), ("year", wholes(&[1, 2]))]);
    write(&nodes[1], vec![("id", wholes(&[2])), ("year", words(&["new"]))]);
    let of_nodes = said(&[&edges[..], &nodes].concat());
    for (said, column) in [(of_edges, "source"), (of_nodes, "year")] {
        let wanted = [
            format!("the column `{column}` has another type than in"),
            "part-0.parquet".into(),
            "part-1.parquet\n".into(),
        ];
        wanted.iter().for_each(|words| assert!(said.contains(words), "{said}"));
        assert!(
            said.contains("expected Int64, found Utf8")
                && said.contains("hint: write all parts with the same columns and types"),
            "{said}"
        );
    }
}

fn write(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    write_as(path, columns, "someone");
}

fn write_as(path: &Path, columns: Vec<(&str, ArrayRef)>, writer: &str) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = parquet::file::properties::WriterProperties::builder()
        .set_created_by(writer.to_owned())
        .set_max_row_group_row_count(Some(1000))
        .build();
    let mut writer = ArrowWriter::try_new(
        std::fs::File::create(path).unwrap(),
        batch.schema(),
        Some(properties),
    )
    .unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn what_is_no_id_no_weight_and_no_row_of_features_is_told_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let (edges, nodes) = (folder.path().join("edges.parquet"), folder.path().join("nodes.parquet"));
    let wholes = |values: &[i64]| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef;
    let said = |columns: Vec<(&str, ArrayRef)>| {
        write(&edges, columns);
        read(std::slice::from_ref(&edges), &Options::default()).unwrap_err().to_string()
    };
    let negative = said(vec![("source", wholes(&[0, -1])), ("target", wholes(&[1, 2]))]);
    assert!(
        negative.contains("row 1 is no id")
            && negative.contains("found -1")
            && negative.contains("table['source'].astype(str)"),
        "{negative}"
    );
    let unknown = said(vec![("a", wholes(&[0, 1])), ("b", wholes(&[1, 2]))]);
    assert!(
        unknown.contains("in the catalogue's entry:  read: {source: NAME, target: NAME}"),
        "{unknown}"
    );
    write(
        &edges,
        vec![
            ("source", wholes(&[0, 1])),
            ("target", wholes(&[1, 2])),
            ("weight", wholes(&[1, 16_777_217])),
        ],
    );
    let told = "1 weights are whole numbers above 16777216 that f32 does not hold, and were \
                rounded to 24 bits; the first is in row 1";
    assert_eq!(read(std::slice::from_ref(&edges), &Options::default()).unwrap().notes, [told]);
    let lists = [vec![1.0, 2.0], vec![3.0], vec![]]
        .map(|list| Some(list.into_iter().map(Some).collect::<Vec<_>>()));
    let ragged = Arc::new(arrow_array::ListArray::from_iter_primitive::<
        arrow_array::types::Float64Type,
        _,
        _,
    >(lists)) as ArrayRef;
    write(&nodes, vec![("id", wholes(&[0, 1, 2])), ("features", ragged)]);
    let said = read(&[edges, nodes], &Options::default()).unwrap_err().to_string();
    assert!(
        said.contains("lists differ in length: expected 2, found 1 in row 1")
            && said.contains("hint: fill all lists up to one length"),
        "{said}"
    );
}

#[test]
fn columns_and_names_of_folders_that_mean_nothing_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let numbers = |values: &[u32]| Arc::new(UInt32Array::from(values.to_vec())) as ArrayRef;
    let columns = || {
        vec![
            ("source", numbers(&[0, 1])),
            ("target", numbers(&[1, 2])),
            ("year", numbers(&[7, 8])),
            ("__index_level_0__", numbers(&[0, 1])),
        ]
    };
    let edges = folder.path().join("edges.parquet");
    write(&edges, columns());
    let graph = read(std::slice::from_ref(&edges), &Options::default()).unwrap();
    assert_eq!(graph.passed_over, ["column `year` of the edges"]);
    let parts = ["edges/type=a/weight=1.0", "edges/type=b/weight=2.0"]
        .map(|name| folder.path().join(name).join("part.parquet"));
    for part in &parts {
        std::fs::create_dir_all(part.parent().unwrap()).unwrap();
        write(part, columns());
    }
    let graph = read(&parts, &Options::default()).unwrap();
    assert_eq!(graph.relations, ["a", "b"]);
    assert_eq!(
        graph.passed_over,
        ["column `year` of the edges", "`weight=` in the names of the edges' folders"]
    );
    let options = Options { weight: Some("none".to_owned()), ..Options::default() };
    assert_eq!(read(&parts, &options).unwrap().passed_over, ["column `year` of the edges"]);
}

#[test]
fn a_graph_of_the_store_comes_back_ends_are_rows() {
    let folder = tempfile::tempdir().unwrap();
    let numbers = |values: &[u32]| Arc::new(UInt32Array::from(values.to_vec())) as ArrayRef;
    let (source, target) = (numbers(&[0, 1, 1, 1, 3, 4]), numbers(&[1, 0, 2, 2, 3, 0]));
    let weight = Arc::new(Float32Array::from(vec![0.5, 0.5, 1.0, 2.0, 3.0, -1.5])) as ArrayRef;
    let ids = Arc::new(arrow_array::UInt64Array::from(vec![1, 2, 3, 5, 8])) as ArrayRef;
    for (writer, is_ours) in [("warploom", true), ("someone", false)] {
        let columns = vec![
            ("source", source.clone()),
            ("target", target.clone()),
            ("weight", weight.clone()),
        ];
        write_as(&folder.path().join("edges.parquet"), columns, writer);
        write_as(&folder.path().join("nodes.parquet"), vec![("id", ids.clone())], writer);
        let graph = read(&files_in(folder.path()), &Options::default());
        // Written by another, the same numbers are ids, and 0 and 4 are none.
        let told = crate::raw_graph::RawGraph { nodes_told: true, has_columns: true, ..tiny() };
        assert_eq!(graph.ok() == Some(told), is_ours);
    }
}

#[test]
fn names_of_classes_and_several_splits_stand_in_columns() {
    let folder = tempfile::tempdir().unwrap();
    let numbers = |values: &[u32]| Arc::new(UInt32Array::from(values.to_vec())) as ArrayRef;
    let words = |words: &[&str]| {
        Arc::new(StringArray::from_iter(
            words.iter().map(|word| (!word.is_empty()).then_some(*word)),
        )) as ArrayRef
    };
    write(
        &folder.path().join("edges.parquet"),
        vec![("source", numbers(&[0, 1])), ("target", numbers(&[1, 2]))],
    );
    let labels = Arc::new(UInt32Array::from(vec![Some(4), Some(2), None])) as ArrayRef;
    let splits = vec![("split_0", numbers(&[1, 2, 0])), ("split_1", numbers(&[3, 1, 0]))];
    let read_with = |class: &[&str]| {
        let columns = [
            vec![("id", numbers(&[0, 1, 2])), ("label", labels.clone()), ("class", words(class))],
            splits.clone(),
        ]
        .concat();
        write(&folder.path().join("nodes.parquet"), columns);
        read(&files_in(folder.path()), &Options::default()).unwrap()
    };
    let graph = read_with(&["owl", "cat", ""]);
    assert_eq!(
        graph.labels,
        Some(Labels::Classes {
            class: vec![1, 0, NO_CLASS],
            names: vec!["cat".into(), "owl".into()]
        })
    );
    assert_eq!(
        (graph.splits, graph.columns.len()),
        (vec![vec![TRAIN, VALIDATION, IN_NO_PART], vec![TEST, TRAIN, IN_NO_PART]], 0)
    );
    // A column that says something else of its own stays one.
    let graph = read_with(&["owl", "owl", ""]);
    assert_eq!(
        graph.labels,
        Some(Labels::Classes { class: vec![1, 0, NO_CLASS], names: vec!["2".into(), "4".into()] })
    );
    assert_eq!(graph.columns.len(), 1);
}

#[test]
fn features_stand_in_a_table_of_their_own_with_zeros_or_without() {
    let folder = tempfile::tempdir().unwrap();
    let numbers = |values: &[u32]| Arc::new(UInt32Array::from(values.to_vec())) as ArrayRef;
    let reals = |values: &[f32]| Arc::new(Float32Array::from(values.to_vec())) as ArrayRef;
    write(
        &folder.path().join("edges.parquet"),
        vec![("source", numbers(&[0, 1])), ("target", numbers(&[1, 2]))],
    );
    let read_with = |columns: Vec<(&str, ArrayRef)>| {
        write(&folder.path().join("features.parquet"), columns);
        read(&files_in(folder.path()), &Options::default())
            .map(|graph| graph.features.unwrap())
            .map_err(|error| error.to_string())
    };
    let entries = |rows: &[u32]| {
        vec![
            ("row", numbers(rows)),
            ("column", numbers(&[1, 0, 4])),
            ("value", reals(&[2.0, 3.0, 0.0])),
        ]
    };
    let sparse = Features::Sparse {
        columns: 5,
        offsets: vec![0, 1, 1, 2],
        index: vec![1, 0],
        values: vec![2.0, 3.0],
    };
    assert_eq!(read_with(entries(&[0, 2, 2])), Ok(sparse));
    assert!(
        read_with(entries(&[0, 3, 2])).unwrap_err().contains("there is not a row for each node")
    );
    assert_eq!(
        read_with(vec![("x0", reals(&[1.0, 2.0, 3.0]))]),
        Ok(Features::Dense { columns: 1, values: vec![1.0, 2.0, 3.0] })
    );
    let nan = vec![
        ("row", reals(&[0.0, f32::NAN, 1.0])),
        ("column", numbers(&[0, 0, 0])),
        ("value", numbers(&[1, 1, 1])),
    ];
    assert!(read_with(nan).unwrap_err().contains("row 1 of the table is no entry of a matrix"));
    let infinite =
        read_with(vec![("x0", reals(&[1.0, 2.0, 3.0])), ("x1", reals(&[1.0, f32::INFINITY, 3.0]))])
            .unwrap_err();
    assert!(
        infinite.contains("row 1 has no usable number in the feature `x1`")
            && infinite.contains("found inf\nhint: features are finite"),
        "{infinite}"
    );
    let weights = vec![
        ("source", numbers(&[0, 1])),
        ("target", numbers(&[1, 2])),
        ("weight", reals(&[1.0, f32::NAN])),
    ];
    write(&folder.path().join("edges.parquet"), weights);
    let weight = read_with(vec![("x0", reals(&[1.0, 2.0, 3.0]))]).unwrap_err();
    assert!(
        weight.contains("the column `weight` of row 1 is not usable")
            && weight.contains("found NaN\nhint: write a number in every row"),
        "{weight}"
    );
}

#[test]
fn the_result_does_not_depend_on_threads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edges.parquet");
    let number = |at: u32| at.wrapping_mul(2_654_435_761) % 5_000;
    let words = |salt: u32| {
        Arc::new(StringArray::from_iter_values(
            (0..20_000).map(|at| format!("n{}", number(at + salt))),
        )) as ArrayRef
    };
    let numbers = |salt: u32| {
        Arc::new(UInt32Array::from_iter_values((0..20_000).map(|at| number(at + salt) * 100_000)))
            as ArrayRef
    };
    for columns in [
        vec![("source", words(0)), ("target", words(7))],
        vec![("source", numbers(0)), ("target", numbers(7))],
    ] {
        write(&path, columns);
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| read(std::slice::from_ref(&path), &Options::default()).unwrap())
        };
        let first = with(1);
        first.validate().unwrap();
        assert!(first.ids.len() > 4_000 && first.edges.len() == 20_000);
        assert_eq!((&with(2), &with(8)), (&first, &first));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn a_changed_table_is_read_or_refused(which in 0usize..12, at in 0usize..20_000, to: u8, second in 0usize..20_000, end in 0usize..20_000) {
        let names = ["tiny/snappy.parquet", "tiny/lz4.feather", "tiny/zstd.feather", "tiny/stream.arrows", "tiny/packed.arrows", "tiny/groups.parquet",
            "words/dictionary.parquet", "words/dictionary.feather", "words/views.arrow", "nodes/nodes.parquet", "tiny/gzip.parquet", "words/bytes.parquet"];
        let path = fixture(names[which]);
        let mut bytes = std::fs::read(&path).unwrap();
        let length = bytes.len();
        bytes[at % length] = to;
        bytes[second % length] ^= 1 << (second % 8);
        bytes.truncate(end.max(length - length / 20));
        let folder = tempfile::tempdir().unwrap();
        let changed = folder.path().join(path.file_name().unwrap());
        std::fs::write(&changed, bytes).unwrap();
        let options = Options { source: (which == 9).then(|| "age".into()), target: (which == 9).then(|| "day".into()), ..Options::default() };
        if let Ok(graph) = read(&[changed], &options) {
            graph.validate().unwrap();
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(start in 0usize..4, bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..300), footer: u8) {
        let begin: &[u8] = [&b""[..], b"PAR1", b"ARROW1\0\0", b"\xff\xff\xff\xff"][start];
        let end: Vec<u8> = match start {
            1 => [&[footer, 0, 0, 0][..], b"PAR1"].concat(),
            2 => [&[footer, 0, 0, 0][..], b"ARROW1"].concat(),
            _ => Vec::new(),
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("edges.parquet");
        std::fs::write(&path, [begin, &bytes, &end].concat()).unwrap();
        prop_assert!(read(&[path], &Options::default()).is_err());
    }
}
