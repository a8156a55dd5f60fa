//! The words and the cures for a request that the API server refused or did not answer.

use super::{
    case::{Case, FIELDS},
    kubectl::{self, quoted},
    lacking::Webhook,
    trouble::Trouble,
};
use crate::{
    history::Action,
    journal::RequestFailure,
    object::{K8sType, ObjectKey},
    plan::ChildId,
    reply::{ApiError, Refusal},
};

/// `parent` is the object whose handler returned the child.
pub(super) fn trouble(failure: &RequestFailure, parent: &ChildId) -> Trouble {
    let about = failure.about.as_ref().unwrap_or(parent);
    let message = failure.message.to_string();
    match &failure.error {
        ApiError::Refused { refusal, .. } => of_refusal(refusal, &message, about, parent),
        ApiError::Unlabelled { label } => Trouble::of(about, format!("lost its label {label}"))
            .because(message)
            .cured_by([Action::text("Exclude the label from the policy that removes it")]),
        ApiError::NotLeading { .. } => Trouble::of(about, "is left to another process")
            .because(message)
            .cured_by([Action::text("Nothing is to be done: the leader does the work")]),
        ApiError::Unreachable { .. } | ApiError::TimedOut { .. } | ApiError::Malformed { .. } => {
            Trouble::of(about, "waits for the API server").because(message).cured_by([unanswered()])
        }
    }
}

fn of_refusal(refusal: &Refusal, message: &str, about: &ChildId, parent: &ChildId) -> Trouble {
    let case = Case::of(refusal, about, message);
    let trouble = Trouble::of(about, says(&case));
    let trouble = because(&case, refusal, message).into_iter().fold(trouble, Trouble::because);
    match case {
        Case::Immutable(_) => trouble
            .cured_on_each("delete", "Delete it, and the operator creates it again")
            .cured_by([Action::in_code("Set `ChildConfig::recreate_if_immutable`")]),
        case => trouble.cured_by(actions(&case, about, parent)),
    }
}

/// What is wrong, after the name of the object.
fn says(case: &Case<'_>) -> String {
    match case {
        Case::NoNamespace(namespace) => {
            format!("cannot be written: the namespace {namespace} does not exist")
        }
        Case::Terminating(namespace) => {
            format!("cannot be created: the namespace {namespace} is being deleted")
        }
        Case::Permission(grant) => {
            let (verb, resource) = (grant.verb, grant.resource_name());
            format!("cannot be written: the permission to {verb} {resource} is missing")
        }
        Case::Quota(quota) => format!("exceeds the ResourceQuota {}", quota.name),
        Case::Demanded(quota) => {
            format!("lacks {}, which the ResourceQuota {} counts", quota.fields(), quota.name)
        }
        Case::Lacks(lacking) => format!("needs the {}, which does not exist", lacking.object()),
        Case::LimitRange(namespace) => {
            format!("is outside of the LimitRange of namespace {namespace}")
        }
        Case::PodSecurity(level) => {
            format!("violates the Pod security level {level} of its namespace")
        }
        Case::WebhookDown(Webhook { name, .. }) => {
            format!("cannot be written: the webhook {name} does not answer")
        }
        Case::Webhook(name, _) => format!("was denied by the webhook {name}"),
        Case::Policy(name) => format!("was denied by the policy {name}"),
        Case::Immutable(fields) => format!("cannot be changed: {fields}"),
        Case::Invalid(fields) => format!("was refused: {fields}"),
        Case::Credentials => {
            "cannot be written: the API server does not accept the credentials".to_owned()
        }
        Case::Throttled => "waits: the API server limits requests".to_owned(),
        Case::NotServed => "has a type that is not served".to_owned(),
        Case::Other => "was refused".to_owned(),
    }
}

/// The evidence without the name of the object, so that the same of many children is one line.
fn because(case: &Case<'_>, refusal: &Refusal, message: &str) -> Vec<String> {
    match case {
        Case::Permission(grant) => vec![grant.sentence()],
        Case::Quota(quota) => vec![quota.sentence()],
        Case::Demanded(quota) => vec![quota.sentence()],
        Case::Webhook(name, why) => vec![format!("{name} says: {why}")],
        // Where the message may be shown, its parts may be.
        Case::Immutable(_) | Case::Invalid(_) if message.contains(&refusal.message) => {
            let causes = refusal.causes.iter().take(FIELDS);
            causes.map(|cause| format!("{}: {}", cause.field, cause.message)).collect()
        }
        _ => vec![without_name(message).to_owned()],
    }
}

fn actions(case: &Case<'_>, about: &ChildId, parent: &ChildId) -> Vec<Action> {
    match case {
        Case::NoNamespace(name) => vec![created(name)],
        Case::Terminating(name) => vec![created_again(name)],
        Case::Permission(grant) => vec![grant.action()],
        Case::Quota(quota) => quota.actions(about),
        Case::Lacks(lacking) => {
            [lacking.created()].into_iter().chain(corrected(about, parent)).collect()
        }
        Case::WebhookDown(webhook) => webhook.actions(),
        Case::NotServed => not_served(&about.ty),
        Case::Credentials => {
            vec![Action::text(
                "Renew the credentials of the operator, which reads them again by itself",
            )]
        }
        Case::Throttled => {
            vec![Action::text(
                "Nothing is to be done: it is tried again when the API server allows it",
            )]
        }
        Case::LimitRange(namespace) => {
            let command = format!("kubectl edit limitranges -n {}", quoted(namespace));
            let raise = Action::command("Raise the limit of the namespace", command);
            [raise].into_iter().chain(corrected(about, parent)).collect()
        }
        Case::PodSecurity(level) => {
            corrected(about, parent).into_iter().chain(allowed(level, about)).collect()
        }
        Case::Policy(name) => {
            let edit = Action::command("Or change the policy", kubectl::on("edit", &policy(name)));
            let mut actions = corrected(about, parent);
            actions.insert(1, edit);
            actions
        }
        Case::Demanded(_)
        | Case::Webhook(..)
        | Case::Immutable(_)
        | Case::Invalid(_)
        | Case::Other => corrected(about, parent),
    }
}

/// The value comes from the spec of the parent, or from the handler.
fn corrected(about: &ChildId, parent: &ChildId) -> Vec<Action> {
    let field =
        if about == parent { "the field" } else { "the field of the parent that it comes from" };
    vec![
        Action::command(format!("Correct {field}"), kubectl::on("edit", parent)),
        Action::in_code("Return a valid child, and validate the parent in its CRD"),
    ]
}

fn created(namespace: &str) -> Action {
    Action::command(
        "Create the namespace",
        format!("kubectl create namespace {}", quoted(namespace)),
    )
}

fn created_again(namespace: &str) -> Action {
    let name = quoted(namespace);
    let command = format!(
        "kubectl wait --for=delete namespace/{name} --timeout=5m && kubectl create namespace {name}"
    );
    Action::command("Wait until the namespace is gone, and create it again", command)
}

fn allowed(level: &str, about: &ChildId) -> Option<Action> {
    let namespace = about.key.namespace.as_deref()?;
    let lower = if level == "restricted" { "baseline" } else { "privileged" };
    let command = format!(
        "kubectl label namespace {} pod-security.kubernetes.io/enforce={lower} --overwrite",
        quoted(namespace)
    );
    Some(Action::command(format!("Or let the namespace run Pods of the level {lower}"), command))
}

fn policy(name: &str) -> ChildId {
    let ty = K8sType::cluster_scoped(
        "admissionregistration.k8s.io/v1",
        "ValidatingAdmissionPolicy",
        "validatingadmissionpolicies",
    );
    ChildId { ty, key: ObjectKey::cluster(name) }
}

pub(crate) fn unanswered() -> Action {
    let text = "Look why the API server does not answer; what is to be done is then done by itself";
    Action::command(text, "kubectl get --raw '/readyz?verbose'")
}

/// A type that has to be installed, or a version of it that has to be served.
pub(super) fn not_served(ty: &K8sType) -> Vec<Action> {
    let (name, version) = (ty.resource_name(), ty.version());
    let install =
        format!("Install {name} in version {version}; the operator then continues by itself");
    let serve = format!(
        "kubectl get customresourcedefinitions {} -o json | jq '(.spec.versions[] | select(.name == {version:?})).served = \
         true' | kubectl replace -f -",
        quoted(&name)
    );
    vec![
        Action::text(install),
        Action::command("Or, if the type has this version, serve it again", serve),
    ]
}

/// The message without the object at its beginning: `403 Forbidden: pods "a" is forbidden: why`.
fn without_name(message: &str) -> &str {
    let after = |words: &str| message.split_once(words).map(|(_, why)| why);
    after(" is forbidden: ").or_else(|| after(" is invalid: ")).unwrap_or(message)
}
