//! stage_errors: errors of the catalogue, of readers and of settings as errors of a stage.
use warploom_contract::{ErrorKind, StageError};

/// A problem with the catalogue or raw data, as a stage's error.
pub fn catalog_error(error: &warploom_catalog::CatalogError) -> StageError {
    let mut shown = StageError::new(
        if error.disk_full { ErrorKind::DiskFull } else { ErrorKind::Input },
        error.what.clone(),
    );
    shown.place = error.place.clone();
    shown.detail = error.detail.clone();
    shown.hint = error.hint.clone();
    shown
}

/// A reader's error as the stage's.
pub fn read_error(error: &warploom_formats::read_error::ReadError) -> StageError {
    let kind = match error.io {
        Some(
            std::io::ErrorKind::StorageFull
            | std::io::ErrorKind::QuotaExceeded
            | std::io::ErrorKind::FileTooLarge,
        ) => ErrorKind::DiskFull,
        Some(_) => ErrorKind::Input,
        None => ErrorKind::Data,
    };
    let mut converted = StageError::new(kind, error.what.clone()).at(error.location());
    converted.detail = error.detail();
    converted.hint = (!error.hint.is_empty()).then(|| error.hint.clone());
    converted
}

/// A mistake in the pipeline file that only a stage can find, as the stage's error.
pub fn mistake_error(mistake: &warploom_spec::Mistake) -> StageError {
    let text = mistake.to_string();
    let detail: Vec<&str> = text
        .lines()
        .filter(|line| {
            !(line.starts_with("error:") || line.starts_with("  -->") || line.starts_with("hint:"))
        })
        .collect();
    let mut error = StageError::new(ErrorKind::Specification, mistake.what.clone())
        .at(mistake.place())
        .detail(detail.join("\n"));
    error.hint = mistake.hint.clone();
    error
}
