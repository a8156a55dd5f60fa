//! What a container or a volume names and a kubelet does not find: an object, or a key in it.

use super::kubectl::{self, quoted};
use crate::{
    history::Action,
    object::{K8sType, ObjectKey},
    plan::ChildId,
};

/// A Secret or a `ConfigMap`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named<'a> {
    kind: Kind,
    name: &'a str,
    /// What it lacks, if it exists.
    key: Option<&'a str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Secret,
    ConfigMap,
}

impl<'a> Named<'a> {
    /// `secret "NAME" not found`, `couldn't find key KEY in ConfigMap NAMESPACE/NAME`
    pub(super) fn read(message: &'a str) -> Option<Self> {
        Self::with_key(message).or_else(|| Self::missing(message))
    }

    fn with_key(message: &'a str) -> Option<Self> {
        let (_, rest) = message.split_once("couldn't find key ")?;
        let (key, rest) = rest.split_once(" in ")?;
        let (kind, object) = rest.split_once(' ')?;
        let kind = match kind {
            "Secret" => Kind::Secret,
            "ConfigMap" => Kind::ConfigMap,
            _ => return None,
        };
        let object = object.split_whitespace().next()?;
        let name = object.rsplit('/').next()?;
        Some(Self { kind, name, key: Some(key) })
    }

    fn missing(message: &'a str) -> Option<Self> {
        [("secret", Kind::Secret), ("configmap", Kind::ConfigMap)].into_iter().find_map(
            |(word, kind)| {
                let (_, rest) = message.split_once(&format!("{word} \""))?;
                let (name, _) = rest.split_once("\" not found")?;
                Some(Self { kind, name, key: None })
            },
        )
    }

    pub(super) fn action(&self, namespace: &str) -> Action {
        let Self { kind, name, key } = self;
        let object = kind.name();
        if let Some(key) = key {
            let id = ChildId { ty: kind.ty(), key: ObjectKey::namespaced(namespace, name) };
            let text = format!("Add the key {key} to the {object} {name}");
            return Action::command(text, kubectl::on("edit", &id));
        }
        let create = match kind {
            Kind::Secret => "secret generic",
            Kind::ConfigMap => "configmap",
        };
        let command = format!("kubectl create {create} {} -n {}", quoted(name), quoted(namespace));
        Action::command(
            format!("Create the {object} {name} with what the container reads"),
            command,
        )
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Secret => "Secret",
            Self::ConfigMap => "ConfigMap",
        }
    }

    fn ty(self) -> K8sType {
        let plural = match self {
            Self::Secret => "secrets",
            Self::ConfigMap => "configmaps",
        };
        K8sType::namespaced("v1", self.name(), plural)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_kubelet_does_not_find_is_made_or_completed() {
        for (message, command) in [
            ("secret \"key\" not found", "kubectl create secret generic key -n shop"),
            (
                "MountVolume.SetUp failed for volume \"v\" : configmap \"settings\" not found",
                "kubectl create configmap settings -n shop",
            ),
            (
                "couldn't find key colour in ConfigMap shop/settings",
                "kubectl edit configmaps settings -n shop",
            ),
            ("couldn't find key a in Secret shop/key", "kubectl edit secrets key -n shop"),
        ] {
            let action = Named::read(message).unwrap().action("shop");
            assert_eq!(action.command.as_deref(), Some(command));
        }
        for other in ["", "couldn't find key a in Lease shop/b", "secret \"key\" is odd"] {
            assert_eq!(Named::read(other), None, "{other}");
        }
    }
}
