//! Frames of watches that are made from an object, not cut out of its stored bytes: kept while several
//! watches are likely to need them.
//!
//! Rows of tables are not kept: they show an age.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;

use crate::{
    log::{Event, Object},
    resource::Resource,
};

/// How many frames are kept.
const ENTRIES: usize = 64;
/// How many bytes of frames are kept.
const BYTES: usize = 8 * 1024 * 1024;

/// The frames that were made last.
#[derive(Debug, Default)]
pub(crate) struct Rendered(Mutex<Recent>);

#[derive(Debug, Default)]
struct Recent {
    entries: VecDeque<(Shown, Bytes)>,
    bytes: usize,
}

/// What a frame shows, and how.
#[derive(Debug, Clone)]
pub(crate) struct Shown {
    /// The state of the object.
    pub object: Arc<Object>,
    /// The type in the version that the watch asked for.
    pub resource: Arc<Resource>,
    /// What happened.
    pub event: Event,
    /// Whether only the metadata is shown.
    pub partial: bool,
    /// Whether it is protobuf; JSON otherwise.
    pub protobuf: bool,
}

impl Rendered {
    /// The frame that was made of this, or a new one.
    pub(crate) fn frame(&self, shown: &Shown, make: impl FnOnce() -> Bytes) -> Bytes {
        if let Some(frame) = self.with(|recent| recent.find(shown)) {
            return frame;
        }
        // Outside of the lock: two watches may both make it.
        let frame = make();
        self.with(|recent| recent.keep(shown.clone(), frame.clone()));
        frame
    }

    fn with<T>(&self, act: impl FnOnce(&mut Recent) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Recent {
    fn find(&self, shown: &Shown) -> Option<Bytes> {
        let mut newest_first = self.entries.iter().rev();
        newest_first.find(|(other, _)| other.is(shown)).map(|(_, frame)| frame.clone())
    }

    fn keep(&mut self, shown: Shown, frame: Bytes) {
        self.bytes += frame.len();
        self.entries.push_back((shown, frame));
        while self.entries.len() > ENTRIES || self.bytes > BYTES {
            let Some((_, frame)) = self.entries.pop_front() else { return };
            self.bytes -= frame.len();
        }
    }
}

impl Shown {
    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.object, &other.object)
            && Arc::ptr_eq(&self.resource, &other.resource)
            && self.event == other.event
            && (self.partial, self.protobuf) == (other.partial, other.protobuf)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{initial, resource::Registry};

    fn shown(name: &str) -> Shown {
        let value = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}});
        let registry = Registry::new(initial::resources()).snapshot();
        Shown {
            object: Arc::new(Object::encode(Event::Added, &value, 0)),
            resource: Arc::clone(registry.by_path("", "v1", "pods").expect("Pods are built in")),
            event: Event::Added,
            partial: true,
            protobuf: false,
        }
    }

    #[test]
    fn a_frame_is_made_once_and_another_one_for_what_shows_something_else() {
        let (rendered, first) = (Rendered::default(), shown("a"));
        rendered.frame(&first, || Bytes::from_static(b"first"));
        let deleted = Shown { event: Event::Deleted, ..first.clone() };
        rendered.frame(&deleted, || Bytes::from_static(b"deleted"));
        assert_eq!(rendered.frame(&first, || unreachable!("it is kept")), "first");
        assert_eq!(rendered.frame(&deleted, || unreachable!("it is kept")), "deleted");
    }

    #[test]
    fn large_frames_push_older_ones_out() {
        let (rendered, first) = (Rendered::default(), shown("a"));
        rendered.frame(&first, || Bytes::from_static(b"first"));
        rendered.frame(&shown("b"), || vec![b'x'; BYTES].into());
        assert_eq!(rendered.frame(&first, || Bytes::from_static(b"again")), "again");
    }
}
