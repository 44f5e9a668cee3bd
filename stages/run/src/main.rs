//! The binary `warploom-run`.
fn main() -> std::process::ExitCode {
    warploom_shell::binary::stage_main::<warploom_run::RunStage>(
        "Execute a plan: train, infer or iterate, and write the results",
    )
}
