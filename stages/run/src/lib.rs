//! run: executes the launches of a plan on the CPU or a GPU: trains a model, applies parameters, or
//! iterates to a fixed point.
//!
//! reads   plan, graph (nodes, graphs, features), csr, permutation, partition     keeps   the data set's own ids and their order
//! writes  run (and checkpoints on the way)                               bounds  the plan's predicted memory, or it refuses
//! never   chooses what is computed; changes a bit of parameters, predictions or values by the
//!         number of threads, by a stop, or in another run
mod checkpoints;
mod environment;
mod nonfinite_trace;
mod record;
mod results;
mod searches;

// `warploom` (stages/pipeline) uses these.
pub mod cuda;
pub mod inputs;

// `tests/suite` runs lists launch by launch with these; no other crate does.
pub mod backend;
pub mod buffers;
pub mod check;
pub mod cpu;
pub mod host_state;
pub mod iteration;
pub mod parameters;
pub mod precision;
pub mod resolved_program;
pub mod tensors;
pub mod training;

use std::time::Instant;

use warploom_contract::{
    Context, Contract, ErrorKind, Inputs, Kind, Outputs, Stage, StageError, Violation,
    kinds::{
        csr::Csr,
        plan::{self, Memory, Plan},
    },
    process_memory::MemoryMonitor,
    progress::Phase,
};
use warploom_cuda::Emitted;
use warploom_device::EnergyMeter;
use warploom_ir::Loss;
use warploom_launch::{Body, LaunchList};
use warploom_shell::{
    StageName, gpu_present, kernel_tables, memory_budget, requests::RunRequest, signals,
    tuning_file,
};

use crate::{
    backend::Backend,
    checkpoints::Checkpoints,
    cpu::CpuBackend,
    cuda::CudaBackend,
    environment::EnergyMeasurement,
    host_state::HostState,
    inputs::{
        device_groups::DeviceGroups,
        group_division::Division,
        input_data::Data,
        upload::{self, DataNeeds, Needs},
    },
    precision::Precision,
    record::Outcome,
};

/// The description in the help of its binary.
pub const ABOUT: &str = "Execute a plan: train, infer or iterate, and write the results";

/// The stage.
pub struct RunStage;

impl Stage for RunStage {
    type Request = RunRequest;
    const CONTRACT: Contract = StageName::Run.contract();

    fn run(
        context: &Context,
        outputs: &mut Outputs,
        inputs: &Inputs,
        request: &RunRequest,
    ) -> Result<(), StageError> {
        let _guard = signals::defer_stop();
        gpu_present::refuse_other_device(&request.device)?;
        let (page, list) = open_plan(inputs)?;
        let memory = plan::open_advice(inputs.get(Kind::Plan)?)?.memory;
        let room = memory_budget::MemoryLimit::from_device(&request.device, context.memory);
        memory_budget::refuse_too_large_run(&memory, &request.spec, context.threads, room)?;
        match page.dtype.as_str() {
            // In half precision only stored rows are 16 bits wide: arithmetic is f32.
            f32::NAME | "bf16" | "f16" => {
                execute_plan::<f32>(context, outputs, inputs, request, &page, &memory, &list)
            }
            f64::NAME => {
                execute_plan::<f64>(context, outputs, inputs, request, &page, &memory, &list)
            }
            other => Err(StageError::defect(format!(
                "the dtype of the plan is `{other}`, and this version supports `f32`, `f64`, \
                 `bf16` and `f16`"
            ))),
        }
    }

    /// Recomputes the results with the reference executor, in f64, from the edge list in the data
    /// set's own order: without csr, permutation, partition or kernels. `check` says how much of a
    /// large graph that covers.
    fn check(
        context: &Context,
        outputs: &Inputs,
        inputs: &Inputs,
        request: &RunRequest,
    ) -> Result<(), Violation> {
        let (page, list) = open_plan(inputs)?;
        match page.dtype.as_str() {
            f64::NAME => check::check_results::<f64>(
                context,
                outputs,
                inputs,
                request,
                &list,
                score_kind(&page)?,
                check::WORK_MAX,
            ),
            _ => check::check_results::<f32>(
                context,
                outputs,
                inputs,
                request,
                &list,
                score_kind(&page)?,
                check::WORK_MAX,
            ),
        }
    }
}

/// The plan's page and its validated launches.
fn open_plan(inputs: &Inputs) -> Result<(Plan, LaunchList), StageError> {
    let artifact = inputs.get(Kind::Plan)?;
    let page = plan::open(artifact)?;
    tuning_file::apply_plan_rows(&page.tuning)?;
    let path = artifact.file(plan::PLAN_FILE);
    let list: LaunchList = serde_json::from_value(page.launches.clone()).map_err(|error| {
        StageError::damaged(&path, format!("the launches cannot be read: {error}"))
    })?;
    if let Err(flaws) = list.validate() {
        let all: Vec<String> = flaws.iter().map(ToString::to_string).collect();
        return Err(StageError::damaged(
            &path,
            format!("the launch list is invalid: {}", all.join("; ")),
        ));
    }
    Ok((page, list))
}

/// The kind of the scores that a plan for inference predicts; none for any other plan.
fn score_kind(page: &Plan) -> Result<Option<Loss>, StageError> {
    let kind = page.predicts.clone().map(serde_json::from_value).transpose();
    kind.map_err(|error| {
        StageError::defect(format!(
            "the plan predicts a kind of scores that this version does not know: {error}"
        ))
    })
}

fn execute_plan<T: Precision>(
    context: &Context,
    outputs: &mut Outputs,
    inputs: &Inputs,
    request: &RunRequest,
    page: &Plan,
    memory: &Memory,
    list: &LaunchList,
) -> Result<(), StageError> {
    let (begun, watch) = (Instant::now(), MemoryMonitor::begin());
    let energy = EnergyMeasurement::begin(&request.device);
    let spec = &request.spec;
    searches::refuse_other_plans(list, request)?;
    let mut checkpoints = Checkpoints::new(context, outputs, inputs, spec);
    signals::begin_steps(step_unit(list, request));
    let kernels = (request.device.kind == warploom_device::Kind::Cuda)
        .then(|| kernel_tables::read_kernels(inputs.get(Kind::Plan)?, page, list))
        .transpose()?;
    let needs = if kernels.is_none() && memory_budget::uses_shortcuts(spec) {
        Needs::with_shortcuts(list)
    } else {
        Needs::from_list(list)
    };
    let loading = Phase::begin(context.progress, "loading inputs", 0, "steps");
    let needs = DataNeeds::new(list, needs, kernels.as_deref());
    let mut data = upload::load_data::<T>(context, inputs, list, needs, request)?;
    load_groups(inputs, page, kernels.as_ref(), &mut data)?;
    drop(loading);
    let mut backend = make_backend(context, request, page, memory, list, data, kernels.as_ref())?;
    let started = Instant::now();
    let done = compute(context, outputs, list, request, &mut *backend, &mut checkpoints).map_err(
        |error| {
            checkpoints.finish();
            describe_saved_state(error)
        },
    )?;
    let compute = started.elapsed();
    backend.fetch_state()?;
    backend.fetch_results()?;
    backend.host_mut().release_inputs(list);
    write_results(outputs, backend.host(), list, &done, score_kind(page)?, spec.seed)?;
    let meter = energy.meter();
    record::write_record(
        context,
        outputs,
        &*backend,
        record::PlanSummary { plan: page, memory, program: &list.program },
        request,
        &done,
        record::Measurements {
            whole: begun.elapsed(),
            compute,
            taken: watch.peak(),
            joules: meter.as_ref().and_then(EnergyMeter::joules),
        },
    )
}

/// Writes what a run computed, but its record.
fn write_results<T: Precision>(
    outputs: &mut Outputs,
    host: &HostState<T>,
    list: &LaunchList,
    done: &Outcome,
    scores: Option<Loss>,
    seed: u64,
) -> Result<(), StageError> {
    match (done, scores) {
        (Outcome::Trained(trained), _) => {
            results::write_training(outputs, host, list, trained, seed)
        }
        (Outcome::Iterated(_), Some(kind)) => {
            results::write_predictions(outputs, host, list, kind, seed)
        }
        (Outcome::Iterated(_), None) => results::write_iteration(outputs, host, list, seed),
        // Their values were written search by search.
        (Outcome::Searched(_), _) if list.parameters.is_empty() => Ok(()),
        (Outcome::Searched(_), _) => results::write_parameters(outputs, host, list, None, seed),
    }
}

/// Opens the groups of neighbours that launches of a plan walk by.
fn load_groups<T: Precision>(
    inputs: &Inputs,
    page: &Plan,
    kernels: Option<&Emitted>,
    data: &mut Data<T>,
) -> Result<(), StageError> {
    let Some(planned) = &page.division else { return Ok(()) };
    let csr = Csr::open(inputs.get(Kind::Csr)?)?;
    match kernels {
        None => data.divide(Division::read(inputs, &csr, planned)?, &csr),
        Some(kernels) => {
            let opened = DeviceGroups::open(inputs, &csr, planned, &kernels.plan)?;
            data.device_groups = Some(opened);
        }
    }
    Ok(())
}

/// Trains or iterates, as the list says; with `run.sources`, iterates from each.
fn compute<T: Precision>(
    context: &Context,
    outputs: &mut Outputs,
    list: &LaunchList,
    request: &RunRequest,
    backend: &mut dyn Backend<T>,
    checkpoints: &mut Checkpoints,
) -> Result<Outcome, StageError> {
    let spec = &request.spec;
    if let Body::Train(_) = &list.body {
        return training::train(context, list, request, backend, checkpoints).map(Outcome::Trained);
    }
    if !list.parameters.is_empty() {
        backend.set_parameters(&parameters::required_parameters(
            list,
            spec,
            request.init_digest.as_ref(),
        )?)?;
    }
    if list.parameters.is_empty() && (spec.init.is_some() || !spec.init_map.is_empty()) {
        let ignored = format!("`{}` has no parameters: `run.init` is ignored", list.program);
        context.progress.warn(&ignored);
    }
    if request.sources().is_some() {
        return searches::run_searches(context, outputs, list, request, backend, checkpoints)
            .map(Outcome::Searched);
    }
    iteration::iterate(context, list, spec, backend, checkpoints).map(Outcome::Iterated)
}

/// What the steps of a run are called.
fn step_unit(list: &LaunchList, request: &RunRequest) -> &'static str {
    match list.body {
        Body::Train(_) => "epoch",
        Body::Iterate(_) if request.sources().is_some() => signals::SEARCH,
        Body::Iterate(_) => "superstep",
    }
}

/// Adds to a fault of the device or the file system what of the run is saved: batch scripts start
/// it again.
fn describe_saved_state(error: StageError) -> StageError {
    let reached = signals::run_progress().filter(|_| error.kind == ErrorKind::Transient);
    match reached {
        Some(signals::RunProgress { unit, done, saved: Some(saved) }) => error.detail(format!(
            "  reached {unit} {done}, saved up to {unit} {saved}: the same command resumes there"
        )),
        Some(signals::RunProgress { unit, done, saved: None }) => error.detail(format!(
            "  reached {unit} {done}, nothing of the run is saved: the same command begins it again"
        )),
        None => error,
    }
}

/// Makes the backend of a list: the device of the request, a GPU where there are kernels.
fn make_backend<T: Precision>(
    context: &Context,
    request: &RunRequest,
    page: &Plan,
    memory: &Memory,
    list: &LaunchList,
    data: Data<T>,
    kernels: Option<&Emitted>,
) -> Result<Box<dyn Backend<T>>, StageError> {
    let (device, seed) = (&request.device, request.spec.seed);
    match kernels {
        None => Ok(Box::new(CpuBackend::new(list, data, seed)?)),
        Some(kernels) => {
            let planned = cuda::GpuPlan { facts: device, kernels, host: page.host.as_ref() };
            let backend = CudaBackend::new(context, list, data, seed, planned)
                .map_err(|error| cuda::add_fitting_settings(error, page, memory, device.ordinal));
            Ok(Box::new(backend?))
        }
    }
}
