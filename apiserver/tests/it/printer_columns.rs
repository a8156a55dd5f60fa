//! The printer columns of custom types: what a list as a table shows for each path, on the embedded server and on the
//! real one, and which columns a definition may not have.

use std::time::Duration;

use http::{Request, StatusCode, header};
use http_body_util::BodyExt;
use kube::{Client, client::Body};
use serde_json::{Value, json};

use crate::common::{api, control_plane, create, server};

/// Type, path, and the cell in the row of [`thing`].
fn columns() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        // Names.
        ("integer", ".spec.n", json!(3)),
        ("string", ".metadata.name", json!("one")),
        ("string", ".spec.none.deeper", Value::Null),
        // Escaped dots: in names, in brackets, and where nothing is escaped.
        ("string", r".metadata.labels.example\.com/app", json!("web")),
        ("string", r".metadata.labels['example\.com/app']", json!("web")),
        ("string", r".metadata.labels['example\\.com/app']", Value::Null),
        ("string", r".metadata.labels['example.com/app']", Value::Null),
        ("string", r".metadata['labels'].example\.com/app", json!("web")),
        ("string", r".metadata['labels']['example\.com/app']", json!("web")),
        ("string", r".spec.odd\[name", json!("odd")),
        ("string", r".spec\.n", Value::Null),
        // Brackets.
        ("integer", ".spec['n']", json!(3)),
        ("integer", ".spec.list[0].a", json!(1)),
        ("integer", ".spec.list[-1].a", json!(3)),
        ("integer", ".spec.list[9].a", Value::Null),
        ("integer", ".spec.list[1:].a", json!(2)),
        ("integer", ".spec.list[-2:-1].a", json!(2)),
        ("integer", ".spec.list[0:3:2].a", json!(1)),
        ("integer", ".spec.list[0:3:0].a", Value::Null),
        ("integer", ".spec.list[2:1].a", Value::Null),
        ("integer", ".spec.list[].a", json!(1)),
        ("integer", ".spec.list[*].a", json!(1)),
        ("integer", ".spec.list[2,0].a", json!(3)),
        ("integer", ".spec['none','n']", json!(3)),
        ("integer", ".spec.n[0]", Value::Null),
        // Everything below.
        ("integer", "..a", json!(1)),
        ("string", ".spec.single.*", json!("x")),
        ("integer", ".spec..a", json!(1)),
        // Filters.
        ("string", r#".status.conditions[?(@.type=="Ready")].status"#, json!("True")),
        ("string", ".status.conditions[?(@.type=='Ready')].status", json!("True")),
        ("string", r#".status.conditions[?(@.type!="Ready")].status"#, json!("False")),
        ("string", r#".status.conditions[?(@.type=="(x)")].status"#, Value::Null),
        ("integer", ".spec.list[?(@.a>1)].a", json!(2)),
        ("integer", ".spec.list[?(@.a>=3)].a", json!(3)),
        ("integer", ".spec.list[?(@.b)].a", json!(2)),
        ("integer", ".spec.list[?(@.a==1.5)].a", Value::Null),
        ("integer", ".spec.list[?(@.a<2)].a", json!(1)),
        ("integer", ".spec.list[?(@.b==true)].a", json!(2)),
        ("integer", ".spec.list[?(@.a[5])].a", json!(1)),
        ("integer", ".spec[?(@.a)].a", Value::Null),
        ("integer", ".spec.list[?(@.a=)].a", Value::Null),
        // The types of cells.
        ("string", ".spec.n", json!("3")),
        ("string", ".spec.half", json!("1.5")),
        ("string", ".spec.huge", json!("1e+21")),
        ("string", ".spec.yes", json!("true")),
        ("string", ".spec.single", json!(r#"{"k":"x"}"#)),
        ("string", ".spec.html", json!(r#"["\u003cb\u003e"]"#)),
        ("string", ".spec.nothing", json!("<no value>")),
        ("string", ".spec.list[0].*", json!("1")),
        ("integer", ".spec.half", json!(1)),
        ("integer", ".spec.yes", Value::Null),
        ("integer", ".spec.nothing", Value::Null),
        ("number", ".spec.half", json!(1.5)),
        ("number", ".spec.n", json!(3)),
        ("boolean", ".spec.yes", json!(true)),
        ("boolean", ".spec.n", Value::Null),
        ("date", ".spec.html", Value::Null),
        ("date", ".spec.single.k", json!("<invalid>")),
        ("date", ".spec.empty", json!("<unknown>")),
        ("date", ".spec.future", json!("<invalid>")),
        // Text that is more than a path.
        ("integer", ".spec.n}", json!(3)),
        ("integer", ".spec.n} and {.spec.half", json!(3)),
        ("integer", ".spec.n} and {.spec.list[9]", Value::Null),
        ("string", r#".spec "text""#, json!("text")),
        ("string", r#".spec "a\tb""#, json!("a\tb")),
        ("string", ".spec 7", json!("7")),
        ("integer", ".spec 7", Value::Null),
        ("number", ".spec 7.5", json!(7.5)),
        ("string", ".spec true", json!("true")),
        ("string", ".spec.n@.x", Value::Null),
        ("string", ".spec word", Value::Null),
        ("string", ".spec.n end", Value::Null),
        ("string", ".spec.html[0].*", json!("60")),
    ]
}

/// Paths that are accepted in a definition and can not be used: their column and those behind it are not shown.
const UNUSABLE: &[&str] = &[
    ".spec[",
    ".spec['a'",
    ".spec.list[x]",
    ".spec.list[-]",
    ".spec.list[99999999999999999999]",
    ".spec....a",
    ".spec.list[?(@.a]",
    ".spec.list[?(@.a)",
    ".spec.list[?(@.a=='x)].a",
    ".spec 'text",
    r#".spec "\q""#,
    ".spec 1.2.3",
    ".spec, .spec",
    ".spec\n.a",
    ".spec {.a",
];

/// Columns that a definition may not have, with the end of what is said of it.
fn refused() -> Vec<(Value, &'static str)> {
    let types = "must be one of boolean,date,integer,number,string";
    let formats = "must be one of byte,date,date-time,double,float,int32,int64,password";
    let column = |name: &str, kind: &str, format: &str, path: &str| json!({"name": name, "type": kind, "format": format, "jsonPath": path});
    vec![
        (column("N", "string", "", "spec.n"), "must be a simple json path starting with ."),
        (column("N", "string", "", "$.spec.n"), "must be a simple json path starting with ."),
        (column("N", "string", "", "{.spec.n}"), "must be a simple json path starting with ."),
        (column("N", "string", "", ""), "additionalPrinterColumns[0].JSONPath: Required value"),
        (column("", "string", "", ".spec.n"), "additionalPrinterColumns[0].name: Required value"),
        (column("N", "text", "", ".spec.n"), types),
        (column("N", "", "", ".spec.n"), types),
        (column("N", "string", "hex", ".spec.n"), formats),
    ]
}

const GROUP: &str = "columns.example.com";

fn thing(plural: &str) -> Value {
    json!({
        "apiVersion": format!("{GROUP}/v1"),
        "kind": kind(plural),
        "metadata": {"name": "one", "labels": {"example.com/app": "web"}},
        "spec": {
            "n": 3, "half": 1.5, "huge": 1e21, "yes": true, "empty": "", "nothing": null,
            "future": "2999-01-01T00:00:00Z", "single": {"k": "x"}, "html": ["<b>"], "odd[name": "odd",
            "list": [{"a": 1}, {"a": 2, "b": true}, {"a": 3}],
        },
        "status": {"conditions": [
            {"type": "Other", "status": "False"},
            {"type": "Ready", "status": "True"},
        ]},
    })
}

fn kind(plural: &str) -> String {
    format!("K{plural}")
}

fn definition(plural: &str, columns: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{GROUP}")},
        "spec": {
            "group": GROUP,
            "scope": "Cluster",
            "names": {"plural": plural, "singular": plural, "kind": kind(plural), "listKind": format!("{}List", kind(plural))},
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "additionalPrinterColumns": columns,
                "schema": {"openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                }},
            }],
        },
    })
}

/// All columns, named by their position.
fn declared() -> Value {
    let declare = |(at, (kind, path, _)): (usize, &(&str, &str, Value))| json!({"name": format!("C{at}"), "type": kind, "jsonPath": path});
    columns().iter().enumerate().map(declare).collect()
}

/// A path that cannot be used between two that can.
fn around(path: &str) -> Value {
    let column = |name: &str, path: &str| json!({"name": name, "type": "string", "jsonPath": path});
    json!([column("Before", ".spec.n"), column("Bad", path), column("After", ".spec.n")])
}

async fn send(
    client: &Client,
    request: http::request::Builder,
    body: &Value,
) -> (StatusCode, Value) {
    let body = if body.is_null() { Vec::new() } else { serde_json::to_vec(body).unwrap() };
    let response = client.send(request.body(Body::from(body)).unwrap()).await.unwrap();
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

async fn post(client: &Client, path: &str, object: &Value) -> (StatusCode, Value) {
    let request = Request::post(path).header(header::CONTENT_TYPE, "application/json");
    send(client, request, object).await
}

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Defines the type, and creates one object of it as soon as it is served.
async fn define(client: &Client, plural: &str, columns: &Value) {
    let (status, said) = post(client, DEFINITIONS, &definition(plural, columns)).await;
    assert_eq!(status, StatusCode::CREATED, "{said}");
    let path = format!("/apis/{GROUP}/v1/{plural}");
    let created = async {
        while post(client, &path, &thing(plural)).await.0 != StatusCode::CREATED {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), created).await.expect("the type is served");
}

/// The columns, and the cells of the one row.
async fn table(client: &Client, plural: &str) -> (Vec<String>, Vec<Value>) {
    let request = Request::get(format!("/apis/{GROUP}/v1/{plural}"))
        .header(header::ACCEPT, "application/json;as=Table;v=v1;g=meta.k8s.io");
    let (_, table) = send(client, request, &Value::Null).await;
    let columns = table["columnDefinitions"].as_array().unwrap();
    let names = columns.iter().map(|column| column["name"].as_str().unwrap().to_owned());
    (names.collect(), table["rows"][0]["cells"].as_array().unwrap().clone())
}

/// The cells of all columns, which are what is expected.
async fn assert_cells(client: &Client) {
    define(client, "all", &declared()).await;
    let (_, cells) = table(client, "all").await;
    let wrong: Vec<String> = columns()
        .into_iter()
        .zip(&cells[1..])
        .filter(|((_, _, expected), found)| expected != *found)
        .map(|((kind, path, expected), found)| format!("{kind} {path}: {found}, not {expected}"))
        .collect();
    assert_eq!(wrong, [""; 0]);
    assert_eq!(cells.len(), columns().len() + 1);
}

async fn assert_unusable(client: &Client) {
    for (at, path) in UNUSABLE.iter().enumerate() {
        let plural = format!("unusable{at}");
        define(client, &plural, &around(path)).await;
        let (columns, cells) = table(client, &plural).await;
        assert_eq!(
            (columns, cells),
            (vec!["Name".into(), "Before".into()], vec![json!("one"), json!("3")]),
            "{path}"
        );
    }
}

async fn assert_refused(client: &Client) {
    for (column, why) in refused() {
        let (status, said) =
            post(client, DEFINITIONS, &definition("refused", &json!([column]))).await;
        let message = said["message"].as_str().unwrap_or_default();
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{column}");
        assert!(message.contains("spec.additionalPrinterColumns[0]"), "{message}");
        assert!(message.ends_with(why), "{message}");
    }
}

#[operetta_harness::test]
async fn an_escaped_dot_in_brackets_is_part_of_the_name() {
    let (_server, client) = server();
    let columns = json!([{"name": "App", "type": "string", "jsonPath": r".metadata.labels['example\.com/app']"}]);
    define(&client, "apps", &columns).await;
    assert_eq!(table(&client, "apps").await.1, ["one", "web"]);
}

#[operetta_harness::test]
async fn a_cell_shows_what_its_path_finds() {
    let (_server, client) = server();
    assert_cells(&client).await;
}

#[operetta_harness::test]
async fn a_column_whose_path_cannot_be_used_is_not_shown_and_neither_are_those_behind_it() {
    let (_server, client) = server();
    assert_unusable(&client).await;
}

#[operetta_harness::test]
async fn a_column_that_is_wrong_is_refused() {
    let (_server, client) = server();
    assert_refused(&client).await;
}

#[operetta_harness::test]
async fn columns_on_the_real_server_are_the_same() {
    let client = control_plane::own().await;
    let client = client.client().unwrap();
    assert_refused(&client).await;
    assert_unusable(&client).await;
    assert_cells(&client).await;
}

#[operetta_harness::test]
async fn a_path_that_finds_ever_more_costs_no_worker() {
    let (_server, client) = server();
    let paths = [
        "..a".repeat(30),
        format!(".spec.list{}", "[0,0]".repeat(40)),
        format!(".spec{}", "['deep','deep']..a".repeat(30)),
    ];
    let columns: Value = (0..90)
        .map(|at| json!({"name": format!("C{at}"), "type": "string", "jsonPath": paths[at % 3]}))
        .collect();
    define(&client, "growing", &columns).await;
    let deep = (0..80).fold(json!("x"), |below, _| json!({"a": below}));
    for at in 0..10 {
        let mut object = thing("growing");
        object["metadata"]["name"] = json!(format!("deep{at}"));
        object["spec"]["deep"] = deep.clone();
        let (status, said) = post(&client, &format!("/apis/{GROUP}/v1/growing"), &object).await;
        assert_eq!(status, StatusCode::CREATED, "{said}");
    }
    assert_eq!(table(&client, "growing").await.0.len(), 91);
    create(
        &api(&client, "v1", "ConfigMap", "default"),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "after"}}),
    )
    .await;
}
