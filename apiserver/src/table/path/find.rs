//! Finds the values at a path.
//!
//! What an action finds can grow with each of its nodes (`['a','a']['a','a']`, `..a..a`): the real server computes until
//! its memory is full. Here a search ends when its budget is spent.

use serde_json::Value;

use super::{
    compare::Found,
    node::{Condition, End, Node, Slice},
};

/// How many values searches may still touch.
#[derive(Debug)]
pub(in crate::table) struct Budget(usize);

/// Why a search has no result.
enum Stop<'a> {
    /// A node does not fit the values; what a filter takes for found then.
    Wrong(Vec<Found<'a>>),
    /// The budget is spent.
    Spent,
}

type Search<'a> = Result<Vec<Found<'a>>, Stop<'a>>;

impl Budget {
    /// So many values.
    pub(in crate::table) fn new(values: usize) -> Self {
        Self(values)
    }

    /// Takes so many from what is left; `None`, now and from then on, if that is less.
    pub(in crate::table) fn take(&mut self, values: usize) -> Option<()> {
        let left = self.0.checked_sub(values);
        self.0 = left.unwrap_or_default();
        left.map(drop)
    }

    fn spend<'a>(&mut self, values: usize) -> Result<(), Stop<'a>> {
        self.take(values).ok_or(Stop::Spent)
    }
}

/// All that the nodes of an action find.
pub(super) fn find<'a>(
    nodes: &'a [Node],
    object: &'a Value,
    budget: &mut Budget,
) -> Option<Vec<Found<'a>>> {
    all(nodes, vec![Found::Json(object)], budget).ok()
}

fn all<'a>(nodes: &'a [Node], from: Vec<Found<'a>>, budget: &mut Budget) -> Search<'a> {
    nodes.iter().try_fold(from, |from, node| {
        let found = one(node, from, budget)?;
        budget.spend(found.len() + 1)?;
        Ok(found)
    })
}

fn one<'a>(node: &'a Node, from: Vec<Found<'a>>, budget: &mut Budget) -> Search<'a> {
    let same = |found: Found<'a>| Ok(vec![found; from.len()]);
    match node {
        Node::Text(text) => Ok(vec![Found::Text(text)]),
        Node::Integer(integer) => same(Found::Integer(*integer)),
        Node::Float(float) => same(Found::Float(*float)),
        Node::Bool(truth) => same(Found::Bool(*truth)),
        Node::Field(name) => Ok(from.into_iter().filter_map(|value| member(value, name)).collect()),
        Node::Wildcard => below(from, budget),
        Node::Recursive => everything(from, budget),
        Node::Slice(slice) => elements(*slice, from, budget),
        Node::Union(each) => union(each, from, budget),
        Node::Filter(left, condition) => filter(left, condition, from, budget),
        Node::Word => Err(Stop::Wrong(from)),
    }
}

fn member<'a>(value: Found<'a>, name: &str) -> Option<Found<'a>> {
    match value {
        Found::Json(value) => value.as_object()?.get(name).map(Found::Json),
        _ => None,
    }
}

/// What is directly below; bytes are below a text.
fn below<'a>(from: Vec<Found<'a>>, budget: &mut Budget) -> Search<'a> {
    let mut found = Vec::new();
    for value in from {
        let text = text(value);
        budget.spend(text.len())?;
        found.extend(text.bytes().map(Found::Byte));
        if let Found::Json(value) = value {
            let children = children(value);
            budget.spend(children.len())?;
            found.extend(children.into_iter().map(Found::Json));
        }
    }
    Ok(found)
}

fn text(value: Found<'_>) -> &str {
    match value {
        Found::Text(text) => text,
        Found::Json(value) => value.as_str().unwrap_or_default(),
        _ => "",
    }
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Object(members) => members.values().collect(),
        Value::Array(elements) => elements.iter().collect(),
        _ => Vec::new(),
    }
}

/// What has something below it, and all of that which has, too.
fn everything<'a>(from: Vec<Found<'a>>, budget: &mut Budget) -> Search<'a> {
    let mut found = Vec::new();
    for start in from {
        let mut open = vec![start];
        while let Some(value) = open.pop() {
            budget.spend(1)?;
            let children = match value {
                Found::Json(value) => children(value),
                _ => Vec::new(),
            };
            if !children.is_empty() || !text(value).is_empty() {
                found.push(value);
            }
            budget.spend(children.len())?;
            open.extend(children.into_iter().rev().map(Found::Json));
        }
    }
    Ok(found)
}

fn elements<'a>(slice: Slice, from: Vec<Found<'a>>, budget: &mut Budget) -> Search<'a> {
    let mut found = Vec::new();
    for value in &from {
        let list = match value {
            Found::Json(Value::Null) => continue,
            Found::Json(Value::Array(list)) => list,
            _ => return Err(Stop::Wrong(from)),
        };
        let Ok((start, end)) = bounds(slice, list.len()) else { return Err(Stop::Wrong(from)) };
        // The real server forgets the other lists then.
        if start == end {
            return Ok(found);
        }
        let step = match slice.step.map(usize::try_from) {
            None => 1,
            Some(Ok(step)) if step > 0 => step,
            Some(_) => return Err(Stop::Wrong(from)),
        };
        let taken = list[start..end].iter().step_by(step);
        budget.spend(taken.len())?;
        found.extend(taken.map(Found::Json));
    }
    Ok(found)
}

/// From where to where a slice reaches in a list; the same twice if it is empty.
fn bounds(slice: Slice, length: usize) -> Result<(usize, usize), ()> {
    let length = i64::try_from(length).map_err(drop)?;
    let from_end = |at: i64| if at < 0 { at.wrapping_add(length) } else { at };
    let given = slice.start.unwrap_or(0);
    let end = match slice.end {
        End::Open => length,
        End::Given(end) => from_end(end),
        // Behind the last element, which is counted from the end.
        End::AfterStart if given == -1 => length,
        End::AfterStart => from_end(given.wrapping_add(1)),
    };
    let start = from_end(given);
    if start == end {
        return Ok((0, 0));
    }
    let is_within = (0..length).contains(&start) && (0..=length).contains(&end) && start < end;
    if !is_within {
        return Err(());
    }
    Ok((usize::try_from(start).map_err(drop)?, usize::try_from(end).map_err(drop)?))
}

fn union<'a>(each: &'a [Vec<Node>], from: Vec<Found<'a>>, budget: &mut Budget) -> Search<'a> {
    let mut found = Vec::new();
    for nodes in each {
        budget.spend(from.len())?;
        match all(nodes, from.clone(), budget) {
            Ok(more) => found.extend(more),
            Err(Stop::Wrong(_)) => return Err(Stop::Wrong(from)),
            Err(Stop::Spent) => return Err(Stop::Spent),
        }
    }
    Ok(found)
}

fn filter<'a>(
    left: &'a [Node],
    condition: &'a Condition,
    from: Vec<Found<'a>>,
    budget: &mut Budget,
) -> Search<'a> {
    let mut found = Vec::new();
    for value in &from {
        let Found::Json(Value::Array(list)) = value else { return Err(Stop::Wrong(from)) };
        for element in list {
            budget.spend(1)?;
            match is_chosen(left, condition, element, budget) {
                Ok(true) => found.push(Found::Json(element)),
                Ok(false) => {}
                Err(Stop::Wrong(_)) => return Err(Stop::Wrong(from)),
                Err(Stop::Spent) => return Err(Stop::Spent),
            }
        }
    }
    Ok(found)
}

fn is_chosen<'a>(
    left: &'a [Node],
    condition: &'a Condition,
    element: &'a Value,
    budget: &mut Budget,
) -> Result<bool, Stop<'a>> {
    let element = || vec![Found::Json(element)];
    let lefts = all(left, element(), budget);
    let Condition::Compares(operator, right) = condition else {
        // What goes wrong exists nevertheless, if there was something to begin with.
        return match lefts {
            Ok(found) | Err(Stop::Wrong(found)) => Ok(!found.is_empty()),
            Err(Stop::Spent) => Err(Stop::Spent),
        };
    };
    let Some(left) = only(&lefts?)? else { return Ok(false) };
    let Some(right) = only(&all(right, element(), budget)?)? else { return Ok(false) };
    operator.holds(left, right).map_err(|_| Stop::Wrong(Vec::new()))
}

/// The one value, if there is one; more cannot be compared.
fn only<'a>(found: &[Found<'a>]) -> Result<Option<Found<'a>>, Stop<'a>> {
    match found {
        [] => Ok(None),
        [one] => Ok(Some(*one)),
        _ => Err(Stop::Wrong(Vec::new())),
    }
}
