//! edge_schedules: the divisions that `plan.schedule` asks `partition` for, beside those of
//! `partition.scheme`.
//!
//! promises  a schedule by groups is built without a second setting; numbers of an entry are those
//!           of the division, or an error names the entry
//! never     knows the launches of a program
use warploom_contract::{ErrorKind, StageError};
use warploom_spec::{LaunchSchedule, MistakeKind, PartitionSpec, Pipeline, Scheme};

use crate::stage_errors::mistake_error;

/// The settings of `partition` with all that `plan.schedule` asks for.
pub fn partition_settings(pipeline: &Pipeline) -> Result<PartitionSpec, StageError> {
    let mut spec = pipeline.partition.clone();
    let asked = pipeline.plan.schedule.named().into_iter().filter_map(|schedule| schedule.scheme());
    // The division of a program is the one that `file` stands for.
    let is_there = |scheme: Scheme| {
        scheme == Scheme::Rows || scheme == Scheme::File && spec.scheme.contains(&Scheme::Program)
    };
    let asked: Vec<Scheme> = asked.filter(|scheme| !is_there(*scheme)).collect();
    if !asked.is_empty() {
        let named = spec.scheme.iter().copied().filter(|scheme| *scheme != Scheme::Auto);
        spec.scheme = warploom_spec::OneOrMore::from_values(named.chain(asked));
    }
    take_numbers(&mut spec, pipeline.plan.schedule.entries())?;
    let by_groups = |scheme: &Scheme| {
        matches!(scheme, Scheme::NeighbourGroups | Scheme::File | Scheme::Program)
    };
    if spec.scheme.iter().any(by_groups) && !spec.dw.is_power_of_two() {
        let what = format!(
            "the lanes of a group are a power of two: expected 1, 2, 4, 8, 16 or 32, found `{}`",
            spec.dw
        );
        let hint = format!("--set partition.dw={}", spec.dw.next_power_of_two());
        return Err(StageError::new(ErrorKind::Specification, what).at("partition.dw").hint(hint));
    }
    Ok(spec)
}

/// Takes the numbers of entries over; a run has one division by groups of neighbours.
fn take_numbers(spec: &mut PartitionSpec, entries: &[LaunchSchedule]) -> Result<(), StageError> {
    let given = PartitionSpec::default();
    let mut taken: Vec<(&'static str, u64, String)> = Vec::new();
    for (number, default, own) in [
        ("ngs", given.ngs, spec.ngs),
        ("dw", given.dw, spec.dw),
        ("block_threads", given.block_threads, spec.block_threads),
    ] {
        if own != default {
            taken.push((number, own, format!("`partition.{number}`")));
        }
    }
    for (place, entry) in (1..).zip(entries) {
        for (name, number) in entry.numbers() {
            match taken.iter().find(|(known, ..)| *known == name) {
                Some((_, known, _)) if *known == number => {}
                Some((_, known, whose)) => {
                    let what = format!(
                        "entry {place} of `plan.schedule` asks for `{name}` of {number}, and \
                         {whose} for {known}: a run has one division by groups"
                    );
                    let label = format!("expected {known}, found {number}");
                    let mistake = entry.place.clone().mistake(MistakeKind::OutOfRange, what, label);
                    return Err(mistake_error(
                        &mistake.hint(format!("write {known} there, or leave `{name}` out")),
                    ));
                }
                None => taken.push((name, number, format!("entry {place}"))),
            }
        }
    }
    for (name, number, _) in taken {
        match name {
            "ngs" => spec.ngs = number,
            "dw" => spec.dw = number,
            _ => spec.block_threads = number,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn settings(text: &str) -> Result<PartitionSpec, StageError> {
        let text = format!("dataset: cora\nplan: {{program: gcn.py, schedule: {text}}}\n");
        let read = warploom_spec::read_text(&text, Path::new("a.yaml"), &[]).unwrap();
        partition_settings(&read[0])
    }

    #[test]
    fn a_schedule_asks_for_its_division() {
        let schemes = |text: &str| {
            let spec = settings(text).unwrap();
            spec.scheme.iter().map(|scheme| scheme.name()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            ["auto", "rows", "neighbour-groups"].map(schemes),
            ["auto", "auto", "neighbour-groups"]
        );
        let entries =
            "[{for: sum, use: neighbour-groups, ngs: 8, dw: 16}, {for: '*.1', use: rows}]";
        let spec = settings(entries).unwrap();
        assert_eq!((spec.ngs, spec.dw, spec.block_threads), (8, 16, 128));
        assert_eq!(schemes(entries), "neighbour-groups");
    }

    #[test]
    fn numbers_that_differ_or_do_not_fit_are_refused() {
        let error = settings(
            "[{for: sum, use: neighbour-groups, ngs: 8}, {for: a, use: neighbour-groups, ngs: 9}]",
        )
        .unwrap_err();
        assert!(error.what.contains("entry 2") && error.what.contains("entry 1 for 8"), "{error}");
        let error = settings("[{for: sum, use: neighbour-groups, dw: 12}]").unwrap_err();
        assert!(error.hint.is_some_and(|hint| hint == "--set partition.dw=16"));
    }
}
