//! repeat: `run.repeat`: one pipeline becomes several that differ only in their seed.
//!
//! promises  the repeats of a variant are consecutive, by ascending seed; each equals a single
//!           pipeline with its seed, so that it has the same key; matrix and repeats together give
//!           at most `VARIANTS_MAX` pipelines
//! never     lets a seed wrap around: one beyond the largest is a mistake
use crate::{
    Pipeline,
    matrix::VARIANTS_MAX,
    mistake::MistakeKind,
    node::{Node, Span, Value},
    reader::Reader,
};

/// The position of a pipeline among several runs with different seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// From 0.
    pub number: u64,
    /// How many there are, at least 2.
    pub count: u64,
}

/// Appends the repeats of a pipeline.
pub(crate) fn add_repeats(
    mut pipeline: Pipeline,
    node: &Node,
    pipelines: &mut Vec<Pipeline>,
    reader: &mut Reader<'_>,
) {
    let count = std::mem::replace(&mut pipeline.run.repeat, 1);
    pipeline.changed.retain(|(name, _)| name != "run.repeat");
    if count == 1 {
        return pipelines.push(pipeline);
    }
    let first = pipeline.run.seed;
    let Some(last) = first.checked_add(count - 1) else {
        let most = u64::MAX - (count - 1);
        let what = format!("{count} repeats from `run.seed: {first}` go beyond the largest seed");
        return report_mistake(
            reader,
            setting_span(node, "seed"),
            what,
            format!("expected at most {most}, found {first}"),
            "start from a smaller  run.seed",
        );
    };
    if pipelines.len() as u64 + count > VARIANTS_MAX as u64 {
        let what = "the matrix and `run.repeat` ask for too many variants".to_owned();
        let label =
            format!("expected at most {VARIANTS_MAX} together, found more with {count} repeats");
        return report_mistake(
            reader,
            setting_span(node, "repeat"),
            what,
            label,
            "split the sweep over several files, or lower  run.repeat",
        );
    }
    for (seed, number) in (first..=last).zip(0..) {
        let mut own = pipeline.clone();
        own.run.seed = seed;
        own.changed.retain(|(name, _)| name != "run.seed");
        own.changed.push(("run.seed".to_owned(), seed.to_string()));
        own.repeat = Some(Repeat { number, count });
        pipelines.push(own);
    }
}

/// The place of a setting of `run`; else the first place of the file.
fn setting_span(node: &Node, setting: &str) -> Span {
    let entry = |node: &'_ Node, name: &str| match &node.value {
        Value::Mapping(entries) => {
            entries.iter().find(|(key, _)| key.text == name).map(|(_, node)| node.clone())
        }
        _ => None,
    };
    entry(node, "run")
        .and_then(|run| entry(&run, setting))
        .map_or(Span { length: 1, ..node.span }, |found| found.span)
}

fn report_mistake(reader: &mut Reader<'_>, span: Span, what: String, label: String, hint: &str) {
    let mistake = reader.place(span).mistake(MistakeKind::OutOfRange, what, label);
    reader.report(span, mistake.hint(hint));
}
