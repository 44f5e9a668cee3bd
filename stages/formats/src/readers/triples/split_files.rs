//! The names of the files of a set of triples, and the error of one that lacks.
use crate::{
    containers::bundle::{Bundle, file_name},
    options::TriplePart,
    read_error::ReadError,
};

pub fn part_name(part: TriplePart) -> &'static str {
    match part {
        TriplePart::Train => "train",
        TriplePart::Valid => "valid",
        TriplePart::Test => "test",
    }
}

pub fn missing_file_error(bundle: &Bundle, file: &str) -> Box<ReadError> {
    let known = bundle.names().next().map(|(index, _)| bundle.path(index).with_file_name(file));
    let have: Vec<&str> = bundle.names().map(|(_, name)| file_name(name)).take(20).collect();
    let error = ReadError::new(
        &known.unwrap_or_else(|| file.into()),
        format!("the set of triples lacks its file `{file}`"),
    );
    Box::new(
        error
            .expected(format!("`{file}`"), have.join(", "))
            .hint("download it with  warploom data fetch  or put it there by hand"),
    )
}
