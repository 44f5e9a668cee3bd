//! The lines of a DIMACS file that are no comments, and the error of one without `p`.
use crate::{read_error::ReadError, text::grammar::Scan};
use std::path::Path;

pub fn no_problem_error(path: &Path, line: &str) -> Box<ReadError> {
    let error = ReadError::new(path, "the DIMACS file has no problem line")
        .expected(line, "the end of the file");
    Box::new(error.hint("the file may be cut short: fetch it again"))
}

/// Steps over comments and blank lines; whether a line follows.
pub fn skip_to_item(scan: &mut Scan) -> bool {
    while scan.more() {
        if !scan.line_ends() {
            let start = scan.at;
            let word = scan.word();
            scan.at = start;
            if word != b"c" {
                return true;
            }
        }
        scan.next_line();
    }
    false
}
