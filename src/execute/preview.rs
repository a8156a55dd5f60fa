//! What a reconcile would do now. One preview at a time for an operator, so that whoever looks does not take the
//! threads of those who reconcile.

use std::{collections::BTreeMap, sync::Arc};

use futures::StreamExt;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::{
    Context,
    drive::{Driver, concluded_failure},
};
use crate::{
    board::{CommandError, Preview},
    journal::{Failure, in_the_way},
    object::Object,
    plan::{ChildId, ForeignChild, Plan, Step},
    run::{Aim, Ended, Job, Previewed},
};

/// It may be that somebody else looks, or that a handler hangs that was asked before.
const BUSY: &str =
    "the handler is still asked what another reconcile would do: ask again when it has answered";

/// Plans for a parent and does nothing, with a copy of what its last reconcile remembered.
///
/// # Errors
/// When the handler fails, refuses to return in time, or wants what cannot be.
pub async fn preview(context: &Arc<Context>, job: Job) -> Result<Preview, CommandError> {
    let permit = Arc::clone(context.previews()).try_acquire_owned();
    let permit = permit.map_err(|_| CommandError::Undecided(BUSY.to_owned()))?;
    let (operator, key) = (context.name().to_string(), job.key.clone());
    let (give, given) = oneshot::channel();
    tokio::spawn(drive(context.clone(), job, permit, give));
    let died = |_| undecided(&Failure::Died);
    let ended = given.await.map_err(died)?;
    let Some(parent) = &ended.parent else { return Err(CommandError::NoParent { operator, key }) };
    if context.is_leaving(parent) {
        return Err(CommandError::Undecided("it is on its way out: nothing is planned".into()));
    }
    if let Some(failure) = concluded_failure(&ended) {
        return Err(undecided(&failure));
    }
    let Previewed { plan, contested } = *ended.preview.unwrap_or_default();
    let live = live(context, &plan);
    let foreign = standing_in_the_way(&plan, ended.memory.foreign());
    Ok(Preview { plan, live, foreign, contested })
}

/// A handler that does not return in time keeps the one permit until it does.
async fn drive(
    context: Arc<Context>,
    job: Job,
    permit: OwnedSemaphorePermit,
    give: oneshot::Sender<Ended>,
) {
    let mut driver = Driver::new(&context, job, Aim::Plan);
    driver.drive().await;
    if let Some((ended, mut in_progress)) = driver.ended() {
        // Nobody waits any more where the connection was closed.
        let _ = give.send(ended);
        while in_progress.next().await.is_some() {}
    }
    drop(permit);
}

fn live(context: &Context, plan: &Plan) -> BTreeMap<ChildId, Object> {
    use crate::run::Snapshot;
    let ids = plan.steps.iter().map(Step::id);
    ids.filter_map(|id| Some((id.clone(), context.cached(id)?))).collect()
}

/// What a reconcile would not create, as long as that is as the last one found it.
fn standing_in_the_way(
    plan: &Plan,
    foreign: &BTreeMap<ChildId, ForeignChild>,
) -> BTreeMap<ChildId, String> {
    let creates = plan.steps.iter().filter(|step| matches!(step, Step::Create(_)));
    let known = creates.filter_map(|step| foreign.get(step.id()));
    known.map(|child| (child.id.clone(), in_the_way(child))).collect()
}

fn undecided(failure: &Failure) -> CommandError {
    CommandError::Undecided(match failure {
        Failure::Handler { .. } => format!("the handler returned an error: {failure}"),
        failure => failure.to_string(),
    })
}
