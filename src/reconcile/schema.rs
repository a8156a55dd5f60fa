//! What the parent's status may hold, asked for once.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::{
    cluster::{ApiError, Cluster},
    object::K8sType,
    plan::StatusSchema,
};

/// What is known of the status of an operator's parents.
#[derive(Default)]
pub(super) struct ParentSchema {
    known: Mutex<Known>,
    /// Held while it is asked for: a hundred runs that start together ask once.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Known {
    schema: Option<Arc<StatusSchema>>,
    read_at: Option<Instant>,
    unpublished_since: Option<Instant>,
}

/// A schema that is not published after this time will not be: then everything is sent.
const PUBLISHED_WITHIN: Duration = Duration::from_mins(1);

/// A CRD can be changed while it is served, and nothing else tells.
const FRESH: Duration = Duration::from_mins(1);

impl Known {
    fn fresh(&self) -> Option<Arc<StatusSchema>> {
        let is_fresh = self.read_at.is_some_and(|at| at.elapsed() < FRESH);
        self.schema.clone().filter(|_| is_fresh)
    }
}

impl ParentSchema {
    /// Forgets it, because the type may have been replaced.
    pub(super) fn forget(&self) {
        *self.known() = Known::default();
    }

    /// What the status may hold; `None` while the server has yet to publish it.
    pub(super) async fn get(
        &self,
        cluster: &Cluster,
        parent: &K8sType,
    ) -> Result<Option<Arc<StatusSchema>>, ApiError> {
        if let Some(schema) = self.known().fresh() {
            return Ok(Some(schema));
        }
        let _asking = self.asking.lock().await;
        if let Some(schema) = self.known().fresh() {
            return Ok(Some(schema));
        }
        let published = cluster.status_schema(parent).await?;
        let mut known = self.known();
        let since = *known.unpublished_since.get_or_insert_with(Instant::now);
        let is_overdue = since.elapsed() > PUBLISHED_WITHIN;
        let schema = published.or_else(|| is_overdue.then(StatusSchema::unknown));
        known.schema = schema.map(Arc::new).or(known.schema.take());
        known.read_at = Some(Instant::now());
        Ok(known.schema.clone())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
