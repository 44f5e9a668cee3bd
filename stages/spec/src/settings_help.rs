//! settings_help: the settings of a section as lines of a help text.
//!
//! promises  from the same declarations as the decoding: names, defaults, words and explanations
//! never     wraps a line beyond `COLUMNS`, except for a word that is longer
use crate::{
    FileSpec,
    field::{FieldDoc, Shape, Spec},
    reader::{default_text, join_path},
};

/// Columns of a line.
const COLUMNS: usize = 100;

/// The settings of a stage, as a pipeline file and `--set` name them; empty if it has none.
pub fn settings_help(stage: &str) -> String {
    let fields = FileSpec::fields();
    let settings = fields.iter().find(|field| field.name == stage).map(|field| &field.shape);
    let Some(Shape::Section(settings)) = settings else { return String::new() };
    let mut text = String::new();
    settings.iter().for_each(|setting| add_setting(&mut text, stage, setting));
    if text.is_empty() {
        return text;
    }
    format!("Settings (in a pipeline file, or by --set):\n{}", text.trim_end())
}

fn add_setting(text: &mut String, above: &str, setting: &FieldDoc) {
    let path = join_path(above, setting.name);
    let default = default_text(setting).filter(|_| setting.example.is_none());
    let default = default.map_or_else(String::new, |value| format!(" [default: {value}]"));
    *text += &format!("  {path}{default}\n");
    add_wrapped(text, 6, &setting.doc);
    if let Shape::Choice(words) = setting.shape.element_shape() {
        words.iter().for_each(|word| add_wrapped(text, 8, &format!("{}: {}", word.name, word.doc)));
    }
    let inner = setting.shape.element_shape().children();
    inner.iter().for_each(|field| add_setting(text, &path, field));
}

/// A paragraph, indented; its further lines by two more.
fn add_wrapped(text: &mut String, indent: usize, paragraph: &str) {
    let mut line = " ".repeat(indent);
    let mut words = 0;
    for word in paragraph.split_whitespace() {
        if words > 0 && line.len() + 1 + word.len() > COLUMNS {
            *text += &format!("{line}\n");
            (line, words) = (" ".repeat(indent + 2), 0);
        }
        if words > 0 {
            line.push(' ');
        }
        line += word;
        words += 1;
    }
    *text += &format!("{line}\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_of_a_stage_have_names_defaults_and_words() {
        let text = settings_help("partition");
        assert!(text.contains("  partition.ngs [default: 32]\n"), "{text}");
        assert!(text.contains("        merge-path: Chunks of `merge_items` rows"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
        assert_eq!(settings_help("nothing"), "");
    }
}
