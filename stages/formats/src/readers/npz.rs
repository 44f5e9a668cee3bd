//! Graphs in `.npz`: a zip of numpy arrays, told apart by the names of its arrays.
//!
//! reads     `src_li`, `dst_li`, `num_nodes`, perhaps `weights` (GNNAdvisor); `adj_data`,
//!           `adj_indices`, `adj_indptr`, `adj_shape` with `attr_*`, `labels`, `node_names`,
//!           `class_names` (gnn-benchmark); `node_features`, `node_labels`, `edges`, `*_masks`
//!           (heterophilous graphs); `data`, `shape` with `indptr`, `indices` or `row`, `col`
//!           (scipy.sparse.save_npz); a zip that holds one such file
//! promises  nodes are 0, 1, 2, ...; edges in the order of the file; sparse features stay sparse;
//!           every published split is kept
//! promises  values of an adjacency are weights, unless all are 1
//! promises  arrays beside these that are called `features`, `labels`, `train_mask` and so on are
//!           what they are in a file of their own; all others (`attr_names`, `idx_to_node`, ...)
//!           are named in `passed_over`
//! never     unpacks an array that it does not read
//! limits    as containers/zip.rs; of arrays of edges a part at a time, else one array at a time
//!           beside what is kept
//! source    Y. Wang et al., GNNAdvisor (2021); O. Shchur et al., Pitfalls of Graph Neural Network
//!           Evaluation (2018); O. Platonov et al., A critical look at the evaluation of GNNs under
//!           heterophily (2023)
use crate::{
    containers::{
        npy::{array_parts::ArrayParts, node_values},
        npz::{Family, Npz},
        sparse_matrix,
    },
    detect::file_heads::FileHeads,
    f32_rounding::RoundedIntegers,
    format::{Format, expect_one_file},
    options::Options,
    out_of_core::{EdgeSink, Limit, LoadedGraph},
    raw_graph::{Column, Edges, Features, Labels, NODES_MOST, NodeIds, RawGraph},
    read_error::Read,
    side_files::graph_file_arrays,
};
use std::path::{Path, PathBuf};

/// Labels in a sparse matrix become whole rows of at most so many values.
const LABEL_VALUES_MOST: u64 = 1 << 28;

/// Edges that are read at once.
const EDGES_AT_ONCE: usize = 1 << 18;

/// Graphs in `.npz`.
pub const FORMAT: Format = Format {
    name: "npz",
    about: "numpy arrays in one .npz: GNNAdvisor, gnn-benchmark, heterophilous graphs or a scipy \
            sparse matrix",
    recognise,
    read_within: |files, options, limit| read(expect_one_file(files)?, options, limit),
};

/// One file whose arrays are those of a family; an archive around it gives way to the file itself.
fn recognise(look: &FileHeads) -> Option<Vec<PathBuf>> {
    let graphs = |end: &str| -> Vec<PathBuf> {
        // One that lacks an array of its family is recognised too, so that it is said which.
        let is_graph = |npz: Npz, path: &Path| match npz.family() {
            Some(family) => family != Family::Scipy || !is_side_file(path),
            None => npz.lacking().is_some(),
        };
        let is_one =
            |path: &&Path| look.sound(Npz::open(path)).is_some_and(|npz| is_graph(npz, path));
        look.ending(end).into_iter().filter(is_one).map(Path::to_path_buf).collect()
    };
    let plain = graphs(".npz");
    let found = if plain.is_empty() { graphs(".zip") } else { plain };
    (found.len() == 1).then_some(found)
}

/// A sparse matrix of this name holds features or labels of a graph that stands beside it.
fn is_side_file(path: &Path) -> bool {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    ["feat", "attr", "label"].iter().any(|word| stem.contains(word))
        || ["x", "y"].contains(&stem.as_str())
}

/// Reads a file of any family.
pub fn read(path: &Path, options: &Options, limit: &Limit) -> Read<LoadedGraph> {
    let npz = Npz::open(path)?;
    let family = npz.family();
    let mut found = match family {
        Some(Family::Pairs) => npz.pairs(options, limit)?,
        Some(Family::Compressed) => npz.compressed(options, limit)?,
        Some(Family::Masked) => npz.masked(limit)?,
        Some(Family::Scipy) => npz.adjacency("", options, limit)?,
        None => {
            let names: Vec<&str> = npz.names().take(20).collect();
            if let Some(lacking) = npz.lacking() {
                return Err(lacking);
            }
            let error = npz.error("the arrays of this .npz are no graph that is known");
            let expected = "src_li, dst_li, num_nodes; adj_data, adj_indices, adj_indptr, \
                            adj_shape; node_features, edges; or data, shape of scipy";
            let error = error.expected(
                expected,
                if names.is_empty() { "none".into() } else { names.join(", ") },
            );
            return Err(Box::new(error.hint(
                "write the adjacency with  scipy.sparse.save_npz  and features as features.npy \
                 beside it",
            )));
        }
    };
    let others: Vec<&str> = npz.names().filter(|name| !npz.is_taken(family, name)).collect();
    graph_file_arrays::attach(&mut found.graph, &npz.path, &others, |name| npz.array(name))?;
    Ok(found)
}

impl Npz {
    /// Whether the reader of a family reads an array of this name.
    fn is_taken(&self, family: Option<Family>, name: &str) -> bool {
        match family {
            Some(Family::Pairs) => {
                ["src_li", "dst_li", "num_nodes"].contains(&name) || self.weights() == Some(name)
            }
            Some(Family::Compressed) if name == "labels" => !self.has("labels_data"),
            Some(Family::Compressed) if name == "attr_matrix" => !self.has("attr_data"),
            Some(Family::Compressed) if name == "class_names" => self.has("labels"),
            Some(Family::Compressed) => {
                name == "node_names"
                    || ["adj_", "attr_", "labels_"]
                        .iter()
                        .any(|prefix| sparse_matrix::is_part(prefix, name))
            }
            Some(Family::Masked) => {
                ["node_features", "node_labels", "edges", "train_masks", "val_masks", "test_masks"]
                    .contains(&name)
            }
            Some(Family::Scipy) => sparse_matrix::is_part("", name),
            None => false,
        }
    }

    /// The array of weights beside two lists of ends.
    fn weights(&self) -> Option<&'static str> {
        ["weights", "weight", "edge_weight", "edge_weights"].into_iter().find(|name| self.has(name))
    }

    /// The number of nodes, within bounds.
    fn nodes(&self, count: u64) -> Read<u32> {
        let error = || {
            Box::new(
                self.error("the graph has too many nodes")
                    .expected(format!("at most {NODES_MOST}"), count.to_string()),
            )
        };
        u32::try_from(count).ok().filter(|_| count <= NODES_MOST).ok_or_else(error)
    }

    fn pairs(&self, options: &Options, limit: &Limit) -> Read<LoadedGraph> {
        let count = self.array("num_nodes")?;
        let nodes = match count.u64s()?[..] {
            [nodes] => self.nodes(nodes)?,
            ref numbers => {
                let error = count
                    .error("this is no number of nodes")
                    .expected("one number", format!("{} numbers", numbers.len()));
                return Err(Box::new(error.hint("write it as  numpy.int64(NODES)")));
            }
        };
        let (mut sources, mut targets) = (self.parts("src_li")?, self.parts("dst_li")?);
        let unread = options.weight.as_deref() == Some("none");
        let mut weights =
            self.weights().filter(|_| !unread).map(|name| self.parts(name)).transpose()?;
        let fits = |list: &ArrayParts<'_>, what: &str| {
            let error =
                || list.error(format!("it does not have {what} for each beginning in `src_li`"));
            let error = || {
                error()
                    .expected(sources.count().to_string(), list.count().to_string())
                    .hint("write all arrays of edges in one length")
            };
            if list.count() == sources.count() { Ok(()) } else { Err(Box::new(error())) }
        };
        fits(&targets, "an end")?;
        weights.iter().try_for_each(|weights| fits(weights, "a weight"))?;
        let (mut sink, mut rounded) = (EdgeSink::new(limit), RoundedIntegers::default());
        while sink.count() < sources.count() {
            let source = sources.next(EDGES_AT_ONCE)?.rows_below(u64::from(nodes))?;
            let target = targets.next(EDGES_AT_ONCE)?.rows_below(u64::from(nodes))?;
            let weight = weights.as_mut().map(|weights| weights.next(EDGES_AT_ONCE)).transpose()?;
            weight
                .iter()
                .try_for_each(|weight| weight.rounded().map(|part| rounded.join(part, 0)))?;
            let weight = weight.map(|weight| weight.f32s()).transpose()?;
            weight.iter().try_for_each(|weight| {
                self.finite(weight, sink.count(), |at| format!("edge {at}"))
            })?;
            sink.take(Edges { source, target, weight, ..Edges::default() });
            sink.settle()?;
        }
        let (edges, spilled) = sink.finish()?;
        let notes = rounded.note("weights", "edge").into_iter().collect();
        Ok(LoadedGraph {
            graph: RawGraph {
                ids: NodeIds::Count(nodes),
                edges,
                nodes_told: true,
                notes,
                ..RawGraph::default()
            },
            spilled,
        })
    }

    /// Refuses weights that are not finite; `before` edges come before them.
    fn finite(&self, weights: &[f32], before: u64, name: impl Fn(u64) -> String) -> Read<()> {
        let Some(at) = weights.iter().position(|weight| !weight.is_finite()) else { return Ok(()) };
        let error =
            self.error(format!("{} has a weight that is not finite", name(before + at as u64)));
        let hint = "write finite weights, or read none:  --set ingest.weights=drop";
        Err(Box::new(error.expected("a finite number", weights[at].to_string()).hint(hint)))
    }

    /// A graph from the sparse matrix of this prefix.
    fn adjacency(&self, prefix: &str, options: &Options, limit: &Limit) -> Read<LoadedGraph> {
        let (mut sink, mut rounded) = (EdgeSink::new(limit), RoundedIntegers::default());
        let unread = options.weight.as_deref() == Some("none");
        let mut ones = true;
        let (rows, columns) = sparse_matrix::for_each_part(self, prefix, |part| {
            if !unread {
                self.finite(&part.value, sink.count(), |at| {
                    format!("entry {at} of the adjacency")
                })?;
            }
            rounded.join(part.rounded, 0);
            ones &= part.value.iter().all(|&weight| weight == 1.0);
            sink.take(Edges {
                source: part.row,
                target: part.column,
                weight: (!unread).then_some(part.value),
                ..Edges::default()
            });
            sink.settle()
        })?;
        if rows != columns {
            let error = self
                .error("the adjacency is not square")
                .expected("as many rows as columns", format!("{rows} x {columns}"));
            let hint = "nodes of two kinds: write the entries as an edge list,  rROW cCOLUMN \
                        VALUE  a line, and add  --set ingest.ids=string";
            return Err(Box::new(error.hint(hint)));
        }
        let nodes = self.nodes(u64::from(rows))?;
        let (mut edges, mut spilled) = sink.finish()?;
        // Graphs without weights are written so.
        if ones {
            edges.weight = None;
            spilled.iter_mut().for_each(|spilled| spilled.weighted = false);
        }
        let notes = rounded.note("weights", "entry").filter(|_| !unread).into_iter().collect();
        Ok(LoadedGraph {
            graph: RawGraph {
                ids: NodeIds::Count(nodes),
                edges,
                nodes_told: true,
                notes,
                ..RawGraph::default()
            },
            spilled,
        })
    }

    fn compressed(&self, options: &Options, limit: &Limit) -> Read<LoadedGraph> {
        let LoadedGraph { mut graph, spilled } = self.adjacency("adj_", options, limit)?;
        let nodes = graph.ids.len();
        graph.features = self.attributes(nodes)?;
        graph.labels = self.labels(nodes)?;
        if let Some(names) = self.array_if("node_names")? {
            node_values::expect_rows(&names, nodes)?;
            graph.columns.push((
                "name".into(),
                Column::Texts(names.words()?.into_iter().map(Some).collect()),
            ));
        }
        Ok(LoadedGraph { graph, spilled })
    }

    fn attributes(&self, nodes: usize) -> Read<Option<Features>> {
        if self.has("attr_data") {
            let entries = sparse_matrix::read_entries(self, "attr_")?;
            entries.expect_rows(self, nodes, "attributes")?;
            return Ok(Some(entries.into_features()));
        }
        let Some(array) = self.array_if("attr_matrix")? else { return Ok(None) };
        node_values::expect_rows(&array, nodes)?;
        node_values::features(&array).map(Some)
    }

    fn labels(&self, nodes: usize) -> Read<Option<Labels>> {
        if self.has("labels_data") {
            let entries = sparse_matrix::read_entries(self, "labels_")?;
            entries.expect_rows(self, nodes, "labels")?;
            if u64::from(entries.rows) * u64::from(entries.columns) > LABEL_VALUES_MOST {
                let found = format!("{} x {}", entries.rows, entries.columns);
                return Err(Box::new(
                    self.error("labels are too large")
                        .expected(format!("at most {LABEL_VALUES_MOST} values"), found),
                ));
            }
            let mut values = vec![0.0; nodes * entries.columns as usize];
            for (at, &value) in entries.value.iter().enumerate() {
                values[entries.row[at] as usize * entries.columns as usize
                    + entries.column[at] as usize] += value;
            }
            return Ok(Some(Labels::Rows { columns: entries.columns, values }));
        }
        let Some(labels) = self.array_if("labels")? else { return Ok(None) };
        node_values::expect_rows(&labels, nodes)?;
        match self.array_if("class_names")? {
            Some(names) if names.is_text() && labels.shape.len() == 1 && !labels.is_text() => {
                node_values::named_classes(&labels, &names).map(Some)
            }
            _ => node_values::labels(&labels).map(Some),
        }
    }

    fn masked(&self, limit: &Limit) -> Read<LoadedGraph> {
        let features = self.array("node_features")?;
        let (rows, _) = features.rows()?;
        let nodes = self.nodes(rows as u64)?;
        let mut ends = self.parts("edges")?;
        let wrong = || {
            Box::new(
                ends.error("edges are no rows of two ends")
                    .expected("a shape of (edges, 2)", format!("{:?}", ends.shape)),
            )
        };
        if ends.shape.len() != 2 || ends.shape[1] != 2 {
            return Err(wrong());
        }
        let mut sink = EdgeSink::new(limit);
        while 2 * sink.count() < ends.count() {
            let both = ends.next(2 * EDGES_AT_ONCE)?.rows_below(u64::from(nodes))?;
            let (source, target) = both.chunks_exact(2).map(|pair| (pair[0], pair[1])).unzip();
            sink.take(Edges { source, target, ..Edges::default() });
            sink.settle()?;
        }
        let (edges, spilled) = sink.finish()?;
        let labels = self.array_if("node_labels")?;
        labels.iter().try_for_each(|labels| node_values::expect_rows(labels, rows))?;
        let [train, validation, test] =
            ["train_masks", "val_masks", "test_masks"].map(|name| self.array_if(name));
        let (train, validation, test) = (train?, validation?, test?);
        let graph = RawGraph {
            ids: NodeIds::Count(nodes),
            edges,
            directed: Some(false),
            labels: labels.map(|labels| node_values::labels(&labels)).transpose()?,
            splits: node_values::splits_of_masks(
                [train.as_ref(), validation.as_ref(), test.as_ref()],
                rows,
            )?,
            features: Some(node_values::features(&features)?),
            ..RawGraph::default()
        };
        Ok(LoadedGraph { graph, spilled })
    }
}

#[cfg(test)]
pub(crate) mod tests;
