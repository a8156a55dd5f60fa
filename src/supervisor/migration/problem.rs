//! Why a migration waits, and what to do.

use crate::{
    cluster::{Progress, Rewrite, RewriteError, TodoError},
    object::K8sType,
    reply::{ApiError, ErrorClass},
};

#[derive(Debug, thiserror::Error)]
pub(super) enum Problem {
    #[error(
        "the CRD {crd} cannot be read, so that it is not known in which versions objects are stored: {}{}",
        .why.said(), advice(.why, "get and watch", CRDS)
    )]
    Read { crd: String, why: ApiError },
    #[error("nothing of {crd} is migrated: {why}")]
    Todo { crd: String, why: TodoError },
    #[error(
        "objects may be stored in {old}, and are not migrated: the CRD {crd} has no conversion by a webhook, so that the API \
         server would drop the fields of the other version. Apply the CRD of the program"
    )]
    NoConversion { crd: String, old: String },
    #[error("objects may be stored in {old}, and are not migrated: {why}{}", grant(.why, .ty))]
    Rewrite { old: String, ty: String, why: RewriteError },
    #[error(
        "status.storedVersions of {crd} keeps {old}, because {failed} of its objects cannot be written. Correct them, and they \
         are migrated without a restart. {first}"
    )]
    Refused { crd: String, old: String, failed: usize, first: String },
    #[error(
        "all objects are stored in {storage}, but status.storedVersions of {crd} cannot be written: {}{}",
        .why.said(), advice(.why, "patch", STATUS)
    )]
    Remove { crd: String, storage: String, why: ApiError },
}

const CRDS: &str = "customresourcedefinitions";
const STATUS: &str = "customresourcedefinitions/status";

impl Problem {
    pub(super) fn rewrite(todo: &Rewrite, ty: &K8sType, why: RewriteError) -> Self {
        Self::Rewrite { old: todo.old.join(", "), ty: ty.resource_name(), why }
    }

    /// Some objects were refused, of which the first is named.
    pub(super) fn refused(todo: &Rewrite, progress: &Progress) -> Self {
        let (crd, old) = (todo.name.clone(), todo.old.join(", "));
        let named = progress.named().map(|(object, why)| format!("{object}: {why}"));
        let first = named.take(1).collect();
        Self::Refused { crd, old, failed: progress.failed(), first }
    }

    pub(super) fn remove(todo: &Rewrite, why: ApiError) -> Self {
        Self::Remove { crd: todo.name.clone(), storage: todo.storage.clone(), why }
    }
}

fn grant(why: &RewriteError, ty: &str) -> String {
    match why {
        RewriteError::List(why) => advice(why, "list and update", ty),
        RewriteError::NotAllowed(_) => format!(": grant list and update of {ty}"),
    }
}

fn advice(why: &ApiError, verbs: &str, of: &str) -> String {
    match why.class() {
        ErrorClass::Forbidden => format!(": grant {verbs} of {of}"),
        _ => String::new(),
    }
}
