//! capability: the compute capability of a GPU, by which code for it is compiled.
//!
//! promises  later generations compare greater
//! never     says anything of a single device: its memory, its rates
use std::fmt;

/// A compute capability, `9.0` for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Capability {
    /// The generation: 8 for Ampere, 9 for Hopper, 10 for Blackwell.
    pub major: u32,
    /// The variant within a generation.
    pub minor: u32,
}

impl Capability {
    /// The capability `major.minor`.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// The capability that an architecture's number says: 90 for 9.0.
    pub const fn from_number(number: u32) -> Self {
        Self { major: number / 10, minor: number % 10 }
    }

    /// The architecture's name, `sm_90` for 9.0.
    pub fn architecture(self) -> String {
        format!("sm_{}{}", self.major, self.minor)
    }

    /// Whether a warpgroup, four warps, issues matrix products together (`wgmma`): only on 9.0.
    pub fn has_warpgroups(self) -> bool {
        self == Self::new(9, 0)
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_a_capability_and_its_architecture() {
        for (number, capability, name) in [(90, (9, 0), "sm_90"), (121, (12, 1), "sm_121")] {
            let found = Capability::from_number(number);
            assert_eq!(found, Capability::new(capability.0, capability.1));
            assert_eq!(found.architecture(), name);
        }
        assert_eq!(Capability::new(8, 9).to_string(), "8.9");
        assert!(Capability::new(8, 9) < Capability::new(9, 0));
    }

    #[test]
    fn warpgroups_are_those_of_hopper_alone() {
        let of = |major, minor| Capability::new(major, minor).has_warpgroups();
        assert!(of(9, 0) && !of(8, 0) && !of(9, 1) && !of(10, 0));
    }
}
