//! raw_files: the data set of a program of the user's, which reads files of any format.
//!
//! promises  every file of a set without an entry is listed, but hidden ones: their digests are in
//!           the key; a folder that cannot be listed whole is an error
//! never     reads a file; follows a link to a folder
use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    Catalog, CatalogError, Entry, Generator, Source,
    entry::{Format, InheritedProvenance, RawFile},
    folder::{entry_of_folder, folder_of},
    imported_sets, is_plain,
};

/// Most files of a set.
const FILES_MOST: usize = 100_000;
/// Deepest folder below that of the set.
const DEPTH_MOST: usize = 64;

/// The data set of a program.
#[derive(Clone, Debug)]
pub struct RawData {
    /// What is known about it; its format is that of no reader.
    pub entry: Entry,
    /// Its files where it has no entry, or that it has none; with an entry, `locate` finds them.
    pub source: Option<Source>,
}

impl Catalog {
    /// The data set of this name for a program: with its entry, else every file of its folder, else
    /// without files.
    pub fn find_raw(&self, name: &str, data_dirs: &[PathBuf]) -> Result<RawData, CatalogError> {
        let is_known =
            imported_sets::set_folder(name, data_dirs)?.is_some() || self.has_entry(name)?;
        if !is_known && let Some(folder) = folder_of(name, data_dirs)? {
            imported_sets::refuse_without_entry(name, &folder)?;
            return raw_folder(name, folder);
        }
        // A path is no name, and the error says what to do.
        if is_known || !is_plain(name) || Generator::from_name(name).is_some() {
            let entry = self.find_in(name, data_dirs)?;
            refuse_generated(&entry)?;
            let read = warploom_formats::Options::default();
            let entry = Entry { format: Format::of_program(), read, ..entry };
            return Ok(RawData { entry, source: None });
        }
        let mut entry = entry_of_folder(name, Path::new(name), Format::of_program());
        entry.about = "What a program makes, without raw data.".to_owned();
        Ok(RawData { entry, source: Some(Source::Generated) })
    }
}

/// The set of every file of a folder.
fn raw_folder(name: &str, folder: PathBuf) -> Result<RawData, CatalogError> {
    let mut files = Vec::new();
    list(&folder, 0, &mut files)?;
    files.sort();
    let relative = |path: &PathBuf| RawFile {
        file: path.strip_prefix(&folder).unwrap_or(path).to_string_lossy().into_owned(),
        ..RawFile::default()
    };
    let entry = Entry {
        files: files.iter().map(relative).collect(),
        inherited: InheritedProvenance::from_manifest(&folder)?,
        ..entry_of_folder(name, &folder, Format::of_program())
    };
    Ok(RawData { entry, source: Some(Source::Real { folder, files }) })
}

fn refuse_generated(entry: &Entry) -> Result<(), CatalogError> {
    if entry.generator.is_none() {
        return Ok(());
    }
    let what = format!("`{}` is generated: it has no files for a program", entry.name);
    let hint = "name a folder of yours, or a name that is none:  --set dataset=NAME";
    Err(CatalogError::new(what).at("ingest.format").hint(hint))
}

/// Adds every file below a folder.
fn list(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), CatalogError> {
    let cannot = |error: std::io::Error| {
        CatalogError::new(format!("cannot list the folder: {error}")).at(folder.display())
    };
    let refuse = |path: &Path, what: String| {
        let error = CatalogError::new(what).at(path.display());
        Err(error.hint("move it out of the folder, or put a dot before its name"))
    };
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if entry.file_type().map_err(cannot)?.is_dir() {
            if depth == DEPTH_MOST {
                return refuse(&path, format!("a folder is more than {DEPTH_MOST} folders deep"));
            }
            list(&path, depth + 1, files)?;
            continue;
        }
        if !fs::metadata(&path).is_ok_and(|facts| facts.is_file()) {
            let what = "expected a file, found a link to none, a link to a folder, or a pipe";
            return refuse(&path, format!("{what}: its contents would be in no key"));
        }
        if files.len() == FILES_MOST {
            return refuse(&path, format!("expected at most {FILES_MOST} files of raw data"));
        }
        files.push(path);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_a_folder_is_raw_data() {
        let dir = tempfile::tempdir().unwrap();
        let dirs = [dir.path().to_path_buf()];
        let folder = dir.path().join("mine");
        fs::create_dir_all(folder.join("a/b/c/d/e/f")).unwrap();
        for name in ["a/b/c/d/e/f/deep.bin", "x.gz", "x", ".hidden"] {
            fs::write(folder.join(name), name).unwrap();
        }
        let catalog = Catalog::default();
        let RawData { entry, source } = catalog.find_raw("mine", &dirs).unwrap();
        let names: Vec<&str> = entry.files.iter().map(|file| file.file.as_str()).collect();
        assert_eq!(names, ["a/b/c/d/e/f/deep.bin", "x", "x.gz"]);
        let files = names.iter().map(|name| folder.join(name)).collect();
        assert_eq!(source, Some(Source::Real { folder: folder.clone(), files }));
        std::os::unix::fs::symlink(folder.join("a"), folder.join("link")).unwrap();
        let error = catalog.find_raw("mine", &dirs).unwrap_err();
        assert!(error.what.contains("a link to a folder") && error.hint.is_some(), "{error}");
    }

    #[test]
    fn a_name_without_a_folder_has_no_raw_data_and_generated_sets_are_refused() {
        let catalog = Catalog::default();
        let found = catalog.find_raw("nothing-here", &[]).unwrap();
        assert_eq!((found.source, found.entry.files.len()), (Some(Source::Generated), 0));
        let known = catalog.find_raw("karate", &[]).unwrap();
        assert!(known.source.is_none() && !known.entry.files.is_empty());
        assert_eq!(known.entry.format.as_str(), "program");
        for name in ["rmat-10", "../karate", ""] {
            assert!(catalog.find_raw(name, &[]).is_err(), "{name}");
        }
    }
}
