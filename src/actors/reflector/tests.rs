//! Holds, conditions and fallbacks of a reflector.

use std::{
    collections::BTreeSet,
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use actix::{Addr, System};
use kube::{Client, client::Body};
use tokio::runtime::{Builder, Handle};

use super::{super::messages::Heartbeat, failing::LONG_DELAY, *};
use crate::{
    actors::watching::MAX_FAILURES,
    board::Board,
    cluster::Cluster,
    execute::Alive,
    metrics::Metrics,
    object::{KeptManagers, ResourceVersion},
    reply::{ApiError, Refusal},
    store::Settled,
};

fn ty() -> K8sType {
    K8sType::namespaced("v1", "ConfigMap", "configmaps")
}

/// A server that never answers.
fn silent() -> Client {
    let serve =
        |_: http::Request<Body>| std::future::pending::<Result<http::Response<Body>, Infallible>>();
    Client::new(tower::service_fn(serve), "ns")
}

fn parts(store: &Store, board: &Board, runtime: Handle) -> ReflectorParts {
    let metrics = Metrics::new();
    let (store, board) = (store.clone(), board.clone());
    let mailbox = metrics.mailbox("reflector", "configmaps");
    let scopes = vec![WatchSpec::of(ty())];
    let cluster = Cluster::new(silent(), metrics, KeptManagers::default());
    let alive = Alive::new().0;
    let watching = WatchParts { cluster, runtime, board, mailbox, alive };
    ReflectorParts { store, scopes, watching }
}

/// How long deletions are held by default.
const HOLD: Duration = Duration::from_mins(1);

/// Fills the store with an empty list of a version.
fn replace(version: u64, store: &Store, scope: ScopeId) -> Settled {
    let (start, version) = (store.begin_list(scope), ResourceVersion::Number(version));
    store.replace(scope, start, vec![], &version).1
}

/// The same with a note to the reflector.
async fn list(version: u64, store: &Store, scope: ScopeId, reflector: &Addr<Reflector>) {
    let settled = replace(version, store, scope);
    let noted = Noted { of: scope, note: WatchNote::Synced(settled) };
    reflector.send(metered(noted)).await.unwrap();
}

fn metered<M>(message: M) -> Metered<M> {
    Metered::new(message, &Metrics::new().mailbox("reflector", "configmaps"))
}

#[test]
fn deletions_are_held_for_a_minute_after_versions_last_regressed() {
    let io = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (store, board) = (Store::new(ty(), BTreeSet::new()), Board::new());
    board.add_store(store.reader());
    let reflector = {
        // The client starts a task.
        let _entered = io.enter();
        Reflector::new(parts(&store, &board, io.handle().clone()))
    };
    let shown = || board.type_state(&ty()).unwrap().state.deletions_held;
    System::new().block_on(async {
        tokio::time::pause();
        let scope = reflector.scopes[0].id;
        let reflector = reflector.start();
        let pass = async |time| {
            tokio::time::advance(time).await;
            // Timers are polled after messages, and so between two of them.
            for _ in 0..2 {
                reflector.send(metered(Heartbeat)).await.unwrap();
            }
            (shown(), !store.reader().may_delete(None))
        };
        let (half, rest) = (HOLD / 2, HOLD.saturating_sub(Duration::from_secs(1)));
        list(9, &store, scope, &reflector).await;
        assert_eq!(pass(Duration::ZERO).await, (false, false));
        list(5, &store, scope, &reflector).await;
        assert_eq!(pass(half).await, (true, true));
        list(3, &store, scope, &reflector).await;
        assert_eq!(pass(rest).await, (true, true), "the later hold has its own time");
        assert_eq!(pass(Duration::from_secs(2)).await, (false, false));
        // The watch after the list opens late, and with it comes the note.
        list(2, &store, scope, &reflector).await;
        assert_eq!(pass(half).await, (true, true));
        replace(1, &store, scope);
        assert_eq!(
            pass(rest).await,
            (true, true),
            "the end of the earlier hold does not end the later"
        );
        let noted = Noted { of: scope, note: WatchNote::Synced(Settled::Continued) };
        reflector.send(metered(noted)).await.unwrap();
        assert_eq!(pass(rest).await, (true, true), "it began with the note");
        assert_eq!(pass(Duration::from_secs(2)).await, (false, false));
    });
    io.shutdown_background();
}

#[test]
fn nothing_is_deleted_of_a_type_whose_watch_fails_repeatedly() {
    let io = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let _entered = io.enter();
    let short = Duration::from_secs(1);
    for (failures, retry_in, may_delete) in
        [(1, short, true), (MAX_FAILURES, short, false), (1, LONG_DELAY, false)]
    {
        let (store, board) = (Store::new(ty(), BTreeSet::new()), Board::new());
        let mut reflector = Reflector::new(parts(&store, &board, io.handle().clone()));
        for scope in 0..reflector.scopes.len() {
            let start = store.begin_list(reflector.scopes[scope].id);
            store.replace(reflector.scopes[scope].id, start, vec![], &ResourceVersion::Number(9));
            reflector.recovered(scope);
        }
        let error = ApiError::TimedOut { request: "watch".to_owned(), after: short };
        for _ in 0..failures {
            reflector.failed(0, &error, retry_in);
        }
        let reader = store.reader();
        assert_eq!(reader.may_delete(None), may_delete, "{failures} times");
        reflector.recovered(0);
        assert!(reader.may_delete(None), "it works again");
    }
}

#[test]
fn a_change_of_one_namespace_is_shown_without_reading_the_others() {
    let io = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let _entered = io.enter();
    let (store, board) = (Store::new(ty(), BTreeSet::new()), Board::new());
    board.add_store(store.reader());
    let mut parts = parts(&store, &board, io.handle().clone());
    let within = |namespace: &str| WatchSpec {
        namespace: Some(namespace.into()),
        ..parts.scopes[0].clone()
    };
    parts.scopes = ["a", "b"].map(within).into();
    let reflector = Reflector::new(parts);
    let shown = || {
        let state = board.type_state(&ty()).unwrap().state;
        let namespaces = state.namespaces.into_iter().map(|it| (it.namespace.unwrap(), it.synced));
        (state.synced, namespaces.collect::<Vec<_>>())
    };
    let expected = |all, a, b| (all, vec![("a".to_owned(), a), ("b".to_owned(), b)]);
    reflector.show();
    assert_eq!(shown(), expected(false, false, false));
    for scope in &reflector.scopes {
        replace(9, &store, scope.id);
    }
    reflector.show_scope(1);
    assert_eq!(shown(), expected(true, false, true), "only the second was shown");
    reflector.show_scope(0);
    assert_eq!(shown(), expected(true, true, true));
}

fn refused(code: u16) -> ApiError {
    let refusal = Refusal { code, ..Refusal::default() };
    ApiError::Refused { request: "watch".to_owned(), refusal: Box::new(refusal) }
}

/// A reflector of all namespaces with a fallback for `a`.
fn mixed(store: &Store, board: &Board, runtime: &Handle) -> Reflector {
    board.add_store(store.reader());
    let mut parts = parts(store, board, runtime.clone());
    let of_a = WatchSpec { namespace: Some("a".to_owned()), ..parts.scopes[0].clone() };
    parts.scopes.push(of_a);
    Reflector::new(parts)
}

#[test]
fn errors_of_the_watch_of_all_namespaces_concern_the_fallbacks_unless_it_is_forbidden() {
    let io = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let _entered = io.enter();
    let (store, board) = (Store::new(ty(), BTreeSet::new()), Board::new());
    let mut reflector = mixed(&store, &board, io.handle());
    replace(9, &store, reflector.scopes[0].id);
    for (code, is_of_fallbacks) in [(404, true), (403, false)] {
        reflector.recovered(0);
        assert!(reflector.scopes.iter().all(|it| it.condition == WatchCondition::Synced));
        reflector.failed(0, &refused(code), Duration::from_secs(1));
        let is_failing =
            |scope: usize| matches!(reflector.scopes[scope].condition, WatchCondition::Refused(_));
        assert_eq!((is_failing(0), is_failing(1)), (true, is_of_fallbacks), "{code}");
    }
}

#[test]
fn notes_of_an_ended_fallback_are_ignored() {
    let io = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (store, board) = (Store::new(ty(), BTreeSet::new()), Board::new());
    let reflector = {
        let _entered = io.enter();
        mixed(&store, &board, io.handle())
    };
    let shown = || {
        let state = board.type_state(&ty()).unwrap().state;
        let namespaces = state.namespaces.into_iter().map(|it| (it.namespace, it.error.is_some()));
        (namespaces.collect::<Vec<_>>(), state.error.is_some())
    };
    let failed = |code| WatchNote::Failed { error: refused(code), retry_in: Duration::ZERO };
    System::new().block_on(async {
        tokio::time::pause();
        let [all, a] = [reflector.scopes[0].id, reflector.scopes[1].id];
        let reflector = reflector.start();
        let send =
            async |scope, note| reflector.send(metered(Noted { of: scope, note })).await.unwrap();
        send(all, failed(403)).await;
        send(a, failed(403)).await;
        assert_eq!(shown(), (vec![(None, true), (Some("a".to_owned()), true)], true));
        replace(9, &store, a);
        send(a, WatchNote::Synced(Settled::Continued)).await;
        assert!(store.reader().may_delete(Some("a")) && !store.reader().may_delete(Some("b")));
        assert_eq!(shown(), (vec![(None, true), (Some("a".to_owned()), false)], true));

        // All can be listed for a moment and versions have regressed, but the watch is forbidden.
        replace(9, &store, all);
        assert_eq!(replace(5, &store, all), Settled::VersionRegressed);
        send(all, failed(403)).await;
        assert!(!store.reader().may_delete(Some("a")), "deletions of all namespaces are held");
        tokio::time::advance(HOLD + Duration::from_secs(1)).await;
        for _ in 0..2 {
            reflector.send(metered(Heartbeat)).await.unwrap();
        }
        assert!(store.reader().may_delete(Some("a")), "they are held for no longer than a minute");

        list(10, &store, all, &reflector).await;
        assert_eq!(shown(), (vec![], false));
        send(a, failed(500)).await;
        replace(11, &store, a);
        send(a, WatchNote::Lost).await;
        assert_eq!(shown(), (vec![], false));
        assert!(["a", "b"].iter().all(|namespace| store.reader().may_delete(Some(namespace))));
    });
    io.shutdown_background();
}

/// A request that is in progress.
struct InProgress(Arc<AtomicUsize>);

impl Drop for InProgress {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A server that never answers, and how many requests it has.
fn counting() -> (Client, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let serve = move |_: http::Request<Body>| {
        counted.fetch_add(1, Ordering::SeqCst);
        let request = InProgress(counted.clone());
        async move {
            let _request = request;
            std::future::pending::<Result<http::Response<Body>, Infallible>>().await
        }
    };
    (Client::new(tower::service_fn(serve), "ns"), count)
}

#[test]
fn a_watch_that_was_never_listed_does_not_remain_beside_its_successors() {
    let io = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (store, board) = (Store::new(ty(), BTreeSet::new()), Board::new());
    board.add_store(store.reader());
    let (reflector, requests) = {
        let _entered = io.enter();
        let (client, requests) = counting();
        let mut parts = parts(&store, &board, io.handle().clone());
        parts.watching.cluster = Cluster::new(client, Metrics::new(), KeptManagers::default());
        (Reflector::new(parts), requests)
    };
    System::new().block_on(async {
        let reflector = reflector.start();
        for _ in 0..10 {
            let scopes = vec![WatchSpec::of(ty())];
            let rescoped = rescoped::Rescoped { scopes, is_afresh: true };
            reflector.send(metered(rescoped)).await.unwrap();
        }
        let deadline = Instant::now() + Duration::from_secs(10);
        while requests.load(Ordering::SeqCst) != 1 && Instant::now() < deadline {
            tokio::task::yield_now().await;
        }
        assert_eq!(requests.load(Ordering::SeqCst), 1, "lists in progress");
    });
    io.shutdown_background();
}
