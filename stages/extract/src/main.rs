//! The binary `warploom-extract`.
fn main() -> std::process::ExitCode {
    warploom_shell::binary::stage_main::<warploom_extract::Extract>("Edges to neighbours in both directions, and the profile of a graph")
}
