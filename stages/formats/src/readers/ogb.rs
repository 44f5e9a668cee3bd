//! The raw tables of the Open Graph Benchmark: `raw/edge.csv.gz`, `num-node-list.csv.gz`,
//! `num-edge-list.csv.gz` and what describes them.
//!
//! promises  nodes are numbered from 0 through all graphs; each edge stands once, as the files have
//!           it, and is said to be undirected: for the directed sets (arxiv, papers100M, citation2,
//!           code2) the catalogue says so, the files cannot
//! promises  node-feat as numbers; edge-feat and further `edge_*` tables side by side,
//!           `edge_weight` as weights, `edge_reltype` as relations that are called by their
//!           numbers; further `node_*` tables as columns; one column of whole numbers as label is
//!           classes, one of others values, several columns rows (NaN: none)
//! promises  `split/NAME/{train, valid, test}.csv.gz` are splits of graphs in sets of many, else of
//!           nodes
//! reads     the tables, packed or not, in folders or side by side, or an archive with them, as the
//!           benchmark publishes
//! never     holds splits of edges: link prediction sets give the edges of raw/edge alone, which
//!           are those to train on
//! limits    sets of one kind of node; a table of counts may claim 16 nodes a row of all tables,
//!           and 65,536
//! source    W. Hu et al., Open Graph Benchmark (2020); github.com/snap-stanford/ogb
mod splits;
mod table_names;

use crate::{
    containers::bundle::{Bundle, file_name, list_unread},
    detect::file_heads::{FileHeads, names_in_archive},
    format::Format,
    options::Options,
    out_of_core::LoadedGraph,
    raw_graph::{Column, EdgeFeatures, Edges, Features, Graphs, NODES_MOST, NodeIds, RawGraph},
    read_error::{Read, ReadError},
    text::number_table::{NumberOrGap, NumberTable, TableNumber},
};
use std::path::PathBuf;
use table_names::{TABLES, is_table, table_name};

/// Files of links that are named.
const NAMED_MOST: usize = 8;
/// The table of the relation of each edge.
const RELATIONS: &str = "edge_reltype";
/// Nodes that may be claimed for each row that is there, and those that may be claimed always.
const CLAIM_A_ROW: u64 = 16;
const CLAIM_ALWAYS: u64 = 65_536;

/// The raw tables of the Open Graph Benchmark.
pub const FORMAT: Format = Format {
    name: "ogb",
    about: "raw tables of the Open Graph Benchmark: raw/edge.csv, num-node-list.csv, ..., \
            split/*/train.csv",
    recognise,
    read_within: |files, options, _| Ok(LoadedGraph::held(read(files, options)?)),
};

/// Whether a name is that of a file of such a set.
fn belongs(name: &str) -> bool {
    let further = |table: &str| table.starts_with("node_") || table.starts_with("edge_");
    table_name(name).is_some_and(|table| {
        TABLES.contains(&table) || further(table) || splits::part_of(table).is_some()
    })
}

/// The files among these that are parts of a task of links, or splits that only PyTorch reads, in a
/// line for what is passed over.
pub fn passed_over<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let is_part = |name: &&str| {
        let name = name.strip_suffix(".gz").unwrap_or(name);
        let stem = name
            .rsplit_once('.')
            .filter(|(_, end)| ["csv", "pt"].contains(end))
            .map(|(stem, _)| file_name(stem));
        let begins = |stem: &str| {
            ["train", "valid", "test"].iter().any(|part| {
                stem.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
            })
        };
        format!("/{name}").contains("/split/")
            && stem.is_some_and(begins)
            && table_name(name).and_then(splits::part_of).is_none()
    };
    let mut found: Vec<&str> = names.filter(is_part).collect();
    found.sort_unstable();
    let more = found.len().saturating_sub(NAMED_MOST);
    let named = found[..found.len().min(NAMED_MOST)].join(", ");
    match found.len() {
        0 => None,
        _ if more == 0 => {
            Some(format!("{named}: parts of links, because tasks of links come later"))
        }
        _ => Some(format!(
            "{named} and {more} more: parts of links, because tasks of links come later"
        )),
    }
}

/// Tables where there are edges and numbers of nodes; else an archive with those.
fn recognise(look: &FileHeads) -> Option<Vec<PathBuf>> {
    let both = |names: &[String]| {
        ["edge", "num-node-list"].iter().all(|table| names.iter().any(|name| is_table(name, table)))
    };
    let names: Vec<String> = look.files().map(|(_, name)| name.to_owned()).collect();
    if both(&names) {
        return Some(
            look.files()
                .filter(|(_, name)| belongs(name))
                .map(|(path, _)| path.to_path_buf())
                .collect(),
        );
    }
    look.files()
        .find(|(path, _)| both(&names_in_archive(look, path)))
        .map(|(path, _)| vec![path.to_path_buf()])
}

/// Reads the tables, or the archive.
pub fn read(files: &[PathBuf], _: &Options) -> Read<RawGraph> {
    let bundle = Bundle::open(files)?;
    let set = OgbSet { bundle: &bundle };
    let sizes = set.sizes()?;
    let features = set.maybe::<f32>("node-feat", None)?;
    let node_labels = set.maybe::<NumberOrGap>("node-label", None)?;
    let nodes = set.count_nodes(&sizes, features.as_ref(), node_labels.as_ref())?;
    let (edges, relations) = set.edges(&sizes)?;
    let graph_labels = set.maybe::<NumberOrGap>("graph-label", None)?;
    let graph_count = sizes.nodes.rows();
    if let Some(table) = &graph_labels {
        table.expect_rows("labels of graphs", graph_count, "num-node-list")?;
    }
    let by_graph = graph_labels.is_some() || graph_count > 1 && node_labels.is_none();
    let splits = splits::read(
        &bundle,
        if by_graph { graph_count } else { nodes as usize },
        if by_graph { "graph" } else { "node" },
    )?;
    let (splits, graph_splits) = if by_graph { (Vec::new(), splits) } else { (splits, Vec::new()) };
    let graphs = (by_graph || graph_count > 1).then(|| Graphs {
        classes_told: false,
        of_node: sizes
            .nodes
            .values
            .iter()
            .enumerate()
            .flat_map(|(graph, &count)| std::iter::repeat_n(graph as u32, count as usize))
            .collect(),
        ids: NodeIds::Count(graph_count as u32),
        labels: graph_labels.map(|table| table.labels()),
        splits: graph_splits,
        columns: Vec::new(),
    });
    let columns = set.node_columns(nodes as usize)?;
    let mut beside =
        passed_over(bundle.names().map(|(_, name)| name)).into_iter().collect::<Vec<_>>();
    beside.extend(list_unread(&bundle, |name| format!("/{name}").contains("/split/")));
    Ok(RawGraph {
        ids: NodeIds::Count(nodes),
        edges,
        directed: Some(false),
        labels: node_labels.map(|table| table.labels()),
        splits,
        features: features
            .map(|table| Features::Dense { columns: table.columns as u32, values: table.values }),
        columns,
        relations,
        graphs,
        passed_over: beside,
        ..RawGraph::default()
    })
}

/// How many nodes and edges each graph has.
struct GraphSizes {
    nodes: NumberTable<u32>,
    edges: Option<NumberTable<u32>>,
    /// Rows of the table of edges.
    rows: NumberTable<u32>,
}

struct OgbSet<'a> {
    bundle: &'a Bundle,
}

impl OgbSet<'_> {
    fn maybe<T: TableNumber + std::fmt::Debug>(
        &self,
        table: &str,
        columns: Option<usize>,
    ) -> Read<Option<NumberTable<T>>> {
        let found =
            self.bundle.find_one(&format!("the table `{table}`"), |name| is_table(name, table))?;
        found
            .map(|index| {
                NumberTable::read(self.bundle.text(index)?, &format!("rows of `{table}`"), columns)
            })
            .transpose()
    }

    fn must<T: TableNumber + std::fmt::Debug>(
        &self,
        table: &str,
        columns: Option<usize>,
    ) -> Read<NumberTable<T>> {
        self.maybe(table, columns)?.ok_or_else(|| {
            let known = self
                .bundle
                .names()
                .find(|(_, name)| belongs(name))
                .map(|(index, _)| self.bundle.path(index));
            let path = known.map_or(PathBuf::from(format!("raw/{table}.csv")), |path| {
                path.with_file_name(format!("{table}.csv.gz"))
            });
            let have: Vec<&str> = TABLES
                .into_iter()
                .filter(|table| self.bundle.names().any(|(_, name)| is_table(name, table)))
                .collect();
            let error = ReadError::new(&path, format!("the set lacks its table `{table}`"));
            let error = error.expected(
                "at least edge and num-node-list",
                if have.is_empty() { "none of them".into() } else { have.join(", ") },
            );
            Box::new(error.hint("download it with  warploom data fetch  or put it there by hand"))
        })
    }

    fn sizes(&self) -> Read<GraphSizes> {
        let nodes = self.must::<u32>("num-node-list", Some(1))?;
        if nodes.rows() == 0 {
            return Err(Box::new(
                ReadError::new(nodes.path(), "the set has no graph")
                    .expected("a number of nodes for each graph", "none"),
            ));
        }
        let edges = self.maybe::<u32>("num-edge-list", Some(1))?;
        if let Some(edges) = &edges {
            edges.expect_rows("numbers of edges", nodes.rows(), "num-node-list")?;
        } else if nodes.rows() > 1 {
            self.must::<u32>("num-edge-list", Some(1))?;
        }
        let rows = self.must::<u32>("edge", Some(2))?;
        if let Some(edges) = &edges {
            let claimed: u64 = edges.values.iter().map(|&count| u64::from(count)).sum();
            rows.expect_rows(
                "edges",
                usize::try_from(claimed).unwrap_or(usize::MAX),
                "the sum of num-edge-list",
            )?;
        }
        Ok(GraphSizes { nodes, edges, rows })
    }

    /// The number of all nodes, which must fit the tables that have a row for each.
    fn count_nodes(
        &self,
        sizes: &GraphSizes,
        features: Option<&NumberTable<f32>>,
        labels: Option<&NumberTable<NumberOrGap>>,
    ) -> Read<u32> {
        let claimed: u64 = sizes.nodes.values.iter().map(|&count| u64::from(count)).sum();
        let whole = usize::try_from(claimed).unwrap_or(usize::MAX);
        if let Some(table) = features {
            table.expect_rows("features of nodes", whole, "the sum of num-node-list")?;
        }
        if let Some(table) = labels {
            table.expect_rows("labels of nodes", whole, "the sum of num-node-list")?;
        }
        let rows = sizes.rows.rows()
            + sizes.nodes.rows()
            + features.map_or(0, NumberTable::rows)
            + labels.map_or(0, NumberTable::rows);
        let most = (CLAIM_ALWAYS + CLAIM_A_ROW * rows as u64).min(NODES_MOST);
        if claimed > most {
            let error = ReadError::new(
                sizes.nodes.path(),
                "the set claims more nodes than its other tables make likely, or than are read",
            );
            return Err(Box::new(
                error
                    .expected(format!("at most {most}"), claimed.to_string())
                    .hint("is a table cut short?"),
            ));
        }
        Ok(claimed as u32)
    }

    /// The edges, and the names of their relations.
    fn edges(&self, sizes: &GraphSizes) -> Read<(Edges, Vec<String>)> {
        let rows = sizes.rows.rows();
        let (mut source, mut target) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        let (mut row, mut first) = (0, 0);
        for (graph, &nodes) in sizes.nodes.values.iter().enumerate() {
            let end = sizes.edges.as_ref().map_or(rows, |edges| row + edges.values[graph] as usize);
            for ends in sizes.rows.values[2 * row..2 * end].chunks_exact(2) {
                if ends[0] >= nodes || ends[1] >= nodes {
                    let error = sizes
                        .rows
                        .error(source.len(), "an edge names a node that its graph does not have");
                    let error = error.expected(
                        format!("nodes from 0 to {} of graph {graph}", nodes.saturating_sub(1)),
                        ends[0].max(ends[1]).to_string(),
                    );
                    return Err(Box::new(
                        error.hint("do num-node-list and num-edge-list belong to this table?"),
                    ));
                }
                source.push(first + ends[0]);
                target.push(first + ends[1]);
            }
            (row, first) = (end, first + nodes);
        }
        let mut edges = Edges { source, target, ..Edges::default() };
        let relations = self.relate_edges(&mut edges)?;
        self.describe_edges(&mut edges)?;
        Ok((edges, relations))
    }

    /// Relations of edges by ascending number, and their names; none without a table of them.
    fn relate_edges(&self, edges: &mut Edges) -> Read<Vec<String>> {
        let Some(table) = self.maybe::<i64>(RELATIONS, Some(1))? else { return Ok(Vec::new()) };
        table.expect_rows("relations of edges", edges.len(), "the table of edges")?;
        let mut numbers = table.values.clone();
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.len() > usize::from(u16::MAX) {
            let error = ReadError::new(table.path(), "there are too many relations")
                .expected(format!("at most {}", u16::MAX), numbers.len().to_string());
            return Err(Box::new(error));
        }
        edges.relation = Some(
            table
                .values
                .iter()
                .map(|number| numbers.partition_point(|known| known < number) as u16)
                .collect(),
        );
        Ok(numbers.iter().map(i64::to_string).collect())
    }

    /// Weights and features of edges.
    fn describe_edges(&self, edges: &mut Edges) -> Read<()> {
        let rows = edges.len();
        let mut blocks: Vec<NumberTable<f32>> =
            self.maybe("edge-feat", None)?.into_iter().collect();
        for name in self.further("edge_").into_iter().filter(|name| name != RELATIONS) {
            let Some(table) = self.maybe::<f32>(&name, None)? else { continue };
            table.expect_rows(&format!("rows of `{name}`"), rows, "the table of edges")?;
            match (name.as_str(), table.columns) {
                ("edge_weight", 1) => edges.weight = Some(table.values),
                _ => blocks.push(table),
            }
        }
        if let Some(table) = blocks.first() {
            table.expect_rows("features of edges", rows, "the table of edges")?;
        }
        if blocks.len() < 2 {
            edges.features = blocks
                .pop()
                .map(|table| EdgeFeatures { columns: table.columns as u32, values: table.values });
            return Ok(());
        }
        let columns: usize = blocks.iter().map(|table| table.columns).sum();
        let mut values = Vec::with_capacity(rows * columns);
        (0..rows).for_each(|row| {
            blocks.iter().for_each(|table| values.extend_from_slice(table.row(row)))
        });
        edges.features = Some(EdgeFeatures { columns: columns as u32, values });
        Ok(())
    }

    /// The names of tables that begin so, ascending.
    fn further(&self, begin: &str) -> Vec<String> {
        let mut names: Vec<String> = self
            .bundle
            .names()
            .filter_map(|(_, name)| table_name(name))
            .filter(|name| name.starts_with(begin))
            .map(str::to_owned)
            .collect();
        names.sort();
        names.dedup();
        names
    }

    fn node_columns(&self, nodes: usize) -> Read<Vec<(String, Column)>> {
        let mut columns = Vec::new();
        for name in self.further("node_") {
            let Some(table) = self.maybe::<NumberOrGap>(&name, None)? else { continue };
            table.expect_rows(&format!("rows of `{name}`"), nodes, "the number of nodes")?;
            for column in 0..table.columns {
                let values = (0..nodes).map(|row| table.row(row)[column].0);
                let name =
                    if table.columns == 1 { name.clone() } else { format!("{name}_{column}") };
                columns.push((name, column_of(values)));
            }
        }
        Ok(columns)
    }
}

/// Whole numbers if all are, NaN as none.
fn column_of(values: impl Iterator<Item = f64> + Clone) -> Column {
    let none_or = |value: f64| (!value.is_nan()).then_some(value);
    let whole = values
        .clone()
        .all(|value| value.is_nan() || value.fract() == 0.0 && value.abs() <= (1u64 << 53) as f64);
    if whole {
        Column::Integers(values.map(|value| none_or(value).map(|value| value as i64)).collect())
    } else {
        Column::Reals(values.map(none_or).collect())
    }
}

#[cfg(test)]
mod tests;
