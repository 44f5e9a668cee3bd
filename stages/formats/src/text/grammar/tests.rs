//! Blocks, pieces and words, apart from any format.
use super::*;
use crate::read_error::Place;
use std::fs;

/// Lines of one number; `=` begins the body.
#[derive(Default, Debug, PartialEq)]
struct Numbers {
    header_lines: u64,
    all: Vec<u64>,
}

impl Grammar for Numbers {
    type Chunk = Vec<u64>;

    fn header(&mut self, lines: &[u8], before: u64) -> Result<Option<usize>, ScanFault> {
        assert_eq!(before, self.header_lines);
        let begins = lines.windows(2).position(|pair| pair == b"=\n").map(|at| at + 2);
        self.header_lines += count(&lines[..begins.unwrap_or(lines.len())]);
        Ok(begins)
    }

    fn body(&self, scan: &mut Scan<'_>, numbers: &mut Vec<u64>) -> Result<(), ScanFault> {
        while scan.more() {
            if !scan.line_ends() {
                let at = scan.at;
                numbers.push(
                    scan.whole()
                        .ok_or_else(|| ScanFault::new(at, "no number").expected("one", b"x"))?,
                );
            }
            scan.next_line();
        }
        Ok(())
    }

    fn accept(&mut self, piece: Vec<u64>, lines: &[u8]) -> Result<(), ScanFault> {
        if piece.contains(&999) {
            return Err(ScanFault::new(
                nth_line(
                    lines,
                    piece.iter().position(|&number| number == 999).unwrap() as u64,
                    |line| line[0] != b'\n',
                ),
                "999 is refused",
            ));
        }
        self.all.extend(piece);
        Ok(())
    }
}

fn numbers(text: &[u8], sizes: BlockSizes) -> Read<Numbers> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("numbers");
    fs::write(&path, text).unwrap();
    let mut numbers = Numbers::default();
    parse(&path, &mut numbers, sizes)?;
    Ok(numbers)
}

const CUTS: [BlockSizes; 3] =
    [SIZES, BlockSizes { block: 1, piece: 1 }, BlockSizes { block: 5, piece: 2 }];

#[test]
fn header_and_body_come_whole_for_every_cut() {
    for sizes in CUTS {
        let read = numbers(b"\xef\xbb\xbfsome\nheader\n=\n1\r\n\n 22 \n333", sizes).unwrap();
        assert_eq!(read, Numbers { header_lines: 3, all: vec![1, 22, 333] });
        assert_eq!(numbers(b"", sizes).unwrap(), Numbers::default());
    }
}

#[test]
fn the_first_fault_of_the_file_is_told_with_its_line() {
    for sizes in CUTS {
        for (text, line, column) in [
            ("=\n1\n\n 2x\n3y\n", 4, 2),
            ("h\n=\n1\n2\n999\nx\n", 5, 1),
            ("=\nx\n999\n", 2, 1),
            ("=\n\n18446744073709551616", 3, 1),
        ] {
            assert_eq!(
                numbers(text.as_bytes(), sizes).unwrap_err().place,
                Place::Line { line, column },
                "{text:?}"
            );
        }
    }
}

#[test]
fn utf_16_and_lines_without_end_are_refused() {
    assert!(numbers(b"\xff\xfe1\0", SIZES).unwrap_err().what.contains("UTF-16"));
    let mut text = b"=\n1\n".to_vec();
    text.resize(LINE_MOST + 5, b' ');
    text.push(b'\n');
    for more in [0, 20 << 20] {
        text.resize(text.len() + more, b'7');
        let error = numbers(&text, SIZES).unwrap_err();
        assert!(
            error.what.contains("too long") && error.place == Place::Line { line: 3, column: 1 },
            "{error}"
        );
    }
}

#[test]
fn packed_files_are_read_and_cut_ones_are_named() {
    let plain: String = "=\n"
        .chars()
        .chain((0..30_000).flat_map(|number| {
            format!("{}\n", number * 7919 % 30_011 + 1000).chars().collect::<Vec<_>>()
        }))
        .collect();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, plain.as_bytes()).unwrap();
    let gzip = encoder.finish().unwrap();
    let zstd = zstd::encode_all(plain.as_bytes(), 1).unwrap();
    let expected = numbers(plain.as_bytes(), SIZES).unwrap();
    for packed in [gzip, zstd] {
        for sizes in [SIZES, BlockSizes { block: 1000, piece: 77 }] {
            assert_eq!(numbers(&packed, sizes).unwrap(), expected);
            let error = numbers(&packed[..packed.len() / 2], sizes).unwrap_err();
            assert!(
                error.what.contains("cut short")
                    && error.place == Place::Byte(packed.len() as u64 / 2),
                "{error}"
            );
        }
    }
}

#[test]
fn rows_and_weights_say_what_is_wrong_with_them() {
    let row = |text: &str, first| {
        Scan::new(text.as_bytes())
            .row("the end", first, 3)
            .map_err(|fault| (fault.byte, fault.what, fault.expected))
    };
    assert_eq!((row("1", 1), row(" 3\n", 1), row("0 ", 0)), (Ok(0), Ok(2), Ok(0)));
    for (text, first, byte, what) in [
        ("0", 1, 0, "out of range"),
        (" 4", 1, 1, "out of range"),
        ("3", 0, 0, "out of range"),
        ("", 1, 0, "missing"),
        ("2x", 1, 0, "not a number"),
    ] {
        let (at, said, expected) = row(text, first).unwrap_err();
        assert!(
            at == byte && said.ends_with(what) && expected == format!("{first} to {}", first + 2),
            "{text}: {said}"
        );
    }
    assert!(
        row("-1", 1).unwrap_err().1.contains("not a number")
            && row("99999999999999999999", 1).unwrap_err().1.contains("out of range")
    );
    let finite =
        |text: &str| Scan::new(text.as_bytes()).finite("w", "h").map_err(|fault| fault.what);
    assert_eq!((finite("1.5"), finite("-.25e1"), finite("+3.")), (Ok(1.5), Ok(-2.5), Ok(3.0)));
    for text in ["nan", "inf", "-Infinity", "1e39"] {
        assert!(finite(text).unwrap_err().contains("not finite"), "{text}");
    }
    assert!(
        finite("1,5").unwrap_err().contains("not a number")
            && finite("\n1").unwrap_err().contains("missing")
    );
}
