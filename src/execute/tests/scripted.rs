//! A scripted API server that records its requests, and one operator with one parent and one child type.
//! Without state: objects that the script does not return do not exist.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
    time::Duration,
};

use http::{Request, Response};
use http_body_util::BodyExt;
use kube::{Client, client::Body};
use serde_json::Value;

use super::{
    objects::Reply,
    setup::{Setup, kept},
    *,
};
use crate::{
    cluster::Cluster,
    metrics::Metrics,
    object::Undecodable,
    operator::{AnyHandler, OperatorConfig},
    store::{Revisions, ScopeId, Store},
};

pub(super) type Script = Arc<dyn Fn(&Asked) -> Reply + Send + Sync>;

/// A request.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) body: Value,
}

impl Asked {
    pub(super) fn is_about(&self, part: &str) -> bool {
        self.path.contains(part)
    }
}

/// An operator, its parent and its API server.
pub(super) struct World {
    context: Arc<Context>,
    /// The stores of the parents and of the children, with their watches.
    scopes: Vec<(Store, ScopeId)>,
    asked: Arc<Mutex<Vec<Asked>>>,
    origins: Arc<Mutex<Vec<Option<Origin>>>>,
    shown: Arc<Mutex<Vec<&'static str>>>,
}

impl World {
    pub(super) fn new(setup: Setup, script: Script) -> Self {
        let (asked, origins) = (Arc::default(), Arc::<Mutex<Vec<_>>>::default());
        let shown = Arc::<Mutex<Vec<_>>>::default();
        let (published, show, panics) = (origins.clone(), shown.clone(), setup.panics);
        let client = client(script, setup.published.clone(), Arc::clone(&asked));
        let revisions = Revisions::default();
        let (config, parents) = (setup.config(), setup.parents(&revisions));
        let children = setup.children(&revisions);
        let scopes = vec![parents.clone(), children.clone()];
        let (parents, children) = (parents.0, vec![children.0]);
        let requests = setup.requests.clone();
        let context = Context::new(ContextParts {
            reads: Arc::default(),
            shared_permits: SharedPermits::for_limits([16]),
            requests,
            buckets: None,
            parent_types: <_>::default(),
            config,
            handler: AnyHandler::blocking(setup.handler()),
            cluster: Cluster::new(client, Metrics::new(), kept()),
            parents,
            children,
            metrics: Metrics::new(),
            publish: Arc::new(move |_, _, origin| {
                assert!(!panics, "a bug");
                published.lock().unwrap().push(origin);
            }),
            show: Arc::new(move |_, failure| show.lock().unwrap().push(failure.reason())),
            alive: Alive::new().0,
        });
        Self { context: Arc::new(context.unwrap()), scopes, asked, origins, shown }
    }

    pub(super) async fn reconcile(&self, memory: Memory) -> Reconciled {
        reconcile(&self.context, Self::job(0, memory), tracing::Span::none()).await
    }

    pub(super) fn job(after_writes: u32, memory: Memory) -> Job {
        let (key, uid) = (ObjectKey::namespaced("ns", "p"), Uid::new("pu"));
        Job { key, uid, after_writes, memory }
    }

    /// The parent, if it is cached.
    pub(super) fn parent(&self) -> Option<Object> {
        self.context.parent(&ObjectKey::namespaced("ns", "p"), &Uid::new("pu"))
    }

    /// What a reconcile of the parent would read now.
    pub(super) fn snapshot(&self) -> Snapshot {
        self.context.snapshot(&ObjectKey::namespaced("ns", "p"), &Uid::new("pu"))
    }

    /// The watches of the parents and of the children are interrupted.
    pub(super) fn cut_off(&self) {
        self.scopes.iter().for_each(|(store, scope)| store.cut_off(*scope, true));
    }

    /// Someone else changed the parent, and the cache has it.
    pub(super) fn changed_parent(&self, parent: &Value) {
        let ty = &self.config().parent;
        self.context.cache(None, Cache::Saw(Object::from_value(ty, parent, &kept()).unwrap()));
    }

    /// Whether a child is cached.
    pub(super) fn is_cached(&self, name: &str) -> bool {
        self.cached(name).is_some()
    }

    /// A child, if it is cached.
    pub(super) fn cached(&self, name: &str) -> Option<Object> {
        let (ty, key) = (self.config().children[0].ty.clone(), ObjectKey::namespaced("ns", name));
        self.context.cached(&ChildId { ty, key })
    }

    pub(super) fn context(&self) -> Arc<Context> {
        self.context.clone()
    }

    pub(super) fn config(&self) -> &OperatorConfig {
        self.context.config()
    }

    /// The requests with a method.
    pub(super) fn asked(&self, method: &str) -> Vec<Asked> {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|asked| asked.method == method).cloned().collect()
    }

    /// Waits for a request that no reconcile waits for.
    pub(super) async fn until_asked(&self, method: &str, part: &str) {
        self.until(|| self.asked(method).iter().any(|asked| asked.is_about(part))).await;
    }

    pub(super) async fn until(&self, is_so: impl Fn() -> bool) {
        let wait = async {
            while !is_so() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), wait).await.expect("requested in time");
    }

    /// The objects of the Events about an undecodable object; `is_known` tells whether the parent is known as
    /// its owner.
    pub(super) fn concerned(&self, object: &Undecodable, is_known: bool) -> Vec<String> {
        let parents: Vec<Object> = self.parent().filter(|_| is_known).into_iter().collect();
        let about = self.context.concerned(object, &parents);
        about.iter().map(|about| format!("{} {}", about.ty.kind(), about.key)).collect()
    }

    /// The failures that were reported during reconciles.
    pub(super) fn shown(&self) -> Vec<&'static str> {
        self.shown.lock().unwrap().clone()
    }

    /// Whether a change was published to all operators, so that the own parent is reconciled again.
    pub(super) fn notified_the_parent_too(&self) -> bool {
        self.origins.lock().unwrap().iter().any(Option::is_none)
    }
}

fn client(script: Script, published: Reply, asked: Arc<Mutex<Vec<Asked>>>) -> Client {
    let serve = move |request: Request<Body>| {
        let (script, asked, published) = (script.clone(), asked.clone(), published.clone());
        async move {
            let (parts, body) = request.into_parts();
            let bytes = body.collect().await.unwrap().to_bytes();
            let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
            let (method, path) = (parts.method.to_string(), parts.uri.to_string());
            let request = Asked { method, path, body };
            asked.lock().unwrap().push(request.clone());
            let is_openapi = request.path.starts_with("/openapi");
            let (code, body) = if is_openapi { published } else { script(&request) };
            let body = Body::from(body.to_string().into_bytes());
            Ok::<_, Infallible>(Response::builder().status(code).body(body).unwrap())
        }
    };
    Client::new(tower::service_fn(serve), "ns")
}
