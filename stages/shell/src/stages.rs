//! stages: the table of stages: name, version, and the kinds that each reads and writes.
//!
//! promises  every binary knows all of them, since a stage's key depends on earlier stages; raising
//!           a version makes the artifacts of that stage and of later ones a miss; code that treats
//!           stages differently matches on `StageName`, so that the compiler reports every place
//!           that lacks a new stage
use std::fmt;

use warploom_contract::{Contract, Kind};

/// Makes the enum, the list and the contracts from one table.
macro_rules! stages {
    ($($(#[$doc:meta])* $stage:ident = $contract:expr;)*) => {
        /// A stage.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum StageName {
            $($(#[$doc])* $stage,)*
        }

        impl StageName {
            /// All stages, in the order in which they run.
            pub const ALL: [StageName; [$(StageName::$stage),*].len()] = [$(StageName::$stage),*];

            /// The kinds that it reads and writes, and the version of its results.
            pub const fn contract(self) -> Contract {
                match self {
                    $(StageName::$stage => $contract,)*
                }
            }
        }
    };
}

stages! {
    /// Raw files to graph.
    Ingest = Contract { name: "ingest", version: 7, reads: &[], writes: &[Kind::Graph] };
    /// Graph to neighbours in both directions.
    Extract = Contract {
        name: "extract",
        version: 4,
        reads: &[Kind::Graph],
        writes: &[Kind::Csr, Kind::Profile],
    };
    /// Neighbours to a better order.
    Reorder = Contract {
        name: "reorder",
        version: 4,
        reads: &[Kind::Graph, Kind::Csr, Kind::Profile],
        writes: &[Kind::Csr, Kind::Permutation],
    };
    /// Neighbours to work units.
    Partition = Contract {
        name: "partition",
        version: 6,
        reads: &[Kind::Graph, Kind::Csr, Kind::Profile, Kind::Permutation],
        writes: &[Kind::Partition],
    };
    /// Program, profile and device to launches.
    Plan = Contract {
        name: "plan",
        version: 20,
        reads: &[Kind::Graph, Kind::Csr, Kind::Profile, Kind::Permutation, Kind::Partition],
        writes: &[Kind::Plan],
    };
    /// Launches to results.
    Run = Contract {
        name: "run",
        version: 2,
        reads: &[Kind::Graph, Kind::Csr, Kind::Permutation, Kind::Partition, Kind::Plan],
        writes: &[Kind::Run],
    };
}

impl StageName {
    /// The names of all stages, in the order in which they run.
    pub const NAMES: [&str; StageName::ALL.len()] = {
        let mut names = [""; StageName::ALL.len()];
        let mut at = 0;
        while at < names.len() {
            names[at] = StageName::ALL[at].name();
            at += 1;
        }
        names
    };

    /// The name, as in the pipeline file and in the name of its binary.
    pub const fn name(self) -> &'static str {
        self.contract().name
    }

    /// The stage of a name.
    pub fn parse(name: &str) -> Option<StageName> {
        StageName::ALL.into_iter().find(|stage| stage.name() == name)
    }

    /// The stages before it.
    pub fn earlier_stages(self) -> &'static [StageName] {
        &StageName::ALL[..self as usize]
    }

    /// The stages up to and including it.
    pub fn stages_through(self) -> &'static [StageName] {
        &StageName::ALL[..=self as usize]
    }

    /// It and the stages after it.
    pub fn stages_from(self) -> &'static [StageName] {
        &StageName::ALL[self as usize..]
    }

    /// The first stage that writes a kind.
    pub fn first_writer(kind: Kind) -> Option<StageName> {
        StageName::ALL.into_iter().find(|stage| stage.contract().writes.contains(&kind))
    }
}

impl fmt::Display for StageName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_stage_reads_is_written_before_it() {
        for stage in StageName::ALL {
            for kind in stage.contract().reads {
                let is_written = stage
                    .earlier_stages()
                    .iter()
                    .any(|other| other.contract().writes.contains(kind));
                assert!(is_written, "{stage} reads {kind:?}");
            }
            let all = [stage.earlier_stages(), stage.stages_from()].concat();
            assert_eq!(all, StageName::ALL);
            assert_eq!(stage.stages_through().last(), Some(&stage));
        }
    }
}
