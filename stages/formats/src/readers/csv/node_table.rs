//! From a table of nodes, or of graphs, to ids, labels, splits, kinds, graphs, features and further
//! columns.
//!
//! promises  rows ascend by id, whatever the order of the file; every column goes somewhere, by the
//!           rule of `column_roles.rs`
//! never     takes names for classes: a column `label` of words that differ in every row stays a
//!           column
use crate::{
    column_roles::{GRAPHS, IDS, KINDS, LABELS, MASKS, is_feature, is_split},
    options::{Ids, Options},
    raw_graph::{
        ColumnRoles, Features, Graphs, IN_NO_PART, Kinds, Labels, NO_CLASS, NODES_MOST, NodeIds,
        RawGraph, part_of,
    },
    read_error::{Read, ReadError},
    side_files::names_json,
    text::{
        field_table::FieldTable,
        numbers::{PADDED_BESIDE_HINT, is_padded, looks_like_number, parse_id},
    },
};
use std::{borrow::Cow, collections::BTreeSet};

/// Kinds are counted in 16 bits.
const KINDS_MOST: usize = 1 << 16;

/// Nodes as the table tells them.
pub struct CsvNodes {
    table: FieldTable,
    /// Their ids, ascending.
    pub ids: NodeIds,
    /// The row of the file for each node.
    order: Vec<u32>,
    id_column: usize,
}

/// What is to be learned, and the columns that say it.
#[derive(Default)]
struct Targets {
    labels: Option<Labels>,
    classes_told: bool,
    splits: Vec<Vec<u8>>,
    taken: BTreeSet<usize>,
    roles: ColumnRoles,
}

impl CsvNodes {
    /// Finds the ids of a table.
    pub fn new(table: FieldTable, options: &Options) -> Read<CsvNodes> {
        let called = |wanted: &str| {
            table
                .names()
                .iter()
                .position(|name| name.trim_start_matches(':').eq_ignore_ascii_case(wanted))
        };
        let Some(id_column) = (match &options.id {
            Some(wanted) => table.names().iter().position(|name| name == wanted),
            None => IDS.iter().find_map(|name| called(name)),
        }) else {
            let expected =
                options.id.as_ref().map_or_else(|| IDS.join(", "), |name| format!("`{name}`"));
            let error = ReadError::new(table.path(), "the table of nodes has no column of ids")
                .expected(expected, table.names().join(", "));
            return Err(Box::new(
                error.hint("name it in the catalogue's entry:  read: {id: NAME}"),
            ));
        };
        if table.rows() == 0 {
            let error = ReadError::new(
                table.path(),
                "the table is empty: it has names of columns, and no row",
            );
            return Err(Box::new(error.expected("a row for each node", "none").hint(
                "write the rows, or take the file away: nodes are then those that edges name",
            )));
        }
        if table.rows() as u64 > NODES_MOST {
            return Err(Box::new(
                ReadError::new(table.path(), "the table has too many nodes")
                    .expected(format!("at most {NODES_MOST}"), table.rows().to_string()),
            ));
        }
        let words = match options.ids {
            Ids::Number => false,
            Ids::String => true,
            Ids::Auto => {
                let is_padded = |row| is_padded(&table.bytes(row, id_column));
                table.rows() > 0
                    && (!looks_like_number(&table.bytes(0, id_column))
                        || (0..table.rows()).any(is_padded))
            }
        };
        let (ids, order) = if words {
            words_of(&table, id_column)?
        } else {
            numbers_of(&table, id_column, options.are_ids_exact())?
        };
        Ok(CsvNodes { table, ids, order, id_column })
    }

    /// Puts all columns into the graph, whose rows are these nodes.
    pub fn fill(self, graph: &mut RawGraph, options: &Options) -> Read<()> {
        let targets = self.targets(options.label.as_deref())?;
        (graph.labels, graph.splits, graph.classes_told) =
            (targets.labels, targets.splits, targets.classes_told);
        let names = self.table.names();
        let is_free = |column: usize| column != self.id_column && !targets.taken.contains(&column);
        let missing = |name: &String| {
            let error = ReadError::new(
                self.table.path(),
                format!("the table of nodes has no column `{name}`"),
            );
            Box::new(
                error
                    .expected(format!("`{name}`"), names.join(", "))
                    .hint("columns are named in the catalogue's entry"),
            )
        };
        if let Some(name) =
            options.label.as_ref().filter(|name| *name != "none" && !names.contains(name))
        {
            return Err(missing(name));
        }
        let asked = |wanted: &String| {
            let found = (0..names.len())
                .find(|&column| names[column] == *wanted)
                .or_else(|| names.iter().position(|name| name.eq_ignore_ascii_case(wanted)));
            found.filter(|&column| is_free(column)).ok_or_else(|| missing(wanted))
        };
        let features: Vec<usize> = match options.node_features.is_empty() {
            true => (0..names.len())
                .filter(|&column| is_free(column) && is_feature(&names[column]))
                .collect(),
            false => options.node_features.iter().map(asked).collect::<Read<_>>()?,
        };
        for (column, name) in names
            .iter()
            .enumerate()
            .filter(|(column, _)| is_free(*column) && !features.contains(column))
        {
            let lower = name.to_lowercase();
            if graph.kinds.is_none() && KINDS.contains(&lower.as_str()) {
                graph.kinds = Some(self.kinds(column)?);
            } else if graph.graphs.is_none() && GRAPHS.contains(&lower.as_str()) {
                graph.graphs = Some(self.graphs(column, options.are_graphs_exact())?);
            } else {
                graph.columns.push((name.clone(), self.table.column(column, &self.order)?));
            }
        }
        if !features.is_empty() {
            graph.features = Some(self.features(&features)?);
        }
        let ColumnRoles { labels, splits, .. } = targets.roles;
        let features = features.iter().map(|&column| names[column].clone()).collect();
        graph.has_columns = true;
        graph.roles = ColumnRoles { features, labels, splits, ..std::mem::take(&mut graph.roles) };
        Ok(())
    }

    /// Puts labels, splits and further columns into the graphs that these rows are.
    pub fn fill_graphs(self, graphs: &mut Graphs) -> Read<()> {
        let Some(places) = places(&graphs.ids, &self.ids) else {
            let error = ReadError::new(
                self.table.path(),
                "a node is in a graph that the table of graphs does not have",
            );
            let (expected, found) = (
                format!("a row for each of {} graphs", graphs.ids.len()),
                format!("{} ids, not all of them", self.ids.len()),
            );
            return Err(Box::new(error.expected(expected, found).hint(
                "each graph has a row, and its id stands in the column `graph` of its nodes",
            )));
        };
        graphs.of_node.iter_mut().for_each(|graph| *graph = places[*graph as usize]);
        graphs.ids.clone_from(&self.ids);
        let targets = self.targets(None)?;
        for (column, name) in self.table.names().iter().enumerate() {
            if column != self.id_column && !targets.taken.contains(&column) {
                graphs.columns.push((name.clone(), self.table.column(column, &self.order)?));
            }
        }
        (graphs.labels, graphs.splits, graphs.classes_told) =
            (targets.labels, targets.splits, targets.classes_told);
        Ok(())
    }

    /// Labels, with their names, and splits.
    fn targets(&self, label: Option<&str>) -> Read<Targets> {
        let mut targets = Targets::default();
        let columns = || {
            self.table.names().iter().enumerate().filter(|(column, _)| *column != self.id_column)
        };
        let has_x = columns().any(|(_, name)| name.eq_ignore_ascii_case("x"));
        let named = |wanted: &str| {
            columns().find(|(_, name)| name.eq_ignore_ascii_case(wanted)).map(|(column, _)| column)
        };
        let is_label = |column: usize, name: &str| match name {
            // With an `x` beside it, `y` is a place.
            "y" if has_x => false,
            _ => !self.differs_everywhere(column),
        };
        let label = match label {
            Some(wanted) => columns().find(|(_, name)| *name == wanted).map(|(column, _)| column),
            None => {
                LABELS.iter().find_map(|name| named(name).filter(|&column| is_label(column, name)))
            }
        };
        match label {
            Some(column) => {
                let name = &self.table.names()[column];
                let mut labels = self.labels(column)?;
                targets.roles.labels.push(name.clone());
                targets.taken.insert(column);
                if let Some(column) =
                    named(names_json::COLUMN).filter(|_| name.eq_ignore_ascii_case("label"))
                {
                    let word = |&row: &u32| {
                        self.table
                            .text(row as usize, column)
                            .map(|word| (!word.is_empty()).then(|| word.into_owned()))
                    };
                    if names_json::set_class_names(
                        &mut labels,
                        &self.order.iter().map(word).collect::<Read<Vec<_>>>()?,
                    ) {
                        targets.taken.insert(column);
                        targets.classes_told = true;
                    }
                }
                targets.labels = Some(labels);
            }
            None => {
                let numbered: Vec<usize> =
                    (0..).map_while(|number| named(&format!("label_{number}"))).collect();
                if !numbered.is_empty() {
                    targets.labels = Some(self.label_rows(&numbered)?);
                    targets
                        .roles
                        .labels
                        .extend(numbered.iter().map(|&column| self.table.names()[column].clone()));
                    targets.taken.extend(numbered);
                }
            }
        }
        for (column, name) in columns().filter(|(_, name)| is_split(name)) {
            targets.splits.push(self.split(column)?);
            targets.roles.splits.push(name.clone());
            targets.taken.insert(column);
        }
        if targets.splits.is_empty() {
            let masks: Vec<(usize, u8)> = MASKS
                .iter()
                .filter_map(|(names, part)| {
                    Some((names.iter().find_map(|name| named(name))?, *part))
                })
                .collect();
            targets.splits.extend((!masks.is_empty()).then(|| self.masks(&masks)).transpose()?);
            targets
                .roles
                .splits
                .extend(masks.iter().map(|&(column, _)| self.table.names()[column].clone()));
            targets.taken.extend(masks.iter().map(|(column, _)| column));
        }
        Ok(targets)
    }

    /// A split by columns that say who is in each part.
    fn masks(&self, masks: &[(usize, u8)]) -> Read<Vec<u8>> {
        let part = |&row: &u32| {
            let mut own = IN_NO_PART;
            for &(column, part) in masks {
                let fault = |what: &str, expected: &str| {
                    self.table.fault(
                        row as usize,
                        column,
                        what,
                        expected,
                        "a mask has 1 for each node of its part",
                    )
                };
                match self.table.text(row as usize, column)?.to_lowercase().as_str() {
                    "" | "0" | "false" => {}
                    "1" | "true" if own == IN_NO_PART => own = part,
                    "1" | "true" => {
                        return Err(fault(
                            "a node is in two parts of the split",
                            "0 here, or in the other mask",
                        ));
                    }
                    _ => return Err(fault("a mask has neither 0 nor 1", "0 or 1, false or true")),
                }
            }
            Ok(own)
        };
        self.order.iter().map(part).collect()
    }

    /// Several numbers a row; an empty field, or NaN, is not known.
    fn label_rows(&self, columns: &[usize]) -> Read<Labels> {
        let mut values = Vec::with_capacity(columns.len() * self.order.len());
        for &row in &self.order {
            for &column in columns {
                values.push(self.label_value(row, column)?);
            }
        }
        Ok(Labels::Rows { columns: columns.len() as u32, values })
    }

    fn label_value(&self, row: u32, column: usize) -> Read<f32> {
        match self.table.number(row as usize, column) {
            Some(number) if (number as f32).is_finite() => Ok(number as f32),
            _ if is_unknown(&self.table.bytes(row as usize, column)) => Ok(f32::NAN),
            _ => Err(self.table.fault(
                row as usize,
                column,
                "a label is not finite",
                "a finite number",
                "labels are classes, or numbers to be predicted",
            )),
        }
    }

    /// Whether a column holds another word in every row.
    fn differs_everywhere(&self, column: usize) -> bool {
        let mut words: Vec<Cow<'_, [u8]>> =
            self.order.iter().map(|&row| self.table.bytes(row as usize, column)).collect();
        words.retain(|word| !word.is_empty());
        words.sort_unstable();
        words.len() > 1
            && words.windows(2).all(|pair| pair[0] != pair[1])
            && !words.iter().all(|word| is_number(word))
    }

    fn labels(&self, column: usize) -> Read<Labels> {
        let rows = || self.order.iter().map(|&row| self.table.bytes(row as usize, column));
        let is_whole =
            |word: &[u8]| std::str::from_utf8(word).is_ok_and(|word| word.parse::<i64>().is_ok());
        let filled = |word: &Cow<'_, [u8]>| !word.is_empty();
        let all_numbers = rows().filter(filled).all(|word| is_number(&word));
        if all_numbers && !rows().filter(filled).all(|word| is_whole(&word)) {
            return Ok(Labels::Values(
                self.order.iter().map(|&row| self.label_value(row, column)).collect::<Read<_>>()?,
            ));
        }
        let (class, mut names) = self.classes(column, "label")?;
        // As in all other tables and arrays, a negative number is no label; names that are numbers
        // ascend.
        let negative = if all_numbers {
            names.iter().take_while(|name| name.starts_with('-')).count()
        } else {
            0
        };
        if negative > 0 && names.len() - negative < 2 {
            return Err(self.signs_alone(column, &names));
        }
        names.drain(..negative);
        let class = class.into_iter().map(|class| {
            class.and_then(|class| class.checked_sub(negative as u32)).unwrap_or(NO_CLASS)
        });
        Ok(Labels::Classes { class: class.collect(), names })
    }

    /// -1 and 1 may be two classes, or one and no label: who wrote them knows.
    fn signs_alone(&self, column: usize, names: &[String]) -> Box<ReadError> {
        let first = self
            .order
            .iter()
            .find(|&&row| self.table.bytes(row as usize, column).starts_with(b"-"));
        let row = first.copied().unwrap_or(0) as usize;
        let fault = format!(
            "a negative label says that there is none, and without it there are {} classes",
            names.iter().filter(|name| !name.starts_with('-')).count()
        );
        self.table.fault(
            row,
            column,
            &fault,
            "two classes or more beside it",
            "if it is a class, write 0 and 1, or words; if there is no label, leave it empty",
        )
    }

    /// Distinct words of a column: numbers by value, else words by bytes; and for each node the
    /// index of its own.
    fn classes(&self, column: usize, what: &str) -> Read<(Vec<Option<u32>>, Vec<String>)> {
        let mut names = Vec::new();
        for &row in &self.order {
            let text = self.table.text(row as usize, column)?;
            if !text.is_empty() {
                names.push(text.into_owned());
            }
        }
        names.sort_unstable();
        names.dedup();
        if names.iter().all(|name| name.parse::<i64>().is_ok()) {
            names.sort_by_key(|name| name.parse::<i64>().unwrap_or(0));
        }
        if names.is_empty() && !self.order.is_empty() {
            let error = ReadError::new(self.table.path(), format!("no node has a {what}"))
                .expected("at least one", "an empty column");
            return Err(Box::new(error.hint(
                "name another column in the catalogue's entry:  read: {label: NAME}  (none: there \
                 is none)",
            )));
        }
        let known: std::collections::HashMap<&[u8], u32> =
            names.iter().zip(0..).map(|(name, index)| (name.as_bytes(), index)).collect();
        let class = self
            .order
            .iter()
            .map(|&row| known.get(&*self.table.bytes(row as usize, column)).copied())
            .collect();
        Ok((class, names))
    }

    fn split(&self, column: usize) -> Read<Vec<u8>> {
        let part = |&row: &u32| {
            let expected = "train, validation, test or nothing";
            let fault = || {
                self.table.fault(
                    row as usize,
                    column,
                    "unknown split name",
                    expected,
                    "write one of these",
                )
            };
            part_of(&self.table.text(row as usize, column)?).ok_or_else(fault)
        };
        self.order.iter().map(part).collect()
    }

    fn kinds(&self, column: usize) -> Read<Kinds> {
        let (kind, names) = self.classes(column, "kind")?;
        if names.len() > KINDS_MOST {
            return Err(Box::new(
                ReadError::new(self.table.path(), "there are too many kinds of nodes")
                    .expected(format!("at most {KINDS_MOST}"), names.len().to_string()),
            ));
        }
        let of_node = kind.iter().zip(&self.order).map(|(kind, &row)| {
            let fault = || {
                self.table.fault(
                    row as usize,
                    column,
                    "a node has no kind",
                    "a name",
                    "every node has a kind, or none has",
                )
            };
            kind.map(|kind| kind as u16).ok_or_else(fault)
        });
        Ok(Kinds {
            of_node: of_node.collect::<Read<_>>()?,
            features: vec![None; names.len()],
            names,
        })
    }

    fn graphs(&self, column: usize, exact: bool) -> Read<Graphs> {
        let (graph, names) = self.classes(column, "graph")?;
        let of_node = graph.iter().zip(&self.order).map(|(graph, &row)| {
            graph.ok_or_else(|| {
                self.table.fault(
                    row as usize,
                    column,
                    "a node is in no graph",
                    "the graph's id",
                    "every node is in a graph, or there is but one",
                )
            })
        });
        let of_node: Vec<u32> = of_node.collect::<Read<_>>()?;
        let numbers: Option<Vec<u64>> =
            names.iter().map(|name| parse_id(name.as_bytes(), exact)).collect();
        let (ids, rank): (NodeIds, Vec<u32>) = match numbers {
            Some(numbers) if numbers.is_sorted() => {
                // `01` and `1` are one graph, where they are no words.
                let mut ids = numbers.clone();
                ids.dedup();
                let rank = numbers
                    .iter()
                    .map(|number| ids.partition_point(|id| id < number) as u32)
                    .collect();
                (NodeIds::from_ascending(ids), rank)
            }
            _ => {
                // By bytes, as words are; numbers with signs or leading zeros are words.
                let mut order: Vec<u32> = (0..names.len() as u32).collect();
                order.sort_by(|a, b| names[*a as usize].cmp(&names[*b as usize]));
                let mut rank = vec![0; names.len()];
                order.iter().zip(0..).for_each(|(&name, place)| rank[name as usize] = place);
                (
                    NodeIds::Strings(
                        order.iter().map(|&name| names[name as usize].clone()).collect(),
                    ),
                    rank,
                )
            }
        };
        Ok(Graphs {
            of_node: of_node.into_iter().map(|graph| rank[graph as usize]).collect(),
            ids,
            ..Graphs::default()
        })
    }

    fn features(&self, columns: &[usize]) -> Read<Features> {
        let mut values = Vec::with_capacity(columns.len() * self.order.len());
        for &row in &self.order {
            for &column in columns {
                let number = self
                    .table
                    .number(row as usize, column)
                    .map(|number| number as f32)
                    .filter(|number| number.is_finite());
                let hint = "features are finite numbers: write 0 where there is none";
                values.push(number.ok_or_else(|| {
                    self.table.fault(
                        row as usize,
                        column,
                        "a feature is not a finite number",
                        "a number",
                        hint,
                    )
                })?);
            }
        }
        Ok(Features::Dense { columns: columns.len() as u32, values })
    }
}

/// The place of each id among others; none: one is not there.
fn places(ids: &NodeIds, among: &NodeIds) -> Option<Vec<u32>> {
    let number = |id: u64| match among {
        NodeIds::Count(count) => (id < u64::from(*count)).then_some(id as u32),
        NodeIds::Numbers(numbers) => numbers.binary_search(&id).ok().map(|place| place as u32),
        NodeIds::Strings(_) => None,
    };
    match (ids, among) {
        (NodeIds::Count(count), _) => (0..u64::from(*count)).map(number).collect(),
        (NodeIds::Numbers(numbers), _) => numbers.iter().map(|&id| number(id)).collect(),
        (NodeIds::Strings(words), NodeIds::Strings(all)) => words
            .iter()
            .map(|word| all.binary_search(word).ok().map(|place| place as u32))
            .collect(),
        (NodeIds::Strings(_), _) => None,
    }
}

/// Whether a label is not known: nothing, or NaN as programs write it.
fn is_unknown(word: &[u8]) -> bool {
    word.is_empty() || word.eq_ignore_ascii_case(b"nan")
}

/// Whether a word is a number, finite or not.
fn is_number(word: &[u8]) -> bool {
    std::str::from_utf8(word).is_ok_and(|word| word.parse::<f64>().is_ok())
}

fn twice(table: &FieldTable, column: usize, row: u32) -> Box<ReadError> {
    table.fault(
        row as usize,
        column,
        "two nodes have one id",
        "ids that differ",
        "keep one line a node",
    )
}

fn words_of(table: &FieldTable, column: usize) -> Read<(NodeIds, Vec<u32>)> {
    let mut words = Vec::with_capacity(table.rows());
    for row in 0..table.rows() {
        let word = table.text(row, column)?.into_owned();
        if word.is_empty() {
            return Err(table.fault(
                row,
                column,
                "a node has no id",
                "an id",
                "every node has an id",
            ));
        }
        words.push((word, row as u32));
    }
    words.sort_unstable();
    match words.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(twice(table, column, pair[1].1)),
        None => {
            let (words, order) = words.into_iter().unzip();
            Ok((NodeIds::Strings(words), order))
        }
    }
}

fn numbers_of(table: &FieldTable, column: usize, exact: bool) -> Read<(NodeIds, Vec<u32>)> {
    let mut numbers: Vec<(u64, u32)> = Vec::with_capacity(table.rows());
    for row in 0..table.rows() {
        let word = table.bytes(row, column);
        let hint = "ids are whole numbers from 0; if they are words:  --set ingest.ids=string";
        let fault = || match is_padded(&word) {
            true => table.fault(
                row,
                column,
                "an id has zeros before it",
                "a number without them, as those of the table of nodes are",
                PADDED_BESIDE_HINT,
            ),
            false => table.fault(
                row,
                column,
                "a node has an id that is not a whole number",
                "a number from 0 to 18446744073709551615",
                hint,
            ),
        };
        numbers.push((parse_id(&word, exact).ok_or_else(fault)?, row as u32));
    }
    numbers.sort_unstable();
    match numbers.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(twice(table, column, pair[1].1)),
        None => {
            let (numbers, order) = numbers.into_iter().unzip();
            Ok((NodeIds::from_ascending(numbers), order))
        }
    }
}
