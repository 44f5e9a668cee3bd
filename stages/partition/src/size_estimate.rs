//! What a scheme will take, and whether that is there.
//!
//! promises  a refusal has the scheme, both numbers and the way out
//! never     allocates
use warploom_contract::{
    ErrorKind, StageError,
    kinds::partition::{Padding, Scheme, TableFacts},
};
use warploom_shell::machine_limits::{memory_option, show_size};

/// What a scheme will take, known before any of it is allocated.
#[derive(Clone, Debug)]
pub struct Outline {
    /// With its settings.
    pub scheme: Scheme,
    /// Its tables.
    pub tables: Vec<TableFacts>,
    /// What lies empty.
    pub padding: Option<Padding>,
    /// Bytes that making them takes beside them.
    pub scratch_bytes: u64,
}

impl Outline {
    /// Bytes that are in use at most while it is made.
    pub fn bytes_peak(&self) -> u64 {
        self.tables.iter().map(TableFacts::bytes).sum::<u64>() + self.scratch_bytes
    }
}

/// Memory that may be used.
#[derive(Clone, Copy, Debug)]
pub struct Room(pub u64);

impl Room {
    /// Refuses what needs more.
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
        // Rows are there whatever is asked for.
        let other = if scheme == "rows" {
            String::new()
        } else {
            format!("; or leave `{scheme}` out of  partition.scheme")
        };
        let hint = memory_option(needed) + &other;
        Err(StageError::new(ErrorKind::Memory, what).at("partition.scheme").hint(hint))
    }
}
