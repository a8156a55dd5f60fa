//! Compaction of etcd through its HTTP gateway.

use serde_json::{Value, json};

use crate::Error;

/// Compacts to the newest revision and returns it.
pub(crate) async fn compact(port: u16) -> Result<i64, Error> {
    let base = format!("http://127.0.0.1:{port}/v3/kv");
    let uri = base.parse().map_err(|_| Error::Etcd(base.clone()))?;
    let client = kube::Client::try_from(kube::Config::new(uri))?;
    // Any key will do (one zero byte): the header names the revision.
    let newest = post(&client, "range", &json!({ "key": "AA==" })).await?;
    let revision = revision(&newest)?;
    post(&client, "compaction", &json!({ "revision": revision, "physical": true })).await?;
    Ok(revision)
}

async fn post(client: &kube::Client, path: &str, body: &Value) -> Result<Value, Error> {
    let request = http::Request::post(format!("/{path}"))
        .header(http::header::CONTENT_TYPE, "application/json")
        .body(body.to_string().into_bytes())
        .map_err(|error| Error::Etcd(error.to_string()))?;
    Ok(client.request(request).await?)
}

/// The gateway writes 64-bit numbers as text.
fn revision(answer: &Value) -> Result<i64, Error> {
    answer["header"]["revision"]
        .as_str()
        .and_then(|revision| revision.parse().ok())
        .ok_or_else(|| Error::Etcd(answer.to_string()))
}
