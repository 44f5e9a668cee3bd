//! The binary `warploom-extract`.
fn main() -> std::process::ExitCode {
    warploom_shell::binary::stage_main::<warploom_extract::Extract>(
        "Group the edges of a graph by both ends (CSR), and measure its profile",
    )
}
