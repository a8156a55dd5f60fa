//! What admission decides on. Values only.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    asked::Asked,
    kind::{GroupVersionKind, Operation},
};
use crate::{
    builtin,
    resource::{Origin, Resource},
};

/// One write at one moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attributes<'a> {
    pub asked: &'a Asked,
    pub operation: Operation,
    pub object: Option<&'a Value>,
    pub old: Option<&'a Value>,
}

/// The form in which a webhook or a policy sees a write: that of the request, or an equivalent one.
#[derive(Debug, Clone)]
pub(super) struct Form {
    pub resource: Arc<Resource>,
    pub kind: GroupVersionKind,
}

impl<'a> Attributes<'a> {
    /// The name of the path, or else that of the object, which a create may still lack.
    pub(super) fn name(&self) -> &'a str {
        if self.asked.is_collection || !self.asked.name.is_empty() {
            return &self.asked.name;
        }
        let object = self.object.map(|object| &object["metadata"]["name"]);
        object.and_then(Value::as_str).unwrap_or_default()
    }

    /// What a refusal calls the object.
    pub(super) fn shown_name(&self) -> &'a str {
        let text = |field| {
            let object = self.object.map(|object| &object["metadata"][field]);
            object.and_then(Value::as_str).filter(|text| !text.is_empty())
        };
        match self.name() {
            "" => text("name").or_else(|| text("generateName")).unwrap_or("Unknown"),
            name => name,
        }
    }

    /// A request without its objects, as expressions see it too.
    pub(super) fn facts(&self, form: &Form) -> Value {
        let Attributes { asked, operation, object: _, old: _ } = self;
        let mut request = json!({
            "kind": form.kind.json(),
            "resource": form.resource_json(),
            "requestKind": asked.kind.json(),
            "requestResource": Form::of(asked).resource_json(),
            "operation": operation.name(),
            "userInfo": asked.user,
            "dryRun": asked.dry_run,
            "options": asked.options(*operation),
        });
        let optional = [
            ("subResource", asked.subresource.as_str()),
            ("requestSubResource", &asked.subresource),
            ("name", self.name()),
            ("namespace", &asked.namespace),
        ];
        for (field, text) in optional.into_iter().filter(|(_, text)| !text.is_empty()) {
            request[field] = json!(text);
        }
        request
    }
}

impl Form {
    /// The form of the request itself.
    pub(super) fn of(asked: &Asked) -> Self {
        Self { resource: Arc::clone(&asked.resource), kind: asked.kind.clone() }
    }

    /// An object of the request in this form.
    pub(super) fn of_object(&self, asked: &Asked, object: &Value) -> Value {
        convert(object, &asked.resource, &self.resource, asked)
    }

    /// An object of this form in that of the request.
    pub(super) fn back(&self, asked: &Asked, object: &Value) -> Value {
        convert(object, &self.resource, &asked.resource, asked)
    }

    /// As reviews have it.
    pub(super) fn resource_json(&self) -> Value {
        let Resource { id, version, .. } = &*self.resource;
        json!({ "group": id.group, "version": version, "resource": id.plural })
    }
}

/// Subresources with kinds of their own have one form only.
fn convert(object: &Value, from: &Resource, to: &Resource, asked: &Asked) -> Value {
    let mut object = object.clone();
    if (from.id == to.id && from.version == to.version)
        || asked.kind != GroupVersionKind::of(&asked.resource)
    {
        return object;
    }
    match &to.origin {
        Origin::BuiltIn(ty) => builtin::convert(&mut object, ty),
        Origin::Custom(custom) if let Some(converter) = &custom.converter => {
            return converter.written(object, &to.api_version());
        }
        Origin::Definition | Origin::Custom(_) => object["apiVersion"] = json!(to.api_version()),
    }
    object
}
