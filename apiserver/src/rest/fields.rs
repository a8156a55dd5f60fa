//! Field selectors: the supported fields of a type, and their values in an object.

use serde_json::Value;

use crate::{
    log::{Object, ObjectKey},
    resource::{Origin, Resource},
    schema::go_value,
    selector::FieldSelector,
    status::StatusError,
};

const NAME: &str = "metadata.name";
const NAMESPACE: &str = "metadata.namespace";

/// A field selector of a type.
#[derive(Debug, Clone)]
pub(super) struct Fields {
    selector: FieldSelector,
    /// Where the value of each requirement is.
    sources: Vec<Source>,
}

/// Where the value of a field is.
#[derive(Debug, Clone, PartialEq)]
enum Source {
    Name,
    Namespace,
    /// At the first of these paths where something is; otherwise the zero of its type.
    Paths(Vec<String>, &'static str),
}

/// A field that a type supports, the paths where its value is, and what it is when it is not set.
type Known = (&'static str, &'static [&'static str], &'static str);

/// Parses a field selector; whether its fields are supported is asked afterwards.
pub(super) fn parse(text: &str) -> Result<FieldSelector, StatusError> {
    FieldSelector::parse(text).map_err(|error| StatusError::bad_request(error.to_string()))
}

impl Fields {
    /// The selector of a type, unless a field of it is not supported.
    pub(super) fn of(resource: &Resource, selector: FieldSelector) -> Result<Self, StatusError> {
        let find = |field| source(resource, field).ok_or_else(|| unknown(resource, field));
        let sources = selector.fields().map(find).collect::<Result<_, _>>()?;
        Ok(Self { selector, sources })
    }

    /// Whether every object is chosen.
    pub(super) fn is_empty(&self) -> bool {
        self.selector.is_empty()
    }

    /// Whether only objects of one name are chosen.
    pub(super) fn name_one(&self) -> bool {
        self.selector.exact("metadata.name").is_some()
    }

    /// Whether an object is chosen.
    pub(super) fn choose(&self, key: &ObjectKey, object: &Object) -> bool {
        // The object is parsed only for fields that are not in the key.
        let needs_object = self.sources.iter().any(|it| matches!(it, Source::Paths(..)));
        let object = if needs_object { object.value() } else { Value::Null };
        let mut pairs = self.selector.requirements().iter().zip(&self.sources);
        pairs.all(|(requirement, source)| requirement.accepts(&source.text(key, &object)))
    }
}

impl Source {
    fn text(&self, key: &ObjectKey, object: &Value) -> String {
        match self {
            Self::Name => key.name.to_string(),
            Self::Namespace => key.namespace.to_string(),
            Self::Paths(paths, unset) => {
                let mut texts = paths.iter().map(|path| shown(at(object, path)));
                texts.find(|text| !text.is_empty()).unwrap_or_else(|| (*unset).to_owned())
            }
        }
    }
}

fn at<'o>(object: &'o Value, path: &str) -> &'o Value {
    let step = |value: &'o Value, step: &str| match step.parse::<usize>() {
        Ok(index) if value.is_array() => value.get(index),
        _ => value.get(step),
    };
    path.split('.').try_fold(object, step).unwrap_or(&Value::Null)
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => go_value::print(other),
    }
}

/// Where a field is, if the type supports it.
fn source(resource: &Resource, field: &str) -> Option<Source> {
    let known = known_fields(resource);
    match field {
        NAME => return Some(Source::Name),
        // Types that say which fields they have leave it out when they are in no namespace.
        NAMESPACE if resource.namespaced || !resource.is_custom() && known.is_empty() => {
            return Some(Source::Namespace);
        }
        _ => {}
    }
    if let Origin::Custom(custom) = &resource.origin {
        let mut paths = custom.selectable_fields.iter().map(|path| path.trim_start_matches('.'));
        return paths.find(|path| *path == field).map(|it| Source::Paths(vec![it.to_owned()], ""));
    }
    let (_, paths, unset) = known.iter().find(|(name, _, _)| *name == field)?;
    Some(Source::Paths(paths.iter().map(|&path| path.to_owned()).collect(), unset))
}

fn unknown(resource: &Resource, field: &str) -> StatusError {
    let usual = format!("field label not supported: {field}");
    StatusError::bad_request(match (resource.id.group.as_str(), resource.id.plural.as_str()) {
        _ if resource.is_custom() => usual,
        ("batch", "jobs") => {
            format!("field label {} not supported for Job", go_value::quote(field))
        }
        ("resource.k8s.io", "resourceslices") => {
            let (version, kind) = (resource.api_version(), &resource.kind);
            format!("field label not supported for {version}, Kind={kind}: {field}")
        }
        _ if known_fields(resource).is_empty() => only_common(field),
        _ => usual,
    })
}

/// Refuses fields that not every type has.
pub(super) fn check_common(selector: &FieldSelector) -> Result<(), StatusError> {
    match selector.fields().find(|field| ![NAME, NAMESPACE].contains(field)) {
        Some(other) => Err(StatusError::bad_request(only_common(other))),
        None => Ok(()),
    }
}

fn only_common(field: &str) -> String {
    let field = go_value::quote(field);
    format!("{field} is not a known field selector: only \"{NAME}\", \"{NAMESPACE}\"")
}

/// The supported fields of a built-in type beside name and namespace.
fn known_fields(resource: &Resource) -> &'static [Known] {
    if resource.is_custom() {
        return &[];
    }
    match (resource.id.group.as_str(), resource.id.plural.as_str()) {
        ("", "pods") => PODS,
        ("", "nodes") => &[("spec.unschedulable", &["spec.unschedulable"], "false")],
        ("", "namespaces") => &[("status.phase", &["status.phase"], "")],
        ("", "secrets") => &[("type", &["type"], "")],
        ("", "services") => {
            &[("spec.clusterIP", &["spec.clusterIP"], ""), ("spec.type", &["spec.type"], "")]
        }
        ("", "replicationcontrollers") => &[("status.replicas", &["status.replicas"], "0")],
        ("", "events") => CORE_EVENTS,
        ("events.k8s.io", "events") => EVENTS,
        ("batch", "jobs") => &[("status.successful", &["status.succeeded"], "0")],
        ("certificates.k8s.io", "certificatesigningrequests") => {
            &[("spec.signerName", &["spec.signerName"], "")]
        }
        ("resource.k8s.io", "resourceslices") => {
            &[("spec.nodeName", &["spec.nodeName"], ""), ("spec.driver", &["spec.driver"], "")]
        }
        _ => &[],
    }
}

const PODS: &[Known] = &[
    ("spec.nodeName", &["spec.nodeName"], ""),
    // The name of old clients.
    ("spec.host", &["spec.nodeName"], ""),
    ("spec.restartPolicy", &["spec.restartPolicy"], ""),
    ("spec.schedulerName", &["spec.schedulerName"], ""),
    ("spec.serviceAccountName", &["spec.serviceAccountName"], ""),
    ("spec.hostNetwork", &["spec.hostNetwork"], "false"),
    ("status.phase", &["status.phase"], ""),
    ("status.podIP", &["status.podIPs.0.ip", "status.podIP"], ""),
    // It is accepted, and no Pod has it.
    ("status.podIPs", &[], ""),
    ("status.nominatedNodeName", &["status.nominatedNodeName"], ""),
];

/// Events are kept in the form of the core group.
const CORE_EVENTS: &[Known] = &[
    ("involvedObject.kind", &["involvedObject.kind"], ""),
    ("involvedObject.namespace", &["involvedObject.namespace"], ""),
    ("involvedObject.name", &["involvedObject.name"], ""),
    ("involvedObject.uid", &["involvedObject.uid"], ""),
    ("involvedObject.apiVersion", &["involvedObject.apiVersion"], ""),
    ("involvedObject.resourceVersion", &["involvedObject.resourceVersion"], ""),
    ("involvedObject.fieldPath", &["involvedObject.fieldPath"], ""),
    ("reason", &["reason"], ""),
    ("reportingComponent", &["reportingComponent"], ""),
    ("source", &["source.component", "reportingComponent"], ""),
    ("type", &["type"], ""),
];

const EVENTS: &[Known] = &[
    ("reason", &["reason"], ""),
    ("regarding.kind", &["involvedObject.kind"], ""),
    ("regarding.namespace", &["involvedObject.namespace"], ""),
    ("regarding.name", &["involvedObject.name"], ""),
    ("regarding.uid", &["involvedObject.uid"], ""),
    ("regarding.apiVersion", &["involvedObject.apiVersion"], ""),
    ("regarding.resourceVersion", &["involvedObject.resourceVersion"], ""),
    ("regarding.fieldPath", &["involvedObject.fieldPath"], ""),
    ("reportingController", &["reportingComponent"], ""),
    ("type", &["type"], ""),
];
