//! What all Pods of a database have in common. They fit the Pod Security standard `restricted`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{access::APP, names, names::Part, scripts};
use crate::database::crd::Database;

/// Where the data is: not where the image has it, which differs between its versions.
const PGDATA: &str = "/data/pgdata";
/// The user `postgres` of the official image.
const USER: i32 = 999;

/// The template of Pods of a part.
pub(super) fn template(database: &Database, part: Part, spec: Value) -> Value {
    json!({"metadata": {"labels": names::selector(database, part)}, "spec": complete(database, spec)})
}

/// A container of the image; `rest` replaces or adds fields.
pub(super) fn container(
    database: &Database,
    name: &str,
    mounts: &[(&str, &str)],
    rest: Value,
) -> Value {
    let mounts = [("scripts", scripts::FOLDER), ("run", "/var/run/postgresql"), ("tmp", "/tmp")]
        .into_iter()
        .chain(mounts.iter().copied());
    let mounts: Vec<_> =
        mounts.map(|(name, path)| json!({"name": name, "mountPath": path})).collect();
    let mut container = json!({
        "name": name,
        "image": format!("{}:{}", database.spec.image, database.spec.version),
        "env": environment(database),
        "resources": database.spec.resources,
        "volumeMounts": mounts,
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": {"drop": ["ALL"]},
        },
    });
    extend(&mut container, rest);
    container
}

/// The command of a container that runs a script.
pub(super) fn command(script: &str) -> Value {
    json!(["bash", format!("{}/{script}", scripts::FOLDER)])
}

/// A variable with a plain value.
pub(super) fn variable(name: &str, value: &impl ToString) -> Value {
    json!({"name": name, "value": value.to_string()})
}

/// The variables of all containers; the image, `psql` and the scripts each read some of them.
fn environment(database: &Database) -> Vec<Value> {
    let secret = |name: &str, secret: String, key: &str| json!({"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}});
    let superuser = || names::superuser(database);
    vec![
        variable("PGDATA", &PGDATA),
        variable("PRIMARY", &format!("{}-0", names::primary(database))),
        secret("POSTGRES_PASSWORD", superuser(), "password"),
        secret("REPLICATION_PASSWORD", superuser(), "replication-password"),
        secret("APP_PASSWORD", names::credentials(database), "password"),
    ]
}

/// The variables with which a client reaches the primary Pod as the superuser.
pub(super) fn client(database: &Database) -> [Value; 4] {
    [
        variable("PGHOST", &names::primary_pod(database)),
        variable("PGUSER", &"postgres"),
        variable("PGDATABASE", &APP),
        json!({"name": "PGPASSWORD", "valueFrom": {
            "secretKeyRef": {"name": names::superuser(database), "key": "password"}}}),
    ]
}

/// Adds variables to a container.
pub(super) fn with_variables(mut container: Value, more: impl IntoIterator<Item = Value>) -> Value {
    if let Some(all) = container["env"].as_array_mut() {
        all.extend(more);
    }
    container
}

/// The fields that all Pods have, and the volumes that all containers mount.
fn complete(database: &Database, spec: Value) -> Value {
    let mut volumes = vec![
        json!({"name": "scripts", "configMap": {"name": names::config(database)}}),
        json!({"name": "run", "emptyDir": {}}),
        json!({"name": "tmp", "emptyDir": {}}),
    ];
    volumes.extend(spec["volumes"].as_array().into_iter().flatten().cloned());
    let mut all = json!({
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        "securityContext": {
            "runAsNonRoot": true, "runAsUser": USER, "runAsGroup": USER, "fsGroup": USER,
            // A large volume is not walked through at each start.
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    });
    extend(&mut all, spec);
    all["volumes"] = json!(volumes);
    all
}

fn extend(object: &mut Value, more: Value) {
    let more: BTreeMap<String, Value> = serde_json::from_value(more).unwrap_or_default();
    for (name, value) in more {
        object[name] = value;
    }
}
