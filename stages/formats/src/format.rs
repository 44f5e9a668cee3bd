//! What a format is: a name, how it is recognised, how it is read.
use crate::{
    detect::file_heads::FileHeads,
    options::Options,
    out_of_core::{Limit, LoadedGraph},
    raw_graph::RawGraph,
    read_error::{Read, ReadError},
};
use std::path::{Path, PathBuf};

/// A format: its name, what it is, how it is recognised and how it is read.
pub struct Format {
    /// As catalogue entries and manifests call it.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Which of these files are a data set of this format; none: it is not this one.
    pub recognise: fn(&FileHeads) -> Option<Vec<PathBuf>>,
    /// Reads the files, given in any order; edges beyond a share of the limit are in a file then.
    /// Readers that cannot know their edges before the last one hold them all.
    pub read_within: fn(&[PathBuf], &Options, &Limit) -> Read<LoadedGraph>,
}

impl Format {
    /// Reads the files, given in any order, with all edges in memory.
    pub fn read(&self, files: &[PathBuf], options: &Options) -> Read<RawGraph> {
        (self.read_within)(files, options, &Limit::none()).map(|loaded| loaded.graph)
    }
}

impl Format {
    /// Which of the files are a data set of this format; none: it is not this one. An error of the
    /// system is no answer.
    pub fn recognised(&self, look: &FileHeads) -> Read<Option<Vec<PathBuf>>> {
        let files = (self.recognise)(look);
        look.failed.get().map_or(Ok(files), |error| Err(error.clone()))
    }
}

/// The file of a format that is one file.
pub fn expect_one_file(files: &[PathBuf]) -> Read<&Path> {
    match files {
        [file] => Ok(file),
        [] => Err(Box::new(
            ReadError::new(Path::new(""), "no file was given").expected("one file", "none"),
        )),
        [_, second, ..] => Err(Box::new(
            ReadError::new(second, "one file too many for this format")
                .expected("one file", files.len().to_string())
                .hint("name the file in a catalogue entry:  data/catalog/<name>.yaml"),
        )),
    }
}
