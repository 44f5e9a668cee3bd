//! Mistakes that people make, each in a folder of its own: what is said of it has a place, what was
//! expected and found, and what to do.
//!
//! promises  every case is read as a user's folder is, by `detect` and `attach`
//! never     asks for the whole text of an error
use crate::{
    containers::zip::tests::archive_of,
    detect::{detect, file_heads::FileHeads},
    options::Options,
    raw_graph::RawGraph,
    readers::edge_arrays::tests::wholes as npy,
    side_files,
};
use std::{
    fs,
    path::{Path, PathBuf},
};

fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let members: Vec<(String, &[u8])> =
        arrays.iter().map(|(name, bytes)| (format!("{name}.npy"), &bytes[..])).collect();
    archive_of(&members.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect::<Vec<_>>())
}

/// What a folder with these files is read as, or the error as it is shown.
fn folder(files: &[(&str, Vec<u8>)]) -> Result<RawGraph, String> {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| folder.path().join(name)).collect();
    files.iter().zip(&paths).for_each(|((_, bytes), path)| fs::write(path, bytes).unwrap());
    let read = || {
        let (format, own) = detect(folder.path(), &paths)?;
        let beside: Vec<PathBuf> = paths
            .iter()
            .filter(|path| !own.contains(path) && side_files::may_stand_beside(path))
            .cloned()
            .collect();
        let mut graph = format.read(&own, &Options::default())?;
        side_files::attach(&mut graph, &beside)?;
        Ok(graph)
    };
    read().map_err(|error: Box<crate::read_error::ReadError>| error.to_string())
}

#[track_caller]
fn says(files: &[(&str, Vec<u8>)], wanted: &[&str]) {
    let said = folder(files).expect_err("a mistake was read as a graph");
    for words in wanted.iter().chain(&["\n  --> ", "expected ", "found ", "\nhint: "]) {
        assert!(said.contains(words), "expected `{words}` in\n{said}");
    }
}

/// The fixture of a Planetoid set with one file replaced.
fn planetoid(part: &str, bytes: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let names = ["x", "tx", "allx", "y", "ty", "ally", "graph", "test.index"];
    let files = [
        "ind.tiny.x",
        "ind.tiny.tx",
        "ind.tiny.allx",
        "ind.tiny.y",
        "ind.tiny.ty",
        "ind.tiny.ally",
        "ind.tiny.graph",
        "ind.tiny.test.index",
    ];
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/graphs");
    let contents = |(name, file): (&str, &'static str)| {
        (file, if name == part { bytes.to_vec() } else { fs::read(from.join(file)).unwrap() })
    };
    names.into_iter().zip(files).map(contents).collect()
}

/// `{0: [NEIGHBOUR]}` as a pickle.
fn neighbours(neighbour: i32) -> Vec<u8> {
    [b"\x80\x02}(K\0](J", &neighbour.to_le_bytes()[..], b"eu."].concat()
}

#[test]
fn planetoid_sets() {
    says(
        &planetoid("graph", &neighbours(-4)),
        &["the neighbour 0 of node 0 is no node id", "found -4", "ind.tiny.graph"],
    );
    says(
        &planetoid("graph", &neighbours(99_999)),
        &["the neighbour 99999 of node 0, which no row has", "ids below 7"],
    );
    says(
        &planetoid("test.index", b"6\n999999\n"),
        &["a node id is far beyond the number of rows", "test.index:2:1", "found 999999"],
    );
    says(
        &planetoid("test.index", b"6\n1\n"),
        &["it lists node 1, which is a row of `allx`", "test.index:2:1", "ids from 4 on"],
    );
    says(&planetoid("test.index", b"6\n6\n"), &["it lists node 6 twice", "test.index:2:1"]);
    says(&planetoid("test.index", b"6\n-4\n"), &["test.index:2:1", "found `-4`"]);
}

#[test]
fn arrays_of_an_adjacency() {
    let of = |indptr: Vec<u8>, shape: Vec<u8>, labels: Vec<u8>| {
        let arrays = [
            ("adj_data", npy("3,", &[1, 1, 1])),
            ("adj_indices", npy("3,", &[1, 2, 0])),
            ("adj_indptr", indptr),
            ("adj_shape", shape),
        ];
        vec![("g.npz", npz(&[&arrays[..], &[("labels", labels)]].concat()))]
    };
    let (good, square, three) =
        (npy("4,", &[0, 1, 2, 3]), npy("2,", &[3, 3]), npy("3,", &[0, 1, 0]));
    assert!(folder(&of(good.clone(), square.clone(), three.clone())).is_ok());
    says(
        &of(npy("4,", &[0, 2, 1, 3]), square.clone(), three.clone()),
        &["`adj_indptr`: the offsets of a sparse matrix do not ascend", "at least 2, found 1"],
    );
    says(
        &of(good.clone(), square, npy("2,", &[0, 1])),
        &["`labels`: an array does not have a row for each node", "expected 3 rows, found 2"],
    );
    says(
        &of(good, npy("2,", &[3, 4]), three),
        &["the adjacency is not square", "found 3 x 4", "rROW cCOLUMN VALUE"],
    );
    let lacking = [("src_li", npy("1,", &[0])), ("dst_li", npy("1,", &[1]))];
    says(
        &[("g.npz", npz(&lacking))],
        &[
            "this .npz lacks `num_nodes`",
            "expected src_li, dst_li, num_nodes, found dst_li, src_li",
            "num_nodes=...",
        ],
    );
    let lacking = [
        ("adj_data", npy("1,", &[1])),
        ("adj_indices", npy("1,", &[0])),
        ("adj_indptr", npy("2,", &[0, 1])),
    ];
    says(&[("g.npz", npz(&lacking))], &["this .npz lacks `adj_shape`"]);
    let uneven =
        [("src_li", npy("2,", &[0, 1])), ("dst_li", npy("1,", &[1])), ("num_nodes", npy("", &[2]))];
    says(
        &[("g.npz", npz(&uneven))],
        &["`dst_li`: it does not have an end for each", "expected 2, found 1"],
    );
}

#[test]
fn arrays_of_edges_and_beside_them() {
    let of = |more: (&'static str, Vec<u8>)| {
        vec![("edges.npz", npz(&[("source", npy("3,", &[0, 1, 2])), more]))]
    };
    says(
        &of(("target", npy("2,", &[1, 2]))),
        &["`target`: there are not as many targets as sources", "found 2"],
    );
    let with = |name: &'static str, array: Vec<u8>| {
        let ends = [("source", npy("3,", &[0, 1, 2])), ("target", npy("3,", &[1, 2, 0]))];
        vec![("edges.npz", npz(&[&ends[..], &[(name, array)]].concat()))]
    };
    says(
        &with("weight", npy("2,", &[1, 2])),
        &["`weight`: there are not as many weights as sources", "expected 3, one an edge, found 2"],
    );
    says(
        &with("num_nodes", npy("", &[2])),
        &["the source of edge 2 is beyond `num_nodes`", "expected a node below 2, found 2"],
    );
    let edges = ("edges.txt", b"0 1\n1 2\n2 0\n".to_vec());
    let beside =
        vec![edges.clone(), ("ids.npy", npy("2,", &[0, 1])), ("labels.npy", npy("2,", &[0, 1]))];
    says(&beside, &["not every node has a row", "expected 3 ids, found 2", "ids.npy"]);
    let beside =
        vec![edges, ("ids.npy", npy("2,", &[0, 1])), ("labels.npy", npy("3,", &[0, 1, 0]))];
    says(&beside, &["the number of rows (labels) differs from that of", "ids.npy"]);
    let text = b"0 1\n1 2\n2 3\n3 4\n";
    says(
        &[("edges.safetensors", text.to_vec())],
        &["this is no safetensors file", "16 bytes from `0 1.1 2"],
    );
    says(
        &[("mine.safetensors", text.to_vec())],
        &["no .safetensors file: expected it to begin with a length of 8 bytes and `{`"],
    );
}

#[test]
fn texts() {
    let tu = |edges: &str, attributes: &str| {
        vec![
            ("S_A.txt", edges.into()),
            ("S_graph_indicator.txt", b"1\n1\n2\n".to_vec()),
            ("S_node_attributes.txt", attributes.into()),
        ]
    };
    says(
        &tu("1, 2\n2, 3\n", "1\n2\n3\n"),
        &["an edge joins nodes of two graphs", "S_A.txt:2:1", "nodes of the graphs 1 and 2"],
    );
    says(
        &tu("1, 2\n", "1, 1\n2\n3, 3\n"),
        &["S_node_attributes.txt:2", "too few columns", "expected 2 columns, found `1`"],
    );
    says(
        &tu("1, 2\n", "1\nnan\n3\n"),
        &["S_node_attributes.txt:2:1", "expected a finite number", "write a number in its place"],
    );
    says(
        &[("kg.nt", b"<a> <b> <c> .\n<a> <b> <d>\n".to_vec())],
        &["kg.nt:2:12", "does not end in a full stop", "end each line with  ` .`"],
    );
    let matrix = |text: &str| {
        vec![("g.mtx", format!("%%MatrixMarket matrix coordinate real {text}").into_bytes())]
    };
    says(
        &matrix("skew-symmetric\n3 3 2\n2 1 1\n2 2 1\n"),
        &["g.mtx:4:1", "an entry on its diagonal", "take the line out"],
    );
    says(
        &matrix("general\n3 3 1\n1 2 1\n2 3 1\n"),
        &["g.mtx:4:1", "more entries than its header says", "no more than 1, as line 2 says"],
    );
    let tables = vec![
        ("edges.csv", b"source,target\n0,1\n".to_vec()),
        ("nodes.csv", b"id,label\n".to_vec()),
    ];
    says(&tables, &["the table is empty", "nodes.csv", "expected a row for each node, found none"]);
}

/// Opening a pipe would wait for somebody to write.
#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edges.txt");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert_eq!(FileHeads::new(std::slice::from_ref(&path)).head(&path), b"");
    let said = crate::readers::edge_list::read(&path, &Options::default()).unwrap_err().to_string();
    let wanted = [
        "no file that can be read twice",
        "edges.txt",
        "expected a file, found a pipe",
        "hint: write what comes out of it to a file",
    ];
    wanted.iter().for_each(|words| assert!(said.contains(words), "{said}"));
}
