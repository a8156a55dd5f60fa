//! What to do when an apply without force is refused because others hold some of its fields: leave
//! these, or the whole child, to them, and say so once. What is tied to the parent is taken anyway.

use super::{
    Context, Report, events,
    write::{self, Next},
};
use crate::{
    cluster::{ApiError, Cause, ErrorClass, EventKind},
    history::Verb,
    object::{K8sType, Object},
    operator::{ConflictPolicy, Labels},
    plan::{
        AfterConflict, ChildId, Contested, Deletion, HeldField, Write, after_conflict,
        differ_in_status_only, is_handed_over, is_tie, without,
    },
};

/// The fields that others hold, if that is why the server refused an apply.
pub(super) fn held(error: &ApiError) -> Vec<HeldField> {
    let causes = error.refusal().map(|refusal| refusal.causes.as_slice()).unwrap_or_default();
    let conflicts = causes.iter().filter(|cause| cause.reason == "FieldManagerConflict");
    let held = conflicts.map(|cause| {
        // conflict with "kubectl" using v1
        let manager = cause.message.split('"').nth(1).unwrap_or_default().to_owned();
        HeldField { path: cause.field.clone(), manager }
    });
    held.collect()
}

/// Those of them that an adoption neither hands over nor takes anyway: Kubernetes keeps its own, and an
/// entry of a subresource or of another version stays with who has it.
///
/// # Errors
/// It is for something else that the server refused the apply.
pub(super) fn held_after_adoption(
    error: ApiError,
    ty: &K8sType,
    labels: &Labels,
) -> Result<Vec<HeldField>, ApiError> {
    let mut held = held(&error);
    if held.is_empty() {
        return Err(error);
    }
    let causes = error.refusal().map(|refusal| refusal.causes.as_slice()).unwrap_or_default();
    // conflict with "kube-controller-manager" with subresource "scale" using apps/v1 at ...
    let stays = |held: &HeldField| {
        let is_it =
            |cause: &&Cause| cause.field == held.path && cause.message.contains(&held.manager);
        let message = causes.iter().find(is_it).map_or("", |cause| &cause.message);
        let using = message.split_once(" using ").and_then(|(_, rest)| rest.split(' ').next());
        !is_tie(&held.path, labels)
            && (!is_handed_over(&held.manager)
                || message.contains(" with subresource ")
                || using.is_some_and(|version| version != ty.api_version()))
    };
    held.retain(stays);
    Ok(held)
}

/// Applies what others do not hold, or nothing, as the child's type says. `before` is the object as it
/// was known when all was applied: if it is another by now, who held fields may have let go of them, and
/// all is to be applied again. What others still hold is remembered with the version that it is true of.
pub(super) async fn settle(
    context: &Context,
    parent: &Object,
    (write, verb, before): (Write, Verb, Option<Object>),
    held: Vec<HeldField>,
    report: &mut Report,
) -> Next {
    let nothing = Vec::new();
    let mut dispute = Dispute { context, parent, write, verb, live: None, held: nothing, report };
    if let Some(before) = before {
        let Some(live) = dispute.read().await else { return Next::Done };
        if !differ_in_status_only(&live, &before) {
            context.learn_live(live);
            return Next::Write(dispute.write, verb);
        }
        dispute.live = Some(live);
    }
    context.metrics().conflict(context.name(), &dispute.write.id.ty);
    if let Some(rest) = dispute.give_way(held) {
        return dispute.apply(rest).await.map_or(Next::Done, Next::Delete);
    }
    dispute.leave().await;
    Next::Done
}

struct Dispute<'a> {
    context: &'a Context,
    parent: &'a Object,
    write: Write,
    /// What the write is: an object that is being adopted is not ours yet.
    verb: Verb,
    /// What was read and is still to be decided on.
    live: Option<Object>,
    /// What is left to others.
    held: Vec<HeldField>,
    report: &'a mut Report,
}

/// What came of applying what others do not hold.
enum Applied {
    As(Object),
    /// Others hold more by now.
    Held(Vec<HeldField>),
    /// The object has changed.
    Outdated,
}

impl Dispute<'_> {
    /// What is to be applied when these fields stay with others; `None` for nothing.
    fn give_way(&mut self, held: Vec<HeldField>) -> Option<Write> {
        let config = self.context.config();
        let policy = config.child_config(&self.write.id.ty)?.conflicts;
        let is_tie = |held: &HeldField| is_tie(&held.path, &config.labels);
        // Nothing can be applied without giving up what of the rest is ours.
        let is_nothing = policy == ConflictPolicy::Report && !held.iter().all(is_tie);
        self.held.extend(held.into_iter().filter(|held| is_nothing || !is_tie(held)));
        without(&self.write, &self.held).filter(|_| !is_nothing)
    }

    async fn apply(&mut self, mut rest: Write) -> Option<Deletion> {
        for _ in 0..write::TRIES {
            let live = self.read().await?;
            let (config, name) = (self.context.config(), self.context.name());
            let wanted = rest.clone();
            let wanted = match after_conflict(config, name, self.parent, wanted, Some(&live)) {
                AfterConflict::ApplyWithUid(wanted) => wanted,
                AfterConflict::Adopt(wanted) if self.verb == Verb::Adopted => wanted,
                other => {
                    self.is_over(&other, live);
                    return None;
                }
            };
            match self.send(&wanted, &live).await {
                Ok(Applied::As(reply)) => {
                    self.applied(&wanted, &live, reply);
                    return None;
                }
                Ok(Applied::Held(more)) => {
                    let Some(less) = self.give_way(more) else {
                        self.leave().await;
                        return None;
                    };
                    rest = less;
                }
                Ok(Applied::Outdated) => {}
                // A new object is as all of the wish says: nobody holds anything of it.
                Err(error) => {
                    let (context, parent, wish) = (self.context, self.parent, &self.write);
                    return write::refused(context, parent, wish, error, self.report).await;
                }
            }
        }
        self.wait(&"others keep changing it");
        None
    }

    /// The live object shows that there is nothing to apply any more.
    fn is_over(&mut self, after: &AfterConflict, live: Object) {
        self.context.learn_live(live.clone());
        if matches!(after, AfterConflict::Settled) {
            // What others hold of it is not as desired.
            if self.held.is_empty() {
                self.report.found_settled(&self.write.id);
            }
            self.remember(live, ConflictPolicy::Yield);
        } else {
            self.wait(&"it changed hands while it was written");
        }
    }

    /// Without force, but for what ties the child to its parent. The version makes sure that what
    /// the server said about the fields still holds.
    async fn send(&self, wanted: &Write, live: &Object) -> Result<Applied, ApiError> {
        let (cluster, manager) = (self.context.cluster(), self.context.name().as_str());
        let exact = wanted.clone().adopting(live.uid(), live.resource_version());
        let (ty, key) = (&exact.id.ty, &exact.id.key);
        let error = match cluster.apply_yielding(ty, key, manager, &exact.body).await {
            Ok(reply) => return Ok(Applied::As(reply)),
            Err(error) => error,
        };
        let held = held(&error);
        let labels = &self.context.config().labels;
        if held.iter().any(|held| !is_tie(&held.path, labels)) {
            return Ok(Applied::Held(held));
        }
        let error = if held.is_empty() {
            error
        } else {
            match cluster.apply(ty, key, manager, &exact.body).await {
                Ok(reply) => return Ok(Applied::As(reply)),
                Err(error) => error,
            }
        };
        if error.class() == ErrorClass::Conflict { Ok(Applied::Outdated) } else { Err(error) }
    }

    fn applied(&mut self, wanted: &Write, live: &Object, reply: Object) {
        if reply == *live {
            write::wrote_nothing(self.context, wanted, &reply, self.report);
        } else {
            let (context, parent) = (self.context, self.parent);
            write::written(context, parent, wanted, self.verb, reply.clone(), self.report);
        }
        self.remember(reply, ConflictPolicy::Yield);
    }

    /// Nothing is written.
    async fn leave(&mut self) {
        let Some(live) = self.read().await else { return };
        self.context.learn_left(live.clone(), self.report);
        self.remember(live, ConflictPolicy::Report);
    }

    fn remember(&mut self, left: Object, policy: ConflictPolicy) {
        if self.held.is_empty() {
            return;
        }
        let (id, desired_hash) = (self.write.id.clone(), self.write.desired_hash);
        let held = std::mem::take(&mut self.held);
        let contested = Contested { id, desired_hash, left, held, policy };
        self.report.memory.memos.contest(contested);
    }

    async fn read(&mut self) -> Option<Object> {
        if let Some(live) = self.live.take() {
            return Some(live);
        }
        let ChildId { ty, key } = &self.write.id;
        match self.context.cluster().read(ty, key).await {
            Ok(Some(live)) => return Some(live),
            Ok(None) => self.wait(&"it went while it was written"),
            Err(error) => self.failed(error),
        }
        None
    }

    fn wait(&mut self, why: &dyn std::fmt::Display) {
        self.report.put_off(&self.write.id, why);
    }

    fn failed(&mut self, error: ApiError) {
        self.report.child_failed(&self.write.id, error);
    }
}

/// Says what is left to others: in the report, and once in an Event.
pub(super) fn tell(context: &Context, parent: &Object, report: &mut Report) {
    let said: Vec<_> = report.memory.memos.contested().map(ToString::to_string).collect();
    let all = said.join("; ");
    report.held.extend(said);
    if !all.is_empty() && report.memory.troubles().last_contested.as_ref() != Some(&all) {
        events::tell(context, parent, (EventKind::Warning, "Conflict", all.clone()), report);
    }
    if let Some(troubles) = report.memory.troubles_if(!all.is_empty()) {
        troubles.last_contested = (!all.is_empty()).then_some(all);
    }
}
