//! What is not a copy is not written, and what cannot work is refused.

use super::*;

#[operetta_harness::test]
async fn an_object_of_the_same_name_is_a_conflict_and_other_copies_are_made() {
    let world = World::new().await;
    let (taken, free) = (selected(&world, "a").await, selected(&world, "b").await);
    let theirs: kube::api::DynamicObject = crate::world::object(
        CONFIG_MAP,
        json!({"metadata": {"name": "ca"}, "data": {"k": "theirs"}}),
    );
    let api = world.api_in(CONFIG_MAP, Some(&taken));
    api.create(&kube::api::PostParams::default(), &theirs).await.unwrap();
    source(&world, CONFIG_MAP, json!({"k": "ours"})).await;
    world.create(PROPAGATION, propagation(&world, "ConfigMap", &[])).await;
    let operators = start(&world).await;
    let parent = until_reported(&world, "Synced", "Conflict").await;
    let message = condition(&parent, "Synced")["message"].to_string();
    assert!(message.contains(&format!("{taken}/ca")), "{message}");
    until_copied(&world, CONFIG_MAP, &free, json!({"k": "ours"})).await;
    let is_listed = |parent: &Value| {
        let listed = parent["status"]["children"].as_array().into_iter().flatten();
        let of = |namespace: &str| {
            let mut listed = listed.clone();
            listed.find(|child| child["namespace"] == namespace).map(|child| child["state"].clone())
        };
        of(&taken) == Some(json!("Conflict")) && of(&free) == Some(json!("Synced"))
    };
    world.until(PROPAGATION, &world.namespace, "both copies listed", is_listed).await;
    assert_eq!(copy(&world, CONFIG_MAP, &taken).await["data"], json!({"k": "theirs"}));

    api.delete("ca", &kube::api::DeleteParams::default()).await.unwrap();
    until_copied(&world, CONFIG_MAP, &taken, json!({"k": "ours"})).await;
    world.until_ready(PROPAGATION, &world.namespace).await;
    operators.stop().await;
}

#[operetta_harness::test]
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

/// The schema does not look into the names of a map.
#[operetta_harness::test]
async fn an_invalid_label_is_reported_and_the_copies_stay() {
    let (world, namespace, operators) = copied().await;
    let labels = json!({"matchLabels": {"a,b": "c"}});
    let spec = json!({"spec": {"namespaces": {"selector": labels}}});
    world.patch(PROPAGATION, &world.namespace, spec).await;
    let parent = until_reported(&world, "Stalled", "HandlerFailed").await;
    let message = condition(&parent, "Synced")["message"].to_string();
    assert!(message.contains("`a,b=c`"), "{message}");
    assert_eq!(copy(&world, CONFIG_MAP, &namespace).await["data"], json!({"k": "one"}));
    operators.stop().await;
}
