//! `warploom explain`: hit or miss by stage, and the choices of the plan with their reasons.
use warploom_contract::{Kind, StageError, kinds};
use warploom_shell::{Chain, Environment, explain::explain_all, limits::show_size, talk::Talk};
use warploom_spec::Pipeline;
use warploom_vertex::launch::LaunchList;

/// Explains every variant of a pipeline file.
pub fn explain(environment: &Environment, _talk: &Talk, pipelines: &[Pipeline]) -> Result<(), StageError> {
    let mut quiet = environment.clone();
    quiet.network = false;
    for pipeline in pipelines {
        let mut chain = Chain::new(&quiet, pipeline);
        let all = explain_all(&mut chain)?;
        let choices = choices(&chain)?;
        crate::print_as(
            environment,
            || {
                let mut text = format!("{} on {}\n", pipeline.name, pipeline.dataset);
                all.iter().for_each(|explanation| text += &explanation.to_text());
                choices.iter().for_each(|choice| text += &choice.text);
                text
            },
            || all.iter().map(|explanation| explanation.to_json()).chain(choices.iter().map(|choice| choice.json.clone())).collect(),
        );
    }
    Ok(())
}

/// Launches that are told one by one.
const TOLD: usize = 8;

/// What a step should take, the launches that take most of it, and how their edges are cut.
fn predicted(predicted: &kinds::plan::Predicted) -> String {
    let milliseconds = |nanoseconds: u64| format!("{:.3} ms", nanoseconds as f64 / 1e6);
    let mut text = format!("predicted step: {}, most of it in\n", milliseconds(predicted.nanoseconds_step));
    let mut launches: Vec<&kinds::plan::PredictedLaunch> = predicted.launches.iter().collect();
    launches.sort_by_key(|launch| std::cmp::Reverse(launch.nanoseconds));
    for launch in launches.into_iter().take(TOLD) {
        text += &format!("  {}: {} ({})\n", launch.name, milliseconds(launch.nanoseconds), launch.limit);
        if let Some(grouping) = &launch.grouping {
            text += &format!(
                "      groups of {} neighbours, {} lanes each, {} threads a block, {} bytes shared ({})\n",
                grouping.neighbours, grouping.lanes, grouping.threads, grouping.shared_bytes, grouping.why
            );
            for (name, nanoseconds) in &grouping.alternatives {
                text += &format!("      {name}: {}\n", milliseconds(*nanoseconds));
            }
        }
    }
    text
}

/// What each division takes, table by table, and what of it lies empty.
fn divided(page: &kinds::partition::Partition) -> String {
    let mut text = String::new();
    for division in &page.schemes {
        let padding = division.padding.map_or_else(String::new, |padding| format!(", {} of {} places empty", padding.empty, padding.places));
        text += &format!("\npartition: {} ({}), {}{padding}\n", division.scheme.name(), division.why, show_size(division.bytes()));
        for table in &division.tables {
            let columns: Vec<String> = table.columns.iter().map(|column| format!("{} {}", column.name, column.width.name())).collect();
            text += &format!("      {}: {} rows, {} ({})\n", table.name, table.rows, show_size(table.bytes()), columns.join(", "));
        }
    }
    text
}

struct Choice {
    text: String,
    json: serde_json::Value,
}

/// What an order was worth, before and after.
fn order_text(quality: &kinds::permutation::Quality) -> String {
    let (before, after) = (&quality.before, &quality.after);
    let (was, is) = (&before.order, &after.order);
    let mut text = format!(
        "\nreorder: {} ({})\n         AES {:.1} -> {:.1}, bandwidth {} -> {}, profile {} -> {}, lines per 32 edges {:.2} -> {:.2}\n",
        quality.method, quality.why, was.aes, is.aes, was.bandwidth, is.bandwidth, before.profile, after.profile, was.lines_per_32_edges, is.lines_per_32_edges
    );
    for (was, is) in before.windows.iter().zip(&after.windows) {
        text += &format!("         windows of {} rows: {:.1}% -> {:.1}% full\n", was.rows, 100.0 * was.density, 100.0 * is.density);
    }
    for (was, is) in before.predicted.iter().zip(&after.predicted) {
        let [from, to, through] = [was.memory_bytes, is.memory_bytes, is.cache_bytes].map(warploom_shell::limits::show_size);
        text += &format!("         a sum of {} columns on {}: {from} -> {to} to and from memory, {through} through the cache\n", is.columns, is.device);
    }
    if let Some(found) = &quality.communities {
        text += &format!("         communities: {}, modularity {:.4}, largest of {} nodes\n", found.count, found.modularity, found.largest);
    }
    if let Some(cut) = &quality.cut {
        text += &format!("         {} parts, {} pairs of neighbours cut, largest part {:.3} of the mean\n", cut.parts, cut.pairs, cut.imbalance);
    }
    text
}

/// What reorder, partition and plan chose, if they are in the store.
fn choices(chain: &Chain<'_>) -> Result<Vec<Choice>, StageError> {
    let mut found = Vec::new();
    if let Some(artifact) = chain.available(Kind::Permutation) {
        let quality: kinds::permutation::Quality = kinds::read_json(&artifact.file(kinds::permutation::QUALITY_FILE))?;
        let text = order_text(&quality);
        found.push(Choice { text, json: serde_json::json!({"choice": "reorder", "quality": quality}) });
    }
    if let Some(artifact) = chain.available(Kind::Partition) {
        let page = kinds::partition::open(artifact)?;
        found.push(Choice { text: divided(&page), json: serde_json::json!({"choice": "partition", "schemes": page.schemes}) });
    }
    if let Some(artifact) = chain.available(Kind::Plan) {
        let plan = kinds::plan::open(artifact)?;
        let list: LaunchList =
            serde_json::from_value(plan.launches.clone()).map_err(|error| StageError::damaged(&artifact.file("plan.json"), error.to_string()))?;
        let mut text = format!("\nplan: {} for {}, predicted peak {}\n", plan.mode, plan.device["name"], show_size(plan.memory.bytes_peak));
        text += &predicted(&plan.predicted);
        for reason in &list.reasons {
            text += &format!("  {}: {} ({})\n", reason.what, reason.chosen, reason.why);
            for (name, bytes) in &reason.alternatives {
                text += &format!("      {name}: {}\n", show_size(*bytes));
            }
        }
        text += &format!("\n{}", list.render());
        found.push(Choice { text, json: serde_json::json!({"choice": "plan", "reasons": list.reasons, "memory": plan.memory, "predicted": plan.predicted}) });
    }
    Ok(found)
}
