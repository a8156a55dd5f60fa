//! What an operator's actor shows when messages and the store disagree.

use std::{
    collections::BTreeSet,
    convert::Infallible,
    sync::Arc,
    time::{Duration, Instant},
};

use actix::{Addr, System};
use kube::{Client, client::Body};
use serde_json::{Value, json};
use tokio::{
    runtime::{Builder, Handle},
    sync::mpsc::UnboundedSender,
};

use super::{
    OperatorHandle,
    mailbox::{Metered, Receive},
    messages::{Observed, RelatedProblems, WatchChanged, WatchCondition},
    operator_actor::OperatorActor,
    reconciler::Reconciler,
    *,
};
use crate::{
    board::{
        Board, Command, CommandRequest, OperatorInfo, ParentPhase, PauseRequest, Responder,
        WebRequest,
    },
    cluster::{Cluster, Watched},
    execute::{Alive, Context, ContextParts, RequestPermits, SharedPermits},
    metrics::Metrics,
    object::{K8sType, KeptManagers, Object, ResourceVersion, Undecodable},
    operator::{self, OperatorConfig, OperatorName, SyncRequest, SyncResponse},
    store::{Change, Store},
};

const CREATED: Step = (None, Some(7));
const DELETED: Step = (Some(8), None);
const UPDATED: Step = (Some(7), Some(8));

/// The versions of the parent before and after a change.
type Step = (Option<u64>, Option<u64>);

#[test]
fn a_parent_that_came_and_went_at_once_is_not_shown_for_ever() {
    let send_together = |operator: Addr<OperatorActor>, _| async move {
        for step in [CREATED, DELETED] {
            operator.do_send(metered(observed(step)));
        }
    };
    assert_eq!(shown_after(send_together), 0);
}

#[test]
fn a_late_message_does_not_show_a_deleted_parent_again() {
    let send_one_by_one = |operator: Addr<OperatorActor>, _| async move {
        for step in [CREATED, DELETED, UPDATED] {
            operator.send(metered(observed(step))).await.unwrap();
        }
    };
    assert_eq!(shown_after(send_one_by_one), 0);
}

#[test]
fn a_parent_whose_reconciler_panicked_gets_another() {
    let dying = |operator: Addr<OperatorActor>, board: Board| async move {
        operator.send(metered(observed(CREATED))).await.unwrap();
        operator.send(metered(Panic)).await.unwrap();
        tokio::task::yield_now().await;
        board.forget(&OperatorName::new("op").unwrap(), parent(7).key());
        tokio::time::sleep(Duration::from_mins(1)).await;
    };
    assert_eq!(shown_over(&store(vec![parent(7)]), dying), 1);
}

/// Other namespaces have as many undecodable objects before it as are listed at once.
#[test]
fn an_operator_reports_every_undecodable_parent_at_its_start() {
    let parents = store(vec![parent(7)]);
    for number in 0..100 {
        assert!(parents.mark_undecodable(undecodable("elsewhere", &format!("a{number}"))));
    }
    assert!(parents.mark_undecodable(undecodable("ns", "last")));
    let (sender, mut events) = tokio::sync::mpsc::unbounded_channel();
    let receive = |_, _| async move {
        let regarding: Value = events.recv().await.expect("the server stays");
        assert_eq!((&regarding["namespace"], &regarding["name"]), (&json!("ns"), &json!("last")));
    };
    let board = operating(&parents, || recording_client(sender), receive);
    assert_eq!(
        board.operator("op").unwrap().parents.values().sum::<usize>(),
        1,
        "the decodable one"
    );
}

/// Its reconcile was deferred because of its finalizer, and waits for its backoff because it fails.
#[test]
fn a_parent_is_not_shown_as_paused_after_its_operator_is_resumed() {
    let pausing = |operator: Addr<OperatorActor>, board: Board| async move {
        let send = async |command| {
            let (operator_name, answer) = ("op".to_owned(), Responder::nobody());
            let command = CommandRequest { operator: operator_name, command, by: None, answer };
            operator.send(metered(Asked { request: WebRequest::Command(command) })).await.unwrap();
        };
        send(Command::PauseOperator(PauseRequest::default())).await;
        send(Command::Sync(parent(7).key().clone())).await;
        until(&board, ParentPhase::Paused).await;
        send(Command::ResumeOperator).await;
        until(&board, ParentPhase::Failing).await;
    };
    operating(&store(vec![parent(7)]), failing_client, pausing);
}

fn related() -> K8sType {
    K8sType::namespaced("v1", "Secret", "secrets")
}

/// The reasons of an operator that panics twice, and hears this of its related objects while it is down.
fn reasons_after(before: &'static [&str], meanwhile: &'static [&str]) -> Vec<String> {
    let problems = |reasons: &[&str]| {
        let reasons = reasons.iter().map(|reason| (*reason).to_owned()).collect();
        metered(RelatedProblems { ty: related(), reasons })
    };
    let hearing = |operator: Addr<OperatorActor>, board: Board| async move {
        operator.send(problems(before)).await.unwrap();
        board.let_panic("the operator op", 2);
        for _ in 0..2 {
            operator.send(metered(observed(CREATED))).await.unwrap();
        }
        operator.send(problems(meanwhile)).await.unwrap();
        tokio::time::sleep(Duration::from_mins(1)).await;
    };
    let board = operating(&store(vec![parent(7)]), failing_client, hearing);
    board.operator("op").unwrap().state.reasons().to_vec()
}

#[test]
fn what_is_reported_of_related_objects_during_a_restart_is_neither_lost_nor_kept_for_ever() {
    assert_eq!(reasons_after(&[], &["stale"]), ["stale"]);
    assert_eq!(reasons_after(&["stale"], &[]), [""; 0]);
}

/// Lets all reconcilers panic.
pub(super) struct Panic;

impl Receive<Panic> for Reconciler {
    fn receive(&mut self, Panic: Panic, _: &mut Self::Context) {
        panic!("as the test asks for");
    }
}

/// How many parents the board shows after these messages if the store has none.
fn shown_after<F: Future<Output = ()>>(
    send: impl FnOnce(Addr<OperatorActor>, Board) -> F,
) -> usize {
    shown_over(&store(vec![]), send)
}

/// How many parents of the store the board shows after these messages.
fn shown_over<F: Future<Output = ()>>(
    parents: &Store,
    send: impl FnOnce(Addr<OperatorActor>, Board) -> F,
) -> usize {
    let board = operating(parents, failing_client, send);
    board.operator("op").unwrap().parents.values().sum()
}

/// The board of an operator with synced watches after these messages.
fn operating<F: Future<Output = ()>>(
    parents: &Store,
    client: impl FnOnce() -> Client,
    send: impl FnOnce(Addr<OperatorActor>, Board) -> F,
) -> Board {
    let io = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let board = Board::new();
    let parts = {
        // The client starts a task.
        let _entered = io.enter();
        parts(parents, client(), board.clone(), io.handle().clone())
    };
    let shared = board.clone();
    let paused = || Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    System::with_tokio_rt(paused).block_on(async move {
        let operator = OperatorHandle::start(parts).address().clone();
        let condition = WatchCondition::Synced;
        operator.send(metered(WatchChanged { watched: apps(), condition })).await.unwrap();
        send(operator, shared).await;
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
    });
    io.shutdown_background();
    board
}

/// Waits for the reconciles, which run on other threads, while no timer fires.
async fn until(board: &Board, phase: ParentPhase) {
    let deadline = Instant::now() + Duration::from_secs(30);
    let shown = || board.parent("op", parent(7).key()).map(|parent| parent.phase);
    while shown() != Some(phase) {
        assert!(Instant::now() < deadline, "{:?} instead of {phase:?}", shown());
        tokio::task::yield_now().await;
    }
}

fn metered<M>(message: M) -> Metered<M> {
    Metered::new(message, &Metrics::new().mailbox("operator", "op"))
}

fn parts(parents: &Store, client: Client, board: Board, runtime: Handle) -> OperatorParts {
    let context = Arc::new(context(parents.clone(), client));
    let (name, config) = (context.name().clone(), context.config().clone());
    board.register(OperatorInfo { name, config, has_finalizer: false });
    let (states, _) = tokio::sync::mpsc::unbounded_channel();
    let (parents, children) = (parents.reader(), vec![]);
    let relies_on = BTreeSet::from([apps()]);
    let mailbox = context.metrics().mailbox("operator", "op");
    let pool = ArbiterPool::default();
    OperatorParts { context, parents, children, relies_on, runtime, pool, board, states, mailbox }
}

fn context(parents: Store, client: Client) -> Context {
    let metrics = Metrics::new();
    let parts = ContextParts {
        parent_types: <_>::default(),
        reads: Arc::default(),
        shared_permits: SharedPermits::for_limits([16]),
        requests: RequestPermits::default(),
        buckets: None,
        config: OperatorConfig::new("op", app()).within_namespaces(["ns"]),
        handler: operator::AnyHandler::blocking(WithFinalizer),
        cluster: Cluster::new(client, metrics.clone(), KeptManagers::default()),
        parents,
        children: vec![],
        metrics,
        publish: Arc::new(|_, _, _| {}),
        show: Arc::new(|_, _| {}),
        alive: Alive::new().0,
    };
    Context::new(parts).unwrap()
}

struct WithFinalizer;

impl operator::Handler for WithFinalizer {
    type Parent = Object;
    type Response = SyncResponse;

    fn sync(&self, _: &SyncRequest) -> anyhow::Result<SyncResponse> {
        Ok(SyncResponse::new())
    }

    fn has_finalizer(&self) -> bool {
        true
    }
}

fn failing_client() -> Client {
    let serve = |_: http::Request<Body>| async {
        Ok::<_, Infallible>(http::Response::builder().status(500).body(Body::empty()).unwrap())
    };
    Client::new(tower::service_fn(serve), "ns")
}

/// A client whose server refuses all requests and sends what the Events about undecodable objects regard.
fn recording_client(sender: UnboundedSender<Value>) -> Client {
    let serve = move |request: http::Request<Body>| {
        let sender = sender.clone();
        async move {
            let body = request.into_body().collect_bytes().await.unwrap();
            let event: Value = serde_json::from_slice(&body).unwrap_or_default();
            if event["reason"] == "Undecodable" {
                drop(sender.send(event["regarding"].clone()));
            }
            Ok::<_, Infallible>(http::Response::builder().status(500).body(Body::empty()).unwrap())
        }
    };
    Client::new(tower::service_fn(serve), "ns")
}

fn undecodable(namespace: &str, name: &str) -> Undecodable {
    let metadata = json!({"name": name, "namespace": namespace, "resourceVersion": "7"});
    Undecodable::read(&app(), &json!({"metadata": metadata}).to_string(), "odd".to_owned())
}

fn store(parents: Vec<Object>) -> Store {
    let store = Store::new(app(), BTreeSet::new());
    let scope = store.add_scope(None);
    let start = store.begin_list(scope);
    store.replace(scope, start, parents, &ResourceVersion::Number(7));
    store
}

fn app() -> K8sType {
    K8sType::namespaced("example.com/v1", "App", "apps")
}

fn apps() -> Watched {
    Watched { ty: app(), namespace: None }
}

fn parent(version: u64) -> Object {
    let value = json!({"metadata": {
        "name": "p", "namespace": "ns", "uid": "pu", "resourceVersion": version.to_string(),
        "generation": 1,
    }});
    Object::from_value(&app(), &value, &KeptManagers::default()).unwrap()
}

fn observed((before, after): Step) -> Observed {
    let change =
        Change { before: before.map(parent), after: after.map(parent), parents: BTreeSet::new() };
    Observed { ty: app(), changes: Arc::from(vec![change]), origin: None }
}
