// A `Website` has a name in a zone, which is removed before the website goes.

use std::{path::Path, time::Duration};

use k8s_openapi::api::{
    apps::v1::Deployment,
    batch::v1::Job,
    core::v1::{ConfigMap, Secret, Service},
};
use kube::{CustomResource, ResourceExt};
use operetta::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use reported::{WebsiteStatus, status};

mod check;
mod desired;
mod reported;
mod zone;

// ANCHOR: zone
const ZONE: &str = "zone";
// ANCHOR_END: zone

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
    if !request.is_preview() {
        zone::add(Path::new(ZONE), &host(website), &website.name_any())?;
    }
    // ANCHOR_END: sync
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

// ANCHOR: finalize
/// Called when somebody deletes the website, until it returns that it is done.
fn finalize(request: &SyncRequest<Website>) -> Result<FinalizeResponse> {
    zone::remove(Path::new(ZONE), &host(&request.parent))?;
    Ok(FinalizeResponse::done())
}

fn host(website: &Website) -> String {
    format!("{}.{}", website.name_any(), website.namespace().unwrap_or_default())
}
// ANCHOR_END: finalize

fn config() -> OperatorConfig {
    OperatorConfig::custom::<Website>("website")
        .child::<Job>(ChildConfig::recreate())
        .child::<ConfigMap>(ChildConfig::apply())
        .child::<Secret>(ChildConfig::apply())
        .child::<Deployment>(ChildConfig::apply())
        .child::<Service>(ChildConfig::apply())
}

// ANCHOR: register
fn main() -> std::process::ExitCode {
    operetta::cli::run(Supervisor::builder().register(config(), with_finalizer(sync, finalize)))
}
// ANCHOR_END: register
