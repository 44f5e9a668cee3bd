//! draws: numbers that look random and follow from a seed (splitmix64).
//!
//! promises  the same numbers for the same seed, on every machine
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// A stream of numbers.
#[derive(Clone, Debug)]
pub struct Draws(u64);

impl Draws {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Draws {
        Draws(seed ^ STEP)
    }

    /// The same, where seeds are small numbers in a row.
    pub fn spread(seed: u64) -> Draws {
        Draws(seed.wrapping_mul(STEP))
    }

    /// From `WARPLOOM_TEST_SEED`, else from `seed`; whichever it is, is printed.
    pub fn seeded(seed: u64) -> Draws {
        let seed = std::env::var("WARPLOOM_TEST_SEED")
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(seed);
        println!("seed: WARPLOOM_TEST_SEED={seed}");
        Draws(seed)
    }

    /// Another stream, which depends on where this one is and does not move it.
    pub fn fork(&self) -> Draws {
        Draws::new(self.0.rotate_left(32))
    }

    /// All 64 bits of the next number.
    pub fn bits(&mut self) -> u64 {
        let bits = mixed(self.0);
        self.0 = self.0.wrapping_add(STEP);
        bits
    }

    /// A whole number below `end`; 0 where that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % end.max(1) as u64) as usize
    }

    /// One of these.
    pub fn one_of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    /// From 0 to 1, without 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// From -1 to 1, without 1.
    pub fn real(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// From -1 to 1, and at least 0.05 away from 0.
    pub fn nonzero_real(&mut self) -> f64 {
        let size = 0.05 + 0.95 * self.unit();
        if self.bits().is_multiple_of(2) { size } else { -size }
    }

    /// So many of `nonzero_real`.
    pub fn nonzero_reals(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.nonzero_real()).collect()
    }

    /// An edge list of pairs of which some targets have many.
    pub fn edge_list(&mut self, edges: u32, nodes: f64) -> String {
        let mut line = || {
            format!(
                "{} {}\n",
                (self.unit() * nodes) as u64,
                (self.unit() * self.unit() * nodes) as u64
            )
        };
        (0..edges).map(|_| line()).collect()
    }
}

/// Well mixed bits of a number.
pub fn mixed(number: u64) -> u64 {
    let mut bits = number.wrapping_add(STEP);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// A number in [-1, 1) that depends on the seed and the index alone.
pub fn drawn(seed: u64, index: usize) -> f64 {
    (mixed(seed ^ mixed(index as u64)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}
