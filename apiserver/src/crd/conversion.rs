//! What is wrong with the conversion of a definition.

use serde_json::{Value, json};

use super::{
    ratchet::Allowed,
    webhook::{KNOWN, are_known_or_none, is_bundle},
};
use crate::{
    builtin,
    schema::{FieldError, FieldPath, go_value, name_rule},
};

/// The errors of `spec.conversion`.
pub(super) fn errors(spec: &Value, path: &FieldPath, allowed: &Allowed) -> Vec<FieldError> {
    let conversion = &spec["conversion"];
    let mut errors = Vec::new();
    if conversion.is_null() {
        return errors;
    }
    let (strategy, at_strategy) = (&conversion["strategy"], path.child("strategy"));
    if spec["preserveUnknownFields"] == true && strategy != "None" {
        let detail = "must be None if spec.preserveUnknownFields is true";
        errors.push(FieldError::invalid(&at_strategy, strategy, detail));
    }
    match strategy.as_str().unwrap_or_default() {
        "None" | "Webhook" => {}
        "" => errors.push(FieldError::required(&at_strategy, "")),
        _ => errors.push(FieldError::not_supported(&at_strategy, strategy, ["None", "Webhook"])),
    }
    let webhook = &conversion["webhook"];
    errors.extend(if strategy == "Webhook" {
        webhook_errors(webhook, path, allowed)
    } else {
        superfluous_errors(webhook, path)
    });
    errors
}

fn webhook_errors(webhook: &Value, path: &FieldPath, allowed: &Allowed) -> Vec<FieldError> {
    let (config, at_config) = (&webhook["clientConfig"], path.child("webhookClientConfig"));
    let mut errors = Vec::new();
    if config.is_null() {
        errors.push(FieldError::required(&at_config, "required when strategy is set to Webhook"));
    } else {
        errors.extend(builtin::webhook_client_errors(config, &at_config));
        if !allowed.bundle && !is_bundle(&config["caBundle"]) {
            errors.push(bundle_error(&config["caBundle"], &at_config.child("caBundle")));
        }
    }
    let versions = &webhook["conversionReviewVersions"];
    let at_versions = path.child("conversionReviewVersions");
    errors.extend(versions_errors(versions, &at_versions, allowed.unknown_reviews));
    errors
}

fn superfluous_errors(webhook: &Value, path: &FieldPath) -> Vec<FieldError> {
    let has_versions =
        webhook["conversionReviewVersions"].as_array().is_some_and(|versions| !versions.is_empty());
    let detail = "should not be set when strategy is not set to Webhook";
    let given = [
        ("webhookClientConfig", webhook["clientConfig"].is_object()),
        ("conversionReviewVersions", has_versions),
    ];
    let given = given.into_iter().filter(|(_, is_given)| *is_given);
    given.map(|(field, _)| FieldError::forbidden(&path.child(field), detail)).collect()
}

fn bundle_error(bundle: &Value, path: &FieldPath) -> FieldError {
    let detail = "unable to load root certificates: unable to parse bytes as PEM block";
    FieldError::invalid(path, bundle, detail)
}

fn versions_errors(versions: &Value, path: &FieldPath, unknown: bool) -> Vec<FieldError> {
    let list = versions.as_array().map_or(&[][..], Vec::as_slice);
    if list.is_empty() {
        return vec![FieldError::required(path, "")];
    }
    let mut errors = Vec::new();
    for (at, version) in list.iter().enumerate() {
        let path = path.index(at);
        if list[..at].contains(version) {
            errors.push(FieldError::invalid(&path, version, "duplicate version"));
            continue;
        }
        let wrong = name_rule::dns_1035_label(version.as_str().unwrap_or_default(), false);
        errors.extend(wrong.into_iter().map(|why| FieldError::invalid(&path, version, why)));
    }
    if !unknown && !are_known_or_none(versions) {
        let detail = format!("must include at least one of {}", KNOWN.join(", "));
        let error = FieldError::invalid(path, &json!(null), detail);
        errors.push(FieldError { value: Some(go_value::json(versions)), ..error });
    }
    errors
}
