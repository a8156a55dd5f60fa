//! The preview of a reconcile: calls the handler and plans, and writes nothing. One at a time per operator,
//! so that previews do not take the threads of reconciles.

use std::{collections::BTreeMap, sync::Arc};

use super::Context;
use crate::{
    board::{CommandError, Preview},
    journal::{Failure, foreign_message},
    object::{Object, ObjectKey, Quoted, Redactor, Uid},
    operator::{ConflictPolicy, Shallow, SyncRequest, SyncResponse},
    plan::{self, ChildId, ForeignChild, LastApplied, Plan, PlanInput, Step},
    run::{HandlerFailures, Memory, Snapshot},
};

/// The memory that a preview needs.
#[derive(Debug, Default)]
pub struct Remembered {
    failures: HandlerFailures,
    last_applied: LastApplied,
    foreign: BTreeMap<ChildId, ForeignChild>,
}

/// Another user may be looking, or the handler of an earlier preview hangs.
const BUSY: &str =
    "another preview of this operator is still in progress: retry when it has finished";

impl Memory {
    /// A copy of the memory for a preview beside a reconcile.
    pub fn remembered(&self) -> Remembered {
        let (failures, last_applied) = (self.handler_failures(), self.last_applied().clone());
        Remembered { failures, last_applied, foreign: self.foreign().clone() }
    }
}

impl Context {
    /// Plans for a parent without writing, with the memory of its last reconcile.
    ///
    /// The handler fails, does not return in time, or returns invalid children.
    pub async fn preview(
        &self,
        key: &ObjectKey,
        uid: &Uid,
        Remembered { failures, last_applied, foreign }: Remembered,
    ) -> Result<Preview, CommandError> {
        let gone =
            || CommandError::NoParent { operator: self.name().to_string(), key: key.clone() };
        let parent = self.parent(key, uid).ok_or_else(gone)?;
        if self.is_leaving(&parent) {
            return Err(CommandError::Undecided("it is being deleted or no longer selected, so nothing is planned".into()));
        }
        if let Some(why) = self.why_unavailable() {
            return Err(undecided(&Failure::Unavailable(why)));
        }
        let observed = self.observed(&parent);
        let children = self.settings().ours(&parent, &observed);
        let failures = failures.of(&parent);
        let request = SyncRequest { parent: parent.clone(), children, failures };
        let response = match self.ask(request).await {
            Err(CommandError::Undecided(why)) => {
                let shown = self.redactor(&parent).await.shown(&Quoted::new(why));
                return Err(CommandError::Undecided(shown.to_string()));
            }
            response => response?,
        };
        let planned = |desired, last_applied: &LastApplied| {
            let plan = plan::plan(PlanInput {
                config: self.config(),
                operator: self.name(),
                parent: &parent,
                desired,
                observed: &observed,
                unsynced: &self.unsynced(&parent),
                last_applied,
            });
            plan.map_err(|refusals| undecided(&Failure::Refused(refusals)))
        };
        let mut plan = planned(response.children.clone(), &last_applied)?;
        let contested = held_by_others(&plan);
        if !contested.is_empty() {
            // Plans again without the fields of others, to show the desired state.
            let mut last_applied = last_applied;
            for id in contested.keys() {
                last_applied.forget(id);
            }
            plan = planned(response.children, &last_applied)?;
        }
        let live = self.live(&plan);
        let foreign = foreign_children(&plan, &foreign);
        Ok(Preview { plan, live, foreign, contested })
    }

    /// A handler that does not return in time keeps the permit until it does.
    async fn ask(&self, request: SyncRequest) -> Result<SyncResponse, CommandError> {
        let permit = Arc::clone(self.previews()).try_acquire_owned();
        let permit = permit.map_err(|_| CommandError::Undecided(BUSY.to_owned()))?;
        let (handler, deadline) = (self.handler().clone(), self.config().handler_deadline);
        let thread = tokio::task::spawn_blocking(move || {
            let answer = handler.sync(&request).map(Shallow::shallow);
            drop(permit);
            answer
        });
        let joined = tokio::time::timeout(deadline, thread).await;
        let joined = joined.map_err(|_| undecided(&Failure::HandlerTimeout(deadline)))?;
        let answer = joined.map_err(|_| CommandError::Undecided("the handler panicked".into()))?;
        let answer = answer.map_err(|error| {
            CommandError::Undecided(format!("the handler returned an error: {error:#}"))
        })?;
        match answer.unserializable {
            Some(why) => Err(CommandError::Undecided(why)),
            None => Ok(answer),
        }
    }

    /// The redactor for a parent.
    async fn redactor(&self, parent: &Object) -> Redactor {
        let schema = match self.known_schema() {
            Some(schema) => Some(schema),
            None if !parent.ty().may_be_custom() => None,
            None => match self.schema().await {
                Ok(Some(schema)) => Some(schema),
                Ok(None) | Err(_) => return Redactor::Everything { is_passing: false },
            },
        };
        let children = self.observed(parent);
        let secrets = schema.as_ref().map(|schema| &schema.secrets);
        Redactor::over(parent, children.iter(), secrets)
    }

    fn live(&self, plan: &Plan) -> BTreeMap<ChildId, Object> {
        let ids = plan.steps.iter().map(Step::id);
        let live = ids.filter_map(|id| Some((id.clone(), self.cached(id)?)));
        live.collect()
    }
}

/// The children that a reconcile would not create, if the foreign objects are unchanged.
fn foreign_children(
    plan: &Plan,
    foreign: &BTreeMap<ChildId, ForeignChild>,
) -> BTreeMap<ChildId, String> {
    let creates = plan.steps.iter().filter(|step| matches!(step, Step::Create(_)));
    let known = creates.filter_map(|step| foreign.get(step.id()));
    known.map(|child| (child.id.clone(), foreign_message(child))).collect()
}

/// The children that a reconcile would not write, as others hold fields of them.
fn held_by_others(plan: &Plan) -> BTreeMap<ChildId, String> {
    let contested = plan.last_applied.contested().filter(|it| it.policy == ConflictPolicy::Report);
    contested.map(|it| (it.id.clone(), it.why().to_string())).collect()
}

fn undecided(failure: &Failure) -> CommandError {
    CommandError::Undecided(failure.to_string())
}
