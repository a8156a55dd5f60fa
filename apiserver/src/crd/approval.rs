//! Groups that belong to Kubernetes: their definitions say where they were approved.

use serde_json::Value;

use crate::schema::{FieldError, FieldPath};

const ANNOTATION: &str = "api-approved.kubernetes.io";
const SEE: &str = "see https://github.com/kubernetes/enhancements/pull/1111";

/// What the annotation of a definition says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Invalid,
    Approved,
    Bypassed,
    Missing,
}

/// The error of the annotation, unless it says what it said before.
pub(super) fn errors(definition: &Value, before: Option<&Value>) -> Option<FieldError> {
    let (state, reason) = protected(definition)?;
    let path = FieldPath::new("metadata").child("annotations").key(ANNOTATION);
    if before.is_some_and(|before| judged(annotation(before)).0 == state) {
        return None;
    }
    match state {
        State::Missing => Some(FieldError::required(&path, reason)),
        State::Invalid => {
            Some(FieldError::invalid(&path, &Value::from(annotation(definition)), reason))
        }
        State::Approved | State::Bypassed => None,
    }
}

/// Status, reason and message of the condition that reports the approval, for a protected group.
pub(super) fn condition(definition: &Value) -> Option<[String; 3]> {
    let (state, message) = protected(definition)?;
    let (status, reason) = match state {
        State::Invalid => ("False", "InvalidAnnotation"),
        State::Missing => ("False", "MissingAnnotation"),
        State::Approved => ("True", "ApprovedAnnotation"),
        State::Bypassed => ("False", "UnapprovedAnnotation"),
    };
    Some([status.to_owned(), reason.to_owned(), message])
}

fn protected(definition: &Value) -> Option<(State, String)> {
    let group = definition["spec"]["group"].as_str().unwrap_or_default();
    let of = |domain: &str| {
        group.strip_suffix(domain).is_some_and(|it| it.is_empty() || it.ends_with('.'))
    };
    (of("k8s.io") || of("kubernetes.io")).then(|| judged(annotation(definition)))
}

fn annotation(definition: &Value) -> &str {
    definition["metadata"]["annotations"][ANNOTATION].as_str().unwrap_or_default()
}

fn judged(annotation: &str) -> (State, String) {
    if annotation.is_empty() {
        let reason =
            format!("protected groups must have approval annotation {ANNOTATION:?}, {SEE}");
        (State::Missing, reason)
    } else if annotation.starts_with("unapproved") {
        let shown = crate::schema::go_value::quote(annotation);
        (State::Bypassed, format!("not approved: {shown}"))
    } else if is_absolute(annotation) {
        (State::Approved, format!("approved in {annotation}"))
    } else {
        let reason = format!(
            "protected groups must have approval annotation {ANNOTATION:?} with either a URL or a reason starting with \"unapproved\", {SEE}"
        );
        (State::Invalid, reason)
    }
}

/// Whether it is an URL with a scheme and a host.
fn is_absolute(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme && !host.is_empty() && !text.contains([' ', '\u{7f}'])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_protected_group_needs_an_approval() {
        let line = |group: &str, annotation: &str| {
            let object = json!({
                "metadata": {"annotations": {ANNOTATION: annotation}}, "spec": {"group": group},
            });
            errors(&object, None).map(|error| error.to_string())
        };
        assert_eq!(line("example.com", ""), None);
        assert_eq!(line("xk8s.io", ""), None);
        for group in ["k8s.io", "a.k8s.io", "kubernetes.io", "a.b.kubernetes.io"] {
            assert!(line(group, "").unwrap().contains("Required value: protected groups must"));
        }
        assert_eq!(line("a.k8s.io", "https://github.com/x"), None);
        assert_eq!(line("a.k8s.io", "unapproved, for tests"), None);
        assert!(line("a.k8s.io", "yes").unwrap().contains("Invalid value: \"yes\""));
    }

    #[test]
    fn what_was_wrong_before_may_stay_wrong() {
        let object = |annotation: &str| json!({"metadata": {"annotations": {ANNOTATION: annotation}}, "spec": {"group": "a.k8s.io"}});
        assert_eq!(errors(&object("x"), Some(&object("y"))), None);
        assert!(errors(&object("x"), Some(&object("https://a/b"))).is_some());
    }
}
