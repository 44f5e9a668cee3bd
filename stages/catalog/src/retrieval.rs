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
    download_error::Trouble,
    entry::{Archive, RawFile},
    file_names::{found_file, kept_as},
    unpack::unpack,
};

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
    pub(crate) file: String,
    pub(crate) url: Option<String>,
    /// Where it should lie.
    pub(crate) path: PathBuf,
    pub(crate) why: Trouble,
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
            get_archive(entry, archive, &packed, folder, limits, progress)?;
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
            let judge = |beside: &Path| digests::judge(entry, file, folder, &path, beside);
            download(&file.file, url, &path, limits, progress, &judge)
                .map_err(|why| missed(path.clone(), why))?;
            Ok(path)
        }
    };
    entry.files.iter().map(one).collect()
}

/// Takes files out of an archive that lies in the folder, or else comes from the network and goes
/// again.
fn get_archive(
    entry: &Entry,
    archive: &Archive,
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
        Some(file) => digests::judge(entry, file, folder, path, beside),
        None => Ok(()),
    };
    let unpacked = unpack(&path, &archive.folder, files, folder, &judge).map_err(missed);
    if !was_there {
        // What cannot be removed only takes room.
        let _ = fs::remove_file(&path);
    }
    unpacked.map(|_| ())
}
