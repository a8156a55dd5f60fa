//! Which rules are for which kind: of a new object, and of the successor of another.

use super::{
    admission::{policy, webhook},
    autoscaler, class, config, device, disruption, event,
    field::{Errors, Field},
    flow, immutable, job, lease, limit_range, namespace, network, node, pod, quota, rbac,
    rbac::Scope,
    revision, storage,
    volume::{claim, persistent},
    workload,
};
use crate::builtin::catalog::BuiltinType;

/// Checks a new object. Whether its kind is known here.
pub(super) fn create(ty: &BuiltinType, object: &Field, errors: &mut Errors) -> bool {
    match ty.group {
        "" => core(ty.kind, object, errors),
        "apps" => apps(ty.kind, object, errors),
        "batch" => batch(ty.kind, object, errors),
        "networking.k8s.io" => networking(ty.kind, object, errors),
        "rbac.authorization.k8s.io" => roles(ty.kind, object, errors),
        "storage.k8s.io" => stores(ty.kind, object, errors),
        "admissionregistration.k8s.io" => admission(ty.kind, object, errors),
        "resource.k8s.io" => devices(ty.kind, object, errors),
        _ => others(ty, object, errors),
    }
}

/// Checks the successor of an object. Whether its kind is known here.
pub(super) fn update(ty: &BuiltinType, new: &Field, old: &Field, errors: &mut Errors) -> bool {
    match (ty.group, ty.kind) {
        ("", "ConfigMap") => config::config_map_update(new, old, errors),
        ("", "Secret") => config::secret_update(new, old, errors),
        ("", "Pod") => pod::update(new, old, errors),
        ("", "Service") => network::service::update(new, old, errors),
        ("", "Endpoints") => {
            if new.child("subsets").value() != old.child("subsets").value() {
                core(ty.kind, new, errors);
            }
        }
        ("", "Namespace") => namespace::finalizers(new, errors),
        ("apps", "StatefulSet") => workload::stateful_set::update(new, old, errors),
        ("apps", "DaemonSet") => {
            workload::daemon_set::update(new, old, errors);
            workload::daemon_set::spec(&new.child("spec"), errors);
        }
        ("apps", "ControllerRevision") => revision::update(new, old, errors),
        ("batch", "Job") => job::update(new, old, errors),
        ("batch", "CronJob") => {
            job::cron(&new.child("spec"), Some(&old.child("spec")), errors);
        }
        ("autoscaling", _) => {
            autoscaler::autoscaler(&new.child("spec"), errors);
        }
        ("networking.k8s.io", "IngressClass") => {
            network::ingress_class::update(new, old, errors);
        }
        ("networking.k8s.io", "Ingress") => network::ingress::spec(&new.child("spec"), errors),
        ("networking.k8s.io", "ServiceCIDR") => network::range::ranges_update(new, old, errors),
        ("discovery.k8s.io", "EndpointSlice") => {
            network::endpoint_slice::update(new, old, errors);
        }
        ("scheduling.k8s.io", "PriorityClass") => class::priority_update(new, old, errors),
        ("storage.k8s.io", "CSIDriver") => storage::csi_driver_update(new, old, errors),
        ("storage.k8s.io", "VolumeAttributesClass") => {
            storage::attributes_class_update(new, old, errors);
        }
        ("events.k8s.io", "Event") => event::update(new, old, errors),
        ("resource.k8s.io", "ResourceClaim" | "ResourceClaimTemplate") => {
            if ty.kind == "ResourceClaimTemplate" {
                devices(ty.kind, new, errors);
                let of = "resource.ResourceClaimTemplateSpec";
                immutable::structure(new, old, "spec", of, errors);
            } else {
                immutable::declared(new, old, "spec", errors);
            }
        }
        ("resource.k8s.io", "ResourceSlice") => device::slice::slice(new, Some(old), errors),
        _ => {
            if !create(ty, new, errors) {
                return false;
            }
            change(ty, new, old, errors);
        }
    }
    true
}

/// What is only refused because it changed.
pub(super) fn change(ty: &BuiltinType, new: &Field, old: &Field, errors: &mut Errors) {
    match (ty.group, ty.kind) {
        ("", "Node") => node::update(new, old, errors),
        ("", "PersistentVolume") => {
            // The real server checks the volume once more.
            core(ty.kind, new, errors);
            persistent::update(new, old, errors);
        }
        ("", "PersistentVolumeClaim") => claim::update(new, old, errors),
        ("", "ResourceQuota") => quota::update(new, old, errors),
        ("apps", "Deployment") => workload::deployment::update(new, old, errors),
        ("apps", "ReplicaSet") => workload::replica_set::update(new, old, errors),
        ("networking.k8s.io", "IPAddress") => network::range::address_update(new, old, errors),
        ("node.k8s.io", "RuntimeClass") => immutable::declared(new, old, "handler", errors),
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => {
            rbac::binding_update(new, old, errors);
        }
        ("storage.k8s.io", "CSINode") => storage::csi_node_update(new, old, errors),
        ("storage.k8s.io", "CSIStorageCapacity") => storage::capacity_update(new, old, errors),
        ("storage.k8s.io", "StorageClass") => storage::class_update(new, old, errors),
        ("storage.k8s.io", "VolumeAttachment") => storage::attachment_update(new, old, errors),
        _ => {}
    }
}

fn core(kind: &str, object: &Field, errors: &mut Errors) -> bool {
    let spec = object.child("spec");
    match kind {
        "ConfigMap" => config::config_map(object, errors),
        "Secret" => config::secret(object, errors),
        "Endpoints" => network::endpoints::subsets(&object.child("subsets"), errors),
        "Event" => event::legacy(object, errors),
        "LimitRange" => limit_range::limits(&spec.child("limits"), errors),
        "Namespace" => namespace::finalizers(object, errors),
        "Node" => node::node(object, errors),
        "PersistentVolume" => {
            persistent::spec(&spec, object.child("metadata").string("name").text(), errors);
        }
        "PersistentVolumeClaim" => claim::spec(&spec, errors),
        "Pod" => pod::create(object, errors),
        "PodTemplate" => pod::template(&object.child("template"), errors),
        "ReplicationController" => workload::replication_controller::spec(&spec, errors),
        "ResourceQuota" => quota::spec(&spec, errors),
        "Service" => network::service::service(object, errors),
        "ServiceAccount" => {}
        _ => return false,
    }
    true
}

fn apps(kind: &str, object: &Field, errors: &mut Errors) -> bool {
    let spec = object.child("spec");
    match kind {
        "ControllerRevision" => revision::create(object, errors),
        "DaemonSet" => workload::daemon_set::spec(&spec, errors),
        "Deployment" => workload::deployment::spec(&spec, errors),
        "ReplicaSet" => workload::replica_set::spec(&spec, errors),
        "StatefulSet" => workload::stateful_set::create(&spec, errors),
        _ => return false,
    }
    true
}

fn batch(kind: &str, object: &Field, errors: &mut Errors) -> bool {
    match kind {
        "Job" => job::job(object, errors),
        "CronJob" => {
            job::cron(&object.child("spec"), None, errors);
            let name = object.child("metadata").string("name");
            if name.text().len() > 52 {
                errors.push(name.invalid("must be no more than 52 characters"));
            }
        }
        _ => return false,
    }
    true
}

fn networking(kind: &str, object: &Field, errors: &mut Errors) -> bool {
    let spec = object.child("spec");
    match kind {
        "Ingress" => network::ingress::create(object, errors),
        "IngressClass" => network::ingress_class::spec(&spec, errors),
        "IPAddress" => network::range::address(&spec, errors),
        "NetworkPolicy" => network::policy::spec(&spec, errors),
        "ServiceCIDR" => network::range::ranges(&spec, errors),
        _ => return false,
    }
    true
}

fn roles(kind: &str, object: &Field, errors: &mut Errors) -> bool {
    match kind {
        "Role" => rbac::role(object, Scope::Namespace, errors),
        "ClusterRole" => rbac::role(object, Scope::Cluster, errors),
        "RoleBinding" => rbac::binding(object, Scope::Namespace, errors),
        "ClusterRoleBinding" => rbac::binding(object, Scope::Cluster, errors),
        _ => return false,
    }
    true
}

fn stores(kind: &str, object: &Field, errors: &mut Errors) -> bool {
    let spec = object.child("spec");
    match kind {
        "CSIDriver" => storage::csi_driver(&spec, errors),
        "CSINode" => storage::csi_node(&spec, errors),
        "CSIStorageCapacity" => storage::capacity(object, errors),
        "StorageClass" => storage::class(object, errors),
        "VolumeAttachment" => storage::attachment(object, errors),
        "VolumeAttributesClass" => storage::attributes_class(object, errors),
        _ => return false,
    }
    true
}

fn admission(kind: &str, object: &Field, errors: &mut Errors) -> bool {
    match kind {
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
            webhook::all(object, errors);
        }
        "ValidatingAdmissionPolicy" => policy::validating(object, errors),
        "MutatingAdmissionPolicy" => policy::mutating(object, errors),
        "ValidatingAdmissionPolicyBinding" => policy::binding(object, true, errors),
        "MutatingAdmissionPolicyBinding" => policy::binding(object, false, errors),
        _ => return false,
    }
    true
}

fn devices(kind: &str, object: &Field, errors: &mut Errors) -> bool {
    let spec = object.child("spec");
    match kind {
        "DeviceClass" => device::class(object, errors),
        "ResourceClaim" => device::claim::spec(&spec, errors),
        "ResourceClaimTemplate" => device::claim::template(&spec, errors),
        "ResourceSlice" => device::slice::slice(object, None, errors),
        _ => return false,
    }
    true
}

fn others(ty: &BuiltinType, object: &Field, errors: &mut Errors) -> bool {
    let spec = object.child("spec");
    match (ty.group, ty.kind) {
        ("autoscaling", _) => autoscaler::autoscaler(&spec, errors),
        ("policy", "PodDisruptionBudget") => disruption::budget(&spec, errors),
        ("coordination.k8s.io", "Lease") => lease::spec(&spec, errors),
        ("discovery.k8s.io", "EndpointSlice") => network::endpoint_slice::slice(object, errors),
        ("events.k8s.io", "Event") => event::create(object, errors),
        ("flowcontrol.apiserver.k8s.io", "FlowSchema") => flow::schema(object, errors),
        ("flowcontrol.apiserver.k8s.io", _) => flow::level(object, errors),
        ("node.k8s.io", "RuntimeClass") => class::runtime(object, errors),
        ("scheduling.k8s.io", "PriorityClass") => class::priority(object, errors),
        _ => return false,
    }
    true
}
