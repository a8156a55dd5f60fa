//! The decoration of a parent: labels and annotations, and status fields if the operator asks for them.
//! Decides which fields are applied; refuses fields that no server would accept.

use serde_json::{Map, Value, json};

use super::{
    ChildId, HeldField, Refusal, RefusalReason, Step, Write,
    held_replicas::{Hold, hold},
};
use crate::{
    diff::{differ_in_status_only, differences::Differences, nulls::drop_nulls},
    object::Object,
    operator::{
        ChildConfig, Decoration, HeldReplicas, OperatorConfig, OperatorName, is_label_value,
        is_qualified_name,
    },
    reply::Defaults,
};

/// All annotations of an object together have at most so many bytes.
const MOST_BYTES: usize = 256 * 1024;

/// An apply on the parent. `Debug` does not show the body.
#[derive(Clone)]
pub(crate) struct DecorationWrite {
    /// The body, with the version or the uid of the parent: an apply without one would create it again.
    pub(crate) body: Value,
    /// Where the parent differs.
    pub(crate) paths: Vec<String>,
}

/// The decoration of a parent of which other managers own fields, and the parent at that time.
#[derive(Debug, Clone)]
pub(crate) struct HeldDecoration {
    /// A hash of the decoration.
    pub(crate) wanted: u64,
    pub(crate) left: Object,
    pub(crate) held: Vec<HeldField>,
}

impl HeldDecoration {
    /// Whether the same would be refused again. `in_status` tells whether status fields are held.
    pub(crate) fn is_about(&self, wanted: u64, parent: &Object, in_status: bool) -> bool {
        let is_same =
            self.left == *parent || (!in_status && differ_in_status_only(&self.left, parent));
        is_same && self.wanted == wanted
    }
}

impl Decoration {
    /// The same if all of it can be written.
    ///
    /// # Errors
    /// All labels and annotations that cannot be written.
    pub(crate) fn checked(self, config: &OperatorConfig) -> Result<Self, Vec<Refusal>> {
        let refusals = self.refusals(config);
        if refusals.is_empty() { Ok(self) } else { Err(refusals) }
    }

    fn refusals(&self, config: &OperatorConfig) -> Vec<Refusal> {
        let of_label = |(key, value): (&String, &String)| {
            let why = match () {
                () if !is_qualified_name(key) => RefusalReason::Key,
                () if !is_label_value(value) => RefusalReason::LabelValue,
                () if config.selects_by_label(key) => RefusalReason::InSelector,
                () => return None,
            };
            Some(Refusal { child: format!("the label `{key}` of the parent"), why })
        };
        let of_annotation = |(key, _): (&String, &String)| {
            let why = match () {
                () if !is_qualified_name(&key.to_ascii_lowercase()) => RefusalReason::Key,
                () if config.selects_by_annotation(key) => RefusalReason::InSelector,
                () => return None,
            };
            Some(Refusal { child: format!("the annotation `{key}` of the parent"), why })
        };
        let mut refusals: Vec<_> = self.labels.iter().filter_map(of_label).collect();
        refusals.extend(self.annotations.iter().filter_map(of_annotation));
        let bytes: usize =
            self.annotations.iter().map(|(key, value)| key.len() + value.len()).sum();
        let child = "the annotations of the parent".to_owned();
        let why = RefusalReason::TooLarge(bytes);
        refusals.extend((bytes > MOST_BYTES).then_some(Refusal { child, why }));
        let child = || "the replicas of the parent".to_owned();
        let why = self.replicas.and_then(|replicas| refused_replicas(replicas, config));
        refusals.extend(why.map(|why| Refusal { child: child(), why }));
        refusals
    }

    fn hold(&self, parent: &Object, operator: &OperatorName) -> Hold {
        hold(HeldReplicas::of(parent, operator.as_str()), self.replicas, replicas_of(parent))
    }

    /// What is to be recorded on the parent of its replicas.
    pub(crate) fn record(&self, parent: &Object, operator: &OperatorName) -> Option<HeldReplicas> {
        self.hold(parent, operator).record
    }

    /// To how many replicas the parent is to be scaled now; `None` also while that is not recorded on it.
    pub(crate) fn scale(&self, parent: &Object, operator: &OperatorName) -> Option<i32> {
        let Hold { record, scale } = self.hold(parent, operator);
        let recorded = HeldReplicas::of(parent, operator.as_str());
        scale.filter(|_| recorded == record)
    }

    /// The apply that puts it on the parent, and removes what the decorator put there before; `None` if
    /// that is already so.
    pub(crate) fn write(
        &self,
        parent: &Object,
        operator: &OperatorName,
    ) -> Option<DecorationWrite> {
        let mut metadata = identity(parent);
        let mut labels = self.labels.clone();
        let record = self.record(parent, operator);
        let label = || HeldReplicas::label(operator.as_str());
        labels.extend(record.map(|record| (label(), record.to_string())));
        for (name, values) in [("labels", &labels), ("annotations", &self.annotations)] {
            if !values.is_empty() {
                metadata.insert(name.to_owned(), json!(values));
            }
        }
        let is_nothing = labels.is_empty() && self.annotations.is_empty();
        if is_nothing && parent.applied_fields(operator.as_str()).is_none() {
            return None;
        }
        let mut body = envelope(parent, &metadata);
        let paths = Differences::between(&body, parent, operator, &Defaults::default()).paths();
        if paths.is_empty() {
            return None;
        }
        body["metadata"]["uid"] = json!(parent.uid());
        Some(DecorationWrite { body, paths })
    }
}

impl DecorationWrite {
    /// The apply as a step of a plan, to be shown.
    pub(crate) fn into_step(self, parent: &Object) -> Step {
        let write = Write::new(ChildId::of(parent), self.body, 0, ChildConfig::apply());
        Step::Update(Write { paths: self.paths, ..write })
    }
}

/// The apply that puts status fields on the parent, and removes those that the decorator put there
/// before; `None` if that is already so. `now` is the time, in RFC 3339.
pub(crate) fn status_write(
    status: Option<&Value>,
    parent: &Object,
    operator: &OperatorName,
    now: &str,
) -> Option<DecorationWrite> {
    let mut fields = status.and_then(Value::as_object).cloned().unwrap_or_default();
    fields.retain(|_, value| !value.is_null());
    fields.values_mut().for_each(drop_nulls);
    if fields.is_empty() && parent.applied_status(operator.as_str()).is_none() {
        return None;
    }
    date_conditions(&mut fields, parent, now);
    let mut body = envelope(parent, &identity(parent));
    if !fields.is_empty() {
        body["status"] = Value::Object(fields);
    }
    let paths = Differences::in_status(&body, parent, operator).paths();
    if paths.is_empty() {
        return None;
    }
    body["metadata"]["resourceVersion"] = json!(parent.resource_version().to_string());
    Some(DecorationWrite { body, paths })
}

/// Sets the times of conditions: they change only with the status of a condition.
fn date_conditions(fields: &mut Map<String, Value>, parent: &Object, now: &str) {
    const TIME: &str = "lastTransitionTime";
    let Some(Value::Array(conditions)) = fields.get_mut("conditions") else { return };
    let present = parent.field("status").unwrap_or_default();
    let present = present["conditions"].as_array().cloned().unwrap_or_default();
    for condition in conditions.iter_mut().filter_map(Value::as_object_mut) {
        let is_same = |other: &&Value| {
            let is = |name: &str| other.get(name) == condition.get(name);
            is("type") && is("status")
        };
        let time = present.iter().find(is_same).and_then(|before| before.get(TIME)).cloned();
        condition.insert(TIME.to_owned(), time.unwrap_or_else(|| now.into()));
    }
}

fn refused_replicas(replicas: i32, config: &OperatorConfig) -> Option<RefusalReason> {
    match () {
        () if !config.decorator_options().held_replicas => Some(RefusalReason::NoHeldReplicas),
        () if u16::try_from(replicas).is_err() => Some(RefusalReason::Replicas(replicas)),
        () => None,
    }
}

/// One where the parent says nothing, as Kubernetes does.
fn replicas_of(parent: &Object) -> i32 {
    let spec = parent.field("spec").unwrap_or_default();
    spec["replicas"].as_i64().and_then(|replicas| replicas.try_into().ok()).unwrap_or(1)
}

fn identity(parent: &Object) -> Map<String, Value> {
    let mut metadata = Map::from_iter([("name".to_owned(), json!(parent.name()))]);
    metadata.extend(parent.namespace().map(|it| ("namespace".to_owned(), json!(it))));
    metadata
}

fn envelope(parent: &Object, metadata: &Map<String, Value>) -> Value {
    let ty = parent.ty();
    json!({"apiVersion": ty.api_version(), "kind": ty.kind(), "metadata": metadata})
}

impl std::fmt::Debug for DecorationWrite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DecorationWrite").field("paths", &self.paths).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{K8sType, KeptManagers};

    fn ty() -> K8sType {
        K8sType::namespaced("apps/v1", "Deployment", "deployments")
    }

    fn operator() -> OperatorName {
        OperatorName::new("op").unwrap()
    }

    fn parent(labels: &Value, owned: &[&str]) -> Object {
        let fields: Map<String, Value> =
            owned.iter().map(|key| (format!("f:{key}"), json!({}))).collect();
        let entry = json!([{"manager": "op", "operation": "Apply",
            "fieldsV1": {"f:metadata": {"f:labels": fields}}}]);
        let managed = if owned.is_empty() { json!([]) } else { entry };
        let value = json!({"metadata": {
            "name": "d", "namespace": "ns", "uid": "u", "resourceVersion": "7", "labels": labels,
            "managedFields": managed,
        }});
        Object::from_value(&ty(), &value, &KeptManagers::new(["op"])).unwrap()
    }

    fn of(labels: &[(&str, &str)]) -> Decoration {
        let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Decoration { labels: labels.collect(), ..Decoration::default() }
    }

    #[test]
    fn only_what_differs_or_is_not_owned_is_written() {
        for (labels, owned, wanted, paths) in [
            (json!({}), vec![], vec![], None),
            (json!({"a": "1", "x": "theirs"}), vec!["a"], vec![("a", "1")], None),
            (json!({"x": "theirs"}), vec!["a"], vec![("a", "1")], Some(".metadata.labels")),
            (json!({"a": "2"}), vec!["a"], vec![("a", "1")], Some(".metadata.labels.a")),
            (json!({"a": "1"}), vec!["a"], vec![], Some(".metadata.labels")),
            (
                json!({"a": "1", "b": "1"}),
                vec!["a", "b"],
                vec![("a", "1")],
                Some(".metadata.labels.b"),
            ),
        ] {
            let write = of(&wanted).write(&parent(&labels, &owned), &operator());
            let found = write.as_ref().map(|write| write.paths.join(" "));
            let is_it = match (&found, paths) {
                (Some(found), Some(path)) => found.starts_with(path),
                (found, path) => found.is_none() && path.is_none(),
            };
            assert!(is_it, "{labels} {owned:?} {wanted:?}: {found:?}");
            if let Some(write) = write {
                assert_eq!(write.body["metadata"]["uid"], "u");
                assert_eq!(write.body.get("spec"), None);
            }
        }
    }

    #[test]
    fn what_no_server_takes_is_refused_and_named() {
        let config = OperatorConfig::decorating("op", ty())
            .with_parent_selector("tier=gold")
            .with_parent_annotations("example.com/inject")
            .erased();
        let refused = |decoration: Decoration| {
            let refusals = decoration.checked(&config).err().unwrap_or_default();
            refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        };
        let label = |key: &str, value: &str| Decoration::new().label(key, value);
        assert_eq!(refused(label("example.com/a", "b").annotation("A.b/C", "any text")), "");
        for (decoration, part) in [
            (label("a b", "c"), "the label `a b` of the parent: "),
            (label("a", "not ok!"), "the label `a` of the parent: "),
            (label("tier", "gold"), "selector"),
            (Decoration::new().annotation("/x", ""), "the annotation `/x` of the parent: "),
            (Decoration::new().annotation("example.com/inject", "x"), "selector"),
            (Decoration::new().annotation("x", "x".repeat(MOST_BYTES)), "bytes"),
        ] {
            let text = refused(decoration);
            assert!(text.contains(part), "{text}");
        }
        assert!(refused(Decoration::new().hold_replicas(0)).contains("with_held_replicas"));
    }
}
