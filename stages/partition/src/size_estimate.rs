//! size_estimate: the memory of a scheme, and whether there is enough.
//!
//! promises  a refusal has the scheme, both numbers and a remedy
//! never     allocates
use warploom_contract::{
    ErrorKind, StageError,
    kinds::partition::{ASCENDING_EDGES, FEATURE_ENTRIES, Padding, Scheme, TableFacts},
};
use warploom_shell::machine_limits::{memory_option, show_size};

/// The size of a scheme, known before it is allocated.
#[derive(Clone, Debug)]
pub struct Outline {
    /// The scheme with its settings.
    pub scheme: Scheme,
    /// Its tables.
    pub tables: Vec<TableFacts>,
    /// Empty places.
    pub padding: Option<Padding>,
    /// Further bytes while the tables are built.
    pub scratch_bytes: u64,
}

impl Outline {
    /// Peak bytes while it is built.
    pub fn bytes_peak(&self) -> u64 {
        self.tables.iter().map(TableFacts::bytes).sum::<u64>() + self.scratch_bytes
    }
}

/// Memory that may be used, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Room(pub u64);

impl Room {
    /// Refuses a scheme that needs more.
    pub fn refuse_beyond(self, scheme: &str, needed: u64) -> Result<(), StageError> {
        if needed <= self.0 {
            return Ok(());
        }
        let what = format!(
            "scheme `{scheme}` needs {} ({needed} bytes) of memory, and {} ({} bytes) may be used",
            show_size(needed),
            show_size(self.0),
            self.0
        );
        // No setting names these, or a program needs them.
        let other = if ["rows", FEATURE_ENTRIES, ASCENDING_EDGES].contains(&scheme) {
            String::new()
        } else {
            format!("; or leave `{scheme}` out of  partition.scheme")
        };
        let hint = memory_option(needed) + &other;
        Err(StageError::new(ErrorKind::Memory, what).at("partition.scheme").hint(hint))
    }
}
