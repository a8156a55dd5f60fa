// A `Website` in two versions, which the program converts.

use std::{path::PathBuf, time::Duration};

use k8s_openapi::api::{
    apps::v1::Deployment,
    batch::v1::Job,
    core::v1::{ConfigMap, Secret, Service},
};
use kube::ResourceExt;
use operetta::prelude::*;
use tokio::task::spawn_blocking;

use conversion::versions;
use host::host;
use reported::{WebsiteStatus, status};
use v2::Website;

mod check;
mod conversion;
mod desired;
mod host;
mod page;
mod reported;
#[cfg(test)]
// In the package of a reader it is `tests.rs`.
#[path = "tests_of_versions.rs"]
mod tests;
mod themes;
mod v1;
mod v2;
mod zone;

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
        page::related(website)
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
        let page = page::html(request)?;
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

fn main() -> std::process::ExitCode {
    let (name, version) = (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    let setting = |name, default: &str| std::env::var(name).unwrap_or(default.to_owned());
    let themes = setting("THEMES", "http://127.0.0.1:8000");
    let websites = Websites { zone: setting("ZONE", "zone").into(), themes };
    // ANCHOR: register
    let supervisor = Supervisor::builder()
        .program(name, version)
        .register(config(), websites)
        .versions(versions())
        .webhook(host::webhook())
        .webhooks("0.0.0.0:9443");
    operetta::cli::run(supervisor)
    // ANCHOR_END: register
}
