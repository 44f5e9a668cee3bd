//! METIS: `n m [fmt [ncon]]`, then for each vertex a line with its neighbours, counted from 1.
//!
//! promises  every edge stands in the lists of both its ends, with one weight, or the file is
//!           refused; edges as listed, so each twice (`read: {directed: true}`: lists name
//!           successors alone, and each is an edge)
//! reads     all of fmt: vertex sizes (column `size`), vertex weights (`weight`, or `weight_1`,
//!           `weight_2`, ... of several), edge weights; comments %, an empty line for a vertex
//!           without neighbours; self loops. DIMACS 10 writes 100 for "may have loops and repeats"
//!           where METIS means sizes: the count of numbers in the file tells which it is
//! refuses   a header that disagrees with the body; meshes
//! limits    a line of 64 MiB (about 8 million neighbours); weights are rounded to 32 bits; 15
//!           bytes a listed neighbour at the peak (measured on 5 M without weights)
//! format    G. Karypis, METIS manual 5.1, section 4.1; 10th DIMACS Implementation Challenge
mod neighbour_lists;
mod symmetry;

use crate::{
    detect::file_heads::FileHeads,
    format::{Format, expect_one_file},
    options::Options,
    out_of_core::{Limit, LoadedGraph},
    raw_graph::{Column, RawGraph},
    read_error::{Place, Read, ReadError},
    text::{
        counted_header,
        grammar::{BlockSizes, SIZES, Scan},
    },
};
use neighbour_lists::NeighbourLists;
use std::path::{Path, PathBuf};

/// METIS graphs.
pub const FORMAT: Format = Format {
    name: "metis",
    about: "METIS graph, a line of neighbours a vertex",
    recognise,
    read_within: |files, options, limit| read_by(expect_one_file(files)?, options, limit, SIZES),
};

const ENDS: [&str; 4] = [".graph", ".metis", ".mgraph", ".mesh"];

/// Text named as METIS files are, that begins with up to four numbers in a line.
fn recognise(look: &FileHeads) -> Option<Vec<PathBuf>> {
    let is_metis = |&(path, name): &(&Path, &str)| {
        ENDS.iter().any(|end| name.ends_with(end)) && begins_with_sizes(look.head(path))
    };
    let mut files: Vec<(&Path, &str)> = look.files().filter(is_metis).collect();
    // A graph and the mesh that it was made from.
    if files.iter().any(|(_, name)| !name.ends_with(".mesh")) {
        files.retain(|(_, name)| !name.ends_with(".mesh"));
    }
    (!files.is_empty()).then(|| files.into_iter().map(|(path, _)| path.to_path_buf()).collect())
}

fn begins_with_sizes(head: &[u8]) -> bool {
    let mut scan = Scan::new(head);
    while scan.more() {
        if !scan.line_ends() && scan.byte() != b'%' {
            let numbers = std::iter::from_fn(|| scan.whole()).take(5).count();
            return (1..=4).contains(&numbers) && scan.line_ends();
        }
        scan.next_line();
    }
    false
}

/// Reads a METIS graph. With `weight: none` edge weights are not kept.
pub fn read(path: &Path, options: &Options) -> Read<RawGraph> {
    read_by(path, options, &Limit::none(), SIZES).map(|loaded| loaded.graph)
}

fn read_by(path: &Path, options: &Options, limit: &Limit, sizes: BlockSizes) -> Read<LoadedGraph> {
    let directed = options.directed == Some(true);
    let mut lists = read_lists(path, directed, limit, sizes)?;
    if !lists.is_count_of_header(directed) {
        return Err(wrong_count(path, &lists, directed));
    }
    if !directed && let Some(amiss) = symmetry::check(&lists)? {
        return Err(missing_reverse_error(path, &lists, &amiss));
    }
    let ids = counted_header::ids(path, &lists.header.vertices, u64::MAX, 1, options)?;
    let columns = columns(&lists);
    if options.weight.as_deref() == Some("none") {
        lists.edges.weight = None;
        lists.spilled.iter_mut().for_each(|spilled| spilled.weighted = false);
    }
    let notes = lists.rounded.note("weights", "line").filter(|_| {
        lists.edges.weight.is_some()
            || lists.spilled.as_ref().is_some_and(|spilled| spilled.weighted)
    });
    let notes = notes.into_iter().collect();
    Ok(LoadedGraph {
        graph: RawGraph {
            ids,
            edges: lists.edges,
            directed: Some(directed),
            nodes_told: true,
            columns,
            notes,
            ..RawGraph::default()
        },
        spilled: lists.spilled,
    })
}

/// With the flag 100, the reading whose count of numbers is that of the header: with sizes, as
/// METIS says, else without.
fn read_lists(
    path: &Path,
    directed: bool,
    limit: &Limit,
    sizes: BlockSizes,
) -> Read<NeighbourLists> {
    let with_sizes = match NeighbourLists::read(path, true, limit, sizes) {
        Ok(lists) if lists.header.flags.sizes && !lists.is_count_of_header(directed) => Ok(lists),
        Err(error) if neighbour_lists::may_be_without_sizes(&error) => Err(error),
        sure => return sure,
    };
    match (NeighbourLists::read(path, false, limit, sizes), with_sizes) {
        (Ok(without), Ok(with)) => {
            Ok(if without.is_count_of_header(directed) { without } else { with })
        }
        (without, with) => without.or(with),
    }
}

fn wrong_count(path: &Path, lists: &NeighbourLists, directed: bool) -> Box<ReadError> {
    let edges = &lists.header.edges;
    let error =
        edges.mark.error(path, "the neighbour lists do not hold as many edges as the header says");
    let found = lists.count;
    let expected = if directed {
        edges.count.to_string()
    } else {
        format!("{} neighbours, 2 for each of {} edges", edges.count.saturating_mul(2), edges.count)
    };
    let hint = if !directed && found == edges.count {
        "if the lists name successors alone, put  read: {directed: true}  into the catalogue's \
         entry"
    } else {
        "the file may be cut short: fetch it again; if the lists are whole, correct the count"
    };
    Box::new(error.expected(expected, found.to_string()).hint(hint))
}

/// An edge that the lists of its ends do not agree on.
fn missing_reverse_error(
    path: &Path,
    lists: &NeighbourLists,
    amiss: &symmetry::MissingReverse,
) -> Box<ReadError> {
    let (at, other) = if amiss.other.is_empty() {
        (amiss.neighbour, amiss.vertex)
    } else {
        (amiss.vertex, amiss.neighbour)
    };
    let told = |weights: &[f32]| match lists.header.flags.edge_weights {
        true => {
            format!("weight {}", weights.iter().map(f32::to_string).collect::<Vec<_>>().join(", "))
        }
        false => format!("it {} times", weights.len()),
    };
    let (what, expected, found) = if amiss.own.is_empty() || amiss.other.is_empty() {
        (
            "vertex {at} does not list {other} as a neighbour, but {other} lists {at}",
            "it in both lists".to_string(),
            "it in one".to_string(),
        )
    } else {
        (
            "vertex {at} does not list its edge to {other} as {other} does",
            told(&amiss.other),
            told(&amiss.own),
        )
    };
    let what =
        what.replace("{at}", &(at + 1).to_string()).replace("{other}", &(other + 1).to_string());
    let mut error = ReadError::new(path, what).expected(expected, found);
    error.place = Place::Line { line: lists.line(at), column: 1 };
    Box::new(error.hint(
        "METIS graphs list every edge at both ends; if the lists name successors alone, put  read: \
         {directed: true}  into the catalogue's entry",
    ))
}

/// Sizes and weights of vertices.
fn columns(lists: &NeighbourLists) -> Vec<(String, Column)> {
    let flags = lists.header.flags;
    let width = flags.numbers();
    if lists.numbers.is_empty() {
        return Vec::new();
    }
    let name = |column: usize| match column.checked_sub(usize::from(flags.sizes)) {
        None => "size".to_string(),
        Some(_) if flags.weights == 1 => "weight".to_string(),
        Some(weight) => format!("weight_{}", weight + 1),
    };
    let values = |column: usize| {
        lists.numbers.iter().skip(column).step_by(width).map(|&number| Some(number)).collect()
    };
    (0..width).map(|column| (name(column), Column::Integers(values(column)))).collect()
}

#[cfg(test)]
mod tests;
