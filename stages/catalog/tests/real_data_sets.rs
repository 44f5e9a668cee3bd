//! Entries against the real files of `../shared/data`, as far as they are there: files found,
//! counts as stored.
//!
//! promises  every folder of that place belongs to an entry; counts are found by sets, another road
//!           than that of `ingest`
use std::{collections::BTreeSet, fs, path::PathBuf};

use warploom_catalog::{Attempt, Catalog, Entry, Source, locate, present_files};
use warploom_formats::raw_graph::{Labels, NodeIds, RawGraph};
use warploom_test_support::skips::skipped;

/// Folders of files that no reader should take, or of which only some are data sets.
const NO_DATA_SET: &[&str] = &["planetoid_pubmed_without_allx"];

fn shared() -> Option<PathBuf> {
    let data = warploom_test_support::shared().join("data");
    if data.is_dir() {
        return Some(data);
    }
    skipped("real_data_sets", format!("no folder `{}`; set WARPLOOM_SHARED", data.display()));
    None
}

fn entries() -> Vec<Entry> {
    let catalog = Catalog::default();
    catalog
        .names()
        .iter()
        .map(|name| catalog.find(name).unwrap_or_else(|error| panic!("{error}")))
        .collect()
}

#[test]
fn every_folder_has_an_entry_and_every_entry_all_its_files() {
    let Some(data) = shared() else { return };
    let mut used = BTreeSet::new();
    for entry in entries() {
        let folders: Vec<&String> = std::iter::once(&entry.name)
            .chain(&entry.found_as)
            .filter(|name| data.join(name).is_dir())
            .collect();
        let found = present_files(&entry, std::slice::from_ref(&data)).unwrap();
        if folders.is_empty() || found.packed.is_some() {
            continue;
        }
        assert!(
            found.missing.is_empty(),
            "`{}` lacks {:?} in {folders:?}",
            entry.name,
            found.missing
        );
        used.insert(found.folder.unwrap().file_name().unwrap().to_str().unwrap().to_owned());
    }
    for folder in fs::read_dir(&data).unwrap().flatten().filter(|folder| folder.path().is_dir()) {
        let name = folder.file_name().into_string().unwrap();
        assert!(
            used.contains(&name) || NO_DATA_SET.contains(&name.as_str()),
            "no entry is found as `{name}`"
        );
    }
}

#[test]
fn counts_are_those_of_the_files() {
    let Some(data) = shared() else { return };
    let (mut read, mut wrong) = (Vec::new(), Vec::new());
    let kept = tempfile::tempdir().unwrap();
    for entry in entries() {
        // Archives are unpacked elsewhere: the data are never written to.
        let Ok(Source::Real { files, .. }) =
            locate(&entry, std::slice::from_ref(&data), Some(kept.path()), Attempt::Never)
        else {
            continue;
        };
        match entry.format.reader().read(&files, &entry.read) {
            Ok(graph) => wrong.extend(compare(&entry, &graph)),
            Err(error) => wrong.push(format!("`{}`: {error}", entry.name)),
        }
        read.push(entry.name);
    }
    // One that lies in an archive among the files of others.
    assert!(read.iter().any(|name| name == "football"));
    println!("{} entries read: {}", read.len(), read.join(", "));
    assert!(
        wrong.is_empty(),
        "{} are not as their entries say:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(read.len() > 90, "only {} entries were found", read.len());
}

/// What differs, in words.
fn compare(entry: &Entry, graph: &RawGraph) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut same = |what: &str, expected: Option<u64>, found: usize| {
        if let Some(expected) = expected.filter(|&expected| expected != found as u64) {
            wrong.push(format!("{what} of `{}`: expected {expected}, found {found}", entry.name));
        }
    };
    let pairs: Vec<(u32, u32)> =
        graph.edges.source.iter().copied().zip(graph.edges.target.iter().copied()).collect();
    let mut distinct = pairs.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let mut symmetric: Vec<(u32, u32)> = distinct
        .iter()
        .copied()
        .chain(distinct.iter().map(|&(source, target)| (target, source)))
        .collect();
    symmetric.sort_unstable();
    symmetric.dedup();
    same("nodes", entry.expected.nodes, graph.nodes() as usize);
    same("listed", entry.expected.listed, pairs.len());
    same("distinct", entry.expected.distinct, distinct.len());
    same("symmetric", entry.expected.symmetric, symmetric.len());
    same("graphs", entry.holds.graphs, graph.graphs.as_ref().map_or(0, |graphs| graphs.ids.len()));
    same("relations", entry.holds.relations.map(u64::from), graph.relations.len());
    if let Some(features) = entry.holds.features.filter(|_| graph.kinds.is_none()) {
        same(
            "features",
            Some(u64::from(features)),
            graph.features.as_ref().map_or(0, |features| features.columns() as usize),
        );
    }
    let labels =
        graph.graphs.as_ref().map_or(graph.labels.as_ref(), |graphs| graphs.labels.as_ref());
    let classes = match labels {
        Some(Labels::Classes { names, .. }) => names.len(),
        Some(Labels::Rows { columns, .. }) => *columns as usize,
        Some(Labels::Values(_)) | None => 0,
    };
    same("classes", entry.holds.classes.map(u64::from), classes);
    if let Some(recipe) = &entry.stand_in {
        let edges = if recipe.symmetric { symmetric } else { statements(graph) };
        same("edges of the stand-in", Some(recipe.edges), edges.len());
        same(
            "self loops of the stand-in",
            Some(recipe.loops),
            edges.iter().filter(|(source, target)| source == target).count(),
        );
        let most = |end: fn(&(u32, u32)) -> u32| {
            let mut degree = vec![0u32; graph.nodes() as usize];
            edges.iter().for_each(|edge| degree[end(edge) as usize] += 1);
            degree.into_iter().max().unwrap_or(0)
        };
        same(
            "the largest degree of the stand-in",
            Some(u64::from(recipe.max_degree)),
            most(|edge| edge.0).max(most(|edge| edge.1)) as usize,
        );
    }
    wrong
}

/// What the README of the shared data warns of, of one set: counted there by another reader.
struct Trap {
    name: &'static str,
    loops: usize,
    /// Entries that another entry repeats.
    repeats: usize,
    isolated: usize,
    ids: (u64, u64),
    ways: Ways,
}

#[derive(Debug, PartialEq)]
enum Ways {
    /// Every pair is listed with its reverse.
    Both,
    /// No pair is.
    Once,
    /// Some are: they have a direction.
    Directed,
}

const fn trap(
    name: &'static str,
    (loops, repeats, isolated): (usize, usize, usize),
    ids: (u64, u64),
    ways: Ways,
) -> Trap {
    Trap { name, loops, repeats, isolated, ids, ways }
}

const TRAPS: [Trap; 21] = [
    trap("cora", (0, 302, 0), (0, 2_707), Ways::Both),
    trap("IMDB-BINARY", (0, 193_062, 0), (1, 19_773), Ways::Both),
    trap("COLLAB", (2_837, 0, 0), (0, 372_473), Ways::Both),
    trap("road-NY", (0, 3_746, 0), (1, 264_346), Ways::Both),
    trap("soc-Slashdot0902", (78_303, 0, 0), (0, 82_167), Ways::Directed),
    trap("soc-Epinions1", (0, 0, 0), (0, 75_887), Ways::Directed),
    trap("wiki-Vote", (0, 0, 0), (3, 8_297), Ways::Directed),
    trap("p2p-Gnutella08", (0, 0, 0), (0, 6_300), Ways::Once),
    trap("p2p-Gnutella31", (0, 0, 0), (0, 62_585), Ways::Once),
    trap("ca-GrQc", (12, 0, 0), (13, 26_196), Ways::Both),
    trap("ca-HepTh", (25, 0, 0), (1, 68_745), Ways::Both),
    trap("as20graph", (1_323, 0, 0), (1, 65_105), Ways::Both),
    trap("email-Enron", (0, 0, 0), (0, 36_691), Ways::Both),
    trap("cnr-2000", (87_442, 0, 0), (0, 325_556), Ways::Directed),
    trap("uk-2007-05@100000", (15_670, 0, 0), (0, 99_999), Ways::Directed),
    trap("dblp-2010", (0, 0, 25_539), (0, 326_185), Ways::Both),
    trap("minesweeper", (0, 0, 0), (0, 9_999), Ways::Once),
    trap("actor", (0, 0, 0), (0, 7_599), Ways::Once),
    trap("prone-ppi", (894, 0, 0), (0, 3_889), Ways::Once),
    trap("prone-wikipedia", (222, 0, 0), (0, 4_776), Ways::Once),
    trap("4elt", (0, 0, 0), (1, 15_606), Ways::Both),
];

/// Each trap as it stands in the files, whatever an entry makes of it afterwards.
#[test]
fn traps_of_the_shared_sets_are_read_as_they_are() {
    let Some(data) = shared() else { return };
    let kept = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    for trap in TRAPS {
        let entry = Catalog::default().find(trap.name).unwrap();
        let Ok(Source::Real { files, .. }) =
            locate(&entry, std::slice::from_ref(&data), Some(kept.path()), Attempt::Never)
        else {
            wrong.push(format!("`{}` is not here", trap.name));
            continue;
        };
        let graph = entry.format.reader().read(&files, &entry.read).unwrap();
        let mut pairs: Vec<(u32, u32)> =
            graph.edges.source.iter().copied().zip(graph.edges.target.iter().copied()).collect();
        let (listed, loops) =
            (pairs.len(), pairs.iter().filter(|(source, target)| source == target).count());
        let touched: BTreeSet<u32> =
            pairs.iter().flat_map(|&(source, target)| [source, target]).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let between: Vec<(u32, u32)> =
            pairs.iter().copied().filter(|(source, target)| source != target).collect();
        let back = between
            .iter()
            .filter(|&&(source, target)| between.binary_search(&(target, source)).is_ok())
            .count();
        let ways = match back {
            0 => Ways::Once,
            all if all == between.len() => Ways::Both,
            _ => Ways::Directed,
        };
        let ids = match &graph.ids {
            NodeIds::Count(count) => (0, u64::from(*count) - 1),
            NodeIds::Numbers(numbers) => (numbers[0], numbers[numbers.len() - 1]),
            NodeIds::Strings(_) => (0, 0),
        };
        let found =
            (loops, listed - pairs.len(), graph.nodes() as usize - touched.len(), ids, ways);
        let expected = (trap.loops, trap.repeats, trap.isolated, trap.ids, trap.ways);
        if found != expected {
            wrong.push(format!("`{}`: expected {expected:?}, found {found:?}", trap.name));
        }
    }
    assert!(
        wrong.is_empty(),
        "loops, repeats, nodes without an edge, first and last id, ways\n{}",
        wrong.join("\n")
    );
}

/// Distinct edges, of one relation each.
fn statements(graph: &RawGraph) -> Vec<(u32, u32)> {
    let relation = |edge: usize| graph.edges.relation.as_ref().map_or(0, |relation| relation[edge]);
    let mut all: Vec<(u32, u32, u16)> = (0..graph.edges.len())
        .map(|edge| (graph.edges.source[edge], graph.edges.target[edge], relation(edge)))
        .collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().map(|(source, target, _)| (source, target)).collect()
}

#[test]
fn every_entry_is_told_and_can_be_had_or_made() {
    for entry in entries() {
        let name = &entry.name;
        assert!(
            !entry.about.is_empty() && entry.about.ends_with(['.', '?']),
            "`{name}` is not told"
        );
        assert!(!entry.licence.is_empty(), "`{name}` says nothing of its licence");
        let addresses = entry
            .files
            .iter()
            .filter_map(|file| file.url.as_ref())
            .chain(entry.archive.as_ref().map(|archive| &archive.url));
        for address in addresses {
            let sound = (address.starts_with("https://") || address.starts_with("http://"))
                && !address.contains([' ', '@', '"']);
            assert!(sound, "`{name}`: `{address}` is no address");
        }
        // What cannot be fetched or made has a stand-in.
        let obtainable = entry.generator.is_some()
            || entry.archive.is_some()
            || entry.files.iter().all(|file| file.url.is_some());
        assert!(obtainable || entry.stand_in.is_some(), "`{name}` can neither be had nor made");
        assert!(entry.generator.is_some() || entry.stand_in.is_some(), "`{name}` has no stand-in");
        if let (Some(recipe), Some(nodes)) = (&entry.stand_in, entry.expected.nodes) {
            assert_eq!(u64::from(recipe.nodes), nodes, "the stand-in of `{name}`");
            assert_eq!(
                u64::from(recipe.graphs),
                entry.holds.graphs.unwrap_or_default(),
                "graphs of the stand-in of `{name}`"
            );
            assert_eq!(
                Some(u32::from(recipe.relations)),
                entry.holds.relations.or(Some(0)),
                "relations of the stand-in of `{name}`"
            );
        }
    }
}

#[test]
fn the_documents_graphs_are_all_here() {
    let with = |document: &str| {
        entries()
            .iter()
            .filter(|entry| {
                entry.printed.iter().any(|printed| printed.document.starts_with(document))
            })
            .count()
    };
    assert_eq!(
        (with("GNNAdvisor study"), with("SpMM study"), with("GPU Pregel paper")),
        (15, 13, 6)
    );
    let names = Catalog::default().names();
    for name in [
        "cora",
        "citeseer",
        "pubmed",
        "corafull",
        "coauthor-cs",
        "coauthor-physics",
        "amazon-photo",
        "amazon-computers",
        "reddit",
        "aifb",
        "mutag",
        "bgs",
        "am",
    ] {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
}
