//! The binary `warploom-plan`.
use warploom_plan::{PlanStage, printed_forms::FORMS, show_form};
use warploom_shell::binary::{Show, stage_main_showing};

fn main() -> std::process::ExitCode {
    let forms = Show {
        forms: &FORMS,
        help: "Print one form of the compiled program, and do nothing else",
        text: show_form,
    };
    stage_main_showing::<PlanStage>(
        "Compile a vertex program for a graph and a device into a list of launches",
        &forms,
    )
}
