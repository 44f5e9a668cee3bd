//! Any bytes as tables: a graph or an error, in bounded memory; and what an import leaves when it
//! was killed.
use super::*;
use crate::export::{Dense, archive, dense_floats, dense_integers};
use proptest::prelude::*;
use std::sync::LazyLock;
use warploom_contract::parquet_file::TableWriter;

/// What all imports together may add to the peak of this process, other tests at the same time
/// included.
const GROWTH_MOST: u64 = 768 << 20;
/// Forms of tables that are tried.
const FORMS: [&str; 8] = ["csv", "tsv", "npy", "npz", "safetensors", "parquet", "arrow", "txt"];

/// The most memory that this process had at once.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

static BEFORE: LazyLock<u64> = LazyLock::new(peak_memory);

/// An import of files by their flags.
fn import_of(files: &[(&str, PathBuf)]) -> Import {
    let of =
        |flag: &str| files.iter().find(|(known, _)| *known == flag).map(|(_, path)| path.clone());
    Import {
        name: "mine".to_owned(),
        edges: of("edges"),
        from: of("from"),
        nodes: of("nodes"),
        graphs: of("graphs"),
        features: of("features"),
        labels: of("labels"),
        split: of("split"),
        ids: of("ids"),
        names: of("names"),
        undirected: false,
        read: Vec::new(),
    }
}

/// Reads what is asked for; a defect of ours is a failure of the test.
fn try_import(asked: &Import) -> Result<ReadSet, StageError> {
    let before = *BEFORE;
    let folder = tempfile::tempdir().unwrap();
    let draft = folder.path().join("draft");
    fs::create_dir(&draft).unwrap();
    let done = given_files::place_files(asked).and_then(|(files, _)| {
        copy_files(&files, &draft).and_then(|()| read_set(&draft, &files, &Options::default()))
    });
    if let Err(error) = &done {
        assert_ne!(error.kind, ErrorKind::Defect, "{error}");
        assert!(
            !error.to_string().contains(&draft.display().to_string()),
            "an error speaks of the copy: {error}"
        );
    }
    let grown = peak_memory().saturating_sub(before);
    assert!(grown < GROWTH_MOST, "{} MiB more than before", grown >> 20);
    done
}

/// Imports bytes as tables in these forms.
fn try_bytes(tables: &[(&str, &str, &[u8])]) -> Result<ReadSet, StageError> {
    let folder = tempfile::tempdir().unwrap();
    let written = |(flag, form, bytes): &(&'static str, &str, &[u8])| {
        let path = folder.path().join(format!("given-{flag}.{form}"));
        fs::write(&path, bytes).unwrap();
        (*flag, path)
    };
    let tables: Vec<(&'static str, &str, &[u8])> = tables
        .iter()
        .map(|(flag, form, bytes)| {
            (
                ["edges", "nodes", "features", "graphs", "names"]
                    .into_iter()
                    .find(|known| known == flag)
                    .unwrap(),
                *form,
                *bytes,
            )
        })
        .collect();
    try_import(&import_of(&tables.iter().map(written).collect::<Vec<_>>()))
}

fn edges() -> Vec<Dense> {
    vec![
        dense_integers("source", &[0, 1, 2]),
        dense_integers("target", &[1, 2, 0]),
        dense_floats("weight", &[0.5, 1.0, 2.0]),
    ]
}

fn nodes() -> Vec<Dense> {
    vec![
        dense_integers("id", &[0, 1, 2]),
        dense_integers("label", &[1, 0, 1]),
        dense_integers("kind", &[0, 1, 0]),
        dense_integers("graph", &[4, 4, 4]),
    ]
}

/// A small table as this form has it.
fn sample(arrays: &[Dense], form: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sample");
    match form {
        "npz" => archive(&path, arrays).unwrap(),
        "safetensors" => crate::export::write_safetensors(&path, arrays).unwrap(),
        "npy" => {
            let both = Dense {
                shape: vec![2, 3],
                bytes: [&arrays[0].bytes[..], &arrays[1].bytes[..]].concat(),
                ..arrays[0].clone()
            };
            crate::export::write_npy(&path, &both).unwrap();
        }
        "parquet" | "arrow" => {
            let columns: Vec<(String, arrow_array::ArrayRef)> = arrays
                .iter()
                .map(|array| (array.name.clone(), crate::export::column_of(array).unwrap()))
                .collect();
            let fields = columns
                .iter()
                .map(|(name, column)| {
                    arrow_schema::Field::new(name, column.data_type().clone(), false)
                })
                .collect();
            let mut writer = TableWriter::create_for_others(&path, fields).unwrap();
            writer.write(columns.into_iter().map(|(_, column)| column).collect()).unwrap();
            writer.finish().unwrap();
        }
        _ => {
            let separator = if form == "tsv" { "\t" } else { "," };
            let names: Vec<&str> = arrays.iter().map(|array| array.name.as_str()).collect();
            let rows = (0..3).map(|row| {
                names.iter().map(|_| row.to_string()).collect::<Vec<_>>().join(separator)
            });
            return std::iter::once(names.join(separator))
                .chain(rows)
                .map(|line| line + "\n")
                .collect::<String>()
                .into_bytes();
        }
    }
    fs::read(&path).unwrap()
}

#[test]
fn samples_are_graphs() {
    for form in FORMS {
        let found = try_bytes(&[("edges", form, &sample(&edges(), form))])
            .unwrap_or_else(|error| panic!("{form}: {error}"));
        assert_eq!((found.graph.nodes(), found.graph.edges.len()), (3, 3), "{form}");
    }
    for (edge_form, node_form) in [
        ("csv", "csv"),
        ("parquet", "parquet"),
        ("npz", "safetensors"),
        ("npy", "npz"),
        ("parquet", "npz"),
        ("npz", "parquet"),
    ] {
        let (edges, nodes) = (sample(&edges(), edge_form), sample(&nodes(), node_form));
        let found = try_bytes(&[("edges", edge_form, &edges), ("nodes", node_form, &nodes)])
            .unwrap_or_else(|error| panic!("{edge_form}, {node_form}: {error}"));
        assert!(
            found.graph.labels.is_some()
                && found.graph.kinds.is_some()
                && found.graph.graphs.is_some(),
            "{edge_form}, {node_form}"
        );
    }
}

#[test]
fn what_does_not_fit_is_said_of_the_files_that_were_given() {
    let parquet = sample(&edges(), "parquet");
    let error =
        try_bytes(&[("edges", "csv", b"source,target\n1,2\n"), ("nodes", "parquet", &parquet)])
            .map(drop)
            .unwrap_err();
    assert!(
        error.to_string().contains("edges in `.csv` and nodes in `.parquet` are not read together"),
        "{error}"
    );
    let strange = vec![
        dense_integers("source", &[0]),
        dense_integers("target", &[0]),
        dense_integers("colour", &[0]),
    ];
    // By itself it is read as a folder would be; beside a table of nodes it becomes a table, which
    // has no such column.
    let found = try_bytes(&[("edges", "npz", &sample(&strange, "npz"))])
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(found.graph.passed_over, ["array `colour`"]);
    let table = sample(&nodes(), "npz");
    let error = try_bytes(&[("edges", "npz", &sample(&strange, "npz")), ("nodes", "npz", &table)])
        .map(drop)
        .unwrap_err();
    assert!(
        error.to_string().contains("found `colour`")
            && error.to_string().contains("given-edges.npz"),
        "{error}"
    );
    let uneven = vec![dense_integers("id", &[0, 1]), dense_integers("label", &[0])];
    let error =
        try_bytes(&[("edges", "parquet", &parquet), ("nodes", "npz", &sample(&uneven, "npz"))])
            .map(drop)
            .unwrap_err();
    assert!(error.to_string().contains("`label` and `id` differ in length"), "{error}");
    let error =
        try_bytes(&[("edges", "parquet", &parquet), ("nodes", "npy", &sample(&edges(), "npy"))])
            .map(drop)
            .unwrap_err();
    assert!(
        error.to_string().contains("an array without a column name cannot be a table")
            && error.to_string().contains("numpy.savez"),
        "{error}"
    );
}

proptest! {
    #[test]
    fn any_bytes_are_a_graph_or_an_error(form in 0..FORMS.len(), other in 0..FORMS.len(), bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = try_bytes(&[("edges", FORMS[form], &bytes)]);
        for edges_form in ["csv", "parquet"] {
            let edges = sample(&edges(), edges_form);
            let _ = try_bytes(&[("edges", edges_form, &edges), ("nodes", FORMS[other], &bytes)]);
            let _ = try_bytes(&[("edges", edges_form, &edges), ("features", FORMS[other], &bytes)]);
        }
    }

    #[test]
    fn a_changed_table_is_a_graph_or_an_error(form in 0..FORMS.len(), other in 2..6usize, changes in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..4), cut in any::<usize>()) {
        let changed = |mut bytes: Vec<u8>| {
            for &(at, byte) in &changes {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            if cut % 3 == 0 {
                bytes.truncate(cut / 3 % bytes.len());
            }
            bytes
        };
        let _ = try_bytes(&[("edges", FORMS[form], &changed(sample(&edges(), FORMS[form])))]);
        let parquet = sample(&edges(), "parquet");
        let _ = try_bytes(&[("edges", "parquet", &parquet), ("nodes", FORMS[other], &changed(sample(&nodes(), FORMS[other])))]);
        let _ = try_bytes(&[("edges", "csv", b"source,target\n0,1\n1,2\n"), ("nodes", "csv", &changed(sample(&nodes(), "csv")))]);
        let text = b"row,column,value\n0,3,1\n2,1,0.5\n".to_vec();
        let _ = try_bytes(&[("edges", "parquet", &parquet), ("features", "csv", &changed(text))]);
    }
}

#[test]
fn what_killed_imports_left_makes_way() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place { folder: folder.path().join("raw/mine"), replaces: false, old_entry: None };
    fs::create_dir_all(place.data_folder()).unwrap();
    let file = folder.path().join("e.csv");
    fs::write(&file, "source,target\n0,1\n").unwrap();
    let asked = import_of(&[("edges", file)]);
    let (files, _) = given_files::place_files(&asked).unwrap();
    // Another process's, which has ended: a draft, and a set that an earlier version left between
    // its two names.
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let process = child.id();
    child.wait().unwrap();
    let host = warploom_contract::store::lease::host();
    for there in [&place.folder, place.data_folder()] {
        fs::create_dir_all(there.join(format!(".tmp-import-{process}-0@{host}/x"))).unwrap();
    }
    remove_unfinished_import(&place.folder).unwrap();
    assert!(!place.folder.exists());
    draft_set(&place, &asked, &files, &Options::default(), InheritedProvenance::default()).unwrap();
    let names = |folder: &Path| {
        let names = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>()
    };
    assert_eq!(
        (names(place.data_folder()), names(&place.folder)),
        (vec!["mine".into()], vec!["edges.csv".into(), ENTRY_FILE.into()])
    );
}

#[test]
fn options_are_written_as_in_an_entry() {
    let expected = serde_json::json!(["head", "relation", "tail"]);
    for text in [
        "[head,relation,tail]",
        "[ head, relation , 'tail' ]",
        "[\"head\", \"relation\", \"tail\"]",
    ] {
        assert_eq!(parse_value(text), expected, "{text}");
    }
    assert_eq!(
        (parse_value("3"), parse_value("true"), parse_value("from_id")),
        (3.into(), true.into(), "from_id".into())
    );
    assert!(parse_read_options(&["columns=[head,relation,tail]".to_owned()]).is_ok());
}

/// A set that makes way is never gone before the new one has its name, by one step or, where a file
/// system knows no such step, by two.
#[test]
fn a_set_that_makes_way_is_replaced_whole() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place { folder: folder.path().join("mine"), replaces: true, old_entry: None };
    let (draft, replaced) = (folder.path().join("draft"), folder.path().join("replaced"));
    let fill = |folder: &Path, text: &str| {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("text"), text).unwrap();
    };
    let text = |folder: &Path| fs::read_to_string(folder.join("text")).unwrap();
    fill(&place.folder, "old");
    fill(&draft, "new");
    fs::create_dir(&replaced).unwrap();
    place.publish(&draft, &replaced).unwrap();
    assert_eq!(text(&place.folder), "new");
    assert_eq!(text(if draft.exists() { &draft } else { &replaced }), "old");
    fill(&draft, "newer");
    place.publish_in_two_steps(&draft, &replaced).unwrap();
    assert_eq!(
        (text(&place.folder), text(&replaced.join("old")), draft.exists()),
        ("newer".into(), "new".into(), false)
    );
    // Without a draft the old one has its name again.
    assert!(place.publish_in_two_steps(&draft, &folder.path().join("draft")).is_err());
    fs::remove_dir_all(&replaced).unwrap();
    fs::create_dir(&replaced).unwrap();
    assert!(place.publish_in_two_steps(&draft, &replaced).is_err());
    assert_eq!(text(&place.folder), "newer");
    // A name that another import took meanwhile is not taken from it.
    fill(&draft, "late");
    let free = Place { replaces: false, ..place };
    assert!(
        free.publish(&draft, &replaced)
            .unwrap_err()
            .to_string()
            .contains("another import took the name `mine`")
    );
}
