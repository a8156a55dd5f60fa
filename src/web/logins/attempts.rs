//! Limits failed logins per address: pure, a decision of the address and `now`. This protects the
//! API server, which reviews each token.

use std::{
    collections::HashMap,
    net::IpAddr,
    time::{Duration, Instant},
};

use crate::web::{peer::client, session_limits::FAILURES};

/// Failed attempts by address, or by network for IPv6.
#[derive(Debug, Default)]
pub(super) struct Attempts(HashMap<IpAddr, (u32, Instant)>);

/// [`FAILURES`] attempts may fail within it. It starts with the first failure.
const WINDOW: Duration = Duration::from_mins(1);
/// The limit of remembered addresses.
const KEPT: usize = 1024;

impl Attempts {
    pub(super) fn may_try(&self, from: IpAddr, now: Instant) -> bool {
        self.0.get(&client(from)).is_none_or(|entry| entry.0 < FAILURES || is_over(entry, now))
    }

    pub(super) fn note_failure(&mut self, from: IpAddr, now: Instant) {
        let from = client(from);
        if self.0.len() >= KEPT {
            self.0.retain(|_, entry| !is_over(entry, now));
        }
        let is_known = self.0.contains_key(&from);
        if self.0.len() < KEPT || is_known {
            let entry = self.0.entry(from).or_insert((0, now));
            if is_over(entry, now) {
                *entry = (0, now);
            }
            entry.0 += 1;
        }
    }
}

fn is_over((_, since): &(u32, Instant), now: Instant) -> bool {
    now.saturating_duration_since(*since) >= WINDOW
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn address(number: u32) -> IpAddr {
        Ipv4Addr::from_bits(number).into()
    }

    #[test]
    fn too_many_failures_block_one_address_for_a_while() {
        let (mut attempts, now) = (Attempts::default(), Instant::now());
        for _ in 0..FAILURES {
            assert!(attempts.may_try(address(1), now));
            attempts.note_failure(address(1), now);
        }
        assert!(!attempts.may_try(address(1), now));
        assert!(attempts.may_try(address(2), now));
        assert!(attempts.may_try(address(1), now + WINDOW));
        attempts.note_failure(address(1), now + WINDOW);
        assert!(attempts.may_try(address(1), now + WINDOW));
    }

    #[test]
    fn addresses_of_one_ipv6_network_count_together() {
        let (mut attempts, now) = (Attempts::default(), Instant::now());
        for number in 0..FAILURES {
            let from = format!("2001:db8::{number:x}").parse().unwrap();
            attempts.note_failure(from, now);
        }
        let may_try = |from: &str| attempts.may_try(from.parse().unwrap(), now);
        assert!(!may_try("2001:db8::ffff:1") && may_try("2001:db8:0:1::1"));
        assert!(may_try("::1") && may_try("::ffff:192.0.2.1"));
    }

    #[test]
    fn the_number_of_remembered_addresses_is_limited() {
        let (mut attempts, now) = (Attempts::default(), Instant::now());
        for number in 0..5000 {
            attempts.note_failure(address(number), now);
        }
        assert_eq!(attempts.0.len(), KEPT);
        attempts.note_failure(address(9999), now + WINDOW);
        assert_eq!(attempts.0.len(), 1);
    }
}
