//! The binary `warploom-extract`.
fn main() -> std::process::ExitCode {
    warploom_shell::binary::stage_main::<warploom_extract::Extract>(warploom_extract::ABOUT)
}
