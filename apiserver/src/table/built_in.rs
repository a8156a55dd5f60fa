//! The columns of built-in types: those of the real server for the most used types, name and age for the
//! others.

use jiff::Timestamp;
use serde_json::Value;

use super::{cells, workload_cells as workload};

/// Heading, type, priority (above zero: `-o wide` only), and the way to the cell.
pub(super) type BuiltInColumn = (&'static str, &'static str, i64, fn(&Value, Timestamp) -> Value);

const NAME: BuiltInColumn = ("Name", "string", 0, |o, _| o["metadata"]["name"].clone());
const AGE: BuiltInColumn = ("Age", "string", 0, cells::created);
const CONTAINERS: BuiltInColumn = ("Containers", "string", 1, workload::containers);
const IMAGES: BuiltInColumn = ("Images", "string", 1, workload::images);
const SELECTOR: BuiltInColumn = ("Selector", "string", 1, workload::selector);

/// The columns of a type.
pub(super) fn columns(group: &str, plural: &str) -> &'static [BuiltInColumn] {
    match group {
        "" => core(plural),
        "apps" => apps(plural),
        "batch" => batch(plural),
        "rbac.authorization.k8s.io" => rbac(plural),
        "apiextensions.k8s.io" => {
            &[NAME, ("Created At", "date", 0, |o, _| o["metadata"]["creationTimestamp"].clone())]
        }
        _ => other(group, plural),
    }
}

fn core(plural: &str) -> &'static [BuiltInColumn] {
    match plural {
        "pods" => &[
            NAME,
            ("Ready", "string", 0, workload::ready_containers),
            ("Status", "string", 0, workload::pod_status),
            ("Restarts", "string", 0, workload::restarts),
            AGE,
            ("IP", "string", 1, |o, _| cells::or_none(&o["status"]["podIP"])),
            ("Node", "string", 1, |o, _| cells::or_none(&o["spec"]["nodeName"])),
            ("Nominated Node", "string", 1, |o, _| {
                cells::or_none(&o["status"]["nominatedNodeName"])
            }),
            ("Readiness Gates", "string", 1, workload::readiness_gates),
        ],
        "services" => &[
            NAME,
            ("Type", "string", 0, |o, _| o["spec"]["type"].clone()),
            ("Cluster-IP", "string", 0, |o, _| cells::or_none(&o["spec"]["clusterIP"])),
            ("External-IP", "string", 0, cells::external_address),
            ("Port(s)", "string", 0, cells::ports),
            AGE,
            ("Selector", "string", 1, |o, _| cells::labels(&o["spec"]["selector"])),
        ],
        "namespaces" => &[NAME, ("Status", "string", 0, |o, _| o["status"]["phase"].clone()), AGE],
        "configmaps" => &[NAME, ("Data", "string", 0, cells::data), AGE],
        "secrets" => &[
            NAME,
            ("Type", "string", 0, |o, _| o["type"].clone()),
            ("Data", "string", 0, cells::data),
            AGE,
        ],
        "persistentvolumeclaims" => &[
            NAME,
            ("Status", "string", 0, cells::phase),
            ("Volume", "string", 0, |o, _| cells::or_empty(&o["spec"]["volumeName"])),
            ("Capacity", "string", 0, |o, _| cells::or_empty(&o["status"]["capacity"]["storage"])),
            ("Access Modes", "string", 0, cells::access_modes),
            ("StorageClass", "string", 0, |o, _| cells::or_empty(&o["spec"]["storageClassName"])),
            ("VolumeAttributesClass", "string", 0, |o, _| {
                cells::or_unset(&o["spec"]["volumeAttributesClassName"])
            }),
            AGE,
            ("VolumeMode", "string", 1, |o, _| cells::or_unset(&o["spec"]["volumeMode"])),
        ],
        "events" => &[
            ("Last Seen", "string", 0, cells::last_seen),
            ("Type", "string", 0, |o, _| o["type"].clone()),
            ("Reason", "string", 0, |o, _| o["reason"].clone()),
            ("Object", "string", 0, cells::involved),
            ("Message", "string", 0, |o, _| o["message"].clone()),
            ("Name", "string", 1, |o, _| o["metadata"]["name"].clone()),
        ],
        _ => &[NAME, AGE],
    }
}

fn apps(plural: &str) -> &'static [BuiltInColumn] {
    match plural {
        "deployments" => &[
            NAME,
            ("Ready", "string", 0, workload::ready_replicas),
            ("Up-to-date", "string", 0, |o, _| cells::number(&o["status"]["updatedReplicas"])),
            ("Available", "string", 0, |o, _| cells::number(&o["status"]["availableReplicas"])),
            AGE,
            CONTAINERS,
            IMAGES,
            SELECTOR,
        ],
        "statefulsets" => {
            &[NAME, ("Ready", "string", 0, workload::ready_replicas), AGE, CONTAINERS, IMAGES]
        }
        "replicasets" => &[
            NAME,
            ("Desired", "integer", 0, |o, _| cells::number(&o["spec"]["replicas"])),
            ("Current", "integer", 0, |o, _| cells::number(&o["status"]["replicas"])),
            ("Ready", "integer", 0, |o, _| cells::number(&o["status"]["readyReplicas"])),
            AGE,
            CONTAINERS,
            IMAGES,
            SELECTOR,
        ],
        "daemonsets" => &[
            NAME,
            ("Desired", "integer", 0, |o, _| cells::number(&o["status"]["desiredNumberScheduled"])),
            ("Current", "integer", 0, |o, _| cells::number(&o["status"]["currentNumberScheduled"])),
            ("Ready", "integer", 0, |o, _| cells::number(&o["status"]["numberReady"])),
            ("Up-to-date", "integer", 0, |o, _| {
                cells::number(&o["status"]["updatedNumberScheduled"])
            }),
            ("Available", "integer", 0, |o, _| cells::number(&o["status"]["numberAvailable"])),
            ("Node Selector", "string", 0, |o, _| {
                cells::labels(&o["spec"]["template"]["spec"]["nodeSelector"])
            }),
            AGE,
            CONTAINERS,
            IMAGES,
            SELECTOR,
        ],
        _ => &[NAME, AGE],
    }
}

fn batch(plural: &str) -> &'static [BuiltInColumn] {
    match plural {
        "jobs" => &[
            NAME,
            ("Status", "string", 0, workload::job_status),
            ("Completions", "string", 0, workload::completions),
            ("Duration", "string", 0, workload::job_duration),
            AGE,
            CONTAINERS,
            IMAGES,
            SELECTOR,
        ],
        "cronjobs" => &[
            NAME,
            ("Schedule", "string", 0, |o, _| o["spec"]["schedule"].clone()),
            ("Timezone", "string", 0, |o, _| cells::or_none(&o["spec"]["timeZone"])),
            ("Suspend", "boolean", 0, |o, _| cells::truth(&o["spec"]["suspend"])),
            ("Active", "integer", 0, |o, _| cells::count(&o["status"]["active"])),
            ("Last Schedule", "string", 0, |o, now| {
                cells::since_or_none(&o["status"]["lastScheduleTime"], now)
            }),
            AGE,
        ],
        _ => &[NAME, AGE],
    }
}

fn rbac(plural: &str) -> &'static [BuiltInColumn] {
    match plural {
        "rolebindings" | "clusterrolebindings" => {
            &[NAME, ("Role", "string", 0, cells::bound_role), AGE]
        }
        _ => &[NAME, ("Created At", "date", 0, |o, _| o["metadata"]["creationTimestamp"].clone())],
    }
}

fn other(group: &str, plural: &str) -> &'static [BuiltInColumn] {
    match (group, plural) {
        ("networking.k8s.io", "ingresses") => &[
            NAME,
            ("Class", "string", 0, |o, _| cells::or_none(&o["spec"]["ingressClassName"])),
            ("Hosts", "string", 0, cells::hosts),
            ("Address", "string", 0, cells::ingress_address),
            ("Ports", "string", 0, cells::ingress_ports),
            AGE,
        ],
        ("networking.k8s.io", "networkpolicies") => &[
            NAME,
            ("Pod-Selector", "string", 0, |o, _| {
                cells::labels(&o["spec"]["podSelector"]["matchLabels"])
            }),
            AGE,
        ],
        ("policy", "poddisruptionbudgets") => &[
            NAME,
            ("Min Available", "string", 0, |o, _| cells::or_not(&o["spec"]["minAvailable"])),
            ("Max Unavailable", "string", 0, |o, _| cells::or_not(&o["spec"]["maxUnavailable"])),
            ("Allowed Disruptions", "integer", 0, |o, _| {
                cells::number(&o["status"]["disruptionsAllowed"])
            }),
            AGE,
        ],
        ("coordination.k8s.io", "leases") => &[
            NAME,
            ("Holder", "string", 0, |o, _| cells::or_empty(&o["spec"]["holderIdentity"])),
            AGE,
        ],
        _ => &[NAME, AGE],
    }
}
