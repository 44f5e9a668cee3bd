//! sample_data_sets: descriptions of data sets that a program is traced on while its own is not
//! known.
//!
//! promises  the samples of a text differ in everything that a data set decides: widths, counts,
//!           names of relations and kinds, types of columns, and which of these exist. So an error
//!           that is the same on each of them occurs on every data set
//! never     reads a data set
use std::collections::{BTreeMap, BTreeSet};

use warploom_ir::{Data, Loss, NodeKind, Target, Type};

/// A sample with features, edge features, weights, relations and a target.
pub fn full_sample() -> Data {
    Data {
        features: Some(16),
        edge_features: 4,
        weighted: true,
        relations: vec!["0".to_owned(), "1".to_owned()],
        target: Some(Target { columns: 7, loss: Loss::CrossEntropy }),
        ..Data::bare(1000, 10_000)
    }
}

/// The same, with the labels on the graphs of a set of many.
pub fn graph_set_sample() -> Data {
    Data { graphs: 100, many_graphs: true, ..full_sample() }
}

/// Samples for a program's text, the most usual one first; columns, relations and kinds that the
/// text may name exist in some.
pub fn samples_for_text(text: &str) -> Vec<Data> {
    let columns = |kind: Type| -> BTreeMap<String, Type> {
        attribute_names(text).into_iter().map(|name| (name, kind)).collect()
    };
    let words: Vec<String> = quoted_words(text).into_iter().collect();
    let or = |first: &[&str]| {
        if words.is_empty() {
            first.iter().map(|name| (*name).to_owned()).collect()
        } else {
            words.clone()
        }
    };
    let kinds = or(&["paper", "author"])
        .into_iter()
        .map(|name| NodeKind { name, nodes: 400, features: Some(11), sparse_features: None })
        .collect();
    vec![
        Data { columns: columns(Type::Real), relations: or(&["0", "1"]), ..full_sample() },
        Data {
            features: Some(23),
            edge_features: 5,
            relations: or(&["a", "b", "c"]),
            columns: columns(Type::Int),
            target: Some(Target { columns: 9, loss: Loss::CrossEntropy }),
            graphs: 90,
            many_graphs: true,
            ..Data::bare(1700, 9_100)
        },
        Data { columns: columns(Type::Bool), ..Data::bare(1300, 8_100) },
        Data { features: None, kinds, relations: or(&["x", "y"]), weighted: true, ..full_sample() },
    ]
}

/// Names after a dot, which may be columns.
fn attribute_names(text: &str) -> BTreeSet<String> {
    let name = |part: &str| {
        part.chars()
            .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
            .collect::<String>()
    };
    let found = text.split('.').skip(1).map(name);
    found.filter(|name| name.chars().next().is_some_and(|first| !first.is_numeric())).collect()
}

/// The most names of relations or kinds that are taken from a text.
const NAMES_MOST: usize = 16;

/// Words in quotes, which may be names of relations or kinds.
fn quoted_words(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in text.lines() {
        for quote in ['"', '\''] {
            let words = line
                .split(quote)
                .skip(1)
                .step_by(2)
                .filter(|word| !word.is_empty() && !word.contains(char::is_whitespace));
            found.extend(words.map(str::to_owned));
        }
    }
    found.into_iter().take(NAMES_MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_text_may_name_is_found() {
        let text = "def f(v):\n    \"\"\"Of all.\"\"\"\n    v.h = 0.5 * v.age_2 + sum(u.x for u in v.innbs['cites'])\n\
                    \x20   return v.h if v.kind == \"paper\" else 1.0\n";
        let named: Vec<String> = attribute_names(text).into_iter().collect();
        assert_eq!(named, ["age_2", "h", "innbs", "kind", "x"]);
        assert!(["cites", "paper"].iter().all(|word| quoted_words(text).contains(*word)));
        let all = samples_for_text(text);
        assert!(all.iter().all(
            |data| data.kinds.is_empty() || data.kinds.iter().any(|kind| kind.name == "paper")
        ));
        assert_eq!(all[0].columns["age_2"], Type::Real);
    }
}
