//! What every binary wears: flags, pipeline, chain of keys, progress, signals, exit codes.
