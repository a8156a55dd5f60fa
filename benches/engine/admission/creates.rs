//! Creates of one client, one at a time, in turns: in a namespace without a webhook, and in one for each webhook.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use k8s_openapi::api::{
    admissionregistration::v1::ValidatingWebhookConfiguration,
    core::v1::{ConfigMap, Namespace},
};
use kube::{Api, Client, api::PostParams};
use serde_json::json;

use super::{
    peer,
    serving::{Certificate, Serving},
};
use crate::{
    cluster::Cluster,
    operators::DEADLINE,
    settings::Settings,
    table::{Row, percentile},
};

/// The namespace without a webhook.
const PLAIN: &str = "plain";
/// How many are created in a turn.
const TURN: usize = 25;
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

pub(super) async fn measure(
    cluster: &Cluster,
    certificate: &Certificate,
    webhooks: &mut [Serving],
    settings: &Settings,
) -> Result<Vec<Row>> {
    let users = cluster.client().await?;
    create_namespace(&users, PLAIN).await?;
    let mut before = Vec::new();
    for webhook in webhooks.iter_mut() {
        create_namespace(&users, webhook.name).await?;
        configure(&users, webhook, certificate).await?;
        before.push(until_called(&users, webhook).await?);
    }
    let names = webhooks.iter().map(|webhook| webhook.name);
    let namespaces: Vec<&str> = std::iter::once(PLAIN).chain(names).collect();
    let took = in_turns(&users, &namespaces, settings.admissions()).await?;
    for ((webhook, before), took) in webhooks.iter_mut().zip(before).zip(&took[1..]) {
        let calls = webhook.calls().await? - before;
        ensure!(calls >= took.len(), "{} was called {calls} times", webhook.name);
    }
    let mut rows = Vec::new();
    for (webhook, with) in webhooks.iter().zip(&took[1..]) {
        let figure = format!("a create of 4 KB with a webhook of {}, p50", webhook.name);
        let row = |figure, percent| {
            Row::latency(figure, percentile(with, percent), percentile(&took[0], percent))
        };
        let (middle, last) = (row(figure, 50), row("  p99".to_owned(), 99));
        rows.extend(match webhook.name {
            peer::NAME => [middle, last],
            _ => [middle.target("at most +0.8 ms"), last.target("at most +4 ms")],
        });
    }
    Ok(rows)
}

/// So many creates in each namespace.
async fn in_turns(users: &Client, namespaces: &[&str], count: usize) -> Result<Vec<Vec<Duration>>> {
    let mut took = vec![Vec::new(); namespaces.len()];
    // The first turn warms all up and is not counted.
    for number in (0..count + TURN).step_by(TURN) {
        for (namespace, took) in namespaces.iter().zip(&mut took) {
            let api = Api::namespaced(users.clone(), namespace);
            for number in number..number + TURN {
                let object = config_map(&format!("c{number}"));
                let started = Instant::now();
                api.create(&PostParams::default(), &object).await?;
                took.push(started.elapsed());
            }
        }
    }
    Ok(took.into_iter().map(|took| took[TURN..].to_vec()).collect())
}

/// 4 KB of JSON, as settings of a program.
pub(super) fn config_map(name: &str) -> ConfigMap {
    let setting = |number: usize| {
        let value =
            format!("https://upstream-{number}.example.com:8443/api/v1?timeout=30s&retry=5");
        (format!("upstream.settings.number-{number}"), value)
    };
    let mut object = ConfigMap::default();
    object.metadata.name = Some(name.to_owned());
    object.metadata.labels = Some([("app".to_owned(), "shop".to_owned())].into());
    object.data = Some((0..42).map(setting).collect::<BTreeMap<_, _>>());
    object
}

async fn create_namespace(users: &Client, name: &str) -> Result<()> {
    let mut namespace = Namespace::default();
    namespace.metadata.name = Some(name.to_owned());
    Api::all(users.clone()).create(&PostParams::default(), &namespace).await?;
    Ok(())
}

/// Lets the API server ask a webhook about the namespace of its name.
async fn configure(users: &Client, webhook: &Serving, certificate: &Certificate) -> Result<()> {
    let configuration: ValidatingWebhookConfiguration = serde_json::from_value(json!({
        "metadata": {"name": webhook.name},
        "webhooks": [{
            "name": format!("nothing.{}.example.com", webhook.name),
            "clientConfig": {"url": webhook.url(), "caBundle": certificate.bundle()},
            "rules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"],
                "operations": ["CREATE", "UPDATE"],
            }],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": webhook.name}},
            "sideEffects": "None", "admissionReviewVersions": ["v1"], "timeoutSeconds": 10,
        }],
    }))?;
    Api::all(users.clone()).create(&PostParams::default(), &configuration).await?;
    Ok(())
}

/// Until the API server knows of its configuration. Returns its calls until then.
async fn until_called(users: &Client, webhook: &mut Serving) -> Result<usize> {
    let api = Api::namespaced(users.clone(), webhook.name);
    let trying = PostParams { dry_run: true, ..PostParams::default() };
    let started = Instant::now();
    loop {
        api.create(&trying, &config_map("try")).await?;
        let calls = webhook.calls().await?;
        if calls > 0 {
            return Ok(calls);
        }
        ensure!(started.elapsed() < DEADLINE, "{} is not called", webhook.name);
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
}
