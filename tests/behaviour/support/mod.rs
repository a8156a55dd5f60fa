//! Support for tests: a world with its cluster, the operator of recipes, and helpers that wait. It has no
//! tests.

pub(crate) mod cleaner;
pub(crate) mod cluster;
pub(crate) mod failed;
pub(crate) mod killed;
pub(crate) mod kind;
pub(crate) mod kubelet;
pub(crate) mod link;
pub(crate) mod logged;
pub(crate) mod needs;
pub(crate) mod offered;
pub(crate) mod recipe;
pub(crate) mod reported;
pub(crate) mod started;
pub(crate) mod world;
