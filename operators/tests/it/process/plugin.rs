//! A credential plugin that hangs while the binary starts.

use std::{
    fs::{self, File, OpenOptions},
    io::Read,
    net::TcpListener,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::DEADLINE;
use crate::{
    cluster::new_folder,
    program::{Program, output},
};

/// A kubeconfig whose plugin is this script.
fn kubeconfig(folder: &Path, script: &str) -> String {
    let exec = json!({
        "command": "sh", "args": ["-c", script], "interactiveMode": "Never",
        "apiVersion": "client.authentication.k8s.io/v1",
    });
    let kubeconfig = json!({
        "current-context": "a",
        "contexts": [{"name": "a", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {"exec": exec}}],
    });
    let file = folder.join("kubeconfig");
    fs::write(&file, kubeconfig.to_string()).unwrap();
    file.to_str().unwrap().to_owned()
}

async fn get(address: &str, path: &str) -> String {
    let mut connection = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    let read = tokio::time::timeout(DEADLINE, connection.read_to_string(&mut response));
    read.await.expect("an answer in time").unwrap();
    response
}

#[operetta_harness::test]
async fn while_a_plugin_hangs_the_process_answers_and_at_its_end_the_plugin_is_killed() {
    let folder = new_folder();
    let pipe = folder.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let both_ends = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
    let mut reader = File::open(&pipe).unwrap();
    let script = format!("exec 9>'{}'; sleep 600 & echo >&9; sleep 600", pipe.display());
    let file = kubeconfig(&folder, &script);
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let flags = ["--cluster", "kubeconfig", "--kubeconfig", &file];
    let operators = Program::start_at(&free, &flags);
    let begun = tokio::task::spawn_blocking(move || {
        reader.read_exact(&mut [0]).unwrap();
        reader
    });
    let reader = tokio::time::timeout(DEADLINE, begun).await.expect("it runs").unwrap();
    assert!(get(&free, "/livez").await.starts_with("HTTP/1.1 200"));
    let ready = get(&free, "/readyz").await;
    assert!(ready.starts_with("HTTP/1.1 503") && ready.contains("credential plugin"), "{ready}");
    let (log, stopped) = (operators.log(), Instant::now());
    assert!(log.contains("plugin=\"sh\"") && !log.contains("sleep"), "{log}");
    assert_eq!(operators.stop("TERM").await, Some(0));
    assert!(stopped.elapsed() < Duration::from_secs(5), "the documented limit of an exit");
    drop(both_ends);
    let ended = tokio::task::spawn_blocking(move || std::io::read_to_string(reader));
    let ended = tokio::time::timeout(DEADLINE, ended).await.expect("the end of the plugin");
    ended.unwrap().unwrap();
}

#[operetta_harness::test]
async fn what_a_plugin_prints_is_not_in_the_log() {
    let folder = new_folder();
    let file = kubeconfig(&folder, "echo s3cret; echo s3cret >&2; exit 3");
    let flags = ["--listen", "127.0.0.1:0", "--cluster", "kubeconfig", "--kubeconfig", &file];
    for command in ["run", "plan"] {
        let flags = if command == "run" { &flags[..] } else { &flags[2..] };
        let (code, printed, log) = output(&[&[command], flags].concat()).await;
        assert!(
            code == Some(1) && log.contains("its plugin \"sh\" failed: exit status: 3"),
            "{log}"
        );
        assert!(!log.contains("s3cret") && !printed.contains("s3cret"), "{log}{printed}");
    }
}
