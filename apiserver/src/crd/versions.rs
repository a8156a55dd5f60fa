//! The versions of a definition as resources.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use serde_json::{Value, json};

use super::conditions;
use crate::{
    cel,
    conversion::Converter,
    group_resource::GroupResource,
    resource::{Column, CustomType, Form, Forms, Origin, Resource, ScalePaths, Validators},
    schema::{LazySchema, PackedSchema, Schema},
    table,
};

/// The name of the version that objects are stored in.
pub(super) fn storage_name(definition: &Value) -> Option<String> {
    let mut versions = list(&definition["spec"]["versions"]);
    let storage = versions.find(|version| version["storage"] == true);
    storage.map(|version| text(&version["name"]))
}

/// Adds the storage version to those that objects may be stored in.
pub(super) fn note_storage(definition: &mut Value) {
    let Some(storage) = storage_name(definition) else { return };
    let stored = &mut definition["status"]["storedVersions"];
    match stored.as_array_mut() {
        Some(versions) if versions.iter().any(|version| *version == storage) => {}
        Some(versions) => versions.push(json!(storage)),
        None => *stored = json!([storage]),
    }
}

/// One resource per served version.
pub(crate) fn resources(name: &str, definition: &Value) -> Vec<Resource> {
    let spec = &definition["spec"];
    let versions: Vec<_> =
        list(&spec["versions"]).map(|version| (version, Declared::of(version))).collect();
    // One that is not served may be stored.
    let forms = versions.iter().map(|(version, declared)| {
        let api_version = format!("{}/{}", text(&spec["group"]), text(&version["name"]));
        (api_version, declared.form.clone())
    });
    let forms: Arc<Forms> = Arc::new(forms.collect());
    let served = versions.into_iter().filter(|(version, _)| version["served"] == true);
    served
        .map(|(version, declared)| resource(name, definition, (version, declared), &forms))
        .collect()
}

/// What a version declares.
struct Declared {
    packed: Arc<PackedSchema>,
    form: Form,
}

impl Declared {
    fn of(version: &Value) -> Self {
        let open_api = &version["schema"]["openAPIV3Schema"];
        let packed = Arc::new(PackedSchema::new(open_api));
        let schema = Arc::new(LazySchema::of(&packed));
        Self { packed, form: Form { schema, epoch: epoch(&version["name"], open_api) } }
    }
}

fn resource(
    name: &str,
    definition: &Value,
    (version, Declared { packed, form }): (&Value, Declared),
    forms: &Arc<Forms>,
) -> Resource {
    let spec = &definition["spec"];
    let names = &spec["names"];
    let open_api = &version["schema"]["openAPIV3Schema"];
    let id = Arc::new(GroupResource::new(text(&spec["group"]), text(&names["plural"])));
    Resource {
        storage: Arc::clone(&id),
        id,
        version: text(&version["name"]),
        storage_version: storage_name(definition).unwrap_or_default(),
        kind: text(&names["kind"]),
        list_kind: text(&names["listKind"]),
        singular: text(&names["singular"]),
        short_names: list(&names["shortNames"]).map(text).collect(),
        categories: list(&names["categories"]).map(text).collect(),
        namespaced: spec["scope"] == "Namespaced",
        has_status: !version["subresources"]["status"].is_null(),
        scale: scale(&version["subresources"]["scale"]),
        has_generation: true,
        schema: Arc::clone(&form.schema),
        empty: None,
        epoch: form.epoch,
        deprecation: deprecation(spec, version),
        columns: columns(&version["additionalPrinterColumns"]),
        origin: Origin::Custom(Arc::new(CustomType {
            definition: name.to_owned(),
            state: state(definition),
            is_terminating: conditions::is_true(definition, "Terminating"),
            converter: Converter::of(definition),
            rules: cel::Rules::new(&Schema::from_open_api(open_api)),
            validators: Validators::default(),
            schema: form.schema,
            forms: Arc::clone(forms),
            open_api: packed,
            selectable_fields: list(&version["selectableFields"])
                .map(|field| text(&field["jsonPath"]))
                .collect(),
        })),
    }
}

/// What decides which types a definition serves.
pub(crate) fn state(definition: &Value) -> String {
    let Value::Object(metadata) = &definition["metadata"] else { return String::new() };
    let is_terminating = conditions::is_true(definition, "Terminating");
    let [uid, generation] = ["uid", "generation"].map(|field| metadata.get(field));
    format!("{uid:?} {generation:?} {} {is_terminating}", definition["spec"]["names"])
}

fn deprecation(spec: &Value, version: &Value) -> Option<String> {
    let of_its_author = version["deprecationWarning"].as_str().map(str::to_owned);
    let usual = || {
        let [group, version, kind] = [&spec["group"], &version["name"], &spec["names"]["kind"]];
        format!("{}/{} {} is deprecated", text(group), text(version), text(kind))
    };
    (version["deprecated"] == true).then(|| of_its_author.unwrap_or_else(usual))
}

/// The same schema has the same epoch, so that a change of something else costs nothing.
fn epoch(version: &Value, open_api: &Value) -> u64 {
    let mut hash = DefaultHasher::new();
    version.to_string().hash(&mut hash);
    open_api.to_string().hash(&mut hash);
    hash.finish()
}

fn scale(scale: &Value) -> Option<ScalePaths> {
    scale.is_object().then(|| ScalePaths {
        spec_replicas: text(&scale["specReplicasPath"]),
        status_replicas: text(&scale["statusReplicasPath"]),
        label_selector: scale["labelSelectorPath"].as_str().map(str::to_owned),
    })
}

fn columns(columns: &Value) -> Arc<[Column]> {
    if list(columns).next().is_none() {
        return Arc::new([age()]);
    }
    list(columns)
        .map(|column| Column {
            name: text(&column["name"]),
            kind: text(&column["type"]),
            format: text(&column["format"]),
            description: text(&column["description"]),
            priority: column["priority"].as_i64().unwrap_or_default(),
            json_path: text(&column["jsonPath"]),
        })
        .collect()
}

fn age() -> Column {
    Column {
        name: "Age".to_owned(),
        kind: "date".to_owned(),
        format: String::new(),
        description: table::description_of_age(),
        priority: 0,
        json_path: ".metadata.creationTimestamp".to_owned(),
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
