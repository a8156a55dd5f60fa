//! Structs as messages of the real server show them: with the names, the order and the empty fields of its own Go
//! structs, which are not those that it serves.

use std::{collections::HashMap, sync::LazyLock};

use serde_json::Value;

use super::difference;
use crate::schema::go_value;

/// The structs by name, each field as shown name, served name, type, and `?` if an empty one is left out.
static STRUCTS: LazyLock<HashMap<&str, Vec<Shown<'static>>>> = LazyLock::new(|| {
    let text = include_str!("../../../data/internal.json");
    let structs: HashMap<&str, Vec<&str>> = serde_json::from_str(text)
        .expect("the data file is part of this program and tested with it");
    let fields = |list: Vec<&'static str>| list.into_iter().filter_map(Shown::parse).collect();
    structs.into_iter().map(|(name, list)| (name, fields(list))).collect()
});

#[derive(Debug)]
struct Shown<'a> {
    printed: &'a str,
    served: &'a str,
    ty: &'a str,
    omitted: bool,
}

impl Shown<'static> {
    fn parse(text: &'static str) -> Option<Self> {
        let mut parts = text.split(' ');
        let (printed, served, ty) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Self { printed, served, ty, omitted: parts.next().is_some() })
    }
}

/// A struct on one line.
pub(super) fn go(of: &str, value: &Value) -> String {
    let mut out = String::new();
    Printer { out: &mut out, indent: None }.value(of, value, 0);
    out
}

/// What changed in a struct, as a unified diff of both as JSON.
pub(super) fn difference(of: &str, old: &Value, new: &Value) -> String {
    let print = |value| {
        let mut out = String::new();
        Printer { out: &mut out, indent: Some(" ") }.value(of, value, 0);
        out
    };
    difference::unified(&print(old), &print(new))
}

struct Printer<'a> {
    out: &'a mut String,
    indent: Option<&'static str>,
}

impl Printer<'_> {
    fn value(&mut self, ty: &str, value: &Value, depth: usize) {
        if let Some(inner) = ty.strip_prefix('*') {
            return if value.is_null() {
                self.out.push_str("null");
            } else {
                self.value(inner, value, depth);
            };
        }
        if let Some(element) = ty.strip_prefix("[]") {
            return self.list(element, value, depth);
        }
        if let Some(element) = ty.strip_prefix("{}") {
            return self.map(element, value, depth);
        }
        let text = match (ty, value) {
            ("string", Value::Null) => "\"\"".to_owned(),
            ("bool", Value::Null) => "false".to_owned(),
            ("number", Value::Null) => "0".to_owned(),
            ("quantity", Value::Null) => "\"0\"".to_owned(),
            ("string" | "bool" | "number" | "quantity" | "null", _) => go_value::json(value),
            _ => return self.fields(ty, value, depth),
        };
        self.out.push_str(&text);
    }

    fn list(&mut self, element: &str, value: &Value, depth: usize) {
        let Some(items) = value.as_array() else {
            return self.out.push_str("null");
        };
        self.brackets(['[', ']'], items, depth, |printer, item| {
            printer.value(element, item, depth + 1);
        });
    }

    fn map(&mut self, element: &str, value: &Value, depth: usize) {
        let Some(map) = value.as_object() else {
            return self.out.push_str("null");
        };
        let mut entries: Vec<_> = map.iter().collect();
        entries.sort_by_key(|(key, _)| *key);
        self.brackets(['{', '}'], &entries, depth, |printer, (key, item)| {
            printer.name(&go_value::json(&Value::from(key.as_str())));
            printer.value(element, item, depth + 1);
        });
    }

    fn fields(&mut self, of: &str, value: &Value, depth: usize) {
        let moved = of.ends_with("TemplateSpec").then(|| with_metadata(value));
        let value = moved.as_ref().unwrap_or(value);
        let is_left_out = |field: &&Shown| {
            let given = value.get(field.served).unwrap_or(&Value::Null);
            field.omitted && (given.is_null() || given == "" || given == 0)
        };
        let known = STRUCTS.get(of).map_or(&[][..], Vec::as_slice);
        let fields: Vec<&Shown> = known.iter().filter(|field| !is_left_out(field)).collect();
        self.brackets(['{', '}'], &fields, depth, |printer, field| {
            printer.name(&go_value::quote(field.printed));
            let given = value.get(field.served).unwrap_or(&Value::Null);
            printer.value(field.ty, given, depth + 1);
        });
    }

    fn name(&mut self, quoted: &str) {
        self.out.push_str(quoted);
        self.out.push_str(if self.indent.is_some() { ": " } else { ":" });
    }

    fn brackets<T>(
        &mut self,
        [open, close]: [char; 2],
        items: &[T],
        depth: usize,
        mut print: impl FnMut(&mut Self, &T),
    ) {
        self.out.push(open);
        for (index, item) in items.iter().enumerate() {
            self.out.push_str(if index > 0 { "," } else { "" });
            self.line(depth + 1);
            print(self, item);
        }
        if !items.is_empty() {
            self.line(depth);
        }
        self.out.push(close);
    }

    fn line(&mut self, depth: usize) {
        if let Some(indent) = self.indent {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(indent, depth));
        }
    }
}

/// The real server embeds the metadata of what is made from a template.
fn with_metadata(template: &Value) -> Value {
    let mut fields = template["metadata"].as_object().cloned().unwrap_or_default();
    fields.extend(template.as_object().into_iter().flatten().map(|(k, v)| (k.clone(), v.clone())));
    fields.into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_struct_has_the_names_and_the_empty_fields_of_the_server() {
        let strategy = json!({ "type": "Other", "rollingUpdate": { "maxSurge": "25%" } });
        assert_eq!(
            go("apps.DeploymentStrategy", &strategy),
            r#"{"Type":"Other","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":"25%"}}"#
        );
        let role = json!({ "kind": "Role", "name": "r" });
        assert_eq!(go("rbac.RoleRef", &role), r#"{"APIGroup":"","Kind":"Role","Name":"r"}"#);
    }
}
