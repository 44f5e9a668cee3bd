//! preview: what `warploom submit` is about to submit, as a table and as a JSON line.
use serde_json::{Value, json};
use warploom_batch::{array::JobArray, site::Resources};
use warploom_shell::machine_limits::{count_with_unit, show_size};

use super::submit::Prepared;

impl Prepared<'_> {
    /// What is submitted, as a table.
    pub(super) fn text(&self, id: &str) -> String {
        let hits = self.jobs.len() - self.to_do().count();
        let pipelines = &self.request.pipelines;
        let mut text = format!(
            "{} on {}: {}, {}, {} in the store\n",
            pipelines[0].name,
            self.site.name,
            count_with_unit(pipelines.len() as u64, "pipeline"),
            count_with_unit(self.jobs.len() as u64, "job"),
            hits
        );
        if self.arrays.is_empty() {
            return text + "nothing to do\n";
        }
        text += &format!(
            "{:>5}  {:<20} {:<8} {:>6} {:>12} {:>10}  after\n",
            "array", "stages", "group", "tasks", "memory", "time"
        );
        for (array, resources) in self.arrays.iter().zip(&self.resources) {
            text += &array_row(array, resources);
        }
        let is_predicted =
            |resources: &Resources| resources.is_memory_predicted || resources.is_time_predicted;
        if self.resources.iter().any(is_predicted) {
            text += "~ predicted, with a margin; the site can say it:  --with run.time=2h\n";
        }
        text += &format!(
            "the outputs will take about {} of the store\n",
            show_size(self.store_bytes())
        );
        if !self.request.dry_run {
            text += &format!("submission {id}\n");
        }
        text
    }

    /// The same as JSON lines.
    pub(super) fn lines(&self, id: &str) -> Vec<Value> {
        let row = |(array, resources): (&JobArray, &Resources)| {
            let stages: Vec<&str> = array.stages.iter().map(|stage| stage.name()).collect();
            json!({
                "array": array.number, "stages": stages, "group": array.group.name(),
                "tasks": array.tasks, "after": array.after, "bytes": resources.bytes,
                "seconds": resources.seconds,
            })
        };
        let arrays: Vec<Value> = self.arrays.iter().zip(&self.resources).map(row).collect();
        let is_submitted = !self.request.dry_run && !arrays.is_empty();
        let hits = self.jobs.len() - self.to_do().count();
        vec![json!({
            "submission": is_submitted.then_some(id), "site": self.site.name,
            "pipelines": self.request.pipelines.len(), "jobs": self.jobs.len(), "hits": hits,
            "arrays": arrays, "store_bytes": self.store_bytes(),
        })]
    }
}

/// An array in a row of the table; `~` marks what is predicted.
fn array_row(array: &JobArray, resources: &Resources) -> String {
    let mark = |is_predicted: bool| if is_predicted { "~" } else { "" };
    let names: Vec<&str> = array.stages.iter().map(|stage| stage.name()).collect();
    let stages = match names.as_slice() {
        [first, .., last] => format!("{first}-{last}"),
        _ => names.join(""),
    };
    let after: Vec<String> = array.after.iter().map(u32::to_string).collect();
    format!(
        "{:>5}  {:<20} {:<8} {:>6} {:>12} {:>10}  {}\n",
        array.number,
        stages,
        array.group.name(),
        array.tasks,
        format!("{}{}", mark(resources.is_memory_predicted), show_size(resources.bytes)),
        format!("{}{}", mark(resources.is_time_predicted), span(resources.seconds)),
        if after.is_empty() { "-".to_owned() } else { after.join(", ") },
    )
}

/// A time limit: `2 h 30 min`.
fn span(seconds: u64) -> String {
    match (seconds / 3600, seconds / 60 % 60) {
        (0, minutes) => format!("{minutes} min"),
        (hours, 0) => format!("{hours} h"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}
