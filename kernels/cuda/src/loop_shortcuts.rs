//! loop_shortcuts: algorithms that replace the supersteps of a loop on a GPU, each one cooperative
//! kernel: breadth-first search, shortest paths, connected components and core numbers.
//!
//! promises  the states that supersteps end with, to the bit: they are unique, in whatever order
//!           edges are walked; nothing is computed where first values or lengths do not meet the
//!           conditions of an algorithm, which the kernel checks
//! never     turns to the host before the loop has ended
//! limits    with tables of slots, 50 to 90 bytes a vertex and up to 2 bytes an edge, also where
//!           the loop goes in supersteps; no stop before the end of a loop
use super::kernel_parameters::stored;
use super::{Argument, Blocks, Kernel, ListPart, THREADS, WalkedLists, device_plan::ShortcutRoom};
use warploom_ir::{Direction, Input, Number, Type};
use warploom_launch::{BufferName, Course, EdgeLength, Element, LaunchList, Loop, Role, Rows};

/// Bytes at the begin of the memory of an algorithm that are 0 before it starts.
pub const ZERO_BYTES: u64 = 256;

/// Bytes there that are 0 before its tables are made.
pub const HEAD_BYTES: u64 = 512;

/// Bytes of a task.
const TASK_BYTES: u64 = 16;

/// Threads of a block, of which each processor has one.
const CREW_THREADS: u32 = 1024;

/// Shared memory of a block: sums of its warps, or samples.
pub(super) const SHARED_BYTES: u32 = 1024;

const WORKLISTS: &str = include_str!("worklists.cuh");
const LEVELS: &str = include_str!("bfs_levels.cuh");
const PATHS: &str = include_str!("shortest_paths.cuh");
const COMPONENTS: &str = include_str!("connected_components.cuh");
const CORES: &str = include_str!("core_numbers.cuh");

/// Bytes of the memory of an algorithm, for so many vertices and edges.
pub(super) fn room_bytes(room: ShortcutRoom, nodes: u64, edges: u64) -> u64 {
    let tasks = u64::from(room.sides) * (nodes + edges / u64::from(room.piece));
    let of_vertices = (nodes + 64) * u64::from(room.vertex_bytes);
    HEAD_BYTES + u64::from(room.task_lists) * tasks * TASK_BYTES + of_vertices
}

/// What computes a loop.
#[derive(Clone, Debug, PartialEq)]
enum Algorithm {
    /// Values that grow by a number along each edge.
    Levels(i64),
    /// Sums of the weights of edges, in this buffer, or of equal lengths.
    Paths(PathLength),
    /// The smallest value of each component.
    Components,
    /// Core numbers.
    Cores,
}

#[derive(Clone, Debug, PartialEq)]
enum PathLength {
    Weights(BufferName),
    Same(f64),
}

/// A loop that an algorithm replaces.
struct Shortcut<'a> {
    number: usize,
    state: &'a str,
    element: Element,
    direction: Direction,
    algorithm: Algorithm,
}

/// The lists of edges that lead from a vertex to those that read it.
pub(super) fn push_directions(direction: Direction) -> &'static [Direction] {
    match direction {
        Direction::In => &[Direction::Out],
        Direction::Out => &[Direction::In],
        Direction::Both => &[Direction::Out, Direction::In],
    }
}

/// The lists of edges that a vertex reads.
fn pull_directions(direction: Direction) -> &'static [Direction] {
    match direction {
        Direction::In => &[Direction::In],
        Direction::Out => &[Direction::Out],
        Direction::Both => &[Direction::In, Direction::Out],
    }
}

/// How parameters of a direction begin.
pub(super) fn side_name(direction: Direction) -> &'static str {
    if direction == Direction::In { "in" } else { "out" }
}

impl<'a> Shortcut<'a> {
    /// The algorithm of a loop, if it has one here.
    fn from_loop(list: &LaunchList, number: usize, repeated: &'a Loop) -> Option<Shortcut<'a>> {
        let course = repeated.course.as_ref()?;
        let element = find_element(list, course.state())?;
        let is_whole = matches!(element, Element::Whole(_));
        let is_int = element == Element::Whole(Type::Int);
        let direction = course.direction();
        let algorithm = match course {
            Course::Cores { .. } if is_int => Algorithm::Cores,
            Course::Least { step: EdgeLength::Nothing, .. } if is_whole => Algorithm::Components,
            Course::Least { step: EdgeLength::Number(Number::Int(step)), .. } if is_int => {
                Algorithm::Levels(*step)
            }
            Course::Least { step: EdgeLength::Number(Number::Real(length)), .. } => {
                (element == Element::Real).then_some(Algorithm::Paths(PathLength::Same(*length)))?
            }
            Course::Least { step: EdgeLength::Weight, .. } if element == Element::Real => {
                let is_weight = |role: &Role| *role == Role::Given(Input::Weight);
                let weights = list.buffers.iter().find(|buffer| is_weight(&buffer.role))?;
                (weights.element == Element::Real)
                    .then(|| Algorithm::Paths(PathLength::Weights(weights.name.clone())))?
            }
            _ => return None,
        };
        Some(Shortcut { number, state: course.state(), element, direction, algorithm })
    }

    /// The name of its kernel.
    fn name(&self) -> String {
        let what = match self.algorithm {
            Algorithm::Levels(_) => "levels",
            Algorithm::Paths(_) => "paths",
            Algorithm::Components => "components",
            Algorithm::Cores => "cores",
        };
        format!("{what}_of_loop_{}", self.number)
    }

    /// The name that its size of tasks has in the kernel.
    fn piece_name(&self) -> &'static str {
        match self.algorithm {
            Algorithm::Levels(_) => "LEVEL_PIECE",
            Algorithm::Paths(_) => "PATH_PIECE",
            Algorithm::Components => "COMPONENT_PIECE",
            Algorithm::Cores => "CORE_PIECE",
        }
    }

    fn sides(&self) -> u32 {
        push_directions(self.direction).len() as u32
    }

    fn room(&self) -> ShortcutRoom {
        // Edges of one task at most, as in the kernels.
        let (task_lists, piece, vertex_bytes) = match self.algorithm {
            Algorithm::Levels(_) => (2, 64, 1),
            Algorithm::Paths(_) => (2, 16, 13),
            Algorithm::Components => (1, 64, 12),
            Algorithm::Cores => (2, 32, 12),
        };
        ShortcutRoom { sides: self.sides(), task_lists, piece, vertex_bytes }
    }

    /// Directions whose slots it reads, and those whose other ends.
    fn directions(&self) -> [Vec<Direction>; 2] {
        let (push, pull) = (push_directions(self.direction), pull_directions(self.direction));
        let both = || {
            let rest = pull.iter().filter(|direction| !push.contains(direction));
            push.iter().chain(rest).copied().collect::<Vec<_>>()
        };
        match self.algorithm {
            Algorithm::Levels(_) => [both(), both()],
            Algorithm::Paths(_) | Algorithm::Components => [push.to_vec(), push.to_vec()],
            Algorithm::Cores => [both(), push.to_vec()],
        }
    }

    /// Its parameters in CUDA, and their arguments.
    fn parameters(&self) -> Vec<(String, Argument)> {
        let state = format!("{}* state", stored(self.element));
        let mut parameters = vec![
            ("LoopState* loop".to_owned(), Argument::LoopState),
            (state, Argument::Buffer(self.state.to_owned())),
            ("const unsigned nodes".to_owned(), Argument::RowCount(Rows::Nodes)),
            ("const unsigned edges".to_owned(), Argument::RowCount(Rows::Edges)),
            ("unsigned char* room".to_owned(), Argument::ShortcutRoom(self.room())),
        ];
        let [slots, far] = self.directions();
        parameters.extend(slots.into_iter().map(|direction| {
            let name = format!("const uint2* {}_slots", side_name(direction));
            (name, Argument::SlotsOfVertices(direction))
        }));
        parameters.extend(far.into_iter().map(|direction| {
            let name = format!("const unsigned* {}_far", side_name(direction));
            (name, Argument::Items(WalkedLists::Edges(direction), ListPart::Far))
        }));
        if let Algorithm::Paths(PathLength::Weights(weights)) = &self.algorithm {
            parameters.extend(push_directions(self.direction).iter().map(|&direction| {
                let name = format!("const real* {}_lengths", side_name(direction));
                (name, Argument::Slots(weights.clone(), WalkedLists::Edges(direction)))
            }));
        }
        parameters
    }

    fn kernel(&self, processors: u32) -> Kernel {
        Kernel {
            name: self.name(),
            arguments: self.parameters().into_iter().map(|(_, argument)| argument).collect(),
            blocks: Blocks::Together(processors),
            threads: CREW_THREADS,
            shared_bytes: SHARED_BYTES,
        }
    }

    fn source(&self) -> String {
        let (push, pull) = (push_directions(self.direction), pull_directions(self.direction));
        let ShortcutRoom { sides, piece, .. } = self.room();
        let is_pulling = matches!(self.algorithm, Algorithm::Levels(_));
        let declared: Vec<String> = self.parameters().into_iter().map(|(text, _)| text).collect();
        let (lists, call) = match &self.algorithm {
            Algorithm::Levels(step) => (
                edge_lists("pull", pull, is_pulling),
                format!(
                    "find_levels<{sides}>(loop, state, nodes, edges, {step}LL, push, pull, room, \
                     shared_words);"
                ),
            ),
            Algorithm::Cores => (
                edge_lists("pull", pull, is_pulling),
                format!(
                    "find_cores<{sides}>(loop, state, nodes, edges, push, pull, room, \
                     shared_words);"
                ),
            ),
            Algorithm::Components => (
                String::new(),
                format!(
                    "find_components<{sides}>(loop, state, nodes, edges, push, room,\n  \
                     reinterpret_cast<unsigned*>(shared_words));"
                ),
            ),
            Algorithm::Paths(length) => {
                let lengths = push.iter().map(|&side| match length {
                    PathLength::Weights(_) => format!("{}_lengths", side_name(side)),
                    PathLength::Same(_) => "nullptr".to_owned(),
                });
                let lengths = lengths.collect::<Vec<_>>().join(", ");
                let same = if let PathLength::Same(length) = length { *length } else { 0.0 };
                (
                    format!("const real* const lengths[{sides}] = {{{lengths}}};\n"),
                    format!(
                        "find_paths<{sides}>(loop, state, nodes, edges, push, lengths, \
                         (real){same:e}, room,\n  reinterpret_cast<double*>(shared_words));"
                    ),
                )
            }
        };
        format!(
            "\nextern \"C\" __global__ void __launch_bounds__({CREW_THREADS}, 1) {}(\n    {}) \
             {{\nextern __shared__ unsigned long long shared_room[];\nunsigned long long* const \
             shared_words = reinterpret_cast<unsigned long long*>(shared_room);\n\
             static_assert({} == {piece}, \"the room of a plan is for these\");\nif \
             (count_tasks<{sides}, {piece}>(nodes, edges) > MOST_TASKS) {{\nif (blockIdx.x == 0 && \
             threadIdx.x == 0) end_loop(loop, 0, DOES_NOT_APPLY);\nreturn;\n}}\n\
             {}{lists}{call}\n}}\n",
            self.name(),
            declared.join(", "),
            self.piece_name(),
            edge_lists("push", push, true),
        )
    }
}

/// The lists of these directions in CUDA; without other ends where none are read.
pub(super) fn edge_lists(name: &str, directions: &[Direction], with_far: bool) -> String {
    let names = |suffix: &str| {
        let names = directions.iter().map(|side| format!("{}_{suffix}", side_name(*side)));
        names.collect::<Vec<_>>().join(", ")
    };
    let far = if with_far { names("far") } else { String::new() };
    let sides = directions.len();
    format!("const EdgeLists<{sides}> {name} = {{{{{}}}, {{{far}}}}};\n", names("slots"))
}

fn find_element(list: &LaunchList, name: &str) -> Option<Element> {
    list.buffers.iter().find(|buffer| buffer.name == name).map(|buffer| buffer.element)
}

/// The algorithm of each loop of a list.
fn shortcuts(list: &LaunchList) -> Vec<Option<Shortcut<'_>>> {
    let of_loop = |(number, repeated)| Shortcut::from_loop(list, number, repeated);
    list.loops().iter().enumerate().map(of_loop).collect()
}

/// A kernel over vertices, or edges, before an algorithm runs.
fn table_kernel(name: &str, arguments: Vec<Argument>, rows: Rows, processors: u32) -> Kernel {
    Kernel {
        name: name.to_owned(),
        arguments,
        blocks: Blocks::Parts { rows, each: THREADS, most: 8 * processors, tiles: [1, 1] },
        threads: THREADS,
        shared_bytes: 0,
    }
}

/// Makes the slots of the vertices of a direction.
pub(super) fn slots_kernel(direction: Direction, processors: u32) -> Kernel {
    let list = |part| Argument::Items(WalkedLists::Edges(direction), part);
    let arguments = vec![
        Argument::SlotsOfVertices(direction),
        list(ListPart::Row),
        list(ListPart::Offset),
        Argument::RowCount(Rows::Nodes),
    ];
    table_kernel("slots_of_vertices", arguments, Rows::Nodes, processors)
}

/// Compares the lists of both directions.
fn comparing_kernel(room: ShortcutRoom, processors: u32) -> Kernel {
    let sides = [Direction::In, Direction::Out];
    let far = |side| Argument::Items(WalkedLists::Edges(side), ListPart::Far);
    let arguments = [Argument::ShortcutRoom(room)]
        .into_iter()
        .chain(sides.map(Argument::SlotsOfVertices))
        .chain(sides.map(far))
        .chain([Argument::RowCount(Rows::Nodes), Argument::RowCount(Rows::Edges)])
        .collect();
    table_kernel("compare_lists", arguments, Rows::Edges, processors)
}

/// Whether each loop has an algorithm.
pub(super) fn replaced_loops(list: &LaunchList) -> Vec<bool> {
    shortcuts(list).iter().map(Option::is_some).collect()
}

/// The kernels of each loop: those that make its tables, once, and the algorithm.
pub(super) fn kernels(list: &LaunchList, processors: u32) -> Vec<Vec<Kernel>> {
    let of_loop = |shortcut: Option<Shortcut>| {
        let Some(shortcut) = shortcut else { return Vec::new() };
        // Edges that are read in one direction join components where they lead both ways.
        let compares =
            shortcut.algorithm == Algorithm::Components && shortcut.direction != Direction::Both;
        let [slots, _] = shortcut.directions();
        let slots = if compares { vec![Direction::In, Direction::Out] } else { slots };
        let tables = slots.into_iter().map(|direction| slots_kernel(direction, processors));
        let compared = compares.then(|| comparing_kernel(shortcut.room(), processors));
        tables.chain(compared).chain([shortcut.kernel(processors)]).collect()
    };
    shortcuts(list).into_iter().map(of_loop).collect()
}

/// The source of these kernels.
pub(super) fn source(list: &LaunchList) -> String {
    shortcuts(list).iter().flatten().map(Shortcut::source).collect()
}

/// What precedes the kernels of a list with such loops, or with others that have work lists.
pub(super) fn opening(list: &LaunchList, has_worklists: bool) -> String {
    let found = shortcuts(list);
    let uses = |is_used: fn(&Algorithm) -> bool| {
        found.iter().flatten().any(|shortcut| is_used(&shortcut.algorithm))
    };
    let parts = [
        (has_worklists || uses(|_| true), WORKLISTS),
        (uses(|algorithm| matches!(algorithm, Algorithm::Levels(_))), LEVELS),
        (uses(|algorithm| matches!(algorithm, Algorithm::Paths(_))), PATHS),
        (uses(|algorithm| matches!(algorithm, Algorithm::Components)), COMPONENTS),
        (uses(|algorithm| matches!(algorithm, Algorithm::Cores)), CORES),
    ];
    parts.into_iter().filter(|(is_used, _)| *is_used).map(|(_, text)| text).collect()
}
