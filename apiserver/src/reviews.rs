//! Access reviews: may I do this? There are no rules yet, so that everyone may do everything, and
//! the answer says so.

use serde_json::{Value, json};

/// The group of reviews.
pub(crate) const GROUP: &str = "authorization.k8s.io";
/// The version of reviews.
pub(crate) const VERSION: &str = "v1";

/// The one review that is answered.
pub(crate) const SELF_SUBJECT: &str = "selfsubjectaccessreviews";

/// The answer to a review.
pub(crate) fn answer(mut review: Value) -> Value {
    review["kind"] = json!("SelfSubjectAccessReview");
    review["apiVersion"] = json!(format!("{GROUP}/{VERSION}"));
    review["status"] = json!({
        "allowed": true,
        "reason": "the embedded API server has no authorization rules: everything is allowed",
    });
    review
}

/// The entry of discovery.
pub(crate) fn discovery() -> Value {
    json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": format!("{GROUP}/{VERSION}"),
        "resources": [{
            "name": SELF_SUBJECT,
            "singularName": "selfsubjectaccessreview",
            "namespaced": false,
            "kind": "SelfSubjectAccessReview",
            "verbs": ["create"],
        }],
    })
}
