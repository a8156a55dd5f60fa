//! What a request is about, as far as authorization is concerned.

use http::Method;

use crate::{group_resource::GroupResource, query::Query};

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attributes {
    /// The verb: that of Kubernetes for resources, that of HTTP for other paths.
    pub verb: String,
    /// With what.
    pub target: Target,
}

/// What it is done with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A resource.
    Resource(ResourceTarget),
    /// Another path.
    Path(String),
}

/// A resource, or a part of it; what is empty is not given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ResourceTarget {
    /// The group.
    pub group: String,
    /// The plural.
    pub resource: String,
    /// The subresource.
    pub subresource: String,
    /// The namespace.
    pub namespace: String,
    /// The name of an object.
    pub name: String,
}

impl Attributes {
    /// What a request is about.
    pub(crate) fn of(method: &Method, path: &str, query: &Query) -> Self {
        let path = percent_encoding::percent_decode_str(path).decode_utf8_lossy();
        let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
        let (group, rest) = match segments.as_slice() {
            ["api", _, rest @ ..] if !rest.is_empty() => ("", rest),
            ["apis", group, _, rest @ ..] if !rest.is_empty() => (*group, rest),
            _ => {
                let verb = method.as_str().to_lowercase();
                return Self { verb, target: Target::Path(path.into_owned()) };
            }
        };
        let (special, rest) = match rest {
            [verb @ ("watch" | "proxy"), rest @ ..] if !rest.is_empty() => (Some(*verb), rest),
            _ => (None, rest),
        };
        let mut target = resource(group, rest, special != Some("proxy"));
        let verb = special.unwrap_or_else(|| verb(method, &mut target, query));
        Self { verb: verb.to_owned(), target: Target::Resource(target) }
    }

    /// A verb on a resource.
    pub(crate) fn resource(verb: &str, target: ResourceTarget) -> Self {
        Self { verb: verb.to_owned(), target: Target::Resource(target) }
    }

    /// The namespace; empty for none.
    pub(crate) fn namespace(&self) -> &str {
        match &self.target {
            Target::Resource(target) => &target.namespace,
            Target::Path(_) => "",
        }
    }
}

impl ResourceTarget {
    /// The resource without what is in it.
    pub(crate) fn group_resource(&self) -> GroupResource {
        GroupResource::new(self.group.as_str(), self.resource.as_str())
    }

    /// `pods/log`, or the plural alone.
    pub(crate) fn full_name(&self) -> String {
        match self.subresource.as_str() {
            "" => self.resource.clone(),
            subresource => format!("{}/{subresource}", self.resource),
        }
    }
}

fn resource(group: &str, rest: &[&str], has_subresource: bool) -> ResourceTarget {
    // A namespace is within itself.
    let (namespace, rest) = match rest {
        ["namespaces", namespace] | ["namespaces", namespace, "status" | "finalize", ..] => {
            (*namespace, rest)
        }
        ["namespaces", namespace, rest @ ..] => (*namespace, rest),
        _ => ("", rest),
    };
    let at = |index: usize| rest.get(index).copied().unwrap_or_default().to_owned();
    ResourceTarget {
        group: group.to_owned(),
        resource: at(0),
        subresource: if has_subresource { at(2) } else { String::new() },
        namespace: namespace.to_owned(),
        name: at(1),
    }
}

fn verb(method: &Method, target: &mut ResourceTarget, query: &Query) -> &'static str {
    match method.as_str() {
        "GET" | "HEAD" if !target.name.is_empty() => "get",
        "GET" | "HEAD" => {
            selected_name(query).unwrap_or_default().clone_into(&mut target.name);
            if query.flag("watch") { "watch" } else { "list" }
        }
        "POST" => "create",
        "PUT" => "update",
        "PATCH" => "patch",
        "DELETE" if target.name.is_empty() => "deletecollection",
        "DELETE" => "delete",
        _ => "",
    }
}

/// The name of the only object that a list can contain.
fn selected_name(query: &Query) -> Option<&str> {
    let selector = query.text("fieldSelector")?;
    let mut parts = selector.split(',');
    parts.find_map(|part| {
        let value = part.trim().strip_prefix("metadata.name=")?;
        let name = value.strip_prefix('=').unwrap_or(value);
        let is_name = !matches!(name, "" | "." | "..") && !name.contains(['/', '%']);
        is_name.then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(method: &str, uri: &str) -> String {
        let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
        let method = method.parse().unwrap();
        let attributes = Attributes::of(&method, path, &Query::parse(query));
        let verb = attributes.verb;
        match attributes.target {
            Target::Path(path) => format!("{verb} {path}"),
            Target::Resource(it) => {
                let full = it.full_name();
                format!("{verb} {full}.{} {}/{}", it.group, it.namespace, it.name)
            }
        }
    }

    #[test]
    fn a_request_is_about_a_resource_or_a_path() {
        for (method, uri, expected) in [
            ("GET", "/healthz", "get /healthz"),
            ("HEAD", "/apis/apps/v1", "head /apis/apps/v1"),
            ("GET", "/api/v1/", "get /api/v1/"),
            ("POST", "/api/v1/namespaces", "create namespaces. /"),
            ("GET", "/api/v1/namespaces/a", "get namespaces. a/a"),
            ("PUT", "/api/v1/namespaces/a/finalize", "update namespaces/finalize. a/a"),
            ("GET", "/api/v1/pods?watch=true", "watch pods. /"),
            ("GET", "/api/v1/watch/namespaces/a/pods", "watch pods. a/"),
            ("DELETE", "/api/v1/namespaces/a/pods", "deletecollection pods. a/"),
            (
                "GET",
                "/apis/apps/v1/namespaces/a/deployments/b/scale",
                "get deployments/scale.apps a/b",
            ),
            ("GET", "/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Db", "list pods. a/b"),
            ("OPTIONS", "/api/v1/pods", " pods. /"),
        ] {
            assert_eq!(shown(method, uri), expected, "{method} {uri}");
        }
    }
}
