//! The webhook `short-names`: whether a `Till` may be created or changed.

use operetta::{
    operator::admission::{Admission, AdmissionRequest, Webhook},
    prelude::*,
};

use crate::till::Till;

/// The children have the name of the `Till`, and the name of a Service is not longer.
const LONGEST_NAME: usize = 63;

/// Denies long names. Write your own check in its place.
///
/// # Errors
/// None. The API server refuses the request after an error, unless the failure policy is another.
pub fn short_names(request: &AdmissionRequest<Till>) -> Result<Admission> {
    let name = request.subject().metadata.name.as_deref().unwrap_or_default();
    Ok(if name.len() > LONGEST_NAME {
        Admission::invalid("metadata.name", format!("it is longer than {LONGEST_NAME} characters"))
    } else {
        Admission::allow()
    })
}

/// When the API server calls it. Default: before a `Till` is created or changed.
pub fn webhook() -> Webhook {
    Webhook::validate("short-names", short_names)
}

#[cfg(test)]
mod tests {
    use operetta::{object::ObjectKey, testkit::TestCluster};
    use serde_json::json;

    use super::*;
    use crate::till::{config, sync};

    /// The spec is that of `examples/till.yaml`.
    fn named(name: &str) -> Result<Till> {
        Ok(Till::new(name, serde_json::from_value(json!({ "image": "nginx:1.29", "port": 80 }))?))
    }

    #[test]
    fn a_long_name_is_denied() -> Result<()> {
        for (name, denial) in [
            ("hello".to_owned(), None),
            ("a".repeat(64), Some("metadata.name: it is longer than 63 characters")),
        ] {
            let key = ObjectKey::namespaced("default", &name);
            let request = AdmissionRequest::create(key, named(&name)?);
            assert_eq!(short_names(&request)?.denial(), denial);
        }
        Ok(())
    }

    /// The API server of the test calls it.
    #[tokio::test]
    async fn the_api_server_refuses_what_is_denied() -> Result<()> {
        let cluster = TestCluster::start();
        let operators = cluster.run(|supervisor| {
            supervisor.register(config(), sync).webhook(webhook()).webhooks("127.0.0.1:0")
        });
        let _operators = operators.await?;
        cluster.given(named("hello")?).await?;
        let denied = cluster.given(named(&"a".repeat(64))?).await.unwrap_err().to_string();
        assert!(denied.contains("metadata.name: it is longer than 63 characters"), "{denied}");
        Ok(())
    }
}
