//! The operator of the benchmark: that of the recipes, and what its causes need beside.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret, Service};
use operetta::{operator::ConflictPolicy, prelude::*, supervisor::SupervisorBuilder};
use serde_json::json;

use crate::recipe::{self, RECIPE};

pub(super) const NAME: &str = "cook";

/// A parent whose name does not fit its Service.
pub(super) const DOTTED: &str = "shop.example";

pub(super) fn register(builder: SupervisorBuilder) -> SupervisorBuilder {
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let reported = ChildConfig::apply().with_conflicts(ConflictPolicy::Report);
    let config = OperatorConfig::new(NAME, parent)
        .child::<ConfigMap>(ChildConfig::apply())
        .child::<Secret>(reported)
        .child::<Service>(ChildConfig::apply())
        .child::<Pod>(ChildConfig::recreate())
        .with_handler_deadline(Duration::from_secs(1))
        .with_error_backoff(Duration::from_millis(100), Duration::from_mins(10));
    builder.register(config, sync)
}

/// `named` returns a Service with the name of its parent.
async fn sync(request: SyncRequest) -> Result<SyncResponse> {
    let spec = request.parent.field("spec").unwrap_or_default();
    if spec["act"] == "named" {
        let name = request.parent.name().to_owned();
        let service = json!({
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
            "spec": {"ports": [{"port": 80}]},
        });
        return Ok(SyncResponse::status(json!({})).child(service));
    }
    recipe::sync_async(request).await
}
