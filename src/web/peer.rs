//! Which addresses are one client: pure.

use std::net::{IpAddr, Ipv6Addr};

/// The address, or the network where one client has a whole network of them: whoever has an IPv6
/// address has the 2^64 of its network, and could come from another one each time.
pub(super) fn client(from: IpAddr) -> IpAddr {
    match from.to_canonical() {
        IpAddr::V6(address) => {
            Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into()
        }
        IpAddr::V4(address) => address.into(),
    }
}
