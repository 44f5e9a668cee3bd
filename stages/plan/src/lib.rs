//! Vertex program, profile and device to a plan.
