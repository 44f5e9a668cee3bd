//! `warploom data fetch`: the files of a set, from their addresses.
use serde_json::json;
use warploom_catalog::{Entry, fetch};
use warploom_contract::{StageError, stage::Progress};
use warploom_shell::{Environment, requests::catalog_error, talk::Talk};

/// Gets what is missing into the first data folder, and says where all files are.
pub fn fetch_files(environment: &Environment, talk: &Talk, entry: &Entry) -> Result<(), StageError> {
    let folder = environment.data.first().cloned().unwrap_or_else(|| "data/raw".into());
    talk.stage("fetch");
    let mut current = String::new();
    let mut before = 0;
    let paths = fetch(entry, &folder, Some(&environment.seen()), &mut |progress| {
        if progress.file != current {
            progress.file.clone_into(&mut current);
            before = 0;
            talk.begin(progress.file, progress.total.unwrap_or(0), "bytes");
        }
        talk.advance(progress.bytes.saturating_sub(before));
        before = progress.bytes;
    });
    talk.end();
    let paths = paths.map_err(|error| catalog_error(&error))?;
    crate::print_as(
        environment,
        || paths.iter().map(|path| format!("{}\n", path.display())).collect(),
        || vec![json!({"name": entry.name, "files": paths.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>()})],
    );
    Ok(())
}
