use serde_json::json;

use super::*;
use crate::read::Scope;

fn definition(kind: &str, schema: Value) -> Definition {
    let [group, version, plural] = ["example.dev", "v1", "things"].map(str::to_owned);
    let (kind, scope) = (kind.to_owned(), Scope::Namespaced);
    Definition { group, version, kind, plural, scope, schema }
}

fn model_of(schema: Value) -> Model {
    model(&[definition("Thing", schema)])
}

/// The types of the properties of a resource, with their presence.
fn types(properties: &Value, required: &Value) -> Vec<(String, Type, Presence)> {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    let fields = model_of(schema).roots.remove(0).ty.fields.into_iter();
    fields.map(|field| (field.name, field.ty, field.presence)).collect()
}

fn type_of(schema: &Value) -> Type {
    types(&json!({"it": schema}), &json!([])).remove(0).1
}

fn names_of(model: &Model) -> Vec<&str> {
    let structs = model.structs.iter().map(|it| &*it.name);
    let mut names: Vec<_> = structs.chain(model.enums.iter().map(|it| &*it.name)).collect();
    names.sort_unstable();
    names
}

#[test]
fn each_kind_of_schema_has_its_type() {
    let list = |inner| Type::List(Box::new(inner));
    let map = |inner| Type::Map(Box::new(inner));
    let keeps = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let embedded = json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"spec": {"type": "string"}}});
    for (schema, expected) in [
        (json!({"type": "string"}), Type::Text),
        (json!({"type": "string", "format": "date-time"}), Type::Text),
        (json!({"type": "boolean"}), Type::Bool),
        (json!({"type": "integer"}), Type::I64),
        (json!({"type": "integer", "format": "int64"}), Type::I64),
        (json!({"type": "integer", "format": "int32"}), Type::I32),
        (json!({"type": "number"}), Type::F64),
        (
            json!({"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": true}),
            Type::IntOrString,
        ),
        (json!({"type": "object"}), Type::Json),
        (json!({"type": "object", "properties": {}}), Type::Json),
        (keeps, Type::Json),
        (json!({"x-kubernetes-preserve-unknown-fields": true}), Type::Json),
        (embedded, Type::Json),
        (json!({}), Type::Json),
        (json!({"type": "array"}), list(Type::Json)),
        (json!({"type": "array", "items": {"type": "string"}}), list(Type::Text)),
        (
            json!({"type": "array", "items": {"type": "string", "nullable": true}}),
            list(Type::Nullable(Box::new(Type::Text))),
        ),
        (json!({"type": "object", "additionalProperties": true}), map(Type::Json)),
        (json!({"type": "object", "additionalProperties": false}), Type::Json),
        (
            json!({"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer"}}}),
            map(list(Type::I64)),
        ),
    ] {
        assert_eq!(type_of(&schema), expected, "{schema}");
    }
}

#[test]
fn a_field_is_an_option_unless_it_is_required_and_the_server_sets_no_default() {
    let text = json!({"type": "string"});
    let properties = json!({
        "absent": text,
        "both": {"type": "string", "nullable": true},
        "defaulted": {"type": "string", "default": "a"},
        "needed": text,
        "nullable": {"type": "string", "nullable": true},
    });
    let found = types(&properties, &json!(["both", "defaulted", "needed"]));
    let found: Vec<_> = found.iter().map(|(name, _, presence)| (&**name, *presence)).collect();
    assert_eq!(
        found,
        [
            ("absent", Presence::Optional),
            ("both", Presence::Nullable),
            ("defaulted", Presence::Optional),
            ("needed", Presence::Required),
            ("nullable", Presence::Optional),
        ]
    );
}

#[test]
fn types_are_named_by_their_path_and_lists_and_maps_by_themselves() {
    let port =
        json!({"type": "object", "properties": {"protocol": {"type": "string", "enum": ["TCP"]}}});
    let model = model_of(json!({"type": "object", "properties": {
        "apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"},
        "spec": {"type": "object", "properties": {
            "ports": {"type": "array", "items": {"type": "array", "items": port}},
            "named": {"type": "object", "additionalProperties": port},
        }},
    }}));
    let named = [
        "ThingSpec",
        "ThingSpecNamed",
        "ThingSpecNamedProtocol",
        "ThingSpecPorts",
        "ThingSpecPortsProtocol",
    ];
    assert_eq!(names_of(&model), named);
    let fields = &model.roots[0].ty.fields;
    assert_eq!(fields.len(), 1, "what every object has is no field of the schema: {fields:?}");
    let doc = |name: &str| &model.structs.iter().find(|it| it.name == name).unwrap().doc;
    assert_eq!(doc("ThingSpecPorts"), "The type of `spec.ports[][]`.");
    assert_eq!(doc("ThingSpecNamed"), "The type of `spec.named[*]`.");
}

#[test]
fn names_that_would_be_the_same_get_a_number() {
    let object = |properties: Value| json!({"type": "object", "properties": properties});
    let text = json!({"type": "string"});
    let inner = object(json!({"a": text}));
    let schema = object(json!({
        "foo": object(json!({"bar": inner})), "fooBar": inner, "foo-bar": text, "foo_bar": text, "Metadata": text,
    }));
    // The kind of the second is the name that the first would give to a type within it.
    let model = model(&[definition("Thing", schema), definition("ThingFoo", json!({}))]);
    assert_eq!(names_of(&model), ["ThingFoo2", "ThingFooBar", "ThingFooBar2"]);
    let kinds: Vec<_> = model.roots.iter().map(|root| &*root.ty.name).collect();
    assert_eq!(kinds, ["Thing", "ThingFoo"]);
    let fields: Vec<_> = model.roots[0].ty.fields.iter().map(|it| (&*it.json, &*it.name)).collect();
    assert_eq!(
        fields,
        [
            ("Metadata", "metadata2"),
            ("foo", "foo"),
            ("foo-bar", "foo_bar"),
            ("fooBar", "foo_bar2"),
            ("foo_bar", "foo_bar3"),
        ]
    );
}

#[test]
fn an_object_with_fields_that_keeps_unknown_ones_has_a_field_for_them() {
    let model = model_of(json!({
        "type": "object", "x-kubernetes-preserve-unknown-fields": true,
        "properties": {"spec": {
            "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            "properties": {"otherFields": {"type": "string"}},
        }},
    }));
    assert_eq!(model.roots[0].ty.rest.as_deref(), Some("other_fields"));
    assert_eq!(model.structs[0].rest.as_deref(), Some("other_fields2"));
}

#[test]
fn an_enum_has_a_variant_for_each_text_and_one_for_any_other() {
    let values = json!(["Other", "", "5m", null, "5M", "A"]);
    let model = model_of(json!({"type": "object", "properties": {
        "mode": {"type": "string", "nullable": true, "enum": values},
    }}));
    let Enum { name, variants, other, .. } = &model.enums[0];
    assert_eq!((&**name, &**other), ("ThingMode", "Other"));
    let variants: Vec<_> = variants.iter().map(|it| (&*it.value, &*it.name)).collect();
    let expected = [("Other", "Other2"), ("", "Empty"), ("5m", "V5m"), ("5M", "V5m2"), ("A", "A")];
    assert_eq!(variants, expected);
}

#[test]
fn descriptions_document_types_and_fields_and_a_resource_names_its_type() {
    let model = model_of(json!({"type": "object", "description": "A <thing>.", "properties": {
        "spec": {"type": "object", "description": "What is asked for.", "properties": {
            "size": {"type": "integer", "description": "In `cm`."}, "kind": {"type": "string"},
        }},
    }}));
    let (root, spec) = (&model.roots[0].ty, &model.structs[0]);
    assert_eq!(root.doc, "A \\<thing\\>.\n\n`Thing` of `example.dev/v1`.");
    assert_eq!((&*root.fields[0].doc, &*spec.doc), ("What is asked for.", "What is asked for."));
    let docs: Vec<_> = spec.fields.iter().map(|it| &*it.doc).collect();
    assert_eq!(docs, ["`spec.kind`.", "In \\`cm\\`."]);
}
