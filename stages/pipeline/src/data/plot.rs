//! plot: small text plots: bars with their numbers, two plots side by side.
//!
//! promises  no line is wider than `WIDTH`; a nonzero count has a visible bar
//! never     depends on the terminal: the page is the same on a screen, in a file and in a pipe
use warploom_contract::kinds::profile::log_bin_start;

/// Columns of a page.
pub const WIDTH: usize = 100;
/// Columns of one of two plots.
const HALF: usize = 48;
const LABEL: usize = 13;
const COUNT: usize = 11;
/// Columns of the longest bar.
const BAR: usize = HALF - LABEL - COUNT - 3;

/// Bars under a title.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plot {
    /// Title.
    pub title: String,
    /// Label and count of each bar, from the top.
    pub bars: Vec<(String, u64)>,
}

impl Plot {
    /// A histogram in powers of two; empty bins before the first and after the last are left out.
    pub fn log_bins(title: impl Into<String>, histogram: &[u64]) -> Self {
        let used = |bin: &usize| histogram[*bin] > 0;
        let (first, last) = (
            (0..histogram.len()).find(used).unwrap_or(0),
            (0..histogram.len()).rfind(used).map_or(0, |last| last + 1),
        );
        Plot {
            title: title.into(),
            bars: (first..last).map(|bin| (bin_label(bin), histogram[bin])).collect(),
        }
    }

    fn lines(&self) -> Vec<String> {
        let most = self.bars.iter().map(|bar| bar.1).max().unwrap_or(0);
        let row = |(label, count): &(String, u64)| {
            let line = format!(
                "{:>LABEL$} {:>COUNT$}  {}",
                shorten(label, LABEL),
                group_digits(*count),
                bar(*count, most)
            );
            line.trim_end().to_owned()
        };
        std::iter::once(self.title.clone()).chain(self.bars.iter().map(row)).collect()
    }
}

/// Plots two by two, in reading order; plots without a bar are left out.
pub fn side_by_side(plots: &[Plot]) -> String {
    let plots: Vec<Vec<String>> =
        plots.iter().filter(|plot| !plot.bars.is_empty()).map(Plot::lines).collect();
    let mut text = String::new();
    for pair in plots.chunks(2) {
        text.push('\n');
        for at in 0..pair.iter().map(Vec::len).max().unwrap_or(0) {
            let line = |plot: usize| {
                pair.get(plot)
                    .and_then(|lines: &Vec<String>| lines.get(at))
                    .map_or("", String::as_str)
            };
            let gap = WIDTH - 2 * HALF;
            text += format!("{:<HALF$}{:gap$}{}", line(0), "", line(1)).trim_end();
            text.push('\n');
        }
    }
    text
}

/// A bar in eighths of a column.
fn bar(count: u64, most: u64) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if count == 0 || most == 0 {
        return String::new();
    }
    let eighths =
        ((count as f64 / most as f64 * (8 * BAR) as f64).round() as usize).clamp(1, 8 * BAR);
    "█".repeat(eighths / 8) + PARTS[eighths % 8]
}

/// The label of a bin of a histogram in powers of two: `4-7`, and from 1024 on `1k-2k`.
fn bin_label(bin: usize) -> String {
    let (start, next) = (log_bin_start(bin), log_bin_start(bin + 1));
    match next - start {
        1 => start.to_string(),
        _ if start < 1024 => format!("{start}-{}", next - 1),
        _ => format!("{}-{}", binary(start), binary(next)),
    }
}

/// A power of two from 1024 on, in units of 1024.
fn binary(power: u64) -> String {
    let unit = (power.trailing_zeros() as usize / 10).min(4);
    format!("{}{}", power >> (10 * unit), ["", "k", "M", "G", "T"][unit])
}

/// A number with a comma every three digits.
pub fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The first letters of a long name.
fn shorten(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        name.to_owned()
    } else {
        name.chars().take(most - 1).chain(['…']).collect()
    }
}

/// A named text, wrapped at `WIDTH` with hanging indent. A word that is too long is not broken.
pub fn text_entry(name: &str, text: &str) -> String {
    const INDENT: usize = 12;
    let mut lines = String::new();
    let gap = if name.chars().count() < INDENT { "" } else { "  " };
    let mut line = format!("{name:<INDENT$}{gap}");
    let mut words = 0;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if words > 0 && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines += line.trim_end();
            lines.push('\n');
            line = " ".repeat(INDENT);
            words = 0;
        }
        if words > 0 {
            line.push(' ');
        }
        line += word;
        words += 1;
    }
    lines + line.trim_end() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_bins_read_well() {
        assert_eq!([0, 999, 1000, 4_878_875].map(group_digits), ["0", "999", "1,000", "4,878,875"]);
        let labels: Vec<String> = [0, 1, 2, 3, 10, 11, 12, 20, 21, 33].map(bin_label).into();
        assert_eq!(
            labels,
            ["0", "1", "2-3", "4-7", "512-1023", "1k-2k", "2k-4k", "512k-1M", "1M-2M", "4G-8G"]
        );
    }

    #[test]
    fn bars_are_in_proportion_and_none_is_lost() {
        assert_eq!(
            (bar(0, 10), bar(1, 1_000_000), bar(10, 10).chars().count()),
            (String::new(), "▏".into(), BAR)
        );
        assert_eq!(bar(5, 10).chars().count(), BAR.div_ceil(2));
    }

    #[test]
    fn no_line_is_too_wide() {
        let plot = Plot {
            title: "classes".into(),
            bars: vec![("a very long name of a class".into(), u64::MAX), ("b".into(), 3)],
        };
        let page = side_by_side(&[plot.clone(), Plot::default(), plot.clone(), plot]);
        let counts: Vec<usize> = page.lines().map(|line| line.chars().count()).collect();
        assert_eq!(counts.len(), 8, "{page}");
        assert!(
            text_entry("about", &"word ".repeat(60))
                .lines()
                .all(|line| line.chars().count() <= WIDTH)
        );
        assert_eq!(text_entry("a", "b c"), "a           b c\n");
        assert_eq!(
            text_entry("planetoid_citeseer", "The folder"),
            "planetoid_citeseer  The folder\n"
        );
    }

    #[test]
    fn a_histogram_shows_from_its_first_to_its_last_bin() {
        let plot = Plot::log_bins("x", &[0, 0, 3, 0, 1, 0]);
        assert_eq!(plot.bars, [("2-3".into(), 3), ("4-7".into(), 0), ("8-15".into(), 1)]);
        assert!(
            Plot::log_bins("x", &[]).bars.is_empty() && Plot::log_bins("x", &[0]).bars.is_empty()
        );
    }
}
