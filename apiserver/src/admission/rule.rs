//! Which requests a webhook or a policy is about: rules, scopes, selectors, equivalent resources.

use std::sync::Arc;

use serde_json::Value;

use super::{
    attributes::{Attributes, Form},
    kind::{GroupVersionKind, Operation},
    label_rule::LabelRule,
};
use crate::{
    cluster::Cluster, group_resource::GroupResource, log::ObjectKey, resource::Resource,
    status::StatusError,
};

/// What is matched.
#[derive(Debug, Default)]
pub(super) struct Matching {
    rules: Vec<Rule>,
    excluded: Vec<Rule>,
    /// Without rules everything matches.
    all_without_rules: bool,
    equivalent: bool,
    namespaces: LabelRule,
    objects: LabelRule,
}

#[derive(Debug)]
struct Rule {
    groups: Vec<String>,
    versions: Vec<String>,
    resources: Vec<String>,
    operations: Vec<String>,
    scope: String,
    names: Vec<String>,
}

impl Matching {
    /// That of a webhook.
    pub(super) fn of_webhook(webhook: &Value) -> Self {
        Self {
            rules: rules(&webhook["rules"]),
            excluded: Vec::new(),
            all_without_rules: false,
            equivalent: webhook["matchPolicy"] != "Exact",
            namespaces: LabelRule::of(&webhook["namespaceSelector"]),
            objects: LabelRule::of(&webhook["objectSelector"]),
        }
    }

    /// That of a policy or of a binding.
    pub(super) fn of_policy(resources: &Value) -> Self {
        Self {
            rules: rules(&resources["resourceRules"]),
            excluded: rules(&resources["excludeResourceRules"]),
            all_without_rules: true,
            equivalent: resources["matchPolicy"] != "Exact",
            namespaces: LabelRule::of(&resources["namespaceSelector"]),
            objects: LabelRule::of(&resources["objectSelector"]),
        }
    }

    /// The form in which the write is seen, if it is matched.
    pub(super) fn form(
        &self,
        cluster: &Cluster,
        attributes: &Attributes<'_>,
    ) -> Result<Option<Form>, StatusError> {
        let in_namespace = self.selects_namespace(cluster, attributes);
        if matches!(in_namespace, Ok(false)) || !self.selects_object(attributes) {
            return Ok(None);
        }
        if self.find(&self.excluded, cluster, attributes).is_some() {
            return Ok(None);
        }
        let found = if self.rules.is_empty() && self.all_without_rules {
            Some(Form::of(attributes.asked))
        } else {
            self.find(&self.rules, cluster, attributes)
        };
        // An error about a selector only matters to a write that is matched otherwise.
        match found {
            Some(form) => in_namespace.map(|_| Some(form)),
            None => Ok(None),
        }
    }

    fn find(&self, rules: &[Rule], cluster: &Cluster, attributes: &Attributes<'_>) -> Option<Form> {
        let asked = attributes.asked;
        if rules.iter().any(|rule| rule.matches(attributes, &asked.resource)) {
            return Some(Form::of(asked));
        }
        if !self.equivalent {
            return None;
        }
        let resources = cluster.registry.snapshot();
        let is_other = |other: &&Arc<Resource>| {
            other.storage == asked.resource.storage
                && (&other.id, &other.version) != (&asked.resource.id, &asked.resource.version)
        };
        let others: Vec<_> = resources.iter().filter(is_other).collect();
        let found = rules
            .iter()
            .find_map(|rule| others.iter().find(|other| rule.matches(attributes, other)))?;
        let own = asked.kind == GroupVersionKind::of(&asked.resource);
        let kind = if own { GroupVersionKind::of(found) } else { asked.kind.clone() };
        Some(Form { resource: Arc::clone(found), kind })
    }

    fn selects_namespace(
        &self,
        cluster: &Cluster,
        attributes: &Attributes<'_>,
    ) -> Result<bool, StatusError> {
        let asked = attributes.asked;
        if self.namespaces.is_empty() || (asked.namespace.is_empty() && !asked.is_namespace()) {
            return Ok(true);
        }
        let is_written = attributes.operation != Operation::Delete && asked.subresource.is_empty();
        if let Some(object) = attributes.object.filter(|_| asked.is_namespace() && is_written) {
            return Ok(self.namespaces.matches(&object["metadata"]["labels"]));
        }
        let resource = GroupResource::new("", "namespaces");
        let key = ObjectKey::new("", asked.namespace.as_str());
        match cluster.log.get(&resource, &key) {
            Some(namespace) => {
                Ok(self.namespaces.matches(&namespace.value()["metadata"]["labels"]))
            }
            None => Err(StatusError::not_found(&resource, &asked.namespace)),
        }
    }

    fn selects_object(&self, attributes: &Attributes<'_>) -> bool {
        let matches = |object: Option<&Value>| {
            object.is_some_and(|it| self.objects.matches(&it["metadata"]["labels"]))
        };
        self.objects.is_empty() || matches(attributes.object) || matches(attributes.old)
    }
}

fn rules(rules: &Value) -> Vec<Rule> {
    rules.as_array().into_iter().flatten().map(Rule::of).collect()
}

impl Rule {
    fn of(rule: &Value) -> Self {
        let texts = |field: &str| {
            let texts = rule[field].as_array().into_iter().flatten().filter_map(Value::as_str);
            texts.map(str::to_owned).collect()
        };
        Self {
            groups: texts("apiGroups"),
            versions: texts("apiVersions"),
            resources: texts("resources"),
            operations: texts("operations"),
            scope: rule["scope"].as_str().unwrap_or("*").to_owned(),
            names: texts("resourceNames"),
        }
    }

    fn matches(&self, attributes: &Attributes<'_>, resource: &Resource) -> bool {
        let asked = attributes.asked;
        let any = |list: &[String], wanted: &str| list.iter().any(|it| it == "*" || it == wanted);
        let part = |rule: &str, found: &str| rule == "*" || rule == found;
        let is_namespaced = !asked.is_namespace() && !asked.namespace.is_empty();
        let in_scope = match self.scope.as_str() {
            "Namespaced" => is_namespaced,
            "Cluster" => !is_namespaced,
            _ => true,
        };
        in_scope
            && any(&self.operations, attributes.operation.name())
            && any(&self.groups, &resource.id.group)
            && any(&self.versions, &resource.version)
            && self.resources.iter().any(|rule| {
                let (rule, subresource) = rule.split_once('/').unwrap_or((rule, ""));
                part(rule, &resource.id.plural) && part(subresource, &asked.subresource)
            })
            && (self.names.is_empty() || self.names.iter().any(|name| *name == attributes.name()))
    }
}
