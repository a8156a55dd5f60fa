//! Annotations of pods that mean something to Kubernetes itself.

use super::{
    super::field::{Errors, Field},
    context,
};
use crate::schema::FieldError;

const MIRROR: &str = "kubernetes.io/config.mirror";
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";
const SECCOMP: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_OF: &str = "container.seccomp.security.alpha.kubernetes.io/";
const APP_ARMOR_OF: &str = "container.apparmor.security.beta.kubernetes.io/";

/// The annotations of a pod or of a template.
pub(super) fn of_pod(annotations: &Field, spec: &Field, errors: &mut Errors) {
    if annotations.given(MIRROR).is_some() && spec.string("nodeName").is_empty() {
        let mirror = annotations.child(MIRROR).named(annotations.at().key(MIRROR));
        errors.push(mirror.invalid("must set spec.nodeName if mirror pod annotation is set"));
    }
    if let Some(cost) = annotations.given(DELETION_COST).filter(|cost| !is_number(cost.text())) {
        let cost = cost.named(annotations.at().key(DELETION_COST));
        errors.push(cost.invalid("must be a 32bit integer"));
    }
    for (key, profile) in annotations.entries() {
        if key == SECCOMP || key.starts_with(SECCOMP_OF) {
            seccomp(&profile.named(annotations.at().child(key)), errors);
        }
    }
    for (key, profile) in annotations.entries() {
        let Some(container) = key.strip_prefix(APP_ARMOR_OF) else { continue };
        let exists =
            context::each(spec).iter().any(|other| other.string("name").text() == container);
        if !exists {
            let error = FieldError::invalid(profile.at(), &container.into(), "container not found");
            errors.push(error);
        }
        let text = profile.text();
        let is_known = matches!(text, "" | "runtime/default" | "unconfined");
        if !is_known && !text.starts_with("localhost/") {
            errors.push(profile.invalid(format!("invalid AppArmor profile name: {text:?}")));
        }
    }
}

/// What must not change with a pod.
pub(super) fn update(new: &Field, old: &Field, spec: &Field, errors: &mut Errors) {
    let refuse = |key: &str, act: &str| {
        let at = new.at().key(key);
        if key.starts_with(APP_ARMOR_OF) {
            Some(FieldError::forbidden(&at, format!("may not {act} AppArmor annotations")))
        } else if key == MIRROR {
            Some(FieldError::forbidden(&at, format!("may not {act} mirror pod annotation")))
        } else {
            None
        }
    };
    for (key, before) in old.entries() {
        if new.child(key).value() != before.value() {
            errors.extend(refuse(key, "remove or update"));
        }
    }
    for (key, _) in new.entries() {
        if old.given(key).is_none() {
            errors.extend(refuse(key, "add"));
        }
    }
    of_pod(new, spec, errors);
}

/// Old annotations must say the same as the fields that replaced them.
pub(super) fn matches_fields(pod: &Field, errors: &mut Errors) {
    let (annotations, spec) = (pod.child("metadata").child("annotations"), pod.child("spec"));
    let of_pod = spec.child("securityContext");
    compare(&annotations.child(SECCOMP), &of_pod.child("seccompProfile"), &SECCOMP_NAMES, errors);
    for container in context::each(&spec) {
        let annotation =
            annotations.child(&format!("{SECCOMP_OF}{}", container.string("name").text()));
        let profile = container.child("securityContext").child("seccompProfile");
        compare(&annotation, &profile, &SECCOMP_NAMES, errors);
    }
    if spec.child("os").string("name").text() == "windows" {
        return;
    }
    for container in context::each(&spec) {
        let annotation =
            annotations.child(&format!("{APP_ARMOR_OF}{}", container.string("name").text()));
        let own = container.child("securityContext").child("appArmorProfile");
        let profile = if own.is_given() {
            own
        } else {
            of_pod.child("appArmorProfile").named(own.at().clone())
        };
        compare(&annotation, &profile, &APP_ARMOR_NAMES, errors);
    }
}

/// How annotations name profiles.
struct Names {
    what: &'static str,
    defaults: &'static [&'static str],
}

const SECCOMP_NAMES: Names =
    Names { what: "seccomp", defaults: &["runtime/default", "docker/default"] };
const APP_ARMOR_NAMES: Names = Names { what: "apparmor", defaults: &["runtime/default"] };

fn compare(annotation: &Field, profile: &Field, names: &Names, errors: &mut Errors) {
    if !annotation.is_given() || !profile.is_given() {
        return;
    }
    let (ty, file) = (profile.string("type"), profile.child("localhostProfile"));
    let what = names.what;
    let same_type = match ty.text() {
        "Unconfined" => annotation.text() == "unconfined",
        "RuntimeDefault" => names.defaults.contains(&annotation.text()),
        "Localhost" => annotation.text().starts_with("localhost/"),
        _ => true,
    };
    if !same_type {
        errors.push(ty.forbidden(format!("{what} type in annotation and field must match")));
    } else if ty.text() == "Localhost"
        && annotation.text().strip_prefix("localhost/") != file.value().as_str()
    {
        errors.push(file.forbidden(format!("{what} profile in annotation and field must match")));
    }
}

fn seccomp(profile: &Field, errors: &mut Errors) {
    let text = profile.text();
    if matches!(text, "runtime/default" | "docker/default" | "unconfined") {
        return;
    }
    let Some(path) = text.strip_prefix("localhost/") else {
        errors.push(profile.invalid("must be a valid seccomp profile"));
        return;
    };
    let path = path.into();
    super::super::volume::path::descending(&Field::new(&path, profile.at()), errors);
}

fn is_number(text: &str) -> bool {
    let starts_right =
        text == "0" || text.starts_with(['-', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    starts_right && text.parse::<i32>().is_ok()
}
