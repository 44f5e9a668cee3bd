//! catalog: the known data sets, where their files are, and the stand-ins of missing ones.
//!
//! reads     `data/catalog/<name>.yaml`, in the binary and from a folder that takes precedence file
//!           by file; the data folders; at most one download
//! promises  one entry for each data set, read strictly; the error of an unknown name has the
//!           nearest ones
//! never     parses data files (`ingest` does); uses the network unless `locate` gets
//!           `Attempt::Once` or `fetch` is called
//! limits    a download is limited in time, and needs memory for one buffer
pub mod digest_cache;
pub mod digests;
mod download;
mod download_error;
pub mod entry;
mod error;
mod fetch;
mod file_names;
mod folder;
mod generated_entry;
pub mod generator;
pub mod imported_sets;
mod locate;
mod raw_files;
mod retrieval;
mod unpack;

pub use download::Progress;
pub use entry::Entry;
pub use error::CatalogError;
pub use fetch::{FetchedFiles, fetch};
pub use folder::{WrittenFiles, infer_entry, recognise_written, unlisted_files};
pub use generator::Generator;
pub use locate::{Attempt, PresentFiles, Source, locate, present_files};
pub use raw_files::RawData;

use std::{
    collections::BTreeSet,
    env,
    ffi::OsString,
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

/// Environment variable with the folder whose entries take precedence over those in the binary.
pub const FOLDER_VARIABLE: &str = "WARPLOOM_CATALOG";
/// Name and text of each entry in the binary, by name.
const EMBEDDED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
/// Most near names in the error of an unknown one.
const NEAREST_MOST: usize = 3;

/// The entries of the binary, and those of a folder that take precedence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    folder: Option<PathBuf>,
}

/// The names of all entries, sorted, with the catalogue folder of the current folder.
pub fn names() -> Vec<String> {
    Catalog::discover().names()
}

/// The entry of this name, with the catalogue folder of the current folder.
pub fn find(name: &str) -> Result<Entry, CatalogError> {
    Catalog::discover().find(name)
}

impl Catalog {
    /// The binary's entries and those of the folder that `WARPLOOM_CATALOG` names, else of
    /// `data/catalog` in the current folder or a parent.
    pub fn discover() -> Self {
        let named =
            env::var_os(FOLDER_VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let above = || {
            let here = env::current_dir().ok()?;
            // A folder whose metadata cannot be read is taken: each requested entry then says why.
            // One without permissions, such as another user's, is not.
            let is_one = |folder: &PathBuf| match fs::metadata(folder) {
                Ok(facts) => facts.is_dir(),
                Err(error) => !is_absence(&error) && error.kind() != ErrorKind::PermissionDenied,
            };
            here.ancestors().map(|folder| folder.join("data/catalog")).find(is_one)
        };
        Catalog { folder: named.or_else(above) }
    }

    /// A catalogue of the binary's entries and those of a folder.
    pub fn with_folder(folder: &Path) -> Self {
        Catalog { folder: Some(folder.to_path_buf()) }
    }

    /// The folder whose entries take precedence, if there is one.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The names of all entries, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: BTreeSet<String> =
            EMBEDDED.iter().map(|(name, _)| name.to_string()).collect();
        // A folder that cannot be listed adds no names; `find` says what is wrong with an entry in
        // it.
        let files =
            self.folder.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
        names.extend(
            files
                .map(|file| file.path())
                .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
                .filter_map(|path| {
                    let name = path.file_stem()?.to_str()?;
                    Some(name.to_string())
                }),
        );
        names.into_iter().collect()
    }

    /// Path and text of the entry of this name in the folder, if there is one.
    fn own_entry(&self, name: &str) -> Result<Option<(PathBuf, String)>, CatalogError> {
        let Some(folder) = self.folder.as_ref().filter(|_| is_plain(name)) else { return Ok(None) };
        let path = folder.join(format!("{name}.yaml"));
        Ok(read_entry_text(&path)?.map(|text| (path, text)))
    }

    /// The entry of this name; the error of an unknown name has the nearest ones.
    pub fn find(&self, name: &str) -> Result<Entry, CatalogError> {
        self.find_known(name, &[])
    }

    fn find_known(&self, name: &str, data_dirs: &[PathBuf]) -> Result<Entry, CatalogError> {
        if let Some((path, text)) = self.own_entry(name)? {
            return Entry::from_yaml(name, &text, &path.display().to_string());
        }
        match EMBEDDED.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => {
                Entry::from_yaml(name, text, &format!("data/catalog/{name}.yaml (in the binary)"))
            }
            None => Generator::from_name(name).map_or_else(
                || Err(self.unknown_name_error(name, data_dirs)),
                |made| Ok(made?.entry(name)),
            ),
        }
    }

    /// The entry of this name: that of an imported set, else that of the catalogue.
    pub fn find_in(&self, name: &str, data_dirs: &[PathBuf]) -> Result<Entry, CatalogError> {
        match imported_sets::find(name, data_dirs)? {
            Some(entry) => Ok(entry),
            None => self.find_known(name, data_dirs),
        }
    }

    /// The entry of this name as by `find_in`, else that of a folder without an entry.
    pub fn find_or_infer(&self, name: &str, data_dirs: &[PathBuf]) -> Result<Entry, CatalogError> {
        let is_known =
            imported_sets::set_folder(name, data_dirs)?.is_some() || self.has_entry(name)?;
        match if is_known { None } else { infer_entry(name, data_dirs)? } {
            Some(entry) => Ok(entry),
            None => self.find_in(name, data_dirs),
        }
    }

    /// Whether the catalogue has an entry of this name, valid or not.
    pub fn has_entry(&self, name: &str) -> Result<bool, CatalogError> {
        Ok(EMBEDDED.iter().any(|(known, _)| *known == name) || self.own_entry(name)?.is_some())
    }

    /// The names of all entries and of all imported sets, sorted.
    pub fn names_in(&self, data_dirs: &[PathBuf]) -> Result<Vec<String>, CatalogError> {
        let names: BTreeSet<String> =
            self.names().into_iter().chain(imported_sets::names(data_dirs)?).collect();
        Ok(names.into_iter().collect())
    }

    /// The entry file of an import by an earlier version, which wrote it to the catalogue's folder,
    /// not beside the files.
    pub fn legacy_import_entry(&self, name: &str) -> Option<PathBuf> {
        let (path, text) = self.own_entry(name).ok()??;
        Entry::from_yaml(name, &text, "")
            .is_ok_and(|entry| entry.about.starts_with(imported_sets::ABOUT))
            .then_some(path)
    }

    fn unknown_name_error(&self, name: &str, data_dirs: &[PathBuf]) -> CatalogError {
        let error = CatalogError::new(format!("no data set is called `{name}`"));
        let of_path = folder::path_hint(name);
        if let Some(hint) = of_path.clone().filter(|_| !is_plain(name) || Path::new(name).is_file())
        {
            return error.hint(hint);
        }
        let folders = data_dirs
            .iter()
            .filter_map(|dir| fs::read_dir(dir).ok())
            .flatten()
            .flatten()
            .filter(|entry| entry.path().is_dir());
        let own = folders
            .filter_map(|folder| folder.file_name().into_string().ok())
            .filter(|name| is_plain(name));
        let names: BTreeSet<String> = self.names().into_iter().chain(own).collect();
        let mut near = nearest_names(name, &names.into_iter().collect::<Vec<_>>());
        if near.is_empty() {
            near = self.entries_found_in(name);
        }
        if !near.is_empty() {
            return error.hint(format!(
                "did you mean {}?  (warploom data ls  shows all)",
                near.join(" or ")
            ));
        }
        if let Some(hint) = of_path {
            return error.hint(hint);
        }
        let dirs: Vec<String> = data_dirs.iter().map(|dir| dir.display().to_string()).collect();
        let place =
            if dirs.is_empty() { String::new() } else { format!(" below {}", dirs.join(" or ")) };
        error.hint(format!(
            "warploom data ls  shows all;  a set of your own:  warploom data import {} --edges \
             FILE ,  or a folder of this name{place}",
            if is_plain(name) { name } else { "NAME" }
        ))
    }
}

impl Catalog {
    /// The names of entries whose files may be in folders of this name.
    fn entries_found_in(&self, folder: &str) -> Vec<String> {
        let found = |name: &String| {
            self.find(name).is_ok_and(|entry| entry.found_as.iter().any(|known| known == folder))
        };
        self.names().into_iter().filter(found).map(|name| format!("`{name}`")).collect()
    }
}

/// Whether a name can be that of a visible subfolder.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\\', '\0']) && !name.starts_with('.')
}

/// Whether an error says that a path does not exist.
fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidFilename
    )
}

/// Metadata of a path, if it exists. A path without permissions is an error: another file would be
/// taken in its place.
fn metadata_if_present(path: &Path) -> Result<Option<fs::Metadata>, CatalogError> {
    match fs::metadata(path) {
        Ok(facts) => Ok(Some(facts)),
        Err(error) if is_absence(&error) => Ok(None),
        Err(error) => {
            let wrong =
                CatalogError::new(format!("cannot look at the file: {error}")).at(path.display());
            Err(wrong.hint("give the folder its permissions, or name others:  --data DIR"))
        }
    }
}

/// Whether a data folder exists and cannot be listed.
fn is_inaccessible(dir: &Path) -> bool {
    fs::metadata(dir.join(".")).is_err_and(|error| !is_absence(&error))
}

/// The data folders in order, with inaccessible ones last: they do not hide a set of another
/// folder.
fn accessible_first(data_dirs: &[PathBuf]) -> Vec<PathBuf> {
    let (closed, mut open): (Vec<PathBuf>, Vec<PathBuf>) =
        data_dirs.iter().cloned().partition(|dir| is_inaccessible(dir));
    open.extend(closed);
    open
}

/// The folders that a set of this name may have, in order. Inaccessible data folders count only if
/// nothing else has this name: neither a folder nor a generated graph.
fn set_folders(name: &str, data_dirs: &[PathBuf]) -> Vec<PathBuf> {
    if !is_plain(name) {
        return Vec::new();
    }
    let needs_no_other = Generator::from_name(name).is_some_and(|made| made.is_ok())
        || data_dirs.iter().any(|dir| dir.join(name).exists());
    let dirs = accessible_first(data_dirs)
        .into_iter()
        .filter(|dir| !(needs_no_other && is_inaccessible(dir)));
    dirs.map(|dir| dir.join(name)).collect()
}

/// The names in a folder; none if it does not exist.
fn list_names(folder: &Path) -> Result<Vec<OsString>, CatalogError> {
    let list = || match fs::read_dir(folder) {
        Err(error) if is_absence(&error) => Ok(Vec::new()),
        entries => entries?.map(|entry| Ok(entry?.file_name())).collect(),
    };
    list().map_err(|error: io::Error| {
        CatalogError::new(format!("cannot list the folder: {error}")).at(folder.display())
    })
}

/// The text of an entry in a folder, if there is one. An unreadable one is an error: the binary's
/// entry of that name may differ.
fn read_entry_text(path: &Path) -> Result<Option<String>, CatalogError> {
    let wrong = |what: String| {
        CatalogError::new(format!("cannot read the entry of the set: {what}")).at(path.display())
    };
    match fs::metadata(path) {
        Err(error) if is_absence(&error) => Ok(None),
        Err(error) => Err(wrong(error.to_string())),
        Ok(facts) if !facts.is_file() => Ok(None),
        Ok(facts) if facts.len() > entry::BYTES_MOST as u64 => Err(wrong(format!(
            "expected at most {} bytes, found {}",
            entry::BYTES_MOST,
            facts.len()
        ))),
        Ok(_) => fs::read_to_string(path).map(Some).map_err(|error| wrong(error.to_string())),
    }
}

/// The nearest of `names`, best first: at most a third of the letters differ, or one begins with
/// the other.
fn nearest_names(name: &str, names: &[String]) -> Vec<String> {
    let name = name.to_lowercase();
    let mut near: Vec<(usize, &String)> = names
        .iter()
        .filter_map(|known| {
            let lower = known.to_lowercase();
            let begins = name.len() >= 2 && (lower.starts_with(&name) || name.starts_with(&lower));
            let steps = edit_distance(&name, &lower);
            (begins || steps * 3 <= lower.chars().count().max(3)).then_some((steps, known))
        })
        .collect();
    near.sort();
    near.into_iter().take(NEAREST_MOST).map(|(_, known)| format!("`{known}`")).collect()
}

/// Levenshtein distance: insertions, deletions and substitutions from one word to the other.
fn edit_distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (above, letter) in from.chars().take(256).enumerate() {
        let mut diagonal = row[0];
        row[0] = above + 1;
        for (at, other) in to.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = row[at + 1];
            row[at + 1] = changed.min(diagonal + 1).min(row[at] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_of_the_binary_is_sound() {
        for (name, _) in EMBEDDED {
            let entry = Catalog::default().find(name).unwrap();
            assert_eq!(entry.name, *name);
            assert!(
                entry.files.is_empty() == entry.generator.is_some()
                    && !entry.about.is_empty()
                    && !entry.licence.is_empty()
            );
        }
        for name in ["amazon0505", "cora", "karate"] {
            assert!(Catalog::default().names().contains(&name.to_string()));
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let hint = |name| Catalog::default().find(name).unwrap_err().hint.unwrap();
        assert!(hint("amazon0515").contains("did you mean `amazon0505`"));
        assert!(hint("Cora").contains("`cora`"));
        assert!(hint("karat").contains("`karate`"));
        assert_eq!(
            hint("zzzzzz"),
            "warploom data ls  shows all;  a set of your own:  warploom data import zzzzzz --edges \
             FILE ,  or a folder of this name"
        );
        assert!(hint("snap_ca-GrQc").contains("`ca-GrQc`"));
        assert!(hint("../cora").contains("warploom data import NAME --edges FILE"));
    }

    #[test]
    fn a_path_in_place_of_a_name_is_answered_with_the_words_for_it() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("bom")).unwrap();
        fs::write(dir.path().join("edges.csv"), "source,target\n0,1\n").unwrap();
        let hint = |name: &str| {
            Catalog::default()
                .find_or_infer(&dir.path().join(name).display().to_string(), &[])
                .unwrap_err()
                .hint
                .unwrap()
        };
        assert_eq!(
            hint("bom"),
            format!(
                "a data set is a name, and its folder is below --data:  --data {} --set dataset=bom",
                dir.path().display()
            )
        );
        let file = dir.path().join("edges.csv");
        assert_eq!(
            hint("edges.csv"),
            format!(
                "a file becomes a data set by an import:  warploom data import edges --edges {}",
                file.display()
            )
        );
        // The names of own folders are near, too.
        let said = Catalog::default()
            .find_or_infer("bon", &[dir.path().to_path_buf()])
            .unwrap_err()
            .hint
            .unwrap();
        assert!(said.contains("did you mean `bom`"), "{said}");
    }

    #[test]
    fn a_closed_data_folder_is_no_matter_to_what_needs_none_or_stands_elsewhere() {
        let dir = tempfile::tempdir().unwrap();
        let (closed, open) = (dir.path().join("closed"), dir.path().join("open"));
        std::os::unix::fs::symlink(&closed, &closed).unwrap();
        fs::create_dir_all(open.join("mine")).unwrap();
        fs::write(open.join("mine/edges.csv"), "source,target\n0,1\n").unwrap();
        fs::create_dir(open.join("cora")).unwrap();
        let find =
            |name: &str| Catalog::default().find_or_infer(name, &[closed.clone(), open.clone()]);
        assert!(find("rmat-8").unwrap().generator.is_some());
        assert!(find("mine").unwrap().inferred && !find("cora").unwrap().inferred);
        for name in ["karate", "other", "rmat-mine"] {
            let error = find(name).unwrap_err();
            assert!(
                error.what.starts_with("cannot look at the file: ")
                    && error.hint.unwrap().ends_with("--data DIR"),
                "{name}"
            );
            assert_eq!(
                error.place,
                Some(closed.join(name).join("warploom.yaml").display().to_string())
            );
        }
        // What is of the set's own name counts, also where it cannot be looked at.
        let own = open.join("rmat-8");
        fs::create_dir(&own).unwrap();
        std::os::unix::fs::symlink("warploom.yaml", own.join("warploom.yaml")).unwrap();
        assert_eq!(
            find("rmat-8").unwrap_err().place,
            Some(own.join("warploom.yaml").display().to_string())
        );
    }

    #[test]
    fn a_folder_wins_file_by_file() {
        let folder = tempfile::tempdir().unwrap();
        let text = EMBEDDED.iter().find(|(name, _)| *name == "karate").unwrap().1;
        fs::write(folder.path().join("mine.yaml"), text.replace("name: karate", "name: mine"))
            .unwrap();
        fs::write(folder.path().join("cora.yaml"), text.replace("name: karate", "name: cora"))
            .unwrap();
        let catalog = Catalog::with_folder(folder.path());
        assert!(
            catalog.names().contains(&"mine".to_string())
                && catalog.names().contains(&"amazon0505".to_string())
        );
        assert_eq!(catalog.find("cora").unwrap().expected.nodes, Some(34));
        assert_eq!(catalog.find("amazon0505").unwrap().name, "amazon0505");
    }

    #[test]
    fn distances_are_those_of_levenshtein() {
        assert_eq!(
            (
                edit_distance("kitten", "sitting"),
                edit_distance("", "abc"),
                edit_distance("abc", "")
            ),
            (3, 3, 3)
        );
    }
}
