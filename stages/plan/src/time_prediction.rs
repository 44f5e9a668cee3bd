//! time_prediction: a roofline for each launch: how long it should take on a device, and what
//! limits it.
//!
//! promises  the larger of memory traffic (random row reads and streamed bytes), arithmetic, and
//!           the bus from the host, plus the cost of a launch; the same model for a device that is
//!           not present
//! never     measures; promises that a kernel reaches the limit
use warploom_contract::kinds::{
    plan::{Predicted, PredictedLaunch},
    profile::Profile,
};
use warploom_device::Facts as Device;
use warploom_launch::{Body, GraphFacts, Launch, LaunchList, Work};

use crate::neighbour_group_model::{Decider, Rows};

/// The time of every launch, and of a step: an epoch, or a superstep of each loop. `over_bus` has
/// the bytes that each launch reads from the host; it is empty if none does.
pub fn predict_list(
    list: &LaunchList,
    facts: &GraphFacts,
    device: &Device,
    over_bus: &[u64],
    profile: &Profile,
    is_grouped: bool,
) -> Predicted {
    let rows =
        Rows { nodes: facts.nodes as f64, edges: facts.edges as f64, gini: profile.in_degree.gini };
    let mut decider = Decider::new(device, rows);
    let over_bus = over_bus.iter().copied().chain(std::iter::repeat(0));
    let of_one = |(launch, over_bus): (&Launch, u64)| {
        let mut predicted = predict_launch(list, launch, over_bus, facts, device);
        // By rows, kernels divide walks themselves: a cut would be reported and mean nothing.
        predicted.grouping = widest_gather(&list.work(launch, facts), facts)
            .filter(|_| is_grouped)
            .and_then(|columns| decider.decide(columns));
        predicted
    };
    let launches: Vec<PredictedLaunch> =
        list.launches().into_iter().zip(over_bus).map(of_one).collect();
    let once = match &list.body {
        Body::Train(train) => launch_names(&train.prepare),
        Body::Iterate(iterate) => iterate
            .loops
            .iter()
            .flat_map(|repeated| launch_names(&repeated.prepare))
            .chain(launch_names(&iterate.finish))
            .collect(),
    };
    let repeated = launches.iter().filter(|launch| !once.contains(&launch.name.as_str()));
    Predicted { nanoseconds_step: repeated.map(|launch| launch.nanoseconds).sum(), launches }
}

/// Columns of the widest row that edges gather.
fn widest_gather(work: &Work, facts: &GraphFacts) -> Option<u64> {
    work.gathers.iter().map(|gather| gather.row_bytes / facts.bytes_per_real.max(1)).max()
}

fn launch_names(launches: &[Launch]) -> Vec<&str> {
    launches.iter().map(|launch| launch.name.as_str()).collect()
}

fn predict_launch(
    list: &LaunchList,
    launch: &Launch,
    over_bus: u64,
    facts: &GraphFacts,
    device: &Device,
) -> PredictedLaunch {
    let work = list.work(launch, facts);
    let on_bus = over_bus as f64 / device.bytes_per_second_of_host() as f64;
    let (seconds, limit) = Some(find_limit(&work, facts, device))
        .filter(|(seconds, _)| *seconds >= on_bus)
        .unwrap_or((on_bus, "the bus to the host"));
    PredictedLaunch {
        name: launch.name.clone(),
        nanoseconds: (1e9 * seconds) as u64 + device.launch_nanoseconds,
        limit: limit.to_owned(),
        grouping: None,
    }
}

/// Seconds, and the resource that limits them.
fn find_limit(work: &Work, facts: &GraphFacts, device: &Device) -> (f64, &'static str) {
    let per_second = |gather: &warploom_launch::Gathered| {
        device.gathered_per_second(gather.row_bytes, gather.table_bytes)
    };
    let gathered: f64 =
        work.gathers.iter().map(|gather| gather.bytes() as f64 / per_second(gather).max(1.0)).sum();
    let apart =
        work.gathers.iter().fold(work.bytes, |bytes, gather| bytes.saturating_sub(gather.bytes()));
    let streamed = apart as f64 / device.bytes_per_second.max(1) as f64;
    let flops = if facts.bytes_per_real == 8 {
        device.flops_per_second.f64
    } else {
        device.flops_per_second.f32
    };
    let computed = work.flops as f64 / flops.max(1) as f64;
    // Memory traffic overlaps with arithmetic; random and streamed reads share the bandwidth.
    let moved = gathered + streamed;
    match () {
        () if computed > moved => (computed, "arithmetic"),
        () if gathered > streamed => (moved, "rows read at random"),
        () => (moved, "memory"),
    }
}
