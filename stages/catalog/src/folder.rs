//! A folder of files that no entry describes: it is a data set too, of which all is known that its files say themselves.
//!
//! promises  the format is detected from contents and names; a folder that is there but is no data set is an error that says why
//! never     makes anything up for such a set; follows a link to a folder; looks deeper than `DEPTH_MOST` folders
use crate::{
    CatalogError, Entry,
    entry::{Expected, Format, Holds, Inherited, MadeUp, RawFile, SplitRule, Task},
};
use std::{
    fs,
    path::{Path, PathBuf},
};
use warploom_formats::attach;

/// Folders below that of the set.
const DEPTH_MOST: usize = 4;
/// Files of no use that are named.
const OTHERS_MOST: usize = 12;
/// Files in all.
const FILES_MOST: usize = 100_000;

/// The entry of `<data>/<name>/`, if there is such a folder.
pub fn infer(name: &str, data_dirs: &[PathBuf]) -> Result<Option<Entry>, CatalogError> {
    let plain = !name.is_empty() && !name.contains(['/', '\\', '\0']) && !name.starts_with('.');
    let Some(folder) = data_dirs.iter().map(|dir| dir.join(name)).find(|folder| plain && folder.is_dir()) else { return Ok(None) };
    let mut files = Vec::new();
    list(&folder, 0, &mut files).map_err(|error| CatalogError::new(format!("cannot list the folder: {error}")).at(folder.display()))?;
    files.sort();
    let (format, consumed) = warploom_formats::detect(&folder, &files).map_err(|error| {
        let mut converted = CatalogError::new(format!("`{name}` is a folder without a catalogue entry, and {}", error.what)).at(error.location());
        converted.detail = error.detail();
        converted.hint(error.hint.clone())
    })?;
    let beside = files.iter().filter(|path| attach::may_stand_beside(path) && !consumed.contains(path));
    let relative = |path: &PathBuf| {
        let name = path.strip_prefix(&folder).unwrap_or(path).to_string_lossy().into_owned();
        RawFile { file: name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name).to_owned(), ..RawFile::default() }
    };
    Ok(Some(Entry {
        name: name.to_owned(),
        about: format!("The folder {}, which no catalogue entry describes.", folder.display()),
        found_as: Vec::new(),
        files: consumed.iter().chain(beside).map(relative).collect(),
        archive: None,
        format: Format::of(format),
        read: warploom_formats::Options::default(),
        directed: true,
        symmetrize: false,
        entity_types: None,
        task: Task::None,
        licence: "unknown".to_owned(),
        expected: Expected::default(),
        holds: Holds::default(),
        printed: Vec::new(),
        made_up: MadeUp::default(),
        split: SplitRule::None,
        stand_in: None,
        inherited: Inherited::from_manifest(&folder),
        generator: None,
        inferred: true,
        place: folder.display().to_string(),
    }))
}

/// The files of a folder that are not among these, by name, and what each is: of a set without an entry they are passed over. Texts about
/// the set are no files of it.
pub fn others(folder: &Path, files: &[PathBuf]) -> Vec<String> {
    let mut all = Vec::new();
    // A folder that cannot be listed any more has nothing to tell.
    let _ = list(folder, 0, &mut all);
    all.sort();
    // `_SUCCESS` and the like say how a table was written.
    let is_mark = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('_'));
    let is_other = |path: &&PathBuf| !files.contains(path) && !warploom_formats::is_about(path) && !is_mark(path);
    let told = |path: &PathBuf| format!("the file `{}` ({})", path.strip_prefix(folder).unwrap_or(path).display(), warploom_formats::what_is(path));
    all.iter().filter(is_other).take(OTHERS_MOST).map(told).collect()
}

/// All plain files below a folder, but hidden ones.
fn list(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if kind.is_dir() && depth < DEPTH_MOST {
            let before = files.len();
            list(&entry.path(), depth + 1, files)?;
            // An empty folder under the name of a file is no file: it is named if nothing else is there.
            if files.len() == before && files.len() < FILES_MOST {
                files.push(entry.path());
            }
        } else if files.len() < FILES_MOST && (kind.is_file() || kind.is_symlink() && fs::metadata(entry.path()).map_or(true, |facts| facts.is_file())) {
            // A link that leads nowhere is named, if nothing else is there to be read.
            files.push(entry.path());
        }
    }
    Ok(())
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
        let entry = infer("mine", &dirs).unwrap().unwrap();
        assert!(
            entry.inferred && entry.format.as_str() == "edge_list" && entry.files == [RawFile { file: "graph.txt".into(), ..RawFile::default() }],
            "{entry:?}"
        );
        assert_eq!(infer("other", &dirs), Ok(None));
        assert_eq!(infer("../mine", &dirs), Ok(None));
    }

    #[test]
    fn a_folder_that_is_none_says_why() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("empty")).unwrap();
        let error = infer("empty", &[dir.path().to_path_buf()]).unwrap_err();
        assert!(error.what.contains("`empty` is a folder without a catalogue entry") && error.to_string().contains("found no file"), "{error}");
    }
}
