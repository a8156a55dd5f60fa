//! What an operator left behind of one type, and the text about all of it. Pure.

use std::{collections::BTreeMap, fmt::Write};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::{
    object::{K8sType, ObjectKey},
    operator::OperatorConfig,
    plan::ChildId,
    report::problem::kubectl,
};

/// An operator, as far as its children are recognised by it.
#[derive(Debug)]
pub(super) struct Looking {
    name: String,
    parent: K8sType,
    declared: Vec<K8sType>,
    label: String,
}

/// The objects of one type, by namespace.
#[derive(Debug)]
pub(super) struct Found {
    operator: String,
    ty: K8sType,
    objects: BTreeMap<Option<String>, Vec<ObjectKey>>,
    /// Why they cannot be listed.
    unreadable: Option<String>,
}

impl Looking {
    pub(super) fn of(config: &OperatorConfig) -> Self {
        Self {
            name: config.name().to_owned(),
            parent: config.parent.clone(),
            declared: config.children.iter().map(|child| child.ty.clone()).collect(),
            label: config.labels.managed_by.clone(),
        }
    }

    /// Also in another version.
    pub(super) fn declares(&self, ty: &K8sType) -> bool {
        let is_it = |own: &K8sType| own.group() == ty.group() && own.plural() == ty.plural();
        self.declared.iter().any(is_it) || is_it(&self.parent)
    }

    pub(super) fn selector(&self) -> String {
        format!("{}={}", self.label, self.name)
    }

    /// Whether the operator applied the object, and nobody else answers for it: other controllers copy labels.
    fn made(&self, metadata: &ObjectMeta) -> bool {
        let mut owners = metadata.owner_references.iter().flatten();
        let controller = owners.find(|owner| owner.controller == Some(true));
        let is_of_parent = controller.is_none_or(|owner| {
            let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
            owner.kind == self.parent.kind() && group == self.parent.group()
        });
        let mut entries = metadata.managed_fields.iter().flatten();
        let is_applied = entries.any(|entry| {
            entry.manager.as_deref() == Some(&self.name)
                && entry.operation.as_deref() == Some("Apply")
        });
        is_of_parent && is_applied
    }
}

impl Found {
    pub(super) fn new(operator: &Looking, ty: &K8sType) -> Self {
        let operator = operator.name.clone();
        Self { operator, ty: ty.clone(), objects: BTreeMap::new(), unreadable: None }
    }

    pub(super) fn unreadable(operator: &Looking, ty: &K8sType, why: String) -> Self {
        Self { unreadable: Some(why), ..Self::new(operator, ty) }
    }

    pub(super) fn add(
        &mut self,
        operator: &Looking,
        objects: impl IntoIterator<Item = ObjectMeta>,
    ) {
        for metadata in objects.into_iter().filter(|metadata| operator.made(metadata)) {
            let key = ObjectKey::new(
                metadata.namespace.as_deref(),
                metadata.name.as_deref().unwrap_or_default(),
            );
            self.objects.entry(metadata.namespace).or_default().push(key);
        }
    }

    /// `None` if there is nothing.
    pub(super) fn some(self) -> Option<Self> {
        (!self.objects.is_empty()).then_some(self)
    }

    fn len(&self) -> usize {
        self.objects.values().map(Vec::len).sum()
    }

    fn commands(&self) -> impl Iterator<Item = String> {
        let id = |key: &ObjectKey| ChildId { ty: self.ty.clone(), key: key.clone() };
        self.objects.values().flat_map(|keys| keys.chunks(kubectl::NAMED)).map(move |keys| {
            let ids: Vec<ChildId> = keys.iter().map(id).collect();
            kubectl::on_all("delete", &ids.iter().collect::<Vec<_>>())
        })
    }
}

/// What was found, with the commands that delete it.
pub(super) fn text(found: &[Found]) -> String {
    let mut text = String::new();
    let (unreadable, found): (Vec<_>, Vec<_>) =
        found.iter().partition(|it| it.unreadable.is_some());
    if found.is_empty() {
        text += "There are no objects of types that their operator does not declare.\n";
    }
    for one in found {
        let (operator, resource, many) = (&one.operator, one.ty.resource_name(), one.len());
        let _ = writeln!(
            text,
            "The operator {operator} does not declare {resource}, and applied some: {many} left. To delete them:"
        );
        for command in one.commands() {
            let _ = writeln!(text, "  {command}");
        }
    }
    for Found { operator, ty, unreadable, .. } in unreadable {
        let why = unreadable.as_deref().unwrap_or_default();
        let _ = writeln!(
            text,
            "{} of the operator {operator} cannot be listed: {why}",
            ty.resource_name()
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn looking() -> Looking {
        let parent = K8sType::namespaced("example.com/v1", "Shop", "shops");
        let config = OperatorConfig::new("shop", parent).child_of_type(
            K8sType::namespaced("v1", "ConfigMap", "configmaps"),
            crate::operator::ChildConfig::apply(),
        );
        Looking::of(&config)
    }

    fn metadata(name: &str, owner: Option<&str>, manager: &str) -> ObjectMeta {
        let owners = owner.map(|kind| {
            json!([{"apiVersion": "example.com/v1", "kind": kind, "name": "p", "uid": "u", "controller": true}])
        });
        let value: Value = json!({
            "name": name, "namespace": "ns", "ownerReferences": owners,
            "managedFields": [{"manager": manager, "operation": "Apply"}],
        });
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn what_the_operator_applied_is_its_own_and_what_has_its_labels_alone_is_not() {
        let looking = looking();
        let services = K8sType::namespaced("v1", "Service", "services");
        let mut found = Found::new(&looking, &services);
        found.add(
            &looking,
            [
                metadata("own", Some("Shop"), "shop"),
                metadata("orphaned", None, "shop"),
                metadata("copied", Some("Service"), "shop"),
                metadata("labelled", Some("Shop"), "endpointslice-controller"),
            ],
        );
        let shown = text(&[found.some().unwrap()]);
        let expected = "The operator shop does not declare services, and applied some: 2 left. To delete them:\n  \
                        kubectl delete services own orphaned -n ns\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_type_that_is_declared_in_another_version_is_declared() {
        let looking = looking();
        assert!(looking.declares(&K8sType::namespaced("v2", "ConfigMap", "configmaps")));
        assert!(looking.declares(&K8sType::namespaced("example.com/v2", "Shop", "shops")));
        assert!(!looking.declares(&K8sType::namespaced("apps/v1", "ConfigMap", "configmaps")));
        assert_eq!(looking.selector(), "app.kubernetes.io/managed-by=shop");
    }

    #[test]
    fn a_type_that_cannot_be_listed_is_said_and_nothing_is_said_too() {
        let looking = looking();
        let services = K8sType::namespaced("v1", "Service", "services");
        assert!(Found::new(&looking, &services).some().is_none());
        let shown = text(&[Found::unreadable(&looking, &services, "forbidden".to_owned())]);
        assert_eq!(
            shown,
            "There are no objects of types that their operator does not declare.\n\
             services of the operator shop cannot be listed: forbidden\n"
        );
    }
}
