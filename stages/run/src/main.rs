//! The binary `warploom-run`.
fn main() -> std::process::ExitCode {
    warploom_shell::binary::stage_main::<warploom_run::RunStage>("A plan to a trained model or values on disk")
}
