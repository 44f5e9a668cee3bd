//! What is said on stderr while work goes on: bars on a terminal, a line every few seconds in a log, warnings, errors.
//!
//! promises  nothing here goes to stdout; work that is over within a second is not mentioned in a log
//! never     asks a question
use std::{
    io::{IsTerminal, Write},
    sync::Mutex,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use warploom_contract::{StageError, stage::Progress};

use crate::flags::{Color, Options};

const LINE_EVERY: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Bar,
    Lines,
    Silent,
}

struct Work {
    what: String,
    unit: &'static str,
    total: u64,
    done: u64,
    note: String,
    begun: Instant,
    said: Instant,
    bar: Option<ProgressBar>,
}

/// The voice of a program.
pub struct Talk {
    mode: Mode,
    quiet: bool,
    verbose: u8,
    color: bool,
    stage: Mutex<String>,
    work: Mutex<Option<Work>>,
}

impl Talk {
    /// As the options ask.
    pub fn new(options: &Options) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let mode = match (options.quiet || options.no_progress, terminal) {
            (true, _) => Mode::Silent,
            (false, true) => Mode::Bar,
            (false, false) => Mode::Lines,
        };
        let color = match options.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && std::env::var_os("NO_COLOR").is_none(),
        };
        Talk { mode, quiet: options.quiet, verbose: options.verbose, color, stage: Mutex::new(String::new()), work: Mutex::new(None) }
    }

    /// Names the stage that the next lines are about.
    pub fn stage(&self, name: &str) {
        *self.stage.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = name.to_owned();
    }

    /// A line, unless quiet.
    pub fn say(&self, text: &str) {
        if !self.quiet {
            self.line(text);
        }
    }

    /// A line for those who asked for more.
    pub fn detail(&self, text: &str) {
        if self.verbose > 0 {
            self.line(text);
        }
    }

    /// An error, always.
    pub fn error(&self, error: &StageError) {
        crate::signals::wait_if_leaving();
        self.line(&self.paint_error(&error.to_string()));
    }

    /// Text that already reads as one or more errors.
    pub fn error_text(&self, text: &str) {
        self.line(&self.paint_error(text));
    }

    fn paint_error(&self, text: &str) -> String {
        if !self.color {
            return text.to_owned();
        }
        let paint = |line: &str| {
            if let Some(rest) = line.strip_prefix("error:") {
                format!("\x1b[1;31merror:\x1b[0m{rest}")
            } else if let Some(rest) = line.strip_prefix("hint:") {
                format!("\x1b[1;36mhint:\x1b[0m{rest}")
            } else {
                line.to_owned()
            }
        };
        text.lines().map(paint).collect::<Vec<_>>().join("\n")
    }

    fn line(&self, text: &str) {
        let print = || {
            // A closed stderr is nobody's loss.
            let _closed = writeln!(std::io::stderr().lock(), "{text}");
        };
        let work = self.work.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match work.as_ref().and_then(|work| work.bar.as_ref()) {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    fn prefix(&self) -> String {
        self.stage.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }
}

impl Progress for Talk {
    fn begin(&self, what: &str, total: u64, unit: &'static str) {
        self.end();
        let now = Instant::now();
        let bar = (self.mode == Mode::Bar).then(|| {
            let template = if total > 0 {
                "{prefix:>9} {msg} {wide_bar:.cyan/dim} {human_pos}/{human_len} {per_sec} {eta}"
            } else {
                "{prefix:>9} {msg} {spinner} {human_pos} {per_sec} {elapsed}"
            };
            let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(10)).with_style(style);
            bar.set_prefix(self.prefix());
            bar.set_message(what.to_owned());
            bar
        });
        let work = Work { what: what.to_owned(), unit, total, done: 0, note: String::new(), begun: now, said: now, bar };
        *self.work.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(work);
    }

    fn advance(&self, units: u64) {
        let mut work = self.work.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let Some(work) = work.as_mut() else { return };
        work.done += units;
        if let Some(bar) = &work.bar {
            bar.set_position(work.done);
        } else if self.mode == Mode::Lines && work.said.elapsed() >= LINE_EVERY {
            work.said = Instant::now();
            let text = format!("{}: {}", self.prefix(), describe(work, work.begun.elapsed().as_secs_f64()));
            let _closed = writeln!(std::io::stderr().lock(), "{text}");
        }
    }

    fn note(&self, text: &str) {
        let mut work = self.work.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(work) = work.as_mut() {
            work.note = text.to_owned();
            if let Some(bar) = &work.bar {
                bar.set_message(format!("{} {text}", work.what));
            }
        }
    }

    fn end(&self) {
        let work = self.work.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        if let Some(bar) = work.and_then(|work| work.bar) {
            bar.finish_and_clear();
        }
    }

    fn warn(&self, text: &str) {
        let mark = if self.color { "\x1b[1;33mwarning:\x1b[0m" } else { "warning:" };
        self.line(&format!("{mark} {text}"));
    }
}

fn describe(work: &Work, seconds: f64) -> String {
    let seconds = seconds.max(1e-9);
    let rate = work.done as f64 / seconds;
    let mut text = work.what.clone();
    if work.total > 0 {
        let left = (work.total.saturating_sub(work.done)) as f64 / rate.max(1e-9);
        text += &format!(" {:.0}% ({} {}/s, {} left)", 100.0 * work.done as f64 / work.total as f64, short(rate), work.unit, span(left));
    } else {
        text += &format!(" {} {} ({}/s)", short(work.done as f64), work.unit, short(rate));
    }
    if !work.note.is_empty() {
        text += &format!(", {}", work.note);
    }
    text
}

/// A number with three digits: `1.23 M`.
pub fn short(value: f64) -> String {
    match value {
        v if v >= 1e9 => format!("{:.2} G", v / 1e9),
        v if v >= 1e6 => format!("{:.2} M", v / 1e6),
        v if v >= 1e4 => format!("{:.1} k", v / 1e3),
        v if v >= 100.0 => format!("{v:.0}"),
        v => format!("{v:.1}"),
    }
}

fn span(seconds: f64) -> String {
    match seconds {
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_how_fast_and_how_long() {
        let begun = Instant::now();
        let work = Work { what: "parsing".into(), unit: "bytes", total: 40_000_000, done: 10_000_000, note: String::new(), begun, said: begun, bar: None };
        assert_eq!(describe(&work, 10.0), "parsing 25% (1.00 M bytes/s, 30 s left)");
    }
}
