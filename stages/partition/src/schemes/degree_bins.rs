//! degree_bins: scheme `degree-bins`: rows by powers of two of their degree, so that one launch has
//! rows of about equal cost.
//!
//! promises  bin 0 has the rows without neighbours, bin b those of degree 2^(b-1) to 2^b - 1;
//!           inside a bin rows are sorted by number
//! never     reads an edge
//! limits    O(rows), at most 65 bins; padding counts the empty places if each row of a bin has the
//!           places of its longest
use warploom_contract::{
    Violation,
    kinds::{
        csr::Csr,
        partition::{Cells, Padding, Scheme, Table, TableFacts, Tables, Width},
    },
};

use crate::{
    check::check_rows_once,
    directions::{Side, add_padding, both_sides},
    size_estimate::Outline,
};

/// Bins of 64-bit degrees.
const BINS_MOST: usize = 65;

fn bin_of(degree: u64) -> usize {
    (u64::BITS - degree.leading_zeros()) as usize
}

/// Rows and largest degree of each bin up to the last nonempty one.
fn count_bins(side: Side<'_>) -> Vec<(u64, u64)> {
    let mut bins = vec![(0, 0u64); BINS_MOST];
    let mut used = 0;
    for degree in side.rows.degrees() {
        let (rows, largest) = &mut bins[bin_of(degree)];
        (*rows, *largest) = (*rows + 1, degree.max(*largest));
        used = used.max(bin_of(degree) + 1);
    }
    bins.truncate(used);
    bins
}

fn padding(bins: &[(u64, u64)], edges: u64) -> Padding {
    let places = bins.iter().map(|(rows, largest)| rows * largest).sum();
    Padding { places, empty: places - edges }
}

/// The size of the scheme.
pub fn outline(csr: &Csr) -> Outline {
    let sides = both_sides(csr);
    let bins = sides.map(count_bins);
    let facts = |(side, bins): (Side<'_>, &Vec<(u64, u64)>)| {
        let starts = TableFacts::single(side.table_name("bins"), bins.len() as u64 + 1, Width::U32);
        [starts, TableFacts::single(side.table_name("bin_rows"), side.nodes(), Width::U32)]
    };
    let [of_in, of_out] = [0, 1].map(|index| padding(&bins[index], csr.edges() as u64));
    Outline {
        scheme: Scheme::DegreeBins { bins: [bins[0].len() as u64, bins[1].len() as u64] },
        tables: sides.into_iter().zip(&bins).flat_map(facts).collect(),
        padding: add_padding(Some(of_in), Some(of_out)),
        scratch_bytes: 0,
    }
}

/// The tables of one direction, by a counting sort.
pub fn build(side: Side<'_>) -> Vec<Table> {
    let counts = count_bins(side);
    let (mut starts, mut rows) =
        (Cells::room(Width::U32, counts.len() as u64 + 1), Cells::zeros(Width::U32, side.nodes()));
    let mut heads = Vec::with_capacity(counts.len());
    let mut before = 0;
    starts.push(0);
    for (count, _) in &counts {
        heads.push(before as usize);
        before += count;
        starts.push(before);
    }
    for (row, degree) in (0..).zip(side.rows.degrees()) {
        let head = &mut heads[bin_of(degree)];
        rows.set(*head, row);
        *head += 1;
    }
    vec![
        Table::single(side.table_name("bins"), starts),
        Table::single(side.table_name("bin_rows"), rows),
    ]
}

/// Checks independently: looks up each row of a bin, and compares its degree with the bin's bounds.
pub fn prove(side: Side<'_>, tables: &Tables) -> Result<Option<Padding>, Violation> {
    let (name, starts) =
        (side.table_name("bin_rows"), tables.only_column(&side.table_name("bins"))?);
    let rows = tables.only_column(&name)?;
    check_rows_once(&name, rows.iter(), side.rows.len())?;
    let ends = starts.iter().next().zip(starts.last());
    if ends != Some((0, side.nodes()))
        || starts.iter().zip(starts.iter().skip(1)).any(|(from, to)| from > to)
    {
        return Err(Violation::new(format!(
            "{}: expected consecutive bins from 0 to {}, found {ends:?}",
            side.table_name("bins"),
            side.nodes()
        )));
    }
    let mut found = Vec::new();
    for bin in 0..starts.len().saturating_sub(1) {
        let (least, most) =
            if bin == 0 { (0, 0) } else { (1u64 << (bin - 1), u64::MAX >> (64 - bin)) };
        let mut largest = 0;
        for at in starts.get(bin)..starts.get(bin + 1) {
            let row = rows.get(at as usize) as usize;
            let degree = side.rows.row(row).len() as u64;
            if !(least..=most).contains(&degree) {
                return Err(Violation::new(format!(
                    "{name}, place {at}: row {row} has degree {degree}, and bin {bin} those of \
                     {least} to {most}"
                )));
            }
            if at > starts.get(bin) && rows.get(at as usize - 1) >= row as u64 {
                return Err(Violation::new(format!(
                    "{name}, place {at}: row {row} comes after row {} in bin {bin}",
                    rows.get(at as usize - 1)
                )));
            }
            largest = degree.max(largest);
        }
        found.push((starts.get(bin + 1) - starts.get(bin), largest));
    }
    Ok(Some(padding(&found, side.edges())))
}
