//! ingest: from raw files, or a seeded stand-in, to a graph with features, labels and splits.
//!
//! reads   raw files of a data set                keeps   the data set's own ids, sorted
//! writes  graph                                  bounds  nodes < 2^32 - 1; memory about 60 bytes an edge and the features once
//! never   downloads (the chain of keys decides where data come from); publishes a graph whose counts are not those of the
//!         catalogue; makes anything up silently
pub mod fill;
pub mod generate;
mod prove;
mod source;
mod target;
pub mod transform;

use warploom_contract::{
    Context, Contract, Inputs, Kind, Outputs, Provenance, Stage, StageError, Violation,
    kinds::graph::{EdgeTable, Ids, Labels, NodeTable, write_edges, write_nodes},
};
use warploom_shell::{contracts, requests::IngestRequest};

use warploom_formats::raw::{self, NO_CLASS, NodeIds, RawGraph};

/// The stage.
pub struct Ingest;

impl Stage for Ingest {
    type Request = IngestRequest;
    const CONTRACT: Contract = contracts::INGEST;

    fn run(context: &Context, outputs: &mut Outputs, _inputs: &Inputs, request: &IngestRequest) -> Result<(), StageError> {
        let read = source::read(context, request)?;
        let provenance = read.provenance;
        let (graph, made_up) = target::complete(context, request, read)?;
        outputs.set_provenance(provenance, made_up);
        outputs.fact(Kind::Graph, "dataset", request.entry.name.clone());
        outputs.fact(Kind::Graph, "format", if provenance == Provenance::Real { request.entry.format.as_str() } else { "generated" });
        write(outputs, graph)
    }

    /// Reads the artifact back and tests, edge by edge with sets, what the settings promise of it.
    fn check(_context: &Context, outputs: &Inputs, _inputs: &Inputs, request: &IngestRequest) -> Result<(), Violation> {
        prove::graph_keeps_settings(outputs.get(Kind::Graph)?, request)
    }
}

/// Writes all files of the graph.
fn write(outputs: &mut Outputs, graph: RawGraph) -> Result<(), StageError> {
    let nodes = graph.nodes();
    let ids = match graph.ids {
        NodeIds::Count(count) => Ids::Numbers((0..u64::from(count)).collect()),
        NodeIds::Numbers(numbers) => Ids::Numbers(numbers),
        NodeIds::Strings(strings) => Ids::Strings(strings),
    };
    let labels = graph.labels.map(|labels| match labels {
        raw::Labels::Classes { class, names } => {
            outputs.fact(Kind::Graph, "class_names", names);
            Labels::Classes(class.into_iter().map(|class| (class != NO_CLASS).then_some(class)).collect())
        }
        raw::Labels::Values(values) => Labels::Values(values),
        raw::Labels::Rows { columns, values } => Labels::Rows { columns: columns as usize, values },
    });
    write_features(outputs, nodes, graph.features)?;
    write_nodes(outputs, &NodeTable { labels, splits: graph.splits, ..NodeTable::new(ids) })?;
    write_edges(outputs, EdgeTable { source: graph.edges.source, target: graph.edges.target, weight: graph.edges.weight, kind: None })
}

/// Features stay sparse below this share of values that are not zero: a sparse product then reads less than a dense one.
const SPARSE_BELOW: f64 = 0.1;

fn write_features(outputs: &mut Outputs, nodes: u32, features: Option<raw::Features>) -> Result<(), StageError> {
    use warploom_contract::{
        arrow_file::{write_rows, write_sparse_rows},
        kinds::graph::{FEATURES_COLUMN, FEATURES_FILE, FEATURES_SPARSE_FILE},
    };
    let Some(features) = features else { return Ok(()) };
    let columns = features.columns();
    outputs.count(Kind::Graph, "feature_columns", u64::from(columns));
    match features {
        raw::Features::Dense { values, .. } => write_rows(&outputs.file(Kind::Graph, FEATURES_FILE), FEATURES_COLUMN, columns as usize, values),
        raw::Features::Sparse { offsets, index, values, .. } if (index.len() as f64) < SPARSE_BELOW * f64::from(nodes) * f64::from(columns) => {
            outputs.count(Kind::Graph, "feature_entries", index.len() as u64);
            write_sparse_rows(&outputs.file(Kind::Graph, FEATURES_SPARSE_FILE), FEATURES_COLUMN, offsets, index, values)
        }
        raw::Features::Sparse { offsets, index, values, .. } => {
            let mut dense = vec![0f32; nodes as usize * columns as usize];
            for row in 0..nodes as usize {
                for entry in offsets[row] as usize..offsets[row + 1] as usize {
                    dense[row * columns as usize + index[entry] as usize] = values[entry];
                }
            }
            write_rows(&outputs.file(Kind::Graph, FEATURES_FILE), FEATURES_COLUMN, columns as usize, dense)
        }
    }
}
