//! The front door: all stages of a pipeline file in order.
