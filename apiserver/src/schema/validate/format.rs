//! The formats of strings that kube-apiserver knows.
//!
//! Hyphens in their names do not count (`datetime` is `date-time`). A format that it does not know
//! is ignored, and warned of.

use std::net::IpAddr;

use super::published;
use crate::schema::{SchemaType, name_rule};

/// Whether a text has a format.
pub(super) type Check = fn(&str) -> bool;

const CHECKS: [(&str, Check); 26] = [
    ("bsonobjectid", published::is_object_id),
    ("byte", is_base64),
    ("cidr", is_cidr),
    ("creditcard", published::is_credit_card),
    ("date", is_date),
    ("datetime", is_date_time),
    ("duration", is_duration),
    ("email", is_email),
    ("hexcolor", is_hex_color),
    ("hostname", is_hostname),
    ("ipv4", is_ipv4),
    ("ipv6", is_ipv6),
    ("isbn", |text| published::is_isbn10(text) || published::is_isbn13(text)),
    ("isbn10", published::is_isbn10),
    ("isbn13", published::is_isbn13),
    ("k8slongname", is_long_name),
    ("k8sshortname", is_short_name),
    ("mac", is_mac),
    ("password", |_| true),
    ("rgbcolor", published::is_rgb_color),
    ("ssn", published::is_social_security_number),
    ("uri", is_request_uri),
    ("uuid", |text| is_uuid(text, None)),
    ("uuid3", |text| is_uuid(text, Some('3'))),
    ("uuid4", |text| is_uuid(text, Some('4'))),
    ("uuid5", |text| is_uuid(text, Some('5'))),
];

/// Whether a string is of a format that this server knows.
pub(crate) fn has_format(format: &str, text: &str) -> bool {
    check(format).is_some_and(|check| check(text))
}

/// How strings of this format are checked.
pub(super) fn check(format: &str) -> Option<Check> {
    let name = format.replace('-', "");
    CHECKS.iter().find(|(known, _)| *known == name).map(|(_, check)| *check)
}

/// Whether a format means anything for values of these types.
pub(in crate::schema) fn is_known_for(format: &str, types: &[SchemaType]) -> bool {
    match types {
        [SchemaType::Integer] => matches!(format, "int32" | "int64"),
        [SchemaType::Number] => matches!(format, "float" | "double"),
        [SchemaType::Object | SchemaType::Array | SchemaType::Boolean] => false,
        _ => check(format).is_some(),
    }
}

fn is_short_name(text: &str) -> bool {
    text.len() <= 63 && name_rule::is_dns_label(text)
}

fn is_long_name(text: &str) -> bool {
    text.len() <= 253 && name_rule::is_dns_subdomain(text)
}

fn is_base64(text: &str) -> bool {
    let data = text.trim_end_matches('=');
    let symbol = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    !data.is_empty()
        && text.len().is_multiple_of(4)
        && text.len() - data.len() <= 2
        && data.bytes().all(symbol)
}

fn is_date(text: &str) -> bool {
    let parts: Vec<_> = text.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let (Some(year), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2))
    else {
        return false;
    };
    (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day)
}

fn days_in_month(year: u32, month: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn is_date_time(text: &str) -> bool {
    let text = text.to_lowercase();
    let Some((date, time)) = text.split_once('t') else { return false };
    let clock = time.get(..8).is_some_and(is_clock);
    clock && is_date(date) && time.get(8..).is_some_and(is_fraction_and_zone)
}

fn is_clock(text: &str) -> bool {
    let parts: Vec<_> = text.split(':').map(|part| digits(part, 2)).collect();
    matches!(parts[..], [Some(0..=23), Some(0..=59), Some(0..=59)])
}

fn is_fraction_and_zone(text: &str) -> bool {
    let zone = match text.strip_prefix('.') {
        Some(rest) => {
            let zone = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
            if zone.len() == rest.len() {
                return false;
            }
            zone
        }
        None => text,
    };
    let offset = zone.strip_prefix(['+', '-']).and_then(|offset| offset.split_once(':'));
    zone == "z"
        || offset.is_some_and(|(hours, minutes)| {
            digits(hours, 2).is_some() && digits(minutes, 2).is_some()
        })
}

fn digits(text: &str, count: usize) -> Option<u32> {
    let plain = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}

/// `1h30m`, `-1.5s`, and the looser `3 days`.
fn is_duration(text: &str) -> bool {
    text.trim_start_matches(['+', '-']) == "0" || is_go_duration(text) || is_loose_duration(text)
}

fn is_go_duration(text: &str) -> bool {
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    while !rest.is_empty() {
        let unit = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let number = &rest[..rest.len() - unit.len()];
        let end = unit.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(unit.len());
        let known = matches!(&unit[..end], "ns" | "us" | "µs" | "μs" | "ms" | "s" | "m" | "h");
        if !known || number.parse::<f64>().is_err() {
            return false;
        }
        debug_assert!(end > 0, "no progress at {rest:?}");
        rest = &unit[end..];
    }
    !text.trim_start_matches(['+', '-']).is_empty()
}

fn is_loose_duration(text: &str) -> bool {
    const EXACT: [&str; 14] =
        ["ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk", "nano", "sec", "min"];
    const PREFIXES: [&str; 8] = ["nano", "micro", "milli", "sec", "min", "hour", "day", "week"];
    let mut found = false;
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let number = &rest[start..];
        let after = number.trim_start_matches(|c: char| c.is_ascii_digit());
        if number[..number.len() - after.len()].parse::<i64>().is_err() {
            return false;
        }
        let word = after.trim_start();
        let end = word.find(|c: char| !c.is_ascii_alphabetic() && c != 'µ').unwrap_or(word.len());
        let unit = word[..end].to_lowercase();
        found |= EXACT.contains(&unit.as_str()) || PREFIXES.iter().any(|p| unit.starts_with(p));
        rest = &word[end..];
    }
    found
}

fn is_hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// One label with a hyphen at most after its first character, or a domain name.
fn is_hostname(text: &str) -> bool {
    // Symbols are permitted. Beyond ASCII no difference is made between them and the rest.
    let symbol = |c: char| c.is_ascii_alphanumeric() || !c.is_ascii() || "$+<=>^`|~".contains(c);
    let label = |label: &str| {
        label.starts_with(symbol)
            && label.ends_with(symbol)
            && label.chars().all(|c| symbol(c) || c == '-')
    };
    let top = |label: &str| label.chars().count() >= 2 && label.chars().all(char::is_alphabetic);
    let is_name = if let Some((labels, last)) = text.rsplit_once('.') {
        top(last) && labels.split('.').all(label)
    } else {
        let rest = text.strip_prefix(symbol).map(|rest| rest.strip_prefix('-').unwrap_or(rest));
        rest.is_some_and(|rest| rest.chars().all(symbol))
    };
    is_name && text.len() <= 255 && text.split('.').all(|label| label.len() <= 63)
}

fn is_ipv4(text: &str) -> bool {
    text.contains('.') && parse_ip(text).is_some()
}

fn is_ipv6(text: &str) -> bool {
    text.contains(':') && text.parse::<IpAddr>().is_ok()
}

fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let plain = (1..=3).contains(&length.len()) && length.bytes().all(|b| b.is_ascii_digit());
    let limit = parse_ip(address).map(|address| if address.is_ipv4() { 32 } else { 128 });
    plain && length.parse::<u8>().ok().zip(limit).is_some_and(|(length, limit)| length <= limit)
}

/// Leading zeros are tolerated, as they were before it was noticed that they are ambiguous.
fn parse_ip(text: &str) -> Option<IpAddr> {
    if text.contains(':') {
        return text.parse().ok();
    }
    let mut bytes = [0_u8; 4];
    let mut parts = text.split('.');
    for byte in &mut bytes {
        let part = parts.next().filter(|part| part.bytes().all(|b| b.is_ascii_digit()))?;
        *byte = part.parse().ok()?;
    }
    parts.next().is_none().then_some(IpAddr::from(bytes))
}

fn is_mac(text: &str) -> bool {
    let groups = |separator: char, width: usize, counts: [usize; 3]| {
        let hex = |part: &str| part.len() == width && part.bytes().all(|b| b.is_ascii_hexdigit());
        counts.contains(&text.split(separator).count()) && text.split(separator).all(hex)
    };
    groups(':', 2, [6, 8, 20]) || groups('-', 2, [6, 8, 20]) || groups('.', 4, [3, 4, 10])
}

fn is_uuid(text: &str, version: Option<char>) -> bool {
    let text = text.to_ascii_lowercase();
    let Some(digits) = without_hyphens(&text) else { return false };
    let digit = |index: usize| digits.as_bytes().get(index).copied().map(char::from);
    let variant = matches!(digit(16), Some('8' | '9' | 'a' | 'b')) || version == Some('3');
    digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        && version.is_none_or(|version| digit(12) == Some(version) && variant)
}

/// The 32 digits of a UUID; each hyphen may be missing.
fn without_hyphens(text: &str) -> Option<String> {
    let mut digits = String::with_capacity(32);
    let mut rest = text;
    for (index, width) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        rest = if index == 0 { rest } else { rest.strip_prefix('-').unwrap_or(rest) };
        digits.push_str(rest.get(..width)?);
        rest = &rest[width..];
    }
    rest.is_empty().then_some(digits)
}

/// An absolute URI or an absolute path.
fn is_request_uri(text: &str) -> bool {
    let scheme = text.split_once(':').map(|(scheme, _)| scheme);
    let is_scheme = |scheme: &str| {
        let symbol = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
        scheme.bytes().all(symbol) && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    let host = text.split_once("//").map_or("", |(_, rest)| rest);
    let host = host.split(['/', '?', '#']).next().unwrap_or_default();
    !host.contains(' ')
        && !text.chars().any(|c| c.is_ascii_control())
        && (text.starts_with('/') || scheme.is_some_and(is_scheme))
        && text
            .split('%')
            .skip(1)
            .all(|rest| rest.get(..2).is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit())))
}

/// `user@host`, alone or as `Name <user@host>`.
fn is_email(text: &str) -> bool {
    let named = text.strip_suffix('>').and_then(|text| text.rsplit_once('<'));
    let address = named.map_or(text.trim(), |(_, address)| address);
    let Some((user, host)) = address.rsplit_once('@') else { return false };
    let atom = |c: char| c.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c);
    let dotted = |part: &str| part.split('.').all(|a| !a.is_empty() && a.chars().all(atom));
    let quoted = user.len() > 2 && user.starts_with('"') && user.ends_with('"');
    (quoted || dotted(user)) && dotted(host)
}
