//! epoch_clock: the format of an epoch's measurement, the kernel that advances the epoch counter,
//! and the optimiser.
//!
//! promises  the arithmetic of `ops::optimizer`, in its types
//! never     measures: the kernel of `loss` does
use super::kernel_parameters::Parameters;
use super::source_text::{KernelBody, KernelDraft, Printer};
use super::{Argument, Blocks, Kernel, NoKernel, ScheduleKind, THREADS, Unit};
use warploom_ir::Loss;
use warploom_launch::{Operation, gradient_buffer, parameter_buffer};

/// The number of optimiser settings, in order: kind (0 plain, 1 momentum, 2 Adam, 3 AdamW),
/// learning rate, first decay or momentum, second decay, epsilon, weight decay.
pub const OPTIMIZER: usize = 6;

/// Splits of the target that are measured: training, validation, test.
pub const PARTS: usize = 3;

/// 32-bit numbers that an evaluation pass counts per split. Classes: correct rows; then per class
/// true positives, predictions and rows. Labels: known, agreeing, true positive, predicted and
/// positive elements. Numbers: two sums in f64, of squared and of absolute errors.
pub fn counts_of_part(kind: Loss, columns: u64) -> usize {
    match kind {
        Loss::CrossEntropy => 1 + 3 * columns as usize,
        Loss::Binary => 5,
        Loss::MeanSquares => 4,
    }
}

/// Epochs whose measurements stay on the device until they are fetched.
pub const SLOTS: usize = 128;

/// Bytes of one measurement.
pub fn slot_bytes(kind: Loss, columns: u64) -> usize {
    (8 + 4 * PARTS * counts_of_part(kind, columns)).next_multiple_of(8)
}

/// The kernel that advances the clock to the next epoch and clears its counts.
pub(super) fn clock_kernel(kind: Loss, columns: u64) -> Vec<Kernel> {
    let arguments = vec![
        Argument::Clock,
        Argument::Paces,
        Argument::Number(SLOTS as u32),
        Argument::Measures,
        Argument::Number(count_numbers(kind, columns)),
    ];
    vec![Kernel {
        name: "tick".to_owned(),
        arguments,
        blocks: Blocks::Fixed([1, 1, 1]),
        threads: THREADS,
        shared_bytes: 0,
    }]
}

/// 32-bit numbers that an evaluation pass counts, over all splits.
pub(super) fn count_numbers(kind: Loss, columns: u64) -> u32 {
    (PARTS * counts_of_part(kind, columns)) as u32
}

/// The device code that lets epochs follow each other without the host.
pub(super) const CLOCKWORK: &str = "
// Advances the clock to the next epoch and clears its counts.
extern \"C\" __global__ void tick(Clock* __restrict__ clock, const double* __restrict__ paces, const unsigned slots, unsigned* __restrict__ counts, const unsigned counted) {
after_others();
for (unsigned i = threadIdx.x; i < counted; i += blockDim.x) counts[i] = 0;
if (threadIdx.x > 0) return;
const unsigned next = clock->epoch + 1;
clock->epoch = next;
clock->step = next + 1;
clock->pace = paces[next % slots];
}
";

impl Unit<'_> {
    /// An optimiser step: one kernel for a run of parameters, at the launch of the first of
    /// them.
    pub(super) fn decide_optimizer(&mut self, parameter: &str) -> Result<(), NoKernel> {
        let launches = self.list.launches();
        let all: Vec<&str> = launches
            .iter()
            .filter_map(|launch| {
                if let Operation::Optimize { parameter } = &launch.operation {
                    Some(parameter.as_str())
                } else {
                    None
                }
            })
            .collect();
        let at = all.iter().position(|known| *known == parameter).unwrap_or(0);
        let first = at / STEPPED * STEPPED;
        if at != first {
            self.merged_into(all[first].to_owned());
            return Ok(());
        }
        let stepped = all[first..]
            .iter()
            .take(STEPPED)
            .map(|parameter| self.optimizer_arguments(parameter))
            .collect::<Result<Vec<_>, _>>()?;
        let mut parameters = Parameters::new();
        for (number, (given, _)) in stepped.iter().enumerate() {
            let [parameter, gradient, first, second, settings] = given.clone();
            parameters.push_output(format!("real* parameter_{number}"), parameter);
            parameters.push(format!("const real* __restrict__ gradient_{number}"), gradient);
            parameters.push_output(format!("real* first_{number}"), first);
            parameters.push_output(format!("real* second_{number}"), second);
            parameters.push(format!("const double* __restrict__ settings_{number}"), settings);
        }
        parameters.push("const Clock* __restrict__ clock", Argument::Clock);
        let elements: Vec<u64> = stepped.iter().map(|(_, elements)| *elements).collect();
        let body = OptimizerBody { elements };
        self.header();
        self.note([(ScheduleKind::OptimizerStep, true)]);
        let blocks = Blocks::Fixed([body.ends().last().copied().unwrap_or(0) as u32, 1, 1]);
        self.add_kernel(KernelDraft {
            waits: true,
            ..KernelDraft::new("epoch_clock.rs, decide_optimizer", parameters, blocks, body)
        });
        Ok(())
    }

    /// The arguments of a parameter's step, and its number of elements.
    fn optimizer_arguments(&self, parameter: &str) -> Result<([Argument; 5], u64), NoKernel> {
        let number = self.list.parameters.iter().position(|known| known.name == parameter);
        let held =
            self.list.buffers.iter().find(|buffer| buffer.name == parameter_buffer(parameter));
        let (Some(number), Some(held)) = (number, held) else {
            return Err(NoKernel::new(format!("no parameter `{parameter}`")));
        };
        let rows = if let warploom_launch::Rows::Fixed(rows) = held.rows { rows } else { 1 };
        let given = [
            Argument::Buffer(parameter_buffer(parameter)),
            Argument::Buffer(gradient_buffer(parameter)),
            Argument::Moment(number, 1),
            Argument::Moment(number, 2),
            Argument::Optimizer(number),
        ];
        Ok((given, rows * held.columns))
    }
}

/// The body of an optimiser step of several parameters, with the elements of each.
struct OptimizerBody {
    elements: Vec<u64>,
}

impl OptimizerBody {
    /// The block after the last one of each parameter.
    fn ends(&self) -> Vec<u64> {
        let blocks = self.elements.iter().map(|elements| elements.div_ceil(u64::from(THREADS)));
        let add = |end: &mut u64, blocks: u64| {
            *end += blocks;
            Some(*end)
        };
        blocks.scan(0, add).collect()
    }
}

impl KernelBody for OptimizerBody {
    fn text(&self, _printer: &Printer) -> String {
        let ends = self.ends();
        let choice = |of: &dyn Fn(usize) -> String| {
            let last = ends.len() - 1;
            (0..last)
                .map(|p| format!("blockIdx.x < {}u ? {} : ", ends[p], of(p)))
                .collect::<String>()
                + &of(last)
        };
        let pointer = |kind: &str, name: &str| {
            format!("{kind}* const {name} = {};\n", choice(&|p| format!("{name}_{p}")))
        };
        let chosen: String = [
            ("real", "parameter"),
            ("const real", "gradient"),
            ("real", "first"),
            ("real", "second"),
            ("const double", "settings"),
        ]
        .map(|(kind, name)| pointer(kind, name))
        .concat();
        let starts = choice(&|p| format!("{}u", if p == 0 { 0 } else { ends[p - 1] }));
        let elements = choice(&|p| format!("{}u", self.elements[p]));
        format!(
            "{chosen}const unsigned i = (blockIdx.x - ({starts})) * blockDim.x + threadIdx.x, \
                elements = {elements};\n{OPTIMIZE}"
        )
    }
}

/// Maximum parameters per kernel: its arguments must fit 4 KiB.
const STEPPED: usize = 24;

/// The bias correction of the moments is computed while preceding kernels finish: it reads settings
/// and the step counter, which they do not change (the counter advances after all steps of an
/// epoch, and the loss waits for that). Then all operands are loaded at once.
const OPTIMIZE: &str = "const int rule = (int)settings[0];
const double first_beta = settings[2], second_beta = settings[3], decay = settings[5];
double first_whole = 1, second_root = 1;
if (rule >= 2) {
const unsigned step = clock->step;
first_whole = 1 - to_the(first_beta, step);
second_root = sqrt(1 - to_the(second_beta, step));
}
after_others();
if (i >= elements) return;
const double rate = settings[1] * clock->pace;
const unsigned halted = clock->halted;
real p = parameter[i], slope = gradient[i];
const real kept_one = rule == 0 ? (real)0 : first[i], kept_two = rule < 2 ? (real)0 : second[i];
if (halted) return;
if (rule == 0) {
parameter[i] = p - (real)rate * (slope + (real)decay * p);
} else if (rule == 1) {
const real kept = (real)first_beta * kept_one + (slope + (real)decay * p);
first[i] = kept;
parameter[i] = p - (real)rate * kept;
} else {
if (rule == 2) slope = slope + (real)decay * p;
const real one = (real)first_beta * kept_one + (real)(1 - first_beta) * slope, two = (real)second_beta * kept_two + (real)(1 - second_beta) * (slope * slope);
first[i] = one;
second[i] = two;
const real going = one / (root(two) / (real)second_root + (real)settings[4]);
parameter[i] = p * (rule == 3 ? (real)(1 - rate * decay) : (real)1) - (real)(rate / first_whole) * going;
}
";
