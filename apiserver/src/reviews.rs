//! Token and access reviews. There is one user, the administrator, and no rules: that user may do
//! everything, others nothing, and the answer gives this reason.

use serde_json::{Map, Value, json};

use crate::{
    schema::{FieldError, FieldPath},
    status::StatusError,
    users::{self, Tokens},
};

/// The group and the names of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Review {
    /// The group.
    pub group: &'static str,
    /// The plural, as in URLs.
    pub plural: &'static str,
    /// The kind of object that is sent and comes back.
    pub kind: &'static str,
    /// What its spec may hold.
    fields: &'static [&'static str],
}

const VERSION: &str = "v1";
/// The groups that have reviews.
pub(crate) const GROUPS: [&str; 2] = ["authentication.k8s.io", "authorization.k8s.io"];

const TOKEN: Review = Review {
    group: GROUPS[0],
    plural: "tokenreviews",
    kind: "TokenReview",
    fields: &["audiences", "token"],
};
const SELF_SUBJECT: Review = Review {
    group: GROUPS[1],
    plural: "selfsubjectaccessreviews",
    kind: "SelfSubjectAccessReview",
    fields: &["nonResourceAttributes", "resourceAttributes"],
};
const SUBJECT: Review = Review {
    group: GROUPS[1],
    plural: "subjectaccessreviews",
    kind: "SubjectAccessReview",
    fields: &["extra", "groups", "nonResourceAttributes", "resourceAttributes", "uid", "user"],
};
const SELF: Review = Review {
    group: GROUPS[0],
    plural: "selfsubjectreviews",
    kind: "SelfSubjectReview",
    fields: &[],
};
const RULES: Review = Review {
    group: GROUPS[1],
    plural: "selfsubjectrulesreviews",
    kind: "SelfSubjectRulesReview",
    fields: &["namespace"],
};
/// Those that are answered.
const ALL: [Review; 5] = [SELF, TOKEN, SELF_SUBJECT, RULES, SUBJECT];

const WHY_ALLOWED: &str =
    "the embedded API server has no authorization rules: its user may do everything";
const WHY_NOT: &str = "the embedded API server has one user, and this is another one";

/// The default audience of tokens, as in every cluster.
const AUDIENCE: &str = "https://kubernetes.default.svc";

/// The review that a path leads to.
pub(crate) fn find(group: &str, version: &str, plural: &str) -> Option<Review> {
    ALL.into_iter()
        .find(|review| version == VERSION && (review.group, review.plural) == (group, plural))
}

impl Review {
    /// The answer to a request.
    pub(crate) fn answer(self, tokens: &Tokens, mut asked: Value) -> Result<Value, StatusError> {
        self.check_type(&asked)?;
        let spec = self.known_fields(&asked["spec"])?;
        let metadata = metadata(&mut asked);
        let status = match self {
            TOKEN => token_status(tokens, &spec)?,
            SELF => json!({"userInfo": {"username": users::NAME, "groups": users::GROUPS}}),
            RULES => rules_status(&spec)?,
            SUBJECT => self.subject_status(&spec, &metadata)?,
            _ => {
                self.refuse(
                    &[&wrong_with_metadata(&metadata)[..], &wrong_with_attributes(&spec)].concat(),
                )?;
                json!({"allowed": true, "reason": WHY_ALLOWED})
            }
        };
        let mut answer = json!({
            "kind": self.kind,
            "apiVersion": self.api_version(),
            "metadata": metadata,
            "status": status,
        });
        if self != SELF {
            answer["spec"] = spec;
        }
        Ok(answer)
    }

    /// `group/version`.
    pub(crate) fn api_version(self) -> String {
        format!("{}/{VERSION}", self.group)
    }

    /// Either may be missing.
    fn check_type(self, asked: &Value) -> Result<(), StatusError> {
        let given = |field: &str| asked[field].as_str().filter(|text| !text.is_empty());
        let expected = self.api_version();
        let version = given("apiVersion").unwrap_or(&expected);
        let kind = given("kind").unwrap_or(self.kind);
        if (version, kind) == (&expected, self.kind) {
            return Ok(());
        }
        let short = version.rsplit('/').next().unwrap_or_default();
        Err(self.unreadable(
            kind,
            short,
            &format!(
                "no kind {kind:?} is registered for version {version:?} in scheme \
             \"pkg/runtime/scheme.go:111\""
            ),
        ))
    }

    /// The spec without unknown fields.
    fn known_fields(self, spec: &Value) -> Result<Value, StatusError> {
        for field in ["token", "user"].into_iter().filter(|field| self.fields.contains(field)) {
            if let Some(wrong) = json_type(&spec[field]).filter(|ty| *ty != "string") {
                return Err(self.unreadable(self.kind, VERSION, &format!(
                    "json: cannot unmarshal {wrong} into Go struct field {}Spec.spec.{field} of \
                     type string",
                    self.kind
                )));
            }
        }
        let known = self.fields.iter().filter_map(|&field| Some((field, spec.get(field)?.clone())));
        let known = known.filter(|(_, value)| !value.is_null());
        Ok(known.map(|(field, value)| (field.to_owned(), value)).collect::<Map<_, _>>().into())
    }

    fn unreadable(self, kind: &str, version: &str, why: &str) -> StatusError {
        StatusError::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {}: {why}",
            self.kind
        ))
    }

    fn subject_status(self, spec: &Value, metadata: &Value) -> Result<Value, StatusError> {
        let mut errors = wrong_with_attributes(spec);
        errors.extend(wrong_with_subject(spec));
        errors.extend(wrong_with_metadata(metadata));
        self.refuse(&errors)?;
        let is_admin = spec["user"] == users::NAME || names_masters(&spec["groups"]);
        let reason = if is_admin { WHY_ALLOWED } else { WHY_NOT };
        Ok(json!({"allowed": is_admin, "reason": reason}))
    }

    fn refuse(self, errors: &[FieldError]) -> Result<(), StatusError> {
        // The real server names no kind either.
        if errors.is_empty() {
            Ok(())
        } else {
            Err(StatusError::invalid(self.group, "", "", errors))
        }
    }
}

/// Without the namespace, as reviews are cluster-scoped.
fn metadata(asked: &mut Value) -> Value {
    let mut metadata = asked["metadata"].take();
    if let Some(fields) = metadata.as_object_mut() {
        fields.remove("namespace");
        metadata
    } else {
        json!({})
    }
}

fn token_status(tokens: &Tokens, spec: &Value) -> Result<Value, StatusError> {
    let Some(token) = spec["token"].as_str().filter(|token| !token.is_empty()) else {
        let message = "token is required for TokenReview in authentication";
        return Err(StatusError::bad_request(message));
    };
    let audiences = spec["audiences"].as_array().filter(|audiences| !audiences.is_empty());
    let is_for_others = audiences.is_some_and(|wanted| !wanted.iter().any(|it| it == AUDIENCE));
    if is_for_others || !tokens.knows(token) {
        return Ok(json!({"user": {}, "error": "invalid bearer token"}));
    }
    Ok(json!({
        "authenticated": true,
        "user": {"username": users::NAME, "groups": users::GROUPS},
        "audiences": [AUDIENCE],
    }))
}

/// The rules of the administrator, in each namespace.
fn rules_status(spec: &Value) -> Result<Value, StatusError> {
    if text(&spec["namespace"]).is_empty() {
        return Err(StatusError::bad_request("no namespace on request"));
    }
    let all = ["*"];
    Ok(json!({
        "resourceRules": [{"verbs": all, "apiGroups": all, "resources": all}],
        "nonResourceRules": [{"verbs": all, "nonResourceURLs": all}],
        "incomplete": false,
    }))
}

fn wrong_with_attributes(spec: &Value) -> Vec<FieldError> {
    let of = |name: &str| spec[name].is_object();
    match (of("resourceAttributes"), of("nonResourceAttributes")) {
        (true, true) => {
            let why = "cannot be specified in combination with resourceAttributes";
            let given = &spec["nonResourceAttributes"];
            // As a Go program prints it.
            let shown = json!({"Path": text(&given["path"]), "Verb": text(&given["verb"])});
            vec![FieldError::invalid(&at("nonResourceAttributes"), &shown, why)]
        }
        (false, false) => {
            let why =
                "exactly one of nonResourceAttributes or resourceAttributes must be specified";
            vec![FieldError::invalid(&at("resourceAttributes"), &Value::Null, why)]
        }
        _ => Vec::new(),
    }
}

fn wrong_with_subject(spec: &Value) -> Option<FieldError> {
    let is_empty = |value: &Value| value.as_array().is_none_or(Vec::is_empty);
    let is_nobody = text(&spec["user"]).is_empty() && is_empty(&spec["groups"]);
    let why = "at least one of user or group must be specified";
    is_nobody.then(|| FieldError::invalid(&at("user"), &json!(""), why))
}

fn wrong_with_metadata(metadata: &Value) -> Vec<FieldError> {
    let is_empty = metadata.as_object().is_none_or(Map::is_empty);
    let error = || FieldError::invalid(&FieldPath::new("metadata"), metadata, "must be empty");
    (!is_empty).then(error).into_iter().collect()
}

fn at(field: &str) -> FieldPath {
    FieldPath::new("spec").child(field)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// As the real server calls it; `None` for null.
fn json_type(value: &Value) -> Option<&'static str> {
    match value {
        Value::Null => None,
        Value::Bool(_) => Some("bool"),
        Value::Number(_) => Some("number"),
        Value::String(_) => Some("string"),
        Value::Array(_) => Some("array"),
        Value::Object(_) => Some("object"),
    }
}

fn names_masters(groups: &Value) -> bool {
    groups.as_array().is_some_and(|groups| groups.iter().any(|group| group == users::GROUPS[0]))
}
