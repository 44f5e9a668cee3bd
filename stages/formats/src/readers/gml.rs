//! Graph Modelling Language: `graph [ node [ id 0 label "a" ] edge [ source 0 target 1 ] ]`.
//!
//! promises  an error names line and column; ids need be neither dense nor in order; attributes of
//!           nodes are columns, but for the label that was asked for; attributes of edges beside
//!           the weight, and lists in nodes and edges (`graphics`), are named in `passed_over`
//! reads     comments #, strings over several lines, brackets on lines of their own, gzip, zstd
//! never     nests without bound: lists deeper than 64 are refused
//! limits    the whole file in memory; ids from 0 to 2^63 - 1
//! format    M. Himsolt, GML: A portable Graph File Format (1997)
use crate::{
    containers::{decompress::PlainFile, npy::Number},
    detect::file_heads::FileHeads,
    f32_rounding::RoundedIntegers,
    format::{Format, expect_one_file},
    options::Options,
    out_of_core::LoadedGraph,
    raw_graph::{Column, Edges, Labels, NO_CLASS, NODES_MOST, NodeIds, RawGraph},
    read_error::{Read, ReadError},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

const DEPTH_MOST: usize = 64;

/// Graph Modelling Language.
pub const FORMAT: Format = Format {
    name: "gml",
    about: "Graph Modelling Language, one file",
    recognise,
    read_within: |files, options, _| Ok(LoadedGraph::held(read(expect_one_file(files)?, options)?)),
};

/// One file whose name ends in `.gml`.
fn recognise(look: &FileHeads) -> Option<Vec<PathBuf>> {
    match look.ending(".gml")[..] {
        [file] => Some(vec![file.to_path_buf()]),
        _ => None,
    }
}

/// Reads a GML file. `options.label` is the node attribute that is the class, `options.weight` the
/// edge attribute that is the weight; otherwise `weight`, else `value`, where every edge has it.
pub fn read(path: &Path, options: &Options) -> Read<RawGraph> {
    let text = PlainFile::open(path)?.read_all()?;
    let mut reader =
        GmlScan { path, text: &text, at: if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 } };
    let mut file = GmlFile::default();
    reader.list(&mut file, &mut Vec::new())?;
    file.build(&reader, options)
}

#[derive(Clone, Debug, PartialEq)]
enum GmlValue {
    Whole(i64),
    Real(f64),
    Text(String),
}

impl GmlValue {
    fn number(&self) -> Option<f64> {
        match self {
            GmlValue::Whole(number) => Some(*number as f64),
            GmlValue::Real(number) => Some(*number),
            GmlValue::Text(_) => None,
        }
    }

    fn text(&self) -> String {
        match self {
            GmlValue::Whole(number) => number.to_string(),
            GmlValue::Real(number) => number.to_string(),
            GmlValue::Text(text) => text.clone(),
        }
    }
}

const CUT_SHORT: &str = "the file may be cut short: fetch or write it again";
const NOT_GML: &str = "GML is  graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] ] ; \
                       a file of another format needs another name";
const ID_HINT: &str = "ids are whole numbers: networkx.write_gml writes them so, names as `label`";

/// A `node` or an `edge` with its plain attributes, each with the byte at which its value stands.
#[derive(Default)]
struct GmlItem {
    at: usize,
    attributes: BTreeMap<String, (GmlValue, usize)>,
}

#[derive(Default)]
struct GmlFile {
    directed: Option<bool>,
    graphs: usize,
    nodes: Vec<GmlItem>,
    edges: Vec<GmlItem>,
    /// Lists in nodes and edges.
    lists: BTreeSet<String>,
}

struct GmlScan<'a> {
    path: &'a Path,
    text: &'a [u8],
    at: usize,
}

impl GmlScan<'_> {
    fn error(&self, what: &str, at: usize) -> ReadError {
        let at = at.min(self.text.len());
        let start = self.text[..at]
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |newline| newline + 1);
        let end = self.text[at..]
            .iter()
            .position(|&byte| byte == b'\n')
            .map_or(self.text.len(), |newline| at + newline);
        let line = self.text[..start].iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
        ReadError::new(self.path, what).at_line(
            line,
            (at - start) as u64 + 1,
            &self.text[start..end],
        )
    }

    fn skip_blank(&mut self) {
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'#' => {
                    self.at = self.text[self.at..]
                        .iter()
                        .position(|&byte| byte == b'\n')
                        .map_or(self.text.len(), |newline| self.at + newline)
                }
                byte if byte.is_ascii_whitespace() => self.at += 1,
                _ => break,
            }
        }
    }

    /// Reads `key value` pairs up to the end of the list that `open` says we are in, or of the
    /// file.
    fn list(&mut self, file: &mut GmlFile, open: &mut Vec<String>) -> Read<()> {
        loop {
            self.skip_blank();
            match (self.text.get(self.at), open.is_empty()) {
                (None, true) => return Ok(()),
                (None, false) => {
                    return Err(self
                        .error("the GML file ends inside a list", self.at)
                        .expected("`]`", "the end of the file")
                        .hint(CUT_SHORT)
                        .into());
                }
                (Some(b']'), false) => {
                    self.at += 1;
                    open.pop();
                    return Ok(());
                }
                (Some(b']'), true) => {
                    let error = self
                        .error("a list is closed that was never opened", self.at)
                        .expected("a key, or the end of the file", "`]`");
                    return Err(error
                        .hint("remove the `]`, or put the `[` that it closes where its list begins")
                        .into());
                }
                _ => self.pair(file, open)?,
            }
        }
    }

    fn pair(&mut self, file: &mut GmlFile, open: &mut Vec<String>) -> Read<()> {
        let key_at = self.at;
        let key = self.key()?;
        self.skip_blank();
        let at = self.at;
        if self.text.get(at) == Some(&b'[') {
            self.at += 1;
            open.push(key);
            if open.len() > DEPTH_MOST {
                return Err(self
                    .error("lists are nested too deeply", at)
                    .expected("at most 64 levels", "more")
                    .hint("is a `]` missing? nodes and edges are two lists deep")
                    .into());
            }
            let path: Vec<&str> = open.iter().map(String::as_str).collect();
            match path.as_slice() {
                ["graph"] => file.graphs += 1,
                ["graph", "node"] => file.nodes.push(GmlItem { at: key_at, ..GmlItem::default() }),
                ["graph", "edge"] => file.edges.push(GmlItem { at: key_at, ..GmlItem::default() }),
                ["graph", item @ ("node" | "edge"), list] => {
                    file.lists.insert(format!("list `{list}` of the {item}s"));
                }
                _ => {}
            }
            return self.list(file, open);
        }
        let value = self.value()?;
        let path: Vec<&str> = open.iter().map(String::as_str).collect();
        let item = match path.as_slice() {
            ["graph"] if key == "directed" => {
                file.directed = Some(value == GmlValue::Whole(1));
                None
            }
            ["graph", "node"] => file.nodes.last_mut(),
            ["graph", "edge"] => file.edges.last_mut(),
            _ => None,
        };
        if let Some(item) = item {
            item.attributes.insert(key, (value, at));
        }
        Ok(())
    }

    fn key(&mut self) -> Read<String> {
        let start = self.at;
        let end = self.text[start..]
            .iter()
            .position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'))
            .map_or(self.text.len(), |length| start + length);
        if end == start || !self.text[start].is_ascii_alphabetic() {
            let found =
                String::from_utf8_lossy(&self.text[start..(start + 1).min(self.text.len())])
                    .into_owned();
            return Err(self
                .error("this is not GML", start)
                .expected("a key such as `graph`, `node` or `id`", format!("`{found}`"))
                .hint(NOT_GML)
                .into());
        }
        self.at = end;
        Ok(String::from_utf8_lossy(&self.text[start..end]).into_owned())
    }

    fn value(&mut self) -> Read<GmlValue> {
        let start = self.at;
        if self.text.get(start) == Some(&b'"') {
            let Some(length) = self.text[start + 1..].iter().position(|&byte| byte == b'"') else {
                return Err(self
                    .error("a string has no end", start)
                    .expected("`\"`", "the end of the file")
                    .hint("close it with `\"`; a `\"` inside is written `&quot;`")
                    .into());
            };
            self.at = start + length + 2;
            return Ok(GmlValue::Text(
                String::from_utf8_lossy(&self.text[start + 1..start + 1 + length]).into_owned(),
            ));
        }
        let ends = |byte: &u8| byte.is_ascii_whitespace() || *byte == b']' || *byte == b'[';
        let end = self.text[start..]
            .iter()
            .position(ends)
            .map_or(self.text.len(), |length| start + length);
        let word = String::from_utf8_lossy(&self.text[start..end]).into_owned();
        self.at = end;
        if let Ok(whole) = word.parse() {
            return Ok(GmlValue::Whole(whole));
        }
        let real = word
            .parse::<f64>()
            .ok()
            .filter(|_| word.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)));
        real.map(GmlValue::Real).ok_or_else(|| {
            let hint = if word.is_empty() {
                CUT_SHORT
            } else {
                "put words in quotes, and write finite numbers"
            };
            let error = self
                .error("a value is neither a number nor a string", start)
                .expected("a number, a string in quotes or `[`", format!("`{word}`"));
            error.hint(hint).into()
        })
    }

    /// A whole number from 0 that an item must have.
    fn id(&self, item: &GmlItem, kind: &str, key: &str) -> Read<u64> {
        match item.attributes.get(key) {
            Some((GmlValue::Whole(id), _)) if *id >= 0 => Ok(*id as u64),
            Some((value, at)) => {
                let found = if let GmlValue::Text(text) = value {
                    format!("`{text}`")
                } else {
                    value.text()
                };
                Err(self
                    .error(&format!("the `{key}` of a GML {kind} is no id"), *at)
                    .expected("a whole number from 0", found)
                    .hint(ID_HINT)
                    .into())
            }
            None => {
                let error = self
                    .error(&format!("a GML {kind} has no `{key}`"), item.at)
                    .expected(format!("`{key}` and a whole number from 0"), "none");
                Err(error.hint(ID_HINT).into())
            }
        }
    }
}

impl GmlFile {
    fn build(self, reader: &GmlScan<'_>, options: &Options) -> Read<RawGraph> {
        if self.graphs != 1 {
            let what = if self.graphs == 0 {
                "the file has no graph"
            } else {
                "the file has several graphs"
            };
            let hint = if self.graphs == 0 {
                NOT_GML
            } else {
                "write a file for each graph, and give each a folder of its own"
            };
            return Err(ReadError::new(reader.path, what)
                .expected("one `graph [ ... ]`", self.graphs.to_string())
                .hint(hint)
                .into());
        }
        let mut ids = Vec::with_capacity(self.nodes.len());
        for (position, node) in self.nodes.iter().enumerate() {
            ids.push((reader.id(node, "node", "id")?, position));
        }
        ids.sort_unstable();
        if let Some(pair) = ids.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let error = reader
                .error("two GML nodes have one id", self.nodes[pair[1].1].at)
                .expected("ids that differ", format!("{} twice", pair[0].0));
            return Err(error.hint("give one of them another id, in its edges too").into());
        }
        if ids.len() as u64 > NODES_MOST {
            return Err(ReadError::new(reader.path, "the file has too many nodes")
                .expected(format!("at most {NODES_MOST}"), ids.len().to_string())
                .into());
        }
        let end = |edge: &GmlItem, key: &str| -> Read<u32> {
            let id = reader.id(edge, "edge", key)?;
            let row = ids.binary_search_by_key(&id, |(id, _)| *id);
            row.map(|row| row as u32).map_err(|_| {
                let error = reader
                    .error(&format!("the `{key}` of a GML edge is no node"), edge.at)
                    .expected("the id of a node", id.to_string());
                error.hint(format!("add  node [ id {id} ]  or take the edge out")).into()
            })
        };
        let mut edges = Edges::default();
        for edge in &self.edges {
            edges.source.push(end(edge, "source")?);
            edges.target.push(end(edge, "target")?);
        }
        let weight = self.weight_name(options);
        edges.weight = self.weights(reader, weight)?;
        let notes = self.rounded(reader, weight).note("weights", "line").into_iter().collect();
        let labels =
            options.label.as_ref().map(|name| self.labels(reader, name, &ids)).transpose()?;
        let columns = self.columns(&ids, options.label.as_deref());
        let of_edges: BTreeSet<&String> =
            self.edges.iter().flat_map(|edge| edge.attributes.keys()).collect();
        let unread = of_edges.into_iter().filter(|name| {
            !["source", "target"].contains(&name.as_str()) && Some(name.as_str()) != weight
        });
        let passed_over = unread
            .map(|name| format!("attribute `{name}` of the edges"))
            .chain(self.lists.iter().cloned())
            .collect();
        let ids = NodeIds::from_ascending(ids.into_iter().map(|(id, _)| id).collect());
        Ok(RawGraph {
            ids,
            edges,
            directed: Some(self.directed.unwrap_or(false)),
            labels,
            columns,
            passed_over,
            notes,
            ..RawGraph::default()
        })
    }

    /// The attribute of edges that is the weight.
    fn weight_name<'a>(&self, options: &'a Options) -> Option<&'a str> {
        let everywhere = |name: &&str| {
            !self.edges.is_empty()
                && self.edges.iter().all(|edge| edge.attributes.contains_key(*name))
        };
        match options.weight.as_deref() {
            Some("none") => None,
            Some(name) => Some(name),
            None => ["weight", "value"].into_iter().find(everywhere),
        }
    }

    /// All further attributes of nodes: whole numbers, numbers or words, whatever holds them all.
    fn columns(&self, ids: &[(u64, usize)], label: Option<&str>) -> Vec<(String, Column)> {
        let names: BTreeSet<&String> =
            self.nodes.iter().flat_map(|node| node.attributes.keys()).collect();
        let further =
            names.into_iter().filter(|name| *name != "id" && Some(name.as_str()) != label);
        let column = |name: &String| {
            let values = || {
                ids.iter().map(|&(_, position)| {
                    self.nodes[position].attributes.get(name).map(|(value, _)| value)
                })
            };
            if values().flatten().all(|value| matches!(value, GmlValue::Whole(_))) {
                return Column::Integers(
                    values()
                        .map(|value| {
                            if let Some(GmlValue::Whole(number)) = value {
                                Some(*number)
                            } else {
                                None
                            }
                        })
                        .collect(),
                );
            }
            if values().flatten().all(|value| !matches!(value, GmlValue::Text(_))) {
                return Column::Reals(
                    values().map(|value| value.and_then(GmlValue::number)).collect(),
                );
            }
            Column::Texts(values().map(|value| value.map(GmlValue::text)).collect())
        };
        further.map(|name| (name.clone(), column(name))).collect()
    }

    fn weights(&self, reader: &GmlScan<'_>, name: Option<&str>) -> Read<Option<Vec<f32>>> {
        let Some(name) = name else { return Ok(None) };
        let weight = |edge: &GmlItem| -> Read<f32> {
            let found = edge.attributes.get(name);
            let number = found.and_then(|(value, _)| value.number()).unwrap_or(f64::NAN);
            let wrong = || {
                let text = found.map_or("none".to_owned(), |(value, _)| value.text());
                let error = reader
                    .error("a GML edge has no usable weight", found.map_or(edge.at, |(_, at)| *at));
                error
                    .expected(format!("`{name}` and a finite number"), text)
                    .hint("to read edges without weights, add  --set ingest.weights=drop")
            };
            if (number as f32).is_finite() { Ok(number as f32) } else { Err(wrong().into()) }
        };
        self.edges.iter().map(weight).collect::<Read<Vec<f32>>>().map(Some)
    }

    /// Weights that f32 does not hold, the first one's place as its line.
    fn rounded(&self, reader: &GmlScan<'_>, name: Option<&str>) -> RoundedIntegers {
        let mut rounded = RoundedIntegers::default();
        let weights = self.edges.iter().filter_map(|edge| edge.attributes.get(name?));
        weights.for_each(|(value, at)| {
            let is_other = match *value {
                GmlValue::Whole(number) => Number::Signed(number).is_rounded(),
                GmlValue::Real(number) => Number::Real(number).is_rounded(),
                GmlValue::Text(_) => false,
            };
            rounded.add(*at as u64, is_other);
        });
        let line = |at: u64| {
            1 + reader.text[..at as usize].iter().filter(|&&byte| byte == b'\n').count() as u64
        };
        RoundedIntegers { first: rounded.first.map(line), ..rounded }
    }

    fn labels(&self, reader: &GmlScan<'_>, name: &str, ids: &[(u64, usize)]) -> Read<Labels> {
        let key = |value: &GmlValue| match value {
            GmlValue::Whole(number) => (0, *number, String::new()),
            GmlValue::Real(number) => (1, 0, number.to_string()),
            GmlValue::Text(text) => (1, 0, text.clone()),
        };
        let of_row = |&(_, position): &(u64, usize)| {
            self.nodes[position].attributes.get(name).map(|(value, _)| key(value))
        };
        let mut classes: Vec<_> = ids.iter().filter_map(of_row).collect();
        classes.sort();
        classes.dedup();
        if classes.is_empty() && !ids.is_empty() {
            return Err(ReadError::new(
                reader.path,
                format!("no GML node has the label attribute `{name}`"),
            )
            .hint("name another in the catalogue's entry:  read: {label: NAME}")
            .into());
        }
        let class = ids
            .iter()
            .map(|row| {
                of_row(row)
                    .and_then(|key| classes.binary_search(&key).ok())
                    .map_or(NO_CLASS, |class| class as u32)
            })
            .collect();
        let names = classes
            .into_iter()
            .map(|(kind, number, text)| if kind == 0 { number.to_string() } else { text })
            .collect();
        Ok(Labels::Classes { class, names })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_text(text: &[u8], options: &Options) -> Read<RawGraph> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.gml");
        std::fs::write(&path, text).unwrap();
        read(&path, options)
    }

    fn shared(name: &str) -> Option<std::path::PathBuf> {
        let root = std::env::var_os("WARPLOOM_SHARED").map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
            Into::into,
        );
        let path = root.join("data").join(name);
        if !path.exists() {
            println!("SKIPPED: {name}: no such file under WARPLOOM_SHARED");
        }
        path.exists().then_some(path)
    }

    #[test]
    fn a_small_file_with_everything() {
        let text = b"Creator \"x\"\n# c\ngraph\n[\n directed 1 node [ id 7 club \"b\" graphics [ \
            x 1.5 ] ] node [ id 3 club \"a\" ]\n edge [ source 7 target 3 value 2 ]]\n";
        let graph =
            read_text(text, &Options { label: Some("club".into()), ..Options::default() }).unwrap();
        assert_eq!(graph.ids, NodeIds::Numbers(vec![3, 7]));
        assert_eq!(
            (graph.edges.source, graph.edges.target, graph.edges.weight),
            (vec![1], vec![0], Some(vec![2.0]))
        );
        assert_eq!(
            graph.labels,
            Some(Labels::Classes { class: vec![0, 1], names: vec!["a".into(), "b".into()] })
        );
        assert_eq!(graph.directed, Some(true));
        assert_eq!(
            (graph.columns, graph.passed_over),
            (Vec::new(), vec!["list `graphics` of the nodes".to_owned()])
        );
    }

    #[test]
    fn attributes_of_nodes_are_columns() {
        let text = "\u{feff}graph [\r\n node [ id 1 label \"b\" age 3 x 1 mixed 2 ]\r\n node [ id \
            0 label \"a\" x -1.5 mixed \"w\" ]\r\n edge [ source 0 target 1 label \"e\" value 1 ] ]";
        let graph = read_text(
            text.as_bytes(),
            &Options { weight: Some("none".into()), ..Options::default() },
        )
        .unwrap();
        let texts =
            |values: [&str; 2]| Column::Texts(values.map(|text| Some(text.to_owned())).to_vec());
        let columns = [
            ("age", Column::Integers(vec![None, Some(3)])),
            ("label", texts(["a", "b"])),
            ("mixed", texts(["w", "2"])),
            ("x", Column::Reals(vec![Some(-1.5), Some(1.0)])),
        ];
        assert_eq!(graph.columns, columns.map(|(name, column)| (name.to_owned(), column)));
        assert_eq!(
            (graph.edges.weight, graph.passed_over),
            (
                None,
                ["label", "value"].map(|name| format!("attribute `{name}` of the edges")).to_vec()
            )
        );
    }

    #[test]
    fn faults_have_their_place() {
        for (text, what, place) in [
            ("", "the file has no graph", ""),
            ("graph [ node [ id 0 ]", "ends inside a list", ":1:22"),
            ("graph [ ] ]", "closed that was never opened", ":1:11"),
            ("graph [\n node [ id -1 ]\n]", "is no id", ":2:12"),
            ("graph [\n node [ ]\n]", "has no `id`", ":2:2"),
            ("graph [ node [ id 0 ] node [ id 0 ] ]", "one id", ":1:23"),
            ("graph [ node [ id 0 ] edge [ source 0 target 9 ] ]", "is no node", ":1:23"),
            ("graph [ node [ id zero ] ]", "neither a number nor a string", ":1:19"),
            ("graph [ node [ id \"0 ] ]", "no end", ":1:19"),
            ("1 2", "not GML", ":1:1"),
            (
                "graph [ node [ id 0 ] edge [ source 0 target 0 weight nan ] ]",
                "neither a number nor a string",
                ":1:55",
            ),
            (
                "graph [ node [ id 0 ] edge [ source 0 target 0 weight 1e99 ] ]",
                "no usable weight",
                ":1:55",
            ),
            (
                "graph [ node [ id 0 ] edge [ source 0 target 0 weight \"1\" ] ]",
                "no usable weight",
                ":1:55",
            ),
            ("graph [ node [ id 0 ] edge [ source 0 ] ]", "has no `target`", ":1:23"),
            ("graph [ ] graph [ ]", "several graphs", ""),
        ] {
            let error = read_text(text.as_bytes(), &Options::default()).unwrap_err();
            assert!(
                error.what.contains(what)
                    && error.location().ends_with(place)
                    && !error.hint.is_empty(),
                "{text:?}: {error}"
            );
        }
        let deep = format!("graph {}", "[ a ".repeat(100));
        assert!(
            read_text(deep.as_bytes(), &Options::default())
                .unwrap_err()
                .what
                .contains("too deeply")
        );
    }

    #[test]
    fn published_files_have_their_counts() {
        let counts = [
            ("karate/karate.gml", 34, 78),
            ("newman_gml/karate.gml", 34, 78),
            ("newman_gml/celegansneural.gml", 297, 2359),
        ];
        let counts = counts.into_iter().chain([
            ("newman_gml/lesmiserables.gml", 77, 254),
            ("newman_gml/polbooks.gml", 105, 441),
        ]);
        for (name, nodes, edges) in counts {
            let Some(path) = shared(name) else { continue };
            let graph = read(&path, &Options::default()).unwrap();
            assert_eq!(
                (graph.nodes(), graph.edges.len(), graph.validate()),
                (nodes, edges, Ok(())),
                "{name}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_graph_or_an_error(text in "(graph|node|edge|id|source|target|value|\\[|\\]|\"a\"|[0-9]{1,3}|-1|#|\n| ){0,40}") {
            if let Ok(graph) = read_text(text.as_bytes(), &Options { label: Some("value".into()), ..Options::default() }) {
                prop_assert_eq!(graph.validate(), Ok(()));
            }
        }
    }
}
