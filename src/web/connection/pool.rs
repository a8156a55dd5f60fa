//! The open connections, and which one is closed when the limit is reached: pure.

use std::{collections::HashMap, net::IpAddr, time::Instant};

use crate::web::request_rules::Limits;

/// What a connection may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::web) enum SlotKind {
    /// For everything.
    Ordinary,
    /// For one probe.
    Reserved,
}

pub(super) trait Idle {
    /// Since when there is no request on it; `None` while there is one.
    fn idle_since(&self) -> Option<Instant>;
}

#[derive(Debug)]
pub(super) struct Entered<C> {
    pub(super) number: u64,
    pub(super) slot: SlotKind,
    /// The connection that it replaces, to be closed.
    pub(super) replaces: Option<C>,
}

#[derive(Debug)]
pub(super) struct Pool<C> {
    limits: Limits,
    open: HashMap<u64, Open<C>>,
    entered: u64,
}

#[derive(Debug)]
struct Open<C> {
    peer: IpAddr,
    slot: SlotKind,
    connection: C,
}

impl<C: Idle> Pool<C> {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, open: HashMap::new(), entered: 0 }
    }

    /// Adds a connection; `None` if all slots belong to busy ones.
    pub(super) fn enter(&mut self, peer: IpAddr, connection: C) -> Option<Entered<C>> {
        let (slot, replaced) = self.slot_for(peer)?;
        let removed = replaced.and_then(|number| self.open.remove(&number));
        self.entered += 1;
        self.open.insert(self.entered, Open { peer, slot, connection });
        Some(Entered { number: self.entered, slot, replaces: removed.map(|open| open.connection) })
    }

    pub(super) fn leave(&mut self, number: u64) {
        self.open.remove(&number);
    }

    /// The slot of a new connection, and the one that it replaces.
    fn slot_for(&self, peer: IpAddr) -> Option<(SlotKind, Option<u64>)> {
        let Limits { connections, per_peer, reserve, .. } = self.limits;
        let is_of_peer = |open: &Open<C>| open.slot == SlotKind::Ordinary && open.peer == peer;
        let is_ordinary = |open: &Open<C>| open.slot == SlotKind::Ordinary;
        let is_reserved = |open: &Open<C>| open.slot == SlotKind::Reserved;
        let ordinary = if self.count(is_of_peer) >= per_peer {
            self.longest_idle(is_of_peer).map(Some)
        } else if self.count(is_ordinary) >= connections {
            self.longest_idle(is_ordinary).map(Some)
        } else {
            Some(None)
        };
        let reserved = || match self.count(is_reserved) {
            taken if taken < reserve => Some(None),
            _ => self.longest_idle(is_reserved).map(Some),
        };
        let ordinary = ordinary.map(|replaced| (SlotKind::Ordinary, replaced));
        ordinary.or_else(|| reserved().map(|replaced| (SlotKind::Reserved, replaced)))
    }

    fn count(&self, matches: impl Fn(&Open<C>) -> bool) -> usize {
        self.open.values().filter(|open| matches(open)).count()
    }

    fn longest_idle(&self, matches: impl Fn(&Open<C>) -> bool) -> Option<u64> {
        let open = self.open.iter().filter(|(_, open)| matches(open));
        let idle = open.filter_map(|(number, open)| Some((open.connection.idle_since()?, *number)));
        idle.min().map(|(_, number)| number)
    }
}

#[cfg(test)]
mod tests {
    use std::{net::Ipv4Addr, time::Duration};

    use super::*;

    /// A connection that has been idle for so many seconds, or is busy.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct For(Option<u64>);

    const BUSY: For = For(None);

    impl Idle for For {
        fn idle_since(&self) -> Option<Instant> {
            self.0.map(|seconds| Instant::now() + Duration::from_secs(3600 - seconds))
        }
    }

    fn peer(number: u8) -> IpAddr {
        Ipv4Addr::new(192, 0, 2, number).into()
    }

    fn pool(open: &[(u8, For)]) -> Pool<For> {
        let mut pool =
            Pool::new(Limits { connections: 3, per_peer: 2, reserve: 1, ..Limits::default() });
        for &(number, connection) in open {
            pool.enter(peer(number), connection).unwrap();
        }
        pool
    }

    /// The slot of one more connection, and the one that it replaces.
    fn one_more(open: &[(u8, For)], number: u8) -> Option<(SlotKind, Option<For>)> {
        let entered = pool(open).enter(peer(number), BUSY)?;
        Some((entered.slot, entered.replaces))
    }

    #[test]
    fn a_new_connection_replaces_the_longest_idle_one_and_never_a_busy_one() {
        let idle = |seconds| For(Some(seconds));
        let taken = [(1, idle(1)), (2, idle(9)), (3, BUSY)];
        assert_eq!(one_more(&taken[..2], 4), Some((SlotKind::Ordinary, None)), "there is room");
        assert_eq!(one_more(&taken, 4), Some((SlotKind::Ordinary, Some(idle(9)))));
        let busy = [(1, BUSY), (2, BUSY), (3, BUSY)];
        assert_eq!(one_more(&busy, 4), Some((SlotKind::Reserved, None)));
    }

    #[test]
    fn a_peer_beyond_its_limit_replaces_its_own_connections() {
        let idle = |seconds| For(Some(seconds));
        let taken = [(1, idle(1)), (1, idle(2)), (2, idle(9))];
        assert_eq!(one_more(&taken, 1), Some((SlotKind::Ordinary, Some(idle(2)))));
        let busy = [(1, BUSY), (1, BUSY)];
        assert_eq!(one_more(&busy, 1), Some((SlotKind::Reserved, None)));
        assert_eq!(
            one_more(&busy, 2),
            Some((SlotKind::Ordinary, None)),
            "others are below their limit"
        );
    }

    #[test]
    fn the_reserve_is_limited_and_its_idle_connections_are_replaced() {
        let mut pool = pool(&[(1, BUSY), (2, BUSY), (3, BUSY)]);
        let first = pool.enter(peer(4), For(Some(5))).unwrap();
        assert_eq!((first.slot, first.replaces), (SlotKind::Reserved, None));
        let second = pool.enter(peer(5), BUSY).unwrap();
        assert_eq!((second.slot, second.replaces), (SlotKind::Reserved, Some(For(Some(5)))));
        assert!(pool.enter(peer(6), BUSY).is_none(), "all are busy");
        pool.leave(second.number);
        assert!(pool.enter(peer(6), BUSY).is_some());
    }

    #[test]
    fn a_closed_connection_frees_its_slot() {
        let mut pool = pool(&[(1, BUSY), (2, BUSY)]);
        let last = pool.enter(peer(3), BUSY).unwrap();
        pool.leave(last.number);
        assert_eq!(pool.enter(peer(4), BUSY).unwrap().slot, SlotKind::Ordinary);
    }
}
