//! What an operator's actor shows when messages and the store do not agree.

use std::{
    collections::BTreeSet,
    convert::Infallible,
    sync::Arc,
    time::{Duration, Instant},
};

use actix::{Addr, Message, System};
use kube::{Client, client::Body};
use serde_json::{Value, json};
use tokio::{
    runtime::{Builder, Handle},
    sync::mpsc::UnboundedSender,
};

use super::{
    mailbox::{Metered, MeteredMessage, Receive},
    reconciler::Reconciler,
    *,
};
use crate::{
    board::{Answer, Board, Command, CommandRequest, OperatorInfo, ParentPhase, WebRequest},
    cluster::{Cluster, Watched},
    execute::{Context, ContextParts, RequestPermits, SharedPermits},
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
    let told_together = |operator: Addr<OperatorActor>, _| async move {
        for step in [CREATED, DELETED] {
            operator.do_send(mail(observed(step)));
        }
    };
    assert_eq!(shown_after(told_together), 0);
}

#[test]
fn a_late_message_does_not_bring_a_parent_back() {
    let told_one_by_one = |operator: Addr<OperatorActor>, _| async move {
        for step in [CREATED, DELETED, UPDATED] {
            operator.send(mail(observed(step))).await.unwrap();
        }
    };
    assert_eq!(shown_after(told_one_by_one), 0);
}

#[test]
fn a_parent_whose_reconciler_died_gets_another() {
    let dying = |operator: Addr<OperatorActor>, board: Board| async move {
        operator.send(mail(observed(CREATED))).await.unwrap();
        operator.send(mail(Dying)).await.unwrap();
        tokio::task::yield_now().await;
        board.forget(&OperatorName::new("op").unwrap(), parent(7).key());
        tokio::time::sleep(Duration::from_mins(1)).await;
    };
    assert_eq!(shown_over(&store(vec![parent(7)]), dying), 1);
}

/// As many as are shown together, of elsewhere, come before the one that is the operator's.
#[test]
fn an_operator_that_starts_looks_at_every_parent_that_cannot_be_read() {
    let parents = store(vec![parent(7)]);
    for number in 0..100 {
        assert!(parents.leave_out(unreadable("elsewhere", &format!("a{number}"))));
    }
    assert!(parents.leave_out(unreadable("ns", "last")));
    let (say, mut told) = tokio::sync::mpsc::unbounded_channel();
    let hearing = |_, _| async move {
        let regarding: Value = told.recv().await.expect("the server stays");
        assert_eq!((&regarding["namespace"], &regarding["name"]), (&json!("ns"), &json!("last")));
    };
    let board = operating(&parents, || hearing_client(say), hearing);
    assert_eq!(board.operator("op").unwrap().parents.values().sum::<usize>(), 1, "the readable");
}

/// It owes a reconcile because of its finalizer, and has to wait for its turn as it fails.
#[test]
fn a_parent_whose_operator_is_resumed_is_not_called_paused_until_it_has_run() {
    let pausing = |operator: Addr<OperatorActor>, board: Board| async move {
        let order = async |order| {
            let (operator_name, answer) = ("op".to_owned(), Answer::nobody());
            let command =
                CommandRequest { operator: operator_name, command: order, by: None, answer };
            operator.send(mail(Asked { request: WebRequest::Command(command) })).await.unwrap();
        };
        order(Command::PauseOperator).await;
        order(Command::Sync(parent(7).key().clone())).await;
        until(&board, ParentPhase::Paused).await;
        order(Command::ResumeOperator).await;
        until(&board, ParentPhase::Failing).await;
    };
    operating(&store(vec![parent(7)]), failing_client, pausing);
}

/// An order to all reconcilers: to die of a defect.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) struct Dying;

impl MeteredMessage for Dying {}

impl Receive<Dying> for Reconciler {
    fn receive(&mut self, Dying: Dying, _: &mut Self::Context) {
        panic!("of a defect");
    }
}

/// How many parents the board shows when the store has none, whatever was told.
fn shown_after<F: Future<Output = ()>>(
    tell: impl FnOnce(Addr<OperatorActor>, Board) -> F,
) -> usize {
    shown_over(&store(vec![]), tell)
}

/// How many parents the board shows in the end, of those in the store.
fn shown_over<F: Future<Output = ()>>(
    parents: &Store,
    tell: impl FnOnce(Addr<OperatorActor>, Board) -> F,
) -> usize {
    let board = operating(parents, failing_client, tell);
    board.operator("op").unwrap().parents.values().sum()
}

/// The board in the end, of an operator that has all that it needs.
fn operating<F: Future<Output = ()>>(
    parents: &Store,
    client: impl FnOnce() -> Client,
    tell: impl FnOnce(Addr<OperatorActor>, Board) -> F,
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
        let operator = OperatorActor::start(parts);
        let condition = WatchCondition::Synced;
        operator.send(mail(WatchChanged { watched: apps(), condition })).await.unwrap();
        tell(operator, shared).await;
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
    });
    io.shutdown_background();
    board
}

/// Waits for the reconciles, which are on threads of their own, while no timer goes off.
async fn until(board: &Board, phase: ParentPhase) {
    let deadline = Instant::now() + Duration::from_secs(30);
    let shown = || board.parent("op", parent(7).key()).map(|parent| parent.phase);
    while shown() != Some(phase) {
        assert!(Instant::now() < deadline, "{:?} instead of {phase:?}", shown());
        tokio::task::yield_now().await;
    }
}

fn mail<M: MeteredMessage>(message: M) -> Metered<M> {
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
        shared_permits: SharedPermits::for_limits([16]),
        requests: RequestPermits::default(),
        config: OperatorConfig::new("op", app()).within_namespaces(["ns"]),
        handler: Arc::new(Tidy),
        cluster: Cluster::new(client, metrics.clone(), KeptManagers::default()),
        parents,
        children: vec![],
        metrics,
        publish: Arc::new(|_, _, _| {}),
        show: Arc::new(|_, _| {}),
    };
    Context::new(parts).unwrap()
}

/// Its parents get a finalizer.
struct Tidy;

impl operator::Handler for Tidy {
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

/// Of a server that tells what Events about objects that cannot be read are about, and refuses all.
fn hearing_client(say: UnboundedSender<Value>) -> Client {
    let serve = move |request: http::Request<Body>| {
        let say = say.clone();
        async move {
            let body = request.into_body().collect_bytes().await.unwrap();
            let event: Value = serde_json::from_slice(&body).unwrap_or_default();
            if event["reason"] == "Undecodable" {
                drop(say.send(event["regarding"].clone()));
            }
            Ok::<_, Infallible>(http::Response::builder().status(500).body(Body::empty()).unwrap())
        }
    };
    Client::new(tower::service_fn(serve), "ns")
}

fn unreadable(namespace: &str, name: &str) -> Undecodable {
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
