//! More names than there are watches of single objects, and one object that many parents read.

use super::*;

#[operetta_harness::test]
async fn many_names_share_one_watch_that_keeps_only_what_they_name() {
    let world = World::new().await;
    let operators = world.start(register).await;
    for number in 0..40 {
        world.apply(SECRET, secret(&format!("s{number}"), &["a"])).await;
    }
    for number in 0..30 {
        let spec = json!({"secrets": [format!("s{number}"), "late"]});
        world.apply(RECIPE, reading(&format!("r{number}"), spec)).await;
    }
    for number in 0..30 {
        until_seen(&world, &format!("r{number}"), &format!("s{number}=a")).await;
    }
    until_cached(&operators, "secrets", 30).await;
    world.apply(SECRET, secret("s3", &["a", "b"])).await;
    until_seen(&world, "r3", "s3=a,b").await;
    // It was passed over until now.
    world.apply(RECIPE, reading("r30", json!({"secrets": ["s35"]}))).await;
    until_seen(&world, "r30", "s35=a").await;
    world.apply(SECRET, secret("late", &["a"])).await;
    for number in 4..30 {
        until_seen(&world, &format!("r{number}"), &format!("late=a s{number}=a")).await;
    }
    world.delete(SECRET, "s3").await;
    until_seen(&world, "r3", "late=a").await;
    // Few are left: each is watched alone again.
    for number in 5..=30 {
        world.delete(RECIPE, &format!("r{number}")).await;
    }
    until_cached(&operators, "secrets", 5).await;
    world.apply(SECRET, secret("s4", &["a", "b"])).await;
    until_seen(&world, "r4", "late=a s4=a,b").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_change_of_one_object_reaches_every_parent_that_reads_it() {
    const PARENTS: usize = 200;
    let world = World::new().await;
    let operators = world.start(register).await;
    world.apply(CONFIG_MAP, config_map("shared", json!({"a": "1"}))).await;
    for number in 0..PARENTS {
        let name = format!("r{number:03}");
        world.apply(RECIPE, reading(&name, json!({"maps": ["shared"]}))).await;
    }
    let seen = || async {
        let children = world.list(CONFIG_MAP).await;
        let is_of_parent = |child: &Value| {
            child["metadata"]["name"].as_str().is_some_and(|name| name.ends_with("-seen"))
        };
        let seen = children.into_iter().filter(is_of_parent);
        seen.map(|child| child["data"]["seen"].clone()).collect::<Vec<_>>()
    };
    for (data, expected) in
        [(json!({"a": "1"}), "shared=a"), (json!({"a": "1", "b": "2"}), "shared=a,b")]
    {
        world.apply(CONFIG_MAP, config_map("shared", data)).await;
        let is_seen =
            |seen: &Vec<Value>| seen.len() == PARENTS && seen.iter().all(|seen| seen == expected);
        eventually(&format!("all see `{expected}`"), seen, is_seen).await;
    }
    operators.stop().await;
}
