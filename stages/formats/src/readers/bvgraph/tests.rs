//! BVGraphs: codes bit by bit, streams of every kind written and read, real graphs, damage.
use super::{
    bit_codes::{Bits, BrokenCode, Code, signed},
    successor_lists::decode,
    *,
};
use crate::{
    raw_graph::NodeIds,
    read_error::Place,
    readers::edge_list,
    test_support::{both_ways, edges_by_id, fixture, shared, tiny_edges},
};
use encode::{Writer, encode};
use proptest::prelude::*;
use std::{fs, time::Instant};

mod encode;

/// The bytes of a row of 0 and 1.
fn packed(bits: &str) -> Vec<u8> {
    let bits: Vec<u8> = bits.bytes().filter(|byte| *byte != b' ').map(|byte| byte - b'0').collect();
    bits.chunks(8)
        .map(|bits| bits.iter().enumerate().fold(0, |byte, (at, bit)| byte | bit << (7 - at)))
        .collect()
}

#[test]
fn codes_are_those_of_the_literature() {
    let cases = [
        (Code::Unary, "1 01 001 0001", vec![0, 1, 2, 3]),
        (Code::Gamma, "1 010 011 00100 00111 0001000", vec![0, 1, 2, 3, 6, 7]),
        (Code::Delta, "1 0100 0101 01100 01111 00100000", vec![0, 1, 2, 3, 6, 7]),
        // Boldi and Vigna, Codes for the World Wide Web, table of zeta codes of 1, 2, 3, ...
        (Code::Zeta(1), "1 010 011 00100", vec![0, 1, 2, 3]),
        (Code::Zeta(2), "10 110 111 01000 01001 01010 01011 011000", vec![0, 1, 2, 3, 4, 5, 6, 7]),
        (Code::Zeta(3), "100 1010 1011 1100 1101 1110 1111 0100000", vec![0, 1, 2, 3, 4, 5, 6, 7]),
        (Code::Nibble, "1000 1111 00011000", vec![0, 7, 8]),
    ];
    for (code, text, numbers) in cases {
        let mut bits = Bits::<false>::new(packed(text));
        for number in numbers {
            assert_eq!(bits.number(code), Ok(number), "{code:?}");
        }
    }
    assert_eq!([0, 1, 2, 3, 4].map(signed), [0, -1, 1, -2, 2]);
}

#[test]
fn numbers_that_end_early_or_are_too_large_are_broken() {
    assert_eq!(Bits::<false>::new(vec![]).number(Code::Gamma), Err(BrokenCode::End));
    assert_eq!(Bits::<false>::new(vec![0; 100]).number(Code::Unary), Err(BrokenCode::End));
    assert_eq!(Bits::<true>::new(vec![0x10]).number(Code::Gamma), Err(BrokenCode::End));
    let far: Vec<u8> = [vec![0; 9], vec![0xff; 40]].concat();
    for code in [Code::Gamma, Code::Zeta(3)] {
        assert_eq!(Bits::<false>::new(far.clone()).number(code), Err(BrokenCode::Large));
    }
    assert_eq!(Bits::<false>::new(vec![0x77; 40]).number(Code::Nibble), Err(BrokenCode::Large));
}

fn properties() -> impl Strategy<Value = Properties> {
    let some = || {
        prop_oneof![
            Just(Code::Unary),
            Just(Code::Gamma),
            Just(Code::Delta),
            (1u32..8).prop_map(Code::Zeta),
            Just(Code::Nibble)
        ]
    };
    let codes = (some(), some(), some(), some(), some(), some());
    (0u64..9, 0u64..5, codes, any::<bool>()).prop_map(
        |(
            window,
            interval_least,
            (outdegrees, references, block_counts, blocks, intervals, residuals),
            little,
        )| Properties {
            nodes: 0,
            arcs: 0,
            window,
            interval_least,
            outdegrees,
            references,
            block_counts,
            blocks,
            intervals,
            residuals,
            little,
        },
    )
}

/// Lists with runs, much alike from node to node.
fn lists() -> impl Strategy<Value = Vec<Vec<u32>>> {
    let edit = proptest::collection::vec((0u32..60, 1u32..9, any::<bool>()), 0..5);
    proptest::collection::vec(edit, 60).prop_map(|edits| {
        let mut now = std::collections::BTreeSet::new();
        let step = |edit: &Vec<(u32, u32, bool)>| {
            for &(start, length, add) in edit {
                (start..(start + length).min(60)).for_each(|successor| {
                    if add {
                        now.insert(successor);
                    } else {
                        now.remove(&successor);
                    }
                });
            }
            if edit.is_empty() { Vec::new() } else { now.iter().copied().collect() }
        };
        edits.iter().map(step).collect()
    })
}

fn counted(properties: Properties, lists: &[Vec<u32>]) -> Properties {
    Properties {
        nodes: lists.len() as u32,
        arcs: lists.iter().map(|list| list.len() as u64).sum(),
        ..properties
    }
}

fn decoded(stream: Vec<u8>, properties: &Properties) -> Read<Vec<Vec<u32>>> {
    let mut lists = Vec::new();
    decode(Path::new("a.graph"), stream, properties, |node, list| {
        assert_eq!(node as usize, lists.len());
        lists.push(list.to_vec());
        Ok(())
    })?;
    Ok(lists)
}

const HEAD: &str = "graphclass=it.unimi.dsi.webgraph.BVGraph\nversion=0\n";

/// Reads a pair of files.
fn pair(stream: &[u8], properties: &str) -> Read<RawGraph> {
    let folder = tempfile::tempdir().unwrap();
    let files = ["a.graph", "a.properties"].map(|name| folder.path().join(name));
    fs::write(&files[0], stream).unwrap();
    fs::write(&files[1], properties).unwrap();
    let graph = both_ways(|limit| read_within(&files, &Options::default(), limit))?;
    assert_eq!(graph.validate(), Ok(()));
    Ok(graph)
}

#[test]
fn properties_are_read_as_both_webgraphs_write_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.properties");
    let read = |text: &str| {
        fs::write(&path, text).unwrap();
        Properties::read(&path)
    };
    let sizes = "nodes=5\narcs = 7\r\nwindowsize=7\nminintervallength=4\n";
    let java = read(&format!("#BVGraph properties\n{HEAD}{sizes}zetak=4\ncompressionflags=OUTDEGREES_DELTA | BLOCKS_UNARY|OFFSETS_DELTA\n")).unwrap();
    assert_eq!(
        (java.nodes, java.arcs, java.window, java.interval_least, java.little),
        (5, 7, 7, 4, false)
    );
    assert_eq!(
        (java.outdegrees, java.blocks, java.block_counts, java.residuals),
        (Code::Delta, Code::Unary, Code::Gamma, Code::Zeta(4))
    );
    let rust = read(&format!("{HEAD}{sizes}endianness=little\ncompressionflags=BLOCKS_DELTA|RESIDUALS_ZETA2|INTERVALS_NIBBLE\n")).unwrap();
    assert_eq!(
        (rust.blocks, rust.block_counts, rust.intervals, rust.residuals, rust.little),
        (Code::Delta, Code::Delta, Code::Nibble, Code::Zeta(2), true)
    );
    for (text, what) in [
        ("nodes=5\n".to_string(), "do not name a class"),
        (
            sizes.to_string() + "graphclass=it.unimi.dsi.webgraph.EFGraph\n",
            "class that is not read",
        ),
        (format!("{HEAD}arcs=1\n"), "lack `nodes`"),
        (format!("{HEAD}nodes=1\narcs=1\nminintervallength=1\n"), "lack `windowsize`"),
        (format!("{HEAD}{sizes}nodes=4294967295\n"), "`nodes` is no number"),
        (format!("{HEAD}{sizes}arcs=-1\n"), "`arcs` is no number"),
        (format!("{HEAD}{sizes}compressionflags=RESIDUALS_GOLOMB\n"), "unknown code"),
        (format!("{HEAD}{sizes}compressionflags=WEIGHTS_GAMMA\n"), "unknown code"),
        (format!("{HEAD}{sizes}endianness=middle\n"), "order of bits"),
        (format!("{HEAD}{sizes}version=2\n"), "newer version"),
    ] {
        let error = read(&text).unwrap_err();
        assert!(error.what.contains(what) && !error.expected.is_empty(), "{text:?}: {error}");
    }
}

#[test]
fn hostile_claims_are_errors_and_cost_nothing() {
    let sizes = |nodes: u64, arcs: u64| {
        format!("{HEAD}nodes={nodes}\narcs={arcs}\nwindowsize=7\nminintervallength=4\n")
    };
    let list = |numbers: &[(Code, u64)]| {
        let mut writer = Writer::default();
        numbers.iter().for_each(|&(code, number)| writer.number(code, number, false));
        writer.bytes(false)
    };
    use Code::{Gamma, Unary, Zeta};
    let cases = [
        (vec![0xff], sizes(1 << 40, 0), "`nodes` is no number"),
        (vec![0xff], sizes(1 << 31, 0), "more nodes than the graph has bits"),
        (vec![0xff], sizes(9, 0), "more nodes than the graph has bits"),
        (vec![0xff], sizes(8, 1 << 40), "more arcs than a graph of this size"),
        (vec![0xff], sizes(8, 1), "fewer arcs"),
        (vec![0xff; 9], sizes(8, 0), "goes on behind the list"),
        (list(&[(Gamma, 5)]), sizes(4, 5), "outdegree is too large"),
        (list(&[(Gamma, 3)]), sizes(4, 2), "outdegree is too large"),
        (list(&[(Gamma, 1), (Unary, 1), (Gamma, 0)]), sizes(4, 2), "refers too far back"),
        (
            list(&[(Gamma, 1), (Unary, 0), (Gamma, 0), (Zeta(3), 8)]),
            sizes(4, 2),
            "a successor is no node",
        ),
        (
            list(&[(Gamma, 1), (Unary, 0), (Gamma, 0), (Zeta(3), 1)]),
            sizes(4, 2),
            "a successor is no node",
        ),
        (
            list(&[(Gamma, 4), (Unary, 0), (Gamma, 1), (Gamma, 2), (Gamma, 0)]),
            sizes(4, 4),
            "an interval leaves the nodes",
        ),
        (
            list(&[(Gamma, 4), (Unary, 0), (Gamma, 1), (Gamma, 0), (Gamma, 1)]),
            sizes(4, 4),
            "intervals are longer",
        ),
        (
            list(&[
                (Gamma, 2),
                (Unary, 0),
                (Gamma, 0),
                (Zeta(3), 0),
                (Zeta(3), 0),
                (Gamma, 1),
                (Unary, 1),
                (Gamma, 0),
            ]),
            sizes(4, 4),
            "copies more successors",
        ),
        (
            list(&[
                (Gamma, 1),
                (Unary, 0),
                (Gamma, 0),
                (Zeta(3), 0),
                (Gamma, 1),
                (Unary, 1),
                (Gamma, 1),
                (Gamma, 2),
            ]),
            sizes(4, 4),
            "copies more than there is",
        ),
        (
            list(&[
                (Gamma, 1),
                (Unary, 0),
                (Gamma, 0),
                (Zeta(3), 0),
                (Gamma, 1),
                (Unary, 1),
                (Gamma, 9),
            ]),
            sizes(4, 4),
            "copies more blocks",
        ),
        (
            list(&[
                (Gamma, 1),
                (Unary, 0),
                (Gamma, 0),
                (Zeta(3), 0),
                (Gamma, 2),
                (Unary, 1),
                (Gamma, 0),
                (Gamma, 0),
                (Zeta(3), 1),
            ]),
            sizes(4, 4),
            "a successor comes twice",
        ),
        (vec![0; 20], sizes(4, 4), "the file ends"),
        (vec![], sizes(1, 0), "more nodes than"),
    ];
    for (stream, properties, what) in cases {
        let error = pair(&stream, &properties).unwrap_err();
        assert!(error.what.contains(what), "expected `{what}`, found {error}");
    }
    assert_eq!(pair(&[], &sizes(0, 0)).unwrap().nodes(), 0);
    let error = pair(&list(&[(Gamma, 0), (Gamma, 0), (Gamma, 9)]), &sizes(4, 4)).unwrap_err();
    assert_eq!((error.place, error.what.contains("node 2")), (Place::Byte(0), true));
}

#[test]
fn a_folder_has_one_pair() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, contents: &str| {
        let path = folder.path().join(name);
        fs::write(&path, contents).unwrap();
        path
    };
    let text = format!("{HEAD}nodes=0\narcs=0\nwindowsize=7\nminintervallength=4\n");
    let files = [
        file("a.graph", ""),
        file("a.properties", &text),
        file("a.offsets", "\0"),
        file("b.graph", "2 1\n2\n1\n"),
        file("c.properties", "x=1"),
    ];
    let (format, found) = crate::detect::detect(folder.path(), &files).unwrap();
    assert_eq!((format.name, &found[..]), ("bvgraph", &files[..2]));
    assert_eq!(format.read(&found, &Options::default()).unwrap().nodes(), 0);
    // Without the properties of a BVGraph a file of this name is METIS.
    assert_eq!(crate::detect::detect(folder.path(), &files[3..]).unwrap().0.name, "metis");
    let error = FORMAT.read(&files[..1], &Options::default()).unwrap_err();
    assert!(error.what.contains("one pair") && error.expected.contains(".properties"), "{error}");
}

#[test]
fn real_graphs_have_the_arcs_of_their_source() {
    let sets = [
        ("web_cnr-2000", "cnr-2000", 325_557, 3_216_152),
        ("web_uk-2007-05@100000", "uk-2007-05@100000", 100_000, 3_050_615),
        ("web_dblp-2010", "dblp-2010", 326_186, 1_615_400),
    ];
    for (folder, name, nodes, arcs) in sets {
        let Some(folder) = shared(folder) else { continue };
        let files: Vec<PathBuf> = fs::read_dir(&folder)
            .unwrap()
            .map(|file| file.unwrap().path())
            .filter(|path| path.is_file())
            .collect();
        let (format, files) = crate::detect::detect(&folder, &files).unwrap();
        let start = Instant::now();
        let graph = format.read(&files, &Options::default()).unwrap();
        println!(
            "{name}: {:.1} million arcs a second",
            f64::from(arcs) / 1e6 / start.elapsed().as_secs_f64()
        );
        assert_eq!(
            (format.name, graph.nodes(), graph.edges.len() as u32, graph.validate()),
            ("bvgraph", nodes, arcs, Ok(()))
        );
        let listed =
            edge_list::read(&folder.join(format!("{name}.arcs.txt.gz")), &Options::default())
                .unwrap();
        let id = |row: &u32| match &listed.ids {
            NodeIds::Numbers(ids) => ids[*row as usize] as u32,
            _ => *row,
        };
        assert!(
            listed.edges.source.iter().map(id).eq(graph.edges.source.iter().copied()),
            "{name}"
        );
        assert!(
            listed.edges.target.iter().map(id).eq(graph.edges.target.iter().copied()),
            "{name}"
        );
    }
}

#[test]
fn the_other_order_of_a_real_graph_is_that_of_its_text() {
    let Some(folder) = shared("web_cnr-2000/url_order") else { return };
    let graph = FORMAT
        .read(
            &["cnr-2000.graph", "cnr-2000.properties"].map(|name| folder.join(name)),
            &Options::default(),
        )
        .unwrap();
    let text = crate::readers::ascii_graph::FORMAT
        .read(&[folder.join("cnr-2000.graph-txt.gz")], &Options::default())
        .unwrap();
    assert!(graph == text);
    // It is the graph of the folder above under other numbers.
    let Some(above) = folder.parent() else { return };
    let other = FORMAT
        .read(
            &["cnr-2000.graph", "cnr-2000.properties"].map(|name| above.join(name)),
            &Options::default(),
        )
        .unwrap();
    let degrees = |graph: &RawGraph| {
        let mut degrees = vec![(0u32, 0u32); graph.nodes() as usize];
        graph.edges.source.iter().for_each(|&row| degrees[row as usize].0 += 1);
        graph.edges.target.iter().for_each(|&row| degrees[row as usize].1 += 1);
        degrees
    };
    let (mut here, mut there) = (degrees(&graph), degrees(&other));
    assert!(here != there);
    here.sort_unstable();
    there.sort_unstable();
    assert!(here == there);
}

/// The tiny graph; `UPDATE=1` writes its two files again.
#[test]
fn the_tiny_graph_is_the_same_in_this_format() {
    let lists: Vec<Vec<u32>> =
        vec![vec![], vec![2], vec![1, 3], vec![], vec![], vec![5], vec![], vec![], vec![1]];
    let files = ["tiny.graph", "tiny.properties"].map(fixture);
    if std::env::var_os("UPDATE").is_some() {
        let text = format!(
            "#BVGraph properties\n{HEAD}nodes=9\narcs=5\nwindowsize=7\nminintervallength=4\nzetak=3\ncompressionflags=\n"
        );
        fs::write(&files[1], text).unwrap();
        fs::write(&files[0], encode(&lists, &Properties::read(&files[1]).unwrap(), |_| 0)).unwrap();
    }
    let (format, found) = crate::detect::detect(Path::new(""), &files).unwrap();
    let graph = format.read(&found, &Options::default()).unwrap();
    let mut expected = tiny_edges(false);
    expected.dedup();
    assert_eq!((format.name, graph.nodes(), edges_by_id(&graph, false)), ("bvgraph", 9, expected));
}

proptest! {
    #[test]
    fn what_is_written_is_read(lists in lists(), properties in properties(), backs in proptest::collection::vec(0usize..10, 60)) {
        let properties = counted(properties, &lists);
        let stream = encode(&lists, &properties, |node| backs[node]);
        prop_assert_eq!(decoded(stream, &properties).unwrap(), lists);
    }

    #[test]
    fn large_numbers_are_written_and_read(numbers in proptest::collection::vec((0u64..1 << 62, 0u32..62), 1..40), code in 0usize..9, little in any::<bool>()) {
        let code = [Code::Gamma, Code::Delta, Code::Nibble, Code::Zeta(1), Code::Zeta(2), Code::Zeta(3), Code::Zeta(5), Code::Zeta(7), Code::Gamma][code];
        // The nibbles and zetas of the largest need more than 63 bits, and are refused.
        let numbers: Vec<u64> = numbers.into_iter().map(|(number, shift)| number >> shift.max(12)).collect();
        let mut writer = Writer::default();
        numbers.iter().for_each(|&number| writer.number(code, number, little));
        let bytes = writer.bytes(little);
        if little {
            let mut bits = Bits::<true>::new(bytes);
            for number in numbers { prop_assert_eq!(bits.number(code), Ok(number)); }
        } else {
            let mut bits = Bits::<false>::new(bytes);
            for number in numbers { prop_assert_eq!(bits.number(code), Ok(number)); }
        }
    }

    #[test]
    fn damaged_streams_are_lists_or_an_error(lists in lists(), properties in properties(), backs in proptest::collection::vec(0usize..10, 60),
        damage in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4), cut in any::<proptest::sample::Index>()) {
        let properties = counted(properties, &lists);
        let mut stream = encode(&lists, &properties, |node| backs[node]);
        for (at, byte) in damage {
            let at = at.index(stream.len());
            stream[at] = byte;
        }
        stream.truncate(cut.index(stream.len() + 1).max(stream.len() / 2));
        if let Ok(lists) = decoded(stream, &properties) {
            prop_assert_eq!(counted(properties.clone(), &lists), properties);
            prop_assert!(lists.iter().all(|list| list.is_sorted_by(|a, b| a < b)));
        }
    }

    #[test]
    fn any_bytes_are_lists_or_an_error(
        stream in proptest::collection::vec(any::<u8>(), 0..200),
        properties in properties(),
        nodes in 0u32..2000,
        arcs in 0u64..1 << 40,
    ) {
        let _ = decoded(stream, &Properties { nodes, arcs: arcs >> (arcs % 40), ..properties });
    }

    #[test]
    fn any_properties_are_read_or_refused(lines in proptest::collection::vec((0usize..9, "[0-9]{0,20}(RESIDUALS_ZETA|big)?"), 0..9)) {
        let keys = ["nodes", "arcs", "windowsize", "minintervallength", "zetak", "version", "endianness", "compressionflags", "graphclass"];
        let text: String = lines.iter().map(|(key, value)| format!("{}={value}\n", keys[*key])).collect();
        let _ = pair(&[0xff; 8], &(HEAD.to_string() + &text));
    }
}
