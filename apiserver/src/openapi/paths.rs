//! The paths of a group version, with the parameters that all operations of a path have.

use serde_json::{Map, Value, json};

use super::{
    content::{content, reference, responses},
    custom,
    definitions::Definitions,
    naming::{capital, short, tag},
    operation::{Operation, Subject},
    parameter,
    place::group_version_path,
};
use crate::{
    discovery::{Kind, Listed, ListedVersion, Subresource},
    resource::Resources,
    write,
};

const RESOURCE_LIST: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.APIResourceList";

/// The paths of one version of a group.
pub(super) fn paths(
    definitions: &Definitions<'_>,
    resources: &Resources,
    group: &str,
    version: &ListedVersion,
) -> Map<String, Value> {
    let root = format!("/{}", group_version_path(group, &version.version));
    let mut paths = Map::new();
    for listed in &version.resources {
        let subject = subject(definitions, resources, group, &version.version, listed);
        if !subject.is_custom {
            let path = (format!("{root}/"), resource_list(group, &version.version));
            paths.extend([path]);
        }
        add(&mut paths, &root, &subject);
    }
    paths
}

/// A path that lists groups and versions.
pub(super) fn information(
    tag: &str,
    description: &str,
    id: &str,
    definition: &str,
    is_plain: bool,
) -> Value {
    let all = ["application/json", "application/vnd.kubernetes.protobuf", "application/yaml"];
    let media: &[_] = if is_plain { &all[..1] } else { &all };
    let answer = content(media, &reference(definition));
    json!({ "get": {
        "tags": [tag],
        "description": description,
        "operationId": id,
        "responses": responses(vec![("200", "OK", answer)]),
    }})
}

fn resource_list(group: &str, version: &str) -> Value {
    let id = format!("get{}{}APIResources", capital(&short(group)), capital(version));
    information(&tag(group, version), "get available resources", &id, RESOURCE_LIST, false)
}

fn subject<'a>(
    definitions: &'a Definitions<'a>,
    resources: &Resources,
    group: &'a str,
    version: &'a str,
    listed: &'a Listed,
) -> Subject<'a> {
    let resource = resources.by_path(group, version, &listed.plural);
    let is_custom = resource.is_some_and(|resource| resource.is_custom());
    let kind = &listed.response_kind.kind;
    let [definition, list_definition] = if let Some(resource) = resource.filter(|_| is_custom) {
        [custom::name(resource), custom::list_name(resource)]
    } else {
        let name = definitions.of_kind(group, version, kind).unwrap_or_default();
        [name.to_owned(), format!("{name}List")]
    };
    // That a namespace comes back is not declared.
    let returns_deleted =
        kind != "Namespace" && resource.is_some_and(|resource| write::returns_deleted(resource));
    Subject {
        definitions,
        group,
        version,
        listed,
        is_custom,
        definition,
        list_definition,
        returns_deleted,
    }
}

fn add(paths: &mut Map<String, Value>, root: &str, subject: &Subject<'_>) {
    let plural = &subject.listed.plural;
    let is_namespaced = subject.listed.is_namespaced();
    let within = if is_namespaced { "namespaces/{namespace}/" } else { "" };
    let collection = format!("{root}/{within}{plural}");
    let object = format!("{collection}/{{name}}");
    let kind = &subject.listed.response_kind;
    let mut put = |path: String, operations: Vec<Operation>, named: Option<&Kind>| {
        if !operations.is_empty() {
            let item = item(operations, named.map(|kind| &*kind.kind), &path);
            paths.insert(path, item);
        }
    };
    put(collection, subject.on_collection(), None);
    put(object.clone(), subject.on_object(), Some(kind));
    if is_namespaced && subject.listed.has("list") {
        put(format!("{root}/{plural}"), subject.in_all_namespaces(), None);
    }
    if subject.listed.has("watch") && !subject.is_custom {
        put(format!("{root}/watch/{within}{plural}"), subject.watch_list(false), None);
        put(format!("{root}/watch/{within}{plural}/{{name}}"), subject.watch_object(), Some(kind));
        if is_namespaced {
            put(format!("{root}/watch/{plural}"), subject.watch_list(true), None);
        }
    }
    for subresource in &subject.listed.subresources {
        let Subresource { name, response_kind, .. } = subresource;
        let kind = if subject.is_custom { kind } else { response_kind };
        put(format!("{object}/{name}"), subject.on_subresource(subresource), Some(kind));
        if name == "proxy" {
            put(
                format!("{object}/{name}/{{path}}"),
                subject.connect(subresource, true),
                Some(kind),
            );
        }
    }
}

/// The operations of a path; what all of them take is said once.
fn item(mut operations: Vec<Operation>, named: Option<&str>, path: &str) -> Value {
    for operation in &mut operations {
        operation.parameters.extend(named.map(parameter::name));
        operation.parameters.extend(path.contains("{namespace}").then(parameter::namespace));
        operation.parameters.extend(path.ends_with("{path}").then(parameter::rest));
        operation.parameters.sort_by_key(parameter::order);
    }
    let is_common =
        |it: &Value| operations.iter().all(|operation| operation.parameters.contains(it));
    let first = operations.first().map(|operation| operation.parameters.as_slice());
    let common: Vec<Value> =
        first.unwrap_or_default().iter().filter(|it| is_common(it)).cloned().collect();
    let mut item = Map::new();
    for Operation { method, parameters, mut value } in operations {
        let own: Vec<_> = parameters.into_iter().filter(|it| !common.contains(it)).collect();
        if !own.is_empty() {
            value["parameters"] = json!(own);
        }
        item.insert(method.to_owned(), value);
    }
    item.insert("parameters".to_owned(), json!(common));
    Value::Object(item)
}
