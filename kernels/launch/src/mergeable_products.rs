//! mergeable_products: products of rows that an executor may compute in one kernel with another
//! launch: of rows that a product or a walk over edges has just computed, two that are added, two
//! outer products with a common operand, outer products of rows that a narrow product computes or
//! is followed by, and two sums of products with the same rows.
//!
//! promises  merged launches are in one part of the list; no launch in between reads or writes what
//!           is computed earlier or later for it, and the lifetimes (`liveness`) cover it, whether
//!           an executor merges them or not
//! never     considers memory: the executor knows what fits
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Range, RangeInclusive};

use super::{
    Body, Buffer, Element, Launch, LaunchList, Operand, Operation, Over, Role, Rowed, Rows, View,
    name_of_again,
};
use warploom_ir::{Binary, EdgeRows, Number, Op};
use warploom_tuning as tuning;

/// Maximum columns of a following product with warpgroup MMA.
const WIDE_COLUMNS: u64 = 64;

/// Launches that another launch may compute, by their numbers among all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergedLaunches {
    /// Products that a later product adds to its own, and which: they have no other reader, and the
    /// later one may compute them instead of reading them.
    pub firsts: BTreeMap<usize, usize>,
    /// Products of rows that an earlier product computes, and which: its kernel may multiply the
    /// rows while it has them. Those of one product multiply the same rows.
    pub followers: BTreeMap<usize, usize>,
    /// Outer products of vertex rows that a later one may compute as well, and which: they share
    /// one operand, and the others are stored.
    pub twins: BTreeMap<usize, usize>,
    /// Products of narrow rows whose results only outer products read, and sums of them, and the
    /// last of these: it may compute the rows where it multiplies them (`source`).
    pub sources: BTreeMap<usize, usize>,
    /// Backward sums over all rows of products of two, and a later sum of products with the same
    /// rows: it may compute both.
    pub sums: BTreeMap<usize, usize>,
    /// Products of few columns of rows that a walk over edges computes, and that walk: it may
    /// multiply them. One per walk.
    pub walked: BTreeMap<usize, usize>,
    /// Outer products of rows with narrow ones, and a later product of the narrow rows that is as
    /// wide as the rows and reads them: it may compute both. One per product.
    pub outers: BTreeMap<usize, usize>,
}

/// Rows that are a product of narrow rows, or the sum of two, where other rows are positive, and 0
/// elsewhere (the gradient of a relu).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NarrowSource<'a> {
    /// The buffer that they would be stored in.
    pub out: &'a str,
    /// How many columns they have.
    pub columns: u64,
    /// The terms, in this order.
    pub products: Vec<Narrow<'a>>,
    /// The rows, of the same width, whose sign decides.
    pub positive: &'a str,
}

/// Narrow rows times a matrix: `[k, n]`, or `[n, k]` if it is transposed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Narrow<'a> {
    /// Buffer of the rows.
    pub rows: &'a str,
    /// Their columns.
    pub inner: u64,
    /// Buffer of the matrix.
    pub matrix: &'a str,
    /// Whether it is transposed.
    pub transposed: bool,
}

/// A launch that begins with a matrix product of rows.
struct ProductLaunch<'a> {
    locals: &'a [Buffer],
    steps: &'a [Operation],
    left: &'a Operand,
    out: &'a str,
    columns: u64,
    /// Elements of a row that is multiplied.
    inner: u64,
}

/// A launch with the buffers that it reads and writes: programs of many relations have hundreds of
/// launches, which are compared with each other.
struct Accesses<'a> {
    launch: &'a Launch,
    reads: Vec<Cow<'a, str>>,
    writes: Vec<Cow<'a, str>>,
}

impl<'a> Accesses<'a> {
    fn new(launch: &'a Launch) -> Self {
        let (reads, writes) = (launch.operation.reads(), launch.operation.writes());
        Accesses { launch, reads, writes }
    }
}

impl MergedLaunches {
    /// Finds those of a list.
    pub fn from_list(list: &LaunchList) -> Self {
        let mut joined = MergedLaunches::default();
        let launches: Vec<Accesses> = list.launches().into_iter().map(Accesses::new).collect();
        for part in parts(list) {
            joined.find_firsts(list, &launches, part.clone());
            // Narrow ones come first: every device merges them.
            joined.find_followers(list, &launches, part.clone(), 1..=tuning::merged_columns());
            joined.find_followers(
                list,
                &launches,
                part.clone(),
                tuning::merged_columns() + 1..=WIDE_COLUMNS,
            );
            joined.find_twins(list, &launches, part.clone());
            joined.find_sources(list, &launches, part.clone());
            joined.find_walked(list, &launches, part.clone());
            joined.find_outers(list, &launches, part);
        }
        if let (Body::Train(_), Some(backward)) = (&list.body, parts(list).pop()) {
            joined.find_sums(list, &launches, backward);
        }
        joined
    }

    /// Products of the rows that one computes, narrow ones first: every device merges these.
    /// device.
    pub fn followers_of(&self, list: &LaunchList, head: usize) -> Vec<usize> {
        let launches = list.launches();
        let is_wide = |follower: &usize| {
            product(launches[*follower])
                .is_some_and(|product| product.columns > tuning::merged_columns())
        };
        let mut followers: Vec<usize> = self
            .followers
            .iter()
            .filter(|(_, of)| **of == head)
            .map(|(follower, _)| *follower)
            .collect();
        followers.sort_by_key(|follower| (is_wide(follower), *follower));
        followers
    }

    /// The product that one adds to its own.
    pub fn first_of(&self, second: usize) -> Option<usize> {
        self.firsts.iter().find(|(_, of)| **of == second).map(|(first, _)| *first)
    }

    fn find_firsts(&mut self, list: &LaunchList, launches: &[Accesses], part: Range<usize>) {
        for first in part.clone() {
            let Some(made) = product(launches[first].launch).and_then(|product| sum_of(&product))
            else {
                continue;
            };
            let is_own = list.buffers.iter().any(|buffer| {
                buffer.name == made && buffer.rows == Rows::Nodes && buffer.element == Element::Real
            });
            let is_result = list.results.iter().any(|result| result.buffer == made);
            let mut readers = (0..launches.len())
                .filter(|other| launches[*other].reads.iter().any(|read| read == made));
            let (Some(second), None) = (readers.next(), readers.next()) else { continue };
            // A row of one number would be broadcast to the other's columns.
            let columns =
                |launch: usize| product(launches[launch].launch).map(|product| product.columns);
            let adds = product(launches[second].launch).is_some_and(|product| adds(&product, made))
                && columns(first) == columns(second);
            let is_near = first < second
                && part.contains(&second)
                && stays(launches, first..second, &launches[first]);
            // Of three that are added two are merged: the middle one is computed, and adds the
            // first.
            let is_joined = self.first_of(first).is_some() || self.first_of(second).is_some();
            if is_own && !is_result && adds && is_near && !is_joined {
                self.firsts.insert(first, second);
            }
        }
    }

    fn find_followers(
        &mut self,
        list: &LaunchList,
        launches: &[Accesses],
        part: Range<usize>,
        columns: RangeInclusive<u64>,
    ) {
        for follower in part.clone() {
            let Some(of) = product(launches[follower].launch) else { continue };
            let Operand::Rows(Rowed { buffer, view: View::Own, shape }) = of.left else { continue };
            let maker = (part.start..follower)
                .rev()
                .find(|other| launches[*other].writes.iter().any(|made| made == buffer));
            let Some((head, made)) =
                maker.and_then(|head| Some((head, product(launches[head].launch)?)))
            else {
                continue;
            };
            let is_head = self.followers.values().any(|head| *head == follower);
            let is_joined =
                is_head || self.firsts.contains_key(&follower) || self.first_of(follower).is_some();
            let is_moved = self.firsts.contains_key(&head) || self.followers.contains_key(&head);
            // Those of one product multiply the same rows: there is room for these once.
            let others: Vec<usize> = self
                .followers
                .iter()
                .filter(|(_, of)| **of == head)
                .map(|(other, _)| *other)
                .collect();
            let is_same = |other: &usize| {
                product(launches[*other].launch).is_some_and(|other| is_read(other.left, buffer))
            };
            let has_room = others.len() < tuning::merged_followers() && others.iter().all(is_same);
            // A wide one follows a warpgroup MMA product, in one slice.
            let is_wide = of.columns > tuning::merged_columns();
            let is_fit = !is_wide
                || ((tuning::merged_columns() + 1..=WIDE_COLUMNS).contains(&made.columns)
                    && made.inner >= tuning::tensor_inner_least());
            let is_row = shape.as_slice() == [made.columns];
            if columns.contains(&of.columns)
                && is_fit
                && !is_joined
                && !is_moved
                && has_room
                && is_row
                && follows(list, launches, head, follower)
            {
                self.followers.insert(follower, head);
            }
        }
    }

    fn find_walked(&mut self, list: &LaunchList, launches: &[Accesses], part: Range<usize>) {
        for follower in part.clone() {
            let Some(of) = product(launches[follower].launch)
                .filter(|of| of.columns <= tuning::walked_columns())
            else {
                continue;
            };
            let Operand::Rows(Rowed { buffer, view: View::Own, .. }) = of.left else { continue };
            let maker = (part.start..follower)
                .rev()
                .find(|other| launches[*other].writes.iter().any(|made| made == buffer));
            let Some(head) = maker.filter(|head| is_walk(launches[*head].launch)) else { continue };
            let is_taken = self.walked.values().any(|other| *other == head);
            if !is_taken && !self.is_joined(follower) && follows(list, launches, head, follower) {
                self.walked.insert(follower, head);
            }
        }
    }

    fn find_outers(&mut self, list: &LaunchList, launches: &[Accesses], part: Range<usize>) {
        for first in part.clone() {
            let Some(operands) = outer(launches[first].launch) else { continue };
            let is_twin = self.twins.iter().any(|(one, other)| [one, other].contains(&&first));
            if is_twin
                || self.sources.values().any(|last| *last == first)
                || !operands.iter().all(|operand| lies(list, operand))
            {
                continue;
            }
            let fits = |later: &usize| {
                let Some(of) = self.behind(launches, first, *later) else { return false };
                let is_few = of.inner <= tuning::outer_columns() && of.columns > of.inner;
                is_few
                    && stays(launches, first..*later, &launches[first])
                    && is_apart(launches, first..later + 1, &launches[first])
            };
            let is_free = |later: &usize| {
                !self.is_joined(*later) && !self.outers.values().any(|other| other == later)
            };
            if let Some(later) = (first + 1..part.end).filter(is_free).find(fits) {
                self.outers.insert(first, later);
            }
        }
    }

    /// A product of the narrow rows of an outer product, whose launch has the other rows in
    /// registers.
    fn behind<'a>(
        &self,
        launches: &[Accesses<'a>],
        first: usize,
        later: usize,
    ) -> Option<ProductLaunch<'a>> {
        let (operands, of) = (outer(launches[first].launch)?, product(launches[later].launch)?);
        let side = operands.iter().position(|operand| operand == of.left)?;
        let wide = &operands[1 - side];
        let Operand::Rows(rows) = wide else { return None };
        let again = name_of_again(&rows.buffer);
        let is_made = of.steps.iter().flat_map(Operation::writes).any(|made| *made == again);
        (wide.shape() == [of.columns]
            && wide != of.left
            && (is_made || reads(of.steps, &rows.buffer) > 0))
            .then_some(of)
    }

    /// Whether a product is already merged with another.
    fn is_joined(&self, product: usize) -> bool {
        let is_head = self.followers.values().any(|head| *head == product);
        let makes_rows = self.sources.contains_key(&product) || self.walked.contains_key(&product);
        is_head
            || makes_rows
            || self.followers.contains_key(&product)
            || self.firsts.contains_key(&product)
            || self.first_of(product).is_some()
    }

    fn find_sources(&mut self, list: &LaunchList, launches: &[Accesses], part: Range<usize>) {
        for maker in part.clone() {
            let Some(made) = self.source(list, maker) else { continue };
            let readers: Vec<usize> = (0..launches.len())
                .filter(|other| launches[*other].reads.iter().any(|read| read == made.out))
                .collect();
            let Some(last) = readers
                .iter()
                .copied()
                .filter(|reader| outer(launches[*reader].launch).is_some())
                .max()
            else {
                continue;
            };
            let is_added_up = |reader: &usize| match &launches[*reader].launch.operation {
                Operation::Evaluate { op: Op::Outer, inputs, .. } => {
                    inputs.iter().filter(|operand| is_read(operand, made.out)).count() == 1
                }
                Operation::Evaluate { op: Op::SumRows, inputs, .. } => {
                    matches!(inputs.as_slice(), [only] if is_read(only, made.out))
                }
                _ => false,
            };
            let is_joined = self.firsts.contains_key(&maker)
                || self.followers.contains_key(&maker)
                || self.followers.values().any(|head| *head == maker);
            let lies = |from: usize| stays(launches, from..last, &launches[from]);
            if !is_joined
                && !list.results.iter().any(|result| result.buffer == made.out)
                && readers
                    .iter()
                    .all(|reader| *reader > maker && part.contains(reader) && is_added_up(reader))
                && lies(maker)
                && self.first_of(maker).is_none_or(lies)
            {
                self.sources.insert(maker, last);
            }
        }
    }

    /// The result of a product, with the one that it adds, if it is the rows of a source.
    pub fn source<'a>(&self, list: &'a LaunchList, maker: usize) -> Option<NarrowSource<'a>> {
        let launches = list.launches();
        let made = product(launches[maker])?;
        let mut steps: Vec<&Operation> = made.steps.iter().collect();
        let mut products = Vec::new();
        if let Some(first) = self.first_of(maker) {
            let first = product(launches[first]).filter(|first| first.columns == made.columns)?;
            let [only] = first.steps else { return None };
            products.push(only);
            steps.push(only);
        }
        products.push(made.steps.first()?);
        let step_of = |name: &str| {
            steps
                .iter()
                .copied()
                .find(|step| matches!(step, Operation::Evaluate { out, .. } if out == name))
        };
        let is_local = |name: &str| made.locals.iter().any(|local| local.name == name);
        let mut stored =
            made.steps.iter().filter(|step| step.writes().iter().all(|name| !is_local(name)));
        let (Some(Operation::Evaluate { out, op: Op::Select, inputs, .. }), None) =
            (stored.next(), stored.next())
        else {
            return None;
        };
        let [
            Operand::Rows(condition),
            Operand::Rows(value),
            Operand::Number(Number::Real(otherwise)),
        ] = inputs.as_slice()
        else {
            return None;
        };
        let Operation::Evaluate { op: Op::Binary(Binary::Less), inputs, .. } =
            step_of(&condition.buffer)?
        else {
            return None;
        };
        let [Operand::Number(Number::Real(zero)), positive] = inputs.as_slice() else {
            return None;
        };
        let is_sum = match step_of(&value.buffer)? {
            Operation::Evaluate { op: Op::Product { .. }, out, .. } => {
                products.len() == 1 && out == made.out
            }
            Operation::Evaluate { op: Op::Binary(Binary::Add), inputs, .. } => {
                let is_of = |name: &str| inputs.iter().any(|operand| is_read(operand, name));
                products.len() == 2
                    && products.iter().all(|step| step.writes().iter().all(|name| is_of(name)))
            }
            _ => false,
        };
        // No other steps.
        let is_all = steps.len() == products.len() + usize::from(products.len() == 2) + 2;
        let products =
            products.into_iter().map(|step| narrow(list, step)).collect::<Option<Vec<_>>>()?;
        let positive = rows_of_nodes(list, positive)?;
        let held = list.buffers.iter().find(|buffer| buffer.name == *out && is_of_nodes(buffer))?;
        let is_wide = |name: &str| {
            list.buffers.iter().any(|buffer| buffer.name == name && buffer.columns == made.columns)
        };
        let inner: u64 = products.iter().map(|product| product.inner).sum();
        let is_fit = is_sum
            && is_all
            && *zero == 0.0
            && *otherwise == 0.0
            && is_wide(positive)
            && held.columns == made.columns
            && inner <= tuning::made_elements();
        is_fit.then_some(NarrowSource { out, columns: made.columns, products, positive })
    }

    fn find_sums(&mut self, list: &LaunchList, launches: &[Accesses], part: Range<usize>) {
        let index = list.index();
        let sums: Vec<(usize, Added)> = part
            .filter_map(|number| Some((number, Added::try_new(&index, launches[number].launch)?)))
            .collect();
        // The sum of the loss's gradient is computed with the loss.
        let of_loss = match &list.body {
            Body::Train(train) => train
                .loss
                .operation
                .writes()
                .into_iter()
                .map(std::borrow::Cow::into_owned)
                .collect(),
            Body::Iterate(_) => Vec::new(),
        };
        let is_of_loss =
            |added: &Added| added.widest.iter().any(|rows| of_loss.contains(&rows.buffer));
        for is_of_same_rows in [true, false] {
            for (at, (sum, added)) in sums.iter().enumerate() {
                // Cheap tests come first: programs of many relations have hundreds of them.
                let fits = |(later, other): &&(usize, Added)| {
                    added.is_as_wide_as(other)
                        && if is_of_same_rows {
                            added.is_of_rows_of(other)
                        } else {
                            added.is_short() && !is_of_loss(added) && !is_of_loss(other)
                        }
                        && launches[*later]
                            .reads
                            .iter()
                            .all(|read| !launches[*sum].writes.contains(read))
                        && stays(launches, *sum..*later, &launches[*sum])
                        && is_apart(launches, *sum..*later, &launches[*sum])
                };
                let is_joined =
                    self.sums.contains_key(sum) || self.sums.values().any(|later| later == sum);
                let is_free = |later: &usize| {
                    is_of_same_rows
                        || !(self.sums.contains_key(later)
                            || self.sums.values().any(|joined| joined == later))
                };
                if let Some((later, _)) = sums[at + 1..]
                    .iter()
                    .filter(|(later, _)| !is_joined && is_free(later))
                    .find(fits)
                {
                    self.sums.insert(*sum, *later);
                }
            }
        }
    }

    fn find_twins(&mut self, list: &LaunchList, launches: &[Accesses], part: Range<usize>) {
        let outers: Vec<usize> =
            part.filter(|number| outer(launches[*number].launch).is_some()).collect();
        let mut joined: BTreeSet<usize> = BTreeSet::new();
        for (at, first) in outers.iter().enumerate().map(|(at, first)| (at, *first)) {
            // Cheap tests come first: programs of many relations have hundreds of them.
            let fits = |later: &&usize| {
                !joined.contains(later)
                    && differing(list, launches[first].launch, launches[**later].launch).is_some()
                    && stays(launches, first..**later, &launches[first])
                    && is_apart(launches, first..**later, &launches[first])
            };
            if joined.contains(&first) {
                continue;
            }
            if let Some(later) = outers[at + 1..].iter().find(fits).copied() {
                self.twins.insert(first, later);
                joined.extend([first, later]);
            }
        }
    }
}

/// Whether a launch walks the edges of each vertex.
fn is_walk(launch: &Launch) -> bool {
    matches!(
        launch.operation,
        Operation::Fused { over: Over::EdgesOf(_), .. }
            | Operation::Evaluate { op: Op::Reduce(..), .. }
    )
}

/// Whether a launch that multiplies vertex rows may do so where an earlier one computes them: its
/// other inputs are available, and its results overwrite nothing that is live.
fn follows(list: &LaunchList, launches: &[Accesses], head: usize, follower: usize) -> bool {
    let Some(of) = product(launches[follower].launch) else { return false };
    let Operand::Rows(Rowed { buffer, shape, .. }) = of.left else { return false };
    let is_row = list.buffers.iter().any(|held| {
        held.name == *buffer && shape.as_slice() == [held.columns] && is_of_nodes(held)
    });
    let written = &launches[head].writes;
    let reads_once = reads(of.steps, buffer) == 1
        && launches[follower].reads.iter().all(|read| read == buffer || !written.contains(read));
    is_row && reads_once && is_apart(launches, head..follower, &launches[follower])
}

/// A product of stored rows with a matrix.
fn narrow<'a>(list: &'a LaunchList, step: &'a Operation) -> Option<Narrow<'a>> {
    let Operation::Evaluate { op: Op::Product { transposed }, inputs, .. } = step else {
        return None;
    };
    let [left, Operand::Rows(matrix)] = inputs.as_slice() else { return None };
    let (rows, inner) = (rows_of_nodes(list, left)?, left.shape().last().copied()?);
    Some(Narrow { rows, inner, matrix: &matrix.buffer, transposed: *transposed })
}

/// The buffer of an operand that is vertex rows computed by launches, one per vertex.
fn rows_of_nodes<'a>(list: &'a LaunchList, operand: &'a Operand) -> Option<&'a str> {
    let Operand::Rows(Rowed { buffer, view: View::Own, shape }) = operand else { return None };
    let is_made = |held: &Buffer| {
        is_of_nodes(held)
            && matches!(held.role, Role::Value | Role::Gradient)
            && shape.as_slice() == [held.columns]
    };
    list.buffers.iter().any(|held| held.name == *buffer && is_made(held)).then_some(buffer)
}

/// The operands of an outer product of one row per vertex each.
fn outer(launch: &Launch) -> Option<&[Operand]> {
    let Operation::Evaluate { op: Op::Outer, inputs, .. } = &launch.operation else { return None };
    inputs.iter().all(|operand| operand.shape().len() == 1).then_some(inputs)
}

/// The operand in which two outer products of vertex rows differ, if the other is the same, and
/// both are stored.
pub fn differing(list: &LaunchList, one: &Launch, other: &Launch) -> Option<usize> {
    let ([first, second], [third, fourth]) = (outer(one)?, outer(other)?) else { return None };
    let side = match (first == third, second == fourth) {
        (true, false) => 1,
        (false, true) => 0,
        _ => return None,
    };
    [[first, second], [third, fourth]]
        .iter()
        .all(|operands| lies(list, operands[side]))
        .then_some(side)
}

/// The sum over all rows of rows, or of products of two.
struct Added<'a> {
    /// Elements of a row.
    elements: u64,
    /// What a row corresponds to.
    rows: Option<Rows>,
    /// The factors with all elements: only the widest count.
    widest: Vec<&'a Rowed>,
}

impl<'a> Added<'a> {
    fn try_new(index: &BTreeMap<&str, &Buffer>, launch: &'a Launch) -> Option<Self> {
        let Operation::Evaluate { op: Op::SumRows, inputs, .. } = &launch.operation else {
            return None;
        };
        let [sum @ (Operand::Times(..) | Operand::Rows(_))] = inputs.as_slice() else {
            return None;
        };
        let product =
            |shape: &[u64]| shape.iter().fold(1u64, |product, axis| product.saturating_mul(*axis));
        let elements = product(&sum.shape());
        let widest =
            sum.rows().into_iter().filter(|rows| product(&rows.shape) == elements).collect();
        Some(Added { elements, rows: rows_among(index, std::slice::from_ref(sum)), widest })
    }

    /// Whether both have the same width and number of rows.
    fn is_as_wide_as(&self, other: &Added) -> bool {
        self.elements == other.elements && self.rows == other.rows
    }

    /// Whether rows are so short that reading them twice costs nothing.
    fn is_short(&self) -> bool {
        self.elements <= tuning::summed_columns()
    }

    /// Whether both are sums of products with the same rows.
    fn is_of_rows_of(&self, other: &Added) -> bool {
        let is_same = |rows: &&Rowed| {
            other.widest.iter().any(|their| their.buffer == rows.buffer && their.view == rows.view)
        };
        self.widest.iter().any(is_same)
    }
}

/// What rows of these operands correspond to: those of the first with many rows.
pub fn summed_rows(list: &LaunchList, inputs: &[Operand]) -> Option<Rows> {
    rows_among(&list.index(), inputs)
}

fn rows_among(index: &BTreeMap<&str, &Buffer>, inputs: &[Operand]) -> Option<Rows> {
    let rows = |rows: &Rowed| match (rows.view.edges(), index.get(rows.buffer.as_str())?.rows) {
        (Some(edges), _) => {
            Some(if edges.rows() == EdgeRows::Twice { Rows::EdgesTwice } else { Rows::Edges })
        }
        (None, Rows::Fixed(_)) => None,
        (None, rows) => Some(rows),
    };
    inputs.iter().flat_map(Operand::rows).find_map(rows)
}

/// Whether an operand is stored vertex rows, each vertex's own.
pub fn lies(list: &LaunchList, operand: &Operand) -> bool {
    let Operand::Rows(Rowed { buffer, view: View::Own, .. }) = operand else { return false };
    list.buffers.iter().any(|held| held.name == *buffer && is_of_nodes(held))
}

fn is_of_nodes(buffer: &Buffer) -> bool {
    buffer.rows == Rows::Nodes && buffer.element == Element::Real
}

/// The parts of a list that run from their first launch to their last.
fn parts(list: &LaunchList) -> Vec<Range<usize>> {
    match &list.body {
        Body::Train(train) => {
            let forward = train.prepare.len()..train.prepare.len() + train.forward.len();
            let backward = forward.end + 1..forward.end + 1 + train.backward.len();
            vec![0..forward.start, forward, backward]
        }
        Body::Iterate(iterate) => {
            let all = list.launches().len();
            let finish = all - iterate.finish.len()..all;
            std::iter::once(finish).collect()
        }
    }
}

/// A launch over vertex rows whose first step is a product, its only one.
fn product(launch: &Launch) -> Option<ProductLaunch<'_>> {
    let (locals, steps): (&[Buffer], &[Operation]) = match &launch.operation {
        Operation::Fused { over: Over::Vertices, locals, steps } => (locals, steps),
        operation @ Operation::Evaluate { .. } => (&[], std::slice::from_ref(operation)),
        _ => return None,
    };
    let is_product =
        |step: &&Operation| matches!(step, Operation::Evaluate { op: Op::Product { .. }, .. });
    let Operation::Evaluate { op: Op::Product { .. }, out, shape, inputs } = steps.first()? else {
        return None;
    };
    let (&[columns], 1) = (shape.as_slice(), steps.iter().filter(is_product).count()) else {
        return None;
    };
    let left = inputs.first()?;
    Some(ProductLaunch {
        locals,
        steps,
        left,
        out,
        columns,
        inner: left.shape().last().copied().unwrap_or(1),
    })
}

/// The result of a launch that multiplies rows and then only adds something.
fn sum_of<'a>(product: &ProductLaunch<'a>) -> Option<&'a str> {
    match product.steps {
        [_] => Some(product.out),
        [_, Operation::Evaluate { op: Op::Binary(Binary::Add), out, shape, inputs }] => {
            let [one, other] = inputs.as_slice() else { return None };
            let is_wide = shape.as_slice() == [product.columns]
                && product.locals.iter().any(|local| local.name == product.out);
            (is_wide && is_read(one, product.out) != is_read(other, product.out)).then_some(out)
        }
        _ => None,
    }
}

/// Whether a launch multiplies rows and adds this stored value before it does anything else with
/// either.
fn adds(product: &ProductLaunch, other: &str) -> bool {
    let is_local = product.locals.iter().any(|local| local.name == product.out);
    let is_sum = |step: &Operation| {
        let Operation::Evaluate { op: Op::Binary(Binary::Add), inputs, shape, .. } = step else {
            return false;
        };
        let [one, two] = inputs.as_slice() else { return false };
        let is_both = (is_read(one, product.out) && is_read(two, other))
            || (is_read(one, other) && is_read(two, product.out));
        is_both && shape.as_slice() == [product.columns]
    };
    is_local
        && reads(product.steps, product.out) == 1
        && reads(product.steps, other) == 1
        && product.steps.iter().any(is_sum)
}

/// Whether a launch multiplies short rows, and sums others along their axes, some of which it
/// neither computes nor multiplies (attention scores).
pub fn is_attended(index: &BTreeMap<&str, &Buffer>, operation: &Operation) -> bool {
    let Operation::Fused { steps, .. } = operation else { return false };
    let steps_of: Vec<(&Op, &Vec<Operand>)> = steps
        .iter()
        .filter_map(|step| {
            if let Operation::Evaluate { op, inputs, .. } = step {
                Some((op, inputs))
            } else {
                None
            }
        })
        .collect();
    let Some((_, multiplied)) = steps_of.iter().find(|(op, _)| matches!(op, Op::Product { .. }))
    else {
        return false;
    };
    let made: BTreeSet<_> = steps.iter().flat_map(Operation::writes).collect();
    let is_other = |rows: &&Rowed| {
        !made.contains(rows.buffer.as_str())
            && index.get(rows.buffer.as_str()).is_some_and(|held| held.rows == Rows::Nodes)
    };
    let mut read = steps_of
        .iter()
        .filter(|(op, _)| !matches!(op, Op::Product { .. }))
        .flat_map(|(_, inputs)| inputs.iter().flat_map(Operand::rows));
    multiplied
        .first()
        .and_then(|left| left.shape().last().copied())
        .is_some_and(|inner| inner < tuning::attended_inner_least())
        && steps_of.iter().any(|(op, _)| matches!(op, Op::Axis(..)))
        && read.any(|rows| is_other(&rows))
}

fn is_read(operand: &Operand, name: &str) -> bool {
    matches!(operand, Operand::Rows(Rowed { buffer, view: View::Own, .. }) if buffer == name)
}

/// How many times steps read a buffer.
fn reads(steps: &[Operation], name: &str) -> usize {
    let inputs = steps.iter().flat_map(|step| {
        if let Operation::Evaluate { inputs, .. } = step { inputs.as_slice() } else { &[] }
    });
    inputs.flat_map(Operand::rows).filter(|rows| rows.buffer == name).count()
}

/// Whether nothing after the first launch of a range, up to the end, writes an input of a launch.
fn stays(launches: &[Accesses], between: Range<usize>, launch: &Accesses) -> bool {
    launches[between.start + 1..=between.end]
        .iter()
        .all(|other| other.writes.iter().all(|made| !launch.reads.contains(made)))
}

/// Whether nothing between a launch and a later one writes an input of the later one, or accesses
/// its results.
fn is_apart(launches: &[Accesses], between: Range<usize>, launch: &Accesses) -> bool {
    let is_made = |name: &Cow<'_, str>| launch.writes.contains(name);
    launches[between.start + 1..between.end].iter().all(|other| {
        other.writes.iter().all(|name| !launch.reads.contains(name) && !is_made(name))
            && !other.reads.iter().any(is_made)
    }) && !launches[between.start].reads.iter().any(is_made)
}
