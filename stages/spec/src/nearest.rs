//! nearest: the nearest name to a misspelt one.
//!
//! promises  ignores case and treats `-` as `_`; if no name is a few edits away, a name that begins
//!           or ends with the word is near, as `dropout` to `drop` and `roc_auc` to `auc`; no guess
//!           is better than a wrong one
//! never     compares words of more than 64 characters (the cost is the product of the lengths)
//!
//! The distance counts insertions, deletions, substitutions and swaps of neighbours (Damerau 1964,
//! Levenshtein 1966; the restricted form).

use std::cmp::Reverse;

/// The longest word that is compared.
const LENGTH_MAX: usize = 64;
/// The shortest prefix or suffix that identifies a name.
const PART_MIN: usize = 3;

/// The name that was probably meant, if there is one; ties go to the longest common prefix, then to
/// the first.
pub fn nearest<'a>(word: &str, among: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = fold_case(word);
    if wanted.is_empty() || wanted.len() > LENGTH_MAX {
        return None;
    }
    let allowed = (wanted.len() / 3).max(1);
    let mut best: Option<((usize, Reverse<usize>), &str)> = None;
    for candidate in among {
        let other = fold_case(candidate);
        if other.is_empty() || other.len() > LENGTH_MAX {
            continue;
        }
        let begins = wanted.len() >= PART_MIN && other.starts_with(&wanted)
            || other.len() >= PART_MIN && (wanted.starts_with(&other) || wanted.ends_with(&other));
        let distance = edit_distance(&wanted, &other);
        let near = distance <= allowed && distance < wanted.len().max(other.len());
        let alike = wanted.iter().zip(&other).take_while(|(ours, theirs)| ours == theirs).count();
        let rank = (if near { distance } else { allowed + 1 }, Reverse(alike));
        if (near || begins) && best.is_none_or(|(least, _)| rank < least) {
            best = Some((rank, candidate));
        }
    }
    best.map(|(_, name)| name)
}

fn fold_case(word: &str) -> Vec<char> {
    word.chars()
        .flat_map(char::to_lowercase)
        .map(|letter| if letter == '-' { '_' } else { letter })
        .take(LENGTH_MAX + 1)
        .collect()
}

/// Edit distance, where a swap of adjacent letters is one edit.
fn edit_distance(from: &[char], to: &[char]) -> usize {
    let mut before: Vec<usize> = vec![0; to.len() + 1];
    let mut above: Vec<usize> = (0..=to.len()).collect();
    let mut row = vec![0; to.len() + 1];
    for i in 1..=from.len() {
        row[0] = i;
        for j in 1..=to.len() {
            let same = usize::from(from[i - 1] != to[j - 1]);
            row[j] = (above[j] + 1).min(row[j - 1] + 1).min(above[j - 1] + same);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        std::mem::swap(&mut before, &mut above);
        std::mem::swap(&mut above, &mut row);
    }
    above[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swaps_case_and_beginnings_are_near() {
        let names = ["epochs", "seed", "symmetrize", "self_loops", "optimizer"];
        for (word, wanted) in [
            ("epcohs", Some("epochs")),
            ("EPOCHS", Some("epochs")),
            ("symmetrise", Some("symmetrize")),
            ("self-loops", Some("self_loops")),
            ("opt", Some("optimizer")),
            ("sed", Some("seed")),
            ("hidden", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, names), wanted, "{word}");
        }
        assert_eq!(nearest(&"e".repeat(100_000), names), None);
    }

    #[test]
    fn a_word_that_holds_a_name_at_one_of_its_ends_is_near_to_it() {
        assert_eq!(nearest("dropout", ["hidden", "drop"]), Some("drop"));
        assert_eq!(nearest("roc_auc", ["accuracy", "f1", "auc"]), Some("auc"));
        assert_eq!(nearest("lr_max", ["lr"]), None, "two letters are no part");
    }

    #[test]
    fn the_distance_is_that_of_the_textbook() {
        let of = |a: &str, b: &str| {
            edit_distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>())
        };
        assert_eq!(
            (of("kitten", "sitting"), of("ab", "ba"), of("", "abc"), of("ca", "abc")),
            (3, 1, 3, 3)
        );
    }
}
