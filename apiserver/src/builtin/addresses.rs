//! Finds free cluster addresses and node ports. The caller passes those in use; there is no state.
//!
//! The first part of each range is left to those who ask for one of it, until the rest is occupied.

use std::{collections::BTreeSet, net::Ipv4Addr, ops::RangeInclusive};

/// The addresses of Services.
pub const ADDRESS_RANGE: &str = "10.0.0.0/16";
/// The first and last address of services: without network and broadcast address.
const ADDRESSES: std::ops::Range<u32> = 0x0a00_0001..0x0a00_ffff;
/// How many addresses are left to those who ask for them.
const LEFT_ADDRESSES: u32 = 256;
/// The ports of nodes that Services may have.
pub const NODE_PORTS: RangeInclusive<i64> = 30_000..=32_767;
/// How many of them are left to those who ask for them.
const LEFT_PORTS: i64 = 86;

/// A free address. The search starts at `hint`, so that an address that was just released is not the next one.
pub fn free_address(taken: &BTreeSet<Ipv4Addr>, hint: u32) -> Option<Ipv4Addr> {
    let count = ADDRESSES.end - ADDRESSES.start - LEFT_ADDRESSES;
    let first = ADDRESSES.start + LEFT_ADDRESSES;
    let candidates = (0..count).map(|n| first + (hint % count + n) % count);
    let candidates = candidates.chain(ADDRESSES.start..first);
    candidates.map(Ipv4Addr::from).find(|address| !taken.contains(address))
}

/// A free node port.
pub fn free_node_port(taken: &BTreeSet<i64>) -> Option<i64> {
    let first = NODE_PORTS.start() + LEFT_PORTS;
    let mut candidates = (first..=*NODE_PORTS.end()).chain(*NODE_PORTS.start()..first);
    candidates.find(|port| !taken.contains(port))
}

/// Whether Services can have an address: of their range, or of one of these.
pub fn is_in_range(address: Ipv4Addr, more: &[String]) -> bool {
    let number = u32::from(address);
    let is_within = |range: &String| {
        let (network, bits) = range.split_once('/')?;
        let (network, bits) = (network.parse::<Ipv4Addr>().ok()?, bits.parse::<u32>().ok()?);
        let mask = u32::MAX.checked_shl(32_u32.checked_sub(bits)?).unwrap_or_default();
        let (first, last) = (u32::from(network) & mask, u32::from(network) | !mask);
        Some(first < number && number < last)
    };
    ADDRESSES.contains(&number) || more.iter().any(|range| is_within(range) == Some(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_address_is_not_taken_and_the_search_wraps_around() {
        let taken = BTreeSet::from([Ipv4Addr::new(10, 0, 255, 254)]);
        assert_eq!(free_address(&taken, 65_277), Some(Ipv4Addr::new(10, 0, 1, 1)));
        assert_eq!(free_address(&BTreeSet::new(), 9), Some(Ipv4Addr::new(10, 0, 1, 10)));
        let upper = (ADDRESSES.start + LEFT_ADDRESSES..ADDRESSES.end).map(Ipv4Addr::from).collect();
        assert_eq!(free_address(&upper, 7), Some(Ipv4Addr::new(10, 0, 0, 1)));
        let all = ADDRESSES.map(Ipv4Addr::from).collect();
        assert_eq!(free_address(&all, 0), None);
    }

    #[test]
    fn node_ports_come_in_order() {
        assert_eq!(free_node_port(&BTreeSet::from([30_086])), Some(30_087));
        assert_eq!(free_node_port(&(30_086..=32_767).collect()), Some(30_000));
        assert_eq!(free_node_port(&NODE_PORTS.collect()), None);
    }

    #[test]
    fn ranges_are_without_their_first_and_last_address() {
        let more = ["192.168.7.0/30".to_owned(), "fd00::/112".to_owned(), "1.2.3.4/32".to_owned()];
        let is = |address: &str| is_in_range(address.parse().unwrap(), &more);
        assert!(is("10.0.0.1") && is("10.0.255.254") && is("192.168.7.1") && is("192.168.7.2"));
        assert!(!is("10.0.0.0") && !is("10.0.255.255") && !is("10.1.0.0"));
        assert!(!is("192.168.7.0") && !is("192.168.7.3") && !is("1.2.3.4"));
    }
}
