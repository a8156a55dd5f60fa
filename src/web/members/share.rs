//! What a member has of a list, and the list of all of them. Pure.
//!
//! Each member cuts its share as the whole list is cut: after the same place, in the same order, and at the same length. So
//! the first of all of them are among the first of each.

use std::{cmp::Ordering, collections::HashSet};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use serde_json::Value;

use crate::object::ObjectKey;

/// Where an item is in a list: by its rank, then by its key. Its key and its operator say which it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(in crate::web) struct Spot {
    pub(in crate::web) rank: u64,
    #[serde(serialize_with = "text", deserialize_with = "key")]
    pub(in crate::web) key: ObjectKey,
    /// Empty in a list of one operator.
    pub(in crate::web) operator: String,
}

/// A parent in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::web) struct Item<T> {
    pub(in crate::web) spot: Spot,
    pub(in crate::web) value: T,
}

/// What a member has of a page of a list, or the page of all members.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::web) struct Share<T> {
    pub(in crate::web) items: Vec<Item<T>>,
    /// Where the page ends.
    pub(in crate::web) last: Option<Spot>,
    /// How many there are on all pages, where this is known.
    pub(in crate::web) total: Option<usize>,
    pub(in crate::web) has_more: bool,
}

/// How a list is ordered and cut.
#[derive(Debug, Clone, Copy)]
pub(in crate::web) struct Order {
    pub(in crate::web) limit: usize,
    pub(in crate::web) is_reversed: bool,
}

/// An item as this process shows it, or as another one did.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(in crate::web) enum Shown<T> {
    Own(T),
    Other(Value),
}

impl Order {
    pub(in crate::web) fn first(limit: usize) -> Self {
        Self { limit, is_reversed: false }
    }

    fn compare(self, one: &Spot, other: &Spot) -> Ordering {
        if self.is_reversed { other.cmp(one) } else { one.cmp(other) }
    }
}

impl<T> Share<T> {
    /// The page of this process and the others.
    pub(in crate::web) fn with(self, others: impl IntoIterator<Item = Self>, order: Order) -> Self {
        let mut others = others.into_iter().peekable();
        if others.peek().is_none() {
            return self;
        }
        let shares: Vec<Self> = [self].into_iter().chain(others).collect();
        let last = end(&shares, order);
        let has_more = shares.iter().any(|share| share.has_more);
        let total = shares.iter().map(|share| share.total).sum::<Option<usize>>();
        let mut items: Vec<Item<T>> = shares.into_iter().flat_map(|share| share.items).collect();
        items.sort_by(|one, other| order.compare(&one.spot, &other.spot));
        let twice = drop_twice(&mut items);
        let whole = Self { items, last, total: total.map(|total| total - twice), has_more };
        whole.cut(order)
    }

    /// The same of other values.
    pub(in crate::web) fn map<U>(self, mut change: impl FnMut(T) -> U) -> Share<U> {
        let Self { items, last, total, has_more } = self;
        let item = |Item { spot, value }| Item { spot, value: change(value) };
        Share { items: items.into_iter().map(item).collect(), last, total, has_more }
    }

    /// How many are not on this page, of a list whose first page it is.
    pub(in crate::web) fn remaining(&self) -> usize {
        self.total.unwrap_or_default().saturating_sub(self.items.len())
    }

    /// Beyond the place where a share ends, that member may have others.
    fn cut(mut self, order: Order) -> Self {
        let before = self.items.len();
        if let Some(last) = &self.last {
            self.items.retain(|item| order.compare(&item.spot, last).is_le());
        }
        self.items.truncate(order.limit);
        self.has_more |= self.items.len() < before;
        let last = self.items.last().map(|item| item.spot.clone());
        Self { last: last.or(self.last), ..self }
    }
}

/// Where the first share ends that has more.
fn end<T>(shares: &[Share<T>], order: Order) -> Option<Spot> {
    let ends = shares.iter().filter(|share| share.has_more).filter_map(|share| share.last.as_ref());
    ends.min_by(|one, other| order.compare(one, other)).cloned()
}

/// While a parent goes from one member to another, both may show it. Returns how many were there twice.
fn drop_twice<T>(items: &mut Vec<Item<T>>) -> usize {
    let before = items.len();
    let mut seen = HashSet::new();
    items.retain(|Item { spot, .. }| seen.insert((spot.operator.clone(), spot.key.clone())));
    before - items.len()
}

fn text<S: Serializer>(key: &ObjectKey, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(key)
}

fn key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ObjectKey, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of a member that has these, as `rank name`, sorted, of which it shows as many as the limit.
    fn share(all: &[(u64, &str)], after: Option<&Spot>, order: Order) -> Share<()> {
        let spot = |(rank, name): &(u64, &str)| Spot {
            rank: *rank,
            key: name.parse().unwrap(),
            operator: String::new(),
        };
        let mut spots: Vec<Spot> = all.iter().map(spot).collect();
        spots.sort_by(|one, other| order.compare(one, other));
        spots.retain(|spot| after.is_none_or(|after| order.compare(spot, after).is_gt()));
        let has_more = spots.len() > order.limit;
        spots.truncate(order.limit);
        let last = spots.last().cloned();
        let items = spots.into_iter().map(|spot| Item { spot, value: () }).collect();
        Share { items, last, total: Some(all.len()), has_more }
    }

    fn names(share: &Share<()>) -> Vec<String> {
        share.items.iter().map(|item| item.spot.key.to_string()).collect()
    }

    /// The names on all pages.
    fn pages(members: &[&[(u64, &str)]], order: Order) -> Vec<Vec<String>> {
        let (mut pages, mut after) = (Vec::new(), None);
        loop {
            let mut shares = members.iter().map(|all| share(all, after.as_ref(), order));
            let own = shares.next().unwrap();
            let page = own.with(shares, order);
            pages.push(names(&page));
            after = page.last;
            if !page.has_more {
                return pages;
            }
        }
    }

    #[test]
    fn a_list_of_all_members_is_the_same_whoever_is_asked() {
        let (one, other): (&[_], &[_]) =
            (&[(0, "a/4"), (2, "a/1"), (2, "b/1")], &[(1, "a/3"), (2, "a/2")]);
        for members in [[one, other], [other, one]] {
            let order = Order { limit: 2, is_reversed: false };
            assert_eq!(
                pages(&members, order),
                [vec!["a/4", "a/3"], vec!["a/1", "a/2"], vec!["b/1"]]
            );
            let order = Order { limit: 3, is_reversed: true };
            assert_eq!(pages(&members, order), [vec!["b/1", "a/2", "a/1"], vec!["a/3", "a/4"]]);
            let whole = share(members[0], None, Order::first(9));
            let whole = whole.with([share(members[1], None, Order::first(9))], Order::first(9));
            assert_eq!((whole.total, whole.has_more, whole.remaining()), (Some(5), false, 0));
        }
    }

    #[test]
    fn every_list_comes_in_the_same_pages_however_it_is_shared_out() {
        let all: Vec<(u64, String)> =
            (0..40_u64).map(|number| (number * 7 % 5, format!("ns/{number:02}"))).collect();
        let all: Vec<(u64, &str)> = all.iter().map(|(rank, name)| (*rank, &**name)).collect();
        for members in 1..=4 {
            let shares: Vec<Vec<(u64, &str)>> = (0..members)
                .map(|member| all.iter().skip(member).step_by(members).copied().collect())
                .collect();
            let shares: Vec<&[(u64, &str)]> = shares.iter().map(Vec::as_slice).collect();
            for limit in [1, 3, 7, 40, 50] {
                for is_reversed in [false, true] {
                    let order = Order { limit, is_reversed };
                    assert_eq!(pages(&shares, order), pages(&[&all], order), "{members} {order:?}");
                }
            }
        }
    }

    #[test]
    fn a_parent_that_two_members_show_is_there_once() {
        let order = Order::first(2);
        let (one, other) = ([(0, "a/1"), (1, "a/2")], [(0, "a/1"), (2, "a/2"), (3, "a/3")]);
        let page = share(&one, None, order).with([share(&other, None, order)], order);
        assert_eq!((names(&page), page.total), (vec!["a/1".to_owned(), "a/2".to_owned()], Some(3)));
        assert!(page.has_more);
        let first = share(&[(0, "x/1"), (1, "x/2")], None, Order::first(1));
        let again = share(&[(0, "x/1"), (3, "x/3")], None, Order::first(1));
        let page = first.with([again], order);
        assert_eq!(names(&page), ["x/1"], "what comes next is not known");
        assert!(page.has_more);
    }

    #[test]
    fn the_number_is_known_where_each_member_knows_its_own() {
        let order = Order::first(2);
        let uncounted = Share { total: None, ..share(&[(0, "b")], None, order) };
        let page = share(&[(0, "a")], None, order).with([uncounted], order);
        assert_eq!((page.total, page.remaining()), (None, 0));
    }

    #[test]
    fn a_share_reads_back_what_it_writes() {
        let order = Order { limit: 2, is_reversed: false };
        let share = share(&[(u64::MAX, "a/1"), (0, "b"), (7, "c")], None, order);
        let written = serde_json::to_string(&share).unwrap();
        assert_eq!(serde_json::from_str::<Share<()>>(&written).unwrap(), share);
        assert!(serde_json::from_str::<Share<()>>("{}").is_err());
    }
}
