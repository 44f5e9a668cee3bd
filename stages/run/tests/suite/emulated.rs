//! emulated: lists of golden cases on the emulated GPU of `tests/emulator`: what is emitted is run, not only compiled.
//!
//! promises  every model of `exact`, row of `widths` and sum of `totals`, in f32 and in the order by degree, programs of `library` on one
//!           graph of every kind of row, and a few of `chance`; `make test-emulated` has both types and orders, and threads both ways
use std::process::Command;

use warploom_cases::emulator::emulate;

use crate::direct::{BRIEF, GROUPS, ON_GPU};

/// What runs there.
const LISTS: [&str; 6] = ["exact::", "totals::", "widths::", "chance::", "library::programs_agree_on_all", "library::values_of"];

/// Groups of neighbours, lanes and threads by which sums go there too: rows over many blocks, two groups a warp, and threads that are one warp.
const CUTS: [&str; 3] = ["4,8,64", "16,16,256", "32,32,32"];

#[test]
fn sums_by_groups_of_neighbours_agree_on_an_emulated_gpu() {
    if std::env::var_os(ON_GPU).is_some() {
        return;
    }
    for (cut, order) in CUTS.into_iter().zip(["forward", "backward", "forward"]) {
        let mut command = Command::new(std::env::current_exe().unwrap());
        if !emulate(&mut command, "emulated::sums_by_groups_of_neighbours_agree_on_an_emulated_gpu") {
            return;
        }
        let asked = command.env(ON_GPU, "1").env(BRIEF, "1").env(GROUPS, cut).env("EMULATOR_ORDER", order);
        let output = asked.args(["widths::sums_agree", "--test-threads", "1"]).output().unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && said.contains(" 1 passed"), "{cut}, threads {order}: {said}");
    }
}

#[test]
fn models_agree_on_an_emulated_gpu() {
    // Where lists run on a GPU already, this is what they do.
    if std::env::var_os(ON_GPU).is_some() {
        return;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    if !emulate(&mut command, "emulated::models_agree_on_an_emulated_gpu") {
        return;
    }
    let output = command.env(ON_GPU, "1").env(BRIEF, "1").args(LISTS).args(["--test-threads", "2"]).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains(" 0 failed"), "{said}");
    assert!(!said.contains(" 0 passed"), "{said}");
}
