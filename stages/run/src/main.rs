//! The binary `warploom-run`.
fn main() -> std::process::ExitCode {
    warploom_shell::binary::stage_main::<warploom_run::RunStage>(
        "Train or iterate as a plan says, and write the results",
    )
}
