//! Words between blanks and commas, and lines that are not empty, each with its first byte.

/// Words of a line with the byte at which each begins.
pub fn split_words(line: &[u8], at: usize) -> impl Iterator<Item = (usize, &[u8])> {
    let mut start = at;
    line.split(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b',')).filter_map(move |word| {
        let begun = start;
        start += word.len() + 1;
        (!word.is_empty()).then_some((begun, word))
    })
}

/// Lines that are not empty, with the byte at which each begins.
pub fn split_filled_lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut start = 0;
    text.split(|&byte| byte == b'\n').filter_map(move |line| {
        let begun = start;
        start += line.len() + 1;
        (!line.trim_ascii().is_empty()).then_some((begun, line))
    })
}
