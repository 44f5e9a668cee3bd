//! Takes edges by row in their order: in memory while they fit, then in a file.
use super::{
    edge_file::{EdgeWriter, Spilled},
    id_rows::IdRows,
    limit::Limit,
};
use crate::{raw_graph::Edges, read_error::Read};

/// Where a reader puts edges by row, in their order: in memory while they fit, then in a file.
pub(crate) struct EdgeSink<'a> {
    limit: &'a Limit,
    held: Edges,
    spill: Option<EdgeWriter>,
    count: u64,
}

impl<'a> EdgeSink<'a> {
    /// No edges yet.
    pub fn new(limit: &'a Limit) -> EdgeSink<'a> {
        EdgeSink { limit, held: Edges::default(), spill: None, count: 0 }
    }

    /// More edges behind the others; they have weights and relations as those do.
    pub fn take(&mut self, edges: Edges) {
        self.count += edges.len() as u64;
        if self.held.is_empty() && self.held.source.capacity() == 0 {
            self.held = edges;
            return;
        }
        fn extend<T: Copy>(list: &mut Option<Vec<T>>, more: Option<Vec<T>>) {
            more.iter().for_each(|more| list.get_or_insert_default().extend_from_slice(more));
        }
        self.held.source.extend_from_slice(&edges.source);
        self.held.target.extend_from_slice(&edges.target);
        extend(&mut self.held.weight, edges.weight);
        extend(&mut self.held.relation, edges.relation);
        if let (Some(features), Some(more)) = (&mut self.held.features, edges.features) {
            features.values.extend_from_slice(&more.values);
        }
    }

    /// How many edges came so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Writes what is held away, if it takes more than it may. To be called once a block was read.
    pub fn settle(&mut self) -> Read<()> {
        if self.spill.is_none() && self.limit.admits(self.held.bytes()) {
            return Ok(());
        }
        let spill = match &mut self.spill {
            Some(spill) => spill,
            none => none.insert(EdgeWriter::new(self.limit)?),
        };
        spill.write_rows(&self.held)?;
        self.held.source.clear();
        self.held.target.clear();
        self.held.weight.iter_mut().for_each(Vec::clear);
        self.held.relation.iter_mut().for_each(Vec::clear);
        self.held.features.iter_mut().for_each(|features| features.values.clear());
        Ok(())
    }

    /// All edges: held, or in a file.
    pub fn finish(mut self) -> Read<(Edges, Option<Spilled>)> {
        self.settle()?;
        match self.spill {
            None => Ok((self.held, None)),
            Some(spill) => Ok((Edges::default(), Some(spill.finish(IdRows::Same)?))),
        }
    }
}
