//! transfer: bytes of the host to the device and back, through two stretches of pinned memory.
//!
//! promises  an upload is ordered like other work: it comes after what was asked for before, and before what is asked for later; when it
//!           returns, the bytes it was given may change. A download has everything when it returns. One stretch is copied by
//!           the host's threads while the other is on its way
//! never     pins memory of the caller, so that bytes of a mapped file are as good as any; touches the device inside of a capture
//! limits    32 MiB pinned from the first transfer on; one transfer at a time, whoever asks; as fast as rayon's threads copy, and
//!           as one of them where a thread of rayon asks
#![allow(unsafe_code)]
use std::{
    slice,
    sync::{Arc, MutexGuard},
};

use cudarc::driver::sys;
use rayon::prelude::*;

use super::{
    Gpu,
    context::{Context, held},
    graph::Event,
    memory::Memory,
    pinned::Pages,
};
use crate::fault::{Fault, size};

/// Bytes of each of the two stretches.
const STAGING: usize = 16 << 20;
/// Bytes of the first piece of an upload; each next one is twice as long, so that the bus has work soon.
const PIECE_FIRST: usize = 1 << 20;
/// What one thread copies at a time.
const PIECE_OF_THREAD: usize = 256 << 10;
/// Events that take no time, which are cheaper.
pub(super) const UNTIMED: u32 = 2;

/// Two stretches of pinned memory, each with the event that says when the device is done with it.
pub(super) struct Staging {
    stretches: [Stretch; 2],
    /// Orders the two streams.
    fence: Event,
}

struct Stretch {
    pages: Pages,
    done: Event,
}

impl Stretch {
    fn new(context: &Arc<Context>) -> Result<Self, Fault> {
        let done = Event::new(context, UNTIMED)?;
        // No flags: downloads are read from it, and memory that combines writes reads slowly.
        Ok(Stretch { pages: Pages::of(context, STAGING as u64, 0)?, done })
    }

    /// Its bytes, once the device is done with them.
    fn bytes(&mut self) -> Result<&mut [u8], Fault> {
        self.done.wait()?;
        // SAFETY: that many bytes were pinned and written; the device is done with them, and `self` is borrowed as long as they are.
        Ok(unsafe { slice::from_raw_parts_mut(self.pages.start, self.pages.length) })
    }
}

impl Drop for Stretch {
    fn drop(&mut self) {
        // Then its pages go.
        let _nobody_to_tell = self.done.wait();
    }
}

impl Gpu {
    /// Copies bytes of the host into memory.
    pub fn upload(&self, memory: &Memory, offset: u64, bytes: &[u8]) -> Result<(), Fault> {
        self.upload_made(memory, offset, bytes.len(), |at, piece| piece.copy_from_slice(&bytes[at..at + piece.len()]))
    }

    /// Puts bytes into memory that are made on the way, straight where the device takes them from: `make` is given the place of a piece's
    /// first byte among all `length`, and the piece, whose bytes it writes, each of them. Pieces are made by several threads, in no order.
    pub fn upload_made(&self, memory: &Memory, offset: u64, length: usize, make: impl Fn(usize, &mut [u8]) + Sync) -> Result<(), Fault> {
        let what = || format!("upload {}", size(length as u64));
        self.context.at_once("upload")?;
        let mut target = memory.part(&self.context, offset, length as u64, what)?;
        if length == 0 {
            return Ok(());
        }
        let mut staging = self.staging()?;
        let Some(Staging { stretches, fence }) = &mut *staging else { return Ok(()) };
        let (work, copies) = (self.context.work, self.context.copies);
        fence.record(work)?;
        fence.hold(copies)?;
        let (mut done, mut piece) = (0, PIECE_FIRST);
        for turn in 0.. {
            let now = piece.min(length - done);
            let stretch = &mut stretches[turn % 2];
            make_by_threads(&mut stretch.bytes()?[..now], |at, piece| make(done + at, piece));
            // SAFETY: the stretch has these bytes and waits for `done` before it is written again; the target lies inside of memory
            // that is there.
            self.context.call(what, || unsafe { sys::cuMemcpyHtoDAsync_v2(target, stretch.pages.start.cast(), now, copies) })?;
            stretch.done.record(copies)?;
            done += now;
            if done == length {
                stretch.done.hold(work)?;
                return Ok(());
            }
            (piece, target) = ((2 * piece).min(STAGING), target + now as u64);
        }
        Ok(())
    }

    /// Copies memory into bytes of the host, and waits for them.
    pub fn download(&self, memory: &Memory, offset: u64, bytes: &mut [u8]) -> Result<(), Fault> {
        let length = bytes.len();
        let what = || format!("download {}", size(length as u64));
        self.context.at_once("download")?;
        let source = memory.part(&self.context, offset, length as u64, what)?;
        if bytes.is_empty() {
            return Ok(());
        }
        let mut staging = self.staging()?;
        let Some(Staging { stretches, fence }) = &mut *staging else { return Ok(()) };
        fence.record(self.context.work)?;
        fence.hold(self.context.copies)?;
        let ask = |stretch: &mut Stretch, piece: usize| {
            let at = piece * STAGING;
            let (start, copies) = (stretch.bytes()?.as_mut_ptr(), self.context.copies);
            // SAFETY: the stretch has room for a piece and is not looked at before `done`; the source lies inside of memory that is
            // there.
            self.context.call(what, || unsafe { sys::cuMemcpyDtoHAsync_v2(start.cast(), source + at as u64, STAGING.min(length - at), copies) })?;
            stretch.done.record(copies)
        };
        let pieces = length.div_ceil(STAGING);
        ask(&mut stretches[0], 0)?;
        for (piece, target) in bytes.chunks_mut(STAGING).enumerate() {
            if piece + 1 < pieces {
                ask(&mut stretches[(piece + 1) % 2], piece + 1)?;
            }
            let source = &stretches[piece % 2].bytes()?[..target.len()];
            make_by_threads(target, |at, piece| piece.copy_from_slice(&source[at..at + piece.len()]));
        }
        Ok(())
    }

    /// The pinned memory, made at first use; it is there in what comes back.
    fn staging(&self) -> Result<MutexGuard<'_, Option<Staging>>, Fault> {
        let mut staging = held(&self.staging);
        if staging.is_none() {
            let stretches = [Stretch::new(&self.context)?, Stretch::new(&self.context)?];
            *staging = Some(Staging { stretches, fence: Event::new(&self.context, UNTIMED)? });
        }
        Ok(staging)
    }
}

/// One thread cannot copy as fast as the bus takes. A thread of rayon copies alone: while it waited for others it might take up work
/// that wants the staging it holds.
fn make_by_threads(target: &mut [u8], make: impl Fn(usize, &mut [u8]) + Sync) {
    if target.len() <= PIECE_OF_THREAD || rayon::current_thread_index().is_some() {
        return make(0, target);
    }
    target.par_chunks_mut(PIECE_OF_THREAD).enumerate().for_each(|(piece, target)| make(piece * PIECE_OF_THREAD, target));
}
