//! The binary `warploom-partition`.
fn main() -> std::process::ExitCode {
    warploom_shell::binary::stage_main::<warploom_partition::PartitionStage>(
        "Divide the work over a graph into units of equal work",
    )
}
