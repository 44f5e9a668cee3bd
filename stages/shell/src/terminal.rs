//! terminal: wraps text for people to the width of the terminal.
//!
//! promises  a line that is too wide is broken at a space and continues indented; output that is no
//!           terminal is not wrapped
//! never     cuts a word: one that is wider than the terminal gets its own line
use std::io::IsTerminal;

/// Indent of a continued line.
const INDENT: usize = 4;
/// A smaller reported width is ignored.
const COLUMNS_LEAST: usize = 20;

/// Columns of the terminal on stdout; none where stdout is a file or a pipe.
pub fn stdout_columns() -> Option<usize> {
    let stdout = std::io::stdout();
    let size =
        stdout.is_terminal().then(|| rustix::termios::tcgetwinsize(&stdout).ok()).flatten()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns >= COLUMNS_LEAST)
}

/// Wraps text to a width; only a single longer word exceeds it.
pub fn wrap_text(text: &str, width: usize) -> String {
    let mut fitted = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        wrap_line(line, width, &mut fitted);
        fitted += end;
    }
    fitted
}

fn wrap_line(line: &str, width: usize, fitted: &mut String) {
    let indent = line.chars().take_while(|letter| *letter == ' ').count();
    let below = " ".repeat((indent + INDENT).min(width / 2));
    let (mut rest, mut start) = (line.trim_end(), "");
    loop {
        let room = width - start.chars().count();
        *fitted += start;
        let Some(at) = break_position(rest, room) else {
            *fitted += rest;
            return;
        };
        *fitted += rest[..at].trim_end();
        rest = rest[at..].trim_start();
        *fitted += "\n";
        start = &below;
    }
}

/// Where to break a text for so many columns: at the last space that fits, else at the first space
/// after a word that does not; none for a text that fits.
fn break_position(text: &str, room: usize) -> Option<usize> {
    let first = text.len() - text.trim_start().len();
    let limit = text.char_indices().nth(room)?.0;
    let fits = text[..=limit].rfind(' ').filter(|at| *at > first);
    fits.or_else(|| text[first..].find(' ').map(|at| first + at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_words_stay_whole() {
        assert_eq!(wrap_text("short\n", 60), "short\n");
        assert_eq!(
            wrap_text("  one two three four\nfive\n", 12),
            "  one two\n      three\n      four\nfive\n"
        );
        assert_eq!(
            wrap_text("results: /a/path/that/is/wider/than/it all", 20),
            "results:\n    /a/path/that/is/wider/than/it\n    all"
        );
        assert_eq!(wrap_text("ünïcödé wörds wörds\n", 14), "ünïcödé wörds\n    wörds\n");
        let table = "stage      status    seconds      size  key          why\nrun        \
            built       0.20   1.20 MiB  0123456789   not in the store yet\n";
        for width in [COLUMNS_LEAST, 40, 60, 200] {
            let text = wrap_text(table, width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&text), words(table));
        }
        assert_eq!(wrap_text(table, 200), table);
    }
}
