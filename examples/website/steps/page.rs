//! Where the page of a website comes from.

use anyhow::Context;
use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Website;

// ANCHOR: type
/// What a website shows.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone)]
pub(crate) struct Page {
    /// The page, in HTML.
    #[serde(default)]
    pub(crate) html: String,
    /// The name of a `ConfigMap` with an `index.html` that is shown instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<String>,
}
// ANCHOR_END: type

/// What a website reads and does not own. It depends on the website alone.
pub(crate) fn related(website: &Website) -> Related {
    match &website.spec.page.from {
        Some(name) => Related::new().named::<ConfigMap>(name.as_str()),
        None => Related::new(),
    }
}

pub(crate) fn html(request: &SyncRequest<Website>) -> Result<String> {
    let page = &request.parent.spec.page;
    let Some(name) = &page.from else { return Ok(page.html.clone()) };
    let source = request.related_object::<ConfigMap>(name)?;
    let source = source.with_context(|| format!("the ConfigMap {name} does not exist"))?;
    let page = source.data.as_ref().and_then(|data| data.get("index.html"));
    page.cloned().with_context(|| format!("the ConfigMap {name} has no index.html"))
}
