// A page is checked before the web server shows it, and the address comes last.

use std::time::Duration;

use k8s_openapi::api::{
    apps::v1::Deployment,
    batch::v1::Job,
    core::v1::{ConfigMap, Secret, Service},
};
use kube::CustomResource;
use operetta::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use reported::{WebsiteStatus, status};

mod check;
mod desired;
mod reported;

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

// ANCHOR: sync
fn sync(request: &SyncRequest<Website>) -> Result<SyncResponse<WebsiteStatus>> {
    let website = &request.parent;
    let html = &website.spec.html;
    let response = SyncResponse::status(status(request, html)?)
        .ensure(desired::token(website))
        .child(check::job(website, html))
        .ready_within(Duration::from_mins(5));
    if website.spec.replicas == 0 {
        return Ok(response);
    }
    Ok(response
        .then()
        .child(desired::page(website, html))
        .child(desired::deployment(website))
        .then()
        .child(desired::service(website)))
}

fn config() -> OperatorConfig {
    OperatorConfig::custom::<Website>("website")
        .child::<Job>(ChildConfig::recreate())
        .child::<ConfigMap>(ChildConfig::apply())
        .child::<Secret>(ChildConfig::apply())
        .child::<Deployment>(ChildConfig::apply())
        .child::<Service>(ChildConfig::apply())
}
// ANCHOR_END: sync

fn main() -> std::process::ExitCode {
    operetta::cli::run(Supervisor::builder().register(config(), sync))
}
