//! json_difference: the first place where two documents differ.
//!
//! promises  the place is named by the keys and numbers that lead to it
//! never     prints more than a line of a value
use serde::Serialize;
use serde_json::Value;
use warploom_contract::Violation;

/// Characters of a value that are shown.
const SHOWN: usize = 80;

/// Refuses a document that differs from what is expected, with the first place that does.
pub fn refuse_other_json<T: Serialize>(
    file: &str,
    expected: &T,
    found: &T,
) -> Result<(), Violation> {
    let unreadable = |error: serde_json::Error| Violation::new(format!("{file}: {error}"));
    // Written and read back, as what was found: a parsed number may differ in its last bit.
    let text = serde_json::to_string(expected).map_err(unreadable)?;
    let expected: Value = serde_json::from_str(&text).map_err(unreadable)?;
    let found = serde_json::to_value(found).map_err(unreadable)?;
    match find_difference(&expected, &found) {
        None => Ok(()),
        Some(Difference { place, expected, found }) => Err(Violation::new(format!(
            "{file}: {}: expected {expected}, found {found}",
            place.join("/")
        ))),
    }
}

#[derive(Debug, PartialEq)]
struct Difference {
    place: Vec<String>,
    expected: String,
    found: String,
}

/// The first difference in the order of keys, as deep as both have the same form.
fn find_difference(expected: &Value, found: &Value) -> Option<Difference> {
    let (place, inner) = match (expected, found) {
        (one, other) if one == other => return None,
        (Value::Object(one), Value::Object(other)) => {
            let keys = one.keys().chain(other.keys().filter(|key| !one.contains_key(*key)));
            keys.into_iter()
                .find(|key| one.get(*key) != other.get(*key))
                .map(|key| (key.clone(), [one.get(key), other.get(key)]))?
        }
        (Value::Array(one), Value::Array(other)) => {
            let at = (0..one.len().max(other.len())).find(|&at| one.get(at) != other.get(at))?;
            (at.to_string(), [one.get(at), other.get(at)])
        }
        (expected, found) => {
            let place = Vec::new();
            return Some(Difference { place, expected: show(expected), found: show(found) });
        }
    };
    let inner = match inner {
        [Some(expected), Some(found)] => find_difference(expected, found)?,
        [expected, found] => {
            let shown = |value: Option<&Value>| value.map_or("nothing".to_owned(), show);
            Difference { place: Vec::new(), expected: shown(expected), found: shown(found) }
        }
    };
    Some(Difference { place: [vec![place], inner.place].concat(), ..inner })
}

fn show(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        None => text,
        Some((at, _)) => format!("{}...", &text[..at]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn difference(expected: &Value, found: &Value) -> Option<(String, String, String)> {
        find_difference(expected, found)
            .map(|found| (found.place.join("/"), found.expected, found.found))
    }

    /// A file holds the text of a number, which need not parse to the number.
    #[test]
    fn a_document_that_was_written_and_read_is_the_same() {
        for at in 1..2000 {
            let number = f64::from(at) * 1.234_567_890_123_456_7e-3;
            let page = json!({ "number": number });
            let read: Value = serde_json::from_str(&page.to_string()).unwrap();
            assert!(refuse_other_json("plan.json", &page, &read).is_ok(), "{number}");
        }
    }

    #[test]
    fn the_first_place_is_named() {
        let page = json!({"mode": "train", "launches": {"live": [1, 2, {"name": "h"}]}});
        let with = |pointer: &str, value: Value| {
            let mut other = page.clone();
            *other.pointer_mut(pointer).unwrap() = value;
            difference(&page, &other)
        };
        let is = |place: &str, one: &str, other: &str| {
            Some((place.to_owned(), one.to_owned(), other.to_owned()))
        };
        assert_eq!(difference(&page, &page), None);
        assert_eq!(with("/mode", json!("trainx")), is("mode", r#""train""#, r#""trainx""#));
        assert_eq!(with("/launches/live/1", json!(3)), is("launches/live/1", "2", "3"));
        assert_eq!(
            with("/launches/live/2/name", json!(null)),
            is("launches/live/2/name", r#""h""#, "null")
        );
        assert_eq!(with("/launches/live", json!([1])), is("launches/live/1", "2", "nothing"));
        assert_eq!(
            with("/launches/live", json!(7)),
            is("launches/live", r#"[1,2,{"name":"h"}]"#, "7")
        );
        assert_eq!(difference(&json!({}), &json!({"more": 1})), is("more", "nothing", "1"));
        let long = json!("x".repeat(200));
        assert!(difference(&long, &json!(0)).unwrap().1.len() < 100);
    }
}
