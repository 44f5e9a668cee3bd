//! The properties of a BVGraph: `key=value` lines.
use super::bit_codes::Code;
use crate::{
    containers::decompress::PlainFile,
    raw_graph::NODES_MOST,
    read_error::{Read, ReadError},
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The largest properties file; real ones have a kilobyte or two.
const BYTES_MOST: usize = 1 << 20;

/// What decoding needs to know.
#[derive(Clone, Debug, PartialEq)]
pub struct Properties {
    pub nodes: u32,
    pub arcs: u64,
    /// How far back a list may be referred to; 0: lists are never referred to.
    pub window: u64,
    /// The shortest interval; 0: there are none.
    pub interval_least: u64,
    pub outdegrees: Code,
    pub references: Code,
    pub block_counts: Code,
    pub blocks: Code,
    pub intervals: Code,
    pub residuals: Code,
    /// The first bit of a byte is its lowest.
    pub little: bool,
}

impl Properties {
    /// Reads the file.
    pub fn read(path: &Path) -> Read<Properties> {
        let mut text = Vec::new();
        if PlainFile::open(path)?.fill(&mut text, BYTES_MOST + 1)? > BYTES_MOST {
            return Err(Box::new(
                ReadError::new(path, "the properties file is too large")
                    .expected(format!("at most {BYTES_MOST} bytes"), "more"),
            ));
        }
        let lines = PropertyLines::new(path, &text);
        lines.check_class()?;
        let nodes =
            lines.number("nodes", NODES_MOST)?.ok_or_else(|| lines.missing("nodes"))? as u32;
        let k = lines.number("zetak", 62)?.unwrap_or(3) as u32;
        let little = match lines.word("endianness") {
            None | Some(("big", ..)) => false,
            Some(("little", ..)) => true,
            Some((word, line)) => {
                return Err(Box::new(
                    lines
                        .error("the order of bits is unknown", line)
                        .expected("big or little", format!("`{word}`")),
                ));
            }
        };
        let mut properties = Properties {
            nodes,
            arcs: lines.number("arcs", u64::MAX)?.ok_or_else(|| lines.missing("arcs"))?,
            window: lines
                .number("windowsize", u64::MAX)?
                .ok_or_else(|| lines.missing("windowsize"))?,
            interval_least: lines
                .number("minintervallength", u32::MAX.into())?
                .ok_or_else(|| lines.missing("minintervallength"))?,
            outdegrees: Code::Gamma,
            references: Code::Unary,
            block_counts: Code::Gamma,
            blocks: Code::Gamma,
            intervals: Code::Gamma,
            residuals: Code::Zeta(k.max(1)),
            little,
        };
        // WebGraph for Rust, which alone writes the order of bits, has one code for blocks and
        // their count.
        let one_for_blocks = lines.word("endianness").is_some();
        let (flags, line) = lines.word("compressionflags").unwrap_or_default();
        for flag in flags.split('|').map(str::trim).filter(|flag| !flag.is_empty()) {
            properties.set(flag, k.max(1), one_for_blocks).map_err(|expected| {
                lines
                    .error("the compression flags name an unknown code", line)
                    .expected(expected, format!("`{flag}`"))
            })?;
        }
        Ok(properties)
    }

    /// Takes one compression flag; the error says what is known.
    fn set(&mut self, flag: &str, k: u32, one_for_blocks: bool) -> Result<(), &'static str> {
        let (part, code) = flag.rsplit_once('_').unwrap_or((flag, ""));
        let code = match code {
            "UNARY" => Code::Unary,
            "GAMMA" => Code::Gamma,
            "DELTA" => Code::Delta,
            "NIBBLE" => Code::Nibble,
            "ZETA" => Code::Zeta(k),
            _ => match code.strip_prefix("ZETA").and_then(|k| k.parse().ok()) {
                Some(k @ 1..=62) => Code::Zeta(k),
                _ => return Err("UNARY, GAMMA, DELTA, ZETA or NIBBLE (others are not read)"),
            },
        };
        match part {
            "OUTDEGREES" => self.outdegrees = code,
            "REFERENCES" => self.references = code,
            "BLOCK_COUNT" => self.block_counts = code,
            "BLOCKS" if one_for_blocks => (self.blocks, self.block_counts) = (code, code),
            "BLOCKS" => self.blocks = code,
            "INTERVALS" => self.intervals = code,
            "RESIDUALS" => self.residuals = code,
            // The codes of another file.
            "OFFSETS" => {}
            _ => {
                return Err(
                    "a code for OUTDEGREES, REFERENCES, BLOCK_COUNT, BLOCKS, INTERVALS, RESIDUALS \
                     or OFFSETS",
                );
            }
        }
        Ok(())
    }
}

/// The values by key, with their lines.
struct PropertyLines<'a> {
    path: PathBuf,
    text: &'a [u8],
    values: BTreeMap<&'a str, (&'a str, u64)>,
}

impl<'a> PropertyLines<'a> {
    fn new(path: &Path, text: &'a [u8]) -> Self {
        let mut values = BTreeMap::new();
        for (line, bytes) in (1..).zip(text.split(|&byte| byte == b'\n')) {
            let line_text = std::str::from_utf8(bytes).unwrap_or_default().trim();
            if let Some((key, value)) = line_text.split_once('=')
                && !line_text.starts_with(['#', '!'])
            {
                values.insert(key.trim(), (value.trim(), line));
            }
        }
        PropertyLines { path: path.to_path_buf(), text, values }
    }

    fn word(&self, key: &str) -> Option<(&'a str, u64)> {
        self.values.get(key).copied()
    }

    fn error(&self, what: &str, line: u64) -> ReadError {
        let text = self
            .text
            .split(|&byte| byte == b'\n')
            .nth(line.saturating_sub(1) as usize)
            .unwrap_or_default();
        let column = text.iter().position(|&byte| byte == b'=').map_or(1, |equals| equals + 2);
        ReadError::new(&self.path, what).at_line(line, column as u64, text)
    }

    fn missing(&self, key: &str) -> Box<ReadError> {
        Box::new(
            ReadError::new(&self.path, format!("the properties lack `{key}`"))
                .expected(format!("a line  {key}=NUMBER"), "none"),
        )
    }

    fn number(&self, key: &str, most: u64) -> Read<Option<u64>> {
        let Some((word, line)) = self.word(key) else { return Ok(None) };
        match word.parse() {
            Ok(number) if number <= most => Ok(Some(number)),
            _ => {
                let error =
                    self.error(&format!("the property `{key}` is no number that can be"), line);
                Err(Box::new(
                    error.expected(format!("a whole number from 0 to {most}"), format!("`{word}`")),
                ))
            }
        }
    }

    /// Only the class and versions that are read.
    fn check_class(&self) -> Read<()> {
        let (class, line) = self.word("graphclass").ok_or_else(|| {
            Box::new(
                ReadError::new(&self.path, "the properties do not name a class")
                    .expected("a line  graphclass=it.unimi.dsi.webgraph.BVGraph", "none"),
            )
        })?;
        if class.rsplit('.').next() != Some("BVGraph") {
            let error = self
                .error("the graph is of a class that is not read", line)
                .expected("a BVGraph", format!("`{class}`"));
            return Err(Box::new(error.hint(
                "convert it with WebGraph:  java it.unimi.dsi.webgraph.BVGraph -g CLASS NAME NEW",
            )));
        }
        if let Some((version, line)) = self.word("version")
            && !matches!(version, "0" | "1")
        {
            return Err(Box::new(
                self.error("the BVGraph has a newer version", line)
                    .expected("0 or 1", format!("`{version}`")),
            ));
        }
        Ok(())
    }
}
