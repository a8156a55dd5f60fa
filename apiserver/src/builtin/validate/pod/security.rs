//! Security contexts of pods and containers.
//!
//! Privileged containers are allowed, as where clusters are made for operators.

use std::collections::BTreeSet;

use super::{
    super::{
        field::{Errors, Field},
        shown,
        volume::path,
    },
    windows,
};

/// What all containers of a pod share.
pub(super) fn shared(spec: &Field, errors: &mut Errors) {
    of_pod(spec, errors);
    let processes = spec.child("shareProcessNamespace");
    if processes.flag() && spec.child("hostPID").flag() {
        let detail = "ShareProcessNamespace and HostPID cannot both be enabled";
        errors.push(processes.invalid(detail));
    }
}

/// The context that all containers of a pod share.
fn of_pod(spec: &Field, errors: &mut Errors) {
    let context = spec.child("securityContext");
    if !context.is_given() {
        return;
    }
    for field in ["fsGroup", "runAsUser", "runAsGroup"] {
        if let Some(id) = context.given(field) {
            id.is_within(0, i32::MAX.into(), errors);
        }
    }
    for group in context.child("supplementalGroups").items() {
        group.is_within(0, i32::MAX.into(), errors);
    }
    sysctls(spec, &context.child("sysctls"), errors);
    one_of(&context, "fsGroupChangePolicy", &["Always", "OnRootMismatch"], errors);
    seccomp(&context, errors);
    windows::options(&context.child("windowsOptions"), errors);
    app_armor(&context, errors);
    one_of(&context, "supplementalGroupsPolicy", &["Merge", "Strict"], errors);
    one_of(&context, "seLinuxChangePolicy", &["MountOption", "Recursive"], errors);
}

/// The context of one container.
pub(super) fn of_container(pod: &Field, container: &Field, errors: &mut Errors) {
    let context = container.child("securityContext");
    if !context.is_given() {
        return;
    }
    for field in ["runAsUser", "runAsGroup"] {
        if let Some(id) = context.given(field) {
            id.is_within(0, i32::MAX.into(), errors);
        }
    }
    if let Some(mount) = context.given("procMount") {
        mount.is_one_of(&["Default", "Unmasked"], errors);
        let of_host = pod.given("hostUsers").is_none_or(|users| users.flag());
        if of_host && mount.text() == "Unmasked" {
            errors.push(mount.invalid("`hostUsers` must be false to use `Unmasked`"));
        }
    }
    seccomp(&context, errors);
    escalation(&context, errors);
    windows::options(&context.child("windowsOptions"), errors);
    app_armor(&context, errors);
}

fn one_of(context: &Field, name: &str, known: &[&str], errors: &mut Errors) {
    if let Some(field) = context.given(name) {
        field.is_one_of(known, errors);
    }
}

/// A container with all rights cannot be kept from getting more.
fn escalation(context: &Field, errors: &mut Errors) {
    let forbids = context.given("allowPrivilegeEscalation").is_some_and(|allowed| !allowed.flag());
    if !forbids {
        return;
    }
    let print = || shown::go("core.v1.SecurityContext", context.value());
    if context.child("privileged").flag() {
        let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
        errors.push(context.invalid_as(print(), detail));
    }
    for added in context.child("capabilities").child("add").items() {
        if added.text() == "CAP_SYS_ADMIN" {
            let detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` \
                          CAP_SYS_ADMIN";
            errors.push(context.invalid_as(print(), detail));
        }
    }
}

fn seccomp(context: &Field, errors: &mut Errors) {
    let Some(profile) = context.given("seccompProfile") else { return };
    let ty = profile.string("type");
    ty.is_required("type is required when seccompProfile is set", errors);
    if !ty.is_empty() {
        ty.is_one_of(&["Localhost", "RuntimeDefault", "Unconfined"], errors);
    }
    let file = profile.child("localhostProfile");
    match (ty.text(), file.is_given()) {
        ("Localhost", true) => path::descending(&file, errors),
        ("Localhost", false) => {
            errors.push(file.required("must be set when seccomp type is Localhost"));
        }
        (_, true) => {
            let print = shown::go("core.SeccompProfile", profile.value());
            let detail = "can only be set when seccomp type is Localhost";
            errors.push(file.invalid_as(print, detail));
        }
        (_, false) => {}
    }
}

fn app_armor(context: &Field, errors: &mut Errors) {
    let Some(profile) = context.given("appArmorProfile") else { return };
    let (ty, name) = (profile.string("type"), profile.child("localhostProfile"));
    match ty.text() {
        "Localhost" => {
            let required = "must be set when AppArmor type is Localhost";
            let trimmed = name.text().trim();
            if !name.is_given() {
                errors.push(name.required(required));
            } else if trimmed != name.text() {
                errors.push(name.invalid("must not be padded with whitespace"));
            } else {
                name.is_required(required, errors);
            }
            if name.text().len() > 4095 {
                errors.push(name.too_long(4095));
            }
        }
        "RuntimeDefault" | "Unconfined" => {
            if name.is_given() {
                errors.push(name.invalid("can only be set when AppArmor type is Localhost"));
            }
        }
        "" => errors.push(ty.required("type is required when appArmorProfile is set")),
        _ => errors.push(ty.not_supported(&["Localhost", "RuntimeDefault", "Unconfined"])),
    }
}

/// Settings of the kernel, none of them of the host.
fn sysctls(pod: &Field, list: &Field, errors: &mut Errors) {
    let mut known = BTreeSet::new();
    for sysctl in list.items() {
        let name = sysctl.string("name");
        if name.is_empty() {
            errors.push(name.required(""));
        } else if !is_sysctl(name.text()) {
            let detail = "must have at most 253 characters and match regex \
                          ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
            errors.push(name.invalid(detail));
        } else if known.contains(name.text()) {
            errors.push(name.duplicate());
        }
        of_host(pod, &name, errors);
        known.insert(name.text());
    }
}

fn is_sysctl(name: &str) -> bool {
    let outer = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_part = |part: &str| {
        let bytes = part.as_bytes();
        bytes.first().is_some_and(outer)
            && bytes.last().is_some_and(outer)
            && bytes.iter().all(|byte| outer(byte) || matches!(byte, b'-' | b'_'))
    };
    name.len() <= 253 && name.split(['.', '/']).all(is_part)
}

fn of_host(pod: &Field, name: &Field, errors: &mut Errors) {
    const OF_MESSAGES: [&str; 10] = [
        "kernel.sem",
        "kernel.shmall",
        "kernel.shmmax",
        "kernel.shmmni",
        "kernel.shm_rmid_forced",
        "kernel.shm",
        "kernel.msgmax",
        "kernel.msgmnb",
        "kernel.msgmni",
        "kernel.msg",
    ];
    let dotted = if name.text().find('/') < name.text().find('.') && name.text().contains('/') {
        name.text().replace('/', ".")
    } else {
        name.text().to_owned()
    };
    let of_messages = OF_MESSAGES.contains(&dotted.as_str()) || dotted.starts_with("fs.mqueue.");
    for (field, applies) in [("hostNetwork", dotted.starts_with("net.")), ("hostIPC", of_messages)]
    {
        if applies && pod.child(field).flag() {
            errors.push(name.invalid(format!("may not be specified when '{field}' is true")));
        }
    }
}
