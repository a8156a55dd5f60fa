//! The status of an `EchoServer`, from the status of its children.

use k8s_openapi::api::core::v1::{Pod, Service};

use super::{EchoServerStatus, children::SERVICE_PORT};

/// The status for the observed children.
pub(super) fn status(pod: Option<&Pod>, service: Option<&Service>) -> EchoServerStatus {
    let phase = phase(pod);
    EchoServerStatus {
        message: Some(message(pod, phase)),
        phase: Some(phase.to_owned()),
        address: service.and_then(address),
        ..EchoServerStatus::default()
    }
}

/// The status after an error.
pub(super) fn failed(error: &anyhow::Error, service: Option<&Service>) -> EchoServerStatus {
    EchoServerStatus {
        message: Some(format!("{error:#}")),
        phase: Some("Error".to_owned()),
        address: service.and_then(address),
        ..EchoServerStatus::default()
    }
}

fn phase(pod: Option<&Pod>) -> &str {
    let phase = pod.and_then(|pod| pod.status.as_ref()?.phase.as_deref());
    phase.unwrap_or("Pending")
}

/// The Pod's own message where it has one.
fn message(pod: Option<&Pod>, phase: &str) -> String {
    let own = pod.and_then(|pod| pod.status.as_ref()?.message.clone());
    own.filter(|message| !message.is_empty()).unwrap_or_else(|| match phase {
        "Pending" => "Waiting for Pod to be initialized".to_owned(),
        "Running" => "Pod is running".to_owned(),
        other => format!("Pod is in phase {other}"),
    })
}

fn address(service: &Service) -> Option<String> {
    let name = service.metadata.name.as_deref()?;
    let namespace = service.metadata.namespace.as_deref()?;
    Some(format!("{name}.{namespace}.svc:{SERVICE_PORT}"))
}
