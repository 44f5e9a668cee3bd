//! vertex: the vertex language and the launch list that it becomes.
//!
//! holds   `launch` (what a plan tells an executor to do; device-independent), `reference` (the slow, obvious
//!         executor in f64 that says what a launch list means) and `builtin` (launch lists of the shipped programs)
//! never   knows CUDA, files, threads or the store
pub mod launch;
