//! Every refusal of every kind of request about one object.

use super::*;
use crate::{
    cleaner::Cleaner,
    recipe::{self, config_map, recipe},
};

const CONFLICT: usize = 3;

/// The request that is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Create,
    Delete,
    Status,
    /// Adding the finalizer to a parent, and removing it.
    Finalizer,
}

impl Asked {
    /// The type of the object.
    fn about(self) -> &'static str {
        match self {
            Self::Create | Self::Delete => "configmaps",
            Self::Status | Self::Finalizer => "recipes.test.operetta.dev",
        }
    }
}

/// The reaction of the operator while nothing else changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reaction {
    /// It retries with a backoff.
    Retries,
    /// It retries, but not before this time.
    Waits(Duration),
    /// It does not retry soon, because the refusal is permanent.
    Rests,
    /// It checks again later, or when something changes; nothing failed.
    Rechecks,
}

struct Case {
    code: u16,
    fault: Fault,
    /// The reported message.
    message: &'static str,
    reaction: Reaction,
}

impl Case {
    async fn until_counted(&self, faults: &Faults, ty: &str) {
        let code = self.code.to_string();
        let labels = [("code", &*code), ("type", ty)];
        faults.until_counted("operetta_api_requests_total", &labels).await;
    }
}

/// Each refusal with the reported message and the reaction.
fn refusals() -> Vec<Case> {
    let case = |code, fault, message, reaction| Case { code, fault, message, reaction };
    let refused = |code, message, reaction| case(code, Fault::refuse(code), message, reaction);
    let second = Duration::from_secs(1);
    vec![
        refused(401, "401 Unauthorized", Reaction::Retries),
        refused(403, "403 Forbidden", Reaction::Retries),
        refused(404, "404 NotFound", Reaction::Retries),
        // `CONFLICT` is its index.
        refused(409, "409 Conflict", Reaction::Retries),
        refused(410, "410 Expired", Reaction::Retries),
        refused(413, "413 RequestEntityTooLarge", Reaction::Rests),
        refused(422, "422 Invalid", Reaction::Rests),
        case(429, Fault::busy(1), "429 TooManyRequests", Reaction::Waits(second)),
        refused(500, "500 InternalError", Reaction::Retries),
        refused(502, "502 Bad Gateway", Reaction::Retries),
        refused(503, "503 ServiceUnavailable", Reaction::Retries),
        case(503, Fault::Refuse(Refusal::new(503).retry_after(1)), "503", Reaction::Waits(second)),
        refused(504, "504 Timeout", Reaction::Retries),
    ]
}

fn refusal(code: u16) -> Case {
    refusals().into_iter().find(|case| case.code == code).unwrap()
}

/// Without 404 where it is not a failure: the CRD has no status subresource.
fn cases(asked: Asked) -> Vec<Case> {
    let mut cases = refusals();
    if asked == Asked::Delete {
        let message = "it keeps changing, so it was not deleted";
        cases[CONFLICT] = Case { message, reaction: Reaction::Rechecks, ..refusal(409) };
    }
    let is_found = |case: &Case| !case.message.starts_with("404");
    cases.retain(|case| asked != Asked::Status || is_found(case));
    cases
}

fn salted(name: &str, salt: &str) -> Value {
    recipe(name, &[config_map(name, json!({"salt": salt}))])
}

/// Refuses one write of one parent. Returns how many reconciles in the history failed.
async fn refuse(faults: &Faults, asked: Asked, case: &Case, name: &str) -> usize {
    let world = &faults.world;
    if !matches!(asked, Asked::Create | Asked::Finalizer) {
        world.apply(RECIPE, salted(name, "little")).await;
        faults.until_settled(name).await;
    }
    let before = world.get(CONFIG_MAP, name).await;
    let rule = Rule::new(case.fault.clone()).name(name);
    let rule = faults.add(match asked {
        Asked::Create => rule.verb("patch").resource("configmaps"),
        Asked::Delete => rule.verb("delete").resource("configmaps"),
        Asked::Status => rule.verb("patch").resource("recipes/status"),
        Asked::Finalizer => rule.verb("patch").resource("recipes"),
    });
    let mut parent = match asked {
        Asked::Create | Asked::Finalizer => salted(name, "much"),
        Asked::Delete => recipe(name, &[]),
        Asked::Status => salted(name, "little"),
    };
    if asked == Asked::Status {
        parent["spec"]["status"] = json!({"taste": "fine"});
    }
    world.apply(RECIPE, parent).await;
    until_refusal_is_reported(faults, asked, case, name).await;
    react(faults, case, &rule, name).await;
    rule.end();
    if matches!(case.reaction, Reaction::Rests | Reaction::Rechecks) {
        faults.touch(name).await;
    }
    let parent = faults.until_settled(name).await;
    let failures = faults.failures(name).len();
    assert_eq!(failures > 0, case.reaction != Reaction::Rechecks, "{name}");
    let child = world.get(CONFIG_MAP, name).await;
    let writes = if asked == Asked::Delete { 2 } else { 1 };
    assert_eq!(faults.writes("configmaps", name), writes, "{name}: nothing is written twice");
    match asked {
        Asked::Create => assert_eq!(child["data"]["salt"], "much"),
        Asked::Finalizer => {
            assert_eq!(parent["metadata"]["finalizers"], json!(["operetta.dev/cook"]), "{name}");
            release(faults, case, name).await;
        }
        Asked::Delete => assert!(child.is_null(), "{name}"),
        Asked::Status => {
            assert_eq!(parent["status"]["taste"], "fine", "{name}");
            assert_eq!(child, before, "{name}");
        }
    }
    failures
}

/// Deletes the parent and refuses the removal of its finalizer.
async fn release(faults: &Faults, case: &Case, name: &str) {
    let rule = Rule::new(case.fault.clone()).name(name).verb("patch").resource("recipes");
    let rule = faults.add(rule);
    faults.world.delete(RECIPE, name).await;
    faults.until_not_ready(name, case.message).await;
    rule.end();
    if case.reaction == Reaction::Rests {
        let note = json!({"metadata": {"annotations": {"look": "once more"}}});
        faults.world.patch(RECIPE, name, note).await;
    }
    faults.world.until(RECIPE, name, "the parent gone", Value::is_null).await;
}

async fn until_refusal_is_reported(faults: &Faults, asked: Asked, case: &Case, name: &str) {
    faults.until_shown(name, case.message).await;
    // A refused status cannot report its refusal; the Event can.
    if asked != Asked::Status {
        faults.until_not_ready(name, case.message).await;
    }
    case.until_counted(faults, asked.about()).await;
    if case.reaction != Reaction::Rechecks {
        faults.until_warned(name, case.message).await;
    }
}

async fn react(faults: &Faults, case: &Case, rule: &Armed, name: &str) {
    match case.reaction {
        Reaction::Retries => until_hits(rule, 4).await,
        // So often within one reconcile.
        Reaction::Rechecks => until_hits(rule, 3).await,
        Reaction::Waits(time) => {
            until_hits(rule, 2).await;
            let times: Vec<_> = rule.strikes().iter().map(|strike| strike.at).collect();
            assert!(times[1] - times[0] >= time, "{name}: {times:?}");
        }
        // A status is retried once without the part of the handler. One more reconcile follows if the watch shows
        // the status before its reply arrives (docs/api-server.md).
        Reaction::Rests => {
            let parent = (faults.world.namespace.as_str(), name);
            faults.operators.until_at_rest("cook", parent, |_| true).await;
            assert!(rule.hits() <= 3, "{name}: {rule:?}");
        }
    }
}

async fn every_refusal_of(asked: Asked) {
    let cleaner = Cleaner::default();
    let register = |builder: SupervisorBuilder| match asked {
        Asked::Finalizer => builder.register(recipe::config("cook"), cleaner.clone()),
        // Each try whose result is not known counts for the limit, and a busy machine has time for many.
        _ => builder.register(recipe::config("cook").without_deletion_limit(), recipe::handler()),
    };
    let faults = Faults::start_as(FaultPlan::new(), register).await;
    let cases: Vec<(String, Case)> = cases(asked)
        .into_iter()
        .enumerate()
        .map(|(number, case)| (format!("{asked:?}-{number}").to_lowercase(), case))
        .collect();
    let each = cases.iter().map(|(name, case)| refuse(&faults, asked, case, name));
    let failures: usize = futures::future::join_all(each).await.into_iter().sum();
    let counted = faults.failed_reconciles().await;
    assert!(counted >= failures, "{counted} failed reconciles are counted, of {failures}");
    faults.end().await;
}

#[operetta_harness::test]
async fn every_refusal_of_the_creation_of_a_child_is_reported_and_retried() {
    every_refusal_of(Asked::Create).await;
}

#[operetta_harness::test]
async fn every_refusal_of_the_deletion_of_a_child_is_reported_and_retried() {
    every_refusal_of(Asked::Delete).await;
}

#[operetta_harness::test]
async fn every_answer_to_the_status_of_a_parent_is_said_and_survived() {
    every_refusal_of(Asked::Status).await;
}

#[operetta_harness::test]
async fn every_refusal_of_the_finalizer_of_a_parent_is_reported_and_retried() {
    every_refusal_of(Asked::Finalizer).await;
}
