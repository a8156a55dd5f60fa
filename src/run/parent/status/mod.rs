//! Writes the result of a reconcile into the status of the parent.
//!
//! ```text
//! begin --> rival search --> schema --> patch --409--> read --> patch
//!                                                |
//!                                                `--refused--> only the conditions
//! ```

mod due;
mod patched;
mod writing;

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

pub(in crate::run) use due::is_due;
use writing::Patching;
pub(in crate::run) use writing::{
    AwaitedStatus, ReturnedStatus, StatusEnd, StatusNext, StatusPart, WantedStatus, Writing,
};

use crate::{
    journal::{Fact, ParentConflict, RequestFailure},
    object::Object,
    operator::{Condition, ConditionNames},
    plan::{
        Beside, ChildId, ChildrenField, Flapping, StatusInput, StatusPatch, desired_status_hash,
        patched_paths, status_patch,
    },
    reply::{ApiError, ErrorClass, TypeSchema},
    report::{Over, conditions},
    run::{
        drift::rival::Search,
        module_view::View,
        request::{Answer, Request},
        sibling::Sibling,
        turn::{Next, Turn},
    },
};

pub(in crate::run) fn begin(
    part: StatusPart,
    wanted: WantedStatus,
    view: &View<'_>,
) -> Turn<StatusNext> {
    let seen = view.parent.clone();
    let handler = wanted.handler.as_ref().map(|returned| &returned.0);
    let is_shared = view.settings.config().shares_status();
    // In a shared status only the fields that the handler returns are ours.
    let is_counted = |it: &&Condition| !is_shared && it.ty != Flapping::CONDITION;
    let conditions: Vec<_> = wanted.conditions.iter().filter(is_counted).cloned().collect();
    let desired = desired_status_hash(&seen, handler, &conditions, children(&wanted, view));
    let is_contested = !view.rewrites.is_same_parent && view.memory.status() == Some(desired);
    let paths = handler.filter(|_| is_shared).map(|status| json!({"status": status}));
    let paths = paths.as_ref().map(patched_paths).unwrap_or_default();
    let (attempt, refused, had_failed) = (1, None, view.progress.has_failed());
    let writing =
        Writing { part, wanted, desired, is_contested, seen, attempt, refused, had_failed };
    match Search::before_status(view, paths).filter(|_| is_contested && part == StatusPart::Whole) {
        Some(search) => Turn::new(Next::Ask(
            search.request(),
            Box::new(AwaitedStatus::FindRival(search, writing)),
        )),
        None => writing.with_schema(view),
    }
}

pub(in crate::run) fn answered(
    state: AwaitedStatus,
    answer: Answer,
    view: &View<'_>,
) -> Turn<StatusNext> {
    match state {
        AwaitedStatus::FindRival(search, writing) => {
            let fact = search.found(answer, view.settings.name());
            Turn::new(()).note(fact).before(writing.with_schema(view))
        }
        AwaitedStatus::Patched(patching) => patching.answered(answer, view),
        AwaitedStatus::Looking(patching, error) => patching.looked(answer, &error, view),
    }
}

pub(in crate::run) fn schema_read(
    writing: Writing,
    schema: Result<Option<Arc<TypeSchema>>, ApiError>,
    view: &View<'_>,
) -> Turn<StatusNext> {
    match schema {
        Ok(Some(schema)) => {
            let parent = writing.seen.clone();
            writing.send(schema, parent, view)
        }
        // The schema is not published yet.
        Ok(None) => match writing.part {
            StatusPart::Whole => over().note(Fact::StatusDue),
            StatusPart::Conditions => writing.conditions_not_written(),
            StatusPart::HandlerTimeout => over(),
        },
        Err(error) => writing.failed(&error),
    }
}

impl Writing {
    fn with_schema(self, view: &View<'_>) -> Turn<StatusNext> {
        let handler = self.wanted.handler.as_ref();
        let is_shared = view.settings.config().shares_status();
        if is_shared && handler.is_none_or(|returned| returned.0.is_null()) {
            return self.unchanged();
        }
        match view.snapshot.schemas.fresh.clone() {
            Some(schema) => {
                let parent = self.seen.clone();
                self.send(schema, parent, view)
            }
            None => Turn::new(Next::Done(StatusEnd::ReadSchema(Box::new(self)))),
        }
    }

    fn send(self, schema: Arc<TypeSchema>, parent: Object, view: &View<'_>) -> Turn<StatusNext> {
        let patch = self.patch_of(&parent, &schema, view);
        let mut turn = Turn::new(());
        turn.facts.extend(overruled(&patch));
        turn.facts.extend(held(&patch, view));
        if !patch.undeclared.is_empty() {
            turn = turn.note(Fact::Undeclared(patch.undeclared.clone()));
        }
        let Some(body) = patch.body.clone() else { return turn.before(self.unchanged()) };
        let change = change_of(&parent, &body);
        if is_not_kept(change, view) {
            return turn.before(self.unchanged());
        }
        let request = Request::PatchStatus(ChildId::of(&parent), body);
        let patching = Patching { writing: self, schema, parent, patch, change };
        turn.before(Turn::new(Next::Ask(request, Box::new(AwaitedStatus::Patched(patching)))))
    }

    fn patch_of(&self, parent: &Object, schema: &TypeSchema, view: &View<'_>) -> StatusPatch {
        let WantedStatus { handler, conditions, over, .. } = &self.wanted;
        let mut types = view.settings.config().children.iter();
        let has_rollouts = types.any(|child| child.config.rolling.is_some());
        let siblings = view.siblings();
        let names = view.settings.condition_names(&siblings);
        let alone = names.alone(parent);
        let cleared = conditions::outdated(&alone, conditions, *over, has_rollouts);
        let cleared: Vec<String> =
            cleared.into_iter().map(|ty| names.written(ty).into_owned()).collect();
        let beside = beside(parent, &siblings, view);
        status_patch(StatusInput {
            parent,
            shared: view.settings.config().shares_status().then_some(&self.seen),
            handler: handler.as_ref().map(|returned| &returned.0),
            conditions: &written(conditions, &names),
            cleared: &cleared,
            names: &names,
            beside: beside.as_ref(),
            children: children(&self.wanted, view),
            observed_generation: true,
            schema: &schema.status,
            now: &super::time::text(view.now.wall),
        })
    }

    fn unchanged(self) -> Turn<StatusNext> {
        let done = over();
        match self.part {
            StatusPart::Whole => {
                done.note(Fact::StatusUpToDate { desired: Some(self.desired), parent: None })
            }
            StatusPart::Conditions => self.conditions_written(),
            StatusPart::HandlerTimeout => done,
        }
    }

    fn conditions_written(self) -> Turn<StatusNext> {
        self.refusal_announced(true)
    }

    fn conditions_not_written(self) -> Turn<StatusNext> {
        let due = self.had_failed.then_some(Fact::StatusDue);
        let mut turn = self.refusal_announced(false);
        turn.facts.extend(due);
        turn
    }

    fn refusal_announced(self, shows_conditions: bool) -> Turn<StatusNext> {
        let turn = over();
        match self.refused.filter(|_| self.had_failed) {
            Some(failure) => turn.note(Fact::StatusRefused { shows_conditions, failure }),
            None => turn,
        }
    }

    /// If the whole status is refused, the conditions are written alone. A failed status write fails the
    /// reconcile, unless that has failed already: then the status is due, so that it is retried even after a
    /// permanent failure.
    fn failed(self, error: &ApiError) -> Turn<StatusNext> {
        match self.part {
            StatusPart::Whole => {
                let is_refused = error.class() == ErrorClass::Permanent;
                let failure = RequestFailure::new("the status".to_owned(), error.clone());
                let failed = Turn::new(()).note(Fact::StatusFailed(failure.clone()));
                if is_refused {
                    return failed.before(Turn::new(Next::Done(StatusEnd::Conditions(
                        failure,
                        self.had_failed,
                    ))));
                }
                let due = self.had_failed.then_some(Fact::StatusDue);
                let mut turn = failed.before(over());
                turn.facts.extend(due);
                turn
            }
            StatusPart::Conditions => self.conditions_not_written(),
            StatusPart::HandlerTimeout => over(),
        }
    }
}

pub(in crate::run) fn begin_conditions(
    conditions: Vec<Condition>,
    over: Over,
    refused: RequestFailure,
    had_failed: bool,
    view: &View<'_>,
) -> Turn<StatusNext> {
    let wanted = WantedStatus { handler: None, conditions, children: None, over };
    let (seen, part) = (view.parent.clone(), StatusPart::Conditions);
    let (desired, is_contested, attempt, refused) = (0, false, 1, Some(refused));
    Writing { part, wanted, desired, is_contested, seen, attempt, refused, had_failed }
        .with_schema(view)
}

fn over() -> Turn<StatusNext> {
    Turn::new(Next::Done(StatusEnd::Over))
}

fn children<'a>(wanted: &'a WantedStatus, view: &View<'_>) -> ChildrenField<'a> {
    match &wanted.children {
        _ if !view.settings.config().child_status => ChildrenField::Off,
        Some(listed) => ChildrenField::Listed(listed),
        None => ChildrenField::Kept,
    }
}

/// What the operators of a parent own of its status; `None` for the only one.
pub(in crate::run) fn beside(
    parent: &Object,
    siblings: &[Sibling],
    view: &View<'_>,
) -> Option<Beside> {
    let of = |other: &Sibling| (other.name.clone(), parent.status_fields(&other.name));
    let own = || parent.status_fields(view.settings.name().as_str());
    (!siblings.is_empty()).then(|| Beside { own: own(), others: siblings.iter().map(of).collect() })
}

/// The conditions with the types by which they are written.
fn written(conditions: &[Condition], names: &ConditionNames) -> Vec<Condition> {
    let renamed = |condition: &Condition| {
        let ty = names.written(&condition.ty).into_owned();
        Condition { ty, ..condition.clone() }
    };
    conditions.iter().map(renamed).collect()
}

fn held(patch: &StatusPatch, view: &View<'_>) -> Option<Fact> {
    let (operator, held) = (view.settings.name().clone(), patch.held.clone());
    (!held.is_empty()).then(|| Fact::ParentHeld(ParentConflict { operator, held }))
}

fn change_of(parent: &Object, body: &Value) -> u64 {
    let before = parent.field("status").unwrap_or_default();
    crate::report::number_of(&(before.to_string(), body["status"].to_string()))
}

/// A change that the server does not keep (an omitted zero, a normalised quantity) is not sent again by each
/// reconcile.
fn is_not_kept(change: u64, view: &View<'_>) -> bool {
    let interval: Duration = view.settings.config().max_error_backoff;
    view.memory.unkept_status().is_some_and(|(sent, at)| {
        sent == change && view.now.monotonic.saturating_duration_since(at) < interval
    })
}

/// The warnings for fields and conditions that the handler must not return.
fn overruled(patch: &StatusPatch) -> Vec<Fact> {
    const CHILDREN: &str = "the handler returns status.children or status.childrenOmitted, which is not \
                            written: with_child_status reports the children there";
    const CONDITIONS: &str = "the handler returns a condition Synced, Reconciling or Stalled, or a Ready \
                              whose status is not \"True\", \"False\" or \"Unknown\", which is not \
                              written: Operetta sets them; use another condition type";
    let facts = [(patch.overruled, CHILDREN), (patch.overruled_condition, CONDITIONS)];
    facts.into_iter().filter_map(|(is_so, what)| is_so.then_some(Fact::Overruled(what))).collect()
}
