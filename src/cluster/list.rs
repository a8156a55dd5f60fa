//! Listing a scope page by page.

use std::time::Duration;

use super::{Cluster, WatchSpec, api::ApiRequest, frames};
use crate::{
    object::{K8sType, Object, ResourceVersion, Undecodable},
    reply::{ApiError, ErrorClass},
    schedule::Backoff,
};

/// Objects on a page: enough to be quick, few enough to bound what a page holds in memory.
pub(super) const PAGE_SIZE: u32 = 500;

/// Where the server forgets the version before all pages are read, fewer and larger ones are.
const LARGE_PAGE_SIZE: u32 = 5_000;

/// How often a page is asked for again, and after what time.
const MORE_TRIES: u32 = 3;
const BACKOFF: Backoff = Backoff { min: Duration::from_millis(500), max: Duration::from_secs(4) };

/// Servers forget the version of a list after some minutes.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// What of a list is asked for.
enum Part<'a> {
    /// Its version, more or less: the shortest page.
    OneObject,
    FirstPage(u32),
    PageAfter(&'a str, u32),
    All,
}

/// A complete list.
pub(super) struct List {
    pub(super) version: ResourceVersion,
    pub(super) objects: Vec<Object>,
    pub(super) undecodable: Vec<Undecodable>,
}

impl Cluster {
    /// Lists what the server holds now (a quorum read: no `resourceVersion` is given). In pages,
    /// unless that takes longer than the server keeps the version that they are of.
    pub(super) async fn list(&self, spec: &WatchSpec, page_size: u32) -> Result<List, ApiError> {
        let page = self.all_pages(spec, page_size).await?;
        let frames::Page { version, objects, undecodable, next: _ } = page;
        Ok(List { version, objects, undecodable })
    }

    async fn all_pages(&self, spec: &WatchSpec, size: u32) -> Result<frames::Page, ApiError> {
        for size in [size, LARGE_PAGE_SIZE] {
            match self.pages(spec, size).await {
                Err(error) if error.code() == Some(410) => {}
                pages => return pages,
            }
        }
        self.part(spec, Part::All).await
    }

    /// All pages, as one.
    async fn pages(&self, spec: &WatchSpec, size: u32) -> Result<frames::Page, ApiError> {
        let mut list = self.part(spec, Part::FirstPage(size)).await?;
        while let Some(token) = list.next.take() {
            let page = self.page_after(spec, &token, size).await?;
            list.objects.extend(page.objects);
            list.undecodable.extend(page.undecodable);
            list.next = page.next;
        }
        Ok(list)
    }

    /// A page that is not the first: of a long list it is not the end if one is refused for a while.
    /// One that is too much is not asked for again: the list begins anew with smaller ones.
    async fn page_after(
        &self,
        spec: &WatchSpec,
        token: &str,
        size: u32,
    ) -> Result<frames::Page, ApiError> {
        for failures in 1..=MORE_TRIES {
            let error = match self.part(spec, Part::PageAfter(token, size)).await {
                Err(error) if error.code() != Some(410) && !error.is_too_much() => error,
                page => return page,
            };
            let wait = match error.class() {
                ErrorClass::Retry => BACKOFF.delay(failures, 0),
                ErrorClass::Wait(asked) => asked.min(LONGEST_WAIT),
                _ => return Err(error),
            };
            tokio::time::sleep(wait).await;
        }
        self.part(spec, Part::PageAfter(token, size)).await
    }

    /// The version that a list of now would have.
    pub(super) async fn version(&self, spec: &WatchSpec) -> Result<ResourceVersion, ApiError> {
        Ok(self.part(spec, Part::OneObject).await?.version)
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
        let List { version: _, objects, undecodable } = self.list(&spec, PAGE_SIZE).await?;
        match undecodable.into_iter().next() {
            None => Ok(objects),
            Some(object) => {
                let (request, why) = (spec.request("list").name(), object.why().to_owned());
                Err(ApiError::Malformed { request, why })
            }
        }
    }

    async fn part(&self, spec: &WatchSpec, part: Part<'_>) -> Result<frames::Page, ApiError> {
        let request = spec.request("list");
        let request = match part {
            Part::All => request,
            // Without the labels: where few objects have them, a server looks at all before it finds one.
            Part::OneObject => spec.request_of_all("list").with_query("limit", "1"),
            Part::FirstPage(size) => request.with_query("limit", size.to_string()),
            Part::PageAfter(token, size) => {
                request.with_query("limit", size.to_string()).with_query("continue", token)
            }
        };
        let name = request.name();
        let answer = self.send(request).await?;
        frames::page(&answer, &spec.ty, self.managers())
            .map_err(|error| ApiError::malformed(name, &error))
    }
}

impl WatchSpec {
    /// A request about the collection that this scope covers.
    pub(super) fn request(&self, verb: &'static str) -> ApiRequest<'_> {
        let request = self.request_of_all(verb);
        match &self.label_selector {
            Some(selector) => request.with_query("labelSelector", selector),
            None => request,
        }
    }

    /// The same about objects with any labels.
    fn request_of_all(&self, verb: &'static str) -> ApiRequest<'_> {
        let path = self.ty.collection_path(self.namespace.as_deref());
        ApiRequest::get(verb, &self.ty, path)
    }
}
