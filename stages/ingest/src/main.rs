//! The binary `warploom-ingest`.
fn main() -> std::process::ExitCode {
    warploom_shell::binary::stage_main::<warploom_ingest::Ingest>("Raw files, or a stand-in, to graph, features and labels")
}
