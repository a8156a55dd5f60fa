//! Random mutations of the objects of a type: of its own fields, of metadata, of anything.

use serde_json::{Value, json};

use super::{mutation::Mutation, random::Random, types::Type};

/// Up to so many changes.
pub(crate) fn mutations(random: &mut Random, ty: &Type, most: usize) -> Vec<Mutation> {
    (0..random.below(most + 1)).map(|_| mutation(random, ty)).collect()
}

fn mutation(random: &mut Random, ty: &Type) -> Mutation {
    let values =
        [json!("text"), json!(7), json!(true), json!([]), json!({}), Value::Null, json!(-1)];
    match random.below(20) {
        0 => Mutation::Remove(random.below(64)),
        1 | 2 => Mutation::Replace(random.below(64), random.pick(&values).clone()),
        3 => Mutation::Unknown(random.below(16)),
        4 => Mutation::Repeat(random.below(8)),
        5..10 => metadata(random),
        _ => {
            let (pointer, value) = field(random, ty);
            Mutation::Set(pointer, value)
        }
    }
}

/// One of the type's own fields with a value to try.
pub(crate) fn field(random: &mut Random, ty: &Type) -> (String, Value) {
    let fields: Vec<_> = ty.fields.iter().collect();
    if fields.is_empty() || random.one_in(8) {
        return ("/metadata/labels/x".to_owned(), json!("y"));
    }
    let (pointer, values) = *random.pick(&fields);
    (pointer.clone(), random.pick(values.as_array().unwrap()).clone())
}

fn metadata(random: &mut Random) -> Mutation {
    let fields = [
        ("labels/x", json!("y")),
        ("labels/x", json!("not a label!")),
        ("labels/bad key", json!("x")),
        ("labels", Value::Null),
        ("annotations/note", json!("some text")),
        ("annotations/bad key", json!("x")),
        ("annotations/note", json!(1)),
        ("finalizers", json!(["example.com/a"])),
        ("finalizers", json!(["example.com/a", "example.com/b"])),
        ("finalizers", json!(["nodomain"])),
        ("finalizers", json!([])),
        ("name", json!("Bad_Name")),
        ("name", json!("other")),
        ("namespace", json!("elsewhere")),
        ("ownerReferences", json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "o"}])),
        ("generation", json!(7)),
        ("creationTimestamp", json!("2020-01-01T00:00:00Z")),
        ("deletionTimestamp", json!("2020-01-01T00:00:00Z")),
        ("managedFields", json!([])),
        ("managedFields", json!([{}])),
        ("resourceVersion", json!("$rv")),
        ("uid", json!("$uid")),
        ("unknown", json!("x")),
        ("selfLink", json!("/x")),
        ("generateName", json!("g-")),
    ];
    let (field, value) = random.pick(&fields).clone();
    Mutation::Set(format!("/metadata/{field}"), value)
}
