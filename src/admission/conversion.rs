//! Reads a `ConversionReview`, and writes its answer.

use serde::Deserialize;
use serde_json::{Value, json};

use super::envelope::{ReviewError, request_of};

const API_VERSION: &str = "apiextensions.k8s.io/v1";
const KIND: &str = "ConversionReview";

/// Objects that are to be converted.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Conversion {
    #[serde(default)]
    pub(crate) uid: String,
    #[serde(rename = "desiredAPIVersion")]
    pub(crate) desired: String,
    #[serde(default)]
    pub(crate) objects: Vec<Value>,
}

pub(crate) fn conversion(body: &[u8]) -> Result<Conversion, ReviewError> {
    let conversion: Conversion = request_of(body, (KIND, API_VERSION))?;
    if conversion.uid.is_empty() { Err(ReviewError::NoUid(KIND)) } else { Ok(conversion) }
}

/// The review with the converted objects, in their order, or with the reason why there are none.
pub(crate) fn converted(uid: &str, objects: Result<Vec<Value>, String>) -> Value {
    let mut review = json!({"apiVersion": API_VERSION, "kind": KIND, "response": {"uid": uid}});
    let response = &mut review["response"];
    match objects {
        Ok(objects) => {
            response["result"] = json!({"status": "Success"});
            // Within `json!` each of them would be copied.
            response["convertedObjects"] = Value::Array(objects);
        }
        Err(why) => response["result"] = json!({"status": "Failure", "message": why}),
    }
    review
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversion_has_its_objects_and_their_version() {
        let body = json!({
            "apiVersion": API_VERSION, "kind": KIND,
            "request": {"uid": "u", "desiredAPIVersion": "example.com/v1", "objects": [{"a": 1}]},
        });
        let read = conversion(body.to_string().as_bytes()).unwrap();
        assert_eq!((read.uid.as_str(), read.desired.as_str()), ("u", "example.com/v1"));
        assert_eq!(read.objects, [json!({"a": 1})]);
        for (field, value, expected) in [
            (
                "/apiVersion",
                json!("apiextensions.k8s.io/v1beta1"),
                "send a ConversionReview of apiextensions.k8s.io/v1",
            ),
            ("/request", Value::Null, "the ConversionReview has no `request`"),
            ("/request/uid", json!(""), "the request of the ConversionReview has no `uid`"),
            (
                "/request/objects",
                json!(3),
                "the request of the ConversionReview cannot be read: objects",
            ),
        ] {
            let mut odd = body.clone();
            *odd.pointer_mut(field).unwrap() = value;
            let error = conversion(odd.to_string().as_bytes()).unwrap_err().to_string();
            assert!(error.ends_with(expected), "{error}");
        }
    }

    #[test]
    fn an_answer_has_all_objects_or_the_reason_why_there_are_none() {
        let response = |objects| converted("u", objects)["response"].take();
        let all = response(Ok(vec![json!({"a": 1})]));
        assert_eq!(
            all,
            json!({"uid": "u", "convertedObjects": [{"a": 1}], "result": {"status": "Success"}})
        );
        let none = response(Err("Shop ns/a".to_owned()));
        assert_eq!(none["result"], json!({"status": "Failure", "message": "Shop ns/a"}));
        assert_eq!(none.get("convertedObjects"), None);
    }
}
