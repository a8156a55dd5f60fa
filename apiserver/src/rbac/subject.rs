//! To whom a binding gives a role.

use serde_json::Value;

use crate::users::{User, account_of};

/// A subject of a binding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Subject {
    /// The user of this name.
    User(String),
    /// The members of this group.
    Group(String),
    /// A service account; without a namespace, one of that of the binding.
    Account { namespace: String, name: String },
}

impl Subject {
    /// Reads a subject of a stored binding; nothing for one of another kind.
    pub(super) fn read(subject: &Value) -> Option<Self> {
        let text = |field: &str| subject[field].as_str().unwrap_or_default().to_owned();
        match subject["kind"].as_str()? {
            "User" => Some(Self::User(text("name"))),
            "Group" => Some(Self::Group(text("name"))),
            "ServiceAccount" => {
                Some(Self::Account { namespace: text("namespace"), name: text("name") })
            }
            _ => None,
        }
    }

    /// Whether a user is meant by a binding of this namespace.
    pub(super) fn is(&self, user: &User, binding_namespace: &str) -> bool {
        match self {
            Self::User(name) => user.name == *name,
            Self::Group(group) => user.is_in(group),
            Self::Account { namespace, name } => {
                let namespace = or(namespace, binding_namespace);
                account_of(&user.name) == Some((namespace, name.as_str()))
            }
        }
    }

    /// As messages show it.
    pub(super) fn shown(&self, binding_namespace: &str) -> String {
        match self {
            Self::User(name) => format!("User \"{name}\""),
            Self::Group(name) => format!("Group \"{name}\""),
            Self::Account { namespace, name } => {
                format!("ServiceAccount \"{name}/{}\"", or(namespace, binding_namespace))
            }
        }
    }
}

fn or<'a>(given: &'a str, otherwise: &'a str) -> &'a str {
    if given.is_empty() { otherwise } else { given }
}
