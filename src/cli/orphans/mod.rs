//! `orphans`: the children of types that their operator does not declare any more. A process has no permission to see
//! them, as it asks only for what it declares; so a user looks for them, with the permissions of a kubeconfig.
//!
//! ```text
//! discovery --> every type that can be listed --> metadata of what has the label of the operator --> found (pure) --> text
//! ```
//!
//! Invariants:
//! - Nothing is deleted: the commands are printed.
//! - A label alone proves nothing: the operator must have applied the object.

mod found;

use std::io::{self, Write};

use anyhow::Context;
use futures::{StreamExt, stream};
use kube::{
    Api, Client,
    api::{DynamicObject, GroupVersionKind, ListParams},
    discovery::{ApiCapabilities, ApiGroup, ApiResource, Discovery, Scope, verbs},
};

use self::found::{Found, Looking, text};
use super::{command_line::OrphansArgs, only::only, program::Program};
use crate::{object::K8sType, supervisor::Connect};

/// As many types at once as a browser opens connections.
const AT_ONCE: usize = 6;
/// The objects of one answer.
const PAGE: u32 = 500;

pub(super) fn orphans(args: OrphansArgs, program: Program) -> anyhow::Result<()> {
    let OrphansArgs { chosen, kubeconfig, context } = args;
    let mut supervisor = program.supervisor;
    let operators = only(supervisor.take_operators(), &chosen.only)?;
    let operators: Vec<Looking> = operators.iter().map(|one| Looking::of(one.config())).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let printed = runtime.block_on(async {
        let client = Connect::Kubeconfig { file: kubeconfig, context }.client().await?;
        let types = types(client.clone()).await?;
        let looks = operators.iter().map(|operator| look(&client, operator, &types));
        let found = stream::iter(looks).then(|look| look).collect::<Vec<_>>().await;
        anyhow::Ok(text(&found.into_iter().flatten().collect::<Vec<_>>()))
    })?;
    io::stdout().write_all(printed.as_bytes())?;
    Ok(())
}

/// Every type that can be listed, in its preferred version.
async fn types(client: Client) -> anyhow::Result<Vec<K8sType>> {
    let discovery = Discovery::new(client).run_aggregated().await;
    let discovery = discovery.context("the types of the API server cannot be read")?;
    let all = discovery.groups().flat_map(ApiGroup::recommended_resources);
    let listed = all.filter(|(_, capabilities)| capabilities.supports_operation(verbs::LIST));
    let ty = |(resource, capabilities): (ApiResource, ApiCapabilities)| {
        let (version, kind, plural) = (resource.api_version, resource.kind, resource.plural);
        match capabilities.scope {
            Scope::Namespaced => K8sType::namespaced(&version, &kind, &plural),
            Scope::Cluster => K8sType::cluster_scoped(&version, &kind, &plural),
        }
    };
    Ok(listed.map(ty).collect())
}

/// What an operator left behind, of each type that it does not declare.
async fn look(client: &Client, operator: &Looking, types: &[K8sType]) -> Vec<Found> {
    let undeclared = types.iter().filter(|ty| !operator.declares(ty));
    let lists = undeclared.map(|ty| async move {
        let found = list(client, operator, ty).await;
        found.unwrap_or_else(|why| Some(Found::unreadable(operator, ty, why)))
    });
    let all = stream::iter(lists).buffered(AT_ONCE).collect::<Vec<_>>().await;
    all.into_iter().flatten().collect()
}

async fn list(client: &Client, operator: &Looking, ty: &K8sType) -> Result<Option<Found>, String> {
    let kind = GroupVersionKind::gvk(ty.group(), ty.version(), ty.kind());
    let resource = ApiResource::from_gvk_with_plural(&kind, ty.plural());
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let mut page = ListParams::default().labels(&operator.selector()).limit(PAGE);
    let mut found = Found::new(operator, ty);
    loop {
        let list = match api.list_metadata(&page).await {
            Ok(list) => list,
            // It cannot be listed, whatever discovery says.
            Err(kube::Error::Api(status)) if [404, 405].contains(&status.code) => return Ok(None),
            Err(kube::Error::Api(status)) => return Err(status.message.clone()),
            Err(error) => return Err(error.to_string()),
        };
        found.add(operator, list.items.into_iter().map(|it| it.metadata));
        page.continue_token = list.metadata.continue_.filter(|token| !token.is_empty());
        if page.continue_token.is_none() {
            return Ok(found.some());
        }
    }
}
