//! Applies watch events to the store and notes the changes.

use super::{
    super::{WatchNote, frames::Frame},
    EXPIRED, End, Loop, Streamed,
};
use crate::{
    object::{Object, Outline, Undecodable},
    reply::ApiError,
    store::{Change, ListStart},
};

impl<N: Fn(WatchNote) + Send> Loop<N> {
    pub(super) fn receive(
        &mut self,
        frame: Frame<'_>,
        initial: &mut Option<(ListStart, Streamed)>,
    ) -> Result<Option<End>, ApiError> {
        // The store changes before the operators are notified.
        let _work = self.cluster.metrics().activity().begin();
        match (frame, initial.as_mut()) {
            (Frame::Changed(outline) | Frame::Deleted(outline), initial)
                if !self.spec.includes(&outline) =>
            {
                self.passed_over(outline, initial.map(|(_, objects)| objects));
            }
            (Frame::Changed(outline), Some((_, objects))) => {
                objects.insert(outline.key().clone(), self.object(outline));
            }
            (Frame::Changed(outline), None) => {
                self.advance(outline.version().clone());
                self.changed(self.observe(outline));
            }
            (Frame::Deleted(outline), Some((_, objects))) => {
                objects.remove(outline.key());
                // The store may list it as undecodable, or receive a reply about it later.
                let object = self.object(outline);
                self.changed(self.store.observe_deletion_within_list(self.scope, &object));
            }
            (Frame::Deleted(outline), None) => {
                self.advance(outline.version().clone());
                let object = self.object(outline);
                self.changed(self.store.observe_deletion(self.scope, &object));
            }
            (Frame::Bookmark { version, ends_initial: true }, Some(_)) => {
                let (start, objects) = initial.take().expect("matched above");
                self.receive_list(start, objects.into_values().collect(), version);
                self.watched();
            }
            (Frame::Bookmark { .. }, Some(_)) => {}
            (Frame::Bookmark { version, .. }, None) => {
                self.store.bookmark(self.scope, &version);
                self.advance(version);
            }
            (Frame::Undecodable(object) | Frame::UndecodableDeletion(object), _)
                if !self.spec.may_include(&object) => {}
            (Frame::Undecodable(object), initial) => {
                if let Some(((_, objects), key)) = initial.zip(object.key()) {
                    // The version in the list is older than the one the store may have.
                    objects.remove(key);
                }
                self.mark_undecodable(object);
            }
            (Frame::UndecodableDeletion(object), initial) => {
                self.undecodable(object.clone(), false);
                return Ok(self.delete_undecodable(&object, initial.map(|(_, objects)| objects)));
            }
            (Frame::Error(refusal), _) if refusal.code == 410 => {
                return Ok(Some(End::Gone(EXPIRED)));
            }
            (Frame::Error(refusal), _) => {
                let (request, refusal) = (self.name(), Box::new(refusal));
                return Err(ApiError::Refused { request, refusal });
            }
        }
        Ok(None)
    }

    /// An object of another shard. If it is cached it was in this one before, as a child that got another parent.
    fn passed_over(&mut self, outline: Outline<'_>, initial: Option<&mut Streamed>) {
        if let Some(objects) = initial {
            objects.remove(outline.key());
            return;
        }
        let version = outline.version().clone();
        if self.store.reader().get(outline.key()).is_some() {
            let object = self.object(outline);
            self.changed(self.store.observe_deletion(self.scope, &object));
        } else {
            self.store.bookmark(self.scope, &version);
        }
        self.advance(version);
    }

    /// Name, uid and version are enough to delete an undecodable object. Without them only a list shows
    /// which object was deleted.
    fn delete_undecodable(
        &mut self,
        gone: &Undecodable,
        initial: Option<&mut Streamed>,
    ) -> Option<End> {
        let known = gone.key().zip(gone.uid()).zip(gone.resource_version());
        let Some(((key, uid), version)) = known else { return Some(End::Gone("undecodable")) };
        let change = if let Some(objects) = initial {
            objects.remove(key);
            self.store.observe_end_within_list(self.scope, key, uid, version)
        } else {
            self.advance(version.clone());
            self.store.observe_end(self.scope, key, uid, version)
        };
        self.changed(change);
        None
    }

    /// Most events are echoes of own writes, which the store has from the replies.
    fn observe(&self, outline: Outline<'_>) -> Option<Change> {
        let (key, uid, version) = (outline.key(), outline.uid(), outline.version());
        if self.store.observe_echo(self.scope, key, uid, version) {
            return None;
        }
        self.store.observe(self.scope, self.object(outline))
    }

    fn object(&self, outline: Outline<'_>) -> Object {
        outline.keep(&self.spec.ty, &self.cluster.managers)
    }

    fn changed(&self, change: Option<Change>) {
        self.cluster.metrics().watch_event(&self.spec.ty);
        if let Some(change) = change {
            (self.note)(WatchNote::Changed(vec![change]));
        }
    }

    pub(super) fn mark_undecodable(&self, object: Undecodable) {
        let is_news = self.store.mark_undecodable_by(self.scope, object.clone());
        self.undecodable(object, is_news);
    }

    fn undecodable(&self, object: Undecodable, is_news: bool) {
        self.cluster.metrics().undecodable(&self.spec.ty);
        (self.note)(WatchNote::Undecodable { object, is_news });
    }
}
