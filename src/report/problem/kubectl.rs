//! Commands of kubectl as a user types them. Names come from objects, and are quoted where a shell would read more in
//! them.

use std::{borrow::Cow, fmt::Write};

use crate::{object::K8sType, plan::ChildId};

/// The most objects named in one command.
pub(crate) const NAMED: usize = 20;

/// `kubectl VERB TYPE NAME -n NAMESPACE`
pub(crate) fn on(verb: &str, ChildId { ty, key }: &ChildId) -> String {
    all_on(verb, ty, key.namespace.as_deref(), &[&key.name])
}

/// The same with arguments at the end, which are quoted.
pub(crate) fn with(verb: &str, id: &ChildId, arguments: &[&str]) -> String {
    arguments.iter().fold(on(verb, id), |mut command, argument| {
        // A text in memory takes everything.
        let _ = write!(command, " {}", quoted(argument));
        command
    })
}

/// `kubectl logs NAME -c CONTAINER -n NAMESPACE`, of the run before the present one if asked for.
pub(crate) fn logs(ChildId { ty: _, key }: &ChildId, container: &str, previous: bool) -> String {
    let mut command = format!("kubectl logs {} -c {}", quoted(&key.name), quoted(container));
    if let Some(namespace) = key.namespace.as_deref() {
        let _ = write!(command, " -n {}", quoted(namespace));
    }
    command + if previous { " --previous" } else { "" }
}

/// One command for the objects of the namespace and the type of the first.
pub(crate) fn on_all(verb: &str, ids: &[&ChildId]) -> String {
    let Some(ChildId { ty, key }) = ids.first() else { return String::new() };
    let alike = ids.iter().filter(|id| id.ty == *ty && id.key.namespace == key.namespace);
    let names: Vec<&str> = alike.take(NAMED).map(|id| &*id.key.name).collect();
    all_on(verb, ty, key.namespace.as_deref(), &names)
}

fn all_on(verb: &str, ty: &K8sType, namespace: Option<&str>, names: &[&str]) -> String {
    let mut command = format!("kubectl {verb} {}", ty.resource_name());
    for name in names {
        let _ = write!(command, " {}", quoted(name));
    }
    if let Some(namespace) = namespace {
        let _ = write!(command, " -n {}", quoted(namespace));
    }
    command
}

/// A word that a shell takes as it is.
pub(crate) fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,@".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''")).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::ObjectKey;

    #[test]
    fn a_name_is_one_word_of_a_shell_whatever_it_contains() {
        let ty =
            K8sType::cluster_scoped("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles");
        for (name, expected) in [
            ("web-1.a", "web-1.a"),
            ("system:node", "system:node"),
            ("a b", "'a b'"),
            ("$(reboot)", "'$(reboot)'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
        ] {
            let id = ChildId { ty: ty.clone(), key: ObjectKey::cluster(name) };
            let expected =
                format!("kubectl delete clusterroles.rbac.authorization.k8s.io {expected}");
            assert_eq!(on("delete", &id), expected);
        }
    }

    #[test]
    fn several_objects_share_a_command_if_they_share_type_and_namespace() {
        let ty = K8sType::namespaced("v1", "Pod", "pods");
        let id = |namespace: &str, name: &str| ChildId {
            ty: ty.clone(),
            key: ObjectKey::namespaced(namespace, name),
        };
        let (a, b, other) = (id("x", "a"), id("x", "b"), id("y", "c"));
        assert_eq!(on_all("delete", &[&a, &b, &other]), "kubectl delete pods a b -n x");
        assert_eq!(with("annotate", &a, &["k=v w"]), "kubectl annotate pods a -n x 'k=v w'");
    }
}
