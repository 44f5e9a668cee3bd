//! Why a file of a folder is no data set: what was found in it, and what to do about it.
//!
//! promises  a reason for every file, the strongest first: what keeps it from being read, what it
//!           is instead, what is missing beside it
//! never     reads more than the beginning of a file and the directory of an archive
use std::{fs, io::Read as _, path::Path};

use super::{HEAD_BYTES, Look};
use crate::{
    FORMATS, attach,
    decompress::{Plain, open_file},
    npz::Npz,
    raw::{Place, Read, ReadError, if_sound},
    zip::Archive,
};

/// Members of an archive and columns of a line that are shown.
const SHOWN_MOST: usize = 6;
/// Letters of a line that are shown.
const LETTERS_MOST: usize = 48;

/// What a page says that came in the place of a file.
const PAGE: (&str, &str) =
    ("a web page", "download it again: the address led to a page, not to the file");
/// What XML is, and what to do.
const XML: (&str, &str) = (
    "XML (GraphML, GEXF, RDF/XML), which is not read",
    "write it as GML, N-Triples or an edge list",
);
/// What a pickle is, and what to do.
const PICKLE: (&str, &str) =
    ("a pickle; of those only Planetoid's `ind.NAME.*` are read", NETWORKX);
/// How Python writes what is read, of a graph that networkx pickled and of data that PyTorch saved;
/// FILE is the file.
const NETWORKX: &str = "in Python, for a graph of networkx:\nimport networkx, pickle; g = pickle.load(open(\"FILE\", \"rb\"))\n\
                        networkx.write_weighted_edgelist(g, \"edges.txt\", delimiter=\"\\t\")\n\
                        and then:  warploom data import NAME --edges edges.txt";
const TORCH: &str = "in Python, for data of PyG:\nimport torch, numpy; data = torch.load(\"FILE\", weights_only=False)\n\
                     numpy.savez(\"graph.npz\", edge_index=data.edge_index, x=data.x, y=data.y)\n\
                     and then:  warploom data import NAME --edges graph.npz";
/// Endings of files that Python writes for itself, and how it writes what is read.
const PICKLED: [(&str, &str); 5] =
    [("pkl", NETWORKX), ("pickle", NETWORKX), ("gpickle", NETWORKX), ("pt", TORCH), ("pth", TORCH)];
/// The member of an archive that PyTorch saved.
const TORCH_MEMBER: &str = "/data.pkl";

/// How text begins, in any case of letters, that a server or a tool puts in the place of a file;
/// what it is, and what to do.
const MISTAKEN: &[(&[u8], (&str, &str))] = &[
    (
        b"version https://git-lfs",
        ("a pointer of git LFS, not the file itself", "get the file:  git lfs pull"),
    ),
    (b"<!doctype", PAGE),
    (b"<html", PAGE),
    (b"<head>", PAGE),
    (b"<body", PAGE),
    (b"<script", PAGE),
    (b"<title>", PAGE),
    (b"<!--", PAGE),
    (b"<?xml", XML),
    (b"<error>", XML),
    (b"<graphml", XML),
    (b"<gexf", XML),
    (b"<rdf:rdf", XML),
    (b"{", ("JSON, which is no graph here", "write an edge list or tables")),
    (b"[", ("JSON, which is no graph here", "write an edge list or tables")),
    (b"%PDF", ("a PDF", "put it into another folder")),
];

/// What other files begin with that are not read, what they are, and what to do.
const OTHERS: &[(&[u8], (&str, &str))] = &[
    (b"\x89HDF\r\n\x1a\n", ("HDF5", "write edges and features with numpy.savez, or as Parquet")),
    (b"\x80\x02", PICKLE),
    (b"\x80\x03", PICKLE),
    (b"\x80\x04", PICKLE),
    (b"\x80\x05", PICKLE),
];

/// Where `ustar` stands in a tar archive.
const TAR_MAGIC_AT: usize = 257;

/// What files begin with whose names end so.
const MAGIC: &[(&str, &[u8])] = &[
    (".gz", b"\x1f\x8b"),
    (".zst", b"\x28\xb5\x2f\xfd"),
    (".npz", b"PK"),
    (".npy", b"\x93NUMPY"),
    (".parquet", b"PAR1"),
    (".pq", b"PAR1"),
    (".parq", b"PAR1"),
];

/// How names of files of tensors end.
const TENSORS: &str = ".safetensors";

/// What was found in a file, and what helps.
pub(super) struct Strange {
    pub found: String,
    pub hint: Option<String>,
}

fn strange(found: impl Into<String>, hint: Option<&str>) -> Strange {
    Strange { found: found.into(), hint: hint.map(str::to_owned) }
}

/// What a file is that no format took, in a few words.
pub fn what_is(path: &Path) -> String {
    of(path).found
}

/// Why this file was not recognised.
pub(super) fn of(path: &Path) -> Strange {
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
    match crate::zip::is_zip_file(path) {
        Ok(true) => return archive(path),
        Ok(false) => {}
        Err(error) => return strange(error.what, None),
    }
    let mut head = Vec::new();
    if let Err(error) = Plain::open(path).and_then(|mut plain| plain.fill(&mut head, HEAD_BYTES)) {
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
fn archive(path: &Path) -> Strange {
    if let (true, Some(one)) = (attach::may_stand_beside(path), by_itself(path)) {
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
        Ok(npz) if attach::may_stand_beside(path) => {
            let names: Vec<&str> = npz.names().collect();
            if names.is_empty() {
                strange("a zip archive without an array", None)
            } else {
                strange(format!("no graph in its arrays: {}", listed(&names)), None)
            }
        }
        Ok(_) => match Archive::open(path)
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
fn tar(path: &Path) -> Strange {
    match crate::tar::Archive::open(path)
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

/// The ending of a name, and what such files begin with where this one does not.
pub(crate) fn lacks_magic(path: &Path, head: &[u8]) -> Option<(&'static str, String)> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    if name.ends_with(TENSORS) {
        // Eight bytes with the length of the header stand before it.
        return (head.get(8) != Some(&b'{'))
            .then(|| (TENSORS, "a length of 8 bytes and `{`".to_owned()));
    }
    // Packed files are known by their contents, whatever they are called.
    let plain = MAGIC.iter().filter(|(end, _)| ![".gz", ".zst"].contains(end));
    let (end, magic) =
        plain.copied().find(|(end, magic)| name.ends_with(end) && !head.starts_with(magic))?;
    Some((
        end,
        format!(
            "`{}`",
            magic
                .iter()
                .filter(|byte| byte.is_ascii())
                .map(|&byte| char::from(byte))
                .collect::<String>()
        ),
    ))
}

fn listed(names: &[&str]) -> String {
    let more = names.len().saturating_sub(SHOWN_MOST);
    let shown = names[..names.len().min(SHOWN_MOST)].join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

/// What a file is that begins so, where it is something that is never a graph here, and what to do.
pub(crate) fn other(path: &Path, head: &[u8]) -> Option<(&'static str, String)> {
    let (_, (what, hint)) = MISTAKEN.iter().chain(OTHERS).find(|(start, _)| begins(head, start))?;
    let of_pickle = || python(path).unwrap_or_else(|| named(hint, path));
    Some((what, if *what == PICKLE.0 { of_pickle() } else { (*hint).to_owned() }))
}

/// What to do with a file that begins as a pickle does.
pub(crate) fn pickle(path: &Path, head: &[u8]) -> Option<String> {
    other(path, head).filter(|(what, _)| *what == PICKLE.0).map(|(_, hint)| hint)
}

/// A hint that names the file.
fn named(hint: &str, path: &Path) -> String {
    hint.replace("FILE", &path.display().to_string())
}

/// Whether text begins so, in any case of letters; `<html:a>` is no tag, but a name in N-Triples.
fn begins(head: &[u8], start: &[u8]) -> bool {
    head.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start))
        && !(start.starts_with(b"<") && head.get(start.len()) == Some(&b':'))
}

/// What a file holds in the place of the one that has this name: a page, XML, a pointer of git LFS,
/// or bytes that such a name cannot have. None: it may well be the file. The file lies at `path`,
/// packed or not.
pub fn mistaken(name: &str, path: &Path) -> Read<Option<String>> {
    let (mut stored, mut head) = (Vec::new(), Vec::new());
    let (file, _) = open_file(path)?;
    file.take(HEAD_BYTES as u64)
        .read_to_end(&mut stored)
        .map_err(|error| ReadError::from_io(path, &error))?;
    // What cannot be unpacked is judged as it is stored.
    if_sound(Plain::open(path).and_then(|mut plain| plain.fill(&mut head, HEAD_BYTES)))?;
    let may_be_json = name.ends_with(".json") || name.ends_with(".json.gz");
    for bytes in [&stored, &head] {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
        let found = MISTAKEN.iter().find(|(start, _)| {
            begins(text, start) && !(may_be_json && [&b"{"[..], b"["].contains(start))
        });
        if let Some((_, (what, _))) = found {
            return Ok(Some(format!("{what}; it begins with `{}`", beginning(text))));
        }
    }
    let wrong = MAGIC.iter().find(|(end, magic)| name.ends_with(end) && !stored.starts_with(magic));
    Ok(wrong.map(|(end, _)| format!("no {end} file; it begins with `{}`", beginning(&stored))))
}

/// The beginning of a line as it can be shown.
fn beginning(bytes: &[u8]) -> String {
    let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or(bytes);
    let text: String = String::from_utf8_lossy(&line[..line.len().min(4 * LETTERS_MOST)])
        .chars()
        .take(LETTERS_MOST)
        .collect();
    text.trim()
        .chars()
        .map(|letter| if letter.is_control() || letter == '\u{fffd}' { '.' } else { letter })
        .collect()
}

/// A file that would be a set if it stood alone.
fn by_itself(path: &Path) -> Option<Strange> {
    let alone = Look::new(&[path.to_path_buf()]);
    let format = FORMATS.iter().find(|format| (format.recognise)(&alone).is_some())?;
    let hint = "name format and files in a catalogue entry,  data/catalog/<name>.yaml , or give \
                each graph a folder of its own";
    Some(strange(format!("`{}` by itself, and not the only such file", format.name), Some(hint)))
}

/// What to do with a file that Python wrote for itself, by its name.
fn python(path: &Path) -> Option<String> {
    let end = path.extension()?.to_str()?.to_lowercase();
    PICKLED.iter().find(|(known, _)| *known == end).map(|(_, hint)| named(hint, path))
}

/// Plain bytes that are no graph by themselves.
fn plain(path: &Path, head: &[u8]) -> Strange {
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
    if let Some((what, hint)) = other(path, trimmed) {
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
    if let (true, Some(one)) = (attach::may_stand_beside(path), by_itself(path)) {
        return one;
    }
    if attach::may_stand_beside(path) {
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
    by_itself(path).unwrap_or_else(|| {
        strange(format!("text that is no graph; its first line is `{}`", beginning(line)), None)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{detect, zip::tests::archive_of};

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
                &crate::tar::tests::archive_of(&[("a.bin", b"\0"), ("b.bin", b"\0")]),
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

    #[test]
    fn what_came_in_the_place_of_a_file_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("came.part");
        let gzip = |bytes: &[u8]| {
            use std::io::Write;
            let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packer.write_all(bytes).unwrap();
            packer.finish().unwrap()
        };
        let told = |name: &str, bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            mistaken(name, &path).unwrap()
        };
        let cases: &[(&str, &[u8], &str)] = &[
            (
                "edges.txt",
                b"\xef\xbb\xbf \n<!DocType HTML><html>",
                "a web page; it begins with `<!DocType HTML><html>`",
            ),
            ("edges.txt", b"<HTML>\nPlease log in", "a web page; it begins with `<HTML>`"),
            ("edges.txt", b"<?xml version=\"1.0\"?><Error><Code>NoSuchKey", "XML"),
            (
                "edges.txt",
                b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n",
                "a pointer of git LFS",
            ),
            ("edges.txt", b"{\"error\": \"quota\"}", "JSON"),
            ("edges.txt.gz", &gzip(b"<html>"), "a web page"),
            ("edges.txt.gz", b"0 1\n", "no .gz file; it begins with `0 1`"),
            ("g.npz", b"0 1\n", "no .npz file"),
            ("e.parquet", b"PARTLY", "no .parquet file; it begins with `PARTLY`"),
        ];
        for (name, bytes, wanted) in cases {
            assert!(
                told(name, bytes).is_some_and(|found| found.starts_with(wanted)),
                "{name}: {:?}",
                told(name, bytes)
            );
        }
        let sound: &[(&str, &[u8])] = &[
            ("edges.txt", b"0 1\n"),
            ("edges.txt", b""),
            ("graph.nt", b"<http://a/b> <http://c> <http://d> .\n"),
            ("graph.nt", b"<html:a> <b:c> <d:e> .\n"),
            ("names.json", b"{\"classes\": []}"),
            ("edges.txt.gz", &gzip(b"0 1\n")),
            ("g.npz", b"PK\x03\x04"),
        ];
        for (name, bytes) in sound {
            assert_eq!(told(name, bytes), None, "{name}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_have_a_reason(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200), zip: bool) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a");
            fs::write(&path, if zip { [b"PK\x03\x04", &bytes[..]].concat() } else { bytes }).unwrap();
            proptest::prop_assert!(!of(&path).found.is_empty());
        }
    }
}
