//! `warploom data ls`: every entry of the catalogue and what of it is here.
//!
//! promises  one row an entry; nothing is opened, downloaded or made
use serde_json::{Value, json};
use warploom_catalog::{Attempt, Entry, Source, entry::Task, find, generator::FORMS, locate, names, present};
use warploom_contract::StageError;
use warploom_shell::{Environment, requests::catalog_error};

use super::plot::grouped;

/// Letters of a licence in the table; JSON has all of it.
const LICENCE_LETTERS: usize = 32;

/// How much of a set is here, without a network, and where or why.
pub fn state(environment: &Environment, entry: &Entry) -> (&'static str, String) {
    let found = present(entry, &environment.data);
    let partly = found.folder.filter(|_| !found.missing.is_empty());
    match (locate(entry, &environment.data, Some(&environment.seen()), Attempt::Look), partly) {
        (Ok(Source::Real { folder, .. }), _) => ("here", folder.display().to_string()),
        _ if found.packed.is_some() => ("here", format!("packed in {}", found.packed.unwrap_or_default().display())),
        (Ok(Source::Generated), _) => ("generated", "made when it is needed".to_owned()),
        (_, Some(folder)) => ("partly", format!("{} of {} files in {}", found.files.len(), entry.files.len(), folder.display())),
        (Ok(Source::StandIn { why }), None) => ("stand-in", why),
        (Err(error), None) => ("absent", error.what),
    }
}

/// Prints the list.
pub fn list(environment: &Environment) -> Result<(), StageError> {
    let entries: Vec<Entry> = names().iter().map(|name| find(name)).collect::<Result<_, _>>().map_err(|error| catalog_error(&error))?;
    let states: Vec<_> = entries.iter().map(|entry| state(environment, entry)).collect();
    crate::print_as(environment, || table(&entries, &states), || entries.iter().zip(&states).map(|(entry, state)| line(entry, state)).collect());
    Ok(())
}

fn table(entries: &[Entry], states: &[(&'static str, String)]) -> String {
    let widest = entries.iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0);
    let mut text =
        format!("{:<widest$}  {:<9} {:>11} {:>13} {:>7} {:>12}  {:<20} licence\n", "name", "data", "nodes", "edges listed", "graphs", "width/class", "task");
    for (entry, (status, _)) in entries.iter().zip(states) {
        let (nodes, edges) = counts(entry);
        let [nodes, edges, graphs] = [nodes, edges, entry.holds.graphs].map(|count| count.map_or_else(|| "-".to_owned(), grouped));
        let licence: String = entry.licence.chars().take(LICENCE_LETTERS).collect();
        text += &format!("{:<widest$}  {status:<9} {nodes:>11} {edges:>13} {graphs:>7} {:>12}  {:<20} {licence}\n", entry.name, shape(entry), task(entry.task));
    }
    let count = |wanted: &str| states.iter().filter(|(status, _)| *status == wanted).count();
    let kinds = ["here", "partly", "stand-in", "generated", "absent"].map(|kind| format!("{} {kind}", count(kind))).join(", ");
    let forms: Vec<&str> = FORMS.iter().map(|(_, form)| form.split([' ', ',']).next().unwrap_or_default()).collect();
    text += &format!("\n{} sets: {kinds}\n", entries.len());
    text += "  here: real files; partly: some of them; stand-in: a generated graph with its counts; absent: neither\n";
    text += &format!("made by name too: {}\n", forms.join(", "));
    text += "more of one:  warploom data show NAME     its files:  warploom data fetch NAME\n";
    text
}

fn line(entry: &Entry, (status, detail): &(&'static str, String)) -> Value {
    let addresses = entry.files.iter().filter_map(|file| file.url.as_deref()).chain(entry.archive.as_ref().map(|archive| archive.url.as_str())).count();
    json!({
        "name": entry.name, "about": entry.about, "status": status, "detail": detail, "format": entry.format, "task": entry.task, "licence": entry.licence,
        "expected": entry.expected, "holds": entry.holds, "made_up": entry.made_up, "printed": entry.printed, "addresses": addresses,
        "has_stand_in": entry.stand_in.is_some(),
    })
}

/// Nodes and edges as stored; where that is not known, as printed.
fn counts(entry: &Entry) -> (Option<u64>, Option<u64>) {
    let printed = entry.printed.first();
    (entry.expected.nodes.or(printed.map(|printed| printed.nodes)), entry.expected.listed.or(printed.map(|printed| printed.edges)))
}

/// Feature width and classes; made-up ones behind a star; one dash where there is neither.
fn shape(entry: &Entry) -> String {
    let one = |given: Option<u32>, made: u32| match (given, made) {
        (Some(given), _) => given.to_string(),
        (None, 0) => "-".to_owned(),
        (None, made) => format!("*{made}"),
    };
    let shape = [one(entry.holds.features, entry.made_up.features), one(entry.holds.classes, entry.made_up.classes)];
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

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1000, 4_878_875, 114_615_892].map(grouped), ["0", "999", "1,000", "4,878,875", "114,615,892"]);
    }

    #[test]
    fn the_table_has_a_row_for_each_entry() {
        let entries: Vec<Entry> = ["amazon0505", "DD", "pregel-rmat"].iter().map(|name| find(name).unwrap()).collect();
        let states = [("stand-in", String::new()), ("here", String::new()), ("generated", String::new())];
        let table = table(&entries, &states);
        let rows: Vec<&str> = table.lines().collect();
        assert!(rows[1].contains("3,356,824") && rows[1].contains("*96/*22") && rows[1].contains("stand-in"), "{table}");
        assert_eq!(["amazon0505", "as20graph", "cora", "karate"].map(|name| shape(&find(name).unwrap())), ["*96/*22", "-", "1433/7", "*16/2"]);
        assert!(rows[2].contains("1,178") && rows[2].contains("graph classification"), "{table}");
        assert!(
            table.contains("3 sets: 1 here, 0 partly, 1 stand-in, 1 generated, 0 absent") && table.contains("rmat-<scale>, random-<nodes>-<edges>"),
            "{table}"
        );
    }
}
