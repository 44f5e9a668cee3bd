//! landing: pinned memory of the host where bytes of the device arrive in the order of its work, while it goes on.
//!
//! promises  bytes are handed out once everything that was asked for before has arrived; freeing waits for that
//! never     waits for what the device was asked to do after that; holds it up but for the copies themselves
//! limits    pinned as long as it is there; what arrives at a place replaces what had arrived there before
#![allow(unsafe_code)]
use std::{fmt, slice, sync::Arc};

use cudarc::driver::sys;

use super::{Gpu, context::Context, graph::Event, memory::Memory, pinned::pages, transfer::UNTIMED};
use crate::fault::{Fault, size};

/// A stretch of the host's memory for what the device sends.
pub struct Landing {
    context: Arc<Context>,
    start: *mut u8,
    bytes: usize,
    arrived: Event,
}

// SAFETY: the memory is the landing's own; the device writes it only as long as somebody has it alone, and before `arrived`.
unsafe impl Send for Landing {}

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
        self.bytes as u64
    }

    /// What has arrived, once all of it has.
    pub fn contents(&self) -> Result<&[u8], Fault> {
        self.context.at_once("read what arrived")?;
        self.arrived.wait()?;
        // SAFETY: that many bytes were pinned and written, and what was on its way has arrived; more comes only to who has `self` alone.
        Ok(unsafe { slice::from_raw_parts(self.start, self.bytes) })
    }
}

impl fmt::Debug for Landing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Landing({} bytes)", self.bytes)
    }
}

impl Drop for Landing {
    fn drop(&mut self) {
        let _nobody_to_tell = self.arrived.wait();
        let _ = self.context.bind();
        // SAFETY: pinned once, freed once, and nothing is on its way.
        let _nobody_to_tell = unsafe { sys::cuMemFreeHost(self.start.cast()) };
    }
}

impl Gpu {
    /// Room for so many bytes, at least one.
    pub fn landing(&self, bytes: u64) -> Result<Landing, Fault> {
        let what = || format!("pin {} of the host", size(bytes));
        self.context.at_once("pin memory of the host")?;
        let bytes = usize::try_from(bytes).ok().filter(|bytes| *bytes > 0).ok_or_else(|| Fault::misuse(what()))?;
        let arrived = Event::new(&self.context, UNTIMED)?;
        let start = pages(&self.context, bytes, 0)?;
        Ok(Landing { context: Arc::clone(&self.context), start, bytes, arrived })
    }

    /// Lets pieces of memory arrive, as everything asked for before has left them, and returns at once.
    pub fn land(&self, from: &Memory, pieces: &[Piece], to: &mut Landing) -> Result<(), Fault> {
        self.context.at_once("send to the host")?;
        for piece in pieces.iter().filter(|piece| piece.bytes > 0) {
            let what = || format!("send {} to the host", size(piece.bytes));
            let source = from.part(&self.context, piece.offset, piece.bytes, what)?;
            if !Arc::ptr_eq(&to.context, &self.context) || piece.at.checked_add(piece.bytes).is_none_or(|end| end > to.bytes()) {
                return Err(Fault::misuse(format!("{}: to {} of {} of this device", what(), piece.at, size(to.bytes()))));
            }
            // SAFETY: the landing has room for the piece at that place, and gives nothing away before `arrived`, which is recorded below,
            // also where a later piece is refused; the source lies inside of memory that is there.
            let asked = self
                .context
                .call(what, || unsafe { sys::cuMemcpyDtoHAsync_v2(to.start.add(piece.at as usize).cast(), source, piece.bytes as usize, self.context.work) });
            to.arrived.record(self.context.work)?;
            asked?;
        }
        Ok(())
    }
}
