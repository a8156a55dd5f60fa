//! What tests have at hand: a world with its cluster, the operator of the recipes, and ways to look.
//! It holds no tests.

pub(crate) mod cleaner;
pub(crate) mod cluster;
pub(crate) mod kind;
pub(crate) mod link;
pub(crate) mod needs;
pub(crate) mod recipe;
pub(crate) mod started;
pub(crate) mod told;
pub(crate) mod world;
