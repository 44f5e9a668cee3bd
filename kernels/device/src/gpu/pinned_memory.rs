//! pinned_memory: pinned host memory that kernels read in place, over PCIe (zero copy).
//!
//! promises  pages stay resident and mapped for the device until it is dropped; the host's view is
//!           handed out once the device has finished the work queued before; freeing waits for the
//!           device
//! never     copies to the device unless asked; counts as device memory
//! limits    bound by the pages that the host can pin; each read of a kernel goes over PCIe, at
//!           that bandwidth
#![allow(unsafe_code)]
use std::{
    ffi::{c_uint, c_void},
    fmt, ptr, slice,
    sync::Arc,
};

use cudarc::driver::sys;

use super::{Gpu, context::Context, memory::Memory};
use crate::gpu_error::{Code, Fault, size};

/// Portable: mapped for kernels of every context.
const MAPPED: c_uint = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;

/// Pinned host pages; they are freed only after the device has finished with them.
pub(super) struct Pages {
    pub(super) context: Arc<Context>,
    pub(super) start: *mut u8,
    pub(super) length: usize,
}

// SAFETY: it owns the memory, and writers have exclusive access.
unsafe impl Send for Pages {}

impl Pages {
    /// Allocates this many bytes, at least one, zeroed.
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
            // Host memory, not device memory.
            Code::Memory { .. } => Fault {
                code: Code::Driver {
                    number: None,
                    words: "CUDA_ERROR_OUT_OF_MEMORY: the host has no pages to pin".to_owned(),
                },
                ..fault
            },
            _ => fault,
        })?;
        // SAFETY: there are that many bytes, and nothing else refers to them yet; they are
        // initialised from here on.
        unsafe { ptr::write_bytes(start.cast::<u8>(), 0, length) };
        Ok(Pages { context: Arc::clone(context), start: start.cast(), length })
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        let _ = self.context.bind();
        // SAFETY: pinned once, freed once, after its owner has waited for the device.
        let _nobody_to_tell = unsafe { sys::cuMemFreeHost(self.start.cast()) };
    }
}

/// An allocation of pinned host memory; freed when dropped.
pub struct Pinned {
    pages: Pages,
    pointer: u64,
}

// SAFETY: a shared reference gives access to numbers alone.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// Its device address.
    pub fn pointer(&self) -> u64 {
        self.pointer
    }

    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.pages.length as u64
    }

    /// The host's view for writing, once the device has finished all queued work.
    pub fn contents(&mut self) -> Result<&mut [u8], Fault> {
        self.pages.context.require_no_capture("write to pinned memory")?;
        self.pages.context.wait("wait for readers of pinned memory")?;
        // SAFETY: that many bytes were pinned and initialised; the device has finished with them,
        // and `self`
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
        // Its pages are freed afterwards.
        let _nobody_to_tell = self.pages.context.wait("wait for readers of pinned memory");
    }
}

impl Gpu {
    /// Allocates host memory that kernels can read, zeroed and page-aligned; at least one byte.
    pub fn pin(&self, bytes: u64) -> Result<Pinned, Fault> {
        // From here on it is freed in every case.
        let mut pinned =
            Pinned { pages: Pages::allocate(&self.context, bytes, MAPPED)?, pointer: 0 };
        let (start, address) = (pinned.pages.start, &mut pinned.pointer);
        let what = || format!("pin {} of the host", size(bytes));
        // SAFETY: `start` was pinned above as mapped memory; the address is written where it
        // outlives the call.
        self.context.call(what, || unsafe {
            sys::cuMemHostGetDevicePointer_v2(address, start.cast(), 0)
        })?;
        Ok(pinned)
    }

    /// Copies the first bytes of pinned memory to the device, in stream order and at full PCIe
    /// bandwidth; the next writer waits for it.
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
        // SAFETY: both allocations are alive for as long; freeing either waits for the copy.
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
