//! Taking over an object that was there before the child, where the child type allows it. Prepares
//! the apply that makes it ours and says that it happened; does not send that apply.

use serde_json::Value;

use super::{Context, Report, events};
use crate::{
    cluster::{ApiError, ErrorClass, EventKind},
    object::{Object, ResourceVersion},
    plan::{ChildId, Write, adoption},
};

/// Makes what the managers of `live` own ours, and returns the apply that adopts exactly what is
/// left by that; `None` when the object is another one by now.
///
/// # Errors
/// The server would refuse the apply, or the hand-over. Nothing was changed then.
pub(super) async fn prepare(
    context: &Context,
    write: Write,
    live: &Object,
) -> Result<Option<Write>, ApiError> {
    let (cluster, manager, id) = (context.cluster(), context.name().as_str(), &write.id);
    let trial = write.clone().adopting(live.uid(), live.resource_version());
    match cluster.try_apply(&id.ty, &id.key, manager, &trial.body).await {
        Ok(_) => {}
        Err(error) if error.class() == ErrorClass::Conflict => return Ok(None),
        Err(error) => return Err(error),
    }
    let version = hand_over(context, id, live).await?;
    Ok(version.map(|version| write.adopting(live.uid(), &version)))
}

/// The version after which everything is ours; `None` when the object has changed.
async fn hand_over(
    context: &Context,
    id: &ChildId,
    live: &Object,
) -> Result<Option<ResourceVersion>, ApiError> {
    let (cluster, name) = (context.cluster(), context.name());
    // Whole: a live read knows only the managers that operators need.
    let whole = cluster.read_whole(&id.ty, &id.key).await?;
    let Some(whole) = whole.filter(|whole| is_same(whole, live)) else { return Ok(None) };
    let Some(patch) = adoption(&whole, name) else {
        return Ok(Some(live.resource_version().clone()));
    };
    match cluster.patch_object(&id.ty, &id.key, name.as_str(), &patch).await {
        Ok(reply) => Ok(Some(reply.resource_version().clone())),
        Err(error) if error.class() == ErrorClass::Conflict => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_same(whole: &Value, live: &Object) -> bool {
    let metadata = &whole["metadata"];
    metadata["uid"] == live.uid().to_string()
        && metadata["resourceVersion"] == live.resource_version().to_string()
}

/// Says that an object has become a child.
pub(super) fn announce(context: &Context, parent: &Object, id: &ChildId, report: &mut Report) {
    let message = format!("{id} was there already and had no controller; it is a child now");
    tracing::info!(operator = %context.name(), parent = %parent.key(), "{message}");
    events::tell(context, parent, (EventKind::Normal, "Adopted", message), report);
}
