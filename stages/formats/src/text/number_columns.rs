//! Walks over the columns of one line between blanks, `,`, `;`, `|` or `:`.
use super::{comments::is_blank, numbers::parse_id};

/// Walks over the columns of one line; `text` may go on behind it.
pub struct ColumnScan<'a> {
    pub text: &'a [u8],
    pub at: usize,
    pub colon: bool,
}

impl<'a> ColumnScan<'a> {
    #[inline]
    pub fn byte(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(b'\n')
    }

    #[inline]
    pub fn separates(&self, byte: u8) -> bool {
        matches!(byte, b',' | b';' | b'|') || byte == b':' && self.colon
    }

    #[inline]
    pub fn ends_column(&self, byte: u8) -> bool {
        is_blank(byte) || byte == b'\n' || self.separates(byte)
    }

    #[inline]
    pub fn skip_blanks(&mut self) {
        while is_blank(self.byte()) {
            self.at += 1;
        }
    }

    /// Skips blanks with at most one separator among them; whether there was one.
    #[inline]
    pub fn skip_separator(&mut self) -> bool {
        self.skip_blanks();
        let separated = self.separates(self.byte());
        if separated {
            self.at += 1;
            self.skip_blanks();
        }
        separated
    }

    #[inline]
    pub fn at_end(&self) -> bool {
        self.byte() == b'\n'
    }

    #[inline]
    pub fn skip_line(&mut self) {
        let rest = &self.text[self.at.min(self.text.len())..];
        self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    }

    /// The bytes up to the next separator; empty at the end of the line or between two commas.
    #[inline]
    pub fn word(&mut self) -> &'a [u8] {
        let start = self.at;
        while !self.ends_column(self.byte()) {
            self.at += 1;
        }
        &self.text[start.min(self.text.len())..self.at.min(self.text.len())]
    }

    /// A whole number, perhaps in quotes; `None` leaves `at` where the column begins.
    #[inline]
    pub fn number(&mut self, exact: bool) -> Option<u64> {
        let start = self.at;
        let word = self.word();
        let bare =
            word.strip_prefix(b"\"").and_then(|word| word.strip_suffix(b"\"")).unwrap_or(word);
        let number = parse_id(bare, exact);
        if number.is_none() {
            self.at = start;
        }
        number
    }
}

/// The first two columns of a line, and how many it has, as far as 4.
pub fn first_columns(line: &[u8], colon: bool) -> ([&[u8]; 2], u8) {
    let mut columns = ColumnScan { text: line, at: 0, colon };
    let mut found: [&[u8]; 2] = [b"", b""];
    let mut count = 0;
    columns.skip_blanks();
    while !columns.at_end() && count < 4 {
        let word = columns.word();
        if let Some(place) = found.get_mut(usize::from(count)) {
            *place = word;
        }
        count += 1;
        columns.skip_separator();
    }
    (found, count)
}
