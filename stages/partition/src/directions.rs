//! directions: the two directions of a csr, as schemes read them.
//!
//! promises  both directions run in parallel; results are in a fixed order: in-edges, then
//!           out-edges
//! never     depends on a scheme
use warploom_contract::{
    Violation,
    kinds::{
        csr::{Csr, Direction, Rows},
        partition::{Padding, Table},
    },
};

/// One direction.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// `in` or `out`.
    pub name: &'static str,
    /// Its rows.
    pub rows: Rows<'a>,
    /// Id of each edge.
    pub edge_ids: &'a [u64],
}

impl<'a> Side<'a> {
    fn new(name: &'static str, direction: &'a Direction) -> Self {
        Side { name, rows: direction.rows(), edge_ids: &direction.edges }
    }

    /// The name of a table over its edges.
    pub fn table_name(&self, table: &str) -> String {
        format!("{}_{table}", self.name)
    }

    /// How many rows it has.
    pub fn nodes(&self) -> u64 {
        self.rows.len() as u64
    }

    /// How many edges it has.
    pub fn edges(&self) -> u64 {
        self.rows.neighbours.len() as u64
    }

    /// Each row with its slots: the first, and one past the last.
    pub fn spans(&self) -> impl Iterator<Item = (u64, u64, u64)> + 'a {
        self.rows.offsets.windows(2).enumerate().map(|(row, pair)| (row as u64, pair[0], pair[1]))
    }
}

/// In-edges and out-edges.
pub fn both_sides(csr: &Csr) -> [Side<'_>; 2] {
    [Side::new("in", &csr.incoming), Side::new("out", &csr.outgoing)]
}

/// Runs `work` on both in parallel.
pub fn map_sides<T: Send>(csr: &Csr, work: impl Fn(Side<'_>) -> T + Sync) -> [T; 2] {
    let [incoming, outgoing] = both_sides(csr);
    let (of_in, of_out) = rayon::join(|| work(incoming), || work(outgoing));
    [of_in, of_out]
}

/// Builds the tables of both.
pub fn build_tables(csr: &Csr, build: impl Fn(Side<'_>) -> Vec<Table> + Sync) -> Vec<Table> {
    map_sides(csr, build).into_iter().flatten().collect()
}

/// Proves both, and adds their padding.
pub fn prove_sides(
    csr: &Csr,
    prove: impl Fn(Side<'_>) -> Result<Option<Padding>, Violation> + Sync,
) -> Result<Option<Padding>, Violation> {
    let [of_in, of_out] = map_sides(csr, prove);
    Ok(add_padding(of_in?, of_out?))
}

/// Sum of the padding of two directions.
pub fn add_padding(left: Option<Padding>, right: Option<Padding>) -> Option<Padding> {
    left.zip(right).map(|(left, right)| Padding {
        places: left.places + right.places,
        empty: left.empty + right.empty,
    })
}
