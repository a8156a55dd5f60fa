//! What Go says of a text that is no address of a network.

use crate::schema::go_value::quote;

/// How many bytes an address of version 6 has.
const SIZE: usize = 16;

/// Why a text is no address, and where.
struct Fault<'t>(&'static str, &'t str);

/// The complaint of Go about a text; `None` if it is an address.
pub(super) fn fault(text: &str) -> Option<String> {
    let found = match text.bytes().find(|byte| matches!(byte, b'.' | b':' | b'%')) {
        Some(b'.') => version_4(text),
        Some(b':') => version_6(text),
        Some(_) => Err(Fault("missing IPv6 address", "")),
        None => Err(Fault("unable to parse IP", "")),
    };
    let Fault(why, at) = found.err()?;
    let at = if at.is_empty() { String::new() } else { format!(" (at {})", quote(at)) };
    Some(format!("ParseAddr({}): {why}{at}", quote(text)))
}

fn version_4(text: &str) -> Result<(), Fault<'_>> {
    let (mut value, mut digits, mut dots) = (0_u32, 0, 0);
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().copied().enumerate() {
        match byte {
            b'0'..=b'9' if digits == 1 && value == 0 => {
                return Err(Fault("IPv4 field has octet with leading zero", ""));
            }
            b'0'..=b'9' => {
                value = value * 10 + u32::from(byte - b'0');
                digits += 1;
                if value > 255 {
                    return Err(Fault("IPv4 field has value >255", ""));
                }
            }
            b'.' if at == 0 || at + 1 == bytes.len() || bytes[at - 1] == b'.' => {
                return Err(Fault("IPv4 field must have at least one digit", &text[at..]));
            }
            b'.' if dots == 3 => return Err(Fault("IPv4 address too long", "")),
            b'.' => (value, digits, dots) = (0, 0, dots + 1),
            _ => return Err(Fault("unexpected character", text.get(at..).unwrap_or_default())),
        }
    }
    if dots < 3 { Err(Fault("IPv4 address too short", "")) } else { Ok(()) }
}

fn version_6(text: &str) -> Result<(), Fault<'_>> {
    let (mut rest, zone) = text.split_once('%').map_or((text, None), |(it, zone)| (it, Some(zone)));
    if zone == Some("") {
        return Err(Fault("zone must be a non-empty string", ""));
    }
    let mut has_gap = false;
    if let Some(after) = rest.strip_prefix("::") {
        (has_gap, rest) = (true, after);
        if rest.is_empty() {
            return Ok(());
        }
    }
    let mut size = 0;
    while size < SIZE {
        let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        if digits > 4 {
            return Err(Fault("each group must have 4 or less digits", rest));
        }
        if digits == 0 {
            return Err(Fault("each colon-separated field must have at least one digit", rest));
        }
        if rest[digits..].starts_with('.') {
            embedded(rest, size, has_gap)?;
            (rest, size) = ("", size + 4);
            break;
        }
        (rest, size) = (&rest[digits..], size + 2);
        if rest.is_empty() {
            break;
        }
        let Some(after) = rest.strip_prefix(':') else {
            return Err(Fault("unexpected character, want colon", rest));
        };
        if after.is_empty() {
            return Err(Fault("colon must be followed by more characters", rest));
        }
        rest = after;
        if let Some(after) = rest.strip_prefix(':') {
            if has_gap {
                return Err(Fault("multiple :: in address", rest));
            }
            (has_gap, rest) = (true, after);
            if rest.is_empty() {
                break;
            }
        }
    }
    match (rest.is_empty(), size < SIZE, has_gap) {
        (false, ..) => Err(Fault("trailing garbage after address", rest)),
        (_, true, false) => Err(Fault("address string too short", "")),
        (_, false, true) => Err(Fault("the :: must expand to at least one field of zeros", "")),
        _ => Ok(()),
    }
}

/// An address of version 4 at the end of one of version 6.
fn embedded(rest: &str, size: usize, has_gap: bool) -> Result<(), Fault<'_>> {
    if !has_gap && size != 12 {
        let why = "embedded IPv4 address must replace the final 2 fields of the address";
        return Err(Fault(why, rest));
    }
    if size + 4 > SIZE {
        let why = "too many hex fields to fit an embedded IPv4 at the end of the address";
        return Err(Fault(why, rest));
    }
    version_4(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_are_those_of_go() {
        for good in
            ["1.2.3.4", "::", "::1", "1::", "fe80::1%en0", "::ffff:1.2.3.4", "1:2:3:4:5:6:7:8"]
        {
            assert_eq!(fault(good), None, "{good}");
        }
        for (bad, why) in [
            ("foo", "unable to parse IP"),
            ("%a", "missing IPv6 address"),
            ("1.2.3", "IPv4 address too short"),
            ("1.2.3.4.5", "IPv4 address too long"),
            ("1..2.3", "IPv4 field must have at least one digit (at \".2.3\")"),
            ("1.2.3.", "IPv4 field must have at least one digit (at \".\")"),
            ("01.2.3.4", "IPv4 field has octet with leading zero"),
            ("1.2.3.256", "IPv4 field has value >255"),
            ("1.a", "unexpected character (at \"a\")"),
            ("::1%", "zone must be a non-empty string"),
            ("1:2", "address string too short"),
            ("12345::", "each group must have 4 or less digits (at \"12345::\")"),
            (":1", "each colon-separated field must have at least one digit (at \":1\")"),
            ("1:", "colon must be followed by more characters (at \":\")"),
            ("1::2::3", "multiple :: in address (at \":3\")"),
            ("1:2:3:4:5:6:7:8:9", "trailing garbage after address (at \"9\")"),
            ("1:g", "each colon-separated field must have at least one digit (at \"g\")"),
            ("1g::", "unexpected character, want colon (at \"g::\")"),
            ("1:2:3:4:5:6:7::8", "the :: must expand to at least one field of zeros"),
            (
                "1:1.2.3.4",
                "embedded IPv4 address must replace the final 2 fields of the address (at \"1.2.3.4\")",
            ),
        ] {
            let expected = format!("ParseAddr({}): {why}", quote(bad));
            assert_eq!(fault(bad), Some(expected), "{bad}");
        }
    }

    #[test]
    fn go_and_rust_agree_on_what_an_address_is() {
        const TOKENS: [&str; 12] =
            ["1", "0", "255", "256", ".", ":", "::", "f", "ffff", "g", "::ffff:", "1.2.3.4"];
        operetta_harness::random::texts(&TOKENS, |text| {
            if text.contains('%') {
                // Only Go knows zones.
                return;
            }
            let is_address = text.parse::<std::net::IpAddr>().is_ok();
            assert_eq!(fault(text).is_none(), is_address, "{text}");
        });
    }
}
