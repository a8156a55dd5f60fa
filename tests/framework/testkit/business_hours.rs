//! An operator whose handler depends on the time of day.

use std::time::{Duration, SystemTime};

use k8s_openapi::{
    api::apps::v1::Deployment,
    jiff::{Timestamp, ToSpan, tz::TimeZone},
};
use operators::deployment_scaler::{DeploymentScaler, HOURS, config};
use operetta::{prelude::*, testkit::TestCluster};
use serde_json::json;

const HOUR: Duration = Duration::from_hours(1);

/// Hours around now, every day.
fn around_now() -> String {
    let now = Timestamp::try_from(SystemTime::now()).unwrap().to_zoned(TimeZone::UTC);
    let at = |hours: i64| now.checked_add(hours.hours()).unwrap().strftime("%H:%M").to_string();
    format!("Mon-Sun {}-{} UTC", at(-2), at(2))
}

fn deployment() -> Deployment {
    let labels = json!({"app": "d"});
    let body = json!({
        "metadata": {"name": "d", "annotations": {HOURS: around_now()}},
        "spec": {
            "replicas": 2, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        },
    });
    serde_json::from_value(body).unwrap()
}

#[tokio::test]
async fn a_deployment_closes_at_night_and_opens_in_the_morning() -> Result<()> {
    let cluster = TestCluster::start();
    let register = |builder: operetta::supervisor::SupervisorBuilder| {
        builder.register(config(), DeploymentScaler)
    };
    let (_operators, clock) = cluster.run_with_clock(register).await?;
    cluster.given(deployment()).await?;
    let replicas =
        async || -> Result<_> { Ok(cluster.get::<Deployment>("d").await?.unwrap().spec.replicas) };
    clock.advance(HOUR).await;
    assert_eq!(replicas().await?, Some(2));
    for _day in 0..3 {
        clock.advance(2 * HOUR).await;
        assert_eq!(replicas().await?, Some(0), "closed");
        clock.advance(20 * HOUR).await;
        assert_eq!(replicas().await?, Some(2), "open");
        clock.advance(2 * HOUR).await;
        assert_eq!(replicas().await?, Some(2), "open");
    }
    Ok(())
}
