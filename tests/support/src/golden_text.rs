//! golden_text: texts that are compared with files, and written anew where `UPDATE=1` asks for it.
//!
//! never     writes a file that nobody asked for
use std::path::Path;

/// Whether golden files are to be written anew.
pub fn is_update() -> bool {
    std::env::var_os("UPDATE").is_some()
}

/// Compares a text with a golden file, or writes the file.
#[track_caller]
pub fn assert_golden(path: &Path, found: &str) {
    if let Some(difference) = golden_difference(path, found) {
        panic!("{difference}\nit is now\n{found}\nlook at it, then refresh with UPDATE=1");
    }
}

/// What a text and its golden file differ in, none where they are equal. With `UPDATE=1` the file
/// is written, and there is no difference.
pub fn golden_difference(path: &Path, found: &str) -> Option<String> {
    if is_update() {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        }
        std::fs::write(path, found).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return None;
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    (expected != found).then(|| format!("{} differs; it was\n{expected}", path.display()))
}
