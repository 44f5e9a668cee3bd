//! transfer: copies between host and device, staged through pinned memory by a team of threads.
//!
//! promises  an upload runs in stream order, after the work queued before and before that queued
//!           later; when it returns, the source bytes may change. A download is complete when it
//!           returns. Each thread has its own staging buffers and waits for no other thread: while
//!           one is in flight it fills the next
//! never     pins the caller's memory, so that bytes of a mapped file can be uploaded as well; pins
//!           more than the pieces of a transfer need; touches the device during a capture
//! limits    up to 48 MiB pinned; one transfer at a time; as fast as rayon's threads copy, and as
//!           one of them where a rayon thread calls
#![allow(unsafe_code)]
use std::{
    slice,
    sync::{Arc, Mutex, MutexGuard},
};

use cudarc::driver::sys;
use rayon::prelude::*;

use super::{
    Gpu,
    context::{Context, lock_mutex},
    graph::Event,
    memory::Memory,
    pinned_memory::Pages,
};
use crate::gpu_error::{Fault, size};

/// Size of a staging buffer, the most that one driver copy moves: 1 MiB is 6 % slower, 3 and 4 MiB
/// are not faster and take longer to pin.
const STRETCH: usize = 2 << 20;
/// Staging buffers per thread: while one is in flight the other is filled.
const OF_THREAD: usize = 2;
/// Maximum threads of a team: as many saturate PCIe.
const TEAM: usize = 12;
/// Minimum size of a piece, unless a transfer is smaller: less is not worth a thread, nor the fixed
/// cost of a copy (3 us).
const PIECE: usize = 256 << 10;
/// Events without timing, which are cheaper.
pub(super) const UNTIMED: u32 = 2;

/// Buffers of pinned memory.
pub(super) struct Staging {
    stretches: Vec<Stretch>,
    /// Orders the two streams.
    fence: Event,
}

/// Pinned memory, and the event that says when the device has finished with it; both are created by
/// the first piece.
#[derive(Default)]
struct Stretch(Option<(Pages, Event)>);

impl Stretch {
    /// Its bytes and its event, once the device has finished with them.
    fn ready(&mut self, context: &Arc<Context>) -> Result<(&mut [u8], &Event), Fault> {
        let (pages, done) = match &mut self.0 {
            Some((pages, done)) => {
                done.wait()?;
                (pages, done)
            }
            // No flags: downloads are read from it, and write-combined memory is slow to read.
            none => {
                let made =
                    (Pages::allocate(context, STRETCH as u64, 0)?, Event::new(context, UNTIMED)?);
                let (pages, done) = none.insert(made);
                (pages, done)
            }
        };
        // SAFETY: that many bytes were pinned and initialised; the device has finished with them,
        // and `self`
        // is borrowed as long as they are.
        Ok((unsafe { slice::from_raw_parts_mut(pages.start, pages.length) }, done))
    }
}

impl Drop for Stretch {
    fn drop(&mut self) {
        if let Some((_, done)) = &self.0 {
            // Its pages are freed afterwards.
            let _nobody_to_tell = done.wait();
        }
    }
}

impl Gpu {
    /// Uploads bytes of the host into memory.
    pub fn upload(&self, memory: &Memory, offset: u64, bytes: &[u8]) -> Result<(), Fault> {
        self.upload_made(memory, offset, bytes.len(), |at, piece| {
            piece.copy_from_slice(&bytes[at..at + piece.len()])
        })
    }

    /// Uploads bytes that are generated piece by piece, directly in the staging buffers: `make` is
    /// given the offset of a piece among all `length` bytes, and the piece, every byte of which it
    /// writes. Several threads generate pieces, in any order.
    pub fn upload_made(
        &self,
        memory: &Memory,
        offset: u64,
        length: usize,
        make: impl Fn(usize, &mut [u8]) + Sync,
    ) -> Result<(), Fault> {
        let what = || format!("upload {}", size(length as u64));
        self.context.require_no_capture("upload")?;
        let target = memory.part(&self.context, offset, length as u64, what)?;
        if length == 0 {
            return Ok(());
        }
        self.move_pieces(length, pieces_of(length), |stretches, next| {
            let mut turn = 0;
            while let Some((at, now)) = next() {
                let (bytes, done) = stretches[turn % stretches.len()].ready(&self.context)?;
                make(at, &mut bytes[..now]);
                // SAFETY: the buffer has these bytes and waits for `done` before it is written
                // again; the target is in bounds of a live allocation.
                self.context.call(what, || unsafe {
                    sys::cuMemcpyHtoDAsync_v2(
                        target + at as u64,
                        bytes.as_ptr().cast(),
                        now,
                        self.context.copies,
                    )
                })?;
                done.record(self.context.copies)?;
                turn += 1;
            }
            Ok(())
        })
    }

    /// Downloads memory into bytes of the host, and waits for it.
    pub fn download(&self, memory: &Memory, offset: u64, bytes: &mut [u8]) -> Result<(), Fault> {
        let length = bytes.len();
        let what = || format!("download {}", size(length as u64));
        self.context.require_no_capture("download")?;
        let source = memory.part(&self.context, offset, length as u64, what)?;
        if bytes.is_empty() {
            return Ok(());
        }
        let ask = |stretch: &mut Stretch, at: usize, now: usize| {
            let (bytes, done) = stretch.ready(&self.context)?;
            // SAFETY: the buffer has room for a piece and is not read before `done`; the source is
            // in bounds of a live allocation.
            self.context.call(what, || unsafe {
                sys::cuMemcpyDtoHAsync_v2(
                    bytes.as_mut_ptr().cast(),
                    source + at as u64,
                    now,
                    self.context.copies,
                )
            })?;
            done.record(self.context.copies)
        };
        let mut rest = bytes;
        let pieces = pieces_of(length).map(|(at, now)| {
            let (target, after) = std::mem::take(&mut rest).split_at_mut(now);
            rest = after;
            (at, target)
        });
        self.move_pieces(length, pieces, |stretches, next| {
            let mut asked = |stretch: &mut Stretch| {
                next()
                    .map(|(at, target)| ask(stretch, at, target.len()).map(|()| target))
                    .transpose()
            };
            let mut waiting =
                stretches.iter_mut().map(&mut asked).collect::<Result<Vec<_>, Fault>>()?;
            for turn in (0..waiting.len()).cycle() {
                // Later pieces follow it, and there are none either.
                let Some(target) = waiting[turn].take() else { break };
                let (bytes, _) = stretches[turn].ready(&self.context)?;
                target.copy_from_slice(&bytes[..target.len()]);
                waiting[turn] = asked(&mut stretches[turn])?;
            }
            Ok(())
        })
    }

    /// Moves this many bytes in pieces, between the work queued before and after. Each thread has
    /// its own staging buffers and takes the next piece from a shared counter. A rayon thread works
    /// alone: while it waited for others it might steal a task that needs the staging lock it
    /// holds.
    fn move_pieces<P: Send>(
        &self,
        length: usize,
        pieces: impl Iterator<Item = P> + Send,
        moved: impl Fn(&mut [Stretch], &mut dyn FnMut() -> Option<P>) -> Result<(), Fault> + Sync,
    ) -> Result<(), Fault> {
        let mut staging = self.staging()?;
        let Some(Staging { stretches, fence }) = &mut *staging else { return Ok(()) };
        fence.record(self.context.work)?;
        fence.hold(self.context.copies)?;
        let pieces = Mutex::new(pieces);
        let moved =
            |stretches: &mut [Stretch]| moved(stretches, &mut || lock_mutex(&pieces).next());
        let alone = length <= PIECE || rayon::current_thread_index().is_some();
        let team = if alone { 1 } else { rayon::current_num_threads().min(TEAM) };
        let done = match team {
            1 => moved(&mut stretches[..OF_THREAD]),
            _ => stretches.par_chunks_mut(OF_THREAD).with_max_len(1).take(team).try_for_each(moved),
        };
        // Also after an error: the work queued before it still counts.
        let ordered =
            fence.record(self.context.copies).and_then(|()| fence.hold(self.context.work));
        done.and(ordered)
    }

    /// The pinned memory; it is allocated when this returns.
    fn staging(&self) -> Result<MutexGuard<'_, Option<Staging>>, Fault> {
        let mut staging = lock_mutex(&self.staging);
        if staging.is_none() {
            let stretches = (0..OF_THREAD * TEAM).map(|_| Stretch::default()).collect();
            *staging = Some(Staging { stretches, fence: Event::new(&self.context, UNTIMED)? });
        }
        Ok(staging)
    }
}

/// Offset and length of each piece: one buffer each, or less, so that each thread has one.
fn pieces_of(length: usize) -> impl Iterator<Item = (usize, usize)> + Send {
    let each = length.div_ceil(TEAM).next_multiple_of(4096).clamp(PIECE, STRETCH);
    (0..length).step_by(each).map(move |at| (at, each.min(length - at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_all_of_it_in_order_and_fit_a_stretch() {
        for length in
            [0, 1, PIECE - 1, PIECE, PIECE + 1, TEAM * PIECE, TEAM * PIECE + 1, 100 * STRETCH + 17]
        {
            let mut end = 0;
            for (at, now) in pieces_of(length) {
                assert!(
                    at == end && now > 0 && now <= STRETCH,
                    "{length}: {now} at {at} after {end}"
                );
                end = at + now;
            }
            assert_eq!(end, length);
        }
        assert_eq!((pieces_of(8 << 20).count(), pieces_of(1 << 30).count()), (TEAM, 1 << 9));
    }
}
