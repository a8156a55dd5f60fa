//! Nobody hands out rights that they do not have: roles are written and bound only with rules that the writer has,
//! or that they may `escalate` or `bind` expressly.

use serde_json::Value;

use super::{
    attributes::{Attributes, ResourceTarget},
    authorizer::Authorizer,
    covers::missing,
    group::GROUP,
    policy::{RoleKind, RoleReference, joined},
    rule::{Rule, quoted},
};
use crate::{
    group_resource::GroupResource,
    log::Log,
    schema::go_value::quote,
    status::StatusError,
    users::{MASTERS, User},
};

/// Who writes, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Writer<'a> {
    /// Who decides.
    pub authorizer: &'a Authorizer,
    /// The roles and bindings.
    pub log: &'a Log,
    /// Who writes.
    pub user: &'a User,
}

/// Fields that the garbage collection changes.
const COLLECTED: [&str; 4] = ["ownerReferences", "finalizers", "selfLink", "managedFields"];

impl Writer<'_> {
    /// Refuses to write a role or a binding that gives more than the writer has. `path` is the resource, the
    /// namespace and the name in the path.
    pub(crate) fn check(
        &self,
        path: (&GroupResource, &str, &str),
        live: Option<&Value>,
        next: &Value,
    ) -> Result<(), StatusError> {
        let (resource, namespace, name) = path;
        let is_free = !self.authorizer.is_enforced() || self.user.is_in(MASTERS);
        if resource.group != GROUP || is_free {
            return Ok(());
        }
        let is_role = matches!(resource.plural.as_str(), "roles" | "clusterroles");
        if is_role && self.may("escalate", &resource.plural, namespace, name) {
            return Ok(());
        }
        if live.is_some_and(|live| is_collection(live, next)) {
            return Ok(());
        }
        if is_role {
            self.check_role(resource, namespace, live, next)
        } else {
            self.check_binding(resource, namespace, next)
        }
    }

    /// Refuses to create what the writer may only update or patch.
    pub(crate) fn check_creation(
        &self,
        (resource, namespace, name): (&GroupResource, &str, &str),
    ) -> Result<(), StatusError> {
        let target = ResourceTarget {
            group: resource.group.clone(),
            resource: resource.plural.clone(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            ..ResourceTarget::default()
        };
        self.authorizer.check(self.log, self.user, &Attributes::resource("create", target))
    }

    fn check_role(
        &self,
        resource: &GroupResource,
        namespace: &str,
        live: Option<&Value>,
        next: &Value,
    ) -> Result<(), StatusError> {
        let refuse = |why: &str| StatusError::forbidden(resource, name(next), why);
        let rules: Vec<Rule> =
            next["rules"].as_array().into_iter().flatten().map(Rule::read).collect();
        self.check_rules(resource, namespace, &rules).map_err(|why| refuse(&why))?;
        let gathers = |role: &Value| {
            let selectors = role["aggregationRule"]["clusterRoleSelectors"].as_array();
            selectors.is_some_and(|selectors| !selectors.is_empty())
        };
        if gathers(next) || live.is_some_and(gathers) {
            let why = "must have cluster-admin privileges to use the aggregationRule";
            self.check_rules(resource, namespace, &Rule::everything()).map_err(|_| refuse(why))?;
        }
        Ok(())
    }

    fn check_binding(
        &self,
        resource: &GroupResource,
        namespace: &str,
        next: &Value,
    ) -> Result<(), StatusError> {
        let role = RoleReference::read(&next["roleRef"]);
        let Some(kind) = role.kind else {
            let kind = quote(next["roleRef"]["kind"].as_str().unwrap_or_default());
            return Err(StatusError::internal(format!("unsupported role reference kind: {kind}")));
        };
        if self.may("bind", kind.plural(), namespace, &role.name) {
            return Ok(());
        }
        if kind == RoleKind::Role && namespace.is_empty() {
            let why = "Namespace parameter required.";
            return Err(StatusError::bad_request(why));
        }
        // The real server calls what it does not find by the resource of the request, too.
        let missing = |_| StatusError::not_found(resource, &role.name);
        let rules = self.authorizer.policy.rules(self.log, &role, namespace).map_err(missing)?;
        self.check_rules(resource, namespace, &rules)
            .map_err(|why| StatusError::forbidden(resource, name(next), &why))
    }

    /// Why the writer may not hand out these rules.
    fn check_rules(
        &self,
        resource: &GroupResource,
        namespace: &str,
        wanted: &[Rule],
    ) -> Result<(), String> {
        let (held, unknown) = self.authorizer.rules(self.log, self.user, namespace);
        let missing = missing(&held, wanted);
        if missing.is_empty() {
            return Ok(());
        }
        let unknown = unknown.iter().map(|role| format!("{resource} \"{}\" not found", role.name));
        let unknown = joined(unknown).map(|errors| format!("; resolution errors: [{errors}]"));
        Err(format!(
            "user {} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}{}",
            quote(&self.user.name),
            quoted(&self.user.groups),
            missing.join("\n"),
            unknown.unwrap_or_default(),
        ))
    }

    fn may(&self, verb: &str, resource: &str, namespace: &str, name: &str) -> bool {
        let target = ResourceTarget {
            group: GROUP.to_owned(),
            resource: resource.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            ..ResourceTarget::default()
        };
        self.authorizer.decide(self.log, self.user, &Attributes::resource(verb, target)).allowed
    }
}

/// Whether a change is none but one of the garbage collection.
fn is_collection(live: &Value, next: &Value) -> bool {
    let bare = |object: &Value| {
        let mut object = object.clone();
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.retain(|field, _| !COLLECTED.contains(&field.as_str()));
        }
        object
    };
    bare(live) == bare(next)
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}
