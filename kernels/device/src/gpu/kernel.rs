//! kernel: modules loaded on the device, and their kernels: looked up, checked and launched.
//!
//! promises  a kernel that does not exist, or has other parameters than listed, is refused when it
//!           is looked up; a grid that the device cannot run is refused before the driver is
//!           called; dynamic shared memory above 48 KiB is enabled when a launch needs it
//! never     compiles: it accepts only CUBIN, so that what runs is what was inspected
//! limits    at most 65,535 blocks in y and z; one-dimensional thread blocks
#![allow(unsafe_code)]
use std::{
    ffi::{CString, c_int, c_void},
    ptr,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use cudarc::driver::sys::{
    self, CUfunction, CUfunction_attribute_enum as Attribute, CUmodule, CUresult,
};

use super::{
    Gpu,
    context::{Context, Loaded},
    parameters::{self, ArgumentValue, Parameter},
};
use crate::{
    driver_errors::Cause,
    gpu_error::{Fault, size},
};

/// Shared memory per block that needs no opt-in.
const SHARED_UNASKED: u32 = 48 << 10;

/// The first compute capability with programmatic dependent launch: a kernel can wait for another.
const EARLY_SINCE: u32 = 9;

/// A module loaded on the device.
pub struct Module {
    loaded: Arc<Loaded>,
    /// Maximum shared memory per block.
    shared_most: u32,
}

/// A loaded kernel whose parameter list was checked.
pub struct Kernel {
    loaded: Arc<Loaded>,
    raw: CUfunction,
    name: Arc<str>,
    parameters: Vec<Parameter>,
    facts: KernelFacts,
    shared_most: u32,
    /// The shared memory that was enabled above 48 KiB.
    shared_asked: AtomicU32,
}

// SAFETY: a driver handle, which any thread may use; it lives as long as `loaded`.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

/// What the driver reports of a loaded kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelFacts {
    /// Registers per thread.
    pub registers: u32,
    /// Local memory per thread: spills and stack.
    pub local_bytes: u32,
    /// Static shared memory per block.
    pub static_shared_bytes: u32,
    /// Maximum threads per block, given its registers.
    pub threads_most: u32,
}

/// The launch configuration of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Blocks in x, y and z; if one is 0, nothing runs.
    pub blocks: [u32; 3],
    /// Threads per block.
    pub threads: u32,
    /// Dynamic shared memory per block.
    pub shared: u32,
    /// When it starts.
    pub start: Start,
}

/// When a kernel starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// After the end of what was enqueued before.
    InOrder,
    /// Maybe before the previous kernel ends (programmatic dependent launch): its code waits by
    /// itself (`griddepcontrol.wait`). A device without that starts it after the end.
    Early,
    /// In order, all blocks at once (cooperative launch), so that they may wait for each other. A
    /// grid of more blocks than are resident at a time is an error of the driver.
    Together,
}

impl Start {
    /// What asks for it on a device of this major compute capability; none for the usual order.
    fn attribute(self, capability: u32) -> Option<sys::CUlaunchAttribute> {
        use sys::CUlaunchAttributeID as Attributes;

        // SAFETY: all zeros are a valid value of every field.
        let mut attribute: sys::CUlaunchAttribute = unsafe { std::mem::zeroed() };
        match self {
            Start::Early if capability >= EARLY_SINCE => {
                attribute.id = Attributes::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
                attribute.value.programmaticStreamSerializationAllowed = 1;
            }
            Start::Together => {
                attribute.id = Attributes::CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
                attribute.value.cooperative = 1;
            }
            Start::InOrder | Start::Early => return None,
        }
        Some(attribute)
    }
}

impl Gpu {
    /// Loads CUBIN; `name` is for error messages.
    pub fn load(&self, cubin: &[u8], name: &str) -> Result<Module, Fault> {
        let what = || format!("load `{name}`, {} of code", size(cubin.len() as u64));
        self.context.require_no_capture("load code")?;
        if !crate::cubin::is_whole(cubin) {
            return Err(Fault::misuse(format!("{}: expected a whole CUBIN", what())));
        }
        let mut raw: CUmodule = ptr::null_mut();
        // SAFETY: the driver reads as many bytes as the headers say, all of which are present;
        // `raw`
        // outlives the call.
        let loaded = self
            .context
            .call(what, || unsafe { sys::cuModuleLoadData(&mut raw, cubin.as_ptr().cast()) });
        loaded.map_err(|mut fault| {
            let hint = format!(
                "the device wants code for {}, and its driver speaks CUDA {}; code of a newer \
                 CUDA needs a newer driver",
                self.device.capability.architecture(),
                self.device.driver
            );
            if fault.cause() == Cause::Code {
                fault.hint = Some(hint);
            }
            fault
        })?;
        let loaded = Loaded { context: Arc::clone(&self.context), raw, name: name.to_owned() };
        Ok(Module { loaded: Arc::new(loaded), shared_most: self.device.shared_bytes_most })
    }

    /// Launches a kernel after all work queued before it, without waiting for its end. A grid
    /// without blocks is skipped.
    pub fn launch(
        &self,
        kernel: &Kernel,
        grid: Grid,
        values: &[ArgumentValue],
    ) -> Result<(), Fault> {
        let name = &kernel.name;
        self.context.require_no_other_capture("launch")?;
        if !Arc::ptr_eq(&kernel.loaded.context, &self.context) {
            return Err(Fault::misuse(format!(
                "launch `{name}`: the kernel is that of another device"
            )));
        }
        parameters::fit(name, &kernel.parameters, values)?;
        let [x, y, z] = grid.blocks;
        if x == 0 || y == 0 || z == 0 {
            return Ok(());
        }
        if x > i32::MAX as u32 || y > 65_535 || z > 65_535 {
            return Err(Fault::misuse(format!(
                "launch `{name}`: expected at most 2147483647 by 65535 by 65535 blocks, found {x} \
                 by {y} by {z}"
            )));
        }
        kernel.allow(grid.threads, grid.shared)?;
        let cells: Vec<u64> = values.iter().map(|value| value.bits()).collect();
        let mut places: Vec<*mut c_void> =
            cells.iter().map(|cell| ptr::from_ref(cell).cast_mut().cast()).collect();
        let what = || {
            format!(
                "launch `{name}` on {x} by {y} by {z} blocks of {} threads with {}",
                grid.threads,
                size(u64::from(grid.shared))
            )
        };
        let mut attribute = grid.start.attribute(self.device.capability.major);
        let config = sys::CUlaunchConfig {
            gridDimX: x,
            gridDimY: y,
            gridDimZ: z,
            blockDimX: grid.threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: grid.shared,
            hStream: self.context.work,
            numAttrs: u32::from(attribute.is_some()),
            attrs: attribute.as_mut().map_or(ptr::null_mut(), ptr::from_mut),
        };
        self.context.call(what, || {
            // SAFETY: there is a value for each parameter that the driver reported, of the same
            // size, and the driver reads them, and the configuration, before it returns. The device
            // bounds what the kernel does with addresses: see the limits of this module.
            unsafe {
                sys::cuLaunchKernelEx(&config, kernel.raw, places.as_mut_ptr(), ptr::null_mut())
            }
        })?;
        self.context.launched(name);
        if let Some(capture) = &mut *self.context.capture()
            && !capture.modules.iter().any(|module| Arc::ptr_eq(module, &kernel.loaded))
        {
            capture.modules.push(Arc::clone(&kernel.loaded));
        }
        Ok(())
    }
}

impl Module {
    /// Looks up a kernel by name (`extern "C"`, or mangled), and checks its parameters.
    pub fn kernel(&self, entry: &str, parameters: &[Parameter]) -> Result<Kernel, Fault> {
        let context = &self.loaded.context;
        let name = CString::new(entry)
            .map_err(|_| Fault::misuse("look up a kernel: its name contains a NUL byte"))?;
        let what = || format!("look up kernel `{entry}` in `{}`", self.loaded.name);
        let mut raw: CUfunction = ptr::null_mut();
        // SAFETY: the module is loaded, `name` ends with a 0, and both outlive the call.
        context.call(what, || unsafe {
            sys::cuModuleGetFunction(&mut raw, self.loaded.raw, name.as_ptr())
        })?;
        // SAFETY: `raw` is a kernel of a loaded module. Loading it here keeps that out of captures
        // and timings.
        context.call(what, || unsafe { sys::cuFuncLoad(raw) })?;
        parameters::agree(entry, parameters, &query_parameters(context, raw, entry)?)?;
        let ask = |attribute| {
            let mut value: c_int = 0;
            // SAFETY: `raw` is a kernel of a loaded module; `value` outlives the call.
            context
                .call(what, || unsafe { sys::cuFuncGetAttribute(&mut value, attribute, raw) })?;
            Ok(u32::try_from(value).unwrap_or(0))
        };
        let facts = KernelFacts {
            registers: ask(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            local_bytes: ask(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            static_shared_bytes: ask(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            threads_most: ask(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        };
        let (shared_most, shared_asked) = (self.shared_most, AtomicU32::new(0));
        Ok(Kernel {
            loaded: Arc::clone(&self.loaded),
            raw,
            name: entry.into(),
            parameters: parameters.to_vec(),
            facts,
            shared_most,
            shared_asked,
        })
    }
}

/// Offset and size of every parameter of a loaded kernel.
fn query_parameters(
    context: &Context,
    kernel: CUfunction,
    name: &str,
) -> Result<Vec<(usize, usize)>, Fault> {
    let mut found = Vec::new();
    loop {
        let (mut offset, mut bytes) = (0, 0);
        let mut result = CUresult::CUDA_SUCCESS;
        context.call(
            || format!("ask for the parameters of kernel `{name}`"),
            || {
                // SAFETY: `kernel` is one of a loaded module; the driver refuses an index beyond
                // the last parameter.
                result = unsafe {
                    sys::cuFuncGetParamInfo(kernel, found.len(), &mut offset, &mut bytes)
                };
                // The refusal marks the end of the list.
                if result == CUresult::CUDA_ERROR_INVALID_VALUE {
                    CUresult::CUDA_SUCCESS
                } else {
                    result
                }
            },
        )?;
        if result != CUresult::CUDA_SUCCESS {
            return Ok(found);
        }
        found.push((offset, bytes));
    }
}

impl Kernel {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its parameters, in order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// What the driver reports of it.
    pub fn facts(&self) -> KernelFacts {
        self.facts
    }

    /// Occupancy: blocks that an SM runs at a time.
    pub fn blocks_per_sm(&self, threads: u32, shared: u32) -> Result<u32, Fault> {
        self.allow(threads, shared)?;
        let mut blocks: c_int = 0;
        let what = || format!("ask how many blocks of `{}` fit", self.name);
        // SAFETY: the kernel is loaded; `blocks` outlives the call; `allow` bounds the threads.
        self.loaded.context.call(what, || unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &mut blocks,
                self.raw,
                threads as c_int,
                shared as usize,
            )
        })?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }

    /// Refuses blocks that cannot run, and enables shared memory above the default.
    fn allow(&self, threads: u32, shared: u32) -> Result<(), Fault> {
        let (name, facts) = (&self.name, self.facts);
        if threads == 0 || threads > facts.threads_most {
            let most = facts.threads_most;
            return Err(Fault::misuse(format!(
                "kernel `{name}`: expected 1 to {most} threads a block ({} registers each), found \
                 {threads}",
                facts.registers
            )));
        }
        let all = u64::from(shared) + u64::from(facts.static_shared_bytes);
        if all > u64::from(self.shared_most) {
            let most = self.shared_most;
            return Err(Fault::misuse(format!(
                "kernel `{name}`: expected at most {most} bytes of shared memory a block, found \
                 {all}"
            )));
        }
        if all > u64::from(SHARED_UNASKED) && shared > self.shared_asked.load(Ordering::Relaxed) {
            let what = || {
                format!("ask for {} of shared memory for kernel `{name}`", size(u64::from(shared)))
            };
            let attribute = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            // SAFETY: the kernel is loaded, and the device has that much.
            self.loaded.context.call(what, || unsafe {
                sys::cuFuncSetAttribute(self.raw, attribute, shared as c_int)
            })?;
            self.shared_asked.fetch_max(shared, Ordering::Relaxed);
        }
        Ok(())
    }
}
