//! dense_implementations: what the programs compute, written a second time, on dense matrices or
//! plain loops.
//!
//! promises  shares nothing with the compiler; each follows the formula of the paper, not the text
//!           of the program
//! never     is fast
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use warploom_test_support::golden_cases::Edges;

/// A dense matrix, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    pub rows: usize,
    pub columns: usize,
    pub values: Vec<f64>,
}

impl Matrix {
    pub fn new(rows: usize, columns: usize, values: Vec<f64>) -> Matrix {
        assert_eq!(values.len(), rows * columns);
        Matrix { rows, columns, values }
    }

    fn zeros(rows: usize, columns: usize) -> Matrix {
        Matrix::new(rows, columns, vec![0.0; rows * columns])
    }

    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.columns + column]
    }

    pub fn times(&self, right: &Matrix) -> Matrix {
        assert_eq!(self.columns, right.rows);
        let mut product = Matrix::zeros(self.rows, right.columns);
        for row in 0..self.rows {
            for inner in 0..self.columns {
                for column in 0..right.columns {
                    product.values[row * right.columns + column] +=
                        self.at(row, inner) * right.at(inner, column);
                }
            }
        }
        product
    }

    pub fn transposed(&self) -> Matrix {
        let places =
            (0..self.columns).flat_map(|column| (0..self.rows).map(move |row| (row, column)));
        Matrix::new(
            self.columns,
            self.rows,
            places.map(|(row, column)| self.at(row, column)).collect(),
        )
    }

    /// `self` times a weight `[out, in]`, plus a bias.
    pub fn linear(&self, weight: &Matrix, bias: &[f64]) -> Matrix {
        let mut product = self.times(&weight.transposed());
        if !bias.is_empty() {
            product
                .values
                .iter_mut()
                .enumerate()
                .for_each(|(index, value)| *value += bias[index % bias.len()]);
        }
        product
    }

    pub fn scaled(&self, factor: f64) -> Matrix {
        self.map(|value| value * factor)
    }

    pub fn plus(&self, other: &Matrix) -> Matrix {
        assert_eq!((self.rows, self.columns), (other.rows, other.columns));
        Matrix::new(
            self.rows,
            self.columns,
            self.values.iter().zip(&other.values).map(|(a, b)| a + b).collect(),
        )
    }

    pub fn map(&self, function: impl Fn(f64) -> f64) -> Matrix {
        Matrix::new(
            self.rows,
            self.columns,
            self.values.iter().map(|value| function(*value)).collect(),
        )
    }

    pub fn relu(&self) -> Matrix {
        self.map(|value| value.max(0.0))
    }
}

/// Parameters by name.
pub type Parameters = BTreeMap<String, Matrix>;

fn with_bias(x: &Matrix, parameters: &Parameters, name: &str) -> Matrix {
    x.linear(&parameters[&format!("{name}.weight")], &parameters[&format!("{name}.bias")].values)
}

/// D^-1/2 A D^-1/2 with A[target, source] the sum of the weights, D of the in-degrees.
fn normalised(edges: &Edges) -> Matrix {
    let mut adjacency = Matrix::zeros(edges.nodes, edges.nodes);
    for (edge, (source, target)) in edges.pairs().enumerate() {
        adjacency.values[target as usize * edges.nodes + source as usize] +=
            edges.weight.as_ref().map_or(1.0, |weight| weight[edge]);
    }
    let degree: Vec<f64> = (0..edges.nodes)
        .map(|row| adjacency.values[row * edges.nodes..(row + 1) * edges.nodes].iter().sum())
        .collect();
    let root = |node: usize| if degree[node] > 0.0 { degree[node].powf(-0.5) } else { 0.0 };
    let places = (0..edges.nodes).flat_map(|row| (0..edges.nodes).map(move |column| (row, column)));
    Matrix::new(
        edges.nodes,
        edges.nodes,
        places.map(|(row, column)| root(row) * adjacency.at(row, column) * root(column)).collect(),
    )
}

/// Wu et al. 2019: S^K X W^T + b.
pub fn sgc(edges: &Edges, x: &Matrix, parameters: &Parameters, hops: usize) -> Matrix {
    let smooth = normalised(edges);
    let smoothed = (0..hops).fold(x.clone(), |h, _| smooth.times(&h));
    with_bias(&smoothed, parameters, "sgc.sgc.0.linear.0")
}

/// Chen et al. 2020, equation 5: H' = relu(((1 - alpha) S H + alpha H0) ((1 - beta) I + beta W)),
/// beta = log(lambda / l + 1).
pub fn gcnii(
    edges: &Edges,
    x: &Matrix,
    parameters: &Parameters,
    (layers, alpha, lambda): (usize, f64, f64),
) -> Matrix {
    let smooth = normalised(edges);
    let first = with_bias(x, parameters, "gcnii.gcnii.0.linear.0").relu();
    let mut h = first.clone();
    for layer in 1..=layers {
        let beta = (lambda / layer as f64 + 1.0).ln();
        let weight = parameters[&format!("gcnii.gcnii.0.linear.{layer}.weight")].transposed();
        let width = weight.rows;
        let identity = Matrix::new(
            width,
            width,
            (0..width * width)
                .map(|index| if index % (width + 1) == 0 { 1.0 } else { 0.0 })
                .collect(),
        );
        let mapping = identity.scaled(1.0 - beta).plus(&weight.scaled(beta));
        h = smooth.times(&h).scaled(1.0 - alpha).plus(&first.scaled(alpha)).times(&mapping).relu();
    }
    with_bias(&h, parameters, &format!("gcnii.gcnii.0.linear.{}", layers + 1))
}

/// Hamilton, Ying & Leskovec 2017 with the largest of the neighbours; with a pool, of relu(linear)
/// of them.
pub fn sage_max(
    edges: &Edges,
    x: &Matrix,
    parameters: &Parameters,
    (layers, pool): (usize, bool),
) -> Matrix {
    let neighbours = edges.in_neighbours();
    let mut h = x.clone();
    for layer in 0..layers {
        let linears = if pool { 3 } else { 2 };
        let name =
            |number: usize| format!("sage_max.sage_max.0.linear.{}", layer * linears + number);
        let message = if pool { with_bias(&h, parameters, &name(0)).relu() } else { h.clone() };
        let mut largest = Matrix::zeros(edges.nodes, message.columns);
        for (node, near) in neighbours.iter().enumerate().filter(|(_, near)| !near.is_empty()) {
            for column in 0..message.columns {
                let values = near.iter().map(|source| message.at(*source, column));
                largest.values[node * message.columns + column] =
                    values.fold(f64::NEG_INFINITY, f64::max);
            }
        }
        let own = h.linear(&parameters[&format!("{}.weight", name(linears - 1))], &[]);
        h = with_bias(&largest, parameters, &name(linears - 2)).plus(&own);
        if layer + 1 < layers {
            h = h.relu();
        }
    }
    h
}

/// Mean over rows of -log softmax(row)[class].
pub fn cross_entropy(scores: &Matrix, classes: &[f64], rows: &[u32]) -> f64 {
    let of_row = |row: &u32| {
        let scores =
            &scores.values[*row as usize * scores.columns..(*row as usize + 1) * scores.columns];
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        scores.iter().map(|score| (score - largest).exp()).sum::<f64>().ln() + largest
            - scores[classes[*row as usize] as usize]
    };
    rows.iter().map(of_row).sum::<f64>() / rows.len() as f64
}

/// Personalised PageRank by the dense matrix, so many steps; vertices without out-edges lead back
/// to the source.
pub fn personalized_pagerank(
    edges: &Edges,
    sources: &[usize],
    damping: f64,
    steps: usize,
) -> Vec<f64> {
    let mut step = Matrix::zeros(edges.nodes, edges.nodes);
    let mut leaving = vec![0.0; edges.nodes];
    edges.pairs().for_each(|(from, _)| leaving[from as usize] += 1.0);
    edges.pairs().for_each(|(from, to)| {
        step.values[to as usize * edges.nodes + from as usize] += 1.0 / leaving[from as usize]
    });
    (0..edges.nodes).filter(|node| leaving[*node] == 0.0).for_each(|node| {
        sources.iter().for_each(|source| {
            step.values[source * edges.nodes + node] = 1.0 / sources.len() as f64
        });
    });
    let mut start = Matrix::zeros(edges.nodes, 1);
    sources.iter().for_each(|source| start.values[*source] = 1.0 / sources.len() as f64);
    let ranks = (0..steps).fold(start.clone(), |rank, _| {
        step.times(&rank).scaled(damping).plus(&start.scaled(1.0 - damping))
    });
    ranks.values
}

/// Hubs and authorities by the dense matrix, so many rounds; each sums to 1 at the end.
pub fn hits(edges: &Edges, rounds: usize) -> (Vec<f64>, Vec<f64>) {
    let mut links = Matrix::zeros(edges.nodes, edges.nodes);
    edges
        .pairs()
        .for_each(|(from, to)| links.values[from as usize * edges.nodes + to as usize] += 1.0);
    let parts = |values: &Matrix| {
        let total: f64 = values.values.iter().sum();
        if total > 0.0 { values.scaled(1.0 / total) } else { values.clone() }
    };
    let mut hubs = Matrix::new(edges.nodes, 1, vec![1.0; edges.nodes]);
    let mut authorities = hubs.clone();
    let back = links.transposed();
    for _ in 0..rounds {
        authorities = parts(&back.times(&hubs));
        hubs = parts(&links.times(&authorities));
    }
    (hubs.values, authorities.values)
}

/// Labels after rounds of voting among in-neighbours: most votes, then smallest.
pub fn label_propagation(edges: &Edges, rounds: usize) -> Vec<i64> {
    let neighbours = edges.in_neighbours();
    let mut labels: Vec<i64> = (0..edges.nodes as i64).collect();
    for _ in 0..rounds {
        let before = labels.clone();
        for (node, near) in neighbours.iter().enumerate().filter(|(_, near)| !near.is_empty()) {
            let mut votes: BTreeMap<i64, usize> = BTreeMap::new();
            near.iter().for_each(|source| *votes.entry(before[*source]).or_default() += 1);
            labels[node] =
                *votes.iter().max_by_key(|(label, count)| (**count, -**label)).unwrap().0;
        }
    }
    labels
}

/// Level by a queue, and the smallest id among the in-neighbours one level before; -1 and none out
/// of reach.
pub fn bfs(edges: &Edges, source: usize) -> (Vec<i64>, Vec<Option<i64>>) {
    let mut following = vec![Vec::new(); edges.nodes];
    edges.pairs().for_each(|(from, to)| following[from as usize].push(to as usize));
    let mut levels = vec![-1; edges.nodes];
    let mut waiting = VecDeque::new();
    if source < edges.nodes {
        levels[source] = 0;
        waiting.push_back(source);
    }
    while let Some(node) = waiting.pop_front() {
        for &next in &following[node] {
            if levels[next] < 0 {
                levels[next] = levels[node] + 1;
                waiting.push_back(next);
            }
        }
    }
    let parent = |(node, near): (usize, &Vec<usize>)| {
        let above = near
            .iter()
            .filter(|source| levels[**source] >= 0 && levels[**source] + 1 == levels[node]);
        above.min().map(|source| *source as i64)
    };
    let parents = edges.in_neighbours().iter().enumerate().map(parent).collect();
    (levels, parents)
}

/// Lengths of shortest paths by relaxing every edge until nothing changes.
pub fn sssp(edges: &Edges, source: usize) -> Vec<f64> {
    let mut distance = vec![f64::INFINITY; edges.nodes];
    if source < edges.nodes {
        distance[source] = 0.0;
    }
    for _ in 0..edges.nodes {
        for (edge, (from, to)) in edges.pairs().enumerate() {
            let length = edges.weight.as_ref().map_or(1.0, |weight| weight[edge]);
            distance[to as usize] = distance[to as usize].min(distance[from as usize] + length);
        }
    }
    distance
}

/// Core numbers by taking off the vertex of least degree, again and again; of a symmetric set
/// without loops.
pub fn cores(edges: &Edges) -> Vec<i64> {
    let mut near: Vec<BTreeSet<usize>> =
        edges.in_neighbours().into_iter().map(|near| near.into_iter().collect()).collect();
    let (mut cores, mut core) = (vec![0; edges.nodes], 0);
    let mut left: BTreeSet<usize> = (0..edges.nodes).collect();
    while let Some(node) = left.iter().copied().min_by_key(|node| near[*node].len()) {
        core = core.max(near[node].len());
        cores[node] = core as i64;
        left.remove(&node);
        for other in std::mem::take(&mut near[node]) {
            near[other].remove(&node);
        }
    }
    cores
}

/// Triangles through each vertex, by trying all pairs of neighbours; of a symmetric set without
/// loops.
pub fn triangles(edges: &Edges) -> Vec<i64> {
    let near: Vec<BTreeSet<usize>> =
        edges.in_neighbours().into_iter().map(|near| near.into_iter().collect()).collect();
    let closed = |near_one: &BTreeSet<usize>| {
        near_one
            .iter()
            .map(|a| near_one.iter().filter(|b| a < *b && near[*a].contains(b)).count() as i64)
            .sum()
    };
    near.iter().map(closed).collect()
}

/// The smallest id of each weakly connected component.
pub fn components(edges: &Edges) -> Vec<i64> {
    let mut labels: Vec<i64> = (0..edges.nodes as i64).collect();
    for _ in 0..edges.nodes {
        for (from, to) in edges.pairs() {
            let least = labels[from as usize].min(labels[to as usize]);
            (labels[from as usize], labels[to as usize]) = (least, least);
        }
    }
    labels
}
