//! fetch: downloads the files of a data set, each from its address, or all from their archive.
//!
//! promises  a file under its final name is complete; its size and digest are recorded at the
//!           download, and compared at each later use
//! promises  files that are found in another place of the entry are not downloaded again
//! promises  a failure leaves no empty folder; a web page or a pointer in place of a file never
//!           gets its name
//! promises  an archive in the set's folder is unpacked without a network, and kept
//! never     overwrites an existing file; asks a question; runs unless `fetch` or `locate` with
//!           `Attempt::Once` is called
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    Attempt, CatalogError, Entry, Source, digest_cache, digests,
    download::{Limits, Progress},
    file_names::{download_name, find_file},
    locate::{forget_failure, locate, own_folder, present_files},
    retrieval::{MissedFile, NewFolders, retrieve_files},
};

/// Tries for one file of `warploom data fetch`.
const TRIES: u32 = 6;

/// The files of a set, and the place that has them already, if it is not in the first data folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedFiles {
    /// One path for each file of the entry, in its order.
    pub paths: Vec<PathBuf>,
    /// The other folder or archive that has them, where nothing had to be downloaded.
    pub elsewhere: Option<PathBuf>,
}

/// Downloads every file of a set that `<data_dirs[0]>/<name>/` lacks, unless all are in another
/// place of the entry. Removes the note of an earlier failure in `kept` first (see `locate`).
pub fn fetch(
    entry: &Entry,
    data_dirs: &[PathBuf],
    kept: Option<&Path>,
    progress: &mut dyn FnMut(Progress),
) -> Result<FetchedFiles, CatalogError> {
    let limits = Limits { whole: Duration::from_secs(6 * 3600), tries: TRIES, ..Limits::default() };
    fetch_within(entry, data_dirs, kept, &limits, progress)
}

/// `fetch` with limits.
pub(crate) fn fetch_within(
    entry: &Entry,
    data_dirs: &[PathBuf],
    kept: Option<&Path>,
    limits: &Limits,
    progress: &mut dyn FnMut(Progress),
) -> Result<FetchedFiles, CatalogError> {
    if entry.generator.is_some() {
        return Err(CatalogError::new(format!("`{}` is generated, not downloaded", entry.name))
            .hint("a pipeline generates it when it is needed:  warploom pipeline FILE"));
    }
    let folder =
        own_folder(entry, data_dirs).unwrap_or_else(|| Path::new("data/raw").join(&entry.name));
    if let Some(found) = find_elsewhere(entry, &folder, data_dirs, kept)? {
        return Ok(found);
    }
    forget_failure(entry, &folder, kept).map_err(|(path, error)| {
        CatalogError::new(format!("cannot forget the earlier failure: {error}")).at(path.display())
    })?;
    let made = NewFolders::missing(entry, &folder);
    let paths = retrieve_files(entry, &folder, limits, progress).map_err(|missed| {
        made.remove_empty();
        manual_copy_error(entry, &missed, &folder)
    })?;
    for (file, path) in entry.files.iter().zip(&paths) {
        digests::compare_or_record(entry, file, &folder, path)?;
    }
    Ok(FetchedFiles { paths, elsewhere: None })
}

/// All files of a set in another place than `folder`, if they are there and match the entry.
fn find_elsewhere(
    entry: &Entry,
    folder: &Path,
    data_dirs: &[PathBuf],
    kept: Option<&Path>,
) -> Result<Option<FetchedFiles>, CatalogError> {
    let here = present_files(entry, data_dirs)?;
    let place = if here.missing.is_empty() { here.folder } else { here.packed };
    let Some(place) = place.filter(|place| !place.starts_with(folder)) else { return Ok(None) };
    // A folder that lacks files of the entry never comes here; an archive without them is skipped.
    let Ok(Source::Real { folder, files: paths }) = locate(entry, data_dirs, kept, Attempt::Never)
    else {
        return Ok(None);
    };
    for (file, path) in entry.files.iter().zip(&paths) {
        digests::refuse_folder(entry, file, path)?;
        let digest = digest_cache::digest(path, kept, false).map_err(|error| {
            CatalogError::new(format!("cannot read: {error}")).at(path.display())
        })?;
        digests::check_file(entry, file, &folder, path, &digest)?;
    }
    Ok(Some(FetchedFiles { paths, elsewhere: Some(place) }))
}

/// The error of a file that could not be downloaded, with how to copy it by hand or to make room
/// for it.
fn manual_copy_error(entry: &Entry, missed: &MissedFile, folder: &Path) -> CatalogError {
    let error = CatalogError::new(format!(
        "cannot fetch `{}` of `{}`: {}",
        missed.file, entry.name, missed.why.what
    ));
    if let Some(hint) = &missed.why.hint {
        return error.at(missed.path.display()).hint(hint.to_string());
    }
    match &missed.url {
        _ if missed.why.is_disk_full() => {
            let error = CatalogError { disk_full: true, ..error.at(missed.path.display()) };
            let room = match missed.why.is_file_size_limit() {
                true => {
                    "files may not be larger here: raise the limit on their size, as  ulimit -f  \
                     shows it"
                }
                false => "free some space",
            };
            error.hint(format!(
                "{room}, or choose another place with  --data DIR ; what has come is kept where \
                 the server can go on from it"
            ))
        }
        _ if missed.is_disk_fault() => error.at(missed.path.display()).hint(
            "choose a folder that can be written with  --data DIR , or change its permissions",
        ),
        Some(url) => {
            // The hint names all missing files at once.
            let wanted = match &entry.archive {
                Some(archive) if archive.url == *url => vec![(missed.path.clone(), url.clone())],
                _ => missing_files(entry, folder),
            };
            let copied = if wanted.len() == 1 {
                format!("copy it to  {}", missed.path.display())
            } else {
                format!("copy {} files to  {}", wanted.len(), folder.display())
            };
            let parts: String = wanted
                .iter()
                .map(|(path, url)| format!(" -o {} '{url}'", shell_quoted(path)))
                .collect();
            error.at(url).hint(format!(
                "without a network here, {copied}  by hand:  curl -L --create-dirs{parts}"
            ))
        }
        None => error.hint(format!("put it there by hand as  {}", missed.path.display())),
    }
}

/// The missing files that have an address: path and address of each.
fn missing_files(entry: &Entry, folder: &Path) -> Vec<(PathBuf, String)> {
    let absent = entry.files.iter().filter(|file| find_file(folder, file).is_none());
    absent
        .filter_map(|file| {
            Some((folder.join(download_name(file, file.url.as_ref()?)), file.url.clone()?))
        })
        .collect()
}

/// A path quoted for a shell.
fn shell_quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = text.chars().all(|letter| letter.is_alphanumeric() || "/._-@+".contains(letter));
    if plain { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests;
