//! cluster: a Slurm on loopback for the time of a test.
use std::{
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use warploom_test_support::{
    process::{Output, start},
    repository,
    sandbox::Sandbox,
    skips::skipped,
};

/// A controller and its nodes; stopped when it is dropped.
pub struct Cluster {
    folder: PathBuf,
    /// What clients need to find it.
    pub configuration: PathBuf,
}

impl Cluster {
    /// Starts it; none, which is said, where that is impossible.
    pub fn start(test: &str) -> Option<Cluster> {
        if !rustix::process::getuid().is_root() {
            skipped(test, "Slurm's daemons are started as root");
            return None;
        }
        if !["slurmctld", "slurmd", "munged", "sbatch"].iter().all(|name| is_program(name)) {
            skipped(test, "no Slurm here: `make test-slurm` installs it");
            return None;
        }
        // A socket lies in it, so its path is short.
        let folder = PathBuf::from(format!("/tmp/wl-slurm-{}", std::process::id()));
        let cluster = Cluster { configuration: folder.join("slurm.conf"), folder };
        cluster.call(&["start"]);
        Some(cluster)
    }

    /// Calls `cluster.sh`, which must succeed.
    pub fn call(&self, arguments: &[&str]) -> String {
        let made = Command::new("bash")
            .arg(repository().join("tests/slurm/cluster.sh"))
            .args(arguments)
            .env("SLURM_LOOPBACK_DIR", &self.folder)
            .env("BASE_PORT", (20_000 + std::process::id() % 20_000).to_string())
            .output()
            .expect("bash starts");
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(
            made.status.success(),
            "cluster.sh {arguments:?}: {}{}",
            said(&made.stdout),
            said(&made.stderr)
        );
        said(&made.stdout)
    }

    /// A command of Slurm, which must succeed: what it prints.
    pub fn slurm(&self, program: &str, arguments: &[&str]) -> String {
        let made = Command::new(program)
            .args(arguments)
            .env("SLURM_CONF", &self.configuration)
            .output()
            .expect("a client of Slurm starts");
        let stderr = String::from_utf8_lossy(&made.stderr).into_owned();
        assert!(made.status.success(), "{program} {arguments:?}: {stderr}");
        String::from_utf8_lossy(&made.stdout).into_owned()
    }

    /// `warploom` in a sandbox, as a user of the cluster calls it.
    pub fn command(&self, sandbox: &Sandbox, arguments: &[&str]) -> Command {
        let mut command = sandbox.command("warploom", arguments);
        command.env("SLURM_CONF", &self.configuration);
        command
    }

    /// The same, run to its end.
    pub fn warploom(&self, sandbox: &Sandbox, arguments: &[&str]) -> Output {
        start(self.command(sandbox, arguments)).wait()
    }

    /// Submits a file with small jobs: the id of the submission.
    pub fn submit(&self, sandbox: &Sandbox, file: &Path, further: &[&str]) -> String {
        let file = file.to_str().expect("a path of UTF-8");
        let words = ["submit", file, "--site", "slurm", "--real=no", "--format", "json"];
        let small = ["--with", "prepare.cpus=1", "--with", "run.cpus=1"];
        let output = self.warploom(sandbox, &[&words[..], &small, further].concat()).expect(0);
        output.lines()[0]["submission"].as_str().expect("it is submitted").to_owned()
    }

    /// What has become of the jobs of a submission.
    pub fn status(&self, sandbox: &Sandbox, id: &str) -> Vec<Status> {
        let output = self.warploom(sandbox, &["status", id, "--format", "json"]).expect(0);
        let text = |line: &serde_json::Value, name: &str| {
            line[name].as_str().unwrap_or_default().to_owned()
        };
        let lines = output.lines();
        let read = lines.iter().map(|line| Status {
            stage: text(line, "stage"),
            state: text(line, "state"),
            dataset: text(line, "dataset"),
            reason: text(line, "reason"),
            job: text(line, "job"),
            starts: line["starts"].as_u64().unwrap_or_default(),
            error: line["error"].clone(),
        });
        read.collect()
    }

    /// Looks at a submission until a condition holds for its jobs.
    pub fn until(
        &self,
        sandbox: &Sandbox,
        id: &str,
        what: &str,
        holds: impl Fn(&[Status]) -> bool,
    ) -> Vec<Status> {
        let begun = Instant::now();
        for look in 1.. {
            let found = self.status(sandbox, id);
            if holds(&found) {
                return found;
            }
            // Slurm holds jobs, and drains nodes, where jobs failed to start while a node or the
            // controller died.
            if look % 25 == 0 {
                self.call(&["release"]);
            }
            assert!(
                begun.elapsed() < Duration::from_secs(240),
                "no {what} after {:?}: {found:#?}\n{}",
                begun.elapsed(),
                self.slurm("squeue", &["--states=all"])
            );
            std::thread::sleep(Duration::from_millis(200));
        }
        unreachable!("it looks for ever")
    }

    /// Waits until every job has ended.
    pub fn until_ended(&self, sandbox: &Sandbox, id: &str) -> Vec<Status> {
        let is_open =
            |status: &Status| ["waiting", "running", "stopped"].contains(&status.state.as_str());
        self.until(sandbox, id, "end", |all| !all.iter().any(is_open))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let stop = || self.call(&["stop"]);
        // A failed test is reported as such, not as a cluster that does not stop.
        let _told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(stop));
        let _left = std::fs::remove_dir_all(&self.folder);
    }
}

/// A job, as `warploom status` prints it.
#[derive(Clone, Debug)]
pub struct Status {
    pub stage: String,
    pub state: String,
    pub dataset: String,
    pub reason: String,
    pub job: String,
    pub starts: u64,
    pub error: serde_json::Value,
}

fn is_program(name: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(name).is_file())
}
