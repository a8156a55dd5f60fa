//! Finds the type of every part of an expression, and the functions that it calls.

mod built;
mod calls;

use std::{collections::HashMap, sync::Arc};

use cel::{
    IdedExpr,
    common::ast::{ComprehensionExpr, Expr, LiteralValue, SourceInfo},
};

use super::{
    issue::Issue, mixed::mixed_literals, overloads::named_type, ty::Type, unify::Bindings,
};
use crate::cel::constructed_type;

/// What is known of the parts of an expression, by their identities.
#[derive(Debug, Default)]
pub(super) struct Checked {
    types: HashMap<u64, Type>,
    bindings: Bindings,
    /// The overloads that a call may mean.
    pub(super) overloads: HashMap<u64, Vec<Arc<str>>>,
    /// The whole names of functions such as `optional.of`.
    pub(super) qualified: HashMap<u64, String>,
    /// The types that names stand for.
    pub(super) type_names: HashMap<u64, Type>,
    /// The names of the variables.
    pub(super) variables: Vec<String>,
}

/// Whether objects can be constructed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Constructs {
    Nothing,
    Patches,
}

impl Checked {
    /// The type of a part; what stays open is dynamic.
    pub(super) fn type_of(&self, id: u64) -> Type {
        self.types.get(&id).map_or(Type::Dyn, |ty| self.bindings.resolve(ty, true))
    }
}

/// Checks an expression in which these variables exist.
pub(super) fn check(
    expr: &IdedExpr,
    places: &SourceInfo,
    variables: Vec<(String, Type)>,
    constructs: Constructs,
) -> Result<Checked, Vec<Issue>> {
    let globals = variables.len();
    let mut checker = Checker {
        places,
        constructs,
        scope: variables,
        globals,
        found: Checked::default(),
        issues: Vec::new(),
    };
    checker.visit(expr);
    if checker.issues.is_empty() {
        for (id, before, ty) in mixed_literals(expr, &|id| checker.found.type_of(id)) {
            checker.mismatch(id, &before, &ty);
        }
    }
    if checker.issues.is_empty() { Ok(checker.found) } else { Err(checker.issues) }
}

struct Checker<'s> {
    places: &'s SourceInfo,
    constructs: Constructs,
    scope: Vec<(String, Type)>,
    globals: usize,
    found: Checked,
    issues: Vec<Issue>,
}

impl Checker<'_> {
    fn visit(&mut self, expr: &IdedExpr) -> Type {
        let ty = match &expr.expr {
            Expr::Literal(literal) => literal_type(literal),
            Expr::Ident(name) => self.ident(expr.id, name),
            Expr::Select(select) => self.select(expr, &select.operand, &select.field, select.test),
            Expr::Call(call) => self.call(expr.id, call),
            Expr::List(list) => self.list(list),
            Expr::Map(map) => self.map(map),
            Expr::Comprehension(fold) => self.fold(fold),
            Expr::Struct(object) => self.construct(expr.id, object),
            Expr::Unspecified => Type::Error,
        };
        self.found.types.insert(expr.id, ty.clone());
        ty
    }

    fn ident(&mut self, id: u64, name: &str) -> Type {
        let position = self.scope.iter().rposition(|(known, _)| known == name);
        if let Some(at) = position {
            if at < self.globals {
                self.found.variables.push(name.to_owned());
            }
            return self.scope[at].1.clone();
        }
        self.type_name(id, name).unwrap_or_else(|| self.undeclared(id, name))
    }

    fn type_name(&mut self, id: u64, name: &str) -> Option<Type> {
        let is_constructed = self.constructs_type(name);
        let ty = named_type(name).or_else(|| is_constructed.then(|| Type::Named(name.into())))?;
        self.found.type_names.insert(id, ty.clone());
        Some(Type::Type(Some(Arc::new(ty))))
    }

    fn select(&mut self, expr: &IdedExpr, operand: &IdedExpr, field: &str, test: bool) -> Type {
        if let Some(ty) = qualified_name(expr).and_then(|name| self.type_name(expr.id, &name)) {
            return ty;
        }
        let whole = qualified_name(expr).filter(|_| !test);
        if let Some(name) = whole.filter(|name| self.scope.iter().any(|(known, _)| known == name)) {
            // Both names are known to the lowered expression.
            self.visit(operand);
            return self.ident(expr.id, &name);
        }
        let ty = self.select_field(expr.id, operand, field, false);
        if test { Type::Bool } else { ty }
    }

    fn select_field(&mut self, id: u64, operand: &IdedExpr, field: &str, optional: bool) -> Type {
        let operand = self.visit(operand);
        let (target, is_optional) = self.resolve(&operand).unwrapped();
        let ty = match &target {
            Type::Map(both) => both.1.clone(),
            Type::Object(object) => match object.field(field) {
                Some(field) => field.ty(),
                None => self.report(id, format!("undefined field '{field}'")),
            },
            Type::Named(name) if constructed_type::is_type(name) => {
                constructed_type::field_type(name, field).unwrap_or(Type::Dyn)
            }
            Type::Parameter(_) => {
                self.found.bindings.assign(&Type::Dyn, &target);
                Type::Dyn
            }
            other => {
                if !other.is_dyn_or_error() {
                    self.report(id, format!("type '{other}' does not support field selection"));
                }
                Type::Dyn
            }
        };
        if is_optional || optional { Type::optional(ty) } else { ty }
    }

    fn fold(&mut self, fold: &ComprehensionExpr) -> Type {
        let range = self.visit(&fold.iter_range);
        let accumulator = self.visit(&fold.accu_init);
        let range = self.resolve(&range);
        let (first, second) = match &range {
            Type::List(element) => (Type::clone(element), None),
            Type::Map(both) => (both.0.clone(), Some(both.1.clone())),
            Type::Dyn | Type::Error | Type::Parameter(_) => {
                self.found.bindings.assign(&Type::Dyn, &range);
                (Type::Dyn, Some(Type::Dyn))
            }
            other => {
                let message = format!(
                    "expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"
                );
                self.report(fold.iter_range.id, message);
                (Type::Error, Some(Type::Error))
            }
        };
        let outer = self.scope.len();
        self.scope.push((fold.accu_var.clone(), accumulator.clone()));
        match fold.iter_var2.clone().filter(|name| !name.is_empty()) {
            Some(name) => {
                let (first, second) = match second {
                    Some(second) => (first, second),
                    None => (Type::Int, first),
                };
                self.scope.push((fold.iter_var.clone(), first));
                self.scope.push((name, second));
            }
            None => self.scope.push((fold.iter_var.clone(), first)),
        }
        let condition = self.visit(&fold.loop_cond);
        self.expect(fold.loop_cond.id, &Type::Bool, &condition);
        let step = self.visit(&fold.loop_step);
        self.expect(fold.loop_step.id, &accumulator, &step);
        self.scope.truncate(outer + 1);
        let result = self.visit(&fold.result);
        self.scope.truncate(outer);
        self.resolve(&result)
    }

    fn expect(&mut self, id: u64, wanted: &Type, ty: &Type) {
        if !self.found.bindings.assign(wanted, ty) {
            self.mismatch(id, wanted, ty);
        }
    }

    fn resolve(&self, ty: &Type) -> Type {
        self.found.bindings.resolve(ty, false)
    }

    fn mismatch(&mut self, id: u64, wanted: &Type, ty: &Type) {
        self.report(id, format!("expected type '{wanted}' but found '{ty}'"));
    }

    fn undeclared(&mut self, id: u64, name: &str) -> Type {
        self.report(id, format!("undeclared reference to '{name}' (in container '')"))
    }

    fn no_overload(&mut self, id: u64, name: &str, args: &[Type], is_member: bool) -> Type {
        let mut args = args
            .iter()
            .map(|ty| self.found.bindings.resolve(ty, true).to_string())
            .collect::<Vec<_>>();
        let target = if is_member { format!("{}.", args.remove(0)) } else { String::new() };
        let signature = format!("{target}({})", args.join(", "));
        self.report(id, format!("found no matching overload for '{name}' applied to '{signature}'"))
    }

    fn report(&mut self, id: u64, message: String) -> Type {
        self.issues.push(issue(self.places, id, message));
        Type::Error
    }
}

/// An issue at the place of a part.
pub(super) fn issue(places: &SourceInfo, id: u64, message: String) -> Issue {
    let start = places.offset_for(id).map_or(0, |(start, _)| start as usize);
    issue_at(places, start, message)
}

fn issue_at(places: &SourceInfo, start: usize, message: String) -> Issue {
    let before = places.source.get(..start).unwrap_or_default().chars();
    let (mut line, mut column) = (1, 0);
    for character in before {
        column += 1;
        if character == '\n' {
            line += 1;
            column = 0;
        }
    }
    Issue { line, column, message }
}

fn qualified_name(expr: &IdedExpr) -> Option<String> {
    match &expr.expr {
        Expr::Ident(name) => Some(name.clone()),
        Expr::Select(select) if !select.test => {
            Some(format!("{}.{}", qualified_name(&select.operand)?, select.field))
        }
        _ => None,
    }
}

fn literal_type(literal: &LiteralValue) -> Type {
    match literal {
        LiteralValue::Boolean(_) => Type::Bool,
        LiteralValue::Bytes(_) => Type::Bytes,
        LiteralValue::Double(_) => Type::Double,
        LiteralValue::Int(_) => Type::Int,
        LiteralValue::Null => Type::Null,
        LiteralValue::String(_) => Type::String,
        LiteralValue::UInt(_) => Type::Uint,
    }
}
