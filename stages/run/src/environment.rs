//! environment: where and by what a run was computed, for its record.
//!
//! promises  what is not known is left out; none of it changes a result or is in a digest
//! never     opens a device
use std::{thread::JoinHandle, time::Duration};

use serde_json::{Value, json};
use warploom_contract::{
    kinds::run::{Record, Versions},
    store,
};
use warploom_device::{EnergyMeter, Facts, Gpu, Kind, Nvrtc, gpu::Device, nvml::Nvml};
use warploom_shell::{StageName, requests::RunRequest, scheduler};

/// The GPU of a run, as the driver describes it; none for a CPU.
fn look(device: &Facts) -> Option<Device> {
    (device.kind == Kind::Cuda).then(|| Gpu::look(device.ordinal).ok()).flatten()
}

/// The device as a record names it.
fn describe_device(device: &Facts) -> Value {
    let mut described = json!({
        "name": device.name, "architecture": device.architecture, "simd": device.simd,
        "processor": warploom_device::processor(),
    });
    if let Some(gpu) = look(device) {
        (described["model"], described["uuid"], described["ordinal"]) =
            (gpu.name.into(), gpu.uuid.into(), gpu.ordinal.into());
    }
    described
}

/// Versions of the program and, on a GPU, of its driver and compiler.
fn find_versions(device: &Facts) -> Versions {
    let own = Versions {
        warploom: env!("CARGO_PKG_VERSION").to_owned(),
        revision: option_env!("WARPLOOM_REVISION").map(str::to_owned),
        ..Versions::default()
    };
    let Some(gpu) = look(device) else { return own };
    let nvrtc = Nvrtc::find().ok().map(|nvrtc| nvrtc.version);
    Versions {
        driver: Nvml::open().and_then(|nvml| nvml.driver_release()),
        cuda: Some(gpu.driver),
        nvrtc: nvrtc.map(|(major, minor)| format!("{major}.{minor}")),
        compute_capability: Some(gpu.capability.to_string()),
        ..own
    }
}

/// A measurement of energy. A thread begins it, since NVML takes a while to start.
pub struct EnergyMeasurement(Option<JoinHandle<Option<EnergyMeter>>>);

impl EnergyMeasurement {
    /// Begins to measure the device of a run.
    pub fn begin(device: &Facts) -> Self {
        let device = device.clone();
        let begin = move || match device.kind {
            Kind::Cpu => EnergyMeter::begin_cpu(),
            Kind::Cuda => EnergyMeter::begin_gpu(&look(&device)?.uuid),
        };
        EnergyMeasurement(std::thread::Builder::new().name("energy".to_owned()).spawn(begin).ok())
    }

    /// The meter, if the device has one.
    pub fn meter(mut self) -> Option<EnergyMeter> {
        self.0.take()?.join().ok()?
    }
}

impl Drop for EnergyMeasurement {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            let _of_no_use = thread.join();
        }
    }
}

/// The part of a record that says where, by what and in which time the run was computed.
pub fn begin_record(request: &RunRequest, whole: Duration, joules: Option<f64>) -> Record {
    let mut seconds_by_stage = request.stage_seconds.clone();
    seconds_by_stage.insert(StageName::Run.to_string(), whole.as_secs_f64());
    Record {
        device: describe_device(&request.device),
        asked: request.asked.clone(),
        host: Some(store::host()),
        scheduler: scheduler::batch_job().map(|batch| batch.job),
        versions: Some(find_versions(&request.device)),
        seconds_by_stage,
        energy_joules: joules,
        ..Record::default()
    }
}
