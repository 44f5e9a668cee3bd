//! Everything that is proved from outside, one theme a file; one binary, since linking costs more
//! than running.
#[cfg(test)]
mod accuracy;
#[cfg(test)]
mod compiled;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod data_sets;
#[cfg(test)]
mod degenerate;
#[cfg(test)]
mod disk;
#[cfg(test)]
mod divisions;
#[cfg(test)]
mod downloads;
#[cfg(test)]
mod emulated;
#[cfg(test)]
mod exit_codes;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod flips;
#[cfg(test)]
mod forgeries;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod help;
#[cfg(test)]
mod import_cycles;
#[cfg(test)]
mod interchange;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod kills;
#[cfg(test)]
mod learning;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod on_host;
#[cfg(test)]
mod orders;
#[cfg(test)]
mod peers;
#[cfg(test)]
mod pipeline;
#[cfg(test)]
mod provenance;
#[cfg(test)]
mod readings;
#[cfg(test)]
mod runs;
#[cfg(test)]
mod signals;
#[cfg(test)]
mod tidy;
#[cfg(test)]
mod tools;
#[cfg(test)]
mod vertices;
