//! Asks the API server whether the objects of a type are namespaced: a type of roperator does not say.

use std::{collections::HashMap, time::Duration};

use anyhow::Error;
use kube::{Client, core::Status};
use operetta::object::{self, OneLine};
use tokio::time::sleep;
use tracing::warn;

use crate::k8s_types::K8sType;

/// A type is often created shortly after its operator.
const INTERVAL: Duration = Duration::from_secs(2);

/// The types of an operator as Operetta has them.
#[derive(Debug, Clone, Default)]
pub(super) struct Types(HashMap<K8sType, object::K8sType>);

impl Types {
    /// Waits until the server serves all types. What is missing is logged once.
    pub(super) async fn of_server(
        client: &Client,
        wanted: impl Iterator<Item = &'static K8sType>,
    ) -> Self {
        let mut types = Self::default();
        for ty in wanted {
            let mut last = String::new();
            loop {
                match of_server(client, ty).await {
                    Ok(found) => {
                        types.0.insert(ty.clone(), found);
                        break;
                    }
                    Err(error) => warn_once(&mut last, &format!("{error:#}")),
                }
                sleep(INTERVAL).await;
            }
        }
        types
    }

    /// A type that was asked for.
    pub(super) fn get(&self, ty: &K8sType) -> object::K8sType {
        let found = self.0.get(ty).cloned();
        found.unwrap_or_else(|| typed(ty, object::Scope::Namespaced))
    }
}

fn warn_once(last: &mut String, why: &str) {
    if last != why {
        warn!("the operator waits: {}", OneLine(why));
        why.clone_into(last);
    }
}

async fn of_server(client: &Client, ty: &K8sType) -> Result<object::K8sType, Error> {
    let list = if ty.group().is_empty() {
        client.list_core_api_resources(ty.api_version).await
    } else {
        client.list_api_group_resources(ty.api_version).await
    };
    let resources = match list {
        Err(kube::Error::Api(status)) if is_not_found(&status) => Vec::new(),
        list => list?.resources,
    };
    let is_it = |name: &str, kind: &str| (name, kind) == (ty.plural_kind, ty.kind);
    let found = resources.iter().find(|resource| is_it(&resource.name, &resource.kind));
    let is_namespaced = found.map(|resource| resource.namespaced).ok_or_else(|| missing(ty))?;
    let scope = if is_namespaced { object::Scope::Namespaced } else { object::Scope::Cluster };
    Ok(typed(ty, scope))
}

fn is_not_found(status: &Status) -> bool {
    status.code == 404
}

fn missing(ty: &K8sType) -> Error {
    let K8sType { api_version, kind, plural_kind } = ty;
    Error::msg(format!(
        "the API server does not serve {kind} of {api_version} with the plural {plural_kind}: create its \
         CRD, or use a version that is served"
    ))
}

fn typed(ty: &K8sType, scope: object::Scope) -> object::K8sType {
    object::K8sType::new(ty.api_version, ty.kind, ty.plural_kind, scope)
}
