//! The binary `warploom`.
fn main() -> std::process::ExitCode {
    warploom_pipeline::front_door()
}
