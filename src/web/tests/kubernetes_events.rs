//! `?events`: the queried objects, and the answer as JSON and as a page.

use std::time::{Duration, SystemTime};

use actix_web::http::{Method, header};
use serde_json::{Value, json};

use super::{Answer, ask, get, openapi::check_answer, request, world::World};
use crate::{
    board::{CommandError, EventReading, EventRequest, WebRequest},
    object::{ObjectEvent, ObjectKey},
};

const API: &str = "/api/v1/operators/echo-server/parents/ns/a";
const PAGE: &str = "/ui/operators/echo-server/parents/ns/a";

fn event(name: &str, second: u64, message: &str) -> ObjectEvent {
    let last = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(second));
    ObjectEvent {
        kind: "Pod".to_owned(),
        key: ObjectKey::namespaced("ns", name),
        is_warning: true,
        reason: "FailedScheduling".to_owned(),
        message: message.to_owned(),
        source: "default-scheduler".to_owned(),
        count: 12,
        first: None,
        last,
    }
}

/// The answer for this reading of the engine.
async fn asked(world: &World, path: &str, reading: EventReading) -> (Answer, EventRequest) {
    let mut requests = world.state.board.take_commands();
    let reading_for = async {
        let Some(WebRequest::Events(mut asked)) = requests.recv().await else { panic!() };
        let answer = std::mem::replace(&mut asked.answer, crate::board::Responder::nobody());
        answer.give(Ok(reading));
        asked
    };
    let as_browser = request(Method::GET, path).insert_header((header::ACCEPT, "text/html"));
    tokio::join!(ask(&world.state, as_browser), reading_for)
}

fn two() -> EventReading {
    let events = vec![event("pod", 20, "0/3 nodes are available"), event("pod", 10, "older")];
    EventReading { events, ..EventReading::default() }
}

#[actix_web::test]
async fn events_about_the_parent_and_its_children_are_read() {
    let world = World::running().with_parent();
    let (answer, request) = asked(&world, &format!("{API}?events=1"), two()).await;
    let about: Vec<_> =
        request.about.iter().map(|it| (it.key.to_string(), it.uid.to_string())).collect();
    let [parent, pod, secret] =
        [("ns/a", "p"), ("ns/pod", "pod"), ("ns/secret", "secret")].map(|(key, uid)| {
            let (key, uid) = (key.to_owned(), uid.to_owned());
            (key, uid)
        });
    assert_eq!((about[0].clone(), request.operator.as_str()), (parent, "echo-server"));
    assert!(about.contains(&pod) && about.contains(&secret) && about.len() == 3, "{about:?}");
    let shown = answer.json();
    let first = json!({
        "lastSeen": "1970-01-01T00:00:20.000Z", "type": "Warning", "reason": "FailedScheduling",
        "object": {"kind": "Pod", "namespace": "ns", "name": "pod"},
        "message": "0/3 nodes are available", "count": 12, "source": "default-scheduler",
    });
    assert_eq!(shown["events"]["items"][0], first);
    assert_eq!([&shown["events"]["omitted"], &shown["events"]["objectsOmitted"]], [0, 0]);
    check_answer("/api/v1/operators/{operator}/parents/{namespace}/{name}", &shown);
}

#[actix_web::test]
async fn events_are_read_only_on_request() {
    let world = World::running().with_parent();
    // Nobody receives requests, so a query would show an error.
    assert_eq!(get(&world.state, API).await.json().get("events"), None);
}

#[actix_web::test]
async fn errors_and_omissions_are_shown_with_the_events() {
    let world = World::running().with_parent();
    let forbidden = "missing permission: list on events in `ns`; 403 Forbidden".to_owned();
    let partly = || EventReading {
        omitted: 7,
        objects_omitted: 2,
        errors: vec![forbidden.clone()],
        ..two()
    };
    let (answer, _) = asked(&world, &format!("{API}?events"), partly()).await;
    let events = answer.json()["events"].clone();
    assert_eq!((answer.code, &events["errors"]), (200, &json!([forbidden])));
    assert_eq!([&events["omitted"], &events["objectsOmitted"]], [7, 2]);
    let (page, _) = asked(&world, &format!("{PAGE}?events"), partly()).await;
    for text in [
        "Some Events cannot be read: missing permission: list on events in `ns`",
        "At least 7 older Events are not shown.",
        "The Events about 2 further objects were not read.",
        "0/3 nodes are available",
    ] {
        assert!(page.body.contains(text), "no `{text}` in {}", page.body);
    }
    world.state.board.begin_stopping();
    let events = get(&world.state, &format!("{API}?events")).await.json()["events"].clone();
    let closed = CommandError::Closed.to_string();
    assert_eq!((&events["items"], &events["errors"]), (&json!([]), &json!([closed])));
}

#[actix_web::test]
async fn the_page_shows_events_behind_a_link_and_refreshes_slowly() {
    let world = World::running().with_parent();
    let html = |answer: Answer| answer.body;
    let bare = request(Method::GET, PAGE).insert_header((header::ACCEPT, "text/html"));
    let bare = html(ask(&world.state, bare).await);
    assert!(bare.contains(&format!("href=\"{PAGE}?events\"")), "{bare}");
    assert!(!bare.contains("data-gap"), "{bare}");
    let (answer, _) = asked(&world, &format!("{PAGE}?events"), two()).await;
    let shown = html(answer);
    for part in [
        "data-gap=\"5000\"",
        "data-refresh=\"15\"",
        "data-events=\"/api/v1/events?operator=echo-server",
        "aria-label=\"Events\"",
        "datetime=\"1970-01-01T00:00:20.000Z\"",
        "Pod pod",
        "default-scheduler",
        ">12</td>",
    ] {
        assert!(shown.contains(part), "no `{part}` in {shown}");
    }
    assert!(shown.contains(&format!("href=\"{PAGE}?diff&#38;events\"")), "{shown}");
    assert!(shown.contains(&format!("href=\"{PAGE}\"")), "{shown}");
}

#[actix_web::test]
async fn the_text_of_an_event_is_escaped() {
    let world = World::running().with_parent();
    let hostile = vec![event("<b>pod</b>", 1, "<script>alert(1)</script>")];
    let reading = EventReading { events: hostile, ..EventReading::default() };
    let (answer, _) = asked(&world, &format!("{PAGE}?events"), reading).await;
    assert_eq!(answer.body.matches("<script").count(), 1, "{}", answer.body);
    assert!(answer.body.contains("alert(1)") && !answer.body.contains("<b>pod"));
}

#[actix_web::test]
async fn a_preview_and_events_can_be_requested_together() {
    let world = World::running().with_parent();
    let mut requests = world.state.board.take_commands();
    let answering = async {
        let Some(preview @ WebRequest::Preview(_)) = requests.recv().await else { panic!() };
        preview.refuse(CommandError::Undecided("the oven is cold".to_owned()));
        let Some(WebRequest::Events(events)) = requests.recv().await else { panic!() };
        events.answer.give(Ok(two()));
    };
    let path = format!("{API}?diff=1&events=1");
    let (answer, ()) = tokio::join!(get(&world.state, &path), answering);
    let shown: Value = answer.json();
    assert_eq!(shown["previewError"], "the oven is cold");
    assert_eq!(shown["events"]["items"].as_array().map(Vec::len), Some(2));
}
