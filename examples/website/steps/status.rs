// A `Website` shows its address, how many Pods are ready, and whether its page has a title.

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret, Service},
};
use kube::CustomResource;
use operetta::{operator::Condition, prelude::*};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod desired;

// ANCHOR: type
/// A page on the web.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[kube(group = "example.dev", version = "v1", kind = "Website")]
#[kube(namespaced, status = "WebsiteStatus")]
#[kube(printcolumn(name = "URL", type_ = "string", json_path = ".status.url"))]
#[kube(printcolumn(name = "Pods", type_ = "integer", json_path = ".status.readyPods"))]
#[kube(printcolumn(
    name = "Ready",
    type_ = "string",
    json_path = r#".status.conditions[?(@.type=="Ready")].status"#
))]
// ANCHOR_END: type
struct WebsiteSpec {
    /// The page, in HTML.
    html: String,
    /// How many Pods show it; none if the website is switched off.
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 10))]
    replicas: i32,
}

fn one() -> i32 {
    1
}

// ANCHOR: status
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default)]
#[serde(default, rename_all = "camelCase")]
struct WebsiteStatus {
    /// The address within the cluster.
    url: Option<String>,
    /// How many Pods are ready.
    ready_pods: i32,
    conditions: Conditions,
}

/// What the children report.
fn status(request: &SyncRequest<Website>) -> Result<WebsiteStatus> {
    let (name, namespace) = (request.object().name(), request.object().namespace());
    let deployment = request.child::<Deployment>(name)?;
    let service = request.child::<Service>(name)?;
    let mut conditions = Conditions::new();
    conditions.set(titled(&request.parent.spec.html));
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
// ANCHOR_END: status

// ANCHOR: sync
fn sync(request: &SyncRequest<Website>) -> Result<SyncResponse<WebsiteStatus>> {
    let website = &request.parent;
    let response = SyncResponse::status(status(request)?)
        .child(desired::page(website, &website.spec.html))
        .ensure(desired::token(website));
    if website.spec.replicas == 0 {
        return Ok(response);
    }
    Ok(response.child(desired::deployment(website)).child(desired::service(website)))
}
// ANCHOR_END: sync

fn config() -> OperatorConfig {
    OperatorConfig::custom::<Website>("website")
        .child::<ConfigMap>(ChildConfig::apply())
        .child::<Secret>(ChildConfig::apply())
        .child::<Deployment>(ChildConfig::apply())
        .child::<Service>(ChildConfig::apply())
}

fn main() -> std::process::ExitCode {
    operetta::cli::run(Supervisor::builder().register(config(), sync))
}
