//! scheduler: the batch job that this process belongs to, as the environment variables of Slurm,
//! PBS or LSF describe it.
//!
//! promises  none of it is in a key; an empty variable counts as unset
//! never     calls a program of the scheduler, or waits for one
//! limits    only Slurm (22.05 or newer) exports when the time of a job ends
use std::time::{Duration, SystemTime};

use warploom_contract::kinds::run::SchedulerJob;

/// A batch job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchJob {
    /// Scheduler, ids, nodes.
    pub job: SchedulerJob,
    /// When the time of the job ends.
    pub ends: Option<SystemTime>,
    /// The number of this task among those of its node.
    pub local_rank: Option<usize>,
}

/// The batch job of this process, if it has one.
pub fn batch_job() -> Option<BatchJob> {
    batch_job_from(|name| std::env::var(name).ok())
}

/// Whether this process belongs to a batch job.
pub fn is_batch_job() -> bool {
    batch_job().is_some()
}

/// The batch job that these variables describe.
fn batch_job_from(variable: impl Fn(&str) -> Option<String>) -> Option<BatchJob> {
    let text = |name: &str| variable(name).filter(|value| !value.is_empty());
    // `0` is the index of a job that is no task of an array.
    let index = |name: &str| text(name).filter(|value| value != "0");
    let job = |name: &str, id: &str| {
        Some(SchedulerJob { name: name.to_owned(), job: text(id)?, ..SchedulerJob::default() })
    };
    if let Some(job) = job("slurm", "SLURM_JOB_ID") {
        let number = |name: &str| text(name).and_then(|value| value.parse::<u64>().ok());
        let ends = number("SLURM_JOB_END_TIME").map(Duration::from_secs);
        let job = SchedulerJob {
            array_job: text("SLURM_ARRAY_JOB_ID"),
            task: text("SLURM_ARRAY_TASK_ID"),
            restarts: number("SLURM_RESTART_COUNT"),
            nodes: text("SLURM_JOB_NODELIST"),
            partition: text("SLURM_JOB_PARTITION"),
            ..job
        };
        return Some(BatchJob {
            job,
            ends: ends.and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since)),
            local_rank: number("SLURM_LOCALID").and_then(|rank| usize::try_from(rank).ok()),
        });
    }
    let of_pbs = || {
        let job = job("pbs", "PBS_JOBID")?;
        Some(SchedulerJob { task: text("PBS_ARRAY_INDEX"), partition: text("PBS_QUEUE"), ..job })
    };
    let of_lsf = || {
        let job = job("lsf", "LSB_JOBID")?;
        let (nodes, partition) = (text("LSB_HOSTS"), text("LSB_QUEUE"));
        Some(SchedulerJob { task: index("LSB_JOBINDEX"), nodes, partition, ..job })
    };
    let job = of_pbs().or_else(of_lsf)?;
    Some(BatchJob { job, ends: None, local_rank: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)]) -> Option<BatchJob> {
        batch_job_from(|name| {
            let pair = variables.iter().find(|(known, _)| *known == name);
            pair.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn each_scheduler_is_recognised_by_its_variables() {
        let slurm = found(&[
            ("SLURM_JOB_ID", "18"),
            ("SLURM_ARRAY_JOB_ID", "17"),
            ("SLURM_ARRAY_TASK_ID", "0"),
            ("SLURM_RESTART_COUNT", "2"),
            ("SLURM_JOB_NODELIST", "gpu[01-02]"),
            ("SLURM_JOB_PARTITION", "long"),
            ("SLURM_JOB_END_TIME", "1800000000"),
            ("SLURM_LOCALID", "3"),
        ]);
        let text = |text: &str| Some(text.to_owned());
        let job = SchedulerJob {
            name: "slurm".to_owned(),
            job: "18".to_owned(),
            array_job: text("17"),
            task: text("0"),
            restarts: Some(2),
            nodes: text("gpu[01-02]"),
            partition: text("long"),
        };
        let ends = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000));
        assert_eq!(slurm, Some(BatchJob { job, ends, local_rank: Some(3) }));
        let pbs = found(&[("PBS_JOBID", "4[7].head"), ("PBS_ARRAY_INDEX", "7")]).unwrap().job;
        assert_eq!((pbs.name.as_str(), pbs.task), ("pbs", text("7")));
        let lsf = found(&[("LSB_JOBID", "9"), ("LSB_JOBINDEX", "0")]).unwrap().job;
        assert_eq!((lsf.name.as_str(), lsf.job.as_str(), lsf.task), ("lsf", "9", None));
    }

    #[test]
    fn without_a_job_there_is_none_and_odd_values_are_left_out() {
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[("SLURM_JOB_ID", ""), ("SLURM_LOCALID", "1")]), None);
        let odd = [("SLURM_JOB_ID", "1"), ("SLURM_JOB_END_TIME", "soon"), ("SLURM_LOCALID", "-1")];
        let odd = found(&odd).unwrap();
        assert_eq!((odd.ends, odd.local_rank, odd.job.restarts), (None, None, None));
    }
}
