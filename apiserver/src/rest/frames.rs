//! The frames of a watch, `type` before `object`, in the requested form.

use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    accept::{Accepted, Format, MetaVersion, Representation},
    key_order, representation,
};
use crate::{
    aside, builtin,
    log::{Event, Object},
    protobuf,
    rendered::{Rendered, Shown},
    resource::Resource,
    status::StatusError,
    table::{self, TableOptions},
};

/// Makes the frames of one watch.
#[derive(Debug)]
pub(super) struct Frames {
    rendered: Arc<Rendered>,
    resource: Arc<Resource>,
    accepted: Accepted,
    table: TableOptions,
}

impl Frames {
    pub(super) fn new(
        rendered: Arc<Rendered>,
        resource: Arc<Resource>,
        accepted: Accepted,
        table: TableOptions,
    ) -> Self {
        Self { rendered, resource, accepted, table }
    }

    /// Continues with a changed type.
    pub(super) fn set_resource(&mut self, resource: Arc<Resource>) {
        self.resource = resource;
    }

    /// Ages are counted up to this time.
    pub(super) fn set_now(&mut self, now: Timestamp) {
        self.table.now = now;
    }

    /// The event of an object.
    pub(super) fn object(&mut self, event: Event, object: &Arc<Object>) -> Bytes {
        let Accepted { representation, format } = self.accepted;
        let is_whole = representation == Representation::Object && format == Format::Json;
        if is_whole && self.resource.fits(object) {
            return if object.event == event { object.frame() } else { object.frame_as(event) };
        }
        if !is_shared(representation) {
            return self.render(event, object);
        }
        let shown = Shown {
            object: Arc::clone(object),
            resource: Arc::clone(&self.resource),
            event,
            partial: representation != Representation::Object,
            protobuf: format == Format::Protobuf,
        };
        Arc::clone(&self.rendered).frame(&shown, || self.render(event, &shown.object))
    }

    fn render(&mut self, event: Event, object: &Object) -> Bytes {
        aside::sized(object.size(), || {
            let shown = self.show(self.resource.decode(object));
            self.frame(event.word(), &shown)
        })
    }

    /// An object left the selection with the write of a version.
    pub(super) fn left(&mut self, previous: &Object, version: u64) -> Bytes {
        aside::sized(previous.size(), || {
            let mut value = self.resource.decode(previous);
            value["metadata"]["resourceVersion"] = json!(version.to_string());
            let shown = self.show(value);
            self.frame(Event::Deleted.word(), &shown)
        })
    }

    fn show(&mut self, object: Value) -> Value {
        match self.accepted.representation {
            // An event has no list: the real server sends the object then.
            Representation::Object | Representation::PartialMetadataList(_) => object,
            Representation::PartialMetadata(version) => {
                representation::partial(&self.resource, version, &object)
            }
            Representation::Table(_) => {
                let metadata = json!({
                    "resourceVersion": object["metadata"]["resourceVersion"],
                });
                let rows = std::slice::from_ref(&object);
                let table = table::render(&self.resource, rows, &metadata, self.table);
                // The headings are sent once.
                self.table.headings = false;
                table
            }
        }
    }

    /// The version up to which everything was sent.
    pub(super) fn bookmark(&mut self, version: u64, annotations: Option<Value>) -> Bytes {
        let mut metadata = json!({ "resourceVersion": version.to_string() });
        if let Some(annotations) = annotations {
            metadata["annotations"] = annotations;
        }
        let (kind, api_version) = (self.resource.kind.as_str(), self.resource.api_version());
        let object = json!({ "kind": kind, "apiVersion": api_version, "metadata": metadata });
        let shown = self.show(object);
        self.frame("BOOKMARK", &shown)
    }

    /// Why the watch ends.
    pub(super) fn error(&self, error: &StatusError) -> Bytes {
        self.frame("ERROR", &error.body())
    }

    fn frame(&self, word: &str, object: &Value) -> Bytes {
        if self.accepted.format == Format::Protobuf
            && let Some(frame) = protobuf::watch_frame(word, object)
        {
            return frame;
        }
        let is_object = self.accepted.representation == Representation::Object && word != "ERROR";
        let object = if is_object { builtin::json(object) } else { key_order::text(object) };
        format!("{{\"type\":\"{word}\",\"object\":{object}}}\n").into()
    }
}

/// Whether all watches of the form get the same frames; the headings of a table are sent once.
fn is_shared(representation: Representation) -> bool {
    matches!(
        representation,
        Representation::Object | Representation::PartialMetadata(MetaVersion::V1)
    )
}
