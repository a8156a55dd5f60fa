//! Installs CRDs, and waits until the server serves them.
//!
//! Waits by watching. Never removes a CRD: that would remove all its objects.

use std::time::Duration;

use futures::{StreamExt, TryStreamExt, future::try_join_all};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionCondition,
};
use kube::{
    Api, Client, ResourceExt,
    api::{Patch, PatchParams, WatchEvent, WatchParams},
};

/// How long the server may take to serve a new type.
const DEADLINE: Duration = Duration::from_secs(30);

/// The field manager of installed CRDs.
const MANAGER: &str = "operetta-installer";

/// A CRD could not be installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The server refused it.
    #[error("cannot install the CRD {name}")]
    Apply {
        /// The CRD.
        name: String,
        /// The server's error.
        source: kube::Error,
    },
    /// Its state could not be read.
    #[error("cannot watch whether the CRD {name} is established")]
    Watch {
        /// The CRD.
        name: String,
        /// The server's error.
        source: kube::Error,
    },
    /// The server accepted it and does not serve it.
    #[error("the names of the CRD {name} are not accepted: {message}")]
    NotAccepted {
        /// The CRD.
        name: String,
        /// The server's error.
        message: String,
    },
    /// The server does not respond, or does not serve it yet.
    #[error("the CRD {name} is not established after {} seconds", DEADLINE.as_secs())]
    TooSlow {
        /// The CRD.
        name: String,
    },
}

/// Applies the CRDs and returns when the server serves all of them, which may take 30 seconds. It never removes one.
///
/// A supervisor does that with the CRDs of its operators, if it is to:
/// [`SupervisorBuilder::install_crds`](crate::supervisor::SupervisorBuilder::install_crds).
///
/// # Errors
/// When the server refuses a CRD or does not serve it. The text names it.
pub async fn install_crds(
    client: &Client,
    crds: &[CustomResourceDefinition],
) -> Result<(), InstallError> {
    try_join_all(crds.iter().map(|crd| install_one(client, crd))).await.map(drop)
}

async fn install_one(client: &Client, crd: &CustomResourceDefinition) -> Result<(), InstallError> {
    let api = Api::<CustomResourceDefinition>::all(client.clone());
    let name = crd.name_any();
    let install = async {
        let params = PatchParams::apply(MANAGER).force();
        match api.patch(&name, &params, &Patch::Apply(crd)).await {
            Ok(applied) => established(&api, &name, applied).await,
            Err(source) => Err(InstallError::Apply { name: name.clone(), source }),
        }
    };
    let in_time = tokio::time::timeout(DEADLINE, install).await;
    in_time.unwrap_or_else(|_| Err(InstallError::TooSlow { name: name.clone() }))
}

async fn established(
    api: &Api<CustomResourceDefinition>,
    name: &str,
    mut seen: CustomResourceDefinition,
) -> Result<(), InstallError> {
    loop {
        if let Some(message) = refusal(&seen) {
            return Err(InstallError::NotAccepted { name: name.to_owned(), message });
        }
        if condition(&seen, "Established").is_some_and(|condition| condition.status == "True") {
            return Ok(());
        }
        seen = next(api, name, &seen)
            .await
            .map_err(|source| InstallError::Watch { name: name.to_owned(), source })?;
    }
}

/// The next version of a CRD; read live if the watch does not show it.
async fn next(
    api: &Api<CustomResourceDefinition>,
    name: &str,
    seen: &CustomResourceDefinition,
) -> Result<CustomResourceDefinition, kube::Error> {
    let params = WatchParams::default().fields(&format!("metadata.name={name}")).timeout(30);
    let version = seen.resource_version().unwrap_or_default();
    let mut events = api.watch(&params, &version).await?.boxed();
    match events.try_next().await? {
        Some(WatchEvent::Added(crd) | WatchEvent::Modified(crd)) => Ok(crd),
        Some(WatchEvent::Deleted(_) | WatchEvent::Bookmark(_) | WatchEvent::Error(_)) | None => {
            api.get(name).await
        }
    }
}

/// Why the server will never serve it, for example because its names are taken.
fn refusal(crd: &CustomResourceDefinition) -> Option<String> {
    let accepted = condition(crd, "NamesAccepted")?;
    (accepted.status == "False").then(|| accepted.message.clone().unwrap_or_default())
}

fn condition<'a>(
    crd: &'a CustomResourceDefinition,
    type_: &str,
) -> Option<&'a CustomResourceDefinitionCondition> {
    let conditions = crd.status.as_ref()?.conditions.as_ref()?;
    conditions.iter().find(|condition| condition.type_ == type_)
}

#[cfg(test)]
mod tests {
    use operetta_apiserver::Server;
    use serde_json::{Value, json};

    use super::*;

    fn definition(kind: &str) -> CustomResourceDefinition {
        let plural = kind.to_lowercase() + "s";
        let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let version = json!({"name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": schema}});
        serde_json::from_value(json!({
            "metadata": {"name": format!("{plural}.example.dev")},
            "spec": {"group": "example.dev", "scope": "Namespaced",
                "names": {"kind": kind, "plural": plural}, "versions": [version]},
        }))
        .unwrap()
    }

    #[tokio::test]
    async fn installed_types_are_served_and_installing_again_changes_nothing() {
        let server = Server::start();
        let definitions = ["Soup", "Bread"].map(definition);
        install_crds(&server.client(), &definitions).await.unwrap();
        for plural in ["soups", "breads"] {
            let path = format!("/apis/example.dev/v1/namespaces/default/{plural}");
            let request = http::Request::get(path).body(Vec::new()).unwrap();
            let list: Value = server.client().request(request).await.unwrap();
            assert_eq!(list["items"], json!([]));
        }
        let version = server.resource_version();
        install_crds(&server.client(), &definitions).await.unwrap();
        assert_eq!(server.resource_version(), version);
    }

    #[tokio::test]
    async fn a_refused_crd_is_named() {
        let server = Server::start();
        let mut definitions = ["Soup", "Bread"].map(definition);
        definitions[1].spec.group = "elsewhere.example".to_owned();
        let error = install_crds(&server.client(), &definitions).await.unwrap_err();
        assert!(error.to_string().contains("breads.example.dev"), "{error}");
    }

    #[test]
    fn names_that_are_not_accepted_are_not_waited_for() {
        let with = |status: &str| {
            let mut crd = definition("Soup");
            let condition = json!({"type": "NamesAccepted", "status": status, "message": "taken"});
            crd.status = serde_json::from_value(json!({"conditions": [condition]})).ok();
            refusal(&crd)
        };
        assert_eq!(with("False").as_deref(), Some("taken"));
        assert_eq!(with("True"), None);
    }
}
