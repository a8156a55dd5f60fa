//! What is not a copy is not written, and what cannot work is refused.

use super::*;

#[operetta_harness::test(server)]
async fn what_cannot_work_is_refused_with_a_readable_message() {
    let world = World::new().await;
    let good = propagation(&world, "ConfigMap", &[]);
    let refused = [
        ("/spec/source/kind", json!("Pod"), "supported values: \"ConfigMap\", \"Secret\""),
        ("/spec/source/namespace", json!("A_b"), "must be the name of a namespace"),
        ("/spec/source/name", json!("a b"), "must be the name of an object"),
        (
            "/spec/namespaces/selector",
            json!({"matchExpressions": [{"key": "a", "operator": "In"}]}),
            "In and NotIn need values, Exists and DoesNotExist have none",
        ),
        (
            "/spec/namespaces/selector",
            json!({"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["x"]}]}),
            "In and NotIn need values, Exists and DoesNotExist have none",
        ),
    ];
    for (path, value, expected) in refused {
        let mut body = good.clone();
        *body.pointer_mut(path).unwrap() = value;
        let error = world.try_create(PROPAGATION, body).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{path}: {error}");
    }
}
