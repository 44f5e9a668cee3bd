//! emulated: lists of golden cases on the emulated GPU of `tests/emulator`: what is emitted is run, not only compiled.
//!
//! promises  every model of `exact`, row of `widths` and sum of `totals`, in f32 and in the order by degree, programs of `library` on one
//!           graph of every kind of row, and a few of `chance`; `make test-emulated` has both types and orders, and threads both ways
use std::process::Command;

use warploom_cases::emulator::emulate;

use crate::direct::{BRIEF, ON_GPU};

/// What runs there.
const LISTS: [&str; 6] = ["exact::", "totals::", "widths::", "chance::", "library::programs_agree_on_all", "library::values_of"];

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
