//! Changes outside of Kubernetes: reports that the program makes, and streams of them.
//!
//! A report is passed on to the operator, whose parent is reconciled. A standby passes it on too: its parent is
//! reconciled when it leads.

use std::{fmt, panic::AssertUnwindSafe};

use futures::{FutureExt, StreamExt, stream::BoxStream};
use tokio::{runtime::Handle, task::JoinSet};

use crate::{
    board::{Board, CommandError},
    object::ObjectKey,
    operator::panic_text,
};

/// Why a parent was not reconciled on [`Running::trigger`](super::Running::trigger).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TriggerError {
    /// No operator has that name.
    #[error("there is no operator `{operator}`: name one that is registered{}", registered(.known))]
    NoOperator {
        /// The name.
        operator: String,
        /// The names of the operators.
        known: Vec<String>,
    },
    /// The operator does not have that parent.
    #[error(
        "the operator `{operator}` has no parent `{key}`: check its namespace and name, and the selector of the \
         operator; a parent that is not listed yet is reconciled when it is"
    )]
    NoParent {
        /// The operator.
        operator: String,
        /// The parent.
        key: ObjectKey,
    },
    /// The supervisor is stopping, or has ended.
    #[error("the supervisor is stopping: nothing is reconciled any more")]
    Stopped,
}

/// The parents of an operator that depend on something outside of Kubernetes, each when that changes.
pub(super) struct ExternalChanges {
    pub(super) operator: String,
    pub(super) parents: BoxStream<'static, ObjectKey>,
}

/// Reports a change, and returns when the parent knows.
pub(super) async fn report(
    board: &Board,
    operator: &str,
    parent: &ObjectKey,
) -> Result<(), TriggerError> {
    let reported = board.report_external(operator, parent.clone()).await;
    reported.map_err(|error| match error {
        CommandError::NoOperator(operator) => {
            let known = board.operators().iter().map(|it| it.info.name.to_string()).collect();
            TriggerError::NoOperator { operator, known }
        }
        CommandError::NoParent { operator, key } => TriggerError::NoParent { operator, key },
        _ => TriggerError::Stopped,
    })
}

/// Follows each stream to its end. Dropping the set ends them.
pub(super) fn follow(all: Vec<ExternalChanges>, board: &Board, runtime: &Handle) -> JoinSet<()> {
    let mut followed = JoinSet::new();
    for changes in all {
        let operator = changes.operator.clone();
        let following = AssertUnwindSafe(follow_one(changes, board.clone())).catch_unwind();
        let logged = following.map(move |ended| {
            if let Err(panic) = ended {
                let panic = panic_text(panic);
                tracing::error!(
                    operator,
                    panic,
                    "a stream of changes outside of Kubernetes panicked: it is over"
                );
            }
        });
        followed.spawn_on(logged, runtime);
    }
    followed
}

async fn follow_one(ExternalChanges { operator, mut parents }: ExternalChanges, board: Board) {
    while let Some(key) = parents.next().await {
        match report(&board, &operator, &key).await {
            Ok(()) => {}
            Err(TriggerError::Stopped) => return,
            // Later keys may be known.
            Err(error) => {
                tracing::debug!(operator, %error, "a change outside of Kubernetes has no effect");
            }
        }
    }
    tracing::debug!(operator, "a stream of changes outside of Kubernetes has ended");
}

fn registered(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) }
}

impl fmt::Debug for ExternalChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExternalChanges").field("operator", &self.operator).finish_non_exhaustive()
    }
}
