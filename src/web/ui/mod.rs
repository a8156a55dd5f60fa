//! The page for people: what stands how, and why, at a glance.
//!
//! Rendered here, so that it can be read without script; a small script then keeps it up to date and
//! sends commands. It shows what the API shows, with the same redaction, and reads the board and
//! the stores only.
//!
//! ```text
//! board, stores --> attention, sentence (pure) --> overview, operator, parent, cache --> templates
//!                                                  each a `Frame` around a `main` ----> HTML
//! ```
//!
//! Invariants:
//! - all text is escaped: it comes from the cluster, and from whoever may write there;
//! - no script and no style is within a page, so that the policy of the browser forbids them;
//! - a page has a bounded number of rows, however many there are.

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

use super::endpoint::{Answer, Form, Parameter};

pub(super) use assets::show as asset;
pub(super) use cache::{list as cache_list, types as cache_types};
pub(super) use login::{Entrance, show as entrance, wants_html};
pub(super) use object::show as cache_object;
pub(super) use operator::show as operator;
pub(super) use overview::show as overview;
pub(super) use parent::show as parent;

/// A style, a script or a picture.
pub(super) const ASSETS: Answer = Answer::of(&["text/css", "text/javascript", "image/svg+xml"]);

pub(super) const NAMED: Parameter =
    Parameter { name: "q", form: Form::Text, meaning: "a part of the namespace and name" };
pub(super) const PHASE: Parameter =
    Parameter { name: "phase", form: Form::Text, meaning: "the phase of the parents" };
pub(super) const NAMESPACE: Parameter =
    Parameter { name: "namespace", form: Form::Text, meaning: "the namespace of the parents" };
