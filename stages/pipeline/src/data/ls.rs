//! ls: `warploom data ls`: lists every catalogue entry and imported set, and whether its files are
//! available.
//!
//! promises  one row for each entry; nothing is opened, downloaded or generated; an invalid entry
//!           is named on stderr, the others are listed, and the exit code is 1
use serde_json::{Value, json};
use warploom_catalog::{
    Attempt, Catalog, Entry, Source, entry::Task, generator::FORMS, locate, present_files,
};
use warploom_contract::{ErrorKind, StageError};
use warploom_shell::{Environment, progress::Talk, requests::catalog_error};

use super::plot::group_digits;

/// Most letters of a licence in the table; JSON has the full text.
const LICENCE_LETTERS: usize = 32;
/// The width of the table without a terminal.
const WIDTH: usize = 160;

/// The width of the terminal.
fn terminal_width() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stdout());
    size.map_or(WIDTH, |size| usize::from(size.ws_col)).clamp(40, WIDTH)
}

/// How much of a data set is on this machine.
pub struct DataState {
    /// `here`, `partly`, `stand-in`, `generated` or `absent`.
    pub status: &'static str,
    /// Where it is, or why it is not.
    pub detail: String,
}

impl DataState {
    fn new(status: &'static str, detail: String) -> Self {
        DataState { status, detail }
    }
}

/// How much of a set is here, without a network, and where or why.
pub fn availability(environment: &Environment, entry: &Entry) -> DataState {
    let found = match present_files(entry, &environment.data) {
        Ok(found) => found,
        Err(error) => return DataState::new("absent", error.what),
    };
    let partly = found.folder.filter(|_| !found.missing.is_empty());
    match (
        locate(entry, &environment.data, Some(&environment.digest_cache_path()), Attempt::Look),
        partly,
    ) {
        (Ok(Source::Real { folder, .. }), _) => {
            DataState::new("here", folder.display().to_string())
        }
        _ if found.packed.is_some() => DataState::new(
            "here",
            format!("packed in {}", found.packed.unwrap_or_default().display()),
        ),
        (Ok(Source::Generated), _) => {
            DataState::new("generated", "made when it is needed".to_owned())
        }
        (_, Some(folder)) => DataState::new(
            "partly",
            format!("{} of {} files in {}", found.files.len(), entry.files.len(), folder.display()),
        ),
        (Ok(Source::StandIn { why }), None) => DataState::new("stand-in", why),
        (Err(error), None) => DataState::new("absent", error.what),
    }
}

/// Prints the list.
pub fn list(environment: &Environment, talk: &Talk) -> Result<(), StageError> {
    let mut unread = 0;
    let mut entries: Vec<Entry> = Vec::new();
    let (catalog, data) = (Catalog::discover(), &environment.data);
    for name in catalog.names_in(data).map_err(|error| catalog_error(&error))? {
        match catalog.find_in(&name, data) {
            Ok(entry) => entries.push(entry),
            Err(error) => {
                unread += 1;
                talk.error(&catalog_error(&error));
            }
        }
    }
    let states: Vec<_> = entries.iter().map(|entry| availability(environment, entry)).collect();
    crate::print_as(
        environment,
        || table(&entries, &states, terminal_width()),
        || entries.iter().zip(&states).map(|(entry, state)| line(entry, state)).collect(),
    );
    match unread {
        0 => Ok(()),
        _ => Err(StageError::new(
            ErrorKind::Specification,
            format!("{unread} of {} entries of the catalogue are invalid", unread + entries.len()),
        )
        .hint("fix or remove the files that are named above")),
    }
}

fn table(entries: &[Entry], states: &[DataState], width: usize) -> String {
    let widest = entries.iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0);
    let row = |cells: [&str; 7], licence: &str| {
        let [name, data, nodes, edges, graphs, shape, task] = cells;
        let cells = [
            format!("{name:<widest$}"),
            format!("{data:<9}"),
            format!("{nodes:>11}"),
            format!("{edges:>13}"),
            format!("{graphs:>7}"),
            format!("{shape:>12}"),
            format!("{task:<20}"),
        ];
        // A column that does not fit is left out.
        let mut line = String::new();
        for cell in cells.iter().chain([&shorten_words(licence, width)]) {
            let (gap, length) =
                (if line.is_empty() { 0 } else { 2 }, cell.trim_end().chars().count());
            if line.chars().count() + gap + length > width {
                break;
            }
            line += &format!("{:gap$}{cell}", "");
        }
        line.trim_end().to_owned() + "\n"
    };
    let mut text =
        row(["name", "data", "nodes", "edges listed", "graphs", "width/class", "task"], "licence");
    for (entry, state) in entries.iter().zip(states) {
        let (nodes, edges) = counts(entry);
        let [nodes, edges, graphs] = [nodes, edges, entry.holds.graphs]
            .map(|count| count.map_or_else(|| "-".to_owned(), group_digits));
        text += &row(
            [&entry.name, state.status, &nodes, &edges, &graphs, &shape(entry), task(entry.task)],
            &entry.licence,
        );
    }
    let count = |wanted: &str| states.iter().filter(|state| state.status == wanted).count();
    let kinds = ["here", "partly", "stand-in", "generated", "absent"]
        .map(|kind| format!("{} {kind}", count(kind)))
        .join(", ");
    let forms: Vec<&str> = FORMS
        .iter()
        .map(|(_, form)| {
            form.split([',']).next().and_then(|form| form.split("  or").next()).unwrap_or_default()
        })
        .collect();
    let below = [
        format!("{} sets: {kinds}", entries.len()),
        "  here: real files; partly: some of them; stand-in: a generated graph with its counts; \
         absent: neither"
            .to_owned(),
        "  width/class: columns of features and classes, as *96/*22 where they are drawn because \
         the set has none"
            .to_owned(),
        format!("made by name too: {}", forms.join(", ")),
        "more of one:  warploom data show NAME     its files:  warploom data fetch NAME".to_owned(),
    ];
    text + "\n" + &below.map(|line| wrap_words(&line, width)).concat()
}

/// The first words of a text that fit in `width`.
fn shorten_words(text: &str, width: usize) -> String {
    let most = LICENCE_LETTERS.min(width);
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut short = String::new();
    for word in text.split(' ') {
        if short.chars().count() + 1 + word.chars().count() + 1 > most {
            break;
        }
        short += if short.is_empty() { "" } else { " " };
        short += word;
    }
    short.trim_end_matches([',', ';', ':']).to_owned() + "…"
}

/// Wraps a text at words.
fn wrap_words(text: &str, width: usize) -> String {
    let (mut lines, mut length) = (String::new(), 0);
    for word in text.split(' ') {
        let letters = word.chars().count();
        if length > 0 && length + 1 + letters > width {
            lines += "\n    ";
            length = 4;
        } else if !lines.is_empty() {
            lines.push(' ');
            length += 1;
        }
        lines += word;
        length += letters;
    }
    lines + "\n"
}

fn line(entry: &Entry, state: &DataState) -> Value {
    let DataState { status, detail } = state;
    let addresses = entry
        .files
        .iter()
        .filter_map(|file| file.url.as_deref())
        .chain(entry.archive.as_ref().map(|archive| archive.url.as_str()))
        .count();
    json!({
        "name": entry.name, "about": entry.about, "status": status, "detail": detail, "format": entry.format, "task": entry.task, "licence": entry.licence,
        "expected": entry.expected, "holds": entry.holds, "made_up": entry.made_up, "printed": entry.printed, "addresses": addresses,
        "has_stand_in": entry.stand_in.is_some(),
    })
}

/// Nodes and edges as stored, else as published.
fn counts(entry: &Entry) -> (Option<u64>, Option<u64>) {
    let printed = entry.printed.first();
    (
        entry.expected.nodes.or(printed.map(|printed| printed.nodes)),
        entry.expected.listed.or(printed.map(|printed| printed.edges)),
    )
}

/// Feature columns and classes, synthetic ones after a star; a dash for neither.
fn shape(entry: &Entry) -> String {
    let one = |given: Option<u32>, made: u32| match (given, made) {
        (Some(given), _) => given.to_string(),
        (None, 0) => "-".to_owned(),
        (None, made) => format!("*{made}"),
    };
    let shape = [
        one(entry.holds.features, entry.made_up.features),
        one(entry.holds.classes, entry.made_up.classes),
    ];
    if shape == ["-", "-"] { "-".to_owned() } else { shape.join("/") }
}

fn task(task: Task) -> &'static str {
    match task {
        Task::NodeClassification => "node classification",
        Task::MultiLabel => "several labels",
        Task::GraphClassification => "graph classification",
        Task::GraphRegression => "graph regression",
        Task::LinkPrediction => "link prediction",
        Task::None => "-",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warploom_catalog::find;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(
            [0, 999, 1000, 4_878_875, 114_615_892].map(group_digits),
            ["0", "999", "1,000", "4,878,875", "114,615,892"]
        );
    }

    #[test]
    fn the_table_has_a_row_for_each_entry() {
        let entries: Vec<Entry> =
            ["amazon0505", "DD", "pregel-rmat"].iter().map(|name| find(name).unwrap()).collect();
        let states =
            ["stand-in", "here", "generated"].map(|status| DataState::new(status, String::new()));
        let narrow = table(&entries, &states, 60);
        assert!(
            narrow.lines().all(|line| line.chars().count() <= 60) && !narrow.contains("licence"),
            "{narrow}"
        );
        let table = table(&entries, &states, 140);
        assert!(
            table.contains("*96/*22 where they are drawn") && !table.contains("<nodes\n"),
            "{table}"
        );
        let rows: Vec<&str> = table.lines().collect();
        assert!(
            rows[1].contains("3,356,824")
                && rows[1].contains("*96/*22")
                && rows[1].contains("stand-in"),
            "{table}"
        );
        assert_eq!(
            ["amazon0505", "as20graph", "cora", "karate"].map(|name| shape(&find(name).unwrap())),
            ["*96/*22", "-", "1433/7", "*16/2"]
        );
        assert!(rows[2].contains("1,178") && rows[2].contains("graph classification"), "{table}");
        assert!(
            table.contains("3 sets: 1 here, 0 partly, 1 stand-in, 1 generated, 0 absent")
                && table.contains("clique-batch-<graphs>-<nodes of each>"),
            "{table}"
        );
    }
}
