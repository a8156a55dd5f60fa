//! Conversions between the versions of `Database`: in this process on one thread, beside the same by serde and `From` alone,
//! and through HTTP.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use http::{Request, header};
use kube::Resource;
use operators::database::{Database, v1alpha1, versions};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::serving::{Certificate, Serving};
use crate::{settings::Settings, table::Row};

const NEW: &str = "example.operetta.dev/v1";
const OLD: &str = "example.operetta.dev/v1alpha1";
/// As many as the API server sends for a page of a list.
const IN_A_REVIEW: usize = 500;
/// How many conversions there and back are timed together.
const TOGETHER: usize = 100;

pub(super) async fn measure(
    certificate: &Certificate,
    webhook: &Serving,
    settings: &Settings,
) -> Result<Vec<Row>> {
    let versions = versions();
    let bytes = database(0).to_string().len();
    let (mut own, mut floor) = (Duration::ZERO, Duration::ZERO);
    // In turns, because other processes use the machine too.
    for _ in 0..settings.samples() {
        own += there_and_back(|object, desired| Ok(versions.convert(object, desired)?))?;
        floor += there_and_back(|object, desired| match desired {
            OLD => by_serde::<Database, v1alpha1::Database>(object),
            _ => by_serde::<v1alpha1::Database, Database>(object),
        })?;
    }
    let conversions = 2 * TOGETHER * settings.samples();
    let figure =
        format!("conversions of {bytes} bytes a second and core (floor: serde and From alone)");
    let ratio = format!("{:.2}", floor.as_secs_f64() / own.as_secs_f64());
    let row = Row::new(figure, a_second(conversions, own)).floor(a_second(conversions, floor));
    let mut rows = vec![row.ratio(ratio).target("at least 50000")];
    rows.extend(through_http(certificate, webhook, settings.samples() / 5).await?);
    Ok(rows)
}

fn there_and_back(convert: impl Fn(Value, &str) -> Result<Value>) -> Result<Duration> {
    let mut object = database(0);
    let started = Instant::now();
    for _ in 0..TOGETHER {
        let old = convert(black_box(object), OLD)?;
        object = convert(black_box(old), NEW)?;
    }
    let took = started.elapsed();
    ensure!(object["spec"]["replicas"] == 3, "it is another object: {object}");
    Ok(took)
}

fn by_serde<A, B>(object: Value) -> Result<Value>
where
    A: DeserializeOwned,
    B: TryFrom<A, Error: std::fmt::Display> + Serialize + Resource<DynamicType = ()>,
{
    let object: A = serde_json::from_value(object)?;
    let converted = B::try_from(object).map_err(|error| anyhow::anyhow!("{error}"))?;
    Ok(serde_json::to_value(converted)?)
}

/// Reviews one after the other, in turns to the old version and to the new one.
async fn through_http(
    certificate: &Certificate,
    webhook: &Serving,
    rounds: usize,
) -> Result<[Row; 2]> {
    let client = webhook.client(certificate)?;
    let new: Vec<Value> = (0..IN_A_REVIEW).map(database).collect();
    let versions = versions();
    let old = new.iter().map(|object| versions.convert(object.clone(), OLD));
    let bodies = [(OLD, json!(new)), (NEW, json!(old.collect::<Result<Vec<_>, _>>()?))];
    let bodies = bodies.map(|(desired, objects)| review(desired, &objects));
    let (mut started, mut cpu) = (Instant::now(), webhook.cpu()?);
    // The first round warms both sides up.
    for round in 0..=rounds {
        if round == 1 {
            (started, cpu) = (Instant::now(), webhook.cpu()?);
        }
        for body in &bodies {
            let request =
                Request::post("/webhooks/convert/databases.example.operetta.dev?timeout=30s");
            let request = request.header(header::CONTENT_TYPE, "application/json");
            let answer = client.request_text(request.body(body.clone())?).await?;
            ensure!(answer.contains("\"Success\""), "they are not converted: {answer:.200}");
        }
    }
    let (took, cpu) = (started.elapsed(), webhook.cpu()?.checked_sub(cpu).context("it grows")?);
    let objects = 2 * IN_A_REVIEW * rounds;
    let figure = format!("  through HTTP, {IN_A_REVIEW} in a review, objects a second");
    Ok([
        Row::new(figure, a_second(objects, took)),
        Row::new("  objects a second of CPU of the process", a_second(objects, cpu)),
    ])
}

fn review(desired: &str, objects: &Value) -> Vec<u8> {
    let review = json!({
        "kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "desiredAPIVersion": desired, "objects": objects,
        },
    });
    review.to_string().into_bytes()
}

#[expect(clippy::cast_precision_loss, reason = "numbers of objects fit")]
fn a_second(count: usize, took: Duration) -> String {
    format!("{:.0}", count as f64 / took.as_secs_f64())
}

/// A realistic object, as the API server has it.
fn database(number: usize) -> Value {
    json!({
        "apiVersion": NEW,
        "kind": "Database",
        "metadata": {
            "name": format!("orders-{number}"), "namespace": "default", "generation": 2,
            "uid": "0f0c5b0e-5a3c-4a5b-9f4e-2d6c1f8f4f10", "resourceVersion": "48151",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"app.kubernetes.io/name": "orders", "team": "checkout"},
            "managedFields": [{
                "manager": "kubectl", "operation": "Apply", "apiVersion": NEW,
                "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1",
                "fieldsV1": {"f:spec": {
                    "f:replicas": {}, "f:version": {"f:major": {}, "f:minor": {}},
                    "f:storage": {"f:size": {}, "f:storageClassName": {}},
                    "f:backup": {"f:schedule": {}, "f:retention": {}, "f:size": {}},
                }},
            }],
        },
        "spec": {
            "version": {"major": 17, "minor": 7}, "replicas": 3, "image": "registry.example.com/postgres",
            "storage": {"size": "20Gi", "storageClassName": "fast"},
            "backup": {"schedule": "0 3 * * *", "retention": 14, "size": "40Gi"},
            "readReplicas": {"min": 1, "max": 4, "targetCPU": 70},
            "resources": {"requests": {"cpu": "250m", "memory": "512Mi"}, "limits": {"memory": "1Gi"}},
            "deletionPolicy": "Backup",
        },
        "status": {
            "replicas": 3, "readyReplicas": 3, "initialised": true, "version": "17.7",
            "endpoint": "orders.default.svc:5432", "secretName": "orders-credentials",
            "observedGeneration": 2,
            "conditions": [{
                "type": "Ready", "status": "True", "reason": "Ready", "message": "",
                "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 2,
            }],
        },
    })
}
