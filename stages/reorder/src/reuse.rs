//! reuse: reuses an order of a graph that differs in self loops or weights alone: models with self
//! loops share the order of those without.
//!
//! promises  a reused order equals a recomputed one: the digest covers all that a method reads
//! never     reuses an order that ids or a program made, which depends on more than that; reuses
//!           figures: they are measured on the present graph
use rayon::prelude::*;
use serde_json::{Value, json};
use warploom_contract::{
    Artifact, Digest, Key, Kind, Store,
    kinds::{
        csr::{Csr, Rows},
        permutation::{self, QUALITY_FILE, Quality},
        read_json,
    },
    progress::Advance,
};

use warploom_spec::Method;

use crate::choice::Choice;

/// Name of the fact in a permutation's manifest.
pub const FACT: &str = "order";
/// Rows in one task.
const TASK_ROWS: usize = 1 << 14;
/// Number of times that `digest` reports each node.
pub const PASSES: u64 = 2;

/// Digest of all inputs of an order.
pub fn digest(csr: &Csr, request: Value, advance: Advance<'_>) -> String {
    let graphs = csr.graphs.as_ref().map(|graphs| {
        Digest::from_bytes(
            &graphs.iter().flat_map(|graph| graph.to_ne_bytes()).collect::<Vec<u8>>(),
        )
    });
    let document = json!({
        "incoming": digest_rows(csr.incoming.rows(), advance), "outgoing": digest_rows(csr.outgoing.rows(), advance), "graphs": graphs.as_ref().map(Digest::as_str),
        "request": request, "version": warploom_shell::StageName::Reorder.contract().version,
    });
    Digest::from_bytes(document.to_string().as_bytes()).as_str().to_owned()
}

/// Digest of rows without self loops: a digest of digests of row ranges.
fn digest_rows(rows: Rows<'_>, advance: Advance<'_>) -> String {
    let of_task = |first: usize| {
        advance(TASK_ROWS.min(rows.len() - first) as u64);
        let mut bytes = Vec::new();
        for row in first..(first + TASK_ROWS).min(rows.len()) {
            let start = bytes.len();
            bytes.extend_from_slice(&[0; 4]);
            rows.row(row)
                .iter()
                .filter(|&&far| far as usize != row)
                .for_each(|far| bytes.extend_from_slice(&far.to_ne_bytes()));
            let count = ((bytes.len() - start) / 4 - 1) as u32;
            bytes[start..start + 4].copy_from_slice(&count.to_ne_bytes());
        }
        Digest::from_bytes(&bytes)
    };
    let parts: Vec<Digest> =
        (0..rows.len()).into_par_iter().step_by(TASK_ROWS).map(of_task).collect();
    Digest::from_bytes(parts.iter().map(Digest::as_str).collect::<String>().as_bytes())
        .as_str()
        .to_owned()
}

/// The stored order with that digest, if it is valid; but not that of the key that is being built,
/// which is rebuilt on purpose.
pub fn find_order(store: &Store, own: &Key, digest: &str, nodes: usize) -> Option<Choice> {
    let is_wanted = |artifact: &Artifact| {
        artifact.manifest.key != *own
            && artifact.manifest.facts.get(FACT).is_some_and(|fact| fact == digest)
    };
    let artifact = store.list(Kind::Permutation).into_iter().find(is_wanted)?;
    // Also with --no-verify: recomputing a damaged order costs less than an error.
    artifact.manifest.check_digests_once(&artifact.path, |_| {}).ok()?;
    let new_of_old =
        permutation::open(&artifact).ok().filter(|numbers| is_bijection(numbers, nodes))?;
    let quality: Quality = read_json(&artifact.file(QUALITY_FILE)).ok()?;
    let is_kept = quality.method == Method::None.name();
    let new_of_old = (!is_kept).then(|| new_of_old.to_vec());
    Some(Choice {
        method: quality.method,
        new_of_old,
        communities: quality.communities,
        cut: quality.cut,
    })
}

fn is_bijection(numbers: &[u32], nodes: usize) -> bool {
    let mut seen = vec![false; nodes];
    numbers.len() == nodes
        && numbers.iter().all(|&number| {
            seen.get_mut(number as usize).is_some_and(|seen| !std::mem::replace(seen, true))
        })
}
