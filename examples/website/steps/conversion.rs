//! From one version of a website to the other.

use operetta::operator::conversion::Versions;

use super::{page::Page, v1, v2};

/// What `v1` cannot hold is kept in an annotation.
pub(crate) fn versions() -> Versions {
    Versions::hub::<v2::Website>().keeping::<v1::Website>(&["spec.host"], &[]).into()
}

impl From<v1::Website> for v2::Website {
    fn from(old: v1::Website) -> Self {
        let v1::WebsiteSpec { html, content_from, theme, replicas } = old.spec;
        let page = Page { html, from: content_from };
        let spec = v2::WebsiteSpec { page, host: None, theme, replicas };
        Self { metadata: old.metadata, spec, status: old.status }
    }
}

impl From<v2::Website> for v1::Website {
    fn from(new: v2::Website) -> Self {
        let v2::WebsiteSpec { page, host: _, theme, replicas } = new.spec;
        let Page { html, from: content_from } = page;
        let spec = v1::WebsiteSpec { html, content_from, theme, replicas };
        Self { metadata: new.metadata, spec, status: new.status }
    }
}
