//! passes: optimisation passes, each a function from a program to a program, in one order.
//!
//! promises  a cleaned program has the same meaning: `Numbers::Kept` passes keep every value bit
//!           for bit, `Numbers::Reordered` ones add or multiply the same real numbers in another
//!           order; results, loss, gradients, updates, loops and parameters stay, with their names;
//!           a pass that chooses reports its choice, with the bytes of both alternatives
//! never     measures, or knows a device; changes results, or the leaves of gradients
//!
//! `PASSES` is the order. A program is cleaned before `autodiff`, so that gradients are derived
//! from the better form, and again after it; `Stage` says which passes run when. Inlining of
//! functions and unrolling of `for` come before all of them and are done by the tracer: it executes
//! a program's text as written, once for each call and each value of a counter.
mod common_subexpressions;
mod constant_folding;
mod dead_code;
mod distribute_over_sum;
mod drop_zero_guards;
mod forward_sums;
mod hoist_dot_products;
mod hoist_row_factors;
mod loop_invariants;
mod moved_bytes;
mod powers;
mod product_before_sum;
mod rebuild;
mod relu_mask_from_dropout;
mod share_softmax_quotients;
mod simplify;
mod triangles;
mod value_ranges;

pub use loop_invariants::{ComputePhase, phases};

use warploom_ir::{Data, Gir, NodeId};

/// An optimisation pass.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Name, as `--show` prints it.
    pub name: &'static str,
    /// Why it exists, in one line.
    pub reason: &'static str,
    /// When it runs.
    pub stage: Stage,
    /// Its effect on values.
    pub numbers: Numbers,
    /// The pass; the choices it weighed are added to the list.
    pub run: fn(Gir, &Data, &mut Vec<Choice>) -> Gir,
}

/// When a pass runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// On every program, and again after gradients are added.
    Always,
    /// Only before gradients are added, so that they follow its choice.
    Program,
    /// Only on a program with gradients.
    Gradients,
}

/// The effect of a pass on values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Every value is kept, bit for bit (a NaN stays a NaN).
    Kept,
    /// The same real numbers, rounded in another order.
    Reordered,
}

/// A pass that ran.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// Which.
    pub pass: &'static str,
    /// Nodes before it.
    pub nodes_before: usize,
    /// Nodes after it.
    pub nodes_after: usize,
    /// Its choices, for passes that choose.
    pub choices: Vec<Choice>,
}

/// Two alternatives to compute a value, and which was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The value, as the program before the pass numbers it.
    pub node: NodeId,
    /// Its name, or its operation.
    pub value: String,
    /// Whether the other alternative was taken.
    pub taken: bool,
    /// The reason.
    pub reason: String,
    /// Bytes per epoch (or prediction) as written.
    pub bytes_before: u64,
    /// Bytes of the alternative.
    pub bytes_after: u64,
}

/// All passes in their order. Some run twice: other passes create new opportunities for them.
pub const PASSES: &[Pass] = &[
    FOLD,
    SIMPLIFY,
    Pass {
        name: "powers",
        reason: "powers of small integers become products",
        stage: Stage::Always,
        numbers: Numbers::Reordered,
        run: powers::run,
    },
    EQUAL,
    DEAD,
    Pass {
        name: "triangles",
        reason: "common neighbours are counted per vertex if only their sums are read",
        stage: Stage::Always,
        numbers: Numbers::Kept,
        run: triangles::run,
    },
    Pass {
        name: "factor",
        reason: "factors of the summing vertex are hoisted out of its sum over edges",
        stage: Stage::Always,
        numbers: Numbers::Reordered,
        run: hoist_row_factors::run,
    },
    Pass {
        name: "order",
        reason: "a sum over edges runs on the narrower side of a product",
        stage: Stage::Program,
        numbers: Numbers::Reordered,
        run: product_before_sum::run,
    },
    Pass {
        name: "guards",
        reason: "guards of gradients against impossible infinities are removed",
        stage: Stage::Gradients,
        numbers: Numbers::Reordered,
        run: drop_zero_guards::run,
    },
    Pass {
        name: "masks",
        reason: "the mask of a relu's gradient is taken from the rows after dropout",
        stage: Stage::Gradients,
        numbers: Numbers::Reordered,
        run: relu_mask_from_dropout::run,
    },
    Pass {
        name: "forward_sums",
        reason: "sums that only gradients need are computed in the forward pass",
        stage: Stage::Gradients,
        numbers: Numbers::Reordered,
        run: forward_sums::run,
    },
    Pass {
        name: "dots",
        reason: "a dot product with the summing vertex's row is hoisted out of the sum",
        stage: Stage::Gradients,
        numbers: Numbers::Reordered,
        run: hoist_dot_products::run,
    },
    FOLD,
    SIMPLIFY,
    EQUAL,
    Pass {
        name: "hoist",
        reason: "loop-invariant values are computed before the loop",
        stage: Stage::Always,
        numbers: Numbers::Kept,
        run: loop_invariants::run,
    },
    DEAD,
    // Runs late: it depends on which users of a value remain.
    Pass {
        name: "quotients",
        reason: "a value is summed by its quotient, if that is what others read",
        stage: Stage::Gradients,
        numbers: Numbers::Reordered,
        run: share_softmax_quotients::run,
    },
];

const FOLD: Pass = Pass {
    name: "fold",
    reason: "arithmetic on constants is evaluated",
    stage: Stage::Always,
    numbers: Numbers::Kept,
    run: constant_folding::run,
};
const SIMPLIFY: Pass = Pass {
    name: "simplify",
    reason: "operations without effect are removed",
    stage: Stage::Always,
    numbers: Numbers::Kept,
    run: simplify::run,
};
const EQUAL: Pass = Pass {
    name: "equal",
    reason: "equal values are computed once",
    stage: Stage::Always,
    numbers: Numbers::Kept,
    run: common_subexpressions::run,
};
const DEAD: Pass = Pass {
    name: "dead",
    reason: "dead values are removed",
    stage: Stage::Always,
    numbers: Numbers::Kept,
    run: dead_code::run,
};

/// The program after all passes of its stage, and what each did.
pub fn clean(gir: Gir, data: &Data) -> (Gir, Vec<Applied>) {
    let skipped = if gir.gradients.is_empty() { Stage::Gradients } else { Stage::Program };
    let mut applied = Vec::new();
    let mut gir = gir;
    for pass in PASSES.iter().filter(|pass| pass.stage != skipped) {
        let (nodes_before, mut choices) = (gir.nodes.len(), Vec::new());
        gir = (pass.run)(gir, data, &mut choices);
        applied.push(Applied {
            pass: pass.name,
            nodes_before,
            nodes_after: gir.nodes.len(),
            choices,
        });
    }
    (gir, applied)
}
