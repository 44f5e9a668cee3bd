//! program_file: reads the text of a vertex program.
//!
//! promises  the error of a missing file lists programs with similar names; the error of a file
//!           that is not UTF-8 has the place of its first bad byte and the command to convert it
//! never     waits for a writer (FIFO); reads more than `PROGRAM_BYTES_MOST`
use std::path::Path;

use warploom_contract::{ErrorKind, StageError, regular_file};
use warploom_spec::{nearest, shell_word};

/// The longest text of a vertex program.
pub const PROGRAM_BYTES_MOST: u64 = 4 << 20;
/// The most names that an error lists.
const NAMES_MOST: usize = 8;
/// The folder of programs beside pipelines.
const FOLDER: &str = "programs";

/// Reads the text.
pub fn read_program(path: &Path) -> Result<String, StageError> {
    let bytes = regular_file::read(path, PROGRAM_BYTES_MOST).map_err(|error| {
        let failed = StageError::io("read the vertex program", path, &error);
        if error.kind() == std::io::ErrorKind::NotFound {
            suggest_near_names(path, failed)
        } else {
            failed
        }
    })?;
    String::from_utf8(bytes)
        .map_err(|error| utf8_error(path, error.as_bytes(), error.utf8_error().valid_up_to()))
}

/// Adds the programs beside the missing one, and in `programs/` there, to the hint.
fn suggest_near_names(path: &Path, error: StageError) -> StageError {
    let folder = path.parent().unwrap_or(Path::new(""));
    let above = folder.parent().filter(|_| folder.ends_with(FOLDER));
    let mut found: Vec<String> = Vec::new();
    for folder in
        [Some(folder.to_path_buf()), Some(folder.join(FOLDER)), above.map(Path::to_path_buf)]
            .into_iter()
            .flatten()
    {
        let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
        // A folder that cannot be listed adds no names.
        for entry in std::fs::read_dir(listed).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(".py") {
                found.push(folder.join(name).display().to_string());
            }
        }
    }
    found.sort();
    let name_of = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let wanted = path.file_name().unwrap_or_default().to_string_lossy();
    let names: Vec<String> = found.iter().map(|path| name_of(path)).collect();
    let near = nearest(&wanted, names.iter().map(String::as_str))
        .and_then(|near| found.iter().find(|path| name_of(path) == near));
    match near {
        Some(near) => error.hint(format!("did you mean  {}", shell_word(near))),
        None if found.is_empty() => error,
        None => {
            let more = found.len().saturating_sub(NAMES_MOST);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            error.hint(format!(
                "name an existing program: {}{more}",
                found[..found.len().min(NAMES_MOST)].join(", ")
            ))
        }
    }
}

fn utf8_error(path: &Path, bytes: &[u8], good: usize) -> StageError {
    let before = String::from_utf8_lossy(&bytes[..good]);
    let (line, column) = (
        before.matches('\n').count() + 1,
        before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1,
    );
    let what = format!(
        "the program is not UTF-8 text: expected a letter, found the byte 0x{:02x}",
        bytes.get(good).copied().unwrap_or_default()
    );
    let (file, made) =
        (path.display().to_string(), path.with_extension("utf8.py").display().to_string());
    let hint = format!(
        "iconv -f latin1 -t utf-8 {0} > {1} && mv {1} {0}",
        shell_word(&file),
        shell_word(&made)
    );
    StageError::new(ErrorKind::Specification, what).at(format!("{file}:{line}:{column}")).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_is_answered_with_those_that_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path(FOLDER)).unwrap();
        let nothing = read_program(&path("gcn.py")).unwrap_err();
        assert_eq!((nothing.kind, nothing.hint), (ErrorKind::Input, None));
        for name in ["mine.py", "programs/gat.py", "notes.txt"] {
            std::fs::write(path(name), "def p(v):\n    return v.id\n").unwrap();
        }
        let hint = |name: &str| read_program(&path(name)).unwrap_err().hint.unwrap();
        assert_eq!(hint("gta.py"), format!("did you mean  {}", path("programs/gat.py").display()));
        assert_eq!(
            hint("programs/mien.py"),
            format!("did you mean  {}", path("mine.py").display())
        );
        let all = hint("something_else.py");
        assert!(
            all.starts_with("name an existing program: ")
                && all.contains("mine.py")
                && all.contains("programs/gat.py"),
            "{all}"
        );
        assert!(!all.contains("notes.txt"), "{all}");
    }

    #[test]
    fn the_first_byte_that_is_no_text_has_a_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lat.py");
        std::fs::write(&path, b"def lat(v):\n    # \xc3\xa9 caf\xe9\n    return v.id\n").unwrap();
        let error = read_program(&path).unwrap_err();
        assert_eq!(error.place, Some(format!("{}:2:12", path.display())));
        assert!(
            error.what.ends_with("found the byte 0xe9")
                && error.hint.unwrap().starts_with("iconv -f latin1 -t utf-8 ")
        );
    }
}
