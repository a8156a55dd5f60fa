//! Calls: most functions get the values of all arguments, a few decide which of them are evaluated.

use super::{
    super::{
        access::{concat, insert},
        cost, functions,
        node::{Call, Node},
        value::{Failure, Outcome, Val, no_overload},
    },
    Run,
};
use crate::cel::value::{compare, equal};

/// What the real server says when it would measure the cost of a list that is an error.
const NOT_A_LIST: &str =
    "internal error: interface conversion: *types.Err is not traits.Lister: missing method Add";

impl<'a> Run<'a> {
    pub(super) fn call(&mut self, call: &'a Call) -> Outcome<'a> {
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
