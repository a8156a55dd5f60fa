//! Versions that lose something, and versions that do not.

use std::collections::BTreeMap;

use super::*;

mod v1 {
    use std::collections::BTreeMap;

    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(kube::CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(group = "example.com", version = "v1", kind = "Shop", namespaced)]
    #[serde(rename_all = "camelCase")]
    pub(super) struct ShopSpec {
        pub(super) size: Size,
        #[serde(default = "open")]
        pub(super) state: State,
        #[schemars(length(max = 5), regex(pattern = r"^[a-z]{1,5}$"))]
        pub(super) class: Option<String>,
        pub(super) rooms: Option<Vec<Room>>,
        pub(super) labels: Option<BTreeMap<String, String>>,
    }

    #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
    pub(super) struct Size {
        #[schemars(range(min = 1, max = 9))]
        pub(super) floors: u32,
    }

    #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
    pub(super) struct Room {
        pub(super) name: String,
    }

    #[derive(JsonSchema, Serialize, Deserialize, Clone, Copy, Debug)]
    pub(super) enum State {
        Open,
        Closed,
    }

    fn open() -> State {
        State::Open
    }
}

mod v1beta1 {
    use std::collections::BTreeMap;

    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(kube::CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(group = "example.com", version = "v1beta1", kind = "Shop", namespaced)]
    #[serde(rename_all = "camelCase")]
    pub(super) struct ShopSpec {
        #[schemars(range(min = 1, max = 9))]
        pub(super) floors: u32,
        #[serde(default)]
        pub(super) closed: bool,
        pub(super) rooms: Option<Vec<String>>,
        pub(super) labels: Option<BTreeMap<String, String>>,
    }
}

impl From<v1beta1::Shop> for v1::Shop {
    fn from(old: v1beta1::Shop) -> Self {
        let v1beta1::ShopSpec { floors, closed, rooms, labels } = old.spec;
        let state = if closed { v1::State::Closed } else { v1::State::Open };
        let rooms = rooms.map(|all| all.into_iter().map(|name| v1::Room { name }).collect());
        let size = v1::Size { floors };
        let spec = v1::ShopSpec { size, state, class: None, rooms, labels };
        Self { metadata: old.metadata, spec }
    }
}

impl From<v1::Shop> for v1beta1::Shop {
    fn from(new: v1::Shop) -> Self {
        let v1::ShopSpec { size, state, class: _, rooms, labels } = new.spec;
        let rooms = rooms.map(|all| all.into_iter().map(|room| room.name).collect());
        let closed = matches!(state, v1::State::Closed);
        let spec = v1beta1::ShopSpec { floors: size.floors, closed, rooms, labels };
        Self { metadata: new.metadata, spec }
    }
}

#[test]
fn versions_that_keep_what_they_cannot_hold_lose_nothing() {
    let versions = Versions::hub::<v1::Shop>().keeping::<v1beta1::Shop>(&["spec.class"], &[]);
    assert_round_trips::<v1::Shop, v1beta1::Shop>(&versions, 200);
}

#[test]
#[should_panic(
    expected = "from example.com/v1 to example.com/v1beta1 and back: Test failed: /spec/class differ"
)]
fn a_field_that_is_lost_is_named() {
    let versions = Versions::hub::<v1::Shop>().version::<v1beta1::Shop>();
    assert_round_trips::<v1::Shop, v1beta1::Shop>(&versions, 200);
}

#[test]
fn generated_objects_are_valid_and_differ() {
    use proptest::{strategy::ValueTree, test_runner::TestRunner};
    let schema = schema(&<v1::Shop as CustomResourceExt>::crd(), "v1");
    let (mut runner, objects) =
        (TestRunner::deterministic(), objects("example.com/v1", "Shop", &schema));
    let mut seen = BTreeMap::new();
    for _ in 0..100 {
        let object =
            proptest::strategy::Strategy::new_tree(&objects, &mut runner).unwrap().current();
        let shop: v1::Shop = serde_json::from_value(object.clone()).unwrap();
        assert!((1..=9).contains(&shop.spec.size.floors));
        assert!(shop.spec.class.is_none_or(|class| (1..=5).contains(&class.len())));
        seen.insert(object["spec"].to_string(), object);
    }
    assert!(seen.len() > 90, "{}", seen.len());
    assert!(seen.values().any(|it| it["spec"]["rooms"].is_array()));
    assert!(seen.values().all(|it| it["spec"]["state"].is_string()), "the default is there");
}

#[test]
fn generated_objects_keep_the_rules_of_their_schema() {
    use proptest::{strategy::ValueTree, test_runner::TestRunner};
    let schema = serde_json::json!({"type": "object", "properties": {"spec": {
        "type": "object", "required": ["least", "most"],
        "x-kubernetes-validations": [{"rule": "self.least <= self.most && isQuantity(self.size)"}],
        "properties": {
            "least": {"type": "integer", "minimum": 0, "maximum": 9},
            "most": {"type": "integer", "minimum": 0, "maximum": 9},
            "size": {"type": "string", "default": "1Gi"},
        },
    }}, "required": ["spec"]});
    let (mut runner, objects) =
        (TestRunner::deterministic(), objects("example.com/v1", "Shop", &schema));
    for _ in 0..50 {
        let tree = proptest::strategy::Strategy::new_tree(&objects, &mut runner).unwrap();
        let spec = tree.current()["spec"].take();
        assert!(spec["least"].as_i64() <= spec["most"].as_i64(), "{spec}");
        assert_ne!(spec["size"], "10.0.0.0/8", "{spec}");
    }
}
