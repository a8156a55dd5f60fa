//! Text of others in readable form: pure. Characters that reverse the direction of text are
//! escaped: a name with such a character could make a sentence mean the opposite. A name cannot end
//! the quotes around it.

use std::{borrow::Cow, fmt::Write as _};

/// The text with the marks, embeddings, overrides and isolates of the bidirectional algorithm of
/// Unicode as JSON and many languages escape them: `\u202e`.
///
/// ```
/// use operetta::object::legible;
///
/// assert_eq!(legible("web\u{202e}bew"), "web\\u202ebew");
/// assert_eq!(legible("שלום"), "שלום", "letters that go from right to left are letters");
/// ```
pub fn legible(text: &str) -> Cow<'_, str> {
    if !text.contains(changes_direction) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if changes_direction(letter) {
            // Writing to a String cannot fail.
            let _ = write!(shown, "\\u{:04x}", u32::from(letter));
        } else {
            shown.push(letter);
        }
    }
    Cow::Owned(shown)
}

/// A name that others chose, between the backticks that messages put around names; one within it is
/// shown as an apostrophe, as it would end the quotes.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "'"))
}

fn changes_direction(letter: char) -> bool {
    matches!(
        letter,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_characters_that_change_the_direction_are_escaped() {
        for character in ['\u{61c}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202e}', '\u{2069}'] {
            let shown = format!("a\\u{:04x}b", u32::from(character));
            assert_eq!(legible(&format!("a{character}b")), shown);
        }
        for plain in ["", "a\tb\n", "\\u202e", "café", "שלום", "\u{200d}", "\u{2065}", "\u{206a}"]
        {
            assert!(matches!(legible(plain), Cow::Borrowed(_)), "{plain}");
        }
    }

    #[test]
    fn a_name_does_not_end_the_quotes_around_it() {
        assert_eq!(quoted("hpa"), "`hpa`");
        assert_eq!(quoted("a` is gone, `b"), "`a' is gone, 'b`");
    }
}
