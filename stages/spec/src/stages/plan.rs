//! plan: settings of the stage that compiles a program, with its settings, for a device.
//!
//! promises  the program and its settings keep their place in the YAML file, for later errors
//! never     opens the program (the stage does)
use crate::{
    declare::{choices, spec},
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
        /// Load balancing of sums over edges on a GPU: by rows, or by neighbour groups as in
        /// GNNAdvisor. A CPU goes by what `partition.scheme` names.
        schedule: EdgeSchedule = EdgeSchedule::Rows;
        /// The target device: auto, cpu, cuda, cuda:INDEX or the name of a file with device facts.
        device: String = "auto".to_string();
    }
}

choices! {
    /// Load balancing of edges.
    EdgeSchedule {
        /// A row has a lane group, a warp, a block or several blocks, by its number of edges.
        Rows = "rows",
        /// A row is divided into groups of a few neighbours, and lanes share a group; the first
        /// group of a row in a block is the leader.
        NeighbourGroups = "neighbour-groups",
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
