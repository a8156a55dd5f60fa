//! Watches of what a sequence changes: both servers must send the same events, at once and again from history.
//!
//! The last event of a watch is that of an object that every selector chooses. A server that does not send it
//! ends the watch by its timeout.

use futures::{StreamExt, stream::BoxStream};
use http::{Request, header};
use http_body_util::BodyExt;
use kube::{Client, client::Body};
use serde_json::{Value, json};

use super::{answer, generate::JSON, random::Random, servers::AGENT, types::Type};

/// A watch, the same for both servers until it is opened.
#[derive(Debug, Clone)]
pub(crate) struct Watch {
    /// The kind, for people.
    pub(crate) kind: String,
    pub(crate) collection: String,
    /// Empty for none.
    selector: &'static str,
    accept: &'static str,
    /// After its event nothing is to come.
    end: Value,
}

/// A watch on one server.
pub(crate) struct Opened {
    watch: Watch,
    namespace: String,
    /// The version that it began after.
    start: String,
    lines: BoxStream<'static, String>,
}

/// What an object needs to be chosen by every selector.
const LABELS: [(&str, &str); 2] = [("name", "a"), ("x", "y")];

impl Watch {
    pub(crate) fn random(random: &mut Random, ty: &Type) -> Self {
        let accepts = [
            JSON,
            JSON,
            JSON,
            "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
            "application/json;as=Table;v=v1;g=meta.k8s.io",
        ];
        // Other sequences work on cluster-scoped types at the same time.
        let selectors = if ty.namespaced {
            ["", "", "run=$ns", "x=y", "name in (a,b)", "name!=c"]
        } else {
            ["run=$ns", "run=$ns", "run=$ns", "run=$ns,x=y", "run=$ns,name in (a,b)", "run=$ns,!x"]
        };
        let (selector, accept) = (*random.pick(&selectors), *random.pick(&accepts));
        let mut end = ty.object("end");
        for (name, value) in LABELS {
            end["metadata"]["labels"][name] = json!(value);
        }
        if selector.ends_with("!x") {
            end["metadata"]["labels"].as_object_mut().unwrap().remove("x");
        }
        let collection = ty.collection();
        Self { kind: ty.kind.clone(), collection, selector, accept, end }
    }

    /// Opens the watch on a server, from now on.
    pub(crate) async fn open(&self, client: &Client, namespace: &str) -> Opened {
        let path = self.collection.replace("$ns", namespace);
        let list = Request::get(format!("{path}?limit=1")).body(Body::empty()).unwrap();
        let list = client.send(list).await.unwrap().into_body().collect().await.unwrap();
        let list: Value = serde_json::from_slice(&list.to_bytes()).unwrap();
        let start = list["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
        self.open_after(client, namespace, start).await
    }

    async fn open_after(&self, client: &Client, namespace: &str, start: String) -> Opened {
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("watch", "true")
            .append_pair("resourceVersion", &start)
            .append_pair("labelSelector", &self.selector.replace("$ns", namespace))
            .append_pair("timeoutSeconds", "20")
            .finish();
        let path = self.collection.replace("$ns", namespace);
        let request = Request::get(format!("{path}?{query}"))
            .header(header::ACCEPT, self.accept)
            .header(header::USER_AGENT, AGENT);
        let response = client.send(request.body(Body::empty()).unwrap()).await.unwrap();
        assert!(response.status().is_success(), "{response:?}");
        let namespace = namespace.to_owned();
        Opened { watch: self.clone(), namespace, start, lines: lines(response.into_body()) }
    }

    /// The object whose event is the last one.
    pub(crate) fn end(&self, namespace: &str) -> Value {
        serde_json::from_str(&self.end.to_string().replace("$ns", namespace)).unwrap()
    }

    /// For people.
    pub(crate) fn name(&self) -> String {
        let form = self.accept.split("as=").nth(1).and_then(|it| it.split(';').next());
        format!("watch {} {} {}", self.kind, form.unwrap_or_default(), self.selector)
    }
}

impl Opened {
    /// All events up to that of the last object, masked.
    pub(crate) async fn events(mut self) -> Vec<Value> {
        let end = self.watch.end["metadata"]["name"].clone();
        let mut events = Vec::new();
        while let Some(line) = self.lines.next().await {
            let event = answer::masked(JSON, line.as_bytes(), &self.namespace);
            let is_end = *name(&event) == end;
            events.push(event);
            if is_end {
                break;
            }
        }
        events
    }

    /// The same watch from the same version.
    pub(crate) async fn again(&self, client: &Client) -> Self {
        self.watch.open_after(client, &self.namespace, self.start.clone()).await
    }
}

/// The name of the object of an event.
pub(crate) fn name(event: &Value) -> &Value {
    let object = &event["object"];
    match object["rows"].get(0) {
        Some(row) => &row["object"]["metadata"]["name"],
        None => &object["metadata"]["name"],
    }
}

fn lines(body: Body) -> BoxStream<'static, String> {
    let state = (body, Vec::new());
    futures::stream::unfold(state, |(mut body, mut read): (Body, Vec<u8>)| async move {
        loop {
            if let Some(at) = read.iter().position(|byte| *byte == b'\n') {
                let line = read.drain(..=at).collect();
                return Some((String::from_utf8(line).unwrap(), (body, read)));
            }
            let frame = body.frame().await?.ok()?;
            read.extend_from_slice(frame.data_ref().map_or(&[], |data| &data[..]));
        }
    })
    .boxed()
}
