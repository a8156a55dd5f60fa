//! Field selectors: `metadata.name=x,metadata.namespace!=y`.

use std::fmt;

use super::ParseError;
use crate::schema::go_value;

/// All requirements must be met; without requirements everything matches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldSelector {
    requirements: Vec<FieldRequirement>,
}

/// The requirement for one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldRequirement {
    /// The field, for example `metadata.name`.
    pub field: String,
    /// How it is compared.
    pub operator: FieldOperator,
    /// What it is compared with; a field that is absent is empty.
    pub value: String,
}

/// How a field is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldOperator {
    /// `a=b` or `a==b`
    Equals,
    /// `a!=b`
    NotEquals,
}

impl FieldSelector {
    /// Parses the parameter of a list or watch.
    pub fn parse(selector: &str) -> Result<Self, ParseError> {
        let mut terms = split_terms(selector);
        terms.sort_unstable();
        let terms = terms.into_iter().filter(|term| !term.is_empty());
        let mut requirements = Vec::new();
        for term in terms {
            requirements.push(requirement(selector, term)?);
        }
        requirements.retain(|it| !(it.field.is_empty() && it.value.is_empty()));
        Ok(Self { requirements })
    }

    /// Whether everything matches.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// The requirements.
    pub fn requirements(&self) -> &[FieldRequirement] {
        &self.requirements
    }

    /// The fields of the requirements.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.requirements.iter().map(|requirement| requirement.field.as_str())
    }

    /// Refuses a selector with fields that the resource does not support.
    pub fn check_fields(&self, known: &[&str]) -> Result<(), ParseError> {
        let Some(unknown) = self.fields().find(|field| !known.contains(field)) else {
            return Ok(());
        };
        let known: Vec<_> = known.iter().map(|field| go_value::quote(field)).collect();
        let unknown = go_value::quote(unknown);
        let known = known.join(", ");
        Err(ParseError::new(format!("{unknown} is not a known field selector: only {known}")))
    }

    /// The one value that this field must have, if there is one.
    pub fn exact(&self, field: &str) -> Option<&str> {
        let exact = |requirement: &&FieldRequirement| {
            requirement.field == field && requirement.operator == FieldOperator::Equals
        };
        self.requirements.iter().find(exact).map(|requirement| requirement.value.as_str())
    }

    /// Whether an object matches whose fields `get` looks up; an absent field is empty.
    pub fn matches<'a>(&self, get: impl Fn(&str) -> Option<&'a str>) -> bool {
        let mut requirements = self.requirements.iter();
        requirements.all(|it| it.accepts(get(&it.field).unwrap_or_default()))
    }
}

impl FieldRequirement {
    /// Whether a field may have a value.
    pub(crate) fn accepts(&self, value: &str) -> bool {
        (value == self.value) == (self.operator == FieldOperator::Equals)
    }
}

/// Splits at commas that are not escaped.
fn split_terms(selector: &str) -> Vec<&str> {
    let mut terms = Vec::new();
    let (mut start, mut escaped) = (0, false);
    for (index, character) in selector.char_indices() {
        if character == ',' && !escaped {
            terms.push(&selector[start..index]);
            start = index + 1;
        }
        escaped = character == '\\' && !escaped;
    }
    terms.push(&selector[start..]);
    terms
}

fn requirement(selector: &str, term: &str) -> Result<FieldRequirement, ParseError> {
    let Some((field, operator, value)) = split_term(term) else {
        let message = format!("invalid selector: '{selector}'; can't understand '{term}'");
        return Err(ParseError::new(message));
    };
    Ok(FieldRequirement { field: field.to_owned(), operator, value: unescape(value)? })
}

fn split_term(term: &str) -> Option<(&str, FieldOperator, &str)> {
    let at = term.find('=')?;
    let (field, value) = (&term[..at], &term[at + 1..]);
    match field.strip_suffix('!') {
        Some(field) => Some((field, FieldOperator::NotEquals, value)),
        None => Some((field, FieldOperator::Equals, value.strip_prefix('=').unwrap_or(value))),
    }
}

fn unescape(value: &str) -> Result<String, ParseError> {
    let mut out = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => out.push(escaped(characters.next())?),
            ',' | '=' => {
                let code = u32::from(character);
                return Err(ParseError::new(format!(
                    "invalid field selector: unescaped character in value: {code}"
                )));
            }
            _ => out.push(character),
        }
    }
    Ok(out)
}

fn escaped(character: Option<char>) -> Result<char, ParseError> {
    match character {
        Some(plain @ ('\\' | ',' | '=')) => Ok(plain),
        other => {
            let other = other.map(String::from).unwrap_or_default();
            Err(ParseError::new(format!(
                "invalid field selector: invalid escape sequence: \\{other}"
            )))
        }
    }
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.requirements.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let operator = match requirement.operator {
                FieldOperator::Equals => "=",
                FieldOperator::NotEquals => "!=",
            };
            let value = requirement.value.replace('\\', "\\\\");
            let value = value.replace(',', "\\,").replace('=', "\\=");
            write!(f, "{comma}{}{operator}{value}", requirement.field)?;
        }
        Ok(())
    }
}
