//! What the parent's status may hold, asked for once.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::{
    cluster::{ApiError, Cluster, PUBLISHED_WITHIN, TypeSchema},
    object::{K8sType, SecretFields},
    plan::StatusSchema,
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
}

/// A CRD can be changed while it is served, and nothing else tells.
const FRESH: Duration = Duration::from_mins(1);

impl Known {
    fn fresh(&self) -> Option<Arc<TypeSchema>> {
        let is_fresh = self.read_at.is_some_and(|at| at.elapsed() < FRESH);
        self.schema.clone().filter(|_| is_fresh)
    }
}

impl ParentSchema {
    /// Forgets it, because the type may have been replaced.
    pub(super) fn forget(&self) {
        *self.known() = Known::default();
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
        let _asking = self.asking.lock().await;
        if let Some(schema) = self.known().fresh() {
            return Ok(Some(schema));
        }
        let published = cluster.schema(parent).await?;
        let mut known = self.known();
        let since = *known.unpublished_since.get_or_insert_with(Instant::now);
        let is_overdue = since.elapsed() > PUBLISHED_WITHIN;
        let unknown =
            || TypeSchema { status: StatusSchema::unknown(), secrets: SecretFields::default() };
        let schema = published.or_else(|| is_overdue.then(unknown));
        known.schema = schema.map(Arc::new).or(known.schema.take());
        known.read_at = Some(Instant::now());
        Ok(known.schema.clone())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
