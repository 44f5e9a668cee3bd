//! entry: an entry of the catalogue, with everything that is known about one data set.
//!
//! promises  an unknown field, a wrong type or a value out of range is an error with its line
//! never     holds a path of this machine; decides between real files and the stand-in (`locate`
//!           does)
pub use crate::generator::Recipe;
use crate::{CatalogError, Generator};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Everything that is known of one data set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Name of the data set and of the entry's file.
    pub name: String,
    /// Description, one or two sentences.
    pub about: String,
    /// Further paths below each data folder where its files are searched: a folder, or an archive
    /// that holds them (`others/sets.zip`).
    #[serde(default)]
    pub found_as: Vec<String>,
    /// All files of the set that are read; each may be compressed as `.gz` or `.zst`. Empty for a
    /// generated set.
    #[serde(default)]
    pub files: Vec<RawFile>,
    /// The archive with the files that have no address of their own.
    #[serde(default)]
    pub archive: Option<Archive>,
    /// The format of the files.
    pub format: Format,
    /// Parser options that the format leaves open.
    #[serde(default)]
    pub read: warploom_formats::Options,
    /// Whether edges are directed.
    pub directed: bool,
    /// Value of `symmetrize: auto` for this set.
    pub symmetrize: bool,
    /// How types of entities become node types where the pipeline does not say; none: all nodes
    /// have one type.
    #[serde(default)]
    pub entity_types: Option<EntityTypes>,
    /// The usual task of the set.
    pub task: Task,
    /// Author and licence.
    pub licence: String,
    /// Counts of the files as stored; a mismatch is an error.
    #[serde(default)]
    pub expected: ExpectedCounts,
    /// Further counts of the files; shown, and a mismatch is an error.
    #[serde(default)]
    pub holds: ExpectedContents,
    /// Counts as publications print them.
    #[serde(default)]
    pub printed: Vec<PublishedCounts>,
    /// Sizes of synthetic features and labels, drawn where the set itself has none.
    #[serde(default)]
    pub made_up: SyntheticData,
    /// How nodes are split into training, validation and test.
    pub split: SplitRule,
    /// Recipe of the stand-in, generated when the files are missing.
    #[serde(default)]
    pub stand_in: Option<Recipe>,
    /// Synthetic data in the files, where they were exported from another graph.
    #[serde(default, skip_serializing_if = "InheritedProvenance::is_nothing")]
    pub inherited: InheritedProvenance,
    /// Whether the entry was inferred from a folder of files.
    #[serde(skip)]
    pub inferred: bool,
    /// The generator, if the set is generated.
    #[serde(default)]
    pub generator: Option<Generator>,
    /// The folder of an imported set, whose entry is beside its files: they are searched only
    /// there.
    #[serde(skip)]
    pub home: Option<PathBuf>,
    /// The file of the entry, for errors.
    #[serde(skip)]
    pub place: String,
}

/// A file of a data set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawFile {
    /// Its plain name, without `.gz` or `.zst`; it may be in subfolders, with `/` between.
    pub file: String,
    /// Other names under which it may be stored.
    #[serde(default)]
    pub also: Vec<String>,
    /// Its address; if that ends in `.gz` or `.zst` the file is stored compressed. None: it is in
    /// the set's archive, or has no address.
    #[serde(default)]
    pub url: Option<String>,
    /// Its size as stored, compressed or not; another size is an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Its BLAKE3 digest in hexadecimal, as stored; another digest is an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blake3: Option<String>,
}

/// An archive of several files: a zip, or a tar with or without gzip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Archive {
    /// Its address.
    pub url: String,
    /// The folder inside it that holds the files, without a trailing `/`; empty: none.
    #[serde(default)]
    pub folder: String,
}

/// Name of the format of generated sets.
pub const GENERATED: &str = "generated";
/// Name of the format of files that a program of the user's reads; no entry can name it.
const OF_PROGRAM: &str = "program";

/// The format of files: the name of one of `warploom_formats::FORMATS`, or `generated`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Format(String);

impl Format {
    /// The format of a reader.
    pub fn from_reader(format: &warploom_formats::Format) -> Format {
        Format(format.name.to_owned())
    }

    /// Its name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The format of a generated set.
    pub fn generated() -> Self {
        Format(GENERATED.to_owned())
    }

    /// The format of files that a program of the user's reads.
    pub(crate) fn of_program() -> Self {
        Format(OF_PROGRAM.to_owned())
    }

    /// Its reader.
    pub fn reader(&self) -> &'static warploom_formats::Format {
        // The name was looked up when this was made; a generated set has no files to read,
        // and those of a program are read by it.
        warploom_formats::find(&self.0).unwrap_or(&warploom_formats::FORMATS[0])
    }
}

impl TryFrom<String> for Format {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let known = || {
            warploom_formats::FORMATS
                .iter()
                .map(|format| format.name)
                .collect::<Vec<_>>()
                .join(", ")
        };
        let sound = warploom_formats::find(&name).is_some() || name == GENERATED;
        if sound {
            Ok(Format(name))
        } else {
            Err(format!("unknown format `{name}`, expected one of {}", known()))
        }
    }
}

impl From<Format> for String {
    fn from(format: Format) -> String {
        format.0
    }
}

/// How types of entities become node types.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EntityTypes {
    /// The relation whose targets are types, by its full name or by the part after its last `#` or
    /// `/`.
    pub relation: String,
    /// Precedence of types: a node with several types has the first one of this list, else the
    /// first by bytes.
    pub order: Vec<String>,
    /// Whether type statements stay edges.
    pub edges: TypeEdges,
}

/// What becomes of type statements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TypeEdges {
    /// They stay edges.
    #[default]
    Keep,
    /// They are removed, with the nodes that are only types.
    Drop,
}

impl Default for EntityTypes {
    fn default() -> Self {
        EntityTypes {
            relation: warploom_formats::readers::ntriples::TYPE.to_owned(),
            order: Vec::new(),
            edges: TypeEdges::Keep,
        }
    }
}

/// The usual task of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Node classification: one class for each node.
    NodeClassification,
    /// Multi-label node classification.
    MultiLabel,
    /// Graph classification: one class for each graph.
    GraphClassification,
    /// Graph regression: one number for each graph.
    GraphRegression,
    /// Link prediction.
    LinkPrediction,
    /// No labels: structure alone.
    None,
}

/// Counts of the files as stored, as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExpectedCounts {
    /// Nodes.
    pub nodes: Option<u64>,
    /// Edges as listed, repeats and self loops included.
    pub listed: Option<u64>,
    /// Distinct (source, target) pairs among them, self loops included.
    pub distinct: Option<u64>,
    /// Distinct pairs after every edge got its reverse, self loops counted once.
    pub symmetric: Option<u64>,
}

/// Counts of the files beside nodes and edges, as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExpectedContents {
    /// Graphs, in a set of many graphs.
    pub graphs: Option<u64>,
    /// Feature width.
    pub features: Option<u32>,
    /// Classes of the task: of nodes or of graphs.
    pub classes: Option<u32>,
    /// Nodes or graphs that have a label, where not all do.
    pub labelled: Option<u64>,
    /// Relations.
    pub relations: Option<u32>,
}

/// Counts as a publication prints them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedCounts {
    /// Which publication and table.
    pub document: String,
    /// Nodes.
    pub nodes: u64,
    /// Edges.
    pub edges: u64,
    /// Feature width.
    pub features: Option<u32>,
    /// Classes.
    pub classes: Option<u32>,
    /// Which options give these counts from the stored files.
    pub note: String,
}

/// Sizes of synthetic features and labels, drawn where a set has none; 0: nothing is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SyntheticData {
    /// Feature width.
    pub features: u32,
    /// Classes.
    pub classes: u32,
}

/// Synthetic data in files that were exported from another graph, as the manifest beside them says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InheritedProvenance {
    /// The graph was a stand-in, and so are graphs built from these files.
    pub stand_in: bool,
    /// Synthetic parts of a real graph: `features`, `labels`.
    pub made_up: Vec<String>,
}

impl InheritedProvenance {
    /// Whether nothing is synthetic.
    pub fn is_nothing(&self) -> bool {
        *self == InheritedProvenance::default()
    }

    /// The provenance in a folder's manifest; nothing, if there is no manifest. An unreadable
    /// manifest is an error: files of a stand-in would be taken for real ones.
    pub fn from_manifest(folder: &std::path::Path) -> Result<InheritedProvenance, CatalogError> {
        let path = folder.join("manifest.json");
        let text = match std::fs::metadata(&path)
            .and_then(|facts| if facts.is_file() { std::fs::read(&path) } else { Ok(Vec::new()) })
        {
            // Reading a FIFO would wait for its writer.
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::NotFound | std::io::ErrorKind::IsADirectory
                ) =>
            {
                Vec::new()
            }
            read => read.map_err(|error| {
                CatalogError::new(format!("cannot read: {error}")).at(path.display())
            })?,
        };
        // Another JSON page of that name is not a manifest of a graph artifact.
        let manifest = serde_json::from_slice::<serde_json::Value>(&text).ok();
        let manifest = manifest.filter(|manifest| manifest["kind"] == "graph").unwrap_or_default();
        let made_up = manifest["made_up"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|what| what.as_str().map(str::to_owned))
            .collect();
        Ok(InheritedProvenance { stand_in: manifest["provenance"] == "stand-in", made_up })
    }
}

/// How nodes are split.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "snake_case", deny_unknown_fields)]
pub enum SplitRule {
    /// The published split of the set.
    Given,
    /// A number of training nodes for each class; validation and test nodes from all others.
    PerClass {
        /// Training nodes of each class.
        train: u32,
        /// Validation nodes in all.
        validation: u32,
        /// Test nodes in all.
        test: u32,
    },
    /// Shares of all labelled nodes; the rest is in no split.
    Fractions {
        /// From 0 to 1.
        train: f64,
        /// From 0 to 1.
        validation: f64,
        /// From 0 to 1.
        test: f64,
    },
    /// Stratified cross-validation; split `i` tests on fold `i`.
    Folds {
        /// Number of folds.
        count: u32,
    },
    /// No split.
    None,
}

/// The longest text of an entry: a hundred times the longest shipped one.
pub const BYTES_MOST: usize = 256 << 10;
/// The deepest nesting, in brackets and in columns before a line's text: entries have 3 and 4. The
/// parser's time grows with the square.
const DEPTH_MOST: usize = 64;

/// Refuses a text that would take the parser seconds, by its length, its brackets and its indents.
fn refuse_outsized(text: &str) -> Result<(), String> {
    if text.len() > BYTES_MOST {
        return Err(format!("expected at most {BYTES_MOST} bytes, found {}", text.len()));
    }
    let (mut open, mut deepest) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open);
    }
    // `- - -` nests like indentation.
    let indent = |line: &str| line.bytes().take_while(|byte| b" \t-?:".contains(byte)).count();
    deepest = deepest.max(text.lines().map(indent).max().unwrap_or(0));
    if deepest > DEPTH_MOST {
        return Err(format!(
            "expected at most {DEPTH_MOST} levels of nesting, found {deepest} open brackets or \
             columns of indent"
        ));
    }
    Ok(())
}

impl Entry {
    /// Reads the text of `<name>.yaml`; `place` is what an error calls it.
    pub fn from_yaml(name: &str, text: &str, place: &str) -> Result<Self, CatalogError> {
        let hint = "docs/ and the other entries of data/catalog show every field";
        refuse_outsized(text).map_err(|what| {
            CatalogError::new(format!("the catalogue's entry is not valid: {what}"))
                .at(place)
                .hint(hint)
        })?;
        let mut entry: Entry = serde_yaml::from_str(text).map_err(|error| {
            let at = error
                .location()
                .map_or(place.to_string(), |at| format!("{place}:{}:{}", at.line(), at.column()));
            CatalogError::new(format!("the catalogue's entry is not valid: {error}"))
                .at(at)
                .hint(hint)
        })?;
        place.clone_into(&mut entry.place);
        let wrong = |field: &str, what: String| {
            let line = text
                .lines()
                .position(|line| line.trim_start().starts_with(&format!("{field}:")))
                .map_or(1, |line| line + 1);
            Err(CatalogError::new(what).at(format!("{place}:{line}")).hint(hint))
        };
        if entry.name != name {
            return wrong(
                "name",
                format!(
                    "the entry's name differs from its file's: expected `{name}`, found `{}`",
                    entry.name
                ),
            );
        }
        if let Err((field, what)) = entry.check_sources() {
            return wrong(field, what);
        }
        if let SplitRule::Fractions { train, validation, test } = entry.split {
            let sound = [train, validation, test].iter().all(|part| (0.0..=1.0).contains(part))
                && train + validation + test <= 1.0 + 1e-9;
            if !sound {
                return wrong(
                    "split",
                    format!(
                        "expected shares from 0 to 1 with a sum of at most 1, found {train}, \
                         {validation}, {test}"
                    ),
                );
            }
        }
        if let Some(recipe) = &entry.stand_in
            && !((0.0..=1.0).contains(&recipe.inside) && recipe.community > 0)
        {
            return wrong(
                "stand_in",
                format!(
                    "expected `inside` from 0 to 1 and `community` of at least 1, found {} and {}",
                    recipe.inside, recipe.community
                ),
            );
        }
        Ok(entry)
    }

    /// Checks that files, archive, format and generator fit each other; the error has the field and
    /// what is wrong with it.
    fn check_sources(&self) -> Result<(), (&'static str, String)> {
        let generated = self.format.as_str() == GENERATED;
        match (&self.generator, self.files.is_empty()) {
            (Some(_), false) => {
                return Err((
                    "files",
                    "a set that a generator makes has no files: remove them or the generator"
                        .into(),
                ));
            }
            (None, true) => {
                return Err(("files", "the entry lists no file: expected at least one".into()));
            }
            (Some(generator), true) => generator.check().map_err(|what| ("generator", what))?,
            (None, false) => {}
        }
        if self.generator.is_some() != generated {
            return Err((
                "format",
                format!(
                    "`{GENERATED}` is the format of sets with a generator and of no others, found \
                     `{}`",
                    self.format.as_str()
                ),
            ));
        }
        let plain = |name: &str| {
            !name.is_empty() && !name.contains(['/', '\\', '\0']) && !name.starts_with('.')
        };
        let relative = |path: &str| path.split('/').all(plain);
        let names =
            self.files.iter().flat_map(|file| std::iter::once(&file.file).chain(&file.also));
        if let Some(bad) = names.clone().find(|name| !relative(name)) {
            return Err((
                "files",
                format!(
                    "expected the name of a file, or a path below the set's folder, found `{bad}`"
                ),
            ));
        }
        if let Some(bad) = self.found_as.iter().find(|name| !relative(name)) {
            return Err((
                "found_as",
                format!("expected a folder or an archive below the data folders, found `{bad}`"),
            ));
        }
        if let Some(archive) = self
            .archive
            .as_ref()
            .filter(|archive| !archive.folder.is_empty() && !relative(&archive.folder))
        {
            return Err((
                "archive",
                format!("expected a folder inside the archive, found `{}`", archive.folder),
            ));
        }
        let is_digest = |digest: &str| {
            digest.len() == 64
                && digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        if let Some(bad) = self
            .files
            .iter()
            .filter_map(|file| file.blake3.as_deref())
            .find(|digest| !is_digest(digest))
        {
            return Err((
                "files",
                format!("expected `blake3` as 64 digits from 0 to f, found `{bad}`"),
            ));
        }
        let mut seen = std::collections::BTreeSet::new();
        match names.clone().find(|name| !seen.insert(name.as_str())) {
            Some(twice) => Err(("files", format!("the file `{twice}` is listed twice"))),
            None => Ok(()),
        }
    }

    /// How to get the files, for a hint: a download, where any has an address, else which file to
    /// put where.
    pub fn download_hint(&self) -> String {
        if self.archive.is_some() || self.files.iter().any(|file| file.url.is_some()) {
            return format!("warploom data fetch {}", self.name);
        }
        let names: Vec<&str> = self.files.iter().take(3).map(|file| file.file.as_str()).collect();
        let more = self.files.len() - names.len();
        let names = if more == 0 {
            names.join(", ")
        } else {
            format!("{} and {more} more files", names.join(", "))
        };
        format!(
            "a copy of {names} in a folder `{}` of --data: the catalogue knows no address",
            self.name
        )
    }

    /// The fields that determine an artifact of this entry, for its key: no texts, addresses, file
    /// names or counts that are only checked.
    pub fn key_fields(&self) -> serde_json::Value {
        let mut shape = serde_json::json!({
            "format": self.format,
            "read": self.read,
            "directed": self.directed,
            "symmetrize": self.symmetrize,
            "entity_types": self.entity_types,
            "task": self.task,
            "made_up": self.made_up,
            "split": self.split,
            "stand_in": self.stand_in,
            "inferred": self.inferred,
            "generator": self.generator,
        });
        if !self.inherited.is_nothing() {
            shape["inherited"] = serde_json::json!(self.inherited);
        }
        shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name: tiny\nabout: two nodes\nfiles: [{file: tiny.txt, url: \
        null}]\nformat: edge_list\ndirected: false\nsymmetrize: true\ntask: none\nlicence: \
        none\nsplit: {rule: none}\n";

    #[test]
    fn nesting_and_length_are_bounded_before_anything_is_parsed() {
        let begun = std::time::Instant::now();
        for odd in [
            "[".repeat(100_000),
            "- ".repeat(100_000),
            (0..400).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect(),
            "#".repeat(300_000),
        ] {
            let error = Entry::from_yaml("tiny", &format!("{TEXT}{odd}"), "tiny.yaml").unwrap_err();
            assert!(error.what.contains("expected at most "), "{error}");
        }
        assert!(begun.elapsed() < std::time::Duration::from_secs(1));
    }

    #[test]
    fn an_unknown_field_is_named_with_its_line() {
        let error = Entry::from_yaml("tiny", &TEXT.replace("licence:", "license:"), "tiny.yaml")
            .unwrap_err();
        assert!(error.what.contains("unknown field `license`"), "{error}");
        assert_eq!(error.place.as_deref(), Some("tiny.yaml:8:1"));
        let error = Entry::from_yaml(
            "tiny",
            &TEXT.replace("rule: none", "rule: fractions, train: 0.5, validation: 0.5, test: 0.5"),
            "tiny.yaml",
        )
        .unwrap_err();
        assert_eq!(error.place.as_deref(), Some("tiny.yaml:9"));
    }

    #[test]
    fn only_what_shapes_the_artifact_is_in_the_shape() {
        let entry = Entry::from_yaml("tiny", TEXT, "tiny.yaml").unwrap();
        let retold = TEXT
            .replace("two nodes", "2 nodes")
            .replace("licence: none", "licence: MIT")
            .replace("url: null", "url: https://x.y/z");
        assert_eq!(
            entry.key_fields(),
            Entry::from_yaml("tiny", &retold, "tiny.yaml").unwrap().key_fields()
        );
        let reshaped = TEXT.replace("symmetrize: true", "symmetrize: false");
        assert_ne!(
            entry.key_fields(),
            Entry::from_yaml("tiny", &reshaped, "tiny.yaml").unwrap().key_fields()
        );
    }

    #[test]
    fn a_path_that_leaves_the_folder_is_refused() {
        for bad in ["../x", "a/../b", "/a", "a//b", ".hidden", "a/.b", "a/"] {
            assert!(Entry::from_yaml("tiny", &TEXT.replace("tiny.txt", bad), "tiny.yaml").is_err());
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_an_entry_or_an_error(text in ".{0,200}") {
            let _ = Entry::from_yaml("tiny", &text, "tiny.yaml");
        }
    }
}
