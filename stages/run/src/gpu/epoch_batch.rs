//! epoch_batch: epochs that a GPU goes through alone, asked for while those before are still at
//! work, and what comes home of them.
//!
//! promises  a stretch goes on where the one before it ended, to the bit, whether the host has
//!           looked at that one or not; what comes home is as it was at the end of its stretch,
//!           whatever the device has done since
//! never     waits for the device but where the host wants what comes home
//! limits    `SLOTS` epochs; two stretches on their way at a time, each with pinned memory of the
//!           host for what comes home: the ring and, where something is decided, what is kept (64
//!           MiB at most), all of it with every stretch. A state of more than `pinned_state_bytes`,
//!           or for which the host has nothing to pin, does not come home by itself: whoever wants
//!           it asks for nothing behind it
use warploom_contract::StageError;
use warploom_device::Fault;
use warploom_device::gpu::{Landing, Piece};
use warploom_vertex::emit::cuda::Argument;
use warploom_vertex::emit::cuda::epoch_clock::{PARTS, SLOTS, counts_of_part};
use warploom_vertex::emit::cuda::training_control::{self, TrainingState};
use warploom_vertex::launch::parameter_buffer;
use warploom_vertex::tuning;

use super::{Counts, Machine, clock_bytes, failed, kernel_arguments, kernel_arguments::Side};
use crate::{
    precision::Precision,
    resolved_program::{Part, Program},
};

/// Epochs that were asked for.
#[derive(Debug)]
pub struct Stretch {
    first: u64,
    epochs: usize,
    /// Whether something is decided between them.
    decides: bool,
    home: Landing,
    state: Option<Landing>,
}

/// What machines have for their stretches.
#[derive(Debug, Default)]
pub(super) struct Homes {
    /// What comes home of every stretch; made for the first.
    home: Option<Spans>,
    state: Option<Spans>,
    spare: Vec<Landing>,
    spare_state: Vec<Landing>,
    /// The table of paces as the device has it.
    paces: Option<[f64; SLOTS]>,
}

/// Places of the device's memory, and where each comes home.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Spans {
    pieces: Vec<Piece>,
    bytes: u64,
}

impl Spans {
    fn of(mut places: Vec<kernel_arguments::Place>) -> Self {
        places.sort_by_key(|place| place.offset);
        let mut spans = Spans::default();
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

    /// A place's bytes among those that came home.
    fn read<'a>(
        &self,
        place: kernel_arguments::Place,
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
        bytes.ok_or_else(|| StageError::defect(format!("{place:?} does not come home")))
    }
}

impl Machine {
    /// Asks for epochs, from `first` on, each a measurement and a step: one fewer than there are
    /// paces, the last of which is that of the epoch behind them. What is decided between them is
    /// decided there, and `watched` says what. Where they go on from a stretch that is on its way,
    /// what the host has seen so far does not count.
    pub fn go_on<T: Precision>(
        &mut self,
        program: &Program<T>,
        first: u64,
        paces: &[f64],
        watched: Option<&TrainingState>,
        is_behind: bool,
    ) -> Result<Stretch, StageError> {
        let (epochs, decides) = (paces.len().saturating_sub(1), watched.is_some());
        let [table, clock] = [Argument::Paces, Argument::Clock].map(|part| self.layout.part(&part));
        let (Some(table), Some(clock), true) = (table, clock, epochs <= SLOTS) else {
            return Err(StageError::defect("a list that trains has no clock on the device"));
        };
        let mut told = self.homes.paces.unwrap_or([1.0; SLOTS]);
        (first..).zip(paces).skip(1).for_each(|(epoch, pace)| told[epoch as usize % SLOTS] = *pace);
        if self.homes.paces != Some(told) {
            self.gpu
                .upload(&self.memory, table.offset, bytemuck::cast_slice(&told))
                .map_err(failed)?;
            self.homes.paces = Some(told);
        }
        if !is_behind {
            self.gpu
                .upload(
                    &self.memory,
                    clock.offset,
                    &clock_bytes(first, paces.first().copied().unwrap_or(1.0)),
                )
                .map_err(failed)?;
            self.count_anew().map_err(failed)?;
            if let Some(watched) = watched {
                self.gpu
                    .upload(&self.memory, self.watch_of(first)?.offset, &watched.bytes())
                    .map_err(failed)?;
            }
        }
        let batch = tuning::epochs_per_graph();
        let batches = epochs / batch;
        (0..batches).try_for_each(|_| self.replay_epochs(program, batch, decides))?;
        (batches * batch..epochs).try_for_each(|_| self.replay_epochs(program, 1, decides))?;
        let mut home = self.room(decides)?;
        if let Some(spans) = &self.homes.home {
            self.gpu.land(&self.memory, &spans.pieces, &mut home).map_err(failed)?;
        }
        Ok(Stretch { first, epochs, decides, home, state: None })
    }

    /// Lets parameters and moments come home, too, as they are at the end of what was asked for
    /// last; not if they are too large for that, or the host has no room for them.
    pub fn bring_state<T: Precision>(
        &mut self,
        program: &Program<T>,
        stretch: &mut Stretch,
    ) -> Result<bool, StageError> {
        if self.homes.state.is_none() {
            let learned = program
                .parameters
                .iter()
                .filter_map(|learned| self.layout.buffer(&parameter_buffer(&learned.name)));
            let moments = self
                .layout
                .parts()
                .filter(|(part, _)| matches!(part, Argument::Moment(..)))
                .map(|(_, place)| place);
            let places =
                learned.filter(|at| at.side == Side::Device).map(|at| at.place).chain(moments);
            self.homes.state = Some(Spans::of(places.collect()));
        }
        let most = tuning::pinned_state_bytes();
        let Some(spans) =
            self.homes.state.as_ref().filter(|spans| (1..=most).contains(&spans.bytes))
        else {
            return Ok(false);
        };
        // A state that cannot be saved so is saved otherwise.
        let Some(mut state) =
            self.homes.spare_state.pop().or_else(|| self.gpu.landing(spans.bytes).ok())
        else {
            return Ok(false);
        };
        self.gpu.land(&self.memory, &spans.pieces, &mut state).map_err(failed)?;
        stretch.state = Some(state);
        Ok(true)
    }

    /// What was measured in each epoch of a stretch; waits for its end.
    pub fn measured(&self, stretch: &Stretch) -> Result<Vec<(f64, Counts)>, StageError> {
        let bytes = self.of_home(stretch, &Argument::Ring)?;
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
        Ok((stretch.first..stretch.first + stretch.epochs as u64).map(of_epoch).collect())
    }

    /// What the device decided up to the end of a stretch; nothing if nothing was to be decided.
    pub fn watched(&self, stretch: &Stretch) -> Result<Option<TrainingState>, StageError> {
        if !stretch.decides {
            return Ok(None);
        }
        let both = self.of_home(stretch, &Argument::Watches)?;
        let of_last = &both
            [(stretch.first + stretch.epochs as u64) as usize % 2 * training_control::BYTES..]
            [..training_control::BYTES];
        Ok(of_last.try_into().ok().map(TrainingState::from_bytes))
    }

    /// Parameters as they were kept on the device up to the end of a stretch, each of so many
    /// elements.
    pub fn kept<T: Precision>(
        &self,
        stretch: &Stretch,
        counts: &[usize],
    ) -> Result<Vec<Vec<T>>, StageError> {
        let of = |(number, &count): (usize, &usize)| {
            let mut values = vec![T::ZERO; count];
            let to: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
            to.copy_from_slice(self.of_home(stretch, &Argument::Kept(number))?);
            Ok(values)
        };
        counts.iter().enumerate().map(of).collect()
    }

    /// A stretch whose state came home is done with, and so is everything else of it.
    pub fn done_with(&mut self, stretch: Stretch) {
        self.homes.spare.push(stretch.home);
        self.homes.spare_state.extend(stretch.state);
    }

    /// Bytes of parameters or moments: as they came home with a stretch, or, without one, as they
    /// are.
    pub(super) fn read_state(
        &self,
        stretch: Option<&Stretch>,
        place: kernel_arguments::Place,
        to: &mut [u8],
    ) -> Result<(), StageError> {
        let Some(stretch) = stretch else {
            return self.gpu.download(&self.memory, place.offset, to).map_err(failed);
        };
        let (Some(spans), Some(landed)) = (&self.homes.state, &stretch.state) else {
            return Err(StageError::defect("no state came home"));
        };
        to.copy_from_slice(spans.read(
            kernel_arguments::Place { bytes: to.len() as u64, ..place },
            landed.contents().map_err(failed)?,
        )?);
        Ok(())
    }

    /// Where something comes home, and its bytes.
    fn of_home<'a>(&self, stretch: &'a Stretch, part: &Argument) -> Result<&'a [u8], StageError> {
        let (Some(place), Some(spans)) = (self.layout.part(part), &self.homes.home) else {
            return Err(StageError::defect(format!("{part:?} does not come home")));
        };
        spans.read(place, stretch.home.contents().map_err(failed)?)
    }

    /// Room for what comes home of a stretch.
    fn room(&mut self, decides: bool) -> Result<Landing, StageError> {
        if let Some(spare) = self.homes.spare.pop() {
            return Ok(spare);
        }
        let comes = |part: &Argument| match part {
            Argument::Ring => true,
            Argument::Watches | Argument::Kept(_) => decides,
            _ => false,
        };
        let spans = self.homes.home.get_or_insert_with(|| {
            Spans::of(
                self.layout
                    .parts()
                    .filter(|(part, _)| comes(part))
                    .map(|(_, place)| place)
                    .collect(),
            )
        });
        self.gpu.landing(spans.bytes).map_err(failed)
    }

    /// Where the device looks for what is gone by before an epoch.
    fn watch_of(&self, epoch: u64) -> Result<kernel_arguments::Place, StageError> {
        let both = self.layout.part(&Argument::Watches).ok_or_else(|| {
            StageError::defect("a list that decides has no place for that on the device")
        })?;
        Ok(kernel_arguments::Place {
            offset: both.offset + epoch % 2 * training_control::BYTES as u64,
            bytes: training_control::BYTES as u64,
        })
    }

    /// So many epochs as one graph, which is recorded the first time.
    fn replay_epochs<T: Precision>(
        &mut self,
        program: &Program<T>,
        count: usize,
        decides: bool,
    ) -> Result<(), StageError> {
        if !self.epochs.contains_key(&(count, decides)) {
            let graph = self
                .gpu
                .capture(|_| (0..count).try_for_each(|_| self.one_epoch(program, decides)))
                .map_err(failed)?;
            self.epochs.insert((count, decides), graph);
        }
        self.gpu.replay(&self.epochs[&(count, decides)]).map_err(failed)
    }

    /// A measurement, which is written down, and by which something may be decided; a step; the
    /// clock.
    fn one_epoch<T: Precision>(&self, program: &Program<T>, decides: bool) -> Result<(), Fault> {
        self.launch_counting(program.part(Part::Forward), false)?;
        self.launch_counting(program.part(Part::Loss), false)?;
        self.watch.iter().filter(|_| decides).try_for_each(|call| self.call(call, false))?;
        if program.draws {
            self.launch_counting(program.part(Part::Forward), true)?;
            self.launch_counting(program.part(Part::Loss), true)?;
        }
        let mut aside = None;
        for part in [Part::Backward, Part::Update] {
            program.part(part).try_for_each(|step| self.launch_aside(step, &mut aside))?;
        }
        let waits = aside.is_some();
        self.wait_for(aside)?;
        for (kept, next) in self.statistics(program) {
            self.gpu.copy(&self.memory, next.offset, &self.memory, kept.offset, kept.bytes)?;
        }
        self.clockwork.iter().try_for_each(|call| self.call_behind(call, waits, false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_places_come_home_together_and_each_is_found() {
        let place = |offset, bytes| kernel_arguments::Place { offset, bytes };
        let gap = tuning::readback_gap_bytes();
        let places = [place(1 << 20, 8), place(256, 100), place(512, 4), place(512 + gap + 4, 16)];
        let spans = Spans::of(places.to_vec());
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
            let found = spans.read(place, &landed).unwrap();
            assert_eq!(found.len() as u64, place.bytes);
            let before = if place.offset < 1 << 20 { place.offset - 256 } else { near };
            assert_eq!(found[0], before as u8);
        }
        assert!(
            spans.read(place(0, 4), &landed).is_err()
                && spans.read(place(1 << 20, 9), &landed).is_err()
        );
        assert_eq!(
            (Spans::of(Vec::new()), spans.read(place(1 << 30, 0), &landed).unwrap()),
            (Spans::default(), &[][..])
        );
    }
}
