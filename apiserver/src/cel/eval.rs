//! Evaluates expressions, and counts what that costs.
//!
//! The cost of a variable, of each step into it and of each call is that of the real server, and so is the limit: a rule
//! that would run for long ends with an error instead.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    access::{concat, element, insert, select},
    constructed::Constructed,
    cost,
    equal::{compare, equal},
    functions,
    list::List,
    map::{Key, Map},
    node::{Call, Fold, Kind, Node},
    value::{Failure, Outcome, Val, error, no_overload},
};

/// The most that one expression may cost.
pub(super) const EXPRESSION_LIMIT: u64 = 1_000_000;

/// What the real server says when it would measure the cost of a list that is an error.
const NOT_A_LIST: &str =
    "internal error: interface conversion: *types.Err is not traits.Lister: missing method Add";

/// Evaluates an expression with these variables; returns the cost too.
pub(super) fn evaluate<'a>(
    node: &'a Node,
    variables: &[(&'static str, Val<'a>)],
) -> (Outcome<'a>, u64) {
    evaluate_in(node, variables.iter().map(|(name, value)| (*name, Ok(value.clone()))).collect())
}

/// The same where a variable may be an error.
pub(super) fn evaluate_in<'a>(
    node: &'a Node,
    scope: Vec<(&'a str, Outcome<'a>)>,
) -> (Outcome<'a>, u64) {
    let mut run = Run { scope, cost: 0 };
    let outcome = run.eval(node);
    (outcome, run.cost)
}

struct Run<'a> {
    /// Errors are values of variables too: they may yet be decided away.
    scope: Vec<(&'a str, Outcome<'a>)>,
    cost: u64,
}

impl<'a> Run<'a> {
    fn eval(&mut self, node: &'a Node) -> Outcome<'a> {
        if let Some(constant) = &node.constant {
            return Ok(constant.clone());
        }
        match &node.kind {
            Kind::Variable(_) => {
                let value = self.resolve(node);
                self.spend(1)?;
                value
            }
            Kind::Select { test, .. } => {
                let value = self.resolve(node);
                self.spend(u64::from(!test))?;
                value
            }
            Kind::Call(call) => match &*call.function {
                "_[_]" | "_[?_]" | "_?._" => {
                    let value = self.resolve(node);
                    self.spend(1)?;
                    value
                }
                _ => self.call(call),
            },
            Kind::List { elements, optional } => self.list(elements, optional),
            Kind::Map { entries } => self.map(entries),
            Kind::Object { name, fields } => self.object(name, fields),
            Kind::Fold(fold) => self.fold(fold),
            Kind::Literal | Kind::TypeName => no_overload(),
        }
    }

    /// The value of a path. Each step costs one; the path itself is counted by `eval`.
    fn resolve(&mut self, node: &'a Node) -> Outcome<'a> {
        if node.constant.is_some() {
            return self.eval(node);
        }
        match &node.kind {
            Kind::Variable(name) => self.variable(name),
            Kind::Select { operand, field, test } => {
                let operand = self.resolve(operand)?;
                self.spend(1)?;
                select(&operand, field, *test)
            }
            Kind::Call(call) => match (&*call.function, call.args.as_slice()) {
                ("_[_]", [operand, index]) => self.index(operand, index, false),
                ("_[?_]" | "_?._", [operand, index]) => self.index(operand, index, true),
                ("_?_:_", [condition, yes, no]) => match self.eval(condition)? {
                    Val::Bool(true) => self.resolve(yes),
                    Val::Bool(false) => self.resolve(no),
                    _ => no_overload(),
                },
                _ => self.eval(node),
            },
            _ => self.eval(node),
        }
    }

    fn variable(&mut self, name: &str) -> Outcome<'a> {
        let found = self.scope.iter_mut().rev().find(|(known, _)| *known == name);
        let Some((_, value)) = found else {
            return error(format!("no such attribute(s): {name}"));
        };
        // A macro reads its accumulator once before it is written again, so that it can grow in place.
        let is_taken =
            name == super::parse::ACCUMULATOR && matches!(value, Ok(Val::List(_) | Val::Map(_)));
        if is_taken { std::mem::replace(value, Ok(Val::Null)) } else { value.clone() }
    }

    fn index(&mut self, operand: &'a Node, index: &'a Node, optional: bool) -> Outcome<'a> {
        let operand = self.resolve(operand)?;
        let index = match self.resolve(index) {
            Ok(index) => index,
            Err(failure) => {
                self.spend(u64::from(!optional))?;
                return Err(failure);
            }
        };
        let (value, was_optional) = match &operand {
            Val::Optional(None) => return Ok(Val::Optional(None)),
            Val::Optional(Some(inner)) => (Val::clone(inner), true),
            _ => (operand, false),
        };
        if !optional && !was_optional {
            self.spend(1)?;
            return element(&value, &index);
        }
        let found = match (&value, &index) {
            (Val::Map(map), _) => map.find(&index)?,
            (Val::Constructed(object), Val::String(field)) => object.fields.get(&**field).cloned(),
            (Val::List(list), Val::Int(at)) => {
                let at = usize::try_from(*at).ok().filter(|at| *at < list.len());
                at.map(|at| list.get(at)).transpose()?
            }
            _ => return no_overload(),
        };
        self.spend(u64::from(found.is_some()))?;
        Ok(Val::Optional(found.map(Arc::new)))
    }

    fn call(&mut self, call: &'a Call) -> Outcome<'a> {
        match (&*call.function, call.args.as_slice()) {
            ("_&&_", args) => self.logical(args, false),
            ("_||_", args) => self.logical(args, true),
            ("_?_:_", [condition, yes, no]) => match self.eval(condition)? {
                Val::Bool(true) => self.resolve(yes),
                Val::Bool(false) => self.resolve(no),
                _ => no_overload(),
            },
            ("@not_strictly_false", [arg]) => {
                let value = self.eval(arg);
                self.spend(1)?;
                match value {
                    Err(failure) if failure.is_final() => Err(failure),
                    Ok(Val::Bool(value)) => Ok(Val::Bool(value)),
                    Ok(_) | Err(_) => Ok(Val::Bool(true)),
                }
            }
            ("or" | "orValue", [target, other]) if call.is_member => match self.eval(target)? {
                Val::Optional(None) => self.eval(other),
                Val::Optional(Some(value)) if &*call.function == "orValue" => {
                    Ok(Val::clone(&value))
                }
                value @ Val::Optional(_) => Ok(value),
                _ => no_overload(),
            },
            ("@in", [value, list]) if call.overload() == "in_list" && is_set(list) => {
                let value = self.eval(value)?;
                match &list.constant {
                    Some(Val::List(list)) => Ok(Val::Bool(list.contains(&value)?)),
                    _ => no_overload(),
                }
            }
            (function, args) => self.strict_call(function, call.overload(), args),
        }
    }

    fn strict_call(&mut self, function: &str, overload: &str, args: &'a [Node]) -> Outcome<'a> {
        let mut values = Vec::with_capacity(args.len());
        let mut failure = None;
        // Such calls end at the first error, and cost nothing then.
        let ends_early = args.len() > 2 || has_known_pattern(function, args);
        for arg in args {
            match self.eval(arg) {
                Ok(value) => values.push(value),
                Err(other) if other.is_final() => return Err(other),
                Err(other) if ends_early => return Err(other),
                Err(other) => {
                    // Counted like a value of size one.
                    values.push(Val::Null);
                    failure = failure.or(Some(other));
                }
            }
        }
        if let Some(failure) = failure {
            let is_measured = matches!(function, "distinct" | "sort" | "@sortByAssociatedKeys");
            if is_measured {
                return Err(Failure::Crashed(NOT_A_LIST));
            }
            self.spend(cost::before(function, overload, &values).unwrap_or(12))?;
            return Err(failure);
        }
        let before = cost::before(function, overload, &values);
        let result = match (function, values.as_slice()) {
            ("_==_", [a, b]) => equal(a, b).map(Val::Bool),
            ("_!=_", [a, b]) => equal(a, b).map(|equal| Val::Bool(!equal)),
            ("_<_", [a, b]) => compare(a, b).map(|order| Val::Bool(order.is_lt())),
            ("_<=_", [a, b]) => compare(a, b).map(|order| Val::Bool(order.is_le())),
            ("_>_", [a, b]) => compare(a, b).map(|order| Val::Bool(order.is_gt())),
            ("_>=_", [a, b]) => compare(a, b).map(|order| Val::Bool(order.is_ge())),
            ("_+_", [Val::List(_), Val::List(_)]) => concat(values),
            ("cel.@mapInsert", _) => insert(values),
            _ => functions::call(function, &values),
        };
        self.spend(before.unwrap_or_else(|| cost::after(function, &result)))?;
        result
    }

    /// `&&` ends at what is false, and `||` at what is true; errors only count if nothing decides.
    fn logical(&mut self, args: &'a [Node], decides: bool) -> Outcome<'a> {
        let mut failure = None;
        for arg in args {
            match self.eval(arg) {
                Ok(Val::Bool(value)) if value == decides => return Ok(Val::Bool(value)),
                Ok(Val::Bool(_)) => {}
                Ok(_) => failure = failure.or(Some(Failure::Error("no such overload".to_owned()))),
                Err(other) if other.is_final() => return Err(other),
                Err(other) => failure = failure.or(Some(other)),
            }
        }
        failure.map_or(Ok(Val::Bool(!decides)), Err)
    }

    fn list(&mut self, elements: &'a [Node], optional: &[usize]) -> Outcome<'a> {
        let mut items = Vec::with_capacity(elements.len());
        for (at, element) in elements.iter().enumerate() {
            let value = match self.eval(element) {
                Ok(value) => value,
                Err(failure) => {
                    self.spend(10)?;
                    return Err(failure);
                }
            };
            match value {
                Val::Optional(value) if optional.contains(&at) => {
                    items.extend(value.map(|value| Val::clone(&value)));
                }
                value => items.push(value),
            }
        }
        self.spend(10)?;
        Ok(Val::List(List::own(items)))
    }

    fn map(&mut self, entries: &'a [(Node, Node, bool)]) -> Outcome<'a> {
        let mut map = BTreeMap::new();
        for (key, value, optional) in entries {
            let both = self.eval(key).and_then(|key| Ok((key, self.eval(value)?)));
            let (key, value) = match both {
                Ok(both) => both,
                Err(failure) => {
                    self.spend(30)?;
                    return Err(failure);
                }
            };
            let Some(known) = Key::of(&key) else {
                return error(format!("unsupported key type: {}", key.type_name()));
            };
            match value {
                Val::Optional(value) if *optional => {
                    value.map(|value| map.insert(known, Val::clone(&value)));
                }
                value => {
                    map.insert(known, value);
                }
            }
        }
        self.spend(30)?;
        Ok(Val::Map(Map::own(map)))
    }

    fn object(&mut self, name: &Arc<str>, given: &'a [(Arc<str>, Node, bool)]) -> Outcome<'a> {
        let mut fields = BTreeMap::new();
        for (field, value, optional) in given {
            match self.eval(value) {
                Ok(Val::Optional(value)) if *optional => {
                    value.map(|value| fields.insert(Arc::clone(field), Val::clone(&value)));
                }
                Ok(value) => {
                    fields.insert(Arc::clone(field), value);
                }
                Err(failure) => {
                    self.spend(40)?;
                    return Err(failure);
                }
            }
        }
        self.spend(40)?;
        Ok(Val::Constructed(Arc::new(Constructed { name: Arc::clone(name), fields })))
    }

    fn fold(&mut self, fold: &'a Fold) -> Outcome<'a> {
        let range = self.eval(&fold.range)?;
        let outer = self.scope.len();
        if fold.is_binding() && !fold.result.reads(&fold.accumulator) {
            return self.eval(&fold.result);
        }
        let init = match self.eval(&fold.init) {
            Err(failure) if failure.is_final() => return Err(failure),
            init => init,
        };
        self.scope.push((&*fold.accumulator, init));
        let looped = if fold.is_binding() { Ok(()) } else { self.fold_over(fold, &range, outer) };
        let result = looped.and_then(|()| self.eval(&fold.result));
        self.scope.truncate(outer);
        result
    }

    fn fold_over(&mut self, fold: &'a Fold, range: &Val<'a>, outer: usize) -> Result<(), Failure> {
        match range {
            Val::List(list) => {
                for at in 0..list.len() {
                    let element = list.get(at);
                    let pair = match fold.second {
                        Some(_) => (Ok(Val::count(at)), Some(element)),
                        None => (element, None),
                    };
                    if !self.step(fold, pair, outer)? {
                        break;
                    }
                }
                Ok(())
            }
            Val::Map(map) => {
                for key in map.keys() {
                    let second = fold.second.is_some().then(|| map.get(&key));
                    if !self.step(fold, (Ok(key), second), outer)? {
                        break;
                    }
                }
                Ok(())
            }
            _ => no_overload(),
        }
    }

    /// One turn of a loop; whether there is another one.
    fn step(
        &mut self,
        fold: &'a Fold,
        (first, second): (Outcome<'a>, Option<Outcome<'a>>),
        outer: usize,
    ) -> Result<bool, Failure> {
        self.scope.push((&*fold.first, first));
        if let (Some(name), Some(value)) = (&fold.second, second) {
            self.scope.push((&**name, value));
        }
        let more = self.eval(&fold.condition)?;
        if matches!(more, Val::Bool(true)) {
            let value = self.eval(&fold.step);
            self.scope.truncate(outer + 1);
            if let Err(failure) = &value
                && failure.is_final()
            {
                return Err(failure.clone());
            }
            self.scope[outer].1 = value;
            return Ok(true);
        }
        self.scope.truncate(outer + 1);
        Ok(false)
    }

    fn spend(&mut self, cost: u64) -> Result<(), Failure> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > EXPRESSION_LIMIT { Err(Failure::TooExpensive) } else { Ok(()) }
    }
}

/// Whether the pattern of a search is a constant, which the real server compiles before.
fn has_known_pattern(function: &str, args: &[Node]) -> bool {
    matches!(function, "matches" | "find" | "findAll")
        && args.get(1).is_some_and(|pattern| pattern.constant.is_some())
}

/// Whether a list is a constant set, for which membership costs nothing.
fn is_set(list: &Node) -> bool {
    let Some(Val::List(list)) = &list.constant else { return false };
    list.iter().all(|element| {
        matches!(
            element,
            Ok(Val::Bool(_) | Val::Int(_) | Val::Uint(_) | Val::Double(_) | Val::String(_))
        )
    })
}
