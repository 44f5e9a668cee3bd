//! autodiff: gradients against finite differences, and the form that they have.

mod finite_differences;
mod forms;
mod golden;
mod random_programs;
mod refusals;
