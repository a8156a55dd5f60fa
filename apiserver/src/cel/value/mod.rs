//! The values of expressions.
//!
//! ```text
//!  object ─ data ─> Val ─┬─ scalars, text
//!                        ├─ List, Map: of an object, or of values
//!                        └─ Constructed: fields with values
//! ```
//!
//! **Invariants.** Nothing of an object is copied: its lists and maps are borrowed, and their elements become values
//! when an expression looks at them. These files need each other, because a value may hold values.

mod constructed;
mod data;
mod equal;
mod list;
mod map;
mod val;

pub(super) use self::{
    constructed::Constructed,
    data::of_data,
    equal::{compare, equal},
    list::List,
    map::{Key, Map},
    val::{Failure, Outcome, Text, Val, error, no_overload},
};
