//! What exists for each `Till`: a Deployment, and a Service with its address.

pub mod v1beta1;

pub mod v1alpha1;

use operetta::operator::conversion::Versions;

use std::collections::BTreeMap;

use k8s_openapi::api::{apps::v1::Deployment, core::v1::Service};
use kube::CustomResource;
use operetta::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A server with an address in the cluster.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone, PartialEq)]
#[kube(group = "shop.example.com", version = "v1", kind = "Till")]
#[kube(namespaced, status = "TillStatus")]
#[kube(printcolumn(name = "URL", type_ = "string", json_path = ".status.url"))]
pub struct TillSpec {
    /// The image of the server.
    pub image: String,
    /// The port at which it listens.
    #[schemars(range(min = 1, max = 65535))]
    pub port: i32,
    /// The currencies that it takes, and how it rounds them.
    #[serde(default)]
    pub currencies: BTreeMap<String, TillCurrency>,
    /// The drawer for the money.
    #[serde(default = "no_drawer")]
    pub drawer: TillDrawer,
    /// Those that share the money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<Vec<TillDrawer>>,
}

/// A currency.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, PartialEq)]
pub struct TillCurrency {
    /// The smallest coin.
    pub coin: u32,
}

/// A drawer.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, PartialEq)]
#[serde(rename_all = "camelCase")]
pub enum TillDrawer {
    /// For money of this number of kinds.
    Money(u32),
    /// For what is written.
    Paper {
        /// How many.
        sheets: u32,
    },
}

fn no_drawer() -> TillDrawer {
    TillDrawer::Money(0)
}

/// What is known of a `Till`.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default, PartialEq)]
#[serde(default)]
pub struct TillStatus {
    /// Where it is served.
    pub url: String,
    /// `Synced` and `Ready` are kept by the framework.
    pub conditions: Conditions,
}

/// What should exist for a `Till`. It is called again whenever the parent or a child changes, and returns all of it
/// each time.
///
/// # Errors
/// None: a handler that needs some returns them with `?`.
pub fn sync(request: &SyncRequest<Till>) -> Result<SyncResponse<TillStatus>> {
    let Till { metadata, spec, .. } = &request.parent;
    let name = metadata.name.as_deref().unwrap_or_default();
    let namespace = metadata.namespace.as_deref().unwrap_or_default();
    let labels = json!({"app.kubernetes.io/instance": name, "app.kubernetes.io/name": "till"});
    let deployment = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{
                    "name": "server",
                    "image": spec.image,
                    "ports": [{"name": "http", "containerPort": spec.port}],
                }]},
            },
        },
    });
    let service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "labels": labels},
        "spec": {"selector": labels, "ports": [{"name": "http", "port": 80, "targetPort": "http"}]},
    });
    let status =
        TillStatus { url: format!("http://{name}.{namespace}.svc"), ..TillStatus::default() };
    Ok(SyncResponse::status(status)
        .child(deployment)
        // Only a start: `kubectl scale` and autoscalers may change it.
        .initial_field("/spec/replicas")
        .child(service))
}

/// Which parents and children there are, and how they are treated.
#[must_use]
pub fn config() -> OperatorConfig {
    OperatorConfig::custom::<Till>("till")
        .child::<Deployment>(ChildConfig::apply())
        .child::<Service>(ChildConfig::apply())
}

/// The versions of `Till`, and which of them the API server stores.
pub fn versions() -> Versions {
    Versions::hub::<Till>()
        .version::<v1beta1::Till>()
        .version::<v1alpha1::Till>()
        .storing::<v1alpha1::Till>()
        .into()
}
