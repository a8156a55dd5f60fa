//! What two answers do not have in common.

use std::fmt;

use serde_json::Value;

use super::{answer::Answer, operation::Operation};

/// One operation that was answered differently.
#[derive(Debug)]
pub(crate) struct Difference {
    /// Its position in the sequence.
    pub(crate) at: usize,
    /// `PUT Pod/status`, or `watch Pod`.
    pub(crate) what: String,
    pub(crate) embedded: Answer,
    pub(crate) real: Answer,
    /// Where the bodies differ: pointer, embedded, real.
    pub(crate) places: Vec<(String, Value, Value)>,
}

impl Difference {
    /// Nothing if the answers are the same.
    pub(crate) fn between(
        at: usize,
        operation: &Operation,
        embedded: Answer,
        real: Answer,
    ) -> Option<Self> {
        let sub = operation.subresource();
        let media = operation.media.trim_start_matches("application/");
        let sub = if sub.is_empty() { String::new() } else { format!("/{sub}") };
        let what = format!("{} {}{sub} {media}", operation.method, operation.kind);
        Self::of(at, what, embedded, real)
    }

    pub(crate) fn of(at: usize, what: String, embedded: Answer, real: Answer) -> Option<Self> {
        if embedded == real {
            return None;
        }
        let mut places = Vec::new();
        compare("", &embedded.body, &real.body, &mut places);
        Some(Self { at, what, embedded, real, places })
    }

    /// Whether the state of the servers differs from now on, or may.
    pub(crate) fn is_of_state(&self) -> bool {
        self.embedded.code < 300 || self.real.code < 300
    }

    /// Differences of one class have one cause, most likely.
    pub(crate) fn class(&self) -> String {
        let (embedded, real) = (self.embedded.code, self.real.code);
        let what = format!("{}: {embedded}, really {real}", self.what);
        if embedded != real {
            let refusal = if real >= 300 { &self.real.body } else { &self.embedded.body };
            return format!("{what} {}", short(&refusal["message"]));
        }
        match self.places.first() {
            Some((pointer, ours, theirs)) => {
                format!("{what} {} {}, really {}", general(pointer), short(ours), short(theirs))
            }
            None if self.embedded.warnings != self.real.warnings => {
                format!(
                    "{what} warnings {:?}, really {:?}",
                    self.embedded.warnings, self.real.warnings
                )
            }
            None => format!("{what} {}, really {}", self.embedded.media, self.real.media),
        }
    }
}

fn compare(pointer: &str, ours: &Value, theirs: &Value, places: &mut Vec<(String, Value, Value)>) {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            let names: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
            for name in names {
                let (a, b) = (a.get(name), b.get(name));
                let inner = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
                match (a, b) {
                    (Some(a), Some(b)) => compare(&inner, a, b, places),
                    _ => places.push((inner, absent(a), absent(b))),
                }
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                compare(&format!("{pointer}/{at}"), a, b, places);
            }
        }
        _ if ours == theirs => {}
        _ => places.push((pointer.to_owned(), ours.clone(), theirs.clone())),
    }
}

fn absent(value: Option<&Value>) -> Value {
    value.cloned().unwrap_or_else(|| "<absent>".into())
}

/// A pointer with any index.
fn general(pointer: &str) -> String {
    let part =
        |part: &str| if part.parse::<u32>().is_ok() { "*".to_owned() } else { part.to_owned() };
    pointer.split('/').map(part).collect::<Vec<_>>().join("/")
}

/// A value in few characters, without what was sent.
fn short(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut out = String::new();
    let mut quoted = false;
    for c in text.chars().take(300) {
        match c {
            '"' => {
                quoted = !quoted;
                out.push('"');
            }
            _ if quoted => {}
            c => out.push(c),
        }
    }
    out.chars().map(|c| if c == '\n' { ' ' } else { c }).take(140).collect()
}

/// Two texts from shortly before the place where they differ.
fn from_difference(one: &str, other: &str) -> (String, String) {
    let same = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let cut = |text: &str| text.chars().skip(same.saturating_sub(300)).take(700).collect();
    (cut(one), cut(other))
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cut = |value: &Value| value.to_string().chars().take(700).collect::<String>();
        let Self { embedded, real, .. } = self;
        if embedded.code != real.code {
            writeln!(f, "  embedded {}: {}", embedded.code, cut(&embedded.body))?;
            return writeln!(f, "  real     {}: {}", real.code, cut(&real.body));
        }
        if embedded.warnings != real.warnings {
            writeln!(f, "  warnings {:?}, really {:?}", embedded.warnings, real.warnings)?;
        }
        if embedded.media != real.media {
            writeln!(f, "  media {}, really {}", embedded.media, real.media)?;
        }
        for (pointer, ours, theirs) in self.places.iter().take(4) {
            let (ours, theirs) = from_difference(&ours.to_string(), &theirs.to_string());
            writeln!(f, "  {pointer}\n    embedded {ours}\n    real     {theirs}")?;
        }
        Ok(())
    }
}
