//! binary: the main function of a stage's binary.
//!
//! promises  without a subcommand it builds the stage or finds its output in the store; every exit
//!           code follows from the kind of an error
//! never     shows a bare panic: it is reported as a defect, with exit code 255
use std::{io::Write, panic, path::PathBuf, process::ExitCode};

use clap::{
    Arg, ArgAction, Args, Command, FromArgMatches, Subcommand, builder::PossibleValuesParser,
};
use warploom_contract::{
    ErrorKind, Inputs, Stage, StageError, caught_panics, error::escape_controls, progress::Progress,
};
use warploom_spec::{Pipeline, settings_help};

use crate::{
    Chain, Environment, Options, StageName, allocation, command_line,
    data_needs::DataNeeds,
    execute, explain,
    flags::Format,
    outcome::{self, Outcome, error_json},
    preflight,
    progress::Talk,
    requests::Request,
    shipped_pipelines, signals, terminal, tuning_file,
};

#[derive(Subcommand, Clone, Copy, Debug)]
enum Action {
    /// Verify an existing output with an independent method
    Check,
    /// Print hit or miss, and which part of the key differs from the nearest artifact
    Explain,
    /// Print the key document
    Key,
}

#[derive(Args, Debug)]
struct StageArguments {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    options: Options,
}

/// The command line of a stage's binary.
pub fn stage_command<S: Stage>(about: &'static str) -> Command {
    let name = format!("warploom-{}", S::CONTRACT.name);
    let command = Command::new(name)
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_negates_reqs(true)
        .disable_help_subcommand(true);
    // `about` last: the options set one of their own.
    let command = StageArguments::augment_args(command).about(about);
    shorten_help(command.after_help(settings_help(S::CONTRACT.name)))
}

/// Forms that a stage can print instead of its work, with `--show FORM`.
pub struct PrintedForms<R> {
    /// Their names.
    pub forms: &'static [&'static str],
    /// The help of the option.
    pub help: &'static str,
    /// Gives the text of a form.
    pub text: fn(&Inputs, &R, &str) -> Result<String, StageError>,
}

impl<R> PrintedForms<R> {
    /// The option `--show FORM`.
    pub fn argument(&self) -> Arg {
        Arg::new("show")
            .long("show")
            .value_name("FORM")
            .help(self.help)
            .value_parser(PossibleValuesParser::new(self.forms))
    }
}

/// Runs a stage's binary.
pub fn stage_main<S>(about: &'static str) -> ExitCode
where
    S: Stage,
    S::Request: Request,
{
    run_guarded(|| match parse_command_line(stage_command::<S>(about)) {
        Ok(matches) => run_with_arguments::<S>(&matches, None),
        Err(code) => code,
    })
}

/// Runs the binary of a stage that has `--show FORM`.
pub fn stage_main_with_forms<S>(about: &'static str, show: &PrintedForms<S::Request>) -> ExitCode
where
    S: Stage,
    S::Request: Request,
{
    run_guarded(|| {
        let command = stage_command::<S>(about).arg(show.argument());
        let matches = match parse_command_line(command) {
            Ok(matches) => matches,
            Err(code) => return code,
        };
        let form = matches.get_one::<String>("show").cloned();
        run_with_arguments::<S>(&matches, form.as_deref().map(|form| (show, form)))
    })
}

/// The last line of a help text without common options.
const MORE_OPTIONS: &str = "The options of all Warploom programs are listed by --help.";

/// Makes the help of a command print one line for each option.
pub fn shorten_help(command: Command) -> Command {
    let help = Arg::new("help")
        .short('h')
        .long("help")
        .action(ArgAction::HelpShort)
        .global(true)
        .help("Print help (-h: without common options)");
    command.disable_help_flag(true).arg(help)
}

/// Hides the common options in the help of a command.
fn hide_common_options(command: Command) -> Command {
    let own = command.mut_args(|arg| {
        if arg.is_global_set() && arg.get_id() != "help" { arg.hide(true) } else { arg }
    });
    own.mut_subcommands(hide_common_options).after_help(MORE_OPTIONS)
}

/// Parses the command line of this process; else gives the exit code of a usage error.
pub fn parse_command_line(command: Command) -> Result<clap::ArgMatches, ExitCode> {
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let command =
        if words.iter().any(|word| word == "-h") { hide_common_options(command) } else { command };
    command.try_get_matches().map_err(|error| command_line::report_usage_error(&error, &words))
}

fn run_with_arguments<S>(
    matches: &clap::ArgMatches,
    show: Option<(&PrintedForms<S::Request>, &str)>,
) -> ExitCode
where
    S: Stage,
    S::Request: Request,
{
    match StageArguments::from_arg_matches(matches) {
        Ok(arguments) => run_stage::<S>(&arguments, show),
        Err(error) => report_error(
            &Talk::new(&Options::default()),
            Format::Human,
            &StageError::new(ErrorKind::Usage, error.to_string()),
        ),
    }
}

fn run_stage<S>(
    arguments: &StageArguments,
    show: Option<(&PrintedForms<S::Request>, &str)>,
) -> ExitCode
where
    S: Stage,
    S::Request: Request,
{
    let talk = Talk::new(&arguments.options);
    let mut environment = Environment::new(&arguments.options);
    environment.network = arguments.action.is_none() && show.is_none();
    let started = start_threads(&environment, &talk)
        .and_then(|()| tuning_file::apply_file(arguments.options.tuning.as_deref()));
    if let Err(error) = started {
        return report_error(&talk, environment.format, &error);
    }
    let pipelines = match read_pipelines(&arguments.options, arguments.options.pipeline.clone()) {
        Ok(pipelines) => pipelines,
        Err(refusal) => return refusal.finish(&talk, environment.format),
    };
    let builds = arguments.action.is_none() && show.is_none();
    if builds
        && let Err(found) =
            preflight::check_pipelines(&environment, &pipelines, S::Request::STAGE.stages_from())
    {
        if environment.format == Format::Json {
            print_data(&format!("{}\n", found.outcome().to_json()));
        }
        return report_error_as(false, &talk, environment.format, &found.error);
    }
    if builds && S::Request::STAGE == StageName::Partition {
        preflight::report_unread_schemes(&talk, &pipelines);
    }
    let mut code = ExitCode::SUCCESS;
    for pipeline in &pipelines {
        let mut chain = Chain::new(&environment, pipeline);
        if let Err(error) = chain.look_up_before(S::Request::STAGE) {
            return report_error(&talk, environment.format, &error);
        }
        let done = match arguments.action {
            None if let Some((show, form)) = show => chain
                .resolve_step::<S::Request>()
                .and_then(|step| (show.text)(&step.inputs, &step.request, form))
                .map(|text| print_data(&text)),
            None => build_stage::<S>(&mut chain, &talk),
            Some(Action::Check) => check_stage::<S>(&mut chain, &talk),
            Some(Action::Explain) => {
                explain::explain_stage(&mut chain, S::Request::STAGE).map(|explanation| {
                    print_data(&if environment.format == Format::Json {
                        format!("{}\n", explanation.to_json())
                    } else {
                        explanation.to_text(talk.is_verbose())
                    });
                })
            }
            Some(Action::Key) => chain
                .key_document(S::Request::STAGE)
                .map(|document| print_data(&key_text(&document, environment.format))),
        };
        if let Err(error) = done {
            code = report_error_as(arguments.action.is_some(), &talk, environment.format, &error);
            break;
        }
    }
    code
}

fn report_error_as(print_json: bool, talk: &Talk, format: Format, error: &StageError) -> ExitCode {
    if print_json {
        return report_error(talk, format, error);
    }
    talk.error(error);
    ExitCode::from(error.kind.exit_code())
}

fn build_stage<S>(chain: &mut Chain<'_>, talk: &Talk) -> Result<(), StageError>
where
    S: Stage,
    S::Request: Request,
{
    let outcome = execute::execute::<S>(chain, talk);
    print_outcomes(chain, std::slice::from_ref(&outcome));
    outcome.error.map_or(Ok(()), Err)
}

fn check_stage<S>(chain: &mut Chain<'_>, talk: &Talk) -> Result<(), StageError>
where
    S: Stage,
    S::Request: Request,
{
    let artifacts = execute::check_output::<S>(chain, talk).map_err(|violation| violation.0)?;
    let keys: Vec<String> = artifacts
        .iter()
        .map(|artifact| format!("{} {}", artifact.kind.name(), artifact.manifest.key))
        .collect();
    match chain.environment.format {
        Format::Human => print_text(&format!(
            "{}: the output is verified ({})\n",
            S::CONTRACT.name,
            keys.join(", ")
        )),
        _ => print_data(&format!(
            "{}\n",
            serde_json::json!({"stage": S::CONTRACT.name, "status": "proved", "key": artifacts[0].manifest.key})
        )),
    }
    Ok(())
}

fn print_outcomes(chain: &Chain<'_>, outcomes: &[Outcome]) {
    match chain.environment.format {
        Format::Human => {
            let Chain { environment, pipeline, .. } = chain;
            let title = format!("{} on {}", pipeline.name, pipeline.dataset);
            print_text(&outcome::summary_table(
                &title,
                outcomes,
                DataNeeds::from_pipeline(pipeline),
                &pipeline.run,
                environment.threads,
            ))
        }
        _ => outcomes.iter().for_each(|outcome| print_data(&format!("{}\n", outcome.to_json()))),
    }
}

/// The key document as text.
pub fn key_text(document: &warploom_contract::KeyDocument, format: Format) -> String {
    match format {
        Format::Human => {
            let pretty =
                serde_json::to_string_pretty(document).unwrap_or_else(|_| document.canonical());
            format!("key {}\n{pretty}\n", document.key())
        }
        _ => format!("{}\n", document.canonical()),
    }
}

/// A pipeline file that was refused: several mistakes at once.
#[derive(Debug)]
pub struct Refusal {
    /// What is printed on stderr.
    pub text: String,
    /// The first mistake, as an error.
    pub error: StageError,
}

impl Refusal {
    /// Prints it and gives the exit code.
    pub fn finish(&self, talk: &Talk, format: Format) -> ExitCode {
        talk.error_text(&self.text);
        if format == Format::Json {
            print_data(&format!(
                "{}\n",
                serde_json::json!({"status": "failed", "error": error_json(&self.error)})
            ));
        }
        ExitCode::from(self.error.kind.exit_code())
    }
}

/// Reads the pipeline file of the options.
pub fn read_pipelines(
    options: &Options,
    file: Option<PathBuf>,
) -> Result<Vec<Pipeline>, Box<Refusal>> {
    let refuse = |error: StageError| Err(Box::new(Refusal { text: error.to_string(), error }));
    let Some(file) = file else {
        return refuse(
            StageError::new(ErrorKind::Usage, "no pipeline file was given")
                .hint("name one:  --pipeline gcn  for a shipped one, or  --pipeline FILE.yaml"),
        );
    };
    let file = match shipped_pipelines::resolve_name(file) {
        Ok(file) => file,
        Err(error) => return refuse(error),
    };
    if file.extension().is_some_and(|extension| extension == "py") {
        let (shown, stem) = (
            warploom_spec::shell_word(&file.display().to_string()),
            file.file_stem().unwrap_or_default().to_string_lossy(),
        );
        let what = "this is a program, and a pipeline file (YAML) was expected, which names one";
        let hint = format!(
            "check it alone:  warploom check {shown}  or give it a pipeline file {stem}.yaml with \
             the lines  dataset: cora  and  plan: {{program: {shown}}}"
        );
        return refuse(StageError::new(ErrorKind::Usage, what).at(file.display()).hint(hint));
    }
    warploom_spec::read(&file, &options.set).map_err(|mistakes| {
        let mut error = StageError::new(ErrorKind::Specification, mistakes.to_string());
        if let Some(first) = mistakes.shown.first() {
            error.what = first.what.clone();
            error.place = Some(first.place());
            error.hint = first.hint.clone();
        }
        Box::new(Refusal { text: mistakes.to_string(), error })
    })
}

/// Starts the threads of the pool, once, before any work. Where the system starts fewer than asked
/// for, half of them do the work, which leaves room for the threads of readers and writers.
pub fn start_threads(environment: &Environment, talk: &Talk) -> Result<(), StageError> {
    // A pool that fails to start cannot be started again: its threads are started first.
    let mut waiting = Vec::new();
    let mut refused = None;
    while waiting.len() < environment.threads && refused.is_none() {
        let (give, work) = std::sync::mpsc::channel::<rayon::ThreadBuilder>();
        let thread = std::thread::Builder::new().name(format!("worker-{}", waiting.len()));
        match thread.spawn(move || work.into_iter().for_each(rayon::ThreadBuilder::run)) {
            Ok(_) => waiting.push(give),
            Err(error) => refused = Some(error),
        }
    }
    if let Some(error) = refused {
        let lack = signals::thread_error("work", &error);
        waiting.truncate(waiting.len() / 2);
        if waiting.is_empty() {
            return Err(lack);
        }
        talk.warn(&format!(
            "{}: going on with {} of {} threads",
            lack.what,
            waiting.len(),
            environment.threads
        ));
    }
    let count = waiting.len();
    let give = |thread| {
        waiting
            .pop()
            .and_then(|give| give.send(thread).ok())
            .ok_or_else(|| std::io::Error::other("a thread of the pool is gone"))
    };
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(count).spawn_handler(give).build_global();
    pool.map_err(|error| StageError::defect(format!("the pool of threads cannot be made: {error}")))
}

/// Prints an error, with `--format json` also on stdout, and gives its exit code.
pub fn report_error(talk: &Talk, format: Format, error: &StageError) -> ExitCode {
    talk.error(error);
    if format == Format::Json {
        print_data(&format!(
            "{}\n",
            serde_json::json!({"status": "failed", "error": error_json(error)})
        ));
    }
    ExitCode::from(error.kind.exit_code())
}

/// Writes text for a person to stdout, wrapped to the width of a terminal.
pub fn print_text(text: &str) {
    match terminal::stdout_columns() {
        Some(columns) => print_data(&terminal::wrap_text(text, columns)),
        None => print_data(text),
    }
}

/// Writes text for a person to stderr.
pub fn print_stderr(text: &str) {
    // If it is closed, there is nowhere left to report it.
    let _closed = std::io::stderr().lock().write_all(escape_controls(text).as_bytes());
}

/// Writes to stdout; a closed pipe is no error. Control characters in names are escaped as in JSON.
pub fn print_data(text: &str) {
    let text = escape_controls(text);
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            // Data that did not arrive must not look like success.
            let error = StageError::io("write to stdout", std::path::Path::new("stdout"), &error)
                .hint("redirect stdout to a place that has room");
            let _closed = writeln!(std::io::stderr().lock(), "{error}");
            std::process::exit(i32::from(error.kind.exit_code()));
        }
        _ => {}
    }
}

/// Runs a main function: starts the signal listener first, and reports a panic as a defect.
pub fn run_guarded(main: impl FnOnce() -> ExitCode) -> ExitCode {
    if let Err(error) = signals::start_listener() {
        let _closed = writeln!(std::io::stderr().lock(), "{error}");
        return ExitCode::from(error.kind.exit_code());
    }
    panic::set_hook(Box::new(|info| {
        allocation::exit_if_no_signal_stack(info);
        // Readers of foreign files catch panics of their decoders. A panic of a stage is reported
        // once it is known whether an input is damaged.
        if !warploom_formats::readers::tables::is_guarded() && !caught_panics::record_panic(info) {
            let _closed =
                writeln!(std::io::stderr().lock(), "{}", StageError::defect(info.to_string()));
        }
    }));
    let code = caught_panics::catch(main).unwrap_or_else(|said| {
        let error = caught_panics::panic_error(said);
        let _closed = writeln!(std::io::stderr().lock(), "{error}");
        ExitCode::from(error.kind.exit_code())
    });
    signals::wait_if_exiting();
    code
}
