//! context: the state behind all calls to a device: its primary context, two streams, loaded
//! modules, the current capture, and the translation of driver errors.
//!
//! promises  an error that breaks the context comes back from every later call, with what was
//!           attempted when it was first seen
//! never     records or keeps an event for an allocation: order is by streams alone, so that
//!           captures depend on nothing outside
//! limits    one context per device and process
#![allow(unsafe_code)]
use std::{
    ffi::c_uint,
    ptr,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    thread::ThreadId,
};

use cudarc::driver::sys::{self, CUcontext, CUdevice, CUmodule, CUresult, CUstream};

use super::driver::{error_text, plain};
use crate::gpu_error::{Code, Fault};

/// Streams that do not synchronise with the default stream.
const NON_BLOCKING: c_uint = 1;

/// A capture in progress.
pub(super) struct Capture {
    /// The thread that began it: a capture belongs to one thread.
    pub(super) thread: ThreadId,
    /// Modules that the graph runs, which have to stay loaded as long as it lives.
    pub(super) modules: Vec<Arc<Loaded>>,
}

/// A device's primary context with two streams. Every object on the device keeps it alive.
pub(super) struct Context {
    device: CUdevice,
    ordinal: usize,
    raw: CUcontext,
    /// Launches, fills, copies on the device, graph replays.
    pub(super) work: CUstream,
    /// Transfers from and to the host.
    pub(super) copies: CUstream,
    /// Bytes that were taken when the device was opened.
    held: u64,
    first: OnceLock<Fault>,
    last: Mutex<Option<Arc<str>>>,
    capture: Mutex<Option<Capture>>,
}

// SAFETY: driver handles may be used by any thread in which the context is current, and every call
// makes it so; everything else is behind locks.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// Retains the primary context of a device, and creates two streams.
    pub(super) fn open(device: CUdevice, ordinal: usize, total: u64) -> Result<Arc<Self>, Fault> {
        let mut raw: CUcontext = ptr::null_mut();
        // SAFETY: `device` came from the driver; what is retained here is released in `drop`.
        let retained = unsafe { sys::cuDevicePrimaryCtxRetain(&mut raw, device) };
        if retained == CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            // A context needs little: others hold the rest.
            let code = Code::Memory { wanted: 0, free: 0, total, held: total };
            return Err(Fault { what: format!("open device {ordinal}"), code, hint: None });
        }
        plain(&format!("open device {ordinal}"), retained)?;
        let nothing = ptr::null_mut();
        let mut context = Context {
            device,
            ordinal,
            raw,
            work: nothing,
            copies: nothing,
            held: 0,
            first: OnceLock::new(),
            last: Mutex::new(None),
            capture: Mutex::new(None),
        };
        // A device on which even this fails is full.
        context.held = context.memory().map_or(total, |(free, total)| total.saturating_sub(free));
        let stream = |what| {
            let mut stream: CUstream = ptr::null_mut();
            // SAFETY: the context is current; the stream is destroyed with it.
            context.call(
                || format!("make a stream for {what}"),
                || unsafe { sys::cuStreamCreate(&mut stream, NON_BLOCKING) },
            )?;
            Ok(stream)
        };
        let (work, copies) = (stream("work")?, stream("copies"));
        context.work = work;
        context.copies = copies?;
        Ok(Arc::new(context))
    }

    /// Calls the driver with this context current, unless an error broke it before; `what` is
    /// evaluated only if the call fails.
    pub(super) fn call(
        &self,
        what: impl FnOnce() -> String,
        call: impl FnOnce() -> CUresult,
    ) -> Result<(), Fault> {
        if let Some(first) = self.first.get() {
            return Err(first.clone());
        }
        let result = match self.bind() {
            CUresult::CUDA_SUCCESS => call(),
            other => other,
        };
        if result == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(self.fault(what(), result)) }
    }

    /// Makes the context current in this thread; for destructors, which cannot return errors.
    pub(super) fn bind(&self) -> CUresult {
        // SAFETY: `raw` is retained as long as `self` is.
        unsafe { sys::cuCtxSetCurrent(self.raw) }
    }

    /// Waits for all work.
    pub(super) fn wait(&self, what: &str) -> Result<(), Fault> {
        // SAFETY: the stream lives as long as `self`.
        self.call(|| what.to_owned(), || unsafe { sys::cuStreamSynchronize(self.work) })
    }

    /// Free and total bytes of the device.
    pub(super) fn memory(&self) -> Result<(u64, u64), Fault> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: both numbers outlive the call.
        self.call(
            || "ask how much memory is free".to_owned(),
            || unsafe { sys::cuMemGetInfo_v2(&mut free, &mut total) },
        )?;
        Ok((free as u64, total as u64))
    }

    fn fault(&self, what: String, result: CUresult) -> Fault {
        if result == CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            let (mut free, mut total) = (0, 0);
            // SAFETY: as in `memory`; an error cannot be returned from here.
            let _zeros_if_refused = unsafe { sys::cuMemGetInfo_v2(&mut free, &mut total) };
            let code =
                Code::Memory { wanted: 0, free: free as u64, total: total as u64, held: self.held };
            return Fault { what: format!("{what} on device {}", self.ordinal), code, hint: None };
        }
        let what = format!("{what} on device {}", self.ordinal);
        let mut fault = Fault::driver(what, result as u32, error_text(result));
        if breaks(result) {
            if let Some(last) = &*lock_mutex(&self.last) {
                fault.what += &format!(", after the launch of `{last}`");
            }
            fault.hint.get_or_insert_with(|| {
                "the device takes nothing more from this process; `compute-sanitizer` names the \
                 access"
                    .to_owned()
            });
            return self.first.get_or_init(|| fault).clone();
        }
        fault
    }

    /// Remembers the last launch, for errors that appear only later.
    pub(super) fn launched(&self, name: &Arc<str>) {
        *lock_mutex(&self.last) = Some(Arc::clone(name));
    }

    /// The capture in progress, if any.
    pub(super) fn capture(&self) -> MutexGuard<'_, Option<Capture>> {
        lock_mutex(&self.capture)
    }

    /// Refuses during a capture: work that runs at once would not be part of the graph.
    pub(super) fn require_no_capture(&self, what: &str) -> Result<(), Fault> {
        match &*self.capture() {
            None => Ok(()),
            Some(_) => Err(Fault::misuse(format!(
                "{what}: a capture is going on, which takes launches, fills and copies on the \
                 device alone"
            ))),
        }
    }

    /// Refuses unless this thread captures.
    pub(super) fn require_own_capture(&self, what: &str) -> Result<(), Fault> {
        match &*self.capture() {
            Some(capture) if capture.thread == std::thread::current().id() => Ok(()),
            _ => Err(Fault::misuse(format!("{what}: this thread captures no graph"))),
        }
    }

    /// Refuses while another thread captures: the work would get into its graph.
    pub(super) fn require_no_other_capture(&self, what: &str) -> Result<(), Fault> {
        match &*self.capture() {
            Some(capture) if capture.thread != std::thread::current().id() => {
                Err(Fault::misuse(format!("{what}: another thread is capturing a graph")))
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let _ = self.bind();
        for stream in [self.work, self.copies] {
            if !stream.is_null() {
                // SAFETY: the stream was created by `open`, and nothing uses it any more, since
                // every user keeps this context.
                let _nobody_to_tell = unsafe { sys::cuStreamDestroy_v2(stream) };
            }
        }
        // SAFETY: retained once in `open`.
        let _nobody_to_tell = unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}

/// Unloads the module once no kernel or graph of it is left.
pub(super) struct Loaded {
    pub(super) context: Arc<Context>,
    pub(super) raw: CUmodule,
    pub(super) name: String,
}

// SAFETY: a driver handle, which any thread may use.
unsafe impl Send for Loaded {}
// SAFETY: as above.
unsafe impl Sync for Loaded {}

impl Drop for Loaded {
    fn drop(&mut self) {
        // Running launches would lose their code.
        if self.context.capture().is_none() {
            let _nobody_to_tell = self.context.wait("wait before unloading code");
        }
        let _ = self.context.bind();
        // SAFETY: loaded once, unloaded once, and no kernel of it is left.
        let _nobody_to_tell = unsafe { sys::cuModuleUnload(self.raw) };
    }
}

/// Locks, ignoring poison: every value here is written in a single step, so that a panic leaves it
/// valid.
pub(super) fn lock_mutex<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Errors after which the driver refuses every call in this context.
fn breaks(result: CUresult) -> bool {
    use CUresult as E;
    matches!(
        result,
        E::CUDA_ERROR_ECC_UNCORRECTABLE
            | E::CUDA_ERROR_NVLINK_UNCORRECTABLE
            | E::CUDA_ERROR_CONTAINED
            | E::CUDA_ERROR_ILLEGAL_ADDRESS
            | E::CUDA_ERROR_LAUNCH_TIMEOUT
            | E::CUDA_ERROR_CONTEXT_IS_DESTROYED
            | E::CUDA_ERROR_ASSERT
            | E::CUDA_ERROR_HARDWARE_STACK_ERROR
            | E::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | E::CUDA_ERROR_MISALIGNED_ADDRESS
            | E::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | E::CUDA_ERROR_INVALID_PC
            | E::CUDA_ERROR_LAUNCH_FAILED
            | E::CUDA_ERROR_TENSOR_MEMORY_LEAK
            | E::CUDA_ERROR_MPS_CLIENT_TERMINATED
            | E::CUDA_ERROR_EXTERNAL_DEVICE
            | E::CUDA_ERROR_DEINITIALIZED
            | E::CUDA_ERROR_UNKNOWN
    )
}
