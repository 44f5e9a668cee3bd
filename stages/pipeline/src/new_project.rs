//! new_project: `warploom new`: creates a program and its pipeline from shipped ones.
//!
//! promises  both run unchanged, from the folder where they were written; function, file and
//!           pipeline have the same name
//! never     replaces a file without `--force`
use std::{
    fs::File,
    io::{ErrorKind as Io, Write},
    path::Path,
};

use serde_json::json;
use warploom_contract::{ErrorKind, StageError};
use warploom_shell::Environment;

/// The shipped pipelines: name, its text, the text of its program.
const SHIPPED: &[(&str, &str, &str)] = include!(concat!(env!("OUT_DIR"), "/shipped.rs"));
/// Python keywords.
const KEYWORDS: [&str; 20] = [
    "and", "as", "assert", "break", "class", "def", "del", "elif", "else", "except", "for", "from",
    "if", "import", "in", "is", "lambda", "not", "or", "while",
];

/// Writes NAME.py and NAME.yaml into the current folder.
pub fn write_project(environment: &Environment, name: &str, like: &str) -> Result<(), StageError> {
    let is_name = name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && !KEYWORDS.contains(&name);
    if !is_name {
        let what = format!(
            "`{name}` cannot be the name of a function: expected letters, digits and `_`, with no \
             digit first"
        );
        return Err(crate::usage_error(what, "for example  warploom new my_model"));
    }
    let (program, pipeline) = renamed_texts(name, like)?;
    let [program_file, pipeline_file] = [format!("{name}.py"), format!("{name}.yaml")];
    if let Some(there) = [&program_file, &pipeline_file]
        .into_iter()
        .find(|file| Path::new(file).exists() && !environment.force)
    {
        return Err(StageError::new(ErrorKind::Input, "the file is there already")
            .at(there)
            .hint("choose another name, or replace it with  --force"));
    }
    create_file(&program_file, &program, environment.force)?;
    create_file(&pipeline_file, &pipeline, environment.force)?;
    crate::print_as(
        environment,
        || {
            format!(
                "{program_file}: the program, what one vertex does\n{pipeline_file}: the pipeline, its data set and settings\n\
                 check it:  warploom check {program_file}\nrun it:    warploom pipeline {pipeline_file} --set dataset=cora\n"
            )
        },
        || vec![json!({"program": program_file, "pipeline": pipeline_file, "like": like})],
    );
    Ok(())
}

fn create_file(file: &str, text: &str, force: bool) -> Result<(), StageError> {
    let opened = if force { File::create(file) } else { File::create_new(file) };
    let written = opened.and_then(|mut opened| opened.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        Io::AlreadyExists => StageError::new(ErrorKind::Input, "the file is there already")
            .at(file)
            .hint("choose another name, or replace it with  --force"),
        _ => StageError::io("write", Path::new(file), &error).replace_store_option("cd DIR"),
    })
}

/// The texts of program and pipeline under another name.
fn renamed_texts(name: &str, like: &str) -> Result<(String, String), StageError> {
    let Some((_, pipeline, program)) = SHIPPED.iter().find(|(shipped, ..)| *shipped == like) else {
        let names: Vec<&str> = SHIPPED.iter().map(|(shipped, ..)| *shipped).collect();
        let near = warploom_spec::nearest(like, names.iter().copied()).unwrap_or("gcn");
        let error = crate::usage_error(
            format!("no shipped program is called `{like}`"),
            format!("warploom new {name} --like {near}"),
        );
        return Err(error.detail(format!("  there are  {}", names.join(", "))));
    };
    let program = program.replace(&format!("def {like}("), &format!("def {name}("));
    // Only shipped pipelines have the schema beside them; parameters are named after the program.
    let lines = pipeline.lines().filter(|line| !line.contains("$schema=")).map(|line| {
        let line = line
            .replace(&format!("programs/{like}.py"), &format!("{name}.py"))
            .replace(&format!("[{like}.{like}."), &format!("[{name}.{name}."));
        if line == format!("pipeline: {like}") { format!("pipeline: {name}") } else { line }
    });
    Ok((program, lines.collect::<Vec<_>>().join("\n") + "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_program_gets_another_name() {
        assert!(SHIPPED.len() >= 21);
        for (like, ..) in SHIPPED {
            let (program, pipeline) = renamed_texts("mine", like).unwrap();
            assert!(
                program.starts_with("def mine(") && !program.contains(&format!("def {like}(")),
                "{like}"
            );
            assert!(
                pipeline.contains("pipeline: mine\n")
                    && pipeline.contains("program: mine.py")
                    && !pipeline.contains("$schema"),
                "{like}: {pipeline}"
            );
            assert!(
                !pipeline.contains(&format!("{like}.{like}."))
                    && !pipeline.contains(&format!("{like}.0.")),
                "{like}: {pipeline}"
            );
            let read = warploom_spec::read_text(&pipeline, Path::new("mine.yaml"), &[]).unwrap();
            assert_eq!(
                (read[0].plan.program.file.as_path(), read[0].plan.program.entry.as_str()),
                (Path::new("mine.py"), "mine")
            );
        }
        assert!(renamed_texts("mine", "gta").unwrap_err().hint.unwrap().ends_with("--like gat"));
    }
}
