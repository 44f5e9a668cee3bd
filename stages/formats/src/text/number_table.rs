//! Tables of numbers in text: a row a line, columns divided by commas, semicolons, blanks or tabs.
//!
//! promises  every row has as many columns as the first, or as many as were asked for; a number
//!           that is none has its line and column
//! reads     empty lines behind the last row; numbers as Rust reads them, whole ones also with `.0`
//! never     passes over an empty line between rows: rows are counted by their lines
use super::lines::{LineFault, TextLines, split_lines};
use crate::{
    containers::text_source::TextSource,
    raw_graph::{Labels, NO_CLASS},
    read_error::{Read, ReadError},
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// A kind of number that a table may hold.
pub(crate) trait TableNumber: Copy + Send + Sync + PartialEq {
    /// What errors expect.
    const EXPECTED: &'static str;
    /// The number that a word is; a word may be empty between two commas.
    fn read(word: &[u8]) -> Option<Self>;
}

impl TableNumber for u32 {
    const EXPECTED: &'static str = "a whole number from 0 to 4294967295";

    fn read(word: &[u8]) -> Option<u32> {
        // Nine digits always fit; longer ones (rare) are read again with care.
        if (1..=9).contains(&word.len()) && word.iter().all(u8::is_ascii_digit) {
            return Some(word.iter().fold(0, |value, &digit| value * 10 + u32::from(digit - b'0')));
        }
        std::str::from_utf8(word).ok()?.parse().ok()
    }
}

impl TableNumber for i64 {
    const EXPECTED: &'static str = "a whole number";

    fn read(word: &[u8]) -> Option<i64> {
        let text = std::str::from_utf8(word).ok()?;
        text.parse().ok().or_else(|| whole(f64::read(word)?))
    }
}

impl TableNumber for f32 {
    const EXPECTED: &'static str = "a finite number";

    fn read(word: &[u8]) -> Option<f32> {
        short_decimal(word)
            .or_else(|| std::str::from_utf8(word).ok()?.parse::<f32>().ok())
            .filter(|number| number.is_finite())
    }
}

impl TableNumber for f64 {
    const EXPECTED: &'static str = "a finite number";

    fn read(word: &[u8]) -> Option<f64> {
        std::str::from_utf8(word).ok()?.parse::<f64>().ok().filter(|number| number.is_finite())
    }
}

/// A number that may be missing: an empty column or `nan`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NumberOrGap(pub f64);

impl PartialEq for NumberOrGap {
    fn eq(&self, other: &NumberOrGap) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl TableNumber for NumberOrGap {
    const EXPECTED: &'static str = "a number, or `nan` for none";

    fn read(word: &[u8]) -> Option<NumberOrGap> {
        if word.is_empty() || word.eq_ignore_ascii_case(b"nan") {
            return Some(NumberOrGap(f64::NAN));
        }
        f64::read(word).map(NumberOrGap)
    }
}

/// A number that is whole and that both kinds hold.
fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() <= (1u64 << 53) as f64).then_some(number as i64)
}

/// Decimals whose digits and power of ten are exact in f32: one division then rounds correctly.
/// Three times as fast as the general way.
fn short_decimal(word: &[u8]) -> Option<f32> {
    const TENS: [f32; 11] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10];
    let (negative, digits) = match word {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, word),
    };
    if digits.is_empty() || digits.len() > 10 {
        return None;
    }
    let (mut value, mut point) = (0u64, None);
    for (at, &byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => value = value * 10 + u64::from(byte - b'0'),
            b'.' if point.is_none() && digits.len() > 1 => point = Some(digits.len() - at - 1),
            _ => return None,
        }
    }
    let number = (value <= 1 << 24).then(|| value as f32 / TENS[point.unwrap_or(0)])?;
    Some(if negative { -number } else { number })
}

/// A table, row by row.
pub(crate) struct NumberTable<T> {
    path: PathBuf,
    /// Lines before the first row.
    before: u64,
    /// Numbers in a row; 0 in a table without rows unless it was asked for.
    pub columns: usize,
    pub values: Vec<T>,
}

impl<T: TableNumber + std::fmt::Debug> NumberTable<T> {
    /// Reads a table; `what` names it in errors.
    pub fn read(text: TextSource, what: &str, columns: Option<usize>) -> Read<NumberTable<T>> {
        NumberTable::read_lines(text.lines()?, 0, what, columns)
    }

    /// Reads what follows after `before` lines that were taken off.
    pub fn read_lines(
        lines: TextLines,
        before: u64,
        what: &str,
        columns: Option<usize>,
    ) -> Read<NumberTable<T>> {
        let path = lines.path().to_path_buf();
        let columns = columns.unwrap_or_else(|| words(lines.first()).count());
        let mut values = Vec::new();
        let mut blank = false;
        lines.pieces(
            |piece| parse::<T>(piece, what, columns),
            |piece: TableLines<T>| {
                if blank && !piece.values.is_empty() {
                    return Err(empty_line(0, what).hint("remove the empty line before this one"));
                }
                blank |= piece.blank;
                values.extend_from_slice(&piece.values);
                Ok(())
            },
        )?;
        Ok(NumberTable { path, before, columns, values })
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[T] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    /// How errors call its text.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// An error about a row.
    pub fn error(&self, row: usize, what: impl Into<String>) -> ReadError {
        let shown: Vec<String> =
            self.row(row).iter().take(20).map(|value| format!("{value:?}")).collect();
        ReadError::new(&self.path, what).at_line(
            self.before + row as u64 + 1,
            1,
            shown.join(", ").as_bytes(),
        )
    }

    /// Refuses another number of rows than what `other` says.
    pub fn expect_rows(&self, what: &str, rows: usize, other: &str) -> Read<()> {
        if self.rows() == rows {
            return Ok(());
        }
        let error = ReadError::new(&self.path, format!("the {what} do not fit {other}"));
        Err(Box::new(
            error
                .expected(format!("{rows} rows"), self.rows().to_string())
                .hint("do all files belong to one set, and is none cut short?"),
        ))
    }
}

impl NumberTable<NumberOrGap> {
    /// Rows as labels: one column of whole numbers is classes, one of others is values, several
    /// columns are rows.
    pub fn labels(&self) -> Labels {
        if self.columns != 1 {
            return Labels::Rows {
                columns: self.columns as u32,
                values: self.values.iter().map(|gap| gap.0 as f32).collect(),
            };
        }
        match self
            .values
            .iter()
            .map(|gap| if gap.0.is_nan() { Some(None) } else { whole(gap.0).map(Some) })
            .collect::<Option<Vec<_>>>()
        {
            Some(numbers) => classes(numbers),
            None => Labels::Values(self.values.iter().map(|gap| gap.0 as f32).collect()),
        }
    }
}

/// Classes by ascending number; none has no class.
pub(crate) fn classes(numbers: Vec<Option<i64>>) -> Labels {
    let mut index: BTreeMap<i64, u32> =
        numbers.iter().flatten().map(|&number| (number, 0)).collect();
    index.values_mut().zip(0..).for_each(|(class, next)| *class = next);
    // Neighbouring rows often have one class.
    let mut last = (None, NO_CLASS);
    let class = numbers.into_iter().map(|number| {
        if number != last.0 {
            last =
                (number, number.and_then(|number| index.get(&number).copied()).unwrap_or(NO_CLASS));
        }
        last.1
    });
    Labels::Classes { class: class.collect(), names: index.keys().map(i64::to_string).collect() }
}

struct TableLines<T> {
    values: Vec<T>,
    /// Whether it ends in empty lines.
    blank: bool,
}

fn parse<T: TableNumber>(
    text: &[u8],
    what: &str,
    columns: usize,
) -> Result<TableLines<T>, LineFault> {
    let mut values = Vec::with_capacity(text.len() / 8);
    let mut blank = None;
    for (start, line) in split_lines(text) {
        let before = values.len();
        for (at, word) in words(line) {
            if let Some(blank) = blank {
                return Err(empty_line(blank, what).hint("remove this line"));
            }
            let number =
                T::read(word).ok_or_else(|| not_a_number::<T>(start + at, what, word, columns))?;
            if values.len() - before == columns {
                let fault = LineFault::new(
                    start + at,
                    format!("the {what} have a line with too many columns"),
                );
                return Err(fault.expected(format!("{columns} columns"), word).hint(COLUMNS_HINT));
            }
            values.push(number);
        }
        match (values.len() - before, blank) {
            (0, None) => blank = Some(start),
            (0, _) => {}
            (found, _) if found < columns => {
                let fault = LineFault::new(
                    start + line.len(),
                    format!("the {what} have a line with too few columns"),
                );
                return Err(fault
                    .expected(format!("{columns} columns"), found.to_string().as_bytes())
                    .hint(COLUMNS_HINT));
            }
            _ => {}
        }
    }
    Ok(TableLines { values, blank: blank.is_some() })
}

/// Of lines that are not as long as the first.
const COLUMNS_HINT: &str =
    "all lines have as many columns as the first: mend this one, or download the file again";

fn not_a_number<T: TableNumber>(byte: usize, what: &str, word: &[u8], columns: usize) -> LineFault {
    let fault =
        LineFault::new(byte, format!("the {what} have a value that is not {}", T::EXPECTED))
            .expected(T::EXPECTED, word);
    if columns > 0 && byte == 0 {
        return fault.hint("if this line names the columns, remove it");
    }
    let is_none = [&b"nan"[..], b"na", b"inf", b"-inf", b"null", b"none", b""]
        .iter()
        .any(|none| word.eq_ignore_ascii_case(none));
    fault.hint(if is_none {
        "write a number in its place: 0 where there is none"
    } else {
        "write a number in its place; is it the right file?"
    })
}

fn empty_line(byte: usize, what: &str) -> LineFault {
    LineFault::new(byte, format!("the {what} have an empty line between rows"))
}

/// The words of a line with their first bytes; an empty one between two commas, and at the ends of
/// a line that has commas.
pub(crate) fn words(line: &[u8]) -> RowWords<'_> {
    RowWords { line, at: 0, state: WordState::Start }
}

pub(crate) struct RowWords<'a> {
    line: &'a [u8],
    at: usize,
    state: WordState,
}

#[derive(Clone, Copy, PartialEq)]
enum WordState {
    Start,
    /// A word was read, no comma behind it yet.
    Word,
    /// A comma was read: a word follows, if only an empty one.
    Comma,
}

impl<'a> Iterator for RowWords<'a> {
    type Item = (usize, &'a [u8]);

    fn next(&mut self) -> Option<(usize, &'a [u8])> {
        self.skip_blanks();
        if self.state == WordState::Word && self.is_comma() {
            self.at += 1;
            self.state = WordState::Comma;
            self.skip_blanks();
        }
        let start = self.at;
        if start == self.line.len() {
            let owed = self.state == WordState::Comma;
            self.state = WordState::Word;
            return owed.then_some((start, &[]));
        }
        let ends = |byte: &u8| matches!(byte, b' ' | b'\t' | b',' | b';');
        let length = self.line[start..].iter().position(ends).unwrap_or(self.line.len() - start);
        self.at = start + length;
        self.state = WordState::Word;
        Some((start, &self.line[start..self.at]))
    }
}

impl RowWords<'_> {
    fn skip_blanks(&mut self) {
        while matches!(self.line.get(self.at), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    fn is_comma(&self) -> bool {
        matches!(self.line.get(self.at), Some(b',' | b';'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table<T: TableNumber + std::fmt::Debug>(
        text: &str,
        columns: Option<usize>,
    ) -> Read<NumberTable<T>> {
        let bytes = std::io::Cursor::new(text.as_bytes().to_vec());
        NumberTable::read(
            TextSource::from_reader("t".into(), bytes, |_| unreachable!()),
            "numbers",
            columns,
        )
    }

    #[test]
    fn every_way_to_write_a_row_is_read() {
        for text in ["1, 2\n3,4\n", "1 2\r\n3\t4", " 1 ,2\n3;4\n\n\n", "1.0,2e0\n3,+4\n"] {
            let found = table::<i64>(text, None).unwrap();
            assert_eq!((found.columns, found.values), (2, vec![1, 2, 3, 4]), "{text:?}");
        }
        let gaps = table::<NumberOrGap>(",1\nnan,\n,,", Some(2));
        assert!(gaps.err().unwrap().what.contains("too many columns"));
        let gaps = table::<NumberOrGap>(",1\nNaN,\n1 , 2\n", None).unwrap();
        let Labels::Rows { columns: 2, values } = gaps.labels() else { panic!() };
        assert!(
            values[0].is_nan()
                && values[2].is_nan()
                && values[3].is_nan()
                && [values[1], values[4], values[5]] == [1.0, 1.0, 2.0]
        );
        assert_eq!(table::<f32>("", None).unwrap().rows(), 0);
    }

    #[test]
    fn labels_are_what_their_numbers_are() {
        let labels = |text| table::<NumberOrGap>(text, Some(1)).unwrap().labels();
        assert_eq!(
            labels("5\n-1\n5.0\nnan\n"),
            Labels::Classes {
                class: vec![1, 0, 1, NO_CLASS],
                names: vec!["-1".into(), "5".into()]
            }
        );
        assert_eq!(labels("5\n-1.5\n"), Labels::Values(vec![5.0, -1.5]));
    }

    #[test]
    fn every_fault_has_its_place() {
        for (text, what, place) in [
            ("1,2\n3,x\n", "not a whole number from 0", "t:2:3"),
            ("a,b\n3,4\n", "not a whole number from 0", "t:1:1"),
            ("1,2\n3,-4\n", "not a whole number from 0", "t:2:3"),
            ("1,2\n3,4294967296\n", "not a whole number from 0", "t:2:3"),
            ("1,2\n3\n", "too few columns", "t:2:2"),
            ("1,2\n3,4 5\n", "too many columns", "t:2:5"),
            ("1,2\n\n3,4\n", "empty line between rows", "t:2:1"),
            ("1,2\n3,,4\n", "not a whole number from 0", "t:2:3"),
        ] {
            let error = table::<u32>(text, None).err().unwrap();
            assert!(error.what.contains(what) && error.location() == place, "{text:?}: {error}");
        }
        let many = "1\n".repeat(600_000) + "\n" + &"1\n".repeat(600_000);
        assert!(table::<u32>(&many, None).err().unwrap().what.contains("empty line"));
        for text in ["inf", "nan", "1e99", "x"] {
            assert!(
                table::<f32>(text, None).err().unwrap().what.contains("not a finite number"),
                "{text}"
            );
        }
        let error = table::<u32>("1,2\n3,4\n", None).unwrap().error(1, "wrong");
        assert_eq!(error.to_string(), "error: wrong\n  --> t:2:1\n       |  3, 4\n       |  ^");
    }

    proptest! {
        #[test]
        fn numbers_are_read_as_rust_reads_them(word in "-?[0-9]{0,9}(\\.[0-9]{0,8})?(e-?[0-9]{1,2})?") {
            prop_assert_eq!(f32::read(word.as_bytes()).map(f32::to_bits), word.parse::<f32>().ok().filter(|number| number.is_finite()).map(f32::to_bits));
            prop_assert_eq!(u32::read(word.as_bytes()), word.parse().ok());
        }

        #[test]
        fn any_bytes_are_a_table_or_an_error(text in "([0-9]{1,3}|[,; \t]|\n|nan|-|\r\n){0,30}") {
            if let Ok(found) = table::<NumberOrGap>(&text, None) {
                prop_assert_eq!(found.rows() * found.columns, found.values.len());
            }
        }
    }
}
