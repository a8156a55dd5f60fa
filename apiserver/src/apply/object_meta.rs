//! The schema of `metadata`, which every Kubernetes object has and no CRD declares.
//!
//! Only what server-side apply needs: types and how lists and maps are owned.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use serde_json::{Value, json};

use crate::schema::{ListType, MapType, Schema, SchemaType};

pub(super) static STRING: LazyLock<Schema> = LazyLock::new(|| of_type(SchemaType::String));

pub(super) static OBJECT_META: LazyLock<Schema> = LazyLock::new(|| {
    let time = || Schema { rules: Some(json!({"format": "date-time"})), ..STRING.clone() };
    let integer = || of_type(SchemaType::Integer);
    let mut fields = vec![
        ("creationTimestamp", time()),
        ("deletionTimestamp", time()),
        ("deletionGracePeriodSeconds", integer()),
        ("generation", integer()),
        ("labels", map_of_strings()),
        ("annotations", map_of_strings()),
        ("finalizers", list_of(STRING.clone(), ListType::Set)),
        ("ownerReferences", list_of(owner_reference(), ListType::Map(vec!["uid".into()]))),
        ("managedFields", list_of(Schema::default(), ListType::Atomic)),
    ];
    let strings = ["name", "generateName", "namespace", "selfLink", "uid", "resourceVersion"];
    fields.extend(strings.map(|name| (name, STRING.clone())));
    object(fields)
});

fn owner_reference() -> Schema {
    // A required string has the default "" in the real schema, so that a missing uid is a key.
    let required = || Schema { default: Some(Value::from("")), ..STRING.clone() };
    let boolean = || of_type(SchemaType::Boolean);
    let fields = vec![
        ("apiVersion", required()),
        ("kind", required()),
        ("name", required()),
        ("uid", required()),
        ("controller", boolean()),
        ("blockOwnerDeletion", boolean()),
    ];
    Schema { map_type: MapType::Atomic, ..object(fields) }
}

fn of_type(ty: SchemaType) -> Schema {
    Schema { ty: Some(ty), ..Schema::default() }
}

fn object(fields: Vec<(&str, Schema)>) -> Schema {
    let properties: BTreeMap<_, _> =
        fields.into_iter().map(|(name, schema)| (name.to_owned(), Arc::new(schema))).collect();
    Schema { properties, ..of_type(SchemaType::Object) }
}

fn map_of_strings() -> Schema {
    let values = Some(Arc::new(STRING.clone()));
    Schema { additional_properties: values, ..of_type(SchemaType::Object) }
}

fn list_of(items: Schema, list_type: ListType) -> Schema {
    Schema { items: Some(Arc::new(items)), list_type, ..of_type(SchemaType::Array) }
}
