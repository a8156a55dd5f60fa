//! What Services are given and refused.

use serde_json::{Value, json};

use super::*;

fn asked(dry_run: bool) -> Asked<'static> {
    Asked { live: None, dry_run, ranges: &[] }
}

fn service(ty: &str, ports: &Value) -> Value {
    json!({ "metadata": { "name": "s" }, "spec": { "type": ty, "ports": ports } })
}

fn given(addresses: &Addresses, service: &mut Value, asked: Asked<'_>) -> Result<(), String> {
    match addresses.reserve(service, asked) {
        Ok(reservation) => {
            reservation.keep();
            Ok(())
        }
        Err(Refusal::Invalid(error)) => Err(format!("{}: {}", error.path, error.message())),
        Err(Refusal::Internal(why) | Refusal::Twice(why)) => Err(why),
    }
}

fn nodes(service: &Value) -> Vec<i64> {
    builtin::node_ports(service)
}

#[test]
fn ports_of_one_number_share_their_node_port() {
    let addresses = Addresses::default();
    let ports = json!([
        { "port": 53, "protocol": "UDP" },
        { "port": 53, "protocol": "TCP" },
        { "port": 80 },
        { "port": 81 },
        { "port": 81, "nodePort": 30_000 },
    ]);
    let mut dns = service("NodePort", &ports);
    given(&addresses, &mut dns, asked(false)).unwrap();
    let [udp, tcp, http, shared, named] = nodes(&dns)[..] else { panic!("{dns}") };
    assert_eq!((udp, shared), (tcp, named));
    assert_ne!(udp, http);
    assert_eq!(named, 30_000);
}

#[test]
fn what_is_not_free_or_not_there_is_refused() {
    let addresses = Addresses::default();
    let mut first = service("NodePort", &json!([{ "port": 1, "nodePort": 30_100 }]));
    first["spec"]["clusterIP"] = json!("10.0.0.10");
    first["spec"]["clusterIPs"] = json!(["10.0.0.10"]);
    given(&addresses, &mut first, asked(false)).unwrap();
    let invalid = "Invalid value";
    let port = |number: i64| service("NodePort", &json!([{ "port": 1, "nodePort": number }]));
    let at = |address: &str| {
        let mut service = service("ClusterIP", &json!([{ "port": 1 }]));
        service["spec"]["clusterIP"] = json!(address);
        service["spec"]["clusterIPs"] = json!([address]);
        service
    };
    let balanced = |port: i64| {
        let mut service = service("LoadBalancer", &json!([{ "port": 1 }]));
        service["spec"]["externalTrafficPolicy"] = json!("Local");
        service["spec"]["healthCheckNodePort"] = json!(port);
        service
    };
    let range = "provided port is not in the valid range. The range of valid ports is 30000-32767";
    let cases = [
        (port(99), format!("spec.ports[0].nodePort: {invalid}: 99: {range}")),
        (port(30_100), format!("spec.ports[0].nodePort: {invalid}: 30100: provided port is already allocated")),
        (
            at("10.0.0.10"),
            format!("spec.clusterIPs: {invalid}: [\"10.0.0.10\"]: failed to allocate IP 10.0.0.10: provided IP is already allocated"),
        ),
        (
            at("10.1.0.10"),
            format!("spec.clusterIPs: {invalid}: [\"10.1.0.10\"]: failed to allocate IP 10.1.0.10: the provided network does not match the current range"),
        ),
        (balanced(99), format!("failed to allocate requested HealthCheck NodePort 99: {range}")),
        (
            balanced(30_100),
            "failed to allocate requested HealthCheck NodePort 30100: provided port is already allocated".to_owned(),
        ),
    ];
    for (mut service, why) in cases {
        assert_eq!(given(&addresses, &mut service, asked(false)), Err(why));
    }
    // Nothing of what came before a refusal is left.
    let taken = addresses.lock();
    assert_eq!((taken.addresses.len(), taken.ports.len()), (1, 1));
}

#[test]
fn a_dry_run_occupies_nothing() {
    let addresses = Addresses::default();
    let mut shown = service("LoadBalancer", &json!([{ "port": 1 }, { "port": 2 }]));
    shown["spec"]["externalTrafficPolicy"] = json!("Local");
    given(&addresses, &mut shown, asked(true)).unwrap();
    assert_eq!(shown["spec"]["clusterIP"], "10.0.0.0");
    assert_eq!(nodes(&shown), [32_769, 32_770]);
    assert_eq!(shown["spec"]["healthCheckNodePort"], 32_771);
    let mut far = service("NodePort", &json!([{ "port": 1, "nodePort": 99 }]));
    assert_eq!(given(&addresses, &mut far, asked(true)), Ok(()));
    assert!(addresses.lock().ports.is_empty());
}

#[test]
fn a_change_of_type_takes_and_releases() {
    let addresses = Addresses::default();
    let mut before = service("LoadBalancer", &json!([{ "port": 1, "protocol": "TCP" }]));
    before["spec"]["externalTrafficPolicy"] = json!("Local");
    given(&addresses, &mut before, asked(false)).unwrap();
    assert_eq!(addresses.lock().ports.len(), 2);
    let mut after = before.clone();
    after["spec"]["type"] = json!("ClusterIP");
    for field in ["externalTrafficPolicy", "healthCheckNodePort"] {
        after["spec"].as_object_mut().unwrap().remove(field);
    }
    after["spec"]["ports"][0].as_object_mut().unwrap().remove("nodePort");
    let change = Asked { live: Some(&before), ..asked(false) };
    given(&addresses, &mut after, change).unwrap();
    addresses.release(&before, Some(&after));
    assert!(addresses.lock().ports.is_empty());
    assert_eq!(addresses.lock().addresses.len(), 1);
    let mut twice = after.clone();
    twice["spec"]["type"] = json!("NodePort");
    let port = json!({ "port": 1, "protocol": "TCP", "nodePort": 30_001 });
    twice["spec"]["ports"] = json!([port, port]);
    let change = Asked { live: Some(&after), ..asked(false) };
    assert_eq!(
        given(&addresses, &mut twice, change),
        Err("duplicate nodePort: {TCP 30001}".to_owned())
    );
    assert!(addresses.lock().ports.is_empty());
}
