//! A life of all operators, in which they need every permission that they have: each of them has parents that come,
//! change and go, its web endpoint is used, and the process leads and leaves.

use operators::deployment_scaler::{HOURS, NAME};
use operetta::operator::HeldReplicas;
use serde_json::{Value, json};

use crate::{
    kubelet::{GROWING, Kubelet},
    started::http,
    world::{
        CONFIG_MAP, CRON_JOB, DATABASE, DEPLOYMENT, ECHO, EVENT, JOB, Kind, NAMESPACE, Operators,
        POD, PROPAGATION, SECRET, SERVICE, STATEFUL_SET, TEMP, World, eventually,
    },
};

const BUDGET: Kind = Kind("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets");
const POLICY: Kind = Kind("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies");

/// The operators, and a user of their endpoint who may do everything there.
pub(super) struct Life<'a> {
    pub(super) world: &'a World,
    pub(super) operators: &'a Operators,
    pub(super) token: &'a str,
}

impl Life<'_> {
    pub(super) async fn live(&self) {
        let _kubelet = Kubelet::play(self.world).await;
        tokio::join!(
            self.echo(),
            self.keep_for_a_time(),
            self.propagate(CONFIG_MAP),
            self.propagate(SECRET),
            self.hold_replicas(),
            self.keep_data(),
            self.back_up_at_the_end(),
        );
    }

    /// A Pod is created again, a mistake is reported twice, and the Events are read.
    async fn echo(&self) {
        let world = self.world;
        let parent = |name: &str| json!({"metadata": {"name": "a"}, "spec": {"serviceName": name}});
        for name in ["one", "two"] {
            world.apply(ECHO, parent(name)).await;
            let has_name =
                |child: &Value| child["metadata"]["labels"]["app.kubernetes.io/name"] == name;
            world.until(POD, "a", name, has_name).await;
            world.until_synced(ECHO, "a").await;
        }
        self.ask("GET", &format!("echo-server/parents/{}/a?events=1", world.namespace)).await;
        self.pause("echo-server", &format!("{}/a", world.namespace)).await;
        self.report_twice().await;
        world.delete(ECHO, "a").await;
        world.until(ECHO, "a", "its end", Value::is_null).await;
    }

    /// A Service of somebody else has the name of a child, until it does not.
    async fn report_twice(&self) {
        let world = self.world;
        let ports = json!({"ports": [{"port": 1}]});
        world.create(SERVICE, json!({"metadata": {"name": "b"}, "spec": ports})).await;
        let parent = json!({"metadata": {"name": "b"}, "spec": {"serviceName": "b"}});
        world.apply(ECHO, parent).await;
        let of_b = |event: &Value| event["regarding"]["name"] == "b";
        let is_reported = |events: &Vec<Value>| events.iter().any(of_b);
        eventually("an Event", || world.list(EVENT), is_reported).await;
        self.ask("POST", &format!("echo-server/parents/{}/b/sync", world.namespace)).await;
        let is_repeated =
            |events: &Vec<Value>| events.iter().any(|it| of_b(it) && it["series"].is_object());
        eventually("the Event again", || world.list(EVENT), is_repeated).await;
        world.delete(ECHO, "b").await;
    }

    /// A namespace goes after its time, another stays and is paused.
    async fn keep_for_a_time(&self) {
        let world = self.world;
        let [short, long] = ["short", "long"].map(|end| format!("{}-{end}", world.namespace));
        for (name, time) in [(&short, "1s"), (&long, "1h")] {
            let spec = json!({"deleteAfter": time});
            world.apply(TEMP, json!({"metadata": {"name": name}, "spec": spec})).await;
        }
        let is_over = |parent: &Value| parent["status"]["deletedAt"].is_string();
        world.until(TEMP, &short, "deletedAt", is_over).await;
        self.pause("temp-namespace", &long).await;
        for name in [short, long] {
            world.delete(TEMP, &name).await;
        }
    }

    /// A copy is made, changed and removed.
    async fn propagate(&self, kind: Kind) {
        let world = self.world;
        let name = format!("{}-{}", world.namespace, kind.2);
        let label = json!({"propagate": name});
        world.create(NAMESPACE, json!({"metadata": {"name": name, "labels": label}})).await;
        let source = json!({"kind": kind.1, "namespace": world.namespace, "name": "ca"});
        let spec = json!({"source": source, "namespaces": {"selector": {"matchLabels": label}}});
        world.create(PROPAGATION, json!({"metadata": {"name": name}, "spec": spec})).await;
        let copy = || async {
            let copy = world.api_in(kind, Some(&name)).get_opt("ca").await.unwrap();
            serde_json::to_value(copy).unwrap()
        };
        for value in ["b25l", "dHdv"] {
            world.apply(kind, json!({"metadata": {"name": "ca"}, "data": {"k": value}})).await;
            eventually("the copy", copy, |copy| copy["data"]["k"] == value).await;
        }
        self.pause("config-propagation", &name).await;
        let unselected = json!({"metadata": {"labels": {"propagate": null}}});
        world.patch(NAMESPACE, &name, unselected).await;
        eventually("no copy", copy, Value::is_null).await;
        world.delete(PROPAGATION, &name).await;
        world.delete(NAMESPACE, &name).await;
    }

    /// A Deployment opens, closes as its hours go by, and is left.
    async fn hold_replicas(&self) {
        let world = self.world;
        let (labels, hours) = (json!({"app": "d"}), "Mon-Sun 00:00-24:00 UTC");
        let pods = json!({"containers": [{"name": "c", "image": "example.com/none"}]});
        let body = json!({
            "metadata": {"name": "d", "annotations": {HOURS: hours}},
            "spec": {
                "replicas": 2, "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": pods},
            },
        });
        world.create(DEPLOYMENT, body).await;
        world.until(BUDGET, "d", "the budget", Value::is_object).await;
        let closed = crate::deployment_scaler::closed();
        for (hours, replicas, record) in [(json!(closed), 0, "held-2-at-0"), (Value::Null, 2, "")] {
            let changed = json!({"metadata": {"annotations": {HOURS: hours}}});
            world.patch(DEPLOYMENT, "d", changed).await;
            let is_scaled = |it: &Value| {
                let recorded = it["metadata"]["labels"][HeldReplicas::label(NAME)].as_str();
                it["spec"]["replicas"] == replicas && recorded.unwrap_or_default() == record
            };
            world.until(DEPLOYMENT, "d", record, is_scaled).await;
            world.until(BUDGET, "d", "no budget", Value::is_null).await;
        }
        world.delete(DEPLOYMENT, "d").await;
    }

    /// A database with everything grows, loses what an earlier version had made, and goes with its data.
    async fn keep_data(&self) {
        let world = self.world;
        let spec = json!({
            "version": {"major": 17, "minor": 6}, "replicas": 3,
            "deletionPolicy": "Delete", "storage": {"size": "1Gi", "storageClassName": GROWING},
            "backup": {"schedule": "@daily"}, "readReplicas": {"max": 2},
        });
        world.create(DATABASE, json!({"metadata": {"name": "main"}, "spec": spec})).await;
        let parent = world.until_ready(DATABASE, "main").await;
        let left = [(JOB, job()), (POLICY, json!({"podSelector": {}}))];
        for (kind, spec) in left {
            world.create(kind, json!({"metadata": of(&parent), "spec": spec})).await;
            world.until(kind, "left", "its end", Value::is_null).await;
        }
        let less = json!({"spec": {"readReplicas": null, "backup": null}});
        world.patch(DATABASE, "main", less).await;
        for (kind, name) in [(STATEFUL_SET, "main-copy"), (CRON_JOB, "main-backups")] {
            world.until(kind, name, "its end", Value::is_null).await;
        }
        world.until_ready(DATABASE, "main").await;
        world.patch(DATABASE, "main", json!({"spec": {"replicas": 1}})).await;
        world.until(SERVICE, "main-read", "its end", Value::is_null).await;
        world.delete(DATABASE, "main").await;
        world.until(DATABASE, "main", "its end", Value::is_null).await;
    }

    /// A database goes after a last backup.
    async fn back_up_at_the_end(&self) {
        let world = self.world;
        let spec = json!({
            "version": {"major": 17, "minor": 6}, "deletionPolicy": "Backup",
            "storage": {"size": "1Gi", "storageClassName": GROWING},
        });
        world.create(DATABASE, json!({"metadata": {"name": "last"}, "spec": spec})).await;
        world.until_ready(DATABASE, "last").await;
        world.delete(DATABASE, "last").await;
        world.until(DATABASE, "last", "its end", Value::is_null).await;
    }

    async fn pause(&self, operator: &str, parent: &str) {
        for command in ["pause", "resume"] {
            self.ask("POST", &format!("{operator}/parents/{parent}/{command}")).await;
        }
    }

    /// Asks the endpoint about an operator.
    async fn ask(&self, method: &str, path: &str) {
        let path = format!("/api/v1/operators/{path}");
        let (code, answer) = ask(self.operators, method, &path, self.token).await;
        assert!([200, 202].contains(&code), "{method} {path}: {answer}");
    }
}

/// Asks the endpoint as the user with this token.
pub(super) async fn ask(
    operators: &Operators,
    method: &str,
    path: &str,
    token: &str,
) -> (u16, String) {
    let address = operators.running().web().unwrap();
    let body = "Content-Type: application/json\r\nContent-Length: 0\r\n";
    let body = if method == "GET" { "" } else { body };
    let headers = format!("Authorization: Bearer {token}\r\n{body}");
    http(address, &format!("{method} {path}"), &headers).await
}

/// The metadata of a child of a database that is not desired any more.
fn of(parent: &Value) -> Value {
    let (name, uid) = (&parent["metadata"]["name"], &parent["metadata"]["uid"]);
    let labels =
        json!({"app.kubernetes.io/managed-by": "database", "operetta.dev/parent-uid": uid});
    let owner = json!({
        "apiVersion": DATABASE.0, "kind": DATABASE.1, "name": name, "uid": uid, "controller": true,
    });
    json!({"name": "left", "labels": labels, "ownerReferences": [owner]})
}

fn job() -> Value {
    let containers = json!([{"name": "c", "image": "example.com/none"}]);
    let pod = json!({"restartPolicy": "Never", "containers": containers});
    json!({"suspend": true, "template": {"spec": pod}})
}
