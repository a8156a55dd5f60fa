//! The map of a database, down to its Pods and claims.

use super::*;

#[operetta_harness::test]
async fn the_map_of_a_parent_goes_down_to_the_claims_of_its_pods() {
    let tenant = Tenant::start().await;
    tenant.create(highly_available()).await;
    let ns = tenant.world.namespace.clone();
    let (code, map) =
        tenant.operators.http(&format!("/api/v1/operators/database/map/{ns}/main")).await;
    assert_eq!(code, 200, "{map}");
    let map: Value = serde_json::from_str(&map).unwrap();
    let edges = map["edges"].as_array().unwrap();
    let is_drawn = |from: &str, relation: &str, to: &str| {
        edges.iter().any(|it| it["from"] == from && it["to"] == to && it["relation"] == relation)
    };
    let set = format!("statefulsets.apps/{ns}/main");
    for replica in ["main-0", "main-1", "main-2"] {
        let (pod, claim) =
            (format!("pods/{ns}/{replica}"), format!("persistentvolumeclaims/{ns}/data-{replica}"));
        // The claims are children themselves: they outlive the set.
        assert!(
            is_drawn(&set, "owns", &pod) && is_drawn(&pod, "mounts", &claim),
            "{replica}: {map:#}"
        );
        let nodes = map["nodes"].as_array().unwrap();
        let node = nodes.iter().find(|it| it["id"] == *pod).unwrap();
        assert_eq!((&node["state"], &node["role"]), (&json!("Ready"), &json!("dependant")));
        let log = format!("kubectl logs {replica} -c postgres -n {ns}");
        assert!(node["logs"].as_array().unwrap().contains(&json!(log)), "{node}");
    }
    assert_eq!(map["errors"], Value::Null);

    let set = set.replace('/', "%2F");
    let path = format!("/api/v1/operators/database/map/{ns}/main?owners={set}");
    let (_, map) = tenant.operators.http(&path).await;
    let map: Value = serde_json::from_str(&map).unwrap();
    let owners = map["owners"].as_array().unwrap();
    let own = owners.iter().find(|it| it["manager"] == "database").unwrap();
    assert!(own["fields"].as_array().unwrap().contains(&json!(".spec.serviceName")), "{own:#}");

    let page = format!("/ui/operators/database/map/{ns}/main?diff=true&at={set}");
    let (code, page) = tenant.operators.http(&page).await;
    assert_eq!(code, 200, "{page}");
    for shown in [
        "<strong>database</strong> <span class=\"quiet\">Apply,",
        "<code>.spec.template.spec.containers[name=postgres].image</code>",
        "A reconcile would not change it.",
        "postgres",
    ] {
        assert!(page.contains(shown), "no `{shown}` in {page}");
    }
    let pod = format!("/ui/operators/database/map/{ns}/main?at=pods%2F{ns}%2Fmain-0");
    let (_, page) = tenant.operators.http(&pod).await;
    assert!(page.contains(&format!("kubectl logs main-0 -c postgres -n {ns}")), "{page}");
    tenant.operators.stop().await;
}
