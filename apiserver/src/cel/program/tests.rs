use std::sync::Arc;

use serde_json::json;

use super::*;

fn run(source: &str, variables: &[(&str, &str)]) -> Result<Given, EvalError> {
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
    assert_eq!(run("request.operation == 'CREATE' && 'g' in request.userInfo.groups", &[]), yes);
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

fn json(source: &str, wanted: Wanted) -> Result<Value, String> {
    let program = Program::new(source, &Names::new(false).with_patches(), wanted);
    let object = json!({"data": {"a": "b"}, "n": 3});
    let facts = Facts {
        object: &object,
        old_object: &Value::Null,
        request: &Value::Null,
        namespace: &Value::Null,
        params: &Value::Null,
        authorizer: None,
    };
    let mut scope = Scope::new(facts, 1_000_000);
    let given = match wanted {
        Wanted::Patch => scope.operations(&program).map(Value::Array),
        _ => scope.configuration(&program),
    };
    given.map_err(|error| error.message().to_owned())
}

#[test]
fn expressions_construct_patches_and_objects() {
    let patch = "[JSONPatch{op: 'add', path: '/x/' + jsonpatch.escapeKey('a/~'), value: object.n}, \
                 JSONPatch{op: 'move', from: '/a', path: '/b'}]";
    assert_eq!(
        json(patch, Wanted::Patch).unwrap(),
        json!([
            {"op": "add", "path": "/x/a~1~0", "value": 3},
            {"op": "move", "path": "/b", "from": "/a"},
        ])
    );
    let object =
        "Object{spec: Object.spec{n: 1 + 2, ?m: object.?none, l: [Object.spec.l{a: 'b'}]}}";
    assert_eq!(
        json(object, Wanted::Configuration).unwrap(),
        json!({"spec": {"n": 3, "l": [{"a": "b"}]}})
    );
}

#[test]
fn parts_of_objects_must_be_where_their_types_say() {
    let misplaced = json("Object{spec: Object.other{}}", Wanted::Configuration);
    assert!(misplaced.unwrap_err().contains("unexpected type name \"Object.other\""));
    let plain = Program::new("Object{} == Object{}", &Names::new(false), Wanted::Bool);
    assert!(plain.error().unwrap().contains("undeclared reference to 'Object'"));
}

#[test]
fn any_text_is_a_program_or_refused_and_its_run_ends() {
    const TOKENS: [&str; 44] = [
        "object",
        ".data",
        ".a",
        "request",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        ",",
        ".",
        ":",
        "?",
        " ",
        "1",
        "-1",
        "1.5",
        "2u",
        "'a'",
        "b'a'",
        "true",
        "null",
        "+",
        "-",
        "*",
        "/",
        "%",
        "==",
        "!=",
        "<",
        "&&",
        "||",
        "!",
        " in ",
        ".size()",
        ".all(x, ",
        ".map(x, ",
        "[1, 2, 3]",
        "'a(b)*'.matches('",
        "quantity('1Ki')",
        "duration('1h')",
        "timestamp('2024-02-29T10:00:00Z')",
        "lists.range(100)",
    ];
    operetta_harness::random::some_texts(20, &TOKENS, |text| drop(run(text, &[])));
}

#[test]
fn a_program_that_is_nested_without_end_is_refused() {
    for (open, close) in
        [("(", ")"), ("[", "]"), ("!", ""), ("-", ""), ("1+", "1"), ("true?1:", "1")]
    {
        let text = format!("{}1{}", open.repeat(2_000), close.repeat(2_000));
        drop(run(&text, &[]));
    }
}

/// Half of the stack that threads of the server have.
#[test]
fn a_program_as_deep_as_may_be_runs_on_little_stack() {
    let shapes = [
        ("1+", ""),
        ("[", "]"),
        ("{1:", "}"),
        ("false?1:", ""),
        ("-(", ")"),
        ("string(", ")"),
        ("[1].map(x,", ")"),
        ("true&&(false||", ")"),
    ];
    for times in [5, 18, 30, 100, 249] {
        let work = move || {
            for (open, close) in shapes {
                let text = format!("{}1{}", open.repeat(times), close.repeat(times));
                drop(run(&text, &[]));
            }
        };
        let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(work);
        thread.unwrap().join().unwrap();
    }
}
