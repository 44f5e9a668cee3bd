//! plan: which program is compiled, with which settings, for which device.
//!
//! promises  the program and its settings keep their place in the YAML file, so that later errors
//!           can point there
//! never     opens the program; the stage does
use crate::{
    declare::{choices, spec},
    types::{Program, Settings},
};

spec! {
    /// Settings of the stage `plan`.
    pub PlanSpec {
        /// The vertex program: FILE.py, whose entry is named like the file, or FILE.py:NAME.
        /// In YAML relative to the file, on the command line to the current folder.
        program: Program = Program::default(), example("programs/gcn.py");
        /// The program's own settings, by the names of its entry's parameters.
        set: Settings = Settings::default();
        /// How many bits of f32 inputs GPU matrix products use: all of them, the first 11 or the
        /// first 8; sums stay f32. A CPU always uses all.
        matmul: Matmul = Matmul::F32;
        /// Where given features lie that a GPU reads: in its memory, or in pinned memory of the
        /// host, read over the bus at each use. On a CPU there is no such choice.
        features: Residence = Residence::Auto;
        /// How a GPU shares out the edges of walks that only add up: by rows, or by groups of
        /// neighbours, as GNNAdvisor does. A CPU goes by rows.
        schedule: EdgeSchedule = EdgeSchedule::Rows;
        /// What to plan for: auto, cpu, cuda, cuda:INDEX or the name of a facts file.
        device: String = "auto".to_string();
    }
}

choices! {
    /// How the edges of a walk are shared out.
    EdgeSchedule {
        /// A row is a group of lanes, a warp, a block or several blocks, by how many edges it has.
        Rows = "rows",
        /// A row is cut into groups of a few neighbours, and lanes share a group; the first group
        /// of a row in a block leads.
        NeighbourGroups = "neighbour-groups",
    }
}

choices! {
    /// Where features lie.
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
    /// How many bits of its inputs a matrix product uses.
    Matmul {
        /// All of them.
        F32 = "f32",
        /// The first 11, as tensor cores do.
        Tf32 = "tf32",
        /// The first 8.
        Bf16 = "bf16",
    }
}
