//! emulator: lists of golden cases on the emulated GPU of `tests/emulator`: what is emitted is run,
//! not only compiled.
//!
//! promises  every model of `golden_lists`, operation of `operations`, row of `widths` and
//!           `products`, sum of `totals` and loss, in f32 and in the order by degree, programs of
//!           `library` on one graph of every kind of row, and a few of `random_programs` and of
//!           `random_loops`; loops, superstep by superstep and to their ends; what is whole, bit
//!           for bit; pipelined epochs beside launches one by one, and after a stop. `make test`
//!           takes of each list of widths, rows and settings every other case
//!           (`list_runner::sampled_cases`), of each model one golden case, and the ways of sums
//!           take turns with their widths; `make test-long` has all of these, and `make
//!           test-emulated` both types and orders, and threads both ways
use std::process::Command;

use warploom_test_support::emulator::emulate;

use warploom_test_support::list_runner::{BRIEF, GROUPS, NEAR, ON_GPU, SAMPLED};
use warploom_test_support::skips::is_long;

/// What runs there.
const LISTS: [&str; 27] = [
    "golden_lists::",
    "operations::",
    "bit_exactness::",
    "cuda_graphs::",
    "resume::a_training_stopped_between",
    "totals::",
    "products::",
    "losses::",
    "widths::",
    "random_programs::",
    "random_loops::",
    "library::programs_agree_on_all",
    "library::values_of",
    "differential::iterations",
    "analytics::components",
    "analytics::triangles",
    "analytics::distances",
    "analytics::ranks_are",
    "custom_programs::core_numbers",
    "custom_programs::levels_and_parents",
    "custom_programs::shortest_paths",
    "resume::an_iteration_stopped",
    "loop_algorithms::library_programs",
    "loop_algorithms::programs_of_ones_own",
    "loop_algorithms::a_search_that_pulls",
    "frontier::runs_end",
    "errors::a_loss_over_counts",
];

/// How sums go there too: by groups of neighbours, lanes and threads (rows over many blocks, two
/// groups a warp, threads that are one warp), and as in an order of near rows.
const WAYS: [(&str, &str); 4] =
    [(GROUPS, "4,8,64"), (GROUPS, "16,16,256"), (GROUPS, "32,32,32"), (NEAR, "1")];

/// Asks for a sample, but in `make test-long`.
fn sampled<'a>(command: &'a mut Command, part: &str) -> &'a mut Command {
    if is_long() { command } else { command.env(SAMPLED, part) }
}

#[test]
fn sums_by_groups_of_neighbours_and_of_near_rows_agree_on_an_emulated_gpu() {
    if std::env::var_os(ON_GPU).is_some() {
        return;
    }
    for (number, ((way, cut), order)) in
        WAYS.into_iter().zip(["forward", "backward", "forward", "backward"]).enumerate()
    {
        let mut command = Command::new(std::env::current_exe().unwrap());
        if !emulate(
            &mut command,
            "emulator::sums_by_groups_of_neighbours_and_of_near_rows_agree_on_an_emulated_gpu",
        ) {
            return;
        }
        let asked = sampled(&mut command, &format!("{number}/{}", WAYS.len()))
            .env(ON_GPU, "1")
            .env(BRIEF, "1")
            .env(way, cut)
            .env("EMULATOR_ORDER", order);
        let output = asked.args(["widths::sums_agree", "--test-threads", "1"]).output().unwrap();
        let said = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(
            output.status.success() && said.contains(" 1 passed"),
            "{way}={cut}, threads {order}: {said}"
        );
    }
}

#[test]
fn models_agree_on_an_emulated_gpu() {
    // Where lists run on a GPU already, this is what they do.
    if std::env::var_os(ON_GPU).is_some() {
        return;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    if !emulate(&mut command, "emulator::models_agree_on_an_emulated_gpu") {
        return;
    }
    let output = sampled(&mut command, "0/2")
        .env(ON_GPU, "1")
        .env(BRIEF, "1")
        .args(LISTS)
        .args(["--test-threads", "2"])
        .output()
        .unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success() && said.contains(" 0 failed"), "{said}");
    assert!(!said.contains(" 0 passed"), "{said}");
}
