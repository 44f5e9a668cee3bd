//! pipeline: the command line driver, binary `warploom`.
//!
//! reads     a pipeline file; the store
//! promises  runs the six stages in order in one process, with the same code as their own binaries;
//!           ends with a summary table
//! never     does a stage's work itself; runs a stage after one that failed
pub mod arguments;
pub mod artifacts;
pub mod batch;
pub mod command_lines;
pub mod completions;
pub mod data;
pub mod doctor;
pub mod explain;
pub mod export;
pub mod ignored_options;
pub mod manual;
pub mod new_project;
pub mod programs;
pub mod repeat_summary;
pub mod run_all;
pub mod runs;
pub mod stand_in;
pub mod store;
mod surroundings;

use std::process::ExitCode;

use clap::FromArgMatches;
use warploom_contract::{ErrorKind, StageError};
use warploom_shell::{
    Environment, Options,
    binary::{
        parse_command_line, print_data, print_text, read_pipelines, report_error, run_guarded,
        start_threads,
    },
    command_line,
    flags::Format,
    progress::Talk,
    stage_range::{RangeOptions, StageRange},
    tuning_file,
};

use arguments::{Arguments, Command};
use warploom_spec::Pipeline;

/// The main function of `warploom`.
pub fn front_door() -> ExitCode {
    run_guarded(|| {
        let arguments = parse_command_line(command_lines::front_door()).and_then(|matches| {
            let read = Arguments::from_arg_matches(&matches);
            read.map_err(|error| command_line::report_usage_error(&error, &[]))
        });
        match arguments {
            Ok(arguments) => dispatch(arguments),
            Err(code) => code,
        }
    })
}

fn dispatch(arguments: Arguments) -> ExitCode {
    let Arguments { command, options } = arguments;
    let talk = Talk::new(&options);
    let environment = Environment::new(&options);
    let started = start_threads(&environment, &talk)
        .and_then(|()| tuning_file::apply_file(options.tuning.as_deref()));
    if let Err(error) = started {
        return report_error(&talk, environment.format, &error);
    }
    if let Err(error) = command
        .unavailable_error()
        .map_or_else(|| ignored_options::refuse_ignored(&command, &options), Err)
    {
        return report_error(&talk, environment.format, &error);
    }
    let done = match command.clone() {
        Command::Pipeline { file, range } => {
            return run_on_range(&talk, &environment, &options, file, &range, run_all::run_all);
        }
        Command::Explain { file, range } => {
            match read_pipelines(&options, file.or_else(|| options.pipeline.clone())) {
                Ok(pipelines) => read_range(&environment, &range)
                    .and_then(|range| explain::explain(&environment, &talk, &pipelines, &range)),
                Err(refusal) => return refusal.finish(&talk, environment.format),
            }
        }
        Command::Check { .. } => return check(&talk, &environment, &options, command),
        Command::Export { key, dataset, output, form } => {
            let pipelines = match options
                .pipeline
                .clone()
                .map(|file| read_pipelines(&options, Some(file)))
                .transpose()
            {
                Ok(pipelines) => pipelines.unwrap_or_default(),
                Err(refusal) => return refusal.finish(&talk, environment.format),
            };
            let asked = export::ExportRequest {
                what: &key,
                dataset: dataset.as_deref(),
                output: &output,
                form,
                brief: options.quiet,
            };
            export::export(&environment, &talk, &pipelines, &asked)
        }
        Command::New { name, like } => new_project::write_project(&environment, &name, &like),
        Command::Runs { dataset, sort, format } => {
            let pipeline =
                options.pipeline.as_ref().map(|file| file.to_string_lossy().into_owned());
            runs::list(
                &environment,
                &runs::RunsRequest {
                    dataset: dataset.as_deref(),
                    pipeline: pipeline.as_deref(),
                    sort: sort.as_deref(),
                    format,
                },
            )
        }
        Command::Store { action } => store::run(&environment, &talk, &action),
        Command::Data { action } => data::run_action(&environment, &talk, &options, &action),
        Command::Doctor { measure: false } => doctor::run(&environment),
        Command::Doctor { measure: true } => doctor::measure(&environment),
        Command::Schema => {
            let text =
                serde_json::to_string_pretty(&warploom_spec::json_schema()).unwrap_or_default();
            print_data(&format!("{text}\n"));
            Ok(())
        }
        Command::Completions { shell, output } => {
            completions::print_or_write(shell, output.as_deref())
        }
        Command::Man { output } => manual::print_or_write(output.as_deref()),
        Command::Submit { .. }
        | Command::Task { .. }
        | Command::Pool { .. }
        | Command::Status { .. }
        | Command::Cancel { .. } => {
            return batch::dispatch(&environment, &options, &talk, &command);
        }
        Command::Report(_) | Command::Compare(_) | Command::Tune(_) => Ok(()),
    };
    finish(&talk, &environment, done)
}

fn finish(talk: &Talk, environment: &Environment, done: Result<(), StageError>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report_error(talk, environment.format, &environment.store.explain_later(error))
        }
    }
}

/// The stages that the options of a command name.
fn read_range(environment: &Environment, range: &RangeOptions) -> Result<StageRange, StageError> {
    StageRange::read(environment, range, store::find_artifacts)
}

/// `warploom check`, of a program or of the stages of a pipeline file.
fn check(talk: &Talk, environment: &Environment, options: &Options, command: Command) -> ExitCode {
    let Command::Check { file, dataset, show, range } = command else { return ExitCode::SUCCESS };
    let done = match (&file, &dataset, &show) {
        (Some(path), ..) if programs::is_program(path) => {
            let (dataset, show) = (dataset.as_deref(), show.as_deref());
            let request = programs::CheckRequest { path, dataset, show };
            refuse_range_of_program(&range)
                .and_then(|()| programs::check(environment, talk, options, &request))
        }
        (_, Some(_), _) => {
            Err(usage_error("`--dataset` is for programs", "warploom check FILE.py --dataset NAME"))
        }
        (_, _, Some(_)) => {
            Err(usage_error("`--show` is for programs", "warploom check FILE.py --show gir"))
        }
        _ => return run_on_range(talk, environment, options, file, &range, run_all::check_all),
    };
    finish(talk, environment, done)
}

/// Refuses stages where a program is checked: it has none.
fn refuse_range_of_program(range: &RangeOptions) -> Result<(), StageError> {
    range.named().next().map_or(Ok(()), |option| {
        let what = format!("`{option}` is for pipeline files, and a program has no stages");
        Err(usage_error(what, format!("warploom check FILE.yaml {option} STAGE")))
    })
}

/// Works on a range of stages of the pipelines of a file.
fn run_on_range(
    talk: &Talk,
    environment: &Environment,
    options: &Options,
    file: Option<std::path::PathBuf>,
    range: &RangeOptions,
    work: fn(&Environment, &Talk, &[Pipeline], &StageRange) -> Result<(), StageError>,
) -> ExitCode {
    let range = match read_range(environment, range) {
        Ok(range) => range,
        Err(error) => return finish(talk, environment, Err(error)),
    };
    let pipelines = match read_pipelines(options, file.or_else(|| options.pipeline.clone())) {
        Ok(pipelines) => pipelines,
        Err(refusal) => return refusal.finish(talk, environment.format),
    };
    match work(environment, talk, &pipelines, &range) {
        Ok(()) => ExitCode::SUCCESS,
        // Failed stages have written their JSON line already.
        Err(error) => {
            talk.error(&environment.store.explain_later(error.clone()));
            ExitCode::from(error.kind.exit_code())
        }
    }
}

/// Prints text, or one JSON object for each line.
pub(crate) fn print_as(
    environment: &Environment,
    text: impl FnOnce() -> String,
    lines: impl FnOnce() -> Vec<serde_json::Value>,
) {
    match environment.format {
        Format::Human => print_text(&text()),
        _ => lines().iter().for_each(|line| print_data(&format!("{line}\n"))),
    }
}

/// An error of usage.
pub(crate) fn usage_error(what: impl Into<String>, hint: impl Into<String>) -> StageError {
    StageError::new(ErrorKind::Usage, what).hint(hint)
}
