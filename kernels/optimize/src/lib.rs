//! optimize: the IR of a program made cheaper (`passes`), and gradients as further nodes of it
//! (`autodiff`).
//!
//! promises  a pass changes no value of a program, beyond rounding where its header says so
//! never     knows the text of a program, a launch or a device
pub mod autodiff;
pub mod passes;
