//! submission: what was asked for, as a folder `<store>/submissions/<id>/`.
//!
//! files     `submission.json`; `jobs.parquet`; `pipeline.yaml` and `programs/`, as they were at
//!           submission; `scheduler.yaml`; `array-<n>.sh`; `events/`; `logs/`
//! promises  a folder under its final name is complete; a task reads the pipeline and the programs
//!           as they were at submission, whatever has become of them since
//! never     changes after it was written, except for events and logs
use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use warploom_contract::{Digest, ErrorKind, StageError, store::drafts::Beside};
use warploom_shell::StageName;
use warploom_spec::Pipeline;

use crate::{
    array::{Group, JobArray},
    job::{Job, read_jobs, write_jobs},
};

/// What was asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Submission {
    /// Its name, unique in the store.
    pub id: String,
    /// When, in UTC.
    pub created: String,
    /// The program `warploom`, as tasks start it.
    pub program: String,
    /// Its version.
    pub version: String,
    /// Name of the pipeline.
    pub name: String,
    /// The pipeline file, absolute.
    pub file: PathBuf,
    /// The folder in which the command was given: paths of `--set` are relative to it.
    pub started_in: PathBuf,
    /// Number of pipelines.
    pub pipelines: u32,
    /// `--set` of the command line.
    pub set: Vec<String>,
    /// `--device` of the command line.
    pub device: Option<String>,
    /// The stores, absolute; the first is written.
    pub stores: Vec<PathBuf>,
    /// `--from` of the command line, with a whole key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// `--until` of the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Folders of raw data, absolute.
    pub data: Vec<PathBuf>,
    /// `--real` of the command line.
    pub real: String,
    /// Name of the site.
    pub site: String,
    /// Name of the scheduler.
    pub scheduler: String,
    /// The workflow system that runs the tasks in place of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// Variables that tasks need as they were here.
    pub environment: BTreeMap<String, String>,
    /// The copy of each program, by its path.
    pub programs: BTreeMap<PathBuf, String>,
    /// The arrays.
    pub arrays: Vec<ArrayFacts>,
}

/// An array, as the file states it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrayFacts {
    /// Its number.
    pub number: u32,
    /// Names of its stages.
    pub stages: Vec<String>,
    /// `prepare` or `run`.
    pub group: String,
    /// Number of tasks.
    pub tasks: u32,
    /// Arrays before it.
    pub after: Vec<u32>,
    /// Cores of a task.
    pub cpus: u64,
    /// Memory of a task.
    pub bytes: u64,
    /// Time limit of a task.
    pub seconds: u64,
}

impl Submission {
    /// The name of an array's job, which tells it from jobs of other submissions and clusters.
    pub fn job_name(&self, array: u32) -> String {
        let digits = self.id.rsplit('-').next().unwrap_or_default();
        format!("{}-{array}-{digits}", self.name)
    }
}

impl ArrayFacts {
    /// `ingest-partition`, or the name of its only stage.
    pub fn stages_text(&self) -> String {
        match self.stages.as_slice() {
            [first, .., last] => format!("{first}-{last}"),
            [only] => only.clone(),
            [] => String::new(),
        }
    }

    /// The array.
    pub fn to_array(&self) -> JobArray {
        JobArray {
            number: self.number,
            stages: self.stages.iter().filter_map(|name| StageName::parse(name)).collect(),
            group: if self.group == "run" { Group::Run } else { Group::Prepare },
            tasks: self.tasks,
            after: self.after.clone(),
        }
    }
}

/// A submission in a store.
#[derive(Clone, Debug)]
pub struct Opened {
    /// Its folder.
    pub folder: PathBuf,
    /// What was asked for.
    pub submission: Submission,
}

const SUBMISSION_FILE: &str = "submission.json";
const JOBS_FILE: &str = "jobs.parquet";
const PIPELINE_FILE: &str = "pipeline.yaml";
const SCHEDULER_FILE: &str = "scheduler.yaml";

/// The folder of all submissions of a store.
pub fn submissions_folder(store: &Path) -> PathBuf {
    store.join("submissions")
}

/// A submission that is being written.
pub struct Draft {
    beside: Beside,
    folder: PathBuf,
}

impl Draft {
    /// Begins the folder of a submission in a store.
    pub fn begin(store: &Path, id: &str) -> Result<Draft, StageError> {
        let folder = submissions_folder(store);
        fs::create_dir_all(&folder)
            .map_err(|error| StageError::io("make a folder of the store", &folder, &error))?;
        let beside = Beside::begin(&folder, id)?;
        for name in ["events", "logs", "programs"] {
            let path = beside.path().join(name);
            fs::create_dir(&path)
                .map_err(|error| StageError::io("make a folder", &path, &error))?;
        }
        Ok(Draft { beside, folder: folder.join(id) })
    }

    /// Its final folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: &[u8]) -> Result<(), StageError> {
        let path = self.beside.path().join(name);
        let write = || -> std::io::Result<()> {
            let mut file = fs::File::create_new(&path)?;
            file.write_all(text)?;
            file.sync_all()
        };
        write().map_err(|error| StageError::io("write", &path, &error))
    }

    /// Copies the pipeline file's text and the programs of its pipelines, as far as these are
    /// there; gives the name of each copy.
    pub fn write_sources(
        &self,
        text: &str,
        pipelines: &[Pipeline],
        scheduler: &str,
    ) -> Result<BTreeMap<PathBuf, String>, StageError> {
        self.write(PIPELINE_FILE, text.as_bytes())?;
        self.write(SCHEDULER_FILE, scheduler.as_bytes())?;
        let mut programs = BTreeMap::new();
        for path in pipelines.iter().map(|pipeline| &pipeline.plan.program.file) {
            if programs.contains_key(path) {
                continue;
            }
            let bytes = match fs::read(path) {
                // Stages before `plan` do without.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                read => read.map_err(|error| StageError::io("read the program", path, &error))?,
            };
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let digest = Digest::from_bytes(path.as_os_str().as_encoded_bytes());
            let copy = format!("programs/{}-{name}", &digest.as_str()[..8]);
            self.write(&copy, &bytes)?;
            // A task reads the file by its absolute path, and paths of `--set` as they were given.
            let absolute = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            programs.insert(absolute, copy.clone());
            programs.insert(path.clone(), copy);
        }
        Ok(programs)
    }

    /// Writes what was asked for and the list of jobs, and gives the folder its final name.
    pub fn finish(self, submission: Submission, jobs: &[Job]) -> Result<Opened, StageError> {
        write_jobs(&self.beside.path().join(JOBS_FILE), jobs)?;
        let events = self.beside.path().join("events");
        let tasks = submission.arrays.iter().map(|array| u64::from(array.tasks)).sum();
        crate::event::reserve_room(&events, tasks)
            .map_err(|error| StageError::io("reserve room for events in", &events, &error))?;
        let text = serde_json::to_string_pretty(&submission)
            .map_err(|error| StageError::defect(error.to_string()))?;
        self.write(SUBMISSION_FILE, (text + "\n").as_bytes())?;
        fs::rename(self.beside.path(), &self.folder)
            .map_err(|error| StageError::io("name the submission", &self.folder, &error))?;
        Ok(Opened { folder: self.folder.clone(), submission })
    }
}

impl Opened {
    /// Opens the submission in a folder.
    pub fn open(folder: &Path) -> Result<Opened, StageError> {
        let path = folder.join(SUBMISSION_FILE);
        let text = fs::read_to_string(&path).map_err(|error| {
            StageError::io("read the submission", &path, &error)
                .hint("list submissions with  warploom status")
        })?;
        let submission = serde_json::from_str(&text)
            .map_err(|error| StageError::damaged(&path, error.to_string()))?;
        Ok(Opened { folder: folder.to_path_buf(), submission })
    }

    /// All submissions of stores, the newest first.
    pub fn list(stores: &[PathBuf]) -> Vec<Opened> {
        let folders = stores.iter().flat_map(|store| {
            fs::read_dir(submissions_folder(store)).into_iter().flatten().flatten()
        });
        let mut found: Vec<Opened> = folders
            .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
            .filter_map(|entry| Opened::open(&entry.path()).ok())
            .collect();
        found.sort_by(|a, b| {
            (&b.submission.created, &b.submission.id)
                .cmp(&(&a.submission.created, &a.submission.id))
        });
        found
    }

    /// The submission of an id, of the first letters of one, of a folder, or `last`.
    pub fn find(stores: &[PathBuf], name: &str) -> Result<Opened, StageError> {
        let path = Path::new(name);
        if path.join(SUBMISSION_FILE).is_file() {
            let folder = fs::canonicalize(path)
                .map_err(|error| StageError::io("open the submission", path, &error))?;
            return Opened::open(&folder);
        }
        let all = Opened::list(stores);
        let mut fitting: Vec<&Opened> = match name {
            "last" => all.iter().take(1).collect(),
            _ => all.iter().filter(|opened| opened.submission.id.starts_with(name)).collect(),
        };
        if let Some(exact) = fitting.iter().find(|opened| opened.submission.id == name) {
            fitting = vec![exact];
        }
        let ids: Vec<&str> =
            fitting.iter().take(5).map(|opened| opened.submission.id.as_str()).collect();
        match (fitting.first(), fitting.len()) {
            (Some(one), 1) => Ok((*one).clone()),
            (None, _) => Err(StageError::new(
                ErrorKind::Input,
                format!("no submission `{name}` in the store"),
            )
            .hint("list submissions with  warploom status")),
            _ => Err(StageError::new(
                ErrorKind::Usage,
                format!("`{name}` stands for {} submissions", fitting.len()),
            )
            .hint(format!("name one of  {}", ids.join(", ")))),
        }
    }

    /// Its jobs.
    pub fn jobs(&self) -> Result<Vec<Job>, StageError> {
        read_jobs(&self.folder.join(JOBS_FILE))
    }

    /// Removes it, with scripts, events and logs.
    pub fn remove(&self) -> Result<(), StageError> {
        fs::remove_dir_all(&self.folder)
            .map_err(|error| StageError::io("remove the submission", &self.folder, &error))
    }

    /// How long ago it was made.
    pub fn age(&self) -> Option<std::time::Duration> {
        let created = chrono::DateTime::parse_from_rfc3339(&self.submission.created).ok()?;
        (chrono::Utc::now() - created.to_utc()).to_std().ok()
    }

    /// Its events.
    pub fn events(&self) -> PathBuf {
        self.folder.join("events")
    }

    /// The log of a task.
    pub fn log(&self, array: u32, task: u32) -> PathBuf {
        self.folder.join("logs").join(format!("{array}-{task}.txt"))
    }

    /// The script of an array.
    pub fn script(&self, array: u32) -> PathBuf {
        self.folder.join(format!("array-{array}.sh"))
    }

    /// The description of its scheduler; none for a pool of processes.
    pub fn scheduler(&self) -> Result<Option<warploom_spec::site::SchedulerSpec>, StageError> {
        let path = self.folder.join(SCHEDULER_FILE);
        let text = fs::read_to_string(&path)
            .map_err(|error| StageError::io("read the scheduler's description", &path, &error))?;
        if text.is_empty() {
            return Ok(None);
        }
        warploom_spec::site::read_scheduler(&text, &path)
            .map(Some)
            .map_err(|mistakes| StageError::damaged(&path, mistakes.to_string()))
    }

    /// A pipeline, by its number in the file, with the programs as they were at submission.
    pub fn pipeline(&self, number: u32) -> Result<Pipeline, StageError> {
        let path = self.folder.join(PIPELINE_FILE);
        let text = fs::read_to_string(&path)
            .map_err(|error| StageError::io("read the pipeline", &path, &error))?;
        let Submission { file, set, programs, .. } = &self.submission;
        let pipelines = warploom_spec::read_text(&text, file, set)
            .map_err(|mistakes| StageError::damaged(&path, mistakes.to_string()))?;
        let mut pipeline = pipelines.into_iter().nth(number as usize).ok_or_else(|| {
            StageError::damaged(&path, format!("expected a pipeline of number {number}"))
        })?;
        if let Some(copy) = programs.get(&pipeline.plan.program.file) {
            pipeline.plan.program.file = self.folder.join(copy);
        }
        Ok(pipeline)
    }
}
