//! Permissions, priorities, leases and limits of disruption.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::column::{AGE, BuiltInColumn, CREATED_AT, NAME};
use crate::table::{cells, cells::list};

pub(super) fn columns(plural: &str) -> Option<&'static [BuiltInColumn]> {
    Some(match plural {
        "roles" | "clusterroles" => &[NAME, CREATED_AT],
        "rolebindings" | "clusterrolebindings" => &[
            NAME,
            ("Role", "string", 0, |o, _| cells::reference(&o["roleRef"])),
            AGE,
            ("Users", "string", 1, |o, _| subjects(o, "User")),
            ("Groups", "string", 1, |o, _| subjects(o, "Group")),
            ("ServiceAccounts", "string", 1, service_accounts),
        ],
        "poddisruptionbudgets" => &[
            NAME,
            ("Min Available", "string", 0, |o, _| cells::or_not(&o["spec"]["minAvailable"])),
            ("Max Unavailable", "string", 0, |o, _| cells::or_not(&o["spec"]["maxUnavailable"])),
            ("Allowed Disruptions", "integer", 0, |o, _| {
                cells::number(&o["status"]["disruptionsAllowed"])
            }),
            AGE,
        ],
        "leases" => &[
            NAME,
            ("Holder", "string", 0, |o, _| cells::or_empty(&o["spec"]["holderIdentity"])),
            AGE,
        ],
        "priorityclasses" => &[
            NAME,
            ("Value", "integer", 0, |o, _| cells::number(&o["value"])),
            ("Global-Default", "boolean", 0, |o, _| json!(o["globalDefault"] == true)),
            AGE,
            ("PreemptionPolicy", "string", 0, |o, _| cells::or_empty(&o["preemptionPolicy"])),
        ],
        "runtimeclasses" => {
            &[NAME, ("Handler", "string", 0, |o, _| cells::or_empty(&o["handler"])), AGE]
        }
        _ => return None,
    })
}

fn subjects(binding: &Value, kind: &str) -> Value {
    let subjects = list(&binding["subjects"]).filter(|subject| subject["kind"] == kind);
    let names: Vec<&str> = subjects.filter_map(|subject| subject["name"].as_str()).collect();
    json!(names.join(", "))
}

fn service_accounts(binding: &Value, _: Timestamp) -> Value {
    let subjects = list(&binding["subjects"]).filter(|it| it["kind"] == "ServiceAccount");
    let name = |subject: &Value| {
        let part = |field: &str| subject[field].as_str().unwrap_or_default().to_owned();
        format!("{}/{}", part("namespace"), part("name"))
    };
    json!(subjects.map(name).collect::<Vec<_>>().join(", "))
}
