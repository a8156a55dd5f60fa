//! An API server that answers from a script and keeps what it was asked, and one operator with one
//! parent and one child type before it. Has no state of its own: what a script forgets to say is
//! not there.

mod objects;

use std::{
    collections::BTreeSet,
    convert::Infallible,
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use http::{Request, Response};
use http_body_util::BodyExt;
use kube::{Client, client::Body};
use serde_json::{Value, json};

use self::objects::openapi;
pub(super) use self::objects::{app, child, desired, parent, refusal, with_status};
use super::super::*;
use crate::{
    cluster::Cluster,
    metrics::Metrics,
    object::{K8sType, KeptManagers, ResourceVersion, Undecodable},
    operator::{ChildConfig, OperatorConfig, Permanent},
    store::Store,
};

/// A status code and a body.
pub(super) type Reply = (u16, Value);

type Script = Arc<dyn Fn(&Asked) -> Reply + Send + Sync>;

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

/// What an operator finds when it runs.
pub(super) struct Setup {
    child: K8sType,
    config: ChildConfig,
    parent: Value,
    cached: Vec<Value>,
    /// The text of a child that cannot be read.
    left_out: Option<String>,
    /// Whether the children have not been listed yet.
    is_unlisted: bool,
    /// Another child type, with a child.
    beside: Option<(K8sType, Value)>,
    desired: Result<Vec<Value>, Permanent>,
    normal_events: bool,
    /// The status that the handler returns.
    status: Option<Value>,
    /// What the cache is told of the parent while the handler is asked.
    meanwhile: Option<Value>,
    /// What the handler waits for, longer than it may take.
    awaited: Option<Mutex<mpsc::Receiver<()>>>,
    dies: bool,
}

impl Setup {
    pub(super) fn new(child: K8sType, config: ChildConfig) -> Self {
        let parent = parent("3");
        let (cached, desired) = (Vec::new(), Ok(Vec::new()));
        Self {
            child,
            config,
            parent,
            cached,
            left_out: None,
            is_unlisted: false,
            beside: None,
            desired,
            normal_events: false,
            status: None,
            meanwhile: None,
            awaited: None,
            dies: false,
        }
    }

    /// The parent is being deleted, and has these finalizers.
    pub(super) fn ending(mut self, finalizers: &[&str]) -> Self {
        self.parent["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        self.parent["metadata"]["finalizers"] = json!(finalizers);
        self
    }

    /// A child that the watch has told of.
    pub(super) fn caching(mut self, child: Value) -> Self {
        self.cached.push(child);
        self
    }

    /// The list of the children is still to come.
    pub(super) fn unlisted(self) -> Self {
        Self { is_unlisted: true, ..self }
    }

    /// A child of which the watch has told nothing that can be read.
    pub(super) fn leaving_out(mut self, child: &Value) -> Self {
        self.left_out = Some(child.to_string());
        self
    }

    /// A child of another type that the watch has told of.
    pub(super) fn caching_beside(self, ty: K8sType, child: Value) -> Self {
        Self { beside: Some((ty, child)), ..self }
    }

    /// The one child that the handler wants.
    pub(super) fn desiring(self, child: Value) -> Self {
        Self { desired: Ok(vec![child]), ..self }
    }

    /// Another child that it wants.
    pub(super) fn and(mut self, child: Value) -> Self {
        self.desired = self.desired.map(|mut desired| {
            desired.push(child);
            desired
        });
        self
    }

    /// The handler fails, and no retry can help.
    pub(super) fn failing_for_good(self) -> Self {
        Self { desired: Err(Permanent("the spec makes no sense".to_owned())), ..self }
    }

    /// The handler answers when it is told to, and is overdue until then.
    pub(super) fn answering_after(self, awaited: mpsc::Receiver<()>) -> Self {
        Self { awaited: Some(Mutex::new(awaited)), ..self }
    }

    /// The parent becomes this while the handler is asked.
    pub(super) fn meanwhile(self, parent: Value) -> Self {
        Self { meanwhile: Some(parent), ..self }
    }

    /// The parent shows this status.
    pub(super) fn showing(mut self, status: Value) -> Self {
        self.parent["status"] = status;
        self
    }

    /// The handler returns this status.
    pub(super) fn returning(self, status: Value) -> Self {
        Self { status: Some(status), ..self }
    }

    /// What goes well is told too.
    pub(super) fn telling_all(self) -> Self {
        Self { normal_events: true, ..self }
    }

    /// What follows a write panics.
    pub(super) fn dying(self) -> Self {
        Self { dies: true, ..self }
    }

    pub(super) fn before(self, script: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> World {
        World::new(self, Arc::new(script))
    }
}

/// An operator, its parent and its API server.
pub(super) struct World {
    context: Arc<Context>,
    asked: Arc<Mutex<Vec<Asked>>>,
    origins: Arc<Mutex<Vec<Option<Origin>>>>,
}

impl World {
    fn new(setup: Setup, script: Script) -> Self {
        let (asked, origins) = (Arc::default(), Arc::<Mutex<Vec<_>>>::default());
        let told = origins.clone();
        let client = client(script, Arc::clone(&asked));
        let (desired, awaited, dies) = (setup.desired, setup.awaited, setup.dies);
        let is_late = awaited.is_some();
        let parents = store(&app(), &[setup.parent]);
        let (cache, meanwhile, status) = (parents.clone(), setup.meanwhile, setup.status);
        let handler = move |_: &SyncRequest| {
            if let Some(changed) = &meanwhile {
                cache.overlay(Object::from_value(&app(), changed, &kept()).unwrap());
            }
            if let Some(awaited) = &awaited {
                awaited.lock().unwrap().recv().unwrap();
            }
            let answer = SyncResponse { status: status.clone(), ..SyncResponse::new() };
            Ok(desired.clone()?.into_iter().fold(answer, SyncResponse::child))
        };
        let mut config =
            OperatorConfig::new("op", app()).child_of_type(setup.child.clone(), setup.config);
        let mut children = vec![store(&setup.child, &setup.cached)];
        if setup.is_unlisted {
            children[0].add_scope(None);
        }
        if let Some(text) = setup.left_out {
            children[0].leave_out(Undecodable::read(&setup.child, &text, "odd".to_owned()));
        }
        if let Some((ty, child)) = setup.beside {
            config = config.child_of_type(ty.clone(), ChildConfig::apply());
            children.push(store(&ty, &[child]));
        }
        config.normal_events = setup.normal_events;
        if is_late {
            config.handler_deadline = Duration::from_millis(1);
        }
        let context = Context::new(ContextParts {
            common_places: CommonPlaces::for_limits([16]),
            config,
            handler: Arc::new(handler),
            cluster: Cluster::new(client, Metrics::new(), kept()),
            parents,
            children,
            metrics: Metrics::new(),
            publish: Arc::new(move |_, _, origin| {
                assert!(!dies, "a defect");
                told.lock().unwrap().push(origin);
            }),
            show: Arc::new(|_, _| {}),
        });
        Self { context: Arc::new(context.unwrap()), asked, origins }
    }

    pub(super) async fn run(&self, memory: Memory) -> Report {
        self.run_after(0, memory).await
    }

    /// Runs after so many runs that wrote children.
    pub(super) async fn run_after(&self, after_writes: u32, memory: Memory) -> Report {
        let (key, uid) = (ObjectKey::namespaced("ns", "p"), Uid::new("pu"));
        run(&self.context, Job { key, uid, after_writes, failures: 0, memory }).await
    }

    /// Somebody else has changed the child, and the cache knows.
    pub(super) fn changed(&self, child: &Value) {
        let ty = &self.config().children[0].ty;
        self.context.learn_live(Object::from_value(ty, child, &kept()).unwrap());
    }

    pub(super) fn context(&self) -> Arc<Context> {
        self.context.clone()
    }

    pub(super) fn config(&self) -> &OperatorConfig {
        self.context.config()
    }

    /// What was asked with a method.
    pub(super) fn asked(&self, method: &str) -> Vec<Asked> {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|asked| asked.method == method).cloned().collect()
    }

    /// Waits for a request that no run waits for.
    pub(super) async fn until_asked(&self, method: &str, part: &str) {
        let asked = async {
            while !self.asked(method).iter().any(|asked| asked.is_about(part)) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), asked).await.expect("asked in time");
    }

    /// Where it is told that an object cannot be read; the parent is known to have it, or none is.
    pub(super) fn concerned(&self, object: &Undecodable, is_known: bool) -> Vec<String> {
        let parent = self.context.parent(&ObjectKey::namespaced("ns", "p"), &Uid::new("pu"));
        let parents: Vec<Object> = parent.filter(|_| is_known).into_iter().collect();
        let about = self.context.concerned(object, &parents);
        about.iter().map(|about| format!("{} {}", about.ty.kind(), about.key)).collect()
    }

    /// Whether a change was told to all, so that the parent itself runs again for it.
    pub(super) fn told_the_parent_too(&self) -> bool {
        self.origins.lock().unwrap().iter().any(Option::is_none)
    }
}

fn client(script: Script, asked: Arc<Mutex<Vec<Asked>>>) -> Client {
    let serve = move |request: Request<Body>| {
        let (script, asked) = (script.clone(), asked.clone());
        async move {
            let (parts, body) = request.into_parts();
            let bytes = body.collect().await.unwrap().to_bytes();
            let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
            let (method, path) = (parts.method.to_string(), parts.uri.to_string());
            let request = Asked { method, path, body };
            asked.lock().unwrap().push(request.clone());
            let is_openapi = request.path.starts_with("/openapi");
            let (code, body) = if is_openapi { (200, openapi()) } else { script(&request) };
            let body = Body::from(body.to_string().into_bytes());
            Ok::<_, Infallible>(Response::builder().status(code).body(body).unwrap())
        }
    };
    Client::new(tower::service_fn(serve), "ns")
}

fn store(ty: &K8sType, items: &[Value]) -> Store {
    let store = Store::new(ty.clone(), BTreeSet::from(["operetta.dev/parent-uid".to_owned()]));
    let scope = store.add_scope(None);
    let start = store.begin_list();
    let items = items.iter().map(|item| Object::from_value(ty, item, &kept()).unwrap()).collect();
    store.replace(scope, start, items, &ResourceVersion::Number(5));
    store
}

fn kept() -> KeptManagers {
    KeptManagers::new(["op"])
}
