//! The keys that identify the items of lists in Kubernetes' own types: `patchMergeKey` of the API.
//!
//! The differ reads the keys of a list from the managed fields of an object. What handlers and users write has
//! none. The table is held against the types of Kubernetes in a test.

/// The lists of a type that merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ListKeys {
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Each list is one value.
    None,
    /// A Pod, or what has a Pod template.
    WithPod,
    Service,
    ServiceAccount,
    /// A configuration of webhooks, or a policy that validates.
    Admission,
    MutatingPolicy,
    /// Only its metadata have such lists.
    Other,
}

/// How the items of a list are identified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Items {
    /// By this field; and by a further one where the override has it, with its default.
    Keyed { key: &'static str, further: Option<(&'static str, &'static str)> },
    /// Each value once.
    Set,
}

const KINDS_WITH_PODS: [&str; 9] = [
    "Pod",
    "PodTemplate",
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "ReplicaSet",
    "ReplicationController",
    "Job",
    "CronJob",
];

const OF_PODS: [(&str, &str); 15] = [
    ("containers", "name"),
    ("initContainers", "name"),
    ("ephemeralContainers", "name"),
    ("env", "name"),
    ("ports", "containerPort"),
    ("volumeMounts", "mountPath"),
    ("volumeDevices", "devicePath"),
    ("volumes", "name"),
    ("imagePullSecrets", "name"),
    ("hostAliases", "ip"),
    ("topologySpreadConstraints", "topologyKey"),
    ("schedulingGates", "name"),
    ("resourceClaims", "name"),
    ("evictionResponders", "name"),
    ("ownerReferences", "uid"),
];

const OF_ADMISSION: [(&str, &str); 4] = [
    ("webhooks", "name"),
    ("matchConditions", "name"),
    ("variables", "name"),
    ("ownerReferences", "uid"),
];

impl ListKeys {
    pub(super) fn none() -> Self {
        Self { kind: Kind::None }
    }

    pub(super) fn of_pod_template() -> Self {
        Self { kind: Kind::WithPod }
    }

    /// Those of a type of Kubernetes itself.
    pub(super) fn of_kind(kind: &str) -> Self {
        let kind = match kind {
            "Service" => Kind::Service,
            "ServiceAccount" => Kind::ServiceAccount,
            kind if KINDS_WITH_PODS.contains(&kind) => Kind::WithPod,
            "MutatingAdmissionPolicy" => Kind::MutatingPolicy,
            "MutatingWebhookConfiguration"
            | "ValidatingWebhookConfiguration"
            | "ValidatingAdmissionPolicy" => Kind::Admission,
            _ => Kind::Other,
        };
        Self { kind }
    }

    /// How the items of a list are identified, by the names of the fields that lead to it; `None` if the list is
    /// one value.
    pub(super) fn of(self, fields: &[&str]) -> Option<Items> {
        let name = *fields.last()?;
        if self.kind == Kind::None {
            return None;
        }
        if fields.ends_with(&["metadata", "finalizers"]) {
            return Some(Items::Set);
        }
        let key = match self.kind {
            Kind::None => None,
            // They are one value as a whole, and so is what they hold.
            Kind::WithPod if fields.contains(&"volumeClaimTemplates") => None,
            Kind::WithPod => of_table(&OF_PODS, name),
            Kind::Service => of_table(&[("ports", "port"), ("ownerReferences", "uid")], name),
            Kind::ServiceAccount => {
                of_table(&[("secrets", "name"), ("ownerReferences", "uid")], name)
            }
            Kind::Admission => of_table(&OF_ADMISSION, name),
            Kind::MutatingPolicy => {
                of_table(&[("matchConditions", "name"), ("ownerReferences", "uid")], name)
            }
            Kind::Other => of_table(&[("ownerReferences", "uid")], name),
        };
        let further = match key? {
            "containerPort" | "port" => Some(("protocol", "TCP")),
            "topologyKey" => Some(("whenUnsatisfiable", "DoNotSchedule")),
            _ => None,
        };
        Some(Items::Keyed { key: key?, further })
    }
}

fn of_table(table: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    table.iter().find(|(field, _)| *field == name).map(|(_, key)| *key)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use serde_json::Value;

    use super::*;

    /// The types that the embedded API server has from the published modules of Kubernetes.
    fn types() -> Value {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("apiserver/data/builtin.json");
        serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
    }

    /// Walks the fields of a type, without its status, and compares each list.
    fn walk<'a>(
        types: &'a Value,
        ty: &'a str,
        keys: ListKeys,
        path: &mut Vec<&'a str>,
        seen: &mut BTreeSet<(&'a str, &'a str)>,
    ) {
        for (name, field) in types[ty]["fields"].as_object().into_iter().flatten() {
            if path.len() > 9 || (path.is_empty() && name == "status") {
                continue;
            }
            path.push(name);
            let ty = field["t"].as_str().unwrap_or_default();
            let is_merged = field["ps"].as_str().is_some_and(|it| it.starts_with("merge"));
            if ty.trim_start_matches('*').starts_with("[]") {
                let expected = match field["pk"].as_str() {
                    Some(key) if is_merged => Some(key),
                    _ => None,
                };
                let found = match keys.of(path) {
                    Some(Items::Keyed { key, .. }) => Some(key),
                    Some(Items::Set) => {
                        assert!(is_merged, "{path:?}");
                        None
                    }
                    None => None,
                };
                assert_eq!(found, expected, "{path:?}");
                seen.extend(expected.map(|key| (&**name, key)));
            }
            // What an atomic list holds is never merged.
            let is_list = ty.contains("[]");
            if let Some((_, inner)) = ty.split_once('#').filter(|_| !is_list || is_merged) {
                walk(types, inner, keys, path, seen);
            }
            path.pop();
        }
    }

    #[test]
    fn the_keys_are_those_of_the_types_of_kubernetes() {
        let data = types();
        let mut seen = BTreeSet::new();
        for resource in data["resources"].as_array().unwrap() {
            let [kind, ty] = ["kind", "type"].map(|name| resource[name].as_str().unwrap());
            // Written by others than operators.
            if ["Node", "CSINode", "CustomResourceDefinition"].contains(&kind) {
                continue;
            }
            walk(&data["types"], ty, ListKeys::of_kind(kind), &mut Vec::new(), &mut seen);
        }
        let template = "core.v1.PodTemplateSpec";
        walk(&data["types"], template, ListKeys::of_pod_template(), &mut Vec::new(), &mut seen);
        for known in OF_PODS.iter().chain(&OF_ADMISSION) {
            assert!(seen.contains(known), "{known:?}");
        }
    }
}
