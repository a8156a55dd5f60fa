//! Whether the names of a definition are free, and the conditions that report it.

use serde_json::Value;

use super::{approval, conditions, webhook};
use crate::resource::{Origin, Resource, Resources};

/// The result of the check of a definition's names.
#[derive(Debug)]
pub(crate) struct Verdict {
    /// The names that it has: those that it asks for where they are free.
    accepted: Value,
    conflict: Option<(&'static str, String)>,
}

/// Checks the names of a definition against those that all definitions of its group have.
pub(crate) fn judge(resources: &Resources, definition: &str, object: &Value) -> Verdict {
    let group = object["spec"]["group"].as_str().unwrap_or_default();
    let is_other = |resource: &&Resource| match &resource.origin {
        Origin::Custom(custom) => resource.id.group == group && custom.definition != definition,
        Origin::BuiltIn(_) | Origin::Definition => false,
    };
    let others: Vec<&Resource> = resources.iter().map(AsRef::as_ref).filter(is_other).collect();
    let used = Used { others, own: &object["status"]["acceptedNames"] };
    used.judge(&object["spec"]["names"])
}

/// The names in use.
struct Used<'a> {
    others: Vec<&'a Resource>,
    own: &'a Value,
}

impl Used<'_> {
    /// The last conflict is reported.
    fn judge(&self, names: &Value) -> Verdict {
        let mut verdict = Verdict { accepted: self.own.clone(), conflict: None };
        for (field, reason) in [("plural", "PluralConflict"), ("singular", "SingularConflict")] {
            let is_used = |name: &str| self.has_resource(name);
            self.decide(names, field, reason, is_used, &mut verdict);
        }
        self.decide_short_names(names, &mut verdict);
        for (field, reason) in [("kind", "KindConflict"), ("listKind", "ListKindConflict")] {
            self.decide(names, field, reason, |name| self.has_kind(name), &mut verdict);
        }
        verdict.accept("categories", &names["categories"]);
        verdict
    }

    fn decide(
        &self,
        names: &Value,
        field: &str,
        reason: &'static str,
        is_used: impl Fn(&str) -> bool,
        verdict: &mut Verdict,
    ) {
        let name = names[field].as_str().unwrap_or_default();
        if self.own[field] != name && is_used(name) {
            verdict.conflict = Some((reason, in_use(name)));
        } else {
            verdict.accept(field, &names[field]);
        }
    }

    fn decide_short_names(&self, names: &Value, verdict: &mut Verdict) {
        const FIELD: &str = "shortNames";
        let own = list(&self.own[FIELD]);
        let requested = list(&names[FIELD]);
        let taken = requested.iter().filter(|name| !own.contains(name) && self.has_resource(name));
        let taken: Vec<_> = taken.map(|name| in_use(name)).collect();
        match &taken[..] {
            [] => verdict.accept(FIELD, &names[FIELD]),
            [one] => verdict.conflict = Some(("ShortNamesConflict", one.clone())),
            more => {
                verdict.conflict = Some(("ShortNamesConflict", format!("[{}]", more.join(", "))));
            }
        }
    }

    fn has_resource(&self, name: &str) -> bool {
        let is_own = ["plural", "singular"].iter().any(|field| self.own[*field] == name)
            || list(&self.own["shortNames"]).contains(&name);
        is_own
            || self.others.iter().any(|other| {
                other.id.plural == name
                    || other.singular == name
                    || other.short_names.iter().any(|short| short == name)
            })
    }

    fn has_kind(&self, kind: &str) -> bool {
        let is_own = ["kind", "listKind"].iter().any(|field| self.own[*field] == kind);
        is_own || self.others.iter().any(|other| other.kind == kind || other.list_kind == kind)
    }
}

fn list(names: &Value) -> Vec<&str> {
    names.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn in_use(name: &str) -> String {
    format!("\"{name}\" is already in use")
}

impl Verdict {
    fn accept(&mut self, field: &str, name: &Value) {
        if !self.accepted.is_object() {
            self.accepted = Value::Object(serde_json::Map::new());
        }
        match self.accepted.as_object_mut() {
            Some(accepted) if name.is_null() => drop(accepted.remove(field)),
            _ => self.accepted[field] = name.clone(),
        }
    }

    /// The names under which the definition is served; none if it is not.
    pub(crate) fn served(&self, definition: &Value) -> Option<&Value> {
        let is_served = self.conflict.is_none() || conditions::is_true(definition, "Established");
        is_served.then_some(&self.accepted)
    }

    /// Writes the result into the status of a definition.
    pub(crate) fn write_into(&self, object: &mut Value, now: &str) {
        object["status"]["acceptedNames"] = self.accepted.clone();
        let (status, reason, message) = match &self.conflict {
            None => ("True", "NoConflicts", "no conflicts found"),
            Some((reason, message)) => ("False", *reason, message.as_str()),
        };
        conditions::set(object, now, ["NamesAccepted", status, reason, message]);
        // Once served, a definition stays served under the names it has.
        if !conditions::is_true(object, "Established") {
            let [status, reason, message] = self.established(object);
            conditions::set(object, now, ["Established", status, reason, message]);
        }
        if let Some([status, reason, message]) = approval::condition(object) {
            let kind = "KubernetesAPIApprovalPolicyConformant";
            conditions::set(object, now, [kind, &status, &reason, &message]);
        }
    }

    fn established(&self, object: &Value) -> [&'static str; 3] {
        let config = &object["spec"]["conversion"]["webhook"]["clientConfig"];
        if self.conflict.is_some() {
            ["False", "NotAccepted", "not all names are accepted"]
        } else if !webhook::is_bundle(&config["caBundle"]) {
            ["False", "InvalidCABundle", "The conversion webhook CABundle is invalid"]
        } else {
            ["True", "InitialNamesAccepted", "the initial names have been accepted"]
        }
    }
}
