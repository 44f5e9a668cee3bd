//! schedule_reasons: why launches on a CPU walk edges as they do, with the bytes that alternatives
//! would move.
//!
//! promises  bytes of every launch that walks edges, from the profile and from the counts of
//!           `partition`; no reason where no launch walks edges, or where the device divides each
//!           walk itself
//! never     chooses: this version executes one edge format and one division, and this file says
//!           what they save

use warploom_contract::{Inputs, Kind, StageError, kinds::partition};
use warploom_launch::{GraphFacts, LaunchList, Reason, Work};

/// Bytes of the number of a node.
const NUMBER: u64 = 4;

/// The reasons, in the order in which they are printed.
pub fn cpu_schedule_reasons(
    list: &LaunchList,
    facts: &GraphFacts,
    inputs: &Inputs,
) -> Result<Vec<Reason>, StageError> {
    let works: Vec<Work> = list
        .launches()
        .into_iter()
        .map(|launch| list.work(launch, facts))
        .filter(|work| !work.gathers.is_empty())
        .collect();
    let Some(widest) =
        works.iter().flat_map(|work| &work.gathers).map(|gather| gather.row_bytes).max()
    else {
        return Ok(Vec::new());
    };
    let by_rows: u64 = works.iter().map(|work| work.bytes).fold(0, u64::saturating_add);
    // Edge by edge (COO), each edge reads its row id and reads and writes the sum of its row.
    let again = works
        .iter()
        .flat_map(|work| &work.gathers)
        .map(|gather| gather.count.saturating_mul(NUMBER + 2 * gather.row_bytes));
    let by_edges = again.fold(by_rows, u64::saturating_add);
    let (rows, edges) =
        ("by rows (csr), each reads its far ends", "edge by edge (coo), or pushed to far ends");
    let mut reasons = vec![Reason {
        what: "form of walks over edges".to_owned(),
        chosen: rows.to_owned(),
        why: format!(
            "a row is added up where it is computed and written once: {} walks, bytes of each once",
            works.len()
        ),
        alternatives: [(rows.to_owned(), by_rows), (edges.to_owned(), by_edges)].into(),
    }];
    let artifact = inputs.get(Kind::Partition)?;
    let [unit_edges, units, unit_edges_max] = partition::UNITS.map(|name| artifact.count(name));
    let (unit_edges, units, unit_edges_max) = (unit_edges?, units?, unit_edges_max?);
    let of_edges = |edges: u64| edges.saturating_mul(NUMBER + widest);
    let (chosen, alone) = (format!("units of near {unit_edges} edges"), "one task".to_owned());
    let why = format!(
        "{units} units of in-edges, of which the fullest has {unit_edges_max} edges: bytes that \
         its widest walk reads"
    );
    let alternatives =
        [(chosen.clone(), of_edges(unit_edges_max)), (alone, of_edges(facts.edges))].into();
    reasons.push(Reason { what: "division of walks".to_owned(), chosen, why, alternatives });
    Ok(reasons)
}
