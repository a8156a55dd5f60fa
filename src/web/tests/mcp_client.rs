//! The client of `rmcp` over a real socket, in the versions with and without a handshake.

use std::{collections::HashMap, io, sync::Arc};

use actix_web::web::Bytes;
use futures::stream::BoxStream;
use http::{HeaderName, HeaderValue};
use http_body_util::{BodyExt, Full};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use rmcp::{
    ClientLifecycleMode, ClientServiceExt,
    model::{CallToolRequestParams, ClientJsonRpcMessage, ProtocolVersion},
    transport::{
        StreamableHttpClientTransport,
        streamable_http_client::{
            SseError, StreamableHttpClient, StreamableHttpClientTransportConfig,
            StreamableHttpError, StreamableHttpPostResponse,
        },
    },
};
use serde_json::json;
use sse_stream::Sse;

use super::world::World;
use crate::web::{Protection, listen, server};

#[derive(Clone)]
struct Http(Client<HttpConnector, Full<Bytes>>);

type Failure = StreamableHttpError<io::Error>;

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> Failure {
    StreamableHttpError::Client(io::Error::other(error))
}

impl StreamableHttpClient for Http {
    type Error = io::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        _: Option<Arc<str>>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let mut request = http::Request::post(&*uri)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let body = Full::new(Bytes::from(serde_json::to_vec(&message)?));
        let response = self.0.request(request.body(body).map_err(failed)?).await.map_err(failed)?;
        if response.status() == 202 {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let body = response.into_body().collect().await.map_err(failed)?.to_bytes();
        Ok(StreamableHttpPostResponse::Json(serde_json::from_slice(&body)?, None))
    }

    async fn delete_session(
        &self,
        _: Arc<str>,
        _: Arc<str>,
        _: Option<String>,
        _: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        Err(StreamableHttpError::ServerDoesNotSupportDeleteSession)
    }

    async fn get_stream(
        &self,
        _: Arc<str>,
        _: Option<Arc<str>>,
        _: Option<String>,
        _: Option<String>,
        _: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        Err(StreamableHttpError::ServerDoesNotSupportSse)
    }
}

#[actix_web::test]
async fn the_client_of_the_library_lists_and_calls_tools() {
    let mut world = World::running().with_parent();
    world.state.program.mcp = true;
    let listener = listen("127.0.0.1:0").unwrap();
    let uri = format!("http://{}/mcp", listener.local_addr().unwrap());
    let running = server(listener, world.state.clone(), Protection::default()).unwrap();
    let handle = running.handle();
    actix_web::rt::spawn(running);
    for mode in [
        ClientLifecycleMode::Initialize,
        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] },
    ] {
        let http = Http(Client::builder(TokioExecutor::new()).build_http());
        let config = StreamableHttpClientTransportConfig::with_uri(uri.as_str());
        let transport = StreamableHttpClientTransport::with_client(http, config);
        let client = ().serve_with_lifecycle(transport, mode).await.unwrap();
        let tools = client.list_all_tools().await.unwrap();
        assert_eq!(tools.len(), 13);
        let arguments = json!({"operator": "echo-server", "name": "ns/a"});
        let call = CallToolRequestParams::new("explain")
            .with_arguments(arguments.as_object().unwrap().clone());
        let result = serde_json::to_value(client.call_tool(call).await.unwrap()).unwrap();
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("EchoServer ns/a of echo-server: failing"), "{text}");
        client.cancel().await.unwrap();
    }
    handle.stop(false).await;
}
