//! The plan for one parent: every desired child is created, updated or kept; every other child that
//! is ours is deleted.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    ChildId, Deletion, DeletionReason, Desired, FinishedJob, FinishedJobs, LastApplied, Order,
    Refusal, Rollout, Step, Unsynced, WaitingChild, WaitingReason, Write, bucket, deletion_order,
    existing::{self, Choice},
    normalise::{Owner, normalise},
    ownership::is_ours,
};
use crate::{
    object::{K8sType, Object, Uid},
    operator::{Children, OperatorConfig, OperatorName},
    reply::Defaults,
};

/// What a plan is made from.
#[derive(Clone)]
pub struct PlanInput<'a> {
    /// The operator's configuration.
    pub config: &'a OperatorConfig,
    /// Its checked name: the field manager.
    pub operator: &'a OperatorName,
    /// The parent.
    pub parent: &'a Object,
    /// What the handler returned.
    pub desired: Desired,
    /// The cached objects that the parent owns or that carry its label.
    pub observed: &'a Children,
    /// The objects that may be missing in the stores: none of them is deleted.
    pub unsynced: &'a Unsynced,
    /// What is known of earlier writes.
    pub last_applied: &'a LastApplied,
    /// The Jobs that had finished before, and have a TTL.
    pub finished_jobs: &'a FinishedJobs,
    /// The last versions of the Jobs that had finished when their TTL removed them, maybe before any plan saw it.
    pub ended_jobs: &'a [Object],
    /// The defaults of child types that may be custom, as far as they are known.
    pub defaults: &'a BTreeMap<K8sType, Arc<Defaults>>,
    /// Whether children that lack only the label of their bucket are written for that.
    pub sets_labels: bool,
    /// Whether the children that the handler did not return stay, as those of a parent that is being
    /// finalized.
    pub keeps_undesired: bool,
}

/// What to do to bring the children to the desired state.
///
/// Writes come first, in the order in which the handler named the children (neighbours of one type
/// may be sent together). Deletions come last: what replaces a child exists before the child is
/// deleted, and a reconcile that ends at a refused write has deleted nothing. A desired child that
/// is being deleted is waited for too, but not for long: it may itself wait for a child that the
/// plan deletes.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// What to do, in this order.
    pub steps: Vec<Step>,
    /// The order of the writes; `None` if they may all be sent together.
    pub(crate) order: Option<Box<Order>>,
    /// The children that are changed a few at a time.
    pub(crate) rollouts: Vec<Rollout>,
    /// The children that the handler no longer wants, with their ranks. A lower rank is deleted once the
    /// higher ranks are gone. Empty if the ranks are equal or not known.
    pub(crate) leaving: Vec<(ChildId, u16)>,
    /// The children that are up to date.
    pub last_applied: LastApplied,
    /// Children that are not up to date and cannot be changed now.
    pub(crate) waiting: Vec<WaitingChild>,
    /// Updates of children that change only on deletion, where an admission policy may be why they
    /// differ: a dry run shows whether it is.
    pub(crate) doubtful: Vec<Write>,
    /// The desired children that are being deleted, to be created again.
    pub(crate) replacing: Vec<Uid>,
    /// The ensured children that exist, and are left as they are.
    pub(crate) ensured: Vec<ChildId>,
    /// The desired children whose readiness does not count.
    pub(crate) uncounted: BTreeSet<ChildId>,
    /// The desired Jobs that have finished and have a TTL, whether it has removed them or not.
    pub(crate) finished_jobs: FinishedJobs,
}

/// Decides what to do. A parent that is being deleted gets an empty plan, unless it is finalized.
///
/// # Errors
/// All refusals of the handler's response. Nothing may be written or deleted then.
pub fn plan(input: PlanInput<'_>) -> Result<Plan, Vec<Refusal>> {
    let (plan, settled) = (Plan::default(), Vec::new());
    let mut planning = Planning { plan, settled, input };
    if planning.input.keeps_undesired || !planning.input.parent.is_deleting() {
        planning.decide()?;
    }
    Ok(planning.plan)
}

impl Plan {
    /// The children that the handler wants, and those that cannot be changed now.
    pub(crate) fn desired(&self) -> BTreeSet<ChildId> {
        let stays = |step: &&Step| step.final_deletion().is_none();
        let written = self.steps.iter().filter(stays).map(Step::id);
        let waiting = self.waiting.iter().map(|waiting| &waiting.id);
        written.chain(waiting).cloned().chain(self.last_applied.ids()).collect()
    }
}

struct Planning<'a> {
    plan: Plan,
    /// Hashes of desired states, and the objects that are up to date with them.
    settled: Vec<(u64, Object)>,
    input: PlanInput<'a>,
}

impl Planning<'_> {
    fn decide(&mut self) -> Result<(), Vec<Refusal>> {
        let PlanInput { config, operator, parent, .. } = self.input;
        let owner = Owner { config, operator, parent };
        let (writes, order) = normalise(owner, std::mem::take(&mut self.input.desired))?;
        let desired: BTreeSet<ChildId> = writes.iter().map(|write| write.id.clone()).collect();
        let defaults = self.input.defaults;
        let writes = writes.into_iter().map(|write| write.with_defaults(defaults));
        let writes: Vec<_> = writes.filter(|write| !self.has_ended(write)).collect();
        self.plan.rollouts = Rollout::of(&config.children, &writes);
        let uncounted = writes.iter().filter(|write| write.config.ignores_readiness);
        self.plan.uncounted = uncounted.map(|write| write.id.clone()).collect();
        let mut deletions = Vec::new();
        for write in writes {
            deletions.extend(self.desired(write));
        }
        self.plan.last_applied.settle(std::mem::take(&mut self.settled));
        let mut ranks = order.as_ref().map(Order::ranks).unwrap_or_default();
        if !self.input.keeps_undesired {
            let undesired = self.undesired_children(&desired);
            let known = self.input.last_applied;
            let ranked = undesired.iter().map(|child| (ChildId::of(child), known.rank(child)));
            let ranked: Vec<_> = ranked.collect();
            ranks.extend(ranked.iter().filter(|(_, rank)| *rank > 0).cloned());
            let undesired = undesired.iter().filter_map(|child| self.undesired(child)).collect();
            deletions.extend(deletion_order::sorted(undesired, &ranks));
            self.plan.leaving = deletion_order::leaving(ranked);
        }
        self.plan.last_applied.rank_as(ranks);
        self.plan.order = order.map(Box::new);
        self.plan.steps.extend(deletions.into_iter().map(Step::Delete));
        Ok(())
    }

    /// Whether a Job has finished, and its TTL removes it now or has removed it. It is not created again.
    fn has_ended(&mut self, write: &Write) -> bool {
        let PlanInput { config, observed, finished_jobs, .. } = self.input;
        let (ty, key) = (&write.id.ty, &write.id.key);
        let ended = match observed.of_type(ty).get(key) {
            None => {
                let recorded = finished_jobs.get(ty, key);
                let recorded = recorded.filter(|it| it.is_for(write, &config.labels)).cloned();
                recorded.or_else(|| self.finished(write, self.ended_unseen(write)?))
            }
            Some(live) if live.is_deleting() => self.finished(write, live),
            Some(_) => None,
        };
        let has_ended = ended.is_some();
        self.plan.finished_jobs.extend(ended.map(|job| (key.clone(), job)));
        has_ended
    }

    /// The last version of the Job as the last plan left it, if it finished and went since.
    fn ended_unseen(&self, write: &Write) -> Option<&Object> {
        let (_, left) = self.input.last_applied.left(&write.id)?;
        let is_it = |job: &&Object| *job.ty() == write.id.ty && job.uid() == left.uid();
        self.input.ended_jobs.iter().find(is_it)
    }

    /// A Job that finished what is desired.
    fn finished(&self, write: &Write, live: &Object) -> Option<FinishedJob> {
        let PlanInput { config, operator, .. } = self.input;
        let is_same = || write.differences(live, operator).changed.is_empty();
        let finished = FinishedJob::of(live, write, &config.labels)?;
        (write.ensure || is_same()).then_some(finished)
    }

    fn undesired_children(&self, desired: &BTreeSet<ChildId>) -> Vec<Object> {
        let PlanInput { config, operator, parent, observed, .. } = self.input;
        // Labels that were copied from a child, or from the parent, lack one of these.
        let is_labelled = |child: &Object| {
            let label = |name: &str| child.label(name).unwrap_or_default();
            label(&config.labels.managed_by) == operator.as_str()
                && label(&config.labels.parent_uid) == parent.uid().to_string()
        };
        let is_made_by_us = |child: &Object| {
            child.applied_fields(operator.as_str()).is_some() || is_labelled(child)
        };
        let is_undesired = |child: &Object| {
            let is_declared = config.child_config(child.ty()).is_some();
            is_declared && !desired.contains(&ChildId::of(child))
        };
        let children = observed.iter().filter(|child| is_ours(config, operator, parent, child));
        children.filter(|child| is_undesired(child) && is_made_by_us(child)).cloned().collect()
    }

    fn desired(&mut self, write: Write) -> Option<Deletion> {
        let PlanInput { config, operator, parent, observed, last_applied, .. } = self.input;
        let live = observed.of_type(&write.id.ty).get(&write.id.key);
        // Not ours: the create answers 409, and the live object decides what follows.
        let Some(live) = live.filter(|live| is_ours(config, operator, parent, live)) else {
            let write = bucket::labelled(write, config, parent);
            self.plan.last_applied.defer(&write, None, last_applied);
            self.plan.steps.push(Step::Create(write.creating()));
            return None;
        };
        let write = write.keeping_initial_fields(live, operator);
        let is_ensured = write.ensure;
        let finished = FinishedJob::of(live, &write, &config.labels);
        let (desired_hash, choice) = self.choice(write, live);
        match choice {
            Choice::UpToDate { altered } => {
                self.plan.finished_jobs.extend(finished.map(|job| (live.key().clone(), job)));
                self.plan.last_applied.alter(&ChildId::of(live), altered);
                self.plan.ensured.extend(is_ensured.then(|| ChildId::of(live)));
                self.settled.push((desired_hash, live.clone()));
            }
            Choice::Update(write) => {
                self.plan.last_applied.defer(&write, Some(live), last_applied);
                self.plan.steps.push(Step::Update(write));
            }
            Choice::WaitForDeletion => {
                self.plan.replacing.push(live.uid().clone());
                self.wait(live, WaitingReason::deleting(live), last_applied);
            }
            Choice::OnDelete(write) => self.wait_on_delete(live, write),
            Choice::Delete(deletion) => return self.delete(live, deletion, last_applied),
            Choice::Contested(contested) => self.plan.last_applied.contest(contested),
        }
        None
    }

    /// What happens to a child that exists, and the hash of what is desired. The label of its bucket alone is no reason to
    /// write it.
    fn choice(&self, write: Write, live: &Object) -> (u64, Choice) {
        let PlanInput { config, operator, parent, last_applied, .. } = self.input;
        let decide = |write: Write| {
            let hash = write.desired_hash;
            (hash, existing::decide(config, operator, last_applied, write, live))
        };
        if bucket::is_labelled(live, config, parent) || self.input.sets_labels {
            return decide(bucket::labelled(write, config, parent));
        }
        match decide(bucket::as_it_is(write.clone(), live)) {
            (_, Choice::Update(_)) => decide(bucket::labelled(write, config, parent)),
            choice => choice,
        }
    }

    fn wait_on_delete(&mut self, live: &Object, write: Write) {
        let PlanInput { operator, last_applied, .. } = self.input;
        self.wait(live, WaitingReason::OnDelete { paths: write.paths.clone() }, last_applied);
        if last_applied.is_doubtful(&write, live, operator) {
            self.plan.doubtful.push(write);
        }
    }

    fn undesired(&mut self, child: &Object) -> Option<Deletion> {
        // Should it be desired again, its deletion was not a change by others.
        let nothing = LastApplied::default();
        if child.is_deleting() {
            self.wait(child, WaitingReason::deleting(child), &nothing);
            return None;
        }
        self.delete(child, Deletion::new(child, DeletionReason::Undesired), &nothing)
    }

    fn delete(
        &mut self,
        child: &Object,
        deletion: Deletion,
        known: &LastApplied,
    ) -> Option<Deletion> {
        if self.input.unsynced.covers(&deletion.id) {
            self.wait(child, WaitingReason::TypeNotSynced, known);
            return None;
        }
        if let Some(write) = deletion.instead_of() {
            self.plan.last_applied.defer(write, Some(child), known);
        }
        Some(deletion)
    }

    /// `known` holds how the child was left before.
    fn wait(&mut self, child: &Object, why: WaitingReason, known: &LastApplied) {
        self.plan.waiting.push(WaitingChild { id: ChildId::of(child), why });
        self.plan.last_applied.wait(child, known);
    }
}

impl std::fmt::Debug for PlanInput<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { config, parent, desired, observed, unsynced, .. } = self;
        f.debug_struct("PlanInput")
            .field("operator", &config.name)
            .field("parent", parent)
            .field("desired", &desired.children.len())
            .field("observed", observed)
            .field("unsynced", unsynced)
            .finish_non_exhaustive()
    }
}
