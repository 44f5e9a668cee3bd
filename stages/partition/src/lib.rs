//! partition: divide the work over a permuted csr.
//!
//! reads   csr                                keeps   every row, in order, in exactly one unit of each direction
//! writes  partition                          bounds  memory 4 bytes a unit
//! never   copies an edge
pub mod schemes;

use warploom_contract::{
    Context, Contract, Inputs, Kind, Outputs, Stage, StageError, Violation,
    kinds::{
        csr::Csr,
        partition::{self, Partition, Scheme},
    },
};
use warploom_shell::contracts;
use warploom_spec::PartitionSpec;

/// The stage.
pub struct PartitionStage;

impl Stage for PartitionStage {
    type Request = PartitionSpec;
    const CONTRACT: Contract = contracts::PARTITION;

    fn run(_context: &Context, outputs: &mut Outputs, inputs: &Inputs, request: &PartitionSpec) -> Result<(), StageError> {
        let csr = Csr::open(inputs.get(Kind::Csr)?)?;
        let incoming = schemes::rows::divide(&csr.incoming.offsets, request.unit_edges);
        let outgoing = schemes::rows::divide(&csr.outgoing.offsets, request.unit_edges);
        let unit_edges_max = schemes::rows::largest(&csr.incoming.offsets, &incoming).max(schemes::rows::largest(&csr.outgoing.offsets, &outgoing));
        let why = match request.scheme {
            warploom_spec::Scheme::Rows => "asked for",
            warploom_spec::Scheme::Auto => "the one scheme that the CPU executor reads",
        };
        let scheme =
            Scheme::Rows { unit_edges: request.unit_edges, units: [incoming.len() as u64 - 1, outgoing.len() as u64 - 1], unit_edges_max, why: why.to_owned() };
        partition::write_rows(outputs, &Partition { parts: request.parts, schemes: vec![scheme] }, incoming, outgoing)
    }

    /// Gives every row to the unit that claims it and counts: each row once, and no unit of several rows above the aim.
    fn check(_context: &Context, outputs: &Inputs, inputs: &Inputs, request: &PartitionSpec) -> Result<(), Violation> {
        let csr = Csr::open(inputs.get(Kind::Csr)?)?;
        let units = partition::open_rows(outputs.get(Kind::Partition)?)?;
        for (side, offsets, starts) in [("in", &csr.incoming.offsets, &units.incoming), ("out", &csr.outgoing.offsets, &units.outgoing)] {
            schemes::rows::prove(side, offsets, starts, request.unit_edges)?;
        }
        Ok(())
    }
}
