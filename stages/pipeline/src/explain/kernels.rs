//! kernels: the kernels of a plan for a GPU, as a table: kernel, schedule, numbers, bytes,
//! predicted time and what limits it.
//!
//! promises  a row for each call of a kernel and for each launch that a kernel of another one does,
//!           then those that end supersteps, or replace them;
//!           each schedule is explained once, below the table; nothing for a plan for a CPU
//! never     looks at the text of a kernel: all is read from the plan
use std::collections::BTreeSet;

use serde::Serialize;
use warploom_contract::{
    Artifact, StageError,
    kinds::plan::{Plan, Predicted},
};
use warploom_cuda::{DevicePlan, Kernel, ScheduleKind};
use warploom_launch::LaunchList;
use warploom_shell::{kernel_tables, machine_limits::show_size};

/// A call of a kernel, or a launch that has none of its own.
#[derive(Clone, Debug, Serialize)]
pub struct KernelLine {
    /// Its launch.
    launch: String,
    /// Its name in the source; none if a kernel of another launch does its work.
    kernel: Option<String>,
    /// How the launch is executed.
    schedules: Vec<String>,
    /// The numbers of its grid.
    numbers: String,
    /// Threads of a block.
    threads: u32,
    /// Dynamic shared memory of a block.
    shared_bytes: u32,
    /// The fewest bytes that the launch moves.
    bytes: u64,
    /// Predicted time of the launch.
    nanoseconds: Option<u64>,
    /// What limits it.
    limit: Option<String>,
}

/// The kernels of a plan, in order; none for a CPU.
pub fn list_kernels(
    artifact: &Artifact,
    page: &Plan,
    list: &LaunchList,
    predicted: &Predicted,
) -> Result<Vec<KernelLine>, StageError> {
    if page.kernels.is_none() {
        return Ok(Vec::new());
    }
    let planned = kernel_tables::read_kernels(artifact, page, list)?;
    let mut lines = Vec::new();
    let launches = list.launches().into_iter().zip(&planned.launches).zip(&planned.schedules);
    for (number, ((launch, kernels), schedules)) in launches.enumerate() {
        let schedules =
            schedules.iter().map(|kind| kernel_tables::name_of(*kind)).collect::<Result<_, _>>()?;
        let of_launch = predicted.launches.get(number);
        let line = KernelLine {
            launch: launch.name.clone(),
            kernel: None,
            schedules,
            numbers: String::new(),
            threads: 0,
            shared_bytes: 0,
            bytes: launch.bytes,
            nanoseconds: of_launch.map(|launch| launch.nanoseconds),
            limit: of_launch.map(|launch| launch.limit.clone()),
        };
        let calls = kernels.iter().map(|kernel| KernelLine {
            kernel: Some(kernel.name.clone()),
            numbers: kernel.blocks.describe(&planned),
            threads: kernel.threads,
            shared_bytes: kernel.shared_bytes,
            ..line.clone()
        });
        lines.extend(calls);
        if kernels.is_empty() {
            lines.push(line);
        }
    }
    lines.extend(list_loop_kernels(&planned));
    Ok(lines)
}

/// The kernels that loops have besides those of their launches.
fn list_loop_kernels(planned: &DevicePlan) -> Vec<KernelLine> {
    let line = |number: usize, what: &str, kernel: &Kernel| KernelLine {
        launch: format!("loop {number}, {what}"),
        kernel: Some(kernel.name.clone()),
        schedules: vec![what.to_owned()],
        numbers: kernel.blocks.describe(planned),
        threads: kernel.threads,
        shared_bytes: kernel.shared_bytes,
        bytes: 0,
        nanoseconds: None,
        limit: None,
    };
    let mut lines = Vec::new();
    for (number, ends) in planned.loops.iter().enumerate() {
        let of = |loops: &[Vec<Kernel>], what: &str| {
            let kernels = loops.get(number).into_iter().flatten();
            kernels.map(|kernel| line(number, what, kernel)).collect::<Vec<_>>()
        };
        lines.extend(of(&planned.shortcuts, "instead of supersteps"));
        lines.extend(of(&planned.frontiers, "supersteps of few vertices"));
        lines.extend(ends.iter().map(|kernel| line(number, "ends a superstep", kernel)));
    }
    lines
}

/// Whether two lines are calls of one kernel by launches of their own, with the same numbers.
fn is_alike(one: &KernelLine, other: &KernelLine) -> bool {
    one.kernel.is_some()
        && one.launch != other.launch
        && (&one.kernel, &one.numbers, one.threads, &one.schedules, &one.limit)
            == (&other.kernel, &other.numbers, other.threads, &other.schedules, &other.limit)
}

/// The table, and what its schedules do. Calls that follow each other and differ in nothing are one
/// row, with the sums of bytes and times.
pub fn table(lines: &[KernelLine]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let head = ["kernel", "schedule", "numbers", "bytes", "predicted", "limit"];
    let mut rows = vec![head.map(str::to_owned)];
    let mut before = None;
    for same in lines.chunk_by(is_alike) {
        let line = &same[0];
        // What is known of a launch is said in the row of its first kernel.
        let is_next = before == Some(&line.launch);
        let of_launch = |text: String| if is_next { String::new() } else { text };
        rows.push([
            match (&line.kernel, same.len()) {
                (None, _) => line.launch.clone(),
                (Some(kernel), 1) => kernel.clone(),
                (Some(kernel), calls) => format!("{kernel} x {calls}"),
            },
            of_launch(line.schedules.join(", ")),
            match &line.kernel {
                Some(_) => format!("{}, {} threads", line.numbers, line.threads),
                None => "in the kernel of another launch".to_owned(),
            },
            of_launch(match same.iter().map(|line| line.bytes).sum() {
                0 => String::new(),
                bytes => show_size(bytes),
            }),
            of_launch(line.nanoseconds.map_or_else(String::new, |_| {
                let nanoseconds: u64 = same.iter().filter_map(|line| line.nanoseconds).sum();
                format!("{:.1} us", nanoseconds as f64 / 1e3)
            })),
            of_launch(line.limit.clone().unwrap_or_default()),
        ]);
        before = Some(&line.launch);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths = [0, 1, 2, 3, 4, 5].map(|column| width(column).unwrap_or(0));
    let mut text = "\nkernels, in order:\n".to_owned();
    for row in &rows {
        let cells: Vec<String> =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text += &format!("  {}\n", cells.join("  ").trim_end());
    }
    text += "\nschedules:\n";
    let used: BTreeSet<&str> =
        lines.iter().flat_map(|line| &line.schedules).map(String::as_str).collect();
    for kind in ScheduleKind::ALL {
        if let Some(name) =
            kernel_tables::name_of(*kind).ok().filter(|name| used.contains(name.as_str()))
        {
            text += &format!("  {name}: {}\n", kind.about());
        }
    }
    text + "\n"
}
