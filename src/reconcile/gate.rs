//! How many runs of one operator are in flight, and who is next: the [`Queue`] behind a lock.
//!
//! Waiting costs a queue entry, no task: a run is started when its place is free. The lock is never
//! held while a waiter is called.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::Notify;

use crate::{
    board::QueueState,
    metrics::QueueMetrics,
    schedule::{Place, Priority, Queue},
};

/// The places of one operator. Cheap to clone.
#[derive(Clone)]
pub struct Gate(Arc<Shared>);

/// The right to run, until it is dropped.
#[must_use]
pub struct Permit {
    gate: Gate,
}

/// A wait for a [`Permit`]; dropping it ends the wait.
#[must_use]
pub struct Ticket {
    gate: Gate,
    place: Place,
}

/// What somebody gets who wants to run.
#[derive(Debug)]
#[must_use]
pub enum Entry {
    /// A place is free.
    Now(Permit),
    /// The waiter is called when one is.
    Later(Ticket),
}

/// What is called with the permit, on whatever thread the place was given up: it must not block.
pub type Waiter = Box<dyn FnOnce(Permit) + Send>;

struct Shared {
    state: Mutex<State>,
    idle: Notify,
    metrics: QueueMetrics,
}

struct State {
    queue: Queue<Waiting>,
    places: usize,
    in_flight: usize,
    is_closed: bool,
}

struct Waiting {
    since: Instant,
    waiter: Waiter,
}

impl Gate {
    /// A gate that lets so many in at once.
    pub fn new(places: usize, metrics: QueueMetrics) -> Self {
        let state = State { queue: Queue::new(), places, in_flight: 0, is_closed: false };
        Self(Arc::new(Shared { state: Mutex::new(state), idle: Notify::new(), metrics }))
    }

    /// Asks for a place. `waiter` is called only if there is none now.
    pub fn enter(&self, priority: Priority, waiter: impl FnOnce(Permit) + Send + 'static) -> Entry {
        let mut state = self.state();
        if state.has_room() {
            state.in_flight += 1;
            drop(state);
            self.0.metrics.waited(priority, Duration::ZERO);
            return Entry::Now(Permit { gate: self.clone() });
        }
        let waiting = Waiting { since: Instant::now(), waiter: Box::new(waiter) };
        let place = state.queue.push(priority, waiting);
        self.show_depth(&state);
        Entry::Later(Ticket { gate: self.clone(), place })
    }

    /// Lets nobody in any more. Who waits goes on waiting.
    pub fn close(&self) {
        self.state().is_closed = true;
    }

    /// Whether nobody is let in any more.
    pub fn is_closed(&self) -> bool {
        self.state().is_closed
    }

    /// Returns when nothing is in flight.
    pub async fn idle(&self) {
        loop {
            let notified = self.0.idle.notified();
            if self.state().in_flight == 0 {
                return;
            }
            notified.await;
        }
    }

    /// Who runs and who waits at this moment.
    pub fn look(&self) -> QueueState {
        let state = self.state();
        let waiting = |priority| (priority, state.queue.waiting(priority));
        let oldest = Priority::ALL.into_iter().filter_map(|priority| state.queue.oldest(priority));
        QueueState {
            running: state.in_flight,
            limit: state.places,
            waiting: Priority::ALL.into_iter().map(waiting).collect(),
            longest_wait: oldest.map(|waiting| waiting.since.elapsed()).max(),
        }
    }

    fn leave(&self) {
        let next = {
            let mut state = self.state();
            state.in_flight -= 1;
            let next = if state.has_room() { state.queue.pop() } else { None };
            state.in_flight += usize::from(next.is_some());
            if state.in_flight == 0 {
                self.0.idle.notify_waiters();
            }
            self.show_depth(&state);
            next
        };
        if let Some((priority, Waiting { since, waiter })) = next {
            self.0.metrics.waited(priority, since.elapsed());
            waiter(Permit { gate: self.clone() });
        }
    }

    fn show_depth(&self, state: &State) {
        for priority in Priority::ALL {
            self.0.metrics.depth(priority, state.queue.waiting(priority));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn has_room(&self) -> bool {
        !self.is_closed && self.in_flight < self.places
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.gate.leave();
    }
}

impl Ticket {
    /// Goes on waiting, more urgently; does nothing for one that is as urgent already.
    pub fn raise(&mut self, to: Priority) {
        let mut state = self.gate.state();
        self.place = state.queue.raise(self.place, to);
        self.gate.show_depth(&state);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = self.gate.state();
        let waiting = state.queue.remove(self.place);
        self.gate.show_depth(&state);
        drop(state);
        // It may hold the last handle on an actor.
        drop(waiting);
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        write!(f, "Gate({} of {} in flight)", state.in_flight, state.places)
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Permit of {:?}", self.gate)
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ticket({:?})", self.place)
    }
}

#[cfg(test)]
mod tests {
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
        World { gate: Gate::new(places, queue), metrics, admitted, tell }
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
        assert_eq!(
            [world.next(), world.next(), world.next()],
            [Some("raised"), Some("other"), None]
        );
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
        assert!(
            before.is_some() && look.longest_wait >= before,
            "who is raised has waited as long"
        );
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
}
