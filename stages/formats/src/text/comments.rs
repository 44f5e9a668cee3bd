//! Blank lines and comments `#`, `%` and `//` of edge lists and tables.

pub fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t' || byte == b'\r'
}

/// Whether the rest of a line from its first byte that is no blank is a comment.
pub fn is_comment(rest: &[u8]) -> bool {
    matches!(rest, [b'#' | b'%', ..] | [b'/', b'/', ..])
}

/// Whether a line holds nothing, or a comment.
pub fn is_blank_or_comment(line: &[u8]) -> bool {
    line.iter().position(|&byte| !is_blank(byte)).is_none_or(|start| is_comment(&line[start..]))
}

/// Bytes of the whole lines at the beginning that hold no edge; the whole if all are such.
pub fn leading_comments(text: &[u8]) -> usize {
    let mut at = 0;
    while at < text.len() {
        let end = text[at..]
            .iter()
            .position(|&byte| byte == b'\n')
            .map_or(text.len(), |length| at + length + 1);
        if !is_blank_or_comment(text[at..end].strip_suffix(b"\n").unwrap_or(&text[at..end])) {
            return at;
        }
        at = end;
    }
    at
}

/// The first lines that are no comments, as far as two, with where they begin; the last may lack
/// its end.
pub fn first_lines(text: &[u8]) -> Vec<(usize, &[u8])> {
    let mut lines = Vec::new();
    let mut at = 0;
    while at < text.len() && lines.len() < 2 {
        let end = text[at..]
            .iter()
            .position(|&byte| byte == b'\n')
            .map_or(text.len(), |length| at + length);
        if !is_blank_or_comment(&text[at..end]) {
            lines.push((at, &text[at..end]));
        }
        at = end + 1;
    }
    lines
}
