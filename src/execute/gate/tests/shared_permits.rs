//! Several operators that share permits.

use std::{pin::pin, sync::mpsc::channel};

use super::*;
use crate::execute::gate::permits::SHORT_RECONCILE;

/// Gates of operators with this limit each, in one process.
fn process(operators: usize, limit: usize) -> Vec<World> {
    let shared = SharedPermits::for_limits([limit]);
    let one = |_| {
        let mut world = world(limit);
        let queue = world.metrics.queue(&OperatorName::new("op").unwrap());
        world.gate = Gate::new(limit, shared.clone(), queue);
        world
    };
    (0..operators).map(one).collect()
}

fn fill(world: &World, count: usize) -> Vec<Permit> {
    (0..count).map(|_| world.now()).collect()
}

#[test]
fn an_operator_can_use_all_shared_permits_and_the_others_keep_their_own() {
    let [a, b] = &process(2, 5)[..] else { panic!() };
    let _all = fill(a, 5);
    for _ in 0..3 {
        let _own = b.now();
        let _ticket = b.later(Priority::Change, "b");
        assert_eq!(b.next(), None);
    }
}

#[test]
fn a_free_permit_goes_to_the_gate_that_queued_first_and_not_back_to_the_releaser() {
    let [a, b] = &process(2, 6)[..] else { panic!() };
    let (mut of_a, _of_b) = (fill(a, 4), fill(b, 2));
    let _waiting = [b.later(Priority::Background, "b1"), b.later(Priority::Background, "b2")];
    let _waiting_too = [a.later(Priority::Deletion, "a1"), a.later(Priority::Deletion, "a2")];
    of_a.pop();
    let b1 = b.admitted.try_recv().unwrap();
    assert_eq!((b1.0, a.next(), b.next()), ("b1", None, None));
    of_a.pop();
    let a1 = a.admitted.try_recv().unwrap();
    assert_eq!((a1.0, a.next(), b.next()), ("a1", None, None), "each in its turn");
    drop(b1);
    assert_eq!([b.next(), a.next()], [Some("b2"), Some("a2")]);
}

#[test]
fn no_permit_is_free_while_own_permits_exceed_the_limit() {
    let [a, b, c] = &process(3, 4)[..] else { panic!() };
    let (mut of_a, _of_b, of_c) = (fill(a, 4), b.now(), c.now());
    let _waiting = b.later(Priority::Change, "b");
    of_a.pop();
    drop(of_c);
    assert_eq!(b.next(), None);
    of_a.pop();
    assert_eq!(b.next(), Some("b"));
}

#[test]
fn a_free_permit_skips_gates_that_need_none_any_more() {
    let [a, dropped, closed, gone, last] = &mut process(5, 9)[..] else { panic!() };
    let mut of_a = fill(a, 3);
    let own: Vec<Permit> =
        [&*dropped, &*closed, &*last].iter().flat_map(|world| fill(world, 2)).collect();
    drop(dropped.later(Priority::Change, "dropped"));
    let _tickets = [closed.later(Priority::Change, "closed"), {
        let _gone = gone.now();
        let ticket = gone.later(Priority::Change, "gone");
        drop(ticket);
        *gone = world(9);
        last.later(Priority::Change, "last")
    }];
    closed.gate.close();
    of_a.pop();
    assert_eq!([dropped.next(), closed.next(), last.next()], [None, None, Some("last")]);
    assert_eq!(format!("{:?}", a.gate.shared_permits()), "SharedPermits(8 of 9 taken, 0 queued)");
    drop(own);
}

/// A reconcile with this permit that never ends.
fn hang(permit: Permit) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move { permit.during(pin!(std::future::pending())).await })
}

/// Advances the time beyond a short reconcile.
async fn when_reconciles_are_long() {
    tokio::task::yield_now().await;
    tokio::time::advance(SHORT_RECONCILE + Duration::from_millis(1)).await;
    tokio::task::yield_now().await;
}

#[tokio::test(start_paused = true)]
async fn an_operator_whose_reconciles_hang_releases_its_shared_permits() {
    let [hangs, other] = &process(2, 3)[..] else { panic!() };
    let hanging: Vec<_> = fill(hangs, 3).into_iter().map(hang).collect();
    let _own = other.now();
    let _tickets = ["b", "c", "d"].map(|name| other.later(Priority::Change, name));
    assert!(other.admitted.try_recv().is_err());
    when_reconciles_are_long().await;
    let admitted: Vec<_> = other.admitted.try_iter().collect();
    assert_eq!(admitted.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["b", "c"]);
    assert_eq!(
        format!("{:?}", other.gate.shared_permits()),
        "SharedPermits(3 of 3 taken, 0 queued)"
    );
    let _no_more_of_its_own = hangs.later(Priority::Deletion, "e");
    for task in hanging {
        task.abort();
        let _ = task.await;
    }
    assert_eq!(hangs.next(), Some("e"), "its own permit is free again");
    assert_eq!(format!("{:?}", hangs.gate), "Gate(0 of 3 in flight)");
    drop(admitted);
    assert_eq!(other.next(), Some("d"));
    assert_eq!(
        format!("{:?}", other.gate.shared_permits()),
        "SharedPermits(1 of 3 taken, 0 queued)"
    );
}

#[tokio::test(start_paused = true)]
async fn an_operator_has_its_own_permit_beside_a_reconcile_that_hangs() {
    let [hangs, other] = &process(2, 2)[..] else { panic!() };
    let _hanging = hang(hangs.now());
    let _other = other.now();
    let _ticket = hangs.later(Priority::Change, "b");
    assert!(hangs.admitted.try_recv().is_err());
    when_reconciles_are_long().await;
    assert_eq!(hangs.next(), Some("b"));
}

#[tokio::test(start_paused = true)]
async fn a_short_reconcile_releases_its_permit_at_its_end() {
    let world = world(1);
    let permit = world.now();
    let _ticket = world.later(Priority::Change, "next");
    permit.during(pin!(tokio::time::sleep(SHORT_RECONCILE / 2))).await;
    assert_eq!(world.next(), Some("next"));
    assert_eq!(
        format!("{:?}", world.gate.shared_permits()),
        "SharedPermits(0 of 1 taken, 0 queued)"
    );
}

/// No order of requests and releases leaves a permit free while a gate waits for one.
#[test]
fn a_permit_is_never_free_while_a_gate_waits_for_one() {
    let worlds = process(3, 6);
    let (mut permits, mut tickets) = (Vec::new(), Vec::new());
    let mut random = 1_u64;
    let mut below = |limit: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(random >> 33).unwrap() % limit.max(1)
    };
    for _ in 0..20_000 {
        let (at, world) = {
            let at = below(3);
            (at, &worlds[at])
        };
        match below(6) {
            0 | 1 => {
                let sender = world.sender.clone();
                let waiter = move |permit| sender.send(("", permit)).unwrap();
                match world.gate.enter(Priority::Change, waiter) {
                    Entry::Now(permit) => permits.push((at, permit)),
                    Entry::Later(ticket) => tickets.push(ticket),
                }
            }
            2 | 3 if !permits.is_empty() => drop(permits.swap_remove(below(permits.len()))),
            4 if !permits.is_empty() => {
                let at = below(permits.len());
                permits[at].1.release_shared();
            }
            5 if !tickets.is_empty() => drop(tickets.swap_remove(below(tickets.len()))),
            _ => {}
        }
        for (at, world) in worlds.iter().enumerate() {
            permits.extend(world.admitted.try_iter().map(|(_, permit)| (at, permit)));
        }
        let permits_of =
            |at: usize| permits.iter().filter(|it| it.0 == at && it.1.is_shared).count();
        let taken: usize = (0..3).map(permits_of).sum();
        assert!(taken <= 6 + 2, "more permits than there are");
        for (at, world) in worlds.iter().enumerate() {
            let look = world.gate.look();
            let waits = look.waiting.values().sum::<usize>() > 0 && look.running < look.limit;
            assert!(!waits || (permits_of(at) > 0 && taken >= 6), "{:?}", world.gate);
        }
    }
}

/// Finds a permit that is released between the check and the queueing.
#[test]
fn no_waiter_is_lost_under_concurrency() {
    const RECONCILES: usize = 5_000;
    let gates: Vec<Gate> = process(4, 3).iter().map(|world| world.gate.clone()).collect();
    let (sender, ended) = channel();
    let enter = |gate: &Gate| {
        let (now, later) = (sender.clone(), sender.clone());
        match gate.enter(Priority::Change, move |_permit| later.send(()).unwrap()) {
            Entry::Now(_permit) => now.send(()).map(|()| None).unwrap(),
            Entry::Later(ticket) => Some(ticket),
        }
    };
    let of_one = |gate: &Gate| (0..RECONCILES).filter_map(|_| enter(gate)).collect::<Vec<Ticket>>();
    let _tickets: Vec<_> = std::thread::scope(|scope| {
        let of_one = &of_one;
        let threads: Vec<_> = gates.iter().map(|gate| scope.spawn(move || of_one(gate))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(ended.try_iter().count(), gates.len() * RECONCILES);
}
