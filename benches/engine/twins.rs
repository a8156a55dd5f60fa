//! Parents of the operator and as many of the floor, all synced, on which changes are measured.

use std::sync::Arc;

use anyhow::{Context, Result};
use futures::{StreamExt, TryStreamExt, stream};
use kube::Client;
use serde_json::json;

use crate::{
    cluster::Cluster,
    floor,
    operators::Operators,
    parents::{self, CONCURRENCY, Created, FIRST_MARK},
    recording::{Recording, Template},
    settings::Settings,
    sightings::Sightings,
    workload::{ParentType, Workload},
};

/// A cluster with parents of both kinds.
pub(crate) struct Twins {
    /// Dropped before the cluster: otherwise its watch would fail with the server.
    pub(crate) sightings: Sightings,
    pub(crate) cluster: Cluster,
    pub(crate) operators: Operators,
    pub(crate) requests: Requester,
    pub(crate) floors: Vec<Floor>,
}

/// Makes the requests of users, and of the floor.
#[derive(Clone)]
pub(crate) struct Requester {
    pub(crate) users: Client,
    bare: Client,
    pub(crate) workload: Workload,
    pub(crate) recording: Arc<Recording>,
}

/// A parent that no operator reconciles.
#[derive(Debug, Clone)]
pub(crate) struct Floor {
    pub(crate) parent: Created,
    /// The uid of its watched child.
    pub(crate) child: String,
}

impl Twins {
    /// So many parents `own-0`, `own-1`, … and as many of the floor.
    pub(crate) async fn prepare(settings: &Settings, count: usize) -> Result<Self> {
        let workload = settings.workload;
        let recording = Arc::new(Recording::take(workload).await?);
        let cluster = Cluster::start(settings.cluster).await?;
        let (users, bare) = (cluster.client().await?, cluster.client().await?);
        parents::install(&users, workload, 1).await?;
        let operators = Operators::start(cluster.connector(), workload, 1).await?;
        let (ty, spec) = (workload.parent(0), workload.spec(FIRST_MARK));
        parents::create_all(&users, &ty, "own", count, &spec).await?;
        operators.until_synced(count).await?;
        let requests = Requester { users, bare, workload, recording };
        let floors = stream::iter(0..count).map(|number| requests.make_floor(number));
        let floors = floors.buffered(CONCURRENCY).try_collect().await?;
        let sightings = Sightings::begin(cluster.client().await?, workload).await?;
        Ok(Self { sightings, cluster, operators, requests, floors })
    }
}

impl Requester {
    async fn make_floor(&self, number: usize) -> Result<Floor> {
        let (ty, spec) = (self.workload.floor(), self.workload.spec(FIRST_MARK));
        let parent = parents::create(&self.users, &ty, format!("floor-{number}"), &spec).await?;
        let mut child = None;
        for template in &self.recording.create {
            let answer = self.send(template, &parent, template.body(&parent)?).await?;
            if template.path(&parent).starts_with(&self.workload.watched()) {
                child = Some(Created::from_response(&answer)?.uid);
            }
        }
        Ok(Floor { parent, child: child.context("the watched child is written")? })
    }

    /// A user gives a parent's spec another mark.
    pub(crate) async fn change(&self, ty: &ParentType, name: &str, mark: &str) -> Result<Created> {
        let path = format!("{}/{name}", ty.collection());
        parents::patch(&self.users, &path, &json!({"spec": self.workload.spec(mark)})).await
    }

    /// Issues the operator's requests after a change of the parent's spec.
    pub(crate) async fn follow(&self, floor: &Floor, parent: &Created, mark: &str) -> Result<()> {
        for template in &self.recording.change {
            let body = template.body_of_change(parent, &floor.child, mark)?;
            self.send(template, parent, body).await?;
        }
        Ok(())
    }

    /// Issues a request of the floor.
    pub(crate) async fn send(
        &self,
        template: &Template,
        parent: &Created,
        body: String,
    ) -> Result<String> {
        floor::send(&self.bare, template, parent, body).await
    }
}
