//! A process of the operator: the schedule of the parent, and the reconcile in progress. One event at a time;
//! requests are carried out and answered in any order. It can be killed at any time.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use super::{checks::Checks, desired, rollouts::Rollouts};
use crate::{
    journal::Failure,
    object::Quoted,
    operator::SyncRequest,
    run::{
        Aim, Effect, Event, HandlerError, Machine, Request, RequestId, Response,
        tests::{
            caches::Caches,
            driver::{Driver, timed_out},
            text,
        },
    },
    schedule::{Action, Input, Schedule, Trigger, continues_at_once, rng::SeededRng},
};

/// A process with one parent.
pub(super) struct Process {
    schedule: Schedule,
    wake: Option<Instant>,
    running: Option<Running>,
    /// How many reconciles have ended.
    pub(super) reconciles: usize,
    /// Whether all events, facts and effects are printed.
    is_traced: bool,
}

/// The reconcile in progress.
struct Running {
    machine: Machine,
    after_writes: u32,
    events: VecDeque<Event>,
    /// The requests that were sent, and that the server has not processed yet.
    requests: Vec<(RequestId, Request)>,
    call: Option<SyncRequest>,
    checks: Checks,
}

/// How a handler call ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Returned {
    Well,
    WithAnError,
    TooLate,
}

impl Process {
    pub(super) fn new(is_traced: bool) -> Self {
        let (wake, running, reconciles) = <_>::default();
        Self { schedule: Schedule::new(1), wake, running, reconciles, is_traced }
    }

    pub(super) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Nothing is in progress, and no timer is set.
    pub(super) fn rests(&self) -> bool {
        self.running.is_none() && self.wake.is_none()
    }

    /// The machine processes the next event.
    pub(super) fn deliver(&mut self, driver: &mut Driver) {
        let Some(running) = &mut self.running else { return };
        let Some(event) = running.events.pop_front() else { return };
        let is_finished = running.deliver(event, driver, self.is_traced);
        self.wake_up(driver);
        if is_finished {
            self.end(driver);
        }
    }

    /// The server processes one of the requests, and answers it.
    pub(super) fn answer(
        &mut self,
        driver: &mut Driver,
        rollouts: &mut Rollouts,
        rng: &mut SeededRng,
    ) {
        let Some(running) = &mut self.running else { return };
        if !running.requests.is_empty() {
            let nth = rng.below(running.requests.len());
            let (id, request) = running.requests.swap_remove(nth);
            let takes_down = |child: &_| running.checks.takes_down(child);
            let answer = rollouts.answer(&request, takes_down, &mut driver.world);
            running.checks.answered(id);
            running.events.push_back(Event::Answered(id, answer));
        }
    }

    /// The handler returns, if it is called.
    pub(super) fn return_call(&mut self, how: Returned) {
        let Some(running) = &mut self.running else { return };
        let Some(request) = running.call.take() else { return };
        let failed = |failure| Err(HandlerError::from(failure));
        let message = Quoted::new("connection refused");
        let result = match how {
            Returned::Well => {
                let wanted = desired::wanted(&desired::spec(&request.parent));
                let response = desired::response(&wanted);
                running.checks.returned(wanted);
                Ok(Response::Synced(response.into()))
            }
            Returned::WithAnError => {
                failed(Failure::Handler { message, permanent: false, retry_after: None })
            }
            Returned::TooLate => {
                let deadline = Duration::from_secs(30);
                running.events.push_back(Event::HandlerTimeout(deadline));
                Err(timed_out(deadline))
            }
        };
        running.events.push_back(Event::HandlerReturned(result));
    }

    /// The watches have delivered events.
    pub(super) fn wake_up(&mut self, driver: &mut Driver) {
        if let Some(trigger) = driver.caches.touched.take() {
            self.step(Input::Touched(trigger), driver);
        }
    }

    pub(super) fn touch(&mut self, trigger: Trigger, driver: &mut Driver) {
        self.step(Input::Touched(trigger), driver);
    }

    pub(super) fn fire_timer(&mut self, driver: &mut Driver) {
        if let Some(at) = self.wake.take() {
            driver.wait(at.saturating_duration_since(driver.now.monotonic));
            self.step(Input::TimerFired, driver);
        }
    }

    /// The process is killed: some of its requests arrive nevertheless. Another one begins from what exists.
    pub(super) fn kill(
        &mut self,
        driver: &mut Driver,
        rollouts: &mut Rollouts,
        rng: &mut SeededRng,
    ) {
        if let Some(Running { requests, checks, .. }) = self.running.take() {
            let takes_down = |child: &_| checks.takes_down(child);
            for (_, request) in requests.iter().filter(|_| rng.once_in(2)) {
                let _ = rollouts.answer(request, takes_down, &mut driver.world);
            }
        }
        if self.is_traced {
            eprintln!("= killed");
        }
        driver.restart();
        let mut caches = Caches::new(driver.caches.settings.clone());
        caches.spare = driver.caches.spare;
        caches.watch(&driver.world);
        caches.touched = Some(Trigger::Listed);
        driver.caches = caches;
        *self = Self { reconciles: self.reconciles, ..Self::new(self.is_traced) };
        self.wake_up(driver);
    }

    // === as the actor and the executor do ===

    fn step(&mut self, input: Input, driver: &mut Driver) {
        let policy = driver.caches.settings.policy();
        let mut next = Some(input);
        while let Some(input) = next.take() {
            match self.schedule.step(input, &policy, driver.now.monotonic) {
                Action::Enqueue(_) => (self.wake, next) = (None, Some(Input::Admitted)),
                Action::Reconcile { after_writes } => self.begin(after_writes, driver),
                Action::WakeAt(wake) => self.wake = Some(wake.at),
                Action::Rest => self.wake = None,
                Action::Continue => {}
                action @ (Action::Stop | Action::Raise(_)) => panic!("{action:?}"),
            }
        }
    }

    fn begin(&mut self, after_writes: u32, driver: &mut Driver) {
        let memory = std::mem::take(&mut driver.memory);
        let machine = driver.machine(after_writes, memory);
        let events = VecDeque::from([Event::Started(Aim::Reconcile)]);
        let (requests, call, checks) = <_>::default();
        self.running = Some(Running { machine, after_writes, events, requests, call, checks });
    }

    fn end(&mut self, driver: &mut Driver) {
        let Some(running) = self.running.take() else { return };
        assert!(running.requests.is_empty() && running.call.is_none(), "something is in flight");
        let report = driver.ended(running.machine);
        let in_a_row = running.after_writes + 1;
        self.reconciles += 1;
        let finished = report.finished(driver.caches.settings.config());
        if continues_at_once(finished, in_a_row, false) {
            self.step(Input::Continued { saw_all: false }, driver);
            self.begin(in_a_row, driver);
        } else {
            self.step(Input::Finished(finished), driver);
        }
    }
}

impl Running {
    /// Returns whether the reconcile has ended.
    fn deliver(&mut self, event: Event, driver: &mut Driver, is_traced: bool) -> bool {
        driver.wait(Duration::from_millis(1));
        let known = self.machine.facts().len();
        let told = is_traced.then(|| text::event(&event));
        // With the schemas that the plan needs, or without.
        if matches!(event, Event::HandlerReturned(_) | Event::SchemaRead(_)) {
            self.checks.plans(&driver.caches);
        }
        let effects = self.machine.step(event, driver.caches.snapshot(), driver.now);
        if let Some(told) = told {
            eprintln!("{told}");
            let facts = &self.machine.facts()[known..];
            for fact in facts {
                eprintln!("  {}", text::fact(fact));
            }
            for effect in &effects {
                eprintln!("> {}", text::effect(effect));
            }
        }
        let mut is_finished = false;
        for effect in effects {
            is_finished |= matches!(effect, Effect::Finished);
            match effect {
                Effect::Call(_, request) => self.call = Some(request),
                Effect::Send(id, request) => {
                    self.checks.sent(id, &request, &driver.caches);
                    self.requests.push((id, request));
                }
                effect => self.events.extend(driver.perform_at_once(effect)),
            }
        }
        is_finished
    }
}
