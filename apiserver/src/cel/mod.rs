//! Rules in CEL, the expression language of Kubernetes: compiled, estimated and evaluated.
//!
//! ```text
//!  definition ─ definition, judge ─┐ refuse rules that do not compile, or may cost too much
//!                              ▼
//!  source ─ parse ─ check ─ lower (node) ─ estimate
//!                              │
//!  object ─ validator ─ eval ──┘─ functions, cost ─ value ─ scalar
//!  request ─ program ───┘  (webhooks and policies)
//! ```
//!
//! - The crate `cel` parses. Everything else is here, because its interpreter has neither types nor costs, and clients see
//!   both: in the errors of definitions, and in the errors of objects.
//! - Evaluation ends when it costs more than the real server allows. No rule can keep the server busy.
//! - Nothing of an object is copied until an expression makes something new of it.

mod access;
mod authorizer;
mod check;
mod compiled;
mod constructed_type;
mod cost;
mod declared;
mod definition;
mod device;
mod escape;
mod estimate;
mod eval;
mod field_path;
mod functions;
mod issue;
mod json;
mod judge;
mod limits;
mod mixed;
mod node;
mod overloads;
mod parse;
mod program;
mod ratchet;
mod request_types;
mod rule;
mod rule_form;
mod scalar;
mod syntax;
mod ty;
mod unify;
mod validator;
mod value;

pub(crate) use self::{
    authorizer::{Authorizer, Question},
    compiled::Rules,
    definition::{Compile, errors as definition_errors},
    device::device_selector_error,
    escape::is_reserved,
    field_path::selected_field,
    program::{EvalError, Facts, Given, Names, Program, Scope, Wanted, variable_name},
    syntax::syntax,
};

pub use self::validator::SchemaRules;

#[cfg(test)]
mod tests;
