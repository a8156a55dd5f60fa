//! Announces when the process is ready, and logs the states of its operators.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
};

use tokio::sync::{mpsc::UnboundedReceiver, watch};

use super::Ready;
use crate::{
    actors::OperatorStateChanged,
    board::OperatorState,
    object::OneLine,
    operator::{OperatorName, panic_text},
};

pub(super) type OnReady = Box<dyn FnOnce(&Ready) + Send>;

/// Announces when the process is ready.
pub(super) struct Readiness {
    /// The operators of the start.
    pub(super) expected: BTreeSet<String>,
    pub(super) web: Option<SocketAddr>,
    pub(super) ready: watch::Sender<bool>,
    pub(super) on_ready: Option<OnReady>,
}

impl Readiness {
    /// Calls back once every operator runs or is degraded, and `beside` has ended; never returns.
    pub(super) async fn announce(
        mut self,
        mut changes: UnboundedReceiver<OperatorStateChanged>,
        beside: impl Future<Output = ()>,
    ) {
        let (mut states, mut beside, mut is_complete) = (BTreeMap::new(), pin!(beside), false);
        loop {
            tokio::select! {
                change = changes.recv() => match change {
                    Some(change) => self.note(change, &mut states),
                    None => break,
                },
                () = &mut beside, if !is_complete => is_complete = true,
            }
            if is_complete {
                self.notify_if_settled(&states);
            }
        }
        std::future::pending::<()>().await;
    }

    fn note(
        &mut self,
        OperatorStateChanged { operator, state }: OperatorStateChanged,
        states: &mut BTreeMap<OperatorName, OperatorState>,
    ) {
        if let Some(state) = state {
            let before = states.insert(operator.clone(), state.clone());
            if before.as_ref() != Some(&state) {
                log(&operator, &state);
            }
        } else {
            tracing::info!(%operator, "the operator is gone");
            states.remove(&operator);
            self.expected.remove(operator.as_str());
        }
    }

    fn notify_if_settled(&mut self, states: &BTreeMap<OperatorName, OperatorState>) {
        let settled = states.iter().filter(|(_, state)| state.is_settled());
        let settled = settled.filter(|(operator, _)| self.expected.contains(operator.as_str()));
        if settled.count() == self.expected.len() {
            self.notify(states);
        }
    }

    fn notify(&mut self, states: &BTreeMap<OperatorName, OperatorState>) {
        // Nobody may be waiting.
        let _ = self.ready.send(true);
        let Some(call) = self.on_ready.take() else { return };
        let degraded = states.iter().flat_map(|(operator, state)| {
            state.reasons().iter().map(move |reason| format!("{operator}: {reason}"))
        });
        let ready = Ready { web: self.web, degraded: degraded.collect() };
        // A panic would end the process without the drain.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| call(&ready))) {
            tracing::error!(
                panic = panic_text(panic),
                "`on_ready` panicked; the operators continue"
            );
        }
    }
}

/// Logs the state of an operator. The errors of single attempts are logged elsewhere.
fn log(operator: &OperatorName, state: &OperatorState) {
    match state {
        OperatorState::Starting { .. } => {}
        OperatorState::Running => tracing::info!(%operator, "the operator runs"),
        OperatorState::Degraded { reasons } => {
            let reasons = OneLine(reasons.join("; "));
            tracing::warn!(%operator, "the operator is degraded: {reasons}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        sync::{Arc, Mutex, PoisonError},
    };

    use futures::FutureExt;
    use tokio::sync::mpsc;

    use super::*;

    #[test]
    fn readiness_is_announced_although_the_callback_panics() {
        let (ready, is_ready) = watch::channel(false);
        let on_ready: OnReady = Box::new(|_: &Ready| panic!("no such file"));
        let expected = BTreeSet::new();
        let mut readiness = Readiness { expected, web: None, ready, on_ready: Some(on_ready) };
        for _ in 0..2 {
            readiness.notify(&BTreeMap::new());
            assert!(*is_ready.borrow());
        }
    }

    #[test]
    fn a_process_is_ready_when_every_operator_runs_or_is_degraded() {
        let announced = Arc::new(Mutex::new(Vec::new()));
        let record = announced.clone();
        let on_ready: OnReady = Box::new(move |ready: &Ready| {
            record.lock().unwrap_or_else(PoisonError::into_inner).push(ready.degraded.clone());
        });
        let (ready, is_ready) = watch::channel(false);
        let (states, changes) = mpsc::unbounded_channel();
        let expected = BTreeSet::from(["a".to_owned(), "b".to_owned()]);
        let readiness = Readiness { expected, web: None, ready, on_ready: Some(on_ready) };
        let mut announcing = pin!(readiness.announce(changes, std::future::ready(())));
        let mut after = |operator: &str, state: OperatorState| {
            let operator = OperatorName::new(operator).unwrap();
            states.send(OperatorStateChanged { operator, state: Some(state) }).unwrap();
            assert!(announcing.as_mut().now_or_never().is_none(), "it never ends");
            *is_ready.borrow()
        };
        let starting = || OperatorState::Starting { waiting_for: vec!["pods".to_owned()] };
        let degraded = OperatorState::Degraded { reasons: vec!["no pods".to_owned()] };
        assert!(!after("a", OperatorState::Running) && !after("b", starting()));
        assert!(after("b", degraded));
        assert_eq!(*announced.lock().unwrap(), [["b: no pods"]]);
    }
}
