//! edge_order: the edges of vertices, or the entries of sparse features, in the order of work items
//! on a GPU: rows with most edges first, the edges of each row by edge id, or by column. Those of
//! in-edges and of out-edges are tables of the partition, mapped.
//!
//! promises  every row is an item, also one without edges; rows with equally many edges keep their
//!           order; the graph, the cut and the device alone decide which rows get a block, or a
//!           warp, of their own
//! never     changes the order of the edges of a row
use warploom_contract::{
    arrow_file::View, kinds::partition::row_lists::WalkedRows, row_order::WalkOrder,
};
use warploom_cpu::sparse_product::SparseRows;
use warploom_cuda::{Cut, TierCounts, WalkedDegrees};

/// The lists of one direction.
#[derive(Clone, Debug, Default)]
pub struct Items {
    /// Row of each item.
    pub row: View<u32>,
    /// First slot of each item, and the end.
    pub offset: View<u32>,
    /// The far vertex of each slot.
    pub far: View<u32>,
    /// The edge row of each slot.
    pub edge: View<u32>,
    /// Items of more edges come first, those with most edges first.
    pub sorted_above: u32,
}

impl Items {
    /// The rows of a direction as the partition has them.
    pub fn from_walk(walk: &WalkedRows) -> Items {
        Items {
            row: walk.rows.clone(),
            offset: walk.offsets.clone(),
            far: walk.edges.far.clone(),
            edge: walk.edges.edge.clone().unwrap_or_default(),
            sorted_above: 0,
        }
    }

    /// The entries of sparse features by row, or by column: `far` has the columns, or the rows, and
    /// `edge` the position of each value.
    pub fn from_sparse_entries<T>(features: &SparseRows<T>, by_columns: bool) -> Items {
        let rows = features.offsets.len() - 1;
        if !by_columns {
            let degree = |row: usize| (features.offsets[row + 1] - features.offsets[row]) as u32;
            let order = WalkOrder::by_degree(rows);
            let mut listed = Listed::sort_rows(rows, degree, order);
            let edge = |row: &u32| {
                features.offsets[*row as usize] as u32..features.offsets[*row as usize + 1] as u32
            };
            listed.edge = listed.row.iter().flat_map(edge).collect();
            listed.far = listed.edge.iter().map(|&entry| features.index[entry as usize]).collect();
            return listed.finish(order);
        }
        let mut kept = vec![0u32; features.columns];
        features.index.iter().for_each(|&column| kept[column as usize] += 1);
        let order = WalkOrder::by_degree(features.columns);
        let mut listed = Listed::sort_rows(features.columns, |column| kept[column], order);
        // The next position of each column: rows come in order.
        let mut next = vec![0u32; features.columns];
        listed
            .row
            .iter()
            .zip(&listed.offset)
            .for_each(|(&column, &offset)| next[column as usize] = offset);
        for row in 0..rows {
            for entry in features.offsets[row] as usize..features.offsets[row + 1] as usize {
                let place = &mut next[features.index[entry] as usize];
                (listed.far[*place as usize], listed.edge[*place as usize]) =
                    (row as u32, entry as u32);
                *place += 1;
            }
        }
        listed.finish(order)
    }

    /// How many have several blocks, a block or a warp each.
    pub fn tiers(&self, cut: Cut, processors: u32) -> TierCounts {
        let rows = WalkedDegrees { offsets: &self.offset, sorted_above: self.sorted_above };
        TierCounts::choose(rows, cut, processors)
    }
}

/// Lists that are being made.
struct Listed {
    row: Vec<u32>,
    offset: Vec<u32>,
    far: Vec<u32>,
    edge: Vec<u32>,
}

impl Listed {
    /// So many rows in this order, with empty lists of the right size.
    fn sort_rows(rows: usize, degree: impl Fn(usize) -> u32 + Sync, order: WalkOrder) -> Listed {
        let row = order.sort(rows, |row| u64::from(degree(row as usize)));
        let mut offset = Vec::with_capacity(row.len() + 1);
        let mut end = 0;
        offset.push(end);
        offset.extend(row.iter().map(|&row| {
            end += degree(row as usize);
            end
        }));
        Listed { far: vec![0; end as usize], edge: vec![0; end as usize], row, offset }
    }

    fn finish(self, order: WalkOrder) -> Items {
        Items {
            row: self.row.into(),
            offset: self.offset.into(),
            far: self.far.into(),
            edge: self.edge.into(),
            sorted_above: u32::try_from(order.sorted_above).unwrap_or(u32::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_listed_by_rows_and_by_columns() {
        let features = SparseRows {
            offsets: &[0, 1, 1, 4],
            index: &[2, 0, 1, 2],
            values: &[1.0, 2.0, 3.0, 4.0],
            columns: 4,
        };
        let by_rows = Items::from_sparse_entries(&features, false);
        assert_eq!((&*by_rows.row, &*by_rows.offset), (&[2, 0, 1][..], &[0, 3, 4, 4][..]));
        assert_eq!((&*by_rows.far, &*by_rows.edge), (&[0, 1, 2, 2][..], &[1, 2, 3, 0][..]));
        let by_columns = Items::from_sparse_entries(&features, true);
        assert_eq!(
            (&*by_columns.row, &*by_columns.offset),
            (&[2, 0, 1, 3][..], &[0, 2, 3, 4, 4][..])
        );
        assert_eq!((&*by_columns.far, &*by_columns.edge), (&[0, 2, 2, 2][..], &[0, 3, 1, 2][..]));
    }
}
