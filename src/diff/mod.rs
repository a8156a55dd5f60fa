//! The differences between two objects, and the owners of the fields of an object.
//!
//! Layer 2. Pure, and decides nothing: [`plan`](crate::plan) decides on the steps.
//!
//! | file | answers |
//! |---|---|
//! | `contained` | is what is desired in what is there, and where not |
//! | `applied` | what our field manager owns of an object, with its values |
//! | `owned` | what our field manager owns, against what is desired |
//! | `differences`, `difference` | both together, as paths and with both values |
//! | `fingerprint`, `hash` | are two versions the same in what we own |
//! | `takeover`, `collision` | what is handed over to our field manager so that an apply removes it |
//! | `rival` | which other manager wrote a field |
//! | `path`, `fields`, `quantity`, `nulls`, `builtin` | the parts of these |

mod applied;
pub(crate) mod builtin;
mod collision;
mod contained;
mod difference;
pub(crate) mod differences;
mod fields;
pub(crate) mod fingerprint;
pub(crate) mod hash;
pub(crate) mod nulls;
mod owned;
pub(crate) mod path;
pub(crate) mod quantity;
mod rival;
mod takeover;

pub(crate) use applied::applied;
pub(crate) use collision::collision;
pub(crate) use contained::Difference;
pub(crate) use difference::compare;
pub(crate) use fingerprint::{are_alike, differ_in_status_only, same_owned_fields};
pub(crate) use rival::rival;
pub(crate) use takeover::{adoption, has_predecessor, is_handed_over, takeover};
