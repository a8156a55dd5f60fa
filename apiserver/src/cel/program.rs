//! Expressions of webhooks and policies: about a request and its objects, which have no schema here.
//!
//! A variable of a policy is evaluated before the expression that reads it; its error is the value, so that it
//! only counts where it is read.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    authorizer::{self, Authorizer},
    declared::Declared,
    eval::evaluate_in,
    issue,
    list::List,
    map::{Key, Map},
    node::{Kind, Node},
    request_types,
    rule::{Expression, compile},
    ty::Type,
    value::{Failure, Outcome, Text, Val},
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
pub(crate) enum Trouble {
    /// This one failed.
    Failed(String),
    /// All of them together cost too much; nothing more is evaluated.
    OutOfBudget(String),
}

impl Names {
    /// The names of every expression, and those of parameters if there are some.
    pub(crate) fn new(params: bool) -> Self {
        Self { params, authorizer: true, variables: None }
    }

    /// The same without the authorizer.
    pub(crate) fn without_authorizer(self) -> Self {
        Self { authorizer: false, ..self }
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
        let compiled = compile(source, names.types())
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
            values.push(("authorizer", Ok(authorizer.value())));
            values.push((REQUEST_RESOURCE, Ok(authorizer.resource_value())));
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
                let (outcome, cost) = evaluate_in(&expression.node, self.values.clone());
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
    pub(crate) fn run(&mut self, program: &'a Program) -> Result<Given, Trouble> {
        self.value(program).map(|value| match value {
            Val::Bool(value) => Given::Bool(value),
            Val::String(text) => Given::Text(text.to_string()),
            Val::Null => Given::Null,
            _ => Given::Other,
        })
    }

    fn value(&mut self, program: &'a Program) -> Result<Val<'a>, Trouble> {
        let expression = program
            .compiled
            .as_ref()
            .map_err(|why| Trouble::Failed(format!("compilation error: {why}")))?;
        let (outcome, cost) = evaluate_in(&expression.node, self.values.clone());
        self.budget = self.budget.saturating_sub(i64::try_from(cost).unwrap_or(i64::MAX));
        if self.budget < 0 {
            return Err(Trouble::OutOfBudget(OUT_OF_BUDGET.to_owned()));
        }
        outcome.map_err(|failure| {
            let why = wording(&failure);
            Trouble::Failed(format!("expression '{}' resulted in error: {why}", program.source))
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

impl Trouble {
    /// What happened.
    pub(crate) fn message(&self) -> &str {
        match self {
            Self::Failed(why) | Self::OutOfBudget(why) => why,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn run(source: &str, variables: &[(&str, &str)]) -> Result<Given, Trouble> {
        let mut names = Names::new(true).with_variables();
        let compiled: Vec<_> = variables
            .iter()
            .map(|(name, source)| {
                let program = Program::new(source, &names, Wanted::Anything);
                names.add(name, &program);
                (variable_name(name), program)
            })
            .collect();
        let program = Program::new(source, &names, Wanted::Anything);
        let object = json!({"data": {"a": "b"}, "metadata": {"name": "x", "namespace": "y"}});
        let request = json!({"operation": "CREATE", "userInfo": {"groups": ["g"]}});
        let authorizer = Authorizer::new(Arc::new(|_| true));
        let facts = Facts {
            object: &object,
            old_object: &Value::Null,
            request: &request,
            namespace: &Value::Null,
            params: &Value::Null,
            authorizer: Some(&authorizer),
        };
        let mut scope = Scope::new(facts, 1_000_000);
        for (name, program) in &compiled {
            scope.add(name, program);
        }
        scope.run(&program)
    }

    #[test]
    fn expressions_see_the_request_and_the_variables() {
        let yes = Ok(Given::Bool(true));
        assert_eq!(run("object.data.a == 'b' && oldObject == null", &[]), yes);
        assert_eq!(
            run("request.operation == 'CREATE' && 'g' in request.userInfo.groups", &[]),
            yes
        );
        let variables = [("one", "object.data.a"), ("two", "variables.one + 'c'")];
        assert_eq!(run("variables.two == 'bc'", &variables), yes);
        assert_eq!(
            run("authorizer.group('apps').resource('deployments').check('get').allowed()", &[]),
            yes
        );
        assert_eq!(run("authorizer.requestResource.check('get').allowed()", &[]), yes);
        assert_eq!(run("object.metadata.namespace", &[]), Ok(Given::Text("y".to_owned())));
    }

    #[test]
    fn an_error_of_a_variable_counts_where_it_is_read() {
        let variables = [("bad", "object.data.nothing")];
        assert_eq!(run("true || variables.bad == ''", &variables), Ok(Given::Bool(true)));
        let failed = run("variables.bad == ''", &variables).unwrap_err();
        assert_eq!(
            failed.message(),
            "expression 'variables.bad == ''' resulted in error: composited variable \"bad\" fails \
             to evaluate: no such key: nothing"
        );
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_type() {
        let names = Names::new(false);
        let refusal = |source, wanted| Program::new(source, &names, wanted).compiled.unwrap_err();
        assert_eq!(refusal("object.a", Wanted::Bool), "must evaluate to bool but got dyn");
        let wanted = "must evaluate to one of [string null_type] but got int";
        assert_eq!(refusal("1", Wanted::TextOrNull), wanted);
        assert!(refusal("params.a", Wanted::Anything).contains("undeclared reference to 'params'"));
        assert!(refusal("request.x", Wanted::Anything).contains("undefined field 'x'"));
    }
}
