//! external_program: a program of the user's that makes an artifact in place of a stage's own code:
//! a child process that is given folders of artifacts and writes one file, or is given raw data and
//! writes a graph.
//!
//! promises  the key holds the words of the command, and the digest of each file that a word names
//!           in place of its path; a program that is not there is refused before the first stage
//! never     reads what the program writes: the stage does
//! limits    a program that is found through PATH, such as `python3`, is in the key by its name; a
//!           file that it reads without being named in the command is in no key
mod child_process;
mod guard;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use warploom_contract::{Digest, ErrorKind, Kind, StageError};
use warploom_spec::{Pipeline, ProgramInput};

use crate::{Environment, StageName};

pub use child_process::Printed;
pub use guard::serve_if_child;

/// A program, resolved.
#[derive(Clone, Debug)]
pub struct ExternalProgram {
    /// The stage that runs it.
    pub stage: StageName,
    /// The words of the command, as written.
    pub command: Vec<String>,
    /// The folder in which it runs: that of the pipeline file.
    pub folder: PathBuf,
    /// For each word, the digest of the file that it names.
    pub digests: Vec<Option<String>>,
    /// The artifacts that it is given.
    pub inputs: Vec<ProgramInput>,
}

/// The settings of a stage that name a program.
#[derive(Clone, Copy, Debug)]
pub struct ProgramSettings<'a> {
    /// The stage.
    pub stage: StageName,
    /// Its setting that asks for a program.
    pub choice: &'static str,
    /// Whether it does.
    pub is_asked: bool,
    /// `command`.
    pub command: &'a [String],
    /// `inputs`.
    pub inputs: &'a [ProgramInput],
}

impl ExternalProgram {
    /// The program that the settings of a stage name, if it is asked for.
    pub fn resolve(
        environment: &Environment,
        pipeline: &Pipeline,
        settings: ProgramSettings<'_>,
    ) -> Result<Option<ExternalProgram>, StageError> {
        let folder = folder_of(&pipeline.file);
        if !settings.refuse_unfit(&folder)? {
            return Ok(None);
        }
        let mut program = ExternalProgram {
            stage: settings.stage,
            command: settings.command.to_vec(),
            folder,
            digests: Vec::new(),
            inputs: settings.inputs.to_vec(),
        };
        for (number, word) in program.command.iter().enumerate() {
            let digest = program.file_of(number).map(|path| {
                warploom_catalog::digest_cache::digest(
                    &path,
                    Some(&environment.digest_cache_path()),
                    environment.rereads_raw_files(),
                )
                .map_err(|error| StageError::io("read", &path, &error).at(word))
            });
            program.digests.push(digest.transpose()?);
        }
        Ok(Some(program))
    }

    /// The setting that names it.
    fn setting(&self) -> String {
        format!("{}.command", self.stage)
    }

    /// Whether it is given an artifact of a kind.
    pub fn is_given(&self, kind: Kind) -> bool {
        self.inputs.iter().any(|&input| child_process::kind_of(input) == kind)
    }

    /// The file that a word names; none of a program that is found through PATH.
    fn file_of(&self, number: usize) -> Option<PathBuf> {
        let word = self.command.get(number)?;
        let path = self.folder.join(word);
        let is_searched = number == 0 && !word.contains('/');
        (!is_searched && path.is_file()).then_some(path)
    }

    /// The command for the key: digests in place of paths.
    pub fn key_document(&self) -> Value {
        let word = |(word, digest): (&String, &Option<String>)| match digest {
            Some(digest) => json!({"blake3": digest}),
            None => json!(word),
        };
        let words: Vec<Value> = self.command.iter().zip(&self.digests).map(word).collect();
        let inputs: Vec<&str> = self.inputs.iter().map(|input| input.name()).collect();
        json!({"words": words, "inputs": inputs})
    }

    /// Refuses what was made if a file of the command has changed since the key was computed.
    fn refuse_changed(&self) -> Result<(), StageError> {
        for (number, digest) in self.digests.iter().enumerate() {
            let (Some(path), Some(digest)) = (self.file_of(number), digest) else { continue };
            let now =
                Digest::from_file(&path).map_err(|error| StageError::io("read", &path, &error))?;
            if now.as_str() != digest {
                let setting = self.setting();
                let what = format!("a file of `{setting}` has changed since this stage began");
                return Err(StageError::new(ErrorKind::Input, what)
                    .at(path.display())
                    .hint("start again; with  --verify  its digest is recomputed"));
            }
        }
        Ok(())
    }
}

impl ProgramSettings<'_> {
    /// Whether a program is asked for; refuses what cannot be run.
    fn refuse_unfit(&self, folder: &Path) -> Result<bool, StageError> {
        let ProgramSettings { stage, choice, .. } = self;
        let refuse = |what: String, hint: String| {
            let place = format!("{stage}.command");
            Err(StageError::new(ErrorKind::Specification, what).at(place).hint(hint))
        };
        let Some(program) = self.command.first() else {
            if !self.is_asked {
                return Ok(false);
            }
            let what = format!("{choice} `program` needs a command, and none is named");
            let example = format!("--set '{stage}.command=[python3, program.py]'");
            return refuse(what, format!("name it and its arguments:  {example}"));
        };
        if !self.is_asked {
            let what = format!("a command is named, and the {choice} does not run it");
            let asking = format!("--set {stage}.{choice}=program");
            let hint = format!("ask for it with  {asking}  or leave `{stage}.command` out");
            return refuse(what, hint);
        }
        if !is_there(program, folder) {
            let what = format!(
                "expected a program of {} or of PATH, found no `{program}`",
                folder.display()
            );
            let hint =
                "a script is the argument of its interpreter:  command: [python3, program.py]";
            return refuse(what, hint.to_owned());
        }
        let reads = stage.contract().reads;
        let is_later = |input: &&ProgramInput| !reads.contains(&child_process::kind_of(**input));
        if let Some(input) = self.inputs.iter().find(is_later) {
            let what = format!("`{stage}` is before the {} is made", input.name());
            let hint = format!("leave `{}` out of  {stage}.inputs", input.name());
            return refuse(what, hint);
        }
        Ok(true)
    }
}

/// The folder of a pipeline file; the current one for standard input.
fn folder_of(file: &Path) -> PathBuf {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_path_buf()
}

/// Whether a program is a file of the folder, or in one of PATH.
fn is_there(program: &str, folder: &Path) -> bool {
    if program.contains('/') {
        return folder.join(program).is_file();
    }
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|path| path.join(program).is_file())
}
