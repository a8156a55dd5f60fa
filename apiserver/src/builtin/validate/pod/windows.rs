//! What pods on Windows have, and what only pods on Linux may have.

use super::{
    super::field::{Errors, Field},
    context::each,
};
use crate::schema::{FieldError, go_value::quote, name_rule};

/// The options that a context has on Windows.
pub(super) fn options(options: &Field, errors: &mut Errors) {
    if let Some(name) = options.given("gmsaCredentialSpecName") {
        name.follows(name_rule::dns_subdomain, errors);
    }
    if let Some(spec) = options.given("gmsaCredentialSpec") {
        match spec.text().len() {
            0 => errors.push(spec.invalid("gmsaCredentialSpec cannot be an empty string")),
            65_537.. => {
                errors.push(spec.invalid("gmsaCredentialSpec size must be under 64 KiB"));
            }
            _ => {}
        }
    }
    if let Some(user) = options.given("runAsUserName") {
        errors.extend(user_name(user.text()).into_iter().map(|detail| user.invalid(detail)));
    }
}

/// What is wrong with `DOMAIN\user`.
fn user_name(name: &str) -> Vec<&'static str> {
    if name.is_empty() {
        return vec!["runAsUserName cannot be an empty string"];
    }
    if name.chars().any(|c| c.is_ascii_control()) {
        return vec!["runAsUserName cannot contain control characters"];
    }
    let (domain, user) = match name.split('\\').collect::<Vec<_>>()[..] {
        [user] => (None, user),
        [domain, user] => (Some(domain), user),
        _ => return vec!["runAsUserName cannot contain more than one backslash"],
    };
    let has_forbidden = |c: char| "\"/\\:;|=,+*?<>@[]".contains(c);
    let checks = [
        (
            domain.is_some_and(|domain| domain.len() >= 256),
            "runAsUserName's Domain length must be under 256 characters",
        ),
        (
            domain.is_some_and(|domain| !is_domain(domain)),
            "runAsUserName's Domain doesn't match the NetBios nor the DNS format",
        ),
        (user.is_empty(), "runAsUserName's User cannot be empty"),
        (user.len() > 104, "runAsUserName's User length must not be longer than 104 characters"),
        (
            !user.is_empty() && user.chars().all(|c| matches!(c, '.' | ' ')),
            "runAsUserName's User cannot contain only periods or spaces",
        ),
        (
            user.contains(has_forbidden),
            "runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]",
        ),
    ];
    checks.into_iter().filter(|(wrong, _)| *wrong).map(|(_, detail)| detail).collect()
}

fn is_domain(domain: &str) -> bool {
    let count = domain.chars().count();
    let is_net_bios = (1..=15).contains(&count)
        && !domain.starts_with('.')
        && !domain.contains(|c: char| "\\/:*?\"<>|".contains(c));
    let is_label = |label: &str| {
        let bytes = label.as_bytes();
        bytes.len() <= 63
            && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
            && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
            && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
    };
    is_net_bios || domain.split('.').all(is_label)
}

/// Either all containers run as processes of the host, or none.
pub(super) fn host_processes(spec: &Field, errors: &mut Errors) {
    let of_pod = host_process(spec);
    let containers = each(spec);
    let mut on_host = 0;
    for container in &containers {
        let of_container = host_process(container);
        if let (Some(pod), Some(container)) = (&of_pod, &of_container)
            && pod.flag() != container.flag()
        {
            let detail = format!(
                "pod hostProcess value must be identical if both are specified, was {}",
                pod.flag()
            );
            errors.push(container.invalid(detail));
        }
        let effective = of_container.or_else(|| of_pod.clone());
        on_host += usize::from(effective.is_some_and(|flag| flag.flag()));
    }
    if on_host == 0 {
        return;
    }
    if on_host != containers.len() {
        let detail = "If pod contains any hostProcess containers then all containers must be \
                      HostProcess containers";
        errors.push(spec.invalid_as(quote(""), detail));
    }
    if !spec.child("hostNetwork").flag() {
        let at = spec.at().child("hostNetwork");
        let detail = "hostNetwork must be true if pod contains any hostProcess containers";
        errors.push(FieldError::invalid(&at, &false.into(), detail));
    }
}

fn host_process<'a>(owner: &Field<'a>) -> Option<Field<'a>> {
    owner.child("securityContext").child("windowsOptions").given("hostProcess")
}

/// The operating system that a pod names forbids what only another has.
pub(super) fn operating_system(spec: &Field, errors: &mut Errors) {
    let Some(os) = spec.given("os") else { return };
    let name = os.string("name");
    match name.text() {
        "" => errors.push(name.required("")),
        "linux" => linux(spec, errors),
        "windows" => windows(spec, errors),
        _ => errors.push(name.named(os.at().clone()).not_supported(&["linux", "windows"])),
    }
}

fn linux(spec: &Field, errors: &mut Errors) {
    for owner in std::iter::once(spec.clone()).chain(each(spec)) {
        if let Some(options) = owner.child("securityContext").given("windowsOptions") {
            errors.push(options.forbidden("windows options cannot be set for a linux pod"));
        }
    }
}

fn windows(spec: &Field, errors: &mut Errors) {
    const OF_POD: [&str; 15] = [
        "securityContext.appArmorProfile",
        "securityContext.seLinuxOptions",
        "securityContext.seccompProfile",
        "securityContext.fsGroup",
        "securityContext.fsGroupChangePolicy",
        "securityContext.sysctls",
        "securityContext.runAsUser",
        "securityContext.runAsGroup",
        "securityContext.supplementalGroups",
        "securityContext.supplementalGroupsPolicy",
        "securityContext.seLinuxChangePolicy",
        "hostUsers",
        "hostPID",
        "hostIPC",
        "shareProcessNamespace",
    ];
    const OF_CONTAINER: [&str; 10] = [
        "securityContext.appArmorProfile",
        "securityContext.seLinuxOptions",
        "securityContext.seccompProfile",
        "securityContext.capabilities",
        "securityContext.readOnlyRootFilesystem",
        "securityContext.privileged",
        "securityContext.allowPrivilegeEscalation",
        "securityContext.procMount",
        "securityContext.runAsUser",
        "securityContext.runAsGroup",
    ];
    not_on_windows(spec, &OF_POD, errors);
    for container in each(spec) {
        not_on_windows(&container, &OF_CONTAINER, errors);
    }
}

fn not_on_windows(owner: &Field, fields: &[&str], errors: &mut Errors) {
    for path in fields {
        let field = super::super::immutable::at(owner, path);
        let is_plain = matches!(*path, "hostPID" | "hostIPC");
        let is_set = if is_plain { field.flag() } else { field.is_given() };
        if is_set {
            errors.push(field.forbidden("cannot be set for a windows pod"));
        }
    }
}
