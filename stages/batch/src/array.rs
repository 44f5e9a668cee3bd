//! array: divides jobs into job arrays, and arrays into tasks.
//!
//! Consecutive stages of one group are one array where each job is read by exactly one job of the
//! next stage; a stage whose output several jobs read ends an array, so that it is done once.
//!
//! promises  every job that is not a hit is in exactly one task; a task does the jobs of one chain
//!           in order; an array starts after all arrays whose outputs it reads; at most
//!           `most` tasks in an array
use warploom_shell::StageName;

use crate::job::Job;

/// Where the jobs of a stage run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// With the resources of `prepare`.
    Prepare,
    /// With the resources of `run`.
    Run,
}

impl Group {
    /// Its name in a site file.
    pub fn name(self) -> &'static str {
        match self {
            Group::Prepare => "prepare",
            Group::Run => "run",
        }
    }
}

/// A job array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobArray {
    /// Its number, from 1.
    pub number: u32,
    /// The stages of its jobs, in order.
    pub stages: Vec<StageName>,
    /// Its resources.
    pub group: Group,
    /// Number of tasks.
    pub tasks: u32,
    /// Arrays that end before it starts, by number.
    pub after: Vec<u32>,
}

/// Divides jobs into arrays; `first_of_run` is the first stage of the group `run`. Sets array and
/// task of each job.
pub fn divide(jobs: &mut [Job], first_of_run: StageName, most: u32) -> Vec<JobArray> {
    let group = |stage| if stage < first_of_run { Group::Prepare } else { Group::Run };
    let (mut arrays, mut before): (Vec<JobArray>, Vec<u32>) = (Vec::new(), Vec::new());
    for stages in blocks(jobs, group) {
        let chains = chains(jobs, &stages);
        let first = arrays.len();
        for part in chains.chunks(most.max(1) as usize) {
            let number = arrays.len() as u32 + 1;
            for (task, chain) in part.iter().enumerate() {
                for &row in chain {
                    (jobs[row].array, jobs[row].task) = (number, task as u32);
                }
            }
            let present =
                |stage: &StageName| part.iter().flatten().any(|&row| jobs[row].stage == *stage);
            arrays.push(JobArray {
                number,
                stages: stages.iter().copied().filter(present).collect(),
                group: group(stages[0]),
                tasks: part.len() as u32,
                after: before.clone(),
            });
        }
        if arrays.len() > first {
            before = arrays[first..].iter().map(|array| array.number).collect();
        }
    }
    arrays
}

/// The stages of each array, in order.
fn blocks(jobs: &[Job], group: impl Fn(StageName) -> Group) -> Vec<Vec<StageName>> {
    let mut blocks: Vec<Vec<StageName>> = Vec::new();
    for stage in StageName::ALL {
        let of_stage = || jobs.iter().filter(move |job| job.stage == stage);
        if of_stage().next().is_none() {
            continue;
        }
        match blocks.last_mut() {
            Some(block)
                if block.last().is_some_and(|&last| group(last) == group(stage))
                    && is_one_to_one(of_stage(), jobs.len()) =>
            {
                block.push(stage);
            }
            _ => blocks.push(vec![stage]),
        }
    }
    blocks
}

/// Whether no two of these jobs read the output of one job.
fn is_one_to_one<'a>(jobs: impl Iterator<Item = &'a Job>, count: usize) -> bool {
    let mut is_read = vec![false; count];
    jobs.filter_map(|job| job.parent)
        .all(|parent| !std::mem::replace(&mut is_read[parent as usize], true))
}

/// The jobs of each task: those of a chain that are no hits, by row.
fn chains(jobs: &[Job], stages: &[StageName]) -> Vec<Vec<usize>> {
    let mut chain_of: Vec<Option<usize>> = vec![None; jobs.len()];
    let mut chains: Vec<Vec<usize>> = Vec::new();
    for (row, job) in jobs.iter().enumerate().filter(|(_, job)| stages.contains(&job.stage)) {
        let above = job.parent.and_then(|parent| chain_of[parent as usize]);
        let chain = above.unwrap_or_else(|| {
            chains.push(Vec::new());
            chains.len() - 1
        });
        chain_of[row] = Some(chain);
        if !job.is_hit {
            chains[chain].push(row);
        }
    }
    chains.retain(|chain| !chain.is_empty());
    chains
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::tests::job;

    /// Jobs of one graph with so many plans, each with so many runs.
    fn sweep(plans: u32, runs: u32, hits: &[StageName]) -> Vec<Job> {
        let mut jobs = Vec::new();
        let mut add = |stage: StageName, parent: Option<u32>| {
            jobs.push(job(stage, parent, hits.contains(&stage)));
            jobs.len() as u32 - 1
        };
        let mut last = None;
        for stage in &StageName::ALL[..4] {
            last = Some(add(*stage, last));
        }
        for _ in 0..plans {
            let plan = add(StageName::Plan, last);
            for _ in 0..runs {
                add(StageName::Run, Some(plan));
            }
        }
        jobs
    }

    fn shape(arrays: &[JobArray]) -> Vec<(usize, u32, Vec<u32>)> {
        arrays.iter().map(|array| (array.stages.len(), array.tasks, array.after.clone())).collect()
    }

    #[test]
    fn shared_stages_are_done_once() {
        let mut jobs = sweep(10, 100, &[]);
        let arrays = divide(&mut jobs, StageName::Run, 1000);
        assert_eq!(
            shape(&arrays),
            [(4, 1, vec![]), (1, 10, vec![1]), (1, 1000, vec![2])],
            "{arrays:?}"
        );
        assert!(jobs.iter().all(|job| job.array > 0));
        let mut of_runs: Vec<u32> =
            jobs.iter().filter(|job| job.array == 3).map(|job| job.task).collect();
        of_runs.sort_unstable();
        assert!(of_runs.into_iter().eq(0..1000));
    }

    #[test]
    fn a_single_pipeline_has_an_array_for_each_group() {
        let mut jobs = sweep(1, 1, &[]);
        assert_eq!(
            shape(&divide(&mut jobs, StageName::Run, 1000)),
            [(5, 1, vec![]), (1, 1, vec![1])]
        );
        assert_eq!(
            shape(&divide(&mut jobs, StageName::Reorder, 1000)),
            [(2, 1, vec![]), (4, 1, vec![1])]
        );
    }

    #[test]
    fn hits_are_left_out_and_arrays_are_cut() {
        let mut jobs = sweep(10, 100, &StageName::ALL[..4]);
        assert_eq!(
            shape(&divide(&mut jobs, StageName::Run, 400)),
            [(1, 10, vec![]), (1, 400, vec![1]), (1, 400, vec![1]), (1, 200, vec![1])]
        );
        let mut jobs = sweep(2, 2, &StageName::ALL);
        assert!(divide(&mut jobs, StageName::Run, 400).is_empty());
        assert!(jobs.iter().all(|job| job.array == 0));
    }
}
