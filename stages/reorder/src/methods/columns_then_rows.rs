//! columns_then_rows: step 8 of the SpMM study: columns are numbered so that those of a row are
//! close, rows are sorted so that those of a column are close, and the column numbers are dropped.
//!
//! Columns are numbered by first occurrence; rows are sorted by the mean of these numbers. The
//! study sorts rows by their first column and finds that this can move a column's rows apart; the
//! mean does not depend on one far column.
//!
//! never     numbers sources and targets differently: both are the same nodes, and the row order
//!           becomes the number of both. The study undoes the column order, since its dense operand
//!           must not move; here features are permuted at upload without cost
//! limits    O(nodes log nodes + edges); 20 bytes a node
use warploom_contract::kinds::csr::Rows;

/// Fixed-point resolution of means, in parts of a column.
const FRACTIONS: u128 = 1 << 16;

/// The old number of each new one.
pub fn order(incoming: Rows<'_>) -> Vec<u32> {
    let nodes = incoming.len();
    let columns = |node: usize| incoming.row(node).iter().filter(move |&&far| far as usize != node);
    let (mut met, mut number) = (0, vec![u32::MAX; nodes]);
    for node in 0..nodes {
        for &far in columns(node) {
            let slot = &mut number[far as usize];
            if *slot == u32::MAX {
                (*slot, met) = (met, met + 1);
            }
        }
    }
    let mean = |node: u32| {
        let (sum, count) = columns(node as usize).fold((0u128, 0u128), |(sum, count), &far| {
            (sum + u128::from(number[far as usize]), count + 1)
        });
        (FRACTIONS * sum).checked_div(count).map_or(u64::MAX, |mean| mean as u64)
    };
    let mut rows: Vec<u32> = (0..nodes as u32).collect();
    rows.sort_by_cached_key(|&node| mean(node));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_with_the_same_columns_come_together() {
        // 0 <- 4 5, 1 <- 2 3, 2 <- 4 5, 3 <- 2 3, 4 <- nobody, 5 <- 5 (itself alone)
        let incoming =
            Rows { offsets: &[0, 2, 4, 6, 8, 8, 9], neighbours: &[4, 5, 2, 3, 4, 5, 2, 3, 5] };
        assert_eq!(
            order(incoming),
            [0, 2, 3, 1, 4, 5],
            "row 3 stands by source 2 alone: its own edge is left out"
        );
    }
}
