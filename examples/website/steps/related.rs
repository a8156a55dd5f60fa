// The page of a `Website` is its own, or that of a `ConfigMap` of somebody else.

use std::{path::Path, time::Duration};

use k8s_openapi::api::{
    apps::v1::Deployment,
    batch::v1::Job,
    core::v1::{ConfigMap, Secret, Service},
};
use kube::{CustomResource, ResourceExt};
use operetta::{operator::with_related, prelude::*};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use reported::{WebsiteStatus, status};

mod check;
mod content;
mod desired;
mod reported;
mod zone;

const ZONE: &str = "zone";

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
// ANCHOR: spec
#[serde(rename_all = "camelCase")]
struct WebsiteSpec {
    /// The page, in HTML.
    #[serde(default)]
    html: String,
    /// The name of a `ConfigMap` with an `index.html` that is shown instead.
    content_from: Option<String>,
    // ANCHOR_END: spec
    /// How many Pods show it; none if the website is switched off.
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 10))]
    replicas: i32,
}

fn one() -> i32 {
    1
}

fn sync(request: &SyncRequest<Website>) -> Result<SyncResponse<WebsiteStatus>> {
    let website = &request.parent;
    let html = &content::html(request)?;
    if !request.is_preview() {
        zone::add(Path::new(ZONE), &host(website), &website.name_any())?;
    }
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

/// Called when somebody deletes the website, until it returns that it is done.
fn finalize(request: &SyncRequest<Website>) -> Result<FinalizeResponse> {
    zone::remove(Path::new(ZONE), &host(&request.parent))?;
    Ok(FinalizeResponse::done())
}

fn host(website: &Website) -> String {
    format!("{}.{}", website.name_any(), website.namespace().unwrap_or_default())
}

// ANCHOR: config
fn config() -> OperatorConfig {
    OperatorConfig::custom::<Website>("website")
        .related::<ConfigMap>()
        // ANCHOR_END: config
        .child::<Job>(ChildConfig::recreate())
        .child::<ConfigMap>(ChildConfig::apply())
        .child::<Secret>(ChildConfig::apply())
        .child::<Deployment>(ChildConfig::apply())
        .child::<Service>(ChildConfig::apply())
}

// ANCHOR: register
fn main() -> std::process::ExitCode {
    let handler = with_related(with_finalizer(sync, finalize), content::related);
    operetta::cli::run(Supervisor::builder().register(config(), handler))
}
// ANCHOR_END: register
