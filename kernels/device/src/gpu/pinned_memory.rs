//! pinned_memory: stretches of the host's memory that kernels read where they are, over the bus.
//!
//! promises  pages stay where they are until the stretch is dropped, and have an address of the
//!           device; the host's bytes are handed out once the device is done with what was asked
//!           for; freeing waits for the device
//! never     copies anything to the device unasked; counts as its memory
//! limits    what the host has pages for; each read of a kernel goes over the bus, as fast as that
//!           is
#![allow(unsafe_code)]
use std::{
    ffi::{c_uint, c_void},
    fmt, ptr, slice,
    sync::Arc,
};

use cudarc::driver::sys;

use super::{Gpu, context::Context, memory::Memory};
use crate::gpu_error::{Code, Fault, size};

/// Kernels of every context may read it, at an address of the device.
const MAPPED: c_uint = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;

/// Pages of the host that stay where they are as long as this is there; the device has to be done
/// with them before.
pub(super) struct Pages {
    pub(super) context: Arc<Context>,
    pub(super) start: *mut u8,
    pub(super) length: usize,
}

// SAFETY: the memory is its own, and whoever writes it has it alone.
unsafe impl Send for Pages {}

impl Pages {
    /// So many bytes, at least one, all zero.
    pub(super) fn allocate(
        context: &Arc<Context>,
        bytes: u64,
        flags: c_uint,
    ) -> Result<Self, Fault> {
        let what = || format!("pin {} of the host", size(bytes));
        context.require_no_capture("pin memory of the host")?;
        let length = usize::try_from(bytes)
            .ok()
            .filter(|length| *length > 0)
            .ok_or_else(|| Fault::misuse(what()))?;
        let mut start: *mut c_void = ptr::null_mut();
        // SAFETY: `start` outlives the call.
        let made = context.call(what, || unsafe { sys::cuMemHostAlloc(&mut start, length, flags) });
        made.map_err(|fault| match fault.code {
            // The host's memory, not the device's.
            Code::Memory { .. } => Fault {
                code: Code::Driver(
                    "CUDA_ERROR_OUT_OF_MEMORY: the host has no pages to pin".to_owned(),
                ),
                ..fault
            },
            _ => fault,
        })?;
        // SAFETY: there are that many bytes, and nobody else has them yet; they are initialised
        // from here on.
        unsafe { ptr::write_bytes(start.cast::<u8>(), 0, length) };
        Ok(Pages { context: Arc::clone(context), start: start.cast(), length })
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        let _ = self.context.bind();
        // SAFETY: pinned once, freed once, and whoever has them has waited for the device.
        let _nobody_to_tell = unsafe { sys::cuMemFreeHost(self.start.cast()) };
    }
}

/// A stretch of the host's memory; freed when it is dropped.
pub struct Pinned {
    pages: Pages,
    pointer: u64,
}

// SAFETY: a shared stretch gives away numbers alone.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// Its address on the device.
    pub fn pointer(&self) -> u64 {
        self.pointer
    }

    /// How long it is.
    pub fn bytes(&self) -> u64 {
        self.pages.length as u64
    }

    /// What the host writes, once the device is done with everything that was asked for.
    pub fn contents(&mut self) -> Result<&mut [u8], Fault> {
        self.pages.context.require_no_capture("write to pinned memory")?;
        self.pages.context.wait("wait for readers of pinned memory")?;
        // SAFETY: that many bytes were pinned and written; the device is done with them, and `self`
        // is borrowed as long as they are.
        Ok(unsafe { slice::from_raw_parts_mut(self.pages.start, self.pages.length) })
    }
}

impl fmt::Debug for Pinned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pinned({} bytes at {:#x})", self.bytes(), self.pointer)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // Then its pages go.
        let _nobody_to_tell = self.pages.context.wait("wait for readers of pinned memory");
    }
}

impl Gpu {
    /// A stretch of the host's memory that kernels can read, all zero, at a multiple of a page; at
    /// least one byte.
    pub fn pin(&self, bytes: u64) -> Result<Pinned, Fault> {
        // From here on it is freed, whatever comes.
        let mut pinned =
            Pinned { pages: Pages::allocate(&self.context, bytes, MAPPED)?, pointer: 0 };
        let (start, address) = (pinned.pages.start, &mut pinned.pointer);
        let what = || format!("pin {} of the host", size(bytes));
        // SAFETY: `start` was pinned above with an address of the device, which is put where it
        // outlives the call.
        self.context.call(what, || unsafe {
            sys::cuMemHostGetDevicePointer_v2(address, start.cast(), 0)
        })?;
        Ok(pinned)
    }

    /// Copies the first bytes of pinned memory to the device, in the order of the other work and as
    /// fast as the bus goes; whoever writes them next waits for it.
    pub fn copy_pinned(
        &self,
        from: &Pinned,
        to: &Memory,
        offset: u64,
        bytes: u64,
    ) -> Result<(), Fault> {
        let what = || format!("copy {} of pinned memory to the device", size(bytes));
        self.context.require_no_capture("copy pinned memory")?;
        if !Arc::ptr_eq(&from.pages.context, &self.context) || bytes > from.bytes() {
            return Err(Fault::misuse(format!(
                "{}: there are {} of this device",
                what(),
                size(from.bytes())
            )));
        }
        let target = to.part(&self.context, offset, bytes, what)?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: both stretches are there and as long as that; freeing either waits for the copy.
        self.context.call(what, || unsafe {
            sys::cuMemcpyHtoDAsync_v2(
                target,
                from.pages.start.cast(),
                bytes as usize,
                self.context.work,
            )
        })
    }
}
