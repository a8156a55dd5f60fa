//! What came of a run.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    time::{Duration, Instant, SystemTime},
};

use super::{
    Failure, Memory, Pause, PausedBy, altered, child_status::Told, failure::ChildFailure,
    veil::Tell,
};
use crate::{
    history::{Decision, Drift, RunStep, StepTimes, Verb, WriteRecord},
    metrics::Metrics,
    object::Uid,
    operator::{ConflictPolicy, OperatorName},
    plan::{ChildId, ForeignChild, Interlock, Rewrite, RewriteReason},
};

/// How far a parent has got on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It is there, as far as the run knows.
    Alive,
    /// It has changed since the run began: another run decides again.
    Outdated,
    /// Its handler has not finished finalizing it.
    Finalizing,
    /// It was finalized, and may go.
    Finalized,
    /// It was gone before the run began.
    Gone,
}

/// What came of a run.
#[derive(Debug)]
pub struct Report {
    /// When the run started.
    pub started: SystemTime,
    /// The same on the clock that never goes back: what changed before was seen.
    pub began: Instant,
    /// How long it took, without the wait for a permit.
    pub took: Duration,
    /// How long its steps took.
    pub steps: StepTimes,
    /// When the step began that is under way.
    step_began: Instant,
    /// What the next run needs to know.
    pub memory: Memory,
    /// The writes of children that the server accepted.
    pub writes: Vec<WriteRecord>,
    /// The writes of children that changed nothing on the server.
    pub noop_writes: Vec<WriteRecord>,
    /// What was decided about the children that were not simply as desired.
    pub decisions: Vec<Decision>,
    /// How many children were as desired.
    pub unchanged: usize,
    /// Children that cannot be written yet, and why.
    pub waiting: Vec<String>,
    /// How many of them are to be deleted as soon as every write of another child is accepted.
    pub(super) behind_writes: usize,
    /// Those of them that are not deleted, as not all of their type is known.
    pub(super) unsynced: Vec<ChildId>,
    /// Children that differ and are left so, because their strategy or conflict policy says so.
    pub held: Vec<String>,
    /// What was not done because of a pause; `None` when there is none, or when only the operator is
    /// paused and nothing was to be done.
    pub paused: Option<Pause>,
    /// What is not deleted because it is too much, in words.
    pub interlock: Option<String>,
    /// How many children that were no longer wanted were deleted, or may have been.
    pub deleted: usize,
    /// When the handler wants to run again.
    pub resync: Option<Duration>,
    /// The children that are desired and were on their way out when the run began.
    pub(super) replacing: Vec<Uid>,
    /// How many children were deleted so that others come after them.
    pub(super) recreated: usize,
    /// How many children that are desired are not there yet, or were not written, though nothing failed.
    pub(super) put_off: usize,
    /// Whether the status was written.
    pub wrote_status: bool,
    /// Whether the status waits until the server publishes what it may hold.
    pub status_is_due: bool,
    /// How many objects are left alone of which no watch tells what becomes of them.
    pub unwatched: usize,
    /// How far the parent got.
    pub end: End,
    /// How often something was written that is written too often.
    pub slowed: Option<u32>,
    /// When what is written again and again may have come to rest.
    pub calms_in: Option<Duration>,
    /// How the single children stand.
    pub(super) told: Told,
    /// What was paused when the run began.
    pub(super) began_paused: Option<PausedBy>,
    /// Whether the parent is as the run before left it.
    pub(super) is_same_parent: bool,
    /// The children that are to be written again, and those that were.
    pub(super) rewrites: HashMap<ChildId, Rewrite>,
    pub(super) rewritten: Vec<(ChildId, Rewrite, Verb)>,
    /// A hash of the failure that was told last.
    pub(super) announced: Option<u64>,
    /// When it is told what failed.
    pub(super) tell: Tell,
    /// The failure of a whole step.
    failure: Option<Failure>,
    /// The failures of single writes.
    pub(super) child_failures: Vec<ChildFailure>,
    /// Which of them is an answer that asks to be left alone for a while.
    pub(super) throttled_by: Option<usize>,
    pub(super) foreign: Vec<ForeignChild>,
}

/// So many children are named in a text for people.
const MAX_UNSETTLED: usize = 10;

impl Report {
    pub(super) fn new(started: SystemTime, memory: Memory) -> Self {
        let began = Instant::now();
        Self {
            started,
            began,
            took: Duration::ZERO,
            steps: StepTimes::default(),
            step_began: began,
            memory,
            writes: Vec::new(),
            noop_writes: Vec::new(),
            decisions: Vec::new(),
            unchanged: 0,
            waiting: Vec::new(),
            behind_writes: 0,
            unsynced: Vec::new(),
            held: Vec::new(),
            paused: None,
            began_paused: None,
            interlock: None,
            deleted: 0,
            resync: None,
            replacing: Vec::new(),
            recreated: 0,
            put_off: 0,
            wrote_status: false,
            status_is_due: false,
            unwatched: 0,
            end: End::Alive,
            slowed: None,
            calms_in: None,
            told: Told::default(),
            is_same_parent: false,
            rewrites: HashMap::new(),
            rewritten: Vec::new(),
            announced: None,
            tell: Tell::Now,
            failure: None,
            child_failures: Vec::new(),
            throttled_by: None,
            foreign: Vec::new(),
        }
    }

    /// A step has ended.
    pub(super) fn lap(&mut self, step: RunStep) {
        let now = Instant::now();
        self.steps.add(step, now.saturating_duration_since(self.step_began));
        self.step_began = now;
    }

    /// The parent is not there (any more): nothing was done.
    pub(super) fn gone(self) -> Self {
        Self { end: End::Gone, ..self }
    }

    pub(super) fn fail(&mut self, failure: Failure) {
        self.failure = Some(failure);
    }

    pub(super) fn take_failure(&mut self) -> Option<Failure> {
        self.failure.take()
    }

    /// Whether a child that is desired may not be there yet: its write has failed or was put off, or was
    /// left to somebody else.
    pub(super) fn is_incomplete(&self) -> bool {
        self.put_off > 0
            || !self.child_failures.is_empty()
            || !self.foreign.is_empty()
            || self.is_contested()
    }

    /// Whether children were deleted so that others come after them, and not in the run before.
    pub(super) fn recreates_first(&self) -> bool {
        self.recreated > 0 && self.memory.troubles().owed_wait.is_some()
    }

    /// Whether a write has failed that may succeed as it is.
    pub(super) fn has_passing_failures(&self) -> bool {
        self.child_failures.iter().any(|failure| !failure.is_permanent())
    }

    /// Whether it is known that no deletions are held, by this run or the last one that judged them.
    pub(super) fn holds_no_deletions(&self) -> bool {
        self.memory.interlock.as_ref().is_some_and(|interlock| !interlock.is_holding())
    }

    /// Whether a child is not written because others hold fields of it.
    pub(super) fn is_contested(&self) -> bool {
        self.contested().next().is_some()
    }

    fn contested(&self) -> impl Iterator<Item = &ChildId> {
        let contested = self.memory.memos.contested();
        contested.filter(|child| child.policy == ConflictPolicy::Report).map(|child| &child.id)
    }

    /// Counts the children that are in conflict, altered or held from now on, and no longer those that
    /// were. What stood in the way of a parent that `leaves` is none of its business any more.
    pub(super) fn count_standing(
        &mut self,
        metrics: &Metrics,
        operator: &OperatorName,
        leaves: bool,
    ) {
        let is_there = !leaves && !matches!(self.end, End::Gone | End::Finalized);
        let children = self.memory.troubles().foreign.keys().chain(self.contested());
        let children = children.filter(|_| is_there);
        let in_conflict: Box<[_]> =
            children.map(|id| metrics.in_conflict(operator, &id.ty)).collect();
        let altered = self.memory.memos.altered().filter(|_| is_there);
        let altered: Box<[_]> = altered.map(|(id, _)| metrics.altered(operator, &id.ty)).collect();
        let held = self.memory.interlock.as_ref().map_or(0, Interlock::held);
        let is_held = held > 0 && (is_there || self.interlock.is_some());
        let held = is_held.then(|| metrics.held(operator, held));
        let is_one = held.is_some() || !in_conflict.is_empty() || !altered.is_empty();
        if let Some(troubles) = self.memory.troubles_if(is_one) {
            (troubles.in_conflict, troubles.altered, troubles.held) = (in_conflict, altered, held);
        }
    }

    /// The children that are not as desired, each with the reason; of very many some.
    pub fn unsettled(&self) -> Option<String> {
        let some = self.waiting.iter().chain(&self.held).take(MAX_UNSETTLED);
        let text = some.map(String::as_str).collect::<Vec<_>>().join("; ");
        (!text.is_empty()).then_some(text)
    }

    /// Says what the server makes of children: nobody is to look for it among what is as desired.
    pub(super) fn tell_altered(&mut self) {
        let told = altered::texts(&self.memory.memos);
        self.held.extend(told);
    }

    pub(super) fn wrote(&mut self, id: &ChildId, verb: Verb, paths: Vec<String>) {
        let mut rewrite = self.rewrites.remove(id);
        // What others hold was to be written as well, and was not.
        if let Some(rewrite) =
            rewrite.as_mut().filter(|_| verb == Verb::Updated && !paths.is_empty())
        {
            rewrite.paths.clone_from(&paths);
        }
        let drift = rewrite.as_ref().and_then(drift).map(Box::new);
        self.rewritten.extend(rewrite.map(|rewrite| (id.clone(), rewrite, verb)));
        self.writes.push(WriteRecord { child: id.to_string(), verb, paths, drift });
    }

    /// The server accepted a write and found nothing to change.
    pub(super) fn wrote_nothing(&mut self, id: &ChildId, paths: Vec<String>) {
        self.unchanged += 1;
        let (child, verb) = (id.to_string(), Verb::Unchanged);
        self.noop_writes.push(WriteRecord { child, verb, paths, drift: None });
    }

    pub(super) fn knows_foreign(&self) -> bool {
        !self.memory.troubles().foreign.is_empty()
    }

    /// What stood in the way of a child is not known to do so any more: the object was looked at, or the
    /// server has other reasons to refuse the child.
    pub(super) fn found_way(&mut self, id: &ChildId) {
        if let Some(troubles) = self.memory.troubles_if(false) {
            troubles.foreign.remove(id);
        }
    }

    /// Keeps what stood in the way for the next run, once children have been tried. Not whenever a
    /// failure is told: a status that is refused says nothing of them. What was not tried this time, or
    /// could not be, is as it was known to be.
    pub(super) fn remember_foreign(&mut self, desired: &BTreeSet<ChildId>) {
        let found = self.foreign.iter().map(|child| (child.id.clone(), child.clone()));
        let is_untried = |id: &ChildId| desired.contains(id) && !self.memory.memos.is_known(id);
        let before = self.memory.troubles().foreign.iter().filter(|(id, _)| is_untried(id));
        let before = before.map(|(id, child)| (id.clone(), child.clone()));
        let foreign: BTreeMap<_, _> = before.chain(found).collect();
        if let Some(troubles) = self.memory.troubles_if(!foreign.is_empty()) {
            troubles.foreign = foreign;
        }
    }

    /// Moves the failures of single writes to where the failure of a run is looked for.
    pub(super) fn close(&mut self) {
        if self.failure.is_some() {
            return;
        }
        if !self.child_failures.is_empty() {
            self.throttled_by = None;
            self.failure = Some(Failure::Api(std::mem::take(&mut self.child_failures)));
        } else if !self.foreign.is_empty() {
            self.failure = Some(Failure::Foreign(std::mem::take(&mut self.foreign)));
        }
    }

    /// Whether the parent is to run again when its operator is no longer paused.
    pub fn owes_run(&self) -> bool {
        self.paused.is_some_and(|pause| pause.by == PausedBy::Operator)
    }

    /// Why the run failed.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// Whether nothing is left to write, or writing failed: the time to write the status.
    pub fn has_settled(&self) -> bool {
        self.writes.is_empty() || self.failure.is_some() || self.slowed.is_some()
    }
}

fn drift(rewrite: &Rewrite) -> Option<Drift> {
    let Rewrite { why, from, to, changed_by: manager, .. } = rewrite.clone();
    (why == RewriteReason::Drift).then_some(Drift { manager, from, to })
}
