//! What Go finds wrong with a pattern, in its words.
//!
//! A pattern is read as Go reads it, from left to right; only the first fault is reported. What a class or a group means does
//! not matter here.

use regex::Regex;

/// The largest count of a repetition.
const MOST: u32 = 1000;
const CLASSES: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
    "space", "upper", "word", "xdigit",
];

/// The first fault of a pattern.
pub(super) fn fault(pattern: &str) -> Option<String> {
    let mut reader =
        Reader { whole: pattern, rest: pattern, groups: Vec::new(), has_operand: false };
    let found = reader.read().err();
    found.map(|(what, text)| format!("error parsing regexp: {what}: `{text}`"))
}

/// What is wrong, and with which part of the pattern.
type Fault<'a> = (&'static str, &'a str);

const INVALID_RANGE: &str = "invalid character class range";
const INVALID_ESCAPE: &str = "invalid escape sequence";
const INVALID_NAME: &str = "invalid named capture";
const MISSING_ARGUMENT: &str = "missing argument to repetition operator";

struct Reader<'a> {
    whole: &'a str,
    rest: &'a str,
    /// Whether there was something to repeat before each group that is open.
    groups: Vec<bool>,
    /// Whether there is something to repeat.
    has_operand: bool,
}

impl<'a> Reader<'a> {
    fn read(&mut self) -> Result<(), Fault<'a>> {
        let mut repeated: Option<&'a str> = None;
        while let Some(first) = self.rest.chars().next() {
            let before = self.rest;
            let mut repeats = None;
            match first {
                '(' if before.starts_with("(?") => self.flags()?,
                '(' => self.open(&before[1..]),
                '|' => (self.rest, self.has_operand) = (&before[1..], false),
                ')' => self.close()?,
                '[' => self.class()?,
                '*' | '+' | '?' => {
                    self.repetition(before, &before[1..], repeated)?;
                    repeats = Some(before);
                }
                '{' => match counts(before) {
                    Some((min, max, after)) => {
                        let is_ordered = max.is_none_or(|max| min <= max && max <= MOST);
                        if min > MOST || !is_ordered {
                            return Err(("invalid repeat count", until(before, after)));
                        }
                        self.repetition(before, after, repeated)?;
                        repeats = Some(before);
                    }
                    None => self.literal(&before[1..]),
                },
                '\\' => self.escape()?,
                other => self.literal(&before[other.len_utf8()..]),
            }
            repeated = repeats;
        }
        if self.groups.is_empty() { Ok(()) } else { Err(("missing closing )", self.whole)) }
    }

    fn literal(&mut self, rest: &'a str) {
        (self.rest, self.has_operand) = (rest, true);
    }

    fn open(&mut self, rest: &'a str) {
        self.groups.push(self.has_operand);
        (self.rest, self.has_operand) = (rest, false);
    }

    fn close(&mut self) -> Result<(), Fault<'a>> {
        self.groups.pop().ok_or(("unexpected )", self.whole))?;
        self.literal(&self.rest[1..]);
        Ok(())
    }

    fn repetition(
        &mut self,
        before: &'a str,
        after: &'a str,
        repeated: Option<&'a str>,
    ) -> Result<(), Fault<'a>> {
        let after = after.strip_prefix('?').unwrap_or(after);
        if let Some(repeated) = repeated {
            return Err(("invalid nested repetition operator", until(repeated, after)));
        }
        if !self.has_operand {
            return Err((MISSING_ARGUMENT, until(before, after)));
        }
        self.rest = after;
        Ok(())
    }

    /// `(?flags)`, `(?flags:` or the name of a group.
    fn flags(&mut self) -> Result<(), Fault<'a>> {
        let group = self.rest;
        let name = group.strip_prefix("(?P<").or_else(|| group.strip_prefix("(?<"));
        if let Some(name) = name.filter(|_| group.len() > 3) {
            let (name, rest) = name.split_once('>').ok_or((INVALID_NAME, group))?;
            let is_word = |c: char| c == '_' || c.is_ascii_alphanumeric();
            if name.is_empty() || !name.chars().all(is_word) {
                return Err((INVALID_NAME, until(group, rest)));
            }
            self.open(rest);
            return Ok(());
        }
        let (mut negative, mut any) = (false, false);
        let mut rest = &group[2..];
        while let Some(flag) = rest.chars().next() {
            rest = &rest[flag.len_utf8()..];
            match flag {
                'i' | 'm' | 's' | 'U' => any = true,
                '-' if !negative => (negative, any) = (true, false),
                ':' if !negative || any => {
                    self.open(rest);
                    return Ok(());
                }
                ')' if !negative || any => {
                    self.rest = rest;
                    return Ok(());
                }
                _ => return Err(("invalid or unsupported Perl syntax", until(group, rest))),
            }
        }
        Err(("invalid or unsupported Perl syntax", group))
    }

    fn escape(&mut self) -> Result<(), Fault<'a>> {
        let text = self.rest;
        match text[1..].chars().next() {
            Some('A' | 'b' | 'B' | 'z') => self.literal(&text[2..]),
            Some('C') => return Err((INVALID_ESCAPE, &text[..2])),
            Some('Q') => {
                let (quoted, rest) = text[2..].split_once("\\E").unwrap_or((&text[2..], ""));
                self.has_operand |= !quoted.is_empty();
                self.rest = rest;
            }
            _ => {
                let rest =
                    class_escape(text)?.map_or_else(|| character(text).map(|it| it.1), Ok)?;
                self.literal(rest);
            }
        }
        Ok(())
    }

    fn class(&mut self) -> Result<(), Fault<'a>> {
        let whole = self.rest;
        let mut rest = whole[1..].strip_prefix('^').unwrap_or(&whole[1..]);
        let mut is_first = true;
        while is_first || !rest.starts_with(']') {
            is_first = false;
            if let Some((name, after)) = rest.strip_prefix("[:").and_then(|it| it.split_once(":]"))
            {
                if !CLASSES.contains(&name.strip_prefix('^').unwrap_or(name)) {
                    return Err((INVALID_RANGE, until(rest, after)));
                }
                rest = after;
                continue;
            }
            if let Some(after) = class_escape(rest)? {
                rest = after;
                continue;
            }
            let start = rest;
            let (low, after) = class_character(rest, whole)?;
            rest = after;
            if let Some(end) =
                rest.strip_prefix('-').filter(|end| !end.is_empty() && !end.starts_with(']'))
            {
                let (high, after) = class_character(end, whole)?;
                if high < low {
                    return Err((INVALID_RANGE, until(start, after)));
                }
                rest = after;
            }
        }
        self.literal(&rest[1..]);
        Ok(())
    }
}

/// The part of a text that stands before its rest.
fn until<'a>(text: &'a str, rest: &str) -> &'a str {
    &text[..text.len() - rest.len()]
}

/// `{2}`, `{2,}` and `{2,3}`, and what follows; else it is a literal.
pub(super) fn counts(text: &str) -> Option<(u32, Option<u32>, &str)> {
    let (inner, rest) = text.strip_prefix('{')?.split_once('}')?;
    let number = |digits: &str| {
        let is_plain = digits == "0" || !digits.starts_with('0');
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        (is_plain && is_number).then(|| digits.parse().unwrap_or(u32::MAX))
    };
    match inner.split_once(',') {
        None => number(inner).map(|count| (count, Some(count), rest)),
        Some((min, "")) => number(min).map(|min| (min, None, rest)),
        Some((min, max)) => Some((number(min)?, Some(number(max)?), rest)),
    }
}

/// The rest behind `\pL`, `\p{Greek}`, `\d` and the like, if the text begins with one.
fn class_escape(text: &str) -> Result<Option<&str>, Fault<'_>> {
    let mut characters = text.chars();
    if characters.next() != Some('\\') {
        return Ok(None);
    }
    match characters.next() {
        Some('d' | 'D' | 's' | 'S' | 'w' | 'W') => Ok(Some(characters.as_str())),
        Some('p' | 'P') => {
            let rest = match characters.next() {
                Some('{') => text.find('}').map(|end| &text[end + 1..]),
                Some(_) => Some(characters.as_str()),
                None => return Ok(None),
            };
            let rest = rest.ok_or((INVALID_RANGE, text))?;
            let class = until(text, rest);
            if Regex::new(class).is_ok() { Ok(Some(rest)) } else { Err((INVALID_RANGE, class)) }
        }
        _ => Ok(None),
    }
}

fn class_character<'a>(text: &'a str, class: &'a str) -> Result<(char, &'a str), Fault<'a>> {
    match text.chars().next() {
        None => Err(("missing closing ]", class)),
        Some('\\') => character(text),
        Some(character) => Ok((character, &text[character.len_utf8()..])),
    }
}

/// The character that an escape is, and what follows.
fn character(text: &str) -> Result<(char, &str), Fault<'_>> {
    let mut characters = text.chars();
    characters.next();
    let Some(escaped) = characters.next() else {
        return Err(("trailing backslash at end of expression", ""));
    };
    let rest = characters.as_str();
    let invalid = |rest: &str| Err((INVALID_ESCAPE, until(text, rest)));
    let is_octal = |c: char| c.is_digit(8);
    match escaped {
        '1'..='7' if !rest.starts_with(is_octal) => invalid(rest),
        '0'..='7' => {
            let more = rest.bytes().take(2).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
            let code = u32::from_str_radix(&text[1..2 + more], 8).unwrap_or_default();
            Ok((char::from_u32(code).unwrap_or_default(), &rest[more..]))
        }
        'x' => hexadecimal(text, rest),
        'a' => Ok(('\x07', rest)),
        'f' => Ok(('\x0c', rest)),
        'n' => Ok(('\n', rest)),
        'r' => Ok(('\r', rest)),
        't' => Ok(('\t', rest)),
        'v' => Ok(('\x0b', rest)),
        other if other.is_ascii() && !other.is_ascii_alphanumeric() => Ok((other, rest)),
        _ => invalid(rest),
    }
}

fn hexadecimal<'a>(text: &'a str, rest: &'a str) -> Result<(char, &'a str), Fault<'a>> {
    let code = |digits: &str| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
    let found = match rest.strip_prefix('{') {
        Some(inner) => inner.split_once('}').and_then(|(digits, rest)| Some((code(digits)?, rest))),
        None => rest.get(..2).and_then(|digits| Some((code(digits)?, &rest[2..]))),
    };
    let end = rest.char_indices().nth(2).map_or("", |(at, _)| &rest[at..]);
    found.ok_or((INVALID_ESCAPE, until(text, end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_told_in_the_words_of_go() {
        for (pattern, expected) in [
            ("(", "missing closing ): `(`"),
            ("a(b", "missing closing ): `a(b`"),
            ("a)b", "unexpected ): `a)b`"),
            ("[a", "missing closing ]: `[a`"),
            ("[z-a]", "invalid character class range: `z-a`"),
            ("[[:foo:]]", "invalid character class range: `[:foo:]`"),
            ("\\pX", "invalid character class range: `\\pX`"),
            ("*a", "missing argument to repetition operator: `*`"),
            ("a|*", "missing argument to repetition operator: `*`"),
            ("a**", "invalid nested repetition operator: `**`"),
            ("a{1,2}{3}", "invalid nested repetition operator: `{1,2}{3}`"),
            ("a{1001}", "invalid repeat count: `{1001}`"),
            ("a{2,1}", "invalid repeat count: `{2,1}`"),
            ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
            ("(?P<a b>x)", "invalid named capture: `(?P<a b>`"),
            ("\\1", "invalid escape sequence: `\\1`"),
            ("\\y", "invalid escape sequence: `\\y`"),
            ("\\C", "invalid escape sequence: `\\C`"),
            ("a\\", "trailing backslash at end of expression: ``"),
        ] {
            let found = fault(pattern).unwrap_or_default();
            assert_eq!(found.strip_prefix("error parsing regexp: "), Some(expected), "{pattern}");
        }
        for pattern in
            ["^a{,2}$", "(?i)a", "(?P<n>a)|[]a-]", "\\Q(\\E", "[\\d\\]]", "\\x{41}\\x41\\07", "a+?"]
        {
            assert_eq!(fault(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn any_text_is_a_pattern_or_faulty() {
        const TOKENS: [&str; 22] = [
            "(", ")", "[", "]", "{", "}", "\\", "^", "-", "*", "?", "|", ":", "a", "1", ",", "P<",
            ">", "x", "é", "p", "[:",
        ];
        operetta_harness::random::texts(&TOKENS, |text| drop(fault(text)));
        operetta_harness::random::long_texts(&TOKENS, |text| drop(fault(text)));
    }
}
