//! What the generated roles grant, one verb on one resource at a time, and which of it a request needs. Pure.

use std::{collections::BTreeSet, fmt};

use http::{Method, StatusCode, Uri};
use operetta::{cli::permissions, manifests::Account};
use serde_json::{Value, json};

/// One verb on one resource of one API group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Grant {
    group: String,
    /// With its subresource, such as `deployments/scale`.
    resource: String,
    verb: String,
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { group, resource, verb } = self;
        let dot = if group.is_empty() { "" } else { "." };
        write!(f, "{verb} {resource}{dot}{group}")
    }
}

impl Grant {
    /// Whether only the admission plugin `OwnerReferencesPermissionEnforcement` asks for it, which the embedded
    /// server does not have.
    pub(super) fn is_of_owner_references(&self) -> bool {
        self.resource.ends_with("/finalizers")
    }

    /// The verb, and the subresource; empty for none.
    pub(super) fn kind(&self) -> (String, String) {
        let subresource = self.resource.split_once('/').map_or("", |(_, subresource)| subresource);
        (self.verb.clone(), subresource.to_owned())
    }

    /// What a review asks about it.
    pub(super) fn attributes(&self, namespace: &str) -> Value {
        let Self { group, resource, verb } = self;
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        json!({
            "group": group, "resource": resource, "subresource": subresource, "verb": verb,
            "namespace": namespace,
        })
    }

    fn rule(&self) -> Value {
        let Self { group, resource, verb } = self;
        json!({"apiGroups": [group], "resources": [resource], "verbs": [verb]})
    }
}

/// The generated manifests.
pub(super) fn manifests() -> Vec<Value> {
    let account = Account::new(operators::NAME, operators::NAMESPACE);
    let manifests = permissions(&operators::all()).unwrap().manifests(&account);
    manifests.iter().map(|manifest| serde_json::to_value(manifest).unwrap()).collect()
}

/// The generated manifests, whose roles do not have these grants.
pub(super) fn manifests_without(removed: &[Grant]) -> Vec<Value> {
    let mut manifests = manifests();
    for rules in manifests.iter_mut().filter_map(|it| it.get_mut("rules")?.as_array_mut()) {
        let (about_resources, others): (Vec<_>, Vec<_>) =
            rules.drain(..).partition(|rule| rule["resources"].is_array());
        let kept = about_resources.iter().flat_map(grants_of_rule);
        let kept = kept.filter(|grant| !removed.contains(grant)).map(|grant| grant.rule());
        *rules = kept.chain(others).collect();
    }
    manifests
}

/// The grants of each rule about resources, in the roles of the operators' account.
pub(super) fn rules() -> Vec<Vec<Grant>> {
    let manifests = manifests();
    let of_account = manifests.iter().filter(|it| !is_of_users(it));
    let rules = of_account.filter_map(|it| it["rules"].as_array()).flatten();
    rules.map(grants_of_rule).filter(|grants| !grants.is_empty()).collect()
}

/// Whether a role is for users of the web endpoint.
pub(super) fn is_of_users(role: &Value) -> bool {
    let is_of_endpoint = |rule: &Value| {
        let resource = rule["resources"][0].as_str().unwrap_or_default();
        rule["nonResourceURLs"].is_array() || resource.ends_with("/operetta")
    };
    role["rules"].as_array().is_some_and(|rules| rules.iter().any(is_of_endpoint))
}

fn grants_of_rule(rule: &Value) -> Vec<Grant> {
    let texts = |name: &str| -> Vec<String> {
        let texts = rule[name].as_array().into_iter().flatten();
        texts.map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let mut grants = Vec::new();
    for group in texts("apiGroups") {
        for resource in texts("resources") {
            grants.extend(texts("verbs").into_iter().map(|verb| Grant {
                group: group.clone(),
                resource: resource.clone(),
                verb,
            }));
        }
    }
    grants
}

/// The grants that an allowed request needed; none for paths that are no resources.
pub(super) fn needed_by(method: &Method, uri: &Uri, code: StatusCode) -> BTreeSet<Grant> {
    let Some((group, resource, is_named)) = about(uri.path()) else { return BTreeSet::new() };
    let is_watch =
        uri.query().is_some_and(|query| query.contains("watch=1") || query.contains("watch=true"));
    let verb = match *method {
        Method::GET if is_watch => "watch",
        Method::GET if is_named => "get",
        Method::GET => "list",
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        _ => panic!("the operators send no {method}"),
    };
    // A server-side apply that creates needs both.
    let creates = *method == Method::PATCH && code == StatusCode::CREATED;
    let verbs = [Some(verb), creates.then_some("create")].into_iter().flatten();
    let grant = |verb: &str| Grant {
        group: group.to_owned(),
        resource: resource.clone(),
        verb: verb.to_owned(),
    };
    verbs.map(grant).collect()
}

/// Group and resource of a path, and whether it names an object.
fn about(path: &str) -> Option<(&str, String, bool)> {
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let (group, rest) = match *parts.as_slice() {
        ["api", _, ref rest @ ..] => ("", rest),
        ["apis", group, _, ref rest @ ..] => (group, rest),
        _ => return None,
    };
    let rest = match *rest {
        ["namespaces", _, ref within @ ..] if !within.is_empty() => within,
        ref other => other,
    };
    match *rest {
        [plural] => Some((group, plural.to_owned(), false)),
        [plural, _] => Some((group, plural.to_owned(), true)),
        [plural, _, subresource] => Some((group, format!("{plural}/{subresource}"), true)),
        _ => None,
    }
}
