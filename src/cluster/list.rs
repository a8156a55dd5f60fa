//! Listing a scope page by page.

use super::{ApiError, Cluster, WatchSpec, api::ApiRequest, frames};
use crate::object::{K8sType, Object, ResourceVersion, Undecodable};

/// Objects on a page: enough to be quick, few enough to bound what a page holds in memory.
const PAGE_SIZE: u32 = 500;

/// A complete list.
pub(super) struct List {
    pub(super) version: ResourceVersion,
    pub(super) objects: Vec<Object>,
    pub(super) undecodable: Vec<Undecodable>,
}

impl Cluster {
    /// Lists what the server holds now (a quorum read: no `resourceVersion` is given).
    pub(super) async fn list(&self, spec: &WatchSpec) -> Result<List, ApiError> {
        let mut list = self.list_page(spec, None).await?;
        let mut next = list.next.take();
        while let Some(token) = next {
            let page = self.list_page(spec, Some(&token)).await?;
            list.objects.extend(page.objects);
            list.undecodable.extend(page.undecodable);
            next = page.next;
        }
        let frames::Page { version, objects, undecodable, next: _ } = list;
        Ok(List { version, objects, undecodable })
    }

    /// What the server holds now of a type with these labels, in a namespace or in all. It is all of
    /// it: an object that cannot be read is an error.
    pub async fn list_labelled(
        &self,
        ty: &K8sType,
        namespace: Option<&str>,
        selector: String,
    ) -> Result<Vec<Object>, ApiError> {
        let spec = WatchSpec {
            ty: ty.clone(),
            namespace: namespace.map(str::to_owned),
            label_selector: Some(selector),
        };
        let List { version: _, objects, undecodable } = self.list(&spec).await?;
        match undecodable.into_iter().next() {
            None => Ok(objects),
            Some(object) => {
                let (request, why) = (spec.request("list").name(), object.why().to_owned());
                Err(ApiError::Malformed { request, why })
            }
        }
    }

    async fn list_page(
        &self,
        spec: &WatchSpec,
        token: Option<&str>,
    ) -> Result<frames::Page, ApiError> {
        let mut request = spec.request("list").with_query("limit", PAGE_SIZE.to_string());
        if let Some(token) = token {
            request = request.with_query("continue", token);
        }
        let name = request.name();
        let answer = self.send(request).await?;
        frames::page(&answer, &spec.ty, self.managers())
            .map_err(|error| ApiError::Malformed { request: name, why: error.to_string() })
    }
}

impl WatchSpec {
    /// A request about the collection that this scope covers.
    pub(super) fn request(&self, verb: &'static str) -> ApiRequest<'_> {
        let path = self.ty.collection_path(self.namespace.as_deref());
        let request = ApiRequest::get(verb, &self.ty, path);
        match &self.label_selector {
            Some(selector) => request.with_query("labelSelector", selector),
            None => request,
        }
    }
}
