//! What concerns the server itself: admission, flow control, certificates, services of groups; and devices.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::column::{AGE, BuiltInColumn, NAME};
use crate::table::{
    age::of_seconds,
    cells,
    cells::{list, text},
};

/// The columns of a component's status.
pub(in crate::table) const COMPONENT: &[BuiltInColumn] = &[
    NAME,
    ("Status", "string", 0, |o, _| {
        json!(if o["conditions"][0]["status"] == "True" { "Healthy" } else { "Unhealthy" })
    }),
    ("Message", "string", 0, |o, _| cells::or_empty(&o["conditions"][0]["message"])),
    ("Error", "string", 0, |o, _| cells::or_empty(&o["conditions"][0]["error"])),
];

pub(super) fn columns(plural: &str) -> Option<&'static [BuiltInColumn]> {
    Some(match plural {
        "apiservices" => {
            &[NAME, ("Service", "string", 0, service), ("Available", "string", 0, available), AGE]
        }
        "flowschemas" => &[
            NAME,
            ("PriorityLevel", "string", 0, |o, _| {
                cells::or_empty(&o["spec"]["priorityLevelConfiguration"]["name"])
            }),
            ("MatchingPrecedence", "string", 0, |o, _| {
                cells::number(&o["spec"]["matchingPrecedence"])
            }),
            ("DistinguisherMethod", "string", 0, |o, _| {
                cells::or_none(&o["spec"]["distinguisherMethod"]["type"])
            }),
            AGE,
            ("MissingPL", "string", 0, missing_level),
        ],
        "prioritylevelconfigurations" => &[
            NAME,
            ("Type", "string", 0, |o, _| cells::or_empty(&o["spec"]["type"])),
            ("NominalConcurrencyShares", "string", 0, |o, _| {
                number_or_none(&o["spec"]["limited"]["nominalConcurrencyShares"])
            }),
            ("Queues", "string", 0, |o, _| number_or_none(&queuing(o)["queues"])),
            ("HandSize", "string", 0, |o, _| number_or_none(&queuing(o)["handSize"])),
            ("QueueLengthLimit", "string", 0, |o, _| {
                number_or_none(&queuing(o)["queueLengthLimit"])
            }),
            AGE,
        ],
        "clustertrustbundles" => {
            &[NAME, ("SignerName", "string", 0, |o, _| cells::or_none(&o["spec"]["signerName"]))]
        }
        "podcertificaterequests" => &[
            NAME,
            ("PodName", "string", 0, |o, _| cells::or_empty(&o["spec"]["podName"])),
            ("ServiceAccountName", "string", 0, |o, _| {
                cells::or_empty(&o["spec"]["serviceAccountName"])
            }),
            ("NodeName", "string", 0, |o, _| cells::or_empty(&o["spec"]["nodeName"])),
            ("SignerName", "string", 0, |o, _| cells::or_empty(&o["spec"]["signerName"])),
            ("State", "string", 0, state_of_pod_certificate),
            ("UnverifiedUserAnnotations", "string", 0, |o, _| {
                cells::labels(&o["spec"]["unverifiedUserAnnotations"])
            }),
        ],
        "devicetaintrules" => &[
            NAME,
            ("Key", "string", 0, |o, _| cells::or_empty(&o["spec"]["taint"]["key"])),
            ("Value", "string", 0, |o, _| cells::or_empty(&o["spec"]["taint"]["value"])),
            ("Effect", "string", 0, |o, _| cells::or_empty(&o["spec"]["taint"]["effect"])),
            ("TimeAdded", "string", 0, |o, now| {
                cells::since(&o["spec"]["taint"]["timeAdded"], now).unwrap_or_else(|| json!(""))
            }),
            AGE,
        ],
        "certificatesigningrequests" => &[
            NAME,
            AGE,
            ("SignerName", "string", 0, |o, _| cells::or_none(&o["spec"]["signerName"])),
            ("Requestor", "string", 0, |o, _| cells::or_empty(&o["spec"]["username"])),
            ("RequestedDuration", "string", 0, |o, _| {
                let seconds = o["spec"]["expirationSeconds"].as_i64();
                json!(seconds.map_or("<none>".to_owned(), of_seconds))
            }),
            ("Condition", "string", 0, condition),
        ],
        "mutatingwebhookconfigurations" | "validatingwebhookconfigurations" => {
            &[NAME, ("Webhooks", "integer", 0, |o, _| cells::count(&o["webhooks"])), AGE]
        }
        "validatingadmissionpolicies" => &[
            NAME,
            ("Validations", "integer", 0, |o, _| cells::count(&o["spec"]["validations"])),
            ("ParamKind", "string", 0, parameter_kind),
            AGE,
        ],
        "mutatingadmissionpolicies" => &[
            NAME,
            ("Mutations", "integer", 0, |o, _| cells::count(&o["spec"]["mutations"])),
            ("ParamKind", "string", 0, parameter_kind),
            AGE,
        ],
        "validatingadmissionpolicybindings" | "mutatingadmissionpolicybindings" => &[
            NAME,
            ("PolicyName", "string", 0, |o, _| cells::or_empty(&o["spec"]["policyName"])),
            ("ParamRef", "string", 0, parameter),
            AGE,
        ],
        "resourceclaims" => &[NAME, ("State", "string", 0, claim_state), AGE],
        "resourceslices" => &[
            NAME,
            ("Node", "string", 0, |o, _| cells::or_empty(&o["spec"]["nodeName"])),
            ("Driver", "string", 0, |o, _| cells::or_empty(&o["spec"]["driver"])),
            ("Pool", "string", 0, |o, _| cells::or_empty(&o["spec"]["pool"]["name"])),
            AGE,
        ],
        _ => return None,
    })
}

fn state_of_pod_certificate(request: &Value, _: Timestamp) -> Value {
    let states = ["Issued", "Denied", "Failed"];
    let named = list(&request["status"]["conditions"]).filter_map(|it| text(&it["type"]));
    json!(named.filter(|name| states.contains(name)).last().unwrap_or("Pending"))
}

fn service(of: &Value, _: Timestamp) -> Value {
    let service = &of["spec"]["service"];
    let part = |field: &str| service[field].as_str().unwrap_or_default();
    if service.is_null() {
        return json!("Local");
    }
    json!(format!("{}/{}", part("namespace"), part("name")))
}

fn available(of: &Value, _: Timestamp) -> Value {
    let found = list(&of["status"]["conditions"]).find(|it| it["type"] == "Available");
    let Some(condition) = found else { return json!("Unknown") };
    let status = condition["status"].as_str().unwrap_or_default();
    match text(&condition["reason"]) {
        Some(reason) if status != "True" => json!(format!("{status} ({reason})")),
        _ => json!(status),
    }
}

fn missing_level(schema: &Value, _: Timestamp) -> Value {
    let found = list(&schema["status"]["conditions"]).find(|it| it["type"] == "Dangling");
    found.map_or(json!("?"), |condition| condition["status"].clone())
}

fn queuing(level: &Value) -> &Value {
    &level["spec"]["limited"]["limitResponse"]["queuing"]
}

fn number_or_none(value: &Value) -> Value {
    if value.is_null() { json!("<none>") } else { value.clone() }
}

fn condition(request: &Value, _: Timestamp) -> Value {
    let has = |ty: &str| list(&request["status"]["conditions"]).any(|it| it["type"] == ty);
    let mut words = vec![match (has("Denied"), has("Approved")) {
        (true, _) => "Denied",
        (_, true) => "Approved",
        _ => "Pending",
    }];
    words.extend(has("Failed").then_some("Failed"));
    words.extend(text(&request["status"]["certificate"]).map(|_| "Issued"));
    json!(words.join(","))
}

fn parameter_kind(policy: &Value, _: Timestamp) -> Value {
    let kind = &policy["spec"]["paramKind"];
    let part = |field: &str| kind[field].as_str().unwrap_or_default();
    if kind.is_null() {
        return json!("<unset>");
    }
    json!(format!("{}/{}", part("apiVersion"), part("kind")))
}

fn parameter(binding: &Value, _: Timestamp) -> Value {
    let reference = &binding["spec"]["paramRef"];
    match (text(&reference["name"]), text(&reference["namespace"])) {
        (Some(name), namespace) => json!(format!("{}/{name}", namespace.unwrap_or("*"))),
        (None, _) if !reference["selector"].is_null() => go_selector(&reference["selector"]),
        _ => json!("<unset>"),
    }
}

/// A selector as Go prints its struct.
fn go_selector(selector: &Value) -> Value {
    let labels = selector["matchLabels"].as_object().into_iter().flatten();
    let labels: Vec<String> = labels
        .map(|(key, value)| format!("{key}: {},", value.as_str().unwrap_or_default()))
        .collect();
    let labels = labels.concat();
    let expressions = list(&selector["matchExpressions"]).map(|rule| {
        let part = |field: &str| rule[field].as_str().unwrap_or_default();
        let values: Vec<&str> = list(&rule["values"]).filter_map(Value::as_str).collect();
        let (key, operator, values) = (part("key"), part("operator"), values.join(" "));
        format!("LabelSelectorRequirement{{Key:{key},Operator:{operator},Values:[{values}],}},")
    });
    let expressions = expressions.collect::<Vec<_>>().concat();
    json!(format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{labels}}},MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    ))
}

fn claim_state(claim: &Value, _: Timestamp) -> Value {
    let is_deleted = !claim["metadata"]["deletionTimestamp"].is_null();
    let is_allocated = !claim["status"]["allocation"].is_null();
    let is_reserved = cells::count(&claim["status"]["reservedFor"]) != 0;
    let states = [
        (is_deleted, "deleted"),
        (!is_allocated && !is_deleted, "pending"),
        (is_allocated, "allocated"),
        (is_allocated && is_reserved, "reserved"),
    ];
    let states: Vec<&str> =
        states.into_iter().filter_map(|(holds, word)| holds.then_some(word)).collect();
    json!(states.join(","))
}
