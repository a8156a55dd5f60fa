//! Whether a user may be another one in a certain way.

use std::collections::BTreeMap;

use super::way::{GROUP, Way, node_of};
use crate::{
    log::Log,
    rbac::{
        attributes::{Attributes, ResourceTarget},
        authorizer::{Authorizer, forbidden},
    },
    status::StatusError,
    users::{MASTERS, User, account_groups, account_of},
};

/// The group of nodes.
const NODES: &str = "system:nodes";
/// From how many groups or extras on it is asked first whether all of them are allowed.
const MANY: usize = 4;

/// Who asks, and what for.
pub(super) struct Question<'a> {
    pub(super) authorizer: &'a Authorizer,
    pub(super) log: &'a Log,
    pub(super) requestor: &'a User,
    pub(super) attributes: &'a Attributes,
}

impl Question<'_> {
    /// The wanted user, if it can be had this way.
    pub(super) fn permit(&self, way: Way, wanted: &User) -> Result<User, StatusError> {
        if way != Way::Legacy {
            let verb = format!("impersonate-on:{}:{}", way.name(), self.attributes.verb);
            let on = Attributes { verb, target: self.attributes.target.clone() };
            self.check(&on)?;
        }
        let mut user = wanted.clone();
        self.check_name(way, wanted, &mut user)?;
        if !wanted.uid.is_empty() {
            self.check_part(way, GROUP, ("uids", ""), &wanted.uid)?;
        }
        self.check_groups(way, &wanted.groups)?;
        self.check_extra(way, &wanted.extra)?;
        Ok(user.authenticated())
    }

    fn check_name(&self, way: Way, wanted: &User, user: &mut User) -> Result<(), StatusError> {
        let mut target = ResourceTarget {
            group: way.group().to_owned(),
            resource: "users".to_owned(),
            name: wanted.name.clone(),
            ..ResourceTarget::default()
        };
        if let Some(node) = node_of(&wanted.name).filter(|_| way != Way::Legacy) {
            "nodes".clone_into(&mut target.resource);
            // It is asked about all nodes at once.
            let name = if way == Way::AssociatedNode { "*" } else { node };
            name.clone_into(&mut target.name);
            user.groups = vec![NODES.to_owned()];
        }
        if let Some((namespace, name)) = account_of(&wanted.name) {
            "serviceaccounts".clone_into(&mut target.resource);
            namespace.clone_into(&mut target.namespace);
            name.clone_into(&mut target.name);
            if wanted.groups.is_empty() {
                user.groups = account_groups(namespace);
            }
        }
        self.check(&Attributes::resource(&way.verb(), target))
    }

    fn check_groups(&self, way: Way, groups: &[String]) -> Result<(), StatusError> {
        let group = |name: &str| self.check_part(way, way.group(), ("groups", ""), name);
        if way != Way::Legacy {
            let refused = |name: &str, why: &str| {
                let attributes = part(way, way.group(), ("groups", ""), name);
                Err(forbidden(self.requestor, &attributes, why))
            };
            if groups.iter().any(String::is_empty) {
                return refused("", "impersonating the empty string group is not allowed");
            }
            if let Some(masters) = groups.iter().find(|group| *group == MASTERS) {
                return refused(masters, "impersonating the system:masters group is not allowed");
            }
            if groups.len() >= MANY && group("*").is_ok() {
                return Ok(());
            }
        }
        groups.iter().try_for_each(|name| group(name))
    }

    fn check_extra(
        &self,
        way: Way,
        extra: &BTreeMap<String, Vec<String>>,
    ) -> Result<(), StatusError> {
        let values = extra.iter().flat_map(|(key, values)| values.iter().map(move |it| (key, it)));
        let check =
            |key: &str, value: &str| self.check_part(way, GROUP, ("userextras", key), value);
        let is_large = extra.len() >= MANY || values.clone().count() >= MANY;
        if way != Way::Legacy && is_large && check("*", "*").is_ok() {
            return Ok(());
        }
        values.clone().try_for_each(|(key, value)| check(key, value))
    }

    fn check_part(
        &self,
        way: Way,
        group: &str,
        resource: (&str, &str),
        name: &str,
    ) -> Result<(), StatusError> {
        self.check(&part(way, group, resource, name))
    }

    fn check(&self, attributes: &Attributes) -> Result<(), StatusError> {
        self.authorizer.check(self.log, self.requestor, attributes)
    }
}

/// The right to something that a user has.
fn part(way: Way, group: &str, (resource, subresource): (&str, &str), name: &str) -> Attributes {
    let target = ResourceTarget {
        group: group.to_owned(),
        resource: resource.to_owned(),
        subresource: subresource.to_owned(),
        name: name.to_owned(),
        ..ResourceTarget::default()
    };
    Attributes::resource(&way.verb(), target)
}
