//! scalar: the meaning of an unquoted word by the core schema of YAML 1.2.
//!
//! promises  `true` and `false` are the only booleans (`yes`, `on` are texts); whole numbers also
//!           as 0x and 0o; no underscores, no base 60
//! never     fails: a word without another meaning is a text

/// An unquoted word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Plain {
    Null,
    Bool(bool),
    /// Clamped to 128 bits, beyond every setting.
    Whole(i128),
    /// May be infinite or not a number.
    Real(f64),
    Text,
}

/// What the word means.
pub(crate) fn resolve_plain(text: &str) -> Plain {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Plain::Null,
        "true" | "True" | "TRUE" => return Plain::Bool(true),
        "false" | "False" | "FALSE" => return Plain::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Plain::Real(f64::NAN),
        _ => {}
    }
    let (negative, digits) = match text.as_bytes()[0] {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if matches!(digits, ".inf" | ".Inf" | ".INF") {
        return Plain::Real(if negative { f64::NEG_INFINITY } else { f64::INFINITY });
    }
    if let Some(number) = parse_integer(digits, digits.len() == text.len()) {
        return Plain::Whole(if negative { -number } else { number });
    }
    match parse_float(digits) {
        Some(number) => Plain::Real(if negative { -number } else { number }),
        None => Plain::Text,
    }
}

fn parse_integer(digits: &str, unsigned: bool) -> Option<i128> {
    let (digits, base) = match (digits.strip_prefix("0x"), digits.strip_prefix("0o")) {
        (Some(digits), _) if unsigned => (digits, 16),
        (_, Some(digits)) if unsigned => (digits, 8),
        _ => (digits, 10),
    };
    let valid = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(base));
    valid.then(|| i128::from_str_radix(digits, base).unwrap_or(i128::MAX))
}

/// `(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn parse_float(digits: &str) -> Option<f64> {
    let all_digits = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => {
            (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent)))
        }
        None => (digits, None),
    };
    if exponent.is_some_and(|exponent| exponent.is_empty() || !all_digits(exponent)) {
        return None;
    }
    let (left, right) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if !all_digits(left) || !all_digits(right) || (left.is_empty() && right.is_empty()) {
        return None;
    }
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_mean_what_the_core_schema_says() {
        for (text, wanted) in [
            ("", Plain::Null),
            ("~", Plain::Null),
            ("true", Plain::Bool(true)),
            ("yes", Plain::Text),
            ("on", Plain::Text),
            ("12", Plain::Whole(12)),
            ("-12", Plain::Whole(-12)),
            ("+12", Plain::Whole(12)),
            ("012", Plain::Whole(12)),
            ("0x1f", Plain::Whole(31)),
            ("0o17", Plain::Whole(15)),
            ("-0x1f", Plain::Text),
            ("1_000", Plain::Text),
            ("1:30", Plain::Text),
            ("1e-3", Plain::Real(0.001)),
            ("1.", Plain::Real(1.0)),
            (".5", Plain::Real(0.5)),
            ("-.5e1", Plain::Real(-5.0)),
            (".", Plain::Text),
            ("e3", Plain::Text),
            ("1e", Plain::Text),
            ("-", Plain::Text),
            ("inf", Plain::Text),
            ("nan", Plain::Text),
            ("-.inf", Plain::Real(f64::NEG_INFINITY)),
            ("é", Plain::Text),
        ] {
            assert_eq!(resolve_plain(text), wanted, "{text}");
        }
        assert!(matches!(resolve_plain(".nan"), Plain::Real(number) if number.is_nan()));
        assert_eq!(resolve_plain(&"9".repeat(60)), Plain::Whole(i128::MAX));
    }
}
