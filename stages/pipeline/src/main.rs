//! The binary `warploom`.
fn main() -> std::process::ExitCode {
    warploom_reorder::serve_if_child();
    warploom_pipeline::front_door()
}
