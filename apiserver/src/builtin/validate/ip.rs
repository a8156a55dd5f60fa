//! Addresses and ranges of addresses, strictly: without leading zeros and without IPv4 within IPv6.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::field::{Errors, Field};

/// A range: an address and the length of its prefix.
pub(super) type Range = (IpAddr, u8);

/// Refuses what is no address.
pub(super) fn address(address: &Field, errors: &mut Errors) {
    let text = address.text();
    let Some(parsed) = text.parse().ok().or_else(|| with_zeros(text)) else {
        errors
            .push(address.invalid("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"));
        return;
    };
    if text.parse::<IpAddr>().is_err() {
        errors.push(address.invalid("must not have leading 0s"));
    }
    if is_mapped(parsed) {
        errors.push(address.invalid("must not be an IPv4-mapped IPv6 address"));
    }
}

/// Refuses what is no range of addresses.
pub(super) fn range(range: &Field, errors: &mut Errors) {
    let text = range.text();
    let sloppy = text.split_once('/').and_then(|(address, length)| {
        let address = address.parse().ok().or_else(|| with_zeros(address))?;
        let is_number = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
        let length = length.parse().ok().filter(|length| is_number && fits(address, *length))?;
        Some((address, length))
    });
    let Some(sloppy) = sloppy else {
        let detail = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
        errors.push(range.invalid(detail));
        return;
    };
    if parse_range(text).is_none() {
        errors.push(range.invalid("must not have leading 0s in IP or prefix length"));
    } else if is_mapped(sloppy.0) {
        errors.push(range.invalid("must not have an IPv4-mapped IPv6 address"));
    } else if network(sloppy) != sloppy.0 {
        errors.push(range.invalid("must not have bits set beyond the prefix length"));
    }
}

/// Refuses what is no range of addresses, or one that could be written in another way.
pub(super) fn canonical_range(range: &Field, errors: &mut Errors) {
    let before = errors.len();
    self::range(range, errors);
    let Some((address, length)) = parse_range(range.text()).filter(|_| errors.len() == before)
    else {
        return;
    };
    let canonical = format!("{address}/{length}");
    if canonical != range.text() {
        errors.push(range.invalid(format!("must be in canonical form (\"{canonical}\")")));
    }
}

pub(super) fn parse(text: &str) -> Option<IpAddr> {
    text.parse().ok()
}

pub(super) fn parse_range(text: &str) -> Option<Range> {
    let (address, length) = text.split_once('/')?;
    let is_plain = length == "0" || length.starts_with(|c: char| ('1'..='9').contains(&c));
    let address = parse(address)?;
    let length = length.parse().ok().filter(|length| is_plain && fits(address, *length))?;
    Some((address, length))
}

/// Whether a range contains an address.
pub(super) fn contains(range: Range, address: IpAddr) -> bool {
    range.0.is_ipv4() == address.is_ipv4() && network(range) == network((address, range.1))
}

/// Whether the addresses of a list are more than one of each family.
pub(super) fn has_same_family(addresses: &[IpAddr]) -> bool {
    addresses.len() > 2
        || matches!(addresses, [first, second] if first.is_ipv4() == second.is_ipv4())
}

/// The first address of a range.
fn network((address, length): Range) -> IpAddr {
    let length = u32::from(length);
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
            Ipv4Addr::from_bits(address.to_bits() & mask).into()
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - length).unwrap_or(0);
            Ipv6Addr::from_bits(address.to_bits() & mask).into()
        }
    }
}

fn fits(address: IpAddr, length: u8) -> bool {
    length <= if address.is_ipv4() { 32 } else { 128 }
}

fn is_mapped(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some())
}

/// An IPv4 address whose parts may start with zeros.
fn with_zeros(text: &str) -> Option<IpAddr> {
    let parts: Vec<u8> = text
        .split('.')
        .map(|part| part.parse().ok().filter(|_| part.bytes().all(|byte| byte.is_ascii_digit())))
        .collect::<Option<_>>()?;
    let octets: [u8; 4] = parts.try_into().ok()?;
    Some(Ipv4Addr::from(octets).into())
}
