//! What the parent's status may hold, asked for once.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::{
    cluster::{Cluster, PUBLISHED_WITHIN},
    object::{K8sType, SecretFields},
    reply::StatusSchema,
    reply::{ApiError, TypeSchema},
};

/// What is known of the type of an operator's parents.
#[derive(Default)]
pub(super) struct ParentSchema {
    known: Mutex<Known>,
    /// Held while it is asked for: a hundred runs that start together ask once.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Known {
    schema: Option<Arc<TypeSchema>>,
    read_at: Option<Instant>,
    unpublished_since: Option<Instant>,
    /// When it was last asked for in vain, and why it was.
    failed: Option<(Instant, ApiError)>,
}

/// A CRD can be changed while it is served, and nothing else tells.
const FRESH: Duration = Duration::from_mins(1);

impl Known {
    fn fresh(&self) -> Option<Arc<TypeSchema>> {
        let is_fresh = self.read_at.is_some_and(|at| at.elapsed() < FRESH);
        self.schema.clone().filter(|_| is_fresh)
    }

    /// Takes in what is published at a time. What was published stays known for a while after it is
    /// not any more: a server that has just been started publishes a type later than it serves it.
    fn take_in(
        &mut self,
        published: Option<Arc<TypeSchema>>,
        now: Instant,
    ) -> Option<Arc<TypeSchema>> {
        self.unpublished_since = match published {
            Some(_) => None,
            None => self.unpublished_since.or(Some(now)),
        };
        let is_overdue = |since: Instant| now.saturating_duration_since(since) > PUBLISHED_WITHIN;
        let unknown = || {
            let (status, secrets) = (StatusSchema::unknown(), SecretFields::default());
            Arc::new(TypeSchema { status, secrets })
        };
        let is_unknown = self.unpublished_since.is_some_and(is_overdue);
        if let Some(schema) = published.or_else(|| is_unknown.then(unknown)) {
            self.schema = Some(schema);
        }
        self.read_at = Some(now);
        self.schema.clone()
    }

    /// Takes in that it could not be read. What is known is believed until it is read again: else no
    /// status could be written while only this fails.
    fn give_up(&mut self, error: ApiError, now: Instant) -> Result<Arc<TypeSchema>, ApiError> {
        self.failed = Some((now, error.clone()));
        let known = self.schema.clone().ok_or(error)?;
        self.read_at = Some(now);
        Ok(known)
    }

    /// Why it is not known, as another found out who was asking at the time.
    fn failed_since(&self, asked: Instant) -> Option<ApiError> {
        let (at, error) = self.failed.as_ref()?;
        (*at >= asked).then(|| error.clone())
    }
}

impl ParentSchema {
    /// Forgets it, because the type may have been replaced.
    pub(super) fn forget(&self) {
        *self.known() = Known::default();
    }

    /// The schema, if it was read of late.
    pub(super) fn fresh(&self) -> Option<Arc<TypeSchema>> {
        self.known().fresh()
    }

    /// The schema, fresh or not.
    pub(super) fn known_to_be(&self) -> Option<Arc<TypeSchema>> {
        self.known().schema.clone()
    }

    /// The schema; `None` while the server has yet to publish it. What is never published neither
    /// limits the status nor marks anything.
    pub(super) async fn get(
        &self,
        cluster: &Cluster,
        parent: &K8sType,
    ) -> Result<Option<Arc<TypeSchema>>, ApiError> {
        if let Some(schema) = self.known().fresh() {
            return Ok(Some(schema));
        }
        let asked = Instant::now();
        let _asking = self.asking.lock().await;
        if let Some(schema) = self.known().fresh() {
            return Ok(Some(schema));
        }
        if let Some(error) = self.known().failed_since(asked) {
            return Err(error);
        }
        match cluster.schema(parent).await {
            Ok(published) => Ok(self.known().take_in(published, Instant::now())),
            Err(error) => self.known().give_up(error, Instant::now()).map(Some),
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn published() -> TypeSchema {
        let schema = json!({"properties": {"spec": {"properties": {
            "password": {"type": "string", "format": "password"},
        }}}});
        TypeSchema { status: StatusSchema::none(), secrets: SecretFields::of_schema(&schema) }
    }

    /// As a server does that is started anew, long after the first time that it was asked.
    #[test]
    fn what_is_secret_stays_known_while_a_server_does_not_publish_it_for_a_moment() {
        let start = Instant::now();
        let (moment, mut known) = (PUBLISHED_WITHIN / 2, Known::default());
        let mut take_in = |published: Option<TypeSchema>, after: Duration| {
            let schema = known.take_in(published.map(Arc::new), start + after);
            schema.map(|schema| !schema.secrets.is_empty())
        };
        let later = PUBLISHED_WITHIN * 10;
        for (answer, after, is_secret) in [
            (None, Duration::ZERO, None),
            (Some(published()), moment, Some(true)),
            (None, later, Some(true)),
            (None, later + moment, Some(true)),
            (Some(published()), later + moment * 2, Some(true)),
            (None, later + moment * 3, Some(true)),
            // It is not published any more.
            (None, later + moment * 6, Some(false)),
        ] {
            assert_eq!(take_in(answer, after), is_secret, "{after:?}");
        }
    }

    #[test]
    fn what_is_known_is_believed_while_it_cannot_be_read_again() {
        let (mut known, start) = (Known::default(), Instant::now());
        let error = || ApiError::TimedOut { request: "get".to_owned(), after: FRESH };
        assert!(known.give_up(error(), start).is_err());
        assert!(known.failed_since(start).is_some(), "who waited meanwhile need not ask");
        assert!(known.failed_since(start + FRESH).is_none());
        known.take_in(Some(Arc::new(published())), start);
        known.read_at = None;
        assert!(known.give_up(error(), Instant::now()).is_ok());
        assert!(known.fresh().is_some(), "it is not asked for again at once");
    }

    #[test]
    fn a_schema_that_is_a_minute_old_is_read_again_and_known_until_then() {
        let secrets = SecretFields::default();
        let schema = Arc::new(TypeSchema { status: StatusSchema::unknown(), secrets });
        for (age, is_fresh) in [(Duration::ZERO, true), (FRESH, false)] {
            let read_at = Instant::now().checked_sub(age);
            let known = Known { schema: Some(schema.clone()), read_at, ..Known::default() };
            assert_eq!(known.fresh().is_some(), is_fresh, "{age:?}");
            assert!(known.schema.is_some());
        }
    }
}
