//! The label of the leader on the Pod of this process. It follows the role, and the election never waits for it.

use std::time::Duration;

use actix::{AsyncContext, Context};
use tokio::{task::JoinHandle, time::timeout};

use super::Elector;
use crate::{
    actors::mailbox::{Receive, post},
    cluster::election_now,
    election::{LEADER_LABEL, PodRole},
    object::{ObjectKey, OneLine},
    reply::{ApiError, ErrorClass},
};

/// How long the end of this process waits for each request.
const LAST: Duration = Duration::from_secs(1);

/// The answer to a request for the label.
pub(super) struct Labelled {
    result: Result<(), ApiError>,
}

impl Elector {
    /// Sends a request where the label does not show the role of this process.
    pub(super) fn follow_role(&mut self, ctx: &Context<Self>) {
        let Some(pod) = self.parts.pod.clone() else { return };
        let role = if self.leads { PodRole::Leader } else { PodRole::Standby };
        let Some(role) = self.label.due(role, election_now().boot) else { return };
        let (cluster, patience) = (self.parts.cluster.clone(), self.patience());
        let (address, mailbox) = (ctx.address(), self.parts.mailbox.clone());
        let earlier = self.labelling.take();
        self.labelling = Some(self.parts.runtime.spawn(async move {
            // After a panic of the actor there may be one.
            ended(earlier).await;
            let result = cluster.label_pod(&pod, role, patience).await;
            post(&address, &mailbox, Labelled { result });
        }));
    }

    /// Removes the label when this process stops.
    pub(super) fn remove_label(&mut self) -> impl Future<Output = ()> + use<> {
        let pod = self.parts.pod.clone().filter(|_| self.label.may_be_set());
        let (cluster, earlier) = (self.parts.cluster.clone(), self.labelling.take());
        let is_failing = self.label.is_failing();
        async move {
            let Some(pod) = pod else { return };
            // Else it could set the label after the removal.
            let _ = timeout(LAST, ended(earlier)).await;
            match cluster.label_pod(&pod, PodRole::Standby, LAST).await {
                Err(error) if !is_failing => warn(&pod, &error),
                Err(_) | Ok(()) => {}
            }
        }
    }
}

impl Receive<Labelled> for Elector {
    /// The request is over, also if the actor panicked meanwhile.
    const ALWAYS: bool = true;

    fn receive(&mut self, Labelled { result }: Labelled, ctx: &mut Context<Self>) {
        let Some(pod) = &self.parts.pod else { return };
        let was_failing = self.label.is_failing();
        match result {
            Ok(()) => {
                self.label.succeeded();
                if was_failing {
                    tracing::info!(%pod, "the Pod has the right label again");
                }
            }
            Err(error) => {
                self.label.failed(election_now().boot.plus(self.parts.timing.retry));
                if !was_failing {
                    warn(pod, &error);
                }
            }
        }
        self.follow_role(ctx);
    }
}

async fn ended(request: Option<JoinHandle<()>>) {
    if let Some(request) = request {
        // A request that panicked is over, too.
        let _ = request.await;
    }
}

fn warn(pod: &ObjectKey, error: &ApiError) {
    let (advice, error) = (advice(error.class()), OneLine(error));
    tracing::warn!(%pod, %error, "the label {LEADER_LABEL} of the Pod cannot be changed: {advice}");
}

fn advice(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::Missing => {
            "the Pod does not exist: give the name of the Pod of this process, in the namespace of the Lease"
        }
        ErrorClass::Forbidden => "grant `patch` of `pods` in its namespace",
        ErrorClass::Retry
        | ErrorClass::Conflict
        | ErrorClass::NotServed
        | ErrorClass::Wait(_)
        | ErrorClass::Permanent => "a Service may select another Pod than that of the leader",
    }
}
