//! The binary `warploom-plan`.
fn main() -> std::process::ExitCode {
    warploom_shell::binary::stage_main::<warploom_plan::PlanStage>("Vertex program, profile and device to a list of launches")
}
