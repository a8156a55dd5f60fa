//! The arguments of a tool: their schema, and what a client has sent, checked.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::client::Client;
use crate::web::{parents::ParentPath, status::Refused};

/// An argument of a tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Argument {
    pub(super) name: &'static str,
    pub(super) form: ArgumentForm,
    pub(super) meaning: &'static str,
    /// In bytes.
    longest: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArgumentForm {
    /// A text that must be there.
    Required,
    Optional,
    /// A boolean, false by default.
    Switch,
}

/// What a client has sent, with names and types that the tool takes.
#[derive(Debug)]
pub(super) struct Arguments(JsonObject);

/// Names of Kubernetes are not longer.
const MAX_TEXT: usize = 253;

impl Argument {
    pub(super) const fn required(name: &'static str, meaning: &'static str) -> Self {
        Self { name, form: ArgumentForm::Required, meaning, longest: MAX_TEXT }
    }

    pub(super) const fn optional(name: &'static str, meaning: &'static str) -> Self {
        Self { name, form: ArgumentForm::Optional, meaning, longest: MAX_TEXT }
    }

    pub(super) const fn switch(name: &'static str, meaning: &'static str) -> Self {
        Self { name, form: ArgumentForm::Switch, meaning, longest: MAX_TEXT }
    }

    /// The same for a text that is no name.
    pub(super) const fn up_to(self, longest: usize) -> Self {
        Self { longest, ..self }
    }

    fn check(&self, given: Option<&Value>) -> Result<(), Refused> {
        let refused = |why: String| Err(Refused::BadRequest(format!("{}: {why}", self.name)));
        match (self.form, given) {
            (ArgumentForm::Required, None) => refused("it is missing".to_owned()),
            (_, None) | (ArgumentForm::Switch, Some(Value::Bool(_))) => Ok(()),
            (ArgumentForm::Switch, Some(_)) => refused("it must be true or false".to_owned()),
            (_, Some(Value::String(text))) if text.len() > self.longest => {
                refused(format!("it is longer than {} bytes", self.longest))
            }
            (ArgumentForm::Required, Some(Value::String(text))) if text.is_empty() => {
                refused("it is empty".to_owned())
            }
            (_, Some(Value::String(_))) => Ok(()),
            (_, Some(_)) => refused("it must be a text".to_owned()),
        }
    }
}

/// The JSON Schema of these.
pub(super) fn schema(arguments: &[Argument]) -> JsonObject {
    let property = |argument: &Argument| {
        let ty = if argument.form == ArgumentForm::Switch { "boolean" } else { "string" };
        (argument.name.to_owned(), json!({"type": ty, "description": argument.meaning}))
    };
    let required = arguments.iter().filter(|it| it.form == ArgumentForm::Required);
    let required: Vec<&str> = required.map(|it| it.name).collect();
    let properties: JsonObject = arguments.iter().map(property).collect();
    JsonObject::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), properties.into()),
        ("required".to_owned(), json!(required)),
        ("additionalProperties".to_owned(), json!(false)),
    ])
}

impl Arguments {
    pub(super) fn check(accepted: &[Argument], given: Option<JsonObject>) -> Result<Self, Refused> {
        let mut given = given.unwrap_or_default();
        given.retain(|_, value| !value.is_null());
        let is_known = |name: &String| accepted.iter().any(|it| it.name == name);
        if given.keys().any(|name| !is_known(name)) {
            let names: Vec<&str> = accepted.iter().map(|it| it.name).collect();
            let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(Refused::BadRequest(format!(
                "an argument is unknown: those of the tool are {names}"
            )));
        }
        accepted.iter().try_for_each(|argument| argument.check(given.get(argument.name)))?;
        Ok(Self(given))
    }

    /// `None` also for an empty one.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str().filter(|text| !text.is_empty())
    }

    pub(super) fn switch(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    pub(super) fn operator(&self) -> Result<Option<&str>, Refused> {
        part("operator", self.text("operator"))
    }

    /// The namespace, or else that of the client.
    pub(super) fn namespace<'a>(&'a self, client: &'a Client) -> Result<Option<&'a str>, Refused> {
        part("namespace", self.text("namespace").or(client.namespace.as_deref()))
    }

    /// A parent, also by `namespace/name`, as answers show it.
    pub(super) fn parent(&self, client: &Client) -> Result<ParentPath, Refused> {
        let operator = self.operator()?.unwrap_or_default().to_owned();
        let name = self.text("name").unwrap_or_default();
        let (namespace, name) = match name.split_once('/') {
            Some((namespace, name)) => (Some(namespace), name),
            None => (self.text("namespace"), name),
        };
        let known = client.state.board.operator(&operator);
        let is_namespaced = known.is_none_or(|it| it.info.config.parent.is_namespaced());
        let usual = client.namespace.as_deref().filter(|_| is_namespaced);
        let namespace = part("namespace", namespace.or(usual))?.map(str::to_owned);
        let name = part("name", Some(name))?.unwrap_or_default().to_owned();
        Ok(ParentPath { operator, namespace, name })
    }
}

/// A text that is one part of a path, so that the permission for that path means it.
fn part<'a>(what: &str, text: Option<&'a str>) -> Result<Option<&'a str>, Refused> {
    let is_odd = |letter: char| matches!(letter, '/' | '%' | '?' | '#' | '*' | '\\');
    let is_bad = |letter: char| is_odd(letter) || letter.is_whitespace() || letter.is_control();
    match text {
        Some(text) if matches!(text, "" | "." | "..") || text.contains(is_bad) => {
            Err(Refused::BadRequest(format!("{what}: it is not the name of an object")))
        }
        other => Ok(other),
    }
}
