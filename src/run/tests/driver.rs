//! Drives machines against the world in memory: performs each effect at once, and delivers the events in
//! order. Decides nothing.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use super::{
    caches::Caches,
    faults::kind,
    table,
    world::{PARENT_UID, World, named},
};
use crate::{
    journal::{Fact, Failure},
    object::Uid,
    operator::{OperatorConfig, SyncRequest},
    plan::{ChildId, DeletionBudget},
    report::{Announcement, Announcer, Report},
    run::{
        Aim, Effect, Event, HandlerError, Job, Machine, Memory, Method, Now, Previewed, Response,
        Settings,
    },
};

/// One operator with one parent, and the world around it.
pub(super) struct Driver {
    pub(super) world: World,
    pub(super) caches: Caches,
    pub(super) memory: Memory,
    pub(super) now: Now,
    /// The Events of the last reconcile.
    pub(super) events: Vec<Announcement>,
    budget: DeletionBudget,
}

/// When a handler returns that has missed its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Late {
    /// Before the timeout is reported.
    BeforeTheReport,
    /// After that.
    AfterTheReport,
}

/// The handler, and observers of a reconcile.
pub(super) trait Scenario {
    /// The handler is called.
    fn called(&mut self, method: Method, request: &SyncRequest) -> Result<Response, HandlerError>;

    /// Whether the handler misses its deadline.
    fn late(&self) -> Option<Late> {
        None
    }

    /// Called before a request of this kind is answered, and while the handler is called (`call`), for changes
    /// by others.
    fn meanwhile(&mut self, _: &str, _: &mut World, _: &mut Caches) {}

    /// Called with each event.
    fn received(&mut self, _: &Event) {}

    /// Called with the facts and effects of each step.
    fn stepped(&mut self, _: &[Fact], _: &[Effect]) {}
}

impl Driver {
    pub(super) fn new(config: OperatorConfig, has_finalizer: bool) -> Self {
        let settings = Arc::new(Settings::new(config, has_finalizer).unwrap());
        // Fixed, so that times in a status are the same in each reconcile.
        let wall = SystemTime::UNIX_EPOCH + Duration::from_hours(24 * 365 * 56 + 12);
        let now = Now { monotonic: Instant::now(), wall };
        let (world, memory, events, budget) = <_>::default();
        Self { world, caches: Caches::new(settings), memory, now, events, budget }
    }

    /// A new process without memory.
    pub(super) fn restart(&mut self) {
        (self.memory, self.budget) = <_>::default();
    }

    pub(super) fn wait(&mut self, time: Duration) {
        self.now.monotonic += time;
        self.now.wall += time;
    }

    /// One reconcile, after this number in a row that wrote children.
    pub(super) fn reconcile(&mut self, after_writes: u32, scenario: &mut dyn Scenario) -> Report {
        let memory = std::mem::take(&mut self.memory);
        let machine = self.driven(Aim::Reconcile, after_writes, memory, scenario);
        self.ended(machine)
    }

    /// What a reconcile would do.
    pub(super) fn preview(&mut self, scenario: &mut dyn Scenario) -> Previewed {
        let machine = self.driven(Aim::Plan(None), 0, self.memory.for_preview(), scenario);
        *machine.end().preview.unwrap_or_default()
    }

    /// The machine of one reconcile.
    pub(super) fn machine(&self, after_writes: u32, memory: Memory) -> Machine {
        let (key, uid) = (named("parent").key, Uid::new(PARENT_UID));
        let settings = self.caches.settings.clone();
        Machine::new(settings, Job { key, uid, after_writes, memory }, self.now)
    }

    fn driven(
        &mut self,
        aim: Aim,
        after_writes: u32,
        memory: Memory,
        scenario: &mut dyn Scenario,
    ) -> Machine {
        let mut machine = self.machine(after_writes, memory);
        let mut events = VecDeque::from([Event::Started(aim)]);
        let (mut is_finished, mut late) = (false, None);
        while let Some(event) = events.pop_front().or_else(|| late.take()).filter(|_| !is_finished)
        {
            self.wait(Duration::from_millis(1));
            let known = machine.facts().len();
            scenario.received(&event);
            let effects = table::step(&mut machine, event, self.caches.snapshot(), self.now);
            scenario.stepped(&machine.facts()[known..], &effects);
            for effect in effects {
                is_finished |= matches!(effect, Effect::Finished);
                let has_called = matches!(effect, Effect::Call(..));
                let event = self.perform(effect, scenario);
                match scenario.late().filter(|_| has_called) {
                    None => events.extend(event),
                    Some(when) => {
                        let deadline = Duration::from_secs(30);
                        events.push_back(Event::HandlerTimeout(deadline));
                        late = Some(Event::HandlerReturned(Err(timed_out(deadline))));
                        events.extend(late.take_if(|_| when == Late::BeforeTheReport));
                    }
                }
            }
        }
        assert!(is_finished, "no event is pending, and the machine has not finished");
        table::step_after_end(&mut machine, self.caches.snapshot(), self.now);
        machine
    }

    fn perform(&mut self, effect: Effect, scenario: &mut dyn Scenario) -> Option<Event> {
        match effect {
            Effect::Call(method, request) => {
                scenario.meanwhile("call", &mut self.world, &mut self.caches);
                Some(Event::HandlerReturned(scenario.called(method, &request)))
            }
            Effect::Send(id, request) => {
                scenario.meanwhile(kind(&request), &mut self.world, &mut self.caches);
                Some(Event::Answered(id, self.world.answer(&request)))
            }
            effect => self.perform_at_once(effect),
        }
    }

    /// Performs an effect that is no call and no request.
    pub(super) fn perform_at_once(&mut self, effect: Effect) -> Option<Event> {
        match effect {
            Effect::ReadSchema(_) => {
                self.caches.read_schema();
                Some(Event::SchemaRead(Ok(self.caches.schema.clone())))
            }
            Effect::Cache(cache) => {
                self.caches.learn(cache);
                None
            }
            Effect::Reserve(allowance, deletions) => {
                let now = self.now.monotonic;
                let children = || self.caches.count_children();
                Some(Event::Reserved(self.budget.take(allowance, deletions, now, children)))
            }
            Effect::Release(taken, deleted) => {
                self.budget.give_back(taken, deleted);
                None
            }
            Effect::ReadRelated(asks) => Some(Event::RelatedRead(self.caches.related(&asks))),
            Effect::Resume => Some(Event::Resumed),
            Effect::Ask(..)
            | Effect::Call(..)
            | Effect::Send(..)
            | Effect::ShowNow(_)
            | Effect::Finished => None,
        }
    }

    pub(super) fn ended(&mut self, machine: Machine) -> Report {
        let settings = self.caches.settings.clone();
        let mut ended = machine.end();
        let calms_in = ended.memory.flapping().calms_in(self.now.monotonic, settings.calm());
        let leaves = ended.parent.as_ref().is_none_or(|parent| settings.is_leaving(parent));
        let memory = ended.memory.view(calms_in, leaves);
        let id = ended.parent.as_ref().map(ChildId::of);
        let report = Report::of(&ended.journal, memory, &ended.redactor, id.as_ref());
        self.events = ended.parent.as_ref().map_or_else(Vec::new, |parent| {
            let mut sent = std::mem::take(ended.memory.announced_mut());
            let announcer = Announcer {
                config: settings.config(),
                parent,
                redactor: &ended.redactor,
                memory: ended.memory.view(calms_in, leaves),
                is_paused: self.caches.is_paused,
            };
            let events = announcer.announcements(&report, &mut sent);
            *ended.memory.announced_mut() = sent;
            events
        });
        self.memory = ended.memory;
        report
    }
}

/// As the executor does, whatever the handler returns.
pub(super) fn timed_out(deadline: Duration) -> HandlerError {
    Failure::HandlerTimeout { after: deadline, hangs: true }.into()
}
