//! Where the page of a website comes from.

use anyhow::Context;
use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::*;

use super::Website;

// ANCHOR: related
/// What a website reads and does not own. It depends on the website alone.
pub(crate) fn related(website: &Website) -> Related {
    match &website.spec.content_from {
        Some(name) => Related::new().named::<ConfigMap>(name.as_str()),
        None => Related::new(),
    }
}
// ANCHOR_END: related

// ANCHOR: html
pub(crate) fn html(request: &SyncRequest<Website>) -> Result<String> {
    let spec = &request.parent.spec;
    let Some(name) = &spec.content_from else { return Ok(spec.html.clone()) };
    let source = request.related_object::<ConfigMap>(name)?;
    let source = source.with_context(|| format!("the ConfigMap {name} does not exist"))?;
    let page = source.data.as_ref().and_then(|data| data.get("index.html"));
    page.cloned().with_context(|| format!("the ConfigMap {name} has no index.html"))
}
// ANCHOR_END: html
