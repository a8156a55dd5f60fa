//! Authentication and authorization by the API server: `TokenReview` and `SubjectAccessReview`.
//!
//! Nothing is cached here. A token is part of a request and of nothing else.

use std::collections::BTreeMap;

use http::Method;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{Cluster, api::ApiRequest};
use crate::{object::K8sType, reply::ApiError};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct User {
    /// The name, for example `system:serviceaccount:monitoring:prometheus`.
    #[serde(rename(serialize = "user"))]
    pub(crate) username: String,
    /// Distinguishes users of the same name; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) uid: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) groups: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) extra: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TokenVerdict {
    User(User),
    /// The token is invalid, or for another audience.
    Refused,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AccessVerdict {
    Allowed,
    Denied {
        /// The reason given by the server; often empty.
        reason: String,
    },
}

#[derive(Deserialize)]
struct ReviewReply<T> {
    status: T,
}

#[derive(Deserialize)]
struct TokenStatus {
    #[serde(default)]
    authenticated: bool,
    #[serde(default)]
    user: User,
    #[serde(default)]
    audiences: Vec<String>,
}

#[derive(Deserialize)]
struct AccessStatus {
    allowed: bool,
    #[serde(default)]
    denied: bool,
    #[serde(default)]
    reason: String,
}

impl Cluster {
    /// Reviews a token. It must be for one of the audiences, or for the API server if there are none.
    pub(crate) async fn review_token(
        &self,
        token: &str,
        audiences: &[String],
    ) -> Result<TokenVerdict, ApiError> {
        let ty = K8sType::cluster_scoped("authentication.k8s.io/v1", "TokenReview", "tokenreviews");
        let mut spec = json!({"token": token});
        if !audiences.is_empty() {
            spec["audiences"] = json!(audiences);
        }
        let TokenStatus { authenticated, user, audiences: accepted } =
            self.review(&ty, spec).await?;
        // A server without support for audiences returns none.
        let is_accepted =
            audiences.is_empty() || accepted.iter().any(|one| audiences.contains(one));
        if authenticated && is_accepted && !user.username.is_empty() {
            Ok(TokenVerdict::User(user))
        } else {
            Ok(TokenVerdict::Refused)
        }
    }

    /// Reviews whether a user may do what the `attributes` of a resource or a path say.
    pub(crate) async fn review_access(
        &self,
        user: &User,
        mut attributes: Value,
    ) -> Result<AccessVerdict, ApiError> {
        let ty = K8sType::cluster_scoped(
            "authorization.k8s.io/v1",
            "SubjectAccessReview",
            "subjectaccessreviews",
        );
        let mut spec = serde_json::to_value(user).unwrap_or_default();
        if let (Some(spec), Some(attributes)) = (spec.as_object_mut(), attributes.as_object_mut()) {
            spec.append(attributes);
        }
        let AccessStatus { allowed, denied, reason } = self.review(&ty, spec).await?;
        if allowed && !denied {
            Ok(AccessVerdict::Allowed)
        } else {
            Ok(AccessVerdict::Denied { reason })
        }
    }

    async fn review<T: DeserializeOwned>(&self, ty: &K8sType, spec: Value) -> Result<T, ApiError> {
        let review = json!({"apiVersion": ty.api_version(), "kind": ty.kind(), "spec": spec});
        let mut request = ApiRequest::get("create", ty, ty.collection_path(None));
        request.method = Method::POST;
        request.body = review.to_string().into_bytes();
        let name = request.name();
        let answer = self.send(request).await?;
        let answer: Result<ReviewReply<T>, _> = serde_json::from_slice(&answer);
        // The error names only a position, because the answer contains the token.
        let why = |error: serde_json::Error| {
            format!("it is not the requested review, at line {}", error.line())
        };
        answer
            .map(|answer| answer.status)
            .map_err(|error| ApiError::Malformed { request: name, why: why(error) })
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http::{Request, Response};
    use http_body_util::BodyExt;
    use kube::{Client, client::Body};

    use super::*;
    use crate::{metrics::Metrics, object::KeptManagers};

    /// A server that answers every review with its spec and this status.
    fn answering(status: Value) -> Cluster {
        let serve = move |request: Request<Body>| {
            let status = status.clone();
            async move {
                let body = request.into_body().collect().await.unwrap().to_bytes();
                let mut review: Value = serde_json::from_slice(&body).unwrap();
                review["status"] = status;
                Ok::<_, Infallible>(Response::new(Body::from(review.to_string().into_bytes())))
            }
        };
        let client = Client::new(tower::service_fn(serve), "ns");
        Cluster::new(client, Metrics::new(), KeptManagers::default())
    }

    fn ann() -> User {
        User { username: "ann".to_owned(), groups: vec!["staff".to_owned()], ..User::default() }
    }

    fn metrics() -> Value {
        json!({"nonResourceAttributes": {"path": "/metrics", "verb": "get"}})
    }

    #[tokio::test]
    async fn a_token_is_accepted_only_if_the_server_authenticates_it_and_names_the_user() {
        let user = json!({"username": "ann", "groups": ["staff"]});
        for (status, audiences, is_accepted) in [
            (json!({"authenticated": true, "user": user}), vec![], true),
            (json!({"authenticated": true, "user": user, "audiences": ["api"]}), vec![], true),
            (json!({"authenticated": true, "user": user, "audiences": ["us"]}), vec!["us"], true),
            (json!({"authenticated": true, "user": user, "audiences": ["api"]}), vec!["us"], false),
            // A server without support for audiences.
            (json!({"authenticated": true, "user": user}), vec!["us"], false),
            (json!({"authenticated": false, "user": user}), vec![], false),
            (json!({"authenticated": true, "user": {}}), vec![], false),
            (json!({"user": {}, "error": "invalid bearer token"}), vec![], false),
        ] {
            let audiences: Vec<String> = audiences.into_iter().map(str::to_owned).collect();
            let verdict = answering(status.clone()).review_token("t", &audiences).await.unwrap();
            let expected =
                if is_accepted { TokenVerdict::User(ann()) } else { TokenVerdict::Refused };
            assert_eq!(verdict, expected, "{status} {audiences:?}");
        }
    }

    #[tokio::test]
    async fn access_is_allowed_only_if_it_is_not_denied() {
        for (status, is_allowed) in [
            (json!({"allowed": true}), true),
            (json!({"allowed": true, "denied": true}), false),
            (json!({"allowed": false, "reason": "no rule"}), false),
        ] {
            let cluster = answering(status.clone());
            let verdict = cluster.review_access(&ann(), metrics()).await.unwrap();
            assert_eq!(verdict == AccessVerdict::Allowed, is_allowed, "{status}");
        }
    }

    #[tokio::test]
    async fn the_error_about_a_malformed_review_does_not_contain_the_answer() {
        for status in [json!(null), json!({}), json!({"allowed": "s3ntinel"})] {
            let cluster = answering(status);
            let error = cluster.review_access(&ann(), metrics()).await.unwrap_err();
            assert!(!format!("{error} {error:?}").contains("s3ntinel"), "{error}");
        }
        let cluster = answering(json!({"authenticated": "s3ntinel"}));
        let error = cluster.review_token("s3ntinel", &[]).await.unwrap_err();
        assert!(!format!("{error} {error:?}").contains("s3ntinel"), "{error:?}");
    }

    #[test]
    fn a_review_contains_all_attributes_of_the_user() {
        let user: User = serde_json::from_value(json!({
            "username": "ann", "uid": "1", "groups": ["staff"], "extra": {"scopes": ["a"]},
        }))
        .unwrap();
        let spec = serde_json::to_value(user).unwrap();
        let expected =
            json!({"user": "ann", "uid": "1", "groups": ["staff"], "extra": {"scopes": ["a"]}});
        assert_eq!(spec, expected);
    }
}
