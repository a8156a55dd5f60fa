//! What discovery lists of a resource, as the aggregated form writes it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::resource::{Origin, Resource};

/// One version of a group.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct ListedVersion {
    pub(crate) version: Cow<'static, str>,
    pub(crate) resources: Vec<Listed>,
    #[serde(default = "current")]
    freshness: Cow<'static, str>,
}

/// One resource.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Listed {
    #[serde(rename = "resource")]
    pub(crate) plural: Cow<'static, str>,
    pub(crate) response_kind: Kind,
    pub(crate) scope: Cow<'static, str>,
    #[serde(rename = "singularResource")]
    pub(crate) singular: Cow<'static, str>,
    pub(crate) verbs: Vec<Cow<'static, str>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) short_names: Vec<Cow<'static, str>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) categories: Vec<Cow<'static, str>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) subresources: Vec<Subresource>,
}

/// The kind of an answer; built-in types leave out the group and version that they are listed in.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[expect(clippy::struct_field_names, reason = "it is what the aggregated form calls it")]
pub(crate) struct Kind {
    pub(crate) group: Cow<'static, str>,
    pub(crate) version: Cow<'static, str>,
    pub(crate) kind: Cow<'static, str>,
}

/// One subresource.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Subresource {
    #[serde(rename = "subresource")]
    pub(crate) name: Cow<'static, str>,
    pub(crate) response_kind: Kind,
    pub(crate) verbs: Vec<Cow<'static, str>>,
}

/// The verbs of custom resources, in the order of the real server.
const CUSTOM_VERBS: [&str; 8] =
    ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
/// The same of a type whose definition is being deleted.
const LAST_VERBS: [&str; 5] = ["delete", "deletecollection", "get", "list", "watch"];
const CHANGEABLE: [&str; 3] = ["get", "patch", "update"];

fn verbs(resource: &Resource) -> &'static [&'static str] {
    match &resource.origin {
        Origin::Custom(custom) if custom.is_terminating => &LAST_VERBS,
        _ => &CUSTOM_VERBS,
    }
}

fn current() -> Cow<'static, str> {
    "Current".into()
}

impl ListedVersion {
    /// A version of custom resources.
    pub(super) fn new(version: &str, resources: Vec<Listed>) -> Self {
        Self { version: version.to_owned().into(), resources, freshness: current() }
    }
}

impl Listed {
    /// A custom resource.
    pub(super) fn custom(resource: &Resource) -> Self {
        let kind = Kind::new(&resource.id.group, &resource.version, &resource.kind);
        let status = resource.has_status.then(|| Subresource::new("status", kind.clone()));
        let scale = Kind::new("autoscaling", "v1", "Scale");
        let scale = resource.has_scale().then(|| Subresource::new("scale", scale));
        let texts = |texts: &[String]| texts.iter().cloned().map(Cow::from).collect();
        Self {
            plural: resource.id.plural.clone().into(),
            response_kind: kind,
            scope: if resource.namespaced { "Namespaced" } else { "Cluster" }.into(),
            singular: resource.singular.clone().into(),
            verbs: verbs(resource).iter().copied().map(Cow::from).collect(),
            short_names: texts(&resource.short_names),
            categories: texts(&resource.categories),
            subresources: status.into_iter().chain(scale).collect(),
        }
    }

    pub(crate) fn is_namespaced(&self) -> bool {
        self.scope == "Namespaced"
    }

    pub(crate) fn has(&self, verb: &str) -> bool {
        self.verbs.iter().any(|known| known == verb)
    }
}

impl Subresource {
    fn new(name: &'static str, kind: Kind) -> Self {
        Self { name: name.into(), response_kind: kind, verbs: CHANGEABLE.map(Cow::from).to_vec() }
    }

    pub(crate) fn has(&self, verb: &str) -> bool {
        self.verbs.iter().any(|known| known == verb)
    }
}

impl Kind {
    fn new(group: &str, version: &str, kind: &str) -> Self {
        let owned = |text: &str| Cow::from(text.to_owned());
        Self { group: owned(group), version: owned(version), kind: owned(kind) }
    }
}
