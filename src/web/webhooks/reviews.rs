//! Answers a review: reads it, calls the handler, and writes the answer.

use std::time::Duration;

use serde_json::Value;

use super::{
    calls::{Calls, Failed},
    seen::{Records, Seen},
};
use crate::{
    admission::{Registered, ReviewError, answer, conversion, converted, review},
    metrics::CallOutcome,
    operator::{
        admission::{Webhook, WebhookKind},
        conversion::Versions,
    },
};

/// What is served.
#[derive(Clone)]
pub(super) struct Served {
    pub(super) registered: Registered,
    pub(super) calls: Calls,
    pub(super) records: Records,
}

/// A review that was sent.
pub(super) struct Sent<'a> {
    pub(super) body: &'a [u8],
    /// How long the handler has.
    pub(super) within: Duration,
    /// The span of the API server.
    pub(super) trace: Option<&'a str>,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum NoAnswer {
    Review(ReviewError),
    /// A configuration sends it what it is not made for.
    OtherType(String),
    Failed(Failed),
}

type Answer = Result<(CallOutcome, Value), NoAnswer>;

pub(super) async fn admit(
    served: &Served,
    webhook: &Webhook,
    sent: Sent<'_>,
) -> Result<Value, NoAnswer> {
    let mut seen = served.records.admission(webhook, sent.trace);
    let answer = admission(&served.calls, webhook, sent, &mut seen).await;
    ended(seen, answer)
}

pub(super) async fn convert(
    served: &Served,
    versions: &Versions,
    sent: Sent<'_>,
) -> Result<Value, NoAnswer> {
    let seen = served.records.conversion(versions, sent.trace);
    let answer = conversions(&served.calls, versions, sent, &seen).await;
    ended(seen, answer)
}

fn ended(seen: Seen<'_>, answer: Answer) -> Result<Value, NoAnswer> {
    seen.ended(answer.as_ref().map_or_else(NoAnswer::outcome, |(outcome, _)| *outcome));
    answer.map(|(_, answer)| answer)
}

async fn admission(
    calls: &Calls,
    webhook: &Webhook,
    sent: Sent<'_>,
    seen: &mut Seen<'_>,
) -> Answer {
    let asked = review(sent.body).map_err(NoAnswer::Review)?;
    let subject = seen.is_about(&asked.request);
    let (plural, group) = &asked.resource;
    if plural != webhook.ty.plural() || group != webhook.ty.group() {
        return Err(NoAnswer::OtherType(format!("{plural}.{group}")));
    }
    let uid = asked.request.uid.clone();
    // A patch is made from it.
    let object = match webhook.kind {
        WebhookKind::Validating => None,
        WebhookKind::Mutating => asked.request.object.clone(),
    };
    let request = asked.request.with_stores(seen.stores());
    let answered = calls.admit(webhook, request, sent.within).await;
    let answered = answered.map_err(NoAnswer::Failed)?;
    if let Some(denial) = &answered.admission.denial {
        seen.denied(webhook, subject, denial);
    }
    let answer = answer(&uid, object.as_ref(), answered);
    Ok((outcome(&answer["response"]), answer))
}

fn outcome(response: &Value) -> CallOutcome {
    match (response["allowed"] == true, response.get("patch")) {
        (true, Some(_)) => CallOutcome::Changed,
        (true, None) => CallOutcome::Allowed,
        (false, _) => CallOutcome::Denied,
    }
}

async fn conversions(
    calls: &Calls,
    versions: &Versions,
    sent: Sent<'_>,
    seen: &Seen<'_>,
) -> Answer {
    let conversion = conversion(sent.body).map_err(NoAnswer::Review)?;
    let uid = conversion.uid.clone();
    seen.has_objects(&uid, conversion.objects.len());
    match calls.convert(versions, conversion, sent.within).await {
        Ok(objects) => Ok((CallOutcome::Converted, converted(&uid, Ok(objects)))),
        // The API server shows the reason to the client.
        Err(Failed::Error(why)) => Ok((CallOutcome::Failed, converted(&uid, Err(why)))),
        Err(failed) => Err(NoAnswer::Failed(failed)),
    }
}

impl NoAnswer {
    fn outcome(&self) -> CallOutcome {
        match self {
            Self::Review(_) | Self::OtherType(_) => CallOutcome::Unreadable,
            Self::Failed(Failed::Error(_) | Failed::Panicked(_)) => CallOutcome::Failed,
            Self::Failed(Failed::Busy | Failed::TimedOut(_)) => CallOutcome::Late,
        }
    }
}
