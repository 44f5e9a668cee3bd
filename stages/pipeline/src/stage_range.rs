//! stage_range: which stages `warploom pipeline` runs: `--from` a stage or a given artifact,
//! `--until` a stage.
//!
//! promises  a stage before the range is looked up and never built; a given artifact stands for
//!           everything before it, with the artifacts that it was made from
//! never     takes an artifact of another data set than the pipeline's
use std::collections::BTreeMap;

use warploom_contract::{Artifact, ErrorKind, Key, Kind, StageError};
use warploom_shell::{Chain, Environment, StageName};
use warploom_spec::shell_word;

use crate::{artifacts::store_option, usage_error};

/// Finds the artifacts of a key by its first digits.
pub type Find = fn(&Environment, &str) -> Result<Vec<Artifact>, StageError>;

/// The stages to run, and what stands for those before them.
pub struct StageRange {
    first: usize,
    last: usize,
    given: Option<Given>,
}

/// A given artifact and what it was made from.
struct Given {
    /// The artifacts of each stage.
    artifacts: BTreeMap<StageName, Vec<Artifact>>,
    /// Its data set, if it has one.
    dataset: Option<String>,
}

impl StageRange {
    /// Reads `--from`, a stage or what `find` finds, and `--until`.
    pub fn read(
        environment: &Environment,
        from: Option<&str>,
        until: Option<&str>,
        find: Find,
    ) -> Result<StageRange, StageError> {
        let (first, given) = match from {
            None => (0, None),
            Some(word) => match stage_of(word) {
                Some(stage) => (stage as usize, None),
                None => read_given(environment, word, find).map(|(at, given)| (at, Some(given)))?,
            },
        };
        let last =
            until.and_then(stage_of).map_or(StageName::ALL.len() - 1, |stage| stage as usize);
        if first > last {
            let what = match from {
                Some(word) if first < StageName::ALL.len() => {
                    format!("`--until {}` is before `--from {word}`", StageName::ALL[last])
                }
                _ => "a run is the last artifact: no stage comes after it".to_owned(),
            };
            let hint = format!("the stages are, in order:  {}", StageName::NAMES.join(" "));
            return Err(usage_error(what, hint));
        }
        Ok(StageRange { first, last, given })
    }

    /// The stages to run.
    pub fn stages(&self) -> &'static [StageName] {
        &StageName::ALL[self.first..=self.last]
    }

    /// Whether the last stage runs.
    pub fn includes_run(&self) -> bool {
        self.stages().contains(&StageName::Run)
    }

    /// Makes what is before the range available to a chain; builds nothing.
    pub fn prepare(&self, chain: &mut Chain<'_>) -> Result<(), StageError> {
        let Some(given) = &self.given else {
            return match self.first {
                0 => Ok(()),
                first => chain.look_up_before(StageName::ALL[first]),
            };
        };
        let pipeline = chain.pipeline;
        if let Some(dataset) = given.dataset.as_ref().filter(|name| **name != pipeline.dataset) {
            let what = format!(
                "the given artifact is of the data set `{dataset}`, and the pipeline is for `{}`",
                pipeline.dataset
            );
            let hint = format!("--set {}", shell_word(&format!("dataset={dataset}")));
            return Err(StageError::new(ErrorKind::Input, what).hint(hint));
        }
        for artifacts in given.artifacts.values() {
            if let Some(artifact) = artifacts.first() {
                chain.lease(&artifact.manifest.key);
            }
            chain.add_available(artifacts);
        }
        Ok(())
    }
}

/// The stage of a name.
fn stage_of(name: &str) -> Option<StageName> {
    StageName::ALL.into_iter().find(|stage| stage.name() == name)
}

/// The artifact of a key with everything that it was made from, and the place of the stage after
/// the one that made it.
fn read_given(
    environment: &Environment,
    word: &str,
    find: Find,
) -> Result<(usize, Given), StageError> {
    let found = find(environment, word).map_err(|error| {
        let stages = StageName::NAMES.join(", ");
        let hint = error.hint.clone().unwrap_or_default();
        error.hint(format!("`--from` takes a stage ({stages}) or a key; {hint}"))
    })?;
    let made = &found[0].manifest;
    let stage = stage_of(&made.producer.stage).filter(|_| found[0].kind != Kind::Checkpoint);
    let stage = stage.ok_or_else(|| {
        let what = format!("no stage reads a `{}` that is given", found[0].kind.name());
        usage_error(what, "give the key of a graph, csr, partition or plan")
    })?;
    let mut artifacts = BTreeMap::new();
    add_stage(environment, stage, &made.key, &mut artifacts)?;
    let dataset = artifacts.get(&StageName::Ingest).and_then(|graph: &Vec<Artifact>| {
        let request = &graph.first()?.manifest.key_document.request;
        request.get("dataset")?.as_str().map(str::to_owned)
    });
    Ok((stage as usize + 1, Given { artifacts, dataset }))
}

/// Adds the artifacts of a stage under a key, and those that they were made from.
fn add_stage(
    environment: &Environment,
    stage: StageName,
    key: &Key,
    artifacts: &mut BTreeMap<StageName, Vec<Artifact>>,
) -> Result<(), StageError> {
    if artifacts.contains_key(&stage) {
        return Ok(());
    }
    let mut own = Vec::new();
    for &kind in stage.contract().writes {
        let found = environment.store.find(kind, key)?.ok_or_else(|| {
            let what = format!(
                "the {} {} belongs to what is given, and is not in the store",
                kind.name(),
                key.short()
            );
            StageError::new(ErrorKind::Input, what)
                .at(environment.store.path(kind, key).display())
                .hint(format!(
                    "warploom store ls{}  lists what there is",
                    store_option(environment)
                ))
        })?;
        own.push(found);
    }
    let inputs: Vec<_> = own.iter().flat_map(|made| made.manifest.inputs.clone()).collect();
    artifacts.insert(stage, own);
    for input in inputs {
        let kind = Kind::parse(&input.kind);
        let writer = kind.and_then(|kind| environment.store.find(kind, &input.key).transpose());
        let stage = match writer.transpose()? {
            Some(made) => stage_of(&made.manifest.producer.stage),
            None => kind.and_then(StageName::first_writer),
        };
        if let Some(stage) = stage {
            add_stage(environment, stage, &input.key, artifacts)?;
        }
    }
    Ok(())
}
