//! A document of version 3.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{
    content::{content, responses},
    custom,
    definitions::{self, Definitions},
    naming::{capital, short},
    paths::{self, information},
    place::is_custom,
};
use crate::{
    discovery::{self, Group},
    resource::{Origin, Resources},
};

/// Paths without a group.
pub(super) const INFORMATION: [&str; 5] =
    [OPENID_CONFIGURATION, "api", "apis", OPENID_KEYS, "version"];
const OPENID_CONFIGURATION: &str = ".well-known/openid-configuration";
const OPENID_KEYS: &str = "openid/v1/jwks";
const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.";
const VERSION: &str = "io.k8s.apimachinery.pkg.version.Info";
/// Groups whose kinds the definitions of custom types do not name.
const NOT_OF_CUSTOM: [&str; 4] =
    ["admission.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "imagepolicy.k8s.io"];

/// The document behind `/openapi/v3/{path}`; `None` where there is none.
pub(crate) fn document(resources: &Resources, path: &str) -> Option<String> {
    let text = definitions::text();
    let definitions = Definitions::new(&text);
    let segments: Vec<&str> = path.split('/').collect();
    match segments.as_slice() {
        ["api" | "apis" | "version"]
        | ["apis", _]
        | [".well-known", "openid-configuration"]
        | ["openid", "v1", "jwks"] => {
            let (path, item) = information_path(resources, path)?;
            Some(assemble(&definitions, &json!({ path: item }), &BTreeMap::new(), &|_, _| true))
        }
        ["api", version] => of_version(&definitions, resources, &discovery::core()?, version),
        ["apis", group, version] => {
            of_version(&definitions, resources, &discovery::find(resources, group)?, version)
        }
        _ => None,
    }
}

/// The definitions of the custom types of a group version, by their names.
pub(super) fn custom_definitions(
    definitions: &Definitions<'_>,
    resources: &Resources,
    group: &str,
    version: &str,
) -> BTreeMap<String, Value> {
    let mut schemas = BTreeMap::new();
    for resource in resources.of_group_version(group, version) {
        if let Origin::Custom(custom) = &resource.origin {
            schemas.insert(custom::name(resource), custom::object(definitions, resource, custom));
            schemas
                .insert(custom::list_name(resource), custom::list(definitions, resource, custom));
        }
    }
    schemas
}

fn of_version(
    definitions: &Definitions<'_>,
    resources: &Resources,
    group: &Group,
    version: &str,
) -> Option<String> {
    let listed = group.version(version)?;
    let paths = paths::paths(definitions, resources, &group.name, listed);
    let custom = custom_definitions(definitions, resources, &group.name, version);
    let is_custom = !custom.is_empty();
    let shows = |kind_group: &str, kind_version: &str| {
        if is_custom {
            !NOT_OF_CUSTOM.contains(&kind_group)
        } else {
            (kind_group, kind_version) == (&*group.name, version)
                || (kind_group, kind_version) == ("", "v1")
        }
    };
    Some(assemble(definitions, &Value::Object(paths), &custom, &shows))
}

/// The paths that tell of groups, and that of the version.
pub(super) fn information_paths(resources: &Resources) -> Map<String, Value> {
    let groups =
        discovery::others(resources).into_iter().map(|group| format!("apis/{}", group.name));
    let all = INFORMATION.map(str::to_owned).into_iter().chain(groups);
    all.filter_map(|path| information_path(resources, &path)).collect()
}

fn information_path(resources: &Resources, path: &str) -> Option<(String, Value)> {
    let versions = "get available API versions";
    let meta = |kind: &str| format!("{META}{kind}");
    let item = match path {
        "api" => information("core", versions, "getCoreAPIVersions", &meta("APIVersions"), false),
        "apis" => information("apis", versions, "getAPIVersions", &meta("APIGroupList"), false),
        "version" => {
            let what = "get the version information for this server";
            information("version", what, "getCodeVersion", VERSION, true)
        }
        OPENID_CONFIGURATION => issuer(
            "WellKnown",
            "get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'",
            "getServiceAccountIssuerOpenIDConfiguration",
            "application/json",
        ),
        OPENID_KEYS => issuer(
            "openid",
            "get service account issuer OpenID JSON Web Key Set (contains public token verification keys)",
            "getServiceAccountIssuerOpenIDKeyset",
            "application/jwk-set+json",
        ),
        _ => {
            let group = path.strip_prefix("apis/")?;
            let known = discovery::find(resources, group)?.versions;
            known.iter().any(|it| !is_custom(resources, group, &it.version)).then_some(())?;
            let tag = short(group);
            let id = format!("get{}APIGroup", capital(&tag));
            information(&tag, "get information of a group", &id, &meta("APIGroup"), false)
        }
    };
    Some((format!("/{path}/"), item))
}

/// A path of the issuer of tokens.
fn issuer(tag: &str, description: &str, id: &str, media: &str) -> Value {
    let answer = content(&[media], &json!({ "type": "string" }));
    json!({ "get": {
        "tags": [tag],
        "description": description,
        "operationId": id,
        "responses": responses(vec![("200", "OK", answer)]),
    }})
}

fn assemble(
    definitions: &Definitions<'_>,
    paths: &Value,
    custom: &BTreeMap<String, Value>,
    shows: &dyn Fn(&str, &str) -> bool,
) -> String {
    let paths = paths.to_string();
    let custom: Vec<String> =
        custom.iter().map(|(name, schema)| format!("\"{name}\":{schema}")).collect();
    let reached = definitions.reached(&[&*paths, &custom.join(",")].concat());
    let built_in =
        reached.iter().map(|name| format!("\"{name}\":{}", definitions.shown(name, shows)));
    let schemas: Vec<String> = built_in.chain(custom.iter().cloned()).collect();
    let (title, version, security) = if custom.is_empty() {
        let scheme = bearer_token();
        ("Kubernetes", "1.37", format!("\"securitySchemes\":{{\"BearerToken\":{scheme}}}"))
    } else {
        ("Kubernetes CRD Swagger", "v0.1.0", String::new())
    };
    let info = json!({ "title": title, "version": version });
    let schemas = match schemas.join(",") {
        none if none.is_empty() => none,
        some => format!("\"schemas\":{{{some}}}"),
    };
    let comma = if schemas.is_empty() || security.is_empty() { "" } else { "," };
    format!(
        "{{\"openapi\":\"3.0.0\",\"info\":{info},\"paths\":{paths},\
         \"components\":{{{schemas}{comma}{security}}}}}"
    )
}

/// How clients prove who they are.
pub(super) fn bearer_token() -> Value {
    json!({
        "type": "apiKey",
        "description": "Bearer Token authentication",
        "name": "authorization",
        "in": "header",
    })
}
