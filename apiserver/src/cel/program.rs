//! Expressions of webhooks and policies: about a request and its objects, which have no schema here.
//!
//! A variable of a policy is evaluated before the expression that reads it; its error is the value, so that it
//! only counts where it is read.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use super::{
    authorizer::{self, Authorizer},
    check::Constructs,
    constructed_type, issue, json,
    node::{Kind, Node},
    request_types,
    rule::{Expression, compile},
    ty::{Declared, Type},
    value::{Failure, Key, List, Map, Outcome, Text, Val},
};

/// The variable that holds the variables of a policy.
const VARIABLES: &str = "variables";
/// The variable of the authorizer with the resource of the request.
const REQUEST_RESOURCE: &str = "authorizer.requestResource";
/// What is said when the expressions of a request cost too much together.
const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// What an expression may name.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    /// Whether there are parameters.
    params: bool,
    /// Whether it may ask what the user may do.
    authorizer: bool,
    /// Whether it constructs patches.
    constructs: Constructs,
    /// The variables so far; `None` where there can be none.
    variables: Option<Vec<(String, Type)>>,
}

/// What an expression must give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Anything,
    Bool,
    Text,
    TextOrNull,
    /// A list of operations.
    Patch,
    /// An object that is applied.
    Configuration,
}

/// A compiled expression, or why it is none.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) source: String,
    compiled: Result<Expression, String>,
}

/// The values of the names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts<'a> {
    pub object: &'a Value,
    pub old_object: &'a Value,
    pub request: &'a Value,
    pub namespace: &'a Value,
    pub params: &'a Value,
    pub authorizer: Option<&'a Authorizer>,
}

/// The facts as values, and the variables of a policy.
#[derive(Debug)]
pub(crate) struct Scope<'a> {
    values: Vec<(&'a str, Outcome<'a>)>,
    budget: i64,
}

/// What an expression gave.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Given {
    Bool(bool),
    Text(String),
    Null,
    Other,
}

/// Why an expression gave nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EvalError {
    /// This one failed.
    Failed(String),
    /// All of them together cost too much; nothing more is evaluated.
    OutOfBudget(String),
}

impl Names {
    /// The names of every expression, and those of parameters if there are some.
    pub(crate) fn new(params: bool) -> Self {
        let constructs = Constructs::Nothing;
        Self { params, authorizer: true, constructs, variables: None }
    }

    /// The same without the authorizer.
    pub(crate) fn without_authorizer(self) -> Self {
        Self { authorizer: false, ..self }
    }

    /// The same with the types of patches.
    pub(crate) fn with_patches(self) -> Self {
        Self { constructs: Constructs::Patches, ..self }
    }

    /// The same with variables.
    pub(crate) fn with_variables(self) -> Self {
        Self { variables: Some(Vec::new()), ..self }
    }

    /// Adds a variable with the type of its expression.
    pub(crate) fn add(&mut self, name: &str, program: &Program) {
        let ty = program.compiled.as_ref().map_or(Type::Dyn, |it| kept(&it.node.ty));
        self.variables.get_or_insert_default().push((name.to_owned(), ty));
    }

    fn types(&self) -> Vec<(String, Type)> {
        let mut types = vec![
            ("object".to_owned(), Type::Dyn),
            ("oldObject".to_owned(), Type::Dyn),
            ("namespaceObject".to_owned(), request_types::namespace().ty()),
            ("request".to_owned(), request_types::request().ty()),
        ];
        if self.params {
            types.push(("params".to_owned(), Type::Dyn));
        }
        if self.authorizer {
            types.push(("authorizer".to_owned(), authorizer::ty()));
            types.push((REQUEST_RESOURCE.to_owned(), authorizer::resource_ty()));
        }
        if let Some(variables) = &self.variables {
            let field = |(name, ty): &(String, Type)| (name.clone(), Declared::of_type(ty.clone()));
            let fields = variables.iter().map(field).collect();
            let declared = Declared::named("kubernetes.variables", fields);
            types.push((VARIABLES.to_owned(), declared.ty()));
        }
        types
    }
}

/// The types that variables keep; others become dynamic.
fn kept(ty: &Type) -> Type {
    match ty {
        Type::List(element) => Type::list(kept(element)),
        Type::Map(both) => Type::map(kept(&both.0), kept(&both.1)),
        Type::Null
        | Type::Bool
        | Type::Int
        | Type::Uint
        | Type::Double
        | Type::String
        | Type::Bytes
        | Type::Duration
        | Type::Timestamp => ty.clone(),
        _ => Type::Dyn,
    }
}

impl Wanted {
    fn refusal(self, ty: &Type) -> Option<String> {
        let (fits, wanted) = match self {
            Self::Anything => return None,
            Self::Bool => (*ty == Type::Bool, "bool"),
            Self::Text => (*ty == Type::String, "string"),
            Self::Patch => (*ty == constructed_type::patch_type(), "list(JSONPatch)"),
            Self::Configuration => (*ty == constructed_type::object_type(), "Object"),
            Self::TextOrNull => {
                (matches!(ty, Type::String | Type::Null), "one of [string null_type]")
            }
        };
        let shown = match ty {
            Type::Null => "null_type".to_owned(),
            other => other.to_string(),
        };
        (!fits).then(|| format!("must evaluate to {wanted} but got {shown}"))
    }
}

impl Program {
    /// Compiles an expression.
    pub(crate) fn new(source: &str, names: &Names, wanted: Wanted) -> Self {
        let compiled = compile(source, names.types(), names.constructs)
            .map_err(|issues| format!("compilation failed: {}", issue::print(source, issues)))
            .and_then(|expression| match wanted.refusal(&expression.node.ty) {
                Some(refusal) => Err(refusal),
                None => expression.instantiated("program"),
            })
            .map(|mut expression| {
                qualify(&mut expression.node);
                expression
            });
        Self { source: source.to_owned(), compiled }
    }

    /// Why it does not compile.
    pub(crate) fn error(&self) -> Option<&str> {
        self.compiled.as_ref().err().map(String::as_str)
    }
}

/// Makes one variable of a qualified name.
fn qualify(node: &mut Node) {
    if let Kind::Select { operand, field, test: false } = &node.kind
        && let Kind::Variable(name) = &operand.kind
        && (&**name == VARIABLES || (&**name, &**field) == ("authorizer", "requestResource"))
    {
        node.kind = Kind::Variable(format!("{name}.{field}").into());
    }
    node.for_each_part_mut(&mut qualify);
}

impl<'a> Scope<'a> {
    /// The scope of some facts, with what all expressions in it may cost.
    pub(crate) fn new(facts: Facts<'a>, budget: i64) -> Self {
        let Facts { object, old_object, request, namespace, params, authorizer } = facts;
        let mut values: Vec<(&str, Outcome<'_>)> = [
            ("object", object),
            ("oldObject", old_object),
            ("request", request),
            ("namespaceObject", namespace),
            ("params", params),
        ]
        .into_iter()
        .map(|(name, value)| (name, Ok(untyped(value))))
        .collect();
        if let Some(authorizer) = authorizer {
            values.push(("authorizer", Ok(Val::Authorizer(Arc::new(authorizer.begun())))));
            values.push((
                REQUEST_RESOURCE,
                Ok(Val::Authorizer(Arc::new(authorizer.about_request()))),
            ));
        }
        Self { values, budget }
    }

    /// Evaluates a variable; `name` has the prefix of [`variable_name`].
    pub(crate) fn add(&mut self, name: &'a str, program: &'a Program) {
        let short = name.strip_prefix("variables.").unwrap_or(name);
        let failed = |why: String| Err(Failure::Error(why));
        let value = match &program.compiled {
            Err(why) => failed(format!("composited variable \"{short}\" fails to compile: {why}")),
            Ok(expression) => {
                let (outcome, cost) = expression.evaluate(self.values.clone());
                self.budget = self.budget.saturating_sub(i64::try_from(cost).unwrap_or(i64::MAX));
                outcome.or_else(|failure| {
                    failed(format!(
                        "composited variable \"{short}\" fails to evaluate: {}",
                        wording(&failure)
                    ))
                })
            }
        };
        self.values.push((name, value));
    }

    /// Evaluates an expression.
    pub(crate) fn run(&mut self, program: &'a Program) -> Result<Given, EvalError> {
        self.value(program).map(|value| match value {
            Val::Bool(value) => Given::Bool(value),
            Val::String(text) => Given::Text(text.to_string()),
            Val::Null => Given::Null,
            _ => Given::Other,
        })
    }

    /// The operations that an expression gives.
    pub(crate) fn operations(&mut self, program: &'a Program) -> Result<Vec<Value>, EvalError> {
        json::operations(&self.value(program)?).map_err(EvalError::Failed)
    }

    /// The object that an expression gives.
    pub(crate) fn configuration(&mut self, program: &'a Program) -> Result<Value, EvalError> {
        json::configuration(&self.value(program)?).map_err(EvalError::Failed)
    }

    fn value(&mut self, program: &'a Program) -> Result<Val<'a>, EvalError> {
        let expression = program
            .compiled
            .as_ref()
            .map_err(|why| EvalError::Failed(format!("compilation error: {why}")))?;
        let (outcome, cost) = expression.evaluate(self.values.clone());
        self.budget = self.budget.saturating_sub(i64::try_from(cost).unwrap_or(i64::MAX));
        if self.budget < 0 {
            return Err(EvalError::OutOfBudget(OUT_OF_BUDGET.to_owned()));
        }
        outcome.map_err(|failure| {
            let why = wording(&failure);
            EvalError::Failed(format!("expression '{}' resulted in error: {why}", program.source))
        })
    }
}

/// The name of a variable in a scope.
pub(crate) fn variable_name(name: &str) -> String {
    format!("{VARIABLES}.{name}")
}

fn wording(failure: &Failure) -> String {
    match failure {
        Failure::Error(why) => why.clone(),
        Failure::TooExpensive => "operation cancelled: actual cost limit exceeded".to_owned(),
        Failure::Crashed(why) => (*why).to_owned(),
    }
}

/// The value of a document without a schema.
fn untyped(value: &Value) -> Val<'_> {
    match value {
        Value::Null => Val::Null,
        Value::Bool(value) => Val::Bool(*value),
        Value::Number(number) => match number.as_i64() {
            Some(number) => Val::Int(number),
            None => Val::Double(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Val::String(Text::Borrowed(text)),
        Value::Array(items) => Val::List(List::own(items.iter().map(untyped).collect())),
        Value::Object(fields) => {
            let entry = |(key, value)| (Key::String(Text::Borrowed(key)), untyped(value));
            let entries: BTreeMap<_, _> =
                fields.iter().map(|(key, value)| entry((key.as_str(), value))).collect();
            Val::Map(Map::own(entries))
        }
    }
}

impl EvalError {
    /// What happened.
    pub(crate) fn message(&self) -> &str {
        match self {
            Self::Failed(why) | Self::OutOfBudget(why) => why,
        }
    }
}

#[cfg(test)]
mod tests;
