//! Gets the files of a data set: each from its address, or all from their archive.
//!
//! promises  a file under its final name is complete; its size and digest are recorded when it comes, and compared ever after
//! promises  an archive that somebody put into the set's folder is unpacked without a network, and left there
//! never     overwrites a file that is there; asks a question; runs unless `fetch` or `locate` with `Attempt::Once` is called
use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    CatalogError, Entry, digests,
    download::{Limits, Progress, download},
    entry::{Archive, RawFile},
    locate::{forget, found_file},
    trouble::Trouble,
    unpack::unpack,
};

/// Tries for one file, when somebody asked for it.
const TRIES: u32 = 6;

/// Gets every file of a set that `<data_dir>/<name>/` lacks, forgets an earlier failure first (noted in `kept`, see `locate`), and returns
/// all paths.
pub fn fetch(entry: &Entry, data_dir: &Path, kept: Option<&Path>, progress: &mut dyn FnMut(Progress)) -> Result<Vec<PathBuf>, CatalogError> {
    let limits = Limits { whole: Duration::from_secs(6 * 3600), tries: TRIES, ..Limits::default() };
    fetch_within(entry, data_dir, kept, &limits, progress)
}

/// `fetch` with limits.
pub(crate) fn fetch_within(
    entry: &Entry,
    data_dir: &Path,
    kept: Option<&Path>,
    limits: &Limits,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<PathBuf>, CatalogError> {
    if entry.generator.is_some() {
        return Err(
            CatalogError::new(format!("`{}` is made and not fetched", entry.name)).hint("a pipeline makes it when it is needed:  warploom pipeline FILE")
        );
    }
    let folder = data_dir.join(&entry.name);
    forget(entry, &folder, kept).map_err(|(path, error)| CatalogError::new(format!("cannot forget the earlier failure: {error}")).at(path.display()))?;
    let paths = get(entry, &folder, limits, progress).map_err(|missed| by_hand(entry, &missed, &folder))?;
    for (file, path) in entry.files.iter().zip(&paths) {
        digests::settle(entry, file, (&folder, path))?;
    }
    Ok(paths)
}

/// A file that could not be had.
pub(crate) struct Missed {
    file: String,
    url: Option<String>,
    /// Where it should lie.
    path: PathBuf,
    why: Trouble,
}

impl Missed {
    /// In one line.
    pub(crate) fn line(&self) -> String {
        format!("`{}`: {}", self.file, self.why.what)
    }

    /// Whether it could be had if there were room, or leave to write.
    pub(crate) fn is_local(&self) -> bool {
        self.why.disk.is_some()
    }
}

/// All files of a set in its folder, those that are not there from the network.
pub(crate) fn get(entry: &Entry, folder: &Path, limits: &Limits, progress: &mut dyn FnMut(Progress)) -> Result<Vec<PathBuf>, Missed> {
    if let Some(archive) = &entry.archive {
        let packed: Vec<&str> =
            entry.files.iter().filter(|file| file.url.is_none() && found_file(folder, file).is_none()).map(|file| file.file.as_str()).collect();
        if !packed.is_empty() {
            get_archive((entry, archive), &packed, folder, limits, progress)?;
        }
    }
    let one = |file: &RawFile| match found_file(folder, file) {
        Some(path) => Ok(path),
        None => {
            let missed = |path: PathBuf, why: Trouble| Missed { file: file.file.clone(), url: file.url.clone(), path, why };
            let Some(url) = &file.url else {
                return Err(missed(folder.join(&file.file), Trouble::new("the catalogue knows no address for it")));
            };
            let path = folder.join(kept_as(file, url));
            let judge = |beside: &Path| digests::judge(entry, file, (folder, &path), beside);
            download((&file.file, url), &path, limits, progress, &judge).map_err(|why| missed(path.clone(), why))?;
            Ok(path)
        }
    };
    entry.files.iter().map(one).collect()
}

/// Takes files out of an archive that lies in the folder, or else comes from the network and goes again.
fn get_archive((entry, archive): (&Entry, &Archive), files: &[&str], folder: &Path, limits: &Limits, progress: &mut dyn FnMut(Progress)) -> Result<(), Missed> {
    let name = archive.url.rsplit('/').next().unwrap_or("archive");
    let path = folder.join(name);
    let missed = |why: Trouble| Missed { file: name.to_owned(), url: Some(archive.url.clone()), path: path.clone(), why };
    let was_there = path.is_file();
    if !was_there {
        download((name, &archive.url), &path, limits, progress, &|_| Ok(())).map_err(missed)?;
    }
    let judge = |name: &str, (path, beside): (&Path, &Path)| match entry.files.iter().find(|file| file.file == name) {
        Some(file) => digests::judge(entry, file, (folder, path), beside),
        None => Ok(()),
    };
    let unpacked = unpack(&path, &archive.folder, files, folder, &judge).map_err(missed);
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

/// The error of a file that could not be had, with the way to do it by hand, or to have room for it.
fn by_hand(entry: &Entry, missed: &Missed, folder: &Path) -> CatalogError {
    let error = CatalogError::new(format!("cannot fetch `{}` of `{}`: {}", missed.file, entry.name, missed.why.what));
    if let Some(hint) = &missed.why.hint {
        return error.at(missed.path.display()).hint(hint.to_string());
    }
    match &missed.url {
        _ if missed.why.is_no_room() => {
            let error = CatalogError { disk_full: true, ..error.at(missed.path.display()) };
            error.hint("free some space, or choose another place with  --data DIR ; what has come is kept where the server can go on from it")
        }
        _ if missed.is_local() => error.at(missed.path.display()).hint("choose a folder that can be written with  --data DIR , or change its permissions"),
        Some(url) => {
            // All that is missing, not to be told of one file after the other.
            let wanted = match &entry.archive {
                Some(archive) if archive.url == *url => vec![(missed.path.clone(), url.clone())],
                _ => missing(entry, folder),
            };
            let copied = if wanted.len() == 1 {
                format!("copy it to  {}", missed.path.display())
            } else {
                format!("copy {} files to  {}", wanted.len(), folder.display())
            };
            let parts: String = wanted.iter().map(|(path, url)| format!(" -o {} '{url}'", pasted(path))).collect();
            error.at(url).hint(format!("without a network here, {copied}  by hand:  curl -L --create-dirs{parts}"))
        }
        None => error.hint(format!("put it there by hand as  {}", missed.path.display())),
    }
}

/// The files with an address that are not there: where each should lie, and its address.
fn missing(entry: &Entry, folder: &Path) -> Vec<(PathBuf, String)> {
    let absent = entry.files.iter().filter(|file| found_file(folder, file).is_none());
    absent.filter_map(|file| Some((folder.join(kept_as(file, file.url.as_ref()?)), file.url.clone()?))).collect()
}

/// A path as a shell takes it.
fn pasted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = text.chars().all(|letter| letter.is_alphanumeric() || "/._-@+".contains(letter));
    if plain { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests;
