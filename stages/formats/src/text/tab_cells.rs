//! The columns of a line between tabs.

/// Columns between tabs, each with the byte at which it stands; `start` is that of the line.
pub fn split_tabs(start: usize, line: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = start;
    line.split(|&byte| byte == b'\t').map(move |cell| {
        let from = at;
        at += cell.len() + 1;
        (from, cell)
    })
}

pub fn split_bare_tabs(line: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    line.split(|&byte| byte == b'\t').map(move |cell| {
        let start = at;
        at += cell.len() + 1;
        let bare = cell.trim_ascii();
        (start, bare.strip_prefix(b"\"").and_then(|bare| bare.strip_suffix(b"\"")).unwrap_or(bare))
    })
}
