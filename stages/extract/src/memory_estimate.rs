//! memory_estimate: whether there is memory for the edges of a graph and its csr.
//!
//! promises  a refusal has both numbers and the option that admits the graph
//! never     refuses a graph that fits: it counts what is there at once in any graph; communities
//!           may need more
use warploom_contract::{ErrorKind, StageError};
use warploom_shell::machine_limits::{memory_option, show_size};

/// Two ends of an edge in the table, and its far end and its number in each direction.
const BYTES_OF_EDGE: u64 = 2 * 4 + 2 * (4 + 8);
/// The offset of a row in each direction.
const BYTES_OF_NODE: u64 = 2 * 8;

/// Refuses a graph that needs more than the memory that may be used.
pub fn refuse_too_large(nodes: u64, edges: u64, memory: u64) -> Result<(), StageError> {
    let of_edges = edges.saturating_mul(BYTES_OF_EDGE);
    let needed = of_edges.saturating_add(nodes.saturating_mul(BYTES_OF_NODE));
    if needed <= memory {
        return Ok(());
    }
    let what = format!(
        "the edges of the graph, in a table and in both directions, need at least {} ({needed} \
         bytes) of memory, and {} ({memory} bytes) may be used",
        show_size(needed),
        show_size(memory)
    );
    Err(StageError::new(ErrorKind::Memory, what).hint(memory_option(needed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_beyond_the_limit_is_refused_with_what_it_needs() {
        assert_eq!(refuse_too_large(10, 100, 3360), Ok(()));
        let error = refuse_too_large(10, 100, 3359).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Memory);
        assert!(error.what.contains("(3360 bytes)") && error.what.contains("(3359 bytes)"));
        assert!(error.hint.unwrap().contains("--memory"));
        assert!(refuse_too_large(u64::MAX, u64::MAX, u64::MAX - 1).is_err());
    }
}
