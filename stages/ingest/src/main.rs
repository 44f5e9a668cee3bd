//! The binary `warploom-ingest`.
fn main() -> std::process::ExitCode {
    warploom_shell::binary::stage_main::<warploom_ingest::Ingest>(
        "Read raw files, or generate a stand-in, into a graph with features and labels",
    )
}
