//! Label selectors as Kubernetes writes them: `tier=gold,!legacy,zone in (a,b)`. Evaluates them as
//! the API server does; does not support field selectors. Not `kube::core::Selector`: that parses
//! no text, and supports neither `>` nor `<`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// A checked label selector. All of its requirements must hold; without any it selects everything.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelSelector {
    text: String,
    requirements: Vec<Requirement>,
}

/// A text is not a label selector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{selector}` is not a label selector: {why}")]
pub struct SelectorError {
    selector: String,
    why: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Test {
    In(BTreeSet<String>),
    NotIn(BTreeSet<String>),
    Exists,
    Absent,
    Greater(i64),
    Less(i64),
}

impl LabelSelector {
    /// Reads a selector.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let refused = |why| SelectorError { selector: text.to_owned(), why };
        let mut parser = Parser { tokens: tokens(text), at: 0 };
        let requirements = parser.requirements().map_err(refused)?;
        Ok(Self { text: text.to_owned(), requirements })
    }

    /// Whether an object with these labels is selected.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.requirements.iter().all(|one| one.test.holds(labels.get(&one.key)))
    }

    /// The labels that it looks at.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.requirements.iter().map(|one| one.key.as_str())
    }

    /// Whether it has no requirement.
    pub(crate) fn is_everything(&self) -> bool {
        self.requirements.is_empty()
    }

    /// A label of which every selected object has one of these values, if there is one.
    pub(crate) fn anchor(&self) -> Option<(&str, &BTreeSet<String>)> {
        self.requirements.iter().find_map(|one| match &one.test {
            Test::In(values) => Some((one.key.as_str(), values)),
            _ => None,
        })
    }

    /// The selector as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Test {
    fn holds(&self, value: Option<&String>) -> bool {
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match self {
            Self::In(values) => value.is_some_and(|value| values.contains(value)),
            Self::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
            Self::Exists => value.is_some(),
            Self::Absent => value.is_none(),
            Self::Greater(bound) => number().is_some_and(|number| number > *bound),
            Self::Less(bound) => number().is_some_and(|number| number < *bound),
        }
    }
}

// === reading ===

/// Words and operators; white space separates them.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let signs = ["==", "!=", "!", "=", "<", ">", ",", "(", ")"];
        let is_word_end = |c: char| c.is_whitespace() || "!=<>,()".contains(c);
        let length = signs
            .iter()
            .find(|sign| rest.starts_with(**sign))
            .map_or_else(|| rest.find(is_word_end).unwrap_or(rest.len()), |sign| sign.len());
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

struct Parser<'a> {
    tokens: Vec<&'a str>,
    at: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.tokens.get(self.at).copied()
    }

    fn take(&mut self) -> Option<&'a str> {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn requirements(&mut self) -> Result<Vec<Requirement>, String> {
        let mut requirements = Vec::new();
        while self.peek().is_some() {
            requirements.push(self.requirement()?);
            match (self.take(), self.peek()) {
                (None, _) | (Some(","), Some(_)) => {}
                (Some(","), None) => return Err("it ends with a comma".to_owned()),
                (Some(other), _) => {
                    return Err(format!("a comma is expected instead of `{other}`"));
                }
            }
        }
        Ok(requirements)
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        if self.peek() == Some("!") {
            self.take();
            return Ok(Requirement { key: self.key()?, test: Test::Absent });
        }
        let key = self.key()?;
        if matches!(self.peek(), None | Some(",")) {
            return Ok(Requirement { key, test: Test::Exists });
        }
        let test = match self.take() {
            Some("=" | "==") => Test::In(BTreeSet::from([self.value()?])),
            Some("!=") => Test::NotIn(BTreeSet::from([self.value()?])),
            Some("in") => Test::In(self.values()?),
            Some("notin") => Test::NotIn(self.values()?),
            Some(">") => Test::Greater(self.number()?),
            Some("<") => Test::Less(self.number()?),
            other => return Err(format!("`{}` is not an operator", other.unwrap_or_default())),
        };
        Ok(Requirement { key, test })
    }

    fn key(&mut self) -> Result<String, String> {
        let key = self.take().unwrap_or_default();
        let (prefix, name) = key.rsplit_once('/').map_or((None, key), |(p, n)| (Some(p), n));
        let is_good = is_name(name) && prefix.is_none_or(is_subdomain);
        is_good.then(|| key.to_owned()).ok_or_else(|| format!("`{key}` is not a label"))
    }

    /// One value; a missing one is empty.
    fn value(&mut self) -> Result<String, String> {
        if matches!(self.peek(), None | Some("," | ")")) {
            return Ok(String::new());
        }
        let value = self.take().unwrap_or_default();
        is_name(value)
            .then(|| value.to_owned())
            .ok_or_else(|| format!("`{value}` is not a label value"))
    }

    fn values(&mut self) -> Result<BTreeSet<String>, String> {
        if self.take() != Some("(") {
            return Err("a list of values must be in parentheses".to_owned());
        }
        let mut values = BTreeSet::from([self.value()?]);
        loop {
            match self.take() {
                Some(")") => return Ok(values),
                Some(",") => drop(values.insert(self.value()?)),
                _ => return Err("a list of values is not closed".to_owned()),
            }
        }
    }

    fn number(&mut self) -> Result<i64, String> {
        let number = self.take().unwrap_or_default();
        number.parse().map_err(|_| format!("`{number}` is not an integer"))
    }
}

/// At most 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends.
fn is_name(text: &str) -> bool {
    let is_end = |c: Option<u8>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.len() <= 63
        && is_end(text.bytes().next())
        && is_end(text.bytes().last())
        && text.bytes().all(|c| c.is_ascii_alphanumeric() || b"-_.".contains(&c))
}

fn is_subdomain(text: &str) -> bool {
    let is_label = |label: &str| is_name(label) && !label.contains(['_', '.']);
    text.len() <= 253 && text == text.to_lowercase() && text.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> BTreeMap<String, String> {
        let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
        pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn all_requirements_must_match() {
        for (selector, selected, excluded) in [
            ("tier=gold,!legacy", "tier=gold", "tier=gold,legacy="),
            ("tier == gold", "tier=gold", "x=gold"),
            ("tier!=gold", "", "tier=gold"),
            ("zone in (a, b)", "zone=b", "zone=c"),
            ("zone notin (a,b)", "x=a", "zone=a"),
            ("example.dev/a", "example.dev/a=", "a=1"),
            ("a=", "a=", "a=1"),
            ("a in (,x)", "a=", "a=y"),
            ("n>3,n<9", "n=5", "n=9"),
            ("n>3", "n=4", "n=many"),
            ("a=in", "a=in", "a="),
        ] {
            let parsed = LabelSelector::parse(selector).unwrap();
            assert!(parsed.matches(&labels(selected)), "{selector}: {selected}");
            assert!(!parsed.matches(&labels(excluded)), "{selector}: {excluded}");
        }
        assert!(LabelSelector::parse("").unwrap().matches(&labels("a=b")));
    }

    #[test]
    fn an_invalid_selector_is_refused() {
        for bad in [
            "a=b,",
            ",",
            "!",
            "a b",
            "a in b",
            "a in (b",
            "a in (b c)",
            "=b",
            "a>x",
            "-a",
            "a=-",
            "a/b/c",
            "/a",
            "a//b",
            "A.b/c",
            "a=b=c",
            "a!b",
        ] {
            assert!(LabelSelector::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn any_text_is_a_selector_or_refused() {
        const TOKENS: [&str; 18] = [
            "a", "b/c", "in", " in (", " notin (", "(", ")", ",", "=", "==", "!=", "!", ">", "<",
            " ", "1", "-", "a=b",
        ];
        let parser = |text: &str| {
            if let Ok(selector) = LabelSelector::parse(text) {
                assert!(selector.requirements.len() <= text.len());
                let _ = selector.matches(&labels("a=b"));
            }
        };
        operetta_harness::random::texts(&TOKENS, parser);
        operetta_harness::random::long_texts(&TOKENS, parser);
    }
}
