//! What is wrong with the conversion of a definition.
//!
//! Of a service or an URL it only sees which of them is given, and the scheme.

use serde_json::Value;

use crate::schema::{FieldError, FieldPath, go_value};

/// The versions of a review that this server speaks.
const KNOWN: [&str; 2] = ["v1", "v1beta1"];

/// The errors of `spec.conversion`.
pub(super) fn errors(conversion: &Value, path: &FieldPath) -> Vec<FieldError> {
    let config = &conversion["webhook"]["clientConfig"];
    let versions = &conversion["webhook"]["conversionReviewVersions"];
    let (at_config, at_versions) =
        (path.child("webhookClientConfig"), path.child("conversionReviewVersions"));
    let has_versions = versions.as_array().is_some_and(|versions| !versions.is_empty());
    let mut errors = Vec::new();
    match conversion["strategy"].as_str().unwrap_or_default() {
        "Webhook" => {
            errors.extend(config_error(config, &at_config));
            errors.extend(versions_error(versions, &at_versions));
        }
        "None" => {
            let detail = "should not be set when strategy is not set to Webhook";
            if config.is_object() {
                errors.push(FieldError::forbidden(&at_config, detail));
            }
            if has_versions {
                errors.push(FieldError::forbidden(&at_versions, detail));
            }
        }
        "" => errors.push(FieldError::required(&path.child("strategy"), "")),
        _ => errors.push(FieldError::not_supported(
            &path.child("strategy"),
            &conversion["strategy"],
            ["None", "Webhook"],
        )),
    }
    errors
}

fn config_error(config: &Value, path: &FieldPath) -> Option<FieldError> {
    if !config.is_object() {
        return Some(FieldError::required(path, "required when strategy is set to Webhook"));
    }
    let url = config["url"].as_str();
    if url.is_some() == config["service"].is_object() {
        return Some(FieldError::required(path, "exactly one of url or service is required"));
    }
    let scheme = url?.split_once("://").map_or("", |(scheme, _)| scheme);
    let detail = "'https' is the only allowed URL scheme; desired format: https://host[/path]";
    (scheme != "https").then(|| FieldError::invalid(&path.child("url"), &scheme.into(), detail))
}

fn versions_error(versions: &Value, path: &FieldPath) -> Option<FieldError> {
    let list = versions.as_array().map_or(&[][..], Vec::as_slice);
    if list.is_empty() {
        return Some(FieldError::required(path, ""));
    }
    let is_known = list.iter().filter_map(Value::as_str).any(|version| KNOWN.contains(&version));
    (!is_known).then(|| {
        let detail = format!("must include at least one of {}", KNOWN.join(", "));
        let error = FieldError::invalid(path, &Value::Null, detail);
        FieldError { value: Some(go_value::json(versions)), ..error }
    })
}
