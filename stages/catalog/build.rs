//! Puts the text of every `data/catalog/*.yaml` into the binary, sorted by name.
//!
//! promises  the binary knows each data set without any file beside it
//! never     reads a field of an entry: that is `entry.rs`
use std::{env, error::Error, fmt::Write, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../data/catalog");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut paths: Vec<_> = fs::read_dir(&folder)?
        .map(|file| file.map(|file| file.path()))
        .collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    let mut text = String::from("&[");
    for path in &paths {
        let path = path.canonicalize()?;
        println!("cargo::rerun-if-changed={}", path.display());
        let name =
            path.file_stem().and_then(|stem| stem.to_str()).ok_or("a file name is not UTF-8")?;
        write!(text, "({name:?}, include_str!({:?})),", path.display().to_string())?;
    }
    fs::write(Path::new(&env::var("OUT_DIR")?).join("embedded.rs"), text + "]")?;
    Ok(())
}
