//! submit: `warploom submit`: the stages of a pipeline file as job arrays of a scheduler, or as a
//! pool of processes.
//!
//! promises  everything that `warploom pipeline` refuses before the first stage is refused here;
//!           what is in the store is left out; arrays that cannot all be submitted are withdrawn
//! never     lets a site decide what is computed
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use serde_json::json;
use warploom_batch::{
    array::{self, JobArray},
    command::{self, Values},
    event::{self, Event, EventKind},
    expansion::{self, DeviceKnown},
    job::Job,
    script,
    site::{Resources, Site},
    submission::{ArrayFacts, Draft, Opened, Submission},
    workflow::Workflow,
};
use warploom_contract::{Digest, ErrorKind, StageError, progress::Progress};
use warploom_shell::{
    Environment, Options, StageName,
    binary::print_data,
    flags::Real,
    machine_limits::{count_with_unit, show_size},
    preflight,
    progress::Talk,
    stage_range::StageRange,
};
use warploom_spec::Pipeline;

use super::{absolute, follow};
use crate::arguments;

/// What is asked for, as the command line says.
#[derive(Clone, Debug)]
pub struct SubmitRequest<'a> {
    /// The pipeline file.
    pub file: &'a Path,
    /// Its text.
    pub text: String,
    /// Its pipelines.
    pub pipelines: &'a [Pipeline],
    /// The stages that are submitted.
    pub range: &'a StageRange,
    /// The site.
    pub site: &'a str,
    /// Fields of the site.
    pub with: &'a [String],
    /// Whether nothing is submitted.
    pub dry_run: bool,
    /// The workflow system whose file is written, in place of submitting.
    pub workflow: Option<Workflow>,
    /// Whether the command follows the jobs to their end.
    pub wait: bool,
}

/// A submission that is prepared.
pub(super) struct Prepared<'a> {
    pub(super) request: &'a SubmitRequest<'a>,
    pub(super) site: Site,
    pub(super) jobs: Vec<Job>,
    pub(super) arrays: Vec<JobArray>,
    pub(super) resources: Vec<Resources>,
}

/// Submits the pipelines of a file, as the command line says.
pub fn run_command(
    environment: &Environment,
    options: &Options,
    talk: &Talk,
    pipelines: &[Pipeline],
    command: &arguments::Command,
) -> Result<(), StageError> {
    let arguments::Command::Submit { range, site, with, dry_run, workflow, wait, .. } = command
    else {
        return Ok(());
    };
    let Some(first) = pipelines.first() else { return Ok(()) };
    if first.file.as_os_str() == "-" {
        return Err(crate::usage_error(
            "tasks read the pipeline from a file, not from standard input",
            "write it to a file, and name that",
        ));
    }
    refuse_options(options)?;
    let range = crate::read_range(environment, range)?;
    let text = std::fs::read_to_string(&first.file)
        .map_err(|error| StageError::io("read", &first.file, &error))?;
    let request = SubmitRequest {
        file: &first.file,
        text,
        pipelines,
        range: &range,
        site,
        with,
        dry_run: *dry_run,
        workflow: workflow.map(|system| match system {
            arguments::WorkflowSystem::Snakemake => Workflow::Snakemake,
            arguments::WorkflowSystem::Nextflow => Workflow::Nextflow,
        }),
        wait: *wait,
    };
    run(environment, options, talk, &request)
}

/// Submits the stages of pipelines.
fn run(
    environment: &Environment,
    options: &Options,
    talk: &Talk,
    request: &SubmitRequest<'_>,
) -> Result<(), StageError> {
    let site = Site::find(request.site, request.with)?;
    let environment = batch_environment(environment, options, &site);
    let device = known_device(&environment, &site, request)?;
    let prepared = prepare(&environment, site, request, device)?;
    let id = submission_id(&prepared)?;
    crate::print_as(&environment, || prepared.text(&id), || prepared.lines(&id));
    warn_full_disk(&environment, talk, &prepared);
    if prepared.arrays.is_empty() {
        return Ok(());
    }
    if request.dry_run {
        let submission = prepared.submission(&environment, options, id, BTreeMap::new())?;
        let folder = absolute(environment.store.root()).join("submissions").join(&submission.id);
        for (array, resources) in prepared.arrays.iter().zip(&prepared.resources) {
            let text = script::text(&prepared.site, &submission, &folder, array, *resources)?;
            if environment.format == warploom_shell::flags::Format::Human {
                print_data(&format!("\n--- {}\n{text}", script::file_name(array)));
            }
        }
        return Ok(());
    }
    if request.workflow.is_none() {
        refuse_odd_path(&prepared.site, &absolute(environment.store.root()))?;
    }
    let opened = prepared.write(&environment, options, id)?;
    if let Some(workflow) = request.workflow {
        return write_workflow(&environment, &opened, &prepared.jobs, workflow);
    }
    if prepared.site.is_local() {
        let at_once = at_once(&environment, &prepared);
        return follow::run_pool(&environment, talk, &opened, at_once, request.wait);
    }
    prepared.submit(&opened)?;
    let place = environment.store_option();
    talk.say(&format!("follow it with  warploom status {}{place}", opened.submission.id));
    if request.wait { follow::follow(&environment, talk, &opened) } else { Ok(()) }
}

/// Refuses options that tasks would not follow.
fn refuse_options(options: &Options) -> Result<(), StageError> {
    let given = [
        (
            options.force,
            "--force",
            "tasks build what is missing: remove artifacts by  warploom store rm KEY",
        ),
        (
            options.threads.is_some(),
            "--threads",
            "the site says how many cores a task has:  --with run.cpus=8",
        ),
        (
            options.memory.is_some(),
            "--memory",
            "the site says how much a task has:  --with run.memory=16GiB",
        ),
        (options.no_verify, "--no-verify", "tasks check what they read: leave it out"),
    ];
    match given.into_iter().find(|(is_given, ..)| *is_given) {
        Some((_, option, hint)) => {
            Err(crate::usage_error(format!("`warploom submit` does not take `{option}`"), hint))
        }
        None => Ok(()),
    }
}

/// Refuses a store whose path cannot stand in the lines of a script's head.
fn refuse_odd_path(site: &Site, store: &Path) -> Result<(), StageError> {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./+=:,@~".contains(c);
    match store.to_string_lossy().chars().find(|&c| !is_plain(c)) {
        Some(odd) if !site.is_local() => {
            let what = format!("schedulers do not take the character {odd:?} in the path of a log");
            Err(StageError::new(ErrorKind::Input, what)
                .at(store.display())
                .hint("choose a store with a plain path:  --store DIR"))
        }
        _ => Ok(()),
    }
}

/// Writes the file of a workflow system beside the scripts, and says how it is run.
fn write_workflow(
    environment: &Environment,
    opened: &Opened,
    jobs: &[Job],
    workflow: Workflow,
) -> Result<(), StageError> {
    let path = opened.folder.join(workflow.file_name());
    std::fs::write(&path, workflow.text(opened, jobs))
        .map_err(|error| StageError::io("write", &path, &error))?;
    let command = workflow.command(opened);
    crate::print_as(
        environment,
        || format!("run it:  {command}\n"),
        || vec![json!({"workflow": path, "command": command})],
    );
    Ok(())
}

/// The environment of tasks: under a scheduler a stand-in is refused unless it is allowed.
fn batch_environment(environment: &Environment, options: &Options, site: &Site) -> Environment {
    let real = options.real.unwrap_or(if site.is_local() { environment.real } else { Real::Yes });
    Environment { real, ..environment.clone() }
}

/// Whether tasks find the devices that are found here. A GPU that only the nodes of `run` have
/// decides the keys from `reorder` on.
fn known_device(
    environment: &Environment,
    site: &Site,
    request: &SubmitRequest<'_>,
) -> Result<DeviceKnown, StageError> {
    let names: BTreeSet<&str> =
        request.pipelines.iter().map(|pipeline| environment.device_name(pipeline)).collect();
    let is_of_node = |name: &&str| *name == warploom_device::AUTO || name.starts_with("cuda");
    let has_device = |stage: &StageName| *stage >= FIRST_OF_DEVICE;
    if site.is_local() || !request.range.stages().iter().any(has_device) {
        return Ok(DeviceKnown::Here);
    }
    if site.spec.run.gpus == 0 {
        return match names.iter().find(|name| name.starts_with("cuda")) {
            None => Ok(DeviceKnown::Here),
            Some(name) => {
                let what =
                    format!("the device is `{name}`, and the site gives the jobs of `run` no GPU");
                Err(StageError::new(ErrorKind::Specification, what)
                    .at(format!("run.gpus of the site `{}`", site.name))
                    .hint("--with run.gpus=1  or  --device cpu"))
            }
        };
    }
    match names.iter().find(|name| is_of_node(name)) {
        None => Ok(DeviceKnown::Here),
        Some(name) => refuse_unknown_before(request.range, name).map(|()| DeviceKnown::OnNodes),
    }
}

/// The first stage whose key a device decides.
const FIRST_OF_DEVICE: StageName = StageName::Reorder;

/// Refuses a range whose earlier stages have keys that only the nodes know.
fn refuse_unknown_before(range: &StageRange, device: &str) -> Result<(), StageError> {
    let first = range.first();
    if range.given_key().is_some() || first <= FIRST_OF_DEVICE {
        return Ok(());
    }
    let what = format!(
        "`--from {first}` needs the stages before it in the store, and the device of the nodes, \
         `{device}`, decides their keys from `{FIRST_OF_DEVICE}` on"
    );
    Err(crate::usage_error(
        what,
        format!(
            "name the artifact, `--from KEY`; or the model of the device with `--device`; or \
             submit from `{FIRST_OF_DEVICE}` on, where tasks find what is there"
        ),
    ))
}

/// Checks the pipelines and divides their jobs into arrays.
fn prepare<'a>(
    environment: &Environment,
    site: Site,
    request: &'a SubmitRequest<'a>,
    device: DeviceKnown,
) -> Result<Prepared<'a>, StageError> {
    let mut checked = environment.clone();
    checked.network = false;
    if device == DeviceKnown::OnNodes {
        checked.device = Some("cpu".to_owned());
    }
    preflight::check_pipelines(&checked, request.pipelines, request.range.stages())
        .map_err(|found| found.error)?;
    let is_written_only = request.dry_run || request.workflow.is_some();
    if site.is_local() && request.range.includes(StageName::Run) {
        preflight::check_gpus(&checked, request.pipelines).map_err(|found| found.error)?;
    }
    let mut jobs = expansion::expand(environment, request.pipelines, request.range, device)?;
    let first_of_run = match device {
        DeviceKnown::Here => StageName::Run,
        DeviceKnown::OnNodes => FIRST_OF_DEVICE,
    };
    let arrays = array::divide(&mut jobs, first_of_run, array_size(&site, is_written_only)?);
    let resources = arrays
        .iter()
        .map(|array| site.array_resources(array, &jobs))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Prepared { request, site, jobs, arrays, resources })
}

/// Tasks of an array where neither site nor scheduler says.
const ARRAY_SIZE: u32 = 1000;

/// Most tasks of an array.
fn array_size(site: &Site, dry_run: bool) -> Result<u32, StageError> {
    if let Some(size) = site.spec.array_size {
        return Ok(u32::try_from(size).unwrap_or(u32::MAX));
    }
    let Some(scheduler) = &site.scheduler else { return Ok(u32::MAX) };
    let Some(name) = scheduler.array_size.as_ref().filter(|_| !scheduler.settings.is_empty())
    else {
        return Ok(ARRAY_SIZE);
    };
    let said = match command::run(&scheduler.settings) {
        Err(_) if dry_run => return Ok(ARRAY_SIZE),
        said => said?,
    };
    let value = said.lines().find_map(|line| {
        let (found, value) = line.split_once('=')?;
        (found.trim() == name).then(|| value.trim().parse::<u32>().ok())?
    });
    // The setting is the number beyond the last task.
    let beyond_last = |size: u32| size.saturating_sub(scheduler.first_task as u32).max(1);
    Ok(value.map_or(ARRAY_SIZE, beyond_last))
}

/// A name for the submission: pipeline, time, and digits that tell two of one second apart.
fn submission_id(prepared: &Prepared<'_>) -> Result<String, StageError> {
    let name = plain_name(&prepared.request.pipelines[0].name);
    let now = chrono::Local::now();
    let unique = format!("{now:?} {} {}", std::process::id(), prepared.jobs.len());
    let digits = Digest::from_bytes(unique.as_bytes());
    Ok(format!("{name}-{}-{}", now.format("%Y%m%d-%H%M%S"), &digits.as_str()[..4]))
}

/// A name that schedulers and file systems take.
fn plain_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let short: String = name.chars().map(plain).take(40).collect();
    if short.is_empty() { "pipeline".to_owned() } else { short }
}

/// Warns if the sweep will take more than the store's file system has.
fn warn_full_disk(environment: &Environment, talk: &Talk, prepared: &Prepared<'_>) {
    let needed = prepared.store_bytes();
    let root = absolute(environment.store.root());
    let there = root.ancestors().find(|folder| folder.is_dir());
    let Some(free) = there.and_then(|folder| rustix::fs::statvfs(folder).ok()) else { return };
    let free = free.f_bavail.saturating_mul(free.f_frsize);
    if needed > free {
        talk.warn(&format!(
            "the outputs will take about {}, and {} has {} left: make room, for example with  \
             warploom store gc --keep 50GiB",
            show_size(needed),
            root.display(),
            show_size(free)
        ));
    }
}

/// How many tasks of a pool run at once: as many as cores and memory allow.
fn at_once(environment: &Environment, prepared: &Prepared<'_>) -> u32 {
    let site = &prepared.site;
    let cpus = site.spec.prepare.cpus.max(site.spec.run.cpus).max(1);
    let by_cores = (environment.threads as u64 / cpus).max(1);
    // Where nothing is known of a job, cores alone decide.
    let is_known = |array: &&JobArray| {
        prepared.jobs.iter().all(|job| job.array != array.number || job.bytes > 0)
    };
    let of_known = prepared.arrays.iter().zip(&prepared.resources);
    let largest = of_known.filter(|(array, _)| is_known(array)).map(|(_, of)| of.bytes).max();
    let by_memory = largest.map_or(by_cores, |bytes| (environment.memory / bytes.max(1)).max(1));
    let asked = [&site.spec.prepare, &site.spec.run].into_iter().filter_map(|group| group.at_once);
    let most = asked.min().unwrap_or(by_cores.min(by_memory));
    u32::try_from(most).unwrap_or(u32::MAX)
}

impl Prepared<'_> {
    /// The file of what is asked for.
    fn submission(
        &self,
        environment: &Environment,
        options: &Options,
        id: String,
        programs: BTreeMap<PathBuf, String>,
    ) -> Result<Submission, StageError> {
        let program = std::env::current_exe()
            .map_err(|error| StageError::io("find", Path::new("warploom"), &error))?;
        let variables = ["WARPLOOM_CATALOG"];
        let variable = |name: &str| Some((name.to_owned(), std::env::var(name).ok()?));
        let arrays = self.arrays.iter().zip(&self.resources).map(|(array, resources)| ArrayFacts {
            number: array.number,
            stages: array.stages.iter().map(|stage| stage.name().to_owned()).collect(),
            group: array.group.name().to_owned(),
            tasks: array.tasks,
            after: array.after.clone(),
            cpus: self.site.group(array.group).cpus,
            bytes: resources.bytes,
            seconds: resources.seconds,
        });
        let range = self.request.range.to_options();
        Ok(Submission {
            created: Event::now(EventKind::Submitted).time,
            id,
            program: program.to_string_lossy().into_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            name: plain_name(&self.request.pipelines[0].name),
            file: absolute(self.request.file),
            started_in: absolute(Path::new(".")),
            pipelines: self.request.pipelines.len() as u32,
            set: options.set.clone(),
            device: options.device.clone(),
            stores: super::stores(environment),
            from: range.from,
            until: range.until,
            data: environment.data.iter().map(|folder| absolute(folder)).collect(),
            real: match environment.real {
                Real::Yes => "yes",
                Real::Strict => "strict",
                Real::No => "no",
            }
            .to_owned(),
            site: self.site.name.clone(),
            scheduler: self.site.spec.scheduler.clone(),
            workflow: self.request.workflow.map(|system| system.file_name().to_owned()),
            environment: variables.into_iter().filter_map(variable).collect(),
            programs,
            arrays: arrays.collect(),
        })
    }

    /// Writes the folder of the submission.
    fn write(
        &self,
        environment: &Environment,
        options: &Options,
        id: String,
    ) -> Result<Opened, StageError> {
        // A workflow system runs the scripts itself.
        let mut site = self.site.clone();
        if self.request.workflow.is_some() {
            site.scheduler = None;
        }
        let draft = Draft::begin(&absolute(environment.store.root()), &id)?;
        let programs = draft.write_sources(
            &self.request.text,
            self.request.pipelines,
            &self.site.scheduler_text,
        )?;
        let submission = self.submission(environment, options, id, programs)?;
        for (array, resources) in self.arrays.iter().zip(&self.resources) {
            let text = script::text(&site, &submission, draft.folder(), array, *resources)?;
            draft.write(&script::file_name(array), text.as_bytes())?;
        }
        draft.finish(submission, &self.jobs)
    }

    /// Submits the arrays in order; withdraws them if one cannot be submitted.
    fn submit(&self, opened: &Opened) -> Result<(), StageError> {
        let Some(scheduler) = &self.site.scheduler else { return Ok(()) };
        let mut names: BTreeMap<u32, String> = BTreeMap::new();
        for array in &self.arrays {
            let before: Vec<&str> = array
                .after
                .iter()
                .filter_map(|number| names.get(number))
                .map(String::as_str)
                .collect();
            let jobs = (!before.is_empty()).then(|| before.join(&scheduler.separator));
            let of_jobs: Values = [("jobs", jobs)].into();
            let script = opened.script(array.number).to_string_lossy().into_owned();
            let values: Values = [
                ("dependency", command::fill(&scheduler.dependency, &of_jobs)?),
                ("script", Some(script)),
            ]
            .into();
            let submitted = command::fill_words(&scheduler.submit, &values)
                .and_then(|words| command::run(&words))
                .and_then(|said| job_name(&said))
                .and_then(|name| {
                    let taken = Event {
                        array: Some(array.number),
                        job: Some(name.clone()),
                        ..Event::now(EventKind::Submitted)
                    };
                    event::append_of_submission(&opened.events(), &taken).map(|()| name)
                });
            match submitted {
                Ok(name) => names.insert(array.number, name),
                Err(error) => return Err(self.withdraw(opened, &names, error)),
            };
        }
        Ok(())
    }

    /// Cancels the arrays that were submitted before one was refused.
    fn withdraw(
        &self,
        opened: &Opened,
        names: &BTreeMap<u32, String>,
        error: StageError,
    ) -> StageError {
        // Its status says so; a disk that is full by now costs only that.
        let _unimportant =
            event::append_of_submission(&opened.events(), &Event::now(EventKind::Cancelled));
        let cancelled = super::cancel::cancel_arrays(opened, names);
        let told = match (names.is_empty(), cancelled) {
            (true, _) => "nothing was submitted".to_owned(),
            (false, Ok(())) => format!(
                "{} submitted before it, and cancelled",
                count_with_unit(names.len() as u64, "array")
            ),
            (false, Err(again)) => format!(
                "{} submitted before it; cancelling failed too: {}",
                count_with_unit(names.len() as u64, "array"),
                again.what
            ),
        };
        StageError { what: format!("{} ({told})", error.what), ..error }
    }

    /// Jobs that are no hits.
    pub(super) fn to_do(&self) -> impl Iterator<Item = &Job> {
        self.jobs.iter().filter(|job| !job.is_hit)
    }

    /// Predicted bytes of the outputs.
    pub(super) fn store_bytes(&self) -> u64 {
        self.to_do().map(|job| job.store_bytes).sum()
    }
}

/// The name of a job in what the command that submits prints: its first line, up to `;`.
fn job_name(said: &str) -> Result<String, StageError> {
    let name = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let name = name.split(';').next().unwrap_or_default().trim();
    if name.bytes().any(|byte| byte.is_ascii_digit()) {
        return Ok(name.to_owned());
    }
    let what = format!("expected the name of a job from the scheduler, found `{}`", said.trim());
    Err(StageError::new(ErrorKind::Input, what))
}
