//! Exported files are read back by our own readers.
use super::*;
use arrow_array::{Float32Array, StringArray, UInt32Array, UInt64Array};
use std::sync::Arc;
use warploom_formats::containers::{npy, npz::Npz, sparse_matrix};

fn sample() -> Table {
    let id: ArrayRef = Arc::new(StringArray::from(vec!["a", "b, \"c\"", "ä"]));
    let count: ArrayRef = Arc::new(UInt64Array::from(vec![1, 1 << 60, 3]));
    let class: ArrayRef = Arc::new(UInt32Array::from(vec![Some(2), None, Some(0)]));
    let score =
        items::lists(2, Arc::new(Float32Array::from(vec![0.5, -1.0, 1e30, f32::NAN, 0.1, 2.0])));
    let columns = vec![id, count, class, score];
    let fields = ["id", "count", "class", "scores"]
        .iter()
        .zip(&columns)
        .map(|(name, column)| Field::new(*name, column.data_type().clone(), true))
        .collect();
    Table {
        name: "t".to_owned(),
        fields,
        count: 3,
        rows: Box::new(move |range| {
            columns.iter().map(|column| column.slice(range.start, range.len())).collect()
        }),
    }
}

#[test]
fn arrays_of_a_table_come_back() {
    let folder = tempfile::tempdir().unwrap();
    write_table(&sample(), ExportForm::Npz, folder.path()).unwrap();
    write_table(&sample(), ExportForm::Npy, folder.path()).unwrap();
    let npz = Npz::open(&folder.path().join("t.npz")).unwrap();
    assert_eq!(npz.names().collect::<Vec<_>>(), ["class", "count", "id", "scores"]);
    for name in ["class", "count", "id", "scores"] {
        let (one, other) = (
            npz.array(name).unwrap(),
            npy::read(&folder.path().join(format!("t.{name}.npy"))).unwrap(),
        );
        assert_eq!((&one.shape, one.dtype), (&other.shape, other.dtype));
    }
    assert_eq!(npz.array("id").unwrap().words().unwrap(), ["a", "b, \"c\"", "ä"]);
    assert_eq!(npz.array("count").unwrap().u64s().unwrap(), [1, 1 << 60, 3]);
    assert_eq!(npz.array("class").unwrap().i64s().unwrap(), [2, -1, 0]);
    let scores = npz.array("scores").unwrap();
    assert_eq!(scores.rows().unwrap(), (3, 2));
    assert!(scores.f32s().unwrap()[3].is_nan() && scores.f32s().unwrap()[2] == 1e30);
}

#[test]
fn a_table_as_text_keeps_words_gaps_and_bits() {
    let folder = tempfile::tempdir().unwrap();
    write_table(&sample(), ExportForm::Csv, folder.path()).unwrap();
    let text = fs::read_to_string(folder.path().join("t.csv")).unwrap();
    let expected = "id,count,class,scores_0,scores_1\na,1,2,0.5,-1.0\n\"b, \
        \"\"c\"\"\",1152921504606846976,,1e30,NaN\nä,3,0,0.1,2.0\n";
    assert_eq!(text, expected);
}

#[test]
fn tensors_come_back_and_words_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = write_table(&sample(), ExportForm::Safetensors, folder.path()).unwrap_err();
    assert!(error.what.contains("`id` holds strings"), "{error:?}");
    let dense = Dense {
        name: "w".to_owned(),
        dtype: Dtype::F32,
        shape: vec![1, 2],
        bytes: [1f32.to_le_bytes(), 2f32.to_le_bytes()].concat(),
    };
    let name = "a/b".to_owned();
    let arrays = || Arrays {
        name: "p".to_owned(),
        arrays: vec![dense.clone(), Dense { name: name.clone(), ..dense.clone() }],
        usual: ExportForm::Safetensors,
    };
    write_arrays(arrays(), None, folder.path()).unwrap();
    let back = warploom_formats::containers::safetensors::read_arrays(
        &folder.path().join("p.safetensors"),
    )
    .unwrap();
    assert_eq!((back[1].0.as_str(), back[1].1.f32s().unwrap()), ("w", vec![1.0, 2.0]));
    write_arrays(arrays(), Some(ExportForm::Npy), folder.path()).unwrap();
    assert_eq!(npy::read(&folder.path().join("p.a_b.npy")).unwrap().shape, [1, 2]);
}

#[test]
fn sparse_rows_are_what_scipy_writes() {
    let folder = tempfile::tempdir().unwrap();
    let numbers = |name: &str, values: &[i32]| Dense {
        name: name.to_owned(),
        dtype: Dtype::I32,
        shape: vec![values.len()],
        bytes: values.iter().flat_map(|value| value.to_le_bytes()).collect(),
    };
    let mut arrays = vec![
        numbers("indices", &[1, 0, 2]),
        numbers("indptr", &[0, 1, 3]),
        numbers("shape", &[2, 3]),
        numbers("data", &[5, 6, 7]),
    ];
    arrays.push(Dense {
        name: "format".to_owned(),
        dtype: Dtype::Ascii(3),
        shape: Vec::new(),
        bytes: b"csr".to_vec(),
    });
    write_arrays(
        Arrays { name: "features".to_owned(), arrays, usual: ExportForm::Npz },
        None,
        folder.path(),
    )
    .unwrap();
    let entries =
        sparse_matrix::read_entries(&Npz::open(&folder.path().join("features.npz")).unwrap(), "")
            .unwrap();
    assert_eq!(
        (entries.rows, entries.columns, entries.row, entries.column),
        (2, 3, vec![0, 1, 1], vec![1, 0, 2])
    );
}

#[test]
fn a_folder_gets_all_files_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out");
    let write = |text: &'static str| {
        move |draft: &Path| {
            fs::write(draft.join("x.txt"), text)
                .map_err(|error| StageError::io("write", draft, &error))
        }
    };
    let failed = write_whole(&target, false, |draft| {
        write("half")(draft).and_then(|()| Err(StageError::defect("stopped")))
    })
    .unwrap_err();
    assert_eq!((failed.what.as_str(), target.exists()), ("stopped", false));
    assert_eq!(write_whole(&target, false, write("one")).unwrap(), ["x.txt"]);
    assert!(write_whole(&target, false, write("two")).unwrap_err().what.contains("there already"));
    assert_eq!(fs::read_to_string(target.join("x.txt")).unwrap(), "one");
    write_whole(&target, true, write("two")).unwrap();
    assert_eq!(
        (
            fs::read_to_string(target.join("x.txt")).unwrap().as_str(),
            file_names(&target).unwrap().len()
        ),
        ("two", 1)
    );
    // A folder far below one that is there.
    write_whole(&folder.path().join("a/b/c"), false, write("deep")).unwrap();
    assert_eq!(
        (file_names(&folder.path().join("a/b/c")).unwrap(), file_names(folder.path()).unwrap()),
        (vec!["x.txt".to_owned()], vec!["a".into(), "out".into()])
    );
    fs::create_dir(target.join("y")).unwrap();
    let into = |draft: &Path| {
        fs::write(draft.join("y"), "").map_err(|error| StageError::io("write", draft, &error))
    };
    assert!(write_whole(&target, true, into).unwrap_err().what.contains("there already"));
    assert_eq!(file_names(&target).unwrap(), ["x.txt", "y"]);
}

#[test]
fn the_manifest_comes_last() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out");
    fs::create_dir_all(target.join("edges.csv")).unwrap();
    let draft = folder.path().join("draft");
    fs::create_dir(&draft).unwrap();
    let files = ["edges.csv", MANIFEST_FILE, "nodes.csv"].map(str::to_owned);
    files.iter().for_each(|file| fs::write(draft.join(file), "x").unwrap());
    // A file cannot take the name of a folder: what comes after it is not there.
    give_names(&draft, &target, &files).unwrap_err();
    assert_eq!(file_names(&target).unwrap(), ["edges.csv"]);
}
