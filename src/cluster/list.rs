//! Lists a scope page by page.

use std::time::Duration;

use http::{HeaderValue, header};

use super::{Cluster, Shard, WatchSpec, api::ApiRequest, frames};
use crate::{
    object::{K8sType, Object, ResourceVersion, Undecodable},
    reply::{ApiError, ErrorClass},
    schedule::Backoff,
    store::Listed,
};

/// Objects on a page: enough to be quick, few enough to limit the memory of a page.
pub(crate) const PAGE_SIZE: u32 = 500;

/// Used when the server compacts the version before all pages are read.
const LARGE_PAGE_SIZE: u32 = 5_000;

/// How often the request for a page is repeated, and after what time.
const MAX_RETRIES: u32 = 3;
const BACKOFF: Backoff = Backoff { min: Duration::from_millis(500), max: Duration::from_secs(4) };

/// Servers compact the version of a list after some minutes.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// After this time the others go on: a type whose list hangs must not delay them.
const LONGEST_TURN: Duration = Duration::from_millis(500);

/// The representations of objects without anything but their metadata.
const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// Which part of a list is requested.
enum Part<'a> {
    /// The shortest page, for the version of the list.
    OneObject,
    FirstPage(u32),
    PageAfter(&'a str, u32),
    All,
}

/// Whether a list waits for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Urgency {
    Urgent,
    /// One page at a time with the other lists that are in no hurry: a process that takes over the parents of another lists
    /// all its types, and still answers changes.
    CanWait,
}

/// A list that is read.
#[derive(Clone, Copy)]
struct Reading<'a> {
    spec: &'a WatchSpec,
    listed: &'a Listed,
    urgency: Urgency,
}

pub(crate) struct List {
    pub(crate) version: ResourceVersion,
    pub(crate) objects: Vec<Object>,
    pub(crate) undecodable: Vec<Undecodable>,
}

impl Cluster {
    /// Lists the current objects (a quorum read, because no `resourceVersion` is given). It reads pages,
    /// unless that takes longer than the server keeps their version.
    ///
    /// Of each page only the objects are kept that are to be listed.
    pub(crate) async fn list(
        &self,
        spec: &WatchSpec,
        page_size: u32,
        (listed, urgency): (&Listed, Urgency),
    ) -> Result<List, ApiError> {
        let page = self.all_pages(Reading { spec, listed, urgency }, page_size).await?;
        let frames::Page { version, objects, undecodable, next: _ } = page;
        Ok(List { version, objects, undecodable })
    }

    /// The same without a filter, in pages of the usual size.
    pub(crate) async fn list_all(&self, spec: &WatchSpec) -> Result<List, ApiError> {
        self.list(spec, PAGE_SIZE, (&Listed::default(), Urgency::Urgent)).await
    }

    async fn all_pages(&self, reading: Reading<'_>, size: u32) -> Result<frames::Page, ApiError> {
        for size in [size, LARGE_PAGE_SIZE] {
            match self.pages(reading, size).await {
                Err(error) if error.code() == Some(410) => {}
                pages => return pages,
            }
        }
        let mut all = self.part(reading.spec, Part::All).await?;
        all.objects.retain(|object| reading.listed.includes(object));
        Ok(all)
    }

    /// Reads all pages and joins them.
    async fn pages(&self, reading: Reading<'_>, size: u32) -> Result<frames::Page, ApiError> {
        let is_listed = |object: &Object| reading.listed.includes(object);
        let mut list = self.paced(reading, Part::FirstPage(size)).await?;
        list.objects.retain(is_listed);
        while let Some(token) = list.next.take() {
            let page = self.page_after(reading, &token, size).await?;
            list.objects.extend(page.objects.into_iter().filter(is_listed));
            list.undecodable.extend(page.undecodable);
            list.next = page.next;
        }
        Ok(list)
    }

    /// Reads a page after the first and retries it, so that a long list does not fail with one request.
    /// A page that is too large is not retried: the list begins again with smaller pages.
    async fn page_after(
        &self,
        reading: Reading<'_>,
        token: &str,
        size: u32,
    ) -> Result<frames::Page, ApiError> {
        for failures in 1..=MAX_RETRIES {
            let error = match self.paced(reading, Part::PageAfter(token, size)).await {
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
        self.paced(reading, Part::PageAfter(token, size)).await
    }

    async fn paced(&self, reading: Reading<'_>, part: Part<'_>) -> Result<frames::Page, ApiError> {
        let turn = match reading.urgency {
            Urgency::Urgent => return self.part(reading.spec, part).await,
            // It is never closed.
            Urgency::CanWait => self.turns.acquire().await.ok(),
        };
        let mut page = Box::pin(self.part(reading.spec, part));
        if let Ok(page) = tokio::time::timeout(LONGEST_TURN, &mut page).await {
            return page;
        }
        drop(turn);
        page.await
    }

    pub(super) async fn version(&self, spec: &WatchSpec) -> Result<ResourceVersion, ApiError> {
        Ok(self.part(spec, Part::OneObject).await?.version)
    }

    /// Lists the current objects of a type with these labels, in a namespace or in all. An object that
    /// cannot be decoded is an error, so that the list is complete.
    pub(crate) async fn list_labelled(
        &self,
        ty: &K8sType,
        namespace: Option<&str>,
        selector: String,
    ) -> Result<Vec<Object>, ApiError> {
        let spec = WatchSpec {
            namespace: namespace.map(str::to_owned),
            label_selector: Some(selector),
            ..WatchSpec::of(ty.clone())
        };
        let List { objects, undecodable, .. } = self.list_all(&spec).await?;
        match undecodable.into_iter().next() {
            None => Ok(objects),
            Some(object) => {
                let (request, why) = (spec.request("list").name(), object.why().to_owned());
                Err(ApiError::Malformed { request, why })
            }
        }
    }

    /// Whether a watch would show an object.
    pub(crate) async fn has_any(&self, spec: &WatchSpec) -> Result<bool, ApiError> {
        let page = self.part(spec, Part::FirstPage(1)).await?;
        Ok(!page.objects.is_empty() || !page.undecodable.is_empty())
    }

    async fn part(&self, spec: &WatchSpec, part: Part<'_>) -> Result<frames::Page, ApiError> {
        let request = spec.request("list");
        let request = match part {
            Part::All => request,
            // Without the labels: where few objects have them, a server reads all before it finds one.
            Part::OneObject => spec.request_of_all("list").with_query("limit", "1"),
            Part::FirstPage(size) => request.with_query("limit", size.to_string()),
            Part::PageAfter(token, size) => {
                request.with_query("limit", size.to_string()).with_query("continue", token)
            }
        };
        let name = request.name();
        let answer = self.send(request).await?;
        frames::page(&answer, spec, &self.managers)
            .map_err(|error| ApiError::malformed(name, &error))
    }
}

impl WatchSpec {
    /// A request for the collection of this scope.
    pub(super) fn request(&self, verb: &'static str) -> ApiRequest<'_> {
        let request = self.request_of_all(verb);
        let request = match &self.label_selector {
            Some(selector) => request.with_query("labelSelector", selector),
            None => request,
        };
        match self.shard.as_ref().and_then(Shard::selector) {
            Some(selector) => request.with_query("shardSelector", selector),
            None => request,
        }
    }

    /// The same without the selectors.
    fn request_of_all(&self, verb: &'static str) -> ApiRequest<'_> {
        let path = self.ty.collection_path(self.namespace.as_deref());
        let mut request = ApiRequest::get(verb, &self.ty, path);
        if self.metadata_only {
            let accept = if verb == "watch" { METADATA } else { METADATA_LIST };
            request.headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
        }
        match &self.name {
            // A permission may be for this name alone.
            Some(name) => request.with_query("fieldSelector", format!("metadata.name={name}")),
            None => request,
        }
    }
}
