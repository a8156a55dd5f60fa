//! Writes the `response` of an `AdmissionReview`.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::review::{API_VERSION, KIND};
use crate::operator::admission::{Admission, Answered, Denial};

/// The review with the answer to the request of this uid, which was about this object.
pub(crate) fn answer(uid: &str, object: Option<&Value>, answered: Answered) -> Value {
    let Answered { admission: Admission { warnings, denial }, object: changed } = answered;
    let mut response = json!({"uid": uid, "allowed": denial.is_none()});
    if !warnings.is_empty() {
        response["warnings"] = warnings.into();
    }
    if let Some(denial) = denial {
        response["status"] = status(denial);
    } else if let (Some(object), Some(changed)) = (object, changed)
        && *object != changed
    {
        let patch = json_patch::diff(object, &changed);
        response["patchType"] = "JSONPatch".into();
        response["patch"] = STANDARD.encode(json!(patch).to_string()).into();
    }
    json!({"apiVersion": API_VERSION, "kind": KIND, "response": response})
}

fn status(Denial { reason, message, causes }: Denial) -> Value {
    let mut status = json!({
        "status": "Failure", "code": reason.code(), "reason": reason.name(), "message": message,
    });
    if !causes.is_empty() {
        let cause = |(field, message): (String, String)| json!({"reason": "FieldValueInvalid", "field": field, "message": message});
        status["details"] = json!({"causes": causes.into_iter().map(cause).collect::<Vec<_>>()});
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::admission::DenialReason;

    fn answered(admission: Admission, object: Option<Value>) -> Value {
        answer("u", Some(&json!({"a": 1, "b": [1]})), Answered { admission, object })["response"]
            .take()
    }

    #[test]
    fn an_object_that_did_not_change_has_no_patch() {
        let same = answered(Admission::allow().warn("w"), Some(json!({"b": [1], "a": 1})));
        assert_eq!(same, json!({"uid": "u", "allowed": true, "warnings": ["w"]}));
    }

    #[test]
    fn the_patch_makes_the_new_object_of_the_old_one() {
        let wanted = json!({"a": 2, "c": {"d": 1}});
        let response = answered(Admission::allow(), Some(wanted.clone()));
        assert_eq!(response["patchType"], "JSONPatch");
        let patch = STANDARD.decode(response["patch"].as_str().unwrap()).unwrap();
        let patch: json_patch::Patch = serde_json::from_slice(&patch).unwrap();
        let mut object = json!({"a": 1, "b": [1]});
        json_patch::patch(&mut object, &patch).unwrap();
        assert_eq!(object, wanted);
    }

    #[test]
    fn a_denial_has_the_status_of_its_reason_and_no_patch() {
        let denied = Admission::invalid("spec.a", "too large");
        let response = answered(denied, Some(json!({"a": 9})));
        assert_eq!((&response["allowed"], response.get("patch")), (&json!(false), None));
        let status = &response["status"];
        assert_eq!((&status["code"], &status["reason"]), (&json!(422), &json!("Invalid")));
        assert_eq!(status["message"], "spec.a: too large");
        assert_eq!(status["details"]["causes"][0]["field"], "spec.a");
        let forbidden = answered(Admission::deny(DenialReason::Forbidden, "no"), None);
        assert_eq!(forbidden["status"]["code"], 403);
        assert_eq!(forbidden["status"].get("details"), None);
    }
}
