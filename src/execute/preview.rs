//! What a reconcile would do. One preview at a time per operator, so that previews do not take the threads of
//! reconciles.

use std::{collections::BTreeMap, sync::Arc};

use futures::StreamExt;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::{
    Context,
    drive::{Driver, concluded_failure},
    trace::Spans,
};
use crate::{
    board::{CommandError, Preview},
    journal::{Failure, foreign_message},
    object::Object,
    plan::{ChildId, ForeignChild, Plan, Step},
    run::{Aim, Ended, Job, Previewed},
};

/// Another user may be looking, or the handler of an earlier preview hangs.
const BUSY: &str =
    "another preview of this operator is still in progress: retry when it has finished";

const NOT_PREVIEWED: &str = "the handler of this operator is not called for previews, as it may call \
     other systems: `OperatorConfig::with_preview(true)` allows it";

impl Context {
    fn may_preview(&self) -> bool {
        self.config().plan_only || self.config().preview.unwrap_or_else(|| !self.is_async())
    }
}

/// Plans for a parent without writing, with a copy of the memory of its last reconcile, or for another version of the
/// parent.
///
/// # Errors
/// The handler fails, does not return in time, or returns invalid children.
pub(crate) async fn preview(
    context: &Arc<Context>,
    job: Job,
    instead: Option<Object>,
) -> Result<Preview, CommandError> {
    if !context.may_preview() {
        return Err(CommandError::Undecided(NOT_PREVIEWED.to_owned()));
    }
    let permit = Arc::clone(&context.previews).try_acquire_owned();
    let permit = permit.map_err(|_| CommandError::Undecided(BUSY.to_owned()))?;
    let (operator, key) = (context.name().to_string(), job.key.clone());
    let (give, given) = oneshot::channel();
    if context.config().plan_only {
        // An error leaves the status out.
        let _ = context.schema().await;
    }
    tokio::spawn(drive(context.clone(), (job, instead), permit, give));
    let died = |_| undecided(&Failure::InternalError);
    let ended = given.await.map_err(died)?;
    let Some(parent) = &ended.parent else { return Err(CommandError::NoParent { operator, key }) };
    if context.settings.is_leaving(parent) {
        return Err(CommandError::Undecided(
            "it is being deleted or no longer selected, so nothing is planned".into(),
        ));
    }
    if let Some(failure) = concluded_failure(&ended) {
        return Err(undecided(&failure));
    }
    let Previewed { plan, contested, parent, pending } = *ended.preview.unwrap_or_default();
    if let Some(pending) = pending {
        return Err(CommandError::NotYet(pending));
    }
    let live = live(context, &plan);
    let foreign = foreign_children(&plan, ended.memory.foreign());
    Ok(Preview { plan, live, foreign, contested, parent })
}

/// A handler that does not return in time keeps the permit until it does.
async fn drive(
    context: Arc<Context>,
    (job, instead): (Job, Option<Object>),
    permit: OwnedSemaphorePermit,
    give: oneshot::Sender<Ended>,
) {
    let mut driver = Driver::new(&context, job, Aim::Plan(instead), Spans::none());
    driver.drive().await;
    let Some((ended, mut in_progress)) = driver.ended() else { return };
    // Free before the answer: the next preview may follow at once.
    let permit = (!in_progress.is_empty()).then_some(permit);
    // Nobody waits if the connection was closed.
    let _ = give.send(ended);
    while in_progress.next().await.is_some() {}
    drop(permit);
}

fn live(context: &Context, plan: &Plan) -> BTreeMap<ChildId, Object> {
    let ids = plan.steps.iter().map(Step::id);
    ids.filter_map(|id| Some((id.clone(), context.cached(id)?))).collect()
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

fn undecided(failure: &Failure) -> CommandError {
    CommandError::Undecided(match failure {
        Failure::Handler { .. } => format!("the handler returned an error: {failure}"),
        failure => failure.to_string(),
    })
}
