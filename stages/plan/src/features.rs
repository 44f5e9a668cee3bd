//! features: whether input rows are resident on a GPU or stay in pinned host memory, and what
//! reading them over the bus costs.
//!
//! promises  the choice follows from the setting, the device's facts and the list, so that `check`
//!           can recompute it; rows stay on the host only where the run would not fit or the
//!           setting asks for it, the largest first and no more than needed; bytes and seconds on
//!           the bus are reported
//! never     checks the memory of the host: the run does; moves sparse features, whose entries are
//!           walked by lists on the device
use std::collections::BTreeMap;

use warploom_contract::kinds::plan::{Memory, OnHost, OverBus};
use warploom_cuda::memory_estimate::{self, GroupRows, Predicted};
use warploom_cuda::{DevicePlan, host_reads};
use warploom_launch::{BufferName, GraphFacts, LaunchList, Reason};
use warploom_shell::{machine_limits::show_size, requests::PlanRequest};
use warploom_spec::Residence;

/// The memory that a run needs on its device, what it leaves on the host, and why.
pub struct MemoryNeeds {
    /// Memory of the device.
    pub memory: Memory,
    /// Buffers that stay on the host, if any.
    pub host: Option<OnHost>,
    /// What reading them over the bus costs.
    pub over_bus: Option<OverBus>,
    /// Bytes over the bus by launch, in the order of the list.
    pub by_launch: Vec<u64>,
    /// Why, where rows stay on the host or were asked to.
    pub reason: Option<Reason>,
}

/// Decides which input rows stay on the host.
pub fn place_features(
    request: &PlanRequest,
    list: &LaunchList,
    planned: &DevicePlan,
    facts: &GraphFacts,
    groups: GroupRows,
) -> MemoryNeeds {
    let weigh =
        |on_host: &[BufferName]| memory_estimate::predicted(list, planned, facts, groups, on_host);
    let of_all = weigh(&[]);
    let room = request.device.memory_bytes.unwrap_or(u64::MAX);
    let bytes_of =
        |name: &BufferName| memory_estimate::bytes_on_host(list, facts, std::slice::from_ref(name));
    let mut rows: Vec<(u64, BufferName)> = host_reads::may_stay(list)
        .map(|buffer| (bytes_of(&buffer.name), buffer.name.clone()))
        .collect();
    rows.sort_by(|first, second| second.0.cmp(&first.0).then_with(|| first.1.cmp(&second.1)));
    let mut on_host = Vec::new();
    match request.spec.features {
        Residence::Device => {}
        Residence::Host => on_host.extend(rows.into_iter().map(|(_, name)| name)),
        Residence::Auto => {
            for (_, name) in rows {
                if weigh(&on_host).bytes > room {
                    on_host.push(name);
                }
            }
        }
    }
    let predicted = weigh(&on_host);
    let memory = gpu_memory(predicted);
    if on_host.is_empty() {
        let is_asked_for = request.spec.features == Residence::Host;
        let reason = is_asked_for.then(|| no_dense_features_reason(of_all.bytes));
        return MemoryNeeds { memory, host: None, over_bus: None, by_launch: Vec::new(), reason };
    }
    let traffic = host_reads::traffic(list, planned, facts, &on_host);
    let bytes = memory_estimate::bytes_on_host(list, facts, &on_host);
    let host = OnHost { bytes, buffers: on_host };
    let over_bus = predict_bus_transfer(&traffic, request.device.bytes_per_second_of_host());
    let why = match request.spec.features {
        Residence::Host => "`plan.features: host` asks for it".to_owned(),
        _ => format!(
            "with them the run needs {} of `{}`, which has {}",
            show_size(of_all.bytes),
            request.device.name,
            show_size(room)
        ),
    };
    let reason = Reason {
        what: "features".to_owned(),
        chosen: "pinned on the host".to_owned(),
        why: format!("{why}; {}", describe_bus_cost(&host, &over_bus, &traffic)),
        alternatives: BTreeMap::from([
            ("all on the device".to_owned(), of_all.bytes),
            ("pinned on the host".to_owned(), memory.bytes_peak),
        ]),
    };
    MemoryNeeds {
        memory,
        host: Some(host),
        over_bus: Some(over_bus),
        by_launch: traffic.by_launch,
        reason: Some(reason),
    }
}

/// Memory of a GPU, which has no mapped files and no memory by thread.
fn gpu_memory(predicted: Predicted) -> Memory {
    Memory {
        bytes_peak: predicted.bytes,
        bytes_mapped: 0,
        bytes_peak_by_supersteps: 0,
        bytes_per_thread: 0,
        bytes_by_use: predicted.by_use,
        smaller: Vec::new(),
    }
}

fn predict_bus_transfer(traffic: &host_reads::Traffic, bytes_per_second: u64) -> OverBus {
    let nanoseconds_step = bus_nanoseconds(traffic.step, bytes_per_second);
    OverBus {
        bytes_once: traffic.once,
        bytes_step: traffic.step,
        bytes_per_second,
        nanoseconds_step,
    }
}

/// How long a transfer of so many bytes takes.
pub fn bus_nanoseconds(bytes: u64, bytes_per_second: u64) -> u64 {
    (1e9 * bytes as f64 / bytes_per_second.max(1) as f64) as u64
}

/// A sentence: what stays on the host, and what reading it over the bus costs.
fn describe_bus_cost(host: &OnHost, over_bus: &OverBus, traffic: &host_reads::Traffic) -> String {
    let launches = if traffic.launches == 1 {
        "1 launch reads".to_owned()
    } else {
        format!("{} launches read", traffic.launches)
    };
    let mut text = format!(
        "{} of `{}` stay there; {launches} {} of them over the bus in each epoch or pass, which \
         takes {:.3} ms at {:.0} GB/s",
        show_size(host.bytes),
        host.buffers.join("`, `"),
        show_size(over_bus.bytes_step),
        over_bus.nanoseconds_step as f64 / 1e6,
        over_bus.bytes_per_second as f64 / 1e9
    );
    if over_bus.bytes_once > 0 {
        text += &format!("; {} once before", show_size(over_bus.bytes_once));
    }
    if traffic.by_edges > 0 {
        text +=
            &format!("; {} of all that is rows which edges gather", show_size(traffic.by_edges));
    }
    text
}

/// The reason where no dense features exist that could stay on the host.
fn no_dense_features_reason(bytes: u64) -> Reason {
    let (chosen, why) = (
        "on the device".to_owned(),
        "no features are kept dense: sparse ones stay on the device".to_owned(),
    );
    Reason {
        what: "features".to_owned(),
        alternatives: BTreeMap::from([(chosen.clone(), bytes)]),
        chosen,
        why,
    }
}
