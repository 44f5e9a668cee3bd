//! arena: one allocation for everything that launches write, in which buffers with disjoint
//! lifetimes share bytes.
//!
//! promises  two buffers with overlapping lifetimes share no byte; every offset is aligned to a
//!           cache line of any device; equal lists and facts give equal offsets, on every device;
//!           `validate` checks this for a list that was read back. On a GPU, to which features are
//!           copied, those that no epoch reads are placed here as well, unless they are kept apart:
//!           buffers of epochs reuse their bytes. Buffers that GPU kernels never materialise have
//!           no offset once a plan says so (`leave_out`)
//! never     moves a buffer while the list runs; contains other inputs or parameters, which live
//!           for the whole run
//! limits    offsets are found greedily, in two orders of which the better one is taken: `live`
//!           shows how far from the lower bound that is
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cost::buffer_bytes;
use super::liveness::{Lifetime, Timeline};
use super::{BufferName, LaunchList, Role};
use crate::GraphFacts;

/// Alignment of offsets. A GPU fetches two lines of 128 bytes at once, and an unaligned row of 128
/// bytes touches two of them.
pub const ALIGNMENT: u64 = 256;

/// The layout of everything that launches write, in one allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arena {
    /// Total bytes.
    pub bytes: u64,
    /// Values and gradients that launches name, and features that no epoch reads, in the order of
    /// the list.
    pub places: Vec<BufferPlace>,
    /// Live bytes during each launch, in order of launches.
    pub live: Vec<u64>,
    /// Values and gradients without an offset: those that the kernels of a plan for a GPU never
    /// materialise.
    /// nowhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nowhere: Vec<BufferName>,
}

/// The byte range of one buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferPlace {
    /// Its name.
    pub buffer: BufferName,
    /// First byte.
    pub offset: u64,
    /// Its size.
    pub bytes: u64,
}

/// The launch with the most live bytes, and its live buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peak<'a> {
    /// Name of the launch.
    pub launch: &'a str,
    /// Live bytes.
    pub bytes: u64,
    /// Buffers and their bytes, largest first.
    pub buffers: Vec<(&'a str, u64)>,
}

impl Arena {
    /// Lays out everything that the launches of a list write.
    pub(super) fn new(list: &LaunchList, facts: &GraphFacts) -> Self {
        Arena::placed(list, facts, facts.lanes, Vec::new())
    }

    fn placed(
        list: &LaunchList,
        facts: &GraphFacts,
        with_features: bool,
        nowhere: Vec<BufferName>,
    ) -> Self {
        let timeline = Timeline::new(list);
        let mut lifetimes = timeline.lifetimes(list);
        lifetimes.retain(|name, _| !nowhere.iter().any(|without| without == name));
        if with_features {
            lifetimes.extend(timeline.features_wanted_once(list));
        }
        let made: Vec<BufferRequest> = list
            .buffers
            .iter()
            .filter_map(|buffer| {
                Some(BufferRequest {
                    name: &buffer.name,
                    bytes: buffer_bytes(buffer, facts),
                    life: *lifetimes.get(buffer.name.as_str())?,
                })
            })
            .collect();
        let mut by_size: Vec<usize> = (0..made.len()).collect();
        by_size.sort_by_key(|&index| {
            (std::cmp::Reverse(made[index].bytes), made[index].life.first, index)
        });
        let mut by_time: Vec<usize> = (0..made.len()).collect();
        by_time.sort_by_key(|&index| {
            (made[index].life.first, std::cmp::Reverse(made[index].bytes), index)
        });
        let (large_first, early_first) = (placed(&made, &by_size), placed(&made, &by_time));
        let offsets = if end(&made, &early_first) < end(&made, &large_first) {
            early_first
        } else {
            large_first
        };
        let live = |&moment: &usize| {
            sum(made.iter().filter(|made| made.life.covers(moment)).map(|made| aligned(made.bytes)))
        };
        Arena {
            bytes: end(&made, &offsets),
            places: made
                .iter()
                .zip(&offsets)
                .map(|(made, &offset)| BufferPlace {
                    buffer: made.name.to_owned(),
                    offset,
                    bytes: made.bytes,
                })
                .collect(),
            live: timeline.launches().iter().map(live).collect(),
            nowhere,
        }
    }

    /// Lays out the same buffers without reuse, so that every buffer can be inspected afterwards.
    #[must_use]
    pub fn without_reuse(&self) -> Self {
        let mut end = 0u64;
        let mut next = |place: &BufferPlace| {
            let offset = end;
            end = end.saturating_add(aligned(place.bytes));
            BufferPlace { offset, ..place.clone() }
        };
        let places = self.places.iter().map(&mut next).collect();
        Arena {
            bytes: end,
            places,
            live: vec![end; self.live.len()],
            nowhere: self.nowhere.clone(),
        }
    }

    /// The byte range of a buffer.
    pub fn place(&self, buffer: &str) -> Option<&BufferPlace> {
        self.places.iter().find(|place| place.buffer == buffer)
    }
}

impl LaunchList {
    /// Removes features from the arena: they are stored elsewhere. Everything that launches write
    /// has an offset again.
    pub fn keep_features_apart(&mut self, facts: &GraphFacts) {
        self.arena = Arena::placed(self, facts, false, Vec::new());
    }

    /// Removes these buffers from the arena: kernels never materialise them.
    pub fn leave_out(&mut self, nowhere: &[BufferName], facts: &GraphFacts) {
        let with_features = self.features_in_arena().is_some();
        self.arena = Arena::placed(self, facts, with_features, nowhere.to_vec());
    }

    /// The features in the arena.
    pub fn features_in_arena(&self) -> Option<&BufferName> {
        self.buffers
            .iter()
            .filter(|buffer| buffer.role == Role::Features)
            .map(|buffer| &buffer.name)
            .find(|name| self.arena.place(name).is_some())
    }

    /// The first launch with the most live bytes; none in a list without launches.
    pub fn peak(&self) -> Option<Peak<'_>> {
        let launches = self.launches();
        let most = *self.arena.live.iter().max()?;
        let number = self.arena.live.iter().position(|&live| live == most)?;
        let timeline = Timeline::new(self);
        let moment = *timeline.launches().get(number)?;
        let mut lifetimes = timeline.lifetimes(self);
        lifetimes.extend(timeline.features_wanted_once(self));
        let is_live = |place: &&BufferPlace| {
            lifetimes.get(place.buffer.as_str()).is_some_and(|life| life.covers(moment))
        };
        let mut buffers: Vec<(&str, u64)> = self
            .arena
            .places
            .iter()
            .filter(is_live)
            .map(|place| (place.buffer.as_str(), place.bytes))
            .collect();
        buffers.sort_by_key(|&(name, bytes)| (std::cmp::Reverse(bytes), name));
        Some(Peak { launch: &launches.get(number)?.name, bytes: most, buffers })
    }

    /// What is wrong with the arena: what was checked, what was expected, what was found.
    pub(super) fn arena_flaws(&self) -> Vec<(String, String, String)> {
        let mut flaws = Vec::new();
        let places: BTreeMap<&str, &BufferPlace> =
            self.arena.places.iter().map(|place| (place.buffer.as_str(), place)).collect();
        let timeline = Timeline::new(self);
        let mut lifetimes = timeline.lifetimes(self);
        let mut features = timeline.features_wanted_once(self);
        let wanted_for_good = |place: &&BufferPlace| {
            self.buffers.iter().any(|buffer| {
                buffer.name == place.buffer && !matches!(buffer.role, Role::Value | Role::Gradient)
            })
        };
        for place in self
            .arena
            .places
            .iter()
            .filter(wanted_for_good)
            .filter(|place| !features.contains_key(place.buffer.as_str()))
        {
            flaws.push((
                format!("place of `{}`", place.buffer),
                "none: it lives for the whole run".to_owned(),
                format!("from {}", place.offset),
            ));
        }
        for name in &self.arena.nowhere {
            let is_made = lifetimes.remove(name.as_str()).is_some();
            if !is_made || places.contains_key(name.as_str()) {
                flaws.push((
                    format!("`{name}`, which is not materialised"),
                    "values of launches, without a place".to_owned(),
                    "something else".to_owned(),
                ));
            }
        }
        for name in lifetimes.keys().filter(|name| !places.contains_key(**name)) {
            flaws.push((
                format!("place of `{name}`"),
                "one, since launches write it".to_owned(),
                "none".to_owned(),
            ));
        }
        features.retain(|name, _| places.contains_key(name));
        lifetimes.extend(features);
        for place in &self.arena.places {
            let end = place.offset.saturating_add(place.bytes);
            if end > self.arena.bytes || !place.offset.is_multiple_of(ALIGNMENT) {
                let expected = format!("a multiple of {ALIGNMENT}, ending by {}", self.arena.bytes);
                flaws.push((
                    format!("place of `{}`", place.buffer),
                    expected,
                    format!("{} to {end}", place.offset),
                ));
            }
        }
        let mut held: Vec<(&BufferPlace, Lifetime)> = places
            .values()
            .filter_map(|place| Some((*place, *lifetimes.get(place.buffer.as_str())?)))
            .collect();
        held.retain(|(place, _)| place.bytes > 0);
        held.sort_by_key(|(place, _)| place.offset);
        for (index, (first, life)) in held.iter().enumerate() {
            let end = first.offset.saturating_add(first.bytes);
            let over = held[index + 1..]
                .iter()
                .take_while(|(second, _)| second.offset < end)
                .filter(|(_, other)| life.meets(*other));
            for (second, _) in over {
                let what = format!("places of `{}` and `{}`", first.buffer, second.buffer);
                flaws.push((
                    what,
                    "disjoint: their lifetimes overlap".to_owned(),
                    format!("to {end} and from {}", second.offset),
                ));
            }
        }
        if self.arena.live.len() != timeline.launches().len() {
            flaws.push((
                "bytes of wanted buffers".to_owned(),
                format!("for {} launches", timeline.launches().len()),
                format!("for {}", self.arena.live.len()),
            ));
        }
        flaws
    }
}

/// A buffer that needs an offset.
struct BufferRequest<'a> {
    name: &'a str,
    bytes: u64,
    life: Lifetime,
}

/// Offsets, assigned in this order: each in the smallest gap that fits among the buffers that are
/// live at the same time.
fn placed(made: &[BufferRequest], order: &[usize]) -> Vec<u64> {
    let mut offsets = vec![0u64; made.len()];
    for (position, &index) in order.iter().enumerate() {
        let wanted = aligned(made[index].bytes);
        let mut taken: Vec<(u64, u64)> = order[..position]
            .iter()
            .filter(|&&other| made[other].life.meets(made[index].life))
            .map(|&other| {
                (offsets[other], offsets[other].saturating_add(aligned(made[other].bytes)))
            })
            .collect();
        taken.sort_unstable();
        let (mut end, mut best) = (0u64, None);
        for (start, stop) in taken {
            let gap = start.saturating_sub(end);
            if gap >= wanted && best.is_none_or(|(smallest, _)| gap < smallest) {
                best = Some((gap, end));
            }
            end = end.max(stop);
        }
        offsets[index] = best.map_or(end, |(_, start)| start);
    }
    offsets
}

fn end(made: &[BufferRequest], offsets: &[u64]) -> u64 {
    made.iter()
        .zip(offsets)
        .map(|(made, offset)| offset.saturating_add(aligned(made.bytes)))
        .max()
        .unwrap_or(0)
}

fn aligned(bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(ALIGNMENT).unwrap_or(u64::MAX)
}

fn sum(parts: impl Iterator<Item = u64>) -> u64 {
    parts.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests;
