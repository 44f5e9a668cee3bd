//! An edge list, and a file of communities as labels: line `i` lists the nodes of community `i`.
//!
//! promises  a node in one community at most has a class; where some are in several, every node has
//!           a row of 0 and 1
//! promises  a node that only a community knows is a node without edges, and a note says so
//! reads     the edge list as `edge_list`; communities with blanks, tabs or commas between nodes,
//!           gzip, zstd
//! never     counts a node twice that a line lists twice: that is an error
//! limits    4096 communities where nodes are in several; 4 bytes a node and community then; the
//!           community file as a whole in memory
//! format    J. Yang and J. Leskovec, Defining and Evaluating Network Communities (2012):
//!           NAME.ungraph.txt, NAME.cmty.txt
use super::edge_list::{
    header::is_surely,
    read_edges,
    table_edges::{KnownColumns, move_to_nodes},
};
use crate::{
    containers::decompress::PlainFile,
    detect::file_heads::FileHeads,
    format::Format,
    options::{Ids, Options},
    out_of_core::{Limit, LoadedGraph},
    raw_graph::{Labels, NO_CLASS, NODES_MOST, NodeIds},
    read_error::{Read, ReadError},
    text::{
        comments::is_blank_or_comment,
        field_fault::{FieldFault, error_at},
        numbers::{PADDED_HINT, is_padded},
        words::split_words,
    },
};
use std::path::{Path, PathBuf};

/// An edge list with communities.
pub const FORMAT: Format = Format {
    name: "communities",
    about: "edge list with a community file (.cmty) as labels: one line of nodes a community",
    recognise,
    read_within,
};

/// Rows of 0 and 1 are not wider.
const COLUMNS_MOST: usize = 4096;

fn is_communities(name: &str) -> bool {
    name.ends_with(".cmty") || name.ends_with(".cmty.txt")
}

/// One file of communities, and one edge list.
fn recognise(look: &FileHeads) -> Option<Vec<PathBuf>> {
    let (communities, others): (Vec<_>, Vec<_>) =
        look.files().partition(|(_, name)| is_communities(name));
    let lists: Vec<&Path> =
        others.iter().map(|(path, _)| *path).filter(|path| is_surely(look.head(path))).collect();
    match (&communities[..], &lists[..]) {
        ([(communities, _)], [list]) => Some(vec![list.to_path_buf(), communities.to_path_buf()]),
        _ => None,
    }
}

/// Reads an edge list with communities.
pub fn read_within(files: &[PathBuf], options: &Options, limit: &Limit) -> Read<LoadedGraph> {
    let name_of = |path: &Path| {
        FileHeads::new(&[path.to_path_buf()])
            .files()
            .map(|(_, name)| name.to_owned())
            .collect::<String>()
    };
    let (communities, lists): (Vec<&PathBuf>, Vec<&PathBuf>) =
        files.iter().partition(|path| is_communities(&name_of(path)));
    let ([communities], [list]) = (&communities[..], &lists[..]) else {
        let error = ReadError::new(
            files.first().map_or(Path::new(""), PathBuf::as_path),
            "communities are an edge list and one file NAME.cmty",
        );
        return Err(Box::new(
            error
                .expected("one of each", format!("{} and {}", lists.len(), communities.len()))
                .hint("name both files"),
        ));
    };
    let known = KnownColumns::default();
    let found = read_edges(PlainFile::open(list)?, options, &known, limit)?;
    let plain = PlainFile::open(communities)?;
    let path = plain.path().to_path_buf();
    let text = plain.read_all()?;
    let words = options.ids == Ids::String || matches!(found.graph.ids, NodeIds::Strings(_));
    let members = members(&path, &text, if words { Ids::String } else { options.ids })?;
    let nodes = union(&found.graph.ids, &members);
    if nodes.len() as u64 > NODES_MOST {
        return Err(Box::new(
            ReadError::new(&path, "the graph has too many nodes")
                .expected(format!("at most {NODES_MOST}"), nodes.len().to_string()),
        ));
    }
    let strangers = strangers(&path, &text, &found.graph.ids, &nodes, &members);
    let LoadedGraph { mut graph, spilled } =
        move_to_nodes(found, nodes, options, &known, || PlainFile::open(list))?;
    graph.notes.extend(strangers);
    graph.labels = Some(labels(&path, &text, &graph.ids, &members)?);
    if name_of(list).contains("ungraph") {
        graph.directed = Some(false);
    }
    Ok(LoadedGraph { graph, spilled })
}

/// A member of a community, with the byte at which it stands.
struct CommunityMember<'a> {
    community: u32,
    at: usize,
    word: &'a str,
    /// Its number, where ids are numbers.
    number: u64,
}

/// All members; a line that is a comment, or empty, is no community.
fn members<'a>(path: &Path, text: &'a [u8], ids: Ids) -> Read<Vec<CommunityMember<'a>>> {
    let mut members = Vec::new();
    let mut community = 0;
    let mut at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    for line in text[at..].split(|&byte| byte == b'\n') {
        if !is_blank_or_comment(line) {
            for (start, word) in split_words(line, at) {
                members.push(member(path, text, start, word, community, ids)?);
            }
            community += 1;
        }
        at += line.len() + 1;
    }
    if members.is_empty() {
        let error = ReadError::new(path, "the community file holds no community")
            .expected("lines of nodes", "none");
        return Err(Box::new(
            error.hint("is this the right file? a download that failed may have left it empty"),
        ));
    }
    Ok(members)
}

fn member<'a>(
    path: &Path,
    text: &[u8],
    at: usize,
    word: &'a [u8],
    community: u32,
    ids: Ids,
) -> Read<CommunityMember<'a>> {
    let hint = "lines are  NODE NODE ...  with the ids of the edge list";
    let fault_with = |hint, expected: &str| {
        error_at(
            path,
            text,
            &FieldFault::new(at, "a community has a member that is no node id", hint)
                .against(expected, word),
        )
    };
    let fault = |expected: &str| fault_with(hint, expected);
    let Ok(text_word) = std::str::from_utf8(word) else { return Err(fault("text in UTF-8")) };
    let digits = word.iter().all(u8::is_ascii_digit);
    match text_word.parse::<u64>().ok().filter(|_| digits) {
        Some(_) if ids == Ids::Auto && is_padded(word) => Err(fault_with(
            PADDED_HINT,
            "a number without zeros before it, as ids of the edge list are",
        )),
        Some(number) => Ok(CommunityMember { community, at, word: text_word, number }),
        None if ids == Ids::String => {
            Ok(CommunityMember { community, at, word: text_word, number: 0 })
        }
        None => Err(fault("a number from 0 to 18446744073709551615")),
    }
}

/// Tells of members that no edge has: they may be meant for another list, or begin at another
/// number.
fn strangers(
    path: &Path,
    text: &[u8],
    ids: &NodeIds,
    all: &NodeIds,
    members: &[CommunityMember],
) -> Option<String> {
    let count = all.len() - ids.len();
    let is_known = |member: &&CommunityMember| match ids {
        NodeIds::Count(count) => member.number < u64::from(*count),
        NodeIds::Numbers(numbers) => numbers.binary_search(&member.number).is_ok(),
        NodeIds::Strings(words) => {
            words.binary_search_by(|word| word.as_str().cmp(member.word)).is_ok()
        }
    };
    let first = members.iter().find(|member| !is_known(member)).filter(|_| count > 0)?;
    let line = 1 + text[..first.at].iter().filter(|&&byte| byte == b'\n').count();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Some(format!(
        "`{name}` names {count} nodes that no edge has, and they were added without one; the first \
         is `{}` in line {line}: do both files count alike?",
        first.word
    ))
}

/// The ids of the edge list and of all members.
fn union(ids: &NodeIds, members: &[CommunityMember]) -> NodeIds {
    if let NodeIds::Strings(words) = ids {
        let mut all: Vec<&str> = words
            .iter()
            .map(String::as_str)
            .chain(members.iter().map(|member| member.word))
            .collect();
        all.sort_unstable();
        all.dedup();
        return if all.len() == words.len() {
            ids.clone()
        } else {
            NodeIds::Strings(all.into_iter().map(String::from).collect())
        };
    }
    let mut numbers: Vec<u64> = match ids {
        NodeIds::Numbers(numbers) => numbers.clone(),
        _ => (0..ids.len() as u64).collect(),
    };
    numbers.extend(members.iter().map(|member| member.number));
    numbers.sort_unstable();
    numbers.dedup();
    NodeIds::from_ascending(numbers)
}

fn labels(path: &Path, text: &[u8], ids: &NodeIds, members: &[CommunityMember]) -> Read<Labels> {
    let row = |member: &CommunityMember| match ids {
        NodeIds::Count(_) => member.number as usize,
        NodeIds::Numbers(numbers) => numbers.binary_search(&member.number).unwrap_or(0),
        NodeIds::Strings(words) => {
            words.binary_search_by(|word| word.as_str().cmp(member.word)).unwrap_or(0)
        }
    };
    let communities = members.last().map_or(0, |member| member.community as usize + 1);
    let mut pairs: Vec<(u32, u32, usize)> =
        members.iter().map(|member| (row(member) as u32, member.community, member.at)).collect();
    pairs.sort_unstable();
    if let Some(pair) =
        pairs.windows(2).find(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1))
    {
        let word = text[pair[1].2..]
            .split(|byte| byte.is_ascii_whitespace() || *byte == b',')
            .next()
            .unwrap_or(b"");
        let fault =
            FieldFault::new(pair[1].2, "a community lists a node twice", "keep one of them")
                .against("nodes that differ", word);
        return Err(error_at(path, text, &fault));
    }
    if pairs.windows(2).all(|pair| pair[0].0 != pair[1].0) {
        let mut class = vec![NO_CLASS; ids.len()];
        pairs.iter().for_each(|&(row, community, _)| class[row as usize] = community);
        return Ok(Labels::Classes {
            class,
            names: (0..communities).map(|community| community.to_string()).collect(),
        });
    }
    if communities > COLUMNS_MOST {
        let error = ReadError::new(path, "there are too many communities to be labels")
            .expected(format!("at most {COLUMNS_MOST}"), communities.to_string());
        return Err(Box::new(error.hint(
            "keep the largest:  head -n 1000 FILE > NEW.cmty ; or read the edge list alone:  \
             format: edge_list",
        )));
    }
    let mut values = vec![0.0; ids.len() * communities];
    pairs.iter().for_each(|&(row, community, _)| {
        values[row as usize * communities + community as usize] = 1.0
    });
    Ok(Labels::Rows { columns: communities as u32, values })
}

#[cfg(test)]
mod tests;
