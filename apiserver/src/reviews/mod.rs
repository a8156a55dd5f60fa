//! Token and access reviews: questions that are sent like objects, and answered in their status.
//!
//! ```text
//!  POST ─ Review (type, known fields) ─┬─ wrong   what the spec must not be
//!                                      ├─ access  may somebody do something?
//!                                      └─ authentication   whose token is it?
//! ```
//!
//! **Invariants.** Nothing is stored. Where the roles do not count, the administrator may do everything and others
//! nothing, and the answer gives this reason.

mod access;
mod wrong;

use serde_json::{Map, Value, json};

use crate::{
    account_tokens::Authenticated, authentication, schema::FieldError, shared::Shared,
    status::StatusError, users::User,
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
    /// Whether it is about a namespace.
    pub namespaced: bool,
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
    namespaced: false,
    fields: &["audiences", "token"],
};
const SELF_SUBJECT: Review = Review {
    group: GROUPS[1],
    plural: "selfsubjectaccessreviews",
    kind: "SelfSubjectAccessReview",
    namespaced: false,
    fields: &["nonResourceAttributes", "resourceAttributes"],
};
const SUBJECT: Review = Review {
    group: GROUPS[1],
    plural: "subjectaccessreviews",
    kind: "SubjectAccessReview",
    namespaced: false,
    fields: &["extra", "groups", "nonResourceAttributes", "resourceAttributes", "uid", "user"],
};
const LOCAL: Review = Review {
    plural: "localsubjectaccessreviews",
    kind: "LocalSubjectAccessReview",
    namespaced: true,
    ..SUBJECT
};
const SELF: Review = Review {
    group: GROUPS[0],
    plural: "selfsubjectreviews",
    kind: "SelfSubjectReview",
    namespaced: false,
    fields: &[],
};
const RULES: Review = Review {
    group: GROUPS[1],
    plural: "selfsubjectrulesreviews",
    kind: "SelfSubjectRulesReview",
    namespaced: false,
    fields: &["namespace"],
};
/// Those that are answered.
const ALL: [Review; 6] = [SELF, TOKEN, LOCAL, SELF_SUBJECT, RULES, SUBJECT];

/// The review that a path leads to.
pub(crate) fn find(group: &str, version: &str, plural: &str) -> Option<Review> {
    ALL.into_iter()
        .find(|review| version == VERSION && (review.group, review.plural) == (group, plural))
}

impl Review {
    /// The answer to a request.
    pub(crate) fn answer(
        self,
        server: &Shared,
        user: &User,
        namespace: Option<&str>,
        mut asked: Value,
    ) -> Result<Value, StatusError> {
        self.check_type(&asked)?;
        let spec = self.known_fields(&asked["spec"])?;
        let mut metadata = metadata(&mut asked, namespace);
        let (authorizer, log) = (&server.authorizer, &server.cluster.log);
        let status = match self {
            TOKEN => token_status(server, &spec)?,
            SELF => {
                metadata = json!({ "creationTimestamp": server.cluster.clock.now_text() });
                json!({ "userInfo": user.info() })
            }
            RULES => access::rules(authorizer, log, user, &spec)?,
            SUBJECT | LOCAL => {
                self.check_subject(&spec, &metadata)?;
                access::of_subject(authorizer, log, &spec)
            }
            _ => {
                let mut errors = wrong::attributes(&spec);
                errors.extend(wrong::metadata(&metadata));
                self.refuse(&errors)?;
                access::own(authorizer, log, user, &spec)
            }
        };
        let mut answer = json!({
            "kind": self.kind,
            "apiVersion": self.api_version(),
            "metadata": metadata,
            "status": status,
        });
        match self {
            SELF => {}
            // The real server forgets the namespace.
            RULES => answer["spec"] = json!({}),
            _ => answer["spec"] = spec,
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

    fn check_subject(self, spec: &Value, metadata: &Value) -> Result<(), StatusError> {
        let mut errors = wrong::attributes(spec);
        errors.extend(wrong::subject(spec));
        if self == LOCAL {
            errors.extend(wrong::local(spec, metadata));
        } else {
            errors.extend(wrong::metadata(metadata));
        }
        self.refuse(&errors)
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

/// The metadata, with the namespace of the path.
fn metadata(asked: &mut Value, namespace: Option<&str>) -> Value {
    let mut metadata = asked["metadata"].take();
    if !metadata.is_object() {
        metadata = json!({});
    }
    if let (Some(fields), None) = (metadata.as_object_mut(), namespace) {
        fields.remove("namespace");
    }
    if let Some(namespace) = namespace {
        metadata["namespace"] = namespace.into();
    }
    metadata
}

fn token_status(server: &Shared, spec: &Value) -> Result<Value, StatusError> {
    let Some(token) = spec["token"].as_str().filter(|token| !token.is_empty()) else {
        let message = "token is required for TokenReview in authentication";
        return Err(StatusError::bad_request(message));
    };
    let audiences = spec["audiences"].as_array().into_iter().flatten();
    let audiences: Vec<String> =
        audiences.filter_map(|it| it.as_str().map(str::to_owned)).collect();
    Ok(match authentication::by_token(server, token, &audiences) {
        Ok(Authenticated { user, audiences }) => json!({
            "authenticated": true,
            "user": user.info(),
            "audiences": audiences,
        }),
        Err(why) => json!({ "user": {}, "error": why }),
    })
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
