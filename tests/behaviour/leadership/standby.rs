//! What a standby shows.

use operetta::{object::ObjectKey, testkit::internals::history::Cause};
use serde_json::json;

use super::{process, until_led_by};
use crate::{
    needs::Chosen,
    recipe::{RECIPE, recipe},
    world::{Operators, World, eventually},
};

#[operetta_harness::test]
async fn a_standby_is_ready_has_the_objects_and_says_who_leads() {
    let world = World::new().await;
    let first = process(&world, "first").await;
    until_led_by(&world, "first").await;
    let second = process(&world, "second").await;
    let sentence = format!("standby: first leads by the Lease {}/cooks", world.namespace);
    let says = |(code, body): &(u16, String)| *code == 200 && body.contains(&sentence);
    eventually(&sentence, || second.http("/readyz?verbose"), says).await;
    let lease = format!("{}/cooks", world.namespace);
    for (process, leads) in [(&second, 0), (&first, 1)] {
        let line = format!("operetta_leader{{lease=\"{lease}\"}} {leads}\n");
        eventually(&line, || process.http("/metrics"), |(_, body)| body.contains(&line)).await;
    }
    let (_, metrics) = first.http("/metrics").await;
    let accepted = "operetta_lease_renewals_total{lease=\"";
    assert!(metrics.contains(accepted), "{metrics}");
    let (_, page) = second.http("/ui/operators/cook").await;
    assert!(page.contains(&sentence), "{page}");
    world.apply(RECIPE, recipe("r", &[])).await;
    let cached = || async { second.http("/api/v1/operators/cook/parents").await.1 };
    eventually("the parent on the standby", cached, |body| body.contains("\"r\"")).await;
    let (_, body) = first.http("/api/v1/operators/cook").await;
    let mut operator: serde_json::Value = serde_json::from_str(&body).unwrap();
    // The test makes the client of the embedded server, and connects to others by a configuration.
    let weakness = operator["leadership"].as_object_mut().unwrap().remove("weakness");
    assert_eq!(weakness.is_some(), Chosen::from_environment() == Chosen::Embedded);
    if let Some(weakness) = weakness {
        let weakness = weakness.as_str().unwrap();
        assert!(weakness.starts_with("the program made the client itself"), "{weakness}");
        assert!(page.contains(weakness.split('`').next().unwrap()), "{page}");
    }
    let expected = json!({"lease": lease, "identity": "first", "leads": true, "holder": "first"});
    assert_eq!(operator["leadership"], expected);
    first.stop().await;
    second.stop().await;
}

#[operetta_harness::test]
async fn a_standby_reconciles_what_was_triggered_when_it_leads() {
    let world = World::new().await;
    let first = process(&world, "first").await;
    until_led_by(&world, "first").await;
    let second = process(&world, "second").await;
    world.apply(RECIPE, recipe("r", &[])).await;
    world.until_ready(RECIPE, "r").await;
    let key = ObjectKey::namespaced(&world.namespace, "r");
    let of = |process: &Operators| process.running().board().parent("cook", &key);
    eventually("the parent on the standby", || async { of(&second) }, Option::is_some).await;
    let recorded = of(&first).unwrap().history.recorded();
    for process in [&second, &first] {
        process.running().trigger("cook", &key).await.unwrap();
    }
    first.until_reconciles("cook", &world.namespace, "r", recorded + 1).await;
    assert_eq!(of(&second).unwrap().history.recorded(), 0, "it does not lead");
    first.stop().await;
    second.until_reconciles("cook", &world.namespace, "r", 1).await;
    let history = of(&second).unwrap().history;
    let causes: Vec<_> = history.newest_first().flat_map(|it| it.causes.clone()).collect();
    assert!(causes.contains(&Cause::External), "{causes:?}");
    second.stop().await;
}
