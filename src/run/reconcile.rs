//! The state of one reconcile, and what its steps share. The steps are in files of their own; each returns the
//! stage that follows.

use std::{collections::BTreeSet, sync::Arc, time::Instant};

use super::{
    Effect, Memory, Previewed, Request, RequestId, Settings,
    cache_snapshot::{Now, Snapshot},
    effect::Cache,
    module_view::View,
    stage::{Stage, Then},
    turn::Turn,
};
use crate::{
    history::{Laps, ReconcileStep, StepTimes},
    journal::{End, Fact, Journal, PausedBy},
    object::{Object, ObjectKey, Redactor, Uid},
    operator::{Children, Decoration, DesiredChild},
    plan::{ChildId, FinishedJobs, Rewrites},
    report::Report,
};

#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) key: ObjectKey,
    /// The parent's uid: another object of the same name is another parent.
    pub(crate) uid: Uid,
    /// How many reconciles directly before this one wrote children.
    pub(crate) after_writes: u32,
    pub(crate) memory: Memory,
}

/// What a reconcile knows.
#[derive(Debug)]
pub(super) struct Reconcile {
    pub(super) settings: Arc<Settings>,
    pub(super) key: ObjectKey,
    pub(super) uid: Uid,
    pub(super) after_writes: u32,
    pub(super) journal: Journal,
    pub(super) memory: Memory,
    pub(super) rewrites: Rewrites,
    pub(super) redactor: Option<Redactor>,
    /// What the handler returned that may be secret.
    pub(super) returned: Vec<DesiredChild>,
    /// The parent as the reconcile sees it; `None` before the first step, and if it is gone.
    pub(super) parent: Option<Object>,
    /// The cached objects that refer to the parent, at the time of the handler call.
    pub(super) observed: Children,
    /// The related objects; `None` until they are known, and where the operator has none.
    pub(super) related: Option<Children>,
    /// The desired children whose readiness does not count.
    pub(super) uncounted: BTreeSet<ChildId>,
    /// The desired Jobs that have finished and have a TTL.
    pub(super) finished_jobs: FinishedJobs,
    /// What a decorator puts on the parent, from the plan until it is there.
    pub(super) decoration: Option<Decoration>,
    /// The result of a preview; `None` for a reconcile that writes.
    pub(super) preview: Option<Box<Previewed>>,
    pub(super) effects: Vec<Effect>,
    /// The input of this step.
    pub(super) snapshot: Snapshot,
    pub(super) now: Now,
    last_request: RequestId,
    times: StepTimes,
    step_began: Option<Instant>,
    /// The steps that ended since this was read.
    laps: Laps,
}

#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) journal: Journal,
    pub(crate) memory: Memory,
    /// The redactor for texts of handlers and servers.
    pub(crate) redactor: Redactor,
    /// The parent as last seen; `None` when it was gone.
    pub(crate) parent: Option<Object>,
    pub(crate) times: StepTimes,
    /// What it would have done, where it was only to be shown and could be planned.
    pub(crate) preview: Option<Box<Previewed>>,
}

// === from outside ===

impl Reconcile {
    pub(super) fn new(settings: Arc<Settings>, job: Job, now: Now) -> Self {
        let Job { key, uid, after_writes, memory } = job;
        let (journal, rewrites, redactor, returned, parent, observed) = <_>::default();
        let (related, uncounted, finished_jobs, decoration, preview) = <_>::default();
        let (effects, snapshot, last_request, times, step_began, laps) = <_>::default();
        Self {
            settings,
            key,
            uid,
            after_writes,
            journal,
            memory,
            rewrites,
            redactor,
            returned,
            parent,
            observed,
            related,
            uncounted,
            finished_jobs,
            decoration,
            preview,
            effects,
            snapshot,
            now,
            last_request,
            times,
            step_began,
            laps,
        }
    }

    pub(super) fn begin_step(&mut self, snapshot: Snapshot, now: Now) {
        (self.snapshot, self.now) = (snapshot, now);
        self.step_began.get_or_insert(now.monotonic);
    }

    /// The snapshot ends with its step: the caches keep what is read of them.
    pub(super) fn end_step(&mut self) -> Vec<Effect> {
        self.snapshot = Snapshot::default();
        std::mem::take(&mut self.effects)
    }

    pub(super) fn laps(&mut self) -> impl Iterator<Item = ReconcileStep> + use<> {
        std::mem::take(&mut self.laps).ended()
    }

    pub(super) fn end(mut self) -> Ended {
        self.memory.shrink();
        let Self { journal, memory, parent, times, redactor, preview, .. } = self;
        Ended { journal, memory, redactor: redactor.unwrap_or_default(), parent, times, preview }
    }
}

// === shared by all steps ===

impl Reconcile {
    /// # Panics
    /// Before the first step, which finds the parent or ends the reconcile.
    pub(super) fn parent(&self) -> &Object {
        self.parent.as_ref().expect("the first step finds the parent or ends the reconcile")
    }

    pub(super) fn note(&mut self, facts: impl IntoIterator<Item = Fact>) {
        for fact in facts {
            self.append(fact);
        }
        if let Some(pause) = self.unknown_pause() {
            self.append(pause);
        }
    }

    fn append(&mut self, mut fact: Fact) {
        if let Fact::RequestFailed { failure, .. } = &mut fact {
            failure.of_parent(&self.key.name);
        }
        self.memory.learn(&fact, self.now, self.settings.calm());
        self.journal.append(fact);
    }

    /// What is known of the pause, if the journal does not have it yet.
    fn unknown_pause(&self) -> Option<Fact> {
        let progress = self.journal.progress();
        let by = progress.paused?.by;
        let is_known = progress.known_pause().is_some();
        let pause = if is_known { None } else { self.view().pause_by(by) };
        Some(Fact::PauseKnown(by, pause?))
    }

    /// What a module may read.
    pub(super) fn view(&self) -> View<'_> {
        View {
            settings: &self.settings,
            snapshot: &self.snapshot,
            now: self.now,
            parent: self.parent(),
            memory: &self.memory,
            progress: self.journal.progress(),
            rewrites: &self.rewrites,
            is_preview: self.preview.is_some(),
        }
    }

    /// Asks a module, and records the facts and the changes of the caches of its turn.
    pub(super) fn ask<N>(&mut self, module: impl FnOnce(&View<'_>) -> Turn<N>) -> N {
        let turn = module(&self.view());
        self.note(turn.facts);
        turn.cache.into_iter().for_each(|cache| self.cache(cache));
        turn.next
    }

    /// Changes a cache.
    pub(super) fn cache(&mut self, cache: Cache) {
        self.snapshot.change(&cache, &self.settings);
        self.effects.push(Effect::Cache(cache));
    }

    pub(super) fn cached_parent(&self) -> Option<Object> {
        let id = self.id();
        self.snapshot.cached(&id).filter(|parent| *parent.uid() == self.uid)
    }

    pub(super) fn send(&mut self, request: Request) -> RequestId {
        self.last_request += 1;
        self.effects.push(Effect::Send(self.last_request, request));
        self.last_request
    }

    /// The parent.
    pub(super) fn id(&self) -> ChildId {
        ChildId { ty: self.settings.config().parent.clone(), key: self.key.clone() }
    }

    pub(super) fn report(&self) -> Report {
        let calms_in = self.memory.flapping().calms_in(self.now.monotonic, self.settings.calm());
        let nothing = Redactor::default();
        let redactor = self.redactor.as_ref().unwrap_or(&nothing);
        let memory = self.memory.view(calms_in, false);
        Report::of(&self.journal, memory, redactor, Some(&self.id()))
    }

    /// A step of the reconcile has ended.
    pub(super) fn lap(&mut self, step: ReconcileStep) {
        let began = self.step_began.replace(self.now.monotonic).unwrap_or(self.now.monotonic);
        self.times.add(step, self.now.monotonic.saturating_duration_since(began));
        self.laps.add(step);
    }

    pub(super) fn paused_by_now(&self) -> Option<PausedBy> {
        self.view().paused_by_now()
    }

    pub(super) fn is_alive(&self) -> bool {
        self.journal.progress().is_alive()
    }

    /// Whether the parent is leaving: it is deleted, or not selected any more.
    pub(super) fn is_finalizing(&self) -> bool {
        self.settings.is_leaving(self.parent())
    }

    pub(super) fn parent_is(&mut self, end: End) {
        self.note([Fact::Parent(end)]);
    }

    pub(super) fn finish(&mut self) -> Stage {
        if self.awaits_redactor() {
            return Stage::ReadingSchema(Then::Finish);
        }
        self.remember_marked();
        self.effects.push(Effect::Finished);
        Stage::Finished
    }
}
