//! The handler as a function: from a request made of values to a response.

use k8s_openapi::api::core::v1::{Pod, Service};
use operetta::{
    object::{K8sType, KeptManagers, Object},
    operator::{Children, SyncRequest, SyncResponse},
};
use serde_json::{Value, json};

use super::{EchoServer, config, on_error, sync};

fn object<K>(name: &str, rest: &Value) -> Object
where
    K: kube::Resource<DynamicType = ()>,
    K::Scope: operetta::object::ResourceScope,
{
    let mut value = json!({"metadata": {
        "name": name, "namespace": "default", "uid": name, "resourceVersion": "1",
    }});
    value.as_object_mut().unwrap().extend(rest.as_object().cloned().unwrap());
    Object::from_value(&K8sType::of::<K>(), &value, &KeptManagers::default()).unwrap()
}

fn parent(service_name: &str) -> Object {
    object::<EchoServer>("hello", &json!({"spec": {"serviceName": service_name}}))
}

fn response(pods: Vec<Object>, services: Vec<Object>) -> SyncResponse {
    let children =
        Children::new([(K8sType::of::<Pod>(), pods), (K8sType::of::<Service>(), services)]);
    let request = SyncRequest::new(parent("greeter"), children).typed().unwrap();
    let response = sync(&request).unwrap();
    let status = json!(response.status);
    response.with_status(status)
}

fn pod_with_status(status: &Value) -> Vec<Object> {
    vec![object::<Pod>("hello", &json!({"status": status}))]
}

#[test]
fn the_operator_can_be_registered() {
    assert_eq!(config().validate(), Ok(()));
}

#[test]
fn an_echo_server_is_a_pod_and_a_service_of_its_name() {
    let children = response(vec![], vec![]).children;
    let kinds: Vec<_> =
        children.iter().map(|child| child.object["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["Pod", "Service"]);
    for child in children.iter().map(|child| &child.object) {
        assert_eq!(child["apiVersion"], "v1");
        assert_eq!(child["metadata"]["name"], "hello");
        assert_eq!(child["metadata"]["labels"]["app.kubernetes.io/name"], "greeter");
        assert!(child.get("status").is_none());
    }
}

#[test]
fn the_pod_has_the_service_name_and_small_requests() {
    let pod = &response(vec![], vec![]).children[0].object;
    let container = &pod["spec"]["containers"][0];
    assert_eq!(container["image"], "kennship/http-echo:latest");
    assert_eq!(container["env"], json!([{"name": "SERVICE_NAME", "value": "greeter"}]));
    assert_eq!(container["resources"], json!({"requests": {"cpu": "100m", "memory": "50Mi"}}));
}

#[test]
fn the_service_leads_from_port_80_to_the_pod() {
    let service = &response(vec![], vec![]).children[1].object;
    assert_eq!(service["spec"]["selector"], json!({"app.kubernetes.io/name": "greeter"}));
    let port = json!({"name": "http", "port": 80, "targetPort": 3000});
    assert_eq!(service["spec"]["ports"], json!([port]));
}

#[test]
fn the_status_shows_the_state_of_the_pod() {
    let waiting = "Waiting for Pod to be initialized";
    for (status, phase, message) in [
        (json!({}), "Pending", waiting),
        (json!({"phase": "Pending"}), "Pending", waiting),
        (json!({"phase": "Running"}), "Running", "Pod is running"),
        (json!({"phase": "Failed"}), "Failed", "Pod is in phase Failed"),
        (json!({"phase": "Failed", "message": "no room"}), "Failed", "no room"),
    ] {
        let status = response(pod_with_status(&status), vec![]).status.unwrap();
        assert_eq!(status, json!({"phase": phase, "message": message}));
    }
}

#[test]
fn the_address_is_shown_once_the_service_exists() {
    assert!(response(vec![], vec![]).status.unwrap().get("address").is_none());
    let status = response(vec![], vec![object::<Service>("hello", &json!({}))]).status.unwrap();
    assert_eq!(status["address"], "hello.default.svc:80");
}

#[test]
fn the_children_do_not_depend_on_what_is_observed() {
    let pods = pod_with_status(&json!({"phase": "Running"}));
    assert_eq!(response(pods, vec![]).children, response(vec![], vec![]).children);
}

#[test]
fn a_parent_that_violates_the_schema_is_an_error_that_names_the_field() {
    let parent = object::<EchoServer>("hello", &json!({"spec": {"serviceName": 7}}));
    let request = SyncRequest::new(parent, Children::default());
    let text = request.typed::<EchoServer>().unwrap_err().to_string();
    assert!(text.contains("default/hello") && text.contains("string"), "{text}");
}

#[test]
fn an_error_is_shown_in_the_status_beside_the_address() {
    let services = vec![object::<Service>("hello", &json!({}))];
    let children = Children::new([(K8sType::of::<Service>(), services)]);
    let request = SyncRequest::new(parent("greeter"), children).typed().unwrap();
    let error = anyhow::anyhow!("the backend is down").context("no data");
    let response = on_error(&request, &error);
    let (message, address) = ("no data: the backend is down", "hello.default.svc:80");
    let status = json!({"phase": "Error", "message": message, "address": address});
    assert_eq!((response.status, response.retry), (Some(status), None));
}
