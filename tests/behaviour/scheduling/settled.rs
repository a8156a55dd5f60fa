//! What a test sees when the operators have settled, on any cluster.

use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, World},
};

#[operetta_harness::test(server)]
async fn all_that_operators_do_about_a_change_is_there_when_they_have_settled() {
    let world = World::new().await;
    let operators =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::sync)).await;
    for number in 0..20 {
        let dish = config_map("c", json!({"number": number.to_string()}));
        world.apply(RECIPE, recipe("r", &[dish])).await;
        operators.running().settled().await;
        let child = world.get(CONFIG_MAP, "c").await;
        assert_eq!(child["data"]["number"], json!(number.to_string()));
    }
    world.apply(RECIPE, recipe("r", &[])).await;
    operators.running().settled().await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, Value::Null);
}
