//! Sets and removes the label of the leader on a Pod.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Cluster, write::patch};
use crate::{
    election::{LEADER_LABEL, PodRole},
    object::{K8sType, ObjectKey},
    reply::ApiError,
};

/// As the field manager of the label.
const MANAGER: &str = "operetta.dev/leader-election";

impl Cluster {
    /// Shows the role of a process on its Pod, and changes nothing else of the Pod. Ends after `patience`.
    pub(crate) async fn label_pod(
        &self,
        pod: &ObjectKey,
        role: PodRole,
        patience: Duration,
    ) -> Result<(), ApiError> {
        let ty = K8sType::namespaced("v1", "Pod", "pods");
        let request = patch(&ty, ty.object_path(pod), "application/merge-patch+json", &body(role))
            .with_query("fieldManager", MANAGER);
        let name = request.name();
        let sending = tokio::time::timeout(patience, self.send(request)).await;
        let timed_out = |_| ApiError::TimedOut { request: name, after: patience };
        // The answer is the whole Pod, of which nothing is cached.
        sending.map_err(timed_out)?.map(drop)
    }
}

/// Null removes a label.
fn body(role: PodRole) -> Value {
    let value = match role {
        PodRole::Leader => json!("true"),
        PodRole::Standby => Value::Null,
    };
    json!({"metadata": {"labels": {LEADER_LABEL: value}}})
}
