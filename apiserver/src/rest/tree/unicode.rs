//! Texts within JSON that are no Unicode: Go replaces what is none by U+FFFD, byte by byte.

/// What Go reads instead.
const REPLACEMENT: &str = "\u{fffd}";

/// The same JSON with texts that are Unicode; `None` if they are already.
pub(super) fn repaired(json: &[u8]) -> Option<String> {
    let mut unicode = String::with_capacity(json.len());
    for chunk in json.utf8_chunks() {
        unicode.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|_| unicode.push_str(REPLACEMENT));
    }
    let escaped = without_lone_surrogates(&unicode);
    (escaped.as_bytes() != json).then_some(escaped)
}

/// Escapes of half a character mean nothing.
fn without_lone_surrogates(json: &str) -> String {
    let mut kept = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        kept.push_str(before);
        let unit = code_unit(escape);
        let length = match unit {
            Some(0xd800..0xdc00) if matches!(low(escape), Some(0xdc00..0xe000)) => 12,
            Some(0xd800..0xe000) => {
                kept.push_str(REPLACEMENT);
                rest = &escape[6..];
                continue;
            }
            Some(_) => 6,
            None => 1 + escape[1..].chars().next().map_or(0, char::len_utf8),
        };
        kept.push_str(&escape[..length]);
        rest = &escape[length..];
    }
    kept + rest
}

/// The code unit of `\u1234`.
fn code_unit(escape: &str) -> Option<u32> {
    let digits = escape.strip_prefix("\\u")?.get(..4)?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

/// The code unit of the escape after the first.
fn low(escape: &str) -> Option<u32> {
    code_unit(escape.get(6..)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_repaired_as_go_repairs_them() {
        let cases: [(&[u8], Option<&str>); 11] = [
            (br#"{"a":"b"}"#, None),
            (br#""\u00e9\n\\ud800\"""#, None),
            (br#""\ud83d\ude00""#, None),
            (b"\"\xff\"", Some("\"\u{fffd}\"")),
            (b"\"a\xe2\x82\"", Some("\"a\u{fffd}\u{fffd}\"")),
            (br#""\ud800""#, Some("\"\u{fffd}\"")),
            (br#""\ud800x\udc00""#, Some("\"\u{fffd}x\u{fffd}\"")),
            (br#""\ud800\ud83d\ude00""#, Some("\"\u{fffd}\\ud83d\\ude00\"")),
            (br#""\ud800\u0041""#, Some("\"\u{fffd}\\u0041\"")),
            (br#""\u12"#, None),
            (b"\\", None),
        ];
        for (given, expected) in cases {
            assert_eq!(repaired(given).as_deref(), expected, "{}", given.escape_ascii());
        }
    }

    #[test]
    fn any_text_is_repaired_once() {
        const TOKENS: [&str; 8] = ["\\", "u", "d800", "dc00", "\"", "a", "\u{e9}", "\\ud83d"];
        operetta_harness::random::texts(&TOKENS, |text| {
            if let Some(repaired) = repaired(text.as_bytes()) {
                assert_eq!(super::repaired(repaired.as_bytes()), None, "{text}");
            }
        });
    }
}
