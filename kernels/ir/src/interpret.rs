//! interpret: the slow, obvious interpreter of a program in f64. It DEFINES what programs mean;
//! everything else is compared with it.
//!
//! promises  one naive loop per operation, in the order of rows and edge ids; the same bits on
//!           every run; any value can be read by its number after a run; a program and a world that
//!           do not fit are refused before anything runs
//! never     uses threads or a partition; simplifies; is fast (it does the work as written, with 8
//!           bytes for each element of each value)
//!
//! Special values: NaN propagates through minimum, maximum, relu and reductions, also through
//! `Mode`; comparisons with NaN are false; equal infinities have change 0 and NaN always counts as
//! changed; the loss over no training rows is 0. An edge that a mask or a relation excludes has
//! `Winner` false and `Others` 0. Integers wrap around, except for the values that stand for
//! infinities (`integer_arithmetic`).
mod call;
mod dense;
mod edges;
mod elementwise;
mod evaluate;
mod input_data;
pub mod integer_arithmetic;
mod loss;
mod rows;
mod run;
mod scalar;

pub use call::{Context, Draw};
pub use evaluate::evaluate;
pub use input_data::{Unfit, World};
pub use rows::{ElementRows, Scalar, Values};
pub use run::{Adam, Change, Ending, Interpreter, change};
pub use scalar::{apply, binary, cast, reduce, unary};
