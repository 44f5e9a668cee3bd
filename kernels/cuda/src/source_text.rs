//! source_text: the CUDA source of kernels that are decided: prints each body once, and defines
//! kernels of equal text once.
//!
//! promises  a body is printed here alone, since nothing else has a `Printer`; kernels whose text
//!           differs in names alone have one definition
//! never     chooses a schedule, a grid, an argument or a buffer
use std::collections::BTreeMap;

use super::kernel_parameters::Parameters;
use super::{Argument, Blocks, Kernel, THREADS};
use warploom_launch::{Launch, LaunchList, Operation};

/// What allows a body to be printed. Whoever decides has none.
pub(super) struct Printer(());

/// What a kernel does, as data.
pub(super) trait KernelBody {
    /// The statements of the body, in CUDA.
    fn text(&self, printer: &Printer) -> String;
}

/// A kernel of a launch, decided and not yet printed.
pub(super) struct KernelDraft {
    /// The file and a function that it comes from.
    pub maker: &'static str,
    /// Suffix of its name, where the launch has several kernels.
    pub suffix: &'static str,
    pub parameters: Parameters,
    /// Elements of constant tables, which are defined before the kernel.
    pub tables: Vec<String>,
    pub body: Box<dyn KernelBody>,
    /// Whether its body itself waits for the preceding kernels, where it needs their results. If
    /// not, the kernel waits at its start.
    pub waits: bool,
    /// Whether it does nothing once the loop that it is part of has ended.
    pub skips_after_end: bool,
    pub threads: u32,
    /// Minimum resident blocks per SM (`__launch_bounds__`).
    pub resident: u32,
    pub grid: Blocks,
    pub shared_bytes: u32,
}

impl KernelDraft {
    /// A kernel with blocks of the default size.
    pub fn new(
        maker: &'static str,
        parameters: Parameters,
        grid: Blocks,
        body: impl KernelBody + 'static,
    ) -> Self {
        KernelDraft {
            maker,
            suffix: "",
            parameters,
            tables: Vec::new(),
            body: Box::new(body),
            waits: false,
            skips_after_end: false,
            threads: THREADS,
            resident: 1,
            grid,
            shared_bytes: 0,
        }
    }

    /// Makes it part of a superstep, which does nothing once its loop has ended.
    pub fn skip_after_end(&mut self) {
        self.skips_after_end = true;
        self.parameters.push("const LoopState* __restrict__ loop", Argument::LoopState);
    }

    /// How it is launched, under this name.
    pub fn kernel(&self, name: String) -> Kernel {
        Kernel {
            name,
            arguments: self.parameters.arguments(),
            blocks: self.grid.clone(),
            threads: self.threads,
            shared_bytes: self.shared_bytes,
        }
    }
}

/// The kernels of one launch, decided, and what is said of them in comments.
#[derive(Default)]
pub(super) struct LaunchDraft {
    /// Whether the launch is described above its kernels.
    pub is_described: bool,
    /// The launch whose kernel computes this one.
    pub merged_into: Option<String>,
    /// Sentences about the schedule.
    pub notes: Vec<String>,
    pub kernels: Vec<KernelDraft>,
}

/// A source that is printed launch by launch.
pub(super) struct SourceText {
    text: String,
    printer: Printer,
    /// Names of definitions, by their anonymous text.
    known: BTreeMap<String, String>,
}

impl SourceText {
    /// A source that begins with this text.
    pub fn new(opening: String) -> SourceText {
        SourceText { text: opening, printer: Printer(()), known: BTreeMap::new() }
    }

    /// Defines a kernel that no launch has. One that is already defined under another name takes
    /// that name.
    pub fn add_kernel(&mut self, kernel: &mut Kernel, draft: &KernelDraft) {
        if let Some(known) = self.define(&kernel.name, &format!("table_{}_", kernel.name), draft) {
            kernel.name = known;
        }
    }

    /// Appends definitions that no launch has.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Defines the kernels of a launch. Those that are already defined under another name take that
    /// name.
    pub fn add_launch(
        &mut self,
        list: &LaunchList,
        number: usize,
        launch: &Launch,
        draft: &LaunchDraft,
        kernels: &mut [Kernel],
    ) {
        if draft.is_described {
            self.describe(list, launch);
        }
        if let Some(maker) = &draft.merged_into {
            self.text.push_str(&format!("// merged into the kernel of {maker}\n"));
        }
        for note in &draft.notes {
            self.text.push_str(&format!("//   ({note})\n"));
        }
        for (place, (kernel, draft)) in kernels.iter_mut().zip(&draft.kernels).enumerate() {
            let tables = format!("table_{number}_{place}_");
            if let Some(known) = self.define(&kernel.name, &tables, draft) {
                kernel.name = known;
            }
        }
    }

    /// Defines a kernel and its tables, unless an equal one is already defined: then its name.
    fn define(&mut self, name: &str, own_tables: &str, kernel: &KernelDraft) -> Option<String> {
        let KernelDraft { maker, threads, waits, resident, .. } = kernel;
        let body = kernel.body.text(&self.printer);
        let tables = table_definitions(&kernel.tables);
        let waits = match (kernel.skips_after_end, *waits) {
            (true, _) => "after_others();\nif (loop->ended) return;\n",
            (false, true) => "",
            (false, false) => "after_others();\n",
        };
        let resident = match resident {
            few @ ..=2 => few.to_string(),
            many => format!("ON_HOPPER({many})"),
        };
        let parameters = kernel.parameters.text();
        let text = format!(
            "__launch_bounds__({threads}, {resident}) KERNEL({parameters}) {{\n{waits}{body}}}\n"
        );
        let anonymous = anonymous(&format!("{tables}{text}"));
        if let Some(name) = self.known.get(&anonymous) {
            self.text.push_str(&format!("// as {name}\n"));
            return Some(name.clone());
        }
        self.text.push_str(&format!("//   (text: cuda/src/{maker})\n"));
        self.text.push_str(&tables.replace("TABLE_", own_tables));
        self.text.push_str(&format!(
            "extern \"C\" __global__ void {}",
            text.replacen("KERNEL", name, 1).replace("TABLE_", own_tables)
        ));
        self.known.insert(anonymous, name.to_owned());
        None
    }

    /// Describes a launch in a comment above its kernels.
    fn describe(&mut self, list: &LaunchList, launch: &Launch) {
        let (name, bytes, lines) = (&launch.name, launch.bytes, program_lines(list, launch));
        self.text.push_str(&format!("\n// {name}: {bytes} bytes at least{lines}\n"));
        for line in launch.operation.described().lines() {
            self.text.push_str(&format!("//   {line}\n"));
        }
    }

    /// The whole source, indented.
    pub fn finish(self) -> String {
        indented(&self.text)
    }
}

/// The program lines that a launch comes from.
fn program_lines(list: &LaunchList, launch: &Launch) -> String {
    let writes = launch.operation.steps().iter().flat_map(Operation::writes);
    let lines: std::collections::BTreeSet<u32> =
        writes.filter_map(|name| list.lines.get(name.as_ref()).copied()).collect();
    let numbers = lines.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    match lines.len() {
        0 => String::new(),
        1 => format!(", line {numbers} of the program"),
        _ => format!(", lines {numbers} of the program"),
    }
}

/// Constant tables for elements that no short expression gives.
fn table_definitions(tables: &[String]) -> String {
    let line = |(number, table): (usize, &String)| {
        format!("__constant__ unsigned short TABLE_{number}[] = {{{table}}};\n")
    };
    tables.iter().enumerate().map(line).collect()
}

/// Indents lines by the depth of the braces around them.
fn indented(source: &str) -> String {
    let (mut text, mut depth) = (String::with_capacity(source.len() + source.len() / 8), 0usize);
    for line in source.lines() {
        let line = line.trim();
        let code = if line.starts_with("//") { "" } else { line };
        let closes = code.chars().take_while(|letter| *letter == '}').count();
        let shown = depth.saturating_sub(closes);
        if !line.is_empty() {
            text.extend(std::iter::repeat_n("  ", shown));
        }
        text.push_str(line);
        text.push('\n');
        let (opened, closed) = (code.matches('{').count(), code.matches('}').count());
        depth = (depth + opened).saturating_sub(closed);
    }
    text
}

/// A definition with its names numbered in order of appearance: definitions that differ in names
/// alone are equal.
fn anonymous(definition: &str) -> String {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut text = String::with_capacity(definition.len());
    let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    for piece in definition.split_inclusive(|letter| !is_of_word(letter)) {
        let word = piece.trim_end_matches(|letter| !is_of_word(letter));
        if is_own_name(word) {
            let next = numbers.len();
            text.push('@');
            text.push_str(&numbers.entry(word).or_insert(next).to_string());
        } else {
            text.push_str(word);
        }
        text.push_str(&piece[word.len()..]);
    }
    text
}

/// Whether a word of a definition is a name that the emitter gave: of a buffer, a table or a value.
fn is_own_name(word: &str) -> bool {
    let ends_in_number = || {
        word.rsplit_once('_').is_some_and(|(_, end)| {
            !end.is_empty() && end.bytes().all(|digit| digit.is_ascii_digit())
        })
    };
    (["b_", "o_", "slots_", "table_"].iter().any(|start| word.starts_with(start))
        || ends_in_number())
        && !word.starts_with("stream_")
        && !word.starts_with(|first: char| first.is_ascii_digit())
}
