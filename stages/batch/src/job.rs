//! job: one stage for one key, and the list of all jobs of a submission as a Parquet table.
//!
//! promises  a job stands after the job whose output it reads; the same list gives the same bytes
use std::{path::Path, sync::Arc};

use arrow_array::{
    Array, ArrayRef, BooleanArray, StringArray, UInt32Array, UInt64Array, cast::AsArray,
};
use arrow_schema::{DataType, Field};
use warploom_contract::{
    StageError,
    parquet_file::{Table, read_table, write_table},
};
use warploom_shell::StageName;

/// One stage for one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The stage.
    pub stage: StageName,
    /// The job whose output it reads, by its row; none for the first stage.
    pub parent: Option<u32>,
    /// The first pipeline that needs it, by its number in the file.
    pub pipeline: u32,
    /// How many pipelines need it.
    pub pipelines: u32,
    /// Data set.
    pub dataset: String,
    /// What differs from the file, of the settings that this stage and earlier ones read.
    pub title: String,
    /// Its key, where it was known at submission.
    pub key: Option<String>,
    /// Whether its output was in the store at submission.
    pub is_hit: bool,
    /// Its array, from 1; 0 for a hit, which is not submitted.
    pub array: u32,
    /// Its task in the array, from 0.
    pub task: u32,
    /// Bytes of memory that it is predicted to need, without margin; 0 if unknown.
    pub bytes: u64,
    /// Seconds that it is predicted to take, without margin; 0 if unknown.
    pub seconds: u64,
    /// Bytes that its output is predicted to take in the store; 0 if unknown.
    pub store_bytes: u64,
}

/// Writes a job list.
pub fn write_jobs(path: &Path, jobs: &[Job]) -> Result<(), StageError> {
    let text = |of: fn(&Job) -> Option<&str>| {
        Arc::new(jobs.iter().map(of).collect::<StringArray>()) as ArrayRef
    };
    let short = |of: fn(&Job) -> Option<u32>| {
        Arc::new(jobs.iter().map(of).collect::<UInt32Array>()) as ArrayRef
    };
    let long = |of: fn(&Job) -> u64| {
        Arc::new(UInt64Array::from_iter_values(jobs.iter().map(of))) as ArrayRef
    };
    let is_hit: BooleanArray = jobs.iter().map(|job| Some(job.is_hit)).collect();
    write_table(
        path,
        vec![
            (Field::new("stage", DataType::Utf8, false), text(|job| Some(job.stage.name()))),
            (Field::new("parent", DataType::UInt32, true), short(|job| job.parent)),
            (Field::new("pipeline", DataType::UInt32, false), short(|job| Some(job.pipeline))),
            (Field::new("pipelines", DataType::UInt32, false), short(|job| Some(job.pipelines))),
            (Field::new("dataset", DataType::Utf8, false), text(|job| Some(&job.dataset))),
            (Field::new("settings", DataType::Utf8, false), text(|job| Some(&job.title))),
            (Field::new("key", DataType::Utf8, true), text(|job| job.key.as_deref())),
            (Field::new("hit", DataType::Boolean, false), Arc::new(is_hit)),
            (Field::new("array", DataType::UInt32, false), short(|job| Some(job.array))),
            (Field::new("task", DataType::UInt32, false), short(|job| Some(job.task))),
            (Field::new("bytes", DataType::UInt64, false), long(|job| job.bytes)),
            (Field::new("seconds", DataType::UInt64, false), long(|job| job.seconds)),
            (Field::new("store_bytes", DataType::UInt64, false), long(|job| job.store_bytes)),
        ],
    )
}

/// Reads a job list.
pub fn read_jobs(path: &Path) -> Result<Vec<Job>, StageError> {
    let table = read_table(path, None)?;
    let numbers = |name: &str| table.numbers::<u32>(name);
    let texts = |name: &str| text_column(path, &table, name);
    let (stages, datasets, titles, keys) =
        (texts("stage")?, texts("dataset")?, texts("settings")?, texts("key")?);
    let (pipeline, pipelines, array, task) =
        (numbers("pipeline")?, numbers("pipelines")?, numbers("array")?, numbers("task")?);
    let (bytes, seconds) = (table.numbers::<u64>("bytes")?, table.numbers::<u64>("seconds")?);
    let store_bytes = table.numbers::<u64>("store_bytes")?;
    let lacks = |name: &str| {
        StageError::damaged(path, format!("expected a column `{name}` of its type, found none"))
    };
    let parents = table
        .column("parent")
        .and_then(|column| column.as_primitive_opt::<arrow_array::types::UInt32Type>())
        .ok_or_else(|| lacks("parent"))?;
    let hits = table
        .column("hit")
        .and_then(|column| column.as_boolean_opt())
        .ok_or_else(|| lacks("hit"))?;
    (0..table.batch.num_rows())
        .map(|row| {
            let name = stages.value(row);
            let stage = StageName::parse(name);
            let parent = parents.is_valid(row).then(|| parents.value(row));
            if parent.is_some_and(|parent| parent as usize >= row) {
                return Err(StageError::damaged(
                    path,
                    format!("job {row} stands before its input"),
                ));
            }
            Ok(Job {
                stage: stage
                    .ok_or_else(|| StageError::damaged(path, format!("no stage `{name}`")))?,
                parent,
                pipeline: pipeline[row],
                pipelines: pipelines[row],
                dataset: datasets.value(row).to_owned(),
                title: titles.value(row).to_owned(),
                key: keys.is_valid(row).then(|| keys.value(row).to_owned()),
                is_hit: hits.value(row),
                array: array[row],
                task: task[row],
                bytes: bytes[row],
                seconds: seconds[row],
                store_bytes: store_bytes[row],
            })
        })
        .collect()
}

fn text_column<'a>(
    path: &Path,
    table: &'a Table,
    name: &str,
) -> Result<&'a StringArray, StageError> {
    table.column(name).and_then(|column| column.as_string_opt::<i32>()).ok_or_else(|| {
        StageError::damaged(path, format!("expected a column `{name}` of text, found none"))
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A job of a stage that reads the output of another.
    pub(crate) fn job(stage: StageName, parent: Option<u32>, is_hit: bool) -> Job {
        Job {
            stage,
            parent,
            pipeline: 0,
            pipelines: 1,
            dataset: "ring".to_owned(),
            title: String::new(),
            key: None,
            is_hit,
            array: 0,
            task: 0,
            bytes: 0,
            seconds: 0,
            store_bytes: 0,
        }
    }

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("jobs.parquet");
        let mut jobs =
            vec![job(StageName::Ingest, None, true), job(StageName::Extract, Some(0), false)];
        (jobs[0].key, jobs[1].title) = (Some("a".repeat(32)), "run.seed=1".to_owned());
        (jobs[1].array, jobs[1].task, jobs[1].bytes) = (1, 7, 1 << 40);
        write_jobs(&path, &jobs).unwrap();
        assert_eq!(read_jobs(&path).unwrap(), jobs);
        let turned = [job(StageName::Extract, Some(0), false)];
        std::fs::remove_file(&path).unwrap();
        write_jobs(&path, &turned).unwrap();
        assert!(read_jobs(&path).unwrap_err().what.contains("stands before its input"));
    }
}
