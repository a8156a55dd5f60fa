//! Parents that change all the time, and whether the last change of each took effect.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, Client,
    api::{Patch, PatchParams, PostParams},
};
use operators::echo_server::{EchoServer, EchoServerSpec};
use serde_json::json;
use tokio::task::JoinHandle;

/// How long the last changes may take.
const DEADLINE: Duration = Duration::from_mins(1);
const PARENTS: usize = 8;
const PAUSE: Duration = Duration::from_millis(100);

pub(super) struct Changes {
    pods: Api<Pod>,
    has_ended: Arc<AtomicBool>,
    changing: JoinHandle<usize>,
}

impl Changes {
    pub(super) async fn begin(client: &Client) -> Self {
        let parents: Api<EchoServer> = Api::namespaced(client.clone(), "default");
        for number in 0..PARENTS {
            let spec = EchoServerSpec { service_name: "0".to_owned() };
            let parent = EchoServer::new(&format!("e-{number}"), spec);
            parents.create(&PostParams::default(), &parent).await.unwrap();
        }
        let has_ended = Arc::new(AtomicBool::new(false));
        let changing = tokio::spawn(change(parents, has_ended.clone()));
        Self { pods: Api::namespaced(client.clone(), "default"), has_ended, changing }
    }

    /// Changes nothing more, and waits until the last change of each parent took effect.
    pub(super) async fn end_when_done(self) {
        self.has_ended.store(true, Ordering::SeqCst);
        let last = self.changing.await.unwrap();
        let begun = Instant::now();
        for number in 0..PARENTS {
            let expected = last_of(number, last).to_string();
            while value(&self.pods, number).await != Some(expected.clone()) {
                assert!(
                    begun.elapsed() < DEADLINE,
                    "the change of e-{number} to {expected} is lost"
                );
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Changes one parent after the other; returns the number of the last change.
async fn change(parents: Api<EchoServer>, has_ended: Arc<AtomicBool>) -> usize {
    let mut change = 0;
    while !has_ended.load(Ordering::SeqCst) {
        change += 1;
        let patch = json!({"spec": {"serviceName": change.to_string()}});
        let name = format!("e-{}", change % PARENTS);
        parents.patch(&name, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
        tokio::time::sleep(PAUSE).await;
    }
    change
}

/// The number of the last change of a parent, if the last of all was `last`.
fn last_of(parent: usize, last: usize) -> usize {
    (0..=last).rev().find(|change| *change == 0 || change % PARENTS == parent).unwrap_or(0)
}

/// What the Pod of a parent was made for.
async fn value(pods: &Api<Pod>, number: usize) -> Option<String> {
    let pod = pods.get_opt(&format!("e-{number}")).await.unwrap()?;
    pod.spec?.containers.first()?.env.as_ref()?.first()?.value.clone()
}
