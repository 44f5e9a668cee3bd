//! locate: decides where a data set comes from: existing files, one download, else the stand-in.
//!
//! promises  real files come first, then an archive that holds them, in any data folder: it is
//!           unpacked beside the store; the error of an incomplete set names the missing files; a
//!           failed download is noted beside the store and not tried again
//! never     uses the network with `Attempt::Look` or `Attempt::Never`, or if `.absent` exists;
//!           fails because a folder is missing or read-only; writes into a data folder anything but
//!           downloaded files
use crate::{
    CatalogError, Entry, accessible_first, digest_cache, digests,
    download::Limits,
    file_names::{find_file, find_spelling, may_be_there},
    is_absence, metadata_if_present, read_entry_text,
    retrieval::{NewFolders, retrieve_files},
    unpack::unpack,
};
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

/// A file in the folder of a set, written by hand: no download is tried; its text says why.
pub(crate) const ABSENT: &str = ".absent";
/// Folders beside the store: notes of failed downloads, and files unpacked from archives.
const NOTES: &str = "absent";
const UNPACKED: &str = "unpacked";

/// Most folders below a data folder, and their depth, that are searched for files whose names hold
/// that of their set.
const FOLDERS_MOST: usize = 512;
const DEPTH_MOST: usize = 3;

/// Whether a download may be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// Only look for existing files; unpack nothing.
    Look,
    /// Only existing files and archives.
    Never,
    /// One download, unless an earlier one failed.
    Once,
}

/// Where a data set comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// All files exist.
    Real {
        /// The folder that holds them.
        folder: PathBuf,
        /// One path for each file of the entry, in its order.
        files: Vec<PathBuf>,
    },
    /// The set is generated.
    Generated,
    /// The files are missing; the stand-in replaces them.
    StandIn {
        /// One line: what was searched and why it failed.
        why: String,
    },
}

/// Where a data set comes from; an error only if its files are missing and it has no stand-in.
/// `kept` is the folder beside the store for notes of failed downloads and for unpacked files;
/// without it neither is written.
pub fn locate(
    entry: &Entry,
    data_dirs: &[PathBuf],
    kept: Option<&Path>,
    attempt: Attempt,
) -> Result<Source, CatalogError> {
    locate_within(entry, data_dirs, kept, attempt, &Limits::default())
}

/// `locate` with limits for the download.
pub(crate) fn locate_within(
    entry: &Entry,
    data_dirs: &[PathBuf],
    kept: Option<&Path>,
    attempt: Attempt,
    limits: &Limits,
) -> Result<Source, CatalogError> {
    if entry.generator.is_some() {
        return Ok(Source::Generated);
    }
    let present = present_files(entry, data_dirs)?;
    if let (Some(folder), true) = (&present.folder, present.missing.is_empty()) {
        return Ok(Source::Real { folder: folder.clone(), files: present.files });
    }
    let mut missing = match &present.folder {
        Some(folder) => {
            format!(
                "{} of {} files are in `{}`; missing: {}",
                present.files.len(),
                entry.files.len(),
                folder.display(),
                present.missing.join(", ")
            )
        }
        None if data_dirs.is_empty() => "no data folder was searched".to_owned(),
        None => format!("no file of it is in {}", searched_folders(entry, data_dirs)),
    };
    if let (Some(archive), Some(kept), true) = (&present.packed, kept, attempt != Attempt::Look) {
        match unpack_archive(entry, archive, kept) {
            Ok(real) => return Ok(real),
            Err(why) => missing = format!("{missing}; `{}`: {why}", archive.display()),
        }
    }
    let download = match (attempt, own_folder(entry, data_dirs)) {
        (Attempt::Look | Attempt::Never, folder) => {
            let failed = folder.and_then(|folder| earlier_failure(entry, &folder, kept));
            failed.unwrap_or_else(|| "no download was tried".to_string())
        }
        (Attempt::Once, None) => "there is no data folder to download to".to_string(),
        (Attempt::Once, Some(folder)) => match download_once(entry, &folder, kept, limits) {
            Ok(real) => return Ok(real),
            Err(what) => what,
        },
    };
    use_stand_in(entry, format!("{missing}; {download}"))
}

/// Unpacks the set's files from an archive into a folder of this version of the archive.
fn unpack_archive(entry: &Entry, archive: &Path, kept: &Path) -> Result<Source, String> {
    let inside = entry.archive.as_ref().map_or("", |archive| archive.folder.as_str());
    let folder = digest_cache::unpack_folder(&kept.join(UNPACKED), archive, inside)
        .map_err(|error| format!("cannot read: {error}"))?;
    let there: Option<Vec<PathBuf>> =
        entry.files.iter().map(|file| find_file(&folder, file)).collect();
    if let Some(files) = there {
        return Ok(Source::Real { folder, files });
    }
    let names: Vec<&str> = entry.files.iter().map(|file| file.file.as_str()).collect();
    let out = |inside: &str| unpack(archive, inside, &names, &folder, &|_, _| Ok(()));
    // An archive from another source may hold the files without the inner folder.
    let files = out(inside)
        .or_else(|trouble| if inside.is_empty() { Err(trouble) } else { out("") })
        .map_err(|trouble| trouble.what)?;
    Ok(Source::Real { folder, files })
}

/// The stand-in, else the error that there is none.
fn use_stand_in(entry: &Entry, why: String) -> Result<Source, CatalogError> {
    if entry.stand_in.is_some() {
        return Ok(Source::StandIn { why });
    }
    let hint = format!("get them with  {}", entry.download_hint());
    Err(CatalogError::new(format!(
        "the files of `{}` are missing and it has no stand-in: {why}",
        entry.name
    ))
    .hint(hint))
}

/// The existing files of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PresentFiles {
    /// The first folder with all files, else the one with most; none if no file exists.
    pub folder: Option<PathBuf>,
    /// The paths of existing files, in the entry's order.
    pub files: Vec<PathBuf>,
    /// The names of missing files.
    pub missing: Vec<String>,
    /// The first archive that may hold all of them, where files are missing.
    pub packed: Option<PathBuf>,
}

/// The files of a set in the data folders, readable or not; no file is opened. A folder that cannot
/// be listed is an error: the files may be in it.
pub fn present_files(entry: &Entry, data_dirs: &[PathBuf]) -> Result<PresentFiles, CatalogError> {
    let mut most = PresentFiles {
        missing: entry.files.iter().map(|file| file.file.clone()).collect(),
        ..PresentFiles::default()
    };
    for folder in candidate_folders(entry, data_dirs) {
        let (mut files, mut missing) = (Vec::new(), Vec::new());
        for file in &entry.files {
            match find_file(&folder, file) {
                Some(path) => files.push(path),
                None => missing.push(file.file.clone()),
            }
        }
        if files.len() > most.files.len() {
            most = PresentFiles { folder: Some(folder), files, missing, packed: None };
        }
        if most.missing.is_empty() {
            return Ok(most);
        }
    }
    if entry.home.is_some() {
        return Ok(most);
    }
    if let Some(found) = find_in_subfolders(entry, data_dirs)? {
        return Ok(found);
    }
    most.packed = find_archive(entry, data_dirs)?;
    Ok(most)
}

/// The first folder at most `DEPTH_MOST` below a data folder that has all files of a set under
/// their exact names, if these hold the set's name: `CiteSeer/raw/ind.citeseer.x`, as PyG stores
/// them. Names that other sets have too, such as `edges.csv`, are not searched. If the set has a
/// folder of its own name, only that one is searched.
fn find_in_subfolders(
    entry: &Entry,
    data_dirs: &[PathBuf],
) -> Result<Option<PresentFiles>, CatalogError> {
    let of_archive = entry
        .archive
        .as_ref()
        .map(|archive| archive.folder.as_str())
        .filter(|folder| !folder.is_empty());
    let is_named = |file: &str| {
        std::iter::once(entry.name.as_str()).chain(of_archive).any(|name| names_set(file, name))
    };
    if entry.inferred
        || entry.files.is_empty()
        || !entry.files.iter().all(|file| is_named(&file.file))
    {
        return Ok(None);
    }
    let own: Vec<PathBuf> = data_dirs
        .iter()
        .map(|dir| dir.join(&entry.name))
        .filter(|folder| folder.is_dir())
        .collect();
    for dir in if own.is_empty() { data_dirs } else { &own } {
        for folder in folders_below(dir)? {
            let files: Option<Vec<PathBuf>> =
                entry.files.iter().map(|file| find_spelling(&folder, &file.file)).collect();
            // A folder without permissions, such as `lost+found`, is skipped, unless it has the
            // name of the set.
            if let Some(files) = files.filter(|files| {
                !own.is_empty() || files.iter().all(|path| fs::metadata(path).is_ok())
            }) {
                return Ok(Some(PresentFiles {
                    files,
                    folder: Some(folder),
                    ..PresentFiles::default()
                }));
            }
        }
    }
    Ok(None)
}

/// Whether a file name holds that of a set as a whole word, ignoring case.
fn names_set(file: &str, name: &str) -> bool {
    let (file, name) = (file.to_lowercase(), name.to_lowercase());
    let is_apart = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric());
    file.match_indices(&name).any(|(at, _)| {
        is_apart(file[..at].chars().next_back()) && is_apart(file[at + name.len()..].chars().next())
    })
}

/// Subfolders in breadth-first order, by name, without hidden ones and links.
fn folders_below(dir: &Path) -> Result<Vec<PathBuf>, CatalogError> {
    let mut found = vec![dir.to_path_buf()];
    let mut begin = 0;
    for _ in 0..DEPTH_MOST {
        let mut level: Vec<PathBuf> = Vec::new();
        for folder in &found[begin..] {
            level.extend(folders_in(folder).map_err(|error| {
                CatalogError::new(format!("cannot list the folder: {error}")).at(folder.display())
            })?);
        }
        level.sort();
        begin = found.len();
        level.truncate(FOLDERS_MOST.saturating_sub(begin));
        found.extend(level);
    }
    Ok(found.split_off(1))
}

/// The visible folders in one. A missing folder has none, nor has one without permissions, such as
/// `lost+found`.
fn folders_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    match fs::read_dir(folder) {
        Err(error) if is_absence(&error) || error.kind() == io::ErrorKind::PermissionDenied => {}
        entries => {
            for entry in entries? {
                let entry = entry?;
                if entry.file_type()?.is_dir()
                    && !entry.file_name().to_string_lossy().starts_with('.')
                {
                    found.push(entry.path());
                }
            }
        }
    }
    Ok(found)
}

/// The folders that may hold the files of a set, in order; those of an imported set are beside its
/// entry.
fn candidate_folders(entry: &Entry, data_dirs: &[PathBuf]) -> Vec<PathBuf> {
    match &entry.home {
        Some(home) => vec![home.clone()],
        None => accessible_first(data_dirs)
            .iter()
            .flat_map(|dir| {
                std::iter::once(&entry.name).chain(&entry.found_as).map(|name| dir.join(name))
            })
            .collect(),
    }
}

/// The folder for downloads of a set: that of the entry of an imported one, else one in the first
/// data folder.
pub(crate) fn own_folder(entry: &Entry, data_dirs: &[PathBuf]) -> Option<PathBuf> {
    entry.home.clone().or_else(|| data_dirs.first().map(|dir| dir.join(&entry.name)))
}

/// An archive of the set in a data folder: one that `found_as` names, or the archive's own file
/// name in a folder of the set.
fn find_archive(entry: &Entry, data_dirs: &[PathBuf]) -> Result<Option<PathBuf>, CatalogError> {
    let own = entry.archive.as_ref().and_then(|archive| archive.url.rsplit('/').next());
    let names = || std::iter::once(&entry.name).chain(&entry.found_as);
    let of_name =
        |path: PathBuf| [Some(path.clone()), own.map(|own| path.join(own))].into_iter().flatten();
    for path in
        data_dirs.iter().flat_map(|dir| names().map(|name| dir.join(name))).flat_map(of_name)
    {
        if metadata_if_present(&path)?.is_some_and(|facts| facts.is_file()) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// The folders that were searched, for a message.
fn searched_folders(entry: &Entry, data_dirs: &[PathBuf]) -> String {
    let own = || data_dirs.iter().map(|dir| dir.join(&entry.name)).collect();
    let folders: Vec<PathBuf> = entry.home.clone().map_or_else(own, |home| vec![home]);
    folders.iter().map(|folder| format!("`{}`", folder.display())).collect::<Vec<_>>().join(", ")
}

/// Downloads missing files unless an earlier try failed, and notes a failure.
fn download_once(
    entry: &Entry,
    folder: &Path,
    kept: Option<&Path>,
    limits: &Limits,
) -> Result<Source, String> {
    if let Some(failed) = earlier_failure(entry, folder, kept) {
        return Err(failed);
    }
    let made = NewFolders::missing(entry, folder);
    match retrieve_files(entry, folder, limits, &mut |_| {}) {
        Ok(files) => {
            // A read-only folder has no record to compare with.
            let recorded =
                entry.files.iter().zip(&files).try_for_each(|(file, path)| {
                    digests::compare_or_record(entry, file, folder, path)
                });
            recorded.map_err(|error| error.what)?;
            Ok(Source::Real { folder: folder.to_path_buf(), files })
        }
        Err(missed) => {
            let what = missed.message();
            made.remove_empty();
            // A read-only store is no error: the next run tries again. A full disk is not noted.
            if let (false, Some(note)) =
                (missed.is_disk_fault(), kept.map(|kept| failure_note(kept, entry)))
            {
                let written = note.parent().map_or(Ok(()), fs::create_dir_all);
                let _ = written.and_then(|()| fs::write(note, format!("{}\n{what}\n", utc_now())));
            }
            Err(format!("the download failed: {what}"))
        }
    }
}

/// Why an earlier download failed, if it is noted.
fn earlier_failure(entry: &Entry, folder: &Path, kept: Option<&Path>) -> Option<String> {
    let notes = [Some(folder.join(ABSENT)), kept.map(|kept| failure_note(kept, entry))];
    // An existing note counts even if it cannot be read.
    let note = notes.into_iter().flatten().find(|path| may_be_there(path))?;
    let reason = read_entry_text(&note)
        .ok()
        .flatten()
        .unwrap_or_else(|| format!("`{}` cannot be read", note.display()));
    Some(format!("an earlier download failed ({})", reason.lines().collect::<Vec<_>>().join(": ")))
}

/// Path of the note of a failed download.
fn failure_note(kept: &Path, entry: &Entry) -> PathBuf {
    kept.join(NOTES).join(&entry.name)
}

/// Removes the notes of a failed download, also that in the set's folder; an error names the note
/// that stays.
pub(crate) fn forget_failure(
    entry: &Entry,
    folder: &Path,
    kept: Option<&Path>,
) -> Result<(), (PathBuf, io::Error)> {
    for path in [Some(folder.join(ABSENT)), kept.map(|kept| failure_note(kept, entry))]
        .into_iter()
        .flatten()
    {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err((path, error)),
            _ => {}
        }
    }
    Ok(())
}

/// The date and time in UTC, as `2026-05-09T07:29:33Z`.
fn utc_now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = civil_date((seconds / 86_400) as i64);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60
    )
}

/// Year, month and day of a day since 1970 (Howard Hinnant, "chrono-compatible low-level date
/// algorithms").
fn civil_date(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (
        year_of_era + era * 400 + i64::from(month <= 2),
        month,
        day_of_year - (153 * march_month + 2) / 5 + 1,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::download::tests::{answer, serve_once, short_limits};
    use crate::entry::RawFile;

    #[test]
    fn a_file_that_cannot_be_looked_at_gives_way_to_no_stand_in() {
        let dir = tempfile::tempdir().unwrap();
        let entry = entry(&[("a.txt", None)]);
        let folder = dir.path().join("karate");
        fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink(folder.join("a.txt"), folder.join("a.txt")).unwrap();
        assert_eq!(
            present_files(&entry, &[dir.path().to_path_buf()]).unwrap().files,
            [folder.join("a.txt")]
        );
        std::os::unix::fs::symlink(folder.join("manifest.json"), folder.join("manifest.json"))
            .unwrap();
        assert!(crate::entry::InheritedProvenance::from_manifest(&folder).is_err());
        fs::remove_file(folder.join("manifest.json")).unwrap();
        assert!(crate::entry::InheritedProvenance::from_manifest(&folder).unwrap().is_nothing());
    }

    fn entry(files: &[(&str, Option<String>)]) -> Entry {
        let mut entry = crate::Catalog::default().find("karate").unwrap();
        entry.found_as = vec!["other".into()];
        entry.files = files
            .iter()
            .map(|(file, url)| RawFile {
                file: file.to_string(),
                url: url.clone(),
                ..RawFile::default()
            })
            .collect();
        entry
    }

    fn limits() -> Limits {
        short_limits()
    }

    #[test]
    fn all_files_in_one_folder_are_the_real_set() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let folder = two.path().join("other");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.txt.gz"), "").unwrap();
        fs::write(folder.join("b.txt"), "").unwrap();
        let entry = entry(&[("a.txt", None), ("b.txt", None)]);
        let dirs = [one.path().to_path_buf(), two.path().to_path_buf()];
        let source = locate(&entry, &dirs, None, Attempt::Never).unwrap();
        assert_eq!(
            source,
            Source::Real { files: vec![folder.join("a.txt.gz"), folder.join("b.txt")], folder }
        );
    }

    /// As PyG and TUDataset lay files out; only where their names say whose they are.
    #[test]
    fn files_some_folders_deeper_are_found_by_names_that_say_whose_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let dirs = [dir.path().to_path_buf()];
        let found = |name: &str| {
            present_files(&crate::Catalog::default().find(name).unwrap(), &dirs).unwrap().folder
        };
        for (name, folder) in [
            ("citeseer", "CiteSeer/raw"),
            ("cora", "Planetoid/Cora/raw"),
            ("DD", "TUDataset/DD/raw"),
        ] {
            let entry = crate::Catalog::default().find(name).unwrap();
            fs::create_dir_all(dir.path().join(folder)).unwrap();
            entry.files[1..]
                .iter()
                .for_each(|file| fs::write(dir.path().join(folder).join(&file.file), "").unwrap());
            assert_eq!(found(name), None, "{name}: a part of a set was taken for all of it");
            fs::write(dir.path().join(folder).join(&entry.files[0].file), "").unwrap();
            assert_eq!(found(name), Some(dir.path().join(folder)), "{name}");
        }
        let other = entry(&[("a.txt", None)]);
        fs::write(dir.path().join("CiteSeer/a.txt"), "").unwrap();
        assert_eq!(present_files(&other, &dirs).unwrap().folder, None);
        assert_eq!(
            [
                names_set("ind.citeseer.x", "citeseer"),
                names_set("add_A.txt", "dd"),
                names_set("DD_A.txt", "dd")
            ],
            [true, false, true]
        );
    }

    #[test]
    fn a_folder_of_the_own_name_alone_is_looked_into() {
        let dir = tempfile::tempdir().unwrap();
        let dirs = [dir.path().to_path_buf()];
        let entry = crate::Catalog::default().find("DD").unwrap();
        let fill = |folder: &str| {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
            entry
                .files
                .iter()
                .for_each(|file| fs::write(dir.path().join(folder).join(&file.file), "").unwrap());
        };
        fill("TUDataset/DD/raw");
        assert_eq!(
            present_files(&entry, &dirs).unwrap().folder,
            Some(dir.path().join("TUDataset/DD/raw"))
        );
        fs::create_dir(dir.path().join("DD")).unwrap();
        assert_eq!(present_files(&entry, &dirs).unwrap().folder, None);
        fill("DD/raw");
        assert_eq!(present_files(&entry, &dirs).unwrap().folder, Some(dir.path().join("DD/raw")));
    }

    #[test]
    fn a_folder_that_cannot_be_looked_into_takes_no_set_of_another_name() {
        let dir = tempfile::tempdir().unwrap();
        let dirs = [dir.path().to_path_buf()];
        let entry = crate::Catalog::default().find("citeseer").unwrap();
        let close = |folder: &Path| {
            fs::create_dir_all(folder).unwrap();
            entry.files.iter().for_each(|file| {
                std::os::unix::fs::symlink(&file.file, folder.join(&file.file)).unwrap()
            });
        };
        close(&dir.path().join("Lost"));
        assert_eq!(present_files(&entry, &dirs).unwrap().folder, None);
        // Below the folder of its own name they are the set's.
        close(&dir.path().join("citeseer/raw"));
        assert_eq!(
            present_files(&entry, &dirs).unwrap().folder,
            Some(dir.path().join("citeseer/raw"))
        );
    }

    #[test]
    fn a_set_in_an_open_data_folder_is_taken_before_a_closed_one() {
        let dir = tempfile::tempdir().unwrap();
        let (closed, open) = (dir.path().join("closed"), dir.path().join("open"));
        std::os::unix::fs::symlink(&closed, &closed).unwrap();
        fs::create_dir_all(open.join("karate")).unwrap();
        fs::write(open.join("karate/a.txt"), "").unwrap();
        let dirs = [closed.clone(), open.clone()];
        let here = |name: &str| present_files(&entry(&[(name, None)]), &dirs).unwrap().folder;
        assert_eq!(
            (here("a.txt"), here("b.txt")),
            (Some(open.join("karate")), Some(closed.join("karate")))
        );
    }

    #[test]
    fn a_folder_that_cannot_be_listed_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        std::os::unix::fs::symlink(&data, &data).unwrap();
        let error = folders_below(&data).unwrap_err();
        assert!(
            error.what.contains("cannot list the folder")
                && error.place == Some(data.display().to_string()),
            "{error}"
        );
        assert_eq!(folders_below(&dir.path().join("none")), Ok(Vec::new()));
    }

    #[test]
    fn a_part_of_a_set_is_said_to_be_so() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("karate")).unwrap();
        fs::write(dir.path().join("karate/a.txt"), "").unwrap();
        let entry = entry(&[("a.txt", None), ("b.txt", None), ("c.txt", None)]);
        let Source::StandIn { why } =
            locate(&entry, &[dir.path().to_path_buf()], None, Attempt::Never).unwrap()
        else {
            panic!("expected the stand-in")
        };
        assert!(why.contains("1 of 3 files") && why.contains("missing: b.txt, c.txt"), "{why}");
    }

    #[test]
    fn a_failure_is_remembered_and_a_success_kept() {
        let dir = tempfile::tempdir().unwrap();
        let (dirs, kept) = ([dir.path().join("raw")], dir.path().join("store/seen-v1"));
        let failing = entry(&[(
            "a.txt",
            Some(format!("http://{}/a.txt", serve_once(answer("404 Not Found", 0, b"")))),
        )]);
        let Source::StandIn { why } =
            locate_within(&failing, &dirs, Some(&kept), Attempt::Once, &limits()).unwrap()
        else {
            panic!("expected the stand-in")
        };
        assert!(why.contains("404"), "{why}");
        let working = entry(&[(
            "a.txt",
            Some(format!("http://{}/a.txt.gz", serve_once(answer("200 OK", 2, b"\x1f\x8b")))),
        )]);
        let Source::StandIn { why } =
            locate_within(&working, &dirs, Some(&kept), Attempt::Once, &limits()).unwrap()
        else {
            panic!("expected the stand-in")
        };
        assert!(why.contains("an earlier download failed (20") && why.contains("404"), "{why}");
        // No trace of the failure lies among the data.
        assert!(!dir.path().join("raw/karate").exists());
        forget_failure(&working, &dirs[0].join("karate"), Some(&kept)).unwrap();
        let Source::Real { files, .. } =
            locate_within(&working, &dirs, Some(&kept), Attempt::Once, &limits()).unwrap()
        else {
            panic!("expected the files")
        };
        assert!(files[0].ends_with("karate/a.txt.gz"));
        assert_eq!(fs::read_dir(dir.path().join("raw/karate")).unwrap().count(), 2);
    }

    #[test]
    fn a_note_in_the_folder_of_a_set_is_heeded() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("karate")).unwrap();
        fs::write(dir.path().join("karate").join(ABSENT), "never here\n").unwrap();
        let entry = entry(&[("a.txt", Some("http://127.0.0.1:9/a".into()))]);
        let source =
            locate_within(&entry, &[dir.path().to_path_buf()], None, Attempt::Once, &limits())
                .unwrap();
        assert!(
            matches!(source, Source::StandIn { why } if why.contains("an earlier download failed \
                (never here)"))
        );
    }

    /// An archive in any data folder, where `found_as` names it or in a folder of the set, is
    /// unpacked beside the store and nowhere else.
    #[test]
    fn an_archive_elsewhere_is_found_and_unpacked_beside_the_store() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two, kept) =
            (dir.path().join("one"), dir.path().join("two"), dir.path().join("store/seen-v1"));
        let bytes =
            crate::unpack::tests::zip(&[("a.txt", b"0 1\n"), ("b.txt", b"0\n"), ("further", b"")]);
        for place in ["others/sets.zip", "other/known.zip"] {
            let archive = two.join(place);
            fs::create_dir_all(archive.parent().unwrap()).unwrap();
            fs::write(&archive, &bytes).unwrap();
            let mut entry = entry(&[("a.txt", None), ("b.txt", None)]);
            match place {
                "others/sets.zip" => entry.found_as = vec![place.into()],
                _ => {
                    entry.archive = Some(crate::entry::Archive {
                        url: "http://127.0.0.1:9/known.zip".into(),
                        folder: "inner".into(),
                    })
                }
            }
            let dirs = [one.clone(), two.clone()];
            assert_eq!(present_files(&entry, &dirs).unwrap().packed, Some(archive.clone()));
            let Source::Real { folder, files } =
                locate(&entry, &dirs, Some(&kept), Attempt::Never).unwrap()
            else {
                panic!("expected the files")
            };
            assert!(
                folder.starts_with(&kept) && files == [folder.join("a.txt"), folder.join("b.txt")],
                "{files:?}"
            );
            assert_eq!(fs::read(&files[0]).unwrap(), b"0 1\n");
            assert!(!one.exists() && fs::read_dir(archive.parent().unwrap()).unwrap().count() == 1);
            let again = locate(&entry, &dirs, Some(&kept), Attempt::Never).unwrap();
            assert_eq!(again, Source::Real { folder, files });
            fs::write(&archive, b"PK\x03\x04").unwrap();
            let Source::StandIn { why } =
                locate(&entry, &dirs, Some(&kept), Attempt::Never).unwrap()
            else {
                panic!("expected the stand-in")
            };
            assert!(why.contains(&format!("`{}`: it is damaged", archive.display())), "{why}");
            fs::remove_file(&archive).unwrap();
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_no_error() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "").unwrap();
        let entry = entry(&[("a.txt", Some("http://127.0.0.1:9/a".into()))]);
        let source = locate_within(
            &entry,
            &[dir.path().join("file")],
            Some(dir.path()),
            Attempt::Once,
            &limits(),
        )
        .unwrap();
        assert!(matches!(source, Source::StandIn { why } if why.contains("cannot write")));
    }

    #[test]
    fn without_a_stand_in_missing_files_are_an_error() {
        let mut entry = entry(&[("a.txt", None)]);
        entry.stand_in = None;
        let error = locate(&entry, &[], None, Attempt::Once).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("get them with  a copy of a.txt in a folder `karate` of --data"),
            "{error}"
        );
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(
            (civil_date(0), civil_date(11_016), civil_date(20_582)),
            ((1970, 1, 1), (2000, 2, 29), (2026, 5, 9))
        );
    }
}
