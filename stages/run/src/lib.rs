//! A plan to a trained model or values on disk.
