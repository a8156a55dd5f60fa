//! Every answer that refuses, to every kind of write.

use super::*;
use crate::recipe::{config_map, recipe};

const CONFLICT: usize = 3;

/// What is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Write {
    Create,
    Update,
    Delete,
    Status,
}

/// What the operator does about it while nothing else changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reaction {
    /// It tries again and again.
    Retries,
    /// It tries again, but not before this time.
    Waits(Duration),
    /// It does not try again soon: a repetition cannot help.
    Rests,
    /// It looks again in a while, or when something changes; nothing failed.
    LooksAgain,
}

struct Case {
    fault: Fault,
    /// What is said.
    says: &'static str,
    reaction: Reaction,
}

/// A status that is not found is one that the CRD does not declare, which is told elsewhere.
fn cases(write: Write) -> Vec<Case> {
    let case = |fault, says, reaction| Case { fault, says, reaction };
    let second = Duration::from_secs(1);
    let mut cases = vec![
        case(Fault::refuse(401), "401 Unauthorized", Reaction::Retries),
        case(Fault::refuse(403), "403 Forbidden", Reaction::Retries),
        case(Fault::refuse(404), "404 NotFound", Reaction::Retries),
        // `CONFLICT` is its place.
        case(Fault::refuse(409), "409 Conflict", Reaction::Retries),
        case(Fault::refuse(410), "410 Expired", Reaction::Retries),
        case(Fault::refuse(413), "413 RequestEntityTooLarge", Reaction::Rests),
        case(Fault::refuse(422), "422 Invalid", Reaction::Rests),
        case(Fault::busy(1), "429 TooManyRequests", Reaction::Waits(second)),
        case(Fault::refuse(500), "500 InternalError", Reaction::Retries),
        case(Fault::refuse(502), "502 Bad Gateway", Reaction::Retries),
        case(Fault::refuse(503), "503 ServiceUnavailable", Reaction::Retries),
        case(Fault::Refuse(Refusal::new(503).retry_after(1)), "503", Reaction::Waits(second)),
        case(Fault::refuse(504), "504 Timeout", Reaction::Retries),
    ];
    if write == Write::Delete {
        let says = "it keeps changing while it is to be deleted";
        cases[CONFLICT] = case(Fault::refuse(409), says, Reaction::LooksAgain);
    }
    cases.retain(|case| write != Write::Status || !case.says.starts_with("404"));
    cases
}

fn salted(name: &str, salt: &str) -> Value {
    recipe(name, &[config_map(name, json!({"salt": salt}))])
}

/// One write of one parent is refused; the others go on meanwhile.
async fn refuse(faults: &Faults, write: Write, case: &Case, name: &str) {
    let world = &faults.world;
    if write != Write::Create {
        world.apply(RECIPE, salted(name, "little")).await;
        faults.until_well(name).await;
    }
    let before = world.get(CONFIG_MAP, name).await;
    let rule = Rule::new(case.fault.clone()).name(name);
    let rule = faults.add(match write {
        Write::Create | Write::Update => rule.verb("patch").resource("configmaps"),
        Write::Delete => rule.verb("delete").resource("configmaps"),
        Write::Status => rule.verb("patch").resource("recipes/status"),
    });
    let mut parent = match write {
        Write::Create | Write::Update => salted(name, "much"),
        Write::Delete => recipe(name, &[]),
        Write::Status => salted(name, "little"),
    };
    if write == Write::Status {
        parent["spec"]["status"] = json!({"taste": "fine"});
    }
    world.apply(RECIPE, parent).await;
    until_it_is_said(faults, write, case, name).await;
    react(faults, case, &rule, name).await;
    rule.end();
    if matches!(case.reaction, Reaction::Rests | Reaction::LooksAgain) {
        faults.touch(name).await;
    }
    let parent = faults.until_well(name).await;
    let child = world.get(CONFIG_MAP, name).await;
    let writes = if matches!(write, Write::Update | Write::Delete) { 2 } else { 1 };
    assert_eq!(faults.writes("configmaps", name), writes, "{name}: nothing is written twice");
    match write {
        Write::Create => assert_eq!(child["data"]["salt"], "much"),
        Write::Update => {
            assert_eq!(child["data"]["salt"], "much");
            assert_eq!(child["metadata"]["uid"], before["metadata"]["uid"], "{name}");
        }
        Write::Delete => assert!(child.is_null(), "{name}"),
        Write::Status => {
            assert_eq!(parent["status"]["taste"], "fine", "{name}");
            assert_eq!(child, before, "{name}");
        }
    }
}

async fn until_it_is_said(faults: &Faults, write: Write, case: &Case, name: &str) {
    faults.until_shown(name, case.says).await;
    // A status that cannot be written cannot say so; the Event can.
    if write != Write::Status {
        faults.until_said(name, case.says).await;
    }
    if case.reaction != Reaction::LooksAgain {
        faults.until_warned(name, case.says).await;
    }
}

async fn react(faults: &Faults, case: &Case, rule: &Armed, name: &str) {
    match case.reaction {
        Reaction::Retries => until_hits(rule, 4).await,
        // So often within one run.
        Reaction::LooksAgain => until_hits(rule, 3).await,
        Reaction::Waits(time) => {
            until_hits(rule, 2).await;
            let struck = faults.plan.injected().into_iter();
            let mut times = struck
                .filter(|decision| decision.target.name.as_deref() == Some(name))
                .map(|decision| decision.at);
            let (first, second) = (times.next().unwrap(), times.next().unwrap());
            assert!(second - first >= time, "{name}: {:?}", second - first);
        }
        // A status is tried once more, without what the handler wants it to be.
        Reaction::Rests => assert!(rule.hits() <= 2, "{name}: {rule:?}"),
    }
}

async fn every_answer_to(write: Write) {
    let Some(faults) = Faults::start().await else { return };
    let cases: Vec<(String, Case)> = cases(write)
        .into_iter()
        .enumerate()
        .map(|(number, case)| (format!("{write:?}-{number}").to_lowercase(), case))
        .collect();
    let each = cases.iter().map(|(name, case)| refuse(&faults, write, case, name));
    futures::future::join_all(each).await;
    faults.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_to_the_creation_of_a_child_is_said_and_survived() {
    every_answer_to(Write::Create).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_to_the_update_of_a_child_is_said_and_survived() {
    every_answer_to(Write::Update).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_to_the_deletion_of_a_child_is_said_and_survived() {
    every_answer_to(Write::Delete).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_to_the_status_of_a_parent_is_said_and_survived() {
    every_answer_to(Write::Status).await;
}
