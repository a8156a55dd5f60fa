//! The annotations that users set, and the command that pauses.

use std::{sync::Arc, time::SystemTime};

use super::*;
use crate::{
    operator::{PAUSED_ANNOTATION, Pause},
    reply::ErrorClass,
};

#[tokio::test(flavor = "multi_thread")]
async fn the_annotation_is_set_on_exactly_this_parent() {
    let world =
        Setup::new(pods(), ChildConfig::apply()).before(|asked| match asked.method.as_str() {
            "PATCH" if asked.body["metadata"]["uid"] == "pu" => (200, parent("9")),
            "PATCH" => refusal(409, "Conflict"),
            _ => taken(),
        });
    let key = ObjectKey::namespaced("ns", "p");
    let annotate = |uid: &'static str, value: Option<&'static str>| {
        let (context, key) = (world.context(), key.clone());
        async move { context.annotate(&key, &Uid::new(uid), (PAUSED_ANNOTATION, value)).await }
    };
    annotate("pu", Some("true")).await.unwrap();
    annotate("pu", None).await.unwrap();
    let error = annotate("other", Some("true")).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Conflict);
    let sent = world.asked("PATCH");
    let value = |at: usize| &sent[at].body["metadata"]["annotations"]["operetta.dev/paused"];
    assert_eq!([value(0), value(1)], [&json!("true"), &serde_json::Value::Null]);
    assert!(sent[0].path.contains("fieldManager=op"), "{}", sent[0].path);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_is_resumed_once() {
    let world = Setup::new(pods(), ChildConfig::apply()).before(|_| taken());
    world.context().pause(Arc::default());
    assert!(world.context().pause_now().is_some());
    assert!(world.context().resume() && !world.context().resume());
    assert!(world.context().pause_now().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_that_is_over_pauses_nothing() {
    let world = Setup::new(pods(), ChildConfig::apply()).before(|_| taken());
    let hour = std::time::Duration::from_hours(1);
    for (until, is_paused) in [(SystemTime::now() - hour, false), (SystemTime::now() + hour, true)]
    {
        let pause = Pause { until: Some(until), ..Pause::default() };
        world.context().pause(Arc::new(pause));
        assert_eq!(world.context().pause_now().is_some(), is_paused);
    }
}
