//! stage_range: which stages of a pipeline a command is about: `--from` a stage or a given
//! artifact, `--until` a stage.
//!
//! promises  a stage before the range is looked up and never built; a given artifact stands for
//!           everything before it, with the artifacts that it was made from
//! never     takes an artifact of another data set than the pipeline's
use std::collections::BTreeMap;

use clap::builder::PossibleValuesParser;
use warploom_contract::{Artifact, ErrorKind, Key, Kind, StageError};
use warploom_spec::{nearest, shell_word};

use crate::{Chain, Environment, StageName};

/// Finds the artifacts of a key by its first digits.
pub type Find = fn(&Environment, &str) -> Result<Vec<Artifact>, StageError>;

/// The options of commands that go through the stages of a pipeline file.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct RangeOptions {
    /// First stage, those before it are looked up in the store and never built; or the key of an
    /// artifact that stands for everything before it
    #[arg(long, value_name = "STAGE|KEY")]
    pub from: Option<String>,
    /// Last stage
    #[arg(
        long,
        value_name = "STAGE",
        value_parser = PossibleValuesParser::new(StageName::NAMES)
    )]
    pub until: Option<String>,
}

impl RangeOptions {
    /// The options that are given, by name.
    pub fn named(&self) -> impl Iterator<Item = &'static str> {
        let names = [("--from", self.from.is_some()), ("--until", self.until.is_some())];
        names.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name)
    }
}

/// The stages that a command is about, and what stands for those before them.
#[derive(Debug)]
pub struct StageRange {
    first: usize,
    last: usize,
    given: Option<Given>,
}

/// A given artifact and what it was made from.
#[derive(Debug)]
struct Given {
    /// Its key.
    key: Key,
    /// The artifacts of each stage.
    artifacts: BTreeMap<StageName, Vec<Artifact>>,
    /// Its data set, if it has one.
    dataset: Option<String>,
}

impl StageRange {
    /// Reads the options; `find` finds the artifacts of `--from KEY`.
    pub fn read(
        environment: &Environment,
        options: &RangeOptions,
        find: Find,
    ) -> Result<StageRange, StageError> {
        let (first, given) = match options.from.as_deref() {
            None => (0, None),
            Some(word) => match StageName::parse(word) {
                Some(stage) => (stage as usize, None),
                None => read_given(environment, word, find).map(|(at, given)| (at, Some(given)))?,
            },
        };
        let until = options.until.as_deref().and_then(StageName::parse);
        let last = until.map_or(StageName::ALL.len() - 1, |stage| stage as usize);
        if first > last {
            let what = match &options.from {
                Some(word) if first < StageName::ALL.len() => {
                    format!("`--until {}` is before `--from {word}`", StageName::ALL[last])
                }
                _ => "a run is the last artifact: no stage comes after it".to_owned(),
            };
            let hint = format!("the stages are, in order:  {}", StageName::NAMES.join(" "));
            return Err(StageError::new(ErrorKind::Usage, what).hint(hint));
        }
        Ok(StageRange { first, last, given })
    }

    /// The stages of the range.
    pub fn stages(&self) -> &'static [StageName] {
        &StageName::ALL[self.first..=self.last]
    }

    /// The first stage.
    pub fn first(&self) -> StageName {
        StageName::ALL[self.first]
    }

    /// Whether a stage is in the range.
    pub fn includes(&self, stage: StageName) -> bool {
        self.stages().contains(&stage)
    }

    /// The key of the artifact that stands for everything before the range.
    pub fn given_key(&self) -> Option<&Key> {
        self.given.as_ref().map(|given| &given.key)
    }

    /// The options that give this range again, with a whole key.
    pub fn to_options(&self) -> RangeOptions {
        let name = |stage: usize| StageName::ALL[stage].name().to_owned();
        let from = self.given_key().map(|key| key.as_str().to_owned());
        RangeOptions {
            from: from.or_else(|| (self.first > 0).then(|| name(self.first))),
            until: (self.last + 1 < StageName::ALL.len()).then(|| name(self.last)),
        }
    }

    /// Looks up the stages of the range before another one.
    pub fn look_up_before(
        &self,
        chain: &mut Chain<'_>,
        stage: StageName,
    ) -> Result<(), StageError> {
        chain.look_up(&StageName::ALL[self.first..self.first.max(stage as usize)])
    }

    /// The stages whose artifacts a chain looks up for the range: those before it too, unless an
    /// artifact stands for them.
    pub fn stages_to_look_up(&self) -> &'static [StageName] {
        let first = if self.given.is_some() { self.first } else { 0 };
        &StageName::ALL[first..=self.last]
    }

    /// Makes what is before the range available to a chain; builds nothing.
    pub fn prepare(&self, chain: &mut Chain<'_>) -> Result<(), StageError> {
        match &self.given {
            None => chain.look_up_before(self.first()),
            Some(_) => self.prepare_given(chain),
        }
    }

    /// Makes a given artifact, with what it was made from, available to a chain.
    pub fn prepare_given(&self, chain: &mut Chain<'_>) -> Result<(), StageError> {
        let Some(given) = &self.given else { return Ok(()) };
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

/// The artifact of a key with everything that it was made from, and the place of the stage after
/// the one that made it.
fn read_given(
    environment: &Environment,
    word: &str,
    find: Find,
) -> Result<(usize, Given), StageError> {
    let found = find(environment, word).map_err(|error| {
        let stages = StageName::NAMES.join(", ");
        let hint = match nearest(word, StageName::NAMES) {
            Some(near) => format!("did you mean  --from {near}"),
            None => error.hint.clone().unwrap_or_default(),
        };
        error.hint(format!("`--from` takes a stage ({stages}) or a key; {hint}"))
    })?;
    let made = &found[0].manifest;
    let stage =
        StageName::parse(&made.producer.stage).filter(|_| found[0].kind != Kind::Checkpoint);
    let stage = stage.ok_or_else(|| {
        let what = format!("no stage reads a `{}` that is given", found[0].kind.name());
        StageError::new(ErrorKind::Usage, what)
            .hint("give the key of a graph, csr, partition or plan")
    })?;
    let mut artifacts = BTreeMap::new();
    add_stage(environment, stage, &made.key, &mut artifacts)?;
    let dataset = artifacts.get(&StageName::Ingest).and_then(|graph: &Vec<Artifact>| {
        let request = &graph.first()?.manifest.key_document.request;
        request.get("dataset")?.as_str().map(str::to_owned)
    });
    Ok((stage as usize + 1, Given { key: made.key.clone(), artifacts, dataset }))
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
                    environment.store_option()
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
            Some(made) => StageName::parse(&made.manifest.producer.stage),
            None => kind.and_then(StageName::first_writer),
        };
        if let Some(stage) = stage {
            add_stage(environment, stage, &input.key, artifacts)?;
        }
    }
    Ok(())
}
