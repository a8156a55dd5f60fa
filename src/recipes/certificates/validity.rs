//! From when until when a certificate is valid, read from its DER. Reads nothing else of it.

use k8s_openapi::jiff::{Timestamp, civil::DateTime, tz::TimeZone};

/// The time in which a certificate is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Validity {
    pub(super) begin: Timestamp,
    pub(super) end: Timestamp,
}

const INTEGER: u8 = 0x02;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;

impl Validity {
    /// `None` if it is no certificate.
    pub(super) fn of_der(der: &[u8]) -> Option<Self> {
        let (certificate, _) = of_tag(der, SEQUENCE)?;
        let (body, _) = of_tag(certificate, SEQUENCE)?;
        let body = of_tag(body, VERSION).map_or(body, |(_, rest)| rest);
        let (_serial, rest) = of_tag(body, INTEGER)?;
        let (_algorithm, rest) = of_tag(rest, SEQUENCE)?;
        let (_issuer, rest) = of_tag(rest, SEQUENCE)?;
        let (validity, _) = of_tag(rest, SEQUENCE)?;
        let (begin, rest) = time(validity)?;
        let (end, _) = time(rest)?;
        Some(Self { begin, end })
    }

    /// When two thirds of it are over.
    pub(super) fn renew_at(self) -> Timestamp {
        let (begin, end) = (self.begin.as_second(), self.end.as_second());
        Timestamp::from_second(begin + (end - begin) / 3 * 2).unwrap_or(self.end)
    }
}

/// The content of a value with this tag, and what follows it.
fn of_tag(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (found, content, rest) = value(der)?;
    (found == tag).then_some((content, rest))
}

fn value(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, length], rest) = der.split_first_chunk::<2>()?;
    let (length, rest) = match length {
        0..=0x7f => (usize::from(length), rest),
        // The number of bytes of the length. No certificate has more than 16 MiB.
        0x81..=0x83 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(length - 0x80))?;
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// `YYMMDDHHMMSSZ`, of the years 1950 to 2049, or `YYYYMMDDHHMMSSZ`.
fn time(der: &[u8]) -> Option<(Timestamp, &[u8])> {
    let (tag, content, rest) = value(der)?;
    let text = std::str::from_utf8(content).ok()?.strip_suffix('Z')?;
    let (year, text) = match tag {
        UTC_TIME => {
            let year = number(text.get(..2)?)?;
            (if year < 50 { 2000 + year } else { 1900 + year }, text.get(2..)?)
        }
        GENERALIZED_TIME => (number(text.get(..4)?)?, text.get(4..)?),
        _ => return None,
    };
    let part = |at: usize| i8::try_from(number(text.get(at..at + 2)?)?).ok();
    let date = DateTime::new(year, part(0)?, part(2)?, part(4)?, part(6)?, part(8)?, 0).ok()?;
    Some((date.to_zoned(TimeZone::UTC).ok()?.timestamp(), rest))
}

fn number(text: &str) -> Option<i16> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    fn certificate(end: i32) -> Vec<u8> {
        let mut params = CertificateParams::new(["a".to_owned()]).unwrap();
        (params.not_before, params.not_after) =
            (date_time_ymd(2026, 1, 1), date_time_ymd(end, 1, 1));
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn both_forms_of_a_time_are_read() {
        for (end, expected) in [(2029, "2029-01-01T00:00:00Z"), (2060, "2060-01-01T00:00:00Z")] {
            let validity = Validity::of_der(&certificate(end)).unwrap();
            assert_eq!(validity.begin.to_string(), "2026-01-01T00:00:00Z");
            assert_eq!(validity.end.to_string(), expected);
        }
        let renew = Validity::of_der(&certificate(2029)).unwrap().renew_at();
        assert_eq!(renew.to_string(), "2028-01-01T16:00:00Z");
    }

    #[test]
    fn what_is_no_certificate_is_none() {
        let whole = certificate(2029);
        for end in 0..whole.len() {
            assert_eq!(Validity::of_der(&whole[..end]), None, "{end}");
        }
        assert_eq!(Validity::of_der(b"-----BEGIN"), None);
        // Changed in any place it is read or not, and never panics.
        for at in 0..whole.len() {
            for byte in [0x00, 0x30, 0x7f, 0x83, 0xff] {
                let mut changed = whole.clone();
                changed[at] = byte;
                let _ = Validity::of_der(&changed);
            }
        }
    }
}
