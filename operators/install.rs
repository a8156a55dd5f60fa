//! Installs the CRDs of the parent types, and waits until the server serves them.
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

/// Applies the CRDs and returns when the server serves all of them.
pub async fn install(
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
    use kube::api::PostParams;
    use operetta_apiserver::Server;
    use serde_json::json;

    use super::*;
    use crate::{
        crds::crds,
        echo_server::{EchoServer, EchoServerSpec},
    };

    #[tokio::test]
    async fn installed_types_are_served_and_installing_again_changes_nothing() {
        let server = Server::start();
        let definitions = crds(&crate::all());
        install(&server.client(), &definitions).await.unwrap();
        let echo_servers: Api<EchoServer> = Api::namespaced(server.client(), "default");
        let hello = EchoServer::new("hello", EchoServerSpec { service_name: "a".to_owned() });
        echo_servers.create(&PostParams::default(), &hello).await.unwrap();
        let version = server.resource_version();
        install(&server.client(), &definitions).await.unwrap();
        assert_eq!(server.resource_version(), version);
    }

    #[tokio::test]
    async fn a_refused_crd_is_named() {
        let server = Server::start();
        let mut definitions = crds(&crate::all());
        let temporary =
            |crd: &&mut CustomResourceDefinition| crd.spec.names.kind == "TempNamespace";
        let definition = definitions.iter_mut().find(temporary).unwrap();
        definition.spec.group = "elsewhere.example".to_owned();
        let error = install(&server.client(), &definitions).await.unwrap_err();
        assert!(error.to_string().contains("tempnamespaces.example.operetta.dev"), "{error}");
    }

    #[test]
    fn names_that_are_not_accepted_are_not_waited_for() {
        let with = |status: &str| {
            let mut crd = crds(&crate::all()).remove(0);
            let condition = json!({"type": "NamesAccepted", "status": status, "message": "taken"});
            crd.status = serde_json::from_value(json!({"conditions": [condition]})).ok();
            refusal(&crd)
        };
        assert_eq!(with("False").as_deref(), Some("taken"));
        assert_eq!(with("True"), None);
    }
}
