//! Many calls at once, beside reconciles, and while the process ends.

use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, future::join_all, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::PostParams;
use operetta::operator::admission::{Admission, AdmissionRequest};
use tokio::{
    net::TcpStream,
    sync::{Barrier, Semaphore},
};

use super::*;
use crate::recipe::config_map;

/// The calls that a process answers at once.
const LIMIT: usize = 64;
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

/// A webhook that denies an object of this name, which shows that it is asked, and of others does what is given.
fn probed<F>(act: impl Fn() -> F + Send + Sync + 'static) -> Webhook
where
    F: Future<Output = ()> + Send + 'static,
{
    let handler = move |request: AdmissionRequest<ConfigMap>| {
        let acting = (&*request.key.name != "probe").then(&act);
        async move {
            let Some(acting) = acting else { return Ok(Admission::invalid("metadata", "a probe")) };
            acting.await;
            Ok(Admission::allow())
        }
    };
    Webhook::validate("probed", handler).timeout(PATIENCE)
}

async fn asked(webhook: Webhook) -> Answering {
    let answering = Answering::start(vec![webhook.clone()]).await;
    answering.configure(&webhook, json!({"timeoutSeconds": PATIENCE.as_secs()})).await;
    let probe = || async { create(&answering.world, "probe", true).await.is_err() };
    eventually("a webhook that denies", probe, |is_denied| *is_denied).await;
    answering
}

async fn create(world: &World, name: &str, dry_run: bool) -> kube::Result<()> {
    let params = PostParams { dry_run, ..<_>::default() };
    let object = object(CONFIG_MAP, config_map(name, json!({})));
    world.api(CONFIG_MAP).create(&params, &object).await.map(drop)
}

/// None of them returns before all of them are called.
#[operetta_harness::test(server)]
async fn as_many_calls_as_the_limit_are_answered_at_once() {
    let all = Arc::new(Barrier::new(LIMIT));
    let meeting = move || {
        let all = all.clone();
        async move {
            all.wait().await;
        }
    };
    let answering = asked(probed(meeting)).await;
    let names: Vec<String> = (0..LIMIT).map(|number| format!("a-{number}")).collect();
    let created = names.iter().map(|name| create(&answering.world, name, true));
    for created in join_all(created).await {
        created.unwrap();
    }
    answering.stop().await;
}

#[operetta_harness::test(server)]
async fn a_thousand_objects_are_admitted_beside_reconciles() {
    let answering = asked(probed(|| std::future::ready(()))).await;
    let world = &answering.world;
    let reconciled = async {
        for number in 0..20 {
            let name = format!("hello-{number}");
            let spec = json!({"serviceName": name});
            world.create(ECHO, json!({"metadata": {"name": name}, "spec": spec})).await;
        }
    };
    let names = stream::iter((0..1000).map(|number| format!("a-{number}")));
    let creating = names.map(|name| async move { create(world, &name, false).await });
    let admitted = creating.buffer_unordered(32).try_collect::<Vec<()>>();
    let (admitted, ()) = tokio::join!(admitted, reconciled);
    assert_eq!(admitted.unwrap().len(), 1000, "none is refused");
    answering.operators.until_all_synced(20).await;
    let (_, metrics) = answering.operators.http("/metrics").await;
    let failed = ["failed", "late", "unreadable"];
    let counted = |outcome: &&str| {
        crate::started::counts(&metrics, &format!("outcome=\"{outcome}\",webhook=\"probed."))
    };
    assert_eq!(failed.iter().find(|outcome| counted(outcome)), None);
    answering.stop().await;
}

#[operetta_harness::test(server)]
async fn a_call_in_flight_is_answered_when_the_process_stops() {
    let (called, release) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let (calls, released) = (called.clone(), release.clone());
    let waiting = move || {
        let (calls, released) = (calls.clone(), released.clone());
        async move {
            calls.add_permits(1);
            drop(released.acquire().await);
        }
    };
    let Answering { world, operators, certificate: _ } = asked(probed(waiting)).await;
    let address = operators.running().webhooks().unwrap();
    let stopped = async {
        called.acquire().await.unwrap().forget();
        let closed = async {
            let refused = || async { TcpStream::connect(address).await.is_err() };
            eventually("no new connections", refused, |is_refused| *is_refused).await;
            release.add_permits(1);
        };
        tokio::join!(operators.stop(), closed);
    };
    let (created, ()) = tokio::join!(create(&world, "a", false), stopped);
    created.unwrap();
    for configuration in world.list(VALIDATING).await {
        let name = configuration["metadata"]["name"].as_str().unwrap();
        if name.ends_with(&world.namespace) {
            world.delete(VALIDATING, name).await;
        }
    }
}
