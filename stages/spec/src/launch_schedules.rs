//! launch_schedules: the setting `plan.schedule`: one word for all launches, or a list of entries
//! by launch.
//!
//! promises  an entry that is wrong is named by its number, counted from 1
//! never     knows which launches a program has (the stage does)
use serde_json::Value as Json;

use crate::{
    declare::choices,
    field::{FieldDoc, Shape, sorted_object},
    mistake::{MistakeKind, Place},
    node::{Node, Span, Value},
    reader::{Reader, SettingContext},
    stages::partition::{PartitionSpec, Scheme},
    types::FieldType,
};

choices! {
    /// Load balancing of edges.
    EdgeSchedule {
        /// By the groups of `partition.scheme`, of `file` or `program` before `neighbour-groups`;
        /// else by rows.
        Auto = "auto",
        /// A row has a lane group, a warp, a block or several blocks, by its number of edges; on a
        /// CPU, a thread.
        Rows = "rows",
        /// By groups of at most `partition.ngs` neighbours of a row, which `partition` then makes;
        /// on a GPU `dw` lanes share a group, and the first group of a row in a block is the
        /// leader.
        NeighbourGroups = "neighbour-groups",
        /// By the groups of the table `partition.groups`, or of `partition.command`.
        File = "file",
    }
}

impl EdgeSchedule {
    /// The scheme that has its division, where it names one.
    pub fn scheme(self) -> Option<Scheme> {
        match self {
            EdgeSchedule::Auto => None,
            EdgeSchedule::Rows => Some(Scheme::Rows),
            EdgeSchedule::NeighbourGroups => Some(Scheme::NeighbourGroups),
            EdgeSchedule::File => Some(Scheme::File),
        }
    }
}

/// What launches go by.
#[derive(Clone, Debug, PartialEq)]
pub enum LaunchSchedules {
    /// The same for all.
    All(EdgeSchedule),
    /// By launch: the last entry that fits one counts.
    Entries(Vec<LaunchSchedule>),
}

/// An entry of the list.
#[derive(Clone, Debug)]
pub struct LaunchSchedule {
    /// Which launches: a name, a pattern, a line of the program, or a word for a class of them.
    pub target: String,
    /// What they go by.
    pub schedule: EdgeSchedule,
    /// Most neighbours of a group, where the entry says it.
    pub ngs: Option<u64>,
    /// Lanes of a group.
    pub dw: Option<u64>,
    /// Threads of a block.
    pub block_threads: Option<u64>,
    /// The place of the entry, for later errors.
    pub place: Place,
}

impl PartialEq for LaunchSchedule {
    /// Compares entries without their places.
    fn eq(&self, other: &Self) -> bool {
        self.document() == other.document()
    }
}

impl Default for LaunchSchedules {
    fn default() -> Self {
        LaunchSchedules::All(EdgeSchedule::Auto)
    }
}

impl LaunchSchedules {
    /// The schedules that it names.
    pub fn named(&self) -> Vec<EdgeSchedule> {
        match self {
            LaunchSchedules::All(schedule) => vec![*schedule],
            LaunchSchedules::Entries(entries) => {
                entries.iter().map(|entry| entry.schedule).collect()
            }
        }
    }

    /// Its entries.
    pub fn entries(&self) -> &[LaunchSchedule] {
        match self {
            LaunchSchedules::All(_) => &[],
            LaunchSchedules::Entries(entries) => entries,
        }
    }
}

impl LaunchSchedule {
    /// The numbers that it says, by the names of `partition`.
    pub fn numbers(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let all = [("ngs", self.ngs), ("dw", self.dw), ("block_threads", self.block_threads)];
        all.into_iter().filter_map(|(name, number)| Some((name, number?)))
    }

    fn document(&self) -> Json {
        let words = [
            ("for".to_owned(), self.target.as_str().into()),
            ("use".to_owned(), FieldType::document(&self.schedule)),
        ];
        let numbers = self.numbers().map(|(name, number)| (name.to_owned(), number.into()));
        sorted_object(words.into_iter().chain(numbers))
    }

    /// The settings of an entry; numbers are those of `partition`.
    fn fields() -> Vec<FieldDoc> {
        let word = |name, doc: &str, shape, example| FieldDoc {
            name,
            doc: doc.to_owned(),
            shape,
            default: Json::Null,
            range: None,
            unit: None,
            hint: None,
            example: Some(example),
        };
        let words = [
            word(
                "for",
                "Which launches: a name, a pattern with `*`, a line of the program, `sum` or \
                 `attention`.",
                Shape::Text,
                "sum",
            ),
            word("use", "What they go by.", EdgeSchedule::shape(), "neighbour-groups"),
        ];
        let of_partition = <PartitionSpec as crate::field::Spec>::fields();
        let numbers = of_partition
            .into_iter()
            .filter(|field| ["ngs", "dw", "block_threads"].contains(&field.name))
            .map(|field| FieldDoc {
                doc: format!("As `partition.{}`, of which a run has one.", field.name),
                shape: Shape::Optional(Box::new(field.shape)),
                default: Json::Null,
                ..field
            });
        words.into_iter().chain(numbers).collect()
    }

    fn decode(node: &Node, at: &SettingContext<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let fields = at.field.shape.children();
        let (mut target, mut schedule) = (None, None);
        let mut numbers = [None; 3];
        for entry in reader.section(node, at, fields)? {
            let inner = at.inner(entry.field, entry.key);
            match entry.field.name {
                "for" => target = String::decode(entry.node, &inner, reader),
                "use" => schedule = decode_schedule(entry.node, &inner, reader),
                name => {
                    let number = Option::<u64>::decode(entry.node, &inner, reader)?;
                    let place = ["ngs", "dw", "block_threads"].iter().position(|of| *of == name)?;
                    numbers[place] = number;
                }
            }
        }
        let [ngs, dw, block_threads] = numbers;
        Some(LaunchSchedule {
            target: target?,
            schedule: schedule?,
            ngs,
            dw,
            block_threads,
            place: reader.place(entry_span(node, at)),
        })
    }
}

/// A schedule. A scheme of `partition` that no run reads is said to be one.
fn decode_schedule(
    node: &Node,
    at: &SettingContext<'_>,
    reader: &mut Reader<'_>,
) -> Option<EdgeSchedule> {
    let text = node.flow_text();
    if !Scheme::ALL.iter().any(|scheme| scheme.name() == text && !scheme.has_reader()) {
        return EdgeSchedule::decode(node, at, reader);
    }
    let what = format!("no run reads the division `{text}` yet, so that no launch goes by it");
    let names: Vec<&str> = EdgeSchedule::ALL.iter().map(|schedule| schedule.name()).collect();
    let label = format!("expected one of {}", names.join(", "));
    let mistake = reader.place(node.span).mistake(MistakeKind::UnknownValue, what, label);
    let hint = format!("`partition.scheme: {text}` builds and checks it; leave it out here");
    reader.report(node.span, mistake.hint(hint));
    None
}

/// Where an entry is: its first name.
fn entry_span(node: &Node, at: &SettingContext<'_>) -> Span {
    match &node.value {
        Value::Mapping(entries) => entries.first().map_or(at.key, |(key, _)| key.span),
        _ => node.span,
    }
}

impl FieldType for LaunchSchedules {
    fn shape() -> Shape {
        Shape::WordOrEntries(Box::new(EdgeSchedule::shape()), LaunchSchedule::fields())
    }

    fn decode(node: &Node, at: &SettingContext<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let Value::Sequence(items) = &node.value else {
            let field = FieldDoc { shape: EdgeSchedule::shape(), ..at.field.clone() };
            let at = SettingContext { path: at.path.clone(), field: &field, key: at.key };
            return decode_schedule(node, &at, reader).map(LaunchSchedules::All);
        };
        if items.is_empty() {
            reader.report_no_value(at);
            return None;
        }
        let field =
            FieldDoc { shape: Shape::Section(LaunchSchedule::fields()), ..at.field.clone() };
        let decode = |(number, item): (usize, &Node)| {
            let path = format!("{}[{}]", at.path, number + 1);
            let at = SettingContext { path: path.into(), field: &field, key: item.span };
            LaunchSchedule::decode(item, &at, reader)
        };
        // All are decoded before a failure is returned, so that every mistake is reported.
        let entries: Vec<Option<LaunchSchedule>> = items.iter().enumerate().map(decode).collect();
        entries.into_iter().collect::<Option<Vec<_>>>().map(LaunchSchedules::Entries)
    }

    fn document(&self) -> Json {
        match self {
            LaunchSchedules::All(schedule) => FieldType::document(schedule),
            LaunchSchedules::Entries(entries) => {
                entries.iter().map(LaunchSchedule::document).collect()
            }
        }
    }
}
