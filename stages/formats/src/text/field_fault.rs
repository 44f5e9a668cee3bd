//! What is wrong with a field of a line, and the error that shows it.
use super::blocks::{LINE_MOST, count};
use crate::read_error::ReadError;
use std::{borrow::Cow, path::Path};

/// What is wrong and where.
pub struct FieldFault {
    pub byte: usize,
    pub what: Cow<'static, str>,
    pub expected: String,
    pub found: String,
    pub hint: Cow<'static, str>,
}

impl FieldFault {
    pub fn new(
        byte: usize,
        what: impl Into<Cow<'static, str>>,
        hint: impl Into<Cow<'static, str>>,
    ) -> FieldFault {
        FieldFault {
            byte,
            what: what.into(),
            expected: String::new(),
            found: String::new(),
            hint: hint.into(),
        }
    }

    pub fn against(self, expected: impl Into<String>, found: &[u8]) -> FieldFault {
        let clipped = String::from_utf8_lossy(&found[..found.len().min(40)]).into_owned();
        let found =
            if found.is_empty() { "the end of the line".into() } else { format!("`{clipped}`") };
        FieldFault { expected: expected.into(), found, ..self }
    }

    pub fn too_long(byte: usize) -> FieldFault {
        let fault =
            FieldFault::new(byte, "a line is too long", "is this a text file with an edge a line?");
        FieldFault {
            expected: format!("at most {} MiB", LINE_MOST >> 20),
            found: "more".into(),
            ..fault
        }
    }
}

/// The error for a fault in a text that was read as a whole.
pub fn error_at(path: &Path, text: &[u8], fault: &FieldFault) -> Box<ReadError> {
    let byte = fault.byte.min(text.len());
    let start = text[..byte].iter().rposition(|&byte| byte == b'\n').map_or(0, |before| before + 1);
    let line = text[start..].split(|&byte| byte == b'\n').next().unwrap_or(b"");
    let error = ReadError::new(path, fault.what.clone()).at_line(
        1 + count(&text[..start]),
        (byte - start) as u64 + 1,
        line,
    );
    Box::new(error.expected(fault.expected.clone(), fault.found.clone()).hint(fault.hint.clone()))
}
