//! The binary `warploom-reorder`.
fn main() -> std::process::ExitCode {
    warploom_reorder::serve_if_child();
    warploom_shell::binary::stage_main::<warploom_reorder::Reorder>(warploom_reorder::ABOUT)
}
