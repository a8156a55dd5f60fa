//! The Secret: it is read, decided about and written, until one of all processes has written what is due.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::error::KeepError;
use crate::{
    cluster::Cluster,
    object::ObjectKey,
    recipes::{Known, Reason, Rotation, TlsData},
    reply::ErrorClass,
};

/// How often another process may write between a read and a write.
const TRIES: u32 = 5;

/// The content that is in use, and the version of the Secret if it was read.
pub(super) struct Settled {
    pub(super) data: TlsData,
    pub(super) version: Option<String>,
    pub(super) look_again: Duration,
    /// Why what is due could not be written, where the Secret can still be used.
    pub(super) problem: Option<KeepError>,
}

/// Reads the Secret, and writes it if something is due.
pub(super) async fn settled(
    cluster: &Cluster,
    secret: &ObjectKey,
    rotation: &Rotation,
    (before, published): (Option<&TlsData>, Option<&[u8]>),
    now: SystemTime,
) -> Result<Settled, KeepError> {
    for _ in 0..TRIES {
        let read = cluster.read_secret(secret).await;
        let read = read.map_err(|why| KeepError::Read { secret: secret.clone(), why })?;
        let data = read.as_ref().map(|read| data_of(secret, read)).transpose()?;
        let known = Known { secret: data.as_ref(), before, published };
        let decision = rotation.decide(known, now)?;
        let version = read.as_ref().and_then(version_of);
        let look_again = decision.look_again;
        let Some(due) = decision.write else {
            let data = data.unwrap_or_default();
            return Ok(Settled { data, version, look_again, problem: None });
        };
        let body = body(secret, read, &due);
        match cluster.write_secret(secret, &body).await {
            Ok(()) => {
                log(secret, &decision.reasons);
                return Ok(Settled { data: due, version: None, look_again, problem: None });
            }
            // Another process was first: what it wrote is read.
            Err(why) if is_outrun(why.class()) => {}
            Err(why) => {
                let problem = KeepError::Write { secret: secret.clone(), why };
                let Some(data) = data else { return Err(problem) };
                return Ok(Settled { data, version, look_again, problem: Some(problem) });
            }
        }
    }
    Err(KeepError::Contended(secret.clone()))
}

fn is_outrun(class: ErrorClass) -> bool {
    // A Secret that is gone is made again.
    matches!(class, ErrorClass::Conflict | ErrorClass::Missing)
}

fn data_of(secret: &ObjectKey, read: &Value) -> Result<TlsData, KeepError> {
    if read["data"].is_null() {
        return Ok(TlsData::new());
    }
    let data = serde_json::from_value(read["data"].clone());
    // What serde says may quote the data.
    data.map_err(|_| KeepError::NoData { secret: secret.clone() })
}

fn version_of(read: &Value) -> Option<String> {
    read["metadata"]["resourceVersion"].as_str().map(str::to_owned)
}

/// What others keep in the Secret stays.
fn body(secret: &ObjectKey, read: Option<Value>, due: &TlsData) -> Value {
    let mut body = read.unwrap_or_else(|| {
        json!({
            "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
            "metadata": {"name": &*secret.name, "namespace": secret.namespace.as_deref()},
        })
    });
    for (name, bytes) in due {
        body["data"][name] = json!(bytes);
    }
    body
}

fn log(secret: &ObjectKey, reasons: &[Reason]) {
    let why: Vec<String> = reasons.iter().map(ToString::to_string).collect();
    let why = why.join("; ");
    if reasons.iter().any(Reason::is_damage) {
        tracing::warn!(%secret, "the certificates of the webhooks were repaired: {why}");
    } else {
        tracing::info!(%secret, "the certificates of the webhooks were renewed: {why}");
    }
}
