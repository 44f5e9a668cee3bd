//! retrieval: the files of a set that its folder lacks, from their addresses or their archive.
//!
//! promises  a file under its final name is complete, and is what the entry tells of
//! never     overwrites a file that is there
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

/// The folders that a download has to make.
pub(crate) struct NewFolders(BTreeSet<PathBuf>);

impl NewFolders {
    /// Those of this set that are not there.
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

    /// Takes away those that hold nothing: a part that a later try goes on from keeps its folder.
    pub(crate) fn remove_empty(&self) {
        // What is below goes first.
        self.0.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
    }
}

/// A file that could not be had.
pub(crate) struct MissedFile {
    pub(crate) file: String,
    pub(crate) url: Option<String>,
    /// Where it should lie.
    pub(crate) path: PathBuf,
    pub(crate) why: DownloadError,
}

impl MissedFile {
    /// In one line.
    pub(crate) fn message(&self) -> String {
        format!("`{}`: {}", self.file, self.why.what)
    }

    /// Whether it could be had if there were room, or leave to write.
    pub(crate) fn is_disk_fault(&self) -> bool {
        self.why.disk.is_some()
    }
}

/// All files of a set in its folder, those that are not there from the network.
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

/// Takes files out of an archive that lies in the folder, or else comes from the network and goes
/// again.
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
        // What cannot be removed only takes room.
        let _ = fs::remove_file(&path);
    }
    unpacked.map(|_| ())
}
