//! environment: the options of a start, resolved: where it runs and what it may use. Of these, only
//! the device is in a key.
use std::path::{Path, PathBuf};

use warploom_contract::{ErrorKind, StageError, Store};
use warploom_device::{AUTO, Best, Cause, Facts};
use warploom_spec::{Pipeline, shell_word};

use crate::{
    device_choice,
    flags::{Format, Options, Real, default_stores},
    machine_limits,
};

/// Which digests are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verify {
    /// None.
    Nothing,
    /// Those of the files that a stage reads to build its output.
    Inputs,
    /// Also those of hits and of raw files.
    All,
}

/// The options, resolved.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Artifact store, and others that are only read.
    pub store: Store,
    /// Folders with raw data, in order.
    pub data: Vec<PathBuf>,
    /// Threads of the pool.
    pub threads: usize,
    /// Bytes of memory that may be used.
    pub memory: u64,
    /// Device asked for on the command line.
    pub device: Option<String>,
    /// Whether stand-ins are accepted.
    pub real: Real,
    /// Whether hits are built again.
    pub force: bool,
    /// Which digests are checked.
    pub verify: Verify,
    /// Whether a missing data set may be downloaded.
    pub network: bool,
    /// The format of stdout.
    pub format: Format,
}

/// The store of `--store` options: the first is written.
fn store_of(roots: &[PathBuf]) -> Store {
    let mut roots = roots.iter().filter(|root| !root.as_os_str().is_empty()).cloned();
    let first = roots.next().unwrap_or_else(|| "data/store".into());
    Store::new(first).with_later(roots)
}

impl Environment {
    /// The folder of cached digests of raw files, and of downloads that failed.
    pub fn digest_cache_path(&self) -> PathBuf {
        self.store.root().join("seen-v1")
    }

    /// The options of a pasted command for these stores: ` --store DIR` each, or nothing for the
    /// default.
    pub fn store_option(&self) -> String {
        if self.store.roots().map(Path::as_os_str).eq(default_stores()) {
            return String::new();
        }
        let option = |root: &Path| format!(" --store {}", shell_word(&root.to_string_lossy()));
        self.store.roots().map(option).collect()
    }

    /// Resolves the options.
    pub fn new(options: &Options) -> Self {
        let scheduler = machine_limits::is_batch_job();
        Environment {
            store: store_of(&options.store),
            data: options.data.clone(),
            threads: options.threads.map_or_else(machine_limits::allowed_threads, usize::from),
            memory: options.memory.unwrap_or_else(machine_limits::allowed_memory),
            device: options.device.clone(),
            real: options.real.unwrap_or(if scheduler { Real::Yes } else { Real::No }),
            force: options.force,
            verify: match (options.verify, options.no_verify) {
                (_, true) => Verify::Nothing,
                (asked, false) if asked || scheduler => Verify::All,
                _ => Verify::Inputs,
            },
            network: true,
            format: options.format,
        }
    }

    /// Whether raw files are read again although their digests are cached.
    pub fn rereads_raw_files(&self) -> bool {
        self.verify == Verify::All
    }

    /// Facts of the device to plan for: the command line's, else the pipeline's. `auto` takes a GPU
    /// that has kernels for all of the program.
    pub fn device_facts(&self, pipeline: &Pipeline) -> Result<Facts, StageError> {
        let name = self.device_name(pipeline);
        let best = if name == AUTO && device_choice::auto_takes_gpu(pipeline)? {
            Best::OfAll
        } else {
            Best::Cpu
        };
        let found = warploom_device::resolve(name, best).and_then(|facts| {
            match device_choice::ordinal_of_rank(name, &facts) {
                Some(ordinal) => warploom_device::resolve(&format!("cuda:{ordinal}"), best),
                None => Ok(facts),
            }
        });
        found.map_err(|unknown| {
            let is_gpu =
                ["gpu", "nvidia"].iter().any(|word| unknown.name.to_lowercase().starts_with(word));
            let near = if is_gpu {
                Some("cuda")
            } else {
                warploom_spec::nearest(&unknown.name, warploom_device::NAMES)
            };
            let other = || {
                format!(
                    "use  --device {}  or leave it out; `warploom doctor` says what there is",
                    near.unwrap_or("cpu")
                )
            };
            // A device that failed may work later; a name that is no device never does.
            let kind = match unknown.cause {
                Some(Cause::Device) => ErrorKind::Transient,
                _ => ErrorKind::Specification,
            };
            StageError::new(kind, format!("no device `{}`: {}", unknown.name, unknown.why))
                .hint(unknown.hint.unwrap_or_else(other))
        })
    }

    /// The device that is asked for.
    pub fn device_name<'a>(&'a self, pipeline: &'a Pipeline) -> &'a str {
        self.device.as_deref().unwrap_or(&pipeline.plan.device)
    }
}
