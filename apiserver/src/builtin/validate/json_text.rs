//! Texts that must be JSON, with the errors of Go's decoder.
//!
//! Only where the text stops being JSON is found here; numbers and texts that are too large are not looked for.

use serde_json::Value;

/// Why bytes are no JSON object; `null` passes for one.
pub(super) fn object(bytes: &[u8]) -> Result<(), String> {
    let mut scanner = Scanner { bytes, at: 0 };
    scanner.spaces();
    scanner.document()?;
    scanner.spaces();
    if let Some(byte) = scanner.peek() {
        return Err(invalid(byte, "after top-level value"));
    }
    let kind = match serde_json::from_slice(bytes) {
        Ok(Value::Object(_) | Value::Null) | Err(_) => return Ok(()),
        Ok(Value::Array(_)) => "array",
        Ok(Value::String(_)) => "string",
        Ok(Value::Number(_)) => "number",
        Ok(Value::Bool(_)) => "bool",
    };
    Err(format!("json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"))
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

const END: &str = "unexpected end of JSON input";
/// How deep a text may be, as in Go.
const DEPTH_LIMIT: usize = 10_000;

fn closing(bracket: u8) -> u8 {
    if bracket == b'{' { b'}' } else { b']' }
}

fn invalid(byte: u8, context: &str) -> String {
    let shown = match byte {
        b'\'' => r"'\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        _ => format!("'{}'", char::from(byte).escape_default()),
    };
    format!("invalid character {shown} {context}")
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next(&mut self) -> Result<u8, String> {
        let byte = self.peek().ok_or(END)?;
        self.at += 1;
        Ok(byte)
    }

    fn spaces(&mut self) {
        while self.peek().is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// One value with all that is in it.
    fn document(&mut self) -> Result<(), String> {
        // What is open, from the outside in. A map is after a key of it.
        let mut open: Vec<u8> = Vec::new();
        loop {
            let before = self.at;
            if let Some(bracket) = self.value()? {
                open.push(bracket);
                if open.len() > DEPTH_LIMIT {
                    return Err(invalid(bracket, "exceeded max depth"));
                }
                self.spaces();
                if self.peek() != Some(closing(bracket)) {
                    self.key_in(bracket)?;
                    continue;
                }
            }
            debug_assert!(self.at > before, "no progress at {before}");
            if self.is_complete(&mut open)? {
                return Ok(());
            }
        }
    }

    /// Goes on to the next value; whether there is none.
    fn is_complete(&mut self, open: &mut Vec<u8>) -> Result<bool, String> {
        while let Some(bracket) = open.last().copied() {
            self.spaces();
            match self.next()? {
                b',' => {
                    self.spaces();
                    self.key_in(bracket)?;
                    return Ok(false);
                }
                end if end == closing(bracket) => drop(open.pop()),
                other if bracket == b'{' => {
                    return Err(invalid(other, "after object key:value pair"));
                }
                other => return Err(invalid(other, "after array element")),
            }
        }
        Ok(true)
    }

    /// The key of a map, before a value.
    fn key_in(&mut self, bracket: u8) -> Result<(), String> {
        if bracket == b'{' {
            match self.next()? {
                b'"' => self.text()?,
                other => return Err(invalid(other, "looking for beginning of object key string")),
            }
            self.spaces();
            match self.next()? {
                b':' => self.spaces(),
                other => return Err(invalid(other, "after object key")),
            }
        }
        Ok(())
    }

    /// A scalar, or the bracket of what begins.
    fn value(&mut self) -> Result<Option<u8>, String> {
        match self.next()? {
            bracket @ (b'{' | b'[') => return Ok(Some(bracket)),
            b'"' => self.text(),
            b't' => self.literal("true"),
            b'f' => self.literal("false"),
            b'n' => self.literal("null"),
            b'-' => match self.next()? {
                b'0' => self.fraction(),
                b'1'..=b'9' => self.number(),
                other => Err(invalid(other, "in numeric literal")),
            },
            b'0' => self.fraction(),
            b'1'..=b'9' => self.number(),
            other => Err(invalid(other, "looking for beginning of value")),
        }
        .map(|()| None)
    }

    fn text(&mut self) -> Result<(), String> {
        loop {
            match self.next()? {
                b'"' => return Ok(()),
                b'\\' => match self.next()? {
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                    b'u' => {
                        for _ in 0..4 {
                            let digit = self.next()?;
                            if !digit.is_ascii_hexdigit() {
                                return Err(invalid(digit, "in \\u hexadecimal character escape"));
                            }
                        }
                    }
                    other => return Err(invalid(other, "in string escape code")),
                },
                other @ 0..0x20 => return Err(invalid(other, "in string literal")),
                _ => {}
            }
        }
    }

    fn literal(&mut self, word: &str) -> Result<(), String> {
        for expected in word.bytes().skip(1) {
            let found = self.next()?;
            if found != expected {
                let expected = char::from(expected);
                let context = format!("in literal {word} (expecting '{expected}')");
                return Err(invalid(found, &context));
            }
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), String> {
        self.digits();
        self.fraction()
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn fraction(&mut self) -> Result<(), String> {
        if self.peek() == Some(b'.') {
            self.at += 1;
            let first = self.next()?;
            if !first.is_ascii_digit() {
                return Err(invalid(first, "after decimal point in numeric literal"));
            }
            self.digits();
        }
        if self.peek().is_some_and(|byte| matches!(byte, b'e' | b'E')) {
            self.at += 1;
            let mut first = self.next()?;
            if matches!(first, b'+' | b'-') {
                first = self.next()?;
            }
            if !first.is_ascii_digit() {
                return Err(invalid(first, "in exponent of numeric literal"));
            }
            self.digits();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use operetta_harness::random;

    use super::object;

    #[test]
    fn what_is_no_json_is_refused_as_go_refuses_it() {
        let table = [
            ("{}", ""),
            (" null ", ""),
            ("", "unexpected end of JSON input"),
            ("{", "unexpected end of JSON input"),
            ("B", "invalid character 'B' looking for beginning of value"),
            ("-x", "invalid character 'x' in numeric literal"),
            ("{x", "invalid character 'x' looking for beginning of object key string"),
            (r#"{"a" 1}"#, "invalid character '1' after object key"),
            (r#"{"a":1 2}"#, "invalid character '2' after object key:value pair"),
            ("{}}", "invalid character '}' after top-level value"),
            ("trux", "invalid character 'x' in literal true (expecting 'e')"),
            ("[]", "json: cannot unmarshal array into Go value of type map[string]interface {}"),
        ];
        for (text, expected) in table {
            assert_eq!(object(text.as_bytes()).err().unwrap_or_default(), expected, "{text}");
        }
    }

    #[test]
    fn any_text_is_json_or_complained_about() {
        let parser = |text: &str| drop(object(text.as_bytes()));
        random::texts(&random::JSON, parser);
        random::long_texts(&random::JSON, parser);
    }

    #[test]
    fn a_text_that_is_too_deep_is_refused_as_go_refuses_it() {
        let deep = |depth: usize| object("[".repeat(depth).as_bytes()).unwrap_err();
        assert_eq!(deep(10_000), "unexpected end of JSON input");
        assert_eq!(deep(1_000_000), "invalid character '[' exceeded max depth");
    }
}
