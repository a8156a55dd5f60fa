//! Drives machines against the world in memory: performs each effect at once, and delivers the events in
//! order. Decides nothing.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use super::{
    caches::Caches,
    world::{PARENT_UID, World, named},
};
use crate::{
    journal::Fact,
    object::Uid,
    operator::{Handler, OperatorConfig, SyncRequest},
    plan::DeletionBudget,
    report::Report,
    run::{
        Aim, Effect, Event, HandlerError, Job, Machine, Memory, Now, Previewed, Purpose, Response,
        Settings,
    },
};

/// One operator with one parent, and the world around it.
pub(super) struct Driver {
    pub(super) world: World,
    pub(super) caches: Caches,
    pub(super) memory: Memory,
    pub(super) now: Now,
    budget: DeletionBudget,
}

/// The handler, and observers of a reconcile.
pub(super) trait Scenario {
    /// The handler is called.
    fn called(&mut self, purpose: Purpose, request: &SyncRequest)
    -> Result<Response, HandlerError>;

    /// Called before a request is answered, for changes by others.
    fn meanwhile(&mut self, _: &mut World, _: &mut Caches) {}

    /// Called with each event.
    fn received(&mut self, _: &Event) {}

    /// Called with the facts and effects of each step.
    fn stepped(&mut self, _: &[Fact], _: &[Effect]) {}
}

impl Driver {
    pub(super) fn new(config: OperatorConfig, handler: &dyn Handler) -> Self {
        let settings = Arc::new(Settings::new(config, handler).unwrap());
        // Fixed, so that times in a status are the same in each reconcile.
        let wall = SystemTime::UNIX_EPOCH + Duration::from_hours(24 * 365 * 56 + 12);
        let now = Now { monotonic: Instant::now(), wall };
        let (world, memory, budget) = <_>::default();
        Self { world, caches: Caches::new(settings), memory, now, budget }
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
        let machine = self.driven(Aim::Plan, 0, self.memory.for_preview(), scenario);
        *machine.end().preview.unwrap_or_default()
    }

    fn driven(
        &mut self,
        aim: Aim,
        after_writes: u32,
        memory: Memory,
        scenario: &mut dyn Scenario,
    ) -> Machine {
        let (key, uid) = (named("parent").key, Uid::new(PARENT_UID));
        let settings = self.caches.settings.clone();
        let mut machine = Machine::new(settings, Job { key, uid, after_writes, memory });
        let mut events = VecDeque::from([Event::Started(aim)]);
        let mut is_finished = false;
        while let Some(event) = events.pop_front().filter(|_| !is_finished) {
            self.wait(Duration::from_millis(1));
            let known = machine.journal.facts().len();
            scenario.received(&event);
            let effects = machine.step(event, &self.caches, self.now);
            scenario.stepped(&machine.journal.facts()[known..], &effects);
            for effect in effects {
                is_finished |= matches!(effect, Effect::Finished);
                events.extend(self.perform(effect, scenario));
            }
        }
        assert!(is_finished, "no event is pending, and the machine has not finished");
        machine
    }

    fn perform(&mut self, effect: Effect, scenario: &mut dyn Scenario) -> Option<Event> {
        match effect {
            Effect::Call(purpose, request) => {
                Some(Event::HandlerReturned(scenario.called(purpose, &request)))
            }
            Effect::Send(id, request) => {
                scenario.meanwhile(&mut self.world, &mut self.caches);
                Some(Event::Answered(id, self.world.answer(&request)))
            }
            Effect::ReadSchema => {
                self.caches.schema = Some(super::caches::schema());
                Some(Event::SchemaRead(Ok(self.caches.schema.clone())))
            }
            Effect::Cache(cache) => {
                self.caches.learn(cache);
                None
            }
            Effect::Reserve(allowance, deletions) => {
                let now = self.now.monotonic;
                Some(Event::Reserved(self.budget.take(allowance, deletions, now, || 0)))
            }
            Effect::Release(taken, deleted) => {
                self.budget.give_back(taken, deleted);
                None
            }
            Effect::Resume => Some(Event::Resumed),
            Effect::ShowNow(_) | Effect::Finished => None,
        }
    }

    fn ended(&mut self, machine: Machine) -> Report {
        let settings = self.caches.settings.clone();
        let ended = machine.end();
        let calms_in = ended.memory.flapping().calms_in(self.now.monotonic, settings.calm());
        let leaves = ended.parent.as_ref().is_none_or(|parent| settings.is_leaving(parent));
        let memory = ended.memory.view(calms_in, leaves);
        let report = Report::of(ended.journal.facts(), memory, &ended.redactor);
        self.memory = ended.memory;
        report
    }
}
