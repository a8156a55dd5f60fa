//! The kinds of requests, and how many there were of each.

use std::{collections::BTreeMap, fmt};

/// Some of the requests that a server has answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Requests(BTreeMap<Request, usize>);

/// A kind of request.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Request {
    verb: String,
    resource: String,
    subresource: String,
    refused: Option<u16>,
}

impl Request {
    pub(crate) fn new(verb: &str, resource: &str, subresource: &str, code: u16) -> Self {
        let verb = if verb.is_empty() { "get" } else { verb }.to_owned();
        let resource = resource.split('.').next().unwrap_or_default().to_owned();
        let refused = (code >= 400).then_some(code);
        Self { verb, resource, subresource: subresource.to_owned(), refused }
    }

    fn is_write(&self) -> bool {
        !["get", "list", "watch"].contains(&self.verb.as_str())
    }
}

impl Requests {
    pub(crate) fn count(requests: impl Iterator<Item = Request>) -> Self {
        let mut counts = BTreeMap::new();
        for request in requests {
            *counts.entry(request).or_default() += 1;
        }
        Self(counts)
    }

    pub(crate) fn writes(&self) -> usize {
        self.sum(Request::is_write)
    }

    /// Those of one resource.
    pub(crate) fn writes_of(&self, resource: &str) -> usize {
        self.sum(|request| request.is_write() && request.resource == resource)
    }

    pub(crate) fn refused(&self) -> usize {
        self.sum(|request| request.refused.is_some())
    }

    /// Watches that began: a server refuses some of a type that was just installed.
    pub(crate) fn watches(&self) -> usize {
        self.sum(|request| request.verb == "watch" && request.refused.is_none())
    }

    /// All but watches.
    pub(crate) fn but_watches(&self) -> usize {
        self.sum(|request| request.verb != "watch")
    }

    fn sum(&self, counts: impl Fn(&Request) -> bool) -> usize {
        self.0.iter().filter(|(request, _)| counts(request)).map(|(_, count)| count).sum()
    }

    /// The numbers by verb.
    pub(crate) fn by_verb(&self) -> String {
        let mut verbs: BTreeMap<&str, usize> = BTreeMap::new();
        for (request, count) in &self.0 {
            *verbs.entry(&request.verb).or_default() += count;
        }
        listed(verbs.iter().map(|(verb, count)| format!("{verb} {count}")))
    }
}

impl fmt::Display for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&listed(self.0.iter().map(|(request, count)| format!("{request} {count}"))))
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { verb, resource, subresource, refused } = self;
        write!(f, "{verb}")?;
        for name in [resource, subresource].into_iter().filter(|name| !name.is_empty()) {
            write!(f, " {name}")?;
        }
        refused.map_or(Ok(()), |code| write!(f, " refused with {code}"))
    }
}

fn listed(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
}
