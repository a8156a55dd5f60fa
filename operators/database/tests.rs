//! The handler as a function: from a request made of values to a response.

use std::collections::BTreeSet;

use k8s_openapi::api::{
    apps::v1::StatefulSet,
    autoscaling::v2::HorizontalPodAutoscaler,
    batch::v1::{CronJob, Job},
    core::v1::{ConfigMap, PersistentVolumeClaim, Secret, Service},
    networking::v1::NetworkPolicy,
    policy::v1::PodDisruptionBudget,
};
use operetta::{
    object::K8sType,
    operator::{DesiredChild, Handler, Permanent, SyncRequest, SyncResponse},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{Database, DatabaseStatus, Databases, config};

mod last_backup;

/// A database with everything that can be asked for.
fn all() -> Value {
    json!({
        "version": {"major": 17, "minor": 7}, "replicas": 3,
        "storage": {"size": "10Gi", "storageClassName": "fast"},
        "backup": {"schedule": "30 3 * * *", "retention": 5, "size": "20Gi"},
        "restoreFrom": {"database": "old"},
        "readReplicas": {"min": 2, "max": 5, "targetCPU": 70},
    })
}

fn small() -> Value {
    json!({"version": {"major": 17, "minor": 7}, "storage": {"size": "1Gi"}})
}

fn request(spec: &Value, status: &Value) -> SyncRequest {
    let value = json!({"metadata": {"name": "main"}, "spec": spec, "status": status});
    let request = SyncRequest::example(&K8sType::of::<Database>(), value).unwrap();
    let claim = json!({"metadata": {"name": "old-backups"}});
    request.with_related::<PersistentVolumeClaim>(claim).unwrap()
}

fn sync(request: SyncRequest) -> SyncResponse<DatabaseStatus> {
    Databases.sync(&request.typed().unwrap()).unwrap()
}

fn response(spec: &Value) -> SyncResponse<DatabaseStatus> {
    sync(request(spec, &json!({})))
}

fn id(child: &DesiredChild) -> String {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    format!("{} {}", text(&child.object["kind"]), text(&child.object["metadata"]["name"]))
}

fn stage(response: &SyncResponse<DatabaseStatus>, stage: usize) -> Vec<String> {
    response.children.iter().filter(|child| child.stage == stage).map(id).collect()
}

fn child<'a>(response: &'a SyncResponse<DatabaseStatus>, wanted: &str) -> &'a Value {
    &response.children.iter().find(|child| id(child) == wanted).expect(wanted).object
}

#[test]
fn the_operator_can_be_registered() {
    assert_eq!(config().validate(), Ok(()));
}

#[test]
fn each_stage_has_what_the_next_one_needs() {
    let response = response(&all());
    assert_eq!(
        stage(&response, 0),
        [
            "Secret main-credentials",
            "Secret main-superuser",
            "ConfigMap main-config",
            "Service main-pods",
            "NetworkPolicy main",
            "PersistentVolumeClaim data-main-0",
            "PersistentVolumeClaim data-main-1",
            "PersistentVolumeClaim data-main-2",
            "PersistentVolumeClaim main-backups",
        ]
    );
    assert_eq!(stage(&response, 1), ["StatefulSet main"]);
    assert_eq!(stage(&response, 2), ["Job main-restore"]);
    assert_eq!(
        stage(&response, 3),
        [
            "Service main",
            "Service main-read",
            "PodDisruptionBudget main",
            "CronJob main-backups",
            "StatefulSet main-copy",
            "HorizontalPodAutoscaler main-copy",
        ]
    );
}

#[test]
fn a_small_database_has_only_what_it_needs() {
    let response = response(&small());
    let all: Vec<_> = (0..4).map(|number| stage(&response, number)).collect();
    assert_eq!(all[0][5..], ["PersistentVolumeClaim data-main-0"]);
    assert_eq!(all[1..], [vec!["StatefulSet main"], vec!["Service main"], vec![]]);
}

/// A field with a typing error would be gone after the types of Kubernetes have read it.
#[test]
fn every_child_is_what_its_type_says() {
    fn same<K: DeserializeOwned + Serialize>(object: &Value) -> Value {
        serde_json::to_value(serde_json::from_value::<K>(object.clone()).unwrap()).unwrap()
    }
    for child in response(&all()).children {
        let object = &child.object;
        let read = match object["kind"].as_str().unwrap() {
            "Secret" => same::<Secret>(object),
            "ConfigMap" => same::<ConfigMap>(object),
            "Service" => same::<Service>(object),
            "NetworkPolicy" => same::<NetworkPolicy>(object),
            "PersistentVolumeClaim" => same::<PersistentVolumeClaim>(object),
            "StatefulSet" => same::<StatefulSet>(object),
            "Job" => same::<Job>(object),
            "CronJob" => same::<CronJob>(object),
            "PodDisruptionBudget" => same::<PodDisruptionBudget>(object),
            "HorizontalPodAutoscaler" => same::<HorizontalPodAutoscaler>(object),
            other => panic!("no type for {other}"),
        };
        assert_eq!(read, *object, "{}", id(&child));
    }
}

#[test]
fn every_pod_fits_the_restricted_standard() {
    let response = response(&all());
    let template = |set: &str| child(&response, set)["spec"]["template"]["spec"].clone();
    let cron_job = child(&response, "CronJob main-backups");
    let backup = cron_job["spec"]["jobTemplate"]["spec"]["template"]["spec"].clone();
    let pods = ["StatefulSet main", "StatefulSet main-copy", "Job main-restore"].map(template);
    for pod in pods.into_iter().chain([backup]) {
        let security = &pod["securityContext"];
        assert_eq!(security["runAsNonRoot"], true);
        assert_eq!(security["seccompProfile"]["type"], "RuntimeDefault");
        assert_eq!(pod["automountServiceAccountToken"], false);
        let lists = ["initContainers", "containers"].map(|list| pod[list].as_array().cloned());
        for container in lists.into_iter().flatten().flatten() {
            let security = &container["securityContext"];
            assert_eq!(security["allowPrivilegeEscalation"], false);
            assert_eq!(security["capabilities"]["drop"], json!(["ALL"]));
            assert_eq!(container["image"], "postgres:17.7");
            assert_eq!(container["resources"]["requests"]["cpu"], "100m");
        }
    }
}

#[test]
fn a_change_of_the_replicas_restarts_no_pod() {
    let template =
        |spec: &Value| child(&response(spec), "StatefulSet main")["spec"]["template"].clone();
    let mut alone = all();
    alone["replicas"] = json!(1);
    assert_eq!(template(&alone), template(&all()));
}

#[test]
fn passwords_are_made_once_and_differ() {
    let [first, second] = [response(&small()), response(&small())];
    let of = |response: &SyncResponse<DatabaseStatus>| {
        let secret = child(response, "Secret main-credentials")["stringData"].clone();
        let superuser = child(response, "Secret main-superuser")["stringData"].clone();
        [&secret["password"], &superuser["password"], &superuser["replication-password"]]
            .map(|password| password.as_str().unwrap().to_owned())
    };
    let all: BTreeSet<_> = of(&first).into_iter().chain(of(&second)).collect();
    assert_eq!(all.len(), 6);
    assert!(all.iter().all(|password| password.len() == 32));
    let secrets = first.children.iter().filter(|child| child.object["kind"] == "Secret");
    assert!(secrets.map(|child| child.ensure).eq([true, true]), "they are never written again");
    let secret = &child(&first, "Secret main-credentials")["stringData"];
    let password = secret["password"].as_str().unwrap();
    assert_eq!(secret["uri"], format!("postgresql://app:{password}@main.default.svc:5432/app"));
}

#[test]
fn claims_of_replicas_that_are_not_desired_any_more_stay_as_they_are() {
    let claims = |phase: &str| {
        let mut request = request(&small(), &json!({}));
        for name in ["data-main-0", "data-main-1", "main-backups"] {
            let claim = json!({"metadata": {"name": name}, "status": {"phase": phase}});
            request = request.with_child::<PersistentVolumeClaim>(claim).unwrap();
        }
        let children = sync(request).children.into_iter();
        let claims = children.filter(|it| it.object["kind"] == "PersistentVolumeClaim");
        claims.map(|child| (id(&child), child.ensure)).collect::<Vec<_>>()
    };
    let named = |name: &str, ensure| (format!("PersistentVolumeClaim {name}"), ensure);
    let expected = |is_left| {
        let kept = [named("data-main-1", true), named("main-backups", true)];
        kept.into_iter().chain([named("data-main-0", is_left)]).collect::<Vec<_>>()
    };
    assert_eq!(claims("Bound"), expected(false));
    assert_eq!(claims("Pending"), expected(true), "one that is not bound cannot grow");
}

fn job(name: &str, condition: &str, time: &str) -> Value {
    let condition = json!({"type": condition, "status": "True", "lastTransitionTime": time});
    let mut status = json!({"conditions": [condition]});
    if condition["type"] == "Complete" {
        status["completionTime"] = json!(time);
    }
    json!({"metadata": {"name": name}, "status": status})
}

#[test]
fn a_restore_is_returned_until_it_is_recorded_and_never_made_again() {
    let restores = |response: &SyncResponse<DatabaseStatus>| {
        response.children.iter().any(|child| id(child) == "Job main-restore")
    };
    let source = |response: &SyncResponse<DatabaseStatus>| {
        response.status.as_ref().unwrap().restored_from.clone()
    };
    let complete = job("main-restore", "Complete", "2026-11-01T00:00:00Z");
    let recorded = json!({"restoredFrom": "old"});

    let begins = response(&all());
    assert!(restores(&begins) && source(&begins).is_none());
    let done = sync(request(&all(), &json!({})).with_child::<Job>(&complete).unwrap());
    assert!(restores(&done));
    assert_eq!(source(&done).as_deref(), Some("old"));
    let kept = sync(request(&all(), &recorded).with_child::<Job>(&complete).unwrap());
    assert!(restores(&kept), "its log can be read");
    let gone = sync(request(&all(), &recorded));
    assert!(!restores(&gone));
    assert_eq!(source(&gone).as_deref(), Some("old"));
}

#[test]
fn the_status_shows_the_newest_backup_also_when_its_job_is_gone() {
    let backup = |jobs: &[Value], status: Value| {
        let mut request = request(&all(), &status);
        for job in jobs {
            request = request.with_related::<Job>(job).unwrap();
        }
        let status = json!(sync(request).status.unwrap());
        let condition = &status["conditions"][0];
        assert_eq!(condition["type"], "BackedUp");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&status["lastBackup"]["job"]), text(&condition["reason"]))
    };
    let [one, two, three] =
        ["2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z", "2026-11-03T00:00:00Z"];
    let (complete, failed) = (|time| job(time, "Complete", time), |time| job(time, "Failed", time));
    let before = json!({"lastBackup": {"job": "before", "time": two}});
    let own = |text: &str| text.to_owned();
    for (jobs, status, expected) in [
        (vec![], json!({}), (own(""), own("NoBackup"))),
        (vec![complete(one), complete(two)], json!({}), (own(two), own("BackupComplete"))),
        (vec![complete(one), failed(two)], json!({}), (own(one), own("BackupFailed"))),
        (vec![complete(three), failed(two)], json!({}), (own(three), own("BackupComplete"))),
        (vec![], before.clone(), (own("before"), own("BackupComplete"))),
        (vec![complete(one)], before.clone(), (own("before"), own("BackupComplete"))),
        (vec![failed(three)], before, (own("before"), own("BackupFailed"))),
    ] {
        assert_eq!(backup(&jobs, status.clone()), expected, "{jobs:?} {status}");
    }
}

#[test]
fn the_status_shows_where_the_database_is_once_it_is_served() {
    let status = response(&all()).status.unwrap();
    assert_eq!((status.endpoint, status.read_endpoint), (None, None));
    assert_eq!(status.secret_name.as_deref(), Some("main-credentials"));
    assert_eq!(
        status.selector.as_deref(),
        Some(
            "app.kubernetes.io/component=database,app.kubernetes.io/instance=main,\
         app.kubernetes.io/name=postgresql"
        )
    );
    let set = json!({"metadata": {"name": "main"}, "spec": {"serviceName": "", "selector": {}, "template": {}},
        "status": {"replicas": 3, "readyReplicas": 2}});
    let request = request(&all(), &json!({})).with_child::<StatefulSet>(set).unwrap();
    let service = json!({"metadata": {"name": "main"}});
    let status = sync(request.with_child::<Service>(service).unwrap()).status.unwrap();
    assert_eq!((status.replicas, status.ready_replicas), (3, 2));
    assert_eq!(status.endpoint.as_deref(), Some("main.default.svc:5432"));
    assert_eq!(status.read_endpoint.as_deref(), Some("main-read.default.svc:5432"));
}

#[test]
fn what_no_schema_can_refuse_is_refused_before_anything_is_made() {
    let refusal = |change: Value| {
        let mut spec = all();
        spec.as_object_mut().unwrap().extend(change.as_object().cloned().unwrap());
        let error = Databases.sync(&request(&spec, &json!({})).typed().unwrap()).unwrap_err();
        assert!(error.downcast_ref::<Permanent>().is_some(), "no retry helps");
        error.to_string()
    };
    assert_eq!(
        refusal(json!({"backup": {"schedule": "0 0 31 2 *"}})),
        "spec.backup.schedule: `0 0 31 2 *` is never due: no year has such a day"
    );
    assert_eq!(
        refusal(json!({"restoreFrom": {"database": "none"}})),
        "spec.restoreFrom: there are no backups of `none` in this namespace: the \
         PersistentVolumeClaim none-backups does not exist"
    );
}
