//! device_choice: whether `--device auto` takes a GPU for a program, and which tables its kernels
//! read that not every partition has.
//!
//! promises  the decision follows from program, settings and device, never from the graph or the
//!           store, since `reorder` needs the device before a plan exists; it uses the function by
//!           which `plan` decides on kernels or refuses them
//! never     costs time where there is no GPU
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use warploom_contract::StageError;
use warploom_cuda::Order;
use warploom_device::{AUTO, Best, Cause, Facts, Gpu, Kind};
use warploom_ir::Data;
use warploom_spec::{Mode, Pipeline, PlanSpec, RunSpec};

use crate::{
    graph_reads::OptionalTables,
    plan_settings,
    program::{self, GpuRequest, Program},
    sample_data_sets, scheduler,
};

/// Whether `auto` takes a GPU: one is present, and the whole program has kernels. For a program
/// that does not parse the answer is no, and `plan` reports the error.
pub fn auto_takes_gpu(pipeline: &Pipeline) -> Result<bool, StageError> {
    let Some(found) = warploom_device::gpu_for_auto() else { return Ok(false) };
    // A batch job that was given a GPU ends with an error that is worth another start; at a desk
    // the CPU is taken.
    if found.as_ref().is_err_and(|fault| fault.cause() == Cause::Device)
        && !scheduler::is_batch_job()
    {
        return Ok(false);
    }
    // Measured facts that cannot be read are reported when the GPU is resolved. For this question
    // any GPU will do: all have the same kernels.
    let Some(device) = found.ok().or_else(|| warploom_device::resolve("h200", Best::Cpu).ok())
    else {
        return Ok(false);
    };
    let text = plan_settings::program_text(pipeline)?;
    Ok(matches!(judge_pipeline(pipeline, &text, &device), Verdict::Kernels(_)))
}

/// The tables that kernels of a GPU read and that a partition has only for such kernels. Some walk
/// one direction of a symmetric graph, and both of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TablesRead {
    /// On a symmetric graph.
    pub on_symmetric: OptionalTables,
    /// On any other graph.
    pub on_others: OptionalTables,
}

impl TablesRead {
    fn union(self, other: Self) -> Self {
        TablesRead {
            on_symmetric: self.on_symmetric.union(other.on_symmetric),
            on_others: self.on_others.union(other.on_others),
        }
    }
}

/// The tables that kernels read on some sample data set. Where samples do not tell, they may read
/// all; where no sample has kernels, or no text can be read, `plan` refuses the program.
pub fn find_tables_read(device: &Facts, pipeline: &Pipeline) -> TablesRead {
    if device.kind != Kind::Cuda {
        return TablesRead::default();
    }
    let Ok(text) = plan_settings::program_text(pipeline) else { return TablesRead::default() };
    match judge_pipeline(pipeline, &text, device) {
        Verdict::Kernels(tables) => tables,
        Verdict::NoKernels(_) => TablesRead::default(),
        Verdict::Unknown => {
            TablesRead { on_symmetric: OptionalTables::ALL, on_others: OptionalTables::ALL }
        }
    }
}

fn judge_pipeline(pipeline: &Pipeline, text: &str, device: &Facts) -> Verdict {
    let (plan, settings) = (&pipeline.plan, plan_settings::pipeline_settings(&pipeline.plan));
    let (file, entry) = (&plan.program.file, &plan.program.entry);
    let program = Program { file, text, entry, settings: &settings };
    judge_program(&program, plan, &pipeline.run, device)
}

/// The ordinal of the GPU for this task of a batch job, where several are visible: the number of
/// the task among those of its node, modulo their count. None where the name says which, and
/// without a batch job.
pub fn ordinal_of_rank(name: &str, facts: &Facts) -> Option<usize> {
    if facts.kind != Kind::Cuda || !["cuda", AUTO].contains(&name) {
        return None;
    }
    let rank = scheduler::batch_job()?.local_rank?;
    let count = Gpu::count().ok().filter(|count| *count > 1)?;
    Some(rank % count).filter(|ordinal| *ordinal > 0)
}

/// The result of compiling a program for a GPU on sample data sets.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The whole program has kernels, which read these tables.
    Kernels(TablesRead),
    /// The program lacks a kernel on every data set, for this reason.
    NoKernels(StageError),
    /// It fits no sample, or has kernels on some samples only: the data set decides.
    Unknown,
}

/// Whether a program has kernels on a GPU. Several stages of one start ask: the answer is cached.
pub fn judge_program(program: &Program, plan: &PlanSpec, run: &RunSpec, device: &Facts) -> Verdict {
    static KNOWN: Mutex<BTreeMap<String, Verdict>> = Mutex::new(BTreeMap::new());
    let asked = (
        program.file,
        program.text,
        program.entry,
        program.settings,
        plan.matmul,
        run.mode,
        run.dtype,
    );
    let key = format!("{asked:?} {:?} {:?}", device.name, device.grid);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(key).or_insert_with(|| judge_samples(program, plan, run, device)).clone()
}

/// `Kernels` if the first sample that the program fits has them, with what those of any sample
/// read; `NoKernels` if all such samples refuse it.
fn judge_samples(program: &Program, plan: &PlanSpec, run: &RunSpec, device: &Facts) -> Verdict {
    let samples = sample_data_sets::samples_for_text(program.text);
    let mut made = samples
        .into_iter()
        .filter_map(|sample| decide_on_sample(program, plan, run, sample, device));
    match made.next() {
        None => Verdict::Unknown,
        // What a program reads may depend on relations, kinds and weights.
        Some(Ok(tables)) => Verdict::Kernels(made.flatten().fold(tables, TablesRead::union)),
        Some(Err(why)) if made.all(|other| other.is_err()) => Verdict::NoKernels(why),
        Some(Err(_)) => Verdict::Unknown,
    }
}

/// Decides on the kernels of a program on a sample, and says which tables they read; none where the
/// program does not fit the sample.
fn decide_on_sample(
    program: &Program,
    plan: &PlanSpec,
    run: &RunSpec,
    sample: Data,
    device: &Facts,
) -> Option<Result<TablesRead, StageError>> {
    let decide = |sample: Data| try_sample(program, plan, run, sample, device);
    let on_others = match decide(sample.clone())? {
        Ok(tables) if tables == OptionalTables::default() => {
            return Some(Ok(TablesRead::default()));
        }
        Ok(tables) => tables,
        Err(refused) => return Some(Err(refused)),
    };
    let on_symmetric = decide(Data { symmetric: true, ..sample })?.unwrap_or(on_others);
    Some(Ok(TablesRead { on_symmetric, on_others }))
}

/// The tables that the kernels of a program on a sample read.
fn try_sample(
    program: &Program,
    plan: &PlanSpec,
    run: &RunSpec,
    sample: Data,
    device: &Facts,
) -> Option<Result<OptionalTables, StageError>> {
    let sample = Data { lanes: true, bytes_per_real: program::bytes_per_real(run.dtype), ..sample };
    let traced = program.try_trace(&sample).ok()?;
    if let Err(refused) = program::refuse_on_gpu(run.dtype) {
        return Some(Err(refused));
    }
    let (training, inferring) = (
        program::has_learned_parameters(&traced) && run.mode != Mode::Infer,
        run.mode == Mode::Infer,
    );
    let made = program.compile(Data { training, inferring, ..sample }).ok()?;
    let asked = GpuRequest {
        program: program.entry,
        dtype: run.dtype,
        matmul: program::matmul_precision(plan),
        order: Order::Spread,
        groups: &[],
    };
    let decided = program::decide_for_gpu(&made.list, &asked, device);
    Some(decided.map(|decided| OptionalTables::of_kernels(&decided)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// What is found on an H200.
    fn verdict(name: &str, text: &str, settings: &[&str]) -> Verdict {
        let settings: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
        let yaml = format!("dataset: karate\nplan: {{program: {name}.py}}\n");
        let pipeline =
            warploom_spec::read_text(&yaml, Path::new("check.yaml"), &settings).unwrap().remove(0);
        let (plan, run, given) =
            (&pipeline.plan, &pipeline.run, plan_settings::pipeline_settings(&pipeline.plan));
        let program = Program {
            file: &plan.program.file,
            text,
            entry: &plan.program.entry,
            settings: &given,
        };
        let device = warploom_device::resolve("h200", Best::Cpu).unwrap();
        judge_program(&program, plan, run, &device)
    }

    /// What a GPU is refused for, if it is.
    fn refused(name: &str, text: &str, settings: &[&str]) -> Option<String> {
        match verdict(name, text, settings) {
            Verdict::Kernels(_) => None,
            Verdict::NoKernels(error) => Some(error.what),
            Verdict::Unknown => Some("the data set decides".to_owned()),
        }
    }

    #[test]
    fn each_program_of_the_library_has_kernels() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../pipelines/programs");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let (name, text) = (
                path.file_stem().unwrap().to_str().unwrap().to_owned(),
                std::fs::read_to_string(&path).unwrap_or_default(),
            );
            assert_eq!(refused(&name, &text, &[]), None, "{name}");
        }
    }

    #[test]
    fn tables_that_kernels_read_are_found_without_a_graph() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../pipelines/programs");
        let tables = |name: &str, text: &str| match verdict(name, text, &[]) {
            Verdict::Kernels(tables) => tables,
            other => panic!("{name}: {other:?}"),
        };
        let none = OptionalTables::default();
        let both = OptionalTables { both_directions: true, ..none };
        let ascending = OptionalTables { ascending_edges: true, ..none };
        for name in ["gcn", "sage", "gat", "pagerank", "bfs", "components", "kcore", "triangles"] {
            let text = std::fs::read_to_string(folder.join(format!("{name}.py"))).unwrap();
            let [on_symmetric, on_others] = match name {
                "components" => [none, both],
                "triangles" => [ascending; 2],
                _ => [none; 2],
            };
            assert_eq!(tables(name, &text), TablesRead { on_symmetric, on_others }, "{name}");
        }
        // A sum takes each edge of a symmetric graph twice.
        let text = "def p(v):\n    return sum(u.indegree for u in v.nbs)\n";
        assert_eq!(tables("p", text), TablesRead { on_symmetric: both, on_others: both });
    }

    #[test]
    fn a_program_that_cannot_be_read_is_an_error_and_no_writer_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        assert!(
            std::process::Command::new("mkfifo")
                .arg(dir.path().join("p.py"))
                .status()
                .unwrap()
                .success()
        );
        let yaml = "dataset: karate\nplan: {program: p.py}\n";
        let pipeline =
            warploom_spec::read_text(yaml, &dir.path().join("check.yaml"), &[]).unwrap().remove(0);
        let error = plan_settings::program_text(&pipeline).unwrap_err();
        assert!(
            error.what.contains("the vertex program") && error.what.contains("FIFO"),
            "{error}"
        );
    }

    #[test]
    fn what_has_no_kernel_is_found_without_a_graph() {
        for list in [
            "sum(u.indegree",
            "max(u.indegree",
            "mode(u.indegree",
            "hindex(u.indegree",
            "sum(common_neighbors(u, v)",
            "max(common_neighbors(u, v)",
        ] {
            let text = format!("def p(v):\n    return {list} for u in v.innbs)\n");
            assert_eq!(refused("p", &text, &[]), None, "{list}");
        }
        let halves =
            refused("p", "def p(v):\n    return linear(v.x, v.classes)\n", &["run.dtype=bf16"]);
        let unfit = refused("p", "def p(v):\n    return v.x @ param((433, 3))\n", &[]);
        assert_eq!(
            unfit.as_deref(),
            Some("the data set decides"),
            "`auto` takes the CPU, and an explicit GPU is not refused"
        );
        assert!(
            halves
                .is_some_and(|why| why.contains("`run.dtype: bf16` is supported on the CPU only"))
        );
    }
}
