//! preflight: checks of a pipeline before its first stage: program, settings, device, and the files
//! that it names.
//!
//! promises  all variants are checked before one of them starts; an error is the one that the stage
//!           would give, and is reported as that stage's; a program is refused only for what is
//!           wrong on every data set
//! never     reads an artifact; reads more of a file than its header and what goes into a key
use std::collections::BTreeSet;

use warploom_contract::StageError;
use warploom_device::Kind;
use warploom_formats::side_files::{order_table, split_table};
use warploom_ir::Data;
use warploom_language::trace::Traced;
use warploom_spec::{Mode, Pipeline};

use crate::{
    Chain, Environment, Outcome, StageName,
    data_set::DataSet,
    device_choice::{self, Verdict},
    gpu_present,
    outcome::Status,
    parameter_file,
    program::{self, Program, locate_setting_error},
    progress::Talk,
    requests::{PartitionRequest, PlanRequest, ReorderRequest, Request, RunRequest, read_error},
    sample_data_sets, search_sources,
};

/// An error, and the stage that would have found it.
#[derive(Debug)]
pub struct Finding {
    /// The stage.
    pub stage: StageName,
    /// Its error.
    pub error: StageError,
}

impl Finding {
    /// The error as the outcome of that stage.
    pub fn outcome(&self) -> Outcome {
        let why = "found by a check before this stage ran".to_owned();
        Outcome {
            stage: self.stage,
            status: Status::Failed,
            key: None,
            artifacts: Vec::new(),
            seconds: 0.0,
            why,
            error: Some(self.error.clone()),
        }
    }
}

/// Checks pipelines for the stages that are going to run.
pub fn check_pipelines(
    environment: &Environment,
    pipelines: &[Pipeline],
    stages: &[StageName],
) -> Result<(), Box<Finding>> {
    for (number, pipeline) in pipelines.iter().enumerate() {
        for &stage in stages {
            let checked = match stage {
                // The first stage looks for the data set of the first pipeline at once.
                StageName::Ingest if number == 0 => Ok(()),
                StageName::Ingest => check_data_set(environment, pipeline),
                // Its settings were checked when the pipeline was read.
                StageName::Extract => Ok(()),
                StageName::Reorder => check_reorder(environment, pipeline),
                StageName::Partition => PartitionRequest::resolve(environment, pipeline).map(drop),
                StageName::Plan => check_plan(environment, pipeline),
                StageName::Run => check_run(environment, pipeline),
            };
            checked.map_err(|error| Box::new(Finding { stage, error }))?;
        }
    }
    Ok(())
}

/// Says once of each requested division that no run reads it.
pub fn report_unread_schemes(talk: &Talk, pipelines: &[Pipeline]) {
    let lines: BTreeSet<String> =
        pipelines.iter().filter_map(|pipeline| pipeline.partition.unread_schemes()).collect();
    lines.iter().for_each(|line| talk.say(line));
}

/// Refuses a GPU that is not present, or has no compiler, before the first stage of pipelines that
/// will run; a pipeline whose results are in the store needs no GPU.
pub fn check_gpus(environment: &Environment, pipelines: &[Pipeline]) -> Result<(), Box<Finding>> {
    for pipeline in pipelines {
        let check = || {
            let device = environment.device_facts(pipeline)?;
            if device.kind == Kind::Cpu || has_results(environment, pipeline) {
                return Ok(());
            }
            gpu_present::refuse_other_device(&device)?;
            gpu_present::refuse_missing_compiler(&environment.store, &device)
        };
        check().map_err(|error| Box::new(Finding { stage: StageName::Run, error }))?;
    }
    Ok(())
}

/// Whether the results of a pipeline are in the store.
pub fn has_results(environment: &Environment, pipeline: &Pipeline) -> bool {
    let quiet = Environment { network: false, ..environment.clone() };
    let mut chain = Chain::new(&quiet, pipeline);
    let run = StageName::Run;
    let found = chain
        .look_up_before(run)
        .and_then(|()| chain.key_document(run))
        .and_then(|document| chain.find_artifacts(run, &document.key()));
    !environment.force && found.is_ok_and(|artifacts| artifacts.is_some())
}

fn check_data_set(environment: &Environment, pipeline: &Pipeline) -> Result<(), StageError> {
    DataSet::find(environment, pipeline).map(drop)
}

fn check_reorder(environment: &Environment, pipeline: &Pipeline) -> Result<(), StageError> {
    let request = ReorderRequest::resolve(environment, pipeline)?;
    request.spec.order.as_deref().map_or(Ok(()), |path| {
        order_table::refuse_other_columns(path).map_err(|error| read_error(&error))
    })
}

fn check_plan(environment: &Environment, pipeline: &Pipeline) -> Result<(), StageError> {
    let request = PlanRequest::resolve(environment, pipeline)?;
    check_program(&request)
}

fn check_run(environment: &Environment, pipeline: &Pipeline) -> Result<(), StageError> {
    let spec = &RunRequest::resolve(environment, pipeline)?.spec;
    parameter_file::refuse_missing_file(spec, &pipeline.plan.program.entry)?;
    spec.init.as_deref().map_or(Ok(()), parameter_file::refuse_other_format)?;
    spec.splits.as_deref().map_or(Ok(()), |path| {
        split_table::refuse_other_columns(path).map_err(|error| read_error(&error))
    })
}

/// Refuses a program, its settings or the mode of its run for what is wrong on every data set.
pub fn check_program(request: &PlanRequest) -> Result<(), StageError> {
    let (spec, run, settings) = (&request.spec, &request.run, request.pipeline_settings());
    let entry = spec.program.entry.as_str();
    program::refuse_links(run)?;
    let program =
        Program { file: &spec.program.file, text: &request.text, entry, settings: &settings };
    let inferring = run.mode == Mode::Infer;
    let samples = sample_data_sets::samples_for_text(&request.text);
    let Some(traced) =
        trace_on_samples(&program, samples.iter().map(|data| Data { inferring, ..data.clone() }))
            .map_err(|error| locate_setting_error(spec, error))?
    else {
        return Ok(());
    };
    let learns = program::has_learned_parameters(&traced);
    program::refuse_other_mode(run, entry, learns)?;
    search_sources::refuse_learning(run, entry, learns)?;
    let results = traced.gir.results.iter();
    search_sources::refuse_results(
        run,
        results.map(|result| (result.name.as_str(), result.edges.is_some())),
    )?;
    if learns && !inferring {
        trace_on_samples(
            &program,
            samples.into_iter().map(|data| Data { training: true, ..data }),
        )?;
    }
    program::refuse_half_precision_loops(run.dtype, entry, learns)?;
    match request.device.kind {
        Kind::Cuda
            if let Verdict::NoKernels(why) =
                device_choice::judge_program(&program, spec, run, &request.device) =>
        {
            Err(why)
        }
        _ => Ok(()),
    }
}

/// The trace of the program on the first sample that it fits. An error where it fits none and all
/// give the same errors; none where these differ, since the data set then decides.
fn trace_on_samples(
    program: &Program,
    samples: impl Iterator<Item = Data>,
) -> Result<Option<Traced>, StageError> {
    let mut refused: Vec<Vec<_>> = Vec::new();
    for data in samples {
        match program.try_trace(&data) {
            Ok(traced) => return Ok(Some(traced)),
            Err(wrong) => refused.push(wrong),
        }
    }
    match refused.split_first() {
        Some((first, others)) if others.iter().all(|other| other == first) => {
            Err(program.diagnostics_error(first))
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use warploom_device::Best;

    use super::*;

    /// The program of the library, or a text, as the pipeline of a stand-in would name it.
    fn checked(name: &str, text: &str, settings: &[&str]) -> Result<(), StageError> {
        let yaml = format!("dataset: karate\nplan: {{program: {name}.py}}\n");
        let settings: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
        let pipeline =
            warploom_spec::read_text(&yaml, Path::new("check.yaml"), &settings).unwrap().remove(0);
        let device = warploom_device::resolve("cpu", Best::Cpu).unwrap();
        let (spec, run) = (pipeline.plan.clone(), pipeline.run.clone());
        let learned = std::sync::OnceLock::new();
        check_program(&PlanRequest {
            spec,
            text: text.to_owned(),
            device,
            run,
            learned,
            init_digest: None,
            splits_digest: None,
            compiler: 0,
            tuning: Default::default(),
        })
    }

    #[test]
    fn programs_of_the_library_are_not_refused() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../pipelines/programs");
        let programs: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some())
            .collect();
        assert!(programs.len() > 15);
        for path in programs {
            let name = path.file_stem().unwrap().to_str().unwrap();
            checked(name, &std::fs::read_to_string(&path).unwrap(), &[])
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }

    #[test]
    fn what_a_data_set_decides_is_not_refused() {
        let texts = [
            "def p(v):\n    return v.age + 1\n",
            "def p(v):\n    v.h = v.age if v.is_old else 2.0 * v.year\n    return v.h\n",
            "def p(v):\n    return sum(u.x for u in v.innbs[\"cites\"])\n",
            "def p(v):\n    return sum(u.x for u in v.innbs[\"is cited by\"])\n",
            "def p(v):\n    w = param((433, 3))\n    return v.x @ w\n",
            "def p(v):\n    return linear(v.x, v.classes)\n",
            "def p(v):\n    return v.kind == \"author\"\n",
        ];
        for text in texts {
            checked("p", text, &[]).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    }

    #[test]
    fn what_is_wrong_on_every_data_set_is_refused() {
        let iterated = "def p(v, times=3):\n    v.h = 1.0\n    for k in range(times):\n        \
            v.h = sum(u.h for u in v.innbs)\n    return v.h\n";
        let learned = "def p(v):\n    return linear(v.x, v.classes)\n";
        let cases: [(&str, &[&str], &str); 10] = [
            ("def p(v)\n    return 1\n", &[], "not Python"),
            ("def q(v):\n    return v.x\n", &[], "no function `p`"),
            ("def p(v):\n    return np.mean(v.x)\n", &[], "no module `np`"),
            (
                "def p(v):\n    return sum(u.x for u in v.innbs) + unknown_name\n",
                &[],
                "unknown_name",
            ),
            (iterated, &["plan.set.tiems=4"], "no setting `tiems`"),
            (iterated, &["plan.set.times=many"], "`times` does not fit"),
            (iterated, &["run.mode=train"], "nothing to learn"),
            (iterated, &["run.dtype=bf16"], "`run.dtype: bf16`"),
            (learned, &["run.mode=iterate"], "parameters to learn"),
            (learned, &["run.mode=link"], "link prediction is not supported"),
        ];
        for (text, settings, words) in cases {
            let error = checked("p", text, settings).expect_err(text);
            assert!(error.to_string().contains(words), "{text} {settings:?}: {error}");
        }
    }
}
