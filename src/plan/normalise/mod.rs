//! Turns what a handler returned into bodies that can be applied, or into the reasons why not.
//!
//! Checks each child of a response. Its depth was checked when the handler returned; schemas and
//! immutable fields are checked by the API server alone.

use std::collections::HashMap;

use k8s_openapi::ByteString;
use serde_json::{Map, Value};

use super::{
    ChildId, Desired, Order, Refusal, RefusalReason, ReturnedBy, Write,
    initial_fields::InitialFields, order::StatedOrder, ownership, steps::hash_of,
};
use crate::{
    diff::{hash, nulls::drop_nulls},
    object::{K8sType, Object, ObjectKey},
    operator::{
        ChildConfig, ChildType, DesiredChild, Labels, ORPHAN_LABEL, OperatorConfig, OperatorName,
        child_name,
    },
};

/// More children of one parent are a mistake.
const MAX_CHILDREN: usize = 10_000;
/// By default etcd accepts no larger request.
const MAX_BYTES: usize = 1_500_000;
const SERVER_OWNED: [(&str, &str); 8] = [
    ("uid", "metadata.uid"),
    ("resourceVersion", "metadata.resourceVersion"),
    ("generation", "metadata.generation"),
    ("creationTimestamp", "metadata.creationTimestamp"),
    ("deletionTimestamp", "metadata.deletionTimestamp"),
    ("deletionGracePeriodSeconds", "metadata.deletionGracePeriodSeconds"),
    ("managedFields", "metadata.managedFields"),
    ("selfLink", "metadata.selfLink"),
];

#[derive(Debug, Clone, Copy)]
pub(super) struct Owner<'a> {
    pub(super) config: &'a OperatorConfig,
    pub(super) operator: &'a OperatorName,
    pub(super) parent: &'a Object,
}

/// The desired children without a precondition, in the order of the handler, and the order in which they
/// are written; or all reasons why not.
pub(super) fn normalise(
    owner: Owner<'_>,
    Desired { children: desired, stages }: Desired,
) -> Result<(Vec<Write>, Option<Order>), Vec<Refusal>> {
    if desired.len() > MAX_CHILDREN {
        let why = RefusalReason::TooMany(desired.len());
        return Err(vec![Refusal { child: "the response".to_owned(), why }]);
    }
    let (mut writes, mut refusals, mut seen) = (Vec::new(), Vec::new(), HashMap::new());
    let mut places = Vec::new();
    let mut refuse = |index, child: &Value, why| {
        refusals.push(Refusal { child: owner.name(index, child), why });
    };
    for (index, mut child) in desired.into_iter().enumerate() {
        let way = ReturnedBy::of(&child);
        match owner.child(&mut child) {
            Ok(write) => match seen.insert(identity(&write.id), way) {
                None => {
                    let place =
                        StatedOrder { stage: child.stage, after: std::mem::take(&mut child.after) };
                    places.push((write.id.clone(), place));
                    writes.push(write);
                }
                Some(other) => refuse(index, &write.body, RefusalReason::Duplicate(other, way)),
            },
            Err(why) => refuse(index, &child.object, why),
        }
    }
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let order = Order::of(&places, &stages)?;
    Ok((writes, order))
}

/// All versions of a type show the same objects.
fn identity(id: &ChildId) -> (String, String, ObjectKey) {
    (id.ty.group().to_owned(), id.ty.kind().to_owned(), id.key.clone())
}

impl<'a> Owner<'a> {
    /// Takes the object of an accepted child; leaves a refused one.
    fn child(
        self,
        DesiredChild { object: child, config: own, ensure, stage, initial, .. }: &mut DesiredChild,
    ) -> Result<Write, RefusalReason> {
        if *stage >= MAX_CHILDREN {
            return Err(RefusalReason::Stage(*stage, MAX_CHILDREN));
        }
        drop_nulls(child);
        let fields = child.as_object_mut().ok_or(RefusalReason::NotAnObject)?;
        let declared = self.ty(fields)?;
        let (ty, config) = (declared.ty.clone(), declared.config_of(*own)?);
        // Serialised Rust types have an empty status.
        let status = fields.remove("status").filter(|status| !is_deeply_empty(status));
        let metadata = match fields.get_mut("metadata") {
            Some(metadata) => metadata.as_object_mut(),
            None => return Err(RefusalReason::Missing("metadata.name")),
        };
        let metadata = metadata.ok_or(RefusalReason::WrongType("metadata"))?;
        check_server_owned(metadata, status.is_some())?;
        let key = self.key(&ty, metadata)?;
        self.check_metadata(metadata, config)?;
        set_namespace(metadata, &key);
        if ty.is("v1", "Secret") {
            encode_string_data(fields)?;
            check_data(fields)?;
        }
        ownership::claim(child, self.parent, self.operator, &self.config.labels, config);
        let content = hash::within(MAX_BYTES, child).map_err(RefusalReason::TooLarge)?;
        let desired_hash = match own {
            // Whatever its body is: only the claim of the parent is desired.
            _ if *ensure => hash_of(&config.orphan_on_delete),
            // The fields that are left to other managers depend on the options.
            Some(own) => content ^ hash_of(own),
            None => content,
        };
        let initial = InitialFields::read(initial, child)?;
        let (id, body) = (ChildId { ty, key }, child.take());
        let write = Write { ensure: *ensure, ..Write::new(id, body, desired_hash, config) };
        Ok(write.with_initial_fields(initial))
    }

    fn ty(self, fields: &Map<String, Value>) -> Result<&'a ChildType, RefusalReason> {
        let api_version = text(fields, "apiVersion")?;
        let api_version = api_version.ok_or(RefusalReason::Missing("apiVersion"))?;
        let kind = text(fields, "kind")?.ok_or(RefusalReason::Missing("kind"))?;
        self.config.child_type(api_version, kind).ok_or_else(|| {
            let (api_version, kind) = (api_version.to_owned(), kind.to_owned());
            let mut declared = self.config.children.iter().map(|child| &child.ty);
            match declared.find(|ty| ty.kind().eq_ignore_ascii_case(&kind)) {
                Some(declared) => {
                    RefusalReason::OtherVersion { api_version, kind, declared: declared.clone() }
                }
                None => RefusalReason::UndeclaredType { api_version, kind },
            }
        })
    }

    /// The name of a refused child, as it would be if it were accepted.
    fn name(self, index: usize, child: &Value) -> String {
        let declared =
            || self.config.child_type(child["apiVersion"].as_str()?, child["kind"].as_str()?);
        let namespace = &child["metadata"]["namespace"];
        let is_defaulted = (namespace.is_null() || namespace == "")
            && declared().is_some_and(|declared| declared.ty.is_namespaced());
        child_name(index, child, self.parent.namespace().filter(|_| is_defaulted))
    }

    /// The key of the child; a missing namespace is the parent's.
    fn key(self, ty: &K8sType, metadata: &Map<String, Value>) -> Result<ObjectKey, RefusalReason> {
        let Some(name) = text(metadata, "metadata.name")?.map(str::to_owned) else {
            let is_generated = metadata.contains_key("generateName");
            let missing = RefusalReason::Missing("metadata.name");
            return Err(if is_generated { RefusalReason::GeneratedName } else { missing });
        };
        check_name(&name, 253, "metadata.name")?;
        let namespace = self.namespace(ty, text(metadata, "metadata.namespace")?)?;
        if let Some(namespace) = &namespace {
            check_name(namespace, 63, "metadata.namespace")?;
        }
        let key = ObjectKey::new(namespace.as_deref(), &name);
        if ty.is_version_of(self.parent.ty()) && key == *self.parent.key() {
            return Err(RefusalReason::IsTheParent);
        }
        Ok(key)
    }

    fn namespace(self, ty: &K8sType, named: Option<&str>) -> Result<Option<String>, RefusalReason> {
        let is_allowed = self.config.child_config(ty).is_some_and(|it| it.delete_with_finalizer);
        match (ty.is_namespaced(), self.parent.namespace(), named) {
            (false, _, Some(_)) => Err(RefusalReason::ClusterScoped(ty.clone())),
            (false, Some(_), None) if !is_allowed => Err(RefusalReason::CannotBeOwned(ty.clone())),
            (false, _, None) => Ok(None),
            (true, None, None) => Err(RefusalReason::NoNamespace),
            (true, Some(parent), Some(named)) if parent != named && is_allowed => {
                let is_inside = self.config.namespaces.include(Some(named));
                let outside = || RefusalReason::OutsideNamespaces(named.to_owned());
                is_inside.then(|| Some(named.to_owned())).ok_or_else(outside)
            }
            (true, Some(parent), Some(named)) if parent != named => {
                Err(RefusalReason::ForeignNamespace(parent.to_owned()))
            }
            (true, Some(namespace), _) | (true, None, Some(namespace)) => {
                Ok(Some(namespace.to_owned()))
            }
        }
    }

    fn check_metadata(
        self,
        metadata: &Map<String, Value>,
        config: ChildConfig,
    ) -> Result<(), RefusalReason> {
        match metadata.get("labels") {
            None => {}
            Some(Value::Object(labels)) => self.check_labels(labels, config)?,
            Some(_) => return Err(RefusalReason::WrongType("metadata.labels")),
        }
        let owners = match metadata.get("ownerReferences") {
            None => &[][..],
            Some(Value::Array(owners)) => owners,
            Some(_) => return Err(RefusalReason::WrongType("metadata.ownerReferences")),
        };
        let parent = self.parent.uid().to_string();
        let is_other = |owner: &Value| owner["controller"] == true && owner["uid"] != parent;
        if owners.iter().any(is_other) {
            return Err(RefusalReason::OtherController);
        }
        Ok(())
    }
}

impl Owner<'_> {
    /// Refuses other values of our labels: they would be replaced. A handler may return a child as it was observed.
    fn check_labels(
        self,
        labels: &Map<String, Value>,
        config: ChildConfig,
    ) -> Result<(), RefusalReason> {
        let Labels { parent_uid, managed_by } = &self.config.labels;
        let mark = ownership::mark(self.parent, config);
        if labels
            .get(ORPHAN_LABEL)
            .is_some_and(|value| Some(value) != mark.map(Value::from).as_ref())
        {
            return Err(RefusalReason::OrphanLabel);
        }
        let ours =
            [(parent_uid, self.parent.uid().to_string()), (managed_by, self.operator.to_string())];
        let is_other = |name: &str, value: &String| labels.get(name).is_some_and(|it| it != value);
        match ours.into_iter().find(|(name, value)| is_other(name, value)) {
            Some((name, value)) => Err(RefusalReason::OurLabel { name: name.clone(), value }),
            None => Ok(()),
        }
    }
}

fn set_namespace(metadata: &mut Map<String, Value>, key: &ObjectKey) {
    match &key.namespace {
        Some(namespace) => drop(metadata.insert("namespace".to_owned(), Value::from(&**namespace))),
        None => drop(metadata.remove("namespace")),
    }
}

/// The string at the end of a path; an empty one is none. Another JSON type must not pass for none:
/// the child would get a namespace that it did not ask for.
fn text<'a>(
    fields: &'a Map<String, Value>,
    path: &'static str,
) -> Result<Option<&'a str>, RefusalReason> {
    let name = path.rsplit('.').next().unwrap_or(path);
    match fields.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
        Some(_) => Err(RefusalReason::WrongType(path)),
    }
}

/// Refuses only what a URL path cannot carry; the server checks the rules of the type.
fn check_name(name: &str, max: usize, field: &'static str) -> Result<(), RefusalReason> {
    let is_invalid = |c: u8| !c.is_ascii_graphic() || b"/%?#\\\"".contains(&c);
    if name.len() > max || name == "." || name == ".." || name.bytes().any(is_invalid) {
        return Err(RefusalReason::InvalidName(field));
    }
    Ok(())
}

/// Names all of the fields that the server writes: a child that was read from it has many.
fn check_server_owned(
    metadata: &Map<String, Value>,
    has_status: bool,
) -> Result<(), RefusalReason> {
    let owned = SERVER_OWNED.iter().filter(|(name, _)| metadata.contains_key(*name));
    let owned = owned.map(|(_, path)| *path).chain(has_status.then_some("status"));
    let owned: Vec<&'static str> = owned.collect();
    if owned.is_empty() { Ok(()) } else { Err(RefusalReason::ServerOwned(owned)) }
}

fn is_deeply_empty(value: &Value) -> bool {
    value.as_object().is_some_and(|fields| fields.values().all(is_deeply_empty))
}

/// The server turns `stringData` into `data` and shows only that, as we do before comparing.
fn encode_string_data(fields: &mut Map<String, Value>) -> Result<(), RefusalReason> {
    let strings = match fields.remove("stringData") {
        None => return Ok(()),
        Some(Value::Object(strings)) => strings,
        Some(_) => return Err(RefusalReason::WrongType("stringData")),
    };
    let data = fields.entry("data").or_insert_with(|| Value::Object(Map::new()));
    let data = data.as_object_mut().ok_or(RefusalReason::WrongType("data"))?;
    for (name, value) in strings {
        let text = value.as_str().ok_or(RefusalReason::WrongType("stringData"))?;
        data.insert(name, base64(text));
    }
    Ok(())
}

/// Refuses values that are not strings: the server would refuse and quote them.
fn check_data(fields: &Map<String, Value>) -> Result<(), RefusalReason> {
    let is_invalid = |value: &Value| match value {
        Value::Object(data) => !data.values().all(Value::is_string),
        _ => true,
    };
    let wrong_type = Err(RefusalReason::WrongType("data"));
    if fields.get("data").is_some_and(is_invalid) { wrong_type } else { Ok(()) }
}

fn base64(text: &str) -> Value {
    let bytes = ByteString(text.as_bytes().to_vec());
    serde_json::to_value(bytes).expect("bytes become a JSON string")
}

#[cfg(test)]
mod tests;
