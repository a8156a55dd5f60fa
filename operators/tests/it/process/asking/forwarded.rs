//! A process behind a forwarded port of a Pod. Neither cluster of these tests has a kubelet, so that a stub of an API
//! server forwards as one does: a WebSocket with a channel of data and one of errors, each begun by the port.

use std::fs;

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_tungstenite::{
    accept_hdr_async,
    tungstenite::{
        Message,
        handshake::server::{Request, Response},
    },
};

use super::Asked;
use crate::{cluster::new_folder, program::output};

const PROTOCOL: &str = "v4.channel.k8s.io";

/// An API server with the Deployment `ops/operetta`, whose Pod has the process at `address`; returns its own address.
async fn api_server(address: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            tokio::spawn(serve(connection, address.clone()));
        }
    });
    own
}

async fn serve(mut connection: TcpStream, address: String) {
    let mut head = vec![0; 4096];
    let read = connection.peek(&mut head).await.unwrap();
    let line = String::from_utf8_lossy(&head[..read]).lines().next().unwrap_or_default().to_owned();
    if line.contains("/pods/operetta-1/portforward?") && line.contains("ports=8080") {
        return forward(connection, &address).await;
    }
    let _ = connection.read(&mut head).await.unwrap();
    let (code, answer) = answer(&line);
    let (body, close) = (answer.to_string(), "Connection: close\r\nContent-Type: application/json");
    let head = format!("HTTP/1.1 {code} OK\r\n{close}\r\nContent-Length: {}\r\n\r\n", body.len());
    connection.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
}

fn answer(line: &str) -> (u16, Value) {
    let ready = json!({"conditions": [{"type": "Ready", "status": "True"}]});
    let pods = [
        json!({"metadata": {"name": "operetta-0"}}),
        json!({"metadata": {"name": "operetta-1"}, "status": ready}),
    ];
    let selector = json!({"matchLabels": {"app": "operetta"}});
    let template = json!({"metadata": {}});
    if line.contains("/deployments/operetta ") {
        let deployment = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "operetta"},
            "spec": {"selector": selector, "template": template},
        });
        (200, deployment)
    } else if line.contains("/pods?") && line.contains("labelSelector=app%3Doperetta") {
        (200, json!({"apiVersion": "v1", "kind": "PodList", "metadata": {}, "items": pods}))
    } else {
        (404, json!({"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404}))
    }
}

#[allow(clippy::result_large_err, reason = "the signature is that of the library")]
async fn forward(connection: TcpStream, address: &str) {
    let choose = |request: &Request, mut response: Response| {
        let offered = request.headers()["sec-websocket-protocol"].to_str().unwrap();
        assert!(offered.contains(PROTOCOL), "{offered}");
        response.headers_mut().insert("sec-websocket-protocol", PROTOCOL.parse().unwrap());
        Ok(response)
    };
    let mut socket = accept_hdr_async(connection, choose).await.unwrap();
    let [low, high] = 8080_u16.to_le_bytes();
    for channel in [0, 1] {
        socket.send(Message::binary(vec![channel, low, high])).await.unwrap();
    }
    let mut process = TcpStream::connect(address).await.unwrap();
    let mut bytes = vec![0; 64 << 10];
    loop {
        tokio::select! {
            message = socket.next() => match message {
                Some(Ok(Message::Binary(data))) if data.len() > 1 && data[0] == 0 => {
                    process.write_all(&data[1..]).await.unwrap();
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return,
            },
            read = process.read(&mut bytes) => match read {
                Ok(count) if count > 0 => {
                    let data = [&[0], &bytes[..count]].concat();
                    if socket.send(Message::binary(data)).await.is_err() { return }
                }
                Ok(_) | Err(_) => return,
            },
        }
    }
}

#[operetta_harness::test]
async fn a_process_in_a_cluster_is_asked_through_its_api_server() {
    let asked = Asked::start(&[]).await;
    let process = asked.server.strip_prefix("http://").unwrap().to_owned();
    let cluster = json!({"server": format!("http://{}", api_server(process).await)});
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "a",
        "contexts": [{"name": "a", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": "t"}}],
    });
    let file = new_folder().join("kubeconfig");
    fs::write(&file, kubeconfig.to_string()).unwrap();
    let through = async |command: &[&str], target: &str| {
        let flags = ["--kubeconfig", file.to_str().unwrap(), "--port-forward", target];
        output(&[command, &flags].concat()).await
    };
    let (code, printed, error) = through(&["status"], "ops/operetta").await;
    assert!(code == Some(0) && printed.contains("echo-server"), "{error}");
    let pause = ["pause", "echo-server"];
    let (code, printed, error) = through(&pause, "ops/operetta").await;
    assert!(code == Some(0) && printed.contains("operator echo-server: "), "{error}");
    let (code, _, error) = through(&["status"], "ops/other").await;
    let expected = "there is no Pod and no Deployment `other` in the namespace `ops`";
    assert!(code == Some(1) && error.contains(expected), "{error}");
}
