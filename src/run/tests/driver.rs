//! Drives machines against the world in memory: each effect is performed at once, and what it comes to is
//! told in the order in which it was asked for. Decides nothing.

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
    run::{Aim, Effect, Event, HandlerError, Job, Machine, Memory, Now, Previewed, Purpose, Response, Settings},
};

/// One operator with one parent, and the world around it.
pub(super) struct Driver {
    pub(super) world: World,
    pub(super) caches: Caches,
    pub(super) memory: Memory,
    pub(super) now: Now,
    budget: DeletionBudget,
}

/// Who is asked what should be, and told what happens.
pub(super) trait Scene {
    /// The handler is called.
    fn called(&mut self, purpose: Purpose, request: &SyncRequest)
    -> Result<Response, HandlerError>;

    /// A request is about to be answered: what others do meanwhile.
    fn meanwhile(&mut self, _: &mut World, _: &mut Caches) {}

    /// The machine is told something.
    fn told(&mut self, _: &Event) {}

    /// Then it has noted facts, and ordered something.
    fn stepped(&mut self, _: &[Fact], _: &[Effect]) {}
}

impl Driver {
    pub(super) fn new(config: OperatorConfig, handler: &dyn Handler) -> Self {
        let settings = Arc::new(Settings::new(config, handler).unwrap());
        // Noon: what a status says of the time is the same in each reconcile.
        let wall = SystemTime::UNIX_EPOCH + Duration::from_hours(24 * 365 * 56 + 12);
        let now = Now { monotonic: Instant::now(), wall };
        let (world, memory, budget) = <_>::default();
        Self { world, caches: Caches::new(settings), memory, now, budget }
    }

    pub(super) fn wait(&mut self, time: Duration) {
        self.now.monotonic += time;
        self.now.wall += time;
    }

    /// One reconcile, after so many in a row that wrote children.
    pub(super) fn reconcile(&mut self, after_writes: u32, scene: &mut dyn Scene) -> Report {
        let memory = std::mem::take(&mut self.memory);
        let machine = self.driven(Aim::Reconcile, after_writes, memory, scene);
        self.ended(machine)
    }

    /// What a reconcile would do.
    pub(super) fn preview(&mut self, scene: &mut dyn Scene) -> Previewed {
        let machine = self.driven(Aim::Plan, 0, self.memory.for_preview(), scene);
        *machine.end().preview.unwrap_or_default()
    }

    fn driven(
        &mut self,
        aim: Aim,
        after_writes: u32,
        memory: Memory,
        scene: &mut dyn Scene,
    ) -> Machine {
        let (key, uid) = (named("parent").key, Uid::new(PARENT_UID));
        let settings = self.caches.settings.clone();
        let mut machine = Machine::new(settings, Job { key, uid, after_writes, memory });
        let mut events = VecDeque::from([Event::Started(aim)]);
        let mut is_finished = false;
        while let Some(event) = events.pop_front().filter(|_| !is_finished) {
            self.wait(Duration::from_millis(1));
            let known = machine.journal.facts().len();
            scene.told(&event);
            let effects = machine.step(event, &self.caches, self.now);
            scene.stepped(&machine.journal.facts()[known..], &effects);
            for effect in effects {
                is_finished |= matches!(effect, Effect::Finished);
                events.extend(self.perform(effect, scene));
            }
        }
        assert!(is_finished, "nothing more is to come, and the machine has not finished");
        machine
    }

    fn perform(&mut self, effect: Effect, scene: &mut dyn Scene) -> Option<Event> {
        match effect {
            Effect::Call(purpose, request) => {
                Some(Event::HandlerReturned(scene.called(purpose, &request)))
            }
            Effect::Send(id, request) => {
                scene.meanwhile(&mut self.world, &mut self.caches);
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
        let standing = ended.memory.standing(calms_in, leaves);
        let report = Report::of(ended.journal.facts(), standing, &ended.redactor);
        self.memory = ended.memory;
        report
    }
}
