//! Whether the names of a definition are free, and the conditions that report it.

use serde_json::{Value, json};

use crate::resource::{Resource, Resources};

/// The result of the check of a definition's names.
#[derive(Debug)]
pub(crate) struct Verdict {
    names: Value,
    conflict: Option<(&'static str, String)>,
}

/// Checks the names of a definition against all others in its group.
pub(crate) fn judge(resources: &Resources, definition: &str, object: &Value) -> Verdict {
    let names = object["spec"]["names"].clone();
    let group = object["spec"]["group"].as_str().unwrap_or_default();
    let mine = resources.of_definition(definition);
    let others: Vec<&Resource> = resources
        .iter()
        .filter(|r| r.id.group == group && !mine.iter().any(|m| m.id == r.id))
        .map(AsRef::as_ref)
        .collect();
    Verdict { conflict: conflict(&names, &others), names }
}

fn conflict(names: &Value, others: &[&Resource]) -> Option<(&'static str, String)> {
    let taken = |name: &str| {
        others.iter().any(|other| {
            other.id.plural == name
                || other.singular == name
                || other.short_names.iter().any(|short| short == name)
        })
    };
    let kind_taken =
        |kind: &str| others.iter().any(|other| other.kind == kind || other.list_kind == kind);
    let in_use = |name: &str| format!("\"{name}\" is already in use");
    let text = |field: &str| names[field].as_str().unwrap_or_default();
    for (field, reason) in [("plural", "PluralConflict"), ("singular", "SingularConflict")] {
        if taken(text(field)) {
            return Some((reason, in_use(text(field))));
        }
    }
    let short_names = names["shortNames"].as_array().into_iter().flatten();
    if let Some(name) = short_names.filter_map(Value::as_str).find(|name| taken(name)) {
        return Some(("ShortNamesConflict", in_use(name)));
    }
    for (field, reason) in [("kind", "KindConflict"), ("listKind", "ListKindConflict")] {
        if kind_taken(text(field)) {
            return Some((reason, in_use(text(field))));
        }
    }
    None
}

impl Verdict {
    /// Whether the definition can be served.
    pub(crate) fn accepted(&self) -> bool {
        self.conflict.is_none()
    }

    /// Writes the result into the status of a definition.
    pub(crate) fn write_into(&self, object: &mut Value, now: &str) {
        if self.accepted() {
            object["status"]["acceptedNames"] = self.names.clone();
        }
        let (status, reason, message) = match &self.conflict {
            None => ("True", "NoConflicts", "no conflicts found"),
            Some((reason, message)) => ("False", *reason, message.as_str()),
        };
        set_condition(object, now, ["NamesAccepted", status, reason, message]);
        // Once served, a definition stays served under the names it has.
        if self.accepted() {
            let message = "the initial names have been accepted";
            set_condition(object, now, ["Established", "True", "InitialNamesAccepted", message]);
        } else if !is_true(object, "Established") {
            let message = "not all names are accepted";
            set_condition(object, now, ["Established", "False", "NotAccepted", message]);
        }
    }
}

/// Whether a definition is served.
pub(crate) fn is_established(object: &Value) -> bool {
    is_true(object, "Established")
}

fn is_true(object: &Value, kind: &str) -> bool {
    let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    conditions.into_iter().any(|c| c["type"] == kind && c["status"] == "True")
}

fn set_condition(object: &mut Value, now: &str, [kind, status, reason, message]: [&str; 4]) {
    let condition = json!({
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": now,
    });
    let conditions = &mut object["status"]["conditions"];
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let Some(conditions) = conditions.as_array_mut() else { return };
    match conditions.iter_mut().find(|c| c["type"] == kind) {
        Some(found) if found["status"] == status && found["reason"] == reason => {}
        Some(found) => *found = condition,
        None => conditions.push(condition),
    }
}
