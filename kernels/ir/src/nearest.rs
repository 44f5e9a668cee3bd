//! nearest: suggests the name that was probably meant.
//!
//! promises  a name is suggested only if at most a third of its letters (at least one) differ, or
//!           if the word begins or ends with it, as `dropout` does with `drop`

/// The shortest name that is searched for within a word.
const PART_MIN: usize = 3;

/// The name with the smallest edit distance from `word`, if small enough; the first of ties.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let bound = (word.chars().count() / 3).max(1);
    let holds =
        |name: &str| name.len() >= PART_MIN && (word.starts_with(name) || word.ends_with(name));
    let measured = names.into_iter().map(|name| {
        (if holds(name) { bound.min(edits(word, name)) } else { edits(word, name) }, name)
    });
    measured
        .filter(|(edits, _)| *edits <= bound)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, name)| name)
}

/// Edit distance with transpositions (optimal string alignment; Damerau 1964), ignoring case.
fn edits(from: &str, to: &str) -> usize {
    let letters = |word: &str| -> Vec<char> { word.to_lowercase().chars().take(64).collect() };
    let (from, to) = (letters(from), letters(to));
    let mut table = vec![vec![0; to.len() + 1]; from.len() + 1];
    for row in 0..=from.len() {
        for column in 0..=to.len() {
            if row == 0 || column == 0 {
                table[row][column] = row + column;
                continue;
            }
            let replaced =
                table[row - 1][column - 1] + usize::from(from[row - 1] != to[column - 1]);
            let mut fewest =
                replaced.min(table[row - 1][column] + 1).min(table[row][column - 1] + 1);
            if row > 1
                && column > 1
                && from[row - 1] == to[column - 2]
                && from[row - 2] == to[column - 1]
            {
                fewest = fewest.min(table[row - 2][column - 2] + 1);
            }
            table[row][column] = fewest;
        }
    }
    table[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_of_the_hand_is_found_and_another_word_is_not() {
        let names = ["linear", "softmax", "relu", "mean"];
        assert_eq!(nearest("lienar", names), Some("linear"));
        assert_eq!(nearest("Softmax", names), Some("softmax"));
        assert_eq!(nearest("rely", names), Some("relu"));
        assert_eq!(nearest("convolution", names), None);
        assert_eq!(nearest("log_softmax", names), Some("softmax"));
        assert_eq!(nearest("dropout", ["hidden", "drop"]), Some("drop"));
    }
}
