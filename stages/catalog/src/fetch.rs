//! Gets the files of a data set: each from its address, or all from their archive.
//!
//! promises  a file under its final name is complete; its size and digest are recorded when it comes, and compared ever after
//! promises  an archive that somebody put into the set's folder is unpacked without a network, and left there
//! never     overwrites a file that is there; asks a question; runs unless `fetch` or `locate` with `Attempt::Once` is called
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    CatalogError, Entry, digests,
    download::{Limits, Progress, download},
    entry::{Archive, RawFile},
    locate::{ABSENT, found_file, origin},
    unpack::unpack,
};

/// Tries for one file, when somebody asked for it.
const TRIES: u32 = 6;

/// Gets every file of a set that `<data_dir>/<name>/` lacks, forgets an earlier failure first, and returns all paths.
pub fn fetch(entry: &Entry, data_dir: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Vec<PathBuf>, CatalogError> {
    let limits = Limits { whole: Duration::from_secs(6 * 3600), tries: TRIES, ..Limits::default() };
    fetch_within(entry, data_dir, &limits, progress)
}

/// `fetch` with limits.
pub(crate) fn fetch_within(entry: &Entry, data_dir: &Path, limits: &Limits, progress: &mut dyn FnMut(Progress)) -> Result<Vec<PathBuf>, CatalogError> {
    if entry.generator.is_some() {
        return Err(
            CatalogError::new(format!("`{}` is made and not fetched", entry.name)).hint("a pipeline makes it when it is needed:  warploom pipeline FILE")
        );
    }
    let folder = data_dir.join(&entry.name);
    match fs::remove_file(folder.join(ABSENT)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(CatalogError::new(format!("cannot forget the earlier failure: {error}")).at(folder.join(ABSENT).display()));
        }
        _ => {}
    }
    let paths = get(entry, &folder, limits, progress).map_err(|missed| by_hand(entry, &missed, &folder))?;
    for (file, path) in entry.files.iter().zip(&paths) {
        digests::settle(&folder, path, origin(entry, file))?;
    }
    Ok(paths)
}

/// A file that could not be had.
pub(crate) struct Missed {
    file: String,
    url: Option<String>,
    /// Where it should lie.
    path: PathBuf,
    what: String,
}

impl Missed {
    /// In one line.
    pub(crate) fn line(&self) -> String {
        format!("`{}`: {}", self.file, self.what)
    }
}

/// All files of a set in its folder, those that are not there from the network.
pub(crate) fn get(entry: &Entry, folder: &Path, limits: &Limits, progress: &mut dyn FnMut(Progress)) -> Result<Vec<PathBuf>, Missed> {
    if let Some(archive) = &entry.archive {
        let packed: Vec<&str> =
            entry.files.iter().filter(|file| file.url.is_none() && found_file(folder, file).is_none()).map(|file| file.file.as_str()).collect();
        if !packed.is_empty() {
            get_archive(archive, &packed, folder, limits, progress)?;
        }
    }
    let one = |file: &RawFile| match found_file(folder, file) {
        Some(path) => Ok(path),
        None => {
            let missed = |path: PathBuf, what: String| Missed { file: file.file.clone(), url: file.url.clone(), path, what };
            let Some(url) = &file.url else {
                return Err(missed(folder.join(&file.file), "the catalogue knows no address for it".into()));
            };
            let path = folder.join(kept_as(file, url));
            download(&file.file, url, &path, limits, progress).map_err(|what| missed(path.clone(), what))?;
            Ok(path)
        }
    };
    entry.files.iter().map(one).collect()
}

/// Takes files out of an archive that lies in the folder, or else comes from the network and goes again.
fn get_archive(archive: &Archive, files: &[&str], folder: &Path, limits: &Limits, progress: &mut dyn FnMut(Progress)) -> Result<(), Missed> {
    let name = archive.url.rsplit('/').next().unwrap_or("archive");
    let path = folder.join(name);
    let missed = |what: String| Missed { file: name.to_owned(), url: Some(archive.url.clone()), path: path.clone(), what };
    let was_there = path.is_file();
    if !was_there {
        download(name, &archive.url, &path, limits, progress).map_err(missed)?;
    }
    let unpacked = unpack(&path, &archive.folder, files, folder).map_err(missed);
    if !was_there {
        // What cannot be removed only takes room.
        let _ = fs::remove_file(&path);
    }
    unpacked.map(|_| ())
}

/// The name under which a download is kept: plain, or with the URL's `.gz` or `.zst`.
fn kept_as(file: &RawFile, url: &str) -> String {
    let packed = [".gz", ".zst"].into_iter().find(|end| url.ends_with(end) && !file.file.ends_with(end));
    format!("{}{}", file.file, packed.unwrap_or_default())
}

/// The error of a file that could not be had, with the way to do it by hand.
fn by_hand(entry: &Entry, missed: &Missed, folder: &Path) -> CatalogError {
    let error = CatalogError::new(format!("cannot fetch `{}` of `{}`: {}", missed.file, entry.name, missed.what));
    let above = missed.path.parent().unwrap_or(folder);
    match &missed.url {
        Some(url) => error.at(url).hint(format!(
            "without a network here, copy it to  {0}  by hand:  mkdir -p {1} && curl -L -o {0} '{url}'",
            missed.path.display(),
            above.display()
        )),
        None => error.hint(format!("put it there by hand as  {}", missed.path.display())),
    }
}

#[cfg(test)]
mod tests;
