//! progress: what stderr shows during work: progress bars on a terminal, a line every few seconds
//! in a log (every half minute in that of a batch job), warnings and errors.
//!
//! promises  writes nothing to stdout; a log does not mention work of less than two seconds; work
//!           that reports no progress is shown with its elapsed time; control characters (file
//!           names may hold them) never reach the terminal
//! never     asks a question
use std::{
    io::{IsTerminal, Write},
    sync::{Arc, Mutex, MutexGuard, Once, PoisonError},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use warploom_contract::{StageError, error::escape_controls, progress::Progress};

use crate::{
    flags::{Color, Options},
    machine_limits,
};

/// How long work takes before its first line in a log, and between further lines.
const FIRST_LINE: Duration = Duration::from_secs(2);
const LINE_EVERY: Duration = Duration::from_secs(5);
/// How long after any line of progress the next one comes in the log of a batch job.
const BATCH_LINE_EVERY: Duration = Duration::from_secs(30);
/// With fewer steps no rate is shown: they differ in size.
const STEPS_WITH_RATE: u64 = 10;
/// How often a bar is redrawn, and how often the clock thread checks whether a line is due.
const TICK: Duration = Duration::from_millis(250);

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
    /// When a line is due.
    due: Instant,
    bar: Option<ProgressBar>,
}

/// The current stage and work, shared with the clock thread.
#[derive(Default)]
struct Current {
    stage: Mutex<String>,
    work: Mutex<Option<Work>>,
    /// Whether this is a batch job, and when its last line of progress was written.
    is_batch_job: bool,
    last_line: Mutex<Option<Instant>>,
}

/// Locks a mutex, also one that a panic has poisoned.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Current {
    /// When the first line about work that begins now is due.
    fn first_line_due(&self, now: Instant) -> Instant {
        let due = now + FIRST_LINE;
        match *lock(&self.last_line) {
            Some(last) if self.is_batch_job => due.max(last + BATCH_LINE_EVERY),
            _ => due,
        }
    }

    /// Writes a line about the current work, if one is due.
    fn write_if_due(&self) {
        let mut work = lock(&self.work);
        let Some(work) = work.as_mut().filter(|work| Instant::now() >= work.due) else { return };
        let now = Instant::now();
        work.due = now + if self.is_batch_job { BATCH_LINE_EVERY } else { LINE_EVERY };
        *lock(&self.last_line) = Some(now);
        let text = format!(
            "{}: {}",
            lock(&self.stage),
            describe_work(work, work.begun.elapsed().as_secs_f64())
        );
        let _closed = writeln!(std::io::stderr().lock(), "{text}");
    }
}

/// Writes progress, warnings and errors to stderr.
pub struct Talk {
    mode: Mode,
    quiet: bool,
    verbose: u8,
    color: bool,
    current: Arc<Current>,
    clock: Once,
}

impl Talk {
    /// Configured by the options.
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
        Talk {
            mode,
            quiet: options.quiet,
            verbose: options.verbose,
            color,
            current: Arc::new(Current {
                is_batch_job: machine_limits::is_batch_job(),
                ..Current::default()
            }),
            clock: Once::new(),
        }
    }

    /// Names the stage that the next lines are about.
    pub fn stage(&self, name: &str) {
        name.clone_into(&mut lock(&self.current.stage));
    }

    /// A line, unless quiet.
    pub fn say(&self, text: &str) {
        if !self.quiet {
            self.write_line(text);
        }
    }

    /// Whether `--verbose` was given.
    pub fn is_verbose(&self) -> bool {
        self.verbose > 0
    }

    /// A line that only `--verbose` shows.
    pub fn detail(&self, text: &str) {
        if self.verbose > 0 {
            self.write_line(text);
        }
    }

    /// An error, also with `--quiet`. A stop is shown as a plain line that says what was saved.
    pub fn error(&self, error: &StageError) {
        crate::signals::wait_if_exiting();
        if error.kind.is_stop() {
            return self.write_line(&error.what);
        }
        self.write_painted_line(&self.paint_error(&error.to_string()));
    }

    /// Text that already reads as one or more errors.
    pub fn error_text(&self, text: &str) {
        self.write_painted_line(&self.paint_error(text));
    }

    fn paint_error(&self, text: &str) -> String {
        let text = escape_controls(text);
        if !self.color {
            return text.into_owned();
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

    fn write_line(&self, text: &str) {
        self.write_painted_line(&escape_controls(text));
    }

    /// A line of which our own colours are the only control characters.
    fn write_painted_line(&self, text: &str) {
        let print = || {
            // A closed stderr is ignored.
            let _closed = writeln!(std::io::stderr().lock(), "{text}");
        };
        let work = lock(&self.current.work);
        match work.as_ref().and_then(|work| work.bar.as_ref()) {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    fn stage_name(&self) -> String {
        lock(&self.current.stage).clone()
    }

    /// Starts the thread that writes lines of work without progress; it ends with this value.
    fn start_clock(&self) {
        let current = Arc::downgrade(&self.current);
        self.clock.call_once(|| {
            let tick = move || {
                while let Some(current) = current.upgrade() {
                    current.write_if_due();
                    drop(current);
                    std::thread::sleep(TICK);
                }
            };
            // Without the thread, lines are written when work reports progress.
            let _none = std::thread::Builder::new().name("clock".to_owned()).spawn(tick);
        });
    }
}

impl Progress for Talk {
    fn begin(&self, what: &str, total: u64, unit: &'static str) {
        self.end();
        let now = Instant::now();
        let bar = (self.mode == Mode::Bar).then(|| {
            let template = if total > 0 {
                "{prefix:>9} {msg} {wide_bar:.cyan/dim} {progress}"
            } else {
                "{prefix:>9} {msg} {spinner} {progress}"
            };
            let style = ProgressStyle::with_template(template)
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            let style = style.with_key(
                "progress",
                move |state: &ProgressState, text: &mut dyn std::fmt::Write| {
                    // A closed terminal is ignored.
                    let _closed = text.write_str(&describe_rate(
                        state.pos(),
                        total,
                        unit,
                        state.elapsed().as_secs_f64(),
                    ));
                },
            );
            let bar =
                ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(10))
                    .with_style(style);
            bar.enable_steady_tick(TICK);
            bar.set_prefix(self.stage_name());
            bar.set_message(escape_controls(what).into_owned());
            bar
        });
        let work = Work {
            what: escape_controls(what).into_owned(),
            unit,
            total,
            done: 0,
            note: String::new(),
            begun: now,
            due: self.current.first_line_due(now),
            bar,
        };
        *lock(&self.current.work) = Some(work);
        if self.mode == Mode::Lines {
            self.start_clock();
        }
    }

    fn advance(&self, units: u64) {
        {
            let mut work = lock(&self.current.work);
            let Some(work) = work.as_mut() else { return };
            work.done += units;
            if let Some(bar) = &work.bar {
                bar.set_position(work.done);
            }
        }
        if self.mode == Mode::Lines {
            self.current.write_if_due();
        }
    }

    fn note(&self, text: &str) {
        let mut work = lock(&self.current.work);
        if let Some(work) = work.as_mut() {
            work.note = escape_controls(text).into_owned();
            if let Some(bar) = &work.bar {
                bar.set_message(format!("{} {}", work.what, work.note));
            }
        }
    }

    fn end(&self) {
        let Some(work) = lock(&self.current.work).take() else { return };
        if let Some(bar) = &work.bar {
            bar.finish_and_clear();
        }
        self.detail(&format!("{}: {}", self.stage_name(), describe_finished(&work)));
    }

    fn say(&self, text: &str) {
        Talk::say(self, text);
    }

    fn warn(&self, text: &str) {
        let mark = if self.color { "\x1b[1;33mwarning:\x1b[0m" } else { "warning:" };
        self.write_painted_line(&format!("{mark} {}", escape_controls(text)));
    }
}

fn describe_work(work: &Work, seconds: f64) -> String {
    let share = if work.total > 0 && work.done > 0 {
        format!(" {}%", 100 * work.done.min(work.total) / work.total)
    } else {
        String::new()
    };
    let note = if work.note.is_empty() { String::new() } else { format!(", {}", work.note) };
    format!(
        "{}{share} ({}){note}",
        work.what,
        describe_rate(work.done, work.total, work.unit, seconds)
    )
}

/// Finished work as text: how much was done, and how long it took.
fn describe_finished(work: &Work) -> String {
    let done = match (work.done, work.total) {
        (0, 0) => String::new(),
        (done, 0) => format!(", {} {}", format_count(done), work.unit),
        (done, total) => {
            format!(", {} of {} {}", format_count(done), format_count(total), work.unit)
        }
    };
    format!("{}{done}: {:.3} s", work.what, work.begun.elapsed().as_secs_f64())
}

/// Progress, rate and time left as text; only the elapsed time of work without progress.
fn describe_rate(done: u64, total: u64, unit: &str, seconds: f64) -> String {
    if done == 0 {
        return format_span(seconds);
    }
    let each_second = done as f64 / seconds.max(1e-9);
    let (done_of, rate) = (format_count(done), format_rate(each_second));
    if total == 0 {
        return format!("{done_of} {unit}, {rate}/s, {}", format_span(seconds));
    }
    // A few large steps have no rate.
    if total < STEPS_WITH_RATE {
        return format!("{done_of} of {total} {unit}, {}", format_span(seconds));
    }
    let left = total.saturating_sub(done) as f64 / each_second;
    format!("{done_of} of {} {unit}, {rate}/s, {} left", format_count(total), format_span(left))
}

/// A count: exact, or with three digits.
pub fn format_count(value: u64) -> String {
    if value < 10_000 { value.to_string() } else { format_short(value as f64) }
}

/// A rate with two digits: `2.7 M`, `76`, `0.45`.
fn format_rate(value: f64) -> String {
    let (value, unit) = match value {
        v if v >= 0.995e9 => (v / 1e9, " G"),
        v if v >= 0.995e6 => (v / 1e6, " M"),
        v if v >= 0.995e3 => (v / 1e3, " k"),
        v => (v, ""),
    };
    match value {
        v if v >= 99.5 => format!("{:.0}{unit}", (v / 10.0).round() * 10.0),
        v if v >= 9.95 => format!("{v:.0}{unit}"),
        v if v >= 0.995 => format!("{v:.1}{unit}"),
        v => format!("{v:.2}{unit}"),
    }
}

/// A number with three digits: `1.23 M`.
pub fn format_short(value: f64) -> String {
    match value {
        v if v >= 1e9 => format!("{:.2} G", v / 1e9),
        v if v >= 1e6 => format!("{:.2} M", v / 1e6),
        v if v >= 1e4 => format!("{:.1} k", v / 1e3),
        v if v >= 100.0 => format!("{v:.0}"),
        v => format!("{v:.1}"),
    }
}

fn format_span(seconds: f64) -> String {
    match seconds {
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(total: u64, done: u64) -> Work {
        let begun = Instant::now();
        Work {
            what: "parsing".into(),
            unit: "bytes",
            total,
            done,
            note: String::new(),
            begun,
            due: begun,
            bar: None,
        }
    }

    #[test]
    fn a_line_says_how_far_how_fast_and_how_long() {
        assert_eq!(
            describe_work(&work(40_000_000, 10_000_000), 10.0),
            "parsing 25% (10.00 M of 40.00 M bytes, 1.0 M/s, 30 s left)"
        );
        assert_eq!(describe_work(&work(0, 1234), 10.0), "parsing (1234 bytes, 120/s, 10 s)");
        assert_eq!(describe_work(&work(8, 2), 10.0), "parsing 25% (2 of 8 bytes, 10 s)");
        let noted = Work { note: "loss 0.5".to_owned(), ..work(200, 37) };
        assert_eq!(
            describe_work(&noted, 10.0),
            "parsing 18% (37 of 200 bytes, 3.7/s, 44 s left), loss 0.5"
        );
    }

    #[test]
    fn work_that_says_nothing_of_itself_is_shown_with_its_time() {
        assert_eq!(
            (describe_work(&work(16_777_216, 0), 3.2), describe_work(&work(0, 0), 130.0)),
            ("parsing (3 s)".to_owned(), "parsing (2 min)".to_owned())
        );
        let talk = Talk::new(&Options { no_progress: false, ..Options::default() });
        talk.begin("looking", 5, "edges");
        let due = |talk: &Talk| lock(&talk.current.work).as_ref().map(|work| work.due);
        let first = due(&talk).unwrap();
        talk.current.write_if_due();
        assert_eq!(
            due(&talk),
            Some(first),
            "work that is over within two seconds is not mentioned"
        );
        lock(&talk.current.work).as_mut().unwrap().due = Instant::now();
        talk.current.write_if_due();
        assert!(due(&talk).unwrap() > first, "one line, and the next one later");
        talk.end();
        assert!(due(&talk).is_none());
    }

    #[test]
    fn in_a_batch_job_lines_are_half_a_minute_apart_also_of_different_work() {
        let now = Instant::now();
        let shown = Work { due: now, ..work(8, 2) };
        let current = Current { work: Mutex::new(Some(shown)), ..Current::default() };
        let due = |current: &Current| lock(&current.work).as_ref().unwrap().due;
        current.write_if_due();
        assert!(due(&current) < now + BATCH_LINE_EVERY);
        assert_eq!(current.first_line_due(now), now + FIRST_LINE);

        lock(&current.work).as_mut().unwrap().due = now;
        let batch = Current { is_batch_job: true, ..current };
        batch.write_if_due();
        assert!(due(&batch) >= now + BATCH_LINE_EVERY);
        let last = lock(&batch.last_line).unwrap();
        assert_eq!(batch.first_line_due(last), last + BATCH_LINE_EVERY);
        let later = last + BATCH_LINE_EVERY;
        assert_eq!(batch.first_line_due(later), later + FIRST_LINE);
    }

    #[test]
    fn rates_have_two_digits() {
        let cases = [
            (76.4562, "76"),
            (2.67e6, "2.7 M"),
            (0.4512, "0.45"),
            (123.0, "120"),
            (9_960.0, "10 k"),
            (999.0, "1.0 k"),
            (1.234e9, "1.2 G"),
            (7.0, "7.0"),
        ];
        for (value, wanted) in cases {
            assert_eq!(format_rate(value), wanted, "{value}");
        }
    }
}
