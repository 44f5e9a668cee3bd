//! imported_sets: imported data sets, each a folder with its files and their entry.
//!
//! promises  the entry beside the files takes precedence over the catalogue, and its files are
//!           searched only in its folder
//! never     uses an imported folder without its entry: the entry cannot be inferred from the files
use std::{
    collections::BTreeSet,
    ffi::OsString,
    path::{Path, PathBuf},
};

use crate::{
    CatalogError, Entry, digests::RECORD_FILE, is_plain, list_names, metadata_if_present,
    read_entry_text, set_folders,
};

/// File name of the entry in the folder of an imported set.
pub const ENTRY_FILE: &str = "warploom.yaml";
/// Prefix of `about` of an imported set.
pub const ABOUT: &str = "Imported from ";
/// Prefixes of hidden files that earlier versions left in a folder whose entry is elsewhere, or was
/// never written.
const MARKS: [&str; 2] = [".imported", ".tmp-import-"];

/// The entry of an imported set of this name, in the first data folder that has one.
pub fn find(name: &str, data_dirs: &[PathBuf]) -> Result<Option<Entry>, CatalogError> {
    let Some(home) = set_folder(name, data_dirs)? else { return Ok(None) };
    let path = home.join(ENTRY_FILE);
    let text = read_entry_text(&path)?.ok_or_else(|| {
        CatalogError::new("cannot read the entry of the set: expected a file").at(path.display())
    })?;
    let entry = Entry::from_yaml(name, &text, &path.display().to_string())?;
    Ok(Some(Entry { home: Some(home), ..entry }))
}

/// The folder of the imported set of this name, whether its entry is valid or not.
pub(crate) fn set_folder(
    name: &str,
    data_dirs: &[PathBuf],
) -> Result<Option<PathBuf>, CatalogError> {
    for home in set_folders(name, data_dirs) {
        if metadata_if_present(&home.join(ENTRY_FILE))?.is_some() {
            return Ok(Some(home));
        }
    }
    Ok(None)
}

/// The names of all imported sets, sorted.
pub fn names(data_dirs: &[PathBuf]) -> Result<BTreeSet<String>, CatalogError> {
    let mut names = BTreeSet::new();
    for dir in data_dirs {
        let found = list_names(dir)?.into_iter().filter_map(|name| name.into_string().ok());
        names.extend(
            found.filter(|name| is_plain(name) && dir.join(name).join(ENTRY_FILE).is_file()),
        );
    }
    Ok(names)
}

/// Whether an import wrote this folder: its entry says so, or a hidden file of an earlier version.
/// Any other entry beside files is a user's.
pub fn is_imported(folder: &Path) -> Result<bool, CatalogError> {
    Ok(find_import_mark(folder)?.is_some()
        || own_entry(folder)?.is_some_and(|entry| entry.about.starts_with(ABOUT)))
}

/// The first file or folder in the folder of an imported set that its entry does not list.
pub fn find_foreign_file(folder: &Path) -> Result<Option<PathBuf>, CatalogError> {
    let Some(entry) = own_entry(folder)? else { return Ok(None) };
    let listed: Vec<String> = entry.files.into_iter().map(|file| file.file).collect();
    let is_own = |name: &str| {
        name == ENTRY_FILE || name == RECORD_FILE || MARKS.iter().any(|mark| name.starts_with(mark))
    };
    // A file of a set may be in a subfolder.
    let is_listed = |name: &str| listed.iter().any(|file| file.split('/').next() == Some(name));
    let is_known =
        |name: &OsString| name.to_str().is_some_and(|name| is_own(name) || is_listed(name));
    Ok(list_names(folder)?.into_iter().find(|name| !is_known(name)).map(|name| folder.join(name)))
}

/// The entry in a folder; none if it is not valid, which is reported where the set is used.
fn own_entry(folder: &Path) -> Result<Option<Entry>, CatalogError> {
    let (text, name) = (
        read_entry_text(&folder.join(ENTRY_FILE))?,
        folder.file_name().and_then(|name| name.to_str()),
    );
    Ok(text.zip(name).and_then(|(text, name)| Entry::from_yaml(name, &text, "").ok()))
}

fn find_import_mark(folder: &Path) -> Result<Option<String>, CatalogError> {
    let names = list_names(folder)?.into_iter().filter_map(|name| name.into_string().ok());
    Ok(names.into_iter().find(|found| MARKS.iter().any(|mark| found.starts_with(mark))))
}

/// Refuses an imported folder without an entry.
pub(crate) fn refuse_without_entry(name: &str, folder: &Path) -> Result<(), CatalogError> {
    let Some(mark) = find_import_mark(folder)? else { return Ok(()) };
    let what = format!(
        "`{name}` was imported, and its entry `{ENTRY_FILE}` is missing beside its files: nothing \
         else describes them"
    );
    Err(CatalogError::new(what).at(folder.display()).hint(format!(
        "import the files again:  warploom data import {name} --force --edges FILE ;  or copy its \
         entry  data/catalog/{name}.yaml  of an earlier version to  {0} ;  or, to have the files \
         read as they are:  rm -r {1}",
        folder.join(ENTRY_FILE).display(),
        folder.join(mark).display()
    )))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{Attempt, Catalog, Source, locate};

    const ENTRY: &str = "name: mine\nabout: Imported from e.csv.\nfiles: [{file: edges.csv, url: null}]\nformat: csv\ndirected: false\nsymmetrize: true\n\
                         task: none\nlicence: unknown\nsplit: {rule: none}\n";

    #[test]
    fn an_entry_beside_the_files_wins_over_the_catalogue_and_over_other_folders() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two, catalog) =
            (dir.path().join("one"), dir.path().join("two"), dir.path().join("catalog"));
        [one.join("mine"), two.join("mine"), two.join("plain"), catalog.clone()]
            .iter()
            .for_each(|folder| fs::create_dir_all(folder).unwrap());
        [one.join("mine/edges.csv"), two.join("mine/edges.csv")]
            .iter()
            .for_each(|file| fs::write(file, "source,target\n0,1\n").unwrap());
        fs::write(two.join("mine").join(ENTRY_FILE), ENTRY).unwrap();
        fs::write(
            catalog.join("mine.yaml"),
            ENTRY.replace("symmetrize: true", "symmetrize: false"),
        )
        .unwrap();
        let dirs = [one, two.clone()];
        let entry = Catalog::with_folder(&catalog).find_or_infer("mine", &dirs).unwrap();
        assert!(entry.symmetrize && entry.place.ends_with("two/mine/warploom.yaml"), "{entry:?}");
        let Source::Real { folder, .. } = locate(&entry, &dirs, None, Attempt::Never).unwrap()
        else {
            panic!("expected the files")
        };
        assert_eq!(
            (folder, names(&dirs).unwrap()),
            (two.join("mine"), BTreeSet::from(["mine".to_owned()]))
        );
        // The files of an entry are not those of a folder of the same name.
        fs::remove_file(two.join("mine/edges.csv")).unwrap();
        assert!(locate(&entry, &dirs, None, Attempt::Never).is_err());
        // An entry that cannot be read is an error, not a folder without one.
        fs::write(two.join("mine").join(ENTRY_FILE), "name: [").unwrap();
        assert!(
            Catalog::default()
                .find_or_infer("mine", &dirs)
                .unwrap_err()
                .place
                .unwrap()
                .contains("mine/warploom.yaml")
        );
    }

    #[test]
    fn an_entry_that_is_no_file_is_an_error_and_no_writer_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let (home, data) = (dir.path().join("mine"), [dir.path().to_path_buf()]);
        fs::create_dir(&home).unwrap();
        let fifo = |path: &Path| {
            assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success())
        };
        fifo(&home.join(ENTRY_FILE));
        fifo(&dir.path().join("old.yaml"));
        let catalog = Catalog::with_folder(dir.path());
        assert!(catalog.find_or_infer("mine", &data).unwrap_err().what.contains("expected a file"));
        assert_eq!(catalog.legacy_import_entry("old"), None);
        fs::remove_file(home.join(ENTRY_FILE)).unwrap();
        fs::write(home.join(ENTRY_FILE), vec![b'#'; crate::entry::BYTES_MOST + 1]).unwrap();
        assert!(
            catalog.find_or_infer("mine", &data).unwrap_err().what.contains("expected at most")
        );
        // A set's mark that downloads are not to be tried counts, whatever it is.
        fs::write(home.join(ENTRY_FILE), ENTRY).unwrap();
        fifo(&home.join(".absent"));
        let entry = catalog.find_or_infer("mine", &data).unwrap();
        assert!(
            locate(&entry, &data, None, Attempt::Once)
                .unwrap_err()
                .what
                .contains("an earlier download failed (")
        );
    }

    #[test]
    fn an_entry_that_cannot_be_looked_at_gives_way_to_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let (home, data) = (dir.path().join("cora"), [dir.path().to_path_buf()]);
        fs::create_dir(&home).unwrap();
        std::os::unix::fs::symlink(home.join(ENTRY_FILE), home.join(ENTRY_FILE)).unwrap();
        let error = Catalog::default().find_or_infer("cora", &data).unwrap_err();
        assert!(
            error.what.contains("cannot look at the file")
                && error.place.unwrap().ends_with("cora/warploom.yaml"),
            "{}",
            error.what
        );
        assert!(is_imported(&home).is_err() && find_foreign_file(&home).is_err());
    }

    #[test]
    fn a_folder_that_was_imported_and_has_no_entry_is_refused() {
        for mark in [".imported", ".tmp-import-7-0@host"] {
            let dir = tempfile::tempdir().unwrap();
            fs::create_dir_all(dir.path().join("mine")).unwrap();
            fs::write(dir.path().join("mine/edges.csv"), "source,target\n0,1\n").unwrap();
            fs::write(dir.path().join("mine").join(mark), "").unwrap();
            let error =
                Catalog::default().find_or_infer("mine", &[dir.path().to_path_buf()]).unwrap_err();
            assert!(
                error.what.contains("`mine` was imported")
                    && error.hint.unwrap().contains("data import mine --force"),
                "{}",
                error.what
            );
        }
    }
}
