//! library: every program of `pipelines/programs` by its text, through the compiler to the
//! interpreter, against numbers and formulas that the compiler knows nothing of.
//!
//! promises  each model meets its golden cases, each other program an implementation written apart
//!           from it; no graph is too small or too odd; no program takes long to compile
//! never     uses the built-in fast paths; changes a tolerance

mod degenerate;
mod dense_comparison;
mod dense_implementations;
mod golden;
mod half_precision;
mod single_passes;
