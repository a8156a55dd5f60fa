//! Decides whether a user may do something.

use super::{
    attributes::{Attributes, Target},
    policy::{MissingRole, Policy, joined},
    rule::Rule,
};
use crate::{
    group_resource::GroupResource,
    log::Log,
    status::StatusError,
    users::{MASTERS, User},
};

/// Whether the roles count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Everybody who is known may do everything.
    #[default]
    AlwaysAllow,
    /// Everybody may do what the roles allow.
    Rbac,
}

/// Decides whether a user may do something.
#[derive(Debug, Default)]
pub(crate) struct Authorizer {
    mode: Mode,
    /// The roles and bindings.
    pub policy: Policy,
}

/// Whether something is allowed, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    /// Whether it is.
    pub allowed: bool,
    /// Why; may be empty.
    pub reason: String,
}

impl Authorizer {
    /// An authorizer of this kind.
    pub(crate) fn new(mode: Mode) -> Self {
        Self { mode, policy: Policy::default() }
    }

    /// Whether the roles count.
    pub(crate) fn is_enforced(&self) -> bool {
        self.mode == Mode::Rbac
    }

    /// Whether a user may do something.
    pub(crate) fn decide(&self, log: &Log, user: &User, attributes: &Attributes) -> Decision {
        let is_trusted = !self.is_enforced() && !user.is_anonymous();
        if is_trusted || user.is_in(MASTERS) {
            return Decision { allowed: true, reason: String::new() };
        }
        let mut missing = Vec::new();
        for grant in self.policy.grants(log, user, attributes.namespace()) {
            match grant {
                Ok(grant) if grant.rules.iter().any(|rule| rule.allows(attributes)) => {
                    let reason = format!("RBAC: allowed by {}", grant.source);
                    return Decision { allowed: true, reason };
                }
                Ok(_) => {}
                Err(role) => missing.push(role.shown()),
            }
        }
        let reason = joined(missing.into_iter()).map(|why| format!("rbac: RBAC: {why}"));
        Decision { allowed: false, reason: reason.unwrap_or_default() }
    }

    /// Refuses what is not allowed.
    pub(crate) fn check(
        &self,
        log: &Log,
        user: &User,
        attributes: &Attributes,
    ) -> Result<(), StatusError> {
        let decision = self.decide(log, user, attributes);
        if decision.allowed { Ok(()) } else { Err(forbidden(user, attributes, &decision.reason)) }
    }

    /// All rules of a user in a namespace, and which roles are missing.
    pub(crate) fn rules(
        &self,
        log: &Log,
        user: &User,
        namespace: &str,
    ) -> (Vec<Rule>, Vec<MissingRole>) {
        let (mut rules, mut missing) = (Vec::new(), Vec::new());
        if !self.is_enforced() {
            return (Rule::everything().into(), missing);
        }
        for grant in self.policy.grants(log, user, namespace) {
            match grant {
                Ok(grant) => rules.extend(grant.rules.iter().cloned()),
                Err(role) => missing.push(role),
            }
        }
        (rules, missing)
    }
}

/// The refusal of what is not allowed.
pub(crate) fn forbidden(user: &User, attributes: &Attributes, reason: &str) -> StatusError {
    let (verb, quote) = (&attributes.verb, crate::schema::go_value::quote);
    let who = quote(&user.name);
    let (resource, name, what) = match &attributes.target {
        Target::Path(path) => (
            GroupResource::new("", ""),
            "",
            format!("User {who} cannot {verb} path {}", quote(path)),
        ),
        Target::Resource(target) => {
            let place = match target.namespace.as_str() {
                "" => "at the cluster scope".to_owned(),
                namespace => format!("in the namespace {}", quote(namespace)),
            };
            let (full, group) = (quote(&target.full_name()), quote(&target.group));
            let what =
                format!("User {who} cannot {verb} resource {full} in API group {group} {place}");
            (target.group_resource(), target.name.as_str(), what)
        }
    };
    let what = what.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let why = if reason.is_empty() { what } else { format!("{what}: {reason}") };
    if resource.plural.is_empty() && resource.group.is_empty() {
        return StatusError::forbidden_path(&why);
    }
    StatusError::forbidden(&resource, name, &why)
}
