//! Reads a selector: an expression in CEL that is never evaluated.

use std::ops::Range;

use cel::common::ast::{CallExpr, Expr, operators};

use super::{
    bound::{bound, kind},
    error::ShardError,
    selector::{Field, ShardSelector},
};
use crate::cel::syntax;

impl ShardSelector {
    /// Parses the parameter of a request. One that is empty is not given, which the caller knows.
    pub(crate) fn parse(text: &str) -> Result<Self, ShardError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(ShardError::Empty);
        }
        let expression = syntax(text).map_err(ShardError::Syntax)?;
        let mut found = Vec::new();
        collect(&expression.expr, &mut found)?;
        of_one_field(found)
    }
}

/// The ranges of one field.
fn of_one_field(found: Vec<(Field, Range<u128>)>) -> Result<ShardSelector, ShardError> {
    let Some((first, _)) = found.first() else { return Err(ShardError::Empty) };
    let first = *first;
    if let Some((other, _)) = found.iter().find(|(field, _)| *field != first) {
        return Err(ShardError::Fields { first, other: *other });
    }
    let ranges = found.into_iter().map(|(_, range)| range).collect();
    Ok(ShardSelector { field: first, ranges })
}

/// Adds the ranges of an expression, from left to right.
fn collect(expression: &Expr, found: &mut Vec<(Field, Range<u128>)>) -> Result<(), ShardError> {
    let Expr::Call(call) = expression else { return Err(ShardError::NoCall(kind(expression))) };
    match call.func_name.as_str() {
        operators::LOGICAL_OR => call.args.iter().try_for_each(|side| collect(&side.expr, found)),
        "shardRange" => {
            found.push(range(call)?);
            Ok(())
        }
        other => Err(ShardError::Function(other.to_owned())),
    }
}

fn range(call: &CallExpr) -> Result<(Field, Range<u128>), ShardError> {
    let [path, start, end] = call.args.as_slice() else {
        return Err(ShardError::Arguments(call.args.len()));
    };
    let path = dotted(&path.expr)?;
    let field = Field::of(&path).ok_or(ShardError::Field(path))?;
    let start = bound("hexStart", &start.expr)?;
    let end = bound("hexEnd", &end.expr)?;
    if start >= end {
        return Err(ShardError::NoRange { start, end });
    }
    Ok((field, start..end))
}

/// The path that an expression spells, such as `object.metadata.uid`.
fn dotted(expression: &Expr) -> Result<String, ShardError> {
    match expression {
        Expr::Ident(name) => Ok(name.clone()),
        Expr::Select(select) => Ok(format!("{}.{}", dotted(&select.operand.expr)?, select.field)),
        other => Err(ShardError::NoField(kind(other))),
    }
}
