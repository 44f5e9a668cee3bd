//! Puts the shipped pipelines and their programs into the binary, for `warploom new`.
//!
//! promises  a row for each `pipelines/NAME.yaml` whose program is `pipelines/programs/NAME.py`
use std::{env, error::Error, fmt::Write, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let folder =
        Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../pipelines").canonicalize()?;
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut paths: Vec<_> = fs::read_dir(&folder)?
        .map(|file| file.map(|file| file.path()))
        .collect::<Result<_, _>>()?;
    paths.sort();
    let mut text = String::from("&[");
    for path in
        paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
    {
        let name =
            path.file_stem().and_then(|stem| stem.to_str()).ok_or("a file name is not UTF-8")?;
        let program = folder.join("programs").join(format!("{name}.py"));
        for read in [path, &program] {
            println!("cargo::rerun-if-changed={}", read.display());
        }
        write!(
            text,
            "({name:?}, include_str!({:?}), include_str!({:?})),",
            path.display().to_string(),
            program.display().to_string()
        )?;
    }
    fs::write(Path::new(&env::var("OUT_DIR")?).join("shipped.rs"), text + "]")?;
    Ok(())
}
