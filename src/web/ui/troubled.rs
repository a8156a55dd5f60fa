//! The parents that need the attention of the user, as one process gives them to another: the worst first.

use std::{collections::BTreeMap, time::SystemTime};

use serde::{Deserialize, Serialize};

use super::glance::since;
use crate::{
    board::{Board, OperatorSnapshot, ParentPhase, ParentState, Selection},
    history::Problem,
    object::ObjectKey,
    web::{
        attention::{LISTED, parents},
        explain::why,
        members::{Item, Order, Share, Spot},
        severity::PHASES,
    },
};

/// The parents of an operator in a phase that need attention.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Troubled {
    pub(super) operator: String,
    pub(super) phase: ParentPhase,
    pub(super) parents: Share<Trouble>,
}

/// Why a parent needs attention.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Trouble {
    pub(super) problems: Vec<Problem>,
    pub(super) since: Option<SystemTime>,
    /// When it is reconciled next without a trigger.
    pub(super) next: Option<SystemTime>,
}

/// Those of this process, the worst phase first.
pub(super) fn all(board: &Board, operators: &[OperatorSnapshot], now: SystemTime) -> Vec<Troubled> {
    let places = PHASES.into_iter().flat_map(|phase| operators.iter().map(move |it| (it, phase)));
    let found = places.filter_map(|(operator, phase)| {
        let found = parents(board, operator, phase, now, |_| true)?;
        let operator_name = operator.info.name.to_string();
        Some(Troubled { operator: operator_name, phase, parents: share(operator, &found) })
    });
    found.collect()
}

/// Those of this process and of others, the worst phase first, and then by the names of the operators.
pub(super) fn joined(own: Vec<Troubled>, others: Vec<Vec<Troubled>>) -> Vec<Troubled> {
    let mut by_place: BTreeMap<_, (ParentPhase, Vec<Share<Trouble>>)> = BTreeMap::new();
    for Troubled { operator, phase, parents } in own.into_iter().chain(others.into_iter().flatten())
    {
        let severity = PHASES.iter().position(|it| *it == phase);
        let place = by_place.entry((severity, operator)).or_insert_with(|| (phase, Vec::new()));
        place.1.push(parents);
    }
    let joined = by_place.into_iter().filter_map(|((_, operator), (phase, shares))| {
        let mut shares = shares.into_iter();
        let parents = shares.next()?.with(shares, Order::first(LISTED));
        Some(Troubled { operator, phase, parents })
    });
    joined.collect()
}

fn share(operator: &OperatorSnapshot, found: &Selection) -> Share<Trouble> {
    let spot = |key: &ObjectKey| Spot { rank: 0, key: key.clone(), operator: String::new() };
    let last = found.items.last().map(|(key, _)| spot(key));
    let items = found
        .items
        .iter()
        .map(|(key, state)| Item { spot: spot(key), value: Trouble::new(operator, key, state) });
    let (total, has_more) = (Some(found.chosen), found.remaining > 0);
    Share { items: items.collect(), last, total, has_more }
}

impl Trouble {
    fn new(operator: &OperatorSnapshot, key: &ObjectKey, state: &ParentState) -> Self {
        Self {
            problems: why(operator, key, state),
            since: since(state),
            next: state.next_wake.map(|wake| wake.at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn troubled(operator: &str, phase: ParentPhase, keys: &[&str]) -> Troubled {
        let item = |key: &&str| Item {
            spot: Spot { rank: 0, key: key.parse().unwrap(), operator: String::new() },
            value: Trouble { problems: vec![Problem::new(*key)], since: None, next: None },
        };
        let items: Vec<_> = keys.iter().map(item).collect();
        let last = items.last().map(|item| item.spot.clone());
        let parents = Share { items, last, total: Some(keys.len()), has_more: false };
        Troubled { operator: operator.to_owned(), phase, parents }
    }

    #[test]
    fn the_parents_of_all_members_are_joined_the_worst_first() {
        use ParentPhase::{Failing, Stalled, Waiting};
        let own = vec![troubled("cook", Failing, &["a/2"]), troubled("cook", Waiting, &["a/5"])];
        let sent = [troubled("baker", Failing, &["b"]), troubled("cook", Failing, &["a/1"])];
        let sent = serde_json::to_string(&sent).unwrap();
        let other: Vec<Troubled> = serde_json::from_str(&sent).unwrap();
        let third = vec![troubled("cook", Stalled, &["a/9"])];
        let all = joined(own, vec![other, third]);
        let shown = all.iter().map(|Troubled { operator, phase, parents }| {
            let keys: Vec<_> = parents.items.iter().map(|it| it.spot.key.to_string()).collect();
            format!("{operator} {} {}", phase.name(), keys.join(" "))
        });
        assert_eq!(
            shown.collect::<Vec<_>>(),
            ["cook stalled a/9", "baker failing b", "cook failing a/1 a/2", "cook waiting a/5"]
        );
    }

    #[test]
    fn a_limited_number_is_listed_and_the_rest_is_counted() {
        let keys: Vec<String> = (0..LISTED).map(|number| format!("a/{number:02}")).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let one = vec![troubled("cook", ParentPhase::Failing, &keys)];
        let other = vec![troubled("cook", ParentPhase::Failing, &["b/0"])];
        let all = joined(one, vec![other]);
        assert_eq!((all[0].parents.items.len(), all[0].parents.remaining()), (LISTED, 1));
    }
}
