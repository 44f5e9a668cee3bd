//! pipelined_epochs: batches of epochs that are enqueued on a GPU while earlier ones still run, and
//! the readback of their measurements and state.
//!
//! promises  a batch continues where the one before it ended, to the bit, whether the host has read
//!           that one or not; a readback has the values at the end of its batch, whatever the
//!           device has done since
//! never     waits for the device, except where the host needs a readback
//! limits    `SLOTS` epochs; two batches in flight at a time, each with pinned host memory for its
//!           readback: the ring of measurements and, if something is decided, the kept parameters
//!           (64 MiB at most), all of it with every batch. A state that is larger than
//!           `pinned_state_bytes`, or that the host cannot pin memory for, is not read back with
//!           its batch: the host then fetches it before it enqueues the next one
use warploom_contract::StageError;
use warploom_cuda::Argument;
use warploom_cuda::epoch_clock::{PARTS, SLOTS, counts_of_part};
use warploom_cuda::training_control::{self, TrainingState};
use warploom_device::Fault;
use warploom_device::gpu::{Landing, Piece};
use warploom_launch::parameter_buffer;
use warploom_tuning as tuning;

use super::{
    GpuExecutor, clock_bytes, device_error, kernel_arguments, kernel_arguments::MemorySpace,
};
use crate::{
    backend::{Counts, EpochBatch},
    precision::Precision,
    resolved_program::{Part, ResolvedProgram},
};

/// Epochs that were enqueued.
#[derive(Debug)]
pub struct BatchInFlight {
    first: u64,
    epochs: usize,
    /// Whether something is decided between them.
    decides: bool,
    landing: Landing,
    state_landing: Option<Landing>,
}

/// The readback buffers of a GPU.
#[derive(Debug, Default)]
pub(super) struct ReadbackBuffers {
    /// Spans of the readback of every batch; made for the first one.
    batch_spans: Option<ReadbackSpans>,
    state_spans: Option<ReadbackSpans>,
    spare: Vec<Landing>,
    spare_state: Vec<Landing>,
    /// The table of learning-rate factors as the device has it.
    paces: Option<[f64; SLOTS]>,
}

/// Ranges of device memory, and the position of each in a readback.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ReadbackSpans {
    pieces: Vec<Piece>,
    bytes: u64,
}

impl ReadbackSpans {
    fn from_places(mut places: Vec<kernel_arguments::ByteRange>) -> Self {
        places.sort_by_key(|place| place.offset);
        let mut spans = ReadbackSpans::default();
        for place in places {
            let end = place.offset + place.bytes;
            match spans.pieces.last_mut() {
                Some(last)
                    if place.offset <= last.offset + last.bytes + tuning::readback_gap_bytes() =>
                {
                    last.bytes = last.bytes.max(end - last.offset)
                }
                _ => spans.pieces.push(Piece {
                    offset: place.offset,
                    bytes: place.bytes,
                    at: spans.bytes,
                }),
            }
            spans.bytes = spans.pieces.last().map_or(0, |last| last.at + last.bytes);
        }
        spans
    }

    /// The bytes of a range in a readback.
    fn find_bytes<'a>(
        &self,
        place: kernel_arguments::ByteRange,
        landed: &'a [u8],
    ) -> Result<&'a [u8], StageError> {
        if place.bytes == 0 {
            return Ok(&[]);
        }
        let piece = self
            .pieces
            .iter()
            .find(|piece| (piece.offset..piece.offset + piece.bytes).contains(&place.offset));
        let start = piece.map(|piece| (piece.at + place.offset - piece.offset) as usize);
        let bytes = start.and_then(|start| landed.get(start..)?.get(..place.bytes as usize));
        bytes.ok_or_else(|| StageError::defect(format!("{place:?} is not in the readback")))
    }
}

impl GpuExecutor {
    /// Enqueues a batch. If it follows another in flight, the device's own state counts, not what
    /// the host has read so far.
    pub fn enqueue_epochs<T: Precision>(
        &mut self,
        program: &ResolvedProgram<T>,
        EpochBatch { first, paces, decides_from: watched }: EpochBatch<'_>,
        is_behind: bool,
    ) -> Result<BatchInFlight, StageError> {
        let (epochs, decides) = (paces.len().saturating_sub(1), watched.is_some());
        let [table, clock] =
            [Argument::Paces, Argument::Clock].map(|part| self.layout.argument_range(&part));
        let (Some(table), Some(clock), true) = (table, clock, epochs <= SLOTS) else {
            return Err(StageError::defect("a list that trains has no clock on the device"));
        };
        let mut device_paces = self.readback.paces.unwrap_or([1.0; SLOTS]);
        (first..)
            .zip(paces)
            .skip(1)
            .for_each(|(epoch, pace)| device_paces[epoch as usize % SLOTS] = *pace);
        if self.readback.paces != Some(device_paces) {
            self.gpu
                .upload(&self.memory, table.offset, bytemuck::cast_slice(&device_paces))
                .map_err(device_error)?;
            self.readback.paces = Some(device_paces);
        }
        if !is_behind {
            self.gpu
                .upload(
                    &self.memory,
                    clock.offset,
                    &clock_bytes(first, paces.first().copied().unwrap_or(1.0)),
                )
                .map_err(device_error)?;
            self.reset_counts().map_err(device_error)?;
            if let Some(watched) = watched {
                self.gpu
                    .upload(&self.memory, self.decision_range(first)?.offset, &watched.bytes())
                    .map_err(device_error)?;
            }
        }
        let per_graph = tuning::epochs_per_graph();
        let graphs = epochs / per_graph;
        (0..graphs).try_for_each(|_| self.replay_epochs(program, per_graph, decides))?;
        (graphs * per_graph..epochs).try_for_each(|_| self.replay_epochs(program, 1, decides))?;
        let mut landing = self.take_readback_buffer(decides)?;
        if let Some(spans) = &self.readback.batch_spans {
            self.gpu.land(&self.memory, &spans.pieces, &mut landing).map_err(device_error)?;
        }
        Ok(BatchInFlight { first, epochs, decides, landing, state_landing: None })
    }

    /// Enqueues a readback of parameters and moments at the end of the enqueued epochs. False if
    /// they are too large for it, or the host cannot pin memory.
    pub fn enqueue_state_readback<T: Precision>(
        &mut self,
        program: &ResolvedProgram<T>,
        batch: &mut BatchInFlight,
    ) -> Result<bool, StageError> {
        if self.readback.state_spans.is_none() {
            let learned = program
                .parameters
                .iter()
                .filter_map(|learned| self.layout.buffer(&parameter_buffer(&learned.name)));
            let moments = self
                .layout
                .argument_ranges()
                .filter(|(part, _)| matches!(part, Argument::Moment(..)))
                .map(|(_, place)| place);
            let places = learned
                .filter(|at| at.side == MemorySpace::Device)
                .map(|at| at.place)
                .chain(moments);
            self.readback.state_spans = Some(ReadbackSpans::from_places(places.collect()));
        }
        let most = tuning::pinned_state_bytes();
        let Some(spans) =
            self.readback.state_spans.as_ref().filter(|spans| (1..=most).contains(&spans.bytes))
        else {
            return Ok(false);
        };
        // A state that cannot be read back this way is fetched and saved later.
        let Some(mut state) =
            self.readback.spare_state.pop().or_else(|| self.gpu.landing(spans.bytes).ok())
        else {
            return Ok(false);
        };
        self.gpu.land(&self.memory, &spans.pieces, &mut state).map_err(device_error)?;
        batch.state_landing = Some(state);
        Ok(true)
    }

    /// The loss and the counts of each epoch of a batch; waits for its end.
    pub fn read_measurements(
        &self,
        batch: &BatchInFlight,
    ) -> Result<Vec<(f64, Counts)>, StageError> {
        let bytes = self.read_landed(batch, &Argument::Ring)?;
        let (each, counted) =
            (bytes.len() / SLOTS, PARTS * counts_of_part(self.kind, self.columns as u64));
        let of_epoch = |epoch: u64| {
            let slot = &bytes[epoch as usize % SLOTS * each..][..each];
            let loss = f64::from_le_bytes(slot[..8].try_into().unwrap_or_default());
            let counts = slot[8..8 + 4 * counted]
                .chunks_exact(4)
                .map(|count| u32::from_le_bytes(count.try_into().unwrap_or_default()));
            (loss, counts.collect())
        };
        Ok((batch.first..batch.first + batch.epochs as u64).map(of_epoch).collect())
    }

    /// What the device decided until the end of a batch; none if nothing was to be decided.
    pub fn read_decisions(
        &self,
        batch: &BatchInFlight,
    ) -> Result<Option<TrainingState>, StageError> {
        if !batch.decides {
            return Ok(None);
        }
        let both = self.read_landed(batch, &Argument::Watches)?;
        let of_last = &both
            [(batch.first + batch.epochs as u64) as usize % 2 * training_control::BYTES..]
            [..training_control::BYTES];
        Ok(of_last.try_into().ok().map(TrainingState::from_bytes))
    }

    /// The parameters that the device kept until the end of a batch, each of so many elements.
    pub fn read_kept_parameters<T: Precision>(
        &self,
        batch: &BatchInFlight,
        counts: &[usize],
    ) -> Result<Vec<Vec<T>>, StageError> {
        let of = |(number, &count): (usize, &usize)| {
            let mut values = vec![T::ZERO; count];
            let to: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
            to.copy_from_slice(self.read_landed(batch, &Argument::Kept(number))?);
            Ok(values)
        };
        counts.iter().enumerate().map(of).collect()
    }

    /// Takes back the readback buffers of a batch.
    pub fn recycle_batch(&mut self, batch: BatchInFlight) {
        self.readback.spare.push(batch.landing);
        self.readback.spare_state.extend(batch.state_landing);
    }

    /// Bytes of parameters or moments: as read back with a batch, or the current ones.
    pub(super) fn read_state(
        &self,
        batch: Option<&BatchInFlight>,
        place: kernel_arguments::ByteRange,
        to: &mut [u8],
    ) -> Result<(), StageError> {
        let Some(batch) = batch else {
            return self.gpu.download(&self.memory, place.offset, to).map_err(device_error);
        };
        let (Some(spans), Some(landed)) = (&self.readback.state_spans, &batch.state_landing) else {
            return Err(StageError::defect("a batch has no readback of the state"));
        };
        to.copy_from_slice(spans.find_bytes(
            kernel_arguments::ByteRange { bytes: to.len() as u64, ..place },
            landed.contents().map_err(device_error)?,
        )?);
        Ok(())
    }

    /// The bytes of an argument in the readback of a batch.
    fn read_landed<'a>(
        &self,
        batch: &'a BatchInFlight,
        part: &Argument,
    ) -> Result<&'a [u8], StageError> {
        let (Some(place), Some(spans)) =
            (self.layout.argument_range(part), &self.readback.batch_spans)
        else {
            return Err(StageError::defect(format!("{part:?} is not in the readback")));
        };
        spans.find_bytes(place, batch.landing.contents().map_err(device_error)?)
    }

    /// A buffer for the readback of a batch: a spare one, or a new one.
    fn take_readback_buffer(&mut self, decides: bool) -> Result<Landing, StageError> {
        if let Some(spare) = self.readback.spare.pop() {
            return Ok(spare);
        }
        let comes = |part: &Argument| match part {
            Argument::Ring => true,
            Argument::Watches | Argument::Kept(_) => decides,
            _ => false,
        };
        let spans = self.readback.batch_spans.get_or_insert_with(|| {
            ReadbackSpans::from_places(
                self.layout
                    .argument_ranges()
                    .filter(|(part, _)| comes(part))
                    .map(|(_, place)| place)
                    .collect(),
            )
        });
        self.gpu.landing(spans.bytes).map_err(device_error)
    }

    /// The range of the decision state that the device reads before an epoch.
    fn decision_range(&self, epoch: u64) -> Result<kernel_arguments::ByteRange, StageError> {
        let both = self.layout.argument_range(&Argument::Watches).ok_or_else(|| {
            StageError::defect("a list that decides has no memory for its decisions on the device")
        })?;
        Ok(kernel_arguments::ByteRange {
            offset: both.offset + epoch % 2 * training_control::BYTES as u64,
            bytes: training_control::BYTES as u64,
        })
    }

    /// Replays so many epochs as one CUDA graph, which is recorded the first time.
    fn replay_epochs<T: Precision>(
        &mut self,
        program: &ResolvedProgram<T>,
        count: usize,
        decides: bool,
    ) -> Result<(), StageError> {
        if !self.epochs.contains_key(&(count, decides)) {
            let graph = self
                .gpu
                .capture(|_| (0..count).try_for_each(|_| self.launch_epoch(program, decides)))
                .map_err(device_error)?;
            self.epochs.insert((count, decides), graph);
        }
        self.gpu.replay(&self.epochs[&(count, decides)]).map_err(device_error)
    }

    /// Launches one epoch: a measurement, which is stored and may decide; an update; the clock.
    fn launch_epoch<T: Precision>(
        &self,
        program: &ResolvedProgram<T>,
        decides: bool,
    ) -> Result<(), Fault> {
        self.launch_without_reset(program.part(Part::Forward), false)?;
        self.launch_without_reset(program.part(Part::Loss), false)?;
        self.watch.iter().filter(|_| decides).try_for_each(|call| self.launch_call(call, false))?;
        if program.draws {
            self.launch_without_reset(program.part(Part::Forward), true)?;
            self.launch_without_reset(program.part(Part::Loss), true)?;
        }
        let mut branch = None;
        for part in [Part::Backward, Part::Update] {
            program.part(part).try_for_each(|step| self.capture_step(step, &mut branch))?;
        }
        let waits = branch.is_some();
        self.join_branch(branch)?;
        for (kept, next) in self.statistics(program) {
            self.gpu.copy(&self.memory, next.offset, &self.memory, kept.offset, kept.bytes)?;
        }
        self.clockwork.iter().try_for_each(|call| self.launch_after(call, waits, false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_places_come_home_together_and_each_is_found() {
        let place = |offset, bytes| kernel_arguments::ByteRange { offset, bytes };
        let gap = tuning::readback_gap_bytes();
        let places = [place(1 << 20, 8), place(256, 100), place(512, 4), place(512 + gap + 4, 16)];
        let spans = ReadbackSpans::from_places(places.to_vec());
        let near = 512 + gap + 20 - 256;
        assert_eq!(
            spans.pieces,
            [
                Piece { offset: 256, bytes: near, at: 0 },
                Piece { offset: 1 << 20, bytes: 8, at: near }
            ]
        );
        assert_eq!(spans.bytes, near + 8);
        let landed: Vec<u8> = (0..spans.bytes).map(|at| at as u8).collect();
        for place in places {
            let found = spans.find_bytes(place, &landed).unwrap();
            assert_eq!(found.len() as u64, place.bytes);
            let before = if place.offset < 1 << 20 { place.offset - 256 } else { near };
            assert_eq!(found[0], before as u8);
        }
        assert!(
            spans.find_bytes(place(0, 4), &landed).is_err()
                && spans.find_bytes(place(1 << 20, 9), &landed).is_err()
        );
        assert_eq!(
            (
                ReadbackSpans::from_places(Vec::new()),
                spans.find_bytes(place(1 << 30, 0), &landed).unwrap()
            ),
            (ReadbackSpans::default(), &[][..])
        );
    }
}
