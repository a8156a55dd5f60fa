//! Evaluates expressions, and counts what that costs.
//!
//! The cost of a variable, of each step into it and of each call is that of the real server, and so is the limit: a rule
//! that would run for long ends with an error instead.

mod built;
mod calls;

use std::sync::Arc;

use super::{
    access::{element, select},
    node::{Fold, Kind, Node},
    value::{Failure, Outcome, Val, error, no_overload},
};

/// The most that one expression may cost.
pub(super) const EXPRESSION_LIMIT: u64 = 1_000_000;

/// Evaluates an expression with these variables, which may be errors; returns the cost too.
pub(super) fn evaluate<'a>(
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
