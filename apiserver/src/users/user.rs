//! Who sends a request. Values only.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The group of those who may do everything.
pub(crate) const MASTERS: &str = "system:masters";
/// The group of everybody who is known.
pub(crate) const AUTHENTICATED: &str = "system:authenticated";
/// The group of everybody else.
pub(crate) const UNAUTHENTICATED: &str = "system:unauthenticated";
/// Who is unknown.
const ANONYMOUS: &str = "system:anonymous";
/// What the administrator is called.
const ADMIN: &str = "admin";
/// What the name of a service account begins with.
const ACCOUNT_PREFIX: &str = "system:serviceaccount:";
/// The group of all service accounts.
const ACCOUNTS: &str = "system:serviceaccounts";

/// A user, as authentication finds them.
///
/// ```
/// use operetta_apiserver::User;
///
/// let jane = User::new("jane").group("readers");
/// let robot = User::service_account("default", "robot");
/// assert_eq!(robot.name(), "system:serviceaccount:default:robot");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct User {
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) groups: Vec<String>,
    pub(crate) extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// A user of this name, in no group but that of all authenticated users.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// The user that a service account is.
    pub fn service_account(namespace: &str, name: &str) -> Self {
        let groups = account_groups(namespace);
        Self { groups, ..Self::new(format!("{ACCOUNT_PREFIX}{namespace}:{name}")) }
    }

    /// Adds the user to a group; `system:masters` may do everything.
    #[must_use]
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.groups.push(group.into());
        self
    }

    /// What the user is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The user who may do everything.
    pub(crate) fn admin() -> Self {
        Self::new(ADMIN).group(MASTERS).authenticated()
    }

    /// Who is not known.
    pub(crate) fn anonymous() -> Self {
        Self::new(ANONYMOUS).group(UNAUTHENTICATED)
    }

    /// Whether it is nobody who is known.
    pub(crate) fn is_anonymous(&self) -> bool {
        self.name == ANONYMOUS
    }

    /// With the group of authenticated users, or of the others.
    #[must_use]
    pub(crate) fn authenticated(mut self) -> Self {
        let is_in = |group: &str| self.groups.iter().any(|known| known == group);
        let group = match (self.is_anonymous(), is_in(UNAUTHENTICATED), is_in(AUTHENTICATED)) {
            (true, false, _) => UNAUTHENTICATED,
            (false, false, false) => AUTHENTICATED,
            _ => return self,
        };
        self.groups.push(group.to_owned());
        self
    }

    /// Whether the user is in a group.
    pub(crate) fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|known| known == group)
    }

    /// As reviews show a user.
    pub(crate) fn info(&self) -> Value {
        let Self { name, uid, groups, extra } = self;
        let mut info = json!({});
        for (field, text) in [("username", name), ("uid", uid)] {
            if !text.is_empty() {
                info[field] = json!(text);
            }
        }
        if !groups.is_empty() {
            info["groups"] = json!(groups);
        }
        if !extra.is_empty() {
            info["extra"] = json!(extra);
        }
        info
    }
}

/// The groups of a service account.
pub(crate) fn account_groups(namespace: &str) -> Vec<String> {
    vec![ACCOUNTS.to_owned(), format!("{ACCOUNTS}:{namespace}")]
}

/// The namespace and the name of the service account that is called so.
pub(crate) fn account_of(user: &str) -> Option<(&str, &str)> {
    let (namespace, name) = user.strip_prefix(ACCOUNT_PREFIX)?.split_once(':')?;
    (!namespace.is_empty() && !name.is_empty() && !name.contains(':')).then_some((namespace, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_either_authenticated_or_not() {
        let groups = |user: User| user.authenticated().groups;
        assert_eq!(groups(User::new("jane")), [AUTHENTICATED]);
        assert_eq!(groups(User::new("jane").group(AUTHENTICATED)), [AUTHENTICATED]);
        assert_eq!(groups(User::new("jane").group(UNAUTHENTICATED)), [UNAUTHENTICATED]);
        assert_eq!(groups(User::new(ANONYMOUS)), [UNAUTHENTICATED]);
        assert_eq!(groups(User::anonymous()), [UNAUTHENTICATED]);
    }

    #[test]
    fn a_service_account_is_known_by_its_name() {
        let robot = User::service_account("a", "robot");
        assert_eq!(account_of(robot.name()), Some(("a", "robot")));
        for other in ["jane", "system:serviceaccount:a", "system:serviceaccount:a:b:c"] {
            assert_eq!(account_of(other), None, "{other}");
        }
    }
}
