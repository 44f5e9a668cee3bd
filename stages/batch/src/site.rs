//! site: a site file with its scheduler, and the resources of each group of jobs.
//!
//! promises  a site, a scheduler or a size that is wrong is refused before anything is submitted
//! never     enters a key
use std::path::{Path, PathBuf};

use warploom_contract::{ErrorKind, StageError};
use warploom_shell::{
    machine_limits::{parse_age, parse_size},
    requests::mistake_error,
};
use warploom_spec::{
    Mistakes,
    site::{ResourcesSpec, SchedulerSpec, SiteSpec, read_scheduler, read_site},
};

use crate::{
    array::{Group, JobArray},
    estimate::Need,
    job::Job,
};

/// Schedulers that are described here.
const SCHEDULERS: [(&str, &str); 3] = [
    ("slurm", include_str!("schedulers/slurm.yaml")),
    ("pbs", include_str!("schedulers/pbs.yaml")),
    ("lsf", include_str!("schedulers/lsf.yaml")),
];
/// The scheduler that is a pool of processes.
pub const LOCAL: &str = "local";
/// Sites that need no file.
const SITES: [(&str, &str); 3] = [
    ("slurm", include_str!("../../../pipelines/sites/slurm.yaml")),
    ("pbs", include_str!("../../../pipelines/sites/pbs.yaml")),
    ("local", include_str!("../../../pipelines/sites/local.yaml")),
];

/// A site, read.
#[derive(Clone, Debug)]
pub struct Site {
    /// Its name.
    pub name: String,
    /// Its settings.
    pub spec: SiteSpec,
    /// Its scheduler; none for the pool of processes.
    pub scheduler: Option<SchedulerSpec>,
    /// The text of the scheduler's description, kept with a submission.
    pub scheduler_text: String,
}

impl Site {
    /// The site of a name or file: a file, `pipelines/sites/NAME.yaml` or `sites/NAME.yaml` of the
    /// current folder, or one that is shipped.
    pub fn find(name: &str, with: &[String]) -> Result<Site, StageError> {
        let (file, text) = site_text(name)?;
        let spec = read_site(&text, &file, with).map_err(|found| site_error(&found))?;
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (scheduler, scheduler_text) = if spec.scheduler == LOCAL {
            (None, String::new())
        } else {
            let (path, text) = scheduler_text(&spec.scheduler, &file)?;
            let read = read_scheduler(&text, &path).map_err(|found| site_error(&found))?;
            (Some(read), text)
        };
        let site = Site { name: stem, spec, scheduler, scheduler_text };
        let is_name = |name: &String| {
            !name.is_empty()
                && !name.starts_with(|c: char| c.is_ascii_digit())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        if let Some(odd) = site.spec.environment.keys().find(|name| !is_name(name)) {
            let what = format!("`{odd}` is no name of an environment variable");
            return Err(StageError::new(ErrorKind::Specification, what)
                .at(format!("environment of the site `{}`", site.name))
                .hint("write  environment: {NAME: value}"));
        }
        for group in [Group::Prepare, Group::Run] {
            site.resources(group, Need::default())?;
        }
        Ok(site)
    }

    /// Whether tasks run on the machine that submits them.
    pub fn is_local(&self) -> bool {
        self.scheduler.is_none()
    }

    /// The settings of a group.
    pub fn group(&self, group: Group) -> &ResourcesSpec {
        match group {
            Group::Prepare => &self.spec.prepare,
            Group::Run => &self.spec.run,
        }
    }

    /// The resources of a task of a group that needs so much.
    pub fn resources(&self, group: Group, need: Need) -> Result<Resources, StageError> {
        let spec = self.group(group);
        let wrong = |field: &str, why: String| {
            StageError::new(ErrorKind::Specification, why)
                .at(format!("{}.{field} of the site `{}`", group.name(), self.name))
                .hint(format!(
                    "for example  --with {}.{field}={}",
                    group.name(),
                    if field == "memory" { "16GiB" } else { "2h" }
                ))
        };
        let asked = spec.memory.as_deref().map(parse_size).transpose();
        let bytes = asked.map_err(|why| wrong("memory", why))?;
        if let Some(bytes) = bytes.filter(|&bytes| bytes < 16 << 20) {
            return Err(wrong("memory", format!("a task cannot run in {bytes} bytes of memory")));
        }
        let asked = spec.time.as_deref().map(parse_age).transpose();
        let time = asked.map_err(|why| wrong("time", why))?.map(|time| time.as_secs());
        let predicted = with_margin(need);
        let margin = self.spec.margin;
        let seconds = time.unwrap_or(predicted.seconds);
        if !self.is_local() && seconds <= margin {
            let what = format!(
                "a time limit of {seconds} s leaves nothing: tasks stop `margin` of {margin} s \
                 before it"
            );
            return Err(StageError::new(ErrorKind::Specification, what)
                .at(format!("{}.time of the site `{}`", group.name(), self.name))
                .hint(format!("--with {}.time=1h  or  --with margin=10", group.name())));
        }
        Ok(Resources {
            bytes: bytes.unwrap_or(predicted.bytes),
            seconds: time.unwrap_or(predicted.seconds),
            is_memory_predicted: bytes.is_none(),
            is_time_predicted: time.is_none(),
        })
    }

    /// The resources of an array: the most that one of its tasks needs.
    pub fn array_resources(&self, array: &JobArray, jobs: &[Job]) -> Result<Resources, StageError> {
        let mut seconds = vec![0; array.tasks as usize];
        let mut need = Need::default();
        let mut is_known = true;
        for job in jobs.iter().filter(|job| job.array == array.number) {
            need.bytes = need.bytes.max(job.bytes);
            seconds[job.task as usize] += job.seconds;
            is_known &= job.bytes > 0;
        }
        need.seconds = seconds.into_iter().max().unwrap_or(0);
        self.resources(array.group, if is_known { need } else { Need::default() })
    }
}

/// Memory and time of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Bytes of memory.
    pub bytes: u64,
    /// Time limit in seconds.
    pub seconds: u64,
    /// Whether the memory is predicted, not the site's.
    pub is_memory_predicted: bool,
    /// Whether the time is predicted, not the site's.
    pub is_time_predicted: bool,
}

/// What is asked for where nothing is known.
const UNKNOWN: Need = Need { bytes: 16 << 30, seconds: 4 * 3600, store_bytes: 0 };
/// The least that is asked for.
const LEAST: Need = Need { bytes: 1 << 30, seconds: 600, store_bytes: 0 };

/// What is asked for: memory with half as much again, time five times, since nodes differ.
fn with_margin(need: Need) -> Need {
    if need.bytes == 0 {
        return UNKNOWN;
    }
    let minutes = need.seconds.saturating_mul(5).div_ceil(60);
    let mebibytes = need.bytes.saturating_add(need.bytes / 2).div_ceil(1 << 20);
    Need {
        bytes: (mebibytes << 20).max(LEAST.bytes),
        seconds: (minutes * 60).max(LEAST.seconds),
        store_bytes: need.store_bytes,
    }
}

/// The first mistake of a file, as an error.
fn site_error(mistakes: &Mistakes) -> StageError {
    mistakes.shown.first().map_or_else(
        || StageError::new(ErrorKind::Specification, mistakes.to_string()),
        mistake_error,
    )
}

/// The file and text of a site.
fn site_text(name: &str) -> Result<(PathBuf, String), StageError> {
    let looked: Vec<PathBuf> = if name.contains('/') || name.ends_with(".yaml") {
        vec![PathBuf::from(name)]
    } else {
        ["pipelines/sites", "sites", "."]
            .map(|folder| Path::new(folder).join(format!("{name}.yaml")))
            .into()
    };
    for path in &looked {
        match std::fs::read_to_string(path) {
            Ok(text) => return Ok((path.clone(), text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(StageError::io("read the site file", path, &error)),
        }
    }
    let shipped = SITES.iter().find(|(known, _)| *known == name);
    shipped
        .map(|(known, text)| (PathBuf::from(format!("{known}.yaml")), (*text).to_owned()))
        .ok_or_else(|| {
            let names: Vec<&str> = SITES.iter().map(|(name, _)| *name).collect();
            let near = warploom_spec::nearest(name, names.iter().copied());
            StageError::new(
                ErrorKind::Usage,
                format!("no site `{name}`: expected a file, or one of {}", names.join(", ")),
            )
            .hint(match near {
                Some(near) => format!("--site {near}"),
                None => {
                    "copy  pipelines/sites/slurm.yaml , edit it, and name it:  --site FILE.yaml"
                        .to_owned()
                }
            })
        })
}

/// The file and text of the description of a scheduler that a site names.
fn scheduler_text(name: &str, site: &Path) -> Result<(PathBuf, String), StageError> {
    if let Some((_, text)) = SCHEDULERS.iter().find(|(known, _)| *known == name) {
        return Ok((PathBuf::from(format!("{name}.yaml")), (*text).to_owned()));
    }
    if name.ends_with(".yaml") {
        let path = site.parent().unwrap_or(Path::new("")).join(name);
        let text = std::fs::read_to_string(&path).map_err(|error| {
            StageError::io("read the description of a scheduler", &path, &error)
        })?;
        return Ok((path, text));
    }
    let names: Vec<&str> = SCHEDULERS.iter().map(|(name, _)| *name).chain([LOCAL]).collect();
    let what = format!("no scheduler `{name}`: expected {}, or a file NAME.yaml", names.join(", "));
    let near = warploom_spec::nearest(name, names.iter().copied()).unwrap_or("slurm");
    Err(StageError::new(ErrorKind::Specification, what)
        .at(site.display())
        .hint(format!("write  scheduler: {near}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_sites_and_schedulers_are_valid() {
        for (name, _) in SITES {
            Site::find(name, &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        for (name, text) in SCHEDULERS {
            let read = read_scheduler(text, Path::new(name)).unwrap();
            assert_eq!(read.name, name);
        }
    }

    #[test]
    fn a_wrong_site_is_refused_with_what_to_write() {
        let said = |name: &str, with: &[&str]| {
            let with: Vec<String> = with.iter().map(|text| (*text).to_owned()).collect();
            Site::find(name, &with).unwrap_err().to_string()
        };
        assert!(said("slrum", &[]).contains("--site slurm"));
        assert!(said("slurm", &["run.memory=lots"]).contains("run.memory of the site `slurm`"));
        assert!(said("slurm", &["scheduler=slrum"]).contains("write  scheduler: slurm"));
        assert!(said("slurm", &["run.time=2m"]).contains("--with margin=10"));
        assert!(said("nowhere/x.yaml", &[]).contains("nowhere/x.yaml"));
    }

    #[test]
    fn what_is_asked_for_has_a_margin() {
        let site = Site::find("slurm", &[]).unwrap();
        let need = Need { bytes: 4 << 30, seconds: 1000, store_bytes: 0 };
        let found = site.resources(Group::Prepare, need).unwrap();
        assert_eq!((found.bytes, found.seconds), (6 << 30, 5040));
        let site = Site::find("slurm", &["run.time=90m".to_owned()]).unwrap();
        let found = site.resources(Group::Run, need).unwrap();
        assert_eq!((found.seconds, found.is_time_predicted), (5400, false));
    }
}
