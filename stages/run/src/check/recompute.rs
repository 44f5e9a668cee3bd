//! recompute: recomputes a program without training by the reference executor in f64.
//!
//! promises  runs the whole program from the edge list in the data set's own order, with the
//!           supersteps of the run or, if a loop took a shortcut, to the loops' own ends; integers
//!           must be equal, floats as close as the run's type allows
//! never     skips silently: too much work is a warning
use std::collections::BTreeMap;

use arrow_array::{Array, ArrayRef, cast::AsArray, types::Int64Type};
use warploom_contract::{
    Artifact, Context, Violation,
    kinds::{
        graph::{self, EdgeTable, Ids, NodeTable},
        run::{self, Record},
    },
    parquet_file::{Table, read_table},
};
use warploom_ir::interpret::Change;
use warploom_ir::{Direction, Type};
use warploom_launch::reference::{Inputs, Reference};
use warploom_launch::{Body, BufferName, Element, LaunchList, Loop, ResultColumn, StopCondition};
use warploom_shell::vertices::ChosenVertices;

use super::{
    GraphSize, column_numbers, evaluated_work, is_close, read_features, read_graphs,
    read_list_inputs, reference_error, reference_graph, rows_by_id, saved_parameters, tolerance,
    violation,
};
use crate::{
    inputs::vertices,
    iteration::{FRONTIER, SUPERSTEPS},
    precision::Precision,
};

/// How much more than the work of a whole check a single superstep may be.
const SUPERSTEP_WORK: u64 = 8;

/// A run and its inputs.
pub(super) struct Recomputation<'a> {
    pub artifact: &'a Artifact,
    pub graph: &'a Artifact,
    pub nodes: &'a NodeTable,
    /// Own ids of the rows of the table of values.
    pub ids: &'a Ids,
    pub list: &'a LaunchList,
    pub record: &'a Record,
    /// The nodes that each vertex setting names.
    pub chosen: &'a [ChosenVertices],
    pub work_max: u64,
}

impl Recomputation<'_> {
    /// Runs the program again and compares every result.
    pub fn check_values<T: Precision>(
        &self,
        context: &Context,
        found: &Table,
    ) -> Result<(), Violation> {
        let edges = graph::read_edges(self.graph)?;
        if self.estimate_work(&edges) > self.work_max && self.check_superstep::<T>(found, &edges)? {
            return Ok(());
        }
        let parameters = if self.list.parameters.is_empty() {
            BTreeMap::new()
        } else {
            saved_parameters::<T>(self.artifact, self.list)?
        };
        self.run_reference(context, &edges, parameters, |reference| {
            self.compare_all::<T>(found, &edges, reference)
        })
    }

    /// One more superstep from the values may change them only within the condition that ended the
    /// run. Returns false where that cannot be looked at: a superstep starts from more than the
    /// values, or is too much work.
    fn check_superstep<T: Precision>(
        &self,
        found: &Table,
        edges: &EdgeTable,
    ) -> Result<bool, Violation> {
        let Body::Iterate(iterate) = &self.list.body else { return Ok(false) };
        let ([repeated], true) = (iterate.loops.as_slice(), self.record.converged) else {
            return Ok(false);
        };
        let result_of = |state: &BufferName| {
            self.list
                .results
                .iter()
                .find(|result| result.buffer == *state && result.edges.is_none())
        };
        let states: Option<Vec<&ResultColumn>> =
            repeated.commit.iter().map(|commit| result_of(&commit.state)).collect();
        let (Some(states), true) = (states, self.list.parameters.is_empty()) else {
            return Ok(false);
        };
        let [once, superstep] = self.work_by_phase(edges);
        if once.saturating_add(superstep) > self.work_max.saturating_mul(SUPERSTEP_WORK) {
            return Ok(false);
        }
        let graph = reference_graph(self.nodes.ids.len(), edges);
        let inputs = self.inputs(BTreeMap::new())?;
        let mut reference = Reference::new(self.list, &graph, inputs).map_err(reference_error)?;
        reference.prepare();
        let mut magnitude = 0.0;
        for result in states {
            let values = self.values_of::<T>(found, result)?;
            let finite = values.iter().filter(|value| value.is_finite());
            magnitude += finite.map(|value| value.abs()).sum::<f64>();
            reference.set(&result.buffer, &values).map_err(reference_error)?;
        }
        let change = reference.superstep();
        self.check_change::<T>(&repeated.until, change, magnitude).map(|()| true)
    }

    /// What one more superstep changes must be within the condition, up to rounding.
    fn check_change<T: Precision>(
        &self,
        until: &StopCondition,
        change: Change,
        magnitude: f64,
    ) -> Result<(), Violation> {
        // Rounding to the run's type: some units in the last place of every value.
        let rounding = magnitude * if T::NAME == f32::NAME { 1e-6 } else { 1e-15 };
        let what = match until {
            StopCondition::ChangeAtMost(_, bound) if change.summed > bound + rounding => format!(
                "one more superstep changes the values by {:e}, and the run ended at {bound:e}",
                change.summed
            ),
            StopCondition::Unchanged(_) if change.changed > 0 => format!(
                "one more superstep changes {} values, and the run ended at none",
                change.changed
            ),
            _ => return Ok(()),
        };
        Err(violation(&self.artifact.file(run::VALUES_FILE), what))
    }

    /// The values of a result, as numbers of the reference.
    fn values_of<T: Precision>(
        &self,
        found: &Table,
        result: &ResultColumn,
    ) -> Result<Vec<f64>, Violation> {
        let missing = || {
            let path = self.artifact.file(run::VALUES_FILE);
            violation(&path, format!("expected a column `{}`, found none that fits", result.name))
        };
        let column = found.column(&result.name).ok_or_else(missing)?;
        match self.element(result) {
            Element::Real => {
                let (values, _) = column_numbers::<T>(column).ok_or_else(missing)?;
                Ok(values.iter().map(|value| value.widened()).collect())
            }
            // Of whole numbers, what is beyond f64 is not compared, but set.
            element => Ok(self
                .integers(column, element)
                .ok_or_else(missing)?
                .into_iter()
                .map(|value| value.unwrap_or(f64::from(u32::MAX)))
                .collect()),
        }
    }

    fn element(&self, result: &ResultColumn) -> Element {
        let mut buffers = self.list.buffers.iter();
        let held = buffers.find(|buffer| buffer.name == result.buffer);
        held.map_or(Element::Real, |buffer| buffer.element)
    }

    /// Applies the saved parameters again and compares the predictions, element by element.
    pub fn check_predictions<T: Precision>(
        &self,
        context: &Context,
        found: &[f64],
    ) -> Result<(), Violation> {
        let edges = graph::read_edges(self.graph)?;
        let parameters = saved_parameters::<T>(self.artifact, self.list)?;
        self.run_reference(context, &edges, parameters, |reference| {
            let expected = self
                .list
                .results
                .first()
                .and_then(|result| reference.get(&result.buffer))
                .unwrap_or_default();
            let path = self.artifact.file(run::PREDICTIONS_FILE);
            if expected.len() != found.len() {
                return Err(violation(
                    &path,
                    format!("expected {} scores, found {}", expected.len(), found.len()),
                ));
            }
            let scale = expected.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
            let apart = expected.iter().zip(found).position(|(&expected, &found)| {
                !is_close(expected, found, tolerance::<T>(self.list), scale)
            });
            apart.map_or(Ok(()), |element| {
                let what = format!(
                    "element {element}: expected {:e}, as the reference makes of the parameters, \
                     found {:e}",
                    expected[element], found[element]
                );
                Err(violation(&path, what))
            })
        })
    }

    fn compare_all<T: Precision>(
        &self,
        found: &Table,
        edges: &EdgeTable,
        reference: &Reference,
    ) -> Result<(), Violation> {
        for result in &self.list.results {
            let expected = reference.get(&result.buffer).unwrap_or_default();
            match result.edges {
                None => self.compare_column::<T>(found, run::VALUES_FILE, result, expected)?,
                Some(list) if list.relation.is_none() && list.direction != Direction::Both => {
                    let found = self.read_edge_table(edges)?;
                    if found.column(&result.name).is_some() {
                        self.compare_column::<T>(&found, run::EDGE_VALUES_FILE, result, expected)?;
                    }
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Runs the whole program in the reference and calls `look`; does neither if it is too much
    /// work.
    fn run_reference(
        &self,
        context: &Context,
        edges: &EdgeTable,
        parameters: BTreeMap<String, Vec<f64>>,
        look: impl FnOnce(&Reference) -> Result<(), Violation>,
    ) -> Result<(), Violation> {
        if self.estimate_work(edges) > self.work_max {
            context
                .progress
                .warn("the values were not recomputed: this graph is too large for the reference");
            return Ok(());
        }
        let inputs = self.inputs(parameters)?;
        let graph = reference_graph(self.nodes.ids.len(), edges);
        let mut reference = Reference::new(self.list, &graph, inputs).map_err(reference_error)?;
        reference.prepare();
        if !self.run_supersteps(&mut reference, edges) {
            context.progress.warn(
                "the values were not recomputed: the loops of this graph are too long for the \
                 reference",
            );
            return Ok(());
        }
        look(&reference)
    }

    /// All that the reference reads besides the edges.
    fn inputs(&self, parameters: BTreeMap<String, Vec<f64>>) -> Result<Inputs, Violation> {
        let every: Vec<u32> = (0..self.nodes.ids.len() as u32).collect();
        let mut inputs = Inputs {
            features: read_features(self.graph, &every)?,
            parameters,
            ..Inputs::default()
        };
        read_list_inputs(&mut inputs, self.list, self.graph)?;
        inputs.chosen = vertices::find_rows(self.chosen, &self.nodes.ids)?;
        read_graphs(&mut inputs, self.list, self.graph, self.nodes)?;
        Ok(inputs)
    }

    /// Estimated steps of the reference for the whole run.
    pub fn estimate_work(&self, edges: &EdgeTable) -> u64 {
        let [once, superstep] = self.work_by_phase(edges);
        once.saturating_add(superstep.saturating_mul(self.record.supersteps))
    }

    /// Estimated steps of the reference for what runs once, and for a superstep of every loop.
    fn work_by_phase(&self, edges: &EdgeTable) -> [u64; 2] {
        let size =
            GraphSize { nodes: self.nodes.ids.len() as u64, edges: edges.source.len() as u64 };
        let of = |launches: &[warploom_launch::Launch]| {
            launches
                .iter()
                .map(|launch| evaluated_work(self.list, &launch.operation, size))
                .sum::<u64>()
        };
        let Body::Iterate(iterate) = &self.list.body else { return [0, 0] };
        let add = |[once, superstep]: [u64; 2], repeated: &Loop| {
            [
                once.saturating_add(of(&repeated.prepare)),
                superstep.saturating_add(of(&repeated.superstep)),
            ]
        };
        iterate.loops.iter().fold([of(&iterate.finish), 0], add)
    }

    /// Runs each loop for as many supersteps as the run took, so that rounding decides no end. If a
    /// loop took a shortcut, loops run to their own end. Gives whether they converged.
    fn run_supersteps(&self, reference: &mut Reference, edges: &EdgeTable) -> bool {
        if self.record.courses.iter().any(|course| course != SUPERSTEPS && course != FRONTIER) {
            let [once, superstep] = self.work_by_phase(edges);
            return reference
                .iterate(self.work_max.saturating_sub(once) / superstep.max(1))
                .converged;
        }
        for &count in &self.record.supersteps_of_loops {
            for _ in 0..count {
                reference.superstep();
            }
            reference.enter_next();
        }
        true
    }

    /// Reads the first list of edges; its ends must be those of the graph.
    fn read_edge_table(&self, edges: &EdgeTable) -> Result<Table, Violation> {
        let path = self.artifact.file(run::EDGE_VALUES_FILE);
        let found = read_table(&path, None)?;
        for (name, ends) in [("source", &edges.source), ("target", &edges.target)] {
            let rows = found.column(name).and_then(|column| rows_by_id(column, &self.nodes.ids));
            if !rows
                .is_some_and(|rows| rows.iter().copied().eq(ends.iter().map(|&end| f64::from(end))))
            {
                return Err(violation(
                    &path,
                    format!("the column `{name}` is not that of the graph's edges, in their order"),
                ));
            }
        }
        Ok(found)
    }

    fn compare_column<T: Precision>(
        &self,
        table: &Table,
        file: &str,
        result: &ResultColumn,
        expected: &[f64],
    ) -> Result<(), Violation> {
        let path = self.artifact.file(file);
        let missing = || {
            violation(&path, format!("expected a column `{}`, found none that fits", result.name))
        };
        let column = table.column(&result.name).ok_or_else(missing)?;
        let element = self.element(result);
        let differs = |row: usize, expected: f64, found: &str| {
            violation(
                &path,
                format!(
                    "column `{}`, element {row}: expected {expected:e}, as the reference makes it, \
                     found {found}",
                    result.name
                ),
            )
        };
        if element == Element::Real {
            let (found, _) = column_numbers::<T>(column)
                .filter(|(found, _)| found.len() == expected.len())
                .ok_or_else(missing)?;
            let scale = expected
                .iter()
                .filter(|value| value.is_finite())
                .fold(0.0, |largest: f64, value| largest.max(value.abs()));
            let slack = self.loop_slack();
            let apart = expected.iter().zip(&found).position(|(&expected, found)| {
                let found = found.widened();
                let within = (expected - found).abs() <= slack;
                !is_close(expected, found, T::TOLERANCE, scale) && !within
            });
            return apart.map_or(Ok(()), |row| {
                Err(differs(row, expected[row], &format!("{:e}", found[row].widened())))
            });
        }
        let found = self
            .integers(column, element)
            .filter(|found| found.len() == expected.len())
            .ok_or_else(missing)?;
        let same = |expected: f64, found: Option<f64>| match found {
            Some(found) => found == expected,
            None => {
                expected >= i64::MAX as f64
                    || expected <= i64::MIN as f64
                    || (element.kind() == Type::Id && expected == f64::from(u32::MAX))
            }
        };
        let apart =
            expected.iter().zip(&found).position(|(&expected, &found)| !same(expected, found));
        apart.map_or(Ok(()), |row| Err(differs(row, expected[row], &format!("{:?}", found[row]))))
    }

    /// The difference that loops with their own end may leave, if rounding ends one a superstep
    /// earlier.
    fn loop_slack(&self) -> f64 {
        let Body::Iterate(iterate) = &self.list.body else { return 0.0 };
        if iterate.loops.len() < 2 {
            return 0.0;
        }
        iterate
            .loops
            .iter()
            .map(|repeated| {
                if let StopCondition::ChangeAtMost(_, bound) = repeated.until { bound } else { 0.0 }
            })
            .sum()
    }

    fn integers(&self, column: &ArrayRef, element: Element) -> Option<Vec<Option<f64>>> {
        if let Some(lists) = column.as_fixed_size_list_opt() {
            return self.integers(lists.values(), element);
        }
        match element.kind() {
            Type::Bool => Some(
                column
                    .as_boolean_opt()?
                    .iter()
                    .map(|value| value.map(|value| f64::from(u8::from(value))))
                    .collect(),
            ),
            Type::Int => Some(
                column
                    .as_primitive_opt::<Int64Type>()?
                    .iter()
                    .map(|value| value.map(|value| value as f64))
                    .collect(),
            ),
            Type::Id | Type::Real => {
                let rows = rows_by_id(column, &self.nodes.ids)?;
                Some(
                    (0..column.len())
                        .map(|row| (!column.is_null(row)).then(|| rows[row]))
                        .collect(),
                )
            }
        }
    }
}
