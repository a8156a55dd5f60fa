//! Which objects are deleted, when and in which order, and what holds deletions.

mod finalizers;
mod guard;
mod last_backup;
mod orphan_on_delete;
mod parents;
mod with_finalizer;
