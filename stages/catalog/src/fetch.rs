//! Gets the files of a data set: each from its address, or all from their archive.
//!
//! promises  a file under its final name is complete; its size and digest are recorded when it
//!           comes, and compared ever after
//! promises  files that are here in another place that the entry knows are not fetched again
//! promises  a failure leaves no empty folder behind; a page or a pointer in the place of a file
//!           never gets its name
//! promises  an archive that somebody put into the set's folder is unpacked without a network, and
//!           left there
//! never     overwrites a file that is there; asks a question; runs unless `fetch` or `locate` with
//!           `Attempt::Once` is called
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    Attempt, CatalogError, Entry, Source, digest_cache, digests,
    download::{Limits, Progress, download},
    download_error::Trouble,
    entry::{Archive, RawFile},
    locate::{forget, found_file, locate, own_folder, present},
    unpack::unpack,
};

/// Tries for one file, when somebody asked for it.
const TRIES: u32 = 6;

/// The files of a set, and whether they were here already in another place than the first data
/// folder's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// One path for each file of the entry, in its order.
    pub paths: Vec<PathBuf>,
    /// The folder or archive elsewhere that has them, where nothing had to be fetched.
    pub elsewhere: Option<PathBuf>,
}

/// Gets every file of a set that `<data_dirs[0]>/<name>/` lacks, unless all are here in another
/// place that the entry knows; forgets an earlier failure first (noted in `kept`, see `locate`).
pub fn fetch(
    entry: &Entry,
    data_dirs: &[PathBuf],
    kept: Option<&Path>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Fetched, CatalogError> {
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
) -> Result<Fetched, CatalogError> {
    if entry.generator.is_some() {
        return Err(CatalogError::new(format!("`{}` is made and not fetched", entry.name))
            .hint("a pipeline makes it when it is needed:  warploom pipeline FILE"));
    }
    let folder =
        own_folder(entry, data_dirs).unwrap_or_else(|| Path::new("data/raw").join(&entry.name));
    if let Some(found) = elsewhere(entry, &folder, data_dirs, kept)? {
        return Ok(found);
    }
    forget(entry, &folder, kept).map_err(|(path, error)| {
        CatalogError::new(format!("cannot forget the earlier failure: {error}")).at(path.display())
    })?;
    let made = Made::before(entry, &folder);
    let paths = get(entry, &folder, limits, progress).map_err(|missed| {
        made.remove_empty();
        by_hand(entry, &missed, &folder)
    })?;
    for (file, path) in entry.files.iter().zip(&paths) {
        digests::settle(entry, file, (&folder, path))?;
    }
    Ok(Fetched { paths, elsewhere: None })
}

/// All files of a set in another place than `folder`, if they are there and are those that the
/// entry tells of.
fn elsewhere(
    entry: &Entry,
    folder: &Path,
    data_dirs: &[PathBuf],
    kept: Option<&Path>,
) -> Result<Option<Fetched>, CatalogError> {
    let here = present(entry, data_dirs)?;
    let place = if here.missing.is_empty() { here.folder } else { here.packed };
    let Some(place) = place.filter(|place| !place.starts_with(folder)) else { return Ok(None) };
    // A folder that lacks an entry's files never comes here; an archive that does not hold them is
    // passed by.
    let Ok(Source::Real { folder, files: paths }) = locate(entry, data_dirs, kept, Attempt::Never)
    else {
        return Ok(None);
    };
    for (file, path) in entry.files.iter().zip(&paths) {
        digests::refuse_folder(entry, file, path)?;
        let digest = digest_cache::digest(path, kept, false).map_err(|error| {
            CatalogError::new(format!("cannot read: {error}")).at(path.display())
        })?;
        digests::check(entry, file, (&folder, path), &digest)?;
    }
    Ok(Some(Fetched { paths, elsewhere: Some(place) }))
}

/// The folders that a download has to make.
pub(crate) struct Made(BTreeSet<PathBuf>);

impl Made {
    /// Those of this set that are not there.
    pub(crate) fn before(entry: &Entry, folder: &Path) -> Made {
        let parents = entry
            .files
            .iter()
            .filter_map(|file| Some(folder.join(&file.file).parent()?.to_path_buf()));
        let absent = |folder: PathBuf| {
            folder
                .ancestors()
                .take_while(|folder| !folder.exists() && *folder != Path::new(""))
                .map(Path::to_path_buf)
                .collect::<Vec<_>>()
        };
        Made(parents.chain([folder.to_path_buf()]).flat_map(absent).collect())
    }

    /// Takes away those that hold nothing: a part that a later try goes on from keeps its folder.
    pub(crate) fn remove_empty(&self) {
        // What is below goes first.
        self.0.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
    }
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
pub(crate) fn get(
    entry: &Entry,
    folder: &Path,
    limits: &Limits,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<PathBuf>, Missed> {
    if let Some(archive) = &entry.archive {
        let packed: Vec<&str> = entry
            .files
            .iter()
            .filter(|file| file.url.is_none() && found_file(folder, file).is_none())
            .map(|file| file.file.as_str())
            .collect();
        if !packed.is_empty() {
            get_archive((entry, archive), &packed, folder, limits, progress)?;
        }
    }
    let one = |file: &RawFile| match found_file(folder, file) {
        Some(path) => Ok(path),
        None => {
            let missed = |path: PathBuf, why: Trouble| Missed {
                file: file.file.clone(),
                url: file.url.clone(),
                path,
                why,
            };
            let Some(url) = &file.url else {
                return Err(missed(
                    folder.join(&file.file),
                    Trouble::new("the catalogue knows no address for it"),
                ));
            };
            let path = folder.join(kept_as(file, url));
            let judge = |beside: &Path| digests::judge(entry, file, (folder, &path), beside);
            download((&file.file, url), &path, limits, progress, &judge)
                .map_err(|why| missed(path.clone(), why))?;
            Ok(path)
        }
    };
    entry.files.iter().map(one).collect()
}

/// Takes files out of an archive that lies in the folder, or else comes from the network and goes
/// again.
fn get_archive(
    (entry, archive): (&Entry, &Archive),
    files: &[&str],
    folder: &Path,
    limits: &Limits,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), Missed> {
    let name = archive.url.rsplit('/').next().unwrap_or("archive");
    let path = folder.join(name);
    let missed = |why: Trouble| Missed {
        file: name.to_owned(),
        url: Some(archive.url.clone()),
        path: path.clone(),
        why,
    };
    let was_there = path.is_file();
    if !was_there {
        download((name, &archive.url), &path, limits, progress, &|beside| {
            digests::refuse_mistaken(&path, beside)
        })
        .map_err(missed)?;
    }
    let judge = |name: &str, (path, beside): (&Path, &Path)| match entry
        .files
        .iter()
        .find(|file| file.file == name)
    {
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
    let packed =
        [".gz", ".zst"].into_iter().find(|end| url.ends_with(end) && !file.file.ends_with(end));
    format!("{}{}", file.file, packed.unwrap_or_default())
}

/// The error of a file that could not be had, with the way to do it by hand, or to have room for
/// it.
fn by_hand(entry: &Entry, missed: &Missed, folder: &Path) -> CatalogError {
    let error = CatalogError::new(format!(
        "cannot fetch `{}` of `{}`: {}",
        missed.file, entry.name, missed.why.what
    ));
    if let Some(hint) = &missed.why.hint {
        return error.at(missed.path.display()).hint(hint.to_string());
    }
    match &missed.url {
        _ if missed.why.is_no_room() => {
            let error = CatalogError { disk_full: true, ..error.at(missed.path.display()) };
            let room = match missed.why.is_limited() {
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
        _ if missed.is_local() => error.at(missed.path.display()).hint(
            "choose a folder that can be written with  --data DIR , or change its permissions",
        ),
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
            let parts: String =
                wanted.iter().map(|(path, url)| format!(" -o {} '{url}'", pasted(path))).collect();
            error.at(url).hint(format!(
                "without a network here, {copied}  by hand:  curl -L --create-dirs{parts}"
            ))
        }
        None => error.hint(format!("put it there by hand as  {}", missed.path.display())),
    }
}

/// The files with an address that are not there: where each should lie, and its address.
fn missing(entry: &Entry, folder: &Path) -> Vec<(PathBuf, String)> {
    let absent = entry.files.iter().filter(|file| found_file(folder, file).is_none());
    absent
        .filter_map(|file| {
            Some((folder.join(kept_as(file, file.url.as_ref()?)), file.url.clone()?))
        })
        .collect()
}

/// A path as a shell takes it.
fn pasted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = text.chars().all(|letter| letter.is_alphanumeric() || "/._-@+".contains(letter));
    if plain { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests;
