//! Containers: what all have in common, and what ordinary, init and ephemeral ones may have.

use std::collections::BTreeSet;

use super::{
    super::{
        field::{Errors, Field},
        name, number, volume,
    },
    context::{Context, each},
    env, mount, probe, resources, restart, security,
};
use crate::{
    builtin::path,
    schema::{FieldPath, go_value::quote, name_rule},
};

/// All containers of a pod.
pub(super) fn all(pod: &Context, errors: &mut Errors) {
    let spec = &pod.spec;
    ordinary(pod, &spec.child("containers"), errors);
    init(pod, &spec.child("initContainers"), errors);
    ephemeral(pod, &spec.child("ephemeralContainers"), errors);
}

/// The image of a pod, unlike that of a template, is not padded.
pub(super) fn image_is_trimmed(container: &Field, errors: &mut Errors) {
    let image = container.string("image");
    if image.text() != image.text().trim() {
        errors.push(image.invalid("must not have leading or trailing whitespace"));
    }
}

/// Variables that are read from a file need a volume that the pod itself fills.
pub(super) fn file_volumes(spec: &Field, errors: &mut Errors) {
    let volumes = spec.child("volumes").items();
    for container in each(spec) {
        for variable in container.child("env").items() {
            let Some(file) = variable.child("valueFrom").given("fileKeyRef") else { continue };
            let wanted = file.string("volumeName");
            let found = volumes.iter().find(|v| v.string("name").text() == wanted.text());
            match found {
                None => errors.push(name::not_found(&wanted, "")),
                Some(volume) if volume.given("emptyDir").is_none() => {
                    errors.push(wanted.invalid("referenced volume must be of type emptyDir"));
                }
                Some(_) => {}
            }
        }
    }
}

fn ordinary(pod: &Context, list: &Field, errors: &mut Errors) {
    if list.is_empty() {
        errors.push(list.required(""));
        return;
    }
    let mut names = BTreeSet::new();
    let containers = list.items();
    for container in &containers {
        common(pod, container, errors);
        let own = container.string("name");
        if !names.insert(own.text()) {
            errors.push(own.duplicate());
        }
        probe::of_container(&pod.spec, container, errors);
        restart::policy(container, errors);
    }
    host_ports(containers.iter().map(|container| (container, container.at())), errors);
}

fn init(pod: &Context, list: &Field, errors: &mut Errors) {
    let mut names = names_of(&pod.spec, &["containers"]);
    for container in list.items() {
        common(pod, &container, errors);
        restart::policy(&container, errors);
        let own = container.string("name");
        if !own.is_empty() && !names.insert(own.text()) {
            errors.push(own.duplicate());
        }
        // Init containers run one after the other; the real server counts each of them as the first.
        host_ports([(&container, &list.at().index(0))].into_iter(), errors);
        let is_sidecar = container.string("restartPolicy").text() == "Always";
        if is_sidecar {
            probe::of_container(&pod.spec, &container, errors);
        } else {
            for field in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
                if let Some(given) = container.given(field) {
                    let detail = "may not be set for init containers without restartPolicy=Always";
                    errors.push(given.forbidden(detail));
                }
            }
            for policy in container.child("resizePolicy").items() {
                let policy = policy.string("restartPolicy");
                if policy.text() == "RestartContainer" {
                    let detail =
                        "must not be set to 'RestartContainer' for non-sidecar initContainers";
                    errors.push(policy.invalid(detail));
                }
            }
        }
    }
}

fn ephemeral(pod: &Context, list: &Field, errors: &mut Errors) {
    let others = names_of(&pod.spec, &["containers", "initContainers"]);
    let mut names = others.clone();
    for container in list.items() {
        common(pod, &container, errors);
        image_is_trimmed(&container, errors);
        let own = container.string("name");
        if !names.insert(own.text()) {
            errors.push(own.duplicate());
        }
        let target = container.string("targetContainerName");
        if !target.is_empty() && !others.contains(target.text()) {
            errors.push(name::not_found(&target, ""));
        }
        only_allowed(&container, errors);
    }
}

/// What an ephemeral container cannot have, in the order of the fields of a container.
fn only_allowed(container: &Field, errors: &mut Errors) {
    const NOT_ALLOWED: [&str; 9] = [
        "ports",
        "resources",
        "resizePolicy",
        "restartPolicy",
        "restartPolicyRules",
        "livenessProbe",
        "readinessProbe",
        "startupProbe",
        "lifecycle",
    ];
    let detail = "cannot be set for an Ephemeral Container";
    for field in NOT_ALLOWED {
        let given = container.child(field);
        if !given.is_empty() {
            errors.push(given.forbidden(detail));
        }
    }
    for mount in container.child("volumeMounts").items() {
        for field in ["subPath", "subPathExpr"] {
            if !mount.string(field).is_empty() {
                errors.push(mount.child(field).forbidden(detail));
            }
        }
    }
}

fn names_of<'a>(spec: &Field<'a>, lists: &[&str]) -> BTreeSet<&'a str> {
    let containers = lists.iter().flat_map(|list| spec.child(list).items());
    containers.map(|container| container.string("name").text()).collect()
}

fn common(pod: &Context, container: &Field, errors: &mut Errors) {
    let name = container.string("name");
    name.is_required("", errors);
    name.follows_unless_empty(name_rule::dns_label, errors);
    container.string("image").is_required("", errors);
    let policy = container.string("terminationMessagePolicy");
    policy.is_required("", errors);
    if !policy.is_empty() {
        policy.is_one_of(&["File", "FallbackToLogsOnError"], errors);
    }
    ports(&container.child("ports"), errors);
    env::variables(&container.child("env"), errors);
    env::sources(&container.child("envFrom"), errors);
    mount::mounts(pod, container, errors);
    mount::devices(pod, container, errors);
    volume::pull_policy(&container.string("imagePullPolicy"), errors);
    resources::of_container(&container.child("resources"), &pod.claims, errors);
    restart::resize_policy(&pod.spec, &container.child("resizePolicy"), errors);
    security::of_container(&pod.spec, container, errors);
}

fn ports(ports: &Field, errors: &mut Errors) {
    let mut names = BTreeSet::new();
    for port in ports.items() {
        let name = port.string("name");
        if !name.is_empty() {
            let before = errors.len();
            number::port_name(name.value(), name.at(), errors);
            if errors.len() == before && !names.insert(name.text()) {
                errors.push(name.duplicate());
            }
        }
        let own = port.integer("containerPort");
        if own.number() == 0 {
            errors.push(own.required(""));
        } else {
            number::port(own.value(), own.at(), errors);
        }
        let on_host = port.integer("hostPort");
        if on_host.number() != 0 {
            number::port(on_host.value(), on_host.at(), errors);
        }
        let protocol = port.string("protocol");
        protocol.is_required("", errors);
        if !protocol.is_empty() {
            protocol.is_one_of(&["SCTP", "TCP", "UDP"], errors);
        }
    }
}

/// No two containers that run at the same time have the same port of the host.
fn host_ports<'b, 'a: 'b>(
    containers: impl Iterator<Item = (&'b Field<'a>, &'b FieldPath)>,
    errors: &mut Errors,
) {
    let mut known = BTreeSet::new();
    for (container, at) in containers {
        for (index, port) in container.child("ports").items().iter().enumerate() {
            let number = port.integer("hostPort");
            if number.number() == 0 {
                continue;
            }
            let text = |field| path::text(port.value(), field);
            let shown = format!("{}/{}/{}", text("protocol"), text("hostIP"), number.number());
            if !known.insert(shown.clone()) {
                let at = at.child("ports").index(index).child("hostPort");
                let error = number.named(at).duplicate();
                errors.push(crate::schema::FieldError { value: Some(quote(&shown)), ..error });
            }
        }
    }
}
