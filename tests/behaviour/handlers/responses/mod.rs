//! Invalid answers of handlers: no other object is written, and the parent reports the error.

mod failing;

use operetta::{
    operator::{IntoHandler, Owns},
    prelude::*,
};
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    reported::ExpectedFailure,
    world::{CONFIG_MAP, Operators, World},
};

/// The operator `cook` of recipes, together with those of this repository.
struct Setup {
    world: World,
    operators: Operators,
}

/// An operator whose children may also be recipes.
fn config() -> OperatorConfig {
    let recipes = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    recipe::config("cook").child_of_type(recipes, ChildConfig::apply())
}

impl Setup {
    async fn open() -> Self {
        Self::on(World::new().await).await
    }

    async fn on(world: World) -> Self {
        Self::of(world, config(), recipe::handler()).await
    }

    async fn of<Form>(
        world: World,
        config: OperatorConfig,
        handler: impl IntoHandler<Form, Role = Owns>,
    ) -> Self {
        let register = |builder| {
            let builder = operators::register_all(builder, operators::all());
            builder.register(config, handler)
        };
        let operators = world.start(register).await;
        Self { world, operators }
    }

    /// Asserts that an invalid answer is reported in all places and changes no child, and that the next valid
    /// answer is applied.
    async fn survives(&self, what: &str, spec: Value, reason: &str, words: &str) {
        let Self { world, operators } = self;
        let parent = name_of(what);
        let good = |salt: &str| recipe(&parent, &[config_map(&parent, json!({"salt": salt}))]);
        world.apply(RECIPE, good("much")).await;
        world.until_ready(RECIPE, &parent).await;
        let before = world.get(CONFIG_MAP, &parent).await;
        let failure = ExpectedFailure::before(world, operators, "cook", reason).await;
        world.apply(RECIPE, json!({"metadata": {"name": parent}, "spec": spec})).await;
        failure.until_reported(&parent, words).await;
        assert_eq!(world.get(CONFIG_MAP, &parent).await, before, "{what}: the child stays");
        world.apply(RECIPE, good("none")).await;
        world.until_ready(RECIPE, &parent).await;
        let after = world.get(CONFIG_MAP, &parent).await;
        assert_eq!(after["metadata"]["uid"], before["metadata"]["uid"], "{what}");
        assert_eq!(after["data"]["salt"], "none", "{what}");
    }

    async fn close(self) {
        self.operators.stop().await;
    }
}

/// The name of the parent of a case.
fn name_of(what: &str) -> String {
    what.replace(' ', "-")
}

#[operetta_harness::test(server)]
async fn control_characters_in_a_value_are_written_unchanged() {
    let Setup { world, operators } = Setup::open().await;
    let odd = json!({"salt": "a\u{0}b\u{7f}\u{85}\u{9f}\u{2028} \u{feff}\u{10ffff}\r\n"});
    world.create(RECIPE, recipe("r", &[config_map("c", odd.clone())])).await;
    world.until_ready(RECIPE, "r").await;
    let child = world.get(CONFIG_MAP, "c").await;
    assert_eq!(child["data"], odd);
    operators.settled().await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, child, "and are not written again");
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_cycle_of_owners_is_deleted_with_its_parent() {
    let Setup { world, operators } = Setup::open().await;
    let child = config_map("c", json!({}));
    world.apply(RECIPE, recipe("r", std::slice::from_ref(&child))).await;
    world.until_ready(RECIPE, "r").await;
    let uid = world.get(CONFIG_MAP, "c").await["metadata"]["uid"].clone();
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": uid});
    world.patch(RECIPE, "r", json!({"metadata": {"ownerReferences": [owner]}})).await;
    let mut more = config_map("d", json!({}));
    more["metadata"]["ownerReferences"] = json!([owner]);
    world.patch(RECIPE, "r", json!({"spec": {"children": [child, more]}})).await;
    world.until(CONFIG_MAP, "d", "a child that a child owns too", Value::is_object).await;
    world.until_ready(RECIPE, "r").await;
    world.delete(RECIPE, "r").await;
    world.until(RECIPE, "r", "the parent gone", Value::is_null).await;
    for name in ["c", "d"] {
        world.until(CONFIG_MAP, name, "the child collected", Value::is_null).await;
    }
    operators.stop().await;
}
