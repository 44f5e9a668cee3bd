//! The binary `warploom-plan`.
use warploom_plan::{ABOUT, PRINTED_FORMS, PlanStage};

fn main() -> std::process::ExitCode {
    warploom_shell::binary::stage_main_with_forms::<PlanStage>(ABOUT, &PRINTED_FORMS)
}
