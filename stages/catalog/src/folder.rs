//! folder: a folder of files without an entry is a data set too; its entry is inferred from its
//! files.
//!
//! promises  the format is detected from contents and names; an existing folder that is no data set
//!           is an error that says why
//! never     draws features or labels for such a set; follows a link to a folder; looks deeper than
//!           `DEPTH_MOST` folders
use crate::{
    CatalogError, Entry,
    entry::{
        ExpectedContents, ExpectedCounts, Format, InheritedProvenance, RawFile, SplitRule,
        SyntheticData, Task,
    },
    imported_sets, metadata_if_present, set_folders,
};
use std::{
    fs,
    path::{Path, PathBuf},
};
use warploom_formats::side_files;

/// Deepest folder below that of the set.
const DEPTH_MOST: usize = 4;
/// Unused files that are named.
const OTHERS_MOST: usize = 12;
/// Most files in all.
const FILES_MOST: usize = 100_000;

/// The inferred entry of `<data>/<name>/`, if there is such a folder.
pub fn infer_entry(name: &str, data_dirs: &[PathBuf]) -> Result<Option<Entry>, CatalogError> {
    let Some(folder) = folder_of(name, data_dirs)? else { return Ok(None) };
    imported_sets::refuse_without_entry(name, &folder)?;
    let listing = FolderListing::read(&folder)?;
    let (format, files) = recognise(&folder, listing).map_err(|error| CatalogError {
        what: format!("`{name}` is a folder without a catalogue entry, and {}", error.what),
        ..error
    })?;
    let relative = |path: &PathBuf| {
        let name = path.strip_prefix(&folder).unwrap_or(path).to_string_lossy().into_owned();
        let plain = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
        RawFile { file: plain.to_owned(), ..RawFile::default() }
    };
    Ok(Some(Entry {
        files: files.iter().map(relative).collect(),
        inherited: InheritedProvenance::from_manifest(&folder)?,
        ..entry_of_folder(name, &folder, Format::from_reader(format))
    }))
}

/// The files of a graph that a program of the user's wrote into a folder.
pub fn recognise_written(folder: &Path) -> Result<WrittenFiles, CatalogError> {
    let inherited = InheritedProvenance::from_manifest(folder)?;
    let (format, files) = recognise(folder, FolderListing::read(folder)?)?;
    Ok(WrittenFiles { format: Format::from_reader(format), files, inherited })
}

/// What a program wrote.
#[derive(Clone, Debug)]
pub struct WrittenFiles {
    /// The format that was recognised.
    pub format: Format,
    /// The files of the format, and those that may stand beside them.
    pub files: Vec<PathBuf>,
    /// Synthetic data, where it was made from an exported graph.
    pub inherited: InheritedProvenance,
}

/// Recognises the format of a folder: its files, then those that may stand beside them.
fn recognise(
    folder: &Path,
    listing: FolderListing,
) -> Result<(&'static warploom_formats::Format, Vec<PathBuf>), CatalogError> {
    let FolderListing { mut files, pipes } = listing;
    files.sort();
    let (format, mut consumed) = warploom_formats::detect(folder, &files).map_err(|error| {
        let mut converted = CatalogError::new(error.what.clone()).at(error.location());
        converted.detail = error.detail();
        for pipe in pipes.iter().take(OTHERS_MOST) {
            let told = format!(
                "\n       = {}: {PIPE}",
                pipe.strip_prefix(folder).unwrap_or(pipe).display()
            );
            converted.detail.get_or_insert_default().push_str(&told);
        }
        converted.hint(if pipes.is_empty() {
            error.hint.clone()
        } else {
            "write what comes out of it to a file:  cat PIPE > FILE".to_owned()
        })
    })?;
    files.retain(|path| side_files::may_stand_beside(path) && !consumed.contains(path));
    consumed.append(&mut files);
    Ok((format, consumed))
}

/// The entry of a folder that no catalogue entry describes, without files.
pub(crate) fn entry_of_folder(name: &str, folder: &Path, format: Format) -> Entry {
    Entry {
        name: name.to_owned(),
        about: format!("The folder {}, which no catalogue entry describes.", folder.display()),
        found_as: Vec::new(),
        files: Vec::new(),
        archive: None,
        format,
        read: warploom_formats::Options::default(),
        directed: true,
        symmetrize: false,
        entity_types: None,
        task: Task::None,
        licence: "unknown".to_owned(),
        expected: ExpectedCounts::default(),
        holds: ExpectedContents::default(),
        printed: Vec::new(),
        made_up: SyntheticData::default(),
        split: SplitRule::None,
        stand_in: None,
        inherited: InheritedProvenance::default(),
        generator: None,
        inferred: true,
        home: None,
        place: folder.display().to_string(),
    }
}

/// The folder of this name in the first data folder that has one.
pub(crate) fn folder_of(
    name: &str,
    data_dirs: &[PathBuf],
) -> Result<Option<PathBuf>, CatalogError> {
    for folder in set_folders(name, data_dirs) {
        if metadata_if_present(&folder)?.is_some_and(|facts| facts.is_dir()) {
            return Ok(Some(folder));
        }
    }
    Ok(None)
}

/// The hint for a name that is an existing path.
pub(crate) fn path_hint(name: &str) -> Option<String> {
    let path = Path::new(name);
    let last = path.file_name()?.to_string_lossy();
    if path.is_file() {
        let stem = path.file_stem()?.to_string_lossy();
        return Some(format!(
            "a file becomes a data set by an import:  warploom data import {stem} --edges {name}"
        ));
    }
    let parent =
        path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    path.is_dir().then(|| {
        format!(
            "a data set is a name, and its folder is below --data:  --data {} --set dataset={last}",
            parent.display()
        )
    })
}

/// The files of a folder that are not among these, by name, and what each is: a set without an
/// entry ignores them. README and licence texts are not listed.
pub fn unlisted_files(folder: &Path, files: &[PathBuf]) -> Result<Vec<String>, CatalogError> {
    let FolderListing { files: mut all, pipes } = FolderListing::read(folder)?;
    all.sort();
    // `_SUCCESS` and the like say how a table was written.
    let is_mark =
        |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('_'));
    let is_other = |path: &&PathBuf| {
        !files.contains(path) && !warploom_formats::is_about(path) && !is_mark(path)
    };
    let told = |path: &PathBuf, what: String| {
        format!("the file `{}` ({what})", path.strip_prefix(folder).unwrap_or(path).display())
    };
    let others =
        all.iter().filter(is_other).map(|path| told(path, warploom_formats::what_is(path)));
    Ok(others
        .chain(pipes.iter().map(|path| told(path, PIPE.to_owned())))
        .take(OTHERS_MOST)
        .collect())
}

/// Why a pipe is not read: opening it might wait for a writer.
const PIPE: &str = "a pipe, a socket or a device, which is not read";

/// The files below a folder, without hidden ones.
#[derive(Default)]
struct FolderListing {
    /// Regular files, links to them, and dangling links.
    files: Vec<PathBuf>,
    pipes: Vec<PathBuf>,
}

impl FolderListing {
    fn read(folder: &Path) -> Result<FolderListing, CatalogError> {
        let mut listed = FolderListing::default();
        listed.add(folder, 0).map_err(|error| {
            CatalogError::new(format!("cannot list the folder: {error}")).at(folder.display())
        })?;
        Ok(listed)
    }

    fn add(&mut self, folder: &Path, depth: usize) -> std::io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            if kind.is_dir() && depth < DEPTH_MOST {
                let before = self.files.len();
                self.add(&entry.path(), depth + 1)?;
                // An empty folder under the name of a file is reported if there is nothing else.
                if self.files.len() == before && self.files.len() < FILES_MOST {
                    self.files.push(entry.path());
                }
                continue;
            }
            // A dangling link is reported, if there is nothing else to read.
            let facts = fs::metadata(entry.path());
            match facts {
                _ if self.files.len() >= FILES_MOST => {}
                Ok(facts) if facts.is_dir() => {}
                Ok(facts) if !facts.is_file() => self.pipes.push(entry.path()),
                _ => self.files.push(entry.path()),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_a_known_format_is_a_data_set() {
        let dir = tempfile::tempdir().unwrap();
        let dirs = [dir.path().join("none"), dir.path().to_path_buf()];
        fs::create_dir_all(dir.path().join("mine")).unwrap();
        fs::write(dir.path().join("mine/graph.txt"), "0 1\n1 2\n").unwrap();
        fs::write(dir.path().join("mine/.absent"), "").unwrap();
        let entry = infer_entry("mine", &dirs).unwrap().unwrap();
        assert!(
            entry.inferred
                && entry.format.as_str() == "edge_list"
                && entry.files == [RawFile { file: "graph.txt".into(), ..RawFile::default() }],
            "{entry:?}"
        );
        assert_eq!(infer_entry("other", &dirs), Ok(None));
        assert_eq!(infer_entry("../mine", &dirs), Ok(None));
    }

    #[test]
    fn a_folder_that_is_none_says_why() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("empty")).unwrap();
        let error = infer_entry("empty", &[dir.path().to_path_buf()]).unwrap_err();
        assert!(
            error.what.contains("`empty` is a folder without a catalogue entry")
                && error.to_string().contains("found no file"),
            "{error}"
        );
        // A pipe is no file, and opening it would wait.
        #[cfg(unix)]
        {
            let pipe = dir.path().join("empty/edges.txt");
            assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
            let said = infer_entry("empty", &[dir.path().to_path_buf()]).unwrap_err().to_string();
            assert!(
                said.contains("= edges.txt: a pipe, a socket or a device")
                    && said.contains("hint: write what comes out of it to a file"),
                "{said}"
            );
            fs::write(dir.path().join("empty/list.txt"), "0 1\n").unwrap();
            assert!(infer_entry("empty", &[dir.path().to_path_buf()]).unwrap().is_some());
            let others =
                unlisted_files(&dir.path().join("empty"), &[dir.path().join("empty/list.txt")])
                    .unwrap();
            assert_eq!(
                others,
                ["the file `edges.txt` (a pipe, a socket or a device, which is not read)"]
            );
        }
    }
}
