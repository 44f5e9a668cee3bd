//! Why a file of a folder is no data set: what was found in it, and what to do about it.
//!
//! promises  a reason for every file, the strongest first: what keeps it from being read, what it
//!           is instead, what is missing beside it
//! never     reads more than the beginning of a file and the directory of an archive
use super::{
    file_heads::{FileHeads, HEAD_BYTES},
    signatures::{TORCH, beginning, find_signature, lacks_magic, named, python},
};
use crate::{
    containers::{
        decompress::PlainFile,
        npz::Npz,
        tar,
        zip::{ZipArchive, is_zip_file},
    },
    read_error::Place,
    readers::FORMATS,
    side_files,
};
use std::{fs, path::Path};

/// Members of an archive and columns of a line that are shown.
const SHOWN_MOST: usize = 6;

/// The member of an archive that PyTorch saved.
const TORCH_MEMBER: &str = "/data.pkl";

/// Where `ustar` stands in a tar archive.
const TAR_MAGIC_AT: usize = 257;

/// What was found in a file, and what helps.
pub(super) struct FileReason {
    pub found: String,
    pub hint: Option<String>,
}

fn strange(found: impl Into<String>, hint: Option<&str>) -> FileReason {
    FileReason { found: found.into(), hint: hint.map(str::to_owned) }
}

/// What a file is that no format took, in a few words.
pub fn what_is(path: &Path) -> String {
    find_reason(path).found
}

/// Why this file was not recognised.
pub(super) fn find_reason(path: &Path) -> FileReason {
    if let (false, Ok(to)) = (path.exists(), fs::read_link(path)) {
        let what = format!("a link to `{}`, which is not there", to.display());
        return strange(
            what,
            Some("put the file itself there, or mend the link:  ln -sf FILE LINK"),
        );
    }
    if path.is_dir() {
        return strange("a folder without files in it", Some("put the file itself there"));
    }
    if fs::metadata(path).is_ok_and(|facts| facts.len() == 0) {
        return strange("empty: 0 bytes", Some("download or write it again"));
    }
    match is_zip_file(path) {
        Ok(true) => return archive(path),
        Ok(false) => {}
        Err(error) => return strange(error.what, None),
    }
    let mut head = Vec::new();
    if let Err(error) =
        PlainFile::open(path).and_then(|mut plain| plain.fill(&mut head, HEAD_BYTES))
    {
        let at = if let Place::Byte(byte) = error.place {
            format!(", at byte {byte}")
        } else {
            String::new()
        };
        return strange(
            format!("{}{at}", error.what),
            (!error.hint.is_empty()).then_some(&error.hint),
        );
    }
    plain(path, head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head))
}

/// An archive that cannot be opened says why; another one says what it holds.
fn archive(path: &Path) -> FileReason {
    if let (true, Some(one)) = (side_files::may_stand_beside(path), recognise_alone(path)) {
        return one;
    }
    match Npz::open(path) {
        Err(error) => {
            let found = if error.what.contains(&error.found) {
                error.what
            } else {
                format!("{}: {}", error.what, error.found)
            };
            strange(found, (!error.hint.is_empty()).then_some(&error.hint))
        }
        Ok(npz) if side_files::may_stand_beside(path) => {
            let names: Vec<&str> = npz.names().collect();
            if names.is_empty() {
                strange("a zip archive without an array", None)
            } else {
                strange(format!("no graph in its arrays: {}", listed(&names)), None)
            }
        }
        Ok(_) => match ZipArchive::open(path)
            .map(|archive| archive.names().map(str::to_owned).collect::<Vec<_>>())
        {
            Ok(names) if names.is_empty() => {
                strange("a zip archive without a file in it", Some("download it again"))
            }
            Ok(names) if names.iter().any(|name| name.ends_with(TORCH_MEMBER)) => {
                strange("what PyTorch saved, which is not read", Some(&named(TORCH, path)))
            }
            Ok(names) => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let hint = Some("unpack it into the folder:  unzip FILE -d FOLDER");
                strange(
                    format!(
                        "a zip archive, and no format was recognised in its files: {}",
                        listed(&names)
                    ),
                    hint,
                )
            }
            Err(error) => strange(error.what, None),
        },
    }
}

/// A tar archive that is no set as a whole.
fn tar(path: &Path) -> FileReason {
    match tar::TarArchive::open(path)
        .map(|archive| archive.names().map(str::to_owned).collect::<Vec<_>>())
    {
        Ok(names) => {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let hint =
                "unpack it into the folder, and take the archive away:  tar -xf FILE -C FOLDER";
            strange(
                format!(
                    "a tar archive, and no format was recognised in its files: {}",
                    listed(&names)
                ),
                Some(hint),
            )
        }
        Err(error) => strange(error.what, Some("download it again")),
    }
}

fn listed(names: &[&str]) -> String {
    let more = names.len().saturating_sub(SHOWN_MOST);
    let shown = names[..names.len().min(SHOWN_MOST)].join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

/// A file that would be a set if it stood alone.
fn recognise_alone(path: &Path) -> Option<FileReason> {
    let alone = FileHeads::new(&[path.to_path_buf()]);
    let format = FORMATS.iter().find(|format| (format.recognise)(&alone).is_some())?;
    let hint = "name format and files in a catalogue entry,  data/catalog/<name>.yaml , or give \
                each graph a folder of its own";
    Some(strange(format!("`{}` by itself, and not the only such file", format.name), Some(hint)))
}

/// Plain bytes that are no graph by themselves.
fn plain(path: &Path, head: &[u8]) -> FileReason {
    let utf8 = |from: &str| format!("save it as UTF-8:  iconv -f {from} -t UTF-8 FILE > NEW");
    let nulls =
        |from: usize| head.iter().take(64).skip(from).step_by(2).filter(|&&byte| byte == 0).count();
    let trimmed = head.trim_ascii_start();
    if head.is_empty() {
        return strange("packed, with nothing in it", Some("download or write it again"));
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return strange("text in UTF-16", Some(&utf8("UTF-16")));
    }
    if let Some((what, hint)) = find_signature(path, trimmed) {
        return strange(what, Some(&hint));
    }
    if let Some((end, magic)) = lacks_magic(path, head) {
        let what = format!(
            "no {end} file: expected it to begin with {magic}, found `{}`",
            beginning(head)
        );
        return strange(
            what,
            Some("write or download it again; text has a name such as  edges.txt  or  edges.csv"),
        );
    }
    if head.get(TAR_MAGIC_AT..).is_some_and(|rest| rest.starts_with(b"ustar")) {
        return tar(path);
    }
    if let (true, Some(one)) = (side_files::may_stand_beside(path), recognise_alone(path)) {
        return one;
    }
    if side_files::may_stand_beside(path) {
        return strange(
            "an array or table that stands beside a graph, and there is no graph",
            Some("put the edges beside it, as  edges.csv  or  edges.npz"),
        );
    }
    if nulls(1) > 8 || nulls(0) > 8 {
        let bytes: Vec<String> = head.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let is_text = head
            .iter()
            .filter(|&&byte| byte != 0)
            .all(|byte| (b' '..=b'~').contains(byte) || byte.is_ascii_whitespace())
            && nulls(1) + nulls(0) < 48;
        return match is_text {
            true => strange(
                "text in UTF-16 without a byte-order mark",
                Some(&utf8(if nulls(1) > nulls(0) { "UTF-16LE" } else { "UTF-16BE" })),
            ),
            false => strange(
                format!("no text: it begins with the bytes {}", bytes.join(" ")),
                python(path).as_deref(),
            ),
        };
    }
    if head.contains(&0) {
        let bytes: Vec<String> = head.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        return strange(
            format!("no text: it begins with the bytes {}", bytes.join(" ")),
            python(path).as_deref(),
        );
    }
    let mut lines =
        head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let Some(line) = lines.find(|line| !line.starts_with(b"#") && !line.starts_with(b"%")) else {
        return strange("text of blank lines and remarks alone", None);
    };
    recognise_alone(path).unwrap_or_else(|| {
        strange(format!("text that is no graph; its first line is `{}`", beginning(line)), None)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{containers::zip::tests::archive_of, detect::detect};

    /// What the error says of a folder with one file.
    fn said(name: &str, bytes: &[u8]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        match detect(folder.path(), &[path]) {
            Ok((format, _)) => panic!("{name} was taken for `{}`", format.name),
            Err(error) => error.to_string(),
        }
    }

    /// Each would be a set, and nobody says which is meant.
    #[test]
    fn two_sets_in_one_folder_are_said_to_be_two() {
        let folder = tempfile::tempdir().unwrap();
        let array = b"\x93NUMPY\x01\0";
        let archive = archive_of(&[("edge_index.npy", array)]);
        let files = [("a.npz", &archive[..]), ("b.npz", &archive), ("edges.npy", array)].map(
            |(name, bytes)| {
                let path = folder.path().join(name);
                fs::write(&path, bytes).unwrap();
                path
            },
        );
        let Err(error) = detect(folder.path(), &files) else { panic!("one of them was taken") };
        let said = error.to_string();
        assert!(
            ["a.npz", "b.npz", "edges.npy"]
                .iter()
                .all(|name| said.contains(&format!("{name}: `arrays` by itself"))),
            "{said}"
        );
    }

    #[test]
    fn every_file_is_named_with_what_was_found() {
        let gzip = {
            use std::io::Write;
            let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packer.write_all(b"0 1\n1 2\n").unwrap();
            packer.finish().unwrap()
        };
        let npz = archive_of(&[("things.npy", b"\x93NUMPY\x01\0 and so on")]);
        let utf16: Vec<u8> =
            "0 1\n1 2\n2 3\n0 3\n4 5\n5 6\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let cases: &[(&str, &[u8], &[&str])] = &[
            ("edges.txt", b"", &["edges.txt: empty"]),
            (
                "edges.txt.gz",
                &gzip[..9],
                &["edges.txt.gz: the gzip file is cut short, at byte 9", "download it again"],
            ),
            ("g.npz", &npz[..40], &["g.npz: the zip archive is cut short"]),
            ("g.npz", &npz, &["g.npz: no graph in its arrays: things"]),
            (
                "a.zip",
                &archive_of(&[("../x", b"0 1\n")]),
                &["a.zip: ", "leads out of the archive", "../x"],
            ),
            (
                "a.zip",
                &archive_of(&[("a.bin", b"\0\0"), ("b.bin", b"\0")]),
                &["no format was recognised in its files: a.bin, b.bin"],
            ),
            (
                "edges.txt",
                &[b"\xff\xfe", &utf16[..]].concat(),
                &["edges.txt: text in UTF-16", "hint: save it as UTF-8:  iconv -f UTF-16 "],
            ),
            (
                "edges.txt",
                &utf16,
                &["text in UTF-16 without a byte-order mark", "iconv -f UTF-16LE"],
            ),
            ("x.npy", b"\x93NUMPY\x01\0", &["x.npy: an array or table that stands beside a graph"]),
            ("g.pt", b"\x80\x02}q\0.", &["g.pt: a pickle", "savez"]),
            ("g.bin", &[0; 64], &["g.bin: no text: it begins with the bytes 00 00"]),
            (
                "g.gpickle",
                &[0; 64],
                &[
                    "no text",
                    "g.gpickle\", \"rb\"))\nnetworkx.write_weighted_edgelist(g, \"edges.txt\"",
                    "data import NAME --edges edges.txt",
                ],
            ),
            ("g.gpickle", b"\x80\x04}q\0.", &["a pickle", "pickle.load(open("]),
            (
                "g.pt",
                &archive_of(&[("data/data.pkl", b"\x80\x02"), ("data/0", b"")]),
                &[
                    "g.pt: what PyTorch saved",
                    "weights_only=False)\nnumpy.savez(\"graph.npz\", edge_index",
                ],
            ),
            ("edges.bz2", b"BZh91AY&SY", &["edges.bz2: the file is packed as bzip2", "bunzip2"]),
            (
                "e.parquet",
                b"0 1\n1 2\n",
                &[
                    "e.parquet: no .parquet file: expected it to begin with `PAR1`, found `0 1`",
                    "hint: write or download it again",
                ],
            ),
            (
                "set.tar",
                &crate::containers::tar::tests::archive_of(&[("a.bin", b"\0"), ("b.bin", b"\0")]),
                &["set.tar: a tar archive, and", "a.bin, b.bin", "tar -xf"],
            ),
        ];
        for (name, bytes, wanted) in cases {
            let said = said(name, bytes);
            assert!(said.contains("no format was recognised in this folder"), "{name}: {said}");
            for text in *wanted {
                assert!(said.contains(text), "{name}: expected `{text}` in {said}");
            }
        }
    }

    #[test]
    fn of_two_graphs_both_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a.txt", "b.txt"].map(|name| folder.path().join(name));
        paths.iter().for_each(|path| fs::write(path, "0 1\n1 2\n").unwrap());
        let said = detect(folder.path(), &paths).err().unwrap().to_string();
        assert!(
            said.contains("a.txt: `edge_list` by itself")
                && said.contains("b.txt: `edge_list`")
                && said.contains("a folder of its own"),
            "{said}"
        );
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_have_a_reason(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200), zip: bool) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a");
            fs::write(&path, if zip { [b"PK\x03\x04", &bytes[..]].concat() } else { bytes }).unwrap();
            proptest::prop_assert!(!find_reason(&path).found.is_empty());
        }
    }
}
