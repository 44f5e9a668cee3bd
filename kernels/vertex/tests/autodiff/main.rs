//! autodiff: gradients against finite differences, the form that they have, and what is kept for them.
mod differences;
mod forms;
mod keeping;
mod refusals;
mod worlds;
