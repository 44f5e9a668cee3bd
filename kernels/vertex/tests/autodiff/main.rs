//! autodiff: gradients against finite differences, the form that they have, and what is kept for
//! them.

mod differences;
mod forms;
mod golden;
mod keeping;
mod random_programs;
mod refusals;
mod worlds;
