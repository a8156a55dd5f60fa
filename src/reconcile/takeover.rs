//! Taking over a child of a predecessor, directly before its first update.

use super::{Context, write::TRIES};
use crate::{
    cluster::{ApiError, ErrorClass},
    object::Object,
    plan::{ChildId, has_predecessor, takeover},
};

/// Makes what a predecessor owns of a child ours, so that the apply that follows removes what is
/// not desired. Usually there is nothing to do, and no request is sent.
///
/// # Errors
/// The child must not be applied then: it would look as if it were done.
pub(super) async fn take_over(
    context: &Context,
    parent: &Object,
    id: &ChildId,
) -> Result<(), ApiError> {
    let predecessor = &context.config().predecessor;
    let cached = context.cached(&id.ty, &id.key);
    let Some(child) = cached.filter(|child| has_predecessor(child, predecessor)) else {
        return Ok(());
    };
    let (cluster, manager) = (context.cluster(), context.name());
    for attempt in 1.. {
        // Whole: the cache knows only some of the field managers.
        let Some(live) = cluster.read_whole(&id.ty, &id.key).await? else { break };
        if live["metadata"]["uid"] != child.uid().to_string() {
            break;
        }
        let Some(patch) = takeover(&live, manager, predecessor) else { break };
        match cluster.patch_object(&id.ty, &id.key, manager.as_str(), &patch).await {
            Ok(reply) => {
                context.learn(parent, reply);
                break;
            }
            Err(error) if error.class() == ErrorClass::Conflict && attempt < TRIES => {}
            Err(error) => return Err(error),
        }
    }
    // What else there is to say about the live object, the apply is told.
    Ok(())
}
