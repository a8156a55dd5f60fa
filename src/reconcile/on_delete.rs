//! Children that change only when somebody deletes them, and whether those that look different are:
//! an admission policy may have changed what was applied. Asked by a dry run, once for each wish and
//! state of a child.

use super::{Context, Report};
use crate::{
    cluster::{ApiError, ErrorClass},
    plan::{ChildId, Waiting, Write, explains},
};

/// Takes those out of what is waited for which are as an apply would leave them.
pub(super) async fn settle(
    context: &Context,
    doubtful: Vec<Write>,
    waiting: &mut Vec<Waiting>,
    report: &mut Report,
) {
    let name = context.name();
    for write in doubtful {
        let (ty, key) = (&write.id.ty, &write.id.key);
        let Some(live) = context.cached(ty, key) else { continue };
        match context.cluster().try_apply(ty, key, name.as_str(), &write.body).await {
            Ok(reply) if explains(&live, &reply, name) => {
                waiting.retain(|waiting| waiting.id != write.id);
                report.memory.memos.remember(&write, &live, name);
                report.found_settled(&write.id);
            }
            Ok(_) => report.memory.memos.differs(&write, &live),
            // Who may not ask, by a rule of the server or of its admission, learns no more by asking again.
            Err(error)
                if matches!(error.class(), ErrorClass::Permanent | ErrorClass::Forbidden) =>
            {
                report.memory.memos.differs(&write, &live);
            }
            Err(error) => {
                waiting.retain(|waiting| waiting.id != write.id);
                return doubted(&write.id, error, report);
            }
        }
    }
}

/// What the server cannot tell now is asked again soon.
fn doubted(id: &ChildId, error: ApiError, report: &mut Report) {
    if error.is_throttling() {
        return report.child_failed(id, error);
    }
    // What the server says may quote a secret.
    tracing::debug!(child = %id, class = ?error.class(), "cannot try an apply");
    report.wait(id, &"it looks different, and the server cannot tell yet whether it is");
}
