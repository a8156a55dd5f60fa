//! One operation, the same for both servers until it is sent.

use std::{collections::BTreeMap, fmt};

use serde_json::{Value, json};

use super::{mutation::Mutation, watch::Watch};

/// Operations on one namespace, and what is watched meanwhile.
#[derive(Debug, Clone)]
pub(crate) struct Sequence {
    pub(crate) watches: Vec<Watch>,
    pub(crate) operations: Vec<Operation>,
}

/// One request. `$ns` in any text is the namespace of the sequence; cluster-scoped objects have it in their names.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) method: &'static str,
    /// The kind, for people.
    pub(crate) kind: String,
    /// The collection: two operations on one interfere.
    pub(crate) collection: String,
    /// After the collection: empty, or `/name`, or `/name/status`.
    pub(crate) rest: String,
    pub(crate) query: Vec<(&'static str, String)>,
    pub(crate) media: &'static str,
    pub(crate) accept: &'static str,
    pub(crate) body: Body,
}

#[derive(Debug, Clone)]
pub(crate) enum Body {
    None,
    /// As it is.
    Text(String),
    /// A value with changes.
    Value(Value, Vec<Mutation>),
    /// The live object with changes.
    Live(Vec<Mutation>),
}

/// What one server has answered about each object.
pub(crate) type Memory = BTreeMap<String, Value>;

impl Operation {
    /// The path of the object, without a subresource; the collection if there is no name.
    pub(crate) fn object(&self) -> String {
        let name = self.rest.split('/').nth(1).unwrap_or_default();
        format!("{}/{name}", self.collection)
    }

    pub(crate) fn is_dry_run(&self) -> bool {
        self.query.iter().any(|(name, _)| *name == "dryRun")
    }

    pub(crate) fn subresource(&self) -> &str {
        self.rest.splitn(3, '/').nth(2).unwrap_or_default()
    }

    pub(crate) fn uri(&self, namespace: &str, memory: &Memory) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in &self.query {
            query.append_pair(name, &self.resolved(value, namespace, memory));
        }
        let path = format!("{}{}", self.collection, self.rest).replace("$ns", namespace);
        match query.finish() {
            query if query.is_empty() => path,
            query => format!("{path}?{query}"),
        }
    }

    pub(crate) fn bytes(&self, namespace: &str, memory: &Memory) -> Vec<u8> {
        let value = match &self.body {
            Body::None => return Vec::new(),
            Body::Text(text) => return self.resolved(text, namespace, memory).into_bytes(),
            Body::Value(value, mutations) => changed(value.clone(), mutations),
            Body::Live(mutations) => {
                changed(memory.get(&self.object()).cloned().unwrap_or_else(|| json!({})), mutations)
            }
        };
        self.resolved(&value.to_string(), namespace, memory).into_bytes()
    }

    /// With the version and uid that this server gave to the object.
    fn resolved(&self, text: &str, namespace: &str, memory: &Memory) -> String {
        let known = memory.get(&self.object());
        let known = |field: &str| {
            let text = known.and_then(|object| object["metadata"][field].as_str());
            text.unwrap_or("1").to_owned()
        };
        // Where the last list of the collection stopped.
        let rest = memory.get(&format!("{}/ rest", self.collection)).and_then(Value::as_str);
        text.replace("$ns", namespace)
            .replace("$continue", rest.unwrap_or("none"))
            .replace("$rv", &known("resourceVersion"))
            .replace("$uid", &known("uid"))
    }
}

fn changed(mut value: Value, mutations: &[Mutation]) -> Value {
    for mutation in mutations {
        mutation.apply(&mut value);
    }
    value
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.method, self.collection, self.rest)?;
        for (at, (name, value)) in self.query.iter().enumerate() {
            write!(f, "{}{name}={value}", if at == 0 { '?' } else { '&' })?;
        }
        for header in [self.media, self.accept] {
            if !matches!(header, "" | "application/json") {
                write!(f, " [{header}]")?;
            }
        }
        match &self.body {
            Body::None => Ok(()),
            Body::Text(text) => write!(f, " {text}"),
            Body::Value(value, mutations) => {
                write!(f, " {}", changed(value.clone(), mutations))
            }
            Body::Live(mutations) => write!(f, " live object, {mutations:?}"),
        }
    }
}
