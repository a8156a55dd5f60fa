//! What Go says of a text that is no JSON: which byte was wrong, and where in the grammar.
//!
//! Looks at the grammar only. How deep or large a text may be is decided where it is read.

use std::fmt::Write;

/// The end of a text is this byte where the grammar needs one more.
const END: u8 = b' ';

/// The complaint of Go about a text; `None` if it is JSON.
pub(super) fn of(text: &[u8]) -> Option<String> {
    match (Scanner { text, at: 0 }).document() {
        Ok(()) => None,
        Err(Fault::End) => Some("unexpected end of JSON input".to_owned()),
        Err(Fault::Byte(byte, place)) => {
            Some(format!("invalid character {} {place}", quoted(byte)))
        }
    }
}

/// Where a text ceases to be JSON.
enum Fault {
    End,
    Byte(u8, String),
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn document(&mut self) -> Result<(), Fault> {
        // What is open, from the outside in.
        let mut open: Vec<u8> = Vec::new();
        loop {
            let before = self.at;
            match self.visible().ok_or(Fault::End)? {
                bracket @ (b'{' | b'[') => {
                    self.at += 1;
                    open.push(bracket);
                    let is_map = bracket == b'{';
                    if self.visible() == Some(closing(bracket)) {
                        // Closed below.
                    } else {
                        if is_map {
                            self.key()?;
                        }
                        continue;
                    }
                }
                b'"' => self.string()?,
                b'-' | b'0'..=b'9' => self.number()?,
                b't' => self.literal("true")?,
                b'f' => self.literal("false")?,
                b'n' => self.literal("null")?,
                other => return fault(other, "looking for beginning of value"),
            }
            debug_assert!(self.at > before, "no progress at {before}");
            if self.after_value(&mut open)? {
                return Ok(());
            }
        }
    }

    /// Continues with the next value; true at the end of the text.
    fn after_value(&mut self, open: &mut Vec<u8>) -> Result<bool, Fault> {
        loop {
            let next = self.visible();
            let Some(bracket) = open.last().copied() else {
                return next.map_or(Ok(true), |byte| fault(byte, "after top-level value"));
            };
            let next = next.ok_or(Fault::End)?;
            let is_map = bracket == b'{';
            if next == b',' {
                self.at += 1;
                return if is_map { self.key().map(|()| false) } else { Ok(false) };
            }
            if next != closing(bracket) {
                let place =
                    if is_map { "after object key:value pair" } else { "after array element" };
                return fault(next, place);
            }
            self.at += 1;
            open.pop();
        }
    }

    fn key(&mut self) -> Result<(), Fault> {
        match self.visible().ok_or(Fault::End)? {
            b'"' => self.string()?,
            other => return fault(other, "looking for beginning of object key string"),
        }
        match self.visible().ok_or(Fault::End)? {
            b':' => self.at += 1,
            other => return fault(other, "after object key"),
        }
        Ok(())
    }

    fn string(&mut self) -> Result<(), Fault> {
        self.at += 1;
        loop {
            let byte = *self.text.get(self.at).ok_or(Fault::End)?;
            self.at += 1;
            match byte {
                b'"' => return Ok(()),
                b'\\' => self.escape()?,
                0..b' ' => return fault(byte, "in string literal"),
                _ => {}
            }
        }
    }

    fn escape(&mut self) -> Result<(), Fault> {
        match self.take() {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(()),
            b'u' => (0..4).try_for_each(|_| match self.take() {
                digit if digit.is_ascii_hexdigit() => Ok(()),
                other => fault(other, "in \\u hexadecimal character escape"),
            }),
            other => fault(other, "in string escape code"),
        }
    }

    fn number(&mut self) -> Result<(), Fault> {
        if self.peek() == b'-' {
            self.at += 1;
        }
        if self.peek() == b'0' {
            self.at += 1;
        } else {
            self.digits("in numeric literal")?;
        }
        if self.peek() == b'.' {
            self.at += 1;
            self.digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            self.digits("in exponent of numeric literal")?;
        }
        Ok(())
    }

    /// At least one digit.
    fn digits(&mut self, place: &str) -> Result<(), Fault> {
        if !self.peek().is_ascii_digit() {
            return fault(self.peek(), place);
        }
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        Ok(())
    }

    fn literal(&mut self, word: &str) -> Result<(), Fault> {
        word.chars().try_for_each(|expected| match self.take() {
            found if char::from(found) == expected => Ok(()),
            other => fault(other, &format!("in literal {word} (expecting '{expected}')")),
        })
    }

    /// The next byte that is not white space.
    fn visible(&mut self) -> Option<u8> {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(END)
    }

    fn take(&mut self) -> u8 {
        let byte = self.peek();
        self.at += 1;
        byte
    }
}

fn closing(bracket: u8) -> u8 {
    if bracket == b'{' { b'}' } else { b']' }
}

fn fault<T>(byte: u8, place: &str) -> Result<T, Fault> {
    Err(Fault::Byte(byte, place.to_owned()))
}

/// A byte between quotes, as Go writes it.
fn quoted(byte: u8) -> String {
    let mut text = String::from("'");
    match byte {
        b'\'' => text.push_str("\\'"),
        b'\\' => text.push_str("\\\\"),
        0x07 => text.push_str("\\a"),
        0x08 => text.push_str("\\b"),
        0x0b => text.push_str("\\v"),
        0x0c => text.push_str("\\f"),
        b'\n' => text.push_str("\\n"),
        b'\r' => text.push_str("\\r"),
        b'\t' => text.push_str("\\t"),
        0..0x20 | 0x7f => _ = write!(text, "\\x{byte:02x}"),
        0x80..=0xa0 | 0xad => _ = write!(text, "\\u{byte:04x}"),
        // A byte that is no ASCII is the character with its number.
        other => text.push(char::from(other)),
    }
    text.push('\'');
    text
}

#[cfg(test)]
mod tests {
    use operetta_harness::random;

    use super::*;

    #[test]
    fn a_text_that_is_no_json_is_refused_in_the_words_of_go() {
        let cases = [
            ("", "unexpected end of JSON input"),
            ("{\"a\"", "unexpected end of JSON input"),
            ("[1,", "unexpected end of JSON input"),
            ("\"ab", "unexpected end of JSON input"),
            ("\u{1}", "invalid character '\\x01' looking for beginning of value"),
            ("'a'", "invalid character '\\'' looking for beginning of value"),
            ("é", "invalid character 'Ã' looking for beginning of value"),
            ("tru", "invalid character ' ' in literal true (expecting 'e')"),
            ("-", "invalid character ' ' in numeric literal"),
            ("1.", "invalid character ' ' after decimal point in numeric literal"),
            ("1e", "invalid character ' ' in exponent of numeric literal"),
            ("\"a\\q\"", "invalid character 'q' in string escape code"),
            ("\"\\u12", "invalid character ' ' in \\u hexadecimal character escape"),
            ("\"\t\"", "invalid character '\\t' in string literal"),
            ("{\"a\":1,}", "invalid character '}' looking for beginning of object key string"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{\"a\":01}", "invalid character '1' after object key:value pair"),
            ("[1 2]", "invalid character '2' after array element"),
            ("{} x", "invalid character 'x' after top-level value"),
        ];
        for (text, complaint) in cases {
            assert_eq!(of(text.as_bytes()).as_deref(), Some(complaint), "{text}");
        }
    }

    #[test]
    fn json_is_not_complained_about() {
        for text in ["null", " [] ", "{ }", "[{\"a\":[-0.5e+3,\"\\u00e9\"],\"b\":{}},true,0]"] {
            assert_eq!(of(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn any_text_is_json_or_complained_about() {
        let parser = |text: &str| {
            let complaint = of(text.as_bytes());
            let is_json = serde_json::from_str::<serde_json::Value>(text).is_ok();
            assert!(complaint.is_none() || !is_json, "{complaint:?}");
        };
        random::texts(&random::JSON, parser);
        random::long_texts(&random::JSON, parser);
    }
}
