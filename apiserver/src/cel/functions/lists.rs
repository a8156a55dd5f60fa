//! Lists and sets.

use std::cmp::Ordering;

use super::arithmetic;
use crate::cel::value::{Failure, List, Outcome, Val, compare, equal, error, no_overload};

/// The longest list that is made from nothing, which the limit of costs would allow no longer.
const LONGEST_RANGE: i64 = 1_000_000;

pub(super) fn call<'a>(function: &str, args: &[Val<'a>]) -> Outcome<'a> {
    if let ("lists.range", [Val::Int(count)]) = (function, args) {
        // Longer ones end the expression anyway.
        if *count > LONGEST_RANGE {
            return Err(Failure::TooExpensive);
        }
        return Ok(Val::List(List::own((0..*count).map(Val::Int).collect())));
    }
    let Some((first, rest)) = args.split_first() else { return no_overload() };
    let list = first.as_list()?;
    match (function, rest) {
        ("isSorted", []) => is_sorted(list),
        ("sum", []) => sum(list),
        ("min" | "max", []) => extreme(list, function),
        ("indexOf", [value]) => Ok(index_of(list, value, false)),
        ("lastIndexOf", [value]) => Ok(index_of(list, value, true)),
        ("first", []) => at(list, (list.len() > 0).then_some(0)),
        ("last", []) => at(list, list.len().checked_sub(1)),
        ("reverse", []) => {
            let mut items = items(list)?;
            items.reverse();
            Ok(Val::List(List::own(items)))
        }
        ("slice", [start, end]) => slice(list, start.as_int()?, end.as_int()?),
        ("flatten", []) => flatten(list, 1),
        ("flatten", [depth]) => flatten(list, depth.as_int()?),
        ("distinct", []) => distinct(list),
        ("sort", []) => sort(list, list),
        ("@sortByAssociatedKeys", [keys]) => sort(list, keys.as_list()?),
        ("sets.contains", [other]) => contains_all(list, other.as_list()?).map(Val::Bool),
        ("sets.intersects", [other]) => intersects(list, other.as_list()?).map(Val::Bool),
        ("sets.equivalent", [other]) => {
            let other = other.as_list()?;
            Ok(Val::Bool(contains_all(list, other)? && contains_all(other, list)?))
        }
        _ => no_overload(),
    }
}

fn items<'a>(list: &List<'a>) -> Result<Vec<Val<'a>>, Failure> {
    list.iter().collect()
}

fn at<'a>(list: &List<'a>, at: Option<usize>) -> Outcome<'a> {
    at.map_or(Ok(Val::Optional(None)), |at| list.get(at).map(Val::some))
}

fn is_sorted<'a>(list: &List<'a>) -> Outcome<'a> {
    for pair in items(list)?.windows(2) {
        if compare(&pair[0], &pair[1])? == Ordering::Greater {
            return Ok(Val::Bool(false));
        }
    }
    Ok(Val::Bool(true))
}

fn sum<'a>(list: &List<'a>) -> Outcome<'a> {
    let mut items = list.iter();
    let Some(first) = items.next() else { return Ok(Val::Int(0)) };
    items.try_fold(first?, |sum, item| arithmetic::call("_+_", &[sum, item?]))
}

fn extreme<'a>(list: &List<'a>, function: &str) -> Outcome<'a> {
    let wanted = if function == "min" { Ordering::Greater } else { Ordering::Less };
    let mut best: Option<Val<'a>> = None;
    for item in list.iter() {
        let item = item?;
        best = match best {
            Some(best) if compare(&best, &item)? != wanted => Some(best),
            _ => Some(item),
        };
    }
    best.map_or_else(|| error(format!("{function} called on empty list")), Ok)
}

fn index_of<'a>(list: &List<'a>, value: &Val<'a>, from_end: bool) -> Val<'a> {
    let is_equal =
        |at: &usize| matches!(list.get(*at).and_then(|item| equal(&item, value)), Ok(true));
    let mut range = 0..list.len();
    let found = if from_end { range.rfind(is_equal) } else { range.find(is_equal) };
    found.map_or(Val::Int(-1), Val::count)
}

fn slice<'a>(list: &List<'a>, start: i64, end: i64) -> Outcome<'a> {
    let len = list.len();
    let (from, to) = (usize::try_from(start), usize::try_from(end));
    let (Ok(from), Ok(to)) = (from, to) else {
        return error(format!("cannot slice({start}, {end}), negative indexes not supported"));
    };
    if from > to {
        return error(format!(
            "cannot slice({start}, {end}), start index must be less than or equal to end index"
        ));
    }
    if to > len {
        return error(format!("cannot slice({start}, {end}), list is length {len}"));
    }
    let part = (from..to).map(|at| list.get(at)).collect::<Result<_, _>>()?;
    Ok(Val::List(List::own(part)))
}

fn flatten<'a>(list: &List<'a>, depth: i64) -> Outcome<'a> {
    if depth < 0 {
        return error("level must be non-negative");
    }
    let mut flat = Vec::new();
    flatten_into(list, depth, &mut flat)?;
    Ok(Val::List(List::own(flat)))
}

fn flatten_into<'a>(list: &List<'a>, depth: i64, flat: &mut Vec<Val<'a>>) -> Result<(), Failure> {
    for item in list.iter() {
        match item? {
            Val::List(inner) if depth > 0 => flatten_into(&inner, depth - 1, flat)?,
            item => flat.push(item),
        }
    }
    Ok(())
}

fn distinct<'a>(list: &List<'a>) -> Outcome<'a> {
    affordable(list)?;
    let mut unique: Vec<Val<'a>> = Vec::new();
    for item in list.iter() {
        let item = item?;
        if !unique.iter().any(|known| matches!(equal(&item, known), Ok(true))) {
            unique.push(item);
        }
    }
    Ok(Val::List(List::own(unique)))
}

/// What compares all pairs is not begun when it costs too much anyway.
fn affordable(list: &List<'_>) -> Result<(), Failure> {
    if list.len() > 1000 { Err(Failure::TooExpensive) } else { Ok(()) }
}

fn sort<'a>(list: &List<'a>, keys: &List<'a>) -> Outcome<'a> {
    if list.len() != keys.len() {
        return error(format!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got {} and {} elements respectively",
            list.len(),
            keys.len()
        ));
    }
    affordable(keys)?;
    let mut pairs: Vec<_> = items(keys)?.into_iter().zip(items(list)?).collect();
    let first = pairs.first().map(|(key, _)| key.type_name());
    if pairs.iter().any(|(key, _)| Some(key.type_name()) != first) {
        return error("list elements must have the same type");
    }
    if pairs.iter().any(|(key, _)| compare(key, key).is_err()) {
        return error("list elements must be comparable");
    }
    pairs.sort_by(|(a, _), (b, _)| compare(a, b).unwrap_or(Ordering::Equal));
    Ok(Val::List(List::own(pairs.into_iter().map(|(_, item)| item).collect())))
}

fn contains_all<'a>(list: &List<'a>, part: &List<'a>) -> Result<bool, Failure> {
    too_many_pairs(list, part)?;
    for item in part.iter() {
        if !list.contains(&item?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn intersects<'a>(list: &List<'a>, other: &List<'a>) -> Result<bool, Failure> {
    too_many_pairs(list, other)?;
    for item in list.iter() {
        if matches!(other.contains(&item?), Ok(true)) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn too_many_pairs(a: &List<'_>, b: &List<'_>) -> Result<(), Failure> {
    if a.len().saturating_mul(b.len()) > 1_000_000 { Err(Failure::TooExpensive) } else { Ok(()) }
}
