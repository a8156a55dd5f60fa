//! Computes the watches that all operators need: type, namespace and selector. Pure.
//!
//! Operators of the start share a watch of a child type by their names: `managed-by in (a,b)`. An operator that is
//! registered later sees the child types by the presence of the label of the parent's uid, so that the next ones do
//! not change the selector again. A watch is never narrowed while its type is needed.
//!
//! A process that shares its parents out with others watches the objects of its buckets: parents by their uid, children by
//! the label of their bucket, or by their parent while some have no label.
//!
//! ```text
//! uses of a type             watches of it
//! a needs it in x            x: what a needs
//! b needs it in x and y      x: what a and b need    y: what b needs
//! c needs it everywhere      one over all namespaces: what a, b and c need,
//!                            with one in x and one in y as fallbacks while that is forbidden
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    cluster::{Shard, ShardedBy, WatchSpec, Watched},
    election::Buckets,
    object::K8sType,
    operator::{BUCKET_LABEL, Labels, Namespaces, OperatorConfig},
    related::SourceSpec,
};

/// The watches of each type: one for each namespace, or one for all followed by its fallbacks for the
/// operators that need only some namespaces.
pub(super) type Watches = BTreeMap<K8sType, Vec<WatchSpec>>;

/// The scopes of each type to be watched, in the order of the watches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Demand {
    scopes: BTreeMap<K8sType, Vec<ScopeDemand>>,
    /// The part that this process watches; `None` for everything.
    sharing: Option<Sharing>,
}

/// The part of all parents that a process works for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sharing {
    pub(super) buckets: Buckets,
    /// The types of children of which some may have no label of their bucket.
    pub(super) unlabelled: BTreeSet<K8sType>,
    /// The labels whose value is the uid of a parent.
    pub(super) parent_labels: BTreeSet<String>,
}

/// What one watch shows.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ScopeDemand {
    namespace: Option<String>,
    need: Need,
    whose: Whose,
}

/// What the objects of a type are to the operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Parents,
    Children,
    /// Parents of one operator and children of another.
    Both,
    /// They are read, whatever their bucket is.
    Anybody,
}

/// What has to happen to the watches.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) opened: Vec<K8sType>,
    /// Of these types some watches are opened or closed.
    pub(super) changed: Vec<K8sType>,
    pub(super) closed: Vec<K8sType>,
}

/// An operator with what it needs to see.
#[derive(Debug, Clone, Copy)]
pub(super) struct Demanding<'a> {
    pub(super) config: &'a OperatorConfig,
    /// Whether it also needs parents that its selector does not match.
    pub(super) sees_all_parents: bool,
    /// Whether others come later: a watch of children does not name operators.
    pub(super) is_open: bool,
    /// The related types that it reads from the watch of parents or children.
    pub(super) whole: &'a [K8sType],
}

/// Which objects of a type are needed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Need {
    /// All its objects.
    Everything,
    /// The parents of one operator.
    Selected(String),
    /// The children of these operators.
    ManagedBy { labels: Labels, operators: BTreeSet<String> },
    /// The children of all operators.
    Labelled(Labels),
}

#[derive(Clone)]
struct Use<'a> {
    namespaces: &'a Namespaces,
    need: Need,
    whose: Whose,
}

impl Demand {
    /// `whole` are types of which all objects are needed, whatever the operators need.
    pub(super) fn of(operators: &[Demanding<'_>], whole: &BTreeSet<K8sType>) -> Self {
        let mut uses: BTreeMap<K8sType, Vec<Use<'_>>> = BTreeMap::new();
        for operator in operators {
            for (ty, need, whose) in needs_of(*operator) {
                let namespaces = namespaces_of(&ty, operator.config);
                uses.entry(ty).or_default().push(Use { namespaces, need, whose });
            }
        }
        let of_operators = operators.iter().flat_map(|operator| operator.whole);
        for ty in of_operators.chain(whole) {
            let (namespaces, need, whose) = (&Namespaces::All, Need::Everything, Whose::Anybody);
            uses.entry(ty.clone()).or_default().push(Use { namespaces, need, whose });
        }
        let scopes = uses.into_iter().map(|(ty, uses)| (ty, places_of(&uses))).collect();
        Self { scopes, sharing: None }
    }

    /// The same for a process that works for a part of the parents.
    pub(super) fn shared(self, sharing: Option<Sharing>) -> Self {
        Self { sharing, ..self }
    }

    /// The same without narrowing what is watched now.
    pub(super) fn continuing(self, running: &Self) -> Self {
        let continued = |(ty, scopes): (K8sType, Vec<ScopeDemand>)| {
            let scopes = match running.scopes.get(&ty) {
                Some(running) => continued(scopes, running),
                None => scopes,
            };
            (ty, scopes)
        };
        Self { scopes: self.scopes.into_iter().map(continued).collect(), ..self }
    }

    pub(super) fn watches(&self) -> Watches {
        let spec = |ty: &K8sType, scope: &ScopeDemand| {
            let spec = WatchSpec {
                namespace: scope.namespace.clone(),
                label_selector: scope.need.selector(),
                ..WatchSpec::of(ty.clone())
            };
            match &self.sharing {
                Some(sharing) => sharing.narrowed(spec, scope.whose),
                None => spec,
            }
        };
        let specs = |(ty, scopes): (&K8sType, &Vec<ScopeDemand>)| {
            (ty.clone(), scopes.iter().map(|scope| spec(ty, scope)).collect())
        };
        self.scopes.iter().map(specs).collect()
    }

    /// The watches of children that have no label of their bucket.
    pub(super) fn unlabelled(&self) -> Vec<WatchSpec> {
        let is_of_children = |scope: &&ScopeDemand| scope.whose == Whose::Children;
        let spec = |ty: &K8sType, scope: &ScopeDemand| {
            let lacks = format!("!{BUCKET_LABEL}");
            let selector = scope.need.selector();
            WatchSpec {
                namespace: scope.namespace.clone(),
                label_selector: Some(selector.map_or(lacks.clone(), |it| format!("{it},{lacks}"))),
                metadata_only: true,
                ..WatchSpec::of(ty.clone())
            }
        };
        let each = |(ty, scopes): (&K8sType, &Vec<ScopeDemand>)| {
            let watched = scopes.iter().filter(is_of_children);
            watched.map(|scope| spec(ty, scope)).collect::<Vec<_>>()
        };
        self.scopes.iter().flat_map(each).collect()
    }

    /// The changes of the watches since the earlier demand.
    pub(super) fn since(&self, earlier: &Self) -> Difference {
        let (now, before) = (self.watches(), earlier.watches());
        let is_new = |(ty, _): &(&K8sType, &Vec<WatchSpec>)| !before.contains_key(*ty);
        let (opened, known): (Vec<_>, Vec<_>) = now.iter().partition(is_new);
        let changed = known.into_iter().filter(|(ty, specs)| before[*ty] != **specs);
        let closed = before.keys().filter(|ty| !now.contains_key(*ty));
        Difference {
            opened: opened.into_iter().map(|(ty, _)| ty.clone()).collect(),
            changed: changed.map(|(ty, _)| ty.clone()).collect(),
            closed: closed.cloned().collect(),
        }
    }
}

/// A watch of all namespaces stays, and no scope shows fewer objects than before.
fn continued(scopes: Vec<ScopeDemand>, running: &[ScopeDemand]) -> Vec<ScopeDemand> {
    let everywhere = running.iter().find(|scope| scope.namespace.is_none());
    let is_new = scopes.first().is_none_or(|scope| scope.namespace.is_some());
    let kept = everywhere.filter(|_| is_new).cloned();
    let mut scopes: Vec<ScopeDemand> = kept.into_iter().chain(scopes).collect();
    for scope in &mut scopes {
        let before = running.iter().find(|it| it.namespace == scope.namespace);
        if let Some(before) = before {
            scope.need = scope.need.clone().union(before.need.clone());
            scope.whose = scope.whose.union(before.whose);
        }
    }
    if scopes[0].namespace.is_none() {
        // A fallback needs the selector of the watch that it replaces.
        let all = scopes.iter().map(|scope| scope.need.clone()).reduce(Need::union);
        let all = all.unwrap_or(Need::Everything);
        let whose = scopes.iter().map(|scope| scope.whose).reduce(Whose::union);
        for scope in &mut scopes {
            scope.need.clone_from(&all);
            scope.whose = whose.unwrap_or(Whose::Anybody);
        }
    }
    scopes
}

/// The watches that an operator requires to know its parents and children.
pub(super) fn relied_on(config: &OperatorConfig, watches: &Watches) -> BTreeSet<Watched> {
    let types = config.children.iter().map(|child| &child.ty).chain([&config.parent]);
    let of_types = types.filter_map(|ty| watches.get(ty)).flatten().map(WatchSpec::watched);
    let matters = |watched: &Watched| match namespaces_of(&watched.ty, config) {
        Namespaces::All => watched.namespace.is_none(),
        only @ Namespaces::Only(_) => only.include(watched.namespace.as_deref()),
    };
    of_types.filter(matters).collect()
}

/// How the related types of an operator are read.
pub(super) fn source_specs(config: &OperatorConfig) -> impl Iterator<Item = SourceSpec> {
    config.related.iter().map(|related| SourceSpec {
        ty: related.ty.clone(),
        metadata_only: related.metadata_only,
        namespaces: namespaces_of(&related.ty, config).clone(),
    })
}

/// Whether parents and children need all objects that could be asked for as related ones.
pub(super) fn has_all(watches: &Watches, spec: &SourceSpec) -> bool {
    let is_whole = |watch: &WatchSpec| {
        watch.namespace.is_none() && watch.label_selector.is_none() && watch.shard.is_none()
    };
    let is_watched = watches.get(&spec.ty).is_some_and(|watches| watches.iter().any(is_whole));
    is_watched && !spec.metadata_only && spec.namespaces == Namespaces::All
}

/// Cluster-scoped objects are in no namespace.
fn namespaces_of<'a>(ty: &K8sType, config: &'a OperatorConfig) -> &'a Namespaces {
    if ty.is_namespaced() { &config.namespaces } else { &Namespaces::All }
}

fn needs_of(operator: Demanding<'_>) -> Vec<(K8sType, Need, Whose)> {
    let config = operator.config;
    let child = |ty: &K8sType| {
        let operators = BTreeSet::from([config.name.clone()]);
        let labels = config.labels.clone();
        let need = if operator.is_open {
            Need::Labelled(labels)
        } else {
            Need::ManagedBy { labels, operators }
        };
        (ty.clone(), need, Whose::Children)
    };
    let children = config.children.iter().map(|declared| child(&declared.ty));
    let parents = (config.parent.clone(), need_of_parents(operator), Whose::Parents);
    std::iter::once(parents).chain(children).collect()
}

/// A watch with a selector does not show a parent whose labels changed while the process was down, so
/// that its finalizer would never be removed.
fn need_of_parents(operator: Demanding<'_>) -> Need {
    match &operator.config.parent_selector {
        Some(selector) if !operator.sees_all_parents && !selector.is_empty() => {
            Need::Selected(selector.clone())
        }
        Some(_) | None => Need::Everything,
    }
}

fn places_of(uses: &[Use<'_>]) -> Vec<ScopeDemand> {
    let is_everywhere = uses.iter().any(|one| *one.namespaces == Namespaces::All);
    // Both watches may fill the same cache for a moment, so they need the same selector.
    let scope = |namespace: Option<&str>| {
        let is_used = |one: &&Use<'_>| is_everywhere || one.namespaces.include(namespace);
        let used = || uses.iter().filter(is_used);
        let need = used().map(|one| one.need.clone()).reduce(Need::union);
        let need = need.unwrap_or(Need::Everything);
        let whose = used().map(|one| one.whose).reduce(Whose::union);
        let whose = whose.unwrap_or(Whose::Anybody);
        ScopeDemand { namespace: namespace.map(str::to_owned), need, whose }
    };
    let named = uses.iter().filter_map(|one| one.namespaces.names()).flatten();
    let named: BTreeSet<&String> = named.collect();
    let all = is_everywhere.then(|| scope(None));
    all.into_iter().chain(named.into_iter().map(|name| scope(Some(name)))).collect()
}

impl Sharing {
    /// The watch of the objects of the buckets.
    fn narrowed(&self, spec: WatchSpec, whose: Whose) -> WatchSpec {
        let labels = || self.parent_labels.clone();
        let by = match whose {
            Whose::Anybody => return spec,
            // Without a range the server would send all objects: none has that label.
            _ if self.buckets.is_empty() => return self.selected(spec),
            Whose::Parents => ShardedBy::Uid,
            Whose::Both => ShardedBy::Either(labels()),
            Whose::Children if self.unlabelled.contains(&spec.ty) => ShardedBy::Parent(labels()),
            Whose::Children => return self.selected(spec),
        };
        WatchSpec { shard: Some(Shard { buckets: self.buckets, by }), ..spec }
    }

    /// The same by the label of the bucket.
    fn selected(&self, spec: WatchSpec) -> WatchSpec {
        if self.buckets == Buckets::ALL {
            return spec;
        }
        let numbers: Vec<String> = self.buckets.iter().map(|bucket| bucket.to_string()).collect();
        // An empty set is no selector.
        let numbers = if numbers.is_empty() { "none".to_owned() } else { numbers.join(",") };
        let within = format!("{BUCKET_LABEL} in ({numbers})");
        let labels = spec.label_selector.map_or(within.clone(), |it| format!("{it},{within}"));
        WatchSpec { label_selector: Some(labels), ..spec }
    }
}

impl Whose {
    fn union(self, other: Self) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (Self::Anybody, _) | (_, Self::Anybody) => Self::Anybody,
            _ => Self::Both,
        }
    }
}

impl Need {
    /// The need that covers both.
    fn union(self, other: Self) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (
                Self::ManagedBy { labels, mut operators },
                Self::ManagedBy { labels: other_labels, operators: others },
            ) if labels == other_labels => {
                operators.extend(others);
                Self::ManagedBy { labels, operators }
            }
            (
                Self::Labelled(labels),
                Self::ManagedBy { labels: others, .. } | Self::Labelled(others),
            )
            | (Self::ManagedBy { labels: others, .. }, Self::Labelled(labels))
                if labels.parent_uid == others.parent_uid =>
            {
                Self::Labelled(labels)
            }
            _ => Self::Everything,
        }
    }

    fn selector(&self) -> Option<String> {
        match self {
            Self::Everything => None,
            Self::Selected(selector) => Some(selector.clone()),
            Self::ManagedBy { labels, operators } => {
                let operators: Vec<&str> = operators.iter().map(String::as_str).collect();
                Some(format!("{} in ({})", labels.managed_by, operators.join(",")))
            }
            Self::Labelled(labels) => Some(labels.parent_uid.clone()),
        }
    }
}

#[cfg(test)]
mod tests;
