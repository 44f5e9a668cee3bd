//! product_after_walk: a product with few columns of the rows that a walk over edges computes, in
//! the walk's kernel.
//!
//! promises  lanes multiply the columns that they hold, and the lanes' sums are added in a fixed
//!           order; one lane runs the epilogue; rows that no other launch reads are not stored
//! never     is chosen if blocks share a row, if lanes overlap, or for walks by neighbour groups
use super::kernel_parameters::Parameters;
use super::lane_layout::{Lanes, identity, widest_vector};
use super::plain_products::{
    Finish, Index, ProductShape, lower_finish, reduced_lengths, vector_along,
};
use super::statement_text::pointer;
use super::statements::Scope;
use super::walk_lowering::WalkLowering;
use super::walk_steps::Walk;
use super::{Argument, NoKernel, Unit};
use warploom_ir::Type;
use warploom_launch::{Body, Operation, name_of_again};

/// A product that follows a walk in the same kernel.
pub(super) struct TrailingProduct {
    /// The number of its launch, and of the walk's step whose rows it multiplies.
    pub follower: usize,
    rows: usize,
    walk: Walk,
    shape: ProductShape,
}

/// The text of the product in the walk's kernel.
pub(super) struct ProductTexts {
    /// Statements of all lanes, then those of the lane with the result.
    pub sums: String,
    pub then: String,
}

impl Unit<'_> {
    /// The product that this walk's kernel computes, with these lanes. The multiplied rows are
    /// never materialised if every other reader recomputes them.
    pub(super) fn take_trailing_product(
        &mut self,
        walk: &mut Walk,
        lanes: &Lanes,
    ) -> Option<TrailingProduct> {
        let tail = self.find_trailing_product(walk).filter(|tail| tail.fits(lanes))?;
        let rows = &mut walk.steps[tail.rows];
        if !self.is_wanted(&rows.out, tail.follower) {
            self.unmade.push(rows.out.clone());
            rows.stored = false;
        }
        Some(tail)
    }

    fn find_trailing_product(&self, walk: &Walk) -> Option<TrailingProduct> {
        let (follower, _) = self.joined.walked.iter().find(|(_, head)| **head == self.number)?;
        let operation = &self.list.launches()[*follower].operation;
        let of_follower = Walk::from_operation(self.list, self.target.bytes_per_real, operation)?;
        let shape = ProductShape::from_walk(&of_follower).ok()?;
        let name = super::plain_products::left_buffer(operation)?;
        let rows =
            walk.steps.iter().position(|step| step.out == name && step.kind == Type::Real)?;
        let is_fit = walk.passes() > 0
            && shape.lead == 1
            && !shape.plain
            && walk.padded.is_none()
            && walk.steps[rows].columns() == shape.inner;
        // A product that sums its rows keeps a kernel of its own.
        let makes_sums = self.beside.values().any(|maker| maker.launch == *follower);
        let tail = TrailingProduct { follower: *follower, rows, walk: of_follower, shape };
        (is_fit
            && !makes_sums
            && tail.lower_finish().is_ok_and(|(own, _)| own.constants.is_empty()))
        .then_some(tail)
    }

    /// Whether a launch reads rows of the walk, other than the product in its kernel and outer
    /// products merged with a launch that recomputes the rows.
    fn is_wanted(&self, name: &str, follower: usize) -> bool {
        let launches = self.list.launches();
        let is_statistic = matches!(&self.list.body, Body::Train(train) if train.statistics.iter().any(|commit| commit.next == name));
        let reads =
            |launch: usize| launches[launch].operation.reads().iter().any(|read| read == name);
        let again = name_of_again(name);
        let makes_again = |later: usize| {
            launches[later]
                .operation
                .steps()
                .iter()
                .flat_map(Operation::writes)
                .any(|made| *made == again)
        };
        let is_apart = |launch: &usize| {
            *launch == follower
                || self
                    .joined
                    .outers
                    .get(launch)
                    .is_some_and(|later| makes_again(*later) && !reads(*later))
        };
        is_statistic
            || self.list.results.iter().any(|result| result.buffer == name)
            || (0..launches.len()).filter(|launch| reads(*launch)).any(|reader| !is_apart(&reader))
    }
}

impl TrailingProduct {
    /// Whether a walk with these lanes can compute it.
    fn fits(&self, lanes: &Lanes) -> bool {
        lanes.places == self.shape.inner && lanes.slices == 1 && !lanes.overlaps()
    }

    /// The expression of the rows, in the registers of the walk's lanes.
    pub fn row(&self, lowering: &mut WalkLowering) -> Result<String, NoKernel> {
        let step = &lowering.walk.steps[self.rows];
        Ok(lowering
            .step_value(self.rows, &identity(lowering.lanes.places), Scope::Row(step.passes))?
            .at())
    }

    /// The statements that follow those of the walk.
    pub fn texts(
        &self,
        lowering: &mut WalkLowering,
        parameters: &mut Parameters,
    ) -> Result<ProductTexts, NoKernel> {
        let TrailingProduct { walk, shape, .. } = self;
        let (held, (own, finish)) = (self.row(lowering)?, self.lower_finish()?);
        let add =
            if lowering.lanes.has_tail() { "if (own[q]) of_tail[m] +=" } else { "of_tail[m] +=" };
        let matrix = if shape.transposed && shape.inner.is_multiple_of(lowering.lanes.vector) {
            format!(
                "EACH_Q {{ real of_matrix[V]; load<V>(of_matrix, {} + m * {}u + c[q]); UNROLL for \
                 (int j = 0; j < V; j++) {add} {held} * of_matrix[j]; }}",
                pointer(&shape.matrix),
                shape.inner
            )
        } else {
            format!(
                "EACH {add} {held} * {};",
                shape.element(Index::Sum("(c[q] + j)"), Index::Name("m"))
            )
        };
        let sums = format!(
            "real of_tail[{places}] = {{}};
UNROLL for (int m = 0; m < {wide}; m++) {{
{matrix}
UNROLL for (int distance = 1; distance < L; distance *= 2) of_tail[m] += across(of_tail[m], distance);
}}
",
            places = shape.places,
            wide = shape.wide
        );
        let Lanes { vector, chunks, .. } = own.lanes;
        let then = format!(
            "if (part == 0) {{
constexpr unsigned V = {vector}, Q = {chunks};
[[maybe_unused]] bool own[Q];
[[maybe_unused]] unsigned c[Q];
EACH_Q {{ own[q] = true; c[q] = q * V; }}
{}
{}}}
",
            finish.made.line(),
            finish.text()
        );
        parameters.push(
            format!("const real* __restrict__ {}", pointer(&shape.matrix)),
            Argument::Buffer(shape.matrix.clone()),
        );
        parameters.add_reads(&own, &finish.reads());
        parameters.stored(walk);
        Ok(ProductTexts { sums, then })
    }

    /// Lowers the epilogue of a row that one lane holds, with the widest vectors that fit.
    fn lower_finish(&self) -> Result<(WalkLowering<'_>, Finish), NoKernel> {
        let (walk, shape) = (&self.walk, &self.shape);
        let vector = vector_along(walk, shape.places, widest_vector(walk.bytes_per_real));
        // A reduction across several vectors of a row would exchange values between lanes.
        if reduced_lengths(walk)
            .into_iter()
            .any(|length| length != shape.places && length != vector)
        {
            return Err(NoKernel::new(
                "a reduction along part of a row that a single lane holds".to_owned(),
            ));
        }
        let mut lowering = WalkLowering::new(
            walk,
            Lanes {
                places: shape.places,
                vector,
                lanes: 1,
                chunks: shape.places / vector,
                slices: 1,
            },
        );
        let finish = lower_finish(&mut lowering, shape, &[], |group, place| {
            format!("of_tail[{group} * V + {place}]")
        })?;
        Ok((lowering, finish))
    }
}
