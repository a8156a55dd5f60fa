//! The state machine of one parent.

use std::time::{Duration, Instant};

use super::{
    Backoff, Priority,
    continuation::{WRITING_RECONCILES_AT_ONCE, is_due},
    facts::{Action, Finished, Input, Phase, Trigger, Wake, WakeReason},
    follow_ups::FollowUps,
};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Policy {
    /// How long to wait after failures.
    pub(crate) backoff: Backoff,
    /// How long changes are collected before a reconcile; zero for not at all.
    pub(crate) debounce: Duration,
}

#[derive(Debug, Clone)]
pub(crate) struct Schedule {
    phase: Phase,
    failures: u32,
    /// How many reconciles in a row were throttled.
    throttles: u32,
    /// Whether it is known that the parent is being deleted.
    is_ending: bool,
    writing_reconciles: u32,
    /// The weakest trigger that ends the wait after a failure.
    ends_wait: Trigger,
    follow_ups: FollowUps,
    seed: u64,
    /// Until then, changes of the parent itself are collected.
    collects_until: Option<Instant>,
    /// The strongest trigger that waits for the timer.
    held: Option<Trigger>,
    /// When the pause ends that the last reconcile found, if it ends by itself.
    pause_ends: Option<Instant>,
}

/// The shortest delay: a handler may return zero.
const SHORTEST: Duration = Duration::from_millis(100);

/// The longest delay: an `Instant` cannot represent every one.
const LONGEST: Duration = Duration::from_hours(24 * 365);

impl Schedule {
    /// The schedule of a new parent. `seed` selects its jitter, see [`Backoff::delay`].
    pub(crate) fn new(seed: u64) -> Self {
        let (phase, collects_until, held, pause_ends) = (Phase::Idle, None, None, None);
        let (failures, throttles, writing_reconciles, is_ending) = <_>::default();
        let (ends_wait, follow_ups) = (Trigger::Parent, FollowUps::default());
        Self {
            phase,
            failures,
            throttles,
            is_ending,
            writing_reconciles,
            ends_wait,
            follow_ups,
            seed,
            collects_until,
            held,
            pause_ends,
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    /// When the parent is reconciled next without a change, and why.
    pub(crate) fn next_wake(&self) -> Option<Wake> {
        let wake = match self.phase {
            Phase::Waiting(wake) => Some(wake),
            Phase::Idle | Phase::Resting => None,
            Phase::Queued(_) | Phase::Running { .. } | Phase::Stopped => return None,
        };
        let end = self.pause_ends.map(|at| Wake { at, why: WakeReason::PauseEnds });
        end.into_iter().chain(wake).min_by_key(|wake| wake.at)
    }

    pub(crate) fn failures(&self) -> u32 {
        self.failures
    }

    pub(crate) fn step(&mut self, input: Input, policy: &Policy, now: Instant) -> Action {
        if input == Input::Touched(Trigger::Deletion) && !self.is_ending {
            // Failures of `sync` say nothing about `finalize`.
            (self.is_ending, self.failures) = (true, 0);
        }
        match (input, self.phase) {
            (_, Phase::Stopped) | (Input::Spread { .. }, Phase::Queued(_)) => Action::Continue,
            (Input::Touched(trigger), Phase::Running { priority, dirty, retired }) => {
                let dirty = dirty.max(Some(trigger));
                self.phase = Phase::Running { priority, dirty, retired };
                Action::Continue
            }
            (Input::Touched(trigger), Phase::Queued(priority)) => self.raise(priority, trigger),
            (Input::Touched(trigger), Phase::Idle | Phase::Waiting(_) | Phase::Resting) => {
                self.touched(trigger, policy, now)
            }
            (Input::Spread { .. }, Phase::Running { priority, dirty, retired }) => {
                let dirty = dirty.max(Some(Trigger::Related));
                self.phase = Phase::Running { priority, dirty, retired };
                Action::Continue
            }
            (Input::Spread { after }, Phase::Idle | Phase::Waiting(_) | Phase::Resting) => {
                if self.holds_out_against(Trigger::Related) {
                    return self.hold(Trigger::Related);
                }
                self.collect(Trigger::Related, (now + after.min(LONGEST), WakeReason::Spread))
            }
            (Input::PauseEnds { after }, Phase::Running { .. }) => {
                self.pause_ends = after.map(|after| now + after.clamp(SHORTEST, LONGEST));
                Action::Continue
            }
            (Input::TimerFired, _) if self.awaits_end_of_pause() => self.pause_ended(policy, now),
            (Input::TimerFired, Phase::Waiting(wake)) => self.enqueue(wake.why.into(), policy, now),
            (Input::Admitted, Phase::Queued(priority)) => self.start(priority),
            (Input::Continued { saw_all }, Phase::Running { priority, dirty, retired }) => {
                self.count(Finished::Wrote);
                let dirty = dirty.filter(|_| !saw_all);
                self.phase = Phase::Running { priority, dirty, retired };
                Action::Continue
            }
            (Input::Finished(finished), Phase::Running { priority, dirty, retired }) => {
                self.count(finished);
                if retired {
                    self.stop()
                } else {
                    self.finish(finished, priority, dirty, policy, now)
                }
            }
            (Input::Retired, Phase::Running { priority, dirty, .. }) => {
                self.phase = Phase::Running { priority, dirty, retired: true };
                Action::Continue
            }
            (Input::Retired, _) => self.stop(),
            (
                Input::TimerFired
                | Input::Admitted
                | Input::Continued { .. }
                | Input::PauseEnds { .. }
                | Input::Finished(_),
                _,
            ) => Action::Continue,
        }
    }

    // === before a reconcile ===

    fn touched(&mut self, trigger: Trigger, policy: &Policy, now: Instant) -> Action {
        if self.holds_out_against(trigger) {
            return self.follow(trigger, policy, now);
        }
        match self.collected_until(trigger, policy, now) {
            Some(at) => self.collect(trigger, (at, WakeReason::Debounce)),
            None => self.enqueue_for(trigger, policy, now),
        }
    }

    fn awaits_end_of_pause(&self) -> bool {
        self.next_wake().is_some_and(|wake| wake.why == WakeReason::PauseEnds)
    }

    /// As if the user had resumed the parent, which is a change of it.
    fn pause_ended(&mut self, policy: &Policy, now: Instant) -> Action {
        self.pause_ends = None;
        match self.touched(Trigger::Parent, policy, now) {
            Action::Continue => self.set_timer(),
            action => action,
        }
    }

    /// Whether the parent keeps waiting after a failure although something changed.
    fn holds_out_against(&self, trigger: Trigger) -> bool {
        match self.phase {
            Phase::Waiting(Wake { why: WakeReason::Throttled, .. }) => true,
            Phase::Waiting(Wake { why: WakeReason::Retry, .. }) => trigger < self.ends_wait,
            Phase::Waiting(Wake { why: WakeReason::Unsettled | WakeReason::Slowed, .. }) => {
                trigger < Trigger::Parent
            }
            Phase::Resting => trigger < Trigger::Related,
            Phase::Idle
            | Phase::Waiting(_)
            | Phase::Queued(_)
            | Phase::Running { .. }
            | Phase::Stopped => false,
        }
    }

    /// Follows a change of a child after a failure, unless the parent is slowed.
    fn follow(&mut self, trigger: Trigger, policy: &Policy, now: Instant) -> Action {
        let held = self.hold(trigger);
        let Phase::Waiting(Wake { at: retry_at, why: WakeReason::Retry }) = self.phase else {
            return held;
        };
        let at = self.follow_ups.due(self.seed, now).max(now + policy.debounce.min(LONGEST));
        if trigger < Trigger::ChildOrStatus || self.ends_wait == Trigger::Parent || at >= retry_at {
            return held;
        }
        self.follow_ups.cut_short(retry_at);
        if at <= now {
            return self.enqueue(trigger.into(), policy, now);
        }
        self.phase = Phase::Waiting(Wake { at, why: WakeReason::Retry });
        self.set_timer()
    }

    /// Until when the parent waits for more changes; `None` to reconcile at once.
    fn collected_until(&self, trigger: Trigger, policy: &Policy, now: Instant) -> Option<Instant> {
        match trigger {
            Trigger::Deletion | Trigger::Asked | Trigger::Listed => None,
            Trigger::Parent => self.collects_until.filter(|until| *until > now),
            Trigger::ChildOrStatus | Trigger::ChildGone | Trigger::Awaited | Trigger::Related => {
                (!policy.debounce.is_zero()).then(|| now + policy.debounce.min(LONGEST))
            }
        }
    }

    /// The earliest timer counts: a stream of changes does not delay the reconcile.
    fn collect(&mut self, trigger: Trigger, (at, why): (Instant, WakeReason)) -> Action {
        let held = self.hold(trigger);
        match self.phase {
            Phase::Waiting(Wake { at: earlier, .. }) if earlier <= at => held,
            _ => {
                self.phase = Phase::Waiting(Wake { at, why });
                self.set_timer()
            }
        }
    }

    /// A held change keeps its urgency.
    fn hold(&mut self, trigger: Trigger) -> Action {
        self.held = self.held.max(Some(trigger));
        Action::Continue
    }

    fn enqueue_for(&mut self, trigger: Trigger, policy: &Policy, now: Instant) -> Action {
        self.hold(trigger);
        self.enqueue(trigger.into(), policy, now)
    }

    /// Enqueues with the priority of the strongest held trigger.
    fn enqueue(&mut self, priority: Priority, policy: &Policy, now: Instant) -> Action {
        let held = self.held.take();
        if held >= Some(self.ends_wait) {
            self.follow_ups.end();
        }
        if held == Some(Trigger::Parent) && !policy.debounce.is_zero() {
            self.collects_until = Some(now + policy.debounce.min(LONGEST));
        }
        let urgent = held.map_or(priority, |trigger| priority.min(trigger.into()));
        self.phase = Phase::Queued(urgent);
        Action::Enqueue(urgent)
    }

    fn raise(&mut self, priority: Priority, trigger: Trigger) -> Action {
        let wanted = Priority::from(trigger);
        if wanted >= priority {
            return Action::Continue;
        }
        self.phase = Phase::Queued(wanted);
        Action::Raise(wanted)
    }

    fn start(&mut self, priority: Priority) -> Action {
        self.phase = Phase::Running { priority, dirty: None, retired: false };
        self.pause_ends = None;
        Action::Reconcile { after_writes: self.writing_reconciles }
    }

    // === after a reconcile ===

    fn finish(
        &mut self,
        finished: Finished,
        priority: Priority,
        dirty: Option<Trigger>,
        policy: &Policy,
        now: Instant,
    ) -> Action {
        if is_due(finished, self.writing_reconciles) {
            // It completes the last reconcile, so it has the same urgency.
            let urgent = dirty.map_or(priority, |trigger| priority.min(trigger.into()));
            return self.enqueue(urgent, policy, now);
        }
        self.phase = self.rest(finished, policy, now);
        self.keep_retry(finished, now);
        match dirty.map(|trigger| self.touched(trigger, policy, now)) {
            Some(Action::Enqueue(priority)) => Action::Enqueue(priority),
            _ => self.set_timer(),
        }
    }

    /// The phase after a reconcile if nothing changed meanwhile.
    fn rest(&self, finished: Finished, policy: &Policy, now: Instant) -> Phase {
        let wake = |why, after: Duration| {
            Phase::Waiting(Wake { at: now + after.clamp(SHORTEST, LONGEST), why })
        };
        let backoff = |why, times| wake(why, policy.backoff.delay(times, self.seed));
        match finished {
            Finished::Settled { resync: None } => Phase::Idle,
            Finished::Settled { resync: Some(after) } => wake(WakeReason::Resync, after),
            // A parent whose children never settle is written ever more slowly.
            Finished::Wrote | Finished::Recreating => backoff(
                WakeReason::Unsettled,
                self.writing_reconciles - WRITING_RECONCILES_AT_ONCE + 1,
            ),
            Finished::Recheck { after } => wake(WakeReason::Recheck, after),
            Finished::Calming { after } => wake(WakeReason::Calming, after),
            Finished::Slowed { times, at_most } => {
                wake(WakeReason::Slowed, policy.backoff.delay(times, self.seed).min(at_most))
            }
            Finished::FailedSlowed { times, at_least, at_most } => {
                let usual = policy.backoff.delay(self.failures.max(times), self.seed);
                let asked = Backoff::with_jitter(at_least.min(LONGEST), self.seed);
                wake(WakeReason::Retry, usual.max(asked).min(at_most))
            }
            Finished::Failed => backoff(WakeReason::Retry, self.failures),
            Finished::FailedUntilGone { is_passing: true, at_most } => {
                let usual = policy.backoff.delay(self.failures, self.seed);
                wake(WakeReason::Retry, usual.min(at_most))
            }
            Finished::FailedUntil { after }
            | Finished::FailedUntilGone { is_passing: false, at_most: after } => {
                wake(WakeReason::Retry, Backoff::with_jitter(after.min(LONGEST), self.seed))
            }
            Finished::Throttled { after } => {
                // A server that keeps throttling gets the longer backoff.
                let usual = Backoff::capped(policy.backoff.delay(self.throttles, self.seed));
                let after = Backoff::with_jitter(Backoff::capped(after), self.seed);
                wake(WakeReason::Throttled, after.max(usual))
            }
            Finished::FailedForGood => Phase::Resting,
        }
    }

    /// After a follow-up that failed too, the retry comes when it was due.
    fn keep_retry(&mut self, finished: Finished, now: Instant) {
        let (true, Phase::Waiting(wake)) = (finished.is_followed(), self.phase) else {
            self.follow_ups = FollowUps::default();
            return;
        };
        if let Some(due) = self.follow_ups.failed(now) {
            let at = wake.at.min(due.max(now + SHORTEST));
            self.phase = Phase::Waiting(Wake { at, ..wake });
        }
    }

    fn count(&mut self, finished: Finished) {
        let is_throttled = matches!(finished, Finished::Throttled { .. });
        self.throttles = if is_throttled { self.throttles.saturating_add(1) } else { 0 };
        self.ends_wait = match finished {
            Finished::FailedUntilGone { .. } => Trigger::ChildGone,
            Finished::FailedSlowed { .. } => Trigger::Parent,
            _ => Trigger::Awaited,
        };
        match finished {
            Finished::Wrote | Finished::Recreating => {
                (self.failures, self.writing_reconciles) = (0, self.writing_reconciles + 1);
            }
            Finished::Settled { .. }
            | Finished::Recheck { .. }
            | Finished::Calming { .. }
            | Finished::Slowed { .. } => {
                (self.failures, self.writing_reconciles) = (0, 0);
            }
            _ if finished.is_followed() && self.follow_ups.is_one() => self.writing_reconciles = 0,
            Finished::Failed
            | Finished::FailedSlowed { .. }
            | Finished::FailedUntilGone { .. }
            | Finished::FailedUntil { .. }
            | Finished::Throttled { .. }
            | Finished::FailedForGood => {
                (self.failures, self.writing_reconciles) = (self.failures.saturating_add(1), 0);
            }
        }
    }

    fn set_timer(&self) -> Action {
        self.next_wake().map_or(Action::Rest, Action::WakeAt)
    }

    fn stop(&mut self) -> Action {
        self.phase = Phase::Stopped;
        Action::Stop
    }
}
