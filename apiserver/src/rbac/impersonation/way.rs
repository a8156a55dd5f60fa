//! The ways to be allowed to be another user.

use crate::{
    schema::name_rule,
    users::{User, account_of},
};

/// The group of the resources that stand for what a user is.
pub(super) const GROUP: &str = "authentication.k8s.io";
/// What the name of a node's user begins with.
const NODE_PREFIX: &str = "system:node:";
/// Where a token says on which node its pod is.
const NODE_NAME: &str = "authentication.kubernetes.io/node-name";
/// A way to be allowed to be another user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    AssociatedNode,
    ArbitraryNode,
    ServiceAccount,
    UserInfo,
    Legacy,
}

/// All of them, in their order.
pub(super) const WAYS: [Way; 5] =
    [Way::AssociatedNode, Way::ArbitraryNode, Way::ServiceAccount, Way::UserInfo, Way::Legacy];

impl Way {
    /// Whether a user can be had this way.
    pub(super) fn fits(self, wanted: &User, requestor: &User) -> bool {
        let has_only_name =
            wanted.uid.is_empty() && wanted.groups.is_empty() && wanted.extra.is_empty();
        let node = node_of(&wanted.name);
        let is_account = account_of(&wanted.name).is_some();
        match self {
            Self::AssociatedNode => {
                has_only_name && node.is_some_and(|node| is_on(requestor, node))
            }
            Self::ArbitraryNode => has_only_name && node.is_some(),
            Self::ServiceAccount => has_only_name && is_account,
            Self::UserInfo => node.is_none() && !is_account,
            Self::Legacy => true,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::AssociatedNode => "associated-node",
            Self::ArbitraryNode => "arbitrary-node",
            Self::ServiceAccount => "serviceaccount",
            Self::UserInfo => "user-info",
            Self::Legacy => "",
        }
    }

    pub(super) fn verb(self) -> String {
        match self {
            Self::Legacy => "impersonate".to_owned(),
            way => format!("impersonate:{}", way.name()),
        }
    }

    /// The group in which users and groups are.
    pub(super) fn group(self) -> &'static str {
        if self == Self::Legacy { "" } else { GROUP }
    }
}

/// The node that is called so.
pub(super) fn node_of(user: &str) -> Option<&str> {
    let name = user.strip_prefix(NODE_PREFIX)?;
    name_rule::dns_subdomain(name, false).is_empty().then_some(name)
}

/// Whether a user is a service account whose pod is on a node.
fn is_on(user: &User, node: &str) -> bool {
    let known = user.extra.get(NODE_NAME).map(Vec::as_slice);
    account_of(&user.name).is_some() && known == Some(&[node.to_owned()])
}
