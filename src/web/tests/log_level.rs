//! `/log-level`.

use std::sync::{
    Arc, Mutex, PoisonError,
    mpsc::{Receiver, channel},
};

use actix_web::http::{Method, StatusCode};

use super::{Answer, ask, get, is_status, request, world::World};
use crate::web::{LogLevel, WebState};

/// A filter with two valid levels.
struct Logs(Mutex<String>);

impl LogLevel for Logs {
    fn filter(&self) -> String {
        self.0.lock().unwrap().clone()
    }

    fn set_filter(&self, filter: &str) -> anyhow::Result<()> {
        anyhow::ensure!(["info", "debug"].contains(&filter), "`{filter}` is not a level");
        self.0.lock().unwrap_or_else(PoisonError::into_inner).replace_range(.., filter);
        Ok(())
    }
}

fn state() -> WebState {
    let mut state = World::running().state;
    state.program.log_level = Some(Arc::new(Logs(Mutex::new("info".to_owned()))));
    state
}

async fn put(state: &WebState, filter: &str) -> Answer {
    ask(state, request(Method::PUT, "/log-level").set_payload(filter.to_owned())).await
}

#[actix_web::test]
async fn the_filter_is_shown_and_changed() {
    let state = state();
    assert_eq!(get(&state, "/log-level").await.json()["filter"], "info");
    assert_eq!(put(&state, "debug\n").await.json()["filter"], "debug");
    assert_eq!(get(&state, "/log-level").await.json()["filter"], "debug");
}

#[actix_web::test]
async fn an_invalid_filter_is_refused_with_a_message_and_changes_nothing() {
    let state = state();
    let message = is_status(&put(&state, "loud").await, StatusCode::BAD_REQUEST, "BadRequest");
    assert_eq!(message, "`loud` is not a level");
    is_status(&put(&state, "").await, StatusCode::BAD_REQUEST, "BadRequest");
    let large = put(&state, &"x".repeat(4097)).await;
    is_status(&large, StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge");
    let binary = request(Method::PUT, "/log-level").set_payload(vec![0xff]);
    is_status(&ask(&state, binary).await, StatusCode::BAD_REQUEST, "BadRequest");
    assert_eq!(get(&state, "/log-level").await.json()["filter"], "info");
}

/// A program that parses a filter until the test lets it end.
struct Slow(Mutex<Receiver<()>>);

impl LogLevel for Slow {
    fn filter(&self) -> String {
        "info".to_owned()
    }

    fn set_filter(&self, _: &str) -> anyhow::Result<()> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).recv()?)
    }
}

#[actix_web::test]
async fn probes_are_answered_while_a_program_parses_a_filter() {
    let (end, ends) = channel();
    let mut state = World::running().state;
    state.program.log_level = Some(Arc::new(Slow(Mutex::new(ends))));
    let probing = async {
        let code = get(&state, "/livez").await.code;
        end.send(()).unwrap();
        code
    };
    let (changed, probe) = tokio::join!(put(&state, "debug"), probing);
    assert_eq!((changed.code, probe), (200, 200));
}

#[actix_web::test]
async fn without_log_level_the_path_is_not_found() {
    let state = World::running().state;
    for answer in [get(&state, "/log-level").await, put(&state, "debug").await] {
        let message = is_status(&answer, StatusCode::NOT_FOUND, "NotFound");
        assert!(message.contains("log_level"), "{message}");
    }
}
