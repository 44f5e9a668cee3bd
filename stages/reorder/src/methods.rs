//! methods: the reorder methods, one file each: from degrees or neighbours to the old number of
//! each new one.
//!
//! promises  no method sees self loops, and none mixes the graphs of a set
pub mod approximate_degree;
pub mod breadth_first;
pub mod columns_then_rows;
pub mod degree;
pub mod first_column;
pub mod hubs;
pub mod metis;
pub mod rabbit;
pub mod random;
pub mod rcm;
#[cfg(test)]
pub(crate) mod tests;

use rayon::prelude::*;
use warploom_contract::{
    StageError, communities,
    kinds::{
        csr::{Csr, Rows},
        permutation::{Cut, inverse},
        profile::CommunityFigures,
    },
    progress::{Advance, advance_by_stride},
};
use warploom_spec::{Degree, Method, ReorderSpec};

use crate::{per_graph::order_per_graph, undirected_neighbours::Undirected};

/// The result of a method.
pub struct Order {
    /// The new number of each old one.
    pub new_of_old: Vec<u32>,
    /// Figures of communities found with it; each pair of neighbours counts once.
    pub communities: Option<CommunityFigures>,
    /// The partition of METIS.
    pub cut: Option<Cut>,
}

/// Runs a method; reports visited nodes, some methods several times.
pub fn run(spec: &ReorderSpec, csr: &Csr, advance: Advance<'_>) -> Result<Order, StageError> {
    let degrees = || degrees(spec.degree, csr, advance);
    let undirected = || Undirected::from_csr_with_progress(csr, advance);
    let (mut found_communities, mut cut) = (None, None);
    let old_of_new = match spec.method {
        Method::Auto | Method::None | Method::File | Method::Program => {
            unreachable!("`choice` runs methods that make an order")
        }
        Method::Random => random::order(csr.nodes(), spec.seed),
        Method::Degree => degree::order(&degrees(), spec.ascending),
        Method::ApproximateDegree => {
            approximate_degree::order(&degrees(), spec.buckets, spec.ascending)
        }
        Method::HubSort => hubs::order(&degrees(), true),
        Method::HubCluster => hubs::order(&degrees(), false),
        Method::Breadth => breadth_first::order(&undirected(), advance),
        Method::Rcm => rcm::order(&undirected(), advance),
        Method::Rabbit => {
            let graph = undirected();
            let found = rabbit::order(&graph, advance);
            found_communities =
                Some(communities::figures(&found.community, graph.rows(), graph.rows()));
            found.old_of_new
        }
        Method::Metis => {
            let wish = metis::CutRequest { parts: spec.parts, seed: spec.seed };
            let found =
                metis::order(&undirected(), wish, metis::child::cut_in_child(spec.seconds))?;
            cut = Some(found.cut);
            found.old_of_new
        }
        Method::FirstColumn => first_column::order(csr.incoming.rows()),
        Method::ColumnsThenRows => columns_then_rows::order(csr.incoming.rows()),
    };
    advance(csr.nodes() as u64);
    let old_of_new = csr
        .graphs
        .as_ref()
        .map(|graphs| order_per_graph(graphs, &old_of_new))
        .unwrap_or(old_of_new);
    Ok(Order { new_of_old: inverse(&old_of_new), communities: found_communities, cut })
}

/// Degree of each node without self loops.
fn degrees(of: Degree, csr: &Csr, advance: Advance<'_>) -> Vec<u64> {
    let count = |rows: Rows<'_>, node: usize| {
        rows.row(node).iter().filter(|&&far| far as usize != node).count() as u64
    };
    let (incoming, outgoing) = (csr.incoming.rows(), csr.outgoing.rows());
    let of_node = |node: usize| {
        advance_by_stride(advance, node);
        match of {
            Degree::In => count(incoming, node),
            Degree::Out => count(outgoing, node),
            Degree::Both => count(incoming, node) + count(outgoing, node),
        }
    };
    (0..csr.nodes()).into_par_iter().with_min_len(1 << 12).map(of_node).collect()
}
