//! The annotation and the command that pause.

use super::*;
use crate::reply::ErrorClass;

#[tokio::test(flavor = "multi_thread")]
async fn the_annotation_is_set_on_exactly_this_parent() {
    let world =
        Setup::new(pods(), ChildConfig::apply()).before(|asked| match asked.method.as_str() {
            "PATCH" if asked.body["metadata"]["uid"] == "pu" => (200, parent("9")),
            "PATCH" => refusal(409, "Conflict"),
            _ => taken(),
        });
    let key = ObjectKey::namespaced("ns", "p");
    let pause = |uid: &'static str, is_paused| {
        let (context, key) = (world.context(), key.clone());
        async move { context.annotate_paused(&key, &Uid::new(uid), is_paused).await }
    };
    pause("pu", true).await.unwrap();
    pause("pu", false).await.unwrap();
    let error = pause("other", true).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Conflict);
    let sent = world.asked("PATCH");
    let value = |at: usize| &sent[at].body["metadata"]["annotations"]["operetta.dev/paused"];
    assert_eq!([value(0), value(1)], [&json!("true"), &serde_json::Value::Null]);
    assert!(sent[0].path.contains("fieldManager=op"), "{}", sent[0].path);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_is_resumed_once() {
    let world = Setup::new(pods(), ChildConfig::apply()).before(|_| taken());
    world.context().pause();
    assert!(world.context().has_paused());
    assert!(world.context().resume() && !world.context().resume());
    assert!(!world.context().has_paused());
}
