//! The header of a Matrix Market file: the banner, comments, `%%GraphBLAS type` lines and the
//! sizes.
use crate::{
    raw_graph::NODES_MOST,
    text::{
        counted_header::ClaimedCount,
        grammar::{Scan, ScanFault, TextPlace, quote},
    },
};

/// Where the values stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixLayout {
    /// An entry a line: row, column, value.
    Coordinate,
    /// A value a line, column by column.
    Array,
}

/// What is left out because it follows from the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    /// Nothing.
    General,
    /// One triangle is stored.
    Symmetric,
    /// One triangle is stored, the other has negated values.
    Skew,
}

/// What the values are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueField {
    /// There are none.
    Pattern,
    /// Numbers.
    Real,
    /// Whole numbers in a range.
    Integer {
        /// The smallest.
        least: i128,
        /// The largest.
        most: i128,
    },
    /// Nobody looks at them: `weight: none`.
    Unread,
}

/// All that a header says.
#[derive(Clone, Debug)]
pub struct MatrixHeader {
    pub layout: MatrixLayout,
    pub symmetry: Symmetry,
    pub values: ValueField,
    /// Rows and columns.
    pub nodes: ClaimedCount,
    /// Entries of a coordinate file, values of an array.
    pub entries: ClaimedCount,
}

/// Reads a header, which may come in several blocks.
#[derive(Default)]
pub struct HeaderReader {
    /// Values are not asked for.
    unread: bool,
    banner: Option<(MatrixLayout, Symmetry, ValueField)>,
}

const BANNER: &str =
    "%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric|skew-symmetric";
const TWO_KINDS_HINT: &str = "rows and columns as nodes of two kinds:  grep -v '^%' FILE | awk 'NR \
                              > 1 {print \"r\"$1, \"c\"$2, $3}' > edges.txt  and  --set \
                              ingest.ids=string";
const UNREAD_HINT: &str = "to read the structure without values, add  --set ingest.weights=drop";

impl HeaderReader {
    /// `unread`: values are not asked for.
    pub fn new(unread: bool) -> HeaderReader {
        HeaderReader { unread, banner: None }
    }

    /// Reads lines, before which `before` lie: the header and the byte at which the body begins, or
    /// none if it begins later.
    pub fn read(
        &mut self,
        lines: &[u8],
        before: u64,
    ) -> Result<Option<(MatrixHeader, usize)>, ScanFault> {
        let mut scan = Scan::new(lines);
        while scan.more() {
            scan.skip_blanks();
            let start = scan.at;
            match (scan.byte(), self.banner) {
                (_, None) => self.banner = Some(self.read_banner(&mut scan)?),
                (b'\n', _) => {}
                (b'%', Some((layout, symmetry, values))) => {
                    self.banner =
                        Some((layout, symmetry, read_type(&mut scan, layout, symmetry, values)?))
                }
                (_, Some((layout, symmetry, values))) => {
                    let (nodes, entries) = read_sizes(&mut scan, layout, symmetry)?;
                    let claim = |(count, byte)| ClaimedCount {
                        count,
                        mark: TextPlace::new(lines, byte, before),
                    };
                    let header = MatrixHeader {
                        layout,
                        symmetry,
                        values,
                        nodes: claim((nodes, start)),
                        entries: claim(entries),
                    };
                    scan.next_line();
                    return Ok(Some((header, scan.at.min(lines.len()))));
                }
            }
            scan.next_line();
        }
        Ok(None)
    }

    fn read_banner(
        &self,
        scan: &mut Scan,
    ) -> Result<(MatrixLayout, Symmetry, ValueField), ScanFault> {
        let words: [(usize, &[u8], Vec<u8>); 5] = std::array::from_fn(|_| {
            let word = scan.word();
            (scan.at - word.len(), word, word.to_ascii_lowercase())
        });
        let [banner, object, layout, field, symmetry] = words;
        let unknown = |(at, word, _): &(usize, &[u8], Vec<u8>), what: &str, expected: &str| {
            Err(ScanFault::new(*at, format!("the Matrix Market header names an unknown {what}"))
                .expected(expected, word))
        };
        if banner.2 != b"%%matrixmarket" {
            let hint = match count_numbers(scan, banner.0) {
                2 => {
                    "if these are sizes of a dense matrix, put this line before them:  \
                     %%MatrixMarket matrix array real general"
                }
                _ => {
                    "if these are sizes and entries, put this line before them:  %%MatrixMarket \
                     matrix coordinate real general"
                }
            };
            return Err(ScanFault::new(banner.0, "the file has no Matrix Market header")
                .expected(BANNER, banner.1)
                .hint(hint));
        }
        if object.2 != b"matrix" {
            return unknown(&object, "object", "matrix");
        }
        let layout = match &layout.2[..] {
            b"coordinate" => MatrixLayout::Coordinate,
            b"array" => MatrixLayout::Array,
            _ => return unknown(&layout, "layout", "coordinate or array"),
        };
        let values = match &field.2[..] {
            b"pattern" if layout == MatrixLayout::Array => {
                let fault = ScanFault::new(field.0, "a dense matrix has no pattern alone")
                    .expected("real or integer", field.1);
                return Err(fault.hint("write it as  coordinate pattern"));
            }
            b"pattern" => ValueField::Pattern,
            b"complex" if self.unread && layout == MatrixLayout::Coordinate => ValueField::Unread,
            b"complex" => return Err(complex(field.0, field.1, layout)),
            b"real" | b"double" => ValueField::Real,
            b"integer" => ValueField::Integer { least: i64::MIN.into(), most: u64::MAX.into() },
            b"unsigned-integer" => ValueField::Integer { least: 0, most: u64::MAX.into() },
            _ => return unknown(&field, "field", "real, integer or pattern"),
        };
        let symmetry = match &symmetry.2[..] {
            b"general" => Symmetry::General,
            b"symmetric" => Symmetry::Symmetric,
            b"hermitian" if values == ValueField::Unread => Symmetry::Symmetric,
            b"hermitian" => {
                let fault =
                    ScanFault::new(symmetry.0, "a matrix that is not complex is called hermitian")
                        .expected("general, symmetric or skew-symmetric", symmetry.1);
                return Err(fault.hint("write symmetric"));
            }
            b"skew-symmetric" if values == ValueField::Pattern => {
                return Err(ScanFault::new(symmetry.0, "a pattern has no values to negate")
                    .expected("general or symmetric", symmetry.1));
            }
            b"skew-symmetric" => Symmetry::Skew,
            _ => return unknown(&symmetry, "symmetry", "general, symmetric or skew-symmetric"),
        };
        scan.end("the Matrix Market header goes on", "the end of the line", "")?;
        // A dense matrix has an edge where its value is not 0, so values are read whoever wants
        // them.
        let values =
            if self.unread && layout == MatrixLayout::Coordinate && values != ValueField::Pattern {
                ValueField::Unread
            } else {
                values
            };
        Ok((layout, symmetry, values))
    }
}

/// A comment; `%%GraphBLAS type T` narrows what the values are.
fn read_type(
    scan: &mut Scan,
    layout: MatrixLayout,
    symmetry: Symmetry,
    values: ValueField,
) -> Result<ValueField, ScanFault> {
    if scan.word() != b"%%GraphBLAS" || scan.word() != b"type" {
        return Ok(values);
    }
    let name = scan.word();
    let start = scan.at - name.len();
    if matches!(values, ValueField::Pattern | ValueField::Unread) {
        return Ok(values);
    }
    let range = |least: i128, most: i128| ValueField::Integer { least, most };
    let typed = match (name, scan.word()) {
        (b"float" | b"double", more @ b"complex") => {
            return Err(complex(start, &[name, b" ", more].concat(), layout));
        }
        (b"float" | b"double" | b"FP32" | b"FP64", b"") => ValueField::Real,
        (b"bool", b"") => range(0, 1),
        (b"int8_t", b"") => range(i8::MIN.into(), i8::MAX.into()),
        (b"int16_t", b"") => range(i16::MIN.into(), i16::MAX.into()),
        (b"int32_t", b"") => range(i32::MIN.into(), i32::MAX.into()),
        (b"int64_t", b"") => range(i64::MIN.into(), i64::MAX.into()),
        (b"uint8_t", b"") => range(0, u8::MAX.into()),
        (b"uint16_t", b"") => range(0, u16::MAX.into()),
        (b"uint32_t", b"") => range(0, u32::MAX.into()),
        (b"uint64_t", b"") => range(0, u64::MAX.into()),
        _ => {
            let fault = ScanFault::new(start, "the GraphBLAS line names an unknown type");
            return Err(fault
                .expected("bool, int8_t to int64_t, uint8_t to uint64_t, float or double", name)
                .hint("remove the line: it is optional"));
        }
    };
    if let (Symmetry::Skew, ValueField::Integer { least: 0, .. }) = (symmetry, typed) {
        let fault = ScanFault::new(start, "a skew-symmetric matrix has values without a sign")
            .expected("a type with a sign", name);
        return Err(fault.hint("remove the line if its type is wrong: it is optional"));
    }
    Ok(typed)
}

fn complex(byte: usize, word: &[u8], layout: MatrixLayout) -> ScanFault {
    let fault =
        ScanFault::new(byte, "the values of the matrix are complex: an edge has no such weight")
            .expected("real, integer or pattern", word);
    fault.hint(if layout == MatrixLayout::Coordinate {
        UNREAD_HINT
    } else {
        "write its real parts or its magnitudes as a matrix that is real"
    })
}

/// How many numbers stand in the line that begins at `start`.
fn count_numbers(scan: &mut Scan, start: usize) -> usize {
    scan.at = start;
    std::iter::from_fn(|| scan.whole()).count()
}

/// Rows, which are as many as columns, and entries with their byte.
fn read_sizes(
    scan: &mut Scan,
    layout: MatrixLayout,
    symmetry: Symmetry,
) -> Result<(u64, (u64, usize)), ScanFault> {
    let expected =
        if layout == MatrixLayout::Coordinate { "ROWS COLUMNS ENTRIES" } else { "ROWS COLUMNS" };
    let mut size = |name: &str| {
        scan.skip_blanks();
        let start = scan.at;
        scan.whole().map(|size| (size, start)).ok_or_else(|| {
            ScanFault::new(start, format!("the sizes of the matrix lack their number of {name}"))
                .expected(format!("{expected}, whole numbers"), scan.word())
        })
    };
    let (rows, columns) = (size("rows")?, size("columns")?);
    let mut entries =
        if layout == MatrixLayout::Coordinate { size("entries")? } else { (0, rows.1) };
    scan.end("the sizes of the matrix have a number too many", expected, "")?;
    if rows.0 != columns.0 {
        let fault = ScanFault::new(
            rows.1,
            "the matrix is not square, so its rows and columns are not the same nodes",
        );
        let found = format!("{} x {}", rows.0, columns.0);
        let hint = if layout == MatrixLayout::Array {
            "write its entries as an edge list,  rROW cCOLUMN VALUE  a line, and add  --set \
             ingest.ids=string"
        } else {
            TWO_KINDS_HINT
        };
        return Err(fault.expected("as many rows as columns", found.as_bytes()).hint(hint));
    }
    if rows.0 > NODES_MOST {
        return Err(ScanFault::new(rows.1, "the matrix has too many rows for a graph")
            .expected(format!("at most {NODES_MOST}"), rows.0.to_string().as_bytes()));
    }
    if layout == MatrixLayout::Array {
        entries.0 = match symmetry {
            Symmetry::General => rows.0 * rows.0,
            Symmetry::Symmetric => rows.0 * (rows.0 + 1) / 2,
            Symmetry::Skew => rows.0 * rows.0.saturating_sub(1) / 2,
        };
    }
    Ok((rows.0, entries))
}

/// Reads a value that must be there.
pub fn read_value(scan: &mut Scan, values: ValueField) -> Result<f32, ScanFault> {
    let ValueField::Integer { least, most } = values else {
        return scan.finite("the value of an entry", UNREAD_HINT);
    };
    let word = scan.word();
    let start = scan.at - word.len();
    let number = std::str::from_utf8(word)
        .ok()
        .and_then(|word| word.parse::<i64>().map(i128::from).or_else(|_| word.parse()).ok());
    let what = match number {
        Some(number) if (least..=most).contains(&number) => {
            scan.rounded.check(start as u64, word, number as f32);
            return Ok(number as f32);
        }
        Some(_) => "the value of an entry is out of range",
        None if word.is_empty() => "the value of an entry is missing",
        None => "the value of an entry is not a whole number, as the header says",
    };
    let hint = match number {
        Some(_) => {
            "if the type in the %%GraphBLAS line is wrong, remove the line: it is optional".into()
        }
        None if word.is_empty() => UNREAD_HINT.into(),
        None => format!("if {} is right, write real for integer in the first line", quote(word)),
    };
    Err(ScanFault::new(start, what)
        .expected(format!("a whole number from {least} to {most}"), word)
        .hint(hint))
}
