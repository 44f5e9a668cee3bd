//! Everything that is proved from outside, one theme a file; one binary, since linking costs more
//! than running.
// See `Cargo.toml`.
use proptest as _;

#[cfg(test)]
mod accuracy;
#[cfg(test)]
mod ambiguous_files;
#[cfg(test)]
mod batch;
#[cfg(test)]
mod batch_logs;
#[cfg(test)]
mod bit_flips;
#[cfg(test)]
mod checkpoints;
#[cfg(test)]
mod claims;
#[cfg(test)]
mod custom_programs;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod data_sets;
#[cfg(test)]
mod degenerate;
#[cfg(test)]
mod disk;
#[cfg(test)]
mod downloads;
#[cfg(test)]
mod exit_codes;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod forgeries;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod gpu_faults;
#[cfg(test)]
mod gpu_training;
#[cfg(test)]
mod group_readers;
#[cfg(test)]
mod help;
#[cfg(test)]
mod import_cycles;
#[cfg(test)]
mod install;
#[cfg(test)]
mod interchange;
#[cfg(test)]
mod kernel_plans;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod kills;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod network_file_systems;
#[cfg(test)]
mod orders;
#[cfg(test)]
mod own_graphs;
#[cfg(test)]
mod own_groups;
#[cfg(test)]
mod own_orders;
#[cfg(test)]
mod partitions;
#[cfg(test)]
mod peers;
#[cfg(test)]
mod pinned_features;
#[cfg(test)]
mod pipeline;
#[cfg(test)]
mod provenance;
#[cfg(test)]
mod records;
#[cfg(test)]
mod runs;
#[cfg(test)]
mod searches;
#[cfg(test)]
mod several_stores;
#[cfg(test)]
mod signals;
#[cfg(test)]
mod stage_ranges;
#[cfg(test)]
mod tidy;
#[cfg(test)]
mod tools;
#[cfg(test)]
mod training_settings;
#[cfg(test)]
mod vertex_settings;
