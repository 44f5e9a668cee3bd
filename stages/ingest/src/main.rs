//! The binary `warploom-ingest`.
fn main() -> std::process::ExitCode {
    warploom_shell::binary::stage_main::<warploom_ingest::Ingest>(warploom_ingest::ABOUT)
}
