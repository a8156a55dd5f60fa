//! How each child stands, for the status of its parent: noted while a run goes on, put together at
//! its end. Writes nothing.

use std::{collections::HashMap, fmt::Display};

use super::{
    Context, Report,
    failure::{ChildFailure, in_the_way},
};
use crate::{
    cluster::ApiError,
    operator::{ChildState, ChildStatus, ConflictPolicy},
    plan::{ChildId, ForeignChild, Memos, Plan, Step, Waiting, WaitingReason},
};

/// What a run knows of the single children.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Every child that is wanted or still there; `None` before there is a plan, and where nobody
    /// asks.
    planned: Option<Vec<(ChildId, Planned)>>,
    said: HashMap<ChildId, (ChildState, String)>,
}

/// What a plan says of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Planned {
    Settled,
    Wanted,
    Undesired,
}

impl Told {
    /// Takes in what is planned.
    pub(super) fn plan(&mut self, plan: &Plan) {
        let Plan { steps, memos, waiting, doubtful: _, replacing: _ } = plan;
        for Waiting { id, why } in waiting {
            self.say(id, state_of(why), why);
        }
        let of_step = |step: &Step| {
            let is_wanted = step.final_deletion().is_none();
            let planned = if is_wanted { Planned::Wanted } else { Planned::Undesired };
            (step.id().clone(), planned)
        };
        let mut planned: Vec<_> = memos.ids().map(|id| (id, Planned::Settled)).collect();
        planned.extend(steps.iter().map(of_step));
        planned.extend(waiting.iter().map(|waiting| (waiting.id.clone(), Planned::Undesired)));
        planned.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        self.planned = Some(planned);
    }

    /// Takes in how a child stands. What is said last counts.
    pub(super) fn say(&mut self, id: &ChildId, state: ChildState, why: &dyn Display) {
        self.said.insert(id.clone(), (state, why.to_string()));
    }

    /// Every child of which something was said.
    pub(super) fn said(&self) -> impl Iterator<Item = (&ChildId, ChildState, &str)> {
        self.said.iter().map(|(id, (state, why))| (id, *state, why.as_str()))
    }

    /// Says in other words why children failed.
    pub(super) fn rephrase_failures(&mut self, rephrase: impl Fn(&str) -> String) {
        let said = self.said.values_mut();
        for (_, why) in said.filter(|(state, _)| *state == ChildState::Failed) {
            *why = rephrase(why);
        }
    }

    /// Whether something was said of a child.
    pub(super) fn knows(&self, id: &ChildId) -> bool {
        self.said.contains_key(id)
    }

    /// How a child stands; `None` when it is gone, as it should be.
    fn state(
        &self,
        context: &Context,
        memos: &Memos,
        (id, planned): &(ChildId, Planned),
    ) -> Option<(ChildState, Option<String>)> {
        if let Some((state, why)) = self.said.get(id) {
            return Some((*state, Some(why.clone()).filter(|why| !why.is_empty())));
        }
        if let Some(contested) = memos.contested_of(id) {
            let state = match contested.policy {
                ConflictPolicy::Report => ChildState::Conflict,
                ConflictPolicy::Yield | ConflictPolicy::Force => ChildState::Held,
            };
            return Some((state, Some(contested.why().to_string())));
        }
        let is_settled = match planned {
            Planned::Settled => true,
            Planned::Wanted => memos.is_known(id),
            Planned::Undesired => false,
        };
        let cached = context.cached(&id.ty, &id.key);
        match cached {
            _ if is_settled => Some((ChildState::Synced, None)),
            Some(child) if child.is_deleting() => {
                // What the next run will say.
                Some((ChildState::Terminating, Some(WaitingReason::deleting(&child).to_string())))
            }
            None if *planned == Planned::Undesired => None,
            Some(_) | None => Some((ChildState::Pending, None)),
        }
    }
}

// === Report ===

impl Report {
    /// A request about a child failed.
    pub(super) fn child_failed(&mut self, id: &ChildId, error: ApiError) {
        self.told.say(id, ChildState::Failed, &error);
        if error.is_throttling() {
            self.memory.troubles_mut().throttled.insert(id.clone());
        }
        self.step_failed(id, error);
    }

    /// A request about something else failed. The same failure twice is one.
    pub(super) fn step_failed(&mut self, what: &dyn Display, error: ApiError) {
        let failure = ChildFailure::new(what.to_string(), error);
        let is_same = |known: &ChildFailure| {
            known.what == failure.what && known.error.to_string() == failure.said
        };
        let known = self.child_failures.iter().position(is_same);
        let at = known.unwrap_or(self.child_failures.len());
        if failure.is_throttled() {
            self.throttled_by = Some(at);
        }
        if known.is_none() {
            self.child_failures.push(failure);
        }
    }

    /// What could be done about the failure of a child.
    pub(super) fn hint(&mut self, id: &ChildId, hint: &'static str) {
        let what = id.to_string();
        let failure = self.child_failures.iter_mut().find(|it| it.what == what);
        if let Some(failure) = failure.filter(|_| !hint.is_empty()) {
            failure.hint = hint;
        }
    }

    /// Whether the server has asked to be left alone for a while.
    pub(super) fn is_throttled(&self) -> bool {
        self.throttled_by.is_some()
    }

    /// A write is not tried, as the server has asked to be left alone for a while.
    pub(super) fn hold_back(&mut self, id: &ChildId) {
        self.wait(id, &"the server asked us to wait");
        let failure = self.throttled_by.and_then(|at| self.child_failures.get_mut(at));
        if let Some(failure) = failure {
            failure.held_back += 1;
        }
    }

    pub(super) fn found_foreign(&mut self, child: ForeignChild) {
        self.told.say(&child.id, ChildState::Conflict, &in_the_way(&child));
        self.foreign.push(child);
    }

    /// A second look has found a child as desired.
    pub(super) fn found_settled(&mut self, id: &ChildId) {
        self.unchanged += 1;
        self.told.say(id, ChildState::Synced, &"");
    }

    /// Nothing can be done about a child now.
    pub(super) fn wait(&mut self, id: &ChildId, why: &dyn Display) {
        self.wait_as(ChildState::Pending, id, why);
    }

    /// The same, or nothing is to be done at all.
    pub(super) fn wait_for(&mut self, id: &ChildId, why: &WaitingReason) {
        match why {
            WaitingReason::OnDelete { .. } => {
                self.told.say(id, state_of(why), why);
                self.held.push(format!("{id}: {why}"));
            }
            WaitingReason::Deleting { .. } => self.wait_as(state_of(why), id, why),
            WaitingReason::TypeNotSynced => {
                self.unsynced.push(id.clone());
                self.wait_as(state_of(why), id, why);
            }
        }
    }

    /// A child that is desired is not written now.
    pub(super) fn put_off(&mut self, id: &ChildId, why: &dyn Display) {
        self.put_off += 1;
        self.wait(id, why);
    }

    pub(super) fn wait_as(&mut self, state: ChildState, id: &ChildId, why: &dyn Display) {
        self.told.say(id, state, why);
        self.waiting.push(format!("{id}: {why}"));
    }
}

/// How all children stand, in the order of their names; `None` when the run does not know.
pub(super) fn listed(context: &Context, report: &Report) -> Option<Vec<ChildStatus>> {
    let (told, memos) = (&report.told, &report.memory.memos);
    let entry = |planned: &(ChildId, Planned)| {
        let (state, message) = told.state(context, memos, planned)?;
        let ChildId { ty, key } = &planned.0;
        Some(ChildStatus {
            api_version: ty.api_version().to_owned(),
            kind: ty.kind().to_owned(),
            namespace: key.namespace.as_deref().map(str::to_owned),
            name: key.name.to_string(),
            state,
            message,
        })
    };
    told.planned.as_ref().map(|planned| planned.iter().filter_map(entry).collect())
}

/// How a child stands for which nothing can be done now.
pub(super) fn state_of(why: &WaitingReason) -> ChildState {
    match why {
        WaitingReason::Deleting { .. } => ChildState::Terminating,
        WaitingReason::TypeNotSynced => ChildState::Pending,
        WaitingReason::OnDelete { .. } => ChildState::Held,
    }
}
