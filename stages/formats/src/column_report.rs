//! What the files of a graph became, in lines for people.
//!
//! promises  says of every graph what became features, label and split, what did not, and the words
//!           that change it
use crate::raw_graph::{Column, Graphs, Labels, NO_CLASS, RawGraph, TEST, TRAIN, VALIDATION};
use std::fmt::Write;

/// Columns that are named in a line.
const NAMES_SHOWN: usize = 8;

/// Names that fit the command of a hint.
const NAMES_IN_HINT: usize = 16;

/// Behind what is told of nodes, where the same is told of graphs.
const OF_NODES: &str = " (of nodes)";

/// Lines about what the files became: a name and a text each. `edge_columns`: features of each
/// edge. Hints are those of readers, which speak of the entry of the catalogue.
pub fn report(graph: &RawGraph, edge_columns: u32) -> Vec<(&'static str, String)> {
    let roles = &graph.roles;
    let mut lines = Vec::new();
    if let Some(kinds) = &graph.kinds {
        for (name, features) in kinds.names.iter().zip(&kinds.features) {
            lines.extend(features.as_ref().map(|features| {
                (
                    "features",
                    format!("{} of the kind {name}", counted(features.columns(), "column")),
                )
            }));
        }
    }
    lines.extend(
        graph
            .features
            .as_ref()
            .map(|features| ("features", describe_columns(features.columns(), &roles.features))),
    );
    lines.extend(not_features(graph).map(|text| ("not features", text)));
    if edge_columns > 0 {
        lines.push(("edge features", describe_columns(edge_columns, &roles.edge_features)));
    }
    lines.extend(not_edge_features(graph).map(|text| ("not edge features", text)));
    let (mut labels_of, mut splits_of) = ("", "");
    if let Some(Graphs { labels, splits, .. }) = &graph.graphs {
        if labels.is_some() {
            labels_of = OF_NODES;
        }
        if !splits.is_empty() {
            splits_of = OF_NODES;
        }
        lines.extend(
            labels
                .as_ref()
                .map(|labels| ("labels", format!("{} (of graphs)", describe_labels(labels)))),
        );
        lines.extend(
            (!splits.is_empty())
                .then(|| ("split", format!("{} (of graphs)", describe_splits(splits)))),
        );
    }
    lines.extend(graph.labels.as_ref().map(|labels| {
        ("labels", format!("{}{labels_of}{}", describe_labels(labels), named(&roles.labels)))
    }));
    lines.extend((!graph.splits.is_empty()).then(|| {
        ("split", format!("{}{splits_of}{}", describe_splits(&graph.splits), named(&roles.splits)))
    }));
    lines
}

fn counted(number: u32, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn describe_columns(count: u32, names: &[String]) -> String {
    let names = match names {
        [first, .., last] if names.len() > NAMES_SHOWN => format!(": {first} .. {last}"),
        _ => named(names),
    };
    counted(count, "column") + &names
}

fn named(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) }
}

fn describe_labels(labels: &Labels) -> String {
    match labels {
        Labels::Classes { class, names } => {
            let without = class.iter().filter(|&&class| class == NO_CLASS).count();
            let without = if without == 0 { String::new() } else { format!(", {without} without") };
            format!("{} class{}{without}", names.len(), if names.len() == 1 { "" } else { "es" })
        }
        Labels::Values(_) => "one number to be predicted".to_owned(),
        Labels::Rows { columns, .. } => format!("rows of {columns} numbers"),
    }
}

fn describe_splits(splits: &[Vec<u8>]) -> String {
    let in_part = |part: u8| {
        splits.first().map_or(0, |split| split.iter().filter(|&&own| own == part).count())
    };
    let several = if splits.len() > 1 {
        format!("{} splits, the first with ", splits.len())
    } else {
        String::new()
    };
    format!(
        "{several}{} train, {} validation, {} test",
        in_part(TRAIN),
        in_part(VALIDATION),
        in_part(TEST)
    )
}

/// Further columns of tables whose options can make features of them.
fn not_features(graph: &RawGraph) -> Option<String> {
    let of = |wanted: bool| {
        let columns = graph
            .columns
            .iter()
            .filter(move |(_, column)| matches!(column, Column::Texts(_)) != wanted);
        columns.map(|(name, _)| name.clone()).collect::<Vec<_>>()
    };
    let (numbers, words) = (of(true), of(false));
    if !graph.has_columns || numbers.is_empty() && words.is_empty() {
        return None;
    }
    let mut text = String::new();
    for (names, what) in [(&numbers, "numbers"), (&words, "words")] {
        if !names.is_empty() {
            let more = names.len().saturating_sub(NAMES_SHOWN);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let _infallible = write!(
                text,
                "{}{}{more} ({what})",
                if text.is_empty() { "" } else { ", " },
                names[..names.len().min(NAMES_SHOWN)].join(", ")
            );
        }
    }
    let all: Vec<String> = graph.roles.features.iter().chain(&numbers).cloned().collect();
    let (asked, words) =
        if all.len() <= NAMES_IN_HINT { (all, "use them") } else { (numbers, "use them instead") };
    Some(text + &hint(&asked, "node_features", words))
}

fn not_edge_features(graph: &RawGraph) -> Option<String> {
    let unread = graph
        .passed_over
        .iter()
        .filter_map(|what| what.strip_prefix("column `")?.strip_suffix("` of the edges"));
    let unread: Vec<String> = unread.map(str::to_owned).collect();
    let all: Vec<String> = graph.roles.edge_features.iter().chain(&unread).cloned().collect();
    (!unread.is_empty()).then(|| {
        unread.join(", ") + &hint(&all, "edge_features", "use them, where they are numbers")
    })
}

/// The words that take these columns; none where they would not pass a shell or a list unharmed.
fn hint(names: &[String], option: &str, words: &str) -> String {
    let is_plain = |name: &String| {
        name.chars().all(|letter| letter.is_alphanumeric() || "_-. ".contains(letter))
    };
    match !names.is_empty() && names.len() <= NAMES_IN_HINT && names.iter().all(is_plain) {
        true => format!(
            "; {words}:  read: {{{option}: [{}]}}  in the catalogue's entry",
            names.join(", ")
        ),
        false => String::new(),
    }
}
