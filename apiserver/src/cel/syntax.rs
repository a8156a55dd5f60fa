//! The syntax of CEL alone, for expressions that are read and never evaluated.

use std::sync::LazyLock;

use cel::{Env, IdedExpr};

use super::{
    issue::Issue,
    limits,
    parse::{self, DEPTH},
};

const SYNTAX: &str = "Syntax error: ";
const NO_TOKEN: &str = "Syntax error: token recognition error";

/// Without macros: each call stays the call that it is written as.
static ENVIRONMENT: LazyLock<Env> = LazyLock::new(|| Env::default().with_optional_support(false));

/// The parsed expression, or the first thing that the real parser says about it.
pub(crate) fn syntax(source: &str) -> Result<IdedExpr, String> {
    limits::depth(source)?;
    // What is wrong in a flat one may take as much stack as a deep one.
    let expression = limits::with_stack(|| parsed(source))?;
    limits::check(&expression)?;
    Ok(expression)
}

fn parsed(source: &str) -> Result<IdedExpr, String> {
    let parser = ENVIRONMENT.parser().enable_ident_escape_syntax(true).max_recursion_depth(DEPTH);
    parser.parse(source).map_err(|errors| first(source, &parse::issues(&errors)))
}

/// What the real parser says first of the issues, which are in the order of their places.
fn first(source: &str, issues: &[Issue]) -> String {
    // The tree is visited when it is complete.
    let is_of_syntax = |issue: &&Issue| issue.message.starts_with(SYNTAX);
    let issue = issues.iter().find(is_of_syntax).or(issues.first());
    let Some(issue) = issue else { return "no expression".to_owned() };
    // One token is read ahead.
    let ahead = issues.iter().find(|it| it.message.starts_with(NO_TOKEN));
    match ahead.filter(|ahead| follows(source, issue, ahead)) {
        Some(ahead) => ahead.message.clone(),
        None => message(source, issue),
    }
}

/// Whether nothing is between the input that an issue is about and the place of another issue.
fn follows(source: &str, issue: &Issue, other: &Issue) -> bool {
    let Some((_, rest)) = issue.message.split_once(" input '") else { return false };
    let Some((input, _)) = rest.split_once("' expecting ") else { return false };
    let (start, end) = (until(source, issue), until(source, other));
    let between = end.strip_prefix(&start).and_then(|rest| rest.strip_prefix(input));
    between.is_some_and(|between| between.trim().is_empty())
}

/// Behind a complete operand the real parser expects only what ends the part that it is in.
fn message(source: &str, issue: &Issue) -> String {
    let message = &issue.message;
    let (input, expected) = message.split_once(" expecting {").unwrap_or_default();
    if !input.contains(" mismatched input ") || !expected.contains("'=='") {
        return message.clone();
    }
    format!("{input} expecting {}", limits::end_of_part(&until(source, issue)))
}

/// The source before the place of an issue.
fn until(source: &str, issue: &Issue) -> String {
    let mut lines = source.split_inclusive('\n');
    let before: String = lines.by_ref().take(issue.line.saturating_sub(1)).collect();
    before + &lines.next().unwrap_or_default().chars().take(issue.column).collect::<String>()
}
