//! What runs: the Pods with the data, the copies for reading, and how many of them there are.

use serde_json::{Value, json};

use super::{
    names::{self, PORT, Part},
    pod::{self, command, container, variable, with_variables},
    storage,
};
use crate::database::crd::{Database, ReadReplicas};

/// Log that the primary keeps for copies that were away for a while.
const SETTINGS: [&str; 2] = ["-c", "wal_keep_size=256MB"];
/// How long a server may take to write what is in memory, in seconds.
const GRACE: i32 = 120;

/// The Pods with the data. The first one is the primary, the others are copies. The template is the same
/// with one replica and with several, so that a change of their number restarts no Pod.
pub(in crate::database) fn set(database: &Database) -> Value {
    let mut set = stateful_set(database, &names::primary(database), Part::Data, &[]);
    set["spec"]["replicas"] = json!(database.spec.replicas);
    set["spec"]["volumeClaimTemplates"] = json!([storage::template(&database.spec.storage)]);
    // The claims are children of their own.
    set["spec"]["persistentVolumeClaimRetentionPolicy"] =
        json!({"whenDeleted": "Retain", "whenScaled": "Retain"});
    set
}

/// The copies for reading. Their number is that of the autoscaler, and their volumes go with them.
pub(in crate::database) fn read_replicas(database: &Database) -> Value {
    let template = json!({"spec": storage::spec(&database.spec.storage)});
    let data = json!({"name": storage::DATA, "ephemeral": {"volumeClaimTemplate": template}});
    let mut set =
        stateful_set(database, &names::read_replicas(database), Part::ReadReplica, &[data]);
    // Each only needs the primary.
    set["spec"]["podManagementPolicy"] = json!("Parallel");
    set
}

/// How many copies for reading there are.
pub(in crate::database) fn autoscaler(database: &Database, replicas: &ReadReplicas) -> Value {
    let name = names::read_replicas(database);
    let target = json!({"type": "Utilization", "averageUtilization": replicas.target_cpu});
    json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": names::metadata(database, &name),
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": name},
            "minReplicas": replicas.min, "maxReplicas": replicas.max,
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
        },
    })
}

/// How many Pods with data may be evicted at once. With a single one nothing could ever be evicted, or
/// nothing would be protected, so there is none then.
pub(in crate::database) fn disruption_budget(database: &Database) -> Option<Value> {
    (database.spec.replicas > 1).then(|| {
        json!({
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": names::metadata(database, &names::primary(database)),
            "spec": {
                "maxUnavailable": 1,
                "selector": {"matchLabels": names::selector(database, Part::Data)},
            },
        })
    })
}

fn stateful_set(database: &Database, name: &str, part: Part, volumes: &[Value]) -> Value {
    let selector = names::selector(database, part);
    json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": names::metadata(database, name),
        "spec": {
            "serviceName": names::pods(database),
            "selector": {"matchLabels": selector},
            "updateStrategy": {"type": "RollingUpdate"},
            "template": server(database, part, volumes),
        },
    })
}

/// A Pod with a server. A server that is busy or recovers is not ready, and is not killed for it: there is
/// no liveness probe.
fn server(database: &Database, part: Part, volumes: &[Value]) -> Value {
    let data = [(storage::DATA, "/data")];
    let clone = container(database, "clone", &data, json!({"command": command("clone.sh")}));
    let host = variable("PGHOST", &names::primary_pod(database));
    let initialise = [(storage::DATA, "/data"), ("init", "/docker-entrypoint-initdb.d")];
    let postgres = container(
        database,
        "postgres",
        &initialise,
        json!({
            "args": SETTINGS,
            "ports": [{"name": "postgresql", "containerPort": PORT}],
            // Over TCP, which the server does not listen to while the image makes the database.
            "readinessProbe": {
                "exec": {"command": ["pg_isready", "--quiet", "--host", "127.0.0.1"]},
                "periodSeconds": 5,
            },
        }),
    );
    let init = json!({"name": "init", "configMap": {
        "name": names::config(database), "defaultMode": 0o555, "items": [{"key": "init.sh", "path": "init.sh"}]}});
    let volumes: Vec<_> = volumes.iter().cloned().chain([init]).collect();
    let spec = json!({
        "initContainers": [with_variables(clone, [host])],
        "containers": [postgres],
        "terminationGracePeriodSeconds": GRACE,
        "topologySpreadConstraints": [{
            "maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": names::selector(database, part)},
        }],
        "volumes": volumes,
    });
    let mut template = pod::template(database, part, spec);
    template["metadata"]["labels"][names::READS] = json!("true");
    template
}
