//! What goes, when and in which order; and what keeps it from going.

mod finalizers;
mod guard;
mod parents;
mod uncollectable;
