//! The cached schemas of the parents, their children and related objects. What was known to be secret stays known: a schema
//! that is not published, not readable or forgotten says nothing about it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::{
    cluster::{Cluster, PUBLISHED_WITHIN},
    object::{K8sType, SecretFields},
    reply::{ApiError, Defaults, TypeSchema},
};

/// The schema of a type.
#[derive(Default)]
pub(super) struct CachedSchema {
    known: Mutex<Known>,
    /// Held while it is read: concurrent reconciles read it once.
    asking: tokio::sync::Mutex<()>,
}

/// The schemas of types by which others are read than those of the parents.
#[derive(Default)]
pub(super) struct OtherSchemas(Mutex<BTreeMap<K8sType, Arc<CachedSchema>>>);

#[derive(Default)]
struct Known {
    schema: Option<Arc<TypeSchema>>,
    /// The secret fields by the last schema that named them.
    secrets: Option<SecretFields>,
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
    /// while: a starting server publishes a type later than it serves it. Its secret fields stay known until
    /// another one is published.
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
        let is_unknown = self.unpublished_since.is_some_and(is_overdue);
        if let Some(schema) = published {
            self.schema = Some(self.with_secrets(schema));
        } else if is_unknown {
            self.schema = Some(Arc::new(TypeSchema::unpublished(self.secrets.clone())));
        }
        self.read_at = Some(now);
        self.schema.clone()
    }

    /// A published schema, with the secret fields that are known where it does not say which there are.
    fn with_secrets(&mut self, schema: Arc<TypeSchema>) -> Arc<TypeSchema> {
        if schema.secrets.is_some() || self.secrets.is_none() {
            self.secrets.clone_from(&schema.secrets);
            return schema;
        }
        Arc::new(TypeSchema { secrets: self.secrets.clone(), ..TypeSchema::clone(&schema) })
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

impl OtherSchemas {
    /// That of a type.
    pub(super) fn of(&self, ty: &K8sType) -> Arc<CachedSchema> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(ty.clone()).or_default().clone()
    }
}

impl CachedSchema {
    /// Forgets the schema, except which fields are secret.
    pub(super) fn forget(&self) {
        let mut known = self.known();
        *known = Known { secrets: known.secrets.take(), ..Known::default() };
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

    /// The defaults by the last schema, or none if the last read failed; `None` before it is read.
    pub(super) fn defaults(&self) -> Option<Arc<Defaults>> {
        let known = self.known();
        let defaults = known.schema.as_ref().map(|schema| schema.defaults.clone());
        defaults.or_else(|| known.failing_since.map(|_| Arc::default()))
    }

    pub(super) fn last_known(&self) -> Option<Arc<TypeSchema>> {
        self.known().schema.clone()
    }

    /// The schema; `None` until the server publishes it. A type that is never published has no restrictions,
    /// and it is not known what of it is secret.
    pub(super) async fn get(
        &self,
        cluster: &Cluster,
        ty: &K8sType,
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
        match cluster.schema(ty).await {
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
    use crate::reply::StatusSchema;

    fn published() -> TypeSchema {
        let schema = json!({"properties": {"spec": {"properties": {
            "password": {"type": "string", "format": "password"},
        }}}});
        TypeSchema::of(StatusSchema::none(), SecretFields::of_schema(&schema))
    }

    fn unmarked() -> TypeSchema {
        TypeSchema::of(StatusSchema::none(), SecretFields::default())
    }

    /// As a server publishes a schema that it cannot read.
    fn silent() -> TypeSchema {
        TypeSchema { secrets: None, ..unmarked() }
    }

    /// As after a restart of the server.
    #[test]
    fn secret_fields_stay_known_until_another_schema_names_them() {
        let start = Instant::now();
        let (moment, mut known) = (PUBLISHED_WITHIN / 2, Known::default());
        let mut update = |published: Option<TypeSchema>, after: Duration| {
            let schema = known.update(published.map(Arc::new), start + after);
            schema.map(|schema| schema.secrets.as_ref().map(|fields| !fields.is_empty()))
        };
        let (later, marked) = (PUBLISHED_WITHIN * 10, Some(Some(true)));
        for (answer, after, is_secret) in [
            (None, Duration::ZERO, None),
            (Some(silent()), moment / 2, Some(None)),
            (Some(published()), moment, marked),
            (None, later, marked),
            (None, later + moment, marked),
            (Some(published()), later + moment * 2, marked),
            (None, later + moment * 3, marked),
            // It is not published any more.
            (None, later + moment * 6, marked),
            (None, later + moment * 600, marked),
            (Some(silent()), later + moment * 601, marked),
            (Some(unmarked()), later + moment * 602, Some(Some(false))),
        ] {
            assert_eq!(update(answer, after), is_secret, "{after:?}");
        }
    }

    #[test]
    fn it_is_not_known_what_is_secret_of_a_type_that_is_never_published() {
        let (mut known, start) = (Known::default(), Instant::now());
        assert!(known.update(None, start).is_none());
        let schema = known.update(None, start + PUBLISHED_WITHIN * 2).unwrap();
        assert!(schema.secrets.is_none() && schema.status.admits("any"));
    }

    /// The watch of the type failed, or its CRD was gone for a while.
    #[test]
    fn a_forgotten_schema_leaves_its_secret_fields_known() {
        let cached = CachedSchema::default();
        let start = Instant::now();
        cached.known().update(Some(Arc::new(published())), start);
        cached.forget();
        assert!(cached.last_known().is_none() && cached.fresh().is_none());
        for after in [Duration::ZERO, PUBLISHED_WITHIN * 2] {
            cached.known().update(None, start + after);
        }
        assert!(!cached.last_known().unwrap().secrets.as_ref().unwrap().is_empty());
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
        let schema = Arc::new(TypeSchema::unpublished(None));
        for (age, is_fresh) in [(Duration::ZERO, true), (FRESH, false)] {
            let read_at = Instant::now().checked_sub(age);
            let known = Known { schema: Some(schema.clone()), read_at, ..Known::default() };
            assert_eq!(known.fresh().is_some(), is_fresh, "{age:?}");
            assert!(known.schema.is_some());
        }
    }
}
