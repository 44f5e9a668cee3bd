//! readback: pinned host memory that the device writes results to, in stream order and
//! asynchronously.
//!
//! promises  bytes are handed out once all copies queued before have arrived; freeing waits for
//!           them
//! never     waits for work queued after those copies, and delays it only by the copies themselves
//! limits    pinned as long as it lives; a new copy to a place overwrites the previous one
#![allow(unsafe_code)]
use std::{fmt, slice, sync::Arc};

use cudarc::driver::sys;

use super::{Gpu, graph::Event, memory::Memory, pinned_memory::Pages, transfer::UNTIMED};
use crate::gpu_error::{Fault, size};

/// Pinned host memory for results of the device.
pub struct Landing {
    pages: Pages,
    arrived: Event,
}

/// A part of device memory, and its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Offset on the device.
    pub offset: u64,
    /// Length.
    pub bytes: u64,
    /// Offset in the landing.
    pub at: u64,
}

impl Landing {
    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.pages.length as u64
    }

    /// Its contents, once all copies have arrived.
    pub fn contents(&self) -> Result<&[u8], Fault> {
        self.pages.context.require_no_capture("read what arrived")?;
        self.arrived.wait()?;
        // SAFETY: that many bytes were pinned and initialised, and pending copies have arrived;
        // starting another one needs exclusive access to `self`.
        Ok(unsafe { slice::from_raw_parts(self.pages.start, self.pages.length) })
    }
}

impl fmt::Debug for Landing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Landing({} bytes)", self.bytes())
    }
}

impl Drop for Landing {
    fn drop(&mut self) {
        // Its pages are freed afterwards.
        let _nobody_to_tell = self.arrived.wait();
    }
}

impl Gpu {
    /// Allocates this many bytes, at least one.
    pub fn landing(&self, bytes: u64) -> Result<Landing, Fault> {
        let arrived = Event::new(&self.context, UNTIMED)?;
        Ok(Landing { pages: Pages::allocate(&self.context, bytes, 0)?, arrived })
    }

    /// Copies parts of device memory after all work queued before, and returns at once.
    pub fn land(&self, from: &Memory, pieces: &[Piece], to: &mut Landing) -> Result<(), Fault> {
        self.context.require_no_capture("send to the host")?;
        for piece in pieces.iter().filter(|piece| piece.bytes > 0) {
            let what = || format!("send {} to the host", size(piece.bytes));
            let source = from.part(&self.context, piece.offset, piece.bytes, what)?;
            if !Arc::ptr_eq(&to.pages.context, &self.context)
                || piece.at.checked_add(piece.bytes).is_none_or(|end| end > to.bytes())
            {
                return Err(Fault::misuse(format!(
                    "{}: to {} of {} of this device",
                    what(),
                    piece.at,
                    size(to.bytes())
                )));
            }
            // SAFETY: the landing has room for the part at that offset, and hands nothing out
            // before `arrived`, which is recorded below, also where a later part is refused; the
            // source is in bounds of a live allocation.
            let asked = self.context.call(what, || unsafe {
                sys::cuMemcpyDtoHAsync_v2(
                    to.pages.start.add(piece.at as usize).cast(),
                    source,
                    piece.bytes as usize,
                    self.context.work,
                )
            });
            to.arrived.record(self.context.work)?;
            asked?;
        }
        Ok(())
    }
}
