//! sandbox: a place to work in: a temporary folder with a store, a data folder and, if asked for, a
//! catalogue; and the programs.
//!
//! promises  no program looks at the repository's data, at variables of the caller or at the
//!           network
use std::{
    env,
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use serde_json::Value;
use tempfile::TempDir;

use crate::process::{Output, Running, start};
use crate::repository;
use crate::store_view::StoreView;

/// Data sets of the catalogue; a file `.absent` in their folders spares the one attempt at a
/// download.
const CATALOGUED: [&str; 3] = ["karate", "cora", "amazon0505"];

/// The folder with real data sets, if it is here: `$WARPLOOM_SHARED/data`, by default
/// `../shared/data` beside the workspace.
pub fn shared_data() -> Option<PathBuf> {
    crate::shared().join("data").canonicalize().ok().filter(|folder| folder.is_dir())
}

/// A place to work in. Clones share the folder.
#[derive(Clone, Debug)]
pub struct Sandbox {
    folder: Arc<TempDir>,
    /// `--store`.
    pub store: PathBuf,
    /// `--data`.
    pub data: PathBuf,
    /// `WARPLOOM_CATALOG`.
    pub catalog: Option<PathBuf>,
}

impl Sandbox {
    /// No raw data: every data set is a stand-in.
    pub fn stand_in() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("warploom-")
            .tempdir()
            .expect("a temporary folder can be made");
        let data = folder.path().join("raw");
        for name in CATALOGUED {
            fs::create_dir_all(data.join(name)).expect("a temporary folder can be written");
            fs::write(data.join(name).join(".absent"), "2026-01-01\nno network in tests\n")
                .expect("a temporary folder can be written");
        }
        Sandbox {
            store: folder.path().join("store"),
            data,
            catalog: None,
            folder: Arc::new(folder),
        }
    }

    /// The real data sets; `None`, after saying so, when they are not here.
    pub fn real(test: &str) -> Option<Self> {
        let data = shared_data();
        if data.is_none() {
            crate::skips::skipped(
                test,
                "no shared data; name the folder above `data` with WARPLOOM_SHARED",
            );
        }
        data.map(|data| Sandbox::stand_in().with_data(data))
    }

    /// Edge lists of one's own: name and contents of each, all with the same further lines of a
    /// catalogue entry.
    pub fn edge_lists(lists: &[(&str, &str)], further: &str) -> Self {
        let mut sandbox = Sandbox::stand_in();
        for (name, contents) in lists {
            sandbox.add_edge_list(name, contents, further);
        }
        sandbox
    }

    /// One more edge list.
    pub fn add_edge_list(&mut self, name: &str, contents: &str, further: &str) {
        let raw = self.data.join(name);
        fs::create_dir_all(&raw).expect("a temporary folder can be written");
        fs::write(raw.join("edges.txt"), contents).expect("a temporary folder can be written");
        let entry = format!(
            "name: {name}\nabout: made for a test\nfiles: [{{file: edges.txt, url: null}}]\nformat: edge_list\nlicence: none\n\
             directed: true\ntask: node_classification\n{further}\n"
        );
        self.add_entry(name, &entry);
    }

    /// One more entry of the catalogue.
    pub fn add_entry(&mut self, name: &str, text: &str) {
        let folder = self.path("catalog");
        fs::create_dir_all(&folder).expect("a temporary folder can be written");
        fs::write(folder.join(format!("{name}.yaml")), text)
            .expect("a temporary folder can be written");
        self.catalog = Some(folder);
    }

    /// The same place with another, empty store.
    pub fn with_store(&self, name: impl AsRef<Path>) -> Self {
        Sandbox { store: self.folder.path().join(name), ..self.clone() }
    }

    /// The same place with other raw data.
    pub fn with_data(&self, data: PathBuf) -> Self {
        Sandbox { data, ..self.clone() }
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file in the folder.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a file has a folder"))
            .expect("a temporary folder can be written");
        fs::write(&path, contents).expect("a temporary folder can be written");
        path
    }

    /// A look into the store.
    pub fn view(&self) -> StoreView {
        StoreView::of(&self.store)
    }

    /// A program with its surroundings, but none of the options.
    pub fn bare(&self, program: &str) -> Command {
        let mut command = Command::new(executable(program));
        for (name, _) in env::vars_os() {
            let name_text = name.to_string_lossy();
            if ["WARPLOOM_", "SLURM_", "PBS_", "LSB_"]
                .iter()
                .any(|prefix| name_text.starts_with(prefix))
            {
                command.env_remove(&name);
            }
        }
        command.env_remove("COLUMNS").env_remove("NO_COLOR").current_dir(self.folder.path());
        // What `auto` takes is the CPU, also where there is a GPU; the emulated one is not hidden
        // by this.
        command.env("CUDA_VISIBLE_DEVICES", "");
        if let Some(catalog) = &self.catalog {
            command.env("WARPLOOM_CATALOG", catalog);
        }
        command
    }

    /// A program with store, data folder and no progress lines; `arguments` first.
    pub fn command<A: AsRef<OsStr>>(&self, program: &str, arguments: &[A]) -> Command {
        let mut command = self.bare(program);
        command
            .args(arguments)
            .arg("--store")
            .arg(&self.store)
            .arg("--data")
            .arg(&self.data)
            .arg("--no-progress");
        command
    }

    /// Runs a program to its end.
    pub fn run<A: AsRef<OsStr>>(&self, program: &str, arguments: &[A]) -> Output {
        start(self.command(program, arguments)).wait()
    }

    /// Runs `warploom`.
    pub fn warploom<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Output {
        self.run("warploom", arguments)
    }

    /// `warploom ACTION` on a recipe, JSON lines on stdout.
    pub fn front(&self, action: &str, recipe: &Recipe, further: &[&str]) -> Output {
        self.warploom(&recipe.arguments(&[&[action, "--format", "json"], further].concat()))
    }

    /// All six stages, which must succeed.
    #[track_caller]
    pub fn build(&self, recipe: &Recipe) -> Vec<Value> {
        let lines = self.front("pipeline", recipe, &[]).expect(0).stages();
        assert_eq!(lines.len() % 6, 0, "expected a line for each of six stages");
        lines
    }

    /// Starts all six stages.
    pub fn begin(&self, recipe: &Recipe, further: &[&str]) -> Running {
        start(self.command(
            "warploom",
            &recipe.arguments(&[&["pipeline", "--format", "json"], further].concat()),
        ))
    }

    /// A stage's binary on a recipe, JSON lines on stdout.
    pub fn stage(&self, stage: &str, recipe: &Recipe, further: &[&str]) -> Output {
        self.run(
            &format!("warploom-{stage}"),
            &recipe.arguments(&[further, &["--format", "json"]].concat()),
        )
    }
}

/// What to make: a pipeline file and `--set`s.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The file.
    pub file: PathBuf,
    /// `KEY=VALUE`.
    pub sets: Vec<String>,
}

impl Recipe {
    /// A pipeline of the repository on a data set.
    pub fn of(pipeline: &str, dataset: &str) -> Self {
        let file = repository().join("pipelines").join(format!("{pipeline}.yaml"));
        Recipe { file, sets: vec![format!("dataset={dataset}")] }
    }

    /// GCN on the karate club with few epochs: the smallest that has everything.
    pub fn small() -> Self {
        Recipe::of("gcn", "karate").set("run.epochs=5")
    }

    /// A file of one's own.
    pub fn file(file: PathBuf) -> Self {
        Recipe { file, sets: Vec::new() }
    }

    /// With one more override.
    pub fn set(mut self, assignment: &str) -> Self {
        self.sets.push(assignment.to_owned());
        self
    }

    /// As arguments, after others.
    pub fn arguments(&self, before: &[&str]) -> Vec<OsString> {
        let mut all: Vec<OsString> = before.iter().map(OsString::from).collect();
        all.extend(["--pipeline".into(), self.file.clone().into_os_string()]);
        for assignment in &self.sets {
            all.extend(["--set".into(), assignment.into()]);
        }
        all
    }
}

/// The binary, beside the tests' own: `target/debug/deps/all-...` and `target/debug/warploom`.
fn executable(program: &str) -> PathBuf {
    let own = env::current_exe().expect("a test knows its own path");
    let folder = own.parent().and_then(Path::parent).expect("a test lies in target/PROFILE/deps");
    let path = folder.join(program);
    assert!(
        path.is_file(),
        "no `{}`; build it with  cargo build --workspace --bins",
        path.display()
    );
    path
}
