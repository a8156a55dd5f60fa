//! Operators that a test has started: access to their state, and helpers that wait for it.

use std::{net::SocketAddr, time::SystemTime};

use operetta::{
    object::ObjectKey,
    supervisor::Running,
    testkit::internals::board::{Board, ParentPhase, ParentState, busy, why_busy},
};
use serde_json::Value;

use crate::{failed, world::eventually};

/// Running operators, which a test stops at its end.
pub(crate) struct Operators {
    running: Option<Running>,
}

impl Operators {
    pub(crate) fn new(running: Running) -> Self {
        Self { running: Some(running) }
    }

    pub(crate) fn running(&self) -> &Running {
        self.running.as_ref().expect("running until it is stopped")
    }

    /// Sends a GET request to the web endpoint.
    pub(crate) async fn http(&self, path: &str) -> (u16, String) {
        let address = self.running().web().unwrap();
        send(address, &format!("GET {path}"), "").await
    }

    /// Sends a GET request for what is about objects, until the answer shows more than their names: the operators read
    /// which fields are secret beside their work.
    pub(crate) async fn shown(&self, path: &str) -> (u16, String) {
        let shows = |(_, body): &(u16, String)| !body.contains("the secret fields are unknown");
        eventually(&format!("{path} with texts"), || self.http(path), shows).await
    }

    /// Sends a POST request to the web endpoint.
    pub(crate) async fn post(&self, path: &str) -> (u16, String) {
        self.post_as(path, "application/json").await
    }

    /// The same with a content type of the test's choice.
    pub(crate) async fn post_as(&self, path: &str, content_type: &str) -> (u16, String) {
        let address = self.running().web().unwrap();
        let headers = format!("Content-Type: {content_type}\r\nContent-Length: 0\r\n");
        send(address, &format!("POST {path}"), &headers).await
    }

    /// Sends a command with a body, and returns its code and body.
    pub(crate) async fn post_json(&self, path: &str, body: &Value) -> (u16, String) {
        let (address, body) = (self.running().web().unwrap(), body.to_string());
        // The line end after the headers belongs to the body.
        let length = body.len() + 2;
        let headers =
            format!("Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}");
        send(address, &format!("POST {path}"), &headers).await
    }

    /// Waits until the operators have nothing left to do, so that they send nothing more by themselves.
    pub(crate) async fn settled(&self) {
        self.running().settled().await;
    }

    /// Waits until so many parents are synced, ready or not, no others exist, and no reconcile is in progress or due.
    pub(crate) async fn until_all_synced(&self, parents: usize) {
        let board = self.running().board();
        let expected = (parents, 0);
        let all = || async {
            let counts = counts_of(board);
            let are_synced = counts == expected;
            (counts, are_synced.then(|| busy(board, SystemTime::now())))
        };
        let are_synced =
            |(_, busy): &(_, Option<Vec<String>>)| busy.as_ref().is_some_and(Vec::is_empty);
        eventually(&format!("{parents} parents synced, and no others"), all, are_synced).await;
    }

    /// Waits until a parent is synced, ready or not, and its reconcile has ended: what that did is in the history and
    /// in the metrics.
    pub(crate) async fn until_synced(&self, operator: &str, namespace: &str, name: &str) {
        let is_synced =
            |parent: &ParentState| matches!(parent.phase, ParentPhase::Ready | ParentPhase::Synced);
        self.until_at_rest(operator, (namespace, name), is_synced).await;
    }

    /// Waits until a parent is in this state, and no reconcile of it is in progress or due.
    pub(crate) async fn until_at_rest(
        &self,
        operator: &str,
        (namespace, name): (&str, &str),
        is_right: impl Fn(&ParentState) -> bool,
    ) -> ParentState {
        let key = ObjectKey::namespaced(namespace, name);
        let board = self.running().board();
        let parent = || async { board.parent(operator, &key) };
        let is_at_rest = |parent: &Option<ParentState>| {
            let at_rest = |parent: &ParentState| why_busy(parent, SystemTime::now()).is_none();
            parent.as_ref().is_some_and(|parent| is_right(parent) && at_rest(parent))
        };
        let what = format!("parent {key} of {operator} at rest");
        eventually(&what, parent, is_at_rest).await.expect("it is at rest")
    }

    /// How often a parent was reconciled.
    pub(crate) fn reconciles(&self, operator: &str, namespace: &str, name: &str) -> u64 {
        let key = ObjectKey::namespaced(namespace, name);
        let parent = self.running().board().parent(operator, &key);
        parent.map_or(0, |parent| parent.history.recorded())
    }

    /// Waits until a parent was reconciled so often.
    pub(crate) async fn until_reconciles(
        &self,
        operator: &str,
        namespace: &str,
        name: &str,
        reconciles: u64,
    ) {
        let key = ObjectKey::namespaced(namespace, name);
        let board = self.running().board();
        let count =
            || async { board.parent(operator, &key).map_or(0, |parent| parent.history.recorded()) };
        eventually("enough reconciles", count, |count| *count >= reconciles).await;
    }

    /// Stops the operators and waits for their end.
    pub(crate) async fn stop(mut self) {
        let running = self.running.take().expect("stopped once");
        running.stop().await.unwrap();
    }
}

impl Drop for Operators {
    fn drop(&mut self) {
        if let Some(running) = self.running.as_ref().filter(|_| std::thread::panicking()) {
            failed::print_parents(running.board());
        }
    }
}

/// How many parents are synced, and how many are not.
fn counts_of(board: &Board) -> (usize, usize) {
    let parents = board.operators().into_iter().flat_map(|operator| operator.parents);
    parents.fold((0, 0), |(synced, others), (phase, count)| match phase {
        ParentPhase::Ready | ParentPhase::Synced => (synced + count, others),
        _ => (synced, others + count),
    })
}

async fn send(address: SocketAddr, line: &str, headers: &str) -> (u16, String) {
    let (code, answer) = http(address, line, headers).await;
    (code, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
}

/// Sends a request with these headers, each with its line end; returns the code and the whole answer.
///
/// A busy machine may send it so late that the endpoint has not waited for it. Nothing has happened then, and a client
/// repeats the request (RFC 9110, section 15.5.9).
pub(crate) async fn http(address: SocketAddr, line: &str, headers: &str) -> (u16, String) {
    let is_in_time = |(code, _): &(u16, String)| *code != 408;
    eventually(line, || exchange(address, line, headers), is_in_time).await
}

async fn exchange(address: SocketAddr, line: &str, headers: &str) -> (u16, String) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let request =
        format!("{line} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
}

/// Whether a series of `/metrics` that contains this text is not zero.
pub(crate) fn counts(metrics: &str, series: &str) -> bool {
    metrics.lines().any(|line| line.contains(series) && !line.ends_with(" 0"))
}
