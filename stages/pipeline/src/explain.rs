//! explain: `warploom explain`: cache hits and misses by stage, and the choices of the plan with
//! reasons.
//!
//! promises  the decisive figures on one page, equal reasons once; with `-v` every table, launch
//!           and reason, in the same units; the checkpoint that a run would resume from; nothing
//!           about other devices
mod kernels;

use std::collections::BTreeMap;

use warploom_contract::{Key, Kind, StageError, kinds};
use warploom_launch::{LaunchList, Reason};
use warploom_shell::{
    Chain, Environment, StageName,
    explain::{Explanation, explain_range},
    machine_limits::show_size,
    memory_budget,
    progress::Talk,
    stage_range::StageRange,
};
use warploom_spec::Pipeline;

/// Explains a range of stages of every variant of a pipeline file.
pub fn explain(
    environment: &Environment,
    talk: &Talk,
    pipelines: &[Pipeline],
    range: &StageRange,
) -> Result<(), StageError> {
    let mut quiet = environment.clone();
    quiet.network = false;
    for pipeline in pipelines {
        let mut chain = Chain::new(&quiet, pipeline);
        let mut all = explain_range(&mut chain, range)?;
        if let Some(run) = all.last_mut().filter(|last| last.stage == StageName::Run) {
            add_saved_state(&chain, run);
        }
        let is_verbose = talk.is_verbose();
        let choices = stage_choices(&chain, range, is_verbose)?;
        crate::print_as(
            environment,
            || {
                let mut text = format!("{} on {}\n", pipeline.name, pipeline.dataset);
                all.iter().for_each(|explanation| text += &explanation.to_text(is_verbose));
                choices.iter().for_each(|choice| text += &choice.text);
                if !is_verbose && !choices.is_empty() {
                    text += "\nall of it:  -v\n";
                }
                text
            },
            || {
                all.iter()
                    .map(|explanation| explanation.to_json())
                    .chain(choices.iter().map(|choice| choice.json.clone()))
                    .collect()
            },
        );
    }
    Ok(())
}

/// Adds the checkpoint from which a missing run would resume.
fn add_saved_state(chain: &Chain<'_>, run: &mut Explanation) {
    let key = run.key.as_deref().filter(|_| run.status == "miss").and_then(Key::parse);
    let Some(step) =
        key.and_then(|key| kinds::checkpoint::steps(&chain.environment.store, &key).pop())
    else {
        return;
    };
    let learns = chain
        .available(Kind::Plan)
        .and_then(|plan| kinds::plan::open(plan).ok())
        .is_some_and(|plan| plan.mode == "train");
    run.why = format!(
        "resumes after {} {}; {}",
        if learns { "epoch" } else { "superstep" },
        step.number,
        run.why
    );
}

/// Launches that are listed one by one.
const LAUNCHES_SHOWN: usize = 8;

/// Predicted time of a step, the longest launches, and their neighbour groups.
fn predicted_text(predicted: &kinds::plan::Predicted) -> String {
    let milliseconds = |nanoseconds: u64| format!("{:.3} ms", nanoseconds as f64 / 1e6);
    let mut text =
        format!("predicted step: {}, most of it in\n", milliseconds(predicted.nanoseconds_step));
    let mut launches: Vec<&kinds::plan::PredictedLaunch> = predicted.launches.iter().collect();
    launches.sort_by_key(|launch| std::cmp::Reverse(launch.nanoseconds));
    for launch in launches.into_iter().take(LAUNCHES_SHOWN) {
        text += &format!(
            "  {}: {} ({})\n",
            launch.name,
            milliseconds(launch.nanoseconds),
            launch.limit
        );
        if let Some(grouping) = &launch.grouping {
            text += &format!(
                "      fastest as predicted: groups of {} neighbours, {} lanes each, {} threads a \
                 block, {} bytes shared ({})\n",
                grouping.neighbours,
                grouping.lanes,
                grouping.threads,
                grouping.shared_bytes,
                grouping.why
            );
            for (name, nanoseconds) in &grouping.alternatives {
                text += &format!("      {name}: {}\n", milliseconds(*nanoseconds));
            }
        }
    }
    text
}

/// Groups of launches in a summary.
const GROUPS_SHOWN: usize = 4;

/// Predicted time of a step, and the longest launches, grouped by kind.
fn predicted_summary(predicted: &kinds::plan::Predicted) -> String {
    let milliseconds = |nanoseconds: u64| format!("{:.3} ms", nanoseconds as f64 / 1e6);
    let mut groups: BTreeMap<(String, &str), (u64, u64)> = BTreeMap::new();
    for launch in &predicted.launches {
        let (count, nanoseconds) =
            groups.entry((launch_family(&launch.name), launch.limit.as_str())).or_default();
        (*count, *nanoseconds) = (*count + 1, *nanoseconds + launch.nanoseconds);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, (_, nanoseconds))| std::cmp::Reverse(*nanoseconds));
    let mut text = format!(
        "predicted step: {}, {} launches, most of it in\n",
        milliseconds(predicted.nanoseconds_step),
        predicted.launches.len()
    );
    for ((name, limit), (count, nanoseconds)) in groups.into_iter().take(GROUPS_SHOWN) {
        text +=
            &format!("  {name}{}: {} ({limit})\n", times_text(count), milliseconds(nanoseconds));
    }
    text
}

/// The kind of a launch: at most two parts of its name, up to its first number.
fn launch_family(name: &str) -> String {
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = name.split('.').take_while(|part| !is_number(part)).take(2).collect();
    if parts.is_empty() { name.to_owned() } else { parts.join(".") }
}

/// The multiplicity, if above one.
fn times_text(count: u64) -> String {
    if count == 1 { String::new() } else { format!(" x {count}") }
}

/// Reasons, a line each: those that differ only in numbers are merged, with the sums of their
/// bytes.
fn reasons_summary(reasons: &[Reason]) -> String {
    struct Group<'a> {
        first: &'a Reason,
        count: u64,
        bytes: BTreeMap<&'a str, u64>,
    }
    let mut groups: Vec<(String, Group)> = Vec::new();
    for reason in reasons {
        let key = format!(
            "{}: {} ({})",
            strip_numbers(&reason.what),
            reason.chosen,
            strip_numbers(&reason.why)
        );
        let at = groups.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            groups.push((key, Group { first: reason, count: 0, bytes: BTreeMap::new() }));
            groups.len() - 1
        });
        let group = &mut groups[at].1;
        group.count += 1;
        reason
            .alternatives
            .iter()
            .for_each(|(name, bytes)| *group.bytes.entry(name).or_default() += bytes);
    }
    let mut text = String::new();
    for (_, Group { first, count, bytes }) in groups {
        let bytes: Vec<String> = bytes
            .into_iter()
            .map(|(name, bytes)| format!("{name}: {}", show_size(bytes)))
            .collect();
        let bytes =
            if bytes.is_empty() { String::new() } else { format!("; {}", bytes.join(", ")) };
        text += &format!(
            "  {}{}: {} ({}){bytes}\n",
            first.what,
            times_text(count),
            first.chosen,
            format_byte_counts(&first.why)
        );
    }
    text
}

/// A text without its numbers.
fn strip_numbers(text: &str) -> String {
    let mut plain: String =
        text.chars().map(|letter| if letter.is_ascii_digit() { '#' } else { letter }).collect();
    while plain.contains("##") {
        plain = plain.replace("##", "#");
    }
    plain
}

/// Replaces byte counts in a text by readable sizes.
fn format_byte_counts(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let size = |word: &str| -> Option<String> {
        let digits = word.trim_end_matches([',', ';', ':', ')']);
        Some(format!("{}{}", show_size(digits.parse().ok()?), &word[digits.len()..]))
    };
    let mut made = Vec::new();
    let mut rest = words.iter().peekable();
    let mut of_bytes = false;
    while let Some(word) = rest.next() {
        let unit = rest.peek().map_or("", |next| next.trim_end_matches([',', ';', ':', ')']));
        match size(word) {
            Some(shown) if unit == "bytes" => {
                let behind = rest.next().map_or("", |next| &next["bytes".len()..]);
                made.push(format!("{shown}{behind}"));
                of_bytes = true;
            }
            Some(shown)
                if of_bytes
                    && (made.ends_with(&["against".to_owned()])
                        || made.ends_with(&["instead".to_owned(), "of".to_owned()])) =>
            {
                made.push(shown)
            }
            _ => made.push((*word).to_owned()),
        }
    }
    made.join(" ")
}

/// The size of each partitioning scheme, and its reason.
fn partition_summary(page: &kinds::partition::Partition) -> String {
    let told = |division: &kinds::partition::Division| {
        format!("{} ({}), {}", division.scheme.name(), division.why, show_size(division.bytes()))
    };
    format!("partition: {}\n", page.schemes.iter().map(told).collect::<Vec<_>>().join("; "))
}

/// The chosen order, and why.
fn order_summary(quality: &kinds::permutation::Quality) -> String {
    let aes = match quality.method.as_str() {
        "none" => String::new(),
        _ => format!(
            "; an edge spans {:.0} rows on average, {:.0} before",
            quality.after.order.aes, quality.before.order.aes
        ),
    };
    format!("\nreorder: {}, {}{aes}\n", quality.method, quality.why)
}

/// The size of each partitioning scheme, by table, with its padding.
fn partition_text(page: &kinds::partition::Partition) -> String {
    let mut text = String::new();
    for division in &page.schemes {
        let padding = division.padding.map_or_else(String::new, |padding| {
            format!(", {} of {} places empty", padding.empty, padding.places)
        });
        text += &format!(
            "\npartition: {} ({}), {}{padding}\n",
            division.scheme.name(),
            division.why,
            show_size(division.bytes())
        );
        for table in &division.tables {
            let columns: Vec<String> = table
                .columns
                .iter()
                .map(|column| format!("{} {}", column.name, column.width.name()))
                .collect();
            text += &format!(
                "      {}: {} rows, {} ({})\n",
                table.name,
                table.rows,
                show_size(table.bytes()),
                columns.join(", ")
            );
        }
    }
    text
}

/// A reason, with the cost of each alternative.
fn reason_text(reason: &Reason) -> String {
    let mut text =
        format!("  {}: {} ({})\n", reason.what, reason.chosen, format_byte_counts(&reason.why));
    for (name, bytes) in &reason.alternatives {
        text += &format!("      {name}: {}\n", show_size(*bytes));
    }
    text
}

struct Choice {
    text: String,
    json: serde_json::Value,
}

/// The metrics of an order, before and after.
fn order_text(quality: &kinds::permutation::Quality, device: &str) -> String {
    let (before, after) = (&quality.before, &quality.after);
    let (was, is) = (&before.order, &after.order);
    let weighed = quality
        .weighed
        .as_ref()
        .map_or_else(String::new, |weighed| format!("\n         {weighed}"));
    let mut text = format!(
        "\nreorder: {}, {}{weighed}\n         AES {:.1} -> {:.1}, bandwidth {} -> {}, profile {} \
            -> {}, lines per 32 edges {:.2} -> {:.2}\n",
        quality.method,
        quality.why,
        was.aes,
        is.aes,
        was.bandwidth,
        is.bandwidth,
        before.profile,
        after.profile,
        was.lines_per_32_edges,
        is.lines_per_32_edges
    );
    for (was, is) in before.windows.iter().zip(&after.windows) {
        text += &format!(
            "         windows of {} rows: {:.1}% -> {:.1}% full\n",
            was.rows,
            100.0 * was.density,
            100.0 * is.density
        );
    }
    for (was, is) in
        before.predicted.iter().zip(&after.predicted).filter(|(was, _)| was.device == device)
    {
        let [from, to, through] = [was.memory_bytes, is.memory_bytes, is.cache_bytes]
            .map(warploom_shell::machine_limits::show_size);
        text += &format!(
            "         a sum of {} columns on {}: {from} -> {to} to and from memory, {through} \
                through the cache\n",
            is.columns, is.device
        );
    }
    if let Some(found) = &quality.communities {
        text += &format!(
            "         communities: {}, modularity {:.4}, largest of {} nodes\n",
            found.count, found.modularity, found.largest
        );
    }
    if let Some(cut) = &quality.cut {
        text += &format!(
            "         {} parts, {} pairs of neighbours cut, largest part {:.3} of the mean\n",
            cut.parts, cut.pairs, cut.imbalance
        );
    }
    text
}

/// The predicted peak memory, and the request for a scheduler.
fn peak_text(memory: &kinds::plan::Memory, chain: &Chain<'_>) -> String {
    let own = memory_budget::predicted_peak(memory, &chain.pipeline.run, chain.environment.threads);
    let slurm = memory_budget::slurm_hint(own, memory.bytes_mapped)
        .map(|words| format!("  {words}\n"))
        .unwrap_or_default();
    format!(
        "  peak memory: predicted {}\n{slurm}",
        memory_budget::format_peak(own, memory.bytes_mapped)
    )
}

/// The choices of reorder, partition and plan, if they are in the range and in the store.
fn stage_choices(
    chain: &Chain<'_>,
    range: &StageRange,
    is_verbose: bool,
) -> Result<Vec<Choice>, StageError> {
    let mut found = Vec::new();
    let made = |stage, kind| chain.available(kind).filter(|_| range.includes(stage));
    if let Some(artifact) = made(StageName::Reorder, Kind::Permutation) {
        let device = chain.environment.device_facts(chain.pipeline)?.name;
        let quality: kinds::permutation::Quality =
            kinds::read_json(&artifact.file(kinds::permutation::QUALITY_FILE))?;
        let text = if is_verbose { order_text(&quality, &device) } else { order_summary(&quality) };
        found.push(Choice {
            text,
            json: serde_json::json!({"choice": "reorder", "quality": quality}),
        });
    }
    if let Some(artifact) = made(StageName::Partition, Kind::Partition) {
        let page = kinds::partition::open(artifact)?;
        let text = if is_verbose { partition_text(&page) } else { partition_summary(&page) };
        found.push(Choice {
            text,
            json: serde_json::json!({"choice": "partition", "schemes": page.schemes}),
        });
    }
    if let Some(artifact) = made(StageName::Plan, Kind::Plan) {
        let (plan, advice) = (kinds::plan::open(artifact)?, kinds::plan::open_advice(artifact)?);
        let wrong = |error: serde_json::Error| {
            StageError::damaged(&artifact.file(kinds::plan::ADVICE_FILE), error.to_string())
        };
        let reasons: Vec<Reason> = serde_json::from_value(advice.reasons).map_err(wrong)?;
        let list: LaunchList = serde_json::from_value(plan.launches.clone())
            .map_err(|error| StageError::damaged(&artifact.file("plan.json"), error.to_string()))?;
        let before = if is_verbose { "\n" } else { "" };
        let mut text = format!(
            "{before}plan: {} for {}\n{}",
            plan.mode,
            plan.device["name"],
            peak_text(&advice.memory, chain)
        );
        let kernels = kernels::list_kernels(artifact, &plan, &list, &advice.predicted)?;
        if is_verbose {
            text += &predicted_text(&advice.predicted);
            text += &kernels::table(&kernels);
            reasons.iter().for_each(|reason| text += &reason_text(reason));
            let listing = LaunchList { reasons: Vec::new(), ..list.clone() }.render();
            text += &format!(
                "\n{}",
                listing.lines().map(|line| format_byte_counts(line) + "\n").collect::<String>()
            );
        } else {
            text += &predicted_summary(&advice.predicted);
            text += &reasons_summary(&reasons);
        }
        found.push(Choice { text, json: serde_json::json!({"choice": "plan", "reasons": reasons, "memory": advice.memory, "predicted": advice.predicted, "kernels": kernels}) });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(what: &str, why: &str, alternatives: &[(&str, u64)]) -> Reason {
        let alternatives =
            alternatives.iter().map(|(name, bytes)| ((*name).to_owned(), *bytes)).collect();
        Reason {
            what: what.to_owned(),
            chosen: "the other way".to_owned(),
            why: why.to_owned(),
            alternatives,
        }
    }

    #[test]
    fn reasons_that_differ_in_numbers_alone_are_one_line() {
        let of = |number: u64| {
            let why = format!(
                "the product makes 4 columns of 16; {} bytes an epoch against 9824640",
                4_000_000 + number
            );
            reason(
                &format!("product transposed (%{number})"),
                &why,
                &[("as written", 1 << 20), ("the other way", 1 << 19)],
            )
        };
        let text =
            reasons_summary(&[of(10), of(11), reason("fusion", "fewer launches", &[]), of(12)]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(
            lines[0].starts_with("  product transposed (%10) x 3: the other way (")
                && lines[0].contains("3.81 MiB an epoch against 9.37 MiB"),
            "{text}"
        );
        assert!(lines[0].ends_with("; as written: 3.00 MiB, the other way: 1.50 MiB"), "{text}");
        assert_eq!(lines[1], "  fusion: the other way (fewer launches)");
    }

    #[test]
    fn bytes_are_said_as_sizes() {
        let fused = "5437 launches instead of 6846, 2846882680 bytes instead of 3739654640";
        assert_eq!(
            format_byte_counts(fused),
            "5437 launches instead of 6846, 2.65 GiB instead of 3.48 GiB"
        );
        assert_eq!(
            format_byte_counts("h = sum(x) | 21668 bytes, rows of 16"),
            "h = sum(x) | 21.2 KiB, rows of 16"
        );
        assert_eq!(launch_family("back.sum.1"), "back.sum");
        assert_eq!(
            [
                launch_family("divide.6232"),
                launch_family("update.rgcn.relational.0.w"),
                launch_family("7")
            ],
            ["divide", "update.rgcn", "7"]
        );
    }
}
