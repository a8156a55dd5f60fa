//! Reviews: whose token is this, and may they do that? There is one user, the administrator, and
//! there are no rules yet: that user may do everything, nobody else anything, and the answer says so.

use serde_json::{Value, json};

use crate::{
    schema::{FieldError, FieldPath},
    status::StatusError,
    users::{self, Tokens},
};

/// The group of a review, and what it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Review {
    /// The group.
    pub group: &'static str,
    /// The plural, as in URLs.
    pub plural: &'static str,
    kind: &'static str,
}

const VERSION: &str = "v1";
/// The groups that have reviews.
pub(crate) const GROUPS: [&str; 2] = ["authentication.k8s.io", "authorization.k8s.io"];

const TOKEN: Review = review(GROUPS[0], "tokenreviews", "TokenReview");
const SELF_SUBJECT: Review =
    review(GROUPS[1], "selfsubjectaccessreviews", "SelfSubjectAccessReview");
const SUBJECT: Review = review(GROUPS[1], "subjectaccessreviews", "SubjectAccessReview");
/// Those that are answered.
const ALL: [Review; 3] = [TOKEN, SELF_SUBJECT, SUBJECT];

const WHY_ALLOWED: &str =
    "the embedded API server has no authorization rules: its user may do everything";
const WHY_NOT: &str = "the embedded API server has one user, and this is another one";

const fn review(group: &'static str, plural: &'static str, kind: &'static str) -> Review {
    Review { group, plural, kind }
}

/// The review that a path leads to.
pub(crate) fn find(group: &str, version: &str, plural: &str) -> Option<Review> {
    ALL.into_iter()
        .find(|review| version == VERSION && (review.group, review.plural) == (group, plural))
}

impl Review {
    /// The answer to a request.
    pub(crate) fn answer(self, tokens: &Tokens, mut asked: Value) -> Result<Value, StatusError> {
        let status = match self {
            TOKEN => token_status(tokens, &asked["spec"])?,
            SUBJECT => self.subject_status(&asked["spec"])?,
            _ => json!({"allowed": true, "reason": WHY_ALLOWED}),
        };
        asked["kind"] = json!(self.kind);
        asked["apiVersion"] = json!(format!("{}/{VERSION}", self.group));
        asked["status"] = status;
        Ok(asked)
    }

    fn subject_status(self, spec: &Value) -> Result<Value, StatusError> {
        let errors = wrong_with_subject(spec);
        if !errors.is_empty() {
            return Err(StatusError::invalid(self.group, self.kind, "", &errors));
        }
        let is_admin = spec["user"] == users::NAME || names_masters(&spec["groups"]);
        let reason = if is_admin { WHY_ALLOWED } else { WHY_NOT };
        Ok(json!({"allowed": is_admin, "reason": reason}))
    }
}

fn token_status(tokens: &Tokens, spec: &Value) -> Result<Value, StatusError> {
    let Some(token) = spec["token"].as_str().filter(|token| !token.is_empty()) else {
        let message = "token is required for TokenReview in authentication";
        return Err(StatusError::bad_request(message));
    };
    // Its tokens are for itself alone.
    let is_for_others = spec["audiences"].as_array().is_some_and(|audiences| !audiences.is_empty());
    if is_for_others || !tokens.knows(token) {
        return Ok(json!({"user": {}, "error": "invalid bearer token"}));
    }
    Ok(json!({
        "authenticated": true,
        "user": {"username": users::NAME, "groups": users::GROUPS},
    }))
}

fn wrong_with_subject(spec: &Value) -> Vec<FieldError> {
    let at = |name| FieldPath::new("spec").child(name);
    let of = |name: &str| spec[name].is_object();
    let mut errors = Vec::new();
    match (of("resourceAttributes"), of("nonResourceAttributes")) {
        (true, true) => {
            let why = "cannot be specified in combination with resourceAttributes";
            let field = "nonResourceAttributes";
            errors.push(FieldError::invalid(&at(field), &spec[field], why));
        }
        (false, false) => {
            let why =
                "exactly one of nonResourceAttributes or resourceAttributes must be specified";
            errors.push(FieldError::invalid(&at("resourceAttributes"), &Value::Null, why));
        }
        _ => {}
    }
    let is_empty = |value: &Value| value.as_array().is_none_or(Vec::is_empty);
    if spec["user"].as_str().unwrap_or_default().is_empty() && is_empty(&spec["groups"]) {
        let why = "at least one of user or group must be specified";
        errors.push(FieldError::invalid(&at("user"), &json!(""), why));
    }
    errors
}

fn names_masters(groups: &Value) -> bool {
    groups.as_array().is_some_and(|groups| groups.iter().any(|group| group == users::GROUPS[0]))
}

/// The entry of discovery of a group; `None` when it has no reviews.
pub(crate) fn discovery(group: &str, version: &str) -> Option<Value> {
    if !GROUPS.contains(&group) || version != VERSION {
        return None;
    }
    let entry = |review: &Review| {
        json!({
            "name": review.plural,
            "singularName": review.kind.to_lowercase(),
            "namespaced": false,
            "kind": review.kind,
            "verbs": ["create"],
        })
    };
    let resources: Vec<Value> =
        ALL.iter().filter(|review| review.group == group).map(entry).collect();
    Some(json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": format!("{group}/{VERSION}"),
        "resources": resources,
    }))
}

/// Each group with its versions.
pub(crate) fn groups<'a>() -> impl Iterator<Item = (&'a str, Vec<&'a str>)> {
    GROUPS.into_iter().map(|group| (group, vec![VERSION]))
}
