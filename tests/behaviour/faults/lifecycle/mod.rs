//! One disruption at each request in the lifecycle of a parent, and late watches: in the end the state is
//! as without disruptions, and no child was recreated.
//!
//! An undisturbed run finds the requests.

mod disruption;
mod run;
mod state;
mod steps;

use std::sync::Arc;

use futures::StreamExt;

use self::{
    disruption::{Disruption, Injection},
    run::{Lifecycle, Record},
    steps::Step,
};
use super::*;

/// Lives that are lived at the same time, where each has a server: most of one is waiting.
const AT_ONCE: usize = 8;

/// The record of an undisturbed run.
async fn undisturbed() -> Record {
    let mut lifecycle = Lifecycle::begin().await;
    let record = lifecycle.run(None).await;
    lifecycle.end().await;
    record
}

/// Runs the lifecycle once with each injection, and reports all that failed.
async fn run_all(expected: Record, injections: impl Iterator<Item = Injection>) {
    let expected = Arc::new(expected);
    let mut count = 0;
    let runs = injections.map(|injection| {
        count += 1;
        let (expected, what) = (Arc::clone(&expected), format!("{injection:?}"));
        let lifecycle = tokio::spawn(async move {
            let mut lifecycle = Lifecycle::begin().await;
            lifecycle.run(Some((&injection, &expected))).await;
            lifecycle.end().await;
        });
        async move { lifecycle.await.err().map(|_| what) }
    });
    let runs = futures::stream::iter(runs).buffer_unordered(AT_ONCE);
    let wrong: Vec<String> = runs.filter_map(std::future::ready).collect().await;
    println!("figure: {count} disrupted lives");
    assert!(wrong.is_empty(), "another result (why: see above) after {wrong:#?}");
}

/// Every request once, with the disruptions in turn.
#[operetta_harness::test]
async fn one_disruption_of_any_request_of_a_lifecycle_does_not_change_its_result() {
    let record = undisturbed().await;
    let disruptions = Disruption::ALL.into_iter().cycle();
    let requests = record.requests.clone().into_iter().zip(disruptions);
    run_all(record, requests.map(|(request, disruption)| Injection::At(request, disruption))).await;
}

#[operetta_harness::test]
#[ignore = "exhaustive: .ci/long mishaps"]
async fn every_disruption_of_any_request_of_a_lifecycle_does_not_change_its_result() {
    let record = undisturbed().await;
    let each =
        |request: run::Request| Disruption::ALL.map(|disruption| (request.clone(), disruption));
    let requests: Vec<_> = record.requests.clone().into_iter().flat_map(each).collect();
    let at = requests.into_iter().map(|(request, disruption)| Injection::At(request, disruption));
    run_all(record, at).await;
}

#[operetta_harness::test]
async fn a_late_watch_in_any_step_of_a_lifecycle_does_not_change_its_result() {
    let record = undisturbed().await;
    let watches: [&[&str]; 2] = [&["recipes"], &["configmaps", "secrets", "pods"]];
    let each = |step| watches.map(|watches| Injection::Lags(step, watches));
    run_all(record, Step::ALL.into_iter().flat_map(each)).await;
}
