//! Amounts of resources by name.

use std::{cmp::Ordering, collections::BTreeMap};

use serde_json::{Map, Value};

use crate::quantity::Quantity;

/// Amounts of resources by name.
pub(super) type Amounts = BTreeMap<String, Quantity>;

/// The amounts of a resource list.
pub(super) fn of(list: &Value) -> Amounts {
    let amounts = list.as_object().into_iter().flatten();
    amounts.filter_map(|(name, value)| Some((name.clone(), Quantity::of(value)?))).collect()
}

/// As a resource list.
pub(super) fn json(amounts: &Amounts) -> Value {
    let entry = |(name, amount): (&String, &Quantity)| (name.clone(), amount.to_string().into());
    Value::Object(amounts.iter().map(entry).collect::<Map<_, _>>())
}

/// Adds amounts to others; a zero is written as what is added.
pub(super) fn add(sum: &mut Amounts, more: &Amounts) {
    for (name, amount) in more {
        let before = sum.get(name).filter(|before| !is_zero(**before)).copied();
        sum.insert(name.clone(), before.map_or(*amount, |before| before.plus(*amount)));
    }
}

/// Raises amounts to at least others.
pub(super) fn raise(amounts: &mut Amounts, least: &Amounts) {
    for (name, amount) in least {
        let known = amounts.entry(name.clone()).or_insert(*amount);
        if known.compare(*amount) == Ordering::Less {
            *known = *amount;
        }
    }
}

/// What is more than before.
pub(super) fn growth(now: &Amounts, before: &Amounts) -> Amounts {
    let grown = |(name, amount): (&String, &Quantity)| {
        let less = before.get(name).copied().unwrap_or_else(|| Quantity::whole(0));
        let difference = amount.minus(less);
        difference.is_positive().then(|| (name.clone(), difference))
    };
    now.iter().filter_map(grown).collect()
}

/// Those of the given names.
pub(super) fn masked(amounts: &Amounts, names: &Amounts) -> Amounts {
    let is_named = |(name, _): &(&String, &Quantity)| names.contains_key(*name);
    amounts.iter().filter(is_named).map(|(name, amount)| (name.clone(), *amount)).collect()
}

/// As messages show them: `cpu=1,memory=2Gi`.
pub(super) fn shown(amounts: &Amounts) -> String {
    let parts: Vec<_> = amounts.iter().map(|(name, amount)| format!("{name}={amount}")).collect();
    parts.join(",")
}

pub(super) fn is_zero(amount: Quantity) -> bool {
    !amount.is_positive() && !amount.is_negative()
}
