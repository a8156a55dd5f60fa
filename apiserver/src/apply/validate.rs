//! Checks an object against its type, as far as merging needs it.
//!
//! Not the validation of a request: only types, undeclared fields and keys of lists are checked.

use std::{collections::BTreeSet, fmt};

use serde_json::{Map, Value};

use super::{
    go_format::{debug, plain, type_name},
    list_key,
    path_element::PathElement,
    shape::{ListKind, ListShape, MapShape, Scalar, Shape, Type},
};

/// All errors of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeErrors(Vec<TypeError>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct TypeError {
    path: String,
    message: String,
}

/// Whether two elements of a list may have the same key: live objects may have such elements, as
/// not every validation forbids them; applied ones may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Duplicates {
    Allowed,
    Forbidden,
}

pub(super) fn validate(
    value: &Value,
    ty: Type<'_>,
    duplicates: Duplicates,
) -> Result<(), TypeErrors> {
    let mut walk = Walk { path: String::new(), duplicates, errors: Vec::new() };
    walk.visit(value, ty);
    if walk.errors.is_empty() { Ok(()) } else { Err(TypeErrors(walk.errors)) }
}

impl fmt::Display for TypeErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = self.0.as_slice() {
            return only.fmt(f);
        }
        f.write_str("errors:")?;
        self.0.iter().try_for_each(|error| write!(f, "\n  {error}"))
    }
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

struct Walk {
    path: String,
    duplicates: Duplicates,
    errors: Vec<TypeError>,
}

impl Walk {
    fn visit(&mut self, value: &Value, ty: Type<'_>) {
        match (ty.shape(Some(value)), value) {
            (_, Value::Null) => {}
            (Shape::Map(map), Value::Object(fields)) => self.visit_fields(&map, fields),
            (Shape::List(list), Value::Array(items)) => self.visit_items(&list, items),
            (Shape::Map(_), other) => self.fail(format!("expected map, got &{{{}}}", plain(other))),
            (Shape::List(_), other) => {
                self.fail(format!("expected list, got &{{{}}}", plain(other)));
            }
            (Shape::Scalar(scalar), value) => self.visit_scalar(scalar, value),
        }
    }

    fn visit_fields(&mut self, map: &MapShape<'_>, fields: &Map<String, Value>) {
        for (name, value) in fields {
            let step = PathElement::field(name);
            let Some(ty) = map.child(name) else {
                // The real server stops here too, at the first undeclared field.
                let undeclared = "field not declared in schema".to_owned();
                return self.below(&step, |walk| walk.fail(undeclared));
            };
            self.below(&step, |walk| walk.visit(value, ty));
        }
    }

    fn visit_items(&mut self, list: &ListShape<'_>, items: &[Value]) {
        let mut seen = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            let step = match list.kind {
                ListKind::Atomic => PathElement::Index(i64::try_from(index).unwrap_or(i64::MAX)),
                _ => match list_key::element(list, item) {
                    Ok(step) => step,
                    Err(problem) => return self.fail(format!("element {index}: {problem}")),
                },
            };
            if !seen.insert(step.clone()) && self.duplicates == Duplicates::Forbidden {
                self.fail(format!("duplicate entries for key {step}"));
            }
            self.below(&step, |walk| walk.visit(item, list.element));
        }
    }

    fn visit_scalar(&mut self, scalar: Scalar, value: &Value) {
        let problem = match scalar {
            Scalar::Numeric if !value.is_number() => {
                format!("expected numeric (int or float), got {}", type_name(value))
            }
            Scalar::String if !value.is_string() => {
                format!("expected string, got {}", debug(value))
            }
            Scalar::Boolean if !value.is_boolean() => {
                format!("expected boolean, got &{{{}}}", plain(value))
            }
            Scalar::Any if value.is_object() || value.is_array() => {
                format!("expected any scalar, got &{{{}}}", plain(value))
            }
            _ => return,
        };
        self.fail(problem);
    }

    fn below(&mut self, step: &PathElement, visit: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.push_str(&step.to_string());
        visit(self);
        self.path.truncate(length);
    }

    fn fail(&mut self, message: String) {
        self.errors.push(TypeError { path: self.path.clone(), message });
    }
}
