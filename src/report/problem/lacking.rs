//! What a request needs and does not find: a webhook that answers, or an object that another one names. Commands that
//! let requests pass without a webhook come after the one that starts it.

use super::kubectl::quoted;
use crate::history::Action;

/// A webhook that does not answer.
#[derive(Debug)]
pub(super) struct Webhook<'a> {
    pub(super) name: &'a str,
    /// Namespace and name of its Service.
    service: Option<(&'a str, &'a str)>,
}

/// An object that does not exist.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Lacking<'a> {
    PriorityClass(&'a str),
    ServiceAccount { namespace: &'a str, name: &'a str },
}

/// A webhook that converts objects between versions.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Converter<'a> {
    group: &'a str,
    pub(crate) kind: &'a str,
}

// === Webhook ===

impl<'a> Webhook<'a> {
    /// `failed calling webhook "NAME": .. Post "https://SERVICE.NAMESPACE.svc:443/..": ..`
    pub(super) fn down(message: &'a str) -> Option<Self> {
        let (_, rest) = message.split_once("failed calling webhook \"")?;
        let (name, rest) = rest.split_once('"')?;
        let host = rest.split_once("https://").and_then(|(_, it)| it.split(['/', ':']).next());
        let service = host.and_then(|host| host.strip_suffix(".svc")?.split_once('.'));
        Some(Self { name, service: service.map(|(name, namespace)| (namespace, name)) })
    }

    pub(super) fn actions(&self) -> Vec<Action> {
        let start = match self.service {
            Some((namespace, service)) => format!(
                "Start the Pods of the Service {namespace}/{service}, which answers for the webhook"
            ),
            None => format!("Start what answers for the webhook {}", self.name),
        };
        let look = self.service.map(|(namespace, service)| {
            let (namespace, service) = (quoted(namespace), quoted(service));
            let label = format!("kubernetes.io/service-name={service}");
            let command = format!("kubectl get endpointslices -n {namespace} -l {label}");
            Action::command("Look whether the Service has Pods", command)
        });
        [Action::text(start)].into_iter().chain(self.skipped()).chain(look).collect()
    }

    /// Requests pass while it does not answer.
    fn skipped(&self) -> Option<Action> {
        let name = self.name;
        let command = format!(
            "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations -o json | jq '.items |= \
             map(select(any(.webhooks[]?; .name == {name:?})) | .webhooks |= map(if .name == {name:?} then \
             .failurePolicy = \"Ignore\" else . end))' | kubectl replace -f -"
        );
        let text = "Or, if that is safe, let requests pass while it does not answer";
        is_name(name).then(|| Action::command(text, command))
    }
}

// === Lacking ===

impl<'a> Lacking<'a> {
    /// As the admission plugins `Priority` and `ServiceAccount` say it.
    pub(super) fn read(message: &'a str) -> Option<Self> {
        if let Some((_, rest)) = message.split_once(" is forbidden: no PriorityClass with name ") {
            let (name, _) = rest.split_once(" was found")?;
            return Some(Self::PriorityClass(name));
        }
        let (_, rest) = message.split_once(" is forbidden: error looking up service account ")?;
        let (object, rest) = rest.split_once(": ")?;
        let (namespace, name) = object.split_once('/')?;
        rest.contains("not found").then_some(Self::ServiceAccount { namespace, name })
    }

    /// The kind and the name.
    pub(super) fn object(&self) -> String {
        match self {
            Self::PriorityClass(name) => format!("PriorityClass {name}"),
            Self::ServiceAccount { name, .. } => format!("ServiceAccount {name}"),
        }
    }

    pub(super) fn created(&self) -> Action {
        let command = match self {
            Self::PriorityClass(name) => {
                format!("kubectl create priorityclass {} --value=1000", quoted(name))
            }
            Self::ServiceAccount { namespace, name } => {
                let (namespace, name) = (quoted(namespace), quoted(name));
                format!("kubectl create serviceaccount {name} -n {namespace}")
            }
        };
        Action::command(format!("Create the {}", self.object()), command)
    }
}

// === Converter ===

impl<'a> Converter<'a> {
    /// `conversion webhook for GROUP/VERSION, Kind=KIND failed: ..`
    pub(crate) fn down(message: &'a str) -> Option<Self> {
        let (_, rest) = message.split_once("conversion webhook for ")?;
        let (version, rest) = rest.split_once(", Kind=")?;
        let (kind, _) = rest.split_once(" failed: ")?;
        let (group, _) = version.split_once('/')?;
        (is_name(group) && is_name(kind)).then_some(Self { group, kind })
    }

    pub(super) fn actions(&self) -> Vec<Action> {
        let Self { group, kind } = self;
        let command = format!(
            "kubectl get customresourcedefinitions -o json | jq '.items |= map(select(.spec.group == {group:?} and \
             .spec.names.kind == {kind:?}) | .spec.conversion = {{strategy: \"None\"}})' | kubectl replace -f -"
        );
        vec![
            Action::text(format!("Start what answers for the conversion webhook of {kind}")),
            Action::command(
                "Or, if its versions have the same fields, convert without it",
                command,
            ),
        ]
    }
}

/// Whether it can be a name of Kubernetes, so that it needs no quotes in a program of jq.
fn is_name(word: &str) -> bool {
    word.chars().all(|letter| letter.is_ascii_alphanumeric() || "-.".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_created() {
        for (message, command) in [
            (
                "pods \"a\" is forbidden: no PriorityClass with name fast was found",
                "kubectl create priorityclass fast --value=1000",
            ),
            (
                "pods \"a\" is forbidden: error looking up service account shop/robot: serviceaccount \"robot\" not \
                 found",
                "kubectl create serviceaccount robot -n shop",
            ),
        ] {
            let action = Lacking::read(message).unwrap().created();
            assert_eq!(action.command.as_deref(), Some(command));
        }
    }

    #[test]
    fn a_webhook_is_started_before_it_is_passed_by() {
        let down = "failed calling webhook \"guard.example.dev\": failed to call webhook: Post \"https://guard.ops.svc:443/\"";
        let actions = Webhook::down(down).unwrap().actions();
        assert_eq!(actions[0].command, None);
        assert!(actions[1].command.as_deref().unwrap().contains(".name == \"guard.example.dev\""));
        let forged = down.replace("guard.example.dev", "x' | reboot; '");
        let actions = Webhook::down(&forged).unwrap().actions();
        assert!(actions.iter().all(|it| !it.command.as_ref().is_some_and(|it| it.contains("jq"))));
    }

    #[test]
    fn a_conversion_names_the_type_whose_webhook_is_away() {
        let why = "gadgets.example.dev: 500 InternalError: conversion webhook for example.dev/v2, Kind=Gadget failed: Post \
                   \"https://127.0.0.1:1/\": connection refused";
        let converter = Converter::down(why).unwrap();
        assert_eq!(converter, Converter { group: "example.dev", kind: "Gadget" });
        let actions = converter.actions();
        let command = actions[1].command.as_deref().unwrap();
        assert!(command.contains(".spec.names.kind == \"Gadget\""), "{command}");
    }
}
