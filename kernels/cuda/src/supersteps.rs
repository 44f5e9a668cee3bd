//! supersteps: the end of each superstep of a loop, on the device: how much it changed the states,
//! whether the loop has ended, and the commit of the new values.
//!
//! promises  the condition of the loop, tested after each superstep, before its commit; changes are
//!           added up in f64, in an order that the grid alone decides; supersteps that were
//!           enqueued behind the one that ended the loop change nothing; a superstep whose change
//!           is NaN is not committed, so that its cause can be looked for
//! never     waits for the host, which reads where the loop is after some supersteps
//! limits    states are copied: a read and a write of each element a superstep, and two reads more
//!           of those whose change is measured
use std::fmt::Write;

use super::{Argument, Blocks, Kernel, THREADS};
use warploom_launch::{Buffer, Commit, Element, LaunchList, Loop, Rows, StopCondition};
use warploom_tuning as tuning;

/// Where a loop is, as it is stored on the device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoopState {
    /// Supersteps that were done since the loop began, or was resumed.
    pub done: u64,
    /// Elements that the last superstep changed; vertices that are active, for such a condition.
    pub changed: u64,
    /// The sum of absolute changes of the last superstep.
    pub summed: f64,
    /// Why no further superstep is done.
    pub end: LoopEnd,
}

/// Why a loop has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoopEnd {
    /// It has not.
    #[default]
    Running,
    /// Its condition was met.
    Met,
    /// The change of the last superstep is NaN; it was not committed.
    NotANumber,
}

/// Bytes of a `LoopState` on the device.
pub const BYTES: usize = 32;

impl LoopState {
    /// The state, read back.
    pub fn from_bytes(bytes: &[u8; BYTES]) -> LoopState {
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]));
        LoopState {
            done: word(0),
            changed: word(8),
            summed: f64::from_bits(word(16)),
            end: match word(24) as u32 {
                0 => LoopEnd::Running,
                1 => LoopEnd::Met,
                _ => LoopEnd::NotANumber,
            },
        }
    }
}

/// `LoopState` in CUDA, and the change between two elements.
const OPENING: &str = include_str!("supersteps.cuh");

/// Measures the change of a superstep, and decides on the end of the loop.
const CHANGE: &str = "
extern \"C\" __global__ void @NAME@(
Supersteps* __restrict__ supersteps, Change* parts, unsigned* ticket@DECLARED@) {
after_others();
__shared__ bool is_last;
if (supersteps->ended) {
if (blockIdx.x == 0 && threadIdx.x == 0) supersteps->commits = 0;
return;
}
const offset_t first = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
const offset_t all = (offset_t)gridDim.x * blockDim.x;
Change change = {0, 0};
@COMPARED@add_up(change);
if (threadIdx.x == 0) {
parts[blockIdx.x] = change;
__threadfence();
is_last = atomicAdd(ticket, 1u) == gridDim.x - 1;
}
__syncthreads();
if (!is_last) return;
__threadfence();
change = {0, 0};
for (unsigned part = threadIdx.x; part < gridDim.x; part += blockDim.x) {
change.summed += __ldcg(&parts[part].summed);
change.changed += __ldcg(&parts[part].changed);
}
add_up(change);
if (threadIdx.x > 0) return;
*ticket = 0;
supersteps->done++;
supersteps->summed = change.summed;
supersteps->changed = change.changed;
const bool is_number = change.summed == change.summed;
supersteps->commits = is_number;
supersteps->ended = !is_number ? 2 : @MET@ ? 1 : 0;
}
";

/// Replaces states by their successors.
const COMMIT: &str = "
extern \"C\" __global__ void @NAME@(const Supersteps* __restrict__ supersteps@DECLARED@) {
after_others();
if (!supersteps->commits) return;
const offset_t first = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
const offset_t all = (offset_t)gridDim.x * blockDim.x;
@COPIED@}
";

/// For each launch of the list, whether it is part of a superstep.
pub(super) fn superstep_launches(list: &LaunchList) -> Vec<bool> {
    let of_loop = |repeated: &Loop| {
        let prepare = std::iter::repeat_n(false, repeated.prepare.len());
        prepare.chain(std::iter::repeat_n(true, repeated.superstep.len())).collect::<Vec<_>>()
    };
    let mut are_repeated: Vec<bool> = list.loops().iter().flat_map(of_loop).collect();
    are_repeated.resize(list.launches().len(), false);
    are_repeated
}

/// A buffer as a kernel sees it.
struct Array<'a> {
    buffer: &'a Buffer,
    /// Elements from one row to the next.
    stride: u64,
    /// The type of an element in CUDA.
    element: &'static str,
}

impl Array<'_> {
    fn find<'a>(list: &'a LaunchList, name: &str, bytes_per_real: u64) -> Array<'a> {
        let of_name = list.buffers.iter().find(|buffer| buffer.name == *name);
        let buffer = of_name.expect("a validated list declares what it commits");
        let element = if buffer.element == Element::Real { "real" } else { "whole" };
        Array { buffer, stride: buffer.stride(bytes_per_real), element }
    }

    /// The place of element `i`, without the padding of rows.
    fn place(&self) -> String {
        let (columns, stride) = (self.buffer.columns, self.stride);
        if columns == stride {
            return "i".to_owned();
        }
        format!("i / {columns} * {stride} + i % {columns}")
    }
}

/// A loop, and the buffers of its list.
struct LoopArrays<'a> {
    list: &'a LaunchList,
    repeated: &'a Loop,
    bytes_per_real: u64,
}

impl LoopArrays<'_> {
    fn of<'a>(&'a self, name: &str) -> Array<'a> {
        Array::find(self.list, name, self.bytes_per_real)
    }

    /// The commits whose change decides.
    fn watched(&self) -> impl Iterator<Item = (usize, &Commit)> {
        let is_watched = |state: &String| match &self.repeated.until {
            StopCondition::ChangeAtMost(watched, _) => watched == state,
            StopCondition::Unchanged(states) => states.contains(state),
            StopCondition::Nowhere(_) => false,
        };
        let commits = self.repeated.commit.iter().enumerate();
        commits.filter(move |(_, commit)| is_watched(&commit.state))
    }

    /// Blocks for the largest of these buffers. They follow from the graph alone, so that the order
    /// of a sum does.
    fn blocks<'a>(&self, names: impl Iterator<Item = &'a String>, processors: u32) -> Blocks {
        let size = |buffer: &Buffer| {
            let is_of_edges = matches!(buffer.rows, Rows::Edges | Rows::EdgesTwice);
            (is_of_edges, buffer.rows == Rows::Nodes, buffer.columns)
        };
        let largest = names.map(|name| self.of(name).buffer).max_by_key(|buffer| size(buffer));
        let (rows, columns) =
            largest.map_or((Rows::Nodes, 1), |buffer| (buffer.rows, buffer.columns));
        let each = (tuning::commit_elements() / columns.max(1)).max(1) as u32;
        let most = processors * tuning::commit_blocks_of_processor();
        Blocks::Parts { rows, each, most, tiles: [1, 1] }
    }

    fn change(&self, number: usize, processors: u32) -> (Kernel, String) {
        let mut arguments = vec![Argument::Supersteps, Argument::Scratch, Argument::Ticket];
        let (mut declared, mut compared) = (String::new(), String::new());
        for (index, commit) in self.watched() {
            let array = self.of(&commit.state);
            let (element, place, columns) = (array.element, array.place(), array.buffer.columns);
            let _ = write!(
                declared,
                ", const {element}* __restrict__ state_{index}, const {element}* __restrict__ \
                 next_{index}, const unsigned rows_{index}"
            );
            let _ = write!(
                compared,
                "for (offset_t i = first; i < (offset_t)rows_{index} * {columns}; i += all) {{\n\
                 const offset_t at = {place};\n\
                 compare(change, state_{index}[at], next_{index}[at]);\n}}\n"
            );
            arguments.push(Argument::Buffer(commit.state.clone()));
            arguments.push(Argument::Buffer(commit.next.clone()));
            arguments.push(Argument::RowCount(array.buffer.rows));
        }
        let mut met = "change.changed == 0".to_owned();
        match &self.repeated.until {
            StopCondition::ChangeAtMost(_, bound) if bound.is_finite() => {
                met = format!("change.summed <= {bound:e}");
            }
            StopCondition::ChangeAtMost(_, bound) => met = (*bound > 0.0).to_string(),
            StopCondition::Unchanged(_) => {}
            StopCondition::Nowhere(active) => {
                let array = self.of(active);
                declared += ", const whole* __restrict__ active, const unsigned rows";
                let _ = writeln!(
                    compared,
                    "for (offset_t i = first; i < (offset_t)rows * {}; i += all) \
                     change.changed += active[{}] != 0;",
                    array.buffer.columns,
                    array.place()
                );
                arguments.push(Argument::Buffer(active.clone()));
                arguments.push(Argument::RowCount(array.buffer.rows));
            }
        }
        let name = format!("change_of_loop_{number}");
        let text = CHANGE
            .replace("@NAME@", &name)
            .replace("@DECLARED@", &declared)
            .replace("@COMPARED@", &compared)
            .replace("@MET@", &met);
        let states = self.watched().map(|(_, commit)| &commit.state);
        let active = match &self.repeated.until {
            StopCondition::Nowhere(active) => Some(active),
            _ => None,
        };
        (kernel(name, arguments, self.blocks(states.chain(active), processors)), text)
    }

    fn commit(&self, number: usize, processors: u32) -> (Kernel, String) {
        let mut arguments = vec![Argument::Supersteps];
        let (mut declared, mut copied) = (String::new(), String::new());
        for (index, commit) in self.repeated.commit.iter().enumerate() {
            let array = self.of(&commit.state);
            let (element, stride) = (array.element, array.stride);
            let _ = write!(
                declared,
                ", {element}* __restrict__ state_{index}, const {element}* __restrict__ \
                 next_{index}, const unsigned rows_{index}"
            );
            let _ = writeln!(
                copied,
                "for (offset_t i = first; i < (offset_t)rows_{index} * {stride}; i += all) \
                 state_{index}[i] = next_{index}[i];"
            );
            arguments.push(Argument::Buffer(commit.state.clone()));
            arguments.push(Argument::Buffer(commit.next.clone()));
            arguments.push(Argument::RowCount(array.buffer.rows));
        }
        let name = format!("commit_of_loop_{number}");
        let text = COMMIT
            .replace("@NAME@", &name)
            .replace("@DECLARED@", &declared)
            .replace("@COPIED@", &copied);
        let states = self.repeated.commit.iter().map(|commit| &commit.state);
        (kernel(name, arguments, self.blocks(states, processors)), text)
    }
}

fn kernel(name: String, arguments: Vec<Argument>, blocks: Blocks) -> Kernel {
    Kernel { name, arguments, blocks, threads: THREADS, shared_bytes: 0 }
}

/// The kernels that end a superstep of each loop, in the order in which they run, each with its
/// text.
fn ends(list: &LaunchList, bytes_per_real: u64, processors: u32) -> Vec<[(Kernel, String); 2]> {
    let of_loop = |(number, repeated): (usize, &Loop)| {
        let arrays = LoopArrays { list, repeated, bytes_per_real };
        [arrays.change(number, processors), arrays.commit(number, processors)]
    };
    list.loops().iter().enumerate().map(of_loop).collect()
}

/// The kernels that end a superstep of each loop, in the order in which they run.
pub(super) fn loop_kernels(
    list: &LaunchList,
    bytes_per_real: u64,
    processors: u32,
) -> Vec<Vec<Kernel>> {
    let ends = ends(list, bytes_per_real, processors);
    ends.into_iter().map(|pair| pair.map(|(kernel, _)| kernel).into()).collect()
}

/// Scratch that these kernels share: what each block has summed.
pub(super) fn scratch_bytes(list: &LaunchList, processors: u32) -> u64 {
    let blocks = u64::from(processors * tuning::commit_blocks_of_processor());
    if list.loops().is_empty() { 0 } else { 16 * blocks }
}

/// What precedes the kernels of a list with loops.
pub(super) fn opening(list: &LaunchList) -> &'static str {
    if list.loops().is_empty() { "" } else { OPENING }
}

/// The source of the kernels that end supersteps.
pub(super) fn source(list: &LaunchList, bytes_per_real: u64, processors: u32) -> String {
    let ends = ends(list, bytes_per_real, processors);
    ends.into_iter().flatten().map(|(_, text)| text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_loop_comes_back_from_its_bytes() {
        let mut bytes = [0; BYTES];
        assert_eq!(LoopState::from_bytes(&bytes), LoopState::default());
        bytes[0] = 7;
        bytes[9] = 1;
        bytes[16..24].copy_from_slice(&0.25f64.to_le_bytes());
        bytes[24] = 2;
        let state = LoopState { done: 7, changed: 256, summed: 0.25, end: LoopEnd::NotANumber };
        assert_eq!(LoopState::from_bytes(&bytes), state);
    }
}
