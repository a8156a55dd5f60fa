//! The style, the script and the icon, which are compiled in.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::LazyLock,
};

use actix_web::{HttpResponse, http::header, web::Path};

use crate::web::status::Refused;

struct Asset {
    name: &'static str,
    kind: &'static str,
    content: &'static str,
}

static ASSETS: [Asset; 3] = [
    Asset {
        name: "page.css",
        kind: "text/css; charset=utf-8",
        content: include_str!("assets/page.css"),
    },
    Asset {
        name: "page.js",
        kind: "text/javascript; charset=utf-8",
        content: include_str!("assets/page.js"),
    },
    Asset { name: "icon.svg", kind: "image/svg+xml", content: include_str!("assets/icon.svg") },
];

/// The hash of the files, so that a browser does not use a cached script of another version.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hasher = DefaultHasher::new();
    for asset in &ASSETS {
        asset.content.hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
});

/// Their URLs contain the version, so they can be cached forever.
const KEPT: &str = "private, max-age=31536000, immutable";

pub(super) fn href(name: &str) -> String {
    format!("/ui/assets/{name}?v={}", *VERSION)
}

pub(super) async fn show(name: Path<String>) -> Result<HttpResponse, Refused> {
    let asset = ASSETS.iter().find(|asset| asset.name == *name);
    let asset = asset.ok_or_else(|| Refused::NoPath { path: format!("/ui/assets/{name}") })?;
    let mut response = HttpResponse::Ok();
    response.insert_header((header::CACHE_CONTROL, KEPT)).content_type(asset.kind);
    Ok(response.body(asset.content))
}
