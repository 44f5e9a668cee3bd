//! The binary `warploom-plan`.
use warploom_plan::{PlanStage, printed_forms::FORMS, show_form};
use warploom_shell::binary::{PrintedForms, stage_main_with_forms};

fn main() -> std::process::ExitCode {
    let forms = PrintedForms {
        forms: &FORMS,
        help: "Print one form of the compiled program, and do nothing else",
        text: show_form,
    };
    stage_main_with_forms::<PlanStage>(
        "Compile a vertex program for a graph and a device into a list of launches",
        &forms,
    )
}
