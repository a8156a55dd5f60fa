//! The transition rules of a type: rules of its schema that compare a value with the one before.
//!
//! A refusal by such a rule shows that an object with the new value may be created. Source: "Transition rules" of
//! the page on custom resource definitions in the documentation of Kubernetes.

use serde_json::Value;

use super::Cause;

/// The transition rules of a schema, and the other rules of the same values.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct TransitionRules(Box<[Rule]>);

#[derive(Debug, Clone, PartialEq)]
struct Rule {
    /// The field that a refusal names; an item of a list or map is `[]`.
    field: String,
    says: Says,
    is_transition: bool,
}

/// The message of a refusal.
#[derive(Debug, Clone, PartialEq)]
enum Says {
    Text(String),
    /// An expression makes it.
    Anything,
}

impl TransitionRules {
    /// The rules of a schema of `OpenAPI` v3, as the API server publishes it.
    pub(crate) fn of_schema(schema: &Value) -> Self {
        let mut rules = Vec::new();
        collect(schema, "", &mut rules);
        let compared: Vec<_> =
            rules.iter().filter(|it| it.is_transition).map(|it| it.field.clone()).collect();
        rules.retain(|rule| compared.contains(&rule.field));
        Self(rules.into())
    }

    /// Whether one of them, and no other rule of the value, refuses a change so.
    pub(crate) fn is_one(&self, cause: &Cause) -> bool {
        let (field, Some(said)) = (without_keys(&cause.field), said(cause)) else { return false };
        let at_it = || self.0.iter().filter(|rule| rule.field == field);
        let says_it = |rule: &&Rule| match &rule.says {
            Says::Text(text) => ends_with(said, text),
            Says::Anything => may_be_made(said),
        };
        let mut saying = at_it().filter(says_it).peekable();
        saying.peek().is_some() && saying.all(|rule| rule.is_transition)
    }
}

fn collect(schema: &Value, path: &str, rules: &mut Vec<Rule>) {
    let its_rules = schema["x-kubernetes-validations"].as_array();
    rules.extend(its_rules.into_iter().flatten().map(|rule| Rule::read(rule, path)));
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let dot = if path.is_empty() { "" } else { "." };
        collect(property, &format!("{path}{dot}{name}"), rules);
    }
    for items in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get(items).filter(|inner| inner.is_object()) {
            collect(inner, &format!("{path}[]"), rules);
        }
    }
}

impl Rule {
    fn read(rule: &Value, path: &str) -> Self {
        let text = |name: &str| rule[name].as_str().map(str::trim).unwrap_or_default();
        let field = without_keys(&format!("{path}{}", text("fieldPath")));
        let says = match (text("messageExpression"), text("message")) {
            ("", "") => Says::Text(format!("failed rule: {}", text("rule"))),
            ("", message) => Says::Text(message.to_owned()),
            _ => Says::Anything,
        };
        let field = field.trim_start_matches('.').to_owned();
        Self { field, says, is_transition: compares(text("rule")) }
    }
}

/// Whether a rule uses the value before, outside of texts.
fn compares(rule: &str) -> bool {
    let outside = rule.split(['"', '\'']).step_by(2);
    outside
        .flat_map(|code| code.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .any(|it| it == "oldSelf")
}

/// A field with `[]` for each index and key.
fn without_keys(field: &str) -> String {
    if field == "<nil>" {
        return String::new();
    }
    let mut parts = field.split('[');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |path, part| {
        let rest = part.split_once(']').map_or("", |(_, rest)| rest);
        format!("{path}[]{rest}")
    })
}

/// What a refusal by a rule says, after its kind, which the rule chooses: the value, for scalars and of older servers, and
/// the message.
fn said(cause: &Cause) -> Option<&str> {
    let kinds = ["Invalid value: ", "Forbidden: ", "Required value: "];
    kinds.iter().find_map(|kind| cause.message.strip_prefix(kind))
}

fn ends_with(said: &str, message: &str) -> bool {
    let value = said.strip_suffix(message);
    value.is_some_and(|value| value.is_empty() || value.ends_with(": "))
}

/// Whether a message may be that of an expression: not that of a schema, nor of a rule that failed.
fn may_be_made(said: &str) -> bool {
    ![" in body ", " evaluating rule: ", "failed rule: "].iter().any(|it| said.contains(it))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rules() -> TransitionRules {
        let rule = |rule: &str, message: &str| json!({"rule": rule, "message": message});
        TransitionRules::of_schema(&json!({"type": "object", "properties": {
            "spec": {
                "type": "object",
                "x-kubernetes-validations": [
                    {"rule": "self.zone == oldSelf.zone", "fieldPath": ".zone", "message": "zone stays"},
                    rule("self.size >= oldSelf.size", " the size cannot shrink "),
                    rule("self.size != 'oldSelf'", "no such size"),
                ],
                "properties": {
                    "class": {"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf"}]},
                    "disks": {"type": "array", "items": {
                        "x-kubernetes-validations": [rule("self == oldSelf", "Value is immutable")],
                    }},
                    "name": {"type": "string", "x-kubernetes-validations": [
                        {"rule": "self == oldSelf", "messageExpression": "'not ' + self"},
                        rule("self != 'root'", "not root"),
                    ]},
                    "free": {"type": "string", "x-kubernetes-validations": [rule("self != ''", "immutable")]},
                },
            },
        }}))
    }

    #[test]
    fn only_a_message_of_a_transition_rule_at_its_field_is_one() {
        let rules = rules();
        for (field, message, expected) in [
            ("spec.zone", "Invalid value: zone stays", true),
            ("spec.zone", "Invalid value: \"object\": zone stays", true),
            ("spec", "Invalid value: \"object\": the size cannot shrink", true),
            ("spec", "Forbidden: the size cannot shrink", true),
            ("spec", "Invalid value: no such size", false),
            ("spec.class", "Invalid value: failed rule: self == oldSelf", true),
            ("spec.class", "Invalid value: \"x\": failed rule: self == oldSelf", true),
            ("spec.class", "Invalid value: \"x\": spec.class in body should match '^y'", false),
            ("spec.disks[3]", "Invalid value: Value is immutable", true),
            ("spec.disks", "Invalid value: Value is immutable", false),
            // The message of an expression is what no other rule says.
            ("spec.name", "Invalid value: not b", true),
            ("spec.name", "Invalid value: \"b\": not b", true),
            ("spec.name", "Invalid value: \"b\": spec.name in body should match '^a'", false),
            ("spec.name", "Invalid value: not root", false),
            (
                "spec.name",
                "Invalid value: \"string\": no such key: a evaluating rule: not b",
                false,
            ),
            ("spec.free", "Invalid value: immutable", false),
            ("", "the size cannot shrink", false),
        ] {
            let (field, message) = (field.to_owned(), message.to_owned());
            let cause = Cause { message, field, ..Cause::default() };
            assert_eq!(rules.is_one(&cause), expected, "{cause:?}");
        }
    }

    #[test]
    fn a_rule_for_the_whole_object_has_no_field() {
        let rule = json!([{"rule": "self.spec == oldSelf.spec", "message": "is immutable"}]);
        let rules = TransitionRules::of_schema(&json!({"x-kubernetes-validations": rule}));
        let message = "Invalid value: is immutable".to_owned();
        let cause = Cause { message, field: "<nil>".to_owned(), ..Cause::default() };
        assert!(rules.is_one(&cause));
    }
}
