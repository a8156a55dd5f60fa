//! The pages for browsers.
//!
//! They are rendered on the server and readable without script; a small script keeps them up to date
//! and sends commands. They show the same data as the API, with the same redaction, and read only the
//! board and the stores.
//!
//! ```text
//! board, stores --> attention, sentence (pure) --> overview, operator, parent, cache --> templates
//!                                                  each a `Frame` around a `main` ----> HTML
//! ```
//!
//! Invariants:
//! - All text is escaped, because it comes from the cluster.
//! - Pages have no inline script or style, so that the security policy can forbid them.
//! - The number of rows of a page is limited.

mod assets;
mod attention;
mod cache;
mod events;
mod facts;
mod frame;
mod links;
mod login;
mod object;
mod operator;
mod overview;
mod parent;
mod parts;
mod sentence;
mod time;
mod tree;

use super::endpoint::{Answer, Parameter};

pub(super) use assets::show as asset;
pub(super) use cache::{list as cache_list, types as cache_types};
pub(super) use frame::rendered as entrance;
pub(super) use login::{Entrance, wants_html};
pub(super) use object::show as cache_object;
pub(super) use operator::show as operator;
pub(super) use overview::show as overview;
pub(super) use parent::show as parent;

pub(super) const ASSETS: Answer = Answer::of(&["text/css", "text/javascript", "image/svg+xml"]);

pub(super) const NAMED: Parameter = Parameter::text("q", "a part of the namespace and name");
pub(super) const PHASE: Parameter = Parameter::text("phase", "the phase of the parents");
pub(super) const NAMESPACE: Parameter =
    Parameter::text("namespace", "the namespace of the parents");
