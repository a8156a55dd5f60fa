//! Handles an unforced apply that is refused because others hold some of its fields: leaves these fields, or
//! the whole child, unmodified. Ownership fields are always taken.
//!
//! | waits for | answer | next |
//! |---|---|---|
//! | a read, as the full apply saw an older version | it has changed | the full apply again |
//! | | unchanged | the rest is applied, or nothing |
//! | a read before the rest | it still differs | the rest without force, on that version |
//! | the rest | fields held | fewer fields, or nothing |
//! | | only ownership fields are held | the rest with force |
//! | | 409 | another read, three times at most |
//! | a read before nothing is applied | it exists | the held fields are remembered with its version |

use super::{
    accepted::{written, wrote_nothing},
    held::held,
    task::{
        Attempt, AwaitedChild, ChildNext, Dispute, Disputing, Refused, TRIES, Task, ask, done, hand,
    },
};
use crate::{
    diff::differ_in_status_only,
    history::Verb,
    journal::Fact,
    object::Object,
    operator::ConflictPolicy,
    plan::{
        AfterConflict, ChildId, Contested, HeldField, Write, after_conflict, is_ownership_field,
        without,
    },
    reply::{ApiError, ErrorClass},
    run::{
        effect::Cache,
        module_view::View,
        request::{Answer, Force, Reply, Request},
        turn::{Turn, child_failed, not_modified, put_off},
    },
};

pub(super) fn begin(mut dispute: Dispute, view: &View<'_>) -> Turn<ChildNext> {
    let held = std::mem::take(&mut dispute.held);
    match dispute.before.take() {
        Some(before) => {
            let request = dispute.look();
            ask(request, AwaitedChild::Dispute(Disputing::Settle(dispute, before, held)))
        }
        None => dispute.settle(held, view),
    }
}

pub(super) fn answered(state: Disputing, answer: Answer, view: &View<'_>) -> Turn<ChildNext> {
    match state {
        Disputing::Settle(mut dispute, before, held) => match dispute.seen(answer) {
            Ok(live) if differ_in_status_only(&live, &before) => {
                dispute.live = Some(live);
                dispute.settle(held, view)
            }
            Ok(live) => {
                let (write, verb) = (dispute.attempt.write.clone(), dispute.attempt.verb);
                dispute.attempt.again(write, verb, view).cache([Cache::Saw(live)])
            }
            Err(end) => *end,
        },
        Disputing::Look(dispute, rest) => match dispute.seen(answer) {
            Ok(live) => dispute.send(rest, live, view),
            Err(end) => *end,
        },
        Disputing::Sent(dispute, rest, live) => match Reply::written(answer) {
            Ok(reply) => dispute.applied(&rest, &live, reply, view),
            Err(error) => dispute.refused(rest, live, error, view),
        },
        Disputing::Forced(dispute, rest, live) => match Reply::written(answer) {
            Ok(reply) => dispute.applied(&rest, &live, reply, view),
            Err(error) => dispute.failed(rest, error, view),
        },
        Disputing::Skip(dispute) => match dispute.seen(answer) {
            Ok(live) => dispute.skipped(live, view),
            Err(end) => *end,
        },
    }
}

impl Dispute {
    /// A dispute over an apply. `before` is the cached object at the time of the apply.
    pub(super) fn new(attempt: Attempt, before: Option<Object>, held: Vec<HeldField>) -> Self {
        Self { attempt, before, live: None, held, rounds: 0 }
    }

    fn id(&self) -> &ChildId {
        &self.attempt.write.id
    }

    fn look(&self) -> Request {
        Request::Read(self.id().clone())
    }

    /// The live object, or the end.
    fn seen(&self, answer: Answer) -> Result<Object, Box<Turn<ChildNext>>> {
        match Reply::object(answer) {
            Ok(Some(live)) => Ok(live),
            Ok(None) => {
                Err(Box::new(done().note(put_off(self.id(), "it was deleted during the write"))))
            }
            Err(error) => Err(Box::new(done().note(child_failed(self.id(), error)))),
        }
    }

    /// Applies the fields that no other manager owns, or nothing. The conflict policy of the child decides.
    fn settle(mut self, held: Vec<HeldField>, view: &View<'_>) -> Turn<ChildNext> {
        let conflict = done().note(Fact::ConflictFound(self.id().clone()));
        let rest = self.yield_fields(held, view);
        conflict.before(self.apply(rest, view))
    }

    /// The write without these fields; `None` for nothing.
    fn yield_fields(&mut self, held: Vec<HeldField>, view: &View<'_>) -> Option<Write> {
        let (policy, labels) =
            (self.attempt.write.config.conflicts, &view.settings.config().labels);
        let is_ownership_field = |held: &HeldField| is_ownership_field(&held.path, labels);
        // A partial apply would give up the other fields that are ours.
        let is_nothing = policy == ConflictPolicy::Report && !held.iter().all(is_ownership_field);
        self.held.extend(held.into_iter().filter(|held| is_nothing || !is_ownership_field(held)));
        without(&self.attempt.write, &self.held).filter(|_| !is_nothing)
    }

    /// Applies the rest on the live object, which is read if it is not known.
    fn apply(mut self, rest: Option<Write>, view: &View<'_>) -> Turn<ChildNext> {
        match (rest, self.live.take()) {
            (Some(rest), Some(live)) => self.send(rest, live, view),
            (Some(rest), None) => {
                ask(self.look(), AwaitedChild::Dispute(Disputing::Look(self, rest)))
            }
            (None, Some(live)) => self.skipped(live, view),
            (None, None) => ask(self.look(), AwaitedChild::Dispute(Disputing::Skip(self))),
        }
    }

    /// Sends the rest without force. The version ensures that the reported field managers still apply.
    fn send(mut self, rest: Write, live: Object, view: &View<'_>) -> Turn<ChildNext> {
        let (config, name) = (view.settings.config(), view.settings.name());
        let wanted = match after_conflict(config, name, view.parent, rest, Some(&live)) {
            AfterConflict::ApplyWithUid(wanted) => wanted,
            AfterConflict::Adopt(wanted) if self.attempt.verb == Verb::Adopted => wanted,
            other => return self.end_with(&other, live),
        };
        self.rounds += 1;
        let exact = wanted.clone().adopting(live.uid(), live.resource_version());
        let request = Request::apply(&exact.id, &exact.body, Force::No);
        ask(request, AwaitedChild::Dispute(Disputing::Sent(self, wanted, live)))
    }

    /// The live object needs no apply any more.
    fn end_with(mut self, after: &AfterConflict, live: Object) -> Turn<ChildNext> {
        let mut turn = done().cache([Cache::Saw(live.clone())]);
        if !matches!(after, AfterConflict::Settled) {
            return turn.note(put_off(self.id(), "its owner changed during the write"));
        }
        // A child with fields held by others is not up to date.
        if self.held.is_empty() {
            turn = turn.note(Fact::UpToDate(self.id().clone()));
        }
        turn.facts.extend(self.remember(live, ConflictPolicy::Yield));
        turn
    }

    fn refused(
        mut self,
        rest: Write,
        live: Object,
        error: ApiError,
        view: &View<'_>,
    ) -> Turn<ChildNext> {
        let (held, labels) = (held(&error), &view.settings.config().labels);
        if held.iter().any(|held| !is_ownership_field(&held.path, labels)) {
            let less = self.yield_fields(held, view);
            return match less {
                Some(less) if self.rounds < TRIES => self.apply(Some(less), view),
                Some(_) => self.keeps_changing(),
                None => self.apply(None, view),
            };
        }
        if held.is_empty() {
            return self.failed(rest, error, view);
        }
        let exact = rest.clone().adopting(live.uid(), live.resource_version());
        let request = Request::apply(&exact.id, &exact.body, Force::Yes);
        ask(request, AwaitedChild::Dispute(Disputing::Forced(self, rest, live)))
    }

    /// The object has changed, or the server refused the write for another reason.
    fn failed(self, rest: Write, error: ApiError, view: &View<'_>) -> Turn<ChildNext> {
        if error.class() != ErrorClass::Conflict {
            // A new object would get the full write: nobody holds fields of it.
            return hand(Task::Refused(Refused { write: self.attempt.write, error }));
        }
        if self.rounds < TRIES { self.apply(Some(rest), view) } else { self.keeps_changing() }
    }

    fn keeps_changing(&self) -> Turn<ChildNext> {
        done().note(put_off(self.id(), "others keep changing it"))
    }

    fn applied(
        mut self,
        wanted: &Write,
        live: &Object,
        reply: Object,
        view: &View<'_>,
    ) -> Turn<ChildNext> {
        let mut turn = if reply == *live {
            wrote_nothing(wanted, &reply, view)
        } else {
            written(wanted, self.attempt.verb, reply.clone(), view)
        };
        turn.facts.extend(self.remember(reply, ConflictPolicy::Yield));
        turn
    }

    fn skipped(mut self, live: Object, view: &View<'_>) -> Turn<ChildNext> {
        let (fact, cache) = not_modified(view, live.clone());
        let mut turn = done().cache([cache]);
        turn.facts.extend(fact);
        turn.facts.extend(self.remember(live, ConflictPolicy::Report));
        turn
    }

    fn remember(&mut self, left: Object, policy: ConflictPolicy) -> Option<Fact> {
        if self.held.is_empty() {
            return None;
        }
        let (id, desired_hash) = (self.id().clone(), self.attempt.write.desired_hash);
        let held = std::mem::take(&mut self.held);
        Some(Fact::Contested(Contested { id, desired_hash, left, held, policy }))
    }
}
