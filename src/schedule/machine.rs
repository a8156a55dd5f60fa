//! The state machine of one parent.

use std::time::{Duration, Instant};

use super::Backoff;

/// What happened to a parent, as a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// Something that the next run should see has changed.
    Touched(Touch),
    /// The timer of the last [`Command::Wake`] went off.
    TimerFired,
    /// The run of the last [`Command::Run`] ended.
    Finished(Finished),
    /// The parent is gone.
    Retired,
}

/// How strong a reason to run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Touch {
    /// A child changed, or the parent's status did: an error backoff is not cut short.
    Surroundings,
    /// The parent itself changed (spec, metadata, deletion), or somebody asked: run at once.
    Parent,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finished {
    /// Nothing is left to do; run again after the time that the handler chose.
    Settled {
        /// The handler's choice.
        resync: Option<Duration>,
    },
    /// Children were written: run again on what the replies said.
    Wrote,
    /// Something has to happen elsewhere first; look again after this time at the latest.
    Recheck {
        /// The time.
        after: Duration,
    },
    /// It failed: retry with backoff.
    Failed,
    /// It failed, and said when to retry.
    FailedUntil {
        /// The time to wait.
        after: Duration,
    },
    /// It failed in a way that only a change of the parent can mend.
    FailedForGood,
}

/// What to do now, as an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Start a run.
    Run {
        /// How many runs directly before this one wrote children.
        after_writes: u32,
    },
    /// Set the one timer, instead of any other.
    Wake(NextWake),
    /// Clear the timer; something else will wake the parent.
    Rest,
    /// End: the parent is gone and nothing runs.
    Stop,
    /// Change nothing.
    Continue,
}

/// When and why a parent runs again by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextWake {
    /// When.
    pub at: Instant,
    /// Why.
    pub why: WakeReason,
}

/// Why a timer is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WakeReason {
    /// The handler asked for it.
    Resync,
    /// A run failed.
    Retry,
    /// A run waits for something to happen elsewhere.
    Recheck,
}

/// Where a parent stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Nothing to do.
    Idle,
    /// A timer is set.
    Waiting(NextWake),
    /// Failed for good: rests until the parent changes.
    Resting,
    /// A run is under way.
    Running {
        /// The strongest reason to run again that arrived meanwhile.
        dirty: Option<Touch>,
        /// Whether the parent went meanwhile.
        retired: bool,
    },
    /// Ended.
    Stopped,
}

/// After this many runs in a row that wrote children, the next ones wait.
const WRITING_RUNS_AT_ONCE: u32 = 3;

/// Handlers and servers name any time; an `Instant` cannot hold every one.
const LONGEST: Duration = Duration::from_hours(24 * 365);

/// Decides when one parent runs.
#[derive(Debug, Clone)]
pub struct Schedule {
    phase: Phase,
    failures: u32,
    writing_runs: u32,
    backoff: Backoff,
    seed: u64,
}

impl Schedule {
    /// A parent that has not run yet. `seed` spreads its retries, see [`Backoff::delay`].
    pub fn new(backoff: Backoff, seed: u64) -> Self {
        Self { phase: Phase::Idle, failures: 0, writing_runs: 0, backoff, seed }
    }

    /// Where the parent stands.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// How many runs in a row failed.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// Takes in a fact, and says what to do.
    pub fn step(&mut self, input: Input, now: Instant) -> Command {
        match (input, self.phase) {
            (_, Phase::Stopped) => Command::Continue,
            (Input::Finished(finished), Phase::Running { dirty, retired }) => {
                self.finish(finished, dirty, retired, now)
            }
            (Input::Retired, Phase::Running { dirty, .. }) => {
                self.phase = Phase::Running { dirty, retired: true };
                Command::Continue
            }
            (Input::Retired, Phase::Idle | Phase::Waiting(_) | Phase::Resting) => self.stop(),
            (Input::Touched(touch), Phase::Running { dirty, retired }) => {
                self.phase = Phase::Running { dirty: dirty.max(Some(touch)), retired };
                Command::Continue
            }
            (Input::Touched(touch), Phase::Idle | Phase::Waiting(_) | Phase::Resting) => {
                if self.holds_out_against(touch) { Command::Continue } else { self.run() }
            }
            (Input::TimerFired, Phase::Waiting(_)) => self.run(),
            (Input::TimerFired, Phase::Idle | Phase::Resting | Phase::Running { .. })
            | (Input::Finished(_), Phase::Idle | Phase::Waiting(_) | Phase::Resting) => {
                Command::Continue
            }
        }
    }

    /// Whether an error keeps the parent waiting although its surroundings changed.
    fn holds_out_against(&self, touch: Touch) -> bool {
        let failed = match self.phase {
            Phase::Resting => true,
            Phase::Waiting(wake) => wake.why == WakeReason::Retry,
            Phase::Idle | Phase::Running { .. } | Phase::Stopped => false,
        };
        failed && touch == Touch::Surroundings
    }

    fn finish(
        &mut self,
        finished: Finished,
        dirty: Option<Touch>,
        retired: bool,
        now: Instant,
    ) -> Command {
        self.count(finished);
        if retired {
            return self.stop();
        }
        let wake =
            |why, after: Duration| Phase::Waiting(NextWake { at: now + after.min(LONGEST), why });
        self.phase = match finished {
            Finished::Settled { resync: None } => Phase::Idle,
            Finished::Settled { resync: Some(after) } => wake(WakeReason::Resync, after),
            Finished::Wrote if self.writing_runs < WRITING_RUNS_AT_ONCE => return self.run(),
            Finished::Wrote => wake(WakeReason::Retry, self.unsettled_delay()),
            Finished::Recheck { after } => wake(WakeReason::Recheck, after),
            Finished::Failed => {
                wake(WakeReason::Retry, self.backoff.delay(self.failures, self.seed))
            }
            Finished::FailedUntil { after } => wake(WakeReason::Retry, after),
            Finished::FailedForGood => Phase::Resting,
        };
        match dirty {
            Some(touch) if !self.holds_out_against(touch) => self.run(),
            Some(_) | None => self.set_timer(),
        }
    }

    fn count(&mut self, finished: Finished) {
        match finished {
            Finished::Wrote => (self.failures, self.writing_runs) = (0, self.writing_runs + 1),
            Finished::Settled { .. } | Finished::Recheck { .. } => {
                (self.failures, self.writing_runs) = (0, 0);
            }
            Finished::Failed | Finished::FailedUntil { .. } | Finished::FailedForGood => {
                (self.failures, self.writing_runs) = (self.failures.saturating_add(1), 0);
            }
        }
    }

    /// A parent whose children never come to rest is written ever more slowly.
    fn unsettled_delay(&self) -> Duration {
        self.backoff.delay(self.writing_runs - WRITING_RUNS_AT_ONCE + 1, self.seed)
    }

    fn set_timer(&self) -> Command {
        match self.phase {
            Phase::Waiting(wake) => Command::Wake(wake),
            Phase::Idle | Phase::Resting | Phase::Running { .. } | Phase::Stopped => Command::Rest,
        }
    }

    fn run(&mut self) -> Command {
        self.phase = Phase::Running { dirty: None, retired: false };
        Command::Run { after_writes: self.writing_runs }
    }

    fn stop(&mut self) -> Command {
        self.phase = Phase::Stopped;
        Command::Stop
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKOFF: Backoff = Backoff { min: Duration::from_secs(1), max: Duration::from_mins(1) };
    const CHILD: Input = Input::Touched(Touch::Surroundings);
    const PARENT: Input = Input::Touched(Touch::Parent);
    const RUN: Command = Command::Run { after_writes: 0 };
    const SETTLED: Input = Input::Finished(Finished::Settled { resync: None });
    const FAILED: Input = Input::Finished(Finished::Failed);
    const STUCK: Input = Input::Finished(Finished::FailedForGood);
    const WROTE: Input = Input::Finished(Finished::Wrote);

    fn after(inputs: &[Input]) -> (Schedule, Command) {
        let mut schedule = Schedule::new(BACKOFF, 7);
        let mut command = Command::Continue;
        let now = Instant::now();
        for input in inputs {
            command = schedule.step(*input, now);
        }
        (schedule, command)
    }

    /// The table of the module's documentation: how to get to a phase, and what each input does.
    #[test]
    fn the_table_holds() {
        let stay = Command::Continue;
        let resync = Input::Finished(Finished::Settled { resync: Some(Duration::from_secs(5)) });
        let table: [(&str, &[Input], [Command; 4]); 6] = [
            // Touched by a child, touched by the parent, TimerFired, Retired
            ("idle", &[], [RUN, RUN, stay, Command::Stop]),
            ("resync", &[CHILD, resync], [RUN, RUN, RUN, Command::Stop]),
            ("error", &[CHILD, FAILED], [stay, RUN, RUN, Command::Stop]),
            ("resting", &[CHILD, STUCK], [stay, RUN, stay, Command::Stop]),
            ("running", &[CHILD], [stay, stay, stay, stay]),
            ("stopped", &[Input::Retired], [stay, stay, stay, stay]),
        ];
        for (name, way, expected) in table {
            let inputs = [CHILD, PARENT, Input::TimerFired, Input::Retired];
            for (input, expected) in inputs.into_iter().zip(expected) {
                let way: Vec<Input> = way.iter().copied().chain([input]).collect();
                assert_eq!(after(&way).1, expected, "{name} {input:?}");
            }
        }
    }

    #[test]
    fn what_arrives_during_a_run_makes_one_further_run() {
        assert_eq!(after(&[CHILD, CHILD, CHILD, SETTLED]).1, RUN);
        assert_eq!(after(&[CHILD, CHILD, SETTLED, SETTLED]).1, Command::Rest);
    }

    #[test]
    fn a_failed_run_is_not_repeated_for_a_child_but_for_the_parent() {
        assert!(matches!(after(&[CHILD, CHILD, FAILED]).1, Command::Wake(_)));
        assert_eq!(after(&[CHILD, PARENT, FAILED]).1, RUN);
        assert_eq!(after(&[CHILD, PARENT, STUCK]).1, RUN);
    }

    #[test]
    fn a_parent_that_goes_during_a_run_stops_after_it() {
        assert_eq!(after(&[CHILD, Input::Retired, SETTLED]).1, Command::Stop);
        assert_eq!(after(&[CHILD, Input::Retired, PARENT, FAILED]).1, Command::Stop);
    }

    #[test]
    fn failures_in_a_row_wait_longer_and_success_forgets_them() {
        let delay = |failures: usize| {
            let way: Vec<Input> = [PARENT, FAILED].repeat(failures);
            let mut schedule = Schedule::new(BACKOFF, 7);
            let now = Instant::now();
            match way.iter().map(|input| schedule.step(*input, now)).last() {
                Some(Command::Wake(wake)) => wake.at - now,
                other => panic!("{other:?}"),
            }
        };
        assert!(delay(1) < delay(3) && delay(3) < delay(6));
        assert_eq!(after(&[PARENT, FAILED, PARENT, SETTLED]).0.failures(), 0);
    }

    #[test]
    fn a_run_that_wrote_runs_again_at_once_but_not_for_ever() {
        assert_eq!(after(&[PARENT, WROTE]).1, Command::Run { after_writes: 1 });
        assert_eq!(after(&[PARENT, WROTE, WROTE]).1, Command::Run { after_writes: 2 });
        assert!(matches!(after(&[PARENT, WROTE, WROTE, WROTE]).1, Command::Wake(_)));
        assert_eq!(after(&[PARENT, WROTE, WROTE, SETTLED, PARENT]).1, RUN);
    }

    #[test]
    fn a_time_that_no_clock_can_hold_is_a_long_one() {
        for finished in [
            Finished::Settled { resync: Some(Duration::MAX) },
            Finished::FailedUntil { after: Duration::MAX },
        ] {
            let command = after(&[PARENT, Input::Finished(finished)]).1;
            assert!(matches!(command, Command::Wake(_)), "{command:?}");
        }
    }
}
