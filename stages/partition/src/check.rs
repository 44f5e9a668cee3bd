//! check: the check of every division of edges: each entry must be an edge of the csr that no entry
//! had before.
//!
//! promises  an error names table, entry, slot and row
//! never     depends on how a table was built
//! limits    one bit for each edge
use warploom_contract::{Violation, kinds::csr::Rows};

/// The edges of one direction, and a mark on each that an entry has.
pub struct Cover<'a> {
    table: String,
    rows: Rows<'a>,
    told: Vec<u64>,
}

impl<'a> Cover<'a> {
    /// A cover without marks.
    pub fn new(table: impl Into<String>, rows: Rows<'a>) -> Self {
        Cover { table: table.into(), rows, told: vec![0; rows.neighbours.len().div_ceil(64)] }
    }

    /// Marks the slot of an entry, which must be an unmarked edge of the row.
    pub fn mark_edge(&mut self, entry: usize, row: u64, slot: u64) -> Result<(), Violation> {
        let offsets = self.rows.offsets;
        let span = if row < self.rows.len() as u64 {
            offsets[row as usize]..offsets[row as usize + 1]
        } else {
            0..0
        };
        if !span.contains(&slot) {
            return Err(self.violation(
                entry,
                format!(
                    "slot {slot} is not an edge of row {row}, which has the slots {} to {}",
                    span.start, span.end
                ),
            ));
        }
        let (word, bit) = (slot as usize / 64, 1 << (slot % 64));
        if self.told[word] & bit != 0 {
            return Err(self.violation(entry, format!("slot {slot} of row {row} occurs twice")));
        }
        self.told[word] |= bit;
        Ok(())
    }

    /// Marks the slot of an entry that also has the neighbour.
    pub fn mark_coordinate(
        &mut self,
        entry: usize,
        row: u64,
        neighbour: u64,
        slot: u64,
    ) -> Result<(), Violation> {
        self.mark_edge(entry, row, slot)?;
        let expected = u64::from(self.rows.neighbours[slot as usize]);
        if neighbour == expected {
            return Ok(());
        }
        Err(self.violation(
            entry,
            format!("expected neighbour {expected} at slot {slot} of row {row}, found {neighbour}"),
        ))
    }

    /// Marks a range of slots of an entry.
    pub fn mark_run(
        &mut self,
        entry: usize,
        row: u64,
        slots: std::ops::Range<u64>,
    ) -> Result<(), Violation> {
        slots.into_iter().try_for_each(|slot| self.mark_edge(entry, row, slot))
    }

    /// Checks that every edge is marked.
    pub fn finish(self) -> Result<(), Violation> {
        let edges = self.rows.neighbours.len();
        match (0..edges).find(|&slot| self.told[slot / 64] & (1 << (slot % 64)) == 0) {
            Some(slot) => Err(Violation::new(format!(
                "{}: slot {slot} of {edges} is in no entry",
                self.table
            ))),
            None => Ok(()),
        }
    }

    /// A violation of an entry.
    pub fn violation(&self, entry: usize, what: String) -> Violation {
        Violation::new(format!("{}, entry {entry}: {what}", self.table))
    }
}

/// Compares two numbers that must be equal.
pub fn expect_equal(
    what: impl FnOnce() -> String,
    expected: u64,
    found: u64,
) -> Result<(), Violation> {
    if expected == found {
        return Ok(());
    }
    Err(Violation::new(format!("{}: expected {expected}, found {found}", what())))
}

/// Checks that every row occurs once; returns the place of each.
pub fn check_rows_once(
    table: &str,
    rows: impl Iterator<Item = u64>,
    count: usize,
) -> Result<Vec<usize>, Violation> {
    let mut place_of = vec![usize::MAX; count];
    for (place, row) in rows.enumerate() {
        match place_of.get_mut(row as usize) {
            None => {
                return Err(Violation::new(format!(
                    "{table}, place {place}: row {row} of only {count}"
                )));
            }
            Some(known) if *known != usize::MAX => {
                return Err(Violation::new(format!(
                    "{table}, place {place}: row {row} is at place {known} too"
                )));
            }
            Some(known) => *known = place,
        }
    }
    match place_of.iter().position(|&place| place == usize::MAX) {
        Some(row) => Err(Violation::new(format!("{table}: row {row} has no place"))),
        None => Ok(place_of),
    }
}

/// Compares the first entry of each row with a count of the rows of all entries.
pub fn first_entries(
    table: &str,
    found: impl Iterator<Item = u64>,
    rows_of_entries: impl Iterator<Item = u64>,
    rows: usize,
) -> Result<(), Violation> {
    let mut counts = vec![0u64; rows];
    for (entry, row) in rows_of_entries.enumerate() {
        let count = counts.get_mut(row as usize).ok_or_else(|| {
            Violation::new(format!("{table}: entry {entry} is of row {row} of only {rows}"))
        })?;
        *count += 1;
    }
    let mut expected = 0;
    let mut length = 0;
    for (row, found) in found.enumerate() {
        expect_equal(|| format!("{table}, row {row}"), expected, found)?;
        expected += counts.get(row).copied().unwrap_or(0);
        length = row + 1;
    }
    expect_equal(|| format!("{table}: rows"), rows as u64 + 1, length as u64)
}
