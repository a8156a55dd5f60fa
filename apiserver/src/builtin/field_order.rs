//! JSON of built-in types with the fields in the order in which Go writes those of its structs.
//!
//! The keys of maps, of custom objects and of all that has no struct are sorted.

use serde_json::{Map, Value};

use super::{
    catalog::{go_struct, root_of},
    decode::OBJECT_META,
    go_type::{GoField, GoStruct, GoType},
    go_union,
};

/// The place of a field that the struct does not have: after those that it has.
const LAST: u16 = u16::MAX;

/// Whether Go has a struct for objects of this type.
pub(crate) fn has_order(object: &Value) -> bool {
    struct_of(object).is_some()
}

/// An object as JSON.
pub(crate) fn json(object: &Value) -> String {
    let mut text = Vec::new();
    write_json(object, &mut text);
    String::from_utf8(text).expect("JSON is UTF-8")
}

/// The metadata of an object or of a list as JSON.
pub(crate) fn metadata_json(metadata: &Value) -> String {
    let mut text = Vec::new();
    write_value(&GoType::Struct(OBJECT_META), metadata, &mut text);
    String::from_utf8(text).expect("JSON is UTF-8")
}

/// Appends an object as JSON.
pub(crate) fn write_json(object: &Value, text: &mut Vec<u8>) {
    match (struct_of(object), object) {
        (Some(of), Value::Object(fields)) => write_struct(of, fields, text),
        _ => write_sorted(object, text),
    }
}

fn struct_of(object: &Value) -> Option<&'static GoStruct> {
    root_of(object["apiVersion"].as_str()?, object["kind"].as_str()?).map(go_struct)
}

fn write_struct(of: &GoStruct, fields: &Map<String, Value>, text: &mut Vec<u8>) {
    let place = |field: Option<&GoField>| field.map_or(LAST, |field| field.place);
    let with_field = fields.iter().map(|(name, value)| (of.fields.get(&**name), name, value));
    let mut ordered: Vec<_> = with_field.collect();
    ordered.sort_by_key(|(field, ..)| place(*field));
    let entries = ordered.into_iter().map(|(field, name, value)| (name, field, value));
    write_entries(entries, text, |field, value, text| match field {
        Some(field) => write_field(field, value, text),
        None => write_sorted(value, text),
    });
}

fn write_field(field: &GoField, value: &Value, text: &mut Vec<u8>) {
    match go_union::schemas_below(field, value) {
        Some(schemas) => write_value(&schemas, value, text),
        None => write_value(&field.ty, value, text),
    }
}

fn write_value(ty: &GoType, value: &Value, text: &mut Vec<u8>) {
    match (ty, value) {
        (GoType::Pointer(of), _) => write_value(of, value, text),
        (GoType::Struct(of), Value::Object(fields)) => write_struct(go_struct(of), fields, text),
        (GoType::Map(of), Value::Object(entries)) => {
            let entries = entries.iter().map(|(key, value)| (key, &**of, value));
            write_entries(entries, text, write_value);
        }
        (GoType::List(of), Value::Array(items)) => write_items(of, items, text),
        _ => write_sorted(value, text),
    }
}

fn write_items(of: &GoType, items: &[Value], text: &mut Vec<u8>) {
    text.push(b'[');
    for (at, item) in items.iter().enumerate() {
        text.extend_from_slice(if at == 0 { b"" } else { b"," });
        write_value(of, item, text);
    }
    text.push(b']');
}

fn write_entries<'v, T>(
    entries: impl Iterator<Item = (&'v String, T, &'v Value)>,
    text: &mut Vec<u8>,
    write: impl Fn(T, &Value, &mut Vec<u8>),
) {
    text.push(b'{');
    for (at, (key, of, value)) in entries.enumerate() {
        text.extend_from_slice(if at == 0 { b"" } else { b"," });
        write_sorted(key, text);
        text.push(b':');
        write(of, value, text);
    }
    text.push(b'}');
}

fn write_sorted(value: &impl serde::Serialize, text: &mut Vec<u8>) {
    serde_json::to_writer(text, value).expect("a JSON value serialises into memory");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_written(real: &str) {
        assert_eq!(json(&serde_json::from_str(real).unwrap()), real);
    }

    #[test]
    fn fields_are_written_as_the_real_server_writes_them_and_keys_sorted() {
        for real in [
            r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c","namespace":"d","uid":"u","resourceVersion":"1","creationTimestamp":"t","labels":{"kind":"x","name":"y"},"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","time":"t","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:k":{}}}}]},"data":{"a":"1","kind":"2","name":"3"}}"#,
            r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":{"volumes":[{"name":"v","emptyDir":{}}],"initContainers":[],"containers":[{"name":"c","image":"i","ports":[{"name":"web","containerPort":80,"protocol":"TCP"}],"resources":{}}],"restartPolicy":"Always"},"status":{"phase":"Pending"}}"#,
            r#"{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"s"},"spec":{"replicas":1},"status":{"replicas":1,"selector":"a=b"}}"#,
            r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"m","reason":"NotFound","details":{"name":"a","group":"g","kind":"k","causes":[{"reason":"r","message":"m","field":"f"}]},"code":404}"#,
        ] {
            assert_written(real);
        }
    }

    #[test]
    fn schemas_in_definitions_are_written_in_order_where_a_field_is_one_thing_or_another() {
        assert_written(
            r#"{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":"c"},"spec":{"group":"g","names":{"plural":"p","kind":"K"},"scope":"Namespaced","versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"description":"d","type":"object","properties":{"b":{"type":"array","items":{"type":"string","default":{"a":1,"kind":2}}},"type":{"type":"object","additionalProperties":{"description":"x","type":"string"}},"z":{"type":"object","additionalProperties":true}}}}}]}}"#,
        );
    }

    #[test]
    fn custom_objects_are_sorted() {
        assert_written(
            r#"{"alpha":1,"apiVersion":"example.com/v1","kind":"A","metadata":{"annotations":{},"name":"n"}}"#,
        );
    }
}
