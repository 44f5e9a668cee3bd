//! hints: hints of file readers, adapted to how the data set is read: readers refer to an entry of
//! the catalogue, which not every set has.
//!
//! promises  for a set without an entry, the hint says how to get one; for an import, it names the
//!           import's own flags; for what a program wrote, it says what to write
//! never     changes what a hint advises
use std::path::Path;

/// The place of options, as readers name it in hints.
const ENTRY: &str = "the catalogue's entry";

/// For a folder without an entry: adds the import that writes one with these options; `edges` is
/// the file to import.
pub fn adapt_to_folder(hint: &str, edges: &Path) -> String {
    if !hint.contains(ENTRY) && !hint.contains("read: {") {
        return hint.to_owned();
    }
    let flags: Vec<String> = read_options(hint).into_iter().map(|(_, flags)| flags).collect();
    let command = format!("warploom data import NEW --edges {}", edges.display());
    let ways: Vec<String> = if flags.is_empty() {
        vec![command]
    } else {
        flags.iter().map(|flags| format!("{command}{flags}")).collect()
    };
    format!(
        "{} (this folder has no entry, and an import writes one:  {} )",
        hint.replace(ENTRY, "an entry of the catalogue"),
        ways.join("  or  ")
    )
}

/// For a set with an entry: names the file of the entry.
pub fn adapt_to_entry(hint: &str, place: &str) -> String {
    hint.replace(ENTRY, place)
}

/// For what a program of the user's wrote: options of an entry do not reach it, and `form` says
/// what to write instead.
pub fn adapt_to_program(hint: &str, form: &str) -> String {
    let needs_entry = hint.is_empty() || hint.contains(ENTRY) || hint.contains("read: {");
    if needs_entry { form.to_owned() } else { hint.to_owned() }
}

/// For an import: replaces options of an entry by flags.
pub fn adapt_to_import(hint: &str) -> String {
    let mut text = hint
        .replace("--set ingest.ids=", "--read ids=")
        .replace("--set ingest.weights=drop", "--read weight=none");
    for (written, flags) in read_options(hint) {
        text = text.replace(&written, flags.trim_start());
    }
    [format!("into {ENTRY}"), format!("in {ENTRY}")]
        .iter()
        .fold(text, |text, place| text.replace(place, "on the command line"))
}

/// Each `read: {...}` of a hint as written, and as flags of an import with a space before each.
fn read_options(hint: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = hint;
    while let Some(at) = rest.find("read: {") {
        let inside = &rest[at + "read: {".len()..];
        let Some(end) = closing_bracket(inside) else { break };
        let flags = split_top_level(&inside[..end])
            .into_iter()
            .filter_map(|pair| pair.split_once(':'))
            .map(|(key, value)| import_flag(key.trim(), value.trim()))
            .collect();
        found.push((rest[at..at + "read: {".len() + end + 1].to_owned(), flags));
        rest = &inside[end..];
    }
    found
}

/// The position of the bracket that closes one opened before this text.
fn closing_bracket(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(at, letter)| {
        depth += i32::from(matches!(letter, '{' | '[')) - i32::from(matches!(letter, '}' | ']'));
        (depth < 0).then_some(at)
    })
}

/// Splits at the commas outside of brackets.
fn split_top_level(text: &str) -> Vec<&str> {
    let (mut depth, mut from, mut parts) = (0, 0, Vec::new());
    for (at, letter) in text.char_indices() {
        depth += i32::from(matches!(letter, '{' | '[')) - i32::from(matches!(letter, '}' | ']'));
        if letter == ',' && depth == 0 {
            parts.push(&text[from..at]);
            from = at + 1;
        }
    }
    parts.push(&text[from..]);
    parts
}

/// ` --read key=value`, a list as JSON, so that a shell takes it as one word.
fn import_flag(key: &str, value: &str) -> String {
    let list = value.strip_prefix('[').and_then(|value| value.strip_suffix(']'));
    match list {
        Some(words) => {
            let words: Vec<String> = words
                .split(',')
                .map(|word| format!("\"{}\"", word.trim().trim_matches('"')))
                .collect();
            format!(" --read '{key}=[{}]'", words.join(","))
        }
        None if value.chars().all(|letter| letter.is_alphanumeric() || "_.-".contains(letter)) => {
            format!(" --read {key}={value}")
        }
        None => format!(" --read '{key}={value}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_told_how_to_get_an_entry() {
        let path = Path::new("raw/mine/edges.txt");
        assert_eq!(adapt_to_folder("write finite numbers", path), "write finite numbers");
        let said = adapt_to_folder(
            "say which in the catalogue's entry:  read: {counts: true}  if it counts,  read: \
             {counts: false}  if it is an edge",
            path,
        );
        let wanted = "(this folder has no entry, and an import writes one:  warploom data import \
                      NEW --edges raw/mine/edges.txt --read counts=true  or  warploom data import \
                      NEW --edges raw/mine/edges.txt --read counts=false )";
        assert!(
            said.starts_with("say which in an entry of the catalogue:") && said.ends_with(wanted),
            "{said}"
        );
        // Also where a hint names options and no place for them.
        assert!(
            adapt_to_folder("read: {source: NAME, target: NAME}", path)
                .contains("--edges raw/mine/edges.txt --read source=NAME --read target=NAME")
        );
        assert!(
            adapt_to_folder("columns are named in the catalogue's entry", path)
                .contains("import NEW --edges raw/mine/edges.txt )")
        );
    }

    #[test]
    fn an_import_is_told_its_flags() {
        assert_eq!(
            adapt_to_import("if ids are words, add  --set ingest.ids=string"),
            "if ids are words, add  --read ids=string"
        );
        assert_eq!(adapt_to_import("add  --set ingest.weights=drop"), "add  --read weight=none");
        let said = adapt_to_import(
            "name them in the catalogue's entry  read: {columns: [source, target], separator: \
             \"::\"}",
        );
        assert_eq!(
            said,
            "name them on the command line  --read 'columns=[\"source\",\"target\"]' --read \
             'separator=\"::\"'"
        );
        assert_eq!(
            adapt_to_import("put  read: {weight: none}  into the catalogue's entry"),
            "put  --read weight=none  on the command line"
        );
        assert_eq!(adapt_to_import("read: {broken"), "read: {broken");
    }
}
