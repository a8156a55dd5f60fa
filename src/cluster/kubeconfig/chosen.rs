//! The context that is used, with its cluster and its user.

use kube::config::{AuthInfo, Cluster, Context};

use super::{
    error::{Entry, Kind, KubeconfigError},
    files::Merged,
};

/// What a context names.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) context: Context,
    pub(super) cluster: Cluster,
    pub(super) cluster_entry: Entry,
    /// Nobody, if the context names none.
    pub(super) user: AuthInfo,
    pub(super) user_entry: Entry,
}

/// The context of this name, or the current one.
pub(super) fn choose(merged: &Merged, name: Option<&str>) -> Result<Chosen, KubeconfigError> {
    let current = merged.kubeconfig.current_context.as_deref();
    let Some(name) = name.filter(|name| !name.is_empty()).or(current) else {
        let (files, contexts) = (merged.files.clone(), merged.contexts());
        return Err(KubeconfigError::NoContext { files, contexts });
    };
    let Some(named) = merged.kubeconfig.contexts.iter().find(|it| it.name == name) else {
        let (files, contexts) = (merged.files.clone(), merged.contexts());
        return Err(KubeconfigError::UnknownContext { name: name.to_owned(), files, contexts });
    };
    let entry = merged.entry(Kind::Context, name);
    let context = named.context.clone().ok_or_else(|| entry.is_wrong("`context` is empty"))?;
    let (cluster, cluster_entry) = cluster_of(merged, &context, &entry)?;
    let (user, user_entry) = user_of(merged, &context, &entry)?;
    Ok(Chosen { context, cluster, cluster_entry, user, user_entry })
}

fn cluster_of(
    merged: &Merged,
    context: &Context,
    entry: &Entry,
) -> Result<(Cluster, Entry), KubeconfigError> {
    let name = &context.cluster;
    if name.is_empty() {
        return Err(entry.is_wrong("it names no cluster"));
    }
    let found = merged.kubeconfig.clusters.iter().find(|it| it.name == *name);
    let missing = || entry.is_wrong(format!("its cluster {name:?} does not exist"));
    let cluster = found.ok_or_else(missing)?.cluster.clone();
    let is = merged.entry(Kind::Cluster, name);
    Ok((cluster.ok_or_else(|| is.is_wrong("`cluster` is empty"))?, is))
}

fn user_of(
    merged: &Merged,
    context: &Context,
    entry: &Entry,
) -> Result<(AuthInfo, Entry), KubeconfigError> {
    let name = context.user.as_deref().unwrap_or_default();
    let is = merged.entry(Kind::User, name);
    if name.is_empty() {
        return Ok((AuthInfo::default(), is));
    }
    let found = merged.kubeconfig.auth_infos.iter().find(|it| it.name == name);
    let missing = || entry.is_wrong(format!("its user {name:?} does not exist"));
    Ok((found.ok_or_else(missing)?.auth_info.clone().unwrap_or_default(), is))
}
