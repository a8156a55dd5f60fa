//! Parents with their children as their operator would have left them, without the time that it takes: its requests for one
//! parent are recorded, and sent for all of them.

use std::sync::Arc;

use anyhow::Result;
use kube::Client;

use crate::{
    floor,
    parents::{self, FIRST_MARK},
    recording::Recording,
    workload::Workload,
};

/// Creates so many parents and their children, and writes their statuses.
pub(crate) async fn seed(users: &Client, workload: Workload, count: usize) -> Result<()> {
    let recording = Recording::of_own(workload).await?;
    let (ty, spec) = (workload.parent(0), workload.spec(FIRST_MARK));
    let what = Arc::new((users.clone(), recording, ty, spec));
    let complete = move |number| {
        let what = what.clone();
        async move {
            let (users, recording, ty, spec) = &*what;
            let parent = parents::create(users, ty, format!("own-{number}"), spec).await?;
            for template in recording.create.iter().filter(|template| template.is_write()) {
                floor::send(users, template, &parent, template.body(&parent)?).await?;
            }
            Ok(())
        }
    };
    parents::at_once(count, complete).await
}
