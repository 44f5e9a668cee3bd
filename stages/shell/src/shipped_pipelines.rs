//! shipped_pipelines: finds the pipeline files that come with the programs, by their names.
//!
//! promises  `gcn` stands for `pipelines/gcn.yaml` of the installation, or of the source tree, that
//!           the running program belongs to; a file of that name in the current folder comes first
//! never     looks into the current folder or above it for a folder of pipelines
use std::{
    env, fs,
    path::{Path, PathBuf},
};

use warploom_contract::{ErrorKind, StageError};
use warploom_spec::nearest;

/// The folder of pipelines of an installation, and of a source tree, from the folder of a program.
const FOLDERS: [&str; 2] = ["../share/warploom/pipelines", "../../pipelines"];

/// The pipeline file that was meant: a shipped one if this is the name of one and of no file.
pub fn resolve_name(file: PathBuf) -> Result<PathBuf, StageError> {
    let is_name = file.components().count() == 1 && file.extension().is_none();
    if !is_name || file.exists() {
        return Ok(file);
    }
    let program = env::current_exe().ok();
    let folder = program.as_deref().and_then(Path::parent).and_then(pipelines_folder);
    let Some(folder) = folder else { return Ok(file) };
    let shipped = folder.join(&file).with_extension("yaml");
    if shipped.is_file() {
        return Ok(shipped);
    }
    let names = pipeline_names(&folder);
    match nearest(&file.to_string_lossy(), names.iter().map(String::as_str)) {
        // Of the files of the current folder, the error of the missing file names the nearest.
        Some(near) if !file.with_extension("yaml").exists() => {
            let what = "no pipeline file and no shipped pipeline has this name";
            let error = StageError::new(ErrorKind::Specification, what).at(file.display());
            Err(error.hint(format!("did you mean  {near}")))
        }
        _ => Ok(file),
    }
}

/// The folder of shipped pipelines that belongs to the programs of a folder.
fn pipelines_folder(programs: &Path) -> Option<PathBuf> {
    // Without `..`, which would be printed with every hint.
    FOLDERS.iter().find_map(|folder| programs.join(folder).canonicalize().ok())
}

fn pipeline_names(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path());
    let pipelines = files.filter(|path| path.extension().is_some_and(|end| end == "yaml"));
    let mut names: Vec<String> =
        pipelines.filter_map(|path| path.file_stem()?.to_str().map(str::to_owned)).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipelines_of_an_installation_and_of_a_source_tree_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for (programs, pipelines) in
            [("opt/bin", "opt/share/warploom/pipelines"), ("tree/target/debug", "tree/pipelines")]
        {
            let (programs, pipelines) = (root.join(programs), root.join(pipelines));
            fs::create_dir_all(&programs).unwrap();
            assert_eq!(pipelines_folder(&programs), None);
            fs::create_dir_all(pipelines.join("programs")).unwrap();
            fs::write(pipelines.join("gcn.yaml"), "").unwrap();
            fs::write(pipelines.join("schema.json"), "").unwrap();
            assert_eq!(pipelines_folder(&programs), Some(pipelines.clone()));
            assert_eq!(pipeline_names(&pipelines), ["gcn"]);
        }
    }

    #[test]
    fn files_keep_their_names() {
        for name in ["pipelines/gcn", "gcn.yaml", "./gcn", "-", "", "dataset=cora"] {
            assert_eq!(resolve_name(name.into()).unwrap(), Path::new(name));
        }
    }
}
