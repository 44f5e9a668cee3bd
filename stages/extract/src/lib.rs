//! extract: the stage that builds the CSR of a graph in both directions, and its profile.
//!
//! reads     graph
//! writes    csr, profile
//! promises  every edge is once in each direction, with its id, weight and type
//! never     merges, drops or renumbers anything; lets labels or features change a row; begins
//!           where less memory is allowed than the graph takes at least
//! limits    nodes < 2^32 - 1; memory at most 56 bytes for each edge and 48 for each node
pub mod check;
pub mod group;
mod memory_estimate;
pub mod profile;

use warploom_contract::{
    Context, Contract, Inputs, Kind, Outputs, Stage, StageError, Violation,
    kinds::{csr, graph},
    progress::Phase,
};
use warploom_shell::StageName;
use warploom_spec::ExtractSpec;

/// The description in the help of its binary.
pub const ABOUT: &str = "Build the CSR of a graph in both directions, and measure its profile";

/// The stage.
pub struct Extract;

impl Stage for Extract {
    type Request = ExtractSpec;
    const CONTRACT: Contract = StageName::Extract.contract();

    fn run(
        context: &Context,
        outputs: &mut Outputs,
        inputs: &Inputs,
        _request: &ExtractSpec,
    ) -> Result<(), StageError> {
        let artifact = inputs.get(Kind::Graph)?;
        let (nodes, edges) = (artifact.count("nodes")?, artifact.count("edges")?);
        memory_estimate::refuse_too_large(nodes, edges, context.memory)?;
        let reading = Phase::begin(context.progress, "reading", edges, "edges");
        let table = graph::read_edges_with_progress(artifact, &|count| reading.add(count))?;
        drop(reading);
        let mut parts = group::build_csr_with_progress(nodes as usize, &table, context.progress);
        drop(table);
        let attributes = profile::Attributes::read(artifact)?;
        parts.graphs.clone_from(&attributes.graph_of);
        let profile = profile::measure(&parts, attributes, context.progress);
        let writing = Phase::begin(context.progress, "writing degrees and figures", 2, "files");
        let degrees =
            |direction: &csr::DirectionParts| direction.rows().degrees().collect::<Vec<u64>>();
        warploom_contract::kinds::profile::write_degrees(
            outputs,
            degrees(&parts.incoming),
            degrees(&parts.outgoing),
        )?;
        writing.add(1);
        warploom_contract::kinds::profile::write(outputs, &profile)?;
        drop(writing);
        csr::write(outputs, parts, context.progress)
    }

    /// Looks up every slot of the csr in the edge table by its edge id and marks the id: an
    /// algorithm independent of `run`.
    fn check(
        _context: &Context,
        outputs: &Inputs,
        inputs: &Inputs,
        _request: &ExtractSpec,
    ) -> Result<(), Violation> {
        let table = graph::read_edges(inputs.get(Kind::Graph)?)?;
        let nodes = inputs.get(Kind::Graph)?.count("nodes")?;
        let csr = csr::Csr::open(outputs.get(Kind::Csr)?)?;
        check::csr_holds_edges(nodes, &csr, &table)?;
        let profile = warploom_contract::kinds::profile::open(outputs.get(Kind::Profile)?)?;
        check::profile_counts(nodes, &profile, &table)?;
        let nodes = graph::read_nodes(inputs.get(Kind::Graph)?)?;
        if csr.graphs.as_deref() != nodes.graph.as_deref() {
            return Err(Violation::new(
                "the graphs of the nodes are not those of the node table".to_owned(),
            ));
        }
        check::profile_labels(&profile, nodes.labels.as_ref(), &table)
    }
}
