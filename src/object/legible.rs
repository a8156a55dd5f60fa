//! Text of others as people can read it: pure. What reverses the direction of the text beside it
//! is shown escaped: a name that holds such a character can make a sentence say the opposite. Nor
//! does a name end the quotes in which it stands.

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
    if !text.contains(turns) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if turns(letter) {
            // Writing to a String cannot fail.
            let _ = write!(shown, "\\u{:04x}", u32::from(letter));
        } else {
            shown.push(letter);
        }
    }
    Cow::Owned(shown)
}

/// A name that others chose, between the backticks that sentences have around names; one within it
/// is shown as an apostrophe, as it would end there.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "'"))
}

fn turns(letter: char) -> bool {
    matches!(
        letter,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_the_direction_is_escaped_and_nothing_else_is() {
        for turning in ['\u{61c}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202e}', '\u{2069}'] {
            let shown = format!("a\\u{:04x}b", u32::from(turning));
            assert_eq!(legible(&format!("a{turning}b")), shown);
        }
        for plain in ["", "a\tb\n", "\\u202e", "café", "שלום", "\u{200d}", "\u{2065}", "\u{206a}"]
        {
            assert!(matches!(legible(plain), Cow::Borrowed(_)), "{plain}");
        }
    }

    #[test]
    fn a_name_does_not_end_the_quotes_in_which_it_stands() {
        assert_eq!(quoted("hpa"), "`hpa`");
        assert_eq!(quoted("a` is gone, `b"), "`a' is gone, 'b`");
    }
}
