//! external_program: a program of the user's that makes an artifact in place of a stage's own code.
//!
//! promises  the key holds the words of the command, and the digest of each file that a word names
//!           in place of its path; a program that is not there is refused before the first stage
//! never     runs anything: the stage does
//! limits    a program that is found through PATH, such as `python3`, is in the key by its name; a
//!           file that it reads without being named in the command is in no key
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use warploom_contract::{Digest, ErrorKind, StageError};
use warploom_spec::{Method, Pipeline, ProgramInput};

use crate::Environment;

/// A program, resolved.
#[derive(Clone, Debug)]
pub struct ExternalProgram {
    /// The words of the command, as written.
    pub command: Vec<String>,
    /// The folder in which it runs: that of the pipeline file.
    pub folder: PathBuf,
    /// For each word, the digest of the file that it names.
    pub digests: Vec<Option<String>>,
    /// The artifacts that it is given.
    pub inputs: Vec<ProgramInput>,
}

impl ExternalProgram {
    /// The program of a pipeline's `reorder.command`, if the method asks for it.
    pub fn resolve(
        environment: &Environment,
        pipeline: &Pipeline,
    ) -> Result<Option<ExternalProgram>, StageError> {
        let spec = &pipeline.reorder;
        let refuse = |what: String, hint: &str| {
            Err(StageError::new(ErrorKind::Specification, what).at("reorder.command").hint(hint))
        };
        match (spec.command.first(), spec.method == Method::Program) {
            (None, false) => return Ok(None),
            (None, true) => {
                let hint =
                    "name it and its arguments:  --set 'reorder.command=[python3, order.py]'";
                return refuse("method `program` needs a command, and none is named".into(), hint);
            }
            (Some(_), false) => {
                let hint =
                    "ask for it with  --set reorder.method=program  or leave `reorder.command` out";
                let what = "a command is named, and the method does not run it";
                return refuse(what.into(), hint);
            }
            (Some(program), true) => {
                let folder = folder_of(&pipeline.file);
                if !is_there(program, &folder) {
                    let what = format!(
                        "expected a program of {} or of PATH, found no `{program}`",
                        folder.display()
                    );
                    let hint = "a script is the argument of its interpreter:  command: [python3, \
                                order.py]";
                    return refuse(what, hint);
                }
            }
        }
        let mut program = ExternalProgram {
            command: spec.command.clone(),
            folder: folder_of(&pipeline.file),
            digests: Vec::new(),
            inputs: [ProgramInput::Csr, ProgramInput::Graph]
                .into_iter()
                .filter(|input| spec.inputs.contains(input))
                .collect(),
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
    pub fn refuse_changed(&self) -> Result<(), StageError> {
        for (number, digest) in self.digests.iter().enumerate() {
            let (Some(path), Some(digest)) = (self.file_of(number), digest) else { continue };
            let now =
                Digest::from_file(&path).map_err(|error| StageError::io("read", &path, &error))?;
            if now.as_str() != digest {
                let what = "a file of `reorder.command` has changed since this stage began";
                return Err(StageError::new(ErrorKind::Input, what)
                    .at(path.display())
                    .hint("start again; with  --verify  its digest is recomputed"));
            }
        }
        Ok(())
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
