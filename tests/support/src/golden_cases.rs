//! golden_cases: golden numbers that other software made, and the graph rules that their formulas
//! state.
//!
//! promises  a case that is not in the repository is read from the shared folder, or skipped with a
//!           line that says so
//! never     changes what is compared: the tolerance is that of case.json
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use safetensors::{Dtype, SafeTensors};
use serde_json::Value;

use crate::graphs::EdgeList;

/// A golden case.
pub struct GoldenCase {
    /// Name of its folder.
    pub name: String,
    /// case.json.
    pub text: Value,
    tensors: BTreeMap<String, Tensor>,
}

/// An array, whole numbers as reals.
pub struct Tensor {
    /// Lengths of its axes.
    pub shape: Vec<usize>,
    /// Row-major.
    pub values: Vec<f64>,
}

/// A list of edges with what belongs to each.
#[derive(Clone, Debug, Default)]
pub struct Edges {
    /// Number of nodes; the last may have no edge.
    pub nodes: usize,
    /// Source of each edge.
    pub source: Vec<u32>,
    /// Target of each edge.
    pub target: Vec<u32>,
    /// Weight of each edge; none: all 1.
    pub weight: Option<Vec<f64>>,
    /// Edge of the case that each one is; none: added.
    pub stored: Vec<Option<usize>>,
}

/// Where cases lie: in the repository, and in the shared folder.
fn folders() -> [PathBuf; 2] {
    [crate::repository().join("tests/golden"), crate::shared().join("golden")]
}

/// Names of all cases that are here.
pub fn names() -> BTreeSet<String> {
    let entries = folders()
        .into_iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .flatten();
    entries
        .filter(|entry| entry.path().join("case.json").is_file())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}

impl GoldenCase {
    /// Reads a case; none, with a line that says why, when it is not in the repository and the
    /// shared folder is absent.
    pub fn read(name: &str) -> Option<GoldenCase> {
        let places = folders().map(|folder| folder.join(name));
        let Some(folder) = places.iter().find(|place| place.join("case.json").is_file()) else {
            let [ours, shared] = places.map(|place| place.display().to_string());
            crate::skips::skipped(name, format!("neither {ours} nor {shared} is there"));
            return None;
        };
        let text =
            serde_json::from_slice(&std::fs::read(folder.join("case.json")).unwrap()).unwrap();
        let bytes = std::fs::read(folder.join("tensors.safetensors")).unwrap();
        let mut tensors = BTreeMap::new();
        for (tensor, view) in SafeTensors::deserialize(&bytes).unwrap().tensors() {
            let values = match view.dtype() {
                Dtype::F64 => view
                    .data()
                    .chunks(8)
                    .map(|part| f64::from_le_bytes(part.try_into().unwrap()))
                    .collect(),
                Dtype::I32 => view
                    .data()
                    .chunks(4)
                    .map(|part| f64::from(i32::from_le_bytes(part.try_into().unwrap())))
                    .collect(),
                other => panic!("{name}: tensor {tensor} has type {other:?}"),
            };
            tensors.insert(tensor, Tensor { shape: view.shape().to_vec(), values });
        }
        Some(GoldenCase { name: name.to_owned(), text, tensors })
    }

    /// A tensor, if the case has it.
    pub fn find(&self, name: &str) -> Option<&Tensor> {
        self.tensors.get(name)
    }

    /// A tensor that the case has.
    pub fn tensor(&self, name: &str) -> &Tensor {
        self.find(name).unwrap_or_else(|| panic!("{}: no tensor {name}", self.name))
    }

    /// Names that begin so, without that beginning.
    pub fn names(&self, prefix: &str) -> Vec<String> {
        self.tensors
            .keys()
            .filter_map(|name| name.strip_prefix(prefix))
            .map(str::to_owned)
            .collect()
    }

    /// A tensor of whole numbers.
    pub fn ids(&self, name: &str) -> Vec<u32> {
        self.tensor(name).values.iter().map(|value| *value as u32).collect()
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.text["graph"]["nodes"].as_u64().unwrap() as usize
    }

    /// A number of case.json.
    pub fn number(&self, group: &str, name: &str) -> f64 {
        self.text[group][name]
            .as_f64()
            .unwrap_or_else(|| panic!("{}: no number {group}.{name}", self.name))
    }

    /// Whether numbers are fitted; else classes are.
    pub fn is_regression(&self) -> bool {
        self.text["loss"].as_str().is_some_and(|loss| loss.starts_with("mean squared"))
    }

    /// A setting of the optimizer.
    pub fn adam(&self, name: &str) -> f64 {
        self.text["optimizer"]["adam"][name]
            .as_f64()
            .unwrap_or_else(|| panic!("{}: no setting {name} of Adam", self.name))
    }

    /// How often the parameters are updated.
    pub fn steps(&self) -> u64 {
        self.text["optimizer"]["steps"].as_u64().unwrap()
    }

    /// The edges as stored.
    pub fn edges(&self, weighted: bool) -> Edges {
        let source = self.ids("graph.source");
        let stored = (0..source.len()).map(Some).collect();
        let weight = weighted.then(|| self.tensor("graph.weight").values.clone());
        Edges { nodes: self.nodes(), source, target: self.ids("graph.target"), weight, stored }
    }

    /// Features as dense rows, and how many of them are not zero where the case has them sparse.
    pub fn features(&self) -> (Tensor, Option<u64>) {
        if let Some(dense) = self.find("x") {
            return (Tensor { shape: dense.shape.clone(), values: dense.values.clone() }, None);
        }
        let shape: Vec<usize> =
            self.ids("x.shape").into_iter().map(|length| length as usize).collect();
        let mut values = vec![0.0; shape[0] * shape[1]];
        let places = self.ids("x.row").into_iter().zip(self.ids("x.column"));
        places.for_each(|(row, column)| values[row as usize * shape[1] + column as usize] = 1.0);
        (Tensor { shape, values }, Some(self.tensor("x.row").values.len() as u64))
    }

    /// How far numbers of a type may be from those of a group; none where case.json says that they
    /// cannot be compared.
    pub fn tolerance(&self, dtype: &str, group: &str) -> Option<f64> {
        let general = if dtype == "f32" { 1e-4 } else { 1e-9 };
        self.text["tolerance"][dtype].get(group).map_or(Some(general), Value::as_f64)
    }

    /// The largest magnitude of a tensor; where that is 0, of its whole group.
    pub fn scale(&self, name: &str) -> f64 {
        let largest = |values: &[f64]| {
            values.iter().fold(0.0, |largest: f64, value| {
                if value.is_finite() { largest.max(value.abs()) } else { largest }
            })
        };
        let mut scale = largest(&self.tensor(name).values);
        if scale == 0.0 {
            let prefix = name.split_once('.').map_or(name, |(prefix, _)| prefix);
            let group = self.tensors.iter().filter(|(other, _)| {
                other.split_once('.').map_or(other.as_str(), |(prefix, _)| prefix) == prefix
            });
            scale = group.map(|(_, tensor)| largest(&tensor.values)).fold(0.0, f64::max);
        }
        scale
    }

    fn bound(&self, name: &str, group: &str) -> f64 {
        self.tolerance("f64", group).unwrap() * self.scale(name)
    }

    /// Compares all elements to the tolerance of a group in f64.
    pub fn compare(&self, name: &str, got: &[f64], group: &str) {
        self.compare_with(name, got, &self.tensor(name).values, group);
    }

    /// Compares with a part, or another layout, of a tensor, to the bound of the whole.
    pub fn compare_with(&self, name: &str, got: &[f64], want: &[f64], group: &str) {
        assert_eq!(got.len(), want.len(), "{}: elements of {name}", self.name);
        let bound = self.bound(name, group);
        for (index, (got, want)) in got.iter().zip(want).enumerate() {
            let close = got == want || (got - want).abs() <= bound;
            assert!(
                close,
                "{}: {name}[{index}]: got {got:e}, want {want:e}, bound {bound:e}",
                self.name
            );
        }
    }

    /// Whether these are the numbers of the tensor.
    pub fn agrees(&self, name: &str, got: &[f64], group: &str) -> bool {
        let (want, bound) = (&self.tensor(name).values, self.bound(name, group));
        got.len() == want.len()
            && got.iter().zip(want).all(|(got, want)| got == want || (got - want).abs() <= bound)
    }
}

impl From<&EdgeList> for Edges {
    fn from(graph: &EdgeList) -> Edges {
        Edges::new(graph.nodes, &graph.edges)
    }
}

impl Edges {
    /// Edges without weights.
    pub fn new(nodes: usize, edges: &[(u32, u32)]) -> Edges {
        let stored = (0..edges.len()).map(Some).collect();
        Edges {
            nodes,
            source: edges.iter().map(|edge| edge.0).collect(),
            target: edges.iter().map(|edge| edge.1).collect(),
            weight: None,
            stored,
        }
    }

    /// Source and target of each edge.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.source.iter().copied().zip(self.target.iter().copied())
    }

    fn push(&mut self, source: u32, target: u32) {
        self.source.push(source);
        self.target.push(target);
        self.stored.push(None);
        if let Some(weight) = &mut self.weight {
            weight.push(1.0);
        }
    }

    /// A self loop of weight 1 for each node that has none: `self_loops: add`.
    pub fn with_self_loops(mut self) -> Edges {
        let mut looped = vec![false; self.nodes];
        self.pairs()
            .filter(|(source, target)| source == target)
            .for_each(|(node, _)| looped[node as usize] = true);
        (0..self.nodes as u32)
            .filter(|node| !looped[*node as usize])
            .for_each(|node| self.push(node, node));
        self
    }

    /// No self loops: `self_loops: drop`.
    pub fn without_self_loops(self) -> Edges {
        let kept: Vec<usize> = (0..self.source.len())
            .filter(|edge| self.source[*edge] != self.target[*edge])
            .collect();
        let of = |values: &[u32]| kept.iter().map(|edge| values[*edge]).collect();
        let weight =
            self.weight.as_ref().map(|weight| kept.iter().map(|edge| weight[*edge]).collect());
        let stored = kept.iter().map(|edge| self.stored[*edge]).collect();
        Edges {
            nodes: self.nodes,
            source: of(&self.source),
            target: of(&self.target),
            weight,
            stored,
        }
    }

    /// Both directions of every edge, each once: `symmetrize: true, duplicates: merge`.
    pub fn symmetric(&self) -> Edges {
        let mut pairs: Vec<(u32, u32)> = self
            .pairs()
            .flat_map(|(source, target)| [(source, target), (target, source)])
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        Edges::new(self.nodes, &pairs)
    }

    /// In-neighbours of each node, a parallel edge each time.
    pub fn in_neighbours(&self) -> Vec<Vec<usize>> {
        let mut found = vec![Vec::new(); self.nodes];
        self.pairs().for_each(|(source, target)| found[target as usize].push(source as usize));
        found
    }
}
