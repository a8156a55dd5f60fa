//! One entry of `x-kubernetes-validations`, as it is written and compiled.

use std::sync::Arc;

use serde_json::Value;

use super::{
    check::{self, Constructs, check},
    estimate::most,
    eval::evaluate,
    functions::parse_pattern,
    issue::{self, Issue},
    limits,
    node::{Kind, Node, lower},
    parse::parse,
    scalar::time,
    ty::{Declared, Type},
    value::{Outcome, Val},
};

/// The variable of the value that a rule is about.
pub(super) const SELF: &str = "self";
/// The variable of the value before an update.
pub(super) const OLD_SELF: &str = "oldSelf";

/// A rule as it is written.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) source: String,
    pub(super) message: String,
    pub(super) message_expression: String,
    pub(super) reason: Option<String>,
    pub(super) field_path: String,
    pub(super) optional_old_self: Option<bool>,
}

impl Rule {
    pub(super) fn of(value: &Value) -> Self {
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        Self {
            source: text("rule"),
            message: text("message"),
            message_expression: text("messageExpression"),
            reason: value["reason"].as_str().map(str::to_owned),
            field_path: text("fieldPath"),
            optional_old_self: value["optionalOldSelf"].as_bool(),
        }
    }

    /// What a message calls the rule.
    pub(super) fn title(&self) -> &str {
        if self.message.is_empty() { self.source.trim() } else { self.message.trim() }
    }

    /// The detail of an error if no expression gives one.
    pub(super) fn detail(&self) -> String {
        if self.message.is_empty() {
            return format!("failed rule: {}", self.title());
        }
        self.title().to_owned()
    }

    /// Compiles the rule.
    pub(super) fn compile(&self, declared: &Arc<Declared>) -> Result<Expression, String> {
        let expression = self.expression(&self.source, declared, "compilation failed")?;
        if expression.node.ty != Type::Bool {
            return Err("cel expression must evaluate to a bool".to_owned());
        }
        expression.instantiated("program")
    }

    /// Compiles the expression of the message, if there is one.
    pub(super) fn compile_message(
        &self,
        declared: &Arc<Declared>,
    ) -> Option<Result<Expression, String>> {
        if self.message_expression.is_empty() {
            return None;
        }
        let failed = "messageExpression compilation failed";
        let compiled = self.expression(&self.message_expression, declared, failed);
        Some(compiled.and_then(|expression| {
            if expression.node.ty != Type::String {
                return Err("messageExpression must evaluate to a string".to_owned());
            }
            expression.instantiated("messageExpression")
        }))
    }

    fn expression(
        &self,
        source: &str,
        declared: &Arc<Declared>,
        failed: &str,
    ) -> Result<Expression, String> {
        let old = match self.optional_old_self {
            Some(true) => Type::optional(declared.ty()),
            _ => declared.ty(),
        };
        let variables = vec![(SELF.to_owned(), declared.ty()), (OLD_SELF.to_owned(), old)];
        compile(source, variables, Constructs::Nothing)
            .map_err(|issues| format!("{failed}: {}", issue::print(source, issues)))
    }
}

/// A compiled expression.
#[derive(Debug)]
pub(super) struct Expression {
    pub(super) node: Node,
    /// How deep it is at most.
    pub(super) depth: usize,
    pub(super) uses_old_self: bool,
}

impl Expression {
    /// The most that it may cost.
    pub(super) fn most(&self, declared: &Arc<Declared>) -> u64 {
        limits::with_stack_for(self.depth, || most(&self.node, declared))
    }

    /// The value with these variables, and the cost.
    pub(super) fn evaluate_with<'a>(
        &'a self,
        variables: &[(&'static str, Val<'a>)],
    ) -> (Outcome<'a>, u64) {
        self.evaluate(variables.iter().map(|(name, value)| (*name, Ok(value.clone()))).collect())
    }

    /// The same where a variable may be an error.
    pub(super) fn evaluate<'a>(&'a self, scope: Vec<(&'a str, Outcome<'a>)>) -> (Outcome<'a>, u64) {
        limits::with_stack_for(self.depth, || evaluate(&self.node, scope))
    }

    /// The expression, if the conversions of its constants work.
    pub(super) fn instantiated(self, what: &str) -> Result<Self, String> {
        match failing_constant(&self.node) {
            Some(reason) => Err(format!("{what} instantiation failed: {reason}")),
            None => Ok(self),
        }
    }
}

/// Compiles an expression in which these variables exist.
pub(super) fn compile(
    source: &str,
    variables: Vec<(String, Type)>,
    constructs: Constructs,
) -> Result<Expression, Vec<Issue>> {
    let depth = limits::depth(source).map_err(|why| vec![Issue::of_all(why)])?;
    limits::with_stack(|| compiled(source, depth, variables, constructs))
}

fn compiled(
    source: &str,
    depth: usize,
    variables: Vec<(String, Type)>,
    constructs: Constructs,
) -> Result<Expression, Vec<Issue>> {
    let (parsed, places) = parse(source)?;
    let checked = check(&parsed, &places, variables, constructs)?;
    let uses_old_self = checked.variables.iter().any(|name| name == OLD_SELF);
    let node = lower(&parsed, &checked);
    let mut issues = Vec::new();
    wrong_literals(&node, &mut |id, message| issues.push(check::issue(&places, id, message)));
    if issues.is_empty() { Ok(Expression { node, depth, uses_old_self }) } else { Err(issues) }
}

/// Why a conversion of a constant fails, if one does.
fn failing_constant(node: &Node) -> Option<String> {
    let mut reason = None;
    node.for_each_part(&mut |part| {
        if reason.is_none() {
            reason = failing_constant(part);
        }
    });
    reason.or_else(|| match &node.kind {
        Kind::Call(call) if node.constant.is_none() => call.failing_constant(),
        _ => None,
    })
}

/// Constants that a function would refuse.
fn wrong_literals(node: &Node, report: &mut impl FnMut(u64, String)) {
    if let Kind::Call(call) = &node.kind {
        let at = usize::from(call.is_member);
        let literal = call.args.get(at).filter(|arg| matches!(arg.kind, Kind::Literal));
        if let Some(Node { id, constant: Some(Val::String(text)), .. }) = literal {
            let is_wrong = match &*call.function {
                "duration" => time::parse_duration(text).is_none(),
                "timestamp" => time::parse_rfc3339(text).is_none(),
                "matches" => parse_pattern(text).is_err(),
                _ => false,
            };
            if is_wrong {
                report(*id, format!("invalid {} argument", call.function));
            }
        }
    }
    node.for_each_part(&mut |part| wrong_literals(part, report));
}
