//! What a failed test prints, so that it can be understood without another run.

use std::time::{Duration, SystemTime};

use operetta::{
    object::ObjectKey,
    testkit::internals::board::{Board, ParentState, parents, why_busy},
};
use tokio::runtime::{Handle, RuntimeFlavor};

use crate::cluster::{Cluster, Request};

/// How many requests are printed: the last ones.
const REQUESTS: usize = 40;

/// How many parents of an operator are printed.
const PARENTS: usize = 10;

/// How long a request may take that is in progress.
const DEADLINE: Duration = Duration::from_secs(5);

/// Prints the last requests of the operators in a namespace, and those in none.
pub(crate) fn print_requests(cluster: &Cluster, namespace: &str) {
    let Cluster::Embedded(..) = cluster else { return };
    let Some(runtime) = runtime() else { return };
    let ended = tokio::time::timeout(DEADLINE, cluster.requests());
    let Ok(mut requests) = tokio::task::block_in_place(|| runtime.block_on(ended)) else {
        return eprintln!("{namespace}: a request of this test is still in progress");
    };
    requests.retain(|request| is_of(request, namespace));
    let hidden = requests.len().saturating_sub(REQUESTS);
    eprintln!("{namespace}: the last requests of its operators, {hidden} earlier ones not shown");
    for Request { verb, uri, code, .. } in &requests[hidden..] {
        eprintln!("{namespace}: {code} {verb} {uri}");
    }
}

/// A runtime that goes on while one of its threads waits.
fn runtime() -> Option<Handle> {
    let runtime = Handle::try_current().ok()?;
    (runtime.runtime_flavor() == RuntimeFlavor::MultiThread).then_some(runtime)
}

fn is_of(request: &Request, namespace: &str) -> bool {
    let is_here = request.namespace().is_none_or(|it| it == namespace);
    request.user_agent.starts_with("operetta/") && is_here
}

/// Prints the parents of all operators as the web endpoint shows them.
pub(crate) fn print_parents(board: &Board) {
    for operator in board.operators() {
        let name = operator.name().as_str();
        let parents = parents(board, name);
        eprintln!("operator {name}: {:?}, {} parents", operator.state, parents.len());
        for (key, parent) in parents.iter().take(PARENTS) {
            eprintln!("{}", line(key, parent));
        }
    }
}

fn line(key: &ObjectKey, parent: &ParentState) -> String {
    let ParentState { phase, stage, failures, message, .. } = parent;
    let busy = why_busy(parent, SystemTime::now()).unwrap_or("is at rest");
    let reconciles = parent.history.recorded();
    let message = message.as_deref().unwrap_or_default();
    format!(
        "  {key}: {phase:?}, {stage:?}, {reconciles} reconciles, {failures} failures, {busy} {message}"
    )
}
