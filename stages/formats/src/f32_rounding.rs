//! Whole numbers of a file that f32 does not hold, counted for a note.
//!
//! promises  the count and the first place are those of the file for any cut into pieces

/// Whole numbers that became others because f32 holds 24 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundedIntegers {
    /// How many.
    pub count: u64,
    /// The first one's place, from 1.
    pub first: Option<u64>,
}

impl RoundedIntegers {
    /// Takes in the number of this place, if the word for it was a whole one that `read` is not.
    pub fn check(&mut self, place: u64, word: &[u8], read: f32) {
        if read.abs() < 16_777_216.0 {
            return;
        }
        let digits = word.strip_prefix(b"-").or(word.strip_prefix(b"+")).unwrap_or(word);
        let whole = digits
            .iter()
            .position(|&byte| byte == b'.')
            .filter(|&point| digits[point + 1..].iter().all(|&byte| byte == b'0'))
            .map_or(digits, |point| &digits[..point]);
        let exact = std::str::from_utf8(whole)
            .ok()
            .filter(|whole| whole.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|whole| whole.parse::<u128>().ok());
        self.add(place, exact.is_some_and(|exact| exact != read.abs() as u128));
    }

    /// Counts a number of this place, if it is another one now.
    pub fn add(&mut self, place: u64, is_other: bool) {
        if is_other {
            self.count += 1;
            self.first = self.first.or(Some(place));
        }
    }

    /// Takes in those of a part that begins behind `before` places.
    pub fn join(&mut self, part: RoundedIntegers, before: u64) {
        self.count += part.count;
        self.first = self.first.or(part.first.map(|place| before + place));
    }

    /// The note for people, if there are any.
    pub fn note(&self, what: &str, place: &str) -> Option<String> {
        let first = self.first?;
        Some(format!(
            "{} {what} are whole numbers above 16777216 that f32 does not hold, and were rounded \
             to 24 bits; the first is in {place} {first}",
            self.count
        ))
    }
}
