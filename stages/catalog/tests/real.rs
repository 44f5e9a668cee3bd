//! Entries against the real files of `../shared/data`, as far as they are there: files found, counts as stored.
//!
//! promises  every folder of that place belongs to an entry; counts are found by sets, another road than that of `ingest`
use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
};

use warploom_catalog::{Attempt, Catalog, Entry, Source, locate, present};
use warploom_formats::raw::{Labels, RawGraph};

/// Folders of files that no reader should take, or of which only some are data sets.
const NO_DATA_SET: &[&str] = &["planetoid_pubmed_without_allx"];

fn shared() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let data = env::var_os("WARPLOOM_SHARED").map_or(beside, PathBuf::from).join("data");
    if data.is_dir() {
        return Some(data);
    }
    println!("SKIPPED: no folder `{}`; set WARPLOOM_SHARED", data.display());
    None
}

fn entries() -> Vec<Entry> {
    let catalog = Catalog::default();
    catalog.names().iter().map(|name| catalog.find(name).unwrap_or_else(|error| panic!("{error}"))).collect()
}

#[test]
fn every_folder_has_an_entry_and_every_entry_all_its_files() {
    let Some(data) = shared() else { return };
    let mut used = BTreeSet::new();
    for entry in entries() {
        let folders: Vec<&String> = std::iter::once(&entry.name).chain(&entry.found_as).filter(|name| data.join(name).is_dir()).collect();
        let found = present(&entry, std::slice::from_ref(&data));
        if folders.is_empty() || found.packed.is_some() {
            continue;
        }
        assert!(found.missing.is_empty(), "`{}` lacks {:?} in {folders:?}", entry.name, found.missing);
        used.insert(found.folder.unwrap().file_name().unwrap().to_str().unwrap().to_owned());
    }
    for folder in fs::read_dir(&data).unwrap().flatten().filter(|folder| folder.path().is_dir()) {
        let name = folder.file_name().into_string().unwrap();
        assert!(used.contains(&name) || NO_DATA_SET.contains(&name.as_str()), "no entry is found as `{name}`");
    }
}

#[test]
fn counts_are_those_of_the_files() {
    let Some(data) = shared() else { return };
    let (mut read, mut wrong) = (Vec::new(), Vec::new());
    let kept = tempfile::tempdir().unwrap();
    for entry in entries() {
        // Archives are unpacked elsewhere: the data are never written to.
        let Ok(Source::Real { files, .. }) = locate(&entry, std::slice::from_ref(&data), Some(kept.path()), Attempt::Never) else { continue };
        match entry.format.reader().read(&files, &entry.read) {
            Ok(graph) => wrong.extend(compare(&entry, &graph)),
            Err(error) => wrong.push(format!("`{}`: {error}", entry.name)),
        }
        read.push(entry.name);
    }
    // One that lies in an archive among the files of others.
    assert!(read.iter().any(|name| name == "football"));
    println!("{} entries read: {}", read.len(), read.join(", "));
    assert!(wrong.is_empty(), "{} are not as their entries say:\n{}", wrong.len(), wrong.join("\n"));
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
    let pairs: Vec<(u32, u32)> = graph.edges.source.iter().copied().zip(graph.edges.target.iter().copied()).collect();
    let mut distinct = pairs.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let mut symmetric: Vec<(u32, u32)> = distinct.iter().copied().chain(distinct.iter().map(|&(source, target)| (target, source))).collect();
    symmetric.sort_unstable();
    symmetric.dedup();
    same("nodes", entry.expected.nodes, graph.nodes() as usize);
    same("listed", entry.expected.listed, pairs.len());
    same("distinct", entry.expected.distinct, distinct.len());
    same("symmetric", entry.expected.symmetric, symmetric.len());
    same("graphs", entry.holds.graphs, graph.graphs.as_ref().map_or(0, |graphs| graphs.ids.len()));
    same("relations", entry.holds.relations.map(u64::from), graph.relations.len());
    if let Some(features) = entry.holds.features.filter(|_| graph.kinds.is_none()) {
        same("features", Some(u64::from(features)), graph.features.as_ref().map_or(0, |features| features.columns() as usize));
    }
    let labels = graph.graphs.as_ref().map_or(graph.labels.as_ref(), |graphs| graphs.labels.as_ref());
    let classes = match labels {
        Some(Labels::Classes { names, .. }) => names.len(),
        Some(Labels::Rows { columns, .. }) => *columns as usize,
        Some(Labels::Values(_)) | None => 0,
    };
    same("classes", entry.holds.classes.map(u64::from), classes);
    if let Some(recipe) = &entry.stand_in {
        let edges = if recipe.symmetric { symmetric } else { statements(graph) };
        same("edges of the stand-in", Some(recipe.edges), edges.len());
        same("self loops of the stand-in", Some(recipe.loops), edges.iter().filter(|(source, target)| source == target).count());
        let most = |end: fn(&(u32, u32)) -> u32| {
            let mut degree = vec![0u32; graph.nodes() as usize];
            edges.iter().for_each(|edge| degree[end(edge) as usize] += 1);
            degree.into_iter().max().unwrap_or(0)
        };
        same("the largest degree of the stand-in", Some(u64::from(recipe.max_degree)), most(|edge| edge.0).max(most(|edge| edge.1)) as usize);
    }
    wrong
}

/// Distinct edges, of one relation each.
fn statements(graph: &RawGraph) -> Vec<(u32, u32)> {
    let relation = |edge: usize| graph.edges.relation.as_ref().map_or(0, |relation| relation[edge]);
    let mut all: Vec<(u32, u32, u16)> = (0..graph.edges.len()).map(|edge| (graph.edges.source[edge], graph.edges.target[edge], relation(edge))).collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().map(|(source, target, _)| (source, target)).collect()
}

#[test]
fn every_entry_is_told_and_can_be_had_or_made() {
    for entry in entries() {
        let name = &entry.name;
        assert!(!entry.about.is_empty() && entry.about.ends_with(['.', '?']), "`{name}` is not told");
        assert!(!entry.licence.is_empty(), "`{name}` says nothing of its licence");
        let addresses = entry.files.iter().filter_map(|file| file.url.as_ref()).chain(entry.archive.as_ref().map(|archive| &archive.url));
        for address in addresses {
            let sound = (address.starts_with("https://") || address.starts_with("http://")) && !address.contains([' ', '@', '"']);
            assert!(sound, "`{name}`: `{address}` is no address");
        }
        // What cannot be fetched or made has a stand-in.
        let obtainable = entry.generator.is_some() || entry.archive.is_some() || entry.files.iter().all(|file| file.url.is_some());
        assert!(obtainable || entry.stand_in.is_some(), "`{name}` can neither be had nor made");
        assert!(entry.generator.is_some() || entry.stand_in.is_some(), "`{name}` has no stand-in");
        if let (Some(recipe), Some(nodes)) = (&entry.stand_in, entry.expected.nodes) {
            assert_eq!(u64::from(recipe.nodes), nodes, "the stand-in of `{name}`");
            assert_eq!(u64::from(recipe.graphs), entry.holds.graphs.unwrap_or_default(), "graphs of the stand-in of `{name}`");
            assert_eq!(Some(u32::from(recipe.relations)), entry.holds.relations.or(Some(0)), "relations of the stand-in of `{name}`");
        }
    }
}

#[test]
fn the_documents_graphs_are_all_here() {
    let with = |document: &str| entries().iter().filter(|entry| entry.printed.iter().any(|printed| printed.document.starts_with(document))).count();
    assert_eq!((with("000"), with("001"), with("004")), (15, 13, 6));
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
