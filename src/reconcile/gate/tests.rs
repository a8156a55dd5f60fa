use std::sync::mpsc::{Receiver, Sender, channel};

use futures::FutureExt;

use super::*;
use crate::{metrics::Metrics, operator::OperatorName};

struct World {
    gate: Gate,
    metrics: Metrics,
    admitted: Receiver<(&'static str, Permit)>,
    tell: Sender<(&'static str, Permit)>,
}

fn world(places: usize) -> World {
    let metrics = Metrics::new();
    let queue = metrics.queue(&OperatorName::new("op").unwrap());
    let (tell, admitted) = channel();
    let gate = Gate::new(places, CommonPlaces::for_limits([places]), queue);
    World { gate, metrics, admitted, tell }
}

impl World {
    fn now(&self) -> Permit {
        match self.gate.enter(Priority::Change, |_| {}) {
            Entry::Now(permit) => permit,
            Entry::Later(_) => panic!("no place"),
        }
    }

    fn later(&self, priority: Priority, name: &'static str) -> Ticket {
        let tell = self.tell.clone();
        match self.gate.enter(priority, move |permit| tell.send((name, permit)).unwrap()) {
            Entry::Now(_) => panic!("a place was free"),
            Entry::Later(ticket) => ticket,
        }
    }

    /// Who was let in, and lets the next one in by it.
    fn next(&self) -> Option<&'static str> {
        self.admitted.try_recv().ok().map(|(name, _permit)| name)
    }

    fn shows(&self, line: &str) {
        let text = self.metrics.render();
        assert!(text.contains(line), "no {line} in\n{text}");
    }
}

#[test]
fn so_many_are_let_in_and_who_leaves_lets_in_the_most_urgent() {
    let world = world(2);
    let (first, _second) = (world.now(), world.now());
    let _tickets = [world.later(Priority::Background, "b"), world.later(Priority::Change, "a")];
    assert!(world.next().is_none());
    drop(first);
    assert_eq!([world.next(), world.next(), world.next()], [Some("a"), Some("b"), None]);
    assert_eq!(format!("{:?}", world.gate), "Gate(1 of 2 in flight)");
}

#[test]
fn who_is_raised_overtakes_and_who_gives_up_is_not_called() {
    let world = world(1);
    let first = world.now();
    let mut raised = world.later(Priority::Background, "raised");
    let _other = world.later(Priority::FollowUp, "other");
    let given_up = world.later(Priority::Deletion, "given up");
    raised.raise(Priority::Change);
    drop(given_up);
    drop(first);
    assert_eq!([world.next(), world.next(), world.next()], [Some("raised"), Some("other"), None]);
}

#[test]
fn a_permit_that_nobody_takes_goes_to_the_next() {
    let world = world(1);
    let first = world.now();
    let Entry::Later(_dead) = world.gate.enter(Priority::Deletion, drop) else { panic!() };
    let _ticket = world.later(Priority::Background, "alive");
    drop(first);
    assert_eq!(world.next(), Some("alive"));
}

#[test]
fn a_closed_gate_lets_nobody_in_and_is_idle_when_the_last_one_left() {
    let world = world(1);
    let first = world.now();
    let _waiting = world.later(Priority::Deletion, "waiting");
    world.gate.close();
    assert!(world.gate.idle().now_or_never().is_none(), "one is in flight");
    drop(first);
    assert!(world.next().is_none());
    assert!(world.gate.idle().now_or_never().is_some(), "who waits does not count");
    let _late = world.later(Priority::Deletion, "late");
    assert!(world.next().is_none());
}

#[test]
fn who_runs_and_who_waits_can_be_looked_at() {
    let world = world(1);
    let idle = world.gate.look();
    assert_eq!((idle.running, idle.limit, idle.longest_wait), (0, 1, None));
    let _first = world.now();
    let mut ticket = world.later(Priority::Background, "a");
    let _other = world.later(Priority::Change, "b");
    let before = world.gate.look().longest_wait;
    ticket.raise(Priority::Deletion);
    let look = world.gate.look();
    let waiting: Vec<usize> = look.waiting.into_values().collect();
    assert_eq!((look.running, waiting), (1, vec![1, 1, 0, 0]));
    assert!(before.is_some() && look.longest_wait >= before, "who is raised has waited as long");
}

#[tokio::test]
async fn who_waits_for_the_end_is_woken_by_it() {
    let world = world(1);
    let first = world.now();
    let gate = world.gate.clone();
    let idle = tokio::spawn(async move { gate.idle().await });
    tokio::task::yield_now().await;
    drop(first);
    tokio::time::timeout(Duration::from_secs(10), idle).await.unwrap().unwrap();
}

#[test]
fn deletions_and_changes_are_urgent() {
    for priority in Priority::ALL {
        let world = world(1);
        let _first = world.now();
        assert!(!world.gate.is_urgent());
        let ticket = world.later(priority, "a");
        assert_eq!(world.gate.is_urgent(), priority <= Priority::Change, "{priority:?}");
        drop(ticket);
        assert!(!world.gate.is_urgent());
    }
}

#[test]
fn depth_and_wait_are_counted_by_priority() {
    let world = world(1);
    let first = world.now();
    let mut ticket = world.later(Priority::Background, "a");
    world.shows(r#"operetta_queue_depth{operator="op",priority="background"} 1"#);
    ticket.raise(Priority::Deletion);
    world.shows(r#"operetta_queue_depth{operator="op",priority="background"} 0"#);
    world.shows(r#"operetta_queue_depth{operator="op",priority="deletion"} 1"#);
    drop(first);
    world.shows(r#"operetta_queue_depth{operator="op",priority="deletion"} 0"#);
    world.shows(r#"operetta_queue_wait_seconds_count{operator="op",priority="deletion"} 1"#);
    world.shows(r#"operetta_queue_wait_seconds_count{operator="op",priority="change"} 1"#);
    assert_eq!(world.next(), Some("a"));
}

/// Gates of operators with this limit each, in one process.
fn process(operators: usize, limit: usize) -> Vec<World> {
    let common = CommonPlaces::for_limits([limit]);
    let one = |_| {
        let mut world = world(limit);
        let queue = world.metrics.queue(&OperatorName::new("op").unwrap());
        world.gate = Gate::new(limit, common.clone(), queue);
        world
    };
    (0..operators).map(one).collect()
}

fn fill(world: &World, places: usize) -> Vec<Permit> {
    (0..places).map(|_| world.now()).collect()
}

#[test]
fn an_operator_alone_has_all_its_places_and_one_that_takes_all_leaves_the_others_their_own() {
    let [a, b] = &process(2, 5)[..] else { panic!() };
    let _all = fill(a, 5);
    for _ in 0..3 {
        let _own = fill(b, OWN_PLACES);
        let _ticket = b.later(Priority::Change, "b");
        assert_eq!(b.next(), None);
    }
}

#[test]
fn a_free_place_goes_to_who_asked_first_and_not_back_to_who_gave_it_up() {
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
fn no_place_is_free_while_operators_on_their_own_take_more_than_there_are() {
    let [a, b, c] = &process(3, 4)[..] else { panic!() };
    let (mut of_a, _of_b, mut of_c) = (fill(a, 4), fill(b, 2), fill(c, 2));
    let _waiting = b.later(Priority::Change, "b");
    for _ in 0..2 {
        of_a.pop();
        of_c.pop();
        assert_eq!(b.next(), None);
    }
    of_a.pop();
    assert_eq!(b.next(), Some("b"));
}

#[test]
fn a_free_place_passes_those_who_have_no_use_for_it_any_more() {
    let [a, gives_up, closed, gone, last] = &mut process(5, 9)[..] else { panic!() };
    let mut of_a = fill(a, 3);
    let own: Vec<Permit> =
        [&*gives_up, &*closed, &*last].iter().flat_map(|world| fill(world, 2)).collect();
    drop(gives_up.later(Priority::Change, "gave up"));
    let _tickets = [closed.later(Priority::Change, "closed"), {
        let _gone = fill(gone, 2);
        let ticket = gone.later(Priority::Change, "gone");
        drop(ticket);
        *gone = world(9);
        last.later(Priority::Change, "last")
    }];
    closed.gate.close();
    of_a.pop();
    assert_eq!([gives_up.next(), closed.next(), last.next()], [None, None, Some("last")]);
    assert_eq!(format!("{:?}", a.gate.0.common), "CommonPlaces(8 of 9 taken, 0 in line)");
    drop(own);
}

/// No order of coming and going leaves a place free while somebody waits who could have it.
#[test]
fn a_place_is_never_free_while_somebody_waits_for_it() {
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
        match below(5) {
            0 | 1 => {
                let tell = world.tell.clone();
                let waiter = move |permit| tell.send(("", permit)).unwrap();
                match world.gate.enter(Priority::Change, waiter) {
                    Entry::Now(permit) => permits.push((at, permit)),
                    Entry::Later(ticket) => tickets.push(ticket),
                }
            }
            2 | 3 if !permits.is_empty() => drop(permits.swap_remove(below(permits.len()))),
            4 if !tickets.is_empty() => drop(tickets.swap_remove(below(tickets.len()))),
            _ => {}
        }
        for (at, world) in worlds.iter().enumerate() {
            permits.extend(world.admitted.try_iter().map(|(_, permit)| (at, permit)));
        }
        assert!(permits.len() <= 3 * OWN_PLACES + 4, "more than there are places");
        let has_free = permits.len() < 6;
        for world in &worlds {
            let look = world.gate.look();
            let waits = look.waiting.values().sum::<usize>() > 0 && look.running < look.limit;
            assert!(!waits || (look.running >= OWN_PLACES && !has_free), "{:?}", world.gate);
        }
    }
}

/// What is looked for is a place that is given up between a look and the way into the line.
#[test]
fn nobody_is_forgotten_when_many_come_and_go_at_once() {
    const RUNS: usize = 5_000;
    let gates: Vec<Gate> = process(4, 3).iter().map(|world| world.gate.clone()).collect();
    let (tell, ended) = channel();
    let run = |gate: &Gate| {
        let (now, later) = (tell.clone(), tell.clone());
        match gate.enter(Priority::Change, move |_permit| later.send(()).unwrap()) {
            Entry::Now(_permit) => now.send(()).map(|()| None).unwrap(),
            Entry::Later(ticket) => Some(ticket),
        }
    };
    let of_one = |gate: &Gate| (0..RUNS).filter_map(|_| run(gate)).collect::<Vec<Ticket>>();
    let _tickets: Vec<_> = std::thread::scope(|scope| {
        let of_one = &of_one;
        let threads: Vec<_> = gates.iter().map(|gate| scope.spawn(move || of_one(gate))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(ended.try_iter().count(), gates.len() * RUNS);
}
