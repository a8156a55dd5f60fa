//! The types of the framework's own conditions in a status that several operators write.

use std::borrow::Cow;

use serde_json::Value;

use super::conditions::{FRAMEWORK_CONDITIONS, OCCASIONAL};
use crate::object::{KeptManagers, Object};

/// How an operator writes the types of the framework's conditions: `Ready`, or `name/Ready` where
/// another operator of the same parents has conditions too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ConditionNames {
    operator: String,
    is_prefixed: bool,
}

impl ConditionNames {
    pub(crate) fn new(operator: &str, is_prefixed: bool) -> Self {
        Self { operator: operator.to_owned(), is_prefixed }
    }

    pub(crate) fn is_prefixed(&self) -> bool {
        self.is_prefixed
    }

    /// A type of the framework, as it is written.
    pub(crate) fn written<'a>(&self, ty: &'a str) -> Cow<'a, str> {
        if self.is_prefixed { format!("{}/{ty}", self.operator).into() } else { ty.into() }
    }

    /// Whether a written type is this one of the framework.
    pub(crate) fn is(&self, written: &str, ty: &str) -> bool {
        if self.is_prefixed { self.own(written) == Some(ty) } else { written == ty }
    }

    /// Whether a written type is one that only the framework sets.
    pub(crate) fn is_framework(&self, written: &str) -> bool {
        FRAMEWORK_CONDITIONS.iter().any(|ty| self.is(written, ty))
    }

    /// Whether a type is one that this operator wrote while it had the parent alone, or no longer
    /// has it alone.
    pub(crate) fn is_former(&self, written: &str) -> bool {
        if self.is_prefixed { is_of_framework(written) } else { self.own(written).is_some() }
    }

    /// The type that a handler returned, as it is written; `None` for a condition of another
    /// operator, which it only read.
    pub(crate) fn returned<'a>(&self, ty: &'a str) -> Option<Cow<'a, str>> {
        match prefix_of(ty) {
            Some(operator) => (operator == self.operator).then(|| ty.into()),
            None if FRAMEWORK_CONDITIONS.contains(&ty) => Some(self.written(ty)),
            None => Some(ty.into()),
        }
    }

    /// The parent as an operator would see it that has it alone.
    pub(crate) fn alone(&self, parent: &Object) -> Object {
        if !self.is_prefixed {
            return parent.clone();
        }
        let mut value = parent.to_value();
        self.rename(&mut value["status"]);
        let alone = Object::from_value(parent.ty(), &value, &KeptManagers::default());
        alone.unwrap_or_else(|_| parent.clone())
    }

    /// The same of a status that a handler returned.
    pub(crate) fn alone_in(&self, status: &Value) -> Value {
        let mut status = status.clone();
        for condition in conditions(&mut status) {
            if let Some(ty) = condition["type"].as_str().and_then(|ty| self.own(ty)) {
                condition["type"] = ty.into();
            }
        }
        status
    }

    /// Removes the prefixes of our conditions, and the conditions of others with the same types.
    fn rename(&self, status: &mut Value) {
        let Some(conditions) = status.get_mut("conditions").and_then(Value::as_array_mut) else {
            return;
        };
        conditions.retain(|it| !it["type"].as_str().is_some_and(is_of_framework));
        for condition in conditions {
            if let Some(ty) = condition["type"].as_str().and_then(|ty| self.own(ty)) {
                condition["type"] = ty.into();
            }
        }
    }

    /// The type of the framework in one that has our prefix.
    fn own<'a>(&self, written: &'a str) -> Option<&'a str> {
        let (operator, ty) = written.split_once('/')?;
        (operator == self.operator && is_of_framework(ty)).then_some(ty)
    }
}

/// The operator that prefixed a type of the framework.
fn prefix_of(written: &str) -> Option<&str> {
    let (operator, ty) = written.split_once('/')?;
    // The name of an operator is a DNS label.
    (is_of_framework(ty) && !operator.contains('.')).then_some(operator)
}

fn is_of_framework(ty: &str) -> bool {
    FRAMEWORK_CONDITIONS.contains(&ty) || OCCASIONAL.contains(&ty)
}

fn conditions(status: &mut Value) -> &mut [Value] {
    let list = status.get_mut("conditions").and_then(Value::as_array_mut);
    list.map(Vec::as_mut_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::K8sType;

    #[test]
    fn a_type_of_the_framework_has_the_prefix_of_its_operator_where_it_is_not_alone() {
        let [alone, beside] = [false, true].map(|it| ConditionNames::new("cook", it));
        assert_eq!((&*alone.written("Ready"), &*beside.written("Ready")), ("Ready", "cook/Ready"));
        for (written, of_alone, of_beside) in [
            ("Synced", [true, false], [false, true]),
            ("cook/Synced", [false, true], [true, false]),
            ("cook/Paused", [false, true], [false, false]),
            ("chef/Synced", [false, false], [false, false]),
            ("Backed", [false, false], [false, false]),
        ] {
            for (names, expected) in [(&alone, of_alone), (&beside, of_beside)] {
                let seen = [names.is_framework(written), names.is_former(written)];
                assert_eq!(seen, expected, "{names:?} {written}");
            }
        }
        for (returned, written) in [
            ("Ready", Some("cook/Ready")),
            ("cook/Ready", Some("cook/Ready")),
            ("chef/Ready", None),
            ("Backed", Some("Backed")),
            ("example.com/Ready", Some("example.com/Ready")),
        ] {
            assert_eq!(beside.returned(returned).as_deref(), written, "{returned}");
        }
    }

    #[test]
    fn an_operator_sees_only_its_own_conditions_of_the_framework() {
        let ty = K8sType::cluster_scoped("example.com/v1", "App", "apps");
        let of = |ty: &str, reason: &str| json!({"type": ty, "reason": reason});
        let value = json!({
            "metadata": {"name": "p", "uid": "u", "resourceVersion": "1"},
            "status": {"conditions": [
                of("Ready", "of before"), of("cook/Ready", "mine"), of("chef/Ready", "theirs"),
                of("Backed", "any"),
            ]},
        });
        let parent = Object::from_value(&ty, &value, &KeptManagers::default()).unwrap();
        let seen = ConditionNames::new("cook", true).alone(&parent).field("status").unwrap();
        let expected = [of("Ready", "mine"), of("chef/Ready", "theirs"), of("Backed", "any")];
        assert_eq!(seen["conditions"], json!(expected));
    }
}
