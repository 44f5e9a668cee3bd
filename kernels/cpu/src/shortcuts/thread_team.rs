//! thread_team: threads that run many short rounds one after another: levels of a search, waves of
//! peeling. Between rounds they wait for the next one awake, as a team of OpenMP does, so that a
//! round of ten microseconds gains from them.
//!
//! promises  a round ends when each of its tasks has run once, on any thread; a panic of a task
//!           reaches the caller
//! never     waits for a thread to come: who leads takes every task that no other thread has taken,
//!           so that a pool whose threads are busy elsewhere only makes rounds slower
//! limits    threads that wait spin for a tenth of a millisecond, then yield their cores to others
//!           for up to a few milliseconds, then sleep
use std::{
    hint::spin_loop,
    sync::{
        LockResult, PoisonError,
        atomic::{
            AtomicBool, AtomicU64, AtomicUsize,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    thread::{panicking, yield_now},
};

use rayon::Scope;

/// Looks for a round before a waiting thread lets others have its core; and before it leaves.
const LOOKS_AWAKE: u32 = 512;
const LOOKS: u32 = LOOKS_AWAKE + 4096;
/// How much more work a round has to have where threads sleep.
const WAKING: u64 = 2;
/// Bits of the number of open tasks.
const TASK_BITS: u32 = 32;

/// What a lock holds, also after a panic of another task: the leader ends then.
pub fn held<G>(locked: LockResult<G>) -> G {
    locked.unwrap_or_else(PoisonError::into_inner)
}

/// The part of a list that a task has, where each has so many elements.
pub fn part_of(list: &[u32], share: usize, task: usize) -> &[u32] {
    &list[list.len().min(task * share)..list.len().min((task + 1) * share)]
}

/// One task of a round: the kind of the round, and the number of the task.
pub type Task<'a> = &'a (dyn Fn(u32, usize) + Sync);

/// A value on cache lines of its own: two, as the prefetcher takes lines in pairs.
#[repr(align(128))]
struct Line<T>(T);

struct Team<'a> {
    task: Task<'a>,
    /// The number of the round above `TASK_BITS`, and below how many of its tasks are left.
    open: Line<AtomicU64>,
    /// Tasks that have not ended.
    unfinished: Line<AtomicUsize>,
    /// Threads beside the leader.
    helpers: Line<AtomicUsize>,
    kind: AtomicU64,
    /// Whether a task panicked.
    failed: AtomicBool,
    closed: AtomicBool,
}

/// Whoever runs the rounds of a team.
pub struct Leader<'a, 'scope> {
    team: &'scope Team<'scope>,
    scope: &'a Scope<'scope>,
    threads: usize,
}

/// Runs `body`, which leads rounds of tasks on the threads of the current pool.
pub fn lead<R>(task: Task, body: impl FnOnce(&Leader) -> R) -> R {
    let team = Team {
        task,
        open: Line(AtomicU64::new(0)),
        unfinished: Line(AtomicUsize::new(0)),
        helpers: Line(AtomicUsize::new(0)),
        kind: AtomicU64::new(0),
        failed: AtomicBool::new(false),
        closed: AtomicBool::new(false),
    };
    rayon::in_place_scope(|scope| {
        let _close = Close(&team.closed);
        body(&Leader { team: &team, scope, threads: rayon::current_num_threads() })
    })
}

impl Leader<'_, '_> {
    /// Threads of the pool.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Whether a round of so much work, in edges, gains from more than one thread: sleeping threads
    /// take much longer to come than those that wait.
    pub fn gains(&self, edges: u64, at_least: u64) -> bool {
        let awake = self.team.helpers.0.load(Relaxed) > 0;
        self.threads > 1 && edges >= if awake { at_least } else { at_least * WAKING }
    }

    /// Runs tasks `0..tasks`, and returns when all have ended.
    pub fn run(&self, kind: u32, tasks: usize) {
        if self.threads == 1 || tasks <= 1 {
            return (0..tasks).for_each(|task| (self.team.task)(kind, task));
        }
        let team = self.team;
        team.kind.store(u64::from(kind), Relaxed);
        team.unfinished.0.store(tasks, Relaxed);
        let round = (team.open.0.load(Relaxed) >> TASK_BITS) + 1;
        team.open.0.store(round << TASK_BITS | tasks as u64, Release);
        for _ in team.helpers.0.load(Relaxed)..(self.threads - 1).min(tasks - 1) {
            team.helpers.0.fetch_add(1, Relaxed);
            self.scope.spawn(|_| team.help());
        }
        while team.run_one() {}
        let mut looks = 0;
        while team.unfinished.0.load(Acquire) > 0 {
            wait(&mut looks);
        }
        assert!(!team.failed.load(Relaxed), "a task of a round panicked");
    }
}

impl Team<'_> {
    /// Takes a task and runs it; false if all are taken.
    fn run_one(&self) -> bool {
        let mut open = self.open.0.load(Acquire);
        loop {
            let left = open & ((1 << TASK_BITS) - 1);
            if left == 0 {
                return false;
            }
            // A task that was taken keeps its round from ending: what a round reads stays as it is.
            match self.open.0.compare_exchange_weak(open, open - 1, Acquire, Acquire) {
                Ok(_) => {
                    let _end = End(&self.unfinished.0);
                    let _failed = Failed(&self.failed);
                    (self.task)(self.kind.load(Relaxed) as u32, left as usize - 1);
                    return true;
                }
                Err(now) => open = now,
            }
        }
    }

    fn help(&self) {
        let _leave = End(&self.helpers.0);
        let mut looks = 0;
        while looks < LOOKS && !self.closed.load(Relaxed) {
            match self.run_one() {
                true => looks = 0,
                false => wait(&mut looks),
            }
        }
    }
}

fn wait(looks: &mut u32) {
    *looks += 1;
    if *looks < LOOKS_AWAKE { spin_loop() } else { yield_now() }
}

/// Counts down, also when a task panics.
struct End<'a>(&'a AtomicUsize);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Release);
    }
}

/// Marks a team one of whose tasks panics: what the task was to do is not done.
struct Failed<'a>(&'a AtomicBool);

impl Drop for Failed<'_> {
    fn drop(&mut self) {
        if panicking() {
            self.0.store(true, Relaxed);
        }
    }
}

/// Sends the threads away, also when the leader panics.
struct Close<'a>(&'a AtomicBool);

impl Drop for Close<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}
