//! Judges a value by a node of its schema, check by check in the order of the real server.

use serde_json::{Map, Value};

use super::{
    node::{Branches, Node, Sizes, Text},
    number,
    outcome::Outcome,
    place::Place,
};
use crate::schema::{FieldError, SchemaType, correlation::Pair, go_value};

impl Node {
    /// Judges a value, and forgets its errors if it is as before.
    pub(super) fn judge_unless_unchanged(&self, value: &Value, at: &Place<'_>) -> Outcome {
        let outcome = self.judge(value, at);
        if !outcome.is_valid() && at.pair.is_some_and(Pair::is_equal) {
            return outcome.excused();
        }
        outcome
    }

    fn judge(&self, value: &Value, at: &Place<'_>) -> Outcome {
        let mut outcome = Outcome::default();
        if value.is_null() {
            outcome.merge(self.null(at));
            outcome.merge(self.member(value, at));
            return outcome;
        }
        if !self.types.is_empty() || self.format.is_some() {
            outcome.step(self.ty(value, at));
        }
        outcome.step(self.branches(value, at));
        match value {
            Value::String(text) => self.text(text, value, at, &mut outcome),
            Value::Number(number) => outcome.step(number::judge(self, number, at)),
            Value::Array(items) => outcome.step(self.list(items, at)),
            _ => {}
        }
        outcome.step(self.member(value, at));
        if let Value::Object(fields) = value {
            outcome.step(self.fields(fields, at));
        }
        outcome.matches += 1;
        if self.branches.is_some() { outcome.without_repetition() } else { outcome }
    }

    fn null(&self, at: &Place<'_>) -> Outcome {
        if self.types.is_empty() || self.nullable {
            return Outcome::passed();
        }
        Outcome::of(at.wrong_type(&self.type_names(), "null"))
    }

    /// With a format the error is about the format, and lists pass for strings.
    fn ty(&self, value: &Value, at: &Place<'_>) -> Outcome {
        let has = |ty| self.types.contains(&ty);
        let (actual, form) = type_of(value);
        let is_integer = actual == "number"
            && has(SchemaType::Integer)
            && value.as_f64().is_some_and(number::is_whole);
        let fits = self.types.iter().any(|ty| ty.as_str() == actual)
            || is_integer
            || (actual == "integer" && has(SchemaType::Number));
        let is_text = matches!(value, Value::String(_) | Value::Array(_));
        let numeric = has(SchemaType::Number) || has(SchemaType::Integer);
        match &self.format {
            Some(format) if !is_text && !fits && format.name != form => {
                Outcome::of(at.wrong_type(&format.name, form))
            }
            Some(_) if is_text && !numeric => Outcome::passed(),
            _ if fits => Outcome::passed(),
            _ => Outcome::of(at.wrong_type(&self.type_names(), actual)),
        }
    }

    fn type_names(&self) -> String {
        self.types.iter().map(|ty| ty.as_str()).collect::<Vec<_>>().join(",")
    }

    fn branches(&self, value: &Value, at: &Place<'_>) -> Outcome {
        let mut outcome = Outcome::passed();
        if let Some(branches) = &self.branches {
            branches.any_of(value, at, &mut outcome);
            branches.one_of(value, at, &mut outcome);
            branches.all_of(value, at, &mut outcome);
            if branches.not.as_ref().is_some_and(|not| not.judge(value, at).is_valid()) {
                let name = go_value::quote(&at.name);
                outcome.push(at.plain(format!("{name} must not validate the schema (not)")));
            }
        }
        outcome
    }

    fn text(&self, text: &str, value: &Value, at: &Place<'_>, outcome: &mut Outcome) {
        let wrong = self.text.as_ref().and_then(|rules| rules.wrong(text, value, at));
        outcome.step(wrong.map_or_else(Outcome::default, Outcome::of));
        let Some(format) = &self.format else { return };
        let Some(check) = format.check else { return };
        let wrong = (!check(text)).then(|| {
            let detail = format!(
                "{} in body must be of type {}: {}",
                at.name,
                format.name,
                go_value::quote(text)
            );
            Outcome::of(FieldError::type_invalid(&at.path(), value, detail))
        });
        outcome.step(wrong.unwrap_or_default());
    }

    fn list(&self, items: &[Value], at: &Place<'_>) -> Outcome {
        let mut outcome = Outcome::passed();
        if let Some(node) = &self.items {
            for (index, item) in items.iter().enumerate() {
                outcome.merge(node.judge_unless_unchanged(item, &at.element(index)));
            }
        }
        if let Some(sizes) = &self.list {
            sizes.judge(items.len(), "items", at, &mut outcome);
            let is_repeated = |(at, item): (usize, &Value)| items[..at].contains(item);
            if sizes.unique && items.iter().enumerate().any(is_repeated) {
                let detail = "shouldn't contain duplicates".to_owned();
                outcome.push(at.invalid(&Value::from(""), &detail));
            }
        }
        outcome
    }

    /// The values of an enum are compared as the type that they have.
    fn member(&self, value: &Value, at: &Place<'_>) -> Outcome {
        let is_member = self.enumeration.iter().any(|known| is_same(known, value));
        if self.enumeration.is_empty() || is_member {
            return Outcome::default();
        }
        let known: Vec<_> = self.enumeration.iter().map(go_value::bare).collect();
        let known = known.iter().map(String::as_str);
        Outcome::of(FieldError::not_supported(&at.path(), value, known))
    }

    fn fields(&self, fields: &Map<String, Value>, at: &Place<'_>) -> Outcome {
        let mut outcome = Outcome::default();
        if let Some(sizes) = &self.object {
            sizes.judge(fields.len(), "properties", at, &mut outcome);
        }
        if let Some(node) = &self.values {
            let others = fields.iter().filter(|(name, _)| !self.properties.contains_key(*name));
            for (name, value) in others {
                outcome.merge(node.judge_unless_unchanged(value, &at.value(name)));
            }
        }
        for (name, node) in &self.properties {
            if let Some(value) = fields.get(name) {
                let mut place = at.property(name);
                if at.name.is_empty() && matches!(name.as_str(), "apiVersion" | "kind") {
                    place.pair = None;
                }
                outcome.merge(node.judge_unless_unchanged(value, &place));
            }
        }
        for name in self.required.iter().filter(|name| !fields.contains_key(*name)) {
            outcome.push(FieldError::required(&at.value(name).path(), ""));
        }
        outcome
    }
}

impl Branches {
    /// Of several failed branches, the errors of the first with the most checks are reported.
    fn any_of(&self, value: &Value, at: &Place<'_>, outcome: &mut Outcome) {
        let mut best: Option<Outcome> = None;
        for branch in &self.any_of {
            let result = branch.judge(value, at);
            if result.is_valid() {
                outcome.merge(result);
                return;
            }
            if best.as_ref().is_none_or(|best| result.matches > best.matches) {
                best = Some(result);
            }
        }
        if let Some(best) = best {
            let name = go_value::quote(&at.name);
            outcome.push(at.plain(format!("{name} must validate at least one schema (anyOf)")));
            outcome.merge(best);
        }
    }

    fn one_of(&self, value: &Value, at: &Place<'_>, outcome: &mut Outcome) {
        if self.one_of.is_empty() {
            return;
        }
        let (mut best, mut first, mut valid): (Option<Outcome>, Option<Outcome>, usize) =
            (None, None, 0);
        for branch in &self.one_of {
            let result = branch.judge(value, at);
            if result.is_valid() {
                valid += 1;
                best = None;
                first.get_or_insert(result);
            } else if valid == 0 && best.as_ref().is_none_or(|best| result.matches > best.matches) {
                best = Some(result);
            }
        }
        if valid == 1 {
            outcome.merge(first.unwrap_or_default());
            return;
        }
        let found = match valid {
            0 => "Found none valid".to_owned(),
            valid => format!("Found {valid} valid alternatives"),
        };
        let name = go_value::quote(&at.name);
        outcome.push(
            at.plain(format!("{name} must validate one and only one schema (oneOf). {found}")),
        );
        outcome.merge(best.unwrap_or_default());
    }

    fn all_of(&self, value: &Value, at: &Place<'_>, outcome: &mut Outcome) {
        let mut valid = 0;
        for branch in &self.all_of {
            let result = branch.judge(value, at);
            valid += usize::from(result.is_valid());
            outcome.merge(result);
        }
        if valid < self.all_of.len() {
            let none = if valid == 0 { ". None validated" } else { "" };
            let name = go_value::quote(&at.name);
            outcome.push(at.plain(format!("{name} must validate all the schemas (allOf){none}")));
        }
    }
}

impl Text {
    /// The first rule that the text breaks.
    fn wrong(&self, text: &str, value: &Value, at: &Place<'_>) -> Option<FieldError> {
        let length = || i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        if self.longest.is_some_and(|longest| length() > longest) {
            return self.longest.map(|longest| FieldError::too_long(&at.path(), longest));
        }
        if let Some(shortest) = self.shortest.filter(|shortest| length() < *shortest) {
            let detail = format!("should be at least {shortest} chars long");
            return Some(at.invalid(value, &detail));
        }
        let (pattern, _) = self.pattern.as_ref().filter(|(_, regex)| !regex.is_match(text))?;
        Some(at.invalid(value, &format!("should match '{pattern}'")))
    }
}

impl Sizes {
    fn judge(&self, count: usize, what: &str, at: &Place<'_>, outcome: &mut Outcome) {
        let size = i64::try_from(count).unwrap_or(i64::MAX);
        if let Some(least) = self.least.filter(|least| size < *least) {
            let detail = format!("should have at least {least} {what}");
            outcome.push(at.invalid(&size.into(), &detail));
        }
        if let Some(most) = self.most.filter(|most| size > *most) {
            outcome.push(FieldError::too_many(&at.path(), count, most));
        }
    }
}

/// The type of a value, and the format that a number has by itself.
fn type_of(value: &Value) -> (&'static str, &'static str) {
    match value {
        Value::Null => ("null", ""),
        Value::Bool(_) => ("boolean", ""),
        Value::Number(number) if number.is_i64() => ("integer", "int64"),
        Value::Number(_) => ("number", "float64"),
        Value::String(_) => ("string", ""),
        Value::Array(_) => ("array", ""),
        Value::Object(_) => ("object", ""),
    }
}

/// Whether a value is one of an enum, as the type that the enum has it as.
fn is_same(known: &Value, value: &Value) -> bool {
    match (known, value) {
        (Value::Null, _) => false,
        (Value::Number(known), Value::Number(number)) => match known.as_i64() {
            Some(known) => number::truncated(number) == known,
            None => known.as_f64() == number.as_f64(),
        },
        _ => known == value,
    }
}
