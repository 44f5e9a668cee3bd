//! What the end-to-end tests share: a place to work in, the programs as a user starts them, and a
//! look into a store.
//!
//! promises  every program runs without a terminal, without variables of ours, and is killed after
//!           two minutes
//! never     calls a function of the product to do what a user would do at a prompt
// See `Cargo.toml`.
use proptest as _;

mod process;
mod scene;
mod store;
mod tensors;

pub use process::{Output, Running, start, started_by};
pub use scene::{Recipe, Scene, repository, shared_data};
pub use store::{Found, StoreView, folder};
pub use tensors::tensors;

/// Says that a test could not be run here, so that `tests/run.sh` lists it.
pub fn skipped(test: &str, why: &str) {
    println!("\nSKIPPED: {test}: {why}");
}

/// Whether long campaigns were asked for: `make test-long`.
pub fn long() -> bool {
    std::env::var_os("WARPLOOM_TEST_LONG").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Numbers that look random: splitmix64. The seed is printed, and `WARPLOOM_TEST_SEED` sets it.
#[derive(Clone, Debug)]
pub struct Draws(u64);

impl Draws {
    /// From the variable, else from `seed`.
    pub fn seeded(seed: u64) -> Self {
        let seed = std::env::var("WARPLOOM_TEST_SEED")
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(seed);
        println!("seed: WARPLOOM_TEST_SEED={seed}");
        Draws(seed)
    }

    /// From 0 to 1, without 1.
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
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
