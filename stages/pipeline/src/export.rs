//! `warploom export`: the files of an artifact under a plain name, for other programs.
use std::{fs, path::Path};

use warploom_contract::{ErrorKind, StageError};
use warploom_shell::{Environment, limits::show_size};

/// Copies the files of all artifacts with this key into a folder.
pub fn export(environment: &Environment, digits: &str, output: &Path) -> Result<(), StageError> {
    let artifacts = crate::store::find(environment, digits)?;
    let several = artifacts.len() > 1;
    for artifact in artifacts {
        artifact.manifest.check_digests(&artifact.path)?;
        let target = if several { output.join(artifact.kind.name()) } else { output.to_path_buf() };
        for file in artifact.manifest.files.iter().map(|file| file.name.as_str()).chain(["manifest.json"]) {
            let to = target.join(file);
            if to.exists() {
                return Err(StageError::new(ErrorKind::Input, "the file is there already").at(to.display()).hint("choose an empty folder with  -o DIR"));
            }
            let folder = to.parent().unwrap_or(&target);
            fs::create_dir_all(folder).map_err(|error| StageError::io("make a folder", folder, &error))?;
            fs::copy(artifact.file(file), &to).map_err(|error| StageError::io("copy", &to, &error))?;
        }
        let bytes = artifact.manifest.bytes();
        crate::print_as(
            environment,
            || format!("{} {} -> {} ({})\n", artifact.kind.name(), artifact.manifest.key, target.display(), show_size(bytes)),
            || vec![serde_json::json!({"kind": artifact.kind.name(), "key": artifact.manifest.key, "path": target.to_string_lossy(), "bytes": bytes})],
        );
    }
    Ok(())
}
