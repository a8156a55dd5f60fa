//! Serves the requests of registrars and of the web, one after the other, and waits for operators that go.

use std::{collections::BTreeSet, future::pending, time::Duration};

use futures::{FutureExt, StreamExt, future::LocalBoxFuture, stream::FuturesUnordered};
use tokio::{
    sync::{
        mpsc::{Receiver, UnboundedReceiver},
        oneshot,
    },
    time::{Instant, interval_at, timeout},
};

use super::{
    members::{Leaving, Members, Remains},
    reconfigure::Reconfiguring,
    registrar::{OnRemoval, RegistrationResponder, Request},
    shared::Warming,
    wanted_buckets::WantedBuckets,
};
use crate::{
    actors::Asked,
    board::{CommandError, WebRequest},
    election::Buckets,
    execute::Gone,
    object::K8sType,
    supervisor::sharing::{CHECKED_EVERY, unlabelled},
};

/// How long requests in flight may take when an operator goes: longer than one may last.
const DRAIN: Duration = Duration::from_secs(40);

/// How long actors and tasks may take to end. Only a handler that never returns takes longer.
const END: Duration = Duration::from_secs(5);

/// Where the requests come from.
pub(crate) struct Inboxes {
    pub(crate) registrations: UnboundedReceiver<Request>,
    pub(crate) web: Receiver<WebRequest>,
    /// The buckets to watch, if the process shares its parents out.
    pub(crate) buckets: Option<WantedBuckets>,
}

/// What is over.
enum Over {
    /// The parents of an operator are finalized, or did not finish in time.
    Finalized { name: String, is_done: bool, answer: RegistrationResponder },
    /// A new configuration has taken effect.
    Reconfigured { name: String, number: u64 },
    /// A later configuration replaced it, or the operator went before.
    Nothing,
    /// All types are listed in these buckets.
    Warming { buckets: Buckets, number: u64 },
    /// Some type has failed for a minute.
    Unlistable { number: u64 },
    /// Of these types some children lack the label of their bucket.
    Unlabelled(BTreeSet<K8sType>),
    /// The actors of an operator have ended.
    Operator { name: String, answer: RegistrationResponder },
    /// So have the watches that only it needed.
    Watches { types: Vec<K8sType>, lease: Option<String>, answer: Option<RegistrationResponder> },
}

type Waiting = FuturesUnordered<LocalBoxFuture<'static, Over>>;

/// Never returns.
pub(crate) async fn serve(members: &mut Members, inboxes: &mut Inboxes) {
    let mut waiting = Waiting::new();
    let mut checks = interval_at(Instant::now() + CHECKED_EVERY, CHECKED_EVERY);
    loop {
        tokio::select! {
            Some(request) = inboxes.registrations.recv() => perform(request, members, &waiting),
            Some(request) = inboxes.web.recv() => pass_on(request, members),
            buckets = next(&mut inboxes.buckets, members.watched_buckets()) => {
                await_listed(members.watch_buckets(buckets), &waiting);
            }
            _ = checks.tick() => look_for_unlabelled(members, &waiting),
            Some(over) = waiting.next() => conclude(over, members, &waiting),
        }
    }
}

async fn next(wanted: &mut Option<WantedBuckets>, watched: Buckets) -> Buckets {
    match wanted {
        Some(wanted) => wanted.instead_of(watched).await,
        None => pending().await,
    }
}

/// Looks whether all children have the label of their bucket, while some lack it.
fn look_for_unlabelled(members: &Members, waiting: &Waiting) {
    if let Some((cluster, watches)) = members.watches_of_unlabelled() {
        let looking = members.wiring.runtime.spawn(unlabelled(cluster, watches));
        waiting
            .push(looking.map(|found| found.map_or(Over::Nothing, Over::Unlabelled)).boxed_local());
    }
}

fn await_listed(warming: Option<Warming>, waiting: &Waiting) {
    let Some(Warming { buckets, number, awaited }) = warming else { return };
    let (listed, fails): (Vec<_>, FuturesUnordered<_>) =
        awaited.into_iter().map(|it| (it.listed, it.fails)).unzip();
    waiting.push(
        async move {
            // A reflector that ends is not waited for.
            let _ = futures::future::join_all(listed).await;
            Over::Warming { buckets, number }
        }
        .boxed_local(),
    );
    waiting.push(failing(fails, number).boxed_local());
}

/// Waits until a type fails for long, or all are listed.
async fn failing(mut fails: FuturesUnordered<oneshot::Receiver<()>>, number: u64) -> Over {
    while let Some(failed) = fails.next().await {
        // The sender of a type that was listed is dropped.
        if failed.is_ok() {
            return Over::Unlistable { number };
        }
    }
    Over::Nothing
}

fn perform(request: Request, members: &mut Members, waiting: &Waiting) {
    match request {
        Request::Register { operator, answer } => {
            let registered = members.check(&operator.config, &operator.handler).and_then(|()| {
                members.doubt_labels(std::slice::from_ref(&operator));
                tracing::info!(operator = operator.config.name, "an operator is registered");
                members.admit(vec![*operator], true).map_err(|error| Box::new(error).into())
            });
            // The caller may be gone.
            let _ = answer.send(registered);
        }
        Request::Deregister { name, on_removal: OnRemoval::Leave, answer } => {
            dismiss(&name, answer, members, waiting);
        }
        Request::Deregister { name, on_removal: OnRemoval::Finalize { within }, answer } => {
            match members.finalize(&name) {
                Ok(done) => waiting.push(finalized(name, done, within, answer).boxed_local()),
                Err(error) => drop(answer.send(Err(error))),
            }
        }
        Request::Reconfigure { config, answer } => {
            let accepted = members.reconfigure(*config);
            let accepted = accepted.map(|new| waiting.push(applied(new).boxed_local()));
            let _ = answer.send(accepted);
        }
    }
}

fn dismiss(name: &str, answer: RegistrationResponder, members: &mut Members, waiting: &Waiting) {
    match members.dismiss(name) {
        Ok(leaving) => waiting.push(leave(leaving, answer).boxed_local()),
        Err(error) => drop(answer.send(Err(error))),
    }
}

async fn finalized(
    name: String,
    done: oneshot::Receiver<()>,
    within: Duration,
    answer: RegistrationResponder,
) -> Over {
    tracing::info!(operator = name, "the operator goes: finalizing its parents");
    let is_done = matches!(timeout(within, done).await, Ok(Ok(())));
    Over::Finalized { name, is_done, answer }
}

async fn applied(Reconfiguring { name, number, is_applied }: Reconfiguring) -> Over {
    match is_applied.await {
        Ok(()) => Over::Reconfigured { name, number },
        Err(_) => Over::Nothing,
    }
}

/// Waits until the reconciles of an operator and its actors have ended.
async fn leave(leaving: Leaving, answer: RegistrationResponder) -> Over {
    let Leaving { name, context, operator, gone } = leaving;
    tracing::info!(operator = name, "the operator goes: waiting for its reconciles in flight");
    if timeout(DRAIN, context.drain()).await.is_err() {
        tracing::warn!(
            operator = name,
            "handlers or requests did not end in time: they are abandoned"
        );
    }
    operator.leave();
    drop((context, operator));
    if timeout(END, gone.wait()).await.is_err() {
        tracing::warn!(operator = name, "a handler of the operator still runs");
    }
    Over::Operator { name, answer }
}

fn conclude(over: Over, members: &mut Members, waiting: &Waiting) {
    match over {
        Over::Operator { name, answer } => {
            let remains = members.remove(&name);
            waiting.push(close(remains, Some(answer)).boxed_local());
        }
        Over::Finalized { name, is_done: true, answer } => {
            dismiss(&name, answer, members, waiting);
        }
        Over::Finalized { name, is_done: false, answer } => {
            let _ = answer.send(Err(members.not_finalized(&name)));
        }
        Over::Reconfigured { name, number } => {
            tracing::info!(operator = name, "the new configuration has taken effect");
            let types = members.settle(&name, number);
            waiting.push(close(Remains { types, elected: None }, None).boxed_local());
        }
        Over::Nothing => {}
        Over::Warming { buckets, number } => members.warmed(buckets, number),
        Over::Unlistable { number } => members.unlistable(number),
        Over::Unlabelled(types) => await_listed(members.watch_labels(types), waiting),
        Over::Watches { types, lease, answer } => {
            members.forget(&types);
            if let Some(lease) = lease {
                members.election_ended(&lease);
            }
            if let Some(answer) = answer {
                let _ = answer.send(Ok(()));
            }
        }
    }
}

async fn close(Remains { types, elected }: Remains, answer: Option<RegistrationResponder>) -> Over {
    let (types, gone): (Vec<_>, Vec<_>) = types.into_iter().unzip();
    let released = async {
        if let Some(elected) = &elected {
            elected.release().await;
        }
    };
    let gone = futures::future::join_all(gone.into_iter().map(Gone::wait));
    if timeout(END, futures::future::join(released, gone)).await.is_err() {
        tracing::warn!("watches of the operator did not end in time");
    }
    let lease = elected.map(|elected| elected.lease().to_owned());
    Over::Watches { types, lease, answer }
}

fn pass_on(request: WebRequest, members: &Members) {
    if let Some(operator) = members.web_requests(request.operator()) {
        operator.post(Asked { request });
    } else {
        let unknown = CommandError::NoOperator(request.operator().to_owned());
        request.refuse(unknown);
    }
}
