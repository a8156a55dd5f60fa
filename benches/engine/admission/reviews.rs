//! Reviews at a rate, sent as the API server sends them: over TLS, on connections that stay open. The floor is the same for
//! controller-runtime, afterwards.

use std::time::Duration;

use anyhow::Result;
use http::{Request, header};
use kube::Client;
use serde_json::json;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::{
    creates::config_map,
    serving::{Certificate, Serving},
};
use crate::{
    settings::Settings,
    table::{Row, percentile, time},
};

const PER_SECOND: usize = 1000;
const CONNECTIONS: usize = 32;
/// A timer may be so late; what is later waited for an answer before.
const LATE: Duration = Duration::from_millis(2);

/// What a process did under load.
struct Load {
    took: Vec<Duration>,
    failures: usize,
    cpu_of_one: Duration,
}

pub(super) async fn measure(
    certificate: &Certificate,
    webhooks: &[Serving],
    settings: &Settings,
) -> Result<Vec<Row>> {
    let mut loads = Vec::new();
    for webhook in webhooks {
        // The first second warms both sides up.
        under_load(webhook, certificate, 1).await?;
        loads.push(under_load(webhook, certificate, settings.review_seconds()).await?);
    }
    let (own, peer) = (&loads[0], loads.get(1));
    let beside = |figure: String, value: Duration, floor: Option<Duration>| match floor {
        Some(floor) => Row::times(figure, value, floor),
        None => Row::new(figure, time(value)),
    };
    let at = |percent| move |load: &Load| percentile(&load.took, percent);
    let figure = format!(
        "{PER_SECOND} reviews a second on {CONNECTIONS} connections (floor: controller-runtime), p50"
    );
    let failures =
        |load: &Load| format!("{} of {}", load.failures, load.took.len() + load.failures);
    let failed = Row::new("  failures", failures(own)).target("0");
    Ok(vec![
        beside(figure, at(50)(own), peer.map(at(50))),
        beside("  p99".to_owned(), at(99)(own), peer.map(at(99))),
        beside("  CPU of a review".to_owned(), own.cpu_of_one, peer.map(|peer| peer.cpu_of_one)),
        if let Some(peer) = peer { failed.floor(failures(peer)) } else { failed },
    ])
}

async fn under_load(webhook: &Serving, certificate: &Certificate, seconds: usize) -> Result<Load> {
    let (each, cpu) = (PER_SECOND * seconds / CONNECTIONS, webhook.cpu()?);
    let connections = (0..CONNECTIONS).map(|number| {
        let client = webhook.client(certificate)?;
        Ok(tokio::spawn(reviews_of(client, webhook.path.clone(), number, each)))
    });
    let (mut took, mut failures) = (Vec::new(), 0);
    for connection in connections.collect::<Result<Vec<_>>>()? {
        let (some, failed) = connection.await??;
        took.extend(some);
        failures += failed;
    }
    let count = u32::try_from(each * CONNECTIONS)?;
    Ok(Load { took, failures, cpu_of_one: webhook.cpu()?.saturating_sub(cpu) / count })
}

/// The times of one connection, and how many answers are missing or do not allow. A connection that is behind its plan
/// counts from the plan.
async fn reviews_of(
    client: Client,
    path: String,
    number: usize,
    count: usize,
) -> Result<(Vec<Duration>, usize)> {
    let between = Duration::from_secs(1) / u32::try_from(PER_SECOND)?;
    let first = Instant::now() + between * u32::try_from(number)?;
    let mut plan = interval_at(first, between * u32::try_from(CONNECTIONS)?);
    plan.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let (body, path) = (review(), format!("{path}?timeout=10s"));
    let (mut took, mut failures) = (Vec::new(), 0);
    for _ in 0..count {
        let planned = plan.tick().await;
        let now = Instant::now();
        let started = if now - planned < LATE { now } else { planned };
        let request = Request::post(&path).header(header::CONTENT_TYPE, "application/json");
        let answer = client.request_text(request.body(body.clone())?).await;
        match answer {
            Ok(answer) if answer.contains("\"allowed\":true") => took.push(started.elapsed()),
            _ => failures += 1,
        }
    }
    Ok((took, failures))
}

/// What the API server sends about a create of 4 KB.
fn review() -> Vec<u8> {
    let mut object = json!(config_map("a"));
    object["metadata"]["namespace"] = "plain".into();
    object["metadata"]["uid"] = "0f0c5b0e-5a3c-4a5b-9f4e-2d6c1f8f4f10".into();
    object["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z".into();
    object["metadata"]["managedFields"] = json!([{
        "manager": "user", "operation": "Update", "apiVersion": "v1",
        "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {".": {}}, "f:metadata": {"f:labels": {".": {}, "f:app": {}}}},
    }]);
    let kind = json!({"group": "", "version": "v1", "kind": "ConfigMap"});
    let resource = json!({"group": "", "version": "v1", "resource": "configmaps"});
    let review = json!({
        "kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": kind, "resource": resource, "requestKind": kind, "requestResource": resource,
            "name": "a", "namespace": "plain", "operation": "CREATE",
            "userInfo": {"username": "admin", "groups": ["system:masters", "system:authenticated"]},
            "object": object, "oldObject": null, "dryRun": false,
            "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
        },
    });
    review.to_string().into_bytes()
}
