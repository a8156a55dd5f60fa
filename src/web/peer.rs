//! Groups addresses by client: pure.

use std::net::{IpAddr, Ipv6Addr};

/// The address, or the /64 network for IPv6: a client has all addresses of its network and could use
/// another one each time.
pub(super) fn client(from: IpAddr) -> IpAddr {
    match from.to_canonical() {
        IpAddr::V6(address) => {
            Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into()
        }
        IpAddr::V4(address) => address.into(),
    }
}
