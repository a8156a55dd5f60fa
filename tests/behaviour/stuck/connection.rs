//! The API server, the credentials, and the leader.

use futures::{FutureExt, future::LocalBoxFuture};
use operetta::election::LeaderElection;
use operetta_apiserver::faults::{Fault, Rule};
use serde_json::json;

use super::{
    cause::{Group, by_others, commanded},
    handler,
    rig::{Place, Rig},
};
use crate::{
    link::Link,
    recipe::{self, RECIPE, config_map},
    world::{LEASE, World},
};

// === the leader ===

/// Under a Lease whose holder does not run.
pub(super) fn elected() -> Group {
    let causes = vec![commanded(
        "A Lease of a process that no longer runs",
        &["Operator cook", "standby"],
        |place| async { place.parent(&[config_map("c", json!({}))]).await }.boxed_local(),
    )];
    Group { start: behind_a_dead_leader, causes }
}

fn behind_a_dead_leader() -> LocalBoxFuture<'static, Rig> {
    async {
        let world = World::new().await;
        let now = "2026-01-01T00:00:00.000000Z";
        let spec = json!({
            "holderIdentity": "gone", "leaseDurationSeconds": 3600, "leaseTransitions": 1,
            "acquireTime": now, "renewTime": now,
        });
        world.create(LEASE, json!({"metadata": {"name": "cooks"}, "spec": spec})).await;
        let election = LeaderElection::new("cooks").in_namespace(&world.namespace);
        let operators = world
            .start(|builder| {
                let builder = builder.leader_election(election);
                builder.register(handler::small_cook(), recipe::handler())
            })
            .await;
        Rig::new(world, operators)
    }
    .boxed_local()
}

// === the connection ===

/// Behind a link that can be cut.
pub(super) fn cut() -> Group {
    let causes = vec![by_others(
        "An API server that is away",
        &["API server", "does not answer"],
        |place| {
            async {
                place.parent(&[config_map("c", json!({}))]).await;
                place.until_ready("r").await;
                link(place).cut();
                let changed = [config_map("c", json!({"a": "b"}))];
                place.patch(RECIPE, "r", json!({"spec": {"children": changed}})).await;
            }
            .boxed_local()
        },
        |place| async { link(place).restore() }.boxed_local(),
    )];
    Group { start: behind_a_link, causes }
}

fn link<'a>(place: &'a Place<'_>) -> &'a Link {
    place.rig.link.as_ref().expect("a link to cut")
}

fn behind_a_link() -> LocalBoxFuture<'static, Rig> {
    async {
        let world = World::new().await;
        let link = Link::to(&world.cluster).await;
        let cook = || handler::small_cook();
        let operators = world
            .start_over(link.connector(), |builder| builder.register(cook(), recipe::handler()))
            .await;
        let mut rig = Rig::new(world, operators);
        rig.link = Some(link);
        rig
    }
    .boxed_local()
}

// === what the server answers to all ===

/// Behind an API server that refuses whom it does not know, and what is too much.
pub(super) fn refused() -> Group {
    let causes = vec![
        by_others(
            "An API server that limits requests",
            &["ConfigMap", "/c", "limits requests"],
            |place| {
                async {
                    let busy = Rule::new(Fault::busy(2)).resource("configmaps");
                    place.rig.plan.add(busy.namespace(&place.namespace));
                    place.parent(&[config_map("c", json!({}))]).await;
                }
                .boxed_local()
            },
            |place| async { place.rig.plan.heal() }.boxed_local(),
        ),
        by_others(
            "Credentials that have expired",
            &["ConfigMap", "/c", "credentials"],
            |place| {
                async {
                    let unknown = Rule::new(Fault::refuse(401)).resource("configmaps");
                    place.rig.plan.add(unknown.namespace(&place.namespace));
                    place.parent(&[config_map("c", json!({}))]).await;
                }
                .boxed_local()
            },
            |place| async { place.rig.plan.heal() }.boxed_local(),
        ),
    ];
    Group { start: behind_faults, causes }
}

fn behind_faults() -> LocalBoxFuture<'static, Rig> {
    async {
        let world = World::new().await;
        let plan = operetta_apiserver::faults::FaultPlan::new();
        let connector = world.cluster.connector_through(&plan);
        let operators = world
            .start_over(connector, |builder| {
                builder.register(handler::small_cook(), recipe::handler())
            })
            .await;
        let mut rig = Rig::new(world, operators);
        rig.plan = plan;
        rig
    }
    .boxed_local()
}
