//! The binary `warploom-reorder`.
fn main() -> std::process::ExitCode {
    warploom_shell::binary::stage_main::<warploom_reorder::Reorder>("Renumber nodes so that neighbours lie close in memory")
}
