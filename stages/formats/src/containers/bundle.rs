//! The texts of a data set: files, and members of the zip and tar archives among them, all by name.
//!
//! promises  names are without `.gz` and `.zst`, with `/` between folders, in ascending order of
//!           the files
//! never     unpacks anything to a file; sees what systems leave behind in archives (`__MACOSX`,
//!           names that begin with a dot)
use super::{decompress::PlainFile, tar, text_source::TextSource, zip};
use crate::read_error::{Read, ReadError};
use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

/// Members of no use that are named.
const UNREAD_MOST: usize = 12;

/// Files and members of archives.
pub(crate) struct Bundle {
    zips: Vec<zip::ZipArchive>,
    tars: Vec<tar::TarArchive>,
    entries: Vec<BundleEntry>,
}

struct BundleEntry {
    /// Path without the packing's end.
    name: String,
    /// How errors call it.
    path: PathBuf,
    place: EntryPlace,
    /// Whether its text was asked for.
    is_read: AtomicBool,
}

enum EntryPlace {
    File,
    /// Index of the archive, and the member's name there.
    Zip(usize, String),
    Tar(usize, String),
}

impl Bundle {
    /// Looks into archives; other files are not opened beyond their first bytes.
    pub fn open(files: &[PathBuf]) -> Read<Bundle> {
        let mut files = files.to_vec();
        files.sort();
        let mut bundle = Bundle { zips: Vec::new(), tars: Vec::new(), entries: Vec::new() };
        for path in &files {
            match packing(path)? {
                ArchiveKind::Zip => bundle.add_zip(path)?,
                ArchiveKind::Tar => bundle.add_tar(path)?,
                ArchiveKind::None => {
                    bundle.add(path.clone(), &path.to_string_lossy(), EntryPlace::File)
                }
            }
        }
        Ok(bundle)
    }

    fn add_zip(&mut self, path: &Path) -> Read<()> {
        let archive = zip::ZipArchive::open(path)?;
        for member in archive.names() {
            self.add(
                archive.path_of(member),
                member,
                EntryPlace::Zip(self.zips.len(), member.to_owned()),
            );
        }
        self.zips.push(archive);
        Ok(())
    }

    fn add_tar(&mut self, path: &Path) -> Read<()> {
        let archive = tar::TarArchive::open(path)?;
        for member in archive.names() {
            self.add(
                path.join(member),
                member,
                EntryPlace::Tar(self.tars.len(), member.to_owned()),
            );
        }
        self.tars.push(archive);
        Ok(())
    }

    fn add(&mut self, path: PathBuf, name: &str, place: EntryPlace) {
        let hidden = |step: &str| step == "__MACOSX" || step.starts_with('.') && step.len() > 1;
        let in_archive = !matches!(place, EntryPlace::File);
        if in_archive && name.split('/').any(hidden) {
            return;
        }
        let packings: &[&str] = match place {
            EntryPlace::File => &[".gz", ".zst"],
            EntryPlace::Zip(..) | EntryPlace::Tar(..) => &[".gz"],
        };
        let name = packings
            .iter()
            .find_map(|end| name.strip_suffix(end))
            .unwrap_or(name)
            .replace('\\', "/");
        self.entries.push(BundleEntry { name, path, place, is_read: AtomicBool::new(false) });
    }

    /// The names, by index.
    pub fn names(&self) -> impl Iterator<Item = (usize, &str)> {
        self.entries.iter().map(|entry| entry.name.as_str()).enumerate()
    }

    /// How errors call an entry.
    pub fn path(&self, index: usize) -> &Path {
        &self.entries[index].path
    }

    /// The one entry for which `is` holds; two are an error.
    pub fn find_one(&self, what: &str, is: impl Fn(&str) -> bool) -> Read<Option<usize>> {
        let mut found = self.names().filter(|(_, name)| is(name)).map(|(index, _)| index);
        let (first, second) = (found.next(), found.next());
        match second {
            Some(second) => {
                let error =
                    ReadError::new(self.path(second), format!("there are two files of {what}"));
                let names = first
                    .into_iter()
                    .chain([second])
                    .map(|index| self.path(index).display().to_string())
                    .collect::<Vec<_>>();
                Err(Box::new(
                    error.expected("one", names.join(", ")).hint(
                        "name the files of one set in the catalogue:  data/catalog/<name>.yaml",
                    ),
                ))
            }
            None => Ok(first),
        }
    }

    /// The plain text of an entry.
    pub fn text(&self, index: usize) -> Read<TextSource<'_>> {
        let entry = &self.entries[index];
        entry.is_read.store(true, Ordering::Relaxed);
        match &entry.place {
            EntryPlace::File => TextSource::open(&entry.path),
            EntryPlace::Zip(archive, member) => {
                unpacked(member, TextSource::open_member(&self.zips[*archive], member)?)
            }
            EntryPlace::Tar(archive, member) => unpacked(member, self.tars[*archive].text(member)?),
        }
    }
}

/// What is passed over: files and members whose text nobody asked for, but texts about the set and
/// what `is_told` already.
pub(crate) fn list_unread(bundle: &Bundle, is_told: impl Fn(&str) -> bool) -> Vec<String> {
    let is_left = |entry: &&BundleEntry| {
        !entry.is_read.load(Ordering::Relaxed)
            && !entry.name.ends_with('/')
            && !is_about(Path::new(&entry.name))
    };
    let names: Vec<&str> = bundle
        .entries
        .iter()
        .filter(is_left)
        .map(|entry| &*entry.name)
        .filter(|name| !is_told(name))
        .collect();
    let more = names.len().saturating_sub(UNREAD_MOST);
    let named =
        names.iter().take(UNREAD_MOST).map(|name| format!("the file `{}`", file_name(name)));
    named.chain((more > 0).then(|| format!("{more} more files"))).collect()
}

/// Whether a file is a text about the data, by its name.
pub fn is_about(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    ["source", "readme", "license", "licence", "copying"]
        .iter()
        .any(|start| name.starts_with(start))
}

/// A member whose name says that it is packed once more.
fn unpacked<'a>(name: &str, text: TextSource<'a>) -> Read<TextSource<'a>> {
    Ok(if name.ends_with(".gz") { text.gunzip() } else { text })
}

enum ArchiveKind {
    None,
    Zip,
    Tar,
}

fn packing(path: &Path) -> Read<ArchiveKind> {
    if zip::is_zip_file(path)? {
        return Ok(ArchiveKind::Zip);
    }
    let mut head = Vec::new();
    PlainFile::open(path)?.fill(&mut head, 512)?;
    Ok(if tar::is_tar(&head) { ArchiveKind::Tar } else { ArchiveKind::None })
}

/// The last part of a name.
pub(crate) fn file_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use crate::{
        detect::detect,
        text::lines::tests::{files_of, shared},
    };

    #[test]
    fn published_sets_are_taken_for_what_they_are() {
        let own = [
            ("tu_COLLAB", "adjacency_text"),
            ("tu_", "tu"),
            ("ogb", "ogb"),
            ("rdf_", "ntriples"),
            ("kg_", "triples"),
        ];
        let Some(files) = shared("") else { return };
        let folders: std::collections::BTreeSet<_> = files
            .iter()
            .filter_map(|path| path.parent())
            .filter(|path| path.parent().is_some_and(|data| data.ends_with("data")))
            .collect();
        assert!(!folders.is_empty());
        for folder in folders {
            let name = folder.file_name().unwrap().to_string_lossy().into_owned();
            let expected =
                own.iter().find(|(begin, _)| name.starts_with(begin)).map(|(_, format)| *format);
            let found = detect(folder, &files_of(folder))
                .ok()
                .map(|(format, _)| format.name)
                .filter(|format| own.iter().any(|(_, own)| own == format));
            assert_eq!(found, expected, "{name}");
        }
    }
}
