//! The status of a website: what its children report.

use k8s_openapi::api::{apps::v1::Deployment, core::v1::Service};
use operetta::{operator::Condition, prelude::*};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Website;

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct WebsiteStatus {
    /// The address within the cluster.
    url: Option<String>,
    /// How many Pods are ready.
    ready_pods: i32,
    pub(crate) conditions: Conditions,
}

pub(crate) fn status(request: &SyncRequest<Website>, html: &str) -> Result<WebsiteStatus> {
    let (name, namespace) = (request.object().name(), request.object().namespace());
    let deployment = request.child::<Deployment>(name)?;
    let service = request.child::<Service>(name)?;
    let mut conditions = Conditions::new();
    conditions.set(titled(html));
    Ok(WebsiteStatus {
        url: service.map(|_| format!("http://{name}.{}.svc", namespace.unwrap_or_default())),
        ready_pods: deployment.and_then(|it| it.status.as_ref()?.ready_replicas).unwrap_or(0),
        conditions,
    })
}

fn titled(html: &str) -> Condition {
    if html.contains("<title>") {
        Condition::new("Titled", true, "TitleFound", "")
    } else {
        Condition::new("Titled", false, "NoTitle", "The page has no <title>: browsers show none.")
    }
}
