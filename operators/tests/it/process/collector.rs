//! A collector of OpenTelemetry traces on loopback: it decodes what it receives.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value},
    trace::v1::{Span, status::StatusCode},
};
use prost::Message;

/// How long a test waits.
const DEADLINE: Duration = Duration::from_secs(30);

/// A collector that runs until the process ends.
pub(crate) struct Collector {
    pub(crate) endpoint: String,
    received: Arc<Mutex<Vec<Received>>>,
}

/// A span.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) service: String,
    pub(crate) trace: Vec<u8>,
    pub(crate) id: Vec<u8>,
    /// Empty for the first of a trace.
    pub(crate) parent: Vec<u8>,
    pub(crate) name: String,
    pub(crate) attributes: BTreeMap<String, String>,
    /// The ids of the spans that it is linked to.
    pub(crate) links: Vec<Vec<u8>>,
    pub(crate) is_error: bool,
    /// Start and end.
    pub(crate) nanoseconds: (u64, u64),
}

impl Collector {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let kept = received.clone();
        thread::spawn(move || {
            for connection in listener.incoming() {
                let kept = kept.clone();
                thread::spawn(move || receive(&connection.unwrap(), &kept));
            }
        });
        Self { endpoint, received }
    }

    /// All spans once there is one like this.
    pub(crate) fn until(&self, is_there: impl Fn(&Received) -> bool) -> Vec<Received> {
        let started = Instant::now();
        loop {
            let spans = self.received.lock().unwrap().clone();
            if spans.iter().any(&is_there) {
                return spans;
            }
            assert!(started.elapsed() < DEADLINE, "not among {spans:#?}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Received {
    pub(crate) fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }

    fn of(service: &str, span: Span) -> Self {
        let code = span.status.map(|status| status.code());
        Self {
            service: service.to_owned(),
            trace: span.trace_id,
            id: span.span_id,
            parent: span.parent_span_id,
            name: span.name,
            attributes: span.attributes.into_iter().filter_map(text).collect(),
            links: span.links.into_iter().map(|link| link.span_id).collect(),
            is_error: code == Some(StatusCode::Error),
            nanoseconds: (span.start_time_unix_nano, span.end_time_unix_nano),
        }
    }
}

/// The requests of one connection.
fn receive(connection: &TcpStream, kept: &Mutex<Vec<Received>>) {
    let (mut reader, mut writer) = (BufReader::new(connection), connection);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).unwrap() == 0 {
                return;
            }
        }
        assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
        let head = head.to_lowercase();
        assert!(head.contains("content-type: application/x-protobuf"), "{head}");
        let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
        let mut body = vec![0; length.unwrap().parse().unwrap()];
        reader.read_exact(&mut body).unwrap();
        kept.lock().unwrap().extend(spans(&body));
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        writer.write_all(answer).unwrap();
    }
}

fn spans(body: &[u8]) -> Vec<Received> {
    let request = ExportTraceServiceRequest::decode(body).unwrap();
    let of_resource = request.resource_spans.into_iter().flat_map(|spans| {
        let resource = spans.resource.unwrap_or_default();
        let attributes: BTreeMap<_, _> = resource.attributes.into_iter().filter_map(text).collect();
        let service = attributes["service.name"].clone();
        let spans = spans.scope_spans.into_iter().flat_map(|spans| spans.spans);
        spans.map(move |span| Received::of(&service, span))
    });
    of_resource.collect()
}

fn text(attribute: KeyValue) -> Option<(String, String)> {
    let value = match attribute.value?.value? {
        Value::StringValue(text) => text,
        Value::BoolValue(value) => value.to_string(),
        Value::IntValue(value) => value.to_string(),
        other => panic!("{other:?}"),
    };
    Some((attribute.key, value))
}
