//! Volumes, claims and what provides them.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::column::{AGE, BuiltInColumn, CREATED_AT, NAME};
use crate::table::{cells, cells::list};

/// Those of the core group.
pub(super) fn core(plural: &str) -> Option<&'static [BuiltInColumn]> {
    Some(match plural {
        "persistentvolumeclaims" => &[
            NAME,
            ("Status", "string", 0, phase),
            ("Volume", "string", 0, |o, _| cells::or_empty(&o["spec"]["volumeName"])),
            ("Capacity", "string", 0, |o, _| cells::or_empty(&o["status"]["capacity"]["storage"])),
            // The bound ones, not the requested ones.
            ("Access Modes", "string", 0, |o, _| access_modes(&o["status"])),
            ("StorageClass", "string", 0, |o, _| cells::or_empty(&o["spec"]["storageClassName"])),
            ("VolumeAttributesClass", "string", 0, attributes_class),
            AGE,
            ("VolumeMode", "string", 1, volume_mode),
        ],
        "persistentvolumes" => &[
            NAME,
            ("Capacity", "string", 0, |o, _| cells::or_zero(&o["spec"]["capacity"]["storage"])),
            ("Access Modes", "string", 0, |o, _| access_modes(&o["spec"])),
            ("Reclaim Policy", "string", 0, |o, _| {
                cells::or_empty(&o["spec"]["persistentVolumeReclaimPolicy"])
            }),
            ("Status", "string", 0, phase),
            ("Claim", "string", 0, claim),
            ("StorageClass", "string", 0, |o, _| cells::or_empty(&o["spec"]["storageClassName"])),
            ("VolumeAttributesClass", "string", 0, attributes_class),
            ("Reason", "string", 0, |o, _| cells::or_empty(&o["status"]["reason"])),
            AGE,
            ("VolumeMode", "string", 1, volume_mode),
        ],
        _ => return None,
    })
}

/// Those of the group `storage.k8s.io`.
pub(super) fn columns(plural: &str) -> Option<&'static [BuiltInColumn]> {
    Some(match plural {
        "storageclasses" => &[
            ("Name", "string", 0, |o, _| o["metadata"]["name"].clone()),
            ("Provisioner", "string", 0, |o, _| cells::or_empty(&o["provisioner"])),
            ("ReclaimPolicy", "string", 0, |o, _| cells::or(&o["reclaimPolicy"], "Delete")),
            ("VolumeBindingMode", "string", 0, |o, _| {
                cells::or(&o["volumeBindingMode"], "Immediate")
            }),
            ("AllowVolumeExpansion", "string", 0, |o, _| json!(o["allowVolumeExpansion"] == true)),
            AGE,
        ],
        "volumeattributesclasses" => &[
            ("Name", "string", 0, |o, _| o["metadata"]["name"].clone()),
            ("DriverName", "string", 0, |o, _| cells::or_empty(&o["driverName"])),
            AGE,
        ],
        "volumeattachments" => &[
            NAME,
            ("Attacher", "string", 0, |o, _| cells::or_empty(&o["spec"]["attacher"])),
            ("PV", "string", 0, |o, _| {
                cells::or_empty(&o["spec"]["source"]["persistentVolumeName"])
            }),
            ("Node", "string", 0, |o, _| cells::or_empty(&o["spec"]["nodeName"])),
            ("Attached", "boolean", 0, |o, _| json!(o["status"]["attached"] == true)),
            AGE,
        ],
        "csinodes" => {
            &[NAME, ("Drivers", "integer", 0, |o, _| cells::count(&o["spec"]["drivers"])), AGE]
        }
        "csidrivers" => &[
            NAME,
            ("AttachRequired", "boolean", 0, |o, _| json!(o["spec"]["attachRequired"] != false)),
            ("PodInfoOnMount", "boolean", 0, |o, _| json!(o["spec"]["podInfoOnMount"] == true)),
            ("StorageCapacity", "boolean", 0, |o, _| json!(o["spec"]["storageCapacity"] == true)),
            ("TokenRequests", "string", 0, audiences),
            ("RequiresRepublish", "boolean", 0, |o, _| {
                json!(o["spec"]["requiresRepublish"] == true)
            }),
            ("Modes", "string", 0, |o, _| {
                let modes = list(&o["spec"]["volumeLifecycleModes"]).filter_map(Value::as_str);
                cells::joined(&modes.collect::<Vec<_>>())
            }),
            AGE,
        ],
        "csistoragecapacities" => &[NAME, CREATED_AT],
        _ => return None,
    })
}

fn phase(object: &Value, _: Timestamp) -> Value {
    let is_deleted = !object["metadata"]["deletionTimestamp"].is_null();
    if is_deleted { json!("Terminating") } else { cells::or_empty(&object["status"]["phase"]) }
}

fn access_modes(of: &Value) -> Value {
    let short = |mode: &Value| match mode.as_str() {
        Some("ReadWriteOnce") => "RWO",
        Some("ReadOnlyMany") => "ROX",
        Some("ReadWriteMany") => "RWX",
        Some("ReadWriteOncePod") => "RWOP",
        _ => "",
    };
    let modes: Vec<&str> = list(&of["accessModes"]).map(short).collect();
    json!(modes.join(","))
}

fn attributes_class(object: &Value, _: Timestamp) -> Value {
    cells::or_unset(&object["spec"]["volumeAttributesClassName"])
}

fn volume_mode(object: &Value, _: Timestamp) -> Value {
    cells::or_unset(&object["spec"]["volumeMode"])
}

/// `namespace/name` of the bound claim.
fn claim(volume: &Value, _: Timestamp) -> Value {
    let claim = &volume["spec"]["claimRef"];
    let part = |field: &str| claim[field].as_str().unwrap_or_default();
    if claim.is_null() {
        json!("")
    } else {
        json!(format!("{}/{}", part("namespace"), part("name")))
    }
}

fn audiences(driver: &Value, _: Timestamp) -> Value {
    let requests = &driver["spec"]["tokenRequests"];
    let audiences = list(requests).filter_map(|request| request["audience"].as_str());
    if requests.is_null() {
        json!("<unset>")
    } else {
        json!(audiences.collect::<Vec<_>>().join(","))
    }
}
