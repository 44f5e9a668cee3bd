//! readback: pinned memory of the host where bytes of the device arrive in the order of its work,
//! while it goes on.
//!
//! promises  bytes are handed out once everything that was asked for before has arrived; freeing
//!           waits for that
//! never     waits for what the device was asked to do after that; holds it up but for the copies
//!           themselves
//! limits    pinned as long as it is there; what arrives at a place replaces what had arrived there
//!           before
#![allow(unsafe_code)]
use std::{fmt, slice, sync::Arc};

use cudarc::driver::sys;

use super::{Gpu, graph::Event, memory::Memory, pinned_memory::Pages, transfer::UNTIMED};
use crate::gpu_error::{Fault, size};

/// A stretch of the host's memory for what the device sends.
pub struct Landing {
    pages: Pages,
    arrived: Event,
}

/// Bytes of the device's memory, and where they are to arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The first byte on the device.
    pub offset: u64,
    /// How many.
    pub bytes: u64,
    /// The first byte of the landing.
    pub at: u64,
}

impl Landing {
    /// How long it is.
    pub fn bytes(&self) -> u64 {
        self.pages.length as u64
    }

    /// What has arrived, once all of it has.
    pub fn contents(&self) -> Result<&[u8], Fault> {
        self.pages.context.require_no_capture("read what arrived")?;
        self.arrived.wait()?;
        // SAFETY: that many bytes were pinned and written, and what was on its way has arrived;
        // more comes only to who has `self` alone.
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
        // Then its pages go.
        let _nobody_to_tell = self.arrived.wait();
    }
}

impl Gpu {
    /// Room for so many bytes, at least one.
    pub fn landing(&self, bytes: u64) -> Result<Landing, Fault> {
        let arrived = Event::new(&self.context, UNTIMED)?;
        Ok(Landing { pages: Pages::allocate(&self.context, bytes, 0)?, arrived })
    }

    /// Lets pieces of memory arrive, as everything asked for before has left them, and returns at
    /// once.
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
            // SAFETY: the landing has room for the piece at that place, and gives nothing away
            // before `arrived`, which is recorded below, also where a later piece is refused; the
            // source lies inside of memory that is there.
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
