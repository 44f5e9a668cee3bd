//! The stack machine of pickle: one opcode after the other until `STOP`.
//!
//! promises  every length is compared with the bytes that are left before anything is made
//! never     makes more than one object an opcode; follows persistent ids, extension codes or
//!           buffers outside the file
use super::{
    numpy,
    value::{Global, PickleObject, PickleValue},
};
use std::collections::HashMap;

/// What is wrong and at which byte.
pub struct PickleFault {
    pub byte: usize,
    pub what: String,
}

/// Objects and the value of the whole.
pub fn run(bytes: &[u8]) -> Result<(Vec<PickleObject>, PickleValue), PickleFault> {
    let mut machine = StackMachine {
        bytes,
        at: 0,
        stack: Vec::new(),
        marks: Vec::new(),
        memo: HashMap::new(),
        objects: Vec::new(),
        encoded: 0,
    };
    loop {
        let byte = machine.at;
        match machine.step() {
            Ok(None) => {}
            Ok(Some(root)) => return Ok((machine.objects, root)),
            Err(what) => return Err(PickleFault { byte, what }),
        }
    }
}

pub struct StackMachine<'a> {
    bytes: &'a [u8],
    at: usize,
    stack: Vec<PickleValue>,
    marks: Vec<usize>,
    memo: HashMap<u32, PickleValue>,
    pub objects: Vec<PickleObject>,
    /// Bytes made of texts: at most as many as the pickle has, for each text is there once.
    encoded: usize,
}

type MachineResult<T> = Result<T, String>;

impl<'a> StackMachine<'a> {
    /// One opcode; the value of the whole at `STOP`.
    fn step(&mut self) -> MachineResult<Option<PickleValue>> {
        let code = self.take(1)?[0];
        match code {
            b'.' => return self.pop().map(Some),
            b'(' => self.marks.push(self.stack.len()),
            b'0' => drop(self.pop()?),
            b'1' => drop(self.pop_mark()?),
            b'2' => {
                let top = self.pop()?;
                self.stack.extend([top, top]);
            }
            b'N' => self.stack.push(PickleValue::None),
            0x88 | 0x89 => self.stack.push(PickleValue::Bool(code == 0x88)),
            b'I' | b'L' | b'F' | b'J' | b'K' | b'M' | b'G' | 0x8a | 0x8b => {
                let number = self.number(code)?;
                self.stack.push(number);
            }
            b'S' | b'T' | b'U' | b'B' | b'C' | 0x8e | 0x96 => {
                let bytes = self.string(code)?;
                self.push(PickleObject::Bytes(bytes));
            }
            b'V' | b'X' | 0x8c | 0x8d => {
                let text = self.text(code)?;
                self.push(PickleObject::Text(text));
            }
            b']' | b')' | 0x8f => self.push(PickleObject::Sequence(Vec::new())),
            b'}' => self.push(PickleObject::Dict(Vec::new())),
            b'l' | b't' | 0x91 => {
                let items = self.pop_mark()?;
                self.push(PickleObject::Sequence(items));
            }
            0x85..=0x87 => {
                let items = self.pop_many(usize::from(code) - 0x84)?;
                self.push(PickleObject::Sequence(items));
            }
            b'a' | b'e' | 0x90 | b's' | b'u' | b'd' => self.collect(code)?,
            b'p' | b'q' | b'r' | 0x94 | b'g' | b'h' | b'j' => self.remember(code)?,
            b'c' | 0x93 | b'R' | b'b' | 0x81 | 0x92 => self.construct(code)?,
            0x80 => match self.take(1)?[0] {
                0..=5 => {}
                other => {
                    return Err(format!("unknown protocol: expected at most 5, found {other}"));
                }
            },
            // A frame says how much to read ahead; all is there already.
            0x95 => drop(self.take(8)?),
            b'P' | b'Q' => {
                return Err("it names an object outside the file (a persistent id)".into());
            }
            b'i' | b'o' => {
                return Err("it makes an object of a class of its own, which is not read".into());
            }
            0x82..=0x84 => return Err("it uses an extension code, which is not read".into()),
            0x97 | 0x98 => return Err("it needs a buffer outside the file".into()),
            other => return Err(format!("unknown opcode 0x{other:02x}")),
        }
        Ok(None)
    }

    fn take(&mut self, count: usize) -> MachineResult<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        if count > rest.len() {
            return Err(format!(
                "it is cut short: expected {count} more bytes, found {}",
                rest.len()
            ));
        }
        self.at += count;
        Ok(&rest[..count])
    }

    /// A length in little-endian bytes.
    fn length(&mut self, width: usize) -> MachineResult<usize> {
        let length =
            self.take(width)?.iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
        usize::try_from(length).map_err(|_| format!("a length of {length} is too large"))
    }

    /// A line without its end, as protocol 0 has them.
    fn raw_line(&mut self) -> MachineResult<&'a [u8]> {
        let length = self.bytes[self.at..]
            .iter()
            .position(|&byte| byte == b'\n')
            .ok_or("it is cut short: a line has no end")?;
        Ok(&self.take(length + 1)?[..length])
    }

    /// A line that is ASCII or UTF-8.
    fn line(&mut self) -> MachineResult<&'a str> {
        let line = std::str::from_utf8(self.raw_line()?).map_err(|_| "a line is not text")?;
        Ok(line.trim_end_matches('\r'))
    }

    fn push(&mut self, object: PickleObject) {
        self.stack.push(PickleValue::Object(self.objects.len() as u32));
        self.objects.push(object);
    }

    fn pop(&mut self) -> MachineResult<PickleValue> {
        if self.stack.len() <= self.marks.last().copied().unwrap_or(0) {
            return Err("the stack is empty".into());
        }
        self.stack.pop().ok_or_else(|| "the stack is empty".into())
    }

    fn pop_many(&mut self, count: usize) -> MachineResult<Vec<PickleValue>> {
        let mut items: Vec<PickleValue> =
            (0..count).map(|_| self.pop()).collect::<MachineResult<_>>()?;
        items.reverse();
        Ok(items)
    }

    fn pop_mark(&mut self) -> MachineResult<Vec<PickleValue>> {
        let mark = self.marks.pop().ok_or("there is no mark on the stack")?;
        Ok(self.stack.split_off(mark.min(self.stack.len())))
    }

    fn number(&mut self, code: u8) -> MachineResult<PickleValue> {
        let little = |bytes: &[u8]| {
            bytes.iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte))
        };
        Ok(match code {
            b'K' => PickleValue::Integer(i64::from(self.take(1)?[0])),
            b'M' => PickleValue::Integer(little(self.take(2)?) as i64),
            b'J' => PickleValue::Integer(i64::from(little(self.take(4)?) as u32 as i32)),
            b'G' => PickleValue::Real(f64::from_bits(little(self.take(8)?).swap_bytes())),
            0x8a | 0x8b => {
                let length = self.length(if code == 0x8a { 1 } else { 4 })?;
                let bytes = self.take(length)?;
                if length > 8 {
                    return Err("a whole number is larger than 64 bits".into());
                }
                let unused = 64 - 8 * length as u32;
                PickleValue::Integer(if length == 0 {
                    0
                } else {
                    ((little(bytes) << unused) as i64) >> unused
                })
            }
            b'F' => PickleValue::Real(self.line()?.trim().parse().map_err(|_| "a number is none")?),
            _ => match self.line()?.trim() {
                "01" => PickleValue::Bool(true),
                "00" => PickleValue::Bool(false),
                line => PickleValue::Integer(
                    line.trim_end_matches('L')
                        .parse()
                        .map_err(|_| "a whole number is none, or larger than 64 bits")?,
                ),
            },
        })
    }

    fn string(&mut self, code: u8) -> MachineResult<Vec<u8>> {
        let width = match code {
            b'S' => return unquote(self.line()?),
            b'U' | b'C' => 1,
            b'T' | b'B' => 4,
            _ => 8,
        };
        let length = self.length(width)?;
        Ok(self.take(length)?.to_vec())
    }

    fn text(&mut self, code: u8) -> MachineResult<String> {
        let width = match code {
            b'V' => return unescape_unicode(self.raw_line()?),
            0x8c => 1,
            b'X' => 4,
            _ => 8,
        };
        let length = self.length(width)?;
        String::from_utf8(self.take(length)?.to_vec()).map_err(|_| "a text is not UTF-8".into())
    }

    /// Puts items into a list or pairs into a dict.
    fn collect(&mut self, code: u8) -> MachineResult<()> {
        let items = match code {
            b'a' => self.pop_many(1)?,
            b's' => self.pop_many(2)?,
            _ => self.pop_mark()?,
        };
        if matches!(code, b'a' | b'e' | 0x90) {
            return match self.top()? {
                PickleObject::Sequence(list) => {
                    list.extend(items);
                    Ok(())
                }
                _ => Err("items are put into something that is no list".into()),
            };
        }
        if items.len() % 2 == 1 {
            return Err("a dict has a key without a value".into());
        }
        let pairs = items.chunks_exact(2).map(|pair| (pair[0], pair[1]));
        if code == b'd' {
            self.push(PickleObject::Dict(pairs.collect()));
            return Ok(());
        }
        match self.top()? {
            PickleObject::Dict(dict) => {
                dict.extend(pairs);
                Ok(())
            }
            _ => Err("pairs are put into something that is no dict".into()),
        }
    }

    fn top(&mut self) -> MachineResult<&mut PickleObject> {
        match self.stack.last() {
            Some(PickleValue::Object(index)) => {
                self.objects.get_mut(*index as usize).ok_or_else(|| "an object is missing".into())
            }
            _ => Err("there is no object on the stack".into()),
        }
    }

    /// Moves values between the stack and the memo.
    fn remember(&mut self, code: u8) -> MachineResult<()> {
        let index = match code {
            b'p' | b'g' => {
                self.line()?.trim().parse().map_err(|_| "a place in the memo is no number")?
            }
            b'q' | b'h' => u32::from(self.take(1)?[0]),
            0x94 => self.memo.len() as u32,
            _ => self.length(4)? as u32,
        };
        if matches!(code, b'g' | b'h' | b'j') {
            let value = self
                .memo
                .get(&index)
                .copied()
                .ok_or_else(|| format!("nothing is remembered at {index}"))?;
            self.stack.push(value);
        } else {
            let value = *self.stack.last().ok_or("the stack is empty")?;
            self.memo.insert(index, value);
        }
        Ok(())
    }

    /// Opcodes that name a class or make an object of one.
    fn construct(&mut self, code: u8) -> MachineResult<()> {
        match code {
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                let global = Global::named(module, name)?;
                self.push(PickleObject::Global(global));
            }
            0x93 => {
                let names = self.pop_many(2)?;
                let global = match (self.object(names[0]), self.object(names[1])) {
                    (Some(PickleObject::Text(module)), Some(PickleObject::Text(name))) => {
                        Global::named(module, name)?
                    }
                    _ => return Err("a class is named by something that is no text".into()),
                };
                self.push(PickleObject::Global(global));
            }
            b'b' => {
                let state = self.pop()?;
                let target = *self.stack.last().ok_or("the stack is empty")?;
                numpy::build(&mut self.objects, target, state)?;
            }
            _ => {
                // NEWOBJ_EX has keyword arguments on top; the classes that are known take none.
                if code == 0x92 {
                    self.pop()?;
                }
                let pair = self.pop_many(2)?;
                let made = numpy::call(&self.objects, pair[0], pair[1])?;
                if let numpy::CallResult::Object(PickleObject::Bytes(bytes)) = &made {
                    self.encoded += bytes.len();
                    if self.encoded > self.bytes.len() {
                        return Err("it makes bytes of one text again and again".into());
                    }
                }
                match made {
                    numpy::CallResult::Value(value) => self.stack.push(value),
                    numpy::CallResult::Object(object) => self.push(object),
                }
            }
        }
        Ok(())
    }

    fn object(&self, value: PickleValue) -> Option<&PickleObject> {
        match value {
            PickleValue::Object(index) => self.objects.get(index as usize),
            _ => None,
        }
    }
}

/// The bytes of a quoted string of protocol 0, as Python's `repr` writes it.
fn unquote(line: &str) -> MachineResult<Vec<u8>> {
    let line = line.trim();
    let quoted = ['\'', '"']
        .into_iter()
        .find_map(|quote| line.strip_prefix(quote)?.strip_suffix(quote))
        .ok_or("a string is not quoted")?;
    let mut bytes = Vec::with_capacity(quoted.len());
    let mut rest = quoted.as_bytes();
    while let Some((&first, more)) = rest.split_first() {
        rest = more;
        if first != b'\\' {
            bytes.push(first);
            continue;
        }
        let (&escaped, more) = rest.split_first().ok_or("a string ends in a backslash")?;
        rest = more;
        bytes.push(match escaped {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'x' => {
                let digits = rest
                    .get(..2)
                    .and_then(|digits| std::str::from_utf8(digits).ok())
                    .ok_or("an escape in a string is cut short")?;
                rest = &rest[2..];
                u8::from_str_radix(digits, 16)
                    .map_err(|_| "an escape in a string is not hexadecimal")?
            }
            other => other,
        });
    }
    Ok(bytes)
}

/// The text of a line of protocol 0: Latin-1, other signs written as `\uXXXX` or `\UXXXXXXXX`.
fn unescape_unicode(line: &[u8]) -> MachineResult<String> {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((&first, more)) = rest.split_first() {
        let digits = match (first, more.first()) {
            (b'\\', Some(b'u')) => 4,
            (b'\\', Some(b'U')) => 8,
            _ => {
                text.push(char::from(first));
                rest = more;
                continue;
            }
        };
        let code = more
            .get(1..=digits)
            .and_then(|digits| u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        let code = code.ok_or("an escape in a text is not hexadecimal")?;
        text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        rest = &more[digits + 1..];
    }
    Ok(text)
}
