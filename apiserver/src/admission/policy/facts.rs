//! What expressions see of a write.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    admission::attributes::{Attributes, Form},
    cel::{Authorizer, Facts, Question},
    cluster::Cluster,
    group_resource::GroupResource,
    log::ObjectKey,
    status::StatusError,
};

/// The fields of the metadata of a namespace that expressions see.
const NAMESPACE_FIELDS: [&str; 12] = [
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "finalizers",
];

/// The facts of a write in one form.
#[derive(Debug)]
pub(in crate::admission) struct BoundFacts {
    object: Value,
    old: Value,
    request: Value,
    authorizer: Authorizer,
}

impl BoundFacts {
    /// The facts of a write.
    pub(in crate::admission) fn of(attributes: &Attributes<'_>, form: &Form) -> Self {
        let asked = attributes.asked;
        let shown = |object: Option<&Value>| {
            object.map(|object| form.of_object(asked, object)).unwrap_or_default()
        };
        // Everybody who gets this far may do everything.
        let mut authorizer =
            Authorizer::new(Arc::new(|question| question.service_account.is_none()));
        authorizer.request = Question {
            group: asked.resource.id.group.clone(),
            resource: asked.resource.id.plural.clone(),
            subresource: asked.subresource.clone(),
            namespace: asked.namespace.clone(),
            name: attributes.name().to_owned(),
            ..Question::default()
        };
        Self {
            object: shown(attributes.object),
            old: shown(attributes.old),
            request: attributes.facts(form),
            authorizer,
        }
    }

    /// The same with a namespace and parameters.
    pub(in crate::admission) fn with<'a>(
        &'a self,
        namespace: &'a Value,
        params: &'a Value,
    ) -> Facts<'a> {
        Facts {
            object: &self.object,
            old_object: &self.old,
            request: &self.request,
            namespace,
            params,
            authorizer: Some(&self.authorizer),
        }
    }
}

/// The namespace of a write, as expressions see it; nothing for what is in none.
pub(in crate::admission) fn namespace_of(
    cluster: &Cluster,
    attributes: &Attributes<'_>,
) -> Result<Value, StatusError> {
    let asked = attributes.asked;
    if asked.namespace.is_empty() || asked.is_namespace() {
        return Ok(Value::Null);
    }
    let resource = GroupResource::new("", "namespaces");
    let key = ObjectKey::new("", asked.namespace.as_str());
    let found = cluster.log.get(&resource, &key);
    let found = found.ok_or_else(|| StatusError::not_found(&resource, &asked.namespace))?.value();
    let mut metadata = json!({});
    for field in NAMESPACE_FIELDS {
        if let Some(value) = found["metadata"].get(field) {
            metadata[field] = value.clone();
        }
    }
    Ok(json!({ "metadata": metadata, "spec": found["spec"], "status": found["status"] }))
}
