//! command_line: usage errors, with what to type instead of an unknown argument.
//!
//! promises  a setting of the pipeline or its program that is typed as an option is answered with
//!           the `--set` that was meant
//! never     accepts it as the setting: a mistyped option could pass as one
use std::{io::Write, path::Path, process::ExitCode};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use warploom_language::trace::settings_of;
use warploom_spec::{nearest, settings_named, shell_word};

use crate::StageName;

/// Usual settings of programs, where no pipeline file is named.
const USUAL: [&str; 5] = ["hidden", "drop", "heads", "layers", "steps"];
/// Names of settings in other software.
const OTHER_NAMES: [(&str, &str); 8] = [
    ("learning_rate", "lr"),
    ("wd", "weight_decay"),
    ("epoch", "epochs"),
    ("num_epochs", "epochs"),
    ("data_set", "dataset"),
    ("metrics", "metric"),
    ("seeds", "repeat"),
    ("runs", "repeat"),
];

/// Prints what is wrong with a command line, and gives the exit code.
pub fn report_usage_error(error: &clap::Error, words: &[String]) -> ExitCode {
    if let Some(text) = usage_error(error, words) {
        // A closed stderr is no error.
        let _closed = writeln!(std::io::stderr().lock(), "{text}");
        return ExitCode::from(warploom_contract::ErrorKind::Usage.exit_code());
    }
    // Help and version are no errors; `print` fails if they cannot be written.
    match error.print() {
        Ok(()) if error.use_stderr() => {
            ExitCode::from(warploom_contract::ErrorKind::Usage.exit_code())
        }
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// The error of an argument that names a setting, or of a missing command.
fn usage_error(error: &clap::Error, words: &[String]) -> Option<String> {
    if error.kind() == ErrorKind::MissingSubcommand {
        // clap would list the hidden commands, too.
        return Some(
            "error: no command was given\nhint: the same with  --help  lists them".to_owned(),
        );
    }
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && StageName::ALL.iter().any(|stage| stage.contract().name == word)
    {
        return Some(format!(
            "error: `{word}` is a stage, and a program of its own\nhint: warploom-{word} --help;  \
             or, to stop after it,  warploom pipeline FILE --until {word}"
        ));
    }
    let word = match (
        error.kind(),
        error.get(ContextKind::InvalidArg),
        error.get(ContextKind::InvalidSubcommand),
    ) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(word)), _) => word,
        (ErrorKind::InvalidSubcommand, _, Some(ContextValue::String(word)))
            if word.contains('=') =>
        {
            word
        }
        _ => return None,
    };
    let hint = match word.strip_prefix("--") {
        Some(option) => {
            suggest_setting(option, words, error.get(ContextKind::SuggestedArg).is_some())?
        }
        None if word
            .split_once('=')
            .is_some_and(|(path, _)| !path.is_empty() && !path.starts_with('-')) =>
        {
            format!("--set {}", shell_word(word))
        }
        None => return None,
    };
    let what = if word.starts_with("--") {
        format!("there is no option `{word}`")
    } else {
        format!("unexpected argument `{word}`")
    };
    Some(format!("error: {what}\nhint: {hint}"))
}

/// The setting that was meant by an option.
fn suggest_setting(option: &str, words: &[String], is_like_an_option: bool) -> Option<String> {
    // clap names the option without `=VALUE`.
    let given = words
        .iter()
        .find_map(|word| word.strip_prefix("--")?.strip_prefix(option)?.strip_prefix('='));
    let name = option.replace('-', "_");
    if let Some(device) = ["gpu", "cuda", "cpu"].into_iter().find(|device| *device == name) {
        return Some(format!("--device {}", if device == "cpu" { "cpu" } else { "cuda" }));
    }
    let behind = || {
        words
            .iter()
            .skip_while(|word| word.trim_start_matches("--") != option)
            .nth(1)
            .filter(|word| !word.starts_with('-'))
    };
    let value = given.or_else(|| behind().map(String::as_str)).unwrap_or("VALUE");
    let set = |path: &str| format!("--set {}", shell_word(&format!("{path}={value}")));
    let named = OTHER_NAMES
        .iter()
        .find(|(other, _)| *other == name)
        .map_or(name.as_str(), |(_, name)| name);
    if let Some(path) = settings_named(named).first() {
        return Some(set(path));
    }
    let own = program_settings(words);
    if let Some(setting) = own.iter().find(|setting| **setting == name) {
        return Some(set(&format!("plan.set.{setting}")));
    }
    if is_like_an_option {
        return None;
    }
    let near = nearest(&name, own.iter().map(String::as_str))?;
    Some(set(&format!("plan.set.{near}")))
}

/// The settings of the program of the pipeline file on the command line; else the usual ones.
fn program_settings(words: &[String]) -> Vec<String> {
    let of_file = |file: &String| -> Option<Vec<String>> {
        let pipeline = warploom_spec::read(Path::new(file), &[]).ok()?.into_iter().next()?;
        let program = &pipeline.plan.program;
        let text = std::fs::read_to_string(&program.file).ok()?;
        Some(
            settings_of(&text, &program.entry)
                .ok()?
                .into_iter()
                .map(|setting| setting.name)
                .collect(),
        )
    };
    let files = words.iter().filter(|word| word.ends_with(".yaml") || word.ends_with(".yml"));
    files.filter_map(of_file).next().unwrap_or_else(|| USUAL.map(str::to_owned).to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Command, FromArgMatches};

    fn says(line: &str) -> String {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let command = <crate::Options as clap::Args>::augment_args(
            Command::new("warploom").no_binary_name(true).arg(clap::Arg::new("file")),
        );
        let error = match command.try_get_matches_from(&words) {
            Ok(matches) => {
                crate::Options::from_arg_matches(&matches).map(drop).expect_err("an error")
            }
            Err(error) => error,
        };
        usage_error(&error, &words).unwrap_or_else(|| "as clap says".to_owned())
    }

    #[test]
    fn a_setting_that_is_typed_as_an_option_is_answered_with_set() {
        for (line, hint) in [
            ("f --epochs 5", "--set run.epochs=5"),
            ("f --epochs=5", "--set run.epochs=5"),
            ("f --lr 0.01", "--set run.optimizer.adam.lr=0.01"),
            ("f --learning-rate 0.01", "--set run.optimizer.adam.lr=0.01"),
            ("f --weight-decay", "--set run.optimizer.adam.weight_decay=VALUE"),
            ("f --hidden 64 -q", "--set plan.set.hidden=64"),
            ("f --dropout 0.5", "--set plan.set.drop=0.5"),
            ("f --dataset cora", "--set dataset=cora"),
            ("f --gpu", "--device cuda"),
            ("f dataset=cora", "--set dataset=cora"),
        ] {
            assert!(says(line).ends_with(&format!("\nhint: {hint}")), "{line}: {}", says(line));
        }
        assert_eq!(["f --treads 4", "f --nonsense", "f other"].map(says), ["as clap says"; 3]);
    }
}
