//! gpu: one NVIDIA GPU: its facts, memory, transfers, kernels, CUDA graphs and events.
//!
//! promises  work runs in the order of the calls: launches, fills and copies on one stream,
//!           transfers on a second one that is synchronised with it by events; bounds, parameters
//!           and grids are checked before the driver is called; the first error that breaks the
//!           context comes back from every later call
//! never     panics where no driver is; uses the default stream; frees what is still in use
//!           (`Memory`, `Pinned`, `Landing`, `Kernel` and `Graph` keep the device open)
//! limits    addresses are numbers: a launch may be given one whose memory was freed, and a kernel
//!           may write anywhere on the device; a graph keeps its kernels loaded, but not the memory
//!           they touch. Methods may be called from any thread; while one thread captures a graph
//!           the others are refused
mod context;
mod driver;
mod graph;
mod kernel;
mod memory;
mod parameters;
mod pinned_memory;
mod readback;
mod transfer;

use std::sync::{Arc, Mutex};

pub use graph::{Behind, Event, Graph};
pub use kernel::{Grid, Kernel, KernelFacts, Module, Start};
pub use memory::Memory;
pub use parameters::{ArgumentValue, Parameter, ParameterKind};
pub use pinned_memory::Pinned;
pub use readback::{Landing, Piece};

use crate::capability::Capability;
use crate::gpu_error::Fault;

/// What is known of a GPU of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its ordinal for the driver, from 0.
    pub ordinal: usize,
    /// The name that the driver reports: `NVIDIA H200`.
    pub name: String,
    /// As `nvidia-smi -L` prints it.
    pub uuid: String,
    /// Compute capability.
    pub capability: Capability,
    /// SMs.
    pub processors: u32,
    /// Lanes of a warp.
    pub lanes: u32,
    /// Maximum threads per block.
    pub threads_most: u32,
    /// Maximum shared memory per block, with opt-in.
    pub shared_bytes_most: u32,
    /// 32-bit registers per SM.
    pub registers: u32,
    /// L2.
    pub cache_bytes: u64,
    /// Device memory.
    pub memory_bytes: u64,
    /// Free device memory; unknown until the device is open.
    pub memory_free_bytes: Option<u64>,
    /// The SM clock.
    pub clock_khz: u32,
    /// The memory clock.
    pub memory_clock_khz: u32,
    /// Width of the memory bus.
    pub memory_bus_bits: u32,
    /// The newest CUDA version that the driver supports: `13.0`.
    pub driver: String,
}

/// A GPU, open for work.
pub struct Gpu {
    context: Arc<context::Context>,
    device: Device,
    staging: Mutex<Option<transfer::Staging>>,
    /// What `flush_l2` writes.
    scratch: Mutex<Option<Memory>>,
}

impl Gpu {
    /// How many devices the driver shows this process; a driver without devices is no fault.
    pub fn count() -> Result<usize, Fault> {
        driver::start().map(|driver| driver.count)
    }

    /// The newest CUDA version that the driver supports: `13.0`.
    pub fn driver_version() -> Result<String, Fault> {
        driver::start().map(|driver| driver::version_text(driver.version))
    }

    /// Facts of a device without opening it: nothing is allocated on it.
    pub fn look(ordinal: usize) -> Result<Device, Fault> {
        driver::look(ordinal).map(|(_, device)| device)
    }

    /// Opens a device: its context, a stream for work and one for transfers.
    pub fn open(ordinal: usize) -> Result<Gpu, Fault> {
        let (raw, device) = driver::look(ordinal)?;
        let context = context::Context::open(raw, ordinal, device.memory_bytes)?;
        Ok(Gpu { context, device, staging: Mutex::new(None), scratch: Mutex::new(None) })
    }

    /// Its facts, with the memory that is free now.
    pub fn facts(&self) -> Device {
        Device {
            memory_free_bytes: self.context.memory().ok().map(|(free, _)| free),
            ..self.device.clone()
        }
    }

    /// Waits until all work that was queued is done, and reports its errors.
    pub fn wait(&self) -> Result<(), Fault> {
        self.context.require_no_capture("wait")?;
        self.context.wait("wait for work")
    }
}
