//! Watches, and field managers, of clients of both versions.

use futures::{StreamExt, TryStreamExt, stream::BoxStream};
use kube::api::{WatchEvent, WatchParams};

use super::*;

/// What a watch shows of each change, beginning with the list that it follows.
async fn watch(api: &Api<DynamicObject>) -> BoxStream<'static, Value> {
    let version = api.list(&ListParams::default()).await.unwrap().metadata.resource_version;
    let events = api.watch(&WatchParams::default(), &version.unwrap()).await.unwrap();
    let spec = |event: WatchEvent<DynamicObject>| match event {
        WatchEvent::Added(object) | WatchEvent::Modified(object) => object.data["spec"].clone(),
        WatchEvent::Deleted(_) => Value::Null,
        other => panic!("{other:?}"),
    };
    Box::pin(events.map_ok(spec).map(Result::unwrap))
}

#[operetta_harness::test(server)]
async fn watches_of_both_versions_show_each_change_in_their_own() {
    let answering = started().await;
    let (new, old) = (api_of::<v1::Stall>(&answering), api_of::<v1alpha1::Stall>(&answering));
    let (in_new, in_old) = (watch(&new).await, watch(&old).await);
    let params = PostParams::default();
    new.create(&params, &stall("v1", json!({"size": 3, "class": "fast"}))).await.unwrap();
    let rooms = Patch::Merge(json!({"spec": {"rooms": "4"}}));
    old.patch("a", &PatchParams::default(), &rooms).await.unwrap();
    new.delete("a", &DeleteParams::default()).await.unwrap();
    let (seen_new, seen_old): (Vec<Value>, Vec<Value>) =
        tokio::join!(in_new.take(3).collect(), in_old.take(3).collect());
    let sizes = [3, 4].map(|size| json!({"size": size, "class": "fast"}));
    assert_eq!(seen_new, [sizes.as_slice(), &[Value::Null]].concat());
    assert_eq!(seen_old, [json!({"rooms": "3"}), json!({"rooms": "4"}), Value::Null]);
    ended(answering).await;
}

async fn apply(
    api: &Api<DynamicObject>,
    manager: &str,
    object: &DynamicObject,
) -> kube::Result<DynamicObject> {
    api.patch("a", &PatchParams::apply(manager), &Patch::Apply(object)).await
}

#[operetta_harness::test(server)]
async fn field_managers_of_both_versions_own_the_same_fields() {
    let answering = started().await;
    let (new, old) = (api_of::<v1::Stall>(&answering), api_of::<v1alpha1::Stall>(&answering));
    let wanted = stall("v1", json!({"size": 3, "class": "fast"}));
    apply(&new, "chart", &wanted).await.unwrap();
    // The field has another name in the old version, and the same value.
    let same = stall("v1alpha1", json!({"rooms": "3"}));
    apply(&old, "old-client", &same).await.unwrap();
    let managers = new.get("a").await.unwrap().metadata.managed_fields.unwrap_or_default();
    let found = |manager: &str| {
        let of_it = managers.iter().find(|it| it.manager.as_deref() == Some(manager)).unwrap();
        let fields = serde_json::to_value(&of_it.fields_v1).unwrap();
        (of_it.api_version.clone().unwrap(), fields["f:spec"].clone())
    };
    let group = "conversion.operetta.dev";
    assert_eq!(found("chart"), (format!("{group}/v1"), json!({"f:size": {}, "f:class": {}})));
    assert_eq!(found("old-client"), (format!("{group}/v1alpha1"), json!({"f:rooms": {}})));

    // Each applies again, as each deployment does, and a manager that owns a field alone removes it.
    apply(&new, "chart", &wanted).await.unwrap();
    apply(&old, "old-client", &same).await.unwrap();
    apply(&new, "chart", &stall("v1", json!({"size": 3}))).await.unwrap();
    assert_eq!(new.get("a").await.unwrap().data["spec"], json!({"size": 3}));
    // A change in one version is a conflict with the manager in the other.
    let conflict = apply(&old, "third", &stall("v1alpha1", json!({"rooms": "5"}))).await;
    let Err(kube::Error::Api(conflict)) = conflict else { panic!("{conflict:?}") };
    assert_eq!(conflict.code, 409, "{}", conflict.message);
    ended(answering).await;
}
