//! The layer before an embedded server, fault by fault.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client,
    api::{ListParams, PostParams},
};
use tower::Layer;

use super::*;
use crate::Server;

fn config_map(name: &str) -> ConfigMap {
    let mut config_map = ConfigMap::default();
    config_map.metadata.name = Some(name.to_owned());
    config_map
}

/// A client with faults, and one without.
fn world(plan: &FaultPlan) -> (Api<ConfigMap>, Api<ConfigMap>) {
    let server = Server::start();
    let faulty = FaultLayer::new(plan).layer(server.service_as("faulty"));
    let faulty = Api::default_namespaced(Client::new(faulty, "default"));
    (faulty, Api::default_namespaced(server.client()))
}

async fn names(api: &Api<ConfigMap>) -> Vec<String> {
    let list = api.list(&ListParams::default()).await.unwrap();
    list.into_iter().filter_map(|config_map| config_map.metadata.name).collect()
}

#[tokio::test]
async fn a_refusal_comes_before_the_write_and_a_lost_reply_after_it() {
    let plan = FaultPlan::new();
    let (faulty, honest) = world(&plan);
    for (fault, is_written) in [
        (Fault::refuse(403), false),
        (Fault::refuse(502), false),
        (Fault::busy(7), false),
        (Fault::LoseReply, true),
        (Fault::CutReply, true),
        (Fault::GarbleReply, true),
    ] {
        let what = format!("{fault:?}");
        let rule = plan.add(Rule::new(fault).verb("create").resource("configmaps"));
        let error = faulty.create(&PostParams::default(), &config_map("a")).await.unwrap_err();
        assert_eq!(rule.hits(), 1, "{what}: {error}");
        rule.end();
        assert_eq!(names(&honest).await.len(), usize::from(is_written), "{what}: {error}");
        if is_written {
            honest.delete("a", &kube::api::DeleteParams::default()).await.unwrap();
        }
    }
    assert_eq!(plan.injected().len(), 6);
}

#[tokio::test]
async fn a_refusal_is_a_status_that_clients_understand() {
    let plan = FaultPlan::new();
    let (faulty, _) = world(&plan);
    for (code, reason) in [
        (401, "Unauthorized"),
        (403, "Forbidden"),
        (404, "NotFound"),
        (409, "Conflict"),
        (410, "Expired"),
        (413, "RequestEntityTooLarge"),
        (422, "Invalid"),
        (429, "TooManyRequests"),
        (500, "InternalError"),
        (503, "ServiceUnavailable"),
        (504, "Timeout"),
    ] {
        let rule = plan.add(Rule::new(Fault::refuse(code)).verb("get").name("a"));
        match faulty.get("a").await.unwrap_err() {
            kube::Error::Api(status) => {
                assert_eq!((status.code, status.reason.as_str()), (code, reason));
            }
            other => panic!("{other:?}"),
        }
        rule.end();
    }
}

#[tokio::test]
async fn a_rule_strikes_the_selected_requests_as_often_as_configured() {
    let plan = FaultPlan::new();
    let (faulty, _) = world(&plan);
    let rule = plan.add(Rule::new(Fault::refuse(500)).verb("get").name("a").from_nth(2).times(2));
    let mut failed = Vec::new();
    for _ in 0..5 {
        assert!(faulty.get_opt("b").await.is_ok(), "another name");
        failed.push(faulty.get_opt("a").await.is_err());
    }
    assert_eq!(failed, [false, true, true, false, false]);
    assert_eq!(rule.hits(), 2);
    assert_eq!(plan.decisions().len(), 10);
}

#[tokio::test]
async fn decisions_depend_on_the_seed_and_not_on_the_order_of_other_requests() {
    let struck = async |seed: u64, noise: bool| {
        let plan = FaultPlan::seeded(seed);
        let (faulty, _) = world(&plan);
        plan.add(Rule::new(Fault::refuse(500)).verb("get").probability(0.5));
        let mut struck = Vec::new();
        for _ in 0..32 {
            if noise {
                let _ = faulty.get_opt("noise").await;
            }
            struck.push(faulty.get_opt("a").await.is_err());
        }
        struck
    };
    let first = struck(7, false).await;
    assert_eq!(first, struck(7, true).await);
    assert_ne!(first, struck(8, false).await);
    assert!(first.contains(&true) && first.contains(&false));
}

#[tokio::test]
async fn a_held_request_continues_when_it_is_released() {
    let plan = FaultPlan::new();
    let (faulty, honest) = world(&plan);
    for (fault, is_written_before) in [(Fault::HoldRequest, false), (Fault::HoldReply, true)] {
        let held = plan.add(Rule::new(fault).verb("create"));
        let api = faulty.clone();
        let creating =
            tokio::spawn(async move { api.create(&PostParams::default(), &config_map("a")).await });
        held.until_hits(1).await;
        assert!(!creating.is_finished());
        assert_eq!(names(&honest).await.len(), usize::from(is_written_before));
        held.end();
        creating.await.unwrap().unwrap();
        honest.delete("a", &kube::api::DeleteParams::default()).await.unwrap();
    }
}

#[tokio::test]
async fn objects_are_rewritten_in_lists_by_name_and_in_requests() {
    let plan = FaultPlan::new();
    let (faulty, honest) = world(&plan);
    plan.add(
        Rule::new(Fault::rewrite_request(|body| body["data"] = serde_json::json!({"k": "v"})))
            .verb("create")
            .times(1),
    );
    for name in ["a", "b"] {
        faulty.create(&PostParams::default(), &config_map(name)).await.unwrap();
    }
    assert_eq!(honest.get("a").await.unwrap().data.unwrap()["k"], "v");
    assert_eq!(honest.get("b").await.unwrap().data, None);
    plan.add(
        Rule::new(Fault::rewrite_objects(|object| object["metadata"]["name"] = "x".into()))
            .name("b"),
    );
    assert_eq!(names(&faulty).await, ["a", "x"]);
}

#[tokio::test]
async fn a_stale_list_is_the_one_before() {
    let plan = FaultPlan::new();
    plan.remember_lists();
    let (faulty, honest) = world(&plan);
    assert!(names(&faulty).await.is_empty());
    honest.create(&PostParams::default(), &config_map("a")).await.unwrap();
    plan.add(Rule::new(Fault::StaleList).verb("list").times(1));
    assert!(names(&faulty).await.is_empty());
    assert_eq!(names(&faulty).await, ["a"]);
}

mod watching;
