//! Finds free cluster addresses and node ports. The caller passes those in use; there is no state.

use std::{collections::BTreeSet, net::Ipv4Addr};

/// The first and last address of services: `10.0.0.0/16` without network and broadcast address.
const ADDRESSES: std::ops::Range<u32> = 0x0a00_0001..0x0a00_ffff;
const NODE_PORTS: std::ops::RangeInclusive<u16> = 30_000..=32_767;

/// A free address of `10.0.0.0/16`. The search starts at `hint`, so that an address that was just released
/// is not the next one.
pub fn free_address(taken: &BTreeSet<Ipv4Addr>, hint: u32) -> Option<Ipv4Addr> {
    let count = ADDRESSES.end - ADDRESSES.start;
    let candidates = (0..count).map(|n| ADDRESSES.start + (hint % count + n) % count);
    candidates.map(Ipv4Addr::from).find(|address| !taken.contains(address))
}

/// The lowest `count` free node ports.
pub fn free_node_ports(taken: &BTreeSet<u16>, count: usize) -> Option<Vec<u16>> {
    let free: Vec<u16> = NODE_PORTS.filter(|port| !taken.contains(port)).take(count).collect();
    (free.len() == count).then_some(free)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_address_is_not_taken_and_the_search_wraps_around() {
        let taken = BTreeSet::from([Ipv4Addr::new(10, 0, 255, 254)]);
        assert_eq!(free_address(&taken, 65_533), Some(Ipv4Addr::new(10, 0, 0, 1)));
        assert_eq!(free_address(&BTreeSet::new(), 9), Some(Ipv4Addr::new(10, 0, 0, 10)));
        let all = ADDRESSES.map(Ipv4Addr::from).collect();
        assert_eq!(free_address(&all, 0), None);
    }

    #[test]
    fn node_ports_come_in_order() {
        assert_eq!(free_node_ports(&BTreeSet::from([30_001]), 2), Some(vec![30_000, 30_002]));
        assert_eq!(free_node_ports(&NODE_PORTS.collect(), 1), None);
    }
}
