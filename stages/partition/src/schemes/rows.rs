//! Scheme `rows`: runs of whole rows with about equal work, a row costing its edges and one more.
//!
//! promises  units ascend and cover every row once; a unit of several rows stays within the aim; the division depends on
//!           the graph and the aim alone
use warploom_contract::Violation;

/// First row of each unit, and the number of rows.
pub fn divide(offsets: &[u64], unit_edges: u64) -> Vec<u32> {
    let rows = offsets.len() - 1;
    let mut starts = vec![0u32];
    let mut cost = 0;
    for row in 0..rows {
        let own = offsets[row + 1] - offsets[row] + 1;
        if cost > 0 && cost + own > unit_edges {
            starts.push(row as u32);
            cost = 0;
        }
        cost += own;
    }
    if rows > 0 {
        starts.push(rows as u32);
    }
    starts
}

/// Most edges of a unit.
pub fn largest(offsets: &[u64], starts: &[u32]) -> u64 {
    starts.windows(2).map(|pair| offsets[pair[1] as usize] - offsets[pair[0] as usize]).max().unwrap_or(0)
}

/// The other road: rows are dealt to units one by one.
pub fn prove(side: &str, offsets: &[u64], starts: &[u32], unit_edges: u64) -> Result<(), Violation> {
    let rows = offsets.len() - 1;
    let mut claimed = vec![0u8; rows];
    for (unit, pair) in starts.windows(2).enumerate() {
        let mut cost = 0;
        for row in pair[0]..pair[1] {
            let slot = claimed.get_mut(row as usize).ok_or_else(|| Violation::new(format!("{side}-unit {unit}: row {row} of only {rows}")))?;
            *slot = slot.saturating_add(1);
            cost += offsets[row as usize + 1] - offsets[row as usize] + 1;
        }
        if pair[1] - pair[0] > 1 && cost > unit_edges {
            return Err(Violation::new(format!("{side}-unit {unit}: work {cost} of {} rows exceeds the aim {unit_edges}", pair[1] - pair[0])));
        }
    }
    match claimed.iter().position(|&times| times != 1) {
        Some(row) => Err(Violation::new(format!("{side}: row {row} is in {} units, expected one", claimed[row]))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn degenerate_graphs() {
        assert_eq!(divide(&[0], 64), [0]);
        assert_eq!(divide(&[0, 0], 64), [0, 1]);
        assert_eq!(divide(&[0, 1000, 1000, 1001], 64), [0, 1, 3]);
    }

    #[test]
    fn a_wrong_division_is_found() {
        let offsets = [0, 10, 20, 30];
        assert!(prove("in", &offsets, &[0, 1, 3], 64).is_ok());
        assert!(prove("in", &offsets, &[0, 1, 2], 64).is_err());
        assert!(prove("in", &offsets, &[0, 3], 20).is_err());
        assert!(prove("in", &offsets, &[0, 2, 4], 64).is_err());
    }

    proptest! {
        #[test]
        fn every_division_is_proved(degrees in proptest::collection::vec(0u64..200, 0..300), unit_edges in 1u64..500) {
            let offsets: Vec<u64> = std::iter::once(0).chain(degrees.iter().scan(0, |sum, degree| { *sum += degree; Some(*sum) })).collect();
            prop_assert!(prove("in", &offsets, &divide(&offsets, unit_edges), unit_edges).is_ok());
        }
    }
}
