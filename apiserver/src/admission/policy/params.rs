//! The parameters of a policy that a binding names.

use std::sync::Arc;

use serde_json::Value;

use super::frame::{Binding, Frame};
use crate::{
    admission::label_rule::LabelRule,
    cluster::Cluster,
    log::{ObjectKey, Scope},
    resource::Resource,
};

/// The resource of the parameters, if there are parameters, or why there is none.
pub(super) fn resource_of(
    cluster: &Cluster,
    frame: &Frame,
) -> Result<Option<Arc<Resource>>, String> {
    let Some((api_version, kind)) = &frame.param_kind else { return Ok(None) };
    let resources = cluster.registry.snapshot();
    let is_it = |it: &&Arc<Resource>| it.kind == *kind && it.api_version() == *api_version;
    let found = resources.iter().find(is_it).cloned();
    let shown =
        if api_version.contains('/') { api_version.clone() } else { format!("/{api_version}") };
    let missing =
        || format!("failed to find resource referenced by paramKind: '{shown}, Kind={kind}'");
    found.map(Some).ok_or_else(missing)
}

/// The parameters: one null where a policy has or a binding gives none.
pub(super) fn collect(
    cluster: &Cluster,
    resource: Option<&Resource>,
    binding: &Binding,
    namespace: &str,
) -> Result<Vec<Value>, String> {
    let given = &binding.param_ref;
    let Some(resource) = resource.filter(|_| given.is_object()) else {
        return Ok(vec![Value::Null]);
    };
    let text = |field: &str| given[field].as_str().unwrap_or_default();
    let namespace = match (resource.namespaced, text("namespace"), namespace) {
        (false, "", _) => "",
        (false, _, _) => {
            let why = "paramRef.namespace must not be provided for a cluster-scoped `paramKind`";
            return Err(why.to_owned());
        }
        (true, "", "") => {
            let why = "cannot use namespaced paramRef in policy binding that matches \
                       cluster-scoped resources";
            return Err(why.to_owned());
        }
        (true, "", own) => own,
        (true, other, _) => other,
    };
    let found = if text("name").is_empty() {
        let scope = match namespace {
            "" => Scope::All,
            _ => Scope::Namespace(namespace.into()),
        };
        let selector = LabelRule::of(&given["selector"]);
        let (_, entries) = cluster.log.entries(&resource.storage, &scope);
        let objects = entries.iter().map(|(_, object)| resource.decode(object));
        objects.filter(|object| selector.matches(&object["metadata"]["labels"])).collect()
    } else {
        let key = ObjectKey::new(namespace, text("name"));
        let found = cluster.read(resource, &key).map(|(_, object)| object);
        found.into_iter().collect::<Vec<_>>()
    };
    if found.is_empty() && given["parameterNotFoundAction"] == "Deny" {
        let why = "no params found for policy binding with `Deny` parameterNotFoundAction";
        return Err(why.to_owned());
    }
    Ok(found)
}
