//! What a Prometheus server gets from the binary.

use std::collections::BTreeSet;

use kube::Api;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{
    all,
    collector::{Collector, Received},
    create_one, is_ready,
};
use crate::{
    cluster::{client_of, new_folder},
    program::Program,
};

/// As Prometheus 3 sends it.
const PROMETHEUS: &str = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,\
    application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.1";

async fn scrape(address: &str) -> String {
    let mut connection = TcpStream::connect(address).await.unwrap();
    // An answer to HTTP/1.0 has no chunks.
    let request =
        format!("GET /metrics HTTP/1.0\r\nHost: {address}\r\nAccept: {PROMETHEUS}\r\n\r\n");
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.unwrap();
    answer
}

#[operetta_harness::test]
async fn five_operators_are_openmetrics_of_few_series_with_traces_as_exemplars() {
    let collector = Collector::start();
    let folder = new_folder();
    let mut operators = Program::start_in(&folder, &["--otlp-endpoint", &collector.endpoint]);
    let announced = operators.ready().await;
    let (_, address) = announced.split_once("Dashboard: http://").expect("an address");
    let address = address.lines().next().unwrap().trim_end_matches('/');
    let kubeconfig = folder.join("target/operetta/kubeconfig");
    let parents = Api::default_namespaced(client_of(&kubeconfig).await);
    create_one(&parents, "hello".to_owned()).await;
    all(&parents, is_ready).await;

    let answer = scrape(address).await;
    assert!(answer.contains("application/openmetrics-text; version=1.0.0"), "{answer}");
    let (_, text) = answer.split_once("\r\n\r\n").unwrap();
    assert!(text.ends_with("\n# EOF\n"), "{text}");
    let series = text.lines().filter(|line| !line.starts_with('#')).count();
    assert!(series < 1000, "{series} series:\n{text}");

    assert_eq!(operators.stop("TERM").await, Some(0));
    let is_end = |span: &Received| span.name == "reconcile" && span.attribute("outcome") == "ready";
    let spans = tokio::task::spawn_blocking(move || collector.until(is_end)).await.unwrap();
    let hex = |id: &Vec<u8>| {
        let bytes = <[u8; 16]>::try_from(id.as_slice()).expect("the length of a trace id");
        format!("{:032x}", u128::from_be_bytes(bytes))
    };
    let traces: BTreeSet<String> = spans.iter().map(|span| hex(&span.trace)).collect();
    let shown = |metric: &str| -> BTreeSet<&str> {
        let lines = text.lines().filter(|line| line.starts_with(metric));
        let ids = lines.filter_map(|line| line.split_once("# {trace_id=\""));
        ids.map(|(_, rest)| rest.split('"').next().unwrap()).collect()
    };
    for metric in ["operetta_reconcile_duration_seconds_bucket{", "operetta_reconciles_total{"] {
        let shown = shown(metric);
        assert!(!shown.is_empty(), "{metric}: {text}");
        assert!(shown.iter().all(|id| traces.contains(*id)), "{metric}: {shown:?} of {traces:?}");
    }
}
