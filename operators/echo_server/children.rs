//! The children of an `EchoServer`: a Pod and its Service.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::core::v1::{
        Container, ContainerPort, EnvVar, Pod, PodSpec, ResourceRequirements, Service, ServicePort,
        ServiceSpec,
    },
    apimachinery::pkg::{api::resource::Quantity, util::intstr::IntOrString},
};
use kube::api::ObjectMeta;

use super::EchoServer;

/// The port of the Service.
pub(super) const SERVICE_PORT: i32 = 80;
/// The port of the container.
const CONTAINER_PORT: i32 = 3000;

/// The Pod that responds.
pub(super) fn pod(parent: &EchoServer) -> Pod {
    let container = Container {
        name: "echo-server".to_owned(),
        image: Some("kennship/http-echo:latest".to_owned()),
        env: Some(vec![EnvVar {
            name: "SERVICE_NAME".to_owned(),
            value: Some(parent.spec.service_name.clone()),
            ..EnvVar::default()
        }]),
        ports: Some(vec![ContainerPort {
            container_port: CONTAINER_PORT,
            name: Some("http".to_owned()),
            ..ContainerPort::default()
        }]),
        resources: Some(ResourceRequirements {
            requests: Some(quantities([("cpu", "100m"), ("memory", "50Mi")])),
            ..ResourceRequirements::default()
        }),
        ..Container::default()
    };
    Pod {
        metadata: metadata(parent),
        spec: Some(PodSpec { containers: vec![container], ..PodSpec::default() }),
        status: None,
    }
}

/// The Service of the Pod.
pub(super) fn service(parent: &EchoServer) -> Service {
    let port = ServicePort {
        name: Some("http".to_owned()),
        port: SERVICE_PORT,
        target_port: Some(IntOrString::Int(CONTAINER_PORT)),
        ..ServicePort::default()
    };
    Service {
        metadata: metadata(parent),
        spec: Some(ServiceSpec {
            type_: Some("ClusterIP".to_owned()),
            selector: Some(labels(parent)),
            ports: Some(vec![port]),
            ..ServiceSpec::default()
        }),
        status: None,
    }
}

/// Both children have the name of their parent; the namespace defaults to that of the parent.
fn metadata(parent: &EchoServer) -> ObjectMeta {
    ObjectMeta {
        name: parent.metadata.name.clone(),
        labels: Some(labels(parent)),
        ..ObjectMeta::default()
    }
}

fn labels(parent: &EchoServer) -> BTreeMap<String, String> {
    [("app.kubernetes.io/name".to_owned(), parent.spec.service_name.clone())].into()
}

fn quantities<const N: usize>(entries: [(&str, &str); N]) -> BTreeMap<String, Quantity> {
    let quantity = |(name, amount): (&str, &str)| (name.to_owned(), Quantity(amount.to_owned()));
    entries.map(quantity).into()
}
