//! Whether a word is a number, and which id it is.

pub const PADDED_HINT: &str = "where `007` and `7` are two nodes, ids are words:  --set \
                               ingest.ids=string ; where they are one, numbers:  --set \
                               ingest.ids=number";

/// Where another table has said that ids are numbers.
pub const PADDED_BESIDE_HINT: &str = "where `007` and `7` are one, ids are numbers:  --set \
    ingest.ids=number ; where they are two, write `007` in the table of nodes, too";

/// A whole number from digits alone.
pub fn parse_whole(word: &[u8]) -> Option<u64> {
    let all_digits = !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    if all_digits { std::str::from_utf8(word).ok()?.parse().ok() } else { None }
}

/// Whether a number has zeros before it that it does not need.
pub fn is_padded(word: &[u8]) -> bool {
    word.len() > 1 && word[0] == b'0' && word.iter().all(u8::is_ascii_digit)
}

/// The id that a word is as a number; `exact`: `007` is none.
pub fn parse_id(word: &[u8], exact: bool) -> Option<u64> {
    parse_whole(word).filter(|_| !exact || !is_padded(word))
}

/// Whether a word begins like a number and is one, whole or not.
pub fn looks_like_number(word: &[u8]) -> bool {
    let bare = unquoted(word);
    let start = bare.strip_prefix(b"-").or(bare.strip_prefix(b"+")).unwrap_or(bare);
    start.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.')
        && std::str::from_utf8(bare).is_ok_and(|word| word.parse::<f64>().is_ok())
}

pub fn unquoted(word: &[u8]) -> &[u8] {
    word.strip_prefix(b"\"").and_then(|word| word.strip_suffix(b"\"")).unwrap_or(word)
}
