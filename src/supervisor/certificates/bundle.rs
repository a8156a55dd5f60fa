//! What the API server trusts: the `caBundle` of each object by which it calls this process.

use serde_json::Value;

use super::error::PublishError;
use crate::{
    cluster::Cluster,
    manifests::Caller,
    object::ObjectKey,
    reply::{ApiError, ErrorClass},
};

/// The objects as they were read, before the Secret was.
pub(super) struct Callers(Vec<(Caller, Result<Option<Value>, ApiError>)>);

impl Callers {
    pub(super) async fn read(cluster: &Cluster, callers: &[Caller]) -> Self {
        let mut read = Vec::new();
        for caller in callers {
            let key = ObjectKey::cluster(&caller.name);
            read.push((caller.clone(), cluster.read_whole(&caller.ty, &key).await));
        }
        Self(read)
    }

    /// The versions, for watches.
    pub(super) fn versions(&self) -> impl Iterator<Item = (&Caller, Option<&str>)> {
        self.0.iter().map(|(caller, read)| {
            let live = read.as_ref().ok().and_then(Option::as_ref);
            (caller, live.and_then(|live| live["metadata"]["resourceVersion"].as_str()))
        })
    }

    /// Gives each of them this bundle. Returns what failed, and whether all that exist have it now.
    pub(super) async fn publish(
        &self,
        cluster: &Cluster,
        service: (&str, &str),
        bundle: &[u8],
    ) -> (Vec<PublishError>, bool) {
        let (mut problems, mut all_have_it) = (Vec::new(), true);
        for (caller, read) in &self.0 {
            match publish(cluster, (caller, read), service, bundle).await {
                Ok(has_it) => all_have_it &= has_it,
                Err(problem) => {
                    all_have_it &= problem.is_absence();
                    problems.push(problem);
                }
            }
        }
        (problems, all_have_it)
    }
}

/// Returns whether the object has the bundle now.
async fn publish(
    cluster: &Cluster,
    (caller, read): (&Caller, &Result<Option<Value>, ApiError>),
    service: (&str, &str),
    bundle: &[u8],
) -> Result<bool, PublishError> {
    let (kind, name) = (caller.ty.kind().to_owned(), caller.name.clone());
    let refused = |why: &ApiError| PublishError::Refused {
        kind: kind.clone(),
        name: name.clone(),
        plural: caller.ty.plural().to_owned(),
        why: why.clone(),
    };
    let Some(live) = read.as_ref().map_err(refused)? else {
        return Err(PublishError::Missing { kind, name });
    };
    let correction = caller.correction(live, service, bundle);
    if let Some(patch) = correction.patch {
        match cluster.set_ca_bundle(&caller.ty, &name, &patch).await {
            Ok(()) => tracing::info!("the caBundle of {kind} {name} is in order"),
            // Somebody wrote it meanwhile: the next turn sees what.
            Err(why) if why.class() == ErrorClass::Conflict => return Ok(false),
            Err(why) => return Err(refused(&why)),
        }
    }
    match correction.absent {
        absent if absent.is_empty() => Ok(true),
        absent => Err(PublishError::Incomplete { kind, name, absent }),
    }
}
