//! gpu: one GPU of NVIDIA: its facts, memory, transfers, kernels, graphs and events.
//!
//! promises  work is done in the order of the calls: launches, fills and copies on one stream,
//!           transfers on another that waits for it and is waited for; bounds, parameters and grids
//!           are checked before the driver is called; the first fault that breaks the device comes
//!           back from every later call
//! never     panics where no driver is; makes anything on the default stream; frees what a thread
//!           still asks for (`Memory`, `Pinned`, `Landing`, `Kernel` and `Graph` keep the device
//!           open)
//! limits    addresses are numbers: a launch may be given one whose memory has gone, and a kernel
//!           may write where it likes on the device; a graph keeps its kernels loaded, and not the
//!           memory they touch. Methods may be called from any thread, but while one captures a
//!           graph the others are refused
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
pub use kernel::{Grid, Kernel, KernelFacts, Module};
pub use memory::Memory;
pub use parameters::{ArgumentValue, Parameter, ParameterKind};
pub use pinned_memory::Pinned;
pub use readback::{Landing, Piece};

use crate::capability::Capability;
use crate::gpu_error::Fault;

/// What is known of a GPU that is here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its number for the driver, from 0.
    pub ordinal: usize,
    /// As the driver calls it: `NVIDIA H200`.
    pub name: String,
    /// As `nvidia-smi -L` writes it.
    pub uuid: String,
    /// Compute capability.
    pub capability: Capability,
    /// Multiprocessors.
    pub processors: u32,
    /// Threads that go in step.
    pub lanes: u32,
    /// Threads of a block at most.
    pub threads_most: u32,
    /// Shared memory of a block at most, for kernels that ask for it.
    pub shared_bytes_most: u32,
    /// Registers of 32 bits of a multiprocessor.
    pub registers: u32,
    /// The cache that all multiprocessors share.
    pub cache_bytes: u64,
    /// Memory of its own.
    pub memory_bytes: u64,
    /// What of it nobody has at the moment; unknown as long as the device is not open.
    pub memory_free_bytes: Option<u64>,
    /// Of the multiprocessors.
    pub clock_khz: u32,
    /// Of the memory.
    pub memory_clock_khz: u32,
    /// Width of the way to memory.
    pub memory_bus_bits: u32,
    /// The newest CUDA that the driver speaks: `13.0`.
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
    /// How many devices the driver lets this process see; a driver that is there and sees none is
    /// no fault.
    pub fn count() -> Result<usize, Fault> {
        driver::start().map(|driver| driver.count)
    }

    /// The newest CUDA that the driver speaks: `13.0`.
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
        let context = context::Context::open(raw, ordinal)?;
        Ok(Gpu { context, device, staging: Mutex::new(None), scratch: Mutex::new(None) })
    }

    /// What is known of it; the free memory is that of now.
    pub fn facts(&self) -> Device {
        Device {
            memory_free_bytes: self.context.memory().ok().map(|(free, _)| free),
            ..self.device.clone()
        }
    }

    /// Waits until everything that was asked for is done, and says whether it went well.
    pub fn wait(&self) -> Result<(), Fault> {
        self.context.require_no_capture("wait")?;
        self.context.wait("wait for work")
    }
}
