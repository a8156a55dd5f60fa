//! An API server that reviews access to the endpoint.

use std::{
    convert::Infallible,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use http::{Request, Response};
use http_body_util::BodyExt;
use kube::{Client, client::Body};
use serde_json::{Value, json};

use super::open_gate;
use crate::{
    cluster::Cluster,
    metrics::Metrics,
    object::KeptManagers,
    web::{Access, Auth, request_rules::RequestRules},
};

/// An API server that knows `tim`, who may read and command the parents in the namespace `ns`, `una`, who may do so with
/// the parent `a` there, `ann`, who may read, `bob`, who may only scrape, `gus`, who may read as long as he is
/// in a group, and everybody whose name begins with `eve`, who may do everything.
#[derive(Clone, Default)]
pub(super) struct Reviewer {
    tokens: Arc<AtomicUsize>,
    rights: Arc<AtomicUsize>,
    pub(super) is_down: Arc<AtomicBool>,
    /// Whether all tokens are revoked.
    pub(super) is_revoked: Arc<AtomicBool>,
    /// Whether `gus` has left the group.
    pub(super) has_left: Arc<AtomicBool>,
}

impl Reviewer {
    fn answer(&self, mut review: Value) -> Value {
        let spec = &review["spec"];
        review["status"] = if let Some(token) = spec["token"].as_str() {
            self.tokens.fetch_add(1, Ordering::SeqCst);
            let is_revoked = self.is_revoked.load(Ordering::SeqCst);
            match token.strip_prefix("token-of-").filter(|_| !is_revoked) {
                Some(name) => json!({
                    "authenticated": true, "user": {"username": name, "groups": self.groups(name)},
                    "audiences": spec["audiences"].as_array().cloned().unwrap_or_default(),
                }),
                None => json!({"user": {}, "error": "invalid bearer token"}),
            }
        } else {
            self.rights.fetch_add(1, Ordering::SeqCst);
            let asked = &spec["nonResourceAttributes"];
            let may_read = spec["user"] == "ann"
                || (spec["user"] == "bob" && asked["path"] == "/metrics")
                || spec["groups"] == json!(["readers"]);
            let may_do_all = spec["user"].as_str().is_some_and(|user| user.starts_with("eve"));
            let inside = &spec["resourceAttributes"];
            let is_in_ns = inside["namespace"] == "ns" && inside["subresource"] == "operetta";
            let is_of_a = is_in_ns && inside["name"] == "a";
            let may_do_all = may_do_all
                || (spec["user"] == "tim" && is_in_ns)
                || (spec["user"] == "una" && is_of_a);
            let allowed = may_do_all || (asked["verb"] == "get" && may_read);
            json!({"allowed": allowed, "reason": if allowed { "" } else { "no rule" }})
        };
        review
    }

    fn groups(&self, name: &str) -> Vec<&'static str> {
        let is_member = name == "gus" && !self.has_left.load(Ordering::SeqCst);
        if is_member { vec!["readers"] } else { Vec::new() }
    }

    pub(super) fn rules(&self) -> RequestRules {
        self.gate_of(Auth::delegated())
    }

    pub(super) fn gate_of(&self, auth: Auth) -> RequestRules {
        let reviewer = self.clone();
        let serve = move |request: Request<Body>| {
            let reviewer = reviewer.clone();
            async move {
                let body = request.into_body().collect().await.unwrap().to_bytes();
                let is_down = reviewer.is_down.load(Ordering::SeqCst);
                let (code, body) = if is_down {
                    (500, json!({"message": "s3cret-reason"}))
                } else {
                    (201, reviewer.answer(serde_json::from_slice(&body).unwrap()))
                };
                let body = Body::from(body.to_string().into_bytes());
                Ok::<_, Infallible>(Response::builder().status(code).body(body).unwrap())
            }
        };
        let client = Client::new(tower::service_fn(serve), "ns");
        let cluster = Cluster::new(client, Metrics::new(), KeptManagers::default());
        let (cluster, runtime) = (OnceLock::from(cluster), tokio::runtime::Handle::current());
        RequestRules { access: Access::new(auth, Arc::new(cluster), runtime), ..open_gate() }
    }

    /// How many reviews of tokens and of permissions.
    pub(super) fn asked(&self) -> (usize, usize) {
        (self.tokens.load(Ordering::SeqCst), self.rights.load(Ordering::SeqCst))
    }
}
