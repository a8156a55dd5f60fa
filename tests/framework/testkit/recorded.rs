//! Events and metrics of a handler.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::{
    operator::EventType,
    prelude::*,
    supervisor::{OnRemoval, SupervisorBuilder},
    testkit::{TestCluster, metric},
    web::PlanFilter,
};

use super::support::{self, config, config_map, meal};

const RESTORES: &str = "operetta_custom_restores_total";

/// Returns the meal as an Event, and counts its calls by meal.
fn sync(request: &SyncRequest<ConfigMap>) -> Result<SyncResponse> {
    let meal = request.parent.data.as_ref().map_or("", |data| &data["meal"]);
    request.metrics().counter("restores_total", "Restores.", &[("meal", meal)])?.inc();
    Ok(SyncResponse::new().event(EventType::Normal, "Restored", meal))
}

fn register(builder: SupervisorBuilder) -> SupervisorBuilder {
    builder.register(config(), sync)
}

#[tokio::test]
async fn events_about_a_parent_are_there_when_the_operators_have_settled() -> Result<()> {
    let cluster = TestCluster::start();
    let _operators = cluster.run(register).await?;
    let parents = cluster.of::<ConfigMap>();
    cluster.given(config_map("a", "soup")).await?;
    let event = parents.eventually_event("a", "Restored").await;
    assert_eq!(
        (event.event_type, event.message.as_str(), event.count),
        (EventType::Normal, "soup", 1)
    );
    cluster.given(config_map("b", "soup")).await?;
    for meal in ["cake", "soup"] {
        let data = Some([("meal".to_owned(), meal.to_owned())].into());
        cluster.when("a", |parent: &mut ConfigMap| parent.data = data).await?;
    }
    let events = parents.events("a").await?;
    let shown: Vec<_> = events.iter().map(|it| (it.message.as_str(), it.count)).collect();
    assert_eq!(shown, [("soup", 2), ("cake", 1)]);
    cluster.when_deleted::<ConfigMap>("a").await?;
    assert_eq!(parents.events("a").await?.len(), 2, "also after its end");
    assert_eq!(parents.events("c").await?, []);
    Ok(())
}

#[tokio::test]
async fn an_event_shows_nothing_of_a_child_secret() -> Result<()> {
    let quotes = |request: &SyncRequest<ConfigMap>| -> Result<SyncResponse> {
        let message = format!("the meal is {}", meal(request));
        Ok(support::sync(request)?.event(EventType::Warning, "Quoted", message))
    };
    let cluster = TestCluster::start();
    let _operators = cluster.run(|builder| builder.register(config(), quotes)).await?;
    cluster.given(config_map("a", "s3cret-soup")).await?;
    let events = cluster.of::<ConfigMap>().events("a").await?;
    let messages: Vec<_> = events.iter().map(|event| event.message.as_str()).collect();
    assert_eq!(messages, ["the meal is (redacted)"]);
    Ok(())
}

#[tokio::test]
async fn a_preview_records_and_counts_nothing() -> Result<()> {
    let cluster = TestCluster::start();
    let operators = cluster.run(register).await?;
    cluster.given(config_map("a", "soup")).await?;
    let before = metric(&operators, RESTORES, &[("meal", "soup")]);
    assert!(before >= Some(1.0), "{before:?}");
    let mut changed = serde_json::to_value(config_map("a", "cake"))?;
    changed["apiVersion"] = "v1".into();
    changed["kind"] = "ConfigMap".into();
    changed["metadata"]["namespace"] = "default".into();
    operators.plans_against(&PlanFilter::default(), &[changed]).await?;
    operators.plans(&PlanFilter::default()).await?;
    cluster.settled().await;
    assert_eq!(metric(&operators, RESTORES, &[]), before);
    assert_eq!(cluster.of::<ConfigMap>().events("a").await?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn the_metrics_of_a_handler_go_with_its_operator() -> Result<()> {
    let cluster = TestCluster::start();
    let operators = cluster.run(register).await?;
    cluster.given(config_map("a", "soup")).await?;
    let labels = [("operator", "cook"), ("meal", "soup")];
    assert!(metric(&operators, RESTORES, &labels) >= Some(1.0));
    operators.registrar().deregister("cook", OnRemoval::Leave).await?;
    assert_eq!(metric(&operators, RESTORES, &[]), None);
    Ok(())
}
