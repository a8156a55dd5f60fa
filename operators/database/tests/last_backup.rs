//! Every decision of the deletion, as a table: what is left of a database, and what happens.

use operetta::operator::FinalizeResponse;

use super::*;

const SET: &str = "main";
const DATA: &str = "data-main-0";
const BACKUPS: &str = "main-backups";
const HELD: &str = "database.operetta.dev/last-backup";

/// What is left of a database that is being deleted.
struct Left {
    policy: &'static str,
    finalizers: Value,
    was_initialised: bool,
    claims: Vec<Value>,
    /// Whether the claims are children of this database.
    is_owner: bool,
    secrets: Vec<&'static str>,
    set: Option<Value>,
    job: Option<Value>,
}

/// Everything is there, and nothing has begun.
fn whole() -> Left {
    Left {
        policy: "Backup",
        finalizers: json!(["operetta.dev/database"]),
        was_initialised: true,
        claims: vec![claim(DATA, &json!({})), claim(BACKUPS, &json!({}))],
        is_owner: true,
        secrets: vec!["main-credentials", "main-superuser"],
        set: Some(set(1, &json!({}))),
        job: None,
    }
}

fn claim(name: &str, metadata: &Value) -> Value {
    let mut claim = json!({
        "metadata": {"name": name, "finalizers": [HELD]},
        "spec": {"volumeName": format!("volume-of-{name}"), "storageClassName": "old",
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "9Gi"}}},
        "status": {"phase": "Bound"},
    });
    claim["metadata"].as_object_mut().unwrap().extend(metadata.as_object().unwrap().clone());
    claim
}

fn set(ready: i32, metadata: &Value) -> Value {
    let owner = json!({"apiVersion": "example.operetta.dev/v1alpha1", "kind": "Database", "name": "main",
        "uid": "uid-of-database-main", "controller": true});
    let mut set = json!({
        "metadata": {"name": SET, "ownerReferences": [owner]},
        "spec": {"serviceName": "", "selector": {}, "template": {}},
        "status": {"replicas": 1, "readyReplicas": ready},
    });
    set["metadata"].as_object_mut().unwrap().extend(metadata.as_object().unwrap().clone());
    set
}

fn ending() -> Value {
    json!({"deletionTimestamp": "2026-11-01T00:00:00Z"})
}

impl Left {
    fn request(&self) -> SyncRequest {
        let mut spec = small();
        spec["deletionPolicy"] = json!(self.policy);
        let mut metadata = ending();
        metadata["name"] = json!("main");
        metadata["finalizers"] = self.finalizers.clone();
        let status =
            json!({"initialised": self.was_initialised, "endpoint": "main.default.svc:5432"});
        let value = json!({"metadata": metadata, "spec": spec, "status": status});
        let mut request = SyncRequest::example(&K8sType::of::<Database>(), value).unwrap();
        for claim in &self.claims {
            if self.is_owner {
                request = request.with_child::<PersistentVolumeClaim>(claim).unwrap();
            }
            request = request.with_related::<PersistentVolumeClaim>(claim).unwrap();
        }
        for name in &self.secrets {
            let secret = json!({"metadata": {"name": name}});
            request = request.with_related::<Secret>(secret).unwrap();
        }
        if let Some(set) = &self.set {
            request = request.with_related::<StatefulSet>(set).unwrap();
        }
        match &self.job {
            Some(job) => request.with_child::<Job>(job).unwrap(),
            None => request,
        }
    }

    fn finalize(&self) -> anyhow::Result<FinalizeResponse> {
        Databases.finalize(&self.request().typed()?)
    }

    /// What is returned while the database waits.
    fn waits_with(&self) -> Vec<String> {
        let response = self.finalize().unwrap();
        assert!(!response.is_done());
        response.children.iter().map(id).collect()
    }

    /// Why it waits, as its status shows it.
    fn waits_for(&self) -> String {
        let status = self.finalize().unwrap().status.unwrap();
        assert_eq!(status["endpoint"], "main.default.svc:5432", "the rest of the status stays");
        let condition = &status["conditions"][0];
        assert_eq!(
            (&condition["type"], &condition["reason"]),
            (&json!("LastBackup"), &json!("Waiting"))
        );
        condition["message"].as_str().unwrap().to_owned()
    }

    /// Why there is no backup, as its status and its condition show it.
    fn refused(&self) -> String {
        let request = self.request().typed().unwrap();
        let error = Databases.finalize(&request).unwrap_err();
        let status = Databases.on_error(&request, &error).status.unwrap();
        assert_eq!(status["initialised"], self.was_initialised, "the rest of the status stays");
        let condition = &status["conditions"][0];
        assert_eq!(condition["message"], error.to_string());
        assert!(error.to_string().contains("spec.deletionPolicy to Retain or Delete"), "{error}");
        condition["reason"].as_str().unwrap().to_owned()
    }

    fn is_done(&self) -> bool {
        self.finalize().unwrap().is_done()
    }
}

fn job_that(condition: &str) -> Value {
    job("main-last-backup", condition, "2026-11-01T00:00:00Z")
}

const JOB: &str = "Job main-last-backup";
const SERVER: [&str; 4] = [
    "PersistentVolumeClaim main-backups",
    "ConfigMap main-config",
    "Service main-pods",
    "NetworkPolicy main",
];

#[test]
fn a_database_that_runs_is_backed_up() {
    assert_eq!(whole().waits_with(), [&SERVER[..], &[JOB]].concat());
    assert!(whole().waits_for().contains("the Job main-last-backup begins it"));
    let runs = Left { job: Some(job_that("Suspended")), set: None, ..whole() };
    assert!(runs.waits_with().contains(&JOB.to_owned()), "it goes on whatever becomes of the set");
    assert!(runs.waits_for().contains("the Job main-last-backup makes it"));
}

#[test]
fn whatever_was_deleted_first_is_made_again_and_waited_for() {
    let set_again = [&SERVER[..], &["StatefulSet main"]].concat();
    for (what, left, expected) in [
        ("no set", Left { set: None, ..whole() }, &set_again),
        ("it ends", Left { set: Some(set(1, &ending())), ..whole() }, &set_again),
        ("it starts", Left { set: Some(set(0, &json!({}))), ..whole() }, &SERVER.to_vec()),
    ] {
        assert_eq!(left.waits_with(), *expected, "{what}");
        assert!(left.waits_for().contains("a ready Pod of the StatefulSet main"), "{what}");
    }
    let foreground = json!(["operetta.dev/database", "foregroundDeletion"]);
    let doomed = Left { finalizers: foreground.clone(), ..whole() };
    assert_eq!(doomed.waits_with(), SERVER, "its Pods are about to end");
    let again = set(
        1,
        &json!({"ownerReferences": [], "labels": {"operetta.dev/orphan-on-delete": "until-finalized"}}),
    );
    let made_again = Left { finalizers: foreground, set: Some(again), ..whole() };
    assert_eq!(made_again.waits_with(), [&SERVER[..], &[JOB]].concat());
}

/// What a finalization makes goes with the database.
#[test]
fn what_a_user_leaves_behind_is_not_taken_over() {
    let needed = [SERVER[0], JOB];
    let orphaning = Left { finalizers: json!(["operetta.dev/database", "orphan"]), ..whole() };
    assert_eq!(orphaning.waits_with(), needed);
    let orphan = Some(set(1, &json!({"ownerReferences": []})));
    assert_eq!(Left { set: orphan, ..whole() }.waits_with(), needed);
}

#[test]
fn a_set_that_is_made_again_has_only_the_primary() {
    let response = Left { set: None, ..whole() }.finalize().unwrap();
    let set = response.children.iter().find(|child| child.object["kind"] == "StatefulSet").unwrap();
    assert_eq!(set.object["spec"]["replicas"], 1);
    assert!(response.children.iter().all(|child| child.ensure), "nothing that exists is changed");
}

#[test]
fn a_database_without_data_needs_no_last_backup() {
    let pending = |name| {
        let mut claim = claim(name, &json!({"finalizers": []}));
        (claim["status"]["phase"], claim["spec"]["volumeName"]) = (json!("Pending"), Value::Null);
        claim
    };
    let never = |claims| Left { was_initialised: false, claims, set: None, ..whole() };
    assert!(never(vec![]).is_done());
    assert!(never(vec![pending(DATA), pending(BACKUPS)]).is_done());
    let bound = || vec![claim(DATA, &json!({"finalizers": []}))];
    assert!(!never(bound()).is_done(), "the status is not what decides alone");
    assert!(Left { is_owner: false, ..never(bound()) }.is_done(), "it is of another database");
}

#[test]
fn a_last_backup_that_cannot_be_made_holds_the_database_and_says_what_to_do() {
    let claims = |data: &Value, backups: &Value| vec![claim(DATA, data), claim(BACKUPS, backups)];
    let mut lost = claim(DATA, &json!({}));
    lost["status"]["phase"] = json!("Lost");
    let none = json!({});
    for (reason, left) in [
        ("BackupFailed", Left { job: Some(job_that("Failed")), ..whole() }),
        ("DataIsGone", Left { claims: vec![], ..whole() }),
        ("DataIsGone", Left { claims: vec![], is_owner: false, ..whole() }),
        ("VolumeIsLost", Left { claims: vec![lost], ..whole() }),
        ("ClaimIsBeingDeleted", Left { claims: claims(&ending(), &none), set: None, ..whole() }),
        ("ClaimIsBeingDeleted", Left { claims: claims(&none, &ending()), ..whole() }),
        ("SecretIsGone", Left { secrets: vec!["main-credentials"], ..whole() }),
    ] {
        assert_eq!(left.refused(), reason);
    }
    let ends = Left { claims: claims(&ending(), &ending()), set: None, secrets: vec![], ..whole() };
    let error = ends.finalize().unwrap_err().to_string();
    assert!(error.contains("PersistentVolumeClaim data-main-0 is being deleted"), "{error}");
    assert!(error.contains("PersistentVolume volume-of-data-main-0 to Retain"), "{error}");
    let in_use = Left { claims: claims(&ending(), &none), ..whole() };
    assert!(in_use.waits_with().contains(&JOB.to_owned()), "its Pod still has the data");
}

#[test]
fn claims_are_let_go_before_the_database_is() {
    for (policy, job, deletes_orphans) in [
        ("Retain", None, false),
        ("Delete", None, true),
        ("Backup", Some(job_that("Complete")), false),
    ] {
        let left = Left { policy, job: job.clone(), ..whole() };
        let response = left.finalize().unwrap();
        assert!(!response.is_done());
        let names: Vec<_> = response.children.iter().map(id).collect();
        assert_eq!(
            names,
            ["PersistentVolumeClaim data-main-0", "PersistentVolumeClaim main-backups"]
        );
        for child in &response.children {
            assert!(!child.ensure && child.object["metadata"].get("finalizers").is_none());
            let spec = &child.object["spec"];
            assert_eq!(spec["resources"]["requests"]["storage"], "9Gi", "it stays as it is");
            assert_eq!(spec["storageClassName"], "old");
        }
        let free = json!({"finalizers": ["kubernetes.io/pvc-protection"]});
        let claims = vec![claim(DATA, &free), claim(BACKUPS, &free)];
        let done = Left { policy, claims, job, ..whole() }.finalize().unwrap();
        assert!(done.is_done() && done.deletes_orphans == deletes_orphans, "{policy}");
    }
}

#[test]
fn the_claims_that_a_last_backup_needs_are_held_while_one_is_asked_for() {
    let held = |policy: &str, claims: &[Value]| {
        let mut spec = small();
        spec["deletionPolicy"] = json!(policy);
        let mut request = request(&spec, &json!({}));
        for claim in claims {
            request = request.with_child::<PersistentVolumeClaim>(claim).unwrap();
        }
        let children = sync(request).children.into_iter();
        let claims = children.filter(|it| it.object["kind"] == "PersistentVolumeClaim");
        let is_held =
            |child: &DesiredChild| child.object["metadata"]["finalizers"] == json!([HELD]);
        claims.map(|child| (id(&child), child.ensure, is_held(&child))).collect::<Vec<_>>()
    };
    let named =
        |name: &str, ensure, is_held| (format!("PersistentVolumeClaim {name}"), ensure, is_held);
    assert_eq!(held("Backup", &[]), [named(DATA, true, true), named(BACKUPS, true, true)]);
    let all = [
        claim(DATA, &json!({})),
        claim("data-main-1", &json!({"finalizers": []})),
        claim(BACKUPS, &json!({})),
    ];
    assert_eq!(
        held("Backup", &all),
        [named("data-main-1", true, false), named(DATA, false, true), named(BACKUPS, false, true)]
    );
    assert_eq!(
        held("Retain", &all),
        [
            named("data-main-1", true, false),
            named(BACKUPS, false, false),
            named(DATA, false, false)
        ]
    );
}

#[test]
fn that_a_database_was_initialised_is_never_forgotten() {
    let initialised = |ready: i32, before: Value| {
        let set = set(ready, &json!({}));
        let request = request(&small(), &before).with_child::<StatefulSet>(set).unwrap();
        sync(request).status.unwrap().initialised
    };
    assert!(!initialised(0, json!({})));
    assert!(initialised(1, json!({})));
    assert!(initialised(0, json!({"initialised": true})));
}
