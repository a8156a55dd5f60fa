//! Label selectors: `a=b,c!=d,e in (x,y),f notin (z),g,!h,i>1`.
//! Not `kube::core::Selector`, which does not parse text and has neither `>` nor `<`.

use std::{collections::BTreeSet, fmt};

use super::{
    ParseError,
    lexer::{Kind, Token, tokens},
};
use crate::schema::{FieldError, FieldPath, name_rule};

/// All requirements must be met; without requirements everything matches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelSelector {
    requirements: Vec<Requirement>,
}

/// The requirement for one label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    key: String,
    operator: Operator,
    values: BTreeSet<String>,
}

/// How a label is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `a=b`
    Equals,
    /// `a!=b`; met also without the label.
    NotEquals,
    /// `a in (b,c)`
    In,
    /// `a notin (b,c)`; met also without the label.
    NotIn,
    /// `a`
    Exists,
    /// `!a`
    DoesNotExist,
    /// `a>1`, with integers.
    GreaterThan,
    /// `a<1`, with integers.
    LessThan,
}

impl LabelSelector {
    /// Parses the parameter of a list or watch.
    pub fn parse(selector: &str) -> Result<Self, ParseError> {
        let mut parser = Parser { tokens: tokens(selector), position: 0 };
        let mut requirements = parser.selector()?;
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(Self { requirements })
    }

    /// Whether everything matches.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// The requirements, sorted by key.
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// Whether an object matches whose labels `get` looks up.
    pub fn matches<'a>(&self, get: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements.iter().all(|requirement| requirement.is_met_by(get(&requirement.key)))
    }

    /// Whether an object with these labels, a JSON object or nothing, matches.
    pub fn matches_json(&self, labels: Option<&serde_json::Value>) -> bool {
        self.matches(|key| labels?.get(key)?.as_str())
    }
}

impl Requirement {
    /// The label.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// How it is compared.
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// What it is compared with.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(String::as_str)
    }

    fn is_met_by(&self, value: Option<&str>) -> bool {
        let listed = |value: &str| self.values.contains(value);
        match self.operator {
            Operator::Equals | Operator::In => value.is_some_and(listed),
            Operator::NotEquals | Operator::NotIn => !value.is_some_and(listed),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::GreaterThan => {
                self.compare(value).is_some_and(|(label, limit)| label > limit)
            }
            Operator::LessThan => self.compare(value).is_some_and(|(label, limit)| label < limit),
        }
    }

    fn compare(&self, value: Option<&str>) -> Option<(i64, i64)> {
        Some((value?.parse().ok()?, self.values.first()?.parse().ok()?))
    }

    fn new(key: String, operator: Operator, values: BTreeSet<String>) -> Result<Self, ParseError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("values");
        let numeric = matches!(operator, Operator::GreaterThan | Operator::LessThan);
        for (index, value) in values.iter().enumerate() {
            if numeric && value.parse::<i64>().is_err() {
                let detail = "for 'Gt', 'Lt' operators, the value must be an integer";
                let path = path.index(index);
                errors.push(FieldError::invalid(&path, &value.as_str().into(), detail));
            }
        }
        for (index, value) in values.iter().enumerate() {
            let broken = name_rule::label_value(value).join("; ");
            if !broken.is_empty() {
                let path = path.index(index).key(&key);
                errors.push(FieldError::invalid(&path, &value.as_str().into(), broken));
            }
        }
        match aggregate(&errors) {
            Some(error) => Err(ParseError::new(error)),
            None => Ok(Self { key, operator, values }),
        }
    }
}

/// Joins several errors without repetition.
fn aggregate(errors: &[FieldError]) -> Option<String> {
    let mut texts: Vec<String> = Vec::new();
    for error in errors {
        let text = error.to_string();
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    match texts.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        many => Some(format!("[{}]", many.join(", "))),
    }
}

struct Parser {
    tokens: Vec<Token>,
    position: usize,
}

impl Parser {
    fn selector(&mut self) -> Result<Vec<Requirement>, ParseError> {
        let mut requirements = Vec::new();
        loop {
            let next = self.peek();
            match next.kind {
                Kind::End => return Ok(requirements),
                Kind::Identifier | Kind::In | Kind::NotIn | Kind::Not => {}
                _ => return Err(found(&next, "!, identifier, or 'end of string'")),
            }
            requirements.push(self.requirement().map_err(|error| {
                ParseError::new(format!("unable to parse requirement: {error}"))
            })?);
            let separator = self.next();
            match separator.kind {
                Kind::End => return Ok(requirements),
                Kind::Comma if self.peek().is_name() || self.peek().kind == Kind::Not => {}
                Kind::Comma => return Err(found(&self.peek(), "identifier after ','")),
                _ => return Err(found(&separator, "',' or 'end of string'")),
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, ParseError> {
        let negated = self.peek().kind == Kind::Not;
        if negated {
            self.next();
        }
        let key = self.key()?;
        if negated {
            return Requirement::new(key, Operator::DoesNotExist, BTreeSet::new());
        }
        if matches!(self.peek().kind, Kind::End | Kind::Comma) {
            return Requirement::new(key, Operator::Exists, BTreeSet::new());
        }
        let operator = self.operator()?;
        let values = match operator {
            Operator::In | Operator::NotIn => self.values()?,
            _ => BTreeSet::from([self.exact_value()?]),
        };
        Requirement::new(key, operator, values)
    }

    fn key(&mut self) -> Result<String, ParseError> {
        let key = self.next();
        if !key.is_name() {
            return Err(found(&key, "identifier"));
        }
        let broken = name_rule::label_key(&key.text).join("; ");
        if !broken.is_empty() {
            let key = key.text.as_str().into();
            let error = FieldError::invalid(&FieldPath::root(), &key, broken);
            return Err(ParseError::new(error.to_string()));
        }
        Ok(key.text)
    }

    fn operator(&mut self) -> Result<Operator, ParseError> {
        let token = self.next();
        Ok(match token.kind {
            Kind::In => Operator::In,
            Kind::NotIn => Operator::NotIn,
            Kind::Equals | Kind::DoubleEquals => Operator::Equals,
            Kind::NotEquals => Operator::NotEquals,
            Kind::Greater => Operator::GreaterThan,
            Kind::Less => Operator::LessThan,
            _ => return Err(found(&token, "in, notin, =, ==, !=, gt, lt")),
        })
    }

    /// The value right of `=`, which may be empty.
    fn exact_value(&mut self) -> Result<String, ParseError> {
        if matches!(self.peek().kind, Kind::End | Kind::Comma) {
            return Ok(String::new());
        }
        let value = self.next();
        if value.is_name() { Ok(value.text) } else { Err(found(&value, "identifier")) }
    }

    /// `(a,b)`; what is missing between commas is the empty value.
    fn values(&mut self) -> Result<BTreeSet<String>, ParseError> {
        let open = self.next();
        if open.kind != Kind::Open {
            return Err(ParseError::new(format!("found '{}' expected: '('", open.text)));
        }
        let first = self.peek();
        if !first.is_name() && !matches!(first.kind, Kind::Comma | Kind::Close) {
            return Err(found(&first, "',', ')' or identifier"));
        }
        let mut values = BTreeSet::new();
        let mut is_first = true;
        loop {
            let token = self.next();
            match token.kind {
                _ if token.is_name() => {
                    values.insert(token.text);
                    is_first = false;
                    if !matches!(self.peek().kind, Kind::Comma | Kind::Close) {
                        return Err(found(&self.peek(), "',' or ')'"));
                    }
                }
                Kind::Comma => {
                    if is_first || matches!(self.peek().kind, Kind::Comma | Kind::Close) {
                        values.insert(String::new());
                        is_first = false;
                    }
                }
                Kind::Close => {
                    if is_first {
                        values.insert(String::new());
                    }
                    return Ok(values);
                }
                _ => return Err(found(&token, "',', or identifier")),
            }
        }
    }

    fn peek(&self) -> Token {
        self.tokens.get(self.position).cloned().unwrap_or_else(Token::end)
    }

    fn next(&mut self) -> Token {
        let token = self.peek();
        self.position += 1;
        token
    }
}

fn found(token: &Token, expected: &str) -> ParseError {
    ParseError::new(format!("found '{}', expected: {expected}", token.text))
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let requirements: Vec<_> = self.requirements.iter().map(ToString::to_string).collect();
        f.write_str(&requirements.join(","))
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = self.values().collect::<Vec<_>>().join(",");
        let key = &self.key;
        match self.operator {
            Operator::Equals => write!(f, "{key}={values}"),
            Operator::NotEquals => write!(f, "{key}!={values}"),
            Operator::In => write!(f, "{key} in ({values})"),
            Operator::NotIn => write!(f, "{key} notin ({values})"),
            Operator::Exists => f.write_str(key),
            Operator::DoesNotExist => write!(f, "!{key}"),
            Operator::GreaterThan => write!(f, "{key}>{values}"),
            Operator::LessThan => write!(f, "{key}<{values}"),
        }
    }
}
