//! Batch jobs on a real Slurm: a controller and three nodes on loopback (`cluster.sh`), which run
//! as root. Without root or without Slurm nothing runs, and that is said.
//!
//! One test, since all cases share the cluster, and some kill parts of it.
use proptest as _;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod cluster;

#[test]
fn batch_jobs_run_on_a_real_slurm() {
    let test = "batch_jobs_run_on_a_real_slurm";
    let Some(cluster) = cluster::Cluster::start(test) else { return };
    let mut failed = Vec::new();
    let asked = std::env::var("CASE").ok();
    for (name, case) in cases::CASES {
        if asked.as_ref().is_some_and(|asked| !name.contains(asked.as_str())) {
            continue;
        }
        // What an earlier case has left drained or held.
        cluster.call(&["release"]);
        let begun = std::time::Instant::now();
        // One that fails does not hide the others.
        let went = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case(&cluster)));
        let word = if went.is_ok() { "well" } else { "FAILED" };
        println!("case {name}: {word}, {:.1} s", begun.elapsed().as_secs_f64());
        failed.extend(went.err().map(|_| name));
    }
    assert_eq!(failed, [""; 0]);
}
