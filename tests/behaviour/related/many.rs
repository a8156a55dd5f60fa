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

/// The last reader of each Secret goes while another one comes: each is asked for before the watch was told that nobody
/// does any more.
#[operetta_harness::test]
async fn parents_that_replace_others_see_what_these_read() {
    let world = World::new().await;
    let operators = world.start(register).await;
    let numbers = 0..25;
    for number in numbers.clone() {
        world.apply(SECRET, secret(&format!("s{number}"), &["a"])).await;
    }
    for round in 0..4 {
        for number in numbers.clone() {
            let spec = json!({"secrets": [format!("s{number}")]});
            world.apply(RECIPE, reading(&format!("r{round}-{number}"), spec)).await;
            if round > 0 {
                world.delete(RECIPE, &format!("r{}-{number}", round - 1)).await;
            }
        }
        for number in numbers.clone() {
            until_seen(&world, &format!("r{round}-{number}"), &format!("s{number}=a")).await;
        }
    }
    operators.stop().await;
}
