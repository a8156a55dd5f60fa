//! What admission learns of a request.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::call::{Call, Verb};
use crate::{
    admission::{Admission, Asked, Chain, GroupVersionKind},
    resource::Subresource,
};

impl Call<'_> {
    /// The way of a write through admission.
    pub(super) fn admission(&self) -> Option<Arc<Admission>> {
        let chain = self.chain.as_ref()?;
        let what = (self.kind(), self.subresource.name());
        Some(self.admitted(chain, what, self.parameters(), self.query.text("dryRun").is_some()))
    }

    /// The way through admission of an object that is sent to a subresource and not stored.
    pub(super) fn admission_of(
        &self,
        (group, version, kind): (&str, &str, &str),
        subresource: &str,
    ) -> Option<Arc<Admission>> {
        let chain = self.chain.as_ref()?;
        let text = str::to_owned;
        let kind =
            GroupVersionKind { group: text(group), version: text(version), kind: text(kind) };
        let dry_run = self.query.text("dryRun").is_some();
        Some(self.admitted(chain, (kind, subresource), self.parameters(), dry_run))
    }

    fn parameters(&self) -> Value {
        let mut parameters = Map::new();
        for field in ["dryRun", "fieldManager", "fieldValidation"] {
            if let Some(text) = self.query.text(field) {
                let value = match field {
                    "dryRun" => json!(self.query.texts(field)),
                    _ => json!(text),
                };
                parameters.insert(field.to_owned(), value);
            }
        }
        Value::Object(parameters)
    }

    /// The way of a deletion with these options.
    pub(super) fn deletion(&self, options: &Value, dry_run: bool) -> Option<Arc<Admission>> {
        let chain = self.chain.as_ref()?;
        let mut parameters = options.as_object().cloned().unwrap_or_default();
        for field in ["kind", "apiVersion"] {
            parameters.remove(field);
        }
        let what = (self.kind(), self.subresource.name());
        Some(self.admitted(chain, what, Value::Object(parameters), dry_run))
    }

    fn admitted(
        &self,
        chain: &Arc<Chain>,
        (kind, subresource): (GroupVersionKind, &str),
        parameters: Value,
        dry_run: bool,
    ) -> Arc<Admission> {
        let path = self.path;
        let name = path.name.clone().unwrap_or_default();
        let is_namespace =
            self.resource.id.group.is_empty() && self.resource.id.plural == "namespaces";
        let namespace = if is_namespace { Some(name.clone()) } else { path.namespace.clone() };
        let asked = Asked {
            user: Arc::new(self.writer.user.info()),
            resource: Arc::clone(self.resource),
            kind,
            subresource: subresource.to_owned(),
            namespace: namespace.unwrap_or_default(),
            name,
            is_collection: self.verb == Verb::DeleteCollection,
            dry_run,
            parameters,
        };
        Arc::new(Admission::new(asked, Arc::clone(chain), self.caller.clone()))
    }

    fn kind(&self) -> GroupVersionKind {
        if self.subresource != Subresource::Scale {
            return GroupVersionKind::of(self.resource);
        }
        let text = str::to_owned;
        GroupVersionKind { group: text("autoscaling"), version: text("v1"), kind: text("Scale") }
    }
}
