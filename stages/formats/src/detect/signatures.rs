//! How files begin that are no graph, and what files of a name have to begin with.
//!
//! promises  what came in the place of a file (a page, a pointer of git LFS, XML, a pickle) is
//!           named, with what to do
use super::file_heads::HEAD_BYTES;
use crate::{
    containers::{decompress::PlainFile, raw_file::open_file},
    read_error::{Read, ReadError, if_sound},
};
use std::{io::Read as _, path::Path};

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

pub(super) const TORCH: &str = "in Python, for data of PyG:\nimport torch, numpy; data = torch.load(\"FILE\", weights_only=False)\n\
                     numpy.savez(\"graph.npz\", edge_index=data.edge_index, x=data.x, y=data.y)\n\
                     and then:  warploom data import NAME --edges graph.npz";

/// Endings of files that Python writes for itself, and how it writes what is read.
const PICKLED: [(&str, &str); 5] =
    [("pkl", NETWORKX), ("pickle", NETWORKX), ("gpickle", NETWORKX), ("pt", TORCH), ("pth", TORCH)];

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

/// Letters of a line that are shown.
const LETTERS_MOST: usize = 48;

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

/// What a file is that begins so, where it is something that is never a graph here, and what to do.
pub(crate) fn find_signature(path: &Path, head: &[u8]) -> Option<(&'static str, String)> {
    let (_, (what, hint)) = MISTAKEN.iter().chain(OTHERS).find(|(start, _)| begins(head, start))?;
    let of_pickle = || python(path).unwrap_or_else(|| named(hint, path));
    Some((what, if *what == PICKLE.0 { of_pickle() } else { (*hint).to_owned() }))
}

/// What to do with a file that begins as a pickle does.
pub(crate) fn find_pickle_hint(path: &Path, head: &[u8]) -> Option<String> {
    find_signature(path, head).filter(|(what, _)| *what == PICKLE.0).map(|(_, hint)| hint)
}

/// A hint that names the file.
pub(super) fn named(hint: &str, path: &Path) -> String {
    hint.replace("FILE", &path.display().to_string())
}

/// Whether text begins so, in any case of letters; `<html:a>` is no tag, but a name in N-Triples.
pub(super) fn begins(head: &[u8], start: &[u8]) -> bool {
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
    if_sound(PlainFile::open(path).and_then(|mut plain| plain.fill(&mut head, HEAD_BYTES)))?;
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
pub(super) fn beginning(bytes: &[u8]) -> String {
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

/// What to do with a file that Python wrote for itself, by its name.
pub(super) fn python(path: &Path) -> Option<String> {
    let end = path.extension()?.to_str()?.to_lowercase();
    PICKLED.iter().find(|(known, _)| *known == end).map(|(_, hint)| named(hint, path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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
}
