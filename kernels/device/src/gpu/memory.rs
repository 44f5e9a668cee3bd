//! memory: allocations on the device, filled and copied in stream order.
//!
//! promises  every allocation is aligned to 256 bytes; accesses out of bounds are refused before
//!           the driver is called
//! never     moves, grows or clears an allocation: its first contents are undefined
//! limits    an allocation synchronises the device, so a program makes few: one arena, and parts of
//!           it by offset
#![allow(unsafe_code)]
use std::{fmt, sync::Arc};

use cudarc::driver::sys;

use super::{
    Gpu,
    context::{Context, lock_mutex},
};
use crate::gpu_error::{Code, Fault, size};

/// An allocation on the device; freed when dropped.
pub struct Memory {
    pub(super) context: Arc<Context>,
    pointer: u64,
    bytes: u64,
}

impl Memory {
    /// Its device address; 0 if it is empty.
    pub fn pointer(&self) -> u64 {
        self.pointer
    }

    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The address of a part of it, which has to be in bounds.
    pub(super) fn part(
        &self,
        context: &Arc<Context>,
        offset: u64,
        bytes: u64,
        what: impl Fn() -> String,
    ) -> Result<u64, Fault> {
        if !Arc::ptr_eq(&self.context, context) {
            return Err(Fault::misuse(format!("{}: the memory is that of another device", what())));
        }
        match offset.checked_add(bytes) {
            Some(end) if end <= self.bytes => Ok(self.pointer + offset),
            _ => Err(Fault::misuse(format!(
                "{}: {bytes} bytes at {offset} do not lie in {}",
                what(),
                size(self.bytes)
            ))),
        }
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memory({} bytes at {:#x})", self.bytes, self.pointer)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.bytes > 0 {
            let _ = self.context.bind();
            // SAFETY: it came from `cuMemAlloc` and is freed once; the driver waits for work that
            // uses it.
            let _nobody_to_tell = unsafe { sys::cuMemFree_v2(self.pointer) };
        }
    }
}

impl Gpu {
    /// Allocates memory, aligned to 256 bytes; its contents are undefined.
    pub fn allocate(&self, bytes: u64) -> Result<Memory, Fault> {
        let what = || format!("allocate {}", size(bytes));
        self.context.require_no_capture("allocate")?;
        let mut pointer = 0;
        if bytes > 0 {
            let length = usize::try_from(bytes).map_err(|_| Fault::misuse(what()))?;
            // SAFETY: `pointer` outlives the call; the allocation is freed by `Memory`.
            let made =
                self.context.call(what, || unsafe { sys::cuMemAlloc_v2(&mut pointer, length) });
            made.map_err(|fault| match fault.code {
                Code::Memory { free, total, held, .. } => Fault {
                    code: Code::Memory { wanted: bytes, free, total, held },
                    what: "allocate on the device".to_owned(),
                    ..fault
                },
                _ => fault,
            })?;
        }
        Ok(Memory { context: Arc::clone(&self.context), pointer, bytes })
    }

    /// Fills a part of memory with one byte value, in stream order.
    pub fn fill(&self, memory: &Memory, offset: u64, bytes: u64, byte: u8) -> Result<(), Fault> {
        let what = || format!("fill {}", size(bytes));
        self.context.require_no_other_capture("fill")?;
        let pointer = memory.part(&self.context, offset, bytes, what)?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the part is in bounds of a live allocation; `bytes` fits, since the allocation
        // does. If it is dropped, freeing waits.
        self.context.call(what, || unsafe {
            sys::cuMemsetD8Async(pointer, byte, bytes as usize, self.context.work)
        })
    }

    /// Copies a part of memory to another place on the device, in stream order. The two may not
    /// overlap.
    pub fn copy(
        &self,
        from: &Memory,
        from_offset: u64,
        to: &Memory,
        to_offset: u64,
        bytes: u64,
    ) -> Result<(), Fault> {
        let what = || format!("copy {} on the device", size(bytes));
        self.context.require_no_other_capture("copy")?;
        let source = from.part(&self.context, from_offset, bytes, what)?;
        let target = to.part(&self.context, to_offset, bytes, what)?;
        if source.abs_diff(target) < bytes {
            return Err(Fault::misuse(format!(
                "{}: from {from_offset} and to {to_offset} overlap",
                what()
            )));
        }
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: both parts are in bounds of live allocations, and do not overlap.
        self.context.call(what, || unsafe {
            sys::cuMemcpyDtoDAsync_v2(target, source, bytes as usize, self.context.work)
        })
    }

    /// Writes twice the size of L2, which evicts everything else; its buffer is allocated at the
    /// first call.
    pub fn flush_l2(&self) -> Result<(), Fault> {
        let bytes = 2 * self.device.cache_bytes.max(1 << 20);
        let mut scratch = lock_mutex(&self.scratch);
        let memory = match &mut *scratch {
            Some(memory) => memory,
            none => none.insert(self.allocate(bytes)?),
        };
        self.fill(memory, 0, bytes, 0)
    }
}
