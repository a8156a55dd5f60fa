//! Addresses and ranges of networks.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use super::go_address;
use crate::schema::go_value::quote as quoted;

/// A range of addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cel) struct Cidr {
    pub(in crate::cel) address: IpAddr,
    pub(in crate::cel) bits: u8,
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

impl Cidr {
    pub(in crate::cel) fn masked(&self) -> Self {
        let address = match self.address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.bits)).unwrap_or(0);
                IpAddr::V4(Ipv4Addr::from(u32::from(address) & mask))
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.bits)).unwrap_or(0);
                IpAddr::V6(Ipv6Addr::from(u128::from(address) & mask))
            }
        };
        Self { address, bits: self.bits }
    }

    pub(in crate::cel) fn contains(&self, address: IpAddr) -> bool {
        let same = self.address.is_ipv4() == address.is_ipv4();
        same && Self { address, bits: self.bits }.masked() == self.masked()
    }
}

/// Whether an address is one of a single host, beyond its link.
pub(in crate::cel) fn is_global_unicast(ip: IpAddr) -> bool {
    let is_local = match ip {
        IpAddr::V4(ip) => ip.is_link_local() || ip.is_broadcast(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    };
    !is_local && !ip.is_unspecified() && !ip.is_loopback() && !ip.is_multicast()
}

/// Reads an address.
pub(in crate::cel) fn address(text: &str) -> Result<IpAddr, String> {
    let zone = text.split_once('%').filter(|(_, zone)| !zone.is_empty());
    if zone.is_some_and(|(ip, _)| ip.parse::<Ipv6Addr>().is_ok()) {
        return Err(format!("IP address {} with zone value is not allowed", quoted(text)));
    }
    let ip: IpAddr = text.parse().map_err(|_| {
        let reason = go_address::fault(text).unwrap_or_default();
        format!("IP Address {} parse error during conversion from string: {reason}", quoted(text))
    })?;
    not_mapped(ip, text)
}

fn not_mapped(ip: IpAddr, text: &str) -> Result<IpAddr, String> {
    match ip {
        IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() => {
            Err(format!("IPv4-mapped IPv6 address {} is not allowed", quoted(text)))
        }
        ip => Ok(ip),
    }
}

/// Reads a range.
pub(in crate::cel) fn range(text: &str) -> Result<Cidr, String> {
    let failed = |reason: &str| {
        let reason = format!("netip.ParsePrefix({}): {reason}", quoted(text));
        format!("network address parse error during conversion from string: {reason}")
    };
    let Some((ip, bits)) = text.rsplit_once('/') else { return Err(failed("no '/'")) };
    let address: IpAddr = ip.parse().map_err(|_| {
        let zone = "IPv6 zones cannot be present in a prefix".to_owned();
        failed(&go_address::fault(ip).unwrap_or(zone))
    })?;
    let is_digits = !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = is_digits && bits.parse::<i64>().is_ok();
    if !is_number || bits.len() > 1 && bits.starts_with('0') {
        return Err(failed(&format!("bad bits after slash: {}", quoted(bits))));
    }
    let most = if address.is_ipv4() { 32 } else { 128 };
    let bits = match bits.parse::<u8>() {
        Ok(bits) if bits <= most => bits,
        _ => return Err(failed("prefix length out of range")),
    };
    not_mapped(address, text)?;
    Ok(Cidr { address, bits })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_an_address_or_refused() {
        const TOKENS: [&str; 16] = [
            "10",
            "0",
            "255",
            "256",
            ".",
            ":",
            "::",
            "/",
            "/24",
            "/128",
            "fe80",
            "ffff",
            "%eth0",
            "10.0.0.1",
            "2001:db8::",
            " ",
        ];
        let parser = |text: &str| {
            drop((address(text), go_address::fault(text)));
            if let Ok(range) = range(text) {
                assert!(range.contains(range.masked().address));
            }
        };
        operetta_harness::random::texts(&TOKENS, parser);
        operetta_harness::random::long_texts(&TOKENS, parser);
    }
}
