//! The built-in types that the server offers, read once from the data file.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock},
};

use serde::Deserialize;

use super::{
    go_type::{GoStruct, Structs},
    open_api,
};
use crate::schema::{
    Schema,
    name_rule::{self, NameRule},
};

/// One built-in resource type.
#[expect(clippy::struct_excessive_bools, reason = "a type has or has not, each on its own")]
#[derive(Debug)]
pub struct BuiltinType {
    /// The API group; empty for the core group.
    pub group: &'static str,
    /// The version.
    pub version: &'static str,
    /// The kind: `Pod`.
    pub kind: &'static str,
    /// The name in URLs: `pods`.
    pub plural: &'static str,
    /// The name of one: `pod`.
    pub singular: &'static str,
    /// The short names: `po`.
    pub short_names: Vec<&'static str>,
    /// The categories: `all`.
    pub categories: Vec<&'static str>,
    /// Whether objects live in a namespace.
    pub namespaced: bool,
    /// The verbs that discovery lists.
    pub verbs: Vec<&'static str>,
    /// All subresources that the real server has; those not served here are for the caller to drop.
    pub subresources: Vec<&'static str>,
    /// Whether there is a status subresource.
    pub has_status: bool,
    /// Whether there is a scale subresource.
    pub has_scale: bool,
    /// Whether `metadata.generation` is counted.
    pub has_generation: bool,
    /// What objects look like.
    pub schema: Arc<Schema>,
    /// The Go struct of the object.
    pub(crate) root: &'static str,
}

/// A kind that travels without being a resource: `Status`, reviews, options.
#[derive(Debug, Deserialize)]
pub(crate) struct Message {
    #[serde(default)]
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    pub(crate) kind: &'static str,
    /// Its Go struct.
    #[serde(rename = "type")]
    pub(crate) root: &'static str,
}

/// The Kubernetes version that the data was taken from.
pub fn kubernetes_version() -> &'static str {
    CATALOG.version
}

/// All built-in types.
pub fn types() -> &'static [BuiltinType] {
    &CATALOG.types
}

/// The type with this group, version and kind.
pub fn find(group: &str, version: &str, kind: &str) -> Option<&'static BuiltinType> {
    types().iter().find(|ty| ty.group == group && ty.version == version && ty.kind == kind)
}

/// What names of objects of this type look like.
pub fn name_rule(ty: &BuiltinType) -> NameRule {
    match (ty.group, ty.kind) {
        ("", "Namespace" | "Service") | ("apps", "StatefulSet") => name_rule::dns_label,
        ("rbac.authorization.k8s.io" | "apiregistration.k8s.io", _)
        | ("policy", "PodDisruptionBudget") => name_rule::path_segment,
        _ => name_rule::dns_subdomain,
    }
}

/// The name of the struct of objects with this `apiVersion` and kind.
pub(crate) fn root_of(api_version: &str, kind: &str) -> Option<&'static str> {
    let wanted = api_version.split_once('/').unwrap_or(("", api_version));
    let versions = CATALOG.roots.get(kind)?;
    versions.iter().find(|(version, _)| *version == wanted).map(|(_, root)| *root)
}

/// One struct, by the name that another refers to it with.
pub(crate) fn go_struct(name: &str) -> &'static GoStruct {
    CATALOG.structs.get(name).expect("the data file has every struct that it refers to")
}

/// All structs.
pub(crate) fn structs() -> &'static Structs {
    &CATALOG.structs
}

/// Kinds that travel without being resources.
pub(crate) fn messages() -> &'static [Message] {
    &CATALOG.messages
}

/// Kinds whose generation is set on create; it grows whenever the specification changes.
const COUNTED: &[(&str, &str)] = &[
    ("", "Pod"),
    ("", "PodTemplate"),
    ("", "ReplicationController"),
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("apps", "ReplicaSet"),
    ("apps", "StatefulSet"),
    ("autoscaling", "HorizontalPodAutoscaler"),
    ("batch", "CronJob"),
    ("batch", "Job"),
    ("networking.k8s.io", "Ingress"),
    ("networking.k8s.io", "IngressClass"),
    ("networking.k8s.io", "NetworkPolicy"),
    ("policy", "PodDisruptionBudget"),
    ("discovery.k8s.io", "EndpointSlice"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
    ("resource.k8s.io", "DeviceClass"),
    ("resource.k8s.io", "DeviceTaintRule"),
    ("resource.k8s.io", "ResourceSlice"),
];

/// What a scale looks like.
pub(crate) fn scale_schema() -> &'static Schema {
    &CATALOG.scale
}

/// What a request for a token looks like.
pub(crate) fn token_request_schema() -> &'static Schema {
    &CATALOG.token_request
}

/// For each kind its groups and versions, and their structs.
type Roots = HashMap<&'static str, Vec<((&'static str, &'static str), &'static str)>>;

struct Catalog {
    version: &'static str,
    scale: Arc<Schema>,
    token_request: Arc<Schema>,
    structs: Structs,
    types: Vec<BuiltinType>,
    messages: Vec<Message>,
    roots: Roots,
}

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
    let data: Data = serde_json::from_str(include_str!("../../data/builtin.json"))
        .expect("the data file is part of this program and tested with it");
    let schemas = open_api::schemas(&data.types);
    let types: Vec<_> = data.resources.into_iter().map(|r| r.into_type(&schemas)).collect();
    let roots = roots(&types, &data.messages);
    let scale = Arc::clone(&schemas["autoscaling.v1.Scale"]);
    let token_request = Arc::clone(&schemas["authentication.v1.TokenRequest"]);
    Catalog {
        version: data.version,
        scale,
        token_request,
        structs: data.types,
        types,
        messages: data.messages,
        roots,
    }
});

fn roots(types: &[BuiltinType], messages: &[Message]) -> Roots {
    let types = types.iter().map(|ty| (ty.group, ty.version, ty.kind, ty.root));
    let messages = messages.iter().map(|it| (it.group, it.version, it.kind, it.root));
    let mut roots = Roots::new();
    for (group, version, kind, root) in types.chain(messages) {
        roots.entry(kind).or_default().push(((group, version), root));
    }
    roots
}

#[derive(Deserialize)]
struct Data {
    version: &'static str,
    resources: Vec<Resource>,
    messages: Vec<Message>,
    types: Structs,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resource {
    #[serde(default)]
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    plural: &'static str,
    singular: &'static str,
    #[serde(default, borrow)]
    short_names: Vec<&'static str>,
    #[serde(default, borrow)]
    categories: Vec<&'static str>,
    #[serde(default)]
    namespaced: bool,
    #[serde(borrow)]
    verbs: Vec<&'static str>,
    #[serde(default, borrow)]
    subresources: Vec<&'static str>,
    #[serde(rename = "type")]
    root: &'static str,
}

impl Resource {
    fn into_type(self, schemas: &HashMap<&'static str, Arc<Schema>>) -> BuiltinType {
        BuiltinType {
            group: self.group,
            version: self.version,
            kind: self.kind,
            plural: self.plural,
            singular: self.singular,
            short_names: self.short_names,
            categories: self.categories,
            namespaced: self.namespaced,
            verbs: self.verbs,
            has_status: self.subresources.contains(&"status"),
            has_scale: self.subresources.contains(&"scale"),
            subresources: self.subresources,
            has_generation: COUNTED.contains(&(self.group, self.kind)),
            schema: Arc::clone(&schemas[self.root]),
            root: self.root,
        }
    }
}
