//! What a third column without a name is: a weight, or the end of a statement `HEAD RELATION TAIL`.
//!
//! promises  numbers are weights, and words behind a word are the ends of statements; a list that
//!           fits the other reading better, as a whole, is an error that says how to tell
//! never     takes a word in the first line for a weight
use crate::{
    out_of_core::{self, Spilled},
    raw_graph::{NodeIds, RawGraph},
    read_error::{Place, Read, ReadError},
    text::numbers::{is_padded, looks_like_number},
};
use std::{collections::HashSet, path::Path};

/// Relations that are believed to be names of nodes only if there are at least so many, or one of
/// them is a node.
const RELATIONS_SURE: usize = 8;

/// What the third of three columns is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThirdColumn {
    Weight,
    /// Where an edge ends; the second column is its relation then.
    Tail,
}

impl ThirdColumn {
    /// By the three columns of a line: words behind a word end a statement, and so does a number
    /// such as `00260622`, which no weight is.
    pub fn from_fields(fields: [&[u8]; 3]) -> ThirdColumn {
        let [first, second, third] = fields;
        let is_missing = third.is_empty()
            || [&b"nan"[..], b"na", b"inf", b"-inf", b"null", b"none"]
                .iter()
                .any(|word| third.eq_ignore_ascii_case(word));
        let ends = !looks_like_number(third) && !is_missing
            || looks_like_number(first) && is_padded(third);
        if ends && !looks_like_number(second) { ThirdColumn::Tail } else { ThirdColumn::Weight }
    }
}

/// Whether lines `NUMBER word NUMBER` are statements by the numbers of different words, as far as
/// these lines go.
pub fn are_statements<'a>(lines: impl Iterator<Item = [&'a [u8]; 3]>) -> bool {
    let (mut relations, mut tails) = (HashSet::new(), HashSet::new());
    for [_, relation, tail] in lines {
        relations.insert(relation);
        tails.insert(tail);
    }
    2 * relations.len() <= tails.len()
}

/// Refuses a list that was read by what its first line looks like, where the whole of it looks
/// otherwise; `line` is where it begins.
pub fn refuse_doubtful(
    path: &Path,
    line: u64,
    third: ThirdColumn,
    graph: &RawGraph,
    spilled: Option<&Spilled>,
) -> Read<()> {
    let doubt = match third {
        ThirdColumn::Tail => tails_are_relations(graph, spilled)?,
        ThirdColumn::Weight => weights_are_nodes(graph, spilled)?,
    };
    let Some(found) = doubt else { return Ok(()) };
    let mut error =
        ReadError::new(path, "the three columns of the edge list may be read in two ways");
    error.place = Place::Line { line, column: 1 };
    let expected =
        "HEAD RELATION TAIL, SOURCE TARGET RELATION, or SOURCE TARGET WEIGHT beyond doubt";
    let hint = "name the columns in a first line, with the same sign between:  head,relation,tail  \
                or  source,target,relation  or  source,target,weight";
    Err(Box::new(error.expected(expected, found).hint(hint)))
}

/// Statements whose second column has far more words than the third: that one may be the relation.
fn tails_are_relations(graph: &RawGraph, spilled: Option<&Spilled>) -> Read<Option<String>> {
    let relations = graph.relations.len();
    let mut is_tail = vec![false; graph.ids.len()];
    let mut tails = 0;
    out_of_core::find_edge(&graph.edges, spilled, |edge| {
        tails += usize::from(!std::mem::replace(&mut is_tail[edge.target as usize], true));
        2 * tails > relations
    })?;
    let NodeIds::Strings(nodes) = &graph.ids else { return Ok(None) };
    let sure = || {
        relations >= RELATIONS_SURE
            || graph.relations.iter().any(|name| nodes.binary_search(name).is_ok())
    };
    Ok((relations > 1 && 2 * tails <= relations && sure()).then(|| {
        format!(
            "{relations} different words in the second column and {tails} in the third, as if the \
             third named relations"
        )
    }))
}

/// Numbers around words, of which there are far fewer than of the last numbers: these may be nodes.
fn weights_are_nodes(graph: &RawGraph, spilled: Option<&Spilled>) -> Read<Option<String>> {
    let NodeIds::Strings(nodes) = &graph.ids else { return Ok(None) };
    let is_number: Vec<bool> =
        nodes.iter().map(|word| looks_like_number(word.as_bytes())).collect();
    let (mut targets, mut weights) = (HashSet::new(), HashSet::new());
    let other = out_of_core::find_edge(&graph.edges, spilled, |edge| {
        targets.insert(edge.target);
        weights.insert(edge.weight.to_bits());
        !is_number[edge.source as usize]
            || is_number[edge.target as usize]
            || edge.weight.fract() != 0.0
            || edge.weight < 0.0
    })?;
    let (targets, weights) = (targets.len(), weights.len());
    Ok((other.is_none() && 2 * targets <= weights).then(|| {
        format!(
            "{targets} different words in the second column and {weights} different numbers in the \
             third, as if these were nodes"
        )
    }))
}

#[cfg(test)]
mod tests {
    use crate::readers::edge_list::FORMAT;
    use crate::{
        options::Options,
        out_of_core::Limit,
        raw_graph::{NodeIds, RawGraph},
        read_error::Read,
        test_support::{both_ways, read_written},
    };

    fn read_text(text: &str) -> Read<RawGraph> {
        read_written("kg.txt", text.as_bytes(), |path| {
            FORMAT.read(&[path.to_path_buf()], &Options::default())
        })
    }

    #[test]
    fn statements_in_one_file_are_read_as_such() {
        let triples = ["Ann knows Bob", "Bob likes Cid", "Cid knows Ann"];
        let lines = |separator: &str, first: &str| {
            format!("{first}{}\n", triples.map(|line| line.replace(' ', separator)).join("\n"))
        };
        let texts = [
            lines("\t", ""),
            lines(" ", ""),
            lines(",", ""),
            lines(",", "head,relation,tail\n"),
            lines("\t", "subject\tpredicate\tobject\n"),
            lines(",", "h,r,t\n"),
            lines(";", "s;p;o\n"),
            lines(",", "source,relation,target\n"),
            lines(",", "source,type,target\n"),
            lines(",", "source,edge_type,target\n"),
            "source,target,relation\nAnn,Bob,knows\nBob,Cid,likes\nCid,Ann,knows\n".to_owned(),
        ];
        for text in texts {
            let graph = both_ways(|limit| {
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("kg.txt");
                std::fs::write(&path, &text).unwrap();
                (FORMAT.read_within)(&[path], &Options::default(), limit)
            });
            let graph = graph.unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(
                graph.ids,
                NodeIds::Strings(["Ann", "Bob", "Cid"].map(str::to_owned).to_vec()),
                "{text}"
            );
            assert_eq!(
                (graph.relations, graph.edges.relation, graph.edges.weight),
                (vec!["knows".to_owned(), "likes".into()], Some(vec![0, 1, 0]), None),
                "{text}"
            );
            assert_eq!(
                (graph.edges.source, graph.edges.target),
                (vec![0, 1, 2], vec![1, 2, 0]),
                "{text}"
            );
        }
        // Numbers with leading zeros are names, as in WN18RR.
        let graph =
            read_text("00260881\t_hypernym\t00260622\n01332730\t_related\t03122748\n").unwrap();
        assert_eq!((graph.relations.len(), graph.ids.len()), (2, 4));
        // Numbers behind words are weights.
        let graph = read_text("Ann Bob 3\nBob Cid 0.5\n").unwrap();
        assert_eq!(graph.edges.weight, Some(vec![3.0, 0.5]));
        let graph = read_text("17 book 5\n17 film 4\n18 book 4\n").unwrap();
        assert_eq!((graph.edges.weight, graph.relations.len()), (Some(vec![5.0, 4.0, 4.0]), 0));
    }

    #[test]
    fn columns_that_may_be_read_in_two_ways_are_refused_with_the_way_to_tell() {
        let path: String =
            (0..40).map(|node| format!("n{node}\tn{}\tfriend\n", node + 1)).collect();
        let purchases: String =
            (0..40).map(|user| format!("u{user} item{} bought\n", user % 20)).collect();
        let numbers: String = (0..40).map(|node| format!("{node} knows {}\n", node + 1)).collect();
        for text in [&path, &purchases, &numbers] {
            for limit in [u64::MAX, 0] {
                let folder = tempfile::tempdir().unwrap();
                let file = folder.path().join("kg.txt");
                std::fs::write(&file, text).unwrap();
                let limit = Limit { memory: limit, folder: folder.path().to_path_buf() };
                let error = (FORMAT.read_within)(&[file], &Options::default(), &limit)
                    .map(|_| ())
                    .unwrap_err()
                    .to_string();
                let said = [
                    "the three columns of the edge list may be read in two ways",
                    "kg.txt:1:1",
                    "hint: name the columns in a first line",
                    "source,target,relation",
                ];
                said.iter().for_each(|words| assert!(error.contains(words), "{error}"));
            }
            // Doing as it says is enough.
            let separator = if text.contains('\t') { "\t" } else { " " };
            let named = format!("{}\n{text}", ["source", "target", "relation"].join(separator));
            assert!(read_text(&named).is_ok(), "{named}");
            assert!(
                read_text(&format!("{}\n{text}", ["head", "relation", "tail"].join(separator)))
                    .is_ok()
            );
        }
        // Numbers between words may be relations, and words behind numbers too.
        for text in ["1 2 knows\n2 3 likes\n", "x 1 y\ny 2 z\n"] {
            let error = read_text(text).unwrap_err();
            assert!(
                error.hint.contains("source,target,relation")
                    && error.hint.contains("head,relation,tail"),
                "{error}"
            );
        }
        let graph = read_text("head relation tail\nx 1 y\ny 2 z\n").unwrap();
        assert_eq!((graph.ids.len(), graph.relations.join(" ")), (3, "1 2".to_owned()));
    }
}
