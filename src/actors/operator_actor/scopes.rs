//! The scopes of an operator: each of its namespaces, or all namespaces as one. Each scope starts by itself: an
//! unreadable scope stops no other. Pure.
//!
//! ```text
//! Awaited --all its types are listed--> Full
//!    |                                   ^
//!    | a child type is refused: requires manual intervention
//!    v                                   |
//! OfStatuses --all its types are listed--+
//! ```
//!
//! A scope requires the watches of its namespace, and those of cluster-scoped types. Where children may be in another
//! namespace than their parent, a scope also waits until it is known of the others whether they can be listed.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    actors::messages::WatchCondition,
    cluster::Watched,
    object::K8sType,
    operator::{Namespaces, OperatorConfig},
};

/// The conditions of the watches that an operator requires.
pub(super) type Watches = BTreeMap<Watched, WatchCondition>;

/// The namespace of a scope; `None` for all.
pub(super) type Scope = Option<String>;

/// The start phase of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// Some types are not listed.
    Awaited,
    /// Listing a child type requires manual intervention; the statuses of the parents report why.
    OfStatuses,
    /// All types are listed.
    Full,
}

/// What the watches of a scope allow.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Readable {
    /// All its types are listed.
    Listed,
    /// Its parents are listed, and why a child type cannot be.
    Parents(String),
    NotYet,
}

/// The start phases of all scopes.
#[derive(Debug)]
pub(super) struct Scopes(BTreeMap<Scope, Start>);

// === reading ===

impl Scopes {
    pub(super) fn of(config: &OperatorConfig) -> Self {
        Self(scopes(config).into_iter().map(|scope| (scope, Start::Awaited)).collect())
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (&Scope, Start)> {
        self.0.iter().map(|(scope, start)| (scope, *start))
    }

    /// The phase in a namespace; in others nothing is reconciled.
    pub(super) fn start_in(&self, namespace: Option<&str>) -> Start {
        let found = self.0.iter().find(|(scope, _)| covers(scope, namespace));
        found.map_or(Start::Awaited, |(_, start)| *start)
    }

    pub(super) fn have_begun(&self) -> bool {
        self.0.values().any(|start| *start != Start::Awaited)
    }
}

/// Whether a namespace belongs to a scope.
pub(super) fn covers(scope: &Scope, namespace: Option<&str>) -> bool {
    scope.is_none() || scope.as_deref() == namespace
}

pub(super) fn scopes(config: &OperatorConfig) -> BTreeSet<Scope> {
    match &config.namespaces {
        Namespaces::All => [None].into(),
        Namespaces::Only(names) => names.iter().cloned().map(Some).collect(),
    }
}

/// The reconciles that are possible in a scope.
pub(super) fn readable(scope: &Scope, watches: &Watches, config: &OperatorConfig) -> Readable {
    let own = || watches.iter().filter(|(watched, _)| is_required(scope, watched));
    let spread: BTreeSet<&K8sType> = config.deleted_with_finalizer().collect();
    let is_undecided = |(watched, condition): (&Watched, &WatchCondition)| {
        spread.contains(&watched.ty) && *condition == WatchCondition::Pending
    };
    if watches.iter().any(is_undecided) {
        return Readable::NotYet;
    }
    if own().all(|(_, condition)| *condition == WatchCondition::Synced) {
        return Readable::Listed;
    }
    let mut parents = own().filter(|(watched, _)| watched.ty == config.parent);
    let refused: Vec<&str> = own().filter_map(|(_, condition)| refusal(condition)).collect();
    if refused.is_empty() || !parents.all(|(_, it)| *it == WatchCondition::Synced) {
        return Readable::NotYet;
    }
    Readable::Parents(refused.join("; "))
}

/// Whether another configuration can take effect: at least one of its scopes is listed, and so are those that work now.
/// It is known of the others whether they can be.
pub(super) fn is_ready(config: &OperatorConfig, watches: &Watches, now: &Scopes) -> bool {
    let is_listed = |scope: &Scope| readable(scope, watches, config) == Readable::Listed;
    let (works, new): (Vec<Scope>, Vec<Scope>) =
        scopes(config).into_iter().partition(|scope| now.start_in(scope.as_deref()) == Start::Full);
    watches.values().all(|condition| *condition != WatchCondition::Pending)
        && works.iter().all(is_listed)
        && (!works.is_empty() || new.is_empty() || new.iter().any(is_listed))
}

/// Whether none of the watches of a scope fails.
pub(super) fn is_well(scope: &Scope, watches: &Watches) -> bool {
    let mut own = watches.iter().filter(|(watched, _)| is_required(scope, watched));
    own.all(|(_, condition)| *condition == WatchCondition::Synced)
}

fn is_required(scope: &Scope, watched: &Watched) -> bool {
    watched.namespace.is_none() || watched.namespace == *scope
}

fn refusal(condition: &WatchCondition) -> Option<&str> {
    match condition {
        WatchCondition::Refused(why) => Some(why),
        WatchCondition::Failing(_) | WatchCondition::Pending | WatchCondition::Synced => None,
    }
}

// === changing ===

impl Scopes {
    pub(super) fn set(&mut self, scope: &Scope, to: Start) {
        if let Some(start) = self.0.get_mut(scope) {
            *start = to;
        }
    }

    /// Begins again.
    pub(super) fn reset(&mut self) {
        self.0.values_mut().for_each(|start| *start = Start::Awaited);
    }

    /// Follows another configuration, whose listed scopes work at once if others did.
    pub(super) fn follow(&mut self, config: &OperatorConfig, watches: &Watches) {
        let have_begun = self.have_begun();
        let start = |scope: Scope| {
            let is_listed = readable(&scope, watches, config) == Readable::Listed;
            let start = match self.start_in(scope.as_deref()) {
                Start::Awaited if have_begun && is_listed => Start::Full,
                start => start,
            };
            (scope, start)
        };
        self.0 = scopes(config).into_iter().map(start).collect();
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};

    use super::*;
    use crate::operator::ChildConfig;

    fn config(child: ChildConfig) -> OperatorConfig {
        let parent = K8sType::namespaced("example.com/v1", "App", "apps");
        OperatorConfig::new("op", parent)
            .child::<ConfigMap>(child)
            .child::<Secret>(ChildConfig::apply())
            .within_namespaces(["a", "b"])
    }

    /// The conditions of parents, `ConfigMaps` and Secrets in `a`, then in `b`: synced, pending, failing, refused.
    fn watches(config: &OperatorConfig, conditions: &str) -> Watches {
        let types = [&config.parent, &config.children[0].ty, &config.children[1].ty];
        let named = ["a", "b"].into_iter().flat_map(|namespace| {
            types.map(|ty| Watched { ty: ty.clone(), namespace: Some(namespace.to_owned()) })
        });
        let conditions = conditions.chars().filter(|c| *c != ' ').map(|letter| match letter {
            's' => WatchCondition::Synced,
            'p' => WatchCondition::Pending,
            'f' => WatchCondition::Failing("down".to_owned()),
            _ => WatchCondition::Refused("no".to_owned()),
        });
        named.zip(conditions).collect()
    }

    fn in_both(conditions: &str, config: &OperatorConfig) -> String {
        let watches = watches(config, conditions);
        let shown = |scope: &str| match readable(&Some(scope.to_owned()), &watches, config) {
            Readable::Listed => "listed",
            Readable::Parents(_) => "parents",
            Readable::NotYet => "no",
        };
        ["a", "b"].map(shown).join(" ")
    }

    #[test]
    fn each_namespace_starts_when_its_own_types_are_listed() {
        let config = config(ChildConfig::apply());
        for (conditions, expected) in [
            ("sss sss", "listed listed"),
            ("sss rrr", "listed no"),
            ("sss ppp", "listed no"),
            ("sss fff", "listed no"),
            ("sss srs", "listed parents"),
            ("srs srr", "parents parents"),
            ("sfs sss", "no listed"),
            ("prs sss", "no listed"),
        ] {
            assert_eq!(in_both(conditions, &config), expected, "{conditions}");
        }
    }

    /// Otherwise each start would create the children of the other namespace again.
    #[test]
    fn where_children_are_in_other_namespaces_these_are_waited_for_until_they_are_known_to_fail() {
        let config = config(ChildConfig::apply().delete_with_finalizer());
        for (conditions, expected) in [
            ("sss sss", "listed listed"),
            ("sss sps", "no no"),
            ("sss ssp", "listed no"),
            ("sss sfs", "listed no"),
            ("sss srs", "listed parents"),
        ] {
            assert_eq!(in_both(conditions, &config), expected, "{conditions}");
        }
    }

    #[test]
    fn another_configuration_takes_effect_unless_what_works_would_not_any_more() {
        let config = config(ChildConfig::apply());
        let is_ready = |conditions: &str, working: &[&str]| {
            let mut now = Scopes::of(&config);
            for scope in working {
                now.set(&Some((*scope).to_owned()), Start::Full);
            }
            is_ready(&config, &watches(&config, conditions), &now)
        };
        assert!(is_ready("sss rrr", &["a"]) && is_ready("sss fff", &[]));
        assert!(!is_ready("sss ppp", &["a"]), "it is not known yet");
        assert!(!is_ready("sss srs", &["a", "b"]), "parents of b work now");
        assert!(!is_ready("srs sfs", &[]), "nothing would work");
    }

    #[test]
    fn scopes_that_stay_keep_their_phase_and_listed_ones_begin() {
        let both = config(ChildConfig::apply());
        let mut scopes = Scopes::of(&both.clone().within_namespace("a"));
        scopes.follow(&both, &watches(&both, "sss sss"));
        assert!(!scopes.have_begun(), "nothing has begun yet");
        scopes.set(&Some("a".to_owned()), Start::Full);
        scopes.follow(&both, &watches(&both, "sss rrr"));
        let phases = |scopes: &Scopes| ["a", "b", "c"].map(|name| scopes.start_in(Some(name)));
        assert_eq!(phases(&scopes), [Start::Full, Start::Awaited, Start::Awaited]);
        scopes.follow(&both, &watches(&both, "sss sss"));
        assert_eq!(phases(&scopes), [Start::Full, Start::Full, Start::Awaited]);
        scopes.reset();
        assert!(!scopes.have_begun());
    }
}
