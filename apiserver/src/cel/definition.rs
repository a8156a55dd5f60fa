//! Validates the rules of a definition: their form, whether they compile, and what they may cost.

use std::sync::Arc;

use serde_json::Value;

use super::{declared::MAX_REQUEST, escape::escape, field_path, rule::Rule, ty::Declared};
use crate::schema::{FieldError, FieldPath, Schema, go_value};

/// The most that one rule may cost for all the values that it is evaluated for.
const RULE_LIMIT: u64 = 10_000_000;
/// The same for all rules together.
const TOTAL_LIMIT: u64 = 100_000_000;
const REASONS: [&str; 4] =
    ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
const KEYWORD: &str = "x-kubernetes-validations";

/// The errors of the rules in an `openAPIV3Schema` at `path`.
pub(crate) fn errors(open_api: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut judge = Judge { form: Vec::new(), rules: Vec::new(), total: 0, expensive: Vec::new() };
    let place =
        Place { is_resource: true, declared: None, cardinality: Some(1), uncorrelated: None };
    judge.visit(open_api, path, &place);
    let mut errors = judge.form;
    errors.extend(judge.rules);
    if judge.total > TOTAL_LIMIT {
        judge.expensive.sort_by_key(|(_, cost)| std::cmp::Reverse(*cost));
        for (path, _) in judge.expensive.iter().take(4) {
            let detail = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
            errors.push(FieldError::forbidden(path, detail));
        }
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        errors.push(FieldError::forbidden(path, too_expensive(what, judge.total, TOTAL_LIMIT)));
    }
    errors
}

struct Judge {
    form: Vec<FieldError>,
    rules: Vec<FieldError>,
    total: u64,
    expensive: Vec<(FieldPath, u64)>,
}

/// Where a schema stands in the definition.
struct Place {
    is_resource: bool,
    /// What the schema around it declares it as, if that is known.
    declared: Option<Arc<Declared>>,
    /// How many values an object can have here; `None` if nothing bounds them.
    cardinality: Option<u64>,
    /// The list around it whose elements cannot be found again after an update.
    uncorrelated: Option<FieldPath>,
}

impl Judge {
    /// Judges a schema and those inside of it; whether the forms of all of them are right.
    fn visit(&mut self, open_api: &Value, path: &FieldPath, place: &Place) -> bool {
        let before = self.form.len();
        let declared = || {
            let known = place.declared.clone();
            known.or_else(|| {
                Declared::of(&Schema::from_open_api(open_api), place.is_resource, "selfType1")
            })
        };
        let has_rules = rules(open_api).next().is_some();
        let declared = if has_rules || place.declared.is_some() { declared() } else { None };
        let inner = |declared: Option<&Arc<Declared>>, schema: &Value, uncorrelated| Place {
            is_resource: schema["x-kubernetes-embedded-resource"] == true,
            declared: declared.cloned(),
            cardinality: cardinality(open_api, place.cardinality),
            uncorrelated,
        };
        let element = declared.as_ref().and_then(|declared| declared.element());
        let values = &open_api["additionalProperties"];
        if values.is_object() {
            let place = inner(element, values, place.uncorrelated.clone());
            self.visit(values, &path.child("additionalProperties"), &place);
        }
        for (name, property) in open_api["properties"].as_object().into_iter().flatten() {
            let field = escape(name);
            let field =
                declared.as_ref().zip(field).and_then(|(declared, name)| declared.field(&name));
            let place = inner(field, property, place.uncorrelated.clone());
            self.visit(property, &path.child("properties").key(name), &place);
        }
        let items = &open_api["items"];
        if items.is_object() {
            let is_keyed = open_api["x-kubernetes-list-type"] == "map";
            let uncorrelated =
                place.uncorrelated.clone().or_else(|| (!is_keyed).then(|| path.clone()));
            let place = inner(element, items, uncorrelated);
            self.visit(items, &path.child("items"), &place);
        }
        self.form(open_api, path);
        if has_rules && self.form.len() == before {
            self.compile(open_api, path, place, declared.as_ref());
        }
        self.form.len() == before
    }

    fn form(&mut self, open_api: &Value, path: &FieldPath) {
        for (at, rule) in rules(open_api).enumerate() {
            let path = path.child(KEYWORD).index(at);
            self.form.extend(form_errors(&Rule::of(rule), open_api, &path));
        }
    }

    fn compile(
        &mut self,
        open_api: &Value,
        path: &FieldPath,
        place: &Place,
        declared: Option<&Arc<Declared>>,
    ) {
        let Some(declared) = declared else { return };
        for (at, written) in rules(open_api).enumerate() {
            let path = path.child(KEYWORD).index(at);
            let rule = Rule::of(written);
            let at_rule = path.child("rule");
            let expression = match rule.compile(declared) {
                Ok(expression) => expression,
                Err(reason) => {
                    self.rules.push(of_rule(&at_rule, &rule, reason));
                    if rule.optional_old_self.is_some() {
                        self.rules.push(unused_old_self(&path, &rule));
                    }
                    continue;
                }
            };
            let times = place.cardinality.unwrap_or(MAX_REQUEST / (declared.min_size + 1));
            let cost = expression.most(declared).saturating_mul(times);
            self.observe(&at_rule, cost, "estimated rule cost");
            match rule.compile_message(declared) {
                Some(Ok(message)) => {
                    let cost = message.most(declared);
                    self.observe(
                        &path.child("messageExpression"),
                        cost,
                        "estimated messageExpression cost",
                    );
                }
                Some(Err(reason)) => {
                    self.rules.push(of_rule(&path.child("messageExpression"), &rule, reason));
                }
                None => {}
            }
            if !expression.uses_old_self && rule.optional_old_self.is_some() {
                self.rules.push(unused_old_self(&path, &rule));
            }
            if let Some(list) = place.uncorrelated.as_ref().filter(|_| expression.uses_old_self) {
                let detail = format!(
                    "oldSelf cannot be used on the uncorrelatable portion of the schema within {list}"
                );
                self.rules.push(FieldError::invalid(
                    &at_rule,
                    &rule.source.as_str().into(),
                    detail,
                ));
            }
        }
    }

    fn observe(&mut self, path: &FieldPath, cost: u64, what: &str) {
        if cost > RULE_LIMIT {
            self.rules.push(FieldError::forbidden(path, too_expensive(what, cost, RULE_LIMIT)));
        }
        self.total = self.total.saturating_add(cost);
        if cost >= TOTAL_LIMIT / 100 {
            self.expensive.push((path.clone(), cost));
        }
    }
}

fn rules(open_api: &Value) -> impl Iterator<Item = &Value> {
    open_api[KEYWORD].as_array().into_iter().flatten()
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

fn form_errors(rule: &Rule, open_api: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let breaks = |text: &str| text.contains(['\n', '\r']);
    let (text, message) = (rule.source.trim(), rule.message.trim());
    let at_message = path.child("message");
    let written = Value::from(rule.message.as_str());
    if text.is_empty() {
        errors.push(FieldError::required(&path.child("rule"), "rule is not specified"));
    } else if !rule.message.is_empty() && message.is_empty() {
        errors.push(FieldError::invalid(&at_message, &written, "must be non-empty if specified"));
    } else if breaks(message) {
        errors.push(FieldError::invalid(&at_message, &written, "must not contain line breaks"));
    } else if breaks(text) && message.is_empty() {
        let detail = "message must be specified if rule contains line breaks";
        errors.push(FieldError::required(&at_message, detail));
    }
    if !rule.message_expression.is_empty() && rule.message_expression.trim().is_empty() {
        let detail = "messageExpression must be non-empty if specified";
        errors.push(FieldError::required(&path.child("messageExpression"), detail));
    }
    if let Some(reason) = rule.reason.as_deref().filter(|reason| !REASONS.contains(reason)) {
        errors.push(FieldError::not_supported(&path.child("reason"), &reason.into(), REASONS));
    }
    errors.extend(field_path_errors(rule, open_api, &path.child("fieldPath")));
    errors
}

fn field_path_errors(rule: &Rule, open_api: &Value, path: &FieldPath) -> Vec<FieldError> {
    let text = rule.field_path.as_str();
    if text.is_empty() {
        return Vec::new();
    }
    let is_valid = field_path::normalise(text, &Schema::from_open_api(open_api)).is_ok();
    [
        (text.trim().is_empty(), "must be non-empty if specified"),
        (text.contains(['\n', '\r']), "must not contain line breaks"),
        (!is_valid, "must be a valid path"),
    ]
    .into_iter()
    .filter(|(is_wrong, _)| *is_wrong)
    .map(|(_, detail)| FieldError::invalid(path, &text.into(), detail))
    .collect()
}

fn unused_old_self(path: &FieldPath, rule: &Rule) -> FieldError {
    let detail = "may not be set if oldSelf is not used in rule";
    let value = Value::from(rule.optional_old_self.unwrap_or_default());
    FieldError::invalid(&path.child("optionalOldSelf"), &value, detail)
}

/// An error that shows the whole rule, in the form that it has inside of the real server.
fn of_rule(path: &FieldPath, rule: &Rule, detail: String) -> FieldError {
    let text = |text: &str| go_value::json(&text.into());
    let optional = |value: Option<Value>| go_value::json(&value.unwrap_or_default());
    let shown = format!(
        "{{\"Rule\":{},\"Message\":{},\"MessageExpression\":{},\"Reason\":{},\"FieldPath\":{},\"OptionalOldSelf\":{}}}",
        text(&rule.source),
        text(&rule.message),
        text(&rule.message_expression),
        optional(rule.reason.clone().map(Value::from)),
        text(&rule.field_path),
        optional(rule.optional_old_self.map(Value::from)),
    );
    let error = FieldError::invalid(path, &Value::Null, detail);
    FieldError { value: Some(shown), ..error }
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
