//! batch: stages of pipelines as batch jobs.
//!
//! A submission is a folder in the store: what was asked for, a list of jobs, a script for each job
//! array, and the events of its tasks. A job is one stage for one key; pipelines of a matrix share
//! jobs. A task of an array does one job, or several of one pipeline in order. Each task asks the
//! store first, so a submission may be submitted again at any time.
//!
//! promises  nothing of a site or a submission enters a key; scripts can be submitted by hand; what
//!           has become of a task is read from its events, which only the task itself writes
//! never     runs a stage; needs a server or a data base
pub mod array;
pub mod command;
pub mod estimate;
pub mod event;
pub mod expansion;
pub mod job;
pub mod pool;
pub mod script;
pub mod site;
pub mod status;
pub mod submission;
pub mod workflow;
