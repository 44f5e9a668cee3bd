//! plan: settings of the stage that compiles a program, with its settings, for a device.
//!
//! promises  the program and its settings keep their place in the YAML file, for later errors
//! never     opens the program (the stage does)
use crate::{
    declare::{choices, spec},
    launch_schedules::LaunchSchedules,
    types::{Program, Settings},
};

spec! {
    /// Settings of the stage `plan`.
    pub PlanSpec {
        /// The vertex program: FILE.py, whose entry is named like the file, or FILE.py:NAME. The
        /// path is relative to the YAML file, on the command line to the current folder.
        program: Program = Program::default(), example("programs/gcn.py");
        /// The program's own settings, by the names of its entry's parameters.
        set: Settings = Settings::default();
        /// Precision of f32 inputs of matrix products on a GPU: all bits, tf32 (11 bits) or bf16 (8
        /// bits); sums stay f32. A CPU always uses all bits.
        matmul: Matmul = Matmul::F32;
        /// Where input features are stored for a GPU: in its memory, or in pinned host memory, read
        /// over PCIe at each use. Ignored on a CPU.
        features: Residence = Residence::Auto;
        /// Load balancing of walks over edges: one word for all launches, or a list of entries such
        /// as {for: 'reduce.*', use: neighbour-groups, ngs: 16}. `for` is a launch, a pattern with
        /// `*`, a line of the program, `sum` (walks that visit edges once) or `attention` (more
        /// than once); the last entry that fits a launch counts, and launches without an entry go
        /// by rows. Launches that cannot walk by groups go by rows.
        schedule: LaunchSchedules = LaunchSchedules::default();
        /// The target device: auto, cpu, cuda, cuda:INDEX or the name of a file with device facts.
        device: String = "auto".to_string();
    }
}

choices! {
    /// Where features are stored.
    Residence {
        /// On the device if the run fits there, else on the host.
        Auto = "auto",
        /// On the device.
        Device = "device",
        /// On the host. Sparse features stay on the device.
        Host = "host",
    }
}

choices! {
    /// Precision of the inputs of a matrix product.
    Matmul {
        /// All bits of f32.
        F32 = "f32",
        /// The first 11 bits, as tensor cores use for tf32.
        Tf32 = "tf32",
        /// The first 8 bits, as bf16.
        Bf16 = "bf16",
    }
}
