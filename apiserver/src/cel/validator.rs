//! Evaluates the rules of a schema for an object.

use std::sync::Arc;

use serde_json::Value;

use super::{
    compiled::{CompiledRule, Rules},
    ratchet::Ratchet,
    rule::{Expression, OLD_SELF, SELF},
    value::{Failure, Val, of_data},
};
use crate::schema::{
    FieldError, FieldErrorKind, FieldPath, ListType, Pair, Schema, SchemaType, correlated,
};

/// The most that all rules for one object may cost together.
const BUDGET: i64 = 10_000_000;
/// The longest message that an expression may give, in bytes.
const LONGEST_MESSAGE: usize = 5 * 1024;

impl Rules {
    /// The errors of an object, and what it cost to find them.
    pub(crate) fn validate(&self, object: &Value, old: Option<&Value>) -> (Vec<FieldError>, i64) {
        let mut run = Run { budget: BUDGET, errors: Vec::new() };
        let pair = old.map(|old| Pair { new: object, old, schema: &self.schema });
        run.visit(self, &FieldPath::root(), object, old, Ratchet::new(pair));
        (run.errors, BUDGET - run.budget)
    }

    /// The errors of a default: it must be right as what it always was, and as something new.
    pub(crate) fn validate_default(&self, path: &FieldPath, value: &Value) -> Vec<FieldError> {
        let validate = |old| {
            let mut run = Run { budget: BUDGET, errors: Vec::new() };
            run.visit(self, path, value, old, Ratchet::new(None));
            run.errors
        };
        let errors = validate(Some(value));
        if errors.is_empty() { validate(None) } else { errors }
    }
}

/// The rules in CEL of a schema, for a caller that makes values which the server would accept.
#[derive(Debug)]
pub struct SchemaRules(Option<Rules>);

impl SchemaRules {
    /// Compiles those of a schema of whole objects, or of values inside of objects. A rule that cannot be compiled is left
    /// out.
    pub fn new(schema: &Schema, is_object: bool) -> Self {
        Self(Rules::of_values(schema, is_object))
    }

    /// Whether they accept a new value, which has its defaults.
    pub fn accept(&self, value: &Value) -> bool {
        self.0.as_ref().is_none_or(|rules| rules.validate(value, None).0.is_empty())
    }
}

struct Run {
    /// What is left; negative when evaluation has ended.
    budget: i64,
    errors: Vec<FieldError>,
}

impl Run {
    fn visit<'a>(
        &mut self,
        rules: &'a Rules,
        path: &FieldPath,
        value: &'a Value,
        old: Option<&'a Value>,
        ratchet: Ratchet<'a>,
    ) {
        if value.is_null() || self.budget < 0 {
            return;
        }
        self.apply(rules, path, value, old.filter(|old| !old.is_null()), ratchet);
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    if self.budget < 0 {
                        return;
                    }
                    let old = old.and_then(|old| old.get(name));
                    if let Some(values) = &rules.values {
                        self.visit(values, &path.key(name), value, old, ratchet.key(name));
                    } else if let Some(field) = rules.properties.get(name) {
                        self.visit(field, &path.child(name), value, old, ratchet.key(name));
                    }
                }
            }
            Value::Array(elements) => {
                let Some(items) = &rules.items else { return };
                let olds = old.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                for (at, element) in elements.iter().enumerate() {
                    if self.budget < 0 {
                        return;
                    }
                    let old = match &rules.schema.list_type {
                        ListType::Map(keys) => correlated(olds, element, keys),
                        _ => None,
                    };
                    self.visit(items, &path.index(at), element, old, ratchet.index(at));
                }
            }
            _ => {}
        }
    }

    fn apply<'a>(
        &mut self,
        rules: &'a Rules,
        path: &FieldPath,
        value: &'a Value,
        old: Option<&'a Value>,
        ratchet: Ratchet<'a>,
    ) {
        if rules.own.is_empty() {
            return;
        }
        let at = Place { path, value, schema: &rules.schema };
        if self.budget <= 0 {
            return self.end(at.of_type("validation failed due to running out of cost budget, no further validation rules will be run"));
        }
        let this = of_data(value, &rules.schema);
        // Without a rule that asks for it there is no old value, not even for messages.
        let is_asked =
            |rule: &CompiledRule| rule.expression.as_ref().is_ok_and(|e| e.uses_old_self);
        let has_old = rules.own.iter().any(is_asked);
        let before = old.filter(|_| has_old).map(|old| of_data(old, &rules.schema));
        for compiled in &rules.own {
            let expression = match &compiled.expression {
                Ok(expression) => expression,
                Err(reason) => {
                    self.errors.push(at.of_type(&format!("rule compile error: {reason}")));
                    continue;
                }
            };
            let is_optional = compiled.rule.optional_old_self == Some(true);
            if expression.uses_old_self && old.is_none() && !is_optional {
                continue;
            }
            let mut variables = Vec::new();
            variables.extend(this.clone().ok().map(|this| (SELF, this)));
            let before = before.clone().and_then(Result::ok);
            if is_optional && has_old {
                variables.push((OLD_SELF, Val::Optional(before.map(Arc::new))));
            } else {
                variables.extend(before.map(|before| (OLD_SELF, before)));
            }
            self.judge(compiled, expression, &at, &variables, ratchet);
            if self.budget < 0 {
                return;
            }
        }
    }

    fn judge<'a>(
        &mut self,
        compiled: &'a CompiledRule,
        expression: &'a Expression,
        at: &Place<'_>,
        variables: &[(&'static str, Val<'a>)],
        ratchet: Ratchet<'_>,
    ) {
        let title = compiled.rule.title();
        let (outcome, cost) = expression.evaluate_with(variables);
        if !self.pay(cost) {
            return self.end(at.of_type("validation failed due to running out of cost budget, no further validation rules will be run"));
        }
        match outcome {
            Ok(Val::Bool(true)) => {}
            Ok(_) => self.refuse(compiled, expression, at, variables, ratchet),
            Err(Failure::TooExpensive) => self.end(at.of_type(&format!(
                "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: {title}"
            ))),
            Err(Failure::Error(reason)) if reason.starts_with("no such overload") => {
                self.errors.push(at.of_type(&format!(
                    "'{reason}': call arguments did not match a supported operator, function or macro signature for rule: {title}"
                )));
            }
            Err(Failure::Crashed(reason)) => {
                self.errors.push(at.of_type(&format!("{reason} evaluating rule: {title}")));
            }
            Err(Failure::Error(reason)) => {
                self.errors.push(at.of_type(&format!("{reason} evaluating rule: {title}")));
            }
        }
    }

    /// Adds the error of a rule that is not kept, unless the value is as before.
    fn refuse<'a>(
        &mut self,
        compiled: &'a CompiledRule,
        expression: &Expression,
        at: &Place<'_>,
        variables: &[(&'static str, Val<'a>)],
        ratchet: Ratchet<'_>,
    ) {
        let path =
            compiled.path.as_ref().map_or_else(|| at.path.clone(), |path| at.path.child(path));
        let ratcheted = !expression.uses_old_self && ratchet.is_unchanged();
        let mut detail = None;
        if let Some(message) = &compiled.message {
            match self.message(message, &compiled.rule.message_expression, variables) {
                Ok(text) => detail = text,
                Err(reason) => {
                    let error = FieldError { path: path.to_string(), ..at.of_type(&reason) };
                    self.errors.extend((!ratcheted).then_some(error));
                    self.budget = -1;
                    return;
                }
            }
        }
        let detail = detail.unwrap_or_else(|| compiled.rule.detail());
        if !ratcheted {
            self.errors.push(at.refusal(&path, compiled.rule.reason.as_deref(), detail));
        }
    }

    /// The message of an expression; `None` if it gives none that can be used.
    fn message<'a>(
        &mut self,
        message: &'a Expression,
        source: &str,
        variables: &[(&'static str, Val<'a>)],
    ) -> Result<Option<String>, String> {
        let (outcome, cost) = message.evaluate_with(variables);
        if !self.pay(cost) {
            return Err("messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run".to_owned());
        }
        match outcome {
            Err(Failure::TooExpensive) => Err(format!(
                "no further validation rules will be run due to call cost exceeds limit for messageExpression: {}",
                crate::schema::go_value::quote(source)
            )),
            Ok(Val::String(text)) => {
                let text = text.trim();
                let is_usable =
                    !text.is_empty() && text.len() <= LONGEST_MESSAGE && !text.contains('\n');
                Ok(is_usable.then(|| text.to_owned()))
            }
            _ => Ok(None),
        }
    }

    /// Takes the cost from the budget, if there is enough left.
    fn pay(&mut self, cost: u64) -> bool {
        match i64::try_from(cost) {
            Ok(cost) if cost <= self.budget => {
                self.budget -= cost;
                true
            }
            _ => false,
        }
    }

    fn end(&mut self, error: FieldError) {
        self.errors.push(error);
        self.budget = -1;
    }
}

/// The value that rules are evaluated for.
struct Place<'a> {
    path: &'a FieldPath,
    value: &'a Value,
    schema: &'a Schema,
}

impl Place<'_> {
    /// An error that names the type instead of the value.
    fn of_type(&self, detail: &str) -> FieldError {
        let name = self.schema.ty.map_or("", SchemaType::as_str);
        FieldError::invalid(self.path, &Value::from(name), detail)
    }

    fn refusal(&self, path: &FieldPath, reason: Option<&str>, detail: String) -> FieldError {
        let is_shown = !matches!(self.schema.ty, Some(SchemaType::Object | SchemaType::Array));
        let error = match reason {
            Some("FieldValueForbidden") => return FieldError::forbidden(path, detail),
            Some("FieldValueRequired") => return FieldError::required(path, detail),
            Some("FieldValueDuplicate") => FieldError::duplicate(path, self.value),
            _ => FieldError::invalid(path, self.value, detail),
        };
        debug_assert!(matches!(error.kind, FieldErrorKind::Invalid | FieldErrorKind::Duplicate));
        if is_shown { error } else { FieldError { value: None, ..error } }
    }
}
