//! The log: lines for whoever develops an operator, JSON for programs.

use kube::Api;
use serde_json::Value;

use super::{all, create_one, is_ready};
use crate::{
    cluster::{client_of, new_folder},
    definitions::until,
    program::Program,
};

#[operetta_harness::test]
async fn a_developer_sees_each_write_and_why() {
    let folder = new_folder();
    let mut operators = Program::start_in(&folder, &["--only", "echo-server"]);
    operators.ready().await;
    let parents =
        Api::default_namespaced(client_of(&folder.join("target/operetta/kubeconfig")).await);
    create_one(&parents, "hello".to_owned()).await;
    all(&parents, is_ready).await;
    let log = operators.log();
    for child in ["Pod.v1 default/hello", "Service.v1 default/hello"] {
        let line = log.lines().find(|line| line.contains(&format!("created {child}")));
        let line = line.unwrap_or_else(|| panic!("{child} is missing in {log}"));
        for part in
            ["operator=echo-server", "parent=default/hello", r#"because="the parent appeared"#]
        {
            assert!(line.contains(part), "{part} is missing in {line}");
        }
    }
    assert_eq!(operators.stop("TERM").await, Some(0));
}

#[operetta_harness::test]
async fn each_line_of_json_is_an_object() {
    let flags = ["--only", "echo-server", "--log-format", "json"];
    let operators = Program::start_in(&new_folder(), &flags);
    let runs = async || operators.log().contains("the operator runs");
    until("the operator runs", runs).await;
    let log = operators.log();
    assert_eq!(operators.stop("TERM").await, Some(0));
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
        .collect();
    let runs = lines.iter().find(|line| line["message"] == "the operator runs").unwrap();
    assert_eq!((&runs["level"], &runs["operator"]), (&"INFO".into(), &"echo-server".into()));
    assert!(runs["timestamp"].is_string() && runs["target"].is_string(), "{runs}");
}
