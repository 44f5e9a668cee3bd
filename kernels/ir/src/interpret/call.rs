//! call: one operation with its inputs and the world, and how rows and columns of inputs map to
//! those of the result.
//!
//! promises  a row's elements are in row-major order, the last axis varying fastest
//! never     knows what an operation means
use super::input_data::World;
use super::rows::{ElementRows, Scalar};
use crate::Node;

/// The dropout factor of an element: 0, or 1 / (1 - probability). Arguments: site, probability, row
/// in the graph artifact (of edge values: their row), column.
pub type Draw<'a> = dyn Fn(u32, f64, u64, u64) -> f64 + 'a;

/// The state that an operation depends on, apart from its inputs.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Whether this is a training pass: dropout draws, and running statistics are not used.
    pub training: bool,
    /// The draws of dropout; none: the identity also in training.
    pub draw: Option<&'a Draw<'a>>,
}

/// One operation with all its inputs.
pub(super) struct Call<'a> {
    pub node: &'a Node,
    pub inputs: &'a [&'a ElementRows],
    pub input_nodes: &'a [&'a Node],
    pub world: &'a World,
    pub context: Context<'a>,
}

impl Call<'_> {
    /// Number of rows of the result.
    pub fn rows(&self) -> usize {
        self.world.rows(self.node.place)
    }

    /// Elements of a row of the result.
    pub fn columns(&self) -> usize {
        self.node.columns() as usize
    }

    /// The row of an input that this row of the result reads.
    pub fn input_row(&self, input: usize, row: usize) -> usize {
        self.world.map_row(self.input_nodes[input].place, self.node.place, row)
    }

    /// Rows of one integer, computed by row.
    pub fn whole_rows(&self, element: impl Fn(usize) -> i64) -> ElementRows {
        ElementRows::from_integers(self.rows(), 1, (0..self.rows()).map(element).collect())
    }

    /// Computes each element from those of up to three inputs, which broadcast as in numpy, its row
    /// and its column.
    pub fn element_by_element(
        &self,
        element: impl Fn([Scalar; 3], usize, usize) -> Scalar,
    ) -> ElementRows {
        let seen: Vec<Vec<usize>> = self
            .input_nodes
            .iter()
            .map(|input| broadcast_columns(&self.node.shape, &input.shape))
            .collect();
        ElementRows::from_fn(self.node.kind, self.rows(), self.columns(), |row, column| {
            let mut parts = [Scalar::Whole(0); 3];
            for (input, part) in parts.iter_mut().enumerate().take(self.inputs.len()) {
                *part = self.inputs[input].at(self.input_row(input, row), seen[input][column]);
            }
            element(parts, row, column)
        })
    }
}

/// For each element of a row of shape `wide`, the element of a row of shape `narrow` that it reads,
/// by numpy's broadcasting rules.
pub(super) fn broadcast_columns(wide: &[u64], narrow: &[u64]) -> Vec<usize> {
    let missing = wide.len().saturating_sub(narrow.len());
    let count: u64 = wide.iter().product();
    let column = |wide_column: u64| {
        let (mut rest, mut stride, mut made) = (wide_column, 1, 0);
        for axis in (missing..wide.len()).rev() {
            let (place, length) = (rest % wide[axis], narrow[axis - missing]);
            if length > 1 {
                made += place * stride;
            }
            (rest, stride) = (rest / wide[axis], stride * length);
        }
        made as usize
    };
    (0..count).map(column).collect()
}
