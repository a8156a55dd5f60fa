//! Compiles the rules of a definition: whether they compile, and what they may cost.

use std::sync::Arc;

use serde_json::Value;

use super::{
    declared::MAX_REQUEST,
    escape::escape,
    rule::Rule,
    rule_form::{KEYWORD, rules},
    ty::Declared,
};
use crate::schema::{FieldError, FieldPath, Schema, go_schema};

/// The most that one rule may cost for all the values that it is evaluated for.
const RULE_LIMIT: u64 = 10_000_000;
/// The same for all rules together.
const TOTAL_LIMIT: u64 = 100_000_000;

/// Compiles the rules of a definition, and adds up what they may cost.
#[derive(Debug, Default)]
pub(super) struct Judge {
    /// Whether rules are accepted that cost too much alone: those of a schema that did not change.
    is_lenient: bool,
    total: u64,
    expensive: Vec<(FieldPath, u64)>,
}

/// Where a schema stands in the definition.
#[derive(Debug, Clone)]
pub(super) struct Place {
    is_resource: bool,
    /// What the schema around it declares it as, if that is known.
    declared: Option<Arc<Declared>>,
    /// How many values an object can have here; `None` if nothing bounds them.
    cardinality: Option<u64>,
    /// The list around it whose elements cannot be found again after an update.
    uncorrelated: Option<FieldPath>,
}

/// A schema, and the place of what is inside of it.
pub(super) struct Inside<'a> {
    open_api: &'a Value,
    path: &'a FieldPath,
    place: &'a Place,
    declared: Option<Arc<Declared>>,
}

impl Place {
    /// The place of the schema of whole objects.
    pub(super) fn root() -> Self {
        Self { is_resource: true, declared: None, cardinality: Some(1), uncorrelated: None }
    }

    /// What is known of a schema at this place.
    pub(super) fn enter<'a>(&'a self, open_api: &'a Value, path: &'a FieldPath) -> Inside<'a> {
        let known = || {
            let of_schema =
                || Declared::of(&Schema::from_open_api(open_api), self.is_resource, "selfType1");
            self.declared.clone().or_else(of_schema)
        };
        let is_needed = rules(open_api).next().is_some() || self.declared.is_some();
        let declared = if is_needed { known() } else { None };
        Inside { open_api, path, place: self, declared }
    }
}

impl Inside<'_> {
    /// The place of the values of a map.
    pub(super) fn values(&self, schema: &Value) -> Place {
        self.inner(self.declared.as_ref().and_then(|declared| declared.element()), schema, false)
    }

    /// The place of the elements of a list.
    pub(super) fn items(&self, schema: &Value) -> Place {
        let is_keyed = self.open_api["x-kubernetes-list-type"] == "map";
        let element = self.declared.as_ref().and_then(|declared| declared.element());
        self.inner(element, schema, !is_keyed)
    }

    /// The place of a field.
    pub(super) fn property(&self, name: &str, schema: &Value) -> Place {
        let declared = self.declared.as_ref().zip(escape(name));
        let field = declared.and_then(|(declared, name)| declared.field(&name));
        self.inner(field, schema, false)
    }

    fn inner(
        &self,
        declared: Option<&Arc<Declared>>,
        schema: &Value,
        is_uncorrelated: bool,
    ) -> Place {
        let outer = self.place.uncorrelated.clone();
        Place {
            is_resource: schema["x-kubernetes-embedded-resource"] == true,
            declared: declared.cloned(),
            cardinality: cardinality(self.open_api, self.place.cardinality),
            uncorrelated: outer.or_else(|| is_uncorrelated.then(|| self.path.clone())),
        }
    }
}

impl Judge {
    /// One that accepts what was accepted before, if the schema did not change.
    pub(super) fn new(is_lenient: bool) -> Self {
        Self { is_lenient, ..Self::default() }
    }

    /// The errors of the expressions of one schema.
    pub(super) fn compile(&mut self, inside: &Inside<'_>) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let Some(declared) = &inside.declared else { return errors };
        for (at, written) in rules(inside.open_api).enumerate() {
            let path = inside.path.child(KEYWORD).index(at);
            self.rule(written, &path, inside.place, declared, &mut errors);
        }
        errors
    }

    fn rule(
        &mut self,
        written: &Value,
        path: &FieldPath,
        place: &Place,
        declared: &Arc<Declared>,
        errors: &mut Vec<FieldError>,
    ) {
        let rule = Rule::of(written);
        let at_rule = path.child("rule");
        let compiled = rule.compile(declared);
        let uses_old_self = compiled.as_ref().is_ok_and(|compiled| compiled.uses_old_self);
        match compiled {
            Ok(expression) => {
                let times = place.cardinality.unwrap_or(MAX_REQUEST / (declared.min_size + 1));
                let cost = expression.most(declared).saturating_mul(times);
                errors.extend(self.observe(&at_rule, cost, "estimated rule cost"));
                errors.extend(self.message(written, &path.child("messageExpression"), declared));
            }
            Err(reason) => errors.push(of_rule(&at_rule, written, reason)),
        }
        if !uses_old_self && rule.optional_old_self.is_some() {
            errors.push(unused_old_self(path, &rule));
        }
        if let Some(around) = place.uncorrelated.as_ref().filter(|_| uses_old_self) {
            let detail = format!(
                "oldSelf cannot be used on the uncorrelatable portion of the schema within {around}"
            );
            errors.push(FieldError::invalid(&at_rule, &rule.source.as_str().into(), detail));
        }
    }

    fn message(
        &mut self,
        written: &Value,
        path: &FieldPath,
        declared: &Arc<Declared>,
    ) -> Option<FieldError> {
        match Rule::of(written).compile_message(declared)? {
            Ok(message) => {
                self.observe(path, message.most(declared), "estimated messageExpression cost")
            }
            Err(reason) => Some(of_rule(path, written, reason)),
        }
    }

    fn observe(&mut self, path: &FieldPath, cost: u64, what: &str) -> Option<FieldError> {
        self.total = self.total.saturating_add(cost);
        if cost >= TOTAL_LIMIT / 100 {
            self.expensive.push((path.clone(), cost));
        }
        (cost > RULE_LIMIT && !self.is_lenient)
            .then(|| FieldError::forbidden(path, too_expensive(what, cost, RULE_LIMIT)))
    }

    /// The errors of the cost of all rules together, for the schema at `path`.
    pub(super) fn total_errors(mut self, path: &FieldPath) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if self.total > TOTAL_LIMIT {
            self.expensive.sort_by_key(|(_, cost)| std::cmp::Reverse(*cost));
            for (path, _) in self.expensive.iter().take(4) {
                let detail = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
                errors.push(FieldError::forbidden(path, detail));
            }
            let what =
                "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
            errors.push(FieldError::forbidden(path, too_expensive(what, self.total, TOTAL_LIMIT)));
        }
        errors
    }
}

/// How many values can be inside of as many values of this schema.
fn cardinality(open_api: &Value, outer: Option<u64>) -> Option<u64> {
    let outer = outer?;
    let bound = |keyword: &str| {
        let bound = open_api[keyword].as_i64()?;
        Some(outer.saturating_mul(u64::try_from(bound).unwrap_or(0)))
    };
    match open_api["type"].as_str() {
        Some("array") => bound("maxItems"),
        Some("object") if !open_api["additionalProperties"].is_null() => bound("maxProperties"),
        _ => Some(outer),
    }
}

fn unused_old_self(path: &FieldPath, rule: &Rule) -> FieldError {
    let detail = "may not be set if oldSelf is not used in rule";
    let value = Value::from(rule.optional_old_self.unwrap_or_default());
    FieldError::invalid(&path.child("optionalOldSelf"), &value, detail)
}

/// An error that shows the whole rule, in the form that it has inside of the real server.
fn of_rule(path: &FieldPath, written: &Value, detail: String) -> FieldError {
    let error = FieldError::invalid(path, &Value::Null, detail);
    FieldError { value: Some(go_schema::print_rule(written)), ..error }
}

fn too_expensive(what: &str, cost: u64, limit: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "as the real server, which divides floats too")]
    let times = cost as f64 / limit as f64;
    let factor = if times > 100.0 {
        "more than 100x".to_owned()
    } else if times < 1.5 {
        format!("{times:.6}x")
    } else {
        format!("{times:.1}x")
    };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
    )
}
