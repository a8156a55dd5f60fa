//! The types as JSON, and what the framework knows of them.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::Resource;

use super::*;

fn read<T: serde::de::DeserializeOwned>(value: Value) -> serde_json::Result<T> {
    serde_json::from_value(value)
}

#[operetta_harness::test]
fn the_types_have_the_names_and_the_scope_of_their_definitions() {
    let of = |kind: Kind| K8sType::namespaced(kind.0, kind.1, kind.2);
    assert_eq!(K8sType::of::<Certificate>(), of(CERTIFICATE));
    assert_eq!(K8sType::of::<HTTPRoute>(), of(ROUTE));
    assert_eq!(K8sType::of::<ServiceMonitor>(), of(MONITOR));
    // Its storage version is not served.
    let level = K8sType::cluster_scoped("test.operetta.dev/v1", "Level", "levels");
    assert_eq!(K8sType::of::<Level>(), level);
    assert_eq!(beta::HTTPRoute::api_version(&()), "test.operetta.dev/v1beta1");
    let spec = beta::HTTPRouteSpec { hostname: Some("a".to_owned()) };
    assert_eq!(beta::HTTPRoute::new("r", spec.clone()).spec, Some(spec));
}

#[operetta_harness::test]
fn an_object_is_written_with_its_type_and_without_what_is_absent() {
    let spec = json!({
        "secretName": "a-tls", "dnsNames": ["shop.example.dev"], "usages": ["digital signature"],
        "privateKey": {"algorithm": "ECDSA"}, "issuerRef": {"name": "ca"},
    });
    let expected = json!({
        "apiVersion": CERTIFICATE.0, "kind": CERTIFICATE.1, "metadata": {"name": "a"}, "spec": spec,
    });
    let certificate = certificate("a");
    assert_eq!(serde_json::to_value(&certificate).unwrap(), expected);
    assert_eq!(read::<Certificate>(expected).unwrap(), certificate);
}

#[operetta_harness::test]
fn a_value_that_the_schema_does_not_have_is_read_and_written_back() {
    let key = json!({"algorithm": "Ed25519", "size": 1});
    let read: CertificateSpecPrivateKey = read(key.clone()).unwrap();
    let other = CertificateSpecPrivateKeyAlgorithm::Other("Ed25519".to_owned());
    assert_eq!(read.algorithm, Some(other));
    assert_eq!(serde_json::to_value(&read).unwrap(), key);
    let default = serde_json::to_value(CertificateSpecPrivateKeyAlgorithm::default()).unwrap();
    assert_eq!(default, "", "a server refuses it");
}

#[operetta_harness::test]
fn an_absent_field_has_its_default_and_a_field_of_another_type_is_an_error() {
    let spec = |issuer: Value| json!({"apiVersion": CERTIFICATE.0, "spec": {"issuerRef": issuer}});
    let read_spec = |issuer: Value| read::<Certificate>(spec(issuer)).map(|it| it.spec);
    assert_eq!(read_spec(json!({})).unwrap(), CertificateSpec::default());
    assert!(read_spec(json!({"name": 1})).is_err());
    assert_eq!(read::<Certificate>(json!({})).unwrap(), Certificate::default());
}

/// All of its fields might be absent.
#[operetta_harness::test]
fn an_object_of_another_type_is_an_error() {
    for other in [
        json!({"apiVersion": "v1", "kind": "Certificate"}),
        json!({"apiVersion": CERTIFICATE.0, "kind": "Issuer"}),
    ] {
        let error = read::<Certificate>(other).unwrap_err().to_string();
        assert_eq!(error, "the object is no Certificate of test.operetta.dev/v1");
    }
}

#[operetta_harness::test]
fn what_a_schema_does_not_name_is_kept_where_the_server_keeps_it() {
    let endpoint = json!({
        "targetPort": "web", "sampleRatio": 0.5, "params": {"a": ["b"]}, "relabelings": [{"action": "keep"}],
    });
    let spec = json!({"selector": {}, "endpoints": [endpoint], "extra": {"a": [1]}});
    let spec_read: ServiceMonitorSpec = read(spec.clone()).unwrap();
    let first = &spec_read.endpoints[0];
    assert_eq!(first.target_port, Some(IntOrString::String("web".to_owned())));
    assert_eq!(first.sample_ratio, Some(0.5));
    assert_eq!(first.other_fields["relabelings"], json!([{"action": "keep"}]));
    assert_eq!(spec_read.extra, Some(json!({"a": [1]})));
    assert_eq!(serde_json::to_value(&spec_read).unwrap(), spec);
    let with_null: ServiceMonitorSpecEndpoints = read(json!({"proxy": null})).unwrap();
    assert_eq!(with_null, ServiceMonitorSpecEndpoints::default());
}

#[operetta_harness::test]
fn a_resource_without_a_spec_has_the_fields_of_its_schema() {
    let json = json!({
        "apiVersion": "test.operetta.dev/v1", "kind": "Level", "metadata": {"name": "a"},
        "data": {"a": "b"}, "self": "me", "type": "high",
    });
    let level: Level = read(json.clone()).unwrap();
    assert_eq!(level.data, Some([("a".to_owned(), "b".to_owned())].into()));
    assert_eq!((level.self_.as_deref(), level.r#type.as_deref()), (Some("me"), Some("high")));
    assert_eq!(serde_json::to_value(&level).unwrap(), json);
}
