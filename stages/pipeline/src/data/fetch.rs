//! fetch: `warploom data fetch`: downloads the files of a data set.
use serde_json::json;
use warploom_catalog::{Entry, FetchedFiles, fetch};
use warploom_contract::{StageError, progress::Progress};
use warploom_shell::{Environment, progress::Talk, requests::catalog_error};

/// Downloads missing files into the first data folder, and prints where all files are; files found
/// in another place are not downloaded.
pub fn fetch_files(
    environment: &Environment,
    talk: &Talk,
    entry: &Entry,
) -> Result<(), StageError> {
    talk.stage("fetch");
    let mut current = String::new();
    let mut before = 0;
    let fetched =
        fetch(entry, &environment.data, Some(&environment.digest_cache_path()), &mut |progress| {
            if progress.file != current {
                progress.file.clone_into(&mut current);
                before = 0;
                talk.begin(progress.file, progress.total.unwrap_or(0), "bytes");
            }
            talk.advance(progress.bytes.saturating_sub(before));
            before = progress.bytes;
        });
    talk.end();
    let FetchedFiles { paths, elsewhere } = fetched.map_err(|error| catalog_error(&error))?;
    if let Some(place) = &elsewhere {
        talk.say(&format!(
            "the files of `{}` are available already: {}",
            entry.name,
            place.display()
        ));
    }
    crate::print_as(
        environment,
        || paths.iter().map(|path| format!("{}\n", path.display())).collect(),
        || {
            vec![
                json!({"name": entry.name, "files": paths.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>(), "elsewhere": elsewhere}),
            ]
        },
    );
    Ok(())
}
