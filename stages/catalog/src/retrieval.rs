//! retrieval: downloads the missing files of a set, from their addresses or their archive.
//!
//! promises  a file under its final name is complete and matches the entry
//! never     overwrites an existing file
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    Entry, digests,
    download::{Limits, Progress, download},
    download_error::DownloadError,
    entry::{Archive, RawFile},
    file_names::{download_name, find_file},
    unpack::unpack,
};

/// The folders that a download creates.
pub(crate) struct NewFolders(BTreeSet<PathBuf>);

impl NewFolders {
    /// The folders of this set that do not exist.
    pub(crate) fn missing(entry: &Entry, folder: &Path) -> NewFolders {
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
        NewFolders(parents.chain([folder.to_path_buf()]).flat_map(absent).collect())
    }

    /// Removes those that are empty: a part that a later try resumes keeps its folder.
    pub(crate) fn remove_empty(&self) {
        // Subfolders first.
        self.0.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
    }
}

/// A file that could not be downloaded.
pub(crate) struct MissedFile {
    pub(crate) file: String,
    pub(crate) url: Option<String>,
    /// Its path.
    pub(crate) path: PathBuf,
    pub(crate) why: DownloadError,
}

impl MissedFile {
    /// The error in one line.
    pub(crate) fn message(&self) -> String {
        format!("`{}`: {}", self.file, self.why.what)
    }

    /// Whether the disk is at fault: it is full, or not writable.
    pub(crate) fn is_disk_fault(&self) -> bool {
        self.why.disk.is_some()
    }
}

/// The paths of all files of a set in its folder, with missing ones downloaded.
pub(crate) fn retrieve_files(
    entry: &Entry,
    folder: &Path,
    limits: &Limits,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<PathBuf>, MissedFile> {
    if let Some(archive) = &entry.archive {
        let packed: Vec<&str> = entry
            .files
            .iter()
            .filter(|file| file.url.is_none() && find_file(folder, file).is_none())
            .map(|file| file.file.as_str())
            .collect();
        if !packed.is_empty() {
            retrieve_archive(entry, archive, &packed, folder, limits, progress)?;
        }
    }
    let one = |file: &RawFile| match find_file(folder, file) {
        Some(path) => Ok(path),
        None => {
            let missed = |path: PathBuf, why: DownloadError| MissedFile {
                file: file.file.clone(),
                url: file.url.clone(),
                path,
                why,
            };
            let Some(url) = &file.url else {
                return Err(missed(
                    folder.join(&file.file),
                    DownloadError::new("the catalogue knows no address for it"),
                ));
            };
            let path = folder.join(download_name(file, url));
            let judge = |beside: &Path| digests::check_download(entry, file, folder, &path, beside);
            download(&file.file, url, &path, limits, progress, &judge)
                .map_err(|why| missed(path.clone(), why))?;
            Ok(path)
        }
    };
    entry.files.iter().map(one).collect()
}

/// Unpacks files from an archive in the folder, else from one that is downloaded and then removed.
fn retrieve_archive(
    entry: &Entry,
    archive: &Archive,
    files: &[&str],
    folder: &Path,
    limits: &Limits,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), MissedFile> {
    let name = archive.url.rsplit('/').next().unwrap_or("archive");
    let path = folder.join(name);
    let missed = |why: DownloadError| MissedFile {
        file: name.to_owned(),
        url: Some(archive.url.clone()),
        path: path.clone(),
        why,
    };
    let was_there = path.is_file();
    if !was_there {
        download(name, &archive.url, &path, limits, progress, &|beside| {
            digests::refuse_mistaken(&path, beside)
        })
        .map_err(missed)?;
    }
    let judge = |name: &str, (path, beside): (&Path, &Path)| match entry
        .files
        .iter()
        .find(|file| file.file == name)
    {
        Some(file) => digests::check_download(entry, file, folder, path, beside),
        None => Ok(()),
    };
    let unpacked = unpack(&path, &archive.folder, files, folder, &judge).map_err(missed);
    if !was_there {
        // An archive that cannot be removed only takes space.
        let _ = fs::remove_file(&path);
    }
    unpacked.map(|_| ())
}
