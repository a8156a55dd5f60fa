//! The webhook `labels`: what is set in a `Till` that is created or changed.

use operetta::{
    operator::admission::{Admission, AdmissionRequest, Webhook},
    prelude::*,
};

use crate::till::Till;

/// The label that it sets.
const LABEL: &str = "app.kubernetes.io/name";

/// Sets a label that is missing. Write your own change in its place: one that changes nothing the second time.
///
/// # Errors
/// None. The API server refuses the request after an error, unless the failure policy is another.
pub fn labels(_: &AdmissionRequest<Till>, object: &mut Till) -> Result<Admission> {
    let labels = object.metadata.labels.get_or_insert_default();
    labels.entry(LABEL.to_owned()).or_insert_with(|| "till".to_owned());
    Ok(Admission::allow())
}

/// When the API server calls it. Default: before a `Till` is created or changed.
pub fn webhook() -> Webhook {
    Webhook::mutate("labels", labels)
}

#[cfg(test)]
mod tests {
    use operetta::{
        object::ObjectKey,
        testkit::{TestCluster, assert_idempotent_mutation},
    };
    use serde_json::json;

    use super::*;
    use crate::till::{config, sync};

    /// The spec is that of `examples/till.yaml`.
    fn named(name: &str) -> Result<Till> {
        Ok(Till::new(name, serde_json::from_value(json!({ "image": "nginx:1.29", "port": 80 }))?))
    }

    #[tokio::test]
    async fn a_missing_label_is_set_once() -> Result<()> {
        let key = ObjectKey::namespaced("default", "hello");
        let request = AdmissionRequest::create(key, named("hello")?);
        let object = assert_idempotent_mutation(&webhook(), request).await?.unwrap_or_default();
        assert_eq!(object["metadata"]["labels"], json!({LABEL: "till"}));
        Ok(())
    }

    /// The API server of the test calls it.
    #[tokio::test]
    async fn the_api_server_stores_what_it_sets() -> Result<()> {
        let cluster = TestCluster::start();
        let operators = cluster.run(|supervisor| {
            supervisor.register(config(), sync).webhook(webhook()).webhooks("127.0.0.1:0")
        });
        let _operators = operators.await?;
        let labels = cluster.given(named("hello")?).await?.metadata.labels.unwrap_or_default();
        assert_eq!(labels.get(LABEL).map(String::as_str), Some("till"));
        Ok(())
    }
}
