//! The collections of TU Dortmund: many small graphs, `DS_A.txt`, `DS_graph_indicator.txt` and what
//! describes them.
//!
//! promises  nodes and graphs are numbered from 1, as the files do; every line of A is one edge,
//!           repeats and reverses too
//! promises  labels of graphs: graph_labels (whole numbers are classes, others values, several
//!           columns rows), else graph_attributes (values or rows); `label: graph_attributes` in
//!           the catalogue's entry prefers those
//! promises  features of edges: one-hot edge_labels, then edge_attributes; several columns of
//!           node_labels: one-hot side by side
//! reads     the files, packed or not, or an archive with them
//! never     takes one graph's node for another's: an edge between two graphs is an error
//! limits    256 distinct values in a column that becomes one-hot here
//! source    C. Morris et al., TUDataset: A collection of benchmark datasets for learning with
//!           graphs (2020); chrsmrrs.github.io/datasets
use crate::{
    containers::bundle::{Bundle, file_name, list_unread},
    detect::file_heads::{FileHeads, names_in_archive},
    format::Format,
    options::Options,
    out_of_core::LoadedGraph,
    raw_graph::{EdgeFeatures, Edges, Features, Graphs, Labels, NODES_MOST, NodeIds, RawGraph},
    read_error::{Read, ReadError},
    text::number_table::{NumberOrGap, NumberTable, TableNumber, classes},
};
use std::path::{Path, PathBuf};

const PARTS: [&str; 8] = [
    "A",
    "graph_indicator",
    "graph_labels",
    "graph_attributes",
    "node_labels",
    "node_attributes",
    "edge_labels",
    "edge_attributes",
];
/// Distinct values of a column that becomes one-hot here: a line of text then stands for 1 KiB at
/// most.
const ONE_HOT_MOST: usize = 256;

/// The collections of TU Dortmund.
pub const FORMAT: Format = Format {
    name: "tu",
    about: "many graphs: DS_A.txt, DS_graph_indicator.txt, DS_graph_labels.txt, ... or an archive \
            with them",
    recognise,
    read_within: |files, options, _| Ok(LoadedGraph::held(read(files, options)?)),
};

fn is_part(name: &str, part: &str) -> bool {
    file_name(name)
        .strip_suffix(".txt")
        .and_then(|name| name.strip_suffix(part))
        .is_some_and(|stem| stem.len() > 1 && stem.ends_with('_'))
}

/// The files of the set, if there is an indicator; else an archive with one.
fn recognise(look: &FileHeads) -> Option<Vec<PathBuf>> {
    let named: Vec<PathBuf> = look
        .files()
        .filter(|(_, name)| PARTS.iter().any(|part| is_part(name, part)))
        .map(|(path, _)| path.to_path_buf())
        .collect();
    if look.files().any(|(_, name)| is_part(name, "graph_indicator")) {
        return Some(named);
    }
    let holds = |path: &Path| {
        names_in_archive(look, path).iter().any(|name| is_part(name, "graph_indicator"))
    };
    look.files().find(|(path, _)| holds(path)).map(|(path, _)| vec![path.to_path_buf()])
}

/// Reads the files, or the archive.
pub fn read(files: &[PathBuf], options: &Options) -> Read<RawGraph> {
    let bundle = Bundle::open(files)?;
    let set = TuSet { bundle: &bundle };
    let indicator = set.must::<u32>("graph_indicator", Some(1))?;
    let graphs = set.graphs(&indicator, options)?;
    let nodes = indicator.rows();
    if nodes as u64 > NODES_MOST {
        let error = ReadError::new(indicator.path(), "the set has too many nodes")
            .expected(format!("at most {NODES_MOST}"), nodes.to_string());
        return Err(Box::new(error));
    }
    let mut edges = set.edges(&graphs.of_node)?;
    edges.features = set.edge_features(edges.len())?;
    let node_labels = set.maybe::<i64>("node_labels", None)?;
    let node_labels = node_labels
        .map(|table| {
            table
                .expect_rows("node labels", nodes, "graph_indicator")
                .and_then(|()| labels_from_columns(&table))
        })
        .transpose()?;
    let attributes = set.maybe::<f32>("node_attributes", None)?;
    if let Some(table) = &attributes {
        table.expect_rows("node attributes", nodes, "graph_indicator")?;
    }
    let features = attributes
        .map(|table| Features::Dense { columns: table.columns as u32, values: table.values });
    Ok(RawGraph {
        ids: NodeIds::Numbers((1..=nodes as u64).collect()),
        edges,
        directed: Some(false),
        features,
        node_labels,
        graphs: Some(graphs),
        passed_over: list_unread(&bundle, |_| false),
        ..RawGraph::default()
    })
}

struct TuSet<'a> {
    bundle: &'a Bundle,
}

impl TuSet<'_> {
    fn maybe<T: TableNumber + std::fmt::Debug>(
        &self,
        part: &str,
        columns: Option<usize>,
    ) -> Read<Option<NumberTable<T>>> {
        let found =
            self.bundle.find_one(&format!("the part `{part}`"), |name| is_part(name, part))?;
        let what = match part {
            "A" => "lines of A".to_owned(),
            "graph_indicator" => "lines of graph_indicator".to_owned(),
            part => part.replace('_', " "),
        };
        found.map(|index| NumberTable::read(self.bundle.text(index)?, &what, columns)).transpose()
    }

    fn must<T: TableNumber + std::fmt::Debug>(
        &self,
        part: &str,
        columns: Option<usize>,
    ) -> Read<NumberTable<T>> {
        self.maybe(part, columns)?.ok_or_else(|| {
            let known = self.bundle.names().find_map(|(index, name)| {
                let known = PARTS.into_iter().find(|part| is_part(name, part))?;
                let stem = file_name(name).strip_suffix(".txt")?.strip_suffix(known)?;
                Some(self.bundle.path(index).with_file_name(format!("{stem}{part}.txt")))
            });
            let have = PARTS
                .into_iter()
                .filter(|part| self.bundle.names().any(|(_, name)| is_part(name, part)))
                .collect::<Vec<_>>()
                .join(", ");
            let error = ReadError::new(
                &known.unwrap_or_else(|| format!("DS_{part}.txt").into()),
                format!("the set lacks its part `{part}`"),
            );
            let error = error.expected(
                "at least A and graph_indicator",
                if have.is_empty() { "none of them".into() } else { have },
            );
            Box::new(error.hint("download it with  warploom data fetch  or put it there by hand"))
        })
    }

    /// The graph of each node, and the labels.
    fn graphs(&self, indicator: &NumberTable<u32>, options: &Options) -> Read<Graphs> {
        if indicator.rows() == 0 {
            let error = ReadError::new(indicator.path(), "the set has no node")
                .expected("a line with its graph for each node", "none");
            return Err(Box::new(
                error.hint("download it again: remove the file, then  warploom data fetch"),
            ));
        }
        let labels = self.graph_labels(options)?;
        let count = match &labels {
            Some((table, _)) => table.rows(),
            None => indicator.values.iter().max().map_or(0, |&most| most as usize),
        };
        if labels.is_none() && count > indicator.rows() {
            let row =
                indicator.values.iter().position(|&graph| graph as usize == count).unwrap_or(0);
            let error = indicator.error(
                row,
                "a graph's number is larger than the number of nodes, and no graph labels say how \
                 many graphs there are",
            );
            return Err(Box::new(error.expected(
                format!("numbers from 1 to {} at most", indicator.rows()),
                count.to_string(),
            )));
        }
        if let Some(row) =
            indicator.values.iter().position(|&graph| graph == 0 || graph as usize > count)
        {
            let error = indicator.error(row, "a node is in a graph that does not exist");
            let hint = if indicator.values[row] == 0 {
                "graphs are counted from 1: is this a set whose numbers begin at 0?"
            } else {
                "is graph_labels cut short?"
            };
            return Err(Box::new(
                error
                    .expected(
                        format!("a graph from 1 to {count}"),
                        indicator.values[row].to_string(),
                    )
                    .hint(hint),
            ));
        }
        Ok(Graphs {
            classes_told: false,
            of_node: indicator.values.iter().map(|graph| graph - 1).collect(),
            ids: NodeIds::Numbers((1..=count as u64).collect()),
            labels: labels.map(|(_, labels)| labels),
            splits: Vec::new(),
            columns: Vec::new(),
        })
    }

    fn graph_labels(&self, options: &Options) -> Read<Option<(NumberTable<NumberOrGap>, Labels)>> {
        let parts = match options.label.as_deref() {
            None => ["graph_labels", "graph_attributes"].to_vec(),
            Some(part @ ("graph_labels" | "graph_attributes")) => vec![part],
            Some(other) => {
                let path = self
                    .bundle
                    .names()
                    .next()
                    .map_or(PathBuf::new(), |(index, _)| self.bundle.path(index).to_path_buf());
                let error =
                    ReadError::new(&path, "the label that was asked for is no part of such a set");
                let error =
                    error.expected("graph_labels or graph_attributes", format!("`{other}`"));
                return Err(Box::new(
                    error.hint("put  read: {label: graph_attributes}  into the catalogue's entry"),
                ));
            }
        };
        for part in &parts {
            if let Some(table) = self.maybe::<NumberOrGap>(part, None)? {
                let labels = match (*part, table.columns) {
                    // Targets to be computed are numbers, even if all of them happen to be whole.
                    ("graph_attributes", 1) => {
                        Labels::Values(table.values.iter().map(|gap| gap.0 as f32).collect())
                    }
                    _ => table.labels(),
                };
                return Ok(Some((table, labels)));
            }
        }
        if options.label.is_some() {
            self.must::<NumberOrGap>(parts[0], None).map(|_| None)
        } else {
            Ok(None)
        }
    }

    fn edges(&self, graph_of: &[u32]) -> Read<Edges> {
        let table = self.must::<u32>("A", Some(2))?;
        let nodes = graph_of.len() as u32;
        let (mut source, mut target) =
            (Vec::with_capacity(table.rows()), Vec::with_capacity(table.rows()));
        for (row, ends) in table.values.chunks_exact(2).enumerate() {
            if let Some(&far) = ends.iter().find(|&&end| end == 0 || end > nodes) {
                let error = table.error(row, "an edge names a node that does not exist");
                let hint = if far == 0 {
                    "nodes are counted from 1: is this a set whose numbers begin at 0?"
                } else {
                    "is graph_indicator cut short?"
                };
                return Err(Box::new(
                    error.expected(format!("a node from 1 to {nodes}"), far.to_string()).hint(hint),
                ));
            }
            let [from, to] = [ends[0] - 1, ends[1] - 1];
            let [one, other] = [graph_of[from as usize] + 1, graph_of[to as usize] + 1];
            if one != other {
                let error = table.error(row, "an edge joins nodes of two graphs");
                let error = error.expected(
                    "two nodes of one graph",
                    format!("nodes of the graphs {one} and {other}"),
                );
                return Err(Box::new(error.hint(
                    "do A and graph_indicator belong to one set? line n of graph_indicator is the \
                     graph of node n",
                )));
            }
            source.push(from);
            target.push(to);
        }
        Ok(Edges { source, target, ..Edges::default() })
    }

    fn edge_features(&self, edges: usize) -> Read<Option<EdgeFeatures>> {
        let mut blocks: Vec<(usize, Vec<f32>)> = Vec::new();
        if let Some(table) = self.maybe::<i64>("edge_labels", None)? {
            table.expect_rows("edge labels", edges, "A")?;
            blocks.push(one_hot(&table)?);
        }
        if let Some(table) = self.maybe::<f32>("edge_attributes", None)? {
            table.expect_rows("edge attributes", edges, "A")?;
            blocks.push((table.columns, table.values));
        }
        if blocks.len() < 2 {
            return Ok(blocks
                .pop()
                .map(|(columns, values)| EdgeFeatures { columns: columns as u32, values }));
        }
        let columns: usize = blocks.iter().map(|(columns, _)| columns).sum();
        let mut values = Vec::with_capacity(edges * columns);
        for edge in 0..edges {
            blocks.iter().for_each(|(columns, block)| {
                values.extend_from_slice(&block[edge * columns..(edge + 1) * columns])
            });
        }
        Ok(Some(EdgeFeatures { columns: columns as u32, values }))
    }
}

/// One column is classes; several are one-hot side by side.
fn labels_from_columns(table: &NumberTable<i64>) -> Read<Labels> {
    if table.columns == 1 {
        return Ok(classes(table.values.iter().map(|&value| Some(value)).collect()));
    }
    one_hot(table).map(|(columns, values)| Labels::Rows { columns: columns as u32, values })
}

/// Each column one-hot, its distinct values ascending, all columns side by side.
fn one_hot(table: &NumberTable<i64>) -> Read<(usize, Vec<f32>)> {
    let mut known: Vec<Vec<i64>> = Vec::with_capacity(table.columns);
    for column in 0..table.columns {
        let mut values: Vec<i64> = Vec::new();
        for row in 0..table.rows() {
            let value = table.row(row)[column];
            if let Err(place) = values.binary_search(&value) {
                values.insert(place, value);
            }
            if values.len() > ONE_HOT_MOST {
                let error = table.error(
                    row,
                    "a column of labels has too many distinct values to become one-hot",
                );
                return Err(Box::new(
                    error
                        .expected(format!("at most {ONE_HOT_MOST}"), "more")
                        .hint("rename the file to ..._attributes.txt if these are numbers"),
                ));
            }
        }
        known.push(values);
    }
    let width: usize = known.iter().map(Vec::len).sum();
    let mut hot = vec![0.0; table.rows() * width];
    for (row, out) in hot.chunks_exact_mut(width.max(1)).enumerate() {
        let mut first = 0;
        for (values, value) in known.iter().zip(table.row(row)) {
            out[first + values.partition_point(|known| known < value)] = 1.0;
            first += values.len();
        }
    }
    Ok((width, hot))
}

#[cfg(test)]
mod tests;
