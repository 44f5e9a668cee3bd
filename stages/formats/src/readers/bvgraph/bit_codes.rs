//! Bits of a stream and the instantaneous codes of numbers in it.
//!
//! promises  never reads a number that the stream does not hold whole

/// A way to write a number from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// So many zeros and a one.
    Unary,
    /// The bits of the number + 1, their count in unary first.
    Gamma,
    /// The same with the count in gamma.
    Delta,
    /// Zeta with its k: power-law numbers.
    Zeta(u32),
    /// Three bits at a time, before the last three a one and before the others a zero.
    Nibble,
}

/// Why there is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrokenCode {
    /// The stream ends in it.
    End,
    /// It needs more than 63 bits.
    Large,
}

/// A place in a stream; `LITTLE`: the first bit of a byte is its lowest.
pub struct Bits<const LITTLE: bool> {
    /// The stream and eight zeros.
    bytes: Vec<u8>,
    length: u64,
    at: u64,
}

/// Zeros behind the stream, so that eight bytes can be taken anywhere in it.
const PADDING: usize = 8;
/// Bits that one look shows at least.
const SEEN: u32 = 57;

impl<const LITTLE: bool> Bits<LITTLE> {
    /// At the first bit.
    pub fn new(mut bytes: Vec<u8>) -> Self {
        let length = bytes.len() as u64 * 8;
        bytes.extend([0; PADDING]);
        Bits { bytes, length, at: 0 }
    }

    /// Bits in the stream.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The bit that is read next.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// The next 57 bits or more: at the top of the word, or with `LITTLE` at its bottom. Never
    /// called behind the end.
    fn look(&self) -> u64 {
        let byte = (self.at / 8) as usize;
        let mut word = [0; 8];
        word.copy_from_slice(&self.bytes[byte..byte + 8]);
        if LITTLE {
            u64::from_le_bytes(word) >> (self.at % 8)
        } else {
            u64::from_be_bytes(word) << (self.at % 8)
        }
    }

    fn step(&mut self, bits: u32) -> Result<(), BrokenCode> {
        self.at += u64::from(bits);
        if self.at <= self.length {
            return Ok(());
        }
        self.at = self.length;
        Err(BrokenCode::End)
    }

    /// A number of so many bits, at most 63.
    fn plain(&mut self, bits: u32) -> Result<u64, BrokenCode> {
        if bits == 0 {
            return Ok(0);
        }
        if bits > SEEN {
            let (one, two) = (bits / 2, bits - bits / 2);
            let (first, second) = (self.plain(one)?, self.plain(two)?);
            return Ok(if LITTLE { first | second << one } else { first << two | second });
        }
        let word = self.look();
        self.step(bits)?;
        Ok(if LITTLE { word & (u64::MAX >> (64 - bits)) } else { word >> (64 - bits) })
    }

    fn unary(&mut self) -> Result<u64, BrokenCode> {
        let mut zeros = 0;
        loop {
            let word = self.look();
            let seen = if LITTLE { word.trailing_zeros() } else { word.leading_zeros() };
            if seen < SEEN {
                self.step(seen + 1)?;
                return Ok(zeros + u64::from(seen));
            }
            self.step(SEEN)?;
            zeros += u64::from(SEEN);
        }
    }

    fn gamma(&mut self) -> Result<u64, BrokenCode> {
        let bits = self.unary()?;
        self.below_one(bits)
    }

    /// The number of which all bits but the first, of `bits + 1`, follow; less 1.
    fn below_one(&mut self, bits: u64) -> Result<u64, BrokenCode> {
        if bits > 62 {
            return Err(BrokenCode::Large);
        }
        Ok((1 << bits | self.plain(bits as u32)?) - 1)
    }

    fn zeta(&mut self, k: u32) -> Result<u64, BrokenCode> {
        let height = self.unary()?;
        let bits = height
            .checked_mul(u64::from(k))
            .filter(|bits| bits + u64::from(k) <= 63)
            .ok_or(BrokenCode::Large)? as u32;
        let left = 1 << bits;
        let first = self.plain(bits + k - 1)?;
        // A number below `left` has one bit less than the others.
        if first < left { Ok(first + left - 1) } else { Ok((first << 1 | self.plain(1)?) - 1) }
    }

    fn nibble(&mut self) -> Result<u64, BrokenCode> {
        let mut value = 0u64;
        loop {
            let last = self.plain(1)? == 1;
            if value >> 60 != 0 {
                return Err(BrokenCode::Large);
            }
            value = value << 3 | self.plain(3)?;
            if last {
                return Ok(value);
            }
        }
    }

    /// The next number.
    pub fn number(&mut self, code: Code) -> Result<u64, BrokenCode> {
        match code {
            Code::Unary => self.unary(),
            Code::Gamma => self.gamma(),
            Code::Delta => {
                let bits = self.gamma()?;
                self.below_one(bits)
            }
            Code::Zeta(k) => self.zeta(k),
            Code::Nibble => self.nibble(),
        }
    }
}

/// The whole number that a number from 0 stands for: 0, -1, 1, -2, 2, ...
pub fn signed(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}
