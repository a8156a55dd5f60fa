//! A document of version 3.

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::{Map, Value, json};

use super::{
    content::{content, responses},
    custom::{self, CustomDefinition},
    definitions::{self, Definitions},
    naming::{capital, short},
    paths::{self, information},
    place::is_custom,
};
use crate::{
    discovery::{self, Group},
    published::Draft,
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

/// Writes the document behind `/openapi/v3/{path}`; `None` where there is none.
pub(crate) fn document(resources: &Resources, path: &str, draft: &mut Draft) -> Option<()> {
    let text = definitions::text();
    let definitions = Definitions::new(&text);
    let segments: Vec<&str> = path.split('/').collect();
    match segments.as_slice() {
        ["api" | "apis" | "version"]
        | ["apis", _]
        | [".well-known", "openid-configuration"]
        | ["openid", "v1", "jwks"] => {
            let (path, item) = information_path(resources, path)?;
            assemble(&definitions, &json!({ path: item }), &[], &|_, _| true, draft);
            Some(())
        }
        ["api", version] => {
            of_version(&definitions, resources, (&discovery::core()?, version), draft)
        }
        ["apis", group, version] => {
            let group = discovery::find(resources, group)?;
            of_version(&definitions, resources, (&group, version), draft)
        }
        _ => None,
    }
}

/// The definitions of the custom types of a group version, by their names.
pub(super) fn custom_definitions<'r>(
    resources: &'r Resources,
    group: &str,
    version: &str,
) -> BTreeMap<String, CustomDefinition<'r>> {
    let of_version = resources.of_group_version(group, version);
    let custom = of_version.filter_map(|resource| match &resource.origin {
        Origin::Custom(custom) => Some((&**resource, &**custom)),
        _ => None,
    });
    let both = |(resource, custom)| {
        let object = CustomDefinition { resource, custom, is_list: false };
        let list = CustomDefinition { is_list: true, ..object };
        [(custom::name(resource), object), (custom::list_name(resource), list)]
    };
    custom.flat_map(both).collect()
}

fn of_version(
    definitions: &Definitions<'_>,
    resources: &Resources,
    (group, version): (&Group, &str),
    draft: &mut Draft,
) -> Option<()> {
    let listed = group.version(version)?;
    let paths = paths::paths(definitions, resources, &group.name, listed);
    let custom = custom_definitions(resources, &group.name, version);
    let text = |(name, it): (&String, &CustomDefinition<'_>)| {
        format!("\"{name}\":{}", it.schema(definitions))
    };
    let custom: Vec<String> = custom.iter().map(text).collect();
    let is_custom = !custom.is_empty();
    let shows = |kind_group: &str, kind_version: &str| {
        if is_custom {
            !NOT_OF_CUSTOM.contains(&kind_group)
        } else {
            (kind_group, kind_version) == (&*group.name, version)
                || (kind_group, kind_version) == ("", "v1")
        }
    };
    assemble(definitions, &Value::Object(paths), &custom, &shows, draft);
    Some(())
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
    custom: &[String],
    shows: &dyn Fn(&str, &str) -> bool,
    draft: &mut Draft,
) {
    let paths = paths.to_string();
    let reached = definitions.reached(custom.iter().chain([&paths]));
    let built_in =
        reached.iter().map(|name| format!("\"{name}\":{}", definitions.shown(name, shows)));
    let (title, version, security) = if custom.is_empty() {
        let scheme = bearer_token();
        ("Kubernetes", "1.37", format!("\"securitySchemes\":{{\"BearerToken\":{scheme}}}"))
    } else {
        ("Kubernetes CRD Swagger", "v0.1.0", String::new())
    };
    let info = json!({ "title": title, "version": version });
    draft.push(format!(
        "{{\"openapi\":\"3.0.0\",\"info\":{info},\"paths\":{paths},\"components\":{{"
    ));
    let mut schemas =
        built_in.map(Cow::Owned).chain(custom.iter().map(|it| Cow::Borrowed(&**it))).peekable();
    let comma = if schemas.peek().is_none() || security.is_empty() { "" } else { "," };
    if schemas.peek().is_some() {
        draft.push("\"schemas\":{");
        draft.push_list(schemas);
        draft.push("}");
    }
    draft.push(format!("{comma}{security}}}}}"));
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
