//! Random inputs in random order, checked against the promises of the table.

use std::collections::VecDeque;

use super::{
    super::{
        continuation::WRITING_RECONCILES_AT_ONCE,
        rng::{SeededRng, with_seeds},
    },
    *,
};

const TOUCHES: [Trigger; 8] = [
    Trigger::Listed,
    Trigger::ChildOrStatus,
    Trigger::ChildGone,
    Trigger::Awaited,
    Trigger::Related,
    Trigger::Parent,
    Trigger::Asked,
    Trigger::Deletion,
];

/// The actions for one parent, and the expected state.
struct World {
    schedule: Schedule,
    policy: Policy,
    now: Instant,
    timer: Option<Wake>,
    /// The requested permit.
    ticket: Option<Priority>,
    is_running: bool,
    is_retired: bool,
    is_stopped: bool,
    /// The triggers since the last reconcile began, and when.
    unseen: Vec<(Trigger, Instant)>,
    /// The result of the last reconcile, and when.
    ended: Option<(Finished, Instant)>,
    writing_reconciles: u32,
    log: VecDeque<String>,
}

impl World {
    fn new(policy: Policy) -> Self {
        let (timer, ticket, ended, unseen, log) = <_>::default();
        Self {
            schedule: Schedule::new(7),
            policy,
            now: Instant::now(),
            timer,
            ticket,
            is_running: false,
            is_retired: false,
            is_stopped: false,
            unseen,
            ended,
            writing_reconciles: 0,
            log,
        }
    }

    fn turn(&mut self, rng: &mut SeededRng) {
        self.now += Duration::from_millis([0, 1, 900, 4000, 11_000][rng.below(5)]);
        let input = match rng.below(10) {
            0..4 if rng.once_in(8) => {
                Input::Spread { after: Duration::from_secs([0, 1, 20][rng.below(3)]) }
            }
            0..4 => Input::Touched(rng.pick(&TOUCHES)),
            4..6 if self.timer.is_some() => return self.fire(),
            6 if self.is_running => Input::Continued { saw_all: rng.once_in(2) },
            7 | 8 if self.is_running => Input::Finished(ending(rng)),
            9 if rng.once_in(20) => Input::Retired,
            _ if rng.once_in(8) => return self.late(Input::TimerFired),
            _ => Input::Admitted,
        };
        self.step(input);
    }

    /// Time passes until the timer fires.
    fn fire(&mut self) {
        if let Some(wake) = self.timer.take() {
            self.now = self.now.max(wake.at);
            self.step(Input::TimerFired);
        }
    }

    /// An unexpected input is ignored.
    fn late(&mut self, input: Input) {
        if self.timer.is_none() {
            assert_eq!(self.schedule.step(input, &self.policy, self.now), STAY);
        }
    }

    fn step(&mut self, input: Input) {
        self.before(input);
        let phase = self.schedule.phase();
        let action = self.schedule.step(input, &self.policy, self.now);
        if self.log.len() == 12 {
            self.log.pop_front();
        }
        self.log.push_back(format!("{phase:?} {input:?} -> {action:?}"));
        self.after(input, action);
        self.check();
    }

    fn before(&mut self, input: Input) {
        match input {
            Input::Touched(trigger) => self.unseen.push((trigger, self.now)),
            Input::Spread { after } => self.unseen.push((Trigger::Related, self.now + after)),
            Input::Continued { saw_all } => {
                self.writing_reconciles += 1;
                if saw_all {
                    self.unseen.clear();
                }
            }
            Input::Finished(finished) => {
                self.is_running = false;
                self.ended = Some((finished, self.now));
                let wrote = matches!(finished, Finished::Wrote | Finished::Recreating);
                self.writing_reconciles = if wrote { self.writing_reconciles + 1 } else { 0 };
            }
            Input::Retired => self.is_retired = true,
            Input::TimerFired | Input::Admitted | Input::PauseEnds { .. } => {}
        }
    }

    fn after(&mut self, input: Input, action: Action) {
        match action {
            Action::Enqueue(priority) => {
                assert!(self.ticket.is_none() && !self.is_running, "{self:#?}");
                (self.timer, self.ticket) = (None, Some(priority));
                self.may_be_queued(input);
            }
            Action::Raise(priority) => {
                assert!(self.ticket.is_some_and(|had| priority < had), "{self:#?}");
                self.ticket = Some(priority);
            }
            Action::Reconcile { after_writes } => {
                assert!(input == Input::Admitted && self.ticket.is_some(), "{self:#?}");
                assert_eq!(after_writes, self.writing_reconciles, "{self:#?}");
                (self.ticket, self.is_running) = (None, true);
                self.unseen.clear();
            }
            Action::WakeAt(wake) => {
                assert!(self.ticket.is_none() && !self.is_running, "{self:#?}");
                self.timer = Some(wake);
            }
            Action::Rest => self.timer = None,
            Action::Stop => {
                assert!(self.is_retired && !self.is_running, "{self:#?}");
                (self.is_stopped, self.timer, self.ticket) = (true, None, None);
            }
            Action::Continue => {}
        }
    }

    /// Checks that the last result allows a reconcile now.
    fn may_be_queued(&self, input: Input) {
        let Some((finished, at)) = self.ended else { return };
        let by_parent = self.strongest() >= Some(Trigger::Parent);
        let is_over = input == Input::TimerFired;
        let is_right = match finished {
            Finished::Throttled { after } => is_over && self.now >= at + Backoff::capped(after),
            Finished::FailedForGood => self.strongest() >= Some(Trigger::Related),
            Finished::FailedUntilGone { .. } => {
                is_over || self.strongest() >= Some(Trigger::ChildGone) || self.may_follow(at)
            }
            Finished::Failed | Finished::FailedUntil { .. } => {
                is_over || self.strongest() >= Some(Trigger::Awaited) || self.may_follow(at)
            }
            Finished::FailedSlowed { .. } | Finished::Slowed { .. } => is_over || by_parent,
            Finished::Wrote if self.writing_reconciles > WRITING_RECONCILES_AT_ONCE - 1 => {
                is_over || by_parent
            }
            _ => true,
        };
        assert!(is_right, "{self:#?}");
    }

    /// Whether a child changed, and the failure was long enough ago.
    fn may_follow(&self, failed_at: Instant) -> bool {
        let pace = Duration::from_millis(500);
        self.strongest() >= Some(Trigger::ChildOrStatus) && self.now >= failed_at + pace
    }

    fn strongest(&self) -> Option<Trigger> {
        self.unseen.iter().map(|(trigger, _)| *trigger).max()
    }

    fn check(&self) {
        assert_eq!(self.is_stopped, self.is_retired && !self.is_running, "{self:#?}");
        if self.is_running || self.is_stopped {
            return;
        }
        let Some(strongest) = self.strongest() else { return };
        match self.ticket {
            Some(priority) => assert!(priority <= strongest.into(), "less urgent: {self:#?}"),
            None => self.is_waited_for(strongest),
        }
    }

    /// Checks that an unqueued parent with changes waits for a timer.
    fn is_waited_for(&self, strongest: Trigger) {
        if strongest < Trigger::Related && self.schedule.phase() == Phase::Resting {
            return;
        }
        let wake = self.timer.unwrap_or_else(|| panic!("a lost wake-up: {self:#?}"));
        if wake.why == WakeReason::Throttled {
            return;
        }
        let is_held =
            matches!(wake.why, WakeReason::Retry | WakeReason::Slowed | WakeReason::Unsettled);
        assert!(strongest <= Trigger::Parent, "an urgent one waits: {self:#?}");
        let enough = match self.ended {
            Some((Finished::FailedUntilGone { .. }, _)) => Trigger::ChildGone,
            Some((Finished::Failed | Finished::FailedUntil { .. }, _)) => Trigger::Awaited,
            _ => Trigger::Parent,
        };
        if strongest >= enough || !is_held {
            let since = self.unseen.iter().filter(|(trigger, _)| *trigger == strongest);
            let since = since.map(|(_, at)| *at).min().unwrap_or(self.now);
            let began = since.max(self.ended.map_or(since, |(_, at)| at));
            assert!(wake.at <= began + self.policy.debounce, "put off: {self:#?}");
        }
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let World { now, timer, ticket, unseen, ended, log, .. } = self;
        write!(f, "{now:?} {timer:?} {ticket:?} {unseen:?} {ended:?} {log:#?}")
    }
}

fn ending(rng: &mut SeededRng) -> Finished {
    let after = Duration::from_secs([0, 1, 5, 3600][rng.below(4)]);
    let times = 1 + u32::try_from(rng.below(40)).unwrap();
    match rng.below(11) {
        0 => Finished::Settled { resync: None },
        1 => Finished::Settled { resync: Some(after) },
        2 | 3 => Finished::Wrote,
        4 => Finished::Recheck { after },
        5 => Finished::Calming { after },
        6 => Finished::Slowed { times, at_most: after },
        7 => [
            Finished::Failed,
            Finished::FailedUntil { after },
            Finished::FailedUntilGone { is_passing: true, at_most: after },
            Finished::FailedUntilGone { is_passing: false, at_most: after },
            Finished::FailedSlowed { times, at_least: after, at_most: Duration::MAX },
        ][rng.below(5)],
        8 => Finished::Recreating,
        9 => Finished::Throttled { after },
        _ => Finished::FailedForGood,
    }
}

#[test]
fn no_change_is_lost_delayed_or_lowered() {
    for policy in [POLICY, DEBOUNCED] {
        with_seeds(400, |mut rng| {
            let mut world = World::new(policy);
            for _ in 0..120 {
                world.turn(&mut rng);
            }
        });
    }
}

#[test]
fn the_queue_is_fair_under_random_entries() {
    with_seeds(200, |mut rng| {
        let mut queue = Queue::new();
        let mut waiting: Vec<(Position, u64)> = Vec::new();
        let mut passed_over = [0; 4];
        for number in 0..300 {
            match rng.below(6) {
                0..3 => {
                    let priority = rng.pick(&Priority::ALL);
                    waiting.push((queue.push(priority, number), number));
                }
                3 if !waiting.is_empty() => {
                    let at = rng.below(waiting.len());
                    waiting[at].0 = queue.raise(waiting[at].0, rng.pick(&Priority::ALL));
                }
                4 if !waiting.is_empty() => {
                    let (position, entry) = waiting.swap_remove(rng.below(waiting.len()));
                    assert_eq!(queue.remove(position), Some(entry));
                }
                _ => pop(&mut queue, &mut waiting, &mut passed_over),
            }
            assert_eq!(queue.is_empty(), waiting.is_empty());
        }
    });
}

fn pop(queue: &mut Queue<u64>, waiting: &mut Vec<(Position, u64)>, passed_over: &mut [u32; 4]) {
    let before = Priority::ALL.map(|priority| queue.waiting(priority));
    let Some((priority, entry)) = queue.pop() else {
        return assert!(waiting.is_empty(), "an entry waits");
    };
    let at =
        waiting.iter().position(|(_, waits)| *waits == entry).expect("no entry is returned twice");
    waiting.swap_remove(at);
    for (lane, other) in Priority::ALL.into_iter().enumerate() {
        let is_passed = other != priority && before[lane] > 0;
        if is_passed && other < priority {
            assert!(
                passed_over[priority as usize] >= 15,
                "{other:?} was there before {priority:?}"
            );
        }
        passed_over[lane] = if is_passed { passed_over[lane] + 1 } else { 0 };
        assert!(passed_over[lane] < 15 + 4, "{other:?} starves");
    }
}
