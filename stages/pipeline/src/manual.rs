//! manual: `warploom man`: manual pages with options, environment and exit codes.
//!
//! promises  the texts of the help; `warploom.1` describes every sub-command, each of which has a
//!           page of its own, too
//! never     lists a sub-command that this version does not have
use std::path::Path;

use clap::Command;
use clap_mangen::{
    Man,
    roff::{Roff, bold, roman},
};
use warploom_contract::StageError;
use warploom_shell::binary::print_data;

use crate::{
    command_lines::{self, NamedText},
    surroundings::{ENVIRONMENT, EXIT_CODES},
};

/// Prints the page of `warploom`, or writes those of all programs and sub-commands into a folder.
pub fn print_or_write(folder: Option<&Path>) -> Result<(), StageError> {
    let mut programs = command_lines::all();
    // Names of sub-commands and global options are known after this.
    programs.iter_mut().for_each(Command::build);
    let Some(folder) = folder else {
        print_data(&page(&programs[0], &[]));
        return Ok(());
    };
    let names: Vec<&str> = programs.iter().map(Command::get_name).collect();
    let mut pages: Vec<NamedText> =
        programs.iter().map(|program| named_page(program, &names)).collect();
    add_pages_below(&programs[0], &mut pages);
    command_lines::write_files(folder, &pages)
}

/// Adds the pages of the sub-commands of a command, recursively.
fn add_pages_below(command: &Command, pages: &mut Vec<NamedText>) {
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        pages.push(named_page(sub, &[page_name(command)]));
        add_pages_below(sub, pages);
    }
}

/// The name of a page: `warploom-store-gc`.
fn page_name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// A page as a file; `related` are further pages to look at, beside those of its sub-commands.
fn named_page(command: &Command, related: &[&str]) -> NamedText {
    let name = page_name(command);
    let own = command.get_subcommands().filter(|sub| !sub.is_hide_set()).map(page_name);
    // The sub-commands of a stage's program are on its own page.
    let is_front_door = related.len() == 1 || name == "warploom";
    let mut see: Vec<&str> = related.iter().copied().filter(|other| *other != name).collect();
    see.extend(own.filter(|_| is_front_door));
    NamedText { name: format!("{name}.1"), text: page(command, &see) }
}

/// The page of a command that is built; `see` names other pages.
fn page(command: &Command, see: &[&str]) -> String {
    let path = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let man = Man::new(command.clone())
        .title(page_name(command))
        .source(concat!("warploom ", env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    // Writing into memory cannot fail.
    let _infallible = man
        .render_title(&mut text)
        .and_then(|()| man.render_name_section(&mut text))
        .and_then(|()| man.render_synopsis_section(&mut text))
        .and_then(|()| man.render_description_section(&mut text))
        .and_then(|()| man.render_options_section(&mut text));
    let mut roff = Roff::new();
    if command.get_subcommands().any(|sub| !sub.is_hide_set()) {
        roff.control("SH", ["COMMANDS"]);
        describe(command, path, &mut roff);
    }
    for (title, rows) in [("ENVIRONMENT", &ENVIRONMENT[..]), ("EXIT STATUS", &EXIT_CODES)] {
        roff.control("SH", [title]);
        for (name, about) in rows {
            roff.control("TP", []).text([bold(*name)]).text([roman(*about)]);
        }
    }
    if !see.is_empty() {
        let names: Vec<String> = see.iter().map(|name| format!("{name}(1)")).collect();
        roff.control("SH", ["SEE ALSO"]).text([roman(names.join(", "))]);
    }
    let _infallible = roff.to_writer(&mut text);
    if command.get_version().is_some() {
        let _infallible = man.render_version_section(&mut text);
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Describes sub-commands with their options, recursively.
fn describe(command: &Command, path: &str, roff: &mut Roff) {
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        let path = format!("{path} {}", sub.get_name());
        let own: Vec<&clap::Arg> =
            sub.get_arguments().filter(|arg| !arg.is_global_set() && !arg.is_hide_set()).collect();
        let places: String = own
            .iter()
            .filter(|arg| arg.is_positional())
            .map(|arg| format!(" {}", arg.get_id().as_str().to_uppercase()))
            .collect();
        roff.control("SS", [format!("{path}{places}").as_str()]);
        roff.text([roman(sub.get_about().map(ToString::to_string).unwrap_or_default())]);
        for arg in own {
            let name = arg
                .get_long()
                .map_or_else(|| arg.get_id().as_str().to_uppercase(), |long| format!("--{long}"));
            roff.control("TP", [])
                .text([bold(name)])
                .text([roman(arg.get_help().map(ToString::to_string).unwrap_or_default())]);
        }
        describe(sub, &path, roff);
    }
}
