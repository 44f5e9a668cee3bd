//! outer_from_narrow_rows: an outer product whose kernel computes the rows of one side from narrow
//! rows, so that they are never materialised.
//!
//! promises  rows are computed here only if this kernel contains all their readers: the outer
//!           product, a second outer product that shares its side, and sums of these rows; a row is
//!           computed once, since one block has all columns of the other side
//! never     rounds the operands of the products that compute them, whatever `plan.matmul` is
use std::rc::Rc;

use super::kernel_parameters::Parameters;
use super::outer_sides::{SideRows, lower_side_rows};
use super::shared_read_sums::Maker;
use super::statement_text::pointer;
use super::statements::Reads;
use super::tensor_core_shapes::paired_columns;
use super::tensor_core_shapes::{
    OuterProductShape, RowFill, RowOrigin, RowPadding, SideColumns, stored_leaf,
};
use super::walk_lowering::WalkLowering;
use super::walk_steps::{Input, Walk};
use super::{Argument, NoKernel, Unit, warpgroup_products};
use warploom_ir::Op;
use warploom_launch::{NarrowSource, Operand, Operation, Rowed, Rows, View, differing, lies};

/// Narrow elements that are read as one vector.
const TOGETHER: u64 = 4;

/// The rows that an outer product computes.
pub(super) struct NarrowRows<'a> {
    /// The number of the product that defines them, and which operand they are here.
    pub maker: usize,
    pub side: usize,
    pub schedule: OuterProductShape,
    pub source: NarrowSource<'a>,
}

/// These rows in the kernel, as data.
pub(super) struct NarrowRowsText {
    /// Narrow elements per row.
    pub narrow: u64,
    /// The rows whose signs mask the result.
    pub positive: SideRows,
    products: Vec<NarrowProduct>,
    /// Columns of the rows.
    wide: u64,
}

/// A product that computes them: its narrow rows from `start` on, of which `own` elements are read,
/// `vector` at a time, and its matrix.
struct NarrowProduct {
    fill: RowFill,
    start: u64,
    own: u64,
    inner: u64,
    matrix: String,
    transposed: bool,
}

/// Narrow elements per row: those of all products, padded with zeros to a whole vector.
fn narrow_elements(source: &NarrowSource) -> u64 {
    source.products.iter().map(|product| product.inner).sum::<u64>().next_multiple_of(TOGETHER)
}

impl<'a> Unit<'a> {
    /// The rows that an outer product computes itself.
    pub(super) fn narrow_rows_for(&self, outer: usize) -> Option<NarrowRows<'a>> {
        let (list, launches) = (self.list, self.list.launches());
        let maker = *self
            .joined
            .sources
            .iter()
            .find(|(_, last)| **last == outer && !self.twins.contains_key(&outer))?
            .0;
        let source = self.joined.source(list, maker)?;
        let operands = |launch: usize| match &launches[launch].operation {
            Operation::Evaluate { op: Op::Outer, inputs, .. } => Some(inputs.as_slice()),
            _ => None,
        };
        let is_made = |operand: &Operand| matches!(operand, Operand::Rows(Rowed { buffer, view: View::Own, .. }) if buffer == source.out);
        let side = operands(outer)?.iter().position(is_made)?;
        let twin = self.twins.iter().find(|(_, later)| **later == outer).map(|(twin, _)| *twin);
        let mut others = vec![operands(outer)?.get(1 - side)?];
        if let Some(twin) = twin {
            let differs = differing(list, launches[outer], launches[twin])
                .filter(|differs| *differs != side)?;
            others.push(operands(twin)?.get(differs)?);
        }
        let reads = |other: &usize| {
            launches[*other].operation.reads().iter().any(|read| read == source.out)
        };
        let is_here = |reader: usize| {
            reader == outer
                || Some(reader) == twin
                || self.beside.get(&reader) == Some(&Maker { launch: outer, operand: side })
        };
        let columns = |operand: &Operand| operand.shape().last().copied().unwrap_or(1);
        let wide = others.iter().map(|other| columns(other)).reduce(paired_columns)?;
        let is_copied = |operand: &&Operand| !is_made(operand) && lies(list, operand);
        if wide <= source.columns
            || !others.iter().all(is_copied)
            || !(0..launches.len()).filter(reads).all(is_here)
        {
            return None;
        }
        let schedule = OuterProductShape::fit(
            SideColumns { wide: wide as usize, narrow: source.columns as usize },
            self.target,
        )?;
        let schedule =
            schedule.with_warpgroups(wide as usize, self.expected_vertices(), true, self.target);
        let schedule = schedule.with_rows_made(narrow_elements(&source) as usize, self.target)?;
        Some(NarrowRows { maker, side, schedule, source })
    }

    /// The outer product that computes the rows of this launch, or of the launch that adds to them.
    pub(super) fn find_computing_outer(&self) -> Option<usize> {
        let makers = [Some(self.number), self.joined.firsts.get(&self.number).copied()];
        makers.into_iter().flatten().find_map(|maker| {
            let outer = *self.joined.sources.get(&maker)?;
            (self.narrow_rows_for(outer)?.maker == maker).then_some(outer)
        })
    }

    /// The rows that are read to compute them.
    pub(super) fn read_narrow_rows(
        &self,
        source: &NarrowSource,
    ) -> Result<(Rc<Walk>, Vec<Input>), NoKernel> {
        let rows = |buffer: &str, columns: u64| {
            Operand::Rows(Rowed {
                buffer: buffer.to_owned(),
                shape: vec![columns],
                view: View::Own,
            })
        };
        let positive = std::iter::once(rows(source.positive, source.columns));
        let operands: Vec<Operand> = positive
            .chain(source.products.iter().map(|product| rows(product.rows, product.inner)))
            .collect();
        Walk::reading(self.list, self.target.bytes_per_real, Rows::Nodes, &operands)
            .map(|(walk, inputs)| (Rc::new(walk), inputs))
            .ok_or_else(|| NoKernel::new("narrow rows that no walk reads".to_owned()))
    }
}

impl NarrowRowsText {
    /// For rows that a walk reads, with their lowerings.
    pub fn new(
        source: &NarrowSource,
        walk: &Rc<Walk>,
        read: &[Input],
    ) -> Result<(NarrowRowsText, Vec<WalkLowering>), NoKernel> {
        let [positive, narrow @ ..] = read else {
            return Err(NoKernel::new("rows of an outer product without a source".to_owned()));
        };
        let (positive, lowerings) = lower_side_rows(walk, &[positive], 1)?;
        let (elements, mut start, mut products) = (narrow_elements(source), 0, Vec::new());
        for (number, (product, input)) in source.products.iter().zip(narrow).enumerate() {
            let leaf = stored_leaf(walk, input, false)
                .ok_or_else(|| NoKernel::new("narrow rows that are not stored".to_owned()))?;
            let inner = product.inner;
            let own = if number + 1 == source.products.len() { elements - start } else { inner };
            let divides = |vector: &u64| {
                [leaf.stride, start, inner].iter().all(|number| number.is_multiple_of(*vector))
            };
            let vector = [TOGETHER, 2].into_iter().find(divides).unwrap_or(1) as usize;
            let origin = RowOrigin::Stored(leaf.clone(), RowPadding::Any);
            let fill = RowFill { origin, vector, columns: inner as usize };
            let (matrix, transposed) = (product.matrix.to_owned(), product.transposed);
            products.push(NarrowProduct { fill, start, own, inner, matrix, transposed });
            start += inner;
        }
        let rows = NarrowRowsText { narrow: elements, positive, products, wide: source.columns };
        Ok((rows, lowerings))
    }

    /// Adds what they read.
    pub fn add_reads(&self, reads: &mut Reads) {
        self.positive.add_reads(reads);
        self.products.iter().for_each(|product| product.fill.add_reads(reads));
    }

    /// Statements that load the narrow rows.
    pub fn request(&self) -> String {
        let load = |product: &NarrowProduct| {
            product
                .numbered(warpgroup_products::NARROW_ROWS)
                .replace("@COPIED@", &product.fill.text())
        };
        self.products.iter().map(load).collect()
    }

    /// Statements that load a column of the matrices.
    pub fn matrix(&self) -> String {
        let column = |product: &NarrowProduct| {
            product
                .numbered(warpgroup_products::COLUMN)
                .replace("@ELEMENT@", &product.element(self.wide))
        };
        let columns: String = self.products.iter().map(column).collect();
        format!("float matrix[{}];\n{columns}", self.narrow)
    }
}

impl NarrowProduct {
    /// A text with the numbers of this product.
    fn numbered(&self, text: &str) -> String {
        let vector = self.fill.vector as u64;
        let numbers = [
            ("@PIECES@", 16 * self.own / vector),
            ("@VECTOR@", vector),
            ("@ELEMENTS@", self.own),
            ("@START@", self.start),
            ("@INNER@", self.inner),
        ];
        numbers
            .iter()
            .fold(text.to_owned(), |text, (name, number)| text.replace(name, &number.to_string()))
    }

    /// An element of the matrix column of a thread.
    fn element(&self, wide: u64) -> String {
        let NarrowProduct { inner, matrix, transposed, .. } = self;
        let place = if *transposed {
            format!("of_team % N * {inner} + k")
        } else {
            format!("k * {wide} + of_team % N")
        };
        format!("__ldg({} + {place})", pointer(matrix))
    }
}

/// Adds the matrices of the products as parameters.
pub(super) fn add_matrix_parameters(source: &NarrowSource, parameters: &mut Parameters) {
    for product in &source.products {
        parameters.push(
            format!("const real* __restrict__ {}", pointer(product.matrix)),
            Argument::Buffer(product.matrix.to_owned()),
        );
    }
}
