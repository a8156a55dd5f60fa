// The whole operator, with all that it needs in a cluster.

use std::{path::PathBuf, time::Duration};

use k8s_openapi::api::{
    apps::v1::Deployment,
    batch::v1::Job,
    core::v1::{ConfigMap, Secret, Service},
};
use kube::{CustomResource, ResourceExt};
use operetta::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use reported::{WebsiteStatus, status};

mod check;
mod content;
mod desired;
mod reported;
#[cfg(test)]
mod tests;
mod themes;
mod zone;

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
#[serde(rename_all = "camelCase")]
struct WebsiteSpec {
    /// The page, in HTML.
    #[serde(default)]
    html: String,
    /// The name of a `ConfigMap` with an `index.html` that is shown instead.
    content_from: Option<String>,
    /// The name of a theme.
    theme: Option<String>,
    /// How many Pods show it; none if the website is switched off.
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 10))]
    replicas: i32,
}

fn one() -> i32 {
    1
}

/// The systems that websites need beside Kubernetes.
#[derive(Debug, Clone)]
struct Websites {
    /// The folder of the zone.
    zone: PathBuf,
    /// The address of the server of themes.
    themes: String,
}

impl AsyncHandler for Websites {
    type Parent = Website;
    type Response = SyncResponse<WebsiteStatus>;

    fn related(&self, website: &Website) -> Related {
        content::related(website)
    }

    async fn sync(&self, request: SyncRequest<Website>) -> Result<SyncResponse<WebsiteStatus>> {
        let html = self.html(&request).await?;
        if !request.is_preview() {
            let (zone, website) = (self.zone.clone(), &request.parent);
            let (host, target) = (host(website), website.name_any());
            // Files block their thread.
            spawn_blocking(move || zone::add(&zone, &host, &target)).await??;
        }
        response(&request, &html)
    }

    fn has_finalizer(&self) -> bool {
        true
    }

    async fn finalize(&self, request: SyncRequest<Website>) -> Result<FinalizeResponse> {
        let (zone, host) = (self.zone.clone(), host(&request.parent));
        spawn_blocking(move || zone::remove(&zone, &host)).await??;
        Ok(FinalizeResponse::done())
    }
}

impl Websites {
    /// The page that is to be shown.
    async fn html(&self, request: &SyncRequest<Website>) -> Result<String> {
        let page = content::html(request)?;
        match &request.parent.spec.theme {
            Some(theme) => themes::apply(&self.themes, theme, &page).await,
            None => Ok(page),
        }
    }
}

fn response(request: &SyncRequest<Website>, html: &str) -> Result<SyncResponse<WebsiteStatus>> {
    let website = &request.parent;
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

fn host(website: &Website) -> String {
    format!("{}.{}", website.name_any(), website.namespace().unwrap_or_default())
}

fn config() -> OperatorConfig {
    OperatorConfig::custom::<Website>("website")
        .with_handler_deadline(Duration::from_secs(2))
        .with_preview(true)
        .related::<ConfigMap>()
        .child::<Job>(ChildConfig::recreate())
        .child::<ConfigMap>(ChildConfig::apply())
        .child::<Secret>(ChildConfig::apply())
        .child::<Deployment>(ChildConfig::apply())
        .child::<Service>(ChildConfig::apply())
}

// ANCHOR: main
fn main() -> std::process::ExitCode {
    let (name, version) = (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    let setting = |name, default: &str| std::env::var(name).unwrap_or(default.to_owned());
    let themes = setting("THEMES", "http://127.0.0.1:8000");
    let websites = Websites { zone: setting("ZONE", "zone").into(), themes };
    operetta::cli::run(Supervisor::builder().program(name, version).register(config(), websites))
}
// ANCHOR_END: main
