//! The cached schema of the parents.

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

#[derive(Default)]
pub(super) struct ParentSchema {
    known: Mutex<Known>,
    /// Held while it is read: concurrent reconciles read it once.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Known {
    schema: Option<Arc<TypeSchema>>,
    read_at: Option<Instant>,
    unpublished_since: Option<Instant>,
    failed: Option<(Instant, ApiError)>,
    /// When the first of the failed reads in a row was.
    failing_since: Option<Instant>,
}

/// The operator is degraded when the schema could not be read for so long.
const DEGRADED_AFTER: Duration = Duration::from_mins(2);

/// How long a schema is fresh. A CRD can change while it is served, without a notification.
const FRESH: Duration = Duration::from_mins(1);

impl Known {
    fn fresh(&self) -> Option<Arc<TypeSchema>> {
        let is_fresh = self.read_at.is_some_and(|at| at.elapsed() < FRESH);
        self.schema.clone().filter(|_| is_fresh)
    }

    /// Updates the schema with a published one. A schema that is not published any more stays known for a
    /// while: a starting server publishes a type later than it serves it.
    fn update(
        &mut self,
        published: Option<Arc<TypeSchema>>,
        now: Instant,
    ) -> Option<Arc<TypeSchema>> {
        self.failing_since = None;
        self.unpublished_since = match published {
            Some(_) => None,
            None => self.unpublished_since.or(Some(now)),
        };
        let is_overdue = |since: Instant| now.saturating_duration_since(since) > PUBLISHED_WITHIN;
        let unknown = || Arc::new(TypeSchema::of(StatusSchema::unknown(), SecretFields::default()));
        let is_unknown = self.unpublished_since.is_some_and(is_overdue);
        if let Some(schema) = published.or_else(|| is_unknown.then(unknown)) {
            self.schema = Some(schema);
        }
        self.read_at = Some(now);
        self.schema.clone()
    }

    /// Records a failed read. The known schema stays valid until the next read: otherwise no status could be
    /// written meanwhile.
    fn keep_known(&mut self, error: ApiError, now: Instant) -> Result<Arc<TypeSchema>, ApiError> {
        self.failed = Some((now, error.clone()));
        self.failing_since.get_or_insert(now);
        let known = self.schema.clone().ok_or(error)?;
        self.read_at = Some(now);
        Ok(known)
    }

    /// Why it cannot be read for a longer time.
    fn why_unread(&self, now: Instant) -> Option<String> {
        let failing_for = now.saturating_duration_since(self.failing_since?);
        let (_, error) = self.failed.as_ref().filter(|_| failing_for >= DEGRADED_AFTER)?;
        Some(error.to_string())
    }

    fn failed_since(&self, asked: Instant) -> Option<ApiError> {
        let (at, error) = self.failed.as_ref()?;
        (*at >= asked).then(|| error.clone())
    }
}

impl ParentSchema {
    pub(super) fn forget(&self) {
        *self.known() = Known::default();
    }

    /// The known schema is to be read again, and is valid until then.
    pub(super) fn outdate(&self) {
        self.known().read_at = None;
    }

    /// Why it cannot be read for a longer time.
    pub(super) fn why_unread(&self, now: Instant) -> Option<String> {
        self.known().why_unread(now)
    }

    /// Whether the last read failed.
    pub(super) fn is_failing(&self) -> bool {
        self.known().failing_since.is_some()
    }

    /// The schema, if it was read recently.
    pub(super) fn fresh(&self) -> Option<Arc<TypeSchema>> {
        self.known().fresh()
    }

    pub(super) fn last_known(&self) -> Option<Arc<TypeSchema>> {
        self.known().schema.clone()
    }

    /// The schema; `None` until the server publishes it. A type that is never published has no restrictions
    /// and no secrets.
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
            Ok(published) => Ok(self.known().update(published, Instant::now())),
            Err(error) => self.known().keep_known(error, Instant::now()).map(Some),
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
        TypeSchema::of(StatusSchema::none(), SecretFields::of_schema(&schema))
    }

    /// As after a restart of the server.
    #[test]
    fn secret_fields_stay_known_while_a_server_does_not_publish_them_for_a_moment() {
        let start = Instant::now();
        let (moment, mut known) = (PUBLISHED_WITHIN / 2, Known::default());
        let mut update = |published: Option<TypeSchema>, after: Duration| {
            let schema = known.update(published.map(Arc::new), start + after);
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
            assert_eq!(update(answer, after), is_secret, "{after:?}");
        }
    }

    #[test]
    fn a_known_schema_stays_valid_while_it_cannot_be_read_again() {
        let (mut known, start) = (Known::default(), Instant::now());
        let error = || ApiError::TimedOut { request: "get".to_owned(), after: FRESH };
        assert!(known.keep_known(error(), start).is_err());
        assert!(known.failed_since(start).is_some(), "concurrent waiters do not read it again");
        assert!(known.failed_since(start + FRESH).is_none());
        known.update(Some(Arc::new(published())), start);
        known.read_at = None;
        assert!(known.keep_known(error(), Instant::now()).is_ok());
        assert!(known.fresh().is_some(), "it is not read again at once");
        assert_eq!(known.why_unread(Instant::now()), None, "a short outage");
        let later = Instant::now() + DEGRADED_AFTER;
        assert!(known.why_unread(later).is_some());
        known.update(None, later);
        assert_eq!(known.why_unread(later + DEGRADED_AFTER), None);
    }

    #[test]
    fn a_schema_that_is_a_minute_old_is_read_again_and_known_until_then() {
        let secrets = SecretFields::default();
        let schema = Arc::new(TypeSchema::of(StatusSchema::unknown(), secrets));
        for (age, is_fresh) in [(Duration::ZERO, true), (FRESH, false)] {
            let read_at = Instant::now().checked_sub(age);
            let known = Known { schema: Some(schema.clone()), read_at, ..Known::default() };
            assert_eq!(known.fresh().is_some(), is_fresh, "{age:?}");
            assert!(known.schema.is_some());
        }
    }
}
