//! plain_products: rows times a matrix by threads without tensor cores, with an epilogue per row;
//! optionally the column sums of such rows, and outer products with the narrow rows that are
//! multiplied, where the threads hold both.
//!
//! promises  a row is finished by the threads that computed it; rows are read once per slice of the
//!           matrix's columns; sums over all rows are added in a fixed order
//! never     rounds to a narrower type

use std::rc::Rc;

use super::kernel_parameters::{Parameters, emit_row_context, stored_kind};
use super::lane_layout::{Lanes, Spread, identity, vector_of, widest_vector};
use super::launch_walk;
use super::reduce_all_rows::{LastBlockMerge, parts_kernel};
use super::row_stores::{emit_store, frame_shape};
use super::row_values::{
    RowValue, lies_in_rows, lower_row_value, plain_row, start_of, tables_of, thread_lanes,
};
use super::source_text::{KernelBody, KernelDraft, Printer};
use super::statement_text::{output, pointer};
use super::statements::{
    Expression, Load, Reads, RegisterValue, RowNumber, Scope, Statement, Statements,
};
use super::walk_lowering::WalkLowering;
use super::walk_steps::{At, From, Input, Leaf, Read, Step, Walk};
use super::{Argument, Blocks, NoKernel, ScheduleKind, THREADS, Unit};
use warploom_ir::{Op, Type};
use warploom_launch::{
    Body, Element, Launch, Operand, Operation, Rows, is_attended, name_of_again,
};
use warploom_tuning as tuning;

/// Static shared memory per block, less what the sums over rows take.
const SHARED_BYTES: usize = 44 << 10;

/// The partition of rows over blocks: at least `each` rows per part, at most `most` parts.
#[derive(Clone, Copy)]
pub(super) struct RowParts {
    pub rows: Rows,
    pub each: u32,
    pub most: u32,
}

impl RowParts {
    /// The number of parts, as a kernel argument.
    pub fn argument(self) -> Argument {
        let RowParts { rows, each, most } = self;
        Argument::Parts { rows, each, most }
    }
}

/// The tile of a thread: `vector` columns, with `across` threads along a row, and `each` rows,
/// whose elements are loaded `left_vector` at a time.
#[derive(Clone, Copy)]
struct ThreadTile {
    across: usize,
    vector: usize,
    each: usize,
    left_vector: usize,
}

/// The shape of a product.
#[derive(Clone)]
pub(super) struct ProductShape {
    /// The number of its step.
    pub number: usize,
    /// The matrix: its buffer, and whether it is stored transposed (its rows are columns of the
    /// product).
    pub matrix: String,
    pub transposed: bool,
    /// Elements per row of the left operand (K), and columns of the result; columns with padding up
    /// to the stride.
    pub inner: usize,
    pub wide: usize,
    pub places: usize,
    /// Product rows per walked row.
    pub lead: u64,
    /// Whether rows are read and written as they are stored, without an epilogue.
    pub plain: bool,
}

fn refuse_product<T>(what: &str) -> Result<T, NoKernel> {
    Err(NoKernel::new(format!("a product {what}")))
}

impl ProductShape {
    pub fn from_walk(walk: &Walk) -> Result<ProductShape, NoKernel> {
        let Some(number) = walk.steps.iter().position(is_product) else {
            return refuse_product("without a product step");
        };
        ProductShape::from_step(walk, number)
    }

    /// The shapes of a walk with two products.
    pub fn all_from_walk(walk: &Walk) -> Result<Vec<ProductShape>, NoKernel> {
        (0..walk.steps.len())
            .filter(|number| is_product(&walk.steps[*number]))
            .map(|number| ProductShape::from_step(walk, number))
            .collect()
    }

    fn from_step(walk: &Walk, number: usize) -> Result<ProductShape, NoKernel> {
        let step = &walk.steps[number];
        let (Op::Product { transposed }, [left, Input::Rows(matrix)]) =
            (&step.op, step.inputs.as_slice())
        else {
            return refuse_product("whose right operand is no matrix");
        };
        let From::Leaf(leaf) = matrix.from else {
            return refuse_product("whose matrix the same walk computes");
        };
        let (inner, places) =
            (left.shape().last().copied().unwrap_or(1), step.shape.last().copied().unwrap_or(1));
        if inner == 0 || places == 0 {
            return refuse_product("of zero columns");
        }
        let (wide, lead) = (walk.columns_of(places), step.columns() as u64 / places);
        if lead > 1 && (walk.steps.len() > 1 || !lies_in_rows(left)) {
            return refuse_product("of several rows per vertex that has an epilogue");
        }
        if let Some(earlier) = walk.steps[..number].iter().find(|step| step.stored) {
            return refuse_product(&format!(
                "preceded by `{}`, which the same walk stores",
                earlier.out
            ));
        }
        let plain = lead > 1 || matches!(walk.rows, Rows::Fixed(_));
        let matrix = walk.leaves[leaf].name.clone();
        Ok(ProductShape {
            number,
            matrix,
            transposed: *transposed,
            inner: inner as usize,
            wide: wide as usize,
            places: places as usize,
            lead,
            plain,
        })
    }

    /// What its rows stand for, and the product rows of each.
    pub fn rows(&self, walk: &Walk) -> (Rows, u64) {
        if matches!(walk.rows, Rows::Fixed(_)) {
            (Rows::Fixed(self.lead.max(1)), 1)
        } else {
            (walk.rows, self.lead)
        }
    }

    /// The element of the matrix in this row of K and this column of the result, as an expression.
    pub fn element(&self, row: Index, column: Index) -> String {
        let ProductShape { inner, wide, transposed, matrix, .. } = self;
        let place = if *transposed {
            format!("(offset_t){} * {inner} + {}", column.factor(), row.text())
        } else {
            format!("(offset_t){} * {wide} + {}", row.factor(), column.text())
        };
        format!("__ldg({} + {place})", pointer(matrix))
    }
}

/// A row or column index, as an expression.
#[derive(Clone, Copy)]
pub(super) enum Index<'a> {
    Name(&'a str),
    Sum(&'a str),
}

impl Index<'_> {
    fn text(&self) -> &str {
        match self {
            Index::Name(text) | Index::Sum(text) => text,
        }
    }

    /// The index in parentheses if it is a sum.
    fn factor(&self) -> String {
        match self {
            Index::Name(name) => (*name).to_owned(),
            Index::Sum(sum) => format!("({sum})"),
        }
    }
}

fn is_product(step: &Step) -> bool {
    matches!(step.op, Op::Product { .. })
}

/// The buffer of the left operand, if its rows are stored in one.
pub(super) fn left_buffer(operation: &Operation) -> Option<&str> {
    let steps = if let Operation::Fused { steps, .. } = operation {
        steps.as_slice()
    } else {
        std::slice::from_ref(operation)
    };
    let product = steps.iter().find(|step| super::is_product(step));
    match product {
        Some(Operation::Evaluate { inputs, .. }) => inputs.first().and_then(|left| {
            if let Operand::Rows(rows) = left { Some(rows.buffer.as_str()) } else { None }
        }),
        _ => None,
    }
}

/// The epilogue of a result row: its registers, statements and stores.
pub(super) struct Finish {
    /// Moves the product into registers.
    pub made: Statements,
    pub statements: Statements,
    pub stores: Statements,
    /// Registers of the rows that sums over rows, or consumers, read.
    pub held: Vec<RegisterValue>,
}

impl Finish {
    /// Everything that is read once the row is computed.
    pub fn reads(&self) -> Reads {
        let mut reads = self.statements.reads();
        self.stores.add_reads(&mut reads);
        reads
    }

    /// The epilogue, after the facts of the row that it reads.
    pub fn text(&self) -> String {
        let about = emit_row_context(&self.reads());
        format!("{about}{}{}", self.statements.text(), self.stores.text())
    }
}

/// Sets the result of a second product to zero: its terms are already in the accumulators of the
/// first.
pub(super) fn assume_nothing(lowering: &mut WalkLowering, second: &ProductShape) -> Statement {
    let zero = |_: &str, _: &str| "0".to_owned();
    lowering.assume_held(second.number, identity(second.places), "nothing", zero)
}

/// Lowers the epilogue. `of_place` gives the expression of the accumulator for a place of the lane;
/// the rows `held` are needed in registers in addition to the stored values.
pub(super) fn lower_finish(
    lowering: &mut WalkLowering,
    shape: &ProductShape,
    held: &[From],
    of_place: impl Fn(&str, &str) -> String,
) -> Result<Finish, NoKernel> {
    let walk = &Rc::clone(&lowering.walk);
    let mut stores = Statements::default();
    if shape.plain {
        let step = &walk.steps[shape.number];
        let (lead, stride) = if matches!(walk.rows, Rows::Fixed(_)) {
            (1, shape.places as u64)
        } else {
            (shape.lead, step.stride)
        };
        let value = RegisterValue::new("made".to_owned(), Type::Real, Spread::Run);
        let statement = Statement::StoreLying {
            buffer: step.out.clone(),
            start: start_of("v", shape.places as u64, lead, stride),
            value: value.clone(),
        };
        stores.push(statement);
        let made = Statement::Make { value, made: Expression::Text(of_place("q", "j")) };
        let statements = Statements::default();
        let made = Statements(vec![made]);
        return Ok(Finish { made, statements, stores, held: Vec::new() });
    }
    let (table, frame) = (identity(shape.places), frame_shape(walk));
    let made = lowering.assume_held(shape.number, table, "made", of_place);
    let made = Statements(vec![made]);
    for later in (shape.number..walk.steps.len()).filter(|number| walk.steps[*number].stored) {
        if !shape.places.is_multiple_of(walk.steps[later].columns().max(1)) {
            return refuse_product("with an epilogue of rows whose width does not divide its own");
        }
        stores.push(emit_store(lowering, later, &frame)?);
    }
    let mut row = |from: &From| {
        let read =
            Read { from: *from, shape: vec![shape.places as u64], at: At::Own, kind: Type::Real };
        lowering.input(&Input::Rows(read), &identity(shape.places), Scope::Row(0))
    };
    let held = held.iter().map(&mut row).collect::<Result<Vec<_>, _>>()?;
    let statements = Statements::concat(&lowering.rows);
    Ok(Finish { made, statements, stores, held })
}

/// The widest vector of at most `most` columns that divides the row and every reduction along it.
pub(super) fn vector_along(walk: &Walk, places: usize, most: usize) -> usize {
    let lengths = reduced_lengths(walk);
    let fits = |vector: &usize| {
        *vector <= most
            && places.is_multiple_of(*vector)
            && lengths.iter().all(|length| length.is_multiple_of(*vector))
    };
    [4, 2, 1].into_iter().find(fits).unwrap_or(1)
}

/// Lengths of the reductions along the last axis.
pub(super) fn reduced_lengths(walk: &Walk) -> Vec<usize> {
    walk.steps.iter().filter(|step| matches!(step.op, Op::Axis(..))).map(reduced_length).collect()
}

/// The length of a step's reduction along the last axis.
fn reduced_length(step: &Step) -> usize {
    step.inputs[0].shape().last().map_or(1, |length| *length as usize)
}

/// Rows of a thread tile: as many as fit in static shared memory with their tiles.
fn rows_of_thread(across: usize, vector: usize, left: usize, bytes_per_real: usize) -> usize {
    let rows = |each: usize| THREADS as usize / across * each;
    let depth = tuning::thread_product_depth();
    let shared = |each: usize| depth * (rows(each) + 4 + across * vector) * bytes_per_real;
    let held = |each: usize| (rows(each) * depth / left).div_ceil(THREADS as usize) * left;
    [8, 4, 2]
        .into_iter()
        .find(|each| {
            rows(*each) <= tuning::thread_product_rows()
                && shared(*each) <= SHARED_BYTES
                && held(*each) * bytes_per_real / 4 <= tuning::thread_product_held()
        })
        .unwrap_or(1)
}

/// The K tile: steps of equal length, so that little of the last one is padding.
fn choose_depth(inner: usize, vector: usize) -> usize {
    let most = tuning::thread_product_depth();
    let even = inner.div_ceil(inner.div_ceil(most)).next_multiple_of(vector);
    if inner > most { even } else { inner.next_power_of_two().clamp(vector, most) }
}

/// Adds the parameters of a product: the matrix, what its lowerings read, what is stored, and the
/// rows.
pub(super) fn product_parameters(
    given: &mut Parameters,
    shape: &ProductShape,
    rows: Rows,
    loaders: &[&WalkLowering],
    lowering: &WalkLowering,
    reads: &Reads,
) {
    given.push(
        format!("const real* __restrict__ {}", pointer(&shape.matrix)),
        Argument::Buffer(shape.matrix.clone()),
    );
    loaders.iter().chain([&lowering]).for_each(|lowering| given.add_reads(lowering, reads));
    for step in lowering.walk.steps.iter().filter(|step| step.stored) {
        given.push_output(
            format!("{}* __restrict__ {}", stored_kind(step.kind), output(&step.out)),
            Argument::Buffer(step.out.clone()),
        );
    }
    given.push("const unsigned rows_given", Argument::RowCount(rows));
}

impl Unit<'_> {
    /// The expected number of parts that the blocks store.
    fn parts_left(&self, RowParts { rows, each, most }: RowParts) -> u64 {
        self.expected_rows(rows).div_ceil(u64::from(each)).clamp(1, u64::from(most))
    }

    /// The end of blocks that sum rows: each stores a part. The last block merges the parts if they
    /// are few.
    fn plan_sums_end(
        &mut self,
        sums: &ProductSums,
        of_parts: RowParts,
        parameters: &mut Parameters,
    ) -> Option<SumsEnd> {
        if sums.are_none() {
            return None;
        }
        let (parts, elements) = (self.parts_left(of_parts), sums.elements());
        parameters.push_output("real* __restrict__ scratch", Argument::Scratch);
        let joins = elements * parts <= tuning::last_block_elements();
        self.note([(ScheduleKind::PartsInKernel, joins), (ScheduleKind::PartsKernel, !joins)]);
        let merge = joins.then(|| {
            let place = sums.place(parameters);
            parameters.push_output("unsigned* ticket", Argument::Ticket);
            LastBlockMerge { place, elements }
        });
        self.scratch_bytes = self.scratch_bytes.max(parts * elements * self.target.bytes_per_real);
        Some(SumsEnd { merge })
    }

    /// The kernel that merges the parts, if the last block does not.
    fn parts_draft(&self, sums: &ProductSums, of_parts: RowParts) -> Option<KernelDraft> {
        let (parts, elements) = (self.parts_left(of_parts), sums.elements());
        (elements * parts > tuning::last_block_elements()).then(|| {
            let mut parameters = Parameters::new();
            let place = sums.place(&mut parameters);
            parts_kernel(place, parameters, elements as u32, parts, of_parts.argument())
        })
    }

    /// The sums of a product over all its rows: of one of its steps, and the outer product of
    /// computed rows with the left operand.
    fn plan_product_sums(
        &self,
        walk: &Walk,
        shape: &ProductShape,
    ) -> Result<ProductSums, NoKernel> {
        let outer = self
            .joined
            .outers
            .iter()
            .find(|(_, later)| **later == self.number)
            .map(|(outer, _)| &self.list.launches()[*outer].operation);
        let outer = outer.map(|outer| self.plan_outer_sum(walk, outer).filter(|_| !shape.plain));
        let outer = outer
            .map(|rows| {
                rows.ok_or_else(|| {
                    NoKernel::new(
                        "an outer product of rows that the product's kernel does not hold"
                            .to_owned(),
                    )
                })
            })
            .transpose()?;
        Ok(ProductSums {
            wide: shape.wide as u64,
            inner: shape.inner as u64,
            sum: self.plan_step_sum(walk),
            outer,
        })
    }

    fn plan_outer_sum(&self, walk: &Walk, operation: &Operation) -> Option<OuterOfRows> {
        let Operation::Evaluate { out, inputs, .. } = operation else { return None };
        let names: Vec<&str> =
            inputs.iter().flat_map(Operand::rows).map(|rows| rows.buffer.as_str()).collect();
        let side =
            names.iter().position(|name| Some(*name) != left_buffer(&self.launch.operation))?;
        let made = walk
            .steps
            .iter()
            .position(|step| step.out == name_of_again(names[side]))
            .map(From::Step);
        let rows = made.or_else(|| {
            walk.leaves.iter().position(|leaf| leaf.name == names[side]).map(From::Leaf)
        })?;
        Some(OuterOfRows { rows, out: out.clone(), is_first: side == 0 })
    }

    /// The step whose sum over all rows this launch computes.
    fn plan_step_sum(&self, walk: &Walk) -> Option<SumOfStep> {
        let (sum, maker) = self.beside.iter().find(|(_, maker)| maker.launch == self.number)?;
        let out = self.list.launches()[*sum].operation.writes().first()?.clone().into_owned();
        (maker.operand < walk.steps.len()).then_some(SumOfStep { step: maker.operand, out })
    }

    /// Whether any launch except that of the sum reads this buffer.
    fn is_read_elsewhere(&self, name: &str, sum: &str) -> bool {
        let is_of_sum = |launch: &Launch| launch.operation.writes().iter().any(|made| made == sum);
        let reads = |launch: &Launch| launch.operation.reads().iter().any(|read| read == name);
        let is_statistic = matches!(&self.list.body, Body::Train(train) if train.statistics.iter().any(|commit| commit.next == name));
        is_statistic
            || self.list.results.iter().any(|result| result.buffer == name)
            || self.list.launches().iter().any(|launch| !is_of_sum(launch) && reads(launch))
    }

    /// Whether another launch's kernel computes this launch. If so, notes it in the source.
    fn is_emitted_elsewhere(&mut self) -> Result<bool, NoKernel> {
        let mut maker = self.find_computing_outer();
        if let (None, Some(second)) = (maker, self.joined.firsts.get(&self.number).copied()) {
            let is_joined = self
                .merge_products(second)?
                .is_some_and(|merged| merged.launches.first == Some(self.number))
                || self.short_pair(second)?.is_some();
            maker = is_joined.then_some(second);
        }
        if let Some(maker) = maker {
            self.elsewhere.insert(self.number, maker);
            self.unmade.extend(
                self.launch.operation.writes().into_iter().map(std::borrow::Cow::into_owned),
            );
        }
        let Some(maker) = self.elsewhere.get(&self.number) else { return Ok(false) };
        self.merged_into(self.list.launches()[*maker].name.clone());
        Ok(true)
    }

    /// A product with K too short for tensor cores, and the equally short product that it adds to,
    /// if one kernel can compute both.
    fn short_pair(&self, number: usize) -> Result<Option<(Walk, Vec<ProductShape>)>, NoKernel> {
        let launches = self.list.launches();
        let makes_sums = |launch: &usize| self.beside.values().any(|maker| maker.launch == *launch);
        let Some(first) =
            self.joined.first_of(number).filter(|first| !makes_sums(first) && !makes_sums(&number))
        else {
            return Ok(None);
        };
        let both = self.merge_sum(launches[first], launches[number]);
        let Some(walk) = both
            .and_then(|both| launch_walk::walk_of(self.list, self.target.bytes_per_real, &both))
        else {
            return Ok(None);
        };
        let Ok(shapes) = ProductShape::all_from_walk(&walk) else { return Ok(None) };
        let [one, other] = shapes.as_slice() else { return Ok(None) };
        // Rows that no vector divides are padded only in a product by itself.
        let is_whole = one.places == other.places
            && one.places.is_multiple_of(widest_vector(self.target.bytes_per_real));
        let is_fit = [one, other].iter().all(|shape| {
            shape.lead == 1 && !shape.plain && shape.inner < tuning::tensor_inner_least() as usize
        }) && is_whole;
        Ok(is_fit.then_some((walk, shapes)))
    }

    /// The walk of this launch with its product, or with both products if it adds two.
    fn walk_product(&self) -> Result<(Walk, Vec<ProductShape>), NoKernel> {
        if let Some(both) = self.short_pair(self.number)? {
            return Ok(both);
        }
        let no_walk = || NoKernel::new("an operation that no walk supports".to_owned());
        let walk =
            launch_walk::walk_of(self.list, self.target.bytes_per_real, &self.launch.operation)
                .ok_or_else(no_walk)?;
        let shape = ProductShape::from_walk(&walk)?;
        Ok((walk, vec![shape]))
    }

    /// Decides on rows times a matrix, with the epilogue of each row.
    pub(super) fn decide_product(&mut self) -> Result<(), NoKernel> {
        if self.is_emitted_elsewhere()? {
            return Ok(());
        }
        let (mut walk, shapes) = self.walk_product()?;
        let shape = &shapes[0];
        let sums = self.plan_product_sums(&walk, shape)?;
        // Rows that only their sum reads are not materialised if the sum is computed here.
        if let Some(sum) = sums.sum.as_ref().filter(|sum| {
            !shape.plain && !self.is_read_elsewhere(&walk.steps[sum.step].out, &sum.out)
        }) {
            self.unmade.push(walk.steps[sum.step].out.clone());
            walk.steps[sum.step].stored = false;
        }
        let walk = Rc::new(walk);
        if sums.are_none()
            && !is_attended(&self.list.index(), &self.launch.operation)
            && let Some(merged) = self.merge_products(self.number)?
        {
            let followers = merged.launches.followers.iter();
            self.elsewhere.extend(followers.map(|follower| (*follower, self.number)));
            self.add_merged_products(merged);
            return Ok(());
        }
        let lowered = self.lower_thread_product(&walk, &shapes, &sums)?;
        self.add_thread_product(shapes, sums, lowered)
    }

    /// Lowers a product by threads, and chooses their tiles.
    fn lower_thread_product(
        &self,
        walk: &Rc<Walk>,
        shapes: &[ProductShape],
        sums: &ProductSums,
    ) -> Result<LoweredProduct, NoKernel> {
        let (shape, most) = (&shapes[0], widest_vector(self.target.bytes_per_real));
        // Left operand: a tile of rows, loaded along K. Result: threads across the columns.
        let places = |shape: &ProductShape| {
            if shapes.len() > 1 { shape.inner } else { left_places(walk, shape) }
        };
        let left_vector =
            shapes.iter().map(|shape| vector_of(places(shape), most)).min().unwrap_or(1);
        let (loaders, lefts) = lower_rows(walk, shapes, left_vector)?;
        // The columns of a reduction along a row are held by one lane group. Each lane's vector
        // lies in one such reduction.
        let (vector, has_sums) = (
            vector_along(walk, shape.places, most),
            walk.steps.iter().any(|step| matches!(step.op, Op::Axis(..))),
        );
        let across =
            shape.places.div_ceil(vector).next_power_of_two().min(if has_sums { 32 } else { 16 });
        let slices = shape.places.div_ceil(vector * across);
        let mut lowering = WalkLowering::new(
            walk,
            Lanes { places: shape.places, vector, lanes: across, chunks: 1, slices },
        );
        let nothing: Vec<Statement> =
            shapes[1..].iter().map(|second| assume_nothing(&mut lowering, second)).collect();
        let mut finish = lower_finish(&mut lowering, shape, &sums.rows(), |_, place| {
            format!("sums[i][{place}]")
        })?;
        finish.made.0.extend(nothing);
        let most = rows_of_thread(across, vector, left_vector, self.target.bytes_per_real as usize);
        // With few rows there should be at least as many blocks as SMs, or several per SM where the
        // epilogue takes longer than the product.
        let blocks_least = u64::from(self.target.processors)
            * if has_sums { tuning::thread_product_blocks_with_sums() } else { 1 };
        let is_enough = |each: &usize| {
            self.expected_vertices() == 0
                || self.expected_vertices() / (THREADS as usize / across * each) as u64
                    >= blocks_least
        };
        let each = [8, 4, 2].into_iter().filter(|each| *each <= most).find(is_enough).unwrap_or(1);
        let tile = ThreadTile { across, vector, each, left_vector };
        Ok(LoweredProduct { loaders, lefts, lowering, finish, tile })
    }

    /// Notes how a product is executed.
    fn note_thread_product(&mut self, shapes: usize, sums: &ProductSums, tile: ThreadTile) {
        let ThreadTile { across, vector, each, .. } = tile;
        self.note([
            (ScheduleKind::ThreadProduct, sums.are_none() && shapes == 1),
            (ScheduleKind::ThreadProductPair, shapes > 1),
            (ScheduleKind::ThreadProductWithSum, sums.sum.is_some()),
            (ScheduleKind::ThreadProductWithOuter, sums.outer.is_some()),
        ]);
        self.header();
        self.schedule(format!(
            "{each} rows of {vector} columns a thread, {across} threads along a row"
        ));
    }

    /// Adds the kernel of a product by threads, and that which merges the parts of its sums.
    fn add_thread_product(
        &mut self,
        shapes: Vec<ProductShape>,
        sums: ProductSums,
        lowered: LoweredProduct,
    ) -> Result<(), NoKernel> {
        let LoweredProduct { loaders, lefts, lowering, finish, tile } = lowered;
        self.note_thread_product(shapes.len(), &sums, tile);
        let (shape, walk) = (&shapes[0], &lowering.walk);
        let (rows, lead) = shape.rows(walk);
        let mut parameters = Parameters::new();
        let mut reads = finish.reads();
        lefts.iter().for_each(|left| left.statements.add_reads(&mut reads));
        let all: Vec<&WalkLowering> = loaders.iter().collect();
        product_parameters(&mut parameters, shape, rows, &all, &lowering, &reads);
        shapes[1..].iter().for_each(|second| {
            parameters.push(
                format!("const real* __restrict__ {}", pointer(&second.matrix)),
                Argument::Buffer(second.matrix.clone()),
            )
        });
        let is_long = self.expected_vertices() * shape.wide as u64 * 4
            >= tuning::thread_product_prefetch_bytes();
        let prefetched = if is_long { late_rows(walk, &finish.statements) } else { Vec::new() };
        let each = (THREADS / tile.across as u32 * tile.each as u32 / lead.max(1) as u32).max(1);
        // With large sums, few blocks loop over the tiles of rows.
        let most = if sums.outer.is_some() {
            tuning::thread_product_parts() * self.target.processors
        } else {
            u32::MAX
        };
        let of_parts = RowParts { rows, each, most };
        let end = self.plan_sums_end(&sums, of_parts, &mut parameters);
        let tables = tables_of(&all.into_iter().chain([&lowering]).collect::<Vec<_>>())?;
        // With sums, at least one block exists to store the sum of zero rows.
        let slices = lowering.lanes.slices as u32;
        let blocks = if sums.are_none() {
            Blocks::Rows { rows, each, slices }
        } else {
            Blocks::Parts { rows, each, most, tiles: [slices, 1] }
        };
        let parts = (!sums.are_none()).then(|| self.parts_draft(&sums, of_parts)).flatten();
        let body = ThreadProductBody { shapes, lefts, finish, sums, tile, lead, prefetched, end };
        self.add_kernel(KernelDraft {
            resident: 2,
            tables,
            ..KernelDraft::new("plain_products.rs, decide_product", parameters, blocks, body)
        });
        self.draft.kernels.extend(parts);
        Ok(())
    }
}

/// A product by threads, in statements: the loads of the left operands, their values, and the
/// epilogue.
struct LoweredProduct {
    loaders: Vec<WalkLowering>,
    lefts: Vec<RowValue>,
    lowering: WalkLowering,
    finish: Finish,
    tile: ThreadTile,
}

/// Columns of the left operand to read: with the padding up to the stride, if its rows are a buffer
/// of that width.
fn left_places(walk: &Walk, shape: &ProductShape) -> usize {
    let Input::Rows(Read { from: From::Leaf(leaf), at: At::Own, .. }) =
        &walk.steps[shape.number].inputs[0]
    else {
        return shape.inner;
    };
    let leaf = &walk.leaves[*leaf];
    let is_row = leaf.columns == shape.inner as u64
        && leaf.element == Element::Real
        && leaf.rows == Rows::Nodes;
    if is_row && !shape.plain { leaf.stride as usize } else { shape.inner }
}

/// Lowers the loads of the left operands, `vector` adjacent elements at a time, and the values that
/// result.
fn lower_rows(
    walk: &Rc<Walk>,
    shapes: &[ProductShape],
    vector: usize,
) -> Result<(Vec<WalkLowering>, Vec<RowValue>), NoKernel> {
    let (mut loaders, mut lefts) = (Vec::new(), Vec::new());
    for shape in shapes {
        let mut loader =
            WalkLowering::new(walk, thread_lanes(shape.inner.next_multiple_of(vector), vector));
        let left = &walk.steps[shape.number].inputs[0];
        lefts.push(if shape.plain {
            plain_row(walk, left, shape.inner as u64)?
        } else {
            lower_row_value(&mut loader, left)?
        });
        loaders.push(loader);
    }
    Ok((loaders, lefts))
}

/// A sum over all rows of a step in a product's launch: the step, and the output buffer.
struct SumOfStep {
    step: usize,
    out: String,
}

/// An outer product of rows that a product's kernel holds with its left operand: the rows, the
/// output buffer, and whether they are the first side.
struct OuterOfRows {
    rows: From,
    out: String,
    is_first: bool,
}

/// Sums of a product's launch over all its rows, each `wide` columns: one of a step, and one for
/// each of the `inner` elements of the left operand.
struct ProductSums {
    wide: u64,
    inner: u64,
    sum: Option<SumOfStep>,
    outer: Option<OuterOfRows>,
}

impl ProductSums {
    fn are_none(&self) -> bool {
        self.sum.is_none() && self.outer.is_none()
    }

    /// The number of sums.
    fn count(&self) -> u64 {
        u64::from(self.sum.is_some()) + if self.outer.is_some() { self.inner } else { 0 }
    }

    fn elements(&self) -> u64 {
        self.count() * self.wide
    }

    /// The rows that they need: those of a step, and of the outer product.
    fn rows(&self) -> Vec<From> {
        self.sum
            .iter()
            .map(|sum| From::Step(sum.step))
            .chain(self.outer.iter().map(|outer| outer.rows))
            .collect()
    }

    /// Adds a thread's row, which is in these registers, to the sums.
    fn text(&self, held: &[RegisterValue]) -> String {
        let of_sum = |at: &str| format!("EACH if (own[q]) of_sums[0][q][j] += {at};\n");
        let of_outer = |at: &str| {
            format!(
                "UNROLL for (int of = 0; of < K; of++) {{\nconst real of_left = \
                    left[of][thread_row + i * RT];\nEACH if (own[q]) of_sums[{} + of][q][j] += \
                    {at} * of_left;\n}}\n",
                u64::from(self.sum.is_some())
            )
        };
        match (&self.sum, held) {
            (Some(_), [sum, outer @ ..]) => format!(
                "{}{}",
                of_sum(&sum.at()),
                outer.iter().map(|held| of_outer(&held.at())).collect::<String>()
            ),
            (_, outer) => outer.iter().map(|held| of_outer(&held.at())).collect(),
        }
    }

    /// The output location of an element's sum, as an expression.
    fn place(&self, parameters: &mut Parameters) -> String {
        let ProductSums { wide, inner, sum, outer } = self;
        let before = if sum.is_some() { *wide } else { 0 };
        let mut declared = |name: &str, buffer: &str| {
            parameters.push_output(
                format!("real* __restrict__ {name}"),
                Argument::Buffer(buffer.to_owned()),
            )
        };
        sum.iter().for_each(|sum| declared("out", &sum.out));
        outer.iter().for_each(|outer| declared("out_outer", &outer.out));
        let of_outer = |outer: &OuterOfRows| {
            let own =
                if before > 0 { format!("(element - {before}u)") } else { "element".to_owned() };
            if outer.is_first {
                format!("out_outer[{own} % {wide}u * {inner}u + {own} / {wide}u]")
            } else {
                format!("out_outer[{own}]")
            }
        };
        match outer {
            None => "out[element]".to_owned(),
            Some(outer) if sum.is_none() => of_outer(outer),
            Some(outer) => format!("(element < {wide}u ? out[element] : {})", of_outer(outer)),
        }
    }
}

/// Rows of vertices that the epilogue reads.
fn late_rows(walk: &Walk, statements: &Statements) -> Vec<Leaf> {
    let reads_own_row = |leaf: &Leaf| {
        statements.0.iter().any(|statement| {
            matches!(
                statement,
                Statement::Load(Load { buffer, row: RowNumber::Own, stride: 2.., .. })
                    if *buffer == leaf.name
            )
        })
    };
    let is_late = |leaf: &&Leaf| {
        leaf.rows == Rows::Nodes && leaf.element == Element::Real && reads_own_row(leaf)
    };
    walk.leaves.iter().filter(is_late).cloned().collect()
}

/// Prefetches rows of a buffer, of which a block reads many consecutive ones.
fn emit_prefetch(leaf: &Leaf) -> String {
    let (name, stride) = (pointer(&leaf.name), leaf.stride);
    format!(
        "if (blockIdx.y == 0 && first < rows) come_nearer({name} + (offset_t)first * {stride}, \
         min(BM, rows - first) * {stride});\n"
    )
}

/// Each warp reduces the sums of its rows. The warps' sums are added in order, and are one part.
const SUMS_END: &str = "constexpr unsigned WARPS = blockThreads / 32;
const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
__shared__ real told_sums[WARPS * SUMS * BN];
UNROLL for (int s = 0; s < SUMS; s++) EACH {
UNROLL for (int distance = L; distance < 32; distance *= 2) of_sums[s][q][j] += across(of_sums[s][q][j], distance);
if (lane < L) told_sums[(warp * SUMS + s) * BN + (q * L + part) * V + j] = of_sums[s][q][j];
}
__syncthreads();
for (unsigned place = threadIdx.x; place < SUMS * BN; place += WARPS * 32) {
const unsigned column = slice + place % BN;
if (column >= WIDE) continue;
real of_rows = told_sums[place];
UNROLL for (int other = 1; other < WARPS; other++) of_rows += told_sums[other * (SUMS * BN) + place];
scratch[(offset_t)(place / BN * WIDE + column) * gridDim.x + blockIdx.x] = of_rows;
}
";

/// The end of blocks that sum rows, with the merge by the last block, if it merges them.
struct SumsEnd {
    merge: Option<LastBlockMerge>,
}

impl SumsEnd {
    fn text(&self) -> String {
        let merged = self.merge.as_ref().map(LastBlockMerge::text).unwrap_or_default();
        format!("{SUMS_END}{merged}")
    }
}

/// The body of a product by threads.
struct ThreadProductBody {
    shapes: Vec<ProductShape>,
    lefts: Vec<RowValue>,
    finish: Finish,
    sums: ProductSums,
    tile: ThreadTile,
    lead: u64,
    /// Buffers whose rows are prefetched for the epilogue.
    prefetched: Vec<Leaf>,
    end: Option<SumsEnd>,
}

impl KernelBody for ThreadProductBody {
    fn text(&self, _printer: &Printer) -> String {
        emit_rows(self) + &self.end.as_ref().map(SumsEnd::text).unwrap_or_default()
    }
}

fn emit_rows(body: &ThreadProductBody) -> String {
    let ThreadProductBody { shapes, lefts, finish, sums, tile, lead, prefetched, .. } = body;
    let ThreadTile { across, vector, each, left_vector } = *tile;
    let shape = &shapes[0];
    // The short rows of two products are concatenated in K.
    let inner = shapes.iter().map(|shape| shape.inner).sum::<usize>();
    // Vectors that reach beyond a row load zeros there.
    let here = if shapes.iter().all(|shape| shape.inner.is_multiple_of(left_vector)) {
        "here"
    } else {
        "here && c[q] + j < K"
    };
    let piece = |left: &RowValue| {
        format!("{}EACH piece[p][j] = {here} ? {} : (real)0;\n", left.text(), left.at)
    };
    let (left, right) = match (shapes.as_slice(), lefts.as_slice()) {
        ([first, second], [one, other]) => {
            let start = first.inner;
            (
                LEFT_OF_BOTH
                    .replace("@START@", &start.to_string())
                    .replace("@FIRST@", &piece(one))
                    .replace("@SECOND@", &piece(other)),
                format!(
                    "(k0 + k < {start} ? {} : {})",
                    first.element(Index::Sum("(k0 + k)"), Index::Sum("slice + m")),
                    second.element(
                        Index::Sum(&format!("(k0 + k - {start})")),
                        Index::Sum("slice + m")
                    )
                ),
            )
        }
        _ => (
            LEFT.replace("@FIRST@", &lefts.iter().map(piece).collect::<String>()),
            shape.element(Index::Sum("k0 + k"), Index::Sum("slice + m")),
        ),
    };
    let summed = sums.text(&finish.held);
    format!(
        "constexpr unsigned K = {}, C = {}, WIDE = {}, L = {across}, Q = 1, TM = {each}, RT = {THREADS} / L, BM = TM * RT, BK = {}, KV = {left_vector}, blockThreads = {THREADS};
const unsigned rows = rows_given * {lead};
{}",
        inner,
        shape.places,
        shape.wide,
        choose_depth(inner, left_vector),
        PRODUCT
            .replace("@VECTOR@", &vector.to_string())
            .replace("@LEFT@", &left)
            .replace("@RIGHT@", &right)
            .replace("@MADE@", &finish.made.line())
            .replace("@TILE@", if sums.outer.is_some() { TILE } else { "const unsigned first = \
                blockIdx.x * BM;\n" })
            .replace("@NEXT@", if sums.outer.is_some() { "__syncthreads();\n}\n" } else { "" })
            .replace("@SUMS@", &if sums.are_none() { String::new() } else { OF_SUMS.replace("@COUNT@", &sums.count().to_string()) })
            .replace("@EPILOGUE@", &format!("{}{summed}", finish.text()))
            .replace("@AHEAD@", &prefetched.iter().map(emit_prefetch).collect::<String>()),
    )
}

/// The accumulators of a thread for sums over rows.
const OF_SUMS: &str = "constexpr unsigned SUMS = @COUNT@;\nreal of_sums[SUMS][Q][V] = {};\n";

/// The loop over tiles of rows.
const TILE: &str = "for (unsigned first = blockIdx.x * BM; first < rows || first == 0; first += \
    gridDim.x * BM) {\n";

/// The left element that a thread loads.
const LEFT: &str = "[[maybe_unused]] const unsigned c[1] = {here ? k0 + kk : 0};
@FIRST@";

/// The same, from one of two left operands.
const LEFT_OF_BOTH: &str = "if (k0 + kk < @START@) {
[[maybe_unused]] const unsigned c[1] = {here ? k0 + kk : 0};
@FIRST@} else {
[[maybe_unused]] const unsigned c[1] = {here ? k0 + kk - @START@ : 0};
@SECOND@}
";

/// A tile of rows and one of the matrix are in shared memory. Each thread computes TM rows of V
/// columns. The next tile is loaded to registers before this one is processed.
const PRODUCT: &str = "constexpr unsigned V = @VECTOR@, BN = L * V;
__shared__ alignas(16) real left[BK][BM + 4], right[BK][BN];
const unsigned part = threadIdx.x % L, thread_row = threadIdx.x / L, slice = blockIdx.y * BN;
[[maybe_unused]] const unsigned group = threadIdx.x % 32 / L;
@SUMS@@TILE@@AHEAD@real sums[TM][V];
UNROLL for (int i = 0; i < TM; i++) UNROLL for (int j = 0; j < V; j++) sums[i][j] = 0;
constexpr unsigned ALL = BM * (BK / KV), PIECES = (ALL + blockThreads - 1) / blockThreads;
real piece[PIECES][KV];
auto fetch = [&](const unsigned k0) {
UNROLL for (int p = 0; p < PIECES; p++) {
const unsigned i = threadIdx.x + p * blockThreads, r = i / (BK / KV), kk = i % (BK / KV) * KV, row = first + r;
const bool here = i < ALL && row < rows && k0 + kk < K;
[[maybe_unused]] const unsigned v = here ? row : 0;
constexpr unsigned V = KV;
@LEFT@}
};
fetch(0);
for (unsigned k0 = 0; k0 < K; k0 += BK) {
UNROLL for (int p = 0; p < PIECES; p++) {
const unsigned i = threadIdx.x + p * blockThreads, r = i / (BK / KV), kk = i % (BK / KV) * KV;
if (ALL % blockThreads == 0 || i < ALL) UNROLL for (int j = 0; j < KV; j++) left[kk + j][r] = piece[p][j];
}
for (unsigned i = threadIdx.x; i < BK * BN; i += blockThreads) {
const unsigned k = i / BN, m = i % BN;
right[k][m] = k0 + k < K && slice + m < WIDE ? @RIGHT@ : (real)0;
}
__syncthreads();
if (k0 + BK < K) fetch(k0 + BK);
UNROLL_8 for (int k = 0; k < BK; k++) {
real of_right[V];
UNROLL for (int j = 0; j < V; j++) of_right[j] = right[k][part * V + j];
UNROLL for (int i = 0; i < TM; i++) {
const real of_left = left[k][thread_row + i * RT];
UNROLL for (int j = 0; j < V; j++) sums[i][j] += of_left * of_right[j];
}
}
__syncthreads();
}
const unsigned place = slice + part * V;
[[maybe_unused]] const unsigned c[1] = {place < C ? place : C - V};
UNROLL for (int i = 0; i < TM; i++) {
const unsigned row = first + thread_row + i * RT;
const bool live = row < rows;
[[maybe_unused]] const unsigned v = live ? row : 0;
[[maybe_unused]] const bool own[1] = {live && place < C};
@MADE@
@EPILOGUE@}
@NEXT@";
