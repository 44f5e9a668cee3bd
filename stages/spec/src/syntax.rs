//! syntax: explains YAML syntax errors, with a remedy.
//!
//! promises  a place inside the text; an unclosed brace or quote is shown where it opens, not where
//!           the parser fails
//! never     decides whether a text is YAML (the parser does)
//!
//! The parser's own messages ("while parsing a block mapping, did not find expected key") describe
//! its state. The table below translates each into the likely mistake; other messages are passed
//! on.

/// A syntax error: line from 1, column from 0, and its texts.
pub(crate) struct Fault {
    pub line: usize,
    pub column: usize,
    pub what: String,
    pub label: String,
    pub hint: String,
}

/// Explains the parser's error at this place.
pub(crate) fn explain(text: &str, line: usize, column: usize, info: &str) -> Fault {
    let lines = split_lines(text);
    let (line, column) = clamp_place(&lines, line, column);
    let here = lines.get(line - 1).copied().unwrap_or("");
    let indent: String = here.chars().take_while(|letter| letter.is_whitespace()).collect();
    if let (true, Some(tab)) = (
        info.contains("tab") || !indent.is_empty(),
        indent.chars().position(|letter| letter == '\t'),
    ) {
        return fault(
            line,
            tab,
            "a tab is used for indentation",
            "expected spaces",
            "YAML is indented with spaces, two for each level",
        );
    }
    if let Some(open) = find_unclosed(&lines) {
        return open;
    }
    if info.contains("mapping values are not allowed") || info.contains("illegal placement of ':'")
    {
        return second_colon(&lines, line, column);
    }
    if info.contains("simple key expect") {
        return missing_colon(here, line, column);
    }
    let bracket = matches!(here.chars().nth(column), Some('}' | ']'));
    let (what, label, hint) = TABLE
        .iter()
        .find(|(words, ..)| {
            words.iter().any(|words| info.contains(words))
                && (!words.contains(&"node content") || bracket)
        })
        .map_or(
            ("this is not YAML", info, "see the examples in pipelines/"),
            |(_, what, label, hint)| (*what, *label, *hint),
        );
    fault(line, column, what, label, hint)
}

/// Words of the parser, and our texts: what is wrong, the label at the caret, the hint.
type Row = (&'static [&'static str], &'static str, &'static str, &'static str);

const TABLE: &[Row] = &[
    (
        &["unknown anchor", "anchor or alias"],
        "a text begins with `*` or `&`, which YAML reads as a reference",
        "expected a value",
        "quote it, for example '*.weight'",
    ),
    (
        &["may not precede", "':' must be followed"],
        "a space is missing after `:`",
        "expected `name: value`",
        "put a space after the colon",
    ),
    (
        &["expected key", "'-' indicator", "invalid indentation"],
        "this line fits no level of indentation",
        "expected it below the line it belongs with",
        "settings of one section begin in the same column, two spaces deeper than its name",
    ),
    (
        &["',' or '}'", "',' or ']'"],
        "a comma is missing in a list or mapping",
        "expected `,` or the closing bracket",
        "separate entries with `, `",
    ),
    (
        &["trailing content"],
        "something follows a closing quote",
        "expected `,` or the end of the line",
        "separate entries with `, `, or put the whole text in quotes",
    ),
    (
        &["misplaced bracket", "node content"],
        "a bracket closes nothing",
        "no bracket is open here",
        "remove it, or open it before",
    ),
    (
        &["unexpected character", "plain scalar cannot start"],
        "a text begins with a character that YAML keeps for itself",
        "this character needs quotes",
        "put the text in single quotes",
    ),
    (
        &["escape character", "hexadecimal number", "Unicode character escape"],
        "a backslash in double quotes begins an unknown escape",
        "in this text",
        "put the text in single quotes, where a backslash is a backslash",
    ),
];

fn fault(line: usize, column: usize, what: &str, label: &str, hint: &str) -> Fault {
    Fault { line, column, what: what.into(), label: label.into(), hint: hint.into() }
}

/// A second colon in one line; or the line above has none; or this line is indented too far.
fn second_colon(lines: &[&str], line: usize, column: usize) -> Fault {
    let indent = |text: &str| text.chars().take_while(|letter| *letter == ' ').count();
    let here = lines[line - 1];
    let above = lines[..line - 1]
        .iter()
        .rposition(|text| !text.trim().is_empty() && !text.trim_start().starts_with('#'));
    if let Some(above) = above {
        let text = lines[above];
        let has_colon = text.contains(": ") || text.trim_end().ends_with(':');
        if !has_colon && indent(text) == indent(here) {
            return missing_colon(text, above + 1, indent(text));
        }
        if indent(here) > indent(text) && has_colon && !text.trim_end().ends_with(':') {
            let what =
                "this line is indented deeper than the one above, which holds a value already";
            return fault(
                line,
                indent(here),
                what,
                "expected the same column as the line above",
                "settings of one section begin in the same column",
            );
        }
    }
    let hint = "put each setting on a line of its own, or in braces {a: 1, b: 2}; quote a text \
                that holds `: `";
    fault(line, column, "there is a second `:` in one line", "not allowed here", hint)
}

/// A line that should be `name: value` and is not.
fn missing_colon(here: &str, line: usize, column: usize) -> Fault {
    let hint = pair_meant(here)
        .map_or_else(|| "write  name: value".to_string(), |pair| format!("write  {pair}"));
    fault(line, column, "a line is not `name: value`", "expected `name: value`", &hint)
}

/// `name: value` for `name:value`, `name = value` and `name value`.
pub(crate) fn pair_meant(text: &str) -> Option<String> {
    let text = text.trim();
    let cut =
        text.split_once(':').or_else(|| text.split_once('=')).or_else(|| text.split_once(' '));
    let (name, value) = cut.map(|(name, value)| (name.trim(), value.trim()))?;
    let plain = !name.is_empty()
        && !value.is_empty()
        && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    plain.then(|| format!("{name}: {value}"))
}

/// The place, moved into the text if the parser points past its end.
fn clamp_place(lines: &[&str], line: usize, column: usize) -> (usize, usize) {
    let last = lines.iter().rposition(|text| !text.trim().is_empty()).unwrap_or(0) + 1;
    if line > last {
        return (last, lines.get(last - 1).map_or(0, |text| text.trim_end().chars().count()));
    }
    let line = line.max(1);
    (line, column.min(lines.get(line - 1).map_or(0, |text| text.chars().count())))
}

/// The lines of a text as YAML counts them: \n, \r\n or \r ends one.
pub(crate) fn split_lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(end) = rest.find(['\n', '\r']) {
        lines.push(&rest[..end]);
        let width = if rest[end..].starts_with("\r\n") { 2 } else { 1 };
        rest = &rest[end + width..];
    }
    lines.push(rest);
    lines
}

/// The first unclosed brace, bracket or quote. A simple scan, sufficient for pipeline files.
fn find_unclosed(lines: &[&str]) -> Option<Fault> {
    let mut open: Vec<(char, usize, usize)> = Vec::new();
    let mut quote: Option<(char, usize, usize)> = None;
    for (index, line) in lines.iter().enumerate() {
        let mut before = ' ';
        let mut escaped = false;
        for (column, letter) in line.chars().enumerate() {
            let begins = before.is_whitespace()
                || matches!(before, '{' | '[' | ',')
                || (before == ':' && !open.is_empty());
            match (quote, letter) {
                (Some(('"', ..)), '\\') => escaped = !escaped,
                (Some((mark, ..)), _) if letter == mark && !escaped => quote = None,
                (Some(_), _) => escaped = false,
                (None, '#') if before.is_whitespace() => break,
                (None, '\'' | '"') if begins => quote = Some((letter, index + 1, column)),
                (None, '{' | '[') if begins || !open.is_empty() => {
                    open.push((letter, index + 1, column))
                }
                (None, '}') if open.last().is_some_and(|top| top.0 == '{') => drop(open.pop()),
                (None, ']') if open.last().is_some_and(|top| top.0 == '[') => drop(open.pop()),
                (None, '}' | ']') if !open.is_empty() => {
                    return open
                        .last()
                        .map(|&(letter, line, column)| unclosed_fault(letter, line, column));
                }
                _ => {}
            }
            before = letter;
        }
    }
    let (letter, line, column) = quote.or(open.first().copied())?;
    Some(unclosed_fault(letter, line, column))
}

fn unclosed_fault(letter: char, line: usize, column: usize) -> Fault {
    let close = match letter {
        '{' => '}',
        '[' => ']',
        same => same,
    };
    let what = format!("a `{letter}` is never closed");
    fault(line, column, &what, "opened here", &format!("close it with `{close}`"))
}
