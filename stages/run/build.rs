//! The build script of `run`: the commit that the sources are at, for records.
//!
//! promises  no failure outside of git: the commit is then unknown; `WARPLOOM_REVISION` replaces
//!           what git says; a build runs again only if the commit changed
//! limits    a debug build does not ask git, since every commit would compile it again; changes
//!           that are not committed are not seen
use std::{env, path::PathBuf, process::Command};

/// The variable that the program reads, and that a build without git may set.
const VARIABLE: &str = "WARPLOOM_REVISION";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    let named = env::var(VARIABLE).ok().filter(|revision| !revision.is_empty());
    if let Some(revision) = named.or_else(commit) {
        println!("cargo::rustc-env={VARIABLE}={revision}");
    }
}

/// The commit, of a release build in a git repository.
fn commit() -> Option<String> {
    if env::var("PROFILE").ok()? != "release" {
        return None;
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    // HEAD names a branch, whose file has the commit; a packed one has none.
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]).unwrap_or_default();
    for name in ["HEAD", "packed-refs", branch.as_str()] {
        let path = git(&["rev-parse", "--git-path", name]).map(PathBuf::from);
        if let Some(path) = path.filter(|path| !name.is_empty() && path.is_file()) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    Some(commit)
}

/// What a git command prints, if it succeeds.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
