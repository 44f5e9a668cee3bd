//! host_state: what the host has of a run: the resolved list, its inputs, the buffers, and the
//! state of the optimisers.
//!
//! promises  buffers are where the plan put them, inputs where they are mapped; a GPU's values are
//!           here once they were fetched
//! never     runs a launch; looks up a name while launches run
use std::borrow::Cow;

use arrow_buffer::ArrowNativeType;
use warploom_contract::{ErrorKind, StageError};
use warploom_cpu::{half_precision, optimizer::Optimizer};
use warploom_ir::Half;
use warploom_launch::{Buffer, Element, LaunchList, Role};

use crate::{
    buffers::{Aligned, Buffers, Contents, Location, Place},
    inputs::input_data::{Data, InputRows},
    precision::Precision,
    resolved_program::{ResolvedProgram, row_count},
    training::optimizers::Moments,
};

/// A launch list and what it reads and writes, on the host.
#[derive(Debug)]
pub struct HostState<T: Precision> {
    /// The resolved launch list.
    pub program: ResolvedProgram<T>,
    /// Inputs: graph, features, labels.
    pub data: Data<T>,
    /// The buffers of the list.
    pub buffers: Buffers<T>,
    /// Moments, by parameter.
    pub moments: Vec<Moments<T>>,
    /// Optimiser of each parameter.
    pub optimizers: Vec<Optimizer>,
    /// The learning-rate factor of this epoch.
    pub pace: f64,
    /// The last loss, before it was rounded to the run's type.
    pub loss: f64,
    /// The seed of what is drawn.
    pub seed: u64,
}

impl<T: Precision> HostState<T> {
    /// Resolves a validated list and makes its buffers. Features and targets move from `data` into
    /// them.
    pub fn new(list: &LaunchList, mut data: Data<T>, seed: u64) -> Result<Self, StageError> {
        let program = ResolvedProgram::resolve(list)?;
        let mut buffers = Buffers::new(usize::try_from(list.arena.bytes).unwrap_or(usize::MAX))?;
        for buffer in list.buffers.iter().filter(|buffer| !buffer.role.is_sparse()) {
            let count = row_count(buffer.rows, data.nodes, data.edges) * buffer.columns as usize;
            let (rows, columns) = (buffer.rows, buffer.columns as usize);
            match buffer.element {
                Element::Real => buffers.push_real(
                    rows,
                    columns,
                    allocate_location(list, buffer, count, |count| {
                        initial_contents(buffer, &mut data, count)
                    })?,
                ),
                Element::Half(half) => buffers.push_half(
                    rows,
                    columns,
                    allocate_location(list, buffer, count, |count| {
                        initial_half_contents(buffer, &mut data, count, half)
                    })?,
                ),
                Element::Whole(_) => buffers.push_whole(
                    rows,
                    columns,
                    allocate_location(list, buffer, count, |count| {
                        initial_whole_contents(buffer, &mut data, count)
                    })?,
                ),
            }
        }
        let is_missing = |buffer: &Buffer| match buffer.role {
            Role::SparseFeatures => data.sparse.is_none(),
            Role::SparseFeaturesOf { kind, .. } => !data.sparse_of_kind.contains_key(&kind),
            _ => false,
        };
        if list.buffers.iter().any(is_missing) {
            return Err(missing_input_error("sparse features"));
        }
        let moments = program
            .parameters
            .iter()
            .map(|_| Moments { first: Vec::new(), second: Vec::new() })
            .collect();
        Ok(HostState {
            program,
            data,
            buffers,
            moments,
            optimizers: Vec::new(),
            pace: 1.0,
            loss: f64::NAN,
            seed,
        })
    }

    /// Sets the optimiser of each parameter, with zero moments.
    pub fn begin_optimizers(&mut self, optimizers: Vec<Optimizer>) {
        let empty_or = |wanted: bool, count: usize| vec![T::ZERO; if wanted { count } else { 0 }];
        let reals = self.buffers.reals();
        for ((moments, learned), optimizer) in
            self.moments.iter_mut().zip(&self.program.parameters).zip(&optimizers)
        {
            let count = learned.gradient.map_or(0, |_| reals.get(learned.buffer).len());
            let (first, second) = match optimizer {
                Optimizer::Adam(_) | Optimizer::AdamW(_) => (true, true),
                Optimizer::Sgd { momentum, .. } => (*momentum != 0.0, false),
            };
            *moments = Moments { first: empty_or(first, count), second: empty_or(second, count) };
        }
        self.optimizers = optimizers;
    }

    /// Replaces every parameter.
    pub fn write_parameters(&mut self, parameters: &[Vec<T>]) {
        for (learned, values) in self.program.parameters.iter().zip(parameters) {
            self.buffers
                .write_real(learned.buffer, |parameter, _| parameter.copy_from_slice(values));
        }
    }

    /// Frees the inputs once the launches are done: writing results needs memory of its own.
    pub fn release_inputs(&mut self, list: &LaunchList) {
        let is_given = |buffer: &&Buffer| {
            matches!(buffer.role, Role::Features | Role::Target | Role::Given(_))
        };
        for buffer in list.buffers.iter().filter(is_given) {
            let Some(&place) = self.program.places.get(&buffer.name) else { continue };
            if !self.program.results.iter().any(|result| result.place == place) {
                self.buffers.release(place);
            }
        }
        self.data.sparse = None;
        self.data.sparse_of_kind.clear();
    }

    /// A copy of every parameter; on a GPU, as last fetched.
    pub fn parameters(&self) -> Vec<Vec<T>> {
        let reals = self.buffers.reals();
        self.program.parameters.iter().map(|learned| reals.get(learned.buffer).to_vec()).collect()
    }

    /// Elements of a buffer of floats by name. A buffer that later launches do not read may have
    /// been overwritten.
    pub fn real_elements(&self, name: &str) -> Option<Cow<'_, [T]>> {
        let buffers = &self.buffers;
        match *self.program.places.get(name)? {
            Place::Real(index) => Some(buffers.reals().get(index).into()),
            Place::Half(index, Half::Bf16) => Some(
                widen_halves::<T, half_precision::bf16>(buffers.read_banks().halves.get(index))
                    .into(),
            ),
            Place::Half(index, Half::F16) => Some(
                widen_halves::<T, half_precision::f16>(buffers.read_banks().halves.get(index))
                    .into(),
            ),
            _ => None,
        }
    }
}

/// The location of a buffer: its range of the arena if launches compute it, else separate. Inputs
/// are read where they are mapped, also where the arena of a GPU has room for a copy.
fn allocate_location<E: ArrowNativeType>(
    list: &LaunchList,
    buffer: &Buffer,
    count: usize,
    apart: impl FnOnce(usize) -> Result<Contents<E>, StageError>,
) -> Result<Location<E>, StageError> {
    let is_made = matches!(buffer.role, Role::Value | Role::Gradient);
    let Some(place) = list.arena.place(&buffer.name).filter(|_| is_made) else {
        return Ok(Location::Separate(apart(count)?));
    };
    let bytes = count * size_of::<E>();
    if bytes as u64 > place.bytes {
        let what = format!(
            "the plan was made for {} bytes of `{}`, and the graph makes {bytes}",
            place.bytes, buffer.name
        );
        return Err(StageError::new(ErrorKind::Damaged, what));
    }
    let start = place.offset as usize;
    Ok(Location::Arena(start..start + bytes))
}

/// Initial contents of a buffer of floats.
fn initial_contents<T: Precision>(
    buffer: &Buffer,
    data: &mut Data<T>,
    count: usize,
) -> Result<Contents<T>, StageError> {
    let (given, what) = match buffer.role {
        Role::Features => (data.features.take(), "features"),
        Role::Target => (data.target.take(), "target"),
        Role::Given(_) => match data.given.remove(&buffer.name) {
            Some(InputRows::Real(values)) => (Some(values), "column"),
            _ => return Err(missing_input_error(&format!("`{}`", buffer.name))),
        },
        _ => return Ok(Contents::Owned(Aligned::zeros(count)?)),
    };
    let given = given.ok_or_else(|| missing_input_error(what))?;
    if given.len() != count {
        let what = format!(
            "the plan was made for a {what} of {count} numbers, the graph has {}",
            given.len()
        );
        return Err(StageError::new(ErrorKind::Damaged, what));
    }
    Ok(given)
}

/// 16-bit floats widened to the run's type.
fn widen_halves<T: Precision, H: half_precision::Half>(bits: &[u16]) -> Vec<T> {
    bytemuck::cast_slice::<u16, H>(bits).iter().map(|half| T::from_half(half.widened())).collect()
}

/// Initial contents of a buffer of 16-bit floats: rounded features, or zeros that a walk
/// overwrites.
fn initial_half_contents<T: Precision>(
    buffer: &Buffer,
    data: &mut Data<T>,
    count: usize,
    half: Half,
) -> Result<Contents<u16>, StageError> {
    let mut rounded = Aligned::zeros(count)?;
    if buffer.role == Role::Features {
        let features = initial_contents(buffer, data, count)?;
        match half {
            Half::Bf16 => half_precision::round_all::<T, half_precision::bf16>(
                bytemuck::cast_slice_mut(&mut rounded),
                &features,
            ),
            Half::F16 => half_precision::round_all::<T, half_precision::f16>(
                bytemuck::cast_slice_mut(&mut rounded),
                &features,
            ),
        }
    }
    Ok(Contents::Owned(rounded))
}

/// Initial contents of a buffer of integers.
fn initial_whole_contents<T: Precision>(
    buffer: &Buffer,
    data: &mut Data<T>,
    count: usize,
) -> Result<Contents<i64>, StageError> {
    if !matches!(buffer.role, Role::Given(_)) {
        return Ok(Contents::Owned(Aligned::zeros(count)?));
    }
    match data.given.remove(&buffer.name) {
        Some(InputRows::Whole(values)) if values.len() == count => Ok(values),
        _ => Err(missing_input_error(&format!("`{}`", buffer.name))),
    }
}

fn missing_input_error(what: &str) -> StageError {
    StageError::defect(format!("the plan reads {what}, and the graph it names has none"))
}
