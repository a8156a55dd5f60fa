//! The order of desired children: which ones must be ready before one is written.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use super::{ChildId, Refusal, RefusalReason};
use crate::operator::{Prerequisite, Stage};

/// The stage and the prerequisites of a desired child, as the handler stated them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct StatedOrder {
    pub(super) stage: usize,
    pub(super) after: Vec<Prerequisite>,
}

/// Which children must be ready before another is written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Order {
    /// The children of each stage, in the order of the handler.
    stages: Vec<Vec<ChildId>>,
    timeouts: Vec<Option<Duration>>,
    positions: HashMap<ChildId, Placed>,
}

/// The stage of a child, and the children that it names.
#[derive(Debug, Clone)]
struct Placed {
    stage: usize,
    after: Vec<ChildId>,
}

type Placing = [(ChildId, StatedOrder)];

impl Order {
    /// The order of children; `None` if all are written together.
    ///
    /// # Errors
    /// An edge to a child that is not returned, an edge that is stated twice, or a circle.
    pub(super) fn of(children: &Placing, stages: &[Stage]) -> Result<Option<Self>, Vec<Refusal>> {
        let first = children.first().map(|(_, stated)| stated.stage);
        let is_ordered = |(_, stated): &(_, StatedOrder)| {
            Some(stated.stage) != first || !stated.after.is_empty()
        };
        if !children.iter().any(is_ordered) {
            return Ok(None);
        }
        let timeouts = stages.iter().map(|stage| stage.ready_within).collect();
        let mut order = Self { timeouts, ..Self::default() };
        let refusals = order.place(children);
        if !refusals.is_empty() {
            return Err(refusals);
        }
        match order.circle() {
            Some(refusal) => Err(vec![refusal]),
            None => Ok(Some(order)),
        }
    }

    pub(crate) fn stages(&self) -> impl Iterator<Item = &[ChildId]> {
        self.stages.iter().map(Vec::as_slice)
    }

    /// The children of the stages before that of a child.
    pub(crate) fn before(&self, child: &ChildId) -> impl Iterator<Item = &ChildId> {
        self.stages().take(self.stage_of(child)).flatten()
    }

    pub(crate) fn stage_of(&self, child: &ChildId) -> usize {
        self.positions.get(child).map_or(0, |placed| placed.stage)
    }

    /// What a child names beside the earlier stages.
    pub(crate) fn named_by(&self, child: &ChildId) -> &[ChildId] {
        self.positions.get(child).map_or(&[], |placed| &placed.after)
    }

    /// How long a stage may keep the next one waiting.
    pub(crate) fn timeout(&self, stage: usize) -> Option<Duration> {
        self.timeouts.get(stage).copied().flatten()
    }

    /// For each child how many others come before it in a row. Children that are not desired any more are
    /// deleted from the highest to the lowest.
    pub(super) fn ranks(&self) -> BTreeMap<ChildId, u16> {
        let mut ranks = BTreeMap::new();
        let mut floor = 0;
        for stage in 0..self.stages.len() {
            let (levels, _) = self.levels(stage);
            let highest = levels.len();
            for (level, children) in levels.into_iter().enumerate() {
                let rank = u16::try_from(floor + level).unwrap_or(u16::MAX);
                ranks.extend(children.into_iter().map(|child| (child.clone(), rank)));
            }
            floor += highest;
        }
        ranks
    }

    fn place(&mut self, children: &Placing) -> Vec<Refusal> {
        let index = Index::of(children);
        let mut refusals = Vec::new();
        for (id, stated) in children {
            let mut after: Vec<ChildId> = Vec::new();
            for named in &stated.after {
                match index.find(named, id) {
                    Some(other) if after.contains(other) => {
                        refusals.push(refused(id, RefusalReason::TwiceAfter(named.clone())));
                    }
                    Some(other) => after.push(other.clone()),
                    None => refusals.push(refused(id, RefusalReason::AfterUnknown(named.clone()))),
                }
            }
            if self.stages.len() <= stated.stage {
                self.stages.resize_with(stated.stage + 1, Vec::new);
            }
            self.stages[stated.stage].push(id.clone());
            self.positions.insert(id.clone(), Placed { stage: stated.stage, after });
        }
        refusals
    }

    /// Children that wait for each other, if there are any.
    fn circle(&self) -> Option<Refusal> {
        let all = self.stages.iter().flatten();
        let backwards = all.clone().find_map(|child| {
            let is_later = |other: &&ChildId| self.stage_of(other) > self.stage_of(child);
            Some(vec![child, self.named_by(child).iter().find(is_later)?])
        });
        let within = || (0..self.stages.len()).find_map(|stage| self.circle_within(stage));
        let circle = backwards.or_else(within)?;
        let first = circle.first()?;
        let names: Vec<_> = circle.iter().chain([first]).map(ToString::to_string).collect();
        Some(refused(first, RefusalReason::Circle(names.join(", which is after "))))
    }

    fn circle_within(&self, stage: usize) -> Option<Vec<&ChildId>> {
        let (_, left) = self.levels(stage);
        // Each child that is left is after another one that is left.
        let (mut path, mut next) = (Vec::new(), left.first().copied());
        while let Some(child) = next {
            if let Some(begin) = path.iter().position(|known| *known == child) {
                return Some(path.split_off(begin));
            }
            path.push(child);
            next = self.named_by(child).iter().find(|other| left.contains(other));
        }
        None
    }

    /// The children of a stage, level by level: each level is after the earlier levels. And the children in a
    /// circle, or after a circle.
    fn levels(&self, stage: usize) -> (Vec<Vec<&ChildId>>, Vec<&ChildId>) {
        let children = &self.stages[stage];
        let mut waiting: HashMap<&ChildId, Vec<&ChildId>> = HashMap::new();
        let mut open: HashMap<&ChildId, usize> = HashMap::new();
        for child in children {
            let here = self.named_by(child).iter().filter(|other| self.stage_of(other) == stage);
            for other in here {
                waiting.entry(other).or_default().push(child);
                *open.entry(child).or_default() += 1;
            }
        }
        let mut levels = Vec::new();
        let mut free: Vec<_> = children.iter().filter(|it| !open.contains_key(it)).collect();
        while !free.is_empty() {
            let freed = free.iter().filter_map(|child| waiting.get(child)).flatten();
            let next = freed.filter(|child| {
                let open = open.get_mut(*child).expect("it waits");
                *open -= 1;
                *open == 0
            });
            let next = next.copied().collect();
            levels.push(std::mem::replace(&mut free, next));
        }
        (levels, children.iter().filter(|it| open.get(it).is_some_and(|it| *it > 0)).collect())
    }
}

/// The children of a response by kind and name.
struct Index<'a>(HashMap<(&'a str, &'a str), Vec<&'a ChildId>>);

impl<'a> Index<'a> {
    fn of(children: &'a Placing) -> Self {
        let mut index: HashMap<_, Vec<_>> = HashMap::new();
        for (id, _) in children {
            index.entry((id.ty.kind(), &*id.key.name)).or_default().push(id);
        }
        Self(index)
    }

    /// The named child, by default in the namespace of the waiting child.
    fn find(&self, named: &Prerequisite, by: &ChildId) -> Option<&'a ChildId> {
        let namespace = named.namespace.as_deref().or(by.key.namespace.as_deref());
        let mut known = self.0.get(&(&*named.kind, &*named.name))?.iter();
        let is_it = |id: &&&ChildId| {
            id.ty.api_version() == named.api_version
                && (id.key.namespace.is_none() || id.key.namespace.as_deref() == namespace)
        };
        known.find(is_it).copied()
    }
}

fn refused(child: &ChildId, why: RefusalReason) -> Refusal {
    Refusal { child: child.to_string(), why }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{K8sType, ObjectKey};

    fn id(name: &str) -> ChildId {
        let ty = K8sType::namespaced("v1", "ConfigMap", "configmaps");
        ChildId { ty, key: ObjectKey::namespaced("ns", name) }
    }

    /// `a`, `b<a` (b after a), stages are separated by `|`.
    fn order(text: &str) -> Result<Option<Order>, Vec<Refusal>> {
        let mut children = Vec::new();
        for (stage, names) in text.split('|').enumerate() {
            for word in names.split_whitespace() {
                let mut words = word.split('<');
                let name = words.next().unwrap();
                let after =
                    words.map(|name| Prerequisite::new(("v1", "ConfigMap"), name)).collect();
                children.push((id(name), StatedOrder { stage, after }));
            }
        }
        Order::of(&children, &[])
    }

    fn ranks(text: &str) -> String {
        let ranks = order(text).unwrap().unwrap().ranks();
        let shown = ranks.iter().map(|(id, rank)| format!("{}{rank}", id.key.name));
        shown.collect::<Vec<_>>().concat()
    }

    fn refusals(text: &str) -> Vec<String> {
        order(text).unwrap_err().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn children_of_one_stage_without_edges_have_no_order() {
        for text in ["", "a b c", "|a b", "||a"] {
            assert!(order(text).unwrap().is_none(), "{text}");
        }
        for text in ["a|b", "a b<a"] {
            assert!(order(text).unwrap().is_some(), "{text}");
        }
    }

    #[test]
    fn a_child_comes_after_earlier_stages_and_what_it_names() {
        let order = order("a|b c<b|d<a").unwrap().unwrap();
        let before = |name| -> Vec<_> {
            order.before(&id(name)).map(|it| it.key.name.to_string()).collect()
        };
        assert_eq!(before("a"), Vec::<String>::new());
        assert_eq!(before("c"), ["a"]);
        assert_eq!(before("d"), ["a", "b", "c"]);
        assert_eq!(order.named_by(&id("c")), [id("b")]);
        assert!(order.named_by(&id("b")).is_empty());
    }

    #[test]
    fn the_rank_is_the_longest_way_to_a_child() {
        for (text, expected) in [
            ("a|b|c", "a0b1c2"),
            ("a b|c", "a0b0c1"),
            ("a b<a c<b d", "a0b1c2d0"),
            ("a b<a|c<a d<c", "a0b1c2d3"),
            ("c<b b<a a", "a0b1c2"),
        ] {
            assert_eq!(ranks(text), expected, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_ordered_is_refused_with_the_names() {
        let map = |name: &str| format!("ConfigMap.v1 ns/{name}");
        assert_eq!(
            refusals("a<x"),
            [format!(
                "{}: it is after ConfigMap.v1 x, which the handler does not return: return both, or remove \
                 the `after`",
                map("a")
            )]
        );
        assert_eq!(
            refusals("a b<a<a"),
            [format!("{}: it is after ConfigMap.v1 a twice: remove one `after`", map("b"))]
        );
        let circle = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(|name| map(name)).collect();
            let text = names.join(", which is after ");
            format!("{}: children wait for each other: {text}", names[0])
        };
        for (text, names) in [
            ("a<a", &["a", "a"][..]),
            ("a<b b<a", &["a", "b", "a"]),
            ("x a<c b<a c<b", &["a", "c", "b", "a"]),
            // A circle that others are after.
            ("y<a a<b b<a", &["a", "b", "a"]),
            // Against the order of the stages.
            ("a<b|b", &["a", "b", "a"]),
        ] {
            assert_eq!(refusals(text), [circle(names)], "{text}");
        }
    }

    #[test]
    fn a_response_of_ten_thousand_children_in_a_row_is_ordered() {
        let rest = (1..10_000).map(|n| format!(" c{n}<c{}", n - 1));
        let text = "c0".to_owned() + &rest.collect::<Vec<_>>().concat();
        assert_eq!(order(&text).unwrap().unwrap().ranks()[&id("c9999")], 9999);
    }
}
