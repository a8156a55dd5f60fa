//! Text of others in readable form: pure. What could deceive a reader is escaped: characters that reverse the direction
//! of text, which could make a sentence mean the opposite, and control characters, which a terminal obeys. A text on
//! one line cannot forge the line after it. A name cannot end the quotes around it.

use std::{
    borrow::Cow,
    fmt::{self, Write as _},
};

use serde::Serialize;

/// The text with control characters, and with the marks, embeddings, overrides and isolates of the bidirectional
/// algorithm of Unicode, as JSON and many languages escape them: `\u202e`. Line breaks and tabs stay.
///
/// ```
/// use operetta::object::legible;
///
/// assert_eq!(legible("web\u{202e}bew"), "web\\u202ebew");
/// assert_eq!(legible("\u{1b}[2K two\nlines"), "\\u001b[2K two\nlines");
/// assert_eq!(legible("שלום"), "שלום", "letters that go from right to left are letters");
/// ```
pub fn legible(text: &str) -> Cow<'_, str> {
    escaped(text, deceives)
}

/// Shows a value on one line, also where others chose its text: as [`legible`], and line breaks and tabs are escaped
/// too. For logs, tables and whatever else has a meaning line by line.
///
/// ```
/// use operetta::object::OneLine;
///
/// assert_eq!(OneLine("refused\nINFO all is well").to_string(), "refused\\nINFO all is well");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct OneLine<T>(pub T);

impl<T: fmt::Display> fmt::Display for OneLine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping(f), "{}", self.0)
    }
}

/// Escapes what is written, piece by piece.
struct Escaping<'a, 'f>(&'a mut fmt::Formatter<'f>);

impl fmt::Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write_str(&escaped(text, |letter| deceives(letter) || matches!(letter, '\n' | '\t')))
    }
}

/// A value as YAML, or as JSON, which is YAML too, where YAML would show what deceives: JSON keeps the meaning of
/// escapes.
///
/// # Errors
/// A key of a map is no text.
pub fn legible_yaml(value: &impl Serialize) -> serde_json::Result<String> {
    match serde_yaml_ng::to_string(value) {
        Ok(text) if !text.contains(deceives) => Ok(text),
        Ok(_) | Err(_) => legible_json(value),
    }
}

/// A value as JSON in which nothing deceives. For programs it has the same meaning.
///
/// # Errors
/// A key of a map is no text.
pub fn legible_json(value: &impl Serialize) -> serde_json::Result<String> {
    Ok(legible(&format!("{}\n", serde_json::to_string_pretty(value)?)).into_owned())
}

/// A name that others chose, between the backticks that messages put around names; one within it is
/// shown as an apostrophe, as it would end the quotes.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "'"))
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            '\n' if is_escaped(letter) => shown.push_str("\\n"),
            '\t' if is_escaped(letter) => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            letter if is_escaped(letter) => {
                // Writing to a String cannot fail.
                let _ = write!(shown, "\\u{:04x}", u32::from(letter));
            }
            letter => shown.push(letter),
        }
    }
    Cow::Owned(shown)
}

/// Control characters except line breaks and tabs, the other line breaks of Unicode, and what changes the direction.
fn deceives(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\u{2028}' | '\u{2029}' => true,
        letter => letter.is_control() || changes_direction(letter),
    }
}

fn changes_direction(letter: char) -> bool {
    matches!(
        letter,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const DECEIVES: [char; 17] = [
        '\u{61c}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202e}', '\u{2069}', '\u{0}', '\u{7}',
        '\u{8}', '\u{b}', '\u{c}', '\u{1b}', '\u{7f}', '\u{85}', '\u{9b}', '\u{2028}', '\u{2029}',
    ];

    #[test]
    fn only_what_deceives_is_escaped() {
        for character in DECEIVES {
            let shown = format!("a\\u{:04x}b", u32::from(character));
            let text = format!("a{character}b");
            assert_eq!(legible(&text), shown);
            assert_eq!(OneLine(&text).to_string(), shown);
        }
        for plain in ["", "a\tb\n", "\\u202e", "café", "שלום", "\u{200d}", "\u{2065}", "\u{206a}"]
        {
            assert!(matches!(legible(plain), Cow::Borrowed(_)), "{plain}");
        }
    }

    #[test]
    fn a_text_on_one_line_has_no_line_break_of_any_kind() {
        let text = "a\nb\r\nc\td\u{85}e\u{2028}f";
        assert_eq!(OneLine(text).to_string(), "a\\nb\\r\\nc\\td\\u0085e\\u2028f");
        assert_eq!(OneLine(format_args!("{} {}", 1, "x\ny")).to_string(), "1 x\\ny");
        assert_eq!(legible("a\r\nb\rc"), "a\\r\nb\\rc");
    }

    #[test]
    fn yaml_and_json_have_the_same_meaning_as_the_value() {
        for character in DECEIVES {
            let value = json!({"a": format!("x{character}y"), "b": ["c\nd"]});
            for text in [legible_yaml(&value).unwrap(), legible_json(&value).unwrap()] {
                assert!(!text.contains(DECEIVES), "{text}");
                assert_eq!(serde_yaml_ng::from_str::<Value>(&text).unwrap(), value, "{text}");
            }
        }
        assert_eq!(legible_yaml(&json!({"a": "c\nd"})).unwrap(), "a: |-\n  c\n  d\n");
    }

    #[test]
    fn a_name_does_not_end_the_quotes_around_it() {
        assert_eq!(quoted("hpa"), "`hpa`");
        assert_eq!(quoted("a` is gone, `b"), "`a' is gone, 'b`");
    }
}
