//! vertex: the vertex language and the launch list that it becomes.
pub mod compile;
pub mod emit;

