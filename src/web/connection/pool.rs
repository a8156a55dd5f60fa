//! Which connections are open, and which one goes when there is no room for another: pure.

use std::{collections::HashMap, net::IpAddr, time::Instant};

/// How many connections there may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// Of all clients.
    pub(super) all: usize,
    /// Of one client.
    pub(super) per_peer: usize,
    /// More of them, on which only probes are answered.
    pub(super) reserve: usize,
}

/// What a connection may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::web) enum Place {
    /// For everything.
    Ordinary,
    /// For a probe, and for no longer than that takes.
    Reserved,
}

/// A connection, as far as the pool has to know it.
pub(super) trait Idle {
    /// Since when there is no request on it; `None` while there is one.
    fn idle_since(&self) -> Option<Instant>;
}

/// A connection that was let in.
#[derive(Debug)]
pub(super) struct Entered<C> {
    pub(super) number: u64,
    pub(super) place: Place,
    /// Who makes room for it, and is to be closed.
    pub(super) leaves: Option<C>,
}

/// The connections that are open.
#[derive(Debug)]
pub(super) struct Pool<C> {
    room: Room,
    open: HashMap<u64, Open<C>>,
    entered: u64,
}

#[derive(Debug)]
struct Open<C> {
    peer: IpAddr,
    place: Place,
    connection: C,
}

impl<C: Idle> Pool<C> {
    pub(super) fn new(room: Room) -> Self {
        Self { room, open: HashMap::new(), entered: 0 }
    }

    /// Lets a connection in; `None` where all places are taken by those who are busy.
    pub(super) fn enter(&mut self, peer: IpAddr, connection: C) -> Option<Entered<C>> {
        let (place, leaving) = self.place_for(peer)?;
        let leaves = leaving.and_then(|number| self.open.remove(&number));
        self.entered += 1;
        self.open.insert(self.entered, Open { peer, place, connection });
        let leaves = leaves.map(|open| open.connection);
        Some(Entered { number: self.entered, place, leaves })
    }

    pub(super) fn leave(&mut self, number: u64) {
        self.open.remove(&number);
    }

    /// The place of a new connection, and who has to leave it.
    fn place_for(&self, peer: IpAddr) -> Option<(Place, Option<u64>)> {
        let Room { all, per_peer, reserve } = self.room;
        let is_of_peer = |open: &Open<C>| open.place == Place::Ordinary && open.peer == peer;
        let is_ordinary = |open: &Open<C>| open.place == Place::Ordinary;
        let is_reserved = |open: &Open<C>| open.place == Place::Reserved;
        let ordinary = if self.count(is_of_peer) >= per_peer {
            self.longest_idle(is_of_peer).map(Some)
        } else if self.count(is_ordinary) >= all {
            self.longest_idle(is_ordinary).map(Some)
        } else {
            Some(None)
        };
        let reserved = || match self.count(is_reserved) {
            taken if taken < reserve => Some(None),
            _ => self.longest_idle(is_reserved).map(Some),
        };
        let ordinary = ordinary.map(|leaving| (Place::Ordinary, leaving));
        ordinary.or_else(|| reserved().map(|leaving| (Place::Reserved, leaving)))
    }

    fn count(&self, is_meant: impl Fn(&Open<C>) -> bool) -> usize {
        self.open.values().filter(|open| is_meant(open)).count()
    }

    fn longest_idle(&self, is_meant: impl Fn(&Open<C>) -> bool) -> Option<u64> {
        let meant = self.open.iter().filter(|(_, open)| is_meant(open));
        let idle =
            meant.filter_map(|(number, open)| Some((open.connection.idle_since()?, *number)));
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
    const ROOM: Room = Room { all: 3, per_peer: 2, reserve: 1 };

    impl Idle for For {
        fn idle_since(&self) -> Option<Instant> {
            self.0.map(|seconds| Instant::now() + Duration::from_secs(3600 - seconds))
        }
    }

    fn peer(number: u8) -> IpAddr {
        Ipv4Addr::new(192, 0, 2, number).into()
    }

    fn pool(open: &[(u8, For)]) -> Pool<For> {
        let mut pool = Pool::new(ROOM);
        for &(number, connection) in open {
            pool.enter(peer(number), connection).unwrap();
        }
        pool
    }

    /// The place of one more, and who leaves.
    fn one_more(open: &[(u8, For)], number: u8) -> Option<(Place, Option<For>)> {
        let entered = pool(open).enter(peer(number), BUSY)?;
        Some((entered.place, entered.leaves))
    }

    #[test]
    fn who_is_idle_for_longest_makes_room_and_who_is_busy_never_does() {
        let idle = |seconds| For(Some(seconds));
        let taken = [(1, idle(1)), (2, idle(9)), (3, BUSY)];
        assert_eq!(one_more(&taken[..2], 4), Some((Place::Ordinary, None)), "there is room");
        assert_eq!(one_more(&taken, 4), Some((Place::Ordinary, Some(idle(9)))));
        let busy = [(1, BUSY), (2, BUSY), (3, BUSY)];
        assert_eq!(one_more(&busy, 4), Some((Place::Reserved, None)));
    }

    #[test]
    fn one_peer_takes_no_more_than_its_share_and_then_its_own_connections_go() {
        let idle = |seconds| For(Some(seconds));
        let taken = [(1, idle(1)), (1, idle(2)), (2, idle(9))];
        assert_eq!(one_more(&taken, 1), Some((Place::Ordinary, Some(idle(2)))));
        let busy = [(1, BUSY), (1, BUSY)];
        assert_eq!(one_more(&busy, 1), Some((Place::Reserved, None)));
        assert_eq!(one_more(&busy, 2), Some((Place::Ordinary, None)), "others have room");
    }

    #[test]
    fn the_reserve_is_bounded_too_and_who_is_idle_there_goes_first() {
        let mut pool = pool(&[(1, BUSY), (2, BUSY), (3, BUSY)]);
        let first = pool.enter(peer(4), For(Some(5))).unwrap();
        assert_eq!((first.place, first.leaves), (Place::Reserved, None));
        let second = pool.enter(peer(5), BUSY).unwrap();
        assert_eq!((second.place, second.leaves), (Place::Reserved, Some(For(Some(5)))));
        assert!(pool.enter(peer(6), BUSY).is_none(), "all are busy");
        pool.leave(second.number);
        assert!(pool.enter(peer(6), BUSY).is_some());
    }

    #[test]
    fn who_has_left_leaves_its_place() {
        let mut pool = pool(&[(1, BUSY), (2, BUSY)]);
        let last = pool.enter(peer(3), BUSY).unwrap();
        pool.leave(last.number);
        assert_eq!(pool.enter(peer(4), BUSY).unwrap().place, Place::Ordinary);
    }
}
