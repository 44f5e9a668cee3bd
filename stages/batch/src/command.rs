//! command: fills the templates of a scheduler's description, and runs its commands.
//!
//! promises  a scheduler that does not answer is asked again for half a minute, then it is an error
//!           that may pass (exit code 4); what it said is in the error
//! never     starts a command through a shell unless the description names one
use std::{
    collections::BTreeMap,
    process::{Command, Stdio},
    time::Duration,
};

use warploom_contract::{ErrorKind, StageError};

/// Values of placeholders; one without a value is known and not given.
pub type Values = BTreeMap<&'static str, Option<String>>;

/// Fills `{name}` placeholders; none if a value is not given. `${NAME}` is the shell's.
pub fn fill(template: &str, values: &Values) -> Result<Option<String>, StageError> {
    let (mut text, mut rest) = (String::with_capacity(template.len()), template);
    while let Some(at) = rest.find('{') {
        let (before, inside) = rest.split_at(at);
        text += before;
        let name = inside[1..].split('}').next().unwrap_or_default();
        let is_name = !name.is_empty()
            && name.len() + 1 < inside.len()
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        if !is_name || before.ends_with('$') {
            text.push('{');
            rest = &inside[1..];
            continue;
        }
        match values.get(name) {
            Some(Some(value)) => text += value,
            Some(None) => return Ok(None),
            None => {
                let known: Vec<&str> = values.keys().copied().collect();
                let what =
                    format!("`{{{name}}}` stands for nothing here: expected one of {known:?}");
                return Err(StageError::new(ErrorKind::Specification, what)
                    .at(format!("the scheduler's line `{template}`"))
                    .hint("mend the description of the scheduler"));
            }
        }
        rest = &inside[name.len() + 2..];
    }
    Ok(Some(text + rest))
}

/// Fills the words of a command; words without a value are left out.
pub fn fill_words(words: &[String], values: &Values) -> Result<Vec<String>, StageError> {
    let filled = words.iter().map(|word| fill(word, values)).collect::<Result<Vec<_>, _>>()?;
    Ok(filled.into_iter().flatten().collect())
}

/// Pauses between tries.
const PAUSES: [u64; 5] = [1, 2, 4, 8, 16];

/// Runs a command of the scheduler and gives what it prints; tries again while it fails in a way
/// that may pass.
pub fn run(words: &[String]) -> Result<String, StageError> {
    let mut pauses = PAUSES.iter();
    loop {
        let refusal = match run_once(words) {
            Ok(said) => return Ok(said),
            Err(refusal) => refusal,
        };
        let may_pass = refusal.kind == ErrorKind::Transient;
        match pauses.next().filter(|_| may_pass) {
            Some(&seconds) => std::thread::sleep(Duration::from_secs(seconds)),
            None => return Err(refusal),
        }
    }
}

/// Words by which schedulers say that they do not answer, and not that they refuse.
const NO_ANSWER: [&str; 8] = [
    "unable to contact",
    "connection refused",
    "connection timed out",
    "socket timed out",
    "communication connection failure",
    "cannot connect to server",
    "temporarily unable",
    "temporarily unavailable",
];

/// Runs a command of the scheduler once.
pub fn run_once(words: &[String]) -> Result<String, StageError> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(StageError::new(
            ErrorKind::Specification,
            "the scheduler's description has no command for this",
        ));
    };
    let made = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let made = made.map_err(|error| {
        let what = format!("cannot start `{program}`: {error}");
        StageError::new(ErrorKind::Input, what)
            .hint("is this a node from which jobs are submitted? else use  --site local")
    })?;
    let said = String::from_utf8_lossy(&made.stdout).into_owned();
    if made.status.success() {
        return Ok(said);
    }
    let complaint = String::from_utf8_lossy(&made.stderr).trim().to_owned();
    let lower = complaint.to_lowercase();
    let (kind, hint) = if NO_ANSWER.iter().any(|words| lower.contains(words)) {
        (ErrorKind::Transient, "the scheduler does not answer; try again later")
    } else {
        (ErrorKind::Input, "look at the resources of the site, and at what the scheduler said")
    };
    let lines: Vec<String> = complaint.lines().map(|line| format!("  {line}")).collect();
    Err(StageError::new(kind, format!("`{program}` failed with {}", made.status))
        .at(words.join(" "))
        .detail(lines.join("\n"))
        .hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_and_shell_variables_stay() {
        let values: Values = [("a", Some("x".to_owned())), ("b", None)].into_iter().collect();
        assert_eq!(fill("-{a}- ${a} {print $1}", &values).unwrap().unwrap(), "-x- ${a} {print $1}");
        assert_eq!(fill("{a} {b}", &values).unwrap(), None);
        assert!(fill("{c}", &values).unwrap_err().what.contains("{c}"));
    }

    #[test]
    fn a_refusal_is_told_from_silence() {
        let shell = |text: &str| vec!["sh".to_owned(), "-c".to_owned(), text.to_owned()];
        assert_eq!(run_once(&shell("echo 12")).unwrap(), "12\n");
        let refused = run_once(&shell("echo 'invalid partition' >&2; exit 1")).unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Input);
        assert!(refused.to_string().contains("invalid partition"));
        let silent =
            run_once(&shell("echo 'Unable to contact slurm controller' >&2; exit 1")).unwrap_err();
        assert_eq!(silent.kind.exit_code(), 4);
        let absent = run_once(&["no-such-scheduler".to_owned()]).unwrap_err();
        assert!(absent.hint.unwrap().contains("--site local"));
    }
}
