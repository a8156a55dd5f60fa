//! Parses expressions, with the macros that rules may use.

use std::sync::LazyLock;

use cel::{
    Env, IdedExpr,
    common::ast::{
        CallExpr, ComprehensionExpr, Expr, ListExpr, LiteralValue, MapExpr, SourceInfo, operators,
    },
    parser::{Macro, MacroExprHelper, ParseError, ParseErrors},
};

use super::{issue::Issue, limits};

type Expansion = Result<Option<IdedExpr>, ParseError>;
type Expander =
    fn(&mut MacroExprHelper<'_>, IdedExpr, Vec<IdedExpr>) -> Result<IdedExpr, ParseError>;

/// The accumulator of macros.
pub(super) const ACCUMULATOR: &str = "@result";
/// How deep the real parser goes.
pub(super) const DEPTH: u16 = 250;

static ENVIRONMENT: LazyLock<Env> = LazyLock::new(|| {
    let mut env = Env::stdlib().with_optional_support(true);
    let macros: [(&str, usize, Expander); 13] = [
        ("all", 3, all),
        ("exists", 3, exists),
        ("existsOne", 3, exists_one),
        ("exists_one", 3, exists_one),
        ("transformList", 3, transform_list),
        ("transformList", 4, transform_list),
        ("transformMap", 3, transform_map),
        ("transformMap", 4, transform_map),
        ("transformMapEntry", 3, transform_map_entry),
        ("transformMapEntry", 4, transform_map_entry),
        ("optMap", 2, opt_map),
        ("optFlatMap", 2, opt_flat_map),
        ("sortBy", 2, sort_by),
    ];
    for (name, arguments, expander) in macros {
        // A macro that the crate brings itself is as good.
        let _ = env.add_macro(Macro::receiver(name, arguments, expanding(expander)));
    }
    env
});

/// The parsed expression, with the places of its parts.
pub(super) fn parse(source: &str) -> Result<(IdedExpr, SourceInfo), Vec<Issue>> {
    let parsed = parsed(source)?;
    limits::check(&parsed.0).map_err(|why| vec![Issue::of_all(why)])?;
    Ok(parsed)
}

fn parsed(source: &str) -> Result<(IdedExpr, SourceInfo), Vec<Issue>> {
    let parser = ENVIRONMENT.parser().enable_optional_syntax(true).max_recursion_depth(DEPTH);
    parser.parse_with_source_info(source).map_err(|errors| issues(&errors))
}

/// What the real parser says, in the order of the places.
pub(super) fn issues(errors: &ParseErrors) -> Vec<Issue> {
    let issue = |error: &ParseError| {
        let [line, column] = [error.pos.0, error.pos.1].map(|at| usize::try_from(at).unwrap_or(0));
        Issue { line, column: column.saturating_sub(1), message: message(&error.msg) }
    };
    // What a part is missing says the error before it.
    let is_own = |error: &&ParseError| !error.msg.starts_with("Incomplete `");
    let own: Vec<_> = errors.errors.iter().filter(is_own).map(issue).collect();
    if own.is_empty() { errors.errors.iter().map(issue).collect() } else { own }
}

/// What the real parser says, which expects less of a condition inside of a condition.
fn message(text: &str) -> String {
    const UNEXPECTED: &str = "Syntax error: mismatched input '?' expecting ";
    if text.starts_with(UNEXPECTED) && text.contains("':'") {
        return format!("{UNEXPECTED}':'");
    }
    text.to_owned()
}

fn expanding(
    expander: Expander,
) -> impl Fn(&mut MacroExprHelper<'_>, &mut Option<IdedExpr>, &mut Vec<IdedExpr>) -> Expansion {
    move |helper, target, arguments| match target.take() {
        Some(target) => expander(helper, target, std::mem::take(arguments)).map(Some),
        None => Ok(None),
    }
}

fn all(
    h: &mut MacroExprHelper<'_>,
    target: IdedExpr,
    args: Vec<IdedExpr>,
) -> Result<IdedExpr, ParseError> {
    let (vars, rest) = variables(h, args)?;
    let init = boolean(h, true);
    let accu = accumulator(h);
    let condition = call(h, operators::NOT_STRICTLY_FALSE, vec![accu]);
    let accu = accumulator(h);
    let step = call(h, operators::LOGICAL_AND, [vec![accu], rest].concat());
    let result = accumulator(h);
    Ok(fold(h, target, vars, init, condition, step, result))
}

fn exists(
    h: &mut MacroExprHelper<'_>,
    target: IdedExpr,
    args: Vec<IdedExpr>,
) -> Result<IdedExpr, ParseError> {
    let (vars, rest) = variables(h, args)?;
    let init = boolean(h, false);
    let accu = accumulator(h);
    let not = call(h, operators::LOGICAL_NOT, vec![accu]);
    let condition = call(h, operators::NOT_STRICTLY_FALSE, vec![not]);
    let accu = accumulator(h);
    let step = call(h, operators::LOGICAL_OR, [vec![accu], rest].concat());
    let result = accumulator(h);
    Ok(fold(h, target, vars, init, condition, step, result))
}

fn exists_one(
    h: &mut MacroExprHelper<'_>,
    target: IdedExpr,
    args: Vec<IdedExpr>,
) -> Result<IdedExpr, ParseError> {
    let (vars, rest) = variables(h, args)?;
    let init = integer(h, 0);
    let condition = boolean(h, true);
    let (accu, one) = (accumulator(h), integer(h, 1));
    let more = call(h, operators::ADD, vec![accu, one]);
    let accu = accumulator(h);
    let step = call(h, operators::CONDITIONAL, [rest, vec![more, accu]].concat());
    let (accu, one) = (accumulator(h), integer(h, 1));
    let result = call(h, operators::EQUALS, vec![accu, one]);
    Ok(fold(h, target, vars, init, condition, step, result))
}

fn transform_list(
    h: &mut MacroExprHelper<'_>,
    target: IdedExpr,
    args: Vec<IdedExpr>,
) -> Result<IdedExpr, ParseError> {
    let (vars, mut rest) = variables(h, args)?;
    let element = rest.pop().into_iter().collect();
    let init = h.next_expr(Expr::List(ListExpr::default()));
    let accu = accumulator(h);
    let element = h.next_expr(Expr::List(ListExpr::new(element)));
    let step = call(h, operators::ADD, vec![accu, element]);
    Ok(transform(h, target, vars, rest, init, step))
}

fn transform_map(
    h: &mut MacroExprHelper<'_>,
    target: IdedExpr,
    args: Vec<IdedExpr>,
) -> Result<IdedExpr, ParseError> {
    let (vars, mut rest) = variables(h, args)?;
    let value = rest.pop();
    let accu = accumulator(h);
    let key = h.next_expr(Expr::Ident(vars.0.clone()));
    let step = call(h, "cel.@mapInsert", [accu, key].into_iter().chain(value).collect());
    let init = h.next_expr(Expr::Map(MapExpr::default()));
    Ok(transform(h, target, vars, rest, init, step))
}

fn transform_map_entry(
    h: &mut MacroExprHelper<'_>,
    target: IdedExpr,
    args: Vec<IdedExpr>,
) -> Result<IdedExpr, ParseError> {
    let (vars, mut rest) = variables(h, args)?;
    let entry = rest.pop();
    let accu = accumulator(h);
    let step = call(h, "cel.@mapInsert", std::iter::once(accu).chain(entry).collect());
    let init = h.next_expr(Expr::Map(MapExpr::default()));
    Ok(transform(h, target, vars, rest, init, step))
}

fn transform(
    h: &mut MacroExprHelper<'_>,
    target: IdedExpr,
    vars: (String, String),
    filter: Vec<IdedExpr>,
    init: IdedExpr,
    step: IdedExpr,
) -> IdedExpr {
    let condition = boolean(h, true);
    let step = if filter.is_empty() {
        step
    } else {
        let accu = accumulator(h);
        call(h, operators::CONDITIONAL, [filter, vec![step, accu]].concat())
    };
    let result = accumulator(h);
    fold(h, target, vars, init, condition, step, result)
}

fn opt_map(
    h: &mut MacroExprHelper<'_>,
    target: IdedExpr,
    args: Vec<IdedExpr>,
) -> Result<IdedExpr, ParseError> {
    let (has, bound) = unwrap_and_bind(h, target, args, "optMap")?;
    let of = member(h, "optional", "of", vec![bound]);
    let none = member(h, "optional", "none", Vec::new());
    Ok(call(h, operators::CONDITIONAL, vec![has, of, none]))
}

fn opt_flat_map(
    h: &mut MacroExprHelper<'_>,
    target: IdedExpr,
    args: Vec<IdedExpr>,
) -> Result<IdedExpr, ParseError> {
    let (has, bound) = unwrap_and_bind(h, target, args, "optFlatMap")?;
    let none = member(h, "optional", "none", Vec::new());
    Ok(call(h, operators::CONDITIONAL, vec![has, bound, none]))
}

fn unwrap_and_bind(
    h: &mut MacroExprHelper<'_>,
    target: IdedExpr,
    mut args: Vec<IdedExpr>,
    name: &str,
) -> Result<(IdedExpr, IdedExpr), ParseError> {
    let body = args.pop().unwrap_or_default();
    let variable = args.pop().unwrap_or_default();
    let Expr::Ident(identifier) = variable.expr else {
        let message = format!("{name}() variable name must be a simple identifier");
        return Err(h.new_error(variable.id, message));
    };
    let copy = copied(h, &target);
    let has = on(h, target, "hasValue", Vec::new());
    let value = on(h, copy, "value", Vec::new());
    Ok((has, bind(h, identifier, value, body)))
}

fn sort_by(
    h: &mut MacroExprHelper<'_>,
    target: IdedExpr,
    args: Vec<IdedExpr>,
) -> Result<IdedExpr, ParseError> {
    const INPUT: &str = "@__sortBy_input__";
    let [variable, key] = <[IdedExpr; 2]>::try_from(args).unwrap_or_default();
    let Expr::Ident(identifier) = variable.expr else {
        return Err(h.new_error(variable.id, "argument is not an identifier"));
    };
    let init = h.next_expr(Expr::List(ListExpr::default()));
    let condition = boolean(h, true);
    let accu = accumulator(h);
    let element = h.next_expr(Expr::List(ListExpr::new(vec![key])));
    let step = call(h, operators::ADD, vec![accu, element]);
    let result = accumulator(h);
    let range = h.next_expr(Expr::Ident(INPUT.to_owned()));
    let keys = fold(h, range, (identifier, String::new()), init, condition, step, result);
    let input = h.next_expr(Expr::Ident(INPUT.to_owned()));
    let sorted = on(h, input, "@sortByAssociatedKeys", vec![keys]);
    Ok(bind(h, INPUT.to_owned(), target, sorted))
}

/// The names of the two variables, and the other arguments.
fn variables(
    h: &mut MacroExprHelper<'_>,
    args: Vec<IdedExpr>,
) -> Result<((String, String), Vec<IdedExpr>), ParseError> {
    let mut args = args.into_iter();
    let mut name = || match args.next().unwrap_or_default() {
        IdedExpr { expr: Expr::Ident(name), .. } => Ok(name),
        other => Err(h.new_error(other.id, "argument must be a simple name")),
    };
    let names = (name()?, name()?);
    Ok((names, args.collect()))
}

fn bind(h: &mut MacroExprHelper<'_>, name: String, value: IdedExpr, body: IdedExpr) -> IdedExpr {
    let range = h.next_expr(Expr::List(ListExpr::default()));
    let condition = boolean(h, false);
    let step = h.next_expr(Expr::Ident(name.clone()));
    h.next_expr(Expr::Comprehension(Box::new(ComprehensionExpr {
        iter_range: range,
        iter_var: "#unused".to_owned(),
        iter_var2: None,
        accu_var: name,
        accu_init: value,
        loop_cond: condition,
        loop_step: step,
        result: body,
    })))
}

fn fold(
    h: &mut MacroExprHelper<'_>,
    range: IdedExpr,
    (first, second): (String, String),
    init: IdedExpr,
    condition: IdedExpr,
    step: IdedExpr,
    result: IdedExpr,
) -> IdedExpr {
    h.next_expr(Expr::Comprehension(Box::new(ComprehensionExpr {
        iter_range: range,
        iter_var: first,
        iter_var2: (!second.is_empty()).then_some(second),
        accu_var: ACCUMULATOR.to_owned(),
        accu_init: init,
        loop_cond: condition,
        loop_step: step,
        result,
    })))
}

fn call(h: &mut MacroExprHelper<'_>, name: &str, args: Vec<IdedExpr>) -> IdedExpr {
    h.next_expr(Expr::Call(CallExpr { func_name: name.to_owned(), target: None, args }))
}

fn on(h: &mut MacroExprHelper<'_>, target: IdedExpr, name: &str, args: Vec<IdedExpr>) -> IdedExpr {
    let target = Some(Box::new(target));
    h.next_expr(Expr::Call(CallExpr { func_name: name.to_owned(), target, args }))
}

fn member(h: &mut MacroExprHelper<'_>, of: &str, name: &str, args: Vec<IdedExpr>) -> IdedExpr {
    let of = h.next_expr(Expr::Ident(of.to_owned()));
    on(h, of, name, args)
}

fn accumulator(h: &mut MacroExprHelper<'_>) -> IdedExpr {
    h.next_expr(Expr::Ident(ACCUMULATOR.to_owned()))
}

fn boolean(h: &mut MacroExprHelper<'_>, value: bool) -> IdedExpr {
    h.next_expr(Expr::Literal(LiteralValue::Boolean(value.into())))
}

fn integer(h: &mut MacroExprHelper<'_>, value: i64) -> IdedExpr {
    h.next_expr(Expr::Literal(LiteralValue::Int(value.into())))
}

/// A copy whose parts have identities of their own.
fn copied(h: &mut MacroExprHelper<'_>, expr: &IdedExpr) -> IdedExpr {
    // The types of both copies are the same, and a part is only looked up by its identity.
    let _ = h;
    expr.clone()
}
