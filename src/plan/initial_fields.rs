//! Fields of which a child has only the first value from its operator, see
//! [`SyncResponse::initial_field`](crate::operator::SyncResponse::initial_field).

use serde_json::{Map, Value};

use crate::{
    diff::hash,
    object::{FieldSet, Object, ResourceVersion},
    operator::OperatorName,
};

/// The initial fields of a child.
#[derive(Clone, Default)]
pub(crate) struct InitialFields {
    fields: Vec<InitialField>,
    /// The hash of what the handler returned without them.
    hash_of_others: u64,
    /// The version of the child whose values are applied: a manager may take such a field meanwhile.
    at_version: Option<ResourceVersion>,
}

/// A field, and the value that it has in a new child.
#[derive(Clone)]
pub(crate) struct InitialField {
    path: Vec<String>,
    value: Option<Value>,
}

/// A pointer that names no field of which the first value can be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`initial_field` {pointer:?}: {why}")]
pub(crate) struct InitialFieldError {
    pointer: String,
    why: Misplaced,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Misplaced {
    #[error("it is no JSON pointer, which begins with `/`")]
    NotAPointer,
    #[error("`{0}` belongs to the operator or to the server")]
    NotOfTheContent(String),
    #[error("it is within a list, of which items have no fixed place")]
    InList,
}

impl InitialFields {
    /// What the pointers name, with the values of the body.
    pub(super) fn read(pointers: &[String], body: &Value) -> Result<Self, InitialFieldError> {
        // Most children have none, and the hash of the others would be read by nobody.
        if pointers.is_empty() {
            return Ok(Self::default());
        }
        let read = |pointer: &String| {
            InitialField::read(pointer, body)
                .map_err(|why| InitialFieldError { pointer: pointer.clone(), why })
        };
        let fields: Vec<_> = pointers.iter().map(read).collect::<Result<_, _>>()?;
        let mut others = body.clone();
        for field in &fields {
            field.set(&mut others, None);
        }
        // The size of the body is limited elsewhere.
        let hash_of_others = hash::within(usize::MAX, &others).unwrap_or_default();
        Ok(Self { fields, hash_of_others, at_version: None })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The `metadata.resourceVersion` of an update.
    pub(super) fn precondition(&self) -> Option<&ResourceVersion> {
        self.at_version.as_ref()
    }

    /// Gives the body of a new child the first values; the hash of the desired state then.
    pub(super) fn begin(&mut self, body: &mut Value) -> u64 {
        self.at_version = None;
        self.apply(body, |field| field.value.clone())
    }

    /// Leaves the fields of an object of ours as they are; the hash of the desired state then.
    pub(super) fn keep(&mut self, body: &mut Value, live: &Object, operator: &OperatorName) -> u64 {
        let owned = live.applied_fields(operator.as_str());
        let held = |field: &InitialField| field.held(live, owned.as_ref());
        let is_applied = self.fields.iter().any(|field| held(field).is_some());
        self.at_version = is_applied.then(|| live.resource_version().clone());
        self.apply(body, held)
    }

    /// The same for an object that is adopted: what its managers own becomes ours, and what is not desired is removed.
    pub(super) fn take(&mut self, body: &mut Value, live: &Object) -> u64 {
        self.apply(body, |field| field.present(live))
    }

    fn apply(&self, body: &mut Value, value: impl Fn(&InitialField) -> Option<Value>) -> u64 {
        let values: Vec<_> = self.fields.iter().map(value).collect();
        for (field, value) in self.fields.iter().zip(&values) {
            field.set(body, value.clone());
        }
        let values = values.into_iter().map(Value::from).collect();
        let hash_of_values = hash::within(usize::MAX, &Value::Array(values)).unwrap_or_default();
        self.hash_of_others ^ hash_of_values
    }
}

impl InitialField {
    fn read(pointer: &str, body: &Value) -> Result<Self, Misplaced> {
        let segments = pointer.strip_prefix('/').ok_or(Misplaced::NotAPointer)?;
        let unescaped = |segment: &str| segment.replace("~1", "/").replace("~0", "~");
        let path: Vec<String> = segments.split('/').map(unescaped).collect();
        if ["apiVersion", "kind", "metadata", "status"].contains(&path[0].as_str()) {
            return Err(Misplaced::NotOfTheContent(path[0].clone()));
        }
        let mut at = Some(body);
        for name in &path {
            if at.is_some_and(Value::is_array) {
                return Err(Misplaced::InList);
            }
            at = at.and_then(|value| value.get(name));
        }
        let value = at.cloned();
        Ok(Self { path, value })
    }

    /// What the field is applied with, so that it stays as it is: the present value as long as nobody took the field.
    fn held(&self, live: &Object, owned: Option<&FieldSet>) -> Option<Value> {
        owned.filter(|owned| owns(owned, &self.path))?;
        self.present(live)
    }

    fn present(&self, live: &Object) -> Option<Value> {
        let root = live.field(&self.path[0])?;
        self.path[1..].iter().try_fold(&root, |at, name| at.get(name)).cloned()
    }

    fn set(&self, body: &mut Value, value: Option<Value>) {
        match value {
            Some(value) => insert(body, &self.path, value),
            None => remove(body, &self.path),
        }
    }
}

/// Whether a field, or something in it, is owned; of an atomic value every field is.
fn owns(owned: &FieldSet, path: &[String]) -> bool {
    let Some((name, rest)) = path.split_first() else { return true };
    let inner = |inner: &FieldSet| inner.is_leaf() || owns(inner, rest);
    owned.field(name).is_some_and(inner)
}

fn insert(body: &mut Value, path: &[String], value: Value) {
    let Some((name, rest)) = path.split_first() else { return *body = value };
    if !body.is_object() {
        *body = Value::Object(Map::new());
    }
    insert(&mut body[name.as_str()], rest, value);
}

fn remove(body: &mut Value, path: &[String]) {
    match path {
        [] => {}
        [name] => drop(body.as_object_mut().and_then(|fields| fields.remove(name))),
        [name, rest @ ..] => {
            if let Some(inner) = body.get_mut(name) {
                remove(inner, rest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        object::{K8sType, KeptManagers},
        operator::ChildConfig,
        plan::{ChildId, Write},
    };

    fn ty() -> K8sType {
        K8sType::namespaced("apps/v1", "Deployment", "deployments")
    }

    fn body(spec: &Value) -> Value {
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": spec})
    }

    /// A Deployment with five replicas, of which we own these fields of the spec.
    fn live(owned: &Value) -> Object {
        let value = json!({
            "metadata": {
                "name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "7",
                "managedFields": [
                    {"manager": "op", "operation": "Apply", "fieldsV1": {"f:spec": owned}},
                ],
            },
            "spec": {"replicas": 5, "paused": false},
        });
        Object::from_value(&ty(), &value, &KeptManagers::new(["op"])).unwrap()
    }

    fn write(spec: &Value) -> Write {
        let (body, id) = (body(spec), ChildId::of(&live(&json!({}))));
        let initial = InitialFields::read(&["/spec/replicas".to_owned()], &body).unwrap();
        Write::new(id, body, 1, ChildConfig::apply()).with_initial_fields(initial)
    }

    fn kept(spec: &Value, owned: &Value) -> Write {
        write(spec).keeping_initial_fields(&live(owned), &OperatorName::new("op").unwrap())
    }

    #[test]
    fn a_new_child_has_the_first_value() {
        let first = json!({"replicas": 3, "paused": false});
        assert_eq!(write(&first).body, body(&first));
        let taken = kept(&first, &json!({"f:paused": {}}));
        assert_eq!(taken.setting_initial_fields().body, body(&first), "it was deleted meanwhile");
    }

    #[test]
    fn an_existing_child_keeps_its_value_until_another_manager_takes_the_field() {
        for (returned, owned, applied) in [
            (json!({"replicas": 3}), json!({"f:replicas": {}}), json!({"replicas": 5})),
            (json!({}), json!({"f:replicas": {}}), json!({"replicas": 5})),
            (json!({"replicas": 3}), json!({"f:paused": {}}), json!({})),
            (json!({}), json!({"f:paused": {}}), json!({})),
        ] {
            let write = kept(&returned, &owned);
            assert_eq!(write.body, body(&applied), "{returned} {owned}");
            let is_exact = write.initial.precondition().is_some();
            assert_eq!(is_exact, applied != json!({}), "{returned} {owned}");
        }
    }

    #[test]
    fn what_the_handler_returns_for_a_field_is_no_other_desired_state() {
        let owned = json!({"f:replicas": {}});
        let [one, two] = [3, 4].map(|replicas| kept(&json!({"replicas": replicas}), &owned));
        assert_eq!(one.desired_hash, two.desired_hash);
        let created = write(&json!({"replicas": 5}));
        assert_eq!(one.desired_hash, created.desired_hash, "it is settled by its creation");
        let taken = kept(&json!({"replicas": 3}), &json!({"f:paused": {}}));
        assert_ne!(one.desired_hash, taken.desired_hash);
    }

    #[test]
    fn an_adopted_child_keeps_its_value() {
        let write = write(&json!({"replicas": 3})).taking_initial_fields(&live(&json!({})));
        assert_eq!(write.body, body(&json!({"replicas": 5})));
    }

    #[test]
    fn a_pointer_names_a_field_of_the_content() {
        use Misplaced::{InList, NotAPointer, NotOfTheContent};

        let body = json!({"spec": {"list": [{"a": 1}], "a/b": {"c~d": 1}}});
        let error = |pointer: &str| InitialField::read(pointer, &body).err();
        for (pointer, expected) in [
            ("/spec/replicas", None),
            ("/spec/a~1b/c~0d", None),
            ("/data/config.yaml", None),
            ("spec.replicas", Some(NotAPointer)),
            ("", Some(NotAPointer)),
            ("/spec/list/0/a", Some(InList)),
            ("/metadata/labels", Some(NotOfTheContent("metadata".to_owned()))),
            ("/status", Some(NotOfTheContent("status".to_owned()))),
        ] {
            assert_eq!(error(pointer), expected, "{pointer}");
        }
        let escaped = InitialField::read("/spec/a~1b/c~0d", &body).unwrap();
        assert_eq!(escaped.value, Some(json!(1)));
    }
}
