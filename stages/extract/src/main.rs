//! The binary `warploom-extract`.
fn main() -> std::process::ExitCode {
    warploom_shell::binary::stage_main::<warploom_extract::Extract>(
        "Build the CSR of a graph in both directions, and measure its profile",
    )
}
