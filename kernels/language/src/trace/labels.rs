//! labels: suffixes of parameter names for relations and kinds of vertices.
//!
//! promises  each consists of letters, digits, `_` and `-`, and all are distinct
use std::collections::{HashMap, HashSet};

/// The suffixes for these names: letters, digits, `_` and `-`, all distinct. Of a URL (`/`, `#`) it
/// is the last segment if no other name ends so, else the whole; other characters become `_`;
/// duplicates get their number appended.
pub(super) fn labels(names: &[String]) -> Vec<String> {
    let plain = |text: &str| {
        text.chars()
            .map(
                |letter| {
                    if letter.is_alphanumeric() || "_-".contains(letter) { letter } else { '_' }
                },
            )
            .collect::<String>()
    };
    let last =
        |name: &str| plain(name.rsplit(['/', '#']).find(|part| !part.is_empty()).unwrap_or(""));
    let mut made: Vec<String> = names.iter().map(|name| last(name)).collect();
    let short = counted(&made);
    for (label, name) in made.iter_mut().zip(names) {
        if label.is_empty() || short[label] > 1 {
            *label = plain(name);
        }
    }
    let mut taken: HashSet<String> = HashSet::new();
    let whole = counted(&made);
    for (number, label) in made.iter_mut().enumerate() {
        while label.is_empty()
            || whole.get(label).is_some_and(|count| *count > 1)
            || taken.contains(label)
        {
            *label =
                if label.is_empty() { number.to_string() } else { format!("{label}-{number}") };
        }
        taken.insert(label.clone());
    }
    made
}

fn counted(labels: &[String]) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    labels.iter().for_each(|label| *counts.entry(label.clone()).or_insert(0) += 1);
    counts
}

#[cfg(test)]
mod tests {
    use super::labels;

    #[test]
    fn odd_names_are_written_plainly_and_each_once() {
        let of = |names: &[&str]| {
            labels(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(of(&["cites", "written-by", "has_topic"]), ["cites", "written-by", "has_topic"]);
        assert_eq!(
            of(&["http://swrc.ontoware.org/ontology#author", "http://www.w3.org/ns/type/", "is a"]),
            ["author", "type", "is_a"]
        );
        assert_eq!(of(&["a#x", "b#x", "y"]), ["a_x", "b_x", "y"]);
        assert_eq!(of(&["a b", "a.b", "a_b"]), ["a_b-0", "a_b-1", "a_b-2"]);
        assert_eq!(of(&["", "#", "0", "1"]), ["0", "_", "0-2", "1"]);
        assert_eq!(of(&["a b", "a.b", "a_b-0"]), ["a_b-0", "a_b-1", "a_b-0-2"]);
        assert_eq!(of(&["a", "a"]), ["a-0", "a-1"]);
    }

    proptest::proptest! {
        #[test]
        fn labels_are_unique_and_plain(
            names in proptest::collection::vec("[a-c/# .0-1_é-]{0,4}", 0..12)
        ) {
            let made = labels(&names);
            proptest::prop_assert_eq!(made.len(), names.len());
            let is_plain = |letter: char| letter.is_alphanumeric() || "_-".contains(letter);
            for (number, label) in made.iter().enumerate() {
                let is_whole = !label.is_empty() && label.chars().all(is_plain);
                proptest::prop_assert!(is_whole, "{label:?}");
                let is_new = !made[..number].contains(label);
                proptest::prop_assert!(is_new, "{made:?} of {names:?}");
            }
        }
    }
}
