//! spec: pipeline files: the settings of every stage, read strictly, with helpful errors.
//!
//! reads     a YAML file (at most 256 KiB; `-` is standard input), and `--set KEY=VALUE` overrides,
//!           of which the last wins
//! promises  the same pipelines for any order of keys; all mistakes of a file at once, each with
//!           its place and what to type instead; well under a millisecond for a file without a
//!           matrix
//! never     panics on any text; opens the program or another file that a pipeline names; accepts
//!           an unknown name or a value of another type
//!
//! The settings of all stages are in this crate, because the key of a stage depends on the resolved
//! settings of the stages before it: every program reads the same file and must agree on all of it.
//! A setting is declared once, in `stages/`; decoding, document, `--help`, JSON Schema and hints
//! are generated from the declaration.
//!
//! YAML is 1.2 with its core schema: `true` and `false` are the booleans, names are unique, tabs do
//! not indent. Anchors, aliases, tags and several documents are refused: a pipeline states each
//! setting once, and a sweep is `matrix`.
mod assign;
mod declare;
mod field;
mod glob;
mod launch_schedules;
mod matrix;
mod mistake;
mod nearest;
mod node;
mod reader;
mod repeat;
mod scalar;
mod schema;
mod settings_help;
pub mod site;
mod stages;
mod syntax;
mod tree;
mod types;
mod vertex_list;

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::Value as Json;

pub use crate::settings_help::settings_help;
use crate::{
    assign::read_override,
    declare::spec,
    field::sorted_object,
    matrix::{Steps, Variant},
    node::{Node, Span, Value},
    reader::{Reader, SettingContext, Source, shell},
    tree::{Origin, parse},
    types::{Axes, FieldType},
};
pub use crate::{
    field::{ChoiceDoc, FieldDoc, Range, Shape, Spec},
    glob::glob_fits,
    launch_schedules::{EdgeSchedule, LaunchSchedule, LaunchSchedules},
    mistake::{COMMAND_LINE, Mistake, MistakeKind, Mistakes, Place, SHOWN_MAX},
    nearest::nearest,
    reader::shell as shell_word,
    repeat::Repeat,
    stages::{
        extract::ExtractSpec,
        ingest::{
            Duplicates, EntityTypesSpec, Features, FoldsSpec, FractionsSpec, Graphs, Ids,
            IngestSpec, Normalize, PerClassSpec, RawFormat, SelfLoops, Split, Symmetrize,
            TypeEdges, Weights,
        },
        partition::{PartitionSpec, Scheme},
        plan::{Matmul, PlanSpec, Residence},
        reorder::{Degree, Method, ProgramInput, ReorderSpec},
        run::{
            AdamSpec, CheckpointSpec, ConstantSpec, Dtype, EarlyStopSpec, ExponentialSpec,
            FallSpec, Keep, Loss, Metric, Mode, Optimizer, PlateauSpec, RunSpec, Schedule, SgdSpec,
            StepSpec,
        },
    },
    types::{OneOrMore, Program, Scalar, Setting, Settings, Word},
    vertex_list::VertexList,
};

/// The largest pipeline file, in bytes.
pub const FILE_BYTES_MAX: usize = 1 << 18;

/// One pipeline, with every setting resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    /// Its name in the file; else the file's name without extension.
    pub name: String,
    /// The data set, a name in the catalogue or a folder under a data directory.
    pub dataset: String,
    /// Settings of `ingest`.
    pub ingest: IngestSpec,
    /// Settings of `extract`.
    pub extract: ExtractSpec,
    /// Settings of `reorder`.
    pub reorder: ReorderSpec,
    /// Settings of `partition`.
    pub partition: PartitionSpec,
    /// Settings of `plan`.
    pub plan: PlanSpec,
    /// Settings of `run`.
    pub run: RunSpec,
    /// The value of each axis of the matrix, in the order of the file; empty without a matrix.
    pub variant: Vec<(String, String)>,
    /// Differences from the file: the values of the axes and of `--set`, each setting once, as
    /// written.
    pub changed: Vec<(String, String)>,
    /// Which of the runs of `run.repeat` this is; none if there is only one. It has its own
    /// `run.seed`, and `run.repeat` is 1.
    pub repeat: Option<Repeat>,
    /// The file that was read.
    pub file: PathBuf,
}

impl Pipeline {
    /// Every setting with its resolved value, keys sorted; without order and place of settings,
    /// variant, repeat and file.
    pub fn document(&self) -> Json {
        let pairs = [
            ("pipeline", Json::from(self.name.as_str())),
            ("dataset", Json::from(self.dataset.as_str())),
            ("ingest", Spec::document(&self.ingest)),
            ("extract", Spec::document(&self.extract)),
            ("reorder", Spec::document(&self.reorder)),
            ("partition", Spec::document(&self.partition)),
            ("plan", Spec::document(&self.plan)),
            ("run", Spec::document(&self.run)),
        ];
        sorted_object(pairs.map(|(name, value)| (name.to_string(), value)))
    }
}

/// Reads a pipeline file; a matrix gives several pipelines, in file order, and `run.repeat` several
/// consecutive ones of each.
pub fn read(file: &Path, overrides: &[String]) -> Result<Vec<Pipeline>, Mistakes> {
    let mut bytes = Vec::new();
    let most = FILE_BYTES_MAX as u64 + 1;
    let taken = match is_standard_input(file) {
        true => std::io::stdin().lock().take(most).read_to_end(&mut bytes),
        false => File::open(file).and_then(|opened| opened.take(most).read_to_end(&mut bytes)),
    };
    match taken {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(missing_file_mistake(file).into());
        }
        Err(_) if file.is_dir() => return Err(folder_mistake(file).into()),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            let hint = format!("let it be read:  chmod u+r {}", shell(&file.display().to_string()));
            return Err(file_mistake(file, "may not be read by you".to_owned(), &hint).into());
        }
        Err(error) => {
            return Err(file_mistake(
                file,
                format!("cannot be read: {error}"),
                "name a pipeline file, for example  pipelines/gcn.yaml",
            )
            .into());
        }
        Ok(_) if bytes.len() > FILE_BYTES_MAX => {
            let what = format!("is larger than {} KiB", FILE_BYTES_MAX >> 10);
            return Err(file_mistake(
                file,
                what,
                "is it a pipeline file? data sets go under data/raw/ and are named by  dataset: \
                 NAME",
            )
            .into());
        }
        Ok(_) => {}
    }
    match std::str::from_utf8(&bytes) {
        Ok(text) => read_text(text, file, overrides),
        Err(error) => Err(utf8_mistake(file, &bytes, error.valid_up_to()).into()),
    }
}

/// Whether the file is `-`, standard input, whose paths are relative to the current folder.
fn is_standard_input(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Reads the text of a pipeline file; `file` gives its name, the place of mistakes and the base of
/// relative paths.
pub fn read_text(text: &str, file: &Path, overrides: &[String]) -> Result<Vec<Pipeline>, Mistakes> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let top = top_field();
    let base = file.parent().unwrap_or(Path::new(""));
    let mut sources = vec![Source::new(file.display().to_string(), base, text)];
    sources.extend(overrides.iter().map(|text| Source::new(COMMAND_LINE, "", text)));
    let mut reader = Reader::new(sources, top.shape.children());
    let root = parse(text, Origin { source: 0, column: 0 }, &mut reader);
    let numbered = (1..).zip(overrides);
    let assignments: Vec<_> =
        numbered.filter_map(|(number, text)| read_override(text, number, &mut reader)).collect();
    let Some(mut root) = root else { return reader.finish(Vec::new()) };
    let steps = Steps::new(&mut root, assignments, &mut reader);
    let mut pipelines = Vec::new();
    for variant in steps.variants(&root, &top.shape, &mut reader) {
        let spec = decode_file(&variant.root, &top, &mut reader);
        if reader.is_full() {
            break;
        }
        if let (Some(spec), false) = (spec, reader.has_mistakes()) {
            let Variant { choices, changed, root } = variant;
            repeat::add_repeats(
                new_pipeline(spec, choices, changed, file),
                &root,
                &mut pipelines,
                &mut reader,
            );
        }
    }
    reader.finish(pipelines)
}

/// The JSON Schema of pipeline files, draft 2020-12.
pub fn json_schema() -> Json {
    schema::schema(top_field().shape.children())
}

spec! {
    /// A pipeline file.
    pub(crate) FileSpec {
        /// The name of the pipeline; if left out, the file's name.
        pipeline: Option<String> = None;
        /// The data set: a name in the catalogue, or a folder under a data directory.
        dataset: String = String::new(), example("amazon0505");
        /// Reads raw files into a graph with features and labels.
        ingest: IngestSpec = IngestSpec::default();
        /// Builds the CSR of the graph in both directions.
        extract: ExtractSpec = ExtractSpec::default();
        /// Renumbers nodes so that neighbours are close in memory.
        reorder: ReorderSpec = ReorderSpec::default();
        /// Divides the graph into units of work.
        partition: PartitionSpec = PartitionSpec::default();
        /// Compiles the program for this graph and this device.
        plan: PlanSpec = PlanSpec::default();
        /// Trains or iterates.
        run: RunSpec = RunSpec::default();
        /// A sweep: dotted paths of settings, each with a list of values; every combination is a
        /// pipeline, the first axis slowest, `run.repeat` fastest.
        matrix: Axes = Axes;
    }
}

/// The whole file as a field.
fn top_field() -> FieldDoc {
    FieldDoc {
        name: "",
        doc: String::new(),
        shape: FileSpec::shape(),
        default: Json::Null,
        range: None,
        unit: None,
        hint: None,
        example: None,
    }
}

fn decode_file(node: &Node, top: &FieldDoc, reader: &mut Reader<'_>) -> Option<FileSpec> {
    let at = SettingContext { path: "".into(), field: top, key: Span { length: 1, ..node.span } };
    if !matches!(node.value, Value::Mapping(_)) && !reader::is_empty_value(node) {
        reader.report_wrong_type(
            node,
            &at,
            Some("a pipeline file holds lines like  dataset: amazon0505".into()),
        );
        return None;
    }
    FileSpec::decode(node, &at, reader)
}

/// Assigned values by dotted path.
type Assigned = Vec<(String, String)>;

fn new_pipeline(spec: FileSpec, variant: Assigned, changed: Assigned, file: &Path) -> Pipeline {
    let FileSpec {
        pipeline,
        dataset,
        ingest,
        extract,
        reorder,
        partition,
        plan,
        run,
        matrix: Axes,
    } = spec;
    let stem = || {
        if is_standard_input(file) {
            "stdin".into()
        } else {
            file.file_stem().unwrap_or_default().to_string_lossy()
        }
    };
    let name = pipeline.unwrap_or_else(|| stem().into_owned());
    Pipeline {
        name,
        dataset,
        ingest,
        extract,
        reorder,
        partition,
        plan,
        run,
        variant,
        changed,
        repeat: None,
        file: file.to_path_buf(),
    }
}

/// A mistake of the file as a whole.
fn file_mistake(file: &Path, what: String, hint: &str) -> Mistake {
    let place = Place {
        path: file.display().to_string(),
        line: 1,
        column: 1,
        excerpt: Arc::default(),
        length: 0,
    };
    place.mistake(MistakeKind::Unreadable, format!("`{}` {what}", file.display()), "").hint(hint)
}

/// The mistake of a folder in place of a file.
fn folder_mistake(folder: &Path) -> Mistake {
    let there = pipeline_files(folder);
    let hint = match there.first() {
        Some(_) => format!("name a file in it:  {}", list_files(&there)),
        None => format!("there is no *.yaml in `{}`", folder.display()),
    };
    file_mistake(folder, "is a folder, and a pipeline is a file".to_owned(), &hint)
}

/// The pipeline files in a folder, by name.
fn pipeline_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let files = entries.flatten().map(|entry| entry.path());
    let mut there: Vec<PathBuf> = files
        .filter(|path| {
            path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
        })
        .collect();
    there.sort();
    there
}

/// Most files that a hint lists.
const FILES_SHOWN: usize = 8;

/// The first files of a list, and the number of others.
fn list_files(there: &[PathBuf]) -> String {
    let first: Vec<String> = there.iter().take(FILES_SHOWN).map(|path| quote_path(path)).collect();
    let more = there.len() - first.len();
    let more = if more == 0 { String::new() } else { format!("  and {more} more") };
    first.join("  ") + &more
}

fn quote_path(path: &Path) -> String {
    path.strip_prefix(".").unwrap_or(path).display().to_string()
}

/// The dotted paths of the settings with this last name, the shortest first; `-` is `_`.
pub fn settings_named(name: &str) -> Vec<String> {
    let mut paths = reader::paths_ending_in(&name.replace('-', "_"), top_field().shape.children());
    paths.sort_by_key(|path| (path.matches('.').count(), !path.starts_with("run")));
    paths
}

/// The mistake of a missing file, with the nearest existing name in the folder or in `pipelines`
/// below it.
fn missing_file_mistake(file: &Path) -> Mistake {
    let folder =
        file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut there: Vec<PathBuf> = [folder.to_path_buf(), folder.join("pipelines")]
        .iter()
        .flat_map(|folder| pipeline_files(folder))
        .collect();
    there.sort();
    // Without extensions, which are equal and would make all names near each other.
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let names: Vec<String> = there.iter().map(|path| stem(path)).collect();
    let near = nearest(&stem(file), names.iter().map(String::as_str))
        .and_then(|near| names.iter().position(|name| name == near));
    let text = file.to_string_lossy();
    let is_setting = |path: &str| {
        path.split('.').next().is_some_and(|first| {
            top_field().shape.children().iter().any(|field| field.name == first)
        })
    };
    let hint = match near {
        _ if text.split_once('=').is_some_and(|(path, _)| is_setting(path)) => {
            format!("a setting is given with  --set {}", shell(&text))
        }
        Some(index) => format!("did you mean  {}", quote_path(&there[index])),
        None if !folder.is_dir() => format!("there is no folder `{}`", folder.display()),
        None if there.is_empty() => format!("there is no *.yaml in `{}`", folder.display()),
        None => format!("there are  {}", list_files(&there)),
    };
    let place = Place {
        path: file.display().to_string(),
        line: 1,
        column: 1,
        excerpt: Arc::default(),
        length: 0,
    };
    place.mistake(MistakeKind::NotFound, "no such pipeline file", "").hint(hint)
}

/// The mistake of bytes that are not UTF-8, at the first of them.
fn utf8_mistake(file: &Path, bytes: &[u8], at: usize) -> Mistake {
    let before = String::from_utf8_lossy(&bytes[..at]).into_owned();
    let lines = syntax::split_lines(&before);
    let start = lines.last().map_or("", |line| line);
    let rest: Vec<u8> = bytes[at..]
        .iter()
        .copied()
        .take_while(|byte| !matches!(byte, b'\n' | b'\r'))
        .take(200)
        .collect();
    let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let place = Place {
        path: file.display().to_string(),
        line: narrow(lines.len()),
        column: narrow(start.chars().count() + 1),
        excerpt: format!("{start}{}", String::from_utf8_lossy(&rest)).into(),
        length: 1,
    };
    let label = format!("expected UTF-8, found the byte 0x{:02x}", bytes[at]);
    place.mistake(MistakeKind::Unreadable, "the file is not text", label).hint("save it as UTF-8")
}
