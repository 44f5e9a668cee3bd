//! training_control: decisions between epochs, taken on the device: whether parameters are the best
//! checkpoint, the learning-rate factor after a plateau, and early stopping.
//!
//! promises  the decisions of a host with the same counts: the same operations in f64, in the same
//!           order; checkpoints hold the parameters as they were measured: the best ones or, if
//!           those are not wanted, those of the last epoch; nothing is decided after the epoch that
//!           stops training
//! never     counts or measures, which the loss has done; checkpoints moments
//! limits    metrics that follow from counts; parameters of at most `best_parameter_bytes`, so that
//!           a second copy costs little: epochs of larger ones are long, so a host can inspect each
use super::epoch_clock::counts_of_part;
use super::{Argument, Blocks, Kernel, THREADS};
use warploom_ir::Loss;
use warploom_launch::{LaunchList, parameter_buffer};
use warploom_tuning as tuning;

/// The state between epochs, as it is stored on the device. There are two copies; each epoch reads
/// one and writes the other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TrainingState {
    /// The metric of the loss's kind: number 0 or 1.
    pub measure: u32,
    /// Whether the best parameters are kept.
    pub keeps: bool,
    /// Epochs without improvement before training stops; none: never.
    pub patience: Option<u32>,
    /// Epochs without improvement before the learning rate is reduced; none: never.
    pub plateau: Option<u32>,
    /// Validation rows.
    pub rows: u32,
    /// The best metric so far.
    pub best: Option<f64>,
    /// Epochs since the best.
    pub stale: u32,
    /// Epochs since the best, or since the learning rate was reduced.
    pub waited: u32,
    /// Whether training has stopped.
    pub over: bool,
    /// The epoch of the last checkpoint.
    pub kept: u32,
    /// The factor that reduces the learning rate after a plateau.
    pub factor: f64,
    /// The minimum of the accumulated factor.
    pub least: f64,
    /// The accumulated factor.
    pub fallen: f64,
}

/// Bytes of a `TrainingState` on the device.
pub const BYTES: usize = 80;

/// No limit.
const NEVER: u32 = u32::MAX;

impl TrainingState {
    /// The state as it is stored on the device.
    pub fn bytes(&self) -> [u8; BYTES] {
        let flags = [self.keeps, self.best.is_some(), self.over].map(u32::from);
        let (patience, plateau) = (self.patience.unwrap_or(NEVER), self.plateau.unwrap_or(NEVER));
        let words = [
            self.measure,
            flags[0],
            patience,
            plateau,
            self.rows,
            flags[1],
            self.stale,
            self.waited,
            flags[2],
            self.kept,
            0,
            0,
        ];
        let numbers = [self.best.unwrap_or_default(), self.factor, self.least, self.fallen];
        let mut bytes = [0; BYTES];
        let all = words
            .into_iter()
            .flat_map(u32::to_le_bytes)
            .chain(numbers.into_iter().flat_map(f64::to_le_bytes));
        bytes.iter_mut().zip(all).for_each(|(to, byte)| *to = byte);
        bytes
    }

    /// The state, read back.
    pub fn from_bytes(bytes: &[u8; BYTES]) -> TrainingState {
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[4 * at + byte]));
        let number =
            |at: usize| f64::from_le_bytes(std::array::from_fn(|byte| bytes[48 + 8 * at + byte]));
        let wait = |at: usize| Some(word(at)).filter(|wait| *wait != NEVER);
        TrainingState {
            measure: word(0),
            keeps: word(1) != 0,
            patience: wait(2),
            plateau: wait(3),
            rows: word(4),
            best: (word(5) != 0).then(|| number(0)),
            stale: word(6),
            waited: word(7),
            over: word(8) != 0,
            kept: word(9),
            factor: number(1),
            least: number(2),
            fallen: number(3),
        }
    }
}

/// Maximum parameters per kernel: its arguments must fit 4 KiB.
const KEPT: usize = 100;

/// The kernels and their source; none if parameters are too large to be stored twice.
pub(super) fn emit_watch(
    list: &LaunchList,
    kind: Loss,
    columns: u64,
    bytes_per_real: u64,
) -> (String, Vec<Kernel>) {
    let elements = |number: usize| list.parameters[number].shape.iter().product::<u64>();
    let numbers: Vec<usize> = (0..list.parameters.len()).collect();
    if numbers.iter().fold(0, |all: u64, number| all.saturating_add(elements(*number)))
        > tuning::best_parameter_bytes() / bytes_per_real.max(1)
    {
        return (String::new(), Vec::new());
    }
    let mut source = WATCH.to_owned();
    let chunks = numbers.chunks(KEPT).map(|chunk| {
        let name = format!("watch_{}", chunk[0]);
        let declared: String = chunk
            .iter()
            .map(|number| {
                format!(", const real* __restrict__ from_{number}, real* __restrict__ to_{number}")
            })
            .collect();
        let copies: String = chunk
            .iter()
            .map(|number| {
                format!(
                    "for (unsigned i = first; i < {}u; i += all) \
                to_{number}[i] = from_{number}[i];\n",
                    elements(*number)
                )
            })
            .collect();
        let text = KERNEL
            .replace("@NAME@", &name)
            .replace("@DECLARED@", &declared)
            .replace("@QUALITY@", quality(kind))
            .replace("@EACH@", &counts_of_part(kind, columns).to_string())
            .replace("@COLUMNS@", &columns.to_string())
            .replace(
                "@BETTER@",
                if kind == Loss::MeanSquares {
                    "quality < next.best"
                } else {
                    "quality > next.best"
                },
            )
            .replace("@COPIES@", &copies);
        source.push_str(&text);
        let mut arguments = vec![
            Argument::Watches,
            Argument::Clock,
            Argument::Measures,
            Argument::Number(u32::from(chunk[0] == 0)),
        ];
        let copied = |number: &usize| {
            [
                Argument::Buffer(parameter_buffer(&list.parameters[*number].name)),
                Argument::Kept(*number),
            ]
        };
        arguments.extend(chunk.iter().flat_map(copied));
        let blocks = chunk
            .iter()
            .map(|number| elements(*number))
            .sum::<u64>()
            .div_ceil(tuning::best_copy_elements())
            .clamp(1, tuning::best_copy_blocks()) as u32;
        Kernel {
            name,
            arguments,
            blocks: Blocks::Fixed([blocks, 1, 1]),
            threads: THREADS,
            shared_bytes: 0,
        }
    });
    let kernels = chunks.collect();
    (source, kernels)
}

/// The metric of the validation rows, from the counts; NaN if none of them is known.
fn quality(kind: Loss) -> &'static str {
    match kind {
        Loss::CrossEntropy => {
            "if (next.measure == 0) quality = (double)of[0] / next.rows;
else {
double sum = 0;
unsigned scored = 0;
for (unsigned c = 0; c < @COLUMNS@; c++) {
const unsigned* const of_class = of + 1 + 3 * c;
const unsigned long long both = (unsigned long long)of_class[1] + of_class[2];
if (both > 0) { sum += 2.0 * of_class[0] / (double)both; scored++; }
}
quality = sum / scored;
}
"
        }
        Loss::Binary => {
            "const unsigned long long both = (unsigned long long)of[3] + of[4];
if (next.measure == 0) { if (of[0] > 0) quality = (double)of[1] / of[0]; }
else if (both > 0) quality = 2.0 * of[2] / (double)both;
"
        }
        Loss::MeanSquares => {
            "const double errors = reinterpret_cast<const double*>(of)[next.measure], elements = (double)((unsigned long long)next.rows * @COLUMNS@);
quality = errors / elements;
"
        }
    }
}

const WATCH: &str = "
// The state of decisions between epochs. Each epoch reads one copy and writes the other, so that
// all blocks decide alike.
struct Watch { unsigned measure, keeps, patience, plateau, rows, is_known, stale, waited, over, kept, spare[2]; double best, factor, least, fallen; };
";

const KERNEL: &str = "
// Decides on the checkpoint, the learning-rate factor and early stopping.
extern \"C\" __global__ void @NAME@(Watch* __restrict__ watches, Clock* clock, const unsigned* __restrict__ counts, const unsigned tells@DECLARED@) {
after_others();
__shared__ bool keeps;
if (threadIdx.x == 0) {
const unsigned epoch = clock->epoch;
Watch next = watches[epoch % 2];
keeps = false;
if (!next.over) {
const unsigned* const of = counts + @EACH@;
double quality = ODD;
if (next.rows > 0) {
@QUALITY@}
if (quality == quality && (!next.is_known || @BETTER@)) {
next.best = quality;
next.is_known = 1;
next.stale = next.waited = 0;
keeps = next.keeps;
} else {
next.stale++;
next.waited++;
if (next.plateau != ~0u && next.waited > next.plateau) {
next.fallen = fmax(next.fallen * next.factor, next.least);
next.waited = 0;
}
if (next.stale >= next.patience && next.patience != ~0u) {
next.over = 1;
// Without a best epoch, the parameters of the last one are kept.
keeps = !next.keeps || !next.is_known;
}
}
if (keeps) next.kept = epoch;
}
if (tells && blockIdx.x == 0) {
watches[(epoch + 1) % 2] = next;
if (next.plateau != ~0u) clock->pace = next.fallen;
}
}
__syncthreads();
if (!keeps) return;
const unsigned first = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
@COPIES@}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_gone_by_lies_on_the_device_as_it_is() {
        let known = TrainingState {
            measure: 1,
            keeps: true,
            patience: Some(7),
            rows: 9,
            best: Some(0.25),
            stale: 3,
            over: true,
            kept: 5,
            ..TrainingState::default()
        };
        let falling = TrainingState {
            plateau: Some(2),
            waited: 1,
            factor: 0.5,
            least: 0.125,
            fallen: 0.75,
            ..TrainingState::default()
        };
        for watch in [known, falling, TrainingState::default()] {
            assert_eq!(TrainingState::from_bytes(&watch.bytes()), watch);
        }
    }
}
