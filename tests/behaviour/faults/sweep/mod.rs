//! One mishap at each request of a parent's life, and watches that lag behind it: in the end all is
//! as in a life without mishaps, and no child was replaced on the way.
//!
//! What there is to strike is found by living once without any.

mod life;
mod state;
mod steps;
mod trouble;

use std::sync::Arc;

use futures::StreamExt;

use self::{
    life::{Life, Record},
    steps::Step,
    trouble::{Mishap, Trouble},
};
use super::*;

/// Lives that are lived at the same time, where each has a server: most of one is waiting.
const AT_ONCE: usize = 8;

/// What a life without mishaps is like.
async fn without_trouble() -> Record {
    let mut life = Life::begin().await;
    let record = life.live(None).await;
    life.end().await;
    record
}

/// Lives once with each trouble, and tells of all that went wrong.
async fn live_all(expected: Record, troubles: impl Iterator<Item = Trouble>) {
    let expected = Arc::new(expected);
    let lives = troubles.map(|trouble| {
        let (expected, what) = (Arc::clone(&expected), format!("{trouble:?}"));
        let life = tokio::spawn(async move {
            let mut life = Life::begin().await;
            life.live(Some((&trouble, &expected))).await;
            life.end().await;
        });
        async move { life.await.err().map(|_| what) }
    });
    let lives = futures::stream::iter(lives).buffer_unordered(AT_ONCE);
    let wrong: Vec<String> = lives.filter_map(std::future::ready).collect().await;
    assert!(wrong.is_empty(), "another end (why: see above) after {wrong:#?}");
}

/// Every request once, each with the mishap that is next: all of them come several times.
#[operetta_harness::test]
async fn one_mishap_at_any_request_of_a_life_changes_nothing_in_the_end() {
    let record = without_trouble().await;
    let mishaps = Mishap::ALL.into_iter().cycle();
    let requests = record.requests.clone().into_iter().zip(mishaps);
    live_all(record, requests.map(|(request, mishap)| Trouble::At(request, mishap))).await;
}

#[operetta_harness::test]
#[ignore = "too long for every run; CI asks for it"]
async fn no_mishap_at_any_request_of_a_life_changes_anything_in_the_end() {
    let record = without_trouble().await;
    let each = |request: life::Request| Mishap::ALL.map(|mishap| (request.clone(), mishap));
    let requests: Vec<_> = record.requests.clone().into_iter().flat_map(each).collect();
    let at = requests.into_iter().map(|(request, mishap)| Trouble::At(request, mishap));
    live_all(record, at).await;
}

#[operetta_harness::test]
async fn a_watch_that_lags_behind_a_step_of_a_life_changes_nothing_in_the_end() {
    let record = without_trouble().await;
    let watches: [&[&str]; 2] = [&["recipes"], &["configmaps", "secrets", "pods"]];
    let each = |step| watches.map(|watches| Trouble::Lags(step, watches));
    live_all(record, Step::ALL.into_iter().flat_map(each)).await;
}
