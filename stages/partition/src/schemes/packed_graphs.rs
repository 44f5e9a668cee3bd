//! packed_graphs: scheme `packed-graphs`: best-fit bin packing of whole graphs into blocks, so that
//! small graphs share a block (future work of GNNAdvisor, chapter 5).
//!
//! promises  best-fit decreasing: graphs by descending size, ties by number, each into the block
//!           with the least room that suffices (ties: the first), else into a new one; a graph
//!           larger than a block has its own; inside a block graphs are in packing order, inside a
//!           graph rows by number
//! never     splits a graph; needs the rows of a graph to be consecutive; accepts edges between
//!           graphs
//! limits    O(edges + graphs log blocks); 56 bytes for each graph beside the tables
use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use warploom_contract::{
    ErrorKind, StageError, Violation,
    kinds::{
        csr::Csr,
        partition::{Cells, Padding, Scheme, Table, TableFacts, Tables, Width},
    },
    row_order::order_by_degree,
};

use crate::{
    check::{check_rows_once, expect_equal},
    size_estimate::{Outline, Room},
};

const NAME: &str = "packed-graphs";
const BLOCKS: &str = "graph_blocks";
const GRAPHS: &str = "block_graphs";
const ROWS: &str = "block_rows";
/// Bytes for each graph while packing: size, order, block and its entry in the set of blocks with
/// room.
const PACKING_BYTES: u64 = 56;

/// The graph of each row, or an error.
fn graphs_of(csr: &Csr) -> Result<&[u32], StageError> {
    csr.graphs.as_deref().ok_or_else(|| {
        let what = format!(
            "scheme `{NAME}` packs the graphs of a set of many, and this data set is one graph"
        );
        let hint = format!("leave `{NAME}` out of  partition.scheme");
        StageError::new(ErrorKind::Specification, what).at("partition.scheme").hint(hint)
    })
}

/// Number of graphs: one more than the last graph that has a row.
fn graph_count(graphs: &[u32]) -> usize {
    graphs.par_iter().max().map_or(0, |&last| last as usize + 1)
}

/// Graphs in the order in which they are packed, each with its rows, and the block of each.
struct Packing {
    order: Vec<u32>,
    sizes: Vec<u64>,
    blocks: Vec<u32>,
    /// Rows of each block.
    rows: Vec<u64>,
}

fn pack_graphs(graphs: &[u32], block_nodes: u64) -> Packing {
    let mut sizes = vec![0u64; graph_count(graphs)];
    graphs.iter().for_each(|&graph| sizes[graph as usize] += 1);
    let mut order = order_by_degree(sizes.len(), |graph| sizes[graph as usize], false);
    order.truncate(order.partition_point(|&graph| sizes[graph as usize] > 0));
    let (mut rows, mut with_room) = (Vec::new(), BTreeSet::new());
    let mut place = |&graph: &u32| {
        let size = sizes[graph as usize];
        let fits = with_room.range((size, 0)..).next().copied();
        let (room, block) = fits.unwrap_or_else(|| {
            rows.push(0);
            (block_nodes.max(size), rows.len() as u32 - 1)
        });
        with_room.remove(&(room, block));
        if room > size {
            with_room.insert((room - size, block));
        }
        rows[block as usize] += size;
        block
    };
    let blocks = order.iter().map(&mut place).collect();
    Packing { order, sizes, blocks, rows }
}

/// Finds an edge between two graphs.
fn find_cross_edge(csr: &Csr, graphs: &[u32]) -> Option<(u32, u32)> {
    let rows = csr.incoming.rows();
    let astray = |row: usize| {
        rows.row(row)
            .iter()
            .copied()
            .find(|&source| graphs[source as usize] != graphs[row])
            .map(|source| (source, row as u32))
    };
    (0..rows.len()).into_par_iter().find_map_first(astray)
}

fn padding(rows_of_blocks: &[u64], block_nodes: u64) -> Padding {
    let places: u64 = rows_of_blocks.iter().map(|&rows| rows.max(block_nodes)).sum();
    Padding { places, empty: places - rows_of_blocks.iter().sum::<u64>() }
}

/// The size of the scheme.
pub fn outline(csr: &Csr, block_nodes: u64, room: Room) -> Result<Outline, StageError> {
    let graphs = graphs_of(csr)?;
    let scratch_bytes = graph_count(graphs) as u64 * PACKING_BYTES;
    room.refuse_beyond(NAME, scratch_bytes)?;
    if let Some((source, target)) = find_cross_edge(csr, graphs) {
        let (from, to) = (graphs[source as usize], graphs[target as usize]);
        let what = format!(
            "scheme `{NAME}`: expected edges inside graphs, found one from node {source} of graph \
             {from} to node {target} of graph {to}"
        );
        return Err(StageError::new(ErrorKind::Data, what)
            .hint(format!("leave `{NAME}` out of  partition.scheme")));
    }
    let packing = pack_graphs(graphs, block_nodes);
    let tables = vec![
        TableFacts::new(
            BLOCKS,
            packing.rows.len() as u64 + 1,
            &[("graph", Width::U32), ("row", Width::U32)],
        ),
        TableFacts::new(
            GRAPHS,
            packing.order.len() as u64,
            &[("graph", Width::U32), ("row", Width::U32)],
        ),
        TableFacts::single(ROWS, graphs.len() as u64, Width::U32),
    ];
    let oversize = packing.rows.iter().filter(|&&rows| rows > block_nodes).count() as u64;
    let scheme = Scheme::PackedGraphs { block_nodes, blocks: packing.rows.len() as u64, oversize };
    Ok(Outline {
        scheme,
        tables,
        padding: Some(padding(&packing.rows, block_nodes)),
        scratch_bytes,
    })
}

/// Builds the tables.
pub fn build(csr: &Csr, block_nodes: u64) -> Result<Vec<Table>, StageError> {
    let graphs = graphs_of(csr)?;
    let Packing { order, sizes, blocks, rows } = pack_graphs(graphs, block_nodes);
    // Graphs by block, in packing order, by a counting sort.
    let mut heads = vec![(0u64, 0u64); rows.len() + 1];
    blocks.iter().for_each(|&block| heads[block as usize + 1].0 += 1);
    for block in 0..rows.len() {
        heads[block + 1] = (heads[block].0 + heads[block + 1].0, heads[block].1 + rows[block]);
    }
    let column = |count: usize| Cells::zeros(Width::U32, count as u64);
    let (mut first_graph, mut first_row) = (column(heads.len()), column(heads.len()));
    for (block, &(graph, row)) in heads.iter().enumerate() {
        first_graph.set(block, graph);
        first_row.set(block, row);
    }
    let (mut graph_of, mut row_of) = (column(order.len()), column(order.len()));
    let mut next_row = vec![0u64; sizes.len()];
    for (&graph, &block) in order.iter().zip(&blocks) {
        let (place, row) = &mut heads[block as usize];
        graph_of.set(*place as usize, u64::from(graph));
        row_of.set(*place as usize, *row);
        next_row[graph as usize] = *row;
        (*place, *row) = (*place + 1, *row + sizes[graph as usize]);
    }
    let mut packed = column(graphs.len());
    for (row, &graph) in graphs.iter().enumerate() {
        packed.set(next_row[graph as usize] as usize, row as u64);
        next_row[graph as usize] += 1;
    }
    Ok(vec![
        Table::new(BLOCKS, vec![("graph", first_graph), ("row", first_row)]),
        Table::new(GRAPHS, vec![("graph", graph_of), ("row", row_of)]),
        Table::single(ROWS, packed),
    ])
}

/// A graph of a block, the place of its first row and the place after its last.
type Member = (u64, u64, u64);

/// Reads the graphs of each block with the places of their rows; checks that entries are
/// consecutive up to the last row.
fn read_blocks(tables: &Tables, nodes: u64) -> Result<Vec<Vec<Member>>, Violation> {
    let [first_graph, first_row] = [tables.column(BLOCKS, "graph")?, tables.column(BLOCKS, "row")?];
    let [graph, row] = [tables.column(GRAPHS, "graph")?, tables.column(GRAPHS, "row")?];
    let count = graph.len() as u64;
    let row_at = |entry: u64| if entry < count { row.get(entry as usize) } else { nodes };
    let mut blocks: Vec<Vec<Member>> = Vec::new();
    let mut entry = 0;
    for block in 0..first_graph.len() {
        expect_equal(|| format!("{BLOCKS}, block {block}: graph"), entry, first_graph.get(block))?;
        expect_equal(
            || format!("{BLOCKS}, block {block}: row"),
            row_at(entry),
            first_row.get(block),
        )?;
        let end = if block + 1 < first_graph.len() { first_graph.get(block + 1) } else { count };
        if end > count || block + 1 < first_graph.len() && end <= entry {
            return Err(Violation::new(format!(
                "{BLOCKS}, block {block}: expected at least one graph from number {entry} on, \
                 of {count} in all; found its end at {end}"
            )));
        }
        blocks.push(
            (entry..end)
                .map(|entry| (graph.get(entry as usize), row_at(entry), row_at(entry + 1)))
                .collect(),
        );
        entry = end;
    }
    expect_equal(|| format!("{BLOCKS}: graphs in blocks"), count, entry)?;
    // The last entry is the end of the previous one.
    match blocks.pop() {
        Some(rest) if rest.is_empty() => Ok(blocks),
        _ => Err(Violation::new(format!(
            "{BLOCKS}: expected the ends of all blocks in the last row"
        ))),
    }
}

/// Checks independently: expands blocks to graphs, rows and edges; and for each graph that its
/// block had the least room that suffices.
pub fn prove(csr: &Csr, tables: &Tables, block_nodes: u64) -> Result<Option<Padding>, Violation> {
    let graphs = graphs_of(csr)?;
    let rows = tables.only_column(ROWS)?;
    check_rows_once(ROWS, rows.iter(), graphs.len())?;
    let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
    graphs.iter().for_each(|&graph| *sizes.entry(u64::from(graph)).or_default() += 1);
    let blocks = read_blocks(tables, graphs.len() as u64)?;
    let mut block_of: BTreeMap<u64, usize> = BTreeMap::new();
    for (block, members) in blocks.iter().enumerate() {
        for &(graph, from, to) in members {
            expect_equal(
                || format!("{GRAPHS}: rows of graph {graph} in block {block}"),
                sizes.get(&graph).copied().unwrap_or(0),
                to.saturating_sub(from),
            )?;
            let own: Vec<u64> = (from..to).map(|place| rows.get(place as usize)).collect();
            if !own.iter().all(|&row| u64::from(graphs[row as usize]) == graph) || !own.is_sorted()
            {
                return Err(Violation::new(format!(
                    "{ROWS}: places {from} to {to} are not the rows of graph {graph} by number"
                )));
            }
            if block_of.insert(graph, block).is_some() {
                return Err(Violation::new(format!("{GRAPHS}: graph {graph} occurs twice")));
            }
        }
        let keys: Vec<_> = members
            .iter()
            .map(|&(graph, from, to)| (std::cmp::Reverse(to - from), graph))
            .collect();
        if !keys.is_sorted() {
            return Err(Violation::new(format!(
                "{GRAPHS}: the graphs of block {block} are not in descending order of size"
            )));
        }
    }
    if let Some((source, target)) = find_cross_edge(csr, graphs) {
        return Err(Violation::new(format!(
            "an edge goes from node {source} to node {target} of another graph"
        )));
    }
    let mut by_size: Vec<(std::cmp::Reverse<u64>, u64)> =
        sizes.iter().map(|(&graph, &size)| (std::cmp::Reverse(size), graph)).collect();
    by_size.sort_unstable();
    let mut room_of: Vec<Option<u64>> = vec![None; blocks.len()];
    // Number of blocks by their room.
    let mut rooms: BTreeMap<u64, u64> = BTreeMap::new();
    for (size, graph) in by_size.into_iter().map(|(size, graph)| (size.0, graph)) {
        let block = *block_of
            .get(&graph)
            .ok_or_else(|| Violation::new(format!("{GRAPHS}: graph {graph} is in no block")))?;
        let least = rooms.range(size..).next().map(|(&room, _)| room);
        if room_of[block] != least {
            let found = room_of[block]
                .map_or_else(|| "a new one".to_owned(), |room| format!("one with room for {room}"));
            return Err(Violation::new(format!(
                "{BLOCKS}: graph {graph} of {size} nodes is in {found}, and the least room that \
                 was enough was {least:?}"
            )));
        }
        let room = least.unwrap_or(block_nodes.max(size));
        if least.is_some() && rooms.get(&room) == Some(&1) {
            rooms.remove(&room);
        } else if least.is_some() {
            rooms.entry(room).and_modify(|count| *count -= 1);
        }
        *rooms.entry(room - size).or_default() += 1;
        room_of[block] = Some(room - size);
    }
    let rows_of_blocks: Vec<u64> =
        blocks.iter().map(|members| members.iter().map(|&(_, from, to)| to - from).sum()).collect();
    Ok(Some(padding(&rows_of_blocks, block_nodes)))
}
