//! outer_from_narrow_rows: an outer product whose kernel computes the rows of one side from narrow
//! rows, so that they are never materialised.
//!
//! promises  rows are computed here only if this kernel contains all their readers: the outer
//!           product, a second outer product that shares its side, and sums of these rows; a row is
//!           computed once, since one block has all columns of the other side
//! never     rounds the operands of the products that compute them, whatever `plan.matmul` is
use super::graph_pooling::RowValue;
use super::kernel_parameters::Parameters;
use super::outer_products::{emit_side_rows, paired_columns};
use super::shared_read_sums::Maker;
use super::statement_text::pointer;
use super::statements::{Reads, Source};
use super::tensor_core_shapes::{
    OuterProductShape, RowPadding, SideColumns, emit_row_fill, stored_leaf,
};
use super::walk_lowering::WalkLowering;
use super::walk_steps::{Input, Walk};
use super::{Argument, NoKernel, Unit, warpgroup_products};
use warploom_ir::Op;
use warploom_launch::{
    Narrow, NarrowSource, Operand, Operation, Rowed, Rows, View, differing, lies,
};

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

/// The text of these rows in the kernel.
#[derive(Default)]
pub(super) struct NarrowRowTexts {
    /// Narrow elements per row.
    pub narrow: u64,
    /// Statements that load the rows whose signs mask the result, `vector` elements at a time, and
    /// the narrow rows.
    pub positive: String,
    /// What they read.
    pub reads: Reads,
    pub vector: usize,
    pub request: String,
    /// Statements that load a column of the matrices.
    pub matrix: String,
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
    ) -> Result<(Walk, Vec<Input>), NoKernel> {
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
            .ok_or_else(|| NoKernel::new("narrow rows that no walk reads".to_owned()))
    }
}

impl NarrowRowTexts {
    /// For rows that a walk reads, with their lowerings.
    pub fn new<'a>(
        source: &NarrowSource,
        walk: &'a Walk,
        read: &[Input],
    ) -> Result<(NarrowRowTexts, Vec<WalkLowering<'a>>), NoKernel> {
        let [positive, narrow @ ..] = read else {
            return Err(NoKernel::new("rows of an outer product without a source".to_owned()));
        };
        let (positive, vector, lowerings) = emit_side_rows(walk, &[positive], 1)?;
        let reads = positive.reads;
        let elements = narrow_elements(source);
        let mut texts = NarrowRowTexts {
            narrow: elements,
            positive: positive.text,
            reads,
            vector,
            request: String::new(),
            matrix: format!("float matrix[{elements}];\n"),
        };
        let mut start = 0;
        for (number, (product, input)) in source.products.iter().zip(narrow).enumerate() {
            let leaf = stored_leaf(walk, input, false)
                .ok_or_else(|| NoKernel::new("narrow rows that are not stored".to_owned()))?;
            let inner = product.inner;
            let own = if number + 1 == source.products.len() { elements - start } else { inner };
            let divides = |vector: &u64| {
                [leaf.stride, start, inner].iter().all(|number| number.is_multiple_of(*vector))
            };
            let vector = [TOGETHER, 2].into_iter().find(divides).unwrap_or(1);
            let copied = emit_row_fill(
                Some((leaf, RowPadding::Any)),
                &RowValue::none(),
                vector as usize,
                inner as usize,
            );
            texts.reads.insert(Source::Rows(leaf.name.clone()));
            let numbers = [
                ("@PIECES@", 16 * own / vector),
                ("@VECTOR@", vector),
                ("@ELEMENTS@", own),
                ("@START@", start),
                ("@INNER@", inner),
            ];
            let numbered = |text: &str| {
                numbers.iter().fold(text.to_owned(), |text, (name, number)| {
                    text.replace(name, &number.to_string())
                })
            };
            texts
                .request
                .push_str(&numbered(warpgroup_products::NARROW_ROWS).replace("@COPIED@", &copied));
            texts.matrix.push_str(
                &numbered(warpgroup_products::COLUMN)
                    .replace("@ELEMENT@", &emit_element(product, source.columns)),
            );
            start += inner;
        }
        Ok((texts, lowerings))
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

/// An element of the matrix column of a thread.
fn emit_element(product: &Narrow, wide: u64) -> String {
    let Narrow { inner, matrix, transposed, .. } = product;
    let place = if *transposed {
        format!("of_team % N * {inner} + k")
    } else {
        format!("k * {wide} + of_team % N")
    };
    format!("__ldg({} + {place})", pointer(matrix))
}
