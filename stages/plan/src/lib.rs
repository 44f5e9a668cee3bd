//! plan: compiles a vertex program into a list of launches, for one graph's profile and one device.
//!
//! reads   graph (counts), csr, profile, permutation (facts), partition (counts)     keeps   the program's meaning
//! writes  plan                                                                  bounds  time and memory do not grow with the graph
//! never   reads an edge, a feature or a label; leaves a choice to `run`; makes a plan that needs
//!         more memory than is allowed
//!
//! The device need not be present: a facts file describes it (`device: h200`), and its times are
//! predicted.
mod edge_count;
mod facts;
mod features;
mod group_division;
mod json_difference;
mod memory;
mod neighbour_group_model;
pub mod printed_forms;
mod row_locality;
mod schedule_reasons;
mod time_prediction;
mod walk_tiers;

use std::collections::BTreeMap;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use warploom_compiler::STEPS;
use warploom_contract::{
    Artifact, Context, Contract, ErrorKind, Inputs, Kind, Outputs, Stage, StageError, Violation,
    kinds::{
        plan::{self, Advice, KernelFacts, KernelTables, Memory, Plan, RunReads, Smaller},
        profile::{self, Profile},
    },
    progress::Phase,
};
use warploom_cuda::{Argument, DecidedKernels, DevicePlan, Emitted, Groups, Order, host_reads};
use warploom_device::Nvrtc;
use warploom_ir::Loss as LossKind;
use warploom_launch::{Element, GraphFacts, LaunchList, Reason, Stored};
use warploom_shell::{
    StageName,
    binary::PrintedForms,
    cubin_cache,
    graph_reads::run_reads,
    kernel_tables, memory_budget,
    program::{
        self, Compilation, GpuRequest, Program, half_format, locate_setting_error,
        matmul_precision, refuse_half_precision_loops, refuse_links, refuse_other_mode,
    },
    requests::PlanRequest,
};
use warploom_spec::{Dtype, EdgeSchedule, LaunchSchedules, Loss, Mode, PartitionSpec, Residence};

use features::MemoryNeeds;
use group_division::{Divisions, LaunchDivisions};
use json_difference::refuse_other_json;
use schedule_reasons::cpu_schedule_reasons;
use walk_tiers::WalkTiers;

/// The setting that decides the widths of a program, where it has one.
const WIDTH: &str = "hidden";
/// How many halvings of it are planned as alternatives that need less memory.
const HALVINGS: u32 = 6;

/// The description in the help of its binary.
pub const ABOUT: &str = "Compile a vertex program for a graph and a device into a list of launches";

/// The forms that its binary prints with `--show FORM`.
pub const PRINTED_FORMS: PrintedForms<PlanRequest> = PrintedForms {
    forms: &printed_forms::FORMS,
    help: "Print one form of the compiled program, and do nothing else",
    text: show_form,
};

/// The stage.
pub struct PlanStage;

impl Stage for PlanStage {
    type Request = PlanRequest;
    const CONTRACT: Contract = StageName::Plan.contract();

    fn run(
        context: &Context,
        outputs: &mut Outputs,
        inputs: &Inputs,
        request: &PlanRequest,
    ) -> Result<(), StageError> {
        let mut planned = PlannedList::decide(context, inputs, request)?;
        let advice = planned.advice(inputs, request)?;
        let smaller = smaller_alternatives(context, inputs, request, &planned)?;
        let advice = Advice { memory: Memory { smaller, ..advice.memory }, ..advice };
        let room = memory_budget::MemoryLimit::from_device(&request.device, context.memory);
        memory_budget::refuse_too_large(&advice.memory, room)?;
        let reads = planned.reads();
        let emitted = planned.render();
        emitted.iter().for_each(|emitted| cache_kernels(context, request, emitted));
        planned.warnings.iter().for_each(|warning| context.progress.warn(warning));
        let (kernels, tables) = tables_of(&planned.list, emitted.as_ref())?.unzip();
        let page = planned.page(request, kernels)?;
        plan::write(outputs, &page, tables.as_ref(), &reads, &advice)
    }

    /// Validates the list that is read back, then plans again and compares all that was written,
    /// but for the alternatives that need less memory.
    fn check(
        context: &Context,
        outputs: &Inputs,
        inputs: &Inputs,
        request: &PlanRequest,
    ) -> Result<(), Violation> {
        let artifact = outputs.get(Kind::Plan)?;
        let (page, advice) = (plan::open(artifact)?, plan::open_advice(artifact)?);
        let list: LaunchList = serde_json::from_value(page.launches.clone()).map_err(|error| {
            Violation::new(format!("plan.json: the launches cannot be read: {error}"))
        })?;
        if let Err(flaws) = list.validate() {
            return Err(Violation::new(format!("plan.json: {}", flaws[0])));
        }
        let mut planned = PlannedList::decide(context, inputs, request)?;
        planned.refuse_stored_buffers()?;
        let expected = planned.advice(inputs, request)?;
        let smaller = advice.memory.smaller.clone();
        let expected = Advice { memory: Memory { smaller, ..expected.memory }, ..expected };
        refuse_other_json("advice.json", &expected, &advice)?;
        refuse_other_reads(artifact, &planned.reads())?;
        let emitted = planned.render();
        let (kernels, tables) = tables_of(&planned.list, emitted.as_ref())?.unzip();
        refuse_other_json("plan.json", &planned.page(request, kernels)?, &page)?;
        refuse_other_tables(artifact, tables.as_ref())
    }
}

/// A list with all that is decided for it, before its kernels are printed.
struct PlannedList {
    list: LaunchList,
    facts: GraphFacts,
    settings: BTreeMap<String, serde_json::Value>,
    warnings: Vec<String>,
    predicts: Option<LossKind>,
    known: GraphInputs,
    /// What launches walk by.
    walked: LaunchDivisions,
    /// The kernels of a GPU.
    decided: Option<DecidedKernels>,
    needs: MemoryNeeds,
}

impl PlannedList {
    fn decide(
        context: &Context,
        inputs: &Inputs,
        request: &PlanRequest,
    ) -> Result<PlannedList, StageError> {
        let what = format!("compiling `{}`", request.spec.program.entry);
        let compiling = Phase::begin(context.progress, &what, STEPS, "steps");
        let made = build_list(inputs, request, &request.pipeline_settings(), &|| compiling.add(1))?;
        drop(compiling);
        let BuiltList { mut list, facts, settings, warnings, predicts } = made;
        refuse_half_precision(request, &list)?;
        let known = GraphInputs::read(inputs, request, &list)?;
        // A comment in the program changes no byte of its plan.
        list.lines.clear();
        context.progress.begin(&format!("planning {} launches", list.launches().len()), 0, "steps");
        let on_step = || context.progress.advance(1);
        let (decided, needs) = fit_memory(request, &mut list, &facts, &known, &on_step)?;
        let walked = known.walked(decided.as_deref());
        Ok(PlannedList { list, facts, settings, warnings, predicts, known, walked, decided, needs })
    }

    /// What is predicted and why it was chosen, without the alternatives that need less memory.
    /// Takes the reasons.
    fn advice(&mut self, inputs: &Inputs, request: &PlanRequest) -> Result<Advice, StageError> {
        let mut reasons = std::mem::take(&mut self.list.reasons);
        if request.device.grid.is_none() {
            reasons.extend(cpu_schedule_reasons(&self.list, &self.facts, inputs)?);
        }
        reasons.extend(self.needs.reason.take());
        reasons.extend(self.known.schedule_reason(request, &self.list, &self.walked)?);
        let predicted = time_prediction::predict_list(
            &self.list,
            &self.facts,
            &request.device,
            &self.needs.by_launch,
            &self.known.profile,
            self.walked.iter().any(Option::is_some),
        );
        Ok(Advice {
            memory: self.needs.memory.clone(),
            predicted,
            over_bus: self.needs.over_bus.clone(),
            reasons: to_json(&reasons)?,
        })
    }

    /// The files of csr and partition that a run reads.
    fn reads(&self) -> RunReads {
        let division = group_division::to_page(&self.walked);
        run_reads(&self.list, self.decided.as_deref(), division.as_ref())
    }

    /// The kernels of a GPU, printed once.
    fn render(&mut self) -> Option<Emitted> {
        self.decided.take().map(|decided| decided.render(&self.list))
    }

    fn page(
        &self,
        request: &PlanRequest,
        kernels: Option<KernelFacts>,
    ) -> Result<Plan, StageError> {
        Ok(Plan {
            mode: mode_name(request.run.mode, &self.facts).to_owned(),
            predicts: self.predicts.map(|kind| to_json(&kind)).transpose()?,
            dtype: request.run.dtype.name().to_owned(),
            matmul: reduced_precision(request),
            device: to_json(&request.device)?,
            settings: to_json(&self.settings)?,
            division: group_division::to_page(&self.walked),
            tuning: request.tuning.clone(),
            launches: to_json(&self.list)?,
            host: self.needs.host.clone(),
            kernels,
        })
    }

    /// Refuses a kernel that stores a buffer that has no place.
    fn refuse_stored_buffers(&self) -> Result<(), Violation> {
        let unstored = &self.list.arena.nowhere;
        let decided = self.decided.as_deref();
        if unstored.is_empty() || decided.is_some_and(|made| are_never_stored(unstored, made)) {
            return Ok(());
        }
        Err(Violation::new(format!(
            "plan.json: a kernel needs memory for one of `{}`, which the plan never stores",
            unstored.join("`, `")
        )))
    }
}

/// What kernels share, and their tables; none for a CPU.
fn tables_of(
    list: &LaunchList,
    emitted: Option<&Emitted>,
) -> Result<Option<(KernelFacts, KernelTables)>, StageError> {
    emitted.map(|emitted| kernel_tables::to_tables(list, emitted)).transpose()
}

/// Refuses a plan that names other files of csr and partition than a run of it reads.
fn refuse_other_reads(artifact: &Artifact, expected: &RunReads) -> Result<(), Violation> {
    let found = RunReads::from_manifest(&artifact.path, &artifact.manifest)?;
    if found == *expected {
        return Ok(());
    }
    Err(Violation::new(format!("what a run reads: expected {expected:?}, found {found:?}")))
}

/// Refuses tables of kernels other than those that are printed for the list.
fn refuse_other_tables(
    artifact: &Artifact,
    expected: Option<&KernelTables>,
) -> Result<(), Violation> {
    let Some(expected) = expected else { return Ok(()) };
    match kernel_tables::find_difference(expected, &plan::open_kernels(artifact)?) {
        None => Ok(()),
        Some(place) => Err(Violation::new(format!("{place} is not what is emitted for the list"))),
    }
}

/// Refuses rows in half precision for a list that learns nothing.
fn refuse_half_precision(request: &PlanRequest, list: &LaunchList) -> Result<(), StageError> {
    let learns = !list.parameters.is_empty();
    refuse_half_precision_loops(request.run.dtype, &request.spec.program.entry, learns)
}

/// The precision of products on a GPU, if it is reduced.
fn reduced_precision(request: &PlanRequest) -> Option<String> {
    let matmul = request.spec.matmul;
    (is_gpu(request) && matmul != warploom_spec::Matmul::F32).then(|| matmul.name().to_owned())
}

/// The mode of a run, as `plan.json` names it.
fn mode_name(asked: Mode, facts: &GraphFacts) -> &'static str {
    match asked {
        Mode::Infer => "infer",
        _ if facts.training => "train",
        _ => "iterate",
    }
}

/// What is known of the graph beyond `GraphFacts`.
#[derive(Clone)]
struct GraphInputs {
    profile: Profile,
    order: Order,
    stored: Stored,
    /// The groups of `partition`.
    divisions: Divisions,
    /// The entry of `plan.schedule` that counts for each launch.
    entries: Vec<Option<usize>>,
    /// What each launch is to walk by.
    chosen: LaunchDivisions,
    /// How a GPU divides walks.
    walks: WalkTiers,
}

impl GraphInputs {
    /// What is known for a list that was just built.
    fn read(
        inputs: &Inputs,
        request: &PlanRequest,
        list: &LaunchList,
    ) -> Result<GraphInputs, StageError> {
        let (divisions, schedule) = (Divisions::read(inputs)?, &request.spec.schedule);
        let entries = group_division::entries_of_launches(schedule, list)?;
        let chosen = divisions.choose(schedule, &entries, list, is_gpu(request))?;
        let profile = profile::open(inputs.get(Kind::Profile)?)?;
        // Every input of a GPU is copied to it, however it is stored.
        let stored =
            if is_gpu(request) { Stored::default() } else { memory::describe_storage(inputs)? };
        Ok(GraphInputs {
            profile,
            order: row_locality::row_order(is_gpu(request), inputs)?,
            stored,
            divisions,
            entries,
            chosen,
            walks: WalkTiers::read(inputs, is_gpu(request))?,
        })
    }

    /// The same for another list of the same graph.
    fn for_list(
        &self,
        request: &PlanRequest,
        list: &LaunchList,
    ) -> Result<GraphInputs, StageError> {
        let schedule = &request.spec.schedule;
        let entries = group_division::entries_of_launches(schedule, list)?;
        let chosen = self.divisions.choose(schedule, &entries, list, is_gpu(request))?;
        Ok(GraphInputs { entries, chosen, ..self.clone() })
    }

    /// Why launches walk by what they do, where the partition has groups; refuses an entry of
    /// `plan.schedule` without effect.
    fn schedule_reason(
        &self,
        request: &PlanRequest,
        list: &LaunchList,
        walked: &LaunchDivisions,
    ) -> Result<Option<Reason>, StageError> {
        let schedule = &request.spec.schedule;
        group_division::refuse_idle_entries(schedule, &self.entries, list, walked)?;
        Ok(self.divisions.reason(schedule, list, walked, is_gpu(request)))
    }

    /// What launches walk by: on a GPU, what its kernels do.
    fn walked(&self, planned: Option<&DevicePlan>) -> LaunchDivisions {
        match planned {
            Some(planned) => group_division::emitted_divisions(&self.chosen, planned),
            None => self.chosen.clone(),
        }
    }
}

/// A launch list and what it was built for.
struct BuiltList {
    list: LaunchList,
    facts: GraphFacts,
    settings: BTreeMap<String, serde_json::Value>,
    warnings: Vec<String>,
    /// The kind of the predicted scores, in inference.
    predicts: Option<LossKind>,
}

fn build_list(
    inputs: &Inputs,
    request: &PlanRequest,
    settings: &BTreeMap<String, serde_json::Value>,
    on_step: &dyn Fn(),
) -> Result<BuiltList, StageError> {
    refuse_links(&request.run)?;
    let program = requested_program(request, settings);
    let made = compile_program(inputs, request, &program, on_step)?;
    // `Progress::warn` adds the word.
    let page = |text: String| text.trim_end().trim_start_matches("warning: ").to_owned();
    let warnings =
        made.traced.warnings.iter().map(|warning| page(program.render(warning))).collect();
    let predicts = if made.data.inferring { score_kind(request, &made) } else { None };
    let facts = GraphFacts::from_data(&made.data);
    edge_count::refuse_uncounted(&made.list, facts.edges, is_gpu(request))?;
    edge_count::refuse_uncounted_entries(&made.list, facts.sparse_features, is_gpu(request))?;
    Ok(BuiltList { facts, list: made.list, settings: made.traced.settings, warnings, predicts })
}

/// Whether the plan is for a GPU.
fn is_gpu(request: &PlanRequest) -> bool {
    request.device.kind == warploom_device::Kind::Cuda
}

fn requested_program<'a>(
    request: &'a PlanRequest,
    settings: &'a BTreeMap<String, serde_json::Value>,
) -> Program<'a> {
    Program {
        file: &request.spec.program.file,
        text: &request.text,
        entry: &request.spec.program.entry,
        settings,
    }
}

/// Compiles the program; for training if it has learned parameters.
fn compile_program(
    inputs: &Inputs,
    request: &PlanRequest,
    program: &Program,
    on_step: &dyn Fn(),
) -> Result<Compilation, StageError> {
    let still = facts::describe_data(inputs, request, false)?;
    // Without classes, a program that asks for `v.classes` columns does not trace: say that first.
    let learns = program.learns(&still).map_err(|error| {
        facts::refuse_no_classes(inputs, request)
            .err()
            .unwrap_or_else(|| locate_setting_error(&request.spec, error))
    })?;
    refuse_other_mode(&request.run, program.entry, learns)?;
    match (request.run.mode, learns) {
        (Mode::Infer, _) | (_, false) => program.compile_with_progress(still, on_step),
        (_, true) => {
            program.compile_with_progress(facts::describe_data(inputs, request, true)?, on_step)
        }
    }
}

/// Refuses a program whose columns, labels or widths the data set lacks, before the stages that
/// `plan` waits for. Makes only the cheap checks.
pub fn refuse_other_data(inputs: &Inputs, request: &PlanRequest) -> Result<(), StageError> {
    let (settings, still) =
        (request.pipeline_settings(), facts::describe_data(inputs, request, false)?);
    let program = requested_program(request, &settings);
    let learns = program.learns(&still).map_err(|error| {
        facts::refuse_no_classes(inputs, request)
            .err()
            .unwrap_or_else(|| locate_setting_error(&request.spec, error))
    })?;
    if !learns || request.run.mode == Mode::Infer {
        return Ok(());
    }
    program.trace(&facts::describe_data(inputs, request, true)?).map(drop)
}

/// The kind of the scores that inference predicts: `run.loss` if it names one, else what the
/// parameters were learned for, else by the width of a row. None where the result is not one row of
/// scores for each node or graph: then values are written as they are.
fn score_kind(request: &PlanRequest, made: &Compilation) -> Option<LossKind> {
    let [result] = made.list.results.as_slice() else { return None };
    let buffer = made.list.buffers.iter().find(|buffer| buffer.name == result.buffer)?;
    if buffer.element != Element::Real || result.edges.is_some() {
        return None;
    }
    Some(match (request.run.loss, made.data.target) {
        (Loss::CrossEntropy, _) => LossKind::CrossEntropy,
        (Loss::Bce, _) => LossKind::Binary,
        (Loss::Mse, _) => LossKind::MeanSquares,
        (Loss::Auto, Some(target)) => target.loss,
        (Loss::Auto, None) if buffer.columns > 1 => LossKind::CrossEntropy,
        (Loss::Auto, None) => LossKind::MeanSquares,
    })
}

/// One form of the requested program, as text. `source` is that of the plan, with its neighbour
/// groups and its order.
pub fn show_form(inputs: &Inputs, request: &PlanRequest, form: &str) -> Result<String, StageError> {
    let settings = request.pipeline_settings();
    match form {
        "launches" => Ok(build_list(inputs, request, &settings, &|| {})?.list.render()),
        "source" => {
            program::source_grid(&request.device)?;
            let BuiltList { mut list, facts, .. } = build_list(inputs, request, &settings, &|| {})?;
            let known = GraphInputs::read(inputs, request, &list)?;
            let (decided, _) = fit_memory(request, &mut list, &facts, &known, &|| {})?;
            decided
                .map(|decided| decided.render(&list).source)
                .ok_or_else(|| StageError::defect("a plan for a GPU has no source"))
        }
        _ => printed_forms::print_form(
            &compile_program(inputs, request, &requested_program(request, &settings), &|| {})?,
            form,
            &request.text,
        ),
    }
}

/// The CUDA source of a program without a graph: as for one whose rows all have the same number of
/// edges, in no known order.
pub fn source_without_graph(
    compiled: &Compilation,
    request: &PlanRequest,
) -> Result<String, StageError> {
    let given = PartitionSpec::default();
    let groups = Groups {
        neighbours: given.ngs as u32,
        lanes: given.dw as u32,
        threads: given.block_threads as u32,
    };
    let asked = LaunchSchedules::All(EdgeSchedule::NeighbourGroups);
    let is_grouped = is_gpu(request) && request.spec.schedule == asked;
    let groups = vec![Some(groups).filter(|_| is_grouped); compiled.list.launches().len()];
    let emitted = program::emit_source(
        &compiled.list,
        compiled.data.bytes_per_real,
        matmul_precision(&request.spec),
        Order::Spread,
        &groups,
        &request.device,
    )?;
    Ok(emitted.source)
}

/// The kernels of a list on a GPU, none for a CPU; refuses what this version runs on the CPU only.
fn decide_for_gpu(
    request: &PlanRequest,
    list: &LaunchList,
    known: &GraphInputs,
) -> Result<Option<DecidedKernels>, StageError> {
    if !is_gpu(request) {
        return Ok(None);
    }
    let groups = known.divisions.gpu_groups(&known.chosen);
    let asked = GpuRequest {
        program: &request.spec.program.entry,
        dtype: request.run.dtype,
        matmul: matmul_precision(&request.spec),
        order: known.order,
        groups: &groups,
    };
    program::decide_for_gpu(list, &asked, &request.device).map(Some)
}

/// Compiles the kernels of a GPU plan ahead of the run, if a compiler is present. If it is not, or
/// fails, the run compiles them and reports why. A compiler that was named and is missing is a
/// warning.
fn cache_kernels(context: &Context, request: &PlanRequest, emitted: &Emitted) {
    let Some(capability) = request.device.capability() else { return };
    let nvrtc = Nvrtc::find();
    if nvrtc.is_err() && !Nvrtc::is_named() {
        return;
    }
    let compiled =
        cubin_cache::load_or_compile(context, &nvrtc, capability, &emitted.source, |_, _| Ok(()));
    if let Err(fault) = compiled {
        context.progress.warn(&format!("the kernels are compiled when the plan is run: {fault}"));
    }
}

/// What the compiler may know of the data set of a request.
pub fn describe_data(
    inputs: &Inputs,
    request: &PlanRequest,
    training: bool,
) -> Result<warploom_ir::Data, StageError> {
    facts::describe_data(inputs, request, training)
}

/// What a run needs on its device. On a GPU all kernel arguments are resident for the whole run,
/// except what stays on the host and features that no epoch reads.
fn memory_needs(
    request: &PlanRequest,
    decided: Option<&DecidedKernels>,
    list: &LaunchList,
    facts: &GraphFacts,
    known: &GraphInputs,
) -> MemoryNeeds {
    let Some(decided) = decided else {
        let divided = known.divisions.bytes(&known.chosen);
        return MemoryNeeds {
            memory: memory::predict_on_cpu(list, facts, known.stored, divided),
            host: None,
            over_bus: None,
            by_launch: Vec::new(),
            reason: None,
        };
    };
    features::place_features(request, list, decided, facts, known.divisions.rows)
}

/// The kernels of a GPU, and what the run needs. Features that stay on the host, and buffers that
/// no kernel stores, get no space in the arena: the kernels are decided again without them.
fn fit_memory(
    request: &PlanRequest,
    list: &mut LaunchList,
    facts: &GraphFacts,
    known: &GraphInputs,
    on_step: &dyn Fn(),
) -> Result<(Option<DecidedKernels>, MemoryNeeds), StageError> {
    let mut decided = drop_unstored_buffers(request, list, facts, known, on_step)?;
    let found = memory_needs(request, decided.as_ref(), list, facts, known);
    on_step();
    let is_moved = list
        .features_in_arena()
        .zip(found.host.as_ref())
        .is_some_and(|(name, host)| host.buffers.contains(name));
    if !is_moved {
        known.walks.add_to(list, decided.as_mut())?;
        return Ok((decided, found));
    }
    list.keep_features_apart(facts);
    let mut decided = drop_unstored_buffers(request, list, facts, known, on_step)?;
    known.walks.add_to(list, decided.as_mut())?;
    let found = memory_needs(request, decided.as_ref(), list, facts, known);
    on_step();
    Ok((decided, found))
}

/// The kernels of a GPU, with an arena without the buffers that they never store. Which sums share
/// a kernel depends on the offsets in the arena. If a dropped buffer is stored after all once the
/// rest has moved, or more kernels are needed, every buffer keeps its offset.
fn drop_unstored_buffers(
    request: &PlanRequest,
    list: &mut LaunchList,
    facts: &GraphFacts,
    known: &GraphInputs,
    on_step: &dyn Fn(),
) -> Result<Option<DecidedKernels>, StageError> {
    let decided = decide_for_gpu(request, list, known)?;
    on_step();
    let mut unstored: Vec<_> = decided
        .iter()
        .flat_map(|decided| decided.unmade.clone())
        .filter(|name| list.arena.place(name).is_some())
        .collect();
    unstored.sort_unstable();
    unstored.dedup();
    if unstored.is_empty() {
        return Ok(decided);
    }
    let before = list.arena.clone();
    list.leave_out(&unstored, facts);
    let smaller = decide_for_gpu(request, list, known)?;
    on_step();
    let kernels = |decided: &Option<DecidedKernels>| {
        decided.iter().flat_map(|decided| &decided.launches).flatten().count()
    };
    let is_smaller = list.arena.bytes <= before.bytes && kernels(&smaller) <= kernels(&decided);
    if is_smaller && smaller.as_ref().is_some_and(|smaller| are_never_stored(&unstored, smaller)) {
        return Ok(smaller);
    }
    list.arena = before;
    Ok(decided)
}

/// Whether no kernel stores these buffers or takes one as an argument.
fn are_never_stored(names: &[String], planned: &DevicePlan) -> bool {
    let is_given = |name: &String| {
        planned.arguments().any(|argument| *argument == Argument::Buffer(name.clone()))
    };
    names.iter().all(|name| planned.unmade.contains(name) && !is_given(name))
}

/// Settings that may need less memory (features on the host, a narrower dtype, smaller widths) with
/// the peak of each, which is planned. What cannot matter is not planned (no dense rows, no half
/// precision on a GPU), and an alternative that the compiler refuses is left out. Any other error
/// fails the stage: left out, the alternative would look as if it did not fit.
fn smaller_alternatives(
    context: &Context,
    inputs: &Inputs,
    request: &PlanRequest,
    planned: &PlannedList,
) -> Result<Vec<Smaller>, StageError> {
    let PlannedList { list, known, settings, .. } = planned;
    let mut ways = Vec::new();
    let given = request.pipeline_settings();
    let has_rows = || host_reads::may_stay(list).next().is_some();
    if is_gpu(request) && request.spec.features == Residence::Device && has_rows() {
        let mut on_host = request.clone();
        on_host.spec.features = Residence::Host;
        ways.push((format!("plan.features={}", Residence::Host.name()), on_host, given.clone()));
    }
    let fewer: &[Dtype] = match request.run.dtype {
        Dtype::F64 => &[Dtype::F32, Dtype::Bf16],
        Dtype::F32 => &[Dtype::Bf16],
        Dtype::Bf16 | Dtype::F16 => &[],
    };
    // A GPU has no half precision in this version.
    let has_kernels = |dtype: &&Dtype| !is_gpu(request) || half_format(**dtype).is_none();
    for &dtype in fewer.iter().filter(has_kernels) {
        let mut short = request.clone();
        short.run.dtype = dtype;
        ways.push((format!("run.dtype={}", dtype.name()), short, given.clone()));
    }
    let mut hidden = settings.get(WIDTH).and_then(serde_json::Value::as_u64).unwrap_or(0);
    for _ in 0..HALVINGS {
        hidden /= 2;
        if hidden > 0 {
            let mut narrow = given.clone();
            narrow.insert(WIDTH.to_owned(), hidden.into());
            ways.push((format!("plan.set.{WIDTH}={hidden}"), request.clone(), narrow));
        }
    }
    let what = "weighing smaller numbers and widths";
    let weighing = Phase::begin(context.progress, what, ways.len() as u64, "plans");
    let weighed = ways.into_par_iter().map(|(set, request, settings)| {
        let memory = ignore_refusal(predict_memory(inputs, &request, &settings, known))?;
        weighing.add(1);
        Ok(memory.map(|memory| Smaller { set, bytes_peak: memory.bytes_peak }))
    });
    let weighed: Vec<Result<Option<Smaller>, StageError>> = weighed.collect();
    weighed.into_iter().filter_map(Result::transpose).collect()
}

/// The value, or none where the compiler refuses.
fn ignore_refusal<T>(made: Result<T, StageError>) -> Result<Option<T>, StageError> {
    match made {
        Err(error) if error.kind == ErrorKind::Specification => Ok(None),
        made => made.map(Some),
    }
}

/// The memory that a run with these settings needs. What is known of the graph depends on none of
/// them.
fn predict_memory(
    inputs: &Inputs,
    request: &PlanRequest,
    settings: &BTreeMap<String, serde_json::Value>,
    known: &GraphInputs,
) -> Result<Memory, StageError> {
    let BuiltList { mut list, facts, .. } = build_list(inputs, request, settings, &|| {})?;
    refuse_half_precision(request, &list)?;
    let known = known.for_list(request, &list)?;
    Ok(fit_memory(request, &mut list, &facts, &known, &|| {})?.1.memory)
}

fn to_json<T: serde::Serialize>(value: &T) -> Result<serde_json::Value, StageError> {
    serde_json::to_value(value).map_err(|error| StageError::defect(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An alternative that fails for another reason must not be left out: that would change what is
    /// published under the same key.
    #[test]
    fn only_refusals_of_the_compiler_are_left_out_of_the_advice() {
        let failed = |kind| ignore_refusal::<u64>(Err(StageError::new(kind, "failed")));
        assert_eq!(failed(ErrorKind::Specification), Ok(None));
        assert_eq!(ignore_refusal(Ok(7)), Ok(Some(7)));
        use ErrorKind::{Damaged, Data, Defect, DiskFull, Input, Memory, Stopped, Transient};
        for kind in [Input, Data, Damaged, Memory, DiskFull, Transient, Stopped, Defect] {
            assert_eq!(failed(kind).unwrap_err().kind, kind);
        }
    }
}
