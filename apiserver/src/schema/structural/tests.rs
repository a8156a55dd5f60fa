#![expect(clippy::needless_pass_by_value, reason = "values made for one call")]

use serde_json::{Value, json};

use super::*;
use crate::schema::{Schema, keywords::Context};

/// The errors that a definition has for its schema, apart from its rules.
fn structural_errors(schema: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = form_errors(schema, path).unwrap_or_default();
    if errors.is_empty() {
        let rules = |_: &Schema, _, _: &FieldPath, _: &Value| Vec::new();
        errors.extend(default_errors(schema, path, true, &rules));
    }
    visit(schema, path, &Context::root(), &mut errors);
    errors
}

fn visit(schema: &Value, path: &FieldPath, context: &Context, errors: &mut Vec<FieldError>) {
    let strictness = Strictness::default();
    errors.extend(keywords::before(schema, path, context, &strictness));
    for inner in keywords::inside(schema, path, context) {
        visit(inner.schema, &inner.path, &inner.context, errors);
    }
    errors.extend(keywords::after(schema, path, &strictness));
}

/// The errors of a schema whose `spec` is `spec`, without the common start of paths.
fn wrong(spec: Value) -> Vec<String> {
    wrong_root(json!({"type": "object", "properties": {"spec": spec}}))
}

fn wrong_root(schema: Value) -> Vec<String> {
    let errors = structural_errors(&schema, &FieldPath::new("root"));
    errors.iter().map(|error| error.to_string().replace("root.properties[spec]", "SPEC")).collect()
}

#[test]
fn a_valid_schema_has_no_errors() {
    let schema = json!({
        "type": "object", "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"}, "kind": {"type": "string"},
            "metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 9}}},
            "spec": {"type": "object", "properties": {
                "port": {
                    "x-kubernetes-int-or-string": true,
                    "anyOf": [{"type": "integer"}, {"type": "string"}]
                },
                "quantity": {
                    "x-kubernetes-int-or-string": true, "pattern": "^[0-9]+$",
                    "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}]
                },
                "any": {"x-kubernetes-preserve-unknown-fields": true},
                "list": {
                    "type": "array", "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {"type": "object", "required": ["name"],
                        "properties": {"name": {"type": "string"}}}
                },
                "mode": {"type": "string", "enum": ["a"], "default": "a"},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}}
            }, "oneOf": [{"required": ["port"]}, {"required": ["any"]}]}
        }
    });
    assert_eq!(wrong_root(schema), Vec::<String>::new());
}

#[test]
fn every_schema_must_have_a_type() {
    assert_eq!(
        wrong(json!({"type": "object", "properties": {
            "a": {}, "b": {"type": "array", "items": {}}, "c": {"type": "array"},
            "d": {"type": "object", "additionalProperties": {"format": "x"}}
        }})),
        [
            "SPEC.properties[a].type: Required value: must not be empty for specified object fields",
            "SPEC.properties[b].items.type: Required value: must not be empty for specified array items",
            "SPEC.properties[c].items: Required value: must be specified",
            "SPEC.properties[d].additionalProperties.type: Required value: must not be empty for \
             specified object fields",
        ]
    );
    assert_eq!(wrong_root(json!({})), ["root.type: Required value: must not be empty at the root"]);
    assert_eq!(
        wrong_root(json!({"type": "string"})),
        [r#"root.type: Invalid value: "string": must be object at the root"#]
    );
}

#[test]
fn types_that_do_not_exist_are_not_supported() {
    assert_eq!(
        wrong(json!({"type": "null"})),
        [
            "SPEC.type: Unsupported value: \"null\": supported values: \"array\", \"boolean\", \
             \"integer\", \"number\", \"object\", \"string\"",
            "SPEC.type: Forbidden: type cannot be set to null, use nullable as an alternative",
        ]
    );
}

#[test]
fn the_root_is_an_object_and_does_not_restrict_metadata() {
    assert_eq!(
        wrong_root(json!({"type": "object", "additionalProperties": {"type": "string"}})),
        ["root.additionalProperties: Forbidden: must not be used at the root"]
    );
    let labels = json!({"type": "object", "properties": {"labels": {"type": "object"}}});
    assert_eq!(
        wrong_root(json!({"type": "object", "properties": {"metadata": labels}})),
        ["root.properties[metadata]: Forbidden: must not specify anything other than name and \
          generateName, but metadata is implicitly specified"]
    );
    assert_eq!(
        wrong_root(json!({"type": "object", "properties": {"kind": {"type": "integer"}}})),
        [r#"root.properties[kind].type: Invalid value: "integer": must be string"#]
    );
}

#[test]
fn branches_restrict_and_do_not_declare() {
    assert_eq!(
        wrong(json!({"type": "object", "anyOf": [{
            "type": "object", "description": "x", "nullable": true, "default": {},
            "x-kubernetes-list-type": "set", "properties": {"metadata": {}}
        }]})),
        [
            "SPEC.anyOf[0].default: Forbidden: must be undefined to be structural",
            "SPEC.anyOf[0].description: Forbidden: must be empty to be structural",
            "SPEC.anyOf[0].nullable: Forbidden: must be false to be structural",
            "SPEC.anyOf[0].properties[metadata]: Forbidden: must not be specified in a nested context",
            "SPEC.anyOf[0].type: Forbidden: must be empty to be structural",
            "SPEC.anyOf[0].x-kubernetes-list-type: Forbidden: must be undefined to be structural",
            r#"SPEC.anyOf[0].type: Invalid value: "object": must be array if x-kubernetes-list-type is specified"#,
        ]
    );
    assert_eq!(
        wrong_root(json!({"type": "object", "allOf": [{"properties": {"spec": {"items": {}}}}]})),
        ["SPEC: Required value: because it is defined in root.allOf[0].properties[spec]"]
    );
}

#[test]
fn a_pattern_must_be_one() {
    let errors = wrong(json!({"type": "string", "pattern": "("}));
    assert!(
        errors[0].starts_with(
            r#"SPEC.pattern: Invalid value: "(": must be a valid regular expression, but isn't: "#
        ),
        "{errors:?}"
    );
}

#[test]
fn keywords_that_are_not_supported_are_forbidden() {
    for name in ["id", "$ref", "definitions", "dependencies", "patternProperties"] {
        let value = if name == "id" || name == "$ref" { json!("x") } else { json!({"x": {}}) };
        let spec = json!({"type": "object", name: value});
        assert!(form_errors(&spec, &FieldPath::root()).is_err());
        assert_eq!(wrong(spec), [format!("SPEC.{name}: Forbidden: {name} is not supported")]);
    }
    let spec = json!({"type": "object", "properties": {"a": {"$schema": "x"}}});
    let why = "OpenAPIV3Schema 'schema' is not supported";
    assert_eq!(form_errors(&spec, &FieldPath::root()), Err(why));
    assert_eq!(
        wrong(json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true})),
        ["SPEC.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime \
          complexity becomes quadratic"]
    );
    assert_eq!(
        wrong(json!({"type": "object", "properties": {"a": {"type": "string"}},
            "additionalProperties": {"type": "string"}})),
        ["SPEC.additionalProperties: Forbidden: additionalProperties and properties are mutual \
          exclusive"]
    );
    assert_eq!(
        wrong(json!({"type": "object", "x-kubernetes-preserve-unknown-fields": false})),
        ["SPEC.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or \
          undefined"]
    );
}

#[test]
fn the_keys_of_a_list_are_required_scalar_fields() {
    let list = |keys: Value, item: Value| {
        wrong(json!({"type": "array", "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": keys, "items": item}))
    };
    let item = json!({"type": "object", "properties": {
        "a": {"type": "string"}, "b": {"type": "object", "default": {}}
    }});
    assert_eq!(
        list(json!(["a", "b", "c"]), item.clone()),
        [
            r#"SPEC.items.properties[b].type: Invalid value: "object": must be a scalar type if parent array's x-kubernetes-list-type is map"#,
            r#"SPEC.x-kubernetes-list-map-keys: Invalid value: ["a","b","c"]: entries must all be names of item properties"#,
            "SPEC.items.properties[a].default: Required value: this property is in \
             x-kubernetes-list-map-keys, so it must have a default or be a required property",
        ]
    );
    assert_eq!(
        list(json!([]), item),
        ["SPEC.x-kubernetes-list-map-keys: Required value: must not be empty if \
          x-kubernetes-list-type is map"]
    );
    assert_eq!(
        list(json!(["a"]), json!({"type": "string", "nullable": true})),
        [
            r#"SPEC.items.type: Invalid value: "string": must be object if parent array's x-kubernetes-list-type is map"#,
            "SPEC.items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is map",
        ]
    );
}

#[test]
fn list_and_map_types_match_the_type() {
    assert_eq!(
        wrong(json!({"type": "object", "x-kubernetes-list-type": "heap"})),
        [
            r#"SPEC.type: Invalid value: "object": must be array if x-kubernetes-list-type is specified"#,
            r#"SPEC.x-kubernetes-list-type: Unsupported value: "heap": supported values: "atomic", "set", "map""#,
        ]
    );
    assert_eq!(
        wrong(json!({"type": "array", "x-kubernetes-list-type": "set",
            "items": {"type": "object"}})),
        ["SPEC.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a \
          list with x-kubernetes-list-type=set"]
    );
}

#[test]
fn a_default_must_be_a_value_that_the_schema_accepts() {
    assert_eq!(
        wrong(json!({"type": "integer", "default": "x", "minimum": 1})),
        [r#"SPEC.default: Invalid value: "string":  in body must be of type integer: "string""#]
    );
    assert_eq!(
        wrong(
            json!({"type": "object", "default": {"a": 1}, "properties": {"b": {"type": "string"}}})
        ),
        [r#"SPEC.default: Invalid value: {"a":1}: must not have unknown fields"#]
    );
    assert_eq!(
        wrong(json!({"type": "object", "default": {}, "required": ["b"],
            "properties": {"b": {"type": "string"}}})),
        ["SPEC.default.b: Required value"]
    );
    let metadata = json!({"type": "object", "default": {}});
    assert_eq!(
        wrong_root(json!({"type": "object", "properties": {"metadata": metadata}})),
        ["root.properties[metadata].default: Forbidden: must not be set in top-level metadata"]
    );
}

#[test]
fn values_of_the_wrong_form_are_ignored() {
    for schema in [
        json!(null),
        json!([]),
        json!("\0"),
        json!({"type": 1, "properties": [], "items": 3, "allOf": {}, "not": 1, "default": {}}),
        json!({"type": "object", "properties": {"spec": null, "metadata": 1, "kind": []}}),
        json!({"type": "object", "properties": {"spec": {"type": "array", "items": [1]}}}),
        json!({"type": "object", "x-kubernetes-list-map-keys": [1, {}], "required": [null]}),
    ] {
        structural_errors(&schema, &FieldPath::root());
        unrecognized_formats(&schema);
    }
    let mut deep = json!({});
    for _ in 0..120 {
        deep = json!({"type": "object", "properties": {"a": deep}});
    }
    assert_eq!(wrong_root(deep).len(), 1);
}
