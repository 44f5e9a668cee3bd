//! The binary `warploom-run`.
fn main() -> std::process::ExitCode {
    warploom_shell::binary::stage_main::<warploom_run::RunStage>(warploom_run::ABOUT)
}
