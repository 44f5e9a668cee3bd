//! autodiff: gradients against finite differences, the form that they have, and what is kept for
//! them.

mod finite_differences;
mod forms;
mod golden;
mod random_programs;
mod recomputation;
mod refusals;
