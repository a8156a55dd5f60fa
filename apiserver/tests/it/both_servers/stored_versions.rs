//! Custom types in several versions without a webhook: what is stored of an object, and what each version shows of it.

use kube::{
    Api,
    api::{DynamicObject, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use super::{World, on_both_servers};
use crate::common::{api, apply, create, object, refusal};

on_both_servers![
    what_the_stored_version_does_not_declare_is_not_stored,
    an_update_is_answered_as_it_is_stored,
    a_dry_run_is_answered_as_it_would_be_stored,
    a_status_that_creation_cannot_set_has_its_defaults,
    a_default_that_was_never_stored_changes_with_the_schema,
    an_update_that_changes_nothing_stores_the_object_in_the_storage_version,
    managers_of_all_versions_have_conflicts,
    a_version_that_cannot_show_the_object_refuses_applies_and_tracks_no_patch,
];

/// A version with the field `shared`, one of its own, one with a default, and a status.
fn version(name: &str, stored: &str) -> Value {
    json!({
        "name": name, "served": true, "storage": name == stored, "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "shared": {"type": "string"},
            format!("only-{name}"): {"type": "string"},
            format!("default-{name}"): {"type": "string", "default": name},
            "status": {"type": "object", "default": {}, "properties": {
                "phase": {"type": "string", "default": name}}},
        }}},
    })
}

impl World {
    fn gears(&self, version: &str) -> Api<DynamicObject> {
        api(&self.client, &format!("{}/{version}", self.group), "Gear", "default")
    }

    fn gear(&self, version: &str, fields: &Value) -> Value {
        let mut gear = json!({"apiVersion": format!("{}/{version}", self.group), "kind": "Gear",
            "metadata": {"name": "a", "namespace": "default"}});
        gear.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        gear
    }

    fn gears_in(&self, versions: [Value; 2]) -> Value {
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("gears.{}", self.group)},
            "spec": {"group": self.group, "scope": "Namespaced",
                "names": {"plural": "gears", "kind": "Gear"}, "versions": versions},
        })
    }

    async fn define_gears(&self, stored: &str) {
        self.define(self.gears_in(["v1", "v2"].map(|name| version(name, stored)))).await;
    }

    /// Changes the definition, and waits until creations of v1 are answered otherwise.
    async fn redefine_gears(&self, versions: [Value; 2]) {
        let before = self.answer("v1").await;
        self.redefine(&self.gears_in(versions)).await;
        while self.answer("v1").await == before {
            tokio::task::yield_now().await;
        }
    }

    /// How a creation would be answered.
    async fn answer(&self, version: &str) -> Value {
        let mut given = object(self.gear(version, &json!({"shared": "s", "only-v1": "x"})));
        given.metadata.name = Some("probe".to_owned());
        let params = PostParams { dry_run: true, ..PostParams::default() };
        self.gears(version).create(&params, &given).await.unwrap().data
    }

    /// The fields of the object beside its metadata, and its version.
    async fn read(&self, version: &str) -> (Value, String) {
        let object = self.gears(version).get("a").await.unwrap();
        (object.data, object.metadata.resource_version.unwrap())
    }
}

async fn what_the_stored_version_does_not_declare_is_not_stored(world: &World) {
    world.define_gears("v2").await;
    let given = world.gear("v1", &json!({"shared": "s", "only-v1": "x"}));
    let answer = create(&world.gears("v1"), given).await;
    let shown = json!({"shared": "s", "status": {"phase": "v2"}});
    assert_eq!(answer.data, shown);
    assert_eq!(world.read("v1").await.0, shown);
    let stored = json!({"shared": "s", "default-v2": "v2", "status": {"phase": "v2"}});
    assert_eq!(world.read("v2").await.0, stored);
}

async fn an_update_is_answered_as_it_is_stored(world: &World) {
    world.define_gears("v2").await;
    create(&world.gears("v2"), world.gear("v2", &json!({"only-v2": "y"}))).await;
    let patch = Patch::Merge(json!({"shared": "s", "only-v1": "x"}));
    let answer = world.gears("v1").patch("a", &PatchParams::default(), &patch).await.unwrap();
    let shown = json!({"shared": "s", "status": {"phase": "v2"}});
    assert_eq!(answer.data, shown);
    assert_eq!(world.read("v1").await.0, shown);
    // The first version does not show the field of the second, and so the update has removed it.
    let stored = json!({"shared": "s", "default-v2": "v2", "status": {"phase": "v2"}});
    assert_eq!(world.read("v2").await.0, stored);
}

async fn a_dry_run_is_answered_as_it_would_be_stored(world: &World) {
    world.define_gears("v2").await;
    let answer = world.answer("v1").await;
    assert_eq!(answer, json!({"shared": "s", "status": {"phase": "v2"}}));
}

async fn a_status_that_creation_cannot_set_has_its_defaults(world: &World) {
    world.define_gears("v1").await;
    let given = world.gear("v1", &json!({"status": {"phase": "Given"}}));
    let answer = create(&world.gears("v1"), given).await;
    assert_eq!(answer.data, json!({"default-v1": "v1", "status": {"phase": "v1"}}));
    assert_eq!(world.read("v1").await.0, answer.data);
}

async fn a_default_that_was_never_stored_changes_with_the_schema(world: &World) {
    world.define_gears("v1").await;
    create(&world.gears("v1"), world.gear("v1", &json!({}))).await;
    let mut changed = version("v1", "v1");
    let fields = &mut changed["schema"]["openAPIV3Schema"]["properties"];
    fields["status"]["properties"]["phase"]["default"] = json!("New");
    fields["default-v1"]["default"] = json!("New");
    world.redefine_gears([changed, version("v2", "v1")]).await;
    let shown = json!({"default-v1": "v1", "status": {"phase": "New"}});
    assert_eq!(world.read("v1").await.0, shown);
}

async fn an_update_that_changes_nothing_stores_the_object_in_the_storage_version(world: &World) {
    world.define_gears("v1").await;
    create(&world.gears("v2"), world.gear("v2", &json!({"shared": "s"}))).await;
    world.redefine_gears(["v1", "v2"].map(|name| version(name, "v2"))).await;
    let mut versions = vec![world.read("v2").await.1];
    for _ in 0..2 {
        let live = world.gears("v2").get("a").await.unwrap();
        world.gears("v2").replace("a", &PostParams::default(), &live).await.unwrap();
        versions.push(world.read("v2").await.1);
    }
    assert_ne!(versions[0], versions[1], "it is stored again");
    assert_eq!(versions[1], versions[2], "and only once");
}

/// Two versions of which the second only adds a field.
fn without_defaults(stored: &str) -> [Value; 2] {
    ["v1", "v2"].map(|name| {
        let mut version = version(name, stored);
        let fields = &mut version["schema"]["openAPIV3Schema"]["properties"];
        *fields = json!({"shared": {"type": "string"}});
        if name == "v2" {
            fields["only-v2"] = json!({"type": "string"});
        }
        version
    })
}

async fn managers_of_all_versions_have_conflicts(world: &World) {
    world.define(world.gears_in(without_defaults("v2"))).await;
    let first = world.gear("v1", &json!({"shared": "s"}));
    apply(&world.gears("v1"), "a", "one", &first).await.unwrap();
    let second = world.gear("v2", &json!({"shared": "t"}));
    let (code, _, why) = refusal(apply(&world.gears("v2"), "a", "two", &second).await);
    let expected = "Apply failed with 1 conflict: conflict with \"one\": .shared";
    assert_eq!((code, &*why), (409, expected));
    let extended = world.gear("v2", &json!({"only-v2": "y"}));
    let (code, _, why) = refusal(apply(&world.gears("v2"), "a", "two", &extended).await);
    let expected = "failed to convert new object: .only-v2: field not declared in schema";
    assert_eq!((code, &*why), (500, expected));
    // What an applier gives up in another version is removed.
    let nothing = world.gear("v2", &json!({}));
    let applied = apply(&world.gears("v2"), "a", "one", &nothing).await.unwrap();
    assert_eq!(applied.data, json!({}));
}

async fn a_version_that_cannot_show_the_object_refuses_applies_and_tracks_no_patch(world: &World) {
    world.define_gears("v2").await;
    create(&world.gears("v1"), world.gear("v1", &json!({"shared": "s"}))).await;
    let second = world.gear("v2", &json!({"shared": "t"}));
    let (code, _, why) = refusal(apply(&world.gears("v2"), "a", "two", &second).await);
    assert_eq!((code, &*why), (500, ".default-v2: field not declared in schema"));
    let before = world.gears("v1").get("a").await.unwrap();
    let patch = Patch::Merge(json!({"shared": "t"}));
    let patched = world.gears("v2").patch("a", &PatchParams::default(), &patch).await.unwrap();
    assert!(before.metadata.managed_fields.is_some());
    assert_eq!(patched.metadata.managed_fields, before.metadata.managed_fields);
}
