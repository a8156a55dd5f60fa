//! Characters that change the direction of text.

use actix_web::http::{Method, header};
use serde_json::Value;

use super::{Answer, ask, events::received, request, world::World};
use crate::board::OperatorState;

const TRICK: &str = "all is well\u{202e}\u{2066}\u{61c}";
const SHOWN: &str = r"all is well\u202e\u2066\u061c";

fn degraded() -> OperatorState {
    OperatorState::Degraded { reasons: vec![TRICK.to_owned()] }
}

async fn asked(world: &World, path: &str) -> Answer {
    let asked = request(Method::GET, path).insert_header((header::ACCEPT, "text/html"));
    ask(&world.state, asked).await
}

#[actix_web::test]
async fn they_are_escaped_on_pages_in_answers_and_in_events() {
    let world = World::running().with_parent();
    world.set("echo-server", degraded());
    for path in ["/", "/readyz/echo-server", "/ui/operators/echo-server"] {
        let answer = asked(&world, path).await;
        assert!(answer.body.contains(SHOWN), "{path}: {}", answer.body);
        assert!(!answer.body.contains(['\u{202e}', '\u{2066}', '\u{61c}']), "{path}");
    }
    let answer = asked(&world, "/api/v1/operators/echo-server").await;
    assert!(answer.body.contains(SHOWN) && !answer.body.contains('\u{202e}'), "{}", answer.body);
    assert_eq!(answer.json()["reasons"], Value::from(vec![TRICK]), "the same for programs");
    world.set("echo-server", OperatorState::Running);
    let happens = || world.set("echo-server", degraded());
    let events = received(&world, "/api/v1/events?kind=operator", happens).await;
    assert!(events.contains(SHOWN) && !events.contains('\u{202e}'), "{events}");
}

#[actix_web::test]
async fn an_object_with_escapes_parses_to_the_same_value() {
    let world = World::running().with_parent();
    world.annotate_parent("said", TRICK);
    let path = "/api/v1/cache/echoservers.example.com/ns/a?output";
    let (json, yaml) = (
        asked(&world, &format!("{path}=json")).await,
        asked(&world, &format!("{path}=yaml")).await,
    );
    for body in [&json.body, &yaml.body] {
        assert!(body.contains(SHOWN) && !body.contains('\u{202e}'), "{body}");
    }
    let parsed: Value = serde_yaml_ng::from_str(&yaml.body).unwrap();
    assert_eq!(parsed, json.json());
    assert_eq!(parsed["metadata"]["annotations"]["said"], TRICK);
}
