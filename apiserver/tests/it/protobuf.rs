//! Bodies, answers and watches as protobuf, over HTTP; what is expected was seen at the real server.

use bytes::Bytes;
use futures::StreamExt;
use http::{Method, Request, header};
use http_body_util::BodyExt;
use operetta_apiserver::Server;
use serde_json::{Value, json};

use crate::common::{config_maps, create, define_widgets, server, widget, widgets};

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

struct Answer {
    status: u16,
    media: String,
    body: Bytes,
}

impl Answer {
    fn message(&self) -> String {
        let status: Value = serde_json::from_slice(&self.body).unwrap();
        status["message"].as_str().unwrap().to_owned()
    }

    fn contains(&self, part: &[u8]) -> bool {
        self.body.windows(part.len()).any(|window| window == part)
    }
}

async fn send(
    server: &Server,
    (method, path): (Method, &str),
    (content_type, body): (&str, &[u8]),
    accept: &str,
) -> Answer {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::CONTENT_TYPE, content_type)
        .header(header::ACCEPT, accept)
        .body(Bytes::copy_from_slice(body));
    let response = server.handle(request.unwrap()).await;
    let media = response.headers()[header::CONTENT_TYPE].to_str().unwrap().to_owned();
    let status = response.status().as_u16();
    Answer { status, media, body: BodyExt::collect(response.into_body()).await.unwrap().to_bytes() }
}

async fn get(server: &Server, path: &str, accept: &str) -> Answer {
    send(server, (Method::GET, path), ("", b""), accept).await
}

/// A record with bytes, shorter than 128.
fn record(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, u8::try_from(bytes.len()).unwrap()], bytes].concat()
}

fn body(api_version: &str, kind: &str, message: &[u8]) -> Vec<u8> {
    let meta = [record(1, api_version.as_bytes()), record(2, kind.as_bytes())].concat();
    [b"k8s\0".to_vec(), record(1, &meta), record(2, message)].concat()
}

/// A config map with a name and one entry.
fn config_map_body(name: &str) -> Vec<u8> {
    let entry = [record(1, b"key"), record(2, b"value")].concat();
    let message = [record(1, &record(1, name.as_bytes())), record(2, &entry)].concat();
    body("v1", "ConfigMap", &message)
}

async fn create_config_map(server: &Server, name: &str) -> Answer {
    let body = config_map_body(name);
    send(server, (Method::POST, CONFIG_MAPS), (PROTOBUF, &body), PROTOBUF).await
}

#[operetta_harness::test]
async fn an_object_that_comes_as_protobuf_is_seen_as_json_too() {
    let (server, client) = server();
    let created = create_config_map(&server, "a").await;
    assert_eq!((created.status, created.media.as_str()), (201, PROTOBUF));
    assert!(created.body.starts_with(b"k8s\0\n\x0f\n\x02v1\x12\tConfigMap\x12"));
    let found = config_maps(&client).get("a").await.unwrap();
    assert_eq!(found.data["data"], json!({ "key": "value" }));
    let one = get(&server, &format!("{CONFIG_MAPS}/a"), PROTOBUF).await;
    assert_eq!(one.body, created.body);
    let list = get(&server, CONFIG_MAPS, PROTOBUF).await;
    assert!(list.body.starts_with(b"k8s\0\n\x13\n\x02v1\x12\rConfigMapList\x12"));
    assert!(list.contains(b"\n\x03key\x12\x05value"));
}

#[operetta_harness::test]
async fn a_watch_sends_objects_in_frames_with_their_length() {
    let (server, _client) = server();
    let created = create_config_map(&server, "a").await;
    let path = format!("{CONFIG_MAPS}?watch=true&resourceVersion=0");
    let request = Request::get(path).header(header::ACCEPT, PROTOBUF).body(Bytes::new());
    let response = server.handle(request.unwrap()).await;
    let media = format!("{PROTOBUF};stream=watch");
    assert_eq!(response.headers()[header::CONTENT_TYPE], media.as_str());
    let mut frames = response.into_body().into_data_stream();
    let frame = frames.next().await.unwrap().unwrap();
    let (length, event) = frame.split_at(4);
    assert_eq!(u32::from_be_bytes(length.try_into().unwrap()) as usize, event.len());
    assert!(event.starts_with(b"\n\x05ADDED\x12"));
    assert!(event.ends_with(&created.body));
}

#[operetta_harness::test]
async fn options_of_a_deletion_come_as_protobuf() {
    let (server, client) = server();
    create_config_map(&server, "a").await;
    let path = format!("{CONFIG_MAPS}/a");
    let options = |uid: &[u8]| body("v1", "DeleteOptions", &record(2, &record(1, uid)));
    let delete = |body: Vec<u8>| {
        let (server, path) = (&server, &path);
        async move { send(server, (Method::DELETE, path), (PROTOBUF, &body), PROTOBUF).await }
    };
    let refused = delete(options(b"other")).await;
    assert_eq!((refused.status, refused.media.as_str()), (409, PROTOBUF));
    assert!(refused.contains(b"the UID in the precondition (other)"));
    let uid = config_maps(&client).get("a").await.unwrap().metadata.uid.unwrap();
    let deleted = delete(options(uid.as_bytes())).await;
    assert_eq!(deleted.status, 200);
    assert!(deleted.contains(b"\x12\x07Success\x1a\x00\"\x00*9\n\x01a\x12\x00\x1a\nconfigmaps"));
}

#[operetta_harness::test]
async fn a_failure_and_a_review_are_protobuf_for_who_wants_it() {
    let (server, _client) = server();
    let missing = get(&server, &format!("{CONFIG_MAPS}/nope"), PROTOBUF).await;
    assert_eq!((missing.status, missing.media.as_str()), (404, PROTOBUF));
    let expected =
        b"k8s\0\n\x0c\n\x02v1\x12\x06Status\x12U\n\x06\n\x00\x12\x00\x1a\x00\x12\x07Failure\
                     \x1a\x1bconfigmaps \"nope\" not found\"\x08NotFound*\x18\n\x04nope\x12\x00\
                     \x1a\nconfigmaps(\x002\x000\x94\x03\x1a\x00\"\x00";
    assert_eq!(missing.body.as_ref(), expected);
    let attributes = record(1, &record(2, b"get"));
    let review =
        body("authorization.k8s.io/v1", "SelfSubjectAccessReview", &record(2, &attributes));
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let answer = send(&server, (Method::POST, path), (PROTOBUF, &review), PROTOBUF).await;
    assert_eq!((answer.status, answer.media.as_str()), (201, PROTOBUF));
    assert!(answer.contains(b"\x08\x01"), "it is allowed");
    let groups = get(&server, "/apis", PROTOBUF).await;
    assert!(groups.body.starts_with(b"k8s\0\n\x12\n\x02v1\x12\x0cAPIGroupList\x12"));
}

#[operetta_harness::test]
async fn custom_resources_have_no_protobuf_but_their_metadata_has() {
    let (server, client) = server();
    define_widgets(&client).await;
    create(&widgets(&client), widget("a", 1)).await;
    let body = body("example.com/v1", "Widget", b"");
    let sent = send(&server, (Method::POST, WIDGETS), (PROTOBUF, &body), "*/*").await;
    assert_eq!(sent.status, 415);
    let refused = get(&server, WIDGETS, PROTOBUF).await;
    assert_eq!((refused.status, refused.media.as_str()), (406, PROTOBUF));
    let either = get(&server, WIDGETS, &format!("{PROTOBUF},application/json")).await;
    assert_eq!((either.status, either.media.as_str()), (200, "application/json"));
    let partial = format!("{PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
    let list = get(&server, WIDGETS, &partial).await;
    assert!(
        list.body.starts_with(b"k8s\0\n+\n\x0emeta.k8s.io/v1\x12\x19PartialObjectMetadataList\x12")
    );
    let table = format!("{PROTOBUF};as=Table;g=meta.k8s.io;v=v1");
    assert_eq!(get(&server, WIDGETS, &table).await.status, 406);
}

#[operetta_harness::test]
async fn malformed_bodies_are_refused_as_the_real_server_refuses_them() {
    let (server, _client) = server();
    let unrecognized = "the object provided is unrecognized (must be of type ConfigMap): ";
    let unreadable = "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: ";
    let cases: [(&[u8], &str, &str); 12] = [
        (b"", unrecognized, "empty data (<empty>)"),
        (b"k8s\0", unrecognized, "empty body (6b387300)"),
        (
            b"{}",
            unrecognized,
            "provided data does not appear to be a protobuf message, \
             expected prefix [107 56 115 0] ({})",
        ),
        (b"k8s\0abc", unrecognized, "unexpected EOF (6b387300616263)"),
        (b"k8s\0\n\0\x12\x03abc", unreadable, "unexpected EOF"),
        (b"k8s\0\x12\x02\n\x05", unreadable, "unexpected EOF"),
        (b"k8s\0\x12\x02\x08\x05", unreadable, "proto: wrong wireType = 0 for field ObjectMeta"),
        (b"k8s\0\x12\x02\x03\x05", unreadable, "proto: ConfigMap: illegal tag 0 (wire type 3)"),
        (b"k8s\0\x12\x02\0\x05", unreadable, "proto: ConfigMap: illegal tag 0 (wire type 0)"),
        (
            b"k8s\0\x12\x02\x04\x05",
            unreadable,
            "proto: ConfigMap: wiretype end group for non-group",
        ),
        (b"k8s\0\x12\x02\x06\x05", unreadable, "proto: ConfigMap: illegal tag 0 (wire type 6)"),
        (
            b"k8s\0\n\x0f\n\x02v1\x12\tConfigMax\x12\x02\n\x05",
            "ConfigMax in version \"v1\" cannot be handled as a ConfigMap: ",
            "no kind \"ConfigMax\" is registered for version \"v1\" in scheme \
             \"pkg/runtime/scheme.go:111\"",
        ),
    ];
    for (body, start, end) in cases {
        let answer = send(&server, (Method::POST, CONFIG_MAPS), (PROTOBUF, body), "*/*").await;
        assert_eq!((answer.status, answer.message()), (400, format!("{start}{end}")), "{body:?}");
    }
    let path = format!("{CONFIG_MAPS}/a");
    let answer = send(&server, (Method::DELETE, &path), (PROTOBUF, b"k8s\0abc"), "*/*").await;
    assert_eq!((answer.status, answer.message()), (400, "unexpected EOF".to_owned()));
}
