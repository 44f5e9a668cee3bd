//! settings: the settings of a built-in program, and their validation.
//!
//! promises  an unknown name is reported with the nearest known one, a wrong value with the type,
//!           the range and the default
//! never     changes a value to make it fit (an integer given for a float is a float)
use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

/// One setting of a program.
#[derive(Debug)]
pub struct Setting {
    /// Its name, as in `plan.set.<name>`.
    pub name: &'static str,
    /// Type, default and range.
    pub domain: Domain,
    /// What it means, in a sentence.
    pub doc: &'static str,
}

/// Type, default and range of a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Domain {
    /// An integer, both bounds inclusive.
    Whole {
        /// The default.
        default: u64,
        /// Minimum.
        least: u64,
        /// Maximum.
        most: u64,
    },
    /// A float, the lower bound inclusive.
    Real {
        /// The default.
        default: f64,
        /// Minimum.
        least: f64,
        /// Upper bound; infinity: none.
        bound: f64,
        /// Whether the upper bound is inclusive.
        inclusive: bool,
    },
}

impl Domain {
    /// Name of the type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Domain::Whole { .. } => "whole number",
            Domain::Real { .. } => "number",
        }
    }

    /// The value when none is given.
    pub fn default(&self) -> Value {
        match self {
            Domain::Whole { default, .. } => Value::from(*default),
            Domain::Real { default, .. } => Value::from(*default),
        }
    }

    /// The range in words: `1 to 64`, `at least 0 and below 1`.
    pub fn range(&self) -> String {
        match self {
            Domain::Whole { least, most, .. } => format!("{least} to {most}"),
            Domain::Real { least, bound, .. } if bound.is_infinite() => format!("at least {least}"),
            Domain::Real { least, bound, inclusive: true, .. } => format!("{least} to {bound}"),
            Domain::Real { least, bound, .. } => format!("at least {least} and below {bound}"),
        }
    }

    /// Whether a value is in range; none: it has another type.
    fn admits(&self, value: &Value) -> Option<bool> {
        match self {
            Domain::Whole { least, most, .. } => {
                let negative = value.as_i64().filter(|number| *number < 0).map(|_| false);
                negative.or(value.as_u64().map(|number| (*least..=*most).contains(&number)))
            }
            Domain::Real { least, bound, inclusive, .. } => {
                let number = value.as_f64()?;
                Some(number >= *least && (number < *bound || (*inclusive && number == *bound)))
            }
        }
    }
}

/// Why a program cannot be built with these settings and facts.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingError {
    /// No setting has this name.
    Unknown {
        /// The program.
        program: &'static str,
        /// The name given.
        setting: String,
        /// The names that exist.
        names: Vec<&'static str>,
    },
    /// A value of another type.
    WrongType {
        /// The program.
        program: &'static str,
        /// The setting.
        setting: &'static str,
        /// Its domain.
        domain: Domain,
        /// The value given, as JSON.
        found: String,
    },
    /// A value of the right type that is too small or too large.
    OutOfRange {
        /// The program.
        program: &'static str,
        /// The setting.
        setting: &'static str,
        /// Its domain.
        domain: Domain,
        /// The value given, as JSON.
        found: String,
    },
    /// The graph or the run does not fit the program.
    Unfit {
        /// The program.
        program: &'static str,
        /// What was checked.
        what: String,
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
        /// What to do about it.
        hint: String,
    },
}

impl SettingError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            SettingError::Unknown { names, .. } if names.is_empty() => {
                "leave  plan.set  out".to_owned()
            }
            SettingError::Unknown { setting, names, .. } => {
                let close =
                    warploom_ir::nearest(setting, names.iter().copied()).unwrap_or(names[0]);
                format!("did you mean  plan.set.{close}")
            }
            SettingError::WrongType { setting, domain, .. }
            | SettingError::OutOfRange { setting, domain, .. } => {
                format!("its default is  plan.set.{setting}={}", domain.default())
            }
            SettingError::Unfit { hint, .. } => hint.clone(),
        }
    }
}

impl fmt::Display for SettingError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingError::Unknown { program, setting, names } if names.is_empty() => {
                write!(formatter, "`{program}` has no settings, found `{setting}`")
            }
            SettingError::Unknown { program, setting, names } => {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                write!(
                    formatter,
                    "`{program}` has no setting `{setting}`: expected one of {}",
                    names.join(", ")
                )
            }
            SettingError::WrongType { program, setting, domain, found } => {
                let (kind, range) = (domain.type_name(), domain.range());
                write!(
                    formatter,
                    "setting `{setting}` of `{program}`: expected a {kind} ({range}), found \
                     `{found}`"
                )
            }
            SettingError::OutOfRange { program, setting, domain, found } => {
                let (kind, range) = (domain.type_name(), domain.range());
                write!(
                    formatter,
                    "setting `{setting}` of `{program}` out of range: expected a {kind}, {range}, \
                     found `{found}`"
                )
            }
            SettingError::Unfit { program, what, expected, found, .. } => {
                write!(
                    formatter,
                    "`{program}` does not fit: {what}: expected {expected}, found {found}"
                )
            }
        }
    }
}

impl std::error::Error for SettingError {}

/// Validated settings, each with its value.
pub(super) struct ChosenSettings(pub BTreeMap<String, Value>);

impl ChosenSettings {
    /// Value of a `Domain::Whole` that the program declares.
    pub fn integer(&self, name: &str) -> u64 {
        self.0
            .get(name)
            .and_then(Value::as_u64)
            .expect("resolved settings hold every declared whole number")
    }

    /// Value of a `Domain::Real` that the program declares.
    pub fn real(&self, name: &str) -> f64 {
        self.0
            .get(name)
            .and_then(Value::as_f64)
            .expect("resolved settings hold every declared number")
    }
}

/// Checks given settings and fills in the defaults.
pub(super) fn resolve(
    program: &'static str,
    declared: &'static [Setting],
    given: &BTreeMap<String, Value>,
) -> Result<BTreeMap<String, Value>, SettingError> {
    let mut resolved: BTreeMap<String, Value> = declared
        .iter()
        .map(|setting| (setting.name.to_owned(), setting.domain.default()))
        .collect();
    for (name, value) in given {
        let Some(Setting { name: setting, domain, .. }) =
            declared.iter().find(|setting| setting.name == name)
        else {
            let names = declared.iter().map(|setting| setting.name).collect();
            return Err(SettingError::Unknown { program, setting: name.clone(), names });
        };
        let (domain, found) = (*domain, value.to_string());
        let value = match (domain.admits(value), domain) {
            (None, _) => return Err(SettingError::WrongType { program, setting, domain, found }),
            (Some(false), _) => {
                return Err(SettingError::OutOfRange { program, setting, domain, found });
            }
            // 1 and 1.0 are one setting and must give one key.
            (Some(true), Domain::Real { .. }) => value.as_f64().map_or(Value::Null, Value::from),
            (Some(true), Domain::Whole { .. }) => value.clone(),
        };
        resolved.insert(name.clone(), value);
    }
    Ok(resolved)
}
