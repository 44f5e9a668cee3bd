//! parameter_file: checks of a file of parameters (safetensors) by the settings and its header.
//!
//! promises  an error reads the same before the first stage and in `run`
//! never     reads a tensor
use std::{
    io::{Error, Read},
    path::Path,
};

use safetensors::{SafeTensorError, SafeTensors};
use warploom_contract::{ErrorKind, StageError, regular_file};
use warploom_spec::{Mode, RunSpec};

/// Bytes before the header, which hold its length.
const LENGTH_BYTES: u64 = 8;
/// The longest header that the format allows.
const HEADER_MOST: u64 = 100_000_000;

/// Refuses inference without a file of parameters, and `run.init_map` without one.
pub fn refuse_missing_file(spec: &RunSpec, program: &str) -> Result<(), StageError> {
    if spec.init.is_some() {
        return Ok(());
    }
    if spec.mode == Mode::Infer {
        let what = format!(
            "`run.mode: infer` applies parameters that were learned before, and none are named for \
             `{program}`"
        );
        return Err(StageError::new(ErrorKind::Specification, what).hint(
            "take those of a run:  warploom export run --pipeline FILE -o DIR --as files  , then  \
             --set run.init=DIR/parameters.safetensors",
        ));
    }
    match spec.init_map.keys().next() {
        None => Ok(()),
        Some(ours) => Err(StageError::new(
            ErrorKind::Specification,
            format!("`run.init_map` names `{ours}`, and there is no file to load from"),
        )
        .hint("name it:  --set run.init=FILE.safetensors")),
    }
}

/// Refuses a file that is not safetensors; reads its header and its length.
pub fn refuse_other_format(path: &Path) -> Result<(), StageError> {
    let unread = |error: Error| StageError::io("read initial parameters", path, &error);
    let mut file = regular_file::open(path).map_err(unread)?;
    let length = file.metadata().map_err(unread)?.len();
    let mut head = Vec::new();
    file.by_ref().take(LENGTH_BYTES).read_to_end(&mut head).map_err(unread)?;
    if let Some(header) = head
        .first_chunk()
        .map(|bytes| u64::from_le_bytes(*bytes))
        .filter(|header| *header <= HEADER_MOST)
    {
        file.take(header).read_to_end(&mut head).map_err(unread)?;
    }
    match SafeTensors::read_metadata(&head) {
        // Only the header was read; the file must have the bytes of the tensors.
        Err(SafeTensorError::MetadataIncompleteBuffer)
            if last_tensor_end(&head).is_some_and(|end| head.len() as u64 + end == length) =>
        {
            Ok(())
        }
        Err(error) => Err(safetensors_error(path, error)),
        Ok(_) if head.len() as u64 == length => Ok(()),
        Ok(_) => Err(safetensors_error(path, SafeTensorError::MetadataIncompleteBuffer)),
    }
}

/// The end of the last tensor, counted from the end of the header.
fn last_tensor_end(head: &[u8]) -> Option<u64> {
    let header: serde_json::Value =
        serde_json::from_slice(head.get(LENGTH_BYTES as usize..)?).ok()?;
    header.as_object()?.values().filter_map(|tensor| tensor["data_offsets"][1].as_u64()).max()
}

/// The error of a file that is not safetensors.
pub fn safetensors_error(path: &Path, error: impl std::fmt::Display) -> StageError {
    StageError::new(ErrorKind::Data, format!("not a safetensors file: {error}"))
        .at(path.display())
        .hint("write it with  safetensors.torch.save_file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_says_whether_the_whole_reads() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.safetensors");
        let view = safetensors::tensor::TensorView::new(safetensors::Dtype::F32, vec![2], &[0; 8])
            .unwrap();
        let whole = safetensors::serialize([("w", view)], None).unwrap();
        let none =
            safetensors::serialize::<String, safetensors::tensor::TensorView, _>([], None).unwrap();
        let cases = [
            (&whole[..], true),
            (&none, true),
            (&whole[..whole.len() - 1], false),
            (&whole[..9], false),
            (b"PK\x03\x04 no tensors at all", false),
            (b"", false),
        ];
        for (bytes, is_read) in cases {
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(SafeTensors::read_metadata(bytes).is_ok(), is_read);
            let said = refuse_other_format(&path);
            assert_eq!(said.is_ok(), is_read, "{said:?}");
            let Err(error) = said else { continue };
            let wanted = safetensors_error(&path, SafeTensors::read_metadata(bytes).unwrap_err());
            assert_eq!(error, wanted);
        }
        assert!(
            refuse_other_format(Path::new("/nowhere"))
                .unwrap_err()
                .what
                .contains("read initial parameters")
        );
    }
}
