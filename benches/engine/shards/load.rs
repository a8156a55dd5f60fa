//! The parents of the figure, over many namespaces, with one child or three in turn; and changes of them.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use anyhow::Result;
use http::Method;
use kube::Client;
use serde_json::json;
use tokio::time::sleep_until;

use super::group::bucket;
use crate::{
    parents::{self, FIRST_MARK, at_once},
    sightings::Sightings,
    workload::{ParentType, Workload},
};

const NAMESPACES: usize = 300;

/// How many changes a second there are while processes come and go.
const RATE: u32 = 10;

/// All parents.
#[derive(Clone)]
pub(super) struct Load {
    users: Client,
    ty: ParentType,
    /// The bucket of each parent by its number.
    buckets: Arc<Vec<u8>>,
}

impl Load {
    /// Creates them.
    pub(super) async fn create(users: Client, workload: Workload, count: usize) -> Result<Self> {
        create_namespaces(&users).await?;
        let (ty, buckets) = (workload.parent(0), Arc::new(Mutex::new(vec![0; count])));
        let shared = Arc::new((users.clone(), ty.clone(), Arc::clone(&buckets)));
        at_once(count, move |number| {
            let shared = Arc::clone(&shared);
            async move {
                let (users, ty, buckets) = &*shared;
                let mut spec = workload.spec(FIRST_MARK);
                spec["alone"] = json!(number % 2 == 0);
                let (place, name) = (namespace(number), name(number));
                let created = parents::create_in(users, (ty, &place), name, &spec).await?;
                let mut buckets = buckets.lock().unwrap_or_else(PoisonError::into_inner);
                buckets[number] = bucket(&created.uid);
                Ok(())
            }
        })
        .await?;
        let buckets = buckets.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(Self { users, ty, buckets: Arc::new(buckets) })
    }

    /// The numbers of the parents in these buckets.
    pub(super) fn within(&self, holds: u64) -> Vec<usize> {
        let is_held = |number: &usize| holds >> self.buckets[*number] & 1 == 1;
        (0..self.buckets.len()).filter(is_held).collect()
    }

    pub(super) async fn sightings(&self, workload: Workload) -> Result<Sightings> {
        Sightings::everywhere(self.users.clone(), workload).await
    }

    /// Changes these parents at once.
    pub(super) async fn change_all(&self, numbers: Vec<usize>, mark: &str) -> Result<()> {
        let shared = Arc::new((self.clone(), numbers, mark.to_owned()));
        let count = shared.1.len();
        at_once(count, move |at| {
            let shared = Arc::clone(&shared);
            async move { shared.0.change(shared.1[at], &shared.2).await }
        })
        .await
    }

    /// Changes parents at a rate until `is_over` is done. Returns when each change was due, in their order.
    pub(super) async fn change_until(
        &self,
        mark: &str,
        is_over: impl Future<Output = Result<()>>,
    ) -> Result<Vec<Instant>> {
        let (begun, mut changes, mut due) = (tokio::time::Instant::now(), Vec::new(), Vec::new());
        let mut is_over = std::pin::pin!(is_over);
        loop {
            let next = begun + Duration::from_secs(1) / RATE * u32::try_from(due.len())?;
            tokio::select! {
                ended = &mut is_over => {
                    ended?;
                    break;
                }
                () = sleep_until(next) => {
                    let (load, mark, number) = (self.clone(), mark.to_owned(), due.len());
                    changes.push(tokio::spawn(async move {
                        load.change(load.spread(number), &mark).await
                    }));
                    due.push(next.into_std());
                }
            }
        }
        for change in changes {
            change.await??;
        }
        Ok(due)
    }

    /// The parent that is changed as the n-th one: neighbours in time are in different namespaces.
    pub(super) fn spread(&self, change: usize) -> usize {
        change * 7919 % self.buckets.len()
    }

    async fn change(&self, number: usize, mark: &str) -> Result<()> {
        let collection = self.ty.collection_in(&namespace(number));
        let path = format!("{collection}/{}", name(number));
        parents::patch(&self.users, &path, &json!({"spec": {"mark": mark}})).await.map(drop)
    }
}

/// The name of a parent and of the child that is watched.
pub(super) fn name(number: usize) -> String {
    format!("own-{number}")
}

pub(super) fn number(name: &str) -> Option<usize> {
    name.strip_prefix("own-")?.parse().ok()
}

fn namespace(number: usize) -> String {
    format!("shards-{}", number % NAMESPACES)
}

async fn create_namespaces(users: &Client) -> Result<()> {
    for number in 0..NAMESPACES {
        let body = json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace(number)},
        });
        let (path, json) = ("/api/v1/namespaces", "application/json");
        let request = parents::request(Method::POST, path, "user", json, body.to_string())?;
        users.request_text(request).await?;
    }
    Ok(())
}
