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
use super::kernel_parameters::stored;
use super::{Argument, Blocks, Kernel, THREADS};
use warploom_launch::{Buffer, BufferName, Commit, LaunchList, Loop, Rows, StopCondition};
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
    /// Supersteps that computed all vertices.
    pub whole: u64,
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
    /// The values of a loop do not meet the conditions of the algorithm that replaces its
    /// supersteps: nothing was computed.
    DoesNotApply,
    /// It has not, and the host wants to look before there are more supersteps.
    Paused,
}

/// Bytes of a `LoopState` on the device.
pub const BYTES: usize = 48;

/// What lets a loop go on until so many supersteps are done: the place in its state, and the bytes.
pub fn go_on(bound: u64) -> (u64, [u8; 16]) {
    let mut bytes = [0; 16];
    bytes[8..].copy_from_slice(&bound.to_le_bytes());
    (24, bytes)
}

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
                2 => LoopEnd::NotANumber,
                3 => LoopEnd::DoesNotApply,
                _ => LoopEnd::Paused,
            },
            whole: word(40),
        }
    }
}

/// `LoopState` in CUDA, and the change between two elements.
const OPENING: &str = include_str!("supersteps.cuh");

/// Measures the change of a superstep, and decides on the end of the loop.
const CHANGE: &str = "
extern \"C\" __global__ void @NAME@(
LoopState* __restrict__ loop, Change* parts, unsigned* ticket@DECLARED@) {
after_others();
__shared__ bool is_last;
if (loop->ended) {
if (blockIdx.x == 0 && threadIdx.x == 0) loop->commits = 0;
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
loop->done++;
loop->whole++;
loop->summed = change.summed;
loop->changed = change.changed;
const bool is_number = change.summed == change.summed;
loop->commits = is_number;
loop->ended = !is_number ? 2 : @MET@ ? 1 : 0;
}
";

/// Replaces states by their successors.
const COMMIT: &str = "
extern \"C\" __global__ void @NAME@(const LoopState* __restrict__ loop@DECLARED@) {
after_others();
if (!loop->commits) return;
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
pub(super) struct Array<'a> {
    pub buffer: &'a Buffer,
    /// Elements from one row to the next.
    pub stride: u64,
    /// The type of an element in CUDA.
    pub element: &'static str,
}

impl Array<'_> {
    fn find<'a>(list: &'a LaunchList, name: &str, bytes_per_real: u64) -> Array<'a> {
        let of_name = list.buffers.iter().find(|buffer| buffer.name == *name);
        let buffer = of_name.expect("a validated list declares what it commits");
        let element = stored(buffer.element);
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
pub(super) struct LoopArrays<'a> {
    pub list: &'a LaunchList,
    pub repeated: &'a Loop,
    pub bytes_per_real: u64,
}

impl LoopArrays<'_> {
    pub fn array<'a>(&'a self, name: &str) -> Array<'a> {
        Array::find(self.list, name, self.bytes_per_real)
    }

    /// The commits whose change decides.
    pub fn watched(&self) -> impl Iterator<Item = &Commit> {
        let is_watched = |state: &String| match &self.repeated.until {
            StopCondition::ChangeAtMost(watched, _) => watched == state,
            StopCondition::Unchanged(states) => states.contains(state),
            StopCondition::Nowhere(_) => false,
        };
        self.repeated.commit.iter().filter(move |commit| is_watched(&commit.state))
    }

    /// Blocks for the largest of these buffers. They follow from the graph alone, so that the order
    /// of a sum does.
    fn blocks<'a>(&self, names: impl Iterator<Item = &'a String>, processors: u32) -> Blocks {
        let size = |buffer: &Buffer| {
            let is_of_edges = matches!(buffer.rows, Rows::Edges | Rows::EdgesTwice);
            (is_of_edges, buffer.rows == Rows::Nodes, buffer.columns)
        };
        let largest = names.map(|name| self.array(name).buffer).max_by_key(|buffer| size(buffer));
        let (rows, columns) =
            largest.map_or((Rows::Nodes, 1), |buffer| (buffer.rows, buffer.columns));
        let each = (tuning::commit_elements() / columns.max(1)).max(1) as u32;
        let most = processors * tuning::commit_blocks_of_processor();
        Blocks::Parts { rows, each, most, tiles: [1, 1] }
    }

    /// The buffer that no vertex may be active in, for such a condition.
    fn active(&self) -> Option<&BufferName> {
        match &self.repeated.until {
            StopCondition::Nowhere(active) => Some(active),
            _ => None,
        }
    }

    fn change_kernel(&self, number: usize, processors: u32) -> Kernel {
        let mut arguments = vec![Argument::LoopState, Argument::Scratch, Argument::Ticket];
        arguments.extend(self.watched().flat_map(|commit| self.pair_arguments(commit)));
        if let Some(active) = self.active() {
            arguments.push(Argument::Buffer(active.clone()));
            arguments.push(Argument::RowCount(self.array(active).buffer.rows));
        }
        let buffers = self.watched().map(|commit| &commit.state).chain(self.active());
        kernel(change_name(number), arguments, self.blocks(buffers, processors))
    }

    fn change_text(&self, number: usize) -> String {
        let compare = |(pair, commit): (usize, &Commit)| {
            let array = self.array(&commit.state);
            format!(
                "for (offset_t i = first; i < (offset_t)rows_{pair} * {}; i += all) {{\n\
                 const offset_t at = {};\n\
                 compare(change, state_{pair}[at], next_{pair}[at]);\n}}\n",
                array.buffer.columns,
                array.place()
            )
        };
        let mut declared = self.pair_declarations(self.watched(), "const ");
        let mut compared: String = self.watched().enumerate().map(compare).collect();
        if let Some(array) = self.active().map(|active| self.array(active)) {
            let element = array.element;
            declared += &format!(", const {element}* __restrict__ active, const unsigned rows");
            compared += &format!(
                "for (offset_t i = first; i < (offset_t)rows * {}; i += all) \
                 change.changed += active[{}] != 0;\n",
                array.buffer.columns,
                array.place()
            );
        }
        let met = match &self.repeated.until {
            StopCondition::ChangeAtMost(_, bound) if bound.is_finite() => {
                format!("change.summed <= {bound:e}")
            }
            StopCondition::ChangeAtMost(_, bound) => (*bound > 0.0).to_string(),
            StopCondition::Unchanged(_) | StopCondition::Nowhere(_) => {
                "change.changed == 0".to_owned()
            }
        };
        CHANGE
            .replace("@NAME@", &change_name(number))
            .replace("@DECLARED@", &declared)
            .replace("@COMPARED@", &compared)
            .replace("@MET@", &met)
    }

    fn commit_kernel(&self, number: usize, processors: u32) -> Kernel {
        let commits = || self.repeated.commit.iter();
        let mut arguments = vec![Argument::LoopState];
        arguments.extend(commits().flat_map(|commit| self.pair_arguments(commit)));
        let states = commits().map(|commit| &commit.state);
        kernel(commit_name(number), arguments, self.blocks(states, processors))
    }

    fn commit_text(&self, number: usize) -> String {
        let copy = |(pair, commit): (usize, &Commit)| {
            format!(
                "for (offset_t i = first; i < (offset_t)rows_{pair} * {}; i += all) \
                 state_{pair}[i] = next_{pair}[i];\n",
                self.array(&commit.state).stride
            )
        };
        let commits = || self.repeated.commit.iter();
        COMMIT
            .replace("@NAME@", &commit_name(number))
            .replace("@DECLARED@", &self.pair_declarations(commits(), ""))
            .replace("@COPIED@", &commits().enumerate().map(copy).collect::<String>())
    }

    /// The arguments of a state, of its successor and of their rows.
    fn pair_arguments(&self, commit: &Commit) -> [Argument; 3] {
        [
            Argument::Buffer(commit.state.clone()),
            Argument::Buffer(commit.next.clone()),
            Argument::RowCount(self.array(&commit.state).buffer.rows),
        ]
    }

    /// Their parameters, with a qualifier of the state.
    fn pair_declarations<'a>(
        &self,
        commits: impl Iterator<Item = &'a Commit>,
        qualifier: &str,
    ) -> String {
        let declare = |(pair, commit): (usize, &Commit)| {
            let element = self.array(&commit.state).element;
            format!(
                ", {qualifier}{element}* __restrict__ state_{pair}, const {element}* __restrict__ \
                 next_{pair}, const unsigned rows_{pair}"
            )
        };
        commits.enumerate().map(declare).collect()
    }
}

fn change_name(number: usize) -> String {
    format!("change_of_loop_{number}")
}

fn commit_name(number: usize) -> String {
    format!("commit_of_loop_{number}")
}

fn kernel(name: String, arguments: Vec<Argument>, blocks: Blocks) -> Kernel {
    Kernel { name, arguments, blocks, threads: THREADS, shared_bytes: 0 }
}

/// The loops of a list, with its buffers.
fn loops(list: &LaunchList, bytes_per_real: u64) -> impl Iterator<Item = (usize, LoopArrays<'_>)> {
    let of_loop = move |repeated| LoopArrays { list, repeated, bytes_per_real };
    list.loops().iter().map(of_loop).enumerate()
}

/// The kernels that end a superstep of each loop, in the order in which they run.
pub(super) fn loop_kernels(
    list: &LaunchList,
    bytes_per_real: u64,
    processors: u32,
) -> Vec<Vec<Kernel>> {
    let of_loop = |(number, arrays): (usize, LoopArrays)| {
        vec![arrays.change_kernel(number, processors), arrays.commit_kernel(number, processors)]
    };
    loops(list, bytes_per_real).map(of_loop).collect()
}

/// The source of these kernels.
pub(super) fn source(list: &LaunchList, bytes_per_real: u64) -> String {
    let of_loop = |(number, arrays): (usize, LoopArrays)| {
        [arrays.change_text(number), arrays.commit_text(number)]
    };
    loops(list, bytes_per_real).flat_map(of_loop).collect()
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
        bytes[40] = 3;
        let end = LoopEnd::NotANumber;
        let state = LoopState { done: 7, changed: 256, summed: 0.25, end, whole: 3 };
        assert_eq!(LoopState::from_bytes(&bytes), state);
    }
}
