//! One of the two servers, with a client of each user.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use http::header;
use http_body_util::BodyExt;
use kube::{Client, client::Body};
use serde_json::Value;

use super::script::{Condition, Request};

const OWN_ACCESS: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
/// How long the real server may take to learn of a role.
const PATIENCE: Duration = Duration::from_secs(20);
/// The uid that requests impersonate is compared; a resource version may be equal to it by chance.
const IMPERSONATED_UID: &str = "7";

#[derive(Default)]
pub(crate) struct Side(HashMap<&'static str, Client>);

impl Side {
    pub(crate) fn add(&mut self, user: &'static str, client: Client) {
        self.0.insert(user, client);
    }

    /// Waits until a user may do something, or may no more.
    pub(crate) async fn wait(&self, condition: &Condition) {
        let start = Instant::now();
        loop {
            let request = http::Request::post(OWN_ACCESS)
                .header(header::CONTENT_TYPE, "application/json")
                .body(Body::from(condition.review.to_string().into_bytes()));
            let (_, body) = self.answer(condition.user, request.unwrap()).await;
            let review: Value = serde_json::from_str(&body).unwrap();
            if review["status"]["allowed"] == condition.expected {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "{}: {review}", condition.review);
            tokio::task::yield_now().await;
        }
    }

    /// The code and the body of an answer, without what differs between any two servers.
    pub(crate) async fn send(&self, request: &Request) -> String {
        let (method, media) = match request.method {
            "APPLY" => ("PATCH", "application/apply-patch+yaml"),
            "PATCH" => ("PATCH", "application/merge-patch+json"),
            method => (method, "application/json"),
        };
        let mut built = http::Request::builder().method(method).uri(request.path);
        built = built.header(header::CONTENT_TYPE, media).header(header::USER_AGENT, "rbac/1.0");
        for (name, value) in &request.headers {
            built = built.header(*name, *value);
        }
        let body = Body::from(request.body.clone().into_bytes());
        let watches = request.path.contains("watch=true");
        let (code, body) = self.answer(request.user, built.body(body).unwrap()).await;
        assert!(!watches || code != 200, "a watch has no end");
        match serde_json::from_str::<Value>(&body) {
            Ok(mut value) => {
                mask(&mut value);
                format!("{code} {value:#}")
            }
            Err(_) => format!("{code} {body}"),
        }
    }

    async fn answer(&self, user: &str, request: http::Request<Body>) -> (u16, String) {
        let response = self.0[user].send(request).await.unwrap();
        let code = response.status().as_u16();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        (code, String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Hides what is different in each cluster; of objects that are there the names are enough.
fn mask(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("managedFields");
            map.remove("authentication.kubernetes.io/credential-id");
            for field in [
                "uid",
                "resourceVersion",
                "creationTimestamp",
                "gitVersion",
                "expirationTimestamp",
                "token",
            ] {
                let is_sent = |it: &Value| field == "uid" && it == IMPERSONATED_UID;
                if let Some(value) = map.get_mut(field).filter(|it| it.is_string() && !is_sent(it))
                {
                    *value = Value::from("masked");
                }
            }
            // The rig gives uids to its users, and the order of bindings is that of a Go map.
            if map.get("uid").is_some_and(|uid| uid == "masked") && map.contains_key("username") {
                map.remove("uid");
            }
            map.values_mut().for_each(mask);
            if map.get("extra").is_some_and(|extra| extra == &serde_json::json!({})) {
                map.remove("extra");
            }
            for rules in ["resourceRules", "nonResourceRules"] {
                if let Some(rules) = map.get_mut(rules).and_then(Value::as_array_mut) {
                    rules.sort_by_key(ToString::to_string);
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(mask),
        _ => {}
    }
}
