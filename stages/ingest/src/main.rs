//! The binary `warploom-ingest`.
fn main() -> std::process::ExitCode {
    warploom_shell::external_program::serve_if_child();
    warploom_shell::binary::stage_main::<warploom_ingest::Ingest>(warploom_ingest::ABOUT)
}
